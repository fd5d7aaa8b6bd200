"""Attacked margins of one machine over T, with binary positions and with positions of size 1/T, and their slopes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import torch

from numeric.tools.flips import Flip
from numeric.tools.slopes import Slope, log_slope
from numeric.topics.machines.decoder import Decoder
from numeric.topics.machines.decoder_attack import attack_decoder
from numeric.topics.machines.machine import TuringMachine, readable, simulate
from numeric.topics.machines.scalar_positions import scalar_decoder
from numeric.topics.machines.transformer import simulating_decoder

BINARY, SCALAR = "binary", "1/T"  # how positions are written: Appendix C, or one number
CONSTRUCTIONS = (BINARY, SCALAR)


class MarginError(ValueError):
    """No input, or no construction, for what was asked."""


@dataclass(frozen=True, eq=False)
class MeasuredMargin:
    """An upper bound of the all-layer margin of one decoder at one input: `flip.distance`."""

    construction: str
    T: int
    tokens: tuple[str, ...]
    halted_at: int
    flip: Flip


def built(machine: TuringMachine, T: int, construction: str) -> tuple[Decoder, int]:
    """The decoder that simulates T steps, and how many steps of its own that takes."""
    if construction == BINARY:
        simulating = simulating_decoder(machine, T)
        return simulating.decoder, simulating.steps
    if construction == SCALAR:
        scalar = scalar_decoder(machine, T)
        return scalar.decoder, T + scalar.steps_before
    raise MarginError(f"construction {construction!r}: choose one of {', '.join(CONSTRUCTIONS)}.")


def inputs_by_steps(
    machine: TuringMachine, Ts: Iterable[int], words: Iterable[Sequence[str]]
) -> dict[int, tuple[str, ...]]:
    """For each T the word on which the machine runs longest among those on which it halts within T steps.

    Raises MarginError for a T within which it halts on none of them.
    """
    Ts = sorted(Ts)
    halted = {tuple(word): simulate(machine, word, Ts[-1]).halted_at for word in words}
    chosen = {}
    for T in Ts:
        within = {word: at for word, at in halted.items() if at is not None and at <= T}
        if not within:
            raise MarginError(
                f"machine {machine.name} halts on none of the words within T = {T} steps: give shorter ones."
            )
        chosen[T] = max(within, key=lambda word: within[word])
    return chosen


def measured_margins(
    machine: TuringMachine,
    inputs_by_T: Mapping[int, Sequence[str]],
    *,
    seed: int,
    budget: int = 600,
    constructions: Sequence[str] = CONSTRUCTIONS,
    report: Callable[[MeasuredMargin], None] = lambda _: None,
) -> list[MeasuredMargin]:
    """The attacked margin of each construction at each T, on the same machine and the same input.

    `budget`: perturbed networks run for each; `report` is called with each as it is measured. Raises FlipError where
    the machine has not halted within T (then the prediction is 0, and so is the margin).
    """
    measured = []
    for construction in constructions:
        for T, word in sorted(inputs_by_T.items()):
            decoder, steps = built(machine, T, construction)
            tokens = torch.tensor(machine.indices(readable(machine, word, T)), dtype=torch.int64, device="cpu")
            flip = attack_decoder(decoder, tokens, steps, seed=seed, budget=budget)
            halted_at = simulate(machine, word, T).halted_at
            measured.append(MeasuredMargin(construction, T, tuple(word), T if halted_at is None else halted_at, flip))
            report(measured[-1])
    return measured


def slope(measured: Iterable[MeasuredMargin], construction: str) -> Slope:
    """The slope of log(margin) in log(T) of one construction. Raises SlopeError below three points."""
    return log_slope((one.T, one.flip.distance) for one in measured if one.construction == construction)
