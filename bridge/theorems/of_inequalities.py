"""Theorems that are inequalities: their checks, which prove them."""

import importlib
from collections.abc import Sequence
from typing import Any

from bridge.theorems.check import Check
from symbolic.derivations.inequalities import Inequality

PROVER = "bridge.questions.constants.stating"  # stands above: loaded where a theorem is nothing but inequalities


def claims_of(id: str, given: Sequence[Any]) -> tuple[tuple[Check, ...], tuple[Inequality, ...]]:
    """A check of each inequality, outcome or best constant, and the inequalities that they are about."""
    prover: Any = importlib.import_module(PROVER)
    checks, inequalities = prover.stated(id, given)
    return tuple(checks), tuple(inequalities)
