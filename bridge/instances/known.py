"""What the functions of a theorem take at one point, and the functions, called: on one prompt, on a batch, on balls.

Parameters, weights and what is built are one namespace, each made when it is first asked for. Shapes: B prompts; a
function is written for one of them and sees no B.
"""

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cached_property, partial
from inspect import unwrap
from types import MappingProxyType
from typing import Any

import flint
import numpy as np
import sympy as sp
import torch
from torch import Tensor

from bridge.domains import Domain
from bridge.instances.point import Point
from bridge.limits.arguments import Function, arguments_of, called_for
from bridge.limits.run import Format
from bridge.lowering.ball_values import BASE_BITS
from bridge.theorems.check import as_ball
from bridge.theorems.texts import with_values
from bridge.theorems.theorem import Theorem
from numeric.balls import BallArray, working_precision
from numeric.balls.floats import floats_enclosed
from numeric.balls.limits import TooLargeForExact
from numeric.balls.running import as_argument, call_on_balls, run_on_balls
from symbolic.words.errors import UsageError


def in_precision(built: Any, format: Format) -> Any:
    """The tensors of real numbers in what is built, also those in tuples, lists and dicts, as the weights of a run.

    A dataclass keeps its dtypes: it is data, of which only the device has to be that of the run.
    """
    if isinstance(built, Tensor):
        real = built.is_floating_point()
        return built.to(format.device, format.dtype, copy=True) if real else built.to(format.device)
    if type(built) in (tuple, list):
        return type(built)(in_precision(each, format) for each in built)
    if type(built) is dict:
        return {name: in_precision(each, format) for name, each in built.items()}
    if is_dataclass(built) and not isinstance(built, type):
        arrays = {each.name: getattr(built, each.name) for each in fields(built) if each.init}
        at = format.device
        away = {n: each.to(at) for n, each in arrays.items() if isinstance(each, Tensor) and each.device != at}
        return replace(built, **away) if away else built
    return built


Arrays = Mapping[str, Any]
LARGEST_PART = 1 << 27  # bytes that the prompts of one part take


class Made(Mapping[str, Any]):
    """Values by name, each made by its recipe when it is first asked for."""

    def __init__(self, recipes: Mapping[str, Callable[[], Any]]) -> None:
        self._recipes, self._made = recipes, dict[str, Any]()

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = self._recipes[name]()
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._recipes

    def __iter__(self) -> Iterator[str]:
        return iter(self._recipes)

    def __len__(self) -> int:
        return len(self._recipes)


class Known(Mapping[str, Any]):
    """By name: parameters (texts read), weights in float64, and what is built of them.

    `near`: on balls, what Python has computed from parameters (weights that no domain draws, what is built) stands for
    all numbers near it.
    """

    near = False

    def __init__(self, point: Point, format: Format) -> None:
        theorem = self.theorem = point.theorem
        self.format = format
        self.params = with_values(theorem.id, theorem.readers, point.params)
        self.weights = Made({n: partial(self._drawn, n, point) for n in theorem.weights if _is_kept(theorem, n)})
        self.built = Made({name: partial(self._made, name, point) for name in theorem.built})
        self._specified, self._given = point.params, tuple(name for name in point.given if name in theorem.search.near)
        self._balls: dict[int, Made] = {}

    def changed(self, *, near: bool = False, arrays: Arrays = MappingProxyType({})) -> "Known":
        """The same, with `near`, or with these arrays in the place of what is built."""
        other = copy.copy(self)
        made = {name: partial((arrays if name in arrays else self.built).__getitem__, name) for name in self.built}
        other.near, other.built, other._balls = near or self.near, Made(made), {}
        other._given = (*self._given, *arrays)
        return other

    @property
    def full(self) -> dict[str, Any]:
        """The parameters that rebuild this network: weights that are drawn or that a parameter specifies, and arrays
        that are given in the place of what is built."""
        drawn = [name for name in self.weights if name in self.theorem.recorded or name in self._specified]
        return {**self._specified, **{name: self[name].tolist() for name in (*drawn, *self._given)}}

    def __getitem__(self, name: str) -> Any:
        for names in (self.built, self.weights, self.params):
            if name in names:
                return names[name]
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self.params, *self.weights, *self.built]))

    def __len__(self) -> int:
        return len({*self.params, *self.weights, *self.built})

    # Weights: as a witness gives them, or drawn, each by a generator of its own, so that none moves with another.

    def _drawn(self, name: str, point: Point) -> Tensor:
        drawn_from = self.theorem.weights[name]
        if name in point.given:
            return self._checked(name, point.given[name])
        if not isinstance(drawn_from, Domain):
            return _float64(drawn_from(**{each: self._taken(name, each, point) for each in arguments_of(drawn_from)}))
        place = list(self.theorem.weights).index(name)
        seeds = np.random.SeedSequence([point.seed, place])
        generator = torch.Generator().manual_seed(int(seeds.generate_state(1)[0]))
        return drawn_from.at(self._letters).sample(1, generator)[0]

    def _made(self, name: str, point: Point) -> Any:
        """What is built, or the array near a weight that a witness gives in its place."""
        if name not in point.given:
            return self.call(self.theorem.built[name])
        of, domain = self.theorem.search.near[name]
        found = self._array(name, point.given[name])
        complaint = domain.at(self._letters).complaint(found - self.weights[of])
        if complaint:
            raise UsageError(f"{self.theorem.id}: {name} - {of}: {complaint}")
        return found

    def _taken(self, weight: str, name: str, point: Point) -> Any:
        """What the recipe of a weight takes: the seed, the weights before it, parameters."""
        names = list(self.theorem.weights)
        before = name in self.weights and names.index(name) < names.index(weight)
        return point.seed if name == "seed" else self.weights[name] if before else self.params[name]

    def _checked(self, name: str, value: Any) -> Tensor:
        weight = self._array(name, value)
        drawn_from = self.theorem.weights[name]
        complaint = drawn_from.at(self._letters).complaint(weight) if isinstance(drawn_from, Domain) else None
        if complaint:
            raise UsageError(f"{self.theorem.id}: the weight {name}: {complaint}")
        return weight

    def _array(self, name: str, value: Any) -> Tensor:
        try:
            return _float64(value)
        except (TypeError, ValueError, RuntimeError):
            raise UsageError(f"{self.theorem.id}: the weight {name} is not an array of numbers") from None

    @property
    def _letters(self) -> dict[sp.Symbol, Any]:
        return {p.symbol: self.params[p.name] for p in self.theorem.statement.parameters if p.symbol is not None}

    # On balls.

    def on_balls(self, bits: int) -> Mapping[str, Any]:
        """By name, as functions take them at that precision.

        A weight that a domain draws is an element of it, near the drawn one; one that the witness stores is what it is.
        """
        if bits not in self._balls:
            self._balls[bits] = Made({name: partial(self._on_balls, name, bits) for name in self})
        return self._balls[bits]

    def _on_balls(self, name: str, bits: int) -> Any:
        value = self[name]
        if name in self.params and not (name in self.weights or name in self.built):
            return value
        with working_precision(bits):
            drawn_from = None if name in self.built else self.theorem.weights[name]
            if isinstance(drawn_from, Domain):
                return drawn_from.at(self._letters).member(value, bits)
            if drawn_from is not None and (name in self.theorem.recorded or name in self.params):
                return value
            with floats_enclosed(self.near):
                return as_argument(value)

    # Calling.

    def call(self, function: Function, more: Arrays = MappingProxyType({})) -> Any:
        """The function with what it takes: parameters, weights as float64 tensors, what is built, and `more`."""
        with called_for(self.role(function), function):
            return function(**{name: more[name] if name in more else self[name] for name in arguments_of(function)})

    def _on_balls_for(self, function: Function, more: Arrays, bits: int) -> dict[str, Any]:
        known = self.on_balls(bits)
        return {name: more[name] if name in more else known[name] for name in arguments_of(function)}

    def role(self, function: Function) -> str:
        """What the function is in the theorem, for messages."""
        role = self._roles.get(id(unwrap(function))) or getattr(function, "__name__", repr(function))
        return f"{self.theorem.id}: {role}"

    @cached_property
    def _roles(self) -> dict[int, str]:
        """By the identity of the functions, which live as long as the theorem; the first role of each."""
        return {id(function): role for role, function in reversed(list(self.theorem.functions()))}

    def batched(self, function: Function, inputs: Mapping[str, Tensor], dtype: torch.dtype = torch.float64) -> Any:
        """The function at each prompt of the batch, (B, ...): numbers become tensors without dimensions.

        `inputs` may hold parameters and weights too: those of each prompt.
        """
        at_one, given = self._at_one(function, dtype), _taken(function, inputs, dtype)
        with called_for(self.role(function), function):
            count = len(next(iter(given.values()))) if given else 0
            alone = count == 1 and not torch.is_grad_enabled()  # an attack repeats it: vmap finds what reads values
            if not given or alone:  # vmap takes longer than most functions
                return _repeated(at_one({name: value[0] for name, value in given.items()}), inputs)
            fits = self.part is None or count <= self.part
            return torch.func.vmap(at_one, chunk_size=None if fits else self.part)(given)

    def batched_by_case(self, function: Function, of_cases: Mapping[str, Tensor], inputs: Mapping[str, Tensor]) -> Any:
        """The function at prompts (C, I, ...) of C cases, each with values (C, ...) of its own, as (C, I, ...).

        What depends on the point alone is computed once for each of them.
        """
        at_one, dtype = self._at_one(function, torch.float64), torch.float64
        own, given = (_taken(function, each, dtype) for each in (of_cases, inputs))
        shape = next(iter(inputs.values())).shape[:2]

        def at_case(own: Mapping[str, Tensor], prompts: dict[str, Tensor]) -> Any:
            if not prompts:
                return _repeated(at_one(own), {"prompts": torch.empty(shape[1], dtype=torch.float64, device="cpu")})
            return torch.func.vmap(lambda prompt: at_one({**own, **prompt}), chunk_size=self.part)(prompts)

        with called_for(self.role(function), function):
            if shape[0] == 1 or not (own or given):
                first, prompts = ({name: value[0] for name, value in each.items()} for each in (own, given))
                return _repeated(
                    at_case(first, prompts), {"cases": torch.empty(shape[0], dtype=torch.float64, device="cpu")}
                )
            return torch.func.vmap(at_case)(own, given)

    def _at_one(self, function: Function, dtype: torch.dtype) -> Callable[[Mapping[str, Tensor]], Any]:
        """The function at one prompt, or what it knows of one."""
        names, role, format = arguments_of(function), self.role(function), replace(self.format, dtype=dtype)
        fixed = self._as_tensors(names, format)

        def at_one(prompt: Mapping[str, Tensor]) -> Any:
            known = {**fixed, **prompt}
            return _as_arrays(role, function(**{name: known[name] for name in names}), format)

        return at_one

    def at_one(self, function: Function, prompt: Mapping[str, Tensor]) -> Any:
        """The function at one prompt, as it returns; numbers are tensors without dimensions."""
        names = arguments_of(function)
        known = {**self._as_tensors(names, self.format.wide), **prompt}
        with called_for(self.role(function), function):
            return function(**{name: known[name] for name in names})

    def exactly(self, function: Function, prompt: Arrays, bits: int) -> Any:
        """The same on balls. Raises TooLargeForExact."""
        with called_for(self.role(function), function):
            arguments, limit = self._on_balls_for(function, prompt, bits), self.theorem.exact.limit
            return call_on_balls(function, arguments, bits, limit=limit, enclose_floats=self.near)

    @property
    def cancelled_bits(self) -> int:
        """Those that runs on balls take beyond what telling the bounds from 0 does, as the theorem asks for."""
        bits = self.theorem.exact.bits
        return bits if isinstance(bits, int) else int(self.call(bits))

    @property
    def bytes_of_one(self) -> int:
        """What the theorem says that one prompt takes; 0 where it says nothing."""
        return 0 if self.theorem.work is None else int(self.call(self.theorem.work).bytes_of_one)

    @cached_property
    def part(self) -> int | None:
        """How many prompts run at once; None: all."""
        return max(1, LARGEST_PART // self.bytes_of_one) if self.bytes_of_one else None

    def _as_tensors(self, names: Sequence[str], format: Format) -> dict[str, Any]:
        """The parameters and weights of these names, and what is built."""
        wide = self.format.wide
        numbers = {
            n: wide.tensor(x) if isinstance(x := self.params[n], float) else x for n in self.params if n in names
        }
        taken = [name for name in self.weights if name in names]
        weights = {name: self.weights[name].to(format.device, format.dtype, copy=True) for name in taken}
        built = {name: in_precision(self.built[name], format) for name in self.built if name in names}
        return numbers | weights | built

    def number(self, function: Function, inputs: Arrays, bits: int = BASE_BITS) -> flint.arb:
        """A letter's value as a ball. Raises UsageError for what is not a single number, and for too much work."""
        try:
            found = self.on_array(function, inputs, bits)
        except TooLargeForExact as error:
            raise UsageError(f"{self.role(function)} is too large for exact arithmetic; lower the sizes") from error
        if isinstance(found, BallArray):
            if found.shape != ():
                raise UsageError(
                    f"{self.role(function)} gives an array of shape {tuple(found.shape)}; return one number"
                )
            return found.balls[0]
        return as_ball(found)

    def on_array(self, function: Function, inputs: Arrays, bits: int) -> Any:
        with called_for(self.role(function), function):
            arguments, limit = self._on_balls_for(function, inputs, bits), self.theorem.exact.limit
            return run_on_balls(function, arguments, bits, limit=limit, enclose_floats=self.near)


def _is_kept(theorem: Theorem, name: str) -> bool:
    return name not in theorem.drawn_each_time


def _float64(value: Any) -> Tensor:
    return torch.as_tensor(value if isinstance(value, Tensor) else np.asarray(value), dtype=torch.float64)


# Copies: a function that changes its argument in place must not change the sample.
def _taken(function: Function, known: Mapping[str, Tensor], dtype: torch.dtype) -> dict[str, Tensor]:
    names = arguments_of(function)
    return {name: value.to(dtype, copy=True) for name, value in known.items() if name in names}


def _as_arrays(role: str, found: Any, format: Format) -> Any:
    """What a function returned, numbers as tensors. Raises UsageError for what is neither array nor {name: array}."""
    if isinstance(found, Mapping):
        return {name: _as_arrays(role, each, format) for name, each in found.items()}
    if isinstance(found, int | float):
        return format.tensor(found)
    if not isinstance(found, Tensor):
        raise UsageError(
            f"{role} returns {type(found).__name__}; return an array (torch.stack joins several), or a dict with an "
            f"array for each quantity"
        )
    return found


def _repeated(found: Any, inputs: Mapping[str, Tensor]) -> Any:
    """What does not depend on the inputs, once for each of them."""
    if isinstance(found, Mapping):
        return {name: _repeated(each, inputs) for name, each in found.items()}
    return found.expand(len(next(iter(inputs.values()))), *found.shape)
