"""The functions of a theorem, run: on batches of tensors (by vmap, differentiable) and on balls (one prompt).

Shapes: B prompts; a function is written for one of them and sees no B.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import flint
import torch
from torch import Tensor

from bridge.arguments import Function, arguments_of, called_for
from bridge.balls import BASE_BITS
from bridge.check import as_ball
from bridge.exact_arguments import ExactArguments
from bridge.limits.run import Format
from bridge.pair import Pair
from bridge.precision import in_precision
from bridge.texts import with_values
from bridge.theorem import Theorem
from bridge.transformer import Transformer
from numeric.balls import BallArray, ball_maximum, working_precision
from numeric.balls.array import array_of
from numeric.balls.floats import floats_enclosed
from numeric.balls.running import call_on_balls, run_on_balls
from numeric.exact import run_exact
from numeric.exact_cost import TooLargeForExact
from numeric.network import Network
from numeric.shared_blocks import SharedNetwork
from symbolic.statements import UsageError

Arrays = Mapping[str, Any]
LARGEST_PART = 1 << 27  # bytes that the prompts of one part take


class Runner:
    """Everything that runs at one point: parameters and weights are fixed, inputs vary."""

    def __init__(
        self,
        theorem: Theorem,
        params: Arrays,
        weights: Mapping[str, Tensor],
        format: Format,
    ) -> None:
        self.theorem, self.weights = theorem, dict(weights)
        self.params = with_values(theorem.id, theorem.readers, params)
        self.format = format
        self._networks: dict[tuple[str, torch.dtype], Network | SharedNetwork] = {}
        self.built: dict[str, Any] = {}
        for name, build in theorem.built.items():
            self.built[name] = self.called(build, {})
        self.enclose_floats = False
        self._exactly = ExactArguments(theorem, self.params, self.weights, self.built)

    def with_floats_enclosed(self) -> "Runner":
        """The same, except that on balls floats that Python computes stand for all numbers near them."""
        other = copy.copy(self)
        other.enclose_floats, other._exactly = True, replace(self._exactly, enclose_floats=True)
        return other

    # Calling.

    def called(self, function: Function, more: Arrays) -> Any:
        """The function with what it takes: parameters, weights as float64 tensors, what is built, and `more`."""
        with called_for(self.role(function), function):
            return function(**self._arguments(function, more))

    def _arguments(self, function: Function, more: Arrays) -> dict[str, Any]:
        known = {**self.params, **self.weights, **self.built, **more}
        return {name: known[name] for name in arguments_of(function)}

    def _exact_arguments(self, function: Function, more: Arrays, bits: int) -> dict[str, Any]:
        return self._arguments(function, {**self._exactly.at(bits), **more})

    def role(self, function: Function) -> str:
        """What the function is in the theorem, for messages."""
        role = self._roles.get(id(function)) or getattr(function, "__name__", repr(function))
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

        What depends on the case alone is computed once for each of them.
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
            arguments, limit = self._exact_arguments(function, prompt, bits), self.theorem.exact.limit
            return call_on_balls(function, arguments, bits, limit=limit, enclose_floats=self.enclose_floats)

    @property
    def bytes_of_one(self) -> int:
        """What the theorem says that one prompt takes; 0 where it says nothing."""
        return 0 if self.theorem.memory is None else int(self.called(self.theorem.memory, {}))

    @cached_property
    def part(self) -> int | None:
        """How many prompts run at once; None: all."""
        return max(1, LARGEST_PART // self.bytes_of_one) if self.bytes_of_one else None

    def _as_tensors(self, names: Sequence[str], format: Format) -> dict[str, Any]:
        """The parameters and weights of these names, and what is built."""
        numbers = {
            name: self.format.wide.tensor(value) if isinstance(value, float) else value
            for name, value in self.params.items()
            if name in names
        }
        weights = {
            name: value.to(format.device, format.dtype, copy=True)
            for name, value in self.weights.items()
            if name in names
        }
        built = {name: in_precision(value, format) for name, value in self.built.items() if name in names}
        return numbers | weights | built

    def exact_number(self, function: Function, inputs: Arrays, bits: int = BASE_BITS) -> flint.arb:
        """A letter's value as a ball. Raises UsageError for what is not a single number, and for too much work."""
        try:
            found = self._on_balls(function, inputs, bits)
        except TooLargeForExact as error:
            raise UsageError(f"{self.role(function)} is too large for exact arithmetic; lower the sizes") from error
        if isinstance(found, BallArray):
            if found.shape != ():
                raise UsageError(
                    f"{self.role(function)} gives an array of shape {tuple(found.shape)}; return one number"
                )
            return found.balls[0]
        return as_ball(found)

    def _on_balls(self, function: Function, inputs: Arrays, bits: int) -> Any:
        with called_for(self.role(function), function):
            arguments, limit = self._exact_arguments(function, inputs, bits), self.theorem.exact.limit
            return run_on_balls(function, arguments, bits, limit=limit, enclose_floats=self.enclose_floats)

    # Network and reference.

    def network(self, inputs: Mapping[str, Tensor], names: Sequence[str], dtype: torch.dtype) -> dict[str, Tensor]:
        return self._each_network(names, lambda key, wanted: self.outputs(key, inputs, wanted, dtype))

    def reference(self, inputs: Mapping[str, Tensor], names: Sequence[str]) -> dict[str, Tensor]:
        return self._named("the reference", self.batched(_on_tensors(self._reference), inputs), names)

    def exact_network(self, inputs: Arrays, names: Sequence[str], bits: int) -> dict[str, BallArray]:
        return self._each_network(names, lambda key, wanted: self._exact_run(key, inputs, wanted, bits))

    def exact_reference(self, inputs: Arrays, names: Sequence[str], bits: int) -> dict[str, BallArray]:
        return self._named("the reference", self._on_balls(_for_balls(self._reference), inputs, bits), names)

    @property
    def _reference(self) -> Function | Pair:
        if self.theorem.reference is None:
            raise UsageError(f"{self.theorem.id} has no reference, so no error can be measured; give reference=")
        return self.theorem.reference

    def _each_network(self, names: Sequence[str], run: Callable[[str, list[str]], dict[str, Any]]) -> dict[str, Any]:
        """Each network once, for the quantities whose errors it makes."""
        groups: dict[str, list[str]] = {}
        for name in names:
            groups.setdefault(self.network_key(name), []).append(name)
        return {name: found for key, wanted in groups.items() for name, found in run(key, wanted).items()}

    def network_key(self, name: str) -> str:
        """Which of the theorem's networks makes the error of that quantity."""
        networks = self.theorem.networks
        key = name if name in networks else ""
        if key not in networks:
            raise UsageError(f"{self.theorem.id} has no network for '{name}', so its error cannot be measured")
        return key

    def outputs(
        self, key: str, inputs: Mapping[str, Tensor], names: Sequence[str], dtype: torch.dtype
    ) -> dict[str, Tensor]:
        """What one of the networks makes of these quantities, (B, ...) each."""
        network = self.theorem.networks[key]
        if not isinstance(network, Transformer):
            return self._named("the network", self.batched(_on_tensors(network), inputs, dtype), names)
        tokens = self.tokens(network, inputs, dtype)
        taps = self.torch_network(key, dtype).run(tokens, self.taps(network, names))
        return {name: self.read(network, name, taps, dtype) for name in names}

    def envelope(self, inputs: Mapping[str, Tensor], names: Sequence[str]) -> dict[str, Tensor]:
        """What the theorem's envelope makes of these quantities, (B, ...) each."""
        assert self.theorem.search.envelope is not None  # asked of theorems that have one
        return self._named("the envelope", self.batched(self.theorem.search.envelope, inputs), names)

    def _exact_run(self, key: str, inputs: Arrays, names: Sequence[str], bits: int) -> dict[str, BallArray]:
        network = self.theorem.networks[key]
        if not isinstance(network, Transformer):
            return self._named("the network", self._on_balls(_for_balls(network), inputs, bits), names)
        if network.tokens is None:
            tokens = array_of(inputs[self._only_input])
        else:
            tokens = self._on_balls(network.tokens, inputs, bits)
        with called_for(self.role(network.build), network.build):
            arguments = self._exact_arguments(network.build, {}, bits)
            construction = call_on_balls(network.build, arguments, bits, enclose_floats=self.enclose_floats)
        with floats_enclosed(self.enclose_floats):
            taps = run_exact(construction, tokens, bits, self.taps(network, names))
        return {
            name: self._on_balls(network.read[name], taps, bits) if name in network.read else taps[_tap(name)]
            for name in names
        }

    def _named(self, role: str, found: Any, names: Sequence[str]) -> dict[str, Any]:
        """What a function returned, by quantity. Raises UsageError for a quantity that it does not return."""
        by_name = found if isinstance(found, Mapping) else dict.fromkeys(names, found)
        keys = {name: _key(name, by_name) for name in names}
        missing = [name for name, key in keys.items() if key not in by_name]
        if missing:
            raise UsageError(
                f"{self.theorem.id}: {role} returns {', '.join(by_name)}, but not {', '.join(missing)}; return a dict "
                f"with an array for each quantity"
            )
        return {name: by_name[key] for name, key in keys.items()}

    # Transformers.

    def transformer(self, name: str) -> Transformer:
        """The one that makes the error of that quantity."""
        network = self.theorem.networks[self.network_key(name)]
        assert isinstance(network, Transformer)  # asked of transformers only
        return network

    def tokens(self, network: Transformer, inputs: Mapping[str, Tensor], dtype: torch.dtype) -> Tensor:
        """The prompts as they enter, (B, L, width)."""
        found = inputs[self._only_input] if network.tokens is None else self.batched(network.tokens, inputs, dtype)
        return found.to(dtype)

    @property
    def _only_input(self) -> str:
        """The input of a network whose tokens are its only input."""
        (name,) = self.theorem.inputs
        return name

    def torch_network(self, key: str, dtype: torch.dtype) -> Network | SharedNetwork:
        """The transformer of that key, with its weights in that dtype."""
        if (key, dtype) not in self._networks:
            network = self.theorem.networks[key]
            assert isinstance(network, Transformer)  # a function has no weights to be kept
            construction = self.called(network.build, {})
            interpreter = SharedNetwork if network.shared else Network
            self._networks[key, dtype] = interpreter(construction, dtype=dtype, device=self.format.device)
        return self._networks[key, dtype]

    def taps(self, network: Transformer, names: Sequence[str]) -> list[str]:
        """The taps from which these quantities are read, but the output, which there always is."""
        wanted = [arguments_of(network.read[name]) if name in network.read else (_tap(name),) for name in names]
        taps = {tap for each in wanted for tap in each if tap not in self.params and tap not in self.weights}
        return sorted(taps - {"output"})

    def read(self, network: Transformer, name: str, taps: Mapping[str, Tensor], dtype: torch.dtype) -> Tensor:
        if name not in network.read:
            return taps[_tap(name)]
        found: Tensor = self.batched(network.read[name], taps, dtype)
        return found


# Copies: a function that changes its argument in place must not change the sample.
def _taken(function: Function, known: Mapping[str, Tensor], dtype: torch.dtype) -> dict[str, Tensor]:
    names = arguments_of(function)
    return {name: value.to(dtype, copy=True) for name, value in known.items() if name in names}


def _key(name: str, known: Mapping[str, Any]) -> str:
    """Its own name; that of its quantity for a variant, `output.gated`, that has no entry of its own."""
    return name if name in known else name.partition(".")[0]


def _tap(name: str) -> str:
    return name.partition(".")[0]


def _on_tensors(function: Function | Pair) -> Function:
    return function.tensors if isinstance(function, Pair) else function


def _for_balls(function: Function | Pair) -> Function:
    return function.balls if isinstance(function, Pair) else function


ORDERS = {"inf": torch.inf, "1": 1, "2": 2}


def distance(norm: str, name: str, found: Tensor, truth: Tensor, *, tokens: bool = False) -> Tensor:
    """The norm of each difference, over all entries as one vector, or of the largest token, (B).

    Raises UsageError for shapes that differ.
    """
    if found.shape != truth.shape:
        raise UsageError(
            f"'{name}' has the shape {tuple(found.shape[1:])} in the network and {tuple(truth.shape[1:])} in the "
            f"reference; return arrays of one shape"
        )
    if tokens and found.ndim > 2:
        return torch.linalg.vector_norm(found - truth, ord=ORDERS[norm], dim=-1).flatten(1).amax(-1)
    return torch.linalg.vector_norm((found - truth).reshape(len(found), -1), ord=ORDERS[norm], dim=1)


def exact_distance(norm: str, one: BallArray, other: BallArray | Tensor, *, tokens: bool = False) -> flint.arb:
    """The norm of the difference, or of its largest token, enclosed. Raises UsageError for shapes that differ."""
    if tuple(one.shape) != tuple(other.shape):
        raise UsageError(
            f"two runs of one quantity give arrays of the shapes {tuple(one.shape)} and {tuple(other.shape)}"
        )
    apart = one - (other.double().cpu().numpy() if isinstance(other, Tensor) else other)
    with working_precision(one.bits):
        sizes = [abs(ball) for ball in apart.balls]
        width = apart.shape[-1] if tokens and apart.ndim > 1 else max(1, len(sizes))
        return ball_maximum([_norm(norm, sizes[start : start + width]) for start in range(0, len(sizes), width)])


def _norm(norm: str, sizes: Sequence[flint.arb]) -> flint.arb:
    if norm == "inf":
        return ball_maximum(sizes)
    if norm == "1":
        return sum(sizes, start=flint.arb(0))
    total = sum((size * size for size in sizes), start=flint.arb(0))
    return total.sqrt() if total > 0 else flint.arb(0).union(total.abs_upper().sqrt())  # all may be 0


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
