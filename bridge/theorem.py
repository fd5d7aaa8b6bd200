"""A theorem as a value: what `compare`, `solve`, `certify`, `show` and the exports take, beside the id of a result.

`Theorem` is what the engine reads. `theorem` builds one from the conclusions of a derivation and from functions, and
reads everything off them that they already say.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import sympy as sp
from sympy.logic.boolalg import Boolean

from bridge.arguments import arguments_of
from bridge.budget import Budget
from bridge.check import Check
from bridge.cost import Cost
from bridge.domains import Domain
from bridge.pair import Pair
from bridge.record import Comparison
from bridge.refusals import briefly_refused
from bridge.refutation import Refutation
from bridge.sources.source import InputSource
from bridge.study import Refusal
from bridge.texts import Text
from bridge.transformer import Transformer
from numeric.exact_cost import DEFAULT_LIMIT
from symbolic.citations import Citation
from symbolic.derivation import Approximated
from symbolic.events import randomness
from symbolic.inequalities import Inequality
from symbolic.statements import Hypothesis, Kind, Parameter, Printed, Quantifier, Quantity, Result, UsageError

Function = Callable[..., Any]  # of some parameters, weights and inputs by name; written in torch, for one prompt
Network = Function | Transformer | Pair
# What SymPy does not print so by itself.
GREEK = {"eps": r"\varepsilon", "lam": r"\lambda", "sigma_init": r"\sigma_{\mathrm{init}}"}
CONTRADICTION = "it contradicts the assumptions of its symbols; or it was written with ==, where sp.Eq is meant"
OVER_DRAWS = (Quantifier.PROBABILITY, Quantifier.EXPECTATION)
SIGNS = {"negative": sp.Lt, "nonpositive": sp.Le}
UNCHECKED = ("even", "odd", "prime", "composite", "zero", "irrational")  # assumptions of a symbol
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
    of ReLUs, a SymPy formula. Functions take it by name as they take a weight.

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
    input needs none. Each of the `samples` draws them anew (bridge/draws.py); a function that draws a weight
    takes `seed`, and another number for each weight. The other inputs are attacked after the draw: the row speaks of
    all of them at once, so that a bound for each fixed input alone needs a cover (bs.cover) before it is stated here.
    Where what is drawn was computed in floats, which no run in another format measures, `rounding` gives, by quantity,
    how far its error may be from that of real arithmetic, from parameters and weights; an excess within is undecided.

    What few theorems need: `distance` takes `found` and `truth`, the arrays of network and reference at one prompt, and
    gives the error where it is in none of the three norms of a step. `exact_bits`, a number or a function of
    parameters, are bits beyond those that telling the bounds from 0 takes, for what nearly cancels; `exact_limit` is
    the most ball operations of an exact run. `memory` gives, from parameters, the bytes that one prompt takes: prompts
    run in parts that fit. `starts` takes `count` and a torch `generator` beside parameters and weights, and gives the
    inputs, (count, ...) each, where the attack starts; without it they come from the domains. `resolve` takes given
    parameters and the seed (and `dtype`, by name) and completes them by those that they imply, which `implied` names.
    `cost` estimates a point from its sizes, and `searched` limits the range in which a parameter is solved for.
    `tables`, functions of parameters and weights, stand under the rows (None: there is none here); of inputs they take
    those of one prompt, the table's or the first that is drawn. `sources` says how real inputs become prompts: a
    `Tabular` or a `Series` of a table, a `Textual` of a text (bridge/sources/). `settings` are those of a run where
    none are given: fewer `samples`, where each takes long. `figure` takes a comparison and gives the theorem's own
    matplotlib figure for `--plot`; None: bounds against a parameter.

    What depends on the point: `quantities` gives, from parameters, the quantities there (one a layer, say), in the
    place of those of the statement; `alone` takes the name of a `quantity` too and gives that one, where to derive all
    takes long. `refusal` gives the `Refusal` of a point at which nothing can be run, or None;
    what is built is None there where it cannot be. It may take `dtype`, the name of the format that the network runs
    in; `tables` may take all settings of the run. `outside` takes `quantity` and `tier` and gives the hypothesis that
    the bound does not meet, in words, or "". `letters` gives those that neither parameters nor `knows` give, as far as
    they are known; `printed_letters` takes the name of a `quantity` and gives those that mean something else in its
    printed bound than in the derived one. `idle` names the parameters and settings that nothing depends on there,
    `automatic` those of which 0 means: computed from the others, `fixed` those that are never solved for.

    `inequalities` on boxes are what `certify` proves: a tuple, or a function of parameters that gives them.

    What searches: `samples`, as `starts`, gives the random inputs. `envelope`, a function as the network is, stands in
    for it in the first half of an attack: a smooth one, where the error itself has kinks. Where `leading` names
    quantities, these alone are searched for, and the others are shown where the first of them errs most. `refutations`
    are inputs at which a printed bound fails, with parameters of their own; `refuted` names the quantities whose
    errata a comparison shows, in this order; by default all that have one. `errata` gives, of a quantity, what is wrong
    with its printed bound, a sentence each, in the place of its own erratum and remark.

    What bounds: `norms` binds the handles for every prompt, to norms and ranges (bridge/readings/network.py), and so
    gives bounds of the network. `bounds` takes a `scope` of prompts and gives bounds by quantity that are proved in the
    theorem's own way, on tensors and on balls (there a text instead where a hypothesis is not verified). With `tokens`,
    the last axis of an array of several axes holds the coordinates, and the error is that of the largest token.
    `by_rules`: a bound at a prompt is the least of what the reading knows and of what the rules say; False where the
    latter would not be the least.
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
    distance: Function | None = None
    exact_bits: int | Function = 0
    exact_limit: int = DEFAULT_LIMIT
    memory: Function | None = None
    starts: Function | None = None
    resolve: Callable[..., Mapping[str, Any]] | None = None
    cost: Callable[[Mapping[str, float], Budget | None], Cost] | None = None
    searched: Mapping[str, tuple[int | float | None, int | float | None]] = field(default_factory=dict)
    implied: tuple[str, ...] = ()
    entries: Mapping[str, sp.Expr] = field(default_factory=dict)  # of a quantity's arrays, where its derivation says
    tables: tuple[Function, ...] = ()  # each gives a NamedTable, or None
    settings: Mapping[str, int] = field(default_factory=dict)
    quantities: Callable[..., Sequence[Quantity]] | None = None
    alone: Callable[..., Sequence[Quantity]] | None = None
    refusal: Callable[..., Refusal | None] | None = None
    outside: Callable[..., str] | None = None
    letters: Callable[..., Mapping[sp.Symbol, Any]] | None = None
    printed_letters: Callable[..., Mapping[sp.Symbol, Any]] | None = None
    idle: Callable[..., Sequence[str]] | None = None
    automatic: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    samples: Function | None = None
    envelope: Function | None = None
    leading: tuple[str, ...] = ()
    refutations: tuple[Refutation, ...] = ()
    refuted: tuple[str, ...] | None = None
    errata: Callable[[Quantity], Sequence[str]] | None = None
    norms: Callable[..., Mapping[str, Any]] | None = None
    bounds: Function | Pair | None = None
    tokens: bool = False
    by_rules: bool = True
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
        return self.statement.quantities if self.quantities is None else ()

    def functions(self) -> Iterable[tuple[str, Function]]:
        """Every function of the theorem, with its role in words."""
        yield from self._run()
        yield from ((f"what builds {name}", each) for name, each in self.built.items())
        yield from ((f"what reads {name}", each) for name, each in self.readers.items())
        yield from ((f"the letter {letter}", each) for letter, functions in self.knows.items() for each in functions)
        yield from ((f"the weight {name}", each) for name, each in self.weights.items() if not isinstance(each, Domain))
        others = {"the distance": self.distance, "the memory": self.memory, "the starts": self.starts}
        others |= {"the samples": self.samples, "the handles": self.handles, "the norms": self.norms}
        others |= {"the envelope": self.envelope, "the quantities": self.quantities, "the refusal": self.refusal}
        others |= {
            "the letters": self.letters,
            "the exact bits": self.exact_bits if callable(self.exact_bits) else None,
        }
        others |= {"the hypotheses of bounds": self.outside, "the printed letters": self.printed_letters}
        others["the idle parameters"] = self.idle
        others["the inequalities"] = self.inequalities if callable(self.inequalities) else None
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

    def latex(self) -> str:
        return self.statement.latex()

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


@briefly_refused
def theorem(
    id: str,
    *bounds: Approximated | Quantity,
    parameters: Mapping[sp.Symbol, Any],
    inputs: Mapping[str, Domain] | None = None,
    network: Network | Mapping[str, Network] | None = None,
    reference: Function | Pair | None = None,
    weights: Mapping[str, Domain | Function] | None = None,
    built: Mapping[str, Function] | None = None,
    texts: Sequence[Text] = (),
    hypotheses: Sequence[Any] = (),
    worst: Mapping[sp.Symbol, Any] | None = None,
    knows: Mapping[sp.Symbol, Function | tuple[Function, ...]] | None = None,
    handles: Function | None = None,
    random: Mapping[str, str | Sequence[str]] | None = None,
    printed: Mapping[str, Any] | None = None,
    trivial: Mapping[str, Any] | None = None,
    meanings: Mapping[sp.Symbol, str] | None = None,
    checks: Sequence[Check] = (),
    inequalities: Sequence[Inequality] | Function = (),
    sources: Sequence[InputSource] = (),
    title: str = "",
    claim: str = "",
    cites: str | Citation = "",
) -> Theorem:
    """The theorem that each of `bounds`, a conclusion of the error calculus, bounds the error of the network.

    A quantity takes name, norm and derivation from its conclusion; the last one is the main one. `parameters` maps
    each symbol to its default (a tuple spans a grid); its sign and whether it is whole are read off the symbol, and
    `hypotheses` are further SymPy relations (one that the symbols imply, n > 0, adds nothing). `texts` are further
    parameters that are text, each with the function that reads it. `printed` gives the
    draft's own formula for a quantity, by name. `worst` replaces letters of derivation and formula by what the
    hypotheses allow. `meanings` says in words what parameters and letters of the bounds are. A bound is vacuous from a
    trivial bound on: that of `trivial`, by quantity, else the size of the conclusion, which bounds the error of the
    network that gives 0. The other arguments are those of `Theorem`.

    Raises UsageError for a letter that nothing binds, and for a function that asks for an unknown name.
    """
    _require_conclusions(id, bounds, parameters)
    letters = {letter: _functions(given) for letter, given in (knows or {}).items()}
    inputs, weights = dict(inputs or {}), dict(weights or {})
    known = {letter: letter for letter in letters if letter in parameters}
    known |= {letter: sp.sympify(value) for letter, value in (worst or {}).items()}
    at_prompt = {letter for letter, given in letters.items() if any(set(arguments_of(f)) & set(inputs) for f in given)}
    citation = cites if isinstance(cites, Citation) else Citation(None, cites)
    bounded = (each.error.free_symbols for each in bounds if isinstance(each, Approximated))
    symbols = {*parameters, *letters, *set().union(*bounded)}
    notation = {symbol: GREEK[symbol.name] for symbol in sorted(symbols, key=str) if symbol.name in GREEK}
    drawn = {name: each for name, each in {**weights, **inputs}.items() if isinstance(each, Domain)}
    where = {
        "domain": "; ".join(each.words(name) for name, each in drawn.items()),
        "domain_latex": ", ".join(f"${each.latex(name, notation)}$" for name, each in drawn.items()),
    }
    quantities = [each if isinstance(each, Quantity) else _quantity(each, known, at_prompt, where) for each in bounds]
    for argument, given in (("printed", printed), ("trivial", trivial)):
        _require_quantities(id, argument, given or {}, quantities)
    if not quantities and not checks:
        raise UsageError(f"{id}: nothing is stated; give the conclusion of a derivation, or a check")
    of_network = {s for s, given in letters.items() if any(not set(arguments_of(f)) & set(inputs) for f in given)}
    stated = [_printed(each, (printed or {}).get(each.name), citation, known) for each in quantities]
    stated = [_trivial(each, (trivial or {}).get(each.name), known, {*parameters, *of_network}) for each in stated]
    meanings = _meanings(id, meanings, parameters, [*stated, *(each.quantity for each in checks)]) if meanings else {}
    statement = Result(
        id=id,
        title=title or id,
        citation=citation,
        claim=claim,
        parameters=(
            *(_parameter(symbol, default, meanings.get(symbol)) for symbol, default in parameters.items()),
            *(each.parameter for each in texts),
        ),
        hypotheses=(*_signs(parameters), *(_hypothesis(each, parameters) for each in hypotheses if each != sp.true)),
        quantities=(*stated, *{check.quantity.name: check.quantity for check in checks}.values()),
        notation=notation,
        symbols={letter: meaning for letter, meaning in meanings.items() if letter not in parameters},
    )
    return Theorem(
        statement,
        main=(stated[-1] if stated else checks[0].quantity).name,
        inputs=inputs,
        weights=weights,
        network=network,
        reference=reference,
        built=dict(built or {}),
        readers={each.name: each.read for each in texts},
        knows=letters,
        handles=handles,
        random={over: (names,) if isinstance(names, str) else tuple(names) for over, names in (random or {}).items()},
        checks=tuple(checks),
        inequalities=inequalities if callable(inequalities) else tuple(inequalities),
        sources=tuple(sources),
        entries={each.name: each.dim for each in bounds if isinstance(each, Approximated)},
    )


def _require_conclusions(id: str, bounds: Sequence[Any], parameters: Mapping[Any, Any]) -> None:
    """Raises UsageError for arguments of another sort."""
    others = [f"{each}" for each in bounds if not isinstance(each, Approximated | Quantity)]
    if others:
        raise UsageError(
            f"{id}: {others[0]:.80} is no conclusion of a derivation; derive one by the rules, from bs.given(...) on"
        )
    others = [f"{each!r}" for each in parameters if not isinstance(each, sp.Symbol)]
    if others:
        raise UsageError(f"{id}: the parameter {others[0]:.80} is no symbol; give {{sp.Symbol('n'): 8}}, not names")


def _require_quantities(id: str, argument: str, given: Mapping[str, Any], quantities: Sequence[Quantity]) -> None:
    unknown = [name for name in given if name not in {each.name for each in quantities}]
    if unknown:
        names = ", ".join(each.name for each in quantities)
        raise UsageError(f"{id}: `{argument}` names {', '.join(unknown)}, which is no quantity; it has: {names}")


def _functions(given: Function | tuple[Function, ...]) -> tuple[Function, ...]:
    return given if isinstance(given, tuple) else (given,)


def _quantity(
    conclusion: Approximated, worst: Mapping[sp.Symbol, Any], at_prompt: set[sp.Symbol], where: Mapping[str, str]
) -> Quantity:
    step = conclusion.derivation.step(conclusion.name)
    word = rf"\mathrm{{{conclusion.name}}}".replace("_", r"\_")
    return Quantity(
        name=conclusion.name,
        latex_symbol=rf"\|\widehat{{{word}}} - {word}\|_{{{step.norm.latex}}}",
        meaning=f"error of {conclusion.name}",
        norm=NORMS[step.norm],
        domain=where["domain"],
        kind=Kind.EXACT if conclusion.error == 0 else Kind.UPPER,
        quantifier=_quantifier(conclusion),
        randomness=randomness(conclusion.events) or "; ".join(conclusion.mean_over),
        derivation=conclusion.derivation,
        worst_case=dict(worst),
        scopes=("network", "prompt") if conclusion.error.free_symbols & at_prompt else ("network",),
        trivial=None if conclusion.error == 0 else conclusion.size,
        domain_latex=where["domain_latex"],
    )


def _quantifier(conclusion: Approximated) -> Quantifier:
    if conclusion.events:
        return Quantifier.PROBABILITY
    return Quantifier.EXPECTATION if conclusion.mean_over else Quantifier.FOR_ALL


def _printed(quantity: Quantity, formula: Any, citation: Citation, worst: Mapping[sp.Symbol, sp.Expr]) -> Quantity:
    if formula is None:
        return quantity
    printed = formula if isinstance(formula, Printed) else Printed(sp.sympify(formula), citation)
    return replace(quantity, printed=replace(printed, bound=printed.bound.xreplace(dict(worst))))


# The size bounds the exact value and so the error of the network that gives 0: a bound from there on says nothing.
# The error 0 of an identity is never vacuous, and a size with a letter that only a prompt binds is no number here.
def _trivial(quantity: Quantity, given: Any, worst: Mapping[sp.Symbol, sp.Expr], bound: set[sp.Symbol]) -> Quantity:
    trivial = quantity.trivial if given is None else sp.sympify(given)
    trivial = None if trivial is None else trivial.xreplace(dict(worst))
    unknown = given is None and trivial is not None and bool(trivial.free_symbols - bound)
    return replace(quantity, trivial=None if unknown else trivial)


def _meanings(
    id: str, meanings: Mapping[sp.Symbol, str], parameters: Mapping[sp.Symbol, Any], stated: Sequence[Quantity]
) -> Mapping[sp.Symbol, str]:
    """Raises UsageError for the meaning of what is no letter of the theorem."""
    letters = {letter for each in stated for letter in each.letters}
    unknown = [str(each) for each in meanings if each not in letters and each not in parameters]
    if unknown:
        known = ", ".join(sorted(map(str, letters | set(parameters))))
        raise UsageError(f"{id}: `meanings` names {', '.join(unknown)}, which is no letter of it; it has: {known}")
    return meanings


def _parameter(symbol: sp.Symbol, default: Any, meaning: str | None) -> Parameter:
    values = tuple(default) if isinstance(default, list | range) else default
    meaning = meaning or f"the parameter {symbol.name}"
    return Parameter(symbol.name, symbol, meaning, values, integer=bool(symbol.is_integer))


def _signs(parameters: Mapping[sp.Symbol, Any]) -> tuple[Hypothesis, ...]:
    """What the symbols themselves assume, which the derivation may have used. Raises UsageError for what is no sign."""
    found = []
    for symbol in parameters:
        others = [each for each in UNCHECKED if getattr(symbol, f"is_{each}")]
        if others:
            raise UsageError(f"the parameter {symbol} is declared {others[0]}, which is not checked; leave that out")
        for declared, relation in SIGNS.items():
            if getattr(symbol, f"is_{declared}"):
                condition = relation(symbol, 0, evaluate=False)
                found.append(Hypothesis(symbol.name, condition, f"{symbol.name} is declared {declared}"))
                break
        if symbol.is_positive:
            least = sp.Ge(symbol, 1, evaluate=False) if symbol.is_integer else sp.Gt(symbol, 0, evaluate=False)
            found.append(Hypothesis(symbol.name, least, f"{symbol.name} is declared positive"))
        elif symbol.is_nonnegative:
            found.append(Hypothesis(symbol.name, sp.Ge(symbol, 0, evaluate=False), f"{symbol.name} is declared >= 0"))
    return tuple(found)


def _hypothesis(given: Any, parameters: Mapping[sp.Symbol, Any]) -> Hypothesis:
    if isinstance(given, Hypothesis):
        return given
    if given == sp.false:
        raise UsageError(f"a hypothesis is False whatever the parameters are: {CONTRADICTION}")
    letters = sorted(getattr(given, "free_symbols", ()), key=str)
    if not isinstance(given, Boolean) or not letters or any(letter not in parameters for letter in letters):
        raise UsageError(f"the hypothesis {given} is not a relation between parameters; give one such as n >= 2")
    return Hypothesis(str(letters[0]), given, "a hypothesis of the theorem")
