"""What an output is, in words and formulas: the graph as definitions, and what differs in the approximate one."""

import re
from collections import Counter
from collections.abc import Sequence

import sympy as sp

from bridge.expressions import block_texts as block_texts  # it registers what it writes
from bridge.expressions.attention import CutSoftmaxOf
from bridge.expressions.expression import Expression, method
from bridge.expressions.formula_texts import formula_at, object_text
from bridge.expressions.functions import Function
from bridge.expressions.inputs import Value
from bridge.expressions.matrices import Matrix, MatrixImage
from bridge.expressions.matrix_formulas import signs_of
from bridge.expressions.node_texts import INDICES, Writing
from bridge.expressions.repetition import RepeatedLayers
from bridge.expressions.running import nodes_of
from symbolic.words.ascii_math import AsciiMathError, ascii_math


@method("definition")
def definition(output: Expression, taken: Sequence[str]) -> tuple[str, str] | None:
    """What the exact output is, and what the network computes; None where it cannot be written as a formula.

    `taken` are names that no value may have.
    """
    if isinstance(output, Value) and output.meanings[0] and output.error == 0:
        signs = signs_of(output.program)
        return output.meanings[0] + (f", where {_listed(signs)}" if signs else ""), "the same"
    nodes = nodes_of([output])
    depth, free = _depth(output), [each for each in INDICES if each not in taken]
    if depth > len(free):
        return None
    uses = Counter(id(part) for node in nodes for part in (*node.parts, *node.inner))
    writing = Writing(uses, [*taken, *free[:depth]], free)
    exact, near = writing.both(output)
    lines = [(line.letter, line.exact) for line in writing.lines]
    changed = [(line.letter, line.approximate) for line in writing.lines if line.exact != line.approximate]
    own = near if near != exact or not lines else ""
    made = _made(list(writing.matrices.values()))
    if any(isinstance(node, MatrixImage) and node.count is not None for node in nodes):
        writing.words.append("matrices act on each token")
    words = [
        _where(exact, lines, list(dict.fromkeys(writing.words))),
        _network(changed, own, [*made, *(each for each in dict.fromkeys(writing.notes) if each not in writing.words)]),
    ]
    formulas = [formula for text in words for formula in re.findall(r"`([^`]*)`", text)]
    return (words[0], words[1]) if all(map(_parses, formulas)) else None


def _depth(output: Expression) -> int:
    """How many repetitions stand within one another."""
    loops = [node for node in nodes_of([output]) if isinstance(node, RepeatedLayers)]
    return max((1 + _depth(loop.body) for loop in loops), default=0)


def largest_difference(function: Function) -> str:
    """What the letter of a function with another one in its place stands for."""
    share, g = function.difference
    formula = f"|{formula_at(g, 't')}|"
    shown = f"`{formula}`" if _parses(formula) else f"|f_hat - f|/({sp.sstr(share)})"
    return f"largest {shown} at the arguments `t` of {function.name} in the network"


def seen_weight(node: Expression) -> str:
    """What the letter of a node stands for: of a softmax over some keys, or of a loss."""
    if isinstance(node, CutSoftmaxOf):
        return f"largest sum, over queries, of the weights of the keys that ``{node.label}`` leaves out, in the network"
    return f"largest sum of the weights of all classes but the label, at the exact scores of ``{node.label}``"


def _made(matrices: Sequence[Matrix]) -> list[str]:
    """How approximate matrices are made."""
    changed = [(each.name, each.change) for each in matrices if each.change is not None]
    return [change.words(object_text(name), object_text(name, hat=True)) for name, change in changed]


def _parses(formula: str) -> bool:
    try:
        ascii_math(formula)
    except AsciiMathError:
        return False
    return True


def _where(value: str, lines: Sequence[tuple[str, str]], words: Sequence[str]) -> str:
    known = [*(f"`{letter} = {text}`" for letter, text in lines), *words]
    return f"`{value}`, where {_listed(known)}" if known else f"`{value}`"


def _network(changed: Sequence[tuple[str, str]], own: str, notes: Sequence[str]) -> str:
    """The output itself, if it differs, and the letters that differ."""
    formulas = _listed([f"`{letter} = {text}`" for letter, text in changed]) if changed else ""
    same = f"`{own}`, where {formulas}" if own and changed else f"`{own}`" if own else f"the same for {formulas}"
    if not own and not changed:
        same = "the same"
    return f"{same}, where {_listed(notes)}" if notes else same


def _listed(parts: Sequence[str]) -> str:
    *others, last = parts
    return f"{', '.join(others)} and {last}" if others else last
