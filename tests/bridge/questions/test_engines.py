"""The engines of a sweep: every job has one outcome, whatever becomes of its worker."""

import itertools
import os
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from joblib.externals.loky.process_executor import TerminatedWorkerError

from bridge.limits.accepted import LongRun
from bridge.questions.checked_call import checked_call
from bridge.questions.compare import compare
from bridge.questions.kept import KeptParts, kept_in
from bridge.questions.sweeping.comparing import PartOfCall, run_part, swept_comparison
from bridge.questions.sweeping.engines import TRIES, Cluster, JobOutcome, Processes, in_folder
from symbolic.words.errors import UsageError

ID, GRID = "icgd.relu_sum", {"eps": tuple(place / 40 for place in range(1, 21)), "R": (1.0, 2.0)}  # 40 points
BUDGET = {"samples": 8, "attack": 2, "restarts": 2}


def once(path: str) -> str:
    """Kills its worker when it runs first."""
    if path and not Path(path).exists():
        Path(path).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return path


def raising(kind: str) -> str:
    if kind == "usage":
        raise UsageError("a sentence")
    return str({}[kind])


def test_what_a_job_raises_is_its_outcome() -> None:
    found = dict(Processes(1).run(raising, {"a": "usage", "b": "bug"}))
    assert found["a"] == JobOutcome(failure="a sentence")
    assert (found["b"].failure, "in raising" in found["b"].traceback) == ("KeyError: 'bug'", True)


def test_a_job_whose_worker_is_lost_again_and_again_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    started = itertools.count()

    def lost(self: Processes, function: Any, jobs: Mapping[str, Any]) -> Iterator[tuple[str, JobOutcome]]:
        if next(started) == 1:
            yield "b", JobOutcome("2")
        raise TerminatedWorkerError

    monkeypatch.setattr(Processes, "_by_joblib", lost)
    found = dict(Processes(2).run(once, {"a": "1", "b": "2"}))
    assert found == {"b": JobOutcome("2"), "a": JobOutcome(failure=found["a"].failure)}
    assert found["a"].failure == "its worker was lost 3 times, perhaps for want of memory"
    assert next(started) == 1 + TRIES  # one that got on, and as many as are tried in vain


def test_a_worker_that_would_find_others_is_refused() -> None:
    call = checked_call(ID, {}, {"eps": 0.1})
    identity = {**call.identity, "environment": {**call.identity["environment"], "torch": "1.0"}}
    with pytest.raises(UsageError, match=r'the worker differs: environment.torch is "1.0" there and "2'):
        run_part(PartOfCall(ID, {}, {"eps": 0.1}, identity, os.getcwd(), [0]))
    with pytest.raises(UsageError, match=r"cannot enter '/no/folder' \(No such file or directory\), where the sweep"):
        in_folder("/no/folder").__enter__()


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_cluster_without_workers_is_announced() -> None:
    distributed = pytest.importorskip("distributed", reason="dask.distributed is the extra `sweep`")
    with distributed.LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address=None, silence_logs=50) as cluster:
        outcomes = Cluster(cluster.scheduler_address).run(once, {"a": ""})
        with pytest.raises(LongRun, match="has no workers yet; the jobs wait for some"):  # as an error: it would wait
            next(outcomes)
        assert not list(Cluster(cluster.scheduler_address).run(once, {}))


@pytest.mark.long
def test_a_lost_process_s_job_runs_again(tmp_path: Path) -> None:
    jobs = {"a": str(tmp_path / "mark"), "b": "", "c": ""}
    assert dict(Processes(2).run(once, jobs)) == {name: JobOutcome(job) for name, job in jobs.items()}


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")  # of dask, about a worker that is killed
def test_forty_comparisons_on_a_cluster_of_which_a_worker_is_killed(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="dask.distributed is the extra `sweep`")
    keep, killed = KeptParts.keep, []
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs=50
    ) as cluster:
        call = checked_call(ID, BUDGET, GRID)
        assert len(call.grid) == 40

        class Killing(KeptParts):
            def keep(self, name: str, text: str) -> None:
                keep(self, name, text)
                if len(self.names()) == 5:
                    killed.append(next(iter(cluster.workers.values())).pid)
                    os.kill(killed[0], signal.SIGKILL)

        with kept_in(tmp_path / "F", call.identity, "sweep") as kept:
            engine = Cluster(cluster.scheduler_address)
            swept = swept_comparison(ID, BUDGET, GRID, Killing(kept.folder), engine, call, lambda *_: None)
    assert len(killed) == 1
    assert swept.to_json() == compare(ID, **BUDGET, **GRID).to_json()
