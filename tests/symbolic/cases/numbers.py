"""Rules that conclude a number: the closed form or the knob beside what a loop, a scan or a bisection finds."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import sympy as sp

from symbolic.calculus import (
    Columns,
    CountedAttention,
    CountedConstruction,
    CoupledRecursion,
    Descent,
    Event,
    Heads,
    LinearRecursion,
    MonotoneRecursion,
    Multiplication,
    Perceptron,
    ProximalSteps,
    QuadraticRecursion,
    add,
    apply_function,
    best_shares,
    cheapest_split,
    contraction_steps,
    counted,
    descent_lemma,
    finite_depth,
    geometric_sum,
    given,
    invariant_interval,
    knob_for,
    largest_range,
    largest_safe,
    linear_map,
    minimise,
    sample_mean,
    union_bound,
    values_on,
    within_budget,
)
from symbolic.calculus.layers import recursion_from
from tests.symbolic.cases.case import check_attained
from tests.symbolic.fuzzing.realised import Measured

Half = sp.Rational(1, 2)


@dataclass(frozen=True)
class NumberCase:
    """A rule that concludes a number: `pair` gives its bound, or knob, and what is true, found independently."""

    name: str
    rule: str
    pair: Callable[[], tuple[float, float]]

    def check(self) -> None:
        number, truth = self.pair()
        assert abs(number - truth) <= 1e-9 * abs(truth), (number, truth)
        check_attained(Measured(self.name, number, truth))


def coupled_sharp(matrix: tuple[tuple[int, int], tuple[int, int]]) -> tuple[float, float]:
    rational = tuple(tuple(sp.Rational(entry, 4) for entry in row) for row in matrix)
    recursion = CoupledRecursion((sp.Rational(1), sp.Rational(2)), rational, (sp.Rational(1, 3), sp.Rational(1, 5)))
    closed = recursion.closed(5)
    error = np.array([1.0, 2.0])
    for _ in range(5):
        error = np.array(matrix) / 4 @ error + np.array([1 / 3, 1 / 5])
    return float(sp.N(closed[0].doit() + 10 * closed[1].doit(), 30)), float(error[0] + 10 * error[1])


def linear_recursion() -> tuple[float, float]:
    """Layers l + 1 and offsets 1/(l + 1)."""
    layer = sp.Symbol("l", integer=True, nonnegative=True)
    error = 2.0
    for k in range(6):
        error = (1 + k) * error + 1 / (1 + k)
    return float(LinearRecursion(sp.Integer(2), 1 + layer, 1 / (1 + layer), layer).closed(6).doit()), error


def monotone_largest() -> tuple[float, float]:
    """z -> 2 sqrt(z) + 1/10 from 1, five layers."""
    z = sp.Symbol("z", positive=True)
    size = 1.0
    for _ in range(5):
        size = 2 * np.sqrt(size) + 0.1
    return float(MonotoneRecursion(sp.Integer(1), 2 * sp.sqrt(z) + sp.Rational(1, 10), z).largest(5)), size


def kept_range(depth: int | None) -> tuple[float, float]:
    """z -> z/5 + 2 from 1: after three layers, and at every depth."""
    z = sp.Symbol("z", positive=True)
    recursion = MonotoneRecursion(sp.Integer(1), z / 5 + 2, z)
    size = 1.0
    for _ in range(depth or 60):
        size = size / 5 + 2
    kept = finite_depth(recursion, depth) if depth else invariant_interval(recursion, sp.Rational(5, 2))
    return float(kept.bound), size


def least_cover() -> tuple[float, float]:
    """z -> z/5 + 2 from 1: the largest argument in terms of itself, where that is the fixed point 5/2."""
    z = sp.Symbol("z", positive=True)
    kept = largest_range(MonotoneRecursion(sp.Integer(1), z / 5 + 2, z), sp.Symbol("N", integer=True, positive=True))
    largest = MonotoneRecursion(sp.Integer(1), z / 5 + 2, kept.bound).largest_implicitly(60)
    return float(largest.subs(kept.bound, sp.Rational(5, 2))), kept_range(None)[1]


def largest_value() -> tuple[float, float]:
    """z^2, off by 1/4, on the same interval."""
    z = sp.Symbol("z", positive=True)
    kept = invariant_interval(MonotoneRecursion(sp.Integer(1), z / 5 + 2, z), sp.Rational(5, 2))
    values = values_on(kept, supremum=kept.bound**2, eps=sp.Rational(1, 4))
    return float(values.bound), kept_range(None)[1] ** 2 + 0.25


def pooled_layers() -> tuple[float, float]:
    """c -> sqrt(4 c^2 + 9) from 1, five layers."""
    error = 1.0
    for _ in range(5):
        error = np.hypot(2 * error, 3)
    return float(LinearRecursion(sp.Integer(1), sp.Integer(4), sp.Integer(9), pooled=True).closed(5)), error


def one_step() -> tuple[float, float]:
    """f = w^2/(2 eta) from 1 to eta eps, eta = 1/2, eps = 1/4: what the step lowers f by, |G| = 2."""
    lemma = descent_lemma("g", step=Half, smoothness=2, accuracy=sp.Rational(1, 4))
    return float(4 * lemma.decrease - lemma.offset), 1 - (0.5 * 0.25) ** 2


def telescoped() -> tuple[float, float]:
    """Steps that lose 2 g - 1/2 and 3 g - 1 with g = 2, from 17/2 down to 0."""
    return float(Descent(sp.Integer(2), Half).run([2, 3], [Half, 1], sp.Rational(17, 2))), 2.0


def proximal_step() -> tuple[float, float]:
    """Two steps on F = |w| in float64: from the minimiser by an error of 1/2, which one step of 1/2 undoes, to 1/4."""
    bounds = ProximalSteps(Half).run(0, [Half, Half / 2], [Half, Half], [1, 1], Half)
    return float(bounds[0]), abs(0.0 + 0.5)


def exact_step() -> tuple[float, float]:
    """f = w^2 from 1 by a step of 1/4 to 1/2, |G| = 2."""
    lemma = descent_lemma("g", step=sp.Rational(1, 4), smoothness=2)
    return float(4 * lemma.decrease - lemma.offset), 1 - 0.5**2


def squaring() -> tuple[float, float]:
    error = 0.4
    for _ in range(3):
        error = 2 * error**2
    return float(QuadraticRecursion(sp.Rational(2, 5), sp.Integer(2), sp.Integer(0)).after(3)), error


def steps_until(error: float, step: Callable[[float], float], accuracy: float) -> int:
    steps = 0
    while error > accuracy:
        error, steps = step(error), steps + 1
    return steps


def contraction_count() -> tuple[float, float]:
    bound = contraction_steps(2, Half, sp.Rational(1, 4), sp.Rational(51, 100))
    return float(bound), steps_until(2.0, lambda e: e / 2 + 0.25, 0.51)


def squaring_count() -> tuple[float, float]:
    bound = QuadraticRecursion(sp.Rational(2, 5), sp.Integer(2), sp.Integer(0)).steps_to(sp.Rational(1, 10**6))
    return float(bound), steps_until(0.4, lambda e: 2 * e * e, 1e-6)


def least_knob() -> tuple[float, float]:
    n = sp.Symbol("n", integer=True, positive=True)
    return float(knob_for(7 / n, n, sp.Rational(3, 10)).value), next(k for k in range(1, 100) if 7 / k <= 0.3)


def best_knob() -> tuple[float, float]:
    """The least of 7 n + 100/n over whole numbers: any other bound is too small, or not attained."""
    n = sp.Symbol("n", integer=True, positive=True)
    return float(minimise(7 * n + 100 / n, n).bound), min(7 * k + 100 / k for k in range(1, 50))


def cheapest_pieces() -> tuple[float, float]:
    """The least of 3/sqrt(e_1) + 1/sqrt(e_2) on 5 e_1 + 2 e_2 = 1/10, by a fine grid along the constraint."""
    first, second = sp.symbols("e_1 e_2", positive=True)
    tenth, half = sp.Rational(1, 10), sp.Rational(1, 2)
    found = cheapest_split({first: 5, second: 2}, {first: 3, second: 1}, tenth, power=half)
    share = np.linspace(0, 1, 200_001)[1:-1] / 10
    return float(found.cost), float((3 / np.sqrt(share / 5) + 1 / np.sqrt((0.1 - share) / 2)).min())


def safe_perturbation() -> tuple[float, float]:
    """The largest r with r^2 + 2 r <= 1/2, by bisection."""
    r = sp.Symbol("r", positive=True)
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if middle**2 + 2 * middle <= 0.5 else (low, middle)
    return float(largest_safe(r**2 + 2 * r, r, Half).value), low


def one_layer() -> tuple[float, float]:
    """(z + 1/4) / 2 off by 3/16 from an error of 1/8."""
    error = sp.Dummy("err", nonnegative=True)
    z = given("z", dim=1, size=1, error=error)
    f = linear_map(apply_function(z, "f", eps=sp.Rational(1, 4), lipschitz=1, size=1), "f/2", operator_norm=Half, dim=1)
    recursion = recursion_from(z, f)
    return float(recursion.factor / 8 + recursion.offset), (1 / 8 + 1 / 4) / 2


def column_sum(matrix: np.ndarray) -> float:
    return float(np.abs(matrix).sum(0).max())


# Two columns with two entries of 2, one with an entry of 3 and two of 1/4.
MATRIX = np.array([[2, 0, 3], [-2, 2, 0.25], [0, 2, -0.25]])
COLUMNS = Columns({"twos": ((2, 2),), "mixed": ((1, 3), (2, sp.Rational(1, 4)))})
# Three copies of two heads each, whose values are an entry of 1 and one of 1/2; and one more head.
HEADS = Heads(3, 2, values=sp.Rational(3, 2), query_key=2)
ATTENTION = CountedAttention((HEADS, Heads(1, 1, values=5)))


def attention_norm() -> tuple[float, float]:
    values = [np.diag(entries) for entries in ([1, 0], [0, -Half]) for _ in range(3)] + [np.full((2, 2), 2.5)]
    queries = [2 * np.eye(2)] * 6 + [np.eye(2)]
    truth = max(map(column_sum, queries)) + sum(column_sum(value.astype(float)) for value in values)
    return float(ATTENTION.norm), truth


def built() -> CountedConstruction:
    perceptron, picks = Perceptron(COLUMNS, COLUMNS), Multiplication((COLUMNS,), heads=3)
    return CountedConstruction({"x": 3, "one": 1}, {"attention": ATTENTION, "mlp": perceptron, "products": picks})


def best_budget() -> tuple[float, float]:
    """The least bound of two means that share 1/10, over a scan of their shares."""
    one = sample_mean(given("x", dim=1, size=1), "one", count=10, event=Event("one", "draws"))
    two = sample_mean(given("y", dim=1, size=5), "two", count=10, event=Event("two", "draws"))
    both = add(union_bound(one, "all", members=50), two, name="both")
    weights = best_shares(both, delta=Half / 5, at={})
    shares = np.linspace(1e-6, 0.1, 200_001)[:-1]
    scanned = np.sqrt(2 * np.log(2 * 50 / shares) / 10) + 5 * np.sqrt(2 * np.log(2 / (0.1 - shares)) / 10)
    return float(within_budget(both, "error", delta=Half / 5, weights=weights).error), float(scanned.min())


NUMBER_CASES = [
    NumberCase("best shares of a budget", "best_shares", best_budget),
    NumberCase("coupled, full", "CoupledRecursion", lambda: coupled_sharp(((2, 1), (3, 1)))),
    NumberCase("coupled, triangular", "CoupledRecursion", lambda: coupled_sharp(((2, 0), (3, 1)))),
    NumberCase("coupled, equal ratios", "CoupledRecursion", lambda: coupled_sharp(((2, 0), (3, 2)))),
    NumberCase("coupled, eigenvalue 1", "CoupledRecursion", lambda: coupled_sharp(((4, 0), (3, 2)))),
    NumberCase("coupled, singular", "CoupledRecursion", lambda: coupled_sharp(((2, 2), (2, 2)))),
    NumberCase("by layer", "LinearRecursion", linear_recursion),
    NumberCase("largest size", "MonotoneRecursion", monotone_largest),
    NumberCase("sizes after three layers", "finite_depth", lambda: kept_range(3)),
    NumberCase("sizes at every depth", "invariant_interval", lambda: kept_range(None)),
    NumberCase("the largest of sizes", "largest_range", least_cover),
    NumberCase("values on a range", "values_on", largest_value),
    NumberCase("pooled layers", "LinearRecursion", pooled_layers),
    NumberCase("one gradient step", "descent_lemma", one_step),
    NumberCase("one exact gradient step", "descent_lemma", exact_step),
    NumberCase("telescoping", "Descent", telescoped),
    NumberCase("proximal steps", "ProximalSteps", proximal_step),
    NumberCase("column sums", "Columns", lambda: (float(COLUMNS.norm), column_sum(MATRIX))),
    NumberCase("heads", "Heads", lambda: (float(HEADS.count), float(len([1, Half] * 3)))),
    NumberCase("attention", "CountedAttention", attention_norm),
    NumberCase("MLP", "Perceptron", lambda: (float(built().layers["mlp"].norm), 2 * column_sum(MATRIX))),
    NumberCase("products", "Multiplication", lambda: (float(built().layers["products"].norm), column_sum(MATRIX))),
    NumberCase("width", "CountedConstruction", lambda: (float(built().width), float(len([*"xyz", 1])))),
    NumberCase("most heads", "CountedConstruction", lambda: (float(built().heads), 7.0)),
    NumberCase("a count", "counted", lambda: (float(counted("width", built().width, latex="D").bound()), 4.0)),
    NumberCase("squaring", "QuadraticRecursion", squaring),
    NumberCase("squaring, steps", "QuadraticRecursion", squaring_count),
    NumberCase("contraction, steps", "contraction_steps", contraction_count),
    NumberCase(
        "geometric sum", "geometric_sum", lambda: (float(geometric_sum(Half, 5)), sum(0.5**k for k in range(5)))
    ),
    NumberCase("geometric sum at 1", "geometric_sum", lambda: (float(geometric_sum(1, 5)), 5.0)),
    NumberCase("least knob", "knob_for", least_knob),
    NumberCase("best knob", "minimise", best_knob),
    NumberCase("cheapest pieces", "cheapest_split", cheapest_pieces),
    NumberCase("safe perturbation", "largest_safe", safe_perturbation),
    NumberCase("a layer's recursion", "recursion_from", one_layer),
]
