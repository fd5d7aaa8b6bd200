"""Every result and every example on a device: rows as on the CPU, and a tensor that was left on the CPU is found.

The same tests run on a pretend device, which every machine has, and on CUDA where there is one.
"""

import math
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import pytest
import torch

import boundsmith as bs
from bridge.export.comparison import Comparison
from bridge.questions.compare import compare
from bridge.theorems.record import Row
from symbolic.words.errors import UsageError
from tests.bridge.theorems.theorem.theorems import product
from tests.corners.points import SOURCES
from tests.devices.pretend import MIXED, pretend_device

SMALL: dict[str, dict[str, Any]] = {
    "machines.turing_margin": {"machine": "increment", "input": "1"},
    "machines.rounding": {"depth": 2},
    "induction.vanilla": {"p": 2, "L": 5, "d": 2},
    "induction.phases": {"L": 5},
    "looped.newton": {"N": 3, "d": 2, "T": 2},
    "looped.autoregression": {"N": 4, "T": 1},
    "looped.gradient_descent": {"N": 3, "T": 1},
    "looped.chain_of_thought": {"N": 2, "L": 2, "T": 1},
    "universal.transformer": {"N": 3, "n": 2},
    "universal.risk": {"N": 32, "n": 16, "L": 5},
}
BUDGETS = ("samples", "attack", "restarts"), ("attack", "restarts"), ("samples",), ()
QUICK = {"samples": 2, "attack": 3, "restarts": 2}
NEAR = 1e-6  # of what is measured: sums in another order
SEARCHED = 0.05  # of what three steps of an attack find: they multiply what rounding moved
TINY = {"meta": 1e-12, "cuda": 1e-7}  # of errors that are rounding, which CUDA does in another order
BOUNDS, FOUND = ("printed", "claimed", "derived", "instance"), ("measured", "attacked")


@pytest.fixture(
    params=[
        "pretend",
        pytest.param(
            "cuda",
            marks=[
                pytest.mark.gpu,
                pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
            ],
        ),
    ]
)
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    with nullcontext("cuda") if request.param == "cuda" else pretend_device() as name:
        yield name


def run(source: str, device: str) -> Comparison:
    """With as small a budget as it takes."""
    for names in BUDGETS:
        budget = {name: QUICK[name] for name in names}
        try:
            return compare(SOURCES[source], device=device, **budget, **SMALL.get(source, {}))
        except UsageError as error:
            if "has no effect" not in str(error) and "no inputs" not in str(error):
                raise
    raise AssertionError(f"{source} takes no budget at all")


def apart(row: Row, other: Row, device: str) -> list[str]:
    """The columns in which the two rows are not the same up to rounding.

    On CUDA a search ends at another prompt, of which only the verdict is the same.
    """
    found = [] if row.verdict == other.verdict else [f"verdict {other.verdict}"]
    at_prompt = (row.scope or "").startswith("prompt")
    for name in () if at_prompt and device == "cuda" else (*BOUNDS, *FOUND):
        one, two = getattr(row, name), getattr(other, name)
        near = SEARCHED if name == "attacked" or at_prompt else NEAR
        none = one is None or two is None
        if one is not two if none else not math.isclose(one, two, rel_tol=near, abs_tol=TINY[device.partition(":")[0]]):
            found.append(f"{name} {two} for {one}")
    return found


# The others take seconds on one core.
QUICKLY = (
    *("icgd.gradient", "icgd.derivative", "icgd.loss_gradient", "universal.features", "universal.lasso"),
    *("machines.circuit", "induction.vanilla", "induction.losses", "looped.linearised", "looped.decoder"),
    *("own_theorem.py:own", "momentum.py:own", "ridge.py:own"),
)


@pytest.mark.parametrize(
    "source", [source if source in QUICKLY else pytest.param(source, marks=pytest.mark.long) for source in SOURCES]
)
def test_rows_are_those_of_the_cpu(source: str, device: str) -> None:
    with_cpu, with_device = run(source, "cpu").rows, run(source, device).rows
    assert [(row.quantity, row.scope) for row in with_cpu] == [(row.quantity, row.scope) for row in with_device]
    different = {
        f"{one.quantity} ({one.scope})": found
        for one, two in zip(with_cpu, with_device, strict=True)
        if (found := apart(one, two, device))
    }
    assert not different


def test_a_tensor_that_is_left_on_the_cpu_is_found(device: str) -> None:
    def planted(W: Any, b: Any, x: Any, eps: Any) -> Any:
        return (1 + eps) * (W @ x) + b + torch.zeros(2, dtype=torch.float64, device="cpu")

    compare(product(), device=device, **QUICK)
    with pytest.raises((RuntimeError, bs.UsageError), match=MIXED):
        compare(product(network=planted), device=device, **QUICK)
