"""The commands with their options. Each body is imported when its command runs, so that `--help` stays instant."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer

SLASHES = tuple({"/", os.sep})

app = typer.Typer(
    help="Derive the bound, build the transformer it speaks of, measure the error, put the two side by side.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _output_file(text: str) -> Path:
    """A path to write to. A trailing slash means a folder, which `Path` would drop."""
    if text.endswith(SLASHES):
        raise typer.BadParameter(f"'{text}' is a folder; name a file in it")
    return Path(text)


Id = Annotated[str, typer.Argument(metavar="ID", help="A result, e.g. induction.vanilla; `boundsmith list` has all.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object on stdout, and nothing else there.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A parameter's value; `show ID` has the names. Repeatable."),
]


def _version(wanted: bool) -> None:
    if wanted:
        from bridge.cli.entry import version

        typer.echo(f"boundsmith {version()}")
        raise typer.Exit


@app.callback()
def boundsmith(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    pass


@app.command("list")
def list_results(json: Annotated[bool, typer.Option("--json", help="As a JSON list.")] = False) -> None:
    """Every result: its id, whether it runs already, and where the paper states it."""
    from bridge.cli.describe import list_claims

    list_claims(as_json=json)


@app.command()
def show(id: Id, json: Json = False) -> None:
    """What a result claims, under which hypotheses, and how its bounds are derived."""
    from bridge.cli.describe import show_claim

    show_claim(id, as_json=json)


@app.command()
def latex(
    id: Id,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", parser=_output_file, help="Into a file instead of stdout."),
    ] = None,
    bibtex: Annotated[
        bool, typer.Option("--bibtex", help="The BibTeX entries of the papers it cites, instead.")
    ] = False,
) -> None:
    """A result as LaTeX: claim, hypotheses, printed and derived bounds, derivations."""
    from bridge.cli.describe import write_latex

    write_latex(id, output, bibtex=bibtex)


@app.command()
def solve(
    id: Id,
    knob: Annotated[str, typer.Option("--for", metavar="NAME", help="What is asked for: a parameter, or `error`.")],
    error: Annotated[
        float | None, typer.Option(metavar="E", help="The error that is requested; not with `--for error`.")
    ] = None,
    quantity: Annotated[
        str | None, typer.Option(metavar="Q", help="Whose error; by default the result's final quantity.")
    ] = None,
    tier: Annotated[str | None, typer.Option(help="The bound to rely on: derived, printed or instance.")] = None,
    settings: Settings = None,
    json: Json = False,
) -> None:
    """The inverse: which value of a parameter guarantees this error? `--for error`: which error do they give?"""
    from bridge.cli.solving import run_solve

    options = {"error": error, "quantity": quantity, "tier": tier}
    given = {name: value for name, value in options.items() if value is not None}
    run_solve(id, knob, given, settings or [], as_json=json)


@app.command()
def compare(
    id: Id,
    settings: Settings = None,
    grid: Annotated[
        list[str] | None,
        typer.Option("--grid", metavar="NAME=V1,V2,...", help="A parameter over several values. Repeatable."),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Of everything random.")] = None,
    samples: Annotated[int | None, typer.Option(min=1, help="Random inputs at each point of the grid.")] = None,
    attack: Annotated[int | None, typer.Option(min=0, metavar="STEPS", help="Gradient ascent; 0: none.")] = None,
    restarts: Annotated[int | None, typer.Option(min=1, help="Starts of the attack.")] = None,
    dtype: Annotated[str | None, typer.Option(help="float64, float32, bfloat16 or float16.")] = None,
    device: Annotated[str | None, typer.Option(help="cpu or cuda.")] = None,
    text: Annotated[Path | None, typer.Option(metavar="FILE", help="Real input: a text, for results that can.")] = None,
    data: Annotated[
        str | None, typer.Option(metavar="NAME", help="Real input: a bundled table (diabetes), for results that can.")
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Real input: a table with a header row, for results that can.")
    ] = None,
    target: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Of --csv: what is to be predicted from the other columns.")
    ] = None,
    machine: Annotated[
        str | None, typer.Option(metavar="NAME|FILE", help="A Turing machine, shipped or of a file, for machines.*.")
    ] = None,
    input: Annotated[
        str | None,
        typer.Option(metavar="STRING", help="The tape's input, or a circuit's bits. Several: --grid input=0,01."),
    ] = None,
    netlist: Annotated[
        str | None, typer.Option(metavar="NAME|FILE", help="A circuit, shipped or of a file, for machines.*.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="All rows, as one JSON object and nothing else.")] = False,
    all_rows: Annotated[bool, typer.Option("--all", help="Also the rows of the intermediate quantities.")] = False,
    steps: Annotated[bool, typer.Option("--steps", help="Also how loose each step of the derivation is.")] = False,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            parser=_output_file,
            help="Also into a .tex, .json or .csv file. Repeatable.",
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", parser=_output_file, help="Also draw into a .png or .svg file.")
    ] = None,
    save_witnesses: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Save the input at which each violated bound fails.")
    ] = None,
    witness: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Run nothing else: check a saved witness again.")
    ] = None,
) -> None:
    """Printed, derived and instance bounds beside the errors that were measured, random and attacked."""
    from bridge.cli.comparing import Outputs, run_compare, run_replay

    numbers = {"seed": seed, "samples": samples, "attack": attack, "restarts": restarts}
    settings_of_run = {**numbers, "dtype": dtype, "device": device}
    sources = {"text": text, "data": data, "csv": csv, "target": target}
    given: dict[str, Any] = {name: value for name, value in settings_of_run.items() if value is not None}
    given |= {name: str(value) for name, value in sources.items() if value is not None}
    words = {"machine": machine, "input": input, "netlist": netlist}
    named = {name: value for name, value in words.items() if value is not None}
    outputs = Outputs(tuple(output or ()), plot, save_witnesses, as_json=json, all_rows=all_rows, steps=steps)
    if witness is None:
        run_compare(id, settings or [], grid or [], given, outputs, named)
    else:
        run_replay(id, witness, [*(settings or []), *(grid or []), *given, *named], outputs)


@app.command()
def certify(
    id: Annotated[str | None, typer.Argument(metavar="[ID]", help="A result whose inequalities are proved.")] = None,
    quantity: Annotated[str | None, typer.Option(metavar="Q", help="Only the inequalities of that name.")] = None,
    settings: Settings = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            metavar="S",
            help="Time limit: for stating the inequalities and for each of them (60); with --check for the file (600).",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE.json", parser=_output_file, help="Also write the certificate."),
    ] = None,
    expression: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Instead of ID: `f` (meaning f >= 0), `f >= g` or `f > g`.")
    ] = None,
    ranges: Annotated[
        list[str] | None,
        typer.Option("--range", metavar="NAME=LOW,HIGH", help="Of --expression; exact: 1/3, 0.1. Repeatable."),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="Of --expression: only where this holds too. Repeatable."),
    ] = None,
    check: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Prove nothing: re-check a certificate from scratch.")
    ] = None,
    json: Json = False,
) -> None:
    """Prove inequalities on boxes: proved, refuted with a point, or undecided (exit code 0 for all three).

    What the time limit leaves over is undecided. With --check the exit code is 0 only if everything in the file is
    decided and confirmed, 1 if it is not or was not reached in time, and 2 for a file that is no certificate.
    """
    from bridge.cli.certifying import run_certify, run_expression
    from bridge.cli.rechecking import run_check
    from symbolic.statements import UsageError

    typed = {"--range": ranges, "--where": where}
    of_result = {"--quantity": quantity, "--set": settings}
    if check is not None:
        others = {"ID": id, "--expression": expression, "--output": output, **typed, **of_result}
        run_check(check, others, seconds, as_json=json)
        return
    if (id is None) == (expression is None):
        raise UsageError(
            "certify takes one of ID, --expression TEXT and --check FILE; `boundsmith certify -h` has more."
        )
    misplaced = [name for name, value in (typed if expression is None else of_result).items() if value]
    if misplaced:
        wanted = "--expression TEXT" if expression is None else "a result's ID"
        raise UsageError(f"certify: {', '.join(misplaced)} goes with {wanted}.")
    if expression is None:
        assert id is not None  # one of the two is given
        run_certify(id, quantity, settings or [], seconds, output, as_json=json)
    else:
        run_expression(expression, ranges or [], where or [], seconds, output, as_json=json)
