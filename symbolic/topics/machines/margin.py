r"""Theorem D.6: the all-layer margin of a network with corrections, from nine constants (Wei, Chen, Ma 2021).

printed: the minimum of nine terms. derived: the same induction by the calculus, its two perturbations pooled in place
of halved, ||g_j|| <= lambda + sigma_zeta in place of 2 lambda, so never below the printed bound. instance: the
induction with the numbers of each layer, in the joint form of `perturbed_layers`.
"""

from dataclasses import replace
from functools import cache, partial

import sympy as sp

from symbolic.calculus import Approximated, Norm, correct, given, largest_safe, perturbed_function, pool
from symbolic.derivations.provenance import Provenance
from symbolic.statements.result import (
    Formula,
    Kind,
    Order,
    Parameter,
    Printed,
    Quantifier,
    Quantity,
    Result,
)
from symbolic.topics.machines import objects
from symbolic.topics.machines import perturbed_layers as p
from symbolic.topics.machines.circuit import CIRCUITS
from symbolic.topics.machines.perturbed_layers import (
    ROUNDING_IN,
    ROUNDING_OUT,
    ROUNDING_RADIUS,
    rho,
    sigma_zeta,
    two_relu_layers,
)
from symbolic.words.citations import WEI2021, Citation

THEOREM = Citation(WEI2021, "Theorem D.6", "eq. (D.5)")

lam = sp.Symbol("lambda_", positive=True)  # the size of every exact layer, at least 1
mu, mu_0 = sp.symbols("mu mu_0", positive=True)
kappa_theta, kappa_xi = sp.symbols("kappa_theta kappa_xi", positive=True)
sigma_theta, sigma_xi, sigma_h = sp.symbols("sigma_theta sigma_xi sigma_h", positive=True)
move_theta, move_xi = sp.symbols("t_theta t_xi", nonnegative=True)
r = sp.Symbol("r", positive=True)  # the width of a circuit

CONSTANTS = (lam, mu_0, mu, kappa_theta, kappa_xi, sigma_zeta, sigma_theta, sigma_xi, sigma_h)

PRINTED_TERMS = (
    lam / mu_0,
    sigma_zeta / mu_0,
    sigma_theta,
    sigma_xi,
    1 / (2 * kappa_theta),
    sigma_zeta / (2 * kappa_theta * lam),
    sigma_h / (2 * kappa_xi * lam),
    sigma_zeta / (4 * lam * mu * kappa_xi),
    1 / (4 * mu * kappa_xi),
)
PRINTED_BOUND = sp.Min(*PRINTED_TERMS, evaluate=False)


# (D.6) to (D.8): the moves of f_0, of each f_i, i >= 1, and of each zeta_j. Lemma D.9 makes their least the margin.
MOVES = {"first": PRINTED_TERMS[:2], "theta": (*PRINTED_TERMS[2:3], *PRINTED_TERMS[4:6]),
         "xi": (*PRINTED_TERMS[3:4], *PRINTED_TERMS[6:])}  # fmt: skip
PRINTED_DEVIATION = sp.Min(lam, sigma_zeta)


# Lemma D.8 with ||theta_hat_i - theta_i|| <= t_theta, ||xi_hat_j - xi_j|| <= t_xi:
#   |||H' - H||| <= kappa_xi max(||g_j||, 1) t_xi <= kappa_xi (lambda + sigma_zeta) t_xi   (lambda >= 1),
#   ||g_i - h_i|| <= kappa_theta lambda t_theta + mu kappa_xi (lambda + sigma_zeta) t_xi.
@cache
def layer_deviation() -> Approximated:
    """||g_i - h_i|| for these moves, all earlier layers being within sigma_zeta."""
    width = sp.Symbol("w", positive=True, integer=True)
    raw = given(
        "g_j", dim=width, norm=Norm.TWO, size=lam, error=sigma_zeta, reason="by induction (Lemma D.7 starts it)"
    )
    exact = correct(raw, "zeta(g_j; xi)", sigma=sigma_zeta, reason="Definition D.1")
    corrected = perturbed_function(
        exact,
        "h~_j",
        lipschitz=1,
        eps=kappa_xi * (lam + sigma_zeta) * move_xi,
        size=lam,
        reason="Condition D.3 for `zeta`",
    )
    return perturbed_function(
        corrected, "g_i'", lipschitz=mu, eps=kappa_theta * lam * move_theta, size=lam, reason="Definition D.2 for `f_i`"
    )


# With t_theta^2 + t_xi^2 <= rho^2.
@cache
def layer_error() -> Approximated:
    """||g_i - h_i|| for all parameters moved by at most rho together."""
    return pool(layer_deviation(), "g_i", groups=(move_theta, move_xi), total=rho)


@cache
def derived_margin() -> sp.Expr:
    """The largest rho at which the induction holds (rule 11: inversion)."""
    layer = largest_safe(layer_error().error, rho, sigma_zeta).value
    inside = largest_safe(kappa_xi * (lam + sigma_zeta) * rho, rho, sigma_h).value  # |||H' - H||| <= sigma_h
    first = largest_safe(mu_0 * rho, rho, sigma_zeta).value  # Lemma D.7
    return sp.Min(first, sigma_theta, sigma_xi, inside, layer)


# The constants of f(h) = phi(W_2 phi(W_1 h + b_1) + b_2) and of a rounding, valid for moves of at most `rho`. With the
# input exact, the calculus gives a move of t sqrt(a (||h||^2 + 1) + b) <= t sqrt(2 a + b) max(||h||, 1): kappa is its
# value at ||h|| = 1.
@cache
def layer_move(readout: sp.Expr | None = None) -> sp.Expr:
    """||f(h, theta_hat) - f(h, theta)|| per unit of the move of theta, in `perturbed_layers`' symbols."""
    return two_relu_layers(corrected=False, readout=readout).error / rho


def layer_lipschitz(readout: sp.Expr | None = None) -> sp.Expr:
    """The Lipschitz constant of a layer in h, its parameters moved by at most rho."""
    inner = (p.norm_1 + rho) * (p.norm_2 + rho)
    return inner if readout is None else inner * (readout + rho)


# The hidden units phi(h - 1/3), phi(h - 2/3) of a rounding are together at most sqrt(2) ||h||, whatever h is.
@cache
def any_rounding_move() -> sp.Expr:
    """kappa_xi: ||zeta(h, xi_hat) - zeta(h, xi)|| <= kappa_xi max(||h||, 1) ||xi_hat - xi|| for every h."""
    known = {p.norm_1: ROUNDING_IN, p.norm_2: ROUNDING_OUT, p.hidden: sp.sqrt(2) * p.size}
    return layer_move().subs(known).subs(p.size, 1)


# A layer of fan-in 2 has ||W_1||_2 <= sqrt(2 * fan-out) <= sqrt(2 r), ||W_2||_2 <= 1, lambda, H <= sqrt(r). As r grows
# the bound tends to 0 and with it the radius for which the constants hold: they tend to their values at rho = 0.
_WIDE = {p.norm_1: sp.sqrt(2 * r), p.norm_2: sp.Integer(1), p.hidden: sp.sqrt(r)}


@cache
def width_exponent() -> sp.Expr:
    """The power of the width r with which the derived margin of a circuit falls (fan-in 2, any fan-out)."""
    wide = {
        lam: sp.sqrt(r),
        mu_0: layer_move().subs({**_WIDE, p.size: sp.sqrt(r)}),
        mu: layer_lipschitz().subs(_WIDE),
        kappa_theta: layer_move().subs({**_WIDE, p.size: 1}),
        kappa_xi: any_rounding_move(),
        sigma_zeta: ROUNDING_RADIUS,
    }
    chosen = {sigma_theta, sigma_xi, sigma_h}  # two as large as the least of the others, one infinite
    terms = [term for term in derived_margin().args if not term.free_symbols & chosen]
    return sp.Min(*(_power_of_width(term.subs(wide)) for term in terms))


@cache
def joint_width_exponent() -> sp.Expr:
    """The same power for the joint form of `perturbed_layers`, of which the instance's bound is one case."""
    slope = two_relu_layers().error / rho
    return _power_of_width((ROUNDING_RADIUS / slope).subs({**_WIDE, p.size: sp.sqrt(r), sigma_zeta: ROUNDING_RADIUS}))


def _power_of_width(margin: sp.Expr) -> sp.Expr:
    return sp.limit(sp.log(margin.subs(rho, 0)) / sp.log(r), r, sp.oo)


_constant = partial(
    Quantity,
    norm="2-norm",
    domain="all inputs of the circuit",
    quantifier=Quantifier.FOR_ALL,
    scopes=(),
    obtained=Provenance.HAND,
)

_MARGIN = Quantity(
    name="margin",
    latex_symbol=r"\rho_F",
    meaning="smallest 2-norm of a perturbation of all parameters that flips the prediction at this input",
    norm="2-norm, over all weights and biases",
    domain="this input; the printed and derived bounds hold for all",
    domain_latex="every input of the circuit",
    kind=Kind.LOWER,
    quantifier=Quantifier.FOR_ALL,
    printed=Printed(PRINTED_BOUND, THEOREM),
    derive=derived_margin,
    scopes=(),
)

_QUANTITIES = (
    _MARGIN,
    replace(
        _MARGIN,
        name="shared",
        latex_symbol=r"\rho_{F'}",
        meaning="the same margin with one set of parameters shared by all corrections (Definition D.5)",
    ),
    _constant(
        "deviation",
        r"\text{error of a layer}",
        "largest error of a layer before its correction, each layer moved by as much as (D.6) to (D.8) allow",
        kind=Kind.UPPER,
        domain="this input; the bounds hold for all",
        printed=Printed(PRINTED_DEVIATION, Citation(WEI2021, "Lemmas D.7, D.8")),
        remark="Lemma D.9 takes the least of these moves for the margin, which is the printed one of the row `margin`",
    ),
    _constant(
        "corrected",
        r"\text{error behind a correction}",
        "the same behind the exact correction of that layer, at the moves that were found for the row before",
        kind=Kind.EXACT,
        domain="this input; the bound holds for all",
        printed=Printed(sp.S.Zero, Citation(WEI2021, "Lemmas D.7, D.8")),
    ),
    _constant("lambda", r"\lambda", "largest 2-norm of an exact layer, at least 1", kind=Kind.UPPER),
    _constant("mu_0", r"\mu_0", "Lipschitz constant of the first layer in its parameters", kind=Kind.UPPER),
    _constant("mu", r"\mu", "Lipschitz constant of a layer in its input, at perturbed parameters", kind=Kind.UPPER),
    _constant(
        "kappa_theta",
        r"\kappa_\theta",
        "Lipschitz constant of a layer in its parameters, per `max(||h||_2, 1)` of its input `h`",
        kind=Kind.UPPER,
    ),
    _constant(
        "kappa_xi",
        r"\kappa_\xi",
        "Lipschitz constant of a correction in its parameters, per `max(||h||_2, 1)` of its input `h`",
        kind=Kind.UPPER,
    ),
    _constant("sigma_zeta", r"\sigma_\zeta", "radius of the errors that a correction removes", kind=Kind.LOWER),
    _constant(
        "sigma_theta", r"\sigma_\theta", "radius of `theta` in which the constants hold, chosen best", kind=Kind.EXACT
    ),
    _constant("sigma_xi", r"\sigma_\xi", "radius of `xi` in which the constants hold, chosen best", kind=Kind.EXACT),
    _constant(
        "sigma_h", r"\sigma_h", "radius of the input in which they hold: infinite for ReLU layers", kind=Kind.LOWER
    ),
    _constant(
        "width_exponent",
        r"\log b / \log r",
        "power of the width `r` with which the derived bound falls as `r` grows, fan-in 2 and any fan-out",
        kind=Kind.RATE,
        norm="exponent",
        printed=Printed(sp.Integer(1), Citation(WEI2021, "Lemma 3.3", "which prints `1/poly(s)`"), order=Order.O),
        derive=width_exponent,
        remark="printed as `1/poly(s)`, its degree unspecified",
    ),
)

_NOTATION = {lam: r"\lambda", p.size: r"\lambda"}

MARGIN = Result(
    id="machines.margin",
    title="All-layer margin of a circuit with rounding layers",
    citation=Citation(WEI2021, "Def. D.1-D.5, Theorem D.6, Lemma 3.3"),
    claim=r"\rho_F((\theta, \xi), x, y) \ge " + sp.latex(PRINTED_BOUND, symbol_names=_NOTATION),
    parameters=(
        Parameter("netlist", None, f"{CIRCUITS}; its first output is `F`", "majority5", takes="NAME|FILE"),
        Parameter("input", None, "the bits of the input, first input first; '' draws one", "", takes="BITS"),
    ),
    hypotheses=(),
    objects=objects.CIRCUIT_MARGIN,
    assumptions=("`F(x)` is -1 or 1 at every input `x` of bits",),
    quantities=_QUANTITIES,
    notation=_NOTATION,
    symbols={
        lam: "bound on the 2-norm of each exact layer at every input, at least 1",
        mu_0: "Lipschitz constant of the first layer in its parameters",
        mu: "Lipschitz constant of a layer in its input, at perturbed parameters",
        kappa_theta: "Lipschitz constant of a layer in its parameters, per `max(||h||_2, 1)` of its input `h`",
        kappa_xi: "Lipschitz constant of a correction in its parameters, per `max(||h||_2, 1)` of its input `h`",
        sigma_zeta: "radius of the errors that a correction removes, below 1",
        sigma_theta: "radius of `theta` in which the constants hold",
        sigma_xi: "radius of `xi` in which they hold",
        sigma_h: "radius of the inputs in which they hold",
        rho: "2-norm of the perturbation of all parameters",
    },
    remarks=(
        "Derived: perturbations pooled (Cauchy-Schwarz), not halved; `lambda + sigma_zeta` in place of `2 lambda`.",
        "(D.1) is read with `g_i` for `g_{i-1}` as the argument of `zeta_i`, (D.8) with `xi_hat_i - xi_i`.",
        "Condition D.3 is read with `mu_0` within `sigma_theta` of `theta`: two layers have no such constant for all "
        "`theta`.",
        "Pooling needs `theta` and `xi` to be disjoint, also where they are shared (Definition D.5).",
    ),
    formulas=(
        Formula(
            r"\text{error of a layer}",
            lambda: layer_error().error,
            "error of a layer, parameters perturbed by `rho`",
            Kind.UPPER,
        ),
        Formula(
            r"\|f_i(\hat h, \hat\theta) - f_i(h, \theta)\|_2",
            lambda: two_relu_layers().error,
            "the same for two ReLU layers and a correction before them, with their own norms",
            Kind.UPPER,
        ),
    ),
)
