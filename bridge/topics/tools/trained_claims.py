"""Claims of figures about trained models, as checks over seeds."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor

from bridge.judging.seeds import claim_over_seeds
from bridge.limits.cost import Cost
from bridge.questions.train import AT_ONCE
from bridge.theorems.check import Check, Sides
from bridge.theorems.theorem import Theorem
from bridge.topics.tools.trainings import TrainingPlan, Trainings, read_trainings
from numeric.training.tasks import HELD_OUT, LearningTask, TrainingBatch
from symbolic.statements.result import Quantity, Result

SEEDS = 3  # of each claim
TRAINED = "trained"  # the parameter: a folder
PAPERS = "the figure is of the paper's size"


@dataclass(frozen=True)
class Experiment:
    """The parameters of a row, by name, and where its trainings come from.

    `printed` are those of the paper: a tuple where it has several.
    """

    at: Mapping[str, Any]
    trainings: Trainings
    printed: Mapping[str, Any]

    @property
    def unlike(self) -> list[str]:
        """The parameters that are not the paper's."""
        several = {name: value if isinstance(value, tuple) else (value,) for name, value in self.printed.items()}
        return [name for name, values in several.items() if self.at[name] not in values]

    @property
    def size(self) -> str:
        """After how much training the claims are judged."""
        if not self.unlike:
            return "at the paper's size"
        own, paper = (f"{of['steps']} steps at width {of['width']}, `d = {of['d']}`" for of in (self.at, self.printed))
        if own != paper:
            return f"after {own}; the paper trains for {paper}"
        return f"after {own}, as in the paper; not the paper's: {', '.join(self.unlike)}"

    @property
    def excuse(self) -> str:
        """Why a claim that fails here is not refuted; "" at the paper's size."""
        return PAPERS if self.unlike else ""

    def missing(self, plans: Iterable[TrainingPlan], seeds: Iterable[int]) -> str:
        """Which training there is not, and what makes it; "" if all are there."""
        return self.trainings.missing(plans, seeds)

    def errors(self, plan: TrainingPlan, seed: int, task: LearningTask | None = None) -> list[float]:
        """The mean error of that training at each predicted token, over prompts that none has seen."""
        return self.trainings.get(plan, seed).errors(self.at["prompts"], task)

    def batches(self, task: LearningTask, dtype: torch.dtype) -> list[TrainingBatch]:
        """These prompts."""
        prompts = self.at["prompts"]
        counts = [min(AT_ONCE, prompts - drawn) for drawn in range(0, prompts, AT_ONCE)]
        return [task.batch(count, 0, number, HELD_OUT, dtype) for number, count in enumerate(counts)]

    def examples(self, task: LearningTask, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """Their x (B, n + 1, d) and y (B, n + 1, m), of a regression, in float64."""
        found = [(each.x, each.y) for each in self.batches(task, dtype)]
        x, y = ([each for each in column if each is not None] for column in zip(*found, strict=True))
        return torch.cat(x).double(), torch.cat(y).double()


def trained_claim(
    quantity: Quantity,
    statistic: str,
    measure: Callable[[Any, int], Any],
    plans: Callable[[Any], Iterable[TrainingPlan]],
    other: str = "",
) -> Check:
    """A check of `measure(experiment, seed)`. It is outside where a training of `plans(experiment)` is missing.

    At another size than the paper's a claim that fails is outside too: the paper makes it of its own size. So it is
    where the task or the model is never the paper's: `other` says how.
    """

    def measured(seed: int, experiment: Experiment) -> Any:
        return measure(experiment, seed)

    own = claim_over_seeds(quantity, measured, statistic=statistic, seeds=SEEDS)

    def sides(seeds: Any, seed: int, experiment: Experiment) -> Sides:
        if missing := experiment.missing(plans(experiment), map(int, seeds.tolist())):
            return Sides(outside=missing)
        found = own.sides(seeds=seeds, seed=seed, experiment=experiment)
        return replace(found, remark=experiment.size, excuse=experiment.excuse or other)

    return Check(own.quantity, sides, own.inputs)


def trained_theorem(
    statement: Result,
    printed: Mapping[str, Any],
    checks: Sequence[Check],
    *,
    main: str,
    plans: Callable[[Experiment], Iterable[TrainingPlan]],
    readers: Mapping[str, Callable[..., Any]] = MappingProxyType({}),
    kind: type[Experiment] = Experiment,
    **parts: Any,
) -> Theorem:
    """The theorem of these checks. `plans` names all trainings: where they are made here, they may take too long."""
    names = [each.name for each in statement.parameters]

    def experiment(**known: Any) -> Experiment:
        found = kind({name: known[name] for name in names if name != TRAINED}, known[TRAINED], printed)
        here, prompts = not found.trainings.folder, found.at["prompts"]
        cost = Cost(0, SEEDS * sum(each.seconds(prompts, here) for each in dict.fromkeys(plans(found))))
        cost.require(statement.id, "lower steps, prompts or sizes, or name a folder of stored trainings as trained")
        cost.announce(statement.id)
        return found

    given = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in names]
    experiment.__signature__ = inspect.Signature(given)  # type: ignore[attr-defined]
    return Theorem(
        statement,
        main=main,
        built={"experiment": experiment},
        readers={**readers, TRAINED: lambda trained: read_trainings(statement.id, trained)},
        checks=tuple(checks),
        **parts,
    )
