"""Values against hand-written mpmath references: single points, batches, Arb balls.

What is watched would mend a fault of the plain functions, so these are asked alone.
"""

import mpmath as mp
import numpy as np
import pytest
import torch
from flint import arb

from bridge.lowering import lower
from tests.bridge.lowering.lowering_cases import CASES, MATRIX_CASES, Case

BATCH = 100_000
FLOATING = ("numpy", "torch")


def allowed(case: Case, point: dict, size: object) -> object:
    """1e-12 * max(1, |f|) * (1 + condition number)."""
    return mp.mpf("1e-12") * max(mp.mpf(1), abs(size)) * (1 + case.condition(point))


def as_inputs(backend: str, point: dict) -> dict:
    if backend == "torch":
        return {name: torch.tensor(value, dtype=torch.float64) for name, value in point.items()}
    return point


def batch_of(case: Case) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(7)
    batch = {name: rng.uniform(*ends, BATCH) for name, ends in case.domain.items()}
    return batch | {name: rng.integers(low, high + 1, BATCH) for name, (low, high) in case.whole.items()}


@pytest.mark.parametrize("backend", FLOATING)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_points_agree_with_the_reference(case: Case, backend: str) -> None:
    function = lower(case.expr, backend, watch=False)
    for point in case.random_points(len(case.special) + 8, seed=1):
        exact = case.exact_value(point)
        result = mp.mpf(float(function(**as_inputs(backend, point))))
        assert abs(result - exact) <= allowed(case, point, exact), (point, result, exact)


@pytest.mark.parametrize("backend", FLOATING)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_batch_agrees_with_its_points(case: Case, backend: str) -> None:
    function = lower(case.expr, backend, watch=False)
    batch = batch_of(case)
    result = np.asarray(function(**as_inputs(backend, batch)))
    assert result.shape == (BATCH,)
    for row in range(0, BATCH, BATCH // 8):
        point = {name: values[row].item() for name, values in batch.items()}
        exact = case.exact_value(point)
        assert abs(mp.mpf(float(result[row])) - exact) <= allowed(case, point, exact), point
    rows = np.arange(0, BATCH, BATCH // 200)
    single = [
        function(**as_inputs(backend, {name: values[row].item() for name, values in batch.items()})) for row in rows
    ]
    np.testing.assert_allclose(result[rows], [float(value) for value in single], rtol=1e-12, atol=1e-12)


def digits_of(bits: int) -> int:
    return int(bits * 0.302) - 3


REACHED = [(case, bits) for case in CASES for bits in (53, 120, 1500) if digits_of(bits) + 15 < case.digits]


@pytest.mark.parametrize(("case", "bits"), REACHED, ids=str)
def test_mpmath_reaches_the_precision_asked_for(case: Case, bits: int) -> None:
    digits = digits_of(bits)
    in_context, fixed = lower(case.expr, "mpmath", watch=False), lower(case.expr, "mpmath", bits=bits)
    for point in case.random_points(len(case.special) + 2, seed=2):
        exact = case.exact_value(point)
        with mp.workprec(bits):
            result = in_context(**point)
        assert abs(result - fixed(**point)) <= mp.ldexp(1 + abs(result), -bits) * (1 + case.condition(point))
        margin = mp.mpf(10) ** -digits * max(mp.mpf(1), abs(exact)) * (1 + case.condition(point))
        assert abs(result - exact) <= margin, (point, result, exact)


def encloses(ball: arb, exact: object) -> bool:
    """Whether the ball contains a reference that is known to far more digits than the ball is wide.

    Decided in exact arithmetic on middle and radius: flint's own `lower` rounds outwards and could hide a miss.
    """
    if ball.is_nan() or not ball.is_finite():
        return not ball.is_nan()
    with mp.workprec(5000):
        return bool(abs(exact - exactly(ball.mid())) <= exactly(ball.rad()))


def exactly(end: arb) -> object:
    mantissa, exponent = end.man_exp()
    return mp.ldexp(mp.mpf(int(mantissa)), int(exponent))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_arb_encloses_the_reference_tightly(case: Case) -> None:
    function = lower(case.expr, "arb", bits=200)
    for point in case.random_points(len(case.special) + 3, seed=3):
        with mp.workdps(max(case.digits, 250)):
            case_at_more_digits = case.reference(**{name: mp.mpf(value) for name, value in point.items()})
            result = function(**point)
            assert encloses(result, case_at_more_digits), (point, result)
            wide = exactly(result.rad())
            assert wide <= mp.ldexp(max(abs(case_at_more_digits), 1) * (1 + case.condition(point)), -150), (
                point,
                result,
            )


def as_matrix(value: object) -> mp.matrix:
    return value if isinstance(value, mp.matrix) else mp.matrix([[value]])


@pytest.mark.parametrize("backend", FLOATING)
@pytest.mark.parametrize("case", MATRIX_CASES, ids=str)
def test_matrices_agree_with_the_reference_batched_and_not(case: Case, backend: str) -> None:
    function = lower(case.expr, backend)
    points = case.random_points(6, seed=4)
    exact = np.array([np.array(as_matrix(case.exact_value(point)).tolist(), dtype=float) for point in points])
    exact = exact if getattr(case.expr, "is_Matrix", False) else exact[:, 0, 0]
    single = [np.asarray(function(**as_inputs(backend, point))) for point in points]
    np.testing.assert_allclose(single, exact, rtol=1e-12, atol=1e-12)
    if "n" not in case.whole:
        batch = {name: np.array([point[name] for point in points]) for name in points[0]}
        np.testing.assert_allclose(np.asarray(function(**as_inputs(backend, batch))), exact, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("case", MATRIX_CASES, ids=str)
def test_matrices_of_mpmath_and_arb_agree_with_the_reference(case: Case) -> None:
    multiprecision, balls = lower(case.expr, "mpmath", bits=160), lower(case.expr, "arb", bits=160)
    for point in case.random_points(5, seed=5):
        exact, value, ball = as_matrix(case.exact_value(point)), as_matrix(multiprecision(**point)), balls(**point)
        entries = ball.entries() if hasattr(ball, "entries") else [ball]
        with mp.workprec(400):
            for reference, number, enclosure in zip(exact, value, entries, strict=True):
                assert abs(number - reference) < mp.ldexp(1, -130)
                assert encloses(enclosure, reference)
                assert exactly(enclosure.rad()) < mp.ldexp(1, -120)


ENCLOSED = [case for case in CASES if case.digits == 100]


@pytest.mark.long
def test_arb_encloses_ten_thousand_points() -> None:
    count = -(-10_000 // len(ENCLOSED))
    tested = 0
    for case in ENCLOSED:
        balls = lower(case.expr, "arb", bits=64)
        for point in case.random_points(count, seed=6):
            assert encloses(balls(**point), case.exact_value(point)), (case.name, point)
            tested += 1
    assert tested >= 10_000
