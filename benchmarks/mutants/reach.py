"""Which functions are entered: each function of an instrumented source notes its name when it is called."""

import ast

entered: set[str] = set()  # by the tests of this process since somebody last emptied it


def instrumented(file: str, code: bytes) -> bytes:
    """The same program, in which each function begins by noting `file:name`."""
    tree = _Noting(file).visit(ast.parse(code))
    start = _after_docstring(tree)
    tree.body[start:start] = ast.parse("from benchmarks.mutants.reach import entered as _entered").body
    return ast.unparse(ast.fix_missing_locations(tree)).encode()


class _Noting(ast.NodeTransformer):
    def __init__(self, name: str, between: str = ":") -> None:
        self.name, self.between = name, between

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        inside = self._inside(node)
        inside.generic_visit(node)
        start = _after_docstring(node)
        node.body[start:start] = ast.parse(f"_entered.add({inside.name!r})").body
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        self._inside(node).generic_visit(node)
        return node

    def _inside(self, node: ast.FunctionDef | ast.ClassDef) -> "_Noting":
        return _Noting(f"{self.name}{self.between}{node.name}", ".")


def _after_docstring(node: ast.Module | ast.FunctionDef) -> int:
    return 0 if ast.get_docstring(node) is None else 1
