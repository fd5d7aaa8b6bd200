"""Counts of the transformer of Appendix C, the constants in the printed O, and the temperature that suffices."""

import numpy as np
import pytest
import sympy as sp

from symbolic.topics.machines import temperature
from symbolic.topics.machines import turing_counts as counts
from symbolic.topics.machines.turing import TURING
from symbolic.topics.machines.turing_counts import LEAST, LEMMAS, A, Z, constant, w_pos

a, b = sp.symbols("a b", positive=True)
CORNER = {a: 1, b: 2}


# The constants.


@pytest.mark.parametrize(
    ("count", "order", "value", "sharp"),
    [
        (3 * a + 5, a, 8, True),  # at the corner a = 1
        (3 * a * b + b, a * b + b, 3, True),  # a -> oo
        (a * b, a + b, sp.oo, True),  # outgrown along a = b = t
        (a, a * b, sp.Rational(1, 2), True),  # b = 2
        (7 * a - 3, a, 7, True),  # a negative term helps nothing in the limit
        (b, a + b, 1, True),  # b -> oo, where a = 1 counts for nothing
    ],
    ids=str,
)
def test_constants_by_hand(count: sp.Expr, order: sp.Expr, value: sp.Expr, sharp: bool) -> None:
    found = constant(sp.sympify(count), sp.sympify(order), CORNER)
    assert (found.value, found.sharp) == (value, sharp)


COSTS = [(lemma.label, counts.norm(lemma.label), lemma.order) for lemma in LEMMAS]
COSTS += [("width", counts.width(), counts.WIDTH_ORDER), ("depth", counts.depth(), w_pos)]


@pytest.mark.parametrize(("name", "count", "order"), COSTS, ids=[name for name, *_ in COSTS])
def test_no_point_of_the_range_exceeds_the_constant_and_some_come_close(
    name: str, count: sp.Expr, order: sp.Expr
) -> None:
    worst = count.subs({counts.moving: (Z - 1) * A, counts.answers: Z})  # a machine that halts has a state of no rules
    grid = np.array([0, 1, 2, 5, 30, 10**3, 10**6], dtype=float)
    at = np.meshgrid(*(LEAST[letter] + grid for letter in (Z, A, w_pos)))
    ratios = sp.lambdify((Z, A, w_pos), worst / order, "numpy")(*at)
    limit = constant(count, order)
    assert limit.sharp
    assert np.max(ratios) <= float(limit.value) * (1 + 1e-12)
    assert np.max(ratios) >= 0.99 * float(limit.value)


def test_the_constants_of_the_ten_orders() -> None:
    found = {name: str(constant(count, order).value) for name, count, order in COSTS}
    assert found == {
        "C.1": "17/2", "C.2": "27/4", "C.3": "29/2", "C.4": "15/2", "C.5": "18", "C.6": "17", "C.7": "7", "C.8": "10",
        "width": "6", "depth": "15/2",
    }  # fmt: skip


def test_a_constant_for_moves_and_terminal_states_at_once_is_not_called_the_least() -> None:
    assert constant(counts.moving + Z, Z * A).sharp
    assert not constant(counts.moving + counts.answers + Z, Z * A).sharp  # both cannot be as large as each alone can


def test_the_pairs_have_a_constant_in_the_width_of_theorem_4_1_alone() -> None:
    assert constant(counts.PAIR_ROWS, counts.W_TM).value == sp.oo
    assert constant(counts.PAIR_ROWS, counts.WIDTH_ORDER).value.is_finite


def test_the_sentinel_is_one_more_state_that_moves() -> None:
    assert counts.width() == sp.expand(counts.width(sentinel=False).subs(Z, Z + 1))
    moved = {Z: Z + 1, counts.moving: counts.moving + A}
    assert counts.norm("C.1") == sp.expand(counts.norm("C.1", sentinel=False).subs(moved, simultaneous=True))


def test_bits_write_every_number() -> None:
    assert all(int(counts.bits(sp.Integer(n))) == n.bit_length() for n in range(1, 70))


# The temperature.


def softmax_leak(n: int, beta: float) -> float:
    """A coordinate with the value 1 at the winner and 0 at all others, each at the margin: the worst case."""
    weights = np.exp(-beta * np.array([0.0] + [1.0] * (n - 1)))
    return float(1 - weights[0] / weights.sum())


@pytest.mark.parametrize("n", [2, 3, 50, 4098])
@pytest.mark.parametrize("eps", [1 / 3, 0.1, 1e-6])
def test_the_temperature_gives_the_leak_that_is_asked_for_and_no_less(n: int, eps: float) -> None:
    at = {temperature.keys: n, temperature.eps: sp.Float(eps, 30)}
    beta = float(temperature.sufficient().value.subs(at))
    assert softmax_leak(n, beta) == pytest.approx(eps, rel=1e-6)
    assert softmax_leak(n, beta * 0.999) > eps * 1.0001
    bound = temperature.leak_derivation().bound("leak").subs({temperature.keys: n})
    assert float(bound.subs(temperature.inverse_temperature, beta)) == pytest.approx(eps, rel=1e-6)


def test_random_scores_with_a_margin_never_leak_more() -> None:
    random = np.random.default_rng(0)
    beta = 3.0
    leak = temperature.leak_derivation().bound("leak").subs(temperature.inverse_temperature, beta)
    for _ in range(300):
        n = int(random.integers(2, 40))
        scores, values = -random.integers(1, 4, n).astype(float), random.integers(0, 2, n)
        tied = int(random.integers(1, n + 1))
        scores[:tied], values[:tied] = 0.0, values[0]  # keys that tie carry one value
        weights = np.exp(beta * scores)
        error = abs(weights @ values / weights.sum() - values[0])
        assert error <= float(leak.subs(temperature.keys, n)) + 1e-12


# The result.


def test_every_cost_has_its_count() -> None:
    for quantity in TURING.quantities:
        if quantity.name in {"width", "depth", "norm", "parameters"} or quantity.name.startswith("norm["):
            assert quantity.closed_form.free_symbols <= {Z, A, w_pos, counts.moving, counts.answers}


def test_at_the_least_temperature_leaks_what_was_asked_for() -> None:
    n, eps, beta = temperature.keys, temperature.eps, temperature.sufficient().value
    leak, temperature_of = TURING.quantity("leak"), TURING.quantity("inverse_temperature")
    assert leak.closed_form == eps
    assert sp.simplify(leak.derived().subs(temperature.inverse_temperature, beta) - eps) == 0
    assert temperature_of.closed_form == beta == sp.log((n - 1) * (1 - eps) / eps)
