"""Values that a rule takes: their norms, dimensions and kinds."""

from collections.abc import Callable
from typing import Any

import sympy as sp

from symbolic.calculus import (
    Event,
    Norm,
    add,
    append,
    apply_to_pairs,
    as_tokens,
    attend,
    bounded_iterates,
    concatenate,
    concentrate,
    cover,
    cross_entropy,
    cut_softmax,
    descend,
    expected_mean,
    girsanov,
    given,
    gradient_descent,
    hard_max,
    heads_as_linear,
    heads_as_matrix,
    line_at_zero,
    log_softmax,
    pool,
    pooled_sum,
    project,
    proximal_gradient,
    rms_normalise,
    rotate,
    sample_mean,
    softmax,
    softmax_as_linear,
    softmax_to_hard_max,
    taylor,
    token,
    union_bound,
)
from symbolic.calculus.cases import either
from symbolic.calculus.families import stack
from tests.symbolic.cases.premises import HALF, SIGN, N, Premise, Q, e, in_norms, number, vector, weights

R, A, B = sp.symbols("R a b", positive=True)
J = sp.Symbol("j", integer=True, positive=True)
EVENT = Event("E", "draws", HALF)
UPDATE = {"step": HALF, "smoothness": 1, "steps": 2}


def stacked(norms: tuple[Norm, Norm, Norm]) -> Any:
    first, family, last = (vector(f"x{place}", each) for place, each in enumerate(norms))
    return stack(first, family, J, last, count=4, name="all")


def one_of_three(place: int) -> Callable[[Norm], Any]:
    return lambda norm: stacked(tuple(norm if place == k else Norm.TWO for k in range(3)))  # type: ignore[arg-type]


def proximal(start: Norm = Norm.TWO, update: Norm = Norm.ONE, iterates: Norm = Norm.ONE, dims: Any = (3, 3, 3)) -> Any:
    w, p, kept = (vector(n, each, d, HALF) for n, each, d in zip("wpk", (start, update, iterates), dims, strict=True))
    return proximal_gradient(w, "gap", update=p, iterates=kept, radius=Q, lipschitz=1, **UPDATE)


def pairs_of(x: Any, y: Any) -> Any:
    return apply_to_pairs(x, y, "s", count=2, slopes=(1, 1), size=1)


NORMS = [
    in_norms("softmax", lambda n: softmax(vector(norm=n), "q"), *Norm),
    in_norms("log_softmax", lambda n: log_softmax(vector(norm=n), "q"), *Norm),
    in_norms("cross_entropy", lambda n: cross_entropy(vector(norm=n), "q"), *Norm),
    in_norms("cut_softmax", lambda n: cut_softmax(vector(norm=n), "q", lost=HALF), *Norm),
    in_norms("softmax_as_linear", lambda n: softmax_as_linear(vector(norm=n), "q"), *Norm),
    in_norms("heads_as_linear", lambda n: heads_as_linear(vector(norm=n), "q", sink=1), Norm.INF),
    in_norms("heads_as_matrix", lambda n: heads_as_matrix(vector(norm=n), "q", sink=1, reach=1, keys=3), Norm.TWO),
    in_norms("hard_max", lambda n: hard_max(vector(norm=n), "q", margin=2), *Norm),
    in_norms(
        "softmax_to_hard_max",
        lambda n: softmax_to_hard_max(vector(norm=n), "q", margin=2, inverse_temperature=1),
        *Norm,
    ),
    in_norms("apply_to_pairs", lambda n: pairs_of(vector(norm=n), vector("y")), *Norm),
    in_norms("apply_to_pairs, keys", lambda n: pairs_of(vector(), vector("y", n)), *Norm),
    in_norms("append", lambda n: append(vector(), vector("y", n), "xy"), Norm.INF, words="both have to be one"),
    in_norms("project", lambda n: project(vector(norm=n), "P", size=1), Norm.TWO),
    in_norms("project, box", lambda n: project(vector(norm=n), "P", size=1, box=True), *Norm),
    in_norms("rms_normalise", lambda n: rms_normalise(vector(norm=n), "g", shift=1), Norm.TWO),
    in_norms("rotate", lambda n: rotate(vector(norm=n, dim=2), "y"), *Norm),
    in_norms("either", lambda n: either(vector(), sp.Lt(N, 2), vector("y", n), name="z"), Norm.INF),
    *(in_norms(f"stack, part {place}", one_of_three(place), Norm.TWO) for place in range(3)),
    in_norms("sample_mean", lambda n: sample_mean(vector(norm=n), "m", count=2, event=EVENT), Norm.INF),
    in_norms("expected_mean", lambda n: expected_mean(vector(norm=n), "m", count=2, over="draws"), Norm.INF, Norm.TWO),
    in_norms(
        "girsanov",
        lambda n: girsanov(vector(norm=n), "y", start_time=2, end_time=1, steps=3, beyond=0, start=0),
        Norm.TWO,
    ),
    in_norms(
        "expected_mean, several",
        lambda n: expected_mean(vector(norm=n), "m", count=2, over="draws", members=2),
        Norm.INF,
        words="is bounded in the|several members are bounded in the sup norm",
    ),
    in_norms(
        "expected_mean, sub_gaussian",
        lambda n: expected_mean(vector(norm=n), "m", count=2, over="draws", sub_gaussian=1),
        Norm.INF,
        words="is bounded in the|sub_gaussian is about one coordinate",
    ),
    in_norms(
        "bounded_iterates",
        lambda n: bounded_iterates(vector(norm=n), "w", start=1, penalty=1, lipschitz=1, radius=Q, **UPDATE),
        Norm.ONE,
        Norm.TWO,
    ),
    in_norms("proximal_gradient, start", lambda n: proximal(start=n), Norm.TWO),
    in_norms("proximal_gradient, update", lambda n: proximal(update=n, iterates=n), Norm.ONE, Norm.TWO),
    in_norms("proximal_gradient, iterates", lambda n: proximal(iterates=n), Norm.ONE),
    in_norms("add", lambda n: add(vector(), vector("y", n), name="s"), Norm.INF, words="are stated in different norms"),
    in_norms(
        "concatenate",
        lambda n: concatenate(vector(), vector("y", n), name="s"),
        Norm.INF,
        words="are stated in different norms",
    ),
    in_norms(
        "pooled_sum",
        lambda n: pooled_sum(vector(error=1), vector("y", n, error=1), name="s"),
        Norm.INF,
        words="are stated in different norms",
    ),
    in_norms(
        "attend",
        lambda n: attend(vector(norm=n) if n is not Norm.ONE else weights(), vector("v"), "out"),
        Norm.ONE,
    ),
    in_norms(
        "descend",
        lambda n: descend(vector(norm=n, dim=1), "g", decrease=1, steps=2),
        Norm.INF,
        words="must be a number",
    ),
    in_norms(
        "gradient_descent",
        lambda n: gradient_descent(vector(norm=n, dim=1), "g", step=1, smoothness=1, steps=2),
        Norm.INF,
        words="must be a number",
    ),
    in_norms(
        "given, probabilities",
        lambda n: given("a", dim=2, norm=n, size=1, probabilities=True),
        Norm.ONE,
        words="holds weights that add up to 1",
    ),
    in_norms(
        "given, affine",
        lambda n: given("a", dim=2, norm=n, size=1, affine=True),
        Norm.ONE,
        words="holds weights that add up to 1",
    ),
]
WAYS = {"slope": 1, "gap": 1, "gaps": lambda k: k}
SEEN = sample_mean(vector(), "m", count=2, event=EVENT)
EXPECTED = expected_mean(vector(), "m", count=2, over="draws")


def combined(rule: Callable[..., Any]) -> Callable[[int], Any]:
    return lambda count: rule(*(vector(f"x{k}") for k in range(count)), name="s")


KINDS = [
    Premise("add, values", combined(add), (1, 2), (0,), "no values to combine"),
    Premise("as_tokens, values", combined(as_tokens), (1, 2), (0,), "no values to combine"),
    Premise(
        "as_tokens, dimension",
        lambda d: as_tokens(vector(), vector("y", dim=d), name="s"),
        (3,),
        (2,),
        "as_tokens: the values differ in dimension",
    ),
    in_norms(
        "as_tokens",
        lambda n: as_tokens(vector(), vector("y", n), name="s"),
        Norm.INF,
        words="are stated in different norms",
    ),
    Premise("concatenate, values", combined(concatenate), (1, 2), (0,), "no values to combine"),
    Premise("add, dimension", lambda d: add(vector(), vector("y", dim=d), name="s"), (3,), (2,), "differ in dimension"),
    Premise(
        "add, third dimension",
        lambda d: add(vector(), vector("y"), vector("w", dim=d), name="s"),
        (3,),
        (2,),
        "differ in dimension",
    ),
    Premise(
        "add, coefficients",
        lambda count: add(vector(), vector("y"), name="s", coefficients=(1,) * count),
        (2,),
        (1, 3),
        "2 values but . coefficients",
    ),
    Premise("descend, dimension", lambda d: descend(vector(dim=d), "g", decrease=1, steps=2), (1,), (2,), "a number"),
    Premise(
        "gradient_descent, dimension",
        lambda d: gradient_descent(vector(dim=d), "g", step=1, smoothness=1, steps=2),
        (1,),
        (2,),
        "must be a number",
    ),
    Premise(
        "descend, steps",
        lambda v: descend(vector(dim=1), "g", decrease=1, steps=v),
        (1, N),
        (0, -1, HALF, SIGN),
        "mean over",
    ),
    Premise(
        "descend, decrease",
        lambda v: descend(vector(dim=1), "g", decrease=v, steps=1),
        (1,),
        (0, -1, Q, SIGN),
        "cannot show",
    ),
    Premise(
        "attend, weights",
        lambda named: attend(given("a", dim=2, norm=Norm.ONE, size=1, **named), vector("v"), "out"),
        refused=({},),
        words="not known to hold probabilities",
    ),
    Premise(
        "concentrate, ways",
        lambda ways: concentrate("w", count=3, **{way: WAYS[way] for way in ways}),
        (("slope",), ("gap",), ("gaps",)),
        ((), ("slope", "gap"), ("gap", "gaps"), ("slope", "gap", "gaps")),
        "exactly one of",
    ),
    Premise(
        "probabilities, size",
        lambda v: given("a", dim=2, norm=Norm.ONE, size=v, probabilities=True),
        (1,),
        (HALF,),
        "add up to 1",
    ),
    Premise(
        "affine, size", lambda v: given("a", dim=2, norm=Norm.ONE, size=v, affine=True), (1, 2), (HALF,), "add up to 1"
    ),
    Premise(
        "taylor, orders",
        lambda orders: taylor(vector(), "f", suprema=dict.fromkeys(orders, 1), size=1),
        ((1,), (1, 3)),
        ((), (2,), (3,)),
        "no order of 'f' is known",
    ),
    Premise(
        "taylor, order", lambda k: taylor(vector(), "f", suprema={k: 1}, size=1), (1,), (0, -1), "derivative of order"
    ),
    Premise(
        "line_at_zero, order",
        lambda k: line_at_zero(vector(), "f", slope=1, order=k, supremum=1),
        (2, 3),
        (1, 0),
        "has the order",
    ),
    Premise(
        "pool, groups",
        lambda groups: pool(number(error=e), "p", groups=groups, total=1),
        ((e,),),
        ((e, e),),
        "must be different",
    ),
    Premise(
        "pool, size",
        lambda size: pool(number(error=e, size=size), "p", groups=(e,), total=1),
        (1,),
        (1 + e,),
        "must not occur in",
    ),
    Premise(
        "pool, radius",
        lambda r: pool(given("x", dim=1, size=1, error=e, radius=r), "p", groups=(e,), total=1),
        (1,),
        (e,),
        "must not occur in",
    ),
    Premise(
        "pool, linear",
        lambda error: pool(number(error=error), "p", groups=(e, Q), total=1),
        (3 * e + 4 * Q, 3 * e),
        (e * Q, e + 1, e**2 + Q, e + Q + Q**2),
        "is not a linear form",
    ),
    Premise(
        "expected_mean, over",
        lambda over: expected_mean(vector(), "m", count=2, over=over),
        ("draws",),
        ("",),
        "names no randomness",
    ),
    Premise(
        "sample_mean, sigma",
        lambda v: sample_mean(vector(), "m", count=2, event=EVENT, sub_gaussian=v),
        (0, 1),
        (-1, sp.oo, sp.nan),
        "not sub-Gaussian",
    ),
    Premise(
        "sample_mean, over",
        lambda over: sample_mean(SEEN, "again", count=2, event=Event("F", over, HALF)),
        ("others",),
        ("draws",),
        "already rests on",
    ),
    Premise(
        "append, dimensions",
        lambda dim: append(vector(), vector("y", dim=dim), "xy"),
        (3,),
        (2, N),
        r"'x' is bounded in R\^3 in the inf-norm and 'y' in R\^",
    ),
    Premise(
        "token, place",
        lambda place: token(vector(), "y", place=place, count=2),
        (0, 1, -1, -2),
        (2, -3),
        "there are enough tokens for 'y': 3 <= 2",
    ),
    Premise(
        "token, no place", lambda x: token(vector(), "y", place=x, count=N), (0, -1), (0.0, True, "0"), "give a whole"
    ),
    Premise(
        "token, some of them",
        lambda place: token(vector(), "y", place=place, count=N),
        ((0, None), (-1, None)),
        owed={(-3, None): (sp.Le(3, N),), (1, -1): (sp.Le(1, N - 2),), (0, 4): (sp.Le(4, N),)},
    ),
    Premise(
        "token, count", lambda place: token(vector(), "y", place=place, count=N), (0, -1), owed={2: (sp.Le(3, N),)}
    ),
    Premise(
        "union_bound, members",
        lambda v: union_bound(vector(), "u", members=v),
        (1, N),
        (HALF, 0),
        "give at least 1",
        {SIGN: ("there are members",)},
    ),
    Premise(
        "cover, members",
        lambda v: cover(vector(), "c", members=v, radius=1, lipschitz=1),
        (1,),
        (HALF,),
        "give at least 1",
        {SIGN: ("there are members",)},
    ),
    Premise(
        "cover, in expectation",
        lambda v: cover(EXPECTED, "c", members=v, radius=1, lipschitz=1),
        (1,),
        (2,),
        "bounded in expectation",
    ),
    Premise(
        "proximal_gradient, dimensions",
        lambda d: proximal(dims=d),
        ((3, 3, 3),),
        ((2, 3, 3), (3, 2, 3), (3, 3, 2)),
        "give vectors of one dimension",
    ),
]

PREMISES = [*NORMS, *KINDS]
