"""Corollary 1.1 and Lemma 14 as a theorem: L steps of the network against projected gradient descent, from one start.

Random starts are those of a step: uniform in W, and corners of it. The attack moves prompts of all n examples: the
printed bound depends on n, and after the first step the mean over tokens is not a bound by the worst token.

Letters: wbar^l the network's iterates, w_GD^l those of gradient descent, G the gradient mapping, g_l the error of the
network's gradient at wbar^l. Shapes, of one prompt: n examples, D_w weights.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

import flint
import sympy as sp
import torch
from torch import Tensor

from bridge.instances.bindings import LOCAL
from bridge.limits.cost import Cost, Count, Work
from bridge.lowering.ball_values import evaluate_ball
from bridge.lowering.enclosures import supremum
from bridge.readings.arrays import Array
from bridge.theorems.check import Check
from bridge.theorems.pair import Pair
from bridge.theorems.parts import AtPoint, ExactRuns, InputSearch, Knobs, Refuting
from bridge.theorems.theorem import Theorem
from bridge.topics.icgd import exact_runs as runs
from bridge.topics.icgd import iterates as steps
from bridge.topics.icgd import step
from bridge.topics.icgd.chain import Chain
from bridge.topics.icgd.emulation import Emulation
from bridge.topics.icgd.gradient import prompt_domains
from bridge.topics.icgd.iterates import MAPPING, iterates
from bridge.topics.icgd.path import IteratePath
from bridge.topics.icgd.plan import gradient_bound, plan_for
from bridge.topics.icgd.refutations import OPEN_SIZES
from bridge.topics.icgd.setting import StepSetting
from bridge.topics.icgd.smoothness import accuracy_here, gap_above, smoothness_here, smoothness_on_W
from bridge.topics.icgd.values import derived_letters, problem_values, ranges_of
from numeric.balls import BallArray, ball_maximum, float_above
from symbolic.statements.result import Quantity
from symbolic.topics.icgd import exact_runs, symbols
from symbolic.topics.icgd import trajectory as theory

ROUNDED_UP = 2.0**-40  # of a bound: see `bridge.instances.readings.ABOVE`


# Letters.


def letters(setting: StepSetting, plan: Any) -> dict[sp.Symbol, Any]:
    """Those of a step, and L_f, the gap and the accuracy of the gradient for the worst network in W."""
    known, chosen, t = ranges_of(setting, plan), setting.activation, setting.activation.t
    at_zero = chosen.expr.subs(t, 0)
    u = setting.loss.gradient.subs(setting.loss.t, at_zero)
    of_step = derived_letters(setting, plan)
    return {
        **of_step,
        symbols.eps: _guaranteed(setting, plan),
        theory.L_f: smoothness_on_W(setting, known),
        theory.gap: gap_above(setting, known),
        theory.r_0: supremum(chosen.expr, t, 0, 0),
        theory.r1_0: supremum(chosen.derivative(1), t, 0, 0),
        theory.u_0: supremum(u, setting.loss.y, -setting.B_y, setting.B_y),
    }


def _guaranteed(setting: StepSetting, plan: Any) -> flint.arb:
    values = {**problem_values(setting, 1), **derived_letters(setting, plan)}
    return evaluate_ball(gradient_bound(setting.shape.N), values)


def printed_letters(quantity: str, setting: StepSetting, plan: Any, eps: float, relus: int) -> dict[sp.Symbol, Any]:
    """The eps that was asked for, where one was."""
    return {symbols.eps: _guaranteed(setting, plan) if relus else eps}


def outside(quantity: str, tier: str, setting: StepSetting, plan: Any) -> str:
    """Lemma 14 is read for eta <= 1/L_f, printed as eta <= L_f."""
    if quantity != MAPPING or tier != "printed":
        return ""
    short = smoothness_on_W(setting, ranges_of(setting, plan)) * setting.eta <= 1
    return "" if short else "hypothesis violated: `eta <= 1/L_f` (Lemma 14, printed as `eta <= L_f`)"


# Bounds at a prompt. Constant to an attack, whose ratio so climbs by the error alone: a gradient through L readings
# would take most of the time.


@torch.no_grad()
def bounds(
    scope: str, w: Tensor, x: Tensor, y: Tensor, emulation: Emulation, chain: Chain, L: int
) -> dict[str, Tensor]:
    """Infinite for the mapping where the steps are not known to be short."""
    w, x, y = (each.detach() for each in (w, x, y))
    path = path_of(chain, emulation, iterates(w, x, y, emulation, L), x, y)
    found, steepest = path.bounds(scope), torch.stack(path.smoothness_along()).amax(0)
    short, infinite = chain.setting.eta * steepest <= 1, torch.full_like(steepest, torch.inf)
    return found | {MAPPING: torch.where(short, found[MAPPING], infinite)}


def exact_bounds(
    scope: str, w: BallArray, x: BallArray, y: BallArray, emulation: Emulation, chain: Chain, L: int
) -> dict[str, Any]:
    """The same, as a proof."""
    path = path_of(chain, emulation, iterates(w, x, y, emulation, L), x, y)
    above = float(sum(each.error for each in (emulation.r, emulation.r1, emulation.u))) * ROUNDED_UP
    found = {name: bound * (1 + ROUNDED_UP) + above for name, bound in path.bounds(scope).items()}
    steepest = ball_maximum([each.balls[0] for each in path.smoothness_along()])
    short = bool(flint.arb(chain.setting.eta) * steepest <= 1)
    return found if short else {**found, MAPPING: "hypothesis not verified: `eta L_f <= 1` along the path"}


def path_of(chain: Chain, emulation: Emulation, points: Sequence[Array], x: Array, y: Array) -> IteratePath:
    """The iterates, with what is known of W."""
    s = chain.setting
    smoothest = float_above(smoothness_here(s, emulation).min(smoothness_on_W(s, emulation.ranges)))
    return IteratePath(chain, points, x, y, smoothest)


# The theorem.


def quantities(L: int) -> tuple[Quantity, ...]:
    of_zero = (theory.zero_quantity(), steps.path_from_zero_quantity(L))
    return (*_scoped(theory.quantities_for(L), L), *of_zero, *(check.quantity for check in runs.CHECKS))


def _scoped(quantities: tuple[Quantity, ...], steps: int) -> tuple[Quantity, ...]:
    """The last distance and the mapping have bounds of their own at each prompt."""
    scopes = {f"path[{steps}]": ("network", "prompt", LOCAL), MAPPING: ("network", "prompt")}
    return tuple(replace(each, scopes=scopes.get(each.name, each.scopes)) for each in quantities)


def errata(quantity: Quantity) -> list[str]:
    """Those that exact runs show, and its remark."""
    about_mapping = quantity.name == MAPPING
    shown = [check for check in exact_runs.WITNESSES if (check in exact_runs.OF_THE_MAPPING) is about_mapping]
    words = [f"erratum.{check.__name__}: {check().erratum.words}".rstrip(".") for check in shown]
    return [*words, *filter(None, [quantity.remark])]


def all_tokens(count: int, generator: torch.Generator, setting: StepSetting, n: int) -> dict[str, Tensor]:
    return setting.starts(n, count, generator.initial_seed())


# Each of L iterates is run, attacked and enclosed from the start: L^2 / 2 steps.
def work(L: Count, N: Count, K: Count, d: Count, n: Count) -> Work:
    one = step.square_work(N, K, d, n, result=theory.TRAJECTORY.id)
    return Work(
        numbers=L * one.numbers,
        products=L**2 / 2 * one.products,
        exact=L / 2 * one.exact,
        passes=N * L**2,
        before=one.before + Cost(2**14 * L**2, 0.01 * L),
    )


TRAJECTORY = Theorem(
    statement=theory.TRAJECTORY,
    main="path[1]",
    inputs=prompt_domains(symbols.d, symbols.d),
    network=steps.network,
    reference=steps.reference,
    built={
        **{name: step.UNNAMED[name] for name in ("d_x", "d_y")},
        "setting": step.setting,
        "plan": partial(plan_for, id=theory.TRAJECTORY.id, short=False),
        "emulation": step.emulation,
        "chain": lambda setting, emulation: Chain(setting, emulation),
    },
    knows={theory.L_f: (smoothness_here,), symbols.eps: (accuracy_here,)},
    at_point=AtPoint(
        quantities=quantities,
        letters=letters,
        printed_letters=printed_letters,
        refusal=step.refusal,
        outside=outside,
        idle=step.idle,
    ),
    refuting=Refuting(
        sentences=errata, shown=tuple(run.name for run in runs.CHECKS if run.quantity.erratum is not None)
    ),
    # The sums of ReLUs grow with K.
    knobs=Knobs(automatic=OPEN_SIZES, fixed=("N",), searched=MappingProxyType({**step.SEARCHED, "K": (None, 1 << 12)})),
    bounds=Pair(tensors=bounds, balls=exact_bounds),
    exact=ExactRuns(bits=64),
    checks=(
        Check(theory.zero_quantity(), steps.gradient_at_zero, steps.zeros),
        Check(steps.path_from_zero_quantity(1), steps.path_from_zero, steps.zeros),
        *runs.CHECKS,
    ),
    search=InputSearch(samples=step.random_prompts, starts=all_tokens, envelope=steps.envelope),
    work=work,
)
