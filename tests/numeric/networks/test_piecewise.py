"""Layers of ramps and of interpolants, beside numpy's clip and interp, in floats and in balls."""

from fractions import Fraction

import numpy as np
import torch

from numeric.balls import rational
from numeric.networks.construction import Construction, Embedding
from numeric.networks.exact import run_exact
from numeric.networks.maps import identity_map
from numeric.networks.network import Network
from numeric.networks.piecewise import Ramp, interpolating_layer, ramp_layer
from numeric.networks.stream import Block, Stream

STREAM = Stream([Block("z", 2), Block("at", 1), Block("out", 2)])
Z = np.random.default_rng(0).uniform(-3, 9, (200, 5))


def test_ramps_lead_up_and_down() -> None:
    ramps = [Ramp(0, Fraction(1), Fraction(3, 2), {"out": [2, 0]}), Ramp(1, Fraction(2), Fraction(-1, 3), {"at": [5]})]
    up, down = np.clip((Z[:, 0] - 1) / 1.5, 0, 1), np.clip((2 - Z[:, 1]) * 3, 0, 1)
    _require(lambda number: ramp_layer(STREAM, "z", ramps, number), np.stack([5 * down, 2 * up, 0 * up], -1))


def test_an_interpolant_is_0_before_and_linear_beyond() -> None:
    values = {1: {"out": [Fraction(1, 3), 2]}, 4: {"out": [-1, 0]}, 9: {"out": [5, 1]}}
    added = [np.interp(Z[:, 2], [-1, 1, 4, 9], each) for each in ([0, 1 / 3, -1, 5], [0, 2, 0, 1])]
    _require(lambda number: interpolating_layer(STREAM, "at", -1, values, number), np.stack([0 * added[0], *added], -1))


def _require(layer, added: np.ndarray) -> None:
    wanted = Z + np.concatenate([0 * Z[:, :2], added], -1)
    found = Network(_alone(layer(float)))(torch.tensor(Z)[:, None])[:, 0].numpy()
    assert abs(found - wanted).max() < 1e-13
    exact = run_exact(_alone(layer(rational)), Z[:1], 96)["output"]
    assert abs(np.array([float(ball) for ball in exact.balls]) - wanted[0]).max() < 1e-13


def _alone(layer) -> Construction:
    return Construction("layer", STREAM, Embedding(identity_map(STREAM)), (layer,), identity_map(STREAM))
