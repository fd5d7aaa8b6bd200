"""What an outcome says of itself: where it ends, and what is in the way of a proof."""

import pytest
import sympy as sp

from bridge.questions.certify import Outcome, Status, prove
from bridge.questions.certify.explaining import explanation, obstacles
from symbolic.derivations.inequalities import Inequality

x, y = sp.symbols("x y", real=True)
UNIT = {x: (0, 1), y: (0, 1)}


def given_up(expression: sp.Expr, box: dict[sp.Symbol, tuple[int, int]], **more: bool) -> Outcome:
    """As if the search had ended at once: what is said depends on the inequality alone."""
    return Outcome(Inequality("claim", expression, box, **more), Status.UNDECIDED, open_count=7)


@pytest.mark.parametrize(
    ("expression", "box", "said"),
    [
        (
            (x * y - 2) ** 2 * (x + y),
            {x: (1, 3), y: (1, 3)},
            "the factor (x*y - 2)**2 is 0 there and nowhere below 0: ",
        ),
        ((x * y - 2) ** 2 * (x + y), {x: (1, 3), y: (1, 3)}, "prove x + y >= 0 instead"),
        ((3 * x - 1) ** 2, {x: (-1, 1)}, "(3*x - 1)**2 is a square: it is nowhere below 0, and nothing else"),
        (x * (2 - x) * (3 - y), UNIT, "is 0 there: prove its sign and that of"),
        (
            sp.Max(x, y) - (x + y) / 2,
            UNIT,
            "a kink is there, x - y = 0: prove it where x - y >= 0 and where x - y <= 0",
        ),
        (sp.exp(x) - 1 - x, {x: (-1, 2)}, "it is exactly 0 at x = 0"),
        (sp.exp(x) - 1 - x, {x: (-1, 2)}, "prove it with a margin, or move that point to 0"),
        (sp.cos(x) + sp.Rational(13, 10), {x: (0, 4)}, "the least value found is 0.3, at x ="),
        (sp.exp(x) - sp.sqrt(2) * x - sp.sqrt(2) * (1 - sp.log(2) / 2), {x: (0, 1)}, "it is 0 there, or close to 0"),
    ],
    ids=["square", "rest", "only a square", "factor", "kink", "zero", "margin", "room", "irrational zero"],
)
def test_what_is_in_the_way_is_named(expression: sp.Expr, box: dict[sp.Symbol, tuple[int, int]], said: str) -> None:
    assert said in " ".join(obstacles(given_up(expression, box)))


def test_a_strict_inequality_that_is_attained_names_the_point() -> None:
    outcome = prove(Inequality("strict", (3 * x - 1) ** 2, {x: (-1, 1)}, strict=True), most_boxes=200)
    assert outcome.status is Status.UNDECIDED
    said = str(outcome).splitlines()
    assert "it is exactly 0 at x = 1/3 (0.333333)" in said
    assert "so that it is not > 0 there: write >= in the place of >" in said


def test_print_shows_verdict_region_and_point() -> None:
    refuted = prove(Inequality("claim", x - 2, {x: (0, 1)}))
    first, second, third, fourth = str(refuted).splitlines()
    assert first.startswith("claim refuted (")
    assert (second, third) == ("x - 2 >= 0", "for x in [0, 1]")
    assert fourth == "claim is refuted: the difference of its sides must be >= 0, but it is at most -2 at x = 0"
    assert explanation(prove(Inequality("claim", x + 2, {x: (0, 1)}))) == []
    assert "<br>" in refuted._repr_html_()
    assert "x - 2 &gt;= 0" in refuted._repr_html_()


def test_an_undecided_outcome_counts_what_is_left() -> None:
    assert "claim is undecided: 7 boxes are open" in str(given_up(x - y**2, UNIT))
