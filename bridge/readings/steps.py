"""The table of a derivation at a prompt: exact value, error and bound of each step."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp
import torch

from bridge.readings.arrays import Array, largest, one_norm, two_norm
from bridge.readings.enclosing import Instance
from bridge.readings.functions import Smooth
from bridge.readings.operands import Emulated, Operands
from bridge.readings.reading import Reading, enclose
from bridge.readings.values import read
from numeric.balls import BallArray, float_above, working_precision
from symbolic.derivation import Approximated, Derivation, Norm

BITS = 128


@dataclass(frozen=True)
class StepAtPrompt:
    """A step: its norm, its exact value, the error of the emulated one there, and the bound; None where not known."""

    name: str
    rule: str
    norm: Norm
    exact: Array | None
    error: float | None
    bound: float | None
    stopped: str = ""

    @property
    def ratio(self) -> float | None:
        """The bound over the error."""
        return self.bound / self.error if self.bound is not None and self.error else None


@dataclass(frozen=True)
class Steps:
    """All steps, in order."""

    rows: tuple[StepAtPrompt, ...]

    def __getitem__(self, name: str) -> StepAtPrompt:
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(f"no step '{name}'; there are {', '.join(row.name for row in self.rows)}")

    def __str__(self) -> str:
        header = ("step", "rule", "norm", "error", "bound", "ratio", "")
        lines = [header, *(_cells(row) for row in self.rows)]
        widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
        return "\n".join("  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in lines)


def _cells(row: StepAtPrompt) -> tuple[str, ...]:
    numbers = ("" if each is None else f"{each:.4g}" for each in (row.error, row.bound, row.ratio))
    return row.name, row.rule, row.norm.value, *numbers, row.stopped


def at(
    derived: Approximated | Derivation,
    operands: Mapping[str, Any],
    letters: Mapping[sp.Symbol, Any] | None = None,
    *,
    bits: int | None = None,
    local: bool = True,
) -> Steps:
    """The steps of a derivation at one prompt.

    `operands` binds the handles: arrays (..., m), matrices, functions (`Smooth`, or a plain one), or a pair
    `Emulated(exact, emulated)`; `letters` the symbols. With `bits` all of it runs on balls, and each bound is proved;
    without, in float64. `local`: approximants are known at each argument, not by their supremum alone.

    Raises UsageError for a handle that nothing binds, or whose shape does not fit.
    """
    derivation = derived.derivation if isinstance(derived, Approximated) else derived
    known = {name: _as_array(each, bits) for name, each in operands.items()}
    bound = Operands(known, dict(letters or {}), bits)
    with working_precision(bits or BITS):
        values = read(derivation, bound)
        prompt = enclose(derivation, Instance(bound, local=False))
        reading = enclose(derivation, Instance(bound), coarser=prompt) if local else prompt
        return Steps(tuple(_row(step, values, reading) for step in derivation.steps))


def _as_array(operand: Any, bits: int | None) -> Any:
    if isinstance(operand, tuple):
        return tuple(_as_array(each, bits) for each in operand)
    if isinstance(operand, Emulated):
        return Emulated(_as_array(operand.exact, bits), _as_array(operand.emulated, bits))
    if callable(operand) or isinstance(operand, Smooth | BallArray):
        return operand
    if bits is not None:
        return BallArray.exactly(operand, bits)
    return torch.as_tensor(operand, dtype=torch.float64)


_NORMS = {Norm.INF: lambda a: largest(abs(a)), Norm.ONE: one_norm, Norm.TWO: two_norm}


def _row(step: Any, values: Mapping[str, Emulated], reading: Reading) -> StepAtPrompt:
    here = values.get(step.name)
    error = None if here is None else _above(_NORMS[step.norm](here.emulated - here.exact))
    bound = reading.bound(step.name)
    exact = None if here is None else here.exact
    above = None if bound is None else _above(bound)
    return StepAtPrompt(step.name, step.rule, step.norm, exact, error, above, reading.stops.get(step.name, ""))


def _above(tokens: Array) -> float:
    """The largest of all tokens, rounded up if these are balls."""
    found = torch.amax(tokens.reshape(-1), 0)
    return float_above(found.balls[0]) if isinstance(found, BallArray) else float(found)
