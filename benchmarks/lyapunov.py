"""Every inequality on the Lyapunov functions of wang2024, proved or refuted: `python -m benchmarks.lyapunov`."""

from bridge.questions.certify import prove
from bridge.questions.certify.stating import inequalities_of
from bridge.theorems.registry import find_theorem

PARAMS = {"alpha": 1.0, "w_star": 0.49}


def main() -> None:
    print(f"{'inequality':45s} {'status':10s} {'boxes':>7s} {'seconds':>8s}")
    for name in ("induction.lyapunov_gram", "induction.lyapunov_head"):
        for inequality in inequalities_of(find_theorem(name), PARAMS):
            outcome = prove(inequality)
            print(f"{inequality.name:45s} {outcome.status:10s} {outcome.boxes:7d} {outcome.seconds:8.2f}")


if __name__ == "__main__":
    main()
