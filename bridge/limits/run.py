"""What a run is asked for: how many inputs, how long an attack, by which seed, in which format and where."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from bridge.limits.accepted import DTYPES, check_device, check_dtype
from symbolic.words.errors import UsageError

CPU = torch.device("cpu")
SETTINGS = frozenset({"samples", "attack", "restarts", "seed", "dtype"})  # of a run that a table depends on
BLOCK = 64  # inputs measured at once, so that memory stays bounded
# What each number format holds, by its name.
INFO = {name: torch.finfo(getattr(torch, name)) for name in DTYPES}
FORMATS = {name: 1 - round(math.log2(info.eps)) for name, info in INFO.items()}  # bits of a significand
SUMMED = {name: max(bits, FORMATS["float32"]) for name, bits in FORMATS.items()}  # half formats add up in float32


@dataclass(frozen=True)
class Format:
    """A dtype on a device: the one place where numbers of a run become tensors."""

    dtype: torch.dtype = torch.float64
    device: torch.device = CPU

    @classmethod
    def named(cls, dtype: str = "float64", device: str = "cpu") -> "Format":
        """Raises UsageError for a name that is not known, and for a device that this machine has not."""
        check_dtype(dtype)
        return cls(getattr(torch, dtype), torch_device(device))

    def tensor(self, value: Any) -> Tensor:
        return torch.as_tensor(value, dtype=self.dtype, device=self.device)

    def each(self, named: Mapping[str, Tensor]) -> dict[str, Tensor]:
        return {name: value.to(self.device, self.dtype) for name, value in named.items()}

    def place(self, named: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """On the device, in the dtypes that they have."""
        return {name: value.to(self.device) for name, value in named.items()}

    @property
    def wide(self) -> "Format":
        """float64 at the same place: bounds, references and attacks."""
        return replace(self, dtype=torch.float64)

    @property
    def name(self) -> str:
        return str(self.dtype).removeprefix("torch.")

    @property
    def described(self) -> str:
        """The device with the name of its model."""
        if self.device.type != "cuda":
            return str(self.device)
        return f"{self.device} ({torch.cuda.get_device_name(self.device)})"

    @property
    def names(self) -> dict[str, str]:
        """As a theorem's functions take them."""
        return {"dtype": self.name, "device": str(self.device)}


@dataclass(frozen=True)
class Run:
    """Samples, attack steps and restarts at each point of a grid; the seed of all that is drawn; the format."""

    samples: int = 1
    attack: int = 0
    restarts: int = 0
    seed: int = 0
    format: Format = Format()

    def without_attack(self) -> "Run":
        return replace(self, attack=0, restarts=0)

    @property
    def settings(self) -> dict[str, Any]:
        """By the names that the functions of a check take."""
        return {
            "samples": self.samples, "attack": self.attack, "restarts": self.restarts, "seed": self.seed,
            **self.format.names,
        }  # fmt: skip


ONE_INPUT = Run()


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
