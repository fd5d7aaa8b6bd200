"""Scores by a similarity typed in SymPy, and hat functions of low rank in its place: each theorem against numpy."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy as sp

import boundsmith as bs
from tests.bridge.expressions.refused import require_refused
from tests.bridge.expressions.test_blocks import KEPT, compared, ran
from tests.bridge.expressions.test_theorems import bound_of

eta, p = sp.symbols("eta p", positive=True)
L, M, K, d = sp.symbols("L M K d", integer=True, positive=True)
u, v = sp.symbols("u v")
GAUSSIAN, KINKED = sp.exp(-((u - v) ** 2) / 2), sp.exp(u / 2) * abs(u - v)
NUMPY: dict[sp.Expr, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    GAUSSIAN: lambda u, v: np.exp(-((u - v) ** 2) / 2),
    KINKED: lambda u, v: np.exp(u / 2) * abs(u - v),
}


def interpolated(g: sp.Expr, cells: int, query: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """By numpy, in one variable after the other; beyond the ends of the grid it is that of the end."""
    knots = np.linspace(-1, 1, cells + 1)
    values = NUMPY[g](knots[:, None], knots)
    rows = [[np.interp(x, knots, column) for column in values.T] for x in query]
    return sum(np.interp(keys[:, place], knots, row) for place, row in enumerate(rows))


def scored(g: Any, coordinates: Any = 1, **more: Any) -> bs.Theorem:
    """The query is on a grid, on which it may leave the box."""
    similarity = bs.blocks.similarity(g).approximated(cells=M, **more)
    query = bs.quantised(bs.vector("q", coordinates, size=1), eta)
    output = similarity(query, bs.tokens("k", L, coordinates, size=1))
    values = {eta: 0.6, M: 16, L: 5} | ({d: 3} if coordinates is d else {}) | ({K: 4} if more else {})
    return bs.theorem("scores", output, parameters=values)


@pytest.mark.parametrize("coordinates", [1, d])
@pytest.mark.parametrize("g", [GAUSSIAN, KINKED], ids=["Gaussian", "kinked"])
def test_scores_are_those_of_numpy_with_a_constant_and_their_bound_holds(g: sp.Expr, coordinates: Any) -> None:
    theorem, rng, m = scored(g, coordinates), np.random.default_rng(0), 1 if coordinates == 1 else 3
    bound, largest, constants = bound_of(theorem, eta=0.6, M=16, L=5, d=m, rho_g=1e-12), 0.0, []
    for _ in range(200):
        q, k = rng.uniform(-1, 1, m), rng.uniform(-1, 1, (5, m))
        exact, near = ran(theorem, q=q, k=k, eta=0.6, M=16, L=5, d=m)
        assert np.allclose(exact, NUMPY[g](q, k).sum(-1), rtol=1e-12)
        rounded = 0.6 * np.floor(q / 0.6 + 0.5)
        constants += (near - interpolated(g, 16, rounded, k)).tolist()
        largest = max(largest, abs(near - exact).max())
    assert np.ptp(constants) < 1e-12
    assert (0.6 if m == 1 else 0.3) * bound < largest <= bound


def test_the_bound_has_the_slopes_the_cells_and_what_the_rank_leaves() -> None:
    derived = scored(GAUSSIAN, rank=K).statement.quantity("output").derived()
    rho = sp.Symbol("rho_g", nonnegative=True)
    assert derived.free_symbols == {eta, M, rho}
    assert derived.coeff(rho) == 1
    # exp(-1/2) is the largest slope of a Gaussian, and its second derivative is between -1 and 2 exp(-3/2).
    assert float(derived.coeff(eta)) == pytest.approx(np.exp(-0.5) / 2, rel=2e-3)
    assert float(derived.coeff(M, -2)) == pytest.approx(4 / 16 * 2 * (1 + 2 * np.exp(-1.5)), rel=2e-3)


def test_errors_of_the_grid_add_up_over_coordinates() -> None:
    similarity = bs.blocks.similarity(GAUSSIAN).approximated(cells=M)
    output = similarity(bs.vector("q", d, size=1), bs.tokens("k", L, d, size=1))
    derived = bs.theorem("scores", output, parameters={M: 16, L: 5, d: 3}).statement.quantity("output").derived()
    assert sp.expand(derived - d * derived.subs(d, 1)) == 0


# --- a product over coordinates --------------------------------------------------------------------------------------

PRODUCTS = {
    GAUSSIAN: 1.0,
    sp.exp(u * v): np.e,
    KINKED: 2 * np.exp(0.5),
}  # with the largest absolute value of one factor
NUMPY[sp.exp(u * v)] = lambda u, v: np.exp(u * v)


def multiplied(g: Any, count: Any, **more: Any) -> bs.Theorem:
    similarity = bs.blocks.similarity(g, multiplied=True).approximated(cells=M, **more)
    query = bs.quantised(bs.vector("q", count, size=1), eta)
    output = similarity(query, bs.tokens("k", L, count, size=1))
    return bs.theorem("scores", output, parameters={eta: 0.02, M: 16, L: 5, **({d: 3} if count is d else {})})


@pytest.mark.parametrize("g", PRODUCTS, ids=["Gaussian", "exponential", "kinked"])
def test_products_over_coordinates_are_those_of_numpy_and_their_bound_holds(g: sp.Expr) -> None:
    theorem, rng, largest = multiplied(g, d), np.random.default_rng(0), 0.0
    bound = bound_of(theorem, eta=0.02, M=16, L=5, d=3, rho_g=1e-12)
    corners = np.array(np.meshgrid(*[[-1.0, 1.0]] * 3)).reshape(3, -1).T
    for trial in range(200):
        q, k = (
            (rng.choice(corners, each) for each in (1, 5))
            if trial % 2
            else (rng.uniform(-1, 1, (each, 3)) for each in (1, 5))
        )
        exact, near = ran(theorem, q=q[0], k=k, eta=0.02, M=16, L=5, d=3)
        assert np.allclose(exact, NUMPY[g](q, k).prod(-1), rtol=1e-12)
        largest = max(largest, abs(near - exact).max())
    assert 0.04 * bound < largest <= bound


def test_a_product_of_one_exponential_a_coordinate_is_that_of_the_inner_product() -> None:
    theorem, rng = multiplied(sp.exp(u * v), d), np.random.default_rng(1)
    q, k = rng.uniform(-1, 1, 3), rng.uniform(-1, 1, (5, 3))
    assert np.allclose(ran(theorem, q=q, k=k, eta=0.02, M=16, L=5, d=3)[0], np.exp(k @ q), rtol=1e-12)


def test_the_bound_of_a_product_has_the_size_of_the_other_factors() -> None:
    """(S + e)^3 - S^3 with S = sup |g|, and slopes of S^2."""
    g = sp.exp(u * v)
    derived = multiplied(g, 3).statement.quantity("output").derived()
    one = scored(g).statement.quantity("output").derived()
    eps, size = float(one.subs({eta: 0, M: 16, sp.Symbol("rho_g", nonnegative=True): 0})), np.e
    found = float(derived.subs({eta: 0, M: 16, sp.Symbol("rho_g", nonnegative=True): 0}))
    assert found == pytest.approx((size + eps) ** 3 - size**3, rel=4e-3)
    assert float(derived.coeff(eta)) == pytest.approx(3 * size**3 / 2, rel=4e-3)


@pytest.mark.parametrize("g", [GAUSSIAN, KINKED], ids=["Gaussian", "kinked"])
def test_every_bound_on_a_product_is_kept(g: sp.Expr) -> None:
    rows = compared(multiplied(g, d), attack=60)
    assert all(set(row.verdict.values()) == KEPT for row in rows.values())
    objects = multiplied(g, d).statement.objects
    assert "multiplied over the coordinates, of a query u with each key v" in objects[r"\mathrm{output}"]


@pytest.mark.parametrize("rank", [{}, {"rank": K}])
def test_every_bound_on_scores_is_kept(rank: dict[str, Any]) -> None:
    rows = compared(scored(GAUSSIAN, d, **rank), attack=60)
    assert all(set(row.verdict.values()) == KEPT for row in rows.values())
    assert rows["output", "network"].ratio < 2


def induction_head(more: Any = ()) -> bs.Theorem:
    similarity = bs.blocks.similarity(GAUSSIAN)
    similarity = similarity.approximated(cells=M, rank=K) if more else similarity
    x = bs.tokens("x", L, 1, size=1)
    scores = similarity(x[-1], bs.blocks.recent(x[:-2], slope=p))
    output = bs.attend(bs.softmax(scores), x[1:-1])
    return bs.theorem("head", output, parameters={p: 4.0, L: 8, **dict(more)}, hypotheses=[L >= 3])


def test_a_generalised_induction_head_is_that_of_numpy() -> None:
    theorem, rng, largest = induction_head(), np.random.default_rng(0), 0.0
    bound, places = bound_of(theorem, p=4.0, L=8), np.arange(6)
    lags = np.where(places[:, None] >= places, -4.0 * (places[:, None] - places), -np.inf)
    weights = np.exp(lags) / np.exp(lags).sum(-1, keepdims=True)
    for _ in range(200):
        x = rng.choice([-1.0, 1.0, 0.3], (8, 1))
        sides = []
        for y in (x[:-2], weights @ x[:-2]):
            scores = np.exp(-((x[-1, 0] - y[:, 0]) ** 2) / 2)
            sides.append(np.exp(scores) @ x[1:-1] / np.exp(scores).sum())
        found = ran(theorem, x=x, lags=lags, p=4.0, L=8)
        assert np.allclose(found, sides)
        largest = max(largest, abs(sides[1] - sides[0]).max())
    assert 0.2 * bound < largest <= bound


def test_its_scores_may_leave_the_box_where_a_rule_for_functions_would_not_let_them() -> None:
    """The bound on y says no more than |y_hat| <= 1 + 2 e^-p."""
    rows = compared(induction_head({M: 64, K: 6}))
    assert all(set(row.verdict.values()) == KEPT for row in rows.values())
    assert {scope for _, scope in rows} >= {"network", "prompt"}


def test_it_says_what_it_computes() -> None:
    objects = induction_head({M: 64, K: 6}).statement.objects
    assert objects[r"\mathrm{output}"] == (
        "softmax(g(x_L, (x_1, ..., x_(L-2)))) (x_2, ..., x_(L-1)), where g(u, v) is exp(-(u - v)^2/2), of a query u "
        "with each key v"
    )
    assert objects[r"\widehat{\mathrm{output}}"].endswith(
        "and g_hat(u, v) is chi(u)^T G chi(v) + b, chi are the hat functions of M cells on [-1, 1], constant beyond, "
        "G is the matrix of rank K that is nearest to the values of g at the knots, and b is a constant"
    )
    both = scored(GAUSSIAN, d).statement.objects
    assert "exp(-(u - v)^2/2), added up over the coordinates, of a query u" in both[r"\mathrm{output}"]
    assert "G is the matrix that has the values of g at the knots" in both[r"\widehat{\mathrm{output}}"]
    rho = sp.Symbol("rho_g", nonnegative=True)
    assert scored(GAUSSIAN, rank=K).statement.symbols[rho] == (
        "half the length of the range, over all pairs of knots, of what the grid of g differs by from g at them"
    )


def test_the_number_of_cells_that_an_accuracy_needs_is_found() -> None:
    found = bs.solve(induction_head({M: 64, K: 8}), for_="M", error=1e-3, p=20.0, L=8, K=8)
    at = {"p": 20.0, "L": 8, "rho_g": 0.0}
    bounds = [bound_of(induction_head({M: 64, K: 8}), M=cells, **at) for cells in (found.value, found.value - 1)]
    assert bounds[0] <= 1e-3 < bounds[1] * 1.001


def test_an_error_chooses_cells_and_rank() -> None:
    similarity = bs.blocks.similarity(GAUSSIAN).approximated(error=1e-3)
    theorem = bs.theorem(
        "scores", similarity(bs.vector("q", 1, size=1), bs.tokens("k", L, 1, size=1)), parameters={L: 5}
    )
    (output,) = (row for key, row in compared(theorem).items() if key == ("output", "network"))
    assert 0.5e-3 < output.derived <= 1e-3


x = bs.tokens("x", L, 2, size=1)
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "another letter": (
        lambda: bs.blocks.similarity(sp.exp(-p * (u - v) ** 2)),
        "similarity: exp(-p*(u - v)**2) has the letter p; give a function of u and v alone, or lambda u, v: ...",
    ),
    "a text": (lambda: bs.blocks.similarity("u*v"), "similarity: expected a function of u and v in SymPy, got str"),
    "a number": (lambda: bs.blocks.similarity(lambda u, v: 1), "expected a function of u and v in SymPy, got int"),
    "a pole": (lambda: bs.blocks.similarity(1 / (u - v)), "1/(u - v) is not known to be finite on [-1, 1]^2; give a"),
    "a radius": (lambda: bs.blocks.similarity(u * v, radius=0), "similarity: radius=0; give a positive number, within"),
    "a letter as a radius": (lambda: bs.blocks.similarity(u * v, radius=p), "radius=p; give a positive number"),
    "a name": (lambda: bs.blocks.similarity(u * v, name="a b"), "an object is named 'a b'; give it a name of letters"),
    "an error and cells": (
        lambda: bs.blocks.similarity(u * v).approximated(cells=M, error=0.1),
        "g: give the number of cells, and a rank if you like, or an error",
    ),
    "an error and a rank": (
        lambda: bs.blocks.similarity(u * v).approximated(rank=K, error=0.1),
        "g: an error chooses cells and rank of a known function alone; give cells",
    ),
    "a number as a query": (
        lambda: bs.blocks.similarity(u * v)(1, x),
        "g: expected an expression of queries and one of keys, got 1",
    ),
    "one key": (
        lambda: bs.blocks.similarity(u * v)(x[0], x[1]),
        "a similarity of keys with queries: tokens and one dimension are needed: x_2 is in R^2, x_1 is in R^2",
    ),
    "tokens outside the box": (
        lambda: bs.theorem("s", bs.blocks.similarity(u * v, radius=0.5)(x[0], x), parameters={L: 4}),
        "function of pairs: 'output' does not follow; hypothesis violated: the argument of 'output' stays in",
    ),
    "a rank": (
        lambda: bs.compare(scored(u * v, rank=K), samples=2, attack=0, K=2),
        "u*v: rank 2; its values at 17 knots have the numerical rank 1: give 1 to 1",
    ),
    "part of a cell": (
        lambda: bs.compare(
            bs.theorem("s", bs.blocks.similarity(u * v).approximated(cells=M / 2)(x[0], x), parameters={L: 4, M: 5}),
            samples=2,
            attack=0,
        ),
        "g: M/2 is 5/2 here; numbers of cells and features, and a rank, are whole",
    ),
    "two of one name": (
        lambda: bs.theorem(
            "s", bs.blocks.similarity(u * v)(x[0], x) + bs.blocks.similarity(u + v)(x[0], x), parameters={L: 4}
        ),
        "s: two objects are called 'g'; give one of them another name",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused(name: str) -> None:
    require_refused(REFUSED[name])


# --- a similarity that is a parameter --------------------------------------------------------------------------------

READ = {"Gaussian": GAUSSIAN, "kinked": KINKED, "pole": 1 / (u - v)}
TEXT = bs.Text("g", lambda g: READ[g], takes="NAME", default="Gaussian")


def of_a_parameter(query: Any) -> bs.Theorem:
    similarity = bs.blocks.similarity(given="g").approximated(cells=M)
    output = similarity(query, bs.quantised(bs.tokens("k", L, 1, size=1), eta))
    return bs.theorem("scores", output, parameters={eta: 0.1, M: 16, L: 5}, texts=[TEXT])


def test_the_bound_has_letters_where_a_parameter_gives_the_similarity_and_numbers_in_a_run() -> None:
    theorem = of_a_parameter(bs.vector("q", 1, size=1))
    names = {letter.name for letter in theorem.statement.quantity("output").derived().free_symbols}
    assert names == {"C_g", "J_g", "Lv_g", "rho_g", "M", "eta"}
    for name in ("Gaussian", "kinked"):
        rows = compared(theorem, g=name)
        assert all(set(row.verdict.values()) == KEPT for row in rows.values())
        values = {eta: 0.1, M: 16, L: 5}
        similarity = bs.blocks.similarity(READ[name]).approximated(cells=M)
        keys = bs.quantised(bs.tokens("k", L, 1, size=1), eta)
        fixed = compared(bs.theorem("scores", similarity(bs.vector("q", 1, size=1), keys), parameters=values))
        assert rows["output", "network"].derived == pytest.approx(fixed["output", "network"].derived, rel=1e-9)


def test_both_slopes_count_where_the_query_errs_too() -> None:
    theorem = of_a_parameter(bs.quantised(bs.vector("q", 1, size=1), eta))
    derived = theorem.statement.quantity("output").derived()
    assert {"Lu_g", "Lv_g"} <= {letter.name for letter in derived.free_symbols}
    rows = compared(theorem, g="kinked")
    assert all(set(row.verdict.values()) == KEPT for row in rows.values())


def test_a_similarity_that_a_parameter_gives_is_certified_in_the_run() -> None:
    with pytest.raises(bs.UsageError, match=r"1/\(u - v\) is not known to be finite on \[-1, 1\]\^2"):
        compared(of_a_parameter(bs.vector("q", 1, size=1)), g="pole")
    with pytest.raises(bs.UsageError, match="similarity: give a function of u and v, or given="):
        bs.blocks.similarity()
    scores = bs.blocks.similarity(given="g")(
        bs.vector("q", 1, size=1), bs.function(sp.sin)(bs.tokens("k", L, 1, size=1))
    )
    with pytest.raises(bs.UsageError, match=r"s: g is known in runs alone; give bs.function\(radius=\), within which"):
        bs.compare(bs.theorem("s", scores, parameters={L: 3}, texts=[TEXT]), samples=2, attack=0)
