"""Steps as JSON and back; `steps` beside it says what the fields of each mean."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import sympy as sp

from bridge.questions.certify.definedness import evaluated, is_finite_real
from bridge.questions.certify.expressions import fraction, from_record, shown, to_record
from bridge.questions.certify.step_neurons import ByNeurons
from bridge.questions.certify.steps import (
    ByAmgm,
    ByCases,
    ByFactors,
    ByLinear,
    ByLipschitz,
    ByLogs,
    ByMonotone,
    ByOrder,
    ByPiece,
    BySquares,
    BySum,
    ProofStep,
)
from symbolic.words.errors import UsageError

MOST = 10_000  # entries of a list, and the size of a whole number


@dataclass(frozen=True)
class _RecordPlace:
    """Where a record stands, and the letters that it may have."""

    where: str
    symbols: Mapping[str, sp.Symbol]

    def refuse(self, value: Any, expected: str) -> UsageError:
        return UsageError(f"{self.where}: {shown(value)} should be {expected}.")


class _Kind(NamedTuple):
    """A kind of field: how it is written, and how it is read."""

    write: Callable[[Any], Any]
    read: Callable[[Any, _RecordPlace], Any]


def _whole(value: Any, place: _RecordPlace) -> int:
    if type(value) is not int or abs(value) > MOST:
        raise place.refuse(value, "a whole number of moderate size")
    return value


def _letter(name: Any, place: _RecordPlace) -> sp.Symbol:
    if not isinstance(name, str) or name not in place.symbols:
        raise place.refuse(name, "a letter")
    return place.symbols[name]


def _expression(record: Any, place: _RecordPlace) -> sp.Expr:
    found = evaluated(from_record(record, place.symbols, place.where), {})
    if not is_finite_real(found):
        raise place.refuse(record, "a finite real expression")
    return found


def _entries(record: Any, place: _RecordPlace, length: int | None = None) -> list[Any]:
    if not isinstance(record, list) or len(record) > MOST or (length is not None and len(record) != length):
        raise place.refuse(record, f"a list of {length}" if length else "a list")
    return record


def _side(record: Any, place: _RecordPlace) -> tuple[str, Any]:
    kind, which = _entries(record, place, 2)
    if kind not in ("low", "high", "where"):
        raise place.refuse(record, "a side of the region")
    return kind, _whole(which, place) if kind == "where" else _letter(which, place)


WHOLE = _Kind(int, _whole)
FRACTION = _Kind(str, lambda text, place: fraction(text, place.where))
RATIONAL = _Kind(str, lambda text, place: sp.Rational(fraction(text, place.where)))
EXPRESSION = _Kind(to_record, _expression)
LETTER = _Kind(lambda letter: letter.name, _letter)
SIDE = _Kind(lambda side: [side[0], side[1] if side[0] == "where" else side[1].name], _side)


def _many(of: _Kind) -> _Kind:
    return _Kind(
        lambda values: [of.write(each) for each in values],
        lambda record, place: tuple(of.read(each, place) for each in _entries(record, place)),
    )


def _row(*kinds: _Kind) -> _Kind:
    return _Kind(
        lambda values: [kind.write(each) for kind, each in zip(kinds, values, strict=True)],
        lambda record, place: tuple(
            kind.read(each, place) for kind, each in zip(kinds, _entries(record, place, len(kinds)), strict=True)
        ),
    )


def _either(one: _Kind, other: _Kind) -> _Kind:
    """A whole number by the one, a list by the other."""
    return _Kind(
        lambda value: (one if isinstance(value, int) else other).write(value),
        lambda record, place: (other if isinstance(record, list) else one).read(record, place),
    )


FIELDS: dict[type[ProofStep], dict[str, _Kind]] = {
    ByFactors: {"constant": RATIONAL, "factors": _many(_row(EXPRESSION, WHOLE, WHOLE))},
    BySum: {"terms": _many(EXPRESSION)},
    ByCases: {"at": EXPRESSION},
    ByPiece: {"node": EXPRESSION, "choice": WHOLE},
    ByLinear: {"multipliers": _many(_row(WHOLE, RATIONAL))},
    ByMonotone: {"letter": LETTER, "sign": WHOLE, "where": _many(WHOLE)},
    BySquares: {"terms": _many(_row(RATIONAL, EXPRESSION, _many(SIDE)))},
    ByAmgm: {"groups": _many(_row(_many(WHOLE), _many(_row(_many(WHOLE), RATIONAL, RATIONAL))))},
    ByOrder: {"base": RATIONAL},
    ByLogs: {},
    ByLipschitz: {"letters": _row(LETTER, LETTER), "function": EXPRESSION, "constant": RATIONAL},
    ByNeurons: {
        "neurons": _many(_many(_row(WHOLE, FRACTION))),
        "tree": _many(_either(WHOLE, _many(_row(WHOLE, FRACTION, FRACTION)))),
    },
}
STEPS: dict[str, type[ProofStep]] = {each.name: each for each in FIELDS}


def step_record(step: ProofStep) -> dict[str, Any]:
    """The step as JSON, without its children. Raises UsageError for an expression that a certificate cannot store."""
    fields = {name: kind.write(getattr(step, name)) for name, kind in FIELDS[type(step)].items()}
    return {"step": step.name, **fields}


def read_step(record: Mapping[str, Any], symbols: Mapping[str, sp.Symbol], where: str) -> ProofStep:
    """Raises UsageError for anything but what `step_record` writes."""
    name = record.get("step")
    if not isinstance(name, str) or name not in STEPS:
        raise UsageError(f"{where}: {shown(name)} is not a step; the steps are {', '.join(STEPS)}.")
    place = _RecordPlace(f"{where}, step '{name}'", symbols)
    fields = FIELDS[STEPS[name]]
    if missing := sorted(set(fields) - set(record)):
        raise UsageError(f"{place.where} lacks {', '.join(missing)}.")
    if unknown := sorted(set(record) - set(fields) - {"step"}):
        raise UsageError(f"{place.where} has unknown {', '.join(unknown)[:100]}.")
    return STEPS[name](**{field: kind.read(record[field], place) for field, kind in fields.items()})
