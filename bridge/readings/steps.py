"""The table of a derivation at a prompt: size, error and bound of each step, and what decides the bound."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import sympy as sp
import torch

from bridge.lowering.conditions import truth
from bridge.readings.arrays import NORMS, Array
from bridge.readings.enclosed import LEFT
from bridge.readings.numbers import surely_wrong
from bridge.readings.operands import Emulated, Operands, as_operand, handles_of
from bridge.readings.reading import Reading, enclose, read_errors
from bridge.readings.values import read
from numeric.balls import BallArray, float_above, float_below, working_precision
from numeric.balls.budget import OperationLimit, spending
from numeric.balls.digits import apart
from numeric.balls.limits import DEFAULT_LIMIT, OPERATIONS_PER_SCALAR, TooLargeForExact, TooManyBallOperations
from symbolic.calculus.repetition import Repetition
from symbolic.derivations.derivation import UNIT_ROUNDING, Approximated, Derivation, Norm, Step
from symbolic.words.errors import UsageError
from symbolic.words.shown import screen

BITS = 128
NUMBERS = ("size", "error", "bound", "ratio")
HEADER = ("step", "rule", "norm", "size", "error", "bound", "ratio", "by", "")
TOLERANCE = 1e-12  # relative: letters may be rounded
ROUNDED = 2.0**-50  # relative to the size of the exact value: so may the entries of a pair
SLACK = 1e-9  # of float64 runs, where an error above its bound is not a rounding


@dataclass(frozen=True)
class StepAtPrompt:
    """A step: its norm, the norm of its exact value, the error of the emulated one, and the bound; None where unknown.

    `by` says what decides the bound: the enclosure of this prompt, or the rule at the bounds of the premises.
    """

    name: str
    rule: str
    norm: Norm
    exact: Array | None
    size: float | None
    error: float | None
    bound: float | None
    by: str = ""
    stopped: str = ""

    @property
    def ratio(self) -> float | None:
        """The bound over the error."""
        return self.bound / self.error if self.bound and self.error else None

    def __repr__(self) -> str:
        filled = zip(HEADER[2:], self.cells[2:], strict=True)
        return f"<{self.name}, {self.rule}: {', '.join(f'{name} {x}'.strip() for name, x in filled if x)}>"

    @property
    def record(self) -> dict[str, Any]:
        """The row without its exact value, as JSON holds it."""
        numbers = {name: getattr(self, name) for name in NUMBERS}
        about = {"step": self.name, "rule": self.rule, "norm": str(self.norm)}
        return {**about, **numbers, "by": self.by, "stopped": self.stopped}

    @property
    def cells(self) -> tuple[str, ...]:
        """The row in words."""
        found = (getattr(self, name) for name in NUMBERS)
        numbers = ("-" if each is None else f"{each:.4g}" for each in found)
        return self.name, self.rule, self.norm.value, *numbers, self.by or "-", self.stopped


@dataclass(frozen=True)
class Steps:
    """All steps, in order. `proved`: computed on balls and rounded up; else in float64."""

    rows: tuple[StepAtPrompt, ...]
    proved: bool = False

    def __getitem__(self, name: str) -> StepAtPrompt:
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(f"no step '{name}'; there are {', '.join(row.name for row in self.rows)}")

    def __iter__(self) -> Iterator[StepAtPrompt]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def filled(self) -> tuple[list[tuple[str, bool]], list[list[str]]]:
        """The headings of the columns that some row fills, each with whether it has numbers; and the rows."""
        columns = [place for place, _ in enumerate(HEADER) if any(row.cells[place] for row in self)]
        headings = [(HEADER[place], HEADER[place] in NUMBERS) for place in columns]
        return headings, [[row.cells[place] for place in columns] for row in self]

    def __repr__(self) -> str:
        return f"<Steps: {len(self)}, the last one {self.rows[-1]!r}>" if self.rows else "<Steps: none>"

    def __str__(self) -> str:
        lines = [HEADER, *(row.cells for row in self.rows)]
        widths = [max(len(line[column]) for line in lines) for column in range(len(HEADER))]
        return "\n".join("  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in lines)

    def _repr_html_(self) -> str:
        rows = [_html(HEADER, "th"), *(_html(row.cells, "td") for row in self.rows)]
        return screen(f"<table>{''.join(rows)}</table>")


def _html(cells: tuple[str, ...], tag: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"


def at(
    derived: Approximated | Derivation,
    operands: Mapping[str, Any],
    letters: Mapping[sp.Symbol, Any] | None = None,
    *,
    bits: int | None = None,
    local: bool = True,
    limit: int = DEFAULT_LIMIT,
) -> Steps:
    """The steps of a derivation at one prompt, those of a repetition layer by layer.

    `operands` binds the handles: arrays (..., m), matrices, functions (`Smooth`, or a plain one), or a pair
    `Emulated(exact, emulated)`; `letters` the symbols. With `bits` all of it runs on balls, and each bound is proved;
    without, in float64. `local`: approximants are known at each argument, not by their supremum alone. `limit` is the
    largest number of ball operations.

    Raises UsageError for a handle that nothing binds, or that no step names; for an operand whose shape does not fit;
    for operands and letters that do not meet the hypotheses of a step; and for sizes that are too large for balls.
    """
    derivation = derived.derivation if isinstance(derived, Approximated) else derived
    require_bound(derivation.steps, operands)
    budget = OperationLimit(limit, OPERATIONS_PER_SCALAR, lambda spent: TooManyBallOperations("at", spent, limit))
    with working_precision(bits or BITS), spending(budget):
        known = {name: as_operand(each, bits) for name, each in operands.items()}
        try:
            return table(derivation, Operands(known, dict(letters or {}), bits), local=local)
        except TooLargeForExact as error:
            raise UsageError(
                f"the steps are too large for exact arithmetic: they take more than {limit:,} ball operations; take a "
                f"smaller prompt, leave out bits, or raise limit"
            ) from error


def require_bound(steps: tuple[Step, ...], operands: Mapping[str, Any]) -> None:
    """Raises UsageError for handles that nothing binds, and for bound ones that no step names."""
    wanted = handles_of(steps)
    missing = [f"'{name}' (step '{step}')" for name, step in wanted.items() if name not in operands]
    unknown = [f"'{name}'" for name in operands if name not in wanted]
    complaints = [
        *([f"nothing binds {', '.join(missing)}"] if missing else []),
        *([f"no step names {', '.join(unknown)}"] if unknown else []),
    ]
    if complaints:
        raise UsageError(f"{'; '.join(complaints)}; the handles are {', '.join(sorted(wanted)) or 'none'}")


def table(derivation: Derivation, operands: Operands, *, local: bool = True) -> Steps:
    """The steps at bound operands."""
    values = read(derivation, operands)
    for step in derivation.steps:
        require_hypotheses(step, values.get(step.name), operands)
    wrong = surely_wrong(derivation, operands, values)
    if wrong:
        raise UsageError(f"the numbers given to the rules are not those of the operands: {next(iter(wrong.values()))}")
    reading = read_errors(derivation, operands, local=local)
    rows = [row for step in derivation.steps for row in (*_layers(step, values, reading), _row(step, values, reading))]
    return Steps(tuple(rows), proved=operands.bits is not None)


def _layers(step: Step, values: Mapping[str, Emulated], reading: Reading) -> Iterator[StepAtPrompt]:
    """The steps inside a repetition, layer by layer."""
    operation = step.operation
    if not isinstance(operation, Repetition) or step.name not in values or step.name not in reading.steps:
        return
    (start,), premise, layer = step.premises, operation.premise, operation.layer
    value, known = values[start], reading.steps[start]
    for place in reading.at.operands.within(step).layers(operation.depth):
        at = reading.at.within(step).in_layer(place, operation.index)
        here = replace(at.operands, bound={**at.operands.bound, premise: value})
        inner_values = read(layer.derivation, here, [layer.name])
        inner = enclose(layer.derivation, at, [layer.name], known={premise: known})
        for each in layer.derivation.leading_to(layer.name):
            if each.name != premise:
                row = _row(each, inner_values, inner)
                yield replace(row, name=f"{step.name}, layer {place + 1}: {each.name}")
        value, known = inner_values[layer.name], inner.steps[layer.name]


# A rule relies on the sizes and errors of givens, and on the obligations that it has met.
def require_hypotheses(step: Step, value: Emulated | None, operands: Operands) -> None:
    """Raises UsageError for a prompt outside the hypotheses of the step, as far as its letters are known."""
    if step.rule == "given" and value is not None:
        size = _require_at_most(step, "size", value.exact, step.about[1], operands)
        _require_at_most(step, "error", value.emulated - value.exact, step.local, operands, ROUNDED * size)
        _require_weights(step, value)
    numbers = {s: x for s, x in operands.letters.items() if isinstance(x, int | float | sp.Rational)}
    violated = [each.statement for each in step.obligations if truth(each.condition, numbers) is False]
    if violated:
        raise UsageError(f"a hypothesis of step '{step.name}' is not met here: {violated[0]}")


def _require_at_most(
    step: Step, what: str, array: Array, bound: Any, operands: Operands, rounded: float = 0.0
) -> float:
    """The norm of the array. Raises UsageError where it is certainly above the bound by more than was rounded."""
    allowed, found = _number(bound, operands), _below(NORMS[step.norm](array))
    if allowed is not None and found > allowed * (1 + TOLERANCE + _of_norm(array)) + rounded * bool(allowed):
        here, most = apart(found, allowed)
        raise UsageError(
            f"a hypothesis is not met here: '{step.name}' has the {what} {here} in the {step.norm}-norm, "
            f"above {bound}{'' if sp.sympify(bound, strict=True).is_number else f' = {most}'}"
        )
    return found


# Each of m squares or absolute values is rounded once and enters m - 1 sums of numbers >= 0; a square root and a
# product with the unit follow: to first order (m + 2) u, u = 2^-53, for the norms of m entries. Twice that covers the
# rest.
def _of_norm(array: Array) -> float:
    """The largest relative rounding of the norm of a token in float64; balls are not rounded."""
    entries = array.shape[-1] if array.ndim else 1
    return 0.0 if isinstance(array, BallArray) else 2 * (entries + 2) * 2.0**-53


def _require_weights(step: Step, value: Emulated) -> None:
    """Raises UsageError for a given that holds no weights, though the derivation says so."""
    *_, probabilities, affine = step.about
    sides = [("exact", value.exact, probabilities), ("emulated", value.emulated, probabilities or affine)]
    for side, array, signed in sides if probabilities or affine else ():
        off, least = _below(abs(array.sum(-1) - 1)), _below(-array)
        if off > UNIT_ROUNDING or (signed and least > 0):
            wrong = f"misses the sum 1 by {off:.3g}" if off > UNIT_ROUNDING else f"has an entry {-least:.3g}"
            raise UsageError(f"a hypothesis is not met here: '{step.name}' holds weights, but its {side} value {wrong}")


def _number(bound: Any, operands: Operands) -> float | None:
    if not isinstance(bound, sp.Expr) or bound.free_symbols - set(operands.letters):
        return None
    return _above(operands.scalar(bound, {}))


def _row(step: Step, values: Mapping[str, Emulated], reading: Reading) -> StepAtPrompt:
    here, norm = values.get(step.name), NORMS[step.norm]
    bound = reading.bound(step.name)
    above = None if bound is None else _above(bound)
    if here is not None and bound is not None:
        _require_kept(step, norm(here.emulated - here.exact), bound, _above(norm(here.exact)))
    return StepAtPrompt(
        step.name,
        step.rule,
        step.norm,
        None if here is None else here.exact,
        None if here is None else _above(norm(here.exact)),
        None if here is None else 0.0 if here.emulated is here.exact else _above(norm(here.emulated - here.exact)),
        above if above is None or above < torch.inf else None,
        _decided_by(step, reading),
        _stopped(step, reading),
    )


def _stopped(step: Step, reading: Reading) -> str:
    return reading.stops.get(step.name, LEFT if step.name in reading.beyond else "")


# The rules are proved: where the error is above the bound, a number that they were given is not that of the operands.
def _require_kept(step: Step, errors: Array, bound: Array, size: float) -> None:
    """Raises UsageError for an error that is certainly above the bound; in floats, by more than rounding."""
    error = torch.amax(errors.reshape(-1), 0)
    if isinstance(error, BallArray):
        above = bool(error.balls[0] > bound.balls[0])
    else:
        above = bool(error > bound * (1 + SLACK) + SLACK * size)
    if above:
        excess, found = _above(error - bound), _above(error)
        rounded = f"by {excess:.3g} (a float such as 0.1 is not 1/10 and enters exactly)"
        here, most = (f"{found:.6g}", rounded) if excess <= SLACK * found else apart(found, _above(bound))
        raise UsageError(
            f"step '{step.name}' errs by {here} at this prompt, above its bound {most}: the numbers given "
            f"to rule '{step.rule}', or to one before it, are not those of the operands"
        )


def _decided_by(step: Step, reading: Reading) -> str:
    enclosure, rule = reading.by_enclosure(step), reading.by_rule(step)
    if enclosure is None or rule is None:
        return "enclosure" if enclosure is not None else "" if rule is None else "rule"
    return "rule" if _above(rule) < _above(enclosure) else "enclosure"


def _below(tokens: Array) -> float:
    """The largest of all tokens, rounded down if these are balls."""
    found = torch.amax(tokens.reshape(-1), 0)
    return float_below(found.balls[0]) if isinstance(found, BallArray) else float(found)


def _above(tokens: Array) -> float:
    """The largest of all tokens, rounded up if these are balls."""
    found = torch.amax(tokens.reshape(-1), 0)
    return float_above(found.balls[0]) if isinstance(found, BallArray) else float(found)
