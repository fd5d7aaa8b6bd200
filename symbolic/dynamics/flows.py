"""Gradient flows and other autonomous vector fields, and what the calculus makes of them.

A `Flow` holds d x_i / dt as expressions in the state x_1, ..., x_n and in parameters. Everything else (derivatives
along it, new coordinates, restriction to an invariant set, its linear part) is derived.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from symbolic.derivations.derivation import DerivationError, as_expr
from symbolic.words.shown import brief, displayed


@dataclass(frozen=True)
class Flow:
    """d state / dt = field. `field` is in the order of `state`; other symbols in it are parameters.

    Raises DerivationError for coordinates that are not different symbols, and for derivatives that are not expressions.
    """

    state: tuple[sp.Symbol, ...]
    field: tuple[sp.Expr, ...]

    __repr__ = brief

    def __post_init__(self) -> None:
        if not all(isinstance(each, tuple | list) for each in (self.state, self.field)):
            raise DerivationError(f"a flow takes a tuple of coordinates and one of derivatives; got {self.state!r:.80}")
        if wrong := [each for each in self.state if not isinstance(each, sp.Symbol)]:
            raise DerivationError(f"a flow takes symbols as coordinates; got {wrong[0]!r:.80}")
        object.__setattr__(self, "state", tuple(self.state))
        object.__setattr__(self, "field", tuple(x if isinstance(x, sp.Expr) else as_expr(x) for x in self.field))
        if len(self.state) != len(self.field) or len(set(self.state)) != len(self.state):
            raise DerivationError(
                f"a flow needs one derivative for each of its different coordinates; "
                f"it came with {len(self.state)} coordinates and {len(self.field)} derivatives"
            )

    def rate(self, coordinate: sp.Symbol) -> sp.Expr:
        """d coordinate / dt. Raises DerivationError for what is not a coordinate of this flow."""
        if coordinate not in self.state:
            raise DerivationError(
                f"'{coordinate}' is not a coordinate of this flow; it has {', '.join(map(str, self.state))}"
            )
        return self.field[self.state.index(coordinate)]

    def along(self, expression: sp.Expr) -> sp.Expr:
        """d expression / dt along the flow: the sum over i of (d expression / d x_i) (d x_i / dt)."""
        return sp.Add(*(sp.diff(expression, x) * rate for x, rate in zip(self.state, self.field, strict=True)))

    def changed(self, new: Mapping[sp.Symbol, sp.Expr], old: Mapping[sp.Symbol, sp.Expr]) -> "Flow":
        """The same flow in new coordinates: `new` gives them by the old ones, `old` the inverse.

        Raises DerivationError unless the two maps are inverse to one another, as far as SymPy can tell.
        """
        for coordinate, formula in new.items():
            if sp.simplify(formula.subs(old, simultaneous=True) - coordinate) != 0:
                raise DerivationError(f"change of coordinates: the inverse does not give '{coordinate}' back")
        rates = (self.along(formula).subs(old, simultaneous=True) for formula in new.values())
        return Flow(tuple(new), tuple(rates))

    def restricted(self, equal: Mapping[sp.Symbol, sp.Expr]) -> "Flow":
        """The flow on the invariant set where each coordinate in `equal` is that expression of the others.

        Raises DerivationError if the flow leaves the set: on it, the rate of each such coordinate has to be that of
        its expression.
        """
        for coordinate, formula in equal.items():
            leaving = (self.rate(coordinate) - self.along(formula)).subs(equal, simultaneous=True)
            if sp.simplify(leaving) != 0:
                raise DerivationError(f"restriction: the flow leaves the set {coordinate} = {sp.sstr(formula)}")
        kept = tuple(x for x in self.state if x not in equal)
        return Flow(kept, tuple(self.rate(x).subs(equal, simultaneous=True) for x in kept))

    def slowed(self, factor: Any) -> "Flow":
        """The flow in the time t' = t / factor: every rate times `factor`."""
        return Flow(self.state, tuple(as_expr(factor) * rate for rate in self.field))

    def with_letters(self, values: Mapping[sp.Symbol, Any]) -> "Flow":
        """The flow with these letters, none of them a coordinate, replaced by numbers or formulas."""
        if moved := [str(x) for x in self.state if x in values]:
            raise DerivationError(f"with_letters: {', '.join(moved)} is a coordinate; `restricted` holds it fast")
        known = {letter: as_expr(value) for letter, value in values.items()}
        return Flow(self.state, tuple(rate.subs(known, simultaneous=True) for rate in self.field))

    @cached_property
    def jacobian(self) -> sp.Matrix:
        """d field_i / d x_j."""
        return sp.Matrix(self.field).jacobian(sp.Matrix(self.state))

    def linearised(self, point: Mapping[sp.Symbol, sp.Expr]) -> sp.Matrix:
        """The Jacobian at a point."""
        return self.jacobian.subs(point, simultaneous=True)

    def latex(self) -> str:
        lines = (rf"\dot{{{sp.latex(x)}}} &= {sp.latex(rate)}" for x, rate in zip(self.state, self.field, strict=True))
        return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"

    def _repr_latex_(self) -> str:
        return displayed(self.latex())


def gradient_flow(loss: sp.Expr, state: tuple[sp.Symbol, ...]) -> Flow:
    """d x / dt = - grad loss(x). Constants of the loss (its other symbols) stay parameters."""
    loss = loss if isinstance(loss, sp.Expr) else as_expr(loss)
    return Flow(state, tuple(-loss.diff(x) if isinstance(x, sp.Symbol) else sp.nan for x in state))
