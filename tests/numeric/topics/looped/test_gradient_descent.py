"""The transformer of gradient descent: its states in balls and in floats beside the algorithm, token by token."""

import dataclasses

import pytest
import torch

from numeric.networks.exact import run_exact
from numeric.networks.feed_forward import require_ranges
from numeric.networks.loops import LoopSize
from numeric.networks.network import Network
from numeric.networks.shared_blocks import SharedNetwork
from numeric.networks.stream import StreamError
from numeric.topics.looped import gradient_descent as gd

N, D, M, T, ETA = 4, 2, 2, 3, 0.75
GENERATOR = torch.Generator().manual_seed(5)


def drawn(*shape: int) -> torch.Tensor:
    return torch.rand(*shape, generator=GENERATOR, dtype=torch.float64) - 0.5


X, Y = drawn(N + 1, D), drawn(N, M)
MLP = tuple((drawn(rows, columns), drawn(rows)) for rows, columns in ((5, D), (3, 5)))


def setting(c: float = 2.0**-10, **changes: object) -> gd.DescentSetting:
    at = gd.DescentSetting(N, D, M, ETA, c, 40.0, 32.0, 2.0, 1.0)
    return dataclasses.replace(at, **changes)


def states(at: gd.DescentSetting, x: torch.Tensor = X, y: torch.Tensor = Y) -> list[torch.Tensor]:
    """(A_k Phi(x_i) - y_i, ..., A_k Phi(x_test)) for k = 0 .. T, (N + 1, m) each, by the definition."""
    phi, A = gd.represented(x, at.representation, at.leak), None
    found = []
    for _ in range(T + 1):
        A = torch.zeros(M, phi.shape[1], dtype=torch.float64) if A is None else A - at.eta * sum(
            torch.outer(A @ phi[j] - y[j], phi[j]) for j in range(N)
        ) / N  # fmt: skip
        found.append(phi @ A.T - torch.cat([y, torch.zeros(1, M, dtype=torch.float64)]))
    return found


@pytest.mark.parametrize(("second", "c"), [("constant", 2.0**-20), ("opposite", 2.0**-10)])
@pytest.mark.parametrize("representation", [(), MLP], ids=["identity", "MLP"])
def test_the_whole_state_follows_gradient_descent_at_each_loop(second, c, representation):
    at = setting(c, second=second, representation=representation, leak=0.1)
    built, tokens = gd.transformer(at, T), gd.tokens(X, Y)
    exact = run_exact(built, tokens.numpy(), bits=200)
    found = Network(built).run(tokens[None])
    for k, expected in enumerate(states(at)):
        assert (exact[f"r[{k}]"][::2] - expected.numpy()).sup_norm() < 1e-6
        assert float((found[f"r[{k}]"][0, ::2] - expected).abs().max()) < 1e-6
        assert float(found[f"r[{k}]"][0, 1::2].abs().max()) == 0  # labels and the last token
    assert (exact["output"] - states(at)[-1][-1].numpy()).sup_norm() < 1e-6


@pytest.mark.parametrize(("second", "order"), [("constant", 1), ("opposite", 2)])
def test_the_error_is_of_first_order_in_c_and_of_second_with_the_opposite_head(second, order):
    errors = []
    for c in (2.0**-6, 2.0**-7):
        found = run_exact(gd.transformer(setting(c, second=second), T), gd.tokens(X, Y).numpy(), bits=200, taps=[])
        errors.append(float((found["output"] - states(setting())[-1][-1].numpy()).sup_norm().mid()))
    assert errors[0] / errors[1] == pytest.approx(2**order, rel=0.05)


def test_the_test_token_leaks_by_what_the_last_token_leaves():
    """Its key is 0 and its value is not: with a small C the prediction is off by more."""
    errors = []
    for C in (8.0, 12.0):
        at = setting(2.0**-12, C=C, second="constant")
        found = run_exact(gd.transformer(at, T), gd.tokens(X, Y).numpy(), bits=200, taps=[])["output"]
        errors.append(float((found - states(at)[-1][-1].numpy()).sup_norm().mid()))
    assert errors[0] > 20 * errors[1]


@pytest.mark.parametrize("representation", [(), MLP])
def test_layers_and_heads(representation):
    sizes = gd.transformer(setting(representation=representation), T).sizes
    assert sizes == {"pre": LoopSize(len(representation) + 1, 1), "loop": LoopSize(1, 2), "post": LoopSize(1, 1)}


def test_building_takes_the_layers_of_one_loop():
    network = Network(gd.transformer(setting(), 500))
    assert len(network.layers) == 2 + 2 * 500 + 2
    assert len({id(layer) for layer in network.layers}) == 6


def test_steps_are_those_of_the_definition():
    phi = gd.represented(X, MLP, 0.1)
    expected = states(setting(representation=MLP, leak=0.1))[-1]
    found = gd.descended(phi[:-1], Y, ETA, T)
    torch.testing.assert_close(phi @ found.T - torch.cat([Y, torch.zeros(1, M, dtype=torch.float64)]), expected)


@pytest.mark.parametrize("L", [0, 1, 3])
def test_a_seeded_mlp_keeps_the_ball(L):
    mlp = gd.seeded_mlp(L, 3, 2.0, seed=1)
    x = torch.nn.functional.normalize(torch.randn(50, 3, dtype=torch.float64), dim=1) * 2.0
    found = gd.represented(x, [(each[:, :-1], each[:, -1]) for each in mlp])
    assert float(torch.linalg.vector_norm(found, dim=1).max()) <= 2.0 * (1 + 1e-12)
    assert torch.equal(mlp, gd.seeded_mlp(L, 3, 2.0, seed=1))


def test_a_query_outside_of_the_stated_range_is_refused():
    network = Network(gd.transformer(setting(reach=1.0), 1))
    require_ranges(network, gd.tokens(X, Y)[None])
    with pytest.raises(StreamError, match=r"'x' reaches 1\.5, beyond the stated 1"):
        require_ranges(
            network, gd.tokens(torch.cat([X[:-1], torch.tensor([[1.5, 0.0]], dtype=torch.float64)]), Y)[None]
        )


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (X[:2], Y[:1], "1 example. Give two examples at least"),
        (X[:4], Y[:4], "x and y that do not match. Give N examples and N \\+ 1 x"),
    ],
)
def test_prompts_that_do_not_fit_are_refused(x, y, message):
    with pytest.raises(StreamError, match=message):
        gd.tokens(x, y)


def test_blocks_apart_weigh_once_for_all_loops(monkeypatch):
    """Queries and keys do not depend on the state."""
    at, tokens, made = setting(representation=MLP), gd.tokens(X, Y)[None], []
    softmax = torch.softmax
    monkeypatch.setattr(torch, "softmax", lambda *args, **more: made.append(1) or softmax(*args, **more))
    shared = SharedNetwork(gd.transformer(at, 20)).run(tokens)
    assert len(made) == 2 + 2  # the heads of the loop, and the two that read a neighbour
    found = Network(gd.transformer(at, 20)).run(tokens)
    for name, value in found.items():
        torch.testing.assert_close(shared[name], value, rtol=1e-9, atol=1e-9)
