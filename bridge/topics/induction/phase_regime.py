"""What Theorem 5.5 (wang2024) asks of a point: the conditions of its proofs, and which of them a point fails."""

from collections.abc import Callable
from typing import Any

from bridge.judging.laws import value_at
from bridge.theorems.numbers import plain, value_words
from symbolic.statements.paths import Point
from symbolic.topics.induction import phases_derivation as phases
from symbolic.topics.induction.training import check_flow


def known_flow(id: str) -> Callable[[dict[str, Any], int], dict[str, Any]]:
    """What resolves the parameters of a result. Raises UsageError for a flow that there is not."""

    def resolve(params: dict[str, Any], seed: int) -> dict[str, Any]:
        check_flow(params.get("flow", "true"), id)
        return params

    return resolve


def _letters_at(point: Point) -> str:
    return f"`L = {value_words(point['L'])}`, `sigma_init = {value_words(point['sigma_init'])}`"


def too_short(point: Point) -> str:
    """Which explicit condition of C.1 on L a point fails."""
    for condition in phases.LONG_ENOUGH:
        left = value_at(condition.lhs, point)
        if not left < condition.rhs:
            needed = f"`{str(condition.lhs).replace('**', '^')} < {plain(float(condition.rhs))}`"
            return (
                f"hypothesis `L = Omega(1/sigma_init)` is not met: C.1 Part I needs {needed}; here the left side is "
                f"{plain(left)}, at {_letters_at(point)}"
            )
    return ""


def too_wide(point: Point) -> str:
    """Whether a point fails C.2's explicit condition on w*."""
    left, right = value_at(phases.MODERATE.lhs, point), phases.MODERATE.rhs
    if left <= right:
        return ""
    return (
        f"hypothesis `w* = O(1)` of C.2 is not met: C.2 needs `v* <= {plain(float(right))}`; here `v* = {plain(left)}`"
    )


def no_plateau(point: Point) -> str:
    """Whether a point is outside of the regime of the head: L sigma_init as in Figure 2 at least, v* as in C.2."""
    reach = (point["L"] - 2) * point["sigma_init"]
    if reach < 0.9 * phases.REACH:
        return (
            f"hypothesis `L = Omega(1/sigma_init)` is not met: here `(L-2) sigma_init` is only {plain(reach)}, at "
            f"{_letters_at(point)}"
        )
    return too_wide(point)
