"""Appendix H at the rows of a table: a mixture is fitted to them, and the examples are rows."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bridge.theorems.data import Table
from bridge.theorems.sources.sample import Sample
from bridge.theorems.theorem import Theorem
from bridge.topics.tools.fitted_mixtures import fit_by_components, fitted_mixture
from bridge.topics.tools.sampled_scores import weights_of
from symbolic.statements.result import Quantity
from symbolic.topics.icgd.diffusion import DIFFUSION
from symbolic.words.prose import marked

FITTED = "the mixture that is fitted to the rows of the table, under the Ornstein-Uhlenbeck process"
NOT_OF_ROWS = "`p_(T_0)` is the law of the fitted mixture after that time of noise, not that of the rows"


def fitted(weights: str, n: int, data: Table, seed: int) -> dict[str, Any]:
    """As many components as there are `weights`."""
    found = fitted_mixture(data, len(weights_of(DIFFUSION.id, weights)), seed)
    return {"weights": found.weights, "s": found.s, "means": found.means, "draws": found.numbers(n, seed)}


def at_fitted(theorem: Theorem) -> Theorem:
    """The same, with words that say of what law the bounds are."""
    own = theorem.at_point.quantities
    assert own is not None  # one of the statement's needs d

    def quantities(d: int) -> Sequence[Quantity]:
        *others, variation = (replace(each, domain=FITTED) for each in own(d))
        return [*others, replace(variation, meaning=f"{marked(variation.meaning)}; {NOT_OF_ROWS}")]

    return theorem.with_at_point(quantities=quantities)


TABLE = Sample(
    *("n", "d"),
    fitted=("s",),
    usual=200,
    dimensions=2,
    longest=10_000,  # are fitted in seconds
    implied=fitted,
    instead=at_fitted,
    tables=(lambda data, weights, seed: fit_by_components(data, len(weights), seed),),
)
