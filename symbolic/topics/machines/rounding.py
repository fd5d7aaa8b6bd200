"""Rounding between layers (wei2021, Section 3.1): the margins of the toy with it and without it, in closed form.

The plain toy is f = W_1 ... W_D x - 1/2, the rounded one (3.1) has `round` after each W_i; both at
W_i = 1, x = 1, y = 1. The all-layer margin is the 2-norm of the smallest change of (W_1, ..., W_D) after which the
output is not positive.
"""

from functools import cache, partial

import sympy as sp

from symbolic.calculus import Norm, correct, given, largest_safe, perturbed_map
from symbolic.derivations.derivation import Approximated, DerivationError
from symbolic.derivations.provenance import Provenance
from symbolic.statements.result import (
    Formula,
    Hypothesis,
    Kind,
    Order,
    Parameter,
    Printed,
    Quantifier,
    Quantity,
    Result,
)
from symbolic.topics.machines import objects
from symbolic.words.citations import WEI2021, Citation

D = sp.Symbol("depth", positive=True, integer=True)
z, z_next = sp.symbols("z z_next", positive=True)  # a layer's output and the next one's, both after rounding
delta = sp.Symbol("delta", positive=True)
eps = sp.Symbol("epsilon", nonnegative=True)  # 2-norm of the change of all parameters

THIRD, HALF = sp.Rational(1, 3), sp.Rational(1, 2)


# Proposition 3.4.


def relu(x: sp.Expr) -> sp.Expr:
    return sp.Max(x, 0)


def rounding_net(x: sp.Expr) -> sp.Expr:
    """The ReLU net of Proposition 3.4."""
    return 3 * relu(x - THIRD) - 3 * relu(x - 2 * THIRD)


def rounding_pieces(x: sp.Expr) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """`round` below 1/3, from there to 2/3, and beyond (the paper has x for z in the middle)."""
    return sp.Integer(0), 3 * x - 1, sp.Integer(1)


# Each piece in coordinates that range over it and nothing else: z = 1/3 - t, 1/3 + 1/(3 (1 + t)) or 1/3, 2/3 + t.
@cache
def rounding_gap() -> sp.Expr:
    """The largest difference of the net and `round`, over all pieces: 0 if they are equal."""
    t = sp.Symbol("t", nonnegative=True)
    covers = ((THIRD - t,), (THIRD, THIRD + 1 / (3 * (1 + t))), (2 * THIRD + t,))
    pairs = [(rounding_net(at), rounding_pieces(at)[piece]) for piece, places in enumerate(covers) for at in places]
    return sp.Max(*(sp.Abs(sp.simplify(net - piece)) for net, piece in pairs))


def rounded_output() -> sp.Expr:
    """f~ at (1, ..., 1), x = 1: the fixed point 1 of the net, minus 1/2."""
    if rounding_net(sp.Integer(1)) != 1:
        raise DerivationError("rounding: round(1) is not 1")
    return sp.Integer(1) - HALF


# The plain toy.


# One change delta = 1/2 suffices, so that all |delta_i| <= 1/2, and no W_i changes its sign. What is wanted is then
# sum -log(1 - delta_i) >= log 2. With s = delta^2 the map s -> -log(1 - sqrt s) is concave for sqrt s <= 1/2, so by
# Jensen all delta_i alike are the cheapest: (1 - delta)^D = 1/2.
@cache
def plain_margin() -> sp.Expr:
    """The margin of the plain toy, exact for every D. Raises DerivationError if the map is not shown to be concave."""
    s, q = sp.Symbol("s", positive=True), sp.Symbol("q", nonnegative=True)
    bend = sp.diff(-sp.log(1 - sp.sqrt(s)), s, 2)
    if not sp.factor(sp.simplify(bend.subs(s, (2 + q) ** -2))).is_nonpositive:
        raise DerivationError("plain margin: -log(1 - sqrt s) is not shown to be concave for sqrt s <= 1/2")
    alike = sp.solve(sp.Eq(D * sp.log(1 - delta), sp.log(HALF)), delta)
    if len(alike) != 1:
        raise DerivationError("plain margin: (1 - delta)^D = 1/2 has no single solution")
    return sp.sqrt(D) * sp.powsimp(sp.expand_log(alike[0], force=True))


@cache
def plain_order() -> sp.Expr:
    """The limit of the plain margin times sqrt(D)."""
    return sp.limit(plain_margin() * sp.sqrt(D), D, sp.oo)


def all_alike(change: sp.Expr) -> sp.Expr:
    """The plain toy's output where every W_i is 1 - change."""
    return (1 - change) ** D - HALF


PRINTED_CHANGE = 3 / D


# The rounded toy: a scalar problem. From z (an output of round) the next layer aims at a = (1 + delta) z, which costs
# (1 - a/z)^2, and passes on z' = round(a).


@cache
def stage_cost() -> sp.Expr:
    """What it costs to pass from z to z' in one layer, z' inside (0, 1), where round is its middle piece."""
    a = sp.Symbol("a", real=True)
    (aim,) = sp.solve(sp.Eq(rounding_pieces(a)[1], z_next), a)
    return (1 - aim / z) ** 2


@cache
def last_cost() -> sp.Expr:
    """What the last layer costs: the output is no longer positive at z' = 1/2."""
    return stage_cost().subs(z_next, HALF)


# Claim: V_k(z) >= kappa_k (1 - 1/(2z))^2 for 1/2 <= z <= 1, where V_k is the cost of the last k layers; kappa_1 = 1.
# With z = 1/2 + u the layer aims at a = 1/2 + e. If a <= 1/2, it alone costs (1 - 1/(2z))^2; if a >= 2/3, z' = 1 >= z.
# Else z' = 1/2 + 3e. If z' >= z there is nothing to show, as 1 - 1/(2z) increases. If z' <= z,
#   V_{k+1}(z) z^2 >= (u - e)^2 + kappa_k (3e)^2 (z/z')^2 >= (u - e)^2 + 9 kappa_k e^2 >= u^2 9 kappa_k/(1 + 9 kappa_k),
# and u/z = 1 - 1/(2z). So 1/kappa_{k+1} = 1 + 1/(9 kappa_k).
@cache
def weight_of_next() -> sp.Expr:
    """kappa_{k+1} as a function of kappa_k, by minimising over e."""
    u, kappa, e = sp.symbols("u kappa e", positive=True)
    slope = sp.diff(rounding_pieces(z)[1], z)
    total = (u - e) ** 2 + kappa * (slope * e) ** 2
    (best,) = sp.solve(sp.diff(total, e), e)
    weight = sp.factor(sp.simplify(total.subs(e, best) / u**2))
    if weight.has(u):
        raise DerivationError("rounded margin: the bound is not a multiple of u^2")
    return weight


@cache
def weight(depth: sp.Expr = D) -> sp.Expr:
    """kappa_D in closed form."""
    (kappa,) = weight_of_next().free_symbols
    x, k = sp.Symbol("x"), sp.Symbol("k", integer=True, positive=True)
    step = sp.expand(sp.simplify(1 / weight_of_next().subs(kappa, 1 / x)))  # of x = 1/kappa: linear
    ratio, offset = step.coeff(x, 1), step.coeff(x, 0)
    if sp.simplify(step - ratio * x - offset) != 0:
        raise DerivationError("rounded margin: the recursion of 1/kappa is not linear")
    j = sp.Symbol("j", integer=True)
    inverse = ratio ** (k - 1) + offset * sp.summation(ratio**j, (j, 0, k - 2))
    return sp.simplify((1 / inverse).subs(k, depth))


@cache
def rounded_margin() -> sp.Expr:
    """A lower bound of the rounded toy's margin, sqrt(kappa_D) (1 - 1/2)."""
    return sp.simplify(sp.sqrt(weight() * last_cost().subs(z, 1)))


@cache
def every_weight() -> sp.Expr:
    """The limit of kappa_D, which it falls to."""
    return sp.limit(weight(), D, sp.oo)


@cache
def rounded_margin_every_depth() -> sp.Expr:
    return sp.sqrt(every_weight() * last_cost().subs(z, 1))


# The rounded toy where the parameters of the rounding layers move as well: V phi(U z + b) + c, then the next W.


@cache
def rounding_layer(safe_without: sp.Expr | None = None) -> Approximated:
    """W_hat round_hat(z_hat) against 1 per unit of a change eps of all parameters, wherever |z_hat - 1| <= 1/3.

    `safe_without`, a bound on eps, enlarges the operator norms to those of the moved matrices.
    """
    moved = sp.Integer(0) if safe_without is None else safe_without
    first = sp.Matrix([[1, -THIRD], [1, -2 * THIRD]])  # U and b
    last = sp.Matrix([[3, -3, 0]])  # V and c
    farthest = 1 + THIRD
    # round and round_hat at the same input: z_hat is exact, with a coordinate 1 for the bias.
    entry = given("z_hat", dim=2, norm=Norm.TWO, size=sp.sqrt(farthest**2 + 1), reason="`|z_hat - 1| <= 1/3`, and a 1")
    hidden = perturbed_map(
        entry, "hidden", operator_norm=_spectral(first), perturbed_norm=_spectral(first) + moved,
        perturbation=1, dim=2, pooled=True, reason="`phi` does not expand",
    )  # fmt: skip
    activations = [relu(farthest - THIRD), relu(farthest - 2 * THIRD), 1]  # largest at the right end, as they increase
    with_one = _of_size(hidden, sp.sqrt(sum(each**2 for each in activations)))
    rounded = perturbed_map(
        with_one, "rounded", operator_norm=_spectral(last), perturbed_norm=_spectral(last) + moved,
        perturbation=1, dim=1, pooled=True,
    )  # fmt: skip
    return perturbed_map(
        _of_size(rounded, sp.Integer(1)), "next", operator_norm=1, perturbed_norm=1 + moved,
        perturbation=1, dim=1, pooled=True, reason="the next layer's W, at the exact value 1",
    )  # fmt: skip


def _spectral(matrix: sp.Matrix) -> sp.Expr:
    return sp.sqrt(max((matrix * matrix.T).eigenvals(), key=lambda value: sp.N(value)))


def _of_size(x: Approximated, size: sp.Expr) -> Approximated:
    """The same value with a sharper bound on the size of the exact one, known from its formula."""
    return Approximated(x.name, x.dim, x.norm, size, x.derivation)


# The operator norms of the moved matrices exceed those of the exact ones by at most eps, which is at most what would be
# safe if they did not: two rounds, and nothing is guessed.
@cache
def rounding_layers_margin() -> sp.Expr:
    """A lower bound of the margin over the parameters of all layers: the eps that `round` still undoes."""
    at_most = largest_safe(rounding_layer().error * eps, eps, THIRD).value
    return sp.simplify(largest_safe(rounding_layer(at_most).error * eps, eps, THIRD).value)


DIGITS = 6  # behind the point


def rounding_layers_number() -> sp.Expr:
    """`rounding_layers_margin` as a decimal number, rounded down."""
    shifted = sp.floor(rounding_layers_margin() * 10**DIGITS)
    return sp.Float(sp.Rational(shifted, 10**DIGITS), DIGITS)


def rounding_layer_corrected() -> Approximated:
    """The induction's step: the error after the next (exact) rounding is 0 again."""
    at = rounding_layers_margin()
    known = given("next_at", dim=1, norm=Norm.TWO, size=1, error=sp.Min(THIRD, at * rounding_layer(at).error))
    return correct(known, "corrected", sigma=THIRD)


# The quantities.

_CLAIM = Citation(WEI2021, "Claim 3.5")
_TEXT = Citation(WEI2021, "Section 3.1", "before Proposition 3.4")
_NORM = "2-norm of the change of `(W_1, ..., W_D)`"
_PLAIN = "`f = W_1 ... W_D x - 1/2` at `W = 1`, `x = 1`, `y = 1`"
_ROUNDED = "`f~` of (3.1) at `W = 1`, `x = 1`, `y = 1`"


_quantity = partial(Quantity, norm=_NORM, quantifier=Quantifier.FOR_ALL, scopes=())

QUANTITIES = (
    _quantity(
        "identity", r"\sup_z |\mathrm{net}(z) - \mathrm{round}(z)|",
        "largest difference of the ReLU net from round", domain="all real `z`",
        kind=Kind.EXACT, norm="absolute value", derive=rounding_gap, obtained=Provenance.ALGEBRA,
        printed=Printed(sp.Integer(0), Citation(WEI2021, "Proposition 3.4")),
        remark="the `x` of the middle piece `3x - 1` is read as `z`",
    ),
    _quantity(
        "rounded.output", r"\tilde f(1, (1, \dots, 1))",
        "output of the rounded toy, `f~(x, W)`, which is printed as `f`", domain=_ROUNDED, kind=Kind.EXACT,
        norm="absolute value", derive=rounded_output, printed=Printed(HALF, _CLAIM),
    ),
    _quantity(
        "plain", r"\rho_f", "all-layer margin of the plain toy", domain=_PLAIN, kind=Kind.EXACT, derive=plain_margin,
    ),
    _quantity(
        "plain_printed", r"\rho_f", "all-layer margin of the plain toy, which the change `3/D` of every layer bounds",
        domain=_PLAIN, kind=Kind.UPPER,
        printed=Printed(sp.sqrt(D * PRINTED_CHANGE**2), _TEXT), obtained=Provenance.HAND,
    ),
    _quantity(
        "plain.rate", r"\rho_f", "all-layer margin of the plain toy as `D -> oo`", domain=_PLAIN, kind=Kind.RATE,
        norm="exponent", remark="the row has the exponent in the depth", rate_in="depth",
        derive=lambda: plain_order() / sp.sqrt(D),
        printed=Printed(1 / sp.sqrt(D), _TEXT, order=Order.O),
    ),
    _quantity(
        "rounded", r"\rho_{\tilde f}", "all-layer margin of the rounded toy, the rounding held fixed", domain=_ROUNDED,
        kind=Kind.LOWER, derive=rounded_margin, printed=Printed(THIRD, _CLAIM),
    ),
    _quantity(
        "rounded.every_depth", r"\inf_D \rho_{\tilde f}", "infimum of it over all depths", domain=_ROUNDED,
        kind=Kind.LOWER, derive=rounded_margin_every_depth, printed=Printed(THIRD, _CLAIM),
    ),
    _quantity(
        "rounded.rate", r"\rho_{\tilde f}", "exponent of the rounded margin in the depth", domain=_ROUNDED,
        kind=Kind.RATE, norm="exponent", rate_in="depth", remark="printed as `Omega(1)`", obtained=Provenance.HAND,
    ),
    _quantity(
        "rounding_layers", r"\rho_{\tilde f}", "all-layer margin, the rounding perturbed too",
        domain=_ROUNDED, kind=Kind.LOWER, norm="2-norm of the change of all parameters, 8 for each layer",
        derive=rounding_layers_margin, remark="Claim 3.5 holds these parameters fixed",
    ),
)  # fmt: skip

ROUNDING = Result(
    id="machines.rounding",
    title="Rounding between layers keeps the all-layer margin",
    citation=Citation(WEI2021, "Claim 3.5", "Proposition 3.4, (3.1)"),
    claim=r"\rho_f((1, \dots, 1), 1, 1) \lesssim \tfrac{1}{\sqrt D},\qquad "
    r"\rho_{\tilde f}((1, \dots, 1), 1, 1) \ge \tfrac13",
    parameters=(Parameter("depth", D, "number of linear layers", 8, integer=True),),
    hypotheses=(Hypothesis("depth", sp.Ge(D, 1, evaluate=False), "a network has a layer"),),
    objects=objects.ROUNDING,
    quantities=QUANTITIES,
    notation={D: "D"},
    symbols={z: "output of a layer, after rounding", z_next: "that of the next one"},
    formulas=(
        Formula(r"\rho_f", plain_margin, "margin of the plain toy", citation=_TEXT),
        Formula(r"C(z, z')", stage_cost, "squared change that takes a layer's output from `z` to `z'`"),
        Formula(
            r"\kappa_D", weight, "`V_D(z) >= kappa_D (1 - 1/(2z))^2` for the cost of the last `D` layers", Kind.LOWER
        ),
        Formula(
            r"\rho_{\tilde f}",
            rounding_layers_number,
            "the margin with the rounding perturbed too, in digits, rounded down",
            Kind.LOWER,
        ),
        Formula(r"\lim_D \sqrt{D} \rho_f", plain_order, "constant of the plain margin's decay", Kind.RATE),
    ),
    remarks=("The printed changes `delta_i = 3/d` are read as `-3/d`, which gives the printed weights `1 - 3/d`.",),
)
