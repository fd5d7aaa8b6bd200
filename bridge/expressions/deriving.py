"""From the graph to a derivation: the rules at numbers choose norms and ways, the rules in letters derive along them.

Every rule is monotone in the errors and sizes that it takes, so that the least at each node, in each norm, gives the
least at the end (at these numbers). The formulas are those of the rules in both passes: none is typed twice.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import sympy as sp

from bridge.expressions.expression import Candidate, Expression, InNorm, LayersOf
from symbolic import calculus
from symbolic.calculus.sums import norm_change_factor
from symbolic.derivations.derivation import Approximated, DerivationError, Norm, as_expr
from symbolic.words.errors import UsageError

AFFINE_BY_RULE = " (softmax(..., affine=True) has one)"  # what the rule for layers advises, to users of rules
SMALL = 1e-3  # an error of the argument of a layer, relative to its size, where it starts without one
Scope = tuple[tuple[int, Norm], ...]  # the repetitions around a node, each with the norm that its layers keep
Place = tuple[Scope, int, Norm]  # of a node


@dataclass(frozen=True)
class Way:
    """How a node is bounded in a norm: by which candidate, from which others."""

    key: str
    needs: tuple[tuple[Expression, Norm], ...]


@dataclass
class ChosenWays:
    """The way of each node in each norm, and which of several sizes is least there."""

    ways: dict[Place, Way] = field(default_factory=dict)
    sizes: dict[tuple[Scope, int, str], str] = field(default_factory=dict)


def _restated(known: InNorm, target: Norm, name: str) -> InNorm:
    """In another norm."""
    value = calculus.change_norm(known.value, target, name)
    size = known.approximate_size
    factor = norm_change_factor(known.value.norm, target, known.value.dim)
    return InNorm(value, None if size is None else factor * size)


def _with_its_size(known: InNorm) -> InNorm:
    """The step says how large the approximate value is, for the proof."""
    size = known.approximate_size
    return known if size is None else replace(known, value=known.value.with_approximate_size(size))


@dataclass(frozen=True)
class _Best:
    """The least at a node in one norm, in numbers."""

    bounded: InNorm
    error: float
    size: float

    @property
    def rank(self) -> tuple[float, float]:
        return self.error, self.size


class NotBoundedError(UsageError):
    """No rule bounds a node in any norm."""


class AtNumbers:
    """Derives with every letter at its number, and keeps the least."""

    def __init__(
        self, numbers: Mapping[sp.Symbol, Any], choice: ChosenWays, scope: Scope = (), *, affine: bool = False
    ) -> None:
        self.numbers, self.choice, self.scope, self.affine = dict(numbers), choice, scope, affine
        self._premises: dict[int, InNorm] = {}
        self._errors: dict[sp.Symbol, float] = {}  # of steps
        self._guesses: dict[str, float] = {}  # of the letters of a layer, by name
        self._found: dict[int, dict[Norm, _Best]] = {}
        self.refusals: list[str] = []

    def at(self, expr: Any) -> sp.Expr:
        return as_expr(expr).xreplace(self.numbers)

    def number(self, expr: sp.Expr) -> float:
        """In floats; letters of a layer, its errors and its number, at about their last."""
        free = expr.free_symbols
        values = {s: self._errors.get(s, self._guesses.get(s.name, 1.0)) for s in free}
        typed = {s: sp.Integer(round(x)) if s.is_integer else sp.Float(x) for s, x in values.items()}
        try:
            return float(expr.xreplace(typed).doit())
        except (TypeError, ValueError, OverflowError):
            return math.inf

    def least(self, node: Expression, what: str, options: Mapping[str, sp.Expr]) -> sp.Expr:
        numbers = {name: self.number(each) for name, each in options.items()}
        least = self.choice.sizes[self.scope, id(node), what] = min(numbers, key=lambda name: numbers[name])
        return options[least]

    def reaches(self, node: Expression, size: sp.Expr) -> None:
        """Of no use at numbers."""

    def inside(self, layers: LayersOf, norm: Norm, premise: InNorm) -> "AtNumbers":
        """In a layer that keeps the norm. `premise` is its argument."""
        before, depth = self.known(layers.start)[norm], self.number(self.at(layers.depth))
        found = AtNumbers(self.numbers, self.choice, (*self.scope, (id(layers), norm)), affine=True)
        found._errors, found.refusals = dict(self._errors), self.refusals
        found._guesses = {"e": max(before.error, SMALL * before.size), "s": before.size, "l": depth - 1}
        found._premises[id(layers.argument)] = premise
        return found

    def bounded(self, node: Expression, norm: Norm) -> InNorm:
        known = self.known(node)
        if norm not in known:
            raise DerivationError(f"{node.label} is not bounded in the {norm}-norm")
        return known[norm].bounded

    def known(self, node: Expression) -> dict[Norm, _Best]:
        """In every norm in which some rule bounds it. Raises UsageError where none does."""
        if id(node) not in self._found:
            self._found[id(node)] = self._least(node)
        return self._found[id(node)]

    def _least(self, node: Expression) -> dict[Norm, _Best]:
        found: dict[Norm, _Best] = {}
        if id(node) in self._premises:
            premise = self._premises[id(node)]
            found[premise.value.norm] = self._best(premise)
        else:
            for candidate in node.candidates(self):
                self._try(node, candidate, found)
        if not found:
            raise NotBoundedError(
                f"no rule bounds {node.label}: {'; '.join(dict.fromkeys(self.refusals)) or 'no norm is known'}"
            )
        for source, target in ((one, other) for one in list(found) for other in Norm if other is not one):
            self._restate(node, source, target, found)
        return found

    def _try(self, node: Expression, candidate: Candidate, found: dict[Norm, _Best]) -> None:
        needs = [self.known(each).get(norm) for each, norm in candidate.needs]
        if any(each is None for each in needs):
            return
        try:
            bounded = candidate.rule(
                self._name(node, candidate.key, candidate.norm), *(each.bounded for each in needs if each)
            )
        except (DerivationError, NotBoundedError) as error:  # the latter of a layer, in this norm
            self.refusals.append(_without_ids(str(error), node))
            return
        self._take(node, candidate.norm, Way(candidate.key, candidate.needs), self._best(bounded), found)

    def _restate(self, node: Expression, source: Norm, target: Norm, found: dict[Norm, _Best]) -> None:
        """What is known in one norm, in another; weights stay in the 1-norm, as averages take them."""
        if not found[source].bounded.value.holds_weights:
            bounded = _restated(found[source].bounded, target, self._name(node, f"from {source}", target))
            self._take(node, target, Way(f"from {source}", ((node, source),)), self._best(bounded), found)

    def _take(self, node: Expression, norm: Norm, way: Way, best: _Best, found: dict[Norm, _Best]) -> None:
        if norm not in found or best.rank < found[norm].rank:
            found[norm] = best
            self.choice.ways[self.scope, id(node), norm] = way

    def _name(self, node: Expression, key: str, norm: Norm) -> str:
        return f"{id(node)} by {key} in {norm}"

    def _best(self, bounded: InNorm) -> _Best:
        value = bounded.value
        step = value.derivation.step(value.name)
        error = self._errors[value.error_symbol] = self.number(step.local)
        return _Best(bounded, error, self.number(value.size))


class InLetters:
    """Derives in letters, along the ways that were chosen."""

    def __init__(
        self, choice: ChosenWays, names: Mapping[Place, str], scope: Scope = (), *, affine: bool = False
    ) -> None:
        self.choice, self.names, self.scope, self.affine = choice, names, scope, affine
        self._found: dict[tuple[int, Norm], InNorm] = {}
        self.reached: dict[int, sp.Expr] = {}  # by node of a function: how large its approximate arguments are

    def reaches(self, node: Expression, size: sp.Expr) -> None:
        self.reached[id(node)] = size  # a layer is derived several times, at last for the sizes that it has

    def at(self, expr: Any) -> sp.Expr:
        return as_expr(expr)

    def least(self, node: Expression, what: str, options: Mapping[str, sp.Expr]) -> sp.Expr:
        chosen = self.choice.sizes[self.scope, id(node), what]
        return options[chosen if chosen in options else next(iter(options))]

    def inside(self, layers: LayersOf, norm: Norm, premise: InNorm) -> "InLetters":
        found = InLetters(self.choice, self.names, (*self.scope, (id(layers), norm)), affine=True)
        found.reached = self.reached
        found._found[id(layers.argument), premise.value.norm] = _with_its_size(premise)
        return found

    def bounded(self, node: Expression, norm: Norm) -> InNorm:
        if (id(node), norm) not in self._found:
            self._found[id(node), norm] = _with_its_size(self._derived(node, norm))
        return self._found[id(node), norm]

    def _derived(self, node: Expression, norm: Norm) -> InNorm:
        place = self.scope, id(node), norm
        way, name = self.choice.ways[place], self.names[place]
        known = [self.bounded(each, its) for each, its in way.needs]
        if way.needs and way.needs[0][0] is node:  # the same in another norm
            return _restated(known[0], norm, name)
        (candidate,) = (each for each in node.candidates(self) if each.norm is norm and each.key == way.key)
        return candidate.rule(name, *known)


def _without_ids(words: str, node: Expression) -> str:
    """A refusal with the label of the node in the place of its name at numbers, and the language's own remedy."""
    named = re.sub(r"'(a layer of )?\d{6,} by [^']*'", lambda found: f"'{found[1] or ''}{node.label}'", words)
    return named.replace(AFFINE_BY_RULE, "; normalise what enters attention, by bs.blocks.rms_norm(x, shift=)")


# Names.


def _used(choice: ChosenWays, node: Expression, norm: Norm, scope: Scope, found: dict[Place, Expression]) -> None:
    """The places that a bound passes, each after those that it needs."""
    place = scope, id(node), norm
    if place in found or place not in choice.ways:  # the argument of a layer has no way: it is given there
        return
    for other, its in choice.ways[place].needs:
        _used(choice, other, its, scope, found)
    for body in node.inner:
        _used(choice, body, norm, (*scope, (id(node), norm)), found)
    found[place] = node


def names_of(choice: ChosenWays, outputs: Sequence[tuple[Expression, Norm]]) -> dict[Place, str]:
    """The label of a node; with the norm, where it is used in several, and a number where another one has its name."""
    used: dict[Place, Expression] = {}
    for node, norm in outputs:
        _used(choice, node, norm, (), used)
    names, wanted = dict[Place, str](), {(node, norm) for node, norm in outputs}
    for (scope, place, norm), node in used.items():
        norms = {its for _, other, its in used if other == place}
        plain = len(norms) == 1 or (not scope and (node, norm) in wanted)
        base = node.label if plain else f"{node.label} in the {norm.words}"
        number = next(k for k in range(1, len(used) + 2) if _numbered(base, k) not in names.values())
        names[scope, place, norm] = _numbered(base, number)
    return names


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name} ({number})"


@dataclass(frozen=True)
class LeastBounds:
    """The least bound of each output at some numbers, in letters; how large the arguments of functions are there."""

    conclusions: tuple[Approximated, ...]
    reached: Mapping[int, sp.Expr]


def derived(outputs: Sequence[Expression], numbers: Mapping[sp.Symbol, Any], norm: Norm | None) -> LeastBounds:
    """In the norm asked for, or where the bound is least at these numbers."""
    choice = ChosenWays()
    at_numbers = AtNumbers(numbers, choice)
    wanted = []
    for output in outputs:
        known = at_numbers.known(output)
        if norm is not None and norm not in known:
            raise UsageError(f"{output.label} is not bounded in the {norm}-norm; it is in: {', '.join(known)}")
        wanted.append((output, norm or min(known, key=lambda each: known[each].rank)))
    in_letters = InLetters(choice, names_of(choice, wanted))
    try:
        return LeastBounds(tuple(in_letters.bounded(*each).value for each in wanted), in_letters.reached)
    except DerivationError as error:
        raise UsageError(f"the way that is least at the defaults does not hold in letters: {error}") from error
