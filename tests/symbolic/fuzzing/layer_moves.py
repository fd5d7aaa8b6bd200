"""Moves over layers: recursions in numbers, read off a derived layer, and repetitions."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy as sp

from symbolic.calculus import Approximated, DerivationError, Norm
from tests.symbolic.fuzzing import maps
from tests.symbolic.fuzzing.evaluation import evaluate, satisfied
from tests.symbolic.fuzzing.maps import About
from tests.symbolic.fuzzing.move import move
from tests.symbolic.fuzzing.program import NAME, Program, Rules
from tests.symbolic.fuzzing.realised import Realised
from tests.symbolic.fuzzing.vectors import units


def _layers(program: Program, x: Realised, factors: list[float], offsets: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """Layer by layer: an operator of norm exactly the factor, then a perturbation of length exactly the offset."""
    exact, near, norm = x.exact, x.near, x.value.norm
    for factor, offset in zip(factors, offsets, strict=True):
        operator = maps.extreme_operator(program, (exact, near), norm, norm, exact.shape[-1], factor)
        exact, near = operator(exact), operator(near)
        near = near + offset * units(near - exact, norm)
    return exact, near


@move("recur", "recur")
def recur(program: Program) -> None:
    x, depth = program.pick(), program.whole(1, 5)
    factor = (0.0, 0.5, 1.0, 1.5, program.number(0.1, 1.4))[program.whole(0, 4)]
    offset = 0.0 if program.chance(0.2) else program.number(0.01, 0.5)
    size = factor**depth * program.size(x)
    value = program.apply("recur", x, NAME, factor=factor, offset=offset, depth=depth, size=size)
    exact, near = _layers(program, x, [factor] * depth, [offset] * depth)
    program.conclude(value, exact, near, norm=x.value.norm)


# z' = rate z, and the approximate one is pushed along its error, of a length of `offset` at every time.
@move("evolve", "evolve", weight=0.5)
def evolve(program: Program) -> None:
    x, time = program.pick(), program.number(0.1, 2.0)
    rate = (0.0, program.number(0.1, 0.8), -program.number(0.1, 2.0))[program.whole(0, 2)]
    offset = 0.0 if program.chance(0.2) else program.number(0.01, 0.5)
    grown = float(np.exp(rate * time))
    value = program.apply("evolve", x, NAME, rate=rate, offset=offset, time=time, size=grown * program.size(x))
    pushed = offset * (time if rate == 0.0 else (grown - 1) / rate)
    exact, near = grown * x.exact, grown * x.near
    near = near + pushed * units(near - exact, x.value.norm)
    program.conclude(value, exact, near, norm=x.value.norm)


# The coefficients of layer l are a + b/(1 + l) and c + d l.
@move("iterate, by layer", "iterate", weight=0.5)
def iterate_by_layer(program: Program) -> None:
    x, depth = program.pick(), program.whole(1, 4)
    a, b, c, d = (program.number(0.1, 0.9) if program.chance(0.8) else 0.0 for _ in range(4))
    layer = program.symbol("l", integer=True, nonnegative=True)
    recursion = program.apply("LinearRecursion", sp.Integer(0), a + b / (1 + layer), c + d * layer, layer)
    factors, offsets = [a + b / (1 + k) for k in range(depth)], [c + d * k for k in range(depth)]
    size = float(np.prod(factors)) * program.size(x)
    value = program.apply("iterate", x, NAME, recursion, depth, size=size)
    exact, near = _layers(program, x, factors, offsets)
    program.conclude(value, exact, near, norm=x.value.norm)


UNFIT_MAPS = (maps.apply_within, maps.linear_map, maps.perturbed_map, maps.perturbed_function, maps.soft_threshold)
LAYER_MAPS = (
    maps.apply_function,
    maps.linear_map,
    maps.soft_threshold,
    maps.perturbed_map,
    maps.perturbed_map_known,
    maps.perturbed_function,
    maps.exclude,
    maps.project_box,
)


NAMED = (maps.apply_function, maps.linear_map, maps.soft_threshold, maps.project_box, maps.contract, maps.exclude)
NAMED_PERTURBED = (maps.perturbed_map, maps.perturbed_map_known)
READ_LAYER_MAPS = (*NAMED, *NAMED, *NAMED_PERTURBED, maps.perturbed_function)  # the last names no operands


# One layer is derived on a premise with an error symbol; then it runs `depth` times on the vectors. Its maps keep the
# size, so that the sizes that it was derived with hold at every layer.
@move("iterate, derived layer", "iterate", weight=0.6)
def iterate_derived(program: Program) -> None:
    x, depth = program.pick(), program.whole(1, 4)
    if program.size(x) == 0.0:
        return
    dim, norm = x.exact.shape[-1], x.value.norm
    error = program.letter("err")
    premise = program.apply("given", NAME, dim=dim, norm=norm, size=program.size_above(x), error=error)
    layer, made = premise, []
    for _ in range(program.whole(1, 3)):
        size = float(evaluate(layer.size, program.at))
        here = About(norm, dim, size, program.bound(x), layer=True, spare=program.spare, single=x.single)
        made.append(LAYER_MAPS[program.whole(0, len(LAYER_MAPS) - 1)](program, here))
        layer = program.apply(made[-1].rule, layer, NAME, **made[-1].arguments)
    skip = (0.25, 0.75) if program.chance(0.4) else None
    if skip:
        layer = program.apply("add", premise, layer, name=NAME, coefficients=skip)
    recursion = program.apply("recursion_from", premise, layer)
    value = program.apply("iterate", x, NAME, recursion, depth, size=program.size(x))
    exact, near = x.exact, x.near
    for _ in range(depth):
        before = exact, near
        for each in made:
            exact, near = each.run(exact, near)
        if skip:
            exact, near = (skip[0] * b + skip[1] * a for b, a in zip(before, (exact, near), strict=True))
    program.conclude(value, exact, near, norm=norm)


# Each layer multiplies a number by a weight, at most `factor` after it moved. The errors are per unit of a small joint
# perturbation, which the value and the weights share in proportion to what they contribute.
@move("iterate, pooled layers", "iterate", weight=0.6)
def iterate_pooled(program: Program) -> None:
    norm, depth = program.any_norm(), program.whole(1, 4)
    x = program.given(norm, 1, size=program.number())
    factor, off = 1.0 if program.chance(0.7) else program.number(0.3, 1.0), program.number(0.1, 1.0)
    error, size = program.letter("err"), program.size(x)
    premise = program.apply("given", NAME, dim=1, norm=norm, size=size, error=error)
    weights = {"operator_norm": factor, "perturbed_norm": factor, "perturbation": off, "dim": 1, "pooled": True}
    layer = program.apply("perturbed_map", premise, NAME, **weights)
    recursion = program.apply("recursion_from", premise, layer, pooled=True)
    value = program.apply("iterate", x, NAME, recursion, depth, size=factor**depth * size)
    later = factor ** np.arange(depth)[::-1]
    terms = np.stack([factor**depth * x.error, *np.multiply.outer(later, np.full(program.points, off * size))])
    shares = SMALL * terms / np.linalg.norm(terms, axis=0)
    near = factor**depth * (x.exact + shares[0][:, None, None] * x.moved)
    exact = np.prod(factor - off * shares[1:], axis=0)[:, None, None] * x.exact
    full = factor**depth * x.exact  # at the middle of a perturbation that shrinks
    program.conclude(value, full, full + (near - exact) / SMALL, norm=norm)


SMALL = 1e-6


@dataclass(frozen=True)
class Layer:
    """A layer as a function of its premise, which reads as the code that defines it."""

    rules: Rules
    made: tuple[maps.Map, ...]

    def __call__(self, z: Approximated) -> Approximated:
        for place, each in enumerate(self.made):
            z = self.rules[each.rule](z, f"part{place}", **each.arguments)
        return z

    def __repr__(self) -> str:
        words = "z"
        for place, each in enumerate(self.made):
            named = ", ".join(f"{key}={_word(argument)}" for key, argument in each.arguments.items())
            words = f"{each.rule}({words}, 'part{place}', {named})"
        return f"lambda z: {words}"


def _word(argument: Any) -> str:
    return f"Norm.{argument.name}" if isinstance(argument, Norm) else repr(argument)


def _raised(program: Program, made: maps.Map) -> maps.Map:
    """With the numbers that the rules get."""
    numbers = {key: program.raised(each, key) for key, each in made.arguments.items() if isinstance(each, float)}
    return replace(made, arguments={**made.arguments, **numbers})


@move("repeat", "repeat", weight=0.6)
def repeat(program: Program) -> None:
    x, depth = program.pick(), program.whole(1, 4)
    if program.size(x) == 0.0:
        return
    dim, norm, made = x.exact.shape[-1], x.value.norm, []
    part = premise = program.rules["given"]("z", dim=dim, norm=norm, size=program.size(x))
    for _ in range(program.whole(1, 3)):
        size = float(evaluate(part.size, program.at))
        here = About(norm, dim, size, program.bound(x), layer=True, spare=program.spare, single=x.single)
        choice = READ_LAYER_MAPS if program.read else LAYER_MAPS
        made.append(_raised(program, choice[program.whole(0, len(choice) - 1)](program, here)))
        part = Layer(program.rules, tuple(made))(premise)
    value = program.apply("repeat", x, NAME, Layer(program.rules, tuple(made)), depth)
    exact, near = x.exact, x.near
    for _ in range(depth):
        for each in made:
            exact, near = each.run(exact, near)
    program.conclude(value, exact, near, norm=norm)


# The same with layers that need not fit: they may grow, and know their functions on a range only. Either the rules
# refuse, or the bound holds.
@move("iterate, any layer", "iterate", weight=0.6)
def iterate_any(program: Program) -> None:
    x, depth = program.given(size=program.number()), program.whole(1, 4)
    dim, norm, size = x.exact.shape[-1], x.value.norm, program.size(x) * program.whole(1, 2)
    error = program.letter("err")
    try:
        premise = program.apply("given", NAME, dim=dim, norm=norm, size=size, error=error)
        layer, made = premise, []
        for _ in range(program.whole(1, 2)):
            here = About(norm, dim, float(evaluate(layer.size, program.at)), program.bound(x), layer=True, fits=False)
            made.append(UNFIT_MAPS[program.whole(0, len(UNFIT_MAPS) - 1)](program, here))
            layer = program.apply(made[-1].rule, layer, NAME, **made[-1].arguments)
        recursion = program.apply("recursion_from", premise, layer)
        growth = float(evaluate(layer.size, program.at)) / size
        end = growth**depth * program.size(x)
        value = program.apply("iterate", x, NAME, recursion, depth, size=end)
    except DerivationError:
        program.refuse()
        return
    if not all(satisfied(o.condition, program.at) for o in value.derivation.obligations if o.open):
        program.refuse()  # the bound is conditional, and its condition is not met
        return
    exact, near = x.exact, x.near
    for _ in range(depth):
        for each in made:
            exact, near = each.run(exact, near)
    program.conclude(value, exact, near, norm=norm)


MOVES = (recur, evolve, iterate_by_layer, iterate_derived, iterate_pooled, repeat, iterate_any)
