"""Where a printed constant fails, and where a hypothesis rules a case out: rows with parameters of their own.

Each refutation is a case of the same study and one input of it; its witness replays like any other.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from bridge.icgd.case import StepCase
from bridge.measure import evidence_at
from bridge.record import Row
from bridge.rows import ONE_INPUT, judged_row
from bridge.study import Inputs


@dataclass(frozen=True)
class Refutation:
    """A printed bound that fails at `params`: of which quantity, at which input, by which slip.

    The row has no parameters in common with the grid's: they stand in its remark, and in its witness.
    """

    name: str
    quantity: str
    params: Mapping[str, Any]
    inputs: Callable[[StepCase], Inputs]
    slip: str

    def row(self, case: StepCase) -> Row:
        quantity = case.result.quantity(self.quantity)
        found = evidence_at(case, quantity, case.admit(self.inputs(case)))
        tiers = {"printed": case.printed(quantity), "derived": case.derived(quantity)}
        row = judged_row(case, quantity, "network", tiers, [found], ONE_INPUT)
        where = ", ".join(f"{name} = {value}" for name, value in self.params.items())
        said = "; ".join(filter(None, [self.slip, f"at {where}", row.remark]))
        return row.model_copy(update={"quantity": f"erratum.{self.name}", "params": {}, "remark": said})


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
    worst = grid[(r1.relu_sum(grid) - s.on_tensors(1)(grid)).abs().argmax()]
    (first, second), half_width = s.shape.sizes, s.shape.half_widths(s.B_v)[1]
    value = s.on_tensors(0)(torch.zeros((), dtype=torch.float64))
    entry = (worst / (second[1] * value)).clamp(-half_width, half_width)
    return _input(case, [torch.zeros(first, dtype=torch.float64), entry.expand(second).clone()])


_SIGMOID = {"N": 2, "n": 1, "eta": 0.1, "eps": 0.1, "activation": "sigmoid", "loss": "square"}
COLUMNS = Refutation(
    "columns",
    "size_s",
    {**_SIGMOID, "K": 4, "d": 64, "B_v": 0.9, "B_x": 0.25, "B_y": 0.01, "relus": 64, "relus_r1": 0, "R": 0.0},
    _upper_corner,
    "Lemma 6 takes the k-th column of V_{j+1} for a row: on the box its norm is sqrt(rows / columns) B_v, up to "
    "sqrt(K) B_v on the paper's domain",
)
SQUARE_ROOT = Refutation(
    "square_root",
    "gradient",
    {**_SIGMOID, "K": 64, "d": 64, "B_v": 0.05, "B_x": 0.25, "B_y": 0.01, "relus": 4000, "relus_r1": 4, "R": 1.0},
    _everything_errs,
    "D.7 writes sqrt(P) B_r for ||pbar(j)||_2 <= P B_r: the constants of Theorem 1 are too small once P > 4 and eps_r' "
    "is what matters",
)
REFUTATIONS = {"icgd.backward": (COLUMNS,), "icgd.step": (SQUARE_ROOT,)}
