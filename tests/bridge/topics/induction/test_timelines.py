"""Curves over time: where times are marked and named, and curves with a scale of their own."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bridge.topics.induction.timelines import mark_times, name_spans, name_times, own_scale


@pytest.fixture
def axis() -> Axes:
    found = Figure().subplots()
    found.plot([1.0, 100.0], [0.0, 2.0], label="slow")
    found.set_xscale("log")
    return found


def test_times_are_lines_over_the_whole_height(axis: Axes) -> None:
    mark_times(axis, [3.0, 40.0], dotted=[40.0])
    marks = axis.lines[1:]
    assert [line.get_xdata()[0] for line in marks] == [3.0, 40.0]
    assert [line.get_linestyle() for line in marks] == ["-", ":"]


def test_names_stand_at_their_times_and_between_their_edges(axis: Axes) -> None:
    name_times(axis, {"a": 3.0, "b": 4.0}, {"a": "right"})
    assert [(each.get_text(), each.xy[0], each.get_ha()) for each in axis.texts] == [
        ("a", 3.0, "right"),
        ("b", 4.0, "center"),
    ]
    name_spans(axis, ["I", "II"], [1.0, 4.0, 25.0])
    assert [(each.get_text(), each.xy[0]) for each in axis.texts[2:]] == [("I", 2.0), ("II", 10.0)]
    with pytest.raises(ValueError, match="zip"):
        name_spans(axis, ["I", "II"], [1.0, 4.0])


def test_a_curve_of_its_own_scale_shares_the_legend(axis: Axes) -> None:
    own_scale(axis, np.array([1.0, 100.0]), np.array([0.0, 500.0]), "#E69F00", "$p$")
    (right,) = [each for each in axis.figure.axes if each is not axis]
    assert right.lines[0].get_ydata().max() == 500.0
    assert right.get_ylim()[0] == axis.get_ylim()[0] == 0.0
    assert right.get_ylim()[1] > 1.3 * 500
    assert [each.get_text() for each in axis.get_legend().get_texts()] == ["slow", "$p$ (right)"]
