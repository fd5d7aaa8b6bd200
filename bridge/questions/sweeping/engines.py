"""Who runs the jobs of a sweep: processes of this machine by joblib, or a dask cluster.

A job is a function and data that it takes. It gives a text or fails; either is its outcome. A job whose worker is lost
runs again, on another.
"""

import contextlib
import os
import signal
import threading
import traceback
import uuid
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import joblib
from joblib.externals.loky import get_reusable_executor
from joblib.externals.loky.process_executor import TerminatedWorkerError

from bridge.limits.accepted import LongRun
from bridge.limits.refusals import REFUSALS
from symbolic.words.errors import UsageError

Function = Callable[[Any], str]
Outcomes = Generator[tuple[str, "JobOutcome"], None, None]
TRIES = 3  # of a job whose worker is lost
SECONDS = 10  # that a dask scheduler has to answer
LOST = "its worker was lost {} times, perhaps for want of memory"

_one_at_a_time = threading.Lock()  # a worker with several threads: output and the folder belong to the process


@dataclass(frozen=True)
class JobOutcome:
    """The `text` that a job gives, or its `failure` in words, with the traceback if it is a bug of ours."""

    text: str = ""
    failure: str = ""
    traceback: str = ""


@runtime_checkable
class Engine(Protocol):
    """Gives outcomes by the names of jobs, each as it is done; stops all jobs when the iterator is closed."""

    def run(self, function: Function, jobs: Mapping[str, Any]) -> Outcomes: ...


def attempt(function: Function, job: Any) -> JobOutcome:
    """The outcome of a job in this process: whatever it raises is one."""
    with _one_at_a_time:
        try:
            return JobOutcome(function(job))
        except REFUSALS as refusal:
            return JobOutcome(failure=str(refusal))
        except Exception as error:
            return JobOutcome(failure=f"{type(error).__name__}: {error}", traceback=traceback.format_exc())


@dataclass(frozen=True)
class Processes:
    """So many processes of this machine at once; with one, the jobs run in this process."""

    count: int

    def run(self, function: Function, jobs: Mapping[str, Any]) -> Outcomes:
        if self.count == 1:
            yield from ((name, attempt(function, job)) for name, job in jobs.items())
            return
        left, losses = dict(jobs), 0
        while left and losses < TRIES:
            with contextlib.suppress(TerminatedWorkerError):
                for name, outcome in self._by_joblib(function, left):
                    del left[name]
                    losses = 0
                    yield name, outcome
            losses += bool(left)
        yield from ((name, JobOutcome(failure=LOST.format(TRIES))) for name in left)

    def _by_joblib(self, function: Function, jobs: Mapping[str, Any]) -> Outcomes:
        count = min(self.count, len(jobs))
        parallel = joblib.Parallel(count, backend="loky", return_as="generator_unordered", batch_size=1)
        found = parallel(joblib.delayed(_in_a_process)(name, function, job) for name, job in list(jobs.items()))
        try:
            yield from found
        except BaseException:  # the caller wants no more: what still runs is stopped
            with warnings.catch_warnings(action="ignore"):
                get_reusable_executor().shutdown(wait=True, kill_workers=True)
                found.close()
            raise


def _in_a_process(name: str, function: Function, job: Any) -> tuple[str, JobOutcome]:
    """Ctrl-C reaches all processes of a terminal; the one that asks decides."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return name, attempt(function, job)


@dataclass(frozen=True)
class Cluster:
    """The workers of a dask scheduler, which need boundsmith of this version."""

    address: str

    def __post_init__(self) -> None:
        """Raises UsageError without dask.distributed, and for an address at which no scheduler answers."""
        with self._client():
            pass

    def run(self, function: Function, jobs: Mapping[str, Any]) -> Outcomes:
        with self._client() as client:
            if jobs and not client.nthreads():
                words = f"sweep: the dask scheduler at '{self.address}' has no workers yet; the jobs wait for some"
                warnings.warn(words, LongRun, stacklevel=2)
            sweep = uuid.uuid4().hex  # no result of an earlier sweep is taken for one of this
            futures = {
                client.submit(attempt, function, job, key=f"{name}-{sweep}", pure=False): name
                for name, job in jobs.items()
            }
            try:
                for future in _distributed().as_completed(futures, loop=client.loop):
                    yield futures[future], self._outcome(future)
            finally:
                with contextlib.suppress(Exception):  # the scheduler may be gone
                    client.cancel([future for future in futures if not future.done()])

    def _outcome(self, future: Any) -> JobOutcome:
        if future.status == "finished":
            outcome = future.result()
            assert isinstance(outcome, JobOutcome)  # what `attempt` gives
            return outcome
        if future.status != "error":
            raise UsageError(
                f"sweep: the dask scheduler at '{self.address}' is gone; what is done is kept, and the same command "
                f"goes on once there is one."
            )
        error = future.exception()
        if type(error).__name__ == "KilledWorker":
            return JobOutcome(failure=LOST.format(error.allowed_failures + 1))
        return JobOutcome(
            failure=f"the worker cannot run it ({type(error).__name__}: {error}); it needs boundsmith too"
        )

    @contextlib.contextmanager
    def _client(self) -> Iterator[Any]:
        distributed = _distributed()
        try:
            client = distributed.Client(self.address, timeout=SECONDS, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise UsageError(
                f"sweep: no dask scheduler answers at '{self.address}' within {SECONDS} seconds "
                f"({str(error).splitlines()[0] if str(error) else type(error).__name__}); give the address that "
                f"`dask scheduler` prints, as tcp://HOST:8786, or --jobs N for processes of this machine."
            ) from None
        try:
            yield client
        finally:
            client.close()


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise UsageError(
            "sweep: --dask needs dask.distributed, which is not installed: pip install 'boundsmith[sweep]'."
        ) from None
    return distributed


@contextlib.contextmanager
def in_folder(folder: str) -> Iterator[None]:
    """Inside, relative paths mean what they mean there. Raises UsageError where there is no such folder."""
    before = os.getcwd()
    try:
        os.chdir(folder)
    except OSError as error:
        words = f"cannot enter '{folder}' ({error.strerror}), where the sweep was called"
        raise UsageError(f"{words}; a worker needs the same files.") from None
    try:
        yield
    finally:
        os.chdir(before)
