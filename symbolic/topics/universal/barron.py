"""C_F of the classes of li2025, Section 2.3 and Appendix B: what is printed, and what the class calculus derives."""

from functools import cache

import sympy as sp

from symbolic.derivations.provenance import Provenance
from symbolic.statements.errata import Erratum, Weight
from symbolic.statements.result import Formula, Hypothesis, Kind, Parameter, Printed, Quantifier, Quantity, Result
from symbolic.topics.universal import barron_derivation as barron
from symbolic.topics.universal import objects
from symbolic.topics.universal.barron_derivation import r
from symbolic.words.citations import LI2025, Citation

d = sp.Symbol("d", integer=True, positive=True)
width, slope, C_a, C_b = sp.symbols("width slope C_a C_b", positive=True)
centre = sp.Symbol("centre", nonnegative=True)  # norm of the bump's centre
M = sp.Symbol("M", integer=True, positive=True)
ratio = sp.Symbol("ratio", positive=True)
largest = sp.Symbol("C_max", positive=True)  # max C_{F_i}
ON_AXIS = (1,)  # directions and d do not matter on a line


# The factor r^(d-1) in place of r^d: the integral of rho_max(a)(|a| + 2)/4 over a.
def neural(neuron: sp.Expr) -> sp.Expr:
    """C_F for rho_max the density of N(0, slope^2 I): the constant of one neuron with weight of norm r, averaged."""
    density = (slope * sp.sqrt(2 * sp.pi)) ** (-d) * sp.exp(-(r**2) / (2 * slope**2))
    return sp.simplify(sp.integrate(sp.expand(barron.sphere_area(d) * density * r ** (d - 1) * neuron), (r, 0, sp.oo)))


# Bumps times numbers that make C_{F_i} = 1, widths ratio^-i: the i-th has mass 1 - A_i, A_i = 1/(1 + K ratio^i). The
# law of |omega| is that of |v| ratio^i with v^d exp(-v^2/2). On ratio^(i - 1/2) < |omega| < ratio^(i + 1/2) the
# maximum over i is at least the i-th: a share of the masses, whichever bump is the largest there.
@cache
def spread_constant(dimension: int, least: bool) -> sp.Expr:
    """C_F of M such bumps is at least (`least`), or at most, this; in C_a, C_b, M and ratio."""
    v, i = sp.Symbol("v", positive=True), sp.Symbol("i", integer=True)
    law = v**dimension * sp.exp(-(v**2) / 2)
    total = sp.integrate(law, (v, 0, sp.oo))
    share = sp.integrate(law, (v, 1 / sp.sqrt(ratio), sp.sqrt(ratio))) / total if least else sp.S.One
    typical = barron.bump(dimension, 1).mass  # K
    at_zero = 1 / (1 + typical * ratio**i)
    masses = sp.Sum(1 - at_zero, (i, 0, M - 1))
    return C_a * (at_zero.subs(i, 0) + share * masses) + C_b


COMBINATION = Erratum(
    Weight.STATEMENT,
    Citation(LI2025, "Section 2.3, Appendix B", "eq. (22)"),
    sentence="`C_F` of the combinations `<a, f> + b`, `|a|_1 <= C_a`, `|b| <= C_b`, is at most `2 C_a max_i "
    "C_{F_i} + C_b`",
    reading="`C_F` is (19), with the supremum inside the integral; Appendix B replaces `int max_i h_i` by `max_i int "
    "h_i`, which is the smaller one; true for `M <= 2` and for the constants `C_f` of single functions; bumps of "
    "widths 1, 1/100, `1/100^2`, ... have spectra that hardly meet: `C_F` grows like `M`",
    repair="`C_a (max_i sup |f_i(0)| + sum_i int |omega| F_i^sup) + C_b`, at most `C_a sum_i C_{F_i} + C_b`",
    survives="yes: Theorem 1 takes `C_F` itself, and the example is finite for every finite `M`",
)
_SECTION = "Section 2.3"


def _constant(name: str, meaning: str, derive: object, printed: sp.Expr | None = None, **more: object) -> Quantity:
    stated = None if printed is None else Printed(printed, Citation(LI2025, _SECTION, str(more.pop("place", ""))))
    fields = {
        "norm": "value",
        "domain": "functions of `d` coordinates",
        "quantifier": Quantifier.FOR_ALL,
        "scopes": (),
        **more,
    }
    fields = {"kind": Kind.EXACT, "obtained": Provenance.ALGEBRA, **fields}
    return Quantity(name, rf"C_{{\mathrm{{{name}}}}}", meaning, derive=derive, printed=stated, **fields)  # type: ignore[arg-type]


QUANTITIES = (
    _constant(
        "linear", "`C_F` of `a u^T x + b` for one unit vector `u` and all `|a| <= C_a`, `|b| <= C_b`",
        lambda: barron.linear([ON_AXIS], [C_a], C_b).constant, C_a + C_b, place="eq. (21)",
        remark=
            "by (20), for one direction; no density in the ordinary sense: the limit `omega -> 0` of ridges; a class "
            "of several directions needs the mass of each",
    ),
    _constant(
        "logistic", "`C_F` of one neuron, `1/(1 + exp(-slope u^T x))` for a unit vector `u`",
        lambda: barron.logistic(ON_AXIS, slope).constant, (slope + 2) / 4,
        remark="no density in the ordinary sense: a ridge",
    ),
    _constant(
        "neural", "`C_F` of two-layer networks, the integrals over `w` of `rho(w) sigma(w^T x)` for the logistic "
        "function `sigma`, with `|rho(w)|` at most the density of `N(0, slope^2 I)`",
        lambda: neural(barron.logistic(ON_AXIS, slope).constant.subs(slope, r)), neural((r + 2) / 4),
    ),
    _constant(
        "tanh", "`C_F` of `tanh(slope u^T x)` for a unit vector `u`", lambda: barron.tanh(ON_AXIS, slope).constant,
        remark="no density in the ordinary sense: a ridge",
    ),
    _constant(
        "bump", "`C_F` of the bump `exp(-|x - c|^2/(2 width^2))`, `|c| = centre`",
        lambda: barron.bump(d, width, centre).constant,
    ),
    _constant("two_bumps", "`C_F` of the union of bumps of width and `width/3` at 0", None),
    _constant("combined", "`C_F` of `<a, f> + b` for these two bumps and the neuron", None),
    _constant(
        "union", "`C_F` of the union of the bump, the neuron and `tanh(slope v^T x)` for a unit vector `v` that is not "
        "a multiple of `u`",
        lambda: sp.Max(barron.bump(d, width, centre).at_zero, sp.Rational(1, 2))
        + barron.bump(d, width).mass + barron.logistic(ON_AXIS, slope).mass + barron.tanh(ON_AXIS, slope).mass,
        indices=(sp.Ge(d, 2, evaluate=False),), remark="neuron and tanh in two directions",
    ),
    _constant(
        "union.line", "`C_F`, on the line, of the union of the bump, the neuron and `tanh(slope x)`", None,
        indices=(sp.Eq(d, 1, evaluate=False),),
    ),
    _constant(
        "combination",
        "`C_F` of `<a, f> + b` for `M` bumps with `C_{F_i} = 1` and widths 1, `1/ratio`, ..., `1/ratio^(M-1)`", None,
        2 * C_a * largest + C_b, kind=Kind.UPPER, obtained=Provenance.HAND, erratum=COMBINATION, place="eq. (22)",
        finding="`C_F` is at least {found}; printed: at most {printed}",
    ),
)  # fmt: skip

BARRON = Result(
    id="universal.barron",
    title="Barron constants of function classes",
    citation=Citation(LI2025, "Section 2.3, Appendix B", "eq. (17)-(22)"),
    claim=r"C_{\mathcal F} = \sup_f |f(0)| + \int \|\omega\|_2 \sup_f |F_f(\omega)|\,d\omega",
    parameters=(
        Parameter("d", d, "dimension of `x`", 2, integer=True, in_words="dimension of the inputs"),
        Parameter("width", width, "width of the bump", 1.0),
        Parameter("centre", centre, "distance of the bump's centre from 0", 0.5),
        Parameter("slope", slope, "norm of a neuron's weight", 2.0),
        Parameter("C_a", C_a, "bound on `|a|`", 1.0),
        Parameter("C_b", C_b, "bound on `|b|`", 0.5),
        Parameter("M", M, "classes that are combined", 4, integer=True, setting=True),
        Parameter("ratio", ratio, "ratio of the widths of the bumps that are combined", 100.0, setting=True),
    ),
    hypotheses=(
        Hypothesis("d", sp.Ge(d, 1, evaluate=False), "a dimension"),
        *(Hypothesis(str(each), sp.Gt(each, 0, evaluate=False), "a scale") for each in (width, slope, C_a, C_b)),
        Hypothesis("centre", sp.Ge(centre, 0, evaluate=False), "a norm"),
        Hypothesis("M", sp.Ge(M, 1, evaluate=False), "a combination has a class"),
        Hypothesis("ratio", ratio >= 2, "widths that differ"),
    ),
    objects=objects.BARRON,
    quantities=QUANTITIES,
    notation={C_a: "C_a", C_b: "C_b", largest: r"\max_i C_{\mathcal F_i}"},
    symbols={largest: "largest `C_{F_i}`"},
    formulas=(Formula(r"C_{\mathrm{radial}}", lambda: barron.bump(d, width).mass, "mass of a bump's spectrum"),),
)
