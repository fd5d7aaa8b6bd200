"""Theorem 5 on a table of real numbers: the step's bounds at its rows, and what L steps in context predict.

All rows but the last are the prompt, the last is the query. The network reads them scaled into the hypotheses
(`bridge.theorems.data.scaled`); predictions are in the units of the table.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from bridge.instances.inputs import Batch
from bridge.limits.cost import NUMBER, Work
from bridge.limits.run import Format
from bridge.theorems.data import ScaledTable
from bridge.theorems.numbers import plain
from bridge.theorems.record import NamedTable
from bridge.theorems.sources import Predicted, Prediction, Tabular
from bridge.topics.icgd.chain import Chain
from bridge.topics.icgd.plan import NEEDED_DERIVATIVES
from bridge.topics.icgd.setting import StepSetting
from numeric.tools.layered import Shape
from numeric.topics.icgd.network import IcgdNetwork
from symbolic.calculus.activations import ACTIVATIONS
from symbolic.calculus.activations import activation as activation_named
from symbolic.statements.result import Quantity
from symbolic.topics.icgd.chain import label
from symbolic.words.errors import UsageError

STARTS = 3  # an exact run and the bounds at a prompt of some hundred rows take seconds for each
PROMPT_LIMIT = 300_000  # tokens times weights of the largest layer: ten seconds of balls for one bound at the prompt
BALL_BYTES = 160
PRODUCTS = 5000  # for each row and neuron, over all runs

# The open range of r, within which targets can be reached; where it is the whole line (gelu, nearly), none is needed.
OUTPUT_RANGES = {name: each.values for name, each in ACTIVATIONS.items() if each.smoothness >= NEEDED_DERIVATIVES}

# B_v and eta, found by trying: with them eight exact steps from random w lower the risk on both tables of the tests.
# With B_v below 1 each layer shrinks the signal, and so its gradient; the risk is a mean with a factor 1/2 of rows with
# ||x||_2 <= 1, most of them far below, so that its curvature is small and a long step is still stable. Three layers of
# sigmoid (slopes of at most 1/4) or of softplus learn little more than the mean in eight steps.
STEPS = {"tanh": (2.0, 2.0), "sin": (2.0, 2.0), "gelu": (2.0, 10.0), "sigmoid": (4.0, 4.0), "softplus": (1.0, 1.0)}
DEFAULTS = {"N": 3, "K": 16, "B_x": 1.0, "B_y": 1.0}
DEFAULT_RELUS = 256
CERTIFIED = "the sums of ReLUs are certified for `||x||_2 <= B_x`"


def suited(given: Mapping[str, Any]) -> dict[str, Any]:
    """The ReLUs stay open where an accuracy was asked for, which sets them."""
    B_v, eta = STEPS.get(given.get("activation", "tanh"), STEPS["tanh"])  # a grid of several takes those of tanh
    return {"B_v": B_v, "eta": eta, **({} if "eps" in given else {"relus": DEFAULT_RELUS})}


def output_range(activation: str) -> tuple[float, float] | None:
    """Raises UsageError for an activation that Theorem 1 does not admit."""
    if activation not in OUTPUT_RANGES:
        raise UsageError(
            f"icgd.dimensions: activation '{activation}' has {activation_named(activation).smoothness} continuous "
            f"derivatives; Theorem 1 asks for {NEEDED_DERIVATIVES}. Take {', '.join(OUTPUT_RANGES)}."
        )
    return OUTPUT_RANGES[activation]


def prompts(count: int, seed: int, data: ScaledTable, setting: StepSetting) -> Batch:
    """Seeded w in the interior of the box, each with the table's prompt."""
    w = setting.prompts(1, count, seed)["w"]
    rows = {
        "x": torch.as_tensor(data.x, dtype=torch.float64, device="cpu"),
        "y": torch.as_tensor(data.y, dtype=torch.float64, device="cpu"),
    }
    return {"w": w, **{name: each[None].expand(count, -1, -1) for name, each in rows.items()}}


# Bounds at the prompt are left out where they would take minutes.


def at_table(
    quantities: Callable[..., tuple[Quantity, ...]], leading: str
) -> Callable[[int, int, int, int, int, int], tuple[Quantity, ...]]:
    """The quantities with remarks of where they are measured; both scopes of a prompt are those of the leading one."""

    def found(N: int, K: int, d_x: int, d_y: int, n: int, relus: int) -> tuple[Quantity, ...]:
        too_many = prompt_weights(Shape(N, K, d_x, d_y), n) > PROMPT_LIMIT
        return tuple(_remarked(each, each.name == leading, too_many) for each in quantities(N=N, relus=relus))

    return found


def _remarked(quantity: Quantity, leads: bool, too_many: bool) -> Quantity:
    if not quantity.scopes:
        return quantity
    remark = f"measured at the table's rows and {STARTS} seeded `w` at most"
    scopes = quantity.scopes if leads else ("network",)
    if "prompt" in scopes and too_many:
        scopes = ("network",)
        remark += "; too many rows and weights for the bounds at the prompt"
    return replace(quantity, scopes=scopes, remark="; ".join(filter(None, [quantity.remark, remark])))


def prompt_weights(shape: Shape, n: int) -> int:
    return n * max(rows * columns for rows, columns in shape.sizes)


# One w at a time: some 60 numbers for each neuron of a token, and its weights in a few copies. At the prompt each token
# has a matrix of the largest layer, in floats and in balls.
def work(N: int, K: int, d_x: int, d_y: int, n: int) -> Work:
    shape = Shape(N, K, d_x, d_y)
    floats = 60 * (n + 1) * sum(shape.widths) + (12 + 2 * STARTS) * shape.parameters
    entries = prompt_weights(shape, n)
    balls = 4 * BALL_BYTES / NUMBER * entries if entries <= PROMPT_LIMIT else 0
    return Work(numbers=floats + balls, products=PRODUCTS * n * sum(rows for rows, _ in shape.sizes))


# Predictions.


@dataclass(frozen=True)
class Learnt:
    """Where L steps lead: w (D_w) and the prediction (d_y) for the query, scaled as the table is."""

    w: Tensor
    prediction: Tensor


@dataclass(frozen=True)
class Lessons:
    """L steps from w (D_w) on the prompt x (n, d_x), y (n, d_y), and the prediction for the query (d_x)."""

    chain: Chain
    w: Tensor
    x: Tensor
    y: Tensor
    query: Tensor
    L: int
    format: Format

    @cached_property
    def exact(self) -> Learnt:
        return self.by_descent(self.w)

    @cached_property
    def network(self) -> Learnt | None:
        return self.in_context(self.w)

    @cached_property
    def from_zero(self) -> Predicted | None:
        """The start w = 0 by the network, with what exact steps from there say of it."""
        found = self.in_context(0 * self.w)
        return None if found is None else Predicted(found.prediction, *_at_zero(self.by_descent(0 * self.w), found))

    def by_descent(self, w: Tensor) -> Learnt:
        """By gradient descent itself, in float64."""
        for _ in range(self.L):
            w = self.chain.values(w, self.x, self.y, ["w"])["w"]
        return Learnt(w, self.chain.values(w, self.query[None], self.y, [self._last])[self._last][0])

    def in_context(self, w: Tensor) -> Learnt | None:
        """By the network: L blocks of layers, and the first N of one more, which hold p(N) at the query."""
        if self.chain.emulation is None:
            return None
        construction = replace(self.chain.emulation.construction(len(self.x)), steps=self.L + 1)
        network = IcgdNetwork(construction, dtype=self.format.dtype, device=self.format.device)
        w, x, y, query = (
            each[None].to(self.format.device, self.format.dtype) for each in (w, self.x, self.y, self.query)
        )
        taps = network.run(w, x, y, query, taps=("trajectory", self._last))
        reached, prediction = taps["trajectory"][:, -2], taps[self._last][:, -1]  # (1, D_w), (1, d_y)
        return Learnt(*(each[0].double().cpu() for each in (reached, prediction)))

    @property
    def _last(self) -> str:
        return label("p", self.chain.setting.shape.N)

    def risk(self, w: Tensor) -> float:
        """L_n(w) of the scaled prompt."""
        return float(self.chain.risk(w, self.x, self.y))


def learning(
    chain: Chain, w: Tensor, x: Tensor, y: Tensor, data: ScaledTable, L: int, dtype: str, device: str
) -> Lessons:
    query = torch.as_tensor(data.x_query, dtype=torch.float64, device="cpu")
    format = Format.named(dtype, device)
    return Lessons(chain, w, x, y, query.to(format.dtype).double(), L, format)


def _at_zero(exact: Learnt, network: Learnt) -> tuple[str, str]:
    """Flag and remark of the start w = 0, from both runs."""
    if bool((exact.w != 0).any()):
        return "", "Corollary 1.1 starts at `w = 0`"
    why = (
        "Corollary 1.1 starts at `w = 0`; with `r(0) = 0` and `N >= 2` the gradient vanishes there: no exact step moves"
    )
    return "w = 0 is stationary", f"{why}; the network's largest weight is {plain(float(network.w.abs().max()))}"


def risks(learning: Lessons) -> NamedTable:
    found = {"before the first step": learning.w, "after L exact steps": learning.exact.w}
    if learning.network is not None:
        found["after L steps of the network"] = learning.network.w
    rows: list[list[str | int | float | None]] = [[when, learning.risk(w)] for when, w in found.items()]
    return NamedTable(title="Risk `L_n` on the prompt, scaled", columns=["weights", "L_n"], rows=rows)


def table_of(quantities: Callable[..., tuple[Quantity, ...]], leading: str) -> Tabular:
    return Tabular(
        "n", "d_x", ("B_x", "B_y"), prompts,
        targets="d_y",
        range_of=output_range,
        prompts=STARTS,
        far=True,
        defaults=DEFAULTS,
        suggested=suited,
        instead=lambda theorem: theorem.with_at_point(quantities=at_table(quantities, leading)),
        built={"learning": learning},
        predictions=(
            Prediction("exact", "prediction after L exact steps", lambda learning: learning.exact.prediction),
            Prediction(
                "network", "prediction of the (2N+4) L + N layers",
                lambda learning: learning.network and learning.network.prediction, CERTIFIED,
            ),
            Prediction(
                "from_zero", "prediction of the (2N+4) L + N layers from w = 0",
                lambda learning: learning.from_zero, CERTIFIED,
            ),
        ),
        tables=(risks,),
        work=work,
    )  # fmt: skip
