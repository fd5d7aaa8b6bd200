"""A derived bound by the steps that it is made of: each error has a name, defined once, in the order of the proof.

The value is that of `Derivation.bound`: with every definition put in, nothing is left but the closed form.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import sympy as sp

from symbolic.derivations.derivation import Derivation, Step
from symbolic.words.names import ErrorSymbol, letters_by_name, member_error, members_in, place_of

Fits = Callable[[sp.Expr], bool]
Item = TypeVar("Item")


def in_order(items: Iterable[Item], needs: Callable[[Item, Item], bool]) -> list[Item]:
    """Each item behind those that it needs, else as they come."""
    every, ordered = list(items), list[Item]()

    def add(item: Item) -> None:
        for other in every:
            if other not in ordered and needs(item, other):
                add(other)
        if item not in ordered:
            ordered.append(item)

    for item in every:
        add(item)
    return ordered


@dataclass(frozen=True)
class NamedPart:
    """A name and its meaning; that of a family holds for every `index` but those that other parts define."""

    name: sp.Expr
    meaning: sp.Expr
    index: sp.Symbol | None = None

    def at(self, name: sp.Expr) -> sp.Expr | None:
        """What it says that `name` means; None if it does not say."""
        if name == self.name:
            return self.meaning
        if self.index is None or name.func != self.name.func:
            return None
        return self.meaning.xreplace({self.index: name.args[0]})


@dataclass(frozen=True)
class Named:
    """`main`, and the parts that it is made of, in the order of the proof.

    `inlined` are the names of parts whose meanings stand in the place of their names.
    """

    main: sp.Expr
    parts: tuple[NamedPart, ...] = ()
    inlined: tuple[sp.Expr, ...] = ()

    def part(self, name: sp.Expr) -> NamedPart:
        """The part of that name."""
        return next(each for each in self.parts if each.name == name)

    def expanded(self) -> sp.Expr:
        """The bound with every definition put in."""
        main = self.main
        while names := _names_in(main):
            main = main.xreplace({name: _defined(name, self.parts)[1] for name in names})
        return main

    def apart(self, part: NamedPart) -> tuple[sp.Expr, ...]:
        """The members of this family that are defined by themselves, or inlined."""
        if part.index is None:
            return ()
        others = (*(other.name for other in self.parts if other != part), *self.inlined)
        return tuple(name.args[0] for name in others if name.func == part.name.func)

    def uses(self, part: NamedPart) -> int:
        """How often a meaning, or the bound itself, refers to it."""
        meanings = [self.main, *(other.meaning for other in self.parts if other != part)]
        return sum(_defined(name, self.parts)[0] == part for each in meanings for name in _names_in(each))

    def without(self, part: NamedPart) -> "Named":
        """The same, the meaning of this part in the place of its name."""
        names = {name for each in (self.main, *(p.meaning for p in self.parts)) for name in _names_in(each)}
        found = {name: _defined(name, self.parts) for name in names}
        put = {name: meaning for name, (by, meaning) in found.items() if by == part}
        others = (replace(each, meaning=each.meaning.xreplace(put)) for each in self.parts if each != part)
        return Named(self.main.xreplace(put), tuple(others), (*self.inlined, part.name))


def named_bound(derivation: Derivation, of: str, at: Mapping[sp.Symbol, Any], fits: Fits) -> Named:
    """The bound of the step `of` at these values of its letters. A part that is used once goes where it `fits`."""
    named = _of_steps(derivation, of, at)
    for name in [part.name for part in named.parts]:
        now = named.part(name)  # an earlier one may have gone into this one
        if _is_trivial(now.meaning):
            named = named.without(now)
    named = _without_repetitions(named)
    for name in [part.name for part in named.parts]:
        now = named.part(name)
        used = named.uses(now)
        shorter = named.without(now) if used <= 1 else named
        if used == 0 or (used == 1 and all(fits(each) for each in _changed(named, shorter))):
            named = shorter
    return replace(named, parts=tuple(in_order(named.parts, partial(_is_made_of, parts=named.parts))))


def _is_made_of(part: NamedPart, other: NamedPart, parts: Sequence[NamedPart]) -> bool:
    return any(_defined(name, parts)[0] == other for name in _names_in(part.meaning))


def _changed(before: Named, after: Named) -> list[sp.Expr]:
    old = {before.main, *(part.meaning for part in before.parts)}
    return [each for each in (after.main, *(part.meaning for part in after.parts)) if each not in old]


def _of_steps(derivation: Derivation, name: str, at: Mapping[sp.Symbol, Any]) -> Named:
    """Every step that the bound rests on as a part of it."""
    *before, last = with_families(derivation.resting_on(name).steps)
    steps = [*before, last]
    letters = letters_by_name(step.shown for step in steps)
    places = {step.name: place_of(step.name, letters) for step in steps}
    errors = {s.error: s.error if (place := places[s.name]) is None else member_error(s.name, place) for s in steps}
    free = {letter.name for letter in derivation.bound(name).free_symbols}
    any_place = {each.name for step in steps for each in step.families}

    def meaning(step: Step) -> sp.Expr:
        return step.shown.xreplace(errors).xreplace(dict(at))

    def part(step: Step) -> NamedPart:
        place = places[step.name]
        runs = (x for x in place.free_symbols if x.name not in free or step.name in any_place) if place else ()
        index = next(iter(runs), None)
        if place is None or index is None:
            return NamedPart(errors[step.error], meaning(step))
        return NamedPart(member_error(step.name, index), meaning(step).xreplace({index: 2 * index - place}), index)

    return Named(meaning(last), tuple({(each := part(step)).name: each for step in before}.values()))


def range_of(index: sp.Symbol, apart: Sequence[sp.Expr]) -> tuple[sp.Expr | None, sp.Expr | None] | None:
    """The ends, themselves excluded, of the members that are left without these; None if they are not a range.

    The first of them are 1, 2, ... (0, 1, ... if the index may be 0), the last ones N, N - 1, ....
    """
    first = 1 if index.is_positive else 0
    low = sorted(place for place in apart if place.is_Integer)
    high = sorted((place for place in apart if not place.is_Integer), key=lambda place: place.as_coeff_Add()[0])
    tops = {place.as_coeff_Add()[1] for place in high}
    numbers = [place.as_coeff_Add()[0] for place in high]
    if low != [first + k for k in range(len(low))] or len(tops) > 1:
        return None
    if numbers != [number - len(numbers) + 1 for number in range(len(numbers))]:
        return None
    return (low[-1] if low else None), (high[0] if high else None)


def with_families(steps: Sequence[Step]) -> list[Step]:
    """The steps, and before each of them those of its families."""
    every = [each for step in steps for each in (*step.families, step)]
    return list({step.name: step for step in every}.values())


def _without_repetitions(named: Named) -> Named:
    """The same, without the members that are what their family says."""
    families = [part for part in named.parts if part.index is not None]
    said = {
        part
        for part in named.parts
        if part not in families and any(family.at(part.name) == part.meaning for family in families)
    }
    return replace(named, parts=tuple(part for part in named.parts if part not in said))


def _is_trivial(meaning: sp.Expr) -> bool:
    """A number, a letter, or a multiple of one error."""
    if meaning.has(sp.Sum):
        return False
    return all(each.is_Atom or each.is_Pow or each in members_in(each) for each in sp.Mul.make_args(meaning))


def _names_in(expression: sp.Expr) -> set[sp.Expr]:
    return members_in(expression) | expression.atoms(ErrorSymbol)


def _defined(name: sp.Expr, parts: Sequence[NamedPart]) -> tuple[NamedPart, sp.Expr]:
    """The part that defines a name, and what it means; a member that is defined by itself is not what its family is."""
    for part in sorted(parts, key=lambda part: part.name != name):
        meaning = part.at(name)
        if meaning is not None:
            return part, meaning
    raise KeyError(name)
