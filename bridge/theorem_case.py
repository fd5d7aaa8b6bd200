"""A theorem at one point of the grid: its functions on tensors and on balls, its domains, its letters, its checks."""

import copy
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import flint
import numpy as np
import sympy as sp
import torch
from torch import Tensor

from bridge.arguments import arguments_of, called_with
from bridge.check import Check, enclosed
from bridge.check_rows import check_rows, replayed_check, settings_of
from bridge.conditions import truth
from bridge.domains import Domain, Product
from bridge.faithful import NAME as FAITHFUL
from bridge.faithful import faithful_rows, replayed_faithful
from bridge.goals import Batch, Goal
from bridge.instances.known import Known
from bridge.instances.networks import Networks
from bridge.kept_runs import LAST, KeptRuns
from bridge.limits.run import BLOCK, ONE_INPUT, Format, Run
from bridge.premises import require_covered
from bridge.probability import chance_rows, replayed_chance
from bridge.prompt_formula import PromptFormula
from bridge.record import NamedTable, Row, Verdict
from bridge.rows import refused_rows
from bridge.study import SETTINGS, Case, Inputs, Refusal
from bridge.theorem import Function, Theorem, over_draws
from bridge.theorem_bounds import TheoremBounds
from bridge.theorem_readings import AtPrompt
from bridge.transformer import Transformer
from bridge.transformer_batch import LONGEST
from bridge.well_formed import require_randomness
from symbolic.prose import plain
from symbolic.statements import Quantity, Result, UsageError

KEPT_SCORES = 6  # matrices of attention weights that autograd keeps, likewise
KEPT = 20  # tensors of the size of a prompt that autograd keeps for each layer of a network, about
RANDOM = "the inputs are named randomness: they are drawn by seeds, and not attacked"
BATCHED = ("search", "errors", "prompt_bounds")  # what a batch does in place of a case


def _kept(value: Any) -> Any:
    """What two points of one company agree in: any two floats do; an array or a list only with itself."""
    if isinstance(value, float):
        return float
    return value if isinstance(value, int | str) else id(value)


class TheoremCase(TheoremBounds):
    """One point. `weights` are those of this network, in float64."""

    def __init__(
        self, theorem: Theorem, params: Mapping[str, Any], weights: Mapping[str, Tensor], format: Format
    ) -> None:
        self.theorem, self.result, self.sha256 = theorem, theorem.statement, theorem.sha256
        self.params = {name: shown(value) for name, value in params.items()}
        self.weights = dict(weights)
        # What rebuilds this network: drawn weights, and those that a parameter specifies (by the seed, perhaps).
        self.drawn_weights = theorem.recorded
        drawn = {name for name in weights if name in theorem.recorded or name in params}
        self.full_params = {**params, **{name: weights[name].tolist() for name in theorem.weights if name in drawn}}
        self.format = format
        self.values = {p.symbol: params[p.name] for p in self.result.parameters if p.symbol is not None}
        self.result = self._stated_here()
        self.over_draws = over_draws(self.result.quantities, theorem.checks)
        if theorem.at_point.quantities is not None:
            require_randomness(theorem, self.over_draws)
        self.checked = frozenset([*(c.quantity.name for c in theorem.checks), *(each.name for each in self.over_draws)])
        self.domain = Product(dict(theorem.inputs)).at(self.values)
        called = {name: str(each) for name, each in theorem.inputs.items()}
        require_covered(self.result.id, Case.bounded(self), self.domain.domains, called, self.values)
        self.known = Known(theorem, params, self.weights, format)
        self.networks = Networks(self.known)
        idle = [] if theorem.at_point.idle is None else self.known.call(theorem.at_point.idle, {})
        self.params |= {name: None for name in idle if name in params}
        self.uses = _settings(theorem) - set(idle)
        self.attackable = "attack" in self.uses
        self.unattacked = "" if self.attackable else RANDOM if theorem.over_draws else ""
        self.refused = (
            None if theorem.at_point.refusal is None else self.known.call(theorem.at_point.refusal, self._of_run)
        )
        self._derived = {}
        self._prompt_formulas: dict[str, PromptFormula] = {}
        self._exact, self._floats, self._balls = KeptRuns(), KeptRuns(), KeptRuns(LAST)
        self._readings: dict[tuple[str | None, ...], AtPrompt] = {}
        self.bounds_on_balls: KeptRuns[Any] = KeptRuns()
        self._lengths: dict[Function | None, int] = {}
        self.run = ONE_INPUT  # of the run, once its rows have been asked for
        self.values |= self._own_letters()

    def _own_letters(self) -> dict[sp.Symbol, Any]:
        """The letters that nothing but this network gives a value; none outside the hypotheses."""
        if self.refused is not None and self.refused.verdict is Verdict.OUTSIDE:
            return {}
        parameters = {p.symbol for p in self.result.parameters}
        own = [s for s in self.theorem.knows if s not in parameters and not self._has_worst_case(s)]
        more = {} if self.theorem.at_point.letters is None else self.known.call(self.theorem.at_point.letters, {})
        return {**more, **{letter: self._of_network[letter] for letter in own}}

    @cached_property
    def floats_enclosed(self) -> "TheoremCase":
        other = copy.copy(self)
        other.__dict__.pop("_of_network", None)
        other._derived = {}
        other.known, other.bounds_on_balls = self.known.nearby(), KeptRuns()
        other.networks = Networks(other.known)
        other._exact, other._balls = KeptRuns(), KeptRuns(LAST)
        other.values = {**self.values, **other._own_letters()}
        return other

    def _stated_here(self) -> Result:
        """The statement with the quantities of this point: those whose conditions on parameters hold."""
        stated = self.theorem.statement
        if self.theorem.at_point.quantities is not None:
            stated = replace(stated, quantities=tuple(called_with(self.theorem.at_point.quantities, self.full_params)))
        quantities = tuple(each for each in stated.quantities if self._is_stated(each))
        return stated if len(quantities) == len(stated.quantities) else replace(stated, quantities=quantities)

    def _is_stated(self, quantity: Quantity) -> bool:
        return all(truth(each, self.values) is not False for each in quantity.indices)

    @property
    def _checks_here(self) -> list[Check]:
        here = {quantity.name: quantity for quantity in self.result.quantities}
        own = (each for each in self.theorem.checks if each.quantity.name in here or each.params is not None)
        return [replace(each, quantity=here.get(each.quantity.name, each.quantity)) for each in own]

    def ball(self, expression: sp.Expr, more: Mapping[sp.Symbol, Any] | None = None) -> flint.arb:
        if not self.known.near:
            return super().ball(expression, more)
        typed = {number: sp.Symbol(repr(number)) for number in expression.atoms(sp.Float)}
        near = {letter: enclosed(float(number)) for number, letter in typed.items()}
        return super().ball(expression.xreplace(typed), {**(more or {}), **near})

    def _has_worst_case(self, letter: sp.Symbol) -> bool:
        """Whether a quantity replaces or keeps it; what a network and a prompt know apart is looked up if kept."""
        of_both = len(self.theorem.knows[letter]) > 1
        stated = (quantity.worst_case or {} for quantity in self.result.quantities)
        return any(letter in each and not (of_both and each[letter] == letter) for each in stated)

    # Inputs.

    def sample(self, count: int, seed: int) -> Inputs:
        return self.admit(self._drawn(self.theorem.search.samples, self.domain.sample, count, seed))

    def starts(self, count: int, seed: int) -> Inputs:
        drawn = self._drawn(self.theorem.search.starts, self.domain.starts, count, seed)
        return self.format.place(drawn)

    def _drawn(self, own: Function | None, general: Callable[..., Inputs], count: int, seed: int) -> Inputs:
        """By the theorem's own function, or from the domains."""
        generator = torch.Generator().manual_seed(seed)
        if own is None:
            return general(count, generator)
        drawn: Inputs = self.known.call(own, {"count": count, "generator": generator})
        return drawn

    def project(self, inputs: Inputs) -> Inputs:
        return self.domain.project(inputs)

    def check_inputs(self, inputs: Inputs) -> None:
        batches = {name: value.shape[:1] for name, value in inputs.items()}
        complaint = f"expected one prompt, got {batches}" if any(b != (1,) for b in batches.values()) else None
        complaint = complaint or self.domain.complaint({name: value[0] for name, value in inputs.items()})
        if complaint:
            raise UsageError(f"{self.result.id}: {complaint}")

    def memory(self, run: Run) -> int:
        numbers = sum(value[0].numel() for value in self.domain.sample(1, torch.Generator()).values())
        weights = sum(value.numel() for value in self.weights.values())
        drawn = 8 * (numbers * (run.samples + KEPT * run.restarts) + KEPT * weights)
        at_once = min(BLOCK, self.known.part or BLOCK)
        return drawn + self.known.bytes_of_one * (4 * at_once + KEPT * run.restarts)

    # Attacks: goals of this case, and of cases that differ in numbers alone, share a batch.

    @property
    def company(self) -> Hashable | None:
        """None for a subclass with a search, errors or bounds of its own, which no batch would use."""
        if any(getattr(type(self), name) is not getattr(TheoremCase, name) for name in BATCHED):
            return None
        whole = tuple((name, _kept(value)) for name, value in self.known.params.items())
        weights = tuple((name, tuple(value.shape)) for name, value in self.weights.items())
        quantities = tuple((quantity.name, quantity.scopes) for quantity in self.bounded())
        shape = tuple(self.domain.shape.items())
        built = tuple(id(each) for each in self.known.built.values())  # of this point alone
        return id(self.theorem), whole, weights, quantities, shape, built, self.format

    def shown_at(self, goal: Goal) -> Goal:
        leading = self.theorem.search.leading
        return Goal(self.quantity(leading[0])) if leading and goal.quantity.name not in leading else goal

    def batch(self, cells: Sequence[tuple[Case, Goal]], run: Run) -> Batch:
        from bridge.theorem_batch import TheoremBatch

        own = [(case, goal) for case, goal in cells if isinstance(case, TheoremCase)]
        return TheoremBatch(own, run)

    def search_memory(self, run: Run) -> int:
        numbers = sum(math.prod(shape) for shape in self.domain.shape.values())
        numbers += sum(value.numel() for value in self.weights.values())
        lengths = [self.length(each) for each in self.theorem.networks.values() if isinstance(each, Transformer)]
        kernel = max((length**2 for length in lengths if length <= LONGEST), default=0)
        return 8 * run.restarts * (KEPT * numbers + KEPT_SCORES * kernel)

    def length(self, transformer: Transformer) -> int:
        """The number of tokens of a prompt."""
        if transformer.tokens not in self._lengths:
            prompt = self.domain.sample(1, torch.Generator().manual_seed(0))
            on_device = self.format.place(prompt)
            self._lengths[transformer.tokens] = self.networks.tokens(transformer, on_device, torch.float64).shape[1]
        return self._lengths[transformer.tokens]

    # Checks.

    def constants(self) -> dict[str, Any]:
        return {}

    def checks(self, run: Run) -> list[Row]:
        self.run = run
        own = [check for check in self._checks_here if check.params is None]
        if self.refused is not None:
            rows = [row for each in self.over_draws for row in refused_rows(self, each, self.refused, run)]
            return rows + [row for check in own for row in self._checked_without_network(check, self.refused, run)]
        own_rows = [row for check in own for row in check_rows(self, check, run)]
        return [*chance_rows(self, run), *own_rows, *faithful_rows(self, run)]

    def _checked_without_network(self, check: Check, refused: Refusal, run: Run) -> list[Row]:
        """The check, if it takes nothing that could not be built; inside the hypotheses."""
        taken = {name for each in (check.sides, check.inputs) if callable(each) for name in arguments_of(each)}
        missing = [name for name in taken if self.known.built.get(name, taken) is None]
        if missing or refused.verdict is Verdict.OUTSIDE:
            return refused_rows(self, check.quantity, refused, run)
        return check_rows(self, check, run)

    def replay_check(self, name: str, inputs: Inputs) -> Row:
        if name == FAITHFUL and self.bindings.valued:
            return replayed_faithful(self, inputs)
        if name in [each.name for each in self.over_draws]:
            return replayed_chance(self, name, inputs)
        for check in self._checks_here:
            if plain(check.name) == plain(name):  # a witness may name it without backticks
                return replayed_check(self, check, inputs)
        return super().replay_check(name, inputs)

    @property
    def _of_run(self) -> dict[str, str]:
        return {"dtype": self.format.name}

    def tables(self) -> list[NamedTable]:
        taken = {name for table in self.theorem.tables for name in arguments_of(table)}
        prompt = self.sample(1, 0) if taken & set(self.theorem.inputs) else {}
        known = {**self.run.settings, **{name: each[0] for name, each in prompt.items()}}
        found = (self.known.call(table, known) for table in self.theorem.tables)
        return [table for table in found if table is not None]

    def within(self, run: Run) -> Run:
        return run if self.attackable else run.without_attack()


def _settings(theorem: Theorem) -> frozenset[str]:
    """The settings of a run that the theorem depends on: all, with inputs; the seed, with anything else drawn."""
    moved = [set(theorem.inputs) - set(theorem.random_names(each)) for each in theorem.over_draws]
    if theorem.inputs and (any(moved) or not theorem.all_over_draws):
        return SETTINGS
    drawn = theorem.knobs.resolve is not None or any(isinstance(each, Domain) for each in theorem.weights.values())
    at_each_point = [check for check in theorem.checks if check.params is None]
    of_draws = ["seed", "samples", "dtype"] if moved else []
    of_tables = SETTINGS & {name for table in theorem.tables for name in arguments_of(table)}
    return frozenset([*of_draws, *of_tables, *(["seed"] if drawn else [])]).union(*map(settings_of, at_each_point))


def shown(value: Any) -> Any:
    """A parameter as tables show it: a matrix by its size."""
    if isinstance(value, int | float | str):
        return value
    return " x ".join(map(str, np.shape(value))) + " matrix" if np.ndim(value) else value
