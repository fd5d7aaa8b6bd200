"""Where the heads of a trained model attend, beside those of a construction.

Shapes: B prompts, L tokens, Q queries (the last ones of the tokens), h heads.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from numeric.networks.network import AttentionLayer
from numeric.training.comparing import tokens_for
from numeric.training.errors import require
from numeric.training.models import CausalAttention
from numeric.training.tasks import HELD_OUT, LearningTask

ROUNDING = 1e-4  # of a sum of weights


def attention_patterns(model: nn.Module, tokens: Tensor) -> list[Float[Tensor, "B h Q L"]]:
    """The weights of each attention layer, in the order in which they run: a layer in a loop once for each loop."""
    found: list[Tensor] = []

    def note(module: nn.Module, given: tuple[Any, ...]) -> None:
        if isinstance(module, AttentionLayer):
            x, first = given
            heads = [module.head(name) for name in module.names]
            found.append(torch.stack([head.weights(x, first, x.shape[1]) for head in heads], 1))
        elif isinstance(module, CausalAttention):
            found.append(module.pattern(given[0]))

    hooks = [each.register_forward_pre_hook(note) for each in model.modules()]
    try:
        with torch.no_grad():
            model(tokens)
    finally:
        for hook in hooks:
            hook.remove()
    return found


# Of two distributions a and c over the keys, sum_j min(a_j, c_j) = 1 - (1/2) sum_j |a_j - c_j|, since
# min(a, c) = (a + c - |a - c|) / 2: one less the total variation. It is 1 for equal ones alone; where c is one key, it
# is the weight of a on it; where c is uniform on a set, at most the weight of a on the set.


def attention_overlap(
    model: nn.Module, other: nn.Module, task: LearningTask, prompts: int = 256
) -> dict[str, dict[str, float]]:
    """Of each head of `other` (a construction, say) and each of the model: the mean of sum_j min(a_j, c_j).

    a_j and c_j are their weights at one query: of a head that attends to one token it is the model's weight there, and
    1 means equal attention everywhere. The mean is over held-out prompts and the queries that both heads answer and
    that see a key. Heads are named by layer and place, layers by the order in which they run.

    Raises TrainingError for attention whose weights are no distribution (linear, ReLU), for a model without attention,
    for models that read another number of tokens, and for one of another task.
    """
    tokens = task.batch(prompts, 0, 0, HELD_OUT, torch.float64).tokens  # the same for both
    patterns = [_by_head(attention_patterns(each, tokens_for(each, task.form, tokens))) for each in (model, other)]
    lengths = [{each.shape[-1] for each in heads.values()} for heads in patterns]
    differ = f"tokens in the attention of the two: {' and '.join(str(sorted(each)) for each in lengths)}"
    require(lengths[0] == lengths[1] and len(lengths[0]) == 1, differ, "give two models that read the same tokens")
    return {
        name: {own: _overlap(mine, theirs) for own, mine in patterns[0].items()} for name, theirs in patterns[1].items()
    }


def _by_head(layers: list[Tensor]) -> dict[str, Float[Tensor, "B Q L"]]:
    require(bool(layers), "a model without attention layers", "give one that has heads of softmax attention")
    for weights in layers:
        sums = weights.sum(-1)
        is_law = bool((weights >= 0).all()) and bool((((sums - 1).abs() < ROUNDING) | (sums == 0)).all())
        require(is_law, "attention whose weights are no distribution", "give models with softmax attention")
    return {
        f"layer {layer}, head {head}": weights[:, head - 1].double()
        for layer, weights in enumerate(layers, start=1)
        for head in range(1, weights.shape[1] + 1)
    }


def _overlap(one: Float[Tensor, "B Q L"], other: Float[Tensor, "B P L"]) -> float:
    queries = min(one.shape[1], other.shape[1])
    one, other = one[:, -queries:], other[:, -queries:]
    seen = (one.sum(-1) > 0) & (other.sum(-1) > 0)  # (B, Q)
    return float(torch.minimum(one, other).sum(-1)[seen].mean())
