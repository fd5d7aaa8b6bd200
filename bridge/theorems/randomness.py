"""What a theorem holds with probability over: weights and inputs that are drawn."""

from collections.abc import Sequence

from bridge.domains import Domain
from bridge.limits.arguments import arguments_of
from bridge.theorems.theorem_data import TheoremData
from symbolic.derivations.events import total_failure
from symbolic.statements.result import Kind, Quantifier, Quantity
from symbolic.words.errors import UsageError


def require_randomness(theorem: TheoremData, quantities: Sequence[Quantity]) -> None:
    """What these quantities hold with probability over is drawn: a weight or an input. Raises UsageError."""
    wrong = [words for each in quantities for words in _unjudged(theorem, each)]
    named = {over for each in quantities for over in each.over}
    wrong += [f"`random` has {over}, over which no quantity holds" for over in theorem.random if over not in named]
    if wrong:
        raise UsageError(f"{theorem.id}: {'; '.join(wrong)}")


def _unjudged(theorem: TheoremData, quantity: Quantity) -> list[str]:
    """Why the quantity cannot be judged by draws."""
    drawn, name = {**theorem.weights, **theorem.inputs}, quantity.name
    if not quantity.over:
        return [f"'{name}' holds {quantity.quantifier}, but names no randomness; say over what, and which weight it is"]
    if quantity.kind is not Kind.UPPER:
        return [f"'{name}' holds {quantity.quantifier} and is not an upper bound; give a check that judges it"]
    if quantity.quantifier is Quantifier.PROBABILITY and quantity.may_fail is None:
        return [f"'{name}' holds with probability, but nothing says with which; give failure="]
    if quantity.failure is not None and (total_failure(quantity.events) - quantity.failure).is_positive:
        return [
            f"'{name}' states a probability of failure of {quantity.failure}, but the events of its derivation add up "
            f"to {total_failure(quantity.events)}; leave failure= out, or choose the shares (within_budget)"
        ]
    unknown = [each for each in theorem.random_names(quantity) if each not in drawn]
    if unknown:
        return [
            f"'{name}' holds {quantity.quantifier} over {', '.join(unknown)}, which is not a weight or input; name "
            f"those that are drawn, random={{{unknown[0]!r}: ...}}, among {', '.join(drawn) or 'none'}"
        ]
    return [
        f"the weight {each} is the randomness of '{name}', but its function takes no seed"
        for each in theorem.random_names(quantity)
        if not isinstance(function := drawn[each], Domain) and "seed" not in arguments_of(function)
    ]
