"""Theorem 4.1 of wang2024, the induction head IH_2 by a two-layer, one-head transformer, as an expression.

The network computes y_s = sum over t < s of softmax(-p (s-1-t)) x_t in its first layer, and averages x_s under
softmax(x_L^T W* y_s) in its second; the target IH_2 has x_{s-1} in the place of y_s. Tokens lie in [-1, 1]^d.
"""

import math
from typing import Any

import flint
import sympy as sp
import torch

from bridge.expressions.attention import attend, softmax
from bridge.expressions.embeddings import embedding
from bridge.expressions.inputs import tokens
from bridge.expressions.matrices import matrix
from bridge.expressions.recency import recent
from bridge.limits.cost import EXPONENTIAL, NUMBER, PRODUCT, Cost, Count, Work
from bridge.lowering.ball_values import evaluate_ball
from bridge.theorems.building import theorem
from bridge.theorems.check import Check, Sides
from bridge.theorems.parts import InputSearch, Knobs
from bridge.theorems.sources.byte_signs import recalled_bytes
from bridge.theorems.theorem import Theorem
from bridge.theorems.transformer import Transformer
from bridge.theorems.wording import OwnWords
from numeric.balls import ball_maximum, float_above
from numeric.networks.norms import infinity_to_one_norm, spectral_norm
from numeric.topics.induction import vanilla as networks
from symbolic.statements.errata import Erratum, Weight
from symbolic.statements.result import Hypothesis, Kind, Printed, Quantifier, Quantity
from symbolic.topics.induction import objects
from symbolic.words.citations import WANG2024, Citation

p, leak = sp.symbols("p leak", positive=True)
L, d = sp.symbols("L d", integer=True, positive=True)
W_norm, W_frobenius, omega, gate = sp.symbols("W_norm W_frobenius omega gate", nonnegative=True)

# The gate shifts the scores of the keys s >= 2. The leak of key 1 is largest at L = 3, at most 2 exp(||W*||_{1,1} -
# gate) there, and the main part is at most 2 ||W*||_{1,1} e^-p, so that this gate keeps the leak below the share `leak`
# of that, at every length.
GATE = p + W_norm - sp.log(leak * W_norm)
WIDEST_SEARCHED = 256  # coordinates: the exact norms of a d x d matrix take a tenth of a second there
W_STAR = 0.25

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


def opening(W_star: Any, p: float, leak: float) -> float:
    """The gate that keeps the leak in its share, rounded up; infinite (a mask) for W* = 0."""
    if not W_star.any():
        return math.inf
    norm = sum((abs(flint.arb(w)) for w in W_star.flatten().tolist()), start=flint.arb(0))
    numbers = {"p": p, "leak": leak, "W_norm": norm}
    return float_above(evaluate_ball(GATE, {letter: numbers[letter.name] for letter in GATE.free_symbols}))


def from_sup_to_one(W_star: Any) -> Any:
    """The norm of W*^T from sup to 1-norm, enclosed, is never above the paper's ||W*||_{1,1}."""
    norm = infinity_to_one_norm(W_star.midpoint()).upper
    return W_star.abs().sum().minimum(torch.tensor(norm, dtype=torch.float64, device=W_star.device))


def parameter_norms(p: float, W_star: Any) -> Sides:
    head = networks.vanilla(p, W_star).head(2, "match")
    norms = [spectral_norm(weights.dense()) for weights in (head.query, head.key) if weights is not None]
    return Sides(
        found=ball_maximum([flint.arb(norm.lower).union(flint.arb(norm.upper)) for norm in norms]), rounding=0.0
    )


def work(L: Count, d: Count) -> Work:
    norms = Cost(6 * NUMBER * d**2, 100 * PRODUCT * d**3)
    return Work(numbers=10 * L * (2 * d + 1), products=EXPONENTIAL * L * d, exact=L * d, before=norms)


DOMAIN = "tokens in `[-1, 1]^d`, `L >= 3`"
ERROR = "error of the last output token against `IH_2`"
READS = {
    "y": (
        r"\sup_s \|y_s - x_{s-1}\|_\infty", "largest error of layer 1 against the previous token",
        "sup norm, sup over `s`",
    ),
    "scores": (
        r"\sup_s |x_L^\top W^\star (y_s - x_{s-1})|", "largest error of the scores of layer 2", "sup norm over `s`",
    ),
    "attention": (
        r"\|\mathrm{softmax}_s(x_L^\top W^\star y_s) - \mathrm{softmax}_s(x_L^\top W^\star x_{s-1})\|_1",
        "error of the attention weights of layer 2", "1-norm",
    ),
    "output": (r"\|\mathrm{TF}_{-1} - \mathrm{IH}_2\|_\infty", f"{ERROR}, key 1 masked in layer 2", "sup norm"),
    "output.mask_3": (
        r"\|\mathrm{TF}^{\text{mask (3)}}_{-1} - \mathrm{IH}_2\|_\infty",
        f"{ERROR}, mask (3) taken literally in layer 2", "sup norm",
    ),
    "output.gated": (
        r"\|\mathrm{TF}^{\text{gated}}_{-1} - \mathrm{IH}_2\|_\infty",
        f"{ERROR}, mask (3) kept, and a gate in layer 2 that adds `p + ||W*||_{{1,1}} - log(leak ||W*||_{{1,1}})` to "
        "the scores of the keys `s >= 2`, a mask for `W* = 0` (one more coordinate, `D = 2d + 1`, and a larger `W_K`)",
        "sup norm",
    ),
}  # fmt: skip
GATED = (
    "layer 1 computes an indicator of `s >= 2`, by which layer 2 adds a gate to these scores; the network is outside "
    "the printed class, `D = 2d` and `||W_K|| = O(1, ||W*||_F)`, since `W_K` has the entry `gate/2`, about `p/2` (for "
    "`W* = 0` the gate is infinite: a mask)"
)


def _wording() -> OwnWords:
    words, same = ("latex_symbol", "meaning", "norm"), {"domain": DOMAIN, "domain_latex": "", "construction": "masked"}
    quantities = {name: {**dict(zip(words, read, strict=True)), **same} for name, read in READS.items()}
    quantities["output.mask_3"] |= {"construction": "mask_3"}
    quantities["output.gated"] |= {"construction": "gated", "remark": GATED}
    return OwnWords(
        quantities=quantities,
        parameters={
            "d": {"in_words": "number of coordinates of a token"},
            "leak": {"in_words": "largest increase of the error by the gate, in units of `2 ||W*||_{1,1} e^-p`"},
        },
        objects=objects.VANILLA,
        notation={W_norm: r"\|W^\star\|_{1,1}", W_frobenius: r"\|W^\star\|_F", leak: r"\lambda", gate: r"\gamma"},
    )


def _stated() -> Theorem:
    x, W = tokens("x", L, d, size=1), matrix("W_star", d, d, total=omega, typed=W_STAR, meaning="similarity `W*`")
    y = recent(x[:-2], slope=p).named("y")
    scores = (y @ embedding(W, x[-1])).named("scores")  # W*^T x_L
    attention = softmax(scores).named("attention")
    output = attend(attention, x[1:-1]).named("output")
    # Key 1 has y_1 = 0, which scores 0.
    seen, gated = output.with_sink(x[0]).named("output.mask_3"), output.with_sink(x[0], lead=gate).named("output.gated")
    claimed, proof = Citation(WANG2024, "Theorem 4.1"), Citation(WANG2024, "Theorem A.1", "proof")
    chain, kernel = Citation(WANG2024, "Theorem A.1", "read off the chain of the proof"), sp.exp(-p) / (1 - sp.exp(-p))
    variants = ("output", "output.mask_3", "output.gated")
    largest = Quantity(
        "weights", r"\max(\|W_K^{(2,1)}\|, \|W_Q^{(2,1)}\|)", "larger parameter norm of `W_K` and `W_Q` of layer 2",
        "spectral norm", "the construction", Kind.UPPER, Quantifier.EXISTS, construction="masked", scopes=(),
        printed=Printed(sp.Max(1, W_frobenius), claimed),
        remark="printed as `O(1, ||W*||_F)`; the constant is taken to be 1",
    )  # fmt: skip
    rate = Quantity(
        "output.rate",
        r"\liminf_{p \to \infty} -\frac{1}{p} \log \sup_X \|\mathrm{TF}_{-1} - \mathrm{IH}_2\|_\infty",
        "rate `a` of the decay `e^(-a p)` of the largest error of the last output token, as `p` grows; "
        "`+oo` without an error", "sup norm", DOMAIN, Kind.RATE, Quantifier.FOR_ALL,
        printed=Printed(sp.S.One, claimed, relation=Kind.LOWER), construction="masked", scopes=(), rate_in="p",
        indices=(sp.Ge(L, 4, evaluate=False),),  # at L = 3 nothing errs
        remark="printed as `C e^-p` with one `C` for all lengths: slope -1 of the log error in `p`",
    )  # fmt: skip
    return theorem(
        "induction.vanilla",
        *(y, scores, attention, output, seen, gated, rate),
        main="output",
        parameters={p: (1, 2, 4, 8), L: (8, 64), d: 4, leak: 0.01},
        hypotheses=[
            Hypothesis("p", sp.Gt(p, 0, evaluate=False), "the bias has to fall off"),
            Hypothesis("L", sp.Ge(L, 3, evaluate=False), "`IH_2` is an empty sum below"),
            Hypothesis(
                "leak", sp.Gt(leak, 0, evaluate=False), "the gate grows without bound as it vanishes", ("output.gated",)
            ),
            Hypothesis("leak", sp.Le(leak, 1, evaluate=False), "it is a share", ("output.gated",)),
        ],
        weights={"gate": opening},
        network={
            "": Transformer(lambda p, W_star: networks.vanilla(p, W_star), read=networks.READ),
            "output.mask_3": Transformer(lambda p, W_star: networks.vanilla(p, W_star, gate=0)),
            "output.gated": Transformer(lambda p, W_star, gate: networks.vanilla(p, W_star, gate=gate)),
        },
        worst={omega: W_norm, gate: GATE},
        knows={
            omega: from_sup_to_one,
            W_norm: lambda W_star: W_star.abs().sum(),
            W_frobenius: lambda W_star: torch.linalg.vector_norm(W_star.flatten()),
        },
        printed={
            "y": Printed(2 * kernel, chain),
            "scores": Printed(2 * W_norm * kernel, chain),
            "attention": Printed(4 * W_norm * kernel, chain),
            **{name: Printed(4 * W_norm * kernel, proof) for name in ("output", "output.mask_3")},
            "output.gated": Printed(4 * W_norm * kernel, proof, under="`D = 2d`, which leaves no room for a gate"),
        },
        trivial={"y": 2, "scores": 2 * W_norm, **dict.fromkeys(("attention", *variants), 2)},
        errata={"output.mask_3": FIRST_KEY},
        checks=[Check(largest, parameter_norms)],
        search=InputSearch(starts=networks.prompt_starts),
        knobs=Knobs(searched={"d": (1, WIDEST_SEARCHED)}),
        work=work,
        sources=[recalled_bytes("exact IH_2", {"p": (2, 4, 8, 16), "L": (256,), "W_star": W_STAR})],
        title="Vanilla induction heads by a two-layer, one-head transformer",
        claim=r"\sup_L \sup_{X \in [-1,1]^{d \times L}} \|\mathrm{IH}_2(X) - \mathrm{TF}_{-1}(X)\|_\infty \le C e^{-p}",
        cites=Citation(WANG2024, "Theorem 4.1", "Theorem A.1, Lemma D.1"),
        meanings={
            p: "slope of the relative position bias of layer 1",
            L: "number of tokens",
            d: "coordinates of a token (from `W_star` if that is a matrix)",
            leak: "largest increase of the error by the gate of output.gated, in units of `2 ||W*||_{1,1} e^-p`",
            W_norm: "sum of the absolute values of the entries of `W*`",
            omega: "largest 1-norm of `W*^T x` for `||x||_oo <= 1`",
            gate: "lead in score of the keys `s >= 2` over key 1, where all of them score 0",
        },
        wording=_wording(),
        remarks=[
            "A.1 ends in `4 ||W*||_{1,1} e^-p / (1 - e^-p) = O(e^-p)`, for `p` bounded away from 0; the derived bound "
            "is at most `2 ||W*||_{1,1} e^-p` for every `p > 0` and `L >= 3`.",
            "The `<` of A.1 is read as the `<=` of Theorem 4.1: both sides are 0 at `W* = 0`.",
            "The paper names no domain for the tokens; two steps of A.1 need tokens in `[-1, 1]^d` (or a smaller "
            "cube).",
        ],
    )


VANILLA = _stated()
