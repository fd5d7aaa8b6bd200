"""What is printed: the maxima over the layers against every layer written out, and the thirds that D.7 chooses."""

import math
from collections.abc import Callable, Sequence

import pytest
import sympy as sp

from symbolic.topics.icgd import chain, printed
from symbolic.topics.icgd.printed import GROWTH, RATIO, P
from symbolic.topics.icgd.symbols import B_l, B_r, B_r1, B_v, B_x, K, L_l, L_r1, b_r, d, eps_l, eps_r, eps_r1
from tests.symbolic.topics.icgd.numbers import at, close

CLOSED = {
    "E_r": printed.E_r,
    "B_s": printed.B_s,
    "E_s^r": printed.E_s_r,
    "E_s^r'": printed.E_s_r1,
    "E_s^l": printed.E_s_l,
}
# Ratios B_r' B_v sqrt(K) below, at and above 1.
RATIOS = [0.3, 1 / (0.6 * math.sqrt(3)), 2.0]


def over_layers(depth: int) -> dict[str, sp.Expr]:
    """The maxima of (3.10) and (3.23)-(3.24) with every layer of a network of `depth` layers written out."""

    def powers(ratio: sp.Expr, count: int) -> sp.Expr:
        return sp.Add(*(ratio**exponent for exponent in range(count)))

    def largest(entries: Callable[[int], sp.Expr]) -> sp.Expr:
        return _maximum([entries(layer) for layer in range(1, depth + 1)])

    root_K, root_d = sp.sqrt(K), sp.sqrt(d)
    e_r = sp.Max(largest(lambda i: powers(GROWTH, i) * root_K), powers(GROWTH, depth) * root_d)
    b_s = largest(lambda i: RATIO ** (depth - i) * B_r1 * B_l)
    e_s_r = largest(
        lambda i: (
            L_r1 * e_r * P * b_s * B_v**2 * powers(RATIO, depth - i)
            + RATIO ** (depth - i) * (B_l * L_r1 * B_v * e_r + B_r1 * L_l * e_r)
        )
    )
    e_s_r1 = largest(lambda i: P * b_s * B_v * powers(RATIO, depth - i) + RATIO ** (depth - i) * B_l)
    e_s_l = largest(lambda i: RATIO ** (depth - i) * B_r1)
    return {"E_r": e_r, "B_s": b_s, "E_s^r": e_s_r, "E_s^r'": e_s_r1, "E_s^l": e_s_l}


def _maximum(values: Sequence[sp.Expr]) -> sp.Expr:
    return sp.Max(*values, evaluate=False)


@pytest.mark.parametrize("depth", [1, 2, 3, 6])
@pytest.mark.parametrize("slope", RATIOS)
@pytest.mark.parametrize("name", CLOSED)
def test_maxima_over_the_layers_are_attained_at_an_end(name: str, slope: float, depth: int) -> None:
    for more in ({}, {"L_r": 1 / (0.6 * math.sqrt(3))}, {"d": 7}, {"B_l": 0.01, "L_l": 9.0}):
        values = {"B_r1": slope, **more}
        layers = at(over_layers(depth)[name], **values)
        closed = at(CLOSED[name], N=depth, **values)
        assert close(closed, layers)
        assert not close(0.999 * closed, layers)


def test_the_thirds_give_the_accuracy_asked_for() -> None:
    knobs = {symbol: chosen.bound for symbol, chosen in printed.KNOBS.items()}
    values = {symbol.name: at(value, N=4) for symbol, value in knobs.items()}
    assert close(at(printed.GRADIENT_ERROR.bound, N=4, **values), at(sp.Symbol("eps")))
    alone = {**values, "eps_r1": 0.0, "eps_l": 0.0}
    assert close(at(printed.GRADIENT_ERROR.bound, N=4, **alone), at(sp.Symbol("eps")) / 3)


def test_the_coefficients_are_those_of_the_bound() -> None:
    for symbol, coefficient in ((eps_r, printed.C_r), (eps_r1, printed.C_r1), (eps_l, printed.C_l)):
        assert close(at(sp.diff(printed.GRADIENT_ERROR.bound, symbol), N=3), at(coefficient, N=3) / 2)


def test_bounds_are_typed_as_they_stand() -> None:
    """Lemma 2 at two layers, Lemmas 3, 4, 6 at one, by hand."""
    K_, d_, c = 3, 2, math.sqrt(3) * 1.1 * 0.6
    assert close(at(printed.OUTPUT_ERROR.bound, N=2), (1 + c) * math.sqrt(d_) * 1e-2)
    assert close(at(printed.layer_error(2).bound), (1 + c) * math.sqrt(K_) * 1e-2)
    e_r = math.sqrt(3)
    assert close(at(printed.DERIVATIVE_ERROR.bound, N=1), 3e-2 + 0.77 * 0.6 * e_r * 1e-2)
    assert close(at(printed.LOSS_GRADIENT_ERROR.bound, N=1), 5e-3 + 2 * e_r * 1e-2)
    one_layer = (B_l * L_r1 * 0.6 * e_r + B_r1 * L_l * e_r) * eps_r + B_l * eps_r1 + B_r1 * eps_l
    assert close(at(printed.BACKWARD_ERROR.bound, N=1), at(one_layer))


def test_the_recursions_of_the_suprema_are_run_as_printed() -> None:
    of_r = printed.largest_values(math.tanh, 1.2, 0.6, 2)
    assert of_r == [1.2, math.tanh(0.6 * 1.2), math.tanh(0.6 * math.tanh(0.6 * 1.2))]
    # tanh' is largest at 0, whatever the range: the recursion of Lemma 3 feeds 1 into itself.
    assert printed.largest_values(lambda radius: 1.0, 1.2, 0.6, 3) == [1.2, 1.0, 1.0, 1.0]


def test_theorem_5_reads_d_as_the_number_of_outputs() -> None:
    d_y = sp.Symbol("d_y", integer=True, positive=True)
    read = printed.with_outputs(printed.OUTPUT_ERROR, d_y)
    assert not read.bound.has(d)
    assert read.citation == printed.OUTPUT_ERROR.citation


# B_r', B_l as Lemma 6 reads them: upper bounds of the exact and of the approximate values.
BOUNDED = {"B_r1": 1.05 + 3e-2, "B_l": 2.5 + 5e-3}
PLACES = pytest.mark.parametrize("sizes", [{"K": 3, "d": 2}, {"K": 2, "d": 9}, {"K": 7, "d": 7}], ids=str)


def at_worst(expression: sp.Expr, **values: float) -> float:
    return at(expression.xreplace(chain.worst_case(d, d)), **{**BOUNDED, **values})


@PLACES
@pytest.mark.parametrize("depth", [2, 3, 5])
def test_lemma_6_is_repaired_by_the_root_of_d(sizes: dict[str, int], depth: int) -> None:
    """sqrt(d) times what is printed bounds every signal below the last and its error, in the 2-norm."""
    root = math.sqrt(sizes["d"])
    size, error = (root * at_worst(b.bound, N=depth, **sizes) for b in (printed.BACKWARD_SIZE, printed.BACKWARD_ERROR))
    for layer in range(1, depth):
        signal = chain.derive_signal(sp.Integer(layer), sp.Integer(depth))
        assert at_worst(signal.size, **sizes) <= size
        assert at_worst(signal.error, **sizes) <= error


@PLACES
@pytest.mark.parametrize("depth", [2, 3, 5])
def test_d_7_is_repaired_by_the_root_and_the_repaired_lemmas(sizes: dict[str, int], depth: int) -> None:
    """P max{B_x, b_r + eps_r} for sqrt(P) B_r, and sqrt(d) times B_s and E_s."""
    repaired = printed.GRADIENT_ERROR.bound.subs(B_r, sp.sqrt(printed.P) * sp.Max(B_x, b_r + eps_r))
    derived = chain.derive(depth).derivation.bound("gradient")
    assert at_worst(derived, **sizes) <= math.sqrt(sizes["d"]) * at_worst(repaired, N=depth, **sizes)
