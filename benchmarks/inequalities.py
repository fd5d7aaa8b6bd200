"""`certify` on the suite of inequalities, beside the solvers z3 and cvc5: `python -m benchmarks.inequalities`.

The solvers are optional (`pip install z3-solver cvc5`). They decide polynomials, roots and kinks, nothing that is
transcendental, and give no proof that another program could check.
"""

import importlib
import math
import time
from collections.abc import Callable, Iterable
from typing import Any

import sympy as sp

from bridge.questions.certify import Status, prove
from bridge.questions.certify.deadline import Deadline
from bridge.questions.certify.definedness import evaluated
from bridge.questions.certify.reading import read_inequality
from symbolic.derivations.inequalities import Inequality
from tests.bridge.questions.certify.inequalities import FALSE, TRUE

SECONDS = 5.0
SOLVERS = {"z3": ("z3", "timeout"), "cvc5": ("cvc5.pythonic", "tlimit-per")}  # a module, and its limit in milliseconds
ANSWERS = {"unsat": "proved", "sat": "refuted"}  # whether a point is found at which the inequality fails


def main() -> None:
    solvers = {name: module for name in SOLVERS if (module := installed(name)) is not None}
    lines = [(name, *measured(read_inequality(text, ranges)[-1], solvers)) for name, text, *ranges in (*TRUE, *FALSE)]
    for name, *found in lines:
        print(f"{name:32s}" + "".join(f"{verdict:>14s} {seconds:6.2f} s" for verdict, seconds in found))
    for at, title in enumerate(("certify", *solvers), 1):
        right = sum(line[at][0] == "proved" for line in lines[: len(TRUE)])
        wrong = sum(line[at][0] == "proved" for line in lines[len(TRUE) :])
        print(f"{title}: {right} of {len(TRUE)} true ones proved, {wrong} of {len(FALSE)} false ones, "
              f"{sum(line[at][1] for line in lines):.1f} s")  # fmt: skip


def installed(name: str) -> Any:
    try:
        return importlib.import_module(SOLVERS[name][0])
    except ImportError:
        print(f"{name} is not installed: its column is left out")
        return None


def measured(inequality: Inequality, solvers: dict[str, Any]) -> list[tuple[str, float]]:
    """The verdict of each, and its seconds of CPU."""
    deadline = Deadline(SECONDS, clock=time.process_time)
    found = [timed(lambda: str(prove(inequality, deadline=deadline).status))]
    return found + [timed(lambda name=name, smt=smt: asked(name, smt, inequality)) for name, smt in solvers.items()]


def timed(ask: Callable[[], str]) -> tuple[str, float]:
    start = time.process_time()
    verdict = ask()
    return verdict, time.process_time() - start


def asked(name: str, smt: Any, inequality: Inequality) -> str:
    """Whether a point of the region makes the difference of the sides negative."""
    solver, letters = smt.Solver(), {symbol: smt.Real(symbol.name) for symbol in inequality.box}
    roots: list[Any] = []
    try:
        f = translated(smt, evaluated(inequality.expression, {}), letters, roots)
    except NotImplementedError:
        return "-"
    for symbol, (low, high) in inequality.box.items():
        solver.add(letters[symbol] >= smt.RealVal(str(low)), letters[symbol] <= smt.RealVal(str(high)))
    solver.add(*roots, f <= 0 if inequality.strict else f < 0)
    milliseconds = int(1000 * SECONDS)
    if name == "z3":
        solver.set(SOLVERS[name][1], milliseconds)
    else:
        solver.setOption(SOLVERS[name][1], str(milliseconds))
    return ANSWERS.get(str(solver.check()), str(Status.UNDECIDED))


def translated(smt: Any, node: Any, letters: dict[sp.Symbol, Any], roots: list[Any]) -> Any:
    """The expression for the solver; a root is a letter r >= 0 of its own with r^q = base, listed in `roots`."""
    if node.is_Rational:
        return smt.RealVal(str(node))
    if node.is_Symbol:
        return letters[node]
    if node.is_Pow and node.exp.is_Rational:
        base = translated(smt, node.base, letters, roots)
        if node.exp.q > 1:
            root = smt.Real(f"root{len(roots)}")
            roots += [root >= 0, math.prod([root] * int(node.exp.q)) == base]
            base = root
        power = math.prod([base] * abs(int(node.exp.p)))
        return power if node.exp > 0 else 1 / power
    parts = [translated(smt, part, letters, roots) for part in node.args]
    if node.is_Add:
        return sum(parts)
    if node.is_Mul:
        return math.prod(parts)
    if isinstance(node, sp.Abs):
        return smt.If(parts[0] >= 0, parts[0], -parts[0])
    if isinstance(node, sp.Max | sp.Min):
        return extremum(smt, parts, largest=isinstance(node, sp.Max))
    raise NotImplementedError(type(node).__name__)


def extremum(smt: Any, parts: Iterable[Any], *, largest: bool) -> Any:
    found, *others = parts
    for each in others:
        found = smt.If(found >= each if largest else found <= each, found, each)
    return found


if __name__ == "__main__":
    main()
