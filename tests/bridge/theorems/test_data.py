"""Real tables: what is read, what is refused, and that the query never has a say in the scaling of the prompt."""

import builtins
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bridge.theorems.data import ScaledTable, Table, diabetes, load_table, read_csv, scaled, sunspots
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


def test_diabetes_is_raw_and_whole() -> None:
    table = load_table("diabetes", None, None)
    assert (table.features.shape, table.targets.shape, len(table.names)) == ((442, 10), (442, 1), 10)
    assert table.features[0, :4].tolist() == [59.0, 2.0, 32.1, 101.0]  # unscaled: age, sex, body mass, blood pressure
    assert set(table.features[:, table.names.index("sex")]) == {1.0, 2.0}
    assert table.targets[:3, 0].tolist() == [151.0, 75.0, 141.0]


def test_sunspots_are_a_series_of_years() -> None:
    pytest.importorskip("statsmodels", reason="the bundled series is part of statsmodels")
    table = load_table("sunspots", None, None)
    assert (table.features.shape, table.targets.shape, table.names) == ((309, 1), (309, 1), ("YEAR",))
    assert np.array_equal(table.features[:, 0], np.arange(1700, 2009))
    assert table.targets[:3, 0].tolist() == [5.0, 11.0, 16.0]


PACKAGES = [(diabetes, "sklearn", "scikit-learn"), (sunspots, "statsmodels", "statsmodels")]


@pytest.mark.parametrize(("load", "package", "called"), PACKAGES, ids=[name for *_, name in PACKAGES])
def test_without_their_packages_tables_say_one_sentence(
    load: Any, package: str, called: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = builtins.__import__

    def without(name: str, *more: Any) -> Any:
        if name.startswith(package):
            raise ImportError(name)
        return whole(name, *more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UsageError, match=rf"{called}, which is not installed: pip install 'boundsmith\[data\]'"):
        load()


def test_the_first_rows() -> None:
    table = diabetes().first(41)
    assert scaled(table, 1.0, 1.0).x.shape == (40, 10)
    for rows in (2, 443):
        with pytest.raises(UsageError, match=f"diabetes: expected 3 to 442 rows .* got {rows}"):
            diabetes().first(rows)


GOOD = "size,price,age\n1,10,3\n2,20,1\n4,15,2\n"


def write(folder: Path, content: str | bytes) -> str:
    path = folder / "house.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


@given(st.lists(st.lists(st.floats(-1e150, 1e150), min_size=3, max_size=3), min_size=3, max_size=8))
@settings(max_examples=50)
def test_what_is_written_is_what_is_read(tmp_path_factory: pytest.TempPathFactory, rows: list[list[float]]) -> None:
    values = np.array(rows)
    if (values[:-1] == values[0]).all(0).any():
        values[:2] = [[0, 0, 0], [1, 1, 1]]
    lines = ["b,a,c", *(",".join(repr(float(v)) for v in row) for row in values)]
    table = read_csv(write(tmp_path_factory.mktemp("csv"), "\n".join(lines)), "a")
    assert (table.features == values[:, [0, 2]]).all()
    assert (table.targets == values[:, [1]]).all()
    assert table.names == ("b", "c")


@pytest.mark.parametrize(
    "content",
    [
        GOOD,
        "\ufeff" + GOOD,
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("\n", "\n\n"),
        GOOD.replace(",", " , "),
        '"size","price","age"\n"1","10",3\n2,20,1\n4,1.5e1,2',
    ],
    ids=["plain", "mark", "carriage returns", "empty lines", "spaces", "quotes"],
)
def test_what_spreadsheets_write_is_read(content: str, tmp_path: Path) -> None:
    table = read_csv(write(tmp_path, content), "price")
    assert table.features.tolist() == [[1, 3], [2, 1], [4, 2]]
    assert table.targets.tolist() == [[10], [20], [15]]
    assert table.source == str(tmp_path / "house.csv")


REFUSED = [
    (GOOD.replace("20", "many"), "line 3, column 'price': 'many' is not a number"),
    (GOOD.replace("20", "1_0"), "line 3, column 'price': '1_0' is not a number"),
    (GOOD.replace("20", ""), "line 3, column 'price': the value is missing"),
    (GOOD.replace("2,20,1", ",,"), "line 3, column 'size': the value is missing; line 3, column 'price': the value"),
    (GOOD.replace("20", "NaN"), "line 3, column 'price': 'NaN' is not finite"),
    (GOOD.replace("20", "1e400"), "'1e400' is not finite"),
    (GOOD.replace("20", "1e200"), r"'1e200' is beyond 1e\+150"),
    (GOOD.replace("2,20,1", "2,20"), "line 3 has 2 cells, the header has 3"),
    (GOOD.replace("2,20,1", "2,x,1").replace("4,", "4,,"), "column 'price': 'x' is not a number; line 4 has 4 cells"),
    (GOOD.replace("2,20", "1,20"), "column 'size' is constant over the prompt"),
    (GOOD.replace("20", "10"), "column 'price' is constant over the prompt"),
    (GOOD.replace("age", "size"), "2 columns are named 'size'"),
    (GOOD.replace("age", ""), "column 3 has no name"),
    ("size,price\n1,2\n3,4\n", "2 rows of numbers, but at least 3 are needed"),
    ("size,price\n1,x\n", "'x' is not a number; 1 rows of numbers, but at least 3"),
    ("1,2\n3,4\n5,6\n", "the first line holds numbers; a header row .* is needed"),
    ("price\n1\n2\n3\n", "one column, but a target and a feature are needed"),
    (GOOD.replace(",", ";"), "it has semicolons; separate the columns by commas"),
    ("", "is empty; a header row and at least 3 rows"),
    ("\n \n", "is empty"),
    (b"\xff\xfe\x00s", "is not a UTF-8 text file"),
    (GOOD + '5,"6,7\n', "line 5: unexpected end of data"),
    (GOOD + "5," + "1" * 200_000 + ",1\n", "line 5: field larger than field limit"),
    ("a,price\n" + "x,1\n" * 20, "and 12 more$"),
]


@pytest.mark.parametrize(("content", "message"), REFUSED, ids=[str(message)[:40] for _, message in REFUSED])
def test_a_file_that_cannot_serve_is_refused(content: str | bytes, message: str, tmp_path: Path) -> None:
    path = write(tmp_path, content)
    with pytest.raises(UsageError, match=message) as refusal:
        read_csv(path, "price")
    assert path in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("prices", r"has no column 'prices' \(--target\); did you mean price"),
        ("zzz", "it has: size, price, age"),
        (None, "give --target, the column of .* to predict: size, price, age"),
    ],
)
def test_an_unknown_target_is_refused(target: str | None, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        read_csv(write(tmp_path, GOOD), target)


def test_a_target_beside_a_bundled_table_is_refused() -> None:
    with pytest.raises(UsageError, match="--target goes with --csv FILE, not with --data; leave out 'age'"):
        load_table("diabetes", None, "age")


def test_a_path_that_is_no_file_is_refused(tmp_path: Path) -> None:
    for path, message in ((tmp_path, "is a folder"), (tmp_path / "no.csv", "there is no file")):
        with pytest.raises(UsageError, match=message):
            read_csv(str(path), "price")
