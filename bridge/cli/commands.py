"""The commands with their options. Each body is imported when its command runs, so that `--help` stays instant."""

from pathlib import Path
from typing import Annotated, Any

import typer

from bridge.cli.options import LEFT_OUT_FIRST, Json, flag, output_file, taking, writing
from bridge.cli.parameter_help import CommandOfResult, PlainCommand
from bridge.cli.report_options import write_report
from bridge.cli.training_options import train_model

app = typer.Typer(
    help="Derive the bound, build the transformer it describes, measure the error, compare the two.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


Id = Annotated[
    str,
    typer.Argument(
        metavar="ID|FILE.py",
        help="A result, such as induction.vanilla (`boundsmith list` shows all), or a Python file with a theorem of "
        "your own; FILE.py:NAME where it holds several.",
    ),
]
Ids = Annotated[
    list[str],
    typer.Argument(metavar="ID|FILE.py", help="Results, or Python files with theorems of your own, one or several."),
]
Settings = Annotated[
    list[str] | None,
    taking(
        "NAME=VALUE", "The value of a parameter; `show ID` lists the names and what each takes. Repeatable.", "--set"
    ),
]


def _version(requested: bool) -> None:
    if requested:
        from bridge.cli.codes import version

        typer.echo(f"boundsmith {version()}")
        raise typer.Exit


@app.callback()
def boundsmith(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


@app.command("list", cls=PlainCommand)
def list_results(json: Annotated[bool, flag("--json", "Print a JSON list.")] = False) -> None:
    """List all results: id, status (running or planned) and citation."""
    from bridge.cli.describe import list_claims

    list_claims(as_json=json)


@app.command(cls=CommandOfResult)
def show(
    id: Id,
    json: Json = False,
    steps: Annotated[
        bool, flag("--steps", "Instead: size, error and bound of each step at one random prompt.")
    ] = False,
    exact: Annotated[bool, flag("--exact", "With --steps: on balls; each number is proved.")] = False,
    seed: Annotated[int | None, taking("N", "With --steps: random seed of weights and prompt.", min=0)] = None,
    settings: Settings = None,
) -> None:
    """Show a result: claim, hypotheses, quantities and derivations."""
    if steps:
        from bridge.cli.requests import request

        asked = request(id, settings)
        from bridge.cli.running import run_steps

        run_steps(asked, seed=seed or 0, exact=exact, as_json=json)
        return
    if exact or seed is not None or settings:
        from symbolic.words.errors import UsageError

        raise UsageError("--exact, --seed and --set go with --steps: they choose the prompt at which steps are shown.")
    from bridge.cli.describe import show_claim

    show_claim(id, as_json=json)


@app.command(cls=PlainCommand)
def latex(
    ids: Ids,
    output: Annotated[Path | None, writing("Write to a file instead of stdout.", "-o", "--output")] = None,
    quantity: Annotated[list[str] | None, taking("NAME", "Only this quantity. Repeatable.")] = None,
    tier: Annotated[str, taking("TIER", "Only `printed` or only `derived` bounds.")] = "",
    part: Annotated[str, taking("PART", "Only the sentence of the `theorem`, or only its `proof`.")] = "",
    macros: Annotated[
        Path | None, taking("FILE", 'A JSON file of letters as commands of your own, such as {"B_v":"\\\\Bv"}.')
    ] = None,
    standalone: Annotated[bool, flag("--standalone", "A document that compiles, with its bibliography.")] = False,
    bibtex: Annotated[bool, flag("--bibtex", "Print the BibTeX entries of the cited papers instead.")] = False,
    slack: Annotated[
        bool, flag("--slack", "What each step loses at the worst input found, by a run at the defaults.")
    ] = False,
    expanded: Annotated[bool, flag("--expanded", "Print each derived bound in closed form, however long.")] = False,
) -> None:
    """Print results as LaTeX: claim, hypotheses, printed and derived bounds, derivations."""
    from bridge.cli.typesetting import write_latex
    from bridge.theorems.latex import Excerpt, read_macros

    letters = read_macros(macros) if macros else {}
    excerpt = Excerpt(tuple(quantity or ()), tier, letters, part, expanded)
    write_latex(ids, output, excerpt, bibtex=bibtex, standalone=standalone, slack=slack)


@app.command(cls=CommandOfResult)
def solve(
    id: Id,
    knob: Annotated[str, taking("NAME", "The parameter to solve for, or `error`.", "--for")],
    error: Annotated[float | None, taking("E", "The requested error; not with `--for error`.")] = None,
    quantity: Annotated[
        str | None, taking("Q", "The quantity whose error is meant; by default the result's final one.")
    ] = None,
    tier: Annotated[str | None, taking("TIER", "The tier of the bound: derived, printed or instance.")] = None,
    settings: Settings = None,
    json: Json = False,
) -> None:
    """Find the value of a parameter that guarantees an error; with `--for error`, the error for given values."""
    from bridge.cli.requests import request
    from bridge.questions.solving.tiers import check_tier

    options = {"error": error, "quantity": quantity, "tier": tier}
    given = {name: value for name, value in options.items() if value is not None}
    asked = request(id, settings)
    if knob != "error":
        asked.result.parameter(knob)
    if quantity is not None:
        asked.result.quantity(quantity)
    if tier is not None:
        check_tier(tier)
    from bridge.cli.running import run_solve

    run_solve(asked, knob, given, as_json=json)


@app.command(cls=CommandOfResult)
def compare(
    id: Id,
    settings: Settings = None,
    grid: Annotated[
        list[str] | None, taking("NAME=V1,V2,...", "Several values of a parameter. Repeatable.", "--grid")
    ] = None,
    seed: Annotated[int | None, taking("N", "Random seed.", min=0)] = None,
    samples: Annotated[int | None, taking("N", "Random inputs, or draws, at each point of the grid.", min=1)] = None,
    attack: Annotated[int | None, taking("N", "Steps of gradient ascent; 0: no attack.", min=0)] = None,
    restarts: Annotated[int | None, taking("N", "Number of starts of the attack.", min=1)] = None,
    dtype: Annotated[str | None, taking("FORMAT", "Number format: float64, float32, bfloat16 or float16.")] = None,
    device: Annotated[str | None, taking("DEVICE", "Device: cpu or cuda.")] = None,
    text: Annotated[str | None, taking("FILE", "Real input: a text, for results that accept one.")] = None,
    data: Annotated[
        str | None,
        taking("NAME", "Real input: a bundled table (diabetes, sunspots), for results that accept tables."),
    ] = None,
    csv: Annotated[
        str | None, taking("FILE", "Real input: a table with a header row, for results that accept tables.")
    ] = None,
    target: Annotated[str | None, taking("COLUMN", "For --csv: the column to predict from the other columns.")] = None,
    features: Annotated[
        str | None, taking("NAMES", "For a table: the columns to take beside the target, as bmi,bp; by default all.")
    ] = None,
    lags: Annotated[int | None, taking("Q", "For a table that is a series: predict from the Q values before.")] = None,
    claim: Annotated[
        list[str] | None,
        taking("TEXT", "A bound of your own to judge too, as 'output <= 2*W_norm*exp(-p)'. One for each quantity."),
    ] = None,
    json: Annotated[bool, flag("--json", "Print all rows as one JSON object and nothing else.")] = False,
    all_rows: Annotated[bool, flag("--all", "Also show the rows of the intermediate quantities.")] = False,
    columns: Annotated[
        list[str] | None,
        taking(
            "NAMES",
            "Columns, in this order, as derived,measured,N; quantity and verdict are always there. Without it, a "
            f"narrow terminal leaves columns out, in this order: {LEFT_OUT_FIRST}; then what tells rows apart.",
        ),
    ] = None,
    quantity: Annotated[
        list[str] | None, taking("NAMES", "Only the rows of these quantities; p stands for p[1], p[2] ... too.")
    ] = None,
    scope: Annotated[
        list[str] | None, taking("NAMES", "Only these scopes: network, prompt, every, local or none.")
    ] = None,
    sort: Annotated[list[str] | None, taking("NAMES", "Sort by these columns; -ratio: the largest first.")] = None,
    siunitx: Annotated[
        bool, flag("--siunitx", "Align the numbers of a .tex file by siunitx instead of dcolumn.")
    ] = False,
    caption: Annotated[
        str, taking("TEXT", "Caption of a .tex file, with mathematics as `e^-p`; ours moves below.")
    ] = "",
    label: Annotated[str, taking("NAME", "Label of a .tex file, as tab:heads; ours is tab:ID.")] = "",
    steps: Annotated[bool, flag("--steps", "Also show how loose each step of the derivation is.")] = False,
    output: Annotated[
        list[Path] | None,
        writing("Also write a .tex, .md, .html, .csv or .json file. Repeatable.", "-o", "--output"),
    ] = None,
    plot: Annotated[list[Path] | None, writing("Also draw a plot into a .png, .svg or .pdf file. Repeatable.")] = None,
    untitled: Annotated[
        bool, flag("--untitled", "Plots without a title, for a paper whose caption says what they show.")
    ] = False,
    plot_steps: Annotated[
        list[Path] | None, writing("Also draw what each step of the proof loses. Repeatable.")
    ] = None,
    save_witnesses: Annotated[Path | None, taking("DIR", "Save the witness of each violated bound.")] = None,
    resume: Annotated[
        bool, flag("--resume", "Go on with a run that was stopped: what it kept beside --output.")
    ] = False,
    witness: Annotated[Path | None, taking("FILE", "Only check a saved witness again.")] = None,
) -> None:
    """Compare printed, derived and instance bounds with measured and attacked errors."""
    from bridge.cli.outputs import Outputs, check_choice, check_compare, check_replay
    from bridge.cli.requests import request
    from bridge.export.choice import choice

    of_run: dict[str, Any] = {"seed": seed, "samples": samples, "attack": attack, "restarts": restarts}
    of_run |= {"dtype": dtype, "device": device, "claim": claim or None}
    of_inputs = {"text": text, "data": data, "csv": csv, "target": target, "features": features, "lags": lags}
    given = {name: value for name, value in (of_run | of_inputs).items() if value is not None}
    of_latex: dict[str, Any] = {"siunitx": siunitx, "caption": caption, "label": label}
    shown = choice(columns or (), quantity or (), scope or (), sort or (), all_rows=all_rows, **of_latex)
    files: dict[str, Any] = {"tables": tuple(output or ()), "plot": tuple(plot or ())}
    files |= {"plot_steps": tuple(plot_steps or ())}
    files |= {"witnesses": save_witnesses, "titled": not untitled, "resume": resume}
    outputs = Outputs(**files, as_json=json, choice=shown, steps=steps)
    if witness is not None:
        check_replay(witness, [*(settings or []), *(grid or []), *given], outputs)
        asked = request(id)
        from bridge.cli.running import run_replay

        run_replay(asked, witness, as_json=json)
        return
    check_compare(given, outputs)
    asked = request(id, settings, grid)
    check_choice(asked, shown)
    from bridge.cli.running import run_compare

    run_compare(asked, given, outputs)


@app.command(cls=PlainCommand, context_settings={"allow_interspersed_args": False})
def sweep(
    context: typer.Context,
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="COMMAND", help="A command with its arguments, as `compare ID --grid p=1,2,4`."),
    ] = None,
    output: Annotated[
        Path | None, taking("FOLDER", "The folder that keeps each job as it is done, and the record.", "-o", "--output")
    ] = None,
    over: Annotated[
        list[str] | None,
        taking("NAME=V1,V2,...", "Values of an option of COMMAND, or of a parameter; a job each. Repeatable."),
    ] = None,
    jobs: Annotated[
        int | None, taking("N", "Processes of this machine; by default as many as it has cores and memory for.")
    ] = None,
    dask: Annotated[
        str | None, taking("ADDRESS", "Instead: the scheduler of a dask cluster, as tcp://HOST:8786.")
    ] = None,
    show: Annotated[
        Path | None, taking("FOLDER", "Only show what is done in the folder, also while a sweep is at work.", "--show")
    ] = None,
) -> None:
    """Run a command over a grid, as jobs that are kept in a folder and merged into one record.

    A comparison is swept over the points of its grid, any other command over the values of --over. The record is that
    of one process. Where a sweep is stopped, or killed, the same command goes on. Options of sweep stand before
    COMMAND; {folder} in an argument of COMMAND is a folder of the job's own.
    """
    from bridge.cli.sweeping import CommandLine, Workers, run_sweep, show_sweep
    from symbolic.words.errors import UsageError

    root = context.find_root()
    program = CommandLine(root.command, root.obj)
    if show is not None:
        if command or output or over or jobs is not None or dask is not None:
            raise UsageError("sweep: --show FOLDER only shows what is done; omit the rest.")
        show_sweep(program, show)
        return
    if not command or output is None:
        missing = "the command to run, as `compare ID --grid p=1,2,4`" if output else "a folder by -o FOLDER"
        raise UsageError(f"sweep: name {missing}; `boundsmith sweep --help` shows how to call it.")
    run_sweep(program, output, command, over or [], Workers(jobs, dask))


@app.command(cls=CommandOfResult)
def certify(
    id: Annotated[
        str | None, typer.Argument(metavar="ID|FILE.py", help="The theorem whose inequalities are to be proved.")
    ] = None,
    quantity: Annotated[str | None, taking("Q", "Only the inequalities of this quantity.")] = None,
    settings: Settings = None,
    seconds: Annotated[
        float | None,
        taking(
            "S", "Time limit to state the inequalities, and for each of them (60); with --check for the file (600)."
        ),
    ] = None,
    output: Annotated[
        Path | None, writing("Also write the certificate.", "-o", "--output", metavar="FILE.json")
    ] = None,
    with_checker: Annotated[
        bool,
        flag("--with-checker", "With -o: also write, beside it, a program that checks it without boundsmith."),
    ] = False,
    coq: Annotated[
        Path | None,
        writing("Also write the theorems with their proofs for Coq, and the steps that these use.", metavar="FILE.v"),
    ] = None,
    expression: Annotated[str | None, taking("TEXT", "Instead of ID: `f>=g`, `f>g`, or `f` for `f>=0`.")] = None,
    ranges: Annotated[
        list[str] | None,
        taking("NAME=LOW,HIGH", "For --expression: an exact range, such as 1/3,0.5. Repeatable.", "--range"),
    ] = None,
    where: Annotated[
        list[str] | None, taking("TEXT", "For --expression: prove it only where TEXT holds. Repeatable.")
    ] = None,
    largest: Annotated[
        str | None, taking("C", "For --expression: the largest C with which it holds, sought in the range of C.")
    ] = None,
    supremum: Annotated[bool, flag("--supremum", "For --expression: its supremum on the region.")] = False,
    lipschitz: Annotated[
        str | None, taking("NORM", "For --expression: its Lipschitz constant in the norm 1, 2 or inf.")
    ] = None,
    flow: Annotated[
        list[str] | None,
        taking("X=RATE", "For --expression V: the largest C with dV/dt <= -C V along dX/dt = RATE. Repeatable."),
    ] = None,
    check: Annotated[Path | None, taking("FILE", "Only re-check a certificate, from scratch.")] = None,
    json: Json = False,
) -> None:
    """Prove inequalities on boxes. Outcomes: proved, refuted with a point, or undecided (exit code 0 for all three).

    With --largest, --supremum, --lipschitz or --flow: a constant that is proved, and one that a point refutes.

    An inequality that is not finished within the time limit is undecided. With --check, the exit code is 0 if every
    inequality in the file is decided and confirmed, 1 if not (also if the time limit is reached), and 2 if the file is
    not a certificate.
    """
    from bridge.cli.requests import request
    from symbolic.words.errors import UsageError

    asking = {"--largest": largest, "--supremum": supremum, "--lipschitz": lipschitz, "--flow": flow}
    typed = {"--range": ranges, "--where": where, **asking}
    of_result = {"--quantity": quantity, "--set": settings}
    written = {"--output": output, "--with-checker": with_checker, "--coq": coq}
    if check is not None:
        others = {"ID": id, "--expression": expression, **written, **typed, **of_result}
        from bridge.cli.rechecking import run_check

        run_check(check, others, seconds, as_json=json)
        return
    if (id is None) == (expression is None):
        raise UsageError(
            "certify takes one of ID, --expression TEXT and --check FILE; `boundsmith certify -h` shows more."
        )
    misplaced = [name for name, value in (typed if expression is None else of_result).items() if value]
    if misplaced:
        partner = "--expression TEXT" if expression is None else "a result's ID"
        raise UsageError(f"certify: {', '.join(misplaced)} goes with {partner}.")
    asked = None if id is None else request(id, settings)  # before what takes a second to import
    from bridge.cli.certificate_files import CertificateFiles

    files = CertificateFiles(output, with_checker, coq)
    if asked is not None:
        from bridge.cli.certifying import run_certify

        run_certify(asked, quantity, seconds, files, as_json=json)
    elif expression is not None and any(asking.values()):
        from bridge.cli.constants import Question, run_constant

        question = Question(largest, supremum, lipschitz, tuple(flow or ()))
        run_constant(question, expression, ranges or [], where or [], seconds, files, as_json=json)
    elif expression is not None:
        from bridge.cli.certifying import run_expression

        run_expression(expression, ranges or [], where or [], seconds, files, as_json=json)


app.command("report", cls=PlainCommand)(write_report)
app.command("train", cls=PlainCommand)(train_model)


@app.command(cls=PlainCommand)
def new(
    file: Annotated[Path, typer.Argument(metavar="FILE.py", parser=output_file, help="The file to write.")],
) -> None:
    """Write a file with a theorem of your own to start from; it runs as it is."""
    from bridge.cli.starting import run_new

    run_new(file)


@app.command(cls=PlainCommand)
def errata(
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID|FILE.py", help="Only of these results, or theorems of your own."),
    ] = None,
    quantity: Annotated[str | None, taking("Q", "Only of this quantity.")] = None,
    replay: Annotated[bool, flag("--replay", "Run each witness again, from scratch.")] = False,
    output: Annotated[Path | None, writing("Also write a .md, .tex or .html page.", "-o", "--output")] = None,
    json: Json = False,
) -> None:
    """List the errata of the papers: weight, sentence, reading, repair, witness, and whether the main claim survives.

    With --replay the exit code is 0 only if every witness still refutes what is printed.
    """
    from bridge.cli.errata import run_errata

    raise typer.Exit(run_errata(ids or [], quantity, output, replay=replay, as_json=json))
