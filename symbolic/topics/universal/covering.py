"""The eps-cover of F x B of li2025, (23): bounds on its size for concrete classes, and how Lemma 1 may use it."""

from functools import cache, partial
from typing import Any

import sympy as sp

from symbolic.derivations.provenance import Provenance
from symbolic.statements.errata import Erratum, Weight
from symbolic.statements.result import Hypothesis, Kind, Parameter, Printed, Quantifier, Quantity, Result
from symbolic.topics.universal import barron_derivation as barron
from symbolic.topics.universal import objects
from symbolic.words.citations import LI2025, Citation
from symbolic.words.errors import UsageError

eps, width = sp.symbols("eps width", positive=True)
R = sp.Symbol("R", positive=True)  # of the ball of centres
d = sp.Symbol("d", integer=True, positive=True)
functions = sp.Symbol("functions", integer=True, positive=True)
spread = sp.Symbol("spread", positive=True)  # width of the narrow bumps
places = sp.Symbol("places", integer=True, positive=True)
HALF = sp.Rational(1, 2)


# A largest set of points that are eps apart covers the ball. Balls of radius eps/2 around them are disjoint and lie in
# one of radius 1 + eps/2: their number is at most ((1 + eps/2)/(eps/2))^d.
def ball_cover(dimension: Any, radius: Any, size: Any = 1) -> sp.Expr:
    """Points of a ball of that size in R^dimension within `radius` of each of its points, at most."""
    return (1 + 2 * sp.sympify(size) / sp.sympify(radius)) ** sp.sympify(dimension)


def parametric_cover(dimension: Any, gap: Any, lipschitz: Any, size: Any) -> sp.Expr:
    """Members within `gap` of each function of a class with `dimension` parameters in a ball, Lipschitz in them."""
    return ball_cover(dimension, sp.sympify(gap) / sp.sympify(lipschitz), size)


# |f(x) - f(0) - (c(y) - c(0))| <= sup |f - f(0) - (c - c(0))| + |c(x) - c(y)| <= share mass eps + mass (1 - share) eps,
# as |grad c| <= int |omega| |F_c| <= mass; c depends on f alone, y on x alone. A finite class covers itself: share 0.
def product_cover(members: Any, dimension: Any, radius: Any, share: Any = 0) -> sp.Expr:
    """(23) for `members` functions within share * mass * radius of each f: those, times a cover of the ball."""
    share = sp.sympify(share)
    if not (share >= 0) == sp.true or not (share < 1) == sp.true:
        raise UsageError(f"product_cover: share = {share}; give the functions' part of eps, at least 0 and below 1")
    return sp.sympify(members) * ball_cover(dimension, (1 - share) * sp.sympify(radius))


# v exp(-v^2/(2 width^2))/width^2 is largest at v = width; the centre moves f(x) and f(0).
@cache
def bump_lipschitz() -> sp.Expr:
    """sup over x of |f_c(x) - f_c(0) - (f_c'(x) - f_c'(0))| per distance of the centres."""
    v = sp.Symbol("v", positive=True)
    slope = v / width**2 * sp.exp(-(v**2) / (2 * width**2))
    (steepest,) = sp.solve(sp.diff(slope, v), v)
    return 2 * sp.simplify(slope.subs(v, steepest))


def bump_mass() -> sp.Expr:
    return barron.bump(d, width).mass


def bumps_cover() -> sp.Expr:
    """Bumps with centres in the ball of radius R, within mass eps/2."""
    return parametric_cover(d, HALF * eps * bump_mass(), bump_lipschitz(), R)


def union_cover() -> sp.Expr:
    """(23) for these bumps and `functions` further ones: covers of classes add up."""
    return product_cover(functions + bumps_cover(), d, eps, HALF)


# `places` narrow bumps B_i on the line, f_s = sum of those with s_i = 1: (f_s, x) is within C_F eps of (0, x) or of
# (sum of all, x), whichever agrees with s at the bump next to x: two functions cover 2^places in the sense of (23).
def sums_constant() -> sp.Expr:
    """An upper bound of C_F: the sum of the constants of all bumps."""
    return places * barron.bump(1, spread).constant


QUANTIFIERS = Erratum(
    Weight.PROOF,
    Citation(LI2025, "Appendix A.1", "after eq. (73)"),
    sentence="for any `f` there is a member of the cover such that for all `x` the error of `f` is that of this member "
    "plus `C_F eps`, and `rho_{f,i}` are its coefficients",
    reading="(23) gives a member `(f^, x^)` for each pair `(f, x)`, so that `f^`, and with it `rho_f`, may change with "
    "`x`; for sums of narrow bumps the functions 0 and the sum of all are a cover, with 4096 points at 13 bumps "
    "and `eps = 2^-11`: every smallest cover leaves out at least half of the `2^13` sums, each at a distance of "
    "1 from all others",
    repair="a cover of `F` in the sup norm of `f - f(0)`, times a cover of the ball: `f^` depends on `f` alone; its "
    "logarithm takes the place of `log |N_eps|`",
    survives="partly: with this cover; with (23) as printed nothing else is shown",
)


_quantity = partial(
    Quantity, norm="count", domain="the unit ball", kind=Kind.UPPER, quantifier=Quantifier.FOR_ALL, scopes=()
)

QUANTITIES = (
    _quantity(
        "ball", r"|\mathcal N_\varepsilon(B)|", "size of a smallest `eps`-cover of the ball",
        derive=lambda: ball_cover(d, eps), obtained=Provenance.HAND,
    ),
    _quantity(
        "bumps", r"|\mathcal N(\mathcal F)|",
        "size of a smallest cover of the bumps with centres in a ball, to `mu eps/2` in the sup norm, `mu` the mass of "
        "a bump",
        derive=bumps_cover, obtained=Provenance.HAND, domain="sup over the unit ball",
        domain_latex="functions on the unit ball, in the sup norm",
    ),
    _quantity(
        "product", r"|\mathcal N_\varepsilon|",
        "size of a smallest cover (23) of the union of the bumps and `functions` further functions, and of the ball",
        derive=union_cover, obtained=Provenance.HAND, domain="(23)",
        domain_latex="functions on the unit ball, in the sense of (23)",
    ),
    _quantity(
        "one_function", r"\min_{\hat f} \sup_x |f - f(0) - (\hat f - \hat f(0))|",
        "distance of one sum of bumps from the nearest function of a cover in the sense of (23)", derive=None,
        domain="`[-1, 1]`", norm="sup norm", printed=Printed(eps * sums_constant(), QUANTIFIERS.citation),
        erratum=QUANTIFIERS,
    ),
)  # fmt: skip

COVERING = Result(
    id="universal.covering",
    title="The cover of functions and inputs",
    citation=Citation(LI2025, "Section 2.3", "eq. (23)"),
    claim=r"\|x - \hat x\|_2 \le \varepsilon,\quad |f(x) - f(0) - (\hat f(\hat x) - \hat f(0))| \le "
    r"C_{\mathcal F} \varepsilon",
    parameters=(
        Parameter("eps", eps, "radius of the cover", 0.25),
        Parameter("d", d, "dimension of `x`", 2, integer=True, in_words="dimension of the inputs"),
        Parameter("width", width, "width of the bumps", 1.0),
        Parameter("R", R, "bound on the norm of their centres", 1.0),
        Parameter("functions", functions, "number of further functions in the union, of finite `C_F`", 3, integer=True),
        Parameter("places", places, "narrow bumps in a sum", 4, integer=True, setting=True),
    ),
    hypotheses=(
        Hypothesis("eps", sp.Ge(eps, sp.Rational(1, 2**52)), "a finer cover tells apart what float64 does not"),
        Hypothesis("eps", eps < 1, "one point covers the ball"),
        *(Hypothesis(str(each), sp.Ge(each, 1, evaluate=False), "a number") for each in (d, functions)),
        Hypothesis("places", sp.Ge(places, 2, evaluate=False), "sums that differ from 0 and from the sum of all"),
        Hypothesis("width", sp.Gt(width, 0, evaluate=False), "a scale"),
        Hypothesis("R", sp.Gt(R, 0, evaluate=False), "a scale"),
    ),
    objects=objects.COVERING,
    quantities=QUANTITIES,
    notation={functions: "m", eps: r"\varepsilon"},
    symbols={spread: "width of the narrow bumps"},
    remarks=("The text calls `N_eps` a cover of `F`; (23) makes it one of `F x B`, and so is it read.",),
)
