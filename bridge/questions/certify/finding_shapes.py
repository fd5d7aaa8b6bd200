"""Steps by the shape of an expression: factors, sums as written, kinks, logarithms, ByLipschitz constants."""

from collections.abc import Iterator
from typing import Any

import sympy as sp

from bridge.questions.certify.goals import ProofGoal, same
from bridge.questions.certify.letters import LetterAlgebra, NotAlgebraicError
from bridge.questions.certify.samples import RegionSample
from bridge.questions.certify.steps import (
    KINKS,
    ByCases,
    ByFactors,
    ByLipschitz,
    ByLogs,
    ByPiece,
    BySum,
    ProofStep,
    pieces_of,
)


def factor_steps(goal: ProofGoal, sample: RegionSample) -> Iterator[ProofStep]:
    """The factors over the letters, where there are several, with the signs that they seem to have."""
    for step in _factored(goal, sample):
        if sum(k > 0 for _, k, _ in step.factors) > 1 or any(k > 1 for _, k, _ in step.factors):
            yield step


def clearing_steps(goal: ProofGoal, sample: RegionSample) -> Iterator[ProofStep]:
    """The numerator alone, over denominators that have a sign."""
    for step in _factored(goal, sample):
        if [k for _, k, _ in step.factors if k > 0] == [1] and len(step.factors) > 1:
            yield step


def _factored(goal: ProofGoal, sample: RegionSample) -> Iterator[ByFactors]:
    try:
        letters = LetterAlgebra([goal.expression], goal.nonnegative)
        above, below = letters.quotient(goal.expression)
        constant, factors = letters.reduced(above).factor()
        _, divisors = below.factor()
    except (NotAlgebraicError, RuntimeError):
        return
    parts = [(letters.written(a), int(k)) for a, k in factors] + [(letters.written(a), -int(k)) for a, k in divisors]
    if len(parts) == 1 and parts[0][1] == 1 and parts[0][0] in (goal.expression, -goal.expression):
        return
    yield _signed(constant, parts, sample)


def _signed(constant: Any, parts: list[tuple[sp.Expr, int]], sample: RegionSample) -> ByFactors:
    """The product of a constant and powers, with the signs that odd ones seem to have."""
    rational = sp.Rational(int(constant.p), int(constant.q)) if hasattr(constant, "p") else sp.Integer(int(constant))
    return ByFactors(rational, tuple((a, k, 0 if k % 2 == 0 else 1 if sample.seems(a) else -1) for a, k in parts))


# For f = a + b s with a square root s of u, f (a - b s) = a^2 - b^2 u has the root no longer.
def root_steps(goal: ProofGoal, sample: RegionSample) -> Iterator[ProofStep]:
    """f as its product with a conjugate, over the conjugate, which is not 0."""
    try:
        letters = LetterAlgebra([goal.expression], goal.nonnegative)
        above, below = letters.quotient(goal.expression)
        above = letters.reduced(above)
    except NotAlgebraicError:
        return
    for place, letter in enumerate(letters.meaning if below == letters.one else ()):
        if letter.is_Pow and letter.exp == sp.Rational(1, 2):
            terms = {powers: c * (-1) ** int(powers[place]) for powers, c in above.to_dict().items()}
            conjugate = above.context().from_dict(terms)
            if conjugate in (above, -above):
                continue
            try:
                constant, factors = letters.reduced(above * conjugate).factor()
            except (NotAlgebraicError, RuntimeError):
                continue
            parts = [*((letters.written(a), int(k)) for a, k in factors), (letters.written(conjugate), -1)]
            yield _signed(constant, parts, sample)


def sum_steps(goal: ProofGoal, sample: RegionSample) -> Iterator[ProofStep]:
    """The terms as they are written, where none looks negative."""
    if goal.expression.is_Add and all(sample.seems(term) for term in goal.expression.args):
        yield BySum(goal.expression.args)


def kink_steps(goal: ProofGoal, sample: RegionSample) -> Iterator[ProofStep]:
    """The piece of an innermost kink that holds on the region, or the cases that decide it."""
    kinks = [node for node in goal.expression.atoms(*KINKS) if not any(part.has(*KINKS) for part in node.args)]
    if not kinks:
        return
    node = min(kinks, key=lambda each: (sp.count_ops(each), str(each)))
    choices = pieces_of(node)
    sign = -1 if isinstance(node, sp.Min) else 1
    for i, choice in enumerate(choices):
        others = [sp.Integer(0)] if isinstance(node, sp.Abs) else [c for j, c in enumerate(choices) if j != i]
        if all(sample.seems(sign * (choice - other)) for other in others):
            yield ByPiece(node, i)
    at = node.args[0] if isinstance(node, sp.Abs) else choices[0] - choices[1]
    at = _simpler(goal, at)
    if at not in goal.where and -at not in goal.where:
        yield ByCases(at)


def _simpler(goal: ProofGoal, at: sp.Expr) -> sp.Expr:
    """x - y for a difference F(x) - F(y)."""
    letters = sorted(at.free_symbols, key=str)
    if len(letters) == 2 and at.expand().as_poly(*letters) is None:
        x, y = letters
        if same(goal, at.xreplace({x: y}), sp.Integer(0)):
            return x - y
    return at


def log_steps(goal: ProofGoal, *, affine: bool) -> Iterator[ProofStep]:
    """Where all logarithms are taken off by it, and the rest is affine, or is not."""
    terms = [term.as_coeff_Mul(rational=True)[1] for term in sp.Add.make_args(sp.expand_mul(goal.expression))]
    rest = [m for m in terms if not isinstance(m, sp.log)]
    taken_off = len(rest) < len(terms) and not any(m.has(sp.log) for m in rest)
    if taken_off and all(m.is_Symbol or m == 1 for m in rest) == affine:
        yield ByLogs()


def lipschitz_steps(goal: ProofGoal) -> Iterator[ProofStep]:
    """L |x - y| - |F(x) - F(y)|."""
    distances: list[Any] = []
    for c, node in (term.as_coeff_Mul(rational=True) for term in sp.Add.make_args(goal.expression)):
        if not isinstance(node, sp.Abs):
            return
        distances.append((c, node.args[0]))
    if len(distances) != 2 or sorted(bool(c > 0) for c, _ in distances) != [False, True]:
        return
    (constant, distance), (_, difference) = sorted(distances, key=lambda pair: -pair[0])
    letters = sorted(distance.free_symbols, key=str)
    if len(letters) == 2 and sp.expand(distance - letters[0] + letters[1]) in (0, 2 * (letters[1] - letters[0])):
        x, y = letters
        function = sp.Add(*(term for term in sp.Add.make_args(difference) if not term.has(y)))
        yield ByLipschitz((x, y), function, constant)
