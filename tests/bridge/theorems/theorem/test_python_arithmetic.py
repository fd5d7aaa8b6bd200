"""What Python rounds before exact arithmetic sees it refutes no theorem; a larger error still does."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import sympy as sp
import torch
from torch import Tensor

import boundsmith as bs
from bridge.questions.replaying import replay_witness
from bridge.theorems.record import Row, Verdict
from tests.bridge.theorems.theorem.test_rounding import step
from tests.bridge.theorems.theorem.theorems import averaged, compared, d, eta, n, row_of

rho = sp.Symbol("rho", positive=True)
THIRD = torch.full((3,), 1 / 3, dtype=torch.float64)
SIGNS = torch.tensor([1.0, 1.0, -1.0], dtype=torch.float64)

EXACT: dict[str, Callable[..., Tensor]] = {
    "1 / n": lambda x, n: (x * (1 / n)).sum(),
    "n ** -1": lambda x, n: (x * n**-1).sum(),
    "3 ** -n": lambda x, n: (x * 3**-n).sum() * 9,
    "(n % 2) / n": lambda x, n: (x * ((n % 2) / n)).sum(),
    "1 / (12 // (n + 1))": lambda x, n: (x * (1 / (12 // (n + 1)))).sum(),
    "1 / shape": lambda x: (x * (1 / x.shape[0])).sum(),
    "numel ** -1": lambda x: (x * x.numel() ** -1).sum(),
}
ROUNDED: dict[str, Callable[..., Tensor]] = {
    "1.0 / n": lambda x, n: (x * (1.0 / n)).sum(),
    "a third in the code": lambda x: (x * (1 / 3)).sum(),
    "1 / len": lambda x: (x * (1 / len(x))).sum(),
    "math.sqrt": lambda x, n: (x / math.sqrt(n)).sum() / torch.sqrt(torch.tensor(n)),
    "a float power": lambda x, n: (x * float(n) ** -0.5).sum() * torch.sqrt(torch.tensor(n)) / n,
    "0.1 * n": lambda x, n: (x * (0.1 * n)).sum() * 10 / n**2,
    "a tensor of the module": lambda x: (x * THIRD).sum(),
    "a list": lambda x, n: (x * torch.tensor([1.0 / n] * 3, dtype=torch.float64)).sum(),
    "1 minus almost nothing": lambda x: x.mean() * (1 - math.exp(-40)) / (1 - torch.exp(torch.tensor(-40))),
}


def the_row(theorem: bs.Theorem) -> Row:
    return row_of(compared(theorem), "mean")


@pytest.mark.parametrize("network", EXACT.values(), ids=list(EXACT))
def test_an_identity_by_exact_python_is_kept(network: Callable[..., Tensor]) -> None:
    row = the_row(averaged(network=network))
    assert row.verdict == {"derived": Verdict.KEPT, "instance": Verdict.KEPT}
    assert row.exact is not None
    assert row.exact < 1e-25


@pytest.mark.parametrize("network", ROUNDED.values(), ids=list(ROUNDED))
def test_an_identity_that_python_rounds_is_undecided_and_the_remark_says_what_to_write(
    network: Callable[..., Tensor],
) -> None:
    row = the_row(averaged(network=network))
    assert row.verdict == {"derived": Verdict.UNDECIDED, "instance": Verdict.UNDECIDED}
    assert row.witness is None
    assert row.exact is not None
    assert 1e-20 < row.exact < 1e-15
    assert row.remark.startswith("derived, instance: error and bound differ by no more than what Python")
    assert "torch.sqrt(torch.tensor(2))" in row.remark


def planted(network: Callable[..., Tensor], error: float) -> Callable[..., Tensor]:
    """The network, wrong by that share."""
    if "n" in network.__code__.co_varnames:
        return lambda x, n: network(x, n) * (1 + torch.tensor(error, dtype=torch.float64))
    return lambda x: network(x) * (1 + torch.tensor(error, dtype=torch.float64))


@pytest.mark.parametrize("network", ROUNDED.values(), ids=list(ROUNDED))
def test_an_error_of_1e_12_beside_the_rounding_is_violated(network: Callable[..., Tensor]) -> None:
    theorem = averaged(network=planted(network, 1e-12))
    row = the_row(theorem)
    assert row.verdict == {"derived": Verdict.VIOLATED, "instance": Verdict.VIOLATED}
    assert row.witness is not None
    assert replay_witness(row.witness, "", theorem).verdict == row.verdict


TINY_ERRORS: dict[str, tuple[Callable[..., Tensor], Callable[..., Tensor]]] = {
    "no float": (lambda x, n: x.sum() / n, lambda x, n: x.sum() / n + x.sum() / n**38),
    "short decimals": (lambda x: 0.5 * x.sum() * 2.0, lambda x: x.sum() * (1 + 1 / torch.tensor(2**60))),
    "arrays of signs": (lambda x: (x * SIGNS).sum(), lambda x: x[0] + x[1] - x[2] + 1e-20 * x[0]),
}


@pytest.mark.parametrize(("network", "reference"), TINY_ERRORS.values(), ids=list(TINY_ERRORS))
def test_exact_functions_are_refuted_by_any_error(
    network: Callable[..., Tensor], reference: Callable[..., Tensor]
) -> None:
    row = the_row(averaged(network=network, reference=reference))
    assert row.verdict == {"derived": Verdict.VIOLATED, "instance": Verdict.VIOLATED}
    assert row.exact is not None
    assert row.exact < 1e-17


def third(error: Any, **more: Any) -> bs.Theorem:
    """A network that errs by exactly 1/3."""
    arguments: dict[str, Any] = {"parameters": {n: 3, d: 2}, "inputs": {"x": bs.domains.Box(d)}, **more}
    network, reference = lambda x: x + torch.tensor(1) / 3, lambda x: x
    given = bs.rules.given("mean", dim=d, size=1, error=error)
    return bs.theorem("third", given, network=network, reference=reference, **arguments)


SIDES: dict[str, tuple[Callable[[float], bs.Theorem], str]] = {
    "a letter of the network": (lambda by: third(rho, worst={rho: 1}, knows={rho: lambda n: by * 1.0 / n}), "instance"),
    "a printed float": (lambda by: third(1, printed={"mean": by / 3}), "printed"),
    "a float in the derivation": (lambda by: third(by / 3), "derived"),
    "a worst case": (lambda by: third(rho, worst={rho: by / 3}), "derived"),
}


@pytest.mark.parametrize(("of_share", "tier"), SIDES.values(), ids=list(SIDES))
def test_a_bound_that_python_rounds_is_refuted_beyond_its_rounding_only(
    of_share: Callable[[float], bs.Theorem], tier: str
) -> None:
    """The floats next to 1/3 and below."""
    for share, verdict in ((1.0, Verdict.UNDECIDED), (1 - 1e-12, Verdict.VIOLATED), (1 + 1e-12, Verdict.KEPT)):
        row = the_row(of_share(share))
        assert row.verdict[tier] is verdict, share


def test_a_letter_at_a_prompt_that_python_rounds() -> None:
    knows = {rho: lambda x, n: (x * 0 + 1.0 / n).amax()}
    comparison = compared(third(rho, worst={rho: 1}, knows=knows))
    row = row_of(comparison, "mean", "prompt")
    assert row.verdict == {"instance": Verdict.UNDECIDED}
    assert row.remark.startswith("instance: error and bound differ by no more")


def test_what_is_built_and_weights_by_formula_are_rounded_too() -> None:
    def network(x: Tensor, a: Any) -> Tensor:
        return (x * a).sum()

    def share(n: int) -> Tensor:
        return torch.full((n,), 1 / n, dtype=torch.float64)

    for more in ({"built": {"a": share}}, {"built": {"a": lambda n: 1.0 / n}}, {"weights": {"a": share}}):
        assert the_row(averaged(network=network, **more)).verdict["derived"] is Verdict.UNDECIDED


def test_what_is_built_keeps_the_precision_of_the_run() -> None:
    theorem = averaged(
        network=lambda x, c: x.sum() * (c / 3), reference=lambda x: x.mean() / 4, built={"c": lambda n: n / 12}
    )
    assert the_row(theorem).verdict["derived"] is Verdict.KEPT


def test_a_branch_that_rounding_leaves_open_refutes_nothing() -> None:
    def network(x: Tensor, n: int) -> Tensor:
        mean = x.sum() * (1 / 3)
        return mean if torch.tensor(n) / 10 <= 0.1 * n else 2 * mean

    assert the_row(averaged(network=network)).verdict["derived"] is Verdict.UNDECIDED


def test_a_drawn_weight_is_the_float_that_the_witness_stores() -> None:
    def share(seed: int, n: int) -> Tensor:
        return torch.full((n,), 1 / n + seed, dtype=torch.float64)

    row = the_row(averaged(network=lambda x, a: (x * a).sum(), weights={"a": share}))
    assert row.verdict["derived"] is Verdict.VIOLATED


@pytest.mark.parametrize(
    "scale",
    [
        lambda eta, n: eta * (1.0 / n),
        lambda eta, n: 0.1 / float(n),
        lambda eta, n: torch.tensor([[0.1 / 3]], dtype=torch.float64),
    ],
    ids=["a factor", "a quotient of floats", "a matrix"],
)
def test_a_weight_of_a_transformer_that_python_rounds(scale: Callable[[Any, Any], Any]) -> None:
    (row,) = compared(step(scale))
    assert row.verdict["derived"] is Verdict.UNDECIDED
    (row,) = compared(step(lambda eta, n: scale(eta, n) * (1 + 1e-11)))
    assert row.verdict["derived"] is Verdict.VIOLATED


def test_a_float_parameter_is_the_float_that_it_is_on_both_sides() -> None:
    theorem = averaged(parameters={n: 3, eta: 0.1}, network=lambda x, eta: x.mean() * (eta * 10))
    row = the_row(theorem)
    assert row.verdict["derived"] is Verdict.VIOLATED  # 0.1 is not 1/10
    kept = averaged(parameters={n: 3, eta: 0.1}, network=lambda x, eta: x.mean() * eta / eta)
    assert the_row(kept).verdict["derived"] is Verdict.KEPT
