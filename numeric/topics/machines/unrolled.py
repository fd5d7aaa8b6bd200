"""A decoder's run on one input as one differentiable expression, and what in it is near to a change of mind.

Hard max has no gradient, but the gap between the best score and another one has, and so has the distance of a bit from
1/2. The gradient of such a quantity in all parameters, through all steps, is the direction in which it vanishes
soonest; where earlier layers round, nothing flows through them, as it should be.

Shapes: m symbols, i keys so far, w width of the stream, K width of query and key.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from numeric.topics.machines.decoder import Decoder
from numeric.topics.machines.decoder import parameters as own_parameters

BIT = 1e-6  # how near to 0 or 1 a coordinate must lie to be taken for a bit


@dataclass(frozen=True, eq=False)
class Suspect:
    """A positive quantity at which the run depends on its sign: what happens when it reaches 0 is another run."""

    name: str
    module: str
    step: int
    value: Tensor  # (), with its graph
    size: float  # norm of the activation that the module saw, 1 included: |gradient| is of this order


class Unrolled:
    """One input, hard max, with gradients to all parameters of the construction, which `change` may have moved."""

    def __init__(
        self, decoder: Decoder, tokens: Tensor, steps: int, change: Mapping[str, Tensor] | None = None
    ) -> None:
        self.decoder, self.steps, moved = decoder, steps, dict(change or {})
        self.parameters = {
            name: (part + moved.get(name, 0)).requires_grad_() for name, part in own_parameters(decoder).items()
        }
        self.suspects: list[Suspect] = []
        self.prediction = self._run(tokens)  # ()

    def gradients(self, suspects: list[Suspect], at_once: int = 16) -> Iterator[dict[str, Tensor]]:
        """The gradient of each suspect, tensors that are 0 throughout left out."""
        names = list(self.parameters)
        for first in range(0, len(suspects), at_once):
            values = torch.stack([suspect.value for suspect in suspects[first : first + at_once]])  # (N,)
            each = torch.eye(len(values), dtype=values.dtype, device=values.device)
            parts = torch.autograd.grad(
                values, list(self.parameters.values()), each, retain_graph=True, is_grads_batched=True,
                allow_unused=True,
            )  # fmt: skip
            used = {name: part for name, part in zip(names, parts, strict=True) if part is not None}
            for row in range(len(values)):
                yield {name: part[row].detach().clone() for name, part in used.items() if bool(part[row].any())}

    def _run(self, tokens: Tensor) -> Tensor:
        decoder, P = self.decoder, self.parameters
        beta = torch.tensor(decoder.position_table(max(self.steps, len(tokens)) + 1), dtype=torch.float64, device="cpu")
        encoded = P["embedding"].T[tokens] + beta[1 : len(tokens) + 1]  # (m, w)
        encoder = {k: self._stored(f"layer[{k}].encoder", encoded) for k in self._layers("encoder")}
        past: dict[int, list[tuple[Tensor, Tensor]]] = {k: [] for k in self._layers("decoder")}
        o = P["initial"]  # (w,)
        for i in range(1, self.steps + 1):
            h = o + beta[i]
            for k in range(1, len(decoder.layers) + 1):
                if k in past:
                    past[k].append(self._stored(f"layer[{k}].decoder", h))
                    keys, values = (torch.stack(each) for each in zip(*past[k], strict=True))
                    h = self._attend(f"layer[{k}].decoder", i, h, keys, values)
                if k in encoder:
                    h = self._attend(f"layer[{k}].encoder", i, h, *encoder[k])
                h = self._feedforward(f"layer[{k}]", i, h)
            o = h
        return P["classifier"] @ o

    def _layers(self, side: str) -> list[int]:
        count = len(self.decoder.layers)
        return [k for k in range(1, count + 1) if f"layer[{k}].{side}.null_key" in self.parameters]

    def _affine(self, name: str, h: Tensor) -> Tensor:
        return h @ self.parameters[f"{name}.W"].T + self.parameters[f"{name}.b"]

    def _stored(self, name: str, h: Tensor) -> tuple[Tensor, Tensor]:
        return self._affine(f"{name}.key", h), self._affine(f"{name}.value", h)

    def _attend(self, name: str, step: int, h: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        P = self.parameters
        keys, values = (
            torch.cat([P[f"{name}.null_key"][None], keys]),
            torch.cat([P[f"{name}.null_value"][None], values]),
        )
        scores = keys @ self._affine(f"{name}.query", h)  # (i + 1,)
        best = scores.detach() == scores.detach().max()
        others = scores.detach().masked_fill(best, -torch.inf)
        size = float((1 + h.detach().square().sum()).sqrt())
        rivals = {"null": others[:1], "key": torch.cat([torch.full_like(others[:1], -torch.inf), others[1:]])}
        for rival, candidates in rivals.items():
            place = int(candidates.argmax())
            if torch.isfinite(candidates[place]):
                gap = scores[int(best.int().argmax())] - scores[place]
                self.suspects.append(
                    Suspect(f"{name}: gap to {rival}, step {step}", f"{name} {rival}", step, gap, size)
                )
        return h + values[best].mean(0)

    def _feedforward(self, name: str, step: int, h: Tensor) -> Tensor:
        z = self._affine(f"{name}.ff[1]", h)  # (w,)
        self._bits(f"{name}.ff[1]", step, h, z)
        return self._affine(f"{name}.ff[3]", self._affine(f"{name}.ff[2]", z.relu()).relu()).relu()

    def _bits(self, name: str, step: int, h: Tensor, z: Tensor) -> None:
        """Bits that are 1, and could fall below 1/2."""
        size = float((1 + h.detach().square().sum()).sqrt())
        for place in (z.detach() - 1).abs().lt(BIT).nonzero()[:, 0].tolist():
            what = f"{name}: bit {place}, step {step}"
            self.suspects.append(Suspect(what, f"{name}[{place}]", step, z[place] - 0.5, size))


def by_module(suspects: list[Suspect]) -> Mapping[str, list[Suspect]]:
    """The suspects of each module, first those that seem nearest to 0."""
    groups: dict[str, list[Suspect]] = {}
    for suspect in sorted(suspects, key=lambda one: (float(one.value.detach()) / one.size, -one.step)):
        groups.setdefault(suspect.module, []).append(suspect)
    return groups
