"""What each rule concludes beside its error: size, dimension, norm, radius, and what its step stands on.

The expected entries are worked out by hand from the statement of the rule, in letters, so that a size that a later
rule would multiply an error with is not taken on trust.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass

import pytest
import sympy as sp

from symbolic import calculus
from symbolic.calculus import (
    Approximated,
    Event,
    LinearRecursion,
    Norm,
    accumulate,
    add,
    append,
    apply_function,
    apply_to_pairs,
    as_tokens,
    attend,
    bilinear,
    bounded_iterates,
    centre,
    change_norm,
    concatenate,
    concentrate,
    contract,
    converge,
    correct,
    cover,
    cross_entropy,
    cut_softmax,
    descend,
    evolve,
    exclude,
    expected_mean,
    girsanov,
    given,
    gradient_descent,
    hard_max,
    heads_as_linear,
    heads_as_matrix,
    line_at_zero,
    linear_map,
    log_softmax,
    mean,
    perturbed_function,
    perturbed_map,
    pool,
    pooled_sum,
    project,
    proximal_gradient,
    recur,
    repeat,
    rms_normalise,
    rotate,
    sample_mean,
    soft_threshold,
    softmax,
    softmax_as_linear,
    softmax_to_hard_max,
    taylor,
    token,
    union_bound,
    within_budget,
)
from symbolic.calculus.cases import either
from symbolic.calculus.families import stack
from symbolic.calculus.layers import iterate, recursion_from

n, m, T = sp.symbols("n m T", integer=True, positive=True)
X, Y, rho, a, b, c, p, S = sp.symbols("X Y rho a b c p S", positive=True)
ey, t, u = sp.symbols("ey t u", nonnegative=True)
ex = sp.Dummy("ex", nonnegative=True)
HALF, ONE, TWO = sp.Rational(1, 2), sp.Integer(1), sp.Integer(2)
INDEX = sp.Symbol("l", integer=True, nonnegative=True)


def vector(name: str = "x", norm: Norm = Norm.INF, *, size: sp.Expr = X, error: sp.Expr = ex, **more) -> Approximated:
    return given(name, dim=n, norm=norm, size=size, error=error, **more)


def number(name: str = "x", error: sp.Expr = ex) -> Approximated:
    return given(name, dim=1, size=X, error=error)


def weights(name: str = "w") -> Approximated:
    return given(name, dim=n, norm=Norm.ONE, size=1, error=ey, probabilities=True)


CENTRED = vector(radius=rho)
LAYER = vector("l", size=sp.Symbol("any", nonnegative=True))


@dataclass(frozen=True)
class Says:
    """The expected conclusion; by default the entries of `vector()`."""

    error: sp.Expr
    size: sp.Expr = X
    dim: sp.Expr = n
    norm: Norm = Norm.INF
    radius: sp.Expr | None = None
    premises: tuple[str, ...] = ("x",)
    probabilities: bool = False
    affine: bool = False
    sharp: bool = True


two, one = Norm.TWO, Norm.ONE
PATHS = c + (1 - sp.exp(-2 * a / m)) / 2 * m * (ex**2 + p) + t
CONCLUSIONS: dict[str, tuple[Callable[[], Approximated], Says]] = {
    "given": (lambda: CENTRED, Says(ex, radius=rho, premises=())),
    "sample_mean": (
        lambda: sample_mean(CENTRED, "y", count=m, event=Event("E", "draws", a)),
        Says(ex + rho * sp.sqrt(2 * sp.log(2 * n / a) / m), radius=rho, sharp=False),
    ),
    "sample_mean, of noise": (
        lambda: sample_mean(vector(), "y", count=m, event=Event("E", "draws", a), sub_gaussian=b),
        Says(ex + b * sp.sqrt(2 * sp.log(2 * n / a) / m), sharp=False),
    ),
    "union_bound": (lambda: union_bound(CENTRED, "y", members=m), Says(ex, radius=rho)),
    "union_bound, weights": (
        lambda: union_bound(weights(), "y", members=m),
        Says(ey, size=ONE, norm=one, premises=("w",), probabilities=True),
    ),
    "cover": (
        lambda: cover(vector(norm=two), "y", members=m, radius=a, lipschitz=b, exact_lipschitz=c),
        Says(ex + (b + c) * a, size=X + c * a, norm=two),
    ),
    "cover, a mean": (
        lambda: cover(vector(), "y", members=m, radius=a, lipschitz=b),
        Says(ex + 2 * a * b, size=X + a * b),
    ),
    "within_budget": (
        lambda: within_budget(sample_mean(CENTRED, "mean", count=m, event=Event("E", "draws")), "y", delta=a),
        Says(ex + rho * sp.sqrt(2 * sp.log(2 * n / a) / m), radius=rho, premises=("mean",)),
    ),
    "expected_mean": (
        lambda: expected_mean(vector(norm=two), "y", count=m, over="draws"),
        Says(ex + X / sp.sqrt(m), norm=two),
    ),
    "expected_mean, largest": (
        lambda: expected_mean(CENTRED, "y", count=m, over="draws", members=T),
        Says(ex + rho * sp.Min(sp.sqrt(n * T), sp.sqrt(2 * sp.log(2 * n * T))) / sp.sqrt(m), radius=rho),
    ),
    "expected_mean, variance": (
        lambda: expected_mean(vector(), "y", count=m, over="draws", deviation=b),
        Says(ex + b * sp.sqrt(n) / sp.sqrt(m)),
    ),
    "girsanov": (
        lambda: girsanov(
            vector(norm=two), "y", start_time=a + b, end_time=b, steps=m, start=c, beyond=p, discretisation=t
        ),
        Says(
            sp.Min(sp.sqrt(PATHS / 2), sp.sqrt(1 - sp.exp(-PATHS))),
            size=ONE,
            dim=ONE,
        ),
    ),
    "given, exact": (lambda: given("x", dim=n, size=X), Says(sp.Integer(0), premises=())),
    "apply_function": (
        lambda: apply_function(vector(), "y", eps=a, lipschitz=b, size=Y, radius=c),
        Says(a + b * ex, size=Y),
    ),
    "apply_function, 1-norm": (
        lambda: apply_function(vector(norm=one), "y", eps=a, lipschitz=b, size=Y),
        Says(a * n + b * ex, size=Y, norm=one),
    ),
    "taylor": (
        lambda: taylor(vector(norm=two), "y", suprema={2: b}, derivatives={1: a}, eps=c, size=Y, radius=p),
        Says(c * sp.sqrt(n) + a * ex + b * ex**2 / 2, size=Y, norm=two),
    ),
    "taylor, the least": (
        lambda: taylor(vector(), "y", suprema={1: a, 3: b, 4: c}, derivatives={1: p, 2: S}, size=Y),
        Says(sp.Min(a * ex, p * ex + S * ex**2 / 2 + b * ex**3 / 6), size=Y),
    ),
    "taylor, suprema alone": (
        lambda: taylor(vector(), "y", suprema={1: 2, 2: 0}, derivatives={1: 1}, size=Y),
        Says(ex, size=Y),
    ),
    "line_at_zero": (
        lambda: line_at_zero(vector(norm=two), "y", value=a, slope=-b, order=3, supremum=c),
        Says(b * ex + c * (X + ex) ** 3 / 6, size=a * sp.sqrt(n) + b * X, norm=two),
    ),
    "linear_map": (
        lambda: linear_map(CENTRED, "y", operator_norm=a, bias=b, dim=m, target=two),
        Says(a * ex, size=a * X + b, dim=m, norm=two, radius=a * rho),
    ),
    "linear_map, own radius": (
        lambda: linear_map(CENTRED, "y", operator_norm=a, dim=m, radius=c),
        Says(a * ex, size=a * X, dim=m, radius=c),
    ),
    "linear_map, no radius": (
        lambda: linear_map(vector(), "y", operator_norm=a, dim=m),
        Says(a * ex, size=a * X, dim=m),
    ),
    "bilinear": (
        lambda: bilinear(vector(), vector("y", two, size=Y, error=ey), "xy", constant=a, norm=one, dim=m),
        Says(a * (Y * ex + X * ey + ex * ey), size=a * X * Y, dim=m, norm=one, premises=("x", "y")),
    ),
    "bilinear, as it is": (
        lambda: bilinear(vector(), vector("y", size=Y, error=ey), "xy", approximate_size=b),
        Says(Y * ex + b * ey, size=X * Y, premises=("x", "y")),
    ),
    "add": (
        lambda: add(vector(), vector("y", size=Y, error=ey), name="s"),
        Says(ex + ey, size=X + Y, premises=("x", "y")),
    ),
    "add, weighted": (
        lambda: add(vector(), vector("y", size=Y, error=ey), name="s", coefficients=(-2, 3)),
        Says(2 * ex + 3 * ey, size=2 * X + 3 * Y, premises=("x", "y")),
    ),
    "mean": (lambda: mean(CENTRED, "m"), Says(ex, radius=rho)),
    "centre": (
        lambda: centre(CENTRED, "y", count=m),
        Says(2 * (1 - 1 / m) * ex, size=2 * (1 - 1 / m) * rho, radius=rho),
    ),
    "centre, no radius": (
        lambda: centre(vector(norm=two), "y", count=4),
        Says(ex * sp.Rational(3, 2), size=X * sp.Rational(3, 2), norm=two, radius=X),
    ),
    "append": (
        lambda: append(CENTRED, vector("y", size=2 * X, error=3 * ex, radius=rho), "xy"),
        Says(3 * ex, size=2 * X, premises=("x", "y")),
    ),
    "append, zeros behind centred tokens": (
        lambda: append(centre(CENTRED, "c", count=2), vector("y", size=sp.Integer(0), error=ex / 2), "cy"),
        Says(ex, size=rho, radius=rho, premises=("c", "y")),
    ),
    "append, zeros before centred tokens": (
        lambda: append(vector("y", size=sp.Integer(0), error=2 * ex), centre(CENTRED, "c", count=2), "yc"),
        Says(2 * ex, size=rho, radius=rho, premises=("y", "c")),
    ),
    "append, zeros behind other tokens": (
        lambda: append(CENTRED, vector("y", size=sp.Integer(0), error=ex / 2), "xy"),
        Says(ex, premises=("x", "y")),
    ),
    "append, another token behind centred ones": (
        lambda: append(centre(CENTRED, "c", count=2), vector("y", size=2 * rho, error=ex / 2), "cy"),
        Says(ex, size=2 * rho, premises=("c", "y")),
    ),
    "token": (lambda: token(CENTRED, "y", place=-1, count=m), Says(ex, radius=rho)),
    "token of weights": (
        lambda: token(weights(), "y", place=1, count=3),
        Says(ey, size=ONE, norm=one, premises=("w",), probabilities=True),
    ),
    "as_tokens": (
        lambda: as_tokens(vector(), given("y", dim=n, size=2 * X, error=3 * ex), name="xy"),
        Says(3 * ex, size=2 * X, premises=("x", "y")),
    ),
    "concatenate": (
        lambda: concatenate(vector(), given("y", dim=m, size=2 * X, error=3 * ex), name="xy"),
        Says(3 * ex, size=2 * X, dim=n + m, premises=("x", "y")),
    ),
    "concatenate, 1-norm": (
        lambda: concatenate(vector(norm=one), given("y", dim=m, norm=one, size=Y, error=ey), name="xy"),
        Says(ex + ey, size=X + Y, dim=n + m, norm=one, premises=("x", "y")),
    ),
    "concatenate, 2-norm": (
        lambda: concatenate(vector(norm=two), given("y", dim=m, norm=two, size=Y, error=ey), name="xy"),
        Says(sp.sqrt(ex**2 + ey**2), size=sp.sqrt(X**2 + Y**2), dim=n + m, norm=two, premises=("x", "y")),
    ),
    "change_norm, sup to 1": (
        lambda: change_norm(vector(), one, "y"),
        Says(n * ex, size=n * X, norm=one),
    ),
    "change_norm, sup to 2": (
        lambda: change_norm(vector(), two, "y"),
        Says(sp.sqrt(n) * ex, size=sp.sqrt(n) * X, norm=two),
    ),
    "change_norm, 2 to 1": (
        lambda: change_norm(vector(norm=two), one, "y"),
        Says(sp.sqrt(n) * ex, size=sp.sqrt(n) * X, norm=one),
    ),
    "change_norm, downwards": (lambda: change_norm(vector(norm=one), two, "y"), Says(ex, norm=two)),
    "project": (lambda: project(vector(norm=two), "y", size=Y), Says(ex, size=Y, norm=two)),
    "project onto a box": (lambda: project(vector(), "y", size=Y, box=True), Says(ex, size=Y)),
    "soft_threshold": (
        lambda: soft_threshold(vector(norm=one), "y", threshold_error=a),
        Says(ex + a * n, norm=one),
    ),
    "soft_threshold, known": (lambda: soft_threshold(vector(norm=two), "y"), Says(ex, norm=two)),
    "rms_normalise": (
        lambda: rms_normalise(vector(norm=two), "y", least=a, exact_least=b),
        Says(ex * sp.sqrt(n) / a, size=sp.sqrt(n), norm=two),
    ),
    "rms_normalise, shifted": (
        lambda: rms_normalise(vector(norm=two), "y", shift=c),
        Says(ex / sp.sqrt(c), size=sp.sqrt(n), norm=two),
    ),
    "rms_normalise, away from 0 and shifted": (
        lambda: rms_normalise(vector(norm=two), "y", shift=c, least=a, exact_least=b),
        Says(ex / sp.sqrt(a**2 / n + c), size=sp.sqrt(n), norm=two),
    ),
    "rms_normalise, centred": (
        lambda: rms_normalise(vector(norm=two), "y", shift=c, least=a, exact_least=b, centred=True),
        Says(ex / sp.sqrt(a**2 / n + c), size=sp.sqrt(n), norm=two),
    ),
    **{
        f"rotate, {norm}": (
            lambda norm=norm: rotate(vector(norm=norm), "y", angles="t"),
            Says(times * ex, size=times * X, norm=norm),
        )
        for norm, times in ((Norm.INF, sp.sqrt(2)), (two, 1), (one, sp.sqrt(2)))
    },
    **{
        f"log_softmax, {norm}": (
            lambda norm=norm: log_softmax(vector(norm=norm), "y"),
            Says(times * ex, size=times * X + sp.log(n - 1 + sp.exp(-times * X))),
        )
        for norm, times in ((Norm.INF, 2), (two, sp.sqrt(2)), (one, 1))
    },
    **{
        f"cross_entropy, {norm}": (
            lambda norm=norm: cross_entropy(vector(norm=norm), "y", others=a),
            Says(
                sp.log(1 + a * (sp.exp(times * ex) - 1)), size=times * X + sp.log(n - 1 + sp.exp(-times * X)), dim=ONE
            ),
        )
        for norm, times in ((Norm.INF, 2), (two, sp.sqrt(2)), (one, 1))
    },
    "cross_entropy, of one class": (
        lambda: cross_entropy(given("x", dim=1, size=sp.log(2 + sp.exp(-16)), error=ex), "y"),
        Says(2 * ex, size=sp.Integer(0), dim=ONE),
    ),
    "cross_entropy, of any label": (
        lambda: cross_entropy(vector(), "y", label="y"),
        Says(2 * ex, size=2 * X + sp.log(n - 1 + sp.exp(-2 * X)), dim=ONE),
    ),
    "softmax": (
        lambda: softmax(vector(), "q"),
        Says(2 * sp.tanh(ex / 2), size=ONE, norm=one, probabilities=True),
    ),
    **{
        f"softmax, {source} to {target}": (
            lambda s=source, t=target: softmax(vector(norm=s), "q", target=t),
            Says(times * sp.tanh(moved), size=ONE, norm=target, probabilities=True),
        )
        for source, moved in ((Norm.INF, ex / 2), (two, sp.sqrt(2) * ex / 4), (one, ex / 4))
        for target, times in ((Norm.INF, 1), (two, sp.sqrt(2)), (one, 2))
    },
    **{
        f"softmax, affine, {source} to {target}": (
            lambda s=source, t=target: softmax(vector(norm=s), "q", target=t, affine=True),
            Says(times * moved, size=ONE, norm=target, probabilities=True, sharp=False),
        )
        for source, moved in ((Norm.INF, ex / 2), (two, sp.sqrt(2) * ex / 4), (one, ex / 4))
        for target, times in ((Norm.INF, 1), (two, sp.sqrt(2)), (one, 2))
    },
    **{
        f"cut_softmax, {source}, {affine}": (
            lambda s=source, affine=affine: cut_softmax(vector(norm=s), "q", lost=u, affine=affine),
            Says(2 * u + 2 * (moved if affine else sp.tanh(moved)), ONE, norm=one, probabilities=True, sharp=False),
        )
        for source, moved in ((Norm.INF, ex / 2), (two, sp.sqrt(2) * ex / 4), (one, ex / 4))
        for affine in (False, True)
    },
    **{
        f"change_norm of weights, 1 to {target}": (
            lambda t=target: change_norm(weights(), t, "y"),
            Says(factor * ey, size=ONE, norm=target, premises=("w",), probabilities=True),
        )
        for target, factor in ((Norm.INF, HALF), (two, sp.sqrt(2) / 2), (one, 1))
    },
    **{
        f"softmax_as_linear, {source}": (
            lambda s=source: softmax_as_linear(vector(norm=s), "q"),
            Says(
                2 * r**2 / (3 * sp.sqrt(3)) + 2 * sp.tanh(moved),
                size=sp.Max(r, HALF) + 1 / (4 * sp.Max(r, HALF)),
                norm=one,
                affine=True,
            ),
        )
        for source, r, moved in ((two, sp.sqrt(2) * X / 2, sp.sqrt(2) * ex / 4), (one, X / 2, ex / 4))
    },
    **{
        f"softmax_to_hard_max, {source}": (
            lambda s=source: softmax_to_hard_max(vector(norm=s), "q", margin=a, inverse_temperature=b),
            Says(2 * (n - 1) / (n - 1 + sp.exp(b * (a - apart))), size=ONE, norm=one, probabilities=True),
        )
        for source, apart in ((two, sp.sqrt(2) * ex), (one, ex))
    },
    "softmax_as_linear": (
        lambda: softmax_as_linear(vector(), "q"),
        Says(
            2 * X**2 / (3 * sp.sqrt(3)) + 2 * sp.tanh(ex / 2),
            size=sp.Max(X, HALF) + 1 / (4 * sp.Max(X, HALF)),
            norm=one,
            affine=True,
        ),
    ),
    "softmax_as_linear, half range": (
        lambda: softmax_as_linear(vector(), "q", half_range=HALF),
        Says(1 / (6 * sp.sqrt(3)) + 2 * sp.tanh(ex / 2), size=ONE, norm=one, affine=True),
    ),
    "heads_as_linear": (
        lambda: heads_as_linear(vector(), "q", sink=a, second="opposite"),
        Says(
            ex
            + sp.Max(
                (X + ex) ** 3 * (9 + sp.cosh(X + ex)) / 60,
                n * sp.exp(-a) * sp.sinh(2 * (X + ex)),
            )
        ),
    ),
    "heads_as_linear, one head": (
        lambda: heads_as_linear(vector(), "q", sink=a, second="none"),
        Says(
            ex + sp.Max((X + ex) ** 2 * (2 + sp.exp(X + ex)) / 6, n * sp.exp(-a) * sp.exp(X + ex)),
            size=1 + X,
        ),
    ),
    "heads_as_matrix": (
        lambda: heads_as_matrix(vector(norm=two), "q", sink=a, reach=b, keys=m, widest=c),
        Says(
            ex + (X + ex) * b * (2 + sp.exp(b)) / 6 + sp.sqrt(n) * 2 * sp.exp(c) * sp.sinh(c) * m * sp.exp(-a),
            norm=two,
        ),
    ),
    "heads_as_matrix, opposite, no other keys": (
        lambda: heads_as_matrix(vector(norm=two), "q", sink=a, reach=b, keys=m, second="opposite"),
        Says(
            ex + (X + ex) * b**2 * (9 + sp.cosh(b)) / 60 + sp.sqrt(n) * sp.sinh(2 * b) * m * sp.exp(-a),
            norm=two,
        ),
    ),
    "heads_as_matrix, one head": (
        lambda: heads_as_matrix(vector(norm=two), "q", sink=a, reach=b, keys=m, second="none"),
        Says(
            ex + (X + ex) * b * (2 + sp.exp(b)) / 6 + sp.sqrt(n) * sp.exp(2 * b) * m * sp.exp(-a),
            size=X + sp.sqrt(n),
            norm=two,
        ),
    ),
    "concentrate": (
        lambda: concentrate("q", count=n, gap=a),
        Says(2 * (n - 1) / (n - 1 + sp.exp(a)), size=ONE, norm=one, premises=(), probabilities=True),
    ),
    "softmax_to_hard_max": (
        lambda: softmax_to_hard_max(vector(), "q", margin=a, inverse_temperature=b),
        Says(2 * (n - 1) / (n - 1 + sp.exp(b * (a - 2 * ex))), size=ONE, norm=one, probabilities=True),
    ),
    "hard_max": (
        lambda: hard_max(vector(), "q", margin=a),
        Says(sp.Integer(0), size=ONE, norm=one, probabilities=True),
    ),
    "attend": (
        lambda: attend(weights(), CENTRED, "out"),
        Says(ex + rho * ey, radius=rho, premises=("w", "x")),
    ),
    "attend, affine": (
        lambda: attend(given("w", dim=n, norm=one, size=S, error=ey, affine=True), CENTRED, "out"),
        Says(ex + rho * ey, size=S * X, radius=S * rho, premises=("w", "x")),
    ),
    "attend, no radius": (
        lambda: attend(weights(), given("x", dim=m, norm=two, size=X, error=ex), "out"),
        Says(ex + X * ey, dim=m, norm=two, radius=X, premises=("w", "x")),
    ),
    "exclude": (
        lambda: exclude(vector(norm=two), "out", count=m, lead=a, diameter=b),
        Says(ex + b / (1 + m * sp.exp(a)), norm=two),
    ),
    "recur": (
        lambda: recur(vector(norm=two), "y", factor=2, offset=a, depth=3, size=Y),
        Says(8 * ex + 7 * a, size=Y, norm=two),
    ),
    "accumulate": (
        lambda: accumulate(
            vector(norm=two), "y", factor=1 + HALF ** (2**INDEX), offset=a, index=INDEX, depth=2, size=Y
        ),
        Says(ex * sp.Rational(15, 8) + a * 5 / 4 + a, size=Y, norm=two),
    ),
    "accumulate, with a quadratic term": (
        lambda: accumulate(vector(), "y", factor=2, offset=a, quadratic=b, ceiling=c, depth=2, size=Y),
        Says((4 * ex + 3 * a) * (1 + b * c) ** 2, size=Y, sharp=False),
    ),
    "accumulate, without a ceiling given": (
        lambda: accumulate(vector(), "y", factor=1, offset=a, quadratic=b, depth=2, size=Y),
        Says((ex + 2 * a) * (1 + 2 * b * (ex + 2 * a)) ** 2, size=Y, sharp=False),
    ),
    "contract": (
        lambda: contract(vector(norm=two), "y", factor=HALF, offset=a, size=Y, depth=2),
        Says(ex / 4 + a * 3 / 2, size=Y, norm=two),
    ),
    "contract, in the limit": (
        lambda: contract(vector(), "y", factor=HALF, offset=a, size=Y),
        Says(2 * a, size=Y),
    ),
    "evolve": (
        lambda: evolve(vector(norm=two), "y", rate=-2, offset=a, time=b, size=Y),
        Says(ex * sp.exp(-2 * b) + a * (1 - sp.exp(-2 * b)) / 2, size=Y, norm=two),
    ),
    "evolve, at rate 0": (
        lambda: evolve(vector(), "y", rate=0, offset=a, time=b, size=Y),
        Says(ex + a * b, size=Y),
    ),
    "converge": (
        lambda: converge(
            vector(norm=two, error=sp.Rational(1, 5)), "y", quadratic=HALF, offset=HALF / 4, size=Y, depth=2
        ),
        Says(HALF / 2, size=Y, norm=two, sharp=False),
    ),
    "converge, without offset": (
        lambda: converge(vector(error=ONE), "y", quadratic=HALF, offset=0, size=Y, depth=2),
        Says(sp.Rational(1, 8), size=Y),
    ),
    "converge, in the limit": (
        lambda: converge(vector(error=HALF), "y", quadratic=HALF, offset=sp.Rational(3, 8), size=Y),
        Says(HALF, size=Y),
    ),
    "descend": (
        lambda: descend(number(), "g", decrease=a, offset=b, steps=m),
        Says(ex / (a * m) + b / a, size=sp.Integer(0), dim=ONE),
    ),
    "descend, without offset": (
        lambda: descend(number(), "g", decrease=a, steps=m),
        Says(ex / (a * m), size=sp.Integer(0), dim=ONE),
    ),
    "gradient_descent": (
        lambda: gradient_descent(number(), "g", step=a, smoothness=b, accuracy=c, steps=m),
        Says(2 * ex / (a * m) + c**2, size=sp.Integer(0), dim=ONE),
    ),
    "gradient_descent, exact": (
        lambda: gradient_descent(number(), "g", step=HALF, smoothness=HALF, steps=m),
        Says(ex * 16 / (7 * m), size=sp.Integer(0), dim=ONE),
    ),
    "bounded_iterates": (
        lambda: bounded_iterates(
            vector(norm=one), "y", start=Y, penalty=b, lipschitz=a, radius=t, step=1 / c, smoothness=2 * c, steps=m
        ),
        Says(ex + (Y + (m - 1) * a * ex) / b, size=sp.Integer(0), norm=one),
    ),
    "proximal_gradient": (
        lambda: proximal_gradient(
            vector(norm=two, size=Y),
            "g",
            update=vector("e", one, error=ey),
            iterates=vector("w", one, error=c),
            lipschitz=a + b * t,
            radius=t,
            step=HALF,
            smoothness=TWO,
            steps=m,
        ),
        Says(
            ex**2 / m + ey * (2 * (m - 1) * (c + Y) / m + (m + 1) * (a + b * c) / 2),
            size=sp.Integer(0),
            dim=ONE,
            premises=("x", "e", "w"),
        ),
    ),
    "perturbed_map": (
        lambda: perturbed_map(vector(), "y", operator_norm=a, perturbation=b, dim=m, target=two),
        Says((a + b) * ex + b * X, size=a * X, dim=m, norm=two),
    ),
    "perturbed_map, both bounded": (
        lambda: perturbed_map(vector(), "y", operator_norm=a, perturbation=b, perturbed_norm=c, dim=m),
        Says(c * ex + b * X, size=a * X, dim=m),
    ),
    "perturbed_map, pooled": (
        lambda: perturbed_map(vector(), "y", operator_norm=a, perturbation=b, perturbed_norm=c, dim=m, pooled=True),
        Says(sp.sqrt((c * ex) ** 2 + (b * X) ** 2), size=a * X, dim=m),
    ),
    "perturbed_function": (
        lambda: perturbed_function(vector(), "y", lipschitz=a, eps=b, size=Y, dim=m, target=one),
        Says(b + a * ex, size=Y, dim=m, norm=one),
    ),
    "perturbed_function, as it is": (
        lambda: perturbed_function(vector(norm=two), "y", lipschitz=a, size=Y),
        Says(a * ex, size=Y, norm=two),
    ),
    "apply_to_pairs": (
        lambda: apply_to_pairs(
            vector(), vector("y", two, size=Y, error=ey), "s", count=m, slopes=(a, b), size=c, eps=p, radius=X + Y
        ),
        Says(p + a * ex + b * ey, size=c, dim=m, premises=("x", "y")),
    ),
    "apply_to_pairs, of random weights": (
        lambda: apply_to_pairs(
            vector(),
            vector("y", size=Y, error=ey),
            "s",
            count=m,
            slopes=(a, b),
            size=c,
            eps=p,
            deviation=given("z", dim=1, size=0, error=X),
        ),
        Says(p + X + a * ex + b * ey, size=c, dim=m, premises=("x", "y", "z")),
    ),
    "apply_to_pairs, exactly": (
        lambda: apply_to_pairs(vector(), vector("y", size=Y, error=ey), "s", count=m, slopes=(a, 0), size=c),
        Says(a * ex, size=c, dim=m, premises=("x", "y")),
    ),
    "pooled_sum": (
        lambda: pooled_sum(vector(), vector("y", size=Y, error=ey), name="s"),
        Says(sp.sqrt(ex**2 + ey**2), size=X + Y, premises=("x", "y")),
    ),
    "pool": (
        lambda: pool(vector(error=a * t + b * u, radius=rho), "y", groups=(t, u), total=c),
        Says(c * sp.sqrt(a**2 + b**2), radius=rho),
    ),
    "correct": (lambda: correct(CENTRED, "y", sigma=a), Says(sp.Integer(0), radius=rho)),
    "iterate": (
        lambda: iterate(vector(norm=two), "y", LinearRecursion(ONE, TWO, a), 3, size=Y),
        Says(8 * ex + 7 * a, size=Y, norm=two),
    ),
    "iterate a layer": (
        lambda: iterate(
            vector(),
            "y",
            recursion_from(LAYER, apply_function(LAYER, "f", eps=a, lipschitz=2, size=1)),
            2,
            size=Y,
        ),
        Says(4 * ex + 3 * a, size=Y),
    ),
    "iterate pooled layers": (
        lambda: iterate(vector(norm=two), "y", LinearRecursion(ONE, TWO, a, pooled=True), 3, size=Y),
        Says(sp.sqrt(8 * ex**2 + 7 * a), size=Y, norm=two),
    ),
    "repeat": (
        lambda: repeat(vector(), "y", lambda z: apply_function(z, "f", eps=a, lipschitz=2, size=X), 2),
        Says(4 * ex + 3 * a),
    ),
    "either": (
        lambda: either(vector(), sp.Lt(T, 3), vector("y", size=Y, error=ey), name="z"),
        Says(sp.Piecewise((ex, T < 3), (ey, True)), size=sp.Piecewise((X, T < 3), (Y, True)), premises=("x", "y")),
    ),
}


@pytest.mark.parametrize("name", CONCLUSIONS)
def test_a_rule_concludes_what_it_states(name: str) -> None:
    rule, says = CONCLUSIONS[name]
    value = rule()
    step = value.derivation.steps[-1]
    assert sp.simplify(value.error - says.error) == 0
    assert sp.simplify(value.size - says.size) == 0
    assert (value.name, value.norm) == (step.name, says.norm)
    assert (value.probabilities, value.affine) == (says.probabilities, says.affine)
    assert (value.dim, value.radius) == (says.dim, says.radius)
    assert (step.norm, step.premises, step.sharp) == (says.norm, says.premises, says.sharp)


@pytest.mark.parametrize("name", CONCLUSIONS)
def test_a_step_stands_on_earlier_ones_and_on_all_that_its_bound_names(name: str) -> None:
    steps = CONCLUSIONS[name][0]().derivation.steps
    for place, step in enumerate(steps):
        earlier = {each.name: each.error for each in steps[:place]}
        assert set(step.premises) <= set(earlier)
        named = step.local.free_symbols & set(earlier.values())
        assert named <= {earlier[premise] for premise in step.premises}


def test_every_rule_states_its_conclusion_here() -> None:
    rules = {name for name in calculus.__all__ if _concludes(getattr(calculus, name))}
    stated = {name.partition(",")[0].partition(" ")[0] for name in CONCLUSIONS}
    assert rules - stated == {"confine", "stack"}  # which concludes nothing new, and which is below


def _concludes(rule: object) -> bool:
    return inspect.isfunction(rule) and inspect.signature(rule).return_annotation is Approximated


def test_an_iteration_has_the_dimension_of_its_last_layer() -> None:
    before = given("l", dim=sp.Symbol("w", integer=True, positive=True), size=LAYER.size, error=ex)
    layer = recursion_from(before, linear_map(before, "wide", operator_norm=2, dim=m))
    dims = [iterate(vector(), "y", layer, depth, size=Y).dim for depth in (0, 1, 3)]
    assert dims == [n, m, m]
    by_depth = iterate(vector(), "y", layer, T - 1, size=Y).dim
    assert [by_depth.subs(T, depth + 1) for depth in (0, 1, 3)] == [n, m, m]


# --- a stack of layers -----------------------------------------------------------------------------------------------


def family(count: sp.Expr) -> Approximated:
    j = sp.Symbol("j", integer=True, positive=True)
    first = given("first", dim=3, norm=two, size=2, error=3)
    member = given("member", dim=j + 1, norm=two, size=j, error=10 * j)
    last = given("last", dim=4, norm=two, size=5, error=7)
    return stack(first, member, j, last, count=count, name="all")


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_a_stack_has_the_norm_of_all_its_parts(count: int) -> None:
    errors = [3, *(10 * j for j in range(2, count)), 7][-count:]
    sizes = [2, *range(2, count), 5][-count:]
    dimensions = [3, *(j + 1 for j in range(2, count)), 4][-count:]
    value = family(sp.Integer(count))
    assert value.error.doit() == sp.sqrt(sum(error**2 for error in errors))
    assert value.size.doit() == sp.sqrt(sum(size**2 for size in sizes))
    assert (value.dim, value.norm) == (sum(dimensions), two)
    assert value.derivation.steps[-1].premises == ("first", "member", "last")


def test_a_family_may_have_a_wider_member() -> None:
    j = sp.Symbol("j", integer=True, positive=True)
    end = given("end", dim=1, norm=two, size=1)
    for wide, dimensions in ((2, 7 + 1), (3, 1 + 7), (9, 1 + 1)):
        dim = sp.Piecewise((7, sp.Eq(j, wide)), (1, True))
        member = given("member", dim=dim, norm=two, size=1)
        assert stack(end, member, j, end, count=4, name="all").dim == 1 + dimensions + 1


def test_a_stack_of_a_symbolic_number_of_layers_is_the_same() -> None:
    for count in (1, 2, 3, 5):
        assert family(T).error.subs(T, count).doit() == family(sp.Integer(count)).error.doit()
        assert family(T).dim.subs(T, count) == family(sp.Integer(count)).dim
