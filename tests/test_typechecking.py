"""The checks of types and shapes are on, in functions that name a shape and in those that do not."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from beartype.roar import BeartypeCallHintViolation
from jaxtyping import Float, TypeCheckError
from torch import Tensor

from bridge.budget import Budget
from numeric.attention import kernel_dtype, masked_softmax
from tests.typechecking import names_a_shape

SHAPED = Float[Tensor, "B L"]


def test_one_letter_is_one_size_in_all_arguments_of_a_call() -> None:
    allowed = torch.ones(3, 4, dtype=torch.bool)
    assert masked_softmax(torch.zeros(2, 3, 4), allowed).shape == (2, 3, 4)
    with pytest.raises(TypeCheckError, match="allowed"):
        masked_softmax(torch.zeros(2, 3, 5), allowed)


@pytest.mark.parametrize(
    "call", [lambda: kernel_dtype("float64"), lambda: Budget(1, 0, 1, 0.5)], ids=["numeric", "bridge"]
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
