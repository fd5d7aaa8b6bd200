"""The gradient of a loss that is an expression: its formulas, and the program that they are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp
import torch

from bridge.expressions.backward import backward
from bridge.expressions.checking import require_one_use, require_own_layers
from bridge.expressions.expression import Expression
from bridge.expressions.flows import Flows
from bridge.expressions.gradient_lines import GradientLines
from bridge.expressions.gradient_pages import GradientPages
from bridge.expressions.inputs import Input, Value
from bridge.expressions.losses import CrossEntropyOf
from bridge.expressions.matrices import Matrix
from bridge.expressions.objects import Objects
from bridge.limits.arguments import called_with
from numeric.balls.running import call_on_balls
from symbolic.words.errors import UsageError


@dataclass(frozen=True)
class Gradient:
    """The derivative of a loss by parameters, by one backward pass. `print` shows its formulas, `latex` writes them.

    Called with an array for each input and matrix and a number for each parameter, by name, it gives the gradient at
    one prompt, of the shape of its parameter (a dict by name, of several); arrays with one axis more in front are a
    batch of prompts, and give a batch of gradients. Sizes follow from the shapes of arrays.
    """

    flows: Flows

    @cached_property
    def pages(self) -> GradientPages:
        """The definitions of all letters, and the gradient in these."""
        return GradientPages(GradientLines(self.flows))

    def __str__(self) -> str:
        return self.pages.plain()

    __repr__ = __str__

    def latex(self) -> str:
        """A paragraph with displays, for any article with amsmath."""
        return self.pages.latex()

    def _repr_markdown_(self) -> str:
        return self.pages.markdown()

    @cached_property
    def _objects(self) -> Objects:
        return Objects("gradient", (self.flows.loss,), {})

    @cached_property
    def _shapes(self) -> dict[str, tuple[sp.Expr, ...]]:
        """Of all arrays, in letters."""
        objects = self._objects
        found: dict[str, tuple[sp.Expr, ...]] = {}
        for name, each in objects.inputs_of_graph.items():
            found[name] = (each.dim,) if each.count is None else (each.count, each.dim)
        for name, matrix in objects.matrices.items():
            shape = (matrix.rows, matrix.columns)
            found[name] = shape if matrix.layers is None else (matrix.layers, *shape)
            if self.flows.approximate and matrix.drawn_change is not None:
                found[matrix.change_name] = found[name]
        return found

    @cached_property
    def _letters(self) -> set[str]:
        """The numbers that it takes."""
        found = {letter.name for letter in self.flows.letters}
        for node in self.flows.nodes:
            found |= set(node.takes) if isinstance(node, Value) else set()
        if self.flows.approximate:
            found |= {name for cut in self._objects.cuts for name in cut.takes}
        return found - set(self._shapes)

    def __call__(self, **given: Any) -> Any:
        """The gradient at these arrays and numbers. Raises UsageError for one that is missing, unknown or unfit."""
        return self._at(given, None)

    def enclosed(self, bits: int = 128, /, **given: Any) -> Any:
        """The same on balls of so many bits, which contain the exact gradient; floats enter exactly."""
        return self._at(given, bits)

    def _at(self, given: Mapping[str, Any], bits: int | None) -> Any:
        others = {name for each in self._objects.values.values() for name in each.inputs} - set(self._shapes)
        _require_known(given, {*self._shapes, *others}, self._letters - others)
        arrays = {name: given[name] for name in self._shapes}
        numbers = {name: number for name, number in given.items() if name not in self._shapes}
        _require_kinds(arrays, {name: number for name, number in numbers.items() if name not in others})
        batched, sizes = _sizes(self._shapes, arrays, numbers)
        if missing := sorted(self._letters - others - set(sizes) - set(numbers)):
            raise UsageError(f"gradient: {', '.join(missing)} does not follow from the shapes; give {missing[0]}=")
        found = self._of_prompts(arrays, {**numbers, **sizes}, batched, bits)
        return found[0] if len(found) == 1 else dict(zip((each.name for each in self.flows.by), found, strict=True))

    def _of_prompts(
        self, arrays: Mapping[str, Any], numbers: Mapping[str, Any], batched: Sequence[str], bits: int | None
    ) -> Sequence[Any]:
        def one(prompt: Mapping[str, Any]) -> tuple[Any, ...]:
            known = self._with_approximate({**numbers, **prompt})
            if bits is None:
                return tuple(backward(self.flows, known))
            return tuple(call_on_balls(lambda **known: backward(self.flows, known), known, bits))

        if not batched:
            return one(arrays)
        count = {len(arrays[name]) for name in batched}
        if len(count) > 1:
            raise UsageError(f"gradient: batches of {' and '.join(map(str, sorted(count)))} prompts; make them equal")
        if bits is None:
            places = {name: 0 if name in batched else None for name in arrays}
            found: Sequence[Any] = torch.func.vmap(one, in_dims=(places,))(dict(arrays))
            return found
        prompts = range(count.pop())
        each = [one({name: x[k] if name in batched else x for name, x in arrays.items()}) for k in prompts]
        return [torch.stack(list(parts)) for parts in zip(*each, strict=True)]

    def _with_approximate(self, known: dict[str, Any]) -> dict[str, Any]:
        """And labels that are numbers, and values that take nothing; what the network has in the place of others."""
        fixed = [node.made for node in self.flows.nodes if isinstance(node, CrossEntropyOf | Value)]
        known |= {name: called_with(program, known) for made in fixed for name, program in made.items()}
        if not self.flows.approximate:
            return known
        made = {name: m.approximate(known.__getitem__) for name, m in self._objects.approximate_matrices.items()}
        kept = {name: called_with(program, known) for name, program in self._objects.made.items()}
        return {**known, **made, **kept}


def _require_known(given: Mapping[str, Any], arrays: set[str], numbers: set[str]) -> None:
    if missing := sorted(arrays - set(given)):
        raise UsageError(f"gradient: there is no {' and no '.join(missing)}; give {missing[0]}=, a tensor")
    if unknown := sorted(set(given) - arrays - numbers):
        taken = ", ".join(sorted(arrays | numbers))
        raise UsageError(f"gradient: {', '.join(unknown)} is no input, matrix or parameter of the loss; it has {taken}")


def _require_kinds(arrays: Mapping[str, Any], numbers: Mapping[str, Any]) -> None:
    for name, array in arrays.items():
        if not isinstance(array, torch.Tensor) or not array.is_floating_point():
            kind = array.dtype if isinstance(array, torch.Tensor) else type(array).__name__
            raise UsageError(f"gradient: {name} is of the type {kind}; give a tensor of floats")
    for name, number in numbers.items():
        if not isinstance(number, int | float):
            raise UsageError(f"gradient: {name} is of the type {type(number).__name__}; give an int or a float")


def _sizes(
    shapes: Mapping[str, tuple[sp.Expr, ...]], arrays: Mapping[str, Any], numbers: Mapping[str, Any]
) -> tuple[list[str], dict[str, Any]]:
    """The names of arrays that are a batch, and the sizes that follow from shapes."""
    sizes: dict[str, Any] = {}
    batched = []
    for name, shape in shapes.items():
        more = arrays[name].ndim - len(shape)
        if more not in (0, 1):
            raise UsageError(f"gradient: {name} has {arrays[name].ndim} axes; give {_shown(shape)}, or a batch of them")
        batched += [name] if more else []
        for size, own in zip(shape, tuple(arrays[name].shape)[more:], strict=True):
            if size.is_Symbol:
                sizes.setdefault(size.name, numbers.get(size.name, own))
    for name, shape in shapes.items():
        at = {
            letter: sizes.get(letter.name, numbers.get(letter.name, letter)) for s in shape for letter in s.free_symbols
        }
        expected, own = [size.xreplace(at) for size in shape], tuple(arrays[name].shape)[-len(shape) :]
        if any(each.is_number and each != size for each, size in zip(map(sp.sympify, expected), own, strict=True)):
            found = " x ".join(map(str, own))
            raise UsageError(f"gradient: {name} is {found}; it is {_shown(shape)} with {_values(at)}")
    return batched, sizes


def _shown(shape: Sequence[sp.Expr]) -> str:
    return " x ".join(map(sp.sstr, shape))


def _values(at: Mapping[sp.Symbol, Any]) -> str:
    return ", ".join(f"{letter} = {number}" for letter, number in sorted(at.items(), key=str)) or "fixed sizes"


def gradient(loss: Any, *by: Any, approximate: bool = False) -> Gradient:
    """The gradient of a loss, an expression in R^1, by matrices and inputs, derived by one backward pass:

        r = bs.repeat(lambda p: tanh(W @ p), x, N) - y
        print(bs.gradient(r @ r, W))

    A matrix that all layers share gets the sum over them, one for each layer a gradient for each. The loss is that of
    the exact network; `approximate`: of the network that runs, by the matrix in the place of W. At a kink of a function
    (relu at 0) the derivative is the mean of both sides, and that of abs 0. Raises UsageError for a loss that is no
    number, for what does not occur in it, and where it depends on a parameter through what has no derivative.
    """
    if not isinstance(loss, Expression):
        raise UsageError(f"gradient: the loss is {type(loss).__name__}; give an expression in R^1, such as r @ r")
    if loss.count is not None or sp.simplify(loss.dim - 1) != 0:
        raise UsageError(
            f"gradient: the loss {loss.label} is in {loss.shape}; give a number, an expression in R^1, such as r @ r "
            f"for a vector r"
        )
    if not by:
        raise UsageError("gradient: nothing to differentiate by; give a matrix or an input, gradient(loss, W)")
    objects = Objects("gradient", (loss,), {})
    require_one_use(objects)
    require_own_layers(objects)
    known = [*objects.matrices.values(), *objects.inputs_of_graph.values()]
    for each in by:
        _require_parameter(each, loss, known)
    objects.number_letters()
    flows = Flows(loss, tuple(by), approximate)
    assert flows.passed is not None  # what has no derivative is refused here, not at a prompt
    return Gradient(flows)


def _require_parameter(each: Any, loss: Expression, known: Sequence[Any]) -> None:
    if not isinstance(each, Matrix | Input):
        raise UsageError(
            f"gradient: {getattr(each, 'label', each)!s:.40} is a {type(each).__name__}; give a matrix or an input: "
            f"{', '.join(own.name for own in known)}"
        )
    if any(own is not each and own.name == each.name for own in known):
        raise UsageError(f"gradient: the loss has another {each.name}; give the one that it is made of")
    if not any(own is each for own in known):
        raise UsageError(
            f"gradient: {each.name} does not occur in the loss {loss.label}, which has "
            f"{', '.join(own.name for own in known)}"
        )
