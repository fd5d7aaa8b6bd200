"""What iterations and descents presuppose."""

from typing import Any

import sympy as sp

from symbolic.calculus import (
    Approximated,
    DerivationError,
    Norm,
    QuadraticRecursion,
    accumulate,
    bounded_iterates,
    contract,
    contraction_steps,
    descend,
    descent_lemma,
    largest_safe,
    proximal_gradient,
)
from tests.symbolic.cases.premises import (
    HALF,
    ONE,
    SIGN,
    ZERO,
    N,
    Premise,
    Q,
    bounds_a_norm,
    is_whole,
    number,
    vector,
)

R, A, S, Z, W = sp.symbols("R a S z w", positive=True)
REAL = sp.Symbol("u", real=True)
BETA = sp.Function("beta", nonnegative=True)
GAMMA = sp.Function("gamma", nonnegative=True)
EDGE = sp.Rational(1001, 1000)


def quadratic(start: Any = ZERO, a: Any = 1, b: Any = ZERO) -> QuadraticRecursion:
    return QuadraticRecursion(sp.sympify(start), sp.sympify(a), sp.sympify(b))


def counted(rule: Any) -> Any:
    """A number that is not undefined."""
    if sp.sympify(rule).has(sp.nan):
        raise DerivationError("undefined")
    return vector()


STEPS: dict[str, Any] = {"start": 2, "factor": HALF, "offset": sp.Rational(1, 10), "accuracy": HALF}
ITERATIONS = [
    *(
        Premise(
            f"contraction_steps, {name}",
            lambda v, name=name: contraction_steps(**{**STEPS, name: v}),
            (STEPS[name],),
            (-1, sp.nan, sp.I),
            "contraction_steps: ",
        )
        for name in ("start", "factor", "offset")
    ),
    Premise(
        "contraction_steps, factor below 1",
        lambda q: contraction_steps(**{**STEPS, "factor": q}),
        (0, HALF),
        (1, 2),
        "give a factor below 1",
    ),
    Premise(
        "contraction_steps, accuracy",
        lambda v: contraction_steps(**{**STEPS, "accuracy": v}),
        (HALF,),
        (sp.nan, sp.I, sp.oo, sp.Rational(1, 5), ZERO),
        "accuracy",
    ),
    Premise(
        "contraction_steps, in letters",
        lambda at: counted(contraction_steps(2, Q, S, HALF).subs(at)),
        ({Q: HALF, S: 0}, {Q: 0, S: HALF / 2}),
        ({Q: 1, S: 1}, {Q: 2, S: 0}, {Q: HALF, S: HALF}, {Q: 0, S: 1}),
        "undefined",
    ),
    Premise(
        "QuadraticRecursion, coefficient",
        lambda a: quadratic(0, a),
        (1, HALF),
        (0, -1, SIGN, Q),
        "cannot show that the coefficient",
    ),
    Premise("QuadraticRecursion, start", lambda v: quadratic(v), (0, 1), (-1,), "the start of"),
    Premise("QuadraticRecursion, offset", lambda v: quadratic(0, 1, v), (0, 1), (-1,), "the offset of"),
    Premise("after, steps", lambda k: counted(quadratic(HALF).after(k)), (0, 3), (-1, HALF), "give a whole number"),
    Premise("after, many steps", lambda k: counted(quadratic(HALF).after(k)), (12, N), (13,), "too many to expand"),
    Premise("after, start", lambda v: counted(quadratic(v).after(2)), (1 / EDGE,), (1, 2), "is not below 1"),
    Premise(
        "after, start with an offset",
        lambda v: counted(quadratic(v, 1, sp.Rational(1, 9)).after(2)),
        (HALF / EDGE,),
        (HALF,),
        "is not below 1/2",
    ),
    Premise(
        "after, floor",
        lambda b: counted(quadratic(0, 1, b).after(2)),
        (sp.Rational(1, 4),),
        (sp.Rational(1, 4) * EDGE,),
        "so there is no floor",
    ),
    Premise(
        "steps_to, accuracy",
        lambda v: counted(quadratic(HALF).steps_to(v)),
        (HALF, sp.Rational(1, 9)),
        (0, -1),
        "give one above 0|below twice the offset",
    ),
    Premise(
        "steps_to, floor",
        lambda v: counted(quadratic(sp.Rational(1, 8), 1, sp.Rational(1, 100)).steps_to(v)),
        (sp.Rational(1, 50),),
        (sp.Rational(1, 50) / EDGE,),
        "below twice the offset",
    ),
    Premise(
        "steps_to, start",
        lambda v: counted(quadratic(v, 2).steps_to(sp.Rational(1, 9))),
        (HALF / EDGE,),
        (HALF, 3),
        "is not below 1/2",
    ),
    Premise(
        "steps_to, in letters",
        lambda at: counted(quadratic(S, 1, Q).steps_to(A).subs(at)),
        ({S: 2, Q: 0, A: 3}, {S: HALF / 2, Q: 0, A: HALF / 4}),
        ({S: 1, Q: 0, A: HALF}, {S: HALF, Q: HALF, A: sp.Rational(1, 9)}),
        "undefined",
    ),
    Premise(
        "largest_safe, grows",
        lambda bound: counted(largest_safe(bound, R, 3).value),
        (2 * R + 1, R**2),
        (-R, 1 / (1 + R), sp.sin(R)),
        "cannot show that",
    ),
    Premise(
        "largest_safe, margin",
        lambda m: counted(largest_safe(2 * R + 1, R, m).value),
        (1, 3),
        (HALF, 1 / EDGE),
        "no R is safe",
    ),
    Premise(
        "largest_safe, solution",
        lambda bound: counted(largest_safe(bound, R, 3).value),
        (R,),
        (R + sp.exp(R) * R,),
        "has no closed solution|no limit of",
    ),
    Premise(
        "descent_lemma, step",
        lambda h: descent_lemma("g", step=h, smoothness=1),
        (1, 2 / EDGE),
        (0, -1, 2, 3),
        "give it > 0|are short",
        {R: (sp.Lt(R, 2),)},
    ),
    Premise(
        "descent_lemma, inexact step",
        lambda h: descent_lemma("g", step=h, smoothness=1, accuracy=1),
        (1,),
        (EDGE,),
        "are short",
        {R: (sp.Le(R, 1),)},
    ),
    Premise(
        "descent_lemma, smoothness",
        lambda v: descent_lemma("g", step=sp.Rational(1, 9), smoothness=v),
        (0, 1),
        (-1,),
        "the smoothness of",
        {SIGN: ("the smoothness of",)},
    ),
    Premise(
        "descent_lemma, accuracy",
        lambda v: descent_lemma("g", step=sp.Rational(1, 9), smoothness=1, accuracy=v),
        (0, 1),
        (-1,),
        "the accuracy of",
        {SIGN: ("the accuracy of",)},
    ),
    bounds_a_norm(
        "descend, offset", lambda v: descend(vector(dim=1), "g", decrease=1, offset=v, steps=2), "the offset of 'g'"
    ),
    Premise(
        "contract, in the limit",
        lambda b: contract(number(), "y", factor=Q, offset=b, size=1),
        owed={0: (sp.Lt(Q, 1),)},
    ),
    Premise(
        "accumulate, ceiling without one given",
        lambda a: accumulate(number(), "y", factor=1, offset=0, quadratic=a, depth=1, size=1),
        (1,),
        (EDGE,),
        "stays below its ceiling",
        {R: ("stays below",)},
    ),
]


def iterated(**more: Any) -> Approximated:
    numbers = {"start": 1, "penalty": 1, "lipschitz": 1, "step": HALF, "smoothness": 1, "steps": 2}
    return bounded_iterates(vector(norm=Norm.TWO, error=HALF), "w", radius=Q, **{**numbers, **more})


def proximal(iterates: Approximated | None = None, **more: Any) -> Approximated:
    numbers = {"lipschitz": 1, "step": HALF, "smoothness": 1, "steps": 2}
    update, w = vector("p", Norm.TWO, error=HALF), vector("w0", Norm.TWO, error=HALF)
    kept = vector("k", Norm.TWO, error=HALF) if iterates is None else iterates
    return proximal_gradient(w, "gap", update=update, iterates=kept, radius=Q, **{**numbers, **more})


def of_these(**more: Any) -> Approximated:
    numbers = {"step": HALF, "smoothness": ONE, "steps": sp.Integer(2)}
    update = vector("p", Norm.TWO, error=HALF)
    return bounded_iterates(update, "kept", start=1, penalty=1, lipschitz=1, radius=Q, **{**numbers, **more})


DESCENTS = [
    Premise(
        "bounded_iterates, start",
        lambda v: iterated(start=v),
        (0, 1),
        (-1,),
        "bounds a norm",
        {SIGN: ("the start of",)},
    ),
    Premise(
        "bounded_iterates, penalty",
        lambda v: iterated(penalty=v),
        (1,),
        (-1,),
        "give it > 0",
        {Q: ("the penalty of 'w' is positive",)},
    ),
    Premise(
        "bounded_iterates, lipschitz",
        lambda v: iterated(lipschitz=v),
        (0, 1, Q + 1),
        (-1,),
        "the lipschitz of|bounds a norm",
        {SIGN: ("the lipschitz of 'w'",)},
    ),
    Premise(
        "bounded_iterates, growth",
        lambda v: iterated(lipschitz=v * Q + 1),
        (0, 1),
        (-HALF,),
        "the growth of|bounds a norm|decreases",
        {SIGN: ("the growth of 'w'", "the factor of")},
    ),
    Premise(
        "bounded_iterates, affine", lambda power: iterated(lipschitz=Q**power + 1), (1,), (2,), "is not affine in q"
    ),
    is_whole("bounded_iterates, steps", lambda v: iterated(steps=v), "the steps of 'w'", 1),
    Premise("bounded_iterates, short", lambda h: iterated(step=h), (2,), (2 * EDGE,), "are short", {R: (sp.Le(R, 2),)}),
    Premise(
        "bounded_iterates, step is positive",
        lambda h: iterated(step=h, smoothness=0),
        (1,),
        (0, -1),
        "give it > 0",
        {Q: ("the step of 'w' is positive",)},
    ),
    Premise(
        "bounded_iterates, smoothness",
        lambda v: iterated(smoothness=v),
        (0, 1),
        (-1,),
        "the smoothness of",
        {SIGN: ("the smoothness of",)},
    ),
    Premise("proximal_gradient, short", lambda h: proximal(step=h), (1,), (EDGE,), "are short", {R: (sp.Le(R, 1),)}),
    Premise(
        "proximal_gradient, step is positive",
        lambda h: proximal(step=h, smoothness=0),
        (1,),
        (0, -1),
        "give it > 0",
        {Q: ("the step of 'gap' is positive",)},
    ),
    Premise(
        "proximal_gradient, smoothness",
        lambda v: proximal(smoothness=v),
        (0, 1),
        (-1,),
        "the smoothness of",
        {SIGN: ("the smoothness of",)},
    ),
    bounds_a_norm("proximal_gradient, lipschitz", lambda v: proximal(lipschitz=v), "the lipschitz of 'gap'"),
    is_whole("proximal_gradient, steps", lambda v: proximal(steps=v), "the steps of 'gap'", 1),
    Premise(
        "proximal_gradient, iterates of these steps",
        lambda more: proximal(of_these(**more)),
        ({},),
        ({"step": HALF / 2}, {"smoothness": HALF}, {"steps": sp.Integer(3)}),
        "bounds the iterates of other steps",
    ),
    Premise(
        "proximal_gradient, update of these steps",
        lambda name: proximal(
            bounded_iterates(
                vector(name, Norm.TWO, error=HALF),
                "kept",
                start=1,
                penalty=1,
                lipschitz=1,
                radius=Q,
                step=HALF,
                smoothness=ONE,
                steps=2,
            )
        ),
        ("p",),
        ("other",),
        "bounds the iterates of other steps",
    ),
]
PREMISES = [*ITERATIONS, *DESCENTS]
