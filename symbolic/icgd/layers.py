"""The chain of wu2024 run on numbers, each layer with its own: what an instance of network scope evaluates.

The steps are those of symbolic/icgd/chain.py: every coefficient is an expression read off the rules there, evaluated
at the numbers of a layer, and the recursions are run by `LinearRecursion.run_at`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import sympy as sp

from symbolic.calculus.numbers import evaluate, root
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
        letters = (rho, nu, L_r, L_r1, b_r, b_r1, eps_r, eps_r1)
        return {K: width, d_y: width, **{letter: getattr(self, letter.name) for letter in letters}}


def run(layers: Sequence[Layer], *, input_norm: Any, L_l: Any, b_l: Any, eps_l: Any, eta: Any = None) -> dict[str, Any]:
    """Bounds on the errors of p[j], g, s[j], gradient and, with `eta`, w (2-norms), r'[j], g.max, s[j].max (sup norms).

    `input_norm` bounds ||x||_2; `L_l`, `b_l`, `eps_l` are of u on the range of its arguments. Raises UsageError
    without a layer.
    """
    if not layers:
        raise UsageError("run: a network has at least one layer; give a Layer for each")
    of, hidden, end = [layer.values() for layer in layers], chain.recursions(), _end()
    p = hidden.p.run_at(of, of[0][rho] * 0)
    delta = [evaluate(hidden.derivative.bound(), {**v, BEFORE: e}) for v, e in zip(of, p, strict=False)]
    last = {**of[-1], **dict(zip(_LOSS, (L_l, b_l, eps_l), strict=True)), BEFORE: p[-1], DELTA: delta[-1]}
    # The step to layer j uses r'(j) of that layer and the norm of V_{j+1}.
    down = [{**of[i], rho: of[i + 1][rho], DELTA: delta[i]} for i in range(len(of) - 2, -1, -1)]
    sizes = hidden.S.run_at(down, evaluate(end.s.size, last))
    down = [{**v, SIZE_AFTER: after} for v, after in zip(down, sizes, strict=False)]
    signals = hidden.s.run_at(down, evaluate(end.s.error, last))[::-1]
    inputs = [input_norm, *(evaluate(chain.worst_case()[P_hat], v) for v in of[:-1])]  # ||pbar(j-1)||
    parts = zip(p, signals, sizes[::-1], inputs, strict=False)
    blocks = [evaluate(_block(), dict(zip(_PARTS, each, strict=True))) for each in parts]
    gradient = root(sum(h * h for h in blocks)) / 2
    largest = [*signals[:-1], evaluate(end.s_max.error, last)]
    found = {label("p", i): e for i, e in enumerate(p) if i} | _labelled("r'", delta)
    found |= {"g": evaluate(end.g.error, last), "g.max": evaluate(end.g_max.error, last)} | _labelled("s", signals)
    found |= {f"{name}.max": e for name, e in _labelled("s", largest).items()}
    return found | {"gradient": gradient} | ({} if eta is None else {"w": eta * gradient})


_LOSS, _PARTS = (L_l, b_l, eps_l), (BEFORE, AFTER, SIZE_AFTER, P_hat)


def _labelled(quantity: str, values: Sequence[Any]) -> dict[str, Any]:
    return {label(quantity, layer): value for layer, value in enumerate(values, start=1)}


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
def _block() -> sp.Expr:
    previous = given("p[j-1]", dim=d_x, norm=Norm.TWO, size=P_0, error=BEFORE)
    signal = given("s[j]", dim=K, norm=Norm.TWO, size=SIZE_AFTER, error=AFTER)
    return chain.block(signal, previous, j, size=P_hat).error


def _of_kind(width: int, like: Any) -> Any:
    """A width as a number of the kind of `like`, so that its root is rounded as that kind rounds."""
    return type(like)(width) if hasattr(like, "sqrt") else width
