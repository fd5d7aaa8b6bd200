"""The derivation of Lemmas 2-6 and Theorem 1 of wu2024: forward, derivative, loss gradient, backward, blocks, step.

Errors are 2-norms per token (sup norms for r'), bars are the transformer's values:
    p(j) = r(V_j p(j-1)),  r'(j) = r'(V_j p(j-1)),  g = u(p(N), y),
    s(N) = r'(N) * g,  s(j) = r'(j) * (V_{j+1}^T s(j+1)),  A(j) = s(j) p(j-1)^T,  gradient = (1/2) mean of (A(j))_j.

Each rule of the chain is applied to one layer; the recursions over the layers are read off these (`recursion_from`)
and have two views: closed forms with symbolic depth (`derive`), and one step a layer (`derive_layers`), which the
readings of bridge/readings run with each layer's own norms, or at a prompt.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import sympy as sp

from symbolic.calculus import (
    LinearRecursion,
    add,
    apply_function,
    bilinear,
    change_norm,
    concatenate,
    linear_map,
    project,
)
from symbolic.calculus.families import stack
from symbolic.calculus.invariants import MonotoneRecursion, confine, largest_range, values_on
from symbolic.calculus.layers import iterate, recursion_from
from symbolic.derivations.derivation import Approximated, Derivation, DerivationError, Norm, Step, by_members, given
from symbolic.topics.icgd.symbols import (
    P_0,
    B_v,
    B_x,
    K,
    L_l,
    L_r,
    L_r1,
    N,
    P_hat,
    R,
    R_u,
    at_first_layer,
    b_l,
    b_r,
    b_r1,
    beta,
    d_x,
    d_y,
    eps_l,
    eps_r,
    eps_r1,
    eta,
    j,
    neurons,
    nu,
    rho,
    rho_N,
)
from symbolic.words.names import member_error

INPUT = given("x", dim=d_x, norm=Norm.TWO, size=P_0, reason="the input, exact")


def rows_times(below: Approximated, layer: sp.Expr, width: sp.Expr = K) -> Approximated:
    """v_jk . p(j-1) in the sup norm: each k has a row of its own."""
    reason = "by Cauchy-Schwarz with the rows of `V_j`"
    name, matrix = label("rows z", layer), label("V", layer)
    return linear_map(below, name, operator_norm=nu, dim=width, target=Norm.INF, reason=reason, matrix=matrix)


def label(quantity: str, layer: sp.Expr | int) -> str:
    """p[3], r'[j], s[N-1]: the name by which steps, taps and references know a value."""
    return f"{quantity}[{sp.sstr(layer).replace(' ', '')}]"


# Rule 10. The arguments of layer j are V_j pbar(j-1), pbar(0) = x, and |pbar(j)[k]| <= beta(R_j) + eps_r:
#   R_1 = nu ||x||,  R_{j+1} = nu sqrt(K) (beta(R_j) + eps_r).
# The sums of ReLUs are built on [-R, R], where R is the largest of R_1, ..., R_N: the range is chosen so that the
# induction closes. The exact network is the case eps_r = 0.
HIDDEN = change_norm(given("pbar[j]", dim=K, size=beta(R) + eps_r), Norm.TWO, "pbar[j], 2-norm")
ARGUMENTS = MonotoneRecursion(rows_times(INPUT, sp.Integer(1)).size, rows_times(HIDDEN, j).size, R)
COVERED = largest_range(ARGUMENTS, N - 1)
OUTPUTS = values_on(COVERED, supremum=beta(R), eps=eps_r, letter=R_u)
SUPREMUM = {beta(R): b_r}


@cache
def worst_case(inputs: sp.Expr = d_x, outputs: sp.Expr = d_y) -> dict[sp.Symbol, sp.Expr]:
    """Our symbols under the hypotheses ||v_jk||_2 <= B_v, ||x||_2 <= B_x.

    The spectral norm is at most the Frobenius norm, the root of the number of rows times the row norm. Theorem 1 is
    d_x = d_y = d.
    """
    dims = {old: new for old, new in ((d_x, inputs), (d_y, outputs)) if old != new}
    return {
        rho: sp.sqrt(K) * B_v,
        rho_N: sp.sqrt(outputs) * B_v,
        nu: B_v,
        P_0: B_x,
        P_hat: HIDDEN.size.xreplace(SUPREMUM),
        R_u: OUTPUTS.largest.xreplace(SUPREMUM),
        **dims,
    }


def forward_layer(previous: Approximated, layer: sp.Expr, *, weights: sp.Expr, width: sp.Expr) -> Approximated:
    """Lemma 2, one layer: pbar(j) = rbar(V_j pbar(j-1))."""
    z = linear_map(previous, label("z", layer), operator_norm=weights, dim=width, matrix=label("V", layer))
    name = label("p", layer)
    size = sp.sqrt(width) * b_r
    p = apply_function(z, name, eps=eps_r, lipschitz=L_r, size=size, radius=R, function="r")
    return confine(p, COVERED, name)


def derivative_layer(previous: Approximated, layer: sp.Expr, *, width: sp.Expr) -> Approximated:
    """Lemma 3: r'bar(j)[k] = r'bar(v_jk . pbar(j-1)), in the sup norm since each k has a row of its own."""
    rows = rows_times(previous, layer, width)
    name = label("r'", layer)
    slope = apply_function(rows, name, eps=eps_r1, lipschitz=L_r1, size=b_r1, radius=R, function="r'")
    return confine(slope, COVERED, name)


def loss_gradient(output: Approximated, name: str) -> Approximated:
    """Lemma 4: g = ubar(pbar(N), y), coordinate by coordinate, in the norm of `output`."""
    size = b_l if output.norm is Norm.INF else sp.sqrt(d_y) * b_l
    u = apply_function(
        output,
        name,
        eps=eps_l,
        lipschitz=L_l,
        size=size,
        radius=R_u,
        reason="since `u(t, y)[k]` depends on `t[k]` and the exact `y[k]` only, where `|y[k]| <= B_y`",
        function="u",
        beside=("y",),
    )
    return confine(u, OUTPUTS, name)


def times_derivative(derivative: Approximated, factor: Approximated, name: str, dim: sp.Expr) -> Approximated:
    """r'(j) * v: |r'bar| <= b_r1 + eps_r1 on [-R, R], so r'bar * dv + dr' * v."""
    bar = b_r1 + eps_r1
    return bilinear(derivative, factor, name, norm=factor.norm, dim=dim, approximate_size=bar, product="entrywise")


def last_signal(derivative: Approximated, g: Approximated, depth: sp.Expr) -> Approximated:
    """Lemma 6, base case: sbar(N) = r'bar(N) * gbar."""
    return times_derivative(derivative, g, label("s", depth), d_y)


def backward_layer(
    derivative: Approximated, following: Approximated, layer: sp.Expr, *, weights: sp.Expr
) -> Approximated:
    """Lemma 6, one layer: sbar(j) = r'bar(j) * (V_{j+1}^T sbar(j+1)); the transposed matrix has the same 2-norm."""
    name, matrix = f"V^T {label('s', layer + 1)}", label("V", layer + 1)
    back = linear_map(following, name, operator_norm=weights, dim=K, matrix=matrix, transposed=True)
    return times_derivative(derivative, back, label("s", layer), K)


def block(signal: Approximated, previous: Approximated, layer: sp.Expr, *, size: sp.Expr) -> Approximated:
    """Theorem 1, D.7: the block A(j), the mean of s(j) p(j-1)^T over the tokens; `size` bounds ||pbar(j-1)||.

    ||s p^T||_F = ||s|| ||p||, and a mean over the n tokens is at most the largest token.
    """
    dim, outer = signal.dim * previous.dim, "mean of outer products"
    return bilinear(previous, signal, label("A", layer), norm=Norm.TWO, dim=dim, approximate_size=size, product=outer)


def update(blocks: Approximated, depth: sp.Expr) -> Approximated:
    """From the blocks to the new weights."""
    half = add(blocks, name="gradient", coefficients=(sp.Rational(1, 2),), reason="since `L_n` has the factor `1/(2n)`")
    weights = given(
        "v", dim=blocks.dim, norm=Norm.TWO, size=sp.sqrt(neurons(d_y, depth)) * B_v, reason="the weights, exact"
    )
    moved = add(weights, half, name="v - eta gradient", coefficients=(1, -eta), reason="by one gradient step")
    return project(moved, "w", box=True, size=weights.size, low="-W", high="W")


# The recursions, read off one layer each. `e` is the error of the layer before, S the size of the layer after.
@dataclass(frozen=True)
class Recursions:
    """p: errors of p(1), p(2), ... from p(0) = x. S: sizes of s(N-1), s(N-2), .... s: errors of the same, by layer."""

    p: LinearRecursion
    S: LinearRecursion
    s: LinearRecursion
    derivative: Derivation

    def delta(self, e: sp.Expr) -> sp.Expr:
        """Sup error of r'(j), given the error e of p(j-1)."""
        return self.derivative.bound().subs(BEFORE, e)


BEFORE, AFTER = sp.Dummy("e_before", nonnegative=True), sp.Dummy("e_after", nonnegative=True)
SIZE_BEFORE, SIZE_AFTER = sp.Symbol("S_before", nonnegative=True), sp.Symbol("S_after", nonnegative=True)
DELTA, WIDTH = sp.Symbol("delta", nonnegative=True), sp.Symbol("width", integer=True, positive=True)


@cache
def recursions() -> Recursions:
    """The recursions of the hidden layers; the offset of `s` is in SIZE_AFTER and DELTA, which depend on the layer."""
    before = given("p[j-1]", dim=WIDTH, norm=Norm.TWO, size=SIZE_BEFORE, error=BEFORE)
    after = given("s[j+1]", dim=WIDTH, norm=Norm.TWO, size=SIZE_AFTER, error=AFTER)
    slope = given("r'[j]", dim=K, norm=Norm.INF, size=b_r1, error=DELTA)
    s = backward_layer(slope, after, j, weights=rho)
    index = LinearRecursion.index
    return Recursions(
        recursion_from(before, forward_layer(before, j, weights=rho, width=K), index=index),
        LinearRecursion(sp.Integer(0), sp.diff(s.size, SIZE_AFTER), sp.Integer(0)),
        recursion_from(after, s, index=index),
        derivative_layer(before, j, width=K).derivation,
    )


@cache
def derive_hidden(layer: sp.Expr = j, size: sp.Expr | None = None) -> Approximated:
    """p(layer) for 1 <= layer < N, closed."""
    return iterate(INPUT, label("p", layer), recursions().p, layer, size=size or sp.sqrt(K) * b_r)


def before_layer(layer: sp.Expr, *, may_be_first: bool = False) -> Approximated:
    """p(layer - 1), the input of a layer: x, or the recursion over the hidden layers so far."""
    if layer == 1:
        return INPUT
    size = at_first_layer(layer, P_0, sp.sqrt(K) * b_r)
    return derive_hidden(layer - 1, size if may_be_first else None)


@cache
def derive_output(depth: sp.Expr = N) -> Approximated:
    """p(N)."""
    return forward_layer(before_layer(depth, may_be_first=True), depth, weights=rho_N, width=d_y)


@cache
def derive_derivative(layer: sp.Expr = j, width: sp.Expr = K) -> Approximated:
    """r'(layer), sup norm."""
    return derivative_layer(before_layer(layer, may_be_first=width == d_y), layer, width=width)


@cache
def derive_loss_gradient(depth: sp.Expr = N) -> Approximated:
    """g."""
    return loss_gradient(derive_output(depth), "g")


@cache
def derive_last_signal(depth: sp.Expr = N) -> Approximated:
    """s(N)."""
    return last_signal(derive_derivative(depth, d_y), derive_loss_gradient(depth), depth)


@cache
def derive_signal(layer: sp.Expr = j, depth: sp.Expr = N) -> Approximated:
    """s(layer) for 1 <= layer < N, closed: N - 1 - layer hidden layers back from s(N - 1)."""
    top = depth - 1
    first = backward_layer(derive_derivative(top), derive_last_signal(depth), top, weights=rho_N)
    if layer == top:
        return first
    hidden, index = recursions(), LinearRecursion.index

    def size(at: sp.Expr) -> sp.Expr:
        return LinearRecursion(first.size, hidden.S.factor, hidden.S.offset).closed(top - at)

    # The index counts backwards: its step leads from layer N - 1 - l to layer N - 2 - l.
    after = given("s[j+1]", dim=WIDTH, norm=Norm.TWO, size=size(top - index), error=AFTER)

    def signal(delta: sp.Expr) -> Approximated:
        slope = given("r'[j]", dim=K, norm=Norm.INF, size=b_r1, error=delta)
        backward = recursion_from(after, backward_layer(slope, after, j, weights=rho), index=index)
        return iterate(first, label("s", layer), backward, top - layer, size=size(layer))

    delta = hidden.delta(LinearRecursion(sp.Integer(0), hidden.p.factor, hidden.p.offset).closed(top - 2 - index))
    by_layer = signal(member_error("r'[j]", top - 1 - index)).derivation.steps[-1]
    return by_members(signal(delta), by_layer, derive_derivative())


@cache
def derive_block(layer: sp.Expr = j, depth: sp.Expr = N) -> Approximated:
    """A(layer) for 1 <= layer < N; a symbolic layer is at least 2 here, where the input x does not enter."""
    size = P_0 if layer == 1 else P_hat
    return block(derive_signal(layer, depth), before_layer(layer), layer, size=size)


@cache
def derive_blocks(depth: sp.Expr = N) -> Approximated:
    """(A(1), ..., A(N)), whose norm is that of the gradient of one example."""
    before, size = before_layer(depth, may_be_first=True), at_first_layer(depth, P_0, P_hat)
    last = block(derive_last_signal(depth), before, depth, size=size)
    if depth == 1:
        return last
    first, family = derive_block(sp.Integer(1), depth), derive_block(j, depth)
    return stack(first, family, j, last, count=depth, name="blocks")


@cache
def derive(depth: Any = N) -> Approximated:
    """The whole chain, ending in the new weights w; `depth` may be a symbol or a number of layers.

    Raises DerivationError for a depth that is not a whole number of at least 1.
    """
    depth = sp.sympify(depth)
    if depth.is_positive is not True or depth.is_integer is not True:
        raise DerivationError(f"derive: depth = {depth} is not a whole number of layers; give at least 1, or a symbol")
    return update(derive_blocks(depth), depth)


def largest_of_loss_gradient(output: Approximated, depth: sp.Expr) -> Approximated:
    """g in the sup norm, as Lemma 4 states it."""
    return loss_gradient(change_norm(output, Norm.INF, f"{label('p', depth)}.max"), "g.max")


def largest_of_signal(signal: Approximated) -> Approximated:
    """s(j), j < N, in the sup norm, as Lemma 6 states it: V^T s may gather in one coordinate."""
    return change_norm(signal, Norm.INF, f"{signal.name}.max")


def largest_of_last_signal(derivative: Approximated, output: Approximated, depth: sp.Expr) -> Approximated:
    """s(N) in the sup norm: coordinate by coordinate, from g in the sup norm."""
    g = largest_of_loss_gradient(output, depth)
    return times_derivative(derivative, g, f"{label('s', depth)}.max", d_y)


@cache
def derive_layer(value: str, layer: sp.Expr, depth: sp.Expr, *, last: bool) -> Approximated:
    """p, r', s, or s.max (in the sup norm) of one layer, closed; `last` where this is layer `depth`."""
    if value == "p":
        return derive_output(depth) if last else derive_hidden(layer)
    if value == "r'":
        return derive_derivative(layer, d_y if last else K)
    if value == "s":
        return derive_last_signal(depth) if last else derive_signal(layer, depth)
    if last:
        return largest_of_last_signal(derive_derivative(depth, d_y), derive_output(depth), depth)
    return largest_of_signal(derive_signal(layer, depth))


SCORES = r"\max_{j, k} |v_{jk}^\top \bar{p}(j-1)|"


@cache
def derive_range(depth: sp.Expr = N) -> Derivation:
    """The range of the arguments: nu times the norm of the layer's input, the largest of the layers."""
    largest = ARGUMENTS.largest_implicitly(depth - 1).xreplace(SUPREMUM)
    return Derivation((Step("range_r", Norm.INF, "invariant", largest, latex=SCORES, recursion=ARGUMENTS),))


# One step a layer: what a comparison measures, and where the slack of each inequality shows.
@dataclass(frozen=True)
class LayerDerivation(Derivation):
    """The steps of every single layer; the bound of a value is its closed form, which depth does not make longer."""

    closed: Callable[[str], sp.Expr | None] = lambda name: None

    def bound(self, name: str = "") -> sp.Expr:
        wanted = self.step(name).name if name else self.steps[-1].name
        closed = self.closed(wanted)
        return super().bound(wanted) if closed is None else closed


@cache
def derive_layers(depth: int) -> LayerDerivation:
    """Steps p[1..N], r'[1..N], g, s[N..1], blocks, gradient, w for a network of `depth` layers."""
    before, p, derivatives = INPUT, {0: INPUT}, {}
    for layer in range(1, depth + 1):
        weights, width = (rho_N, d_y) if layer == depth else (rho, K)
        derivatives[layer] = derivative_layer(before, sp.Integer(layer), width=width)
        before = p[layer] = forward_layer(before, sp.Integer(layer), weights=weights, width=width)
    signal = last_signal(derivatives[depth], loss_gradient(p[depth], "g"), sp.Integer(depth))
    maxima = [largest_of_last_signal(derivatives[depth], p[depth], sp.Integer(depth))]
    blocks = [block(signal, p[depth - 1], sp.Integer(depth), size=P_0 if depth == 1 else P_hat)]
    for layer in range(depth - 1, 0, -1):
        weights = rho_N if layer == depth - 1 else rho
        signal = backward_layer(derivatives[layer], signal, sp.Integer(layer), weights=weights)
        blocks.append(block(signal, p[layer - 1], sp.Integer(layer), size=P_0 if layer == 1 else P_hat))
        maxima.append(largest_of_signal(signal))
    final = update(concatenate(*reversed(blocks), name="blocks"), sp.Integer(depth))
    steps = (*(step for value in maxima for step in value.derivation.steps), *final.derivation.steps)
    return LayerDerivation(tuple(dict.fromkeys(steps)), lambda name: closed_bound(name, depth))


def closed_bound(name: str, depth: int) -> sp.Expr | None:
    """The closed form of a measured value's bound in a network of `depth` layers; None for the steps in between."""
    value, _, place = name.partition("[")
    layer, _, ending = place.partition("]")
    if value + ending in ("p", "r'", "s", "s.max") and layer.isdecimal():
        return derive_layer(value + ending, sp.Integer(layer), sp.Integer(depth), last=int(layer) == depth).error
    return closed_whole(depth).get(name)


@cache
def closed_whole(depth: int) -> dict[str, sp.Expr]:
    """The same of what is of no single layer."""
    whole = sp.Integer(depth)
    g, step = derive_loss_gradient(whole), derive(whole).derivation
    largest = largest_of_loss_gradient(derive_output(whole), whole)
    return {"g": g.error, "g.max": largest.error, "gradient": step.bound("gradient"), "w": step.bound("w")}
