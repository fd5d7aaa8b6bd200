"""The entry point: runs a command and turns an exception into one message and an exit code.

0: done (also if the run refuted a bound: that is a result). 1: a bug of boundsmith, `certify --check` did not confirm
the file, or a page of a report could not be made. 2: a usage error. 130: interrupted.
"""

import atexit
import gc
import os
import platform
import re
import shlex
import sys
import traceback
from collections.abc import Sequence

import typer
from typer.main import get_command

from bridge.cli.codes import BUG, INTERRUPTED, USAGE, AdvisedInterrupt, version
from bridge.cli.commands import app
from bridge.cli.parameter_help import as_setting
from bridge.cli.printable import message, printable

OBJECTS = 1_000_000  # that are made between two collections: expressions are many small objects, few of them in cycles

# The exceptions that mean a usage error, by module. Named, not imported: importing torch for a class takes seconds.
REFUSALS = {
    "symbolic.words.errors": "UsageError",
    "symbolic.derivations.derivation": "DerivationError",
    "numeric.networks.stream": "StreamError",
    "bridge.lowering": "LoweringError",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs `boundsmith` with these arguments (by default the process's); returns the exit code."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    gc.set_threshold(OBJECTS)
    atexit.register(gc.freeze)  # Python collects once more as it ends, which takes a second, and frees memory anyway
    if _reopen_closed_streams():
        _print_error("boundsmith: error: standard output is closed, so nothing can be printed; `> /dev/null` drops it.")
        return USAGE
    _never_fail_on_a_character()
    advice = ""
    try:
        code = get_command(app).main(
            args=arguments or ["--help"], prog_name="boundsmith", standalone_mode=False, obj=main
        )
        sys.stdout.flush()
    except BrokenPipeError:
        return _reader_left()
    except AdvisedInterrupt as stop:
        code, advice = INTERRUPTED, str(stop)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except SystemExit as leaving:  # typer and rich exit in this way when the reader of a pipe has closed it
        return 0 if leaving.code == 1 else leaving.code if isinstance(leaving.code, int) else BUG
    except Exception as error:
        if isinstance(error, OSError):
            _drop_what_is_left()
        return _explain(error, arguments)
    if code == INTERRUPTED:
        _print_error(f"boundsmith: interrupted; {advice or 'no partial file is left behind'}")
    return code if isinstance(code, int) else 0


def _explain(error: Exception, arguments: Sequence[str]) -> int:
    """One message for a usage error; a traceback and a request to report it for a bug."""
    own = sys.modules.get("bridge.theorems.theorem_files")
    if own is not None and isinstance(error, own.OwnFileError):
        _print_error(printable(own_traceback(error)))
        return USAGE
    sentence = _sentence(error, arguments)
    if sentence is None:
        _report_bug(error, arguments)
        return BUG
    for argument in arguments:  # one of several lines is quoted as one; a complaint about a file keeps its lines
        sentence = sentence.replace(argument, argument.replace("\n", "\u240a")) if "\n" in argument else sentence
    _print_error(message(f"boundsmith: error: {sentence}"))
    return USAGE


def own_traceback(error: Exception) -> str:
    """What the user's file raised, from its first line on: none of ours."""
    cause, path = error.__cause__ or error, str(error)
    frames = [frame for frame in traceback.extract_tb(cause.__traceback__) if frame.filename == path]
    lines = ["Traceback (most recent call last):\n"] if frames else []
    lines += [*traceback.format_list(frames), *traceback.format_exception_only(cause)]
    return f"{''.join(lines)}boundsmith: error: '{path}' raised this while it was read."


def _sentence(error: Exception, arguments: Sequence[str]) -> str | None:
    """The message for a usage error; None for a bug."""
    unknown = getattr(error, "option_name", None)
    if unknown is not None and type(error).__name__ == "NoSuchOption" and (setting := as_setting(unknown, arguments)):
        return setting
    # typer brings its own copy of click in some versions and uses the installed one in others; the usage errors of
    # both have this method, and no common class that can be imported.
    usage = getattr(error, "format_message", None)
    if callable(usage):
        said, setting = " ".join(str(usage()).split()).rstrip("."), next(filter(_is_setting, arguments), None)
        if setting and "extra argument" in said:
            said = f"{said}; a parameter is given by --set {setting}"
        return f"{said}; `{_command(error)} --help` shows how to call it."
    if isinstance(error, refusals()):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: '{error.filename}'." if error.filename else f"{error.strerror}."
    return None


def _is_setting(argument: str) -> bool:
    return re.fullmatch(r"[A-Za-z]\w*=[^\s]+", argument) is not None


def refusals() -> tuple[type[Exception], ...]:
    """The exceptions that mean a usage error. One whose module is not loaded cannot have been raised."""
    return tuple(getattr(sys.modules[module], name) for module, name in REFUSALS.items() if module in sys.modules)


def _command(error: Exception) -> str:
    """The command with the usage error, as far as it was parsed."""
    return str(getattr(getattr(error, "ctx", None), "command_path", "boundsmith"))


def _report_bug(error: Exception, arguments: Sequence[str]) -> None:
    _print_error(printable("".join(traceback.format_exception(error)).rstrip()))
    _print_error(
        "boundsmith: this is a bug of boundsmith, not of your call. Please report it with the lines above and with:\n"
        f"  command: {printable(shlex.join(['boundsmith', *arguments]))}\n"
        f"  version: boundsmith {version()}, Python {platform.python_version()}, {platform.platform()}"
    )


def _print_error(words: str) -> None:
    typer.echo(words, err=True)


def _reader_left() -> int:
    """`boundsmith list | head -1`: the reader closed the pipe."""
    _drop_what_is_left()
    return 0


def _drop_what_is_left() -> None:
    """Points stdout away if it takes no more (no reader, no room on the disk), or Python complains at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _reopen_closed_streams() -> bool:
    """Whether standard output was closed (`>&-`). What was closed is opened again: a file would take its place."""
    closed = sys.stdout is None
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_RDONLY if name == "stdin" else os.O_WRONLY)
            if opened != descriptor:
                os.dup2(opened, descriptor)
                os.close(opened)
            setattr(sys, name, os.fdopen(descriptor, "r" if name == "stdin" else "w"))
    return closed


def _never_fail_on_a_character() -> None:
    """A terminal that cannot show some character gets an escape instead of a traceback."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None and "utf" not in (getattr(stream, "encoding", None) or "").lower():
            reconfigure(errors="backslashreplace")
