"""`boundsmith certify`: prove what a result states, or what the user types."""

import contextlib
import difflib
import signal
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import typer
from rich.console import RenderableType
from rich.text import Text

from bridge.cli.certificate_files import CertificateFiles
from bridge.cli.codes import INTERRUPTED
from bridge.cli.requests import Request
from bridge.cli.terminal import line_width, progress, show_filled, show_json
from bridge.export.grids import bounded
from bridge.questions.certify.certificate import CertifiedClaim, Origin
from bridge.questions.certify.deadline import Deadline, OutOfTime, checked_seconds
from bridge.questions.certify.explaining import explanation
from bridge.questions.certify.obligations import OBLIGATION, stated_obligations
from bridge.questions.certify.proving import Outcome, Status, prove
from bridge.questions.certify.reading import SIMPLIFIED, read_inequality, typed_inequality
from bridge.questions.certify.stating import belongs, family, has_choices, same_statements, stated_now
from bridge.theorems.registry import find_theorem, theorems
from symbolic.derivations.inequalities import Inequality
from symbolic.words.errors import UsageError

SHOWN_BOXES, SHOWN_DIGITS = 20, 60
SECONDS_OF_PROOF = 60.0  # for each inequality
STYLES = {Status.PROVED: "green", Status.REFUTED: "bold red", Status.UNDECIDED: "yellow"}


@dataclass
class CertifyRun:
    """The request and the results of a run; `region` is that of a typed inequality; `interrupted` after Ctrl-C."""

    title: str
    inequalities: Sequence[Inequality]
    seconds: float
    origin: Origin | None = None
    cannot: Sequence[str] = ()
    region: str = ""
    claims: list[CertifiedClaim] = field(default_factory=list)
    interrupted: bool = False


def run_certify(
    request: Request, quantity: str | None, seconds: float | None, files: CertificateFiles, *, as_json: bool
) -> None:
    """Proves every inequality that the result states at these parameters, its open obligations among them."""
    id, theorem = request.typed, request.theorem
    params = {p.name: p.default for p in request.result.parameters if p.default is not None} | request.parameters
    seconds = checked_seconds("certify", SECONDS_OF_PROOF if seconds is None else seconds)
    files.check()
    find_theorem(theorem)  # loads its topic before the clock runs
    deadline = Deadline(seconds, alarmed=True)
    try:
        with progress(f"stating the inequalities of {id}"), deadline.interrupting():
            params = _without_choices(request, params, deadline)
            stated, cannot = stated_now(theorem, params), stated_obligations(theorem, params)[1]
    except OutOfTime:
        raise UsageError(
            f"{id}: its inequalities could not be stated within --seconds {seconds:g}; allow more time, or choose "
            f"other parameters."
        ) from None
    chosen = [each for each in stated if quantity is None or belongs(each.name, quantity)]
    if not chosen and (quantity is not None or not cannot):
        raise UsageError(_nothing_to_prove(request, quantity, [each.name for each in stated], cannot))
    origin = None if request.is_own else Origin(id, quantity or "", params)  # a file is not read again by a re-check
    _run(CertifyRun(request.result.id, chosen, seconds, origin, cannot), files, as_json)


def _without_choices(request: Request, params: dict[str, Any], deadline: Deadline) -> dict[str, Any]:
    """The parameters without lists of choices, if every choice states the same inequalities; else UsageError."""
    kept = {name: value for name, value in params.items() if not has_choices(value)}
    for name in params.keys() - kept.keys():
        deadline.check()
        first, *others = (stated_now(request.theorem, kept | {name: choice}) for choice in params[name])
        if not all(same_statements(first, other) for other in others):
            choices = ", ".join(map(str, params[name]))
            raise UsageError(
                f"{request.typed} states different inequalities for each {name}; choose one by --set {name}=..., "
                f"from {choices}."
            )
    return kept


def _nothing_to_prove(request: Request, quantity: str | None, names: Sequence[str], cannot: Sequence[str]) -> str:
    id = request.typed
    if not names:
        why = f" ({'; '.join(cannot)})" if cannot else ""
        certifying = ", ".join(id for id, each in theorems().items() if each.inequalities)
        others = "give it some by `inequalities=`" if request.is_own else f"these do: {certifying}"
        return (
            f"{id} states no inequality that a proof on a box could certify{why}; `boundsmith compare {id}` judges its "
            f"bounds; {others}; or type one: boundsmith certify --expression TEXT --range NAME=LOW,HIGH."
        )
    names = list(dict.fromkeys(family(name) for name in names))
    near = difflib.get_close_matches(quantity or "", names, n=2, cutoff=0.4)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    return f"{id} states no inequality of '{quantity}'.{hint} It states: {', '.join(names)}."


def run_expression(
    text: str,
    ranges: Sequence[str],
    where: Sequence[str],
    seconds: float | None,
    files: CertificateFiles,
    *,
    as_json: bool,
) -> None:
    """Proves an inequality that the user typed, and that it is defined on the whole box.

    One that SymPy cannot simplify in time is undecided, just as it was typed.
    """
    seconds = checked_seconds("certify", SECONDS_OF_PROOF if seconds is None else seconds)
    files.check()
    deadline = Deadline(seconds, alarmed=True)
    run = CertifyRun(text, [], seconds)
    try:
        with deadline.interrupting():
            run.inequalities = read_inequality(text, ranges, where, deadline)
    except OutOfTime:
        typed = typed_inequality(text, ranges, where)
        reason = f"the time limit of {deadline.seconds:g} s was reached while it was simplified"
        run.claims.append(CertifiedClaim(Outcome(typed, Status.UNDECIDED, seconds=deadline.spent, reason=reason)))
    run.region = _region((run.inequalities or [claim.outcome.inequality for claim in run.claims])[-1], where)
    _run(run, files, as_json, deadline)


def _region(inequality: Inequality, where: Sequence[str]) -> str:
    """The ranges of the variables and the conditions, in words."""
    ends = {symbol: [_digits(Fraction(end)) for end in box] for symbol, box in inequality.box.items()}
    ranges = ", ".join(f"{symbol} in [{low}, {high}]" for symbol, (low, high) in ends.items())
    return f"{ranges}; where {', '.join(where)}" if where else ranges


def _run(run: CertifyRun, files: CertificateFiles, as_json: bool, first: Deadline | None = None) -> None:
    _prove_all(run, first)
    if as_json:
        show_json(_run_record(run))
    else:
        show_filled(*_run_blocks(run))
    files.write(run.claims, quiet=as_json)  # last: what was found is shown even if no certificate can hold it
    if run.interrupted:
        raise typer.Exit(INTERRUPTED)


def _prove_all(run: CertifyRun, first: Deadline | None) -> None:
    """Each inequality in turn; the first may have a deadline that runs already, since the expression was read.

    Ctrl-C ends this one as undecided and skips the rest.
    """
    with progress(run.title) as report, _interrupts(run):
        for inequality in run.inequalities:
            if run.interrupted:
                run.claims.append(CertifiedClaim(Outcome(inequality, Status.UNDECIDED), run.origin))
                continue

            def hear(boxes: int, share: float, name: str = inequality.name) -> None:
                report(round(1000 * share), 1000, f"{name}: {boxes} boxes, {100 * share:.1f} % settled")

            deadline, first = first or Deadline(run.seconds, alarmed=True), None
            outcome = prove(inequality, deadline=deadline, progress=hear, keep_on_interrupt=True)
            run.claims.append(CertifiedClaim(outcome, run.origin))


@contextlib.contextmanager
def _interrupts(run: CertifyRun) -> Iterator[None]:
    """Records Ctrl-C, so that `prove` ends with its results so far."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupted(*_: Any) -> None:
        run.interrupted = True
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _run_blocks(run: CertifyRun) -> Iterator[Any]:
    yield run.title
    if run.origin:
        yield "at " + ", ".join(f"{name} = {value}" for name, value in run.origin.parameters.items())
    if run.region:
        yield f"for {run.region}"
    if run.claims:
        yield from table_of(("inequality", "verdict", "boxes", "seconds", "settled"), map(_line, run.claims))
        yield from _meanings(run)
    for claim in run.claims:
        yield from explanation(claim.outcome)
    yield from (c.outcome.inequality.meaning for c in run.claims if SIMPLIFIED in c.outcome.inequality.meaning)
    yield from (f"cannot be tried: {reason}" for reason in run.cannot)
    if run.interrupted:
        yield "interrupted: inequalities that were not finished are undecided"


def _meanings(run: CertifyRun) -> Iterator[str]:
    """What each inequality of a result states, unless its name contains it; what the user typed needs no meaning."""
    stated = [claim.outcome.inequality for claim in run.claims] if run.origin else []
    for each in stated:
        if each.meaning and each.meaning.removeprefix(OBLIGATION) not in each.name:
            yield f"{each.name}: {each.meaning}"


def _line(claim: CertifiedClaim) -> list[str | Text]:
    o = claim.outcome
    settled = "-" if o.status is Status.REFUTED else f"{100 * _displayed_share(o):.4g} %"
    return [o.inequality.name, verdict_text(o.status), str(o.boxes), f"{o.seconds:.2f}", settled]


def table_of(headings: Sequence[str], lines: Iterable[Sequence[str | Text]]) -> Iterator[RenderableType]:
    """Two columns of words, then numbers."""
    yield from bounded([(name, at > 1) for at, name in enumerate(headings)], list(lines), line_width())


def verdict_text(status: Status) -> Text:
    return Text(str(status), style=STYLES[status])


def _displayed_share(outcome: Outcome) -> float:
    """The share for display: below 100 % as long as a box is open."""
    return outcome.share if outcome.status is Status.PROVED else min(outcome.share, 0.9999)


def _digits(value: Fraction) -> str:
    """The number itself, where a reader can take it in."""
    text = str(value)
    return text if len(text) <= SHOWN_DIGITS else f"{text[:SHOWN_DIGITS]}..."


def _run_record(run: CertifyRun) -> dict[str, Any]:
    return {
        "title": run.title,
        "params": dict(run.origin.parameters) if run.origin else {},
        "claims": [_claim_record(claim.outcome) for claim in run.claims],
        "cannot": list(run.cannot),
        "interrupted": run.interrupted,
    }


def _claim_record(outcome: Outcome) -> dict[str, Any]:
    names = [symbol.name for symbol in outcome.inequality.box]
    record: dict[str, Any] = {
        "name": outcome.inequality.name,
        "meaning": outcome.inequality.meaning,
        "verdict": str(outcome.status),
        "boxes": outcome.boxes,
        "seconds": outcome.seconds,
        "reason": outcome.reason,
    }
    if outcome.status is Status.REFUTED:
        point = {symbol.name: str(value) for symbol, value in outcome.point.items()}
        return record | {"point": point, "value_at_most": outcome.value}
    boxes = [
        {name: [str(low), str(high)] for name, (low, high) in zip(names, box, strict=True)}
        for box in outcome.open_boxes[:SHOWN_BOXES]
    ]
    return record | {"share": outcome.share, "open": outcome.open_count, "largest_open": boxes}
