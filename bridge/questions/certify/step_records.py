"""Steps as JSON and back; `steps` beside it names the fields of each."""

from collections.abc import Callable, Mapping
from typing import Any

import sympy as sp

from bridge.questions.certify.definedness import evaluated, is_finite_real
from bridge.questions.certify.expressions import fraction, from_record, shown, to_record
from bridge.questions.certify.steps import (
    STEPS,
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

Symbols = Mapping[str, sp.Symbol]
MOST = 10_000  # entries of a list

WRITERS: dict[type[ProofStep], Callable[[Any], dict[str, Any]]] = {
    ByFactors: lambda s: {
        "constant": str(s.constant),
        "factors": [[to_record(a), k, sign] for a, k, sign in s.factors],
    },
    BySum: lambda s: {"terms": [to_record(each) for each in s.terms]},
    ByCases: lambda s: {"at": to_record(s.at)},
    ByPiece: lambda s: {"node": to_record(s.node), "choice": s.choice},
    ByLinear: lambda s: {"multipliers": [[k, str(by)] for k, by in s.multipliers]},
    ByMonotone: lambda s: {"letter": s.letter.name, "sign": s.sign, "where": list(s.where)},
    BySquares: lambda s: {
        "terms": [
            [str(w), to_record(q), [[kind, which if kind == "where" else which.name] for kind, which in sides]]
            for w, q, sides in s.terms
        ]
    },
    ByAmgm: lambda s: {
        "groups": [
            [list(powers), [[list(a), str(weight), str(share)] for a, weight, share in parts]]
            for powers, parts in s.groups
        ]
    },
    ByOrder: lambda s: {"base": str(s.base)},
    ByLogs: lambda s: {},
    ByLipschitz: lambda s: {
        "letters": [each.name for each in s.letters],
        "function": to_record(s.function),
        "constant": str(s.constant),
    },
}


def step_record(step: ProofStep) -> dict[str, Any]:
    """The step as JSON, without its children."""
    return {"step": step.name, **WRITERS[type(step)](step)}


def read_step(record: Any, symbols: Symbols, where: str) -> ProofStep:
    """Raises UsageError for anything but what `step_record` writes."""
    name = record.get("step") if isinstance(record, dict) else None
    if not isinstance(name, str) or name not in STEPS:
        raise UsageError(f"{where}: {shown(name)} is not a step; the steps are {', '.join(STEPS)}.")
    return _Reader(record, symbols, f"{where}, step '{name}'").step(STEPS[name])


class _Reader:
    def __init__(self, record: dict[str, Any], symbols: Symbols, where: str) -> None:
        self.record, self.symbols, self.where = record, symbols, where
        self.used = {"step"}

    def step(self, kind: type[ProofStep]) -> ProofStep:
        found: ProofStep = READERS[kind](self)
        if unknown := sorted(set(self.record) - self.used):
            raise UsageError(f"{self.where} has unknown {', '.join(unknown)[:100]}.")
        return found

    def field(self, name: str) -> Any:
        self.used.add(name)
        if name not in self.record:
            raise UsageError(f"{self.where} lacks {name}.")
        return self.record[name]

    def entries(self, value: Any, length: int | None = None) -> list[Any]:
        if not isinstance(value, list) or len(value) > MOST or (length is not None and len(value) != length):
            raise UsageError(f"{self.where}: {shown(value)} should be a list{f' of {length}' if length else ''}.")
        return value

    def rational(self, text: Any) -> sp.Rational:
        return sp.Rational(fraction(text, self.where))

    def integer(self, value: Any) -> int:
        if type(value) is not int or abs(value) > MOST:
            raise UsageError(f"{self.where}: {shown(value)} should be a whole number of moderate size.")
        return value

    def expression(self, record: Any) -> sp.Expr:
        found = evaluated(from_record(record, self.symbols, self.where), {})
        if not is_finite_real(found):
            raise UsageError(f"{self.where}: {shown(record)} is not a finite real expression.")
        return found

    def letter(self, name: Any) -> sp.Symbol:
        if not isinstance(name, str) or name not in self.symbols:
            raise UsageError(f"{self.where}: {shown(name)} is not a letter.")
        return self.symbols[name]

    def side(self, record: Any) -> tuple[str, Any]:
        kind, which = self.entries(record, 2)
        if kind not in ("low", "high", "where"):
            raise UsageError(f"{self.where}: {shown(record)} is not a side of the region.")
        return kind, self.integer(which) if kind == "where" else self.letter(which)


def _factors(read: _Reader) -> ByFactors:
    parts = (read.entries(each, 3) for each in read.entries(read.field("factors")))
    factors = tuple((read.expression(a), read.integer(k), read.integer(sign)) for a, k, sign in parts)
    return ByFactors(read.rational(read.field("constant")), factors)


def _squares(read: _Reader) -> BySquares:
    terms = (read.entries(each, 3) for each in read.entries(read.field("terms")))
    return BySquares(
        tuple(
            (read.rational(w), read.expression(q), tuple(read.side(g) for g in read.entries(sides)))
            for w, q, sides in terms
        )
    )


def _amgm(read: _Reader) -> ByAmgm:
    def powers(record: Any) -> tuple[int, ...]:
        return tuple(read.integer(p) for p in read.entries(record))

    def part(record: Any) -> tuple[tuple[int, ...], sp.Rational, sp.Rational]:
        a, weight, share = read.entries(record, 3)
        return powers(a), read.rational(weight), read.rational(share)

    groups = (read.entries(each, 2) for each in read.entries(read.field("groups")))
    return ByAmgm(tuple((powers(b), tuple(part(each) for each in read.entries(parts))) for b, parts in groups))


def _linear(read: _Reader) -> ByLinear:
    pairs = (read.entries(each, 2) for each in read.entries(read.field("multipliers")))
    return ByLinear(tuple((read.integer(k), read.rational(by)) for k, by in pairs))


def _lipschitz(read: _Reader) -> ByLipschitz:
    x, y = read.entries(read.field("letters"), 2)
    function, constant = read.expression(read.field("function")), read.rational(read.field("constant"))
    return ByLipschitz((read.letter(x), read.letter(y)), function, constant)


READERS: dict[type[ProofStep], Callable[[_Reader], ProofStep]] = {
    ByFactors: _factors,
    BySum: lambda read: BySum(tuple(read.expression(each) for each in read.entries(read.field("terms")))),
    ByCases: lambda read: ByCases(read.expression(read.field("at"))),
    ByPiece: lambda read: ByPiece(read.expression(read.field("node")), read.integer(read.field("choice"))),
    ByLinear: _linear,
    ByMonotone: lambda read: ByMonotone(
        read.letter(read.field("letter")),
        read.integer(read.field("sign")),
        tuple(read.integer(k) for k in read.entries(read.field("where"))),
    ),
    BySquares: _squares,
    ByAmgm: _amgm,
    ByOrder: lambda read: ByOrder(read.rational(read.field("base"))),
    ByLogs: lambda read: ByLogs(),
    ByLipschitz: _lipschitz,
}
