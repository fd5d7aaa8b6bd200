"""How large the numbers of an expression can become: too large ones are refused before any computation.

SymPy evaluates exp(3*log(x)) to x**3 and gamma(4) to 6, mpmath evaluates exp(exp(50)) to as many bits as its exponent
needs, and neither can be interrupted inside one operation on integers. The check is applied to the tree as it was typed
or stored, before any such step. Arb at a fixed precision bounds the size of every constant.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import comb, prod
from typing import Any

import flint
import sympy as sp

from bridge.lowering.common import shortened
from bridge.lowering.lowering import deep_recursion
from bridge.questions.certify.tapes import SEVERAL, SLOPES, power_of, value_of
from numeric.balls import Arb, rational, working_precision
from numeric.balls.functions import power
from symbolic.words.errors import UsageError

PRECISION = 128
MOST_BITS = 10_000  # a constant is 0 or lies between 2**-MOST_BITS and 2**MOST_BITS: 3010 digits
MOST_COEFFICIENT_BITS = 1 << 22  # of all integers that powers and products of coefficients can make
MOST_POWER = 100_000
MOST_GAMMA = 1_000  # SymPy evaluates gamma at integers by factorials
MOST_TERMS = 1 << 20  # of an expression that is expanded
MOST_REACH = 1 << 64  # larger ones are refused wherever they count

ONE_ARGUMENT = (*SLOPES, sp.asin, sp.asinh, sp.loggamma, sp.Abs)
CONSTANTS: dict[Any, Callable[[], Arb]] = {sp.pi: flint.arb.pi, sp.E: flint.arb.const_e}


@dataclass(frozen=True)
class NodeSize:
    """What SymPy may make of a node.

    `value` encloses a constant. `bits` is at least the number of bits of all integers in the node, also after powers of
    its coefficients; `power` at least the largest exponent after powers of powers; `reach` at least the absolute value
    of a coefficient in an exponent, which becomes an exponent itself where a logarithm follows (`logarithm`).
    """

    value: Arb | None
    bits: int
    power: int = 1
    reach: int = 1
    logarithm: bool = False


def check_sizes(expression: sp.Expr, where: str) -> None:
    """Raises UsageError that names the node and the limit; the tree itself is never evaluated by SymPy."""
    with working_precision(PRECISION):
        _Sizes(where).size(expression)


def check_expansion(expression: sp.Expr, where: str) -> None:
    """Raises UsageError for an expression that is too large for SymPy to expand over a common denominator."""
    terms = _terms(expression, {})
    denominators = {node.base: node.exp for node in expression.atoms(sp.Pow) if node.exp.is_negative}
    for base, exponent in denominators.items():
        terms *= _power_terms(_terms(base, {}), abs(exponent))
    if terms > MOST_TERMS:
        raise UsageError(f"{where}: it may have more than {MOST_TERMS} terms when it is expanded; take smaller powers.")


def _terms(node: Any, known: dict[sp.Basic, int]) -> int:
    """How many terms the expanded numerator has at most; functions and denominators count as letters."""
    if node not in known:
        parts = [_terms(part, known) for part in node.args] if node.is_Add or node.is_Mul else []
        if node.is_Pow and node.exp.is_Integer and node.exp > 0:
            found = _power_terms(_terms(node.base, known), node.exp)
        else:
            found = sum(parts) if node.is_Add else prod(parts)
        known[node] = min(found, MOST_TERMS + 1)
    return known[node]


def _power_terms(terms: int, exponent: Any) -> int:
    """Of a sum to a power: the monomials of that degree."""
    times = int(sp.ceiling(exponent))
    return comb(terms + times - 1, min(times, terms - 1)) if min(times, terms - 1) < 64 else MOST_TERMS + 1


def replaced(expression: sp.Expr, values: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr:
    """The expression with values in the place of symbols, unevaluated."""
    if expression in values or not expression.args:
        return values.get(expression, expression)
    return expression.func(*(replaced(part, values) for part in expression.args), evaluate=False)


class _Sizes:
    def __init__(self, where: str) -> None:
        self.where = where
        self._known: dict[sp.Basic, NodeSize] = {}

    def size(self, node: sp.Basic) -> NodeSize:
        if node not in self._known:
            found = self._size(node)
            self._check(node, found)
            self._known[node] = found
        return self._known[node]

    def _size(self, node: Any) -> NodeSize:
        if node.is_Rational:
            p, q = int(node.p), int(node.q)
            return NodeSize(rational(node), p.bit_length() + q.bit_length() - 1, 0, _capped(-(-abs(p) // q)))
        if node in CONSTANTS:
            return NodeSize(CONSTANTS[node](), 0, 0, 4)
        if not node.args:
            return NodeSize(None, 0)
        parts = [self.size(part) for part in node.args]
        if node.is_Pow:
            return self._power(node, *parts)
        if type(node) in SEVERAL:
            return self._several(node, parts)
        if type(node) in ONE_ARGUMENT:
            return self._function(node, parts[0])
        raise UsageError(f"{self.where}: {type(node).__name__} is not a function that certify supports.")

    def _several(self, node: Any, parts: Sequence[NodeSize]) -> NodeSize:
        values = [part.value for part in parts if part.value is not None]
        return NodeSize(
            value_of(type(node), *values) if len(values) == len(parts) else None,
            sum(part.bits for part in parts),
            (sum if node.is_Mul else max)(part.power for part in parts),
            _capped((prod if node.is_Mul else sum)(part.reach for part in parts)),
            any(part.logarithm for part in parts),
        )

    def _function(self, node: Any, part: NodeSize) -> NodeSize:
        if isinstance(node, sp.gamma | sp.loggamma) and part.value is not None and not abs(part.value) <= MOST_GAMMA:
            raise UsageError(f"{self.where}: {_text(node)}: gamma accepts numbers up to {MOST_GAMMA} only.")
        value = None if part.value is None else value_of(type(node), part.value)
        power = 0 if value is not None else 1
        if isinstance(node, sp.exp):
            return NodeSize(value, _merged(part.bits, part), _merged(power, part))
        return NodeSize(value, part.bits, power, logarithm=isinstance(node, sp.log))

    def _power(self, node: Any, base: NodeSize, exponent: NodeSize) -> NodeSize:
        if exponent.value is None:
            return NodeSize(None, _merged(base.bits + exponent.bits, exponent), _merged(max(1, base.power), exponent))
        value = None if base.value is None else _power_of_ball(base.value, node.exp, exponent.value)
        times = max(1, _whole_above(abs(exponent.value)))
        return NodeSize(value, base.bits * times, base.power * times, _capped(base.reach ** min(times, 64)))

    def _check(self, node: Any, size: NodeSize) -> None:
        if node.is_Rational and max(int(node.p).bit_length(), int(node.q).bit_length()) > MOST_BITS:
            raise UsageError(f"{self.where}: a number has more than {MOST_BITS} bits; round it.")
        if size.value is not None:
            self._check_number(node, size.value)
        if size.power > MOST_POWER:
            raise UsageError(f"{self.where}: {_text(node)} has an exponent that is too large: at most {MOST_POWER}.")
        if size.bits > MOST_COEFFICIENT_BITS:
            raise UsageError(
                f"{self.where}: the coefficients of {_text(node)} may have more than {MOST_COEFFICIENT_BITS} bits "
                "when it is expanded; take smaller exponents or numbers."
            )

    def _check_number(self, node: Any, value: Arb) -> None:
        largest = flint.arb(2) ** MOST_BITS
        if value.is_nan() or (not value.is_finite() and not isinstance(node, sp.exp | sp.sinh | sp.cosh)):
            raise UsageError(f"{self.where}: {_text(node)} is not a real number, or too close to a pole to decide.")
        if not abs(value) <= largest:
            raise UsageError(f"{self.where}: {_text(node)} is too large: beyond 2**{MOST_BITS}.")
        if value != 0 and abs(value) < 1 / largest:
            raise UsageError(f"{self.where}: {_text(node)} is too small: below 2**-{MOST_BITS}.")


def _merged(amount: int, exponent: NodeSize) -> int:
    """exp(c*log(t)) becomes t**c."""
    return amount * exponent.reach if exponent.logarithm else amount


def _capped(reach: int) -> int:
    return min(max(1, reach), MOST_REACH)


def _whole_above(ball: Arb) -> int:
    above = ball.upper().ceil()
    return int(above.unique_fmpz() if above.is_finite() else MOST_REACH)


def _power_of_ball(base: Arb, exponent: sp.Expr, value: Arb) -> Arb:
    return power_of(base, exponent) if exponent.is_Rational else power(base, value)


def _text(node: sp.Basic) -> str:
    with deep_recursion():
        return shortened(node, 60)
