"""Rounding between layers: the margins of the toy with it and without it, proved, beside those that an attack finds."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import sympy as sp
from torch import Tensor

from bridge.limits.run import Run
from bridge.lowering.ball_values import evaluate_ball
from bridge.theorems.check import Sides, checks_of, within
from bridge.theorems.numbers import plain
from bridge.theorems.record import NamedTable
from bridge.theorems.theorem import Theorem
from bridge.topics.machines.intervals import interval_words
from bridge.topics.machines.rounding_margin import margin_at_every_depth, rounded_margin
from bridge.topics.tools.margins import beside_flip, flip_distance
from numeric.balls import float_below
from numeric.tools.flips import coordinate_lines, unit
from numeric.tools.slopes import log_slope
from numeric.topics.machines import toy
from symbolic.topics.machines import rounding as theory
from symbolic.topics.machines.rounding import D

DEPTHS = (1, 2, 4, 8, 16, 32, 64)  # of the table
RANGE = (4, 8, 16, 32)  # of the slopes
CONFIDENCE = 0.95
AT = 0.6  # the attack starts from 1/2, one layer alone, and need look no farther
STEPS, FEW_STEPS, FEW_RESTARTS = 40, 8, 2  # of one attack; of each of those that give a slope
DEEPEST = 128  # the networks that are attacked
ACCURACY = 1e-9  # of a run in floats
DERIVED, CERTIFIED = ("derived",), ("derived", "instance")

Output = Callable[[toy.Parameters], Tensor]
Network = Callable[[int], toy.Parameters]


# Attacks.


def attacked(sides: Sides, output: Output, network: Network, depth: int, run: Run) -> Sides:
    """The sides of a margin beside the nearest flip that an attack finds; a smaller one may be known."""
    words = f"attack: {run.restarts} restarts, {min(run.attack, STEPS)} steps, seed {run.seed}"
    return beside_flip(sides, nearest_flip(output, network, depth, run), words)


def nearest_flip(output: Output, network: Network, depth: int, run: Run) -> float | None:
    """The nearest flip that was found; None without an attack, or at a depth beyond those attacked."""
    if depth > DEEPEST:
        return None
    at = network(depth)
    lines = {**_first_layers(depth), **coordinate_lines(at)}
    few = replace(run, attack=min(run.attack, STEPS))
    return flip_distance(output, at, lines, few, largest=AT)


def _first_layers(depth: int) -> dict[str, toy.Parameters]:
    """The same change in the first layer, the first half, all of them: the attack does not know which is best."""
    weights = toy.ones(depth)["W"]
    return {f"first {n}": unit({"W": weights * (weights.cumsum(0) <= n)}) for n in {1, (depth + 1) // 2, depth}}


def fitted_slope(output: Output, known: Mapping[int, float], run: Run) -> tuple[float, str]:
    """The slope in the depth of the attacked margins, or of the known ones without an attack; and in words."""
    few = replace(run, restarts=min(run.restarts, FEW_RESTARTS), attack=min(run.attack, FEW_STEPS))
    flips = {depth: nearest_flip(output, toy.ones, depth, few) for depth in known}
    found = {depth: flip for depth, flip in flips.items() if flip is not None}
    whose = "attacked" if len(found) == len(known) else "known"
    fitted = log_slope((found if whose == "attacked" else known).items(), CONFIDENCE)
    depths = ", ".join(map(str, known))
    return fitted.value, (
        f"slope of the {whose} margins at `D = {depths}`: {plain(fitted.value)} +- {plain(fitted.half)} "
        f"({CONFIDENCE:.0%}, `t` distribution, of the deviations from a line)"
    )


# Formulas.


def at_depth(formula: sp.Expr, depth: int) -> float:
    """A formula in the depth, rounded down."""
    return float_below(evaluate_ball(formula, {D: depth}))


def printed(name: str) -> sp.Expr:
    stated = theory.ROUNDING.quantity(name).printed
    assert stated is not None  # of those that are asked for
    return stated.bound


def exponent(rate: sp.Expr) -> sp.Expr:
    """The exponent of the depth in a rate c D^a."""
    return sp.simplify(D * sp.diff(sp.log(rate), D))


# The sides.


def identity() -> Sides:
    return Sides(proved=DERIVED, remark="both pieces agree at 1/3 and 2/3")


def output_at_ones(depth: int) -> Sides:
    if depth > DEEPEST:
        return Sides(proved=DERIVED)
    output = float(toy.rounded({name: part[None] for name, part in toy.ones(depth).items()})[0])
    return Sides(within(output, ACCURACY), measured=output, proved=DERIVED)


def plain_margin(depth: int, seed: int, attack: int, restarts: int) -> Sides:
    sides = Sides(proved=DERIVED, remark="the same change in every layer is the best one")
    return attacked(sides, toy.plain, toy.ones, depth, Run(0, attack, restarts, seed))


def printed_change(depth: int) -> Sides:
    output = evaluate_ball(theory.all_alike(theory.PRINTED_CHANGE), {D: depth})
    remark = f"the change 3/d in every layer gives f = {plain(float(output.mid()))}"
    margin = evaluate_ball(theory.plain_margin(), {D: depth})
    return Sides(margin, derived=margin, proved=DERIVED, remark=remark)


def plain_rate(seed: int, attack: int, restarts: int) -> Sides:
    limit = theory.plain_order()
    known = {depth: at_depth(theory.plain_margin(), depth) for depth in RANGE}
    fitted, words = fitted_slope(toy.plain, known, Run(0, attack, restarts, seed))
    return Sides(
        fitted,
        printed=exponent(printed("plain.rate")),
        derived=exponent(limit / sp.sqrt(D)),
        proved=DERIVED if limit.is_finite and limit.is_positive else (),  # then the margin is Theta(1/sqrt(D))
        remark=f"margin * `sqrt(D)` tends to `{sp.sstr(limit)} = {plain(float(limit))}`; {words}",
    )


def margin(depth: int, seed: int, attack: int, restarts: int) -> Sides:
    sure = rounded_margin(depth)
    enclosed = f"the margin lies in {interval_words(sure.lower, sure.upper)} (instance: its lower end)"
    remark = f"{enclosed}; a flip by one layer alone takes 1/2"
    sides = Sides(sure.upper, instance=sure.lower, proved=CERTIFIED, remark=remark)
    return attacked(sides, toy.rounded, toy.ones, depth, Run(0, attack, restarts, seed))


def margin_everywhere() -> Sides:
    sure = margin_at_every_depth()
    enclosed = f"the infimum lies in {interval_words(sure.lower, sure.upper)}, {sure.boxes} boxes"
    remark = f"{enclosed}; measured: a change of {len(sure.at)} layers that flips"
    return Sides(sure.upper, instance=sure.lower, proved=CERTIFIED, remark=remark)


# Between two positive numbers at every depth: Theta(1).
def margin_rate(seed: int, attack: int, restarts: int) -> Sides:
    every = evaluate_ball(theory.rounded_margin_every_depth(), {})
    bounded = every > 0 and math.isfinite(margin_at_every_depth().upper)
    known = {depth: rounded_margin(depth).upper for depth in RANGE}
    fitted, words = fitted_slope(toy.rounded, known, Run(0, attack, restarts, seed))
    remark = f"between `sqrt(2)/3` and 1/2 at every depth; {words}"
    return Sides(fitted, derived=0, proved=DERIVED if bounded else (), remark=remark)


def margin_with_layers(depth: int, seed: int, attack: int, restarts: int) -> Sides:
    closes = theory.rounding_layer_corrected().error == 0
    remark = "the induction closes: an error up to 1/3 is undone by the next rounding"
    sides = Sides(proved=DERIVED if closes else (), remark=remark)
    run = Run(0, attack, restarts, seed)
    return attacked(sides, toy.rounded_with_layers, toy.ones_with_layers, depth, run)


def margins_over_depth() -> NamedTable:
    """Every bound and the enclosure at several depths."""
    formulas = {
        "plain": theory.plain_margin(),
        "plain, printed": printed("plain_printed"),
        "rounded, printed": printed("rounded"),
        "rounded, derived": theory.rounded_margin(),
    }
    rows: list[list[str | int | float | None]] = []
    for depth in DEPTHS:
        sure = rounded_margin(depth)
        layers = at_depth(theory.rounding_layers_margin(), depth)
        rows.append([depth, *(at_depth(each, depth) for each in formulas.values()), sure.lower, sure.upper, layers])
    columns = ["depth", *formulas, "lower", "upper", "rounding moves too"]
    return NamedTable(title="Margins of the toy", columns=columns, rows=rows)


SIDES: Mapping[str, Callable[..., Sides]] = {
    "identity": identity,
    "rounded.output": output_at_ones,
    "plain": plain_margin,
    "plain_printed": printed_change,
    "plain.rate": plain_rate,
    "rounded": margin,
    "rounded.every_depth": margin_everywhere,
    "rounded.rate": margin_rate,
    "rounding_layers": margin_with_layers,
}
ROUNDING = Theorem(
    theory.ROUNDING,
    main="rounded",
    checks=checks_of(theory.ROUNDING, SIDES),
    tables=(margins_over_depth,),
)
