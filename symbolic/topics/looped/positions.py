"""Positions of algoformer (Lemma A.1): vectors that agree with themselves by more than with each other."""

import sympy as sp

from symbolic.derivations.provenance import Provenance
from symbolic.statements.result import Hypothesis, Kind, Order, Parameter, Printed, Quantifier, Quantity, Result
from symbolic.topics.looped import objects
from symbolic.words.citations import ALGOFORMER, Citation

eps, r = sp.symbols("eps r", positive=True)
N = sp.Symbol("N", integer=True, positive=True)
digits = sp.Symbol("digits", integer=True, positive=True)  # ceil(log2 N)


# p = r / sqrt(m) (+-1, ..., +-1): <p_i, p_j> is r^2 times a mean of m independent signs, which is t or more with
# probability at most e^(-m t^2 / 2) (Hoeffding). Of the N (N - 1) / 2 pairs none is, with positive probability, if
# m > 2 log(N (N - 1) / 2) / t^2, here for t = 1 - eps / r^2.
def dimension_of_signs() -> sp.Expr:
    """A dimension in which some N vectors of signs, of norm r, have a gap above eps."""
    return sp.floor(2 * sp.log(N * (N - 1) / 2) / (1 - eps / r**2) ** 2) + 1


# |p_i - p_j|^2 = 2 (r^2 - <p_i, p_j>) > 2 eps: balls of radius sqrt(eps / 2) around N points of norm r are disjoint and
# lie in one of radius r + sqrt(eps / 2), so that N <= (1 + r sqrt(2 / eps))^m.
def needed_dimension() -> sp.Expr:
    """No N vectors of norm r have a gap above eps in a smaller dimension."""
    return sp.log(N) / sp.log(1 + r * sp.sqrt(2 / eps))


# The digits of two numbers differ in one place at least, and of some in no more: <p_i, p_j> <= r^2 (1 - 2 / m).
def norm_of_digits() -> sp.Expr:
    """r^2 at which the digits of 0 .. N-1 as signs, in ceil(log2 N) dimensions, have the gap eps."""
    return eps * digits / 2


# Neighbours of N points on a circle are 2 pi / N apart.
def norm_on_circle() -> sp.Expr:
    """r^2 at which N points of a circle have the gap eps."""
    return eps / (1 - sp.cos(2 * sp.pi / N))


_LEMMA = Citation(ALGOFORMER, "Lemma A.1")


def _quantity(name: str, latex: str, meaning: str, kind: Kind, derive: object, **more: object) -> Quantity:
    fields = {"norm": "a number", "domain": "`N` vectors of norm `r`", "quantifier": Quantifier.EXISTS, **more}
    known = {"derive": derive, "obtained": Provenance.HAND} if derive else {}
    return Quantity(name, latex, meaning, kind=kind, scopes=(), **known, **fields)  # type: ignore[arg-type]  # typed above


QUANTITIES = (
    _quantity(
        "dimension", r"m_{\min}",
        "least dimension with `N` vectors of a gap above `eps`, by random signs", Kind.UPPER,
        dimension_of_signs,
    ),
    _quantity(
        "needed", r"m_{\min}", "least dimension with `N` vectors of a gap above `eps`, by disjoint balls", Kind.LOWER,
        needed_dimension, quantifier=Quantifier.FOR_ALL,
    ),
    _quantity(
        "growth", r"m_{\min}",
        "least dimension with `N` vectors of a gap above `eps`, as `N` grows, for fixed `r` and `eps`",
        Kind.UPPER, None, printed=Printed(sp.log(N), _LEMMA, order=Order.O), obtained=Provenance.ALGEBRA,
    ),
    _quantity(
        "gap", r"\min_{i \ne j} (p_i^\top p_i - p_i^\top p_j)",
        "gap of some `N` vectors of signs, in the dimension that the first bound allows",
        Kind.LOWER, None, printed=Printed(eps, _LEMMA, strict=True),
    ),
    _quantity(
        "norm.digits", r"r_{\mathrm{digits}}^2",
        "squared norm that a gap `eps` takes of the digits of `0 .. N-1` as signs", Kind.EXACT,
        norm_of_digits, domain="the digits in `ceil(log2 N)` dimensions",
    ),
    _quantity(
        "norm.circle", r"r_{\mathrm{circle}}^2",
        "squared norm that a gap `eps` takes of `N` points of a circle", Kind.EXACT, norm_on_circle,
        domain="2 dimensions",
    ),
)  # fmt: skip

POSITIONS = Result(
    id="looped.positions",
    title="Quasi-orthogonal positions",
    citation=_LEMMA,
    claim=r"p_i^\top p_i > p_i^\top p_j + \varepsilon \quad (i \ne j), \qquad p_i \in \mathbb{R}^{O(\log N)}",
    parameters=(
        Parameter("N", N, "number of vectors", 64, integer=True),
        Parameter("eps", eps, "gap", 0.5),
        Parameter("r", r, "norm of each vector", 1.0),
    ),
    hypotheses=(
        Hypothesis("N", sp.Ge(N, 3, evaluate=False), "pairs of vectors"),
        Hypothesis("eps", sp.Gt(eps, 0, evaluate=False), "a gap"),
        Hypothesis("r", sp.Gt(r, 0, evaluate=False), "a norm"),
        Hypothesis(
            "eps", eps < r**2, "`p_i^T p_i = r^2`, and vectors of signs agree by 0 and more; take a larger norm"
        ),
    ),
    objects=objects.POSITIONS,
    quantities=QUANTITIES,
    notation={eps: r"\varepsilon", digits: r"\lceil \log_2 N \rceil"},
    symbols={digits: "`ceil(log2 N)`"},
    remarks=(
        "The lemma leaves the norm free: then 2 dimensions are enough, with a norm that grows as `N`. A norm in "
        "ratio to `sqrt(eps)` takes a dimension in ratio to `log N`, and no less.",
    ),
)
