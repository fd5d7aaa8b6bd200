"""What network and reference of a theorem make of inputs, in floats and on balls: their errors, and how they round."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import flint
import torch
from torch import Tensor

from bridge.balls import BASE_BITS
from bridge.domains import Product
from bridge.instances.distances import distance, exact_distance
from bridge.instances.known import Known
from bridge.instances.networks import Networks
from bridge.kept_runs import KeptRuns
from bridge.limits.run import Run
from bridge.premises import require_entries
from bridge.study import Case, Inputs, Objective
from bridge.theorem import Theorem
from bridge.transformer import Transformer
from numeric.attack import NowhereFinite
from numeric.balls import BallArray, float_above
from numeric.exact_cost import TooLargeForExact
from symbolic.statements import Kind, Quantity, UsageError

ExactRun = Callable[[Mapping[str, Any], Sequence[str], int], dict[str, BallArray]]

MOST_BITS_TRIED = 2048
BITS_APART = 64  # of exact runs, so that quantities whose bounds differ in size share one
SHOWN = 6  # entries of an input in a message
PROBES = 8  # inputs of the estimate of rounding
LOST = 2.0**-7  # share of a trivial bound by which formats differ where rounding is no longer small


class TheoremRuns(Case):
    """A theorem at one point, as far as its functions go."""

    theorem: Theorem
    known: Known
    networks: Networks
    domain: Product
    _exact: KeptRuns[tuple[flint.arb, float]]
    _balls: KeptRuns[tuple[BallArray, BallArray]]
    _floats: KeptRuns[tuple[Tensor, Tensor]]

    def errors(self, inputs: Inputs, names: Sequence[str], *, attack: bool = False) -> dict[str, Tensor]:
        found, truth = self._in_float64(inputs, names) if attack else self._in_floats(inputs, names)
        for name in () if attack else names:
            self._require_defined("network", name, inputs, found[name], self.networks.exact_network)
            self._require_defined("reference", name, inputs, truth[name], self.networks.exact_reference)
            if name in self.theorem.entries:
                entries = found[name][0].numel()
                require_entries(self.result.id, name, self.theorem.entries[name], entries, self.values)
        return {name: self.distance(name, found[name], truth[name]) for name in names}

    def _in_float64(self, inputs: Inputs, names: Sequence[str]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        return self.networks.network(inputs, names, torch.float64), self.networks.reference(inputs, names)

    # At one prompt the errors of several quantities are asked for, and their rounding: one run has them all.
    def _in_floats(self, inputs: Inputs, names: Sequence[str]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """What network and reference make of these quantities, in the dtype of the case."""
        if len(next(iter(inputs.values()))) > 1:
            return self.networks.network(inputs, names, self.format.dtype), self.networks.reference(inputs, names)
        known = self._floats.at(inputs)
        missing = [name for name in names if name not in known]
        if missing:
            wanted = self._made_with(missing)
            network, truth = (
                self.networks.network(inputs, wanted, self.format.dtype),
                self.networks.reference(inputs, wanted),
            )
            known |= {name: (network[name].detach(), truth[name].detach()) for name in wanted}
        return {name: known[name][0] for name in names}, {name: known[name][1] for name in names}

    def search(self, objective: Objective, quantity: Quantity, run: Run) -> Inputs:
        try:
            return super().search(objective, quantity, run)
        except NowhereFinite as error:
            raise UsageError(
                f"{self.result.id}: the error of '{quantity.name}' is not finite in float64 at any input that the "
                f"attack visited; take parameters of smaller size, or attack = 0"
            ) from error

    def _require_defined(self, role: str, name: str, inputs: Inputs, found: Tensor, exactly: ExactRun) -> None:
        """Raises UsageError for an input at which this is finite neither in floats nor in exact arithmetic.

        A float run may overflow, in low precision soon: the exact run decides; float64, where that is too large.
        """
        undefined = (~found.reshape(len(found), -1).isfinite().all(1)).nonzero().flatten()
        if len(undefined) == 0:
            return
        one = {key: value[int(undefined[0])] for key, value in inputs.items()}
        try:
            finite = bool(exactly(one, [name], BASE_BITS)[name].sup_norm().is_finite())
        except TooLargeForExact:
            finite = self.format.dtype is not torch.float64
        if not finite:
            at = "; ".join(f"{key} = {_entries(value)}" for key, value in one.items())
            raise UsageError(f"{self.result.id}: the {role} gives no finite number for '{name}' at {at}")

    def exact(self, inputs: Inputs, names: Sequence[str], bits: int) -> dict[str, tuple[flint.arb, float]]:
        narrow = flint.arb(2) ** (BASE_BITS - bits)
        bits = -(-(bits + self.cancelled_bits) // BITS_APART) * BITS_APART
        found = self._exact.at(inputs, bits)
        missing = [name for name in names if name not in found]
        if missing:
            found |= self._resolved(inputs, missing, bits, narrow)
        return {name: found[name] for name in names}

    @property
    def cancelled_bits(self) -> int:
        """Those that the theorem asks for."""
        bits = self.theorem.exact.bits
        return bits if isinstance(bits, int) else int(self.known.call(bits, {}))

    # A step that nearly cancels, repeated many times, widens balls beyond what any number of bits tells beforehand.
    def _resolved(
        self, inputs: Inputs, names: Sequence[str], bits: int, narrow: flint.arb
    ) -> dict[str, tuple[flint.arb, float]]:
        """With twice the bits as long as an error is wider than `narrow`, up to MOST_BITS_TRIED."""
        found = self._exactly(inputs, names, bits)
        while 2 * bits <= MOST_BITS_TRIED and any(not error.rad() <= narrow for error, _ in found.values()):
            bits *= 2
            found = self._exactly(inputs, names, bits)
        return found

    def _made_with(self, names: Sequence[str]) -> list[str]:
        """The names, with all other quantities whose errors the functions of their networks make too."""
        keys = {self.networks.network_key(name) for name in names}
        functions = {key for key in keys if not isinstance(self.theorem.networks[key], Transformer)}
        others = [q.name for q in self.bounded() if q.scopes and self.networks.network_key(q.name) in functions]
        return list(dict.fromkeys([*names, *others]))

    def _exactly(self, inputs: Inputs, names: Sequence[str], bits: int) -> dict[str, tuple[flint.arb, float]]:
        """Errors, and by how much the run in floats is apart from network and reference."""
        runs = self._on_balls(inputs, names, bits)
        with torch.no_grad():
            network, reference = self._in_floats(inputs, names)
        found = {}
        for name in names:
            pairs = zip(runs[name], (network[name][0], reference[name][0]), strict=True)
            apart = [self._exact_distance(name, balls, floats, bits) for balls, floats in pairs]
            found[name] = (self._exact_distance(name, *runs[name], bits), float_above(sum(apart, flint.arb(0))))
        return found

    # One run of functions has all quantities: of the last inputs it is kept, as rows of several ask for one input.
    def _on_balls(self, inputs: Inputs, names: Sequence[str], bits: int) -> dict[str, tuple[BallArray, BallArray]]:
        """What network and reference make of these quantities."""
        known = self._balls.at(inputs, bits)
        missing = [name for name in names if name not in known]
        if missing:
            one, wanted = self.members(inputs, bits), self._made_with(missing)
            network, reference = (
                run(one, wanted, bits) for run in (self.networks.exact_network, self.networks.exact_reference)
            )
            known |= {name: (network[name], reference[name]) for name in wanted}
        return known

    def members(self, inputs: Inputs, bits: int = BASE_BITS) -> dict[str, BallArray]:
        """Elements of the domains, near the one prompt: floats may meet a domain up to a tolerance only."""
        return self.domain.members({name: value[0] for name, value in inputs.items()}, bits)

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
        quantity = self.result.quantity(name)
        if quantity.derivation is None:
            raise UsageError(f"{self.result.id}: '{name}' has no derivation, so the norm of its error is not known")
        return str(quantity.derivation.step(quantity.step or name).norm)

    # An estimate refutes no identity: where its two sides cancel, rounding is as large as an error can be.
    def rounding_estimate(self) -> float:
        identities = [each for each in self.bounded() if each.kind is Kind.EXACT and each.scopes]
        sizes = [self.trivial(each) for each in identities]
        largest = [math.inf if size is None else float_above(size) for size in sizes]
        return max(largest) if largest else self._estimated_rounding

    # A float64 run and a float32 run differ by the rounding of float32; that of float64 is smaller in the ratio of
    # their precisions, while it is small: where float32 loses what the output depends on, its error grows no further,
    # and nothing follows for float64. A factor 16 for inputs where it is larger than at these.
    @cached_property
    def _estimated_rounding(self) -> float:
        drawn = self.domain.sample(PROBES, torch.Generator().manual_seed(0))
        inputs = self.format.place(drawn)
        names = [quantity.name for quantity in self.bounded()]
        with torch.no_grad():
            runs = [self.networks.network(inputs, names, dtype) for dtype in (torch.float64, torch.float32)]
        apart = torch.stack([self.distance(name, *(run[name].double() for run in runs)).max() for name in names])
        sizes = [self.trivial(quantity) for quantity in self.bounded()]
        if any(size is not None and each > LOST * float_above(size) for each, size in zip(apart, sizes, strict=True)):
            return math.inf
        ratio = torch.finfo(self.format.dtype).eps / torch.finfo(torch.float32).eps
        return 16 * ratio * float(apart.max())


def _entries(value: Tensor) -> str:
    """The entries, the first few of many."""
    entries = ", ".join(f"{entry:.6g}" for entry in value.flatten()[:SHOWN].tolist())
    return f"[{entries}{', ...' if value.numel() > SHOWN else ''}]"
