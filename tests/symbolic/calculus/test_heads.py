"""Heads beside a sink in place of linear maps: the ratio of bound to error, the orders in c, a sink that will do."""

import mpmath as mp
import numpy as np
import pytest
import sympy as sp

from symbolic.calculus import DerivationError, given, heads_as_linear
from tests.symbolic.fuzzing.softmax_moves import scaled_weights

KINDS = ("none", "constant", "opposite")
r, C = sp.symbols("r C", positive=True)
n = sp.Symbol("n", integer=True, positive=True)


def bound(kind: str, size: float, count: int, sink: float) -> float:
    return float(heads_as_linear(given("s", dim=count, size=size), "w", sink=sink, second=kind).error)


def largest_error(kind: str, size: float, count: int, sink: float) -> float:
    """Over one key anywhere and the others at an end of the range or at 0."""
    own, others = np.meshgrid(np.linspace(-size, size, 81), [-size, 0, size])
    scores = np.concatenate([own[..., None], np.broadcast_to(others[..., None], (*own.shape, count - 1))], -1)
    weights = scaled_weights(scores, sink, kind)
    return float(abs(weights - scores - (kind == "none")).max())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [0.05, 0.3, 1.0])
@pytest.mark.parametrize("count", [1, 2, 10])
@pytest.mark.parametrize(("share", "most"), [(1e-3, 1.11), (1 / 12, 6.0)])
def test_the_known_ratio_is_not_exceeded(kind: str, size: float, count: int, share: float, most: float) -> None:
    sink = float(np.log(count / (share * size**2)))
    ratio = bound(kind, size, count, sink) / largest_error(kind, size, count, sink)
    assert 1 - 1e-9 <= ratio <= most


def test_the_known_ratio_is_reached() -> None:
    sink = float(np.log(1e3))
    assert bound("constant", 1.0, 1, sink) / largest_error("constant", 1.0, 1, sink) > 1.1


def test_what_is_left_of_the_exponential_and_of_sinh_is_bounded_as_stated() -> None:
    for x in (1e-6, 0.1, 1.0, 10.0):
        at = mp.mpf(x)
        assert mp.exp(at) - 1 - at <= at**2 * (2 + mp.exp(at)) / 6
        assert mp.sinh(at) - at <= at**3 * (9 + mp.cosh(at)) / 60


@pytest.mark.parametrize(("kind", "order"), [("none", 2), ("constant", 2), ("opposite", 3)])
def test_the_order_of_the_truncation(kind: str, order: int) -> None:
    ratio = bound(kind, 2e-3, 4, 60.0) / bound(kind, 1e-3, 4, 60.0)
    assert ratio == pytest.approx(2**order, rel=1e-2)


# Scores c z, |z| <= r, and weights over c: the sink has to be log(12 n / (c r)^2) high for the truncation to be all.
def test_a_sink_that_costs_nothing_follows_from_the_scores() -> None:
    weights = heads_as_linear(given("s", dim=n, size=r), "w", sink=sp.log(12 * n / r**2), second="opposite")
    truncation = r**3 * (9 + sp.cosh(r)) / 60
    for at in (1e-3, 0.1):
        assert float(weights.error.subs({r: at, n: 5})) <= 1.03 * float(truncation.subs(r, at))


def test_an_unknown_second_head_is_refused() -> None:
    with pytest.raises(DerivationError, match="second is 'both' for 'w'; give one of none, constant, opposite"):
        heads_as_linear(given("s", dim=2, size=1), "w", sink=3, second="both")


def test_a_sink_is_a_finite_number() -> None:
    with pytest.raises(DerivationError, match="the sink of 'w' is oo"):
        heads_as_linear(given("s", dim=2, size=1), "w", sink=sp.oo)
