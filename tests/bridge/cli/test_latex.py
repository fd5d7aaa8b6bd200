"""`boundsmith latex`: what its options refuse."""

import re
from pathlib import Path

import pytest

from tests.bridge.cli.conftest import Command


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--quantity", "gradien"], "icgd.step has no quantity 'gradien'. Nearest: gradient"),
        (["--tier", "derved"], "there is no tier 'derved'. Nearest: derived"),
        (["--part", "prof"], "there is no part 'prof'. Nearest: proof"),
        (["--quantity", "heads", "--tier", "printed"], "no chosen quantity has a printed bound"),
        (["--macros", "no.json"], "there is no file 'no.json'"),
        (["-o", "."], "is a folder"),
    ],
)
def test_what_is_not_there_is_refused(
    run: Command, arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = run("latex", "icgd.step", *arguments)
    assert outcome.code == 2
    assert message in " ".join(outcome.err.split())


@pytest.mark.long
def test_slack_is_what_each_step_loses_at_a_run(run: Command) -> None:
    own = Path(__file__).parents[3] / "examples" / "own_theorem.py"
    quiet, measured = run("latex", own, "--part", "proof").out, run("latex", own, "--part", "proof", "--slack").out
    assert "Bound over error" not in quiet
    lost = re.findall(r"Bound over error at the worst input found: (.*?)\.\)", measured)
    assert lost
    assert all(float(factor) >= 0.999 for each in lost for factor in each.split(", "))
