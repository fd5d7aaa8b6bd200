from fractions import Fraction

import numpy as np
import pytest
import torch

from numeric.networks.stream import StreamError
from numeric.tools.layered import Shape, autograd_gradient, relative_distance, tangent_gradient

SHAPES = [Shape(1, 5, 2, 3), Shape(2, 3, 2, 1), Shape(4, 3, 5, 2), Shape(3, 1, 1, 1)]


@pytest.mark.parametrize("shape", SHAPES)
def test_w_is_the_matrices_row_by_row(shape):
    w = torch.arange(2 * shape.parameters, dtype=torch.float64).reshape(2, -1)
    matrices = shape.matrices(w)
    assert [tuple(V.shape[1:]) for V in matrices] == list(shape.sizes)
    assert torch.equal(torch.cat([V.reshape(2, -1) for V in matrices], dim=1), w)
    assert shape.sizes[0][1] == shape.d_x
    assert shape.sizes[-1][0] == shape.d_y
    assert all(left[0] == right[1] for left, right in zip(shape.sizes[:-1], shape.sizes[1:], strict=True))


def test_a_single_layer_has_no_hidden_width():
    assert Shape(1, 7, 2, 3).sizes == ((3, 2),)


def test_the_count_of_parameters_is_the_papers_where_its_dimensions_agree():
    N, K, d = 5, 4, 3
    assert Shape(N, K, d, d).parameters == 2 * d * K + (N - 2) * K**2


@pytest.mark.parametrize("B_v", [1.0, 0.3, 7.0, 1e-5])
@pytest.mark.parametrize("shape", SHAPES)
def test_corners_of_the_box_have_rows_of_norm_at_most_B_v_exactly(shape, B_v):
    for (_, columns), half_width in zip(shape.sizes, shape.half_widths(B_v), strict=True):
        square = Fraction(half_width) ** 2 * columns
        assert square <= Fraction(B_v) ** 2
        assert float(square) == pytest.approx(B_v**2, rel=1e-14)
    box = torch.tensor(shape.box(B_v))
    for V, half_width in zip(shape.matrices(box), shape.half_widths(B_v), strict=True):
        assert bool((half_width == V).all())


def test_sizes_that_make_no_network_are_refused():
    with pytest.raises(StreamError, match="a size below 1"):
        Shape(N=0, K=1, d_x=1, d_y=1)
    with pytest.raises(StreamError, match=r"row_norm=-1.0.*finite row_norm > 0"):
        Shape(1, 1, 1, 1).half_widths(-1.0)
    with pytest.raises(StreamError, match=r"w of shape \(3,\). Give \(..., 4\)"):
        Shape(1, 1, 2, 2).matrices(torch.tensor(np.zeros(3)))


@pytest.mark.parametrize("shape", SHAPES)
def test_tangents_give_the_gradient_of_autograd(shape):
    generator = torch.Generator().manual_seed(3)
    w, x, y = (
        torch.randn(*size, generator=generator, dtype=torch.float64)
        for size in ((shape.parameters,), (4, shape.d_x), (4, shape.d_y))
    )
    expected = autograd_gradient(shape, w, x, y, torch.sin, lambda p, y: (p - y) ** 2)
    found = tangent_gradient(shape, w, x, y, torch.sin, torch.cos, lambda p, y: 2 * (p - y))
    assert float(relative_distance(found, expected, shape)) < 1e-12
    wrong = tangent_gradient(shape, w, x, y, torch.sin, lambda z: torch.cos(z) + 1e-6, lambda p, y: 2 * (p - y))
    assert float(relative_distance(wrong, expected, shape)) > 1e-8
