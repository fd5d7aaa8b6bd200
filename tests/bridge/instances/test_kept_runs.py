"""What runs gave is found again at the same input and settings, and at no other."""

import torch

from bridge.instances.inputs import MOST, KeptRuns


def test_what_is_put_in_is_found_at_this_input_with_these_settings_alone() -> None:
    kept: KeptRuns[int] = KeptRuns()
    kept.at({"x": torch.ones(1, 2, dtype=torch.float64)}, 64)["out"] = 1
    assert kept.at({"x": torch.ones(1, 2, dtype=torch.float64)}, 64) == {"out": 1}
    assert kept.at({"x": torch.ones(1, 2, dtype=torch.float64)}, 128) == {}
    assert kept.at({"x": torch.zeros(1, 2, dtype=torch.float64)}, 64) == {}
    assert kept.at({"x": torch.ones(1, 2, dtype=torch.bfloat16)}, 64) == {"out": 1}


def test_no_more_inputs_are_kept_than_a_few() -> None:
    kept: KeptRuns[int] = KeptRuns()
    for place in range(MOST + 1):
        kept.at({"x": torch.tensor([float(place)], dtype=torch.float64)})["out"] = place
    assert kept.at({"x": torch.tensor([0.0], dtype=torch.float64)}) == {}
    assert kept.at({"x": torch.tensor([float(MOST)], dtype=torch.float64)}) == {"out": MOST}


def test_the_input_asked_for_last_stays() -> None:
    kept: KeptRuns[int] = KeptRuns(2)
    first, second, third = ({"x": torch.tensor([value], dtype=torch.float64)} for value in (1.0, 2.0, 3.0))
    for place, each in enumerate((first, second)):
        kept.at(each)["out"] = place
    assert kept.at(first) == {"out": 0}
    assert kept.at(third) == {}
    assert kept.at(first) == {"out": 0}
    assert kept.at(second) == {}
