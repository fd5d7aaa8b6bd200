"""Rule 10: invariants. Sizes and errors are proved jointly by induction, which discharges range obligations.

Suppose that an approximation holds on [-R, R] only. It maps into [-R, R] if its values are small there, but its
values are known only if its argument lies in [-R, R]. A `MonotoneRecursion` bounds the arguments layer by layer. An
`Invariant` gives an R for which the induction closes. `confine` discharges the obligations.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from symbolic.calculus.recursions import LinearRecursion, latex
from symbolic.derivations.derivation import Approximated, Derivation, DerivationError, Step, as_expr
from symbolic.derivations.obligations import Obligation, RangeObligation, at_most, for_all, nonnegative, whole
from symbolic.derivations.provenance import Provenance, weakest
from symbolic.derivations.signs import is_continuous, is_nonnegative, slope_in
from symbolic.words.prose import marked

_INDEX = sp.Symbol("l", integer=True, nonnegative=True)


# If |z_l| <= R_l and |z_{l+1}| <= g(|z_l|) with g non-decreasing, then |z_{l+1}| <= g(R_l) = R_{l+1}: induction.
# For a g that is the same in all layers the R_l are themselves monotone: R_1 <= R_0 gives R_2 = g(R_1) <= g(R_0) = R_1
# and so on, and likewise with >=. Hence the largest of R_0, ..., R_n is R_0 or R_n.
# Equality: z_{l+1} = g(z_l), z_0 = R_0.
@dataclass(frozen=True)
class MonotoneRecursion:
    """R_{l+1} = step(R_l) from R_0 = start: bounds on a size, `step` an expression non-decreasing in `radius`.

    `radius` stands for R_l in `step`. Undefined functions of the radius in `step` are taken to be non-negative and
    non-decreasing (`beta(R)`: the supremum of |r| over [-R, R]). Raises DerivationError if `step` decreases.
    """

    start: sp.Expr
    step: sp.Expr
    radius: sp.Symbol

    def __post_init__(self) -> None:
        nonnegative("MonotoneRecursion", str(self.radius), start=self.start)
        if self.radius.is_integer is not None:
            raise DerivationError(f"MonotoneRecursion: {self.radius} is a radius; declare it real, and not an integer")
        if not is_continuous(self.step, self.radius):
            raise DerivationError(
                f"MonotoneRecursion: {sp.sstr(self.step)} may be discontinuous in {self.radius}; give a step without "
                f"case distinctions, rounding and poles in {self.radius}"
            )
        slope = self.slope()
        if slope.is_negative:
            raise DerivationError(
                f"MonotoneRecursion: {sp.sstr(self.step)} decreases in {self.radius} (slope {sp.sstr(slope)}), "
                f"so a bound on the size at one layer gives none at the next"
            )

    def slope(self) -> sp.Expr:
        """d step / d radius, with the slopes of undefined functions written as non-negative symbols."""
        return slope_in(self.step, self.radius)

    @property
    def obligations(self) -> tuple[Obligation, ...]:
        """Open if SymPy cannot show that `step` does not decrease."""
        first = nonnegative("MonotoneRecursion", str(self.radius), start=self.start)
        if is_nonnegative(self.slope()):
            return first
        slope = sp.diff(self.step, self.radius)
        return (*first, Obligation(f"{sp.sstr(self.step)} does not decrease in {self.radius}", sp.Ge(slope, 0)))

    def obligations_up_to(self, radius: sp.Expr) -> tuple[Obligation, ...]:
        """The same for every radius from 0 to `radius`, whatever value the symbol has elsewhere."""
        where = f"for every {self.radius} from 0 to {sp.sstr(radius)}"
        return tuple(for_all(o, self.radius, sp.Integer(0), radius, where) for o in self.obligations)

    def next(self, radius: Any) -> sp.Expr:
        return self.step.subs(self.radius, as_expr(radius))

    def unrolled(self, depth: int) -> list[sp.Expr]:
        """R_0, ..., R_depth as expressions; a rational of more than 60 digits is rounded up, which keeps a bound."""
        radii = [self.start]
        for layer in range(depth):
            radii.append(_short(self.next(radii[-1])))
            if radii[-1].count_ops() > MOST_OPERATIONS:
                raise DerivationError(
                    f"MonotoneRecursion: R_{layer + 1} has more than {MOST_OPERATIONS} operations; give `growth` for a "
                    f"closed form, or numbers"
                )
        return radii

    def run(self, steps: Sequence[Callable[[Any], Any]], start: Any) -> list[Any]:
        """R_0, R_1, ... with each layer's own step (on numbers of any kind: floats, balls)."""
        radii = [start]
        for step in steps:
            radii.append(step(radii[-1]))
        return radii

    def largest(self, depth: int) -> sp.Expr:
        """max(R_0, ..., R_depth), the smallest range that this argument proves sufficient."""
        return sp.Max(self.start, self.unrolled(depth)[-1])

    # The largest R of R_0, ..., R_n is R_0, or step(R_l) for some l, which is at most step(R).
    def largest_implicitly(self, depth: Any) -> sp.Expr:
        """max(start, step(R)), `start` for depth 0: a bound on the largest R of R_0, ..., R_depth in terms of itself.

        It is a number where suprema over [-R, R] are known, for every depth at once.
        """
        alone = sp.Eq(sp.expand(as_expr(depth)), 0)
        return sp.Piecewise((self.start, alone), (sp.Max(self.start, self.step), True))

    # With beta(R) <= c + s R for each undefined function the step is at most an affine one, which is monotone too.
    def linear(self, growth: Mapping[Any, tuple[Any, Any]]) -> LinearRecursion:
        """A linear recursion above this one: `growth` gives (c, s) with f(R) <= c + s R for each function f.

        Its closed form has symbolic depth. For beta(R) = sup of |r| over [-R, R]: c = |r(0)|, s = L_r. Raises
        DerivationError unless the step is shown not to decrease in each f; without that a bound on f gives none on it.
        """
        step = self.step
        owed: tuple[Obligation, ...] = ()
        for function, (intercept, slope) in growth.items():
            affine = {"intercept": as_expr(intercept), "slope": as_expr(slope)}
            owed += nonnegative("MonotoneRecursion.linear", str(function), **affine)
            _require_growing(step, function)
            step = step.replace(function, _affine(affine["intercept"], affine["slope"]))
        factor = sp.diff(step, self.radius)
        if factor.has(self.radius) or not is_continuous(step, self.radius):
            raise DerivationError(
                f"MonotoneRecursion.linear: {sp.sstr(step)} is not affine in {self.radius}; give (c, s) with "
                f"f(R) <= c + s R for each function f of the step"
            )
        factor, offset = sp.factor_terms(factor), step.subs(self.radius, 0)
        owed += nonnegative("MonotoneRecursion.linear", str(self.radius), factor=factor, offset=offset)
        return LinearRecursion(self.start, factor, offset, obligations=owed)

    def latex(self, names: Mapping[sp.Symbol, str] | None = None) -> str:
        l, r = sp.latex(_INDEX), latex(self.radius, names)  # noqa: E741 - the layer
        next_radius = latex(self.step, {**(names or {}), self.radius: f"{r}_{{{l}}}"})
        return rf"{r}_{{{l}+1}} = {next_radius},\qquad {r}_0 = {latex(self.start, names)}"

    def words(self) -> str:
        """The same in plain text."""
        r = self.radius.name
        following = sp.sstr(self.step.subs(self.radius, sp.Symbol(f"{r}_{_INDEX}")))
        return f"{r}_({_INDEX}+1) = {following}, {r}_0 = {sp.sstr(self.start)}"


MOST_OPERATIONS = 2000
_DIGITS = 60


def _short(radius: sp.Expr) -> sp.Expr:
    if not radius.is_Rational or max(abs(radius.p), radius.q) < 10**_DIGITS:
        return radius
    scale = sp.Integer(10) ** (_DIGITS + len(str(radius.q)) - len(str(abs(radius.p))))
    return sp.ceiling(radius * scale) / scale


def _require_growing(step: sp.Expr, function: Any) -> None:
    """Every application of the function enters the step, or the argument that contains it, with a slope >= 0."""
    values = {each: sp.Dummy("f", nonnegative=True) for each in step.atoms(function)}
    for outer in [*values, None]:
        within = step if outer is None else outer.args[0]
        if outer is not None and not is_nonnegative(within):
            raise DerivationError(
                f"MonotoneRecursion.linear: cannot show that {sp.sstr(within)} is not negative, so the growth bound "
                f"on {function} does not apply to it"
            )
        inner = {each: value for each, value in values.items() if each != outer}
        flat = _outermost(within, inner)
        for value in flat.free_symbols & set(values.values()):
            if not is_nonnegative(slope_in(flat, value)):
                raise DerivationError(
                    f"MonotoneRecursion.linear: cannot show that {sp.sstr(step)} does not decrease in {function}, so "
                    f"an upper bound on {function} gives no bound on the step"
                )


def _outermost(expression: sp.Expr, values: Mapping[sp.Expr, sp.Symbol]) -> sp.Expr:
    """The expression with the applications put in, those that contain others first."""
    for each in sorted(values, key=lambda application: -application.count_ops()):
        expression = expression.xreplace({each: values[each]})
    return expression


def _affine(intercept: sp.Expr, slope: sp.Expr) -> Callable[[Any], sp.Expr]:
    return lambda argument: intercept + slope * argument


# Joint induction. Claim at layer l: the argument z_l, of the network and of its approximation alike, lies in [-R, R].
# l = 0: |z_0| <= start <= R. From l to l + 1: z_l in [-R, R] is where the approximation is known, so |z_{l+1}| is at
# most step(|z_l|) <= step(R) <= R, the step being non-decreasing. The errors never enter, only the approximation's own
# size on [-R, R] (beta(R) + eps): the exact network is the case eps = 0, whose step is smaller.
# Equality: z_0 = R and step(R) = R; an R below the fixed point fails.
@dataclass(frozen=True)
class Invariant:
    """|z| <= bound at every layer. Obligations: the parts of the induction that SymPy could not decide.

    One that is stated, and not concluded by `invariant_interval` or `finite_depth`, is by hand.

    Where the bound is a letter that stands for what the induction needs, `meaning` is a bound on it in that letter or
    in suprema over the interval, and `recursion` that whose largest member it is, from 0 to `depth`.
    """

    bound: sp.Expr
    obligations: tuple[Obligation, ...]
    reason: str
    provenance: Provenance = Provenance.HAND
    meaning: sp.Expr | None = None
    recursion: MonotoneRecursion | None = None
    depth: sp.Expr | None = None

    def __post_init__(self) -> None:
        for obligation in self.obligations:
            if obligation.condition == sp.false:
                raise DerivationError(f"the induction does not close; hypothesis violated: {obligation.statement}")

    @property
    def conditional(self) -> bool:
        return any(obligation.open for obligation in self.obligations)

    @property
    def largest(self) -> sp.Expr:
        """The bound without a letter of its own, as far as one is known."""
        return self.bound if self.meaning is None else self.meaning


def invariant_interval(recursion: MonotoneRecursion, radius: Any) -> Invariant:
    """[-radius, radius] keeps the arguments at every depth: start <= radius and step(radius) <= radius.

    Raises DerivationError if one of the two is false.
    """
    radius = as_expr(radius)
    closing = (
        at_most("the first argument fits", recursion.start, radius),
        at_most("the interval is mapped into itself", recursion.next(radius), radius),
    )
    reason = "induction over the layers: `start <= R`, `step(R) <= R`"
    return Invariant(radius, closing + recursion.obligations_up_to(radius), reason, Provenance.RULES)


def finite_depth(recursion: MonotoneRecursion, depth: Any, radius: Any = None, *, growth: Any = None) -> Invariant:
    """[-radius, radius] keeps the arguments of layers 0 .. depth; the least such radius by default.

    With symbolic depth the recursion is replaced by the linear one that `growth` gives (`MonotoneRecursion.linear`).
    """
    depth = as_expr(depth)
    owed = whole("finite_depth", str(recursion.radius), least=0, depth=depth)
    if growth is None and not depth.is_Integer:
        raise DerivationError(f"finite_depth: the depth {sp.sstr(depth)} is symbolic; give `growth` for a closed form")
    if growth is None:
        needed = recursion.largest(int(depth))
    else:
        linear = recursion.linear(growth)
        needed, owed = sp.Max(recursion.start, linear.closed(depth)), (*owed, *linear.obligations)
    bound = needed if radius is None else as_expr(radius)
    closing = at_most("the arguments of all layers fit", needed, bound)
    reason = f"induction over layers `0 .. {sp.sstr(depth)}`: `R_(l+1) = step(R_l)`"
    return Invariant(bound, (closing, *owed, *recursion.obligations_up_to(needed)), reason, Provenance.RULES)


# R is by definition the largest of R_0, ..., R_depth, and |z_l| <= R_l <= R by the joint induction above: z_l lies
# where the approximation is known, so that |z_{l+1}| <= step(R_l) = R_{l+1}. Equality: z_{l+1} = step(z_l), z_0 = R_0.
def largest_range(recursion: MonotoneRecursion, depth: Any) -> Invariant:
    """[-R, R] keeps the arguments of layers 0 .. depth, where R, the letter recursion.radius, is the largest R_l.

    An instance finds R by `recursion.run`. In letters it is at most `recursion.largest_implicitly(depth)`.
    """
    owed = whole("largest_range", str(recursion.radius), least=0, depth=as_expr(depth))
    letter = sp.sstr(recursion.radius)
    largest = f"`{letter}` is the largest of `{letter}_0`, ..., `{letter}_({sp.sstr(depth)})`"
    reason = f"induction over layers `0 .. {sp.sstr(depth)}`, where {largest}"
    owed += recursion.obligations_up_to(recursion.radius)
    meaning = recursion.largest_implicitly(depth)
    return Invariant(recursion.radius, owed, reason, Provenance.RULES, meaning, recursion, as_expr(depth))


# |f_hat(z)| <= |f(z)| + |f_hat(z) - f(z)| for z in [-R, R]. Equality: |f(z)| = supremum, f_hat = f + eps there.
def values_on(arguments: Invariant, *, supremum: Any, eps: Any, letter: sp.Symbol | None = None) -> Invariant:
    """|f_hat(z)| <= supremum + eps where z obeys the invariant, |f| <= supremum and |f_hat - f| <= eps on its interval.

    `letter` denotes supremum + eps, if it is given.
    """
    numbers = {"supremum": as_expr(supremum), "eps": as_expr(eps)}
    bound = numbers["supremum"] + numbers["eps"]
    owed = nonnegative("values_on", sp.sstr(arguments.bound), **numbers)
    most = sp.sstr(bound) if letter is None else f"{sp.sstr(letter)} = {sp.sstr(bound)}"
    reason = f"values are at most `{most}` where the arguments stay in range, by {marked(arguments.reason)}"
    obligations = (*owed, *arguments.obligations)
    return Invariant(bound if letter is None else letter, obligations, reason, arguments.provenance, bound)


def confine(x: Approximated, invariant: Invariant, *steps: str) -> Approximated:
    """x with the range obligations of `steps` (all by default) discharged by the invariant.

    The caller guarantees that these steps apply their functions to the arguments that the invariant bounds. Open
    obligations of the induction replace the discharged ones. Raises DerivationError if a range is smaller than the
    invariant, or if there is no range obligation to discharge.
    """
    names = steps or tuple(step.name for step in x.derivation.steps if _open_ranges(step))
    for name in names:
        if not _open_ranges(x.derivation.step(name)):
            raise DerivationError(f"confine: step '{name}' has no open range obligation")
    if not names:
        raise DerivationError(f"confine: the derivation of '{x.name}' has no open range obligation")
    confined = (_confined(s, invariant) if s.name in names else s for s in x.derivation.steps)
    return replace(x, derivation=Derivation(tuple(confined)))


def _open_ranges(step: Step) -> list[RangeObligation]:
    return [o for o in step.obligations if isinstance(o, RangeObligation) and o.open]


def _confined(step: Step, invariant: Invariant) -> Step:
    obligations: list[Obligation] = []
    for obligation in step.obligations:
        if not (isinstance(obligation, RangeObligation) and obligation.open):
            obligations.append(obligation)
            continue
        covered = at_most(f"the range of '{step.name}' covers the invariant", invariant.bound, obligation.radius)
        held = replace(obligation, discharged_by=invariant.reason, recursion=invariant.recursion, depth=invariant.depth)
        obligations.append(held)
        obligations.extend(o for o in (covered, *invariant.obligations) if o.open)
    word = weakest((step.provenance, invariant.provenance))
    return replace(step, obligations=tuple(dict.fromkeys(obligations)), provenance=word)
