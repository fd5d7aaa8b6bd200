"""`make bench`: every benchmark, side by side with what it is compared to."""

import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial

import torch

from benchmarks import (
    icgd,
    icgd_bounds,
    induction_training,
    inequalities,
    looped,
    looped_linearised,
    lowering,
    lyapunov,
    phases,
    universal_transformer,
)
from bridge.domains import Box
from bridge.questions.compare import compare
from numeric.networks.exact import run_exact
from numeric.networks.network import Network
from numeric.search.attack import attack, box_project
from numeric.topics.induction.ngram import ngram_head
from numeric.topics.induction.vanilla import prompt_starts, vanilla
from symbolic.statements.catalogue import results

MOST_SECONDS = 20.0  # for a theorem on its defaults, on two idle cores


def main() -> None:
    lowering.main()
    command_line()
    structured_against_dense()
    vanilla_at_full_size()
    icgd.main()
    icgd_bounds.main()
    lyapunov.main()
    inequalities.main()
    phases.main()
    induction_training.main()
    universal_transformer.main()
    looped.main()
    looped_linearised.main()
    default_comparisons()


def structured_against_dense() -> None:
    """The vanilla induction head at L = 512, d = 16: block maps and geometric kernels against full matrices."""
    construction = vanilla(4.0, torch.eye(16, dtype=torch.float64) / 16)
    x = Box(512, 16).sample(16, seeded())
    times = {
        name: best_time(partial(forward, Network(construction, dense=dense), x))
        for name, dense in (("structured", False), ("dense", True))
    }
    print(f"induction.vanilla, 16 prompts, L = 512, d = 16: structured {times['structured']:.4f} s, "
          f"dense {times['dense']:.4f} s, ratio {times['dense'] / times['structured']:.2f}")  # fmt: skip


def vanilla_at_full_size() -> None:
    W_star = torch.eye(16, dtype=torch.float64) / 16
    construction = vanilla(2.0, W_star)
    network, target = Network(construction), torch.func.vmap(lambda x: ngram_head(x, W_star, 2)["output"])
    starts, prompt = prompt_starts(512, 16, W_star, 12, seeded()), Box(512, 16).sample(1, seeded())[0].numpy()

    def error(x: torch.Tensor) -> torch.Tensor:
        return (network(x) - target(x)).abs().amax(1)

    attacked = best_time(lambda: attack(error, starts["x"], box_project(-1.0, 1.0), steps=60, seed=0), repeats=1)
    exact = best_time(lambda: run_exact(construction, prompt), repeats=1)
    print(f"induction.vanilla, L = 512, d = 16: 60 attack steps {attacked:.2f} s, exact run {exact:.2f} s")


def seeded() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def command_line() -> None:
    script = "from bridge.cli import main; main(['--help'])"
    shown = best_time(lambda: subprocess.run([sys.executable, "-c", script], capture_output=True, check=True))
    print(f"boundsmith --help: {shown:.2f} s")


def forward(network: Network, x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return network(x)


def best_time(run: Callable[[], object], repeats: int = 5) -> float:
    def once() -> float:
        start = time.perf_counter()
        run()
        return time.perf_counter() - start

    return min(once() for _ in range(repeats))


def default_comparisons() -> None:
    for id in results():
        start = time.perf_counter()
        rows = compare(id).rows
        seconds = time.perf_counter() - start
        late = f" TOO SLOW: {MOST_SECONDS:g} s is the most" if seconds > MOST_SECONDS else ""
        print(f"boundsmith compare {id}: {len(rows)} rows in {seconds:.1f} s{late}")


if __name__ == "__main__":
    main()
