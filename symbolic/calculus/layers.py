"""Rule 7 for layers: a recursion read off one derived layer, and the 2-norm of a family of blocks, one a layer."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import sympy as sp

from symbolic.calculus.recursions import LinearRecursion, geometric_sum
from symbolic.derivation import Approximated, Derivation, DerivationError, Norm, Step, as_expr, require_norm
from symbolic.obligations import Obligation, for_all, is_nonnegative, nonnegative, shown_at_most, unless, whole


# One layer, derived by the rules from a premise with a symbolic error e, has a bound that is affine in e with
# coefficients >= 0: it is the step of a recursion, and nothing has to be typed again. The next layer starts from this
# one, so that this one has to be again what was said of the premise (`_meets`); what the layer owes, each layer owes.
def recursion_from(premise: Approximated, layer: Approximated, *, index: sp.Symbol | None = None) -> LinearRecursion:
    """The recursion from 0 whose step is `layer`, derived from `premise`, whose given error is a symbol.

    `index` is the symbol that stands for the number of the layer, if any does. A size or dimension of the premise that
    is a symbol and does not enter the bound may be anything: declare it so where the layers differ in it.

    Raises DerivationError if the bound is not affine in the error, or if the layer is not what its premise was.
    """
    error = premise.error
    if not error.is_Symbol:
        raise DerivationError(f"recursion_from: the error of '{premise.name}' has to be a symbol, it is {error}")
    if premise.name not in {step.name for step in layer.derivation.steps}:
        raise DerivationError(f"recursion_from: '{layer.name}' is not derived from '{premise.name}'")
    factor = sp.diff(layer.error, error)
    if factor.has(error):
        raise DerivationError(f"recursion_from: the error of '{layer.name}' is not affine in that of '{premise.name}'")
    layers = index or sp.Dummy("l", integer=True, nonnegative=True)
    owed = tuple(o for o in layer.derivation.obligations if o.open)
    offset = layer.error.subs(error, 0)
    one = LinearRecursion(sp.Integer(0), sp.factor_terms(factor), offset, layers, premise, layer.dim, owed)
    following = replace(one, premise=premise.subs({layers: layers + 1}))
    return replace(one, obligations=owed + _meets(layer, following, "recursion_from"))


def _meets(value: Approximated, recursion: LinearRecursion, rule: str) -> tuple[Obligation, ...]:
    """What is left to show for `value` to be a premise of the recursion's layer."""
    premise = recursion.premise
    assert premise is not None  # the callers ask
    if value.norm is not premise.norm:
        raise DerivationError(
            f"{rule}: '{value.name}' is bounded in the {value.norm}-norm, the layer starts from the "
            f"{premise.norm}-norm; apply change_norm first"
        )
    if premise.probabilities and not value.probabilities:
        raise DerivationError(f"{rule}: '{value.name}' is not known to hold probabilities, as '{premise.name}' does")
    wanted = []
    if _enters(premise.size, recursion):
        smaller = shown_at_most(value.size, premise.size)
        wanted.append(Obligation(f"the size of '{value.name}' is at most that of the layer's premise", smaller))
    if premise.radius is not None and _enters(premise.radius, recursion):
        radius = value.size if value.radius is None else value.radius
        nearer = shown_at_most(radius, premise.radius)
        wanted.append(Obligation(f"the radius of '{value.name}' is at most that of the layer's premise", nearer))
    if _enters(premise.dim, recursion) and value.dim != premise.dim:
        condition = sp.Eq(sp.simplify(value.dim - premise.dim), 0)
        wanted.append(Obligation(f"the dimension of '{value.name}' is that of the layer's premise", condition))
    for obligation in wanted:
        if obligation.condition == sp.false:
            raise DerivationError(f"{rule}: the layers do not fit: it is false that {obligation.statement}")
    return tuple(obligation for obligation in wanted if obligation.open)


def _enters(said: sp.Expr, recursion: LinearRecursion) -> bool:
    """Whether the layer's bound may depend on what is said of its premise; a symbol that is not in it does not."""
    used: set[sp.Symbol] = recursion.factor.free_symbols | recursion.offset.free_symbols
    for obligation in recursion.obligations:
        used |= getattr(obligation.condition, "free_symbols", set())
    return not said.is_Symbol or said in used


def iterate(x: Approximated, name: str, recursion: LinearRecursion, depth: Any, *, size: Any) -> Approximated:
    """The value `depth` layers after x, whose error starts the recursion; coefficients may depend on the layer.

    What one layer owes is owed for each, at the largest error of all layers; `confine` discharges ranges. `size` bounds
    the exact value after these layers.
    """
    depth, size = as_expr(depth), as_expr(size)
    dim = _dimension_after(x, recursion, depth)
    offset = recursion.offset
    if offset.has(recursion.index):
        offset = written_out(offset)
    started = replace(recursion, start=x.error_symbol, offset=offset)
    obligations = (
        *whole("iterate", name, least=0, depth=depth),
        *nonnegative("iterate", name, factor=recursion.factor, offset=offset, size=size),
        *_owed_by_each(replace(started, start=x.error), depth),
    )
    if recursion.premise is not None:
        first = replace(recursion, premise=recursion.premise.subs({recursion.index: 0}))
        obligations += _meets(x, first, "iterate")
    step = Step(
        name,
        x.norm,
        "recursion",
        _with_powers(started.closed(depth)),
        premises=(x.name,),
        reason=started.latex(),
        obligations=tuple(dict.fromkeys(o for o in obligations if o.open)),
    )
    return x.follows(step, dim=dim, size=size)


def _dimension_after(x: Approximated, recursion: LinearRecursion, depth: sp.Expr) -> sp.Expr:
    """That of one layer, and of x where there is no layer; a recursion that no layer was derived for keeps x's."""
    if recursion.dim is None or recursion.dim == x.dim:
        return x.dim
    return sp.Piecewise((x.dim, _equals(depth, 0)), (recursion.dim.subs(recursion.index, depth - 1), True))


def _equals(count: sp.Expr, number: int) -> Any:
    constant, rest = (count - number).as_coeff_Add()
    return sp.Eq(rest, -constant)


def _owed_by_each(recursion: LinearRecursion, depth: sp.Expr) -> tuple[Obligation, ...]:
    """The obligations of one layer for layers 0 .. depth - 1, at the largest of their errors."""
    if recursion.premise is None or not recursion.obligations:
        return recursion.obligations
    last = depth - 1 if is_nonnegative(depth - 1) else sp.Max(depth - 1, 0)
    largest, zero, where = recursion.largest(last), sp.Integer(0), "in every layer"
    at_largest = (for_all(o, recursion.premise.error, zero, largest, where) for o in recursion.obligations)
    return tuple(for_all(o, recursion.index, zero, depth - 1, where) for o in at_largest)


def _with_powers(closed: sp.Expr) -> sp.Expr:
    """Products of a factor that does not depend on the layer, written as powers."""
    return closed.xreplace({product: _power(product) for product in closed.atoms(sp.Product)})


def _power(product: sp.Product) -> sp.Expr:
    factor, (index, first, last) = product.args
    return product if factor.has(index) else factor ** (last - first + 1)


# Inside a sum over the layers a case distinction would multiply the summand (SymPy moves it to the front), and close to
# ratio 1 its branches are quotients of small numbers; the sum of powers has neither fault.
def written_out(expression: sp.Expr) -> sp.Expr:
    """The same with each closed geometric sum, a case distinction at ratio 1, written as the sum of powers it is."""
    power = _fresh("m", (expression,), nonnegative=True)
    sums = {}
    for cases in expression.atoms(sp.Piecewise):
        count, at_one = cases.args[0]
        if isinstance(at_one, sp.Eq) and at_one.rhs == 1 and geometric_sum(at_one.lhs, count) == cases:
            sums[cases] = sp.Sum(at_one.lhs**power, (power, 0, count - 1))
    return expression.xreplace(sums)


def _fresh(name: str, expressions: Iterable[sp.Expr], **assumptions: bool) -> sp.Symbol:
    """A whole number that stands nowhere in the expressions; the same ones give the same symbol."""
    taken = {str(symbol) for expression in expressions for symbol in expression.free_symbols}
    names = (name, *(f"{name}_{count}" for count in range(1, len(taken) + 2)))
    return sp.Symbol(next(each for each in names if each not in taken), integer=True, **assumptions)


# Each of two derivations is used in its own case only, and owes nothing in the other.
def either(
    first: Approximated, when: Any, second: Approximated, *, name: str, dim: Any = None, reason: str = ""
) -> Approximated:
    """`first` where the relation `when` holds, `second` where it does not; both in one norm."""
    require_norm("either", first, second.norm)
    dim = sp.Piecewise((first.dim, when), (second.dim, True)) if dim is None else as_expr(dim)
    step = Step(
        name,
        first.norm,
        "case distinction",
        sp.Piecewise((first.error_symbol, when), (second.error_symbol, True)),
        premises=(first.name, second.name),
        reason=reason or "each in its own case",
        obligations=whole("either", name, least=1, dimension=dim),
    )
    shared = {s.name for s in first.derivation.steps} & {s.name for s in second.derivation.steps}
    here, there = (
        replace(value, derivation=_except(value.derivation, unused, shared))
        for value, unused in ((first, sp.Not(when)), (second, when))
    )
    size = sp.Piecewise((first.size, when), (second.size, True))
    return here.follows(step, there, dim=dim, size=size)


def _except(derivation: Derivation, unused: Any, kept: set[str]) -> Derivation:
    def less(step: Step) -> Step:
        return (
            step if step.name in kept else replace(step, obligations=tuple(unless(unused, o) for o in step.obligations))
        )

    return Derivation(tuple(map(less, derivation.steps)))


# ||(x_1, ..., x_n)||_2^2 = ||x_1||^2 + ... + ||x_n||^2. Equality: any.
def stack(
    first: Approximated,
    family: Approximated,
    index: sp.Symbol,
    last: Approximated,
    *,
    count: Any,
    name: str,
    reason: str = "",
) -> Approximated:
    """The vector (x_1, ..., x_count) in the 2-norm, `count` possibly symbolic; for count = 1 it is `last` alone.

    `family` is x_index for 2 <= index < count, with a bound that depends on `index`; its step sums the closed bounds.

    What `first` and the family owe is owed for count >= 2 only.
    """
    for value in (first, family, last):
        require_norm("stack", value, Norm.TWO)
    count = as_expr(count)
    alone, several = _equals(count, 1), _dimension_of_several(first, family, index, last, count)
    dim = sp.Piecewise((last.dim.xreplace({alone: sp.true}), alone), (several.xreplace({alone: sp.false}), True))
    bounds = (value for each in (first, family, last) for value in (each.error, each.size))
    layer = _fresh("i", (count, *bounds), positive=True)

    def total(of_first: sp.Expr, of_family: sp.Expr, of_last: sp.Expr) -> sp.Expr:
        summand = written_out(of_family.subs(index, layer)) ** 2
        several = sp.sqrt(of_first**2 + sp.Sum(summand, (layer, 2, count - 1)) + of_last**2)
        return sp.Piecewise((of_last, sp.Eq(count, 1)), (several, True))

    step = Step(
        name,
        Norm.TWO,
        "concatenation",
        total(first.error_symbol, family.error, last.error_symbol),
        premises=(first.name, family.name, last.name),
        reason=reason or "the norm of a concatenation, from the norms of its parts",
        obligations=whole("stack", name, least=1, count=count),
    )
    needed_anyway = {step.name for step in last.derivation.steps}
    first, family = (
        replace(each, derivation=_for_several(each.derivation, index, count, needed_anyway)) for each in (first, family)
    )
    return family.follows(step, first, last, dim=dim, size=total(first.size, family.size, last.size))


def _dimension_of_several(
    first: Approximated, family: Approximated, index: sp.Symbol, last: Approximated, count: sp.Expr
) -> sp.Expr:
    member = family.dim.subs(index, sp.Dummy("m", integer=True, nonnegative=True) + 2)
    if not member.free_symbols - family.dim.free_symbols:  # all of one dimension
        return first.dim + (count - 2) * member + last.dim
    return first.dim + sp.Sum(family.dim, (index, 2, count - 1)).doit() + last.dim


def _for_several(derivation: Derivation, index: sp.Symbol, count: sp.Expr, kept: set[str]) -> Derivation:
    """The derivation of one member of a family, owing what all members 2 .. count - 1 owe, for count >= 2."""
    where, alone = f"for every {index} from 2 to {sp.sstr(count - 1)}", sp.Lt(count, 2)

    def of_all(step: Step) -> Step:
        if step.name in kept:
            return step
        owed = (for_all(o, index, sp.Integer(2), count - 1, where) for o in step.obligations)
        return replace(step, obligations=tuple(unless(alone, o) for o in owed))

    return Derivation(tuple(map(of_all, derivation.steps)))
