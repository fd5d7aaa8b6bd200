"""The inequalities that a result states at its parameters, for certificates, with their quantities and descriptions."""

from collections.abc import Mapping, Sequence
from typing import Any

from bridge.limits.arguments import called_for, called_with
from symbolic.derivations.inequalities import Inequality
from symbolic.statements.result import Result
from symbolic.words.errors import UsageError


def reasons(inequality: Inequality) -> dict[str, str]:
    return {symbol.name: reason for symbol, reason in inequality.because.items()}


def belongs(name: str, quantity: str) -> bool:
    """Whether an inequality of that name is one of the quantity: "decay", "decay: near the equilibrium", "decay.G4"."""
    return name == quantity or (name.startswith(quantity) and name[len(quantity)] in " :,.([")


def stated_now(source: Any, params: dict[str, Any]) -> list[Inequality]:
    """The inequalities of a theorem at these parameters, and the open obligations of its derivations.

    `source` is a `Theorem`, an id, or a file with a theorem.

    Raises UsageError for parameters that the result does not have or that do not meet its hypotheses.
    """
    from bridge.questions.certify.obligations import stated_obligations  # loads every topic
    from bridge.theorems.registry import find_theorem

    theorem = find_theorem(source)
    check_parameters(theorem.statement, params)
    stated = [*inequalities_of(theorem, params), *stated_obligations(theorem, params)[0]]
    return [each for at, each in enumerate(stated) if not any(same_claim(each, other) for other in stated[:at])]


def inequalities_of(theorem: Any, params: Mapping[str, Any]) -> list[Inequality]:
    """Those that the theorem states at these parameters, beside the open obligations of its derivations."""
    stated = theorem.inequalities
    if not callable(stated):
        return list(stated)
    with called_for(f"{theorem.id}: the inequalities", stated):
        return list(called_with(stated, params))


def check_parameters(result: Result, params: dict[str, Any]) -> None:
    """Raises UsageError that names an unknown or missing parameter, or every violated hypothesis."""
    if params and not result.parameters:
        raise UsageError(f"{result.id} takes no parameters; got {', '.join(params)}.")
    missing = [
        name
        for name in result.check_names(params)
        if result.parameter(name).default is not None and not has_choices(result.parameter(name).default)
    ]
    if missing:
        raise UsageError(f"{result.id}: no value is given for {', '.join(missing)}.")
    numbers = {
        name: result.number(name, value)
        for name, value in params.items()
        if result.parameter(name).symbol is not None and not has_choices(value)
    }
    known = [h for h in result.hypotheses if {symbol.name for symbol in h.condition.free_symbols} <= set(numbers)]
    complaints = [complaint for h in known if (complaint := h.complaint(numbers))]
    if complaints:
        raise UsageError(f"{result.id}: " + "; ".join(complaints) + ".")


def has_choices(value: Any) -> bool:
    """Whether a parameter's value is a list of choices."""
    return isinstance(value, list | tuple)


def same_claim(one: Inequality, other: Inequality) -> bool:
    """Whether they make the same claim on the same box; descriptions are not compared."""
    fields = ("name", "expression", "where", "strict", "vanishing", "form")
    return list(one.box.items()) == list(other.box.items()) and all(
        getattr(one, f) == getattr(other, f) for f in fields
    )


def same_statements(some: Sequence[Inequality], others: Sequence[Inequality]) -> bool:
    return len(some) == len(others) and all(same_claim(a, b) for a, b in zip(some, others, strict=True))


def family(name: str) -> str:
    """The quantity that an inequality "decay.true_flow: xy" is part of."""
    return name.partition(":")[0]
