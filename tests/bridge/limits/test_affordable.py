"""What a run takes and what there is: memory, seconds, numbers that float64 holds, characters that may be printed."""

import os
import warnings
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from bridge.cli.printable import MOST_QUOTED, message, printable, printable_json
from bridge.limits.cost import (
    DAY,
    HOUR,
    KEPT,
    LARGEST,
    LONGEST,
    MINUTE,
    Cost,
    LongRun,
    Work,
    attention,
    duration,
    sizes_of,
)
from bridge.limits.memory import GIGABYTE, available_bytes, gibibytes, require_memory
from bridge.limits.refusals import explained
from bridge.limits.run import Run
from numeric.tools.integration_error import IntegrationError
from symbolic.words.errors import UsageError


def machine(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


MEMINFO = f"MemTotal: {8 << 20} kB\nMemAvailable: {4 << 20} kB\n"


def test_work_counts_samples_steps_of_each_search_and_what_precedes_them() -> None:
    work = Work(numbers=3.0, products=1e6, exact=1e3, passes=2.0, before=Cost(5.0, 7.0))
    assert work.bytes_of_one == 24.0
    found = work.cost(Run(samples=100, attack=10, restarts=2), searches=4, drawn=6.0)
    assert found.bytes == 24 * (64 + 2 * KEPT) + 8 * 6 * 100
    assert found.seconds == pytest.approx(7 + 1e-3 * (100 + 80) + 0.04 + 2e-3 * (10 + 20))
    assert work.cost(Run(samples=100)).bytes == 24.0  # one draw after the other
    assert replace(work, attacked=0.0).cost(Run(1, 10, 2), searches=4).seconds < work.cost(Run(1, 10, 2), 4).seconds
    assert replace(work, exact=1e30).cost(Run(1, 1, 1), searches=1).seconds < 70  # not tried
    assert work.times(3).products == 3e6


def test_attention_takes_the_pairs_of_tokens_in_each_layer() -> None:
    one, more = attention(10, 1), attention(20, 3)
    assert more.numbers == 4 * one.numbers
    assert more.products == 12 * one.products


def test_what_other_processes_hold_is_not_available(tmp_path: Path) -> None:
    assert available_bytes(machine(tmp_path, proc__meminfo=MEMINFO)) == 4 * GIGABYTE


def test_a_container_of_version_2_limits_what_is_available(tmp_path: Path) -> None:
    group = "sys__fs__cgroup__box__memory_dot_"
    files = {f"{group}max": str(2 * GIGABYTE), f"{group}current": str(GIGABYTE), f"{group}stat": "inactive_file 1024\n"}
    root = machine(tmp_path, proc__meminfo=MEMINFO, proc__self__cgroup="0::/box\n", **files)
    assert available_bytes(root) == GIGABYTE + 1024


def test_a_container_of_version_1_limits_what_is_available(tmp_path: Path) -> None:
    group = "sys__fs__cgroup__memory__memory_dot_"
    files = {f"{group}limit_in_bytes": str(3 * GIGABYTE), f"{group}usage_in_bytes": str(GIGABYTE)}
    root = machine(tmp_path, proc__meminfo=MEMINFO, proc__self__cgroup="4:memory:/host/path\n", **files)
    assert available_bytes(root) == 2 * GIGABYTE


def test_a_group_without_a_limit_leaves_everything(tmp_path: Path) -> None:
    group = "sys__fs__cgroup__memory_dot_"
    files = {f"{group}max": "max", f"{group}current": str(GIGABYTE)}
    root = machine(tmp_path, proc__meminfo=MEMINFO, proc__self__cgroup="0::/\n", **files)
    assert available_bytes(root) == 4 * GIGABYTE


def test_a_limit_of_the_process_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    data = 1 << 18  # pages: 1 GiB
    root = machine(tmp_path, proc__meminfo=MEMINFO, proc__self__statm=f"999 9 9 9 0 {data} 0\n")
    limits = {resource.RLIMIT_DATA: (3 * GIGABYTE, resource.RLIM_INFINITY)}
    monkeypatch.setattr(resource, "getrlimit", lambda limit: limits.get(limit, (resource.RLIM_INFINITY,) * 2))
    monkeypatch.setattr(os, "sysconf", lambda name: 4096)
    assert available_bytes(root) == 2 * GIGABYTE


def test_too_much_memory_is_refused_in_gib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.limits.memory.available_bytes", lambda: 2 * GIGABYTE)
    require_memory("call", 2 * GIGABYTE, "lower n")
    with pytest.raises(UsageError, match=r"call: needs about 3 GiB of memory, this machine has 2 to give; lower n"):
        require_memory("call", 3 * GIGABYTE, "lower n")
    assert gibibytes(10**40 * GIGABYTE) == "10^40"
    assert gibibytes(10**5000) == "more than 10^4000"


def test_costs_add_up_as_one_after_the_other() -> None:
    assert Cost(3.0, 1.0) + Cost(2.0, 5.0) == Cost(3.0, 6.0)


def test_a_run_of_days_is_refused_and_one_of_minutes_announced() -> None:
    with pytest.raises(UsageError, match="would take about 4 days on an idle core; lower n"):
        Cost(0.0, LONGEST + DAY).require("call", "lower n")
    with pytest.warns(LongRun, match="call: takes about 5 minutes on an idle core; Ctrl-C interrupts"):
        Cost(0.0, 5 * MINUTE).announce("call")
    with warnings.catch_warnings(record=True) as seen:
        Cost(0.0, MINUTE).announce("call")
    assert not seen


def test_durations_are_in_the_unit_that_fits() -> None:
    assert [duration(x) for x in (90.0, 5 * HOUR, 10 * DAY, 1e10, 1e20)] == [
        *("about 2 minutes", "about 5 hours", "about 10 days", "about 3e+02 years", "more than a million years"),
    ]


def test_sizes_are_at_least_0_and_finite() -> None:
    sizes = sizes_of({"N": -1, "K": 1e300, "d": 4, "x": float("nan"), "name": "tanh"})
    assert sizes == {"N": 0.0, "K": LARGEST, "d": 4.0}


def test_failures_at_extreme_parameters_are_refused_and_others_stay() -> None:
    with (
        pytest.raises(UsageError, match=r"compare x: a = 1e\+200 leads to numbers that float64 arithmetic cannot hold"),
        explained("compare x", [{"a": 1e200, "b": 1}]),
    ):
        raise OverflowError("too large")
    with pytest.raises(OverflowError), explained("compare x", [{"a": 2.0, "zero": 0}]):
        raise OverflowError("too large")


@pytest.mark.parametrize("bug", [KeyError, AttributeError, AssertionError])
def test_what_no_number_can_cause_stays_a_bug(bug: type[Exception]) -> None:
    with pytest.raises(bug), explained("compare x", [{"a": 1e200}]):
        raise bug("not of the number")


def test_two_formats_in_one_operation_stay_a_bug() -> None:
    with pytest.raises(RuntimeError, match="dtype"), explained("compare x", [{"a": 1e200}]):
        torch.ones(2, 2) @ torch.ones(2, dtype=torch.float16)


def test_a_flow_that_cannot_be_integrated_is_a_refusal() -> None:
    refusal = r"the flow cannot be integrated at a = 1e\+09: no steps"
    with pytest.raises(UsageError, match=refusal), explained("compare x", [{"a": 1e9, "flow": "true"}]):
        raise IntegrationError("no steps")


def test_want_of_memory_is_a_refusal() -> None:
    with pytest.raises(UsageError, match="more memory is needed than is available"), explained("compare x", [{}]):
        raise MemoryError


def test_no_character_that_a_terminal_obeys_is_printed() -> None:
    assert printable("a\x1b[31mb\x07\x9bc\u202ed\n") == "a\u241b[31mb\u2407\ufffdc\ufffdd\n"
    assert printable_json('"\x1b"') == '"\\u001b"'


def test_long_quotes_are_shortened() -> None:
    said = message(f"cannot read '{'x' * 1000}' (no file)")
    assert len(said) < MOST_QUOTED + 40
    assert said.endswith("...' (1002 characters) (no file)")
    assert message("short 'quote'") == "short 'quote'"
    assert message("word " * 2000).endswith("... (10000 characters)")
