"""One class, one name: a reader who meets a class knows which one it is."""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
# A step of a derivation and a domain may both be a product: the first is written op.Product where it is read.
BOTH = {"Product"}


def test_no_two_classes_have_one_name() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for floor in ("symbolic", "numeric", "bridge"):
        for path in sorted((ROOT / floor).rglob("*.py")):
            for node in ast.parse(path.read_text()).body:
                if isinstance(node, ast.ClassDef):
                    places[node.name].append(str(path.relative_to(ROOT)))
    assert {name: paths for name, paths in places.items() if len(paths) > 1 and name not in BOTH} == {}
