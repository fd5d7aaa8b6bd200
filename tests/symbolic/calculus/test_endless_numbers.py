"""Whole numbers of any size, expressions that are no number: each rule answers or refuses, none is waited for."""

import inspect
import math
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
import sympy as sp

import boundsmith as bs
from symbolic.calculus.recursions import MOST_LAYERS
from symbolic.calculus.taylor import MOST_ORDER
from symbolic.derivations.derivation import DerivationError

SECONDS = 300
# Each rule with a letter for a whole number, and the call; what has to be in the answer.
PRELUDE = """
import sys
import sympy as sp
import boundsmith as bs
from symbolic import LinearRecursion
from symbolic.derivations.derivation import DerivationError
from symbolic.words.errors import UsageError
n, q = sp.Symbol("n", positive=True, integer=True), sp.Symbol("q", positive=True)
l, R = sp.Symbol("l", integer=True, nonnegative=True), sp.Rational(1, 3)
s = bs.rules.given("s", dim=n, size=2, norm=2, error=q)
one = bs.rules.given("t", dim=1, size=2, norm="inf", error=q)
small = bs.rules.given("t", dim=1, size=2, norm="inf", error=sp.Rational(1, 7))
B = int(sys.argv[1])
try:
    print(str(eval(sys.argv[2]))[:80])
except (DerivationError, UsageError) as error:
    print("refused:", error)
"""
CALLS = {
    "contract": "bs.rules.contract(s, 'c', factor=R, offset=q, size=2, depth=B)",
    "converge": "bs.rules.converge(s, 'c', quadratic=R, offset=q, size=2, depth=B)",
    "line_at_zero": "bs.rules.line_at_zero(s, 'c', slope=1, order=B, supremum=1)",
    "taylor": "bs.rules.taylor(s, 'c', size=2, suprema={1: 1, B: 1})",
    "recur": "bs.rules.recur(s, 'c', factor=R, offset=q, size=2, depth=B)",
    "accumulate": "bs.rules.accumulate(s, 'c', factor=1 + 1 / (l + 1), offset=(l + 1) ** 2, index=l, size=2, depth=B)",
    "accumulate, ceiling": "bs.rules.accumulate(s, 'c', factor=2, offset=1, size=2, depth=B, quadratic=1, ceiling=5)",
    "repeat": "bs.rules.repeat(s, 'c', lambda v: bs.rules.linear_map(v, 'w', operator_norm=2, dim=n), B)",
    "repeat, smaller": "bs.rules.repeat(s, 'c', lambda v: bs.rules.linear_map(v, 'w', operator_norm=R, dim=n), B)",
    "iterate": "bs.rules.iterate(s, 'c', LinearRecursion(q, sp.Integer(3), R), B, size=2)",
    "descend": "bs.rules.descend(one, 'c', decrease=R, offset=q, steps=B)",
    "gradient_descent": "bs.rules.gradient_descent(one, 'c', step=R, smoothness=1, steps=B)",
    "evolve": "bs.rules.evolve(s, 'c', rate=R, offset=q, time=B, size=2)",
    "expected_mean": "bs.rules.expected_mean(one, 'c', count=B, over='w', deviation=1, members=B)",
    "girsanov": "bs.rules.girsanov(s, 'c', start_time=2, end_time=1, steps=B, beyond=0, moment=q)",
    "cover": "bs.rules.cover(s, 'c', members=B, radius=1, lipschitz=1)",
    "union_bound": "bs.rules.union_bound(s, 'c', members=B)",
    "concentrate": "bs.rules.concentrate('c', count=B, gaps=lambda i: i)",
    "exclude": "bs.rules.exclude(s, 'c', count=B, lead=1, diameter=1)",
    "apply_to_pairs": "bs.rules.apply_to_pairs(s, s, 'c', count=B, slopes=(1, 1), size=2)",
    "centre": "bs.rules.centre(s, 'c', count=B)",
    "token": "bs.rules.token(s, 'c', place=-1, count=B)",
    "token, far": "bs.rules.token(s, 'c', place=B, count=n)",
    "change_norm": "bs.rules.change_norm(bs.rules.given('s', dim=B, size=2, norm=2, error=q), 1, 'v')",
    "stack": "bs.rules.stack(s, bs.rules.given('m', dim=n, size=2, norm=2, error=q * l), l, s, count=B, name='st')",
    "heads_as_matrix": "bs.rules.heads_as_matrix(s, 'c', sink=4, reach=1, keys=B)",
    "interpolate": "bs.formulas.interpolate(sp.tanh(q), q, 1, cells=B)",
}
COUNTS = {"depth", "order", "steps", "count", "members", "keys", "cells", "recursion", "layer"}
# Rules whose parameter of that name is no whole number, or one that costs nothing: a share, a premise.
ELSEWHERE = {
    *("bounded_iterates", "proximal_gradient", "sample_mean", "interpolate_covering", "terms_layer", "least_path"),
    *("confine", "recursion_from"),
}


@pytest.mark.parametrize("size", ["1000000000", "1000000000000000000"])
@pytest.mark.parametrize("rule", list(CALLS))
def test_no_whole_number_is_waited_for(rule: str, size: str) -> None:
    call = [sys.executable, "-c", PRELUDE, size, CALLS[rule]]
    ran = subprocess.run(call, capture_output=True, text=True, timeout=SECONDS)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip()


def test_every_rule_with_a_number_of_steps_is_among_the_calls() -> None:
    rules = {name: getattr(bs.rules, name) for name in bs.rules.__all__}
    counted = {name for name, rule in rules.items() if COUNTS & set(inspect.signature(rule).parameters)}
    assert counted - {call.split(",")[0] for call in CALLS} - ELSEWHERE == set()


S = bs.rules.given("s", dim=3, size=2, norm=2, error=sp.Symbol("q", positive=True))
X = sp.Symbol("x", positive=True)
LAYER = sp.Symbol("l", integer=True, nonnegative=True)


def far(depth: int) -> Any:
    return bs.rules.accumulate(S, "c", factor=1 + 1 / (LAYER + 1), offset=LAYER**2, index=LAYER, size=2, depth=depth)


REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: bs.rules.contract(S, "c", factor=sp.Rational(1, 3), offset=1, size=2, depth=10**9), "too many digits"),
    (
        lambda: bs.rules.repeat(S, "c", lambda v: bs.rules.linear_map(v, "w", operator_norm=2, dim=3), 10**18),
        "too many digits",
    ),
    (lambda: bs.rules.line_at_zero(S, "c", slope=1, order=MOST_ORDER + 1, supremum=1), f"at most {MOST_ORDER}"),
    (lambda: bs.rules.taylor(S, "c", size=2, suprema={1: 1, MOST_ORDER + 1: 1}), f"give 1, 2, ..., {MOST_ORDER}"),
    (lambda: far(MOST_LAYERS + 1), "keep the depth symbolic"),
    (lambda: bs.rules.given("s", dim=3, size=sp.O(X**2), norm=2), r"O\(x\*\*2\) stands for many values"),
    (lambda: bs.rules.given("s", dim=3, size=sp.AccumBounds(0, 1), norm=2), "stands for many values"),
    (lambda: bs.Event("e", over="the draw", share=math.nan), "Event: the share of 'e' is nan"),
    (lambda: bs.Event("e", over="the draw", share=sp.oo), "Event: the share of 'e' is oo"),
    (lambda: bs.rules.knob_for(1 / X, X, sp.oo), "knob_for: the accuracy of 'x' is oo"),
    (lambda: bs.rules.knob_for(1 / X, X, math.nan), "knob_for: the accuracy of 'x' is nan"),
    (
        lambda: bs.rules.cheapest_split({X: 1}, {X: 1}, sp.oo, power=1),
        "cheapest_split: the accuracy of 'the split' is oo",
    ),
    (lambda: bs.rules.repeat(S, "c", lambda _: None, 3), "repeat: the layer of 'c' returns None; return the value"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_what_has_no_answer_is_refused_in_a_sentence(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(DerivationError, match=message):
        call()


def test_up_to_the_limits_rules_answer() -> None:
    assert bs.rules.line_at_zero(S, "c", slope=1, order=MOST_ORDER, supremum=1).error.has(sp.Symbol("q", positive=True))
    assert far(MOST_LAYERS).error.has(sp.Product)
    assert bs.rules.contract(S, "c", factor=sp.Rational(1, 3), offset=1, size=2, depth=3).error.subs("q", 0) is not None


OTHER = sp.Symbol("p", positive=True)
DEEP = sp.Symbol("D", positive=True, integer=True)
NUMBER = bs.rules.given("s", dim=1, size=2, norm="inf", error=OTHER)
RECURSIONS: list[dict[str, Any]] = [
    {"factor": sp.Rational(1, 3), "offset": OTHER},
    {"factor": 1 + 1 / (LAYER + 1), "offset": (LAYER + 1) ** 2, "index": LAYER},
    {"factor": 1, "offset": (LAYER + 1) ** 2, "index": LAYER},
    {"factor": 1, "offset": 1 / (LAYER + 1), "index": LAYER},
    {"factor": 2, "offset": OTHER, "quadratic": 1, "ceiling": 5},
]
RULES: dict[str, Callable[[bs.Approximated, sp.Expr], bs.Approximated]] = {
    "given": lambda _, e: bs.rules.given("g", dim=1, size=e, norm="inf", error=e),
    "accumulate": lambda a, e: bs.rules.accumulate(a, "d", factor=1, offset=e * LAYER, index=LAYER, size=2, depth=DEEP),
    "accumulate, factor": lambda a, e: bs.rules.accumulate(a, "d", factor=e, offset=1, size=2, depth=DEEP),
    "recur": lambda a, e: bs.rules.recur(a, "d", factor=sp.Rational(1, 3), offset=e, size=e, depth=DEEP),
    "contract": lambda a, e: bs.rules.contract(a, "d", factor=sp.Rational(1, 3), offset=e, size=2, depth=DEEP),
    "converge": lambda a, e: bs.rules.converge(a, "d", quadratic=sp.Rational(1, 3), offset=e, size=2, depth=DEEP),
    "linear_map": lambda a, e: bs.rules.linear_map(a, "d", operator_norm=e, dim=1, bias=e),
    "perturbed_map": lambda a, e: bs.rules.perturbed_map(a, "d", operator_norm=2, perturbation=e, dim=1),
    "apply_function": lambda a, e: bs.rules.apply_function(a, "d", eps=e, lipschitz=e, size=2),
    "apply_to_pairs": lambda a, e: bs.rules.apply_to_pairs(a, NUMBER, "d", count=DEEP, slopes=(e, e), size=e, eps=e),
    "taylor": lambda a, e: bs.rules.taylor(a, "d", size=2, suprema={1: e}),
    "line_at_zero": lambda a, e: bs.rules.line_at_zero(a, "d", slope=1, order=2, supremum=e),
    "correct": lambda a, e: bs.rules.correct(a, "d", sigma=e),
    "add": lambda a, e: bs.rules.add(a, a, name="d", coefficients=(e, 1)),
    "centre": lambda a, _: bs.rules.centre(a, "d", count=DEEP),
    "append": lambda a, _: bs.rules.append(a, NUMBER, "d"),
    "token": lambda a, _: bs.rules.token(a, "d", place=-1, count=DEEP),
    "bilinear": lambda a, _: bs.rules.bilinear(a, NUMBER, "d"),
    "project": lambda a, e: bs.rules.project(a, "d", size=e, box=True),
    "evolve": lambda a, e: bs.rules.evolve(a, "d", rate=sp.Rational(1, 3), offset=e, time=1, size=2),
    "descend": lambda a, e: bs.rules.descend(a, "d", decrease=sp.Rational(1, 3), offset=e, steps=DEEP),
    "either": lambda a, e: bs.rules.either(a, sp.Lt(OTHER, e), NUMBER, name="d"),
    "soft_threshold": lambda a, e: bs.rules.soft_threshold(a, "d", threshold_error=e),
    "rms_normalise": lambda a, e: bs.rules.rms_normalise(
        bs.rules.change_norm(a, 2, "two"), "d", shift=e, least=e, exact_least=3 * e
    ),
    "rotate": lambda a, _: bs.rules.rotate(bs.rules.concatenate(a, NUMBER, name="two"), "d"),
    "log_softmax": lambda a, _: bs.rules.log_softmax(a, "d"),
    "cross_entropy": lambda a, e: bs.rules.cross_entropy(a, "d", others=e),
    "as_tokens": lambda a, _: bs.rules.as_tokens(a, NUMBER, name="d"),
    "cover": lambda a, e: bs.rules.cover(a, "d", members=3, radius=e, lipschitz=1),
    "girsanov": lambda a, e: bs.rules.girsanov(
        bs.rules.change_norm(a, 2, "two"), "d", start_time=2, end_time=1, steps=DEEP, moment=e, beyond=e
    ),
    "exclude": lambda a, e: bs.rules.exclude(a, "d", count=3, lead=e, diameter=1),
    "repeat": lambda a, e: bs.rules.repeat(
        a, "d", lambda v: bs.rules.linear_map(v, "w", operator_norm=1, dim=1, bias=e), DEEP
    ),
}


@pytest.mark.parametrize("recursion", range(len(RECURSIONS)))
@pytest.mark.parametrize("rule", list(RULES))
def test_errors_of_accumulated_layers_are_taken_by_every_rule(rule: str, recursion: int) -> None:
    value = bs.rules.accumulate(NUMBER, "c", **RECURSIONS[recursion], size=2, depth=DEEP)
    assert isinstance(RULES[rule](value, value.error), bs.Approximated)
