"""A whole file of Coq for the claims of a certificate, and the library of steps beside it."""

from collections.abc import Mapping, Sequence
from typing import Any

from bridge.questions.certify.coq.boxes import ClaimInCoq

HEADER = """(* A certificate of boundsmith, as theorems. Compile Steps.v first, then this file, in the same folder:
   coqc Steps.v && coqc {name}
   It needs the libraries Interval and Coquelicot. At the end Coq prints the assumptions of the theorems: the axioms of
   its real numbers and its machine integers. *)
Set Warnings "-ambiguous-paths".
From Coq Require Import Reals Lra.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
Require Import Steps.
Open Scope R_scope.
"""


def coq_text(claims: Sequence[Mapping[str, Any]], name: str) -> str:
    """The file `name` for claims as `certificate.claim_record` writes them.

    Raises UsageError for a function that Coq's library Interval does not know, by name, and for a proof that has no
    pattern in Coq.
    """
    written = [ClaimInCoq(claim, number) for number, claim in enumerate(claims, start=1)]
    theorems = [each.theorem for each in written if each.theorem]
    together = (
        f"Definition theorems := ({', '.join(theorems)}).\n" if len(theorems) > 1 else ""
    )  # asked once: it is slow
    last = "theorems" if together else theorems[0] if theorems else ""
    assumptions = f"{together}Print Assumptions {last}.\n" if last else ""
    return "\n".join([HEADER.format(name=name), *(each.written for each in written), assumptions])
