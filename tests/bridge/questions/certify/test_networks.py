"""Networks of ReLUs: what is proved of them, and that multipliers, however they are found, bound a network."""

import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

from bridge.questions.certify.certificate import CertifiedClaim, certificate_text
from bridge.questions.certify.checking import check_certificate
from bridge.questions.certify.networks import UNIT, NetworkLetters, NetworkRegion, NotANetworkError, leftover
from bridge.questions.certify.proving import Outcome, Status, prove
from bridge.questions.certify.search import smallest
from bridge.questions.certify.step_neurons import ByNeurons
from symbolic.derivations.inequalities import Inequality

ONE = Fraction(1)
INPUTS = sp.symbols("x1:5", real=True)


def layer(rng: np.random.Generator, values: list[sp.Expr], width: int) -> list[sp.Expr]:
    """ReLUs with weights in 64ths."""
    weights = rng.standard_normal((width, len(values) + 1)) * 64 / np.sqrt(len(values))
    rows = [[sp.Rational(round(w), 64) for w in row] for row in weights]
    return [sp.Max(sum((w * v for w, v in zip(row, values, strict=False)), row[-1]), 0) for row in rows]


def network(seed: int, width: int) -> sp.Expr:
    """Two layers of ReLUs on four inputs, and a weighted sum."""
    rng = np.random.default_rng(seed)
    hidden = layer(rng, layer(rng, list(INPUTS), width), width)
    return sp.Add(
        *(sp.Rational(round(c * 16), 64) * h for c, h in zip(rng.standard_normal(width), hidden, strict=True))
    )


def above(f: sp.Expr, most: sp.Rational) -> Inequality:
    return Inequality("most", most - f, {x: (sp.Integer(-1), sp.Integer(1)) for x in INPUTS})


def steps_of(outcome: Outcome) -> list[ByNeurons]:
    return [node.step for node in outcome.nodes if hasattr(node, "step")]


@pytest.mark.parametrize("width", [5, pytest.param(8, marks=pytest.mark.long)])
def test_bounds_close_to_the_maximum_are_decided(width: int, tmp_path: Path) -> None:
    f = network(3, width)
    found = -smallest(-f, above(f, sp.Integer(0)), samples=1 << 12)
    margin = sp.Rational(round(abs(found) * 1000), 100_000)
    most = sp.Rational(round(found * 2**20), 2**20)
    proved = prove(above(f, most + margin), seconds=np.inf, most_boxes=100)
    assert proved.status is Status.PROVED
    (step,) = steps_of(proved)
    assert len(step.neurons) == 2 * width
    assert len(step.tree) < 100  # by a neuron's gap alone: 500
    file = tmp_path / "c.json"
    file.write_text(certificate_text([CertifiedClaim(proved)]))
    assert check_certificate(str(file)).claims[0].confirmed
    assert prove(above(f, most - margin), seconds=np.inf, most_boxes=100).status is Status.REFUTED


def test_no_multipliers_give_more_than_the_least_value_at_points() -> None:
    rng, count = random.Random(5), 0
    points = np.random.default_rng(5).integers(-8, 9, (4, 400)) / 8
    condition = INPUTS[0] - sp.Max(INPUTS[1], 0) / 2
    for seed in range(15):
        f = network(seed, 3) + sp.Abs(INPUTS[0] - INPUTS[1]) - sp.Min(INPUTS[2], INPUTS[3], sp.Rational(1, 3))
        letters = NetworkLetters(INPUTS)
        row, given, neurons = letters.combination(f), letters.combination(condition), letters.neurons
        phases = {k: rng.choice((1, -1)) for k in rng.sample(range(len(neurons)), 3)}
        region = NetworkRegion.of(((-ONE, ONE),) * 4, neurons, phases)
        if region is None:
            continue
        drawn = [(k, Fraction(rng.randrange(-4, 9), 4), Fraction(rng.randrange(3), 4)) for k in range(len(neurons) + 1)]
        shown = [entry for entry in drawn if leftover(row, neurons, [given], region, (entry,)) is not None]
        bound = leftover(row, neurons, [given], region, tuple(shown))
        assert bound is not None
        inside = sp.lambdify(INPUTS, condition)(*points) >= 0
        values = [*points]
        for k, z in enumerate(neurons):
            at = sum(float(a) * (1 if i == UNIT else values[i]) for i, a in z.items())
            inside &= phases.get(k, 0) * at >= 0
            values.append(np.maximum(at, 0))
        count += inside.sum()
        assert (sp.lambdify(INPUTS, f)(*points)[inside] >= float(bound) - 1e-9).all()
    assert count > 200


H = sp.Max(INPUTS[0], 0)


@pytest.mark.parametrize(
    ("f", "phase", "multiplier", "bound"),
    [
        (H - INPUTS[0], 0, (1, 0), 0),
        (INPUTS[0] - H, 0, (-1, 0), None),  # -1 at x = -1
        (INPUTS[0] - H, -1, (-1, 0), None),
        (INPUTS[0] - H, 1, (-1, 0), 0),
        (2 * (INPUTS[0] + 1) - 3 * H, 0, (0, 1), 0),  # the chord over [-1, 2]
        (2 * (INPUTS[0] + 1) - 3 * H, 0, (0, -1), None),
        (2 * (INPUTS[0] + 1) - 3 * H, 1, (0, 1), None),
        (-H, 0, (0, 0), -2),
        (-H, -1, (0, 0), 0),
        (sp.Max(-INPUTS[0], 0) - H + INPUTS[0], 0, (0, 0), 0),
    ],
)
def test_one_neuron_is_bounded_by_its_triangle(f: sp.Expr, phase: int, multiplier: tuple[int, int], bound: int) -> None:
    """h = max(x, 0) for x in [-1, 2]: h - x >= 0, equal where it is on, and 2 (x + 1) - 3 h >= 0."""
    letters = NetworkLetters(INPUTS[:1], [{0: ONE}], fixed=True)
    region = NetworkRegion.of(((-ONE, 2 * ONE),), letters.neurons, {0: phase})
    assert region is not None
    entry = (0, *map(Fraction, multiplier))
    assert leftover(letters.combination(f), letters.neurons, [], region, (entry,)) == bound


def test_what_is_no_network_is_none() -> None:
    x = INPUTS[0]
    for f in (x**2, x * sp.Max(x, 0), sp.exp(x), sp.sqrt(2) * x):
        with pytest.raises(NotANetworkError, match="neither affine nor a kink"):
            NetworkLetters(INPUTS).combination(f)


def test_a_network_with_more_neurons_than_fit_the_time_says_so() -> None:
    f = network(1, 10)
    outcome = Outcome(above(f, sp.Integer(9)), Status.UNDECIDED, reason="the time limit of 1 s was reached")
    assert "it is a network of 20 neurons; 16 take about a second" in str(outcome)
    assert "smaller ranges, on which fewer change" in str(outcome)
    few = Outcome(above(network(1, 2), sp.Integer(9)), Status.UNDECIDED)
    assert "neurons" not in str(few)
