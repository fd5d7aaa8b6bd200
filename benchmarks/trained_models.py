"""The trainings whose figures `benchmarks.training` measures, by name: task, model, settings."""

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bridge.questions.train import CHECKPOINT, Trained, load, train

SEEDS = 0, 1, 2
REGRESSION: Mapping[str, Any] = {
    "d": 2, "examples": 10, "width": 32, "rate": 3e-3, "warmup": 100, "schedule": "cosine",
}  # fmt: skip
# With 100 of them the loop of an AlgoFormer, which sees the tokens once, may end at a state that forgets them: no
# gradient leads out.
LONG_WARMUP = 400
LONGEST = 20  # examples of the prompts beyond the trained length
NETWORKS: Mapping[str, Any] = {
    "d": 3, "depth": 3, "examples": 50, "w1": 0.5, "width": 32, "batch": 16, "steps": 10_000, "rate": 2e-3,
    "warmup": 100, "schedule": "cosine", "context": 151,
}  # fmt: skip
# Scores and sink that leave the heads room to train, and bounds that hold for inputs that are scaled by 4 too.
DESCENT: Mapping[str, Any] = {"T": 3, "eta": 0.5, "B_x": 32.0, "B_y": 128.0}


@dataclass(frozen=True)
class Recipe:
    """What is trained, and how: until its steps or its seconds are over, with each of the seeds."""

    task: str
    model: str
    settings: Mapping[str, Any]
    seconds: float = math.inf
    seeds: tuple[int, ...] = SEEDS


def _regression(model: str, steps: int, **settings: Any) -> Recipe:
    return Recipe("linear", model, {**REGRESSION, "steps": steps, **settings})


def _networks(attention: str, layers: int) -> Recipe:
    return Recipe("network", "standard", {**NETWORKS, "attention": attention, "layers": layers}, seeds=(0,))


def _loops(delta_T: int) -> Recipe:
    settings = {**REGRESSION, "warmup": LONG_WARMUP, "steps": 1600, "T": 6, "delta_T": delta_T}
    return Recipe("representation", "algoformer", settings)


RECIPES: Mapping[str, Recipe] = {
    "linear": Recipe(
        "linear", "linear", {"d": 5, "examples": 20, "steps": 4000, "batch": 256, "rate": 1e-2, "schedule": "cosine"}
    ),
    "standard": _regression("standard", 4000, context=2 * LONGEST + 1),
    "small": _regression("standard", 4000, layers=1),  # as many parameters as the looped one
    "looped": _regression("looped", 3000),
    "algoformer": _regression("algoformer", 1600, warmup=LONG_WARMUP),
    **{positions: _regression("standard", 4000, positions=positions) for positions in ("none", "alibi")},
    **{f"{kind}-{depth}": _networks(kind, depth) for kind in ("softmax", "relu") for depth in (1, 2, 4)},
    **{f"loops-{width}": _loops(width) for width in (6, 3, 1)},
    "descent": Recipe(
        "linear", "looped.gradient_descent",
        {"d": 2, "examples": 10, **DESCENT, "rate": 1e-4, "steps": 1_000_000}, seconds=120.0,
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Stored:
    """The trainings of a folder, each in a folder of its own: read, gone on with, or made."""

    folder: Path
    _kept: dict[tuple[str, int], Trained] = field(default_factory=dict)

    def get(self, name: str, seed: int) -> Trained:
        if (name, seed) not in self._kept:
            self._kept[name, seed] = self._trained(name, seed)
        return self._kept[name, seed]

    def seeds(self, name: str) -> list[Trained]:
        """Of each seed of the figure."""
        return [self.get(name, seed) for seed in RECIPES[name].seeds]

    def _trained(self, name: str, seed: int) -> Trained:
        recipe, place = RECIPES[name], self.folder / f"{name}-{seed}"
        there, seconds = (place / CHECKPOINT).exists(), recipe.seconds
        print(f"{name}, seed {seed}: {'read, or gone on with' if there else 'trained'}", file=sys.stderr, flush=True)
        if there and seconds < math.inf:
            before = load(place)
            seconds -= before.trainer.seconds
            if seconds <= 0:
                return before
        call = {"model": recipe.model, "seed": seed, "folder": place, "resume": there, **recipe.settings}
        trained = train(recipe.task, seconds=seconds, **call)
        if trained.interrupted:
            raise KeyboardInterrupt
        return trained
