"""boundsmith in scripts and notebooks: derive a bound, build its transformer, measure the error, compare the two.

    import boundsmith as bs
    print(bs.compare("induction.vanilla"))      # a result of a paper: `boundsmith list` names them

State a theorem of your own:
    theorem, Theorem                            one call builds it; what it is
    Text, Pair, Transformer, Smooth, Emulated   parameters that are text; networks; operands of a derivation
    Check, Sides                                rows of your own
    Knobs, AtPoint, InputSearch, ExactRuns, Refuting, Refusal, Refutation, Work    what few theorems need

Compose it: an expression knows its bound, its network and its reference:
    vector, tokens, matrix, value, draws        inputs and weights; a program of your own; random draws
    function, quantised                         functions in SymPy; activations on a grid
    repeat, softmax, hard_max, attend, mean, concatenate, and + - * @
    gradient                                    of a loss by matrices and inputs: formulas, LaTeX, numbers, balls

Ask about a theorem, an id of a result, or a file with a theorem:
    compare, load                               every bound beside the largest error; the same, read from its JSON
    solve                                       the knob that meets an accuracy
    certify, discharge                          proofs of inequalities and of obligations
    steps, at                                   a bound step by step at one prompt; the same without a theorem
    replay                                      a saved witness, run again
    results, find_result                        the results of the papers

Write it:
    latex                                       a formula or a bound in lines that fit a page

What they give:
    Comparison, Verdict, Approximated, Derivation, Norm, Event

Errors:
    UsageError, DerivationError                 what was called, what came, what to do

Namespaces, each with its names by purpose in its docstring:
    blocks        layers of real transformers, as expressions: normalisation, positions, losses, experts
    rules         the error calculus: from approximated values to new ones, each with a proven bound
    domains       sets of inputs and weights, which are sampled, attacked and checked
    networks      transformers from constructed weights
    formulas      SymPy to numbers and balls; certified sums of ReLUs
    checks        sides of rows, margins, thresholds, rates
    statements    the data of a statement: quantities, hypotheses, citations, errata
    sources       real tables, series and texts as prompts; files of your own
    dynamics      gradient flows, conserved quantities, decays
    barron        classes of functions by their Fourier densities

`help(bs.compare)` explains a name, `help(bs.rules)` a namespace. All of them are imported on first use.
"""

import ast
import functools
import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

_HERE = Path(__file__).resolve().parent
_HOMES = {
    imported.name: f"{node.module}"
    for node in ast.parse((_HERE / "__init__.pyi").read_text()).body
    if isinstance(node, ast.ImportFrom)
    for imported in node.names
}
_FLOORS = ("symbolic", "numeric", "bridge")


@functools.cache
def _require_own_floors() -> None:
    """Raises ImportError where another package or a file of the user's has the name of one of the three floors."""
    for floor in _FLOORS:
        spec = importlib.util.find_spec(floor)
        if spec is None or spec.origin is None:
            raise ImportError(f"boundsmith: there is no package '{_HERE.parent / floor}'; install boundsmith again")
        if Path(spec.origin).resolve() != _HERE.parent / floor / "__init__.py":
            raise ImportError(
                f"boundsmith: '{spec.origin}' shadows the package '{floor}' of boundsmith in '{_HERE.parent}'; rename "
                f"that file or folder, uninstall that package, or put '{_HERE.parent}' before it in PYTHONPATH"
            )


def main() -> int:
    """The command `boundsmith`."""
    try:
        _require_own_floors()
    except ImportError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    from bridge.cli import main as run

    return run()


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'boundsmith' has no attribute {name!r}")
    _require_own_floors()
    home = _HOMES[name]
    return (
        importlib.import_module(f"{home}.{name}") if home == __name__ else getattr(importlib.import_module(home), name)
    )


def __dir__() -> list[str]:
    return sorted(_HOMES)
