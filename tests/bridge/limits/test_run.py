"""A run and its format: what is asked for, in one object; the one place where numbers become tensors."""

import pytest
import torch

from bridge.limits.run import CPU, ONE_INPUT, Format, Run, torch_device
from symbolic.words.errors import UsageError


def test_one_input_is_measured_in_float64_without_an_attack() -> None:
    assert Run() == ONE_INPUT == Run(samples=1, attack=0, restarts=0, seed=0, format=Format(torch.float64, CPU))
    assert Run(8, 100, 12, 3).without_attack() == Run(8, 0, 0, 3)


@pytest.mark.parametrize("name", ["float64", "float32", "bfloat16", "float16"])
def test_numbers_become_tensors_of_the_format(name: str) -> None:
    format = Format.named(name)
    assert format.name == name
    assert format.tensor(0.1).dtype == getattr(torch, name)
    assert format.wide.tensor(0.1).item() == 0.1
    assert {each.dtype for each in format.each({"x": torch.ones(2, dtype=torch.float64)}).values()} == {format.dtype}
    assert format.place({"i": torch.ones(2, dtype=torch.int64)})["i"].dtype == torch.int64
    assert format.names == {"dtype": name, "device": "cpu"}
    assert format.described == "cpu"


def test_the_settings_are_those_that_functions_take_by_name() -> None:
    assert Run(8, 100, 12, 3, Format.named("float32")).settings == {
        "samples": 8, "attack": 100, "restarts": 12, "seed": 3, "dtype": "float32", "device": "cpu",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("dtype", "device", "message"),
    [
        ("float8", "cpu", "dtype 'float8' is not known; choose one of float64, float32, bfloat16, float16"),
        ("float64", "tpu", "device 'tpu' is not known; choose cpu or cuda"),
        ("float64", "cpu:1", "there is one cpu; choose cpu"),
        ("float64", "cuda:x", "device 'cuda:x' is not known; choose cpu or cuda"),
    ],
)
def test_what_is_not_known_is_refused(dtype: str, device: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Format.named(dtype, device)


def test_a_device_that_the_machine_has_not_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(UsageError, match="torch finds no CUDA device here; use --device cpu"):
        torch_device("cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    assert torch_device("cuda:0") == torch.device("cuda:0")
    with pytest.raises(UsageError, match="torch finds only 1 of its kind"):
        torch_device("cuda:1")
