"""Trainings that claims of experiments rest on: made here, or read from a folder of stored ones.

A row names each by its `TrainingPlan`. Those of a folder are found by their settings, whatever made them.
"""

import os
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from bridge.limits.cost import Count
from bridge.limits.files import read_json, read_text
from bridge.questions.constructed import MODELS
from bridge.questions.train import AT_ONCE, CHECKPOINT, RECORD, Trained, described_settings, load, train
from numeric.training.catalogue import TASKS, TEXTS
from numeric.training.errors import TrainingError
from numeric.training.models import Architecture, LoopedArchitecture
from numeric.training.tasks import LearningTask
from numeric.training.trainer import Optimisation
from symbolic.words.errors import UsageError

MOST_FOLDERS = 100_000  # below the one that is named
FORMATS = ("dtype", "compile")  # settings of a training that no claim is about
KEPT = 256  # small trainings in the process
BLOCK = 1e-3  # seconds that a block takes in Python, forward and backward
PRODUCT = 1e-11  # seconds, in float32


@dataclass(frozen=True)
class TrainingPlan:
    """A task, a model, and their settings and those of the optimisation, where they are not the usual ones."""

    task: str
    model: str
    settings: tuple[tuple[str, Any], ...]

    @classmethod
    def of(cls, task: str, model: str, settings: Mapping[str, Any]) -> "TrainingPlan":
        """With what the task, the model and the optimisation take of these."""
        known = {each.name for kind in (TASKS[task], MODELS[model][0], Optimisation) for each in fields(kind)}
        return cls(task, model, tuple((name, value) for name, value in settings.items() if name in known))

    @property
    def texts(self) -> dict[str, str]:
        """The paths of the texts of its task."""
        return {name: value for name, value in self.settings if name in TEXTS}

    @property
    def learning_task(self) -> LearningTask:
        """Raises UsageError for texts that are not a task's."""
        read = {name: read_text(path, f"train: {name}") for name, path in self.texts.items()}
        try:
            found: LearningTask = self._made(TASKS[self.task], **read)
        except TrainingError as error:
            raise UsageError(f"train: {error}") from None
        return found

    @property
    def optimisation(self) -> Optimisation:
        found: Optimisation = self._made(Optimisation)
        return found

    @property
    def architecture(self) -> Architecture:
        found: Architecture = self._made(MODELS[self.model][0])
        return found

    def _made(self, kind: type[Any], **read: str) -> Any:
        known = {each.name for each in fields(kind)}
        return kind(**{name: value for name, value in self.settings if name in known} | read)

    def record(self, seed: int) -> dict[str, Any]:
        """The settings that a stored training of that seed has."""
        named = described_settings(self.learning_task) | asdict(self.architecture) | asdict(self.optimisation)
        wanted = {name: value for name, value in named.items() if name not in FORMATS}
        return {"task": self.task, "model": self.model, **wanted, "seed": seed}

    def command(self, seeds: Iterable[int]) -> str:
        """What makes the trainings of these seeds, to be typed."""
        over = "boundsmith sweep -o FOLDER --over seed=" + ",".join(map(str, seeds))
        given = " ".join(
            f"--steps {each}" if name == "steps" else f"--set {shlex.quote(f'{name}={each}')}"
            for name, each in self.settings
        )
        return f"{over} train {self.task} --model {self.model} {given} -o {{folder}}"

    def seconds(self, prompts: int, trained_here: bool) -> float:
        """About what it takes to evaluate the model at so many prompts, and to train it, on an idle core."""
        how, at, form = self.optimisation, self.architecture, self.learning_task.form
        loops, averaged = (at.T + 2, at.delta_T + 1) if isinstance(at, LoopedArchitecture) else (1, 1)
        blocks = at.layers * loops
        of_block = form.length * at.width * (24 * at.width + 4 * form.length)  # of a block at a prompt, forward
        products = blocks * of_block + 2 * averaged * form.length * at.width * form.outputs
        evaluated = blocks * BLOCK * prompts / AT_ONCE + PRODUCT * products * prompts
        return evaluated + trained_here * how.steps * (blocks * BLOCK + 3 * PRODUCT * products * how.batch)


@dataclass(frozen=True)
class Trainings:
    """Where the trainings of a row come from: a folder, or made here at their first use and kept in the process.

    `stored` has the place and the settings of each finished one below `folder`.
    """

    folder: str = ""
    stored: tuple[tuple[Path, Mapping[str, Any]], ...] = ()

    def get(self, plan: TrainingPlan, seed: int) -> Trained:
        """The training of that plan, which `missing` does not name. Raises UsageError for an unreadable checkpoint."""
        if not self.folder:
            return _made_here(plan, seed)
        place = self._place(plan, seed)
        assert place is not None  # else it is missing
        return _loaded(place, (place / CHECKPOINT).stat().st_mtime_ns, tuple(plan.texts.items()))

    def missing(self, plans: Iterable[TrainingPlan], seeds: Iterable[int]) -> str:
        """Of the first plan of which a seed is missing: what that is, and what makes it; "" if nothing is."""
        asked = list(seeds)
        for plan in plans if self.folder else ():
            if absent := [seed for seed in asked if self._place(plan, seed) is None]:
                over = ", ".join(map(str, absent))
                return (
                    f"'{self.folder}' has no finished training of {plan.model} on {plan.task} for the seeds {over}; "
                    f"this makes them: {plan.command(absent)}"
                )
        return ""

    def _place(self, plan: TrainingPlan, seed: int) -> Path | None:
        wanted = plan.record(seed)
        return next((place for place, settings in self.stored if wanted.items() <= settings.items()), None)


@lru_cache(maxsize=KEPT)
def _made_here(plan: TrainingPlan, seed: int) -> Trained:
    with torch.enable_grad():  # whatever the comparison runs in
        return train(plan.task, model=plan.model, seed=seed, **dict(plan.settings))


@lru_cache(maxsize=4)  # large models
def _loaded(place: Path, changed: int, texts: tuple[tuple[str, str], ...]) -> Trained:
    return load(place, **dict(texts))


def read_trainings(call: str, folder: str) -> Trainings:
    """Those that `boundsmith sweep` or `train` left below that folder; "": none, they are made here.

    Raises UsageError where there is no folder, no training in it, or too many folders.
    """
    if not folder:
        return Trainings()
    root = Path(folder)
    try:
        is_folder = root.is_dir()
    except (ValueError, OSError):  # a name that the system cannot have
        is_folder = False
    if not is_folder:
        raise UsageError(f"{call}: trained = {folder!r:.80} is no folder; name one that holds trainings")
    stored = []
    for number, (at, _, files) in enumerate(os.walk(root)):
        if number >= MOST_FOLDERS:
            raise UsageError(f"{call}: '{folder}' has more than {MOST_FOLDERS} folders; name the one of the trainings")
        if CHECKPOINT in files and RECORD in files:
            settings = read_json(str(Path(at) / RECORD), f"{call}: trained")
            if not isinstance(settings, dict):
                raise UsageError(f"{call}: '{Path(at) / RECORD}' is no record of a training; train it again")
            if settings.get("step") == settings.get("steps"):
                stored.append((Path(at), settings))
    if not stored:
        raise UsageError(f"{call}: '{folder}' has no finished training; `boundsmith train ... -o FOLDER` makes one")
    return Trainings(folder, tuple(stored))


def training_memory(tokens: Count, width: Count, heads: Count, layers: Count, blocks: Count, batch: Count) -> Count:
    """About the bytes of a training: `layers` with their moments, and what the backward pass reads of all `blocks`."""
    return 4 * (4 * layers * 12 * width**2 + batch * tokens * blocks * (20 * width + 2 * heads * tokens))
