"""The step for networks of ReLUs: cases of some neurons, and on each part multipliers that bound the network."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import sympy as sp

from bridge.questions.certify.goals import NotShownError, ProofGoal, require
from bridge.questions.certify.networks import (
    UNIT,
    Combination,
    Multipliers,
    NetworkLetters,
    NetworkRegion,
    NotANetworkError,
    leftover,
)
from bridge.questions.certify.steps import ProofStep

Cut = int
Entries = tuple[tuple[int, Fraction], ...]


@dataclass(frozen=True)
class ByNeurons(ProofStep):
    """f is a network of ReLUs; the tree cuts the box by signs of neurons, and has multipliers at its leaves.

    `neurons` are combinations of coordinates and of neurons before, by place (the number 1 has the place -1). `tree`
    is in preorder: the place of a neuron is a cut, first the part where it is on, then the one where it is off; a leaf
    has the multipliers of `leftover`.
    """

    name = "neurons"
    neurons: tuple[Entries, ...]
    tree: tuple[Cut | Multipliers, ...]

    def children(self, goal: ProofGoal, bits: int) -> list[ProofGoal]:
        neurons: list[Combination] = [dict(z) for z in self.neurons]
        for k, z in enumerate(neurons):
            known = all(a != 0 and UNIT <= i < len(goal.symbols) + k for i, a in z.items())
            require(known, "a neuron has an unknown letter")
        letters = NetworkLetters(goal.symbols, neurons, fixed=True)
        try:
            f = letters.combination(goal.expression)
        except NotANetworkError as error:
            raise NotShownError(str(error)) from None
        conditions = [condition_of(letters, each) for each in goal.where]
        waiting: list[dict[int, int]] = [{}]
        for node in self.tree:
            require(waiting, "the tree of neurons is complete before its end")
            phases = waiting.pop()
            if isinstance(node, int):
                require(0 <= node < len(neurons) and node not in phases, "there is no such neuron to cut at")
                waiting += [{**phases, node: -1}, {**phases, node: 1}]
            elif region := NetworkRegion.of(goal.box, neurons, phases):
                require_bound(f, neurons, conditions, region, node)
        require(not waiting, "the tree of neurons is truncated")
        return []


def condition_of(letters: NetworkLetters, condition: sp.Expr) -> Combination:
    """A condition as a combination; 0, which says nothing, for one that is none."""
    try:
        return letters.combination(condition)
    except NotANetworkError:
        return {}


def require_bound(
    f: Combination,
    neurons: Sequence[Combination],
    conditions: Sequence[Combination],
    region: NetworkRegion,
    multipliers: Multipliers,
) -> None:
    least = leftover(f, neurons, conditions, region, multipliers)
    require(least is not None, "a multiplier has a wrong sign or place")
    require(least is not None and least >= 0, "what is left is negative on a part of the box")
