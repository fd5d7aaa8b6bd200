"""No random inequality is proved where it is undefined or false, and none refuted where it holds."""

from fractions import Fraction

import pytest

from bridge.questions.certify.certificate import inequality_record
from bridge.questions.certify.reading import read_inequality
from tests.bridge.questions.certify import by_points
from tests.bridge.questions.certify.random_inequalities import survey


@pytest.mark.parametrize(("count", "seed"), [(250, 1), pytest.param(2_000, 2, marks=pytest.mark.long)])
def test_verdicts_agree_with_values_at_points(count: int, seed: int) -> None:
    verdicts, wrong = survey(count, seed)
    assert not wrong, "\n".join(wrong)
    assert verdicts["proved"] > count / 10
    assert verdicts["refuted"] > count / 20
    assert verdicts["refused"] < count / 5


@pytest.mark.parametrize(
    ("text", "range", "special", "found"),
    [
        ("x/x", "x=-1/5,1/3", (), "undefined at x = 0"),
        ("1/(x - 1/7)**2 + 1", "x=0,1", (Fraction(1, 7),), "undefined at x = 1/7"),
        ("1/(x**2 - 2) + 9**9", "x=1,2", (), "a zero of"),
        ("tan(x) + 9**9", "x=1,2", (), "a zero of ['cos'"),
        ("log(x) - log(x)", "x=-1,1", (), "undefined at x = -1"),
        ("x**2 - 1/100", "x=-1,1", (), "-0.0030556 at x = -1/12"),
        ("x**2 > 0", "x=-1,1", (), "0.0 at x = 0"),
        ("exp(x) - 1 - x", "x=-1,1", (), ""),
    ],
)
def test_the_judge_sees_what_is_undefined_or_false(
    text: str, range: str, special: tuple[Fraction, ...], found: str
) -> None:
    record = inequality_record(read_inequality(text, [range])[-1])
    words = by_points.fails(record, special)
    assert words.startswith(found)
    assert bool(words) is bool(found)
