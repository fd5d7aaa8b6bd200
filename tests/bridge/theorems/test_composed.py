"""`ComposedLetter`: a formula in letters that functions give, as one function of what all of them take."""

import sympy as sp
import torch

from bridge.limits.arguments import arguments_of
from bridge.theorems.composed import ComposedLetter
from numeric.balls import BallArray
from numeric.balls.running import run_on_balls

R, S, eta = sp.symbols("R S eta", positive=True)


def test_it_takes_what_the_functions_take_and_the_other_letters_of_the_formula() -> None:
    inner = ComposedLetter(2 * S + eta, {S: lambda x, n: n * x.sum(), R: lambda unused: unused})
    assert arguments_of(inner) == ("eta", "x", "n")
    outer = ComposedLetter(R * eta, {R: inner})
    assert arguments_of(outer) == ("eta", "x", "n")
    x = torch.tensor([1.0, 2.0], dtype=torch.float64)
    assert outer(x=x, n=2, eta=torch.tensor(0.5, dtype=torch.float64)).item() == 0.5 * (2 * 6 + 0.5)


def test_it_runs_on_balls() -> None:
    letter = ComposedLetter(R / eta, {R: lambda x: x.sum()})
    found = run_on_balls(letter, {"x": torch.tensor([1.0], dtype=torch.float64), "eta": 3})
    assert isinstance(found, BallArray)
    assert (3 * found.balls[0]).contains(1)
    assert float(found.balls[0].rad()) < 1e-30
