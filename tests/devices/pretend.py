"""A pretend GPU: tensors on "meta:0" whose numbers are on the CPU, refused where CUDA would refuse them.

A kernel gets the numbers of its operands and gives what the CPU gives. What is refused is that operands are mixed: a
tensor of the CPU beside one of the device. As on CUDA, copies may mix, so may an index of the CPU, and a tensor of the
CPU without axes in operations entry by entry. A device with the number that nobody gave it is unequal to
`torch.device("meta")`, as "cuda:0" is to "cuda".
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

import bridge.limits.accepted

NAME = "meta"
DEVICE = torch.device(NAME, 0)
MIXED = "Expected all tensors to be on the same device"

COPIES = {"aten::copy_", "aten::_to_copy"}
INDEXED = {"aten::index", "aten::index_put", "aten::index_put_", "aten::_index_put_impl_"}
ENTRY_BY_ENTRY = {"aten::fill", "aten::fill_", "aten::masked_fill", "aten::masked_fill_"}  # beside those with the tag
NO_SCALARS = {"aten::clamp", "aten::clamp_", "aten::lerp", "aten::lerp_"}  # which have the tag
FROM_NUMBERS = {torch.tensor, torch.as_tensor, torch.asarray}  # they look through a list before they choose a device
TO_LISTS = {torch.Tensor.tolist}
PRODUCTS = {torch.matmul, torch.Tensor.matmul, torch.Tensor.__matmul__, torch.Tensor.__rmatmul__}
TO_NUMPY = {torch.Tensor.numpy, torch.Tensor.__array__}


class OnDevice(torch.Tensor):
    """A tensor of the device; `numbers` holds its values."""

    numbers: torch.Tensor

    @staticmethod
    def __new__(cls, numbers: torch.Tensor) -> "OnDevice":
        made = torch.Tensor._make_wrapper_subclass(
            cls,
            numbers.size(),
            strides=numbers.stride(),
            storage_offset=numbers.storage_offset(),
            dtype=numbers.dtype,
            device=DEVICE,
        )
        made.numbers = numbers
        return made

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _computed(func, args, kwargs or {})

    def __repr__(self, **_: Any) -> str:  # type: ignore[override]
        return f"OnDevice({self.numbers})"


def _computed(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the kernel gives, on the device if an operand is there or `device` says so."""
    operands = [each for each in tree_leaves((args, kwargs)) if isinstance(each, torch.Tensor)]
    here = any(isinstance(each, OnDevice) for each in operands)
    asked = kwargs.get("device")
    if here:
        _require_one_device(func, args, operands)
    if asked is not None and torch.device(asked).type == NAME:
        if kwargs.get("generator") is not None:
            raise RuntimeError(f"Expected a '{NAME}' device type for generator but found 'cpu'")
        kwargs, here = {**kwargs, "device": torch.device("cpu")}, True
    elif asked is not None:
        here = False
    found = func(*tree_map(_numbers, args), **tree_map(_numbers, kwargs))
    if func is torch.ops.aten._local_scalar_dense.default:
        return found
    if func._schema.is_mutable and func._schema.name.endswith("_"):
        return args[0]
    return tree_map(_there, found) if here else found


def _numbers(value: Any) -> Any:
    if not isinstance(value, OnDevice):
        return value
    assert value.shape == value.numbers.shape, f"a kernel changed the shape of {value} in place"
    return value.numbers


def _there(value: Any) -> Any:
    return OnDevice(value) if isinstance(value, torch.Tensor) and not isinstance(value, OnDevice) else value


def _require_one_device(func: Any, args: tuple[Any, ...], operands: list[torch.Tensor]) -> None:
    """Raises RuntimeError where CUDA does. At least one operand is on the device."""
    name = func._schema.name
    strangers = [each for each in operands if not isinstance(each, OnDevice)]
    if name in COPIES or not strangers:
        return
    if name in INDEXED and isinstance(args[0], OnDevice):
        strangers = [each for each in args[2:3] if isinstance(each, torch.Tensor) and not isinstance(each, OnDevice)]
    scalars = name in ENTRY_BY_ENTRY | INDEXED or (torch.Tag.pointwise in func.tags and name not in NO_SCALARS)
    written = args[0] if name.endswith("_") else None
    if any(each.ndim > 0 or not scalars or each is written for each in strangers):
        raise RuntimeError(f"{MIXED}, but {name} got some on cpu and some on {DEVICE}")


class _Kernels(TorchDispatchMode):
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _computed(func, args, kwargs or {})


class _Functions(TorchFunctionMode):
    """What torch does before it comes to a kernel."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in TO_NUMPY and isinstance(args[0], OnDevice):
            raise TypeError(f"can't convert {DEVICE} device type tensor to numpy. Use Tensor.cpu() first")
        if func in TO_LISTS and isinstance(args[0], OnDevice):
            return args[0].detach().cpu().tolist()
        if func is torch.Tensor.new_tensor and isinstance(args[0], OnDevice):
            return torch.tensor(*args[1:], **{"dtype": args[0].dtype, "device": DEVICE, **kwargs})
        if func in FROM_NUMBERS:
            return _made(func, *args, **kwargs)
        if func is torch.Tensor.__setitem__ and isinstance(args[0], OnDevice) and isinstance(args[2], int | float):
            args[0].numbers[tree_map(_numbers, args[1])] = args[2]  # torch would write a number that has no place
            return None
        if func in PRODUCTS and not kwargs and sorted(each.ndim > 1 for each in args) == [False, True]:
            return _product_with_vector(*(reversed(args) if func is torch.Tensor.__rmatmul__ else args))
        return func(*args, **kwargs)


# torch takes the new axis away in place, which the tensor that is seen outside would not notice.
def _product_with_vector(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    return (left[None] @ right).squeeze(-2) if left.ndim == 1 else (left @ right[:, None]).squeeze(-1)


def _made(func: Callable[..., torch.Tensor], data: Any, **options: Any) -> torch.Tensor:
    """A copy of a tensor, or a tensor of numbers, where `device` says (default: where the data are)."""
    if isinstance(data, OnDevice):
        copy = data.detach().clone() if func is torch.tensor else data
        return copy.to(**{name: each for name, each in options.items() if name in ("dtype", "device")})
    asked = options.get("device")
    if asked is None or torch.device(asked).type != NAME:
        return func(data, **options)
    plain = {name: each for name, each in options.items() if name != "requires_grad"}
    made = func(data, **{**plain, "device": "cpu"}).to(DEVICE)
    return made.requires_grad_() if options.get("requires_grad") else made


@contextmanager
def pretend_device() -> Iterator[str]:
    """The name of a device that `compare` and the network layer take, as long as this lasts."""
    with pytest.MonkeyPatch.context() as patch, _Functions(), _Kernels():
        patch.setattr(bridge.limits.accepted, "DEVICES", (*bridge.limits.accepted.DEVICES, NAME))
        patch.setattr(torch.cuda, "get_device_name", lambda device: f"no {device}")
        yield NAME
