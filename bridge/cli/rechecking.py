"""`boundsmith certify --check`: re-checks a certificate file and prints the outcome."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer
from rich.text import Text

from bridge.cli.certifying import table_of, verdict_text
from bridge.cli.terminal import progress, show_filled, show_json
from bridge.questions.certify.checking import SECONDS, CheckedCertificate, CheckedClaim, Recheck, check_certificate
from bridge.questions.certify.deadline import Deadline, checked_seconds
from bridge.questions.certify.proving import Status
from bridge.questions.certify.words import region, statement
from symbolic.words.errors import UsageError

SHOWN_CLAIMS = 200
STYLES = {Recheck.CONFIRMED: "green", Recheck.FAILED: "bold red", Recheck.SKIPPED: "yellow"}


def run_check(path: Path, others: Mapping[str, Any], seconds: float | None, *, as_json: bool) -> None:
    """Exit code 0 if every claim is decided and confirmed, 1 if not; an invalid file is a UsageError."""
    given = [name for name, value in others.items() if value]
    if given:
        raise UsageError(f"--check re-checks one file and does not take {', '.join(given)}; omit them.")
    seconds = checked_seconds("certify", SECONDS if seconds is None else seconds)
    with progress(f"checking {path}") as report:
        checked = check_certificate(
            str(path),
            progress=lambda boxes, share: report(round(1000 * share), 1000, f"{boxes} boxes re-checked"),
            deadline=Deadline(seconds, alarmed=True),
        )
    if as_json:
        show_json(_checked_record(checked))
    else:
        show_filled(*_checked_blocks(checked))
    if not checked.holds:
        raise typer.Exit(1)


def _checked_blocks(checked: CheckedCertificate) -> Iterator[Any]:
    shown = checked.claims[:SHOWN_CLAIMS]
    yield from table_of(("inequality", "claimed", "re-check", "boxes"), map(_line, shown))
    if len(checked.claims) > len(shown):
        yield f"and {len(checked.claims) - len(shown)} more claims; --json has all"
    yield from (f"{claim.title}: {words}" for claim in shown for words in _remarks(claim))
    yield from (f"the certificate {gap}: it does not prove that quantity" for gap in checked.gaps)
    yield f"the certificate {checked.path} {_summary(checked)}"


def _line(claim: CheckedClaim) -> list[str | Text]:
    title = claim.title if claim.copies == 1 else f"{claim.title} ({claim.copies} copies)"
    return [title, verdict_text(claim.verdict), Text(str(claim.recheck), style=STYLES[claim.recheck]), str(claim.boxes)]


def _summary(checked: CheckedCertificate) -> str:
    if checked.holds:
        return "holds for its content, but does not cover all that is stated" if checked.gaps else "holds"
    if checked.skipped:
        left = f"{checked.skipped} of {checked.count} claims were not re-checked"
        failed = any(claim.recheck is Recheck.FAILED for claim in checked.claims)
        others = "does not hold" if failed else "is not confirmed"
        return f"{others}: {left} within the time limit of {checked.seconds:g} s; --seconds allows more"
    return "does not hold, or leaves inequalities undecided"


def _remarks(claim: CheckedClaim) -> Iterator[str]:
    if claim.inequality is not None:
        stated = f"{statement(claim.inequality)} " if claim.origin and claim.title == claim.name else ""
        yield f"{stated}for {region(claim.inequality)}"
    if claim.label:
        yield f"the file calls it {claim.label!r}, a label that nothing proves"
    if claim.recheck is Recheck.SKIPPED:
        return
    if claim.reason:
        yield claim.reason
    elif claim.verdict is Status.UNDECIDED:
        yield f"undecided: only {100 * min(float(claim.share), 0.9999):.4g} % of the box is proved, the rest is open"
    if claim.origin is None:
        yield "typed by the user; no result states it"


def _checked_record(checked: CheckedCertificate) -> dict[str, Any]:
    return {
        "path": checked.path,
        "holds": checked.holds,
        "complete": not checked.gaps and not checked.skipped,
        "gaps": list(checked.gaps),
        "not_rechecked": checked.skipped,
        "written_by": checked.package,
        "claims": [
            {
                "title": claim.title,
                "label": claim.label,
                "inequality": statement(claim.inequality) if claim.inequality else None,
                "region": region(claim.inequality) if claim.inequality else None,
                "copies": claim.copies,
                "result": claim.origin.result if claim.origin else None,
                "verdict": str(claim.verdict),
                "recheck": str(claim.recheck),
                "confirmed": claim.confirmed,
                "reason": claim.reason,
                "boxes": claim.boxes,
                "share": str(claim.share),
            }
            for claim in checked.claims
        ],
    }
