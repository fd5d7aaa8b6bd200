"""What layers, recursions, invariants, pools and budgets presuppose."""

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
    accumulate,
    add,
    apply_function,
    bilinear,
    change_norm,
    correct,
    expected_mean,
    given,
    linear_map,
    perturbed_map,
    sample_mean,
    softmax,
)
from symbolic.calculus.layers import iterate, recursion_from
from symbolic.derivations.obligations import Obligation
from tests.symbolic.cases.premises import (
    HALF,
    ONE,
    ZERO,
    N,
    Premise,
    Q,
    e,
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
BY_LAYER = before(1 + INDEX)
DEPTH = sp.Symbol("n", integer=True, nonnegative=True)
OWING_BY_LAYER = recursion_from(BEFORE, ranged(A + R, lipschitz=A))
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


LAYERS = [
    Premise(
        "recursion_from, size",
        layer(lambda s: apply_function(BEFORE, "y", eps=0, lipschitz=1, size=s)),
        (1, HALF),
        (2, sp.Rational(1001, 1000)),
        "the layers do not fit; hypothesis violated: the size of 'y' is at most",
        {S: (sp.Le(S, 1),)},
    ),
    Premise(
        "recursion_from, norm",
        layer(lambda n: change_norm(BEFORE, n, "y")),
        (Norm.INF,),
        (Norm.TWO, Norm.ONE),
        "but the layer starts from",
    ),
    Premise(
        "recursion_from, dimension",
        layer(lambda d: mapped(dim=d)),
        (1,),
        (2,),
        "the dimension of 'y' is that of the layer's premise",
        {N: ("the dimension of 'y'",)},
    ),
    Premise(
        "recursion_from, probabilities",
        lambda _: recursion_from(WEIGHTS, linear_map(WEIGHTS, "y", operator_norm=1, dim=2)),
        (),
        (1,),
        "not known to hold probabilities, but 'q' does",
    ),
    Premise(
        "recursion_from, weights",
        lambda _: recursion_from(AFFINE, linear_map(AFFINE, "y", operator_norm=1, dim=2)),
        (),
        (1,),
        "not known to hold weights, but 'q' does",
    ),
    Premise(
        "recursion_from, radius",
        layer(lambda r: mapped(CENTRED, norm=1, radius=r), CENTRED),
        (HALF,),
        (1, sp.Rational(501, 1000)),
        "the radius of 'y' is at most that",
        {S: ("the radius of 'y'",)},
    ),
    Premise(
        "recursion_from, premise",
        lambda error: recursion_from(before(error=error), mapped(before(error=error))),
        (e,),
        (2, A, Q, sp.Dummy("s", real=True), sp.Dummy("s", positive=True)),
        "give a separate symbol",
    ),
    *(
        Premise(
            f"recursion_from, index {index.assumptions0}",
            lambda index: recursion_from(BEFORE, mapped(), index=index),
            refused=(index,),
            words="declare the number of a layer",
        )
        for index in (
            sp.Symbol("l", integer=True),
            sp.Symbol("l", nonnegative=True),
            sp.Symbol("l", integer=True, positive=True),
        )
    ),
    Premise(
        "recursion_from, derived",
        layer(lambda name: mapped() if name == "y" else vector("y", dim=1)),
        ("y",),
        ("x",),
        "is not derived from 'before'",
    ),
    Premise(
        "recursion_from, alone",
        layer(lambda with_error: add(mapped(), number("w", error=with_error), name="s")),
        (),
        (e, 2 * e),
        "must be a single given, and its error must not occur",
    ),
    Premise(
        "recursion_from, size of the error",
        lambda size: recursion_from(before(size), mapped(before(size))),
        refused=(1 + e,),
        words="must be a single given, and its error must not occur",
    ),
    Premise(
        "recursion_from, affine",
        lambda affine: recursion_from(WEIGHTS_OF, softmax(WEIGHTS_OF, "q", affine=affine)),
        refused=(False,),
        words="is not affine in that of",
    ),
    Premise(
        "recursion_from, kink",
        layer(
            lambda _: given("k", dim=1, size=1).follows(
                apply_function(BEFORE, "y", eps=sp.Abs(e - 1), lipschitz=0, size=1).derivation.steps[-1],
                BEFORE,
                dim=ONE,
                size=ONE,
            )
        ),
        refused=(1,),
        words="is not affine|must not occur",
    ),
    Premise(
        "recursion_from, expectation",
        lambda over: recursion_from(before(), expected_mean(before(), "m", count=2, over=over)),
        refused=("draws",),
        words="is bounded in expectation",
    ),
    Premise(
        "recursion_from, shares",
        lambda share: recursion_from(
            BEFORE, sample_mean(BEFORE, "m", count=2, event=Event("E", "draws", share)), index=INDEX
        ),
        (HALF,),
        (1 / (2 + INDEX),),
        "have other shares in each layer",
    ),
    Premise(
        "iterate, size of the first",
        lambda s: iterate(number(size=s), "z", LINEAR, 3, size=1),
        (1, HALF),
        (2,),
        "the size of 'x' is at most that of the layer's premise",
        {S: ("the size of 'x' is at most",)},
    ),
    Premise(
        "iterate, dimension of the first",
        lambda d: iterate(given("x", dim=d, size=1), "z", LINEAR, 3, size=1),
        (1,),
        (2,),
        "the dimension of 'x'",
    ),
    Premise(
        "iterate, norm of the first",
        lambda n: iterate(number(norm=n), "z", LINEAR, 3, size=1),
        (Norm.INF,),
        (Norm.TWO,),
        "'x' is bounded in the",
    ),
    Premise(
        "iterate, range in every layer",
        lambda d: iterate(number(error=0), "y", OWING, d, size=1),
        (0, 5),
        (6, 100),
        "stays in .*, in every layer",
        {N: ("in every layer",)},
    ),
    Premise(
        "iterate, range at the largest error",
        lambda x: iterate(number(error=x), "y", recursion_from(BEFORE, ranged(4, lipschitz=HALF)), 4, size=1),
        (3,),
        (sp.Rational(3001, 1000),),
        "in every layer",
    ),
    Premise(
        "iterate, range of the last layer",
        lambda x: iterate(number(error=x), "y", recursion_from(BEFORE, ranged(9, lipschitz=2)), 4, size=1),
        (1,),
        (sp.Rational(1001, 1000),),
        "in every layer",
    ),
    Premise(
        "iterate, range with a size in letters",
        lambda d: iterate(vector(dim=1, error=0), "y", FREE_SIZE, d, size=1),
        owed={2: (sp.Le(1, ANY),)},
    ),
    Premise(
        "iterate, size that enters",
        lambda s: iterate(given("x", dim=1, size=s, error=1), "z", USED_SIZE, 2, size=1),
        owed={S: (sp.Le(S, ANY),)},
    ),
    Premise(
        "iterate, offsets of layers",
        lambda c: iterate(number(), "y", LinearRecursion(ZERO, ONE, c - LinearRecursion.index), 3, size=1),
        (2, 3),
        (sp.Rational(3, 2),),
        "is not negative|bounds a norm|violated",
    ),
    Premise(
        "iterate, factors of layers",
        lambda c: iterate(number(), "y", LinearRecursion(ZERO, c - LinearRecursion.index, ONE), 3, size=1),
        (2, 3),
        (sp.Rational(3, 2),),
        "is not negative|bounds a norm|violated",
    ),
    Premise(
        "accumulate, offsets of steps",
        lambda c: accumulate(number(), "y", factor=1, offset=c - INDEX, index=INDEX, depth=3, size=1),
        (2,),
        (sp.Rational(3, 2),),
        "is not negative|bounds a norm|violated",
    ),
    Premise(
        "accumulate, factors of steps",
        lambda c: accumulate(number(), "y", factor=c - INDEX, offset=0, index=INDEX, depth=3, size=1),
        (3, 2),
        (sp.Rational(3, 2),),
        "is not negative|bounds a norm|violated",
    ),
    Premise(
        "accumulate, factors of steps beside a quadratic term",
        lambda c: accumulate(
            number(error=0), "y", factor=c - INDEX, offset=0, index=INDEX, depth=3, size=1, quadratic=1
        ),
        (3,),
        (sp.Rational(5, 2),),
        "is at least 1",
    ),
    Premise(
        "iterate, stated per unit",
        lambda eps: iterate(
            number(norm=Norm.TWO, error=1)
            if eps == 0
            else apply_function(number(norm=Norm.TWO, error=0), "f", eps=eps, lipschitz=1, size=1),
            "end",
            POOLED,
            2,
            size=1,
        ),
        (0,),
        (1,),
        "is not stated per unit of a perturbation",
    ),
    Premise(
        "recursion_from, pooled",
        lambda pooled: recursion_from(*pooled_layer(), pooled=pooled),
        (True,),
        (False,),
        "is not affine in that of 'before'",
    ),
    Premise(
        "recursion_from, pooled size",
        lambda a: recursion_from(*pooled_layer(operator_norm=a, perturbed_norm=a), pooled=True),
        (1,),
        (2,),
        "the size of 'ax' is at most",
    ),
    Premise(
        "recursion_from, pooled per unit",
        lambda eps: recursion_from(
            TWO, apply_function(pooled_layer()[1], "f", eps=eps, lipschitz=1, size=1), pooled=True
        ),
        (0,),
        (1,),
        "is not stated per unit",
    ),
    Premise(
        "recursion_from, pooled sum",
        lambda c: recursion_from(TWO, add(TWO, pooled_layer()[1], name="sum", coefficients=(c, 1 - c)), pooled=True),
        refused=(HALF,),
        words="is not affine in that of",
    ),
    Premise(
        "recursion_from, sizes by layer",
        lambda s: recursion_from(BY_LAYER, apply_function(BY_LAYER, "y", eps=0, lipschitz=1, size=s), index=INDEX),
        (2 + INDEX, 1),
        (3 + INDEX,),
        "the size of 'y' is at most",
    ),
    Premise("recursion_from, dimension in letters", layer(lambda d: mapped(dim=d)), owed={N: (sp.Eq(N - 1, 0),)}),
    Premise(
        "iterate, obligations by hand",
        lambda bound: iterate(
            number(),
            "y",
            LinearRecursion(ZERO, ONE, ONE, obligations=(Obligation("it is held", bound > 1),)),
            2,
            size=1,
        ),
        (2,),
        owed={A: (A > 1,)},
    ),
    Premise(
        "iterate, a depth that may be 0",
        lambda at: conditions(iterate(number(error=0), "y", OWING, DEPTH, size=1), at),
        ({DEPTH: 0}, {DEPTH: 5}),
        ({DEPTH: 6},),
    ),
    Premise(
        "with_index, obligations",
        lambda letter: OWING_BY_LAYER.with_index(letter),
        owed={sp.Symbol("m", integer=True, nonnegative=True): ("the argument of 'f'",)},
    ),
    Premise("subs, obligations", lambda value: OWING_BY_LAYER.subs({A: value}), owed={S: ("the argument of 'f'",)}),
]
PREMISES = LAYERS
