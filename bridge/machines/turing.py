"""The study of Appendix C: the transformer runs beside the reference simulator, step by step, quantity by quantity."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import torch

from bridge.balls import as_exact, evaluate_ball
from bridge.budget import Budget
from bridge.check_rows import check_rows, replayed_check
from bridge.export.numbers import plain
from bridge.machines.machine_files import written
from bridge.machines.turing_costs import cost_rows, cost_table
from bridge.machines.turing_errata import DEFINITIONS
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
from bridge.record import NamedTable, Row, Verdict, Witness
from bridge.rows import direct_row
from bridge.study import DirectCase, Inputs, Study
from numeric.balls import float_above
from numeric.machines.simulation import SimulatingDecoder
from numeric.machines.transformer import simulating_decoder
from symbolic.machines import temperature
from symbolic.machines import turing as theory
from symbolic.statements import Quantity, UsageError

TAPS = {"location": ("location", "next_location")}  # of the quantities whose taps have other names; search: search[j]
OURS = "the network that differs is the one built here"
Words = tuple[str, ...]  # an input
HALVINGS, HALVED_UP_TO = 6, 256  # of the inverse temperature, to see how much it has to spare; steps that are run so


class TuringCase(DirectCase):
    """One machine on one input, for T steps, and on random inputs beside it."""

    uses = frozenset({"samples", "seed", "dtype"})

    def __init__(self, result: Any, params: Mapping[str, Any], task: Task, *, dtype: str, device: str) -> None:
        """`params` as asked for; with T = 0 the case's own give the steps that the machine takes."""
        super().__init__(result, {**params, "T": task.T}, dtype=dtype, device=device)
        self.task, self.until_it_halts = task, params["T"] == 0
        _require_precision(self.dtype, self.network.w_pos)

    @cached_property
    def network(self) -> SimulatingDecoder:
        return simulating_decoder(self.task.machine, self.task.T)

    @property
    def known(self) -> dict[str, Any]:
        return {**self.params, "network": self.network}

    def rows(self, budget: Budget) -> list[Row]:
        drawn = random_inputs(self.task, budget.samples, self.params["work"], budget.seed)
        runs = [self._main, *([self._run(drawn.inputs, drawn.traces)] if drawn.inputs else [])]
        rows = [self._step_row(quantity, runs) for quantity in theory.STEPS]
        rows += [self._answer(runs), self._rounding(runs), *self._of_softmax(drawn)]
        for row in rows:
            row.samples, row.seed = 1 + len(drawn.inputs), budget.seed
            row.remark = "; ".join(filter(None, [row.remark, self._run_summary(drawn)]))
        definitions = [row for check in DEFINITIONS for row in check_rows(self, check, budget)]
        return [*rows, *definitions, *cost_rows(self, self.network, theory.COSTS)]

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

    def _run_summary(self, drawn: Drawn) -> str:
        """The runs behind `kept`."""
        asked = f"T = {self.task.T}, where the machine halts; " if self.until_it_halts else ""
        refused = f" ({drawn.refused} more leave the tape on the left)" if drawn.refused else ""
        return f"{asked}{self.task.T} steps on the input and on {len(drawn.inputs)} random ones{refused}"

    # What holds at each step.

    def _taps(self, quantity: Quantity) -> list[str]:
        if quantity.name == "search":
            return [name for name in self.network.decoder.taps if name.startswith("search[")]
        return list(TAPS.get(quantity.name, (quantity.name,)))

    def _step_row(self, quantity: Quantity, runs: Sequence[Outcome]) -> Row:
        taps = self._taps(quantity)
        wrong = [max(run.agreement.differences[tap] for tap in taps) for run in runs]
        return self._exact(quantity, sum(wrong), _first_difference(runs, taps))

    def _exact(self, quantity: Quantity, wrong: int, where: tuple[Words, str] | None, remark: str = "") -> Row:
        """A quantity that is 0 where network and simulator agree; `where`: an input on which they do not, as witness.

        The network is ours, and so is its temperature: what is derived for it is refuted by a difference in float64
        (in shorter formats rounding may cause it). What is printed is not: the paper's network might still agree.
        """
        tier, verdict, witness = "derived" if quantity.printed is None else "printed", Verdict.KEPT, None
        if wrong:
            ours_in_full = tier == "derived" and self.dtype is torch.float64
            verdict = Verdict.VIOLATED if ours_in_full else Verdict.UNDECIDED
        if wrong and where:
            tokens, place = where
            remark = "; ".join(filter(None, [place, remark, OURS]))
            witness = Witness(
                result=self.result.id,
                quantity=quantity.name,
                params=self.full_params,
                inputs={"input": as_tensor(self.task.machine, tokens).tolist()},
                error_lower=float(wrong),
                bounds={"printed": 0.0},
            )
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
        halted, wrong = sum(run.halted for run in runs), sum(run.answers for run in runs)
        return self._exact(theory.ANSWER, wrong, _first_answer(runs), f"{halted} of the inputs halt")

    def _rounding(self, runs: Sequence[Outcome]) -> Row:
        worst = max(run.agreement.rounding for run in runs)
        return direct_row(self, theory.ROUNDING, {}, measured=worst)

    # Softmax.

    def keys_of(self, inputs: Sequence[Words]) -> int:
        """Keys of the largest attention: the null key, and the decoder's steps or the encoder's symbols."""
        return 1 + max(self.network.steps, self.network.encode(inputs)[0].shape[1])

    def inverse_temperature(self, keys: int) -> float:
        """The computed one for so many keys, rounded up."""
        at = {temperature.keys: keys, temperature.eps: as_exact(self.params["eps"])}
        return float_above(evaluate_ball(temperature.sufficient().value, at))

    def _of_softmax(self, drawn: Drawn) -> list[Row]:
        inputs, traces = [self.task.tokens, *drawn.inputs], [self.task.trace, *drawn.traces]
        keys = self.keys_of(inputs)
        beta = self.inverse_temperature(keys)
        soft = self._run(inputs, traces, beta)
        softmax, leak, knob = (self.result.quantity(n) for n in ("softmax", "leak", "inverse_temperature"))
        return [
            self._soft(softmax, soft, _of_keys(beta, keys)),
            self._leak(leak, beta, keys),
            direct_row(
                self,
                knob,
                {"derived": Verdict.UNDECIDED if soft.differences else Verdict.KEPT},
                derived=beta,
                measured=self._least_seen(beta),
                remark=f"n = {keys}; measured: the least of beta, beta/2, beta/4, ... at which the input is exact",
            ),
        ]

    def _soft(self, quantity: Quantity, soft: Outcome, remark: str) -> Row:
        where = _first_difference([soft], list(soft.agreement.differences)) or _first_answer([soft])
        return self._exact(quantity, soft.differences + soft.answers, where, remark)

    def _leak(self, quantity: Quantity, beta: float, keys: int) -> Row:
        at = {temperature.keys: keys, temperature.inverse_temperature: as_exact(beta)}
        bound = float_above(evaluate_ball(quantity.general_bound(), at))
        steps = min(self.network.steps, LEAK_STEPS)
        seen = measured_leak(self.network, self.task.tokens, beta, self.device)
        return direct_row(
            self,
            quantity,
            {"derived": Verdict.KEPT if seen <= bound else Verdict.VIOLATED},
            derived=bound,
            measured=seen,
            remark=f"{_of_keys(beta, keys)}; measured in float64 over {steps} steps of the input",
        )

    def _least_seen(self, beta: float) -> float | None:
        """None where even beta fails, and where the runs would take long."""
        least = None
        for _ in range(HALVINGS if self.task.T <= HALVED_UP_TO else 0):
            if self._run([self.task.tokens], [self.task.trace], beta).differences:
                break
            least, beta = beta, beta / 2
        return least

    def replay_check(self, name: str, inputs: Inputs) -> Row:
        """A refuted row again, from its witness."""
        for check in DEFINITIONS:
            if check.name == name:
                return replayed_check(self, check, inputs)
        stated = {q.name: q for q in (*theory.STEPS, theory.ANSWER, self.result.quantity("softmax"))}
        if name not in stated or set(inputs) != {"input"}:
            return super().replay_check(name, inputs)
        tokens = as_tokens(self.task.machine, inputs["input"], "input")
        trace = self.task.again(tokens, self.task.T)
        if name == "softmax":
            beta = self.inverse_temperature(keys := self.keys_of([tokens]))
            return self._soft(stated[name], self._run([tokens], [trace], beta), _of_keys(beta, keys))
        run = self._run([tokens], [trace])
        return self._answer([run]) if name == "answer" else self._step_row(stated[name], [run])


def _first_difference(runs: Sequence[Outcome], taps: Sequence[str]) -> tuple[Words, str] | None:
    """An input on which one of these taps differs from the simulator, and the first step at which it does."""
    for run in runs:
        for tap in taps:
            if tap in run.agreement.first:
                row, step = run.agreement.first[tap]
                return tuple(run.inputs[row]), f"{tap} first differs in step {step} on '{written(run.inputs[row])}'"
    return None


def _of_keys(beta: float, keys: int) -> str:
    return f"beta = {plain(beta)} for n = {keys} keys"


def _first_answer(runs: Sequence[Outcome]) -> tuple[Words, str] | None:
    wrong = [run.inputs[run.wrong_answers[0]] for run in runs if run.wrong_answers]
    return (tuple(wrong[0]), f"wrong answer on '{written(wrong[0])}'") if wrong else None


# A rounded bit 3 phi(z - 1/3) - 3 phi(z - 2/3) is off by at most 6u (u the unit roundoff: terms of size 2 and 1, each
# rounded twice), a sign 2x - 1 by 13u, a product of two signs by 27u, a score of 2 w_pos + 1 of them by as many times
# that and its own summation. Scores differ by 1, so that each may be off by less than 1/2.
def _require_precision(dtype: torch.dtype, w_pos: int) -> None:
    products = 2 * w_pos + 1
    error = products * (27 + products) * torch.finfo(dtype).eps / 2
    if error >= 0.5:
        raise UsageError(
            f"machines.turing: in {str(dtype).removeprefix('torch.')} a score of {products} products may have an error "
            f"of {plain(error)}, and scores differ by 1; use --dtype float32"
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
                raise UsageError(f'{self.result.id}: {name} = {params[name]!r} is not text; write {name}="..."')
        resolved = self.resolved(params)
        resolved.setdefault("input", INPUTS.get(resolved["machine"], ""))
        task = task_of(resolved["machine"], resolved["input"], resolved["T"])
        return TuringCase(self.result, resolved, task, dtype=dtype, device=device)
