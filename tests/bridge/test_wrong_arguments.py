"""A wrong argument of a public name is a usage error that names the call, what came and what to do."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bridge.wrong_arguments import CALLS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def outcomes() -> dict[str, str]:
    """In a process without the type checker of the tests."""
    command = [sys.executable, "-m", "tests.bridge.wrong_arguments"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(ran.stdout)


@pytest.mark.parametrize("name", CALLS)
def test_it_is_refused(name: str, outcomes: dict[str, str]) -> None:
    assert CALLS[name][1] in outcomes[name]
    assert not outcomes[name].startswith(("gave ", "TypeError", "ValueError", "AttributeError"))
