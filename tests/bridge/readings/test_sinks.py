"""Softmax weights beside a sink: small differences without cancellation, and the enclosure against sampled errors."""

import math

import pytest
import sympy as sp
import torch

from bridge.readings import AtHand, Operands, enclose, read
from symbolic.calculus import Approximated, given, heads_as_linear

KINDS = ("none", "constant", "opposite")


def weights(kind: str, sink: float) -> Approximated:
    return heads_as_linear(given("s", dim=3, size=1), "w", sink=sp.Float(sink), second=kind)


def by_definition(kind: str, scores: torch.Tensor, sink: float) -> torch.Tensor:
    def head(s: torch.Tensor) -> torch.Tensor:
        beside = torch.cat([s, torch.full_like(s[..., :1], sink)], -1)
        return math.exp(sink) * torch.softmax(beside, -1)[..., :-1]

    match kind:
        case "none":
            return head(scores)
        case "constant":
            return head(scores) - head(0 * scores)
    return (head(scores) - head(-scores)) / 2


@pytest.mark.parametrize("kind", KINDS)
def test_the_emulated_weights_are_those_of_the_heads(kind: str) -> None:
    scores = torch.tensor([[0.3, -0.5, 0.1], [0.0, 1.0, -1.0]], dtype=torch.float64)
    found = read(weights(kind, 2.0).derivation, Operands({"s": scores}), ["w"])["w"]
    assert torch.allclose(found.emulated, by_definition(kind, scores, 2.0), atol=1e-14)
    assert torch.equal(found.exact, scores + float(kind == "none"))


@pytest.mark.parametrize("kind", ["constant", "opposite"])
def test_small_scores_lose_no_digits(kind: str) -> None:
    scores = 1e-9 * torch.tensor([[0.3, -0.5, 0.1]], dtype=torch.float64)
    found = read(weights(kind, 40.0).derivation, Operands({"s": scores}), ["w"])["w"]
    assert torch.allclose(found.emulated, scores, rtol=1e-8, atol=0)


@pytest.mark.parametrize("kind", KINDS)
def test_the_enclosure_holds_the_errors_of_all_moved_scores_and_is_reached(kind: str) -> None:
    exact, error, letter = torch.tensor([0.3, -0.5, 0.1], dtype=torch.float64), 0.05, sp.Symbol("e", positive=True)
    scores = given("s", dim=3, size=1, error=letter)
    derivation = heads_as_linear(scores, "w", sink=2, second=kind).derivation
    found = enclose(derivation, AtHand(Operands({"s": exact}, {letter: error}), by_rules=False)).steps["w"].error
    corners = exact + error * torch.cartesian_prod(*[torch.tensor([-1.0, 0.0, 1.0], dtype=torch.float64)] * 3)
    errors = by_definition(kind, corners, 2.0) - exact - float(kind == "none")
    least, most = errors.amin(0), errors.amax(0)
    assert bool((found.centre - found.radius <= least + 1e-15).all())
    assert bool((most <= found.centre + found.radius + 1e-15).all())
    reached = torch.maximum(most - found.centre, found.centre - least)
    assert torch.allclose(reached, found.radius, atol=1e-15)
