"""Theorems of a user's own: a bound in a few letters, and a network that errs by half of |x| times it."""

from collections.abc import Mapping
from typing import Any

import sympy as sp

from bridge.domains import Box
from bridge.theorems.theorem import Theorem
from symbolic.derivations.derivation import Derivation, Norm, Step
from symbolic.statements.result import Hypothesis, Kind, Parameter, Quantifier, Quantity, Result
from symbolic.words.citations import Citation

NAME = "own"


def own_quantity(bound: sp.Expr | Derivation, kind: Kind = Kind.UPPER) -> Quantity:
    """`bound`, or the last step of a derivation."""
    derivation = bound if isinstance(bound, Derivation) else Derivation((Step(NAME, Norm.INF, "own", bound),))
    return Quantity(
        NAME, r"\|e\|", "the error", "sup norm", "x in [-1, 1]", kind, Quantifier.FOR_ALL,
        derivation, derivation.steps[-1].name, {}, scopes=("network",),
    )  # fmt: skip


def own(
    bound: sp.Expr | Derivation, defaults: Mapping[sp.Symbol, Any], *conditions: Any, kind: Kind = Kind.UPPER
) -> Theorem:
    """A bound in parameters that are all numbers."""
    quantity = own_quantity(bound, kind)
    parameters = [
        Parameter(symbol.name, symbol, "a number", default, integer=bool(symbol.is_integer))
        for symbol, default in defaults.items()
    ]
    hypotheses = [
        Hypothesis(next(s.name for s in defaults if s in each.free_symbols), each, "by assumption")
        for each in conditions
    ]
    statement = Result(
        "own.theorem", "own", Citation(None, "own"), "claim", tuple(parameters), tuple(hypotheses), (quantity,)
    )
    network = sp.lambdify([*defaults, "x"], sp.Symbol("x") * quantity.general_bound() / 2, modules=[])
    return Theorem(statement, main=NAME, inputs={"x": Box(1)}, network=network, reference=lambda x: 0 * x)
