"""`boundsmith train`: a model trained on a task in a folder, saved as it goes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bridge.cli.terminal import progress, show, show_json
from bridge.questions.train import Trained, train
from numeric.training.trainer import TrainingProgress

SHOWN = 12  # errors in a line of the terminal


def run_train(task: str, folder: Path, options: Mapping[str, Any], *, as_json: bool) -> None:
    """`options` are the keyword arguments of `train` that the user gave. Raises KeyboardInterrupt after one."""
    with progress(f"training on {task}") as report:

        def seen(at: TrainingProgress) -> None:
            rate = at.step / at.seconds if at.seconds else 0.0
            report(at.step, at.steps, f"loss {at.loss:.4g}, {rate:.3g} steps a second")

        trained = train(task, folder=folder, progress=seen, **options)
    record = trained.record
    if trained.interrupted:
        show(f"saved: step {record['step']} of {record['steps']} in {folder}; --resume goes on")
        raise KeyboardInterrupt
    errors = trained.errors()
    if as_json:
        show_json({**record, "errors": errors})
        return
    show(*_words(trained, record, errors))


def _words(trained: Trained, record: Mapping[str, Any], errors: list[float]) -> list[str]:
    step, steps = record["step"], record["steps"]
    rest = "" if step == steps else "; --resume goes on"
    shown = errors if len(errors) <= SHOWN else [*errors[: SHOWN - 1], errors[-1]]
    by_token = f"by predicted token{'' if shown == errors else ' (some left out)'}: "
    return [
        f"{record['model']} on {record['task']}, {record['parameters']} parameters: step {step} of {steps}, "
        f"{record['seconds']:.1f} s{rest}",
        f"mean error over prompts that were not trained on: {sum(errors) / len(errors):.4g}",
        *([by_token + " ".join(f"{each:.3g}" for each in shown)] if trained.task.aligned else []),
        f"written: {trained.folder}",
    ]
