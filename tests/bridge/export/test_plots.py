"""Plots: curves of a quantity, tiers at one point, slack of each step; their words, axes and refusals."""

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from bridge.export.comparison import Comparison, load
from bridge.export.plots import draw, draw_steps
from bridge.export.plots.styles import STYLES
from bridge.export.plots.words import lines_of, mathematics
from bridge.export.writing import plot, plot_steps
from bridge.theorems.record import RowErratum, Verdict
from symbolic.statements.catalogue import RUNNING
from symbolic.words.errors import UsageError
from tests.bridge.export.cases import comparison

RECORDS = Path(__file__).parents[2] / "yardstick" / "records"


def labels(axis: Axes) -> set[str]:
    return set(axis.get_legend_handles_labels()[1])


def caption(figure: Figure) -> str:
    """Above the entries of the legend."""
    return " ".join(each.get_title().get_text().replace("\n", " ") for each in figure.legends)


def drawn(figure: Figure) -> FigureCanvasAgg:
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    return renderer


def one_point() -> Comparison:
    return comparison(ps=(1,), Ls=(8,))


@pytest.mark.long
def test_pictures_are_of_the_format_of_their_suffix(tmp_path: Path) -> None:
    plot(comparison(), tmp_path / "plot.png")
    plot(comparison(), tmp_path / "plot.svg", quantity="output.mask_3", x="L")
    plot_steps(comparison(), tmp_path / "steps.pdf")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "steps.pdf").read_bytes().startswith(b"%PDF")
    assert b"CreationDate" not in (tmp_path / "steps.pdf").read_bytes()
    svg = (tmp_path / "plot.svg").read_text()
    assert ET.fromstring(svg).tag.endswith("svg")
    assert "<dc:date>" not in svg


@pytest.mark.parametrize("id", RUNNING)
def test_every_result_has_a_plot(id: str) -> None:
    """Of its record at the defaults: with all of its words on the figure."""
    figure = draw(load(RECORDS / f"{id}.json"))
    renderer = drawn(figure)
    shown = [axis for axis in figure.axes if axis.get_visible()]
    assert any(axis.lines or axis.patches or axis.collections for axis in shown)
    for axis in shown:
        for tick in axis.get_yticklabels():
            extent = tick.get_window_extent(renderer)
            assert extent.x0 >= 0, tick.get_text()
            assert extent.x1 <= figure.bbox.width, tick.get_text()


# Curves.


def test_the_plot_shows_the_numbers_of_the_record() -> None:
    record = comparison(ps=(1, 2, 4), Ls=(8,))
    (axis,) = draw(record).axes
    assert axis.get_yscale() == "log"
    assert axis.get_xlabel() == "$p$"
    lines = {line.get_label(): line for line in axis.get_lines()}
    assert {"printed", "derived", "instance", "instance (prompt)", "measured", "attacked"} == set(lines)
    rows = [row for row in record if row.quantity == "output" and row.scope == "network"]
    assert list(lines["derived"].get_xdata()) == [1, 2, 4]
    assert list(lines["derived"].get_ydata()) == [row.derived for row in rows]


def test_bounds_of_prompts_are_not_joined() -> None:
    (axis,) = draw(comparison(ps=(1, 2, 4), Ls=(8,))).axes
    lines = {line.get_label(): line for line in axis.get_lines()}
    assert lines["instance"].get_linestyle() != "None"
    assert lines["instance (prompt)"].get_linestyle() == "None"


def test_the_axis_shows_the_decades_of_bounds_and_errors() -> None:
    """Rounding far below is a remark; a bound far above is cut off, and its size remarked on."""
    record = comparison(ps=(1, 2), Ls=(8,))
    for row in record:
        row.printed = 1e40
    (axis,) = draw(record).axes
    low, high = axis.get_ylim()
    errors = [row.measured for row in record if row.quantity == "output"]
    assert min(errors) / 10 < low < min(errors)
    assert high < 1
    title = axis.get_title().replace("\n", " ")
    assert "printed: up to 1.0e+40" in title
    assert "rounding: at most 1.1e-16" in title
    assert "rounding" not in labels(axis)


def test_rounding_between_bounds_and_errors_is_a_shaded_floor() -> None:
    record = comparison(ps=(1, 2), Ls=(8,))
    for row in record:
        row.measured, row.attacked, row.rounding = 1e-12, 2e-12, 1e-6
    (axis,) = draw(record).axes
    assert "rounding" in labels(axis)
    assert 1e-7 < axis.get_ylim()[0] < 1e-6
    assert "measured: down to 1.0e-12" in axis.get_title().replace("\n", " ")


def test_a_zero_is_named_where_the_scale_cannot_show_it() -> None:
    record = comparison(ps=(1, 2), Ls=(8,))
    for row in record:
        row.measured = 0.0
    (axis,) = draw(record).axes
    assert "measured is 0" in axis.get_title()


def test_violated_points_are_ringed_by_weight_and_the_title_cites() -> None:
    record = comparison()
    for row in record:
        if row.quantity == "output.mask_3":
            row.erratum = RowErratum(weight="notation", place="(3)", sentence="", reading="", repair="", survives="yes")
    figure = draw(record, "output.mask_3")
    assert all("violated (notation)" in labels(axis) for axis in figure.axes)
    assert not any(label.startswith("violated") for axis in draw(record).axes for label in labels(axis))
    assert figure.get_suptitle().startswith("induction.vanilla: output.mask_3 ")
    assert "Wang et al. 2024, Theorem 4.1" in caption(figure)
    assert "$d$ = 4" in caption(figure)


def test_one_panel_a_combination_up_to_six() -> None:
    titles = [axis.get_title().split("\n")[0] for axis in draw(comparison(Ls=(8, 64))).axes]
    assert titles == ["L = 8", "L = 64"]
    many = draw(comparison(ps=tuple(range(1, 10)), Ls=(3, 4, 5, 6, 7, 8, 9, 10)))
    assert len([axis for axis in many.axes if axis.get_visible()]) == 6
    assert "6 of 8 panels shown" in caption(many)


def of_the_step(*rows: tuple[str, str | None]) -> Comparison:
    """A record of icgd.step, whose main quantity is the gradient, at two points."""
    record = comparison(ps=(1, 2), Ls=(8,))
    made = [
        like.model_copy(update={"quantity": name, "scope": scope}, deep=True)
        for like in (record.rows[0], next(row for row in record if row.params["p"] == 2))
        for name, scope in rows
    ]
    return record.model_copy(update={"result": "icgd.step", "rows": made})


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([("p[1]", "network"), ("gradient", "network"), ("prediction.mean", None)], "gradient"),
        ([("p[1]", "network"), ("prediction.mean", None)], "p[1]"),
        ([("prediction.mean", None), ("p[1]", "network"), ("gradient", "prompt")], "p[1]"),
        ([("prediction.mean", None)], "prediction.mean"),
    ],
)
def test_the_main_quantity_is_drawn_and_no_prediction(rows: list[tuple[str, str | None]], expected: str) -> None:
    heading = draw(of_the_step(*rows)).get_suptitle()
    assert heading.startswith((f"icgd.step: {expected} ", f"icgd.step: {expected}: "))


@pytest.mark.long
def test_a_plot_for_a_paper_has_no_title() -> None:
    for figure in (draw(comparison(), title=False), draw_steps(comparison(), title=False)):
        assert figure.get_suptitle() == caption(figure) == ""
        drawn(figure)
    assert draw(comparison(), title=False).get_figheight() < draw(comparison()).get_figheight()


@pytest.mark.parametrize("names", [0, 30])
def test_the_title_stays_on_the_figure(names: int) -> None:
    record = comparison(Ls=(8,))
    for row in record:
        row.params |= {f"parameter_{index}": index for index in range(names)}
    figure = draw(record)
    renderer = drawn(figure)
    assert figure._suptitle is not None  # matplotlib has no public way to the title's place
    title = figure._suptitle.get_window_extent(renderer)
    assert 0 <= title.x0 < title.x1 <= figure.bbox.width
    assert title.y1 <= figure.bbox.height
    assert all(title.y0 > axis.get_window_extent(renderer).y1 for axis in figure.axes)
    assert "\n" not in figure.get_suptitle()
    below = figure.legends[0].get_window_extent(renderer)
    assert 0 <= below.x0 < below.x1 <= figure.bbox.width
    assert 0 <= below.y0 < below.y1 < min(axis.get_window_extent(renderer).y0 for axis in figure.axes)
    assert all(f"parameter_{index} = {index}" in caption(figure) for index in range(names))


def test_the_legend_stays_on_the_figure() -> None:
    record = of_the_step(*(("gradient", scope) for scope in ("network", "prompt", "prompt, local")))
    for index, row in enumerate(record):
        row.instance = row.measured = row.attacked = row.rounding = 1.0 + index  # a series for each scope
    figure = draw(record)
    renderer = drawn(figure)
    (legend,) = figure.legends
    place = legend.get_window_extent(renderer)
    assert len(legend.get_texts()) == 2 + 3 * 3 + 1  # printed and derived, three scopes each, rounding
    assert 0 <= place.x0 < place.x1 <= figure.bbox.width
    assert place.y0 >= 0


def test_a_rate_is_drawn_on_a_linear_scale() -> None:
    (axis,) = draw(comparison(), "output.rate").axes
    assert axis.get_yscale() == "linear"
    assert axis.get_xlabel() == "$L$"


# Tiers at one point.


def test_one_point_is_a_chart_of_tiers() -> None:
    record = one_point()
    figure = draw(record)
    axis, verdicts, rates = figure.axes[0], figure.axes[2], figure.axes[1]
    assert (axis.get_xscale(), rates.get_xscale()) == ("log", "linear")
    names = [tick.get_text() for tick in axis.get_yticklabels()]
    assert names[0].startswith("output: $")
    assert [name for name in names if "(masked, prompt)" in name]
    assert "printed: violated; derived, instance: kept\n(vacuous: derived)" in [
        tick.get_text() for tick in verdicts.get_yticklabels()
    ]
    places = {line.get_label(): (line.get_xdata()[0], line.get_ydata()[0]) for line in reversed(axis.get_lines())}
    assert places["derived"] == (record.rows[2].derived, 0)
    assert {"printed", "derived", "instance", "measured", "attacked", "violated"} <= labels(axis)


def test_a_0_has_a_place_of_its_own_on_a_chart() -> None:
    record = one_point()
    assert "0" not in [text.get_text() for text in draw(record).axes[0].texts]
    record.rows[2].attacked = 0.0
    axis = draw(record, "output").axes[0]
    assert [text.get_text() for text in axis.texts] == ["0"]
    place = {line.get_label(): line.get_xdata()[0] for line in reversed(axis.get_lines())}["attacked"]
    assert 0 < place < min(row.measured for row in record if row.quantity == "output")


def test_a_number_far_below_the_others_does_not_stretch_the_axis() -> None:
    record = one_point()
    record.rows[2].measured, record.rows[2].rounding = 1e-30, 1e-31
    axis = draw(record, "output").axes[0]
    assert axis.get_xlim()[0] > 1e-15
    assert [text.get_text() for text in axis.texts] == ["0, or less\nthan shown"]


def test_negative_numbers_have_a_linear_panel() -> None:
    record = one_point()
    record.rows[2].derived = -1.0
    assert [axis.get_xscale() for axis in draw(record, "output").axes[:2]] == ["log", "linear"]


def test_a_row_that_is_refuted_without_a_run_is_ringed_at_its_bound() -> None:
    record = one_point()
    record.rows = record.rows[2:3]
    record.rows[0].measured = record.rows[0].attacked = None
    record.rows[0].verdict = {"printed": Verdict.VIOLATED}
    axis = draw(record).axes[0]
    rings = [line.get_xdata()[0] for line in axis.get_lines() if line.get_label() == "violated"]
    assert rings == [record.rows[0].printed]


# Steps.


def test_the_slack_of_each_step_is_a_bar() -> None:
    record = comparison(ps=(1, 2), Ls=(8,))
    figure = draw_steps(record)
    bars = [[bar.get_width() for bar in axis.patches] for axis in figure.axes if axis.get_visible()]
    assert bars == [[1.0, 1.25] for row in record if row.quantity == "output" and row.slack]
    assert [tick.get_text() for tick in figure.axes[0].get_yticklabels()] == ["y", "output"]
    for row in record:
        row.slack = {}
    with pytest.raises(UsageError, match="no slack per step was recorded for 'output'"):
        draw_steps(record)


# Words.


@pytest.mark.parametrize(
    ("formula", "shown"),
    [
        (r"\|\bar{p}(j) - p(j)\|_2", r"$\|\bar{p}(j) - p(j)\|_2$"),
        (r"a \le b^\top \left(c\right)", r"$a \leq b^\top \left(c\right)$"),
        (r"\tfrac1n \mathcal N_\varepsilon", r"$\frac{1}{n} \mathcal{N}_\varepsilon$"),
        (r"\begin{cases} 1 \end{cases}", ""),
        ("x" * 100, ""),
        ("", ""),
    ],
)
def test_a_formula_that_matplotlib_cannot_set_is_left_out(formula: str, shown: str) -> None:
    assert mathematics(formula) == shown


def test_a_line_of_the_title_is_broken_outside_of_mathematics() -> None:
    assert lines_of("w: $|a - b + c|$ (sup norm), eta = 1", 20) == ["w: $|a - b + c|$", "(sup norm), eta = 1"]
    assert lines_of("$a + b + c + d + e + f + g$", 10) == ["$a + b + c + d + e + f + g$"]


def test_a_record_whose_theorem_is_not_known_has_plain_words() -> None:
    record = comparison(ps=(1, 2), Ls=(8,)).model_copy(update={"result": "own.lost"})
    figure = draw(record)
    assert figure.axes[0].get_xlabel() == "p"
    assert figure.get_suptitle().startswith("own.lost: output (sup norm)")


# Refusals.


@pytest.mark.parametrize(
    ("quantity", "x", "message"),
    [
        ("outptu", None, "no quantity 'outptu' to plot. It has: y, output, output.mask_3, output.rate"),
        (None, "q", "cannot plot against 'q': no row has it as a number. Parameters: p, L, d, W_star"),
    ],
)
def test_a_plot_of_what_is_not_there_is_refused(quantity: str | None, x: str | None, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        draw(comparison(), quantity, x)


def test_a_plot_without_rows_or_numbers_is_refused() -> None:
    record = one_point()
    for row in record:
        row.printed = row.derived = row.instance = row.measured = row.attacked = None
    with pytest.raises(UsageError, match="has no number to draw at these parameters"):
        draw(record)
    record.rows = []
    with pytest.raises(UsageError, match="has no rows"):
        draw(record)


@pytest.mark.parametrize("ps", [(1, 2, 4), (1,)])
def test_what_coincides_is_all_seen(ps: tuple[int, ...]) -> None:
    """Of lines and points at the same places, each colour is on the figure outside of its legend."""
    record = comparison(ps=ps, Ls=(8,))
    record.rows = [row for row in record.rows if row.quantity == "output" and row.scope == "network"]
    for row in record.rows:
        row.printed = row.claimed = row.instance = row.derived
        row.measured = row.attacked = (row.derived or 0.0) / 2
    figure = draw(record)
    figure.legends[0].set_visible(False)
    pixels = np.asarray(drawn(figure).buffer_rgba())[..., :3].reshape(-1, 3).astype(int)
    for name, style in STYLES.items():
        colour = np.array([int(style["color"][at : at + 2], 16) for at in (1, 3, 5)])
        assert (abs(pixels - colour).max(axis=1) <= 8).sum() >= 8, name


def test_the_legend_has_the_tiers_in_their_order() -> None:
    names = [text.get_text() for text in draw(comparison()).legends[0].get_texts()]
    assert names[:2] == ["printed", "derived"]
    assert names.index("instance") < names.index("measured") < names.index("attacked")
