"""Gradient descent in context end to end: bounds kept and near, tables of real numbers, and refusals."""

from pathlib import Path

import numpy as np
import pytest
import torch

from bridge import compare
from bridge.looped.gradient_descent import PromptLetters
from bridge.looped.gradient_descent_table import largest_eigenvalue
from bridge.record import Comparison, Row, Verdict
from numeric.looped import gradient_descent as numeric
from numeric.network import Network
from symbolic import UsageError

FEW = {"samples": 8, "attack": 4, "restarts": 2}
ID = "looped.gradient_descent"


@pytest.fixture(scope="module")
def compared() -> Comparison:
    """With a c at which truncation is larger than rounding."""
    return compare(ID, T=5, N=5, m=1, L=2, c=2.0**-5, **FEW)


def errors(found: Comparison) -> list[Row]:
    return [row for row in found.rows if row.quantity in ("prediction", "residuals")]


@pytest.mark.long
def test_bounds_are_kept_and_those_of_a_prompt_are_near(compared: Comparison) -> None:
    rows = errors(compared)
    assert {(row.quantity, row.scope) for row in rows} == {
        (name, scope) for name in ("prediction", "residuals") for scope in ("network", "prompt")
    }
    assert {verdict for row in rows for verdict in row.verdict.values()} == {Verdict.KEPT}
    assert all(1 <= row.ratio < 3 for row in rows if row.scope == "prompt")


def test_bounds_with_the_constant_head_are_kept() -> None:
    rows = errors(compare(ID, T=2, N=4, L=0, second="constant", c=2.0**-10, samples=4, attack=0))
    assert {verdict for row in rows for verdict in row.verdict.values()} == {Verdict.KEPT}
    assert all(1 <= row.ratio < 3 for row in rows if row.scope == "prompt")


def test_counts_are_those_of_the_theorem(compared: Comparison) -> None:
    rows = {row.quantity: row for row in compared.rows}
    assert (rows["layers.pre"].exact, rows["layers.pre"].printed) == (3, 3)
    assert (rows["heads.pre"].exact, rows["heads.pre"].printed) == (1, 2)
    assert [rows[f"{what}.loop"].exact for what in ("layers", "heads")] == [1, 2]
    assert [rows[f"{what}.post"].exact for what in ("layers", "heads")] == [1, 1]
    assert all(rows[f"layers.{part}"].verdict["printed"] is Verdict.PROVED for part in ("pre", "loop", "post"))


def test_a_table_shows_the_whole_state_at_each_loop(compared: Comparison) -> None:
    (table,) = compared.tables
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
    x, y = torch.rand(4, 2, generator=torch.Generator().manual_seed(1)) - 0.5, torch.zeros(3, 1)
    at = numeric.DescentSetting(3, 2, 1, 1.0, c, C, 24.0, 1.0, 1.0, second)
    built = numeric.transformer(at, 1)
    tokens = Network(built).run(numeric.tokens(x, y)[None], [])  # the run is checked elsewhere
    assert tokens.keys() == {"output"}
    heads = [Network(built).layers[2].head(name) for name in ("linear", second)]
    before = Network(built).layers[:2]
    state = numeric_state(before, built, x, y)
    share = (0.5 if second == "opposite" else 1.0) * np.exp(C) / c
    first, other = (head.weights(state, 0, 8)[0, ::2, ::2] for head in heads)
    y = torch.tensor([[0.5], [-1.0], [0.25]])
    here = PromptLetters(x, y, torch.zeros(0, 2, 3), 3, 2, 6, 0.5, c, C, second, 1.0, 1.0, 24.0, 53)
    return here, share * (first - other)


def numeric_state(layers: object, built: object, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    state = Network(built).embedding(numeric.tokens(x, y)[None])
    for layer in layers:
        state = layer(state, 0)
    return state


@pytest.mark.parametrize("second", ["constant", "opposite"])
def test_what_the_bounds_call_W_is_what_the_network_weighs_by(second: str) -> None:
    here, W = weights_of(second, 2.0**-4, 6.0)
    G = torch.cat([here.products, torch.zeros(4, 1)], 1)
    torch.testing.assert_close(here.missed, W - G, rtol=1e-6, atol=1e-12)


def test_the_first_order_is_what_two_recursions_differ_by() -> None:
    here, W = weights_of("opposite", 2.0**-4, 20.0)
    exact = moved = torch.cat([-here.y, torch.zeros(1, 1)])
    for _ in range(6):
        exact, moved = exact - 0.5 * here.products @ exact[:-1], moved - 0.5 * (W @ moved)
    torch.testing.assert_close(here.first_order, moved - exact, rtol=1e-3, atol=1e-12)


def test_features_are_those_of_the_mlp() -> None:
    mlp = numeric.seeded_mlp(2, 3, 1.0, 0)
    x = torch.rand(4, 3)
    by_hand = x
    for each in mlp:
        by_hand = torch.relu(by_hand @ each[:, :3].T + each[:, 3])
    torch.testing.assert_close(numeric.features(x, mlp), by_hand)


# Tables.


def table(tmp_path: Path, rows: int = 12) -> str:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(rows, 2))
    x[-1] = 0.1
    lines = [f"{a},{b},{3 * a - b + 0.1 * rng.normal()}" for a, b in x]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["a,b,y", *lines]))
    return str(path)


def test_a_table_is_fitted_as_scikit_learn_does(tmp_path: Path) -> None:
    rows = compare(ID, csv=table(tmp_path), target="y", T=(1, 200)).rows
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
    row = compare(ID, csv=table(tmp_path), target="y", T=1).rows[0]
    assert row.params["eta"] == pytest.approx(1 / row.params["high"])
    assert row.params["N"] == 11
    phi = torch.tensor([[2.0, 0.0], [0.0, 1.0]])
    assert largest_eigenvalue(phi) == pytest.approx(2.0)


# Refusals.

REFUSED = {
    "step size": (
        {"eta": 2.0},
        r"eta = 2.0 does not meet eta < 2/high \(beyond 2 / lambda_max gradient descent diverges",
    ),
    "negative step": ({"eta": -1.0}, r"eta = -1.0 does not meet eta > 0"),
    "no loop": ({"T": 0}, r"T = 0"),
    "one example": ({"N": 1}, r"N = 1 does not meet N >= 2 \(a line fits one example exactly\)"),
    "no such pair": ({"second": "none"}, r"second = 'none'; give constant or opposite"),
    "sink beyond the format": ({"C": 710.0}, r"e\^C is beyond float64, which ends at .* for C = 710; take C = "),
    "sum beyond the format": ({"C": 708.0}, r"2 n e\^C with n = 17 and values up to 2.828 is beyond float64"),
    "bits of another format": ({"bits": 24}, r"bits = 24, but float64 has 53; leave bits out"),
    "scale below the format": ({"c": 1e-16}, r"c = 1.*e-16 is below what float64 resolves"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_parameters_that_do_not_fit_are_refused(case: str) -> None:
    params, message = REFUSED[case]
    with pytest.raises(UsageError, match=message):
        compare(ID, **{"T": 1, **params}, **FEW)


def test_eigenvalues_that_the_domain_does_not_keep_are_outside() -> None:
    row = compare(ID, T=1, high=0.5, eta=1.0, **FEW).rows[0]
    assert set(row.verdict.values()) == {Verdict.OUTSIDE}
    assert "high = 0.5 is below B_x^2 = 1" in row.remark


def test_tables_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    path = table(tmp_path)
    with pytest.raises(UsageError, match=r"d = 3 for the 2 columns of .*; N = 12, but .* has 12 rows"):
        compare(ID, csv=path, target="y", d=3, N=12)
    with pytest.raises(UsageError, match=r"has the eigenvalue .*, above high = 0\.0001; leave high out"):
        compare(ID, csv=path, target="y", T=1, high=1e-4, eta=1.0)
    with pytest.raises(UsageError, match=r"eta = .* does not meet eta < 2/high"):
        compare(ID, csv=path, target="y", T=1, eta=20.0)
    far = tmp_path / "far.csv"
    far.write_text("a,y\n" + "\n".join(f"{k % 3},{k}" for k in range(9)) + "\n50,1\n")
    with pytest.raises(UsageError, match=r"the query of .* has \|\|x\|\|_2 = .* > B_x = 1"):
        compare(ID, csv=str(far), target="y", T=1)
