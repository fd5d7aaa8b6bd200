"""Makes sloppiness fail: float64, seeds reset before each test, shapes and types checked while the tests run."""

import random

import numpy as np
import pytest
from beartype.claw import beartype_packages
from jaxtyping import install_import_hook

# Before anything is imported: numeric's shapes are checked by jaxtyping, the other floors' types by beartype.
install_import_hook("numeric", "beartype.beartype")
beartype_packages(("symbolic", "bridge"))

import torch  # noqa: E402 - after the hooks, which act on imports


@pytest.fixture(autouse=True)
def strict_numerics() -> None:
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(0)
    np.random.seed(0)  # noqa: NPY002 - a library that uses the global generator shall be reproducible too
    random.seed(0)
