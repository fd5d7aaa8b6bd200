"""What the theorems of in-context gradient descent build at a point, by name."""

from typing import Any

from bridge.icgd.chain import Chain
from bridge.icgd.emulation import Emulation
from bridge.icgd.setting import StepSetting
from bridge.limits.run import Format, Run
from bridge.registry import find_study
from bridge.theorem_case import TheoremCase


def case_at(id: str, *, dtype: str = "float64", **params: Any) -> TheoremCase:
    case = find_study(id).case(params, Run(format=Format.named(dtype)))
    assert isinstance(case, TheoremCase)
    return case


def setting_of(case: TheoremCase) -> StepSetting:
    found = case.known.built["setting"]
    assert isinstance(found, StepSetting)
    return found


def emulation_of(case: TheoremCase) -> Emulation:
    found = case.known.built["emulation"]
    assert isinstance(found, Emulation)
    return found


def chain_of(case: TheoremCase) -> Chain:
    found = case.known.built["chain"]
    assert isinstance(found, Chain)
    return found
