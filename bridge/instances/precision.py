"""What is built, in the precision of a run."""

from dataclasses import fields, is_dataclass, replace
from typing import Any

from torch import Tensor

from bridge.limits.run import Format


def in_precision(built: Any, format: Format) -> Any:
    """The tensors of real numbers in what is built, also those in tuples, lists and dicts, as the weights of a run.

    A dataclass keeps its dtypes: it is data, of which only the device has to be that of the run.
    """
    if isinstance(built, Tensor):
        real = built.is_floating_point()
        return built.to(format.device, format.dtype, copy=True) if real else built.to(format.device)
    if type(built) in (tuple, list):
        return type(built)(in_precision(each, format) for each in built)
    if type(built) is dict:
        return {name: in_precision(each, format) for name, each in built.items()}
    if is_dataclass(built) and not isinstance(built, type):
        arrays = {each.name: getattr(built, each.name) for each in fields(built) if each.init}
        at = format.device
        away = {n: each.to(at) for n, each in arrays.items() if isinstance(each, Tensor) and each.device != at}
        return replace(built, **away) if away else built
    return built
