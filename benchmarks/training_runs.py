"""The trainer itself: kills, `--seconds`, and what it costs beside a loop that anyone would write."""

import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from benchmarks.trained_models import REGRESSION
from bridge.questions.train import CHECKPOINT, load, set_up, train

KILLS, STEPS, MOMENTS = 20, 600, (0.05, 0.5)  # seconds of processor time from a start to a kill
ASKED, LATE = 5.0, 2.0
ROUNDS, PIECE = 8, 60  # steps of the trainer and of the loop, in turns


@dataclass(frozen=True)
class Line:
    """A number of each seed, and the bounds that are asked of it."""

    what: str
    values: Sequence[float]
    most: float = math.inf
    least: float = -math.inf

    @property
    def kept(self) -> bool:
        return all(self.least <= each <= self.most for each in self.values)

    def __str__(self) -> str:
        bounds = [(self.most, "at most"), (self.least, "at least")]
        asked = " and ".join(f"{word} {bound:g}" for bound, word in bounds if math.isfinite(bound))
        numbers = " ".join(f"{each:.4g}" for each in self.values)
        return f"{self.what}: {numbers}" + (f" ({asked}: {'kept' if self.kept else 'NOT KEPT'})" if asked else "")


Lines = Iterator[Line]


def kills() -> Lines:
    """A training that saves after each step, killed at random moments; a file of it is whole at each of them."""
    settings, moments = {**REGRESSION, "steps": STEPS}, random.Random(0)
    whole = train("linear", **settings)
    with tempfile.TemporaryDirectory() as name:
        folder, killed, steps = Path(name) / "run", 0, [0]
        while killed < KILLS:
            killed += _killed(folder, moments.uniform(*MOMENTS))
            if (folder / CHECKPOINT).exists():
                steps.append(load(folder).trainer.step)
                if steps[-1] == STEPS:  # it is done: begin again
                    (folder / CHECKPOINT).unlink()
        halves = [each for each in folder.iterdir() if each.name.endswith(".part")]
        ended = train("linear", folder=folder, resume=(folder / CHECKPOINT).exists(), **settings)
    differ = sum(int((a != b).sum()) for a, b in zip(whole.trainer.parameters, ended.trainer.parameters, strict=True))
    yield Line(f"largest step that a checkpoint had after one of {KILLS} kills", [max(steps)], least=1)
    yield Line("half-written files", [len(halves)], most=0)
    yield Line("weights that differ from those of a training without a stop", [differ], most=0)


def _killed(folder: Path, after: float) -> bool:
    """Whether so much processor time ends the run: the default of SIGPROF is to kill, as by `kill -9`."""
    with warnings.catch_warnings(action="ignore"):  # of a fork beside threads, which the training does not touch
        child = os.fork()
    if not child:
        signal.setitimer(signal.ITIMER_PROF, after)
        there = (folder / CHECKPOINT).exists()
        train("linear", folder=folder, resume=there, interval=0.0, **{**REGRESSION, "steps": STEPS})
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def seconds() -> Lines:
    """Of a call that is given 5, and of the whole command beside one that is given next to none."""
    for model in ("standard", "looped", "algoformer", "looped.gradient_descent"):
        sizes = {name: REGRESSION[name] for name in ("d", "examples", "width")} if "." not in model else {"d": 2}
        start = time.perf_counter()
        train("linear", model=model, seconds=ASKED, steps=10**6, **sizes)
        yield Line(f"seconds of a call with seconds = 5, {model}", [time.perf_counter() - start], most=ASKED + LATE)
    long, short = _command(ASKED), _command(1e-3)
    yield Line(
        "seconds of `boundsmith train --seconds 5`, less those of `--seconds 0.001`", [long - short], ASKED + LATE
    )


def _command(given: float) -> float:
    with tempfile.TemporaryDirectory() as name:
        words = ["train", "linear", "--steps", "1000000", "--seconds", str(given), "-o", f"{name}/run"]
        start = time.perf_counter()
        subprocess.run([sys.executable, "-m", "bridge.cli", *words], check=True, capture_output=True)
        return time.perf_counter() - start


def overhead() -> Lines:
    """Processor time of a step, the least of some rounds."""
    for model in ("standard", "looped"):
        trainer = set_up("linear", model, "cpu", {**REGRESSION, "steps": 10**6})
        other = set_up("linear", model, "cpu", {**REGRESSION, "steps": 10**6})
        optimizer = torch.optim.AdamW(other.parameters, 1e-3, weight_decay=0.0)
        own, by_hand = [], []
        for number in range(1, ROUNDS + 1):
            start = time.process_time()
            trainer.run(stopping=lambda of=trainer, end=number * PIECE: of.step >= end)
            own.append(time.process_time() - start)
            start = time.process_time()
            for k in range(PIECE):
                batch = other.task.batch(other.how.batch, 0, k)
                optimizer.zero_grad()
                loss = other.task.loss(other.model(batch.tokens), batch)
                loss.backward()
                nn.utils.clip_grad_norm_(other.parameters, 1.0)
                optimizer.step()
                loss.item()  # a loop that anyone would write looks at its losses
            by_hand.append(time.process_time() - start)
        yield Line(
            f"a step of the trainer over one of a hand-written loop, {model}", [min(own) / min(by_hand)], most=1.1
        )
