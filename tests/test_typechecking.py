"""The checks of types and shapes are on, in functions that name a shape and in those that do not."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from beartype import beartype
from beartype.roar import BeartypeCallHintViolation
from jaxtyping import Float, TypeCheckError
from torch import Tensor

from bridge.limits.run import Run
from numeric.networks.attention import kernel_dtype, masked_softmax
from tests.typechecking import _by_need, kind_of, names_a_shape, written_once

SHAPED = Float[Tensor, "B L"]


def test_one_letter_is_one_size_in_all_arguments_of_a_call() -> None:
    allowed = torch.ones(3, 4, dtype=torch.bool)
    assert masked_softmax(torch.zeros(2, 3, 4, dtype=torch.float64), allowed).shape == (2, 3, 4)
    with pytest.raises(TypeCheckError, match="allowed"):
        masked_softmax(torch.zeros(2, 3, 5, dtype=torch.float64), allowed)


@pytest.mark.parametrize(
    "call", [lambda: kernel_dtype("float64"), lambda: Run(1, 0, 1, 0.5)], ids=["numeric", "bridge"]
)
def test_types_are_checked_where_no_shape_is_named(call: Callable[[], Any]) -> None:
    with pytest.raises(BeartypeCallHintViolation):
        call()


@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        (SHAPED, True),
        (SHAPED | None, True),
        (dict[str, list[SHAPED]], True),
        (Callable[[SHAPED], float], True),
        (Callable[[int], SHAPED], True),
        ("in quotes", True),
        (Tensor, False),
        (Callable[..., Tensor] | None, False),
        (None, False),
    ],
    ids=str,
)
def test_shapes_are_found_wherever_they_stand_in_a_hint(hint: Any, expected: bool) -> None:
    assert names_a_shape(hint) is expected


def checked(answer: Callable[[Tensor], object]) -> Callable[..., object]:
    def function(x: Float[Tensor, "n d"], scale: float = 1.0) -> Float[Tensor, "d n"]:
        return answer(x)

    return _by_need(function, typechecker=beartype)


def test_after_a_call_that_passes_calls_of_other_kinds_are_checked() -> None:
    function = checked(lambda x: x.T)
    for _ in range(3):
        assert function(torch.zeros(2, 3, dtype=torch.float64)).shape == (3, 2)
    for wrong in (torch.zeros(2, 3, dtype=torch.int64), torch.zeros(3, dtype=torch.float64), None):
        with pytest.raises(TypeCheckError):
            function(wrong)
    with pytest.raises(TypeCheckError):
        function(torch.zeros(2, 3, dtype=torch.float64), scale="1")


def test_a_result_of_another_kind_is_checked_where_the_arguments_are_as_before() -> None:
    answers = [
        torch.zeros(3, 2, dtype=torch.float64),
        torch.zeros(3, 2, dtype=torch.float64),
        torch.zeros(2, 2, dtype=torch.float64),
    ]
    function = checked(lambda x: answers.pop(0))
    for _ in range(2):
        function(torch.zeros(2, 3, dtype=torch.float64))
    with pytest.raises(TypeCheckError, match="return value"):
        function(torch.zeros(2, 3, dtype=torch.float64))


def test_the_kind_is_all_that_a_check_can_depend_on() -> None:
    same = [{"x": torch.zeros(2, 3, dtype=torch.float64)}, {"x": torch.ones(2, 3, dtype=torch.float64)}]
    other = [
        {"y": torch.zeros(2, 3, dtype=torch.float64)},
        {"x": torch.zeros(3, 2, dtype=torch.float64)},
        {"x": torch.zeros(2, 3, dtype=torch.float32)},
        {},
    ]
    assert len({kind_of(each) for each in same}) == 1
    assert len({kind_of(each) for each in (*same, *other)}) == 5
    assert kind_of([0.0] * 1000) is None


def test_each_function_of_one_def_is_checked_and_calls_its_own() -> None:
    def outer(k: int) -> Callable[[int], int]:
        def inner(n: int) -> int:
            return n + k

        return written_once(inner, beartype)

    first, second = outer(1), outer(2)
    assert first.__code__ is second.__code__
    assert (first(1), second(1)) == (2, 3)
    for function in (first, second):
        with pytest.raises(BeartypeCallHintViolation):
            function("1")
