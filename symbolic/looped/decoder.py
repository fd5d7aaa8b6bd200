"""A decoder of algoformer (Lemma A.5, Theorem 4.2): each token descends on its own past; the printed layer, a repair."""

from dataclasses import replace
from functools import cache

import sympy as sp

from symbolic.calculus import (
    Knob,
    Norm,
    add,
    apply_function,
    given,
    heads_as_linear,
    linear_map,
    minimise,
    repeat,
)
from symbolic.citations import ALGOFORMER, Citation
from symbolic.derivation import Approximated
from symbolic.operations import Second
from symbolic.provenance import Provenance
from symbolic.statements import Hypothesis, Kind, Parameter, Printed, Quantifier, Quantity, Result

N, d, T, i = sp.symbols("N d T i", integer=True, positive=True)
eta, c, C, B_x, B_y, u = sp.symbols("eta c C B_x B_y u", positive=True)
W, R, S, V = sp.symbols("W R S V", positive=True)

KEYS = 3 * i  # of token i + 1, which sees 2 i + 1 beside the start
SINK = C + sp.log(i)


# e^C softmax of token i + 1, times i: that of the score C + log(i) of the start, over i.
def heads(size: sp.Expr, second: Second) -> Approximated:
    """Its weights for scores of at most `size`, times i."""
    return heads_as_linear(given("scores", dim=KEYS, size=size), "weights", sink=SINK, second=second)


# With r = X w - y, r_hat = X w_hat - y and t the weights, times i / c: w_hat - eta/i X^T t(r_hat) is the gradient step
# of w_hat, less eta/i X^T (t(r_hat) - r_hat). The step does not expand, and of X^T / i the rows are x_j / i.
@cache
def derive_weights(second: Second = Second.OPPOSITE, name: str = "w") -> Approximated:
    """w^i after T loops against T exact steps; `R` and `S` bound residuals, of exact and of all iterates."""
    start = given("start", dim=d, norm=Norm.TWO, size=W)

    def loop(w: Approximated) -> Approximated:
        exact = linear_map(w, "descended", operator_norm=1, dim=d, bias=eta * B_x * B_y,
                           reason="eigenvalues of I - (eta/i) X^T X in [-1, 1]")  # fmt: skip
        residuals = linear_map(w, "residuals", operator_norm=B_x, dim=i, target=Norm.INF, bias=B_y)
        off = apply_function(
            replace(residuals, size=R), "off", eps=heads(c * S, second).error / c, lipschitz=0, size=0, radius=S,
            reason="softmax beside a sink as a linear map, of scores of at most c S",
        )  # fmt: skip
        pulled = linear_map(off, "pulled", operator_norm=eta * B_x, dim=d, target=Norm.TWO,
                            reason="a mean over the examples, each times x_j")  # fmt: skip
        return replace(add(exact, pulled, name="after"), size=w.size)  # W bounds all exact iterates

    return repeat(start, name, loop, T)


# The largest residual of any iterate is at most R + B_x e; with S = 2 R in e, if B_x e <= R.
def largest_residual(second: Second = Second.OPPOSITE) -> sp.Expr:
    """S, from R."""
    return R + B_x * derive_weights(second).error.subs(S, 2 * R)


# Steps do not increase the loss: sum over j of (w_k^T x_j - y_j)^2 is at most that of y_j^2.
LARGEST = sp.sqrt(N) * B_y
# At ||w|| = eta T (steps of at most eta B_x times the mean |residual|, which is at most its root mean square, B_y).
LONGEST = T * eta * B_x * B_y


# Token x_i sees itself with the score s = c w^T x_i, at most N keys of score 0 and value 0, and x_j for j < i with
# e^(-C) in the place of 1, or less: 2 N keys at most, of which those add (N - 1) e^(-C) (V + error) to w^T x_i.
@cache
def derive_prediction(second: Second = Second.OPPOSITE, name: str = "y_hat") -> Approximated:
    """w^iT x_i after T loops; V bounds |w^T x_j| for the final weights, of the network and exact."""
    score = linear_map(derive_weights(second), "score", operator_norm=B_x, dim=1, target=Norm.INF)
    own = given("own score", dim=2 * N, size=c * V)
    off = heads_as_linear(own, "weights of the scores", sink=C, second=second).error / c
    return apply_function(
        score, name, eps=off + (N - 1) * sp.exp(-C) * (V + off), lipschitz=1, size=B_x * W, radius=V,
        reason="softmax beside a sink as a linear map, of the own key; other keys are e^(-C) as far off",
    )  # fmt: skip


def largest_prediction(second: Second = Second.OPPOSITE) -> sp.Expr:
    """V, from W and S."""
    return B_x * (W + derive_weights(second).error)


# Attention of the printed layer, of i examples: no start token, x_j and y_j are both keys, and the sink of one head is
# a key of score 0 for the other. e^C/c softmax is (1 + c z)/c up to what `heads_as_linear` leaves; the ones cancel
# between the heads if x_(i+1) does not see itself.
@cache
def derive_printed() -> Approximated:
    """The sum that it leaves at x_(i+1), where it attends to earlier tokens alone; S bounds w^T x_j, and y_j."""
    sums = []
    for name in ("predictions", "labels"):
        scores = given(f"{name} of scores", dim=2 * (N - 1), size=c * S)
        weights = heads_as_linear(scores, f"weights of {name}", sink=C, second=Second.NONE)
        sums.append(
            linear_map(weights, name, operator_norm=(N - 1) * B_x / c, dim=d, target=Norm.TWO, reason="sum of x_j")
        )
    return add(*sums, name="gradient.printed", coefficients=(1, -1))


# Formats. In e^C softmax the score of the start is rounded relative to C, each factor to a few u: over c.


@cache
def best_c() -> dict[Second, Knob]:
    """c that minimises truncation plus rounding of a score of at most R, with C = log(3 / u)."""
    a, b, z = sp.symbols("a b z", positive=True)
    found = {}
    for second, truncation, power in ((Second.OPPOSITE, R**3 / 6, 2), (Second.CONSTANT, R**2 / 2, 1)):
        knob = minimise(a / z**power + b * z, z)  # z = 1 / c
        at = {a: truncation, b: u * (3 + C)}
        found[second] = replace(knob, value=1 / knob.value.subs(at), bound=knob.bound.subs(at))
    return found


def best_C() -> sp.Expr:
    """What the sink loses, 3 e^(-C), is then u."""
    return sp.log(3 / u)
