"""The scripts in examples/ run as they stand."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("script", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_a_script_runs(script: Path) -> None:
    run = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, cwd=EXAMPLES.parent, timeout=120
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip()
