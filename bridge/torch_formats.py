"""Number formats and devices of torch by name."""

import torch

from bridge.formats import check_device, check_dtype
from symbolic.statements import UsageError


def torch_dtype(name: str) -> torch.dtype:
    """The dtype of that name. Raises UsageError with the names that exist."""
    check_dtype(name)
    found: torch.dtype = getattr(torch, name)
    return found


def torch_device(name: str) -> torch.device:
    """The device of that name. Raises UsageError if this machine has none."""
    check_device(name)
    try:
        device = torch.device(name)
    except RuntimeError:
        raise UsageError(f"device {name!r:.200} is not known; choose cpu or cuda") from None
    if device.type == "cpu" and device.index is not None:
        raise UsageError(f"device '{name}': there is one cpu; choose cpu")
    if device.type == "cuda" and not torch.cuda.is_available():
        raise UsageError(f"device '{name}' was asked for, but torch finds no CUDA device here; use --device cpu")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise UsageError(f"device '{name}' was asked for, but torch finds only {torch.cuda.device_count()} of its kind")
    return device
