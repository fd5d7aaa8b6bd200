"""Whether `lower` computes what the expression says: a table of expressions on every backend against mpmath.

`python -m benchmarks.lowering_values` evaluates each expression at the points of its letters on numpy, torch, mpmath
and Arb and compares with the formula walked node by node in mpmath at 1500 digits, of which 50 and more are right.
A number is right within 1e-12 of its size (a matrix: of its norm times its condition); a ball, if it holds the value.
Printed: the counts, and every refusal with what it would take. The exit code is 1 if a value is wrong, or inf or nan
where a double holds it. `--share N` takes a seeded selection of N expressions, `--json FILE` writes each outcome.
"""

import argparse
import itertools
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np
import sympy as sp
import torch
from flint import arb, arb_mat

from benchmarks.lowering_table import MATRICES, NARROW, POINTS, SIZED, SIZES, WANTED, scalars
from bridge.lowering import LoweringError, lower

BACKENDS = ("numpy", "torch", "mpmath", "arb")
DIGITS = 1500
TOLERANCE = mp.mpf("1e-12")
FAILURES = ("wrong", "not finite", "crashed")
LARGEST, SMALLEST = mp.mpf(sys.float_info.max), mp.mpf(sys.float_info.min)

MOST_POINTS = 24


@dataclass(frozen=True)
class Outcome:
    """Of one expression on one backend: right, refused, wrong, or not finite where a double holds the value."""

    expression: str
    backend: str
    kind: str
    detail: str = ""


def points(expr: Any, seed: int) -> list[dict[str, Any]]:
    """Points of the letters: all of one letter, a seeded selection of pairs; entries of matrices from [-2, 2]."""
    rng = random.Random(seed)
    free = sorted(free_letters(expr), key=str)
    letters = [letter for letter in free if letter in POINTS]
    found = list(itertools.product(*(POINTS[letter] for letter in letters)))
    if len(found) > MOST_POINTS:
        found = rng.sample(found, MOST_POINTS)
    entries = np.random.default_rng(seed)
    sizes = {str(letter): size for letter, size in SIZES.items()}
    arrays = {str(each): sp.Tuple(*each.shape).xreplace(SIZES) for each in free if each not in POINTS}
    return [
        {str(letter): value for letter, value in zip(letters, values, strict=True)}
        | {name: entries.uniform(-2, 2, tuple(map(int, shape))).tolist() for name, shape in arrays.items()}
        | (sizes if expr.has(*SIZES) else {})
        for values in found
    ]


def free_letters(expr: Any) -> set[sp.Basic]:
    scalars = {each for each in expr.free_symbols if each in POINTS or isinstance(each, sp.MatrixSymbol)}
    return scalars | expr.atoms(sp.IndexedBase)


def outcomes(expr: Any, seed: int) -> Iterator[Outcome]:
    """On each backend, at the same points."""
    known: list[tuple[dict[str, Any], Any, Any]] = []
    for backend in BACKENDS:
        try:
            function = lower(expr, backend)
        except LoweringError as refused:
            yield Outcome(str(expr), backend, "refused", type(refused.node).__name__)
            continue
        known = known or [(each, reference(expr, each), condition(expr, each)) for each in points(expr, seed)]
        yield outcome(str(expr), backend, function, known)


def outcome(name: str, backend: str, function: Any, known: Sequence[tuple[dict[str, Any], Any, Any]]) -> Outcome:
    for point, exact, condition in known:
        try:
            found = function(**{each: point[each] for each in function.args})
        except Exception as error:  # whatever it is, no user can have asked for it
            return Outcome(name, backend, "crashed", f"at {point}: {error!r}")
        kind = judged(found, exact, condition)
        if kind != "right":
            return Outcome(name, backend, kind, f"at {point}: {found}, exact {shown(exact)}")
    return Outcome(name, backend, "right")


def shown(exact: Any) -> str:
    return mp.nstr(exact, 17) if isinstance(exact, mp.mpf | mp.matrix) else str(exact)


# the reference


class UndefinedError(Exception):
    """The expression has no real value there."""


def reference(expr: Any, point: dict[str, Any]) -> Any:
    """The value to 50 digits and more, as mpf, matrix or bool; None where there is none."""
    with mp.workdps(DIGITS):
        given = {name: mp.matrix(value) if isinstance(value, list) else mp.mpf(value) for name, value in point.items()}
        try:
            return Walk(given)(expr)
        except (UndefinedError, ZeroDivisionError, ValueError, OverflowError):
            return None


def nearly(value: Any) -> Any:
    """The whole number that agrees to half the digits, if there is one: what jumps there jumps at it."""
    whole = mp.nint(value)
    return whole if abs(value - whole) < mp.mpf(10) ** (-DIGITS // 2) else value


def same(a: Any, b: Any) -> bool:
    return bool(abs(a - b) <= mp.mpf(10) ** (-DIGITS // 2) * max(abs(a), abs(b)))


def hadamard(M: Any, N: Any) -> Any:
    return mp.matrix([[M[r, c] * N[r, c] for c in range(M.cols)] for r in range(M.rows)])


def kronecker(M: Any, N: Any) -> Any:
    return mp.matrix([[s * t for s in row for t in other] for row in M.tolist() for other in N.tolist()])


def sinc(u: Any) -> Any:
    return mp.sin(u) / u if u else mp.mpf(1)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "Abs": abs, "Max": max, "Min": min, "floor": lambda u: mp.floor(nearly(u)),
    "ceiling": lambda u: mp.ceil(nearly(u)),
    "frac": lambda u: u - mp.floor(nearly(u)), "Mod": lambda u, n: u - n * mp.floor(nearly(u / n)),
    "sign": lambda u: mp.sign(u) if abs(u) > mp.mpf(10) ** (-DIGITS // 2) else mp.mpf(0),
    "Heaviside": lambda u, at_zero: mp.mpf(u > 0) if abs(u) > mp.mpf(10) ** (-DIGITS // 2) else at_zero,
    "sinc": sinc, "KroneckerDelta": lambda a, b: mp.mpf(a == b), "LambertW": lambda u,
    branch=0: mp.lambertw(u, int(branch)),
    "polygamma": lambda n, u: mp.polygamma(int(n), u), "RisingFactorial": mp.rf, "FallingFactorial": mp.ff,
    "factorial2": mp.fac2, "harmonic": lambda n,
    power=1: mp.harmonic(n) if power == 1 else mp.zeta(power) - mp.zeta(power, n + 1),
    "catalan": lambda n: mp.binomial(2 * n, n) / (n + 1), "fibonacci": mp.fib,
    "lucas": lambda n: mp.fib(n - 1) + mp.fib(n + 1),
    "subfactorial": lambda n: mp.nint(mp.factorial(n) / mp.e) if n else mp.mpf(1), "re": mp.re, "im": mp.im,
    "arg": mp.arg,
    "conjugate": mp.conj, "erf2": lambda a, b: mp.erf(b) - mp.erf(a), "loggamma": mp.loggamma,
    "And": lambda *each: all(each), "Or": lambda *each: any(each), "Not": lambda each: not each,
    "Xor": lambda a, b: a != b, "Implies": lambda a, b: not a or b,
    "StrictGreaterThan": lambda a, b: a > b and not same(a, b), "StrictLessThan": lambda a,
    b: a < b and not same(a, b),
    "GreaterThan": lambda a, b: a > b or same(a, b), "LessThan": lambda a, b: a < b or same(a, b),
    "Equality": same, "Unequality": lambda a, b: not same(a, b),
    "Trace": lambda M: mp.fsum(M[r, r] for r in range(M.rows)), "Determinant": mp.det, "Transpose": lambda M: M.T,
    "Inverse": lambda M, power: mp.inverse(M), "HadamardProduct": lambda M,
    N: mp.matrix([[M[r, c] * N[r, c] for c in range(M.cols)] for r in range(M.rows)]),
    "HadamardPower": lambda M, n: M.apply(lambda t: t**n),
    "KroneckerProduct": lambda M,
    N: mp.matrix([[s * t for s in row for t in other] for row in M.tolist() for other in N.tolist()]),
    "MatrixElement": lambda M, r, c: M[int(r), int(c)], "MatPow": lambda M, n: M ** int(n),
    "MatAdd": lambda *each: sum(each[1:], each[0]),

}  # fmt: skip


class Walk:
    """The value of each node by mpmath's function of that name, at numbers for the letters."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def __call__(self, node: Any) -> Any:
        if isinstance(node, sp.Symbol | sp.MatrixSymbol):
            return self._values[node.name]
        if isinstance(node, sp.MatrixBase):
            return mp.matrix([[self(entry) for entry in node.row(r)] for r in range(node.rows)])
        special = getattr(self, f"_{type(node).__name__}", None)
        value = special(node) if special else self._computed(node)
        if isinstance(value, mp.mpc):
            if abs(value.imag) > abs(value) * mp.mpf(10) ** (-DIGITS // 2):
                raise UndefinedError
            value = value.real
        return value

    def _computed(self, node: Any) -> Any:
        if isinstance(node, sp.Number | sp.NumberSymbol):
            return self._number(node)
        name = type(node).__name__
        function = FUNCTIONS.get(name) or getattr(mp, {"ln": "log"}.get(name, name))
        return function(*map(self, node.args))

    def _number(self, node: Any) -> Any:
        if isinstance(node, sp.Number):
            exactly = sp.Rational(node)
            return mp.mpf(exactly.p) / exactly.q
        return +{"Pi": mp.pi, "Exp1": mp.e, "EulerGamma": mp.euler, "Catalan": mp.catalan, "GoldenRatio": mp.phi}[
            type(node).__name__
        ]

    def _Add(self, node: Any) -> Any:
        return mp.fsum(map(self, node.args))

    def _Mul(self, node: Any) -> Any:
        return mp.fprod(map(self, node.args))

    def _MatMul(self, node: Any) -> Any:
        first, *others = map(self, node.args)
        for other in others:
            first = first * other
        return first

    def _Pow(self, node: Any) -> Any:
        base, power = map(self, node.args)
        return base ** (int(power) if power == int(power) else power)

    def _Indexed(self, node: Any) -> Any:
        place = [int(self(index)) for index in node.indices]
        return self._values[str(node.base)][(*place, 0)[:2]]

    def _Identity(self, node: Any) -> Any:
        return mp.eye(int(self(node.shape[0])))

    def _ZeroMatrix(self, node: Any) -> Any:
        return mp.zeros(*map(int, node.shape))

    def _BooleanTrue(self, node: Any) -> bool:
        return True

    def _BooleanFalse(self, node: Any) -> bool:
        return False

    def _Piecewise(self, node: Any) -> Any:
        for value, condition in node.args:
            if self(condition):
                return self(value)
        raise UndefinedError

    def _Sum(self, node: Any) -> Any:
        return self._repeated(node, mp.fsum, -1)

    def _Product(self, node: Any) -> Any:
        return self._repeated(node, mp.fprod, 1)

    def _repeated(self, node: Any, combined: Callable[[Iterator[Any]], Any], reversed_sign: int) -> Any:
        index, first, last = node.limits[-1]
        body = node.func(node.function, *node.limits[:-1]) if len(node.limits) > 1 else node.function
        low, high = int(self(first)), int(self(last))
        up = high >= low - 1
        ends = range(low, high + 1) if up else range(high + 1, low)
        value = combined(Walk(self._values | {index.name: mp.mpf(at)})(body) for at in ends)
        return value if up else -value if reversed_sign < 0 else 1 / value

    def _Subs(self, node: Any) -> Any:
        return self(node.doit())

    def _Derivative(self, node: Any) -> Any:
        return self(node.doit())


# the judgement


def condition(expr: Any, point: dict[str, Any]) -> Any:
    """For what contains an inverse or a determinant of a given matrix: its condition, which float64 loses. Else 1."""
    given = {each.name for each in expr.free_symbols if isinstance(each, sp.MatrixSymbol)}
    if not given or not expr.has(sp.Inverse, sp.Determinant, sp.MatPow, sp.MatMul, sp.MatAdd):
        return mp.mpf(1)
    sizes = [max(mp.mnorm(mp.matrix(point[name]), mp.inf), 1) for name in given if name in point]
    inverses = [max(mp.mnorm(mp.inverse(mp.matrix(point[name])), mp.inf), 1) for name in given if square(point[name])]
    return mp.fprod([*sizes, *inverses]) ** 2 * (10**9 if expr.has(NARROW) else 1)


def square(rows: Sequence[Sequence[float]]) -> bool:
    return len(rows) == len(rows[0])


def judged(found: Any, exact: Any, condition: Any) -> str:
    if isinstance(exact, mp.matrix):
        return judged_matrix(found, exact, condition)
    if isinstance(found, arb | arb_mat):
        return judged_ball(found if isinstance(found, arb) else found[0, 0], exact)
    if exact is None:
        return "right" if not mp.isfinite(mp.mpf(float(found))) else "wrong"
    if isinstance(exact, bool):
        return "right" if bool(found) == exact else "wrong"
    return judged_number(
        mp.mpf(float(found)), exact, condition * max(abs(exact), SMALLEST) if condition > 1 else abs(exact)
    )


def judged_number(found: Any, exact: Any, size: Any) -> str:
    if abs(exact) > LARGEST:
        return "right" if found == mp.sign(exact) * mp.inf or same(found, exact) else "wrong"
    if not mp.isfinite(found):
        return "not finite"
    room = max(TOLERANCE * size, mp.mpf(2) ** -1074 if abs(exact) < SMALLEST else mp.mpf(0))
    return "right" if abs(found - exact) <= room else "wrong"


def judged_matrix(found: Any, exact: Any, condition: Any) -> str:
    rows = found.tolist()
    numbers = [(a, exact[r, c]) for r, row in enumerate(rows) for c, a in enumerate(row)]
    if isinstance(found, arb_mat):
        return next((kind for kind in itertools.starmap(judged_ball, numbers) if kind != "right"), "right")
    size = max(abs(entry) for entry in exact) * condition
    kinds = [judged_number(mp.mpf(float(a)), b, size if condition > 1 else abs(b)) for a, b in numbers]
    return next((kind for kind in kinds if kind != "right"), "right")


def judged_ball(found: Any, exact: Any) -> str:
    """A ball is right if it holds the value, and finite where there is one."""
    if isinstance(found, bool) or found is None:
        return "right" if found in (exact, None) else "wrong"
    if exact is None or not mp.isfinite(exact):
        return "right"
    if not found.is_finite():
        return "not finite"
    with mp.workdps(DIGITS):
        low, high = (mp.ldexp(*map(int, end.man_exp())) for end in (found.lower(), found.upper()))
        slack = max(abs(exact), 1) * mp.mpf(10) ** -(DIGITS // 2)
        return "right" if low - slack <= exact <= high + slack else "wrong"


def wish(node: str) -> str:
    return next((text for text, nodes in WANTED.items() if node in nodes), "")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--share", type=int, help="a seeded selection of that many expressions")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    table = [*scalars(), *MATRICES, *SIZED]
    if options.share:
        table = random.Random(options.seed).sample(table, options.share)
    found = [each for expr in table for each in outcomes(expr, options.seed)]
    for kind in FAILURES:
        for each in found:
            if each.kind == kind:
                print(f"{kind}: {each.backend}: {each.expression} {each.detail}")
    refused = Counter((each.expression, each.detail) for each in found if each.kind == "refused")
    for (expression, node), backends in sorted(refused.items(), key=lambda pair: pair[0][1]):
        print(f"refused by {backends}: {expression}: {node}: {wish(node)}")
    sizes = f"{len(scalars())} scalars, {len(MATRICES)} matrices and {len(SIZED)} formulas over arrays of any size"
    print(f"{sizes}; refused by all: {list(refused.values()).count(4)}")
    for backend in BACKENDS:
        counts = Counter(each.kind for each in found if each.backend == backend)
        print(f"{backend:7} " + ", ".join(f"{kind} {counts[kind]}" for kind in ("right", "refused", *FAILURES)))
    if options.json:
        options.json.write_text(json.dumps([vars(each) for each in found], indent=1))
    return int(any(each.kind in FAILURES for each in found))


if __name__ == "__main__":
    sys.exit(main())
