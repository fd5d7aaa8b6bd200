"""The margin of the transformer of Appendix C: lower bounds, attacks, and older constructions."""

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp
from torch import Tensor

from bridge.theorems.check import Sides, checks_of
from bridge.theorems.numbers import plain
from bridge.theorems.parts import Knobs
from bridge.theorems.record import NamedTable
from bridge.theorems.theorem import Function, Theorem
from bridge.topics.machines.decoder_margin import derived_margin, margin_at_input, w_pos_for
from bridge.topics.machines.intervals import interval_words
from bridge.topics.machines.turing_runs import INPUTS, task_of
from bridge.topics.tools.inversion import LargestPerturbation
from numeric.tools.flips import Flip
from numeric.topics.machines.beside_simulator import TuringTask
from numeric.topics.machines.decoder_attack import attack_decoder
from numeric.topics.machines.machine import MachineError, TuringMachine, simulate
from numeric.topics.machines.measured_margins import (
    BINARY,
    SCALAR,
    MeasuredMargin,
    inputs_by_steps,
    measured_margins,
    slope,
)
from numeric.topics.machines.simulation import exact_streams
from numeric.topics.machines.tie_jump import TieJump, tie_jump
from numeric.topics.machines.transformer import SimulatingDecoder, simulating_decoder
from symbolic.topics.machines import turing_margin as theory
from symbolic.words.errors import UsageError

STATED = theory.TURING_MARGIN
STEPS = [2**k for k in range(2, 17, 2)]  # of the table
SHORT_RUNS = (4, 6, 8, 12)  # steps at which both constructions are attacked; `benchmarks.turing_margin` has 8 to 64
LONGEST_ATTACKED = 200  # steps; beyond it an attack takes minutes
LARGEST_FITTED = 2_000_000  # parameters of a decoder that is attacked at several T
ATTACK_WORK, FEWEST_NETWORKS = 800_000_000, 16  # parameters times steps times networks of an attack
FEWEST_POINTS = 3  # of a slope with a confidence
FAR, SLOPE_TOLERANCE = (1000, 4000), 0.05  # bits at which the exponent is measured; relative, from the limit
CLOSED = 1e-6  # relative width of what counts as enclosed
JUMP, CLOSER = 1e-6, 100  # distance to the exact input at which a layer is seen to jump; the factor of a closer one
NO_TIE = "this run has no two tokens that tie in Claim C.4 and differ, or float64 does not resolve the jump"

Streams = Mapping[str, np.ndarray]


def resolve(given: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """The machine's own input, and as many steps as it needs, where none are given. Raises UsageError."""
    machine = str(given.get("machine", STATED.parameter("machine").default))
    text = str(given.get("input", INPUTS.get(machine, "")))
    T = STATED.number("T", given.get("T", 0))
    STATED.check({"T": T})
    task = task_of(machine, text, int(T))
    if task.trace.accepted is None:
        raise UsageError(f"{STATED.id}: {task.source} neither accepts nor rejects '{text}'")
    return {**given, "input": text, "T": task.T}


BUILT: Mapping[str, Function] = {
    "task": lambda machine, input, T: task_of(str(machine), str(input), T),
    "network": lambda task: simulating_decoder(task.machine, task.T),
    "streams": lambda network, task: exact_streams(network, task.tokens),
    "instance": lambda network, streams: margin_at_input(network, streams),
}


# The bounds.


def bits(task: TuringTask, T: int) -> int:
    return w_pos_for(T, two_way=task.machine.two_way)


def derived(task: TuringTask, network: SimulatingDecoder, w_pos: int) -> LargestPerturbation:
    stream = network.decoder.stream
    return derived_margin(stream.size("st"), stream.size("sym1"), w_pos, len(task.machine.terminal))


def parameter_count(network: SimulatingDecoder) -> int:
    return sum(array.size for array in network.decoder.arrays.values())


def networks_run(asked: int, size: int) -> int:
    """How many perturbed networks an attack runs: fewer of large ones, of `size` parameters times steps."""
    return max(1, min(asked, max(FEWEST_NETWORKS, ATTACK_WORK // size)))


def margin(
    task: TuringTask, network: SimulatingDecoder, instance: LargestPerturbation, attack: int, seed: int
) -> Sides:
    of_all = derived(task, network, bits(task, task.T))
    flip = nearest_flip(task, network, attack, seed)
    words = f"`T = {task.T}`, `w_pos = {network.w_pos}`; derived: decided by the {of_all.binding}; "
    words += f"instance: by the {instance.binding}; "
    if flip is None:
        words += f"not attacked: `T > {LONGEST_ATTACKED}`"
    else:
        words += f"attack: {flip.evaluations} networks, unused attentions kept at 0, a flip along {flip.direction}"
    found = None if flip is None else flip.distance
    proved = ("derived", "instance")
    return Sides(found, attacked=found, derived=of_all.size, instance=instance.size, proved=proved, remark=words)


def nearest_flip(task: TuringTask, network: SimulatingDecoder, attack: int, seed: int) -> Flip | None:
    """`attack` is the number of perturbed networks, fewer of large ones."""
    if task.T > LONGEST_ATTACKED:
        return None
    tokens, lengths = network.encode([task.tokens])
    one = tokens[0, : int(lengths[0])]
    budget = networks_run(attack, parameter_count(network) * network.steps)
    return attack_decoder(network.decoder, one, network.steps, seed=seed, budget=budget)


# The leading term is a limit. The numbers have to be on their way to it where it is all but reached; where T is of
# a size that a run has, other conditions decide.
def exponent(task: TuringTask, network: SimulatingDecoder) -> Sides:
    def local_slope(few: int, many: int) -> float:
        """Of log(derived bound) between two numbers of bits."""
        moves = [derived(task, network, w_pos).size for w_pos in (many, few)]
        return math.log(moves[0] / moves[1]) / math.log(many / few)

    power = float(theory.exponent())
    far, near = local_slope(*FAR), local_slope(bits(task, 2**16), bits(task, 2**18))
    agree = abs(far - power) <= SLOPE_TOLERANCE * abs(power)
    return Sides(
        measured=far,
        proved=("derived",) if agree else (),
        remark=f"measured: the slope of the derived numbers from `w_pos = {FAR[0]}` to {FAR[1]}; from `T = 2^16` to "
        f"`2^18` it is {plain(near)}; leading term {theory.leading_margin()}",
    )


# The ratio lies between least over greatest and greatest over least, as each bound lies between a move at which
# all conditions surely hold and one at which one of them surely fails.
def decay(task: TuringTask, network: SimulatingDecoder) -> Sides:
    many, few = (derived(task, network, bits(task, T)) for T in (theory.MANY, theory.FEW))
    low, high = many.size / few.above, many.above / few.size
    closed = low > 0 and high <= low * (1 + CLOSED)
    at_many, at_few = (plain(each.size, "derived", "lower") for each in (many, few))
    remark = (
        f"{at_many} at T = {theory.MANY} over {at_few} at T = {theory.FEW}; in {interval_words(low, high)}, by balls"
    )
    return Sides(derived=many.size / few.size, proved=("derived",) if closed else (), remark=remark)


# Definition D.2 at a tie: the ratio grows like 1/distance where the layer jumps, so that no constant bounds it.


def lipschitz(distance: Tensor, task: TuringTask, network: SimulatingDecoder, streams: Streams) -> Sides:
    if not 0 < distance.item() < 1:
        raise UsageError(f"{STATED.id}: 'lipschitz' takes one distance between 0 and 1")
    radius = derived(task, network, bits(task, task.T)).size / 2
    jump, closer = (jump_at(network, streams, radius, distance.item() / factor) for factor in (1, CLOSER))
    if jump is None or closer is None or closer.ratio <= CLOSER / 2 * jump.ratio:
        return Sides(limit=sp.nan, remark=NO_TIE)
    return Sides(jump.output, measured=jump.ratio, limit=sp.oo, remark=jump_words(jump, closer))


def jump_at(network: SimulatingDecoder, streams: Streams, radius: float, distance: float) -> TieJump | None:
    """Of the layer of Claim C.4; None where this run has no tie there."""
    decoder = network.decoder
    target = decoder.stream.slice("pos1").stop - 1  # a coordinate that the layer passes on
    found = next(k for k, layer in enumerate(decoder.layers) if layer.name == "found")
    tokens = streams[f"layer[{found}]"]
    return tie_jump(decoder.layers[found], tokens, target=target, radius=radius, distance=distance)


def jump_words(jump: TieJump, closer: TieJump) -> str:
    return (
        f"layer '{jump.layer}', step {jump.step}, parameters moved by {plain(jump.move)}: at a distance of "
        f"{plain(jump.input)} from the exact input the outputs differ by {plain(jump.output)}, a ratio of "
        f"{plain(jump.ratio)}, at {plain(closer.input)} by {plain(closer.output)}, a ratio of {plain(closer.ratio)}"
    )


# Slopes in T: both constructions on inputs of one repeated symbol on which the machine takes about that many steps.


@lru_cache(maxsize=2)
def short_runs(task: TuringTask, size: int, attack: int, seed: int) -> list[MeasuredMargin]:
    """`size` counts the parameters of the network."""
    machine = task.machine
    if machine.two_way or size > LARGEST_FITTED:
        return []
    letters = [symbol for symbol in machine.alphabet if symbol != machine.blank]
    words = [(symbol,) * n for symbol in letters for n in range(SHORT_RUNS[-1])]
    halting = {word: at for word in words if (at := halting_time(machine, word, SHORT_RUNS[-1])) is not None}
    reached = [T for T in SHORT_RUNS if any(at <= T for at in halting.values())]
    if len(reached) < FEWEST_POINTS:
        return []
    budget = networks_run(attack // 2, size * SHORT_RUNS[-1])
    return measured_margins(machine, inputs_by_steps(machine, reached, halting), seed=seed, budget=budget)


def halting_time(machine: TuringMachine, word: tuple[str, ...], most: int) -> int | None:
    """When the machine halts on the word; None if not within `most` steps, or if its head leaves the tape."""
    try:
        trace = simulate(machine, word, most)
    except MachineError:
        return None
    return None if trace.accepted is None else trace.halted_at


def why_no_slope(task: TuringTask, size: int) -> str:
    if task.machine.two_way:
        return "no slope: positions of size `1/T` are built for one-way tapes only"
    if size > LARGEST_FITTED:
        return f"no slope: with {size} parameters the attacks at several `T` take minutes"
    return f"no slope: the machine halts on too few words of one symbol within {SHORT_RUNS[-1]} steps"


def fitted(construction: str) -> Callable[..., Sides]:
    """The slope of its attacked margins; not shown where its confidence interval does not determine its sign."""

    def sides(task: TuringTask, network: SimulatingDecoder, attack: int, seed: int) -> Sides:
        size = parameter_count(network)
        measured = short_runs(task, size, attack, seed)
        if sum(one.construction == construction for one in measured) < FEWEST_POINTS:
            return Sides(remark=why_no_slope(task, size))
        fit = slope(measured, construction)
        remark = f"95 % confidence {plain(fit.low)} to {plain(fit.high)}"
        remark += "" if fit.sign_is_known else ": these few short runs do not determine its sign"
        return Sides(measured=fit.value if fit.sign_is_known else None, remark=remark)

    return sides


# Tables.


def derived_over_steps(task: TuringTask, network: SimulatingDecoder) -> NamedTable:
    """The derived bound over T, and what decides it."""
    bounds = [(T, bits(task, T), derived(task, network, bits(task, T))) for T in STEPS]
    return NamedTable(
        title="derived bound over `T`",
        columns=["T", "w_pos", "margin >=", "decided by"],
        rows=[[T, w_pos, found.size, found.binding] for T, w_pos, found in bounds],
    )


def attacked_over_steps(task: TuringTask, network: SimulatingDecoder, attack: int, seed: int) -> NamedTable | None:
    """What the slopes are fitted to."""
    measured = short_runs(task, parameter_count(network), attack, seed)
    found = {(one.T, one.construction): one.flip.distance for one in measured}
    steps = sorted({T for T, _ in found})
    if len(steps) < FEWEST_POINTS:
        return None
    fits = {name: slope(measured, name) for name in (BINARY, SCALAR)}
    slopes = "; ".join(
        f"{name}: slope {plain(fit.value)} (95 %: {plain(fit.low)} to {plain(fit.high)})" for name, fit in fits.items()
    )
    return NamedTable(
        title=f"margins that attacks found over `T`, by positions; {slopes}",
        columns=["T", *(f"{name} <=" for name in fits)],
        rows=[[T, *(found.get((T, name)) for name in fits)] for T in steps],
    )


SIDES: Mapping[str, Callable[..., Sides]] = {
    "margin": margin,
    "exponent": exponent,
    "decay": decay,
    "lipschitz": lipschitz,
    "attack.slope": fitted(BINARY),
    "scalar.slope": fitted(SCALAR),
}
POINTS = {"lipschitz": {"distance": [JUMP]}}
TURING_MARGIN = Theorem(
    STATED,
    main="margin",
    knobs=Knobs(resolve=resolve, implied=("input",)),
    built=BUILT,
    checks=checks_of(STATED, SIDES, POINTS),
    tables=(derived_over_steps, attacked_over_steps),
)
