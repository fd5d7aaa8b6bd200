"""Softmax blocks approximate equivariant maps (wu2024, Lemmas 16 to 18): what ids cost, where the bound holds."""

from functools import partial
from typing import Any

import sympy as sp

from symbolic.derivations.provenance import Provenance
from symbolic.statements.result import Hypothesis, Kind, Parameter, Printed, Quantifier, Quantity, Result
from symbolic.topics.icgd import objects
from symbolic.topics.icgd.softmax_errata import BETWEEN, EVERY_BLOCK, LAST_STEP, OTHERS, PROOF
from symbolic.words.citations import WU2024, Citation

d, n, D = (sp.Symbol(name, integer=True, positive=True) for name in ("d", "n", "D"))
B_x, ramp = sp.symbols("B_x ramp", positive=True)
L = sp.Symbol("L", nonnegative=True)  # the Lipschitz constant of f in the 2-norm
q = sp.Symbol("q", integer=True, positive=True)  # the least prime power that is at least D^d

_cite = partial(Citation, WU2024)

# Lemma 17 on the grid {B/D, ..., B}^d: |V| = D^d tokens with norms from sqrt(d) B/D to sqrt(d) B, B/D apart. delta is
# FRONT exp(-RATE), and an id takes log2(r/delta) bits; exp(-RATE) itself is below every float.
TOKENS = D**d
_SPAN, _LEAST, _APART = sp.sqrt(d) * B_x, sp.sqrt(d) * B_x / D, B_x / D
_COMMON = (TOKENS + 1) ** 4 * (2 * sp.log(n) + 3) * sp.pi * d
FRONT = 2 * sp.log(n) ** 2 * _APART**2 * _LEAST / (_SPAN**2 * _COMMON)
RATE = _COMMON * _SPAN**2 / (4 * _APART * _LEAST)
RADIUS = _SPAN + _APART / 4
PRINTED_BITS = (sp.log(RADIUS / FRONT) + RATE) / sp.log(2)

# Ids are cell * width + the sum of n - 1 marks below q^(n-1) - 1 (n = 2: below q), so that width is one more than the
# largest sum. Any injective map needs an id for each cell and each multiset of n - 1 cells beside it.
MARKS = sp.Piecewise((TOKENS, sp.Eq(n, 2)), (q ** (n - 1) - 1, True))
RANGE = TOKENS * ((n - 1) * (MARKS - 1) + 1)
BITS = sp.ceiling(sp.log(RANGE, 2))
CONTEXTS = TOKENS * sp.binomial(TOKENS + n - 2, n - 1)

CELL = L * sp.sqrt(d * n) * B_x / D  # (F.4)
CONTEXTUAL = RATE / (2 * _SPAN**2)  # the scale of the scores, as the proof of Lemma 17 chooses it
KAPPA = L * (8 * sp.sqrt(d * n) + sp.sqrt(n)) * B_x / (2 * D)

# A feed-forward layer gives a token the same whether the others are all in the cube or all outside, and (F.12) differs
# by (n - 1) d B there: it errs by half of that at one of both. The layer with (F.8), the penalties of the token itself
# and b_2 = -(n - 1) d B/2 errs by no more, as the penalties of the others add up to a number from -(n - 1) d B to 0.
BY_TOKENS = (n - 1) * d * B_x / 2
PENALISED = d * n * sp.sqrt(d) * B_x  # (F.13), where all coordinates are below 0

# Off the ramps the block is f at the middle of the cell, at most B/(2D) away in each of d n coordinates; equality at
# the ends of a cell, for an f that stretches (1, ..., 1) most.
OFF_RAMPS = CELL / 2

# Lemma 16 for d = 1, n = 2: f_1(z_1, z_2) = z_1 + a(z_2), where a(z) is the distance of z - B/2 from the multiples of
# 2 h, h = B/6. A block is phi(s(psi(z_1), psi(z_2))) with continuous phi and psi, and s the head: for some numbers w, b
# s(u, v) = (1 + w) u + w t/(b u (1 + exp(-t))), t = b u (v - u); for b u = 0 it is (1 + w/2) u + w v/2. As 1 + t/(1 +
# exp(t)) changes its sign once, s(u, .) has one turning point or none. Let the block err by less than h/2 at prompts
# with tokens h or more apart. Where s has one value f_1 then varies by less than h.
# - psi is strictly monotone on y_i = B/2 + i h, i = 0, ..., 3: else it has one value at points of [B/2, B] that are h
#   or more apart, and so has s beside a second token at 0, where f_1 differs as these do.
# - v_i = s(psi(h), psi(y_i)), where f_1 = h, 2 h, h, 2 h. On the curve f_1 = h, 0 <= z_1 <= h, y_0 <= z_2 <= y_2, s
#   runs from v_0 to v_2 and meets neither v_1 nor v_3; on f_1 = 2 h, h <= z_1 <= 2 h, y_1 <= z_2 <= y_3, from v_1 to
#   v_3 and meets neither v_0 nor v_2. So v_0, v_2 are on one side of v_1, v_3: s(psi(h), .) turns twice, and cannot.

# D - 1 ramps of the width ramp B in each of the d n coordinates.
SHARE = 1 - (1 - (D - 1) * ramp) ** (d * n)

# (F.24), d = 1, n = 2, f(z_1, z_2) = (z_2, z_1). By (F.15) the ids of a cell c lie within B/(4D) of its corner, so all
# those of c before all those of c + 1. Take c in the middle, and of all cells of the other token but c and c + 1 let x
# be the one with the least id beside c. On the ramp from c to c + 1, with z_2 the corner of x, the id is continuous and
# ends beyond those of c: it meets the id of (c, y) for all y, where FF_2 has the corner of y. As the first and the last
# cell are among the y (D >= 4), one is (D - 1)/2 cells or more from x, and x alone is within half a cell of z_2.
# For any f one of the f_1(c, y) is half of their range or more from f_1(c, x), which f_1(Z) is near on the ramp.
ABOVE_INTERVAL = 4  # the least D for which the value leaves the interval of (F.24)
ABOVE_KAPPA = 14  # the least D for which (D - 1) B/(2D) exceeds KAPPA = 9 sqrt(2) B/(2D)


NOTATION = {B_x: "B_x", ramp: r"\rho"}
SYMBOLS = {
    L: "Lipschitz constant of `f` in the 2-norm",
    q: "least prime power that is at least `D^d`",
}
_LEMMA_16, _LEMMA_17 = _cite("Lemma 16", "Lemma 18"), _cite("Lemma 17")
_one_token = (sp.Le(d, 1),)
MOST_TOKENS = 4  # of a grid on which the head of Lemma 17 is run: 25 thousand bits or so


def row(name: str, latex: str, meaning: str, norm: str, domain: str, bound: Any = None, **more: Any) -> Quantity:
    """A row that is no error of the theorem's network unless it has scopes; `bound` is our own formula, by hand."""
    kind, scopes = more.pop("kind", Kind.UPPER), more.pop("scopes", ())
    if bound is not None:
        more = {"derive": bound, "obtained": Provenance.HAND, **more}
    return Quantity(name, latex, meaning, norm, domain, kind, Quantifier.FOR_ALL, scopes=scopes, **more)


_CUBE, _ERROR = "`Z in [0, B_x]^(d n)`", r"\|f_{\mathrm{Softmax}}(Z) - f(Z)\|_2"
_HEAD = "the head of Lemma 17, its values of a norm just below `1/(4 sqrt(d) D)`,"
_ADDED = r"\|S(Z)_{:,k} - Z_{:,k}\|_2"


def _step(
    name: str, latex: str, meaning: str, norm: str, domain: str, printed: Any, bound: Any = None, **more: Any
) -> Quantity:
    """A display of the proof."""
    cited = Printed(sp.sympify(printed), _cite(PROOF, f"({name})"), strict=more.pop("strict", False))
    return row(name, latex, meaning, norm, domain, bound, printed=cited, **more)


QUANTITIES = (
    row(
        "bits",
        r"\log_2(r/\delta)",
        "bits of an id: binary logarithm of the range of ids over their distance, rounded up for whole numbers",
        *("bits", "all prompts of `n` tokens of the grid", BITS),
        printed=Printed(PRINTED_BITS, _LEMMA_17),
        remark="ids from a `B_(n-1)` set in the sense of Bose and Chowla; tokens may be equal, which Lemma 17 excludes",
    ),
    row(
        *("bits.counting", r"\log_2(r/\delta)", "bits of an id of any contextual mapping"),
        *("bits", "all prompts of `n` tokens of the grid", sp.ceiling(sp.log(CONTEXTS, 2))),
        kind=Kind.LOWER,
        remark="one id for each token and each multiset of `n - 1` others",
    ),
    _step(
        *("F.4", r"\sup_Z \|f(Z) - \bar{f}(Z)\|_2", "error of `f` at the upper corner of the cell"),
        *("2-norm", _CUBE, CELL, CELL),
    ),
    _step(
        *("F.9", r"\sup_z |\mathrm{quant}_\rho(z) - \mathrm{quant}(z)|", "distance of ramps from steps"),
        *("absolute value", "`z in [0, B_x]`", B_x / D, B_x / D),
        indices=_one_token,
        remark="the middle case of (F.6) is read as the height of the ramp at `z`, 0 at its start",
    ),
    _step(
        *("F.10", r"\sup_z |\text{(F.10)}(z)|", "value of (F.10), which is to be 0"),
        *("absolute value", "`z` outside `[0, B_x]` off the ramps", 0, sp.Abs(B_x - 1)),
        erratum=LAST_STEP,
    ),
    _step(
        *("F.11", r"\sup_z |\text{(F.11)}(z) - \mathrm{penalty}(z)|", "distance of ramps from penalties"),
        *("absolute value", "`z` off the ramps, `z != 0`", 0, sp.Integer(0)),
        remark="at `z = 0`, in the cube, (F.11) is 0, and the penalty is printed as `-B_x`",
    ),
    _step(
        "F.12",
        r"\min_{\mathrm{FF}} \sup_Z \|\mathrm{FF}(Z) - \text{(F.12)}(Z)\|_{\max}",
        "least error of a feed-forward layer against (F.12)",
        *("largest entry", "all `Z` off the ramps", 0, BY_TOKENS),
        kind=Kind.EXACT,
        erratum=OTHERS,
    ),
    _step(
        *("F.13", r"\max_Z \|\text{(F.12)}(Z)_{:,k}\|_2", "largest norm of a token of (F.12)"),
        *("2-norm", "all `Z`", PENALISED, PENALISED),
        remark="with 0 for the step function (F.8) outside `[0, B_x]`; attained where all coordinates are below 0",
    ),
    row(
        *("bits.head", r"\log_2(r/\delta)", "bits of an id of the head of Lemma 17, run on the whole grid"),
        *("bits", "all prompts of `n` different tokens of the grid"),
        printed=Printed(PRINTED_BITS, _LEMMA_17),
        indices=(sp.Le(TOKENS, MOST_TOKENS, evaluate=False), sp.Le(n, TOKENS, evaluate=False)),
        remark="ids of different tokens, or of tokens beside different ones, are apart; Definition 13 leaves out the "
        "latter, so that the identity meets it",
    ),
    _step(
        *(
            "F.15",
            rf"{_ADDED} / \max_l \|Z_{{:,l}}\|_2",
            f"what {_HEAD} adds to a token",
            "2-norm, relative to the largest",
        ),
        *("all `Z`, attained where all tokens are one multiple of the head's direction", 1 / (4 * sp.sqrt(d) * D)),
        strict=True,
    ),
    _step(
        *("F.22", _ADDED, f"what {_HEAD} adds to a token of the grid", "2-norm"),
        *("the grid, attained for `d = 1` where all tokens are `B_x`", B_x / (4 * D)),
        strict=True,
    ),
    row(
        *("block", _ERROR, "error of the block", "2-norm", f"{_CUBE} off the ramps", OFF_RAMPS),
        printed=Printed(KAPPA, _LEMMA_16),
        remark="values at the middles of the cells",
    ),
    row(
        *("block.least", r"\inf_{f_{\mathrm{Softmax}}} \sup_Z \|f_{\mathrm{Softmax}}(Z) - f(Z)\|_2"),
        "least error of all blocks for the `f` of the erratum, from below: half of `h`",
        *("2-norm", "`Z in [0, B_x]^2` with tokens `h = B_x/6` or more apart"),
        printed=Printed(sp.Integer(0), _LEMMA_16),
        erratum=EVERY_BLOCK,
    ),
    row(
        *("outside", r"\|f_{\mathrm{Softmax}}(Z)\|_2", "value of the block"),
        *("2-norm", "`Z` outside `[0, B_x]^(d n)` off the ramps", sp.Integer(0)),
        printed=Printed(sp.Integer(0), _cite(PROOF, "(F.17)")),
        remark="the proof has `f(Z) = 0` there; the head passes the penalties on",
    ),
    _step(
        "F.24",
        r"\mathrm{dist}(f_{\mathrm{Softmax}}(Z)_k, [\min_G f(G)_k, \max_G f(G)_k])",
        "distance of a value of the last layer from the values of `f` at most half a cell away",
        *("absolute value", f"{_CUBE} on the ramps", 0),
        indices=_one_token,
        erratum=BETWEEN,
    ),
    row(
        *("ramps", _ERROR, "error of the block", "2-norm", f"{_CUBE} on the ramps"),
        printed=Printed(KAPPA, _cite(PROOF, "the last display, from (F.24)")),
        indices=_one_token,
        erratum=BETWEEN,
    ),
    row(
        *("share", r"|\{Z \text{ on a ramp}\}| / B_x^{dn}", "share of the cube that lies on a ramp"),
        *("volume", _CUBE, SHARE),
        kind=Kind.EXACT,
    ),
)

SOFTMAX = Result(
    id="icgd.softmax",
    title="Softmax blocks approximate equivariant maps",
    citation=_cite("Lemmas 16 to 18", "Definitions 11 to 13"),
    claim=r"\|f_{\mathrm{Softmax}}(Z) - f(Z)\|_2 \le \frac{L (8 \sqrt{dn} + \sqrt{n}) B_x}{2D}",
    parameters=(
        Parameter("d", d, "coordinates of a token", 1, integer=True),
        Parameter("n", n, "number of tokens", 2, integer=True),
        Parameter("D", D, "granularity of the grid", (8, 64), integer=True),
        Parameter("B_x", B_x, "side of the cube of inputs", 1),
        Parameter(
            "ramp",
            ramp,
            "width of a ramp over `B_x`, the `delta` of (F.5)",
            2.0**-10,
            in_words="width of a ramp over `B_x`",
        ),
        Parameter(
            *(
                "map",
                None,
                "`f`: ``others`` (the mean of the others), the rows of a matrix over tokens, or polynomials, ``Z1_2`` "
                "being the coordinate 1 of the token 2",
                "others",
            ),
            takes="others|ROWS",
        ),
    ),
    hypotheses=(
        Hypothesis("d", sp.Ge(d, 1, evaluate=False), "a token has a coordinate"),
        Hypothesis("n", sp.Ge(n, 2, evaluate=False), "`delta` of Lemma 17 is 0 for one token"),
        Hypothesis("D", sp.Ge(D, 2, evaluate=False), "a grid of one point tells no inputs apart"),
        Hypothesis("B_x", sp.Gt(B_x, 0, evaluate=False), "it is the side of a cube"),
        Hypothesis("ramp", sp.Gt(ramp, 0, evaluate=False), "a ramp of width 0 is a step"),
        Hypothesis("ramp", sp.Lt(ramp, 1 / D, evaluate=False), "a ramp is shorter than a cell"),
    ),
    objects=objects.SOFTMAX,
    quantities=QUANTITIES,
    notation=NOTATION,
    symbols=SYMBOLS,
    remarks=(
        "The proof leaves out prompts that have equal tokens after quantisation; the block here has ids for them too.",
        "The feed-forward layers here write the own part of an id and a mark into coordinates of their own, and one "
        "uniform head adds the marks. For `d >= 2` and `n >= 3` marks do not add up over coordinates, and a second "
        "feed-forward layer stands before the head.",
    ),
)
