"""Gradient descent in context end to end: the state at each loop, formats, weights, and tables of real numbers."""

from pathlib import Path

import numpy as np
import pytest
import torch

from bridge.export.comparison import Comparison
from bridge.questions.compare import compare
from bridge.theorems.record import Row, Verdict
from bridge.topics.looped.gradient_descent import PromptLetters
from bridge.topics.looped.gradient_descent_knobs import resolve
from bridge.topics.looped.gradient_descent_table import above_best, largest_eigenvalue
from bridge.topics.looped.ridge import letters_of, within_domain
from numeric.networks.network import Network
from numeric.topics.looped import gradient_descent as numeric
from symbolic import UsageError
from tests.bridge.csv_files import regression

FEW = {"samples": 8, "attack": 4, "restarts": 2}
ID = "looped.gradient_descent"


def errors(found: Comparison) -> list[Row]:
    return [row for row in found.rows if row.quantity in ("prediction", "residuals")]


def test_a_table_shows_the_whole_state_at_each_loop() -> None:
    comparison = compare(ID, T=5, N=5, m=1, L=2, c=2.0**-5, samples=1, attack=0)
    assert [(row.exact, row.printed) for row in comparison if row.quantity == "layers.pre"] == [(3, 3)]
    (table,) = comparison.tables
    assert [row[0] for row in table.rows] == [1, 2, 4, 5]
    for _, residuals, bound, prediction, of_prediction in table.rows:
        assert 0 < residuals < bound
        assert 0 < prediction < of_prediction


@pytest.mark.parametrize(("dtype", "largest"), [("float32", 1e-3), ("bfloat16", 0.1)])
def test_knobs_follow_the_format(dtype: str, largest: float) -> None:
    rows = errors(compare(ID, T=2, dtype=dtype, samples=2, attack=0))
    assert all(row.measured < largest for row in rows)
    assert Verdict.VIOLATED not in {verdict for row in rows for verdict in row.verdict.values()}
    assert all(row.verdict == {"instance": Verdict.KEPT} for row in rows if row.scope == "prompt")


def weights_of(second: str, c: float, C: float) -> tuple[PromptLetters, torch.Tensor]:
    """What is known of W - G, and W as the attention weights of the network are, for 3 examples."""
    x, y = (
        torch.rand(4, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64) - 0.5,
        torch.tensor([[0.5], [-1.0], [0.25]], dtype=torch.float64),
    )
    at = numeric.DescentSetting(3, 2, 1, 1.0, c, C, 24.0, 1.0, 1.0, second)
    network = Network(numeric.transformer(at, 1))
    state = network.embedding(numeric.tokens(x, y)[None])
    for layer in network.layers[:2]:
        state = layer(state, 0)
    first, other = (network.layers[2].head(name).weights(state, 0, 8)[0, ::2, ::2] for name in ("linear", second))
    share = (0.5 if second == "opposite" else 1.0) * np.exp(C) / c
    here = PromptLetters(
        x, y, torch.zeros(0, 2, 3, dtype=torch.float64), 3, 2, 6, 0.5, c, C, second, 1.0, 1.0, 24.0, 53
    )
    return here, share * (first - other)


@pytest.mark.parametrize("second", ["constant", "opposite"])
def test_what_the_bounds_call_W_is_what_the_network_weighs_by(second: str) -> None:
    here, W = weights_of(second, 2.0**-4, 6.0)
    G = torch.cat([here.products, torch.zeros(4, 1, dtype=torch.float64)], 1)
    torch.testing.assert_close(here.missed, W - G, rtol=1e-6, atol=1e-12)


def test_the_first_order_is_what_two_recursions_differ_by() -> None:
    here, W = weights_of("opposite", 2.0**-4, 20.0)
    exact = moved = torch.cat([-here.y, torch.zeros(1, 1, dtype=torch.float64)])
    for _ in range(6):
        exact, moved = exact - 0.5 * here.products @ exact[:-1], moved - 0.5 * (W @ moved)
    torch.testing.assert_close(here.first_order, moved - exact, rtol=1e-3, atol=1e-12)


def test_ridge_regression_is_least_squares_on_more_examples() -> None:
    generator = torch.Generator().manual_seed(0)
    phi, y = (torch.rand(n, size, generator=generator, dtype=torch.float64) - 0.5 for n, size in ((6, 3), (5, 2)))
    lamda, eta, T = 0.3, 0.8, 7
    more, labels = numeric.penalised(phi, y, lamda)
    found = numeric.ridge_descended(phi[:-1], y, eta, lamda, T)
    torch.testing.assert_close(numeric.descended(more[:-1], labels, eta * 8 / 5, T), found)
    A = torch.zeros(2, 3, dtype=torch.float64, requires_grad=True)
    for _ in range(T):  # by autograd
        loss = ((phi[:-1] @ A.T - y) ** 2).sum() / 10 + lamda / 2 * (A**2).sum()
        (gradient,) = torch.autograd.grad(loss, A)
        A = (A - eta * gradient).detach().requires_grad_()
    torch.testing.assert_close(found, A.detach())
    solved = torch.linalg.solve(phi[:-1].T @ phi[:-1] / 5 + lamda * torch.eye(3).double(), phi[:-1].T @ y / 5).T
    torch.testing.assert_close(numeric.ridge_descended(phi[:-1], y, eta, lamda, 200), solved)


@pytest.mark.parametrize("params", [{}, {"N": 2, "d": 3, "lamda": 2.0, "eta": 0.5, "second": "constant"}], ids=str)
def test_the_network_runs_ridge_regression(params: dict[str, object]) -> None:
    (row,) = (row for row in compare(ID, T=6, samples=16, attack=0, **params) if row.quantity == "ridge")
    assert row.verdict == {"derived": Verdict.KEPT}
    assert 0 < row.measured < row.derived < 1e-3


@pytest.mark.parametrize("lamda", [0.3, 0.01])
def test_the_letters_of_ridge_regression_are_those_of_the_longer_prompt(lamda: float) -> None:
    """Attained where all features are one vector: the largest eigenvalue and the largest norm of an example."""
    phi = torch.tensor([[0.9, 0, 0]], dtype=torch.float64).repeat(6, 1)
    more = numeric.penalised(phi, torch.zeros(5, 1, dtype=torch.float64), lamda)[0][:-1]
    at = letters_of({"N": 5, "d": 3, "eta": 0.8, "high": 0.81, "B_x": 0.9}, lamda)
    assert at["N"] == len(more)
    assert at["high"] == pytest.approx(float(torch.linalg.eigvalsh(more.mT @ more / len(more))[-1]))
    assert at["B_x"] == pytest.approx(float(more.norm(dim=1).max()))
    assert at["eta"] == pytest.approx(0.8 * len(more) / 5)


def test_features_of_ridge_regression_meet_the_bound_on_eigenvalues() -> None:
    phi = within_domain(torch.ones(2, 4, 3, dtype=torch.float64) * torch.tensor([[[1.0]], [[0.1]]]), 0.75)
    torch.testing.assert_close(torch.linalg.eigvalsh(phi[:, :-1].mT @ phi[:, :-1] / 3)[:, -1],
                               torch.tensor([0.75, 0.03], dtype=torch.float64))  # fmt: skip


def test_ridge_regression_with_too_long_a_step_is_outside() -> None:
    (row,) = (row for row in compare(ID, T=1, eta=1.95, samples=1, attack=0) if row.quantity == "ridge")
    assert row.derived is None
    assert row.remark.startswith("section 3.1")
    assert "eta < 2/(high + lamda): beyond it gradient descent on the penalised loss diverges" in row.remark


def test_features_are_those_of_the_mlp() -> None:
    mlp = numeric.seeded_mlp(2, 3, 1.0, 0)
    x = torch.rand(4, 3, dtype=torch.float64)
    by_hand = x
    for each in mlp:
        by_hand = torch.relu(by_hand @ each[:, :3].T + each[:, 3])
    torch.testing.assert_close(numeric.features(x, mlp), by_hand)


# Tables.


def test_a_table_is_fitted_as_scikit_learn_does(tmp_path: Path) -> None:
    rows = compare(ID, csv=regression(tmp_path), target="y", T=(1, 200)).rows
    found = {(row.quantity, row.params["T"], row.scope): row for row in rows}
    for T in (1, 200):
        row, apart = found["prediction", T, "prompt"], found["prediction.difference", T, None]
        assert row.verdict == {"instance": Verdict.KEPT}
        assert row.measured < row.instance < 1e-6
        assert 0 < apart.measured < 1e-5
        assert found["prediction", T, "network"].verdict == {
            "derived": Verdict.KEPT, "instance": Verdict.KEPT,
        }  # fmt: skip
    late = {name: found[f"prediction.{name}", 200, None].measured for name in ("network", "exact", "linear")}
    assert late["network"] == pytest.approx(late["exact"], rel=1e-6)
    assert late["network"] == pytest.approx(late["linear"], rel=1e-3)
    assert found["prediction.network", 1, None].measured != pytest.approx(late["linear"], rel=1e-3)


def test_the_step_size_of_a_table_is_that_of_its_eigenvalue(tmp_path: Path) -> None:
    row = compare(ID, csv=regression(tmp_path), target="y", T=1).rows[0]
    assert row.params["eta"] == pytest.approx(1 / row.params["high"])
    assert row.params["N"] == 11
    known = {name: row.params[name] for name in ("N", "d", "T", "L", "m", "B_x", "B_y", "high", "eta")}
    assert row.params["c"] == 4 * resolve(known, 0)["c"]  # a power of 2 near sqrt(11)
    assert above_best(11, 0.4) == 2  # of which scores stay below 1
    phi = torch.tensor([[2.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    assert largest_eigenvalue(phi) == pytest.approx(2.0)


# Eigenvalues.


def test_eigenvalues_that_the_domain_does_not_keep_are_outside() -> None:
    row = compare(ID, T=1, high=0.5, eta=1.0, **FEW).rows[0]
    assert set(row.verdict.values()) == {Verdict.OUTSIDE}
    assert "high = 0.5 is below B_x^2 = 1" in row.remark


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"high": 1e-4, "eta": 1.0}, r"has the eigenvalue .*, above high = 0\.0001; leave high out"),
        ({"eta": 20.0}, r"eta = .* does not meet eta < 2/high"),
    ],
    ids=["an eigenvalue above high", "long steps"],
)
def test_what_does_not_fit_the_eigenvalue_of_a_table_is_refused(
    options: dict[str, float], why: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=why):
        compare(ID, csv=regression(tmp_path), target="y", T=1, **options)
