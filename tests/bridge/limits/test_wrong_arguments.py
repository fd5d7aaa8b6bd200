"""A wrong argument of a public name is a usage error that names the call, what came and what to do."""

import functools
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bridge.limits.arguments import arguments_of, defaults_of
from tests.bridge.limits.wrong_arguments import CALLS

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def outcomes() -> dict[str, str]:
    """In a process without the type checker of the tests."""
    command = [sys.executable, "-m", "tests.bridge.limits.wrong_arguments"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(ran.stdout)


@pytest.mark.parametrize("name", CALLS)
def test_it_is_refused(name: str, outcomes: dict[str, str]) -> None:
    assert CALLS[name][1] in outcomes[name]
    assert not re.match(r"gave |(?!SlopeError|DerivationError)\w*(Error|Exception): ", outcomes[name])


def test_what_partial_binds_is_no_default_and_what_it_hides_is() -> None:
    def sized(eps: float, d: int, n: int = 3) -> float:
        return eps * d * n

    assert defaults_of(sized) == ("n",)
    assert defaults_of(functools.partial(sized, d=7)) == ("n",)
    assert arguments_of(functools.partial(sized, d=7)) == ("eps",)
