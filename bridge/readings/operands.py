"""What an instance binds: handles to arrays, functions and numbers, letters to numbers."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import sympy as sp
import torch

from bridge.lowering import spend
from bridge.lowering.ball_values import evaluate_ball
from bridge.lowering.formula import entry_by_entry
from bridge.readings.arrays import Array, is_number
from bridge.readings.functions import Smooth
from numeric.balls import BallArray
from numeric.balls.array import array_of
from symbolic.calculus.linear import Linear
from symbolic.derivations.derivation import Norm, Step
from symbolic.words.errors import UsageError
from symbolic.words.shown import brief


@dataclass(frozen=True)
class Emulated:
    """The exact and the emulated value of one array, (..., m) each.

    `within`, of a matrix in the place of another: at least the largest entry of the absolute difference, in letters of
    the theorem or as a number; infinite where only its norm is bounded. Bounds of the scope *prompt, every* then hold
    for every matrix so near, those of other scopes for this one.
    """

    exact: Array
    emulated: Array
    within: Any = None

    __repr__ = brief


@dataclass(frozen=True)
class Operands:
    """Bindings of one prompt: all of them tensors, or all of them arrays of balls at `bits` bits.

    `bound` has the handles; a tuple stands for one operand in each layer of a repetition. `letters` has the symbols of
    the derivation, as far as its steps need their values.
    """

    bound: Mapping[str, Any]
    letters: Mapping[sp.Symbol, Any] = field(default_factory=dict)
    bits: int | None = None
    step: str = ""
    norm: Norm | None = None
    layer: int | None = None
    calls: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    def within(self, step: Step) -> "Operands":
        return replace(self, step=step.name, norm=step.norm)

    def in_layer(self, place: int, number: sp.Symbol) -> "Operands":
        """Those of one layer; `number` is the symbol for its place."""
        return replace(self, layer=place, letters={**self.letters, number: place})

    def on_balls(self, bits: int) -> "Operands":
        """The same with arrays and numbers as balls; functions take what they are given."""

        def on_balls(each: Any) -> Any:
            return BallArray.exactly(each, bits) if isinstance(each, torch.Tensor) else each

        bound = {name: _mapped(each, on_balls) for name, each in self.bound.items()}
        letters = {letter: on_balls(number) for letter, number in self.letters.items()}
        return replace(self, bound=bound, letters=letters, bits=bits, calls={})

    # Handles.

    def operand(self, name: str) -> Any:
        """Raises UsageError for a handle that is not bound, or not in this layer."""
        if name not in self.bound:
            raise UsageError(
                f"step '{self.step}' needs '{name}', which nothing binds; bound are: "
                f"{', '.join(sorted(self.bound)) or 'none'}"
            )
        found = self.bound[name]
        if not isinstance(found, tuple):
            return found
        if self.layer is None:
            raise UsageError(f"step '{self.step}': '{name}' is bound to a tuple, but the step is in no repeated layer")
        if self.layer >= len(found):
            raise UsageError(f"step '{self.step}': '{name}' has {len(found)} members; layer {self.layer + 1} needs one")
        return found[self.layer]

    def side(self, name: str, emulated: bool) -> Array:
        found = self.operand(name)
        if isinstance(found, Emulated):
            return found.emulated if emulated else found.exact
        return found

    def array(self, name: str) -> Array:
        """An exact operand."""
        found = self.operand(name)
        if isinstance(found, Emulated):
            raise UsageError(f"step '{self.step}': '{name}' has to be exact; it is bound to an emulated array too")
        return found

    def matrix(self, operation: Linear) -> Array:
        found = self.array(operation.matrix)
        if is_number(found) or found.ndim == 1:
            return found
        self._require_shape(operation.matrix, found, found.ndim == 2, "a matrix, a vector or a number")
        return found.mT if operation.transposed else found

    def matrix_side(self, name: str, emulated: bool) -> Array:
        found = self.side(name, emulated)
        self._require_shape(name, found, is_number(found) or found.ndim == 2, "a matrix or a number")
        return found

    def square(self, name: str) -> Array:
        """A matrix that can be applied to what it gives."""
        found = self.array(name)
        fits = is_number(found) or (found.ndim == 2 and found.shape[0] == found.shape[1])
        self._require_shape(name, found, fits, "a square matrix or a number")
        return found

    def _require_shape(self, name: str, found: Array, fits: bool, expected: str) -> None:
        if not fits:
            raise UsageError(
                f"step '{self.step}': expected {expected} for '{name}', got an array of shape {tuple(found.shape)}"
            )

    def function(self, name: str) -> Smooth:
        found = self.operand(name)
        return found if isinstance(found, Smooth) else Smooth(found)

    @property
    def scale(self) -> Array:
        """Of tensors, at least the largest absolute value that is bound: what rounding is relative to."""
        if None not in self.calls:
            arrays = [each for operand in self.bound.values() for each in _arrays_of(operand)]
            self.calls[None] = sum(
                (abs(each).max() for each in arrays), start=torch.zeros((), dtype=torch.float64, device=self.device)
            )
        return self.calls[None]

    def call(self, function: Callable[..., Array], *arrays: Array) -> Array:
        """The function, called once on the same arrays: a derivative of f may be f' of one step and r of another."""
        key = id(function), *map(id, arrays)
        if key not in self.calls:
            self.calls[key] = (function, arrays, function(*arrays))  # both are kept, so that no other has their ids
        return self.calls[key][-1]

    @cached_property
    def device(self) -> torch.device:
        """That of the tensors that are bound."""
        known = (*(each for operand in self.bound.values() for each in _arrays_of(operand)), *self.letters.values())
        return next((each.device for each in known if isinstance(each, torch.Tensor)), torch.device("cpu"))

    # Letters.

    def number(self, expression: sp.Expr, errors: Mapping[sp.Symbol, Any] | None = None) -> Any:
        """The expression at the letters, and at these errors of premises: a number, a tensor or a ball."""
        known = {**self.letters, **(errors or {})}
        missing = sorted(map(str, expression.free_symbols - set(known)))
        if missing:
            raise UsageError(f"step '{self.step}' needs the letter {', '.join(missing)}, which nothing binds")
        if not expression.free_symbols:
            return self._constant(expression)
        symbols = tuple(sorted(expression.free_symbols, key=str))
        return entry_by_entry(expression, symbols, [self._as_array(known[symbol]) for symbol in symbols])

    def scalar(self, expression: sp.Expr, errors: Mapping[sp.Symbol, Any]) -> Array:
        """The same as an array without axes."""
        return self._as_array(self.number(expression, errors))

    def least(self, one: Any, other: Any) -> Array:
        return torch.minimum(self._as_array(one), self._as_array(other))

    def _constant(self, expression: sp.Expr) -> Any:
        if expression.is_Integer:
            return int(expression)
        if self.bits is None:
            return float(expression)
        return BallArray([evaluate_ball(expression, {}, self.bits)], (), self.bits)

    def _as_array(self, value: Any) -> Array:
        if self.bits is not None:
            return value if isinstance(value, BallArray) else _ball(value, self.bits)
        return (
            value
            if isinstance(value, torch.Tensor)
            else torch.tensor(float(value), dtype=torch.float64, device=self.device)
        )

    def count(self, expression: sp.Expr) -> int:
        """A number of layers or steps."""
        found = self.whole(expression)
        if found is None:
            raise UsageError(f"step '{self.step}' needs the number {expression}, which nothing binds to a whole number")
        return found

    def layers(self, depth: sp.Expr) -> range:
        """The numbers of the layers, or steps, that are run; they count as terms of a sum do."""
        count = self.count(depth)
        spend(count)
        return range(count)

    def whole(self, expression: sp.Expr) -> int | None:
        """The expression, if letters that are whole numbers make it one."""
        known = {s: self.letters.get(s) for s in expression.free_symbols}
        whole = {s: sp.Integer(x) for s, x in known.items() if isinstance(x, int)}
        found = expression.xreplace(whole)
        return int(found) if found.is_Integer else None

    def holds(self, condition: Any) -> bool:
        found = condition.subs({s: self.letters[s] for s in condition.free_symbols if s in self.letters})
        if found not in (sp.true, sp.false):
            raise UsageError(f"step '{self.step}': whether {condition} holds is not known at these letters")
        return bool(found)


def _arrays_of(operand: Any) -> list[Array]:
    if isinstance(operand, tuple):
        return [each for member in operand for each in _arrays_of(member)]
    if isinstance(operand, Emulated):
        return [operand.exact, operand.emulated]
    return [operand] if isinstance(operand, torch.Tensor) else []


def _mapped(operand: Any, change: Callable[[Any], Any]) -> Any:
    """The operand with each member of a tuple and each side changed."""
    if isinstance(operand, tuple):
        return tuple(_mapped(each, change) for each in operand)
    if isinstance(operand, Emulated):
        return replace(operand, exact=_mapped(operand.exact, change), emulated=_mapped(operand.emulated, change))
    return change(operand)


def _ball(value: Any, bits: int) -> BallArray:
    import flint

    if isinstance(value, sp.Expr):
        return BallArray([evaluate_ball(value, {}, bits)], (), bits)
    return BallArray([value], (), bits) if isinstance(value, flint.arb) else BallArray.exactly(value, bits)


def as_operand(given: Any, bits: int | None) -> Any:
    """What a handle is bound to, as the readings take it: numbers and arrays as float64 tensors, or as balls."""
    return _mapped(given, partial(_single, bits=bits))


def _single(given: Any, bits: int | None) -> Any:
    if callable(given) or isinstance(given, Smooth | BallArray):
        return given
    if bits is not None:
        return array_of(np.asarray(given) if isinstance(given, list) else given)
    return given.to(torch.float64) if isinstance(given, torch.Tensor) else torch.as_tensor(given, dtype=torch.float64)


def handles_of(steps: Iterable[Step]) -> dict[str, str]:
    """The handles of the steps, each with the first step that needs it."""
    found: dict[str, str] = {}
    for step in steps:
        for name in step.operation.handles if step.operation is not None else ():
            found.setdefault(name, step.name)
    return found
