"""The study of the margin of Appendix C's transformer: bounds from below, attacks from above, older constructions."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch

from bridge.budget import Budget
from bridge.machines.decoder_margin import derived_margin, exact_streams, margin_at_input, w_pos_for
from bridge.machines.largest_move import LargestMove
from bridge.machines.turing_runs import Task, task_of
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

SHORT_RUNS = (4, 6, 8, 12, 16)  # steps at which both constructions are attacked; `benchmarks.turing_margin` has 8 to 64
LONGEST_ATTACKED = 200  # steps; beyond it an attack takes minutes
FEW, MANY = 8, 4096  # steps of the quantity `decay`
FEWEST_POINTS = 3  # of a slope with a confidence
JUMP = 1e-6  # distance of the two inputs that show that a layer is not Lipschitz


class TuringMarginCase(DirectCase):
    """One machine on one input. `attack` is the number of perturbed networks that an attack runs."""

    uses = frozenset({"seed", "attack"})

    def __init__(self, result: Result, params: Mapping[str, Any], task: Task, *, dtype: str, device: str) -> None:
        super().__init__(result, params, dtype=dtype, device=device)
        self.task = task
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
        return [NamedTable(title="derived bound over T", columns=["T", "w_pos", "margin >=", "decided by"], rows=rows)]

    # The bounds.

    def _bits(self, T: int) -> int:
        return w_pos_for(T, two_way=self.task.machine.two_way)

    def _derived(self, T: int) -> LargestMove:
        stream = self.network.decoder.stream
        halting = len(self.task.machine.terminal)
        return derived_margin(stream.size("st"), stream.size("sym1"), self._bits(T), halting)

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
        kept = dict.fromkeys(lower, Verdict.KEPT if found is not None else Verdict.PROVED)
        if found is not None:
            kept = {tier: Verdict.KEPT if bound <= found else Verdict.VIOLATED for tier, bound in lower.items()}
        said = f"T = {self.task.T}, w_pos = {self.network.w_pos}; derived stops at the {derived.binding}, "
        said += f"the instance's at the {instance.binding}"
        if flip is None:
            said += f"; not attacked: T > {LONGEST_ATTACKED}"
        else:
            said += f"; nearest of {flip.evaluations} networks: {flip.direction}"
        return direct_row(
            self,
            self.result.quantity("margin"),
            kept,
            derived=derived.move,
            instance=instance.move,
            measured=found,
            remark=said,
        )

    def _attacked(self, budget: Budget) -> Flip | None:
        if self.task.T > LONGEST_ATTACKED:
            return None
        tokens, lengths = self.network.encode([self.task.tokens])
        one = tokens[0, : int(lengths[0])]
        return attack_decoder(
            self.network.decoder, one, self.network.steps, seed=budget.seed, budget=max(1, budget.attack)
        )

    def _exponent(self) -> Row:
        local = np.log(self._derived(2**18).move / self._derived(2**16).move) / np.log(
            self._bits(2**18) / self._bits(2**16)
        )
        return direct_row(
            self,
            self.result.quantity("exponent"),
            {"printed": Verdict.CONSISTENT, "derived": Verdict.PROVED},
            derived=float(theory.exponent()),
            measured=float(local),
            remark="measured: the slope of the derived numbers from T = 2^16 to 2^18; "
            f"leading term {theory.leading_margin()}",
        )

    def _decay(self) -> Row:
        many, few = self._derived(MANY), self._derived(FEW)
        said = f"{many.move:.4g} at T = {MANY} over {few.move:.4g} at T = {FEW}"
        return direct_row(
            self, self.result.quantity("decay"), {"derived": Verdict.PROVED}, derived=many.move / few.move, remark=said
        )

    # Definition D.2 at a tie.

    def _jump(self, distance: float) -> TieJump:
        decoder = self.network.decoder
        target = decoder.stream.slice("pos1").stop - 1  # the first layer passes pos1 on
        radius = self._derived(self.task.T).move / 2
        return tie_jump(decoder.layers[0], self.streams["layer[0]"], target=target, radius=radius, distance=distance)

    def _lipschitz(self, distance: float) -> Row:
        jump, closer = self._jump(distance), self._jump(distance / 100)
        ratio, grown = jump.output / jump.input, closer.output / closer.input
        said = (
            f"layer '{jump.layer}', parameters moved by {jump.move:.3g}: inputs {jump.input:.3g} apart, outputs "
            f"{jump.output:.3g}; {closer.input:.3g} apart the ratio is {grown:.3g}"
        )
        witness = Witness(
            result=self.result.id,
            quantity="lipschitz",
            params=self.full_params,
            inputs={"distance": [distance]},
            error_lower=ratio,
            bounds={},
        )
        verdict = Verdict.VIOLATED if grown > 50 * ratio else Verdict.UNDECIDED
        quantity = self.result.quantity("lipschitz")
        return direct_row(self, quantity, {"printed": verdict}, measured=ratio, remark=said, witness=witness)

    def replay_finding(self, name: str, inputs: Inputs) -> Row:
        if name != "lipschitz":
            return super().replay_finding(name, inputs)
        distance = inputs.get("distance", torch.zeros(0)).flatten().tolist()
        if len(distance) != 1 or not 0 < distance[0] < 1:
            raise UsageError(f"{self.result.id}: '{name}' takes one distance between 0 and 1")
        return self._lipschitz(float(distance[0]))

    # Slopes in T.

    def _slopes(self, budget: Budget) -> list[Row]:
        measured = self._short_runs(budget)
        return [self._slope("attack.slope", BINARY, measured), self._slope("scalar.slope", SCALAR, measured)]

    def _short_runs(self, budget: Budget) -> list[MeasuredMargin]:
        """Both constructions on inputs of one repeated symbol on which the machine takes about that many steps."""
        machine = self.task.machine
        if machine.two_way:
            return []
        letters = [symbol for symbol in machine.alphabet if symbol != machine.blank]
        words = [(symbol,) * n for symbol in letters for n in range(SHORT_RUNS[-1])]
        halting = {word: at for word in words if (at := halting_time(machine, word, SHORT_RUNS[-1])) is not None}
        reached = [T for T in SHORT_RUNS if any(at <= T for at in halting.values())]
        if len(reached) < FEWEST_POINTS:
            return []
        chosen = inputs_by_steps(machine, reached, halting)
        return measured_margins(machine, chosen, seed=budget.seed, budget=max(1, budget.attack // 2))

    def _slope(self, name: str, construction: str, measured: list[MeasuredMargin]) -> Row:
        quantity = self.result.quantity(name)
        at = {one.T: one.flip.distance for one in measured if one.construction == construction}
        if len(at) < FEWEST_POINTS:
            said = f"this machine halts on too few words of one symbol within {SHORT_RUNS[-1]} steps for a slope"
            return direct_row(self, quantity, {}, remark=said)
        fit = slope(measured, construction)
        found = ", ".join(f"{distance:.3g} at T = {T}" for T, distance in at.items())
        said = f"95 % confidence {fit.low:.2f} to {fit.high:.2f}; {found}"
        return direct_row(self, quantity, {}, measured=fit.value, remark=said)


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

    def case(self, params: Mapping[str, Any], *, seed: int, dtype: str, device: str) -> TuringMarginCase:
        values = self.resolved(params)
        task = task_of(str(values["machine"]), str(values["input"]), values["T"])
        return TuringMarginCase(self.result, values, task, dtype=dtype, device=device)
