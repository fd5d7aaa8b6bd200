"""No number depends on torch's default dtype: with one of 8 bits the rows of a comparison are the same."""

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch

import boundsmith as bs
from symbolic.statements.catalogue import results

EXAMPLES = Path(__file__).parents[3] / "examples"
FEW = {"samples": 8, "attack": 4, "restarts": 2}
QUICK = ("looped.linearised", "universal.covering")
NONE = "no effect on any row"


@contextmanager
def another_default() -> Iterator[None]:
    torch.set_default_dtype(torch.bfloat16)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


def rows(theorem: object, **settings: int) -> list[dict[str, object]]:
    return [row.model_dump(exclude={"seconds"}) for row in bs.compare(theorem, **settings).rows]


def own_theorem() -> object:
    spec = importlib.util.spec_from_file_location("own_theorem", EXAMPLES / "own_theorem.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.own


def same_in_both(theorem: object) -> None:
    settings = dict(FEW)
    try:
        expected = rows(theorem, **settings)
    except bs.UsageError as error:
        assert NONE in str(error)  # noqa: PT017 - the other results run with these settings
        settings = {}
        expected = rows(theorem)
    with another_default():
        found = rows(theorem, **settings)
    assert found == expected


def test_the_rows_of_an_own_theorem_do_not_depend_on_the_default() -> None:
    same_in_both(own_theorem())


@pytest.mark.parametrize("id", QUICK)
def test_the_rows_of_some_results_do_not_depend_on_the_default(id: str) -> None:
    same_in_both(id)


@pytest.mark.long
@pytest.mark.parametrize("id", [id for id in results() if id not in QUICK])
def test_the_rows_of_no_result_depend_on_the_default(id: str) -> None:
    same_in_both(id)


# About half of these seeds draw a matrix whose norm float32 rounds down.
def test_every_row_of_a_prompt_of_the_tutorial_is_kept() -> None:
    own = own_theorem()
    for seed in range(6):
        prompts = [row for row in bs.compare(own, seed=seed, **FEW).rows if (row.scope or "").startswith("prompt")]
        assert len(prompts) == 4
        assert [row.verdict for row in prompts] == [{"instance": bs.Verdict.KEPT}] * 4, f"seed {seed}"
