"""The derived and the instance bound on the margin of a decoder of Appendix C: each layer's conditions, by balls."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np
import sympy as sp

from bridge.lowering.ball_values import evaluate_ball
from bridge.topics.tools.inversion import Condition, LargestPerturbation, largest_perturbation
from numeric.networks.norms import spectral_norm_upper
from numeric.topics.machines.simulation import SimulatingDecoder
from symbolic.topics.machines import perturbed_attention as attention
from symbolic.topics.machines import perturbed_layers as layers
from symbolic.topics.machines import turing_margin as theory


def w_pos_for(T: int, *, two_way: bool) -> int:
    """Bits for the largest position: T + 1, or 2 T + 1 behind T blank cells."""
    return (T + 1 + (T if two_way else 0)).bit_length()


@cache
def derived_margin(Z: int, A: int, w_pos: int, terminal: int) -> LargestPerturbation:
    """For every machine of Z states (the start state included) and A symbols, and every input, of w_pos bits."""
    known = {theory.Z: Z, theory.A: A, theory.w: w_pos, theory.terminal: terminal}
    conditions = [
        condition
        for kind in theory.KINDS
        for condition in _conditions(kind.name, kind.conditions, _at(kind.values, known))
    ]
    return largest_perturbation([*conditions, _classifier(_at(theory.CLASSIFIER_VALUES, known))], layers.rho)


# At this input every exact activation is known: its ones are counted, layer by layer; so are the norms of each W_1.
def margin_at_input(simulating: SimulatingDecoder, streams: Mapping[str, np.ndarray]) -> LargestPerturbation:
    """At one input. `streams` has the exact streams behind each layer, `layer[0]` the first one's input: (steps, w)."""
    decoder, w_pos = simulating.decoder, simulating.w_pos
    states, symbols = decoder.stream.size("st"), decoder.stream.size("sym1")
    known = {theory.Z: states, theory.A: symbols, theory.w: w_pos}
    conditions: list[Condition] = []
    for index, layer in enumerate(decoder.layers, start=1):
        kind = theory.kind_of(layer.name)
        ones = _most_ones(streams[f"layer[{index - 1}]"])
        written = sp.expand(kind.attended - kind.ones)  # ones that the attention adds
        values = {
            **_at(kind.values, known),
            **_at(_of_this_search(layer.name, kind, w_pos), known),
            layers.size: sp.sqrt(ones),
            attention.attended: sp.sqrt(ones + written),
            layers.norm_1: first_norm(kind.name, layer.feedforward[0].dense()[0], sp.sqrt(kind.norm.subs(known))),
        }
        conditions += _conditions(layer.name, kind.conditions, values)
    last = _most_ones(streams[f"layer[{len(decoder.layers)}]"])
    final = {
        layers.size: sp.sqrt(last),
        layers.sigma_zeta: layers.ROUNDING_RADIUS,
        attention.classifier_norm: sp.sqrt(round(float(decoder.classifier @ decoder.classifier))),
    }
    return largest_perturbation([*conditions, _classifier(final)], layers.rho)


def _of_this_search(name: str, kind: theory.LayerKind, w_pos: int) -> dict[sp.Symbol, sp.Expr]:
    """search[j] compares w_pos + j signs, of which 2 w_pos is the most."""
    if not name.startswith("search["):
        return {}
    signs = sp.Integer(w_pos + int(name[len("search[") : -1]))
    return {
        attention.query_size: sp.sqrt(signs + 1),
        attention.key_size: sp.sqrt(signs),
        attention.null_size: signs - 1,
    }


# ||W_1|| from above: the closed form for every machine, or sqrt(largest row sum times largest column sum) (Schur) where
# that is less: exact for whole numbers, and all but sharp where a row holds one or two entries. The machine's table is
# no such matrix: there the singular value itself.
def first_norm(name: str, W: np.ndarray, closed: sp.Expr) -> Any:
    rows, columns = (int(np.abs(W).sum(axis).max()) for axis in (1, 0))
    bounds: list[Any] = [closed, sp.sqrt(rows * columns)]
    if name == "transition":
        bounds.append(spectral_norm_upper(W))
    return min(bounds, key=float)


def _most_ones(stream: np.ndarray) -> sp.Integer:
    """The largest number of ones of a stream of bits, over the steps."""
    return sp.Integer(int(np.rint(stream).sum(axis=-1).max(initial=0)))


def _conditions(
    name: str, conditions: Mapping[str, tuple[sp.Expr, sp.Expr]], values: Mapping[sp.Symbol, Any]
) -> Iterable[Condition]:
    for what, (bound, limit) in conditions.items():
        gap = limit == 1  # a gap has to survive strictly; a raw output may reach the radius of the rounding
        yield Condition(what.partition(" of ")[0] + f" of {name}", bound, values, limit, strict=gap)


def _classifier(values: Mapping[sp.Symbol, Any]) -> Condition:
    return Condition("the classifier", attention.classified().error, values, sp.Integer(1), strict=True)


def _at(values: Mapping[sp.Symbol, sp.Expr], known: Mapping[sp.Symbol, int]) -> dict[sp.Symbol, Any]:
    return {symbol: evaluate_ball(sp.sympify(value), known) for symbol, value in values.items()}
