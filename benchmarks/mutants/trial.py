"""One trial: the tests run in a process of their own, where one module of the program has other source text."""

import contextlib
import importlib
import importlib.machinery
import os
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import Any

THIRD_PARTY = (
    "sympy", "mpmath", "numpy", "torch", "scipy.integrate", "scipy.optimize", "flint", "pydantic", "beartype.claw",
    "jaxtyping", "jaxtyping._pytest_plugin", "pytest", "_pytest.assertion.rewrite", "hypothesis",
    "hypothesis.strategies", "_hypothesis_pytestplugin", "pytest_benchmark.plugin", "nbmake.pytest_plugin", "syrupy",
    "xdist.plugin", "typer", "rich.table", "rich.progress",
)  # fmt: skip
QUIETLY = ("-q", "-p", "no:cacheprovider",
           "-W", "ignore::pytest.PytestAssertRewriteWarning")  # plugins of pytest are preloaded  # fmt: skip
SLOWER = 10  # a test that takes so many times its time without a fault no longer ends
SHORTEST = 20.0  # seconds of processor time that any test may take
MEMORY = 12 * 2**30  # bytes of address space: a fault may build expressions without end


@dataclass(frozen=True)
class Served:
    """The source text that the import system gets for one module."""

    module: str
    path: str
    source: bytes


@dataclass
class Report:
    """What the child tells: the exit code of pytest, the tests that failed, and the processor time of each."""

    exit_code: int = 0
    failed: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    executed: bool = False  # whether the served module was imported to its end


def preload() -> None:
    """Import what the tests need of others, so that a forked child finds it there. Nothing of the program itself."""
    for name in THIRD_PARTY:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)  # no pool of threads that a fork would lose


def run_tests(
    answer: Connection, root: Path, tests: Sequence[str], served: Served | None, budgets: dict[str, float]
) -> None:
    """The body of the child. Without `served` it runs all tests, with it up to the first failure."""
    import pytest

    _leave_the_parent(root)
    report = Report()
    if served is not None:
        sys.meta_path.insert(0, _Finder(served, report))
    with tempfile.TemporaryDirectory() as aside:
        options = [*QUIETLY, *(["-x"] if served else []), *_hypothesis_options(aside)]
        report.exit_code = int(pytest.main([*options, *tests], plugins=[_Watch(report, budgets)]))
    answer.send(report)
    answer.close()


def _leave_the_parent(root: Path) -> None:
    """A group of processes of its own, no output, limited memory."""
    if hasattr(os, "setsid"):
        os.setsid()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.chdir(root)
    sys.path.insert(0, str(root))
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _hypothesis_options(aside: str) -> list[str]:
    """Always the same examples; those that fail are not remembered, so that no trial depends on an earlier one."""
    try:
        from hypothesis.configuration import set_hypothesis_home_dir
    except ImportError:
        return []
    set_hypothesis_home_dir(aside)
    return ["--hypothesis-seed=0"]


class _Finder:
    """Finds the served module as everybody else does, and puts the other source text into its loader."""

    def __init__(self, served: Served, report: Report) -> None:
        self.served, self.report = served, report

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name != self.served.module:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            # A subclass of the loader that is there, which may be one that adds checks of types.
            spec.loader.__class__ = _serving(type(spec.loader), self.served, self.report)
        return spec


def _serving(loader: type, served: Served, report: Report) -> type:
    class Serving(loader):  # type: ignore[misc]
        def get_data(self, path: str) -> bytes:
            return served.source if os.path.samefile(path, served.path) else super().get_data(path)

        def path_stats(self, path: str) -> dict[str, Any]:
            raise OSError("served from memory: bytecode is neither read nor written")

        def exec_module(self, module: ModuleType) -> None:
            super().exec_module(module)
            report.executed = True

    return Serving


class _Watch:
    """A pytest plugin: which tests fail, how long each takes, and an alarm for those that do not end."""

    def __init__(self, report: Report, budgets: dict[str, float]) -> None:
        self.report, self.budgets = report, budgets
        self._begin("collection")

    def pytest_collection_finish(self) -> None:
        self._finish("collection")

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._begin(nodeid)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._finish(nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.report.failed.append(report.nodeid)

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.report.failed.append(report.nodeid)

    def _begin(self, what: str) -> None:
        self._started = time.process_time()
        if self.budgets and hasattr(signal, "setitimer"):  # processor time: a busy machine ends no test
            signal.setitimer(signal.ITIMER_PROF, max(SHORTEST, SLOWER * self.budgets.get(what, 0.0)))

    def _finish(self, what: str) -> None:
        self.report.seconds[what] = time.process_time() - self._started
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_PROF, 0)
