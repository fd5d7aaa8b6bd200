"""Where Corollary 1.1 and Lemma 14 fail as printed: checks by exact runs of one linear neuron, in rational numbers.

Each refutes the printed statement, or shows the repaired one in the run in which it is closest.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace

import sympy as sp
from torch import Tensor

from bridge.check import Sides
from symbolic.icgd import exact_runs as theory
from symbolic.statements import Quantity, UsageError

PAIRS = "numerator and denominator (not 0)"


@dataclass(frozen=True)
class ExactRun:
    """The sides of a check, as a function of the run's numbers: pairs of whole numbers, numerator and denominator."""

    check: Callable[..., theory.Witness]
    repaired: bool

    @property
    def quantity(self) -> Quantity:
        stated = theory.refuted_quantity(self.check)
        if not self.repaired:
            return stated
        remark = "the repaired statement, in a run of its own"
        return replace(stated, name=f"{stated.name}.repaired", remark=remark, erratum=None, printed=None)

    @property
    def inputs(self) -> dict[str, list[float]]:
        return {name: [float(v.p), float(v.q)] for name, v in self.check().run.numbers.items()}

    @property
    def __signature__(self) -> inspect.Signature:
        keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD
        return inspect.Signature([inspect.Parameter(name, keyword) for name in self.inputs])

    def __call__(self, **numbers: Tensor) -> Sides:
        witness = self.check(run_of(numbers))
        if self.repaired:
            return Sides(found=witness.repaired_attained, derived=witness.repaired, rounding=0.0)
        return Sides(found=witness.attained, printed=witness.printed, rounding=0.0)


RUNS = tuple(ExactRun(check, repaired) for check in theory.WITNESSES for repaired in (False, True))


def run_of(inputs: dict[str, Tensor]) -> theory.Run:
    """The run of these numbers. Raises UsageError for what is no pair of whole numbers, and as `Run.check`."""
    numbers = {}
    for name, pair in inputs.items():
        whole = [int(v) if bool(v == v.round()) and abs(float(v)) < 2.0**53 else None for v in pair]
        if None in whole or whole[1] == 0:
            raise UsageError(f"icgd.trajectory: {name} has to be two whole numbers, {PAIRS}")
        numbers[name] = sp.Rational(*whole)
    run = theory.Run(**numbers)
    run.check()
    return run
