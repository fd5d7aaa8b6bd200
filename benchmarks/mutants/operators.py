"""The syntax operators: each takes a node of the syntax tree and yields the faults that can be made there."""

import ast
from collections.abc import Callable, Iterator, Mapping

from benchmarks.mutants.source import Edit, Source

WORDING = {"reason", "source", "statement", "because", "meaning"}  # arguments that word a message

Operator = Callable[[ast.AST, Source], Iterator[Edit]]


# --- products and sums -----------------------------------------------------------------------------------------------


def drop_factor(node: ast.AST, source: Source) -> Iterator[Edit]:
    """a b -> a or b; a / b -> a or 1 / b."""
    match node:
        case ast.BinOp(left, ast.Mult(), right):
            yield source.replaced(node, source.enclosed(left))
            if not _is_operation(left, ast.Mult, ast.Div):  # else the factors of the left are dropped one by one
                yield source.replaced(node, source.enclosed(right))
        case ast.BinOp(left, ast.Div(), right):
            yield source.replaced(node, source.enclosed(left))
            if not _is_operation(left, ast.Mult, ast.Div) and not isinstance(left, ast.Constant):
                yield source.replaced(node, f"(1 / {source.enclosed(right)})")


def drop_term(node: ast.AST, source: Source) -> Iterator[Edit]:
    """a + b -> a or b; a - b -> a or -b; a += b -> a = b."""
    match node:
        case ast.BinOp(left, ast.Add() | ast.Sub() as sign, right) if not _text_operand(node):
            yield source.replaced(node, source.enclosed(left))
            if not _is_operation(left, ast.Add, ast.Sub):
                rest = source.enclosed(right)
                yield source.replaced(node, f"(-{rest})" if isinstance(sign, ast.Sub) else rest)
        case ast.AugAssign(target, ast.Add(), value):
            yield source.between(target, value, "+=", "=")


def plus_minus(node: ast.AST, source: Source) -> Iterator[Edit]:
    match node:
        case ast.BinOp(left, ast.Add(), right) if not _text_operand(node) and not _displays(left, right):
            yield source.between(left, right, "+", "-")
        case ast.BinOp(left, ast.Sub(), right):
            yield source.between(left, right, "-", "+")


def negate(node: ast.AST, source: Source) -> Iterator[Edit]:
    """-a -> a."""
    match node:
        case ast.UnaryOp(ast.USub(), operand):
            yield source.replaced(node, source.enclosed(operand))


def max_sum(node: ast.AST, source: Source) -> Iterator[Edit]:
    """A sum for a maximum, a maximum for a sum, a minimum for a maximum and the reverse."""
    others = {"Max": ("Add", "Min"), "Min": ("Max",), "Add": ("Max",)}
    match node:
        case ast.Call(ast.Attribute(ast.Name("sp"), str(name)) as function) if name in others:
            yield from (source.replaced(function, f"sp.{other}") for other in others[name])


def swap_operands(node: ast.AST, source: Source) -> Iterator[Edit]:
    """a / b -> b / a, a - b -> b - a, a ** b -> b ** a."""
    match node:
        case ast.BinOp(left, ast.Div() | ast.Sub() | ast.Pow() as operation, right):
            sign = {ast.Div: "/", ast.Sub: "-", ast.Pow: "**"}[type(operation)]
            yield source.replaced(node, f"({source.enclosed(right)} {sign} {source.enclosed(left)})")


def exponent(node: ast.AST, source: Source) -> Iterator[Edit]:
    """a ** b -> a, and a ** (b + 1) unless b is a number, which `off_by_one` changes."""
    match node:
        case ast.BinOp(left, ast.Pow(), right):
            yield source.replaced(node, source.enclosed(left))
            if not isinstance(right, ast.Constant):
                yield source.replaced(right, f"({source.text(right)} + 1)")


# --- numbers ---------------------------------------------------------------------------------------------------------


def off_by_one(node: ast.AST, source: Source) -> Iterator[Edit]:
    """A whole number, or the count of a range, one more and one less."""
    match node:
        case ast.Constant(int(number)) if not isinstance(number, bool):
            yield source.replaced(node, str(number + 1))
            if number > 0:
                yield source.replaced(node, str(number - 1))
        case ast.Call(ast.Name("range"), [*_, count]) if not isinstance(count, ast.Constant):
            yield source.replaced(count, f"{source.enclosed(count)} + 1")
            yield source.replaced(count, f"{source.enclosed(count)} - 1")


def flag(node: ast.AST, source: Source) -> Iterator[Edit]:
    """True <-> False; not that of `strict`, which checks that two lengths of ours are equal and computes nothing."""
    of_strict = source.code[: source.start(node)].endswith(b"strict=") if isinstance(node, ast.Constant) else False
    if isinstance(node, ast.Constant) and isinstance(node.value, bool) and not of_strict:
        yield source.replaced(node, str(not node.value))


# --- functions -------------------------------------------------------------------------------------------------------


def drop_function(node: ast.AST, source: Source) -> Iterator[Edit]:
    """A root or an absolute value dropped."""
    match node:
        case ast.Call(ast.Attribute(ast.Name("sp"), "sqrt" | "Abs") | ast.Name("abs"), [argument], []):
            yield source.replaced(node, f"({source.text(argument)})")


def rounding(node: ast.AST, source: Source) -> Iterator[Edit]:
    """ceiling <-> floor, and a quotient rounded up instead of down."""
    other = {"ceiling": "floor", "floor": "ceiling"}
    match node:
        case ast.Call(ast.Attribute(ast.Name("sp"), str(name)) as function) if name in other:
            yield source.replaced(function, f"sp.{other[name]}")
        case ast.BinOp(left, ast.FloorDiv(), right):
            yield source.replaced(node, f"(-(-{source.enclosed(left)} // {source.enclosed(right)}))")


def builtin(node: ast.AST, source: Source) -> Iterator[Edit]:
    """min <-> max, any <-> all."""
    other = {"min": "max", "max": "min", "any": "all", "all": "any"}
    if isinstance(node, ast.Name) and node.id in other:
        yield source.replaced(node, other[node.id])


def swap_arguments(node: ast.AST, source: Source) -> Iterator[Edit]:
    """Two neighbours among the positional arguments of a function that is not symmetric."""
    symmetric = {"Add", "Mul", "Max", "Min", "max", "min", "isinstance", "range", "Eq", "Ne", "And", "Or"}
    if not isinstance(node, ast.Call) or _name(node.func) in symmetric:
        return
    for left, right in zip(node.args, node.args[1:], strict=False):
        if not any(isinstance(arg, ast.Starred | ast.Lambda) or _is_text(arg) for arg in (left, right)):
            between = source.code[source.end(left) : source.start(right)].decode()
            swapped = source.text(right) + between + source.text(left)
            yield Edit(source.start(left), source.end(right), swapped)


def drop_keyword(node: ast.AST, source: Source) -> Iterator[Edit]:
    """A named argument."""
    if isinstance(node, ast.Call):
        named = [keyword for keyword in node.keywords if keyword.arg and keyword.arg not in {*WORDING, "strict"}]
        yield from (source.without(keyword) for keyword in named)


# --- comparisons and conditions --------------------------------------------------------------------------------------


def strictness(node: ast.AST, source: Source) -> Iterator[Edit]:
    """< <-> <=, > <-> >=, sp.Lt <-> sp.Le, sp.Gt <-> sp.Ge."""
    yield from _compared(node, source, {ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="),
                                        ast.GtE: (">=", ">")})  # fmt: skip
    yield from _related(node, source, {"Lt": "Le", "Le": "Lt", "Gt": "Ge", "Ge": "Gt"})


def equality(node: ast.AST, source: Source) -> Iterator[Edit]:
    """== <-> !=, is <-> is not, in <-> not in, sp.Eq <-> sp.Ne."""
    yield from _compared(node, source, {ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.Is: ("is", "is not"),
                                        ast.IsNot: ("is not", "is"), ast.In: ("in", "not in"),
                                        ast.NotIn: ("not in", "in")})  # fmt: skip
    yield from _related(node, source, {"Eq": "Ne", "Ne": "Eq"})


def sign(node: ast.AST, source: Source) -> Iterator[Edit]:
    """positive <-> nonnegative and negative <-> nonpositive, as a question and as an assumption."""
    pairs = [("positive", "nonnegative"), ("negative", "nonpositive")]
    other = {a: b for pair in pairs for a, b in (pair, pair[::-1])}
    match node:
        case ast.Attribute(_, str(name)) if name.startswith("is_") and name[3:] in other:
            yield Edit(source.end(node) - len(name), source.end(node), f"is_{other[name[3:]]}")
        case ast.keyword(str(name)) if name in other:
            yield Edit(source.start(node), source.start(node) + len(name), other[name])


def and_or(node: ast.AST, source: Source) -> Iterator[Edit]:
    if isinstance(node, ast.BoolOp):
        word, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            yield source.between(left, right, word, other)


def drop_condition(node: ast.AST, source: Source) -> Iterator[Edit]:
    """One operand of `and`, `or`, or of the alternatives of a type."""
    match node:
        case ast.BoolOp(_, values):
            for value in values:
                rest = [source.enclosed(other) for other in values if other is not value]
                yield source.replaced(node, f"({f' {_word(node)} '.join(rest)})")
        case ast.BinOp(left, ast.BitOr(), right):
            yield source.replaced(node, source.enclosed(left))
            yield source.replaced(node, source.enclosed(right))


def drop_not(node: ast.AST, source: Source) -> Iterator[Edit]:
    match node:
        case ast.UnaryOp(ast.Not(), operand):
            yield source.replaced(node, source.enclosed(operand))


def condition(node: ast.AST, source: Source) -> Iterator[Edit]:
    """The condition of a statement or of a comprehension, always true or always false."""
    match node:
        case ast.If(test) if not _only_raises(node):
            yield from (source.replaced(test, forced) for forced in ("True", "False"))
        case ast.comprehension(ifs=tests):
            yield from (source.replaced(test, forced) for test in tests for forced in ("True", "False"))


def branch(node: ast.AST, source: Source) -> Iterator[Edit]:
    """a if c else b -> a or b."""
    match node:
        case ast.IfExp(_, first, second) if not (_is_text(first) or _is_text(second)):
            yield source.replaced(node, source.enclosed(first))
            yield source.replaced(node, source.enclosed(second))


# --- premises --------------------------------------------------------------------------------------------------------


def precondition(node: ast.AST, source: Source) -> Iterator[Edit]:
    """A refusal that is never raised: `if ...: raise` with a false condition."""
    if isinstance(node, ast.If) and _only_raises(node):
        yield source.replaced(node.test, "False")


def drop_statement(node: ast.AST, source: Source) -> Iterator[Edit]:
    """A call whose result is not used (it raises or appends), and an addition to a variable."""
    match node:
        case ast.Expr(ast.Call()) | ast.AugAssign():
            yield source.replaced(node, "pass")


def obligation(node: ast.AST, source: Source) -> Iterator[Edit]:
    """An obligation with a true condition, and functions that return no obligations."""
    match node:
        case ast.Call(ast.Name("Obligation" | "_open"), [_, wanted, *_]) if source.text(wanted) != "sp.true":
            yield source.replaced(wanted, "sp.true")
        case ast.Return(ast.expr() as value) if _returns_obligations(node, source) and source.text(value) != "()":
            yield source.replaced(value, "()")
        case ast.keyword("obligations", value):
            yield source.replaced(value, "()")


def drop_element(node: ast.AST, source: Source) -> Iterator[Edit]:
    """An element of a tuple or list of free length: an argument, an assigned or added value, a variadic result."""
    if isinstance(node, ast.Tuple | ast.List) and _free_length(node, source):
        opening, closing = ("(", ")") if isinstance(node, ast.Tuple) else ("[", "]")
        for element in node.elts:
            rest = "".join(f"{source.text(other)}, " for other in node.elts if other is not element)
            yield source.replaced(node, f"{opening}{rest}{closing}")


# fmt: off
_ALL: tuple[Operator, ...] = (
    drop_factor, drop_term, plus_minus, negate, max_sum, swap_operands, exponent, off_by_one, flag, drop_function,
    rounding, builtin, swap_arguments, drop_keyword, strictness, equality, sign, and_or, drop_condition, drop_not,
    condition, branch, precondition, drop_statement, obligation, drop_element,
)
# fmt: on
OPERATORS: Mapping[str, Operator] = {operator.__name__: operator for operator in _ALL}


# --- what the operators test on a node --------------------------------------------------------------------------------


def _is_operation(node: ast.AST, *kinds: type[ast.operator]) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, kinds)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _text_operand(node: ast.AST) -> bool:
    return _is_text(node) or (isinstance(node, ast.BinOp) and (_text_operand(node.left) or _text_operand(node.right)))


def _displays(*nodes: ast.AST) -> bool:
    """A tuple or list written out, which cannot be subtracted."""
    return any(isinstance(node, ast.Tuple | ast.List | ast.ListComp) for node in nodes)


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _word(node: ast.BoolOp) -> str:
    return "and" if isinstance(node.op, ast.And) else "or"


def _only_raises(node: ast.If) -> bool:
    return all(isinstance(statement, ast.Raise) for statement in node.body)


def _compared(node: ast.AST, source: Source, others: Mapping[type[ast.cmpop], tuple[str, str]]) -> Iterator[Edit]:
    if isinstance(node, ast.Compare):
        operands = [node.left, *node.comparators]
        for left, kind, right in zip(operands, node.ops, operands[1:], strict=False):
            if type(kind) in others:
                yield source.between(left, right, *others[type(kind)])


def _related(node: ast.AST, source: Source, others: Mapping[str, str]) -> Iterator[Edit]:
    match node:
        case ast.Attribute(ast.Name("sp"), str(name)) if name in others:
            yield source.replaced(node, f"sp.{others[name]}")


def _returns_obligations(node: ast.AST, source: Source) -> bool:
    while not isinstance(node, ast.FunctionDef | ast.Lambda):
        node = source.parents[node]
    returns = None if isinstance(node, ast.Lambda) else node.returns
    return returns is not None and source.text(returns) == "tuple[Obligation, ...]"


def _free_length(node: ast.Tuple | ast.List, source: Source) -> bool:
    parent = source.parents[node]
    if not isinstance(node.ctx, ast.Load) or not node.elts:
        return False
    if isinstance(parent, ast.Return):
        return _returns_obligations(parent, source)
    if isinstance(parent, ast.Assign):
        return isinstance(parent.targets[0], ast.Name)
    if isinstance(parent, ast.BinOp):
        return isinstance(parent.op, ast.Add)
    return isinstance(parent, ast.keyword | ast.AugAssign)
