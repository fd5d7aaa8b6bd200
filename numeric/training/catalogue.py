"""The tasks and models by the names that users type."""

from typing import Any

from torch import nn

from numeric.training import models
from numeric.training.sequences import AutoregressiveSeries, ChainOfStates, InductionHeadTask, LettersOfText
from numeric.training.tasks import LearningTask, LinearRegression, NetworkRegression, RegressionWithRepresentation
from numeric.training.translation import TranslatedLines

TASKS: dict[str, type[LearningTask]] = {
    "linear": LinearRegression,
    "representation": RegressionWithRepresentation,
    "network": NetworkRegression,
    "series": AutoregressiveSeries,
    "chain": ChainOfStates,
    "induction": InductionHeadTask,
    "text": LettersOfText,
    "translation": TranslatedLines,
}
TEXTS = "text", "source_text", "target_text"  # settings that are the content of a file
MODELS: dict[str, tuple[type[Any], type[nn.Module]]] = {
    "standard": (models.Architecture, models.StandardTransformer),
    "looped": (models.LoopedArchitecture, models.LoopedTransformer),
    "algoformer": (models.LoopedArchitecture, models.AlgoFormer),
    "linear": (models.LinearArchitecture, models.LinearAttentionLayer),
}
