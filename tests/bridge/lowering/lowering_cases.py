"""One table of expressions for all backends and all tests, and one of expressions that must be refused.

A reference is a formula in mpmath, written by hand and evaluated at 1000 digits where exponentials of +-1000 meet 1.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import mpmath as mp
import numpy as np
import sympy as sp

x, y, z = sp.symbols("x y z", real=True)
a, b = sp.symbols("a b", positive=True)
n, k, j = sp.symbols("n k j", integer=True)
m = sp.Symbol("m", integer=True, nonnegative=True)
A = sp.MatrixSymbol("A", 2, 2)
B = sp.MatrixSymbol("B", 2, 3)
v = sp.MatrixSymbol("v", 3, 1)

Interval = tuple[float, float]


@dataclass(frozen=True)
class Case:
    """`domain`: interval of each scalar argument; `whole`: ranges of integer arguments; `special`: points to visit.

    `kinks`: where the gradient is not compared, as a predicate on the point.
    """

    name: str
    expr: Any
    reference: Callable[..., Any]
    domain: dict[str, Interval] = field(default_factory=dict)
    whole: dict[str, tuple[int, int]] = field(default_factory=dict)
    special: tuple[dict[str, float], ...] = ()
    matrices: dict[str, tuple[int, int]] = field(default_factory=dict)
    digits: int = 100
    at_kink: Callable[..., bool] = lambda **point: False

    def __str__(self) -> str:
        return self.name

    @property
    def variables(self) -> list[str]:
        """The scalar arguments that can be differentiated."""
        return sorted(self.domain)

    def random_points(self, count: int, seed: int) -> list[dict[str, Any]]:
        """Points as plain numbers and nested lists, the special ones first."""
        rng = np.random.default_rng(seed)
        points: list[dict[str, Any]] = list(self.special)
        while len(points) < count:
            point: dict[str, Any] = {name: float(rng.uniform(*ends)) for name, ends in self.domain.items()}
            point |= {name: int(rng.integers(low, high + 1)) for name, (low, high) in self.whole.items()}
            point |= {name: rng.uniform(-2, 2, shape).tolist() for name, shape in self.matrices.items()}
            points.append(point)
        return points

    def exact_value(self, point: dict[str, Any]) -> Any:
        with mp.workdps(self.digits):
            return self.reference(**{name: _exact(value) for name, value in point.items()})

    def condition(self, point: dict[str, Any]) -> Any:
        """sum |x_i df/dx_i| / |f|, for scalar functions."""
        return condition(self.reference, self.domain, point, self.digits)

    def gradient(self, name: str) -> Callable[..., Any]:
        """The partial derivative of the reference by central differences, good to a third of the digits or more."""
        return lambda **point: partial(self.reference, name, point, self.digits // 4)


def _exact(value: Any) -> Any:
    return mp.matrix(value) if isinstance(value, list) else mp.mpf(value)


def partial(function: Callable[..., Any], name: str, point: dict[str, Any], digits: int) -> Any:
    step = mp.mpf(10) ** -digits
    above, below = (function(**{**point, name: point[name] + sign * step}) for sign in (1, -1))
    return (above - below) / (2 * step)


def condition(function: Callable[..., Any], names: Iterable[str], point: dict[str, Any], digits: int) -> Any:
    with mp.workdps(digits):
        exactly = {name: _exact(value) for name, value in point.items()}
        total = sum(abs(exactly[name] * partial(function, name, exactly, digits // 8)) for name in names)
        size = abs(function(**exactly))
        return total / size if size else mp.mpf(0)


def unrolled(x: Any, y: Any, n: Any) -> Any:
    """e_{k+1} = (1 + y / (k + 1)) e_k + x + k from e_0 = 0, term by term."""
    later = (mp.fprod(1 + y / (m + 1) for m in range(k + 1, int(n) + 1)) for k in range(int(n) + 1))
    return mp.fsum((x + k) * product for k, product in enumerate(later))


def unrolled_from_5(x: Any, y: Any, n: Any) -> Any:
    """From 5 on, term by term; backwards what lies strictly between the limits, negatively (Karr)."""
    n = int(n)
    if n >= 4:
        return mp.fsum((x + k) * mp.fprod(1 + y / (m + 9) for m in range(k + 1, n + 1)) for k in range(5, n + 1))
    return -mp.fsum((x + k) / mp.fprod(1 + y / (m + 9) for m in range(n + 1, k + 1)) for k in range(n + 1, 5))


def closed_sum(x: Any, n: Any) -> Any:
    return mp.fsum(x**i for i in range(int(n) + 1))


def nested(x: Any, y: Any) -> Any:
    if x > 0 and y > 0:
        return mp.log(x) * mp.sqrt(y) if x < 1 else 1 / x
    return x**2 if x < -1 or y < -1 else mp.mpf(0)


BIG = ({"x": 1000.0}, {"x": -1000.0}, {"x": 0.0})
BIG_PAIRS = tuple({"x": a, "y": b} for a in (-1000.0, 0.0, 1000.0) for b in (-1000.0, 999.5))
NEAR_ONE = tuple({"x": ratio, "n": 40} for ratio in (1.0, 1 + 1e-12, 1 - 1e-12, 1 + 1e-5, 1 - 1e-3))
LINE, POSITIVE, UNIT = (-5.0, 5.0), (0.01, 20.0), (-0.99, 0.99)

CASES = [
    Case("sqrt2_times", sp.sqrt(2) * x, lambda x: mp.sqrt(2) * x, {"x": LINE}),
    Case("log2_times", sp.log(2) * x, lambda x: mp.log(2) * x, {"x": LINE}),
    Case("e_squared_times", sp.E**2 * x, lambda x: mp.e**2 * x, {"x": LINE}),
    Case("cube_root_of_2_times", 2 ** sp.Rational(1, 3) * x, lambda x: mp.cbrt(2) * x, {"x": LINE}),
    Case("pi_times", sp.pi * x, lambda x: mp.pi * x, {"x": LINE}),
    Case("third", x / 3, lambda x: x / 3, {"x": LINE}),
    Case("float_zero", sp.Max(x, sp.Float(0.0)), lambda x: max(x, mp.mpf(0)), {"x": LINE}),
    Case("float_constant", x + sp.Float(0.1), lambda x: x + mp.mpf(0.1), {"x": LINE}),
    Case("huge_constants_cancel", sp.Integer(10) ** 400 * x * sp.exp(-921) + y,
         lambda x, y: mp.mpf(10) ** 400 * x * mp.exp(-921) + y, {"x": LINE, "y": LINE}),
    Case("huge_base", sp.Integer(10) ** (x * 400) + y,
         lambda x, y: mp.mpf(10) ** (400 * x) + y, {"x": (-0.5, 0.05), "y": LINE}),
    Case("many_constants", (x + sp.EulerGamma) * sp.GoldenRatio - sp.Catalan * sp.sin(1) / sp.gamma(sp.Rational(1, 3)),
         lambda x: (x + mp.euler) * mp.phi - mp.catalan * mp.sin(1) / mp.gamma(mp.mpf(1) / 3), {"x": LINE}),
    Case("polynomial", 3 * x**7 - x**4 / 7 + x**2 - x**-3,
         lambda x: 3 * x**7 - x**4 / 7 + x**2 - x**-3, {"x": (0.5, 2.0)}),
    Case("quotient", (x + y) / (3 * (x - 7) * sp.sqrt(y)), lambda x, y: (x + y) / (3 * (x - 7) * mp.sqrt(y)),
         {"x": LINE, "y": POSITIVE}),
    Case("powers", x**y + x ** sp.Rational(2, 3) + x ** sp.Rational(-3, 2) + 2**y,
         lambda x, y: x**y + mp.cbrt(x) ** 2 + 1 / mp.sqrt(x) ** 3 + mp.mpf(2) ** y, {"x": (0.1, 5.0), "y": (-3.0,
         3.0)}),
    Case("relu", sp.Max(x, 0), lambda x: max(x, mp.mpf(0)), {"x": LINE}),
    Case("max_of_three", sp.Max(x, y, sp.Rational(1, 3)),
         lambda x, y: max(x, y, mp.mpf(1) / 3), {"x": LINE, "y": LINE}),
    Case("min_of_three", sp.Min(x * y, x, sp.sqrt(2)), lambda x, y: min(x * y, x, mp.sqrt(2)), {"x": LINE, "y": LINE}),
    Case("heaviside", sp.Heaviside(x), lambda x: mp.mpf(1) / 2 if x == 0 else mp.mpf(x > 0), {"x": LINE},
         special=({"x": 0.0},), at_kink=lambda x: x == 0),
    Case("heaviside_left", sp.Heaviside(x, 0) * (x + 2), lambda x: (x + 2) * (x > 0), {"x": LINE},
         special=({"x": 0.0},), at_kink=lambda x: x == 0),
    Case("abs", sp.Abs(x - y), lambda x, y: abs(x - y), {"x": LINE, "y": LINE}),
    Case("sign", sp.sign(x) * sp.exp(x), lambda x: mp.sign(x) * mp.exp(x), {"x": LINE}),
    Case("log_or_zero", sp.Piecewise((sp.log(x), x > 0), (0, True)), lambda x: mp.log(x) if x > 0 else mp.mpf(0),
         {"x": LINE}, special=({"x": 0.0}, {"x": -1.0}), at_kink=lambda x: x == 0),
    Case("nested_branches",
         sp.Piecewise((sp.Piecewise((sp.log(x) * sp.sqrt(y), x < 1), (1 / x, True)), sp.And(x > 0, y > 0)),
                      (x**2, sp.Or(x < -1, y < -1)), (0, True)),
         nested, {"x": (-3.0, 3.0), "y": (-3.0, 3.0)}, special=({"x": 0.0, "y": 0.0}, {"x": 0.0, "y": 2.0}),
         at_kink=lambda x, y: x == 0),
    Case("erf", sp.erf(x), lambda x: mp.erf(x), {"x": LINE}),
    Case("erfc", sp.erfc(x), lambda x: mp.erfc(x), {"x": (-5.0, 20.0)}),
    Case("gamma", sp.gamma(x), mp.gamma, {"x": (0.05, 30.0)}),
    Case("gamma_below_zero", sp.gamma(x), mp.gamma, {"x": (-3.9, -3.1)}),
    Case("loggamma", sp.loggamma(x), mp.loggamma, {"x": (0.05, 100.0)}),
    Case("digamma", sp.digamma(x), mp.digamma, {"x": (0.05, 50.0)}),
    Case("trigamma", sp.polygamma(1, x), lambda x: mp.polygamma(1, x), {"x": (0.1, 50.0)}, digits=60),
    Case("factorial", sp.factorial(x) / 7, lambda x: mp.factorial(x) / 7, {"x": (0.0, 20.0)}),
    Case("binomial", sp.binomial(x, y), lambda x, y: mp.binomial(x, y), {"x": (8.0, 40.0), "y": (0.5, 7.5)}),
    Case("elementary", sp.tanh(x) + sp.sinh(x) * sp.atan(y) - sp.cos(x * y) + sp.asinh(x),
         lambda x, y: mp.tanh(x) + mp.sinh(x) * mp.atan(y) - mp.cos(x * y) + mp.asinh(x), {"x": LINE, "y": LINE}),
    Case("inverse_functions", sp.asin(x) + sp.acos(x) * sp.atanh(x) + sp.acosh(2 + x) + sp.tan(x),
         lambda x: mp.asin(x) + mp.acos(x) * mp.atanh(x) + mp.acosh(2 + x) + mp.tan(x), {"x": UNIT}),
    Case("hyperbolic_reciprocals", sp.sech(x) + sp.cosh(x) ** -2, lambda x: mp.sech(x) + mp.sech(x) ** 2, {"x": LINE},
         special=BIG, digits=1000),
    Case("softplus", sp.log(1 + sp.exp(x)),
         lambda x: mp.log1p(mp.exp(x)), {"x": (-40.0, 40.0)}, special=BIG, digits=1000),
    Case("softplus_scaled", sp.log(1 + sp.exp(3 * x - y)) / 3, lambda x, y: mp.log1p(mp.exp(3 * x - y)) / 3,
         {"x": LINE, "y": LINE}, special=BIG_PAIRS, digits=1000),
    Case("log_sum_exp", sp.log(sp.exp(x) + sp.exp(y) + 2 * sp.exp(x - y) + 3),
         lambda x, y: mp.log(mp.exp(x) + mp.exp(y) + 2 * mp.exp(x - y) + 3), {"x": LINE, "y": LINE}, special=BIG_PAIRS,
         digits=1000),
    Case("log_of_sum_of_exponentials", sp.log(sp.Sum(sp.exp(k * x), (k, 0, 3))),
         lambda x: mp.log(mp.fsum(mp.exp(i * x) for i in range(4))), {"x": LINE}, special=BIG, digits=1600),
    Case("log_cosh", sp.log(sp.cosh(x)), lambda x: mp.log(mp.cosh(x)), {"x": LINE}, special=BIG, digits=1000),
    Case("sigmoid", 1 / (1 + sp.exp(-x)),
         lambda x: 1 / (1 + mp.exp(-x)), {"x": (-40.0, 40.0)}, special=BIG, digits=1000),
    Case("sigmoid_derivative", sp.exp(-x) / (1 + sp.exp(-x)) ** 2, lambda x: mp.exp(-x) / (1 + mp.exp(-x)) ** 2,
         {"x": (-40.0, 40.0)}, special=BIG, digits=1000),
    Case("softmax", sp.exp(x) / (sp.exp(x) + sp.exp(y) + 1), lambda x, y: mp.exp(x) / (mp.exp(x) + mp.exp(y) + 1),
         {"x": LINE, "y": LINE}, special=BIG_PAIRS, digits=1000),
    Case("log_softmax", sp.log(sp.exp(x) / (sp.exp(x) + sp.exp(y))), lambda x, y: x - mp.log(mp.exp(x) + mp.exp(y)),
         {"x": LINE, "y": LINE}, special=BIG_PAIRS, digits=1000),
    Case("tanh_by_exponentials", (sp.exp(x) - sp.exp(-x)) / (sp.exp(x) + sp.exp(-x)), mp.tanh, {"x": LINE}, special=BIG,
         digits=1000),
    Case("log_one_minus_exp", sp.log(1 - sp.exp(-x)) + sp.log(1 + x**2),
         lambda x: mp.log(-mp.expm1(-x)) + mp.log1p(x**2),
         {"x": (1e-9, 50.0)}, special=({"x": 1e-10},)),
    Case("sum_of_few", sp.Sum(x**k / k, (k, 1, 6)),
         lambda x: mp.fsum(x**i / i for i in range(1, 7)), {"x": (-2.0, 2.0)}),
    Case("sum_of_many", sp.Sum(x**k / sp.factorial(k), (k, 0, 60)),
         lambda x: mp.fsum(x**i / mp.factorial(i) for i in range(61)), {"x": (-2.0, 2.0)}),
    Case("sum_to_argument", sp.Sum(x**k, (k, 0, n)), closed_sum, {"x": (-1.5, 1.5)}, {"n": (0, 12)},
         special=(*NEAR_ONE, {"x": 2.0, "n": -1}, {"x": 0.0, "n": 3})),
    Case("sum_reversed", sp.Sum(k * x, (k, 5, n)),
         lambda x, n: x * (n * (n + 1) / 2 - 10), {"x": LINE}, {"n": (-4, 9)}),
    Case("double_sum", sp.Sum(x**j * k, (j, 0, k), (k, 1, n)),
         lambda x, n: mp.fsum(i * x**m for i in range(1, int(n) + 1) for m in range(i + 1)), {"x": (-1.5, 1.5)},
         {"n": (0, 4)}),
    Case("product_to_argument", sp.Product(1 + x / k, (k, 1, n)),
         lambda x, n: mp.fprod(1 + x / i for i in range(1, int(n) + 1)), {"x": (0.0, 3.0)}, {"n": (0, 12)}),
    Case("recursion", sp.Sum((x + k) * sp.Product(1 + y / (j + 1), (j, k + 1, n)), (k, 0, n)), unrolled,
         {"x": (-2.0, 2.0), "y": (0.0, 3.0)}, {"n": (0, 12)}, special=({"x": 1.0, "y": 0.5, "n": -1},)),
    Case("recursion_reversed", sp.Sum((x + k) * sp.Product(1 + y / (j + 9), (j, k + 1, n)), (k, 5, n)), unrolled_from_5,
         {"x": (-2.0, 2.0), "y": (0.0, 3.0)}, {"n": (-4, 9)}),
    Case("geometric", sp.Sum(x**k, (k, 0, n)).doit(), closed_sum, {"x": (-1.5, 2.5)}, {"n": (0, 30)},
         special=(*NEAR_ONE, {"x": 0.0, "n": 3}, {"x": -1.0, "n": 3})),
    Case("geometric_from_one", sp.Sum(x**k, (k, 1, n)).doit(), lambda x, n: closed_sum(x, n) - 1, {"x": (-1.5, 2.5)},
         {"n": (1, 30)}, special=(*NEAR_ONE, {"x": 0.0, "n": 3})),
    Case("geometric_of_rate", (1 - (1 - x) ** n) / x, lambda x, n: closed_sum(1 - x, n - 1), {"x": (1e-9, 1.9)},
         {"n": (1, 30)}, special=({"x": 1e-13, "n": 25},)),
    Case("equal_ratios", (x**n - y**n) / (x - y),
         lambda x, y, n: mp.fsum(x**i * y ** (n - 1 - i) for i in range(int(n))),
         {"x": (0.2, 2.0), "y": (0.2, 2.0)}, {"n": (1, 20)},
         special=({"x": 0.7, "y": 0.7, "n": 9}, {"x": 0.7 + 1e-13, "y": 0.7, "n": 9}, {"x": 0.7, "y": 0.0, "n": 9})),
    Case("inverse_reciprocals", sp.asec(x) + sp.acsc(x) * sp.acot(x) + sp.acsch(x) - sp.acoth(x) + sp.asech(1 / x),
         lambda x: mp.asec(x) + mp.acsc(x) * mp.acot(x) + mp.acsch(x) - mp.acoth(x) + mp.asech(1 / x),
         {"x": (1.5, 20.0)}),
    Case("sinc", sp.sinc(x), lambda x: mp.sin(x) / x if x else mp.mpf(1), {"x": LINE}, special=({"x": 0.0},),
         at_kink=lambda x: x == 0),
    Case("beta", sp.beta(a, b),
         lambda a, b: mp.gamma(a) * mp.gamma(b) / mp.gamma(a + b), {"a": (0.1, 9.0), "b": (0.1, 9.0)}),
    Case("rising", sp.rf(m + 1, k), lambda m, k: mp.rf(m + 1, k), whole={"m": (0, 6), "k": (0, 6)}),
    Case("falling", sp.ff(n, m), lambda n, m: mp.ff(n, m), whole={"n": (0, 9), "m": (0, 6)}),
    Case("catalan_number", sp.catalan(b), lambda b: mp.binomial(2 * b, b) / (b + 1), {"b": (0.5, 9.0)}),
    Case("between_errors", sp.erf2(x, y), lambda x, y: mp.erf(y) - mp.erf(x), {"x": (-1.0, 0.0), "y": (0.5, 2.0)}),
    Case("harmonic", sp.harmonic(x) + sp.harmonic(x, 2) + 3 * sp.harmonic(x, 3),
         lambda x: mp.harmonic(x) + mp.zeta(2) - mp.zeta(2, x + 1) + 3 * (mp.zeta(3) - mp.zeta(3, x + 1)),
         {"x": (0.5, 20.0)}, digits=60),
    Case("connectives", sp.Piecewise((x, sp.Xor(x > 0, y > 0)), (y, sp.Implies(x > 1, y > 1)), (3, True)),
         lambda x, y: x if (x > 0) != (y > 0) else y if x <= 1 or y > 1 else mp.mpf(3), {"x": LINE, "y": LINE}),
    Case("exponents_cancel", sp.exp(sp.exp(x)) * sp.exp(-sp.exp(x) - x) * (1 + x**2),
         lambda x: (1 + x**2) * mp.exp(-x), {"x": (-2.0, 30.0)}),
    Case("lambertw", sp.LambertW(x), lambda x: mp.lambertw(x), {"x": (-0.36, 50.0)}, special=({"x": 1e10}, {"x": 0.0})),
    Case("lambertw_below", sp.LambertW(x, -1),
         lambda x: mp.lambertw(x, -1), {"x": (-0.36, -0.001)}, special=({"x": -1e-9},)),
]  # fmt: skip


def kronecker(A: Any, B: Any) -> Any:
    return mp.matrix([[p * q for p in row for q in other] for row in A.tolist() for other in B.tolist()])


MATRIX_CASES = [
    Case("explicit_matrix", sp.Matrix([[1, x, x * y], [sp.sqrt(2), sp.Max(x, 0), sp.exp(y)]]),
         lambda x, y: mp.matrix([[1, x, x * y], [mp.sqrt(2), max(x, 0), mp.exp(y)]]), {"x": LINE, "y": LINE}),
    Case("explicit_product", sp.Matrix([[1, x], [y, 2]]) * sp.Matrix([[x, 0], [1, y]]),
         lambda x, y: mp.matrix([[1, x], [y, 2]]) * mp.matrix([[x, 0], [1, y]]), {"x": LINE, "y": LINE}),
    Case("explicit_times_symbol", sp.ImmutableMatrix([[1, x], [2, 3]]) * A,
         lambda x, A: mp.matrix([[1, x], [2, 3]]) * A, {"x": LINE}, matrices={"A": (2, 2)}),
    Case("product", A * B, lambda A, B: A * B, matrices={"A": (2, 2), "B": (2, 3)}),
    Case("square_transpose", A.T, lambda A: A.T, matrices={"A": (2, 2)}),
    Case("gram", B.T * A * B + sp.Identity(3),
         lambda A, B: B.T * A * B + mp.eye(3), matrices={"A": (2, 2), "B": (2, 3)}),
    Case("inverse", (A * A.T + sp.Identity(2)).I, lambda A: mp.inverse(A * A.T + mp.eye(2)), matrices={"A": (2, 2)}),
    Case("power", A**3, lambda A: A * A * A, matrices={"A": (2, 2)}),
    Case("trace", sp.Trace(A * A.T) * x + sp.Determinant(A),
         lambda x, A: x * sum(t**2 for t in A) + A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0], {"x": LINE},
         matrices={"A": (2, 2)}),
    Case("kronecker", sp.KroneckerProduct(A, B), kronecker, matrices={"A": (2, 2), "B": (2, 3)}),
    Case("hadamard", sp.HadamardProduct(A, A.T) + sp.ZeroMatrix(2, 2),
         lambda A: mp.matrix([[A[0, 0] ** 2, A[0, 1] * A[1, 0]], [A[0, 1] * A[1, 0], A[1, 1] ** 2]]),
         matrices={"A": (2, 2)}),
    Case("scaled_sum", 2 * x * A - A.T / 3, lambda x, A: 2 * x * A - A.T / 3, {"x": LINE}, matrices={"A": (2, 2)}),
    Case("elements", sp.exp(A[0, 1]) * v[2, 0] + sp.Sum(B[1, j] * v[j, 0], (j, 0, 2)),
         lambda A, B, v: mp.exp(A[0, 1]) * v[2, 0] + sum(B[1, i] * v[i, 0] for i in range(3)),
         matrices={"A": (2, 2), "B": (2, 3), "v": (3, 1)}),
    Case("elements_to_argument", sp.Sum(v[j, 0] ** 2, (j, 0, n)),
         lambda v, n: sum(v[i, 0] ** 2 for i in range(int(n) + 1)),
         whole={"n": (0, 2)}, matrices={"v": (3, 1)}),
]  # fmt: skip

F = sp.Function("F")
NONE = "this backend has no such function; rewrite it with those it has, or take another backend"

# (expression, what the message says after "<backend> backend: cannot lower ")
REFUSED = [
    (F(x), f"F `F(x)`: {NONE}"),
    (sp.polylog(2, x) + 1, f"polylog `polylog(2, x)`: {NONE}"),
    (sp.besselj(0, x), f"besselj `besselj(0, x)`: {NONE}"),
    (sp.Derivative(F(x), x), "Derivative `Derivative(F(x), x)`: call .doit() first"),
    (sp.Integral(F(x), (x, 0, y)),
     "Integral `Integral(F(x), (x, 0, y))`: call .doit() first, or integrate numerically"),
    (sp.Sum(x**k, (k, 0, sp.oo)),
     "Sum `Sum(x**k, (k, 0, oo))`: it is infinite; call .doit(), or truncate it and bound the tail"),
    (sp.Sum(x**k, (k, 0, sp.Rational(5, 2))), "Sum `Sum(x**k, (k, 0, 5/2))`: its limits must be integers"),
    (sp.polygamma(y, x), "polygamma `polygamma(y, x)`: its order must be a non-negative integer, not an argument"),
    (sp.LambertW(x, 2), "LambertW `LambertW(x, 2)`: only the branches 0 and -1 are real"),
    (sp.harmonic(x, y), f"harmonic `harmonic(x, y)`: {NONE}"),
    (sp.beta(x, y), f"beta `beta(x, y)`: {NONE}"),
    (sp.catalan(x), f"catalan `catalan(x)`: {NONE}"),
    (sp.rf(x, y), f"RisingFactorial `RisingFactorial(x, y)`: {NONE}"),
    (sp.ff(x, y), f"FallingFactorial `FallingFactorial(x, y)`: {NONE}"),
    (sp.exp(A) + 1, "exp `exp(A)`: it takes a matrix where a number belongs; write it entry by entry"),
    (sp.atan2(A, x), "atan2 `atan2(A, x)`: it takes a matrix where a number belongs; write it entry by entry"),
    (sp.BlockMatrix([[A, B]]), "BlockMatrix `Matrix([[A, B]])`: call .as_explicit() first"),
    (A ** sp.Rational(1, 2), "MatPow `A**(1/2)`: only integer powers of matrices are known"),
    (sp.Symbol("w", imaginary=True) + 1, "Symbol `w`: it is declared not real; arguments are real numbers"),
]  # fmt: skip
