"""An expression: a node of a graph that knows its shape, its parts, its programs, and the rules by which it is bounded.

Nothing is derived when a user composes: norms and names are chosen when the theorem is stated (deriving.py). What a
node computes (`run`) is a program of its own and is not read off the derivation: the row `faithful` compares the two.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from keyword import iskeyword
from typing import Any, Protocol, Self, TypeVar, runtime_checkable

import sympy as sp

from bridge.lowering.formula import ArrayFunction
from symbolic import calculus
from symbolic.derivations.derivation import Approximated, Norm, as_expr
from symbolic.statements.parameters import Hypothesis
from symbolic.words.errors import UsageError
from symbolic.words.mathml import prose_html
from symbolic.words.prose import plain
from symbolic.words.shown import cut

Made = TypeVar("Made", bound=Callable[..., Any])
LONGEST = 24  # characters of a label that is put together of those of parts
MOST = 240  # of a definition in one line


@dataclass(frozen=True)
class InNorm:
    """What is known of a node in one norm: the size and the error of `value`; how large the approximate value is.

    `approximate_size` holds whatever the error is; None: at most size + error.
    """

    value: Approximated
    approximate_size: sp.Expr | None = None

    @property
    def reach(self) -> sp.Expr:
        """At least the norm of the approximate value."""
        own = self.value.size + self.value.error
        return own if self.approximate_size is None else self.approximate_size


@dataclass(frozen=True)
class Candidate:
    """One way to bound a node in `norm`: a rule of the name of its step and of what is known of other nodes."""

    norm: Norm
    key: str  # tells the ways of one node apart
    needs: tuple[tuple["Expression", Norm], ...]
    rule: Callable[..., InNorm]


@runtime_checkable
class Asking(Protocol):
    """Who asks a node for its candidates: a derivation at numbers, by which one is chosen, or in letters."""

    affine: bool  # whether bounds have to be affine in the errors before them, as in a layer that is repeated

    def at(self, expr: Any) -> sp.Expr: ...
    def least(self, node: "Expression", what: str, options: Mapping[str, sp.Expr]) -> sp.Expr: ...
    def inside(self, layers: "LayersOf", norm: Norm, premise: InNorm) -> "Asking": ...
    def bounded(self, node: "Expression", norm: Norm) -> InNorm: ...
    def reaches(self, node: "Expression", size: sp.Expr) -> None: ...


@runtime_checkable
class LayersOf(Protocol):
    """A repetition: `depth` layers from `start`, each applied to its `argument`."""

    @property
    def argument(self) -> "Expression": ...
    @property
    def start(self) -> "Expression": ...
    @property
    def depth(self) -> sp.Expr: ...


@runtime_checkable
class Running(Protocol):
    """One run of a graph at a prompt, on tensors or balls: exact, or approximate."""

    approximate: bool
    layer: int

    def value(self, node: "Expression") -> Any: ...
    def array(self, name: str) -> Any: ...  # or a parameter
    def letters(self, symbols: Sequence[sp.Symbol], beside: Any) -> list[Any]: ...
    def count(self, expr: sp.Expr) -> int: ...
    def inside(self, layer: int, argument: "Expression", value: Any) -> "Running": ...
    def apart(self, node: "Expression", value: Any) -> "Running": ...
    def saw(self, what: object, value: Any) -> None: ...


class _NoFormulaError(UsageError, sp.SympifyError):
    """A vector where SymPy takes a formula: `expr`."""

    def __str__(self) -> str:
        return (
            f"a function of SymPy takes numbers and formulas, but came to {self.expr!r}; write bs.function(sp.tanh)(x) "
            "to apply one to each entry"
        )


class Expression(ABC):
    """A vector in R^dim, or `count` tokens of it (None: one vector), exact and approximate.

    `label` names its steps; `parts` are what it is made of, `inner` what is run inside of it.
    """

    dim: sp.Expr
    count: sp.Expr | None = None
    label: str = ""
    worst: sp.Expr | None = None  # of its letter, under the hypotheses
    sees_exact = False  # the letter is of the exact run, not of the approximate one
    suffix = ""  # of names and letters of its own, where a graph has several nodes of its kind
    is_named = False
    parts: tuple["Expression", ...] = ()
    inner: tuple["Expression", ...] = ()

    def __repr__(self) -> str:
        """What it is, and what the network computes in its place."""
        words = cut("; in the network ".join(map(plain, definition_of(self))), MOST)
        if words == self.label:
            return f"<{self.label}, {self._kind}>"
        return f"<{f'{self.label}, ' if self.is_named else ''}{self._kind}: {words}>"

    @property
    def _kind(self) -> str:
        return f"vector in {self.shape}" if self.count is None else self.shape

    def _repr_html_(self) -> str:
        exact, *near = definition_of(self)
        network = f"<br>\nin the network {prose_html(near[0])}" if near else ""
        return f"{escape(self._kind)}: {prose_html(exact)}{network}"

    def named(self, name: str) -> Self:
        """The same, under this name in derivations and tables."""
        if not isinstance(name, str) or not name:
            raise UsageError(f"an expression is named {name!r}; give it a text, such as 'output'")
        self.label, self.is_named = name, True
        return self

    def sample_mean(self, delta: Any = None, *, expectation: Any = None) -> "Expression":
        """Of tokens that are computed from `bs.draws`, each from its own: their mean, in the place of the expectation.

        The bound holds with a probability of at least 1 - `delta`; without it, it is one in expectation. `expectation`,
        a program of parameters and weights by name, gives the exact value of each coordinate. It is known for linear
        images, and for odd functions of symmetric draws.
        """
        return METHODS["sample_mean"](self, delta, expectation)

    def centred(self) -> "Expression":
        """Each token less the mean of all tokens."""
        return METHODS["centred"](self)

    def append(self, other: Any) -> "Expression":
        """The tokens of this one, then those of `other` (0: a token of zeros); a vector is one token."""
        return METHODS["append"](self, other)

    def __getitem__(self, place: Any) -> "Expression":
        """One token: the first is 0, the last -1."""
        return METHODS["token"](self, place)

    def _sympy_(self) -> Any:
        """Asked by SymPy, whose functions take formulas alone; its operators leave the operation to this class."""
        raise _NoFormulaError(self)

    __iter__ = None  # without it Python would take one token after the other, and find no last one

    @abstractmethod
    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        """Every way to bound it."""

    @abstractmethod
    def run(self, running: Running) -> Any:
        """Its value at one prompt."""

    @property
    def takes(self) -> tuple[str, ...]:
        """The parameters that its run takes, by name."""
        return names_in(*self.formulas)

    @property
    def formulas(self) -> tuple[sp.Expr, ...]:
        """Formulas of the user's that are no plain bound on a norm: a letter in them has another meaning too."""
        return ()

    @property
    def letter(self) -> sp.Symbol | None:
        """It stands for the largest number that `run` sees at a prompt."""
        return None

    @property
    def made(self) -> Mapping[str, Callable[..., Any]]:
        """Arrays that are made once, by name: functions of parameters."""
        return {}

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What its author vouches for, in sentences."""
        return ()

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """What it takes of parameters, without which there is no such network."""
        return ()

    @property
    def premise(self) -> str:
        """What it takes of a prompt, in words, where some prompts of the domain may lack it; "" for nothing."""
        return ""

    @property
    def shape(self) -> str:
        """In letters, for messages."""
        return f"R^{self.dim}" if self.count is None else f"{self.count} tokens in R^{self.dim}"

    def __add__(self, other: Any) -> "Expression":
        return Sum(((sp.Integer(1), self), (sp.Integer(1), _operand("+", self, other))))

    def __sub__(self, other: Any) -> "Expression":
        return Sum(((sp.Integer(1), self), (sp.Integer(-1), _operand("-", self, other))))

    def __radd__(self, other: Any) -> "Expression":
        return self if other == 0 else _operand("+", self, other) + self  # the 0 that `sum` begins with

    def __rsub__(self, other: Any) -> "Expression":
        return _operand("-", self, other) - self

    def __neg__(self) -> "Expression":
        return Sum(((sp.Integer(-1), self),))

    def __mul__(self, other: Any) -> "Expression":
        if isinstance(other, Expression):
            return METHODS["*"](self, other)
        return Sum(((as_number("factor", other), self),))

    __rmul__ = __mul__

    def __matmul__(self, other: Any) -> "Expression":
        return METHODS["@"](self, _operand("@", self, other))

    def __truediv__(self, other: Any) -> "Expression":
        return Sum(((1 / as_number("divisor", other), self),))


def definition_of(node: Expression) -> tuple[str, ...]:
    """What the exact value is, and what the network computes where that differs, in prose; its label if it has none."""
    found = METHODS["definition"](node, ())
    if found is None:
        return (node.label,)
    exact, near = found
    return (exact,) if near in (exact, "the same") else (exact, near)


METHODS: dict[str, Callable[..., Any]] = {}  # what methods do, of files that import this one


def method(name: str) -> Callable[[Made], Made]:
    """Names a function as what the method does; bridge/expressions/__init__.py imports the files that have some."""

    def named(function: Made) -> Made:
        METHODS[name] = function
        return function

    return named


def as_number(what: str, given: Any) -> sp.Expr:
    """A number in letters. Raises UsageError."""
    if isinstance(given, Expression) or not isinstance(given, sp.Expr | int | float):
        raise UsageError(f"expected a number or a SymPy expression as a {what}, got {type(given).__name__}")
    return as_expr(given)


def name_of(given: Any) -> str:
    """For messages: the name of a matrix or a function of ours, else what it is in Python."""
    return getattr(given, "name", None) or cut(repr(given), 40)


def require_name(name: Any) -> str:
    """Raises UsageError for what cannot name an argument of a function."""
    if not isinstance(name, str) or not name.isidentifier() or iskeyword(name):
        raise UsageError(
            f"an object is named {name!r}; give it a name of letters, digits and underscores, such as 'W_1'"
        )
    return name


def _operand(sign: str, one: Expression, other: Any) -> Expression:
    if not isinstance(other, Expression):
        raise UsageError(f"{one.label} {sign} {name_of(other)}: expected an expression, got {type(other).__name__}")
    return other


def require_shape(what: str, fits: bool, *nodes: Expression) -> None:
    """Raises UsageError that shows both shapes."""
    if not fits:
        raise UsageError(f"{what}: {', '.join(f'{each.label} is in {each.shape}' for each in nodes)}")


def same(one: sp.Expr | None, other: sp.Expr | None) -> bool:
    """Whether two dimensions, or counts, are equal."""
    if one is None or other is None:
        return one is other
    return bool(sp.simplify(one - other) == 0)


def names_in(*formulas: sp.Expr) -> tuple[str, ...]:
    """The names of their letters."""
    return tuple(sorted({letter.name for each in formulas for letter in each.free_symbols}))


def composed(label: str, otherwise: str) -> str:
    """A label put together of others; another word where that is long."""
    return label if len(label) <= LONGEST else otherwise


def scaled(factors: Sequence[sp.Expr], sizes: Sequence[sp.Expr | None]) -> sp.Expr | None:
    """The sum of absolute values of factors times sizes; None where one of these is not known."""
    known = [size for size in sizes if size is not None]
    if len(known) < len(sizes):
        return None
    return sp.Add(*(abs(factor) * size for factor, size in zip(factors, known, strict=True)))


class Sum(Expression):
    """sum_i c_i x_i; the c_i are numbers in letters."""

    def __init__(self, terms: Sequence[tuple[sp.Expr, Expression]]) -> None:
        flat: list[tuple[sp.Expr, Expression]] = []
        for factor, node in terms:
            flat += [(factor * own, each) for own, each in _terms_of(node)]
        self.terms: tuple[tuple[sp.Expr, Expression], ...] = tuple(flat)
        self.parts = tuple(node for _, node in flat)
        first = self.parts[0]
        fits = all(same(each.dim, first.dim) and same(each.count, first.count) for each in self.parts)
        require_shape("a sum of values of different shapes", fits, *self.parts)
        self.dim, self.count = first.dim, first.count
        names = [each.label if factor == 1 else f"{sp.sstr(factor)}*{each.label}" for factor, each in flat]
        several = "sum" if len(flat) > 1 else "multiple"
        self.label = composed(" + ".join(names), several) if all(each.is_Atom for each, _ in flat) else several

    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        factors = [asking.at(factor) for factor, _ in self.terms]

        def rule(name: str, *known: InNorm) -> InNorm:
            value = calculus.add(*(each.value for each in known), name=name, coefficients=tuple(factors))
            return InNorm(value, scaled(factors, [each.approximate_size for each in known]))

        for norm in Norm:
            yield Candidate(norm, "sum", tuple((part, norm) for part in self.parts), rule)

    @property
    def formulas(self) -> tuple[sp.Expr, ...]:
        return tuple(factor for factor, _ in self.terms)

    def run(self, running: Running) -> Any:
        places = [sp.Dummy(f"z_{place}") for place, _ in enumerate(self.terms)]
        total = sp.Add(*(factor * place for (factor, _), place in zip(self.terms, places, strict=True)))
        letters = sorted(total.free_symbols - set(places), key=str)
        values = [running.value(part) for part in self.parts]
        return ArrayFunction(total, *places, *letters)(*values, *running.letters(letters, values[0]))


def _terms_of(node: Expression) -> Sequence[tuple[sp.Expr, Expression]]:
    """Those of a sum without a name of its own."""
    return node.terms if isinstance(node, Sum) and not node.is_named else ((sp.Integer(1), node),)
