"""Tables by name: what is read of bundled ones and of CSV files, which columns are taken, and what is refused."""

import builtins
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import boundsmith as bs
from bridge.theorems.tables import diabetes, load_table, read_csv, sunspots
from symbolic.words.errors import UsageError


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
    (GOOD.replace("20", "03/01/2024"), r"'03/01/2024' is not a number; dates are written as 2024-01-31"),
    ("day,price\n2024-01-01,1\n3.1.24,2\n3,3\n", "'3.1.24' is not a date, as the first value is; dates are written as"),
    ("day,price\n1,1\n2024-01-02,2\n3,3\n", "'2024-01-02' is not a number; --features"),
    (GOOD.replace("20", "1_0"), "line 3, column 'price': '1_0' is not a number"),
    (GOOD.replace("20", ""), "line 3, column 'price': the value is missing"),
    (GOOD.replace("2,20,1", ",,"), "line 3, column 'size': the value is missing; line 3, column 'age': the value is"),
    (
        GOOD.replace("20", "NaN"),
        "line 3, column 'price': 'NaN' stands for a missing value; fill in what is missing, or",
    ),
    (GOOD.replace("20", "-inf"), "line 3, column 'price': '-inf' is not finite"),
    (
        GOOD.replace("20,", ",") + "5,,1\n6,NA,2\n",
        r"line 3, column 'price': the value is missing \(1 more below\); line 6",
    ),
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
    ("price\n1\n\n3\n4\n", "line 3, column 'price': the value is missing"),
    (
        GOOD.replace(",", " ").replace("size price age", "price"),
        "'1 10 3' is not a number .* separated by commas, semi",
    ),
    (GOOD.replace(",", ";").replace("20", "2,5"), "line 3, column 'price': '2,5' is not a number"),
    ("day,price\n2024-01-01,1\nx,2\n3,3\n", r"column 'day': 'x' is not a date, as the first value is \(1 more below\)"),
    ("day,price\n2024-01-01,1\n20240102,2\n2024-01-03,3\n", "line 3, column 'day': '20240102' is not a date, as the"),
    ("day,price\n1,1\n2024-01-01,2\n3,3\n", "column 'day': '2024-01-01' is not a number"),
    ("", "is empty; a header row and at least 3 rows"),
    ("\n \n", "is empty"),
    (b"\xff\xfe\x00s", "is not a UTF-8 text file"),
    (GOOD + '5,"6,7\n', "line 5: unexpected end of data"),
    (GOOD + "5," + "1" * 200_000 + ",1\n", "line 5: field larger than field limit"),
    (
        "a,price\n" + "x,1\n" * 20,
        r"line 2, column 'a': 'x' is not a number \(19 more below\); --features NAMES takes some",
    ),
    (",".join(map(str, range(20))) + ",price\n" + "x," * 20 + "1\n2\n3\n", "and 13 more; --features"),
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
        (None, "give --target, the column of .* to predict, or --features alone where nothing is: size, price, age"),
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


# ---- chosen columns

ORDINARY = """,name,day,size,price,size,note
0,"Mill, old",2024-03-01,1,10,7,
1,,2024-03-04,2,20,8,x
2,Inn,2024-03-05T12:00:00,4,15,9,
"""


def test_columns_that_are_not_taken_may_hold_anything(tmp_path: Path) -> None:
    table = read_csv(write(tmp_path, ORDINARY), "price", ["day"])
    assert table.features.tolist() == [[0.0], [3.0], [4.5]]
    assert (table.targets[:, 0].tolist(), table.names) == ([10, 20, 15], ("day",))
    assert table.note == " (features day; day in days since the first row)"
    swapped = read_csv(write(tmp_path, GOOD), "price", ["age", "size"])
    assert (swapped.features.tolist(), swapped.names) == ([[3, 1], [1, 2], [2, 4]], ("age", "size"))
    assert read_csv(write(tmp_path, GOOD), "price").note == ""


@pytest.mark.parametrize("separator", [";", "\t"])
def test_other_separators_are_read(separator: str, tmp_path: Path) -> None:
    table = read_csv(write(tmp_path, GOOD.replace(",", separator)), "price")
    assert table.features.tolist() == [[1, 3], [2, 1], [4, 2]]


def test_times_have_zones(tmp_path: Path) -> None:
    lines = "t,y\n2024-01-01T00:00:00+01:00,1\n2024-01-01T06:00:00Z,2\n2024-01-02,4\n"
    table = read_csv(write(tmp_path, lines), "y")
    assert table.features[:, 0] == pytest.approx([0, 7 / 24, 25 / 24])
    assert table.note == " (t in days since the first row)"


def test_one_column_alone_is_read(tmp_path: Path) -> None:
    path = write(tmp_path, "price\n1\n2\n4\n\n\n")
    alone, target = read_csv(path, None), read_csv(path, "price")
    assert (alone.features[:, 0].tolist(), alone.targets.shape) == ([1, 2, 4], (3, 0))
    assert (target.targets[:, 0].tolist(), target.features.shape) == ([1, 2, 4], (3, 0))


def test_columns_of_bundled_tables_are_chosen() -> None:
    table = load_table("diabetes", None, None, "bp, bmi")
    assert (table.names, table.features[0].tolist(), table.targets[0, 0]) == (("bp", "bmi"), [101.0, 32.1], 151.0)
    sample = load_table("diabetes", None, None, ["bmi", "progression"])
    assert (sample.features[0].tolist(), sample.targets.shape) == ([32.1, 151.0], (442, 0))
    assert sample.note == " (features bmi, progression)"


UNKNOWN = [
    ("siez", "has no column 'siez' \\(--features\\); did you mean size"),
    ("zzz", "it has: size, price, age"),
    ("size,price", "'price' is named by --target and by --features; leave it out of one"),
    ("size,size", "--features names 'size' twice; name it once"),
    ("size,,age", "--features: 'size,,age' leaves a name out; give names of columns"),
    ([], r"--features: \[\] leaves a name out"),
]


@pytest.mark.parametrize(("features", "message"), UNKNOWN, ids=str)
def test_features_that_are_no_columns_are_refused(features: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        load_table(None, write(tmp_path, GOOD), "price", features)


def test_features_of_two_columns_or_of_no_numbers_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, ORDINARY)
    with pytest.raises(UsageError, match=r"2 columns are named 'size' \(--features\); give them different names"):
        read_csv(path, "price", ["size"])
    with pytest.raises(UsageError, match=r"line 2, column 'name': 'Mill, old' is not a number .*line 3, .* is missing"):
        read_csv(path, "price", ["name"])
    with pytest.raises(UsageError, match=r"--data: diabetes has no column 'bmu' .* did you mean bmi"):
        load_table("diabetes", None, None, "bmu")


def test_features_go_with_a_table() -> None:
    with pytest.raises(UsageError, match="features = 'bmi' names columns of a table; give data = NAME or csv = FILE"):
        bs.compare("induction.vanilla", features="bmi")


def test_a_prediction_takes_a_target_and_a_feature(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"icgd\.dimensions predicts a column, but .* has no target; name it by --target"
    ):
        bs.compare("icgd.dimensions", csv=write(tmp_path, GOOD), features="size,age")
    with pytest.raises(UsageError, match=r"from others, but .* has the target alone; add some"):
        bs.compare("icgd.dimensions", csv=write(tmp_path, "price\n1\n2\n4\n"), target="price")
