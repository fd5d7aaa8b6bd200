"""Tensors of numbers name dtype and device: no number depends on torch's defaults, which belong to the user.

A number that passes through the default dtype, float32, loses nine of its digits; the tests run with that default.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PRODUCT = ("symbolic", "numeric", "bridge", "examples")
CREATE = {
    *("tensor", "zeros", "ones", "full", "empty", "eye", "arange", "range", "linspace", "logspace", "scalar_tensor"),
    *("rand", "randn", "randint", "randperm", "normal", "as_tensor", "asarray", "tril_indices", "triu_indices"),
    *("bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window", "empty_strided"),
}  # `x.new_*` and `torch.*_like` take both from x; `from_numpy` takes the dtype of the array, on the CPU
DEFAULTS = {"set_default_dtype", "get_default_dtype", "set_default_device", "get_default_device"}
OLD = {"Tensor", "FloatTensor", "DoubleTensor", "set_default_tensor_type"}  # called, they take the default dtype
NUMBERS = ast.Constant | ast.UnaryOp
NO_DEVICE = {
    "bridge/instances/known.py: _float64": "weights that are tensors keep their device",
    "bridge/judging/stated.py: Stated": "tensors of the theorem keep their device",
    "bridge/topics/machines/turing_leak.py: measured_leak": "scores and values keep the device of the run",
    "bridge/readings/operands.py: _single": "numbers and arrays; a tensor is converted beside it",
    "bridge/theorems/sources/tabular.py: Tabular": "tensors that the prompt of a table makes keep their device",
    "bridge/theorems/sources/textual.py: Textual": "tensors that the prompt of a text makes keep their device",
    "bridge/questions/steps.py: _prompt": "tensors that a user gives keep their device",
    "examples/sample_mean.py: ": "random whole numbers, on the device of their generator",
    "numeric/search/attack.py: box_project": "the ends go to the device of what is projected",
}
NO_DTYPE = {
    "examples/sample_mean.py: ": "random whole numbers",
    "bridge/lowering/torch_backend.py: _converted": "arrays keep the dtype that the user gave them",
}


def sources(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def complaints(source: str) -> Iterator[tuple[str, int, str]]:
    """The outermost function or class, the line, and what is missing of each tensor that is made of numbers."""
    for statement in ast.parse(source).body:
        for node in ast.walk(statement):
            for what in missing(node):
                yield getattr(statement, "name", ""), node.lineno, what


def missing(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.ImportFrom) and node.module == "torch":
        yield from (f"imports torch.{each.name}" for each in node.names if each.name in CREATE | DEFAULTS)
    if not (isinstance(node, ast.Call) and is_of_torch(node.func)):
        return
    name, named = node.func.attr, {keyword.arg for keyword in node.keywords}
    if name in CREATE:
        yield from (f"torch.{name} without {each}" for each in ("dtype", "device") if each not in named)
    if name in DEFAULTS | OLD:
        yield f"torch.{name}"
    if name == "where" and len(node.args) == 3 and all(isinstance(each, NUMBERS) for each in node.args[1:]):
        yield "torch.where of two numbers"


def is_of_torch(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and ast.unparse(function.value) == "torch"


def is_allowed(where: str, what: str) -> bool:
    return (where in NO_DEVICE and what.endswith("without device")) or (where in NO_DTYPE and what.endswith("dtype"))


def found_in(paths: list[Path]) -> list[tuple[str, int, str]]:
    named = [(path.relative_to(ROOT).as_posix(), path.read_text()) for path in paths]
    return [(f"{path}: {name}", line, what) for path, text in named for name, line, what in complaints(text)]


def test_every_tensor_of_numbers_names_dtype_and_device() -> None:
    every = found_in(sources("boundsmith", *PRODUCT))
    assert [each for each in every if not is_allowed(each[0], each[2])] == []


def test_every_exception_is_needed() -> None:
    used = {where for where, _, what in found_in(sources(*PRODUCT)) if is_allowed(where, what)}
    assert used == {*NO_DEVICE, *NO_DTYPE}


def test_tests_and_benchmarks_leave_the_defaults_of_torch_alone() -> None:
    every = found_in(sources("tests", "benchmarks"))
    found = {where for where, _, what in every if what.removeprefix("torch.") in DEFAULTS | OLD}
    assert found == {"tests/bridge/questions/test_default_dtype.py: another_default"}  # which restores it


@pytest.mark.parametrize(
    ("planted", "expected"),
    [
        ("torch.tensor(0.1)", ["torch.tensor without dtype", "torch.tensor without device"]),
        ("torch.zeros(3, dtype=x.dtype)", ["torch.zeros without device"]),
        ("def f():\n    return torch.rand(3, generator=g, device='cpu')", ["torch.rand without dtype"]),
        ("torch.as_tensor(x)", ["torch.as_tensor without dtype", "torch.as_tensor without device"]),
        ("torch.set_default_dtype(torch.float64)", ["torch.set_default_dtype"]),
        ("torch.Tensor([1.0])", ["torch.Tensor"]),
        ("torch.where(x < 0, -1.0, 1)", ["torch.where of two numbers"]),
        ("from torch import Tensor, ones", ["imports torch.ones"]),
        ("torch.ones(2, dtype=torch.float64, device='cpu') + x.new_zeros(2) + torch.zeros_like(x)", []),
        ("torch.where(x < 0, x, 1.0) + torch.from_numpy(a)", []),
    ],
)
def test_a_planted_call_is_found(planted: str, expected: list[str]) -> None:
    assert [what for _, _, what in complaints(planted)] == expected
