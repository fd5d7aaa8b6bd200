"""The chain of wu2024 run on numbers, each layer with its own: what an instance of network scope evaluates.

The steps are those of symbolic/icgd/chain.py: every coefficient is an expression read off the rules there, evaluated
at the numbers of a layer, and the recursions are run by `LinearRecursion.run`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import sympy as sp

from symbolic.derivation import Approximated, Norm, given
from symbolic.icgd import chain
from symbolic.icgd.chain import AFTER, BEFORE, DELTA, SIZE_AFTER, label
from symbolic.icgd.symbols import (
    P_0,
    K,
    L_l,
    L_r,
    L_r1,
    P_hat,
    b_l,
    b_r,
    b_r1,
    d_x,
    d_y,
    eps_l,
    eps_r,
    eps_r1,
    j,
    nu,
    rho,
)
from symbolic.statements import UsageError


@dataclass(frozen=True)
class Layer:
    """The numbers of layer j, all of one kind (floats, or Arb balls rounded up).

    `width` rows of V_j; `rho` its spectral norm, `nu` its largest row norm; Lipschitz constants and suprema of r and
    r' on this layer's own range of arguments, and the sup errors of their sums of ReLUs there.
    """

    width: int
    rho: Any
    nu: Any
    L_r: Any
    L_r1: Any
    b_r: Any
    b_r1: Any
    eps_r: Any
    eps_r1: Any

    def values(self) -> dict[sp.Symbol, Any]:
        width = _of_kind(self.width, self.rho)
        return {
            K: width,
            d_y: width,
            rho: self.rho,
            nu: self.nu,
            L_r: self.L_r,
            L_r1: self.L_r1,
            b_r: self.b_r,
            b_r1: self.b_r1,
            eps_r: self.eps_r,
            eps_r1: self.eps_r1,
        }


def run(layers: Sequence[Layer], *, input_norm: Any, L_l: Any, b_l: Any, eps_l: Any, eta: Any = None) -> dict[str, Any]:
    """Bounds on the errors of p[j], g, s[j], gradient and, with `eta`, w (2-norms), r'[j], g.max, s[j].max (sup norms).

    `input_norm` bounds ||x||_2; `L_l`, `b_l`, `eps_l` are of u on the range of its arguments. Raises UsageError
    without a layer.
    """
    if not layers:
        raise UsageError("run: a network has at least one layer; give a Layer for each")
    of = [layer.values() for layer in layers]
    loss = {_L_l: L_l, _b_l: b_l, _eps_l: eps_l}
    p = _forward(of)
    delta = [_at(chain.recursions().derivative.bound(), {**v, BEFORE: e}) for v, e in zip(of, p, strict=False)]
    last = {**of[-1], **loss, BEFORE: p[-1], DELTA: delta[-1]}
    g = _at(_end().g.error, last)
    sizes, signals = _backward(of, delta, _at(_end().s.size, last), _at(_end().s.error, last))
    blocks = [
        _at(
            _block().error,
            {BEFORE: p[i], AFTER: signals[i], SIZE_AFTER: sizes[i], P_hat: _input_size(i, of, input_norm)},
        )
        for i in range(len(of))
    ]
    gradient = _root(sum(h * h for h in blocks)) / 2
    found = {label("p", i): e for i, e in enumerate(p) if i}
    found |= {label("r'", i + 1): e for i, e in enumerate(delta)}
    found |= {"g": g, "g.max": _at(_end().g_max.error, last)} | {label("s", i + 1): e for i, e in enumerate(signals)}
    found |= {f"{label('s', i + 1)}.max": e for i, e in enumerate([*signals[:-1], _at(_end().s_max.error, last)])}
    return found | {"gradient": gradient} | ({} if eta is None else {"w": eta * gradient})


_L_l, _b_l, _eps_l = L_l, b_l, eps_l  # the symbols, where arguments carry the same letters


def _forward(of: Sequence[Mapping[sp.Symbol, Any]]) -> list[Any]:
    """e(0) = 0, e(j) = L_r ||V_j|| e(j-1) + sqrt(width) eps_r."""
    recursion = chain.recursions().p
    zero = of[0][rho] * 0
    return recursion.run([_at(recursion.factor, v) for v in of], [_at(recursion.offset, v) for v in of], zero)


def _backward(
    of: Sequence[Mapping[sp.Symbol, Any]], delta: Sequence[Any], size: Any, error: Any
) -> tuple[list[Any], list[Any]]:
    """Sizes and errors of s(1), ..., s(N): the step to layer j uses r'(j) of that layer and the norm of V_{j+1}."""
    hidden = chain.recursions()
    steps = [{**of[i], rho: of[i + 1][rho], DELTA: delta[i]} for i in range(len(of) - 2, -1, -1)]
    sizes = hidden.S.run([_at(hidden.S.factor, v) for v in steps], [0 * size] * len(steps), size)
    offsets = [_at(hidden.s.offset, {**v, SIZE_AFTER: after}) for v, after in zip(steps, sizes, strict=False)]
    errors = hidden.s.run([_at(hidden.s.factor, v) for v in steps], offsets, error)
    return sizes[::-1], errors[::-1]


def _input_size(index: int, of: Sequence[Mapping[sp.Symbol, Any]], input_norm: Any) -> Any:
    """||pbar(j-1)||: of the input, or what the sums of ReLUs can give."""
    if index == 0:
        return input_norm
    return _at(chain.worst_case()[P_hat], of[index - 1])


@dataclass(frozen=True)
class _End:
    g: Approximated
    g_max: Approximated
    s: Approximated
    s_max: Approximated


@cache
def _end() -> _End:
    """g and s(N), from an output whose error BEFORE is that of p(N) and a derivative whose error is DELTA."""
    output = given("p[N]", dim=d_y, norm=Norm.TWO, size=sp.sqrt(d_y) * b_r, error=BEFORE)
    slope = given("r'[N]", dim=d_y, norm=Norm.INF, size=b_r1, error=DELTA)
    g = chain.loss_gradient(output, "g")
    g_max, s_max = chain.largest_of_loss_gradient(output, j), chain.largest_of_last_signal(slope, output, j)
    return _End(g, g_max, chain.last_signal(slope, g, j), s_max)


@cache
def _block() -> Approximated:
    previous = given("p[j-1]", dim=d_x, norm=Norm.TWO, size=P_0, error=BEFORE)
    signal = given("s[j]", dim=K, norm=Norm.TWO, size=SIZE_AFTER, error=AFTER)
    return chain.block(signal, previous, j, size=P_hat)


def _at(expression: sp.Expr, values: Mapping[sp.Symbol, Any]) -> Any:
    arguments, function = _compiled(expression)
    return function(*(values[symbol] for symbol in arguments))


@cache
def _compiled(expression: sp.Expr) -> tuple[tuple[sp.Symbol, ...], Any]:
    arguments = tuple(sorted(expression.free_symbols, key=str))
    return arguments, sp.lambdify(arguments, expression, modules=[{"sqrt": _root}, "math"])


def _root(number: Any) -> Any:
    """The root of a number of any kind: a ball knows its own."""
    if hasattr(number, "sqrt"):
        return number.sqrt()
    return sp.sqrt(number) if isinstance(number, sp.Basic) else math.sqrt(number)


def _of_kind(width: int, like: Any) -> Any:
    """A width as a number of the kind of `like`, so that its root is rounded as that kind rounds."""
    return type(like)(width) if hasattr(like, "sqrt") else width
