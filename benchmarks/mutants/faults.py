"""Faults: all of them, enumerated from the sources, and a sample drawn by a seed."""

import ast
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.mutants.operators import OPERATORS, WORDING, Operator
from benchmarks.mutants.source import Edit, Source

JUDGING = (
    "judging/judge", "judging/usable", "judging/errors", "judging/stated", "judging/rows",
    "judging/elsewhere", "judging/binomial", "instances/bound", "instances/bounds", "theorems/refutation",
    "lowering/branch_and_bound", "lowering/enclosures",
)  # fmt: skip
TARGETS = {
    "calculus": (
        "symbolic/calculus/*.py",
        "symbolic/derivations/derivation.py",
        "symbolic/derivations/obligations.py",
        "symbolic/derivations/signs.py",
        "symbolic/calculus/approximation.py",
        "symbolic/derivations/inequalities.py",
    ),
    "bridge": (
        "bridge/[!eq]*/**/*.py",
        "bridge/expressions/*.py",
        "bridge/questions/*.py",
        "bridge/questions/[!e]*/*.py",
    ),  # no words, no layout
    "numeric": ("numeric/**/*.py",),
    "balls": ("numeric/balls/*.py", "numeric/networks/exact_hinges.py"),
    "certify": ("bridge/questions/certify/*.py",),
    "lowering": ("bridge/lowering/*.py",),
    "judging": tuple(f"bridge/{name}.py" for name in JUDGING),
}
PRINTED = {"latex", "_repr_latex_", "__repr__", "__str__"}


@dataclass(frozen=True)
class Fault:
    """One change of one place. File, function, operator and the changed lines identify it, whatever its line number."""

    file: str
    function: str
    operator: str
    original: str
    mutated: str
    line: int = field(compare=False)
    edit: Edit = field(compare=False)

    @property
    def key(self) -> tuple[str, str, str, str, str]:
        return self.file, self.function, self.operator, self.original, self.mutated

    @property
    def digest(self) -> str:
        return hashlib.sha256("\0".join(self.key).encode()).hexdigest()

    def source(self, root: Path) -> bytes:
        """The source with the fault. Raises SyntaxError if an operator made what is not Python."""
        code = Source((root / self.file).read_bytes()).applied(self.edit)
        ast.parse(code)
        return code

    def diff(self) -> str:
        removed = (f"- {line}" for line in self.original.splitlines())
        added = (f"+ {line}" for line in self.mutated.splitlines())
        return "\n".join([f"{self.file}:{self.line} in {self.function} ({self.operator})", *removed, *added])


def targets(root: Path, part: str = "calculus") -> list[str]:
    return sorted({path.relative_to(root).as_posix() for pattern in TARGETS[part] for path in root.glob(pattern)})


def enumerate_faults(root: Path, files: Iterable[str], operators: Mapping[str, Operator] = OPERATORS) -> list[Fault]:
    """Every fault that the operators can make, each once."""
    found = {fault: None for file in files for fault in faults_of(file, (root / file).read_bytes(), operators)}
    return list(found)


def faults_of(file: str, code: bytes, operators: Mapping[str, Operator] = OPERATORS) -> Iterator[Fault]:
    source = Source(code)
    made: set[Edit] = set()
    for statement in source.tree.body:
        if not _is_export(statement):
            for function, node in _visited(statement, "module"):
                for name, operator in operators.items():
                    for edit in operator(node, source):
                        if edit not in made and source.changes(edit):
                            made.add(edit)
                            yield _fault(file, function, name, source, edit)


def _is_export(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__"


def _fault(file: str, function: str, operator: str, source: Source, edit: Edit) -> Fault:
    first, last = source.lines(edit.start, edit.end)
    before, changed = source.code[first:last], source.applied(edit)
    after = changed[first : last + len(changed) - len(source.code)]
    line = source.code.count(b"\n", 0, edit.start) + 1
    return Fault(file, function, operator, before.decode().strip(), after.decode().strip(), line, edit)


def _visited(node: ast.AST, function: str) -> Iterator[tuple[str, ast.AST]]:
    """The nodes whose change is a fault, each with the function that contains it."""
    if _is_wording(node):
        return
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        function = node.name if function == "module" else f"{function}.{node.name}"
    yield function, node
    for child in ast.iter_child_nodes(node):
        if child not in _left_out(node):
            yield from _visited(child, function)


def _is_wording(node: ast.AST) -> bool:
    match node:
        case ast.Raise() | ast.JoinedStr() | ast.Import() | ast.ImportFrom():
            return True
        case ast.FunctionDef(str(name)):
            return name in PRINTED or name.endswith("_latex")
        case ast.keyword(str(name)):
            return name in WORDING
    return False


def _left_out(node: ast.AST) -> list[ast.AST]:
    """Annotations, decorators and bases."""
    match node:
        case ast.FunctionDef():
            return [*node.decorator_list, *([node.returns] if node.returns else [])]
        case ast.ClassDef():
            return [*node.decorator_list, *node.bases, *node.keywords]
        case ast.AnnAssign() | ast.arg() if node.annotation:
            return [node.annotation]
    return []


def draw(faults: Sequence[Fault], count: int, seed: int) -> list[Fault]:
    """A sample in which no operator and no file dominates: each fault from the operator, then the file, drawn least.

    Among equals a hash of the fault and the seed decides, so a change of one function leaves most of the draw as it is.
    """
    order = sorted(faults, key=lambda fault: hashlib.sha256(f"{seed} {fault.digest}".encode()).digest())
    strata: dict[tuple[str, str], list[Fault]] = {}
    for fault in order:
        strata.setdefault((fault.operator, fault.file), []).append(fault)
    drawn: list[Fault] = []
    operators, files = Counter[str](), Counter[str]()
    while strata and len(drawn) < count:
        chosen = min(strata, key=lambda stratum: (operators[stratum[0]], files[stratum[1]], stratum))
        drawn.append(strata[chosen].pop(0))
        operators[chosen[0]] += 1
        files[chosen[1]] += 1
        strata = {stratum: rest for stratum, rest in strata.items() if rest}
    return drawn
