"""Theorems of installed packages: entry points of the group `boundsmith.theorems`, each of which names a `Theorem`.

    [project.entry-points."boundsmith.theorems"]
    softmax-gd = "mypackage.theorems:own"

The theorem's own id is what every command takes; an entry point is best named after it. Finding the entry points reads
the metadata of what is installed and imports nothing. They are imported to look up an id that is none of ours.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from symbolic.statements.catalogue import CLAIMS, unknown_id
from symbolic.words.errors import UsageError

if TYPE_CHECKING:
    import bridge.theorems.theorem

GROUP = "boundsmith.theorems"


@dataclass(frozen=True)
class Offer:
    """An entry point of a package: its theorem, or in one sentence why it has none."""

    package: str
    name: str
    theorem: "bridge.theorems.theorem.Theorem | None" = None
    problem: str = ""

    @property
    def id(self) -> str:
        """The theorem's id; the entry point's name where it has no theorem."""
        return self.name if self.theorem is None else self.theorem.id


@cache
def offered() -> tuple[Offer, ...]:
    """Every entry point, imported, by package and name."""
    return tuple(_offer(package, point) for package, point in _points())


def find_packaged(id: str) -> "bridge.theorems.theorem.Theorem":
    """The theorem of that id. Raises UsageError for an id that no package, or more than one, offers."""
    found = [each for each in offered() if each.theorem is not None and each.id == id]
    if not found:
        raise UsageError(_unknown(id))
    if len(found) > 1:
        raise UsageError(_clash(id, [each.package for each in found]))
    theorem = found[0].theorem
    assert theorem is not None  # that is how it was found
    return theorem


def require_unclaimed(id: str) -> None:
    """Raises UsageError for an id of ours that is also the name of a package's entry point; imports nothing."""
    claiming = [package for package, point in _points() if point.name == id]
    if claiming:
        raise UsageError(_clash(id, ["boundsmith", *claiming]))


def clashes() -> list[str]:
    """A sentence for each id that several packages have, ours among them."""
    packages: dict[str, list[str]] = {claim.id: ["boundsmith"] for claim in CLAIMS}
    for each in offered():
        packages.setdefault(each.id, []).append(each.package)
    return [_clash(id, several) for id, several in packages.items() if len(several) > 1]


def _points() -> tuple[tuple[str, EntryPoint], ...]:
    return _points_on(tuple(sys.path))


@lru_cache(maxsize=1)
def _points_on(path: tuple[str, ...]) -> tuple[tuple[str, EntryPoint], ...]:
    """The package and the entry point of each that Python finds on this path, which is its own.

    Each once, also where two finders see a package: the backport importlib_metadata, once imported, is a second finder,
    whose entry points are of a class of its own.
    """
    points = entry_points(group=GROUP)
    found = {(each.dist.name if each.dist else each.module, each.name, each.value) for each in points}
    return tuple((package, EntryPoint(name, value, GROUP)) for package, name, value in sorted(found))


def _offer(package: str, point: EntryPoint) -> Offer:
    from bridge.theorems.theorem import Theorem

    try:
        found = point.load()
    except (Exception, SystemExit) as error:
        said = " ".join(str(error).split()).rstrip(".")
        return Offer(package, point.name, problem=f"'{point.value}' cannot be imported: {type(error).__name__}: {said}")
    if not isinstance(found, Theorem):
        return Offer(package, point.name, problem=f"'{point.value}' is a {type(found).__name__} and not a Theorem")
    return Offer(package, point.name, found)


def _unknown(id: str) -> str:
    broken = [each for each in offered() if each.theorem is None and each.name == id]
    if broken:
        return f"'{id}' of the package {broken[0].package} cannot be used: {broken[0].problem}."
    meant = _meant_file(id)
    return f"there is no result '{id}'.{meant}" if meant else unknown_id(id, [each.id for each in offered()])


def _meant_file(id: str) -> str:
    if Path(f"{id}.py").is_file():
        return f" Did you mean the file {id}.py?"
    if "/" in id or Path(id).is_file():
        return " A file with a theorem ends in .py: FILE.py, or FILE.py:NAME where it holds several."
    return ""


def _clash(id: str, packages: Sequence[str]) -> str:
    return f"'{id}' is the id of several theorems, of the packages {' and '.join(packages)}; rename or remove one."
