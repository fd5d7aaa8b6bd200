"""Obligations that hypotheses discharge."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import sympy as sp

from symbolic.implied_signs import hypotheses_that_imply
from symbolic.obligations import Obligation, follows_from


def implying(condition: Any, hypotheses: Sequence[Any]) -> tuple[Any, ...] | None:
    """Hypotheses from which the relation clearly follows, one if one alone gives it; None if that is not clear."""
    alone = next((each for each in hypotheses if follows_from(condition, each)), None)
    return hypotheses_that_imply(condition, hypotheses) if alone is None else (alone,)


def granted(obligation: Obligation, hypotheses: Sequence[Any]) -> Obligation:
    """The obligation, discharged if it is open and clearly follows from the hypotheses."""
    found = implying(obligation.condition, hypotheses) if obligation.open and hypotheses else None
    return obligation if found is None else replace(obligation, discharged_by=_words(found), granted=True)


def _words(found: Sequence[Any]) -> str:
    several = "hypothesis" if len(found) == 1 else "hypotheses"
    return f"{several} {', '.join(map(sp.sstr, found))}" if found else "the assumptions on its letters"
