"""Real tables as prompts: the scaling, what is refused, and that the query never has a say in it."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bridge.theorems.data import ScaledTable, Table, scaled
from bridge.theorems.tables import diabetes
from symbolic.words.errors import UsageError

RANGES = [None, (-1.0, 1.0), (0.0, 1.0), (0.0, float("inf")), (-0.17, float("inf"))]


def draw(rows: int, columns: int, targets: int, offset: float, seed: int) -> Table:
    """Columns of many sizes and offsets, none constant on the prompt."""
    generator = np.random.default_rng(seed)
    values = generator.uniform(-1, 1, (rows, columns + targets))
    values *= 10.0 ** generator.integers(-20, 20, columns + targets)
    values += offset * np.abs(values).max(0)
    return Table(values[:, :columns], values[:, columns:], tuple(f"x{j}" for j in range(columns)), "drawn")


# Arguments of `draw`; the Table itself is made in the test, as the type checks of its fields are randomised.
drawn = st.tuples(
    st.integers(3, 12), st.integers(1, 6), st.integers(1, 2), st.sampled_from([0.0, 1.0, 100.0]), st.integers(0, 2**32)
)
Drawn = tuple[int, int, int, float, int]
bounds = st.floats(1e-3, 1e3)


def reachable(B_y: float, output_range: tuple[float, float] | None) -> bool:
    """Whether some targets, of up to two coordinates, are within B_y and the inner part of the range."""
    return output_range != (0.0, 1.0) or B_y > 0.08


def exact_norms_squared(rows: np.ndarray) -> list[Fraction]:
    return [sum((Fraction(v) ** 2 for v in row), Fraction(0)) for row in rows.tolist()]


@given(drawn, bounds, bounds, st.sampled_from(RANGES))
@settings(max_examples=60)
def test_the_prompt_meets_the_hypotheses_exactly_and_reaches_them(
    drawn: Drawn, B_x: float, B_y: float, output_range: tuple[float, float] | None
) -> None:
    assume(reachable(B_y, output_range))
    table = draw(*drawn)
    found = scaled(table, B_x, B_y, output_range=output_range)
    largest = max(exact_norms_squared(found.x))
    assert largest <= Fraction(B_x) ** 2
    assert float(largest) == pytest.approx(B_x**2, rel=1e-12)
    assert max(exact_norms_squared(found.y)) <= Fraction(B_y) ** 2
    if output_range is None and table.targets.shape[1] == 1:
        assert np.abs(found.y).max() == pytest.approx(B_y, rel=1e-12)
    if output_range is not None:
        assert (found.y >= output_range[0]).all()
        assert (found.y <= output_range[1]).all()


def reads_the_query(scaling: Callable[..., ScaledTable], table: Table, query: list[float]) -> bool:
    """Whether another last row changes anything but the query."""
    features, targets = table.features.copy(), table.targets.copy()
    features[-1], targets[-1] = query[: features.shape[1]], query[6 : 6 + targets.shape[1]]
    before, after = scaling(table, 1.0, 1.0), scaling(Table(features, targets, table.names, "changed"), 1.0, 1.0)
    rows = len(table.features) - 1
    return any(
        not np.array_equal(getattr(before, name)[:rows], getattr(after, name)[:rows])
        for name in ("x", "y", "centre")
    ) or (before.middle, before.unit) != (after.middle, after.unit)  # fmt: skip


queries = st.lists(st.floats(-1e20, 1e20), min_size=8, max_size=8)


@given(drawn, queries)
@settings(max_examples=60)
def test_the_scaling_of_the_prompt_never_reads_the_query(drawn: Drawn, query: list[float]) -> None:
    assert not reads_the_query(scaled, draw(*drawn), query)


def test_a_scaling_that_reads_the_query_is_noticed() -> None:
    def leaking(table: Table, B_x: float, B_y: float) -> ScaledTable:
        again = [
            np.vstack([part, part[-1:]]) for part in (table.features, table.targets)
        ]  # the query in the prompt too
        return scaled(Table(again[0], again[1], table.names, "leaking"), B_x, B_y)

    assert reads_the_query(leaking, draw(8, 3, 1, 0.0, 1), [1e6] * 8)


@given(drawn, bounds, st.sampled_from(RANGES))
@settings(max_examples=60)
def test_predictions_return_to_the_units_of_the_table(
    drawn: Drawn, B_y: float, output_range: tuple[float, float] | None
) -> None:
    assume(reachable(B_y, output_range))
    table = draw(*drawn)
    found = scaled(table, 1.0, B_y, output_range=output_range)
    size = np.abs(table.targets).max()
    targets = np.vstack([found.y, found.y_query])
    # Rounding in y counts for as much as the range of y is larger than the part of it that is used.
    precise = 1e-10 * size * (1 + np.abs(found.middle) / np.abs(found.y - found.middle).max())
    assert np.abs(found.in_raw_units(targets) - table.targets).max() <= precise


@given(drawn)
@settings(max_examples=30)
def test_features_are_standardised_up_to_one_common_factor(drawn: Drawn) -> None:
    table = draw(*drawn)
    x = scaled(table, 3.0, 1.0).x
    deviation = x.std(0)
    assert deviation == pytest.approx(np.full_like(deviation, deviation[0]), rel=1e-6)
    assert np.abs(x.mean(0)).max() <= 1e-6 * deviation[0]


def test_the_units_of_a_column_do_not_matter() -> None:
    table = diabetes()
    in_other_units = table.features * np.logspace(-3, 3, 10) + np.arange(10)
    other = Table(in_other_units, table.targets * 5 - 1, table.names, "other")
    one, two = scaled(table, 1.0, 1.0), scaled(other, 1.0, 1.0)
    assert np.abs(one.x - two.x).max() < 1e-12
    assert np.abs(one.y - two.y).max() < 1e-12


def test_a_query_outside_the_ball_is_reported_and_not_moved() -> None:
    features = np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.25], [0.5, 0.5]])
    inside = Table(features, np.arange(4.0)[:, None], ("a", "b"), "t")
    assert not scaled(inside, 2.0, 1.0).outside
    assert scaled(inside, 2.0, 1.0).remark == ""
    features = features.copy()
    features[-1] = 100
    far = scaled(Table(features, inside.targets, ("a", "b"), "t"), 2.0, 1.0)
    assert far.outside
    assert np.linalg.norm(far.x_query) == pytest.approx(far.query_norm)
    assert far.remark == f"the query of t has ||x||_2 = {far.query_norm:.4g} > B_x = 2: outside"


@pytest.mark.parametrize("scale", [1e-300, 1e150])
def test_no_square_over_or_underflows(scale: float) -> None:
    features = np.array([[0.0], [1.0], [0.3], [0.5]]) * scale
    found = scaled(Table(features, np.arange(4.0)[:, None], ("a",), "t"), 1.0, 1.0)
    assert np.abs(found.x).max() == pytest.approx(1)


UNSCALABLE: list[tuple[Any, Any, dict[str, Any], str]] = [
    ([[1], [1], [2]], [[0], [1], [2]], {}, "column 'a' is constant over the prompt"),
    ([[1], [2], [2]], [[1], [1], [2]], {}, "the target is constant over the prompt"),
    ([[1], [2], [2]], [[0], [1], [2]], {"B_x": 0.0}, "must be positive"),
    ([[1], [2], [2]], [[0], [1], [2]], {"B_y": float("nan")}, "must be positive"),
    (
        [[1], [2], [2]],
        [[0], [1], [2]],
        {"B_y": 0.01, "output_range": (0.0, 1.0)},
        "no target with .* lies in the range",
    ),
    ([[0], [5e-324], [1e150]], [[0], [1], [2]], {}, "query is beyond float64"),
]


@pytest.mark.parametrize(("features", "targets", "call", "message"), UNSCALABLE)
def test_a_table_that_cannot_be_scaled_is_refused(
    features: Any, targets: Any, call: dict[str, Any], message: str
) -> None:
    table = Table(np.array(features, dtype=float), np.array(targets, dtype=float), ("a",), "t")
    with pytest.raises(UsageError, match=message):
        scaled(table, **{"B_x": 1.0, "B_y": 1.0, **call})


def test_the_first_rows() -> None:
    table = diabetes().first(41)
    assert scaled(table, 1.0, 1.0).x.shape == (40, 10)
    for rows in (2, 443):
        with pytest.raises(UsageError, match=f"diabetes: expected 3 to 442 rows .* got {rows}"):
            diabetes().first(rows)
