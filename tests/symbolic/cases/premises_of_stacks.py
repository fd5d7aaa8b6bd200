"""What recursions, stacks, case distinctions and repetitions presuppose."""

from collections.abc import Callable
from typing import Any

import sympy as sp

from symbolic.calculus import (
    Approximated,
    CoupledRecursion,
    DerivationError,
    Event,
    LinearRecursion,
    Norm,
    apply_function,
    bilinear,
    change_norm,
    correct,
    geometric_sum,
    given,
    linear_map,
    perturbed_map,
    sample_mean,
    softmax,
)
from symbolic.calculus.cases import either
from symbolic.calculus.families import stack
from symbolic.calculus.layers import recursion_from
from symbolic.calculus.repetition import repeat
from tests.symbolic.cases.premises import (
    HALF,
    ONE,
    SIGN,
    ZERO,
    N,
    Premise,
    e,
    is_whole,
    number,
    vector,
)

R, A, S, Z = sp.symbols("R a S z", positive=True)
ANY = sp.Symbol("any", nonnegative=True)
J = sp.Symbol("j", integer=True, positive=True)
BETA = sp.Function("beta", nonnegative=True)
QUARTER = sp.Rational(1, 4)
INDEX = sp.Symbol("l", integer=True, nonnegative=True)


# --- layers ----------------------------------------------------------------------------------------------------------


def before(size: Any = 1, **more: Any) -> Approximated:
    return given("before", **{"dim": 1, "size": size, "error": e, **more})


BEFORE = before()


def layer(make: Callable[[Any], Approximated], premise: Approximated = BEFORE, **more: Any) -> Callable[[Any], Any]:
    return lambda value: recursion_from(premise, make(value), **more)


def mapped(premise: Approximated = BEFORE, *, dim: Any = 1, norm: Any = HALF, **more: Any) -> Approximated:
    return linear_map(premise, "y", operator_norm=norm, dim=dim, **more)


def ranged(radius: Any, premise: Approximated = BEFORE, lipschitz: Any = 1, eps: Any = 0) -> Approximated:
    return apply_function(premise, "f", eps=eps, lipschitz=lipschitz, size=1, radius=radius)


WEIGHTS = given("q", dim=2, norm=Norm.ONE, size=1, error=e, probabilities=True)
AFFINE = given("q", dim=2, norm=Norm.ONE, size=2, error=e, affine=True)
CENTRED = before(radius=HALF)
LINEAR = recursion_from(BEFORE, mapped())
OWING = recursion_from(BEFORE, apply_function(BEFORE, "f", eps=QUARTER, lipschitz=1, size=1, radius=2))
FREE_SIZE = recursion_from(before(ANY), ranged(R, before(ANY), HALF))
USED_SIZE = recursion_from(before(ANY), bilinear(before(ANY), number("w", error=HALF, size=0), "y"))


def coupled(v: list[Any]) -> CoupledRecursion:
    return CoupledRecursion((v[4], v[5]), ((v[0], v[1]), (v[2], v[3])), (v[6], v[7]))


Half3 = sp.Rational(3, 2)
WEIGHTS_OF = given("before", dim=2, size=1, error=e)
TWO = before(norm=Norm.TWO)
SHARED = correct(vector(error=A), "c", sigma=R)


def pooled_layer(**more: Any) -> tuple[Approximated, Approximated]:
    bounds = {"operator_norm": 1, "perturbed_norm": 1, "perturbation": 1, "dim": 1, "pooled": True}
    return TWO, perturbed_map(TWO, "ax", **{**bounds, **more})


POOLED = recursion_from(*pooled_layer(), pooled=True)


def conditions(value: Approximated, at: dict[Any, Any]) -> Approximated:
    """The value, where all that it owes holds at these numbers. Raises DerivationError where something does not."""
    owed = [o for o in value.derivation.obligations if o.open]
    broken = [o.statement for o in owed if sp.sympify(o.condition).subs(at) != sp.true]
    if broken:
        raise DerivationError(f"not met: {', '.join(broken)}")
    return vector()


STACKS = [
    Premise(
        "LinearRecursion, index",
        lambda letter: LinearRecursion(ONE, ONE, ONE, letter),
        (INDEX,),
        (sp.Symbol("l"), sp.Symbol("l", integer=True)),
        "declare the number of a layer",
    ),
    *(
        Premise(
            f"LinearRecursion, {place}",
            lambda v, place=place: LinearRecursion(*(v if k == place else ONE for k in range(3))),
            (ZERO, HALF),
            (-ONE, -HALF),
            "bounds a norm",
        )
        for place in range(3)
    ),
    *(
        Premise(
            f"CoupledRecursion, {place}",
            lambda v, place=place: coupled([v if k == place else ONE for k in range(8)]),
            (ZERO, HALF),
            (-ONE, -HALF),
            "bounds a norm",
        )
        for place in range(8)
    ),
    Premise(
        "LinearRecursion.subs", lambda letter: LINEAR.subs({letter: 2}), (A,), (e, LINEAR.index), "denotes every layer"
    ),
    Premise("geometric_sum, digits", lambda count: geometric_sum(Half3, count), (5,), (10**7,), "too many digits"),
    Premise(
        "stack, index",
        lambda j: stack(*(vector(n, Norm.TWO) for n in "xy"), j, vector("z", Norm.TWO), count=4, name="all"),
        (J, sp.Symbol("k", integer=True, nonnegative=True)),
        (sp.Symbol("j"), sp.Symbol("j", integer=True)),
        "declare the index",
    ),
    Premise(
        "stack, first",
        lambda error: stack(
            vector("x", Norm.TWO, error=error),
            vector("y", Norm.TWO, error=J),
            J,
            vector("z", Norm.TWO),
            count=4,
            name="all",
        ),
        (1,),
        (J,),
        "depends on j",
    ),
    Premise(
        "stack, last",
        lambda size: stack(
            vector("x", Norm.TWO),
            vector("y", Norm.TWO, error=J),
            J,
            given("z", dim=3, norm=2, size=size),
            count=4,
            name="all",
        ),
        (1,),
        (J,),
        "depends on j",
    ),
    Premise(
        "stack, draws",
        lambda norm: stack(
            vector("x", Norm.TWO),
            change_norm(sample_mean(vector(), "m", count=2, event=Event("E", "draws")), norm, "y"),
            J,
            vector("z", Norm.TWO),
            count=4,
            name="all",
        ),
        refused=(Norm.TWO,),
        words="rests on random draws",
    ),
    is_whole(
        "stack, count",
        lambda v: stack(
            vector("x", Norm.TWO), vector("y", Norm.TWO, error=J), J, vector("z", Norm.TWO), count=v, name="all"
        ),
        "the count of 'all'",
        1,
    ),
    Premise(
        "stack, members",
        lambda c: stack(
            vector("x", Norm.TWO),
            correct(vector("y", Norm.TWO, error=J), "c", sigma=4),
            J,
            vector("z", Norm.TWO),
            count=c,
            name="all",
        ),
        (1, 2, 5),
        owed={N: ("for every j from 2 to N - 1",)},
    ),
    Premise(
        "stack, last member",
        lambda s: conditions(
            stack(
                vector("x", Norm.TWO),
                correct(vector("y", Norm.TWO, error=J), "c", sigma=R),
                J,
                vector("z", Norm.TWO),
                count=N,
                name="all",
            ),
            s,
        ),
        ({N: 5, R: 4}, {N: 1, R: 1}, {N: 2, R: 1}),
        ({N: 6, R: 4}, {N: 3, R: 1}),
    ),
    Premise(
        "stack, first owes from two on",
        lambda s: conditions(
            stack(
                correct(vector("x", Norm.TWO, error=A), "c", sigma=R),
                vector("y", Norm.TWO, error=J),
                J,
                vector("z", Norm.TWO),
                count=N,
                name="all",
            ),
            s,
        ),
        ({A: 2, R: 1, N: 1}, {A: 1, R: 1, N: 2}),
        ({A: 2, R: 1, N: 2}, {A: 2, R: 1, N: 3}),
    ),
    Premise(
        "stack, last owes always",
        lambda s: conditions(
            stack(
                vector("x", Norm.TWO),
                vector("y", Norm.TWO, error=J),
                J,
                correct(vector("z", Norm.TWO, error=A), "c", sigma=R),
                count=N,
                name="all",
            ),
            s,
        ),
        ({A: 1, R: 1, N: 1},),
        ({A: 2, R: 1, N: 1}, {A: 2, R: 1, N: 3}),
    ),
    Premise(
        "either, in its own case",
        lambda s: conditions(
            either(
                correct(vector(error=A), "c", sigma=R),
                sp.Lt(N, 3),
                correct(vector("y", error=S), "d", sigma=R),
                name="z",
            ),
            s,
        ),
        ({N: 2, R: 1, A: 1, S: 2}, {N: 3, R: 1, A: 2, S: 1}),
        ({N: 2, R: 1, A: 2, S: 1}, {N: 3, R: 1, A: 1, S: 2}),
    ),
    Premise(
        "either, behind both",
        lambda s: conditions(either(SHARED, sp.Lt(N, 3), linear_map(SHARED, "m", operator_norm=1, dim=3), name="z"), s),
        ({A: 1, R: 1, N: 2},),
        ({A: 2, R: 1, N: 2}, {A: 2, R: 1, N: 4}),
    ),
    Premise(
        "repeat, affine",
        lambda affine: repeat(
            given("x", dim=2, norm=Norm.INF, size=1, error=1),
            "y",
            lambda z: change_norm(softmax(z, "q", affine=affine), Norm.INF, "w"),
            2,
        ),
        (True,),
        (False,),
        "affine in the error",
    ),
    Premise(
        "repeat, dimension",
        lambda d: repeat(number(), "y", lambda z: linear_map(z, "z", operator_norm=HALF, dim=d), 2),
        (1,),
        (2,),
        "has 2 coordinates|the dimension of",
    ),
    Premise(
        "repeat, size",
        lambda power: repeat(
            number(size=2), "y", lambda z: apply_function(z, "f", eps=0, lipschitz=1, size=z.size**power), 2
        ),
        (1, 0),
        (2,),
        "and not affine",
    ),
    Premise(
        "repeat, unknown size",
        lambda size: repeat(number(size=1), "y", lambda z: apply_function(z, "f", eps=0, lipschitz=1, size=size), 2),
        (1, HALF),
        owed={SIGN: ("is not negative",)},
    ),
    Premise(
        "repeat, dimension in letters",
        lambda d: repeat(number(), "y", lambda z: linear_map(z, "z", operator_norm=HALF, dim=d), 2),
        (1,),
        (N,),
        "coordinates",
    ),
    Premise(
        "repeat, open size",
        lambda s: repeat(
            number(size=2), "y", lambda z: apply_function(z, "f", eps=0, lipschitz=1, size=s * sp.sqrt(z.size)), 2
        ),
        (1,),
        owed={S: ("the size of 'f' is at most",)},
    ),
]
PREMISES = STACKS
