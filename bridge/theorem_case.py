"""A theorem at one point of the grid: its functions on tensors and on balls, its domains, its letters, its checks."""

import copy
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import flint
import numpy as np
import sympy as sp
import torch
from torch import Tensor

from bridge.arguments import arguments_of, called_with
from bridge.balls import bits_for
from bridge.budget import BLOCK, Budget
from bridge.check import Check, enclosed
from bridge.check_rows import check_rows, replayed_check, settings_of
from bridge.conditions import truth
from bridge.domains import Domain, Product
from bridge.faithful import NAME as FAITHFUL
from bridge.faithful import faithful_rows, replayed_faithful
from bridge.goals import Batch, Goal
from bridge.kept_runs import KeptRuns
from bridge.lowering import Lowered, lower
from bridge.own_bounds import OwnBounds, own_bound
from bridge.pair import Pair
from bridge.premises import require_covered
from bridge.probability import chance_rows, replayed_chance
from bridge.record import NamedTable, Row, Verdict
from bridge.rows import refused_rows
from bridge.running import Runner
from bridge.study import SETTINGS, Case, Inputs, Refusal, torch_device, torch_dtype
from bridge.theorem import Function, Theorem, over_draws
from bridge.theorem_networks import NetworkReadings
from bridge.theorem_numbers import premises_at
from bridge.theorem_readings import AtPrompt, Bindings, bindings, bound_on_balls, bounds_of, in_groups, shared_reading
from bridge.theorem_runs import TheoremRuns
from bridge.transformer import Transformer
from bridge.transformer_batch import LONGEST
from bridge.verdicts import Bound, Checked
from symbolic.statements import Quantity, Result, UsageError

KEPT_SCORES = 6  # matrices of attention weights that autograd keeps, likewise
KEPT = 20  # tensors of the size of a prompt that autograd keeps for each layer of a network, about
READ_BITS = 64  # for bounds at a prompt that are smaller than those of the network, to 2^-60 of them
ABOVE_ROUNDING = 64  # times the rounding
RANDOM = "the inputs are named randomness: they are drawn by seeds, and not attacked"
BATCHED = ("search", "errors", "prompt_bounds")  # what a batch does in place of a case


@dataclass(frozen=True)
class PromptFormula:
    """A bound on tensors, and its letters in the order of its arguments."""

    letters: tuple[sp.Symbol, ...]
    bound: Lowered


def _kept(value: Any) -> Any:
    """What two points of one company agree in: any two floats do; an array or a list only with itself."""
    if isinstance(value, float):
        return float
    return value if isinstance(value, int | str) else id(value)


class TheoremCase(TheoremRuns):
    """One point. `weights` are those of this network, in float64."""

    def __init__(
        self, theorem: Theorem, params: Mapping[str, Any], weights: Mapping[str, Tensor], dtype: str, device: str
    ) -> None:
        self.theorem, self.result, self.sha256 = theorem, theorem.statement, theorem.sha256
        self.params = {name: shown(value) for name, value in params.items()}
        self.params |= dict.fromkeys(called_with(theorem.idle, params) if theorem.idle is not None else ())
        self.weights = dict(weights)
        # What rebuilds this network: drawn weights, and those that a parameter specifies (by the seed, perhaps).
        self.drawn_weights = theorem.recorded
        drawn = {name for name in weights if name in theorem.recorded or name in params}
        self.full_params = {**params, **{name: weights[name].tolist() for name in theorem.weights if name in drawn}}
        self.dtype, self.device = torch_dtype(dtype), torch_device(device)
        self.uses = _settings(theorem)
        self.attackable = "attack" in self.uses
        self.unattacked = "" if self.attackable else RANDOM if theorem.over_draws else ""
        self.values = {p.symbol: params[p.name] for p in self.result.parameters if p.symbol is not None}
        self.result = self._stated_here()
        self.over_draws = over_draws(self.result.quantities, theorem.checks)
        self.checked = frozenset([*(c.name for c in theorem.checks), *(each.name for each in self.over_draws)])
        self.domain = Product(dict(theorem.inputs)).at(self.values)
        called = {name: str(each) for name, each in theorem.inputs.items()}
        require_covered(self.result.id, super().bounded(), self.domain.domains, called, self.values)
        self.runner = Runner(theorem, params, self.weights, self.dtype, self.device)
        self.refused = None if theorem.refusal is None else self.runner.called(theorem.refusal, {})
        self._prompt_formulas: dict[str, PromptFormula] = {}
        self._exact, self._floats = KeptRuns(), KeptRuns()
        self._readings: dict[tuple[str | None, ...], AtPrompt] = {}
        self.bounds_on_balls: KeptRuns[Any] = KeptRuns()
        self._lengths: dict[Function | None, int] = {}
        self.values |= self._own_letters()

    def _own_letters(self) -> dict[sp.Symbol, Any]:
        """The letters that nothing but this network gives a value; none outside the hypotheses."""
        if self.refused is not None and self.refused.verdict is Verdict.OUTSIDE:
            return {}
        parameters = {p.symbol for p in self.result.parameters}
        own = [s for s in self.theorem.knows if s not in parameters and not self._has_worst_case(s)]
        more = {} if self.theorem.letters is None else self.runner.called(self.theorem.letters, {})
        return {**more, **{letter: self._of_network[letter] for letter in own}}

    @cached_property
    def floats_enclosed(self) -> "TheoremCase":
        other = copy.copy(self)
        other.__dict__.pop("_of_network", None)
        other.runner, other._exact, other.bounds_on_balls = self.runner.with_floats_enclosed(), KeptRuns(), KeptRuns()
        other.values = {**self.values, **other._own_letters()}
        return other

    def _stated_here(self) -> Result:
        """The statement with the quantities of this point, without those of checks whose condition does not hold."""
        stated = self.theorem.statement
        if self.theorem.quantities is not None:
            stated = replace(stated, quantities=tuple(called_with(self.theorem.quantities, self.full_params)))
        absent = {each.name for each in self.theorem.checks if truth(each.when, self.values) is False}
        quantities = tuple(each for each in stated.quantities if each.name not in absent)
        return replace(stated, quantities=quantities) if absent else stated

    @property
    def _checks_here(self) -> list[Check]:
        here = {quantity.name: quantity for quantity in self.result.quantities}
        return [replace(each, quantity=here[each.name]) for each in self.theorem.checks if each.name in here]

    def ball(self, expression: sp.Expr, more: Mapping[sp.Symbol, Any] | None = None) -> flint.arb:
        if not self.runner.enclose_floats:
            return super().ball(expression, more)
        typed = {number: sp.Symbol(repr(number)) for number in expression.atoms(sp.Float)}
        near = {letter: enclosed(float(number)) for number, letter in typed.items()}
        return super().ball(expression.xreplace(typed), {**(more or {}), **near})

    def _has_worst_case(self, letter: sp.Symbol) -> bool:
        return any(letter in (quantity.worst_case or {}) for quantity in self.result.quantities)

    # Quantities, with the scopes that their readings add.

    @cached_property
    def bindings(self) -> Bindings:
        """What the handles bind."""
        if self.theorem.handles is None or self.refused is not None:
            return Bindings()
        return bindings(self, super().bounded(), self.sample(1, seed=0))

    @cached_property
    def _scoped(self) -> dict[str, Quantity]:
        # A distance of the theorem's own is none of the norms in which steps are bounded; quantities of the point say
        # their scopes themselves.
        own = self.theorem.distance is not None or self.theorem.quantities is not None
        found = Bindings() if own else self.bindings
        scoped = {each.name: found.scopes(each) for each in self.result.quantities}
        return {
            each.name: each if scoped[each.name] == each.scopes else replace(each, scopes=scoped[each.name])
            for each in self.result.quantities
        }

    def bounded(self) -> list[Quantity]:
        return [self._scoped[each.name] for each in super().bounded()]

    def quantity(self, name: str) -> Quantity:
        return self._scoped[super().quantity(name).name]

    # Inputs.

    def sample(self, count: int, seed: int) -> Inputs:
        return self.admit(self._drawn(self.theorem.samples, self.domain.sample, count, seed))

    def starts(self, count: int, seed: int) -> Inputs:
        drawn = self._drawn(self.theorem.starts, self.domain.starts, count, seed)
        return {name: value.to(self.device) for name, value in drawn.items()}

    def _drawn(self, own: Function | None, general: Callable[..., Inputs], count: int, seed: int) -> Inputs:
        """By the theorem's own function, or from the domains."""
        generator = torch.Generator().manual_seed(seed)
        if own is None:
            return general(count, generator)
        drawn: Inputs = self.runner.called(own, {"count": count, "generator": generator})
        return drawn

    def project(self, inputs: Inputs) -> Inputs:
        return self.domain.project(inputs)

    def check_inputs(self, inputs: Inputs) -> None:
        batches = {name: value.shape[:1] for name, value in inputs.items()}
        complaint = f"expected one prompt, got {batches}" if any(b != (1,) for b in batches.values()) else None
        complaint = complaint or self.domain.complaint({name: value[0] for name, value in inputs.items()})
        if complaint:
            raise UsageError(f"{self.result.id}: {complaint}")

    def memory(self, budget: Budget) -> int:
        numbers = sum(value[0].numel() for value in self.domain.sample(1, torch.Generator()).values())
        weights = sum(value.numel() for value in self.weights.values())
        drawn = 8 * (numbers * (budget.samples + KEPT * budget.restarts) + KEPT * weights)
        at_once = min(BLOCK, self.runner.part or BLOCK)
        return drawn + self.runner.bytes_of_one * (4 * at_once + KEPT * budget.restarts)

    # Attacks: goals of this case, and of cases that differ in numbers alone, share a batch.

    @property
    def company(self) -> Hashable | None:
        """None for a subclass with a search, errors or bounds of its own, which no batch would use."""
        if any(getattr(type(self), name) is not getattr(TheoremCase, name) for name in BATCHED):
            return None
        whole = tuple((name, _kept(value)) for name, value in self.runner.params.items())
        weights = tuple((name, tuple(value.shape)) for name, value in self.weights.items())
        quantities = tuple((quantity.name, quantity.scopes) for quantity in self.bounded())
        shape = tuple(self.domain.shape.items())
        built = tuple(id(each) for each in self.runner.built.values())  # of this point alone
        return id(self.theorem), whole, weights, quantities, shape, built, self.dtype, self.device

    def shown_at(self, goal: Goal) -> Goal:
        leading = self.theorem.leading
        return Goal(self.quantity(leading[0])) if leading and goal.quantity.name not in leading else goal

    def batch(self, cells: Sequence[tuple[Case, Goal]], budget: Budget) -> Batch:
        from bridge.theorem_batch import TheoremBatch

        own = [(case, goal) for case, goal in cells if isinstance(case, TheoremCase)]
        return TheoremBatch(own, budget)

    def search_memory(self, budget: Budget) -> int:
        numbers = sum(math.prod(shape) for shape in self.domain.shape.values())
        numbers += sum(value.numel() for value in self.weights.values())
        lengths = [self.length(each) for each in self.theorem.networks.values() if isinstance(each, Transformer)]
        kernel = max((length**2 for length in lengths if length <= LONGEST), default=0)
        return 8 * budget.restarts * (KEPT * numbers + KEPT_SCORES * kernel)

    def length(self, transformer: Transformer) -> int:
        """The number of tokens of a prompt."""
        if transformer.tokens not in self._lengths:
            prompt = self.domain.sample(1, torch.Generator().manual_seed(0))
            on_device = {name: value.to(self.device) for name, value in prompt.items()}
            self._lengths[transformer.tokens] = self.runner.tokens(transformer, on_device, torch.float64).shape[1]
        return self._lengths[transformer.tokens]

    # Tiers.

    def refusal(self, quantity: Quantity) -> Refusal | None:
        return self.refused

    def printed(self, quantity: Quantity) -> Bound | None:
        letters = self.theorem.printed_letters
        if quantity.printed is None or not self._has_values(quantity.printed.bound):
            return None
        if letters is None or (self.refused is not None and self.refused.verdict is Verdict.OUTSIDE):
            return super().printed(quantity)
        own = self.runner.called(letters, {"quantity": quantity.name})
        return self._at_hand(quantity, "printed", Case.printed(self.with_letters(own), quantity))

    def derived(self, quantity: Quantity) -> Bound | None:
        expression = quantity.derived()
        known = expression is not None and self._has_values(expression)
        return self._at_hand(quantity, "derived", super().derived(quantity)) if known else None

    def _has_values(self, expression: sp.Expr) -> bool:
        """Whether letters have values that nothing could give where the network cannot be built."""
        return self.refused is None or expression.free_symbols <= set(self.values)

    def _at_hand(self, quantity: Quantity, tier: str, bound: Bound | None) -> Bound | None:
        """The bound, outside its hypotheses where the theorem says so."""
        if bound is None or self.theorem.outside is None or self.refused is not None or not quantity.scopes:
            return bound
        why = self.runner.called(self.theorem.outside, {"quantity": quantity.name, "tier": tier})
        return replace(bound, outside=why) if why else bound

    def instance(self, quantity: Quantity, scope: str, inputs: Inputs | None = None) -> Bound | None:
        if scope not in quantity.scopes:
            return None
        if scope == "network" or inputs is None:
            return self._at_hand(quantity, "instance", self._of_all_prompts(quantity))
        return self._at_hand(quantity, "instance", self._at_prompt(quantity, scope, inputs))

    def _of_all_prompts(self, quantity: Quantity) -> Bound | None:
        """That of the derivation, or of its reading from norms, where that is less."""
        if self.theorem.norms is None:
            return super().instance(quantity, "network")
        found = self._network_readings.bound(quantity)
        if found is not None and not self.theorem.by_rules:
            return Bound(found)
        bound = None if found is None else super().instance(quantity, "network")
        return None if bound is None or found is None else replace(bound, ball=_lesser(bound.ball, found))

    @cached_property
    def _network_readings(self) -> NetworkReadings:
        return NetworkReadings(self)

    def _at_prompt(self, quantity: Quantity, scope: str, inputs: Inputs) -> Bound | None:
        if self.theorem.bounds is not None:
            return own_bound(self, quantity, scope, inputs, READ_BITS + self.extra_bits)
        if self._is_read(quantity, scope) and self.reads_alone(quantity):
            found, remark = bound_on_balls(self, self._shown_with(quantity), scope, inputs, READ_BITS + self.extra_bits)
            if found is not None:
                return Bound(found, remark=remark)
            bound = super().instance(quantity, scope, inputs)
            return None if bound is None else replace(bound, remark=remark)
        bound = super().instance(quantity, scope, inputs)
        if bound is None or not self._is_read(quantity, scope):
            return bound
        bits = bits_for(bound.ball) + self.extra_bits
        found, remark = bound_on_balls(self, [quantity], scope, inputs, bits)
        bound = replace(bound, ball=bound.ball if found is None else _lesser(bound.ball, found), remark=remark)
        read = quantity.name in self.bindings.read
        return _resting_on(bound, premises_at(self, quantity, inputs)) if read else bound

    def _shown_with(self, quantity: Quantity) -> list[Quantity]:
        """The quantity, and those that are shown at the same prompts and share its reading."""
        shown = self.bounded() if self.theorem.leading else []
        same = [q for q in shown if q.name in self.bindings.read and shared_reading(q) == shared_reading(quantity)]
        return [quantity, *(each for each in same if each.name != quantity.name)]

    # Letters.

    def _is_read(self, quantity: Quantity, scope: str) -> bool:
        return scope != "network" and self.theorem.distance is None and self.is_bounded(quantity)

    def is_bounded(self, quantity: Quantity) -> bool:
        """Whether more than a formula bounds it at prompts."""
        return self.theorem.bounds is not None or quantity.name in self.bindings.read

    def reads_alone(self, quantity: Quantity) -> bool:
        """Whether the reading of its derivation gives its bounds at prompts, and no formula."""
        return self.theorem.bounds is not None or (not self.theorem.by_rules and quantity.name in self.bindings.read)

    @property
    def extra_bits(self) -> int:
        """Beyond those that telling the bounds from 0 takes: what is read at a prompt may be far below them."""
        return self.theorem.exact_bits + (READ_BITS if self.theorem.handles is not None else 0)

    @property
    def network_letters(self) -> Mapping[sp.Symbol, flint.arb]:
        """The letters that this network knows better, at all of its prompts."""
        return self._of_network

    def instance_values(self, scope: str, inputs: Inputs | None) -> dict[sp.Symbol, Any]:
        if scope == "network" or inputs is None:
            return dict(self._of_network)
        one = self.members(inputs)
        at_prompt = {letter: self.runner.exact_number(each, one) for letter, each in self.prompt_functions.items()}
        return {**self._of_network, **at_prompt}

    @cached_property
    def _of_network(self) -> dict[sp.Symbol, flint.arb]:
        found = {}
        for letter, functions in self.theorem.knows.items():
            of_network = [each for each in functions if self.theorem.scope_of(each) == "network"]
            if of_network:
                found[letter] = self.runner.exact_number(of_network[-1], {})
        return found

    @cached_property
    def prompt_functions(self) -> dict[sp.Symbol, Function]:
        return {
            letter: each
            for letter, functions in self.theorem.knows.items()
            for each in functions
            if self.theorem.scope_of(each) == "prompt"
        }

    def prompt_bounds(self, quantity: Quantity, inputs: Inputs, scope: str) -> Tensor:
        return self._prompt_bound(quantity, inputs, self._read_bounds([quantity], inputs, scope))

    def sample_bounds(self, quantities: Sequence[Quantity], inputs: Inputs, scope: str) -> dict[str, Tensor]:
        if self.company is None:
            return super().sample_bounds(quantities, inputs, scope)
        read = self._read_bounds(quantities, inputs, scope)
        return {quantity.name: self._prompt_bound(quantity, inputs, read) for quantity in quantities}

    def _prompt_bound(self, quantity: Quantity, inputs: Inputs, read: Mapping[str, Tensor]) -> Tensor:
        """By its formula, or as it was read, whichever is less."""
        if quantity.name in read and self.reads_alone(quantity):
            return read[quantity.name] + self.rounding_beside
        formula, letters = self.prompt_formula(quantity), self.prompt_functions
        at_prompt = {s: self.runner.batched(letters[s], inputs) for s in formula.letters if s in letters}
        like = next(iter(inputs.values())).double().new_ones(len(next(iter(inputs.values()))))
        values = [at_prompt[s] if s in at_prompt else like * self.number(s) for s in formula.letters]
        bound: Tensor = formula.bound(*values) * like
        return torch.minimum(bound, read[quantity.name]) + self.rounding_beside if quantity.name in read else bound

    def _read_bounds(self, quantities: Sequence[Quantity], inputs: Inputs, scope: str) -> dict[str, Tensor]:
        """Of those that are read in that scope: of each derivation at once."""
        like = next(iter(inputs.values())).double().new_ones(len(next(iter(inputs.values()))))
        found: dict[str, Tensor] = {}
        for group in self.read_together([each for each in quantities if self._is_read(each, scope)]):
            function = self.reading_of(group, scope)
            numbers = {name: like * self.number(letter) for name, letter in function.letters.items()}
            found |= self.runner.batched(function, {**inputs, **numbers})
        return found

    def read_together(self, quantities: Sequence[Quantity]) -> list[list[Quantity]]:
        """Groups of quantities that one reading bounds, of some that are bounded in one scope."""
        if self.theorem.bounds is not None:
            return [list(quantities)] if quantities else []
        return in_groups(quantities)

    @cached_property
    def rounding_beside(self) -> float:
        """What is added to a bound that is read at a prompt, for the attack alone.

        Such a bound may be as small as an error: a ratio to it would say how inputs round, where errors are smallest.
        """
        return ABOVE_ROUNDING * self._estimated_rounding()

    def reading_of(self, quantities: Sequence[Quantity], scope: str | None) -> "AtPrompt | OwnBounds":
        """The bounds that one reading of their derivation gives at a prompt, on tensors, by quantity.

        Without a scope each prompt has to say whether its own is local (`IS_LOCAL`).
        """
        names, own = [quantity.name for quantity in quantities], self.theorem.bounds
        key = (*names, scope)
        if own is not None and scope is not None:
            return OwnBounds(own.tensors if isinstance(own, Pair) else own, names, scope)
        if key not in self._readings:
            use = bounds_of(quantities, scope, by_rules=self.theorem.by_rules)
            self._readings[key] = AtPrompt(self, quantities[0], use, scope_is_given=scope is None)
        return self._readings[key]

    def prompt_formula(self, quantity: Quantity) -> "PromptFormula":
        """The bound at a prompt, in the letters that are no integers; lowered once, as an attack asks at each step."""
        if quantity.name not in self._prompt_formulas:
            known = {*self.prompt_functions, *self._of_network}
            worst = {s: x for s, x in (quantity.worst_case or {}).items() if s not in known}
            whole = {s: x for s, x in self.values.items() if isinstance(x, int) and s not in self._of_network}
            bound = quantity.general_bound().xreplace(worst).subs(whole)
            letters = tuple(sorted(bound.free_symbols, key=str))
            self._prompt_formulas[quantity.name] = PromptFormula(letters, lower(bound, "torch", args=letters))
        return self._prompt_formulas[quantity.name]

    def number(self, letter: sp.Symbol) -> float:
        """A letter that is the same at every prompt."""
        return float({**self.values, **self._of_network}[letter])

    # Checks.

    def constants(self) -> dict[str, Any]:
        return {}

    @property
    def known(self) -> dict[str, Any]:
        return {**self.runner.params, **self.weights, **self.runner.built}

    def checks(self, budget: Budget) -> list[Row]:
        own = [check for check in self._checks_here if check.params is None]
        if self.refused is not None:
            rows = [row for each in self.over_draws for row in refused_rows(self, each, self.refused, budget)]
            return rows + [row for check in own for row in self._checked_without_network(check, self.refused, budget)]
        own_rows = [row for check in own for row in check_rows(self, check, budget)]
        return [*chance_rows(self, budget), *own_rows, *faithful_rows(self, budget)]

    def _checked_without_network(self, check: Check, refused: Refusal, budget: Budget) -> list[Row]:
        """The check, if it takes nothing that could not be built; inside the hypotheses."""
        taken = {name for each in (check.sides, check.inputs) if callable(each) for name in arguments_of(each)}
        missing = [name for name in taken if self.runner.built.get(name, taken) is None]
        if missing or refused.verdict is Verdict.OUTSIDE:
            return refused_rows(self, check.quantity, refused, budget)
        return check_rows(self, check, budget)

    def replay_check(self, name: str, inputs: Inputs) -> Row:
        if name == FAITHFUL and self.bindings.valued:
            return replayed_faithful(self, inputs)
        if name in [each.name for each in self.over_draws]:
            return replayed_chance(self, name, inputs)
        for check in self._checks_here:
            if check.name == name:
                return replayed_check(self, check, inputs)
        return super().replay_check(name, inputs)

    def tables(self) -> list[NamedTable]:
        return [self.runner.called(table, {}) for table in self.theorem.tables]

    def within(self, budget: Budget) -> Budget:
        return budget if self.attackable else budget.without_attack()


def _settings(theorem: Theorem) -> frozenset[str]:
    """The settings of a run that the theorem depends on: all, with inputs; the seed, with anything else drawn."""
    moved = [set(theorem.inputs) - set(theorem.random_names(each)) for each in theorem.over_draws]
    if theorem.inputs and (any(moved) or not theorem.all_over_draws):
        return SETTINGS
    drawn = theorem.resolve is not None or any(isinstance(each, Domain) for each in theorem.weights.values())
    at_each_point = [check for check in theorem.checks if check.params is None]
    of_draws = ["seed", "samples", "dtype"] if moved else []
    return frozenset([*of_draws, *(["seed"] if drawn else [])]).union(*map(settings_of, at_each_point))


def shown(value: Any) -> Any:
    """A parameter as tables show it: a matrix by its size."""
    if isinstance(value, int | float | str):
        return value
    return " x ".join(map(str, np.shape(value))) + " matrix" if np.ndim(value) else value


def _lesser(one: flint.arb, other: flint.arb) -> flint.arb:
    """The lesser of two bounds, of which both hold; where balls overlap, the lesser upper end."""
    return one if one.upper() <= other.upper() else other


def _resting_on(bound: Bound, premises: Sequence[Checked]) -> Bound:
    """The bound where these are decided."""
    violated = (f"hypothesis violated: {each.statement}" for each in premises if each.holds is False)
    return replace(
        bound,
        outside="; ".join(filter(None, [bound.outside, *violated])),
        conditional=bound.conditional or any(each.holds is not True for each in premises),
        checked=(*bound.checked, *premises),
    )
