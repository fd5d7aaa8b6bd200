"""Rule 7 for layers: a recursion read off one derived layer, and the value after any number of such layers."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import sympy as sp

from symbolic.calculus.geometric import written_out
from symbolic.calculus.perturbations import require_per_unit
from symbolic.calculus.recursions import LAYERS_BY_NUMBERS, LinearRecursion, restated
from symbolic.derivations.derivation import (
    Approximated,
    DerivationError,
    as_expr,
    rule_step,
)
from symbolic.derivations.events import Events
from symbolic.derivations.obligations import (
    Obligation,
    for_all,
    is_plain,
    nonnegative,
    reopened,
    shown_at_most,
    whole,
)
from symbolic.derivations.operations import has_letter
from symbolic.derivations.provenance import Provenance, weakest
from symbolic.derivations.signs import equals, is_continuous, is_nonnegative
from symbolic.words.indices import new_index

EVERY_LAYER = "in every layer"


# One layer, derived by the rules from a premise with a symbolic error e, has a bound that is affine in e with
# coefficients >= 0: it is the step of a recursion, and nothing has to be typed again. The next layer starts from this
# one, so this one must again meet the assumptions on the premise (`_meets`). Its obligations hold for each layer.
#
# Pooled layers: the bound is the root of a square that is affine in e^2. Each layer has parameters of its own, and its
# error is per unit of a joint perturbation of all (`perturbed_map`), which then holds for the next layer as well.
def recursion_from(
    premise: Approximated, layer: Approximated, *, index: sp.Symbol | None = None, pooled: bool = False
) -> LinearRecursion:
    """The recursion from 0 whose step is `layer`, derived from `premise`, whose given error is a symbol.

    `index` is the symbol for the number of the layer, if there is one. A size or dimension of the premise may be a
    symbol that does not occur in the bound; use this if the layers differ in it. `pooled`: each layer has parameters of
    its own, and errors are per unit of a joint perturbation of all; the squares of the errors obey the recursion.

    Raises DerivationError if the bound (pooled: its square) is not affine in the error (its square), or if the layer is
    not again a valid premise.
    """
    error, layers = premise.error, index or sp.Dummy("l", integer=True, nonnegative=True)
    _require_letters(premise, layers)
    if premise.derivation.step(premise.name) not in layer.derivation.steps:
        raise DerivationError(f"recursion_from: '{layer.name}' is not derived from '{premise.name}'")
    _require_alone(premise, layer)
    if pooled:
        require_per_unit("recursion_from", layer)
    factor, offset = _coefficients(premise, layer, pooled)
    bounds = (each for each in (premise.size, premise.dim, premise.radius) if each is not None)
    letters = {error, layers, *(letter for each in bounds for letter in each.free_symbols)}
    owed = tuple(reopened(o, *letters) for o in layer.derivation.obligations)
    owed = tuple(o for o in owed if o.open)
    word = weakest((Provenance.RULES, *(step.provenance for step in layer.derivation.steps)))
    one = LinearRecursion(
        sp.Integer(0), sp.factor_terms(factor), offset, layers, premise, layer.dim, owed, provenance=word, pooled=pooled
    )
    one = replace(one, events=_events_of_one(layer, layers))
    following = replace(one, premise=restated(premise, {layers: layers + 1}))
    return replace(one, obligations=owed + _meets(layer, following, "recursion_from"))


# The draws of a layer are independent of those before it, on which its argument depends: its events hold given those.
def _events_of_one(layer: Approximated, index: sp.Symbol) -> Events:
    """The events of one layer. Raises DerivationError where their shares depend on the layer, or for an expectation."""
    if layer.mean_over:
        raise DerivationError(
            f"recursion_from: '{layer.name}' is bounded in expectation over {', '.join(layer.mean_over)}, which the "
            f"argument of a later layer depends on; use sample_mean"
        )
    uneven = [event.name for event in layer.events if event.fails.has(index)]
    if uneven:
        raise DerivationError(
            f"recursion_from: the events {', '.join(uneven)} of '{layer.name}' have other shares in each layer; give "
            f"all layers the same"
        )
    return layer.events


# a_i x + b_i <= (max a) x + max b for x >= 0. Equality where one of them has the largest factor and offset.
def affine_majorant(bound: sp.Expr, x: sp.Symbol) -> sp.Expr:
    """At least the bound for x >= 0, without a largest of terms that are affine in x."""
    largest = {each for each in bound.atoms(sp.Max) if each.has(x)}
    inner = sorted((each for each in largest if not any(each is not e and each.has(e) for e in largest)), key=str)
    for each in inner:
        factors = [sp.diff(term, x) for term in each.args]
        if not any(factor.has(x) for factor in factors):
            above = sp.Max(*factors) * x + sp.Max(*(term.subs(x, 0) for term in each.args))
            return affine_majorant(bound.subs(each, above), x)
    return bound


def _coefficients(premise: Approximated, layer: Approximated, pooled: bool) -> tuple[sp.Expr, sp.Expr]:
    """Factor and offset of the bound in the error, or of its square in the square of the error."""
    error, bound = premise.error, layer.error
    if pooled:
        square = sp.Dummy("square", nonnegative=True)
        error, bound = square, sp.expand(bound**2).subs(error, sp.sqrt(square))
    else:
        bound = affine_majorant(bound, error)
    factor = sp.diff(bound, error)
    if factor.has(error) or not is_continuous(bound, error):
        raise DerivationError(f"recursion_from: the error of '{layer.name}' is not affine in that of '{premise.name}'")
    return factor, bound.subs(error, 0)


# No letter of the caller's may be taken for the error of a layer or for its number. Of both nothing may be known but
# that they are at least 0.
def _require_letters(premise: Approximated, index: sp.Symbol) -> None:
    error = premise.error
    if not (isinstance(error, sp.Dummy) and is_plain(error, nonnegative=True)):
        raise DerivationError(
            f"recursion_from: the error of '{premise.name}' is {sp.sstr(error)}; give a separate symbol, "
            f"sp.Dummy('e', nonnegative=True)"
        )
    if not is_plain(index, integer=True, nonnegative=True):
        raise DerivationError(
            f"recursion_from: declare the number of a layer, {index}, as any whole number from 0 on, "
            f"sp.Symbol('l', integer=True, nonnegative=True)"
        )


def _require_alone(premise: Approximated, layer: Approximated) -> None:
    """Raises DerivationError where the error of the premise is also that of something else, which stays as it is."""
    error = premise.error
    _, *others = (step for step in layer.derivation.steps if step in premise.derivation.steps)
    rest = (step for step in layer.derivation.steps if step.name != premise.name)
    about = (premise.size, premise.dim, premise.radius)
    elsewhere = [step.name for step in rest if has_letter((step.local, *step.about), error)]
    if others or elsewhere or has_letter(about, error):
        raise DerivationError(
            f"recursion_from: '{premise.name}' must be a single given, and its error must not occur in any other "
            f"data ({', '.join([*elsewhere, *(step.name for step in others)]) or 'its size, dimension or radius'})"
        )


def _meets(value: Approximated, recursion: LinearRecursion, rule: str) -> tuple[Obligation, ...]:
    """The obligations under which `value` is a premise of the recursion's layer."""
    premise = recursion.premise
    assert premise is not None  # the callers check this
    if value.norm is not premise.norm:
        raise DerivationError(
            f"{rule}: '{value.name}' is bounded in the {value.norm}-norm, but the layer starts from the "
            f"{premise.norm}-norm; apply change_norm first"
        )
    if premise.probabilities and not value.probabilities:
        raise DerivationError(f"{rule}: '{value.name}' is not known to hold probabilities, but '{premise.name}' does")
    if premise.affine and not value.holds_weights:
        raise DerivationError(f"{rule}: '{value.name}' is not known to hold weights, but '{premise.name}' does")
    required = []
    if _enters(premise.size, recursion):
        smaller = shown_at_most(value.size, premise.size)
        required.append(Obligation(f"the size of '{value.name}' is at most that of the layer's premise", smaller))
    if premise.radius is not None and _enters(premise.radius, recursion):
        radius = value.size if value.radius is None else value.radius
        nearer = shown_at_most(radius, premise.radius)
        required.append(Obligation(f"the radius of '{value.name}' is at most that of the layer's premise", nearer))
    if _enters(premise.dim, recursion) and value.dim != premise.dim:
        condition = sp.Eq(sp.simplify(value.dim - premise.dim), 0)
        required.append(Obligation(f"the dimension of '{value.name}' is that of the layer's premise", condition))
    for obligation in required:
        if obligation.condition == sp.false:
            raise DerivationError(f"{rule}: the layers do not fit; hypothesis violated: {obligation.statement}")
    return tuple(obligation for obligation in required if obligation.open)


def _enters(bound: sp.Expr, recursion: LinearRecursion) -> bool:
    """Whether the layer's bound may depend on this size, radius or dimension of its premise."""
    used: set[sp.Symbol] = recursion.factor.free_symbols | recursion.offset.free_symbols
    for obligation in recursion.obligations:
        used |= getattr(obligation.condition, "free_symbols", set())
    return not bound.is_Symbol or bound in used


def iterate(x: Approximated, name: str, recursion: LinearRecursion, depth: Any, *, size: Any) -> Approximated:
    """The value `depth` layers after x, whose error starts the recursion; coefficients may depend on the layer.

    The obligations of one layer are required for each layer, at the largest error of all layers; `confine` discharges
    ranges. `size` bounds the exact value after these layers.
    """
    depth, size = as_expr(depth), as_expr(size)
    if recursion.pooled:
        require_per_unit("iterate", x)
    if has_letter((depth, size, x.error, x.size, x.dim, x.radius), recursion.index):
        recursion = recursion.with_index(new_index("l", (depth, size, x.error, x.size), nonnegative=True))
    dim = _dimension_after(x, recursion, depth)
    offset = recursion.offset
    if offset.has(recursion.index):
        offset = written_out(offset)
    started = replace(recursion, start=x.error_symbol, offset=offset, depth=depth)
    obligations = (
        *whole("iterate", name, least=1 if recursion.events else 0, depth=depth),
        *nonnegative("iterate", name, size=size),
        *_in_every_layer(nonnegative("iterate", name, factor=recursion.factor, offset=offset), recursion.index, depth),
        *_obligations_of_each_layer(replace(started, start=x.error), depth),
    )
    if recursion.premise is not None:
        first = replace(recursion, premise=restated(recursion.premise, {recursion.index: 0}))
        obligations += _meets(x, first, "iterate")
    step = rule_step(
        name,
        x.norm,
        "recursion",
        _with_powers(started.closed(depth)),
        recursion=started,
        obligations=tuple(dict.fromkeys(o for o in obligations if o.open)),
        events=tuple(event.in_each(depth) for event in recursion.events),
        provenance=recursion.provenance,
        per_unit=recursion.pooled,
        pooled=recursion.pooled,
        operation=LAYERS_BY_NUMBERS,
    )
    return x.follows(step, dim=dim, size=size)


def _dimension_after(x: Approximated, recursion: LinearRecursion, depth: sp.Expr) -> sp.Expr:
    """The dimension after `depth` layers: of one layer; of x for depth 0 or for a recursion without a layer."""
    if recursion.dim is None or recursion.dim == x.dim:
        return x.dim
    return sp.Piecewise((x.dim, equals(depth, 0)), (recursion.dim.subs(recursion.index, depth - 1), True))


def _obligations_of_each_layer(recursion: LinearRecursion, depth: sp.Expr) -> tuple[Obligation, ...]:
    """The obligations of one layer for layers 0 .. depth - 1, at the largest of their errors."""
    if recursion.premise is None or not recursion.obligations:
        return recursion.obligations
    last = depth - 1 if is_nonnegative(depth - 1) else sp.Max(depth - 1, 0)
    error, largest = recursion.premise.error, recursion.largest(last)
    at_largest = (for_all(o, error, sp.Integer(0), largest, EVERY_LAYER) for o in recursion.obligations)
    return _in_every_layer(at_largest, recursion.index, depth)


def _in_every_layer(owed: Iterable[Obligation], index: sp.Symbol, depth: sp.Expr) -> tuple[Obligation, ...]:
    return tuple(for_all(o, index, sp.Integer(0), depth - 1, EVERY_LAYER) for o in owed)


def _with_powers(closed: sp.Expr) -> sp.Expr:
    """Products of a factor that does not depend on the layer, written as powers."""
    return closed.xreplace({product: _power(product) for product in closed.atoms(sp.Product)})


def _power(product: sp.Product) -> sp.Expr:
    factor, *limits = product.args
    if len(limits) > 1 or factor.has(limits[0][0]):
        return product
    _, first, last = limits[0]
    return factor ** (last - first + 1)
