"""Scores learnt in context: the network's own run, the bounds of what it draws, and what is refused."""

from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import torch

from bridge.instances.instance import Instance
from bridge.questions.compare import Comparison, compare
from bridge.theorems.record import Row, Verdict
from bridge.topics.icgd.diffusion import DIFFUSION
from bridge.topics.icgd.scores import ScoreLearner, scale_of
from bridge.topics.icgd.smoothness import accuracy_here
from numeric.tools.mixtures import Mixture
from numeric.topics.icgd.network import IcgdNetwork
from symbolic.calculus.activations import activation
from symbolic.latex.printing import result_latex
from symbolic.words.errors import UsageError

SMALL = {"L": 12, "K": 6, "n": 40, "M": 40, "relus": 64}
PROMPT = "L steps of the network against the targets of the prompt"


@cache
def compared(**params: Any) -> Comparison:
    return compare("icgd.diffusion", **params)


def row(record: Comparison, name: str) -> Row:
    return next(each for each in record.rows if each.quantity == name)


def explained(record: Comparison) -> float:
    (table,) = record.tables
    return float(next(each[2] for each in table.rows if each[0] == PROMPT))  # type: ignore[arg-type]


def known(**params: Any) -> dict[str, Any]:
    defaults = {each.name: each.default for each in DIFFUSION.statement.parameters}
    return dict(Instance.of(DIFFUSION, {**defaults, **SMALL, **params}).known)


# ---- what it shows


@pytest.mark.long
def test_at_the_defaults_a_score_is_learnt_and_its_samples_are_near() -> None:
    """One dimension, 200 examples, 2,000 steps."""
    record = compared()
    assert explained(record) >= 0.95
    variation = row(record, "total_variation")
    assert variation.derived is not None
    assert variation.measured is not None
    assert 0 < variation.measured <= variation.derived <= 0.19
    assert variation.verdict["derived"] is Verdict.PROVED
    path = row(record, "path")
    assert path.measured is not None
    assert 0 < path.measured <= 1
    assert {each.quantity for each in record.rows if Verdict.VIOLATED in each.verdict.values()} == set()


@pytest.mark.long
def test_more_steps_draw_nearer_samples() -> None:
    record = compared(L=10_000, B_v=3.0, eta=1.0, M=2000)
    variation = row(record, "total_variation")
    assert variation.derived is not None
    assert variation.measured is not None
    assert variation.measured <= variation.derived <= 0.11
    assert explained(record) >= 0.98


@pytest.mark.long
def test_a_score_in_the_plane_is_learnt() -> None:
    record = compared(d=2, K=32, L=5000)
    assert explained(record) >= 0.96
    variation = row(record, "total_variation")
    assert variation.derived is not None
    assert variation.derived < 0.5
    assert "by draws, with probability" in variation.remark
    assert row(record, "information").verdict["derived"] is Verdict.PROVED


def test_rows_of_the_score_hold_in_three_dimensions_and_with_denoising_targets() -> None:
    record = compared(d=3, targets="denoising", weights="1/3, 2/3", **SMALL)
    proved = ("score", "score.lipschitz", "score.size", "information", "information.least", "losses", "path")
    assert all(row(record, name).verdict["derived"] is Verdict.PROVED for name in proved)
    steepest = row(record, "score.lipschitz")
    assert steepest.derived is not None
    assert steepest.measured is not None
    assert steepest.measured >= 0.99 * steepest.derived
    assert row(record, "losses.equivalent").verdict["printed"] is Verdict.PROVED


@pytest.mark.parametrize("d", [1, 3])
def test_the_losses_at_draws_differ_by_what_the_information_says(d: int) -> None:
    losses = row(compared(d=d, **SMALL), "losses")
    at_draws = float(losses.remark.split(" at 65536 draws")[0].split()[-1])
    assert losses.measured is not None
    assert at_draws == pytest.approx(losses.measured, rel=0.1)


def test_the_first_step_is_held_against_the_error_of_one_step() -> None:
    at = known(L=1, relus=512)
    learner: ScoreLearner = at["learner"]
    off = float(torch.linalg.vector_norm(learner.path[0] - learner.descent[0]))
    allowed = learner.setting.eta * float(accuracy_here(learner.setting, learner.emulation))
    assert off > 0
    measured = row(compared(**{**SMALL, "L": 1, "relus": 512}), "path").measured
    assert measured == pytest.approx(off / allowed, rel=1e-9)


# ---- the learner, by hand


def test_the_learnt_score_is_what_the_network_predicts_at_a_query() -> None:
    at = known()
    learner: ScoreLearner = at["learner"]
    x, y = learner.prompt
    network = IcgdNetwork(replace(learner.emulation.construction(len(x)), steps=learner.L + 1))
    for point, time in ((0.3, 0.5), (-1.2, 1.9), (40.0, 0.7)):
        query = torch.tensor([[point]], dtype=torch.float64)
        found = network.run(learner.start[None], x[None], y[None], learner.features(query, time), taps=("p[3]",))
        expected = learner.scale * found["p[3]"][0, -1]
        torch.testing.assert_close(learner.learnt.at(query, time)[0], expected, rtol=1e-9, atol=1e-9)
    assert float(learner.features(torch.tensor([[1e9]], dtype=torch.float64), 2.0).norm()) <= 1


def test_the_network_follows_gradient_descent_written_out() -> None:
    learner: ScoreLearner = known(B_v=0.9, eta=3.0, relus=4096)["learner"]
    (x, y), shape = learner.prompt, learner.setting.shape
    w, box = learner.start.clone(), torch.as_tensor(shape.box(0.9))
    for done in range(learner.L):
        w = w.detach().requires_grad_()
        V = shape.matrices(w)
        outputs = torch.tanh(torch.tanh(torch.tanh(x @ V[0].T) @ V[1].T) @ V[2].T)
        (gradient,) = torch.autograd.grad(((outputs - y) ** 2).sum() / (2 * len(x)), w)
        w = torch.minimum(torch.maximum(w - 3.0 * gradient, -box), box)
        torch.testing.assert_close(learner.descent[done], w.detach(), rtol=1e-10, atol=1e-12)
        torch.testing.assert_close(learner.path[done], w.detach(), rtol=0, atol=1e-4)
    assert bool((learner.path.abs() <= box).all())


def test_the_learnt_score_is_near_a_function_that_bends_as_little_as_stated() -> None:
    learner: ScoreLearner = known(L=40, K=16, relus=64)["learner"]
    learnt, radius = learner.learnt, learner.radius
    x = torch.linspace(-radius, radius, 4001, dtype=torch.float64)[:, None]
    for time in (0.2, 1.1, 2.0):
        smooth = learner.predicted(learner.path[-1], torch.tanh, x, time)
        found = learnt.at(x, time)
        assert float((found - smooth).abs().max()) <= learnt.off
        h = float(x[1] - x[0])
        assert float((smooth[2:] - 2 * smooth[1:-1] + smooth[:-2]).abs().max()) / h**2 <= learnt.bend
        assert float(found.abs().max()) <= learnt.largest
        beyond = learnt.at(torch.tensor([[1e6], [-1e6]], dtype=torch.float64), time)
        torch.testing.assert_close(beyond, found[[-1, 0]], rtol=0, atol=1e-12)
    assert 0 < learnt.off < 0.2
    slope, bend, off = 1 / learner.unit, 0.0, 0.0  # of tanh: sup|r'| = 1, sup|r''| = 4/sqrt(27)
    for V in learner.setting.shape.matrices(learner.path[-1]):
        norm = float(torch.linalg.matrix_norm(V, 2))
        slope, bend = norm * slope, 4 / 27**0.5 * (norm * slope) ** 2 + norm * bend
        off = len(V) ** 0.5 * float(learner.emulation.r.error) + norm * off
    assert learner.scale * bend <= learnt.bend <= 1.002 * learner.scale * bend
    assert learner.scale * off <= learnt.off <= 1.002 * learner.scale * off


@pytest.mark.parametrize("targets", ["scores", "denoising"])
def test_targets_are_scores_or_those_given_the_clean_point(targets: str) -> None:
    at = known(targets=targets, d=2)
    learner, mixture, draws = at["learner"], at["mixture"], at["draws"]
    assert isinstance(mixture, Mixture)
    t = 0.2 + 1.8 * draws[:, 1]
    torch.testing.assert_close(learner.t, t)
    scores = mixture.at(t).score(learner.x)
    a = torch.exp(-t)[:, None]
    clean = (learner.x - torch.sqrt(1 - a * a) * draws[:, 4:]) / a
    given = -(learner.x - a * clean) / (1 - a * a)
    torch.testing.assert_close(learner.y, scores if targets == "scores" else given)
    assert float((learner.y.abs() / learner.scale).max()) == pytest.approx(0.9)


def test_a_small_scale_is_within_the_bound_on_the_targets() -> None:
    learner: ScoreLearner = known(weights="1", n=1, activation="gelu", scale=0.01)["learner"]
    _, y = learner.prompt
    assert float(torch.linalg.vector_norm(y)) > 10
    assert learner.setting.B_y >= float(torch.linalg.vector_norm(y))
    assert learner.emulation.mask_bound >= learner.setting.B_y
    assert known()["learner"].setting.B_y == 1


@pytest.mark.parametrize(("name", "largest"), [("sigmoid", 0.9), ("softplus", 1.0)])
def test_targets_above_0_fit_an_activation_above_0(name: str, largest: float) -> None:
    y = torch.tensor([[0.5], [3.0]], dtype=torch.float64)
    assert 3 / scale_of(y, activation(name), 0.0) == pytest.approx(largest)


# ---- what holds with probability


@pytest.mark.parametrize("d", [1, 2])
def test_the_bound_by_draws_says_that_it_holds_with_probability(d: int) -> None:
    record = compared(d=d, **SMALL)
    found = row(record, "total_variation")
    assert found.quantifier == ("for all inputs" if d == 1 else "with probability")
    assert found.verdict == {"derived": Verdict.PROVED if d == 1 else Verdict.KEPT}
    assert ("(enclosed)" in found.remark) == (d == 1)
    assert ("with a probability of at least 1 - 1/1000000" in found.meaning) == (d == 2)
    assert ("with a probability of at least 1 - 1/1000000" in str(record)) == (d == 2)
    assert {each.quantifier for each in record.rows if each is not found} == {"for all inputs"}
    at_point = Instance.of(
        DIFFUSION, {**{each.name: each.default for each in DIFFUSION.statement.parameters}, "d": d}
    ).point
    chance = at_point.stated.quantity("total_variation").chance
    assert chance == (
        "for all inputs"
        if d == 1
        else "with probability at least 999999/1000000 over the points at which the error of the score is measured"
    )


def test_the_bound_of_the_samples_is_derived_by_rules_and_its_proof_is_exported() -> None:
    quantity = DIFFUSION.statement.quantity("total_variation")
    assert quantity.origin == "derived by rules"
    assert str(quantity.derived()) == "Min(sqrt(1 - exp(-E_0 - E_h - E_s)), sqrt(E_0/2 + E_h/2 + E_s/2))"
    assert not [owed for owed in quantity.derivation.obligations if owed.open]
    text = result_latex(replace(DIFFUSION.statement, quantities=(quantity,), formulas=(), remarks=()))
    assert "By Girsanov's theorem, the probability of any event, with the samples of the score of (1)" in text
    assert "independent Gaussian vector" in text
    assert "$e_l$" not in text  # of another quantity; here e is Euler's number


# ---- refusals

SETTINGS = {"L": 2, "n": 8, "K": 4, "M": 2, "relus": 32}
REFUSED = [
    (
        {"weights": "1/2, 1/3"},
        r"icgd\.diffusion: weights = '1/2, 1/3', which add up to 5/6; give numbers above 0 that add",
    ),
    ({"weights": "3/2, -1/2"}, r"weights = '3/2, -1/2', which add up to 1; give numbers above 0"),
    ({"weights": "1/0"}, r"weights = '1/0'; give numbers above 0 that add up to 1: 1/2, 3/10, 1/5"),
    ({"weights": "half"}, r"weights = 'half'; give numbers above 0"),
    ({"targets": "noise"}, r"icgd\.diffusion: targets = 'noise'; give scores or denoising"),
    ({"s": 0.0}, r"the covariance of a component has to be positive"),
    ({"s": 1.5}, "bounds over t >= T_0 are those at T_0"),
    ({"T_0": 0.0}, "at the time 0 of the data scores may be infinite"),
    ({"T_0": -0.1}, "at the time 0 of the data scores may be infinite"),
    ({"T": 0.1}, "sampling goes back from T to T_0"),
    (
        {"activation": "relu"},
        r"activation 'relu' has 0 continuous derivatives; Theorem 1 asks for 4\. Lemma 19 has ReLU",
    ),
    (
        {"activation": "sigmoid"},
        r"the scores reach from -\d.*'sigmoid' lie in \(0, 1\): no scale brings them there; take tanh",
    ),
    ({"scale": 0.5}, r"icgd\.diffusion: scale = 0\.5: the scores reach from .* of 'tanh'; give more than \d.*, or 0"),
    ({"n": 2}, r"icgd\.diffusion: n = 2 examples of 3 components; give one for each"),
]


@pytest.mark.parametrize(("given", "words"), REFUSED, ids=[str(given) for given, _ in REFUSED])
def test_each_bad_input_is_refused_with_what_to_do(given: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        compare("icgd.diffusion", **{**SETTINGS, **given})
