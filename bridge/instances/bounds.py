"""The bounds of a theorem at one point, in every tier and scope, as balls."""

import copy
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import flint
import sympy as sp

from bridge.instances.bindings import shared_reading
from bridge.instances.bound import Bound, lesser
from bridge.instances.inputs import Batch, Inputs, KeptRuns
from bridge.instances.letters import (
    PROMPT,
    STATED,
    AtOwnLetters,
    Claimed,
    Letters,
    decided,
    formulas_of,
    holds_conditionally,
    letters_at,
    means_the_prompts,
    numbers_for,
    stated_at_own_letters,
    wrong_sign,
)
from bridge.instances.own_bounds import own_bounds_at
from bridge.instances.readings import Readings
from bridge.lowering.ball_values import MOST_BITS, bits_for
from bridge.theorems.record import Verdict
from bridge.theorems.refusal import Refusal
from symbolic.statements.result import Quantity

READ_BITS = 64  # for bounds at a prompt that are smaller than those of the network, to 2^-60 of them
TOO_SMALL = f"to read the derivation at so small a bound would take more than {MOST_BITS} bits"
Claims = Mapping[str, Claimed]  # by quantity


class Bounds:
    """Of the quantities of these readings, at their letters; `claims` are the user's."""

    claims: Claims = MappingProxyType({})

    def __init__(self, readings: Readings, inputs: Inputs, refusal: Refusal | None) -> None:
        self.readings, self.letters = readings, readings.letters
        self._known, self._theorem = self.letters.known, self.letters.known.theorem
        self._inputs, self._refusal = inputs, refusal
        self._derived: dict[int, tuple[Quantity, Bound | None]] = {}
        self._own: KeptRuns[Bound | None] = KeptRuns()

    def with_letters(self, letters: Mapping[sp.Symbol, Any]) -> "Bounds":
        """The same, read at other values of these letters."""
        other = copy.copy(self)
        other.letters, other._derived = self.letters.with_(letters), {}
        return other

    def with_claims(self, claims: Claims) -> "Bounds":
        other = copy.copy(self)
        other.claims = claims
        return other

    @property
    def quantities(self) -> dict[str, Quantity]:
        """By name, with the scopes that their readings add."""
        return self.readings.quantities

    @property
    def measured(self) -> list[Quantity]:
        """Those whose errors are measured."""
        return [each for each in self.quantities.values() if each.scopes] if self._refusal is None else []

    # Tiers.

    def at(self, quantity: Quantity, tier: str, scope: str = "network", one: Batch | None = None) -> Bound | None:
        """The bound of a tier at one prompt, or (without one, or where it is not judged there) for all of them."""
        if tier not in ("printed", "claimed", "derived"):
            return self.instance(quantity, scope, one)
        stated = self.at_own_letters(quantity, tier) if tier in STATED and scope != "network" else None
        if stated is None or one is None:
            of_all = {"printed": self.printed, "claimed": self.claimed, "derived": self.derived}
            return of_all[tier](quantity)
        numbers = numbers_for(self.letters, stated, self.letters.at(PROMPT, one))
        bound = Bound(self.letters.ball(stated.formula, numbers), strict=stated.strict, remark=stated.remark(tier))
        return self._here(quantity, tier, bound)

    def stated(self, quantity: Quantity) -> dict[str, Bound | None]:
        """The tiers that do not depend on the network."""
        return {"printed": self.printed(quantity), "claimed": self.claimed(quantity), "derived": self.derived(quantity)}

    def printed(self, quantity: Quantity) -> Bound | None:
        printed = quantity.printed
        if printed is None or not self._has_values(printed.bound) or printed.unspecified:
            return None
        own, letters = self._theorem.at_point.printed_letters, self.letters
        if own is None or self._is_outside:
            return Bound(self._at_worst(printed.bound, quantity, letters), strict=printed.strict)
        letters = letters.with_(self._known.call(own, {"quantity": quantity.name}))
        bound = Bound(self._at_worst(printed.bound, quantity, letters), strict=printed.strict)
        return self._here(quantity, "printed", bound)

    def _at_worst(self, formula: sp.Expr, quantity: Quantity, letters: Letters) -> flint.arb:
        worst = {letter: value for letter, value in quantity.at_worst.items() if letter not in letters.numbers}
        return letters.enclosed(formula.xreplace(worst))

    def claimed(self, quantity: Quantity) -> Bound | None:
        """The bound that was claimed, at this point."""
        claim = self.claims.get(quantity.name)
        if claim is None or claim.bound is None:
            return None
        return Bound(self.letters.enclosed(claim.bound), strict=claim.strict)

    # Each search for a quantity asks for it, and each of its rows.
    def derived(self, quantity: Quantity) -> Bound | None:
        kept = self._derived.get(id(quantity))
        if kept is None or kept[0] is not quantity:
            kept = self._derived[id(quantity)] = quantity, self._derive(quantity)
        return kept[1]

    def _derive(self, quantity: Quantity) -> Bound | None:
        expression = quantity.derived()
        if expression is None or quantity.derivation is None or not self._has_values(expression):
            return None
        bound = self._owing(quantity, Bound(self.letters.ball(expression)), quantity.at_worst)
        return self._here(quantity, "derived", bound)

    def instance(self, quantity: Quantity, scope: str, one: Batch | None = None) -> Bound | None:
        """Of the network, or at one prompt of it."""
        if scope not in quantity.scopes:
            return None
        at_prompt = scope != "network" and one is not None
        found = self._at_prompt(quantity, scope, one) if at_prompt and one is not None else self._of_all(quantity)
        return self._here(quantity, "instance", found)

    def trivial(self, quantity: Quantity) -> flint.arb | None:
        return None if quantity.trivial is None else self.letters.ball(quantity.trivial)

    # Whether a bound has a meaning here.

    @property
    def _is_outside(self) -> bool:
        return self._refusal is not None and self._refusal.verdict is Verdict.OUTSIDE

    def _has_values(self, expression: sp.Expr) -> bool:
        """Whether letters have values that nothing could give where the network cannot be built."""
        return self._refusal is None or expression.free_symbols <= set(self.letters.numbers)

    def _here(self, quantity: Quantity, tier: str, bound: Bound | None) -> Bound | None:
        """The bound, outside its hypotheses where the theorem says so."""
        outside = self._theorem.at_point.outside
        if bound is None or outside is None or self._refusal is not None or not quantity.scopes:
            return bound
        why = self._known.call(outside, {"quantity": quantity.name, "tier": tier})
        return replace(bound, outside=why) if why else bound

    def _owing(self, quantity: Quantity, bound: Bound, known: Mapping[sp.Symbol, Any]) -> Bound:
        """The bound with its open obligations decided at this point by balls: met, not met (outside), or left open."""
        found = bound.resting_on(decided(self.letters.numbers, quantity, known))
        return replace(found, impossible=wrong_sign(self.letters, quantity, known))

    # The derivation, its worst-case letters at what is at hand.

    def _by_formula(self, quantity: Quantity, scope: str, one: Batch | None) -> Bound | None:
        if quantity.derivation is None:
            return None
        known = letters_at(quantity, self.letters.at(scope, one))
        formulas = formulas_of(known)
        numbers = {letter: value for letter, value in known.items() if letter not in formulas}
        expression = quantity.general_bound().xreplace(formulas)
        found = self._owing(quantity, Bound(self.letters.ball(expression, numbers)), known)
        if not holds_conditionally(quantity, known):
            return found
        return found.resting_on(decided(self.letters.numbers, quantity, quantity.at_worst))

    def _of_all(self, quantity: Quantity) -> Bound | None:
        """For all prompts: that of the derivation, or of its reading from norms, where that is less."""
        if self._theorem.norms is None:
            return self._by_formula(quantity, "network", None)
        found = self.readings.from_norms(quantity)
        if found is not None and not self._theorem.by_rules:
            return Bound(found)
        bound = None if found is None else self._by_formula(quantity, "network", None)
        return None if bound is None or found is None else replace(bound, ball=lesser(bound.ball, found))

    def _at_prompt(self, quantity: Quantity, scope: str, one: Batch) -> Bound | None:
        """The least of what the derivation says in letters and of what its reading knows."""
        if self._theorem.bounds is not None:
            return self._own_bound(quantity, scope, one)
        read = self.is_read(quantity)
        if read and self.reads_alone(quantity):
            return self._as_read(quantity, scope, one)
        bound = self._by_formula(quantity, scope, one)
        if bound is None or not read:
            return bound
        bits = bits_for(bound.ball) + self.extra_bits
        if bits > MOST_BITS:  # exact runs are not tried there either
            return replace(bound, remark=f"{TOO_SMALL}; the bound is that of the rules")
        found, remark = self.readings.bound_on_balls([quantity], scope, one, bits)
        bound = replace(bound, ball=bound.ball if found is None else lesser(bound.ball, found), remark=remark)
        return bound.resting_on(self.readings.premises(quantity, one))

    def _as_read(self, quantity: Quantity, scope: str, one: Batch) -> Bound | None:
        together = self._shown_with(quantity)
        found, remark = self.readings.bound_on_balls(together, scope, one, READ_BITS + self.extra_bits)
        if found is not None:
            return Bound(found, remark=remark)
        bound = self._by_formula(quantity, scope, one)
        return None if bound is None else replace(bound, remark=remark)

    def _shown_with(self, quantity: Quantity) -> list[Quantity]:
        """The quantity, and those that are shown at the same prompts and share its reading."""
        shown = list(self.quantities.values()) if self._theorem.search.leading else []
        read = self.readings.bindings.read
        same = [q for q in shown if q.name in read and shared_reading(q) == shared_reading(quantity)]
        return [quantity, *(each for each in same if each.name != quantity.name)]

    def _own_bound(self, quantity: Quantity, scope: str, one: Batch) -> Bound | None:
        """That of the theorem's own way, one run for all of its quantities."""
        bits = READ_BITS + self.extra_bits
        known = self._own.at(one, scope, bits)
        if not known:
            names = [each.name for each in self.quantities.values() if scope in each.scopes]
            known |= own_bounds_at(self._known, names, scope, self._inputs.members(one, bits), bits)
        return known[quantity.name]

    def is_read(self, quantity: Quantity) -> bool:
        """Whether more than a formula bounds it at prompts."""
        if self._theorem.distance is not None:
            return False
        return self._theorem.bounds is not None or quantity.name in self.readings.bindings.read

    def reads_alone(self, quantity: Quantity) -> bool:
        """Whether the reading of its derivation gives its bounds at prompts, and no formula."""
        read = not self._theorem.by_rules and quantity.name in self.readings.bindings.read
        return self._theorem.bounds is not None or read

    @property
    def extra_bits(self) -> int:
        """Beyond those that telling the bounds from 0 takes: what is read at a prompt may be far below them."""
        return self._known.cancelled_bits + (READ_BITS if self._theorem.handles is not None else 0)

    # What is printed or claimed, at a prompt.

    def prompt_tiers(self, quantity: Quantity) -> tuple[str, ...]:
        """The printed and claimed bounds that are judged at each prompt too, by letters of its own."""
        return tuple(tier for tier in STATED if self.at_own_letters(quantity, tier) is not None)

    def at_own_letters(self, quantity: Quantity, tier: str) -> AtOwnLetters | None:
        return stated_at_own_letters(self.letters, quantity, tier, self.claims.get(quantity.name))

    @property
    def letters_of_prompts(self) -> frozenset[sp.Symbol]:
        """Those that a claim may have, and that mean a number of the prompt or network at hand."""
        return frozenset(s for s in self._theorem.knows if means_the_prompts(self._theorem, s, "claimed"))
