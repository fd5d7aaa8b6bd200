"""The trained network against loops over (9) and (10), its gradients against differences, and its checkpoints."""

import json
import math
from pathlib import Path

import pytest
import torch

from numeric.topics.induction import training as module
from numeric.topics.induction.training import (
    NAMES,
    Training,
    TrainingError,
    TrainingTask,
    TwoLayer,
    contexts,
    partial_losses,
    population_gram,
    start_of_stage_one,
    start_of_stage_two,
)

TASK = TrainingTask(9, 1.5, 0.6)
SOMEWHERE = {"p_first": 0.7, "p": 0.4, "g": 0.8, "w_Q": 0.5, "w_K": -0.9, "h": 1.1}


def network_by_loops(x: list[float], theta: dict[str, float], last_key: int) -> tuple[float, float]:
    """(9) and (10), token by token; x[0] is x_1."""
    length = len(x)

    def token(s: int) -> float:
        return x[s - 1]

    def softmax(logits: list[float]) -> list[float]:
        total = math.fsum(math.exp(z) for z in logits)
        return [math.exp(z) / total for z in logits]

    def y(s: int) -> float:
        if math.isinf(theta["p_first"]):
            return token(s - 1)
        weights = softmax([-theta["p_first"] * (s - 1 - tau) for tau in range(1, s)])
        return math.fsum(weight * token(tau) for weight, tau in zip(weights, range(1, s), strict=True))

    keys = range(2, last_key + 1)
    near = softmax([-theta["p"] * (length - 1 - s) for s in keys])
    match = softmax([token(length) * theta["w_Q"] * theta["w_K"] * y(s) for s in keys])
    gram = theta["g"] * math.fsum(a * y(s) for a, s in zip(near, keys, strict=True))
    return gram, theta["h"] * math.fsum(a * token(s) for a, s in zip(match, keys, strict=True))


@pytest.mark.parametrize("upper", ["L-1", "L-2"])
@pytest.mark.parametrize("p_first", [0.7, math.inf])
@pytest.mark.parametrize("length", [5, 9])
def test_the_network_is_the_printed_one(upper: str, p_first: float, length: int) -> None:
    theta = {**SOMEWHERE, "p_first": p_first}
    x = torch.randn(3, length, dtype=torch.float64)
    output = TwoLayer(length, theta, upper=upper)(x)
    expected = [network_by_loops(row, theta, length - int(upper[-1])) for row in x.tolist()]
    torch.testing.assert_close(output, torch.tensor(expected, dtype=torch.float64))


def test_a_first_layer_trained_far_is_the_one_at_infinity() -> None:
    x = torch.randn(4, 9, dtype=torch.float64)
    far, end = (TwoLayer(9, {**SOMEWHERE, "p_first": p})(x) for p in (40.0, math.inf))
    torch.testing.assert_close(far, end)
    assert not torch.allclose(TwoLayer(9, {**SOMEWHERE, "p_first": 4.0})(x), end, rtol=1e-3)


def test_the_target_is_the_printed_one() -> None:
    x = torch.randn(3, 9, dtype=torch.float64)
    head = {"p_first": math.inf, "p": 0.0, "g": 0.0, "w_Q": 0.6, "w_K": 0.6, "h": 1 / 2.5}
    expected = [(0.6 * row[-3], network_by_loops(row, head, 8)[1]) for row in x.tolist()]
    torch.testing.assert_close(TASK.target(x), torch.tensor(expected, dtype=torch.float64))


def test_the_optimum_has_no_loss_of_the_induction_head_unless_its_sum_ends_early() -> None:
    best = {"p_first": math.inf, "p": 50.0, "g": TASK.g_star, "w_Q": 0.6, "w_K": 0.6, "h": TASK.h_star}
    x = torch.randn(200, 9, dtype=torch.float64)
    networks = [TwoLayer(9, best, upper=upper) for upper in ("L-1", "L-2")]
    right, early = (partial_losses(network, TASK, x).mean(0).detach() for network in networks)
    assert float(right.max()) < 1e-20
    assert float(early[1]) > 1e-3
    assert float(population_gram(networks[1], TASK).detach()) > TASK.g_star**2 / 2  # x_{L-2} is not seen


@pytest.mark.parametrize("upper", ["L-1", "L-2"])
def test_the_exact_gram_loss_is_what_samples_estimate(upper: str) -> None:
    network = TwoLayer(9, SOMEWHERE, upper=upper)
    with torch.no_grad():
        losses = partial_losses(network, TASK, torch.randn(200_000, 9, dtype=torch.float64))[:, 0]
        exact = float(population_gram(network, TASK))
    assert abs(float(losses.mean()) - exact) < 5 * float(losses.std()) / math.sqrt(len(losses))


def test_the_batch_gradient_is_that_of_the_exact_gram_loss() -> None:
    """Autograd of the population loss, and the mean over many batches, of a stage that trains p and g alone."""
    network = TwoLayer(9, {**SOMEWHERE, "h": 0.0, "p_first": math.inf})
    training = Training(network, TASK, batch=200_000)
    estimate = training.gradient()
    exact = torch.autograd.grad(population_gram(network, TASK), [network.p, network.g])
    for name, slope in zip(("p", "g"), exact, strict=True):
        assert abs(float(estimate[name]) - float(slope)) < 0.02 * abs(float(slope)), name


def test_blocks_change_nothing_but_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    network = TwoLayer(9, SOMEWHERE)
    x = torch.randn(50, 9, dtype=torch.float64)
    whole = Training(network, TASK).snapshot(x).head
    monkeypatch.setattr(module, "BLOCK", 9 * 8)
    training = Training(network, TASK, batch=50)
    assert math.isclose(training.snapshot(x).head, whole, rel_tol=1e-12)
    generator = torch.Generator().set_state(training.generator.get_state())
    drawn = torch.cat([contexts(size, network, generator) for size in (8, 8, 8, 8, 8, 8, 2)])
    expected = torch.autograd.grad(partial_losses(network, TASK, drawn).sum(-1).mean(), network.g)[0]
    torch.testing.assert_close(training.gradient()["g"], expected)


def test_the_step_is_stable_and_twice_the_largest_stable_one_is_not() -> None:
    """At the optimum of the 4-gram head, where the curvature in g is 1, steps at the estimated rate contract."""
    start = {"p_first": math.inf, "p": 30.0, "g": TASK.g_star + 0.1, "w_Q": 0.0, "w_K": 0.0, "h": 0.0}
    sizes = {}
    for factor in (1.0, 2.5):
        network = TwoLayer(9, dict(start))
        training = Training(network, TASK, batch=4096, move=math.inf)
        rate = training.stable_rate() * factor
        for _ in range(40):
            slope = training.gradient()["g"]
            with torch.no_grad():
                network.g -= rate * slope
        sizes[factor] = abs(float(network.g.detach()) - TASK.g_star)
    assert sizes[1.0] < 1e-3
    assert sizes[2.5] > 10


def test_the_curvature_is_that_of_differences_of_gradients() -> None:
    network = TwoLayer(9, {**SOMEWHERE, "p_first": math.inf, "h": 0.0, "w_Q": 0.0, "w_K": 0.0, "g": 1.4})
    training = Training(network, TASK)

    def gradient(dp: float, dg: float) -> list[float]:
        near = TwoLayer(9, {**network.numbers(), "p": 0.4 + dp, "g": 1.4 + dg})
        return [float(d) for d in torch.autograd.grad(population_gram(near, TASK), [near.p, near.g])]

    step = 1e-5
    rows = [
        [(up - down) / (2 * step) for up, down in zip(gradient(dp, dg), gradient(-dp, -dg), strict=True)]
        for dp, dg in ((step, 0.0), (0.0, step))
    ]
    largest = float(torch.linalg.eigvalsh(torch.tensor(rows, dtype=torch.float64)).abs().max())
    assert math.isclose(training.curvature(), largest, rel_tol=0.15)  # estimated on 2048 contexts


def test_stage_one_trains_the_first_layer_alone_and_upwards() -> None:
    network = TwoLayer(9, start_of_stage_one(0.1))
    training = Training(network, TASK, stage="I", batch=512, move=0.02)
    seen = training.run(math.inf, every=20, stop=lambda each: each.parameters["p_first"] > 3)
    rates = [each.parameters["p_first"] for each in seen]
    assert rates == sorted(rates)
    assert rates[:3] == pytest.approx([0.1, 0.5, 0.9])  # 20 steps each, of the largest move
    assert {name: v for name, v in seen[-1].parameters.items() if name != "p_first"} == {
        name: v for name, v in start_of_stage_one(0.1).items() if name != "p_first"
    }


def test_same_seed_same_training_and_another_seed_another() -> None:
    def trained(seed: int) -> dict[str, float]:
        network = TwoLayer(9, start_of_stage_two(0.1))
        Training(network, TASK, batch=32, seed=seed).run(10.0)
        return network.numbers()

    assert trained(0) == trained(0) != trained(1)


@pytest.mark.parametrize("interrupted_after", [1, 7, 50])
def test_a_resumed_training_ends_where_an_unbroken_one_does(tmp_path: Path, interrupted_after: int) -> None:
    def fresh() -> Training:
        return Training(TwoLayer(9, start_of_stage_two(0.1)), TASK, batch=32, seed=5)

    unbroken, broken, resumed = fresh(), fresh(), fresh()
    for _ in range(60):
        unbroken.step()
    for _ in range(interrupted_after):
        broken.step()
    broken.save(tmp_path / "there.json")
    resumed.resume(tmp_path / "there.json")
    for _ in range(60 - interrupted_after):
        resumed.step()
    assert resumed.network.numbers() == unbroken.network.numbers()
    assert (resumed.steps, resumed.time) == (unbroken.steps, unbroken.time)
    assert [path.name for path in tmp_path.iterdir()] == ["there.json"]


def test_checkpoints_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    training = Training(TwoLayer(9, start_of_stage_two(0.1)), TASK, batch=32)
    path = tmp_path / "there.json"
    training.save(path)
    whole = path.read_text()
    other = Training(TwoLayer(9, start_of_stage_two(0.1)), TrainingTask(9, 1.5, 0.5), batch=32)
    with pytest.raises(TrainingError, match="of another training"):
        other.resume(path)
    for broken, message in (
        (whole[: len(whole) // 2], "is not a checkpoint that can be read"),
        ("[]", "has not just"),
        (json.dumps({**json.loads(whole), "version": 0}), "has version 0"),
        (json.dumps({**json.loads(whole), "parameters": {}}), "has not just"),
    ):
        path.write_text(broken)
        with pytest.raises(TrainingError, match=message):
            training.resume(path)
    with pytest.raises(TrainingError, match="is not a checkpoint that can be read"):
        training.resume(tmp_path / "absent.json")


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: TrainingTask(4, 1.0, 0.5), "L >= 5"),
        (lambda: TrainingTask(9, 0.0, 0.5), "alpha > 0"),
        (lambda: TwoLayer(4, SOMEWHERE), "L >= 5"),
        (lambda: TwoLayer(9, SOMEWHERE, upper="L"), "none of L-1, L-2"),
        (lambda: TwoLayer(9, {"p": 1.0}), "a start for each of"),
        (lambda: TwoLayer(9, SOMEWHERE)(torch.zeros(1, 8, dtype=torch.float64)), "these have 8"),
        (lambda: Training(TwoLayer(9, SOMEWHERE), TrainingTask(8, 1.0, 0.5)), "the task 8"),
        (lambda: Training(TwoLayer(9, SOMEWHERE), TASK, stage="III"), "none of I, II"),
        (lambda: Training(TwoLayer(9, SOMEWHERE), TASK, batch=1), "batch >= 2"),
    ],
    ids=["short", "alpha", "short-network", "upper", "start", "contexts", "lengths", "stage", "batch"],
)
def test_what_cannot_be_built_is_refused(build, message: str) -> None:
    with pytest.raises(TrainingError, match=message):
        build()


def test_float32_stays_float32() -> None:
    network = TwoLayer(9, SOMEWHERE, dtype=torch.float32)
    assert network(torch.randn(3, 9, dtype=torch.float32)).dtype == torch.float32
    Training(network, TASK, batch=32).run(2.0)
    assert {name: getattr(network, name).dtype for name in NAMES} == dict.fromkeys(NAMES, torch.float32)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_thousand_tokens_train_on_a_gpu() -> None:
    task = TrainingTask(1000, 1.0, 0.49)
    network = TwoLayer(1000, start_of_stage_two(0.01), device="cuda")
    seen = Training(network, task, batch=1024).run(200.0)
    assert seen[-1].gram < 0.02 * seen[0].gram
    assert seen[-1].parameters["h"] > 0.05
