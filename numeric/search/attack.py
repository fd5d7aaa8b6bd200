"""Projected gradient ascent over many restarts at once: how large can the error get inside the hypotheses?

Errors may be of any size, 1e-14 as well as 1, so that only signs and normalised gradients are used. The best point is
kept; a value that is not finite never wins. Several attacks share a batch as groups of restarts.

Shapes: R restarts, G groups of R / G restarts, ... the shape of one variable.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch
from jaxtyping import Bool, Float, Shaped
from torch import Tensor

from numeric.networks.maps import Number
from numeric.search.recording import Repeated

# The variables that are moved: one tensor, or a tuple or dict of them, each with a leading dimension R.
Variables: TypeAlias = Tensor | tuple[Tensor, ...] | dict[str, Tensor]

GROWTH, SHRINKING = 1.3, 0.5  # of a restart's step, after a step that ascends and after one that does not
SMALLEST_STEP = 1e-3  # relative to the first step: below it a restart is kicked
LARGEST_STEP = 4.0  # relative to the first step


class NowhereFinite(ValueError):  # noqa: N818  (the name states the fault)
    """The objective was finite at none of the points that an attack visited."""


@dataclass(frozen=True, eq=False)
class AttackResult:
    """The largest value found, its point (one restart's variables, without R), and the effort.

    `history` holds the best value after the starts and after each step; it never decreases.
    """

    value: float
    witness: Variables
    history: tuple[float, ...]
    steps: int
    restarts: int


def attack(
    objective: Callable[..., Tensor],
    starts: Variables,
    project: Callable[..., Variables],
    *,
    steps: int,
    step_size: Number = 0.5,
    seed: int,
) -> AttackResult:
    """Maximise `objective` (variables -> (R,) values) over the range of `project`, from R starts in parallel.

    `starts`, the argument and the result of `project` share one structure: a tensor, or a tuple or dict of tensors.
    `step_size` is relative to the largest absolute entry of each variable's starts. A restart that ascends takes a
    larger step next; one that does not goes back, takes a smaller one and changes between sign steps and normalised
    gradient steps; one that is stuck (steps too small, zero or undefined gradient) is kicked from its best point.
    Deterministic for a seed. Raises NowhereFinite when the objective is finite at none of the points visited.
    """
    return attack_groups(objective, starts, project, 1, steps=steps, step_size=step_size, seed=seed)[0]


def attack_groups(
    objective: Callable[..., Tensor],
    starts: Variables,
    project: Callable[..., Variables],
    groups: int,
    *,
    steps: int,
    step_size: Number = 0.5,
    seed: int,
) -> list[AttackResult]:
    """G attacks in one batch, each by its own R / G consecutive restarts: `attack` on each group, with this seed.

    The objective may differ from group to group. What a group visits does not depend on the other groups, as long as
    the objective at one restart does not. Raises ValueError for restarts that do not divide into groups, and when the
    objective is finite nowhere in a group.
    """
    ascent = _Ascent(objective, starts, project, step_size, groups, torch.Generator().manual_seed(seed), steps)
    history = [ascent.best_of_groups()]
    for _ in range(steps):
        ascent.step()
        history.append(ascent.best_of_groups())
    if bool((history[-1] == -torch.inf).any()):
        raise NowhereFinite("attack: the objective was not finite at any point visited. Check it at the starts.")
    witnesses, histories = ascent.witnesses(), torch.stack(history, 1).tolist()  # G, (G, 1 + steps)
    return [
        AttackResult(values[-1], witness, tuple(values), steps, ascent.restarts // groups)
        for witness, values in zip(witnesses, histories, strict=True)
    ]


def box_project(lower: Number | Tensor, upper: Number | Tensor) -> Callable[[Variables], Variables]:
    """Projection of every variable onto the box lower <= entry <= upper (numbers, or tensors that broadcast)."""
    low, high = torch.as_tensor(lower, dtype=torch.float64), torch.as_tensor(upper, dtype=torch.float64)
    if bool((low > high).any()):
        raise ValueError(f"box_project: lower {lower} exceeds upper {upper}. Swap them.")

    def onto_box(leaf: Tensor) -> Tensor:
        return torch.minimum(torch.maximum(leaf, low.to(leaf)), high.to(leaf))  # (R, ...)

    return lambda variables: _rebuild(variables, [onto_box(leaf) for leaf in _leaves(variables)])


class _Ascent:
    """The state of all restarts: current and best points, values, directions and steps."""

    def __init__(
        self,
        objective: Callable[..., Tensor],
        starts: Variables,
        project: Callable[..., Variables],
        step_size: Number,
        groups: int,
        generator: torch.Generator,
        steps: int,
    ) -> None:
        self.objective, self.project, self.structure = objective, project, starts
        self.step_size, self.groups, self.generator = float(step_size), groups, generator
        self.points = self._projected([leaf.detach().clone() for leaf in _leaves(starts)])  # each (R, ...)
        self.restarts = self.points[0].shape[0]
        if self.restarts % groups:
            raise ValueError(f"attack: {self.restarts} restarts do not divide into {groups} groups of equal size.")
        self.scales = [self._scales(leaf) for leaf in self.points]  # each (R, 1, ...)
        self.evaluate = Repeated(self._evaluated, 1 + steps)
        self.values, *self.gradients = self.evaluate(self.points)  # (R), each (R, ...)
        self.best_points, self.best_values = self.points, self.values
        self.sizes = torch.full_like(self.values, step_size)  # (R)
        signed = torch.arange(self.restarts // groups, device=self.values.device, dtype=torch.int64) % 2 == 0  # (R / G)
        self.signed = signed.repeat(groups)  # (R)

    def best_of_groups(self) -> Float[Tensor, " G"]:
        return self.best_values.view(self.groups, -1).amax(1)

    def witnesses(self) -> list[Variables]:
        size = self.restarts // self.groups
        winners = self.best_values.view(self.groups, size).argmax(1).tolist()  # G
        places = [group * size + winner for group, winner in enumerate(winners)]
        return [_rebuild(self.structure, [leaf[place].clone() for leaf in self.best_points]) for place in places]

    def step(self) -> None:
        stuck = (self.sizes < SMALLEST_STEP * self.step_size) | self._flat()  # (R)
        proposals = self._projected(
            [
                _choose(stuck, self._kicked(best, scale), self._ascended(point, gradient, scale))
                for point, best, gradient, scale in zip(
                    self.points, self.best_points, self.gradients, self.scales, strict=True
                )
            ]
        )
        values, *gradients = self.evaluate(proposals)  # (R), each (R, ...)
        accepted = stuck | (values > self.values)  # (R); a kick is taken as it falls
        self.sizes = torch.where(accepted, self.sizes * GROWTH, self.sizes * SHRINKING)
        self.sizes = torch.where(stuck, self.step_size, self.sizes.clamp(max=LARGEST_STEP * self.step_size))
        self.signed = self.signed ^ ~accepted
        self.points = [_choose(accepted, new, old) for new, old in zip(proposals, self.points, strict=True)]
        self.gradients = [_choose(accepted, new, old) for new, old in zip(gradients, self.gradients, strict=True)]
        self.values = torch.where(accepted, values, self.values)
        better = values > self.best_values  # (R)
        self.best_points = [_choose(better, new, old) for new, old in zip(proposals, self.best_points, strict=True)]
        self.best_values = torch.where(better, values, self.best_values)

    def _flat(self) -> Bool[Tensor, " R"]:
        moves = torch.stack([(leaf.flatten(1) != 0).any(1) for leaf in self.gradients])  # (leaves, R)
        return ~moves.any(0)

    def _scales(self, leaf: Tensor) -> Tensor:
        """The largest absolute entry among the starts of a restart's group."""
        largest = _largest(leaf.reshape(self.groups, leaf.numel() // self.groups))  # (G)
        # Starts of zeros have no scale: take 1.
        largest = torch.where(largest > 0, largest, 1.0)
        return _per_restart(largest.repeat_interleave(self.restarts // self.groups), leaf)  # (R, 1, ...)

    def _kicked(self, best: Tensor, scale: Tensor) -> Tensor:
        size = self.restarts // self.groups
        noise = (
            2 * torch.rand(size, *best.shape[1:], generator=self.generator, dtype=torch.float64, device="cpu") - 1
        )  # (R / G, ...)
        # Near or far is not known beforehand: lengths between 1/100 and 1 of the first step, uniform in the logarithm.
        length = 10 ** (-2 * torch.rand(size, generator=self.generator, dtype=torch.float64, device="cpu"))  # (R / G)
        kick = (_per_restart(length, noise) * noise).to(best)  # (R / G, ...)
        return best + self.step_size * scale * kick.repeat(self.groups, *[1] * (best.ndim - 1))

    def _ascended(self, point: Tensor, gradient: Tensor, scale: Tensor) -> Tensor:
        largest = _per_restart(_largest(gradient.flatten(1)), gradient)  # (R, 1, ...)
        normalised = gradient / torch.where(largest > 0, largest, 1.0)  # (R, ...)
        direction = _choose(self.signed, gradient.sign(), normalised)  # (R, ...)
        return point + scale * _per_restart(self.sizes.to(point.dtype), point) * direction

    def _projected(self, leaves: list[Tensor]) -> list[Tensor]:
        with torch.no_grad():
            return [leaf.detach() for leaf in _leaves(self.project(_rebuild(self.structure, leaves)))]

    def _evaluated(self, leaves: Sequence[Tensor]) -> list[Tensor]:
        """Values, -infinity where they are not finite, then gradients, 0 where they are not finite."""
        with torch.enable_grad():
            moved = [leaf.clone().requires_grad_(True) for leaf in leaves]
            values = self.objective(_rebuild(self.structure, moved))  # (R)
            if values.shape != (leaves[0].shape[0],):
                raise ValueError(
                    f"attack: the objective returned shape {tuple(values.shape)} for {leaves[0].shape[0]} restarts. "
                    "Return one value for each restart."
                )
            finite = values.detach().isfinite()  # (R)
            # A restart with an undefined value must not spoil the gradients of the others.
            total = torch.where(finite, values, torch.zeros_like(values)).sum()
            found: tuple[Tensor | None, ...] = (None,) * len(moved)
            if total.requires_grad:
                found = torch.autograd.grad(total, moved, allow_unused=True)
        gradients = [
            torch.zeros_like(leaf) if gradient is None else gradient.nan_to_num(nan=0.0, posinf=0.0, neginf=0.0)
            for leaf, gradient in zip(leaves, found, strict=True)
        ]
        return [torch.where(finite, values.detach(), -torch.inf), *gradients]


def _leaves(variables: Variables) -> list[Tensor]:
    if isinstance(variables, Tensor):
        return [variables]
    return list(variables.values() if isinstance(variables, Mapping) else variables)


def _rebuild(structure: Variables, leaves: list[Tensor]) -> Variables:
    if isinstance(structure, Tensor):
        return leaves[0]
    return dict(zip(structure, leaves, strict=True)) if isinstance(structure, Mapping) else tuple(leaves)


def _largest(rows: Tensor) -> Tensor:
    """(R, n) to (R): the largest absolute entry of each row, 0 of an empty one."""
    return rows.abs().amax(1) if rows.shape[1] else rows.new_zeros(len(rows))


def _per_restart(values: Shaped[Tensor, " R"], like: Tensor) -> Tensor:
    return values.view(-1, *[1] * (like.ndim - 1))  # (R, 1, ...)


def _choose(flags: Bool[Tensor, " R"], chosen: Tensor, other: Tensor) -> Tensor:
    return torch.where(_per_restart(flags, chosen), chosen, other)  # (R, ...)
