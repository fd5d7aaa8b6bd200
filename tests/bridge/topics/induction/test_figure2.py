"""Figure 2 as a theorem: its times against the losses themselves, its verdicts, its figure."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from bridge.questions.compare import compare
from bridge.theorems.record import Verdict
from bridge.topics.induction.figure2 import FIGURE2, figure, trajectory_of
from bridge.topics.induction.trajectory import run
from symbolic.latex.paper_text import conclusions
from symbolic.words.errors import UsageError
from tests.bridge.topics.induction.rows import default_rows, printed_as, rebuilt, rows_at

DEFAULTS = {"L": 1000, "alpha": 1.0, "w_star": 0.49, "sigma_init": 0.01, "flow": "true"}
SMALL = {"L": 50, "alpha": 2.0, "w_star": 0.3, "sigma_init": 1e-4}
TIMES = ("T_I", "T_o", "T_II", "T_III")


@pytest.mark.long
@pytest.mark.parametrize("params", [{"flow": "printed"}, SMALL], ids=["printed flow", "small start"])
def test_the_times_are_those_of_theorem_5_5(params: dict[str, object]) -> None:
    point = {**DEFAULTS, **params}
    first, observed, second, third = (rows_at(FIGURE2, **params)[name].measured for name in TIMES)
    trajectory = trajectory_of(**point)
    grid = np.geomspace(1e-3, trajectory.end, 50_000)
    record = trajectory.at(grid)
    after = grid > observed
    at_observation = record.L_IH2[after][0]
    passed = (
        grid[(0.01 * record.L_G4[0] >= record.L_G4).argmax()],
        grid[(record.h >= 1 / (1 + point["alpha"])).argmax()],
        grid[after][(record.L_IH2[after] <= 0.99 * at_observation).argmax()],
        grid[after][(record.L_IH2[after] <= 0.01 * at_observation).argmax()],
    )
    assert passed == pytest.approx((first, observed, second, third), rel=3e-3)  # the loss is flat around T_II


@pytest.mark.long
def test_at_its_own_parameters_nothing_is_refuted_and_there_is_no_plateau() -> None:
    rows = default_rows("figure2")
    assert not printed_as(Verdict.VIOLATED, rows)
    assert rows["plateau.loss"].verdict["printed"] is Verdict.OUTSIDE
    assert "hypothesis w* < c of (26)" in rows["plateau.loss"].remark
    assert rows["overshoot"].verdict["printed"] is Verdict.OUTSIDE  # (26) is stated for w* < c
    assert "(26) is false for every w* >= 0.4398" in rows["overshoot"].remark
    assert rows["first"].verdict["printed"] is Verdict.OUTSIDE  # L sigma_init = 10 is less than C.1 asks for
    assert "0.0466" in rows["first"].remark
    assert rows["first"].measured == pytest.approx(0.686, abs=1e-3)
    assert "T_II is reached by the overshoot of h alone" in rows["plateau"].remark
    assert rows["growth"].measured < 1.5
    assert rows["overshoot"].verdict["derived"] is Verdict.PROVED
    assert rows["phases"].measured == 4


@pytest.mark.long
def test_from_a_small_start_with_a_small_w_star_the_plateau_is_one() -> None:
    rows = rows_at(FIGURE2, **SMALL)
    assert rows["plateau.loss"].verdict == {"printed": Verdict.PROVED, "derived": Verdict.PROVED}
    assert rows["growth"].measured > 100
    assert rows["overshoot"].verdict == {"printed": Verdict.PROVED, "derived": Verdict.PROVED}  # R(w*) is below (26)
    assert "overshoot of h alone" not in rows["plateau"].remark


@pytest.mark.long
def test_what_the_theorem_states_holds_at_its_point_and_without_a_proof_nowhere_else() -> None:
    stated = [each.quantity for each in conclusions(FIGURE2.statement) if each.asserted]
    assert {each.name for each in stated} == {"phases", "separation", "plateau", "plateau.loss", "overshoot"}
    for flow in ("true", "printed"):
        rows = rows_at(FIGURE2, flow=flow)
        for quantity in stated:
            proved = quantity.closed_form is not None
            point = () if proved else quantity.printed.run_at
            assert all(rows[quantity.name].params[name] == value for name, value in point)
            tier, verdict = ("derived", Verdict.PROVED) if proved else ("printed", Verdict.KEPT)
            assert rows[quantity.name].verdict[tier] is verdict
    assert rows_at(FIGURE2, sigma_init=0.4)["overshoot"].derived is None  # above sigma_star


@pytest.mark.long
def test_from_a_small_start_the_plateau_of_the_figure_ends_before_w_grows() -> None:
    rows = rows_at(FIGURE2, sigma_init=1e-4)
    assert not [row for row in rows.values() if Verdict.VIOLATED in row.verdict.values() or row.witness or row.erratum]
    assert rows["plateau"].verdict["printed"] is rows["plateau.loss"].verdict["printed"] is Verdict.OUTSIDE
    assert rows["plateau"].measured < 0.001


@pytest.mark.long
def test_the_figure_shows_both_flows_and_marks_the_phases() -> None:
    drawn = figure(compare("induction.figure2"))
    assert isinstance(drawn, Figure)
    total, partial, parameters, p = drawn.axes
    times = default_rows("figure2")
    for axis in (total, partial, parameters):
        assert axis.get_xscale() == "log"
        marked = {float(line.get_xdata()[0]) for line in axis.lines if len(set(line.get_xdata())) == 1}
        assert marked == {times[name].measured for name in TIMES}
    assert {text.get_text() for text in total.texts} >= {"I", "II", "III", "IV"}
    curves = [line for line in partial.lines if len(line.get_xdata()) > 2]
    assert len(curves) == 3  # the 4-gram part is the same on both flows
    assert p.lines[0].get_ydata().max() > 6
    assert "Figure 2" in drawn.get_suptitle()


@pytest.mark.long
def test_the_figure_is_written(tmp_path: Path) -> None:
    path = tmp_path / "figure.svg"
    compare("induction.figure2", **SMALL, flow="printed").save(str(path))
    assert path.stat().st_size > 20_000


@pytest.mark.long
def test_a_figure_of_several_runs_is_refused() -> None:
    with pytest.raises(UsageError, match="shows one run, and the comparison has 2 points"):
        figure(compare("induction.figure2", flow=["true", "printed"]))


@pytest.mark.long
def test_a_point_outside_of_the_regime_refutes_nothing() -> None:
    short, wide = rows_at(FIGURE2, L=5, sigma_init=1e-3), rows_at(FIGURE2, w_star=0.6)
    for row in (short["first"], short["phases"], short["separation"], wide["plateau.loss"], wide["overshoot"]):
        assert row.verdict["printed"] is Verdict.OUTSIDE
        assert "hypothesis " in row.remark
    longer = rows_at(FIGURE2, L=3000)["first"]
    assert longer.measured < 0.99
    assert longer.verdict["printed"] is Verdict.UNDECIDED


@pytest.mark.long
def test_the_run_lasts_until_the_slower_head_is_done() -> None:
    rows = rows_at(FIGURE2, alpha=0.01)
    assert rows["T_I"].measured > rows["T_III"].measured


def test_what_is_not_reached_is_said() -> None:
    rows = rows_at(rebuilt(FIGURE2, trajectory=lambda: run(1000, 1.0, 0.49, 0.01, end=100.0)))
    for name in ("T_I", "T_II", "first", "separation", "plateau.share"):
        assert rows[name].measured is None
        assert "T_III is not reached by t = 100" in rows[name].remark
    assert rows["separation"].verdict["printed"] is Verdict.UNDECIDED


def test_an_overshoot_of_the_size_of_rounding_contradicts_no_proof() -> None:
    given = {"alpha": 0.6938827766782267, "w_star": 0.0002016265392554866, "sigma_init": 1e-14}
    rows = {row.quantity: row for row in compare("induction.figure2", **given)}
    assert rows["overshoot"].verdict == {"printed": Verdict.PROVED, "derived": Verdict.PROVED}
    assert "contradicts" not in rows["overshoot"].remark
