"""Numbers that a rule takes: bounds are finite and not negative, counts are whole."""

from typing import Any

import sympy as sp

from symbolic.calculus import (
    LinearRecursion,
    Norm,
    accumulate,
    add,
    apply_function,
    apply_to_pairs,
    bilinear,
    centre,
    concentrate,
    contract,
    converge,
    correct,
    cross_entropy,
    cut_softmax,
    evolve,
    exclude,
    given,
    gradient_descent,
    hard_max,
    heads_as_linear,
    heads_as_matrix,
    line_at_zero,
    linear_map,
    perturbed_function,
    perturbed_map,
    pool,
    project,
    recur,
    rms_normalise,
    rotate,
    soft_threshold,
    softmax_as_linear,
    softmax_to_hard_max,
    taylor,
    token,
)
from symbolic.calculus.layers import iterate
from tests.symbolic.cases.premises import HALF, ONE, SIGN, ZERO, N, Premise, Q, bounds_a_norm, e, is_whole, number

MANY = given("scores", dim=N + 9, size=1, error=e)


def pairs(of_x: Any = 1, of_y: Any = 1, **numbers: Any) -> Any:
    known = {"count": 2, "size": 1, "eps": 1} | numbers
    return apply_to_pairs(number(), number("y"), "s", slopes=(of_x, of_y), **known)


BOUNDS = [
    bounds_a_norm("given, error", lambda v: given("x", dim=1, size=1, error=v), "the error of 'x'"),
    bounds_a_norm("given, size", lambda v: given("x", dim=1, size=v), "the size of 'x'"),
    bounds_a_norm("given, radius", lambda v: given("x", dim=1, size=1, radius=v), "the radius of 'x'"),
    bounds_a_norm(
        "apply_function, eps", lambda v: apply_function(number(), "f", eps=v, lipschitz=1, size=1), "the eps of 'f'"
    ),
    bounds_a_norm(
        "apply_function, lipschitz",
        lambda v: apply_function(number(), "f", eps=0, lipschitz=v, size=1),
        "the lipschitz of 'f'",
    ),
    bounds_a_norm(
        "apply_function, size", lambda v: apply_function(number(), "f", eps=0, lipschitz=1, size=v), "the size of 'f'"
    ),
    bounds_a_norm("taylor, eps", lambda v: taylor(number(), "f", suprema={1: 1}, eps=v, size=1), "the eps of 'f'"),
    bounds_a_norm("taylor, size", lambda v: taylor(number(), "f", suprema={1: 1}, size=v, radius=9), "the size of 'f'"),
    bounds_a_norm(
        "taylor, supremum", lambda v: taylor(number(), "f", suprema={1: v}, size=1), "the supremum of order 1 of 'f'"
    ),
    bounds_a_norm(
        "taylor, derivative",
        lambda v: taylor(number(), "f", suprema={2: 1}, derivatives={1: v}, size=1),
        "the derivative of order 1 of 'f'",
    ),
    bounds_a_norm(
        "gradient_descent, smoothness",
        lambda v: gradient_descent(number(), "g", step=HALF, smoothness=v, accuracy=1, steps=2),
        "the smoothness of 'g'",
    ),
    bounds_a_norm(
        "gradient_descent, accuracy",
        lambda v: gradient_descent(number(), "g", step=HALF, smoothness=1, accuracy=v, steps=2),
        "the accuracy of 'g'",
    ),
    bounds_a_norm(
        "linear_map, norm", lambda v: linear_map(number(), "y", operator_norm=v, dim=1), "the operator_norm of 'y'"
    ),
    bounds_a_norm(
        "linear_map, bias", lambda v: linear_map(number(), "y", operator_norm=1, bias=v, dim=1), "the bias of 'y'"
    ),
    bounds_a_norm(
        "linear_map, radius", lambda v: linear_map(number(), "y", operator_norm=1, radius=v, dim=1), "the radius of 'y'"
    ),
    bounds_a_norm(
        "bilinear, constant", lambda v: bilinear(number(), number("y"), "xy", constant=v), "the constant of 'xy'"
    ),
    bounds_a_norm(
        "apply_function, approximate size",
        lambda v: apply_function(number(), "f", eps=0, lipschitz=1, size=1, radius=9, approximate_size=v),
        "the approximate_size of 'f'",
    ),
    bounds_a_norm(
        "bilinear, size",
        lambda v: bilinear(number(), number("y"), "xy", approximate_size=v),
        "the approximate_size of 'xy'",
    ),
    bounds_a_norm("project, size", lambda v: project(number(), "Px", box=True, size=v), "the size of 'Px'"),
    bounds_a_norm(
        "soft_threshold", lambda v: soft_threshold(number(), "S", threshold_error=v), "the threshold_error of 'S'"
    ),
    bounds_a_norm(
        "rms_normalise, shift",
        lambda v: rms_normalise(number(norm=Norm.TWO), "g", shift=v, least=1, exact_least=2),
        "the shift of 'g'",
    ),
    bounds_a_norm(
        "rms_normalise, least",
        lambda v: rms_normalise(number(norm=Norm.TWO), "g", shift=1, least=v, exact_least=2),
        "the least of 'g'",
    ),
    bounds_a_norm(
        "rms_normalise, exact least",
        lambda v: rms_normalise(number(norm=Norm.TWO), "g", shift=1, exact_least=v),
        "the exact_least of 'g'",
    ),
    bounds_a_norm(
        "inverse temperature",
        lambda v: softmax_to_hard_max(number(error=0), "q", margin=1, inverse_temperature=v),
        "the inverse_temperature of 'q'",
    ),
    bounds_a_norm("cross_entropy, others", lambda v: cross_entropy(number(), "q", others=v), "the others of 'q'"),
    bounds_a_norm("cut_softmax, lost", lambda v: cut_softmax(number(), "q", lost=v), "the lost of 'q'"),
    bounds_a_norm(
        "softmax_as_linear, half range",
        lambda v: softmax_as_linear(number(), "q", half_range=v),
        "the half_range of 'q'",
    ),
    bounds_a_norm(
        "exclude, diameter", lambda v: exclude(number(), "out", count=2, lead=1, diameter=v), "the diameter of 'out'"
    ),
    bounds_a_norm(
        "perturbed_map, norm",
        lambda v: perturbed_map(number(), "Ax", operator_norm=v, perturbation=1, dim=1),
        "the operator_norm of 'Ax'",
    ),
    bounds_a_norm(
        "perturbed_map, perturbation",
        lambda v: perturbed_map(number(), "Ax", operator_norm=1, perturbation=v, dim=1),
        "the perturbation of 'Ax'",
    ),
    bounds_a_norm(
        "perturbed_map, perturbed norm",
        lambda v: perturbed_map(number(), "Ax", operator_norm=1, perturbation=1, perturbed_norm=v, dim=1),
        "the perturbed_norm of 'Ax'",
    ),
    bounds_a_norm(
        "perturbed_function, lipschitz",
        lambda v: perturbed_function(number(), "F", lipschitz=v, size=1),
        "the lipschitz of 'F'",
    ),
    bounds_a_norm(
        "perturbed_function, eps",
        lambda v: perturbed_function(number(), "F", lipschitz=1, eps=v, size=1),
        "the eps of 'F'",
    ),
    bounds_a_norm(
        "perturbed_function, size", lambda v: perturbed_function(number(), "F", lipschitz=1, size=v), "the size of 'F'"
    ),
    *(
        bounds_a_norm(f"apply_to_pairs, {what}", lambda v, what=what: pairs(**{what: v}), f"the {said} of 's'")
        for what, said in (("eps", "eps"), ("of_x", "first slope"), ("of_y", "second slope"), ("size", "size"))
    ),
    bounds_a_norm(
        "pool, total", lambda v: pool(number(error=2 * e), "pooled", groups=(e,), total=v), "the total of 'pooled'"
    ),
    bounds_a_norm(
        "pool, slope",
        lambda v: pool(number(error=v * e), "pooled", groups=(e,), total=1),
        "the e(rror)? of '(x|pooled)'",
    ),
    bounds_a_norm(
        "accumulate, offset",
        lambda v: accumulate(number(), "y", factor=1, offset=v, depth=2, size=1),
        "the offset of 'y'|the offset of 'the recursion'",
    ),
    bounds_a_norm(
        "accumulate, quadratic",
        lambda v: accumulate(number(), "y", factor=1, offset=0, quadratic=v, depth=2, size=1),
        "the quadratic of 'y'",
    ),
    bounds_a_norm(
        "accumulate, size", lambda v: accumulate(number(), "y", factor=1, offset=0, depth=2, size=v), "the size of 'y'"
    ),
    bounds_a_norm(
        "heads_as_matrix, reach",
        lambda v: heads_as_matrix(given("s", dim=2, norm=2, size=1), "w", sink=3, reach=v, keys=2, widest=1),
        "the reach of 'w'",
    ),
    bounds_a_norm(
        "heads_as_matrix, widest",
        lambda v: heads_as_matrix(given("s", dim=2, norm=2, size=1), "w", sink=3, reach=1, keys=2, widest=v),
        "the widest of 'w'",
    ),
    bounds_a_norm(
        "recur, factor", lambda v: recur(number(), "y", factor=v, offset=0, depth=2, size=1), "the factor of 'y'"
    ),
    bounds_a_norm(
        "recur, offset", lambda v: recur(number(), "y", factor=1, offset=v, depth=2, size=1), "the offset of 'y'"
    ),
    bounds_a_norm(
        "recur, size", lambda v: recur(number(), "y", factor=1, offset=0, depth=2, size=v), "the size of 'y'"
    ),
    bounds_a_norm(
        "evolve, offset", lambda v: evolve(number(), "y", rate=-1, offset=v, time=1, size=1), "the offset of 'y'"
    ),
    bounds_a_norm(
        "evolve, time", lambda v: evolve(number(), "y", rate=-1, offset=0, time=v, size=1), "the time of 'y'"
    ),
    bounds_a_norm(
        "evolve, size", lambda v: evolve(number(), "y", rate=-1, offset=0, time=1, size=v), "the size of 'y'"
    ),
    bounds_a_norm(
        "contract, factor", lambda v: contract(number(), "y", factor=v, offset=0, size=1), "the factor of 'y'"
    ),
    bounds_a_norm(
        "contract, offset", lambda v: contract(number(), "y", factor=HALF, offset=v, size=1), "the offset of 'y'"
    ),
    bounds_a_norm(
        "contract, size", lambda v: contract(number(), "y", factor=HALF, offset=0, size=v), "the size of 'y'"
    ),
    bounds_a_norm(
        "converge, offset", lambda v: converge(number(), "y", quadratic=HALF, offset=v, size=1), "the offset of"
    ),
    bounds_a_norm(
        "converge, size", lambda v: converge(number(), "y", quadratic=HALF, offset=0, size=v), "the size of 'y'"
    ),
    bounds_a_norm(
        "iterate, factor",
        lambda v: iterate(number(), "y", LinearRecursion(ZERO, sp.sympify(v), ONE), 2, size=1),
        "the factor of 'the recursion'",
    ),
    bounds_a_norm(
        "iterate, offset",
        lambda v: iterate(number(), "y", LinearRecursion(ZERO, ONE, sp.sympify(v)), 2, size=1),
        "the offset of 'the recursion'",
    ),
    bounds_a_norm(
        "iterate, size",
        lambda v: iterate(number(), "y", LinearRecursion(ZERO, HALF, HALF), 2, size=v),
        "the size of 'y'",
    ),
]

BOUNDS.append(
    bounds_a_norm(
        "line_at_zero, supremum",
        lambda v: line_at_zero(number(), "y", slope=1, order=2, supremum=v),
        "the supremum of 'y'",
    )
)
COUNTS = [
    is_whole("given, dim", lambda v: given("x", dim=v, size=1), "the dimension of 'x'", 1),
    is_whole("linear_map, dim", lambda v: linear_map(number(), "y", operator_norm=1, dim=v), "the dimension of 'y'", 1),
    is_whole("centre, count", lambda v: centre(number(), "y", count=v), "the count of 'y'", 1),
    is_whole("token, count", lambda v: token(number(), "y", place=0, count=v), "the count of 'y'", 1),
    is_whole("bilinear, dim", lambda v: bilinear(number(), number("y"), "xy", dim=v), "the dimension of 'xy'", 1),
    is_whole(
        "perturbed_map, dim",
        lambda v: perturbed_map(number(), "Ax", operator_norm=1, perturbation=1, dim=v),
        "the dimension of 'Ax'",
        1,
    ),
    is_whole(
        "perturbed_function, dim",
        lambda v: perturbed_function(number(), "F", lipschitz=1, size=1, dim=v),
        "the dimension of 'F'",
        1,
    ),
    is_whole("apply_to_pairs, count", lambda v: pairs(count=v), "the count of 's'", 1),
    Premise(
        "rotate, planes",
        lambda v: rotate(given("x", dim=v, size=1), "y"),
        (2, 4),
        (1, 3),
        "the half dimension of 'y' is .*; give a whole number",
        {sp.Symbol("n", integer=True, positive=True): ("the half dimension of 'y' is a whole number",)},
    ),
    is_whole("cut_softmax, most", lambda v: cut_softmax(MANY, "q", lost=HALF, most=v), "the most of 'q'", 1),
    is_whole("concentrate, count", lambda v: concentrate("k", count=v, slope=1), "the count of 'k'", 1),
    is_whole(
        "exclude, count", lambda v: exclude(number(), "out", count=v, lead=1, diameter=1), "the count of 'out'", 1
    ),
    is_whole(
        "accumulate, depth",
        lambda v: accumulate(number(), "y", factor=1, offset=0, depth=v, size=1),
        "the depth of 'y'",
        0,
    ),
    is_whole(
        "heads_as_matrix, keys",
        lambda v: heads_as_matrix(given("s", dim=2, norm=2, size=1), "w", sink=3, reach=1, keys=v),
        "the keys of 'w'",
        1,
    ),
    is_whole(
        "recur, depth", lambda v: recur(number(), "y", factor=HALF, offset=0, depth=v, size=1), "the depth of 'y'", 0
    ),
    is_whole(
        "contract, depth",
        lambda v: contract(number(), "y", factor=HALF, offset=0, depth=v, size=1),
        "the depth of 'y'",
        0,
        limit=True,
    ),
    is_whole(
        "converge, depth",
        lambda v: converge(number(), "y", quadratic=HALF, offset=0, depth=v, size=1),
        "the depth of 'y'",
        0,
        limit=True,
    ),
    is_whole(
        "gradient_descent, steps",
        lambda v: gradient_descent(number(), "g", step=HALF, smoothness=1, steps=v),
        "the steps of 'g'",
        1,
    ),
    is_whole(
        "iterate, depth",
        lambda v: iterate(number(), "y", LinearRecursion(ZERO, HALF, HALF), v, size=1),
        "the depth of 'y'",
        0,
    ),
]

WORDS = "give a finite real number"
NOT_FINITE = (sp.I, sp.nan, sp.oo)
FINITE = [
    Premise("concentrate, slope", lambda v: concentrate("k", count=2, slope=v), (1,), (sp.I, sp.nan, -sp.oo), WORDS),
    Premise("concentrate, gap", lambda v: concentrate("k", count=2, gap=v), (1,), (sp.I, sp.nan, -sp.oo), WORDS),
    Premise(
        "concentrate, gaps", lambda v: concentrate("k", count=3, gaps=lambda k: v * k), (1,), (sp.I, sp.nan), WORDS
    ),
    Premise(
        "exclude, lead", lambda v: exclude(number(), "out", count=2, lead=v, diameter=1), (-1, 1), NOT_FINITE, WORDS
    ),
    Premise("hard_max, margin", lambda v: hard_max(number(error=0), "q", margin=v), (1,), (sp.nan, sp.I), WORDS),
    Premise(
        "add, coefficient",
        lambda v: add(number(), number("y"), name="z", coefficients=(1, v)),
        (-2, 1),
        NOT_FINITE,
        WORDS,
    ),
    Premise("correct, sigma", lambda v: correct(number(), "C", sigma=v), (1,), (sp.nan, sp.I), WORDS),
    Premise(
        "apply_function, radius",
        lambda v: apply_function(number(), "f", eps=0, lipschitz=1, size=1, radius=v),
        (2,),
        (sp.nan, sp.I),
        WORDS,
    ),
    Premise(
        "line_at_zero, value",
        lambda v: line_at_zero(number(), "y", value=v, slope=1, order=2, supremum=1),
        (-1, 1),
        NOT_FINITE,
        WORDS,
    ),
    Premise(
        "line_at_zero, slope",
        lambda v: line_at_zero(number(), "y", slope=v, order=2, supremum=1),
        (-1, 1),
        NOT_FINITE,
        WORDS,
    ),
    Premise(
        "evolve, rate",
        lambda v: evolve(number(), "y", rate=v, offset=0, time=1, size=1),
        (-1, 1),
        NOT_FINITE,
        WORDS,
    ),
    Premise("heads_as_linear, sink", lambda v: heads_as_linear(number(), "q", sink=v), (-1, 1), NOT_FINITE, WORDS),
    Premise(
        "heads_as_matrix, sink",
        lambda v: heads_as_matrix(number(norm=Norm.TWO), "q", sink=v, reach=2, keys=1),
        (-1, 1),
        NOT_FINITE,
        WORDS,
    ),
]
POSITIVE = [
    Premise(
        "rms_normalise, the root mean square is positive",
        lambda v: rms_normalise(number(norm=Norm.TWO), "g", shift=v),
        (1,),
        (0,),
        "give shift > 0, or least > 0 and exact_least",
        {Q: ("the floor of 'g' is positive",)},
    ),
    Premise(
        "apply_function, radius is positive",
        lambda v: apply_function(number(), "f", eps=0, lipschitz=1, size=1, radius=v),
        (2,),
        (-1, 0),
        "the radius of 'f' is .*; give it > 0",
        {SIGN: ("the radius of 'f' is positive",)},
    ),
    Premise(
        "taylor, radius is positive",
        lambda v: taylor(number(), "f", suprema={1: 1}, size=1, radius=v),
        (2,),
        (-1, 0),
        "the radius of 'f' is .*; give it > 0",
        {SIGN: ("the radius of 'f' is positive",)},
    ),
    Premise(
        "gradient_descent, step is positive",
        lambda v: gradient_descent(number(), "g", step=v, smoothness=0, steps=2),
        (1,),
        (0, -1),
        "the step of 'g' is .*; give it > 0",
        {SIGN: ("the step of 'g' is positive",)},
    ),
]
PREMISES = [*BOUNDS, *COUNTS, *FINITE, *POSITIVE]
