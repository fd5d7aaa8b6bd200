"""The derivations of a theorem, read at one point: at a prompt on tensors and on balls, and from norms for all prompts.

Shapes: B prompts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import flint
import torch

from bridge.instances.bindings import AtPrompt, Bindings, Use, bindings, in_groups, steps_of
from bridge.instances.bound import Checked
from bridge.instances.inputs import Batch, Inputs, KeptRuns
from bridge.instances.letters import EVERY, PROMPT, Letters
from bridge.lowering.ball_values import BASE_BITS, as_exact
from bridge.readings import AtHand, Emulated, Operands, Smooth, enclose, read
from bridge.readings.network import Bounded, NormsAtHand, bound_network
from bridge.readings.numbers import BITS, wrong_numbers
from bridge.readings.reading import read_errors
from numeric.balls import BallsError, working_precision
from numeric.balls.limits import TooLargeForExact
from symbolic.derivations.derivation import Derivation
from symbolic.statements.result import Quantity
from symbolic.words.errors import UsageError
from symbolic.words.prose import joined

ABOVE = 2.0**-40
NOT_APART = "the bound covers the rounding of the run, which is not measured apart; letters of the prompt in float64"
BEYOND = "the argument of step '{step}' stays where its function is known"


class Readings:
    """Of these quantities. `readable`: whether there is anything that a prompt could be run through."""

    def __init__(
        self, letters: Letters, inputs: Inputs, quantities: Sequence[Quantity], *, readable: bool = True
    ) -> None:
        self.letters, self._inputs, self._stated, self._readable = letters, inputs, list(quantities), readable
        self._known, self._theorem = letters.known, letters.known.theorem
        self._functions: dict[tuple[str | None, ...], AtPrompt] = {}
        self._networks: dict[int, Mapping[str, Bounded]] = {}
        self._on_balls: KeptRuns[Any] = KeptRuns()

    @cached_property
    def bindings(self) -> Bindings:
        """What the handles bind, as one prompt shows it."""
        if self._theorem.handles is None or not self._readable:
            return Bindings()
        prompt = self._inputs.sample(1, seed=0)
        return bindings(self._theorem.id, self._stated, lambda quantity, use: self.at(quantity, use, prompt))

    @cached_property
    def quantities(self) -> dict[str, Quantity]:
        """By name, with the scopes that their readings add.

        A distance of the theorem's own is none of the norms in which steps are bounded; quantities of the point say
        their scopes themselves.
        """
        own = self._theorem.distance is not None or self._theorem.at_point.quantities is not None
        found = Bindings() if own else self.bindings
        scoped = {each.name: replace(each, scopes=found.scopes(each)) for each in self._stated}
        same = {each.name: each for each in self._stated if scoped[each.name].scopes == each.scopes}
        known = {**scoped, **same}
        if not self._inputs.covers_rounding:
            return known
        return {n: replace(q, remark=joined([q.remark, NOT_APART])) if q.scopes else q for n, q in known.items()}

    # A use of the operands.

    def at(self, quantity: Quantity, use: Use, one: Batch) -> Any:
        """In float64, at the one prompt of a batch of one."""
        function, format = AtPrompt(self.letters, quantity, use), self._known.format
        prompt = {name: value[0].double() for name, value in one.items()}
        return self._known.at_one(function, {**prompt, **self._numbers(function, format.wide.tensor)})

    def on_balls(self, quantity: Quantity, use: Use, one: Batch, bits: int, *, every: bool = False) -> Any:
        """The same on balls. Raises TooLargeForExact."""
        function, letters = AtPrompt(self.letters, quantity, use, bits, every=every), self.letters.of_network
        numbers = {name: letters[letter] for name, letter in function.letters.items()}
        return self._known.exactly(function, {**self._inputs.members(one, bits), **numbers}, bits)

    def on_tensors(self, quantity: Quantity, use: Use, batch: Batch) -> Any:
        """The same at each prompt of a batch, (B, ...)."""
        function = AtPrompt(self.letters, quantity, use)
        like = next(iter(batch.values())).double()
        numbers = self._numbers(function, lambda number: like.new_full((len(like),), number))
        return self._known.batched(function, {**batch, **numbers})

    def _numbers(self, function: AtPrompt, tensor: Any) -> dict[str, Any]:
        return {name: tensor(self.letters.number(letter)) for name, letter in function.letters.items()}

    # Bounds.

    def bounds(self, quantities: Sequence[Quantity], scope: str | None) -> AtPrompt:
        """Those that one reading of their derivation gives at a prompt, on tensors, by quantity.

        Without a scope each prompt has to say whether its own is local (`IS_LOCAL`).
        """
        key = (*(quantity.name for quantity in quantities), scope)
        if key not in self._functions:
            use = bounds_of(quantities, scope, by_rules=self._theorem.by_rules)
            given, every = scope is None, scope == EVERY
            self._functions[key] = AtPrompt(self.letters, quantities[0], use, scope_is_given=given, every=every)
        return self._functions[key]

    def bound_on_balls(
        self, quantities: Sequence[Quantity], scope: str, one: Batch, bits: int
    ) -> tuple[flint.arb | None, str]:
        """That of the first quantity, and a remark; None where the reading proves nothing at this prompt.

        The others share its reading, and are read too where the prompt is not the first quantity's alone.
        """
        quantity, known = quantities[0], self._on_balls.at(one, scope, bits)
        try:
            if quantity.name not in known:
                together = quantities if known else [quantity]
                use = bounds_of(together, scope, by_rules=self._theorem.by_rules)
                known |= self.on_balls(quantity, use, one, bits, every=scope == EVERY)
            found = known[quantity.name]
        except TooLargeForExact:
            why = "the reading of the derivation is too large for exact arithmetic; the bound is that of the rules"
            return None, why
        except BallsError as error:
            return None, f"the reading of the derivation proves nothing at this prompt: {error}"
        ball = None if found is None else found.balls[0]
        return (ball if ball is not None and ball.is_finite() else None), self.bindings.remark(quantity)

    def from_norms(self, quantity: Quantity) -> flint.arb | None:
        """A bound of the network, norms and ranges in the place of arrays; None where they do not give one."""
        norms, derivation = self._theorem.norms, quantity.derivation
        if norms is None or derivation is None:
            return None
        if id(derivation) not in self._networks:  # once, for all quantities that it derives
            same = [each.concluded_by for each in self._stated if each.derivation is derivation]
            letters = {symbol: as_exact(value) for symbol, value in self.letters.numbers.items()}
            with working_precision(2 * BASE_BITS):
                operands = self._known.call(norms)
                self._networks[id(derivation)] = bound_network(derivation, NormsAtHand(operands, letters), same)
        found = self._networks[id(derivation)].get(quantity.concluded_by)
        return None if found is None else found.error

    # Premises: the numbers that rules were given have to be those of the operands, and arguments of functions have to
    # stay where these are known: beyond, the rule's own bound is left, which nothing here certifies. Both are compared
    # in float64; a number that seems wrong is decided on balls, the letters enclosed too, wherever these can run.

    def premises(self, quantity: Quantity, one: Batch) -> tuple[Checked, ...]:
        """What its bound rests on at this prompt beside obligations: what does not hold, and what is open."""
        derivation, step = Derivation(steps_of(quantity)), quantity.concluded_by

        def wrong(operands: Operands, surely: bool = True) -> dict[str, str]:
            return wrong_numbers(derivation, operands, read(derivation, operands, [step]), surely=surely)

        def use(operands: Operands) -> tuple[dict[str, str], dict[str, str], list[str]]:
            seem = wrong(operands, surely=False)
            return seem, wrong(operands) if seem else {}, read_errors(derivation, operands, [step]).beyond

        seem, shown, beyond = self.at(quantity, use, one)
        exact = self._wrong_on_balls(quantity, wrong, one) if seem else {}
        found = shown if exact is None else {what: words for what, words in exact.items() if what in seem}
        return (
            *(Checked(words, False) for words in found.values()),
            *(Checked(BEYOND.format(step=name), None, "the bound of its rule is used") for name in beyond),
        )

    def _wrong_on_balls(self, quantity: Quantity, wrong: Use, one: Batch) -> dict[str, str] | None:
        """What balls say of this prompt; None where they do not run."""
        try:
            found: dict[str, str] = self.on_balls(quantity, wrong, one, BITS)
        except (BallsError, TooLargeForExact, UsageError):
            return None
        return found

    # Values.

    def values(self, names: Sequence[str], batch: Batch) -> dict[str, Emulated]:
        """The exact and the emulated values of these quantities at each prompt, (B, m) each."""
        values: dict[str, Emulated] = {}
        for group in in_groups(self.quantities[name] for name in names):
            found = self.on_tensors(group[0], _by_side(values_of(group)), batch)
            values |= {name: Emulated(each["exact"], each["emulated"]) for name, each in found.items()}
        return values

    def values_on_balls(self, names: Sequence[str], one: Batch, bits: int) -> dict[str, Emulated]:
        """The same on balls. Raises TooLargeForExact."""
        values: dict[str, Emulated] = {}
        for group in in_groups(self.quantities[name] for name in names):
            values |= self.on_balls(group[0], values_of(group), one, bits)
        return values


def steps_of_derivation(quantity: Quantity, steps: Sequence[str]) -> Use:
    """The exact and the emulated values of steps of its derivation, as far as they are known."""

    def use(operands: Operands) -> dict[str, Emulated]:
        assert quantity.derivation is not None  # it has handles
        found = read(quantity.derivation, operands, steps)
        return {step: found[step] for step in steps if step in found}

    return use


def bounds_of(quantities: Sequence[Quantity], scope: str | None, *, by_rules: bool = True) -> Use:
    """The bound of each quantity's step, an array without axes; infinite on tensors where nothing is known.

    The quantities share a reading. On tensors of one reading alone: there an attack asks for it at each of its steps.
    Without a scope it is said with each prompt.
    """

    every = scope == EVERY

    def use(operands: Operands, local: Any = scope not in (None, PROMPT)) -> dict[str, Any]:
        derivation, steps = quantities[0].derivation, [each.concluded_by for each in quantities]
        assert derivation is not None  # it has handles
        if operands.bits is not None and by_rules:
            reading = read_errors(derivation, operands, steps, local=local, every=every)
        else:
            reading = enclose(derivation, AtHand(operands, local, by_rules, every), steps)
        found = {quantity.name: reading.bound(step) for quantity, step in zip(quantities, steps, strict=True)}
        if operands.bits is not None:
            return {name: None if bound is None else _above_kinks(bound, operands) for name, bound in found.items()}
        return {
            name: torch.tensor(torch.inf, dtype=torch.float64, device=operands.device) if bound is None else bound
            for name, bound in found.items()
        }

    return use


# A sum of ReLUs bends where float64 has put its knots, next to where they are meant to be: at an argument between the
# two, balls decide its value to some 50 bits alone, and so an error that attains its bound there.
def _above_kinks(bound: Any, operands: Operands) -> Any:
    """At least the bound, by a relative 2^-40 of it and of the errors of the approximants that are known locally."""
    local = [each for each in operands.bound.values() if isinstance(each, Smooth) and each.slope_error is not None]
    errors = [each.error for each in local if each.error is not None]
    return bound + ABOVE * (bound + sum(errors)) if errors else bound


def values_of(quantities: Sequence[Quantity]) -> Use:
    """The exact and the emulated values of quantities that share a reading, as far as they are known."""

    def use(operands: Operands) -> dict[str, Emulated]:
        steps = {quantity.name: quantity.concluded_by for quantity in quantities}
        assert quantities[0].derivation is not None  # it has handles
        found = read(quantities[0].derivation, operands, list(steps.values()))
        return {name: found[step] for name, step in steps.items() if step in found}

    return use


def _by_side(use: Use) -> Use:
    def flat(operands: Operands) -> dict[str, dict[str, torch.Tensor]]:
        values = use(operands)
        return {n: {"exact": x.exact.flatten(), "emulated": x.emulated.flatten()} for n, x in values.items()}

    return flat
