"""How far what training finds is from what a theorem builds: outputs, matrices, the loss between, the worst prompt.

What is compared is a model or a `Predictor` (a baseline, a construction), at the query of a prompt.

Shapes: B prompts, n examples and the query, d coordinates, m outputs, k = d + m coordinates of a joined token.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.func import functional_call

from numeric.search.attack import attack
from numeric.training.baselines import Predictor
from numeric.training.errors import TrainingError, require
from numeric.training.models import Form, LinearArchitecture, LinearAttentionLayer
from numeric.training.tasks import (
    HELD_OUT,
    LearningTask,
    LinearRegression,
    Regression,
    RegressionWithRepresentation,
    TrainingBatch,
    represented,
)

Answering = nn.Module | Predictor


def number_format(*models: Answering) -> torch.dtype:
    """That of the first weight of the first of these that has one."""
    modules = [each for each in models if isinstance(each, nn.Module)]
    return next((weight.dtype for module in modules for weight in module.parameters()), torch.float64)


def tokens_for(model: nn.Module, form: Form, tokens: Tensor) -> Tensor:
    """These tokens in the model's number format. Raises TrainingError for a model of another task.

    Prompts may be longer or shorter than those it was made for.
    """
    own, task = asdict(getattr(model, "form", form)), asdict(form)
    differ = [name for name in task if name != "length" and own[name] != task[name]]
    words = ", ".join(f"{name} {own[name]} in the model and {task[name]} in the task" for name in differ)
    require(not differ, f"a model of another task: {words}", "give a model of this one")
    return tokens if form.symbols else tokens.to(number_format(model))


def _answers(of: Answering, task: LearningTask, batch: TrainingBatch) -> Float[Tensor, "B m"]:
    """Raises TrainingError for a predictor on a task without examples, and for a model of another task."""
    if isinstance(of, nn.Module):
        found: Tensor = of(tokens_for(of, task.form, batch.tokens))[-1][:, task.places]  # (B, M, m)
        return found[:, -1]
    if batch.x is None or batch.y is None:
        raise TrainingError(f"{type(task).__name__} has no examples of a regression for a predictor; give two models")
    return of(batch.x, batch.y)


def output_distance(first: Answering, second: Answering, task: LearningTask, prompts: int = 1024) -> float:
    """The root of the mean squared distance of their answers at the last predicted token, over held-out prompts.

    Raises TrainingError for a predictor on a task that is no regression, and for a model of another task.
    """
    batch = task.batch(prompts, 0, 0, HELD_OUT, number_format(first, second))
    with torch.no_grad():
        apart = _answers(first, task, batch).double() - _answers(second, task, batch).double()
    return float((apart**2).sum(-1).mean().sqrt())


# One linear attention layer and one step of gradient descent. Of joined tokens e_i = (x_i, y_i) and the query (x, 0),
#     V E (E^T A (x, 0)) / n = sum_i V e_i (e_i^T A (x, 0)) / n,
# of which the last m rows V_y (m, k) of V are read, and the first d columns A_x (k, d) of A alone meet x. All other
# entries have no effect, and (s V_y, A_x / s) is the same function for every s != 0. One step of size eta from 0 on
# (1/2n) sum_i |w^T x_i - y_i|^2 is sum_i eta y_i x_i^T x / n: V_y = (0, I) and A_x = (eta I; 0). The s that brings
# s V_y nearest to (0, I) in the Frobenius norm is <V_y, (0, I)> / |V_y|^2, and the eta next to A_x / s is the mean of
# the diagonal of its first d rows. The tokens are the data, so that the basis is theirs: only the scale is free.


@dataclass(frozen=True)
class DescentFit:
    """The step of gradient descent nearest to a layer with values times `scale` and the scores over it.

    `value` and `key_query` are relative Frobenius distances of the two matrices after that.
    """

    step_size: float
    scale: float
    value: float
    key_query: float


def descent_fit(layer: LinearAttentionLayer) -> DescentFit:
    """How far a linear attention layer is from one step of gradient descent, after the best scaling.

    Raises TrainingError for a layer whose values do not see the labels: it is no step at any scale.
    """
    m = layer.outputs
    V_y, d = layer.value.detach().double()[-m:], layer.value.shape[0] - m
    aim = torch.eye(d + m, dtype=torch.float64, device=V_y.device)
    labels, inputs = aim[-m:], aim[:, :d]  # (0, I), (I; 0)
    share = float((V_y * labels).sum())
    require(share != 0, "the values of the layer have no share in the labels", "train it longer")
    s = share / float((V_y**2).sum())
    A_x = layer.key_query.detach().double()[:, :d] / s
    eta = float((A_x * inputs).sum()) / d
    off = float((A_x - eta * inputs).norm())
    key_query = off / (abs(eta) * math.sqrt(d)) if eta else math.inf
    return DescentFit(eta, s, float((s * V_y - labels).norm()) / math.sqrt(m), key_query)


def descent_layer(task: Regression, eta: float, scale: float = 1.0) -> LinearAttentionLayer:
    """The layer that takes one step of gradient descent of that size, with values over `scale` and scores times it.

    With the scale of a `DescentFit` it lies next to the layer that was fitted. Raises TrainingError for a scale of 0,
    and for tokens that are not joined.
    """
    require(scale != 0, "scale = 0", "give another number")
    form: Form = task.form
    layer = LinearAttentionLayer(LinearArchitecture(spread=0.0), form)
    m = form.outputs
    with torch.no_grad():
        layer.value[-m:, -m:] = torch.eye(m, dtype=layer.value.dtype, device=layer.value.device) / scale
        layer.key_query.diagonal()[:-m] = eta * scale
    return layer


# Over orthogonal U and V, the largest <U W V, W'> is sum_i sigma_i(W) sigma_i(W') (von Neumann), and |U W V| = |W|. So
# the sine of the best angle is that of the two vectors of singular values, each in falling order. The bases of each
# matrix are its own: those of one change of basis of the whole stream are among them, and leave at least as much.


def matrix_distances(model: nn.Module, other: nn.Module, *, any_basis: bool = False) -> dict[str, float]:
    """Of each weight of the second model, min over s of |s W - W_other| / |W_other| in the Frobenius norm.

    That is the sine of their angle: 0 for a multiple, 1 at most, and of a weight that is 0 whether the other is too (0
    or 1). With `any_basis` it is the minimum over s and orthogonal U and V of |s U W V - W_other| / |W_other|, of
    matrices alone: a lower bound for one orthogonal change of basis of all of them. Raises TrainingError for models of
    other sizes.
    """
    _require_alike(model, other)
    found = {}
    for (name, W), aim in zip(model.named_parameters(), other.parameters(), strict=True):
        one, two = W.detach().double(), aim.detach().double()
        if any_basis:
            if W.ndim != 2:
                continue
            one, two = torch.linalg.svdvals(one), torch.linalg.svdvals(two)
        sizes = float(one.norm()), float(two.norm())
        if min(sizes) == 0:
            found[name] = float(sizes[1] != sizes[0])
            continue
        one, two = one / sizes[0], two / sizes[1]
        found[name] = min(1.0, float((two - (one * two).sum() * one).norm()))
    return found


def _require_alike(one: nn.Module, other: nn.Module) -> None:
    shapes = [{name: tuple(each.shape) for name, each in model.named_parameters()} for model in (one, other)]
    require(shapes[0] == shapes[1], "the two models have other weights", "give two of one architecture and task")


def loss_along_segment(
    first: nn.Module, second: nn.Module, task: LearningTask, points: int = 11, prompts: int = 1024
) -> list[float]:
    """The loss of the task at the weights (1 - t) first + t second, for t from 0 to 1, over held-out prompts.

    Raises TrainingError for models of other sizes or of another task, and for fewer than 2 points.
    """
    require(points >= 2, f"points = {points}", "give 2 at least, the two ends")
    _require_alike(first, second)
    batch = task.batch(prompts, 0, 0, HELD_OUT, number_format(first))
    ends = [dict(model.named_parameters()) for model in (first, second)]
    tokens, losses = tokens_for(first, task.form, batch.tokens), []
    with torch.no_grad():
        for place in range(points):
            t = place / (points - 1)
            weights = {name: torch.lerp(one, ends[1][name].to(one.dtype), t) for name, one in ends[0].items()}
            losses.append(float(task.loss(functional_call(first, weights, (tokens,)), batch)))
    return losses


@dataclass(frozen=True)
class WorstPrompt:
    """A prompt of the task, x (n + 1, d) and y (n + 1, m), and the squared errors of the two at its query."""

    x: Tensor
    y: Tensor
    error: float
    beside: float


def worst_prompt(
    of: Answering,
    beside: Predictor,
    task: Regression,
    *,
    radius: float | int = 2.0,
    steps: int = 100,
    restarts: int = 32,
    seed: int = 0,
) -> WorstPrompt:
    """The prompt that an attack finds at which the squared error of `of` exceeds that of `beside` the most.

    It is inside the support of the task: y = w^T x without noise (or w^T Phi(x)), with |x_ij| <= radius and
    |w_ij| <= radius / sqrt(d). The error found is a lower bound on the worst one. Raises TrainingError for a task that
    is no linear regression.
    """
    if not isinstance(task, LinearRegression | RegressionWithRepresentation):
        raise TrainingError(
            f"worst_prompt on {type(task).__name__}; give a linear regression, or one with a representation"
        )
    for name, value, least in (("radius", radius, 0), ("steps", steps, 0), ("restarts", restarts, 0)):
        require(value > least, f"{name} = {value}", f"give a number > {least}")
    layers: Sequence[Tensor] = task.Phi if isinstance(task, RegressionWithRepresentation) else ()
    ends = {"x": radius, "w": radius / task.d**0.5}
    source = torch.Generator().manual_seed(seed)
    sizes = {"x": (restarts, task.examples + 1, task.d), "w": (restarts, task.d, task.outputs)}
    starts = {
        name: (2 * torch.rand(size, generator=source, dtype=torch.float64, device="cpu") - 1) * ends[name]
        for name, size in sizes.items()
    }

    def errors(at: dict[str, Tensor]) -> tuple[Tensor, Tensor, TrainingBatch]:
        batch = task.prompts(at["x"], represented(at["x"], layers) @ at["w"])
        assert batch.x is not None  # of a regression
        assert batch.y is not None
        pair = (_answers(each, task, batch).double() for each in (of, beside))
        first, second = (((each - batch.y[:, -1]) ** 2).sum(-1) for each in pair)  # (R)
        return first, second, batch

    def gap(at: dict[str, Tensor]) -> Tensor:
        first, second, _ = errors(at)
        return first - second

    def inside(at: dict[str, Tensor]) -> dict[str, Tensor]:
        return {name: each.clamp(-ends[name], ends[name]) for name, each in at.items()}

    found = attack(gap, starts, inside, steps=steps, seed=seed)
    assert isinstance(found.witness, dict)
    with torch.no_grad():
        first, second, batch = errors({name: each[None] for name, each in found.witness.items()})
    assert batch.x is not None
    assert batch.y is not None
    return WorstPrompt(batch.x[0], batch.y[0], float(first[0]), float(second[0]))
