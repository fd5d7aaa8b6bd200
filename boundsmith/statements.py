"""The data of a statement, for quantities and checks that are stated without a derivation.

- the statement: Result, Parameter, Hypothesis, OwnWords
- what is bounded: Quantity, Kind, Quantifier, Printed
- claims without a bound: ExactClaim, Order, ParameterPath, small, Inequality
- source and errata: Citation, Paper, Erratum, Weight
"""

from bridge.theorems.wording import OwnWords
from symbolic.derivations.inequalities import Inequality
from symbolic.statements.errata import Erratum, Weight
from symbolic.statements.exact_claims import ExactClaim
from symbolic.statements.paths import ParameterPath, small
from symbolic.statements.result import Hypothesis, Kind, Order, Parameter, Printed, Quantifier, Quantity, Result
from symbolic.words.citations import Citation, Paper

__all__ = [
    "Result",
    "Parameter",
    "Hypothesis",
    "OwnWords",
    "Quantity",
    "Kind",
    "Quantifier",
    "Printed",
    "ExactClaim",
    "Order",
    "ParameterPath",
    "small",
    "Inequality",
    "Citation",
    "Paper",
    "Erratum",
    "Weight",
]
