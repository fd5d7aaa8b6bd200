"""Inexact proximal gradient steps: the two readings of one bound, the largest known ratio, long runs, refusals."""

from typing import Any

import numpy as np
import pytest
import sympy as sp

from symbolic.calculus import DerivationError, Norm, ProximalSteps, bounded_iterates, given, proximal_gradient
from tests.symbolic.fuzzing.proximal import DUAL, Problem
from tests.symbolic.fuzzing.vectors import lengths

T = sp.Symbol("T", integer=True, positive=True)
r = sp.Symbol("r", nonnegative=True)
a, b, e, eta, lam, U, V = sp.symbols("a b e eta lam U V", positive=True)
Half = sp.Rational(1, 2)
START = given("start", dim=3, norm=Norm.TWO, size=U, error=U)
FREE = given("w", dim=3, norm=Norm.ONE, size=0, error=V)
UPDATE = given("update", dim=3, norm=Norm.ONE, size=0, error=e)
STEPS = {"lipschitz": a + b * r, "radius": r, "step": eta, "smoothness": 1 / eta, "steps": T}


def kept(**changed: Any) -> Any:
    return bounded_iterates(UPDATE, "w", **{"start": V, "penalty": lam, **STEPS, **changed})


def gap(**changed: Any) -> Any:
    return proximal_gradient(START, "gap", **{"update": UPDATE, "iterates": kept(), **STEPS, **changed})


def test_equal_steps_give_the_closed_form() -> None:
    closed = ProximalSteps(eta).closed(U, e, V, a, 7)
    assert sp.simplify(ProximalSteps(eta).run(U, [e] * 7, [V] * 7, [a] * 7, eta)[6] - closed) == 0


def test_without_errors_a_linear_objective_has_the_known_ratio_of_two() -> None:
    exact = gap().error.subs(e, 0).doit()
    assert sp.simplify(exact - U**2 / (2 * eta * T)) == 0
    slope = U / (2 * T * eta)  # F(w) = slope w from w_0 = 0 against u = -U
    reached = slope * U - slope * (T * eta * slope)
    assert sp.simplify(exact / reached) == 2


def test_the_norm_grows_from_the_objective_alone() -> None:
    values = [float(V.subs(V, 2))]
    for _ in range(4):
        values.append(values[-1] + 0.1 * (3 + 0.5 * (values[-1] / 0.7 + 0.1)))
    at = {V: 2, e: 0.1, a: 3, b: Half, lam: 0.7, T: 5}
    assert float(kept().error.subs(at)) == pytest.approx(values[-1] / 0.7 + 0.1)


@pytest.mark.parametrize("norm", [Norm.ONE, Norm.TWO])
@pytest.mark.parametrize("adversarial", [False, True], ids=["random", "steepest"])
def test_twenty_thousand_steps_stay_below_both_bounds(norm: Norm, adversarial: bool) -> None:
    rng, count, error = np.random.default_rng(3), 20_000, 1e-7
    problem = Problem(np.array([1.0, 0.3, 1e-3]), np.array([1.0, -2.0, 3.0]), 0.05)
    w, iterates = np.zeros(3), []
    for _ in range(count):
        p = problem.prox(w, 1.0)
        push = problem.gradient(p) if adversarial else rng.normal(size=3)
        if adversarial and norm is Norm.ONE:
            push = np.sign(push) * (np.abs(push) == np.abs(push).max())
        w = p + error * push / lengths(push, norm)
        iterates.append(w)
    path, u = np.array(iterates), problem.centre
    gaps = problem.value(path) - problem.value(u)
    reaches, slopes = lengths(path - u, DUAL[norm]), lengths(problem.gradient(path), DUAL[norm])
    own = ProximalSteps(sp.Integer(1)).run(float(np.linalg.norm(u)), [error] * count, list(reaches), list(slopes), 1.0)
    assert np.all(gaps <= own)
    numbers = {"step": 1, "smoothness": 1, "radius": r, "steps": T}
    numbers["lipschitz"] = r + lengths(problem.curvature * u, DUAL[norm]) + 0.05 * (1 if norm is Norm.ONE else 3**0.5)
    update = given("update", dim=3, norm=norm, size=0, error=error)
    norms = bounded_iterates(update, "w", start=problem.value(np.zeros(3)), penalty=0.05, **numbers)
    start = given("start", dim=3, norm=Norm.TWO, size=np.linalg.norm(u), error=np.linalg.norm(u))
    bound = proximal_gradient(start, "gap", update=update, iterates=norms, **numbers)
    sizes = np.maximum.accumulate(lengths(path, norm))
    for place in (0, 9, 99, 999, count - 1):
        assert gaps[place] <= float(bound.error.subs(T, place + 1).doit())
        assert sizes[place] <= float(norms.error.subs(T, place + 1).doit())


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (lambda: gap(step=0, iterates=FREE), "the step of 'gap' is 0; give it > 0"),
        (lambda: gap(step=-eta, iterates=FREE), "the step of 'gap' is -eta; give it > 0"),
        (lambda: gap(step=Half, smoothness=3, iterates=FREE), "the steps of 'gap' are short: 3/2 <= 1"),
        (lambda: kept(step=Half, smoothness=5), "the steps of 'w' are short: 5/2 <= 2"),
        (lambda: kept(penalty=0), "the penalty of 'w' is 0; give it > 0"),
        (lambda: kept(start=-1), "the start of 'V' is -1"),
        (lambda: kept(lipschitz=r**2), r"the constant r\*\*2 is not affine in r; give a \+ b r"),
        (lambda: kept(lipschitz=a - r), "the growth of 'w' is -1"),
        (lambda: kept(lipschitz=r - 1), "the lipschitz of 'w' is -1"),
        (lambda: kept(steps=0), "the steps of 'w' is 0; give a whole number, at least 1"),
        (lambda: gap(steps=Half, iterates=FREE), "the steps of 'gap' is 1/2; give a whole number, at least 1"),
        (lambda: gap(lipschitz=-1), "the lipschitz of 'gap' is -1"),
        (
            lambda: gap(iterates=given("w", dim=2, norm=Norm.ONE, size=0, error=1)),
            "'start', 'update' and 'w' have the dimensions 3, 3 and 2; give vectors of one dimension",
        ),
        (lambda: gap(iterates=kept(steps=T + 1)), "'w' bounds the iterates of other steps than those of 'gap'"),
        (lambda: gap(update=given("other", dim=3, norm=Norm.ONE, size=0)), "give both rules the same update, step"),
        (lambda: gap(iterates=given("w", dim=3, norm=Norm.TWO, size=0)), "'w' is bounded in the 2-norm"),
        (lambda: gap(update=given("s", dim=3, size=0)), "'s' is bounded in the inf-norm"),
    ],
)
def test_refusals(rule: Any, message: str) -> None:
    with pytest.raises(DerivationError, match=message):
        rule()


def test_premises_that_are_not_clear_are_owed() -> None:
    sign = sp.Symbol("sign", real=True)
    owed = [o.statement for o in gap(step=sign, iterates=FREE).derivation.obligations if o.open]
    assert owed == ["the steps of 'gap' are short: sign/eta <= 1", "the step of 'gap' is positive"]
