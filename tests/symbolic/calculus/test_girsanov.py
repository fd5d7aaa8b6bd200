"""Samples of a learnt score: the rule against laws of chains on a grid, in a user's own theorem, and its refusals."""

import math
from typing import Any

import numpy as np
import pytest
import sympy as sp
import torch
from torch import Tensor

import boundsmith as bs
from symbolic.calculus import DerivationError, Event, expected_mean, girsanov, given, sample_mean
from symbolic.calculus.girsanov import largest_information, start_divergence
from symbolic.derivations.derivation import Approximated

d, M = sp.symbols("d M", integer=True, positive=True)
T, T_0, e, m_2, E_0, E_h, J, out = sp.symbols("T T_0 e m_2 E_0 E_h J out", positive=True)
TIMES: dict[str, Any] = {"start_time": 2, "end_time": sp.Rational(1, 5), "steps": 12, "beyond": 0}
POINTS = np.array([1.4, -0.3, -2.1])
MASSES = np.array([0.5, 0.3, 0.2])


def score(error: Any = e, dim: Any = 1, **more: Any) -> Approximated:
    return given("score", dim=dim, norm=2, size=1, error=error, **more)


# ---- data at three points, by the law of the chain on a grid

X = np.linspace(-10, 10, 1601)
CELL = X[1] - X[0]


def normal(x: np.ndarray, mean: Any, variance: float) -> np.ndarray:
    return np.exp(-((x - mean) ** 2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)


def density(time: float) -> np.ndarray:
    a = math.exp(-time)
    return sum(w * normal(X, a * m, 1 - a * a) for w, m in zip(MASSES, POINTS, strict=True))


def exact_score(time: float) -> np.ndarray:
    a = math.exp(-time)
    terms = [w * normal(X, a * m, 1 - a * a) for w, m in zip(MASSES, POINTS, strict=True)]
    pulls = [-(X - a * m) / (1 - a * a) for m in POINTS]
    return sum(t * p for t, p in zip(terms, pulls, strict=True)) / sum(terms)


def law_of_samples(off: Any, T: float, T_0: float, steps: int) -> np.ndarray:
    """The density of y_M, step by step, where the score is off by off(x, t)."""
    h, law = (T - T_0) / steps, normal(X, 0.0, 1.0)
    for k in range(steps):
        t = T - k * h
        centres = math.exp(h) * X + 2 * math.sinh(h) * (exact_score(t) + off(X, t))
        law = normal(X[:, None], centres, math.expm1(2 * h)) @ law * CELL
    return law


def mean_square(field: np.ndarray, time: float) -> float:
    return float((field**2 * density(time)).sum() * CELL)


OFF = {
    "none": lambda x, t: 0 * x,
    "constant": lambda x, t: 0.5 + 0 * x,
    "a wave": lambda x, t: 0.8 * np.sin(2 * x + t),
    "far out": lambda x, t: np.where(np.abs(x) > 2, -x, 0.0),
}


@pytest.mark.parametrize("of", OFF)
@pytest.mark.parametrize("steps", [4, 25])
def test_no_event_is_farther_than_the_bound(of: str, steps: int) -> None:
    times = [2 - k * 1.8 / steps for k in range(steps)]
    fields = {t: OFF[of](X, t) for t in times}
    root = math.sqrt(sum(mean_square(field, t) for t, field in fields.items()) / steps)
    largest = max(float(np.abs(field[np.abs(X) <= 2]).max()) for field in fields.values())
    beyond = max(mean_square(np.where(np.abs(X) > 2, field, 0.0), t) for t, field in fields.items())
    found = np.abs(density(0.2) - law_of_samples(OFF[of], 2.0, 0.2, steps)).sum() * CELL / 2
    more = {"start_time": 2, "end_time": 0.2, "steps": steps, "moment": float((MASSES * POINTS**2).sum())}
    known = float(girsanov(score(root), "event", beyond=0, **more).error)
    apart = float(girsanov(score(largest), "event", beyond=beyond, **more).error)
    sharper = max(mean_square(exact_score(t), t) for t in (*times, 0.2))
    least = float(girsanov(score(root), "event", beyond=0, information=sharper, **more).error)
    assert found <= least <= known <= apart + 1e-12
    assert least <= 1


def test_the_terms_are_those_of_the_paths() -> None:
    h = (T - T_0) / M
    found = girsanov(
        score(dim=d), "event", start_time=T, end_time=T_0, steps=M, beyond=0, start=E_0, discretisation=E_h
    )
    total = E_0 + E_h + (1 - sp.exp(-2 * h)) / 2 * M * e**2
    assert sp.simplify(found.error - sp.Min(sp.sqrt(total / 2), sp.sqrt(1 - sp.exp(-total)))) == 0
    further = girsanov(score(dim=d), "event", start_time=T, end_time=T_0, steps=M, start=E_0, information=J, beyond=out)
    rest = (sp.exp(2 * h) - 1) / 2 * J * (1 + (M - 1) * (1 - sp.exp(-2 * h)))
    total = E_0 + rest + (1 - sp.exp(-2 * h)) / 2 * M * (e**2 + out)
    at = {E_0: 0.01, J: 3, e: 0.2, out: 0.03, T: 2, T_0: 0.3, M: 40}
    assert float(further.error.subs(at)) == pytest.approx(math.sqrt(float(total.subs(at)) / 2))


@pytest.mark.parametrize("dim", [1, 3])
def test_one_point_attains_the_start_and_the_information(dim: int) -> None:
    """x_t ~ N(a m, (1 - a^2) I), by the closed form of the divergence of Gaussians."""
    time, squared = 0.7, 4.0
    a, v = math.exp(-time), -math.expm1(-2 * time)
    exact = (a * a * squared + dim * (v - 1 - math.log(v))) / 2
    assert float(start_divergence(sp.Float(squared), sp.Integer(dim), sp.Float(time))) == pytest.approx(exact)
    assert float(largest_information(sp.Integer(dim), sp.Float(time))) == pytest.approx(dim / v)


# Constant difference of the drifts: in continuous time the data N(0, 1) stay so, and a score off by c moves the mean of
# the samples to 2 c (1 - e^(-D)) after a duration D. KL of the samples is half its square, that of the paths D c^2.
@pytest.mark.parametrize("off", [0.05, 0.5, 3.0])
def test_a_constant_error_of_the_score_moves_a_gaussian(off: float) -> None:
    duration, steps = 0.5, 10**9
    more = {"start_time": 1.5, "end_time": 1.0, "steps": steps, "start": 0, "information": 1}
    bound = float(girsanov(score(off), "event", beyond=0, **more).error)
    shift = 2 * off * -math.expm1(-duration)
    apart = math.erf(shift / (2 * math.sqrt(2)))
    assert apart <= bound
    path = duration * off**2
    assert bound == pytest.approx(min(math.sqrt(path / 2), math.sqrt(-math.expm1(-path))), rel=1e-4)
    assert shift**2 / 2 <= path


# ---- a user's own theorem: standard normal data, and a score that a user knows up to eps


def test_a_user_bounds_the_samples_of_a_score_of_their_own() -> None:
    """The learnt score is -x + c, where c is the input; both probabilities of the event x > 0 are known."""
    eps = sp.Symbol("eps", positive=True)
    learnt = bs.rules.given("score", dim=1, norm=2, size=1, error=eps)  # the root of E|x|^2
    times = {"start_time": T, "end_time": T_0, "steps": M}
    event = bs.rules.girsanov(learnt, "event", **times, beyond=0, start=0, information=1)
    assert event.error.free_symbols == {eps, T, T_0, M}
    assert [owed.condition for owed in event.derivation.obligations] == [sp.Gt(T - T_0, 0)]

    def samples(c: Tensor, T: float, T_0: float, M: int) -> Tensor:
        grown = torch.exp((T - T_0) / M + 0 * c)  # e^h
        mean, v = 0 * c, 1 + 0 * c
        for _ in range(M):
            mean = mean / grown + (grown - 1 / grown) * c
            v = v / grown**2 + grown**2 - 1
        return (1 + torch.erf(mean / torch.sqrt(2 * v))) / 2

    theorem = bs.theorem(
        "own samples",
        event,
        parameters={eps: 0.05, T: 1.5, T_0: 0.5, M: 200},
        inputs={"c": bs.domains.Ball(1, radius=eps)},
        hypotheses=[sp.Gt(T, T_0)],
        network=samples,
        reference=lambda c: 0 * c + 0.5,
    )
    (row,) = bs.compare(theorem, samples=4).rows
    h = 1 / 200
    total = -math.expm1(-2 * h) / 2 * 200 * 0.05**2 + math.expm1(2 * h) / 2 * (1 + 199 * -math.expm1(-2 * h))
    assert row.derived == pytest.approx(math.sqrt(total / 2), rel=1e-9)
    assert set(row.verdict.values()) == {bs.Verdict.KEPT}
    assert 0.0199 <= row.measured <= row.derived
    text = theorem.latex()
    assert "By Girsanov's theorem, the probability of any event, with the samples of the score of (1)" in text
    stated, _ = text.split("For a quantity $v$ of the proof")  # true as it stands, without the proof
    assert theorem.statement.assumptions == event.derivation.assumed
    sentences = [line for line in stated.splitlines() if line.startswith("Assume that")]
    assert len(sentences) == 1 + len(event.derivation.assumed)
    assert any(r"at most $\varepsilon$ for every $x$" in each for each in sentences)


# ---- refusals

ONE = given("x", dim=1, size=1)
REFUSED: dict[str, tuple[Any, str]] = {
    "no start": (
        lambda: girsanov(score(), "p", **TIMES),
        r"girsanov: 'p' has no bound on where the sampler starts; give moment, at least E\|x_0\|\^2 of the data, or",
    ),
    "two starts": (
        lambda: girsanov(score(), "p", **TIMES, start=1, moment=1),
        r"girsanov: 'p' has both start and moment; give one of them",
    ),
    "two of discretisation": (
        lambda: girsanov(score(), "p", **TIMES, start=1, information=1, discretisation=1),
        r"girsanov: 'p' has both discretisation and information; give one of them",
    ),
    "no duration": (
        lambda: girsanov(score(), "p", start_time=1, end_time=1, steps=2, beyond=0, start=0),
        r"girsanov: the duration of 'p' is 0; give it > 0",
    ),
    "time 0": (
        lambda: girsanov(score(), "p", start_time=1, end_time=0, steps=2, beyond=0, start=0),
        r"girsanov: the end_time of 'p' is 0; give it > 0",
    ),
    "in expectation": (
        lambda: girsanov(
            expected_mean(given("x", dim=1, norm=2, size=1), "m", count=2, over="w"), "p", **TIMES, start=0
        ),
        "is not linear in those of its premises",
    ),
    "another norm": (lambda: girsanov(ONE, "p", **TIMES, start=0), "girsanov: 'x' is bounded in the"),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_does_not_follow_is_refused(why: str) -> None:
    make, words = REFUSED[why]
    with pytest.raises(DerivationError, match=words):
        make()


# An event of `sample_mean` is about one argument; votes that are independent at each of them break a bound for all.
def test_an_error_that_holds_with_probability_is_refused() -> None:
    event = Event("E", "draws", sp.Rational(1, 10))
    learnt = bs.rules.change_norm(sample_mean(ONE, "m", count=4, event=event), 2, "score")
    with pytest.raises(DerivationError, match="the error of 'score' holds with probability, at one argument"):
        girsanov(learnt, "p", **TIMES, start=0)


def test_a_caller_says_whether_the_error_holds_everywhere() -> None:
    with pytest.raises(TypeError, match="beyond"):
        girsanov(score(), "p", start_time=2, end_time=1, steps=3, start=0)  # type: ignore[call-arg]


def premises(of: Approximated, **told: Any) -> str:
    times = {"start_time": T, "end_time": T_0, "steps": M}
    return "; ".join(map(str, girsanov(of, "p", **times, **told).derivation.assumed))


def test_the_premises_are_in_words() -> None:
    found = premises(score(), beyond=out, moment=m_2, information=J)
    words = ("at time T and end at time T_0, after M steps of length h = (T - T_0)/M", "||x_0||_2^2 is at most m_2")
    words += (
        "||s_t(x_t)||_2^2 is at most J for every t >= T_0",
        "at most e for every x of a set",
        "is at most out, at",
    )
    assert [each for each in words if each not in found] == []
    other = premises(score(), beyond=0, start=E_0, discretisation=E_h)
    words = (
        "at t = T from a standard normal vector is at most E_0",
        "at most E_h over the",
        "at most e for every x, at",
    )
    assert [each for each in words if each not in other] == []
    assert "of a set" not in other
    summed = bs.rules.add(score(), given("more", dim=1, norm=2, size=1, error=e), name="both")
    assert "is within the bound of the derivation for every x, at" in premises(summed, beyond=0, start=E_0)
