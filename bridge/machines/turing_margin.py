"""The study of the margin of the transformer of Appendix C: lower bounds, attacks, and older constructions."""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch

from bridge.budget import Budget
from bridge.export.numbers import plain
from bridge.machines.decoder_margin import derived_margin, exact_streams, margin_at_input, w_pos_for
from bridge.machines.enclosures import interval_words
from bridge.machines.largest_move import LargestMove
from bridge.machines.turing_runs import INPUTS, Task, task_of
from bridge.record import NamedTable, Row, Verdict, Witness
from bridge.rows import direct_row
from bridge.study import DirectCase, Inputs, Study
from numeric.flips import Flip
from numeric.machines.decoder_attack import attack_decoder
from numeric.machines.machine import MachineError, TuringMachine, simulate
from numeric.machines.measured_margins import (
    BINARY,
    SCALAR,
    MeasuredMargin,
    inputs_by_steps,
    measured_margins,
    slope,
)
from numeric.machines.tie_jump import TieJump, tie_jump
from numeric.machines.transformer import SimulatingDecoder, simulating_decoder
from symbolic.machines import turing_margin as theory
from symbolic.statements import Result, UsageError

SHORT_RUNS = (4, 6, 8, 12)  # steps at which both constructions are attacked; `benchmarks.turing_margin` has 8 to 64
LONGEST_ATTACKED = 200  # steps; beyond it an attack takes minutes
LARGEST_FITTED = 2_000_000  # parameters of a decoder that is attacked at several T
ATTACK_WORK, FEWEST_NETWORKS = 800_000_000, 16  # parameters times steps times networks of an attack
FEWEST_POINTS = 3  # of a slope with a confidence
FAR, SLOPE_TOLERANCE = (1000, 4000), 0.05  # bits at which the exponent is measured; relative, from the limit
CLOSED = 1e-6  # relative width of what counts as enclosed
JUMP, CLOSER = 1e-6, 100  # distance to the exact input at which a layer is seen to jump; the factor of a closer one
NO_TIE = "this run has no two tokens that tie in Claim C.4 and differ, or float64 does not resolve the jump"


class TuringMarginCase(DirectCase):
    """One machine on one input. `attack` is the number of perturbed networks that an attack runs."""

    uses = frozenset({"seed", "attack"})

    def __init__(self, result: Result, params: Mapping[str, Any], task: Task, *, dtype: str, device: str) -> None:
        super().__init__(result, params, dtype=dtype, device=device)
        self.task = task
        self._measured: list[MeasuredMargin] = []  # both constructions at several T, once the rows have been asked for
        if task.trace.accepted is None:
            raise UsageError(f"{result.id}: {task.source} neither accepts nor rejects '{params['input']}'")

    @cached_property
    def network(self) -> SimulatingDecoder:
        return simulating_decoder(self.task.machine, self.task.T)

    def rows(self, budget: Budget) -> list[Row]:
        return [self._margin(budget), self._exponent(), self._decay(), self._lipschitz(JUMP), *self._slopes(budget)]

    def tables(self) -> list[NamedTable]:
        """The derived bound over T, and what decides it."""
        steps = [2**k for k in range(2, 17, 2)]
        rows = [[T, self._bits(T), self._derived(T).move, self._derived(T).binding] for T in steps]
        derived = NamedTable(title="derived bound over T", columns=["T", "w_pos", "margin >=", "decided by"], rows=rows)
        return [derived, *self._attacked_table()]

    def _attacked_table(self) -> list[NamedTable]:
        """What the slopes are fitted to."""
        found = {(one.T, one.construction): one.flip.distance for one in self._measured}
        steps = sorted({T for T, _ in found})
        if len(steps) < FEWEST_POINTS:
            return []
        fits = [(name, slope(self._measured, name)) for name in (BINARY, SCALAR)]
        slopes = "; ".join(
            f"{name}: slope {plain(fit.value)} (95 %: {plain(fit.low)} to {plain(fit.high)})" for name, fit in fits
        )
        rows: list[list[str | int | float | None]] = [
            [T, found.get((T, BINARY)), found.get((T, SCALAR))] for T in steps
        ]
        title = f"margins that attacks found over T, by positions; {slopes}"
        return [NamedTable(title=title, columns=["T", f"{BINARY} <=", f"{SCALAR} <="], rows=rows)]

    # The bounds.

    def _bits(self, T: int) -> int:
        return w_pos_for(T, two_way=self.task.machine.two_way)

    def _derived(self, T: int) -> LargestMove:
        return self._derived_at(self._bits(T))

    def _derived_at(self, w_pos: int) -> LargestMove:
        stream = self.network.decoder.stream
        return derived_margin(stream.size("st"), stream.size("sym1"), w_pos, len(self.task.machine.terminal))

    @cached_property
    def streams(self) -> dict[str, np.ndarray]:
        return exact_streams(self.network, self.task.tokens)

    @cached_property
    def instance_margin(self) -> LargestMove:
        return margin_at_input(self.network, self.streams)

    def _margin(self, budget: Budget) -> Row:
        derived, instance = self._derived(self.task.T), self.instance_margin
        flip = self._attacked(budget)
        lower = {"derived": derived.move, "instance": instance.move}
        found = None if flip is None else flip.distance
        # Both are proofs: a flip below one of them shows a mistake of ours.
        beaten = {tier: found is not None and found < bound for tier, bound in lower.items()}
        verdict = {tier: Verdict.UNDECIDED if worse else Verdict.PROVED for tier, worse in beaten.items()}
        remark = f"T = {self.task.T}, w_pos = {self.network.w_pos}; derived: decided by the {derived.binding}; "
        remark += f"instance: by the {instance.binding}; "
        if flip is None:
            remark += f"not attacked: T > {LONGEST_ATTACKED}"
        else:
            remark += f"attack: {flip.evaluations} networks, unused attentions kept at 0, a flip along {flip.direction}"
        if any(beaten.values()):
            remark += "; undecided: the attack lies below a proved bound, one of the two is wrong"
        return direct_row(
            self,
            self.result.quantity("margin"),
            verdict,
            derived=derived.move,
            instance=instance.move,
            attacked=found,
            remark=remark,
        )

    def _attacked(self, budget: Budget) -> Flip | None:
        if self.task.T > LONGEST_ATTACKED:
            return None
        tokens, lengths = self.network.encode([self.task.tokens])
        one = tokens[0, : int(lengths[0])]
        size = self._numbers * self.network.steps
        return attack_decoder(
            self.network.decoder, one, self.network.steps, seed=budget.seed, budget=_networks(budget.attack, size)
        )

    @cached_property
    def _numbers(self) -> int:
        """How many parameters the decoder has."""
        return sum(array.size for array in self.network.decoder.arrays.values())

    # The leading term is a limit. The numbers have to be on their way to it where it is all but reached; where T is of
    # a size that a run has, other conditions decide.
    def _exponent(self) -> Row:
        power = float(theory.exponent())
        far, near = self._local_slope(*FAR), self._local_slope(self._bits(2**16), self._bits(2**18))
        agree = abs(far - power) <= SLOPE_TOLERANCE * abs(power)
        return direct_row(
            self,
            self.result.quantity("exponent"),
            {"derived": Verdict.PROVED if agree else Verdict.UNDECIDED},
            derived=power,
            measured=far,
            remark=f"measured: the slope of the derived numbers from w_pos = {FAR[0]} to {FAR[1]}; from T = 2^16 to "
            f"2^18 it is {plain(near)}; leading term {theory.leading_margin()}",
        )

    def _local_slope(self, few: int, many: int) -> float:
        """Of log(derived bound) between two numbers of bits."""
        return math.log(self._derived_at(many).move / self._derived_at(few).move) / math.log(many / few)

    # The ratio lies between least over greatest and greatest over least, as each bound lies between a move at which
    # all conditions surely hold and one at which one of them surely fails.
    def _decay(self) -> Row:
        many, few = self._derived(theory.MANY), self._derived(theory.FEW)
        low, high = many.move / few.above, many.above / few.move
        closed = low > 0 and high <= low * (1 + CLOSED)
        at_many, at_few = (plain(each.move, "derived", "lower") for each in (many, few))
        remark = f"{at_many} at T = {theory.MANY} over {at_few} at T = {theory.FEW}; "
        remark += f"in {interval_words(low, high)}, by balls"
        return direct_row(
            self,
            self.result.quantity("decay"),
            {"derived": Verdict.PROVED if closed else Verdict.UNDECIDED},
            derived=many.move / few.move,
            remark=remark,
        )

    # Definition D.2 at a tie.

    def _jump(self, distance: float) -> TieJump | None:
        """Of the layer of Claim C.4; None where this run has no tie there."""
        decoder = self.network.decoder
        target = decoder.stream.slice("pos1").stop - 1  # a coordinate that the layer passes on
        radius = self._derived(self.task.T).move / 2
        found = next(k for k, layer in enumerate(decoder.layers) if layer.name == "found")
        tokens = self.streams[f"layer[{found}]"]
        return tie_jump(decoder.layers[found], tokens, target=target, radius=radius, distance=distance)

    def _lipschitz(self, distance: float) -> Row:
        """The ratio grows like 1/distance where the layer jumps."""
        quantity = self.result.quantity("lipschitz")
        jump, closer = self._jump(distance), self._jump(distance / CLOSER)
        if jump is None or closer is None or closer.ratio <= CLOSER / 2 * jump.ratio:
            return direct_row(self, quantity, {"printed": Verdict.UNDECIDED}, remark=NO_TIE)
        witness = Witness(
            result=self.result.id,
            quantity="lipschitz",
            params=self.full_params,
            inputs={"distance": [distance]},
            error_lower=jump.output,
            bounds={},
        )
        return direct_row(
            self,
            quantity,
            {"printed": Verdict.VIOLATED},
            measured=jump.ratio,
            remark=_jump_words(jump, closer),
            witness=witness,
        )

    def replay_check(self, name: str, inputs: Inputs) -> Row:
        if name != "lipschitz":
            return super().replay_check(name, inputs)
        distance = inputs.get("distance", torch.zeros(0)).flatten().tolist()
        if len(distance) != 1 or not 0 < distance[0] < 1:
            raise UsageError(f"{self.result.id}: '{name}' takes one distance between 0 and 1")
        return self._lipschitz(float(distance[0]))

    # Slopes in T.

    def _slopes(self, budget: Budget) -> list[Row]:
        self._measured = self._short_runs(budget)
        return [self._slope("attack.slope", BINARY), self._slope("scalar.slope", SCALAR)]

    def _short_runs(self, budget: Budget) -> list[MeasuredMargin]:
        """Both constructions on inputs of one repeated symbol on which the machine takes about that many steps."""
        machine = self.task.machine
        if machine.two_way or self._numbers > LARGEST_FITTED:
            return []
        letters = [symbol for symbol in machine.alphabet if symbol != machine.blank]
        words = [(symbol,) * n for symbol in letters for n in range(SHORT_RUNS[-1])]
        halting = {word: at for word in words if (at := halting_time(machine, word, SHORT_RUNS[-1])) is not None}
        reached = [T for T in SHORT_RUNS if any(at <= T for at in halting.values())]
        if len(reached) < FEWEST_POINTS:
            return []
        chosen = inputs_by_steps(machine, reached, halting)
        networks = _networks(budget.attack // 2, self._numbers * SHORT_RUNS[-1])
        return measured_margins(machine, chosen, seed=budget.seed, budget=networks)

    def _why_no_slope(self) -> str:
        if self.task.machine.two_way:
            return "no slope: positions of size 1/T are built for one-way tapes only"
        if self._numbers > LARGEST_FITTED:
            return f"no slope: with {self._numbers} parameters the attacks at several T take minutes"
        return f"no slope: the machine halts on too few words of one symbol within {SHORT_RUNS[-1]} steps"

    def _slope(self, name: str, construction: str) -> Row:
        """Not shown where its confidence interval does not determine its sign."""
        quantity = self.result.quantity(name)
        if sum(one.construction == construction for one in self._measured) < FEWEST_POINTS:
            return direct_row(self, quantity, {}, remark=self._why_no_slope())
        fit = slope(self._measured, construction)
        settled = fit.low > 0 or fit.high < 0
        remark = f"95 % confidence {plain(fit.low)} to {plain(fit.high)}"
        remark += "" if settled else ": these few short runs do not determine its sign"
        return direct_row(self, quantity, {}, measured=fit.value if settled else None, remark=remark)


def _networks(asked: int, size: int) -> int:
    """How many perturbed networks an attack runs: fewer of large ones, of `size` parameters times steps."""
    return max(1, min(asked, max(FEWEST_NETWORKS, ATTACK_WORK // size)))


def _jump_words(jump: TieJump, closer: TieJump) -> str:
    return (
        f"layer '{jump.layer}', step {jump.step}, parameters moved by {plain(jump.move)}: at a distance of "
        f"{plain(jump.input)} from the exact input the outputs differ by {plain(jump.output)}, a ratio of "
        f"{plain(jump.ratio)}, at {plain(closer.input)} by {plain(closer.output)}, a ratio of {plain(closer.ratio)}"
    )


def halting_time(machine: TuringMachine, word: Sequence[str], most: int) -> int | None:
    """When the machine halts on the word; None if not within `most` steps, or if its head leaves the tape."""
    try:
        trace = simulate(machine, word, most)
    except MachineError:
        return None
    return None if trace.accepted is None else trace.halted_at


class TuringMarginStudy(Study):
    """The margin at the end of Appendix C for one machine and input."""

    result = theory.TURING_MARGIN
    main_quantity = "margin"
    implied = ("input",)

    def case(self, params: Mapping[str, Any], *, seed: int, dtype: str, device: str) -> TuringMarginCase:
        values = self.resolved(params)
        values.setdefault("input", INPUTS.get(str(values["machine"]), ""))
        task = task_of(str(values["machine"]), str(values["input"]), values["T"])
        return TuringMarginCase(self.result, {**values, "T": task.T}, task, dtype=dtype, device=device)
