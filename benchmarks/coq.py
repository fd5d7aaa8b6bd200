"""Certificates that Coq compiles: the time of each. python -m benchmarks.coq [--all]

The 4-gram decay, the largest of them, goes with --all: it takes 3 to 4 minutes on an idle core.
"""

import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import sympy as sp

from bridge.questions.certify.certificate import CertifiedClaim, claim_record
from bridge.questions.certify.coq.file import coq_text
from bridge.questions.certify.coq.trees import tree_of
from bridge.questions.certify.proving import prove
from bridge.questions.certify.reading import typed_inequality
from bridge.questions.certify.standalone import LIBRARY_OF_COQ, program
from symbolic.derivations.inequalities import Inequality
from symbolic.topics.induction import lyapunov, lyapunov_gram, lyapunov_head
from tests.bridge.questions.certify import inequalities

NAMES = (
    *("tanh below the line", "log below the line", "means of three", "mean and root", "Pinsker", "Schur", "Nesbitt"),
    *("Motzkin", "cosine above its parabola", "product of sides", "log-sum-exp from above", "log-sum-exp is convex"),
    *("Bregman", "sigmoid", "tanh", "triangle of three", "two layers"),
)


def stated() -> Iterator[Inequality]:
    """20 in all: those of the suite by name, and the decays of the Lyapunov functions of two heads."""
    for name in NAMES:
        text, *ranges = next(rest for known, *rest in inequalities.TRUE if known == name)
        yield typed_inequality(text, ranges)
    constants = (("printed", "decay.printed_flow"), ("true", "decay.true_flow"))
    for flow, claim in constants:
        yield lyapunov_head.decay_inequalities(flow, lyapunov.CERTIFIED[claim])[-1]
    yield lyapunov_gram.decay_inequality(sp.Rational(99, 100))


def main() -> None:
    if shutil.which("coqc") is None:
        sys.exit("coqc is not installed: apt install coq libcoq-interval")
    chosen = list(stated())
    total = 0.0
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / LIBRARY_OF_COQ).write_text(program(LIBRARY_OF_COQ))
        print(f"{'':60} {'leaves':>6} {'KB':>5} {'user s':>7}")
        print(f"{LIBRARY_OF_COQ:60} {'':6} {'':5} {compiled(Path(folder), LIBRARY_OF_COQ):7.1f}")
        for each in chosen if "--all" in sys.argv else chosen[:-1]:
            claim = claim_record(CertifiedClaim(prove(each)))
            text = coq_text([claim], "claim.v")
            (Path(folder) / "claim.v").write_text(text)
            seconds = compiled(Path(folder), "claim.v")
            total += seconds
            root = tuple((low, high) for low, high in each.box.values())
            print(f"{each.name[:60]:60} {tree_of(claim['tree'], root).leaves:6} {len(text) / 1000:5.0f} {seconds:7.1f}",
                  flush=True)  # fmt: skip
    print(f"{'total':60} {'':6} {'':5} {total:7.1f}")


def compiled(folder: Path, name: str) -> float:
    """User seconds. Raises CalledProcessError where Coq refuses the file."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(["coqc", name], cwd=folder, check=True, capture_output=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


if __name__ == "__main__":
    main()
