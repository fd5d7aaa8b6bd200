"""Derivations: approximated values, and the steps by which their error bounds follow from one another.

An `Approximated` value is a vector known up to an error; each rule of `symbolic.calculus` takes such values to a new
one and appends a `Step`. A step states its bound *locally*, by the errors of its premises, so that the same derivation
gives the closed form (substitute), the LaTeX (print the steps), and the slack of each step (evaluate the local bound
at measured premises).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import sympy as sp

from symbolic.citations import Citation


class DerivationError(ValueError):
    """A rule was applied to values it does not fit: says which rule, what came and what it wants."""


def as_expr(value: Any) -> sp.Expr:
    """`value` as a SymPy expression. A string is refused: SymPy would run it as code."""
    if isinstance(value, str):
        raise DerivationError(
            f"expected a SymPy expression or a number, got the string {value!r}; build it from symbols"
        )
    return sp.sympify(value, strict=True)


class Norm(StrEnum):
    """The vector norm in which a size and an error are stated."""

    INF = "inf"
    ONE = "1"
    TWO = "2"

    @property
    def latex(self) -> str:
        return {"inf": r"\infty", "1": "1", "2": "2"}[self.value]


@dataclass(frozen=True)
class Obligation:
    """A premise that only a certificate can give, or a range that must be covered.

    `condition` is a SymPy relation; `discharged_by` says what proves it ("" while it is open).
    """

    statement: str
    condition: Any
    discharged_by: str = ""

    @property
    def open(self) -> bool:
        return not self.discharged_by and self.condition != sp.true


def not_negative(rule: str, name: str, **numbers: sp.Expr) -> tuple[Obligation, ...]:
    """What is left to show for the coefficients of a rule, which all have to be non-negative.

    Raises DerivationError for one that is negative; one whose sign is not known becomes an obligation.
    """
    for what, number in numbers.items():
        if number.is_negative:
            raise DerivationError(
                f"{rule}: the {what} of '{name}' is {sp.sstr(number)}, but it bounds a norm: give it >= 0"
            )
    return tuple(
        Obligation(f"the {what} of '{name}' is not negative", sp.Ge(number, 0))
        for what, number in numbers.items()
        if not number.is_nonnegative
    )


@dataclass(frozen=True)
class Step:
    """One inequality: the error of `name` is at most `local`, an expression in the errors of the premises."""

    name: str
    norm: Norm
    rule: str
    local: sp.Expr
    premises: tuple[str, ...] = ()
    reason: str = ""
    source: Citation | None = None
    obligations: tuple[Obligation, ...] = ()
    sharp: bool = True

    def __post_init__(self) -> None:
        for obligation in self.obligations:
            if obligation.condition == sp.false:
                raise DerivationError(
                    f"{self.rule}: '{self.name}' does not follow: it is false that {obligation.statement}"
                )

    @property
    def error(self) -> sp.Symbol:
        return error_symbol(self.name)


def error_symbol(name: str) -> sp.Symbol:
    """The symbol by which later steps refer to the error of `name`."""
    return sp.Symbol(f"e_{name}", nonnegative=True)


@dataclass(frozen=True)
class Derivation:
    """Steps in order, each standing on earlier ones; the last one is the conclusion."""

    steps: tuple[Step, ...] = ()

    def step(self, name: str) -> Step:
        for step in self.steps:
            if step.name == name:
                return step
        raise DerivationError(f"no step '{name}' in this derivation; it has {', '.join(s.name for s in self.steps)}")

    def then(self, step: Step, *others: "Derivation") -> "Derivation":
        """This derivation and `others`, followed by `step`. Steps that several share are kept once."""
        return Derivation(_merge((*self.steps, *(s for other in others for s in other.steps), step)))

    def upto(self, name: str) -> "Derivation":
        """The steps that lead up to `name`, itself included."""
        last = self.steps.index(self.step(name))
        return Derivation(self.steps[: last + 1])

    def bound(self, name: str = "") -> sp.Expr:
        """The bound on the error of `name` (the last step by default) with every premise substituted."""
        wanted = name or self.steps[-1].name
        bounds: dict[sp.Symbol, sp.Expr] = {}
        for step in self.steps:
            bounds[step.error] = step.local.xreplace(bounds)
            if step.name == wanted:
                return bounds[step.error]
        return self.step(wanted).local  # raises: names the steps there are

    @property
    def obligations(self) -> tuple[Obligation, ...]:
        return tuple(obligation for step in self.steps for obligation in step.obligations)

    @property
    def conditional(self) -> bool:
        """Whether an obligation is still open."""
        return any(obligation.open for obligation in self.obligations)

    def slacks(self, measured: Mapping[str, float], values: Mapping[sp.Symbol, Any]) -> dict[str, float]:
        """How loose each step is at an instance: its local bound at the *measured* premises, over its measured error.

        A premise without a measured error counts with its bound. Steps without a measured error, or where it is 0,
        are left out; 1 means that the inequality is an equality there.
        """
        at = {symbol: as_expr(value) for symbol, value in values.items()}
        errors: dict[sp.Symbol, sp.Expr] = {}
        slacks: dict[str, float] = {}
        for step in self.steps:
            local = sp.N(step.local.xreplace(at).xreplace(errors), 30)
            errors[step.error] = sp.Float(measured[step.name], 30) if step.name in measured else local
            if measured.get(step.name, 0.0) > 0.0:
                slacks[step.name] = float(local / measured[step.name])
        return slacks

    def latex(self) -> str:
        from symbolic.printing import derivation_latex

        return derivation_latex(self)

    def _repr_latex_(self) -> str:
        from symbolic.printing import displayed

        return displayed(self.latex())


def _merge(steps: Iterable[Step]) -> tuple[Step, ...]:
    merged: dict[str, Step] = {}
    for step in steps:
        if merged.setdefault(step.name, step) != step:
            raise DerivationError(f"two different steps are both called '{step.name}'; give one of them another name")
    return tuple(merged.values())


@dataclass(frozen=True)
class Approximated:
    """A vector v in R^dim of which v_hat is known, with ||v|| <= size and ||v_hat - v|| <= error in `norm`.

    `size` bounds the exact value; the approximate one is at most size + error. `radius` (optional) bounds the
    distance of the exact value's tokens from some common centre, in the same norm; it is at most `size`.
    `probabilities` says that both vectors are non-negative and add up to 1.
    """

    name: str
    dim: sp.Expr
    norm: Norm
    size: sp.Expr
    derivation: Derivation = field(default_factory=Derivation)
    radius: sp.Expr | None = None
    probabilities: bool = False

    @property
    def error(self) -> sp.Expr:
        """The bound on the error, closed: in the symbols of the givens only."""
        return self.derivation.bound(self.name)

    @property
    def error_symbol(self) -> sp.Symbol:
        return error_symbol(self.name)

    def follows(self, step: Step, *others: "Approximated", **changes: Any) -> "Approximated":
        """The value that `step` concludes, its derivation being mine and the others' with the step appended."""
        derivation = self.derivation.then(step, *(other.derivation for other in others))
        return Approximated(name=step.name, norm=step.norm, derivation=derivation, **changes)

    def _repr_latex_(self) -> str:
        return self.derivation._repr_latex_()


def given(
    name: str,
    *,
    dim: Any,
    norm: Norm = Norm.INF,
    size: Any,
    error: Any = 0,
    radius: Any = None,
    probabilities: bool = False,
    reason: str = "given",
    source: Citation | None = None,
) -> Approximated:
    """A value that the derivation starts from: its size, and its error (0 for an exact one), are hypotheses."""
    error, size = as_expr(error), as_expr(size)
    step = Step(name, norm, "given", error, (), reason, source, not_negative("given", name, error=error, size=size))
    radius = None if radius is None else as_expr(radius)
    return Approximated(name, as_expr(dim), norm, size, Derivation((step,)), radius, probabilities)


def require_norm(rule: str, value: Approximated, *allowed: Norm) -> None:
    """Raises DerivationError unless the value is stated in one of the norms the rule is proved for."""
    if value.norm not in allowed:
        wanted = " or ".join(allowed)
        raise DerivationError(
            f"{rule}: '{value.name}' is bounded in the {value.norm}-norm, the rule is proved in the {wanted}-norm; "
            f"apply change_norm first"
        )
