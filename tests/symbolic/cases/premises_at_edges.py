"""Edges up to which a premise holds."""

import sympy as sp

from symbolic.calculus import (
    Event,
    Norm,
    accumulate,
    apply_function,
    bounded_iterates,
    contract,
    converge,
    correct,
    gradient_descent,
    hard_max,
    proximal_gradient,
    rms_normalise,
    softmax_to_hard_max,
    taylor,
)
from tests.symbolic.cases.premises import HALF, SIGN, Premise, Q, e, vector

R, A, B = sp.symbols("R a b", positive=True)
J = sp.Symbol("j", integer=True, positive=True)
EVENT = Event("E", "draws", HALF)
UPDATE = {"step": HALF, "smoothness": 1, "steps": 2}


HALFWAY = vector(error=HALF)
OPEN = vector(error=e)
EDGES = [
    Premise(
        "hard_max, margin at its edge",
        lambda m: hard_max(HALFWAY, "q", margin=m),
        (1.0001,),
        (1, sp.Rational(9999, 10000)),
        "survives",
    ),
    Premise("hard_max, margin in letters", lambda m: hard_max(OPEN, "q", margin=m), owed={A: (sp.Gt(A, 2 * e),)}),
    Premise(
        "softmax_to_hard_max, margin",
        lambda m: softmax_to_hard_max(HALFWAY, "q", margin=m, inverse_temperature=1),
        (1.0001,),
        (1, sp.Rational(9999, 10000)),
        "survives",
    ),
    Premise(
        "softmax_to_hard_max, margin in letters",
        lambda m: softmax_to_hard_max(OPEN, "q", margin=m, inverse_temperature=1),
        owed={A: (sp.Gt(A, 2 * e),)},
    ),
    Premise(
        "correct, sigma at the edge",
        lambda s: correct(HALFWAY, "C", sigma=s),
        (HALF,),
        (sp.Rational(4999, 10000),),
        "at most",
        {},
    ),
    Premise("correct, sigma in letters", lambda s: correct(OPEN, "C", sigma=s), owed={A: (sp.Le(e, A),)}),
    *(
        Premise(
            f"{name}, range",
            lambda r, rule=rule, more=more: rule(HALFWAY, "f", size=1, radius=r, **more),
            (sp.Rational(3, 2),),
            (sp.Rational(14999, 10000),),
            "the argument of 'f' stays in",
            {R: (sp.Le(sp.Rational(3, 2), R),)},
        )
        for name, rule, more in (
            ("apply_function", apply_function, {"eps": 0, "lipschitz": 1}),
            ("taylor", taylor, {"suprema": {1: 1}}),
        )
    ),
    Premise(
        "rms_normalise, both arguments long enough",
        lambda v: rms_normalise(vector(norm=Norm.TWO, error=HALF), "g", least=1, exact_least=v),
        (sp.Rational(3, 2), 2),
        (sp.Rational(14999, 10000), 1, None),
        "hypothesis violated: neither argument of 'g' is shorter than its least length|give exact_least",
        {A: (sp.Le(sp.Rational(3, 2), A),)},
    ),
    Premise(
        "rms_normalise, both arguments long enough, in letters",
        lambda v: rms_normalise(vector(norm=Norm.TWO, error=e), "g", shift=1, least=v, exact_least=A),
        (0,),
        owed={B: (sp.Le(B + e, A),)},
    ),
    Premise(
        "contract, factor below 1",
        lambda q: contract(HALFWAY, "y", factor=q, offset=0, size=1),
        (sp.Rational(9999, 10000),),
        (1, 2),
        "below 1",
        {Q: (sp.Lt(Q, 1),)},
    ),
    Premise(
        "converge, basin",
        lambda a: converge(HALFWAY, "y", quadratic=a, offset=0, size=1),
        (sp.Rational(19999, 10000),),
        (2, 3),
        "inside the basin",
    ),
    Premise(
        "converge, squares",
        lambda a: converge(HALFWAY, "y", quadratic=a, offset=0, size=1, depth=2),
        (sp.Rational(19999, 10000),),
        (2, 3),
        "squaring reduces",
    ),
    Premise(
        "converge, floor",
        lambda b: converge(vector(), "y", quadratic=1, offset=b, size=1),
        (sp.Rational(2499, 10000),),
        (sp.Rational(1, 4), 1),
        "has a floor",
    ),
    Premise(
        "converge, halfway",
        lambda v: converge(vector(error=v), "y", quadratic=1, offset=sp.Rational(1, 8), size=1, depth=2),
        (sp.Rational(4999, 10000),),
        (HALF, 1),
        "squaring reduces",
    ),
    Premise(
        "converge, basin with offset",
        lambda v: converge(vector(error=v), "y", quadratic=1, offset=sp.Rational(3, 16), size=1),
        (sp.Rational(7499, 10000),),
        (sp.Rational(3, 4), 1),
        "inside the basin",
    ),
    Premise(
        "converge, in letters",
        lambda a: converge(OPEN, "y", quadratic=a, offset=B, size=1, depth=3),
        owed={A: (sp.Lt(4 * A * B, 1), sp.Lt(2 * A * e, 1))},
    ),
    Premise(
        "accumulate, factor",
        lambda f: accumulate(vector(), "y", factor=f, offset=0, depth=2, size=1),
        (0, sp.Rational(1, 2), 1, 2),
        (sp.Rational(-1, 10000),),
        "bounds a norm",
        {SIGN: ("is not negative",)},
    ),
    Premise(
        "accumulate, factor beside a quadratic term",
        lambda f: accumulate(vector(), "y", factor=f, offset=0, depth=2, size=1, quadratic=1),
        (1, 2),
        (sp.Rational(9999, 10000),),
        "at least 1",
        {SIGN: ("at least 1",)},
    ),
    Premise(
        "accumulate, ceiling",
        lambda c: accumulate(HALFWAY, "y", factor=1, offset=0, quadratic=1, ceiling=c, depth=1, size=1),
        (1,),
        (sp.Rational(9, 10),),
        "stays below its ceiling",
    ),
    Premise(
        "accumulate, twice",
        lambda a: accumulate(HALFWAY, "y", factor=1, offset=0, quadratic=a, depth=1, size=1),
        (1,),
        (sp.Rational(10001, 10000),),
        "stays below its ceiling",
    ),
    *(
        Premise(
            f"gradient_descent, steps with accuracy {accuracy}",
            lambda h, accuracy=accuracy: gradient_descent(
                vector(dim=1), "g", step=h, smoothness=1, accuracy=accuracy, steps=2
            ),
            holds,
            refused,
            "are short",
        )
        for accuracy, holds, refused in (
            (0, (sp.Rational(19999, 10000),), (2, 3)),
            (1, (1,), (sp.Rational(10001, 10000),)),
        )
    ),
    Premise(
        "bounded_iterates, step",
        lambda h: bounded_iterates(
            vector(norm=Norm.TWO), "w", start=1, penalty=1, lipschitz=1, radius=Q, step=h, smoothness=1, steps=2
        ),
        (2,),
        (sp.Rational(20001, 10000), 3),
        "short",
    ),
    Premise(
        "proximal_gradient, step",
        lambda h: proximal_gradient(
            vector("w", Norm.TWO),
            "gap",
            update=vector("p", Norm.ONE),
            iterates=vector("k", Norm.ONE),
            radius=Q,
            lipschitz=1,
            step=h,
            smoothness=1,
            steps=2,
        ),
        (1,),
        (sp.Rational(10001, 10000), 2),
        "short",
    ),
]
PREMISES = EDGES
