"""One trial: the tests run in a process of their own, where one module of the program has other source text."""

import contextlib
import gc
import importlib
import importlib.machinery
import os
import signal
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.mutants import reach

THIRD_PARTY = (
    "sympy", "mpmath", "numpy", "torch", "scipy.integrate", "scipy.optimize", "flint", "pydantic", "beartype.claw",
    "jaxtyping", "jaxtyping._pytest_plugin", "pytest", "_pytest.assertion.rewrite", "hypothesis",
    "hypothesis.strategies", "_hypothesis_pytestplugin", "pytest_benchmark.plugin", "nbmake.pytest_plugin", "syrupy",
    "xdist.plugin", "typer", "rich.table", "rich.progress",
)  # fmt: skip
QUIETLY = ("-q", "--tb=no", "-p", "no:cacheprovider",
           "-W", "ignore::pytest.PytestAssertRewriteWarning")  # plugins of pytest are preloaded  # fmt: skip
COLLECTION = "imports and collection"  # timed in addition to the tests
SLOWER = 10  # a test that takes so many times its time without a fault no longer ends
SHORTEST = 20.0  # seconds of processor time that any test may take
MEMORY = 12 * 2**30  # bytes of address space: a fault may build expressions without end


@dataclass(frozen=True)
class Served:
    """The source text that the import system gets for one module."""

    path: str
    source: bytes


@dataclass
class Report:
    """The child's report: the exit code of pytest, the tests that failed, and the processor time of each."""

    exit_code: int = 0
    failed: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    reached: dict[str, set[str]] = field(default_factory=dict)  # without a fault: the functions that each test enters
    executed: bool = False  # whether the served module was imported to its end


def preload() -> None:
    """Import what the tests need of others, so that a forked child finds it there. Nothing of the program itself."""
    for name in THIRD_PARTY:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)  # no pool of threads that a fork would lose


def run_clean(answer: Connection, root: Path, tests: Sequence[str], targets: Sequence[str]) -> None:
    """The body of the child that runs all tests without a fault, and notes the functions of the targets they enter."""
    report = Report()
    noting = [served(root, file, reach.instrumented(file, (root / file).read_bytes())) for file in targets]
    _serve(noting, report)
    _run(answer, root, tests, [], report, _Reach(report))


def run_with(answer: Connection, root: Path, tests: Mapping[str, float], collection: float, fault: Served) -> None:
    """The body of the child that runs tests, each with its time without a fault, up to the first failure."""
    report = Report()
    serve(fault, report)
    files = dict.fromkeys(test.partition("::")[0] for test in tests)
    _run(answer, root, list(files), ["-x"], report, _Watch(report, tests, collection))


def served(root: Path, file: str, source: bytes) -> Served:
    return Served(str(root / file), source)


def serve(fault: Served, report: Report) -> None:
    """From now on the import system gets the fault's source text for its module."""
    _serve([fault], report)


def forget(*packages: str) -> None:
    """What is imported anew."""
    for name in [name for name in sys.modules if name.startswith(packages)]:
        del sys.modules[name]


def _run(
    answer: Connection, root: Path, files: Sequence[str], options: Sequence[str], report: Report, plugin: object
) -> None:
    import pytest

    _leave_the_parent(root)
    with tempfile.TemporaryDirectory() as aside:
        every = [*QUIETLY, *options, *_hypothesis_options(aside)]
        report.exit_code = int(pytest.main([*every, *files], plugins=[plugin]))
    answer.send(report)
    answer.close()


def _leave_the_parent(root: Path) -> None:
    """A group of processes of its own, no output, limited memory."""
    gc.freeze()  # objects of the parent are not garbage: collecting them would copy all of its memory
    if hasattr(os, "setsid"):
        os.setsid()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    sys.stdout = sys.stderr = os.fdopen(nowhere, "w")
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
    return ["-p", "hypothesispytest", "--hypothesis-seed=0"]


def _serve(served: Sequence[Served], report: Report) -> None:
    """From now on every loader of sources, those that add checks of types too, reads the served texts."""
    texts = {os.path.realpath(each.path): each.source for each in served}
    loader = importlib.machinery.SourceFileLoader
    read, stats, execute = loader.get_data, loader.path_stats, loader.exec_module

    def get_data(self: Any, path: str) -> bytes:
        text = texts.get(os.path.realpath(path))
        return read(self, path) if text is None else text

    def path_stats(self: Any, path: str) -> Mapping[str, Any]:
        if os.path.realpath(path) in texts:
            raise OSError("served from memory: bytecode is neither read nor written")
        return stats(self, path)

    def exec_module(self: Any, module: ModuleType) -> None:
        execute(self, module)
        report.executed |= os.path.realpath(module.__file__ or "") in texts

    for method in (get_data, path_stats, exec_module):
        setattr(loader, method.__name__, method)


class _Timed:
    """A pytest plugin: which tests fail, and how long each takes."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.begin(COLLECTION)

    def begin(self, what: str) -> None:
        self._started = time.process_time()

    def finish(self, what: str) -> None:
        self.report.seconds[what] = time.process_time() - self._started

    def pytest_collection_finish(self) -> None:
        self.finish(COLLECTION)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.begin(nodeid)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.finish(nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.report.failed.append(report.nodeid)

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.report.failed.append(report.nodeid)


class _Reach(_Timed):
    """Notes the functions of the instrumented sources that each test enters."""

    def begin(self, what: str) -> None:
        reach.entered.clear()
        super().begin(what)

    def finish(self, what: str) -> None:
        super().finish(what)
        self.report.reached[what] = set(reach.entered)


class _Watch(_Timed):
    """Selects the tests and their order, and sets an alarm for those that do not end."""

    def __init__(self, report: Report, tests: Mapping[str, float], collection: float) -> None:
        self.tests, self.collection = tests, collection
        super().__init__(report)

    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        place = {test: k for k, test in enumerate(self.tests)}
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in place])
        items[:] = sorted((item for item in items if item.nodeid in place), key=lambda item: place[item.nodeid])

    def begin(self, what: str) -> None:
        super().begin(what)
        if hasattr(signal, "setitimer"):  # processor time: a busy machine ends no test
            usual = self.tests.get(what, self.collection)
            signal.setitimer(signal.ITIMER_PROF, max(SHORTEST, SLOWER * usual))

    def finish(self, what: str) -> None:
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_PROF, 0)
        super().finish(what)
