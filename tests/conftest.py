"""Makes sloppiness fail: float64, seeds reset before each test, shapes and types checked while the tests run.

No test of hypothesis has a deadline: no verdict depends on the clock (test_no_clock.py).
"""

import gc
import os
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from tests.typechecking import check_while_running

os.environ.pop("COLUMNS", None)  # workers of pytest-xdist have it, and tables would be that narrow
gc.set_threshold(50_000, 20, 100)  # imports and derivations leave no cycles worth a fifth of the time of collecting
check_while_running()

settings.register_profile(
    "no clock", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)  # derandomize: the same examples in every run
settings.load_profile("no clock")

import torch  # noqa: E402 - after the hooks, which act on imports


def pytest_collection_finish() -> None:
    """No later collection of garbage goes through the modules and the derived results again."""
    gc.freeze()


@pytest.fixture(autouse=True)
def strict_numerics() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    np.random.seed(0)  # noqa: NPY002 - a library that uses the global generator shall be reproducible too
    random.seed(0)


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of a claim that is only planned."""
    from symbolic.statements import catalogue

    claim = replace(catalogue.CLAIMS[0], id="looped.distillation", module="")
    monkeypatch.setattr(catalogue, "CLAIMS", (*catalogue.CLAIMS, claim))
    return claim.id
