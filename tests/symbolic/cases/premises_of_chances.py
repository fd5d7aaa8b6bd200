"""What pools and budgets of probability presuppose."""

from functools import partial
from typing import Any

import sympy as sp

from symbolic.calculus import (
    Approximated,
    Event,
    Norm,
    add,
    apply_function,
    best_shares,
    concatenate,
    cover,
    expected_mean,
    girsanov,
    given,
    linear_map,
    perturbed_map,
    pool,
    pooled_sum,
    sample_mean,
    union_bound,
    within_budget,
)
from symbolic.calculus.concentration import FINEST
from tests.symbolic.cases.premises import (
    COUNT,
    HALF,
    ONE,
    SIGN,
    N,
    Premise,
    Q,
    bounds_a_norm,
    e,
    is_whole,
    number,
    vector,
)
from tests.symbolic.cases.premises_of_invariants import ranged
from tests.symbolic.cases.premises_of_steps import counted

R, A, S, Z, W = sp.symbols("R a S z w", positive=True)
REAL = sp.Symbol("u", real=True)
BETA = sp.Function("beta", nonnegative=True)
GAMMA = sp.Function("gamma", nonnegative=True)
EDGE = sp.Rational(1001, 1000)


MOVED = number("x", error=1, norm=Norm.TWO)


def scaled(name: str, x: Approximated = MOVED) -> Approximated:
    return linear_map(x, name, operator_norm=1, dim=1)


def sampled(what: str, number: Any) -> Approximated:
    """Three steps from time 2 to 1, with one of the numbers in the place of the rule's."""
    told = {what: number} if what in ("start", "moment") else {"start": 0, what: number}
    score = vector(norm=Norm.TWO)
    return girsanov(score, "p", **{"start_time": 2, "end_time": 1, "steps": 3, "beyond": 0, **told})


POOLS = [
    Premise(
        "pooled_sum, one part",
        lambda y: pooled_sum(MOVED, y, name="s"),
        (number("y", error=1, norm=Norm.TWO), number("y", error=0, norm=Norm.TWO)),
        (MOVED,),
        "both carry the error of 'x'; use add",
    ),
    Premise(
        "pooled_sum, parts of one",
        lambda parts: pooled_sum(*parts, name="s"),
        ((scaled("Ax"), number("y", error=1, norm=Norm.TWO)),),
        ((scaled("Ax"), scaled("Bx")), (MOVED, scaled("Ax"))),
        "are not independent",
    ),
    Premise(
        "pooled_sum, three",
        lambda z: pooled_sum(MOVED, number("y", error=1, norm=Norm.TWO), z, name="s"),
        (number("z", error=1, norm=Norm.TWO),),
        (MOVED,),
        "are not independent",
    ),
    Premise(
        "pooled_sum, per unit",
        lambda eps: pooled_sum(apply_function(MOVED, "f", eps=eps, lipschitz=1, size=1), name="s"),
        (0,),
        (1,),
        "is not stated per unit of a perturbation",
    ),
    Premise(
        "pooled_sum, quadratic",
        lambda c: pooled_sum(
            given("x", dim=1, norm=2, size=1, error=1).follows(
                apply_function(MOVED, "y", eps=0, lipschitz=MOVED.error_symbol + c, size=1).derivation.steps[-1],
                dim=ONE,
                size=ONE,
            ),
            name="s",
        ),
        (0, 1),
        (-sp.Rational(1, 9),),
        "is not stated per unit|bounds a norm",
    ),
    Premise(
        "pool, kink",
        lambda error: pool(number(error=error), "p", groups=(e, Q), total=1),
        (3 * e + Q,),
        (sp.Max(e, Q), sp.Abs(e - Q)),
        "is not a linear form",
    ),
    Premise(
        "pool, dimension",
        lambda d: pool(given("x", dim=d, size=1, error=N), "p", groups=(N,), total=1),
        (1,),
        (N,),
        "must not occur in",
    ),
    Premise(
        "pool, range",
        lambda total: pool(ranged(3, x=number(error=e)), "p", groups=(e,), total=total),
        (2,),
        owed={R: ("for every",)},
    ),
    Premise(
        "pooled_sum, roots",
        lambda x: pooled_sum(x, name="s"),
        (concatenate(MOVED, number("y", error=1, norm=Norm.TWO), name="xy"),),
    ),
    Premise(
        "perturbed_map, pooled",
        lambda more: perturbed_map(MOVED, "Ax", operator_norm=1, perturbation=1, dim=1, pooled=True, **more),
        ({"perturbed_norm": 1},),
        ({},),
        "perturbed_norm",
    ),
    Premise(
        "perturbed_map, per unit",
        lambda eps: perturbed_map(
            apply_function(MOVED, "f", eps=eps, lipschitz=1, size=1),
            "Ax",
            operator_norm=1,
            perturbation=1,
            dim=1,
            perturbed_norm=1,
            pooled=True,
        ),
        (0,),
        (1,),
        "is not stated per unit",
    ),
]


def drawn(name: str = "m", share: Any = None, x: Approximated | None = None) -> Approximated:
    event = Event(f"E of {name}", f"draws of {name}", *(() if share is None else (share,)))
    return sample_mean(x or given(f"x of {name}", dim=1, size=1), name, count=2, event=event)


def budget(delta: Any, share: Any = None, **more: Any) -> Approximated:
    found = drawn() if share is None else add(drawn(), drawn("n", share), name="both")
    return within_budget(found, "w", delta=delta, **more)


EXPECTED: dict[str, Any] = {"count": 2, "over": "draws"}
CHANCES = [
    is_whole(
        "sample_mean, count",
        lambda v: sample_mean(vector(), "m", count=v, event=Event("E", "draws", HALF)),
        "the count of 'm'",
        1,
    ),
    Premise(
        "sample_mean, spread",
        lambda v: sample_mean(vector(), "m", count=2, event=Event("E", "draws", HALF), sub_gaussian=v),
        (0, 1),
        (-1, sp.oo, sp.nan),
        "so they are not sub-Gaussian",
        {SIGN: ("the sigma of 'm'",)},
    ),
    Premise(
        "sample_mean, share",
        lambda v: drawn("m", v),
        (HALF, 1),
        (2, -1, 0),
        "has the probability|share of E of m",
        {SIGN: ("share of E of m is positive", "share of E of m is at most 1"), A: ("share of E of m is at most 1",)},
    ),
    is_whole(
        "expected_mean, count", lambda v: expected_mean(vector(), "m", count=v, over="draws"), "the count of 'm'", 1
    ),
    *(
        bounds_a_norm(f"girsanov, {what}", partial(sampled, what), f"the {what} of 'p'")
        for what in ("beyond", "start", "moment", "information", "discretisation")
    ),
    is_whole("girsanov, steps", partial(sampled, "steps"), "the steps of 'p'", 1),
    Premise(
        "girsanov, end_time",
        lambda v: girsanov(vector(norm=Norm.TWO), "p", start_time=v + 1, end_time=v, steps=3, beyond=0, start=0),
        (HALF, 1),
        (0, -1, sp.nan),
        "the end_time of 'p'.*(give it > 0|finite)",
        {SIGN: ("the end_time of 'p' is positive",)},
    ),
    Premise(
        "girsanov, start_time",
        partial(sampled, "start_time"),
        (2, sp.Rational(10001, 10000)),
        (1, HALF, sp.oo, sp.nan),
        "the duration of 'p'.*(give it > 0|finite)",
        {SIGN: ("the duration of 'p' is positive",)},
    ),
    Premise(
        "expected_mean, deviation",
        lambda v: expected_mean(vector(), "m", deviation=v, **EXPECTED),
        (0, 1),
        (-1, sp.oo, sp.nan),
        "so they are not sub-Gaussian",
        {SIGN: ("the sigma of 'm'",)},
    ),
    Premise(
        "expected_mean, members",
        lambda v: expected_mean(vector(), "m", members=v, **EXPECTED),
        (1, 2, sp.Rational(3, 2)),
        (0, HALF),
        "give at least 1",
        {SIGN: ("there are members",)},
    ),
    Premise(
        "cover, radius",
        lambda v: cover(vector(), "c", members=1, radius=v, lipschitz=1),
        (1, FINEST, 0),
        (-1, FINEST / 2),
        "",
        {SIGN: ("the radius of 'c'", "is no finer than float64")},
    ),
    bounds_a_norm(
        "cover, lipschitz",
        lambda v: cover(vector(), "c", members=1, radius=1, lipschitz=v, exact_lipschitz=1),
        "the lipschitz of 'c'",
    ),
    bounds_a_norm(
        "cover, exact lipschitz",
        lambda v: cover(vector(), "c", members=1, radius=1, lipschitz=1, exact_lipschitz=v),
        "the exact_lipschitz of 'c'",
    ),
    Premise(
        "within_budget, delta",
        budget,
        (HALF, 1),
        (0, -1, 2, EDGE),
        "the budget of 'w' is",
        {SIGN: ("delta is positive", "delta is at most 1")},
    ),
    Premise(
        "within_budget, what is left",
        lambda share: budget(HALF, share),
        (HALF / 2,),
        (HALF, 1),
        "nothing of the budget",
        {A: ("the rest of 'w' is positive",)},
    ),
    Premise(
        "within_budget, a free share",
        lambda share: within_budget(drawn("m", share), "w", delta=HALF),
        (None,),
        (HALF,),
        "no event with a free share",
    ),
    Premise(
        "within_budget, tied",
        lambda twice: within_budget(
            add(drawn(), drawn("n", twice * drawn().events[0].share), name="both"), "w", delta=HALF
        ),
        refused=(2,),
        words="is given in terms of a free one|share of",
    ),
    Premise(
        "within_budget, weights",
        lambda w: budget(HALF, weights=w),
        ({"E of m": 1}, {"E of m": 0.5}, None),
        ({}, {"other": 1}, {"E of m": 0}, {"E of m": -1}, {"E of m": 2}, {"E of m": 1, "other": 1}),
        "give a positive one to each",
    ),
    Premise(
        "within_budget, counts",
        lambda count: within_budget(
            sample_mean(vector(), "m", count=count, event=Event("E", "draws")), "w", delta=HALF
        ),
        (2,),
        owed={COUNT: ("the count of 'm'",)},
    ),
    Premise(
        "within_budget, what it stands on",
        lambda x: within_budget(drawn("m", x=ranged(x, x=number())), "w", delta=HALF),
        (2,),
        owed={R: ("the argument of 'f'",)},
    ),
    Premise(
        "best_shares, letters",
        lambda at: counted(best_shares(linear_map(drawn(), "y", operator_norm=A, dim=1), delta=HALF, at=at)["E of m"]),
        ({A: 2},),
        ({},),
        "give each letter but the shares a number",
    ),
    Premise(
        "best_shares, free shares",
        lambda share: counted(best_shares(drawn("m", share), delta=HALF, at={})["E of m"]),
        (None,),
        (HALF,),
        "no free share",
    ),
    Premise(
        "union_bound, letters",
        lambda v: union_bound(vector(), "u", members=v),
        (1, N, A + 1),
        (0,),
        "give at least 1",
        {A: ("there are members",)},
    ),
]
PREMISES = [*POOLS, *CHANCES]
