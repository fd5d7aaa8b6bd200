"""Appendix H as a theorem: a score learnt in context by the blocks of Theorem 1, and the samples that it draws.

Means, examples and starting weights are drawn by the seed. Shapes: n examples, c components, d coordinates.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

import flint
import sympy as sp
import torch
from torch import Tensor

from bridge.limits.cost import Cost, Count, Work
from bridge.theorems.check import Sides, checks_of, within
from bridge.theorems.numbers import plain
from bridge.theorems.parts import AtPoint, Knobs
from bridge.theorems.record import NamedTable
from bridge.theorems.theorem import Theorem
from bridge.topics.icgd.diffusion_table import TABLE
from bridge.topics.icgd.scores import ScoreLearner, scale_of, score_setting
from bridge.topics.icgd.smoothness import accuracy_here, smoothness_here
from bridge.topics.tools.sampled_scores import (
    FAILURE,
    ROUNDED,
    SampledScore,
    losses_apart,
    off_autograd,
    steepest,
    weights_of,
)
from numeric.balls import float_above
from numeric.tools.mean_squares import MeanSquare
from numeric.tools.mixtures import Mixture, isotropic, noised, numbers
from numeric.tools.two_samples import apart
from symbolic.dynamics import diffusions as formulas
from symbolic.topics.icgd import diffusion as theory
from symbolic.words.errors import UsageError

ID = theory.DIFFUSION.id
DERIVED = ("derived",)
ACCURACY = 1e-12  # of scores in floats
POINTS = 1 << 16  # where errors are measured, and losses
DEVIATIONS = 6.0  # of a mean of draws


def read_targets(targets: str) -> bool:
    """Whether they are those of (H.2). Raises UsageError."""
    if targets not in ("scores", "denoising"):
        raise UsageError(f"{ID}: targets = '{targets:.80}'; give scores or denoising")
    return targets == "denoising"


def drawn_means(weights: Tensor, d: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(len(weights), d, generator=generator, dtype=torch.float64, device="cpu")


def drawn_start(N: int, K: int, d: int, B_v: float, eta: float, activation: str, seed: int) -> Tensor:
    return score_setting(N, K, d, B_v, eta, activation).prompts(1, 1, seed)["w"][0]


def learner(
    mixture: Mixture, draws: Tensor, start: Tensor, N: int, K: int, d: int, B_v: float, eta: float,
    activation: str, relus: int, targets: bool, scale: float, T_0: float, T: float, L: int,
) -> ScoreLearner:  # fmt: skip
    if len(draws) < len(mixture.weights):
        raise UsageError(f"{ID}: n = {len(draws)} examples of {len(mixture.weights)} components; give one for each")
    found, setting = noised(mixture, draws, T_0, T), score_setting(N, K, d, B_v, eta, activation)
    y = found.given if targets else mixture.at(found.t).score(found.x)
    scale = scale_of(y, setting.activation, scale)
    largest = float(torch.linalg.vector_norm(y / scale, dim=-1).max()) * (1 + ROUNDED)
    setting = replace(setting, B_y=max(setting.B_y, largest))  # a scale that is given may be small
    return ScoreLearner(found.x, found.t, y, setting, int(relus), scale, T, int(L), start)


# The score.


def score(mixture: Mixture, T_0: float, d: int, seed: int) -> Sides:
    off = off_autograd(mixture.at(T_0), 3 * numbers(256, d, seed)[:, 2 : 2 + d])
    return Sides(within(off, ACCURACY), measured=off, derived=0, proved=DERIVED, remark="relative, at 256 points")


def lipschitz(sampled: SampledScore, mixture: Mixture, T_0: float) -> Sides:
    pair, line = sampled.line_of_means
    alone = steepest(mixture.at(T_0), line)
    words = f"this mixture alone: {plain(alone)}; two of its means, at weights 1/2, attain the bound"
    found = max(alone, steepest(pair, line)) * (1 - ACCURACY)
    return Sides(found, proved=DERIVED, letters=sampled.letters, remark=words)


def size(sampled: SampledScore, learner: ScoreLearner, mixture: Mixture, T_0: float) -> Sides:
    directions = torch.nn.functional.normalize(torch.cat([-mixture.means, mixture.means, learner.x]), dim=-1)
    found = torch.linalg.vector_norm(mixture.at(T_0).score(learner.radius * directions), dim=-1)
    return Sides(float(found.max()) * (1 - ACCURACY), proved=DERIVED, letters=sampled.letters)


# The losses.


def ball(interval: MeanSquare) -> flint.arb:
    return flint.arb(interval.low).union(flint.arb(interval.high))


def how(d: int) -> str:
    return "enclosed" if d == 1 else f"by draws, with probability `1 - {plain(FAILURE)}`"


def information(sampled: SampledScore, d: int) -> Sides:
    found = sampled.information
    words = f"between {plain(found.low)} and {plain(found.high)}, {how(d)}"
    return Sides(ball(found), measured=found.low, proved=DERIVED, letters=sampled.letters, remark=words)


def least_information(sampled: SampledScore, d: int) -> Sides:
    return replace(information(sampled, d), measured=sampled.information.high)


def losses(sampled: SampledScore, mixture: Mixture, T_0: float, d: int, seed: int) -> Sides:
    """By the Fisher information."""
    found, most = sampled.information, flint.arb(d) / sampled.number(1 - formulas.a**2, t=T_0)
    measured, _ = differences(sampled, mixture, T_0, d, seed)
    remark = f"{plain(float(measured.mean()))} at {POINTS} draws, for the learnt score"
    apart = most - ball(found)
    return Sides(apart, measured=float(apart.upper()), proved=DERIVED, letters=sampled.letters, remark=remark)


def equivalent(sampled: SampledScore, mixture: Mixture, T_0: float, d: int, seed: int) -> Sides:
    learnt, zero = differences(sampled, mixture, T_0, d, seed)
    change = learnt - zero
    found, off = float(change.mean()), float(change.std()) / POINTS**0.5
    words = f"the learnt score against 0: {plain(found)} at {POINTS} draws, with a standard error of {plain(off)}"
    return Sides(derived=0, proved=("printed", *DERIVED) if abs(found) <= DEVIATIONS * off else (), remark=words)


def differences(sampled: SampledScore, mixture: Mixture, t: float, d: int, seed: int) -> tuple[Tensor, Tensor]:
    """(H.2) - (H.1) at draws: of the learnt score, and of the score 0."""
    drawn = noised(mixture, numbers(POINTS, d, seed), t, t)
    exact = mixture.at(t).score(drawn.x)
    return losses_apart(sampled.learnt.at(drawn.x, t), drawn.given, exact), losses_apart(0 * exact, drawn.given, exact)


# Learning.


def path(learner: ScoreLearner, eta: float, L: int) -> Sides:
    """At the step where the distance is the largest share of its bound."""
    smoothest, eps = (
        float_above(each(learner.setting, learner.emulation)) for each in (smoothness_here, accuracy_here)
    )
    bounds, known = [], 0.0
    for _ in range(int(L)):
        known = min((1 + eta * smoothest) * known + eta * eps, learner.setting.diameter)
        bounds.append(known)
    distances = torch.linalg.vector_norm(learner.path - learner.descent[: int(L)], dim=-1)
    sharp = sum(each < learner.setting.diameter for each in bounds)
    words = (
        f"the largest share over {int(L)} steps; `e_l` is below the diameter {plain(learner.setting.diameter)} for the "
        f"first {sharp}; largest distance {plain(float(distances.max()))}"
    )
    return Sides(float((distances / distances.new_tensor(bounds)).max()), proved=DERIVED, remark=words)


def errors(learner: ScoreLearner, mixture: Mixture, d: int, T_0: float, T: float, seed: int) -> NamedTable:
    """Approximation, optimisation and emulation apart, at fresh draws of (x, t), t uniform in [T_0, T]."""
    drawn = noised(mixture, numbers(POINTS // 4, d, seed + 1), T_0, T)
    fresh, exact = (drawn.x, drawn.t), mixture.at(drawn.t).score(drawn.x)
    ends = (learner.descent[-1], learner.descent[learner.L - 1])
    longer, as_long = (learner.predicted(w, learner.r, *fresh) for w in ends)
    network = learner.learnt.at(*fresh)
    found = {
        "2 L exact steps against the score": (longer, exact),
        "L exact steps against the score": (as_long, exact),
        "L steps of the network against the score": (network, exact),
        "optimisation: L against 2 L exact steps": (as_long, longer),
        "emulation: the network against L exact steps": (network, as_long),
    }
    rows: list[list[str | int | float | None]] = [[name, off(*pair), explained(*pair)] for name, pair in found.items()]
    on_prompt = explained(learner.learnt.at(learner.x, learner.t), learner.y)
    rows.append(["L steps of the network against the targets of the prompt", None, on_prompt])
    title = "errors of the score at fresh points; the approximation error is at most the first"
    return NamedTable(title=title, columns=["", "root mean square", "R^2"], rows=rows)


def explained(predicted: Tensor, y: Tensor) -> float:
    return 1 - float(((predicted - y) ** 2).sum() / ((y - y.mean(0)) ** 2).sum())


def off(x: Tensor, y: Tensor) -> float:
    return float(((x - y) ** 2).sum(-1).mean().sqrt())


# Samples.


def total_variation(sampled: SampledScore, d: int, seed: int) -> Sides:
    found = apart(sampled.samples(seed), sampled.truth(seed + 1), FAILURE)
    start, error, steps = sampled.start, sampled.score_error, sampled.discretisation
    known = {formulas.start: start, formulas.score_error: error, formulas.discretisation: steps}
    words = (
        f"`E_0 <= {plain(start)}`, `E_s <= {plain(error)}` ({how(d)}), `E_h <= {plain(steps)}`; measured on samples, "
        f"at least {plain(found.sure)} with probability `1 - {plain(FAILURE)}`"
    )
    return Sides(found.sure, measured=found.seen, proved=DERIVED if d == 1 else (), letters=known, remark=words)


def work(L: Count, N: Count, K: Count, d: Count, n: Count, M: Count) -> Work:
    """In each step about 30 passes through the layers, and 2 more of exact descent; at each time, all points."""
    weights = N * K * (K + d)
    return Work(before=Cost(8 * L * weights + 2**28, 4e-4 * L * N + 5e-9 * L * n * weights + 3e-6 * M * weights))


SIDES: Mapping[str, Callable[..., Sides]] = {
    "score": score,
    "score.lipschitz": lipschitz,
    "score.size": size,
    "information": information,
    "information.least": least_information,
    "losses": losses,
    "losses.equivalent": equivalent,
    "path": path,
    "total_variation": total_variation,
}
DIFFUSION = Theorem(
    theory.DIFFUSION,
    main="total_variation",
    readers={"weights": lambda weights: weights_of(ID, weights), "targets": read_targets},
    weights={"means": drawn_means, "draws": lambda n, d, seed: numbers(n, d, seed), "start": drawn_start},
    built={
        "mixture": lambda weights, means, s: isotropic(weights, means, s),
        "learner": learner,
        "sampled": lambda learner, mixture, s, T_0, T, M: SampledScore(learner.learnt, mixture, s, T_0, T, int(M)),
    },
    at_point=AtPoint(quantities=lambda d: theory.quantities_at(d, sp.Rational(str(FAILURE)))),
    knobs=Knobs(automatic=("scale",)),
    checks=checks_of(theory.DIFFUSION, SIDES),
    tables=(errors,),
    sources=(TABLE,),
    work=work,
)
