"""Figures of trained transformers beside what was asked: `python -m benchmarks.training -o FOLDER [NAME...]`.

Each training is read from the folder, or made there; one that was stopped goes on. A line has what is measured, what is
asked of it, and the number of each seed. Exits with 1 if one is not kept.
"""

import argparse
import math
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import torch

from benchmarks import training_runs
from benchmarks.trained_models import DESCENT, LONGEST, RECIPES, Stored
from benchmarks.training_runs import Line, Lines
from boundsmith.training import BEST_STEP, LEAST_STEP_LOSS, Trained, best_step_size, constructed, descent, descent_fit
from bridge.questions.train import set_up
from bridge.topics.icgd.pretraining_measures import of_prompt, r_squared
from numeric.training.tasks import HELD_OUT, NetworkRegression, TrainingBatch
from symbolic.words.errors import UsageError

PROMPTS = 2048
MIXTURES = 0.5, 0.7, 0.9, 1.0  # weights of N(-2, I), the first that of the training
LENGTHS = 5, 15, 30, 45, 50, 60, 75
DEPTHS, BEHIND = (1, 2, 4), (15, 30, 45)
LOOPS = 1, 3, 6, 9, 12, 25, 50
SCALES = 1, 2, 4


def linear_attention(stored: Stored) -> Lines:
    """One linear attention layer beside the step of gradient descent of least loss, exactly."""
    trained = stored.seeds("linear")
    task = trained[0].task
    at = {"d": task.d, "N": task.examples, "sigma": 0}
    best, least = (
        float(each.subs({s: at[s.name] for s in each.free_symbols})) for each in (BEST_STEP, LEAST_STEP_LOSS)
    )
    losses = [each.errors(64 * PROMPTS)[-1] for each in trained]
    fits = [descent_fit(each.model) for each in trained]
    yield Line(f"loss over {least:.4f}, less 1", [abs(each / least - 1) for each in losses], most=0.015)
    yield Line("distance of the values from a step's", [each.value for each in fits], most=0.05)
    yield Line("distance of keys and queries from a step's", [each.key_query for each in fits], most=0.05)
    yield Line(f"step size over {best:.4f}, less 1", [abs(each.step_size / best - 1) for each in fits], most=0.03)
    batch = task.batch(16 * PROMPTS, 0, 0, HELD_OUT, torch.float64)
    for k in (1, 2, 3, 5):
        yield Line(f"loss of {k} steps of gradient descent, at their best size", [descended(batch, k)])


def descended(batch: TrainingBatch, k: int) -> float:
    return squared(descent(batch.x, batch.y, best_step_size(batch.x, batch.y, k), k), batch.y)


def squared(predicted: torch.Tensor, y: torch.Tensor) -> float:
    return float(((predicted - y[:, -1]) ** 2).sum(-1).mean())


def regression(stored: Stored) -> Lines:
    """Three models at their steps; their losses at equal steps, equal time, and beside one of as many parameters."""
    names = {"standard": 0.02, "looped": 0.03, "algoformer": 0.03}
    for name, most in names.items():
        yield Line(f"{name}, error after 9 examples", [each.errors(PROMPTS)[9] for each in stored.seeds(name)], most)
    yield Line(
        "standard of one layer, error after 9 examples", [each.errors(PROMPTS)[9] for each in stored.seeds("small")]
    )
    runs = {name: stored.seeds(name) for name in (*names, "small")}
    for name, trained in runs.items():
        yield Line(f"{name}, parameters", [trained[0].record["parameters"]])
    steps = min(each.trainer.step for trained in runs.values() for each in trained)
    seconds = min(each.trainer.seconds for trained in runs.values() for each in trained)
    for share in (0.25, 0.5, 1.0):
        for name, trained in runs.items():
            yield Line(
                f"{name}, loss around step {share * steps:.0f}", [near(each, 0, share * steps) for each in trained]
            )
        for name, trained in runs.items():
            at = share * seconds
            yield Line(f"{name}, loss around {at:.0f} s", [near(each, 2, at) for each in trained])


def near(trained: Trained, column: int, end: float) -> float:
    """The mean of the last 8 losses that were looked at up to there, by steps (column 0) or seconds (2)."""
    losses = [each[1] for each in trained.trainer.history if each[column] <= end][-8:]
    return sum(losses) / len(losses) if losses else math.nan


def length(stored: Stored) -> Lines:
    """Errors behind more examples than were trained on, over that behind all that were."""
    for name, positions in (("standard", "learnt"), ("none", "no"), ("alibi", "Alibi")):
        curves = []
        for trained in stored.seeds(name):
            task = trained.task
            errors = trained.errors(PROMPTS, replace(task, examples=LONGEST))
            curves.append([each / errors[task.examples] for each in errors])
        for n in (15, LONGEST):
            most, least = (2.0 if name == "none" else math.inf), (3.0 if name == "standard" else -math.inf)
            what = f"{positions} positions, error after {n} examples over that after 10"
            yield Line(what, [each[n] for each in curves], most, least)


def networks(stored: Stored) -> Lines:
    """R^2 against the length of the prompt, beside networks that are trained on the prompt (the best of 100 epochs)."""
    at = trained_networks(stored, "softmax", 4)[0].task
    for w1 in MIXTURES:
        task = replace(at, examples=LENGTHS[-1], w1=w1)
        shown = f"mixture {w1:g}, R^2 after {', '.join(map(str, LENGTHS))} examples"
        for kind in ("softmax", "relu"):
            for trained in trained_networks(stored, kind, 4):
                yield Line(f"{kind}, {shown}", scores(trained, task, LENGTHS))
        own = [of_prompt(replace(task, examples=n), PROMPTS // 4, 0) for n in LENGTHS]
        yield Line(f"trained on the prompt, {shown}", own)


def trained_networks(stored: Stored, kind: str, depth: int) -> list[Trained]:
    return stored.seeds(f"{kind}-{depth}")


def scores(trained: Trained, task: NetworkRegression, lengths: Sequence[int]) -> list[float]:
    """R^2 behind each number of examples."""
    counts = range(PROMPTS // 256)
    y = torch.cat([task.batch(256, 0, number, HELD_OUT).targets for number in counts]).double()  # (B, n + 1, 1)
    errors = trained.errors(PROMPTS, task)
    return [r_squared(errors[n], y[:, n]) for n in lengths]


def depth(stored: Stored) -> Lines:
    """R^2 of three depths behind 15, 30 and 45 examples, and the smaller of the two gains."""
    for kind in ("softmax", "relu"):
        columns = []
        for layers in DEPTHS:
            (trained,) = trained_networks(stored, kind, layers)
            columns.append(scores(trained, trained.task, BEHIND))
            yield Line(f"{kind} of depth {layers}, R^2 after {', '.join(map(str, BEHIND))} examples", columns[-1])
        gains = [min(b - a for a, b in pairwise(row)) for row in zip(*columns, strict=True)]
        yield Line(f"{kind}, smallest gain of a deeper one", gains, least=0.0)


def loops(stored: Stored) -> Lines:
    """AlgoFormers beyond the loops that they were trained for."""
    for width in (6, 3, 1):
        curves = [after_loops(each) for each in stored.seeds(f"loops-{width}")]
        for count in LOOPS:
            yield Line(f"(T, Delta T) = (6, {width}), error after {count} loops", [each[count - 1] for each in curves])
        worst = [max(each[5:]) / each[5] for each in curves]
        yield Line(f"(T, Delta T) = (6, {width}), largest error of 6 to 50 loops over that of 6", worst)


def after_loops(trained: Trained) -> list[float]:
    """The error at the query after 1, ..., 50 loops."""
    model, task = trained.model, trained.task
    sums = torch.zeros(LOOPS[-1], dtype=torch.float64)
    with torch.no_grad():
        for number in range(PROMPTS // 256):
            batch = task.batch(256, 0, number, HELD_OUT)
            sums += task.errors(model(batch.tokens, 1, LOOPS[-1]), batch)[..., -1].double().sum(1)
    return (sums / PROMPTS).tolist()


# For w with y = w^T x and S = X^T X / n, T steps of size eta from 0 miss w^T (I - eta S)^T x, whose absolute value is
# at most max_i |1 - eta lambda_i|^T |w| |x|.


def construction(stored: Stored) -> Lines:
    """A model that starts at gradient descent as it was built: before, after two minutes, at scaled inputs."""
    trained = stored.seeds("descent")
    task, at = trained[0].task, DESCENT
    built = constructed("looped.gradient_descent", **at)
    recipe, batch = RECIPES["descent"], task.batch(PROMPTS, 0, 0, HELD_OUT, torch.float64)
    start = set_up(recipe.task, recipe.model, "cpu", recipe.settings).model
    x, y = batch.x, batch.y
    before, own = squared(answers(start, batch), y), squared(built(x, y), y)
    yield Line(f"loss at the start less {own:.6f}, the construction's", [abs(before - own)], most=1e-6)
    after = [squared(answers(each.model, batch), y) for each in trained]
    yield Line("loss after two minutes over that at the start", [each / own for each in after], most=1.0)
    yield Line("steps in two minutes", [each.trainer.step for each in trained])
    yield Line("loss of 3 steps of gradient descent, at their best size", [descended(batch, 3)])
    for scale in SCALES:
        scaled = task.prompts(scale * x, scale * y)
        x_s, y_s = scale * x, scale * y
        found = [answers(each.model, scaled) for each in trained]
        bound = descent_bound(x_s, y_s, float(at["eta"]), int(at["T"]))
        yield Line(f"inputs times {scale}, loss after training", [squared(each, y_s) for each in found])
        yield Line(f"inputs times {scale}, loss of the construction", [squared(built(x_s, y_s), y_s)])
        yield Line(f"inputs times {scale}, gradient descent's bound on it, in the mean", [float((bound**2).mean())])
        above = [float(((each - y_s[:, -1]).abs()[:, 0] > bound).double().mean()) for each in found]
        yield Line(f"inputs times {scale}, share of prompts above their bound after training", above)


def answers(model: torch.nn.Module, batch: TrainingBatch) -> torch.Tensor:
    with torch.no_grad():
        found: torch.Tensor = model(batch.tokens.float())[-1, :, 0].double()
    return found


def descent_bound(x: torch.Tensor, y: torch.Tensor, eta: float, T: int) -> torch.Tensor:
    """max_i |1 - eta lambda_i|^T |w| |x| at each prompt."""
    known = x[:, :-1]
    eigenvalues = torch.linalg.eigvalsh(known.mT @ known / known.shape[1])  # (B, d)
    w = torch.linalg.pinv(known) @ y[:, :-1]  # (B, d, 1)
    return (1 - eta * eigenvalues).abs().amax(1) ** T * w.norm(dim=(1, 2)) * x[:, -1].norm(dim=1)


FIGURES: Mapping[str, Callable[[Stored], Lines]] = {
    "linear-attention": linear_attention,
    "regression": regression,
    "length": length,
    "networks": networks,
    "depth": depth,
    "loops": loops,
    "construction": construction,
}
RUNS: Mapping[str, Callable[[], Lines]] = {
    "kills": training_runs.kills,
    "seconds": training_runs.seconds,
    "overhead": training_runs.overhead,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.training", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join([*FIGURES, *RUNS])} (all)")
    parser.add_argument("-o", "--output", type=Path, help="folder of the trainings (a temporary one)")
    options = parser.parse_args()
    for name in options.names:
        if name not in FIGURES and name not in RUNS:
            parser.error(f"there is no figure '{name}'; choose from {', '.join([*FIGURES, *RUNS])}")
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as aside:
        folder = options.output or Path(aside)
        folder.mkdir(parents=True, exist_ok=True)
        stored, kept = Stored(folder), True
        for name in options.names or [*FIGURES, *RUNS]:
            try:
                for line in FIGURES[name](stored) if name in FIGURES else RUNS[name]():
                    print(f"{name}: {line}", flush=True)
                    kept &= line.kept
            except KeyboardInterrupt:
                print(f"stopped; the same command with -o {folder} goes on", file=sys.stderr)
                return 130
            except UsageError as refusal:
                parser.error(str(refusal))
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
