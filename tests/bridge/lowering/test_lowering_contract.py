"""What `lower` promises beside values: refusals, arguments, dtypes and devices, shapes, conversions, speed's value."""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
import sympy as sp
import torch
from flint import arb, arb_mat

from benchmarks.lowering import measure
from bridge.lowering import Lowered, LoweringError, loops, lower
from bridge.lowering.common import shortened
from tests.bridge.lowering.lowering_cases import REFUSED, A, B, k, n, x, y
from tests.bridge.lowering.test_lowering_values import encloses

BACKENDS = ("numpy", "torch", "mpmath", "arb")
FLOATING = ("numpy", "torch")


def rational(value: sp.Rational) -> object:
    with mp.workprec(4000):
        return mp.mpf(int(value.p)) / int(value.q)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("expr", "message"), REFUSED, ids=lambda part: str(part)[:30])
def test_what_cannot_be_expressed_is_refused_by_name(expr: sp.Basic, message: str, backend: str) -> None:
    with pytest.raises(LoweringError) as caught:
        lower(expr, backend)
    assert str(caught.value) == f"{backend} backend: cannot lower {message}"
    assert caught.value.backend == backend


@pytest.mark.parametrize("backend", FLOATING)
@pytest.mark.parametrize("constant", [sp.Integer(10) ** 400, sp.Integer(10) ** -400])
def test_a_constant_beyond_float64_is_refused_and_kept_by_the_others(constant: sp.Expr, backend: str) -> None:
    with pytest.raises(LoweringError, match="outside the range of float64; scale it, or use mpmath or arb"):
        lower(constant * x, backend)
    assert lower(constant * x, "mpmath", bits=60)(3) > 0
    assert encloses(lower(constant * x, "arb")(3), rational(3 * constant))
    assert lower(x + sp.Integer(10) ** -400, backend)(3.0) == 3.0


@pytest.mark.parametrize("expr", ["x + 1", "__import__('os')"])
def test_strings_are_never_evaluated(expr: str) -> None:
    with pytest.raises(TypeError, match="never evaluated; build the expression with SymPy symbols"):
        lower(expr)


@pytest.mark.parametrize("thing", [sp.Tuple(x, y), [x], None, np.ones(2)], ids=str)
def test_other_objects_are_refused(thing: object) -> None:
    with pytest.raises(TypeError, match="expected a SymPy expression, matrix or condition"):
        lower(thing)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"backend": "jax"}, ValueError, "unknown backend 'jax'; available: numpy, torch, mpmath, arb"),
        ({"backend": "numpy", "bits": 99}, TypeError, "backend 'numpy' has no option bits"),
        ({"backend": "arb", "dtype": float}, TypeError, "backend 'arb' has no option dtype"),
        (
            {"backend": "mpmath", "bits": 1},
            ValueError,
            "bits must be an integer of at least 2 and at most 1000000, got 1",
        ),
        ({"backend": "arb", "bits": 10**9}, ValueError, "at most 1000000, got 1000000000"),
        ({"backend": "numpy", "dtype": complex}, TypeError, "dtype must be a real floating dtype"),
        ({"backend": "torch", "dtype": torch.int64}, TypeError, "dtype must be a floating torch.dtype"),
        ({"args": [x]}, ValueError, r"missing \[y\]"),
        ({"args": [x, y, x]}, ValueError, r"names given twice \['x'\]"),
        ({"args": [x, y, 3]}, ValueError, r"not symbols \[3\]"),
    ],
)
def test_options_and_arguments_that_do_not_fit_raise(options: dict, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        lower(x + y, **options)


def test_symbols_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="different symbols of the same name"):
        lower(x + sp.Symbol("x"))


def test_arguments_go_by_position_and_by_name() -> None:
    function = lower(x - 2 * y, args=["y", x, sp.Symbol("unused")])
    assert function.args == ("y", "x", "unused")
    assert function(1, 5, 0) == function(1, unused=0, x=5) == 3
    assert repr(function) == "<numpy function of (y, x, unused): x - 2*y>"
    assert "return" in function.source
    assert isinstance(function, Lowered)


@pytest.mark.parametrize(
    ("positional", "named", "message"),
    [((1, 2, 3), {}, "got 3 positional"), ((1,), {}, r"missing \['y'\]"), ((1, 2), {"x": 1}, r"given twice \['x'\]"),
     ((), {"x": 1, "y": 2, "z": 3}, r"unknown \['z'\]")],
)  # fmt: skip
def test_a_wrong_call_says_what_is_wrong(positional: tuple, named: dict, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        lower(x + y)(*positional, **named)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "name", ["exp", "lambda", "_t0", "_i0", "_like", "p[1]", "print(1)", "nan", "arg0", "r'", "None"]
)
def test_names_of_symbols_never_reach_the_generated_code_unchecked(name: str, backend: str) -> None:
    odd, other = sp.Symbol(name), sp.Symbol("arg0_")
    function = lower(sp.exp(odd) + sp.Sum(odd**k, (k, 0, n)) + other, backend)
    values = {name: 0, "n": 3, "arg0_": 1}
    assert float(function(**values)) == 3.0


def test_default_order_is_by_name() -> None:
    assert lower(sp.Symbol("b") + sp.Symbol("a") * sp.Symbol("c") + A[0, 0]).args == ("A", "a", "b", "c")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize(
    "expr",
    [sp.sqrt(2) * x, sp.Max(x, sp.pi), sp.Matrix([[1, x], [sp.log(2), 3]]), sp.Heaviside(x), sp.log(1 + sp.exp(x)),
     sp.Piecewise((1, x > 0), (sp.sqrt(2), True)), sp.Sum(x**k, (k, 0, n)), sp.Integer(3) + 0 * x, sp.Matrix([[1, 2]]),
     (1 - x**n) / (1 - x), 2 * A + sp.Identity(2)],
    ids=str,
)  # fmt: skip
def test_torch_keeps_the_dtype_of_its_inputs(expr: sp.Basic, dtype: torch.dtype) -> None:
    function = lower(expr, "torch", args=["x", "n", A])
    values = (torch.tensor([0.5, 2.0], dtype=dtype), 3, torch.ones(2, 2, dtype=dtype))
    assert function(*values).dtype == dtype
    assert function(*values).shape[0] == 2


@pytest.mark.parametrize(
    "expr", [sp.sqrt(2) * x + sp.log(1 + sp.exp(x)), sp.gamma(x) + sp.LambertW(x) + sp.erf(x)], ids=str
)
def test_float32_is_accurate_to_float32(expr: sp.Expr) -> None:
    points = np.linspace(0.1, 3, 50)
    exact = lower(expr)(points)
    single = lower(expr, dtype=np.float32)(points)
    tensors = lower(expr, "torch")(torch.tensor(points, dtype=torch.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, exact, rtol=2e-6)
    np.testing.assert_allclose(tensors.numpy(), exact, rtol=2e-6)


def test_torch_never_promotes_silently() -> None:
    mixed = torch.ones(2, dtype=torch.float32), torch.ones(2, dtype=torch.float64)
    with pytest.raises(TypeError, match=r"mixed tensors .*float32.*float64.*: convert them, or give dtype and device"):
        lower(x + y, "torch")(*mixed)
    assert lower(x + y, "torch", dtype=torch.float64)(*mixed).dtype == torch.float64
    assert lower(x + y, "torch")(mixed[0], torch.tensor([1, 2])).dtype == torch.float32
    assert lower(x + y, "torch", dtype=torch.float32)(1, 2).dtype == torch.float32


def test_torch_stays_on_its_device() -> None:
    expr = sp.Matrix([[1, sp.Max(x, 2)], [sp.Piecewise((1, x > 0), (0, True)), sp.Sum(x * k, (k, 0, 40))]])
    result = lower(expr, "torch")(torch.ones(3, device="meta", dtype=torch.float32))
    assert (result.device.type, result.dtype, result.shape) == ("meta", torch.float32, (3, 2, 2))
    assert lower(expr, "torch", device="meta")(1.0).device.type == "meta"
    with pytest.raises(TypeError, match="mixed tensors"):
        lower(x + y, "torch")(torch.ones(3, dtype=torch.float64), torch.ones(3, device="meta", dtype=torch.float64))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_torch_works_on_a_gpu() -> None:
    expr = sp.Matrix([[sp.sqrt(2), sp.Max(x, 0)], [sp.Piecewise((sp.log(x), x > 0), (0, True)), (1 - x**n) / (1 - x)]])
    points = torch.linspace(-1, 2, 7, device="cuda", requires_grad=True, dtype=torch.float64)
    result = lower(expr, "torch")(n=3, x=points)
    (slopes,) = torch.autograd.grad(result.sum(), points)
    assert (result.device.type, slopes.isfinite().all().item()) == ("cuda", True)


@pytest.mark.parametrize("backend", FLOATING)
def test_batches_broadcast_and_constants_fill_them(backend: str) -> None:
    make = np.ones if backend == "numpy" else torch.ones
    assert lower(x * y, backend)(make((4, 1)), make((3,))).shape == (4, 3)
    assert lower(sp.Integer(7), backend, args=["x"])(make((4,))).shape == (4,)
    assert lower(A * B, backend)(make((5, 2, 2)), make((2, 3))).shape == (5, 2, 3)
    assert lower(x * A, backend, args=[x, A])(make((4, 1)), make((5, 2, 2))).shape == (4, 5, 2, 2)
    assert lower(sp.Matrix([[1, x, y]]), backend)(make((4, 1)), make((3,))).shape == (4, 3, 1, 3)
    assert lower(sp.KroneckerProduct(A, B), backend)(make((7, 2, 2)), make((2, 3))).shape == (7, 4, 6)
    with pytest.raises(ValueError, match=r"A: shape \(3, 2\), expected \(..., 2, 2\)"):
        lower(A.T, backend)(make((3, 2)))


@pytest.mark.parametrize("backend", FLOATING)
@pytest.mark.parametrize(
    "expr", [sp.Sum(x**k, (k, 0, n)), sp.Sum(k * x, (k, 3, n)), sp.Product(x + k, (k, 2, n))], ids=str
)
def test_limits_of_sums_may_be_batches(expr: sp.Expr, backend: str) -> None:
    lasts = np.array([-2, 0, 1, 2, 5, 9])
    single = [float(lower(expr, "mpmath")(n=int(last), x=0.5)) for last in lasts]
    batch = lasts if backend == "numpy" else torch.tensor(lasts)
    np.testing.assert_allclose(np.asarray(lower(expr, backend)(n=batch, x=0.5)), single, rtol=1e-14)


@pytest.mark.parametrize("backend", BACKENDS)
def test_limits_that_are_no_integers_raise(backend: str) -> None:
    with pytest.raises(ValueError, match="integers"):
        lower(sp.Sum(x**k, (k, 0, n)), backend)(n=2.5, x=1.0)


def test_blocks_of_large_batches_agree_with_small_ones() -> None:
    function = lower(sp.exp(-x) * y + sp.Max(x, y))
    rows, columns = np.linspace(0, 1, 300)[:, None], np.linspace(-1, 1, 200)
    whole = function(rows, columns)
    assert whole.shape == (300, 200)
    np.testing.assert_array_equal(whole[17], function(rows[17], columns))
    assert lower(x > y)(rows, columns).dtype == bool


@pytest.mark.parametrize(
    ("value", "exact"),
    [(Fraction(1, 3), Fraction(1, 3)), (0.1, Fraction(0.1)), (7, Fraction(7)), (sp.Rational(2, 7), Fraction(2, 7)),
     (sp.Float("0.1", 40), None), (10**30, Fraction(10**30)), (np.float64(0.1), Fraction(0.1))],
    ids=str,
)  # fmt: skip
def test_exact_backends_take_numbers_exactly(value: object, exact: Fraction | None) -> None:
    exactly = rational(sp.Rational(value) if exact is None else sp.Rational(exact.numerator, exact.denominator))
    ball = lower(x, "arb", bits=300)(value)
    assert encloses(ball, exactly)
    assert ball.rad() <= abs(ball) * arb(2) ** -290
    with mp.workprec(300):
        assert abs(lower(x, "mpmath")(value) - exactly) <= abs(exactly) * mp.ldexp(1, -299)


@pytest.mark.parametrize("backend", ["mpmath", "arb"])
@pytest.mark.parametrize("value", ["0.1", None, 1j])
def test_exact_backends_refuse_what_is_no_number(value: object, backend: str) -> None:
    with pytest.raises(TypeError, match="x: expected"):
        lower(x, backend)(value)


def test_complex_inputs_are_refused() -> None:
    for backend, value in (("numpy", np.array([1j])), ("torch", torch.tensor([1j]))):
        with pytest.raises(TypeError, match="x: expected real numbers, got"):
            lower(x, backend)(value)


def test_arb_returns_matrices_for_matrices() -> None:
    assert isinstance(lower(A.T, "arb")([[1, 2], [3, 4]]), arb_mat)
    assert isinstance(lower(sp.Trace(A), "arb")(arb_mat([[1, 2], [3, 4]])), arb)
    assert lower(sp.Integer(3), "arb")() == 3


def test_outside_the_domain_floats_are_nan_or_inf_without_warnings() -> None:
    assert np.isnan(lower(sp.log(x))(-1.0))
    assert np.isinf(lower(1 / x)(0.0))
    assert mp.isnan(lower(sp.sqrt(x), "mpmath")(-1))
    assert np.isnan(lower(sp.loggamma(x))(-1.5))
    assert np.isnan(lower(sp.Piecewise((1, x > 0)))(-1.0))


@pytest.mark.parametrize("backend", BACKENDS)
def test_hundreds_of_nested_layers_can_be_lowered(backend: str) -> None:
    expr: sp.Expr = x
    value = 0.5
    for layer in range(300):
        expr = sp.sqrt(1 + expr / (layer + 1)) + y
        value = (1 + value / (layer + 1)) ** 0.5 + 0.25
    assert float(lower(expr, backend)(0.5, 0.25)) == pytest.approx(value, rel=1e-14)


def test_parts_used_twice_a_layer_are_computed_once() -> None:
    expr: sp.Expr = x
    for _ in range(30):
        expr = expr * (1 + expr) / 3  # as a tree it has 2**30 leaves
    function = lower(expr)
    assert len(function.source) < 5000
    value = 0.5
    for _ in range(30):
        value = value * (1 + value) / 3
    assert function(0.5) == pytest.approx(value, rel=1e-12)


def test_symbols_without_assumptions_are_real() -> None:
    plain = sp.Symbol("x")
    assert lower(sp.Abs(plain).diff(plain))(-3.0) == -1.0
    assert lower(sp.sqrt(plain**2), "torch")(-3.0) == 3.0


def test_without_cse_the_values_are_the_same() -> None:
    expr = sp.exp(x) + sp.exp(x) ** 2 * sp.sin(sp.exp(x))
    assert lower(expr, cse=False)(0.3) == pytest.approx(lower(expr)(0.3), rel=1e-15)
    assert "_t0" not in lower(expr, cse=False).source


def test_the_benchmark_compares_equal_results() -> None:
    lowered, handwritten, difference = measure(points=20_000, runs=1)
    assert lowered > 0
    assert handwritten > 0
    assert difference < 1e-12


ARRAY = sp.IndexedBase("a")
NO_FORMULAS = [
    (sp.Limit(sp.sin(x) / x, x, 0), "Limit"),
    (1 + sp.Limit(x, x, y, "-"), "Limit"),
    (ARRAY + x, "IndexedBase"),
    (sp.Sum(ARRAY + k, (k, 1, 3)), "IndexedBase"),
    (sp.Lambda(x, x**2), "Lambda"),
    (1 + sp.Subs(sp.Derivative(sp.Function("f")(x), x), x, 2), "Subs"),
    (sp.O(x), "Order"),
    (x * sp.AccumBounds(0, 1), "AccumulationBounds"),
    (sp.Matrix([[1, ARRAY]]), "IndexedBase"),
]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("expr", "kind"), NO_FORMULAS, ids=lambda each: str(each)[:30])
def test_what_is_no_formula_is_refused_by_name(expr: sp.Basic, kind: str, backend: str) -> None:
    with pytest.raises(LoweringError, match=f"{backend} backend: cannot lower {kind} .*: it is no formula"):
        lower(expr, backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_substitution_is_lowered(backend: str) -> None:
    assert float(lower(sp.Subs(sp.sin(x) * y, x, 2), backend)(y=3)) == pytest.approx(3 * math.sin(2), rel=1e-15)


def test_numbers_alone_are_computed_in_double_precision() -> None:
    found = lower(sp.binomial(n, k), "torch")(n=10, k=3)
    assert found.dtype == torch.float64
    assert float(found) == pytest.approx(120, rel=1e-14)


def test_a_long_node_is_shown_up_to_eighty_characters() -> None:
    long = sum(sp.symbols("a0:40"))
    assert (len(shortened(long)), shortened(long)[-3:]) == (80, "...")
    assert shortened(long)[:77] == str(long)[:77]
    assert shortened(x) == "x"


@pytest.mark.parametrize("backend", FLOATING)
@pytest.mark.parametrize("power", [-3, -2, -1, 0, 1, 2, 3])
def test_powers_of_a_matrix_are_those_of_numpy(backend: str, power: int) -> None:
    given = np.array([[2.0, 1.0], [0.5, 3.0]])
    found = lower(sp.MatPow(A, power), backend)(given if backend == "numpy" else torch.tensor(given))
    np.testing.assert_allclose(np.asarray(found), np.linalg.matrix_power(given, power), rtol=1e-13)


@pytest.mark.parametrize("backend", BACKENDS)
def test_matrices_of_another_shape_are_refused(backend: str) -> None:
    given = {"mpmath": mp.ones(3, 2), "arb": arb_mat(3, 2), "numpy": np.ones((3, 2))}
    with pytest.raises(ValueError, match="A: shape"):
        lower(A.T, backend)(given.get(backend, torch.ones(3, 2, dtype=torch.float64)))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("left", "right"), [(2, 2), (2, 3), (0, 0), (-1, 1)])
def test_kroneckers_delta_is_1_where_both_are_equal(backend: str, left: int, right: int) -> None:
    assert float(lower(sp.KroneckerDelta(n, k), backend)(n=left, k=right)) == (left == right)


@pytest.mark.parametrize("backend", ["numpy", "torch", "mpmath"])
def test_entries_may_be_counted(backend: str) -> None:
    given = [[2.0, 1.0], [0.5, 3.0]]
    made = {"numpy": np.array(given), "torch": torch.tensor(given, dtype=torch.float64), "mpmath": mp.matrix(given)}
    assert float(lower(sp.Sum(A[k, 1] * (k + 1), (k, 0, 1)), backend)(made[backend])) == 7.0


@pytest.mark.parametrize("limits", [(1000, 5), (5, 1000)])
def test_the_tightest_of_several_budgets_ends_a_loop(limits: tuple[int, int]) -> None:
    outer, inner = (loops.Terms(limit, f"more than {limit} terms") for limit in limits)
    counted = lower(sp.Sum(sp.sin(x * k), (k, 1, n)), "numpy")
    with loops.at_most_terms(outer), loops.at_most_terms(inner):
        with pytest.raises(loops.TooManyTermsError, match="more than 5 terms"):
            counted(n=40, x=1.0)
        assert (outer.spent, inner.spent) == (0, 0)
        counted(n=5, x=1.0)
        assert (outer.spent, inner.spent) == (5, 5)


def test_a_text_is_no_number_of_mpmath() -> None:
    with pytest.raises(TypeError, match="x: expected a real number, got str"):
        lower(x, "mpmath")("0.5")
