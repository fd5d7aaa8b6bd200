"""Where a printed constant fails at one input: rows with parameters of their own.

Each refutation is a case of the same study and one input of it; its witness replays like any other.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from bridge.export.layout import parameter_words
from bridge.icgd.case import StepCase
from bridge.icgd.formulas import activation_formula
from bridge.measure import evidence_at
from bridge.record import Row
from bridge.rows import ONE_INPUT, judged_row
from bridge.study import Inputs
from symbolic.statements import Quantity, Result

OPEN_SIZES = ("relus", "R", "relus_r1")  # 0 means: computed from the others


@dataclass(frozen=True)
class Refutation:
    """A printed bound that fails at `params`: of which quantity, at which input.

    The row has no parameters in common with the grid's: they stand in its remark, and in its witness.
    """

    name: str
    quantity: str
    params: Mapping[str, Any]
    inputs: Callable[[StepCase], Inputs]

    def stated(self, result: Result) -> Quantity:
        """The quantity by the name of its row."""
        return replace(result.quantity(self.quantity), name=f"erratum.{self.name}")

    def row(self, case: StepCase) -> Row:
        quantity = case.result.quantity(self.quantity)
        found = evidence_at(case, quantity, case.admit(self.inputs(case)))
        tiers = {"printed": case.printed(quantity), "derived": case.derived(quantity)}
        row = judged_row(case, quantity, "network", tiers, [found], ONE_INPUT)
        where = ", ".join(f"{name} = {parameter_words(name, value, OPEN_SIZES)}" for name, value in self.params.items())
        remark = "; ".join(filter(None, [f"at {where}", row.remark]))
        return row.model_copy(update={"quantity": f"erratum.{self.name}", "params": {}, "remark": remark})


def _input(case: StepCase, matrices: list[Tensor]) -> Inputs:
    """These weights, and one example x = 0, y = 0."""
    shape = case.setting.shape
    w = torch.cat([V.flatten() for V in matrices])[None]
    zeros = (torch.zeros(1, 1, size, dtype=torch.float64) for size in (shape.d_x, shape.d_y))
    return {"w": w, **dict(zip(("x", "y"), zeros, strict=True))}


# All weights at the upper ends of the box: the columns of V_N, of d > K rows, have norm sqrt(d/K) B_v.
def _upper_corner(case: StepCase) -> Inputs:
    s = case.setting
    sizes = zip(s.shape.sizes, s.shape.half_widths(s.B_v), strict=True)
    return _input(case, [torch.full(size, width, dtype=torch.float64) for size, width in sizes])


# V_1 = 0 makes p(1) = r(0) (1, ..., 1), of norm sqrt(K) r(0); equal entries of V_2 then take all arguments of r'(2) to
# the place where its sum of ReLUs errs most, so that every coordinate of s(2) errs at once.
def _everything_errs(case: StepCase) -> Inputs:
    s, r1 = case.setting, case.emulation.r1
    grid = torch.linspace(-r1.radius, r1.radius, 4001, dtype=torch.float64)
    worst = grid[(r1.relu_sum(grid) - activation_formula(s.activation, 1)(grid)).abs().argmax()]
    (first, second), half_width = s.shape.sizes, s.shape.half_widths(s.B_v)[1]
    value = activation_formula(s.activation)(torch.zeros((), dtype=torch.float64))
    entry = (worst / (second[1] * value)).clamp(-half_width, half_width)
    return _input(case, [torch.zeros(first, dtype=torch.float64), entry.expand(second).clone()])


_SIGMOID = {"N": 2, "d": 64, "n": 1, "B_x": 0.25, "B_y": 0.01, "eps": 0.1, "activation": "sigmoid", "loss": "square"}
COLUMNS = Refutation(
    "columns", "size_s", {**_SIGMOID, "K": 4, "B_v": 0.9, "relus": 64, "relus_r1": 0, "R": 0.0}, _upper_corner
)
SQUARE_ROOT = Refutation(
    "square_root",
    "gradient",
    {**_SIGMOID, "K": 64, "B_v": 0.05, "eta": 0.1, "relus": 4000, "relus_r1": 4, "R": 1.0},
    _everything_errs,
)
REFUTATIONS = {"icgd.backward": (COLUMNS,), "icgd.step": (SQUARE_ROOT,)}
