"""The transformer that runs proximal gradient (li2025, Lemma 4, A.4): residuals of a block, errors after T blocks.

Attn1 takes 2 tau tanh(z/(2 tau)) for z = eta times a label or a prediction, Attn2 for z a prediction. The exact value
of each difference from z is 0, so that errors of rho enter a block through I - (2 eta/N) Phi^T Phi alone, which does
not expand. The recursion over the blocks then adds up residuals.
"""

from dataclasses import replace
from functools import cache

import sympy as sp

from symbolic.calculus import (
    Norm,
    add,
    apply_function,
    change_norm,
    given,
    linear_map,
    minimise,
    repeat,
    soft_threshold,
)
from symbolic.derivation import Approximated

N, n, d, L, bits = (sp.Symbol(name, integer=True, positive=True) for name in ("N", "n", "d", "L", "bits"))
tau_1, tau_2, lam, B, P = (sp.Symbol(name, positive=True) for name in ("tau_1", "tau_2", "lam", "B", "P"))
tau_ff = sp.Symbol("tau_ff", positive=True)
R, S = sp.symbols("R S", positive=True)

eta = 1 / (2 * n)
blocks = (L - 1) / 2


# z - 2 tau tanh(z/(2 tau)) lies between 0 and z^3/(12 tau^2): u - u^3/3 <= tanh u <= u for u >= 0. Equality: z -> 0.
def logistic_error(size: sp.Expr, tau: sp.Expr) -> sp.Expr:
    """A bound on |z - 4 tau (sigma(z/tau) - sigma(0))| for |z| <= size, in place of (119)."""
    return size**3 / (12 * tau**2)


# e of (108): labels and predictions of the N examples by (119), in each coordinate at most 2/N times their sum, as
# features are in [0, 1]; the query by y_hat - phi^T rho, since the logistic function does not expand.
def _residual(rho: Approximated, radius: sp.Expr, scale: sp.Expr, handles: str = "") -> Approximated:
    """`scale`: the norm of a row phi_i from the norm of rho to a number. `handles`: prefix of those of functions."""

    def handle(name: str) -> str:
        return name if handles else ""

    def named(name: str) -> str:
        return f"{name} of a {handles}" if handles else name

    def deviation(x: Approximated, name: str, eps: sp.Expr, size: sp.Expr) -> Approximated:
        """f_hat(x) - x, whose exact value is 0."""
        function = handle(f"{handles}_{name}")
        return apply_function(x, named(name), eps=eps, lipschitz=0, size=0, radius=size, function=function)

    def scores(name: str, dim: sp.Expr, matrix: str) -> Approximated:
        return _bounded(
            linear_map(rho, named(name), operator_norm=scale, dim=dim, target=Norm.INF, matrix=handle(matrix)), rho
        )

    labels = given("y" if handles else "the labels", dim=N, size=B)
    examples = add(
        deviation(labels, "labels", logistic_error(eta * B, tau_1) / eta, B),
        deviation(scores("scores", N, "phi"), "predictions", logistic_error(eta * radius, tau_1) / eta, radius),
        name=named("examples"),
        coefficients=(1, -1),
    )
    query = deviation(scores("own score", sp.Integer(1), "phi_query"), "query", logistic_error(radius, tau_2), radius)
    parts = (
        linear_map(each, f"pulled {each.name}", operator_norm=factor, dim=n + 1, matrix=handle(pull), transposed=True)
        for each, factor, pull in ((examples, 2 * eta, "pull"), (query, 2 * eta / N, "pull_query"))
    )
    return add(*parts, name=named("deviation"))


# |phi_i^T rho| <= ||phi_i||_inf ||rho||_1, and features are in [0, 1].
def _bounded(scores: Approximated, rho: Approximated) -> Approximated:
    return replace(scores, size=rho.size)


# One block, from an exact state with ||rho||_1 <= P.


def _state(name: str = "a state") -> Approximated:
    return given(name, dim=n + 1, norm=Norm.ONE, size=P)


def _half(rho: Approximated, handles: str) -> Approximated:
    matrix, bias = ("A", "b") if handles else ("", "")
    names = ("descended of a block", "half") if handles else ("descended", "residual")
    exact = linear_map(rho, names[0], operator_norm=1, dim=n + 1, target=Norm.INF, bias=2 * eta * B, matrix=matrix,
                       bias_vector=bias, reason="entries of I - (2 eta/N) Phi^T Phi")  # fmt: skip
    return add(exact, _residual(rho, P, sp.Integer(1), handles), name=names[1])


def derive_residual() -> Approximated:
    """e of (108)."""
    return _half(_state(), "")


def derive_step() -> Approximated:
    """e_t: soft thresholds do not expand."""
    return soft_threshold(_half(_state("rho_0"), "block"), "step", threshold="threshold")


def _own_score(rho: Approximated, name: str, matrix: str = "") -> Approximated:
    return linear_map(rho, name, operator_norm=1, dim=1, target=Norm.INF, matrix=matrix)


def derive_y_residual() -> Approximated:
    """e~ of (110)."""
    score, eps = _own_score(_state("rho_0"), "own score of a block", "phi_query"), logistic_error(P, tau_2)
    return apply_function(score, "y_residual", eps=eps, lipschitz=1, size=P, radius=P, function="block_read")


# |z - (2 tau/N) tanh(z/(2 tau))| = (1 - 1/N) |z| + (1/N) |z - 2 tau tanh(z/(2 tau))|.
def derive_printed_y_residual() -> Approximated:
    """e~ with the printed V of Attn2."""
    eps = (N - 1) / N * P + logistic_error(P, tau_2) / N
    return apply_function(
        _own_score(_state(), "own score as printed"), "y_residual.printed", eps=eps, lipschitz=1, size=P, radius=P
    )


# T blocks. The objective of the exact iterates does not increase, since eta <= 1/(n + 1) <= 1/lambda_max(Phi^T Phi/N),
# so that lambda ||rho_t||_1 <= mean y_i^2 = lambda R. For the same reason I - (2 eta/N) Phi^T Phi has its eigenvalues
# in [-1, 1].


def _path(handles: str) -> Approximated:
    """rho after T blocks against rho_T of the exact iteration, in the 2-norm."""
    start = given("start" if handles else "zero", dim=n + 1, norm=Norm.TWO, size=R)
    matrix, bias, threshold = ("A", "b", "threshold") if handles else ("", "", "")

    def block(rho: Approximated) -> Approximated:
        exact = linear_map(rho, "descended", operator_norm=1, dim=n + 1, bias=2 * eta * B * sp.sqrt(n + 1),
                           matrix=matrix, bias_vector=bias,
                           reason="eigenvalues of I - (2 eta/N) Phi^T Phi in [-1, 1]")  # fmt: skip
        residual = change_norm(_residual(rho, S, sp.sqrt(n + 1), handles), Norm.TWO, "residual")
        after = soft_threshold(add(exact, residual, name="half"), "after", threshold=threshold)
        return replace(after, size=rho.size)  # the objective does not increase

    return repeat(start, "iterate" if handles else "sum of residuals", block, blocks)


@cache
def derive_rho() -> Approximated:
    """The same in the 1-norm."""
    return change_norm(_path(""), Norm.ONE, "rho")


@cache
def derive_y_hat() -> Approximated:
    """y_hat against phi_{N+1}^T rho_T."""
    iterate = _path("path")
    score = linear_map(
        iterate, "score of the iterate", operator_norm=sp.sqrt(n + 1), dim=1, target=Norm.INF, matrix="phi_query"
    )
    return apply_function(_bounded(score, iterate), "y_hat", eps=logistic_error(S, tau_2), lipschitz=1, size=R,
                          radius=S, function="path_read")  # fmt: skip


# Temperatures. In a format of `bits` bits a head of Attn1 adds numbers of size 8 tau sigma(0) = 4 tau, which cancel
# against those of the others; in Attn2 they have the size 2 tau. Each is rounded once in sigma, 1/N, the product with
# V, the 4 additions of heads, and in sums of N + 1 terms, which are taken to be added as a tree: a model of the
# arithmetic, not a bound for every order of summation. Predictions are taken to be as large as labels.

unit = 2**-bits
depth = 8 + sp.log(N + 1, 2)  # roundings of one head


def rounding_1(tau: sp.Expr) -> sp.Expr:
    """In each coordinate of rho, of one block."""
    return 16 * tau * depth * unit


def rounding_2(tau: sp.Expr) -> sp.Expr:
    """In y_hat."""
    return 4 * tau * depth * unit


@cache
def best_temperatures() -> tuple[sp.Expr, sp.Expr]:
    """tau_1, tau_2 that minimise residual plus rounding of a block, to the next power of 2: scaling is exact then."""
    tau, a, b = sp.symbols("tau a b", positive=True)
    best = minimise(a / tau**2 + b * tau, tau).value
    one = sp.Integer(1)
    residuals = 4 * logistic_error(eta * B, one), logistic_error(B, one)  # labels and predictions, twice their sum
    found = (
        best.subs({a: residual, b: rounding(one)})
        for residual, rounding in zip(residuals, (rounding_1, rounding_2), strict=True)
    )
    tau_1, tau_2 = (2 ** sp.floor(sp.log(each, 2) + sp.Rational(1, 2)) for each in found)
    return tau_1, tau_2


# A step moves a coordinate of rho by at most 2 eta B at first, and a prediction is as large as a label.
def bits_to_hold() -> tuple[sp.Expr, sp.Expr]:
    """The bits below which the rounding of a block exceeds what it computes, for tau_1 and for tau_2."""
    of_tau_1, of_tau_2 = rounding_1(tau_1) / (2 * eta * B), rounding_2(tau_2) / B
    return sp.ceiling(sp.log(of_tau_1 / unit, 2)), sp.ceiling(sp.log(of_tau_2 / unit, 2))


PRINTED_TAU = N * n**2 * (L + n) * (N + n) * B  # Lemma 7 with C = 1


def bits_of_printed_tau() -> sp.Expr:
    """The bits with which the rounding of a block stays below (58b), with constant 1, at the printed tau."""
    accuracy = B / ((L + n) * n * N)
    return sp.ceiling(sp.log((n + 1) * rounding_1(PRINTED_TAU) / unit / accuracy, 2))
