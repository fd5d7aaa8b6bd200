"""The construction that is described in letters is the one that is built: its heads, its width, its norms."""

import pytest

from benchmarks.icgd_bounds import step_at
from bridge.lowering.ball_values import evaluate_ball
from bridge.topics.icgd.counts import count
from bridge.topics.icgd.values import problem_values
from numeric.balls import float_above
from numeric.networks.families import LayerSize, layer_size
from symbolic.topics.icgd.counts import construction
from symbolic.topics.icgd.errors import NetworkSizes
from symbolic.topics.icgd.symbols import d
from tests.bridge.topics.icgd.built import emulation_of, setting_of


@pytest.mark.parametrize(("N", "K", "width"), [(1, 4, 2), (2, 4, 2), (2, 2, 3), (3, 3, 1)])
def test_heads_width_and_norms_are_those_of_the_built_network(N: int, K: int, width: int) -> None:
    instance = step_at(N=N, K=K, d=width, n=3, relus=5, activation="tanh")
    emulation = emulation_of(instance)
    described, built = construction(NetworkSizes(N, d, d)), emulation.construction(3)
    values = {**problem_values(setting_of(instance), 3), **instance.letters.numbers}

    def number(expression: object) -> float:
        return float_above(evaluate_ball(expression, values))

    def widest(layers: tuple[LayerSize, ...]) -> tuple[int, float]:
        return max(layer.heads for layer in layers), max(float(layer.norm) for layer in layers)

    sizes = tuple(map(layer_size, built.block))
    assert number(described.width) == built.stream.width
    assert number(described.heads) == max(layer.heads for layer in sizes) == count("heads", emulation, 3).found
    of = {"forward": sizes[:N], "derivative": sizes[N : N + 1], "step": sizes[2 * N + 2 : 2 * N + 3]}
    for name, layers in of.items():
        heads, norm = widest(layers)
        assert number(described.layers[name].heads) == heads, name
        assert number(described.layers[name].norm) == pytest.approx(norm, rel=1e-12), name
    assert number(described.layers["backward"].norm) == widest(sizes[N + 2 : 2 * N + 2])[1]
    loss = float(sizes[N + 1].norm)
    assert 0.2 * number(described.layers["loss_gradient"].norm) < loss <= number(described.layers["loss_gradient"].norm)
