"""Rows of bounds that hold with probability, or in expectation: judged by many draws of the named randomness.

The k-th draw is that of seed k: it draws anew the weights and inputs that the theorem declares as the randomness of the
quantity, and nothing else. Over the other inputs the error is the largest that random prompts and an attack find; over
the randomness nothing is attacked. A draw fails if its error exceeds the bound. Failures are judged by an exact
binomial test at the stated probability, a mean by a confidence limit.
"""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import flint
import sympy as sp
import torch
from torch import Tensor

from bridge.balls import bits_for
from bridge.binomial import LEVEL, least_mean, p_value
from bridge.budget import BLOCK, Budget
from bridge.domains import Domain
from bridge.export.numbers import plain
from bridge.record import Row, Verdict, Witness
from bridge.rows import direct_row
from bridge.searches import searched
from bridge.study import Inputs
from bridge.theorem import NORMS
from bridge.verdicts import Bound, flags_of
from numeric.balls import float_above
from numeric.exact_cost import TooLargeForExact
from symbolic.derivation import Derivation, Norm, Step
from symbolic.statements import Kind, Quantifier, Quantity, UsageError

if TYPE_CHECKING:
    import bridge.theorem_case
    import bridge.theorem_study

PROMPTS = 64  # random ones of each draw, where inputs are left that are not random
NEAR = 2.0**-20  # relative: an error that near to its bound is compared exactly
ROUNDING = 2.0**-40  # absolute, the same; outputs are of size 1
ONE = {"": torch.zeros(1)}  # a batch of one prompt, of a theorem without inputs
SEEDS = "seeds"  # what a witness stores
WORDED = {words: Norm(norm) for norm, words in NORMS.items()}


@dataclass(frozen=True)
class Draw:
    """The largest errors that were found for one draw, at random prompts and attacked; `inputs` where it is largest."""

    seed: int
    random: float
    attacked: float | None
    inputs: Inputs

    @property
    def error(self) -> float:
        return self.random if self.attacked is None else max(self.random, self.attacked)


class OverDraws:
    """One quantity of a case whose randomness is drawn anew, again and again."""

    def __init__(self, case: "bridge.theorem_case.TheoremCase", quantity: Quantity) -> None:
        self.case, self.quantity, self.name = case, quantity, quantity.name
        self.names = case.theorem.random_names(quantity)

    @cached_property
    def study(self) -> "bridge.theorem_study.TheoremStudy":
        """The theorem whose random inputs are weights, and which states nothing of this quantity but its norm."""
        from bridge.theorem_study import TheoremStudy

        theorem, name = self.case.theorem, self.name
        inputs = {key: each.at(self.case.values) for key, each in theorem.inputs.items()}
        free = {key: each for key, each in inputs.items() if key not in self.names}
        drawn = {
            key: each.at(self.case.values) if isinstance(each, Domain) else each
            for key, each in theorem.weights.items()
        }
        network = theorem.networks.get(name, theorem.networks.get(""))
        if network is None:
            raise UsageError(f"{theorem.id} has no network for '{name}', so its error cannot be measured")
        unstated = tuple(map(_unstated, theorem.statement.quantities))
        stripped = replace(
            theorem,
            statement=replace(theorem.statement, quantities=unstated, hypotheses=()),  # they are checked already
            inputs=free,
            weights={**drawn, **{key: inputs[key] for key in self.names if key in inputs}},
            network=network,
            starts=theorem.starts if len(free) == len(theorem.inputs) else None,
            entries={},  # of one member, where the network gives all of them
            knows={},
            random={},
            handles=None,
            resolve=None,
            checks=(),
            inequalities=(),
            tables=(),
        )
        return TheoremStudy(stripped)

    @cached_property
    def fixed(self) -> dict[str, Any]:
        """The parameters, and the weights that are drawn once."""
        weights = {key: value for key, value in self.case.weights.items() if key not in self.names}
        return {**self.case.runner.params, **{k: x for k, x in weights.items() if k in self.study.theorem.recorded}}

    def at(self, seed: int) -> "bridge.theorem_case.TheoremCase":
        """The case of that draw."""
        dtype = str(self.case.dtype).removeprefix("torch.")
        return self.study.case(self.fixed, seed=seed, dtype=dtype, device=str(self.case.device))

    # Errors.

    def draws(self, seeds: Sequence[int], budget: Budget) -> Iterator[Draw]:
        attacked = budget.attack if self.study.theorem.inputs else 0
        for start in range(0, len(seeds), BLOCK):
            block = seeds[start : start + BLOCK]
            if attacked:
                yield from self._attacked(block, budget)
            else:
                yield from (self._at_random(seed, self.at(seed)) for seed in block)

    def _at_random(self, seed: int, case: "bridge.theorem_case.TheoremCase") -> Draw:
        prompts = case.sample(PROMPTS, seed) if self.study.theorem.inputs else ONE
        errors = self._errors(case, prompts)
        worst = int(torch.nan_to_num(errors, nan=torch.inf).argmax())
        return Draw(seed, float(errors[worst]), None, {key: x[worst : worst + 1] for key, x in prompts.items()})

    def _attacked(self, seeds: Sequence[int], budget: Budget) -> Iterator[Draw]:
        cases = [self.at(seed) for seed in seeds]
        alike = [each for each in cases if each.company == cases[0].company]
        groups = [cases] if len(alike) == len(cases) else [[each] for each in cases]
        quantity = cases[0].quantity(self.name)
        points = [each for group in groups for each in searched(group, [quantity], budget)]
        for seed, case, found in zip(seeds, cases, points, strict=True):
            draw, point = self._at_random(seed, case), {k: x.unsqueeze(0) for k, x in found[self.name, None].items()}
            admitted = case.admit(point)
            error = float(self._errors(case, admitted)[0])
            yield replace(draw, attacked=error, inputs=admitted if error > draw.random else draw.inputs)

    def _errors(self, case: "bridge.theorem_case.TheoremCase", inputs: Inputs) -> Tensor:
        with torch.no_grad():
            return case.errors(inputs, [self.name])[self.name]

    # Judging.

    def exceeds(self, draw: Draw, bound: Bound) -> bool:
        """Whether the error of a draw is above the bound: exactly, where floats do not tell; not if nothing does."""
        limit = float(bound.ball)
        if abs(draw.error - limit) > max(NEAR * limit, ROUNDING):
            return draw.error > limit
        try:
            exact, _ = self.at(draw.seed).exact(draw.inputs, [self.name], bits_for(bound.ball))[self.name]
        except TooLargeForExact:
            return False
        return bool(exact > bound.ball)

    @property
    def share(self) -> flint.arb:
        """The stated probability of failure."""
        share = self.quantity.may_fail
        assert share is not None  # the theorem is well formed
        return self.case.ball(share)


def _unstated(quantity: Quantity) -> Quantity:
    """The name and the norm of a quantity."""
    derivation = quantity.derivation
    norm = derivation.step(quantity.step or quantity.name).norm if derivation else WORDED.get(quantity.norm, Norm.INF)
    return Quantity(
        quantity.name,
        quantity.latex_symbol,
        quantity.meaning,
        quantity.norm,
        quantity.domain,
        Kind.UPPER,
        Quantifier.FOR_ALL,
        Derivation((Step(quantity.name, norm, "given", sp.Integer(0)),)),
        scopes=("network",),
    )


# Rows.


def chance_rows(case: "bridge.theorem_case.TheoremCase", budget: Budget) -> list[Row]:
    """One row for each quantity that holds with probability, or in expectation."""
    stated = [each for each in case.result.quantities if each.name in case.theorem.over_draws]
    return [_row(OverDraws(case, each), range(budget.seed, budget.seed + budget.samples), budget) for each in stated]


def replayed_chance(case: "bridge.theorem_case.TheoremCase", name: str, inputs: Inputs) -> Row:
    """The row again from the seeds of a witness: all other draws of that run count as kept.

    Raises UsageError for a witness without seeds.
    """
    if set(inputs) != {SEEDS} or not {"samples", "seed", "attack", "restarts"} <= set(case.settings):
        raise UsageError(
            f"{case.result.id}: the witness of '{name}' has to give the seeds, and the settings of the run"
        )
    seeds = sorted({int(each) for each in inputs[SEEDS].flatten().tolist()})
    budget = Budget(**{key: case.settings[key] for key in ("samples", "attack", "restarts", "seed")})
    if not set(seeds) <= set(range(budget.seed, budget.seed + budget.samples)):
        raise UsageError(f"{case.result.id}: the seeds of the witness of '{name}' are not those of its run")
    return _row(OverDraws(case, case.result.quantity(name)), seeds, budget)


def _row(over: OverDraws, seeds: Sequence[int], budget: Budget) -> Row:
    draws = list(over.draws(seeds, budget))
    judged = _by_failures if over.quantity.quantifier is Quantifier.PROBABILITY else _by_mean
    bounds = _bounds(over)
    judgements = {tier: judged(over, draws, bound, budget.samples) for tier, bound in bounds.items()}
    verdict = {tier: each.verdict for tier, each in judgements.items()}
    errors = [draw.error for draw in draws]
    attacked = [draw.attacked for draw in draws if draw.attacked is not None]
    main = judgements.get("derived") or next(iter(judgements.values()), Judgement(Verdict.UNDECIDED))
    violated = [each for each in judgements.values() if each.verdict is Verdict.VIOLATED]
    numbers: dict[str, Any] = {tier: bound.number() for tier, bound in bounds.items()}
    quantity = replace(over.quantity, finding=violated[0].words if violated else over.quantity.finding)
    row = direct_row(
        over.case,
        quantity,
        verdict,
        **numbers,
        measured=statistics.fmean(errors) if main.failures is None else max(draw.random for draw in draws),
        attacked=None if main.failures is None else max(attacked, default=None),
        remark="; ".join(_remarks(judgements, main, bounds)),
        witness=_witness(over, violated[0], draws, numbers, budget) if violated else None,
    )
    row.quantifier = quantity.chance
    row.seed, row.samples = budget.seed, budget.samples
    row.attack_steps, row.restarts = (budget.attack, budget.restarts) if attacked else (0, 0)
    row.drawn = [name for name in over.case.drawn_weights if name not in over.names] or None
    row.premises = list(dict.fromkeys(each for bound in bounds.values() for each in bound.premises)) or None
    trivial = over.case.trivial(quantity)
    row.flags = {tier: flags for tier, bound in bounds.items() if (flags := flags_of(bound, trivial, []))}
    row.seeds, row.failures, row.p_value = budget.samples, main.failures, main.p_value
    row.median, row.mean_at_least = statistics.median(errors), main.mean_at_least
    return row


def _bounds(over: OverDraws) -> dict[str, Bound]:
    found = {
        "printed": over.case.printed(over.quantity),
        "claimed": over.case.claimed(over.quantity),
        "derived": over.case.derived(over.quantity),
    }
    return {tier: bound for tier, bound in found.items() if bound is not None}


@dataclass(frozen=True)
class Judgement:
    """The verdict on one bound, the seeds that support a violation, and the finding in words."""

    verdict: Verdict
    seeds: tuple[int, ...] = ()
    failures: int | None = None
    p_value: float | None = None
    mean_at_least: float | None = None
    words: str = ""


def _by_failures(over: OverDraws, draws: Sequence[Draw], bound: Bound, count: int) -> Judgement:
    failed = tuple(draw.seed for draw in draws if over.exceeds(draw, bound))
    found = p_value(len(failed), count, over.share)
    verdict = Verdict.OUTSIDE if bound.outside else Verdict.VIOLATED if found < LEVEL else Verdict.KEPT
    value = float_above(found)
    words = (
        f"{len(failed)} of {count} draws exceed {{printed}}, the largest is {{found}}; at a stated probability of "
        f"{plain(float_above(over.share))} so many have the p-value {plain(value)}"
    )
    return Judgement(verdict, failed, len(failed), value, words=words)


def _by_mean(over: OverDraws, draws: Sequence[Draw], bound: Bound, count: int) -> Judgement:
    low = least_mean([draw.error for draw in draws], float_above(bound.ball))
    verdict = Verdict.OUTSIDE if bound.outside else Verdict.VIOLATED if bound.ball < low else Verdict.KEPT
    words = (
        f"the mean over {count} draws is at least {plain(low)} at a confidence of 1 - {LEVEL:g}; stated: {{printed}}"
    )
    return Judgement(verdict, tuple(draw.seed for draw in draws), mean_at_least=low, words=words)


def _remarks(judgements: Mapping[str, Judgement], main: Judgement, bounds: Mapping[str, Bound]) -> Iterator[str]:
    yield from (bound.outside for bound in bounds.values() if bound.outside)
    for tier, each in judgements.items():
        if each.failures not in (None, main.failures):
            yield f"{tier}: {each.failures} failures, p-value {plain(each.p_value)}"


def _witness(
    over: OverDraws, violated: Judgement, draws: Sequence[Draw], numbers: Mapping[str, Any], budget: Budget
) -> Witness:
    case, name = over.case, over.name
    used = ("samples", "attack", "restarts", "seed")
    return Witness(
        result=case.result.id,
        quantity=name,
        params=case.full_params,
        inputs={SEEDS: list(violated.seeds)},
        error_lower=max(draw.error for draw in draws),
        bounds={tier: number for tier, number in numbers.items() if number is not None},
        sha256=case.sha256,
        claim=case.claims[name].text if name in case.claims else None,
        settings={key: getattr(budget, key) for key in used},
    )
