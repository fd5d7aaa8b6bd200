"""What is planted: the places, and the operators that change them."""

import ast
from collections.abc import Iterator
from pathlib import Path

from benchmarks.mutants import faults
from benchmarks.mutants.operators import OPERATORS
from benchmarks.mutants.source import Edit, Source
from benchmarks.planted.operators import coefficient, precondition

ROOT = Path(__file__).parents[2]
MODULES = ("arrays", "enclosed", "errors", "functions", "reading", "values", "weights")
READ = (
    *("apply", "attention", "cases", "clip", "concentration", "given", "hard_max", "iteration", "linear", "product"),
    *("log_softmax", "normalisation", "pairs", "repetition", "rotation", "soft_threshold", "softmax", "sums", "tokens"),
)
TARGETS = [f"bridge/readings/{name}.py" for name in (*MODULES, *(f"rules/{each}" for each in READ))]
OF_RULES = (
    *("accumulation", "cases", "concentration", "descent", "evolution", "families", "functions", "geometric"),
    *("head_matrices", "heads", "invariants", "iterations", "layers", "linear", "linear_softmax", "nonexpansive"),
    *("log_softmax", "normalisation", "pairs", "rotations"),
    *("perturbations", "products", "proximal", "recursions", "repetition", "shares", "softmax", "sums", "taylor"),
    "tokens",
)
RULES = [f"symbolic/calculus/{name}.py" for name in OF_RULES]
# What words a refusal, says whether a network can be compared, makes an operand of an expression, or calls a function
# at several points encloses nothing.
ELSEWHERE = {
    *("_fitting", "_shapes", "_require_dim", "emulates", "computes", "has_value", "_computes", "_is_emulated"),
    *("Smooth.of", "_checked", "_supremum", "at_each"),
}
OF_OTHERS = ("_numbers", "_bounded", "_wrong_inside", "_beyond", "_is_of_the_step", "is_of_the_step", "beyond")


def thousandth(node: ast.AST, source: Source) -> Iterator[Edit]:
    """A product, what is known of an error (`like` gives its shape alone), what a minimum is taken of: times 0.999."""
    match node:
        case ast.BinOp(_, ast.Mult() | ast.Div(), _):
            parent = source.parents[node]
            in_product = isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Mult | ast.Div)
            if not in_product and not _is_zero(node, source):
                yield _shrunk(node, source)
        case ast.Call(ast.Attribute(ast.Name("torch"), "minimum" | "maximum") | ast.Name("Error"), args, keywords):
            values = [*args, *(word.value for word in keywords if word.arg != "like")]
            bodies = (each.body if isinstance(each, ast.Lambda) else each for each in values)
            numbers = (each for each in bodies if isinstance(each, ast.Name | ast.Call | ast.Attribute))
            yield from (_shrunk(each, source) for each in numbers if not _is_zero(each, source))


def _shrunk(node: ast.AST, source: Source) -> Edit:
    return source.replaced(node, f"(0.999 * {source.enclosed(node)})")


def _is_zero(node: ast.AST, source: Source) -> bool:
    """What gives a zero its shape, which 0.999 times is the same."""
    return any(zero in source.text(node) for zero in ("zeros_like", "* 0", "0 * "))


def extreme(node: ast.AST, source: Source) -> Iterator[Edit]:
    """A maximum for a minimum and the reverse, and one of the two alone."""
    others = {"minimum": "maximum", "maximum": "minimum", "amax": "amin", "amin": "amax"}
    match node:
        case ast.Call(ast.Attribute(ast.Name("torch"), str(name)) as function, args) if name in others:
            yield source.replaced(function, f"torch.{others[name]}")
            if name in ("minimum", "maximum") and len(args) == 2:
                yield from (source.replaced(node, source.enclosed(each)) for each in args)


KNOWN = (
    *("drop_factor", "drop_term", "plus_minus", "negate", "swap_operands", "exponent", "drop_function", "builtin"),
    *("strictness", "condition", "branch"),
)
WRONG = {**{name: OPERATORS[name] for name in KNOWN}, "thousandth": thousandth, "extreme": extreme}


WRONG_RULES = {"coefficient": coefficient, "term": OPERATORS["drop_term"], "precondition": precondition}


def faults_of_rules() -> list[faults.Fault]:
    return faults.enumerate_faults(ROOT, RULES, WRONG_RULES)


def all_faults() -> list[faults.Fault]:
    every = faults.enumerate_faults(ROOT, TARGETS, WRONG)
    own = [fault for fault in every if not fault.function.startswith(OF_OTHERS)]
    return [fault for fault in own if fault.function not in ELSEWHERE | {"module"}]
