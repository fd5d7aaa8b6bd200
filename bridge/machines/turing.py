"""The study of Appendix C: the transformer runs beside the reference simulator, step by step, quantity by quantity."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import torch

from bridge.balls import as_exact, evaluate_ball
from bridge.budget import Budget
from bridge.machines.turing_costs import cost_rows, cost_table
from bridge.machines.turing_leak import LEAK_STEPS, measured_leak
from bridge.machines.turing_runs import (
    INPUTS,
    Drawn,
    Outcome,
    Task,
    as_tensor,
    as_tokens,
    random_inputs,
    side_by_side,
    task_of,
    trace_table,
)
from bridge.machines.turing_slips import replayed_slip, slip_rows, witness_of
from bridge.record import NamedTable, Row, Verdict
from bridge.rows import direct_row
from bridge.study import DirectCase, Inputs, Study
from numeric.balls import float_above
from numeric.machines.simulation import SimulatingDecoder
from numeric.machines.transformer import simulating_decoder
from symbolic.machines import temperature
from symbolic.machines import turing as theory
from symbolic.statements import Quantity, UsageError

TAPS = {"location": ("location", "next_location")}  # of the quantities whose taps have other names; search: search[j]
INVARIANT = ("state", "location", "symbol")  # what (C.2) says of o_i
HALVINGS, HALVED_UP_TO = 6, 256  # of the inverse temperature, to see how much it has to spare; steps that are run so


class TuringCase(DirectCase):
    """One machine on one input, for T steps, and on random inputs beside it."""

    uses = frozenset({"samples", "seed", "dtype"})

    def __init__(self, result: Any, params: Mapping[str, Any], task: Task, *, dtype: str, device: str) -> None:
        super().__init__(result, params, dtype=dtype, device=device)
        self.task = task
        _require_precision(self.dtype, self.network.w_pos)

    @cached_property
    def network(self) -> SimulatingDecoder:
        return simulating_decoder(self.task.machine, self.task.T)

    def rows(self, budget: Budget) -> list[Row]:
        drawn = random_inputs(self.task, budget.samples, self.params["work"], budget.seed)
        runs = [self._main, *([self._run(drawn.inputs, drawn.traces)] if drawn.inputs else [])]
        rows = [self._step_row(quantity, runs) for quantity in theory.STEPS]
        rows += [self._answer(runs), self._rounding(runs), *self._of_softmax(drawn)]
        for row in rows:
            row.samples, row.seed = 1 + len(drawn.inputs), budget.seed
            row.remark = "; ".join(filter(None, [row.remark, self._ran(drawn)]))
        return [*rows, *slip_rows(self, self.task, self.network), *cost_rows(self, self.network, theory.COSTS)]

    def tables(self) -> list[NamedTable]:
        return [trace_table(self.network, self._main, self.task), cost_table(self.network, theory.COSTS)]

    # Runs.

    @cached_property
    def _main(self) -> Outcome:
        return self._run([self.task.tokens], [self.task.trace])

    def _run(self, inputs: Sequence[Sequence[str]], traces: Sequence[Any], beta: float | None = None) -> Outcome:
        return side_by_side(
            self.network, inputs, traces, dtype=self.dtype, device=self.device, inverse_temperature=beta
        )

    def _ran(self, drawn: Drawn) -> str:
        """What `kept` rests on."""
        asked = "" if self.params["T"] else f"T = {self.task.T}, where the machine halts; "
        refused = f" ({drawn.refused} more leave the tape on the left)" if drawn.refused else ""
        return f"{asked}{self.task.T} steps on the input and on {len(drawn.inputs)} random ones{refused}"

    def _judged(self, differences: int) -> Verdict:
        """A difference refutes in float64; in shorter formats rounding may cause it."""
        if not differences:
            return Verdict.KEPT
        return Verdict.VIOLATED if self.dtype is torch.float64 else Verdict.UNDECIDED

    # What holds at each step.

    def _taps(self, quantity: Quantity) -> list[str]:
        if quantity.name == "search":
            return [name for name in self.network.decoder.taps if name.startswith("search[")]
        return list(TAPS.get(quantity.name, (quantity.name,)))

    def _step_row(self, quantity: Quantity, runs: Sequence[Outcome]) -> Row:
        taps = self._taps(quantity)
        wrong = [max(run.agreement.differences[tap] for tap in taps) for run in runs]
        return self._exact(quantity, sum(wrong), self._where(runs, taps))

    def _where(self, runs: Sequence[Outcome], taps: Sequence[str]) -> str:
        first = [(tap, *run.agreement.first[tap]) for run in runs for tap in taps if tap in run.agreement.first]
        return "; ".join(f"{tap} first differs in step {step} of input {row + 1}" for tap, row, step in first[:1])

    def _exact(self, quantity: Quantity, wrong: int, remark: str = "") -> Row:
        """A quantity that is 0 where network and simulator agree; refuted with the input as the witness."""
        verdict, witness = self._judged(wrong), None
        tier = "derived" if quantity.printed is None else "printed"
        if verdict is Verdict.VIOLATED:
            numbers = {"input": as_tensor(self.task.machine, self.task.tokens)}
            witness = witness_of(self, quantity.name, float(wrong), numbers)
        return direct_row(
            self,
            quantity,
            {tier: verdict},
            printed=0.0 if tier == "printed" else None,
            derived=0.0 if tier == "derived" else None,
            measured=float(wrong),
            remark=remark,
            witness=witness,
        )

    def _answer(self, runs: Sequence[Outcome]) -> Row:
        halted = sum(run.halted for run in runs)
        return self._exact(theory.ANSWER, sum(run.answers for run in runs), f"{halted} of the inputs halt")

    def _rounding(self, runs: Sequence[Outcome]) -> Row:
        worst = max(run.agreement.rounding for run in runs)
        return direct_row(self, theory.ROUNDING, {}, measured=worst)

    # Softmax.

    @property
    def _keys(self) -> int:
        """Keys of the largest attention: the null key, and the decoder's steps or the encoder's symbols."""
        return 1 + max(self.network.steps, self.network.encode([self.task.tokens])[0].shape[1])

    @cached_property
    def inverse_temperature(self) -> float:
        """The computed one, rounded up."""
        at = {temperature.keys: self._keys, temperature.eps: as_exact(self.params["eps"])}
        return float_above(evaluate_ball(temperature.sufficient().value, at))

    def _of_softmax(self, drawn: Drawn) -> list[Row]:
        beta = self.inverse_temperature
        inputs, traces = [self.task.tokens, *drawn.inputs], [self.task.trace, *drawn.traces]
        soft = self._run(inputs, traces, beta)
        said = f"beta = {beta:.4g} for n = {self._keys} keys"
        softmax, leak, knob = (self.result.quantity(n) for n in ("softmax", "leak", "inverse_temperature"))
        return [
            self._exact(softmax, soft.differences + soft.answers, said),
            self._leak(leak, beta, said),
            direct_row(
                self,
                knob,
                {"derived": Verdict.UNDECIDED if soft.differences else Verdict.KEPT},
                derived=beta,
                measured=self._least_seen(beta),
                remark=f"n = {self._keys}; measured: the least of beta, beta/2, beta/4, ... that did, on the input",
            ),
        ]

    def _leak(self, quantity: Quantity, beta: float, said: str) -> Row:
        at = {temperature.keys: self._keys, temperature.inverse_temperature: as_exact(beta)}
        bound = float_above(evaluate_ball(quantity.general_bound(), at))
        seen = measured_leak(self.network, self.task.tokens, beta, self.device)
        return direct_row(
            self,
            quantity,
            {"derived": Verdict.KEPT if seen <= bound else Verdict.VIOLATED},
            derived=bound,
            measured=seen,
            remark=f"{said}; measured in float64 over {min(self.network.steps, LEAK_STEPS)} steps of the input",
        )

    def _least_seen(self, beta: float) -> float | None:
        """None where even beta fails, and where the runs would take long."""
        least = None
        for _ in range(HALVINGS if self.task.T <= HALVED_UP_TO else 0):
            if self._run([self.task.tokens], [self.task.trace], beta).differences:
                break
            least, beta = beta, beta / 2
        return least

    def replay_finding(self, name: str, inputs: Inputs) -> Row:
        """What was refuted again, from what its witness gives."""
        row = replayed_slip(self, self.task, self.network, name, inputs)
        if row is not None:
            return row
        stated = {quantity.name: quantity for quantity in (*theory.STEPS, theory.ANSWER)}
        if name not in stated or set(inputs) != {"input"}:
            return super().replay_finding(name, inputs)
        tokens = as_tokens(self.task.machine, inputs["input"], "input")
        run = self._run([tokens], [self.task.again(tokens, self.task.T)])
        return self._answer([run]) if name == "answer" else self._step_row(stated[name], [run])


# A rounded bit 3 phi(z - 1/3) - 3 phi(z - 2/3) is off by at most 6u (u the unit roundoff: terms of size 2 and 1, each
# rounded twice), a sign 2x - 1 by 13u, a product of two signs by 27u, a score of 2 w_pos + 1 of them by as many times
# that and its own summation. Scores differ by 1, so that each may be off by less than 1/2.
def _require_precision(dtype: torch.dtype, w_pos: int) -> None:
    products = 2 * w_pos + 1
    error = products * (27 + products) * torch.finfo(dtype).eps / 2
    if error >= 0.5:
        raise UsageError(
            f"machines.turing: in {str(dtype).removeprefix('torch.')} a score of {products} products may be off by "
            f"{error:.2g}, and scores lead by 1; take --dtype float32"
        )


class TuringStudy(Study):
    """Appendix C for one machine and one input."""

    result = theory.TURING
    main_quantity = "answer"
    implied = ("input",)
    fixed = ("T", "work")

    def case(self, params: Mapping[str, Any], *, seed: int, dtype: str, device: str) -> TuringCase:
        for name in ("machine", "input"):
            if name in params and not isinstance(params[name], str):
                raise UsageError(f'{self.result.id}: {name} = {params[name]!r} is no text; write {name}="..."')
        resolved = self.resolved(params)
        resolved.setdefault("input", INPUTS.get(resolved["machine"], ""))
        task = task_of(resolved["machine"], resolved["input"], resolved["T"])
        return TuringCase(self.result, resolved, task, dtype=dtype, device=device)
