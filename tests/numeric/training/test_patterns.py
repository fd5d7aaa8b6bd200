"""Where heads attend: patterns of models and constructions by hand, what two of them share, refusals."""

import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn

from bridge.questions.constructed import ConstructedInductionHead, StartedAtConstruction
from numeric.training.errors import TrainingError
from numeric.training.models import Architecture, LinearArchitecture, LinearAttentionLayer, StandardTransformer, seeded
from numeric.training.patterns import attention_overlap, attention_patterns
from numeric.training.sequences import InductionHeadTask
from numeric.training.tasks import HELD_OUT, LinearRegression

TASK = InductionHeadTask(d=2, length=6)
SIZES = Architecture(width=8, heads=2, layers=1)
FIRST, SECOND = "layer 1, head 1", "layer 2, head 1"


def head(p: float) -> nn.Module:
    return StartedAtConstruction(ConstructedInductionHead(p=p, similarity=8.0), TASK.form)


def uniform(**sizes: Any) -> nn.Module:
    """A model whose scores are 0."""
    model = seeded(lambda: StandardTransformer(replace(SIZES, **sizes), TASK.form), 0)
    with torch.no_grad():
        for each in model.modules():
            if hasattr(each, "query_key_value"):
                each.query_key_value.weight.zero_()
                each.query_key_value.bias.zero_()
    return model


def test_the_patterns_are_what_forward_averages() -> None:
    model = seeded(lambda: StandardTransformer(replace(SIZES, positions="none"), TASK.form), 3)
    tokens = TASK.batch(4, 0, 0, HELD_OUT).tokens
    (found,) = attention_patterns(model, tokens)
    block = model.stack[0]  # type: ignore[index, union-attr]
    x = block.attention_norm(model.read(tokens))  # type: ignore[operator, union-attr]
    values = block.attention.query_key_value(x)[..., 16:].unflatten(-1, (2, 4)).transpose(1, 2)  # (B, h, L, K)
    by_hand = block.attention.output((found @ values).transpose(1, 2).flatten(2))
    assert torch.allclose(by_hand, block.attention(x), atol=1e-6)


def test_a_head_that_attends_to_the_token_before_shares_a_uniform_ones_weight_there() -> None:
    shared = attention_overlap(uniform(), head(p=60.0), TASK, 8)
    assert shared.keys() == {FIRST, SECOND}
    # The query i = 2 .. 6 (1-based) sees a token before it, and the uniform model gives it 1 / i.
    assert shared[FIRST][FIRST] == pytest.approx(sum(1 / i for i in range(2, 7)) / 5, rel=1e-6)
    assert shared[FIRST].keys() == {FIRST, "layer 1, head 2"}


def test_the_second_layer_is_compared_at_its_last_token_with_the_softmax_by_hand() -> None:
    batch = TASK.batch(8, 0, 0, HELD_OUT, torch.float64)
    x = batch.tokens
    law = torch.softmax(8.0 * (x[:, -1:] @ x[:, :-2].mT)[:, 0], -1)  # (B, L - 2), of the tokens 2 .. L - 1
    least = torch.minimum(law, torch.tensor(1 / 6, dtype=torch.float64, device="cpu")).sum(-1).mean()
    found = attention_overlap(uniform(), head(p=60.0), TASK, 8)[SECOND][FIRST]
    assert found == pytest.approx(float(least), abs=1e-6)


def test_a_model_shares_all_with_itself_and_alibi_the_sum_of_minima() -> None:
    same = attention_overlap(head(8.0), head(8.0), TASK, 8)
    assert (same[FIRST][FIRST], same[SECOND][SECOND]) == pytest.approx((1.0, 1.0))
    found = attention_overlap(uniform(positions="alibi"), uniform(), TASK, 2)[FIRST][FIRST]
    sums = []
    for i in range(1, 7):
        weights = [math.exp(-(2.0**-4) * (i - j)) for j in range(1, i + 1)]
        sums.append(sum(min(each / sum(weights), 1 / i) for each in weights))
    assert found == pytest.approx(sum(sums) / 6, rel=1e-6)


def test_models_of_two_number_formats_are_compared_at_the_same_prompts() -> None:
    one = head(8.0)
    for pair in ((one, head(8.0).float()), (head(8.0).float(), one)):
        found = attention_overlap(*pair, TASK, 8)
        assert (found[FIRST][FIRST], found[SECOND][SECOND]) == pytest.approx((1.0, 1.0), abs=1e-5)


LINEAR = LinearRegression(d=2, examples=5, joined=True)


@pytest.mark.parametrize(
    ("models", "message"),
    [
        (
            (seeded(lambda: StandardTransformer(replace(SIZES, attention="relu"), TASK.form), 0), uniform()),
            "weights are no distribution; give models with softmax attention",
        ),
        ((LinearAttentionLayer(LinearArchitecture(), LINEAR.form), uniform()), "a model without attention layers"),
    ],
)
def test_refusals(models: Any, message: str) -> None:
    task = LINEAR if isinstance(models[0], LinearAttentionLayer) else TASK
    with pytest.raises(TrainingError, match=message):
        attention_overlap(*models, task, 4)


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("other", ["model", "construction"])
def test_models_of_another_task_are_refused(place: int, other: str) -> None:
    wide = InductionHeadTask(d=3, length=6)
    made = {
        "model": lambda: StandardTransformer(SIZES, wide.form),
        "construction": lambda: StartedAtConstruction(ConstructedInductionHead(), wide.form),
    }
    models = [uniform(), uniform()]
    models[place] = seeded(made[other], 0)
    message = "a model of another task: inputs 3 in the model and 2 in the task, outputs 3 .* and 2 .*; give a model of"
    with pytest.raises(TrainingError, match=message):
        attention_overlap(*models, TASK, 4)


def test_models_of_other_tokens_are_refused() -> None:
    longer = InductionHeadTask(d=2, length=9)

    class Cut(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = uniform()

        def forward(self, tokens: torch.Tensor) -> torch.Tensor:
            return self.model(tokens[:, 3:])

    with pytest.raises(TrainingError, match=r"of the two: \[6\] and \[9\]; give two models that read the same tokens"):
        attention_overlap(Cut(), seeded(lambda: StandardTransformer(SIZES, longer.form), 0), longer, 4)
