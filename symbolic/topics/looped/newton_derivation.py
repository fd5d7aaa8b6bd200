"""Newton's iteration by two heads beside a sink (algoformer, Lemma A.4): errors of the state and of the prediction.

X^T = U Sigma V^T with X (N, d), S = X^T X = U Sigma^2 U^T of eigenvalues lambda in [low, 1], rho_k = (1 - alpha
lambda^2)^(2^k). The exact state is M_k X^T = U (1 - rho_k)/Sigma V^T, where 1 - rho_(k+1) = (1 - rho_k)(1 + rho_k).
That of the network is U (1 - rho_k)/Sigma (V^T + D_k): D_k is its error in the basis of the data.

One loop: Y <- 2 Y - Y (X Y + W) with W the error of the weights over c, W (N, N). Row by row
  (1 + rho_k) D_(k+1) = D_k (I - X M_k X^T - V (1 - rho_k) D_k - W) + rho_k D_k - V^T W,
where ||I - X M_k X^T||_2 <= 1, and is 1 for N > d: off the rows of X nothing contracts. For alpha <= 1, in the norm
||.||_F, e <- (1 + w) e + e^2 + w: what two heads err by adds up over the loops, whatever the condition of S. That of
TF_pre is divided by lambda, as D_0 = V^T W / lambda. Beyond alpha = 1 the first loop has 1 + rho_0 < 1, which makes a
factor alpha / (2 - alpha), and 1 - rho_0 = alpha lambda^2 <= alpha.
"""

from dataclasses import replace
from functools import cache

import sympy as sp

from symbolic.calculus import (
    Approximated,
    Norm,
    accumulate,
    add,
    attend,
    bilinear,
    change_norm,
    concentrate,
    given,
    heads_as_matrix,
    linear_map,
)
from symbolic.calculus.heads import Second
from symbolic.derivations.derivation import Derivation

N, d, T = (sp.Symbol(name, integer=True, positive=True) for name in ("N", "d", "T"))
alpha, c, C, tau, kappa, B = (sp.Symbol(name, positive=True) for name in ("alpha", "c", "C", "tau", "kappa", "B"))
low, longest, gram, own, foreign, Y = (
    sp.Symbol(name, positive=True) for name in ("low", "longest", "gram", "own", "foreign", "Y")
)
widened, first_loop, E = (sp.Symbol(name, positive=True) for name in ("widened", "first_loop", "E"))

keys = 2 * N + 1


# TF_pre: W over c of the scores c x_i^T x_j, of which the squares add up to ||S||_F^2.
@cache
def derive_products(second: Second) -> Approximated:
    """c x_i^T x_j, of all tokens: M_0 X^T = alpha X^T (X X^T + W)."""
    scores = given("scores of TF_pre", dim=N**2, norm=Norm.TWO, size=c * gram)
    return heads_as_matrix(scores, "weights of TF_pre", sink=C, reach=c * longest, widest=c, keys=keys, second=second)


@cache
def loop_error(second: Second, error: sp.Expr = E) -> sp.Expr:
    """w: ||W||_F of a loop whose state has an error of at most `error`."""
    size, reach, widest = (widened * each for each in (sp.sqrt(d) + error, own + error, (1 + foreign) * (1 + error)))
    scores = given("scores of a loop", dim=N**2, norm=Norm.TWO, size=c * size)
    weights = heads_as_matrix(
        scores, "weights of a loop", sink=C, reach=c * reach, widest=c * widest, keys=keys, second=second
    )
    return weights.error / c


@cache
def derive_start(second: Second) -> Approximated:
    """V^T, as TF_pre makes it."""
    found = linear_map(derive_products(second), "start", operator_norm=first_loop / (low * c), dim=d * N,
                       reason="`V^T (X X^T + W)` over `lambda`, and the factor of the first loop")  # fmt: skip
    return replace(found, size=sp.sqrt(d))


@cache
def ceiling(second: Second) -> sp.Expr:
    """E: four times what adds up without products of errors."""
    return 4 * (derive_start(second).error + T * first_loop * loop_error(second, sp.S.Zero))


@cache
def derive_basis(second: Second, k: sp.Expr | int = T) -> Approximated:
    """V^T + D_k."""
    w = loop_error(second)
    return accumulate(derive_start(second), f"basis of the data{_after(k)}", factor=1 + w, quadratic=widened, depth=k,
                      offset=first_loop * w, ceiling=E, size=sp.sqrt(d), reason="row by row")  # fmt: skip


def _after(k: sp.Expr | int) -> str:
    return "" if k is T else f" after loop {k}"


# Rows of D_k are off by the rows of W of TF_pre over lambda, and by those of the loops. On M_k X^T they count times
# (1 - rho_k)/sigma = (1 - (1 - z)^n) lambda^(-1/2), z = alpha lambda^2 and n = 2^k, where 1 - (1 - z)^n <= min(1, n z):
# min(1, n z) lambda^(-p) is largest at n z = 1, for p = 1/2 and p = 3/2.
@cache
def derive_state(second: Second, k: sp.Expr | int = T) -> Approximated:
    """M_k X^T, the states of all tokens as one vector."""
    w = loop_error(second)
    every = {"factor": 1 + w + widened * E, "depth": k, "reason": "row by row, below the ceiling"}
    products = linear_map(derive_products(second), "products", operator_norm=first_loop / c, dim=d * N)
    of_pre = accumulate(products, f"TF_pre{_after(k)}", offset=0, size=0, **every)
    exact = given("V", dim=d * N, norm=Norm.TWO, size=sp.sqrt(d))
    of_loops = accumulate(exact, f"loops{_after(k)}", offset=first_loop * w, size=sp.sqrt(d), **every)
    parts = (
        linear_map(each, f"{name}{_after(k)}", operator_norm=_largest(k, p), dim=d * N)
        for each, name, p in ((of_pre, "what TF_pre adds", 3), (of_loops, "state of the loops", 1))
    )
    return _below_ceiling(add(*parts, name="m" if k is T else f"m[{k}]"), derive_basis(second, k))


def _largest(k: sp.Expr | int, p: int) -> sp.Expr:
    """That of (1 - rho_k) lambda^(-p/2)."""
    return sp.Min(low ** sp.Rational(-p, 2), (alpha * sp.Integer(2) ** k) ** sp.Rational(p, 4))


def _below_ceiling(value: Approximated, basis: Approximated) -> Approximated:
    """With the steps that keep the error in the basis of the data below the ceiling, and what they owe for that."""
    *others, last = value.derivation.steps
    owed = tuple(o for step in basis.derivation.resting_on(basis.name).steps for o in step.obligations if o.open)
    whole = replace(last, obligations=(*last.obligations, *owed))
    return replace(value, derivation=basis.derivation.then(whole, Derivation(tuple(others))))


# Half of the weight is on each token of a pair: of pairs there are N + 1, which softmax of their scores averages.
@cache
def derive_labels() -> Approximated:
    """2 (0 + y_i) / 2, at both tokens of the pair; 0 at the last pair."""
    pairs = concentrate("pairs", count=N + 1, gap=2 * tau, reason="signs of different numbers agree by 2 less")
    return attend(pairs, given("labels of pairs", dim=1, size=B, radius=B), "labels")


# The keys of TF_post are M_T x_i, and 0 at labels and x: their weights are off by what the sink loses, and so is the
# weight of the sink itself, e^C |1/(1 + v) - 1/(1 + u)| <= sum |e^s - 1| <= n r e^r.
@cache
def derive_prediction(second: Second) -> Approximated:
    """w_T^T x = sum_i y_i x_i^T M_T x."""
    found = linear_map(derive_basis(second), "scores of x", operator_norm=c * foreign, dim=keys,
                       reason="`||(1 - rho_T)/Sigma U^T x||^2 <= x^T S^(-1) x`")  # fmt: skip
    scores = replace(found, size=c * foreign)
    reach = c * foreign * (sp.sqrt(own) + E)
    weights = heads_as_matrix(scores, "weights of x", sink=C, reach=reach, keys=keys, second=second)
    labels = derive_labels()
    both = replace(change_norm(replace(labels, dim=keys), Norm.TWO, "labels of all keys"), size=sp.sqrt(2) * Y)
    inner = bilinear(weights, both, "sum over the keys", constant=1 / c, norm=Norm.INF, dim=1)
    lost = keys * reach * sp.exp(reach) / c
    sink = linear_map(labels, "the sink's label", operator_norm=lost, dim=1)
    return add(inner, sink, name="y_hat")
