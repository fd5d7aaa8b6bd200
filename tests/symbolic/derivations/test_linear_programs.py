"""The simplex method in rational numbers, against all vertices, with limits that many vertices share."""

import itertools
import random
from fractions import Fraction

import pytest
import sympy as sp

from symbolic.derivations.linear_programs import Infeasible, Unbounded, maximise


def vertices(rows: list[list[Fraction]], limits: list[Fraction], count: int) -> list[list[Fraction]]:
    """All points with x >= 0 and rows x <= limits at which `count` of these are equalities."""
    every = [*zip(rows, limits, strict=True)]
    every += [([Fraction(-(place == at)) for at in range(count)], Fraction(0)) for place in range(count)]
    found = []
    for chosen in itertools.combinations(every, count):
        matrix = sp.Matrix([row for row, _ in chosen])
        if matrix.det() != 0:
            x = [Fraction(int(v.p), int(v.q)) for v in matrix.LUsolve(sp.Matrix([most for _, most in chosen]))]
            if all(sum(a * b for a, b in zip(row, x, strict=True)) <= most for row, most in every):
                found.append(x)
    return found


@pytest.mark.parametrize("seed", range(30))
def test_the_largest_value_is_that_of_the_best_vertex(seed: int) -> None:
    draw = random.Random(seed)
    count, several = draw.choice((1, 2, 3)), draw.choice((1, 2, 3, 4))
    rows = [[Fraction(draw.randint(-2, 2)) for _ in range(count)] for _ in range(several)]
    limits, gains = [Fraction(draw.randint(-1, 2)) for _ in rows], [Fraction(draw.randint(-2, 2)) for _ in range(count)]
    rows.append([Fraction(1)] * count)  # x is bounded, so that a vertex is best
    limits.append(Fraction(5))
    best = vertices(rows, limits, count)
    if not best:
        with pytest.raises(Infeasible):
            maximise(gains, rows, limits)
        return
    x = maximise(gains, rows, limits)
    assert all(entry >= 0 for entry in x)
    for row, most in zip(rows, limits, strict=True):
        assert sum(a * b for a, b in zip(row, x, strict=True)) <= most
    value = sum(a * b for a, b in zip(gains, x, strict=True))
    assert value == max(sum(a * b for a, b in zip(gains, each, strict=True)) for each in best)


def test_a_program_that_cycles_without_blands_rule_ends() -> None:
    rows = [["1/4", "-8", "-1", "9"], ["1/2", "-12", "-1/2", "3"], ["0", "0", "1", "0"]]  # Beale's
    gains = [Fraction(each) for each in ("3/4", "-20", "1/2", "-6")]
    x = maximise(gains, [[Fraction(each) for each in row] for row in rows], [Fraction(0), Fraction(0), Fraction(1)])
    assert sum(a * b for a, b in zip(gains, x, strict=True)) == Fraction(5, 4)


def test_what_has_no_largest_value_is_unbounded() -> None:
    with pytest.raises(Unbounded):
        maximise([Fraction(1), Fraction(0)], [[Fraction(0), Fraction(1)]], [Fraction(1)])
    with pytest.raises(Unbounded):
        maximise([Fraction(1)], [], [])
