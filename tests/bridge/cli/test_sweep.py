"""`sweep`: the record is that of one process, whatever was stopped, lost or shown in between; what is refused."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from bridge.cli import swept_commands
from bridge.questions.checked_call import CheckedCall
from bridge.questions.kept import KeptParts, kept_in
from bridge.questions.point_rows import PointRows
from bridge.questions.sweeping import engines, jobs
from symbolic.words.errors import UsageError
from tests.bridge.cli.conftest import Command, refused

COMPARE = ["compare", "looped.gradient_descent", "--set", "T=1", "--grid", "eta=0.1,0.2,0.3"]
COMPARE += ["--samples", "1", "--attack", "1", "--restarts", "1"]
SOLVE = ["solve", "induction.vanilla", "--for", "error"]


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def sweep(run: Command, *arguments: object, folder: str = "F", count: int = 1) -> Any:
    return run("sweep", "-o", folder, "--jobs", count, *arguments)


def stop_after(monkeypatch: pytest.MonkeyPatch, parts: int) -> None:
    """Ctrl-C once so many parts are kept; the next run has none."""
    keep, kept = KeptParts.keep, [0]

    def keep_or_stop(self: KeptParts, name: str, text: str) -> None:
        keep(self, name, text)
        kept[0] += 1
        if kept[0] == parts:
            raise KeyboardInterrupt

    monkeypatch.setattr(KeptParts, "keep", keep_or_stop)


# A comparison.


def test_a_sweep_goes_on_to_the_record_of_one_process(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = run(*COMPARE, "-o", "alone.json")
    stop_after(monkeypatch, 3)
    stopped = sweep(run, *COMPARE)
    assert stopped.code == 130
    assert "boundsmith: interrupted; 2 of 3 points are done; they are kept in " in stopped.err
    assert stopped.err.endswith("/F', and the same command goes on\n")
    assert "0.2" in stopped.out
    shown = run("sweep", "--show", "F")
    assert shown.out.splitlines()[:-1] == stopped.out.splitlines()
    assert shown.out.endswith("\n2 of 3 points are done\n")
    assert not Path("F/record.json").exists()
    done = sweep(run, *COMPARE, "-o", "own.json", "-o", "own.tex")
    assert done.code == 0, done.err
    record = Path("alone.json").read_bytes()
    assert Path("F/record.json").read_bytes() == Path("own.json").read_bytes() == record
    assert done.out.startswith(alone.out.partition("written")[0])
    assert done.out.endswith("/F/record.json\n")
    assert sweep(run, *COMPARE, "--json").out == record.decode()
    other = refused(sweep(run, *COMPARE, "--seed", 3))
    assert "belongs to another call: environment.seed is 0 there and 3 here. Choose another folder" in other


def test_compare_keeps_its_points_beside_its_output(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    run(*COMPARE, "-o", "alone.json")
    stop_after(monkeypatch, 3)
    stopped = run(*COMPARE, "-o", "t.json")
    assert stopped.code == 130
    advice = "1 of 3 points are done; kept in 't.json.unfinished'; the same command with --resume goes on\n"
    assert stopped.err == f"boundsmith: interrupted; {advice}"
    assert not Path("t.json").exists()
    message = refused(run(*COMPARE, "-o", "t.json"))
    assert message.startswith("'t.json.unfinished' keeps points of a run that was stopped: --resume goes on with it;")
    assert "belongs to another call" in refused(run(*COMPARE, "-o", "t.json", "--resume", "--seed", 1))
    assert run(*COMPARE, "-o", "t.json", "--resume").code == 0
    assert Path("t.json").read_bytes() == Path("alone.json").read_bytes()
    assert not Path("t.json.unfinished").exists()
    assert "--resume goes on with a run that was stopped, whose points" in refused(run(*COMPARE, "--resume"))
    assert "omit --resume" in refused(sweep(run, *COMPARE, "-o", "t.json", "--resume"))


def test_a_comparison_without_output_says_how_to_keep_it(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    point = CheckedCall.point

    def stopping(self: CheckedCall, place: int, points: Any = None) -> PointRows:
        if place == 1:
            raise KeyboardInterrupt
        return point(self, place, points)

    monkeypatch.setattr(CheckedCall, "point", stopping)
    stopped = run(*COMPARE)
    assert stopped.code == 130
    advice = "1 of 3 points are done; with --output FILE they would be kept, and --resume would go on"
    assert stopped.err == f"boundsmith: interrupted; {advice}\n"
    assert "eta = 0.1" in stopped.out
    assert run(*COMPARE, "--json").out == ""  # half a record would be taken for a whole one


def test_a_point_that_fails_leaves_the_others(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    real = swept_commands.run_command

    def failing(job: Any) -> str:
        if "p=2" in job["arguments"]:
            raise UsageError("no such luck")
        return real(job)

    monkeypatch.setattr("bridge.cli.sweeping.run_command", failing)
    message = refused(sweep(run, "--over", "p=1,2,4", *SOLVE))
    assert message.startswith("sweep: 1 of 3 jobs failed, first job-00002: no such luck. What is done is kept in '")
    monkeypatch.setattr("bridge.cli.sweeping.run_command", real)
    assert "3 of 3 jobs are done" in sweep(run, "--over", "p=1,2,4", *SOLVE).out


# Options of any command.


def test_each_combination_of_options_is_a_job(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    over = ["--over", "p=1,2", "--over", "tier=derived,printed"]
    stop_after(monkeypatch, 1)
    stopped = sweep(run, *over, *SOLVE)
    assert stopped.code == 130
    assert "1 of 4 jobs are done; they are kept in" in stopped.err
    assert run("sweep", "--show", "F").out == stopped.out
    done = sweep(run, *over, *SOLVE)
    assert done.code == 0, done.err
    record = json.loads(Path("F/record.json").read_text())
    assert (record["command"], record["arguments"]) == ("solve", SOLVE[1:])
    assert [job["over"] for job in record["jobs"]] == [
        {"p": p, "tier": tier} for p in ("1", "2") for tier in ("derived", "printed")
    ]
    for job in record["jobs"]:
        alone = run(*SOLVE, "--set", f"p={job['over']['p']}", "--tier", job["over"]["tier"], "--json")
        assert (job["code"], job["record"]) == (0, json.loads(alone.out))
    head, *lines = [line for line in done.out.splitlines() if "┃" in line or "│" in line]
    assert [cell.strip() for cell in head.split("┃")] == ["p", "tier", "value", "bound", "state"]
    assert [line.split("│")[-1].strip() for line in lines] == ["done"] * 4
    assert f"{record['jobs'][0]['record']['value']:.6g}" in lines[0]
    assert "belongs to another call: over.p is" in refused(sweep(run, "--over", "p=1,3", "--over", over[3], *SOLVE))


def test_a_job_has_a_folder_of_its_own(run: Command) -> None:
    arguments = ["compare", "icgd.relu_sum", "-o", "{folder}/t.csv"]
    assert sweep(run, "--over", "eps=0.1,0.2", *arguments).code == 0
    folder = Path("F").absolute() / "jobs" / "job-00002"
    assert "0.2" in (folder / "t.csv").read_text()
    resuming = swept_commands.with_own_folder(arguments, folder, resume=True)
    assert resuming == ["compare", "icgd.relu_sum", "-o", f"{folder}/t.csv", "--resume"]


def test_what_a_command_prints_without_json_is_its_record(run: Command) -> None:
    assert sweep(run, "--over", "tier=printed,derived", "latex", "induction.vanilla").code == 0
    first, second = json.loads(Path("F/record.json").read_text())["jobs"]
    assert first["record"] == run("latex", "induction.vanilla", "--tier", "printed").out != second["record"]


def test_a_bug_in_a_job_is_reported_as_one(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(job: Any) -> str:
        return str(1 // 0)

    monkeypatch.setattr("bridge.cli.sweeping.run_command", broken)
    outcome = sweep(run, "--over", "p=1", *SOLVE)
    assert outcome.code == 1
    assert "return str(1 // 0)" in outcome.err
    assert "this is a bug of boundsmith" in outcome.err


# What is refused.

NAMES = ["-o", "F", "--over", "p=1,2"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (COMPARE, "sweep: name a folder by -o FOLDER; `boundsmith sweep --help` shows how to call it."),
        (["-o", "F"], "sweep: name the command to run, as `compare ID --grid p=1,2,4`; `boundsmith sweep --help`"),
        (["-o", "F", "--jobs", "0", *COMPARE], "sweep: --jobs 0; give the number of processes, at least 1."),
        (["-o", "F", "--jobs", "2", "--dask", "x:1", *COMPARE], "sweep: --jobs and --dask are two engines; give one"),
        (["-o", "F", "--show", "F"], "sweep: --show FOLDER only shows what is done; omit the rest."),
        (["--show", "F"], "finished parts: there is no file 'F/call.json'"),
        (["-o", "F", *SOLVE], "sweep: `solve` is one run; name what varies by --over OPTION=V1,V2,..."),
        (
            [*NAMES, "sweep", "x"],
            "sweep: 'sweep' is no command that can be swept; take one of list, show, latex",
        ),
        ([*NAMES, "shw", "x"], "sweep: 'shw' is no command that can be swept; take one of list, show, latex, solve"),
        ([*NAMES, "solve", "--fro", "x"], "No such option: --fro"),
        ([*NAMES, *SOLVE, "--over", "p"], "No such option: --over"),
        (["-o", "F", "--over", "p", *SOLVE], "sweep: --over p is not of the form OPTION=V1,V2,..."),
        (["-o", "F", "--over", "p=1,,2", *SOLVE], "sweep: --over p=1,,2 is not of the form OPTION=V1,V2,..."),
        (["-o", "F", "--over", "p=1,1", *SOLVE], "sweep: --over p=1,1 has the same value twice."),
        ([*NAMES, "--over", "p=3", *SOLVE], "sweep: --over p is given twice; give it once."),
        (
            ["-o", "F", "--over", "json=1", *SOLVE],
            "sweep: --over json: `solve` takes no values of json, which is",
        ),
        ([*NAMES, "latex", "x"], "sweep: --over p: `latex` takes no values of p, which is no option of it."),
        (
            ["-o", "F", "--over", f"p={','.join(map(str, range(10_001)))}", *SOLVE],
            "these are 10001 jobs, at most 10000",
        ),
        (["-o", "F", "compare", "nothing.here"], "'nothing.here'"),
        (["-o", "F", "compare", "icgd.relu_sum", "--witness", "w.json"], "witness: there is no file 'w.json'"),
    ],
)
def test_refusals(run: Command, arguments: list[str], message: str) -> None:
    assert message in refused(run("sweep", *arguments))
    assert not Path("F").exists()


def test_two_sweeps_in_one_folder_are_refused(run: Command) -> None:
    with kept_in("F", {}, "sweep") as other:
        other.keep("a", "1")
        assert "sweep: another process is at work in '" in refused(sweep(run, *COMPARE))
    assert "was not made by a sweep; --resume of `compare` goes on with it" in refused(run("sweep", "--show", "F"))
    Path("G").mkdir()
    Path("G/thesis.tex").touch()
    assert "sweep: 'G' holds other files (thesis.tex); choose" in refused(sweep(run, *COMPARE, folder="G"))


def test_more_processes_than_memory_holds_are_refused(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "available_bytes", lambda: 10 * jobs.PROCESS)
    assert refused(sweep(run, *COMPARE, count=40)) == (
        "sweep: --jobs 40 take about 20 GiB of memory, this machine has 5 to give; 10 fit."
    )
    assert jobs.processes(None, 0) <= 10
    assert jobs.processes(None, 100 * jobs.PROCESS) == jobs.processes(1, 100 * jobs.PROCESS) == 1


def test_dask_is_asked_for_and_not_there(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    message = refused(run("sweep", "-o", "F", "--dask", "tcp://127.0.0.1:9", *COMPARE))
    assert message == "sweep: --dask needs dask.distributed, which is not installed: pip install 'boundsmith[sweep]'."


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense::"])
def test_a_scheduler_that_does_not_answer(run: Command, monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    pytest.importorskip("distributed", reason="dask.distributed is the extra `sweep`")
    monkeypatch.setattr(engines, "SECONDS", 1)
    message = refused(run("sweep", "-o", "F", "--dask", address, *COMPARE))
    assert message.startswith(f"sweep: no dask scheduler answers at '{address}' within 1 seconds (")
    assert message.endswith("or --jobs N for processes of this machine.")
