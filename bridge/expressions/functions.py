"""Functions of one coordinate, typed once in SymPy: their constants, and the approximate ones in their place."""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

import sympy as sp

from bridge.expressions.constants import KNOWN, Constants, largest_of, largest_within, parts_of, shown, t
from bridge.expressions.expression import (
    Asking,
    Candidate,
    Expression,
    InNorm,
    Running,
    as_number,
    composed,
    name_of,
    names_in,
)
from bridge.lowering import LoweringError
from bridge.lowering.enclosures import STEPS, supremum
from bridge.lowering.formula import ArrayFunction
from symbolic.calculus import apply_function
from symbolic.calculus.functions import APPROXIMANT, EXACT
from symbolic.calculus.sums import norm_of_ones
from symbolic.derivations.derivation import Norm
from symbolic.derivations.obligations import shown_at_most
from symbolic.derivations.signs import is_continuous
from symbolic.words.errors import UsageError
from symbolic.words.names import approximate_symbol
from symbolic.words.shown import cut

NEAR = ", at most its slope at 0 and the largest second derivative times what bounds both arguments"


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

    def __repr__(self) -> str:
        network = "" if self.approximate is None else f"; in the network {cut(shown(self.side(approximate=True)))}"
        return f"<{self.name}(t) = {cut(shown(self.exact))}{network}>"

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
            raise UsageError(f"{self.name}({name_of(x)}): expected an expression, got {type(x).__name__}")
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
            self.constants.largest if g == self.exact else None if g.free_symbols - {t} else largest_of(g, self.radius)
        )
        return None if known is None else abs(share) * known

    @cached_property
    def largest_difference(self) -> sp.Expr:
        """At least sup |g|. Raises UsageError where it is infinite."""
        _, g = self.difference
        found = largest_of(g, self.radius)
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

    @cached_property
    def line(self) -> tuple[sp.Expr, sp.Expr] | None:
        """|f'(0)| and sup |f''|, for a function on all numbers whose slope at 0 is not its largest one; else None."""
        slope = self.exact.diff(t)
        if self.radius is not None or self.vouched or slope.has(*STEPS, sp.Derivative, sp.Subs):  # f' may jump
            return None
        at_zero = abs(slope.subs(t, 0))
        if at_zero.free_symbols or not bool(at_zero < self.constants.lipschitz):
            return None
        curvature = largest_within(slope.diff(t))
        return None if curvature is None else (at_zero, curvature)

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
    """An exact number. Raises UsageError for what is no positive one."""
    found = as_number("radius", radius)
    if found.free_symbols or not (found > 0) == True or not found.is_finite:  # noqa: E712 - a relation of SymPy
        raise UsageError(f"function: radius={sp.sstr(found)}; give a positive number, within which arguments lie")
    return sp.Rational(float(found)) if found.is_Float else found


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
        finite = all(supremum(expr, t, min(ends), max(ends)).is_finite() for ends in parts_of(radius))
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

    # |f(x)| <= |f(0)| + L |x|, and <= sup |f|; f_hat is at most eps away. Where all arguments lie in [-R, R], f' is at
    # most |f'(0)| + R sup |f''| there, and |f(x)| <= |f(0)| + |f'(0)| |x| + sup |f''| |x|^2 / 2, by Taylor's formula;
    # the vector of the |x_i|^2 has in each norm at most the norm ||x||^2.
    def _rule(self, asking: Asking, norm: Norm) -> Callable[..., InNorm]:
        f = self.function
        eps = asking.at(f.eps)
        by_sup = {} if f.constants.largest is None else {"largest": asking.at(f.constants.largest)}
        of_approximate = {} if f.largest_approximate is None else {"its own": asking.at(f.largest_approximate)}

        def rule(name: str, x: InNorm) -> InNorm:
            ones = norm_of_ones(norm, x.value.dim)
            asking.reaches(self, x.reach)
            lipschitz, reach = self._slope(asking, norm, x)
            sizes = {**self._sizes(asking, x.value.size_symbol, ones, near=reach is not None), **_times(by_sup, ones)}
            chosen = asking.least(self, f"size in {norm}", {key: x.value.closed(each) for key, each in sizes.items()})
            size = next(each for each in sizes.values() if x.value.closed(each) == chosen)
            known = {"eps": eps, "lipschitz": lipschitz, "size": size, "function": f.name}
            if reach is not None:
                known |= {
                    "radius": reach,
                    "approximate_size": x.approximate_size,
                    "reason": (EXACT if eps == 0 else APPROXIMANT) + NEAR,
                }
            elif f.radius is not None:
                known["radius"] = f.radius
            bound = apply_function(x.value, name, **known)
            options = {
                **_times({name: each + eps for name, each in by_sup.items()}, ones),
                **_times(of_approximate, ones),
            }
            if x.approximate_size is not None:
                own = self._sizes(asking, x.approximate_size, ones, near=reach is not None)
                options |= {key: each + eps * ones for key, each in own.items()}
            return InNorm(bound, asking.least(self, f"approximate size in {norm}", options) if options else None)

        return rule

    def _sizes(self, asking: Asking, of_argument: sp.Expr, ones: sp.Expr, *, near: bool) -> dict[str, sp.Expr]:
        """Bounds on the norm of f(x) by that of x; `near`: by the slope at 0 too."""
        f = self.function
        found = {"by slope": asking.at(f.constants.lipschitz) * of_argument + f.at_zero * ones}
        if near and f.line is not None:
            slope, curvature = map(asking.at, f.line)
            found["by curvature"] = f.at_zero * ones + slope * of_argument + curvature * of_argument**2 / 2
        return found

    def _slope(self, asking: Asking, norm: Norm, x: InNorm) -> tuple[sp.Expr, sp.Expr | None]:
        """The Lipschitz constant of f, and the range in which it is one; None for all numbers.

        The range is one whose end is known whatever the error and the layer are.
        """
        f, size = self.function, x.approximate_size
        everywhere = asking.at(f.constants.lipschitz)
        if f.line is None or size is None or any(isinstance(e, sp.Dummy) for e in (x.value.size + size).free_symbols):
            return everywhere, None
        slope, curvature = map(asking.at, f.line)
        own, approximate = x.value.size_symbol, approximate_symbol(x.value.name)
        reach = approximate if shown_at_most(x.value.size, size) == sp.true else sp.Max(own, approximate)
        near = slope + curvature * reach
        closed = x.value.closed(near).xreplace({approximate: size})
        if asking.least(self, f"slope in {norm}", {"everywhere": everywhere, "near 0": closed}) == everywhere:
            return everywhere, None
        return near, reach

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
