"""Activations and losses, each typed once in SymPy; networks, bounds and certificates take theirs from here.

For a function of your own, make an `Activation` (or a `Loss`) from any expression; only this file uses the names below.
"""

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TypeVar

import sympy as sp

from symbolic.words.errors import UsageError

t = sp.Symbol("t", real=True)
y = sp.Symbol("y", real=True)

Named = TypeVar("Named")


@dataclass(frozen=True)
class Activation:
    """A function r of one symbol `t`, with `smoothness` continuous derivatives (oo for an analytic one).

    `values` are inf r and sup r, or None where r takes all values (gelu, nearly) or they are not known.
    """

    name: str
    t: sp.Symbol
    expr: sp.Expr
    smoothness: sp.Expr = sp.oo
    values: tuple[float, float] | None = None

    def derivative(self, order: int = 1) -> sp.Expr:
        """r^(order) in `t`, in a form that neither overflows nor cancels far from 0.

        One order beyond `smoothness` it exists up to isolated points, where it is 0 from the left as torch has it;
        further ones raise UsageError.
        """
        if order < 0 or order > self.smoothness + 1:
            raise UsageError(
                f"activation '{self.name}': derivative {order} was requested, but it has only "
                f"{self.smoothness} continuous derivatives; take a smoother activation"
            )
        return _differentiated(self.expr, self.t, order)


@cache
def _differentiated(expr: sp.Expr, symbol: sp.Symbol, order: int) -> sp.Expr:
    return expr if order == 0 else stable_derivative(_differentiated(expr, symbol, order - 1), symbol)


def stable_derivative(expr: sp.Expr, symbol: sp.Symbol) -> sp.Expr:
    """d expr / d symbol with 1 - tanh^2 written 1/cosh^2, sinh as tanh cosh, and Heaviside(0) = 0."""
    found = sp.diff(expr, symbol)
    arguments = {node.args[0] for node in found.atoms(sp.tanh)}
    found = found.subs({1 - sp.tanh(u) ** 2: sp.cosh(u) ** -2 for u in arguments})
    found = found.replace(sp.sinh, lambda u: sp.tanh(u) * sp.cosh(u))
    return found.replace(sp.Heaviside, lambda u, *_: sp.Heaviside(u, 0))


ACTIVATIONS: Mapping[str, Activation] = {
    activation.name: activation
    for activation in (
        Activation("tanh", t, sp.tanh(t), values=(-1.0, 1.0)),
        Activation("sigmoid", t, 1 / (1 + sp.exp(-t)), values=(0.0, 1.0)),
        Activation("gelu", t, t * (1 + sp.erf(t / sp.sqrt(2))) / 2),
        Activation("softplus", t, sp.log(1 + sp.exp(t)), values=(0.0, math.inf)),
        Activation("sin", t, sp.sin(t), values=(-1.0, 1.0)),
        Activation("relu", t, sp.Max(t, 0), smoothness=sp.Integer(0)),
    )
}


def activation(name: object) -> Activation:
    """The activation of that name. Raises UsageError that lists the known names, also for what is not a name."""
    return _named("activation", name, ACTIVATIONS)


@dataclass(frozen=True)
class Piece:
    """`function` of one `variable`, taken at `argument`, which is t, y or t - y."""

    argument: sp.Expr
    variable: sp.Symbol
    function: sp.Expr

    @cached_property
    def linear(self) -> bool:
        """Whether the function is a x + b: two ReLUs (three with b) represent it exactly."""
        return bool(sp.simplify(sp.diff(self.function, self.variable, 2)) == 0)


@dataclass(frozen=True)
class Loss:
    """The loss ell1(t, y) of one coordinate: prediction t, label y."""

    name: str
    t: sp.Symbol
    y: sp.Symbol
    expr: sp.Expr

    def derivative(self, order: int) -> sp.Expr:
        """d^order ell1 / dt^order, in a form that neither overflows nor cancels far from 0."""
        return _differentiated(self.expr, self.t, order)

    @property
    def gradient(self) -> sp.Expr:
        """u(t, y) = d ell1 / dt."""
        return _differentiated(self.expr, self.t, 1)

    def pieces(self) -> tuple[Piece, ...]:
        """u(t, y) = a(t) + b(y) + c(t - y), the parts that are not 0.

        Raises UsageError where u does not split in this way; no sum of ReLUs of one variable each then represents it.
        """
        parts: dict[sp.Expr, Piece] = {}
        for term in self._terms():
            found = self._piece(term)
            if found is None:
                raise UsageError(
                    f"loss '{self.name}': u = d ell/dt = {sp.sstr(self.gradient)} is not a sum of functions of "
                    f"{self.t}, of {self.y} and of {self.t} - {self.y} (left over: {sp.sstr(term)}); take "
                    f"a loss for which it is"
                )
            before = parts.get(found.argument)
            function = found.function if before is None else before.function + found.function
            parts[found.argument] = Piece(found.argument, found.variable, function)
        return tuple(piece for piece in parts.values() if piece.function != 0)

    def _terms(self) -> list[sp.Expr]:
        """u as a sum of terms: u itself if it is one piece, else its terms, expanded where they are not pieces."""
        whole = self.gradient
        if self._piece(whole) is not None:
            return [whole]
        terms = sp.Add.make_args(whole)
        expanded = sp.expand(sp.Add(*(term for term in terms if self._piece(term) is None)))
        fitting = [term for term in terms if self._piece(term) is not None]
        if self._piece(expanded) is not None:
            return [*fitting, expanded]
        return [*fitting, *sp.Add.make_args(expanded)]

    def _piece(self, expr: sp.Expr) -> Piece | None:
        """The expression as a function of t, of y or of z = t - y; it is one of z if t = y + z leaves no y."""
        for variable, other in ((self.t, self.y), (self.y, self.t)):
            if other not in expr.free_symbols:
                return Piece(variable, variable, expr)
        z = sp.Symbol("z", real=True)
        moved = expr.subs(self.t, self.y + z)
        if self.y in moved.free_symbols:
            moved = sp.simplify(moved)
        return None if self.y in moved.free_symbols else Piece(self.t - self.y, z, moved)


LOSSES: Mapping[str, Loss] = {
    loss.name: loss
    for loss in (
        Loss("square", t, y, (t - y) ** 2),
        Loss("huber", t, y, sp.sqrt(1 + (t - y) ** 2) - 1),
        Loss("log_cosh", t, y, sp.log(sp.cosh(t - y))),
        Loss("logistic", t, y, sp.log(1 + sp.exp(t)) - y * t),
    )
}


def loss(name: object) -> Loss:
    """The loss of that name. Raises UsageError that lists the known names, also for what is not a name."""
    return _named("loss", name, LOSSES)


def _named(what: str, name: object, known: Mapping[str, Named]) -> Named:
    if not isinstance(name, str):
        raise UsageError(f"{what} = {name!r} is not a name; give one of {', '.join(known)}")
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=2, cutoff=0.4)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    raise UsageError(f"there is no {what} '{name}'.{hint} Available: {', '.join(known)}.")
