"""Functions of one coordinate, typed once in SymPy: their constants, and the approximate ones in their place."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import sympy as sp

from bridge.expressions.expression import Asking, Candidate, Expression, InNorm, Running, as_number, composed, names_in
from bridge.lowering import LoweringError
from bridge.lowering.enclosures import STEPS, supremum
from bridge.lowering.formula import ArrayFunction
from numeric.balls import float_above
from symbolic.calculus import apply_function
from symbolic.calculus.sums import norm_of_ones
from symbolic.derivations.derivation import Norm
from symbolic.derivations.signs import is_continuous
from symbolic.words.errors import UsageError

t = sp.Dummy("argument_of_f", real=True)  # no letter of the user's is the argument
# Where a supremum over all numbers is searched: nearly to the largest float, in parts whose ends differ less in size.
# What happens beyond is not proved: that a supremum does not grow from one part to the next speaks for it.
ENDS = (0.0, 64.0, 2.0**26, 1e150, 1e300)
PARTS = tuple((s * low, s * high) for low, high in pairwise(ENDS) for s in (1, -1))
CLOSE = 20  # bits of a certified supremum
DIGITS = 5  # decimal digits of one, rounded up
MORE = 1 + 1e-9  # a supremum that is larger by more on the last part than on the others grows without end


@dataclass(frozen=True)
class Constants:
    """sup |f'| and sup |f| over all numbers; None where the latter is infinite."""

    lipschitz: sp.Expr
    largest: sp.Expr | None = None


_ONE = sp.Integer(1)
# |tanh'| = 1 - tanh^2; sigma' = sigma (1 - sigma) <= 1/4; erf' = 2 e^(-t^2) / sqrt(pi); atan' = 1 / (1 + t^2).
KNOWN: Mapping[sp.Expr, Constants] = {
    t: Constants(_ONE),
    abs(t): Constants(_ONE),
    sp.Max(t, 0): Constants(_ONE),
    sp.tanh(t): Constants(_ONE, _ONE),
    1 / (1 + sp.exp(-t)): Constants(sp.Rational(1, 4), _ONE),
    sp.sin(t): Constants(_ONE, _ONE),
    sp.cos(t): Constants(_ONE, _ONE),
    sp.erf(t): Constants(2 / sp.sqrt(sp.pi), _ONE),
    sp.atan(t): Constants(_ONE, sp.pi / 2),
    sp.log(1 + sp.exp(t)): Constants(_ONE),
}


def _parts(radius: sp.Expr | None) -> tuple[tuple[float, float], ...]:
    """Where a supremum is searched: [-radius, radius], or the line."""
    return PARTS if radius is None else ((-float(radius), float(radius)),)


def largest_within(expr: sp.Expr, radius: sp.Expr | None = None) -> sp.Expr | None:
    """At least sup |expr| on [-radius, radius], or over all float64 numbers, certified; None without a finite bound.

    A number of a few digits, so that formulas with it are short.
    """
    try:
        found = [float_above(supremum(expr, t, min(ends), max(ends), close=CLOSE)) for ends in _parts(radius)]
    except (UsageError, LoweringError):
        return None
    grows = radius is None and max(found[-2:]) > MORE * max(found[:-2])
    return None if grows or not math.isfinite(max(found)) else decimal_above(sp.Rational(max(found)))


def decimal_above(number: sp.Rational) -> sp.Rational:
    """The least number of so many decimal digits that is at least this one, which is not negative."""
    if number == 0:
        return number
    unit = sp.Rational(10) ** (math.floor(math.log10(number)) + 1 - DIGITS)
    return sp.ceiling(number / unit) * unit


def shown(expr: sp.Expr) -> str:
    """For messages, with the letter t."""
    return sp.sstr(expr.xreplace({t: sp.Symbol("t")}))


def _largest(g: sp.Expr, radius: sp.Expr | None) -> sp.Expr | None:
    """At least sup |g| there: known, or certified."""
    known = (KNOWN.get(g) or KNOWN.get(-g)) if radius is None else None
    return largest_within(g, radius) if known is None else known.largest


class Function:
    """f, and the one in its place: f + share * g, with a share in letters, if `approximate` is given."""

    def __init__(
        self,
        exact: sp.Expr,
        name: str,
        constants: Constants,
        approximate: sp.Expr | None = None,
        error: Any = None,
        argument: sp.Symbol = t,
        vouched: tuple[str, ...] = (),
        radius: sp.Expr | None = None,
    ) -> None:
        self.radius = radius  # of the range of its arguments; None: all numbers
        self.exact, self.name, self.constants, self.approximate = exact, name, constants, approximate
        self.argument = argument  # the letter under which the user wrote it
        self.given_error = None if error is None else as_number("error", error)
        self.vouched = vouched  # what the author says of f, and nothing proves

    def approximated(self, by: Callable[[sp.Symbol], Any] | sp.Expr, *, error: Any = None) -> "Function":
        """The same with another one in its place.

        How far the two are apart follows where the difference is a number in letters times a function of t; else give
        `error`, at least sup |f_hat - f|.
        """
        found = by if isinstance(by, sp.Expr) else _formula(by)[0]
        if isinstance(by, sp.Expr) and self.argument not in by.free_symbols:
            raise UsageError(
                f"{self.name}: {sp.sstr(by)} does not have the argument {self.argument}; give a function, "
                f"lambda {self.argument}: ..."
            )
        found = found.xreplace({self.argument: t})
        vouched, radius = self.vouched, self.radius
        return Function(self.exact, self.name, self.constants, found, error, self.argument, vouched, radius)

    def __call__(self, x: Any) -> "Applied":
        if not isinstance(x, Expression):
            raise UsageError(f"{self.name}({x!r:.40}): expected an expression, got {type(x).__name__}")
        return Applied(self, x)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the author says of f and of the one in its place."""
        near = f"``{self.name}_hat`` is at most `{sp.sstr(self.given_error)}` away from ``{self.name}``"
        return self.vouched if self.given_error is None else (*self.vouched, near)

    @property
    def at_zero(self) -> sp.Expr:
        return abs(self.exact.subs(t, 0))

    @cached_property
    def difference(self) -> tuple[sp.Expr, sp.Expr]:
        """|f_hat - f| = share * |g(t)|. Raises UsageError where letters and t do not come apart."""
        assert self.approximate is not None  # asked of approximate ones
        share, g = sp.factor_terms(sp.expand(self.approximate - self.exact)).as_independent(t, as_Add=False)
        if g.free_symbols - {t}:
            raise UsageError(
                f"{self.name}: the difference {shown(self.approximate - self.exact)} is not a number times a "
                f"function of t; give approximated(..., error=), at least its largest absolute value"
            )
        return abs(share), g

    @cached_property
    def largest_approximate(self) -> sp.Expr | None:
        """At least sup |f_hat|, in letters; None where no finite bound is found."""
        whole = self.side(approximate=True)
        share, g = sp.factor_terms(whole).as_independent(t, as_Add=False)
        known = (
            self.constants.largest if g == self.exact else None if g.free_symbols - {t} else _largest(g, self.radius)
        )
        return None if known is None else abs(share) * known

    @cached_property
    def largest_difference(self) -> sp.Expr:
        """At least sup |g|. Raises UsageError where it is infinite."""
        _, g = self.difference
        found = _largest(g, self.radius)
        if found is None:
            raise UsageError(f"{self.name}: {shown(g)} has no finite bound; give approximated(..., error=)")
        return found

    @cached_property
    def letter(self) -> sp.Symbol | None:
        """It stands for the largest |g| that occurs; None without one."""
        if self.approximate is None or self.given_error is not None:
            return None
        return sp.Symbol(f"rho_{self.name}", positive=True)

    @property
    def eps(self) -> sp.Expr:
        """The bound on |f_hat - f|, in letters."""
        if self.approximate is None:
            return sp.Integer(0)
        return self.given_error if self.letter is None else self.difference[0] * self.letter

    def side(self, approximate: bool) -> sp.Expr:
        return self.exact if self.approximate is None or not approximate else self.approximate


def function(f: Any, *, name: str = "", lipschitz: Any = None, largest: Any = None, radius: Any = None) -> Function:
    """A function of one coordinate: SymPy's own (`sp.tanh`), an expression in one symbol, or a function of a symbol.

    Its Lipschitz constant and its largest absolute value, over all numbers or on [-radius, radius], are known or
    certified (a little above the least), unless `lipschitz` and `largest` give them. With a `radius`, a number, bounds
    owe that exact and approximate arguments lie within it. Raises UsageError for a function without a Lipschitz
    constant there.
    """
    within = None if radius is None else _as_radius(radius)
    expr, argument = _formula(f)
    if expr.free_symbols - {t}:
        letters = ", ".join(sorted(map(str, expr.free_symbols - {t})))
        raise UsageError(f"function: {shown(expr)} has the letters {letters} beside its argument")
    called = name or (type(expr).__name__ if isinstance(expr, sp.Function) else "f")
    known = KNOWN.get(expr)
    if known is None and lipschitz is None:
        _require_continuous(called, expr, within)
    slope = as_number("Lipschitz constant", lipschitz) if lipschitz is not None else known and known.lipschitz
    slope = largest_within(expr.diff(t), within) if slope is None else slope
    if slope is None:
        raise UsageError(f"{called}: no Lipschitz constant of {shown(expr)} is found {_where(within)} or lipschitz=")
    most = as_number("largest value", largest) if largest is not None else None
    if most is None:
        most = known.largest if known is not None and within is None else largest_within(expr, within)
    given = {"has a Lipschitz constant of at most": lipschitz, "has an absolute value of at most": largest}
    vouched = tuple(f"``{called}`` {words} `{sp.sstr(each)}`" for words, each in given.items() if each is not None)
    return Function(expr, called, Constants(slope, most), argument=argument, vouched=vouched, radius=within)


def _as_radius(radius: Any) -> sp.Expr:
    """The float where suprema are searched, as an exact number. Raises UsageError for what is no positive one."""
    found = as_number("radius", radius)
    if found.free_symbols or not (found > 0) == True or not found.is_finite:  # noqa: E712 - a relation of SymPy
        raise UsageError(f"function: radius={sp.sstr(found)}; give a positive number, within which arguments lie")
    return sp.Rational(float(found))


def _where(radius: sp.Expr | None) -> str:
    return (
        "over all numbers; give radius=, within which arguments lie,"
        if radius is None
        else (f"on [-{sp.sstr(radius)}, {sp.sstr(radius)}]; give a smaller radius=")
    )


def _require_continuous(name: str, expr: sp.Expr, radius: sp.Expr | None) -> None:
    """Raises UsageError for a function that may jump: its derivative does not show that."""
    jumps = expr.has(*STEPS) and not is_continuous(expr, t)
    try:
        finite = all(supremum(expr, t, min(ends), max(ends)).is_finite() for ends in _parts(radius))
    except (UsageError, LoweringError):
        finite = False
    if jumps or not finite:
        raise UsageError(
            f"{name}: {shown(expr)} may jump, has poles or exceeds all floats {_where(radius)} or lipschitz="
        )


def _formula(f: Any) -> tuple[sp.Expr, sp.Symbol]:
    """The expression in t, and the letter of its argument in what was given."""
    found = f if isinstance(f, sp.Expr) else f(t) if callable(f) else f
    if not isinstance(found, sp.Expr):
        raise UsageError(f"expected a function in SymPy, such as sp.tanh, got {type(found).__name__}")
    if isinstance(f, sp.Expr) and len(found.free_symbols) == 1:
        (argument,) = found.free_symbols
        return found.xreplace({argument: t}), argument
    return found, t


class Applied(Expression):
    """f(x), coordinate by coordinate."""

    def __init__(self, function: Function, x: Expression) -> None:
        self.function, self.parts, self.dim, self.count = function, (x,), x.dim, x.count
        self.label = composed(f"{function.name}({x.label})", function.name)

    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        for norm in Norm:
            yield Candidate(norm, str(norm), ((self.parts[0], norm),), self._rule(asking, norm))

    # |f(x)| <= |f(0)| + L |x|, and <= sup |f|; f_hat is at most eps away.
    def _rule(self, asking: Asking, norm: Norm) -> Callable[..., InNorm]:
        f = self.function
        slope, eps = asking.at(f.constants.lipschitz), asking.at(f.eps)
        by_sup = {} if f.constants.largest is None else {"largest": asking.at(f.constants.largest)}
        of_approximate = {} if f.largest_approximate is None else {"its own": asking.at(f.largest_approximate)}

        def rule(name: str, x: InNorm) -> InNorm:
            ones = norm_of_ones(norm, x.value.dim)
            asking.reaches(self, x.reach)
            by_slope = slope * x.value.size_symbol + f.at_zero * ones
            sizes = {"by slope": x.value.closed(by_slope), **_times(by_sup, ones)}
            size = asking.least(self, f"size in {norm}", sizes)
            size = by_slope if size == sizes["by slope"] else size
            known = {"eps": eps, "lipschitz": slope, "size": size, "function": f.name}
            bound = apply_function(x.value, name, **known, **({} if f.radius is None else {"radius": f.radius}))
            options = {
                **_times({name: each + eps for name, each in by_sup.items()}, ones),
                **_times(of_approximate, ones),
            }
            if x.approximate_size is not None:
                options["by slope"] = slope * x.approximate_size + (f.at_zero + eps) * ones
            return InNorm(bound, asking.least(self, f"approximate size in {norm}", options) if options else None)

        return rule

    @property
    def formulas(self) -> tuple[sp.Expr, ...]:
        f = self.function
        known = (f.constants.lipschitz, f.constants.largest, f.given_error, f.approximate)
        return tuple(each for each in known if each is not None)

    @property
    def takes(self) -> tuple[str, ...]:
        return tuple(name for name in names_in(self.function.side(approximate=True)) if name != t.name)

    def run(self, running: Running) -> Any:
        x, expr = running.value(self.parts[0]), self.function.side(running.approximate)
        running.saw(self.function, x)
        letters = sorted(expr.free_symbols - {t}, key=str)
        return ArrayFunction(expr, t, *letters)(x, *running.letters(letters, x))


def _times(sizes: Mapping[str, sp.Expr], ones: sp.Expr) -> dict[str, sp.Expr]:
    return {name: each * ones for name, each in sizes.items()}
