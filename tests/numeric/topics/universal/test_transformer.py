"""The transformer of li2025, A.4.3: its matrices beside the printed, its runs beside (11) and the iterates."""

from typing import NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor

from numeric.networks.blocks import Products, Queries
from numeric.networks.exact import run_exact
from numeric.networks.layers import AttentionKind, FeedForward, LogisticAttention
from numeric.networks.network import Network
from numeric.networks.shared_blocks import SharedNetwork
from numeric.networks.stream import StreamError
from numeric.topics.universal import lasso
from numeric.topics.universal import transformer as own
from numeric.topics.universal.proximal import objective

LAM, TAU_FF = 0.05, 8.0


def data(N: int, n: int, d: int = 2, seed: int = 0) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """x (N + 1, d) in the ball, y (N) of |y| <= 1, directions (n, d) and t (n)."""
    generator = torch.Generator().manual_seed(seed)
    x, u = (torch.randn(rows, d, generator=generator, dtype=torch.float64) for rows in (N + 1, n))
    x = x / (1 + torch.linalg.vector_norm(x, dim=1, keepdim=True))
    u = u / torch.linalg.vector_norm(u, dim=1, keepdim=True)
    y = torch.sin(3 * x[:-1, 0]) * (1 - torch.rand(N, generator=generator, dtype=torch.float64) / 4)
    return x, y, u, 3 * torch.rand(n, generator=generator, dtype=torch.float64) - 2


class Temperatures(NamedTuple):
    tau_1: float
    tau_2: float


def network_of(u: Tensor, t: Tensor, at: Temperatures, N: int, L: int, *, printed: bool = False):
    return own.transformer(own.LassoSetting(u, t, TAU_FF, LAM, 1 / (2 * len(t)), *at, N=N, printed=printed), L)


AT = Temperatures(2.0, 2.0**12)


# The printed matrices, by the paper's indices.


def rows(first: int, last: int) -> slice:
    return slice(first - 1, last)


def printed_matrices(u: np.ndarray, t: np.ndarray, eta: float, at: Temperatures) -> dict[str, list[np.ndarray]]:
    """(116), (122), the tables of Attn1 and Attn2; each head as (Q, K, V)."""
    n, d = u.shape
    D = d + 2 * n + 7

    def zeros() -> np.ndarray:
        return np.zeros((D, D))

    identity, phi, rho = np.eye(n + 1), rows(d + 4, d + n + 4), rows(d + n + 5, d + 2 * n + 5)
    W0, U0 = zeros(), zeros()
    for k, side in enumerate((1, -1)):
        W0[k * (n + 1) : k * (n + 1) + n, :d] = TAU_FF * u
        W0[k * (n + 1) : k * (n + 1) + n, d] = -t * TAU_FF + side * 0.5
        W0[k * (n + 1) + n, d] = side
    W0[2 * n + 2, d] = LAM
    U0[phi, : 2 * n + 2] = np.hstack([identity, -identity])
    U0[d + 2 * n + 5, 2 * n + 2] = 1
    V1, Q1, K1, Q2, K2, Q3, K3 = (zeros() for _ in range(7))
    V1[rho, phi] = 8 * at.tau_1 * identity
    Q1[0, d + 1], K1[0, d] = eta / at.tau_1, 1
    Q2[: n + 1, phi], K2[: n + 1, rho] = eta / at.tau_1 * identity, identity
    Q3[0, d], Q3[0, d + 2], K3[0, D - 1] = eta / at.tau_1, -eta / at.tau_1, 1
    W1, U1 = zeros(), zeros()
    W1[: n + 1, rho], W1[: n + 1, d + 2 * n + 5] = identity, eta
    W1[n + 1 : 2 * n + 2, rho], W1[n + 1 : 2 * n + 2, d + 2 * n + 5] = identity, -eta
    W1[2 * n + 2, d + 2 * n + 5], W1[2 * n + 3, D - 1], W1[2 * n + 4, D - 1] = eta, 1, -1
    U1[rho, : 2 * n + 3] = np.hstack([-identity, identity, np.ones((n + 1, 1))])
    U1[D - 1, 2 * n + 3 : 2 * n + 5] = -1, 1
    V, Q, K = zeros(), zeros(), zeros()
    V[D - 1, d], V[D - 1, d + 2] = 4 * at.tau_2, -4 * at.tau_2
    Q[: n + 1, phi], K[: n + 1, rho] = identity / at.tau_2, identity
    return {
        "Attn0": [zeros(), zeros(), zeros()],
        "FF0": [W0, U0],
        "Attn1": [Q1, K1, V1, Q2, K2, -V1, Q3, K3, V1, zeros(), zeros(), -V1],
        "FF1": [W1, U1],
        "Attn2": [Q, K, V, zeros(), zeros(), -V],
        "FF2": [zeros(), zeros()],
    }


def materialised(layer: AttentionKind | FeedForward) -> list[np.ndarray]:
    if isinstance(layer, FeedForward):
        return [layer.inner.dense(), layer.outer.dense()]
    D = layer.source.width
    maps = [m for head in layer.heads for m in (head.key, head.query, head.value)]
    return [np.zeros((D, D)) if m is None else m.dense() for m in maps]


@pytest.mark.parametrize("printed", [True, False])
def test_the_materialised_matrices_are_the_printed_ones_but_for_n_in_v_of_attn2(printed):
    _, _, u, t = data(5, 3)
    matrices = printed_matrices(u.numpy(), t.numpy(), 1 / 6, AT)
    for place in () if printed else (2, 5):
        matrices["Attn2"][place] *= 5
    layers = network_of(u, t, AT, 5, 3, printed=printed).layers
    for (name, expected), layer in zip(matrices.items(), layers, strict=True):
        found = materialised(layer)
        assert [m.shape for m in found] == [(2 + 6 + 7,) * 2] * len(expected), name
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-15, atol=0, err_msg=name)


# Runs.


def literal(matrices: dict[str, list[np.ndarray]], H: np.ndarray, N: int, T: int, factor: int) -> np.ndarray:
    """(11)-(15) with (N + 1) x (N + 1) attention; V of Attn2 times `factor`."""

    def attention(H: np.ndarray, heads: list[np.ndarray], factor: float = 1) -> np.ndarray:
        return H + sum(
            factor * V @ H @ (1 / (1 + np.exp(-(Q @ H).T @ (K @ H)))) / N
            for Q, K, V in zip(heads[::3], heads[1::3], heads[2::3], strict=True)
        )

    def feed_forward(H: np.ndarray, W: np.ndarray, U: np.ndarray) -> np.ndarray:
        return H + U @ np.maximum(W @ H, 0)

    H = feed_forward(attention(H, matrices["Attn0"]), *matrices["FF0"])
    for _ in range(T):
        H = feed_forward(attention(H, matrices["Attn1"]), *matrices["FF1"])
        H = feed_forward(attention(H, matrices["Attn2"], factor), *matrices["FF2"])
    return H


def input_matrix(x: Tensor, y: Tensor, n: int) -> np.ndarray:
    """(57)."""
    N = len(y)
    ones = np.ones((1, N + 1))
    y_0, w = np.append(y.numpy(), 0)[None], np.append(np.ones(N), 0)[None]
    return np.vstack([x.numpy().T, ones, y_0, w, np.zeros((2 * n + 4, N + 1))])


@pytest.mark.parametrize("printed", [False, True])
def test_structured_equals_literal_attention_to_1e_12(printed):
    N, n, T = 64, 16, 10
    x, y, u, t = data(N, n)
    expected = literal(printed_matrices(u.numpy(), t.numpy(), 1 / (2 * n), AT), input_matrix(x, y, n), N, T,
                       1 if printed else N)  # fmt: skip
    found = SharedNetwork(network_of(u, t, AT, N, 2 * T + 1, printed=printed)).run(own.tokens(x, y)[None])
    by_block = torch.cat([found["phi"], found[f"rho[{T}]"], found["lambda"], found[f"y_hat[{T}]"]], -1)[0]
    scale = torch.cat(
        [torch.ones(2 * n + 3, dtype=torch.float64), torch.tensor([AT.tau_2], dtype=torch.float64)]
    )  # y_hat adds up numbers of that size
    assert ((by_block - torch.tensor(expected[5:].T)).abs() / scale).max() < 1e-12
    assert found["output"][0, -1, 0] == found[f"y_hat[{T}]"][0, -1, 0]


@pytest.mark.parametrize("dense", [False, True])
def test_shared_blocks_give_what_the_network_gives(dense):
    x, y, u, t = data(20, 7, d=3)
    construction = network_of(u, t, Temperatures(0.7, 900.0), 20, 7)
    prompts = torch.stack([own.tokens(x, y), own.tokens(x.flip(0), -y)])
    one, other = Network(construction, dense=dense).run(prompts), SharedNetwork(construction).run(prompts)
    assert one.keys() == other.keys()
    for name in one:
        torch.testing.assert_close(one[name], other[name], rtol=1e-10, atol=1e-10)


def test_shared_blocks_are_those_that_all_tokens_share():
    x, y, u, t = data(20, 7)
    construction = network_of(u, t, AT, 20, 3)
    network = SharedNetwork(construction)
    source = construction.source
    blocks = {name: own.tokens(x, y)[None][..., source.slice(name)] for name in source.names}
    blocks["one"] = torch.ones(1, 1, 1, dtype=torch.float64)
    for number in range(1, len(construction.layers) + 1):
        blocks, _ = network.blocks.step(number, blocks, Queries(0, 21), Products(), changes=False)
    tokens = {name: block.shape[1] for name, block in blocks.items()}
    assert tokens == {"x": 21, "one": 1, "y": 21, "w": 21, "phi": 21, "rho": 1, "lambda": 1, "y_hat": 1}


def test_balls_contain_the_float_run_up_to_rounding():
    N, n, T = 8, 8, 10
    x, y, u, t = data(N, n)
    construction = network_of(u, t, AT, N, 2 * T + 1)
    exact = run_exact(construction, own.tokens(x, y).numpy(), bits=160)
    found = SharedNetwork(construction).run(own.tokens(x, y)[None])
    for name in (f"rho[{T}]", f"y_hat[{T}]"):
        assert float(max(ball.rad() for ball in exact[name].balls)) < 1e-25
        assert (torch.tensor(exact[name].midpoint()) - found[name][0]).abs().max() < 1e-10


# Beside the iterates, computed directly.


def residuals(N: int, n: int, T: int, at: Temperatures, dtype=torch.float64):
    """The largest |e_t| and |e~_t| over all blocks, and the bounds at the network's own iterates."""
    x, y, u, t = data(N, n)
    phi, eta = own.ramp_features(x, u, t, TAU_FF), 1 / (2 * n)
    taps = [f"{name}[{number}]" for name in ("rho", "y_hat") for number in range(1, T + 1)]
    found = SharedNetwork(network_of(u, t, at, N, 2 * T + 1), dtype).run(own.tokens(x, y).to(dtype)[None], taps)
    rho = [
        torch.zeros(n + 1, dtype=torch.float64),
        *(found[f"rho[{number}]"][0, 0].double() for number in range(1, T + 1)),
    ]
    y_hat = [float(found[f"y_hat[{number}]"][0, 0, 0]) for number in range(1, T + 1)]
    steps = [own.soft_threshold(own.gradient_step(each, phi[:-1], y, eta), eta * LAM) for each in rho[:-1]]
    e = max(float((after - step).abs().max()) for after, step in zip(rho[1:], steps, strict=True))
    e_hat = max(abs(value - float(phi[-1] @ each)) for value, each in zip(y_hat, rho[1:], strict=True))
    size = max(float(each.abs().sum()) for each in rho)
    Y = float(y.abs().max())
    step_bound = eta**3 * (Y**3 + size**3) / (6 * at.tau_1**2) + eta * size**3 / (6 * N * at.tau_2**2)
    return e, e_hat, step_bound, size**3 / (12 * at.tau_2**2)


@pytest.mark.parametrize("decade", range(6))
def test_every_block_is_within_its_residual_for_temperatures_over_six_decades(decade):
    N, n, T = 1024, 256, 200
    at = Temperatures(10.0**decade / 1000, 10.0**decade)
    e, e_hat, bound, bound_hat = residuals(N, n, T, at)
    rounding = torch.finfo(torch.float64).eps
    assert e <= bound + 64 * rounding * at.tau_1
    assert e_hat <= bound_hat + 64 * rounding * at.tau_2
    if decade < 3:  # beyond, rounding shows
        assert e > bound / 1e4
        assert e_hat > bound_hat / 1e4


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_low_precision_adds_its_rounding(dtype):
    N, n, T = 256, 64, 50
    unit, eta = torch.finfo(dtype).eps, 1 / (2 * n)
    at = Temperatures(eta * unit ** (-1 / 3), unit ** (-1 / 3))
    e, e_hat, bound, bound_hat = residuals(N, n, T, at, dtype)
    assert e <= bound + 64 * unit * (at.tau_1 + 1)
    assert e_hat <= bound_hat + 64 * unit * (at.tau_2 + 1)
    assert e > bound  # it does show


def test_the_proximal_path_solves_the_lasso():
    x, y, u, t = data(40, 4)
    phi = own.ramp_features(x, u, t, TAU_FF)[:-1]
    steps, more = (own.proximal_path(phi, y, 1 / 8, LAM, T) for T in (3, 3000))
    assert lasso.duality_gap(phi, y, more, LAM) < 1e-10
    assert objective(phi, y, steps, LAM) > (1 + 1e-3) * objective(phi, y, more, LAM)


# Refusals.


@pytest.mark.parametrize("L", [4, 0, -1])
def test_layers_that_are_no_blocks_are_refused(L):
    with pytest.raises(StreamError, match="L = 4: an even number of layers. Take L = 2T" if L > 0 else "no layers"):
        own.blocks_of(L)


def test_a_query_alone_is_refused_by_the_attention():
    _, _, u, t = data(3, 2)
    construction = network_of(u, t, AT, 3, 3)
    runs = Network(construction).run, SharedNetwork(construction).run, lambda z: run_exact(construction, z[0].numpy())
    for run in runs:
        with pytest.raises(StreamError, match="empty prompt"):
            run(torch.zeros(1, 1, 4, dtype=torch.float64))


def test_tokens_of_another_width_are_refused():
    _, _, u, t = data(3, 2)
    with pytest.raises(StreamError, match="Give \\(batch, length, 4\\)"):
        SharedNetwork(network_of(u, t, AT, 3, 3)).run(torch.zeros(1, 4, 9, dtype=torch.float64))
    assert all(isinstance(layer, LogisticAttention | FeedForward) for layer in network_of(u, t, AT, 3, 3).layers)
