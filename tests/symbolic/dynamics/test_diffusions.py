"""Scores of mixtures and Girsanov's terms, by quadrature, by differentiation and by Gaussian laws of whole paths."""

import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import sympy as sp

from symbolic.calculus.girsanov import path_divergence, total_variation
from symbolic.dynamics import diffusions as of

WEIGHTS, MEANS, S = (0.5, 0.3, 0.2), (1.4, -0.3, -2.1), 0.3


def at(time: float, **more: float) -> dict[sp.Symbol, float]:
    return {of.t: time, of.s: S, of.d: 1, **{getattr(of, name): number for name, number in more.items()}}


class Law:
    """x_t of the mixture in one dimension, by its definition; densities and derivatives in mpmath."""

    def __init__(self, time: float, weights: Any = WEIGHTS, means: Any = MEANS) -> None:
        self.a, self.weights, self.means = mp.exp(-time), weights, means
        self.v = self.a**2 * S**2 + 1 - self.a**2

    def density(self, x: Any) -> Any:
        return sum(w * mp.npdf(x, self.a * m, mp.sqrt(self.v)) for w, m in zip(self.weights, self.means, strict=True))

    def score(self, x: Any) -> Any:
        return mp.diff(self.density, x) / self.density(x)

    def mean(self, function: Any) -> Any:
        return mp.quad(lambda x: function(x) * self.density(x), mp.linspace(-8, 8, 17))

    def information(self) -> float:
        """By the trapezoid rule, which converges exponentially for functions that decay at both ends."""
        x, v = np.linspace(-9, 9, 3601), float(self.v)
        apart = [x - float(self.a) * m for m in self.means]
        terms = [
            w * np.exp(-(y**2) / (2 * v)) / math.sqrt(2 * math.pi * v) for w, y in zip(self.weights, apart, strict=True)
        ]
        slope = sum(term * y / v for term, y in zip(terms, apart, strict=True))
        return float((slope**2 / sum(terms)).sum() * (x[1] - x[0]))


@pytest.mark.parametrize("d", [1, 2])
def test_the_closed_form_is_the_gradient_of_the_log_density(d: int) -> None:
    x = sp.Matrix(sp.symbols(f"x:{d}", real=True))
    means = [sp.Matrix([sp.Rational(k - j, 2) for j in range(d)]) for k in range(3)]
    covariances = [sp.Matrix(d, d, lambda i, j, k=k: sp.Rational(k + 2 if i == j else 1, 3)) for k in range(3)]
    weights = (sp.Rational(1, 2), sp.Rational(3, 10), sp.Rational(1, 5))
    moved = [of.diffused(mean, covariance) for mean, covariance in zip(means, covariances, strict=True)]
    moved = [(mean.subs(of.t, 0.4), covariance.subs(of.t, 0.4)) for mean, covariance in moved]
    density = sum(
        w * sp.exp(-((x - m).T * c.inv() * (x - m))[0] / 2) / sp.sqrt((2 * sp.pi) ** d * c.det())
        for w, (m, c) in zip(weights, moved, strict=True)
    )
    found = of.mixture_score(weights, *zip(*moved, strict=True), x)
    for place in ([0.3, -0.7], [-1.1, 0.2]):
        here = dict(zip(x, place, strict=False))
        gradient = [sp.diff(sp.log(density), each).subs(here).evalf(30) for each in x]
        assert all(abs(a.subs(here).evalf(30) - b) < 1e-12 for a, b in zip(found, gradient, strict=True))


@pytest.mark.parametrize("time", [0.2, 1.0])
def test_the_lipschitz_constant_is_attained_by_two_components_and_exceeded_by_none(time: float) -> None:
    wide = max(MEANS) - min(MEANS)
    constant = float(of.score_lipschitz().subs(at(time, Delta=wide)))
    pair = Law(time, (0.5, 0.5), (wide / 2, -wide / 2))
    steepest = max(abs(float(mp.diff(pair.score, x))) for x in (0.0, 6.0))
    assert steepest == pytest.approx(constant, rel=1e-2)
    assert all(abs(mp.diff(Law(time).score, x)) <= constant * (1 + 1e-9) for x in np.linspace(-4, 4, 41))
    bend = float(of.score_bend().subs(at(time, Delta=wide)))
    assert all(abs(mp.diff(Law(time).score, x, 2)) <= bend for x in np.linspace(-4, 4, 41))
    size = float(of.score_size().subs(at(time, B=3.0, reach=2.1)))
    assert all(abs(Law(time).score(x)) <= size for x in np.linspace(-3, 3, 31))


@pytest.mark.parametrize("time", [0.2, 1.0])
def test_the_losses_differ_by_the_fisher_information(time: float) -> None:
    """E|f - g|^2 - E|f - s|^2 for two functions f, by quadrature over x_0 and the noise, component by component."""
    law, sigma = Law(time), mp.sqrt(1 - mp.exp(-2 * time))
    nodes, masses = np.polynomial.hermite_e.hermegauss(40)
    masses = masses / masses.sum()

    def apart(f: Any) -> float:
        total = 0.0
        for w, m in zip(WEIGHTS, MEANS, strict=True):
            for z, p in zip(nodes, masses, strict=True):
                for noise, q in zip(nodes, masses, strict=True):
                    x = float(law.a) * (m + S * z) + float(sigma) * noise
                    total += w * p * q * ((f(x) + noise / float(sigma)) ** 2 - (f(x) - exact(x)) ** 2)
        return total

    def exact(x: float) -> float:
        terms = [
            w * math.exp(-((x - float(law.a) * m) ** 2) / (2 * float(law.v)))
            for w, m in zip(WEIGHTS, MEANS, strict=True)
        ]
        return -sum(e * (x - float(law.a) * m) for e, m in zip(terms, MEANS, strict=True)) / sum(terms) / float(law.v)

    information = law.information()
    expected = float(1 / (1 - law.a**2)) - information
    assert apart(math.sin) == pytest.approx(expected, rel=1e-3)
    assert apart(lambda x: 1 - x) == pytest.approx(expected, rel=1e-3)
    mean = sum(w * m for w, m in zip(WEIGHTS, MEANS, strict=True))
    spread = sum(w * (m - mean) ** 2 for w, m in zip(WEIGHTS, MEANS, strict=True))
    assert float(of.least_information().subs(at(time, spread=spread))) <= information
    assert information <= float(of.largest_information().subs(at(time)))
    assert float(of.losses_apart().subs(at(time))) <= expected


def test_the_start_is_at_least_its_divergence_and_close_to_it() -> None:
    law, total = Law(2.0), 0.0
    for w, m in zip(WEIGHTS, MEANS, strict=True):
        for u, k in zip(WEIGHTS, MEANS, strict=True):
            m_T, k_T = float(law.a * m), float(law.a * k)
            one = float(of.overlap().subs(at(2.0, product=m * k, squares=m**2 + k**2)))
            two = mp.quad(
                lambda x, m=m_T, k=k_T: mp.npdf(x, m, mp.sqrt(law.v)) * mp.npdf(x, k, mp.sqrt(law.v)) / mp.npdf(x),
                [-9, -3, 0, 3, 9],
            )
            assert one == pytest.approx(float(two), rel=1e-9)
            total += w * u * one
    exact = float(law.mean(lambda x: mp.log(law.density(x) / mp.npdf(x))))
    assert exact <= math.log(total) <= 2.1 * exact


def test_the_discretisation_is_at_least_its_sum_of_integrals_and_at_most_its_closed_form() -> None:
    T, T_0, M = 1.0, 0.2, 8
    h, along = (T - T_0) / M, [T - k * (T - T_0) / M for k in range(M + 1)]
    known = [Law(time).information() for time in along]
    nodes, masses = np.polynomial.legendre.leggauss(3)
    exact = sum(
        mass * h / 2 * (Law(time - r).information() - math.exp(-2 * r) * before)
        for time, before in zip(along[:-1], known[:-1], strict=True)
        for mass, r in zip(masses, (nodes + 1) * h / 2, strict=True)
    )
    sizes = {of.T: T, of.T_0: T_0, of.M: M, of.s: S, of.d: 1}
    bound = float(of.discretisation_bound(*map(sp.Float, (known[0], sum(known[1:-1]), known[-1]))).subs(sizes))
    assert 0 < exact <= bound <= 2.5 * exact
    assert bound <= float(of.closed_discretisation().subs(sizes))


@pytest.mark.parametrize("first", [0.0, 0.7])
def test_the_discretisation_is_attained_where_the_information_falls_at_the_end_of_a_step(first: float) -> None:
    """I_u = e^(2u) for u < T and a smaller I_T: after the first step nothing is added."""
    T, T_0, M = 1.1, 0.2, 3
    h = (T - T_0) / M
    between = sum(math.exp(2 * (T - k * h)) for k in range(1, M))
    exact = mp.quad(lambda u: mp.exp(2 * u) - mp.exp(2 * (u - T)) * first, [T - h, T])
    bound = of.discretisation_bound(sp.Float(first), sp.Float(between), sp.exp(2 * of.T_0))
    assert float(bound.subs({of.T: T, of.T_0: T_0, of.M: M})) == pytest.approx(float(exact), rel=1e-12)
    # Standard normal data stay so: each I is 1.
    sizes = {of.T: T, of.T_0: T_0, of.M: M, of.s: 1, of.d: 1}
    ones = of.discretisation_bound(sp.S.Zero, of.M - 1, sp.S.One)
    assert float(of.closed_discretisation().subs(sizes)) == pytest.approx(float(ones.subs(sizes)), rel=1e-12)


# ---- Girsanov: one Gaussian component and an affine score, where both laws of the path are Gaussian.


@pytest.mark.parametrize("slope", [0.7, 1.0, 1.3])
def test_the_divergence_of_paths_is_the_sum_of_the_three_terms(slope: float) -> None:
    """On a grid of times inside the steps the KL of Gaussian paths grows to start + E_s + E_h, and never exceeds it."""
    T, T_0, M, inside = 1.5, 0.3, 3, 60
    h = (T - T_0) / M

    def v(time: float) -> float:
        return math.exp(-2 * time) * S**2 + 1 - math.exp(-2 * time)

    fine = [T - i * h / inside for i in range(M * inside + 1)]
    variances = np.array([[math.exp(-abs(u - w)) * v(min(u, w)) for u in fine] for w in fine])
    # y on the grid, given y_{t_k}: the frozen score -slope y/v(t_k) enters by int_0^r e^(r - 2q) dq.
    count = len(fine)
    precision = np.zeros((count, count))
    step = h / inside
    for k in range(M):
        pull = -slope / v(T - k * h)
        for i in range(inside):
            now, start = k * inside + i, k * inside
            r = i * step
            push = 2 * pull * math.exp(-r) * (math.exp(step) - math.exp(-step)) / 2
            row = np.zeros(count)
            row[now + 1] += 1
            row[now] -= math.exp(step)
            row[start] -= push
            precision += np.outer(row, row) / math.expm1(2 * step)
    precision[0, 0] += 1
    _, determinant = np.linalg.slogdet(precision)
    _, own = np.linalg.slogdet(variances)
    found = (np.trace(precision @ variances) - count - determinant - own) / 2
    start = (v(T) - 1 - math.log(v(T))) / 2
    score_error = sum(-math.expm1(-2 * h) / 2 * (1 - slope) ** 2 / v(T - k * h) for k in range(M))
    nodes, masses = np.polynomial.legendre.leggauss(20)
    discretisation = sum(
        mass * h / 2 * (1 / v(T - k * h - r) - math.exp(-2 * r) / v(T - k * h))
        for k in range(M)
        for mass, r in zip(masses, (nodes + 1) * h / 2, strict=True)
    )
    total = float(path_divergence(sp.Float(start), sp.Float(score_error), sp.Float(discretisation)))
    assert 0.98 * total <= found <= total * (1 + 1e-9)
    # The samples, at the end of the path, are no farther, and their total variation is below its bound.
    last = np.linalg.inv(precision)[-1, -1]
    ratio = v(T_0) / last
    ends = (ratio - 1 - math.log(ratio)) / 2
    assert ends <= total
    grid = np.linspace(-8, 8, 4001)
    p, q = (np.exp(-(grid**2) / (2 * each)) / math.sqrt(2 * math.pi * each) for each in (v(T_0), last))
    assert np.abs(p - q).sum() * (grid[1] - grid[0]) / 2 <= float(total_variation(sp.Float(total)))


def test_the_smaller_bound_of_the_total_variation_is_taken() -> None:
    assert float(total_variation(sp.Float(0.02))) == pytest.approx(0.1)
    assert float(total_variation(sp.Float(3.0))) == pytest.approx(math.sqrt(1 - math.exp(-3)))
