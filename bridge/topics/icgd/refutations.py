"""Where a printed constant of wu2024 fails at one input."""

import torch
from torch import Tensor

from bridge.lowering.activations import activation_formula
from bridge.theorems.refutation import Refutation
from bridge.topics.icgd.emulation import Emulation
from bridge.topics.icgd.setting import StepSetting
from numeric.tools.layered import Shape

OPEN_SIZES = ("relus", "R", "relus_r1")  # 0 means: computed from the others


def _input(shape: Shape, matrices: list[Tensor]) -> dict[str, Tensor]:
    """These weights, and one example x = 0, y = 0."""
    zeros = {
        name: torch.zeros(1, size, dtype=torch.float64, device="cpu")
        for name, size in (("x", shape.d_x), ("y", shape.d_y))
    }
    return {"w": torch.cat([V.flatten() for V in matrices]), **zeros}


# All weights at the upper ends of the box: the columns of V_N, of d > K rows, have norm sqrt(d/K) B_v.
def _upper_corner(setting: StepSetting) -> dict[str, Tensor]:
    shape = setting.shape
    sizes = zip(shape.sizes, shape.half_widths(setting.B_v), strict=True)
    return _input(shape, [torch.full(size, width, dtype=torch.float64, device="cpu") for size, width in sizes])


# V_1 = 0 makes p(1) = r(0) (1, ..., 1), of norm sqrt(K) r(0); equal entries of V_2 then take all arguments of r'(2) to
# the place where its sum of ReLUs errs most, so that every coordinate of s(2) errs at once.
def _everything_errs(setting: StepSetting, emulation: Emulation) -> dict[str, Tensor]:
    r1 = emulation.r1
    grid = torch.linspace(-r1.radius, r1.radius, 4001, dtype=torch.float64, device="cpu")
    worst = grid[(r1.relu_sum(grid) - activation_formula(setting.activation, 1)(grid)).abs().argmax()]
    (first, second), half_width = setting.shape.sizes, setting.shape.half_widths(setting.B_v)[1]
    value = activation_formula(setting.activation)(torch.zeros((), dtype=torch.float64, device="cpu"))
    entry = (worst / (second[1] * value)).clamp(-half_width, half_width)
    return _input(setting.shape, [torch.zeros(first, dtype=torch.float64, device="cpu"), entry.expand(second).clone()])


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
