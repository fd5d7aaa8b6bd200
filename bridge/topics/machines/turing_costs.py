"""Width, depth and norms of one built transformer beside the counted formulas and the printed orders."""

from collections.abc import Callable, Mapping
from functools import cache

import sympy as sp

from bridge.theorems.check import Sides
from bridge.theorems.record import NamedTable
from numeric.topics.machines.decoder_sizes import decoder_sizes
from numeric.topics.machines.simulation import SimulatingDecoder
from symbolic.statements.landau import Constant
from symbolic.statements.result import Quantity
from symbolic.topics.machines import turing as theory
from symbolic.topics.machines import turing_counts as counts

BUILT = "measured: the dense parameters of this network"
LETTERS = {
    counts.Z: "states",
    counts.A: "symbols",
    counts.w_pos: "bits of a position",
    counts.moving: "transitions that move the head",
    counts.answers: "terminal states",
}


def letters(network: SimulatingDecoder) -> dict[sp.Symbol, int]:
    """The values of the letters of the counted formulas."""
    machine = network.machine
    return {
        counts.Z: len(machine.states),
        counts.A: len(machine.alphabet),
        counts.w_pos: network.w_pos,
        counts.moving: sum(move != 0 for _, _, move in machine.transitions.values()),
        counts.answers: len(machine.terminal),
    }


def sizes(network: SimulatingDecoder) -> dict[str, float]:
    """Those of the network, by the names of their quantities."""
    return decoder_sizes(network, counts.PARTS)


def cost(quantity: Quantity) -> Callable[..., Sides]:
    """Counted against built: they are equal or one is wrong. Printed: the largest ratio over the whole range."""

    def sides(sizes: Mapping[str, float]) -> Sides:
        return Sides(int(sizes[quantity.name]), constant=constant_of(quantity.name), remark=BUILT)

    return sides


@cache
def constant_of(name: str) -> Constant | None:
    quantity = theory.TURING.quantity(name)
    return None if quantity.printed is None else counts.constant(quantity.closed_form, quantity.printed.bound)


def cost_table(network: SimulatingDecoder, sizes: Mapping[str, float]) -> NamedTable:
    """The size in the network and by its formula, the printed order and its constant; the long formulas come last."""
    at = letters(network)
    rows: list[list[str | int | float | None]] = []
    for quantity in theory.COSTS:
        limit = constant_of(quantity.name)
        rows.append(
            [
                quantity.name,
                int(sizes[quantity.name]),
                int(quantity.closed_form.subs(at)),
                "poly" if quantity.printed is None else f"O({sp.sstr(quantity.printed.bound)})",
                "-" if limit is None else str(limit.value),
                sp.sstr(quantity.closed_form),
            ]
        )
    here = ", ".join(f"`{letter} = {value}` {LETTERS[letter]}" for letter, value in at.items())
    over = ", ".join(f"`{letter} >= {value}`" for letter, value in counts.LEAST.items())
    return NamedTable(
        title=f"size of this network: {here}; the column ``largest ratio`` is the supremum of the quotient "
        f"formula/printed over all {over}, or an upper bound on this supremum",
        columns=["quantity", "in the network", "by the formula", "printed", "largest ratio", "formula"],
        rows=rows,
    )
