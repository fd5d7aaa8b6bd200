"""Induction heads (wang2024): what Theorem 4.1 claims about the two-layer, one-head network, and why.

The network computes y_s = sum over t < s of softmax(-p (s-1-t)) x_t in its first layer, and averages x_s under
softmax(x_L^T W* y_s) in its second; the target IH_2 has x_{s-1} in the place of y_s. Tokens lie in [-1, 1]^d.
"""

from dataclasses import replace
from typing import Any

import sympy as sp

from symbolic.calculus import attend, concentrate, exclude, linear_map, softmax
from symbolic.derivations.derivation import Approximated, Derivation, given
from symbolic.statements.errata import Erratum, Weight
from symbolic.statements.result import Hypothesis, Kind, Parameter, Printed, Quantifier, Quantity, Result
from symbolic.topics.induction import objects
from symbolic.words.citations import WANG2024, Citation

p = sp.Symbol("p", positive=True)
L = sp.Symbol("L", integer=True, positive=True)
d = sp.Symbol("d", integer=True, positive=True)
W_norm = sp.Symbol("W_norm", nonnegative=True)  # ||W*||_{1,1}
W_frobenius = sp.Symbol("W_frobenius", nonnegative=True)  # ||W*||_F
gate = sp.Symbol("gate", nonnegative=True)
leak = sp.Symbol("leak", positive=True)
# Bounded by the hypotheses, known better at an instance:
omega, diameter, radius = sp.symbols("omega delta rho", nonnegative=True)

NOTATION = {W_norm: r"\|W^\star\|_{1,1}", W_frobenius: r"\|W^\star\|_F", leak: r"\lambda", gate: r"\gamma"}
SYMBOLS = {
    W_norm: "sum of the absolute values of the entries of `W*`",
    omega: "largest 1-norm of `W*^T x_L` over the allowed last tokens (all inputs, or one prompt)",
    diameter: "largest sup-norm distance of two context tokens",
    radius: "sup-norm distance of the values `x_2 .. x_{L-1}` from a common centre",
    gate: "lead in score of the keys `s >= 2` over key 1",
    leak: "the gate of layer 2 may increase the error by at most `leak * 2 W_norm e^-p`",
}

# On tokens in [-1, 1]^d: ||W*^T x_L||_1 <= ||W*||_{1,1}.
WORST_CASE = {omega: W_norm, diameter: sp.Integer(2), radius: sp.Integer(1)}


def derive_output() -> Approximated:
    """The chain of A.1: kernel -> y -> scores -> attention -> output."""
    # The s-th query sees s - 1 <= L - 2 keys at distances 1, 2, ..., so its weights lag by p, 2p, ... behind the first.
    words = "weights of layer 1 against the unit vector of `s-1`"
    kernel = concentrate("kernel", count=L - 2, slope=p, reason=words, scores="lags")
    # y_s - x_{s-1} = sum_t weight_t (x_t - x_{s-1}): tokens count with half their diameter around a centre.
    context = given("context", dim=d, size=1, radius=diameter / 2, reason="the tokens `x_1 .. x_{L-2}`, exact")
    y = attend(kernel, context, "y", reason="`y_s` against `x_{s-1}`: averages of the same tokens")
    # x_L^T W* (y_s - x_{s-1}) is at most ||W*^T x_L||_1 times the sup norm of the difference.
    words = "Hoelder with `||W*^T x_L||_1 <= omega`"
    scores = linear_map(y, "scores", operator_norm=omega, dim=L - 2, reason=words, matrix="query")
    attention = softmax(scores, "attention")
    values = given("values", dim=d, size=1, radius=radius, reason="the tokens `x_2 .. x_{L-1}`, exact")
    return attend(attention, values, "output", reason="averages of the same values under weights that differ")


def derive_with_first_key() -> Derivation:
    """The same when key s = 1 is seen too: its y_1 = 0 scores 0, all others at least gate - omega.

    (y_s is an average of tokens, so |x_L^T W* y_s| <= omega; the gate is 0 with the mask (3) taken literally.)
    """
    # x_1 against an average of the values: at most the diameter of the cube.
    return exclude(derive_output(), "output+key1", count=L - 2, lead=gate - omega, diameter=2).derivation


# The gated construction shifts the scores of the keys s >= 2 by the gate. Its leak is largest at L = 3, at most
# 2 exp(||W*||_{1,1} - gate) there, and the main part is at most 2 ||W*||_{1,1} e^-p, so this gate keeps the leak below
# the share `leak` of that, at every length.
GATE = p + W_norm - sp.log(leak * W_norm)

_A1 = Citation(WANG2024, "Theorem A.1", "proof")
_CHAIN = Citation(WANG2024, "Theorem A.1", "read off the chain of the proof")
_KERNEL_PRINTED = sp.exp(-p) / (1 - sp.exp(-p))
_DOMAIN = "tokens in `[-1, 1]^d`, `L >= 3`"

FIRST_KEY = Erratum(
    Weight.NOTATION,
    Citation(WANG2024, "Theorem A.1", "proof, mask (3)"),
    sentence="the mask (3), read literally in layer 2, also shows key `s = 1` to the last query, while A.1 sums over "
    "`s = 2 .. L-1`",
    reading="key 1 has `y_1 = 0` and a weight of order `1/L` that does not vanish as `p` grows; for every `y_1`, "
    "the prompt `x_L = 0`, `x_1 = 1`, `x_2 = ... = -1` gives an error of `2/(L-1)`; nothing fails if the "
    "sum over `s = 2 .. L-1`, as in A.1, defines the mask of layer 2",
    repair="key 1 masked in layer 2, which gives an error of at most `2 ||W*||_{1,1} e^-p` for tokens in `[-1, 1]^d`, "
    "`p > 0` and `L >= 3`",
    survives="yes: with key 1 masked in layer 2; whether another network with mask (3) and `D = 2d` meets the bound is "
    "open",
)


def _quantities() -> tuple[Quantity, ...]:
    chain, leaking = derive_output().derivation, derive_with_first_key()
    network, two = ("network",), sp.Integer(2)

    def step(name: str, latex: str, meaning: str, norm: str, printed: sp.Expr, trivial: sp.Expr = two) -> Quantity:
        citation, scopes = (_A1, (*network, "prompt")) if name == "output" else (_CHAIN, network)
        claim = Printed(printed, citation)
        return Quantity(
            name, latex, meaning, norm, _DOMAIN, Kind.UPPER, Quantifier.FOR_ALL, chain, name, WORST_CASE, claim,
            construction="masked", scopes=scopes, trivial=trivial,
        )  # fmt: skip

    def variant(name: str, words: str, opening: sp.Expr, meaning: str, **more: Any) -> Quantity:
        latex = rf"\|\mathrm{{TF}}^{{\text{{{words}}}}}_{{-1}} - \mathrm{{IH}}_2\|_\infty"
        return replace(
            output, name=f"output.{name}", latex_symbol=latex, meaning=meaning, derivation=leaking, step="output+key1",
            worst_case={**WORST_CASE, gate: opening}, construction=name, scopes=network, **more,
        )  # fmt: skip

    output = step(
        "output", r"\|\mathrm{TF}_{-1} - \mathrm{IH}_2\|_\infty",
        "error of the last output token against `IH_2`, key 1 masked in layer 2", "sup norm",
        4 * W_norm * _KERNEL_PRINTED,
    )  # fmt: skip
    weights = r"\|\mathrm{softmax}_s(x_L^\top W^\star y_s) - \mathrm{softmax}_s(x_L^\top W^\star x_{s-1})\|_1"
    largest = r"\sup_s |x_L^\top W^\star (y_s - x_{s-1})|"
    return (
        step(
            "y", r"\sup_s \|y_s - x_{s-1}\|_\infty", "largest error of layer 1 against the previous token",
            "sup norm, sup over `s`", 2 * _KERNEL_PRINTED,
        ),
        step(
            "scores", largest, "largest error of the scores of layer 2", "sup norm over `s`",
            2 * W_norm * _KERNEL_PRINTED, 2 * W_norm,
        ),
        step("attention", weights, "error of the attention weights of layer 2", "1-norm", 4 * W_norm * _KERNEL_PRINTED),
        output,
        variant(
            "mask_3", "mask (3)", sp.Integer(0),
            "error of the last output token against `IH_2`, mask (3) taken literally in layer 2", erratum=FIRST_KEY,
        ),
        variant(
            "gated", "gated", GATE,
            "error of the last output token against `IH_2`, mask (3) kept, and a gate in layer 2 that adds `p + "
            "||W*||_{1,1} - log(leak ||W*||_{1,1})` to the scores of the keys `s >= 2`, a mask for `W* = 0` (one more "
            "coordinate, `D = 2d + 1`, and a larger `W_K`)",
            remark=
                "layer 1 computes an indicator of `s >= 2`, by which layer 2 adds a gate to these scores; the "
                "network is outside the printed class, `D = 2d` and `||W_K|| = O(1, ||W*||_F)`, since `W_K` has the "
                "entry `gate/2`, about `p/2` (for `W* = 0` the gate is infinite: a mask)",
        ),
        Quantity(
            "weights", r"\max(\|W_K^{(2,1)}\|, \|W_Q^{(2,1)}\|)", "larger parameter norm of `W_K` and `W_Q` of layer 2",
            "spectral norm", "the construction", Kind.UPPER, Quantifier.EXISTS,
            printed=Printed(sp.Max(1, W_frobenius), Citation(WANG2024, "Theorem 4.1")), construction="masked",
            scopes=(), remark="printed as `O(1, ||W*||_F)`; the constant is taken to be 1",
        ),
        Quantity(
            "output.rate",
            r"\liminf_{p \to \infty} -\frac{1}{p} \log \sup_X \|\mathrm{TF}_{-1} - \mathrm{IH}_2\|_\infty",
            "rate `a` of the decay `e^(-a p)` of the largest error of the last output token, as `p` grows; "
            "`+oo` without an error", "sup norm",
            _DOMAIN, Kind.RATE, Quantifier.FOR_ALL,
            printed=Printed(sp.Integer(1), Citation(WANG2024, "Theorem 4.1"), relation=Kind.LOWER),
            construction="masked", scopes=(), indices=(sp.Ge(L, 4, evaluate=False),),  # at L = 3 nothing errs
            rate_in="p", remark="printed as `C e^-p` with one `C` for all lengths: slope -1 of the log error in `p`",
        ),
    )  # fmt: skip


VANILLA = Result(
    id="induction.vanilla",
    title="Vanilla induction heads by a two-layer, one-head transformer",
    citation=Citation(WANG2024, "Theorem 4.1", "Theorem A.1, Lemma D.1"),
    claim=r"\sup_L \sup_{X \in [-1,1]^{d \times L}} \|\mathrm{IH}_2(X) - \mathrm{TF}_{-1}(X)\|_\infty \le C e^{-p}",
    parameters=(
        Parameter("p", p, "slope of the relative position bias of layer 1", (1, 2, 4, 8)),
        Parameter("L", L, "number of tokens", (8, 64), integer=True),
        Parameter(
            "d",
            d,
            "coordinates of a token (from `W_star` if that is a matrix)",
            4,
            integer=True,
            in_words="number of coordinates of a token",
        ),
        Parameter(
            "W_star",
            None,
            "similarity `W*`, `d x d`: a number `w` for `w` I, a JSON matrix, @FILE with one, or random:NORM / "
            "signs:NORM (seeded, sum of absolute values NORM)",
            0.25,
        ),
        Parameter(
            "leak",
            leak,
            "largest increase of the error by the gate of output.gated, in units of `2 ||W*||_{1,1} e^-p`",
            0.01,
            in_words="largest increase of the error by the gate, in units of `2 ||W*||_{1,1} e^-p`",
        ),
    ),
    hypotheses=(
        Hypothesis("p", sp.Gt(p, 0, evaluate=False), "the bias has to fall off"),
        Hypothesis("L", sp.Ge(L, 3, evaluate=False), "`IH_2` is an empty sum below"),
        Hypothesis("d", sp.Ge(d, 1, evaluate=False), "tokens need a coordinate"),
        Hypothesis(
            "leak", sp.Gt(leak, 0, evaluate=False), "the gate grows without bound as it vanishes", ("output.gated",)
        ),
        Hypothesis("leak", sp.Le(leak, 1, evaluate=False), "it is a share", ("output.gated",)),
    ),
    objects=objects.VANILLA,
    quantities=_quantities(),
    notation=NOTATION,
    symbols=SYMBOLS,
    remarks=(
        "A.1 ends in `4 ||W*||_{1,1} e^-p / (1 - e^-p) = O(e^-p)`, for `p` bounded away from 0; the derived bound is "
        "at most `2 ||W*||_{1,1} e^-p` for every `p > 0` and `L >= 3`.",
        "The `<` of A.1 is read as the `<=` of Theorem 4.1: both sides are 0 at `W* = 0`.",
        "The paper names no domain for the tokens; two steps of A.1 need tokens in `[-1, 1]^d` (or a smaller cube).",
    ),
)
