"""Inequalities that a user types, parsed by a whitelist and never evaluated: `f`, `f >= g`, `f > g` and so on."""

import ast
import itertools
import math
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

import sympy as sp

from bridge.questions.certify.deadline import Deadline
from bridge.questions.certify.definedness import ENDS_OF_DOMAINS, conditions_of
from bridge.questions.certify.expressions import CONSTANTS, FUNCTIONS
from bridge.questions.certify.sizes import MOST_BITS, MOST_POWER, check_sizes
from symbolic.derivations.inequalities import Inequality
from symbolic.words.errors import UsageError

MOST_CHARACTERS, MOST_DIGITS, MOST_EXPONENT = 40_000, 4_000, 1_000
NUMBER = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,6})?")
KNOWN = {name.lower() if name in ("Abs", "Max", "Min") else name: f for name, f in FUNCTIONS.items()} | FUNCTIONS
DEFINED = "defined: "  # prefix of the inequalities that state where an expression is defined
SIMPLIFIED = "; simplified to "
LETTER = "'"  # behind the name of a letter that functions or constants have too; no name that is typed has it
COMPARISONS = {ast.GtE: (1, False), ast.Gt: (1, True), ast.LtE: (-1, False), ast.Lt: (-1, True)}


def read_inequality(
    text: str, ranges: Sequence[str], where: Sequence[str] = (), deadline: Deadline | None = None
) -> list[Inequality]:
    """The inequality as typed, with exact ranges "x=0,1/3", preceded by those that state where it is defined (sqrt).

    Raises UsageError with the position of a syntax error, and OutOfTime if SymPy takes too long to simplify it.
    """
    check = deadline.check if deadline else lambda: None
    as_typed = typed_inequality(text, ranges, where)
    simplified = replace(as_typed, expression=read_claim(text)[0])
    check()
    kept = conditions_of(simplified.expression, {})
    check()
    needed = conditions_of(as_typed.expression, {})
    check()
    lost = [each for each in needed if each not in kept]
    meaning = as_typed.meaning + (f"{SIMPLIFIED}{sp.sstr(simplified.expression)}" if lost else "")
    claim = replace(as_typed, meaning=meaning)
    # a pole that is left needs no claim of its own
    listed = [each.claim for each in needed if each in lost or each.relation in ENDS_OF_DOMAINS]
    return [*(_on(claim, *each) for each in dict.fromkeys(listed)), claim]


def typed_inequality(text: str, ranges: Sequence[str], where: Sequence[str] = ()) -> Inequality:
    """The inequality as typed, without simplification, so that it takes no time. Raises UsageError."""
    box = read_ranges(ranges)
    typed, strict = read_claim(text, evaluate=False)
    conditions = tuple(_condition(words) for words in where)
    _require_ranges(typed, conditions, box)
    return Inequality(text.strip(), typed, box, conditions, strict, meaning="typed by the user")


def _require_ranges(typed: sp.Expr, conditions: Sequence[sp.Expr], box: Iterable[sp.Symbol]) -> None:
    free = set().union(*(each.free_symbols for each in (typed, *conditions)))
    missing = sorted(s.name for s in free - set(box))
    unused = sorted(s.name for s in set(box) - free)
    if missing or unused:
        raise UsageError(
            "; ".join(
                [f"no range is given for {name}; add --range {name}=LOW,HIGH" for name in missing]
                + [f"--range {name}=... is given, but the expression has no {name}" for name in unused]
            )
            + "."
        )


def _condition(words: str) -> sp.Expr:
    """The expression that a condition requires to be >= 0. Raises UsageError for a strict condition: a point on its
    boundary could refute."""
    condition, strict = read_claim(words, evaluate=False)
    if strict:
        raise UsageError(f"--where {words!r} is strict, but the region of a proof is closed; write >= or <=")
    return condition


def _on(claim: Inequality, condition: sp.Expr, strict: bool) -> Inequality:
    return replace(
        claim, name=f"{DEFINED}{sp.sstr(condition)}", expression=condition, strict=strict, meaning="where it is defined"
    )


def read_ranges(ranges: Sequence[str]) -> dict[sp.Symbol, tuple[sp.Rational, sp.Rational]]:
    """`x=0,1/3` as exact rationals ("0.1" is 1/10). Raises UsageError."""
    box: dict[sp.Symbol, tuple[sp.Rational, sp.Rational]] = {}
    for text in ranges:
        name, equals, ends = (part.strip() for part in text.partition("="))
        low, comma, high = (part.strip() for part in ends.partition(","))
        if not (equals and comma and re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII)):
            raise UsageError(f"--range {text} is not of the form NAME=LOW,HIGH.")
        symbol = sp.Symbol(name, real=True)
        if symbol in box or name in CONSTANTS or name in KNOWN:
            raise UsageError(f"--range {text}: {name} is {'given twice' if symbol in box else 'not a free name'}.")
        box[symbol] = (read_rational(low, text), read_rational(high, text))
        if box[symbol][0] > box[symbol][1]:
            raise UsageError(f"--range {text} is empty: give LOW <= HIGH.")
    return box


def read_rational(text: str, whole: str) -> sp.Rational:
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text)
    p, slash, q = digits.partition("/")
    if not NUMBER.fullmatch(p) or (slash and not NUMBER.fullmatch(q)):
        raise UsageError(f"--range {whole}: {text or 'nothing'} is not an exact number; write 1/3, 0.1 or 1e-3.")
    below = _exact(q) if slash else Fraction(1)
    if below == 0:
        raise UsageError(f"--range {whole}: {text} divides by 0.")
    return sp.Rational(sign * _exact(p) / below)


def _exact(text: str) -> Fraction:
    exponent = re.search(r"[eE]([+-]?\d+)$", text)
    if len(text) > MOST_DIGITS or (exponent and abs(int(exponent[1])) > MOST_EXPONENT):
        raise UsageError(f"the number {text[:40]} is too large or too small (at most 10^{MOST_EXPONENT}).")
    return Fraction(text)


def read_claim(text: str, *, evaluate: bool = True, letters: Collection[str] = ()) -> tuple[sp.Expr, bool]:
    """The expression that is claimed to be >= 0 (> 0 where True); without `evaluate` just as it was typed.

    A name of `letters` is that letter even where a function or a constant has the same name (gamma, zeta, E).
    Raises UsageError before evaluation if the text is not an expression or if its numbers become too large.
    """
    if len(text) > MOST_CHARACTERS:
        raise UsageError(
            f"the expression has {len(text)} characters, more than {MOST_CHARACTERS}; define it in Python."
        )
    text = text.strip()
    try:
        tree = _marked(ast.parse(text, mode="eval").body, letters)
    except SyntaxError as error:
        if "nested" in error.msg:
            raise UsageError(f"the expression {text[:60]!r} is nested too deeply.") from None
        if word := re.search(r"\blambda\b", text):
            raise UsageError(_at(text, word.start(), "is a keyword of Python; write lamda")) from None
        raise UsageError(_at(text, (error.offset or 1) - 1, "is not an expression here")) from None
    except (ValueError, RecursionError, MemoryError):
        raise UsageError(
            f"the expression {text[:60]!r} cannot be read: odd characters, or nested too deeply."
        ) from None
    try:
        typed = _checked(_claim(tree, text, evaluate=False), text)
        return _checked(_claim(tree, text, evaluate=True), text) if evaluate else typed
    except RecursionError:
        raise UsageError(f"the expression {text[:60]!r} is nested too deeply.") from None


# Without recursion, for a long sum is a deep tree.
def _marked(tree: ast.expr, letters: Collection[str]) -> ast.expr:
    """The tree with a mark on each name that is one of the letters; what is called stays a function."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in letters and id(node) not in called:
            node.id += LETTER
    return tree


def _checked(claim: tuple[sp.Expr, bool], text: str) -> tuple[sp.Expr, bool]:
    check_sizes(claim[0], f"the expression {text[:60]!r}")
    return claim


def _claim(tree: ast.expr, text: str, *, evaluate: bool) -> tuple[sp.Expr, bool]:
    if not isinstance(tree, ast.Compare):
        return _expression(tree, text, evaluate), False
    if len(tree.ops) != 1 or type(tree.ops[0]) not in COMPARISONS:
        raise UsageError(_at(text, tree.col_offset, "is not a single comparison by >=, >, <= or <"))
    sign, strict = COMPARISONS[type(tree.ops[0])]
    left, right = (_expression(side, text, evaluate) for side in (tree.left, tree.comparators[0]))
    above, below = (left, right) if sign > 0 else (right, left)
    return _sum(above, [_negative(below, evaluate)], evaluate), strict


# All terms at once, or all factors: a tree that grew by one at a time would be built anew each time.


def _sum(first: sp.Expr, others: Sequence[sp.Expr], evaluate: bool) -> sp.Expr:
    if evaluate:
        return sp.Add(first, *others)
    terms = first.args if first.is_Add else (first,)  # keeps the tree of a long sum flat
    return sp.Add(*terms, *others, evaluate=False)


def _product(first: sp.Expr, others: Sequence[sp.Expr], evaluate: bool) -> sp.Expr:
    if evaluate:
        return math.prod(others, start=first)
    factors = first.args if first.is_Mul else (first,)
    return sp.Mul(*factors, *others, evaluate=False)


def _negative(of: sp.Expr, evaluate: bool) -> sp.Expr:
    return _product(sp.Integer(-1), [of], evaluate)


def _same(of: sp.Expr, evaluate: bool) -> sp.Expr:
    return of


def _inverse(of: sp.Expr, evaluate: bool) -> sp.Expr:
    return sp.Pow(of, -1, evaluate=evaluate)


# What joins a run of operations, and what each of them makes of its right side.
STEPS: dict[type, tuple[Callable[[sp.Expr, Sequence[sp.Expr], bool], sp.Expr], Callable[[sp.Expr, bool], sp.Expr]]] = {
    ast.Add: (_sum, _same),
    ast.Sub: (_sum, _negative),
    ast.Mult: (_product, _same),
    ast.Div: (_product, _inverse),
}


def _expression(node: ast.expr, text: str, evaluate: bool) -> sp.Expr:
    if isinstance(node, ast.Constant):
        return _number(node, text)
    if isinstance(node, ast.Name):
        return _name(node, text)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        inner = _expression(node.operand, text, evaluate)
        return _negative(inner, evaluate) if isinstance(node.op, ast.USub) else inner
    if isinstance(node, ast.BinOp):
        return _operation(node, text, evaluate)
    if isinstance(node, ast.Call):
        return _call(node, text, evaluate)
    raise UsageError(_at(text, node.col_offset, "is not allowed; use + - * / **, numbers, names and functions"))


def _number(node: ast.Constant, text: str) -> sp.Expr:
    written = ast.get_source_segment(text, node) or ""
    if not NUMBER.fullmatch(written):
        raise UsageError(_at(text, node.col_offset, "is not a decimal number"))
    return sp.Rational(_exact(written))


def _name(node: ast.Name, text: str) -> sp.Expr:
    if node.id.endswith(LETTER):
        return sp.Symbol(node.id.removesuffix(LETTER), real=True)
    if node.id in KNOWN or node.id == "sqrt":
        raise UsageError(_at(text, node.col_offset, f"is the function {node.id}; write {node.id}(...)"))
    if not node.id.isascii() or node.id.startswith("__"):
        raise UsageError(_at(text, node.col_offset, "is not a name of letters, digits and _"))
    return CONSTANTS.get(node.id, sp.Symbol(node.id, real=True))


def _operation(node: ast.BinOp, text: str, evaluate: bool) -> sp.Expr:
    if type(node.op) in STEPS:
        return _chain(node, text, evaluate)
    if isinstance(node.op, ast.Pow):
        base, exponent = _expression(node.left, text, evaluate), _expression(node.right, text, evaluate)
        return _power(base, exponent, node, text, evaluate)
    hint = "; powers are written **" if isinstance(node.op, ast.BitXor) else ""
    raise UsageError(_at(text, node.col_offset, f"has an operation other than + - * / **{hint}"))


def _chain(node: ast.expr, text: str, evaluate: bool) -> sp.Expr:
    """Sums and products from the left; without recursion, for a long sum is a deep tree."""
    steps: list[ast.BinOp] = []
    while isinstance(node, ast.BinOp) and type(node.op) in STEPS:
        steps.append(node)
        node = node.left
    found = _expression(node, text, evaluate)
    for joined, run in itertools.groupby(reversed(steps), key=lambda step: STEPS[type(step.op)][0]):
        found = joined(found, [_right_side(step, text, evaluate) for step in run], evaluate)
    return found


def _right_side(step: ast.BinOp, text: str, evaluate: bool) -> sp.Expr:
    right = _expression(step.right, text, evaluate)
    if isinstance(step.op, ast.Div) and right == 0:
        raise UsageError(_at(text, step.right.col_offset, "is 0 and cannot divide"))
    return STEPS[type(step.op)][1](right, evaluate)


def _power(base: sp.Expr, exponent: sp.Expr, node: ast.BinOp, text: str, evaluate: bool) -> sp.Expr:
    check_sizes(exponent, f"the expression {text[:60]!r}")
    if evaluate or not exponent.free_symbols:
        exponent = exponent.doit()
    too_large = exponent.is_number and not (exponent.is_Rational and abs(exponent) <= MOST_POWER)
    if base.is_Rational and exponent.is_Rational:
        digits = max(abs(base.p).bit_length(), base.q.bit_length()) * abs(exponent)
        too_large = too_large or digits > MOST_BITS or (base == 0 and exponent < 0)
    if too_large:
        raise UsageError(_at(text, node.right.col_offset, "is an exponent that is too large or not rational"))
    return sp.Pow(base, exponent, evaluate=evaluate)


def _call(node: ast.Call, text: str, evaluate: bool) -> sp.Expr:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name not in KNOWN and name != "sqrt":
        raise UsageError(
            _at(text, node.col_offset, f"is not a known function; available are sqrt, {', '.join(sorted(KNOWN))}")
        )
    several = name.lower() in ("max", "min")
    if node.keywords or (len(node.args) < 2 if several else len(node.args) != 1):
        raise UsageError(
            _at(text, node.col_offset, f"{name} takes {'two or more numbers' if several else 'one number'}")
        )
    arguments = [_expression(argument, text, evaluate) for argument in node.args]
    if name == "sqrt":
        return sp.Pow(arguments[0], sp.Rational(1, 2), evaluate=evaluate)
    return KNOWN[name](*arguments, evaluate=False)


def _at(text: str, position: int, what: str) -> str:
    """A message with the position that it refers to."""
    rest = text[position : position + 20] or "the end"
    return f"the expression {text[:60]!r}: position {position + 1}, at {rest!r}: {what}."
