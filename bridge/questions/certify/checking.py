"""Certificates re-checked from scratch: boxes rebuilt from the root, every leaf evaluated by Arb.

The check uses only the tree of cuts and the form by which each box was proved; everything else is computed again. A
claim that occurs several times is checked once. One deadline holds for the whole file.
"""

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any

from bridge.lowering import LoweringError
from bridge.questions.certify.certificate import Origin
from bridge.questions.certify.deadline import Deadline, OutOfTime, checked_seconds
from bridge.questions.certify.forms import Enclosures
from bridge.questions.certify.goals import ProofGoal
from bridge.questions.certify.names import name_of
from bridge.questions.certify.nodes import OPEN, Reduction, Split, Status, boxes_of
from bridge.questions.certify.parsing import ParsedClaim, parse_claim, read_content
from bridge.questions.certify.scalars import Box, Cell, root_of
from bridge.questions.certify.stating import belongs, family, reasons, same_claim, stated_now
from bridge.questions.certify.verifying import fault_of_step
from bridge.questions.certify.words import box_text, short, shortly
from bridge.theorems.registry import registered_theorem
from bridge.theorems.theorem_files import is_file
from numeric.balls import rational
from symbolic.derivations.inequalities import Inequality
from symbolic.statements.catalogue import RUNNING
from symbolic.words.errors import UsageError

BITS = 160  # more than the prover's
SECONDS = 600.0  # for a whole file
WHERE_DEFINED = ("range", "slope", "hessian", "form")  # forms that need the expression to be defined

Report = Callable[[int, float], None]  # boxes and share done


class Recheck(StrEnum):
    """The result of the re-check for one claim."""

    CONFIRMED = "confirmed"
    FAILED = "does not hold"
    SKIPPED = "not re-checked"


@dataclass(frozen=True)
class CheckedClaim:
    """One inequality of a file: the claimed verdict and the result of the re-check (`reason` if it failed).

    `title` is the inequality as it was checked, or the name that its result states it under. `name` is what the file
    calls it: where it is not the title, it is a `label` that proves nothing. `copies` is how often the file contains
    it. A claim that was not reached in time has no inequality.
    """

    title: str
    name: str
    inequality: Inequality | None
    origin: Origin | None
    verdict: Status
    recheck: Recheck
    reason: str = ""
    boxes: int = 0
    share: Fraction = Fraction(0)
    copies: int = 1
    label: str = ""

    @property
    def confirmed(self) -> bool:
        return self.recheck is Recheck.CONFIRMED


@dataclass(frozen=True)
class CheckedCertificate:
    """A certificate file, re-checked. It `holds` if every claim is decided (proved or refuted) and confirmed."""

    path: str
    package: str
    claims: tuple[CheckedClaim, ...]
    gaps: tuple[str, ...] = ()  # quantities that the file covers in part only
    seconds: float = SECONDS  # the time limit

    @property
    def holds(self) -> bool:
        return all(claim.confirmed and claim.verdict is not Status.UNDECIDED for claim in self.claims)

    @property
    def count(self) -> int:
        """How many claims the file has, copies among them."""
        return sum(claim.copies for claim in self.claims)

    @property
    def skipped(self) -> int:
        """How many of them were not reached in time."""
        return sum(claim.copies for claim in self.claims if claim.recheck is Recheck.SKIPPED)


def check_certificate(
    path: str,
    *,
    bits: int = BITS,
    progress: Report | None = None,
    seconds: float = SECONDS,
    deadline: Deadline | None = None,
) -> CheckedCertificate:
    """Re-checks a certificate file. Raises UsageError for an invalid file (truncated, of another version, edited).

    `seconds`, or a given `deadline`, hold for the whole file; a claim that is not reached is `not re-checked`.
    """
    deadline = deadline or Deadline(checked_seconds("check_certificate", seconds))
    content = read_content(path)
    distinct = _distinct(content["claims"])
    run = _Run(path, bits, deadline, progress)
    with deadline.paused():
        _load_topics(each.record for each in distinct)
    with contextlib.suppress(OutOfTime), deadline.interrupting():
        for each in distinct:
            run.check(each)
    skipped = [_skipped(each) for each in distinct[len(run.found) :]]
    gaps = () if skipped else run.gaps()
    return CheckedCertificate(path, content["package"], (*run.found, *skipped), gaps, deadline.seconds)


@dataclass
class _Distinct:
    """A claim's record, its first place in the file, and its number of copies."""

    record: Any
    place: int
    copies: int = 1


def _distinct(records: Sequence[Any]) -> list[_Distinct]:
    found: dict[bytes, _Distinct] = {}
    for place, record in enumerate(records):
        key = hashlib.sha256(json.dumps(record, sort_keys=True).encode()).digest()
        if key in found:
            found[key].copies += 1
        else:
            found[key] = _Distinct(record, place)
    return list(found.values())


def _load_topics(records: Iterable[Any]) -> None:
    """Imports the topics of the claims beforehand: an import must not be interrupted, and its time does not count."""
    origins = [record.get("origin") for record in records if isinstance(record, dict)]
    results = [origin.get("result") for origin in origins if isinstance(origin, dict)]
    for result in {result for result in results if isinstance(result, str)} & RUNNING.keys():
        registered_theorem(result)


def _skipped(each: _Distinct) -> CheckedClaim:
    """A claim that was not re-checked, named by its unchecked record."""
    record = each.record if isinstance(each.record, dict) else {}
    inequality = record.get("inequality")
    name = inequality.get("name") if isinstance(inequality, dict) else None
    verdict = record.get("verdict")
    name = name if isinstance(name, str) else ""
    return CheckedClaim(
        f"claim {each.place}",
        name,
        None,
        None,
        Status(verdict) if verdict in list(Status) else Status.UNDECIDED,
        Recheck.SKIPPED,
        copies=each.copies,
        label=shortly(name),
    )


@dataclass
class _Run:
    """One re-check and its results so far. A claim is stored in `found` when everything about it is done."""

    path: str
    bits: int
    deadline: Deadline
    progress: Report | None
    found: list[CheckedClaim] = field(default_factory=list)
    parsed: list[ParsedClaim] = field(default_factory=list)
    _stated: dict[str, list[Inequality]] = field(default_factory=dict)

    def check(self, each: _Distinct) -> None:
        self.deadline.check()
        where = f"'{self.path}', claim {each.place}"
        claim = parse_claim(each.record, where, self.deadline.check)
        try:
            checked = self._checked(claim)
        except UsageError as error:
            raise UsageError(f"{where}: {error}") from None
        self.parsed.append(claim)
        self.found.append(replace(checked, copies=each.copies))

    def stated(self, origin: Origin) -> list[Inequality]:
        """The inequalities that the result states at these parameters, computed once."""
        key = _key(origin)
        if key not in self._stated:
            self.deadline.check()
            if is_file(origin.result):
                raise UsageError(f"'{origin.result:.200}' is a file, and no file that a certificate names is run")
            self._stated[key] = stated_now(origin.result, dict(origin.parameters))
        return self._stated[key]

    def _checked(self, claim: ParsedClaim) -> CheckedClaim:
        refuted = claim.verdict is Status.REFUTED
        reason = self._not_stated(claim)
        name = name_of(claim.inequality, stated=claim.origin is not None and not reason)
        if name.contradicts:
            reason = reason or "its name in the file states another inequality than the one that the file has"
        reason = reason or (_not_refuted(claim, self.bits) if refuted else self._not_shown(claim))
        return CheckedClaim(
            name.title,
            claim.inequality.name,
            claim.inequality,
            claim.origin,
            claim.verdict,
            Recheck.FAILED if reason else Recheck.CONFIRMED,
            reason,
            claim.tree.boxes,
            claim.share,
            label=name.label,
        )

    def _not_stated(self, claim: ParsedClaim) -> str:
        """Why the result does not state this inequality now; "" where it does, or where none is named."""
        if claim.origin is None:
            return ""
        result, quantity, inequality = claim.origin.result, claim.origin.quantity, claim.inequality
        stated = self.stated(claim.origin)
        agreeing = [each for each in stated if same_claim(inequality, each)]
        if not agreeing:
            names = ", ".join(each.name for each in stated) or "none"
            return f"{result} does not state this inequality at these parameters (it states: {names})"
        if quantity and not belongs(inequality.name, quantity):
            return f"the file assigns it to '{quantity}', but the result does not"
        if agreeing[0].meaning != inequality.meaning or reasons(agreeing[0]) != reasons(inequality):
            described = agreeing[0].meaning or "nothing"
            return f"the description in the file differs from the one of {result}, which is: {described}"
        return ""

    def gaps(self) -> tuple[str, ...]:
        """The quantities of a result that the file covers in part only."""
        covered: dict[str, set[str]] = {}
        for claim in self.parsed:
            if claim.origin is not None:
                covered.setdefault(_key(claim.origin), set()).add(claim.inequality.name)
        results = {_key(claim.origin): claim.origin.result for claim in self.parsed if claim.origin is not None}
        stated = {key: [each.name for each in self._stated[key]] for key in covered}
        return tuple(gap for key in sorted(covered) for gap in _gaps(results[key], stated[key], covered[key]))

    def _not_shown(self, claim: ParsedClaim) -> str:
        enclosures, done, boxes = Enclosures(claim.inequality, self.bits), 0, claim.tree.boxes
        for box, node in boxes_of(root_of(claim.inequality), claim.tree):
            self.deadline.check()
            if isinstance(node, Split):
                continue
            if isinstance(node, Reduction):
                if fault := self._fault(claim.inequality, enclosures, box, node):
                    return f"box {done} ({box_text(claim.inequality, box)}): {fault}"
            elif node.by != OPEN and not _shows(enclosures, box, node.by):
                why = _undefined(enclosures, box, node.by)
                named = f"box {done} ({box_text(claim.inequality, box)})"
                return f"{named} is not proved by the form '{node.by}'{why}"
            done += 1 + (sum(tree.boxes for tree in node.trees) if isinstance(node, Reduction) else 0)
            if self.progress is not None and done % 100 == 0:
                self.progress(done, done / boxes)
        return ""

    def _fault(self, inequality: Inequality, enclosures: Enclosures, box: Box, node: Reduction) -> str:
        """Why a step does not prove the inequality on the box; "" where it does."""
        if inequality.strict:
            return "no step proves a strict inequality"
        if not enclosures.defined_on(Cell(box)):
            return "the expression is not shown to be defined there"
        return fault_of_step(ProofGoal.of(inequality).on(box), node, self.bits, self.deadline.check)


def _key(origin: Origin) -> str:
    return repr((origin.result, sorted(origin.parameters.items())))


def _gaps(result: str, stated: Sequence[str], covered: set[str]) -> list[str]:
    found = []
    for quantity in dict.fromkeys(family(name) for name in stated if name in covered):
        whole = [name for name in stated if family(name) == quantity]
        if left := [name for name in whole if name not in covered]:
            part = f"covers {len(whole) - len(left)} of {len(whole)} inequalities of {quantity}"
            found.append(f"{part} ({result}); it omits {', '.join(left)}")
    return found


# f(point) lies in the ball, whose upper end is below 0 (at most 0 if > 0 is claimed) and at most the stated value.
def _not_refuted(claim: ParsedClaim, bits: int) -> str:
    enclosures = Enclosures(claim.inequality, bits)
    if not enclosures.inside(claim.point):
        return "the point is not shown to lie in the box and to meet the conditions"
    if not enclosures.defined_at(claim.point):
        return "the expression is not shown to be defined at the point"
    value = enclosures.value_at(claim.point)
    if not (value <= 0 if claim.inequality.strict else value < 0):
        return f"the point does not refute it: the expression there is {value.str(10)}"
    above = enclosures.value_at(claim.point) - rational(claim.value)
    return (
        "" if above <= 0 and claim.value <= 0 else f"the stated value {short(claim.value)} is not an upper bound there"
    )


def _undefined(enclosures: Enclosures, box: Box, form: str) -> str:
    try:
        defined = form not in WHERE_DEFINED or enclosures.defined_on(Cell(box))
    except LoweringError:
        return ""
    return "" if defined else ": the expression is not shown to be defined there"


def _shows(enclosures: Enclosures, box: Box, form: str) -> bool:
    """Whether the form proves it on the box; False if the expression lacks the form (no second derivative, say)."""
    try:
        return enclosures.shown_by(box, form)
    except LoweringError:
        return False
