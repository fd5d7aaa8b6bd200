"""One source file: its syntax tree, the parents of the nodes, and the exact text of each node."""

import ast
import functools
import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Edit:
    """The bytes from `start` to `end` replaced by `text`."""

    start: int
    end: int
    text: str


class Source:
    def __init__(self, code: bytes) -> None:
        self.code = code
        self.tree = ast.parse(code)
        lengths = [len(line) for line in code.splitlines(keepends=True)]
        self._starts = [sum(lengths[:k]) for k in range(len(lengths) + 1)]

    @functools.cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    def start(self, node: Any) -> int:
        return self._starts[node.lineno - 1] + node.col_offset

    def end(self, node: Any) -> int:
        return self._starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: ast.AST) -> str:
        return self.code[self.start(node) : self.end(node)].decode()

    def enclosed(self, node: ast.AST) -> str:
        """The text in parentheses, unless it binds so closely that it needs none."""
        text = self.text(node)
        atomic = isinstance(node, ast.Name | ast.Constant | ast.Attribute | ast.Call | ast.Subscript)
        return text if atomic or (text.startswith("(") and isinstance(node, ast.Tuple)) else f"({text})"

    def replaced(self, node: ast.AST, text: str) -> Edit:
        return Edit(self.start(node), self.end(node), text)

    def between(self, left: ast.AST, right: ast.AST, token: str, text: str) -> Edit:
        """The operator `token` between two operands."""
        gap = self.code[self.end(left) : self.start(right)].decode()
        at = self.end(left) + len(gap[: gap.index(token)].encode())
        return Edit(at, at + len(token.encode()), text)

    def without(self, keyword: ast.keyword) -> Edit:
        """An argument of a call and the adjacent comma."""
        start, end = self.start(keyword), self.end(keyword)
        after = re.match(rb"\s*, *", self.code[end:])
        if after:
            return Edit(start, end + after.end(), "")
        before = re.search(rb",?\s*$", self.code[:start])
        return Edit(before.start() if before else start, end, "")

    def applied(self, edit: Edit) -> bytes:
        return self.code[: edit.start] + edit.text.encode() + self.code[edit.end :]

    def changes(self, edit: Edit) -> bool:
        """Whether the edit changes more than spaces and parentheses: f(a, a) with its arguments swapped is the same."""
        return _bare(self.code[edit.start : edit.end].decode()) != _bare(edit.text)

    def lines(self, start: int, end: int) -> tuple[int, int]:
        """The whole lines that hold the bytes from start to end."""
        first = self.code.rfind(b"\n", 0, start) + 1
        last = self.code.find(b"\n", end)
        return first, len(self.code) if last < 0 else last


def _bare(text: str) -> str:
    return re.sub(r"[\s()]", "", text)
