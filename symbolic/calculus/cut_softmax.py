"""Rule 6 for attention that sees some keys only: those of a window, or the ones with the largest scores."""

from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from symbolic.calculus.softmax import APART
from symbolic.calculus.sums import OF_WEIGHTS
from symbolic.derivations.derivation import Approximated, DerivationError, Norm, as_expr, rule_step
from symbolic.derivations.obligations import at_most, nonnegative, whole
from symbolic.derivations.operations import Handle, Operation, unnamed


@dataclass(frozen=True)
class CutSoftmax(Operation):
    """softmax of the scores, and that of some keys in its place: those where `kept` is 1, or the `most` largest.

    At the approximate scores the other keys have the weight `lost` at most.
    """

    kept: Handle
    most: sp.Expr | None
    lost: sp.Expr = field(compare=False)


# Let q = softmax(s_hat), S the kept keys and mu = 1 - q(S). The cut weights are q_i / q(S) in S and 0 elsewhere, so
# that
#   ||cut - q||_1 = q(S) (1 / q(S) - 1) + mu = 2 mu,
# whatever S depends on; and ||q - softmax(s)||_1 is at most that of rule `softmax`. Equality: exact scores, any S.
# The k largest of n weights add up to at least k / n: mu <= 1 - k / n. Equality: equal scores.
def cut_softmax(
    scores: Approximated,
    name: str,
    *,
    lost: Any,
    kept: str = "",
    most: Any = None,
    affine: bool = False,
    reason: str = "",
) -> Approximated:
    """softmax over the keys that are kept, at the approximate scores, against that over all keys, in the 1-norm.

    `lost` bounds the weight that softmax of the approximate scores gives to the keys left out; of the `most` largest,
    1 - most / n always does. `kept` is the handle of a mask, 1 for a key that is kept and 0 for another. `affine` as in
    `softmax`. Obligations: at least one key is kept, and no more than there are.
    """
    if most is not None and kept:
        raise DerivationError(f"cut_softmax: '{name}' has both kept= and most=; give one of them")
    lost, count = as_expr(lost), None if most is None else as_expr(most)
    moved = APART[scores.norm] * scores.error_symbol / 4
    of_all = OF_WEIGHTS[Norm.ONE] * (moved if affine else sp.tanh(moved))
    step = rule_step(
        name,
        Norm.ONE,
        "cut softmax",
        2 * lost + of_all,
        reason=reason or "since the keys left out lose their weight, which the others gain, and by the rule of softmax",
        obligations=(
            *nonnegative("cut_softmax", name, lost=lost),
            *(() if count is None else whole("cut_softmax", name, least=1, most=count)),
            *(() if count is None else (at_most(f"there are as many keys as '{name}' keeps", count, scores.dim),)),
        ),
        sharp=False,
        operation=CutSoftmax(kept, count, lost) if kept or count is not None else unnamed("kept", "most"),
    )
    return scores.follows(step, dim=scores.dim, size=sp.Integer(1), probabilities=True)
