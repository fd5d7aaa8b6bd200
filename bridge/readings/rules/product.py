"""Products of two values: entry by entry, inner, of all pairs, means of outer products, weighted sums."""

from collections.abc import Callable, Mapping
from functools import reduce
from operator import add

import torch

from bridge.readings.arrays import Array, attended, attended_norms, largest, one_norm, spectral, two_norm
from bridge.readings.enclosed import AtHand, Enclosed, enclosed, gain
from bridge.readings.errors import Error, total
from bridge.readings.network import DUAL, Bounded, NormsAtHand, bounded, require_equal_dims
from bridge.readings.operands import Operands
from bridge.readings.values import value
from symbolic.calculus.products import Product, ProductKind
from symbolic.derivations.derivation import Norm, Step


@value.register
def _value(operation: Product, x: list[Array], operands: Operands, emulated: bool) -> Array:
    return PRODUCTS[operation.kind](*x)


def mean_of_outer(x: Array, y: Array) -> Array:
    """(1/n) sum_i y_i x_i^T, row by row; a value without tokens counts as one token."""
    x, y = (torch.atleast_2d(each) for each in (x, y))
    return (y.mT @ x).flatten(-2) / x.shape[-2]


PRODUCTS: Mapping[ProductKind, Callable[[Array, Array], Array]] = {
    ProductKind.ENTRYWISE: lambda x, y: x * y,
    ProductKind.INNER: lambda x, y: (x * y).sum(-1, keepdim=True),
    ProductKind.MEAN_OUTER: mean_of_outer,
    ProductKind.PAIRS: lambda x, y: x @ y.mT,
    ProductKind.WEIGHTED: attended,
}


@enclosed.register
def _enclosed(operation: Product, step: Step, x: list[Enclosed], at: AtHand) -> Enclosed:
    first, second = x
    exact = PRODUCTS[operation.kind](first.exact, second.exact)
    return Enclosed(exact, _PRODUCT_ERRORS[operation.kind](first, second))


# (x + a)(y + b) - x y = x c_b + c_a (y + c_b) + (x + c_a) u_b + u_a (y + c_b) + u_a u_b, coordinate by coordinate.
def _entrywise(x: Enclosed, y: Enclosed) -> Error:
    if x.image is not None and y.image is None:
        x, y = y, x
    count = max(x.exact.shape[-1], y.exact.shape[-1])
    x, y = _repeated(x, count), _repeated(y, count)
    a, b = x.error, y.error
    shifted, moved = a.after(x.exact), b.after(y.exact)
    centre = total(*([] if b.is_centred else [x.exact * b.centre]), *([] if a.is_centred else [a.centre * moved]))
    if a.is_known and b.is_known:
        return Error(centre, None, like=shifted * moved)
    of_y = [] if b.is_known else [abs(shifted) * b.radius]
    of_x = [] if a.is_known else [a.radius * abs(moved)]
    both = [a.radius * b.radius] if of_x and of_y else []

    def two() -> Array:
        first = largest(abs(shifted)) * b.two
        if y.image is not None:
            first = torch.minimum(first, gain(abs(shifted), y))
        mixed = [torch.minimum(largest(a.radius) * b.two, two_norm(each)) for each in both]
        return reduce(add, [first, *map(two_norm, of_x), *mixed])

    return Error(centre, total(*of_y, *of_x, *both), two=two)


def _repeated(x: Enclosed, count: int) -> Enclosed:
    """A number in the place of a vector, as the vector of `count` equal entries that it stands for."""
    if x.exact.shape[-1] == count:
        return x
    shape = (*x.exact.shape[:-1], count)
    centre = None if x.error.is_centred else x.error.centre.expand(shape)
    radius = None if x.error.is_known else x.error.radius.expand(shape)
    exact = x.exact.expand(shape)
    return Enclosed(exact, Error(centre, radius, like=exact))


# The same summed over the coordinates, where ||.||_2 ||.||_2 and ||.||_1 ||.||_inf bound each inner product.
def _inner(x: Enclosed, y: Enclosed) -> Error:
    a, b = x.error, y.error
    shifted, moved = a.after(x.exact), b.after(y.exact)
    centre = (x.exact * b.centre + a.centre * moved).sum(-1, keepdim=True)
    by_entry = (abs(shifted) * b.radius + a.radius * abs(moved) + a.radius * b.radius).sum(-1)
    by_two = two_norm(shifted) * b.two + a.two * two_norm(moved) + a.two * b.two
    by_one = (
        largest(abs(shifted)) * b.one
        + a.one * largest(abs(moved))
        + torch.minimum(a.one * largest(b.radius), largest(a.radius) * b.one)
    )
    return Error(centre, torch.minimum(torch.minimum(by_entry, by_two), by_one).unsqueeze(-1))


# The rest of sum_i (y_i + b_i)(x_i + a_i)^T is sum_i [u_b (x + c_a)^T + (y + c_b) u_a^T + u_b u_a^T]:
# (1) as matrices, ||sum_i u_i x_i^T||_F <= ||U||_F ||X||_2; (2) token by token; (3) entry by entry.
def _mean_of_outer(x: Enclosed, y: Enclosed) -> Error:
    (x_exact, c_a, r_a), (y_exact, c_b, r_b) = (_as_tokens(each) for each in (x, y))
    e, f = torch.atleast_1d(x.error.two), torch.atleast_1d(y.error.two)  # (n,)
    count = x_exact.shape[-2]
    moved, shifted = x_exact + c_a, y_exact + c_b
    # (y + b)(x + a)^T - y x^T for the centres a, b, without cancellation
    centre = c_b.mT @ moved + y_exact.mT @ c_a
    radius = r_b.mT @ (abs(moved) + r_a) + abs(shifted).mT @ r_a

    def two() -> Array:
        as_matrices = two_norm(f) * spectral(moved) + spectral(shifted) * two_norm(e) + (f * e).sum(-1)
        by_token = (f * two_norm(moved) + two_norm(shifted) * e + f * e).sum(-1)
        return torch.minimum(as_matrices, by_token) / count

    return Error((centre / count).flatten(-2), (radius / count).flatten(-2), two=two)


# <x_i + a_i, y_j + b_j> - <x_i, y_j> for all i and j: as for one inner product, with the norms of each pair.
def _pairs(x: Enclosed, y: Enclosed) -> Error:
    a, b = x.error, y.error
    shifted, moved = a.after(x.exact), b.after(y.exact)  # (..., m), (n, m)
    centre = x.exact @ b.centre.mT + a.centre @ moved.mT  # (..., n)
    if a.is_known and b.is_known:
        return Error(centre, None, like=centre)
    by_entry = abs(shifted) @ b.radius.mT + a.radius @ (abs(moved) + b.radius).mT
    by_two = two_norm(shifted).unsqueeze(-1) * b.two + a.two.unsqueeze(-1) * (two_norm(moved) + b.two)
    return Error(centre, torch.minimum(by_entry, by_two))


# With a = x_j + c_a + u_a and v = y_j + c_b + u_b, sum a v - sum x_j y_j is
#   sum x_j c_b + c_a (y_j + c_b)  +  sum u_a (y_j + c_b)  +  sum a u_b:
# entry by entry with the radii; as lengths with those of the tokens, and with the 1-norm of the weights.
def _weighted(x: Enclosed, y: Enclosed) -> Error:
    a, b = x.error, y.error
    shifted, moved = a.after(x.exact), b.after(y.exact)  # (..., n), (..., n, m)
    centre = attended(x.exact, b.centre) + attended(a.centre, moved)
    if a.is_known and b.is_known:
        return Error(centre, None, like=centre)
    reach = abs(shifted) + a.radius
    most = torch.minimum(one_norm(reach), one_norm(shifted) + a.one).unsqueeze(-1)
    of_weights = torch.minimum(attended(a.radius, abs(moved)), a.one.unsqueeze(-1) * torch.amax(abs(moved), -2))
    of_values = torch.minimum(attended(reach, b.radius), most * torch.amax(b.radius, -2))

    def lengths(norm: Callable[[Array], Array], of_tokens: Array) -> Array:
        sizes = norm(moved)
        first = torch.minimum(attended_norms(a.radius, sizes), a.one * largest(sizes))
        return first + torch.minimum(attended_norms(reach, of_tokens), most.squeeze(-1) * largest(of_tokens))

    return Error(
        centre, of_weights + of_values, one=lambda: lengths(one_norm, b.one), two=lambda: lengths(two_norm, b.two)
    )


def _as_tokens(known: Enclosed) -> tuple[Array, ...]:
    """Exact value, centre and radius, (n, m) each."""
    return tuple(torch.atleast_2d(each) for each in (known.exact, known.error.centre, known.error.radius))


_PRODUCT_ERRORS = {
    ProductKind.ENTRYWISE: _entrywise,
    ProductKind.INNER: _inner,
    ProductKind.MEAN_OUTER: _mean_of_outer,
    ProductKind.PAIRS: _pairs,
    ProductKind.WEIGHTED: _weighted,
}


@bounded.register
def _bounded(operation: Product, step: Step, x: list[Bounded], known: NormsAtHand) -> Bounded | None:
    a, b = x
    if operation.kind is ProductKind.INNER:
        require_equal_dims(step, x)
    if (a.norm, b.norm, step.norm) not in _SUBMULTIPLICATIVE[operation.kind]:
        return None
    if operation.kind is ProductKind.ENTRYWISE and a.dim not in (1, b.dim):
        return None  # a number that multiplies a vector counts in each of its coordinates
    first, second = a.error * b.size + a.emulated * b.error, a.error * b.emulated + a.size * b.error
    dims = {ProductKind.ENTRYWISE: b.dim, ProductKind.INNER: 1, ProductKind.MEAN_OUTER: a.dim * b.dim}
    dims[ProductKind.WEIGHTED] = b.dim
    size, emulated = a.size * b.size, a.emulated * b.emulated
    return Bounded(step.norm, dims[operation.kind], size, emulated, first.min(second), size, emulated)


# B(x_hat, y_hat) - B(x, y) = B(dx, y) + B(x_hat, dy) = B(dx, y_hat) + B(x, dy): the lesser of the two. The norm of the
# product is at most the product of the norms for these norms of x, y and B(x, y).
_SUBMULTIPLICATIVE = {
    ProductKind.ENTRYWISE: {(Norm.INF, each, each) for each in Norm},
    ProductKind.INNER: {(each, DUAL[each], any_norm) for each in Norm for any_norm in Norm},
    ProductKind.MEAN_OUTER: {(each, each, each) for each in Norm},
    ProductKind.WEIGHTED: {(Norm.ONE, each, each) for each in Norm},
    ProductKind.PAIRS: set(),  # norms do not say how many keys there are
}
