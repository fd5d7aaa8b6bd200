"""A comparison that is stopped: what its interrupt holds, and that the same call goes on to the same record."""

import subprocess
import sys
from pathlib import Path

import pytest

from bridge.questions.compare import Interrupted, compare
from tests.bridge.questions.killed import BUDGET, KILLS

ROOT = Path(__file__).parents[3]
ID, GRID = "looped.gradient_descent", {"eta": (0.1, 0.2, 0.3)}  # points that are attacked together


class Stop:
    """Ctrl-C before the point of this place."""

    def __init__(self, place: int) -> None:
        self.place = place

    def __call__(self, done: int, total: int, label: str) -> None:
        if done == self.place:
            raise KeyboardInterrupt


def test_a_stopped_comparison_goes_on_to_the_same_record(tmp_path: Path) -> None:
    whole, folder = compare(ID, **BUDGET, **GRID), tmp_path / "F"
    for place in (0, 2):
        with pytest.raises(Interrupted) as stopped:
            compare(ID, **BUDGET, **GRID, keep=folder, progress=Stop(place))
        assert (stopped.value.points, stopped.value.of) == (place, 3)
        etas = {row.params["eta"] for row in stopped.value.comparison}
        assert etas == set(GRID["eta"][:place])
        rows = [row for row in whole if row.params.get("eta") in etas]
        assert stopped.value.comparison.records() == [row.model_dump(mode="json") for row in rows]
    resumed = compare(ID, **BUDGET, **GRID, keep=folder)
    assert resumed.to_json() == whole.to_json()
    assert resumed.table().latex() == whole.table().latex()  # with its mathematics
    names = sorted(path.name for path in (folder / "parts").iterdir())
    assert names == ["attack-00001.json", *(f"point-0000{place}.json" for place in (1, 2, 3))]


def test_one_point_is_not_kept(tmp_path: Path) -> None:
    compare("icgd.relu_sum", keep=tmp_path / "F", eps=0.1)
    assert not (tmp_path / "F").exists()


@pytest.mark.long
def test_twenty_kills_change_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.bridge.questions.killed", str(tmp_path / "F")]
    out = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    kills, states, verdict = out.strip().split(", ")
    assert (kills, verdict) == (f"{KILLS} kills", "equal")
    assert int(states.split()[0]) >= 4  # the runs ended in different places
