"""Matrices that are typed: parameters of a theorem, whose size follows them."""

import numpy as np
import pytest
import sympy as sp

import boundsmith as bs
from bridge.expressions.matrices import Matrix
from tests.bridge.expressions.test_blocks import KEPT
from tests.bridge.expressions.test_theorems import FEW

K, eps = sp.symbols("K eps", positive=True)
d, e, N = sp.symbols("d e N", integer=True, positive=True)
WORDS = {K: "spectral norm of `W`"}


def typed(**more: object) -> bs.Theorem:
    W = bs.matrix("W", d, d, spectral=K, typed=0.5, meaning="the map")
    output = bs.quantised(bs.vector("x", d, norm=1), eps)
    return bs.theorem("typed", W @ output, parameters={eps: 0.1, d: 3}, meanings=WORDS, **more)


def test_a_typed_matrix_is_a_parameter_that_gives_its_size() -> None:
    theorem = typed()
    parameter = theorem.statement.parameter("W")
    assert (parameter.symbol, parameter.default) == (None, 0.5)
    assert str(parameter.meaning).startswith("the map, d x d: a number w for w I, a JSON matrix, @FILE with one")
    W = [[1.0, 2.0], [0.0, -1.0]]
    half = 0.05 * 2**0.5  # of the grid, in the 2-norm of R^2
    for given in (W, "[[1, 2], [0, -1]]"):
        (row,) = (x for x in bs.compare(theorem, W=given, **FEW).rows if x.scope == "network")
        assert row.params["d"] == 2
        assert row.instance == pytest.approx(np.linalg.norm(W, 2) * half)
        assert set(row.verdict.values()) == KEPT
        assert row.exact >= 0.8 * row.instance
    (default,) = (x for x in bs.compare(theorem, **FEW).rows if x.scope == "network")
    assert default.params["d"] == 3
    assert default.instance == pytest.approx(0.5 * 0.05 * 3**0.5)
    (wide,) = (x for x in bs.compare(theorem, d=5, W="signs:2", **FEW).rows if x.scope == "network")
    assert wide.params["d"] == 5


def test_knobs_of_the_author_come_after_the_sizes() -> None:
    seen = []

    def resolve(params: dict, seed: int) -> dict:
        seen.append(params["d"])
        return {**params, "eps": 0.2}

    theorem = typed(knobs=bs.Knobs(resolve=resolve, searched={"d": (1, 8)}))
    (row,) = (x for x in bs.compare(theorem, W=[[1.0]], **FEW).rows if x.scope == "network")
    assert seen[0] == 1
    assert row.params["eps"] == 0.2
    assert row.instance == pytest.approx(0.1)
    assert theorem.knobs.searched == {"d": (1, 8)}


def test_a_solved_knob_keeps_what_is_typed() -> None:
    assert bs.solve(typed(), for_="eps", error=0.1, W=2.0, d=4).value == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"W": [[1.0, 2.0], [0.0, 1.0]], "d": 3}, "W is 2 x 2 but d = 3; leave d out or make them agree"),
        ({"W": "true"}, "entries that are not numbers"),
        ({"d": "many"}, "d = 'many' is not a number"),
        ({"d": 0}, "d = 0 does not meet d >= 1"),
        ({"d": 1.5}, "d = 1.5 is not a whole number"),
    ],
)
def test_what_does_not_fit_is_refused_at_a_point(given: dict, words: str) -> None:
    with pytest.raises(bs.UsageError, match=words):
        bs.compare(typed(), **given, **FEW)


def stated(W: Matrix) -> bs.Theorem:
    return bs.theorem("own", W @ bs.quantised(bs.vector("x", d, norm=1), eps), parameters={eps: 0.1, d: 3, K: 2})


def test_what_is_no_typed_matrix_is_refused() -> None:
    for rows, columns, more in ((d, e, {}), (3, 3, {}), (d, d, {"layers": N}), (d, d, {"given": np.eye(3)})):
        with pytest.raises(bs.UsageError, match="W: a typed matrix is square, of a size that is a letter, and one for"):
            bs.matrix("W", rows, columns, spectral=K, typed=1.0, **more)
    with pytest.raises(bs.UsageError, match="W: spectral is a norm of whatever is typed; give a letter of its own"):
        bs.matrix("W", d, d, spectral=2 * K, typed=1.0)
    with pytest.raises(bs.UsageError, match="own: K is a norm of W, which is typed; it is no parameter"):
        stated(bs.matrix("W", d, d, spectral=K, typed=1.0))
