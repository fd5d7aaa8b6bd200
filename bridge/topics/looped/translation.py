"""The table of section 5.5 of algoformer as checks over seeds, on two texts of the user's."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from bridge.judging.seeds import DIFFERENCE
from bridge.limits.cost import Cost, Count, Work
from bridge.limits.files import read_text
from bridge.questions.train import AT_ONCE
from bridge.topics.tools.trained_claims import Experiment, trained_claim, trained_theorem
from bridge.topics.tools.trainings import TrainingPlan, training_memory
from numeric.training.tasks import TrainingBatch
from numeric.training.translation import FIRST_WORD, NOT_PREDICTED, TranslatedLines
from symbolic.topics.looped import translation as theory

ID = theory.TRANSLATION.id
TEXTS = "source_text", "target_text"
PAPERS = "the table is of IWSLT 2015 and of a training that is not printed"


@dataclass(frozen=True)
class TranslationExperiment(Experiment):
    """On texts that may be absent: then there is nothing to train on."""

    @property
    def size(self) -> str:
        own = f"after {self.at['steps']} steps at width {self.at['width']}, on texts of your own"
        return f"{own}; the paper's width is {self.printed['width']}, on IWSLT 2015"

    @property
    def excuse(self) -> str:
        return PAPERS

    @property
    def absent(self) -> list[str]:
        """The texts that were not given."""
        return [name for name in TEXTS if not self.at[name]]

    def missing(self, plans: Iterable[TrainingPlan], seeds: Iterable[int]) -> str:
        if self.absent:
            give = " ".join(f"--set {name}=FILE" for name in self.absent)
            return f"there is no {' and no '.join(self.absent)}; give {give}, in UTF-8, with a sentence a line"
        return super().missing(plans, seeds)


def plan(at: Mapping[str, Any], model: str) -> TrainingPlan:
    """The training of that model at the sizes of the row."""
    looped = {"layers": at["layers"]} if model == "standard" else {"layers": 1, "T": at["T"], "delta_T": at["delta_T"]}
    names = (*TEXTS, "words", "length", "width", "heads", "steps", "batch", "rate")
    return TrainingPlan.of("translation", model, {**{name: at[name] for name in names}, **looped})


def cross_entropy(experiment: Experiment, made: TrainingPlan, seed: int) -> float:
    """Of a token of the target, its end counted, over the pairs of the validation."""
    trained = experiment.trainings.get(made, seed)
    task, total = trained.task, 0.0
    assert isinstance(task, TranslatedLines)
    whole = task.validation(experiment.at["prompts"])
    with torch.no_grad():
        for tokens, targets in zip(whole.tokens.split(AT_ONCE), whole.targets.split(AT_ONCE), strict=True):
            nats = task.nats(trained.model(tokens)[-1:], TrainingBatch(tokens, targets))  # (1, B, L)
            total += float(nats.double().sum())
    return total / int((whole.targets != NOT_PREDICTED).sum())


def paired(one: str, other: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The cross-entropies of two models."""

    def plans(experiment: TranslationExperiment) -> list[TrainingPlan]:
        return [] if experiment.absent else [plan(experiment.at, each) for each in (one, other)]

    def measure(experiment: TranslationExperiment, seed: int) -> list[float]:
        return [cross_entropy(experiment, each, seed) for each in plans(experiment)]

    return measure, plans


MEASURES = {each.name: paired(*each.name.split(".")) for each in theory.QUANTITIES}


def read_path(name: str, path: str) -> str:
    """The path of a text that can be read. Raises UsageError."""
    if path:
        read_text(path, f"{ID}: {name}")
    return path


def work(
    words: Count, length: Count, width: Count, heads: Count, layers: Count, T: Count, delta_T: Count, batch: Count
) -> Work:
    """The largest training: its layers, and the scores of all tokens of the vocabulary at each iterate."""
    tokens = FIRST_WORD + words
    model = training_memory(length, width, heads, max(layers, 6), max(layers, 2 * (T + 2)), max(batch, AT_ONCE))
    return Work(before=Cost(model + 4 * tokens * (8 * width + 3 * (delta_T + 1) * max(batch, AT_ONCE) * length)))


TRANSLATION = trained_theorem(
    theory.TRANSLATION,
    theory.PRINTED,
    [trained_claim(theory.TRANSLATION.quantity(name), DIFFERENCE, *each) for name, each in MEASURES.items()],
    main="algoformer.standard",
    plans=lambda experiment: [made for _, plans in MEASURES.values() for made in plans(experiment)],
    readers={
        "source_text": lambda source_text: read_path("source_text", source_text),
        "target_text": lambda target_text: read_path("target_text", target_text),
    },
    kind=TranslationExperiment,
    work=work,
)
