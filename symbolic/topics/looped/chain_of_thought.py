"""Continuing a chain of states (algoformer, Theorem 3.3): what the filter leaves, and the next state after T loops.

Examples s_i and the last state s of the begun chain are at the step l; their next states are sigma(W s_i), sigma(W s),
sigma leaky ReLU. For a row w of W the loops hold r_i = A_k s_i - w^T s_i of the examples and p = A_k s. Let X be the
matrix of the rows s_i, G = X X^T / N, and s = X^T alpha. Then w^T s = p - alpha^T r; a loop of exact weights keeps it.
"""

from dataclasses import replace
from functools import cache, partial

import sympy as sp

from symbolic.calculus import Norm, add, apply_function, contract, given, linear_map
from symbolic.calculus.head_knobs import HeadPair
from symbolic.calculus.heads import Second
from symbolic.derivations.derivation import Approximated, Derivation
from symbolic.derivations.obligations import Obligation
from symbolic.derivations.provenance import Provenance
from symbolic.statements.result import Hypothesis, Kind, Parameter, Quantifier, Quantity, Result
from symbolic.topics.looped import objects
from symbolic.topics.looped.transformer_counts import of_each_part
from symbolic.words.citations import ALGOFORMER, Citation

N, L, d, T = (sp.Symbol(name, integer=True, positive=True) for name in ("N", "L", "d", "T"))
step = sp.Symbol("step", integer=True, nonnegative=True)
leak, low, high, B, eta, c, C, tau = sp.symbols("leak low high B eta c C tau", positive=True)
R, alpha, kappa, delta, S = sp.symbols("R alpha kappa delta S", positive=True)

KEYS = N * (L + 1) + step + 1  # all tokens but the sink
LONGEST = sp.Max(B, sp.sqrt(N * high))  # of a state: ||s_i||_2 <= ||X||


def pair(unit: sp.Expr, inner: sp.Expr) -> HeadPair:
    """The two heads of a loop, in place of s_i^T s_j / N and s^T s_j / N."""
    size = sp.Max(high, B * sp.sqrt(high / N))
    return HeadPair.of(Second.OPPOSITE, keys=KEYS, size=size, width=d, unit=unit, inner=inner)


# Codes of chains differ in a place at least, so that the own chain's state of step l + 1 leads by 2 tau, and the others
# have a weight of at most n e^(-2 tau) together. The inverse of sigma has slopes of up to 1/leak.
COPIED = 2 * LONGEST * KEYS * sp.exp(-2 * tau) / leak

# delta bounds the error of each weight, and norms of matrices are at most those of their entries.
IN_RESIDUALS = sp.sqrt(N * (N + 1)) * delta
IN_PREDICTION = sp.sqrt(N + 1) * delta
START = R + sp.sqrt(N) * kappa

# ||(r, p)|| <= (1 + ||alpha||) ||r|| + |p - alpha^T r| in every loop. I - eta G does not expand, so that a loop adds at
# most eta IN_RESIDUALS S to ||r||, and DRIFT S to p - alpha^T r, for S the largest ||(r, p)||. At first the latter is
# w^T s but for the copies. So S <= (1 + ||alpha||) START + B + ||alpha|| sqrt(N) kappa + GROWTH S.
DRIFT = eta * (IN_PREDICTION + alpha * IN_RESIDUALS)
GROWTH = T * (eta * (1 + alpha) * IN_RESIDUALS + DRIFT)
LARGEST = ((1 + alpha) * START + B + alpha * sp.sqrt(N) * kappa) / (1 - GROWTH)


# ||X w|| <= ||X||, and alpha = X (X^T X)^(-1) s.
SIZES = {R: sp.sqrt(N * high), alpha: B / sp.sqrt(N * low)}
MADE = {kappa: COPIED, delta: pair(sp.S.One, sp.S.One).truncation(c, C)}  # units do not enter
# At a prompt S is bounded by the R and the ||alpha|| of that prompt, as GROWTH < 1 is decided there.
WORST = {**SIZES, **MADE, S: LARGEST}


@cache
def derive_filter() -> Approximated:
    """r before the loops at each token: -sigma^(-1) of the next state beside an example, 0 elsewhere."""
    return given(
        "filter", dim=d, size=LONGEST / leak, error=kappa, reason="the own chain's next state leads by `2 tau`"
    )


# In the span of X, where r starts, I - eta G contracts by 1 - eta low; beside it, it keeps what is there.
@cache
def derive_next() -> Approximated:
    """The next state against sigma(W s)."""
    inside = _descended("inside", START, eta * IN_RESIDUALS * S)
    copied = sp.sqrt(N) * kappa
    kept = _given("outside", N, Norm.TWO, copied + T * eta * IN_RESIDUALS * S, "a loop keeps it, and adds to it")
    drift = _given("drift", sp.S.One, Norm.INF, alpha * copied + T * DRIFT * S, "what loops add to `p - alpha^T r`")
    owed = Obligation("`T` loops add less to the state than its size", sp.Lt(GROWTH, 1))
    left = _through(add(inside, kept, name="left"), "through alpha")
    before = add(left, drift, name="before sigma")
    return _owing(_after(before, "next"), owed)


@cache
def derive_steps() -> Approximated:
    """T exact steps against sigma(W s)."""
    return _after(_through(_descended("fitted", R, sp.S.Zero), "predicted"), "steps")


def _given(name: str, dim: sp.Expr, norm: Norm, error: sp.Expr, reason: str) -> Approximated:
    return given(name, dim=dim, norm=norm, size=0, error=error, reason=reason)


def _descended(name: str, start: sp.Expr, offset: sp.Expr) -> Approximated:
    residuals = _given(f"start of {name}", N, Norm.TWO, start, "against their limit 0")
    return contract(residuals, name, factor=1 - eta * low, offset=offset, size=0, depth=T)


def _through(residuals: Approximated, name: str) -> Approximated:
    return linear_map(residuals, name, operator_norm=alpha, dim=1, target=Norm.INF, reason="`w^T s = p - alpha^T r`")


def _after(before: Approximated, name: str) -> Approximated:
    return apply_function(before, name, eps=0, lipschitz=1, size=B)


def _owing(value: Approximated, owed: Obligation) -> Approximated:
    *steps, last = value.derivation.steps
    whole = replace(last, obligations=(*last.obligations, owed))
    return replace(value, derivation=Derivation((*steps, whole)))


_DOMAIN = (
    "singular values of `X / sqrt(N)` in `[sqrt(low), sqrt(high)]`, `||s^l||_2 <= B`, `||s||_oo <= B` for "
    "every state `s` of a step other than `l` and `l+1`, rows of `W` in the unit ball"
)
_HAND = "splits `r` by hand into what is in the span of the examples and beside it"
_COUNTS = {"pre": (7, 2), "loop": (1, 2), "post": (1, 1)}  # layers and heads as printed
_THEOREM = Citation(ALGOFORMER, "Theorem 3.3")


_error = partial(
    Quantity,
    norm="sup norm",
    domain=_DOMAIN,
    kind=Kind.UPPER,
    quantifier=Quantifier.FOR_ALL,
    worst_case=WORST,
    obtained=Provenance.HAND,
)

CHAIN_OF_THOUGHT = Result(
    id="looped.chain_of_thought",
    title="Continuing a chain of thought",
    citation=Citation(ALGOFORMER, "Theorem 3.3", "Appendix A.3, eq. (7)"),
    claim=r"\mathrm{TF}(s_1^0, \dots, s_N^L, s^0, \dots, s^l) \approx s^{l+1} = \sigma(W^l s^l)",
    parameters=(
        Parameter("N", N, "number of example chains", 4, integer=True),
        Parameter("L", L, "number of steps of a chain", 3, integer=True),
        Parameter("step", step, "step of the last state of the begun chain", 1, integer=True),
        Parameter("d", d, "dimension of a state", 2, integer=True),
        Parameter("T", T, "number of loops", (4, 32), integer=True),
        Parameter("leak", leak, "slope of `sigma` below 0", 0.1),
        Parameter("low", low, "lower bound on the eigenvalues of `X^T X / N`", 0.25),
        Parameter("high", high, "bound on the eigenvalues of `X^T X / N`", 1.0),
        Parameter("B", B, "bound on `||s^l||_2`, and on the coordinates of states of other steps", 1.0),
        Parameter("eta", eta, "step size (1 / high, if it is not given)", 1.0, in_words="step size"),
        Parameter("c", c, "scale of the scores (from `N`, `L`, step, `d`, high, `B` and the format)", 2.0**-12,
            in_words="scale of the scores"),
        Parameter("C", C, "score of the sink (likewise)", 32.0, in_words="score of the sink"),
        Parameter("tau", tau, "inverse temperature of the filter", 24.0),
    ),
    hypotheses=(
        Hypothesis("N", sp.Ge(N, 2, evaluate=False), "two example chains at least"),
        Hypothesis("step", sp.Ge(step, 0, evaluate=False), "a step"),
        Hypothesis("step", step < L, "the examples have a next state"),
        Hypothesis("d", sp.Ge(d, 1, evaluate=False), "a dimension"),
        Hypothesis("d", sp.Le(d, N, evaluate=False), "the examples span the states"),
        Hypothesis("T", sp.Ge(T, 1, evaluate=False), "a loop"),
        Hypothesis("leak", sp.Gt(leak, 0, evaluate=False), "a leaky slope of 0 has no inverse"),
        Hypothesis("leak", sp.Le(leak, 1, evaluate=False), "`sigma` does not expand"),
        *(Hypothesis(x.name, sp.Gt(x, 0, evaluate=False), "it is positive") for x in (low, B, eta, c, C)),
        Hypothesis("low", sp.Le(low, high, evaluate=False), "eigenvalues"),
        Hypothesis("eta", sp.Le(eta, 1 / high, evaluate=False), "gradient descent contracts by `1 - eta` low"),
        Hypothesis("tau", sp.Ge(tau, 2, evaluate=False), "the last token gets three quarters of the weight"),
    ),
    objects=objects.CHAIN_OF_THOUGHT,
    quantities=(
        _error("next", r"\|\hat s^{l+1} - \sigma(W s^l)\|_\infty", "next state against the true one",
               derivation=derive_next().derivation, remark=_HAND, trivial=2 * B),
        _error("steps", r"\|\sigma(A_T s^l) - \sigma(W s^l)\|_\infty", "next state by `T` exact steps of gradient "
               "descent against the true one", derivation=derive_steps().derivation, remark=_HAND, trivial=2 * B),
        _error("filter", r"\max_j \|\hat r_j - r_j\|_\infty", "residuals before the loops, at all tokens",
               derivation=derive_filter().derivation, scopes=("network",)),
        *of_each_part(_COUNTS, lambda part: _THEOREM),
    ),
    notation={leak: r"\lambda", low: r"\lambda_{\min}", high: r"\lambda_{\max}", eta: r"\eta", tau: r"\tau",
              alpha: r"\|\alpha\|", step: "l",
              kappa: r"\kappa", delta: r"\delta"},
    symbols={
        R: "largest 2-norm of `w^T s_i` over the examples, over the rows `w` of `W`",
        alpha: "least 2-norm of coefficients with which the examples add up to `s^l`",
        kappa: "error of a residual behind the filter",
        delta: "error of a weight of both heads, over `c`",
        S: "2-norm of residuals and prediction in any loop",
    },
    remarks=(
        "States of all other steps are arbitrary here, within `B`: the filter has to clear them, whatever they are.",
        "The paper cites the filter from Li et al. 2023, with seven layers of two heads. Where each token has one-hot "
        "codes of its step and of the step before, and a code of its chain, two layers of one head are enough.",
        "Lemma A.2 needs a sink, which (7) does not have: the first token of the prompt.",
        "The proof takes `s_i^l = W^l s_i^(l-1)` without loss of generality: here the inverse of `sigma`, and "
        "`sigma` at the end, are layers.",
    ),
)  # fmt: skip
