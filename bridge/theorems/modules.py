"""A network that is a `torch.nn.Module`, as a function of the names that its `forward` takes."""

import copy
import functools
import inspect
from typing import Any

import torch


class ModuleNetwork:
    """The module in evaluation mode, with its weights as they are now, in the dtype and on the device of its arguments.

    On balls its weights are exact. `forward` takes parameters, weights and inputs of the theorem by name, and gives one
    array or a dict of them.
    """

    def __init__(self, module: torch.nn.Module) -> None:
        self.module = copy.deepcopy(module).eval().requires_grad_(False)
        self.__name__ = type(module).__name__
        self.__signature__ = inspect.signature(module.forward)

    def __call__(self, **known: Any) -> Any:
        real = [each for each in known.values() if isinstance(each, torch.Tensor) and each.is_floating_point()]
        if not real:  # on balls
            return self.module(**known)
        dtype, device = functools.reduce(torch.promote_types, (each.dtype for each in real)), real[0].device
        state = {**dict(self.module.named_parameters()), **dict(self.module.named_buffers())}
        placed = {
            name: each.to(device, dtype if each.is_floating_point() else each.dtype) for name, each in state.items()
        }
        return torch.func.functional_call(self.module, placed, kwargs=known)


def as_function(network: Any) -> Any:
    """A module as a function; every other network as it is."""
    return ModuleNetwork(network) if isinstance(network, torch.nn.Module) else network
