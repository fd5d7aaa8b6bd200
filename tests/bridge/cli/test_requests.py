"""`--set` and `--grid`: what is read, and that all refusals come at once."""

import math

import pytest

from bridge.cli.requests import parameters, parse_value
from symbolic.words.errors import UsageError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("8", 8),
        ("-1", -1),
        ("0.25", 0.25),
        ("1e-3", 1e-3),
        ("random:1", "random:1"),
        ("@weights.json", "@weights.json"),
        ("[[1,0],[0,1]]", "[[1,0],[0,1]]"),
    ],
)
def test_numbers_are_parsed_and_all_else_stays_text(text: str, value: object) -> None:
    parsed = parse_value(text)
    assert parsed == value
    assert type(parsed) is type(value)


def test_what_is_not_finite_reaches_the_hypotheses() -> None:
    assert math.isnan(float(parse_value("nan")))
    assert parse_value("1e999") == math.inf


def test_settings_and_grids() -> None:
    assert parameters(["d=4", "W_star= random:1"], ["p=1, 2,0.5", "L=8"]) == {
        "d": 4,
        "W_star": "random:1",
        "p": (1, 2, 0.5),
        "L": (8,),
    }
    assert parameters(["W_star=a=b"]) == {"W_star": "a=b"}


@pytest.mark.parametrize(
    ("settings", "grids", "message"),
    [
        (["p"], [], "--set p is not of the form name=value"),
        (["=1"], [], "--set =1 is not of the form name=value"),
        (["p="], [], "--set p= is not of the form name=value"),
        ([], ["p"], "--grid p is not of the form name=v1,v2,..."),
        ([], ["p=1,,2"], "--grid p=1,,2 has an empty value; write name=v1,v2,..."),
        (["p=1", "p=2"], [], "'p' is given twice (--set and --grid); give it once"),
        (["p=1"], ["p=2,3"], "'p' is given twice (--set and --grid); give it once"),
        ([], ["p=1", "p=2"], "'p' is given twice (--set and --grid); give it once"),
    ],
)
def test_refusals(settings: list[str], grids: list[str], message: str) -> None:
    with pytest.raises(UsageError) as refusal:
        parameters(settings, grids)
    assert str(refusal.value) == f"{message}."


def test_all_refusals_at_once() -> None:
    with pytest.raises(UsageError) as refusal:
        parameters(["p", "d=1", "d=2"], ["L=,"])
    for word in ("--set p", "'d' is given twice", "--grid L=,"):
        assert word in str(refusal.value)
