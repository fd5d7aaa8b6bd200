"""The all-layer margin and its ramp loss (wei2021, Section 2.1): their properties, and margins in closed form.

rho(theta, x, y) is the distance of theta from A(x, y) = {theta' : (y - 1/2) F(x, theta') <= 0} in the 2-norm (oo if A
is empty). Every property below follows from this.
"""

import itertools
from functools import cache, partial

import sympy as sp

from symbolic.derivations.derivation import DerivationError
from symbolic.derivations.provenance import Provenance
from symbolic.statements.result import Formula, Hypothesis, Kind, Parameter, Printed, Quantifier, Quantity, Result
from symbolic.topics.machines import objects
from symbolic.words.citations import WEI2021, Citation

rho = sp.Symbol("rho", real=True)
gamma = sp.Symbol("gamma", positive=True)
value, squares = sp.symbols("F S", positive=True)  # an output; the squared norm of its gradient
p, q, offset = sp.symbols("p q c", positive=True)  # the product network p q x - c at x = 1
a = sp.Symbol("a", real=True)
inputs = sp.Symbol("X", nonnegative=True)  # ||x||^2


# Lipschitz in theta: for theta' + delta' in A, theta + (theta' - theta) + delta' is the same point of A, so that
# rho(theta) <= ||theta - theta'|| + ||delta'||; take the infimum over delta', and exchange the two. A, and with it
# whether rho = oo, is the same for both; at oo the difference is undefined. Equality: theta' on the way to the nearest
# point of A.
LIPSCHITZ = sp.Integer(1)

# Positive: if theta predicts wrongly, theta lies in A and rho = 0. If it predicts rightly, theta is outside of A, and a
# minimum that is attained is positive. It is attained where F is continuous in theta, as A is closed then. Where F
# jumps (hard max) theta may lie in the closure of A: the infimum is 0, and there is no minimum.


# The ramp loss (2.2).

RAMP = sp.Piecewise((1, rho <= 0), (1 - rho / gamma, rho <= gamma), (0, True))
_beyond = sp.Symbol("t", nonnegative=True)
# The three pieces with their end points: rho = -t, gamma/(1 + t) (0 is its limit), gamma + t.
_PIECES = (-_beyond, gamma / (1 + _beyond), gamma + _beyond)


@cache
def ramp_pieces() -> tuple[sp.Expr, ...]:
    """(2.2) on rho <= 0, on 0 < rho <= gamma and on rho >= gamma, as functions of t >= 0."""
    formulas = [formula for formula, _ in RAMP.args]
    return tuple(sp.simplify(formula.subs(rho, at)) for formula, at in zip(formulas, _PIECES, strict=True))


def _range_of(piece: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Infimum and supremum over t >= 0 of a piece that is monotone in t."""
    slope = sp.factor(sp.diff(piece, _beyond))
    if not (slope.is_nonnegative or slope.is_nonpositive):
        raise DerivationError(f"ramp: {piece} is not shown to be monotone")
    ends = piece.subs(_beyond, 0), sp.limit(piece, _beyond, sp.oo)
    return (ends[0], ends[1]) if slope.is_nonnegative else (ends[1], ends[0])


# A wrong prediction has rho = 0; a right one has a 0-1 loss of 0, and any rho >= 0.
@cache
def ramp_gap() -> sp.Expr:
    """sup of the 0-1 loss minus the ramp loss."""
    least = sp.Min(*(_range_of(piece)[0] for piece in ramp_pieces()))
    return sp.Max(1 - RAMP.subs(rho, 0), -least)


@cache
def ramp_excess() -> sp.Expr:
    """sup of the ramp loss minus 1(rho < gamma)."""
    below, beyond = ramp_pieces()[:2], ramp_pieces()[2]
    return sp.Max(*(_range_of(piece)[1] - 1 for piece in below), _range_of(beyond)[1])


# A continuous function with slopes of at most 1/gamma in rho; rho is 1-Lipschitz in theta.
@cache
def ramp_slope() -> sp.Expr:
    """The Lipschitz constant of the ramp loss in theta. Raises DerivationError if the pieces do not meet."""
    formulas = [formula for formula, _ in RAMP.args]
    for (left, right), at in zip(itertools.pairwise(formulas), (sp.Integer(0), gamma), strict=True):
        if sp.simplify((sp.sympify(left) - right).subs(rho, at)) != 0:
            raise DerivationError(f"ramp: it jumps at rho = {at}")
    return LIPSCHITZ * sp.Max(*(sp.Abs(sp.diff(formula, rho)) for formula in formulas))


# Margins in closed form.


# The nearest point of a half-space {F + g . delta <= 0} is -t g with F = t |g|^2.
@cache
def half_space_distance() -> sp.Expr:
    """Distance from a point where the affine function is `value` > 0 and its gradient has squared norm `squares`."""
    t = sp.Symbol("t", real=True)
    (step,) = sp.solve(sp.Eq(value - t * squares, 0), t)
    return sp.simplify(sp.sqrt(step**2 * squares))


# On the boundary a b = c the second factor is c/a.
@cache
def hyperbola_distance() -> sp.Expr:
    """The squared distance of (p, q) from the point (a, c/a)."""
    return (a - p) ** 2 + (offset / a - q) ** 2


@cache
def hyperbola_equation() -> sp.Expr:
    """The polynomial in a whose real roots are all stationary points of the distance."""
    numerator, _ = sp.fraction(sp.together(sp.diff(hyperbola_distance(), a)))
    return sp.expand(numerator / 2)


def hyperbola_points(
    p_at: sp.Rational, q_at: sp.Rational, c_at: sp.Rational, width: sp.Rational
) -> list[tuple[sp.Rational, sp.Rational]]:
    """Intervals of at most `width` that hold every real a at which the distance is stationary, for rational p, q, c."""
    equation = sp.Poly(hyperbola_equation().subs({p: p_at, q: q_at, offset: c_at}), a)
    return [ends for ends, _ in equation.intervals(eps=width)]


# v . phi(W x + b) + c. To move the input of unit j by t_j costs t_j^2 / (|x|^2 + 1); once the hidden values h are
# what they are, the last layer is affine in (v, c), with gradient (h, 1). So rho^2 is the minimum over t alone.
@cache
def two_layer_squared(units: int) -> tuple[sp.Expr, tuple[sp.Symbol, ...], tuple[sp.Symbol, ...]]:
    """What has to be minimised over t: the expression, its variables t_j, and its parameters (entries, v, c, |x|^2).

    Entries are the values of W x + b.
    """
    t = sp.symbols(f"t_1:{units + 1}", real=True)
    entry = sp.symbols(f"s_1:{units + 1}", real=True)
    v = sp.symbols(f"v_1:{units + 1}", real=True)
    c = sp.Symbol("c_0", real=True)
    hidden = [sp.Max(s + move, 0) for s, move in zip(entry, t, strict=True)]
    left = sp.Max(sum(weight * h for weight, h in zip(v, hidden, strict=True)) + c, 0)
    last = half_space_distance().subs({value: left, squares: 1 + sum(h**2 for h in hidden)}) ** 2
    first = sum(half_space_distance().subs({value: sp.Abs(move), squares: inputs + 1}) ** 2 for move in t)
    return first + last, t, (*entry, *v, c, inputs)


# The quantities.

_SECTION = Citation(WEI2021, "Section 2.1", "(2.1)")
_LOSS = Citation(WEI2021, "Section 2.1", "(2.2)")
_PROOF = Citation(WEI2021, "Appendix A", "proof of Lemma 2.4")
_ANY = "any `F`, any input and label, any `theta` and `theta'` with finite margins"


_quantity = partial(Quantity, norm="2-norm in `theta`", domain=_ANY, quantifier=Quantifier.FOR_ALL, scopes=())

QUANTITIES = (
    _quantity(
        "lipschitz", r"\sup_{\theta \ne \theta'} |\rho(\theta) - \rho(\theta')| / \|\theta - \theta'\|_2",
        "Lipschitz constant of the margin",
        kind=Kind.UPPER, derive=lambda: LIPSCHITZ, printed=Printed(sp.Integer(1), _PROOF),
        remark="where no parameters flip the prediction both margins are infinite, and their difference is undefined",
    ),
    _quantity(
        "positive", r"\#\{\theta : (\rho > 0) \ne (F \text{ is right})\}",
        "number of predictions whose margin has the wrong sign",
        kind=Kind.EXACT, norm="a count", domain="`F` continuous in `theta`", printed=Printed(sp.Integer(0), _SECTION),
        derive=lambda: sp.Integer(0),
    ),
    _quantity(
        "positive.hard_max", r"\#\{\theta : (\rho > 0) \ne (F \text{ is right})\}",
        "number of predictions whose margin has the wrong sign, at a jump of `F`", kind=Kind.EXACT, norm="a count",
        domain="`F` with hard-max attention, ties averaged, at a tie", printed=Printed(sp.Integer(0), _SECTION),
        outside=True,
        remark="the property is read where the minimum in (2.1) is attained; no proof needs it elsewhere",
    ),
    _quantity(
        "ramp", r"\sup (\ell_{0\text{-}1} - \bar\ell_\gamma)", "0-1 loss above the ramp loss", kind=Kind.UPPER,
        norm="a loss", domain="any `F`, any `theta`", derive=ramp_gap, printed=Printed(sp.Integer(0), _LOSS),
        obtained=Provenance.ALGEBRA,
        remark="needs only that a wrong prediction has margin 0, which holds at jumps too",
    ),
    _quantity(
        "ramp.indicator", r"\sup (\bar\ell_\gamma - 1(\rho < \gamma))",
        "ramp loss above the indicator of a small margin",
        kind=Kind.UPPER, norm="a loss", domain="any `F`, any `theta`", derive=ramp_excess,
        printed=Printed(sp.Integer(0), _PROOF), obtained=Provenance.ALGEBRA,
    ),
    _quantity(
        "ramp.lipschitz",
        r"\sup_{\theta \ne \theta'} |\bar\ell_\gamma(\theta) - \bar\ell_\gamma(\theta')| / \|\theta - \theta'\|_2",
        "Lipschitz constant of the ramp loss", kind=Kind.UPPER, derive=ramp_slope, printed=Printed(1 / gamma, _PROOF),
    ),
    _quantity(
        "margin.linear", r"\rho", "margin of `w . x + b`", kind=Kind.EXACT, domain="one instance, drawn by the seed",
        outside=True, derive=half_space_distance,
    ),
    _quantity(
        "margin.product", r"\rho", "margin of `w_1 w_2 x - c` at `x = 1`, `c` no parameter", kind=Kind.EXACT,
        domain="one instance, drawn by the seed", remark="distance to a hyperbola", obtained=Provenance.HAND,
    ),
    _quantity(
        "margin.relu_1", r"\rho", "margin of a two-layer ReLU network with 1 hidden unit", kind=Kind.LOWER,
        domain="one instance, drawn by the seed", obtained=Provenance.HAND,
    ),
    _quantity(
        "margin.relu_2", r"\rho", "margin of a two-layer ReLU network with 2 hidden units", kind=Kind.LOWER,
        domain="one instance, drawn by the seed", obtained=Provenance.HAND,
    ),
)  # fmt: skip

APPROXIMATION = Result(
    id="machines.approximation",
    title="The all-layer margin and its ramp loss",
    citation=Citation(WEI2021, "Section 2.1", "Definition 2.2, (2.1), (2.2)"),
    claim=r"\rho_F(\theta, x, y) = \min_\delta \|\delta\|_2 \text{ s.t. } (y - 0.5) F(x, \theta + \delta) \le 0",
    parameters=(Parameter("gamma", gamma, "margin at which the ramp loss is 0", 0.25),),
    hypotheses=(Hypothesis("gamma", sp.Gt(gamma, 0, evaluate=False), "the ramp is not a step"),),
    objects=objects.APPROXIMATION,
    quantities=QUANTITIES,
    notation={inputs: r"\|x\|_2^2"},
    symbols={value: "output at `theta`", squares: "squared norm of its gradient", inputs: "squared norm of the input"},
    formulas=(
        Formula(r"\bar\ell_\gamma", lambda: RAMP, "the ramp loss", citation=_LOSS),
        Formula(r"d", half_space_distance, "margin of an `F` that is affine in `theta`"),
        Formula(r"0", hyperbola_equation, "first coordinate of the point of `w_1 w_2 = c` nearest to `(p, q)`"),
        Formula(r"\rho^2(t)", lambda: two_layer_squared(1)[0], "one hidden unit: `rho^2` is its minimum over `t`"),
        Formula(
            r"d^2", hyperbola_distance, "squared distance of `(w_1, w_2) = (p, q)` to the point `(a, c/a)`, `x = 1`"
        ),
    ),
)
