"""The gallery: pictures that the plot machinery draws from the stored records, each with the command that makes it."""

import io
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from PIL import Image

from bridge.export.plots import draw
from bridge.theorems.registry import find_theorem
from docs.pages.markdown import code, escape, prose
from symbolic.statements.catalogue import CLAIMS, RUNNING
from symbolic.words.errors import UsageError
from tests.yardstick.records import stored

MOST, LARGEST = 12, 60_000  # pictures, bytes of one
RESOLUTION, COLOURS = 120, 64  # dots an inch, of a palette
INTRODUCTION = (
    "Each picture is drawn by `--plot` of `boundsmith compare` at the default parameters. A curve is a bound or the "
    "largest error that was found, as a parameter grows; bars set the bounds of a result beside its errors."
)


def write(folder: Path, most: int = MOST) -> None:
    """Pictures, and the page that shows them: results by turns of their papers, at most so many."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = ["# Gallery", INTRODUCTION]
    for id, name in islice(_pictures(folder), most):
        statement = find_theorem(id).statement
        parts += [
            f"## {prose(statement.title)}",
            f"![{escape(statement.title)}: bounds and errors]({name})",
            f"{prose(str(statement.citation))}",
            code("sh", f"boundsmith compare {id} --plot {Path(name).name}"),
        ]
    (folder / "gallery.md").write_text("\n\n".join(parts) + "\n")


def _by_turns() -> list[str]:
    """The running results, one of each paper after another, so that no paper fills the page."""
    papers: dict[str, list[str]] = {}
    for claim in CLAIMS:
        if claim.id in RUNNING:
            papers.setdefault(claim.id.partition(".")[0], []).append(claim.id)
    longest = max(map(len, papers.values()))
    return [ids[turn] for turn in range(longest) for ids in papers.values() if turn < len(ids)]


def _pictures(folder: Path) -> Iterator[tuple[str, str]]:
    """Of results whose defaults span a grid: their ids, and the files below the folder."""
    (folder / "pictures").mkdir(exist_ok=True)
    for id in _by_turns():
        record, path = stored(id), folder / "pictures" / f"{id}.png"
        if not any(isinstance(value, list) for value in record.params.values()):
            continue
        try:
            figure = draw(record)
        except UsageError:
            continue
        picture = io.BytesIO()
        figure.savefig(picture, format="png", dpi=RESOLUTION)
        Image.open(picture).quantize(COLOURS).save(path, optimize=True)
        if path.stat().st_size > LARGEST:
            path.unlink()
            continue
        yield id, f"pictures/{path.name}"
