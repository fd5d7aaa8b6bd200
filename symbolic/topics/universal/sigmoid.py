"""A ridge cosine as an integral of clipped ramps (li2025, Lemma 5, (69), (75), (81)): its exact error, best constants.

g(z) = (cos(omega z + theta) - cos(theta))/omega on [-1, 1]. With gamma of (82), G(x) = int_{-2}^x gamma is g on [-1, 1]
and the integral of ramps at z is the mean of G over [z - a, z + a], a = 1/(2 tau): a ramp is a mean of unit steps.
"""

from functools import cache, partial

import sympy as sp

from symbolic.calculus import given, linear_map
from symbolic.derivations.derivation import Approximated
from symbolic.derivations.provenance import Provenance
from symbolic.statements.errata import Erratum, Weight
from symbolic.statements.result import Formula, Hypothesis, Kind, Parameter, Printed, Quantifier, Quantity, Result
from symbolic.topics.universal import objects
from symbolic.words.citations import LI2025, Citation

tau = sp.Symbol("tau", positive=True)
omega = sp.Symbol("omega", positive=True)
omega_max = sp.Symbol("omega_max", positive=True)
theta, z = sp.symbols("theta z", real=True)
ridges = sp.Symbol("ridges", integer=True, positive=True)
d = sp.Symbol("d", integer=True, positive=True)
mass = sp.Symbol("mass", positive=True)  # C_F - sup |f(0)|, what int |omega| F^sup is
width = sp.Symbol("a", positive=True)  # half the width of a ramp
s, t, x = (sp.Symbol(name, real=True) for name in ("s", "t", "x"))


def ramp(at: sp.Expr) -> sp.Expr:
    """phi of (26)."""
    return sp.Max(at + sp.Rational(1, 2), 0) - sp.Max(at - sp.Rational(1, 2), 0)


# (69).


# 2 eps + 1/2 - tau eps falls up to eps = 1/(2 tau), as tau >= 2; from there 2 eps grows; 1/(2 tau) <= 1/2.
@cache
def delta() -> sp.Expr:
    """delta_tau, for tau >= 2."""
    half = sp.Symbol("half", positive=True)
    (kink,) = sp.solve(sp.Rational(1, 2) - tau * half, half)
    return sp.simplify(2 * kink)


# (75), (81): the error is int k(s) gamma(z - s) ds with k(s) = [s > 0] - phi(tau s), and |gamma| <= 1.
# Equality: gamma jumps from 1 to -1 at z; the ridge cosines reach it at z = -1, theta = pi/2 as omega -> 0.
@cache
def best_error() -> sp.Expr:
    """int |k|: the largest error for |gamma| <= 1."""
    # k is odd, 1/2 - tau s for 0 < s < 1/(2 tau), and 0 beyond
    return sp.simplify(2 * sp.integrate(1 - (tau * s + sp.Rational(1, 2)), (s, 0, 1 / (2 * tau))))


def derive_lemma_5() -> Approximated:
    """The error of f^approx: that of the ridges, integrated over a measure of total mass C_F - sup |f(0)|."""
    each = given("ridge", dim=ridges, size=1, error=best_error(), reason="`|gamma| <= 1`, and `int |k|` (75)")
    return linear_map(each, "function", operator_norm=mass, dim=1, reason="the integral over `|omega| |F_f| d omega`")


# The exact error, piece by piece.


def ridge(at: sp.Expr) -> sp.Expr:
    return (sp.cos(omega * at + theta) - sp.cos(theta)) / omega


def _clipped(at: sp.Expr, low: sp.Expr, high: sp.Expr) -> sp.Expr:
    return sp.Min(sp.Max(at, low), high)


@cache
def _integral_of_ridge() -> sp.Expr:
    """int_{-1}^x g."""
    return sp.simplify(sp.integrate(ridge(t), (t, -1, x)))


def _primitive(at: sp.Expr) -> sp.Expr:
    """int_{-oo}^x G: a parabola where G grows from 0 to g(-1), the integral of g, a line where G stays at g(1)."""
    left, inside = ridge(sp.Integer(-1)), _clipped(at, sp.Integer(-1), sp.Integer(1))
    grown = _clipped(at + 1 + sp.Abs(left), sp.Integer(0), sp.Abs(left))
    beyond = ridge(sp.Integer(1)) * sp.Max(at - 1, 0)
    return sp.sign(left) * grown**2 / 2 + _integral_of_ridge().subs(x, inside) + beyond


@cache
def exact_error() -> sp.Expr:
    """g(z) - int gamma(t) phi(tau (z - t)) dt, for every z in [-1, 1], omega, theta and tau."""
    mean = tau * (_primitive(z + 1 / (2 * tau)) - _primitive(z - 1 / (2 * tau)))
    return ridge(z) - mean


@cache
def inner_error() -> sp.Expr:
    """The same for |z| <= 1 - 1/(2 tau), where the mean is of g alone."""
    mean = sp.integrate(ridge(z + s), (s, -width, width)) / (2 * width)
    return sp.factor(sp.simplify(sp.expand_trig(ridge(z) - mean))).subs(width, 1 / (2 * tau))


# (81) with its sign, for all gamma of (81b) and tau >= 1/2. For t in [-2, 1] the ramp psi(z) = phi(tau (z + t)) is 0 at
# z = -1 but for t within 1/(2 tau) of 1, and then psi(-1) <= 1/2 and psi(1) = 1: |4 psi(-1) - psi(1)| <= 1 for all t.
# So |4 I(-1) - I(1)| <= int |gamma| <= 3 for I(z) = int gamma(t) phi(tau (z + t)) dt, while an error of at most e at
# both ends means |4 I(-1) - I(1)| >= |4 g(-1) - g(1)| - 5 e.
@cache
def error_with_printed_sign() -> sp.Expr:
    """A lower bound of the larger error of (81a) at z = -1 and z = 1, whatever gamma of (81b) is taken."""
    return (sp.Abs(4 * ridge(sp.Integer(-1)) - ridge(sp.Integer(1))) - 3) / 5


# The quantities.

_LEMMA_5 = Citation(LI2025, "Lemma 5", "eq. (70)")
_APPENDIX = "Appendix A.1"
PRINTED_ERROR = 3 / tau  # 3 delta_tau

SIGN = Erratum(
    Weight.DEFINITION,
    Citation(LI2025, "Appendix A.1.1", "eq. (81a)"),
    sentence=(
        "`|g(z) - int_[-2,1] gamma(t) phi(tau (z + t)) dt| <= 3 delta_tau` for some `gamma` with `int |gamma| <= 3`"
    ),
    reading="(81b) alone is asked of `gamma`, not `|gamma| <= 1` as in (75b); (75) and the proof have `z - t`. "
    "With `z + t` a ramp with `t <= 1` is at most 1/2 at `z = -1`, and 1 at `z = 1` unless it is 0 at -1: "
    "`|4 I(-1) - I(1)| <= int |gamma|` for the integral I, while `|4 g(-1) - g(1)|` is near 5 for `g` "
    "near `-z`",
    repair="`phi(tau (z - t))`, as in (75) and in the proof",
    survives="yes: (75) is what Lemma 5 uses",
)
LINEAR = Erratum(
    Weight.PROOF,
    Citation(LI2025, _APPENDIX, "eq. (68), (71)"),
    sentence="`f(x) - f(0)` is the integral over `omega != 0` of cosines with weight `|F_f(omega)|`",
    reading="linear functions are a class of Section 2.3, with `C_F = C_a + C_b` by (20), and `F_f` of (17a) is "
    "read as a distribution; all of its mass lies at `omega = 0`, which (68) and (71) leave out: "
    "`f^approx` is 0. Integrable functions that equal these on the ball meet (68), with `C_F` as near to "
    "`C_a + C_b` as one likes for one direction; but for all `|a| <= C_a` (19) is then at least `C_b + "
    "C_a/E|u_1|`, `u` uniform on the sphere, as `|a| <= int |omega^T a/|a|| F^sup`: from `d = 2` on that "
    "is `pi/2 C_a` or more, against (21)",
    repair="the limit `omega -> 0` of (75): `g(z) = -sin(theta) z`, with ramps in the direction of a",
    survives="partly: the limit has the same constants for each direction that the measure contains, but the masses of "
    "several directions add up, so that `C_F` is not that of (21)",
)


_DOMAIN = "`omega in (0, omega_max]`, `theta in [0, 2 pi]`, `|z| <= 1`"
_quantity = partial(Quantity, norm="absolute value", domain=_DOMAIN, quantifier=Quantifier.FOR_ALL)
QUANTITIES = (
    _quantity(
        "delta", r"\delta_\tau", "distance of the ramp from the unit step", kind=Kind.EXACT, domain="`tau > 2`",
        scopes=(), derive=delta, obtained=Provenance.ALGEBRA,
        printed=Printed(1 / tau, Citation(LI2025, _APPENDIX, "eq. (69)")),
    ),
    _quantity(
        "ridge", r"|g(z) - \int \gamma(t) \phi(\tau(z - t))\,dt|", "error of the integral of ramps, for one ridge",
        kind=Kind.UPPER, norm="sup norm", derivation=derive_lemma_5().derivation.upto("ridge"), scopes=("network",),
        printed=Printed(PRINTED_ERROR, Citation(LI2025, "Appendix A.1.1", "eq. (75a)")), trivial=sp.Integer(1),
        worst_case={},
    ),
    _quantity(
        "function", r"|f(x) - f(0) - f^{\mathrm{approx}}(x)|", "error of a sum of ridges of total weight `mass`",
        kind=Kind.UPPER, derivation=derive_lemma_5().derivation, scopes=("network",), worst_case={},
        printed=Printed(mass * PRINTED_ERROR, _LEMMA_5), trivial=mass, domain=f"`||x||_2 <= 1`; {_DOMAIN}",
        remark="a spectrum of finitely many ridges",
    ),
    _quantity(
        "ridge.exact", "e(z)", "exact error, as a formula in `tau`, `omega`, `theta`, `z`", kind=Kind.EXACT, scopes=(),
        derive=exact_error, obtained=Provenance.ALGEBRA,
    ),
    _quantity(
        "ridge.printed_sign", r"\max_{z = \pm 1} |g(z) - \int \gamma(t) \phi(\tau(z + t))\,dt|",
        "least error of (81a) with its printed sign, over all `gamma` of (81b)", kind=Kind.UPPER, scopes=(),
        printed=Printed(PRINTED_ERROR, SIGN.citation), erratum=SIGN,
        finding="no `gamma` has an error below {found}; printed: {printed}",
    ),
    _quantity(
        "function.linear", r"|f(x) - f(0) - f^{\mathrm{approx}}(x)|",
        "error of `f^approx` as printed, for `f = mass x_1`",
        kind=Kind.UPPER, scopes=(), printed=Printed(mass * PRINTED_ERROR, _LEMMA_5), erratum=LINEAR, domain="`x = e_1`",
    ),
)  # fmt: skip

SIGMOID = Result(
    id="universal.sigmoid",
    title="A ridge cosine as an integral of clipped ramps",
    citation=Citation(LI2025, "Lemma 5", "eq. (69), (75), (81)"),
    claim=r"\Big|\frac{\cos(\omega^\top x + \theta) - \cos\theta}{\|\omega\|_2} - \int_{-2}^1 \gamma(t)\,"
    r"\phi(\tau(\|\omega\|_2^{-1} \omega^\top x - t))\,dt\Big| \le 3 \delta_\tau",
    parameters=(
        Parameter("tau", tau, "slope of the ramps", (4.0, 16.0, 64.0, 256.0)),
        Parameter("omega_max", omega_max, "largest frequency of a ridge", 16.0),
        Parameter(
            "mass",
            mass,
            "`C_F - sup |f(0)|`, the total weight of the ridges",
            1.0,
            in_words="total weight of the ridges",
        ),
        Parameter("ridges", ridges, "number of ridges in a sum", 2, integer=True, setting=True),
        Parameter("d", d, "dimension of `x`", 2, integer=True, in_words="dimension of the inputs"),
    ),
    hypotheses=(
        Hypothesis("tau", tau > 2, "Lemma 5 is for `tau > 2`: below, `delta_tau` is 1/2 and not `1/tau`"),
        Hypothesis("omega_max", sp.Ge(omega_max, sp.Rational(1, 64)), "frequencies start at 1/1024"),
        Hypothesis("mass", sp.Gt(mass, 0, evaluate=False), "a weight"),
        Hypothesis("ridges", sp.Ge(ridges, 1, evaluate=False), "a sum has a term"),
        Hypothesis("d", sp.Ge(d, 1, evaluate=False), "a dimension"),
    ),
    objects=objects.SIGMOID,
    quantities=QUANTITIES,
    notation={
        tau: r"\tau",
        omega: r"\omega",
        theta: r"\theta",
        omega_max: r"\omega_{\max}",
        mass: r"\tilde C_{\mathcal F}",
    },
    symbols={omega: "frequency, above 0", theta: "phase", z: "a number, the place at which a ridge is taken"},
    formulas=(
        Formula("e(z)", inner_error, "the error for `|z| <= 1 - 1/(2 tau)`"),
        Formula(r"\sup |e|", best_error, "best constant of (75) and (81), for `gamma` of (82)"),
    ),
)
