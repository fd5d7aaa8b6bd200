"""What the trained models are compared with, each from the examples of a prompt alone.

Shapes: B prompts, n examples and then the query, d coordinates, m outputs; x (B, n + 1, d), y (B, n + 1, m) as in a
`TrainingBatch`. Each predictor reads y up to the n-th and returns (B, m). Of a series, x holds the q states before y.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from numeric.search.threads import one_thread
from numeric.training.errors import TrainingError, require
from numeric.training.tasks import HELD_OUT, LearningTask, NetworkRegression

Predictor = Callable[[Tensor, Tensor], Tensor]
GOLDEN = (5**0.5 - 1) / 2
HALVINGS = 40  # of the bracket, by the golden section


def zero(x: Float[Tensor, "B N d"], y: Float[Tensor, "B N m"]) -> Float[Tensor, "B m"]:
    """The prediction 0, the mean of what is not known."""
    return torch.zeros_like(y[:, -1])


def least_squares(x: Float[Tensor, "B N d"], y: Float[Tensor, "B N m"]) -> Float[Tensor, "B m"]:
    """By the solution of least norm."""
    return _predicted(x, torch.linalg.pinv(x[:, :-1]) @ y[:, :-1])


def descent(x: Float[Tensor, "B N d"], y: Float[Tensor, "B N m"], eta: float, k: int) -> Float[Tensor, "B m"]:
    """k steps of gradient descent from 0 on (1/2n) sum_i |w^T x_i - y_i|^2, with step size eta."""
    known, labels = x[:, :-1], y[:, :-1]
    w = torch.zeros(x.shape[0], x.shape[2], y.shape[2], dtype=x.dtype, device=x.device)  # (B, d, m)
    for _ in range(k):
        w = w - eta * known.mT @ (known @ w - labels) / max(1, known.shape[1])
    return _predicted(x, w)


# With X = U diag(s) V^T, all M_k are V diag(m_k) V^T with m_k+1 = 2 m_k - s^2 m_k^2. Iterated as matrices, what
# rounding adds where S is 0 doubles in each step.


def newton(x: Float[Tensor, "B N d"], y: Float[Tensor, "B N m"], k: int) -> Float[Tensor, "B m"]:
    """w = M_k X^T Y after k steps M <- M (2I - S M) to the inverse of S = X^T X, from M_0 = S / |S|_F^2."""
    U, s, Vt = torch.linalg.svd(x[:, :-1], full_matrices=False)  # s (B, r), r = min(n, d)
    m = s**2 / (s**4).sum(1, keepdim=True).clamp(min=torch.finfo(s.dtype).tiny)
    for _ in range(k):
        m = 2 * m - (s * m) ** 2
    return _predicted(x, Vt.mT @ ((m * s)[..., None] * (U.mT @ y[:, :-1])))


def _predicted(x: Tensor, w: Float[Tensor, "B d m"]) -> Float[Tensor, "B m"]:
    return (x[:, -1:] @ w)[:, 0]


def best_step_size(x: Float[Tensor, "B N d"], y: Float[Tensor, "B N m"], k: int) -> float:
    """The eta of the least mean error of `descent` over these prompts, by a golden section.

    The bracket is 0 to 2 / the least over the prompts of the largest eigenvalue of S / n: above, every prompt diverges.
    """
    known = x[:, :-1]
    require(known.shape[1] >= 1 and k >= 1, f"{known.shape[1]} examples and k = {k}", "give one of each at least")
    largest = torch.linalg.matrix_norm(known, 2) ** 2 / known.shape[1]  # (B)
    require(bool(largest.min() > 0), "a prompt whose inputs are all 0", "leave it out: no step moves anything there")

    def error(eta: float) -> float:
        found = float(((descent(x, y, eta, k) - y[:, -1]) ** 2).sum(-1).mean())
        return found if found == found else float("inf")

    low, high = 0.0, 2 / float(largest.min())
    for _ in range(HALVINGS):
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        low, high = (low, right) if error(left) <= error(right) else (left, high)
    return (low + high) / 2


def trained_on_prompt(
    x: Float[Tensor, "B N d"],
    y: Float[Tensor, "B N m"],
    *,
    depth: int = 3,
    hidden: int = 8,
    epochs: int = 100,
    rate: float = 1e-2,
    seed: int = 0,
) -> Float[Tensor, "E B m"]:
    """ReLU networks of `depth` layers with biases, each trained on its prompt by Adam: the prediction after each epoch.

    An epoch is a step on all examples of the prompt (wu2024, Appendix G, takes 100). The paper then takes the best R^2
    of any epoch, which looks at the answer: the caller chooses.
    """
    source = torch.Generator().manual_seed(seed)
    sizes = [x.shape[2], *[hidden] * (depth - 1), y.shape[2]]
    layers = []
    for out, into in zip(sizes[1:], sizes[:-1], strict=True):
        W = torch.randn(len(x), into, out, generator=source, dtype=x.dtype, device="cpu") * (2 / into) ** 0.5
        layers.append((W.to(x.device).requires_grad_(), torch.zeros_like(W[:, :1]).to(x.device).requires_grad_()))
    optimizer = torch.optim.Adam([each for pair in layers for each in pair], rate)

    def run(inputs: Tensor) -> Tensor:
        for number, (W, b) in enumerate(layers, start=1):
            inputs = inputs @ W + b  # (B, N, out)
            inputs = torch.relu(inputs) if number < depth else inputs
        return inputs

    found = []
    with one_thread(), torch.enable_grad():
        for _ in range(epochs):
            optimizer.zero_grad()
            ((run(x[:, :-1]) - y[:, :-1]) ** 2).sum((1, 2)).div(max(1, x.shape[1] - 1)).sum().backward()
            optimizer.step()
            with torch.no_grad():
                found.append(run(x[:, -1:])[:, 0])
    return torch.stack(found)


def error_curve(task: LearningTask, predict: Predictor, prompts: int = 1024) -> list[float]:
    """The mean squared error of a predictor behind 0, 1, ..., n examples, over prompts that no training sees.

    Raises TrainingError for a task without examples of a regression: it has no baseline.
    """
    batch = task.batch(prompts, 0, 0, HELD_OUT, torch.float64)
    x, y = batch.x, batch.y
    if x is None or y is None:
        raise TrainingError(
            f"{type(task).__name__} has no examples of a regression, so no baseline; choose another task"
        )
    errors = []
    for n in range(x.shape[1]):
        missed = predict(x[:, : n + 1], y[:, : n + 1]) - y[:, n]  # (B, m)
        errors.append(float((missed**2).sum(-1).mean()))
    return errors


def named_baselines(task: LearningTask, steps: int = 1) -> dict[str, Predictor]:
    """Zero, least squares, `steps` of gradient descent at their best step size and of Newton; networks for networks."""

    def descended(x: Tensor, y: Tensor) -> Tensor:
        return descent(x, y, best_step_size(x, y, steps), steps) if x.shape[1] > 1 else zero(x, y)

    found: dict[str, Predictor] = {
        "zero": zero,
        "least squares": least_squares,
        f"gradient descent, {steps}": descended,
        f"Newton, {steps}": lambda x, y: newton(x, y, steps),
    }
    if isinstance(task, NetworkRegression):
        found["trained on the prompt"] = lambda x, y: trained_on_prompt(x, y, depth=task.depth, hidden=task.hidden)[-1]
    return found
