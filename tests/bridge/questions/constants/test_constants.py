"""Best constants against values in closed form: what is proved, what is refuted, what is written, what is refused."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
import sympy as sp

import boundsmith as bs
from bridge.questions.certify.checking import check_certificate
from bridge.questions.certify.proving import Status
from bridge.questions.constants.best import decimal
from bridge.questions.constants.bracketing import rounded
from symbolic.words.errors import UsageError

x, y, a, b, c = sp.symbols("x y a b c", real=True)
SQUARE = {x: (-1, 1), y: (-1, 1)}
JORDAN = bs.statements.Inequality("Jordan", sp.sin(x) - c * x, {x: (0, sp.Rational(3, 2)), c: (0, 1)})
LOSS = (a * b - 2) ** 2 / 2
PULL = bs.dynamics.Flow((x, y), (-x + 1 + (y - 2) / 5 * (x - 1), -2 * (y - 2)))
largest, sup, lip, decay = bs.checks.largest_constant, bs.checks.supremum, bs.checks.lipschitz, bs.dynamics.decay


def brackets(found: bs.checks.BestConstant, best: float, ratio: float = 0.998) -> None:
    """The proved and the refuted value lie on the two sides of the best one, and close to it."""
    low, high = (found.proved, found.refuted) if found.largest else (found.refuted, found.proved)
    assert float(low) <= best + 1e-9
    assert float(high) >= best - 1e-9
    assert ratio <= found.ratio <= 1
    assert {each.status for each in found.proofs} == {Status.PROVED}
    assert found.refutation is not None
    assert found.refutation.status is Status.REFUTED


@pytest.mark.parametrize(
    ("inequality", "best"),
    [
        (JORDAN, 0.6649966577360363),  # sin(3/2)/(3/2)
        (bs.statements.Inequality("mean", x**2 + y**2 - c * x * y, {x: (1, 2), y: (1, 2), c: (0, 10)}), 2.0),
        (bs.statements.Inequality("kink", sp.Abs(x) + 1 - c * x, {x: (-1, 2), c: (0, 10)}), 1.5),
        (bs.statements.Inequality("where", x - c * y, {x: (1, 2), y: (1, 2), c: (0, 9)}, (x - y - sp.S.Half,)), 4 / 3),
        (bs.statements.Inequality("curved", x + 3 - sp.exp(c), {x: (0, 1), c: (0, 9)}), 1.0986122886681098),  # log 3
    ],
    ids=lambda each: each.name if isinstance(each, bs.statements.Inequality) else "",
)
def test_the_largest_constant_is_bracketed(inequality: bs.statements.Inequality, best: float) -> None:
    brackets(largest(inequality, c), best)


@pytest.mark.parametrize(
    ("expression", "box", "best"),
    [
        (x * sp.exp(-x), {x: (0, 3)}, 0.36787944117144233),
        (sp.Max(x, y) - sp.Abs(x - y), SQUARE, 1.0),
        (-x, {x: (2, 3)}, -2.0),
    ],
    ids=["smooth", "kinks", "negative"],
)
def test_the_supremum_is_bracketed(expression: sp.Expr, box: dict[sp.Symbol, tuple[int, int]], best: float) -> None:
    brackets(sup(expression, box), best)


@pytest.mark.parametrize(
    ("function", "box", "norms", "best"),
    [
        (sp.tanh(2 * x + y), SQUARE, "inf", 3.0),
        (sp.tanh(2 * x + y), SQUARE, bs.Norm.TWO, 5**0.5),
        (sp.Max(0, 2 * x + y) - sp.Abs(y - x), SQUARE, "1", 3.0),
        (sp.Max(x, 0) * sp.exp(-x), {x: (-1, 4)}, "2", 1.0),
        ([x + 2 * y, 3 * x], SQUARE, ("inf", "1"), 6.0),
        ([x + 2 * y, 3 * x], SQUARE, ("2", "inf"), 3.0),
        ([x + 2 * y, 3 * x], SQUARE, ("2", "1"), 20**0.5),  # |s J|: (1, 2) + (3, 0)
        ([x + 2 * y, 3 * x], SQUARE, ("inf", "2"), 18**0.5),  # J (1, 1) = (3, 3)
        ([x + 2 * y, 3 * x], SQUARE, "2", 3.256618111),  # the root of (14 + sqrt(52))/2, from J J^T = (5 3; 3 9)
    ],
)
def test_the_lipschitz_constant_is_bracketed(
    function: sp.Expr | list[sp.Expr], box: dict[sp.Symbol, tuple[int, int]], norms: object, best: float
) -> None:
    brackets(lip(function, box, norms, within=sp.Rational(1, 50)), best, ratio=0.98)


def test_a_constant_function_has_the_lipschitz_constant_0() -> None:
    found = lip(sp.Integer(3) + 0 * x, {x: (0, 1)})
    assert (found.proved, found.refuted) == (0, None)


def test_no_constant_is_proved_where_there_is_none() -> None:
    for expression in (1 / x, sp.log(x + 1)):  # a pole inside, and one at the end
        found = lip(expression, {x: (-1, 1)})
        assert found.proved is None
        assert found.refuted > 100
        assert found.undecided is not None
        assert found.undecided.words in str(found)


# dV/dt = -(a^2 + b^2) (ab - 2)^2 is -2 (a^2 + b^2) V, least at a = b = 1/2.
def test_the_decay_of_a_loss_is_bracketed_across_its_zeros() -> None:
    region = {a: ("1/2", 3), b: ("1/2", 3)}
    found = decay(bs.dynamics.gradient_flow(LOSS, (a, b)), LOSS, region)
    brackets(found, 1.0)
    said = found.refutation.inequality
    assert sp.expand(said.expression - (LOSS.diff(a) ** 2 + LOSS.diff(b) ** 2 - found.refuted * LOSS)) == 0
    assert found.proofs[0].inequality.meaning.endswith("times (a*b - 2)**2")


# At an equilibrium that is not 0: the least ratio of the two forms, minimised on a grid of 10^6 states apart from the
# product: 1.98020, at x = 0.
def test_the_decay_to_an_equilibrium_is_bracketed() -> None:
    found = decay(PULL, ((x - 1) ** 2 + (y - 2) ** 2) / 2, {x: (0, 2), y: (1, 3)})
    brackets(found, 1.9801980)
    brackets(decay(bs.dynamics.Flow((x,), (-(x**3),)), x**2 / 2, {x: (-1, 1)}, power=2), 4.0)


def test_a_function_of_part_of_the_state_decays() -> None:
    found = decay(bs.dynamics.Flow((x, y), (-x, y)), x**2, {x: (0, 1)})
    brackets(found, 2.0)
    growing = decay(bs.dynamics.Flow((x,), (x,)), x**2, {x: (0, 1)})
    assert growing.proved is None
    assert growing.refuted < 0


def test_both_values_are_certified_and_saved(tmp_path: Path) -> None:
    found = largest(JORDAN, c)
    found.save(tmp_path / "jordan.json", tmp_path / "jordan.tex")
    checked = check_certificate(str(tmp_path / "jordan.json"))
    assert checked.holds
    assert [each.verdict for each in checked.claims] == [Status.PROVED, Status.REFUTED]
    written = (tmp_path / "jordan.tex").read_text()
    assert re.search(r"holds with \$c = 0\.66\d+\$ \(certified on \d+ box", written)
    assert "it fails at $x = \\frac{3}{2}$." in written
    record = json.loads(json.dumps(found.record()))
    assert record["point"] == {"x": "3/2"}
    assert (
        sp.Rational(record["proved"]) < sp.sin(sp.Rational(3, 2)) / sp.Rational(3, 2) < sp.Rational(record["refuted"])
    )
    first, second, third, fourth = str(found).splitlines()
    assert re.fullmatch(r"largest c: 0\.66\d+ proved on \d+ box(es)?, 0\.66\d+ refuted", first)
    assert (second, third) == ("c: the constant in -c*x + sin(x) >= 0", "for x in [0, 3/2]")
    assert "fails at x = 1.5: the difference of the sides is at most -" in fourth
    assert "<br>" in found._repr_html_()
    assert repr(found).startswith("<BestConstant largest c: ")


def test_the_ends_of_the_range_are_told() -> None:
    throughout = largest(bs.statements.Inequality("all", 3 - c + x, {x: (0, 1), c: (0, 1)}), c)
    assert (throughout.proved, throughout.refuted) == (1, None)
    assert "no point refutes a value; the range of the constant may end before the best one" in str(throughout)
    never = largest(bs.statements.Inequality("none", x - c - 2, {x: (0, 1), c: (0, 1)}), c)
    assert never.proved is None
    assert never.refuted == pytest.approx(-2, abs=1e-5)  # below the range


@pytest.mark.parametrize("up", [True, False])
def test_rounding_goes_one_way_and_a_tenth_of_the_gap_at_most(up: bool) -> None:
    for k in range(1, 60):
        t, gap = Fraction(k - 30, 7), Fraction(1, k * k)
        got = rounded(t, gap, up=up)
        assert t <= got <= t + gap / 10 if up else t - gap / 10 <= got <= t


@pytest.mark.parametrize(
    "text", ["12345678.000000000012345", "-0.125", "0.000001", "-3", "0", "1/3", "1000000.5", "-20.05"]
)
def test_a_constant_is_written_with_all_of_its_digits(text: str) -> None:
    assert decimal(sp.Rational(text)) == text


NO_TIME = 0
ONE = bs.statements.Inequality("one", x - c, {x: (1, 1), c: (0, 1)})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: largest(JORDAN, y), "the letter y has no range in the inequality 'Jordan', which has ranges of x, c"),
        (lambda: largest(x - c, c), "largest_constant: got -c + x; give a bs.statements.Inequality"),
        (lambda: largest(ONE, c), "the region is the point x = 1; give a range LOW < HIGH to one letter at least"),
        (lambda: largest(ONE, x), "the range of x is the point 1; give an interval to search in"),
        (lambda: largest(JORDAN, c, within=2), "within = 2; give a share between 0 and 1"),
        (lambda: largest(JORDAN, c, seconds=NO_TIME), "largest_constant: seconds = 0; give a number > 0"),
        (lambda: sup(x, {x: (1, 0)}), "supremum: the range of x, [1, 0], is empty; give LOW <= HIGH"),
        (lambda: sup(x, {x: (1, 1)}), "supremum: the region is the point x = 1"),
        (lambda: sup(sp.Integer(1), {}), "supremum: the region is empty: there are no coordinates"),
        (lambda: sup(x * y, {x: (0, 1)}), "supremum: no range is given for y; add it to the box"),
        (lambda: sup(sp.I * x, {x: (0, 1)}), "supremum: I*x has complex or infinite values, which have no order"),
        (lambda: sup("x", {x: (0, 1)}), "supremum: got 'x'; give a SymPy expression"),
        (lambda: sup(x, [0, 1]), "supremum: the box is [0, 1]; give ranges by letter, such as {x: (0, 1)}"),
        (lambda: sup(x, {x: 1}), "supremum: the range of x is 1; give two rational numbers (LOW, HIGH)"),
        (lambda: sup(x, {x: (0, sp.sqrt(2))}), "supremum: an end of the range of x = sqrt(2); give a rational number"),
        (lambda: lip(x, {x: (0, 1)}, "3"), "lipschitz: norms = '3'; give one of 1, 2, inf, or a pair for x and f"),
        (
            lambda: lip(sum(sp.Abs(x - k) for k in range(8)), {x: (0, 9)}),
            "cut it into more than 64 pieces; bound a part of it by itself",
        ),
        (
            lambda: lip(list(sp.symbols("u:3")), dict.fromkeys(sp.symbols("u:3"), (0, 1)), "2"),
            "the norm 2 of both sides takes at most two expressions or two letters; take 1 or inf for one",
        ),
        (
            lambda: lip(sp.Add(*sp.symbols("u:9")), dict.fromkeys(sp.symbols("u:9"), (0, 1)), "inf"),
            "lipschitz: a unit ball has 2^9 corners, more than fit; take another norm",
        ),
        (lambda: decay(x, x, {x: (0, 1)}), "decay: got x; give a flow, such as bs.dynamics.gradient_flow"),
        (lambda: decay(PULL, sp.S.Zero, {x: (0, 1), y: (0, 1)}), "decay: V is 0 everywhere; give a function"),
        (lambda: decay(PULL, x**2, {x: (0, 1)}), "decay: no range is given for y; add it to the box"),
    ],
)
def test_what_is_wrong_is_refused(call: object, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        call()


def test_a_certificate_of_nothing_is_refused(tmp_path: Path) -> None:
    found = replace(sup(x, {x: (0, 1)}), proofs=(), refutation=None)
    with pytest.raises(UsageError, match="nothing was proved or refuted, so that there is no certificate"):
        found.save(tmp_path / "c.json")
    with pytest.raises(UsageError, match="txt"):
        found.save(tmp_path / "c.txt")
