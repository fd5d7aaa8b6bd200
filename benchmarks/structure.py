"""How the house stands: circles of imports, loose files, arrows between rooms, what a row passes, lines on each floor.

`python -m benchmarks.structure` prints it; tests/benchmarks/test_structure.py bounds it. An import counts wherever it
stands: inside a function, and under `if TYPE_CHECKING`, too.
"""

import ast
import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from bridge.questions.compare import compare
from bridge.theorems.registry import find_theorem

ROOT = Path(__file__).parents[1]
FLOORS = ("symbolic", "numeric", "bridge")
NAMED = ("bridge/theorems", "bridge/instances", "bridge/judging", "bridge/questions", "bridge/questions/compare.py")
EXAMPLE = "examples/by_rules.py"  # whose rows are followed
TOPICS = ("icgd", "induction", "looped", "machines", "universal")


@cache
def modules() -> dict[str, Path]:
    """Every module of the three floors, by its dotted name."""
    files = [path for floor in FLOORS for path in (ROOT / floor).rglob("*.py")]
    return {_dotted(path): path for path in files}


def _dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imports() -> dict[str, frozenset[str]]:
    """Which modules each module imports, of the three floors."""
    return {name: frozenset(_imported(name, path)) - {name} for name, path in modules().items()}


def _imported(name: str, path: Path) -> Iterator[str]:
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name in modules())
        if isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            inside = [f"{source}.{each.name}" for each in node.names]
            yield from (each for each in inside if each in modules())
            if source in modules() and not all(each in modules() for each in inside):
                yield source


def circles(of: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """The strongly connected components of more than one member, the largest first."""
    names = sorted({*of, *(other for others in of.values() for other in others)})
    place = {name: number for number, name in enumerate(names)}
    arrows = [(place[name], place[other]) for name, others in of.items() for other in others]
    starts, ends = zip(*arrows, strict=True) if arrows else ((), ())
    graph = csr_array(([1] * len(arrows), (starts, ends)), shape=(len(names), len(names)))
    _, labels = connected_components(graph, directed=True, connection="strong")
    found = [[name for name in names if labels[place[name]] == label] for label in range(max(labels, default=-1) + 1)]
    return sorted((each for each in found if len(each) > 1), key=len, reverse=True)


def circles_of_modules() -> list[list[str]]:
    return circles(imports())


def room_of(name: str) -> str:
    """The folder of a floor; topics and the command are one room each."""
    floor, _, rest = name.partition(".")
    room = rest.partition(".")[0]
    return f"{floor}.topics" if room in TOPICS else f"{floor}.{room}" if "." in rest or _is_package(name) else floor


def _is_package(name: str) -> bool:
    return modules()[name].name == "__init__.py"


def arrows(floor: str) -> set[tuple[str, str]]:
    """Which rooms of the floor import which; a loose file is one room with all others."""
    own = [(room_of(name), room_of(other)) for name, others in imports().items() for other in others]
    inside = (pair for pair in own if all(each.partition(".")[0] == floor for each in pair))
    return {(one, other) for one, other in inside if one != other}


def circles_of_rooms(floor: str) -> list[list[str]]:
    found: dict[str, set[str]] = {}
    for one, other in arrows(floor):
        found.setdefault(one, set()).add(other)
        found.setdefault(other, set())
    return circles(found)


def loose_files() -> list[str]:
    """Modules that stand on a floor beside its rooms."""
    return [name for name, path in modules().items() if name.count(".") == 1 and path.name != "__init__.py"]


def lines(paths: Iterable[Path]) -> int:
    return sum(len(path.read_text().splitlines()) for path in paths)


def lines_of(floor: str) -> tuple[int, int]:
    """General lines, and those of topics."""
    known = {name: path for name, path in modules().items() if name.partition(".")[0] == floor}
    topics = [path for name, path in known.items() if room_of(name).endswith(".topics")]
    return lines(known.values()) - lines(topics), lines(topics)


def public_names(rooms: Iterable[str]) -> dict[str, int]:
    """Of each class of these packages, how many public names its instances have, inherited ones counted."""
    found = {}
    for name, path in modules().items():
        if not any(name.startswith(f"{room}.") for room in rooms):
            continue
        module = import_module(name)
        for each in vars(module).values():
            if inspect.isclass(each) and each.__module__ == name:
                found[f"{name}.{each.__qualname__}"] = len(_names_of(each, path))
    return found


def _names_of(one: type, path: Path) -> set[str]:
    """Of the class and those that it inherits from here; enumerations and mappings have theirs from Python."""
    own = [each for each in one.__mro__ if each.__module__.partition(".")[0] in FLOORS]
    names = {name for each in own for name in (*vars(each), *getattr(each, "__annotations__", {}))}
    return {name for name in names | _assigned(one.__name__, path) if not name.startswith("_")}


def _assigned(name: str, path: Path) -> set[str]:
    """What the methods of a class set on `self`."""
    (tree,) = (n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.ClassDef) and n.name == name)
    stored = (n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store))
    return {n.attr for n in stored if isinstance(n.value, ast.Name) and n.value.id == "self"}


@dataclass
class Walk:
    """What a comparison passes: files, classes, and the calls of bridge until a function of the theorem runs."""

    files: set[str]
    classes: set[str]
    calls: int = 0
    has_run: bool = False

    @property
    def named(self) -> dict[str, int]:
        """The lines of its files that stand in the named rooms."""
        own = sorted(each for each in self.files if each.startswith(NAMED))
        return {each: lines([ROOT / each]) for each in own}

    def within(self, *rooms: str) -> tuple[int, int]:
        """How many files of these rooms, and their lines."""
        own = [count for each, count in self.named.items() if each.startswith(rooms)]
        return len(own), sum(own)


def walked(example: str = EXAMPLE, **params: Any) -> Walk:
    """A comparison at defaults and few inputs, watched call by call; what it imports is loaded before."""
    theorem = find_theorem(str(ROOT / example))
    few = {"samples": 4, "attack": 2, "restarts": 2, **params}
    compare(theorem, **few)
    walk = Walk(set(), set())

    def watch(frame: FrameType, event: str, _: Any) -> None:
        if event != "call":
            return
        file = Path(frame.f_code.co_filename)
        if ROOT not in file.parents or frame.f_code.co_name.startswith("<"):
            return
        place = file.relative_to(ROOT).as_posix()
        walk.has_run = walk.has_run or place == example
        walk.calls += not walk.has_run and place.startswith("bridge/")
        walk.files.add(place)
        if "self" in frame.f_locals and place.startswith(NAMED):
            walk.classes.add(type(frame.f_locals["self"]).__qualname__)

    sys.setprofile(watch)
    try:
        compare(theorem, **few)
    finally:
        sys.setprofile(None)
    return walk


def main() -> None:
    found = circles_of_modules()
    print(f"circles of imports: {len(found)}" + (f", the largest of {len(found[0])} files" if found else ""))
    print(f"loose files: {len(loose_files())}")
    for floor in FLOORS:
        of_rooms = circles_of_rooms(floor)
        print(f"{floor}: {len(arrows(floor))} arrows between rooms, {len(of_rooms)} circles of rooms")
    widest = sorted(public_names(["bridge.instances", "bridge.judging"]).items(), key=lambda each: -each[1])[:3]
    print("most public names: " + ", ".join(f"{name} {count}" for name, count in widest))
    walk = walked(N=2)
    files, count = walk.within(*NAMED)
    engine, engine_lines = walk.within("bridge/instances", "bridge/judging")
    print(f"{EXAMPLE}: {files} files of named rooms, {count} lines; of instances and judging {engine}, {engine_lines}")
    print(f"{EXAMPLE}: {walk.calls} calls of bridge until one of its functions runs, {len(walk.classes)} classes")
    general, topics = zip(*map(lines_of, FLOORS), strict=True)
    for floor, own, of_topics in zip(FLOORS, general, topics, strict=True):
        print(f"{floor}: {own} lines, and {of_topics} of topics")
    print(f"all: {sum(general) + sum(topics)} lines")


if __name__ == "__main__":
    main()
