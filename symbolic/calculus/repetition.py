"""Rule 7 for a network of equal layers: one layer is derived, and repeated to any symbolic depth."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from symbolic.calculus.geometric import at_layer
from symbolic.calculus.layers import affine_majorant, iterate, recursion_from
from symbolic.calculus.recursions import LinearRecursion
from symbolic.derivations.derivation import (
    Approximated,
    DerivationError,
    Step,
    as_expr,
    given,
)
from symbolic.derivations.obligations import Obligation, nonnegative, shown_at_most
from symbolic.derivations.operations import Operation
from symbolic.derivations.signs import is_continuous, is_nonnegative
from symbolic.words.names import error_symbol

FIRST_INDEX = 1 << 40  # SymPy counts its own from below 10^7


@dataclass(frozen=True)
class Repetition(Operation):
    """`depth` equal layers, one after the other: `layer` is derived from its premise `premise`.

    A handle of the layer that is bound to a tuple stands for its l-th member in layer l; `index` is the symbol for l.
    """

    premise: str
    layer: Approximated
    depth: sp.Expr
    index: sp.Symbol

    @property
    def handles(self) -> tuple[str, ...]:
        inner = (step.operation for step in self.layer.derivation.steps if step.name != self.premise)
        return tuple(dict.fromkeys(h for each in inner if each for h in each.handles))


# A layer is derived from a premise whose error is a symbol e; its bound is the step of a recursion in e, which
# `iterate` solves for the given depth. Nothing is proved here that these two rules do not prove. The sizes follow a
# recursion of their own: s_{l+1} is at most the size of a layer whose argument has the size s_l.
def repeat(x: Approximated, name: str, layer: Callable[[Approximated], Approximated], depth: Any) -> Approximated:
    """The value after `depth` equal layers, starting from x. `layer` derives one of them from its argument.

    The layer has to keep the norm and the dimension of x. It keeps the size of its argument (tokens in [-1, 1] stay
    there, say), or its size is affine in that (a residual layer x + c f(x)). The argument is a given with an error of
    its own. Raises DerivationError for a layer that does not fit.
    """
    depth, index, error = as_expr(depth), _letter("l", name, integer=True), _letter("e", name)

    def from_size(size: sp.Expr) -> tuple[Approximated, Approximated]:
        premise = given(f"a layer of {name}", dim=x.dim, norm=x.norm, size=size, error=error)
        derived = layer(premise)
        if not isinstance(derived, Approximated):
            raise DerivationError(f"repeat: the layer of '{name}' returns {derived!r:.80}; return the value it derives")
        return premise, derived

    sizes = _sizes(x.size, lambda size: from_size(size)[1].size, error, index)
    premise, one = from_size(sizes.before)
    one = one.with_its_size()
    recursion = _recursion(name, premise, replace(one, size=sizes.before.subs(index, index + 1)), index)
    kept = (each for each in recursion.obligations if each.condition != sp.Ge(sizes.before, 0))
    owed = (*kept, *sizes.owed(name), *_fitting(premise, one, sizes.after))
    last = at_layer(sizes.before, index, depth)
    found = iterate(x, name, replace(recursion, obligations=tuple(dict.fromkeys(owed))), depth, size=last)
    # By the induction over the layers the size after them is not negative, and a layer may add what grows with it.
    held = [f"the offset of '{name}' is not negative"] if sizes.coefficients and _adds(from_size, error) else []
    owed = found.derivation.steps[-1].obligations
    remaining = tuple(o for o in owed if o.condition != sp.Ge(last, 0) and not o.statement.startswith(tuple(held)))
    return found.with_conclusion(obligations=remaining, operation=Repetition(premise.name, one, depth, index))


# From s_0 >= 0, by induction: s_{l+1} = factor s_l + offset >= 0.
@dataclass(frozen=True)
class _LayerSizes:
    """The size before layer `index` and after it, and the coefficients of their recursion, if they have one."""

    before: sp.Expr
    after: sp.Expr
    coefficients: tuple[sp.Expr, ...] = ()

    def owed(self, name: str) -> tuple[Obligation, ...]:
        """That the coefficients, and with them all sizes, are not negative."""
        named = zip(("factor of the size", "offset of the size"), self.coefficients, strict=False)
        return nonnegative("repeat", name, **dict(named))


def steps_of_one_layer(step: Step, layer: str = "l") -> tuple[Step, ...]:
    """The steps of one layer of a repetition, in its argument's error e_l; their obligations are those of `step`.

    `layer` is the letter for its number.
    """
    if not isinstance(step.operation, Repetition) or step.recursion is None:
        return ()
    premise = step.operation.premise
    steps = (each for each in step.operation.layer.derivation.steps if each.name != premise)
    return tuple(
        replace(
            _in_layer(each, step.operation, layer),
            premises=tuple("its argument" if name == premise else name for name in each.premises),
            obligations=(),
        )
        for each in steps
    )


def argument_of_layer(step: Step, layer: str = "l") -> Step | None:
    """The argument of one layer of a repetition, `layer` as above; None for a step without layers."""
    operation = step.operation
    if not isinstance(operation, Repetition):
        return None
    return _in_layer(operation.layer.derivation.step(operation.premise), operation, layer)


def _in_layer(step: Step, repetition: Repetition, layer: str) -> Step:
    """A step with the letters of the display in the place of the error of the argument and the number of the layer."""
    plain = {
        error_symbol(repetition.premise): sp.Symbol(f"e_{layer}", nonnegative=True),
        repetition.index: sp.Symbol(layer, integer=True, nonnegative=True),
    }
    return step.with_bounds(lambda bound: bound.xreplace(plain))


# What a layer adds to the error may grow with the size of its argument, which is not negative in any layer.
def _adds(from_size: Callable[[sp.Expr], tuple[Approximated, Approximated]], error: sp.Symbol) -> bool:
    """Whether a layer clearly adds no negative error, whatever the size of its argument is."""
    _, one = from_size(sp.Dummy("s", nonnegative=True))
    return bool(is_nonnegative(one.error.subs(error, 0)))


# The same letter for the same name, so that a value that is derived twice is derived alike; no other symbol equals it.
def _letter(letter: str, name: str, **assumptions: bool) -> sp.Dummy:
    place = FIRST_INDEX + zlib.crc32(name.encode())
    return sp.Dummy(letter, dummy_index=place, nonnegative=True, **assumptions)


def _sizes(start: sp.Expr, after: Callable[[sp.Expr], sp.Expr], error: sp.Symbol, index: sp.Symbol) -> _LayerSizes:
    """`after` is the size after one layer, by that before it."""
    if shown_at_most(after(start), start) == sp.true:
        return _LayerSizes(start, start)
    step = _affine(after, error)
    if step is None:
        return _LayerSizes(start, start)
    factor, offset = step
    if factor == 0:
        largest = sp.Max(start, offset)
        return _LayerSizes(largest, largest)
    size = LinearRecursion(start, factor, offset, index).closed(index)
    return _LayerSizes(size, factor * size + offset, step)


def _affine(after: Callable[[sp.Expr], sp.Expr], error: sp.Symbol) -> tuple[sp.Expr, sp.Expr] | None:
    """The factor and the offset of the size after one layer, neither of them negative; None for another dependence."""
    before = sp.Dummy("s", nonnegative=True)
    try:
        size = affine_majorant(after(before), before)
    except DerivationError:  # a rule that needs to know more of the size
        return None
    factor, offset = sp.diff(size, before), size.subs(before, 0)
    plain = is_continuous(size, before) and not factor.has(before) and not size.has(error)
    grows = factor.is_negative is not True and offset.is_negative is not True
    return (sp.factor_terms(factor), offset) if plain and grows else None


def _recursion(name: str, premise: Approximated, one: Approximated, index: sp.Symbol) -> LinearRecursion:
    try:
        return recursion_from(premise, one, index=index)
    except DerivationError as error:
        raise DerivationError(
            f"repeat: one layer of '{name}' has the bound {sp.sstr(one.error)}; a layer needs a bound that is affine "
            f"in the error {premise.error} of its argument (softmax(..., affine=True) has one) ({error})"
        ) from None


def _fitting(premise: Approximated, one: Approximated, following: sp.Expr) -> tuple[Obligation, ...]:
    """The obligation under which a layer has at most the size `following`, if that is not certain."""
    if sp.simplify(one.dim - premise.dim) != 0:
        raise DerivationError(f"repeat: '{one.name}' has {one.dim} coordinates, and its argument {premise.dim}")
    smaller = shown_at_most(one.size, following)
    if smaller == sp.false:
        raise DerivationError(
            f"repeat: '{one.name}' has the size {one.size}, above that of its argument, {premise.size}, and not affine "
            f"in it; bound it by a size that a layer keeps (apply_function(..., size=1), project), or give the sizes "
            f"of all layers yourself: recursion_from(..., index=l), then iterate(..., size=...)"
        )
    obligation = Obligation(f"the size of '{one.name}' is at most that of the layer's premise", smaller)
    return (obligation,) if obligation.open else ()
