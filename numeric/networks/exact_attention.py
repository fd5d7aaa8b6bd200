"""Attention weights in balls where masks leave keys out.

Shapes: B batch, Q queries, L tokens, V width of the values.
"""

import flint
import numpy as np
from jaxtyping import Bool
from torch import Tensor

from numeric.balls import BallArray, exact_softmax
from numeric.balls.conversion import ball_of, boxed
from numeric.networks.layers import Positions


def exact_masked_softmax(logits: BallArray, allowed: Bool[Tensor, "Q L"]) -> BallArray:
    """Softmax over the allowed keys, (B, Q, L); a query without any has weight 0 everywhere."""
    seen = allowed.cpu().numpy()
    weights = boxed([flint.arb(0)] * (len(logits) * seen.size), (len(logits), *seen.shape))  # (B, Q, L)
    rows = np.broadcast_to(logits.entries, weights.shape)
    for place in np.ndindex(*weights.shape[:2]):
        weights[place][seen[place[1]]] = exact_softmax(rows[place][seen[place[1]]].tolist())
    return BallArray.of_entries(weights)


def exact_causal_average(values: BallArray, positions: Positions) -> BallArray:
    """sum_j softmax_j(-slope (i - j - 1)) values_j over the keys j of i, by u_{i+1} = exp(-slope) u_i + values_i.

    Of values (B, L, V); 0 where a query sees no key.
    """
    ratio = (-ball_of(positions.slope)).exp()
    total, weight = values.entries[:, 0] * flint.arb(0), flint.arb(0)  # (B, V)
    averages = [total]  # of the keys before 1, 2, ..., L + 1
    for place in range(1, values.entries.shape[1] + 1):
        if place >= positions.first_key:
            total, weight = total * ratio + values.entries[:, place - 1], ratio * weight + 1
        averages.append(total / weight if place >= positions.first_key else total)
    return BallArray.of_entries(np.stack(averages[:-1] if positions.strict else averages[1:], axis=1))
