"""What Appendix C prints and does not hold: the start, the bits of a position, the width w_TM; with witnesses."""

from collections.abc import Mapping

import sympy as sp
import torch
from torch import Tensor

from bridge.machines.turing_costs import letters
from bridge.machines.turing_runs import Task, as_tensor, as_tokens, first_symbol_is_blank, side_by_side
from bridge.record import Row, Verdict, Witness
from bridge.rows import direct_row
from bridge.study import DirectCase, Inputs
from numeric.machines.simulation import SimulatingDecoder
from numeric.machines.transformer import simulating_decoder
from symbolic.machines import turing as theory
from symbolic.machines import turing_counts as counts
from symbolic.statements import Quantity, UsageError

INVARIANT = ("state", "location", "symbol")  # what (C.2) says of o_i
FEW_STEPS = 64  # of the network whose first one is wrong already
Words = tuple[str, ...]


def slip_rows(case: DirectCase, task: Task, network: SimulatingDecoder) -> list[Row]:
    """The three of them: on two inputs that begin differently, at the largest power of two <= T, along |Z| = |A|."""
    machine = task.machine
    other = next((symbol for symbol in machine.alphabet if symbol != machine.blank), machine.blank)
    first = other if first_symbol_is_blank(task) else task.tokens[0]
    second = next((symbol for symbol in machine.alphabet if symbol != first), first)
    power = 1 << (max(2, task.T).bit_length() - 1)
    return [
        _start(case, task, {"first": (first,), "second": (second,)}),
        _width_bits(case, power),
        _pair(case, network, 1, 1),
    ]


def replayed_slip(case: DirectCase, task: Task, network: SimulatingDecoder, name: str, inputs: Inputs) -> Row | None:
    """The row again from a witness's inputs; None for a name that is none of these. Raises UsageError."""
    if name == "start":
        if set(inputs) != {"first", "second"}:
            raise UsageError(f"{case.result.id}: the witness of 'start' gives two inputs, first and second")
        return _start(case, task, {key: as_tokens(task.machine, value, key) for key, value in inputs.items()})
    if name == "width_bits":
        return _width_bits(case, _whole(case, inputs, "T", 2))
    if name == "pair":
        return _pair(case, network, _whole(case, inputs, "Z", 1), _whole(case, inputs, "A", 1))
    return None


def _whole(case: DirectCase, inputs: Inputs, name: str, least: int) -> int:
    numbers = inputs[name].flatten().tolist() if name in inputs else []
    if len(numbers) != 1 or not least <= numbers[0] < 2**53 or numbers[0] != int(numbers[0]):
        raise UsageError(f"{case.result.id}: the witness needs one whole number {name} >= {least}")
    return int(numbers[0])


def witness_of(case: DirectCase, name: str, error: float, inputs: Mapping[str, Tensor]) -> Witness:
    return Witness(
        result=case.result.id,
        quantity=name,
        params=case.full_params,
        inputs={key: value.tolist() for key, value in inputs.items()},
        error_lower=error,
        bounds={"printed": 0.0},
    )


# o_0 is one vector for all inputs, and (C.2) at i = 0 wants o_0^sym1 = 1(x_1): of two inputs whose first symbols differ
# one is told wrong, whatever o_0 is. The network here has the blank there.
def _start(case: DirectCase, task: Task, inputs: Mapping[str, Words]) -> Row:
    steps = min(task.T, FEW_STEPS)
    network = simulating_decoder(task.machine, steps, start="printed")
    traces = [task.again(tokens, steps) for tokens in inputs.values()]
    run = side_by_side(network, list(inputs.values()), traces, dtype=case.dtype, device=case.device)
    held = network.decoder.initial[network.decoder.stream.slice("sym1")]
    at_once = sum(bool(held[trace.symbol[0]] != 1.0) for trace in traces)
    later = max(run.agreement.differences[tap] for tap in INVARIANT)
    refuted = len({int(trace.symbol[0]) for trace in traces}) > 1
    numbers = {key: as_tensor(task.machine, tokens) for key, tokens in inputs.items()}
    words = " and ".join(f"'{' '.join(tokens)}'" for tokens in inputs.values())
    return direct_row(
        case,
        case.result.quantity("start"),
        {"printed": Verdict.VIOLATED if refuted else Verdict.UNDECIDED},
        printed=0.0,
        measured=float(at_once + later),
        remark=f"on {words}: {at_once} wrong at i = 0, {later} later",
        witness=witness_of(case, "start", 1.0, numbers) if refuted else None,
    )


def _width_bits(case: DirectCase, largest: int) -> Row:
    """What is printed, what is derived, and how long the number really is."""
    quantity = case.result.quantity("width_bits")
    printed, derived = (int(each.subs(theory.T, largest)) for each in (_bound(quantity), quantity.closed_form))
    needed = largest.bit_length()
    refuted = printed < needed
    verdict = {
        "printed": Verdict.VIOLATED if refuted else Verdict.KEPT,
        "derived": Verdict.KEPT if derived == needed else Verdict.UNDECIDED,
    }
    numbers = {"T": torch.tensor([float(largest)], dtype=torch.float64)}
    return direct_row(
        case,
        quantity,
        verdict,
        printed=float(printed),
        derived=float(derived),
        measured=float(needed),
        remark=f"at T = {largest}",
        witness=witness_of(case, "width_bits", float(needed), numbers) if refuted else None,
    )


def _pair(case: DirectCase, network: SimulatingDecoder, states: int, symbols: int) -> Row:
    """Along |Z| = a t, |A| = b t the rows of W_1 outgrow w_TM: no constant in the O of w_scr helps."""
    limit = _rows_over_width(states, symbols)
    quantity, at = case.result.quantity("pair"), letters(network)
    grows = limit == sp.oo
    numbers = {name: torch.tensor([float(each)], dtype=torch.float64) for name, each in (("Z", states), ("A", symbols))}
    return direct_row(
        case,
        quantity,
        {"printed": Verdict.VIOLATED if grows else Verdict.UNDECIDED},
        printed=float(_bound(quantity).subs(at)),
        derived=float(quantity.closed_form.subs(at)),
        remark=f"along |Z| = {states} t, |A| = {symbols} t the ratio tends to {limit} with t",
        witness=witness_of(case, "pair", 0.0, numbers) if grows else None,
    )


def _rows_over_width(states: int, symbols: int) -> sp.Expr:
    t = sp.Symbol("t", positive=True)
    return sp.limit((counts.PAIR_ROWS / counts.W_TM).subs({counts.Z: states * t, counts.A: symbols * t}), t, sp.oo)


def _bound(quantity: Quantity) -> sp.Expr:
    assert quantity.printed is not None  # each of the three is
    return quantity.printed.bound
