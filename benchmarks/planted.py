"""Wrong enclosures, planted one at a time: `python -m benchmarks.planted --count 200 --seed 0`.

A fault is one change of one place of the readings (bridge/readings), made by the syntax operators of
`benchmarks.mutants` and by two more: a coefficient times 0.999, and a maximum for a minimum. It is tried on the
programs of the tests (tests/bridge/readings/test_soundness.py), in a process forked from one that has made them. It is

- found, if a program shows a bound that does not hold, or an exception;
- wider, if all that it changes is that more errors are allowed: such an enclosure holds as well;
- survived otherwise, also where no number of any program changes.

The score is found / (found + survived). Faults that change no result at all are listed in
`benchmarks/planted_equivalent.toml` with their reasons, and are left out.
"""

import argparse
import ast
import importlib
import multiprocessing as mp
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.mutants import faults, record
from benchmarks.mutants.operators import OPERATORS
from benchmarks.mutants.source import Edit, Source
from benchmarks.mutants.trial import MEMORY, Report, serve, served
from numeric.balls import working_precision
from tests.bridge.readings import soundness
from tests.bridge.readings.checking import BITS, Balls, Derived
from tests.symbolic.fuzzing.fuzzer import library

ROOT = Path(__file__).parents[1]
EQUIVALENT = ROOT / "benchmarks" / "planted_equivalent.toml"
MODULES = (
    "arrays",
    "enclosed",
    "enclosing",
    "errors",
    "functions",
    "product_errors",
    "reading",
    "values",
    "weight_errors",
)
TARGETS = [f"bridge/readings/{name}.py" for name in MODULES]
ENDS = 300  # seconds of processor time for one fault
NEW = ("bridge.readings", "tests.bridge.readings")  # what is imported anew with the fault
Case = tuple[Any, int, frozenset[str]]
Footprint = list[dict[tuple[str, str], Any]]


def thousandth(node: ast.AST, source: Source) -> Iterator[Edit]:
    """A product, what is known of an error, and what a minimum is taken of: times 0.999."""
    match node:
        case ast.BinOp(_, ast.Mult() | ast.Div(), _):
            parent = source.parents[node]
            if not (isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Mult | ast.Div)):
                yield _shrunk(node, source)
        case ast.Call(ast.Attribute(ast.Name("torch"), "minimum" | "maximum") | ast.Name("Error"), args, keywords):
            values = [*args, *(word.value for word in keywords)]
            bodies = (each.body if isinstance(each, ast.Lambda) else each for each in values)
            yield from (
                _shrunk(each, source) for each in bodies if isinstance(each, ast.Name | ast.Call | ast.Attribute)
            )


def _shrunk(node: ast.AST, source: Source) -> Edit:
    return source.replaced(node, f"(0.999 * {source.enclosed(node)})")


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


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.planted", description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200, help="number of faults to draw")
    parser.add_argument("--seed", type=int, default=0, help="seed of the draw")
    parser.add_argument("--only", default="", help="faults whose file, function or operator contains this")
    parser.add_argument("--at-least", type=float, default=0.95, help="score below which the exit code is 1")
    options = parser.parse_args()
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    every = [f for f in faults.enumerate_faults(ROOT, TARGETS, WRONG) if options.only in " ".join(f.key[:3])]
    drawn = faults.draw(every, options.count, options.seed)
    print(f"{len(drawn)} faults drawn of {len(every)} in {len(TARGETS)} files, seed {options.seed}", flush=True)
    cases = cases_of_the_tests()
    before = [footprint(Balls(Derived(case[0]), *case[1:])) for case in cases]
    reasons, verdicts, started = record.equivalents(EQUIVALENT), Counter[str](), time.perf_counter()
    for fault in drawn:
        verdict, detail = tried(fault, cases, before)
        verdict = "equivalent" if verdict == "survived" and fault.key in reasons else verdict
        verdicts[verdict] += 1
        print(f"{verdict:10s} {fault.operator:14s} {fault.file}:{fault.line}  {detail}", flush=True)
        if verdict == "survived":
            print(fault.diff(), flush=True)
    score = verdicts["found"] / max(1, verdicts["found"] + verdicts["survived"])
    counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
    print(f"{counts}: {score:.1%} found, on {len(cases)} programs, {time.perf_counter() - started:.0f} s")
    return 1 if score < options.at_least else 0


def cases_of_the_tests() -> list[Case]:
    programs, moves = soundness.PROGRAMS, soundness.READABLE
    drawn = (soundness.instances_of(programs, seed, library(), moves) for seed in soundness.SEEDS)
    return [case for each in drawn for case in each]


def tried(fault: faults.Fault, cases: list[Case], before: list[Footprint]) -> tuple[str, str]:
    """The verdict, and what showed it."""
    context: Any = mp.get_context("fork")
    answer, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_try, args=(theirs, fault, cases, before))
    child.start()
    theirs.close()
    try:
        verdict: tuple[str, str] = answer.recv()
    except EOFError:
        verdict = "found", "does not end"
    child.join()
    return verdict


def _try(answer: Connection, fault: faults.Fault, cases: list[Case], before: list[Footprint]) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.setitimer(signal.ITIMER_PROF, ENDS)
    for name in [name for name in sys.modules if name.startswith(NEW)]:
        del sys.modules[name]
    serve(served(ROOT, fault.file, fault.source(ROOT)), Report())
    answer.send(_verdict(cases, before))
    answer.close()


def _verdict(cases: list[Case], before: list[Footprint]) -> tuple[str, str]:
    place, changes = 0, set()
    try:
        anew = importlib.import_module("tests.bridge.readings.soundness")
        for place, case in enumerate(cases):
            balls = anew.Balls(anew.Derived(case[0]), *case[1:])
            balls.check()
            changes.add(_change(before[place], footprint(balls)))
            if place % anew.IN_FLOATS == 0:
                anew.check_in_floats(balls)
    except Exception as error:
        return "found", f"program {place}: {type(error).__name__} {error}".splitlines()[0]
    if changes == {"same"}:
        return "survived", "no number changes"
    return ("survived", "other bounds, none violated") if "other" in changes else ("wider", "")


def footprint(balls: Balls) -> Footprint:
    """What the two enclosures and bounds say at each step, as float arrays."""
    found = []
    with working_precision(BITS):
        for reading in (balls.prompt, balls.local):
            numbers: dict[tuple[str, str], Any] = {}
            for step in balls.derivation.steps:
                bound = reading.bound(step.name)
                numbers[step.name, "bound"] = np.zeros(()) if bound is None else bound.midpoint()
                if step.name in reading.steps:
                    error = reading.steps[step.name].error
                    parts = {part: getattr(error, part).midpoint() for part in ("centre", "radius", "one", "two")}
                    numbers |= {(step.name, part): value for part, value in parts.items()}
            found.append(numbers)
    return found


# All errors that were allowed are allowed: each coordinate's interval contains the former one, each ball around the
# new centre the one around the former.
def _change(before: Footprint, now: Footprint) -> str:
    changes = {_wider(old, new) for old, new in zip(before, now, strict=True)}
    return "other" if "other" in changes else "wider" if "wider" in changes else "same"


def _wider(old: dict[tuple[str, str], Any], new: dict[tuple[str, str], Any]) -> str:
    if old.keys() != new.keys():
        return "other"
    found = "same"
    for step, part in old:
        if part == "centre":
            continue
        moved = abs(new[step, "centre"] - old[step, "centre"]) if (step, "centre") in old else np.zeros(1)
        apart = {"one": moved.sum(-1), "two": np.sqrt((moved**2).sum(-1)), "bound": 0.0}.get(part, moved)
        gain = new[step, part] - old[step, part] - apart
        tiny = 1e-9 * (1 + abs(old[step, part]))
        if (gain < -tiny).any():
            return "other"
        found = "wider" if found == "wider" or (gain > tiny).any() else "same"
    return found


if __name__ == "__main__":
    sys.exit(main())
