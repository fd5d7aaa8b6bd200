"""The two-layer network of section 5 (wang2024), eqs. (9) and (10), with its softmax as printed, and its training.

Each layer of `TwoLayer` has the paper's own parameters; nothing in it is simplified. Shapes: B contexts, L tokens of
one coordinate, S = the number of terms of the second layer's sums (s = 2 .. L-1, or 2 .. L-2 as (10) prints).
"""

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.func import functional_call

from numeric.training.errors import TrainingError

LAST_KEYS = {"L-1": 1, "L-2": 2}  # the last s of the second layer's sums is L minus this
FIRST_LAYER = ("p_first",)
SECOND_LAYER = ("p", "g", "w_Q", "w_K", "h")
NAMES = FIRST_LAYER + SECOND_LAYER
STAGES = {"I": FIRST_LAYER, "II": SECOND_LAYER}
BLOCK = 1 << 22  # numbers held at once: contexts times tokens
CURVATURE_CONTEXTS = 2048
VERSION = 1


@dataclass(frozen=True)
class TrainingTask:
    """The target (8) for contexts of `length` tokens: the 4-gram part x_{L-2}, and the induction head with w*^2."""

    length: int
    alpha: float
    w_star: float

    def __post_init__(self) -> None:
        if self.length < 5 or not self.alpha > 0:
            raise TrainingError(f"Task: wanted L >= 5 and alpha > 0, got L = {self.length}, alpha = {self.alpha}")

    @property
    def g_star(self) -> float:
        return self.alpha / (1 + self.alpha)

    @property
    def h_star(self) -> float:
        return 1 / (1 + self.alpha)

    def target(self, x: Float[Tensor, "B L"]) -> Float[Tensor, "B 2"]:
        """f*(X) of (8): g* x_{L-2} beside h* times the sum over s = 2 .. L-1 of softmax(w*^2 x_L x_{s-1}) x_s."""
        attention = torch.softmax(self.w_star**2 * x[:, -1:] * x[:, :-2], -1)  # (B, L-2)
        head = (attention * x[:, 1:-1]).sum(-1)  # (B,)
        return torch.stack([self.g_star * x[:, -3], self.h_star * head], -1)


class TwoLayer(nn.Module):
    """TF_{-1}(X; theta) of (10), on y of (9). `p_first` is p^(1,1); infinite, the first layer copies y_s = x_{s-1}.

    `upper` is the last s of the second layer's two sums: "L-1", which (19) and (22) need, or "L-2", as (10) prints.
    The second head's keys are the y_s, as in Appendix B; (10) writes them as x_{s-1}, which they are at p_first = oo.
    """

    def __init__(
        self,
        length: int,
        start: Mapping[str, float],
        *,
        upper: str = "L-1",
        dtype: torch.dtype = torch.float64,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__()
        if upper not in LAST_KEYS:
            raise TrainingError(f"TwoLayer: upper = {upper!r} is none of {', '.join(LAST_KEYS)}")
        if set(start) != set(NAMES):
            raise TrainingError(f"TwoLayer: wanted a start for each of {', '.join(NAMES)}; got {', '.join(start)}")
        if length < 5:
            raise TrainingError(f"TwoLayer: wanted L >= 5, got {length}")
        self.length, self.upper = length, upper
        numbers = (nn.Parameter(torch.tensor(start[name], dtype=dtype, device=device)) for name in NAMES)
        self.p_first, self.p, self.g, self.w_Q, self.w_K, self.h = numbers

    @property
    def terms(self) -> int:
        """S: how many s the second layer's sums run over."""
        return self.length - 1 - LAST_KEYS[self.upper]

    def first_layer(self, x: Float[Tensor, "B L"]) -> Float[Tensor, "B S"]:
        """y_s of (9) for s = 2 .. S+1."""
        before = x[:, : self.terms]  # x_1 .. x_S, which is y at p_first = oo
        if torch.isinf(self.p_first.detach()):
            return before
        place = torch.arange(self.terms, device=x.device, dtype=x.dtype)
        lag = place[:, None] - place  # s - 1 - tau, (S, S)
        logits = torch.where(lag >= 0, -self.p_first * lag, -torch.inf)
        return before @ torch.softmax(logits, -1).T

    def forward(self, x: Float[Tensor, "B L"]) -> Float[Tensor, "B 2"]:
        if x.shape[1] != self.length:
            raise TrainingError(f"TwoLayer: contexts of {self.length} tokens are wanted; these have {x.shape[1]}")
        y, keys = self.first_layer(x), x[:, 1 : self.terms + 1]  # (B, S): y_s, x_s
        distance = self.length - 1 - torch.arange(2, self.terms + 2, device=x.device, dtype=x.dtype)  # L-1-s, (S,)
        gram = y @ torch.softmax(-self.p * distance, -1)  # (B,)
        attention = torch.softmax(self.w_Q * self.w_K * x[:, -1:] * y, -1)  # (B, S)
        return torch.stack([self.g * gram, self.h * (attention * keys).sum(-1)], -1)

    def numbers(self) -> dict[str, float]:
        """The six parameters."""
        return {name: float(value.detach()) for name, value in self.named_parameters()}


def start_of_stage_two(sigma: float) -> dict[str, float]:
    """(12), the first layer trained to its end (Lemma 5.3)."""
    return {"p_first": math.inf, **dict.fromkeys(SECOND_LAYER, sigma)}


def start_of_stage_one(sigma: float) -> dict[str, float]:
    """Appendix B: p, w_Q and w_K start at 0, all else at sigma."""
    return {"p_first": sigma, "p": 0.0, "g": sigma, "w_Q": 0.0, "w_K": 0.0, "h": sigma}


def partial_losses(network: TwoLayer, task: TrainingTask, x: Float[Tensor, "B L"]) -> Float[Tensor, "B 2"]:
    """Half the squared error of each coordinate at each context: their means estimate L_G4 and L_IH2."""
    return (network(x) - task.target(x)) ** 2 / 2


def gram_coefficients(network: TwoLayer) -> Float[Tensor, " L"]:
    """What the first coordinate, which is linear in X, makes of each token. Differentiable in the parameters."""
    with torch.enable_grad():  # the call may stand under no_grad
        x = torch.zeros(1, network.length, dtype=network.g.dtype, device=network.g.device, requires_grad=True)
        return torch.autograd.grad(network(x)[0, 0], x, create_graph=True)[0][0]


def population_gram(network: TwoLayer, task: TrainingTask) -> Tensor:
    """L_G4 itself: half the sum of squared coefficients of the error, since E x_s x_t is 1 for s = t and else 0."""
    wanted = torch.zeros(network.length, dtype=network.g.dtype, device=network.g.device)
    wanted[-3] = task.g_star  # x_{L-2}
    return ((gram_coefficients(network) - wanted) ** 2).sum() / 2


def contexts(count: int, like: TwoLayer, generator: torch.Generator) -> Tensor:
    """Gaussian contexts (count, L), in the network's dtype and on its device."""
    return torch.randn(count, like.length, generator=generator, dtype=like.g.dtype, device=like.g.device)


@dataclass(frozen=True)
class Snapshot:
    """The network at one time of the flow that its steps follow (time = sum of the step sizes)."""

    step: int
    time: float
    parameters: dict[str, float]
    gram: float
    head: float


@dataclass
class Training:
    """Gradient steps on fresh Gaussian batches, in one of the paper's two stages.

    `batch` contexts a step, drawn from the seeded generator. The step is half of the largest stable one for the
    curvature estimated at hand, and moves no parameter by more than `move`. `time` is the time of the flow (12).
    """

    network: TwoLayer
    task: TrainingTask
    stage: str = "II"
    batch: int = 256
    seed: int = 0
    move: float = 0.25
    refresh: int = 50
    steps: int = 0
    time: float = 0.0
    rate: float = 0.0
    generator: torch.Generator = field(init=False)

    def __post_init__(self) -> None:
        if self.stage not in STAGES:
            raise TrainingError(f"Training: stage = {self.stage!r} is none of {', '.join(STAGES)}")
        if self.network.length != self.task.length:
            raise TrainingError(
                f"Training: the network takes {self.network.length} tokens, the task {self.task.length}"
            )
        if self.batch < 2 or not self.move > 0 or self.refresh < 1:
            raise TrainingError("Training: wanted batch >= 2, move > 0 and refresh >= 1")
        device = self.network.g.device
        self.generator = torch.Generator(device=device).manual_seed(self.seed)

    @property
    def trained(self) -> tuple[str, ...]:
        return STAGES[self.stage]

    def step(self) -> None:
        """One gradient step; every `refresh` steps the curvature is estimated anew."""
        if self.steps % self.refresh == 0:
            self.rate = self.stable_rate()
        gradient = self.gradient()
        largest = max(abs(float(slope)) for slope in gradient.values())
        size = min(self.rate, self.move / largest) if largest > 0 else self.rate
        with torch.no_grad():
            for name, slope in gradient.items():
                self.network.get_parameter(name).sub_(size * slope)
        self.steps += 1
        self.time += size

    def gradient(self) -> dict[str, Tensor]:
        """An unbiased estimate of the gradient of the loss (11) in the parameters of this stage, from one batch."""
        parameters = [self.network.get_parameter(name) for name in self.trained]
        total = [torch.zeros_like(each) for each in parameters]
        for x in self._blocks(self.batch):
            loss = partial_losses(self.network, self.task, x).sum() / self.batch
            parts = torch.autograd.grad(loss, parameters)
            total = [so_far + part for so_far, part in zip(total, parts, strict=True)]
        return dict(zip(self.trained, total, strict=True))

    def stable_rate(self) -> float:
        """Half of the largest step at which the loss still contracts in mean square.

        Along a direction of curvature c in which the output is linear, a step eta on a batch of B Gaussian contexts
        multiplies the mean squared distance by 1 - 2 eta c + eta^2 c^2 (1 + 2 / B), which is below 1 for
        eta < 2 / (c (1 + 2 / B)). c: the largest curvature here, and in stage II no less than 1, which is what that of
        g tends to (M(2p) / M(p)^2 <= 1) and may reach before the next estimate.
        """
        curvature = max(self.curvature(), 1.0) if self.stage == "II" else self.curvature()
        return 1 / (curvature * (1 + 2 / self.batch)) if curvature > 0 else math.inf

    def curvature(self) -> float:
        """The largest absolute value of an eigenvalue of the loss's Hessian, estimated on contexts of its own."""
        values = dict(self.network.named_parameters())
        here = torch.stack([values[name].detach() for name in self.trained])
        held = {name: value.detach() for name, value in values.items()}
        count = min(CURVATURE_CONTEXTS, max(2, BLOCK // self.network.length))
        x = contexts(count, self.network, self._own_generator())

        def loss(point: Tensor) -> Tensor:
            parameters = {**held, **dict(zip(self.trained, point, strict=True))}
            output = functional_call(self.network, parameters, (x,))
            return ((output - self.task.target(x)) ** 2).sum(-1).mean() / 2

        hessian = torch.autograd.functional.hessian(loss, here)
        assert isinstance(hessian, Tensor)  # one input, one output
        return float(torch.linalg.eigvalsh(hessian.double()).abs().max())

    def _own_generator(self) -> torch.Generator:
        """Of the seed and the step, so that a resumed training estimates what an unbroken one would have."""
        return torch.Generator(device=self.generator.device).manual_seed(self.seed * 1_000_003 + self.steps + 1)

    def _blocks(self, count: int) -> Iterator[Tensor]:
        """`count` contexts in blocks of bounded memory."""
        size = max(1, BLOCK // self.network.length)
        for done in range(0, count, size):
            yield contexts(min(size, count - done), self.network, self.generator)

    def snapshot(self, x: Float[Tensor, "B L"]) -> Snapshot:
        """Parameters, L_G4 exactly and L_IH2 on the given contexts (the same at each snapshot: common numbers)."""
        gram = float(population_gram(self.network, self.task).detach())
        with torch.no_grad():
            size = max(1, BLOCK // self.network.length)
            head = sum(float(partial_losses(self.network, self.task, part)[:, 1].sum()) for part in x.split(size))
        return Snapshot(self.steps, self.time, self.network.numbers(), gram, head / len(x))

    def run(
        self,
        until: float,
        *,
        every: int = 50,
        held_out: int = 4096,
        progress: Callable[[float], None] | None = None,
        stop: Callable[[Snapshot], bool] | None = None,
    ) -> list[Snapshot]:
        """Steps until the flow's time is `until`, with a snapshot every `every` steps, or until `stop` says so.

        `progress` is called with the share of the time that is done. An interrupted training keeps its parameters.
        """
        own = torch.Generator(device=self.generator.device).manual_seed(self.seed + 1)
        x = contexts(held_out, self.network, own)
        seen = [self.snapshot(x)]
        while self.time < until and not (stop and stop(seen[-1])):
            for _ in range(every):
                self.step()
                if self.time >= until:
                    break
            seen.append(self.snapshot(x))
            if progress:
                progress(min(1.0, self.time / until))
        return seen

    # Checkpoints.

    def save(self, path: str | Path) -> None:
        """Everything that goes on: written beside the file and renamed, so that a crash leaves the old one whole."""
        numbers = {name: None if math.isinf(v) else v for name, v in self.network.numbers().items()}  # JSON has no oo
        content = {
            "version": VERSION,
            "setting": self._setting(),
            "parameters": numbers,
            "steps": self.steps,
            "time": self.time,
            "rate": None if math.isinf(self.rate) else self.rate,
            "generator": self.generator.get_state().tolist(),
        }
        aside = Path(f"{path}.{os.getpid()}.part")
        aside.write_text(json.dumps(content), encoding="utf-8")
        aside.replace(path)

    def resume(self, path: str | Path) -> None:
        """Goes on where a training of the same setting was saved. Raises TrainingError for any other file."""
        content = _read_checkpoint(path)
        if content["setting"] != self._setting():
            raise TrainingError(f"'{path}' is of another training: {content['setting']}, here {self._setting()}")
        with torch.no_grad():
            for name in NAMES:
                value = content["parameters"][name]
                self.network.get_parameter(name).fill_(math.inf if value is None else value)
        self.steps, self.time = content["steps"], content["time"]
        self.rate = math.inf if content["rate"] is None else content["rate"]
        self.generator.set_state(torch.tensor(content["generator"], dtype=torch.uint8, device="cpu"))

    def _setting(self) -> dict[str, Any]:
        parameter = self.network.g
        return {
            "length": self.task.length,
            "alpha": self.task.alpha,
            "w_star": self.task.w_star,
            "upper": self.network.upper,
            "stage": self.stage,
            "batch": self.batch,
            "seed": self.seed,
            "move": self.move,
            "refresh": self.refresh,
            "dtype": str(parameter.dtype),
            "device": parameter.device.type,
        }


def _read_checkpoint(path: str | Path) -> dict[str, Any]:
    wanted = {"version", "setting", "parameters", "steps", "time", "rate", "generator"}
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise TrainingError(f"'{path}' is not a checkpoint that can be read ({error})") from None
    if not isinstance(content, dict) or set(content) != wanted or set(content["parameters"]) != set(NAMES):
        raise TrainingError(f"'{path}' is not a checkpoint of a training: it has not just {', '.join(sorted(wanted))}")
    if content["version"] != VERSION:
        raise TrainingError(f"'{path}' has version {content['version']}; this program reads version {VERSION}")
    return content
