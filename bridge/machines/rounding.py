"""The study of rounding between layers: the margins of the toy with it and without it, proved, and an attack."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp
from scipy import stats
from torch import Tensor

from bridge.balls import evaluate_ball
from bridge.budget import Budget
from bridge.export.numbers import plain
from bridge.machines.enclosures import interval_words
from bridge.machines.exact_margin import Enclosure
from bridge.machines.rounding_margin import margin_at_every_depth, rounded_margin
from bridge.record import NamedTable, Row, Verdict
from bridge.rows import direct_row
from bridge.study import DirectCase, Study
from numeric.balls import float_below
from numeric.flips import coordinate_lines, smallest_flip, unit
from numeric.machines import toy
from symbolic.machines import rounding as theory
from symbolic.machines.rounding import D
from symbolic.statements import Quantity, UsageError

DEPTHS = (1, 2, 4, 8, 16, 32, 64)  # of the table
RANGE = (4, 8, 16, 32)  # of the slopes
CONFIDENCE = 0.95
AT = 0.6  # the attack starts from 1/2, one layer alone, and need look no farther
STEPS, FEW_STEPS = 40, 8  # of one attack; of each of those that give a slope
DEEPEST = 128  # the networks that are attacked


class RoundingCase(DirectCase):
    """One depth."""

    uses = frozenset({"seed", "attack", "restarts"})

    def rows(self, budget: Budget) -> list[Row]:
        return [
            self._exact("identity", theory.rounding_gap(), "both pieces agree at 1/3 and 2/3"),
            self._exact("rounded.output", theory.rounded_output(), "", self._output()),
            self._plain(budget),
            self._plain_printed(),
            self._plain_rate(budget),
            self._rounded(budget),
            self._every_depth(),
            self._rounded_rate(budget),
            self._rounding_layers(budget),
        ]

    @property
    def depth(self) -> int:
        return int(self.params["depth"])

    def _exact(self, name: str, derived: sp.Expr, remark: str, measured: float | None = None) -> Row:
        quantity = self.result.quantity(name)
        agrees = Verdict.PROVED if derived == _bound(quantity) else Verdict.UNDECIDED
        found = {"printed": agrees, "derived": Verdict.PROVED}
        printed = float(_bound(quantity))
        return direct_row(
            self, quantity, found, printed=printed, derived=float(derived), measured=measured, remark=remark
        )

    def _output(self) -> float | None:
        """The rounded toy at the weights 1, run."""
        if self.depth > DEEPEST:
            return None
        return float(toy.rounded({name: part[None] for name, part in toy.ones(self.depth).items()})[0])

    # The plain toy.

    def _plain(self, budget: Budget) -> Row:
        found = self._attacked(toy.plain, toy.ones, budget)
        exact = self.at_depth(theory.plain_margin())
        return direct_row(
            self,
            self.result.quantity("plain"),
            {"derived": _not_beaten(exact, found)},
            derived=exact,
            measured=found,
            remark=f"the same change in every layer is the best one; {_attack_words(found, budget)}",
        )

    # sqrt(sum delta^2) = 3/sqrt(D) bounds the margin if the change flips: (1 - 3/D)^D <= 1/2.
    def _plain_printed(self) -> Row:
        quantity = self.result.quantity("plain_printed")
        # An upper bound, so rounded up.
        printed, exact = (-self.at_depth(-each) for each in (_bound(quantity), theory.plain_margin()))
        output = evaluate_ball(theory.all_alike(theory.PRINTED_CHANGE), {D: self.depth})
        return direct_row(
            self,
            quantity,
            {"printed": Verdict.PROVED if output <= 0 else Verdict.UNDECIDED, "derived": Verdict.PROVED},
            printed=printed,
            derived=exact,
            measured=exact,
            remark=f"the change 3/d in every layer gives f = {plain(float(output.mid()))}",
        )

    def _plain_rate(self, budget: Budget) -> Row:
        limit = theory.plain_order()
        proved = bool(limit.is_finite and limit.is_positive)  # then the margin is Theta(1/sqrt(D))
        exact = {depth: self.at_depth(theory.plain_margin(), depth) for depth in RANGE}
        fitted, words = self._slope(toy.plain, exact, budget)
        return direct_row(
            self,
            self.result.quantity("plain.rate"),
            dict.fromkeys(("printed", "derived"), Verdict.PROVED if proved else Verdict.CONSISTENT),
            printed=_exponent(_bound(self.result.quantity("plain.rate"))),
            derived=_exponent(limit / sp.sqrt(D)),
            measured=fitted,
            remark=f"margin * sqrt(D) tends to {sp.sstr(limit)} = {plain(float(limit))}; {words}",
        )

    # The rounded toy.

    def _rounded(self, budget: Budget) -> Row:
        sure = rounded_margin(self.depth)
        found = self._attacked(toy.rounded, toy.ones, budget)
        remark = (
            f"the margin lies in {interval_words(sure.lower, sure.upper)} (instance: its lower end); "
            f"a flip by one layer alone takes 1/2; {_attack_words(found, budget)}"
        )
        return self._lower_row("rounded", self.at_depth(theory.rounded_margin()), sure, found, remark)

    def _every_depth(self) -> Row:
        sure = margin_at_every_depth()
        remark = (
            f"the infimum lies in {interval_words(sure.lower, sure.upper)}, {sure.boxes} boxes; measured: a change of "
            f"{len(sure.at)} layers that flips"
        )
        derived = self.at_depth(theory.rounded_margin_every_depth())
        return self._lower_row("rounded.every_depth", derived, sure, sure.upper, remark)

    def _lower_row(self, name: str, derived: float, sure: Enclosure, found: float | None, remark: str) -> Row:
        """Printed, derived and certified lower bounds; all of them have to lie below the upper end and the attack."""
        quantity = self.result.quantity(name)
        bounds = {"printed": self.at_depth(_bound(quantity)), "derived": derived, "instance": sure.lower}
        least = sure.upper if found is None else min(found, sure.upper)
        verdict = {tier: _not_beaten(bound, least) for tier, bound in bounds.items()}
        if bounds["printed"] > derived:  # then nothing of ours proves it
            verdict["printed"] = Verdict.UNDECIDED
        if not sure.lower > 0:
            verdict["instance"] = Verdict.UNDECIDED
        return direct_row(
            self,
            quantity,
            verdict,
            printed=bounds["printed"],
            derived=derived,
            instance=sure.lower,
            measured=found,
            remark=remark,
        )

    # Between two positive numbers at every depth: Theta(1).
    def _rounded_rate(self, budget: Budget) -> Row:
        sure = margin_at_every_depth()
        bounded = self.at_depth(theory.rounded_margin_every_depth()) > 0 and math.isfinite(sure.upper)
        fitted, words = self._slope(toy.rounded, {depth: rounded_margin(depth).upper for depth in RANGE}, budget)
        return direct_row(
            self,
            self.result.quantity("rounded.rate"),
            {"derived": Verdict.PROVED if bounded else Verdict.UNDECIDED},
            derived=0.0,
            measured=fitted,
            remark=f"between sqrt(2)/3 and 1/2 at every depth; {words}",
        )

    def _rounding_layers(self, budget: Budget) -> Row:
        found = self._attacked(toy.rounded_with_layers, toy.ones_with_layers, budget)
        derived = self.at_depth(theory.rounding_layers_margin())
        closes = theory.rounding_layer_corrected().error == 0
        verdict = _not_beaten(derived, found) if closes else Verdict.UNDECIDED
        remark = (
            f"the induction closes: an error up to 1/3 is undone by the next rounding; {_attack_words(found, budget)}"
        )
        quantity = self.result.quantity("rounding_layers")
        return direct_row(self, quantity, {"derived": verdict}, derived=derived, measured=found, remark=remark)

    # Helpers.

    def at_depth(self, formula: sp.Expr, depth: int | None = None) -> float:
        """A formula in the depth, rounded down."""
        return float_below(evaluate_ball(formula, {D: depth or self.depth} if sp.sympify(formula).has(D) else {}))

    def _attacked(
        self, output: Callable[..., Tensor], network: Callable[[int], toy.Parameters], budget: Budget, depth: int = 0
    ) -> float | None:
        """The nearest flip that was found; None without an attack, or at a depth beyond those attacked."""
        depth = depth or self.depth
        if not (budget.attack and budget.restarts) or depth > DEEPEST:
            return None
        at = network(depth)

        def run(moved: toy.Parameters) -> Tensor:
            copies = next(iter(moved.values())).shape[0]
            kept = {name: part.expand(copies, *part.shape) for name, part in at.items() if name not in moved}
            return output({**kept, **moved})

        found = smallest_flip(
            run, at, {**_first_layers(depth), **coordinate_lines(at)}, largest=AT, seed=budget.seed,
            restarts=budget.restarts, steps=min(budget.attack, STEPS),
        )  # fmt: skip
        return found.distance if found.found else None

    def _slope(self, output: Callable[..., Tensor], known: Mapping[int, float], budget: Budget) -> tuple[float, str]:
        """The slope in the depth of the attacked margins, or of the known ones without an attack."""
        few = replace(budget, restarts=min(budget.restarts, 2), attack=min(budget.attack, FEW_STEPS))
        attacked = {depth: self._attacked(output, toy.ones, few, depth) for depth in known}
        found = {depth: margin for depth, margin in attacked.items() if margin is not None}
        whose = "attacked" if len(found) == len(known) else "known"
        middle, half = slope(found if whose == "attacked" else known)
        depths = ", ".join(map(str, known))
        return middle, (
            f"slope of the {whose} margins at D = {depths}: {plain(middle)} +- {plain(half)} "
            f"({CONFIDENCE:.0%}, t distribution, of the deviations from a line)"
        )

    def tables(self) -> list[NamedTable]:
        layers = self.at_depth(theory.rounding_layers_margin())
        rows: list[list[str | int | float | None]] = []
        for depth in DEPTHS:
            sure = rounded_margin(depth)
            plain, proved = (self.at_depth(each, depth) for each in (theory.plain_margin(), theory.rounded_margin()))
            printed = (
                self.at_depth(_bound(self.result.quantity(name)), depth) for name in ("plain_printed", "rounded")
            )
            rows.append([depth, plain, *printed, proved, sure.lower, sure.upper, layers])
        columns = ["depth", "plain", "plain, printed", "rounded, printed", "rounded, derived", "lower", "upper"]
        return [NamedTable(title="Margins of the toy", columns=[*columns, "rounding moves too"], rows=rows)]


def _bound(quantity: Quantity) -> sp.Expr:
    if quantity.printed is None:
        raise UsageError(f"'{quantity.name}' has no printed bound")
    return quantity.printed.bound


def _exponent(rate: sp.Expr) -> float:
    """The exponent of the depth in a rate c D^a."""
    return float(sp.simplify(D * sp.diff(sp.log(rate), D)))


def _first_layers(depth: int) -> dict[str, toy.Parameters]:
    """The same change in the first layer, the first half, all of them: the attack does not know which is best."""
    weights = toy.ones(depth)["W"]
    return {f"first {n}": unit({"W": weights * (weights.cumsum(0) <= n)}) for n in {1, (depth + 1) // 2, depth}}


def _not_beaten(bound: float, found: float | None) -> Verdict:
    """A proved lower bound; undecided if a flip nearer than it contradicts the proof."""
    return Verdict.PROVED if found is None or found >= bound * (1 - 1e-9) else Verdict.UNDECIDED


def _attack_words(found: float | None, budget: Budget) -> str:
    if found is None:
        return "not attacked"
    return f"attack: {budget.restarts} restarts, {min(budget.attack, STEPS)} steps, seed {budget.seed}"


def slope(margins: Mapping[int, float]) -> tuple[float, float]:
    """The slope of log margin in log depth by least squares, and half its confidence interval (t distribution)."""
    fitted = stats.linregress(np.log(list(margins)), np.log(list(margins.values())))
    return float(fitted.slope), float(fitted.stderr * stats.t.ppf((1 + CONFIDENCE) / 2, len(margins) - 2))


class RoundingStudy(Study):
    """Claim 3.5 and its toy at one depth."""

    result = theory.ROUNDING
    main_quantity = "rounded"

    def case(self, params: Mapping[str, Any], *, seed: int, dtype: str, device: str) -> RoundingCase:
        return RoundingCase(self.result, self.resolved(params), dtype=dtype, device=device)
