"""What a theorem is made of, and what follows from that alone: its functions, its networks, what a witness stores."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import sympy as sp

from bridge.domains import Domain
from bridge.limits.arguments import arguments_of
from bridge.limits.cost import Work
from bridge.theorems.check import Check
from bridge.theorems.pair import Pair
from bridge.theorems.parts import AtPoint, ExactRuns, Function, InputSearch, Knobs, Refuting
from bridge.theorems.record import Record
from bridge.theorems.sources.source import InputSource
from bridge.theorems.transformer import Transformer
from symbolic.derivations.inequalities import Inequality
from symbolic.statements.result import Quantifier, Quantity, Result

Network = Function | Transformer | Pair
OVER_DRAWS = (Quantifier.PROBABILITY, Quantifier.EXPECTATION)
NORMS = {"inf": "sup norm", "1": "1-norm", "2": "2-norm"}


@dataclass(frozen=True)
class TheoremData:
    """The fields of `Theorem`, which says what each of them is."""

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
    work: Callable[..., Work] | None = None
    entries: Mapping[str, sp.Expr] = field(default_factory=dict)  # of a quantity's arrays, where its derivation says
    tables: tuple[Function, ...] = ()  # each gives a NamedTable, or None
    settings: Mapping[str, int] = field(default_factory=dict)
    sources: tuple[InputSource, ...] = ()
    figure: Callable[[Record], Any] | None = None
    sha256: str | None = None  # of the file that it was read from

    @property
    def id(self) -> str:
        return self.statement.id

    @cached_property
    def stated(self) -> Sequence[Quantity]:
        """The quantities of every point; none where each point has its own."""
        return self.statement.quantities if self.at_point.quantities is None else ()

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
            "the work": self.work,
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

    @cached_property
    def recorded(self) -> tuple[str, ...]:
        """The weights that a witness stores: those drawn by the seed that no parameter specifies."""
        named = {p.name for p in self.statement.parameters}
        return tuple(
            name
            for name, each in self.weights.items()
            if (isinstance(each, Domain) or ("seed" in arguments_of(each) and name not in named))
            and name not in self.drawn_each_time
        )

    @cached_property
    def over_draws(self) -> tuple[Quantity, ...]:
        """The quantities that are judged by many draws of their randomness."""
        return over_draws(self.stated, self.checks)

    @cached_property
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

    @cached_property
    def networks(self) -> dict[str, Network]:
        """Each network by the quantity whose error it makes; the key "" stands for all others."""
        if self.network is None:
            return {}
        return dict(self.network) if isinstance(self.network, Mapping) else {"": self.network}

    def scope_of(self, function: Function) -> str:
        """`prompt` for a function of the inputs, else `network`."""
        return "prompt" if set(arguments_of(function)) & set(self.inputs) else "network"


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
