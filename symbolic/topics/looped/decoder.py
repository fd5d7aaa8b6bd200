"""A decoder of algoformer (Lemma A.5, Theorem 4.2): each token descends on its own past; also the printed layer."""

from dataclasses import replace
from functools import cache, partial

import sympy as sp

from symbolic.calculus import (
    Norm,
    add,
    apply_function,
    given,
    heads_as_linear,
    linear_map,
    repeat,
)
from symbolic.calculus.heads import Second
from symbolic.derivations.derivation import Approximated
from symbolic.derivations.provenance import Provenance
from symbolic.statements.result import Hypothesis, Kind, Parameter, Quantifier, Quantity, Result
from symbolic.topics.looped import objects
from symbolic.topics.looped.transformer_counts import of_all_parts
from symbolic.words.citations import ALGOFORMER, Citation

N, d, T, n = sp.symbols("N d T n", integer=True, positive=True)
eta, c, C, B_x, B_y = sp.symbols("eta c C B_x B_y", positive=True)
P, W, R, S, V, Z = sp.symbols("P W R S V Z", positive=True)

KEYS = 3 * n  # of token n + 1, which sees 2 n + 1 beside the start
SINK = C + sp.log(n)


# e^C softmax of token n + 1, times n: that of the score C + log(n) of the start, over n.
def heads(size: sp.Expr) -> Approximated:
    """Its weights for scores of at most `size`, times n."""
    return heads_as_linear(given("scores", dim=KEYS, size=size), "weights", sink=SINK, second=Second.OPPOSITE)


# With r = X w - y, r_hat = X w_hat - y and t the weights, times n / c: w_hat - eta/n X^T t(r_hat) is the gradient step
# of w_hat, less eta/n X^T (t(r_hat) - r_hat). The step does not expand, and of X^T / n the rows are x_j / n.
@cache
def derive_weights() -> Approximated:
    """w^i after T loops against T exact steps; `R` and `S` bound residuals, of exact and of all iterates."""
    start = given("start", dim=d, norm=Norm.TWO, size=W)

    def loop(w: Approximated) -> Approximated:
        exact = linear_map(w, "descended", operator_norm=1, dim=d, bias=eta * B_x * B_y,
                           reason="eigenvalues of `I - (eta/n) X^T X` in `[-1, 1]`")  # fmt: skip
        residuals = linear_map(w, "residuals", operator_norm=B_x, dim=n, target=Norm.INF, bias=B_y)
        off = apply_function(
            replace(residuals, size=R), "off", eps=heads(c * S).error / c, lipschitz=0, size=0, radius=S,
            reason="softmax beside a sink as a linear map, of scores of at most `c S`",
        )  # fmt: skip
        pulled = linear_map(off, "pulled", operator_norm=eta * B_x, dim=d, target=Norm.TWO,
                            reason="a mean over the examples, each times `x_j`")  # fmt: skip
        return replace(add(exact, pulled, name="after"), size=w.size)  # W bounds all exact iterates

    return repeat(start, "w", loop, T)


ROOM = 1 + sp.Rational(1, 2**20)  # for R and W in floats


# The largest residual of any iterate is at most R + B_x e, where S = 2 R in e is enough if it is at most 2 R.
def largest_residual() -> sp.Expr:
    """S, from R."""
    return ROOM * (R + B_x * derive_weights().error.subs(S, 2 * R))


# Steps do not increase the loss: sum over j of (w_k^T x_j - y_j)^2 is at most that of y_j^2.
LARGEST = sp.sqrt(N - 1) * B_y
# A step is at most eta B_x times the mean |residual|, which is at most its root mean square, and so at most B_y.
LONGEST = T * eta * B_x * B_y


# Token x_i sees itself with the score s = c w^T x_i, at most N keys of score 0 and value 0, and x_j for j < i with
# e^(-C) in the place of 1, or less: 2 N keys at most, of which those add (N - 1) e^(-C) (V + error) to w^T x_i.
@cache
def derive_prediction() -> Approximated:
    """w^iT x_i after T loops; V bounds |w^T x_j| for the final weights, of the network and exact."""
    score = linear_map(derive_weights(), "score", operator_norm=B_x, dim=1, target=Norm.INF)
    own = given("own score", dim=2 * N, size=c * V)
    off = heads_as_linear(own, "weights of the scores", sink=C, second=Second.OPPOSITE).error / c
    return apply_function(
        score, "y_hat", eps=off + (N - 1) * sp.exp(-C) * (V + off), lipschitz=1, size=B_x * W, radius=V,
        reason="softmax beside a sink as a linear map, of the own key; other keys are `e^(-C)` as far off",
    )  # fmt: skip


def largest_prediction() -> sp.Expr:
    """V, from W and R, as S from R."""
    return ROOM * B_x * (W + derive_weights().error.subs(S, 2 * R))


# Attention of the printed layer, of i examples: no start token, x_j and y_j are both keys, and the sink of one head is
# a key of score 0 for the other. e^C/c softmax is (1 + c z)/c up to what `heads_as_linear` leaves; the ones cancel
# between the heads if x_(i+1) does not see itself.
@cache
def derive_printed() -> Approximated:
    """The sum that it leaves at x_i, where it attends to earlier tokens alone; Z bounds |w^T x_j| and |y_j|."""
    sums = []
    for name in ("predictions", "labels"):
        scores = given(f"{name} of scores", dim=2 * (N - 1), size=c * Z)
        weights = heads_as_linear(scores, f"weights of {name}", sink=C, second=Second.NONE)
        sums.append(
            linear_map(weights, name, operator_norm=(N - 1) * B_x / c, dim=d, target=Norm.TWO, reason="sum of `x_j`")
        )
    return add(*sums, name="gradient.printed", coefficients=(1, -1))


# The statement.

_LEMMA, _THEOREM = Citation(ALGOFORMER, "Lemma A.5", "eq. (5)"), Citation(ALGOFORMER, "Theorem 4.2")
_SIZES = "by rules, but for sizes of exact iterates: a step does not increase the loss"
WORST = {R: LARGEST, W: LONGEST, B_x: B_x, S: S, V: V}
# S and V are looked up, and formulas stay short.
OF_NETWORK = {S: largest_residual().subs(WORST), V: largest_prediction().subs(WORST)}
_PATH = "`||x_j||_2 <= B_x`, `|y_j| <= B_y`"


_quantity = partial(Quantity, norm="2-norm", domain=_PATH, kind=Kind.UPPER, quantifier=Quantifier.FOR_ALL)


QUANTITIES = (
    _quantity(
        "w", r"\max_{1 \le i \le N} \|\hat w^i_T - w^i_T\|_2", "weights of each token after `T` loops",
        derivation=derive_weights().derivation, worst_case=WORST, trivial=LONGEST, obtained=Provenance.HAND,
        remark=_SIZES,
    ),
    _quantity(
        "y_hat", r"\max_{1 \le i \le N} |\hat y_i - x_i^\top w^i_T|",
        "prediction of each token after `T` loops", norm="absolute value",
        derivation=derive_prediction().derivation, worst_case=WORST, trivial=B_x * LONGEST, obtained=Provenance.HAND,
        remark=_SIZES,
    ),
    _quantity(
        "gradient.printed", r"\max_{1 \le i \le N} \|\hat g_i - \sum_{j < i} (x_j^\top v^i - y_j) x_j\|_2",
        "output of the printed attention layer, each token attending to earlier ones alone",
        domain="`||x_j||_2 <= B_x`, `|y_j| <= B_y`, `||v^i||_2 <= P`", construction="printed",
        derivation=derive_printed().derivation, worst_case={Z: sp.Max(P * B_x, B_y), B_x: B_x},
        trivial=(N - 1) * B_x * (P * B_x + B_y),
    ),
    *of_all_parts(4, 2, _THEOREM),
)  # fmt: skip

DECODER = Result(
    id="looped.decoder",
    title="A decoder runs gradient descent on the past of each token",
    citation=Citation(ALGOFORMER, "Lemma A.5, Theorem 4.2", "eq. (5)"),
    claim=r"w^i_{k+1} = w^i_k - \frac{\eta}{i - 1} \sum_{j < i} (x_j^\top w^i_k - y_j) x_j, \qquad "
    r"\hat y_i = x_i^\top w^i_T",
    parameters=(
        Parameter("N", N, "number of examples", 6, integer=True),
        Parameter("d", d, "dimension of `x_j`", 2, integer=True),
        Parameter("T", T, "number of loops", 5, integer=True),
        Parameter("eta", eta, "step size", 1.0),
        Parameter("B_x", B_x, "bound on the 2-norms of `x_j`", 1.0),
        Parameter("B_y", B_y, "bound on the labels", 1.0),
        Parameter("P", P, "bound on the 2-norms of the weights `v^i` from which the printed layer starts", 1.0),
        Parameter(
            "c",
            c,
            "scale of the scores (from the format, if it is not given)",
            2.0**-16,
            in_words="scale of the scores",
        ),
        Parameter(
            "C",
            C,
            "score of the start token (likewise)",
            40.0,
            in_words="score of the start token at token `i`, less `log(i - 1)`; in the printed layer, of its sinks",
        ),
    ),
    hypotheses=(
        Hypothesis("N", sp.Ge(N, 2, evaluate=False), "a token with a past"),
        Hypothesis("d", sp.Ge(d, 1, evaluate=False), "a dimension"),
        Hypothesis("T", sp.Ge(T, 1, evaluate=False), "a loop"),
        Hypothesis("eta", eta * B_x**2 <= 2, "a step does not expand"),
        *(Hypothesis(x.name, sp.Gt(x, 0, evaluate=False), "it is positive") for x in (eta, B_x, B_y, P, c, C)),
    ),
    objects=objects.DECODER,
    quantities=QUANTITIES,
    notation={eta: r"\eta"},
    symbols={
        n: "number of examples that a token sees",
        R: "bound on the residuals `|x_j^T w^i_k - y_j|` of exact iterates",
        S: "bound on the residuals `|x_j^T w^i_k - y_j|` from which loops start, exact and of the transformer: any "
        "number that meets the condition on it",
        W: "bound on `||w^i_k||_2` of exact iterates",
        V: "bound on `|x_i^T w^i_T|`, exact and of the transformer: any number that meets the condition on it",
        Z: "bound on `|x_j^T v^i|` and `|y_j|`",
    },
    remarks=(
        "The layer as printed takes `e^C/c` times sums of `x_j` in both heads, which cancel if `x_i` does not attend "
        'to itself: "previous tokens" is read so here. If it does, the first head leaves `x_i/c`.',
        "The first token does not see the key with `C`: attending to earlier tokens it sees none, and to itself alone, "
        "it gets `e^C x_1/c`. (5) has the factor 1/0 there. Here a start token is the sink, and `w^1` stays.",
        "The last display of A.5 has `w_k^h` where `w_k^j` is meant, and Theorem 4.2 names Newton's method for "
        "gradient descent.",
        "The product with `1/(i - 1)`, which a ReLU layer only approximates, is not needed: with the position `log(i "
        "- 1)` in place of `1/(i - 1)`, the start has the score `C + log(i - 1)`, and softmax divides by `i - 1`. "
        "Keys are the tokens of the labels, which hold `x_j` too, so that plain causal attention is enough.",
    ),
)
