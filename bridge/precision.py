"""What is built, in the precision of a run."""

from typing import Any

import torch
from torch import Tensor


def in_precision(built: Any, dtype: torch.dtype, device: torch.device) -> Any:
    """The tensors of real numbers in what is built, also those in tuples, lists and dicts, as the weights of a run."""
    if isinstance(built, Tensor):
        return built.to(device, dtype, copy=True) if built.is_floating_point() else built
    if type(built) in (tuple, list):
        return type(built)(in_precision(each, dtype, device) for each in built)
    if type(built) is dict:
        return {name: in_precision(each, dtype, device) for name, each in built.items()}
    return built
