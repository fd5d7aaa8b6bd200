"""A network of the user's beside an expression: functions, modules of torch, weights that are given, steps by name."""

from typing import Any

import numpy as np
import pytest
import sympy as sp
import torch

import boundsmith as bs
from bridge.theorems.modules import as_function
from symbolic.words.errors import UsageError

K, delta, eps = sp.symbols("K delta eps", positive=True)
N, d = sp.symbols("N d", integer=True, positive=True)
FEW = {"samples": 8, "attack": 4, "restarts": 2}
STEP = 2**-6


class TwoLayers(torch.nn.Module):
    """x -> B tanh(A x), in float32 as modules are."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = (torch.nn.Linear(4, 4, bias=False) for _ in range(2))

    def forward(self, x: torch.Tensor) -> Any:
        hidden = torch.tanh(self.first(x))
        return {"hidden": hidden, "output": self.second(hidden)}


def seeded() -> TwoLayers:
    torch.manual_seed(0)
    return TwoLayers()


def rounded(module: TwoLayers) -> TwoLayers:
    found = TwoLayers()
    found.load_state_dict({name: torch.round(each / STEP) * STEP for name, each in module.state_dict().items()})
    return found


def theorem(network: Any = None, **more: Any) -> bs.Theorem:
    module = seeded()
    A = bs.matrix("A", d, d, spectral=K, given=module.first.weight).rounded(delta)
    B = bs.matrix("B", d, d, spectral=K, given=module.second.weight).rounded(delta)
    hidden = bs.function(sp.tanh)(A @ bs.vector("x", d, norm=1)).named("hidden")
    given = {} if network is None else {"network": network, "reference": module}
    return bs.theorem("module", B @ hidden, parameters={K: 1.5, delta: STEP, d: 4}, **given, **more)


def rows(own: bs.Theorem) -> dict[str, Any]:
    return {row.scope or row.quantity: row for row in bs.compare(own, **FEW).rows}


def test_modules_are_network_and_reference_and_run_on_balls() -> None:
    found, graph = rows(theorem(rounded(seeded()))), rows(theorem())
    assert {verdict for row in found.values() for verdict in row.verdict.values()} == {"kept"}
    assert found["faithful"].measured == 0
    assert found["network"].instance == graph["network"].instance
    assert found["prompt"].exact == pytest.approx(graph["prompt"].exact, rel=1e-12)


def test_the_given_weights_are_those_of_the_module() -> None:
    row = rows(theorem())["network"]
    module = seeded()
    A, B = (each.weight.detach().double().numpy() for each in (module.first, module.second))
    A_hat, B_hat = (np.round(each / STEP) * STEP for each in (A, B))
    x = np.random.default_rng(0).standard_normal((20_000, 4))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    errors = np.tanh(x @ A_hat.T) @ B_hat.T - np.tanh(x @ A.T) @ B.T
    largest = abs(errors).max()
    assert row.attacked is not None
    assert 0.9 * largest <= max(row.attacked, row.measured) <= row.instance


def test_a_module_with_other_weights_is_not_the_network_of_the_derivation() -> None:
    row = rows(theorem(seeded()))["faithful"]
    assert row.verdict == {"derived": "violated"}
    assert "of the steps that it returns by name, 'hidden' is the first that differs" in row.remark


def test_the_first_step_that_differs_is_named() -> None:
    lossy = bs.function(sp.tanh).approximated(lambda t: (1 - eps) * sp.tanh(t))
    W, x = bs.matrix("W", d, d, row_sums=K), bs.vector("x", d, size=1)
    one = lossy(W @ x).named("one")
    output = W @ lossy(W @ one).named("two")

    def network(W: Any, x: Any, eps: Any) -> dict[str, Any]:
        first = (1 - eps) * torch.tanh(W @ x)
        second = (1 - 2 * eps) * torch.tanh(W @ first)
        return {"one": first, "two": second, "output": W @ second}

    own = bs.theorem("steps", output, parameters={eps: 0.01, K: 1.5, d: 4}, network=network)
    row = rows(own)["faithful"]
    assert row.verdict == {"derived": "violated"}
    assert row.remark.endswith("of the steps that it returns by name, 'two' is the first that differs")


def test_the_statement_says_that_the_matrix_is_given() -> None:
    words = "the given matrix A has a spectral norm of at most K"
    assert words in theorem().statement.assumptions


def test_a_module_runs_where_its_arguments_are_and_as_they_are() -> None:
    network = as_function(seeded())
    for dtype in (torch.float32, torch.float64):
        found = network(x=torch.zeros(4, dtype=dtype, device="meta"))["output"]
        assert (found.device.type, found.dtype) == ("meta", dtype)


def test_a_module_is_taken_as_it_is_now() -> None:
    module = seeded()
    network, x = as_function(module), torch.ones(4, dtype=torch.float64)
    before = network(x=x)["output"]
    with torch.no_grad():
        module.second.weight.zero_()
    assert torch.equal(network(x=x)["output"], before)
    assert before.abs().max() > 0


def test_a_given_matrix_of_each_layer() -> None:
    array = torch.eye(3).repeat(2, 1, 1) / 2
    W = bs.matrix("W", d, d, row_sums=K, layers=N, given=array).rounded(delta)
    output = bs.repeat(lambda p: W @ p, bs.vector("x", d, size=1), N)
    own = bs.theorem("layers", output, parameters={K: 0.5, delta: 2.0, N: 2, d: 3})
    assert rows(own)["network"].measured <= 0.25  # rounded to 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("weights", "W: given='weights'; give an array of numbers"),
        ([1.0, 2.0], "W: given has the shape (2,); give 2 axes of finite numbers"),
        ([[1.0, float("nan")]], "W: given has the shape (1, 2); give 2 axes of finite numbers"),
    ],
)
def test_what_is_no_matrix_is_refused(given: Any, words: str) -> None:
    with pytest.raises(UsageError) as refused:
        bs.matrix("W", d, d, spectral=K, given=given)
    assert str(refused.value) == words


def test_a_given_matrix_does_not_vary() -> None:
    with pytest.raises(UsageError, match="neither drawn from a domain nor varies"):
        bs.matrix("W", d, d, spectral=K, given=torch.eye(2), varies=True)


@pytest.mark.parametrize(
    ("size", "bound", "words"),
    [
        (3, 1.5, "the given W has the shape (2, 2), and its letters [d, d] are (3, 3) at the parameters"),
        (2, 0.5, "W has a norm of 1, above K = 0.5; make them agree"),
    ],
)
def test_a_given_matrix_fits_the_parameters(size: int, bound: float, words: str) -> None:
    output = bs.matrix("W", d, d, spectral=K, given=torch.eye(2)) @ bs.vector("x", d, norm=1)
    with pytest.raises(UsageError) as refused:
        bs.theorem("own", output, parameters={K: bound, d: size})
    assert words in str(refused.value)
