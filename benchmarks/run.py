"""`make bench`: every benchmark, side by side with what it is compared to."""

import time

import torch

from benchmarks import icgd, icgd_bounds, induction_training, lowering, lyapunov, phases
from bridge import compare
from numeric.induction.vanilla import random_prompts, vanilla
from numeric.network import Network
from symbolic.catalogue import results


def main() -> None:
    lowering.main()
    structured_against_dense()
    icgd.main()
    icgd_bounds.main()
    lyapunov.main()
    phases.main()
    induction_training.main()
    default_comparisons()


def structured_against_dense() -> None:
    """The vanilla induction head at L = 512, d = 16: block maps and geometric kernels against full matrices."""
    construction = vanilla(4.0, torch.eye(16, dtype=torch.float64).numpy() / 16)
    x = random_prompts(512, 16, 16, seed=0)
    times = {
        name: best_time(Network(construction, dense=dense), x)
        for name, dense in (("structured", False), ("dense", True))
    }
    print(f"induction.vanilla, 16 prompts, L = 512, d = 16: structured {times['structured']:.4f} s, "
          f"dense {times['dense']:.4f} s, ratio {times['dense'] / times['structured']:.2f}")  # fmt: skip


def best_time(network: Network, x: torch.Tensor, repeats: int = 5) -> float:
    def once() -> float:
        start = time.perf_counter()
        with torch.no_grad():
            network(x)
        return time.perf_counter() - start

    return min(once() for _ in range(repeats))


def default_comparisons() -> None:
    """Every study on its defaults: at most 20 seconds on two idle cores."""
    for id in results():
        start = time.perf_counter()
        rows = compare(id).rows
        print(f"boundsmith compare {id}: {len(rows)} rows in {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()
