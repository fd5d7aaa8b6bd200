"""Calls that nobody should make, or that nobody should have to wait for, each with what is expected of it.

Whatever is expected, a call ends, leaves no traceback, no character that a terminal obeys, no file but those it was
asked for, and takes at most 2 GiB: `tests/hostile/judging.py`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import cycle
from typing import Any

ESCAPE = "\x1b[31mred\x07\x9b2J"
LONG = "z" * 5000
DONE, REFUSED, EITHER = (0,), (2,), (0, 2)
NUMBERS = "is not a number|not a number in|is not finite|is not a whole number|does not meet|twice"


@dataclass(frozen=True)
class Call:
    """`codes` may come, and `says` is searched for in what the call prints. `writes` names the files that it makes.

    `quick` ones run in the tests, all of them in the benchmark. The others are as in `tests.hostile.server.Asked`.
    """

    kind: str
    arguments: tuple[str, ...]
    codes: tuple[int, ...] = REFUSED
    says: str = ""
    writes: tuple[str, ...] = ()
    quick: bool = True
    python: bool = False
    output: str = "file"
    room: int | None = None
    event: str = ""

    @property
    def name(self) -> str:
        words = " ".join(self.arguments)
        return f"{self.kind}: {words[:90]}{f' ({len(words)} characters)' if len(words) > 90 else ''}"


@cache
def calls() -> list[Call]:
    families = (
        *(not_numbers, extremes, sizes, words, ids, options, expressions, certificates, witnesses),
        *(tables, machine_files, outputs, streams, interrupts, from_python),
    )
    return [call for family in families for call in family()]


# ---- parameters ----------------------------------------------------------------------------------------------------

NOT_NUMBERS = (
    "nan",
    "inf",
    "'1e9'",
    "9" * 5000,
    "1+2j",
    "٣",
    "1e400",
    "-inf",
    "0x10",
    "1/3",
    ESCAPE,
    LONG,
    "1e9 ",
    "[1]",
)
EXTREMES = ("0", "-1", "1e-300", "1e9", "1e18", "1e308")
TOO_LARGE = ("1e9", "1e18", "1e300")  # sizes


def numeric_parameters() -> Iterator[tuple[str, str, bool]]:
    """Result, parameter, and whether it is a whole number."""
    from symbolic.statements.catalogue import RUNNING, find_result

    for id in RUNNING:
        for parameter in find_result(id).parameters:
            if parameter.symbol is not None:
                yield id, parameter.name, parameter.integer


def word_parameters() -> Iterator[tuple[str, str]]:
    from symbolic.statements.catalogue import RUNNING, find_result

    for id in RUNNING:
        for parameter in find_result(id).parameters:
            if parameter.symbol is None:
                yield id, parameter.name


class New:
    """Whether a result, or a parameter of that name, comes for the first time: the others are left to the benchmark."""

    def __init__(self) -> None:
        self.seen: set[str] = set()

    def __call__(self, id: str, name: str) -> bool:
        new = {id, name} - self.seen
        self.seen |= new
        return bool(new)


def not_numbers() -> Iterator[Call]:
    """Each numeric parameter given what is not a number: one of the list in the tests, all of it in the benchmark."""
    turn, new = cycle(range(len(NOT_NUMBERS))), New()
    for id, name, _ in numeric_parameters():
        chosen = next(turn) if new(id, name) else None
        for at, value in enumerate(NOT_NUMBERS):
            number = value.strip() == "1e9"
            codes, says = (EITHER, "") if number else (REFUSED, NUMBERS)
            arguments = ("compare", id, "--set", f"{name}={value}")
            yield Call("no number", arguments, codes, says, quick=at == chosen and not number)


def extremes() -> Iterator[Call]:
    """Each numeric parameter at the ends of what a float holds."""
    new = New()
    for id, name, whole in numeric_parameters():
        quick = whole and new(id, name)
        for value in EXTREMES:
            if name in SIZES.get(id, ()) and value in TOO_LARGE:
                continue  # one of `sizes`, which expects more
            if whole and value == "1e-300":
                yield Call("extreme", ("compare", id, "--set", f"{name}={value}"), says=NUMBERS, quick=quick)
            else:
                yield Call("extreme", ("compare", id, "--set", f"{name}={value}"), EITHER, quick=False)


SIZES = {
    **dict.fromkeys(("icgd.forward", "icgd.derivative", "icgd.loss_gradient", "icgd.backward"), ("N", "K", "d", "n")),
    "icgd.step": ("N", "K", "d", "n"),
    "icgd.dimensions": ("N", "K", "d_x", "d_y", "n"),
    "icgd.trajectory": ("L", "N", "K", "d", "n"),
    "icgd.diffusion": ("L", "N", "K", "d", "n", "M"),
    "icgd.pretraining": ("N", "K", "d", "n", "layers", "steps", "prompts"),
    "looped.training": ("d", "N", "states", "layers", "T", "steps", "prompts"),
    "looped.translation": ("words", "length", "layers", "T"),
    "icgd.gradient": ("N", "K", "d_x", "d_y", "n"),
    "induction.vanilla": ("L", "d"),
    "induction.ngram": ("L", "d"),
    "induction.first_stage": ("L",),
    "induction.losses": ("L",),
}


def sizes() -> Iterator[Call]:
    """Each parameter that memory or time grows with: refused before the start, and announced where it takes long."""
    for id, names in SIZES.items():
        for name in names:
            for value in TOO_LARGE:
                says = "GiB of memory, this machine has|would take|beyond 1e\\+150"
                yield Call("size", ("compare", id, "--set", f"{name}={value}"), says=says, quick=value != "1e300")
    for option in ("--samples", "--restarts"):
        yield Call("size", ("compare", "icgd.step", option, "9" * 18), says="GiB of memory")
        yield Call("size", ("compare", "induction.vanilla", option, "9" * 18), says="GiB of memory|would take")
        yield Call("size", ("compare", "icgd.step", option, "9" * 5000), says="shows how to call it")
    yield Call("size", ("compare", "icgd.step", "--attack", "9" * 18), says="would take")
    yield Call("size", ("compare", "machines.turing", "--set", "T=2e9"), says="too many|steps")
    yield Call("size", ("compare", "machines.turing_margin", "--set", "T=2e9"), says="too many|steps")
    grid = ",".join(map(str, range(1, 400)))
    yield Call("size", ("compare", "icgd.step", "--grid", f"N={grid}", "--grid", f"K={grid}"), says="points, at most")
    many = ",".join(map(str, range(20_000)))
    yield Call("size", ("compare", "induction.vanilla", "--grid", f"L={many}"), says="more than 10000 values")
    for tail in (("--for", "relus", "--error", "1e-3"), ("--for", "error")):
        yield Call("size", ("solve", "icgd.step", *tail, "--set", "N=1e9"), says="GiB of memory|would take")
    announced = {"codes": (130,), "says": "takes about \\d+ (minutes|hours) on an idle core; Ctrl-C interrupts"}
    for id, setting in (("icgd.step", "N=300"), ("icgd.trajectory", "L=200"), ("induction.losses", "L=6000000")):
        arguments = ("compare", id, "--set", setting)
        yield Call("long", arguments, event="interrupt when announced", **announced)  # type: ignore[arg-type]


WORDS = (ESCAPE, LONG, "/dev/zero", "@/dev/zero", "/proc/self/mem", "folder", "missing.txt", "٣", "a\x00b", "[" * 3000)


def words() -> Iterator[Call]:
    """Each parameter that is text: an activation, a machine, a circuit, a matrix."""
    turn = cycle(range(len(WORDS)))
    for id, name in word_parameters():
        chosen = {next(turn), next(turn)}
        for at, value in enumerate(WORDS):
            codes = EITHER if name == "input" else REFUSED
            yield Call(
                "word", ("compare", id, "--set", f"{name}={value}"), codes, quick=at in chosen and name != "input"
            )


# ---- the command line ----------------------------------------------------------------------------------------------


def ids() -> Iterator[Call]:
    for id in (ESCAPE, LONG, "", "icgd", "../x", "icgd.step\n", "٣", "--", "-1", "looped.translated"):
        for command in (("show",), ("latex",), ("compare",), ("solve", "--for", "error")):
            yield Call("id", (*command, id), REFUSED)


def options() -> Iterator[Call]:
    vanilla = ("compare", "induction.vanilla")
    wrong: tuple[tuple[tuple[str, ...], str], ...] = (
        ((*vanilla, "--set", "=1"), "not of the form"),
        ((*vanilla, "--set", ESCAPE), "not of the form"),
        ((*vanilla, "--set", LONG), "not of the form"),
        ((*vanilla, "--set", f"{LONG}=1"), "has no parameter"),
        ((*vanilla, "--set", "L=8", "--set", "L=9"), "given twice"),
        ((*vanilla, "--grid", "L=8,8"), "same value twice"),
        ((*vanilla, "--grid", "L=,"), "empty value"),
        ((*vanilla, "--grid", "L"), "not of the form"),
        ((*vanilla, "--dtype", ESCAPE), "is not known"),
        ((*vanilla, "--dtype", LONG), "is not known"),
        ((*vanilla, "--device", "cuda:99"), "CUDA"),
        ((*vanilla, "--device", ESCAPE), "is not known"),
        ((*vanilla, "--samples", "0"), "shows how to call it"),
        ((*vanilla, "--samples", "1e9"), "shows how to call it"),
        ((*vanilla, "--samples", "-1"), "shows how to call it"),
        ((*vanilla, "--seed", "1" * 400), "below 2\\^63"),
        ((*vanilla, "--attack", "nan"), "shows how to call it"),
        ((*vanilla, "--nope"), "No such option"),
        ((*vanilla, "--target", "y"), "target = 'y' names a column of a csv"),
        ((*vanilla, "--text", "a", "--csv", "b", "--target", "y"), "one source"),
        ((*vanilla, "--data", "diabetes"), "no tables|does not accept"),
        ((*vanilla, "--witness", "missing.json"), "there is no file"),
        (("solve", "icgd.step", "--for", "eps", "--error", "nan"), "error"),
        (("solve", "icgd.step", "--for", "relus", "--error", "-1"), "error"),
        (("solve", "icgd.step", "--for", "relus", "--error", "1e-320"), ""),
        (("solve", "icgd.step", "--for", "relus"), "error"),
        (("solve", "icgd.step", "--for", ESCAPE, "--error", "1"), "has no parameter"),
        (("solve", "icgd.step", "--for", "N", "--error", "1"), "cannot be solved for"),
        (("solve", "icgd.step", "--for", "activation", "--error", "1"), "not a number"),
        (("solve", "induction.vanilla", "--for", "p", "--error", "1e-3", "--tier", LONG), "is not one of"),
        (("solve", "induction.vanilla", "--for", "p", "--error", "1e-3", "--quantity", ESCAPE), "has no quantity"),
        (("list", "--nope"), "No such option"),
        (("list", "extra"), "shows how to call it"),
        (("comapre",), "No such command"),
        ((ESCAPE,), "No such command"),
        ((LONG,), "No such command"),
        (("show",), "Missing argument"),
    )
    for arguments, says in wrong:
        yield Call("option", arguments, says=says)


# ---- proofs --------------------------------------------------------------------------------------------------------


def expressions() -> Iterator[Call]:
    box = ("--range", "x=0,1")

    def certify(text: str, *more: str) -> tuple[str, ...]:
        return ("certify", "--expression", text, *(more or box))

    deep = "nested too deeply"
    wrong = (
        (certify("(" * 3000 + "x" + ")" * 3000), deep),
        (certify("sin(" * 900 + "x" + ")" * 900), deep),
        (certify("-" * 30_000 + "x"), f"{deep}|cannot be read"),
        (certify("x" + "**x" * 3000), f"{deep}|exponent"),
        (certify("x" + " + x" * 20_000), "more than 40000"),
        (certify("9**9**9"), "exponent that is too large"),
        (certify("2**(10**9)*x"), "exponent that is too large"),
        (certify("gamma(10**9)*x"), "gamma accepts"),
        (certify("exp(exp(exp(100)))+x"), "too large"),
        (certify("x/0"), "cannot divide"),
        (certify("__import__('os')"), "is not a known function"),
        (certify("x.__class__"), "not allowed"),
        (certify("(lambda: x)()"), ""),
        (certify("x if x else y"), ""),
        (certify(ESCAPE), ""),
        (certify("x\x00"), ""),
        (certify(""), "is not an expression"),
        (certify("٣*x"), ""),
        (certify("1e99999*x"), "too large"),
        (certify("x", "--range", "x=0,inf"), "not an exact number"),
        (certify("x", "--range", "x=nan,1"), "not an exact number"),
        (certify("x", "--range", "x=1,0"), "is empty"),
        (certify("x", "--range", f"x=0,{'9' * 5000}"), "too large"),
        (certify("x", "--range", "x=0,1/0"), "divides by 0"),
        (certify("x", "--range", ESCAPE), "not of the form"),
        (certify("x", "--range", f"{LONG}=0,1"), ""),
        (certify("x", "--range", "x=0,1", "--range", "x=0,1"), "given twice"),
        (certify("x+y"), "no range is given"),
        (certify("x", "--range", "x=0,1", "--where", "x > 0"), "is strict"),
        (certify("x", "--range", "x=0,1", "--seconds", "nan"), "give a number > 0"),
        (certify("x", "--range", "x=0,1", "--seconds", "-1"), "give a number > 0"),
        (certify("x", "--range", "x=0,1", "-o", "a.txt"), "cannot tell the format of 'a.txt' from its suffix"),
        (("certify",), "takes one of"),
        (("certify", ESCAPE), "there is no result"),
        (("certify", "induction.lyapunov_head", "--set", "w_star=nan"), "not finite"),
        (("certify", "induction.lyapunov_head", "--quantity", LONG), "states no inequality"),
    )
    for arguments, says in wrong:
        yield Call("expression", arguments, says=says)
    yield Call("expression", certify(" + ".join(["x"] * 1000) + " >= -1"), DONE, "proved|undecided")
    terms = "".join(f" + {i}*exp(x/{i})" for i in range(1, 1001))
    yield Call("expression", certify(f"x{terms} >= -1", *box, "--seconds", "20"), DONE, "proved|undecided", quick=False)
    yield Call("expression", certify("exp(" * 90 + "x" + ")" * 90, *box, "--seconds", "5"), DONE, quick=False)


def certificates() -> Iterator[Call]:
    for name in ("deep.json", "nan.json", "twice.json", "digits.json", "binary", "empty", "folder", "missing", "pipe"):
        yield Call("certificate", ("certify", "--check", name))
    yield Call("certificate", ("certify", "--check", "huge"), says="at most .* are read")
    yield Call("certificate", ("certify", "--check", "/dev/zero"), says="device or a pipe")
    yield Call("certificate", ("certify", "--check", ESCAPE), says="there is no file")


def witnesses() -> Iterator[Call]:
    for name in ("deep.json", "nan.json", "twice.json", "digits.json", "binary", "empty", "folder", "missing", "pipe"):
        yield Call("witness", ("compare", "icgd.step", "--witness", name))
    yield Call("witness", ("compare", "icgd.step", "--witness", "large_witness.json"), says="GiB of memory")
    yield Call("witness", ("compare", "icgd.step", "--witness", "escape_witness.json"))
    yield Call("witness", ("compare", "icgd.step", "--witness", "/dev/zero"), says="device or a pipe")


# ---- files ---------------------------------------------------------------------------------------------------------


def tables() -> Iterator[Call]:
    dimensions = ("compare", "icgd.dimensions")
    for name, says in (
        ("empty", "is empty"),
        ("binary", ""),
        ("words.csv", "is not a number"),
        ("escape.csv", "is not a number"),
        ("ragged.csv", "cells, the header has"),
        ("constant.csv", "is constant"),
        ("nan.csv", "missing value"),
        ("beyond.csv", "beyond 1e\\+150"),
        ("wide.csv", "line 1 has more than"),
        ("columns.csv", ""),
        ("one_row.csv", "at least 3 are needed"),
        ("nul.csv", ""),
        ("quote.csv", ""),
        ("folder", "is a folder"),
        ("missing", "there is no file"),
        ("pipe", "device or a pipe"),
        ("huge", "at most .* are read"),
    ):
        yield Call("table", (*dimensions, "--csv", name, "--target", "y"), says=says)
    yield Call("table", (*dimensions, "--csv", "good.csv"), says="give --target")
    yield Call("table", (*dimensions, "--csv", "good.csv", "--target", ESCAPE), says="no column")
    yield Call("table", (*dimensions, "--csv", "good.csv", "--target", LONG), says="no column")
    yield Call("table", (*dimensions, "--data", ESCAPE), says="there is no table")
    yield Call(
        "table", (*dimensions, "--csv", "good.csv", "--target", "y", "--set", "n=1e9"), says="n = 1000000000|GiB"
    )
    million = (*dimensions, "--csv", "million.csv", "--target", "y")
    yield Call("table", million, says="GiB of memory|would take", quick=False)
    yield Call("table", (*million, "--set", "n=20", "--samples", "2"), EITHER, quick=False)
    for name in ("missing", "folder", "pipe", "/dev/zero", "empty", "huge"):
        yield Call("text", ("compare", "induction.vanilla", "--text", name))


def machine_files() -> Iterator[Call]:
    for name in ("binary", "empty", "missing", "pipe", "escape.tm", "huge"):  # others are among `words`
        yield Call("machine", ("compare", "machines.turing", "--set", f"machine={name}"))
    for name in ("binary", "empty", "missing", "pipe", "cycle.bench", "huge"):
        yield Call("circuit", ("compare", "machines.circuit", "--set", f"netlist={name}"))
    yield Call("machine", ("compare", "machines.turing", "--set", "input=" + "1" * 100_000), EITHER, quick=False)
    yield Call("machine", ("compare", "machines.turing", "--set", "machine=loops.tm"), says="has not halted")
    yield Call("circuit", ("compare", "machines.circuit", "--set", "netlist=c17", "--set", "input=" + "1" * 5000))
    yield Call("circuit", ("compare", "machines.circuit", "--set", "netlist=c17", "--set", f"input={ESCAPE}"))


# ---- what is written -----------------------------------------------------------------------------------------------

LATEX = ("latex", "icgd.gradient", "-o")


def outputs() -> Iterator[Call]:
    vanilla = ("compare", "induction.vanilla", "-o")
    yield Call("output", (*LATEX, "new.tex/"), says="is a folder; name a file in it")
    yield Call("output", (*LATEX, "folder"), says="it is a folder")
    yield Call("output", (*LATEX, "no/new.tex"), says="there is no folder")
    yield Call("output", (*LATEX, "empty/new.tex"), says="Not a directory")
    yield Call("output", (*LATEX, "a" * 300), says="File name too long")
    yield Call("output", (*LATEX, "/proc/new.tex"), says="takes no new files")
    yield Call("output", (*LATEX, "a\x00b"), says="")
    yield Call("output", (*LATEX, "/dev/full"), says="No space left")
    yield Call("output", (*LATEX, "new.tex"), DONE, writes=("new.tex",))
    yield Call("output", (*LATEX, f"{ESCAPE}.tex"), DONE, writes=(f"{ESCAPE}.tex",))
    for name, says in (("x.csv/", "is a folder"), ("x.pdf", "suffix"), ("no/x.tex", "no folder"), ("x", "suffix")):
        yield Call("output", (*vanilla, name), says=says)
    yield Call("output", (*vanilla, "x.tex", "-o", "./x.tex"), says="given twice")
    yield Call("output", (*vanilla[:-1], "--plot", "x.png/"), says="is a folder")
    yield Call("output", (*vanilla[:-1], "--plot", "x.tex"), says="suffix")
    yield Call("output", (*vanilla[:-1], "--save-witnesses", "good.csv"), says="file where a folder")
    yield Call("output", (*vanilla[:-1], "--save-witnesses", "no/no"), says="there is no folder")
    yield Call("plot", ("compare", "machines.approximation", "--plot", "x.png"), EITHER, quick=False)
    yield Call("full disk", (*LATEX, "precious.tex"), says="File too large", room=4000)
    yield Call("full disk", (*LATEX, "new.tex"), says="File too large", room=4000)
    yield Call("kill", (*LATEX, "precious.tex"), (-9,), event="kill")
    yield Call("kill", (*LATEX, "new.tex"), (-9,), event="kill")


def streams() -> Iterator[Call]:
    for arguments in (("list",), ("list", "--json"), ("show", "induction.vanilla"), ("latex", "induction.vanilla")):
        yield Call("stream", arguments, says="standard output is closed", output="closed")
        yield Call("stream", arguments, says="No space left on device", output="full")
    for arguments in (("--version",), ("--help",), ("compare", "--help")):
        yield Call("stream", arguments, says="standard output is closed", output="closed")


def interrupts() -> Iterator[Call]:
    for arguments in (
        ("compare", "icgd.step", "--set", "N=40"),
        ("compare", "induction.losses"),
        ("solve", "icgd.step", "--for", "relus", "--error", "1e-3", "--set", "N=20"),
        ("certify", "--expression", "(x**2 - 2*y**2)**2 > 0", "--range", "x=1/2,1", "--range", "y=1/2,1"),
    ):
        yield Call("interrupt", arguments, (130,), "interrupted", event="interrupt")


# ---- Python --------------------------------------------------------------------------------------------------------


def _compare(id: str, **arguments: Any) -> None:
    from bridge.questions.compare import compare

    compare(id, **arguments)


def _solve(id: str, **arguments: Any) -> None:
    from bridge.questions.solve import solve

    solve(id, **arguments)


def _theorem_of_one() -> None:
    import sympy as sp

    from bridge.questions.stating import theorem
    from symbolic.derivations.inequalities import Inequality

    x = sp.Symbol("x")
    theorem("own", inequalities=Inequality("one", x, {x: (0, 1)}))


PYTHON: dict[str, Callable[[], None]] = {
    "an inequality that is in no list": _theorem_of_one,
    "a range of 10^30 values": partial(_compare, "icgd.step", N=range(10**30)),
    "a range of 10^9 values": partial(_compare, "icgd.step", N=range(10**9)),
    "a whole number of 5000 digits": partial(_compare, "icgd.step", K=10**5000),
    "a negative number of 5000 digits": partial(_compare, "icgd.step", K=-(10**5000)),
    "a string of digits": partial(_compare, "icgd.step", K="1e9"),
    "a complex number": partial(_compare, "icgd.step", K=1 + 2j),
    "None": partial(_compare, "icgd.step", K=None),
    "a dict": partial(_compare, "icgd.step", K={}),
    "an empty tuple": partial(_compare, "icgd.step", K=()),
    "True": partial(_compare, "icgd.step", samples=True),
    "samples beyond 2^63": partial(_compare, "icgd.step", samples=2**64),
    "samples as a float": partial(_compare, "icgd.step", samples=1e9),
    "nan": partial(_compare, "icgd.step", B_v=float("nan")),
    "a matrix that holds itself": partial(_compare, "induction.vanilla", W_star=(_nested := [[]])),  # type: ignore[var-annotated]
    "a deep matrix": partial(_compare, "induction.vanilla", W_star="[" * 100_000),
    "a matrix with a hole": partial(_compare, "induction.vanilla", W_star=[[1, None], [0, 1]]),
    "a dtype of characters that a terminal obeys": partial(_compare, "induction.vanilla", dtype=ESCAPE),
    "an error of 1e-320": partial(_solve, "icgd.step", for_="relus", error=1e-320),
    "an error of 0": partial(_solve, "icgd.step", for_="relus", error=0),
    "an error of -inf": partial(_solve, "icgd.step", for_="relus", error=float("-inf")),
    "several values of a parameter": partial(_solve, "icgd.step", for_="relus", error=1e-3, K=(1, 2)),
    "a size that nothing can hold": partial(_solve, "icgd.step", for_="relus", error=1e-3, N=10**18),
    "a text that is a device": partial(_compare, "induction.vanilla", text="/dev/zero"),
    "an id that is a number": partial(_compare, "1e9"),
}
_nested.append(_nested)


def from_python() -> Iterator[Call]:
    for name in PYTHON:
        yield Call("Python", (name,), says="give a list, also of one" if "in no list" in name else "", python=True)
