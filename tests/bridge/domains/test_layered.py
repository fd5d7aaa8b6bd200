"""All weights of a layered network in one box: the sizes and half widths that `Shape` counts by itself."""

import pytest
import sympy as sp
import torch

import boundsmith as bs
from numeric.tools.layered import Shape

N, K, d_x, d_y, B = sp.symbols("N K d_x d_y B", positive=True)


@pytest.mark.parametrize("shape", [Shape(1, 5, 2, 3), Shape(2, 3, 2, 1), Shape(4, 3, 5, 2)])
def test_the_box_is_that_of_the_shape(shape: Shape) -> None:
    letters = {N: shape.N, K: shape.K, d_x: shape.d_x, d_y: shape.d_y, B: 0.7}
    domain = bs.domains.layered_box(N, K, d_x, d_y, row_norm=B).at(letters)
    box = torch.as_tensor(shape.box(0.7))
    assert domain.dims == (shape.parameters,)
    corners = domain.corners(4, torch.Generator().manual_seed(0)).abs()
    torch.testing.assert_close(corners.amax(0), box, rtol=1e-12, atol=0)
    drawn = domain.sample(64, torch.Generator().manual_seed(1))
    assert bool((drawn.abs() <= box).all())
    assert domain.outside(box * 1.001) is not None
    rows = torch.cat([V.norm(dim=-1) for V in shape.matrices(corners[0])])
    assert float(rows.max()) <= 0.7 * (1 + 1e-12)
