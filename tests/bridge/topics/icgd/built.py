"""What the theorems of in-context gradient descent build at a point, by name."""

from typing import Any

from torch import Tensor

from bridge.instances.instance import Instance
from bridge.limits.run import Format, Run
from bridge.theorems.registry import find_theorem
from bridge.topics.icgd.chain import Chain
from bridge.topics.icgd.emulation import Emulation
from bridge.topics.icgd.setting import StepSetting
from symbolic.statements.result import Quantity


def instance_at(id: str, *, dtype: str = "float64", **params: Any) -> Instance:
    return Instance.of(find_theorem(id), params, Run(format=Format.named(dtype)))


def prompt_bounds(instance: Instance, quantity: Quantity, inputs: dict[str, Tensor], scope: str) -> Tensor:
    """On tensors, at each of the prompts."""
    return instance.on_tensors.at([quantity], inputs, scope)[quantity.name]


def setting_of(instance: Instance) -> StepSetting:
    found = instance.known.built["setting"]
    assert isinstance(found, StepSetting)
    return found


def emulation_of(instance: Instance) -> Emulation:
    found = instance.known.built["emulation"]
    assert isinstance(found, Emulation)
    return found


def chain_of(instance: Instance) -> Chain:
    found = instance.known.built["chain"]
    assert isinstance(found, Chain)
    return found
