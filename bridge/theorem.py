"""A theorem as a value: what `compare`, `solve`, `certify`, `show` and the exports take, beside the id of a result.

`Theorem` is what the engine reads; `theorem` in bridge/theorem_building.py builds one from the conclusions of a
derivation and from functions.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import sympy as sp

from bridge.arguments import arguments_of
from bridge.check import Check
from bridge.cost import Cost
from bridge.domains import Domain
from bridge.limits.run import Run
from bridge.pair import Pair
from bridge.record import Comparison
from bridge.sources.source import InputSource
from bridge.theorem_parts import AtPoint, ExactRuns, Function, InputSearch, Knobs, Refuting
from bridge.transformer import Transformer
from symbolic.inequalities import Inequality
from symbolic.statements import Quantifier, Quantity, Result

Network = Function | Transformer | Pair
OVER_DRAWS = (Quantifier.PROBABILITY, Quantifier.EXPECTATION)
NORMS = {"inf": "sup norm", "1": "1-norm", "2": "2-norm"}


@dataclass(frozen=True)
class Theorem:
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
    take the value; `resolve`, `memory` and `quantities` take the text, which the record keeps.

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
    all of them at once, so that a bound for each fixed input alone needs a cover (bs.cover) before it is stated here.
    Where what is drawn was computed in floats, which no run in another format measures, `rounding` gives, by quantity,
    how far its error may be from that of real arithmetic, from parameters and weights; an excess within is undecided.

    What few theorems need: `distance` takes `found` and `truth`, the arrays of network and reference at one prompt, and
    gives the error where it is in none of the three norms of a step. With `tokens`, the last axis of an array of
    several axes holds the coordinates, and the error is that of the largest token. `memory` gives, from parameters, the
    bytes that one prompt takes: prompts run in parts that fit. `cost` estimates a point from its sizes. `tables`,
    functions of parameters and weights, stand under the rows (None: there is none here); of inputs they take those of
    one prompt, the table's or the first that is drawn, and of settings those of the run. `sources` says how real inputs
    become prompts: a `Tabular` or a `Series` of a table, a `Textual` of a text (bridge/sources/). `settings` are those
    of a run where none are given: fewer `samples`, where each takes long. `figure` takes a comparison and gives the
    theorem's own matplotlib figure for `--plot`; None: bounds against a parameter. `inequalities` on boxes are what
    `certify` proves: a tuple, or a function of parameters that gives them.

    `knobs`, `at_point`, `search`, `exact` and `refuting` are described in bridge/theorem_parts.py.

    What bounds: `norms` binds the handles for every prompt, to norms and ranges (bridge/readings/network.py), and so
    gives bounds of the network. `bounds` takes a `scope` of prompts and gives bounds by quantity that are proved in the
    theorem's own way, on tensors and on balls (there a text instead where a hypothesis is not verified). `by_rules`: a
    bound at a prompt is the least of what the reading knows and of what the rules say; False where the latter would not
    be the least.
    """

    statement: Result
    main: str
    inputs: Mapping[str, Domain] = field(default_factory=dict)
    weights: Mapping[str, Domain | Function] = field(default_factory=dict)
    network: Network | Mapping[str, Network] | None = None
    reference: Function | Pair | None = None
    built: Mapping[str, Function] = field(default_factory=dict)
    readers: Mapping[str, Function] = field(default_factory=dict)
    knows: Mapping[sp.Symbol, tuple[Function, ...]] = field(default_factory=dict)
    handles: Function | None = None
    random: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rounding: Mapping[str, Function] = field(default_factory=dict)
    checks: tuple[Check, ...] = ()
    inequalities: tuple[Inequality, ...] | Function = ()
    knobs: Knobs = field(default_factory=Knobs)
    at_point: AtPoint = field(default_factory=AtPoint)
    search: InputSearch = field(default_factory=InputSearch)
    exact: ExactRuns = field(default_factory=ExactRuns)
    refuting: Refuting = field(default_factory=Refuting)
    distance: Function | None = None
    tokens: bool = False
    norms: Callable[..., Mapping[str, Any]] | None = None
    bounds: Function | Pair | None = None
    by_rules: bool = True
    memory: Function | None = None
    cost: Callable[[Mapping[str, float], Run | None], Cost] | None = None
    entries: Mapping[str, sp.Expr] = field(default_factory=dict)  # of a quantity's arrays, where its derivation says
    tables: tuple[Function, ...] = ()  # each gives a NamedTable, or None
    settings: Mapping[str, int] = field(default_factory=dict)
    sources: tuple[InputSource, ...] = ()
    figure: Callable[[Comparison], Any] | None = None
    sha256: str | None = None  # of the file that it was read from

    def __post_init__(self) -> None:
        """Raises UsageError for a function, domain or letter that names what the theorem does not have."""
        from bridge.well_formed import require_well_formed

        require_well_formed(self)

    @property
    def id(self) -> str:
        return self.statement.id

    @property
    def stated(self) -> Sequence[Quantity]:
        """The quantities of every point; none where each point has its own."""
        return self.statement.quantities if self.at_point.quantities is None else ()

    def with_at_point(self, **changes: Any) -> "Theorem":
        """The same with other fields of `at_point`."""
        return replace(self, at_point=replace(self.at_point, **changes))

    def functions(self) -> Iterable[tuple[str, Function]]:
        """Every function of the theorem, with its role in words."""
        yield from self._run()
        yield from ((f"what builds {name}", each) for name, each in self.built.items())
        yield from ((f"what reads {name}", each) for name, each in self.readers.items())
        yield from ((f"the letter {letter}", each) for letter, functions in self.knows.items() for each in functions)
        yield from ((f"the weight {name}", each) for name, each in self.weights.items() if not isinstance(each, Domain))
        point, search, bits = self.at_point, self.search, self.exact.bits
        others = {
            "the distance": self.distance,
            "the memory": self.memory,
            "the starts": search.starts,
            "the samples": search.samples,
            "the handles": self.handles,
            "the norms": self.norms,
            "the envelope": search.envelope,
            "the quantities": point.quantities,
            "the refusal": point.refusal,
            "the letters": point.letters,
            "the exact bits": bits if callable(bits) else None,
            "the hypotheses of bounds": point.outside,
            "the printed letters": point.printed_letters,
            "the idle parameters": point.idle,
            "the inequalities": self.inequalities if callable(self.inequalities) else None,
        }
        yield from ((role, each) for role, each in others.items() if each is not None)
        if self.bounds is not None:
            yield from _written("the bounds", self.bounds)
        yield from (("a table", table) for table in self.tables)

    def _run(self) -> Iterable[tuple[str, Function]]:
        """Those of networks and reference, and of their rounding."""
        for network in self.networks.values():
            yield from network.functions() if isinstance(network, Transformer) else _written("the network", network)
        if self.reference is not None:
            yield from _written("the reference", self.reference)
        yield from ((f"the rounding of {name}", each) for name, each in self.rounding.items())

    @property
    def recorded(self) -> tuple[str, ...]:
        """The weights that a witness stores: those drawn by the seed that no parameter specifies."""
        named = {p.name for p in self.statement.parameters}
        return tuple(
            name
            for name, each in self.weights.items()
            if (isinstance(each, Domain) or ("seed" in arguments_of(each) and name not in named))
            and name not in self.drawn_each_time
        )

    @property
    def over_draws(self) -> tuple[Quantity, ...]:
        """The quantities that are judged by many draws of their randomness."""
        return over_draws(self.stated, self.checks)

    @property
    def all_over_draws(self) -> bool:
        """Whether there are such quantities, and no others but those of checks."""
        others = {each.name for each in self.stated} - _checked(self.checks)
        return 0 < len(self.over_draws) == len(others)

    def random_names(self, quantity: Quantity) -> tuple[str, ...]:
        """The weights and inputs that are the randomness of the quantity."""
        return tuple(dict.fromkeys(name for over in quantity.over for name in self.random.get(over, (over,))))

    @cached_property
    def drawn_each_time(self) -> frozenset[str]:
        """The weights of which nothing needs one particular draw."""
        if not self.all_over_draws:
            return frozenset()
        random = set.intersection(*(set(self.random_names(each)) for each in self.over_draws))
        run = [function for _, function in self._run()]
        others = [*(each for _, each in self.functions() if each not in run), *(each.sides for each in self.checks)]
        return frozenset(random & set(self.weights) - {name for each in others for name in arguments_of(each)})

    @property
    def networks(self) -> dict[str, Network]:
        """Each network by the quantity whose error it makes; the key "" stands for all others."""
        if self.network is None:
            return {}
        return dict(self.network) if isinstance(self.network, Mapping) else {"": self.network}

    def scope_of(self, function: Function) -> str:
        """`prompt` for a function of the inputs, else `network`."""
        return "prompt" if set(arguments_of(function)) & set(self.inputs) else "network"

    def latex(self, *, standalone: bool = False, **excerpt: Any) -> str:
        """The statement for amsmath; `standalone`: a document that compiles.

        `excerpt` says what is shown: `quantities`, `tier`, `macros`, `part`, `expanded` (bridge/export/statements.py).
        """
        from bridge.export.statements import Excerpt, statements_latex

        return statements_latex([self.statement], Excerpt(**excerpt), standalone=standalone)

    def _repr_latex_(self) -> str:
        return self.statement._repr_latex_()


def over_draws(quantities: Sequence[Quantity], checks: Sequence[Check]) -> tuple[Quantity, ...]:
    """Those that hold with probability, or in expectation, but for those of checks."""
    checked = _checked(checks)
    return tuple(each for each in quantities if each.quantifier in OVER_DRAWS and each.name not in checked)


def _checked(checks: Sequence[Check]) -> set[str]:
    """The quantities that have checks."""
    return {check.quantity.name for check in checks}


def _written(role: str, function: Function | Pair) -> list[tuple[str, Function]]:
    """Each implementation of the function."""
    return [(role, each) for each in ((function.tensors, function.balls) if isinstance(function, Pair) else [function])]
