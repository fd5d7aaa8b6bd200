"""The networks and the reference of a theorem at one point, run: on batches of tensors and on balls (one prompt)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from bridge.domains import Product
from bridge.instances.known import Arrays, Known
from bridge.limits.arguments import Function, arguments_of, called_for
from bridge.theorems.pair import Pair
from bridge.theorems.transformer import LaidOut, Transformer
from numeric.balls import BallArray
from numeric.balls.array import array_of
from numeric.balls.floats import floats_enclosed
from numeric.balls.running import call_on_balls
from numeric.networks.exact import run_exact
from numeric.networks.network import Network
from numeric.networks.shared_blocks import SharedNetwork
from numeric.networks.stream import Stream
from symbolic.words.errors import UsageError


class Networks:
    """What they make of each quantity, (B, ...) or at one prompt."""

    def __init__(self, known: Known, domain: Product) -> None:
        self.known, self.theorem, self._domain = known, known.theorem, domain
        self._networks: dict[tuple[str, torch.dtype], Network | SharedNetwork] = {}
        self._lengths: dict[Function | None, int] = {}

    def network(self, inputs: Mapping[str, Tensor], names: Sequence[str], dtype: torch.dtype) -> dict[str, Tensor]:
        return self._each_network(names, lambda key, wanted: self.outputs(key, inputs, wanted, dtype))

    def reference(self, inputs: Mapping[str, Tensor], names: Sequence[str]) -> dict[str, Tensor]:
        return self._named("the reference", self.known.batched(on_tensors(self._reference), inputs), names)

    def exact_network(self, inputs: Arrays, names: Sequence[str], bits: int) -> dict[str, BallArray]:
        return self._each_network(names, lambda key, wanted: self._exact_run(key, inputs, wanted, bits))

    def exact_reference(self, inputs: Arrays, names: Sequence[str], bits: int) -> dict[str, BallArray]:
        return self._named("the reference", self.known.on_array(for_balls(self._reference), inputs, bits), names)

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
            return self._named("the network", self.known.batched(on_tensors(network), inputs, dtype), names)
        made = self.torch_network(key, dtype)
        tokens = self.tokens(network, inputs, dtype, made.construction.source)
        taps = made.run(tokens, self.taps(network, names))
        return {name: self.read(network, name, taps, dtype) for name in names}

    def envelope(self, inputs: Mapping[str, Tensor], names: Sequence[str]) -> dict[str, Tensor]:
        """What the theorem's envelope makes of these quantities, (B, ...) each."""
        assert self.theorem.search.envelope is not None  # asked of theorems that have one
        return self._named("the envelope", self.known.batched(self.theorem.search.envelope, inputs), names)

    def _exact_run(self, key: str, inputs: Arrays, names: Sequence[str], bits: int) -> dict[str, BallArray]:
        network = self.theorem.networks[key]
        if not isinstance(network, Transformer):
            return self._named("the network", self.known.on_array(for_balls(network), inputs, bits), names)
        with called_for(self.known.role(network.build), network.build):
            known = self.known.on_balls(bits)
            arguments = {name: known[name] for name in arguments_of(network.build)}
            construction = call_on_balls(network.build, arguments, bits, enclose_floats=self.known.near)
        if network.tokens is None:
            tokens = array_of(inputs[self._only_input])
        else:
            tokens = self.known.on_array(LaidOut(network.tokens, lambda: construction.source), inputs, bits)
        with floats_enclosed(self.known.near):
            taps = run_exact(construction, tokens, bits, self.taps(network, names))
        readings = {name: network.reading(name) for name in names}
        return {
            name: taps[_tap(name)] if reading is None else self.known.on_array(reading, taps, bits)
            for name, reading in readings.items()
        }

    def steps_on_balls(self, role: str, name: str, steps: Sequence[str], inputs: Arrays, bits: int) -> dict[str, Any]:
        """Those of these steps that the network, or the reference, of a quantity returns by name."""
        key = self.network_key(name)
        network = self._reference if role == "reference" else self.theorem.networks[key]
        if isinstance(network, Transformer):
            known = [step for step in steps if step in self.known.call(network.build, {}).taps]
            return self._exact_run(key, inputs, known, bits) if known else {}
        found = self.known.on_array(for_balls(network), inputs, bits)
        return {step: found[step] for step in steps if step in found} if isinstance(found, Mapping) else {}

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

    def tokens(
        self, network: Transformer, inputs: Mapping[str, Tensor], dtype: torch.dtype, source: Stream | None = None
    ) -> Tensor:
        """The prompts as they enter, (B, L, width). `source`: the stream of its construction, if that is known."""
        if network.tokens is None:
            return inputs[self._only_input].to(dtype)
        entering = LaidOut(network.tokens, lambda: source or self._source(network))
        found: Tensor = self.known.batched(entering, inputs, dtype)
        return found.to(dtype)

    def _source(self, network: Transformer) -> Stream:
        """The stream of its tokens."""
        key = next(key for key, each in self.theorem.networks.items() if each is network)
        return self.torch_network(key, torch.float64).construction.source

    def length(self, network: Transformer) -> int:
        """The number of tokens of a prompt."""
        if network.tokens not in self._lengths:
            prompt = self.known.format.place(self._domain.sample(1, torch.Generator().manual_seed(0)))
            self._lengths[network.tokens] = self.tokens(network, prompt, torch.float64).shape[1]
        return self._lengths[network.tokens]

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
            construction = self.known.call(network.build, {})
            interpreter = SharedNetwork if network.shared else Network
            self._networks[key, dtype] = interpreter(construction, dtype=dtype, device=self.known.format.device)
        return self._networks[key, dtype]

    def taps(self, network: Transformer, names: Sequence[str]) -> list[str]:
        """The taps from which these quantities are read, but the output, which there always is."""
        readings = {name: network.reading(name) for name in names}
        wanted = [(_tap(name),) if each is None else arguments_of(each) for name, each in readings.items()]
        taps = {
            tap for each in wanted for tap in each if tap not in self.known.params and tap not in self.known.weights
        }
        return sorted(taps - {"output"})

    def read(self, network: Transformer, name: str, taps: Mapping[str, Tensor], dtype: torch.dtype) -> Tensor:
        reading = network.reading(name)
        if reading is None:
            return taps[_tap(name)]
        found: Tensor = self.known.batched(reading, taps, dtype)
        return found


def _key(name: str, known: Mapping[str, Any]) -> str:
    """Its own name; that of its quantity for a variant, `output.gated`, that has no entry of its own."""
    return name if name in known else name.partition(".")[0]


def _tap(name: str) -> str:
    return name.partition(".")[0]


def on_tensors(function: Function | Pair) -> Function:
    return function.tensors if isinstance(function, Pair) else function


def for_balls(function: Function | Pair) -> Function:
    return function.balls if isinstance(function, Pair) else function
