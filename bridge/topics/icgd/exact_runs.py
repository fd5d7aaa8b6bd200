"""Where Corollary 1.1 and Lemma 14 fail as printed: checks by exact runs of one linear neuron, in rational numbers.

Each refutes the printed statement, or shows the repaired one in the run in which it is closest.
"""

from collections.abc import Callable
from dataclasses import asdict, replace

from torch import Tensor

from bridge.judging.exact_claims import pair_of_rational, rational_of_pair
from bridge.theorems.check import Check, Sides
from symbolic.topics.icgd import exact_runs as theory


def check_of(witness: Callable[..., theory.ExactWitness], *, repaired: bool) -> Check:
    """Of the run's numbers, each a pair of whole numbers, numerator and denominator."""
    stated = theory.refuted_quantity(witness)
    if repaired:
        name, remark = f"{stated.name}.repaired", "the repaired statement, in a run of its own"
        stated = replace(stated, name=name, remark=remark, erratum=None, printed=None)

    def sides(
        x: Tensor, y: Tensor, width: Tensor, step: Tensor, accuracy: Tensor, steps: Tensor, examples: Tensor
    ) -> Sides:
        of = {"width": width, "step": step, "accuracy": accuracy, "steps": steps, "examples": examples}
        found = witness(run_of({"x": x, "y": y, **of}))
        if repaired:
            return Sides(found=found.repaired_attained, derived=found.repaired, rounding=0.0)
        return Sides(found=found.attained, printed=found.printed, rounding=0.0)

    inputs = {name: pair_of_rational(value) for name, value in asdict(witness().run).items()}
    return Check(stated, sides, inputs, params={})


def run_of(inputs: dict[str, Tensor]) -> theory.ExactRun:
    """The run of these numbers. Raises UsageError for what is not a pair of whole numbers, and as `Run.check`."""
    run = theory.ExactRun(**{name: rational_of_pair("icgd.trajectory", name, pair) for name, pair in inputs.items()})
    run.check()
    return run


CHECKS = tuple(check_of(witness, repaired=repaired) for witness in theory.WITNESSES for repaired in (False, True))
