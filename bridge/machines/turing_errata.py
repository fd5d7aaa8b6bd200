"""Two definitions of Appendix C.1: the bits w_pos of a position and the width w_TM, with witnesses."""

from collections.abc import Mapping
from dataclasses import replace

import sympy as sp
import torch
from torch import Tensor

from bridge.export.numbers import plain
from bridge.machines.turing_costs import letters
from bridge.record import Row, Verdict, Witness
from bridge.rows import direct_row
from bridge.study import DirectCase, Inputs
from numeric.machines.simulation import SimulatingDecoder
from symbolic.machines import turing as theory
from symbolic.machines import turing_counts as counts
from symbolic.statements import Quantity, UsageError

LEAST_STEPS = 2  # of w_pos: ceil(log_2 T) bits are none at T = 1


def definition_rows(case: DirectCase, T: int, network: SimulatingDecoder) -> list[Row]:
    """w_pos at T, and at the largest power of two below it; w_TM along |Z| = |A|."""
    power = 1 << (max(LEAST_STEPS, T).bit_length() - 1)
    own = [] if power >= T else [_width_bits(case, T)]
    return [*own, _width_bits(case, power), _pair(case, network, 1, 1)]


def replayed_definition(case: DirectCase, network: SimulatingDecoder, name: str, inputs: Inputs) -> Row | None:
    """The row again from the inputs of a witness; None for any other name. Raises UsageError."""
    if name == "width_bits":
        return _width_bits(case, _whole(case, inputs, "T", LEAST_STEPS))
    if name == "pair":
        return _pair(case, network, _whole(case, inputs, "Z", 1), _whole(case, inputs, "A", 1))
    return None


def _whole(case: DirectCase, inputs: Inputs, name: str, least: int) -> int:
    numbers = inputs[name].flatten().tolist() if name in inputs else []
    if len(numbers) != 1 or not least <= numbers[0] < 2**53 or numbers[0] != int(numbers[0]):
        raise UsageError(f"{case.result.id}: the witness needs one whole number {name} >= {least}")
    return int(numbers[0])


def witness_of(
    case: DirectCase, name: str, error: float, inputs: Mapping[str, Tensor], printed: float | None = None
) -> Witness:
    return Witness(
        result=case.result.id,
        quantity=name,
        params=case.full_params,
        inputs={key: value.tolist() for key, value in inputs.items()},
        error_lower=error,
        bounds={} if printed is None else {"printed": printed},
    )


def _width_bits(case: DirectCase, largest: int) -> Row:
    """Printed and derived bits against the length of the number; a row at a T that is not the run's names it."""
    quantity, elsewhere = case.result.quantity("width_bits"), largest != case.params["T"]
    if elsewhere:
        quantity = replace(quantity, construction=f"T = {largest}")
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
        params={} if elsewhere else None,
        witness=witness_of(case, "width_bits", float(needed), numbers, printed=float(printed)) if refuted else None,
    )


def _pair(case: DirectCase, network: SimulatingDecoder, states: int, symbols: int) -> Row:
    """Along |Z| = a t, |A| = b t the rows of W_1 exceed every multiple of w_TM; they exceed w_TM by |Z||A|."""
    quantity, at = case.result.quantity("pair"), letters(network)
    limit = _rows_over_width(states, symbols)
    grows = limit == sp.oo
    numbers = {name: torch.tensor([float(each)], dtype=torch.float64) for name, each in (("Z", states), ("A", symbols))}
    width, rows = (float(bound.subs(at)) for bound in (_bound(quantity), quantity.closed_form))
    along = "|Z| = |A| = t" if states == symbols == 1 else f"|Z| = {states} t, |A| = {symbols} t"
    return direct_row(
        case,
        quantity,
        {"printed": Verdict.VIOLATED if grows else Verdict.UNDECIDED},
        derived=rows,
        remark=f"with the constant 1 in w_scr, w_TM is {plain(width)}; along {along} the ratio of rows to w_TM tends "
        f"to {limit}",
        witness=witness_of(case, "pair", rows - width, numbers) if grows else None,
    )


def _rows_over_width(states: int, symbols: int) -> sp.Expr:
    t = sp.Symbol("t", positive=True)
    return sp.limit((counts.PAIR_ROWS / counts.W_TM).subs({counts.Z: states * t, counts.A: symbols * t}), t, sp.oo)


def _bound(quantity: Quantity) -> sp.Expr:
    assert quantity.printed is not None  # both are
    return quantity.printed.bound
