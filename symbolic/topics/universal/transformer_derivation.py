"""The transformer that runs proximal gradient (li2025, Lemma 4, A.4): residuals of a block, errors after T blocks.

Attn1 takes 2 tau tanh(z/(2 tau)) for z = eta times a label or a prediction, Attn2 for z a prediction. The exact value
of each difference from z is 0, so that errors of rho enter a block through I - (2 eta/N) Phi^T Phi alone, which does
not expand. The recursion over the blocks then adds up residuals.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property

import sympy as sp

from symbolic.calculus import (
    Knob,
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
from symbolic.derivations.derivation import Approximated

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


# (z - 2 tau tanh(z/(2 tau)))' = tanh^2(z/(2 tau)). Equality: z -> 0.
def logistic_slope(size: sp.Expr, tau: sp.Expr) -> sp.Expr:
    """A Lipschitz constant of the same difference there."""
    return sp.Min(1, size**2 / (4 * tau**2))


# e of (108): labels and predictions of the N examples by (119), in each coordinate at most 2/N times their sum, as
# features are in [0, 1]; the query by y_hat - phi^T rho, since the logistic function does not expand.
def _residual(rho: Approximated, radius: sp.Expr, scale: sp.Expr, of: str) -> Approximated:
    """`scale`: the norm of a row phi_i from the norm of rho to a number. `of`: the prefix of handles of functions."""

    def deviation(x: Approximated, name: str, eps: sp.Expr, size: sp.Expr) -> Approximated:
        """f_hat(x) - x, whose exact value is 0."""
        return apply_function(
            x, f"{name} of a {of}", eps=eps, lipschitz=0, size=0, radius=size, function=f"{of}_{name}"
        )

    def scores(name: str, dim: sp.Expr, matrix: str) -> Approximated:
        found = linear_map(rho, f"{name} of a {of}", operator_norm=scale, dim=dim, target=Norm.INF, matrix=matrix)
        return replace(found, size=rho.size)  # |phi_i^T rho| <= ||phi_i||_inf ||rho||_1, and features are in [0, 1]

    examples = add(
        deviation(given("y", dim=N, size=B), "labels", logistic_error(eta * B, tau_1) / eta, B),
        deviation(scores("scores", N, "phi"), "predictions", logistic_error(eta * radius, tau_1) / eta, radius),
        name=f"examples of a {of}",
        coefficients=(1, -1),
    )
    query = deviation(scores("own score", sp.Integer(1), "phi_query"), "query", logistic_error(radius, tau_2), radius)
    parts = (
        linear_map(each, f"pulled {each.name}", operator_norm=factor, dim=n + 1, matrix=pull, transposed=True)
        for each, factor, pull in ((examples, 2 * eta, "pull"), (query, 2 * eta / N, "pull_query"))
    )
    return add(*parts, name=f"deviation of a {of}")


# One block, from an exact state with ||rho||_1 <= P.


def _state(name: str = "rho_0") -> Approximated:
    return given(name, dim=n + 1, norm=Norm.ONE, size=P)


@cache
def derive_residual() -> Approximated:
    """e of (108)."""
    rho = _state()
    exact = linear_map(rho, "descended of a block", operator_norm=1, dim=n + 1, target=Norm.INF, bias=2 * eta * B,
                       matrix="A", bias_vector="b", reason="entries of `I - (2 eta/N) Phi^T Phi`")  # fmt: skip
    return add(exact, _residual(rho, P, sp.Integer(1), "block"), name="residual")


@cache
def derive_step() -> Approximated:
    """e_t: soft thresholds do not expand."""
    return soft_threshold(derive_residual(), "step", threshold="threshold")


def _own_score(rho: Approximated, name: str, matrix: str = "") -> Approximated:
    return linear_map(rho, name, operator_norm=1, dim=1, target=Norm.INF, matrix=matrix)


def derive_y_residual() -> Approximated:
    """e~ of (110)."""
    score, eps = _own_score(_state(), "own score of a block", "phi_query"), logistic_error(P, tau_2)
    return apply_function(score, "y_residual", eps=eps, lipschitz=1, size=P, radius=P, function="block_read")


# |z - (2 tau/N) tanh(z/(2 tau))| = (1 - 1/N) |z| + (1/N) |z - 2 tau tanh(z/(2 tau))|.
def derive_printed_y_residual() -> Approximated:
    """e~ with the printed V of Attn2."""
    eps = (N - 1) / N * P + logistic_error(P, tau_2) / N
    score = _own_score(_state("a state"), "own score as printed")
    return apply_function(score, "y_residual.printed", eps=eps, lipschitz=1, size=P, radius=P)


# T blocks. The objective of the exact iterates does not increase, since eta <= 1/(n + 1) <= 1/lambda_max(Phi^T Phi/N),
# so that mean (y_i - phi_i^T rho_t)^2 + lambda ||rho_t||_1 <= mean y_i^2 = lambda R. For the same reason
# I - (2 eta/N) Phi^T Phi has its eigenvalues in [-1, 1].


@cache
def derive_rho() -> Approximated:
    """rho after T blocks against rho_T of the exact iteration, in the 1-norm; the recursion is in the 2-norm."""
    start = given("start", dim=n + 1, norm=Norm.TWO, size=R)

    def block(rho: Approximated) -> Approximated:
        exact = linear_map(rho, "descended", operator_norm=1, dim=n + 1, bias=2 * eta * B * sp.sqrt(n + 1),
                           matrix="A", bias_vector="b",
                           reason="eigenvalues of `I - (2 eta/N) Phi^T Phi` in `[-1, 1]`")  # fmt: skip
        deviation = change_norm(_residual(rho, S, sp.sqrt(n + 1), "path"), Norm.TWO, "deviation in the 2-norm")
        after = soft_threshold(add(exact, deviation, name="half"), "after", threshold="threshold")
        return replace(after, size=rho.size)  # the objective does not increase

    return replace(change_norm(repeat(start, "iterate", block, blocks), Norm.ONE, "rho"), size=R)


@cache
def derive_y_hat() -> Approximated:
    """y_hat against phi_{N+1}^T rho_T."""
    score = _own_score(derive_rho(), "score of the iterate", "phi_query")
    return apply_function(score, "y_hat", eps=logistic_error(S, tau_2), lipschitz=1, size=R, radius=S,
                          function="path_read")  # fmt: skip


# Each coordinate of a step is at most 2 eta mean |y_i - phi_i^T rho_t| <= 2 eta B.
LARGEST_NORM = sp.Min(B**2 / lam, blocks * (n + 1) * 2 * eta * B)


# If the error with S = 2 ||rho_t||_1 is at most ||rho_t||_1, then this S is at most that, and so is the error with it.
# If it is not, the obligation that no score leaves [-S, S] fails.
def largest_score(norm: sp.Expr) -> sp.Expr:
    """S, from the largest ||rho_t||_1 of the exact iterates."""
    return norm + derive_rho().error.subs(S, 2 * norm)


# After k <= T blocks too: the errors of derive_rho() add up, and LARGEST_NORM grows with the number of blocks.
@cache
def largest_iterate() -> sp.Expr:
    """Of ||rho||_1 after a block: of the exact iterates, and their error."""
    return LARGEST_NORM + derive_rho().error.xreplace({S: largest_score(LARGEST_NORM)})


@cache
def room_of_scores() -> sp.Expr:
    """Where this is negative, scores may leave [-S, S], and largest_iterate() bounds nothing."""
    return LARGEST_NORM - derive_rho().error.xreplace({S: 2 * LARGEST_NORM})


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


# A rounding of y_hat enters each coordinate of rho by 2 eta/N in the next block, and no block expands that of rho.
def rounding_of_blocks() -> sp.Expr:
    """In y_hat, of T blocks."""
    return blocks * (n + 1) * (rounding_1(tau_1) + 2 * eta / N * rounding_2(tau_2)) + rounding_2(tau_2)


_tau, _a, _b = sp.symbols("tau a b", positive=True)


@cache
def least_sum() -> Knob:
    return minimise(_a / _tau**2 + _b * _tau, _tau)


@dataclass(frozen=True)
class LayerErrors:
    """Residual and rounding of an attention layer at its temperature, and the largest number that it computes."""

    residual: Callable[[sp.Expr], sp.Expr]
    rounding: Callable[[sp.Expr], sp.Expr]
    size: sp.Expr

    @cached_property
    def best(self) -> Knob:
        """The temperature that minimises their sum, which is then proportional to unit^(2/3)."""
        a, b = (each(sp.Integer(1)) for each in (self.residual, self.rounding))
        found = least_sum()
        return replace(found, value=found.value.subs({_a: a, _b: b}), bound=found.bound.subs({_a: a, _b: b}))


# A step moves a coordinate of rho by at most 2 eta B at first, and a prediction is as large as a label.
LAYERS = (
    LayerErrors(lambda tau: 4 * logistic_error(eta * B, tau), rounding_1, 2 * eta * B),  # twice labels and predictions
    LayerErrors(lambda tau: logistic_error(B, tau), rounding_2, B),
)


@cache
def best_temperatures() -> tuple[sp.Expr, sp.Expr]:
    """tau_1, tau_2 that minimise residual plus rounding of a block, to the next power of 2: scaling is exact then."""
    tau_1, tau_2 = (2 ** sp.floor(sp.log(each.best.value, 2) + sp.Rational(1, 2)) for each in LAYERS)
    return tau_1, tau_2


@cache
def bits_to_hold() -> tuple[sp.Expr, sp.Expr]:
    """The bits below which the rounding of a block exceeds what it computes, for tau_1 and for tau_2."""
    of_tau_1, of_tau_2 = (
        sp.ceiling(sp.log(each.rounding(tau) / unit / each.size, 2))
        for each, tau in zip(LAYERS, (tau_1, tau_2), strict=True)
    )
    return of_tau_1, of_tau_2


def _bits_for(error: sp.Expr, size: sp.Expr) -> sp.Expr:
    """The least bits with which an error proportional to unit^(2/3) is at most `size`."""
    return sp.ceiling(sp.Rational(3, 2) * sp.log(error.subs(bits, 0) / size, 2))


@cache
def bits_of_a_block() -> sp.Expr:
    """The bits below which residual plus rounding of a block exceed what it computes, at every temperature."""
    return sp.Max(*(_bits_for(each.best.bound, each.size) for each in LAYERS))


@cache
def bits_of_all_blocks() -> sp.Expr:
    """The bits below which they exceed, over T blocks, what ||rho_T||_1 and y_hat are at most; no error cancels."""
    of_rho, of_y_hat = (each.best.bound for each in LAYERS)
    return _bits_for(blocks * (n + 1) * of_rho + of_y_hat, B**2 / lam)


# V of Attn1 holds 8 tau_1 and that of Attn2 4 tau_2 N: no other number of the network is as large.
LARGEST_WEIGHTS = (8 * tau_1, 4 * tau_2 * N)


def exponent_bits(number: sp.Expr) -> sp.Expr:
    """Those of a format that holds the number: with w of them numbers end at 2^(2^(w - 1))."""
    return sp.ceiling(sp.log(sp.floor(sp.log(number, 2)) + 1, 2)) + 1


PRINTED_TAU = N * n**2 * (L + n) * (N + n) * B  # Lemma 7 with C = 1
PRINTED_ACCURACY = B / ((L + n) * n * N)  # (58b) with C = 1


@cache
def bits_of_printed_tau() -> sp.Expr:
    """The bits with which the rounding of a block stays below (58b), with constant 1, at the printed tau."""
    return sp.ceiling(sp.log((n + 1) * rounding_1(PRINTED_TAU) / unit / PRINTED_ACCURACY, 2))
