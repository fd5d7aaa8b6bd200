"""The syntax operators beside those of `benchmarks.mutants`: coefficients, preconditions, extremes."""

import ast
from collections.abc import Iterator

from benchmarks.mutants import operators
from benchmarks.mutants.source import Edit, Source

PREMISES = {"nonnegative", "positive", "whole", "real"}  # their named arguments are tested one by one
EXTREMES = {"Max", "Min", "sqrt", "Add"}
BOUNDS = {"size", "radius"}
COUNTS = {"depth", "count", "steps", "index", "last", "first", "layers", "members", "n"}
LISTS = ("obligations", "owed", "numbers +", "+ numbers", "closing", "premises", "premise)")
LOCAL = 3  # the place of the bound among the arguments of `rule_step`


def coefficient(node: ast.AST, source: Source) -> Iterator[Edit]:
    """In a rule: a product, a term of a sum, an operand of an extreme, a bound alone, each times 999/1000."""
    if not _is_list(node, source):
        for each in _bounded(node):
            if _is_bound(each, source):
                yield source.replaced(each, f"(999 * {source.enclosed(each)} / 1000)")


def _bounded(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.BinOp(left, ast.Add() | ast.Sub(), right):
            yield from (each for each in (left, right) if not _is_sum(each))
        case ast.Call(ast.Name("rule_step"), args) if len(args) > LOCAL:
            yield from (each for each in args[LOCAL : LOCAL + 1] if not _is_sum(each))
        case ast.Call(ast.Attribute(ast.Name("sp"), str(name)), args) if name in EXTREMES:
            yield from (each for each in args if not _is_sum(each))
        case ast.Call(function, _, keywords) if not (isinstance(function, ast.Name) and function.id in PREMISES):
            yield from (word.value for word in keywords if word.arg in BOUNDS and not _is_sum(word.value))
        case ast.Assign(_, ast.BinOp(op=ast.Mult() | ast.Div()) as product):
            yield product
        case ast.Return(ast.BinOp(op=ast.Mult() | ast.Div()) as product):
            yield product


def _is_sum(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub)


def _is_bound(node: ast.AST, source: Source) -> bool:
    """Not a count of layers, steps or coordinates, and not 0."""
    if not isinstance(node, ast.BinOp | ast.Name | ast.Attribute | ast.Call):
        return False
    return source.text(node) not in COUNTS and not source.text(node).startswith("sp.Integer")


def _is_list(node: ast.AST, source: Source) -> bool:
    """A sum of obligations, or of the coefficients of an exponent or a range."""
    parent = source.parents.get(node)
    in_exponent = isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Pow) and parent.right is node
    text = source.text(node) if isinstance(node, ast.BinOp) else ""
    return in_exponent or any(word in text for word in LISTS)


def precondition(node: ast.AST, source: Source) -> Iterator[Edit]:
    """In a rule: a refusal, a test, an obligation, or one of the numbers that are tested, removed."""
    yield from operators.precondition(node, source)
    yield from operators.obligation(node, source)
    match node:
        case ast.Expr(ast.Call()):
            yield from operators.drop_statement(node, source)
        case ast.Call(ast.Name(str(name)), _, [_, _, *_] as keywords) if name in PREMISES:
            yield from (source.without(word) for word in keywords if word.arg not in (None, "least"))
        case ast.AugAssign(ast.Name("obligations")):
            yield source.replaced(node, "pass")
        case ast.keyword("obligations", ast.Tuple(elements)) if len(elements) > 1:
            for element in elements:
                rest = "".join(f"{source.text(other)}, " for other in elements if other is not element)
                yield source.replaced(node.value, f"({rest})")
