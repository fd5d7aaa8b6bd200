"""One point of the grid of a theorem: its parameters, all of them, and what the theorem states there."""

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from bridge.domains import Domain
from bridge.instances.goals import goals_of
from bridge.limits.accepted import checked_number, largest_default
from bridge.limits.arguments import arguments_of, called_with
from bridge.limits.cost import NUMBER, Cost, sizes_of
from bridge.limits.memory import require_memory
from bridge.limits.run import ONE_INPUT, Run
from bridge.lowering.conditions import truth
from bridge.theorems.record import AUTOMATIC
from bridge.theorems.theorem import Theorem, over_draws
from symbolic.derivations.derivation import Norm, Step
from symbolic.statements.result import Kind, Quantity, Result
from symbolic.words.errors import UsageError


@dataclass(frozen=True, eq=False)
class Point:
    """Data: nothing is drawn and nothing is built. `params` are resolved, `given` are the weights of a witness."""

    theorem: Theorem
    params: Mapping[str, Any]
    seed: int = 0
    given: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def at(cls, theorem: Theorem, params: Mapping[str, Any], run: Run = ONE_INPUT) -> "Point":
        """`params` may hold the weights of a witness. Raises UsageError for what does not meet the hypotheses."""
        stored = {*theorem.recorded, *theorem.search.near}
        given = {name: value for name, value in params.items() if name in stored}
        own = {name: value for name, value in params.items() if name not in given}
        theorem.statement.check_texts(own)
        resolve = theorem.knobs.resolve
        if resolve is not None:
            knows = "dtype" in inspect.signature(resolve).parameters
            own = dict(resolve(own, run.seed, **({"dtype": run.format.name} if knows else {})))
        known = resolved(theorem, own)
        _require_memory(theorem, known)
        return cls(theorem, known, run.seed, given)

    @property
    def numbers(self) -> dict[sp.Symbol, Any]:
        """The parameters that have a symbol, by symbol."""
        return {p.symbol: self.params[p.name] for p in self.theorem.statement.parameters if p.symbol is not None}

    @cached_property
    def stated(self) -> Result:
        """The statement with the quantities of this point: those whose conditions on parameters hold."""
        stated, own = self.theorem.statement, self.theorem.at_point.quantities
        if own is not None:
            stated = replace(stated, quantities=tuple(called_with(own, self.params)))
        numbers = self.numbers
        here = tuple(q for q in stated.quantities if all(truth(each, numbers) is not False for each in q.indices))
        return stated if len(here) == len(stated.quantities) else replace(stated, quantities=here)

    @cached_property
    def over_draws(self) -> tuple[Quantity, ...]:
        """The quantities that are judged by many draws of their randomness."""
        return over_draws(self.stated.quantities, self.theorem.checks)

    @cached_property
    def bounded(self) -> list[Quantity]:
        """The quantities that are bounded and measured at inputs.

        Checks and draws have rows of their own, and rates follow from the rows of others.
        """
        own = {*(each.quantity.name for each in self.theorem.checks), *(each.name for each in self.over_draws)}
        return [each for each in self.stated.quantities if each.name not in own and each.kind is not Kind.RATE]

    @property
    def shown(self) -> dict[str, Any]:
        """The parameters as tables show them: a matrix by its size."""
        return {name: _shown(value) for name, value in self.params.items()}


def _shown(value: Any) -> Any:
    if isinstance(value, int | float | str):
        return value
    return " x ".join(map(str, np.shape(value))) + " matrix" if np.ndim(value) else value


def _require_memory(theorem: Theorem, params: Mapping[str, Any]) -> None:
    if theorem.work is not None and theorem.inputs:
        sizes = {name: params[name] for name in arguments_of(theorem.work)}
        needed = theorem.work(**sizes).bytes_of_one
        require_memory(f"{theorem.id}: {params}", int(needed), f"lower {', '.join(sizes)}")


# Parameters, before they meet a hypothesis.


def resolved(theorem: Theorem, params: Mapping[str, Any]) -> dict[str, Any]:
    """`completed` parameters that meet the hypotheses. Raises UsageError."""
    values = completed(theorem, params)
    theorem.statement.check(values, theorem.knobs.automatic)
    return values


def completed(theorem: Theorem, params: Mapping[str, Any]) -> dict[str, Any]:
    """Every parameter but those that the given ones imply: the given values, defaults for the others.

    Those with a symbol become numbers, those without (a name, a file, a choice) stay as they came. Raises UsageError
    for a name that is not a parameter's, and for what is not a number.
    """
    stated, knobs = theorem.statement, theorem.knobs
    left_out = stated.check_names(params)
    stated.check_texts(params)
    defaults = {name: stated.parameter(name).default for name in left_out if name not in knobs.implied}
    given = {**defaults, **params}
    given |= {name: 0 for name in knobs.automatic if given.get(name) == AUTOMATIC}
    return {
        p.name: given[p.name] if p.symbol is None else stated.number(p.name, given[p.name])
        for p in stated.parameters
        if p.name in given
    }


def first_defaults(theorem: Theorem) -> dict[str, Any]:
    """Of the parameters whose default is a grid, its first value."""
    return {p.name: p.default[0] for p in theorem.statement.parameters if isinstance(p.default, tuple)}


def missing(theorem: Theorem, params: Mapping[str, Any]) -> list[str]:
    """What the `params` of a witness leave out. Raises UsageError for a name that is not a parameter."""
    stored = {*theorem.recorded, *theorem.search.near}
    own = {name: value for name, value in params.items() if name not in stored}
    return [*theorem.statement.check_names(own), *(name for name in theorem.recorded if name not in params)]


# What a point takes.


def sizes(theorem: Theorem, params: Mapping[str, Any]) -> dict[str, float]:
    """The numbers among the parameters, for `cost`: defaults where none is given. Raises UsageError."""
    stated = theorem.statement
    numbers = [p for p in stated.parameters if p.symbol is not None]
    given = {p.name: params.get(p.name, largest_default(p.default)) for p in numbers}
    optional = {p.name for p in numbers if p.default is None}
    return sizes_of({n: checked_number(stated, n, x) for n, x in given.items() if x is not None or n not in optional})


def cost_of(theorem: Theorem, params: Mapping[str, Any], run: Run | None) -> Cost:
    """What the point takes, before anything is built: with its run, or its bounds alone. Raises UsageError."""
    known = sizes(theorem, params)
    if theorem.work is None:
        return Cost()
    work = theorem.work(**{name: known[name] for name in arguments_of(theorem.work)})
    if run is None:
        return work.before
    return work.cost(run, _searches(theorem) if run.attack else 0, _drawn(theorem, known))


def _searches(theorem: Theorem) -> int:
    """By attack, for each quantity in each scope; where only some lead, for these."""
    if not theorem.inputs:
        return 0
    lead, checked = theorem.search.leading, {check.quantity.name for check in theorem.checks}
    searched = [q for q in theorem.statement.quantities if (q.name in lead if lead else q.name not in checked)]
    moved = len(searched) if theorem.search.near else 0  # once more each, with the matrices
    return len(goals_of(searched)) + moved


def _drawn(theorem: Theorem, known: Mapping[str, float]) -> float:
    """The numbers of the inputs of one prompt."""
    letters = {p.symbol: known[p.name] for p in theorem.statement.parameters if p.name in known}
    counts = [sp.sympify(sp.Mul(*each.shape)).xreplace(letters) for each in theorem.inputs.values()]
    return float(sum(counts))


def require_affordable(theorem: Theorem, params: Mapping[str, Any], call: str) -> None:
    """Raises UsageError for a point whose bounds alone would take too much, before it is built."""
    cost_of(theorem, params, None).require(f"{call} {theorem.id}", "lower the sizes")


def bytes_of_weights(theorem: Theorem, numbers: Mapping[sp.Symbol, Any]) -> float:
    """Of those that domains draw, as far as the parameters say how many they are."""
    known = {symbol: sp.sympify(value) for symbol, value in numbers.items()}
    domains = [each for each in theorem.weights.values() if isinstance(each, Domain)]
    counts = [sp.sympify(sp.Mul(*each.shape)).xreplace(known) for each in domains]
    return NUMBER * float(sum(each for each in counts if each.is_number))


# What a derivation starts from, against the domains of the inputs that it names; its end, against the network.

Values = Mapping[sp.Symbol, Any]


def require_covered(
    id: str, quantities: Sequence[Quantity], inputs: Mapping[str, Domain], names: Mapping[str, str], values: Values
) -> None:
    """Every given of a derivation that has the name of an input is at least as large as that input.

    `inputs` are domains at numbers, `names` what messages call them. A given that is about something else of that name
    (a row of the input, say) is not compared. Raises UsageError.
    """
    for quantity in quantities:
        steps = quantity.derivation.steps if quantity.derivation is not None else ()
        for step in steps:
            if step.rule == "given" and step.name in inputs:
                _require_covered(id, step, inputs[step.name], names[step.name], quantity, values)


def _require_covered(id: str, step: Step, domain: Domain, name: str, quantity: Quantity, values: Values) -> None:
    dim, size = (sp.sympify(each, strict=True).xreplace(quantity.at_worst) for each in step.about[:2])
    whole = truth(sp.Eq(dim, math.prod(int(each) for each in domain.shape)), values) is True
    if not whole and step.norm is not Norm.INF:
        return
    largest = domain.bound(step.norm)
    if truth(sp.Le(largest, size), values) is False:
        raise UsageError(
            f"{id}: '{quantity.name}' is derived for {step.name} of {step.norm}-norm at most {sp.sstr(size)}, but the "
            f"input {step.name} in {name} has {step.norm}-norm up to {sp.sstr(largest)}; make them agree"
        )


def require_entries(id: str, name: str, expected: sp.Expr, found: int, values: Values) -> None:
    """The arrays of a quantity have as many entries as its derivation is about. Raises UsageError."""
    if truth(sp.Eq(expected, found), values) is False:
        raise UsageError(
            f"{id}: '{name}' has {found} entries in network and reference, but its derivation is about "
            f"{sp.sstr(expected)}; return the array that the derivation concludes{_several(expected, found, values)}"
        )


def _several(expected: sp.Expr, found: int, values: Values) -> str:
    """The dimension to derive instead, where the arrays hold several vectors: L*d, if one parameter is their number."""
    counts = [s for s, x in values.items() if isinstance(x, int) and truth(sp.Eq(expected * x, found), values)]
    letters = [s for s in counts if isinstance(s, sp.Symbol) and s not in expected.free_symbols]
    if letters:
        return f", or derive it for all {letters[0]} of them at once: dim={sp.sstr(letters[0] * expected)}"
    return ""
