"""AdamW on the batches of a seeded stream. A training that is stopped anywhere and resumed ends with the same weights.

Nothing but the parameters, the moments of AdamW and the number of the step goes on from step to step: batch k and the
rate at step k follow from k. On a CPU with one thread they are the same bits, however often the training is stopped.
"""

import math
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from numeric.search.threads import one_thread
from numeric.training.checkpoints import Checkpoint
from numeric.training.errors import TrainingError, require
from numeric.training.tasks import LearningTask

SCHEDULES = "constant", "linear", "cosine"
DTYPES = "float32", "bfloat16", "float64"
CPU = torch.device("cpu")
MOST_SEEDS = 2**63
LOOKED_AT = 16  # steps between two looks at the losses, which wait for the device


@dataclass(frozen=True)
class Optimisation:
    """How a model is trained: AdamW, whose `rate` rises over `warmup` steps and falls by the schedule, and clipping.

    `clip` bounds the norm of the gradient (0: none). `dtype` bfloat16 means autocast; parameters stay float32 then.
    """

    steps: int = 1000
    batch: int = 64
    rate: float = 1e-3
    warmup: int = 0
    schedule: str = "constant"
    clip: float = 1.0
    decay: float = 0.0
    seed: int = 0
    dtype: str = "float32"
    compile: bool = False

    def __post_init__(self) -> None:
        for name, least in (("steps", 1), ("batch", 1), ("warmup", 0), ("seed", 0)):
            given = getattr(self, name)
            require(isinstance(given, int) and given >= least, f"{name} = {given}", f"give a whole number >= {least}")
        require(self.seed < MOST_SEEDS, f"seed = {self.seed}", "give one below 2^63")
        require(0 < self.rate < math.inf, f"rate = {self.rate}", "give a number > 0")
        for name in ("clip", "decay"):
            require(0 <= getattr(self, name) < math.inf, f"{name} = {getattr(self, name)}", "give a number >= 0")
        for name, known in (("schedule", SCHEDULES), ("dtype", DTYPES)):
            given = getattr(self, name)
            require(given in known, f"{name} = {given!r:.80}", f"choose {', '.join(known)}")

    def rate_at(self, step: int) -> float:
        """Of the step with this number, 0 .. steps - 1: linear and cosine end at 0 after the last one."""
        if step < self.warmup:
            return self.rate * (step + 1) / self.warmup
        left = (self.steps - step) / max(1, self.steps - self.warmup)
        fall = {"constant": 1.0, "linear": left, "cosine": (1 - math.cos(math.pi * left)) / 2}
        return self.rate * fall[self.schedule]


@dataclass(frozen=True)
class TrainingProgress:
    """After `step` of `steps` steps: the loss at the last batch, and the seconds that all steps took."""

    step: int
    steps: int
    loss: float
    seconds: float


@dataclass
class Trainer:
    """A model in training on a task. `settings` say what it is, so that no checkpoint of another one is resumed."""

    model: nn.Module
    task: LearningTask
    how: Optimisation
    settings: Mapping[str, Any] = field(default_factory=dict)
    device: torch.device = CPU
    clock: Callable[[], float] = time.monotonic
    step: int = field(default=0, init=False)
    seconds: float = field(default=0.0, init=False)
    history: list[tuple[int, float, float]] = field(default_factory=list, init=False)  # step, loss, seconds
    _seen: list[Tensor] = field(default_factory=list, init=False)  # loss and norm of the gradient, not looked at yet

    def __post_init__(self) -> None:
        self.model.to(self.device, self.number_format)
        self.parameters = list(self.model.parameters())
        self.optimizer = torch.optim.AdamW(self.parameters, self.how.rate, weight_decay=self.how.decay)
        self.run_model = torch.compile(self.model) if self.how.compile else self.model

    @property
    def weights(self) -> dict[str, Tensor]:
        """Those of the model by name; what it uses at several places is there once."""
        return {**dict(self.model.named_parameters()), **dict(self.model.named_buffers())}

    @property
    def number_format(self) -> torch.dtype:
        """Of the parameters and of what is drawn."""
        return torch.float64 if self.how.dtype == "float64" else torch.float32

    def loss(self, number: int) -> Tensor:
        """That of batch `number` of the training's stream."""
        batch = self.task.batch(self.how.batch, self.how.seed, number, dtype=self.number_format).to(self.device)
        with self._autocast():
            predicted = self.run_model(batch.tokens)
        return self.task.loss(predicted.to(self.number_format), batch)

    def _autocast(self) -> AbstractContextManager[Any]:
        half = self.how.dtype == "bfloat16"
        return torch.autocast(self.device.type, torch.bfloat16) if half else nullcontext()

    def take_step(self) -> None:
        """One step, of batch number `step`."""
        self.optimizer.param_groups[0]["lr"] = self.how.rate_at(self.step)
        self.optimizer.zero_grad()
        loss = self.loss(self.step)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.parameters, self.how.clip or math.inf)
        self.optimizer.step()
        self._seen.append(torch.stack([loss.detach(), norm]))
        self.step += 1

    def run(
        self,
        *,
        seconds: float = math.inf,
        interval: float = math.inf,
        save: Callable[[bytes], None] | None = None,
        progress: Callable[[TrainingProgress], None] = lambda seen: None,
        stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        """Steps up to the last one, or until `seconds` from now are over or `stopping` says so.

        `save` gets a checkpoint at the start, each `interval` seconds and at the end; what it raises ends the run.
        Raises TrainingError where a loss is not finite. Nothing is saved from there on: the last checkpoint is good.
        """
        with one_thread():
            start = saved = now = self.clock()
            before = self.seconds
            self._save(save)
            while self.step < self.how.steps and now - start < seconds and not stopping():
                self.take_step()
                now = self.clock()
                self.seconds = before + now - start
                if len(self._seen) == LOOKED_AT or now - saved >= interval:
                    progress(self._look())
                if now - saved >= interval:
                    self._save(save)
                    saved = self.clock()
            if self._seen:
                progress(self._look())
            self._save(save)

    def _save(self, save: Callable[[bytes], None] | None) -> None:
        if save is not None:
            save(self.checkpoint().to_bytes())

    def _look(self) -> TrainingProgress:
        seen = torch.stack(self._seen)  # (K, 2)
        first, self._seen = self.step - len(seen), []
        bad = ~torch.isfinite(seen).all(1)
        if bool(bad.any()):
            step, (loss, norm) = first + int(bad.nonzero()[0]), seen[bad.nonzero()[0, 0]].tolist()
            raise TrainingError(
                f"at step {step + 1} the loss is {loss:g} and the norm of its gradient {norm:g}; the last checkpoint "
                "is of an earlier step and is kept; train with a smaller rate or clip"
            )
        loss = float(seen[-1, 0])
        self.history.append((self.step, loss, self.seconds))
        return TrainingProgress(self.step, self.how.steps, loss, self.seconds)

    def checkpoint(self) -> Checkpoint:
        """Everything that goes on, and the history of the loss."""
        found = {f"model.{name}": each for name, each in self.weights.items()}
        for number, state in self.optimizer.state_dict()["state"].items():
            found |= {f"optimizer.{number}.{name}": each for name, each in state.items()}
        history = torch.tensor(self.history, dtype=torch.float64, device="cpu").reshape(-1, 3)
        return Checkpoint(
            {**found, "history": history}, {**self._own_facts(), "step": self.step, "seconds": self.seconds}
        )

    def _own_facts(self) -> dict[str, Any]:
        how = {name: value for name, value in asdict(self.how).items() if name != "steps" or self._falls}
        return {"settings": {**self.settings, **how}, "torch": torch.__version__}

    @property
    def _falls(self) -> bool:
        """Whether the rate depends on how many steps there are: else a training may go on for more of them."""
        return self.how.schedule != "constant"

    def resume(self, content: bytes, name: str) -> None:
        """Goes on where that checkpoint stands. Raises TrainingError, which says what differs, for one of another."""
        found = Checkpoint.from_bytes(content, name)
        self.load(found, name)
        held = found.facts["torch"]
        require(
            held == torch.__version__, f"'{name}' is of torch {held}, here is {torch.__version__}", "resume with that"
        )
        done = f"'{name}' is at step {self.step}, which is above steps = {self.how.steps}"
        require(self.step <= self.how.steps, done, "give more steps")

    def load(self, found: Checkpoint, name: str) -> None:
        """The state of that checkpoint. Raises TrainingError for one of another training."""
        _require_same(name, found.facts["settings"], self._own_facts()["settings"])
        of_model = {key.removeprefix("model."): each for key, each in found.tensors.items() if key.startswith("model.")}
        shapes = [{key: each.shape for key, each in weights.items()} for weights in (of_model, self.weights)]
        require(shapes[0] == shapes[1], f"'{name}' has weights of another version of this model", "train it again")
        self.model.load_state_dict(of_model, strict=False)  # a shared weight has one of its names
        moments: dict[int, dict[str, Tensor]] = {}
        for key, each in found.tensors.items():
            if key.startswith("optimizer."):
                _, number, kind = key.split(".")
                moments.setdefault(int(number), {})[kind] = each
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": moments})
        self.history = [(int(step), loss, seconds) for step, loss, seconds in found.tensors["history"].tolist()]
        self.step, self.seconds = found.facts["step"], found.facts["seconds"]


def _require_same(name: str, held: Mapping[str, Any], own: Mapping[str, Any]) -> None:
    differ = [key for key in {**held, **own} if held.get(key) != own.get(key)]
    differ = [key for key in differ if key in ("task", "model")] or differ  # each has settings of its own
    words = ", ".join(f"{key} {held.get(key)!r:.60} there and {own.get(key)!r:.60} here" for key in differ)
    require(not differ, f"'{name}' is of another training: {words}", "resume with its settings")
