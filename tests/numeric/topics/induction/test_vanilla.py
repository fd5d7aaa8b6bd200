import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from jaxtyping import TypeCheckError
from mpmath import mp, mpf

from numeric.balls import BallArray
from numeric.balls.running import run_on_balls
from numeric.networks.exact import run_exact
from numeric.networks.network import Network
from numeric.networks.norms import entrywise_one_norm
from numeric.networks.stream import StreamError
from numeric.search.attack import attack, box_project
from numeric.topics.induction.ngram import ngram_head
from numeric.topics.induction.vanilla import READ, prompt_starts, vanilla
from tests.counting import Tensors
from tests.numeric.cases import random_prompts


def induction_head(x, W_star):
    found = ngram_head(x, W_star, 2)
    return {"y": found.pop("keys"), **found}


GATES = [math.inf, 0.0, 12.0]


def w_star(kind: str, d: int, one_norm: float = 1.0) -> np.ndarray:
    rng = np.random.default_rng(11)
    matrix = {"identity": np.eye(d), "dense": rng.normal(size=(d, d)), "signs": rng.choice([-1.0, 1.0], (d, d))}[kind]
    return matrix * (one_norm / np.abs(matrix).sum())


def previous_token_error(p: float, L: int) -> float:
    """sup over [-1, 1] of ||y_s - x_{s-1}||_inf for s < L is twice this: r (1 - r^(L-3)) / (1 - r^(L-2)), r = e^-p."""
    r = math.exp(-p)
    return r * (1 - r ** (L - 3)) / (1 - r ** (L - 2))


def sup_bound(p: float, L: int, W: np.ndarray) -> float:
    """The sup error of the masked network over [-1, 1]^(L x d) is at most this."""
    return 2 * math.tanh(np.abs(W).sum() * previous_token_error(p, L))


def by_definition(x: np.ndarray, W: np.ndarray) -> dict[str, np.ndarray]:
    """Equation (4) as loops over 50-digit numbers, positions numbered from 1 as in the paper."""
    with mp.workdps(50):
        L, d = x.shape
        token = {s: [mpf(float(entry)) for entry in x[s - 1]] for s in range(1, L + 1)}
        scores = [
            sum(token[L][i] * mpf(float(W[i, j])) * token[s - 1][j] for i in range(d) for j in range(d))
            for s in range(2, L)
        ]
        total = sum(mp.exp(score) for score in scores)
        attention = [mp.exp(score) / total for score in scores]
        output = [sum(a * token[s][c] for a, s in zip(attention, range(2, L), strict=True)) for c in range(d)]
        found = {"y": x[:-2], "scores": scores, "attention": attention, "output": output}
        return {name: np.array(value, dtype=float) for name, value in found.items()}


def batched_head(x: torch.Tensor, W: np.ndarray) -> dict[str, torch.Tensor]:
    return torch.func.vmap(lambda prompt: induction_head(prompt, torch.tensor(W)))(x)


def exact_head(x: np.ndarray, W: np.ndarray, bits: int = 128) -> dict[str, BallArray]:
    return run_on_balls(induction_head, {"x": x, "W_star": W}, bits)


def aligned(taps: dict, gate: float = math.inf) -> dict:
    """The taps of one prompt as the reference names them, without the 2 gate that all its scores share."""
    found = {name: READ[name](tap) if name in READ else tap for name, tap in taps.items()}
    if gate < math.inf:
        found["scores"] = found["scores"] - 2.0 * gate
    return found


def aligned_batch(taps: dict[str, torch.Tensor], gate: float = math.inf) -> dict[str, torch.Tensor]:
    return torch.func.vmap(lambda of_one: aligned(of_one, gate))(taps)


def sup_error(p: float, W: np.ndarray, x: np.ndarray, bits: int = 256) -> float:
    difference = run_exact(vanilla(p, W), x, bits=bits, taps=())["output"] - exact_head(x, W, bits)["output"]
    return float(difference.sup_norm().mid())


def network_error(network: Network, W: np.ndarray) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda x: (network(x) - batched_head(x, W)["output"]).abs().amax(1)


def starts(L: int, d: int, W: np.ndarray, count: int, seed: int = 0) -> torch.Tensor:
    return prompt_starts(L, d, torch.tensor(W), count, torch.Generator().manual_seed(seed))["x"]


@pytest.mark.parametrize("L", [3, 4, 9])
def test_reference_is_equation_4(L):
    x, W = random_prompts(L, 3, 2, seed=1), w_star("dense", 3, 5.0)
    taps = batched_head(x, W)
    for index in range(2):
        expected = by_definition(x[index].numpy(), W)
        exact = exact_head(x[index].numpy(), W)
        for name, value in expected.items():
            np.testing.assert_allclose(taps[name][index].numpy(), value, atol=1e-14)
            np.testing.assert_allclose(exact[name].midpoint(), value, atol=1e-15)
            assert exact[name].shape == value.shape


@pytest.mark.parametrize("gate", GATES)
def test_network_and_reference_taps_have_the_same_names_and_shapes(gate):
    x, W = random_prompts(7, 3, 2, seed=1), w_star("signs", 3)
    construction = vanilla(2.0, W, gate=gate)
    torch_taps, reference = aligned_batch(Network(construction).run(x), gate), batched_head(x, W)
    ball_taps = aligned(run_exact(construction, x[0].numpy()), gate)
    exact_reference = exact_head(x[0].numpy(), W)
    assert torch_taps.keys() == ball_taps.keys() == reference.keys() == exact_reference.keys()
    for name, value in reference.items():
        assert torch_taps[name].shape == value.shape
        assert ball_taps[name].shape == exact_reference[name].shape == value.shape[1:]
        difference = ball_taps[name] - torch_taps[name][0].numpy()
        assert float(difference.sup_norm().upper()) < 1e-14


@pytest.mark.parametrize("gate", [math.inf, 60.0])
def test_repaired_networks_converge_to_the_reference_at_every_tap(gate):
    x, W = random_prompts(9, 3, 1, seed=2)[0].numpy(), w_star("dense", 3)
    taps = aligned(run_exact(vanilla(50.0, W, gate=gate), x), gate)
    for name, value in exact_head(x, W).items():
        assert float((taps[name] - value).sup_norm().upper()) < 1e-20, name


def test_printed_network_does_not_converge():
    # Its last query attends to key 1 too, so that the error stays of order 1 / L whatever the slope.
    x, W = random_prompts(9, 3, 1, seed=2), w_star("dense", 3)
    reference = batched_head(x, W)["output"]
    printed = [float((Network(vanilla(p, W, gate=0.0))(x) - reference).abs().max()) for p in (5.0, 50.0, 500.0)]
    masked = [float((Network(vanilla(p, W))(x) - reference).abs().max()) for p in (5.0, 50.0, 500.0)]
    assert min(printed) > 0.01
    assert masked[0] < 0.01
    assert max(masked[1:]) < 1e-15


@pytest.mark.parametrize("gate", [1.0, 10.0, 30.0])
def test_gate_lowers_key_one_by_exactly_the_gate(gate):
    x, W = random_prompts(6, 2, 1, seed=3)[0].numpy(), w_star("dense", 2)
    gated = run_exact(vanilla(1.0, W, gate=gate), x)["scores"]
    printed = run_exact(vanilla(1.0, W, gate=0.0), x)["scores"]
    shift = gated - printed
    np.testing.assert_array_equal(shift.midpoint()[0, :5], [gate, *[2 * gate] * 4])


def test_gate_error_falls_like_exp_minus_gate():
    x, W = random_prompts(8, 2, 1, seed=3)[0].numpy(), w_star("dense", 2)
    masked = run_exact(vanilla(1.0, W), x)["output"]
    gates = np.array([10.0, 20.0, 30.0])
    errors = [float((run_exact(vanilla(1.0, W, gate=gate), x)["output"] - masked).sup_norm().mid()) for gate in gates]
    slopes = np.diff(np.log(errors)) / np.diff(gates)
    np.testing.assert_allclose(slopes, -1.0, atol=1e-4)


@pytest.mark.parametrize(("gate", "width"), [(math.inf, 8), (0.0, 8), (3.0, 9)])
def test_width_is_the_papers(gate, width):
    assert vanilla(1.0, np.eye(4), gate=gate).stream(0).width == width


def test_matrices_are_the_papers():
    W, d = w_star("dense", 2), 2
    first, second = vanilla(1.0, W, gate=0.0).layers
    zero, one = np.zeros((d, d)), np.eye(d)
    np.testing.assert_array_equal(first.heads[0].value.dense(), np.block([[zero, zero], [one, zero]]))
    np.testing.assert_array_equal(second.heads[0].query.dense(), np.block([[zero, zero], [one, zero]]))
    np.testing.assert_array_equal(second.heads[0].key.dense(), np.block([[zero, zero], [zero, W]]))
    np.testing.assert_array_equal(second.heads[0].value.dense(), np.block([[one, zero], [zero, zero]]))
    assert (first.residual, second.residual) == (True, False)


@pytest.mark.parametrize("p", [0.0, 0.5, 30.0])
def test_three_tokens_are_exact(p):
    # y_2 = x_1 whatever the slope, and a single key takes all the attention.
    x, W = random_prompts(3, 4, 1, seed=0), w_star("dense", 4)
    taps, reference = aligned_batch(Network(vanilla(p, W)).run(x)), batched_head(x, W)
    assert torch.equal(taps["y"], reference["y"])
    assert torch.equal(taps["output"], reference["output"])
    assert sup_error(p, W, x[0].numpy()) == 0


def test_first_token_receives_nothing():
    y = Network(vanilla(0.3, np.eye(2))).run(random_prompts(5, 2, 1, seed=0))["y"]
    assert torch.equal(y[:, 0], torch.zeros(1, 2, dtype=torch.float64))


@pytest.mark.parametrize(("p", "L"), [(0.5, 8), (2.0, 8), (2.0, 64), (8.0, 64)])
def test_attack_exceeds_nine_tenths_of_the_sharp_bound_on_y(p, L):
    network = Network(vanilla(p, np.eye(2)))

    def y_error(x: torch.Tensor) -> torch.Tensor:
        return (network.run(x, taps=["y"])["y"][:, 1:-1] - x[:, :-2]).abs().amax((1, 2))

    result = attack(y_error, starts(L, 2, np.eye(2), 8), box_project(-1.0, 1.0), steps=60, seed=0)
    assert 0.9 < result.value / (2 * previous_token_error(p, L)) <= 1 + 1e-9


@pytest.mark.parametrize(
    ("kind", "d", "L", "p"),
    [
        ("identity", 1, 8, 0.5),
        ("identity", 4, 64, 8.0),
        ("identity", 16, 512, 2.0),
        ("dense", 16, 8, 8.0),
        ("dense", 4, 512, 0.5),
        ("signs", 16, 64, 2.0),
        ("signs", 16, 512, 8.0),
    ],
)
@pytest.mark.parametrize("one_norm", [1.0, 0.1])
def test_attack_comes_within_a_tenth_of_the_bound_and_keeps_it(kind, d, L, p, one_norm):
    W = w_star(kind, d, one_norm)
    error = network_error(Network(vanilla(p, W)), W)
    result = attack(error, starts(L, d, W, 12), box_project(-1.0, 1.0), steps=60, seed=0)
    assert 0.1 < result.value / sup_bound(p, L, W) <= 1
    assert sup_error(p, W, result.witness.numpy()) == pytest.approx(result.value, rel=1e-9, abs=1e-14)


def test_errors_below_rounding_are_seen_by_the_balls():
    # A prompt that is bad at p = 8 is bad at p = 40 too, where the error is about 1e-18 and float64 sees noise only.
    W = w_star("identity", 2)
    error = network_error(Network(vanilla(8.0, W)), W)
    result = attack(error, starts(16, 2, W, 8), box_project(-1.0, 1.0), steps=60, seed=0)
    fraction = sup_error(40.0, W, result.witness.numpy()) / sup_bound(40.0, 16, W)
    assert 0.1 < fraction <= 1


def test_exact_error_decays_as_exp_minus_p():
    x, W = random_prompts(10, 2, 1, seed=4)[0].numpy(), w_star("dense", 2)
    slopes = np.array([10.0, 20.0, 40.0, 80.0])
    rates = np.diff(np.log([sup_error(p, W, x) for p in slopes])) / np.diff(slopes)
    np.testing.assert_allclose(rates, -1.0, atol=1e-4)


def test_starts_lie_in_the_box_and_follow_the_seed():
    W = w_star("signs", 5)
    drawn = starts(9, 5, W, 11, seed=3)
    assert drawn.shape == (11, 9, 5)
    assert float(drawn.abs().max()) <= 1
    assert torch.equal(drawn, starts(9, 5, W, 11, seed=3))
    assert not torch.equal(drawn, starts(9, 5, W, 11, seed=4))


def test_gradient_through_network_and_reference_is_finite():
    x = random_prompts(6, 3, 2, seed=0).requires_grad_(True)
    W = w_star("dense", 3)
    network_error(Network(vanilla(1.0, W)), W)(x).sum().backward()
    assert bool(x.grad.isfinite().all())


def test_an_attack_at_full_size_forms_no_matrix_of_all_pairs_of_tokens():
    W = w_star("identity", 16)
    prompts = starts(512, 16, W, 12)

    def largest(dense):
        error = network_error(Network(vanilla(2.0, W), dense=dense), W)
        with Tensors() as seen:
            attack(error, prompts, box_project(-1.0, 1.0), steps=2, seed=0)
        return seen.largest

    assert largest(dense=False) <= 2 * prompts.numel()
    assert largest(dense=True) >= 12 * 64 * 512  # the scores of some queries at a time


def test_prompts_without_a_key_are_refused():
    with pytest.raises(StreamError, match="n = 2 and a prompt of 2 tokens"):
        exact_head(np.ones((2, 2)), np.eye(2))


@pytest.mark.parametrize(("W", "gate"), [(np.ones((2, 3)), 0.0), (np.eye(2), -1.0), (np.eye(2), math.nan)])
def test_vanilla_refuses_what_is_no_head(W, gate):
    # The shape is first refused by jaxtyping, where its import hook is on.
    with pytest.raises((StreamError, TypeCheckError), match="W_star"):
        vanilla(1.0, W, gate=gate)


def test_one_norm_of_the_test_matrices_is_at_most_one():
    assert all(entrywise_one_norm(w_star(kind, 16)).lower <= 1 + 1e-12 for kind in ("identity", "dense", "signs"))
