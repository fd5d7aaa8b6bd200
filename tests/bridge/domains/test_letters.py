"""Domains in letters: bounds, the numbers that `at` gives, what it refuses."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp
import torch

from bridge.domains import Ball, Box, Domain, Integers, Product, Rows, Shell, Signs, Simplex, SingularValues, Sphere
from symbolic.derivations.derivation import Norm, given
from symbolic.words.errors import UsageError
from tests.bridge.domains.kinds import B, d, generator, n

m = sp.Symbol("m")
INF, ONE, TWO = Norm.INF, Norm.ONE, Norm.TWO

BOUNDS = [
    (Box(n, d, size=B), (B, n * d * B, sp.sqrt(n * d) * B)),
    (Box(n, low=-B, high=2 * B), (2 * B, 2 * n * B, 2 * sp.sqrt(n) * B)),
    (Box(n, low=-3, high=2), (3, 3 * n, 3 * sp.sqrt(n))),
    (Ball(d, radius=B), (B, sp.sqrt(d) * B, B)),
    (Ball(d, radius=B, norm=1), (B, B, B)),
    (Ball(n, d, radius=B, norm="inf"), (B, n * d * B, sp.sqrt(n * d) * B)),
    (Sphere(d, radius=B), (B, sp.sqrt(d) * B, B)),
    (Shell(d, low=B / 2, high=B), (B, sp.sqrt(d) * B, B)),
    (Signs(d, size=B), (B, d * B, sp.sqrt(d) * B)),
    (Simplex(n), (1, 1, 1)),
    (Integers(d, low=-n, high=n), (n, d * n, sp.sqrt(d) * n)),
    (Rows(n, Ball(d, radius=B)), (B, n * sp.sqrt(d) * B, sp.sqrt(n) * B)),
    (Rows(n, Simplex(d)), (1, n, sp.sqrt(n))),
    (
        SingularValues(n, d, low=B / 2, high=B),
        (B, sp.sqrt(n * d * sp.Min(n, d)) * B, sp.sqrt(sp.Min(n, d)) * B),
    ),
]


@pytest.mark.parametrize(("domain", "bounds"), BOUNDS, ids=str)
def test_the_bound_is_in_the_letters(domain: Domain, bounds: tuple[Any, Any, Any]) -> None:
    for norm, expected in zip((INF, ONE, TWO), bounds, strict=True):
        assert sp.simplify(domain.bound(norm) - expected) == 0


@pytest.mark.parametrize(("domain", "bounds"), BOUNDS, ids=str)
def test_numbers_for_the_letters_commute_with_the_bound(domain: Domain, bounds: tuple[Any, Any, Any]) -> None:
    values = {n: 3, d: 2, B: sp.Rational(1, 2)}
    for norm in Norm:
        assert sp.simplify(domain.bound(norm).subs(values) - domain.at(values).bound(norm)) == 0


def test_a_derivation_starts_from_the_bound_of_a_row() -> None:
    X = Rows(n, Ball(d, radius=B))
    assert X.shape == (n, d)
    assert given("x", dim=d, norm=TWO, size=X.row.bound(TWO)).size == B


@pytest.mark.parametrize("size", [0.1, Fraction(1, 3), 2, sp.sqrt(2), sp.Float(0.1)])
def test_numbers_enter_exactly(size: Any) -> None:
    exactly = sp.Rational(size) if isinstance(size, float | sp.Float) else sp.sympify(size)
    assert Ball(d, radius=B).at({d: 2, B: size}) == Ball(2, radius=exactly)
    assert Ball(2, radius=size).bound(TWO) == exactly


def test_shapes_become_ints() -> None:
    at_hand = Rows(n, Box(2 * d, size=B)).at({n: 3, d: 1, B: 1, m: -7})
    assert at_hand.shape == at_hand.dims == (3, 2)
    assert all(type(each) is int for each in at_hand.shape)
    assert at_hand.sample(5, generator()).shape == (5, 3, 2)


REFUSED = [
    (
        Box(m, size=B),
        {n: 1, d: 1, B: 1},
        r"Box(m, size=B) has the letter m, which is not a parameter; parameters: B, d, n",
    ),
    (Box(m, d, size=B), {}, "has the letter m, which is not a parameter; parameters: none"),
    (Ball(d, radius=B * m), {d: 1}, "has the letters B, m, which are not a parameter; parameters: d"),
    (Rows(n, Ball(d, radius=m)), {n: 1, d: 1}, "Ball(d, radius=m, norm=2) has the letter m"),
    (Box(n), {n: -1}, "Box(n, size=1): the dimension -1 is negative"),
    (Box(n), {n: 1.5}, "Box(n, size=1): the dimension 3/2 is not an integer"),
    (Sphere(d), {d: 0}, "Sphere(d, radius=1): the dimension 0 is below 1"),
    (Simplex(d - 1), {d: 1}, "Simplex(d - 1): the dimension 0 is below 1"),
    (Rows(n, Box(2)), {n: -2}, "Rows(n, Box(2, size=1)): the dimension -2 is negative"),
    (Ball(2, radius=B), {B: -1}, "Ball(2, radius=B, norm=2): the radius -1 is negative"),
    (Signs(2, size=B), {B: -1}, "the size -1 is negative"),
    (Box(2, size=B), {B: -1}, "Box(2, size=B): Box: low = 1 exceeds high = -1"),
    (Box(2, low=m, high=B), {m: 2, B: 1}, "low = 2 exceeds high = 1"),
    (Integers(2, low=0, high=m), {m: 0.5}, "Integers: high = 1/2 is not an integer between -2^53 and 2^53"),
    (Integers(2, low=0, high=m), {m: 2**60}, "is not an integer between -2^53 and 2^53"),
    (
        SingularValues(n, d, low=B),
        {n: 1, d: 1, B: 2},
        "SingularValues(n, d, low=B, high=1): SingularValues: low = 2 exceeds high = 1",
    ),
    (Shell(n, low=B), {n: 1, B: 2}, "Shell(n, low=B, high=1): Shell: low = 2 exceeds high = 1"),
    (Shell(d), {d: 0}, "Shell(d, low=0, high=1): the dimension 0 is below 1"),
    (SingularValues(n, d), {n: 1, d: 0}, "SingularValues(n, d, low=0, high=1): the dimension 0 is below 1"),
    (Ball(2, radius=m), {m: float("nan")}, "expected a finite real number, got nan"),
    (Ball(2, radius=m), {m: sp.I}, "expected a finite real number, got I"),
    (Ball(2, radius=1 / m), {m: 0}, "expected a finite real number, got zoo"),
    (Ball(2, radius=m), {m: "1"}, "expected a number or a SymPy expression, got '1'"),
]


@pytest.mark.parametrize(("domain", "values", "message"), REFUSED, ids=str)
def test_at_refuses(domain: Domain, values: dict[sp.Symbol, Any], message: str) -> None:
    with pytest.raises(UsageError) as refusal:
        domain.at(values)
    assert message in str(refusal.value)


WRONG_CALLS: list[tuple[Callable[[], Any], str]] = [
    (lambda: Box(2, size=-1), "the size -1 is negative"),
    (lambda: Box(2, low=1), "Box: give size, or low and high"),
    (lambda: Box(2, size=1, low=0, high=1), "Box: give size, or low and high"),
    (lambda: Ball(2, norm=3), "Ball: the norm 3 is not one of inf, 1, 2"),
    (lambda: Box("n"), "expected a number or a SymPy expression, got 'n'"),
    (lambda: Sphere(0), "the dimension 0 is below 1"),
    (lambda: Shell(2, low=-1), "the lower end -1 is negative"),
    (lambda: Shell(2, low=2), "Shell: low = 2 exceeds high = 1"),
    (lambda: SingularValues(2, 2, low=-1), "the lower end -1 is negative"),
    (lambda: SingularValues(2, 2, low=2), "SingularValues: low = 2 exceeds high = 1"),
    (lambda: Integers(1, low=0.5, high=2), "Integers: low = 1/2 is not an integer"),
]


@pytest.mark.parametrize(("call", "message"), WRONG_CALLS, ids=[message for _, message in WRONG_CALLS])
def test_a_wrong_call_is_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(UsageError) as refusal:
        call()
    assert message in str(refusal.value)


USES: dict[str, Callable[[Domain], Any]] = {
    "sample": lambda domain: domain.sample(2, generator()),
    "starts": lambda domain: domain.starts(2, generator()),
    "project": lambda domain: domain.project(torch.ones(1, 2, dtype=torch.float64)),
    "complaint": lambda domain: domain.complaint(torch.ones(2, dtype=torch.float64)),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize(
    "domain",
    [Box(n), Box(2, size=B), Ball(2, radius=B), Sphere(2, radius=B), Signs(2, size=B), Integers(2, low=0, high=n)],
    ids=str,
)
def test_letters_are_refused_where_numbers_are_needed(domain: Domain, use: str) -> None:
    with pytest.raises(UsageError, match=r"; give .* numbers by at\(\.\.\.\)"):
        USES[use](domain)


def test_a_product_names_the_input() -> None:
    with pytest.raises(UsageError, match=r"^w: Box\(m, size=1\) has the letter m"):
        Product({"x": Ball(d), "w": Box(m)}).at({d: 2})
