"""Lemma D.6: its counterexamples, its true versions on random rationals, and the steps before (29)."""

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import sympy as sp
from torch import Tensor

from bridge.balls import evaluate_ball
from bridge.certify import Status, prove
from bridge.certify.proving import Outcome
from bridge.check import Check, Sides, within
from bridge.export.numbers import plain
from bridge.induction.claims import apart, boxes, refuting_point, sides_of_claim
from bridge.lowering import lower
from bridge.theorem import Theorem
from symbolic.induction import karamata as theory
from symbolic.induction.signs import R_TURN
from symbolic.induction.training import v, v_star

TRIPLES = 100
GRID = 200
ROUNDING = 1e-12  # relative, of the least value on the grid
MOST_BOXES = 2000  # for one proof; the longest takes 384
BOTH = ("printed", "derived")


@cache
def certified() -> dict[str, Outcome]:
    """The inequalities about C."""
    return {each.name: prove(each, seconds=math.inf, most_boxes=MOST_BOXES) for each in theory.stated_inequalities({})}


def holds(name: str) -> bool:
    return certified()[name].status is Status.PROVED


def in_words(name: str) -> str:
    return f"{name} {certified()[name].status.value} on {boxes(certified()[name].boxes)}"


# The lemma and its true versions.


def weighted(x: Tensor, y: Tensor, w: Tensor) -> Sides:
    return sides_of_claim(theory.CLAIMS["weighted"], x=x, y=y, w=w)


def weighted_square(x: Tensor, y: Tensor, w: Tensor) -> Sides:
    return sides_of_claim(theory.CLAIMS["weighted.square"], x=x, y=y, w=w)


def true_version(*, equal: bool) -> Callable[[int], Sides]:
    """Karamata for equal weights, Fuchs for any: proved, and measured on random triples."""

    def sides(seed: int) -> Sides:
        count, excess = theory.random_excess(TRIPLES, seed, equal=equal)
        proved = theory.abel_holds()
        remark = (
            "for vectors of any length, by Abel's summation, whose induction SymPy "
            f"{'checks' if proved else 'does not confirm'} (slopes fall and partial sums are >= 0: argued in "
            f"writing); measured: largest left minus right of {count} exact random triples"
        )
        return Sides(excess, derived=0, proved=("derived",) if proved else (), remark=remark)

    return sides


# The function C.


def derivative(order: int) -> Callable[[Tensor], Sides]:
    """C' or C'' at x; the printed formula is right for every x if SymPy finds no difference."""

    def sides(x: Tensor) -> Sides:
        letters = {theory.x: x.item()}
        right = theory.derivative_differences()[order - 1] == 0
        words = f"the printed derivative is {'right' if right else 'not that of C'}; {in_words('convex')}, C'(0) = 1"
        return Sides(
            evaluate_ball(sp.diff(theory.C, theory.x, order), {theory.x: sp.Rational(x.item())}),
            letters=letters,
            proved=BOTH if right and holds("convex") else (),
            remark=f"at x = {plain(x.item())}; {words}",
        )

    return sides


def by_stretch(more: str = "") -> Callable[[], Sides]:
    """A difference that is >= 0 as C(x)/x increases."""

    def sides() -> Sides:
        directly = f"; directly: {in_words(more)}" if more else ""
        proved = ("derived",) if holds("stretch") else ()
        return Sides(derived=0, proved=proved, remark=f"{in_words('stretch')}{directly}")

    return sides


# The steps before (29).


def gain(w_star: float) -> Sides:
    """The left side at its least on a grid of v, for gamma = R(w*)."""
    return gain_for(w_star, float(R_TURN.subs(theory.w_star, w_star)))


def gain_for(w_star: float, bound: float) -> Sides:
    letters = {theory.beta: float(theory.CHOSEN_BETA), theory.gamma: bound, v_star: w_star**2}
    end = float(theory.LARGEST_V.subs(letters))
    left = lower(theory.GAIN_LEFT, args=(v, v_star, theory.gamma))
    least = float(np.min(left(np.linspace(0, end, GRID + 1)[1:], w_star**2, bound)))
    return Sides(
        within(least, ROUNDING * least),
        letters=letters,
        proved=("derived",) if holds("stretch") else (),
        remark=f"judged with gamma = R(w*) = {plain(bound)}, beta = 2, on a grid of {GRID} points v",
    )


def exponent(w_star: float) -> Sides:
    target = sp.Rational(w_star)
    bound = theory.H_BOUND.subs(theory.w_star, target)
    letters = {theory.gamma: bound, theory.beta: theory.CHOSEN_BETA}
    plateau = float(theory.PLATEAU.subs(v_star, target**2))
    words = apart(plateau, float(bound))
    above = f"h exceeds gamma h*: its plateau is {words[0]} h*, gamma {words[1]}" if plateau > bound else ""
    enough = "enough" if theory.EXPONENT.subs(letters) >= 1 else "not enough"
    return Sides(
        letters=letters,
        proved=() if above else ("derived",),
        outside=above,
        remark=f"derived: by the derived bound of gain; (29) needs 1: {enough} for v <= "
        f"{plain(float((theory.LARGEST_V / v_star).subs(letters)))} v* (w*/2 is v*/4); half of it for the flow (12)",
    )


def _check(name: str, sides: Callable[..., Sides], **inputs: list[float]) -> Check:
    return Check(theory.KARAMATA.quantity(name), sides, inputs)


KARAMATA = Theorem(
    theory.KARAMATA,
    main="weighted",
    checks=(
        _check("weighted", weighted, **refuting_point(theory.CLAIMS["weighted"])),
        _check("weighted.square", weighted_square, **refuting_point(theory.CLAIMS["weighted.square"])),
        _check("equal", true_version(equal=True)),
        _check("fuchs", true_version(equal=False)),
        _check("C.first", derivative(1), x=[0.5]),
        _check("C.second", derivative(2), x=[0.5]),
        _check("stretch", by_stretch()),
        _check("superadditive", by_stretch("superadditive")),
        _check("gain", gain),
        _check("exponent", exponent),
    ),
)
