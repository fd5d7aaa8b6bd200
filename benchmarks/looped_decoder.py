"""The decoder on 256 prompts of 40 examples in 20 dimensions, 20 loops, in float64: time, and error of every token."""

import time

import torch

from bridge.topics.looped.decoder import built, resolve
from numeric.networks.network import Network
from numeric.topics.looped import decoder

PROMPTS, N, D, T, ETA = 256, 40, 20, 20, 1.0
MOST_SECONDS, MOST_ERROR = 6.0, 1e-5


def main() -> None:
    torch.set_num_threads(1)  # threads that wait for each other lose more than they gain
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(PROMPTS, N, D, generator=generator, dtype=torch.float64)
    x = x / torch.linalg.vector_norm(x, dim=-1).amax()
    y = 2 * torch.rand(PROMPTS, N, generator=generator, dtype=torch.float64) - 1
    knobs = resolve({"N": N, "d": D, "T": T, "eta": ETA}, 0)
    start = time.perf_counter()
    network = Network(built(D, N, T, ETA, knobs["c"], knobs["C"]))
    made = time.perf_counter() - start
    tokens = torch.stack([decoder.tokens(*each) for each in zip(x, y, strict=True)])
    start = time.perf_counter()
    found = network.run(tokens, ["w"])["w"]
    seconds = time.perf_counter() - start
    exact = torch.stack([decoder.path(*each, ETA, T)[-1] for each in zip(x, y, strict=True)])
    error = float(torch.linalg.vector_norm(found[:, 1::2] - exact, dim=-1).max())
    late = " TOO SLOW" * (seconds > MOST_SECONDS) + " TOO FAR" * (error > MOST_ERROR)
    print(
        f"looped.decoder, {PROMPTS} prompts, N = {N}, d = {D}, T = {T}: {seconds:.2f} s (built in {1e3 * made:.0f} ms)"
    )
    print(f"  largest error of the weights of a token: {error:.2g}{late}")


if __name__ == "__main__":
    main()
