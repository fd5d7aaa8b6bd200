"""Makes sloppiness fail: float64, seeds reset before each test, shapes and types checked while the tests run."""

import random

import numpy as np
import pytest

from tests.typechecking import check_while_running

check_while_running()

import torch  # noqa: E402 - after the hooks, which act on imports


@pytest.fixture(autouse=True)
def strict_numerics() -> None:
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(0)
    np.random.seed(0)  # noqa: NPY002 - a library that uses the global generator shall be reproducible too
    random.seed(0)
