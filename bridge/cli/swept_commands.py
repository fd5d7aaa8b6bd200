"""A command of boundsmith whose options vary: its jobs, what each prints, and the record of all."""

import contextlib
import io
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.cli.codes import INTERRUPTED, USAGE, version
from bridge.limits.files import digests
from bridge.limits.notations import split_outside_brackets
from bridge.questions.kept import KeptParts
from bridge.questions.sweeping.engines import in_folder
from symbolic.words.errors import UsageError

UNSWEPT = ("sweep", "new")  # no job of a sweep
PREFIX = "boundsmith: error: "
OWN = "{folder}"  # in an argument: a folder of the job's own
MOST_JOBS = 10_000
WORDS = 40  # letters of a cell of the table


@dataclass(frozen=True)
class CommandLine:
    """What a sweep runs: the commands as one group, and the function that runs one of them, given its words."""

    group: Any
    main: Callable[[Sequence[str]], int]

    def command(self, name: str) -> Any:
        """The command of that name. Raises UsageError if there is none that can be swept."""
        commands: Mapping[str, Any] = self.group.commands
        if name not in commands or name in UNSWEPT:
            known = ", ".join(each for each in commands if each not in UNSWEPT)
            raise UsageError(f"sweep: '{name}' is no command that can be swept; take one of {known}.")
        return commands[name]

    def require_parsed(self, name: str, *arguments: str) -> None:
        """Raises what the command raises for these arguments before it runs."""
        with self.group.make_context("boundsmith", [name]) as parent:
            self.command(name).make_context(name, list(arguments), parent=parent)


@dataclass(frozen=True)
class SweptCommand:
    """A command, its arguments, and the options that vary, each with its values as typed."""

    program: CommandLine
    name: str
    arguments: Sequence[str]
    over: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, program: CommandLine, name: str, arguments: Sequence[str], over: Sequence[str]) -> "SweptCommand":
        """Checks the call of each job. Raises UsageError, or what the command itself raises for wrong options."""
        program.command(name)
        swept = cls(program, name, arguments, _axes(over))
        if not swept.over:
            raise UsageError(f"sweep: `{name}` is one run; name what varies by --over OPTION=V1,V2,...")
        jobs = swept.jobs
        if len(jobs) > MOST_JOBS:
            raise UsageError(f"sweep: these are {len(jobs)} jobs, at most {MOST_JOBS}; give fewer values.")
        for options in jobs.values():
            program.require_parsed(*swept.job(options))
        return swept

    @property
    def jobs(self) -> dict[str, dict[str, str]]:
        """By name: the values of what varies."""
        combined = itertools.product(*([(name, each) for each in values] for name, values in self.over.items()))
        return {f"job-{place:05}": dict(options) for place, options in enumerate(combined, 1)}

    def job(self, options: Mapping[str, str]) -> list[str]:
        """The call of a job: it prints JSON if the command can."""
        known = self.options
        varied = [word for name, value in options.items() for word in _typed(self.name, known, name, value)]
        json_too = ["--json"] if "--json" in known and "--json" not in self.arguments else []
        return [self.name, *self.arguments, *varied, *json_too]

    @property
    def options(self) -> dict[str, Any]:
        """Those that the command takes, by each of their names."""
        command = self.program.command(self.name)
        return {name: each for each in command.params for name in each.opts if name.startswith("-")}

    @property
    def identity(self) -> dict[str, Any]:
        """All that the jobs depend on, as far as their call tells it."""
        words = [*self.arguments, *(value for values in self.over.values() for value in values)]
        texts = [part for word in words for part in (word, word.partition("=")[2])]
        return {
            "command": self.name,
            "arguments": list(self.arguments),
            "over": {name: list(values) for name, values in self.over.items()},
            "files": digests(texts),
            "boundsmith": version(),
        }

    def record(self, kept: KeptParts) -> dict[str, Any]:
        """Of all jobs, in their order."""
        jobs = [{"over": options, **_read(kept, name)} for name, options in self.jobs.items()]
        return {"command": self.name, "arguments": list(self.arguments), "jobs": jobs}

    def table(self, kept: KeptParts) -> tuple[list[tuple[str, bool]], list[list[str]], int]:
        """Headings, with whether a column is set to the right, and lines; and how many jobs are done."""
        found = {name: _read(kept, name) for name in self.jobs}
        records = [each["record"] for each in found.values() if each and isinstance(each["record"], dict)]
        varying = [name for name in (records[0] if records else ()) if name not in self.over and _varies(name, records)]
        lines = []
        for name, options in self.jobs.items():
            record = found[name].get("record")
            cells = [_words(record.get(each)) if isinstance(record, dict) else "-" for each in varying]
            lines.append([*options.values(), *cells, "done" if found[name] else "not yet"])
        headings = [(name, True) for name in (*self.over, *varying)]
        return [*headings, ("state", False)], lines, sum(map(bool, found.values()))


def run_command(job: Mapping[str, Any]) -> str:
    """What the command prints, as JSON with its exit code. Raises UsageError for its usage error."""
    arguments = with_own_folder(job["arguments"], Path(job["own"]), resume=job["resume"])
    out, err = io.StringIO(), io.StringIO()
    with in_folder(job["cwd"]), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = job["main"](arguments)
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    said = err.getvalue().strip()
    if code == USAGE:
        raise UsageError(said.rpartition("\n")[2].removeprefix(PREFIX))
    try:
        record = json.loads(out.getvalue())
    except ValueError:
        if code:
            raise RuntimeError(said) from None
        record = out.getvalue()
    return json.dumps({"code": code, "record": record})


def with_own_folder(arguments: Sequence[str], own: Path, *, resume: bool) -> list[str]:
    """The call with the path of the folder; with --resume where something is in it, if the command takes that."""
    if not any(OWN in each for each in arguments):
        return list(arguments)
    own.mkdir(parents=True, exist_ok=True)
    going_on = ["--resume"] if resume and any(own.iterdir()) else []
    return [*(each.replace(OWN, str(own)) for each in arguments), *going_on]


def _typed(command: str, known: Mapping[str, Any], name: str, value: str) -> list[str]:
    option = known.get(f"--{name}")
    if option is not None and not option.is_flag:
        return [f"--{name}", value]
    if option is None and "--set" in known:
        return ["--set", f"{name}={value}"]
    why = "is a flag" if option is not None else "is no option of it"
    raise UsageError(f"sweep: --over {name}: `{command}` takes no values of {name}, which {why}.")


def _axes(over: Sequence[str]) -> dict[str, list[str]]:
    axes: dict[str, list[str]] = {}
    for assignment in over:
        name, _, text = assignment.partition("=")
        name, values = name.strip().removeprefix("--"), [each.strip() for each in split_outside_brackets(text)]
        if not (name and all(values)):
            raise UsageError(f"sweep: --over {assignment} is not of the form OPTION=V1,V2,...")
        if name in axes:
            raise UsageError(f"sweep: --over {name} is given twice; give it once.")
        if len(set(values)) < len(values):
            raise UsageError(f"sweep: --over {assignment} has the same value twice.")
        axes[name] = values
    return axes


def _read(kept: KeptParts, name: str) -> dict[str, Any]:
    """What a job gave; nothing where it is not done. Raises UsageError for a file that is not ours."""
    text = kept.read(name)
    try:
        found = {} if text is None else json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict) or found.keys() - {"code", "record"}:
        raise UsageError(f"sweep: the part {name} in '{kept.folder}' is not one that boundsmith wrote; remove it.")
    return found


def _varies(name: str, records: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the jobs give different values, all of which have room in a table."""
    values = [record.get(name) for record in records]
    short = all(each is None or (isinstance(each, str | int | float) and len(_words(each)) <= WORDS) for each in values)
    return short and (len(values) == 1 or any(each != values[0] for each in values))


def _words(value: Any) -> str:
    return "-" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
