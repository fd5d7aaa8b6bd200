"""The functions of a theorem, run: on batches of tensors (by vmap, differentiable) and on balls (one prompt).

Shapes: B prompts; a function is written for one of them and sees no B.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import flint
import torch
from torch import Tensor

from bridge.balls import BASE_BITS
from bridge.check import as_ball
from bridge.theorem import Function, Theorem, arguments_of
from bridge.transformer import Transformer
from numeric.construction import Construction
from numeric.exact import run_exact
from numeric.balls import BallArray, ball_maximum, working_precision
from numeric.balls.running import call_on_balls, run_on_balls
from numeric.network import Network
from symbolic.statements import UsageError

Arrays = Mapping[str, Any]
DEPENDS_ON_DATA = "data-dependent control flow"  # of torch, on a branch under vmap


class Runner:
    """Everything that runs at one point: parameters and weights are fixed, inputs vary."""

    def __init__(
        self, theorem: Theorem, params: Arrays, weights: Mapping[str, Tensor], dtype: torch.dtype, device: torch.device
    ) -> None:
        self.theorem, self.params, self.weights = theorem, dict(params), dict(weights)
        self.dtype, self.device = dtype, device

    # Calling.

    def called(self, function: Function, more: Arrays) -> Any:
        """The function with the arguments that it takes: parameters, weights as float64 tensors, and `more`."""
        known = {**self.params, **self.weights, **more}
        return function(**{name: known[name] for name in arguments_of(function)})

    def batched(self, function: Function, inputs: Mapping[str, Tensor], dtype: torch.dtype = torch.float64) -> Any:
        """The function at each prompt of the batch, (B, ...): numbers become tensors without dimensions."""
        fixed = self._as_tensors(dtype)
        given = {name: value.to(dtype) for name, value in inputs.items() if name in arguments_of(function)}
        if not given:
            raise UsageError(f"{self.theorem.id}: {_name(function)} takes no input")

        def at_one(prompt: dict[str, Tensor]) -> Any:
            known = {**fixed, **prompt}
            return function(**{name: known[name] for name in arguments_of(function)})

        try:
            return torch.func.vmap(at_one)(given)
        except RuntimeError as error:
            if DEPENDS_ON_DATA in str(error):
                raise UsageError(
                    f"{self.theorem.id}: {_name(function)} branches on a value of its inputs; write torch.where, "
                    f"torch.clamp or torch.maximum, which work on a batch and on balls"
                ) from error
            raise

    def _as_tensors(self, dtype: torch.dtype) -> dict[str, Any]:
        numbers = {
            name: torch.tensor(value, dtype=torch.float64, device=self.device) if isinstance(value, float) else value
            for name, value in self.params.items()
        }
        return numbers | {name: value.to(self.device, dtype) for name, value in self.weights.items()}

    def exact_number(self, function: Function, inputs: Arrays, bits: int = BASE_BITS) -> flint.arb:
        """A letter's value as a ball. Raises UsageError for what is no single number."""
        found = self._on_balls(function, inputs, bits)
        if isinstance(found, BallArray):
            if found.shape != ():
                raise UsageError(f"{self.theorem.id}: {_name(function)} gives an array of shape {found.shape}, no number")
            return found.balls[0]
        return as_ball(found)

    def _on_balls(self, function: Function, inputs: Arrays, bits: int) -> Any:
        known = {**self.params, **self.weights, **inputs}
        return run_on_balls(function, {name: known[name] for name in arguments_of(function)}, bits)

    # Network and reference.

    def network(self, inputs: Mapping[str, Tensor], names: Sequence[str], dtype: torch.dtype) -> dict[str, Tensor]:
        network = self.theorem.network
        if isinstance(network, Transformer):
            return self._transformer(network, inputs, names, dtype)
        return self._named("the network", self.batched(_given(network, self.theorem, "network"), inputs, dtype), names)

    def reference(self, inputs: Mapping[str, Tensor], names: Sequence[str]) -> dict[str, Tensor]:
        function = _given(self.theorem.reference, self.theorem, "reference")
        return self._named("the reference", self.batched(function, inputs), names)

    def exact_network(self, inputs: Arrays, names: Sequence[str], bits: int) -> dict[str, BallArray]:
        network = self.theorem.network
        if isinstance(network, Transformer):
            return self._exact_transformer(network, inputs, names, bits)
        function = _given(network, self.theorem, "network")
        return self._named("the network", self._on_balls(function, inputs, bits), names)

    def exact_reference(self, inputs: Arrays, names: Sequence[str], bits: int) -> dict[str, BallArray]:
        function = _given(self.theorem.reference, self.theorem, "reference")
        return self._named("the reference", self._on_balls(function, inputs, bits), names)

    def _named(self, role: str, found: Any, names: Sequence[str]) -> dict[str, Any]:
        """What a function returned, by quantity. Raises UsageError for a quantity that it does not return."""
        by_name = found if isinstance(found, Mapping) else {self.theorem.main: found}
        missing = [name for name in names if name not in by_name]
        if missing:
            raise UsageError(
                f"{self.theorem.id}: {role} returns {', '.join(by_name)}, but not {', '.join(missing)}; return a dict "
                f"with an array for each quantity"
            )
        return {name: by_name[name] for name in names}

    # Transformers.

    @cached_property
    def construction(self) -> Construction:
        return self.called(_transformer_of(self.theorem).build, {})

    @cached_property
    def _networks(self) -> dict[torch.dtype, Network]:
        return {}

    def _transformer(
        self, network: Transformer, inputs: Mapping[str, Tensor], names: Sequence[str], dtype: torch.dtype
    ) -> dict[str, Tensor]:
        if dtype not in self._networks:
            self._networks[dtype] = Network(self.construction, dtype=dtype, device=self.device)
        tokens = self.batched(network.tokens, inputs, dtype).to(dtype)  # (B, L, width)
        taps = self._networks[dtype].run(tokens, [name for name in self._taps(network, names) if name != "output"])
        return {name: self._read_batch(network, name, taps) for name in names}

    def _taps(self, network: Transformer, names: Sequence[str]) -> list[str]:
        """The taps from which these quantities are read."""
        wanted = [arguments_of(network.read[name]) if name in network.read else (name,) for name in names]
        taps = {tap for each in wanted for tap in each if tap not in self.params and tap not in self.weights}
        return sorted(taps)

    def _read_batch(self, network: Transformer, name: str, taps: Mapping[str, Tensor]) -> Tensor:
        return self.batched(network.read[name], taps, next(iter(taps.values())).dtype) if name in network.read else taps[name]

    def _exact_transformer(
        self, network: Transformer, inputs: Arrays, names: Sequence[str], bits: int
    ) -> dict[str, BallArray]:
        tokens = self._on_balls(network.tokens, inputs, bits)
        known = {**self.params, **self.weights}
        construction = call_on_balls(network.build, {name: known[name] for name in arguments_of(network.build)}, bits)
        taps = run_exact(construction, tokens, bits, [t for t in self._taps(network, names) if t != "output"])
        return {
            name: self._on_balls(network.read[name], taps, bits) if name in network.read else taps[name] for name in names
        }


ORDERS = {"inf": torch.inf, "1": 1, "2": 2}


def distance(norm: str, name: str, found: Tensor, truth: Tensor) -> Tensor:
    """The norm of each difference, over all entries as one vector, (B). Raises UsageError for shapes that differ."""
    if found.shape != truth.shape:
        raise UsageError(
            f"'{name}' has the shape {tuple(found.shape[1:])} in the network and {tuple(truth.shape[1:])} in the "
            f"reference; return arrays of one shape"
        )
    return torch.linalg.vector_norm((found - truth).reshape(len(found), -1), ord=ORDERS[norm], dim=1)


def exact_distance(norm: str, one: BallArray, other: BallArray | Tensor) -> flint.arb:
    """The norm of the difference, enclosed."""
    apart = one - (other.double().cpu().numpy() if isinstance(other, Tensor) else other)
    with working_precision(one.bits):
        sizes = [abs(ball) for ball in apart.balls]
        if norm == "inf":
            return ball_maximum(sizes)
        total = sum((size if norm == "1" else size * size for size in sizes), start=flint.arb(0))
        return total if norm == "1" else total.sqrt()


def _given(function: Any, theorem: Theorem, role: str) -> Callable[..., Any]:
    if function is None:
        raise UsageError(f"{theorem.id} has no {role}, so no error can be measured; give {role}=")
    chosen: Callable[..., Any] = function
    return chosen


def _transformer_of(theorem: Theorem) -> Transformer:
    assert isinstance(theorem.network, Transformer)  # asked for only where it is one
    return theorem.network


def _name(function: Function) -> str:
    return f"the function {getattr(function, '__name__', repr(function))}"
