"""What network and reference of a theorem make of inputs, in floats and on balls: their errors, and how they round."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import flint
import torch
from torch import Tensor

from bridge.instances.inputs import LAST, Batch, Inputs, KeptRuns
from bridge.instances.networks import Networks
from bridge.instances.point import require_entries
from bridge.instances.readings import Readings
from bridge.lowering.ball_values import BASE_BITS
from bridge.theorems.transformer import Transformer
from numeric.balls import BallArray, ball_maximum, float_above, working_precision
from numeric.balls.limits import TooLargeForExact, TooManyBallOperations
from symbolic.words.errors import UsageError

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


ExactRun = Callable[[Mapping[str, Any], Sequence[str], int], dict[str, BallArray]]

MOST_BITS_TRIED = 2048
BITS_APART = 64  # of exact runs, so that quantities whose bounds differ in size share one
SHOWN = 6  # entries of an input in a message
PROBES = 8  # inputs of the estimate of rounding
LOST = 2.0**-7  # share of a trivial bound by which formats differ where rounding is no longer small


class Runs:
    """The errors of the quantities that are read, and the rounding in them."""

    def __init__(self, networks: Networks, inputs: Inputs, readings: Readings) -> None:
        self.networks, self.known, self.theorem = networks, networks.known, networks.theorem
        self._inputs, self._readings, self._format = inputs, readings, networks.known.format
        self._exact: KeptRuns[tuple[flint.arb, float]] = KeptRuns()
        self._floats: KeptRuns[tuple[Tensor, Tensor]] = KeptRuns()
        self._balls: KeptRuns[tuple[BallArray, BallArray]] = KeptRuns(LAST)

    @property
    def is_exact(self) -> bool:
        """Whether runs on balls are tried: not where the bounds cover the rounding of a run."""
        return not self._inputs.covers_rounding

    # In floats.

    def errors(self, batch: Batch, names: Sequence[str]) -> dict[str, Tensor]:
        """The error of each quantity at each input, (B), in the format of the run; reference in float64.

        Raises UsageError for an input at which network or reference is not defined.
        """
        found = self.outputs(batch, names)
        for name, (network, reference) in found.items():
            self._require_defined("network", name, batch, network, self.networks.exact_network)
            self._require_defined("reference", name, batch, reference, self.networks.exact_reference)
            if name in self.theorem.entries:
                entries, numbers = network[0].numel(), self._readings.letters.numbers
                require_entries(self.theorem.id, name, self.theorem.entries[name], entries, numbers)
        return {name: self.distance(name, *both) for name, both in found.items()}

    def errors_to_attack(self, batch: Batch, names: Sequence[str]) -> dict[str, Tensor]:
        """The same in float64 and differentiable."""
        network, truth = self._both(batch, names, torch.float64)
        return {name: self.distance(name, network[name], truth[name]) for name in names}

    def _both(self, batch: Batch, names: Sequence[str], dtype: torch.dtype) -> tuple[dict[str, Tensor], ...]:
        return self.networks.network(batch, names, dtype), self.networks.reference(batch, names)

    # At one prompt the errors of several quantities are asked for, and their rounding: one run has them all.
    def outputs(self, batch: Batch, names: Sequence[str]) -> dict[str, tuple[Tensor, Tensor]]:
        """What network and reference make of these quantities, in the format of the run."""
        if len(next(iter(batch.values()))) > 1:
            network, truth = self._both(batch, names, self._format.dtype)
            return {name: (network[name], truth[name]) for name in names}
        known = self._floats.at(batch)
        missing = [name for name in names if name not in known]
        if missing:
            wanted = self._made_with(missing)
            network, truth = self._both(batch, wanted, self._format.dtype)
            known |= {name: (network[name].detach(), truth[name].detach()) for name in wanted}
        return {name: known[name] for name in names}

    def _require_defined(self, role: str, name: str, batch: Batch, found: Tensor, exactly: ExactRun) -> None:
        """Raises UsageError for an input at which this is finite neither in floats nor in exact arithmetic.

        A float run may overflow, in low precision soon: the exact run decides; float64, where that is too large.
        """
        undefined = (~found.reshape(len(found), -1).isfinite().all(1)).nonzero().flatten()
        if len(undefined) == 0:
            return
        one = {key: value[int(undefined[0])] for key, value in batch.items()}
        try:
            finite = bool(exactly(one, [name], BASE_BITS)[name].sup_norm().is_finite())
        except TooLargeForExact:
            finite = self._format.dtype is not torch.float64
        if not finite:
            at = "; ".join(f"{key} = {_entries(value)}" for key, value in one.items())
            raise UsageError(f"{self.theorem.id}: the {role} gives no finite number for '{name}' at {at}")

    # On balls.

    def exact(self, one: Batch, names: Sequence[str], bits: int) -> dict[str, tuple[flint.arb, float]]:
        """At one input: each error enclosed, and by how much the run in floats is apart from it.

        Raises TooLargeForExact.
        """
        if not self.is_exact:
            raise TooManyBallOperations(self.theorem.id, operations=1, limit=0)
        narrow = flint.arb(2) ** (BASE_BITS - bits)
        bits = -(-(bits + self.known.cancelled_bits) // BITS_APART) * BITS_APART
        found = self._exact.at(one, bits)
        missing = [name for name in names if name not in found]
        if missing:
            found |= self._resolved(one, missing, bits, narrow)
        return {name: found[name] for name in names}

    # A step that nearly cancels, repeated many times, widens balls beyond what any number of bits tells beforehand.
    def _resolved(
        self, one: Batch, names: Sequence[str], bits: int, narrow: flint.arb
    ) -> dict[str, tuple[flint.arb, float]]:
        """With twice the bits as long as an error is wider than `narrow`, up to MOST_BITS_TRIED."""
        found = self._exactly(one, names, bits)
        while 2 * bits <= MOST_BITS_TRIED and any(not error.rad() <= narrow for error, _ in found.values()):
            bits *= 2
            found = self._exactly(one, names, bits)
        return found

    def _made_with(self, names: Sequence[str]) -> list[str]:
        """The names, with all other quantities whose errors the functions of their networks make too."""
        keys = {self.networks.network_key(name) for name in names}
        functions = {key for key in keys if not isinstance(self.theorem.networks[key], Transformer)}
        measured = (each for each in self._readings.quantities.values() if each.scopes)
        others = [each.name for each in measured if self.networks.network_key(each.name) in functions]
        return list(dict.fromkeys([*names, *others]))

    def _exactly(self, one: Batch, names: Sequence[str], bits: int) -> dict[str, tuple[flint.arb, float]]:
        """Errors, and by how much the run in floats is apart from network and reference."""
        runs = self._on_balls(one, names, bits)
        with torch.no_grad():
            in_floats = self.outputs(one, names)
        found = {}
        for name in names:
            pairs = zip(runs[name], (each[0] for each in in_floats[name]), strict=True)
            apart = [self._exact_distance(name, balls, floats, bits) for balls, floats in pairs]
            found[name] = (self._exact_distance(name, *runs[name], bits), float_above(sum(apart, flint.arb(0))))
        return found

    # One run of functions has all quantities: of the last inputs it is kept, as rows of several ask for one input.
    def _on_balls(self, one: Batch, names: Sequence[str], bits: int) -> dict[str, tuple[BallArray, BallArray]]:
        """What network and reference make of these quantities."""
        known = self._balls.at(one, bits)
        missing = [name for name in names if name not in known]
        if missing:
            at, wanted = self._inputs.members(one, bits), self._made_with(missing)
            network, reference = (
                run(at, wanted, bits) for run in (self.networks.exact_network, self.networks.exact_reference)
            )
            known |= {name: (network[name], reference[name]) for name in wanted}
        return known

    # Distances and rounding.

    def distance(self, name: str, found: Tensor, truth: Tensor) -> Tensor:
        """The error of a quantity at each prompt, (B): in its norm, or by the distance of the theorem."""
        if self.theorem.distance is None:
            return distance(self._norm(name), name, found.double(), truth, tokens=self.theorem.tokens)
        apart: Tensor = self.known.batched(self.theorem.distance, {"found": found, "truth": truth})
        return apart

    def _exact_distance(self, name: str, found: BallArray, truth: BallArray | Tensor, bits: int) -> flint.arb:
        if self.theorem.distance is None:
            return exact_distance(self._norm(name), found, truth, tokens=self.theorem.tokens)
        return self.known.number(self.theorem.distance, {"found": found, "truth": truth}, bits)

    def _norm(self, name: str) -> str:
        quantity = self._readings.quantities[name]
        if quantity.derivation is None:
            raise UsageError(f"{self.theorem.id}: '{name}' has no derivation, so the norm of its error is not known")
        return str(quantity.derivation.step(quantity.step or name).norm)

    # A float64 run and a float32 run differ by the rounding of float32; that of float64 is smaller in the ratio of
    # their precisions, while it is small: where float32 loses what the output depends on, its error grows no further,
    # and nothing follows for float64. A factor 16 for inputs where it is larger than at these.
    @cached_property
    def estimated_rounding(self) -> float:
        """An upper estimate, for sizes at which no exact run can measure it; 0 where the bounds cover it."""
        if not self.is_exact:
            return 0.0
        batch = self._format.place(self._inputs.domain.sample(PROBES, torch.Generator().manual_seed(0)))
        quantities = self._readings.quantities
        names = list(quantities)
        with torch.no_grad():
            runs = [self.networks.network(batch, names, dtype) for dtype in (torch.float64, torch.float32)]
        apart = torch.stack([self.distance(name, *(run[name].double() for run in runs)).max() for name in names])
        trivial = (quantity.trivial for quantity in quantities.values())
        sizes = [None if each is None else self._readings.letters.ball(each) for each in trivial]
        if any(size is not None and each > LOST * float_above(size) for each, size in zip(apart, sizes, strict=True)):
            return math.inf
        ratio = torch.finfo(self._format.dtype).eps / torch.finfo(torch.float32).eps
        return 16 * ratio * float(apart.max())


def _entries(value: Tensor) -> str:
    """The entries, the first few of many."""
    entries = ", ".join(f"{entry:.6g}" for entry in value.flatten()[:SHOWN].tolist())
    return f"[{entries}{', ...' if value.numel() > SHOWN else ''}]"
