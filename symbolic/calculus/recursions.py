"""Rule 7: error recursions over depth or time, kept as a start and a step; the closed form is one view of them.

`LinearRecursion` is e_{l+1} = a_l e_l + b_l, `CoupledRecursion` two such errors that feed each other. Depth stays
symbolic: the closed form is a finite sum solved once, so depth 50 costs no more than depth 3. `run` takes the same
step with each layer's own coefficients, `run_at` with each layer's own numbers, which is what an instance needs.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from symbolic.calculus.geometric import (
    equal_ratios,
    geometric_sum,
    mixed_geometric_sum,
    power_of,
    powers_with,
    ratio_of,
    times_power,
)
from symbolic.calculus.numbers import Root, evaluate, root
from symbolic.derivations.derivation import Approximated, DerivationError, as_expr, rule_step
from symbolic.derivations.events import Events
from symbolic.derivations.obligations import Obligation, is_plain, nonnegative, whole
from symbolic.derivations.operations import Unread
from symbolic.derivations.provenance import Provenance
from symbolic.words.indices import fresh, names_of_letters
from symbolic.words.shown import SHOWN

MOST_LAYERS = 10**5  # of a product over layers that are not equal: SymPy multiplies it out when it prints a sum
LONGEST_OFFSET = 60  # operations, in an offset whose terms are looked at


def _summed(summand: sp.Expr, index: sp.Symbol, count: sp.Expr) -> sp.Expr:
    return sp.S.Zero if summand == 0 else sp.Sum(summand, (index, 0, count - 1))


Numbers = Mapping[sp.Symbol, Any]


# Unrolled, e_N = a^N e_0 + b (1 + a + ... + a^(N-1)). Equality holds whenever it holds in each step.
# Pooled: what each layer adds comes from parameters of its own, so that the squares add up (Cauchy-Schwarz), and it is
# the squares of the errors that obey the recursion. Equality: perturbations of the layers in proportion to their terms.
@dataclass(frozen=True)
class LinearRecursion:
    """e_{l+1} <= factor(l) e_l + offset(l), l = 0 .. depth - 1, all coefficients non-negative.

    Where it is `pooled` these are the coefficients of the squares, e_{l+1}^2 <= factor(l) e_l^2 + offset(l).

    Coefficients are numbers or expressions in the symbol `index`, the number of the layer. If neither depends on it,
    there is a closed form. `premise` is the value from which one layer was derived (its error is a symbol), `dim` the
    dimension of that layer's conclusion, `obligations` its obligations, in the same symbol, and `provenance` the word
    of its derivation (see `recursion_from`). Each layer has `events` of its own. `depth` is the number of layers, where
    it is known.
    """

    start: sp.Expr
    factor: sp.Expr
    offset: sp.Expr
    index: sp.Symbol = sp.Symbol("l", integer=True, nonnegative=True)  # noqa: RUF009 - symbols are immutable
    premise: Approximated | None = None
    dim: sp.Expr | None = None
    obligations: tuple[Obligation, ...] = ()
    provenance: Provenance = Provenance.RULES
    pooled: bool = False
    events: Events = ()
    depth: sp.Expr | None = None

    def __post_init__(self) -> None:
        """Raises DerivationError for a coefficient that is clearly negative."""
        if not is_plain(self.index, integer=True, nonnegative=True):
            raise DerivationError(
                f"LinearRecursion: declare the number of a layer, {self.index}, as any whole number from 0 on, "
                f"sp.Symbol('l', integer=True, nonnegative=True)"
            )
        nonnegative("LinearRecursion", "the recursion", start=self.start, factor=self.factor, offset=self.offset)

    def closed(self, depth: Any) -> sp.Expr:
        """e_depth with symbolic depth; for coefficients that vary with the layer, as a finite product and sum."""
        depth = as_expr(depth)
        if self.pooled:
            return sp.sqrt(self._of_squares().closed(depth))
        if depth.has(self.index) or self.start.has(self.index):  # the caller's letter, not the number of a layer
            return self.with_index(sp.Dummy(self.index.name, integer=True, nonnegative=True)).closed(depth)
        if not (self.factor.has(self.index) or self.offset.has(self.index)):
            return self.start * power_of(self.factor, depth) + self.offset * geometric_sum(self.factor, depth)
        for known in (self._with_powers_of_the_factor(depth), self._term_by_term(depth), self._with_squares(depth)):
            if known is not None:
                return known
        if not self.factor.has(self.index):
            later = power_of(self.factor, depth - 1 - self.index)
            return self.start * power_of(self.factor, depth) + sp.Sum(self.offset * later, (self.index, 0, depth - 1))
        if depth.is_Integer and depth > MOST_LAYERS:
            raise DerivationError(f"a product over {depth} layers that differ is too long; keep the depth symbolic")
        later = sp.Dummy("m", integer=True, nonnegative=True)  # no symbol of the caller's can be captured
        product = sp.Product(self.factor.subs(self.index, later), (later, self.index + 1, depth - 1))
        first = sp.Product(self.factor.subs(self.index, later), (later, 0, depth - 1))
        return self.start * first + sp.Sum(self.offset * product, (self.index, 0, depth - 1))

    # a^(N-1-l) a^l = a^(N-1), so that each such summand occurs N times: a layer whose size grows like its error.
    def _with_powers_of_the_factor(self, depth: sp.Expr) -> sp.Expr | None:
        """The closed form where the offset is b + c factor^l; None for another one."""
        if self.factor.has(self.index):
            return None
        power = sp.Dummy("p", positive=True)
        powers = {
            each: times_power(each, self.index, self.factor, power) for each in powers_with(self.offset, self.index)
        }
        offset = self.offset.xreplace(powers)
        rate, constant = sp.factor_terms(sp.diff(offset, power)), offset.subs(power, 0)
        if offset.has(self.index) or rate.has(power):
            return None
        own = self.start * power_of(self.factor, depth) + rate * equal_ratios(self.factor, depth)
        return own + constant * geometric_sum(self.factor, depth) if constant else own

    # The recursion is linear in its offset: b r^l alone gives b c_n(a, r), and a polynomial, for a = 1, its sum.
    def _term_by_term(self, depth: sp.Expr) -> sp.Expr | None:
        """The closed form where the offset is a sum of multiples of powers r^l, and for factor 1 of a polynomial."""
        if self.factor.has(self.index) or self.offset.count_ops() > LONGEST_OFFSET:
            return None
        total, polynomial = self.start * power_of(self.factor, depth), sp.S.Zero
        for term in sp.Add.make_args(sp.expand(self.offset)):
            number, rest = term.as_independent(self.index, as_Add=False)
            ratio = ratio_of(rest, self.index)
            if self.factor == 1 and rest.is_polynomial(self.index):
                polynomial += term
            elif ratio is None:
                return None
            elif self.factor == 1:
                total += number * rest.subs(self.index, 0) * geometric_sum(ratio, depth)
            else:
                total += number * rest.subs(self.index, 0) * mixed_geometric_sum(self.factor, ratio, depth)
        return total + sp.factor(sp.summation(polynomial, (self.index, 0, depth - 1)))

    # (1 - r^(2^k)) (1 + r^(2^k)) = 1 - r^(2^(k+1)), so that the factors from k to n - 1 multiply to
    # (1 - r^(2^n)) / (1 - r^(2^k)); at r = 1 each of them is 2.
    def _with_squares(self, depth: sp.Expr) -> sp.Expr | None:
        """The closed form where the factor is 1 + r^(2^l), r >= 0; None for another one."""
        power, l = self.factor - 1, self.index  # noqa: E741 - the layer
        ratio = power.base if isinstance(power, sp.Pow) and power.exp == 2**l else None
        if ratio is None or ratio.has(l) or not ratio.is_nonnegative:
            return None
        last, at_one = 1 - ratio ** (2**depth), (ratio - 1).is_zero
        later = last / (1 - ratio ** (2 ** (l + 1)))
        several = self.start * last / (1 - ratio) + _summed(self.offset * later, l, depth)
        doubled = self.start * 2**depth + _summed(self.offset * 2 ** (depth - 1 - l), l, depth)
        if at_one is None:
            return sp.Piecewise((doubled, sp.Eq(ratio, 1)), (several, True))
        return doubled if at_one else several

    # With factors of at least 1 the errors do not decrease, and they are above those with smaller factors. For constant
    # coefficients the errors are monotone by themselves: the largest is the first or the last.
    def largest(self, depth: Any) -> sp.Expr:
        """The largest of e_0, ..., e_depth, or a bound on it where the coefficients vary with the layer."""
        if self.pooled:
            return sp.sqrt(self._of_squares().largest(depth))
        if self.factor.has(self.index) or self.offset.has(self.index):
            return replace(self, factor=sp.Max(1, self.factor)).closed(depth)
        last = self.closed(depth)
        grows = self.start == 0 or (self.factor - 1).is_nonnegative
        return last if grows else sp.Max(self.start, last)

    def _of_squares(self) -> "LinearRecursion":
        return replace(self, start=self.start**2, pooled=False)

    def with_index(self, layer: sp.Symbol) -> "LinearRecursion":
        """The same recursion with another letter for the number of the layer."""
        letter = {self.index: layer}
        factor, offset = (e.subs(letter) for e in (self.factor, self.offset))
        owed = tuple(obligation.subs(letter) for obligation in self.obligations)
        premise = None if self.premise is None else restated(self.premise, letter)
        dim = None if self.dim is None else self.dim.subs(letter)
        return replace(self, factor=factor, offset=offset, index=layer, premise=premise, dim=dim, obligations=owed)

    def subs(self, values: Mapping[Any, Any]) -> "LinearRecursion":
        """The same recursion with expressions in place of symbols, all at once, in its obligations as well.

        Raises DerivationError for the number of the layer and for its error, which denote every layer.
        """
        bound = {self.index} | (set() if self.premise is None else {self.premise.error})
        if bound & set(values):
            raise DerivationError(
                f"LinearRecursion.subs: {bound & set(values)} denotes every layer and cannot be replaced; omit it"
            )
        start, factor, offset = (e.subs(values, simultaneous=True) for e in (self.start, self.factor, self.offset))
        owed = tuple(obligation.subs(values) for obligation in self.obligations)
        premise = None if self.premise is None else restated(self.premise, values)
        dim = None if self.dim is None else self.dim.subs(values, simultaneous=True)
        events = tuple(event.xreplace(values) for event in self.events)
        one = replace(self, start=start, factor=factor, offset=offset, premise=premise, dim=dim, obligations=owed)
        return replace(one, events=events)

    @property
    def letters(self) -> set[sp.Symbol]:
        """Those of its coefficients, but for the number of the layer."""
        found: set[sp.Symbol] = self.factor.free_symbols | self.offset.free_symbols
        return found - {self.index}

    def run(self, factors: Sequence[Any], offsets: Sequence[Any], start: Any) -> list[Any]:
        """e_0, e_1, ... with each layer's own coefficients (numbers of any kind: floats, balls, tensors)."""
        return _run(lambda e, ab: self._next(e, ab[0], ab[1], root), start, list(zip(factors, offsets, strict=True)))

    def run_at(
        self, layers: Sequence[Numbers | Callable[[Any], Numbers]], start: Any, *, cap: Any = None, sqrt: Root = root
    ) -> list[Any]:
        """e_0, e_1, ... with each layer's own numbers in the place of the letters of the coefficients.

        The numbers of a layer may depend on the error before it: give a function of that. `cap(e)` replaces each error
        that it bounds better. `sqrt` is the root of these numbers.
        """
        errors = [start]
        for place, layer in enumerate(layers):
            values = {self.index: place, **(layer(errors[-1]) if callable(layer) else layer)}
            factor, offset = (evaluate(each, values, sqrt=sqrt) for each in (self.factor, self.offset))
            error = self._next(errors[-1], factor, offset, sqrt)
            errors.append(error if cap is None else cap(error))
        return errors

    def _next(self, error: Any, factor: Any, offset: Any, sqrt: Root) -> Any:
        return sqrt(factor * (error * error) + offset) if self.pooled else factor * error + offset

    def latex(self, names: Mapping[sp.Symbol, str] | None = None) -> str:
        own = {each.name for each in self.letters}
        l = fresh(own | names_of_letters(names), (self.index.name, *"lkmh"))  # noqa: E741 - the layer
        layer = {self.index: sp.Symbol(l, integer=True, nonnegative=True)}
        factor, offset = (latex(each.xreplace(layer), names) for each in (self.factor, self.offset))
        start = latex(self.start, names)
        times = "" if self.factor == 1 else rf"\left({factor}\right)\," if self.factor.is_Add else rf"{factor}\,"
        square = "^2" if self.pooled else ""
        added = "" if self.offset == 0 else f" + {offset}"
        return rf"e_{{{l}+1}}{square} \le {times}e_{{{l}}}{square}{added},\qquad e_0 = {start}"

    def words(self) -> str:
        """The same in plain text."""
        layer = sp.Symbol(fresh({each.name for each in self.letters}, (self.index.name, *"lkmh")))
        factor, offset = (sp.sstr(each.xreplace({self.index: layer})) for each in (self.factor, self.offset))
        times = "" if self.factor == 1 else f"({factor})*" if self.factor.is_Add else f"{factor}*"
        square = "**2" if self.pooled else ""
        added = "" if self.offset == 0 else f" + {offset}"
        return f"e_({layer}+1){square} <= {times}e_{layer}{square}{added}, e_0 = {sp.sstr(self.start)}"


def restated(premise: Approximated, values: Mapping[Any, Any]) -> Approximated:
    """The premise with expressions in place of symbols in its size, dimension and radius, not in its derivation."""
    size, dim, radius = (
        None if e is None else e.subs(values, simultaneous=True) for e in (premise.size, premise.dim, premise.radius)
    )
    return replace(premise, size=size, dim=dim, radius=radius)


def latex(expression: sp.Expr, names: Mapping[sp.Symbol, str] | None) -> str:
    """With the notation of `names` for some symbols."""
    return SHOWN.expression(expression, names)


# With M = [[a, b], [c, d]], eigenvalues p, q and c_n = c_n(p, q) above, Cayley-Hamilton gives
#   M^n = c_n M - det(M) c_{n-1} I      (true for n = 0 and n = 1, and both sides obey x_{n+1} = tr x_n - det x_{n-1}),
# at equal eigenvalues too. Then e_N = M^N e_0 + sum over n < N of M^n h. The eigenvalues of a non-negative M are real.
@dataclass(frozen=True)
class CoupledRecursion:
    """(e, f)_{l+1} <= matrix (e, f)_l + offset: two errors that feed each other, coefficients constant and >= 0."""

    start: tuple[sp.Expr, sp.Expr]
    matrix: tuple[tuple[sp.Expr, sp.Expr], tuple[sp.Expr, sp.Expr]]
    offset: tuple[sp.Expr, sp.Expr]

    def __post_init__(self) -> None:
        """Raises DerivationError for a coefficient that is clearly negative."""
        (a, b), (c, d) = self.matrix
        numbers = zip("abcdefgh", (a, b, c, d, *self.start, *self.offset), strict=True)
        nonnegative("CoupledRecursion", "the recursion", **{name: as_expr(number) for name, number in numbers})

    def closed(self, depth: Any) -> tuple[sp.Expr, sp.Expr]:
        """(e, f) at `depth`, which may be symbolic; the offsets' part is a finite sum over the layers."""
        depth = as_expr(depth)
        n = sp.Dummy("n", integer=True, nonnegative=True)
        first = self.power(depth) * sp.Matrix(self.start)
        if not any(self.offset):
            return first[0], first[1]
        later = self.power(n) * sp.Matrix(self.offset)
        total = [first[i] + sp.Sum(later[i], (n, 0, depth - 1)) for i in range(2)]
        return total[0], total[1]

    def power(self, n: sp.Expr) -> sp.ImmutableMatrix:
        """matrix^n for symbolic n >= 0."""
        matrix = sp.ImmutableMatrix(self.matrix)
        p, q = self.eigenvalues()
        now, before = mixed_geometric_sum(p, q, n), _mixed_before(p, q, n)
        return now * matrix - before * sp.eye(2)

    def eigenvalues(self) -> tuple[sp.Expr, sp.Expr]:
        (a, b), (c, d) = self.matrix
        if b == 0 or c == 0:
            return a, d
        root = sp.sqrt((a - d) ** 2 + 4 * b * c)
        return (a + d + root) / 2, (a + d - root) / 2

    def run(self, matrices: Sequence[Any], offsets: Sequence[Any], start: tuple[Any, Any]) -> list[Any]:
        """The pairs (e, f) layer by layer, with each layer's own coefficients."""

        def step(ef: tuple[Any, Any], coefficients: Any) -> tuple[Any, Any]:
            ((a, b), (c, d)), (g, h) = coefficients
            return a * ef[0] + b * ef[1] + g, c * ef[0] + d * ef[1] + h

        return _run(step, start, list(zip(matrices, offsets, strict=True)))


def _mixed_before(p: sp.Expr, q: sp.Expr, n: sp.Expr) -> sp.Expr:
    """det(M) c_{n-1}(p, q) = p q c_{n-1}, written without dividing by p or q so that it holds at n = 0 and det 0."""
    # p q c_{n-1} = p^n-type sums: (p^n q - q^n p) / (p - q); at p = q it is (n - 1) p^n.
    if p == q:
        return (n - 1) * power_of(p, n)
    closed = (power_of(p, n) * q - power_of(q, n) * p) / (p - q)
    if (p - q).is_zero is False:
        return closed
    return sp.Piecewise(((n - 1) * power_of(p, n), sp.Eq(p, q)), (closed, True))


def _run(step: Callable[[Any, Any], Any], start: Any, coefficients: Iterable[Any]) -> list[Any]:
    errors = [start]
    for coefficient in coefficients:
        errors.append(step(errors[-1], coefficient))
    return errors


LAYERS_BY_NUMBERS = Unread("its layers are known by numbers alone; repeat(...) takes a layer with its operands")


def constant_recursion(start: sp.Expr, factor: sp.Expr, offset: sp.Expr) -> LinearRecursion:
    """A recursion whose coefficients are the same in all layers, whatever symbols they contain."""
    return LinearRecursion(start, factor, offset, sp.Dummy("l", integer=True, nonnegative=True))


def recur(
    x: Approximated, name: str, *, factor: Any, offset: Any, depth: Any, size: Any, reason: str = ""
) -> Approximated:
    """A value after `depth` layers, each of which takes an error e to at most factor e + offset."""
    factor, offset, depth, size = as_expr(factor), as_expr(offset), as_expr(depth), as_expr(size)
    obligations = whole("recur", name, least=0, depth=depth)
    obligations += nonnegative("recur", name, factor=factor, offset=offset, size=size)
    recursion = constant_recursion(x.error_symbol, factor, offset)
    step = rule_step(
        name,
        x.norm,
        "recursion",
        recursion.closed(depth),
        obligations=obligations,
        reason=reason,
        recursion=recursion,
        operation=LAYERS_BY_NUMBERS,
    )
    return x.follows(step, dim=x.dim, size=size)
