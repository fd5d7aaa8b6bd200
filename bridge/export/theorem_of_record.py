"""The theorem of a record, what it was compared with or the result of ours that it names, and its notation."""

from typing import Any

from bridge.theorems.record import Record
from symbolic.latex.typesetting import latex
from symbolic.statements.catalogue import RUNNING


def theorem_of(record: Record) -> Any:
    """None for a record that was read from a file and is in no catalogue."""
    if record.theorem is not None or record.result not in RUNNING:
        return record.theorem
    from bridge.theorems.registry import registered_theorem  # loads torch, for which formulas alone need not wait

    return registered_theorem(record.result)


def parameter_latex(record: Record, name: str) -> str:
    """The parameter in the paper's notation; "" where it has none."""
    theorem = theorem_of(record)
    symbols = {each.name: each.symbol for each in theorem.statement.parameters} if theorem else {}
    return latex(symbols[name], theorem.statement.notation) if symbols.get(name) is not None else ""
