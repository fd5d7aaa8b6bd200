"""The one maker of rows and of witnesses: what was judged, as the record holds it."""

from collections.abc import Mapping
from typing import Any

from bridge.instances.inputs import Batch
from bridge.instances.instance import Instance
from bridge.limits.run import Run
from bridge.lowering.ball_values import BASE_BITS, MOST_BITS, bits_for, decimal_of
from bridge.theorems.record import Row, RowErratum, Verdict, Witness
from numeric.balls import BallsError
from numeric.balls.limits import TooLargeForExact
from numeric.networks.stream import StreamError
from symbolic.derivations.evaluation import decimal
from symbolic.statements.result import Quantity
from symbolic.words.errors import UsageError
from symbolic.words.prose import marked

NOT_RUN = (UsageError, BallsError, StreamError)  # of what does not run on the wider balls
WITHIN_ROUNDING = (
    "error and bound differ by no more than what Python may have rounded in floats such as 1.0 / n, math.sqrt(2), 0.1; "
    "write 1 / n, torch.sqrt(torch.tensor(2)), torch.tensor(1) / 10, which are exact"
)


def within_rounding(tiers: list[str]) -> list[str]:
    """Why these tiers are undecided, and what to write instead; nothing for none."""
    return [f"{', '.join(tiers)}: {WITHIN_ROUNDING}"] if tiers else []


def slacks_at(instance: Instance, quantity: Quantity, one: Batch) -> dict[str, float]:
    """From the exact errors of the steps there; none for a quantity that no step concludes."""
    derivation = quantity.derivation
    known = instance.bounds.quantities
    names = {q.name for q in instance.point.stated.quantities if q.scopes and q.name in known}
    if derivation is None or quantity.name not in {step.name for step in derivation.steps}:
        return {}
    steps = [step.name for step in derivation.steps if step.name in names]
    bound = instance.bounds.derived(quantity)
    bits = bits_for(bound.ball) if bound else BASE_BITS
    if bits > MOST_BITS:
        return {}
    try:
        exact = instance.runs.exact(one, steps, bits)
    except TooLargeForExact:
        return {}
    measured = {name: float(error) for name, (error, _) in exact.items()}
    used = {
        s for bound in (*quantity.at_worst.values(), *(t.local for t in derivation.steps)) for s in bound.free_symbols
    }
    values = {letter: decimal_of(value) for letter, value in instance.letters.numbers.items() if letter in used}
    worst = {letter: decimal(bound, values) for letter, bound in quantity.at_worst.items()}
    return derivation.slacks(measured, {**values, **worst})


def row_of(instance: Instance, quantity: Quantity, verdict: Mapping[str, Verdict], /, **found: Any) -> Row:
    """A row of the quantity at this point; `found` has its numbers, its witness, its remark.

    Raises ValueError for a violated tier without a witness, an erratum, or a remark that says why.
    """
    erratum = erratum_of(quantity, verdict)
    if Verdict.VIOLATED in verdict.values() and not (found.get("witness") or erratum or found.get("remark")):
        raise ValueError(f"'{quantity.name}' is called violated without a witness and without a reason")
    about = ("kind", "quantifier", "norm", "domain", "construction", "meaning", "finding")
    stated = {"quantity": quantity.name, **{name: getattr(quantity, name) for name in about}}
    return Row(**{"params": dict(instance.shown), **stated, **found}, verdict=dict(verdict), erratum=erratum)


def settings_of(run: Run) -> dict[str, int]:
    """The fields of a row that say how it was run."""
    return {"seed": run.seed, "samples": run.samples, "attack_steps": run.attack, "restarts": run.restarts}


def erratum_of(quantity: Quantity, verdict: Mapping[str, Verdict]) -> RowErratum | None:
    """What the violated printed bound is an erratum of."""
    known = quantity.erratum
    if known is None or verdict.get("printed") is not Verdict.VIOLATED:
        return None
    texts = {name: getattr(known, name) for name in RowErratum.model_fields}
    return RowErratum(**{name: str(marked(text)) for name, text in texts.items()})


def witness_of(
    instance: Instance,
    quantity: Quantity,
    inputs: Mapping[str, Any],
    error: float,
    numbers: Mapping[str, float | None],
    /,
    **more: Any,
) -> Witness:
    """Everything that a second run needs to check what was found at these inputs.

    `error` is what was surely found there, `numbers` are the bounds; `more` has the name of the check, where that is
    not the quantity's, its scope, and the settings of the run that it depends on.
    """
    claim = instance.bounds.claims.get(quantity.name)
    about = {
        "result": instance.theorem.id,
        "quantity": quantity.name,
        "params": instance.known.full,
        "inputs": {name: _listed(value) for name, value in inputs.items()},
        "error_lower": error,
        "bounds": {tier: number for tier, number in numbers.items() if number is not None},
        "sha256": instance.theorem.sha256,
        "claim": None if claim is None else claim.text,
    }
    return Witness(**{**about, **more})


def _listed(value: Any) -> Any:
    return value.double().cpu().tolist() if hasattr(value, "double") else value
