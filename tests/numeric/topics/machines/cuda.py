"""The marks of tests that need a CUDA device."""

import pytest
import torch

CUDA = (pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no CUDA device"))
