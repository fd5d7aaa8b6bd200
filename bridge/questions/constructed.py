"""Models that start at a construction of ours and are trained on from there; and all models by name."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from bridge.instances.known import Known
from bridge.instances.point import Point
from bridge.limits.accepted import require_known
from bridge.limits.run import Format
from bridge.theorems.registry import registered_theorem
from bridge.theorems.transformer import Transformer
from numeric.networks.construction import Construction
from numeric.training import catalogue
from numeric.training.baselines import Predictor, zero
from numeric.training.errors import require
from numeric.training.models import Form, FromConstruction


@dataclass(frozen=True)
class ModelStart:
    """A construction, its tokens (B, L, width) of those of the task, and the prediction (B, m) of what it returns."""

    construction: Construction
    prompt: Callable[[Tensor], Tensor]
    answer: Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class ConstructedDescent:
    """T steps of gradient descent of size `eta` on (1/2N) sum_i |w^T x_i - y_i|^2, by looped.gradient_descent.

    `c` scales the scores of its heads and `C` is the score of their sink: the smaller and the larger, the nearer to
    linear attention, and the less room a step of training has. `B_x` and `B_y` bound what its layers tell apart.
    """

    T: int = 3
    eta: float = 0.5
    B_x: float = 8.0
    B_y: float = 16.0
    c: float = 2.0**-4
    C: float = 12.0
    id: ClassVar[str] = "looped.gradient_descent"

    def start(self, form: Form) -> ModelStart:
        require(self.eta > 0, f"eta = {self.eta}", "give a step size > 0")
        # `high` bounds the eigenvalues in the theorem's hypotheses, and no weight depends on it.
        bounds = {"B_x": self.B_x, "B_y": self.B_y, "high": 1 / self.eta}
        heads = {"L": 0, "T": self.T, "eta": self.eta, "c": self.c, "C": self.C, **bounds}
        return _of_regression(self.id, form, {"m": form.outputs, **heads}, lambda x, y: {"x": x, "y": y}, _whole)


@dataclass(frozen=True)
class ConstructedNewton:
    """T steps of Newton's iteration for the inverse of S = X^T X / s^2 from M_0 = S, by looped.newton.

    The `scale` s has to be above the largest singular value of the inputs X; 0 means sqrt(N) + sqrt(d) + 2, which
    normal ones hardly reach. `kappa` is the condition of S for which its heads are accurate.
    """

    T: int = 8
    scale: float = 0.0
    kappa: float = 64.0
    id: ClassVar[str] = "looped.newton"

    def start(self, form: Form) -> ModelStart:
        require(form.outputs == 1, f"{form.outputs} outputs for {self.id}", "it predicts one")
        require(self.scale >= 0, f"scale = {self.scale}", "give a number > 0, or 0 for the one of normal inputs")
        s = self.scale or (form.length - 1) ** 0.5 + (form.inputs - 1) ** 0.5 + 2

        def inputs(x: Tensor, y: Tensor) -> dict[str, Tensor]:
            return {"X": x[:, :-1] / s, "y": y[..., 0], "x": x[:, -1] / s}

        def answer(construction: Construction) -> Callable[[Tensor], Tensor]:
            where = construction.stream(-1).slice("y_hat")
            return lambda output: output[:, -2, where]

        return _of_regression(self.id, form, {"T": self.T, "kappa": self.kappa}, inputs, answer)


@dataclass(frozen=True)
class ConstructedInductionHead:
    """The two layers of induction.vanilla for W* = `similarity` I, whose first one has the slope p."""

    p: float = 8.0
    similarity: float = 8.0
    id: ClassVar[str] = "induction.vanilla"

    def start(self, form: Form) -> ModelStart:
        require(form.head, f"{self.id} on another task", "train it on induction")
        W_star = self.similarity * torch.eye(form.inputs, dtype=torch.float64, device="cpu")
        return ModelStart(_network(self.id).build(self.p, W_star), lambda tokens: tokens, _same)


def _network(id: str) -> Transformer:
    network = registered_theorem(id).networks[""]
    assert isinstance(network, Transformer)
    return network


def _same(output: Tensor) -> Tensor:
    return output


def _whole(construction: Construction) -> Callable[[Tensor], Tensor]:
    return _same


def _of_regression(
    id: str,
    form: Form,
    parameters: dict[str, Any],
    inputs: Callable[[Tensor, Tensor], dict[str, Tensor]],
    answer: Callable[[Construction], Callable[[Tensor], Tensor]],
) -> ModelStart:
    """The network of a theorem for x (B, N + 1, d) and y (B, N, m), which `inputs` names as the theorem does."""
    require(form.joined, f"{id} without joined tokens", "train it on linear regression")
    d, network = form.inputs - form.outputs, _network(id)
    known = Known(Point.at(registered_theorem(id), {"N": form.length - 1, "d": d, **parameters}), Format())
    enter = network.tokens
    assert enter is not None
    construction: Construction = known.call(network.build)

    def prompt(joined: Tensor) -> Tensor:
        named = inputs(joined[..., :d], joined[:, :-1, d:])
        tokens: Tensor = known.batched(enter, {name: each.double() for name, each in named.items()})
        return tokens.to(joined.dtype)

    return ModelStart(construction, prompt, answer(construction))


class StartedAtConstruction(FromConstruction):
    """The model at its start, in float64 until it is told otherwise."""

    def __init__(self, at: Any, form: Form) -> None:
        start: ModelStart = at.start(form)
        super().__init__(start.construction, start.prompt, start.answer, torch.float64)
        self.form = form


REGRESSIONS: dict[str, type[Any]] = {each.id: each for each in (ConstructedDescent, ConstructedNewton)}
CONSTRUCTIONS = {**REGRESSIONS, ConstructedInductionHead.id: ConstructedInductionHead}
MODELS: dict[str, tuple[type[Any], type[nn.Module]]] = {
    **catalogue.MODELS,
    **{id: (each, StartedAtConstruction) for id, each in CONSTRUCTIONS.items()},
}
JOINED = {"linear", *REGRESSIONS}  # their tokens are (x_i, y_i)


def constructed(id: str, **settings: Any) -> Predictor:
    """A construction as a baseline; it needs two examples, and 0 is predicted behind fewer.

    Raises UsageError for an id of none, and for settings that do not meet the theorem's hypotheses.
    """
    require_known(id, list(REGRESSIONS), "constructed: there is no construction of a regression")
    at = REGRESSIONS[id](**settings)

    def predict(x: Tensor, y: Tensor) -> Tensor:
        if y.shape[1] < 3:
            return zero(x, y)
        known = torch.cat([y[:, :-1], torch.zeros_like(y[:, :1])], 1)  # (B, n + 1, m)
        form = Form(x.shape[1], x.shape[2] + y.shape[2], y.shape[2], joined=True)
        with torch.no_grad():
            return StartedAtConstruction(at, form)(torch.cat([x, known], -1).double())[0, :, 0]

    return predict
