"""Autoregression by a looped transformer (algoformer, Lemma A.3, Theorem 3.2): copies, states and predictions."""

from dataclasses import replace
from functools import cache

import sympy as sp

from symbolic.calculus import (
    Knob,
    Norm,
    add,
    apply_function,
    attend,
    bilinear,
    concentrate,
    given,
    heads_as_linear,
    knob_for,
    linear_map,
    perturbed_function,
    perturbed_map,
    repeat,
)
from symbolic.calculus.heads import Second
from symbolic.derivations.derivation import Approximated, Derivation
from symbolic.derivations.provenance import Provenance
from symbolic.statements.result import (
    Formula,
    Hypothesis,
    Kind,
    Parameter,
    Quantifier,
    Quantity,
    Result,
)
from symbolic.topics.looped import objects
from symbolic.topics.looped.transformer_counts import of_all_parts
from symbolic.words.citations import ALGOFORMER, Citation

N, q, d, T = sp.symbols("N q d T", integer=True, positive=True)
L, m = sp.symbols("L m", integer=True, nonnegative=True)
B, eta, eps, accuracy, beta, c, C = sp.symbols("B eta eps accuracy beta c C", positive=True)
delta, G, P, Q, X, X_hat = sp.symbols("delta G P Q X X_hat", positive=True)
E = sp.Symbol("E", nonnegative=True)

F = q * d  # features
KEYS = N + 2  # t = 0, ..., N + 1, beside the sink


# Lemma A.3. The sink has the position 0, farther from each lag than eps.
@cache
def derive_copy() -> Approximated:
    """A lag: the mean of the series under the softmax of a head."""
    kernel = concentrate("kernel", count=KEYS + 1, gap=beta * eps)
    return attend(kernel, given("series", dim=d, size=B, radius=B), "copy")


@cache
def sharpness() -> Knob:
    """The least beta with which lags are as accurate as asked."""
    return knob_for(derive_copy().error, beta, accuracy)


# The representation does not expand in the sup norm.
@cache
def derive_weights() -> Approximated:
    """c/N Phi_l^T Phi_j, at most c/N X, as the weights of two heads."""
    features = perturbed_function(derive_copy(), "features", lipschitz=1, size=B, dim=F,
                                  reason="rows of the representation have 1-norms of at most 1")  # fmt: skip
    products = bilinear(features, features, "products", constant=F, dim=KEYS)
    scores = linear_map(replace(products, size=X), "scores", operator_norm=c / N, dim=KEYS)
    return heads_as_linear(scores, "weights", sink=C, second=Second.OPPOSITE)


# R_(k+1) = (I - eta/N Phi Phi^T) R_k of the examples. The network has entries within delta of those of Phi Phi^T / N,
# and one within delta of 0 for the query, whose state is its prediction, at most X_hat: errors of the examples up to a
# loop and predictions up to it bound each other. Features of t = 0 are 0, as its state is.
def _of_query(name: str, rows: sp.Expr, dim: sp.Expr, target: Norm) -> Approximated:
    """What its state, at most X_hat, adds to others."""
    state = given("state of the query", dim=1, size=X_hat)
    return perturbed_map(state, name, operator_norm=0, perturbation=eta * rows * delta, dim=dim, target=target)


@cache
def derive_state() -> Approximated:
    """A_T Phi - y of the examples, of one coordinate."""
    start = given("start", dim=N, norm=Norm.TWO, size=P)

    def loop(residuals: Approximated) -> Approximated:
        moved = perturbed_map(residuals, "moved", operator_norm=1, perturbation=eta * N * delta, dim=N,
                              reason="eigenvalues of `I - (eta/N) Phi Phi^T` in `[-1, 1]`; `N^2` entries")  # fmt: skip
        return add(moved, _of_query("leaked", sp.sqrt(N), N, Norm.TWO), name="after")

    state = repeat(start, "state", loop, T)
    *steps, last = state.derivation.steps
    owed = tuple(each for each in derive_prediction().derivation.obligations if each.open)
    whole = replace(last, obligations=(*last.obligations, *owed))
    return replace(state, derivation=Derivation((*steps, whole)))


@cache
def derive_prediction() -> Approximated:
    """A_T Phi of the query, of one coordinate; E bounds the error of every state, G is ||Phi_(N+1)^T Phi||_2 / N."""
    start = given("start of the query", dim=1, size=Q)

    def loop(x: Approximated) -> Approximated:
        residuals = given("residuals", dim=N, norm=Norm.TWO, size=P, error=E)
        step = perturbed_map(residuals, "step", operator_norm=eta * G, dim=1, target=Norm.INF,
                             perturbation=eta * sp.sqrt(N) * delta, reason="`N` entries of a row")  # fmt: skip
        moved = add(x, step, _of_query("leaked to itself", sp.S.One, sp.S.One, Norm.INF), name="moved query")
        return apply_function(replace(moved, size=Q), "predicted", eps=0, lipschitz=1, size=Q, radius=X_hat)

    return repeat(start, "x_hat", loop, T)


ROOM = 1 + sp.Rational(1, 2**20)  # for Q in floats


# The network's prediction is at most Q + error, where X_hat = 2 Q in the error is enough if the sum is at most 2 Q.
def largest_prediction() -> sp.Expr:
    """X_hat, from Q, P, G and delta."""
    error = derive_prediction().error.subs(E, derive_state().error)
    return ROOM * (Q + error.subs(X_hat, 2 * Q))


# The statement.

_LEMMA, _THEOREM = Citation(ALGOFORMER, "Lemma A.3"), Citation(ALGOFORMER, "Theorem 3.2")
_SERIES, _BY_HAND = "`||x_t||_oo <= B`", "by rules, but for sizes of exact iterates: a step does not increase the loss"
DELTA = derive_weights().error / c
# From one loop to the next an exact prediction moves by eta G P at most.
WORST = {
    B: B, eps: eps, G: F * B**2 / sp.sqrt(N), P: sp.sqrt(N) * B, Q: T * eta * F * B**3,
    E: derive_state().error.subs(P, sp.sqrt(N) * B), delta: delta, X_hat: X_hat,
}  # fmt: skip
# delta and X_hat are looked up, and formulas stay short.
OF_NETWORK = {delta: DELTA.subs(X, F * B**2), X_hat: largest_prediction().subs(WORST)}


def _quantity(name: str, latex: str, meaning: str, value: Approximated | None, **more: object) -> Quantity:
    bound = {} if value is None else {"derivation": value.derivation, "worst_case": WORST, "domain": _SERIES}
    fields = {"norm": "sup norm", "kind": Kind.UPPER, "quantifier": Quantifier.FOR_ALL, **bound, **more}
    return Quantity(name, latex, meaning, **fields)  # type: ignore[arg-type]  # typed above


SYMBOLS = {
    delta: "bound on the error of `e^C/(2 c)` times the difference of both heads' weights, against `Phi_s^T Phi_t / N`",
    G: "bound on the 2-norm of the vector of `Phi_(N+1)^T Phi_t / N`, `t = 1, ..., N`",
    P: "bound on `||R_0||_2`",
    Q: "bound on the exact predictions of the loops",
    X_hat: "bound on the predictions of the loops, exact and of the transformer: any number that meets the condition "
    "on it",
    E: "bound on the error of `R_k` in every loop",
}
POSITIVE = B, eta, eps, accuracy, beta, c, C
AUTOREGRESSION = Result(
    id="looped.autoregression",
    title="A looped transformer fits `AR(q)`",
    citation=Citation(ALGOFORMER, "Lemma A.3, Theorem 3.2"),
    claim=r"\hat x_{N+1} = A_T \Phi(x_N, \dots, x_{N+1-q}), \quad A_{k+1} = A_k - \frac{\eta}{N} \sum_{t=1}^N "
    r"(A_k \Phi(x_{t-1}, \dots, x_{t-q}) - x_t) \Phi(x_{t-1}, \dots, x_{t-q})^\top",
    parameters=(
        Parameter("N", N, "time of the last value of the series, which starts at 0", 8, integer=True),
        Parameter("q", q, "number of lags", 2, integer=True),
        Parameter("d", d, "dimension of `x_t`", 1, integer=True),
        Parameter("L", L, "number of layers of the representation, 0 for the identity", 1, integer=True),
        Parameter("T", T, "number of loops", 3, integer=True),
        Parameter("B", B, "bound on the series", 1.0),
        Parameter("eta", eta, "step size", 0.5),
        Parameter("eps", eps, "gap of the positions, vectors `p_t` of norm 1 with `p_s^T p_t <= 1 - eps` for `s != t`",
            0.5),
        Parameter("m", m, "dimension of the positions (0: the least in which a search finds the gap)", 0, integer=True,
            setting=True),
        Parameter("accuracy", accuracy, "accuracy of the copied lags", 2.0**-40, setting=True),
        Parameter("beta", beta, "sharpness of the copies (from the accuracy, if it is not given)", 100.0,
            in_words="sharpness of the copies"),
        Parameter("c", c, "scale of the scores (from the format, if it is not given)", 2.0**-10,
            in_words="scale of the scores"),
        Parameter("C", C, "score of the sink (likewise)", 40.0, in_words="score of the sink"),
    ),
    hypotheses=(
        Hypothesis("q", sp.Ge(q, 1, evaluate=False), "a lag"),
        Hypothesis("q", q < N, "a window that lies in the series"),
        Hypothesis("d", sp.Ge(d, 1, evaluate=False), "a dimension"),
        Hypothesis("L", sp.Ge(L, 0, evaluate=False), "layers"),
        Hypothesis("T", sp.Ge(T, 1, evaluate=False), "a loop"),
        Hypothesis("m", sp.Ge(m, 0, evaluate=False), "a dimension"),
        Hypothesis("eps", eps < 1, "`p_i^T p_i = 1`, and vectors of signs agree by 0 and more; take a smaller gap"),
        Hypothesis("accuracy", accuracy < B, "else nothing is copied"),
        Hypothesis("eta", eta * F * B**2 <= 2, "a step does not expand"),
        *(Hypothesis(x.name, sp.Gt(x, 0, evaluate=False), "it is positive") for x in POSITIVE),
    ),
    objects=objects.AUTOREGRESSION,
    quantities=(
        _quantity(
            "copy", r"\max_{t, i} \|\hat x_{t-i} - x_{t-i}\|_\infty", "copied lags at every time, 0 before the series",
            derive_copy(), trivial=B,
        ),
        _quantity(
            "state", r"\|\hat R_T - R_T\|_2", "residuals of the examples after `T` loops, of one coordinate",
            derive_state(), norm="2-norm", trivial=sp.sqrt(N) * B, obtained=Provenance.HAND, remark=_BY_HAND,
        ),
        _quantity(
            "x_hat", r"\|\hat x_{N+1} - A_T \Phi_{N+1}\|_\infty", "prediction after `T` loops", derive_prediction(),
            trivial=WORST[Q], obtained=Provenance.HAND, remark=_BY_HAND,
        ),
        *of_all_parts(L + 4, sp.Max(q, 2), _THEOREM),
    ),
    notation={eta: r"\eta", eps: r"\varepsilon", beta: r"\beta", delta: r"\delta", X_hat: r"\hat X"},
    symbols=SYMBOLS,
    assumptions=("`||Phi(u) - Phi(v)||_oo <= ||u - v||_oo` for all `u` and `v`, and `Phi(0) = 0`",),
    formulas=(Formula(r"\delta", lambda: OF_NETWORK[delta], SYMBOLS[delta], defines=delta),),
    remarks=(
        "The display of Theorem 3.2 has `Phi(x_(t+1-q), ..., x_t)` beside `x_t`, while its label `x_(t+1)` is at the "
        "next token and would have to be copied backwards. Lemma A.3 copies `x_(t-1)`, ..., `x_(t-q)` to `x_t`, as "
        "here: a pair is at one token, and `x_(N+1)` is predicted at a token of its own.",
        "`x_t = 0` for `t < 0`, as in the proof of Lemma A.3.",
    ),
)  # fmt: skip
