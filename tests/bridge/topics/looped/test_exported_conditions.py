"""Bounds in a letter that stands for any number with a condition: at the least such number, against the network.

Parameters at their ends, and scores so large that truncation shows: errors are above any rounding.
"""

import itertools
from collections.abc import Mapping
from typing import Any

import pytest
import sympy as sp
import torch
from torch import Tensor

from bridge.topics.looped.autoregression import layers as drawn_layers
from numeric.networks.network import Network
from numeric.topics.looped import autoregression as series
from numeric.topics.looped import decoder
from numeric.topics.looped.positions import digits, gap_of_signs
from symbolic.latex.conditions import conditions_of
from symbolic.latex.page import Page
from symbolic.statements.catalogue import find_result
from symbolic.statements.result import Result
from symbolic.topics.looped import autoregression as of_series
from symbolic.topics.looped import decoder as of_decoder

Values = Mapping[sp.Symbol, Any]
DOUBLE = torch.float64


def least(result: Result, quantity: str, letter: sp.Symbol, at: Values) -> float | None:
    """The least number that meets the open condition on the letter under which the bound stands; None if none does."""
    found = result.quantity(quantity)
    conditions = [each.condition for each in found.derivation.obligations if each.open]
    (condition,) = {each for each in conditions if letter in (each.lts, each.gts)}
    other = condition.lts if condition.gts == letter else condition.gts
    value, side = 0.0, sp.lambdify(letter, other.xreplace(dict(found.worst_case)).subs(at), "math")
    for _ in range(500):
        before, value = value, float(side(value))
        if value > 1e3:
            return None
        if value <= before * (1 + 1e-15):
            return value * (1 + 1e-12)
    return None


def signs_and_random(*shape: int, seed: int = 0) -> list[Tensor]:
    """Corners of the box and points in it."""
    generator = torch.Generator().manual_seed(seed)
    random = 2 * torch.rand(6, *shape, generator=generator, dtype=DOUBLE) - 1
    return [torch.ones(*shape, dtype=DOUBLE), *torch.sign(random), *random]


# Decoder.

DECODED = list(itertools.product((2, 5), (1, 3), (1, 4), (0.02, 0.2), (4.0, 12.0)))  # N, d, T, c, C


def decoded(N: int, d: int, T: int, c: float, C: float) -> tuple[float, float, Values]:
    """The largest errors of weights and predictions over some prompts, with these letters."""
    network = Network(decoder.transformer(decoder.DecoderSetting(d, 1.0, c, C), N, T))
    weights, predictions = [0.0], [0.0]
    for x, y in zip(signs_and_random(N, d), signs_and_random(N, seed=1), strict=True):
        inputs = x / torch.linalg.vector_norm(x, dim=1, keepdim=True).clamp(min=1)
        found = network.run(decoder.tokens(inputs, y)[None], [f"w[{T}]", "y_hat"])
        w, p = (decoder.at_features(found[name][0]) for name in (f"w[{T}]", "y_hat"))
        exact = decoder.path(inputs, y, 1.0, T)[-1]
        weights.append(float(torch.linalg.vector_norm(w - exact, dim=1).max()))
        predictions.append(float((p[:, 0] - (exact * inputs).sum(1)).abs().max()))
    at = {of_decoder.N: N, of_decoder.T: T, of_decoder.eta: 1, of_decoder.B_x: 1, of_decoder.B_y: 1}
    return max(weights), max(predictions), {**at, of_decoder.c: c, of_decoder.C: C}


def test_the_least_bound_on_residuals_and_predictions_is_enough() -> None:
    held = 0
    result = of_decoder.DECODER
    for case in DECODED:
        weights, predictions, at = decoded(*case)
        S = least(result, "w", of_decoder.S, at)
        if S is None:
            continue
        at = {**at, of_decoder.S: S}
        V = least(result, "y_hat", of_decoder.V, at)
        assert V is not None
        assert weights <= float(result.quantity("w").derived().subs(at)), case
        assert predictions <= float(result.quantity("y_hat").derived().subs({**at, of_decoder.V: V})), case
        held += 1
    assert held >= len(DECODED) / 2


# Series.

FITTED = list(itertools.product((2, 5), (1, 2), (0, 2), (1, 4), (0.02, 0.2), (6.0, 12.0)))  # N, d, L, T, c, C


def fitted(N: int, d: int, L: int, T: int, c: float, C: float) -> tuple[float, float, Values]:
    """The largest errors of states and predictions over some series, with these letters."""
    q, signs, eta = 1, digits(N + 3).double(), 2 / d
    matrices, beta = drawn_layers(q, d, L, 0), 60.0
    at = series.SeriesSetting(signs, N, q, beta, 1.0, eta, c, C, d, tuple(matrices))
    network = Network(series.transformer(at, T))
    states, predictions = [0.0], [0.0]
    for x in signs_and_random(N + 1, d):
        whole = torch.cat([x, 0 * x[:1]])
        found = network.run(series.tokens(whole, N, signs)[None], ["state", "x_hat"])
        exact = series.path(series.represented(series.lagged(whole, q), matrices), whole, N, eta, T)[-1]
        residuals = found["state"][0][1 : N + 1] - (exact[1 : N + 1] - x[1:])
        states.append(float(torch.linalg.vector_norm(residuals, dim=0).max()))
        predictions.append(float((found["x_hat"][0][N + 1] - exact[N + 1]).abs().max()))
    values: dict[sp.Symbol, Any] = {of_series.N: N, of_series.q: q, of_series.d: d, of_series.T: T, of_series.eta: eta}
    values |= {of_series.B: 1, of_series.eps: float(gap_of_signs(signs)), of_series.beta: beta}
    return max(states), max(predictions), {**values, of_series.c: c, of_series.C: C}


def test_the_least_bound_on_predictions_of_a_series_is_enough() -> None:
    held, result = 0, of_series.AUTOREGRESSION
    for case in FITTED:
        states, predictions, at = fitted(*case)
        at = {**at, of_series.delta: float(of_series.OF_NETWORK[of_series.delta].subs(at))}
        largest = least(result, "state", of_series.X_hat, at)
        if largest is None:
            continue
        at = {**at, of_series.X_hat: largest}
        assert states <= float(result.quantity("state").derived().subs(at)), case
        assert predictions <= float(result.quantity("x_hat").derived().subs(at)), case
        held += 1
    assert held >= len(FITTED) / 2


@pytest.mark.parametrize(
    ("id", "needed"),
    [
        ("looped.decoder", {"w": 1, "y_hat": 2, "gradient.printed": 0}),
        ("looped.autoregression", {"copy": 0, "state": 1, "x_hat": 1}),
        ("looped.newton", {"m": 1, "labels": 0, "y_hat": 1}),
        ("looped.chain_of_thought", {"next": 1, "steps": 0, "filter": 0}),
    ],
)
def test_each_bound_stands_with_the_conditions_that_it_needs(id: str, needed: dict[str, int]) -> None:
    result = find_result(id)
    labels = conditions_of(result, result.quantities, Page(result.notation)).needed
    assert {name: len(labels.get(name, ())) for name in needed} == needed
