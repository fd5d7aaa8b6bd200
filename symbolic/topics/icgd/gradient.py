"""The gradient of an N-layer network (wu2024): Definitions 1-3, Lemma 1, and Lemma 15 for d_x and d_y that differ.

L_n(w) = (1/2n) sum_i l(p_i(N), y_i) with p(j) = r(V_j p(j-1)). Both printed forms of the gradient are derived here from
one generic layer (`symbolic.gradients`), with symbolic depth and sizes, and so is that they agree.
"""

from functools import cache

import sympy as sp

from symbolic.derivations.derivation import Derivation, Norm, Step
from symbolic.derivations.provenance import Provenance
from symbolic.gradients import GENERIC, Backward, LayeredNetwork, matrix_latex, product_equals_recursion
from symbolic.statements.errata import Erratum
from symbolic.statements.result import Hypothesis, Kind, Parameter, Printed, Quantifier, Quantity, Result
from symbolic.topics.icgd import errata, objects
from symbolic.topics.icgd.symbols import B_v, B_x, B_y, K, N, d_x, d_y, n
from symbolic.words.citations import WU2024, Citation

NETWORK = LayeredNetwork(N, d_x, K, d_y)

LEMMA_15 = Citation(WU2024, "Lemma 15")
DEFINITION_3 = Citation(WU2024, "Definition 3", "(3.7), (3.8)")
D4 = Citation(WU2024, "Appendix D.1", "(D.4)")
D7 = Citation(WU2024, "Appendix D.7", "the blocks of the token")


PRINTED_TOTAL = (N - 2) * K**2 + (d_x + d_y) * K  # D_N, Lemma 15, the case j = N
PRINTED_SLOPES = (N - 2) * K + d_y  # the length of r'_i in D.7, printed with d = d_x = d_y


# A step here is an equation between exact expressions, proved for every size: its error is 0. The proof by induction
# is run when the derivation is built; a step that does not hold raises.

_INDUCTION = "induction over the layers"


@cache
def derive(rule: Backward = GENERIC) -> Derivation:
    """Both forms of A(j): from the chain rule of one layer, and the induction that makes them one."""
    proofs = {identity.name: identity for identity in product_equals_recursion(rule)}
    here = rule.here
    chain = (
        rf"\frac{{\partial p_{{i}}(j)}}{{\partial p_{{i}}(j-1)}} = {matrix_latex(here.step.by_state)},\;"
        rf"\frac{{\partial p_{{i}}(j)}}{{\partial V_{{j}}}} = {matrix_latex(here.step.by_weights)}"
    )
    recursion = rf"{matrix_latex(here.s)} = {matrix_latex(rule.step)}"
    block = rf"A_{{i}}(j) = {matrix_latex(rule.block)}"
    induction = ("s, j = N", "s, j + 1 to j")
    return Derivation(
        (
            _exactly("D.4", "the chain rule", (), chain, D4),
            _exactly("s", "pulling back", ("D.4",), recursion, DEFINITION_3),
            _exactly("A by recursion", "pulling back", ("D.4", "s"), block, DEFINITION_3),
            *(_exactly(name, _INDUCTION, ("D.4", "s"), proofs[name].latex()) for name in induction),
            _exactly("A as product", _INDUCTION, ("A by recursion", *induction), proofs["A"].latex(), LEMMA_15),
        )
    )


def _exactly(name: str, rule: str, premises: tuple[str, ...], reason: str, source: Citation | None = None) -> Step:
    return Step(name, Norm.TWO, rule, sp.Integer(0), premises, reason, source, provenance=Provenance.ALGEBRA)


_DOMAIN = "`w` in the box `|v_jk[i]| <= B_v / sqrt(length of v_jk)`, `||x_i||_2 <= B_x`, `||y_i||_2 <= B_y`"


def _form(name: str, step: str, form: str, source: Citation, letter: str) -> Quantity:
    """One form of the blocks against automatic differentiation; a block that is 0 is so in both."""
    meaning = f"difference of the gradient blocks by {form} from automatic differentiation"
    norm = "2-norm, relative to the larger norm of both where that is not 0"
    stated = (meaning, norm, _DOMAIN, Kind.EXACT, Quantifier.FOR_ALL, derive(), step)
    latex = rf"\max_{{1 \le j \le N}} \|{letter}(j) - \partial L_n / \partial V_j\|_2"
    printed = Printed(sp.Integer(0), source)
    return Quantity(name, latex, *stated, worst_case={}, printed=printed, scopes=("network",), trivial=sp.Integer(2))


def _count(name: str, latex: str, meaning: str, printed: Printed, erratum: Erratum | None = None) -> Quantity:
    """Definition 1, and so its counts, has a hidden layer."""
    stated = (meaning, "a count", "all `K`, `d_x`, `d_y`", Kind.EXACT, Quantifier.FOR_ALL)
    with_hidden = (sp.Ge(N, 2),)
    return Quantity(name, latex, *stated, printed=printed, scopes=(), erratum=erratum, indices=with_hidden)


_ENTRIES, _NO_DISTANCE = r"\#\text{entries of }", Printed(sp.Integer(0), LEMMA_15)
_OFF, _SLOPES = rf"|D_N - {_ENTRIES} V_1, \ldots, V_N|", rf"{_ENTRIES} r'_i"
_OF_PARAMETERS = "distance of the printed `D_N` from the number of entries of `V_1 .. V_N`"
QUANTITIES = (
    _form("recursion", "A by recursion", "(3.7), (3.8)", DEFINITION_3, "A"),
    _form("product", "A as product", "the product of Lemma 1", LEMMA_15, r"\tilde A"),
    _count("parameters", _OFF, _OF_PARAMETERS, _NO_DISTANCE),
    _count("slopes", _SLOPES, "number of entries of `r'_i`", Printed(PRINTED_SLOPES, D7), errata.SLOPES),
)


_AT_LEAST_ONE = {
    N: "the network has an output layer",
    K: "`K` must be at least 1",
    d_x: "`x` must have at least one coordinate",
    d_y: "`y` must have at least one coordinate",
    n: "`L_n` is a mean over examples",
}
GRADIENT = Result(
    id="icgd.gradient",
    title="The gradient of an `N`-layer network by recursion",
    citation=Citation(WU2024, "Lemma 1", "Definition 3, (3.6)-(3.8), Lemma 15"),
    claim=(
        r"\nabla L_n(w) = \frac{1}{2n} \sum_{i=1}^n [A_i(1); \ldots; A_i(N)], \quad "
        r"A_i(j) = [\mathbf{I} \otimes p_i(j-1)]\, s_i(j), \quad "
        r"s_i(j) = r'_i(j-1) \odot (V_{j+1}^\top s_i(j+1)), \quad s_i(N) = r'_i(N-1) \odot u(p_i(N), y_i)"
    ),
    parameters=(
        Parameter("N", N, "number of layers", (1, 3), integer=True),
        Parameter("K", K, "width of the hidden layers", 5, integer=True),
        Parameter("d_x", d_x, "coordinates of an input", 3, integer=True),
        Parameter("d_y", d_y, "coordinates of an output", 2, integer=True),
        Parameter("n", n, "number of examples", 3, integer=True),
        Parameter("B_v", B_v, "bound on the 2-norm of each row of `V_j`", 2),
        Parameter("B_x", B_x, "bound on the 2-norm of an input", 1),
        Parameter("B_y", B_y, "bound on the 2-norm of an output", 1),
        Parameter("activation", None, "`r`: tanh, sigmoid, gelu, softplus, sin or relu", "tanh"),
        Parameter("loss", None, "the loss of one coordinate: square, huber, `log_cosh` or logistic", "square"),
    ),
    hypotheses=(
        *(
            Hypothesis(str(letter), sp.Ge(letter, 1, evaluate=False), reason)
            for letter, reason in _AT_LEAST_ONE.items()
        ),
        *(Hypothesis(str(letter), sp.Gt(letter, 0, evaluate=False), "it bounds a norm") for letter in (B_v, B_x, B_y)),
    ),
    objects=objects.GRADIENT,
    assumptions=("the activation `r` and the loss are differentiable",),
    quantities=QUANTITIES,
    remarks=(
        "Exact identities: printed and derived are 0, and the measured distance is rounding. The verdict kept "
        "rests on exact arithmetic, where the distance is below `2^-60`.",
        "Definition 1 has a hidden layer: `D_N` and the length of `r'_i` have no printed tier at `N = 1`.",
        "Misprints in the proof of D.1 that leave the statement as it is: `p_i(N-2)` for `p_i(N-1)` in the first "
        "line; diag up to `v_{N_K}` for `v_{N_d}`; `I_{K x K}` for `I_{d x d}` in (D.3), and in (D.4) at `j = N`; "
        "(D.2) is a `K x D_N` matrix, not `d x D_N`; the sketch of Lemma 1 sums `i` to `N` for `n`.",
        "Lemma 15 writes `R_i(N-1)` with a free `j`; `j = N-1` is meant.",
    ),
)
