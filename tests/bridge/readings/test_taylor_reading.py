"""A Taylor expansion at a prompt: what its rule and its enclosure know there holds, and neither invents anything."""

import sympy as sp
import torch

from bridge.readings import AtHand, Emulated, Operands, Reading, Smooth, enclose
from symbolic.calculus import Norm, given, taylor
from symbolic.derivations.derivation import Derivation

SIZE, EPS = 2.0, 0.01


def derivation(norm: Norm, suprema: dict[int, int], derivatives: dict[int, int]) -> Derivation:
    x = given("x", dim=3, norm=norm, size=SIZE, error=sp.Symbol("e", nonnegative=True))
    f = taylor(x, "f", suprema=suprema, derivatives=derivatives, eps=sp.Float(EPS), size=3, function="f")
    return f.derivation


def read(found: Derivation, function: Smooth, exact: torch.Tensor, near: torch.Tensor) -> Reading:
    operands = Operands({"x": Emulated(exact, near), "f": function}, {})
    return enclose(found, AtHand(operands))


def test_the_error_is_below_what_the_rule_and_the_enclosure_know() -> None:
    generator = torch.Generator().manual_seed(0)
    expanded = Smooth(torch.sin, None, (torch.cos, lambda z: -torch.sin(z)), {2: 1.0, 3: 1.0}, error=EPS)
    largest = 0.0
    for norm in Norm:
        found = derivation(norm, {1: 1, 2: 1}, {})
        for _ in range(50):
            exact = SIZE * (2 * torch.rand(3, generator=generator, dtype=torch.float64) - 1)
            near = exact + 0.5 * (2 * torch.rand(3, generator=generator, dtype=torch.float64) - 1)
            error = torch.linalg.vector_norm(torch.sin(near) + EPS - torch.sin(exact), ord=float(norm))
            for function in (expanded, Smooth(torch.sin, error=EPS)):
                bound = read(found, function, exact, near).bound("f")
                assert bound is not None
                assert error <= bound * (1 + 1e-12)
                largest = max(largest, float(error / bound))
    assert largest > 0.9


def test_without_what_is_known_of_the_function_the_numbers_of_the_rule_enclose() -> None:
    found = derivation(Norm.INF, {2: 1}, {1: 1})
    exact, near = torch.zeros(3, dtype=torch.float64), torch.full((3,), 0.5, dtype=torch.float64)
    step, plain = found.step("f"), read(found, Smooth(torch.sin), exact, near)
    assert not plain.stops
    for bound in (plain.by_enclosure(step), plain.bound("f")):
        assert bound is not None
        torch.testing.assert_close(bound, torch.tensor(EPS + 0.5 + 0.5**2 / 2, dtype=torch.float64))
    twice = read(derivation(Norm.INF, {1: 1, 2: 1}, {1: 1}), Smooth(torch.sin), exact, near)
    torch.testing.assert_close(
        twice.by_enclosure(step), torch.tensor(EPS + 0.5, dtype=torch.float64)
    )  # the least of the two
