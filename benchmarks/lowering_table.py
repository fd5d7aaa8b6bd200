"""The table of `benchmarks.lowering_values`: what theory writes down, at points where float64 has to be careful."""

from collections.abc import Sequence

import sympy as sp

x, y = sp.symbols("x y", real=True)
p, q = sp.symbols("p q", positive=True)
k, m = sp.symbols("k m", integer=True, nonnegative=True)
i, j = sp.symbols("i j", integer=True)
A = sp.MatrixSymbol("A", 2, 2)
B = sp.MatrixSymbol("B", 2, 3)
C = sp.MatrixSymbol("C", 3, 3)
N, D = sp.symbols("N D", integer=True, positive=True)
u, X = sp.MatrixSymbol("u", D, 1), sp.MatrixSymbol("X", N, D)
a, w = sp.IndexedBase("a", shape=(N,)), sp.IndexedBase("w", shape=(N, D))
v = sp.MatrixSymbol("v", 3, 1)

LINE = (-800.0, -30.0, -2.5, -1.0, -0.3, -1e-5, -1e-12, 0.0, 1e-12, 1e-5, 0.3, 0.9, 1.0, 2.5, 30.0, 200.0, 800.0)
POSITIVE = (1e-12, 1e-5, 0.3, 1.0, 2.5, 8.0, 30.0, 171.5, 200.0, 800.0, 1e5)
WHOLE = (0, 1, 2, 3, 7, 8, 27, 40)
SIZES = {N: 40, D: 3}
POINTS: dict[sp.Basic, Sequence[float]] = {x: LINE, y: LINE, p: POSITIVE, q: POSITIVE, k: WHOLE, m: WHOLE}

E, S, L = sp.exp, sp.sin, sp.log
HALF, THIRD = sp.S.Half, sp.Rational(1, 3)

ELEMENTARY = [
    x + y, x - y, x * y, x / y, x**2 + y**2, x**3 - x, 1 / x, 1 / (1 + x**2), x**7 / 3 - x**4 + sp.sqrt(2), p**HALF,
    p**THIRD, p ** sp.Rational(-5, 3), p**q, 2**x, sp.Rational(1, 10) ** x, p**sp.pi, sp.Abs(x) ** HALF, E(x),
    E(-x**2),
    L(p), L(p, 2), L(p, 10), L(1 + p), S(x), sp.cos(x), sp.tan(x), sp.cot(x), sp.sec(x), sp.csc(x), sp.sinh(x),
    sp.cosh(x), sp.tanh(x), sp.coth(x), sp.sech(x), sp.csch(x), sp.asin(x), sp.acos(x), sp.atan(x), sp.acot(p),
    sp.asec(p), sp.acsc(p), sp.asinh(x), sp.acosh(x), sp.atanh(x), sp.acoth(x), sp.asech(p), sp.acsch(x),
    sp.atan2(y, x), sp.sinc(x), sp.cbrt(p), sp.sqrt(x**2 + y**2), E(x + y) * E(-y), L(p * q), L(p**q), S(x) ** 2,
    sp.sqrt(2) * x + sp.pi - sp.E, sp.GoldenRatio * x + sp.Catalan, sp.EulerGamma - p,
]  # fmt: skip

CANCELLING = [
    E(x) - 1, E(x) - 1 - x, E(x) - 1 - x - x**2 / 2, (E(x) - 1) / x, sp.cos(x) - 1, (1 - sp.cos(x)) / x**2, S(x) - x,
    S(x) - x + x**3 / 6, (S(x) - x) / x**3, sp.tan(x) - x, sp.tanh(x) - x, sp.sinh(x) - x, sp.cosh(x) - 1,
    sp.cosh(x) - 1 - x**2 / 2, sp.atan(x) - x, sp.asinh(x) - x, sp.erf(x) - 2 * x / sp.sqrt(sp.pi),
    sp.sqrt(1 + p) - 1,
    sp.sqrt(1 + p) - sp.sqrt(p), 1 - sp.sqrt(1 - x**2), L(1 + p) - p, L(1 + p) - L(p), L(p) - L(q), E(x) - E(y),
    E(x) - E(-x), (E(x) - E(-x)) / (E(x) + E(-x)), (E(2 * x) - 1) / (E(2 * x) + 1), 1 - sp.tanh(x), 1 - sp.erf(x),
    sp.coth(p) - 1 / p, 1 / S(p) - 1 / p, 1 / p - 1 / (p + 1), 1 / (E(p) - 1) - 1 / p, x**2 - y**2, (x - y) ** 2,
    x**2 - 2 * x * y + y**2, (1 + x) ** 5 - 1, (1 + p) ** q - 1, ((1 + p) ** 10 - 1) / p, p**q - 1, p**q - q**p,
    (1 - (1 - p) ** k) / p, (x**k - y**k) / (x - y), x**4 - 4 * x**2 + 2, 16 * x**5 - 20 * x**3 + 5 * x,
    L(sp.cosh(x)),
    L(S(p) / p), L(sp.cos(x)), sp.acos(1 - p), sp.acosh(1 + p), sp.asin(x) - sp.atan(x),
    S(x) ** 2 + sp.cos(x) ** 2 - 1,
    S(x + y) - S(x), S(1000 * sp.pi * x), sp.cos(sp.pi * (x + HALF)), E(x) * sp.cosh(x) - E(x) * sp.sinh(x),
    sp.sqrt(x**2 + 1) - sp.Abs(x), sp.digamma(p + 1) - sp.digamma(p), sp.digamma(p) - L(p), (E(x) - 1 - x) / x**2,
    sp.tanh(x + y) - sp.tanh(x), p - sp.sqrt(p**2 - 1), (x + 1) ** 3 - x**3 - 1,
]  # fmt: skip

OVERFLOWING = [
    E(x) / (1 + E(x)), E(p) / p**200, p**200 * E(-p), E(p**2) * E(-(p**2)) * p, E(x) / E(x + 1), L(1 + E(x)),
    L(E(x) + E(y)), L(E(x) + E(y) + E(x - y)), L(E(p) - 1), L(E(x) + E(-x)), L(p**500), L(sp.cosh(x)) - sp.Abs(x),
    1 / (1 + E(-x)), E(x) / (1 + E(x)) ** 2, E(x) / (E(x) + E(y) + 1), sp.sqrt(x**2 + y**2) * 1e200,
    sp.sqrt((1e200 * x) ** 2 + 1), x**200 / (1 + x**200), sp.sinh(x) / sp.cosh(x), sp.sinh(x) * E(-sp.Abs(x)),
    sp.gamma(p + HALF) / sp.gamma(p), sp.gamma(p + 1) / sp.gamma(p), L(sp.gamma(p)), E(p) * sp.erfc(sp.sqrt(p)),
    E(x**2) * sp.erfc(x), (1 + 1 / p) ** p, (1 + 1 / p) ** (p * 600), (1 - 1 / (p + 1)) ** p,
    p**p * E(-p) / sp.gamma(p),
    sp.factorial(k) / k**k, sp.factorial(p) * E(-p) * p ** (-p), sp.binomial(2 * k, k) / 4**k, L(sp.erfc(p)),
    L(2**p + 1),
    L(sp.gamma(p + q) / sp.gamma(p)), E(E(x)) / E(E(x) + x), 1e300 * p * 1e300 / (1e305 * q), p**q / sp.gamma(q + 1),
]  # fmt: skip

JUMPING = [
    sp.floor(x), sp.ceiling(x), sp.frac(x), sp.Mod(x, 3), sp.sign(x), sp.Abs(x), sp.Max(x, 0), sp.Max(x, y),
    sp.Min(x, y, 1),
    sp.Heaviside(x), sp.Heaviside(x, 1), sp.floor(L(p, 2)), sp.ceiling(L(p, 2)), sp.floor(p**THIRD),
    sp.floor(L(p, 5)),
    sp.floor(sp.sqrt(p)), sp.ceiling(p**THIRD), sp.floor(1 / p), sp.floor(x / 3 + THIRD), sp.floor(10 * p),
    sp.ceiling(L(2**k + 1, 2)), sp.floor(L(k + 1, 2)) + 1, sp.floor(sp.sqrt(p) ** 2), sp.Mod(k, 2), sp.Mod(k, 7) * x,
    (-1) ** k * x, sp.sign(S(x)), sp.sign(x**2 - 2 * x * y + y**2), sp.sign(E(x) - 1), sp.Max(E(x) - 1, x),
    sp.Max(S(x), sp.cos(x)), sp.Abs(S(x) - x), sp.Piecewise((1, L(p, 2) >= 3), (0, True)),
    sp.Piecewise((x, x > 0), (E(x) - 1, True)), sp.Piecewise((S(x) / x, sp.Ne(x, 0)), (1, True)),
    sp.Piecewise((L(x), x > 0), (0, True)),
    sp.Piecewise((1, sp.And(x > 0, y > 0)), (2, sp.Or(x > 1, y > 1)), (3, True)),
    sp.Piecewise((1, sp.Eq(sp.sqrt(p) ** 2, p)), (0, True)), sp.Piecewise((1, sp.Eq(x, y)), (0, True)),
    sp.KroneckerDelta(k, m), sp.Piecewise((1, sp.Xor(x > 0, y > 0)), (0, True)),
    sp.Piecewise((1, sp.Implies(x > 0, y > 0)), (0, True)), sp.Piecewise((1, sp.Not(x > y)), (0, True)),
    sp.Heaviside(L(p, 2) - 3), sp.sqrt(sp.Max(x, 0)), sp.Max(0, 1 - sp.Abs(x)), sp.floor(sp.gamma(p)), sp.re(x),
    sp.im(x),
    sp.conjugate(x) * 2, sp.arg(p) + x, sp.Min(sp.Max(x, -1), 1), sp.floor(E(p)), sp.ceiling(-L(p)),
]  # fmt: skip

SPECIAL = [
    sp.gamma(x), sp.loggamma(p), sp.digamma(p), sp.polygamma(1, p), sp.polygamma(3, p), sp.factorial(p),
    sp.factorial(k),
    sp.binomial(k, m), sp.binomial(p, q), sp.binomial(p, 3), sp.beta(p, q), sp.rf(p, 3), sp.rf(p, q), sp.ff(p, 3),
    sp.ff(p, q), sp.factorial2(k), sp.subfactorial(k), sp.harmonic(k), sp.harmonic(p), sp.harmonic(k, 2),
    sp.catalan(k), sp.fibonacci(k), sp.lucas(k), sp.bernoulli(k), sp.erf(x), sp.erfc(x), sp.erfi(x), sp.erf2(x, y),
    sp.erfinv(x), sp.erfcinv(p), sp.LambertW(p), sp.LambertW(-p), sp.LambertW(-p, -1), sp.Ei(x), sp.expint(1, p),
    sp.expint(2, p), sp.li(p), sp.Si(x), sp.Ci(p), sp.Shi(x), sp.Chi(p), sp.fresnels(x), sp.fresnelc(x), sp.zeta(p),
    sp.zeta(2, p), sp.dirichlet_eta(p), sp.polylog(2, x), sp.lowergamma(p, q), sp.uppergamma(p, q), sp.besselj(0, x),
    sp.bessely(0, p), sp.besseli(1, x), sp.besselk(q, p), sp.airyai(x), sp.elliptic_k(x), sp.elliptic_e(x),
    sp.legendre(4, x), sp.legendre(k, x), sp.chebyshevt(5, x), sp.chebyshevt(k, x), sp.hermite(3, x),
    sp.hermite(k, x),
    sp.laguerre(3, x), sp.assoc_legendre(2, 1, x), sp.hyper([1, HALF], [2], x), sp.meijerg([[1], []], [[1], [0]], p),
    sp.DiracDelta(x), sp.Function("f")(x), sp.bell(k), sp.euler(k), sp.primepi(p), sp.totient(k + 1),
]  # fmt: skip

FOLDED = [
    sp.Sum(x**i, (i, 0, 5)), sp.Sum(x**i, (i, 0, k)), sp.Sum(x**i / sp.factorial(i), (i, 0, k)),
    sp.Sum(1 / i**2, (i, 1, k)),
    sp.Sum((-1) ** i * sp.binomial(k, i), (i, 0, k)), sp.Sum(E(-i * p), (i, 0, k)), sp.Sum(i * x, (i, 5, k)),
    sp.Sum(sp.Sum(x * i + j, (j, 0, i)), (i, 0, k)), sp.Sum(x**i, (i, 0, k)).doit(), sp.Product(1 + x / i, (i, 1, k)),
    sp.Product(1 - p / i, (i, 1, k)), sp.Sum(sp.Product(1 + p / j, (j, i + 1, k)), (i, 1, k)),
    sp.Sum(1 / i, (i, 1, 200)),
    sp.Sum((-x) ** i / sp.factorial(i), (i, 0, 60)), sp.Sum(1 / i**2, (i, 1, sp.oo)),
    sp.Integral(E(-(i**2)), (i, 0, x)),
    sp.Integral(sp.Function("f")(i), (i, 0, x)), sp.Derivative(sp.Function("f")(x), x), sp.Subs(S(y), y, x + 1),
    sp.Limit(S(x) / x, x, 0) * x, sp.Derivative(x**3, x),
    sp.Derivative(sp.re(x), x),
    sp.Sum(sp.log(i + p), (i, 0, k)), sp.Product(p, (i, 1, k)), x * sp.Sum(E(i * x) / E(9 * x), (i, 0, 9)),
]  # fmt: skip

NARROW = sp.diag(1, sp.Rational(1, 10**9))
MATRICES = [
    sp.Matrix([[1, x], [y, 2]]), sp.Matrix([[E(x) - 1, S(x)], [x * y, L(1 + p)]]), sp.Matrix([[1, x], [y, 2]]) * A,
    A + A.T, A * B, B.T * A * B, (A * A.T + sp.Identity(2)).I, A**3, A**0, A.I, A.I * B, A.T * A - sp.Identity(2),
    sp.Trace(A), sp.Trace(A * A.T) * x, sp.Determinant(A), sp.Determinant(C), sp.Determinant(A * A.T), C.I, C.I * v,
    C * v,
    v.T * C * v, v.T * C.I * v, sp.KroneckerProduct(A, B), sp.HadamardProduct(A, A.T), 2 * x * A - A.T / 3,
    A * x + A * y,
    E(A[0, 1]) * v[2, 0], sp.Sum(B[1, i] * v[i, 0], (i, 0, 2)), sp.Sum(v[i, 0] ** 2, (i, 0, 2)), A - 2 * A + A,
    (A - A.T) * (A + A.T), A * NARROW, (A * NARROW).I, C - C.T, (C + C.T) / 2, sp.sqrt(sp.Trace(C.T * C)),
    sp.Matrix([[1, 1], [1, 1 + p]]).inv(), sp.Matrix([[x, y], [y, x]]).det(),
    sp.Matrix([[E(x), 1], [1, E(-x)]]).det(),
    A ** -2, sp.BlockMatrix([[A, B]]), A**HALF, sp.Inverse(C * C.T),
    sp.ZeroMatrix(2, 3) + B,
    sp.HadamardPower(A, 2), sp.Matrix([x, y]).norm(), sp.det(sp.Matrix([[1 + p, 1], [1, 1 + q]])), sp.exp(A),
]  # fmt: skip

SIZED = [
    sp.Sum(a[i], (i, 0, N - 1)), sp.Sum((-1) ** i * a[i], (i, 0, N - 1)), sp.sqrt(sp.Sum(a[i] ** 2, (i, 0, N - 1))) / N,
    L(sp.Sum(E(x * a[i]), (i, 0, N - 1))), sp.Product(1 + a[i] / N, (i, 0, N - 1)),
    sp.Sum((a[i + 1] - a[i]) ** 2, (i, 0, N - 2)), sp.Sum(a[i] * x**i, (i, 0, N - 1)), E(a[0]) - E(a[N - 1]),
    sp.Sum(w[i, j] * a[i] * j, (j, 0, D - 1), (i, 0, N - 1)), sp.Sum(sp.Max(w[i, 0], 0) - w[i, 1], (i, 0, N - 1)),
    sp.Sum(a[sp.floor(i / 7)] * a[sp.Mod(3 * i, N)], (i, 0, N - 1)), sp.Sum(a[i] * a[j], (j, 0, i), (i, 0, D)),
    X * u, X.T * X / N, sp.Trace(X * X.T) - sp.Trace(X.T * X), (X.T * X + sp.Identity(D)).I * u,
    sp.MatrixSymbol("M", N, 2),
    sp.sqrt((u.T * u)[0, 0]) / D, sp.HadamardProduct(X, X), sp.Determinant(X.T * X / N), x * u * u.T,
]  # fmt: skip

# What it would take to have what some backend refuses, by the name of the node that is at fault.
WANTED = {
    "a function of orders or of several variables that torch has in part: scipy.special on numpy, series on torch": (
        "besselj", "bessely", "besseli", "besselk", "airyai", "elliptic_k", "elliptic_e", "zeta", "dirichlet_eta",
        "polylog", "lowergamma", "uppergamma", "hyper", "meijerg",
    ),
    "an integral of its own: Arb and mpmath have it, numpy through scipy.special, torch by its derivative": (
        "Ei", "expint", "li", "Si", "Ci", "Shi", "Chi", "fresnels", "fresnelc", "erfi",
    ),
    "an inverse, solved for as lambertw is: Newton's iteration on torch and Arb": ("erfinv", "erfcinv"),
    "a sequence of whole numbers: a recursion with a letter for its length": (
        "subfactorial", "factorial2", "fibonacci", "lucas", "bernoulli", "bell", "euler", "primepi", "totient",
    ),
    "an order or a count that is a letter of unknown sign: declared nonnegative or positive, it is lowered": (
        "RisingFactorial", "FallingFactorial", "harmonic",
    ),
    "a polynomial whose degree is a letter: its recursion as a loop of three terms": (
        "legendre", "chebyshevt", "hermite",
    ),
    "no function, or one that nobody named": ("DiracDelta", "f", "Derivative", "Limit"),
    "quadrature with an error that is known": ("Integral",),
    "letters in other units: a constant beyond the range of a double": ("Integer",),
    "a tail that is bounded: the sum is infinite": ("Sum",),
    "blocks put together, real powers and exponentials of matrices: the Schur form, on no backend but mpmath": (
        "BlockMatrix", "MatPow", "exp", "HadamardPower",
    ),
}  # fmt: skip


def scalars() -> list[sp.Expr]:
    return [*ELEMENTARY, *CANCELLING, *OVERFLOWING, *JUMPING, *SPECIAL, *FOLDED]
