"""The two-layer network of wang2024, section 5, trained with its true softmax, against the flows that approximate it.

For each setting: T_o, the time at which w = w*/2, and T_III of the trained network over those of the two closed-form
flows (of (22), which has exp in the place of softmax, and of the softmax's first order in 1/L).
"""

import time

import torch

from bridge.topics.induction.training import SIMPLIFIED, SOFTMAX, Learning, train
from numeric.topics.induction.training import Training, TrainingTask, TwoLayer, start_of_stage_one, start_of_stage_two

SETTINGS = ((20, 0.6), (40, 0.6), (80, 0.6), (60, 0.49), (40, 0.69))
SIGMA = 0.01


def main() -> None:
    torch.set_num_threads(1)
    for L, w_star in SETTINGS:
        learning_times(L, w_star)
    printed_sums(40)
    first_stage(40)


def learning_times(L: int, w_star: float) -> None:
    start = time.perf_counter()
    learning = train(L=L, w_star=w_star, sigma_init=SIGMA)
    seconds = time.perf_counter() - start
    times = learning.times()
    for label, name in (("T_o", "observation"), ("w = w*/2", "half"), ("T_III", "learnt")):
        measured = getattr(times["network"], name)
        shown = ", ".join(f"{flow} {_over(measured, getattr(times[flow], name))}" for flow in (SIMPLIFIED, SOFTMAX))
        print(f"induction.training, L = {L}, w* = {w_star}: {label} of the network {measured:.0f}; over that of the "
              f"flow: {shown}")  # fmt: skip
    print(f"induction.training, L = {L}, w* = {w_star}: {distances(learning)}; {seconds:.1f} s")


def distances(learning: Learning) -> str:
    """How far the trained parameters are at most from those of the softmax's flow, at the network's own times."""
    network, flow = learning.network, learning.flows[SOFTMAX]
    inside = network.time <= flow.time[-1]
    parts = []
    for name in ("p", "g", "w", "h"):
        gaps = {which: abs(network.parameters[name] - path.at(name, network.time))[inside].max()
                for which, path in learning.flows.items()}  # fmt: skip
        both = name in ("w", "h")
        parts.append(f"{name} {gaps[SOFTMAX]:.3f}" + (f" ({gaps[SIMPLIFIED]:.3f} from (22)'s)" if both else ""))
    return "largest distance from the softmax's flow: " + ", ".join(parts)


def printed_sums(L: int) -> None:
    """The sums of (10) as printed, to L-2: the 4-gram head never sees x_{L-2}."""
    for upper in ("L-1", "L-2"):
        network = TwoLayer(L, start_of_stage_two(SIGMA), upper=upper)
        seen = Training(network, TrainingTask(L, 1.0, 0.6)).run(500.0)
        print(f"induction.training, L = {L}, sums to {upper}: L_G4 from {seen[0].gram:.4f} to {seen[-1].gram:.4f}")


def first_stage(L: int) -> None:
    """Stage I of Appendix B: how long p^(1,1) takes to reach 3 from sigma_init."""
    network = TwoLayer(L, start_of_stage_one(SIGMA))
    training = Training(network, TrainingTask(L, 1.0, 0.6), stage="I", batch=1024)
    seen = training.run(float("inf"), stop=lambda each: each.parameters["p_first"] > 3)
    print(f"induction.training, L = {L}, stage I: p^(1,1) = {seen[-1].parameters['p_first']:.2f} at t = "
          f"{seen[-1].time:.0f}, {seen[-1].step} steps")  # fmt: skip


def _over(measured: float | None, predicted: float | None) -> str:
    return "-" if measured is None or predicted is None else f"{measured / predicted:.3f}"


if __name__ == "__main__":
    main()
