"""The one maker of rows and of witnesses: what was judged, as the record holds it."""

from collections.abc import Mapping
from typing import Any

from bridge.instances.instance import Instance
from bridge.limits.run import Run
from bridge.theorems.record import Row, RowErratum, Verdict, Witness
from symbolic.statements.result import Quantity
from symbolic.words.prose import marked


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
        "params": instance.full,
        "inputs": {name: _listed(value) for name, value in inputs.items()},
        "error_lower": error,
        "bounds": {tier: number for tier, number in numbers.items() if number is not None},
        "sha256": instance.theorem.sha256,
        "claim": None if claim is None else claim.text,
    }
    return Witness(**{**about, **more})


def _listed(value: Any) -> Any:
    return value.double().cpu().tolist() if hasattr(value, "double") else value
