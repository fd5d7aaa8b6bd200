"""A training in a folder: killed, interrupted, out of room, resumed, refused."""

import json
import os
import random
import signal
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from bridge.questions.constructed import MODELS
from bridge.questions.train import Trained, load, train
from numeric.training.catalogue import TASKS
from numeric.training.trainer import TrainingProgress
from symbolic.words.errors import UsageError

TINY: dict[str, Any] = {"d": 2, "examples": 3, "width": 4, "heads": 2, "layers": 1, "steps": 24, "batch": 4}


def weights(of: Trained) -> list[torch.Tensor]:
    return [each.detach().clone() for each in of.model.parameters()]


def same(one: Trained, other: Trained) -> bool:
    return all(torch.equal(a, b) for a, b in zip(weights(one), weights(other), strict=True))


def in_a_child(work: Callable[[], Any]) -> int:
    """What ended the child process that does the work: a signal, or 0."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a fork beside threads, which the work does not touch
        child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def killing_itself(number: int, place: str) -> Callable[[], None]:
    """The training, which is killed at its call `number` of that function."""
    calls = iter(range(number))

    def killed(*arguments: Any, **named: Any) -> Any:
        if next(calls, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
        return before(*arguments, **named)

    owner, name = (
        (os, place) if place == "fsync" else (Path, place) if place == "replace" else (torch.optim.AdamW, place)
    )
    before = getattr(owner, name)

    def work() -> None:
        setattr(owner, name, killed)
        folder = Path(os.environ["FOLDER"])
        train("linear", folder=folder, resume=(folder / "checkpoint.safetensors").exists(), interval=0.0, **TINY)

    return work


@pytest.mark.long
def test_kills_anywhere_change_no_weight(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the middle of a step, of a file that is written, and between a file and its name."""
    monkeypatch.setenv("FOLDER", str(tmp_path / "run"))
    drawn, reached = random.Random(1), []
    for _ in range(8):
        place = drawn.choice(["fsync", "replace", "step"])
        ended = in_a_child(killing_itself(drawn.randint(1, 9), place))
        assert ended == -signal.SIGKILL
        if (tmp_path / "run" / "checkpoint.safetensors").exists():
            reached.append(load(tmp_path / "run").trainer.step)
            json.loads((tmp_path / "run" / "training.json").read_text()) if reached[-1] else None
    assert reached == sorted(reached)
    assert 0 < reached[-1] < 24
    ended_well = train("linear", folder=tmp_path / "run", resume=True, **TINY)
    assert same(ended_well, train("linear", **TINY))
    assert same(load(tmp_path / "run"), ended_well)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_saves(tmp_path: Path, number: int) -> None:
    before = signal.getsignal(number)
    stopped = train("linear", folder=tmp_path / "run", progress=lambda seen: os.kill(os.getpid(), number), **TINY)
    assert stopped.interrupted
    assert stopped.trainer.step == 16
    assert signal.getsignal(number) is before
    assert load(tmp_path / "run").trainer.step == 16
    whole = train("linear", folder=tmp_path / "run", resume=True, **TINY)
    assert not whole.interrupted
    assert same(whole, train("linear", **TINY))


def test_a_full_disk_keeps_the_last_good_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, calls = os.fsync, iter(range(9))

    def fsync(descriptor: int) -> None:
        if next(calls, None) is None:
            raise OSError(28, "No space left on device")
        before(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    message = r"train: cannot write '.*': No space left on device; .*; the checkpoint of step (\d) is kept"
    with pytest.raises(UsageError, match=message):
        train("linear", folder=tmp_path / "run", interval=0.0, **TINY)
    monkeypatch.undo()
    assert 1 <= load(tmp_path / "run").trainer.step <= 5
    assert sorted(each.name for each in (tmp_path / "run").iterdir()) == [
        "checkpoint.safetensors",
        "lock",
        "training.json",
    ]
    assert same(train("linear", folder=tmp_path / "run", resume=True, **TINY), train("linear", **TINY))


def test_a_loss_that_is_not_finite_is_refused_and_the_checkpoint_is_good(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"train: at step .* the loss is .*; train with a smaller rate or clip"):
        train("linear", folder=tmp_path / "run", **{**TINY, "rate": 1e30, "clip": 0.0})
    assert all(bool(each.isfinite().all()) for each in weights(load(tmp_path / "run")))


@pytest.mark.parametrize("task", TASKS)
def test_every_task_trains_and_is_read_again(task: str, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("to be or\nnot to be,\nthat is\nthe question\n" * 3)
    names = {"text": ["text"], "translation": ["source_text", "target_text"]}.get(task, [])
    texts = dict.fromkeys(names, str(text))
    sizes = {"text": {"n": 2, "length": 6}, "translation": {"length": 30}}.get(task, {"d": 2}) | texts
    for model in ("standard", "algoformer"):
        folder = tmp_path / model
        trained = train(task, model=model, folder=folder, width=4, heads=2, layers=1, steps=3, batch=4, **sizes)
        again = load(folder, **texts)
        assert same(trained, again)
        assert trained.errors(40) == again.errors(40)
        assert min(trained.errors(40)) >= 0 < sum(trained.errors(40))


def test_errors_of_a_longer_prompt_are_asked_of_the_same_model() -> None:
    trained = train("linear", **{**TINY, "positions": "none", "steps": 2})
    longer = TASKS["linear"](d=2, examples=9)  # type: ignore[call-arg]
    assert len(trained.errors(20, longer)) == 10
    learnt = train("linear", **{**TINY, "steps": 2})
    with pytest.raises(UsageError, match="train: 19 tokens, more than the 7 positions learnt; give fewer examples"):
        learnt.errors(20, longer)
    with pytest.raises(UsageError, match="errors: prompts = 0; give a whole number >= 1"):
        learnt.errors(0)


def test_errors_are_means_over_prompts_that_no_step_has_seen() -> None:
    trained = train("linear", **{**TINY, "steps": 1, "rate": 1e-12})
    with torch.no_grad():
        for each in trained.model.parameters():
            each.zero_()
    assert trained.errors(20_000) == pytest.approx([1.0] * 4, abs=0.06)


def test_settings_of_task_model_and_optimisation_share_no_name() -> None:
    from dataclasses import fields

    from numeric.training.trainer import Optimisation

    for task in TASKS.values():
        for sizes, _ in MODELS.values():
            names = [each.name for kind in (task, sizes, Optimisation) for each in fields(kind)]
            assert len(names) == len(set(names))


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("lin", {}, "train: there is no task 'lin'. Nearest: linear, "),
    ("linear", {"model": "gpt"}, "train: there is no model 'gpt'. "),
    ("linear", {"widht": 4}, "train: the task linear and the model standard have no setting 'widht'. Nearest: width, "),
    ("linear", {"T": 4}, "train: the task linear and the model standard have no setting 'T'. "),
    ("linear", {"steps": 0}, "train: steps = 0; give a whole number >= 1"),
    ("linear", {"steps": 2.5}, "train: steps = 2.5; give a whole number"),
    ("linear", {"rate": "fast"}, "train: rate = 'fast'; give a number"),
    ("linear", {"joined": "yes"}, "train: joined = 'yes'; give true or false"),
    ("linear", {"attention": 1}, "train: attention = 1; give a word"),
    ("linear", {"width": 10, "heads": 4}, "train: width = 10 is no multiple of heads = 4"),
    ("linear", {"model": "algoformer", "T": 3, "delta_T": 4}, "train: delta_T = 4 is above T = 3; give delta_T <= T"),
    ("series", {"q": 9, "length": 9}, "train: q = 9 states before the next in a prompt of length = 9; give q < length"),
    ("chain", {"model": "linear"}, "train: a linear attention layer without joined tokens; train it on linear"),
    ("linear", {"seconds": 0.0}, "train: seconds = 0.0; give a number > 0"),
    ("linear", {"interval": -1.0}, "train: interval = -1.0; give a number >= 0"),
    ("linear", {"resume": True}, "train: resume without a folder; name the one that holds the checkpoint"),
    ("linear", {"device": "tpu"}, "device 'tpu' is not known; choose cpu or cuda"),
    ("linear", {"dtype": "float16"}, "train: dtype = 'float16'; choose float32, bfloat16, float64"),
    ("linear", {"seed": 2**63}, "train: seed = 9223372036854775808; give one below 2^63"),
    ("network", {"hidden": 10**6}, "train: there is not enough memory; lower the sizes or batch"),
    ("linear", {"model": "linear", "spread": -1.0}, "train: spread = -1.0; give a number >= 0"),
    ("linear", {"model": "looped.gradient_descent", "eta": 0}, "train: eta = 0.0; give a step size > 0"),
    ("linear", {"model": "looped.newton", "scale": -1}, "train: scale = -1.0; give a number > 0, or 0 for"),
    ("series", {"representation": -1}, "train: representation = -1; it is a seed; give one >= 0"),
    ("representation", {"representation": -1}, "train: representation = -1; it is a seed; give one >= 0"),
    ("linear", {"width": 10**6}, "train: needs about "),
    ("linear", {"batch": 10**9}, "train: needs about "),
    ("text", {}, "train: the task text is made of a text; give its path as text"),
    ("text", {"text": "missing.txt"}, "train: text: there is no file 'missing.txt'"),
]


@pytest.mark.parametrize(("task", "named", "message"), REFUSED, ids=[each[2][7:40] for each in REFUSED])
def test_refusals(task: str, named: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as refused:
        train(task, **named)
    assert str(refused.value).startswith(message)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_a_device_that_is_absent_is_refused() -> None:
    with pytest.raises(UsageError, match="device 'cuda' was asked for, but torch finds no CUDA device here"):
        train("linear", device="cuda", **TINY)


def test_refusals_of_folders_and_checkpoints(tmp_path: Path) -> None:
    folder = tmp_path / "run"

    def refused(message: str, **named: Any) -> None:
        with pytest.raises(UsageError, match=message):
            train("linear", **{"folder": folder, "resume": True, **TINY, **named})

    refused(r"train: resume: there is no file '.*checkpoint.safetensors'")
    train("linear", folder=folder, **TINY)
    refused(r"train: '.*run' holds a training; resume it, or choose another folder", resume=False)
    refused(r"is of another training: width 4 there and 8 here; resume with its settings", width=8)
    refused(r"is of another training: model 'standard' there and 'looped' here; resume with", model="looped")
    refused(r"is at step 24, which is above steps = 3; give more steps", steps=3)
    file = folder / "checkpoint.safetensors"
    content = file.read_bytes()
    file.write_bytes(content[:-5])
    refused(r"train: '.*' is cut off, or no safetensors file; take a copy that is whole")
    file.write_bytes(content[:300])
    with pytest.raises(UsageError, match=r"train: '.*' is cut off, or no safetensors file"):
        load(folder)
    (tmp_path / "file").write_text("")
    refused("'.*file' is a file where a folder is wanted", folder=tmp_path / "file", resume=False)


def test_two_trainings_in_one_folder_are_refused_while_one_runs(tmp_path: Path) -> None:
    folder, seen = tmp_path / "run", []

    def second(at: TrainingProgress) -> None:
        for resume in (False, True):
            with pytest.raises(UsageError) as refused:
                train("linear", folder=folder, resume=resume, **TINY)
            seen.append(str(refused.value))

    first = train("linear", folder=folder, progress=second, **TINY)
    words = f"train: another process is at work in '{folder}'; wait for it, stop it, or choose another folder."
    assert set(seen) == {words}
    assert same(train("linear", folder=folder, resume=True, **TINY), first)


def test_refusals_of_texts(tmp_path: Path) -> None:
    text, other, latin = (tmp_path / name for name in ("text", "other", "latin"))
    text.write_text("abcabc" * 5)
    other.write_text("abcabd" * 5)
    latin.write_bytes("déjà vu".encode("latin-1"))
    sizes: dict[str, Any] = {"n": 2, "length": 6, "width": 4, "heads": 2, "layers": 1, "steps": 2}
    with pytest.raises(UsageError, match=r"train: text: '.*latin' is not a UTF-8 text file"):
        train("text", text=str(latin), **sizes)
    train("text", text=str(text), folder=tmp_path / "run", **sizes)
    with pytest.raises(UsageError, match=r"is of another training: text '.* there and '.* here"):
        load(tmp_path / "run", text=str(other))
