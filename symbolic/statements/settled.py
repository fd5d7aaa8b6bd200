"""Obligations that the worst case of a statement settles."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import sympy as sp

from symbolic.derivations.derivation import Derivation
from symbolic.derivations.granting import implying
from symbolic.derivations.obligations import Obligation


def settled(derivation: Derivation, worst: Mapping[sp.Symbol, Any], granted: Sequence[Any]) -> Derivation:
    """The derivation, its obligations discharged that clearly hold at the worst case under these hypotheses."""
    return derivation.with_obligations(partial(_settled, worst=worst, granted=granted))


def _settled(obligation: Obligation, worst: Mapping[sp.Symbol, Any], granted: Sequence[Any]) -> Obligation:
    """The obligation, discharged if it clearly holds at the worst case under the hypotheses."""
    letters: set[sp.Symbol] = getattr(obligation.condition, "free_symbols", set()) & set(worst)
    if not obligation.open or not letters:
        return obligation
    held = obligation.subs({letter: worst[letter] for letter in letters}).condition
    if held != sp.true and implying(held, granted) is None:
        return obligation
    values = ", ".join(f"`{letter} = {sp.sstr(worst[letter])}`" for letter in sorted(letters, key=str))
    return replace(obligation, discharged_by=f"settled by the worst case {values}", at_worst=True)
