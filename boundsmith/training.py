"""Transformers that are trained, beside the constructed ones: `import boundsmith.training`.

- train and read again: train, load, Trained
- what runs: TASKS, MODELS
- what they are compared with: zero, least_squares, descent, best_step_size, newton, trained_on_prompt
- errors of these behind 0, 1, ... examples: error_curve, named_baselines, constructed
- how far a trained model is from another or a baseline: output_distance, matrix_distances, loss_along_segment
- where heads attend, beside those of a construction: attention_overlap, attention_patterns
- one linear attention layer as one step of gradient descent: descent_fit, descent_layer
- the prompt at which a model is worst beside a baseline: worst_prompt
- one step of gradient descent exactly, in SymPy: STEP_LOSS, BEST_STEP, LEAST_STEP_LOSS
- what the functions that compare raise for a task or a number that does not fit: TrainingError
"""

from bridge.questions.constructed import MODELS, constructed
from bridge.questions.train import Trained, load, train
from numeric.training.baselines import (
    best_step_size,
    descent,
    error_curve,
    least_squares,
    named_baselines,
    newton,
    trained_on_prompt,
    zero,
)
from numeric.training.catalogue import TASKS
from numeric.training.comparing import (
    descent_fit,
    descent_layer,
    loss_along_segment,
    matrix_distances,
    output_distance,
    worst_prompt,
)
from numeric.training.errors import TrainingError
from numeric.training.patterns import attention_overlap, attention_patterns
from symbolic.dynamics.gaussian_regression import BEST_STEP, LEAST_STEP_LOSS, STEP_LOSS

__all__ = [
    "train",
    "load",
    "Trained",
    "TASKS",
    "MODELS",
    "zero",
    "least_squares",
    "descent",
    "best_step_size",
    "newton",
    "trained_on_prompt",
    "error_curve",
    "named_baselines",
    "constructed",
    "output_distance",
    "matrix_distances",
    "loss_along_segment",
    "attention_overlap",
    "attention_patterns",
    "descent_fit",
    "descent_layer",
    "worst_prompt",
    "STEP_LOSS",
    "BEST_STEP",
    "LEAST_STEP_LOSS",
    "TrainingError",
]
