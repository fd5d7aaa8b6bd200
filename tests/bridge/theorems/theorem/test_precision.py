"""Numbers keep their digits: letters, rigorous bounds that are built, and what is built in a run of float32."""

from typing import Any

import flint
import pytest
import sympy as sp
import torch
from torch import Tensor

import boundsmith as bs
from symbolic.words.errors import UsageError

eps, K = sp.symbols("eps K", positive=True)
d = sp.Symbol("d", integer=True, positive=True)


def linear(**changes: Any) -> bs.Theorem:
    """The network W (1 - eps) tanh(x), where W has rows of 1-norm at most K."""
    r_x = bs.rules.apply_function(
        bs.rules.given("x", dim=d, size=1), "r(x)", eps=eps, lipschitz=1, size=1, function="r"
    )
    arguments: dict[str, Any] = {
        "parameters": {eps: 0.01, d: 5, K: 1.5},
        "weights": {"W": bs.domains.Rows(d, bs.domains.Ball(d, norm=1, radius=K))},
        "inputs": {"x": bs.domains.Box(d)},
        "network": lambda W, x, eps: W @ ((1 - eps) * torch.tanh(x)),
        "reference": lambda W, x: W @ torch.tanh(x),
        "knows": {K: lambda W: W.abs().sum(1).amax()},
        "handles": lambda W, x, eps: {"W": W, "x": x, "r": bs.Smooth(torch.tanh, lambda t: (1 - eps) * torch.tanh(t))},
    }
    output = bs.rules.linear_map(r_x, "y", operator_norm=K, dim=d, matrix="W")
    return bs.theorem("linear", output, **{**arguments, **changes})


def at_prompts(theorem: bs.Theorem, **settings: Any) -> list[Any]:
    rows = bs.compare(theorem, samples=16, attack=4, restarts=2, **settings).rows
    found = [row for row in rows if row.scope == "prompt"]
    assert found
    return found


def largest_row(W: Tensor) -> float:
    """The norm of W in the sup norm, rounded up."""
    sums = [sum((abs(flint.arb(float(entry))) for entry in row), flint.arb(0)) for row in W]
    return float(max(sums, key=float).upper() * (1 + flint.arb(2) ** -52))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("knows", [lambda W: W.abs().sum(1).amax(), lambda top: top], ids=["computed", "built"])
def test_a_bound_of_a_norm_is_not_too_small_by_rounding(seed: int, knows: Any) -> None:
    rows = at_prompts(linear(built={"top": largest_row}, knows={K: knows}), seed=seed)
    assert [row.verdict for row in rows] == [{"instance": bs.Verdict.KEPT}] * len(rows)


def test_a_bound_that_is_too_small_is_named_with_digits_that_differ() -> None:
    less = linear(built={"top": lambda W: 0.9999999 * largest_row(W)}, knows={K: lambda top: top})
    rows = at_prompts(less)
    assert {row.verdict["instance"] for row in rows} == {bs.Verdict.OUTSIDE}
    words = rows[0].remark.partition("the norm of 'W' in the inf-norm is ")[2]
    found, _, given = words.partition(", above the ")
    assert float(found) > float(given.split()[0])


# tanh and (1 - eps) tanh differ by 1e-13, of which floats of size 1 keep three digits.
def test_an_approximation_near_the_rounding_of_floats_is_not_called_worse_than_it_is() -> None:
    rows = at_prompts(linear(parameters={eps: 1e-13, d: 5, K: 1.5}))
    assert {row.verdict["instance"] for row in rows} <= {bs.Verdict.KEPT, bs.Verdict.UNDECIDED}


@pytest.mark.parametrize("error", [1e-13, 3e-13])
def test_steps_decide_on_balls_what_cancels_in_floats(error: float) -> None:
    y = bs.rules.apply_function(bs.rules.given("x", dim=6, size=1), "y", eps=eps, lipschitz=1, size=1, function="r")
    x = torch.linspace(-1, 1, 6, dtype=torch.float64)
    shifted = bs.Smooth(torch.cos, lambda t: torch.cos(t) + error)
    assert bs.at(y, {"x": x, "r": shifted}, {eps: error})["y"].bound is not None
    with pytest.raises(UsageError, match=r"the deviation of 'r' is .*, above the .* that rule"):
        bs.at(y, {"x": x, "r": shifted}, {eps: error / 2})


def test_functions_that_do_not_run_on_balls_are_compared_in_floats() -> None:
    y = bs.rules.apply_function(bs.rules.given("x", dim=2, size=1), "y", eps=eps, lipschitz=1, size=1, function="r")
    shifted = bs.Smooth(lambda t: torch.cos(t), lambda t: torch.from_numpy(t.numpy()).cos() + 0.5)
    x = torch.tensor([0.25, -0.5], dtype=torch.float64)
    with pytest.raises(UsageError, match=r"the deviation of 'r' is 0.5, above the 0.25 that rule"):
        bs.at(y, {"x": x, "r": shifted}, {eps: 0.25})


def test_a_size_that_is_too_small_is_named_with_digits_that_differ() -> None:
    y = bs.rules.linear_map(bs.rules.given("x", dim=2, size=K), "y", operator_norm=1, dim=2, matrix="A")
    x, A = torch.tensor([0.25, 1 + 1e-9], dtype=torch.float64), torch.eye(2, dtype=torch.float64)
    with pytest.raises(UsageError, match=r"the size 1\.000000001 in the inf-norm, above K = 1$"):
        bs.at(y, {"x": x, "A": A}, {K: 1.0})


# Precision of what is built.


def inverse(W: Tensor) -> Tensor:
    return torch.linalg.inv(W.to(torch.float64) + 4 * torch.eye(len(W), dtype=torch.float64))


BUILT: dict[str, tuple[Any, Any]] = {
    "a tensor": (inverse, lambda of: of),
    "a tuple": (lambda W: (inverse(W), "a word"), lambda of: of[0]),
    "a list in a dict": (lambda W: {"each": [inverse(W)], "count": 1}, lambda of: of["each"][0]),
}


@pytest.mark.parametrize(("build", "part"), BUILT.values(), ids=list(BUILT))
def test_what_is_built_has_the_precision_of_the_run(build: Any, part: Any) -> None:
    seen: dict[str, set[torch.dtype]] = {"network": set(), "reference": set()}

    def run(role: str, product: Any, x: Any, W: Any, of: Any) -> Any:
        if isinstance(x, Tensor):
            seen[role] |= {x.dtype, W.dtype, part(of).dtype}
        return product

    theorem = linear(
        built={"of": build},
        network=lambda W, x, eps, of: run("network", W @ (part(of) @ ((1 - eps) * torch.tanh(x))), x, W, of),
        reference=lambda W, x, of: run("reference", W @ (part(of) @ torch.tanh(x)), x, W, of),
        handles=None,
        knows={},
    )
    rows = bs.compare(theorem, samples=16, attack=4, restarts=2, dtype="float32").rows
    assert rows[0].verdict["derived"] is bs.Verdict.KEPT
    assert torch.float32 in seen["network"]
    assert seen["reference"] == {torch.float64}
