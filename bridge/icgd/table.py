"""Theorem 5 on a table of real numbers: the step's bounds at its rows, and what L steps in context predict.

All rows but the last are the prompt, the last is the query. The network reads them scaled into the hypotheses
(`bridge.data.scaled`); predictions are rows in the units of the table.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bridge.budget import Budget
from bridge.cost import Cost
from bridge.data import ScaledTable, Table, scaled
from bridge.export.numbers import plain
from bridge.icgd import step
from bridge.icgd.chain import Chain
from bridge.icgd.plan import NEEDED_DERIVATIVES
from bridge.icgd.setting import Setting
from bridge.memory import require_memory
from bridge.record import Row
from bridge.study import Inputs
from bridge.theorem import Theorem
from bridge.theorem_case import TheoremCase
from bridge.theorem_study import TheoremStudy
from numeric.icgd.network import IcgdNetwork
from numeric.layered import Shape
from symbolic.activations import activation
from symbolic.icgd.chain import label
from symbolic.statements import Quantity, Result, UsageError

STARTS = 3  # an exact run and the bounds at a prompt of some hundred rows take seconds for each
PROMPT_LIMIT = 300_000  # tokens times weights of the largest layer: ten seconds of balls for one bound at the prompt
BALL_BYTES = 160

# The open range of r, within which targets can be reached; where it is the whole line (gelu, nearly), none is needed.
OUTPUT_RANGES = {
    "tanh": (-1.0, 1.0),
    "sigmoid": (0.0, 1.0),
    "sin": (-1.0, 1.0),
    "softplus": (0.0, np.inf),
    "gelu": None,
}

# B_v and eta, found by trying: with them eight exact steps from random w lower the risk on both tables of the tests.
# With B_v below 1 each layer shrinks the signal, and so its gradient; the risk is a mean with a factor 1/2 of rows with
# ||x||_2 <= 1, most of them far below, so that its curvature is small and a long step is still stable. Three layers of
# sigmoid (slopes of at most 1/4) or of softplus learn little more than the mean in eight steps.
STEPS = {"tanh": (2.0, 2.0), "sin": (2.0, 2.0), "gelu": (2.0, 10.0), "sigmoid": (4.0, 4.0), "softplus": (1.0, 1.0)}
DEFAULTS = {"N": 3, "K": 16, "B_x": 1.0, "B_y": 1.0}
DEFAULT_RELUS = 256
SECONDS = 5e-6  # for each row and neuron, on an idle core, over all runs


def table_defaults(params: Mapping[str, Any], table: Table) -> dict[str, Any]:
    """Parameters that suit the table. The ReLUs stay open where an accuracy was asked for, which sets them."""
    rows, d_x = table.features.shape
    sizes = {"n": rows - 1, "d_x": d_x, "d_y": table.targets.shape[1]}
    B_v, eta = STEPS.get(params.get("activation", "tanh"), STEPS["tanh"])  # a grid of several takes those of tanh
    relus = {} if "eps" in params else {"relus": DEFAULT_RELUS}
    return {**DEFAULTS, **sizes, **relus, "B_v": B_v, "eta": eta}


class DimensionsStudy(TheoremStudy):
    """Theorem 5, also at the rows of a table."""

    def __init__(self) -> None:
        super().__init__(step.DIMENSIONS)

    data_defaults = staticmethod(table_defaults)

    def data_case(self, params: Mapping[str, Any], table: Table, *, seed: int, dtype: str, device: str) -> "TableCase":
        """The step at the table's first n + 1 rows.

        Raises UsageError where parameters do not fit the table, and for a network beyond the machine's memory.
        """
        resolved = self.resolved(params)
        _check_fit(self.result, resolved, table)
        _check_activation(self.result, resolved["activation"])
        shape, n = Shape(*(int(resolved[name]) for name in ("N", "K", "d_x", "d_y"))), int(resolved["n"])
        needed = _memory(shape, n, 1)  # before the sums of ReLUs are sought
        require_memory(f"{self.result.id} with N = {shape.N}, K = {shape.K}, n = {n}", needed, "lower them")
        cost = Cost(float(needed), SECONDS * n * sum(rows for rows, _ in shape.sizes))
        cost.announce(f"compare {self.result.id} at {n} rows")
        output_range = OUTPUT_RANGES[resolved["activation"]]
        data = scaled(table.first(n + 1), resolved["B_x"], resolved["B_y"], output_range=output_range)
        return TableCase(self.theorem, resolved, dtype, device, data)


def _check_fit(result: Result, params: Mapping[str, Any], table: Table) -> None:
    rows, d_x = table.features.shape
    d_y, n = table.targets.shape[1], int(params["n"])
    wrong = [
        f"{name} = {params[name]}, but {table.source} has {width} {what}; leave {name} out"
        for name, width, what in (("d_x", d_x, "columns of features"), ("d_y", d_y, "column to be predicted"))
        if params[name] != width
    ]
    if not 2 <= n < rows:
        wrong.append(f"n = {n}, but {table.source} has {rows} rows, the last for the query; take n = 2 to {rows - 1}")
    if wrong:
        raise UsageError(f"{result.id}: {'; '.join(wrong)}.")


def _check_activation(result: Result, name: str) -> None:
    if name not in OUTPUT_RANGES:
        raise UsageError(
            f"{result.id}: activation '{name}' has {activation(name).smoothness} continuous derivatives; Theorem 1 "
            f"asks for {NEEDED_DERIVATIVES}. Take {', '.join(OUTPUT_RANGES)}."
        )


def _at_table(quantity: Quantity, shape: Shape, n: int) -> Quantity:
    """With a remark of where it is measured; bounds at the prompt are left out where they would take minutes."""
    if not quantity.scopes:
        return quantity
    remark = f"measured at the table's rows and {STARTS} seeded w at most"
    scopes = quantity.scopes if quantity.name == step.LEADING else ("network",)
    if "prompt" in scopes and _prompt_weights(shape, n) > PROMPT_LIMIT:
        scopes = ("network",)
        remark += "; too many rows and weights for the bounds at the prompt"
    return replace(quantity, scopes=scopes, remark="; ".join(filter(None, [quantity.remark, remark])))


def _prompt_weights(shape: Shape, n: int) -> int:
    return n * max(rows * columns for rows, columns in shape.sizes)


def _memory(shape: Shape, n: int, starts: int) -> int:
    # One w at a time: some 60 numbers for each neuron of a token, and its weights in a few copies. At the prompt each
    # token has a matrix of the largest layer, in floats and in balls.
    floats = 60 * (n + 1) * sum(shape.widths) + (12 + 2 * starts) * shape.parameters
    entries = _prompt_weights(shape, n)
    return 8 * floats + (4 * BALL_BYTES * entries if entries <= PROMPT_LIMIT else 0)


@dataclass(frozen=True)
class Learnt:
    """Where L steps lead: w (1, D_w) and the prediction (1, d_y) for the query, scaled as the table is."""

    w: Tensor
    prediction: Tensor


class TableCase(TheoremCase):
    """One step at a table's prompt, from seeded interior w; and L steps from the first of them, with the query."""

    def __init__(self, theorem: Theorem, params: Mapping[str, Any], dtype: str, device: str, data: ScaledTable) -> None:
        self.data, self.steps, self.n = data, int(params["L"]), len(data.x)
        at_table = replace(theorem, quantities=self._quantities, samples=self._prompts)
        super().__init__(at_table, params, {}, dtype, device)
        self.attackable = False
        self.chain: Chain = self.runner.built["chain"]

    def _quantities(self, N: int, K: int, d_x: int, d_y: int, relus: int) -> tuple[Quantity, ...]:
        shape = Shape(N, K, d_x, d_y)
        stated = step.with_scopes(step.DIMENSIONS.statement, N, relus)
        return tuple(_at_table(quantity, shape, self.n) for quantity in stated)

    # Inputs.

    def within(self, budget: Budget) -> Budget:
        return replace(budget, samples=min(budget.samples, STARTS))

    def _prompts(self, count: int, generator: torch.Generator, setting: Setting) -> Inputs:
        """`count` seeded w in the interior of the box, STARTS at most, each with the table's prompt."""
        count = min(count, STARTS)
        w = setting.prompts(1, count, generator.initial_seed())["w"]
        return {"w": w, "x": self._rows(self.data.x, count), "y": self._rows(self.data.y, count)}

    def _rows(self, values: np.ndarray, count: int) -> Tensor:
        return torch.as_tensor(values)[None].expand(count, -1, -1)

    @cached_property
    def prompt(self) -> Inputs:
        """x (1, n, d_x) and y (1, n, d_y) in the case's dtype."""
        drawn = self.sample(1, 0)
        return {name: drawn[name] for name in ("x", "y")}

    def _tensor(self, values: np.ndarray) -> Tensor:
        return torch.as_tensor(values, dtype=self.dtype, device=self.device)[None]

    def memory(self, budget: Budget) -> int:
        return _memory(self.chain.setting.shape, self.n, min(budget.samples, STARTS))

    # Predictions.

    def extra_rows(self, budget: Budget) -> list[Row]:
        """Prediction for the query and risk after L steps, from a seeded w and from w = 0, beside the mean."""
        start = self.sample(1, budget.seed)["w"]  # (1, D_w)
        exact, from_zero = self.learnt_exactly(start), self.learnt_exactly(torch.zeros_like(start))
        rows = [
            self._row("target", self._target, "the query's target"),
            *self._with_error("mean", float(self.data.centre[0]), "baseline: the mean of the prompt's targets"),
            *self._with_error("exact", self.raw(exact), f"prediction after L = {self.steps} exact steps"),
            self._risk_row("start", start, "before the first step"),
            self._risk_row("exact", exact.w, "after the exact steps"),
        ]
        if self.chain.emulation is not None:
            network, zero = self.learnt_in_context(start), self.learnt_in_context(torch.zeros_like(start))
            depth = f"prediction of the (2N+4) L + N = {self.layers_to_prediction} layers"
            apart = abs(self.raw(network) - self.raw(exact))
            rows += [
                *self._with_error("network", self.raw(network), depth),
                self._row("difference", apart, "distance of the network's prediction from that of the exact steps"),
                *self._with_error("from_zero", self.raw(zero), f"{depth} from w = 0", *_at_zero(from_zero, zero)),
                self._risk_row("network", network.w, "after the network's steps"),
            ]
        return [row.model_copy(update={"seed": budget.seed}) for row in rows]

    @property
    def layers_to_prediction(self) -> int:
        N = self.chain.setting.shape.N
        return (2 * N + 4) * self.steps + N

    @torch.no_grad()
    def learnt_in_context(self, w: Tensor) -> Learnt:
        """By the network: L blocks of layers, and the first N layers of one more, which hold p(N) at the query."""
        assert self.chain.emulation is not None  # asked where there is a network
        construction = replace(self.chain.emulation.construction(self.n), steps=self.steps + 1)
        network = IcgdNetwork(construction, dtype=self.dtype, device=self.device)
        x, y, query = self.prompt["x"], self.prompt["y"], self._tensor(self.data.x_query)
        reached, prediction = w, w
        for taps in network.each_step(w, x, y, query):
            reached, w = w, taps["w"]
            prediction = taps[self._last][:, -1]  # (1, d_y)
        return Learnt(reached, prediction)

    @torch.no_grad()
    def learnt_exactly(self, w: Tensor) -> Learnt:
        """By gradient descent itself, in float64."""
        w = w.double()
        x, y, query = (each.double() for each in (*self.prompt.values(), self._tensor(self.data.x_query)))
        for _ in range(self.steps):
            w = self.chain.values(w[0], x[0], y[0], ["w"])["w"][None]
        return Learnt(w, self.chain.values(w[0], query, y[0], [self._last])[self._last])

    @property
    def _last(self) -> str:
        return label("p", self.chain.setting.shape.N)

    def raw(self, learnt: Learnt) -> float:
        """The prediction in the units of the table."""
        return float(self.data.in_raw_units(learnt.prediction[0].double().cpu().numpy())[0])

    @property
    def _target(self) -> float:
        return float(self.data.in_raw_units(self.data.y_query)[0])

    @torch.no_grad()
    def risk(self, w: Tensor) -> float:
        """L_n(w) of the scaled prompt."""
        x, y = (each[0].double() for each in self.prompt.values())
        return float(self.chain.risk(w[0].double(), x, y))

    def _with_error(self, name: str, value: float, meaning: str, flag: str = "", remark: str = "") -> list[Row]:
        """The prediction and its absolute error."""
        error, of = abs(value - self._target), f"absolute error of: {meaning}"
        return [self._row(name, value, meaning, flag, remark), self._row(f"{name}.error", error, of, flag, remark)]

    def _risk_row(self, name: str, w: Tensor, when: str) -> Row:
        domain = f"prompt of {self.data.source}, scaled"
        stated = {"norm": "risk L_n", "domain": domain, "meaning": f"risk L_n on the prompt {when}"}
        return self._exact_row(f"prediction.risk.{name}", self.risk(w), stated)

    def _row(self, name: str, value: float, meaning: str, flag: str = "", remark: str = "") -> Row:
        data, by_network = self.data, name.startswith(("network", "difference", "from_zero"))
        beyond = "the sums of ReLUs are certified for ||x||_2 <= B_x" if data.outside and by_network else ""
        flags = [*filter(None, [flag]), *(["query outside B_x"] if data.outside else [])]
        stated = {
            "norm": "units of the target",
            "domain": f"the query of {data.source}, with the {self.n} rows before it as prompt",
            "meaning": meaning,
            "remark": "; ".join(filter(None, [remark, data.remark, beyond])),
            "flags": {"measured": flags} if flags else {},
        }
        return self._exact_row(f"prediction.{name}", value, stated)

    def _exact_row(self, name: str, value: float, stated: Mapping[str, Any]) -> Row:
        about = {"kind": "exact", "quantifier": "on this table", "params": dict(self.params), "samples": 1}
        return Row.model_validate({"quantity": name, "measured": value, **about, **stated})


def _at_zero(exact: Learnt, network: Learnt) -> tuple[str, str]:
    """Flag and remark of the start w = 0, from both runs."""
    if bool((exact.w != 0).any()):
        return "", "Corollary 1.1 starts at w = 0"
    why = "Corollary 1.1 starts at w = 0; with r(0) = 0 and N >= 2 the gradient vanishes there: no exact step moves"
    moved = float(network.w.double().abs().max())
    return "w = 0 is stationary", f"{why}; the network's largest weight is {plain(moved)}"
