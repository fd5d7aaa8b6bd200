"""Weights that float64 does not hold: exact errors are free of their rounding, and the rounding is shown apart."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import boundsmith as bs
from bridge.instances.instance import Instance
from bridge.theorems.record import Verdict
from tests.bridge.theorems.theorem.theorems import averaged, compared, eta, n

TINY = 1e-25


def attention(eta: Any, n: Any, scale: Callable[[Any, Any], Any]) -> bs.networks.Construction:
    """Linear attention whose last token reads scale * sum_j y_j <x_j, x> in the place of y."""
    tokens, scores = (
        bs.networks.Stream([bs.networks.Block("x", 2), bs.networks.Block("y", 1)]),
        bs.networks.Stream([bs.networks.Block("x", 2)]),
    )
    match = bs.networks.BlockMap(tokens, scores, {("x", "x"): 1.0})
    value = bs.networks.BlockMap(tokens, tokens, {("y", "y"): scale(eta, n)})
    head = bs.networks.Head("step", match, match, value)
    return bs.networks.Construction.of("step", tokens, bs.networks.LinearAttention((head,), residual=True))


def tokens(X: Tensor, y: Tensor, x: Tensor) -> Tensor:
    examples = torch.cat([X, y[:, None]], 1)
    return torch.cat([examples, torch.cat([x, x.new_zeros(1)])[None]])


def step(scale: Callable[[Any, Any], Any] = lambda eta, n: eta / n, **defaults: Any) -> bs.Theorem:
    """The step of gradient descent from 0 by linear attention: an identity."""
    return bs.theorem(
        "step",
        bs.rules.given("step", dim=1, size=eta),
        parameters={eta: 0.1, n: 3, **defaults},
        inputs={"X": bs.domains.Box(n, 2), "y": bs.domains.Box(n), "x": bs.domains.Box(2)},
        network=bs.Transformer(
            build=lambda eta, n: attention(eta, n, scale),
            tokens=tokens,
            read={"step": lambda output: output[-1:]},
        ),
        reference=lambda X, y, x, eta: eta * (y * (X @ x)).mean()[None],
    )


def exact_error(theorem: bs.Theorem) -> float:
    """The upper end of the exact error at random inputs, at 128 bits."""
    instance = Instance.of(theorem, {})
    (name,) = instance.bounds.quantities
    return float(instance.runs.exact(instance.inputs.sample(1, 0), [name], 128)[name][0].abs_upper())


@pytest.mark.parametrize("make", [averaged, step])
def test_an_identity_has_no_exact_error_and_its_rounding_is_shown(make: Callable[[], bs.Theorem]) -> None:
    assert exact_error(make()) < TINY
    (row,) = compared(make(), samples=64)
    assert row.kind == "exact"
    assert row.verdict == {"derived": Verdict.KEPT, "instance": Verdict.KEPT}
    assert row.exact is not None
    assert row.exact < TINY
    assert row.rounding is not None
    assert 0 < row.rounding < 1e-15
    assert row.flags.get("measured") in (None, ["rounding dominates"], ["above a bound by rounding"])


def test_a_small_error_in_such_a_weight_is_violated() -> None:
    (row,) = compared(step(lambda eta, n: eta / n + 1e-12))
    assert row.verdict["derived"] is Verdict.VIOLATED
    assert row.witness is not None
    assert 1e-13 < row.witness.error_lower < 1e-11


def test_a_number_typed_in_the_build_is_the_float_that_it_is() -> None:
    """The parameter 0.1 over n is exact, whichever way it is typed; Python rounds the quotient of two numbers."""
    assert exact_error(step(lambda eta, n: eta * (1 / n))) < TINY
    assert exact_error(step(lambda eta, n: 0.1 * (1 / n))) < TINY
    assert 1e-20 < exact_error(step(lambda eta, n: 0.1 / 3)) < 1e-16


WHOLE: dict[str, Callable[[Any], Any]] = {
    "1 / n": lambda n: 1 / n,
    "(n + 1) / n - 1": lambda n: (n + 1) / n - 1,
    "n ** -1": lambda n: n**-1,
    "2 / (2 * n)": lambda n: 2 / (2 * n),
    "1 / (n + 4 - 4)": lambda n: 1 / (n + 4 - 4),
    "n / n ** 2": lambda n: n / n**2,
    "-1 / (-n)": lambda n: -1 / (-n),
}


@pytest.mark.parametrize("factor", WHOLE.values(), ids=list(WHOLE))
def test_quotients_of_whole_parameters_are_exact(factor: Callable[[Any], Any]) -> None:
    assert exact_error(averaged(network=lambda x, n: (x * factor(n)).sum())) < TINY


def test_whole_parameters_count_and_index_as_integers() -> None:
    def network(x: Tensor, n: int) -> Tensor:
        terms = [x[n - 1 - at] for at in range(n)]
        return torch.stack(terms)[:n].reshape(n, 1).sum() * (torch.ones(n, dtype=torch.float64) / n)[n // 2]

    assert exact_error(averaged(network=network)) < TINY


@pytest.mark.parametrize(("dtype", "coarse"), [("float32", 1e-6), ("bfloat16", 0.05)])
def test_in_low_precision_the_rounding_grows_and_the_verdict_stays(dtype: str, coarse: float) -> None:
    (row,) = compared(step(), dtype=dtype)
    assert row.verdict["derived"] is Verdict.KEPT
    assert row.exact is not None
    assert row.exact < TINY
    assert row.rounding is not None
    assert 1e-10 < row.rounding < coarse
    assert row.measured is not None
    assert row.measured > 1e-10
