"""What is built, in the precision of a run."""

from dataclasses import fields, is_dataclass, replace
from typing import Any

import torch
from torch import Tensor


def in_precision(built: Any, dtype: torch.dtype, device: torch.device) -> Any:
    """The tensors of real numbers in what is built, also those in tuples, lists and dicts, as the weights of a run.

    A dataclass keeps its dtypes: it is data, of which only the device has to be that of the run.
    """
    if isinstance(built, Tensor):
        return built.to(device, dtype, copy=True) if built.is_floating_point() else built.to(device)
    if type(built) in (tuple, list):
        return type(built)(in_precision(each, dtype, device) for each in built)
    if type(built) is dict:
        return {name: in_precision(each, dtype, device) for name, each in built.items()}
    if is_dataclass(built) and not isinstance(built, type):
        arrays = {each.name: getattr(built, each.name) for each in fields(built) if each.init}
        away = {n: each.to(device) for n, each in arrays.items() if isinstance(each, Tensor) and each.device != device}
        return replace(built, **away) if away else built
    return built
