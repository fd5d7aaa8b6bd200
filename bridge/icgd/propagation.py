"""Instance bounds at one prompt: what a known (w, x, y) makes of the approximation errors of r, r' and u.

The exact pass p, r', s at (w, x, y) is known; the emulated one differs from it by errors that are bounded beside it.
An error is carried in three parts: a signed centre, a radius for each coordinate, and a radius in the 2-norm,

    |error - centre| <= radius in each coordinate,      ||error - centre||_2 <= norm,

and at each layer each of the two radii may use the other. What is known of an approximant is its `Knowledge`:

* of the supremum alone (`prompt`): centre 0, radius eps;
* cell by cell (`prompt, local`): its deviation d(z) = rbar(z) - r(z) at the exact argument z, and a Lipschitz constant
  kappa of d, so that d(z + dz) lies within kappa |dz| of d(z).

Letters as in Wu et al. 2024, Appendix D: D_j = diag r'(V_j p(j-1)), z = V_j p(j-1), Delta for emulated minus exact.
Shapes: ... batch, n tokens, m coordinates of a layer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from bridge.icgd.arithmetic import Arithmetic, Array


@dataclass(frozen=True)
class Knowledge:
    """What is known of fbar - f on the range: `error` >= sup |fbar - f|; `deviation`, `slope_error` if cell by cell.

    `deviation` takes the exact arguments and gives (fbar - f) there; `slope_error` is a Lipschitz constant of it.
    """

    error: Any
    deviation: Callable[..., Array] | None = None
    slope_error: Any = None

    def at(self, ops: Arithmetic, change: Array, *arguments: Array) -> tuple[Array, Array]:
        """Centre and radius of (fbar - f)(argument + change) where |argument's change| <= change."""
        if self.deviation is None:
            return ops.zeros(change), ops.zeros(change) + self.error
        centre = self.deviation(*arguments)
        return centre, ops.minimum(self.slope_error * change, abs(centre) + self.error)


@dataclass(frozen=True)
class Smooth:
    """r and its derivatives as functions of arrays; `suprema[k]` >= sup |r^(k)| on the range for k = 2, 3, 4."""

    derivatives: Sequence[Callable[..., Array]]  # r, r', r'', r'''
    suprema: dict[int, Any]


@dataclass(frozen=True)
class LossGradient:
    """u(t, y) and its derivative in t; `second` >= sup |d^2 u/dt^2| on the range."""

    value: Callable[..., Array]
    slope: Callable[..., Array]
    second: Any


@dataclass(frozen=True)
class Error:
    """An error with centre, coordinate-wise radius (..., n, m) and 2-norm radius (..., n)."""

    centre: Array
    radius: Array
    norm: Array

    def absolute(self) -> Array:
        return abs(self.centre) + self.radius


class Value(NamedTuple):
    """An exact value (..., n, m) and the error of the emulated one."""

    exact: Array
    error: Error


Layers = dict[int, Value]  # by the number j of the layer


@dataclass(frozen=True)
class Propagated:
    """Per tap the exact value and its error; the gradient's error in the 2-norm of all blocks."""

    p: Layers  # j = 0 .. N
    derivative: Layers  # r'(j), j = 1 .. N
    g: Value
    s: Layers  # j = 1 .. N
    gradient: Array

    def bound(self, ops: Arithmetic, name: str) -> Array:
        """The bound of the quantity of that name (p[j], g, s[j] in the 2-norm of a token, .max and r' in the sup norm),
        of the token where it is largest."""
        if name == "gradient":
            return self.gradient
        tap, _, largest = name.partition(".")
        kind, _, layer = tap.rstrip("]").partition("[")
        layers = {"p": self.p, "r'": self.derivative, "s": self.s}
        error = (self.g if kind == "g" else layers[kind][int(layer)]).error
        if largest == "max" or kind == "r'":
            return ops.largest(ops.largest(error.absolute()))
        return ops.largest(ops.minimum(ops.norm(error.absolute()), ops.norm(error.centre) + error.norm))


def propagate(
    ops: Arithmetic,
    weights: Sequence[Array],
    x: Array,
    y: Array,
    activation: Smooth,
    loss: LossGradient,
    r: Knowledge,
    r1: Knowledge,
    u: Knowledge,
) -> Propagated:
    """The errors of all taps at a prompt: `weights` V_1 .. V_N (..., rows, cols), x (..., n, d_x), y (..., n, d_y)."""
    p, derivative = _forward(ops, weights, x, activation, r, r1)
    g = _loss_gradient(ops, p[len(weights)], y, loss, u)
    s = _backward(ops, weights, derivative, g)
    return Propagated(p, derivative, g, s, _gradient(ops, p, s))


def _forward(
    ops: Arithmetic, weights: Sequence[Array], x: Array, activation: Smooth, r: Knowledge, r1: Knowledge
) -> tuple[Layers, Layers]:
    zero = ops.zeros(x)
    p: Layers = {0: Value(x, Error(zero, zero, ops.norm(zero)))}
    derivative: Layers = {}
    sup = activation.suprema
    for j, V in enumerate(weights, start=1):
        value, error = p[j - 1]
        z = value @ ops.transpose(V)  # (..., n, m)
        centre, radius = _through(ops, V, error)
        change = abs(centre) + radius  # |Delta z|
        d0, d1, d2, d3 = (each(z) for each in activation.derivatives)
        # r(z + dz) - r(z) = r'(z) dz + rest, |rest| <= sup|r''| dz^2 / 2 and <= |r''(z)| dz^2 / 2 + sup|r'''| dz^3 / 6.
        rest = _remainder(ops, change, abs(d2), sup[2], sup[3])
        deviation, spread = r.at(ops, change, z)
        radii = spread + abs(d1) * radius + rest
        gain = ops.spectral(d1[..., :, None] * V[..., None, :, :])  # ||D V||_2 (..., n)
        norms = ops.minimum(ops.norm(radii), ops.norm(spread) + gain * error.norm + ops.norm(rest))
        p[j] = Value(d0, Error(deviation + d1 * centre, radii, norms))
        # The same for r', whose derivatives are r'' and r'''.
        deviation, spread = r1.at(ops, change, z)
        radii = spread + abs(d2) * radius + _remainder(ops, change, abs(d3), sup[3], sup[4])
        derivative[j] = Value(d1, Error(deviation + d2 * centre, radii, ops.norm(radii)))
    return p, derivative


def _through(ops: Arithmetic, V: Array, error: Error) -> tuple[Array, Array]:
    """Centre and coordinate-wise radius of V e: |V| radius, or row norms times the 2-norm radius."""
    radius = error.radius @ ops.transpose(abs(V))
    by_norm = error.norm[..., None] * ops.norm(V)[..., None, :]
    return error.centre @ ops.transpose(V), ops.minimum(radius, by_norm)


def _remainder(ops: Arithmetic, change: Array, second: Array, sup2: Any, sup3: Any) -> Array:
    square = change * change
    return ops.minimum(square * sup2 / 2, square * second / 2 + square * change * sup3 / 6)


def _loss_gradient(ops: Arithmetic, last: Value, y: Array, loss: LossGradient, u: Knowledge) -> Value:
    value, error = last
    change = error.absolute()
    slope = loss.slope(value, y)
    rest = change * change * loss.second / 2
    deviation, spread = u.at(ops, change, value, y)
    radii = spread + abs(slope) * error.radius + rest
    norms = ops.norm(spread) + ops.largest(abs(slope)) * error.norm + ops.norm(rest)
    centre = deviation + slope * error.centre
    return Value(loss.value(value, y), Error(centre, radii, ops.minimum(ops.norm(radii), norms)))


def _backward(ops: Arithmetic, weights: Sequence[Array], derivative: Layers, g: Value) -> Layers:
    depth = len(weights)
    s: Layers = {}
    incoming = g
    for j in range(depth, 0, -1):
        # The columns of V_{j+1} carry s(j+1) into layer j: none for j = N, where g enters as it is.
        above = ops.transpose(weights[j]) if j < depth else None
        s[j] = _multiplied(ops, derivative[j], incoming, above, s[j + 1].error.norm if j < depth else None)
        if j > 1:
            V = ops.transpose(weights[j - 1])
            value, error = s[j]
            centre, radius = _through(ops, V, error)
            norm = ops.minimum(ops.spectral(V)[..., None] * error.norm, ops.norm(radius))
            incoming = Value(value @ ops.transpose(V), Error(centre, radius, norm))
    return s


def _multiplied(ops: Arithmetic, derivative: Value, incoming: Value, above: Any, above_norm: Any) -> Value:
    """r' * t with t = V^T s(j+1) or u:  (r' + a)(t + b) - r' t, centres multiplied out exactly."""
    (d, a), (t, b) = derivative, incoming
    shifted, moved = d + a.centre, t + b.centre
    radii = abs(shifted) * b.radius + a.radius * abs(moved) + a.radius * b.radius
    largest = ops.largest(abs(shifted))
    first = largest * b.norm
    if above is not None:
        gain = ops.spectral(abs(shifted)[..., :, None] * above[..., None, :, :])
        first = ops.minimum(first, gain * above_norm)
    second = ops.minimum(ops.largest(a.radius) * b.norm, ops.norm(a.radius * b.radius))
    norms = first + ops.norm(a.radius * abs(moved)) + second
    centre = d * b.centre + a.centre * moved  # (d + a)(t + b) - d t without cancellation
    return Value(d * t, Error(centre, radii, ops.minimum(ops.norm(radii), norms)))


def _gradient(ops: Arithmetic, p: Layers, s: Layers) -> Array:
    """||gradient error||_2: the centres' matrix exactly, its rest by the best of three bounds for each block.

    The rest of sum_i (s_i + ds_i)(p_i + dp_i)^T around the centres is sum_i [ds p^T + s dp^T + ds dp^T]:
    (1) as matrices: ||sum_i ds_i p_i^T||_F <= ||dS||_F ||P||_2; (2) token by token; (3) entry by entry.
    """
    centres, rests = [], []
    for j in sorted(s):
        (p_value, p_error), (s_value, s_error) = p[j - 1], s[j]
        count = p_value.shape[-2]
        p_moved, s_moved = p_value + p_error.centre, s_value + s_error.centre
        # (s + a)(p + b)^T - s p^T for the centres a, b, without cancellation
        centre = ops.transpose(s_error.centre) @ p_moved + ops.transpose(s_value) @ p_error.centre
        e, f = p_error.norm, s_error.norm  # (..., n)
        as_matrices = ops.norm(f) * ops.spectral(p_moved) + ops.spectral(s_moved) * ops.norm(e) + (f * e).sum(-1)
        by_token = (f * ops.norm(p_moved) + ops.norm(s_moved) * e + f * e).sum(-1)
        sizes = ops.transpose(s_error.radius) @ (abs(p_moved) + p_error.radius)
        entries = ops.frobenius(sizes + ops.transpose(abs(s_moved)) @ p_error.radius)
        rests.append(ops.minimum(ops.minimum(as_matrices, by_token), entries) / (2 * count))
        centres.append(ops.frobenius(centre) / (2 * count))
    return ops.joint(centres) + ops.joint(rests)
