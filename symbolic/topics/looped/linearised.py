"""Softmax weights as linear functions of scores (algoformer, (7), (8)), and the gradient step of Lemma A.2 with them.

z_ij = x_i^T x_j / N; of the 2N + 1 tokens beside the sink, the labels and the test token have the key 0.
"""

from functools import cache

import sympy as sp

from symbolic.calculus import add, given, heads_as_linear, linear_map
from symbolic.calculus.head_knobs import HeadPair
from symbolic.calculus.heads import Second
from symbolic.derivations.derivation import Approximated
from symbolic.statements.result import Hypothesis, Kind, Parameter, Quantifier, Quantity, Result
from symbolic.topics.looped import objects
from symbolic.words.citations import ALGOFORMER, Citation

N, d = (sp.Symbol(name, integer=True, positive=True) for name in ("N", "d"))
B, R, eta, c, C, c_odd, C_odd = sp.symbols("B R eta c C c_odd C_odd", positive=True)

KEYS = 2 * N + 1
LARGEST = B**2 / N  # |z_ij|
KNOBS = {Second.CONSTANT: (c, C), Second.OPPOSITE: (c_odd, C_odd)}
SUFFIX = {Second.CONSTANT: "", Second.OPPOSITE: ".opposite"}  # of names, and of the handles beside `pull`


def pair(second: Second, unit: sp.Expr, inner: sp.Expr) -> HeadPair:
    return HeadPair.of(second, keys=KEYS, size=LARGEST, width=d, unit=unit, inner=inner)


def _scores(second: Second) -> Approximated:
    c, _ = KNOBS[second]
    return given(f"scores{SUFFIX[second]}", dim=KEYS, size=c * LARGEST)


@cache
def derive_one() -> Approximated:
    """(7): e^C softmax against 1 + c z."""
    return heads_as_linear(_scores(Second.CONSTANT), "weights.one", sink=C, second=Second.NONE)


@cache
def derive_weights(second: Second) -> Approximated:
    """Both heads over c, against z."""
    (c, C), suffix = KNOBS[second], SUFFIX[second]
    heads = heads_as_linear(_scores(second), f"heads{suffix}", sink=C, second=second)
    return linear_map(heads, f"weights{suffix}", operator_norm=1 / c, dim=KEYS, matrix=f"scale{suffix}")


@cache
def derive_step(second: Second) -> Approximated:
    """r_i - eta sum_j z_ij r_j, for exact residuals and 0 for labels."""
    weights, suffix = derive_weights(second), SUFFIX[second]
    pulled = linear_map(weights, f"descent{suffix}", operator_norm=eta * (N + 1) * R, dim=1, matrix="pull")
    return add(given("residuals", dim=1, size=R), pulled, name=f"step{suffix}", coefficients=(1, -1))


_PROMPTS = "`||x_i||_2 <= B`, `|r_i| <= R`"


def _quantity(name: str, latex: str, meaning: str, value: Approximated, norm: str, **more: object) -> Quantity:
    fields = {"domain": _PROMPTS, "kind": Kind.UPPER, "quantifier": Quantifier.FOR_ALL, "scopes": ("network",), **more}
    return Quantity(name, latex, meaning, norm, derivation=value.derivation, worst_case={}, **fields)  # type: ignore[arg-type]  # typed above


def _quantities() -> tuple[Quantity, ...]:
    of_pairs = []
    for second, words in ((Second.CONSTANT, "scores 0"), (Second.OPPOSITE, "the opposite scores")):
        sign, suffix = ("-" if second is Second.OPPOSITE else "0"), SUFFIX[second]
        of_pairs += [
            _quantity(
                f"weights{suffix}", rf"\|\hat z^{{({sign})}} - z\|_\infty",
                f"weights of two heads, the second with {words}, against `z_ij`",
                derive_weights(second), "sup norm", trivial=LARGEST,
            ),
            _quantity(
                f"step{suffix}",
                rf"\max_{{1 \le i \le N+1}} |\hat r_i^{{({sign})}} - r_i + (\eta/N) \sum_{{j=1}}^N r_j x_j^\top x_i|",
                f"one gradient step of the layer whose second head has {words}, over the examples and the test token",
                derive_step(second), "sup norm", trivial=eta * N * R * LARGEST,
            ),
        ]  # fmt: skip
    one = _quantity(
        "weights.one", r"\|e^C \operatorname{softmax}(Z) - (1 + c z)\|_\infty",
        "weights of one head at all keys but the sink, times `e^C`, against `1 + c z_ij`", derive_one(),
        "sup norm", trivial=1 + c * LARGEST,
    )  # fmt: skip
    return one, *of_pairs


LINEARISED = Result(
    id="looped.linearised",
    title="Softmax beside a sink as a linear map",
    citation=Citation(ALGOFORMER, "Lemma A.2, Lemma A.4", "eq. (7), (8)"),
    claim=r"e^C \operatorname{softmax}(Z_{2i-1,2j-1}) \approx 1 + \frac{c}{N} x_i^\top x_j",
    parameters=(
        Parameter("N", N, "number of examples", 8, integer=True),
        Parameter("d", d, "dimension of `x_i`", 3, integer=True),
        Parameter("B", B, "bound on `||x_i||_2`", 1.0),
        Parameter("R", R, "bound on the numbers `|r_i|`", 1.0),
        Parameter("eta", eta, "step size", 1.0),
        Parameter(
            "c",
            c,
            "scale of the scores, with a second head of scores 0 (from `N`, `d`, `B` and the format)",
            1.0,
            in_words="scale of the scores, with a second head of scores 0",
        ),
        Parameter("C", C, "score of the sink there (likewise)", 1.0, in_words="score of the sink there"),
        Parameter(
            "c_odd",
            c_odd,
            "scale of the scores, with one of opposite scores (likewise)",
            1.0,
            in_words="scale of the scores, with one of opposite scores",
        ),
        Parameter("C_odd", C_odd, "score of the sink there (likewise)", 1.0, in_words="score of the sink there"),
    ),
    hypotheses=(
        Hypothesis("N", sp.Ge(N, 2, evaluate=False), "a prompt has more than one example"),
        Hypothesis("d", sp.Ge(d, 1, evaluate=False), "a dimension"),
        *(Hypothesis(x.name, sp.Gt(x, 0, evaluate=False), "it is positive") for x in (B, R, eta, c, C, c_odd, C_odd)),
    ),
    objects=objects.LINEARISED,
    quantities=_quantities(),
    notation={eta: r"\eta", c_odd: r"c_{\mathrm{odd}}", C_odd: r"C_{\mathrm{odd}}"},
    remarks=(
        "The paper prints that both sides can be arbitrarily close for large `C` and small `c`, and no rate. What "
        "the gradient takes is their difference over `c`, where rounding grows as `c` falls: the best `c` is of the "
        "order of `sqrt(u)` for a second head with scores 0, as in the paper, and of `u^(1/3)` for one with the "
        "opposite scores.",
        "The test token has the key 0 but a value, so that the second head takes its weight away but for the leak.",
    ),
)
