"""Everything that is judged at one instance: which rows there are, what they depend on, and each of them again."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from bridge.domains import Domain
from bridge.instances.inputs import Batch
from bridge.instances.instance import Instance
from bridge.instances.real import Real
from bridge.instances.search import Points
from bridge.judging.chance import Chance
from bridge.judging.errors import Errors, Refused
from bridge.judging.faithful import Faithful
from bridge.judging.stated import Stated, checks_at, settings_of_check
from bridge.limits.arguments import arguments_of
from bridge.limits.run import ONE_INPUT, SETTINGS, Run
from bridge.theorems.check import Check
from bridge.theorems.record import NamedTable, Row, Verdict, Witness
from bridge.theorems.theorem import Theorem
from symbolic.statements.result import Kind
from symbolic.words.errors import UsageError
from symbolic.words.prose import plain


@runtime_checkable
class Judged(Protocol):
    """A maker of rows at one instance, each with two sides: what is found, and what is stated.

    `names` are those of the quantities and checks that it answers for, `settings` those of a run that its rows depend
    on; `again` makes the row of a witness anew.
    """

    @property
    def names(self) -> Sequence[str]: ...
    @property
    def settings(self) -> frozenset[str]: ...
    def rows(self, run: Run) -> Iterable[Row]: ...
    def again(self, witness: Witness, one: Batch, run: Run) -> Row: ...


@dataclass(frozen=True)
class Predictions:
    """Of the programs of a source, at real inputs: they are not judged."""

    instance: Instance
    inputs: Real

    @property
    def names(self) -> list[str]:
        return []

    @property
    def settings(self) -> frozenset[str]:
        return self.inputs.settings

    def rows(self, run: Run) -> Iterator[Row]:
        yield from self.inputs.predictions(self.instance.shown, run)

    def again(self, witness: Witness, one: Batch, run: Run) -> Row:
        raise UsageError(f"witness: '{witness.quantity}' is a prediction, which nothing refutes")


def judged_at(instance: Instance) -> list[Judged]:
    """In the order of their rows: errors, predictions, draws, checks, and whether network and derivation agree."""
    inputs, quantities = instance.inputs, list(instance.bounds.quantities.values())
    predicted = [Predictions(instance, inputs)] if isinstance(inputs, Real) else []
    own = [check for check in checks_at(instance) if check.params is None]
    if instance.refusal is None:
        checks = [Stated(instance, each) for each in own]
        over_draws = [Chance(instance)] if instance.point.over_draws else []
        return [Errors(instance), *predicted, *over_draws, *checks, Faithful(instance)]
    draws = Refused(instance, list(instance.point.over_draws))
    return [Refused(instance, quantities), *predicted, draws, *(_without_network(instance, each) for each in own)]


def _without_network(instance: Instance, check: Check) -> Judged:
    """The check, if it takes nothing that could not be built; inside the hypotheses."""
    taken = {name for each in (check.sides, check.inputs) if callable(each) for name in arguments_of(each)}
    missing = [name for name in taken if name in instance.known.built and instance.known.built[name] is None]
    outside = instance.refusal is not None and instance.refusal.verdict is Verdict.OUTSIDE
    return Refused(instance, [check.quantity]) if missing or outside else Stated(instance, check)


def rows_at(instance: Instance, run: Run, points: Points | None = None) -> Iterator[Row]:
    """All rows of one point. `points` are those that an attack has found; None: it is still to be made."""
    for each in judged_at(instance):
        yield from each.rows(run, points) if isinstance(each, Errors) else each.rows(run)


def again(instance: Instance, witness: Witness, one: Batch) -> Row:
    """The row of a witness from scratch. Raises UsageError for a name that nothing at this point has."""
    name, settings = str(plain(witness.quantity)), witness.settings or {}
    elsewhere = [Stated(instance, each) for each in checks_at(instance) if each.params is not None]
    for each in (*judged_at(instance), *elsewhere):
        if name in each.names:
            unknown = sorted(set(settings) - each.settings)
            if unknown:
                raise UsageError(f"{instance.theorem.id}: '{name}' does not depend on {', '.join(unknown)}")
            run = replace(ONE_INPUT, format=instance.known.format, **settings)
            return each.again(witness, one, run)
    stated = instance.point.stated.quantities
    if any(each.kind is Kind.RATE and each.name == name for each in stated):
        raise UsageError(f"witness: '{name}' is a rate over a grid; no single input can refute it")
    known = ", ".join(each.name for each in stated)
    raise UsageError(f"{instance.theorem.id} has no quantity or check '{name}'. It has: {known}.")


# What the rows depend on.


def settings_used(instance: Instance) -> frozenset[str]:
    """The settings of a run that rows and tables of the point depend on."""
    used, inputs = _settings(instance.theorem) - set(instance.idle), instance.inputs
    if not isinstance(inputs, Real):
        return used
    return used - (frozenset() if inputs.source.most(2) > 1 else {"samples"}) | inputs.settings


def run_at(instance: Instance, run: Run) -> Run:
    """The run that this point can use: fewer samples where there are no more inputs, no attack where none moves."""
    inputs = instance.inputs
    if isinstance(inputs, Real):
        return replace(run.without_attack(), samples=max(1, inputs.source.most(run.samples)))
    return run if "attack" in settings_used(instance) else run.without_attack()


def _settings(theorem: Theorem) -> frozenset[str]:
    """All, with inputs; the seed, with anything else drawn."""
    moved = [set(theorem.inputs) - set(theorem.random_names(each)) for each in theorem.over_draws]
    if theorem.inputs and (any(moved) or not theorem.all_over_draws):
        return SETTINGS
    drawn = theorem.knobs.resolve is not None or any(isinstance(each, Domain) for each in theorem.weights.values())
    at_each_point = [check for check in theorem.checks if check.params is None]
    of_draws = ["seed", "samples", "dtype"] if moved else []
    of_tables = SETTINGS & {name for table in theorem.tables for name in arguments_of(table)}
    own = frozenset([*of_draws, *of_tables, *(["seed"] if drawn else [])])
    return own.union(*map(settings_of_check, at_each_point))


# What stands under the rows.


def tables_at(instance: Instance, run: Run) -> list[NamedTable]:
    """A trace, say, or the norms of each lemma."""
    theorem, inputs = instance.theorem, instance.inputs
    taken = {name for table in theorem.tables for name in arguments_of(table)}
    prompt = inputs.sample(1, 0) if taken & set(theorem.inputs) else {}
    known = {**run.settings, **{name: each[0] for name, each in prompt.items()}}
    found = [table for each in theorem.tables if (table := instance.known.call(each, known)) is not None]
    return [*found, *(inputs.tables() if isinstance(inputs, Real) else [])]
