"""The options of `boundsmith train`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from bridge.cli.options import Json, flag, taking

OPTIONS = {"model", "seed", "steps", "seconds", "interval", "resume", "device", "dtype", "compile"}
TAKEN = OPTIONS | {"folder", "progress", "task"}  # by `train`, so that none of them is a setting


def train_model(
    task: Annotated[
        str,
        typer.Argument(
            metavar="TASK", help="linear, representation, network, series, chain, induction, text or translation."
        ),
    ],
    output: Annotated[Path, taking("FOLDER", "Where the checkpoint is written, and read again.", "-o", "--output")],
    model: Annotated[
        str | None,
        taking(
            "NAME", "standard (default), looped, algoformer, linear; to start at a construction, the id of its result."
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        taking("NAME=VALUE", "A setting of task, model or optimisation, as width=64. Repeatable.", "--set"),
    ] = None,
    seed: Annotated[int | None, taking("N", "Random seed of first weights and prompts.", min=0)] = None,
    steps: Annotated[int | None, taking("N", "Steps in all, those of earlier calls counted (1000).")] = None,
    seconds: Annotated[float | None, taking("S", "End this call after S seconds; --resume goes on.")] = None,
    interval: Annotated[float | None, taking("S", "Seconds between two checkpoints (60).")] = None,
    resume: Annotated[bool, flag("--resume", "Go on with the training in FOLDER.")] = False,
    device: Annotated[str | None, taking("DEVICE", "Device: cpu or cuda.")] = None,
    dtype: Annotated[str | None, taking("FORMAT", "float32, float64, or bfloat16 (autocast).")] = None,
    compile: Annotated[bool, flag("--compile", "By torch.compile.")] = False,
    json: Json = False,
) -> None:
    """Train a transformer on a task. It is saved as it goes, and a resumed training ends with the same weights."""
    from bridge.cli.requests import parameters
    from bridge.cli.training import run_train
    from numeric.training.catalogue import TEXTS

    options = {"model": model, "seed": seed, "steps": steps, "seconds": seconds, "interval": interval}
    options |= {"device": device, "dtype": dtype, "resume": resume or None, "compile": compile or None}
    given = {name: value for name, value in options.items() if value is not None}
    set_by_user = parameters(settings or [], texts=set(TEXTS))
    require_no_option(set_by_user)
    run_train(task, output, {**given, **set_by_user}, as_json=json)


def require_no_option(settings: dict[str, Any]) -> None:
    """Raises UsageError for a setting that is an option."""
    from symbolic.words.errors import UsageError

    for name in settings:
        if name in TAKEN:
            how = f"give --{name}" if name in OPTIONS else "leave it out"
            raise UsageError(f"train: {name} is no setting; {how}")
