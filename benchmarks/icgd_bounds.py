"""How tight the bounds of an in-context gradient step are, and whether any is exceeded on a grid.

`python -m benchmarks.icgd_bounds` prints the tightness figures, with `--grid` the whole grid as well (minutes).
"""

import itertools
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch

from bridge.instances.bindings import LOCAL
from bridge.instances.goals import Goal
from bridge.instances.inputs import Batch
from bridge.instances.instance import Instance
from bridge.instances.search_batch import SearchBatch
from bridge.judging.measure import evidence_at
from bridge.judging.rows import slacks_at
from bridge.limits.run import Run
from bridge.theorems.registry import find_theorem
from symbolic.statements.result import Quantity

SCOPES = ("prompt", LOCAL)
DEPTHS, WIDTHS, DIMENSIONS = (1, 2, 3, 4, 6), (4, 16, 64), (2, 10, 64)
ACTIVATIONS = ("tanh", "sigmoid", "gelu", "softplus")
RELUS = {"tanh": 64, "sigmoid": 64, "gelu": 4096, "softplus": 4096}  # an unbounded r has ranges that grow with depth
ACCURACIES = (1e-1, 1e-2, 1e-3, 1e-6)
ROUNDING = 1e-12  # of float64 runs and bounds, where a local bound is attained


def step_at(**params: object) -> Instance:
    """icgd.step at these parameters, in float64 on the CPU."""
    return Instance.of(find_theorem("icgd.step"), params)


@dataclass(frozen=True)
class Tightness:
    """Bound over error of the gradient: at the attacked prompt of the worst ratio, and medians over random prompts."""

    attacked: dict[str, float]
    at_corners: dict[str, float]
    uniform: dict[str, float]
    attacked_error: float
    printed: float
    derived: float
    network: float
    slack: dict[str, float]


def tightness(N: int, steps: int = 100, restarts: int = 12) -> Tightness:
    """tanh, K = 16, d = 10, B_v = 0.5, 256 ReLUs; 100 random prompts of n = 40 at corners of W (rows of norm B_v).

    Prompts with weights uniform in W are listed as well; even the best bound from eps alone is far above their error.
    """
    instance = step_at(N=N, K=16, d=10, n=40, B_v=0.5, relus=256)
    run = Run(samples=200, attack=steps, restarts=restarts, seed=0)
    gradient = instance.quantity("gradient")
    drawn = instance.inputs.sample(200, seed=0)  # uniform weights at even places, corners at odd ones
    parts = {name: {key: value[start::2] for key, value in drawn.items()} for start, name in enumerate(("even", "odd"))}
    found = {scope: attack_ratio(instance, scope, run) for scope in SCOPES}
    attacked = {scope: ratio_at(instance, inputs, scope) for scope, inputs in found.items()}
    # The bounds that hold for every prompt are compared with the largest error over all searches.
    strongest = max(
        (attack_error(instance, run), *found.values()),
        key=lambda inputs: evidence_at(instance, gradient, inputs).measured,
    )
    tiers = [instance.bounds.at(gradient, tier) for tier in ("printed", "derived", "instance")]
    printed, derived, network = (math.nan if bound is None else float(bound.ball) for bound in tiers)
    return Tightness(
        attacked,
        {scope: median_ratio(instance, parts["odd"], scope) for scope in SCOPES},
        {scope: median_ratio(instance, parts["even"], scope) for scope in SCOPES},
        evidence_at(instance, gradient, strongest).measured,
        printed,
        derived,
        network,
        slacks_at(instance, gradient, strongest),
    )


def median_ratio(instance: Instance, inputs: Batch, scope: str) -> float:
    with torch.no_grad():
        errors = instance.runs.errors(inputs, ["gradient"])["gradient"]
        bounds = instance.on_tensors.at([_gradient(instance)], inputs, scope)["gradient"]
    return float((bounds / errors).median())


def attack_error(instance: Instance, run: Run) -> Batch:
    """The prompt of the largest error that the attack finds."""
    return _attacked(instance, Goal(_gradient(instance)), run)


def attack_ratio(instance: Instance, scope: str, run: Run) -> Batch:
    """The prompt of the largest error over bound."""
    return _attacked(instance, Goal(_gradient(instance), scope), run)


def _attacked(instance: Instance, goal: Goal, run: Run) -> Batch:
    (found,) = SearchBatch([(instance, goal)], run).ascended(run)
    return instance.inputs.admit({name: value[None] for name, value in found.items()})


def ratio_at(instance: Instance, inputs: Batch, scope: str) -> float:
    """Rigorous bound over measured error at one prompt."""
    bound = instance.bounds.instance(_gradient(instance), scope, inputs)
    assert bound is not None  # the gradient has bounds of both scopes
    return float(bound.ball) / evidence_at(instance, _gradient(instance), inputs).measured


def _gradient(instance: Instance) -> Quantity:
    return instance.quantity("gradient")


def sizes() -> Iterator[tuple[int, int, int]]:
    return itertools.product(DEPTHS, WIDTHS, DIMENSIONS)


def worst_share(instance: Instance, attack: int, samples: int = 8, restarts: int = 4) -> dict[str, float]:
    """Per tier the largest error over bound, over all quantities, random and attacked prompts: at most 1."""
    names = [q.name for q in instance.point.stated.quantities if q.scopes]
    inputs = [instance.inputs.sample(samples, seed=1)]
    if attack:
        inputs.append(attack_error(instance, Run(1, attack, restarts, 0)))
    worst: dict[str, float] = {}
    for drawn in inputs:
        with torch.no_grad():
            errors = instance.runs.errors(drawn, names)
        for quantity in (q for q in instance.point.stated.quantities if q.scopes):
            error = errors[quantity.name]
            tiers = {"derived": "derived", "network": "instance"}
            for tier, bound in ((shown, instance.bounds.at(quantity, tier)) for shown, tier in tiers.items()):
                if bound is not None:
                    worst[tier] = max(worst.get(tier, 0.0), float(error.max()) / float(bound.ball))
            for scope in (scope for scope in quantity.scopes if scope != "network"):
                with torch.no_grad():
                    allowed = instance.on_tensors.at([quantity], drawn, scope)[quantity.name] + ROUNDING
                worst[scope] = max(worst.get(scope, 0.0), float((error / allowed).max()))
    return worst


def passes(scope: str, runs: int = 5) -> float:
    """Time of a prompt's bound over that of its exact pass: N = 6, K = 64, d = 64, n = 100; the least of `runs`."""
    instance = step_at(N=6, K=64, d=64, n=100, B_v=0.5, relus=256)
    chain = instance.known.built["chain"]
    w, x, y = (instance.inputs.sample(2, seed=0)[name][1].double() for name in ("w", "x", "y"))

    def seconds(function: Callable[[], object]) -> float:
        function()
        start = time.process_time()
        function()
        return time.process_time() - start

    with torch.no_grad():
        exact = min(seconds(lambda: chain.values(w, x, y)) for _ in range(runs))
        return min(seconds(lambda: chain.bounds(w, x, y, scope, ["gradient"])) for _ in range(runs)) / exact


def main() -> None:
    torch.set_num_threads(1)
    times = ", ".join(f"{scope} {passes(scope):.3g}" for scope in SCOPES)
    print(f"a bound at N = 6, K = 64, d = 64, n = 100 takes so many exact passes: {times}")
    for N in (3, 6):
        start = time.perf_counter()
        found = tightness(N)
        seconds = time.perf_counter() - start
        print(f"icgd.step gradient, tanh, N = {N}, K = 16, d = 10, B_v = 0.5, 256 ReLUs ({seconds:.0f} s)")
        for scope in SCOPES:
            print(
                f"  {scope:14s} bound / error: attacked {found.attacked[scope]:.4g}, median of 100 prompts at corners "
                f"of W {found.at_corners[scope]:.4g}, with uniform weights {found.uniform[scope]:.4g}"
            )
        factors = {"printed": found.printed, "derived": found.derived, "network": found.network}
        over = ", ".join(f"{name} {bound / found.attacked_error:.3g}" for name, bound in factors.items())
        print(f"  over the attacked error {found.attacked_error:.3g}: {over}")
        print("  slack per step: " + ", ".join(f"{name} {slack:.3g}" for name, slack in found.slack.items()))
    if "--grid" in sys.argv:
        grid()


def grid() -> None:
    """Every size, every activation: bounds with 64 ReLUs, and accuracies with the computed knobs."""
    worst: dict[str, float] = {}
    start = time.perf_counter()
    for (N, K, d), name in itertools.product(sizes(), ACTIVATIONS):
        for tier, share in worst_share(
            step_at(N=N, K=K, d=d, n=3, B_v=0.5, relus=RELUS[name], activation=name), 20
        ).items():
            worst[tier] = max(worst.get(tier, 0.0), share)
    print(f"grid of {len(list(sizes())) * len(ACTIVATIONS)} cases, B_v = 0.5: largest error / bound", worst)
    print(f"  {time.perf_counter() - start:.0f} s")
    spent, most, refused = 0.0, 0, 0
    for (N, K, d), name, eps in itertools.product(sizes(), ACTIVATIONS, ACCURACIES):
        instance = step_at(N=N, K=K, d=d, n=3, B_v=1 / math.sqrt(max(K, d)), eps=eps, activation=name)
        if instance.refusal is not None:
            refused += 1
            continue
        with torch.no_grad():
            error = float(instance.runs.errors(instance.inputs.sample(8, seed=1), ["gradient"])["gradient"].max())
        attacked = evidence_at(instance, _gradient(instance), attack_error(instance, Run(1, 20, 4, 0))).measured
        spent, most = max(spent, max(error, attacked) / eps), max(most, instance.known.built["emulation"].relus)
    print(f"accuracies {ACCURACIES}, B_v sqrt(max(K, d)) = 1: largest error / eps {spent:.3g}, most ReLUs {most}, "
          f"not representable {refused}, {time.perf_counter() - start:.0f} s")  # fmt: skip


if __name__ == "__main__":
    main()
