"""Obligations that hypotheses discharge."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import sympy as sp

from symbolic.derivations.implied_signs import hypotheses_that_imply, is_defined_under
from symbolic.derivations.obligations import LONG, Obligation, differences, follows_from, is_harder
from symbolic.derivations.signs import is_nonnegative
from symbolic.words.prose import listed


def implying(condition: Any, hypotheses: Sequence[Any]) -> tuple[Any, ...] | None:
    """Hypotheses from which the relation clearly follows, one if one alone gives it; None if that is not clear."""
    alone = next((each for each in hypotheses if follows_from(condition, each, tuple(hypotheses))), None)
    if alone is not None:
        return (alone,)
    both = follows_from_two(condition, hypotheses)
    return hypotheses_that_imply(condition, hypotheses) if both is None else both


def follows_from_two(condition: Any, hypotheses: Iterable[Any]) -> tuple[Any, Any] | None:
    """Two relations of several letters from which a short one clearly follows together; None if none clearly do."""
    relations = sp.Le | sp.Lt | sp.Ge | sp.Gt
    if not isinstance(condition, relations) or (condition.gts - condition.lts).count_ops() > LONG:
        return None
    letters, given = condition.free_symbols, tuple(hypotheses)
    joint = [each for each in given if isinstance(each, relations) and len(each.free_symbols) > 1]
    for first in (each for each in joint if each.free_symbols & letters and not is_harder(condition, each)):
        for second in (each for each in joint if each != first and each.free_symbols & (letters | first.free_symbols)):
            if _is_sum_of(condition, first, second) and is_defined_under(condition, given):
                return first, second
    return None


def _is_sum_of(condition: Any, first: Any, second: Any) -> bool:
    given = second.gts - second.lts
    for gap in differences(condition):
        for one in differences(first):
            factor = sp.cancel((gap - one) / given)
            if not factor.is_zero and sp.denom(factor).is_positive and is_nonnegative(factor):
                return True
    return False


def granted(obligation: Obligation, hypotheses: Sequence[Any]) -> Obligation:
    """The obligation, discharged if it is open and clearly follows from the hypotheses."""
    found = implying(obligation.condition, hypotheses) if obligation.open and hypotheses else None
    return obligation if found is None else replace(obligation, discharged_by=_words(found), granted=True)


def _words(found: Sequence[Any]) -> str:
    several = "hypothesis" if len(found) == 1 else "hypotheses"
    return f"{several} {listed([sp.sstr(each) for each in found])}" if found else "the assumptions on its letters"
