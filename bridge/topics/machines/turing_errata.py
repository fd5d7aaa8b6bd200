"""Two definitions of Appendix C.1 as checks: the bits w_pos of a position and the width w_TM."""

import sympy as sp
from torch import Tensor

from bridge.theorems.check import Check, Sides
from bridge.theorems.numbers import plain
from bridge.topics.machines.turing_costs import letters
from numeric.topics.machines.simulation import SimulatingDecoder
from symbolic.topics.machines import turing as theory
from symbolic.topics.machines import turing_counts as counts
from symbolic.words.errors import UsageError

LEAST_STEPS = 2  # of w_pos: ceil(log_2 T) bits are none at T = 1


def with_power_of_two(T: int) -> list[dict[str, list[float]]]:
    """T, and the largest power of two that is at most T."""
    power = 1 << (max(LEAST_STEPS, T).bit_length() - 1)
    return [{"T": [float(each)]} for each in ([T, power] if power < T else [power])]


def width_bits(T: int) -> Sides:
    """The length of the number T."""
    return Sides(_whole("T", T, LEAST_STEPS).bit_length(), remark=f"at `T = {T}`")


def pair(network: SimulatingDecoder, Z: Tensor, A: Tensor) -> Sides:
    """Along |Z| = Z t, |A| = A t the rows of W_1 exceed every multiple of w_TM; they exceed w_TM by |Z||A|."""
    states, symbols = _whole("Z", Z.item(), 1), _whole("A", A.item(), 1)
    limit = _rows_over_width(states, symbols)
    along = "`|Z| = |A| = t`" if states == symbols == 1 else f"`|Z| = {states} t`, `|A| = {symbols} t`"
    width = f"with the constant 1 in `w_scr`, `w_TM` is {plain(float(counts.W_TM.subs(letters(network))))}"
    remark = f"{width}; for {along} and `t -> oo` the number of rows of `W_1` divided by `w_TM` tends to {limit}"
    return Sides(limit=limit, remark=remark)


def _rows_over_width(states: int, symbols: int) -> sp.Expr:
    t = sp.Symbol("t", positive=True)
    return sp.limit((counts.PAIR_ROWS / counts.W_TM).subs({counts.Z: states * t, counts.A: symbols * t}), t, sp.oo)


def _whole(name: str, number: int | float, least: int) -> int:
    """Raises UsageError for a number of a witness that is not whole, or is too small."""
    if not least <= number < 2**53 or number != int(number):
        raise UsageError(f"{theory.TURING.id}: the witness needs one whole number {name} >= {least}")
    return int(number)


DEFINITIONS = (
    Check(theory.TURING.quantity("width_bits"), width_bits, with_power_of_two),
    Check(theory.TURING.quantity("pair"), pair, {"Z": [1.0], "A": [1.0]}),
)
