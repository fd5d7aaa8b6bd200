"""Statements that hold on a domain alone, where floating point meets it up to a tolerance only."""

from collections.abc import Callable
from typing import Any

import pytest
import sympy as sp
import torch
from torch import Tensor

import boundsmith as bs
from bridge.questions.replaying import replay_witness
from bridge.theorems.record import Row, Verdict
from tests.bridge.theorems.theorem.theorems import averaged, compared, n, row_of

rho = sp.Symbol("rho", positive=True)
THIRD = sp.Rational(1, 3)
Numbers = Callable[..., Tensor]

# What is the same number at every element of the domain.
IDENTITIES: dict[str, tuple[bs.domains.Domain, Numbers, Numbers]] = {
    "simplex": (bs.domains.Simplex(n), lambda x: x.sum(), lambda: torch.ones((), dtype=torch.float64)),
    "sphere": (bs.domains.Sphere(n), lambda x: (x * x).sum(), lambda: torch.ones((), dtype=torch.float64)),
    "a radius that is not a float": (
        bs.domains.Sphere(n, radius=sp.sqrt(n)),
        lambda x: torch.linalg.vector_norm(x),
        lambda n: torch.sqrt(torch.tensor(n)),
    ),
    "signs of a size that is not a float": (
        bs.domains.Signs(n, size=THIRD),
        lambda x: x.abs().amax(),
        lambda: torch.tensor(1) / 3,
    ),
    "rows": (bs.domains.Rows(2, bs.domains.Simplex(n)), lambda x: x.sum(), lambda: torch.tensor(2)),
    "joined": (
        bs.domains.Concatenated(bs.domains.Simplex(n), bs.domains.Sphere(n)),
        lambda x, n: (x[n:] * x[n:]).sum() - x[:n].sum(),
        lambda: torch.zeros((), dtype=torch.float64),
    ),
    "orthogonal rows": (
        bs.domains.SingularValues(n, n + 2, low=1, high=1),
        lambda x: (x @ x.mT)[0, 1],
        lambda: torch.zeros((), dtype=torch.float64),
    ),
    "singular values": (
        bs.domains.SingularValues(n + 1, n, low=THIRD, high=THIRD),
        lambda x: (x * x).sum(),
        lambda n: torch.tensor(n) / 9,
    ),
}


def on(domain: bs.domains.Domain, network: Numbers, reference: Numbers, **more: Any) -> bs.Theorem:
    return averaged(inputs={"x": domain}, network=network, reference=reference, **more)


def the_row(theorem: bs.Theorem, **settings: Any) -> Row:
    return row_of(compared(theorem, **settings), "mean")


@pytest.mark.parametrize(("domain", "left", "right"), IDENTITIES.values(), ids=list(IDENTITIES))
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_an_identity_on_the_domain_is_kept(
    domain: bs.domains.Domain, left: Numbers, right: Numbers, dtype: str
) -> None:
    row = the_row(on(domain, left, right), dtype=dtype)
    assert row.verdict == {"derived": Verdict.KEPT, "instance": Verdict.KEPT}
    assert row.exact is not None
    assert row.exact < 1e-25


@pytest.mark.parametrize(("domain", "left", "right"), IDENTITIES.values(), ids=list(IDENTITIES))
def test_a_difference_of_1e_20_at_its_elements_is_violated(
    domain: bs.domains.Domain, left: Numbers, right: Numbers
) -> None:
    takes_n = "n" in left.__code__.co_varnames
    network = (lambda x, n: left(x, n) + 1e-20) if takes_n else (lambda x: left(x) + 1e-20)
    theorem = on(domain, network, right)
    row = the_row(theorem)
    assert row.verdict == {"derived": Verdict.VIOLATED, "instance": Verdict.VIOLATED}
    assert row.exact == pytest.approx(1e-20)
    assert replay_witness(row.witness, "", theorem).verdict == row.verdict


def test_a_drawn_weight_is_an_element_of_its_domain() -> None:
    theorem = averaged(
        network=lambda x, w: x[0] * (w * w).sum(), reference=lambda x: x[0], weights={"w": bs.domains.Sphere(n)}
    )
    assert the_row(theorem).verdict["derived"] is Verdict.KEPT


def test_letters_are_those_of_elements() -> None:
    """An error of exactly rho = 1, which the instance reads off a weight or an input on the sphere."""
    given = bs.rules.given("mean", dim=1, size=1, error=rho)
    for knows in (lambda w: (w * w).sum(), lambda x: (x * x).sum()):
        theorem = bs.theorem(
            "letters",
            given,
            parameters={n: 3},
            inputs={"x": bs.domains.Sphere(n)},
            weights={"w": bs.domains.Sphere(n)},
            network=lambda x, w: x[0] + 1,
            reference=lambda x, w: x[0],
            worst={rho: 1},
            knows={rho: knows},
        )
        for row in compared(theorem):
            assert set(row.verdict.values()) == {Verdict.KEPT}


def doubling() -> bs.networks.Construction:
    """One token x: x + <x, x> x = 2 x on the sphere."""
    stream = bs.networks.Stream([bs.networks.Block("x", 3)])
    same = bs.networks.BlockMap(stream, stream, {("x", "x"): 1.0})
    layer = bs.networks.LinearAttention((bs.networks.Head("sum", same, same, same),), residual=True)
    return bs.networks.Construction.of("sum", stream, layer)


def doubled(**more: Any) -> bs.Theorem:
    inputs, network = {"x": bs.domains.Rows(1, bs.domains.Sphere(n))}, bs.Transformer(build=doubling, **more)
    return averaged(inputs=inputs, network=network, reference=lambda x: 2 * x[0, :1])


def test_the_tokens_of_a_transformer_are_elements() -> None:
    for more in (
        {"read": {"mean": lambda output: output[:1]}},
        {"read": lambda output: output[:1], "tokens": lambda x: [{"x": x}]},  # laid out by the blocks of the stream
    ):
        assert the_row(doubled(**more)).verdict["derived"] is Verdict.KEPT
