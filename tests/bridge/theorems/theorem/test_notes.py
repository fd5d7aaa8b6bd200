"""What a table says beside its rows: that weights are of one draw, and on which premises a bound is conditional."""

from pathlib import Path

import pytest
import sympy as sp
import torch

import boundsmith as bs
from bridge.export.html import comparison_html
from bridge.export.latex_tables import comparison_latex
from tests.bridge.cli.conftest import Command
from tests.bridge.theorems.theorem.theorems import compared, eps, own_file, product, rho, row_of, scaled

R = sp.Symbol("R", positive=True)
a, c, v = sp.symbols("a c v", positive=True)
N, L, d = sp.symbols("N L d", integer=True, positive=True)


def test_the_header_speaks_of_the_weights_that_were_drawn() -> None:
    drawn, none = compared(product(), seed=3), compared(scaled())
    assert str(drawn).splitlines()[1].endswith("; for the weights of seed 3, all inputs")
    assert str(none).splitlines()[1].endswith("; for all inputs")
    assert row_of(drawn, "out").drawn == ["W", "b"]
    assert all(row.drawn is None for row in none)


def test_a_witness_has_weights_of_its_own(tmp_path: Path, run: Command) -> None:
    own, found = str(own_file(tmp_path)), tmp_path / "found"
    run("compare", own, "--save-witnesses", str(found))
    replayed = run("compare", own, "--witness", str(next(found.iterdir()))).out
    assert "for the weights of the witness, all inputs" in " ".join(replayed.split())


def small(entry: float) -> bs.Theorem:
    """A drawn weight whose norm is far below what the hypotheses allow, or not."""
    return product(weights={"W": lambda: torch.eye(2, dtype=torch.float64) * entry, "b": bs.domains.Box(2)})


@pytest.mark.parametrize(("entry", "far"), [(0.05, True), (0.2, False)])
def test_a_draw_far_from_the_worst_weights_is_remarked_on(entry: float, far: bool) -> None:
    comparison = compared(small(entry))
    sentence = "one draw of b: the instance bound is up to 20 times below the derived one"
    for page in (str(comparison), comparison_html(comparison), comparison_latex(comparison)):
        assert (sentence in page) is far
    assert ("put it into inputs to have it attacked" in str(comparison)) is far


def on_a_range(**changes: object) -> bs.Theorem:
    """An approximation on [-R, R] of arguments of at most 1, whose range is a letter that no number decides."""
    output = bs.rules.apply_function(
        bs.rules.given("x", dim=1, size=1), "output", eps=eps, lipschitz=1, size=1, radius=R + rho
    )
    arguments: dict[str, object] = {
        "parameters": {eps: 0.25, R: 1.0},
        "inputs": {"x": bs.domains.Box(1)},
        "network": lambda x, eps: x + eps / 2,
        "reference": lambda x: x,
        "worst": {rho: sp.sin(R) ** 2 + sp.cos(R) ** 2 - 1},
    }
    return bs.theorem("on-a-range", output, **{**arguments, **changes})


def test_a_conditional_bound_names_its_premise_under_the_table() -> None:
    comparison = compared(on_a_range())
    assert row_of(comparison, "output").flags["derived"] == ["conditional"]
    premise = "the argument of 'output' stays in [-R, R], R = R + rho: 1 <= R + rho"
    assert f"conditional, as this premise is not proved: {premise} (output)" in str(comparison)
    assert "conditional, as this premise is not proved" in comparison_html(comparison)
    assert r"1 \textless{}= R + rho (output)" in comparison_latex(comparison)


def test_a_premise_that_balls_decide_is_not_named() -> None:
    comparison = compared(on_a_range(parameters={eps: 0.25, R: 2.0}))
    assert row_of(comparison, "output").flags == {}
    assert "conditional" not in str(comparison)


def test_an_open_premise_is_shown_as_compare_treats_it(tmp_path: Path, run: Command) -> None:
    text = """
import sympy as sp
import boundsmith as bs
eps, R = sp.symbols("eps R", positive=True)
output = bs.rules.apply_function(bs.rules.given("x", dim=1, size=1), "output", eps=eps, lipschitz=1, size=1, radius=R)
own = bs.theorem("ranged", output, parameters={eps: 0.25, R: 2.0}, inputs={"x": bs.domains.Box(1)},
                 network=lambda x, eps: x + eps, reference=lambda x: x)
"""
    path = tmp_path / "own.py"
    path.write_text(text)
    shown = " ".join(run("show", str(path)).out.split())
    assert "(open: decided at each point by balls; the bound is conditional where they cannot)" in shown
    assert "conditional" not in run("compare", str(path), "--samples", "4", "--no-attack").out


# A residual network as a user writes it, from the rules alone.


def averaged(V: torch.Tensor, x: torch.Tensor, N: int, c: torch.Tensor, keep: torch.Tensor) -> torch.Tensor:
    """x + c V (average), N times; a share 1 - keep of each average is that of token 0."""
    for _ in range(N):
        average = keep * x.mean(0) + (1 - keep) * x[0]
        x = x + c * (V @ average)
    return x


def residual(first: object = 1, **changes: object) -> bs.Theorem:
    """Weights keep + (1 - keep) e_0 in the place of the mean: they err by at most 2 (1 - keep) in the 1-norm."""
    weights = bs.rules.given("weights", dim=L, norm=1, size=1, error=2 * a, probabilities=True)

    def layer(x: bs.Approximated) -> bs.Approximated:
        values = bs.rules.linear_map(x, "V x", operator_norm=v, dim=L * d)
        return bs.rules.add(x, bs.rules.attend(weights, values, "attention"), name="residual", coefficients=(first, c))

    arguments: dict[str, object] = {
        "parameters": {a: 0.05, c: 0.25, v: 1.0, N: (1, 4), L: 5, d: 3},
        "inputs": {"x": bs.domains.Box(L, d), "V": bs.domains.Rows(d, bs.domains.Ball(d, norm=1, radius=v))},
        "network": lambda V, x, N, c, a: averaged(V, x, N, c, 1 - a),
        "reference": lambda V, x, N, c: averaged(V, x, N, c, torch.ones((), dtype=torch.float64)),
    }
    output = bs.rules.repeat(bs.rules.given("x", dim=L * d, size=1), "output", layer, N)
    return bs.theorem("residual", output, **{**arguments, **changes})


def test_a_residual_network_is_compared_without_a_premise() -> None:
    comparison = compared(residual(), attack=40)
    assert [row.verdict["derived"] for row in comparison] == ["kept", "kept"]
    assert not any(row.flags or row.premises for row in comparison)
    assert [row.derived for row in comparison] == pytest.approx([0.025, 4 * 0.025 * 1.25**3])
    assert all(row.ratio is not None and row.ratio < 4 for row in comparison)


@pytest.mark.parametrize(
    ("hypotheses", "knows", "share"),
    [
        ([c < 1], {}, 1 - c),
        ([c >= 1], {}, c - 1),
        ([c < 2], {}, sp.Abs(c - 1)),
        ([], {}, sp.Abs(c - 1)),
        ([c < 1], {c: lambda V: V.abs().amax()}, sp.Abs(c - 1)),  # an instance binds another value of c
    ],
)
def test_a_hypothesis_gives_the_sign_of_an_absolute_value(
    hypotheses: list[object], knows: dict[sp.Symbol, object], share: sp.Expr
) -> None:
    (quantity,) = residual(1 - c, hypotheses=hypotheses, knows=knows).statement.quantities
    growth = c * v + share
    assert quantity.derived() == 2 * N * a * c * v * growth ** (N - 1)
    assert quantity.trivial == growth**N
