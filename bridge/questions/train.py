"""A model trained on a task, in a folder that a later call resumes (`boundsmith train`)."""

import contextlib
import json
import math
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, asdict, dataclass, fields
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
from torch import nn

from bridge.export.bars import notebook_bar
from bridge.export.written_files import check_folder, write_bytes, write_text
from bridge.limits.accepted import require_known
from bridge.limits.files import read_bytes, read_text, require_file
from bridge.limits.memory import require_memory
from bridge.limits.run import torch_device
from bridge.questions.constructed import JOINED, MODELS
from bridge.questions.kept import locked
from numeric.training.catalogue import TASKS, TEXTS
from numeric.training.checkpoints import Checkpoint
from numeric.training.errors import TrainingError
from numeric.training.models import Architecture, Form, LoopedArchitecture, seeded
from numeric.training.tasks import HELD_OUT, LearningTask
from numeric.training.trainer import Optimisation, Trainer, TrainingProgress
from symbolic.words.errors import UsageError

CHECKPOINT, RECORD = "checkpoint.safetensors", "training.json"
LARGEST = 8 << 30  # bytes of a checkpoint that is read
PROMPTS, AT_ONCE = 2048, 256
NO_MEMORY = "can't allocate memory"  # in what torch says on a CPU
MEANINGS = {"int": "a whole number", "float": "a number", "bool": "true or false", "str": "a word"}


@dataclass(frozen=True)
class Trained:
    """What a training came to. `interrupted` says whether Ctrl-C or SIGTERM ended it; it was saved then too."""

    trainer: Trainer
    folder: Path | None
    interrupted: bool = False

    def __repr__(self) -> str:
        at, loss = self.trainer, f", loss {self.trainer.history[-1][1]:.4g}" if self.trainer.history else ""
        return f"<Trained {at.settings.get('model', 'model')}: step {at.step} of {at.how.steps}{loss}>"

    def __str__(self) -> str:
        """The record, a line each."""
        return "\n".join(f"{name}: {value}" for name, value in self.record.items())

    @property
    def model(self) -> nn.Module:
        return self.trainer.model

    @property
    def task(self) -> LearningTask:
        return self.trainer.task

    def errors(self, prompts: int = PROMPTS, task: LearningTask | None = None) -> list[float]:
        """The mean error at each predicted token over prompts that were not trained on, by default of the own task.

        That is the squared distance from the target, and of letters the cross-entropy. Raises UsageError for prompts
        that are longer than the learnt positions.
        """
        if prompts < 1:
            raise UsageError(f"errors: prompts = {prompts}; give a whole number >= 1")
        task, sums = task or self.task, []
        with torch.no_grad(), _refusals():
            for number, drawn in enumerate(range(0, prompts, AT_ONCE)):
                count, format = min(AT_ONCE, prompts - drawn), self.trainer.number_format
                batch = task.batch(count, 0, number, HELD_OUT, format).to(self.trainer.device)
                sums.append(task.errors(self.model(batch.tokens)[-1:], batch).double().sum((0, 1)))
        return (sum(sums[1:], start=sums[0]) / prompts).tolist()

    @property
    def record(self) -> dict[str, Any]:
        """In numbers and words, for JSON."""
        at = self.trainer
        return {
            **at.settings,
            **asdict(at.how),
            "device": str(at.device),
            "parameters": sum(each.numel() for each in at.parameters),
            "step": at.step,
            "seconds": at.seconds,
            "loss": at.history[-1][1] if at.history else None,
        }


def train(
    task: str,
    *,
    model: str = "standard",
    folder: str | os.PathLike[str] | None = None,
    resume: bool = False,
    seconds: float = math.inf,
    interval: float = 60.0,
    device: str = "cpu",
    progress: Callable[[TrainingProgress], None] | None = None,
    **settings: Any,
) -> Trained:
    """Trains a model on a task (linear, representation, network, series, chain, induction, text, translation).

        train("linear", model="algoformer", d=2, examples=10, steps=1600, rate=3e-3, folder="runs/algoformer")

    The model is standard, looped, algoformer, linear, or starts at a construction: looped.gradient_descent,
    looped.newton, induction.vanilla. `settings` are those of the task, the model and the optimisation; `text`, and the
    `source_text` and `target_text` of a translation, are paths. With a `folder`, a checkpoint is written there at the
    start, each `interval` seconds and at the end; `resume` goes on from it, and ends with the weights that a training
    without a stop has, bit by bit on a CPU. `seconds` ends this call, not the training. Ctrl-C and SIGTERM save and end
    it.

    Raises UsageError for names and numbers that are none, a folder that is in use, a checkpoint of another training, a
    device that is not there, a disk that takes no more, and a loss that is not finite.
    """
    if not (isinstance(seconds, int | float) and seconds > 0):
        raise UsageError(f"train: seconds = {seconds!r:.80}; give a number > 0")
    if not (isinstance(interval, int | float) and interval >= 0):
        raise UsageError(f"train: interval = {interval!r:.80}; give a number >= 0")
    if resume and folder is None:
        raise UsageError("train: resume without a folder; name the one that holds the checkpoint")
    with _refusals():
        trainer = set_up(task, model, device, settings)
        place = None if folder is None else Path(folder)
        with _prepared(trainer, place, resume) as save, asked_to_stop() as stopping, notebook_bar() as bar:
            heard = progress or (lambda seen: bar(seen.step, seen.steps, f"loss {seen.loss:.4g}"))
            trainer.run(seconds=seconds, interval=interval, save=save, progress=heard, stopping=stopping)
            stopped = stopping()
    return Trained(trainer, place, stopped)


def load(folder: str | os.PathLike[str], *, device: str = "cpu", **texts: str) -> Trained:
    """The training in that folder as it stands. A task made of texts needs these again, as paths:
    `text`, or `source_text` and `target_text`.

    Raises UsageError where there is no checkpoint, for one that was cut off or changed, and for another text.
    """
    path = Path(folder) / CHECKPOINT
    with _refusals():
        found = Checkpoint.from_bytes(read_bytes(str(path), "train", LARGEST), str(path))
        held = dict(found.facts["settings"])
        named = {key: value for key, value in held.items() if key not in ("task", "model", *TEXTS)}
        for name in texts:
            require_known(name, [each for each in TEXTS if each in held], f"train: the task {held['task']} has no text")
        named |= texts
        if "steps" not in named:
            named["steps"] = max(1, found.facts["step"])
        trainer = set_up(held["task"], held["model"], device, named)
        trainer.load(found, str(path))
    return Trained(trainer, Path(folder))


def set_up(task: str, model: str, device: str, settings: Mapping[str, Any]) -> Trainer:
    """The trainer at its start. Raises UsageError and TrainingError."""
    require_known(task, list(TASKS), "train: there is no task")
    require_known(model, list(MODELS), "train: there is no model")
    kinds: tuple[Any, ...] = (TASKS[task], MODELS[model][0], Optimisation)
    own = {field.name: field for kind in kinds for field in fields(kind)}
    for name in settings:
        require_known(name, list(own), f"train: the task {task} and the model {model} have no setting")
    given = {name: _typed(own[name], value) for name, value in settings.items()}
    for name in own:
        if name in TEXTS:
            if name not in given:
                raise UsageError(f"train: the task {task} is made of a text; give its path as {name}")
            given[name] = read_text(given[name], f"train: {name}")
    if "joined" in own:
        given.setdefault("joined", model in JOINED)
    drawn, sizes, how = (kind(**{f.name: given[f.name] for f in fields(kind) if f.name in given}) for kind in kinds)
    if isinstance(sizes, Architecture):
        require_memory("train", memory_of(MODELS[model][1], sizes, drawn.form, how.batch), "lower the sizes or batch")
    made = seeded(lambda: MODELS[model][1](sizes, drawn.form), how.seed)
    described = {"task": task, "model": model, **described_settings(drawn), **asdict(sizes)}
    return Trainer(made, drawn, how, described, torch_device(device))


def described_settings(task: LearningTask) -> dict[str, Any]:
    """The settings of a task, of its texts the SHA-256."""
    named = asdict(task)
    return named | {name: sha256(named[name].encode()).hexdigest() for name in TEXTS if name in named}


def memory_of(model: type[nn.Module], sizes: Architecture, form: Form, batch: int) -> int:
    """About the bytes that a step takes: parameters, gradients and two moments; what the backward pass reads again."""
    with torch.device("meta"):
        parameters = sum(each.numel() for each in model(sizes, form).parameters())
    loops = sizes.T + sizes.delta_T + 2 if isinstance(sizes, LoopedArchitecture) else 1
    of_token = 20 * sizes.width + 2 * sizes.heads * form.length  # in a block: about 20 vectors, and scores
    averaged = sizes.delta_T + 1 if isinstance(sizes, LoopedArchitecture) else 1
    ends = form.inputs + 3 * averaged * form.outputs  # what is predicted, its softmax, and their gradients
    return 4 * (4 * parameters + batch * form.length * (of_token * sizes.layers * loops + ends))


def _typed(field: "Field[Any]", value: Any) -> Any:
    """The value as the setting has it: a whole number for a number, the words true and false."""
    kind: type = type(field.default)
    if kind is bool and value in ("true", "false"):
        return value == "true"
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind is str and isinstance(value, os.PathLike):
        return os.fspath(value)
    if type(value) is not kind or value != value:
        raise UsageError(f"train: {field.name} = {value!r:.80}; give {MEANINGS[kind.__name__]}")
    return value


@contextlib.contextmanager
def _prepared(trainer: Trainer, folder: Path | None, resume: bool) -> Iterator[Callable[[bytes], None] | None]:
    """What saves in the folder, which is locked meanwhile; the trainer goes on from the checkpoint there."""
    if folder is None:
        yield None
        return
    check_folder(folder)
    path = folder / CHECKPOINT
    if resume:
        require_file(str(path), "train: resume", LARGEST)
    folder.mkdir(exist_ok=True)
    with locked(folder, "train"):
        if resume:
            trainer.resume(read_bytes(str(path), "train: resume", LARGEST), str(path))
        elif path.exists():
            raise UsageError(f"train: '{folder}' holds a training; resume it, or choose another folder")
        yield _saving(trainer, folder)


def _saving(trainer: Trainer, folder: Path) -> Callable[[bytes], None]:
    """Writes the checkpoint, and beside it what a person reads; each file whole or not at all."""
    kept: list[int] = []

    def save(content: bytes) -> None:
        try:
            write_bytes(folder / CHECKPOINT, content)
            kept.append(trainer.step)
            write_text(folder / RECORD, json.dumps(Trained(trainer, folder).record, indent=2) + "\n")
        except UsageError as error:
            which = f"the checkpoint of step {kept[-1]} is kept" if kept else "no checkpoint was written"
            raise UsageError(f"train: {str(error).rstrip('.')}; {which}") from None

    return save


@contextlib.contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except TrainingError as error:
        raise UsageError(f"train: {error}") from None
    except RuntimeError as error:
        if not isinstance(error, torch.OutOfMemoryError) and NO_MEMORY not in str(error):
            raise
        raise UsageError("train: there is not enough memory; lower the sizes or batch") from None


@contextlib.contextmanager
def asked_to_stop() -> Iterator[Callable[[], bool]]:
    """Inside, the first Ctrl-C or SIGTERM is only noted, so that a step is never cut in two; the second ends all."""
    asked: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield lambda: bool(asked)
        return

    def note(number: int, frame: Any) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)

    before = {each: signal.signal(each, note) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(asked)
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
