"""Inputs as they are measured: inside the hypotheses in exact arithmetic, whatever the dtype."""

from fractions import Fraction
from functools import cache

import pytest
import torch

from bridge.instances.instance import Instance
from tests.bridge.topics.icgd.built import instance_at
from tests.numeric.topics.icgd.hypotheses import B_V, B_X, B_Y, SHAPE, meets_hypotheses, squared_norms

DTYPES = ["float64", "float32", "bfloat16", "float16"]


@cache
def instance_of(dtype: str = "float64", B_v: float = B_V) -> Instance:
    sizes = {"N": SHAPE.N, "K": SHAPE.K, "d_x": SHAPE.d_x, "d_y": SHAPE.d_y, "n": 5}
    return instance_at("icgd.dimensions", dtype=dtype, **sizes, B_v=B_v, B_x=B_X, B_y=B_Y, relus=64)


@pytest.mark.parametrize("dtype", DTYPES)
def test_samples_starts_and_projected_points_meet_the_hypotheses_exactly(dtype: str) -> None:
    here = instance_of(dtype)
    drawn = here.inputs.sample(8, 1)
    projected = here.inputs.project({name: value * 5 for name, value in drawn.items()})
    for inputs in (drawn, here.inputs.admit(here.inputs.starts(8, 1)), projected):
        assert {value.dtype for value in inputs.values()} == {here.known.format.dtype}
        assert meets_hypotheses(inputs)
        assert not meets_hypotheses({**inputs, "w": inputs["w"] + 2})


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("B", [0.1, 0.7, 1.7, 3.0])
def test_corners_of_the_box_are_rounded_inwards(dtype: str, B: float) -> None:
    here = instance_of(dtype, B)
    inputs = here.inputs.sample(1, 0)
    corner = here.inputs.project({**inputs, "w": torch.full_like(inputs["w"], 9.0)})["w"]
    rows = [square for V in SHAPE.matrices(corner) for square in squared_norms(V)]
    assert max(rows) <= Fraction(B) ** 2
    assert float(min(rows)) > B**2 * (1 - 8 * torch.finfo(here.known.format.dtype).eps)
