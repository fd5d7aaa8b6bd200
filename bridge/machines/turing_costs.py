"""Width, depth and norms of one built transformer beside the counted formulas and the printed orders."""

from collections.abc import Mapping

import numpy as np
import sympy as sp

from bridge.export.numbers import plain
from bridge.record import NamedTable, Row, Verdict
from bridge.rows import direct_row
from bridge.study import Case
from numeric.machines.simulation import SimulatingDecoder
from symbolic.machines import turing_counts as counts
from symbolic.statements import Quantity

OWN_FIRST = ("C.1", "C.2", "C.5", "C.6", "C.8")  # lemmas that include W_1; the others only have the attention

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


def built(network: SimulatingDecoder) -> dict[str, float]:
    """The same quantities, read off the dense parameters of the network."""
    decoder = network.decoder
    norms = {name: float(np.abs(array).sum()) for name, array in decoder.arrays.items()}
    location = float(decoder.initial[decoder.stream.slice("pos2")].sum())  # as many ones as the number of the cell has
    return {
        "width": float(decoder.stream.width),
        "depth": float(len(decoder.layers)),
        **{f"norm[{label}]": norm for label, norm in _norms(network, norms).items()},
        "norm": sum(norms.values()) - location,
        "parameters": float(sum(int(np.prod(shape)) for shape in decoder.shapes.values())),
    }


def _norms(network: SimulatingDecoder, norms: Mapping[str, float]) -> dict[str, float]:
    """||theta||_1 of each lemma: its attentions, and W_1 where the lemma speaks of it."""
    own, whole = dict[str, list[float]](), dict[str, list[float]]()
    for k, layer in enumerate(network.decoder.layers, start=1):
        label = layer.lemma.split()[-1]
        attention = _under(norms, f"layer[{k}].decoder.") + _under(norms, f"layer[{k}].encoder.")
        first = _under(norms, f"layer[{k}].ff[1].")
        own.setdefault(label, []).append(attention + (first if label in OWN_FIRST else 0.0))
        whole.setdefault(label, []).append(attention + first)
    found = {label: own[label][-1] if label == "C.5" else sum(own[label]) for label in own}
    return {**found, "C.3": sum(sum(whole[label]) for label in counts.PARTS["C.3"])}


def _under(norms: Mapping[str, float], prefix: str) -> float:
    return sum((norm for name, norm in norms.items() if name.startswith(prefix)), start=0.0)


def cost_rows(case: Case, network: SimulatingDecoder, quantities: tuple[Quantity, ...]) -> list[Row]:
    at, seen = letters(network), built(network)
    return [_row(case, quantity, at, seen[quantity.name]) for quantity in quantities]


def _row(case: Case, quantity: Quantity, at: Mapping[sp.Symbol, int], seen: float) -> Row:
    """Counted against built: they are equal or one is wrong. Printed: the largest ratio over the whole range."""
    counted = float(quantity.closed_form.subs(at))
    verdict = {"derived": Verdict.KEPT if counted == seen else Verdict.VIOLATED}
    equal = "equal to" if counted == seen else "different from"
    remark = f"{equal} the dense parameters of this network"
    order = None
    if quantity.printed is not None:
        limit = counts.constant(quantity.closed_form, quantity.printed.bound)
        order = float(quantity.printed.bound.subs(at))
        verdict["printed"] = Verdict.CONSISTENT if limit.value.is_finite else Verdict.UNDECIDED
        here = f"derived over printed is {plain(counted / order)} here"
        remark = f"printed: the expression inside O; {constant_words(limit)}; {here}; {remark}"
    return direct_row(case, quantity, verdict, printed=order, derived=counted, measured=seen, remark=remark)


def constant_words(limit: counts.Constant) -> str:
    """The constant that O needs over the whole range."""
    if not limit.value.is_finite:
        return "no constant suffices"
    which = "the least constant" if limit.sharp else "a sufficient constant"
    return f"{which} for all {_least_sizes()} is {limit.value}"


def _least_sizes() -> str:
    return ", ".join(f"{letter} >= {value}" for letter, value in counts.LEAST.items())


def cost_table(network: SimulatingDecoder, quantities: tuple[Quantity, ...]) -> NamedTable:
    """The size in the network and by its formula, the printed order and its constant; the long formulas come last."""
    at, seen = letters(network), built(network)
    rows: list[list[str | int | float | None]] = []
    for quantity in quantities:
        printed = quantity.printed
        limit = None if printed is None else counts.constant(quantity.closed_form, printed.bound)
        rows.append(
            [
                quantity.name,
                int(seen[quantity.name]),
                int(quantity.closed_form.subs(at)),
                "poly" if printed is None else f"O({sp.sstr(printed.bound)})",
                "-" if limit is None else str(limit.value),
                sp.sstr(quantity.closed_form),
            ]
        )
    here = ", ".join(f"{letter} = {value} {LETTERS[letter]}" for letter, value in at.items())
    return NamedTable(
        title=f"size of this network: {here}; the column `largest ratio` is the supremum of the quotient "
        f"formula/printed over all {_least_sizes()}, or an upper bound on this supremum",
        columns=["quantity", "in the network", "by the formula", "printed", "largest ratio", "formula"],
        rows=rows,
    )
