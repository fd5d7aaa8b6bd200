"""Lemma D.6: its counterexamples, its true versions on random rationals, and the steps before (29)."""

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import sympy as sp
from torch import Tensor

from bridge.judging.exact_claims import exact_check
from bridge.lowering.ball_values import evaluate_ball
from bridge.lowering.formula import evaluate
from bridge.questions.certify import Status, prove
from bridge.questions.certify.proving import Outcome
from bridge.theorems.check import Check, Sides, within
from bridge.theorems.numbers import plain, plain_apart
from bridge.theorems.theorem import Theorem
from symbolic.topics.induction import karamata as theory
from symbolic.topics.induction.training import v, v_star
from symbolic.topics.induction.turning import R_TURN

TRIPLES = 100
GRID = 200
ROUNDING = 1e-12  # relative, of the least value on the grid
MOST_BOXES = 2000  # for one proof; the longest takes 384
DERIVED = ("derived",)


@cache
def certified() -> dict[str, Outcome]:
    """The inequalities about C."""
    return {each.name: prove(each, seconds=math.inf, most_boxes=MOST_BOXES) for each in theory.stated_inequalities()}


def holds(name: str) -> bool:
    return certified()[name].status is Status.PROVED


# The lemma's true versions.


def true_version(seed: int, *, equal: bool) -> Sides:
    """Karamata for equal weights, Fuchs for any: proved, and measured on random triples."""
    count, excess = theory.random_excess(TRIPLES, seed, equal=equal)
    proved = theory.abel_holds()
    remark = (
        f"for vectors of any length, by Abel's summation, whose induction SymPy {'checks' if proved else 'rejects'} "
        "(slopes fall and partial sums are `>= 0`: argued in writing); measured: largest left minus right of "
        f"{count} exact random triples"
    )
    return Sides(excess, derived=0, proved=DERIVED if proved else (), remark=remark)


# The function C.


def derivative(order: int, x: Tensor) -> Sides:
    """C' or C'' at x; the printed formula is right for every x if SymPy finds no difference."""
    at = x.item()
    right = theory.derivative_difference(order) == 0
    words = (
        f"the printed derivative is {'right' if right else 'not that of C'}; {certified()['convex'].words}, `C'(0) = 1`"
    )
    return Sides(
        evaluate_ball(sp.diff(theory.C, theory.x, order), {theory.x: at}),
        letters={theory.x: at},
        proved=("printed", *DERIVED) if right and holds("convex") else (),
        remark=f"at `x = {plain(at)}`; {words}",
    )


def by_stretch(directly: str = "") -> Sides:
    """A difference that is >= 0 as C(x)/x increases."""
    remark = f"; directly: {certified()[directly].words}" if directly else ""
    return Sides(derived=0, proved=of_stretch(), remark=f"{certified()['stretch'].words}{remark}")


def of_stretch() -> tuple[str, ...]:
    return DERIVED if holds("stretch") else ()


# The steps before (29).


def gain(w_star: float) -> Sides:
    """The left side at its least on a grid of v."""
    bound = float(R_TURN.subs(theory.w_star, w_star))
    letters = {theory.beta: float(theory.CHOSEN_BETA), theory.gamma: bound, v_star: w_star**2}
    end = float(theory.LARGEST_V.subs(letters))
    least = float(np.min(evaluate(theory.GAIN_LEFT, {**letters, v: np.linspace(0, end, GRID + 1)[1:]})))
    return Sides(
        within(least, ROUNDING * least),
        letters=letters,
        proved=of_stretch(),
        remark=f"judged with `gamma = R(w*) = {plain(bound)}`, `beta = 2`, on a grid of {GRID} points `v`",
    )


def exponent(w_star: float) -> Sides:
    """Printed with gamma by (26), where h exceeds it or not; derived with R(w*), which h does not exceed."""
    target = sp.Rational(w_star)
    bound = theory.H_BOUND.subs(theory.w_star, target)
    letters = {theory.gamma: R_TURN.subs(theory.w_star, target), theory.beta: theory.CHOSEN_BETA}
    plateau = float(theory.PLATEAU.subs(v_star, target**2))
    words = plain_apart(plateau, float(bound))
    above = f"`h` exceeds `gamma h*`: its plateau is {words[0]} `h*`, `gamma` {words[1]}" if plateau > bound else ""
    enough = "enough" if theory.EXPONENT.subs(letters) >= 1 else "not enough"
    return Sides(
        printed=evaluate_ball(theory.EXPONENT_PRINTED, {**letters, theory.gamma: bound}),
        letters={letter: evaluate_ball(number, {}) for letter, number in letters.items()},
        proved=of_stretch(),
        outside={"printed": above} if above else "",
        remark=f"derived: by the derived bound of gain; (29) needs 1: {enough} for `v <= "
        f"{plain(float((theory.LARGEST_V / v_star).subs(letters)))} v*` (`w*/2` is `v*/4`); half of it "
        "for the flow (12)",
    )


def _check(name: str, sides: Callable[..., Sides], **inputs: list[float]) -> Check:
    return Check(theory.KARAMATA.quantity(name), sides, inputs)


KARAMATA = Theorem(
    theory.KARAMATA,
    main="weighted",
    checks=(
        *(exact_check(theory.KARAMATA.quantity(name), claim) for name, claim in theory.CLAIMS.items()),
        _check("equal", lambda seed: true_version(seed, equal=True)),
        _check("fuchs", lambda seed: true_version(seed, equal=False)),
        _check("C.first", lambda x: derivative(1, x), x=[0.5]),
        _check("C.second", lambda x: derivative(2, x), x=[0.5]),
        _check("stretch", by_stretch),
        _check("superadditive", lambda: by_stretch("superadditive")),
        _check("gain", gain),
        _check("exponent", exponent),
    ),
    inequalities=theory.stated_inequalities,
)
