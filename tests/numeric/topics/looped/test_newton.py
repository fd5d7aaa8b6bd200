"""The construction against the iteration itself: states, prediction, layers and heads, what the bounds depend on."""

import pytest
import torch
from torch import Tensor

from numeric.networks.network import Network
from numeric.topics.looped import newton

N, D, T = 8, 3, 5
C, TAU = 36.0, 32.0


def prompt(condition: float = 4.0) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(1)
    left, right = (torch.linalg.qr(torch.randn(n, D, generator=generator, dtype=torch.float64)).Q for n in (N, D))
    singular = torch.tensor([1.0, condition**-0.25, condition**-0.5], dtype=torch.float64)
    y, x = (torch.rand(n, generator=generator, dtype=torch.float64) - 0.5 for n in (N, D))
    return left * singular @ right, y, x


def loops(X: Tensor, alpha: float) -> list[Tensor]:
    """(4) as printed, M_k for k = 0 .. T."""
    S = X.mT @ X
    found = [alpha * S]
    for _ in range(T):
        found.append(2 * found[-1] - found[-1] @ S @ found[-1])
    return found


@pytest.mark.parametrize("alpha", [1.0, 1.7])
def test_the_reference_is_the_iteration(alpha: float) -> None:
    X, y, x = prompt()
    found = newton.reference(X, y, x, alpha, T)
    for k, M in enumerate(loops(X, alpha)):
        torch.testing.assert_close(found[f"m[{k}]"][0 : 2 * N : 2], X @ M)
        assert not found[f"m[{k}]"][1 : 2 * N : 2].any()
    torch.testing.assert_close(found["y_hat"][0], x @ loops(X, alpha)[-1] @ X.mT @ y)


def test_at_the_end_of_the_printed_interval_the_leading_eigenvector_is_lost() -> None:
    """alpha = 2/||S S^T||_2: M_1 v = 0, and so is all that follows."""
    X, y, x = prompt()
    v = torch.linalg.svd(X).Vh[0]
    found = newton.reference(X, y, x, 2.0, T)
    torch.testing.assert_close(found["m[0]"][0 : 2 * N : 2] @ v, 2 * X @ v)
    for k in range(1, T + 1):
        assert (found[f"m[{k}]"] @ v).abs().amax() < 1e-12


@pytest.mark.parametrize(("second", "c", "most"), [("constant", 1e-4, 4e-4), ("opposite", 1e-3, 2e-6)])
def test_the_network_is_newton_up_to_the_order_of_its_heads(second: str, c: float, most: float) -> None:
    X, y, x = prompt()
    network = Network(newton.transformer(N, D, T, 1.0, c, C, TAU, second))
    exact = newton.reference(X, y, x, 1.0, T)
    taps = network.run(newton.tokens(X, y, x)[None])
    for name in [f"m[{k}]" for k in range(T + 1)]:
        apart = torch.linalg.vector_norm(taps[name][0] - exact[name])
        assert 1e-3 * most < apart < most
        assert not taps[name][0, 1 : 2 * N : 2].any()
        assert not taps[name][0, -2:].any()
    assert abs(taps["y_hat"][0, -2] - exact["y_hat"]) < most
    torch.testing.assert_close(taps["labels"][0], exact["labels"], rtol=0, atol=1e-15)


def test_layers_and_heads_are_those_of_the_theorem() -> None:
    sizes = newton.transformer(N, D, T, 1.0, 1e-3, C, TAU, "constant").sizes
    assert {part: (size.layers, size.heads) for part, size in sizes.items()} == {
        "pre": (1, 2), "loop": (1, 2), "post": (2, 2)
    }  # fmt: skip


def test_scores_are_those_of_the_appendix() -> None:
    """c x_i^T M_0 x_j, 0 at labels and at the query x, C at the sink."""
    X, y, x = prompt()
    c = 1e-2
    construction = newton.transformer(N, D, 1, 1.0, c, C, TAU, "constant")
    layer = construction.loop[0]
    tokens = newton.tokens(X, y, x)
    assert tokens[:, construction.stream(0).slice("other")].flatten().tolist() == [0, 1] * N + [1, 1]
    tokens[0 : 2 * N : 2, construction.stream(0).slice("m")] = X @ loops(X, 1.0)[0]
    query, key = layer.heads[0].query, layer.heads[0].key
    Z = key.apply(tokens) @ query.apply(tokens).mT  # keys by queries
    torch.testing.assert_close(Z[0 : 2 * N : 2, 0 : 2 * N : 2], c * X @ loops(X, 1.0)[0] @ X.mT)
    assert not Z[1 : 2 * N : 2].any()
    assert not Z[:-1, 2 * N].any()
    assert (Z[-1] == C).all()


@pytest.mark.parametrize("condition", [1.0, 4.0, 472.0])
def test_the_least_eigenvalue_is_bounded_from_below(condition: float) -> None:
    X, _, _ = prompt(condition)
    S = X.mT @ X
    found = float(newton.least_eigenvalue(S))
    assert 1 / condition * D ** (-1 / 32) * (1 - 1e-9) <= found <= 1 / condition * (1 + 1e-9)
    assert found == pytest.approx(1 / condition, rel=0.04)


def test_leverages_are_those_of_the_projection() -> None:
    X, _, _ = prompt(9.0)
    torch.testing.assert_close(newton.leverages(X), (X @ torch.linalg.pinv(X)).diagonal())
