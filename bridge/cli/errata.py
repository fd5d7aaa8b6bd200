"""`boundsmith errata`: the list, as words, JSON or a page; and each witness again."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from bridge.cli.terminal import progress, show, show_json
from bridge.export.writing import check_output
from bridge.export.written_files import write_text
from bridge.questions.errata.entries import Entry, errata, is_violated, replayed
from bridge.questions.errata.pages import PAGES, by_paper, facts
from symbolic.words.errors import UsageError


def run_errata(ids: Sequence[str], quantity: str | None, output: Path | None, *, replay: bool, as_json: bool) -> int:
    """0; 1 if a witness that was replayed refutes nothing any more."""
    if output is not None and replay:
        raise UsageError("errata: --replay writes no page; leave out --output.")
    if output is not None:
        check_output(output, tuple(PAGES))
    entries = errata(*ids, quantity=quantity)
    if output is not None:
        write_text(output, PAGES[output.suffix.lower()](entries))
    if replay:
        return _replay(entries, as_json)
    if as_json:
        show_json([entry.model_dump(mode="json") for entry in entries])
    else:
        show(*_blocks(entries))
        if output is not None:
            show(f"written: {output}")
    return 0


def _blocks(entries: Sequence[Entry]) -> Iterator[str]:
    if not entries:
        yield "no errata"
    for paper, weights in by_paper(entries):
        for weight, several in weights:
            yield f"{paper}: {weight}"
            for entry in several:
                yield f"\n  {entry.sentence}"
                yield from (f"    {name}: {words}" if name else f"    {words}" for name, words in facts(entry))
                yield f"    To check again: {entry.command}"
            yield ""


def _replay(entries: Sequence[Entry], as_json: bool) -> int:
    with progress("replaying") as report:
        found = []
        for place, entry in enumerate(entries):
            report(place, len(entries), f"{entry.result}, {entry.quantity}")
            found.append((entry, is_violated(replayed(entry))))
    if as_json:
        keys = ("result", "quantity", "weight")
        show_json([{key: getattr(entry, key) for key in keys} | {"violated": held} for entry, held in found])
    else:
        show(*(f"{entry.result}, {entry.quantity}: {_outcome(entry, held)}" for entry, held in found))
    return 0 if all(held for _, held in found) else 1


def _outcome(entry: Entry, held: bool) -> str:
    return f"violated ({entry.weight})" if held else "NOT violated: the witness refutes nothing"
