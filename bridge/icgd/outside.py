"""A point of the grid that a hypothesis of the paper rules out: nothing is built or run, and every row says why."""

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import flint
import sympy as sp
import torch
from torch import Tensor

from bridge.record import Verdict
from bridge.study import Case, Inputs, Refusal
from bridge.verdicts import Bound
from symbolic.statements import Quantity, Result


class OutsideCase(Case):
    """All quantities of a result, none of them run."""

    def __init__(self, result: Result, params: Mapping[str, Any], reason: str, device: torch.device) -> None:
        self.result, self.reason, self.device = result, reason, device
        self.params = self.full_params = dict(params)
        self.values: dict[sp.Symbol, Any] = {}
        self.dtype = torch.float64

    def refusal(self, quantity: Quantity) -> Refusal:
        return Refusal(Verdict.OUTSIDE, self.reason)

    def printed(self, quantity: Quantity) -> Bound | None:
        return None

    def derived(self, quantity: Quantity) -> Bound | None:
        return None

    def _not_run(self) -> NoReturn:
        raise RuntimeError(f"{self.result.id}: {self.reason}")

    def sample(self, count: int, seed: int) -> Inputs:
        self._not_run()

    def starts(self, count: int, seed: int) -> Inputs:
        self._not_run()

    def project(self, inputs: Inputs) -> Inputs:
        self._not_run()

    def check_inputs(self, inputs: Inputs) -> None:
        self._not_run()

    def errors(self, inputs: Inputs, names: Sequence[str], *, attack: bool = False) -> dict[str, Tensor]:
        self._not_run()

    def exact(self, inputs: Inputs, names: Sequence[str], bits: int) -> dict[str, tuple[flint.arb, float]]:
        self._not_run()

    def instance_values(self, scope: str, inputs: Inputs | None) -> dict[sp.Symbol, Any]:
        self._not_run()

    def prompt_bounds(self, quantity: Quantity, inputs: Inputs, scope: str) -> Tensor:
        self._not_run()

    def rounding_estimate(self) -> float:
        self._not_run()
