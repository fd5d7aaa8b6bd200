"""The trainer: a plain loop, resumed bit by bit, that saves nothing bad."""

import itertools
import json
import math
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from numeric.training.checkpoints import Checkpoint
from numeric.training.errors import TrainingError
from numeric.training.models import Architecture, Form, StandardTransformer, seeded
from numeric.training.tasks import HELD_OUT, LearningTask, LinearRegression, TrainingBatch
from numeric.training.trainer import Optimisation, Trainer

TASK = LinearRegression(d=2, examples=4)
SMALL = Architecture(width=8, heads=2, layers=1)


def model(seed: int = 0) -> Any:
    return seeded(lambda: StandardTransformer(SMALL, TASK.form), seed)


def trainer(task: LearningTask = TASK, settings: Any = None, **how: Any) -> Trainer:
    given = {"steps": 40, "batch": 8, "rate": 0.01, "schedule": "cosine", "warmup": 3, "decay": 0.1, **how}
    return Trainer(
        model(), task, Optimisation(**given), settings or {"task": "linear"}, clock=itertools.count(0.0).__next__
    )


def weights(of: Any) -> list[Tensor]:
    return [each.detach().clone() for each in of.parameters()]


def test_it_is_the_loop_that_anyone_would_write() -> None:
    own = model()
    optimizer = torch.optim.AdamW(own.parameters(), weight_decay=0.1)
    for k in range(40):
        rate = 0.01 * (k + 1) / 3 if k < 3 else 0.01 * (1 + math.cos(math.pi * (k - 3) / 37)) / 2
        batch = TASK.batch(8, 0, k)
        loss = ((own(batch.tokens)[0, :, ::2] - batch.targets) ** 2).mean()
        gradients = torch.autograd.grad(loss, list(own.parameters()))
        norm = torch.cat([each.flatten() for each in gradients]).norm()
        for parameter, gradient in zip(own.parameters(), gradients, strict=True):
            parameter.grad = gradient * min(1.0, 1.0 / float(norm))
        optimizer.param_groups[0]["lr"] = rate
        optimizer.step()
    trained = trainer()
    trained.run()
    tokens = TASK.batch(
        64, 0, 0, HELD_OUT
    ).tokens  # the biases of keys change no output, and their gradient is rounding
    torch.testing.assert_close(trained.model(tokens), own(tokens), atol=1e-4, rtol=1e-3)
    assert not torch.allclose(own(tokens), model()(tokens), atol=0.1)
    assert trained.history[-1][0] == 40


@pytest.mark.parametrize("stops", [[0, 1, 1, 7, 16, 39], [17, 33]])
def test_a_training_in_pieces_ends_with_the_same_bits(stops: list[int]) -> None:
    whole = trainer()
    whole.run()
    kept: list[bytes] = []
    for stop in [*stops, 40]:
        piece = trainer()
        if kept:
            piece.resume(kept[-1], "f")
        piece.run(save=kept.append, stopping=lambda at=stop, of=piece: of.step >= at)  # type: ignore[misc]
        assert piece.step == stop
        del piece.model
    last = trainer()
    last.resume(kept[-1], "f")
    assert all(torch.equal(a, b) for a, b in zip(weights(last.model), weights(whole.model), strict=True))
    state, wanted = last.optimizer.state_dict()["state"], whole.optimizer.state_dict()["state"]
    assert all(torch.equal(state[k][name], each) for k, kinds in wanted.items() for name, each in kinds.items())


def test_seconds_and_intervals_are_those_of_the_clock() -> None:
    saved: list[bytes] = []
    some = trainer(steps=1000)
    some.run(seconds=100.0, interval=10.0, save=saved.append)
    steps = [Checkpoint.from_bytes(each, "f").facts["step"] for each in saved]
    assert 90 <= some.step <= 100
    assert steps[0] == 0
    assert steps[-1] == some.step
    assert max(b - a for a, b in itertools.pairwise(steps)) <= 10
    before = some.seconds
    some.run(seconds=80.0)
    assert some.seconds - before >= 80


def test_progress_has_the_loss_of_the_last_batch() -> None:
    some, seen = trainer(rate=1e-12, clip=0.0), []
    some.run(progress=seen.append)
    assert [each.step for each in seen] == [16, 32, 40]
    assert seen[-1].loss == pytest.approx(float(trainer().loss(39).detach()), rel=1e-5)


@pytest.mark.parametrize(
    ("schedule", "wanted"), [("constant", [0.5, 1, 1, 1]), ("linear", [0.5, 1, 1, 0.5]), ("cosine", [0.5, 1, 1, 0.5])]
)
def test_rates(schedule: str, wanted: list[float]) -> None:
    how = Optimisation(steps=4, warmup=2, rate=1.0, schedule=schedule)
    assert [how.rate_at(k) for k in range(4)] == pytest.approx(wanted)


def test_bfloat16_is_autocast_alone() -> None:
    some = trainer(steps=4, dtype="bfloat16")
    some.run()
    exact = trainer(steps=4)
    exact.run()
    pairs = list(zip(weights(some.model), weights(exact.model), strict=True))
    assert all(a.dtype == torch.float32 for a, _ in pairs)
    assert not all(torch.equal(a, b) for a, b in pairs)
    assert all(torch.allclose(a, b, atol=0.05) for a, b in pairs)


def test_float64_is_of_parameters_and_prompts() -> None:
    some = trainer(steps=3, dtype="float64")
    some.run()
    assert {each.dtype for each in weights(some.model)} == {torch.float64}
    again = trainer(steps=3, dtype="float64")
    again.resume(some.checkpoint().to_bytes(), "f")
    assert all(torch.equal(a, b) for a, b in zip(weights(again.model), weights(some.model), strict=True))


class Spoilt(LearningTask):
    """A linear regression with one number that is not finite in batch 20, in the target or in the gradient alone."""

    place = "targets"

    @property
    def form(self) -> Form:
        return TASK.form

    def batch(self, count: int, seed: int, number: int, *rest: Any, **named: Any) -> TrainingBatch:
        batch = TASK.batch(count, seed, number)
        if number == 20:
            batch.targets[0, 0] = math.nan
        return batch

    places = TASK.places


def test_a_loss_that_is_not_finite_keeps_the_last_good_checkpoint() -> None:
    saved: list[bytes] = []
    some = trainer(Spoilt())
    with pytest.raises(
        TrainingError, match=r"at step 21 the loss is nan .*; the last checkpoint is of an earlier step"
    ):
        some.run(interval=5.0, save=saved.append)
    kept = Checkpoint.from_bytes(saved[-1], "f")
    assert 15 <= kept.facts["step"] <= 20
    assert all(bool(each.isfinite().all()) for each in kept.tensors.values())


def test_what_save_raises_ends_the_run_and_the_checkpoint_before_is_good() -> None:
    saved: list[bytes] = []

    def full(content: bytes) -> None:
        if len(saved) == 2:
            raise OSError(28, "No space left on device")
        saved.append(content)

    with pytest.raises(OSError, match="No space left"):
        trainer().run(interval=5.0, save=full)
    again = trainer()
    again.resume(saved[-1], "f")
    assert 0 < again.step < 40


# Checkpoints.


def written() -> bytes:
    some = trainer(steps=2)
    some.run()
    return some.checkpoint().to_bytes()


def test_the_file_has_the_weights_under_their_names() -> None:
    """Read without the library: a length, a header in JSON, numbers end to end."""
    content = written()
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    assert header["__metadata__"].keys() == {"training", "sha256"}
    some = trainer(steps=2)
    some.run()
    for name, each in some.model.state_dict().items():
        start, end = (8 + size + place for place in header[f"model.{name}"]["data_offsets"])
        raw = torch.frombuffer(bytearray(content[start:end]), dtype=torch.float32)
        assert torch.equal(raw.reshape(each.shape), each)


def test_without_the_library_a_checkpoint_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "safetensors.torch", None)
    trainer(steps=1).run()
    with pytest.raises(TrainingError, match=r"checkpoints need safetensors, .*: pip install 'boundsmith\[train\]'"):
        written()


def test_a_file_that_is_cut_off_anywhere_or_changed_is_refused() -> None:
    content = written()
    for length in [0, 3, 8, 50, *range(100, len(content), 997), len(content) - 1]:
        with pytest.raises(TrainingError, match=r"'f' (is cut off|was changed|is no checkpoint)"):
            Checkpoint.from_bytes(content[:length], "f")
    for place in range(8, len(content), 1499):
        spoilt = bytearray(content)
        spoilt[place] ^= 1
        with pytest.raises(TrainingError, match=r"'f' (is cut off|was changed|is no checkpoint)"):
            Checkpoint.from_bytes(bytes(spoilt), "f")


def changed(old: bytes, new: bytes) -> bytes:
    """With another text in the facts, and the digest that belongs to it."""
    found = Checkpoint.from_bytes(written(), "f")
    facts = json.loads(json.dumps(dict(found.facts)).encode().replace(old, new))
    return Checkpoint(found.tensors, facts).to_bytes()


def other_weights() -> bytes:
    found = Checkpoint.from_bytes(written(), "f")
    return Checkpoint({**found.tensors, "model.write.bias": torch.zeros(7)}, found.facts).to_bytes()


@pytest.mark.parametrize(
    ("content", "how", "message"),
    [
        (written, {"batch": 16}, r"is of another training: batch 8 there and 16 here; resume with its settings"),
        (written, {"settings": {"task": "chain"}}, r"is of another training: task 'linear' there and 'chain' here"),
        (
            written,
            {"steps": 1, "schedule": "constant"},
            r"another training: schedule 'cosine' there and 'constant' here, steps 2 there",
        ),
        (lambda: changed(b'"torch": "', b'"torch": "9.'), {}, r"'f' is of torch 9\..*, here is .*; resume with that"),
        (lambda: changed(b'"settings"', b'"format": 7, "settings"'), {}, r"'f' has format 7; this version reads"),
        (other_weights, {}, r"'f' has weights of another version of this model; train it again"),
    ],
    ids=["settings", "task", "steps", "torch", "format", "weights"],
)
def test_a_checkpoint_of_another_training_is_refused(content: Callable[[], bytes], how: Any, message: str) -> None:
    with pytest.raises(TrainingError, match=message):
        trainer(**{"steps": 2, **how}).resume(content(), "f")


def test_more_steps_are_other_settings_only_where_the_rate_falls() -> None:
    short, saved = trainer(steps=5, schedule="constant"), []
    short.run(save=saved.append)
    longer = trainer(steps=9, schedule="constant")
    longer.resume(saved[-1], "f")
    longer.run()
    assert longer.step == 9
    with pytest.raises(TrainingError, match="'f' is at step 5, which is above steps = 4; give more steps"):
        trainer(steps=4, schedule="constant").resume(saved[-1], "f")


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"steps": 0}, "steps = 0; give a whole number >= 1"),
        ({"batch": 0}, "batch = 0; give a whole number >= 1"),
        ({"rate": 0.0}, "rate = 0.0; give a number > 0"),
        ({"rate": math.inf}, "rate = inf; give a number > 0"),
        ({"clip": -1.0}, "clip = -1.0; give a number >= 0"),
        ({"schedule": "step"}, "schedule = 'step'; choose constant, linear, cosine"),
        ({"dtype": "float16"}, "dtype = 'float16'; choose float32, bfloat16, float64"),
    ],
)
def test_refusals(how: Any, message: str) -> None:
    with pytest.raises(TrainingError) as refused:
        Optimisation(**how)
    assert str(refused.value) == message


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no CUDA device")
@pytest.mark.parametrize("attention", ["softmax", "relu"])
def test_a_thousand_steps_at_the_papers_size_on_a_gpu(attention: str) -> None:
    from numeric.training.tasks import NetworkRegression

    task = NetworkRegression(d=20, examples=50, hidden=20)
    sizes = Architecture(width=256, heads=8, layers=12, attention=attention)
    of_paper = seeded(lambda: StandardTransformer(sizes, task.form), 0)
    how = Optimisation(steps=1000, batch=64, rate=1e-4, dtype="bfloat16")
    trained = Trainer(of_paper, task, how, device=torch.device("cuda"))
    torch.cuda.reset_peak_memory_stats()
    trained.run()
    rate, memory = 1000 / trained.seconds, torch.cuda.max_memory_allocated() / 2**30
    print(f"{attention}: {rate:.1f} steps a second, {memory:.2f} GiB")  # noqa: T201
    first, last = (sum(loss for _, loss, _ in part) / len(part) for part in (trained.history[:8], trained.history[-8:]))
    assert last < 0.8 * first
