"""Functions as operands: the exact one, the approximate one, and what is known of both.

Shapes: entry by entry, (..., m).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Number
from typing import Any

import sympy as sp
import torch

from bridge.lowering import LoweringError
from bridge.lowering.enclosures import supremum
from bridge.lowering.formula import ArrayFunction
from bridge.readings.arrays import Array, all_hold
from numeric.balls import float_above
from symbolic.calculus.approximation import is_smooth
from symbolic.words.errors import UsageError
from symbolic.words.shown import brief

Entrywise = Callable[..., Array]
Call = Callable[..., Array]  # of an Entrywise, and its arguments
ORDERS = (2, 3)  # of the derivatives that bound a remainder


def _called(function: Entrywise, *at: Array) -> Array:
    return function(*at)


# f(z + dz) - f(z) = f'(z) dz + rest, and by Taylor's formula with the remainder in Lagrange's form
#   |rest| <= sup|f''| dz^2 / 2,        |rest| <= |f''(z)| dz^2 / 2 + sup|f'''| dz^3 / 6.
@dataclass(frozen=True)
class Smooth:
    """f and the function in its place, f_hat, as functions of the exact argument (and of those beside it).

    `exact` is f; `approximate` is f_hat (f itself if there is none). `derivatives` are f', f'', ... as far as they are
    known, `suprema[k]` is at least sup |f^(k)| on the range of all arguments. `error` is at least sup |f_hat - f| there
    (the eps of the rule, if it is not given). `slope_error` is a Lipschitz constant of f_hat - f: with it a local
    reading uses the deviation f_hat - f at each argument. All of this holds for arguments in [-radius, radius];
    beyond it nothing is known.
    """

    exact: Entrywise
    approximate: Entrywise | None = None
    derivatives: Sequence[Entrywise] = ()
    suprema: Mapping[int, Any] = field(default_factory=dict)
    error: Any = None
    slope_error: Any = None
    deviation: Entrywise | None = None
    radius: float = torch.inf

    __repr__ = brief

    @classmethod
    def of(cls, expr: Any, symbol: sp.Symbol, *, approximate: Any = None, radius: Any) -> "Smooth":
        """f and f_hat typed once, in SymPy; whatever is known of them is derived and certified on [-radius, radius].

        Neither has a letter beside `symbol`; floats in them are the binary rationals that they are. Raises UsageError
        where |f_hat - f| has no finite bound there.
        """
        f, reach = _checked(expr, symbol), float(radius)
        smooth = is_smooth(f, symbol, sp.Rational(reach))
        suprema = {order: _supremum(f.diff(symbol, order), symbol, reach) for order in ORDERS if smooth}
        known = {order: bound for order, bound in suprema.items() if bound is not None}
        derivatives = [ArrayFunction(f.diff(symbol, order), symbol) for order in (1, 2)] if known else []
        exact = ArrayFunction(f, symbol)
        if approximate is None:
            return cls(exact, derivatives=derivatives, suprema=known, error=0, radius=reach)
        f_hat = _checked(approximate, symbol)
        difference = f_hat - f
        smooth_difference = is_smooth(difference, symbol, sp.Rational(reach))
        return cls(
            exact,
            ArrayFunction(f_hat, symbol),
            derivatives,
            known,
            error=float_above(supremum(difference, symbol, -reach, reach)),
            slope_error=_supremum(difference.diff(symbol), symbol, reach) if smooth_difference else None,
            radius=reach,
        )

    def reaches(self, argument: Array, change: Array) -> Any:
        """Whether the range holds the argument and all within `change` of it: a bool, or a tensor of one."""
        if self.radius == torch.inf:
            return True
        return all_hold(abs(argument) + change <= self.radius)

    @property
    def emulated(self) -> Entrywise:
        return self.exact if self.approximate is None else self.approximate

    def deviates(self, *at: Array) -> Array:
        """f_hat - f."""
        return self.emulated(*at) - self.exact(*at) if self.deviation is None else self.deviation(*at)

    def spread(self, change: Array, error: Array, local: Any, *at: Array) -> tuple[Array, Array]:
        """Centre and radius of (f_hat - f)(argument + dz), where |dz| <= change and `error` bounds |f_hat - f|.

        `local`: from the deviation at the argument too; a bool, or a tensor of one.
        """
        zero = torch.zeros_like(change)
        exact = self.approximate is None and self.deviation is None
        if exact or local is False or self.slope_error is None:
            return zero, zero + error
        here, moves = self.deviates(*at), self.slope_error * change
        low, high = torch.maximum(here - moves, zero - error), torch.minimum(here + moves, zero + error)
        centre, radius = (low + high) / 2, torch.relu(high - low) / 2
        if local is True:
            return centre, radius
        return torch.where(local, centre, zero), torch.where(local, radius, zero + error)

    def expansion(self, change: Array, *at: Array, call: Call = _called) -> tuple[Array, Array] | None:
        """f' at the argument, and the least known bound on the rest; None if no remainder is known.

        `call` calls a function on arrays, and may remember what it gave.
        """
        if not self.derivatives:
            return None
        square, rests = change * change, []
        if 2 in self.suprema:
            rests.append(square * self.suprema[2] / 2)
        if 3 in self.suprema and len(self.derivatives) > 1:
            second = abs(call(self.derivatives[1], *at))
            rests.append(square * second / 2 + square * change * self.suprema[3] / 6)
        if not rests:
            return None
        least = rests[0] if len(rests) == 1 else torch.minimum(*rests)
        return call(self.derivatives[0], *at) + torch.zeros_like(change), least  # a constant takes the shape


def _checked(expr: Any, symbol: sp.Symbol) -> sp.Expr:
    """The expression with its floats as the rationals that they are."""
    found = sp.sympify(expr, strict=True) if isinstance(expr, sp.Basic | Number) else expr  # a text is not run
    others = sorted(map(str, getattr(found, "free_symbols", set()) - {symbol}))
    if not isinstance(found, sp.Expr) or others:
        got = f"{', '.join(others)} in {found}" if others else type(found).__name__
        raise UsageError(
            f"Smooth.of: expected an expression in {symbol} alone, got {got}; a function with parameters is built once "
            f"for each network: built={{'f': lambda eps: bs.Smooth.of(...)}}"
        )
    return found.xreplace({number: sp.Rational(number) for number in found.atoms(sp.Float)})


def _supremum(expr: sp.Expr, symbol: sp.Symbol, radius: float) -> float | None:
    """At least sup |expr| on [-radius, radius]; None where no finite bound is found."""
    try:
        return float_above(supremum(expr, symbol, -radius, radius))
    except (UsageError, LoweringError):
        return None
