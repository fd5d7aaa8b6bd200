"""Looped transformers (algoformer): seconds of loops, of building and of deriving, on one core."""

import time
from collections.abc import Callable
from functools import partial

import torch

from benchmarks.universal_transformer import best_time
from numeric.networks.shared_blocks import SharedNetwork
from numeric.topics.looped import gradient_descent as numeric
from symbolic.topics.looped import gradient_descent_derivation as theory

MOST_SECONDS, MOST_BUILDING, MOST_DERIVING, MOST_RATIO = 10.0, 0.05, 2.0, 15.0
LOOPS = 500


def main() -> None:
    torch.set_num_threads(1)
    deriving()
    long_run(441, 10)
    beside_the_algorithm(40, 20, 20)


def setting(N: int, d: int) -> numeric.DescentSetting:
    return numeric.DescentSetting(N, d, 1, 1.0, 2.0**-7, 32.0, 24.0, 1.0, 1.0)


def prompt(N: int, d: int) -> tuple[torch.Tensor, torch.Tensor]:
    """x (N + 1, d) in the ball, y (N, 1)."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(N + 1, d, generator=generator, dtype=torch.float64)
    return x / (1 + x.norm(dim=1, keepdim=True)), torch.sin(3 * x[:-1, :1])


def deriving() -> None:
    """Both bounds through symbolic T."""
    start = time.perf_counter()
    for derive in (theory.derive_residuals, theory.derive_prediction):
        assert derive.__wrapped__().error.xreplace(theory.worst()).has(theory.T)
    shown("looped.gradient_descent, bounds through symbolic T", time.perf_counter() - start, MOST_DERIVING)


def long_run(N: int, d: int) -> None:
    x, y = prompt(N, d)
    start = time.perf_counter()
    built = numeric.transformer(setting(N, d), LOOPS)
    shown(f"  building {LOOPS} loops at N = {N}", time.perf_counter() - start, MOST_BUILDING)
    network, tokens = SharedNetwork(built), numeric.tokens(x, y)[None]
    shown("  running them", best_time(partial(network.run, tokens, []), repeats=1), MOST_SECONDS)


def beside_the_algorithm(N: int, d: int, T: int) -> None:
    """A loop beside a step, from runs of T and of one: what comes before and after the loop cancels."""
    x, y = prompt(N, d)
    once, often = (SharedNetwork(numeric.transformer(setting(N, d), loops)) for loops in (1, T + 1))
    tokens = numeric.tokens(x, y)[None]
    loop = difference(partial(often.run, tokens, []), partial(once.run, tokens, [])) / T
    step = best_time(partial(numeric.descended, x[:-1], y, 1.0, T), repeats=20) / T
    shown(f"  a loop over a step of the algorithm, N = {N}, d = {d}", loop / step, MOST_RATIO, " times")


def difference(long: Callable[[], object], short: Callable[[], object]) -> float:
    return best_time(long, repeats=20) - best_time(short, repeats=20)


def shown(what: str, found: float, most: float, unit: str = " s") -> None:
    print(f"{what}: {found:.3g}{unit}{' TOO SLOW' if found > most else ''}")


if __name__ == "__main__":
    main()
