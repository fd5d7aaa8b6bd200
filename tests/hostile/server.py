"""Runs calls of `boundsmith`, each in a process of its own, without an import for each: this process imports everything
once and forks.

    python -m tests.hostile.server

reads one JSON object a line, the fields of `Asked`, and answers each with the fields of `Answer`.
"""

import contextlib
import gc
import json
import os
import resource
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NoReturn

ROOT = Path(__file__).parents[2]
GUARD = 900.0  # seconds until a call counts as hanging, on any machine, however busy
MOST_DATA = 3 << 30  # bytes that a call may ask for: beyond it the call fails, and not the machine
LOOK = 0.005  # seconds between two looks at a call that runs


@dataclass(frozen=True)
class Asked:
    """One call: arguments of the command line or, if `python`, the name of one of `tests.hostile.calls.PYTHON`.

    `output` says where standard output goes: "file", "closed", "full" (a device without room). `room` is the most bytes
    that a file may get. `event` is what happens to the call: "" nothing, "kill" (SIGKILL, while its first file is
    written), "interrupt" (Ctrl-C, after a second of work), "interrupt when announced" (Ctrl-C at the first words on
    standard error).
    """

    arguments: tuple[str, ...]
    folder: str
    python: bool = False
    output: str = "file"
    room: int | None = None
    event: str = ""
    guard: float = GUARD


@dataclass(frozen=True)
class Answer:
    """`code` is the exit code, negative for a signal; `announced` the seconds until the first words on stderr."""

    code: int
    out: str
    err: str
    mebibytes: float
    seconds: float
    processor: float
    announced: float | None
    hung: bool


class Server:
    """The other process, as a context: `ask` runs one call."""

    def __enter__(self) -> "Server":
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "80", "PYTHONPATH": str(ROOT)}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.hostile.server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=environment,
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()

    def ask(self, asked: Asked) -> Answer:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asdict(asked)) + "\n")
        self._process.stdin.flush()
        return Answer(**json.loads(self._process.stdout.readline()))


# ---- in the other process ------------------------------------------------------------------------------------------


def load_everything() -> None:
    import matplotlib.figure  # noqa: F401 - loaded for the calls
    import rich.progress  # noqa: F401
    import torch

    import bridge.cli.certifying
    import bridge.cli.describe
    import bridge.cli.rechecking
    import bridge.cli.running
    import bridge.export.plots
    import bridge.questions.certify.obligations
    import bridge.questions.compare
    import bridge.questions.solve  # noqa: F401
    import tests.hostile.calls  # noqa: F401
    from bridge.theorems.registry import theorems

    torch.set_num_threads(1)
    theorems()
    gc.collect()
    gc.freeze()  # a collection in a child would touch, and so copy, all of it


def answer(asked: Asked) -> Answer:
    words = {name: Path(asked.folder) / f".{name}" for name in ("out", "err")}
    with words["out"].open("wb") as out, words["err"].open("wb") as err:
        begun = time.monotonic()
        child = os.fork()
        if child == 0:
            _run(asked, out, err)
        hung, announced = _watched(child, asked, err, begun)
    _, status, used = os.wait4(child, 0)
    found = {name: path.read_bytes().decode(errors="replace") for name, path in words.items()}
    for path in words.values():
        path.unlink()
    return Answer(
        code=os.waitstatus_to_exitcode(status),
        **found,
        mebibytes=used.ru_maxrss / 1024,
        seconds=time.monotonic() - begun,
        processor=used.ru_utime + used.ru_stime,
        announced=announced,
        hung=hung,
    )


def _watched(child: int, asked: Asked, err: IO[bytes], begun: float) -> tuple[bool, float | None]:
    """Until the child has ended: whether the guard had to end it, and when it first spoke."""
    announced = None
    while os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        time.sleep(LOOK)
        if announced is None and os.fstat(err.fileno()).st_size:
            announced = time.monotonic() - begun
            if asked.event == "interrupt when announced":
                os.kill(child, signal.SIGINT)
        if time.monotonic() - begun > asked.guard:
            os.kill(child, signal.SIGKILL)
            return True, announced
    return False, announced


def _run(asked: Asked, out: IO[bytes], err: IO[bytes]) -> NoReturn:
    code = 99
    try:
        os.chdir(asked.folder)
        _redirect(asked.output, out, err)
        resource.setrlimit(resource.RLIMIT_DATA, (MOST_DATA, MOST_DATA))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if asked.room is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (asked.room, asked.room))
        _prepare(asked.event)
        code = _python(asked.arguments[0]) if asked.python else _command(asked.arguments)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
        with contextlib.suppress(BaseException):
            sys.stderr.flush()
        os._exit(code)


def _redirect(output: str, out: IO[bytes], err: IO[bytes]) -> None:
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(err.fileno(), 2)
    if output == "closed":
        os.close(1)
        sys.stdout = None
    else:
        os.dup2(out.fileno() if output == "file" else os.open("/dev/full", os.O_WRONLY), 1)


def _prepare(event: str) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if event == "kill":
        os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[assignment]
    elif event == "interrupt":
        signal.signal(signal.SIGPROF, lambda *_: os.kill(os.getpid(), signal.SIGINT))
        signal.setitimer(signal.ITIMER_PROF, 1.0)  # of the processor's time: the same work on any machine


def _command(arguments: tuple[str, ...]) -> int:
    from bridge.cli import main

    return main(list(arguments))


def _python(name: str) -> int:
    """A refusal is the exit code 2, as on the command line."""
    from symbolic.words.errors import UsageError
    from tests.hostile.calls import PYTHON

    try:
        PYTHON[name]()
    except UsageError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def asked_of(line: str) -> Asked:
    fields: dict[str, Any] = json.loads(line)
    return Asked(**{**fields, "arguments": tuple(fields["arguments"])})


def lines() -> Iterator[str]:
    yield from iter(sys.stdin.readline, "")


if __name__ == "__main__":
    load_everything()
    for line in lines():
        print(json.dumps(asdict(answer(asked_of(line)))), flush=True)  # noqa: T201 - the answer
