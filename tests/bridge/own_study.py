"""Theorems of a user's own: a bound in a few letters, and a network that errs by half of |x| times it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import flint
import sympy as sp
import torch
from torch import Tensor

from bridge.limits.run import ONE_INPUT, Format, Run
from bridge.study import Case, Inputs, Study
from numeric.balls import float_above
from symbolic.calculus import Derivation, Norm, Step
from symbolic.induction.vanilla import VANILLA
from symbolic.statements import Hypothesis, Kind, Parameter, Quantifier, Quantity, Result, UsageError

NAME = "own"


def own_quantity(bound: sp.Expr | Derivation, kind: Kind = Kind.UPPER) -> Quantity:
    """`bound`, or the last step of a derivation."""
    derivation = bound if isinstance(bound, Derivation) else Derivation((Step(NAME, Norm.INF, "own", bound),))
    return Quantity(
        NAME, r"\|e\|", "the error", "sup norm", "x in [-1, 1]", kind, Quantifier.FOR_ALL,
        derivation, derivation.steps[-1].name, {}, scopes=("network",),
    )  # fmt: skip


class OwnCase(Case):
    """Inputs x of shape (B, 1) in [-1, 1]; the error is |x|/2 times the derived bound."""

    def __init__(self, result: Result, params: Mapping[str, Any], format: Format) -> None:
        self.result, self.params, self.full_params = result, dict(params), dict(params)
        self.known = self.params
        self.format = format
        self.values = {p.symbol: params[p.name] for p in result.parameters if p.symbol is not None}

    def sample(self, count: int, seed: int) -> Inputs:
        return {
            "x": 2 * torch.rand(count, 1, generator=torch.Generator().manual_seed(seed), dtype=self.format.dtype) - 1
        }

    starts = sample

    def project(self, inputs: Inputs) -> Inputs:
        return {"x": inputs["x"].clamp(-1, 1)}

    def _bound(self) -> flint.arb:
        return self.ball(self.result.quantity(NAME).general_bound())

    def errors(self, inputs: Inputs, names: Sequence[str], *, attack: bool = False) -> dict[str, Tensor]:
        return {name: inputs["x"].abs().squeeze(-1) * float(self._bound()) / 2 for name in names}

    def exact(self, inputs: Inputs, names: Sequence[str], bits: int) -> dict[str, tuple[flint.arb, float]]:
        error = abs(flint.arb(float(inputs["x"]))) * self._bound() / 2
        measured = self.errors(inputs, [NAME])[NAME]
        return {name: (error, float_above(abs(error - flint.arb(float(measured))))) for name in names}

    def instance_values(self, scope: str, inputs: Inputs | None) -> dict[sp.Symbol, Any]:
        return {}

    def prompt_bounds(self, quantity: Quantity, inputs: Inputs, scope: str) -> Tensor:
        raise UsageError("there are no prompts")

    def rounding_estimate(self) -> float:
        return 1e-12

    def check_inputs(self, inputs: Inputs) -> None:
        pass


class OwnStudy(Study):
    """A bound in parameters that are all numbers."""

    main_quantity = NAME

    def __init__(
        self,
        bound: sp.Expr | Derivation,
        defaults: Mapping[sp.Symbol, Any],
        *conditions: Any,
        kind: Kind = Kind.UPPER,
    ) -> None:
        parameters = [
            Parameter(symbol.name, symbol, "a number", default, integer=bool(symbol.is_integer))
            for symbol, default in defaults.items()
        ]
        names = {symbol: symbol.name for symbol in defaults}
        hypotheses = [Hypothesis(next(names[s] for s in c.free_symbols), c, "by assumption") for c in conditions]
        self.result = replace(
            VANILLA, id="own.theorem", parameters=tuple(parameters), hypotheses=tuple(hypotheses),
            quantities=(own_quantity(bound, kind),), remarks=(),
        )  # fmt: skip

    def case(self, params: Mapping[str, Any], run: Run = ONE_INPUT) -> OwnCase:
        return OwnCase(self.result, self.resolved(params), run.format)
