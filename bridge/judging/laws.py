"""Asymptotic laws: a formula of ours beside a printed Landau symbol and runs, along paths of the parameters.

At the end of a path runs confirm the formula or not; the limit of the formula over the printed expression then decides
the order.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from bridge.lowering.formula import evaluate
from bridge.theorems.check import Check, Sides
from bridge.theorems.numbers import plain
from symbolic.derivations.exact_numbers import as_formula, require_symbols
from symbolic.statements.paths import ParameterPath, Point
from symbolic.statements.result import Order, Quantity
from symbolic.words.errors import UsageError
from symbolic.words.shown import brief

Words = Callable[[Point], str]
Numbers = Mapping[sp.Symbol, float]


def nothing(_: Point) -> str:
    return ""


def no_numbers(_: Point) -> Numbers:
    return {}


@dataclass(frozen=True)
class AsymptoticLaw:
    """How a quantity is measured at a point, its asymptotic formula there, and the paths along which both are tested.

    A point is a mapping of the parameters by name, and of further letters of a path. The quantity is printed inside a
    Landau symbol. `measure` gives None where a run does not reach what is asked for, and `unreached` names the
    hypothesis that fails then at a point. `formula` gives an expression in letters with the names of parameters, in
    `letters`, each with a formula in the parameters (exact, or asymptotically equal along every path), and in those
    that only a computation gives, `numbers`: at a point these come first, in a limit the formulas.

    `inapplicable` says why the formula does not apply at a point, `excuse` why the end of a path is not in the regime
    of the statement. A law with `everywhere` has a row at the parameters of the run too, which decides nothing.
    `choice` tells laws of one quantity apart.

    Raises UsageError for a quantity that is not printed inside a Landau symbol, for paths that are not a tuple of
    them, for letters that are not formulas by symbol, and for what is not a function where one is needed.
    """

    quantity: Quantity
    measure: Callable[[Point], float | None]
    formula: Callable[[Point], sp.Expr]
    paths: tuple[ParameterPath, ...]
    letters: Mapping[sp.Symbol, sp.Expr] = field(default_factory=dict)
    numbers: Callable[[Point], Numbers] = no_numbers
    inapplicable: Words = nothing
    excuse: Words = nothing
    unreached: str = "what is measured is not reached here"
    remark: str | Words = ""
    everywhere: bool = True
    choice: str = ""

    __repr__ = brief

    def __post_init__(self) -> None:
        if not isinstance(self.quantity, Quantity):
            raise UsageError(f"AsymptoticLaw: quantity = {self.quantity!r:.80}; give a Quantity")
        if not isinstance(self.paths, tuple | list) or not all(isinstance(each, ParameterPath) for each in self.paths):
            raise UsageError(f"AsymptoticLaw: paths = {self.paths!r:.80}; give a tuple of ParameterPaths")
        for name in ("measure", "formula", "numbers", "inapplicable", "excuse"):
            if not callable(getattr(self, name)):
                raise UsageError(f"AsymptoticLaw: {name} = {getattr(self, name)!r:.80}; give a function of a point")
        require_symbols("AsymptoticLaw", "letters", self.letters)
        letters = {x: as_formula("AsymptoticLaw", f"letters[{x}]", way) for x, way in self.letters.items()}
        object.__setattr__(self, "letters", letters)
        object.__setattr__(self, "paths", tuple(self.paths))
        if self.quantity.printed is None or self.quantity.printed.order is Order.NONE:
            raise UsageError(
                f"AsymptoticLaw: '{self.quantity.name}' is not printed inside a Landau symbol; give its `printed` an "
                f"order, or state a bound"
            )

    @property
    def _order(self) -> Order:
        assert self.quantity.printed is not None  # see __post_init__
        return self.quantity.printed.order

    @property
    def _inside(self) -> sp.Expr:
        """Of the printed Landau symbol."""
        assert self.quantity.printed is not None  # see __post_init__
        return self.quantity.printed.bound

    def value(self, expression: sp.Expr, point: Point) -> float:
        """An expression in the law's letters at a point."""
        unnamed = expression.free_symbols - _named(expression, point).keys()
        numbers = self.numbers(point) if unnamed else {}  # which may take an integration
        defined = {x: formula for x, formula in self.letters.items() if x in expression.free_symbols - numbers.keys()}
        values = {x: value_at(formula, point) for x, formula in defined.items()}
        return value_at(expression, point, {**values, **numbers})

    def derived(self, point: Point) -> float:
        return self.value(self._formula(point), point)

    def _formula(self, point: Point) -> sp.Expr:
        return as_formula("AsymptoticLaw", "what `formula` gives", self.formula(point))

    def no_formula(self, point: Point) -> str:
        """Why the formula does not apply here; "" where it does."""
        return self.inapplicable(point)

    def _words(self, point: Point) -> str:
        return self.remark if isinstance(self.remark, str) else self.remark(point)

    def points(self, path: ParameterPath, point: Point) -> list[dict[str, Any]]:
        """Those of the path, with its further letters."""
        return [{**at, **self._further(path, at)} for at in path.points(point)]

    def _further(self, path: ParameterPath, at: Point) -> dict[str, float]:
        return {letter.name: self.value(formula, at) for letter, formula in path.letters(at).items()}

    def limit(self, path: ParameterPath, point: Point) -> sp.Expr:
        """That of the formula over the printed expression along the path."""
        end = path.points(point)[-1]
        ratio = (self._formula(end) / self._inside).subs(path.letters(end), simultaneous=True)
        numbers = {x: sp.Float(number) for x, number in self.numbers(end).items() if x not in self.letters}
        return path.limit(ratio.subs(self.letters, simultaneous=True), point, numbers)

    def at(self, point: Point) -> Sides:
        """The numbers at one point, which decide nothing."""
        measured, why = self.measure(point), self.no_formula(point)
        if measured is None:
            return Sides(outside=self.unreached)
        remarks = [self._words(point), why, f"the order `{self._order.value}` cannot be judged at one point"]
        return Sides(measured, derived=None if why else self.derived(point), remark="; ".join(filter(None, remarks)))

    def along(self, path: ParameterPath, point: Point) -> Sides:
        """The numbers at the end of the path, and the ratios to the printed expression all along."""
        points = self.points(path, point)
        end, printed = points[-1], [self.value(self._inside, at) for at in points]
        measured, why = [self.measure(at) for at in points], self.no_formula(end)
        derived, limit = None if why else self.derived(end), self.limit(path, point)
        ratios = (None if found is None else found / at for found, at in zip(measured, printed, strict=True))
        shown = (
            f"measured/printed {' '.join(map(plain, ratios))}, {_limit_words(limit)}; {_near(measured[-1], derived)}"
        )
        return Sides(
            measured[-1],
            derived=derived,
            limit=sp.nan if derived is None or measured[-1] is None else limit,
            outside=path.outside,
            excuse=self.excuse(end),
            at=end,
            letters=_named(self._inside, end),
            remark="; ".join(filter(None, [shown, why, "" if self.everywhere else self._words(point)])),
        )

    def checks(self, *parameters: str) -> list[Check]:
        """At the point, and along each path: a row each. `parameters` names those that a point has."""
        here = [self._check("at this point", self.at, parameters)] if self.everywhere else []
        return [*here, *(self._check(path.words, self._alongside(path), parameters) for path in self.paths)]

    def _alongside(self, path: ParameterPath) -> Callable[[Point], Sides]:
        return lambda point: self.along(path, point)

    def _check(self, where: str, sides: Callable[[Point], Sides], parameters: tuple[str, ...]) -> Check:
        def of_parameters(**point: Any) -> Sides:
            return sides(point)

        names = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in parameters]
        of_parameters.__signature__ = inspect.Signature(names)  # type: ignore[attr-defined]  # names, and no **
        return Check(self.quantity, of_parameters, construction=", ".join(filter(None, [self.choice, where])))


def value_at(expression: sp.Expr, point: Point, more: Numbers | None = None) -> float:
    """The expression at a point, each letter by its name, and at numbers for further letters, which come first."""
    return float(evaluate(expression, {**_named(expression, point), **(more or {})}))


def _named(expression: sp.Expr, point: Point) -> dict[sp.Symbol, Any]:
    """The letters of the expression that the point gives, by name."""
    return {letter: point[letter.name] for letter in expression.free_symbols if letter.name in point}


def _limit_words(limit: sp.Expr) -> str:
    goal = "unbounded" if limit == sp.oo else "none" if limit is sp.nan else plain(float(limit))
    return f"derived limit {goal}"


def _near(measured: float | None, derived: float | None) -> str:
    missing = "not reached" if measured is None else "no formula"
    near = plain(abs(measured / derived - 1)) if measured is not None and derived else missing
    return f"relative distance to derived at the last point: {near}"
