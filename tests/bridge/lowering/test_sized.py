"""Formulas over arrays whose sizes are letters, against loops over the numbers of mpmath."""

from typing import Any

import mpmath as mp
import numpy as np
import pytest
import sympy as sp
import torch
from flint import arb, arb_mat, ctx

from bridge.lowering import lower
from symbolic.words.errors import UsageError
from tests.bridge.lowering.sized_cases import (
    CASES,
    LARGE,
    SMALL,
    A,
    M,
    SizedCase,
    a,
    a_n,
    b,
    i,
    j,
    k,
    m,
    n,
    t,
    to_m,
    to_n,
    x,
)

BACKENDS = ("numpy", "torch", "mpmath", "arb")
FLOATING = ("numpy", "torch")
every_case = pytest.mark.parametrize("case", CASES, ids=str)


def given(backend: str, value: Any) -> Any:
    return torch.tensor(value, dtype=torch.float64) if backend == "torch" else value


def rows(value: Any) -> list[Any]:
    """The numbers of a scalar or of rows."""
    return [entry for row in value for entry in row] if isinstance(value, list) else [value]


def entries(found: Any) -> list[Any]:
    if isinstance(found, arb_mat | mp.matrix):
        return rows(found.tolist())
    return np.asarray(found).reshape(-1).tolist() if not isinstance(found, arb | mp.mpf | bool) else [found]


def test_the_table_has_many_shapes() -> None:
    assert len(CASES) >= 60
    assert len({str(case.expr) for case in CASES}) == len(CASES)


@every_case
def test_values_at_two_sets_of_sizes_are_those_of_loops(case: SizedCase) -> None:
    for backend in BACKENDS:
        function = lower(case.expr, backend)
        for seed, sizes in enumerate((SMALL, LARGE)):
            point = case.point(seed, sizes)
            exact = rows(case.value(point))
            found = entries(function(**{name: given(backend, value) for name, value in point.items()}))
            assert len(found) == len(exact)
            most = mp.mpf("1e-12") * max(map(abs, exact))
            for one, other in zip(found, exact, strict=True):
                if isinstance(one, bool):
                    assert one == other
                elif backend == "arb":
                    assert encloses(one, other)
                else:
                    assert abs(one - other) <= most


def encloses(ball: arb, exact: Any) -> bool:
    """To the 60 digits that a reference has; the ball is no wider than 1e-20."""
    with mp.workprec(300):
        sign, mantissa, exponent, _ = mp.mpf(exact)._mpf_
    with ctx.workprec(300):
        near = arb((-1) ** sign * mantissa) * arb(2) ** exponent + arb(0, 1e-50)
        return ball.overlaps(near) and float(ball.rad()) < 1e-20 * max(1.0, abs(float(ball.mid())))


@every_case
def test_gradients_are_difference_quotients_of_loops(case: SizedCase) -> None:
    if isinstance(case.expr, sp.core.relational.Relational):
        return
    point = case.point(2, SMALL)
    tensors = {name: given("torch", value).requires_grad_(name != "p") for name, value in point.items()}
    lower(case.expr, "torch")(**tensors).sum().backward()
    rng = np.random.default_rng(3)
    for name in (each for each in point if each != "p"):
        place = tuple(int(rng.integers(size)) for size in tensors[name].shape)
        slope = tensors[name].grad
        found = 0.0 if slope is None else float(slope[place])
        assert found == pytest.approx(float(quotient(case, point, name, place)), rel=1e-9, abs=1e-9)


def quotient(case: SizedCase, point: dict[str, Any], name: str, place: tuple[int, ...]) -> Any:
    step = mp.mpf(10) ** -15

    def moved(by: Any) -> Any:
        value = np.array(point[name], dtype=object)
        value[place] = mp.mpf(float(value[place])) + by
        return mp.fsum(rows(case.value({**point, name: value.tolist()}, digits=60)))

    with mp.workdps(60):
        return (moved(step) - moved(-step)) / (2 * step)


@pytest.mark.parametrize("backend", FLOATING)
@every_case
def test_a_batch_is_its_points(case: SizedCase, backend: str) -> None:
    points = [case.point(seed, SMALL) for seed in range(3)]
    if "p" in points[0]:  # an index is one number
        return
    function = lower(case.expr, backend)
    make = np.array if backend == "numpy" else lambda value: torch.tensor(value, dtype=torch.float64)
    batch = function(**{name: make([point[name] for point in points]) for name in points[0]})
    for place, point in enumerate(points):
        alone = function(**{name: make(value) for name, value in point.items()})
        np.testing.assert_allclose(np.asarray(batch[place]), np.asarray(alone), rtol=1e-13, atol=1e-14)


# guarantees


@pytest.mark.parametrize("backend", FLOATING)
def test_digits_that_cancel_are_computed_again(backend: str) -> None:
    difference = sp.Sum(a[i], to_n) - sp.Sum(b[i], to_n)
    left, right = [0.1] * 50, [0.1] * 49 + [0.1 + 2.0**-50]
    found = lower(difference, backend)(a=given(backend, left), b=given(backend, right))
    assert float(found) == -(2.0**-50)
    alternating = lower(sp.Sum((-1) ** i * a[i], to_n), backend)(given(backend, [1e16, 1e16 - 2, 0.5]))
    assert float(alternating) == 2.5


@pytest.mark.parametrize("backend", FLOATING)
def test_what_would_overflow_on_the_way_does_not(backend: str) -> None:
    formula = sp.log(sp.Sum(sp.exp(a[i]), to_n))
    assert float(lower(formula, backend)(given(backend, [1000.0, 1000.0]))) == pytest.approx(1000 + np.log(2))


def test_whole_numbers_are_exact_in_indices_of_any_dtype() -> None:
    blocks = sp.Sum(a_n[sp.floor(i / 49)], to_n)  # 49 * (1/49) is less than 1 in float64
    values = [10.0**e for e in range(4)] + [0.0] * 192
    assert lower(blocks)(values) == lower(blocks, "mpmath")(values) == 49 * 1111
    exact = lower(sp.Sum(a[i], to_n), "torch")
    assert float(exact(torch.ones(200, dtype=torch.bfloat16))) == 200
    with pytest.raises(UsageError, match=r"lower: the index 256 is not exact in torch\.bfloat16; compute in"):
        exact(torch.ones(300, dtype=torch.bfloat16))


def test_balls_hold_every_point_of_boxes() -> None:
    mean = lower(sp.Sum(a[i] ** 2, to_n) / n, "arb")
    found = mean([arb(1, 0.5), arb(-2, 0.25)])
    for low, high in ((0.5, -2.25), (1.5, -1.75)):
        assert found.contains((arb(low) ** 2 + arb(high) ** 2) / 2)


def test_tensors_keep_dtype_and_gradient_and_pass_through_vmap() -> None:
    function = lower(sp.Sum(M[i, j] * a[j], to_m, to_n) / m, "torch")
    weights, vector = torch.ones(3, 2, dtype=torch.float32, requires_grad=True), torch.ones(2, dtype=torch.float32)
    value = function(weights, vector)
    assert value.dtype == torch.float32
    value.backward()
    assert weights.grad is not None
    assert torch.equal(weights.grad, torch.full((3, 2), 0.5, dtype=torch.float32))
    batch = torch.vmap(lambda each: function(each, vector))(torch.ones(5, 3, 2, dtype=torch.float32))
    assert batch.tolist() == [3.0] * 5


def test_a_branch_outside_of_an_array_touches_no_gradient() -> None:
    before = sp.Piecewise((a_n[i - 1], i > 0), (0, True))
    values = torch.linspace(-1, 1, 40, dtype=torch.float64, requires_grad=True)
    lower(sp.Sum(before * a_n[i], to_n), "torch")(values).backward()
    padded = torch.nn.functional.pad(values.detach(), (1, 1))
    assert values.grad is not None
    assert torch.allclose(values.grad, padded[:-2] + padded[2:], rtol=0, atol=1e-15)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["exp", "lambda", "_i0", "_t0", "print(1)", "x'\""])
def test_names_of_arrays_never_reach_the_generated_code_unchecked(name: str, backend: str) -> None:
    odd = sp.IndexedBase(sp.Symbol(name))
    function = lower(sp.exp(odd[0]) + sp.Sum(odd[i], (i, 0, n)), backend, args=[odd, n])
    assert float(function(given(backend, [0.0, 2.0]), 1)) == 3
    with pytest.raises(UsageError, match=r"\[2\] is outside of"):
        function(given(backend, [0.0, 2.0]), 2)


@pytest.mark.parametrize("backend", BACKENDS)
def test_empty_arrays_have_empty_sums(backend: str) -> None:
    empty = np.zeros(0) if backend != "torch" else torch.zeros(0, dtype=torch.float64)
    assert float(lower(sp.Sum(a[i], to_n) + 1, backend)(empty)) == 1
    assert float(lower(sp.Product(a[i], to_n), backend)(empty)) == 1
    column = np.zeros((0, 1)) if backend != "torch" else torch.zeros(0, 1, dtype=torch.float64)
    assert float(lower(sp.Trace(x * x.T) + 1, backend)(column)) == 1


@pytest.mark.parametrize("backend", ["mpmath", "arb"])
def test_matrices_of_the_backends_are_arrays_too(backend: str) -> None:
    own = mp.matrix([1, 2, 3]) if backend == "mpmath" else arb_mat([[1], [2], [3]])
    assert float(lower(sp.Sum(a[i], to_n), backend)(own)) == 6
    assert float(lower(sp.Trace(x * x.T), backend)(own)) == 14
    assert float(lower(sp.Sum(a[i], to_n), backend)(sp.Matrix([1, 2, 3]).T.tolist()[0])) == 6


def test_one_function_is_kept_for_each_set_of_sizes() -> None:
    function = lower(sp.Sum(a[i], to_n))
    kept = function._for_sizes  # type: ignore[attr-defined]
    for values in ([1.0], [1.0, 2.0], [3.0], [4.0, 5.0], [6.0]):
        assert function(values) == sum(values)
    assert (kept.cache_info().misses, kept.cache_info().hits) == (2, 3)
    assert "return" in function.source
    assert repr(function) == "<numpy function of (a): Sum(a[i], (i, 0, n - 1))>"


# sizes


def test_letters_for_sizes_are_no_arguments_unless_they_are_named() -> None:
    assert lower(A * A.T / n).args == ("A",)
    partial = lower(sp.Sum(a[i], to_n), args=[a, n])
    assert partial([1.0, 2.0, 4.0], 2) == 3
    declared = lower(sp.Sum(a_n[i], (i, 0, k)), args=["a", "k"])
    assert declared([1.0, 2.0, 4.0], 1) == 3
    assert lower(sp.Trace(sp.Identity(n)) * t + sp.Sum(M[i, j], to_m, to_n), args=["M", n, t])([[1.0]], 1, 2.0) == 3
    told = lower(sp.Sum(sp.OneMatrix(n, n)[0, 0] * t, to_n), args=[n, t])
    assert told(3, 2.0) == 6


def test_a_range_from_zero_to_a_letter_says_how_long_an_axis_is() -> None:
    index = sp.Idx("i", n)
    assert lower(sp.Sum(a[index], index))([1.0, 2.0]) == 3
    shifted = sp.Sum(a[i - 1], (i, 1, n))
    assert lower(shifted).args == ("a",)
    assert lower(shifted)([1.0, 2.0]) == 3
    from_one = lower(sp.Sum(a[i], (i, 1, n)))  # of which no axis begins at 0
    assert from_one.args == ("a", "n")
    assert from_one([9.0, 1.0, 2.0], 2) == 3
    two = lower(sp.Sum(a[i], to_n) + sp.Sum(a[j], to_m))  # two letters: neither is the size
    assert two.args == ("a", "m", "n")
    assert two([1.0, 2.0], 1, 2) == 4


def test_batches_of_limits_that_are_arguments() -> None:
    sums = lower(sp.Sum(a[i], (i, 0, k)), args=[a, k])
    assert sums([1.0, 2.0, 4.0], np.array([0, 2, -1])).tolist() == [1, 7, 0]
