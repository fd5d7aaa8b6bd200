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

from bridge.goals import Goal
from bridge.limits.run import Run
from bridge.measure import evidence_at
from bridge.registry import find_study
from bridge.study import Inputs
from bridge.theorem_case import TheoremCase
from bridge.theorem_readings import LOCAL
from symbolic.statements import Quantity

SCOPES = ("prompt", LOCAL)
DEPTHS, WIDTHS, DIMENSIONS = (1, 2, 3, 4, 6), (4, 16, 64), (2, 10, 64)
ACTIVATIONS = ("tanh", "sigmoid", "gelu", "softplus")
RELUS = {"tanh": 64, "sigmoid": 64, "gelu": 4096, "softplus": 4096}  # an unbounded r has ranges that grow with depth
ACCURACIES = (1e-1, 1e-2, 1e-3, 1e-6)
ROUNDING = 1e-12  # of float64 runs and bounds, where a local bound is attained


def step_case(**params: object) -> TheoremCase:
    """icgd.step at these parameters, in float64 on the CPU."""
    case = find_study("icgd.step").case(params)
    assert isinstance(case, TheoremCase)  # as all cases of theorems
    return case


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
    case = step_case(N=N, K=16, d=10, n=40, B_v=0.5, relus=256)
    run = Run(samples=200, attack=steps, restarts=restarts, seed=0)
    gradient = case.result.quantity("gradient")
    drawn = case.sample(200, seed=0)  # uniform weights at even places, corners at odd ones
    parts = {name: {key: value[start::2] for key, value in drawn.items()} for start, name in enumerate(("even", "odd"))}
    found = {scope: attack_ratio(case, scope, run) for scope in SCOPES}
    attacked = {scope: ratio_at(case, inputs, scope) for scope, inputs in found.items()}
    # The bounds that hold for every prompt are compared with the largest error over all searches.
    strongest = max(
        (attack_error(case, run), *found.values()),
        key=lambda inputs: evidence_at(case, gradient, inputs).evidence.measured,
    )
    bounds = (case.printed(gradient), case.derived(gradient), case.instance(gradient, "network"))
    printed, derived, network = (math.nan if bound is None else float(bound.ball) for bound in bounds)
    return Tightness(
        attacked,
        {scope: median_ratio(case, parts["odd"], scope) for scope in SCOPES},
        {scope: median_ratio(case, parts["even"], scope) for scope in SCOPES},
        evidence_at(case, gradient, strongest).evidence.measured,
        printed,
        derived,
        network,
        case.slack(gradient, strongest),
    )


def median_ratio(case: TheoremCase, inputs: Inputs, scope: str) -> float:
    with torch.no_grad():
        errors = case.errors(inputs, ["gradient"])["gradient"]
        bounds = case.prompt_bounds(case.result.quantity("gradient"), inputs, scope)
    return float((bounds / errors).median())


def attack_error(case: TheoremCase, run: Run) -> Inputs:
    """The prompt of the largest error that the attack finds."""
    return _attacked(case, Goal(_gradient(case)), run)


def attack_ratio(case: TheoremCase, scope: str, run: Run) -> Inputs:
    """The prompt of the largest error over bound."""
    return _attacked(case, Goal(_gradient(case), scope), run)


def _attacked(case: TheoremCase, goal: Goal, run: Run) -> Inputs:
    (found,) = case.batch([(case, goal)], run).ascended(run)
    return case.admit({name: value[None] for name, value in found.items()})


def ratio_at(case: TheoremCase, inputs: Inputs, scope: str) -> float:
    """Rigorous bound over measured error at one prompt."""
    bound = case.instance(_gradient(case), scope, inputs)
    assert bound is not None  # the gradient has bounds of both scopes
    return float(bound.ball) / evidence_at(case, _gradient(case), inputs).evidence.measured


def _gradient(case: TheoremCase) -> Quantity:
    return case.result.quantity("gradient")


def sizes() -> Iterator[tuple[int, int, int]]:
    return itertools.product(DEPTHS, WIDTHS, DIMENSIONS)


def worst_share(case: TheoremCase, attack: int, samples: int = 8, restarts: int = 4) -> dict[str, float]:
    """Per tier the largest error over bound, over all quantities, random and attacked prompts: at most 1."""
    names = [q.name for q in case.result.quantities if q.scopes]
    inputs = [case.sample(samples, seed=1)]
    if attack:
        inputs.append(attack_error(case, Run(1, attack, restarts, 0)))
    worst: dict[str, float] = {}
    for drawn in inputs:
        with torch.no_grad():
            errors = case.errors(drawn, names)
        for quantity in (q for q in case.result.quantities if q.scopes):
            error = errors[quantity.name]
            tiers = {"derived": case.derived(quantity), "network": case.instance(quantity, "network")}
            for tier, bound in tiers.items():
                if bound is not None:
                    worst[tier] = max(worst.get(tier, 0.0), float(error.max()) / float(bound.ball))
            for scope in (scope for scope in quantity.scopes if scope != "network"):
                with torch.no_grad():
                    allowed = case.prompt_bounds(quantity, drawn, scope) + ROUNDING
                worst[scope] = max(worst.get(scope, 0.0), float((error / allowed).max()))
    return worst


def passes(scope: str, runs: int = 5) -> float:
    """Time of a prompt's bound over that of its exact pass: N = 6, K = 64, d = 64, n = 100; the least of `runs`."""
    case = step_case(N=6, K=64, d=64, n=100, B_v=0.5, relus=256)
    chain = case.known.built["chain"]
    w, x, y = (case.sample(2, seed=0)[name][1].double() for name in ("w", "x", "y"))

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
            step_case(N=N, K=K, d=d, n=3, B_v=0.5, relus=RELUS[name], activation=name), 20
        ).items():
            worst[tier] = max(worst.get(tier, 0.0), share)
    print(f"grid of {len(list(sizes())) * len(ACTIVATIONS)} cases, B_v = 0.5: largest error / bound", worst)
    print(f"  {time.perf_counter() - start:.0f} s")
    spent, most, refused = 0.0, 0, 0
    for (N, K, d), name, eps in itertools.product(sizes(), ACTIVATIONS, ACCURACIES):
        case = step_case(N=N, K=K, d=d, n=3, B_v=1 / math.sqrt(max(K, d)), eps=eps, activation=name)
        if case.refusal(_gradient(case)):
            refused += 1
            continue
        with torch.no_grad():
            error = float(case.errors(case.sample(8, seed=1), ["gradient"])["gradient"].max())
        attacked = evidence_at(case, _gradient(case), attack_error(case, Run(1, 20, 4, 0))).evidence.measured
        spent, most = max(spent, max(error, attacked) / eps), max(most, case.known.built["emulation"].relus)
    print(f"accuracies {ACCURACIES}, B_v sqrt(max(K, d)) = 1: largest error / eps {spent:.3g}, most ReLUs {most}, "
          f"not representable {refused}, {time.perf_counter() - start:.0f} s")  # fmt: skip


if __name__ == "__main__":
    main()
