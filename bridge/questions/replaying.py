"""`replay`: a witness, checked again from scratch."""

import torch

from bridge.instances.instance import Instance
from bridge.instances.point import missing, require_affordable
from bridge.judging.judged import again
from bridge.limits.files import read_text
from bridge.limits.refusals import briefly_refused
from bridge.theorems.record import Row, Witness
from bridge.theorems.registry import TheoremLike, find_theorem, registered_theorem
from bridge.theorems.theorem import Theorem
from symbolic.statements.catalogue import RUNNING
from symbolic.words.errors import UsageError


@briefly_refused
def replay(path: str, theorem: "TheoremLike | None" = None) -> Row:
    """Re-check a witness file from scratch: the point rebuilt, the bound and the error evaluated in exact arithmetic.

    A witness of a theorem that is in no catalogue needs the theorem, or the file that holds it; no path that a witness
    names is ever imported. Raises UsageError for a file that has changed since.
    """
    try:
        witness = Witness.model_validate_json(read_text(path, "witness"))
    except UsageError:
        raise
    except (ValueError, TypeError, RuntimeError):
        raise UsageError(f"witness: '{path}' is not a complete witness file of boundsmith") from None
    return replay_witness(witness, path, theorem)


def replay_witness(witness: Witness, path: str = "", theorem: "TheoremLike | None" = None) -> Row:
    """The same for a witness at hand; `path` is the file that it comes from, for messages."""
    try:
        inputs = {name: torch.tensor(x, dtype=torch.float64, device="cpu") for name, x in witness.inputs.items()}
    except (ValueError, TypeError, RuntimeError):
        raise UsageError(f"witness: '{path}' is not a complete witness file of boundsmith") from None
    found = _theorem_of(witness, path, theorem)
    for name in missing(found, witness.params):
        raise UsageError(f"witness: '{path}' does not give {name}")
    require_affordable(found, witness.params, "witness:")
    instance = Instance.of(found, witness.params)
    if witness.claim:
        from bridge.questions.claims import with_claims  # with the proofs that it takes to read one

        (instance,) = with_claims([instance], [witness.claim])
    return again(instance, witness, inputs)


def _theorem_of(witness: Witness, path: str, theorem: "TheoremLike | None") -> Theorem:
    """Raises UsageError for a witness of another theorem, or of a file that has changed."""
    if theorem is None and witness.sha256 is not None:
        raise UsageError(
            f"witness: '{path}' is about {witness.result}, a theorem from a file; give that file: "
            f"boundsmith compare --witness {path} FILE.py"
        )
    if theorem is None and witness.result not in RUNNING:
        raise UsageError(
            f"witness: '{path}' is about {witness.result}, a theorem of your own; give it: bs.replay('{path}', theorem)"
        )
    found = registered_theorem(witness.result) if theorem is None else find_theorem(theorem)
    if found.id != witness.result:
        raise UsageError(f"the witness in '{path}' is for {witness.result}, not for {found.id}.")
    if found.sha256 != witness.sha256:
        raise UsageError(
            f"witness: '{path}' was found with another version of the file of {witness.result}, or of a module or data "
            f"file that it reads; compare again with the files as they are now"
        )
    return found
