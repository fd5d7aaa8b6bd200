"""What is claimed: results, their quantities, hypotheses and parameters, all of them data.

Nothing here computes a bound; a bound is an expression (printed, typed once from the paper) or comes out of a
`Derivation` (derived). The fields survive to the last printed line: kind, quantifier, norm and domain of every number.
"""

import difflib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

import sympy as sp

from symbolic.citations import Citation
from symbolic.derivation import Derivation
from symbolic.errata import Erratum


class UsageError(ValueError):
    """The user's call cannot be answered as it stands: says what was called, what came and what to do."""


class Kind(StrEnum):
    """What sort of statement a number is part of."""

    EXACT = "exact"
    UPPER = "upper"
    LOWER = "lower"
    RATE = "rate"


class Order(StrEnum):
    """The symbol inside which a formula is printed, if any: then it says nothing of constants."""

    NONE = ""
    O = "O"  # noqa: E741 - Landau's letter
    THETA = "Theta"
    OMEGA = "Omega"


class Quantifier(StrEnum):
    """Over what the statement holds. Randomness is named in `Quantity.randomness`."""

    FOR_ALL = "for all inputs"
    EXISTS = "there exists"
    PROBABILITY = "with probability"
    EXPECTATION = "in expectation"


@dataclass(frozen=True)
class Parameter:
    """A parameter under the paper's letter in ASCII. `symbol` is None for one that is not a number (a matrix, say)."""

    name: str
    symbol: sp.Symbol | None
    meaning: str
    default: Any
    integer: bool = False


@dataclass(frozen=True)
class Hypothesis:
    """A condition on the parameters. `condition` is a SymPy relation in the parameters' symbols."""

    parameter: str
    condition: Any
    reason: str

    def complaint(self, values: Mapping[str, Any]) -> str | None:
        """None if the condition holds at `values` (names to numbers), else one sentence."""
        symbols = {symbol: values[symbol.name] for symbol in self.condition.free_symbols if symbol.name in values}
        held = self.condition.subs(symbols)
        if held == sp.true:
            return None
        got = values.get(self.parameter)
        return f"{self.parameter} = {got} does not meet {sp.sstr(self.condition)} ({self.reason})"

    def latex(self) -> str:
        return sp.latex(self.condition)


@dataclass(frozen=True)
class Printed:
    """The paper's formula exactly as printed, with the place it stands; `in_letters` where it names its parts."""

    bound: sp.Expr
    citation: Citation
    strict: bool = False
    order: Order = Order.NONE
    in_letters: sp.Expr | None = None

    @property
    def shown(self) -> sp.Expr:
        return self.bound if self.in_letters is None else self.in_letters


@dataclass(frozen=True)
class Formula:
    """What the calculus gives beside the quantities: a vector field, an eigenvalue, a conserved quantity.

    `left` is LaTeX; `kind` says how it stands to the expression (a rate: asymptotically equal). `derive` builds the
    expression when it is first asked for, since derivations can take seconds.
    """

    left: str
    derive: Callable[[], Any]
    meaning: str
    kind: Kind = Kind.EXACT
    citation: Citation | None = None

    @cached_property
    def expression(self) -> Any:
        return self.derive()


@dataclass(frozen=True)
class Quantity:
    """One number that the result speaks of.

    `derivation` ends in a step of this quantity's name; its bound is in general symbols, `worst_case` binds them to
    the paper's hypotheses (derived tier). `scopes` says which instance bounds exist. A rate speaks of the
    quantity that its name extends (`output.rate` of `output`), as the parameter `rate_in` grows. `derive` builds the
    closed form, where one is derived otherwise than by an error calculus. `indices` are relations that say which
    values the indices in its name take (1 <= j < N). `erratum` says what fails where the printed bound is violated.
    """

    name: str
    latex_symbol: str
    meaning: str
    norm: str
    domain: str
    kind: Kind
    quantifier: Quantifier
    derivation: Derivation | None = None
    step: str = ""
    worst_case: Mapping[sp.Symbol, sp.Expr] | None = None
    printed: Printed | None = None
    construction: str = ""
    scopes: tuple[str, ...] = ("network", "prompt")
    trivial: sp.Expr | None = None
    randomness: str = ""
    remark: str = ""
    rate_in: str = ""
    derive: Callable[[], Any] | None = None
    indices: tuple[Any, ...] = ()
    erratum: Erratum | None = None

    def general_bound(self) -> sp.Expr:
        """The bound in the derivation's own symbols, which an instance binds."""
        if self.derivation is None:
            raise UsageError(f"quantity '{self.name}' has no derivation")
        return self.derivation.bound(self.step or self.name)

    def derived(self) -> sp.Expr | None:
        """The bound under the paper's hypotheses, in the paper's parameters; None where there is no derivation."""
        return self._derived

    @cached_property
    def _derived(self) -> sp.Expr | None:
        if self.derivation is None:
            return None
        return self.general_bound().xreplace(dict(self.worst_case or {}))

    @cached_property
    def closed_form(self) -> Any:
        """What the calculus gives for the quantity, in the relation of its kind; None where it gives nothing."""
        return self.derive() if self.derive else None


def _under(quantity: Quantity, hypotheses: Sequence[Any]) -> Quantity:
    """The quantity with what its derivation owes discharged where the hypotheses, or the range of its indices, do."""
    if quantity.derivation is None or not quantity.derivation.conditional:
        return quantity
    return replace(quantity, derivation=quantity.derivation.under([*hypotheses, *quantity.indices]))


@dataclass(frozen=True)
class Result:
    """One labelled statement of a paper: everything that is claimed, and under which hypotheses.

    `claim` is a LaTeX formula. `notation` says how the paper writes a symbol, `symbols` what those of the derivations
    and of the `formulas` mean.
    """

    id: str
    title: str
    citation: Citation
    claim: str
    parameters: tuple[Parameter, ...]
    hypotheses: tuple[Hypothesis, ...]
    quantities: tuple[Quantity, ...]
    notation: Mapping[sp.Symbol, str] = field(default_factory=dict)
    symbols: Mapping[sp.Symbol, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    formulas: tuple[Formula, ...] = ()

    def __post_init__(self) -> None:
        """The hypotheses are checked before anything is evaluated, so that they discharge what follows from them."""
        granted = [hypothesis.condition for hypothesis in self.hypotheses]
        object.__setattr__(self, "quantities", tuple(_under(quantity, granted) for quantity in self.quantities))

    def parameter(self, name: str) -> Parameter:
        names = {parameter.name: parameter for parameter in self.parameters}
        if name in names:
            return names[name]
        near = difflib.get_close_matches(name, names, n=2, cutoff=0.4)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise UsageError(f"{self.id} has no parameter '{name}'.{hint} It has: {', '.join(names)}.")

    def check_names(self, given: Mapping[str, Any]) -> list[str]:
        """The parameters that `given` leaves out. Raises UsageError for a name that is not a parameter."""
        known = [self.parameter(name).name for name in given]
        return [parameter.name for parameter in self.parameters if parameter.name not in known]

    def quantity(self, name: str) -> Quantity:
        names = {quantity.name: quantity for quantity in self.quantities}
        if name in names:
            return names[name]
        raise UsageError(f"{self.id} has no quantity '{name}'. It has: {', '.join(names)}.")

    def check(self, values: Mapping[str, Any]) -> None:
        """Raises UsageError that names every hypothesis the values do not meet, all of them at once."""
        complaints = [complaint for h in self.hypotheses if (complaint := h.complaint(values))]
        if complaints:
            raise UsageError(f"{self.id}: " + "; ".join(complaints) + ".")

    def number(self, name: str, value: Any) -> float | int:
        """`value` as the finite number that parameter `name` takes. Raises UsageError otherwise."""
        parameter = self.parameter(name)
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            raise UsageError(f"{self.id}: {name} = {value!r} is not a number ({parameter.meaning}).") from None
        if not math.isfinite(number):
            raise UsageError(f"{self.id}: {name} = {value} is not finite ({parameter.meaning}).")
        if not parameter.integer:
            return number
        if number != int(number):
            raise UsageError(f"{self.id}: {name} = {value} is not a whole number ({parameter.meaning}).")
        return int(number)

    def latex(self) -> str:
        from symbolic.printing import result_latex

        return result_latex(self)

    def _repr_latex_(self) -> str:
        from symbolic.printing import result_display

        return result_display(self)
