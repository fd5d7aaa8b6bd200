"""A theorem at one point of the grid: its functions on tensors and on balls, its domains, its letters, its checks."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import flint
import sympy as sp
import torch
from torch import Tensor

from bridge.budget import BLOCK, Budget
from bridge.check import Check, Sides
from bridge.check_rows import check_row
from bridge.conditions import truth
from bridge.domains import Product
from bridge.lowering import lower
from bridge.record import Row
from bridge.running import Runner, distance, exact_distance
from bridge.study import Case, Inputs, torch_device, torch_dtype
from bridge.theorem import Function, Theorem
from numeric.balls import BallArray, float_above
from symbolic.statements import Kind, Quantity, Result, UsageError

KEPT = 20  # tensors of the size of a prompt that autograd keeps for each layer of a network, about
PROBES = 8  # inputs of the estimate of rounding


class TheoremCase(Case):
    """One point. `weights` are those of this network, in float64."""

    def __init__(
        self, theorem: Theorem, params: Mapping[str, Any], weights: Mapping[str, Tensor], dtype: str, device: str
    ) -> None:
        self.theorem, self.result, self.sha256 = theorem, theorem.statement, theorem.sha256
        self.checked = frozenset(check.name for check in theorem.checks)
        self.params = dict(params)
        self.weights = dict(weights)
        self.full_params = {**self.params, **{name: value.tolist() for name, value in weights.items()}}
        self.dtype, self.device = torch_dtype(dtype), torch_device(device)
        self.attackable = bool(theorem.inputs)
        self.values = {p.symbol: params[p.name] for p in self.result.parameters if p.symbol is not None}
        self.result = self._stated_here()
        self.domain = Product(dict(theorem.inputs)).at(self.values)
        self.runner = Runner(theorem, self.params, self.weights, self.dtype, self.device)
        own = [letter for letter in theorem.knows if letter not in self.values and not self._has_worst_case(letter)]
        self.values |= {letter: self._of_network[letter] for letter in own}

    def _stated_here(self) -> Result:
        """The statement without the quantities of checks whose condition does not hold here."""
        absent = {each.name for each in self.theorem.checks if truth(each.when, self.values) is False}
        quantities = tuple(each for each in self.theorem.statement.quantities if each.name not in absent)
        return replace(self.theorem.statement, quantities=quantities) if absent else self.theorem.statement

    @property
    def _checks_here(self) -> list[Check]:
        here = {quantity.name for quantity in self.result.quantities}
        return [check for check in self.theorem.checks if check.name in here]

    def _has_worst_case(self, letter: sp.Symbol) -> bool:
        return any(letter in (quantity.worst_case or {}) for quantity in self.result.quantities)

    # Inputs.

    def sample(self, count: int, seed: int) -> Inputs:
        return self.admit(self.domain.sample(count, torch.Generator().manual_seed(seed)))

    def starts(self, count: int, seed: int) -> Inputs:
        generator = torch.Generator().manual_seed(seed)
        if self.theorem.starts is None:
            drawn = self.domain.starts(count, generator)
        else:
            drawn = self.runner.called(self.theorem.starts, {"count": count, "generator": generator})
        return {name: value.to(self.device) for name, value in drawn.items()}

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

    # Errors.

    def errors(self, inputs: Inputs, names: Sequence[str], *, attack: bool = False) -> dict[str, Tensor]:
        found = self.runner.network(inputs, names, torch.float64 if attack else self.dtype)
        truth = self.runner.reference(inputs, names)
        return {name: self.distance(name, found[name], truth[name]) for name in names}

    def exact(self, inputs: Inputs, names: Sequence[str], bits: int) -> dict[str, tuple[flint.arb, float]]:
        one = {name: value[0] for name, value in inputs.items()}
        bits += self.theorem.exact_bits
        network, reference = (run(one, names, bits) for run in (self.runner.exact_network, self.runner.exact_reference))
        with torch.no_grad():
            floats = self.runner.network(inputs, names, self.dtype), self.runner.reference(inputs, names)
        found = {}
        for name in names:
            pairs = zip((network, reference), floats, strict=True)
            apart = [self._exact_distance(name, balls[name], run[name][0], bits) for balls, run in pairs]
            error = self._exact_distance(name, network[name], reference[name], bits)
            found[name] = (error, float_above(sum(apart, flint.arb(0))))
        return found

    def distance(self, name: str, found: Tensor, truth: Tensor) -> Tensor:
        """The error of a quantity at each prompt, (B): in its norm, or by the distance of the theorem."""
        if self.theorem.distance is None:
            return distance(self._norm(name), name, found.double(), truth)
        apart: Tensor = self.runner.batched(self.theorem.distance, {"found": found, "truth": truth})
        return apart

    def _exact_distance(self, name: str, found: BallArray, truth: BallArray | Tensor, bits: int) -> flint.arb:
        if self.theorem.distance is None:
            return exact_distance(self._norm(name), found, truth)
        return self.runner.exact_number(self.theorem.distance, {"found": found, "truth": truth}, bits)

    def _norm(self, name: str) -> str:
        quantity = self.result.quantity(name)
        if quantity.derivation is None:
            raise UsageError(f"{self.result.id}: '{name}' has no derivation, so the norm of its error is not known")
        return str(quantity.derivation.step(quantity.step or name).norm)

    # An estimate refutes no identity: where its two sides cancel, rounding is as large as an error can be.
    def rounding_estimate(self) -> float:
        identities = [each for each in self.bounded() if each.kind is Kind.EXACT and each.scopes]
        sizes = [self.trivial(each) for each in identities]
        largest = [math.inf if size is None else float_above(size) for size in sizes]
        return max(largest) if largest else self._estimated_rounding()

    # A float64 run and a float32 run differ by the rounding of float32; that of float64 is smaller in the ratio of
    # their precisions. A factor 16 for inputs where it is larger than at these.
    def _estimated_rounding(self) -> float:
        inputs = self.domain.sample(PROBES, torch.Generator().manual_seed(0))
        names = [quantity.name for quantity in self.bounded()]
        with torch.no_grad():
            runs = [self.runner.network(inputs, names, dtype) for dtype in (torch.float64, torch.float32)]
        apart = [self.distance(name, *(run[name].double() for run in runs)).max() for name in names]
        ratio = torch.finfo(self.dtype).eps / torch.finfo(torch.float32).eps
        return 16 * ratio * float(torch.stack(apart).max())

    # Letters.

    def instance_values(self, scope: str, inputs: Inputs | None) -> dict[sp.Symbol, Any]:
        if scope == "network" or inputs is None:
            return dict(self._of_network)
        one = {name: value[0] for name, value in inputs.items()}
        at_prompt = {letter: self.runner.exact_number(each, one) for letter, each in self._prompt_functions.items()}
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
    def _prompt_functions(self) -> dict[sp.Symbol, Function]:
        return {
            letter: each
            for letter, functions in self.theorem.knows.items()
            for each in functions
            if self.theorem.scope_of(each) == "prompt"
        }

    def prompt_bounds(self, quantity: Quantity, inputs: Inputs, scope: str) -> Tensor:
        letters = self._prompt_functions
        worst = {s: x for s, x in (quantity.worst_case or {}).items() if s not in letters and s not in self._of_network}
        whole = {s: x for s, x in self.values.items() if isinstance(x, int) and s not in self._of_network}
        bound = quantity.general_bound().xreplace(worst).subs(whole)
        numbers = {**self.values, **self._of_network}
        arguments = tuple(sorted(bound.free_symbols, key=str))
        at_prompt = {s: self.runner.batched(letters[s], inputs) for s in arguments if s in letters}
        like = next(iter(inputs.values())).double().new_ones(len(next(iter(inputs.values()))))
        values = [at_prompt[s] if s in at_prompt else like * float(numbers[s]) for s in arguments]
        return lower(bound, "torch", args=arguments)(*values) * like

    # Checks.

    def constants(self) -> dict[str, Any]:
        return {}

    def checks(self, budget: Budget) -> list[Row]:
        own = [check for check in self._checks_here if check.params is None]
        return [check_row(self, check, (self.sides(check, at), at)) for check in own for at in [self.inputs_of(check)]]

    def replay_check(self, name: str, inputs: Inputs) -> Row:
        for check in self._checks_here:
            if check.name == name:
                expected = {key: tuple(value.shape) for key, value in self.inputs_of(check).items()}
                got = {key: tuple(value.shape) for key, value in inputs.items()}
                if got != expected:
                    raise UsageError(f"{self.result.id}: '{name}' takes inputs of shapes {expected}, got {got}")
                return check_row(self, check, (self.sides(check, inputs), inputs))
        return super().replay_check(name, inputs)

    def inputs_of(self, check: Check) -> Inputs:
        """The inputs at which the check is judged."""
        given = check.inputs if isinstance(check.inputs, Mapping) else self.runner.called(check.inputs, {})
        return {name: torch.as_tensor(value, dtype=torch.float64) for name, value in given.items()}

    def sides(self, check: Check, inputs: Inputs) -> Sides:
        found: Sides = self.runner.called(check.sides, dict(inputs))
        return found

    def within(self, budget: Budget) -> Budget:
        return budget if self.theorem.inputs else budget.without_attack()
