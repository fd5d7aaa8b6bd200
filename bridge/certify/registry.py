"""The inequalities on boxes that each result states: the one place where a topic registers them."""

from collections.abc import Callable, Mapping
from typing import Any

from symbolic.inequalities import Inequality


def _lyapunov_gram(params: Mapping[str, Any]) -> list[Inequality]:
    from symbolic.induction.lyapunov import gram_inequalities

    return [each for printed, ours in gram_inequalities().values() for each in (*printed, *ours)]


def _lyapunov_head(params: Mapping[str, Any]) -> list[Inequality]:
    from bridge.induction.lyapunov import quadratic_at
    from symbolic.induction.lyapunov import head_inequalities

    fixed = [each for printed, ours in head_inequalities().values() for each in (*printed, *ours)]
    found = quadratic_at(params)
    return fixed if found.inequality is None else [*fixed, found.inequality]


def _first_stage(params: Mapping[str, Any]) -> list[Inequality]:
    from symbolic.induction.first_stage import stated_inequalities

    return stated_inequalities(params)


def _karamata(params: Mapping[str, Any]) -> list[Inequality]:
    from symbolic.induction.karamata import stated_inequalities

    return stated_inequalities(params)


def _trends(params: Mapping[str, Any]) -> list[Inequality]:
    from bridge.induction.head_limits import threshold
    from symbolic.induction.head_limits import CLAIMS, stated_inequalities

    return [each for claim in CLAIMS for each in stated_inequalities(*threshold(claim), claim)]


STATED: dict[str, Callable[[Mapping[str, Any]], list[Inequality]]] = {
    "induction.lyapunov_gram": _lyapunov_gram,
    "induction.lyapunov_head": _lyapunov_head,
    "induction.first_stage": _first_stage,
    "induction.karamata": _karamata,
    "induction.trends": _trends,
}


def stated_inequalities(result_id: str, params: Mapping[str, Any]) -> list[Inequality]:
    """The inequalities of a result at these parameters; empty for a result without any."""
    state = STATED.get(result_id)
    return [] if state is None else list({each.name: each for each in state(params)}.values())
