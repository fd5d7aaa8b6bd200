"""How many ReLUs the functions of a network take, each to an accuracy that is a letter of a bound."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import flint
import sympy as sp

from bridge.lowering.relu_sums import cells_for, relus_of
from numeric.balls import float_above
from symbolic.words.shown import brief


@dataclass(frozen=True)
class ReluTarget:
    """f, a function of `variable` on [-radius, radius] that a sum of ReLUs replaces to the accuracy of a letter.

    `bend` is at least sup |f''| there. Functions of one letter share its accuracy evenly.
    """

    accuracy: sp.Symbol
    function: sp.Expr
    variable: sp.Symbol
    radius: float
    bend: flint.arb

    __repr__ = brief


def relu_costs(functions: Sequence[ReluTarget], letters: Sequence[sp.Symbol]) -> dict[sp.Symbol, float]:
    """kappa = R sqrt(sup|f''| / 2), summed: the cells that an accuracy of 1 takes; 0 for a letter of no function.

    These are the `costs` of `accuracies_within`, of power 1/2.
    """
    costs = dict.fromkeys(letters, 0.0)
    for each in functions:
        costs[each.accuracy] += each.radius * float_above((each.bend / 2).sqrt()) if each.bend > 0 else 0.0
    return costs


def most_relus(functions: Sequence[ReluTarget], accuracies: Mapping[sp.Symbol, float]) -> int:
    """The most ReLUs that one of the functions takes; it may exceed MOST_RELUS.

    Raises UsageError as `cells_for`.
    """
    sharing = Counter(each.accuracy for each in functions)
    shares = (accuracies[each.accuracy] / sharing[each.accuracy] for each in functions)
    return max(_relus(each, eps) for each, eps in zip(functions, shares, strict=True))


def _relus(target: ReluTarget, eps: float) -> int:
    cells = cells_for(target.function, target.variable, target.radius, eps)
    return relus_of(target.function, target.variable, target.radius, cells)
