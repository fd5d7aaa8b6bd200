"""The transformer of Li et al. 2025 at N = 1024 examples, n = 256 features and 200 blocks, on one core."""

import resource
import time
from collections.abc import Callable
from functools import partial

import torch

from benchmarks.universal_transformer_blocks import Prompt, blocks, blocks_in_balls
from bridge.limits.run import FORMATS
from bridge.topics.universal.transformer import resolve
from numeric.networks.network import Network
from numeric.networks.shared_blocks import SharedNetwork
from numeric.topics.universal import transformer as numeric

N, n, d, T = 1024, 256, 2, 200
LAM, TAU_FF = 0.05, 8.0
MOST_SECONDS, MOST_BYTES, MOST_RATIO = 2.0, 1 << 30, 5.0


def main() -> None:
    torch.set_num_threads(1)
    structured()
    literal(64, 16, 10, repeats=3)
    literal(N, n, 2, repeats=1)
    with torch.inference_mode():
        every_block()
    for name in FORMATS:
        recommended(name)


def every_block() -> None:
    """Each block of all beside the exact step from its own state: tau over six decades, four formats, and balls."""
    print(f"  each of {T} blocks, N = {N}, n = {n}, against the exact step from its state, in the sup norm:")
    for decade in range(6):
        shown("float64", 10.0**decade / 1000, 10.0**decade)
    for name, bits in FORMATS.items():
        chosen = resolve({"N": N, "n": n, "L": 2 * T + 1, "lam": LAM, "bits": bits}, 0, name)
        shown(name, chosen["tau_1"], chosen["tau_2"])
    found = blocks_in_balls(made(8, 8, 2.0, 2.0**12), 10)
    words = "; ".join(f"{name} {error:.2g}, at most {bound:.2g}" for name, (error, bound) in found.items())
    print(f"  in balls, each of 10 blocks, N = n = 8: {words}")


def shown(name: str, tau_1: float, tau_2: float) -> None:
    found = blocks(made(N, n, tau_1, tau_2), T, getattr(torch, name))
    words = "; ".join(f"{quantity} {each}" for quantity, each in found.items())
    print(f"  {name}, tau_1 = {tau_1:g}, tau_2 = {tau_2:g}: {words}")


def made(N: int, n: int, tau_1: float, tau_2: float) -> Prompt:
    x, y, _, _ = prompt(N, n)
    return Prompt(x, y, setting(N, n, tau_1, tau_2))


def prompt(N: int, n: int) -> tuple[torch.Tensor, ...]:
    """x (N + 1, d) in the ball, y (N), directions (n, d), t (n)."""
    generator = torch.Generator().manual_seed(0)
    x, u = (torch.randn(rows, d, generator=generator, dtype=torch.float64) for rows in (N + 1, n))
    x, u = x / (1 + x.norm(dim=1, keepdim=True)), u / u.norm(dim=1, keepdim=True)
    return x, torch.sin(3 * x[:-1, 0]), u, 3 * torch.rand(n, generator=generator, dtype=torch.float64) - 2


def setting(N: int, n: int, tau_1: float, tau_2: float) -> numeric.LassoSetting:
    _, _, u, t = prompt(N, n)
    return numeric.LassoSetting(u, t, TAU_FF, LAM, 1 / (2 * n), tau_1, tau_2, N)


def structured() -> None:
    """Seconds and memory of all blocks, and their time over that of the iteration itself."""
    x, y, u, t = prompt(N, n)
    network, tokens = SharedNetwork(numeric.transformer(setting(N, n, 64.0, 2.0**15), 2 * T + 1)), numeric.tokens(x, y)
    phi = numeric.ramp_features(x, u, t, TAU_FF)[:-1]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    seconds = best_time(partial(network.run, tokens[None], ("rho", "y_hat")))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
    direct = best_time(partial(numeric.proximal_path, phi, y, 1 / (2 * n), LAM, T))
    late = seconds > MOST_SECONDS or grown > MOST_BYTES or seconds > MOST_RATIO * direct
    print(f"universal.transformer, N = {N}, n = {n}, {T} blocks: {seconds:.2f} s, {grown / 2**20:.0f} MiB more, "
          f"{seconds / direct:.1f} times the iteration itself{' TOO SLOW' if late else ''}")  # fmt: skip


def literal(N: int, n: int, T: int, repeats: int) -> None:
    """(N + 1) x (N + 1) attention with D x D matrices beside the structured run."""
    x, y, _, _ = prompt(N, n)
    construction, tokens = numeric.transformer(setting(N, n, 2.0, 2.0**12), 2 * T + 1), numeric.tokens(x, y)[None]
    networks: dict[str, Network | SharedNetwork] = {
        "dense": Network(construction, dense=True),
        "structured": SharedNetwork(construction),
    }
    with torch.no_grad():
        rho = {name: network.run(tokens, ["rho"])["rho"] for name, network in networks.items()}
    seconds = {name: best_time(partial(network.run, tokens, ["rho"]), repeats) for name, network in networks.items()}
    print(f"  N = {N}, n = {n}, {T} blocks: literal attention {seconds['dense']:.3f} s, structured "
          f"{seconds['structured']:.3f} s, apart {(rho['dense'] - rho['structured']).abs().max():.1e}")  # fmt: skip


def recommended(name: str) -> None:
    """Errors at the recommended temperatures, and the best of a scan over powers of 4, each layer at its own."""
    dtype, at = getattr(torch, name), resolve({"N": N, "n": n, "L": 2 * T + 1, "lam": LAM}, 0, name)
    own = errors(dtype, at["tau_1"], at["tau_2"])
    scan = [errors(dtype, at["tau_1"] * 4.0**k, at["tau_2"] * 4.0**k) for k in range(-4, 5)]
    best = [min(x for x in each if x == x) for each in zip(*scan, strict=True)]
    print(f"  {name}: tau_1 = {at['tau_1']:g}, tau_2 = {at['tau_2']:g}: "
          f"||rho - rho_T||_1 = {own[0]:.2g} (best {best[0]:.2g}), "
          f"|y_hat - phi^T rho| = {own[1]:.2g} (best {best[1]:.2g}), |y_hat - phi^T rho_T| = {own[2]:.2g}")  # fmt: skip


def errors(dtype: torch.dtype, tau_1: float, tau_2: float) -> tuple[float, float, float]:
    x, y, u, t = prompt(N, n)
    phi = numeric.ramp_features(x, u, t, TAU_FF)
    network = SharedNetwork(numeric.transformer(setting(N, n, tau_1, tau_2), 2 * T + 1), dtype)
    found = network.run(numeric.tokens(x, y).to(dtype)[None], ("rho", "y_hat"))
    rho, y_hat = found["rho"][0, 0].double(), found["y_hat"][0, -1, 0].double()
    exact = numeric.proximal_path(phi[:-1], y, 1 / (2 * n), LAM, T)
    return (
        float((rho - exact).abs().sum()),
        float((y_hat - phi[-1] @ rho).abs()),
        float((y_hat - phi[-1] @ exact).abs()),
    )


def best_time(run: Callable[[], object], repeats: int = 3) -> float:
    def once() -> float:
        start = time.perf_counter()
        with torch.inference_mode():
            run()
        return time.perf_counter() - start

    return min(once() for _ in range(repeats))


if __name__ == "__main__":
    main()
