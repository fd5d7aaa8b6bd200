"""The arguments of a theorem that its expressions give."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import sympy as sp

from bridge.expressions.expression import Expression
from bridge.expressions.stating import Graph, graph_of
from bridge.expressions.typed import resolver_of, sizes_of
from bridge.theorems.parts import InputSearch, Knobs
from bridge.theorems.theorem import Theorem
from symbolic.derivations.exact_numbers import require_symbols
from symbolic.derivations.obligations import follows_from
from symbolic.statements.result import Quantity
from symbolic.words.errors import UsageError


def of_graph(
    id: str, bounds: Sequence[Any], parameters: Mapping[sp.Symbol, Any], given: Mapping[str, Any]
) -> tuple[Graph, dict[str, Any]]:
    """A graph, and the arguments: those given, before those that follow from it."""
    if others := [each for each in bounds if not isinstance(each, Expression | Quantity)]:
        raise UsageError(f"{id}: {others[0].name} is not an expression, and others are; state two theorems")
    require_symbols(id, "`parameters`", parameters)
    outputs = [each for each in bounds if isinstance(each, Expression)]
    made = [name for argument in ("weights", "built") for name in given[argument] or {}]
    graph = graph_of(id, outputs, parameters, given.get("norm"), given["inputs"], made)
    found = {name: each for name, each in given.items() if name != "norm"}
    parts = graph.parts()
    for output, conclusion in zip(graph.outputs, graph.conclusions, strict=True):
        if output.is_named and output.label != conclusion.name:
            raise UsageError(
                f"{id}: two values are called '{output.label}'; name one of them otherwise, by .named(...)"
            )
    for name, part in parts.items():
        if name in ("assumptions", "texts"):
            found[name] = [*part, *given[name]]
        elif name == "hypotheses":
            known = [getattr(each, "condition", each) for each in given[name]]
            further = (each for each in part if not any(follows_from(each.condition, one) for one in known))
            found[name] = [*given[name], *further]
        elif name == "near":
            own = given.get("search") or InputSearch()
            found["search"] = replace(own, near={**part, **own.near})
        else:
            found[name] = {**part, **(given[name] or {})} if isinstance(part, Mapping) else given[name] or part
    if graph.typed:
        own = given.get("knobs", Knobs())
        sizes = tuple(each for each in sizes_of(graph.typed) if each not in own.implied)
        resolve = resolver_of(graph.typed, graph.numbers, own.resolve)
        found["knobs"] = replace(own, resolve=resolve, implied=(*own.implied, *sizes))
    if found["network"] is None:
        names = ", ".join(graph.without_program)
        raise UsageError(f"{id}: {names} errs by a bound alone; give network=, or approximate= where it is made")
    if any(each.count is not None for each in outputs):
        found = {"tokens": True, "entries": {}, **found}
    return graph, found


def of_prompts(theorem: Theorem) -> Theorem:
    """The same, each bound judged at prompts alone."""
    quantities = theorem.statement.quantities
    of_errors = tuple(replace(each, scopes=("prompt",)) if each.derivation else each for each in quantities)
    return replace(theorem, statement=replace(theorem.statement, quantities=of_errors))
