"""What invariants of a recursion presuppose, and what `confine` discharges."""

from typing import Any

import sympy as sp

from symbolic.calculus import (
    Approximated,
    Invariant,
    MonotoneRecursion,
    apply_function,
    confine,
    finite_depth,
    invariant_interval,
    largest_range,
    values_on,
)
from symbolic.derivations.obligations import Obligation
from tests.symbolic.cases.premises import (
    HALF,
    ONE,
    SIGN,
    N,
    Premise,
    bounds_a_norm,
    e,
    is_whole,
    number,
)

R, A, S, Z, W = sp.symbols("R a S z w", positive=True)
REAL = sp.Symbol("u", real=True)
BETA = sp.Function("beta", nonnegative=True)
GAMMA = sp.Function("gamma", nonnegative=True)
EDGE = sp.Rational(1001, 1000)


def recursion(start: Any = 1, step: Any = Z / 2 + 1, radius: sp.Symbol = Z) -> MonotoneRecursion:
    return MonotoneRecursion(sp.sympify(start), sp.sympify(step), radius)


def ranged(radius: Any, name: str = "f", x: Approximated | None = None) -> Approximated:
    return apply_function(x or number(error=e), name, eps=0, lipschitz=1, size=1, radius=radius)


def recursion_owed(found: MonotoneRecursion) -> MonotoneRecursion:
    """The obligations up to a radius are those at each."""
    assert len(found.obligations_up_to(sp.Integer(9))) == len(found.obligations)
    return found


def discharged(confined: Approximated) -> Approximated:
    """A range that was open is still said, with what discharges it."""
    (found,) = (o for o in confined.derivation.obligations if o.discharged_by)
    assert "stays in" in found.statement
    return confined


KEPT = finite_depth(recursion(1, Z), 2)
INVARIANTS = [
    Premise("MonotoneRecursion, start at once", lambda v: (recursion(v), number())[1], (0, 1), (-1,), "bounds a norm"),
    Premise(
        "confine, what is discharged", lambda kept: discharged(confine(ranged(9, x=number(error=S)), kept)), (KEPT,)
    ),
    bounds_a_norm("MonotoneRecursion, start", lambda v: recursion_owed(recursion(v)), "the start of 'z'"),
    Premise(
        "MonotoneRecursion, radius",
        lambda letter: recursion(1, letter / 2, letter),
        (Z, REAL),
        (N,),
        "declare it real, and not an integer",
    ),
    Premise(
        "MonotoneRecursion, continuous",
        lambda step: recursion(1, step),
        (Z / 2,),
        (sp.floor(Z), 1 / (Z - 3), sp.Piecewise((1, Z < 2), (Z, True))),
        "may be discontinuous",
    ),
    Premise(
        "MonotoneRecursion, grows",
        lambda step: recursion_owed(recursion(1, step)),
        (Z / 2, Z**2, sp.exp(Z)),
        (5 - Z, 3 - Z / 2),
        "decreases in z",
        {sp.sin(Z): ("does not decrease in z",)},
    ),
    Premise(
        "invariant_interval, first",
        lambda start: invariant_interval(recursion(start, Z / 2), 2),
        (2,),
        (2 * EDGE,),
        "the first argument fits",
        {S: ("the first argument fits",)},
    ),
    Premise(
        "invariant_interval, step",
        lambda radius: invariant_interval(recursion(), radius),
        (2, 3),
        (2 / EDGE,),
        "is mapped into itself",
        {S: ("is mapped into itself", "the first argument fits")},
    ),
    Premise(
        "invariant_interval, monotone",
        lambda step: invariant_interval(recursion(1, step), 9),
        (Z / 2,),
        owed={sp.sin(Z) + Z / 2: ("does not decrease in z",)},
    ),
    is_whole("finite_depth, depth", lambda d: finite_depth(recursion(), d, growth={}), "the depth of 'z'", 0),
    Premise(
        "finite_depth, radius",
        lambda radius: finite_depth(recursion(1, 2 * Z), 3, radius),
        (8, 9),
        (8 / EDGE,),
        "the arguments of all layers fit",
        {S: ("the arguments of all layers fit",)},
    ),
    Premise(
        "finite_depth, monotone",
        lambda step: finite_depth(recursion(1, step), 2),
        (Z / 2,),
        owed={sp.sin(Z) + Z / 2: ("does not decrease in z",)},
    ),
    Premise("finite_depth, growth", lambda d: finite_depth(recursion(), d), (3,), (N,), "give `growth`"),
    Premise(
        "finite_depth, intercept",
        lambda c: finite_depth(recursion(1, BETA(Z)), N, growth={BETA: (c, 1)}),
        (1, 0),
        (-1,),
        "the intercept of",
        {SIGN: ("the intercept of",)},
    ),
    Premise(
        "finite_depth, slope",
        lambda s: finite_depth(recursion(1, BETA(Z)), N, growth={BETA: (1, s)}),
        (1, 0),
        (-1,),
        "the slope of",
        {SIGN: ("the slope of",)},
    ),
    Premise(
        "finite_depth, two growths",
        lambda c: finite_depth(recursion(1, BETA(Z) + GAMMA(Z)), N, growth={BETA: (c, 1), GAMMA: (1, 1)}),
        (1,),
        owed={SIGN: ("the intercept of 'beta'",)},
    ),
    Premise(
        "linear, step",
        lambda step: recursion(1, step).linear({BETA: (1, 1)}),
        (2 * BETA(Z), BETA(Z + BETA(Z))),
        (2 * Z - BETA(Z), REAL * BETA(Z), 2 * Z + GAMMA(3 - BETA(Z))),
        "does not decrease in beta",
    ),
    Premise(
        "linear, argument",
        lambda inner: recursion(1, Z + BETA(inner)).linear({BETA: (1, 1)}),
        (Z, Z + 1),
        (Z - 1, Z + REAL),
        "is not negative, so the growth bound",
    ),
    Premise(
        "linear, affine",
        lambda step: recursion(1, step).linear({}),
        (2 * Z + 1,),
        (Z**2, sp.Abs(Z - 1) + Z),
        "is not affine in z",
    ),
    Premise(
        "linear, offset",
        lambda c: recursion(1, Z + c).linear({}),
        (0, 1),
        (-1,),
        "the offset of",
        {SIGN: ("the offset of",)},
    ),
    Premise("linear, factor", lambda c: recursion(1, c * Z + 1).linear({}), (0, 1), (), "", {SIGN: ("the factor of",)}),
    is_whole("largest_range, depth", lambda d: largest_range(recursion(), d), "the depth of 'z'", 0),
    Premise(
        "largest_range, monotone",
        lambda step: largest_range(recursion(1, step), 3),
        (Z / 2,),
        owed={sp.sin(Z) + Z / 2: ("does not decrease in z",)},
    ),
    bounds_a_norm("values_on, eps", lambda v: values_on(KEPT, supremum=1, eps=v), "the eps of '1'"),
    bounds_a_norm("values_on, supremum", lambda v: values_on(KEPT, supremum=v, eps=1), "the supremum of '1'"),
    Premise(
        "values_on, arguments",
        lambda kept: values_on(kept, supremum=1, eps=1),
        (KEPT,),
        owed={finite_depth(recursion(1, sp.sin(Z) + Z / 2), 2): ("does not decrease",)},
    ),
    Premise(
        "Invariant",
        lambda holds: Invariant(ONE, (Obligation("it holds", holds),), "by hand"),
        (sp.true,),
        (sp.false,),
        "the induction does not close",
        {A > 3: ("it holds",)},
    ),
    Premise(
        "confine, range", lambda radius: confine(ranged(radius, x=number(error=0)), KEPT), owed={R: (sp.Le(1, R),)}
    ),
    Premise(
        "confine, too small a range",
        lambda radius: confine(
            apply_function(number(error=S), "f", eps=0, lipschitz=1, size=1, radius=2),
            finite_depth(recursion(2 * radius, Z), 2),
        ),
        (1, HALF),
        (EDGE,),
        "covers the invariant",
    ),
    Premise("confine, none", lambda x: confine(x, KEPT), refused=(number(),), words="has no open range obligation"),
    Premise(
        "confine, names",
        lambda names: confine(ranged(R), KEPT, *names),
        (),
        (("x",), ("f", "x")),
        "step 'x' has no open range",
        {("f",): (sp.Le(1, R),)},
    ),
    Premise(
        "confine, its own word",
        lambda kept: confine(ranged(R), kept),
        owed={finite_depth(recursion(1, sp.sin(Z) + Z / 2), 2): ("does not decrease",)},
    ),
    Premise(
        "confine, the other steps",
        lambda radius: confine(ranged(radius, "g", ranged(R)), KEPT, "f"),
        owed={A: ("the argument of 'g'", "covers the invariant")},
    ),
    Premise(
        "confine, other obligations",
        lambda eps: confine(apply_function(number(), "f", eps=eps, lipschitz=1, size=1, radius=R), KEPT),
        owed={SIGN: (sp.Ge(SIGN, 0), sp.Le(1, R))},
    ),
]
PREMISES = INVARIANTS
