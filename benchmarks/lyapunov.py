"""Every inequality on the Lyapunov functions of wang2024, proved or refuted: `python -m benchmarks.lyapunov`.

With --write the proofs become the certificates that are shipped.
"""

import sys

from bridge.questions.certify import Status, prove
from bridge.questions.certify.certificate import CertifiedClaim, Origin, certificate_text
from bridge.questions.certify.stating import inequalities_of
from bridge.theorems.registry import find_theorem
from bridge.topics.induction.lyapunov import PROOFS

PARAMS = {"alpha": 1.0, "w_star": 0.49}
AT_EACH_POINT = ("quadratic",)  # of the inequality at these parameters alone


def main() -> None:
    print(f"{'inequality':45s} {'status':10s} {'boxes':>7s} {'seconds':>8s}")
    for name, params in (("lyapunov_gram", {}), ("lyapunov_head", PARAMS)):
        source, proved = find_theorem(f"induction.{name}"), []
        for inequality in inequalities_of(source, params):
            outcome = prove(inequality)
            print(f"{inequality.name:45s} {outcome.status:10s} {outcome.boxes:7d} {outcome.seconds:8.2f}")
            if outcome.status is Status.PROVED and not inequality.name.startswith(AT_EACH_POINT):
                proved.append(CertifiedClaim(outcome, Origin(source.id, "", params)))
        if "--write" in sys.argv:
            PROOFS.mkdir(exist_ok=True)
            (PROOFS / f"{name}.json").write_text(certificate_text(proved))


if __name__ == "__main__":
    main()
