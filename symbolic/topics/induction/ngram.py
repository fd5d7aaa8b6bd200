"""Induction heads over n-grams (wang2024): what Theorem 4.3 claims about two layers, H heads in the first, and why.

Layer 1 writes the tokens at the lags 1 .. n-1 beside each token, as sums of what H heads average; layer 2 averages x_s
under softmax of q^T W* k_s, q = (x_L, ..., x_{L-n+2}), k_s = (x_{s-1}, ..., x_{s-n+1}). Tokens lie in [-1, 1]^d.
"""

from functools import partial

import sympy as sp

from symbolic.calculus import attend, bilinear, given, linear_map, softmax
from symbolic.calculus import exponential_sums as sums
from symbolic.derivations.derivation import Approximated, Norm
from symbolic.derivations.provenance import Provenance
from symbolic.statements.errata import Erratum, Weight
from symbolic.statements.result import Hypothesis, Kind, Parameter, Printed, Quantifier, Quantity, Result
from symbolic.topics.induction import objects
from symbolic.words.citations import WANG2024, Citation

n, H, L, d = sp.symbols("n H L d", integer=True, positive=True)
rho, bits = sp.Symbol("rho", nonnegative=True), sp.Symbol("bits", integer=True, positive=True)
W_norm = sp.Symbol("W_norm", nonnegative=True)  # ||W*||_{1,1}
eta, eta_q, nu = sp.symbols("eta eta_q nu", nonnegative=True)
# Bounded by the hypotheses, known better at an instance:
omega, radius = sp.symbols("omega r", nonnegative=True)

NOTATION = {W_norm: r"\|W^\star\|_{1,1}", eta_q: r"\eta_q"}
SYMBOLS = {
    W_norm: "sum of the absolute values of the entries of `W*`",
    omega: "largest 1-norm of `W*^T q` over all `q` with entries in `[-1, 1]`",
    radius: "sup-norm distance of the values `x_n .. x_{L-1}` from a common centre",
    eta: "the largest over the lags `i = 1 .. n-1` of `sum_{k=H-i+1}^H (-1)^(k-H+i-1) e_k / prod_h (1 - r_h)`, "
    "with `e_k` the elementary symmetric polynomials of the rates",
    eta_q: "the same over the lags `i = 1 .. n-2`, `0` for `n = 2`",
    nu: "`eta` plus the largest over the lags `i` of `sum_h |c_{h,i}|/(1 - r_h) |(1 - r_h^(H+1))/r_h - 1|`, where the "
    "last factor is what the printed value weight adds to that of the head, relatively",
}
WORST_CASE = {omega: W_norm, radius: sp.Integer(1)}  # on tokens in [-1, 1]^d
SIZE, PRINTED = (n - 1) * d, " as printed"
LEAST_ERROR = sums.LEAST_ERROR.subs({sums.H: H, sums.i: n - 1, sums.unit: 2**-bits})
INDISTINCT = sp.tanh(W_norm / SIZE) / ((n - 1) * 2 ** (n - 2) + 1)  # ||W*||_{1,1} = |w| (n-1) d for W* = w I


# The token at lag i is sum_t [t = i] x_{s-t}, and layer 1 has other weights there, at a distance in the 1-norm of
# exactly eta_i at every s > i (symbolic/calculus/exponential_sums.py). Hoelder: the error is at most eta_i ||x||_inf,
# with equality for tokens that are all the same.
def derive_output(of_keys: sp.Expr = eta, of_query: sp.Expr = eta_q, network: str = "") -> Approximated:
    """The chain of A.2: keys and query -> scores -> attention -> output."""
    words = f"the weights of layer 1 have the distance `{of_keys}` in the 1-norm from the indicators of the lags, and "
    words += "tokens are in `[-1, 1]^d`"
    keys = given(f"keys{network}", dim=SIZE, size=1, error=of_keys, reason=words)
    words = "the same for the lags below `n-1`; `x_L` is exact"
    query = given(f"query{network}", dim=SIZE, size=1, error=of_query, reason=words)
    # W*^T q in the 1-norm: the dual norm of the keys.
    matrix = f"similarity{network}"
    images = linear_map(query, f"images{network}", operator_norm=omega, dim=SIZE, target=Norm.ONE, matrix=matrix)
    words = "Hoelder: the 1-norm of `W*^T q` with the sup norm of a key"
    pairs = "inner products of all pairs"
    scores = bilinear(images, keys, f"scores{network}", norm=Norm.INF, dim=L - n, reason=words, product=pairs)
    attention = softmax(scores, f"attention{network}")
    words = "the tokens `x_n .. x_{L-1}`, exact"
    values = given(f"values{network}", dim=d, size=1, radius=radius, reason=words)
    words = "averages of the same values under weights that differ"
    return attend(attention, values, f"output{network}", reason=words)


_A2 = Citation(WANG2024, "Theorem A.2", "proof")
_DOMAIN = "tokens in `[-1, 1]^d`, `L > n`, at least `n-1` heads"

NORMALISER = Erratum(
    Weight.DEFINITION,
    Citation(WANG2024, "Theorem A.2", "proof, value weights of layer 1"),
    sentence="a head of layer 1 has the value weight `alpha_{h,i} sum_{j=0}^{H_i} e^(-beta_{h,i} (j-1))`, so that the "
    "heads of lag `i` add up to `sum_h alpha_{h,i} sum_{s=1}^{L-1} e^(-beta_{h,i} (s-1)) x_{L-s}`",
    reading="the sum that softmax divides by has `L - 1` terms from `1` on, and the printed one `H_i + 1` terms from "
    "`e^(beta_{h,i})` on; for long prompts the head has `(1 - r^(H_i+1))/r` times its weights, "
    "`r = e^(-beta_{h,i})`, which is 1 for one `r` alone; a slip of the index: with `j` from 1 on it is "
    "`1 - r^(H_i)`, which at most doubles the distance from the indicator for `H_i >= i`",
    repair="`j` from 1 on; or `1/(1 - r)` in the place of the sum: then the distance from the indicator is at most "
    "that of Lemma D.2 at every token that has the lag, for prompts of all lengths",
    survives="yes: with the value weight `alpha_{h,i}/(1 - e^(-beta_{h,i}))`, and layer 2 masked below `n`",
)


_own = partial(Quantity, quantifier=Quantifier.FOR_ALL, scopes=(), obtained=Provenance.HAND)


def _quantities() -> tuple[Quantity, ...]:
    chain, network, two = derive_output().derivation, ("network",), sp.Integer(2)

    def step(name: str, latex: str, meaning: str, norm: str, printed: sp.Expr | None, trivial: sp.Expr) -> Quantity:
        claim = None if printed is None else Printed(printed, _A2)
        scopes = (*network, "prompt") if name == "output" else network
        return Quantity(
            name, latex, meaning, norm, _DOMAIN, Kind.UPPER, Quantifier.FOR_ALL, chain, name, WORST_CASE, claim,
            scopes=scopes, trivial=trivial,
        )  # fmt: skip

    weights = r"\|\mathrm{softmax}_s(\hat q^\top W^\star \hat k_s) - \mathrm{softmax}_s(q^\top W^\star k_s)\|_1"
    return (
        step(
            "keys", r"\sup_s \|\hat k_s - k_s\|_\infty", "largest error of layer 1 against the tokens at the lags",
            "sup norm, sup over `s = n .. L-1`", None, two,
        ),
        step(
            "scores", r"\sup_s |\hat q^\top W^\star \hat k_s - q^\top W^\star k_s|", "largest error of the scores of "
            "layer 2", "sup norm over `s`", None, 2 * W_norm,
        ),
        step("attention", weights, "error of the attention weights of layer 2", "1-norm", 2 * W_norm * eta, two),
        step(
            "output", r"\|\mathrm{TF}_{-1} - \mathrm{IH}_n\|_\infty", "error of the last output token against `IH_n`",
            "sup norm", 2 * W_norm * eta, two,
        ),
        _own(
            "lower_bound", r"\sup_s |\mathrm{score}_s - q^\top W^\star k_s|", "largest error of a score where layer 1 "
            "has `n-2` heads, at prompts whose patch its weights hide", "sup norm over `s`",
            "two layers, `n-2` heads in the first whose weights depend on positions alone, any values and residual, "
            "any bilinear scores in the second",
            Kind.LOWER, indices=(sp.Ge(n, 3, evaluate=False), sp.Ge(L, 2 * n - 1, evaluate=False)),
            remark="the least singular value of `W*`, 1 for `W* = I` (softmax ignores what all scores have in common: "
            "up to that half of it is left, for `L >= 3n - 1`)",
        ),
        _own(
            "output.lower_bound", r"\sup_L \sup_X \|\mathrm{TF}_{-1} - \mathrm{IH}_n\|_\infty", "largest error of the "
            "output where layer 1 has `n-2` heads, at two prompts that it does not tell apart",
            "sup norm, sup over `L`",
            "two layers and `W*` a multiple of the identity: `n-2` heads in the first whose weights are those of "
            "slopes, any values and residual, any continuous functions of one token after each layer, any number of "
            "heads in the second",
            Kind.LOWER, derive=INDISTINCT, indices=(sp.Ge(n, 3, evaluate=False), sp.Ge(d, 2, evaluate=False)),
        ),
        _own(
            "grams", r"\sup |\hat x_{L-1} - x_{L-1}|", "largest error of the 3-gram target `x_{L-1}` of Remark 5.1, as "
            "layer 1 writes it", "absolute value", _DOMAIN, Kind.UPPER,
            remark="the residual has the 2-gram target `x_L`; the 4-gram target `x_{L-2}`, at lag 2, is missed by "
            f"{sums.LEAST_DISTANCE} at least in a layer of one head, as in section 5, for long prompts (what is learnt "
            "first is not judged here)",
        ),
        _own(
            "precision", r"\sup |\hat x_{s-n+1} - x_{s-n+1}|",
            "largest error of layer 1 at lag `n-1`, where averages of heads are off by `2^-bits` at most",
            "absolute value", f"{_DOMAIN}, whose weights are exact at the lags `1 .. H`, any rates",
            Kind.LOWER, derive=LEAST_ERROR,
            remark="for fixed `H` an accuracy costs bits: up to a constant, `H/(H-n+2)` times its own at least",
        ),
        _own(
            "format", r"\sup_s \|\mathrm{fl}(\hat k_s) - k_s\|_\infty", "largest error of layer 1 against the tokens "
            "at the lags, in the numbers of the run; the bound is to first order in their unit",
            "sup norm, sup over `s = n .. L-1`", _DOMAIN, Kind.UPPER,
            remark="`eta` plus what rounding adds to recursions, to first order in the unit of the format this times "
            f"the sum over the heads of `{sp.sstr(sums.LOSS)}`, with `r` the rate of a head and `c` its weight "
            "`c_{h,i}/(1 - r_h)`: more heads have smaller coefficients, no rates have neither error",
        ),
        Quantity(
            "output.printed", r"\|\mathrm{TF}^{\text{printed}}_{-1} - \mathrm{IH}_n\|_\infty", "error of the last "
            "output token against `IH_n`, with the printed value weights in layer 1", "sup norm", _DOMAIN, Kind.UPPER,
            Quantifier.FOR_ALL, derive_output(nu, nu, PRINTED).derivation, f"output{PRINTED}", WORST_CASE,
            Printed(2 * W_norm * eta, _A2), construction="printed", scopes=network, trivial=two, erratum=NORMALISER,
        ),
    )  # fmt: skip


NGRAM = Result(
    id="induction.ngram",
    title="Induction heads over n-grams by a two-layer transformer with H heads in the first layer",
    citation=Citation(WANG2024, "Theorem 4.3", "Theorem A.2, Lemma D.2"),
    claim=r"\sup_L \sup_{X \in [-1,1]^{d \times L}} \|\mathrm{IH}_n(X) - \mathrm{TF}_{-1}(X)\|_\infty \le "
    r"C_{q,n} H^{-q}",
    parameters=(
        Parameter("n", n, "`n-1` tokens are compared", 3, integer=True),
        Parameter("H", H, "number of heads of layer 1", (2, 4), integer=True),
        Parameter("L", L, "number of tokens", 64, integer=True),
        Parameter("d", d, "coordinates of a token (from `W_star` if that is a matrix)", 3, integer=True,
                  in_words="number of coordinates of a token"),
        Parameter("rho", rho, "largest rate of a head; 0: the best one for the bits of the format", 0.0,
                  in_words="largest of the rates `r_h` of the heads"),
        Parameter("bits", bits, "bits of the format for which `rho` is chosen", 53, integer=True, setting=True),
        Parameter("W_star", None, "similarity `W*`, square, of size `(n-1) d`: a number `w` for `w` I, a JSON matrix, "
                  "@FILE with one, or random:NORM / signs:NORM (seeded, sum of absolute values NORM)", 0.25),
    ),
    hypotheses=(
        Hypothesis("n", sp.Ge(n, 2, evaluate=False), "a key has a token"),
        Hypothesis("H", sp.Ge(H, n - 1, evaluate=False), sums.FEW_HEADS),
        Hypothesis("L", sp.Ge(L - n, 1, evaluate=False), "`IH_n` is an empty sum below"),
        Hypothesis("d", sp.Ge(SIZE, 1, evaluate=False), "a key has a coordinate"),
        Hypothesis("bits", sp.Ge(bits, 2, evaluate=False), "a format"),
        Hypothesis("rho", sp.Lt(rho, 1, evaluate=False), "rates are those of a softmax"),
        Hypothesis("rho", sp.Gt(rho, 0, evaluate=False), "rates are those of a softmax, and differ"),
    ),
    objects=objects.NGRAM,
    quantities=_quantities(),
    notation=NOTATION,
    symbols=SYMBOLS,
    remarks=(
        "The rate of Theorem 4.3 in `H` has a constant without a value, and says less than what holds: fewer than "
        "`n-1` heads that see positions alone have the lower bounds, and `n-1` heads reach every accuracy as `rho` "
        "tends to 0, in exact arithmetic. What an accuracy costs is the size of the coefficients, that is bits of what "
        "layer 1 averages: about `rho^-(n-2)`.",
        "Layer 2 as printed also attends to the keys `s < n`, which `IH_n` leaves out: at short prompts it errs for "
        "every `H`. Here these keys are masked.",
        "One family of heads serves all lags; A.2 has heads of their own for each lag.",
        "A.2 counts the errors of the keys in `2 ||W*||_{1,1} eps` and not those of the query; the bound holds all the "
        "same where `eta_q (1 + eta) <= eta`, since softmax moves by half of what Lemma D.1 says.",
        "The paper names no domain for the tokens; A.2 needs tokens in `[-1, 1]^d` (or a smaller cube).",
    ),
)  # fmt: skip
