"""Steps: a goal is proved by others, its children, in exact arithmetic. What a search found is checked here.

Each step has `children(goal, bits)`: the goals from which this one follows. It raises NotShownError where it does not
follow. A certificate stores a step as an object: its name, its fields and the trees of its children, in order. In it
expressions are stored as `expressions` beside it writes them, rational numbers as "p/q", and the region of a child not
at all: it is made by `narrowed`.

    factors    "constant": c, "factors": [[a, k, sign], ...]   f = c prod a^k; a child for each odd k: sign a >= 0
    sum        "terms": [a, ...]                               f = sum a; a child for each
    cases      "at": d                                         f >= 0 where d >= 0, and where -d >= 0
    piece      "node": Abs, Max or Min in f, "choice": i       that it is that choice, and f with the choice for it
    linear     "multipliers": [[k, l], ...]                    f - sum l where_k is affine, >= 0 at all ends of the box
    monotone   "letter": x, "sign": s, "where": [k, ...]       s f_x >= 0, and f >= 0 at each lower side of x
    squares    "terms": [[w, q, [side, ...]], ...]             f = sum w q^2 prod sides; no child
    amgm       "groups": [[[b], [[[a], weight, share], ...]]]  weighted AM-GM of monomials, by exponents; no child
    order      "base": l                                       no coefficient < 0 for the letters in any order; no child
    logs       -                                               prod u^c >= 1 for f = sum c log u
    neurons    "neurons": [[[i, a], ...], ...], "tree": [k | [[k, a, b], ...], ...]   see step_neurons.py; no child
    lipschitz  "letters": [x, y], "function": F, "constant": L  L - F' >= 0 and L + F' >= 0
"""

import itertools
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import lcm
from typing import ClassVar

import sympy as sp

from bridge.questions.certify.goals import (
    NotShownError,
    ProofGoal,
    affine_in,
    narrowed,
    require,
    same,
    substituted,
)
from bridge.questions.certify.letters import MOST_POWER, polynomial_of
from bridge.questions.certify.sizes import check_expansion

KINKS = (sp.Abs, sp.Max, sp.Min)
MOST_ORDERED = 5  # letters whose orders are all tried


@dataclass(frozen=True)
class ProofStep:
    """A step without its children's proofs."""

    name: ClassVar[str]

    @abstractmethod
    def children(self, goal: ProofGoal, bits: int) -> list[ProofGoal]:
        """The goals from which this one follows. Raises NotShownError."""


@dataclass(frozen=True)
class ByFactors(ProofStep):
    """f = constant prod a^k. Even powers are >= 0; of an odd one a child shows that sign a >= 0."""

    name = "factors"
    constant: sp.Rational
    factors: tuple[tuple[sp.Expr, int, int], ...]

    def children(self, goal: ProofGoal, bits: int) -> list[ProofGoal]:
        signs = [sign for _, k, sign in self.factors if k % 2]
        require(all(sign in (1, -1) for sign in signs), "a factor of odd power has no sign")
        require(self.constant * sp.prod(signs) >= 0, "the signs of the factors make the product negative")
        powers = [sp.Pow(a, k) for a, k, _ in self.factors]
        require(all(0 < abs(k) <= MOST_POWER for _, k, _ in self.factors), "an exponent is 0 or too large")
        require(same(goal, goal.expression, sp.Mul(self.constant, *powers)), "the product is not the expression")
        require(goal.defines(*(a for a, _, _ in self.factors), *powers, bits=bits), "a factor is not defined")
        return [goal.of_expression(sign * a) for a, k, sign in self.factors if k % 2]


@dataclass(frozen=True)
class BySum(ProofStep):
    """f is a sum, and each of its terms is >= 0."""

    name = "sum"
    terms: tuple[sp.Expr, ...]

    def children(self, goal: ProofGoal, bits: int) -> list[ProofGoal]:
        require(same(goal, goal.expression, sp.Add(*self.terms)), "the sum is not the expression")
        return [goal.of_expression(each) for each in self.terms]


@dataclass(frozen=True)
class ByCases(ProofStep):
    """Two parts of the region: where `at` >= 0, and where `at` <= 0."""

    name = "cases"
    at: sp.Expr

    def children(self, goal: ProofGoal, bits: int) -> list[ProofGoal]:
        require(self.at.free_symbols <= set(goal.symbols), "the condition has other letters")
        require(goal.defines(self.at, bits=bits), "the condition is not shown to be defined")
        return [narrowed(ProofGoal(goal.expression, goal.ranges, (*goal.where, side))) for side in (self.at, -self.at)]


@dataclass(frozen=True)
class ByPiece(ProofStep):
    """f where Abs(u) is u or -u, or where one of its arguments is the maximum or minimum."""

    name = "piece"
    node: sp.Expr
    choice: int

    def children(self, goal: ProofGoal, bits: int) -> list[ProofGoal]:
        choices = pieces_of(self.node)
        require(0 <= self.choice < len(choices), "there is no such piece")
        chosen = choices[self.choice]
        if isinstance(self.node, sp.Abs):
            differences = [chosen]
        else:
            sign = 1 if isinstance(self.node, sp.Max) else -1
            differences = [sign * (chosen - other) for i, other in enumerate(choices) if i != self.choice]
        left = goal.expression.xreplace({self.node: chosen})
        return [goal.of_expression(each) for each in (*differences, left)]


def pieces_of(node: sp.Expr) -> list[sp.Expr]:
    """What a kink can be. Raises NotShownError for what is none."""
    if isinstance(node, sp.Abs):
        return [node.args[0], -node.args[0]]
    require(isinstance(node, sp.Max | sp.Min), "it is neither Abs nor Max nor Min")
    return list(node.args)


# Farkas: f = r + sum l_k c_k, with l_k >= 0 and c_k >= 0 on the region. An affine r is least where each coordinate is
# at one of its ends, so that any l_k >= 0 give a valid bound.
@dataclass(frozen=True)
class ByLinear(ProofStep):
    """f - sum of multiples of the conditions is affine, and >= 0 on the box."""

    name = "linear"
    multipliers: tuple[tuple[int, sp.Rational], ...] = ()

    def children(self, goal: ProofGoal, bits: int) -> list[ProofGoal]:
        require(all(0 <= k < len(goal.where) and by >= 0 for k, by in self.multipliers), "a multiplier is negative")
        rest = goal.expression - sp.Add(*(by * goal.where[k] for k, by in self.multipliers))
        require(least_affine(goal, rest) >= 0, "what is left is negative on the box")
        return []


def least_affine(goal: ProofGoal, expression: sp.Expr) -> sp.Rational:
    """The minimum of an affine expression over the box of the goal."""
    terms = polynomial_of(expression, goal.symbols)
    if terms is None or any(sum(powers) > 1 for powers in terms):
        raise NotShownError("what is left is not affine")
    least = sp.Integer(0)
    for powers, c in terms.items():
        ends = [goal.ranges[i][1 if c > 0 else 2] for i, p in enumerate(powers) if p]
        least += c * ends[0] if ends else c
    return least


# Let f_x >= 0 on a region whose points with the same other coordinates fill an interval of x: then f is least at the
# lower end of each. That end is the LARGEST of the lower sides (the end of the range, and a side of each condition
# with x). Where side k is the largest, the point on it meets all conditions and lies in the box; the children say that
# f >= 0 at all such points, for every k.
@dataclass(frozen=True)
class ByMonotone(ProofStep):
    """sign f_x >= 0, and f >= 0 on each lower side of the letter x, under those conditions that are listed."""

    name = "monotone"
    letter: sp.Symbol
    sign: int
    where: tuple[int, ...] = ()

    def children(self, goal: ProofGoal, bits: int) -> list[ProofGoal]:
        x, f, sign = self.letter, goal.expression, self.sign
        require(x in goal.symbols and sign in (1, -1), "there is no such coordinate or sign")
        require(all(0 <= k < len(goal.where) for k in self.where), "there is no such condition")
        kept = [goal.where[k] for k in dict.fromkeys(self.where)]
        whole = ProofGoal(f, goal.ranges, tuple(kept))
        require(whole.defines(f, bits=bits) and whole.smooth(bits), "the expression is not shown to be differentiable")
        slope = sp.diff(f, x)
        low, high = next((low, high) for symbol, low, high in goal.ranges if symbol == x)
        sides: list[tuple[sp.Expr, sp.Expr | None]] = [(low if sign > 0 else high, None)]
        for condition in kept:
            if condition.has(x):
                parts = affine_in(condition, x)
                if parts is None:
                    raise NotShownError(f"the condition {condition} >= 0 is not affine in {x}")
                if parts[0] * sign > 0:
                    sides.append((sp.expand(-parts[1] / parts[0]), condition))
        return [
            narrowed(ProofGoal(sign * slope, goal.ranges, tuple(kept))),
            *(self._at(goal, kept, side, own) for side, own in sides),
        ]

    def _at(self, goal: ProofGoal, kept: Sequence[sp.Expr], side: sp.Expr, own: sp.Expr | None) -> ProofGoal:
        at = {self.letter: side}
        conditions = [substituted(each, at) for each in kept if each is not own]
        _, low, high = next(each for each in goal.ranges if each[0] == self.letter)
        conditions += [] if own is None else [side - low, high - side]
        ranges = tuple(each for each in goal.ranges if each[0] != self.letter)
        return narrowed(ProofGoal(substituted(goal.expression, at), ranges, tuple(conditions)))


Side = tuple[str, sp.Symbol | int]  # ("low", x), ("high", x) or ("where", k)


@dataclass(frozen=True)
class BySquares(ProofStep):
    """f = sum of w q^2 prod g, where w >= 0 and each g is a side of the region: x - low, high - x or a condition."""

    name = "squares"
    terms: tuple[tuple[sp.Rational, sp.Expr, tuple[Side, ...]], ...]

    def children(self, goal: ProofGoal, bits: int) -> list[ProofGoal]:
        require(all(w >= 0 for w, _, _ in self.terms), "a weight is negative")
        require(goal.defines(*(q for _, q, _ in self.terms), bits=bits), "a square is not shown to be defined")
        total = sp.Add(*(w * sp.Mul(q**2, *(side_of(goal, g) for g in sides)) for w, q, sides in self.terms))
        require(same(goal, goal.expression, total), "the sum of squares is not the expression")
        return []


def side_of(goal: ProofGoal, side: Side) -> sp.Expr:
    """An expression that is >= 0 on the region."""
    kind, which = side
    if kind == "where":
        require(isinstance(which, int) and 0 <= which < len(goal.where), "there is no such condition")
        return goal.where[which]
    ends = {symbol: (low, high) for symbol, low, high in goal.ranges}
    require(which in ends and kind in ("low", "high"), "there is no such side")
    return which - ends[which][0] if kind == "low" else ends[which][1] - which


# sum u_j m_j >= prod (u_j m_j / l_j)^(l_j) for weights l_j > 0 that add up to 1, by the concavity of the logarithm.
@dataclass(frozen=True)
class ByAmgm(ProofStep):
    """Each monomial that may be negative is below a weighted mean of others, which are >= 0.

    `groups` gives for a monomial (its exponents in the letters, in order) the exponents, weights and shares of those
    that it is compared with. What is not shared out has to be >= 0.
    """

    name = "amgm"
    groups: tuple[tuple[tuple[int, ...], tuple[tuple[tuple[int, ...], sp.Rational, sp.Rational], ...]], ...]

    def children(self, goal: ProofGoal, bits: int) -> list[ProofGoal]:
        terms = polynomial_of(goal.expression, goal.symbols)
        if terms is None:
            raise NotShownError("the expression is no polynomial")
        left = dict(terms)
        monomials = [a for powers, parts in self.groups for a in (powers, *(a for a, _, _ in parts))]
        require(all(len(a) == len(goal.symbols) for a in monomials), "a monomial has not one exponent for each letter")
        for powers, parts in self.groups:
            negative = abs(left.pop(powers, sp.Integer(0)))
            require(all(weight > 0 and share > 0 for _, weight, share in parts), "a weight is not positive")
            require(sum(weight for _, weight, _ in parts) == 1, "the weights do not add up to 1")
            mean = [sum(weight * a[i] for a, weight, _ in parts) for i in range(len(powers))]
            require(mean == list(powers), "the weighted mean is another monomial")
            times = lcm(*(int(weight.q) for _, weight, _ in parts))
            require(times <= MOST_POWER, "the weights have too large a denominator")
            product = sp.prod([(share / weight) ** (weight * times) for _, weight, share in parts])
            require(product >= negative**times, "the weighted mean is too small")
            for a, _, share in parts:
                left[a] = left.get(a, sp.Integer(0)) - share
                require(is_nonnegative(goal, a), "a monomial of the mean may be negative")
        require(all(c == 0 or (c > 0 and is_nonnegative(goal, a)) for a, c in left.items()), "the rest may be negative")
        return []


def is_nonnegative(goal: ProofGoal, powers: Sequence[int]) -> bool:
    """Whether a monomial is, on the box."""
    return all(p % 2 == 0 or low >= 0 for p, (_, low, _) in zip(powers, goal.ranges, strict=True))


@dataclass(frozen=True)
class ByOrder(ProofStep):
    """x_1 = base + u_1, x_2 = x_1 + u_2, ... for each order of the letters: no coefficient in the u is negative."""

    name = "order"
    base: sp.Rational

    def children(self, goal: ProofGoal, bits: int) -> list[ProofGoal]:
        require(len(goal.symbols) <= MOST_ORDERED, "there are too many letters")
        require(all(low >= self.base for _, low, _ in goal.ranges), "a letter may be below the base")
        steps = [sp.Dummy(f"u{i}") for i in range(len(goal.symbols))]
        for order in itertools.permutations(goal.symbols):
            at = {s: self.base + sp.Add(*steps[: i + 1]) for i, s in enumerate(order)}
            terms = polynomial_of(goal.expression.xreplace(at), steps)
            require(terms is not None and all(c >= 0 for c in terms.values()), "a coefficient is negative")
        return []


# f = sum c_i log(u_i) + r is >= 0 where exp(n f) >= 1, that is where exp(n r) prod u_i^(n c_i) >= 1; the u_i with
# c_i < 0, which are > 0 where f is defined, go to the other side.
@dataclass(frozen=True)
class ByLogs(ProofStep):
    """Logarithms with rational coefficients are taken off: a product of powers is at least another."""

    name = "logs"

    @staticmethod
    def parts_of(expression: sp.Expr) -> tuple[list[tuple[sp.Rational, sp.Expr]], sp.Expr]:
        """The pairs of c_i and u_i, and r."""
        check_expansion(expression, "the expression")
        parts, rest = [], []
        for term in sp.Add.make_args(sp.expand_mul(expression)):
            c, m = term.as_coeff_Mul(rational=True)
            if isinstance(m, sp.log):
                parts.append((c, m.args[0]))
            else:
                rest.append(term)
        return parts, sp.Add(*rest)

    def children(self, goal: ProofGoal, bits: int) -> list[ProofGoal]:
        parts, rest = self.parts_of(goal.expression)
        require(bool(parts), "there is no logarithm with a rational coefficient")
        times = lcm(*(int(c.q) for c, _ in parts))
        require(all(abs(c * times) <= MOST_POWER for c, _ in parts), "an exponent is too large")
        above = sp.Mul(sp.exp(times * rest), *(u ** (c * times) for c, u in parts if c > 0))
        below = sp.Mul(*(u ** (-c * times) for c, u in parts if c < 0))
        return [goal.of_expression(above - below)]


@dataclass(frozen=True)
class ByLipschitz(ProofStep):
    """f = L |x - y| - |F(x) - F(y)|, and the slope of F lies between -L and L."""

    name = "lipschitz"
    letters: tuple[sp.Symbol, sp.Symbol]
    function: sp.Expr
    constant: sp.Rational

    def children(self, goal: ProofGoal, bits: int) -> list[ProofGoal]:
        x, y = self.letters
        ends = {symbol: (low, high) for symbol, low, high in goal.ranges}
        require(x in ends and y in ends and x != y, "there are no such letters")
        require(self.function.free_symbols <= {x}, "the function has other letters")
        difference = sp.Abs(self.function - substituted(self.function, {x: y}))
        require(same(goal, goal.expression, self.constant * sp.Abs(x - y) - difference), "it is another inequality")
        hull = ((x, min(ends[x][0], ends[y][0]), max(ends[x][1], ends[y][1])),)
        whole = ProofGoal(self.function, hull)
        require(whole.defines(self.function, bits=bits) and whole.smooth(bits), "the function is not differentiable")
        slope = sp.diff(self.function, x)
        return [narrowed(ProofGoal(self.constant + sign * slope, hull)) for sign in (-1, 1)]
