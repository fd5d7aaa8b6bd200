"""Rows at parameters of their own: checks that do not depend on those of a comparison, and refuted constants."""

from collections.abc import Iterator

from bridge.instances.instance import Instance
from bridge.instances.point import first_defaults
from bridge.judging.errors import Errors
from bridge.judging.stated import Stated
from bridge.limits.run import ONE_INPUT
from bridge.theorems.numbers import parameter_words
from bridge.theorems.record import Row
from bridge.theorems.refutation import Refutation
from bridge.theorems.theorem import Theorem
from symbolic.words.prose import joined


def rows_elsewhere(theorem: Theorem) -> Iterator[Row]:
    """Each once, whatever the grid of the comparison is."""
    instances: dict[str, Instance] = {}
    for check in theorem.checks:
        if check.params is not None:
            point = repr(check.params)
            if point not in instances:
                instances[point] = Instance.of(theorem, {**first_defaults(theorem), **check.params})
            yield from Stated(instances[point], check).rows(ONE_INPUT)
    for refutation in theorem.refuting.refutations:
        yield refuted_row(theorem, refutation)


def refuted_row(theorem: Theorem, refutation: Refutation) -> Row:
    """The printed bound at the prompt that `inputs` gives; its witness replays like others."""
    instance = Instance.of(theorem, dict(refutation.params))
    prompt = instance.known.call(refutation.inputs)
    quantity, errors = instance.quantity(refutation.quantity), Errors(instance)
    one = instance.inputs.admit({name: each.unsqueeze(0) for name, each in prompt.items()})
    tiers = {"printed": instance.bounds.printed(quantity), "derived": instance.bounds.derived(quantity)}
    row = errors.judged(quantity, "network", tiers, [errors.place(quantity, one)], ONE_INPUT)
    automatic, params = theorem.knobs.automatic, refutation.params
    where = ", ".join(f"{name} = {parameter_words(name, value, automatic)}" for name, value in params.items())
    remark = joined([f"at {where}", row.remark])
    return row.model_copy(update={"quantity": f"erratum.{refutation.name}", "params": {}, "remark": remark})
