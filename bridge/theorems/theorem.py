"""A theorem as a value: what `compare`, `solve`, `certify`, `show` and the exports take, beside the id of a result.

`Theorem` is what the engine reads; `theorem` in bridge/theorems/building.py builds one from the conclusions of a
derivation and from functions.
"""

from dataclasses import dataclass, replace
from typing import Any

from bridge.theorems.latex import Excerpt, statements_latex
from bridge.theorems.theorem_data import NORMS, OVER_DRAWS, Function, Network, TheoremData, over_draws
from bridge.theorems.well_formed import require_well_formed

__all__ = ["NORMS", "OVER_DRAWS", "Function", "Network", "Theorem", "over_draws"]


@dataclass(frozen=True)
class Theorem(TheoremData):
    """A statement, the inputs that it is about, its network, and what it is compared with.

    `weights` are drawn once for each network (from a domain, by the seed; or by a function of the parameters), `inputs`
    once for each prompt. Network and reference are functions of parameters, weights and inputs by name, written in
    torch for one prompt; they return {quantity: array}, or one array for all of its quantities. Several networks are
    given by the quantity whose error each makes. The same functions run on Arb balls, at elements of the domains that
    floats may only come close to. There n, n + 1, 1 / n and x.shape are exact, while Python rounds 1.0 / n, 0.1 and
    math.sqrt(n): an error within that rounding is undecided (numeric/balls/floats.py). `built` is what they share and
    what is built once for each network, by name, from parameters, weights and what was built before: a certified sum
    of ReLUs, a SymPy formula. Functions take it by name as they take a weight. What a function has a default for is
    not passed to it: a default for a name of the theorem is refused.

    `readers` gives the value of each parameter that is text, by name: a function of the text, under that name, and of
    other parameters (of those read before it, the value). It raises UsageError with what came and what to do. Functions
    take the value; `resolve`, `work` and `quantities` take the text, which the record keeps.

    `knows` gives letters of the derivation that an instance knows better, each by one function or several: one that
    takes inputs gives the letter's value at a prompt, one that takes none that of the network.

    `handles` binds the operands that the steps of the derivations name (`matrix=`, `function=`, ... of the rules, and
    each given by its name): a function that returns them by handle, at one prompt; arrays, numbers, functions
    (`Smooth`), pairs of an exact and an emulated array (`Emulated`), and tuples of one operand for each layer of a
    repetition. With it, bounds at a prompt are read off the derivations (not with a `distance`), and so is what the
    network has to compute: row `faithful`. A quantity of whose handles none is bound is not read.

    `random` says which weights and inputs are the randomness that a quantity names, over which it holds with
    probability or in expectation: {"the draw of Lambda": ("omega", "t")}. A name that is itself that of a weight or an
    input needs none. Each of the `samples` draws them anew (bridge/judging/draws.py); a function that draws a weight
    takes `seed`, and another number for each weight. The other inputs are attacked after the draw: the row is about
    all of them at once, so that a bound for each fixed input alone needs a cover (bs.rules.cover) before it is stated
    here. Where what is drawn was computed in floats, which no run in another format measures, `rounding` gives, by
    quantity, how far its error may be from that of real arithmetic, from parameters and weights; an excess within is
    undecided.

    What few theorems need: `distance` takes `found` and `truth`, the arrays of network and reference at one prompt, and
    gives the error where it is in none of the three norms of a step. With `tokens`, the last axis of an array of
    several axes holds the coordinates, and the error is that of the largest token. `work` counts, from parameters,
    what a point takes (`Work`): prompts run in parts that fit, long runs are announced or refused. `tables`,
    functions of parameters and weights, stand under the rows (None: there is none here); of inputs they take those of
    one prompt, the table's or the first that is drawn, and of settings those of the run. `sources` says how real inputs
    become prompts: a `Tabular` or a `Series` of a table, a `Textual` of a text (bridge/theorems/sources/). `settings`
    are those of a run where none are given: fewer `samples`, where each takes long. `figure` takes a comparison and
    gives the theorem's own matplotlib figure for `--plot`; None: bounds against a parameter. `inequalities` on boxes
    are what `certify` proves: a tuple, or a function of parameters that gives them.

    `knobs`, `at_point`, `search`, `exact` and `refuting` are described in bridge/theorems/parts.py.

    What bounds: `norms` binds the handles for every prompt, to norms and ranges (bridge/readings/network.py), and so
    gives bounds of the network. `bounds` takes a `scope` of prompts and gives bounds by quantity that are proved in the
    theorem's own way, on tensors and on balls (there a text instead where a hypothesis is not verified). `by_rules`: a
    bound at a prompt is the least of what the reading knows and of what the rules say; False where the latter would not
    be the least.
    """

    def __post_init__(self) -> None:
        """Raises UsageError for a function, domain or letter that names what the theorem does not have."""
        require_well_formed(self)

    def with_at_point(self, **changes: Any) -> "Theorem":
        """The same with other fields of `at_point`."""
        return replace(self, at_point=replace(self.at_point, **changes))

    def latex(self, *, standalone: bool = False, **excerpt: Any) -> str:
        """The statement for amsmath; `standalone`: a document that compiles.

        `excerpt` says what is shown: `quantities`, `tier`, `macros`, `part`, `expanded` (bridge/theorems/latex.py).
        """
        return statements_latex([self.statement], Excerpt(**excerpt), standalone=standalone)

    def __repr__(self) -> str:
        result = self.statement
        names = ", ".join(each.name for each in result.parameters)
        return f"<Theorem {result.id}: {', '.join(each.name for each in result.quantities[:8])}; parameters {names}>"

    def __str__(self) -> str:
        """Parameters, hypotheses, and the bounds of each quantity."""
        return str(self.statement)

    def _repr_latex_(self) -> str:
        return self.statement._repr_latex_()
