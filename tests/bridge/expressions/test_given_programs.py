"""What programs give beside an expression: values that err, and matrices made at each prompt."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy as sp
import torch

import boundsmith as bs
from bridge.expressions.matrix_formulas import formula_text
from symbolic.words.ascii_math import ascii_math
from symbolic.words.errors import UsageError
from tests.bridge.expressions.refused import require_refused

rho, R, eta = sp.symbols("rho R eta", positive=True)
L, n, d = sp.symbols("L n d", integer=True, positive=True)
FEW = {"samples": 8, "attack": 20, "restarts": 4}
INPUTS = {"X": bs.domains.SingularValues(n, d, low=sp.sqrt(n) / 2, high=sp.sqrt(n)), "y": bs.domains.Box(n)}


def solution(X: Any, y: Any) -> Any:
    return torch.linalg.solve(X.mT @ X, X.mT @ y)


def step(X: Any) -> Any:
    return torch.eye(X.shape[1], dtype=X.dtype, device=X.device) - X.mT @ X / X.shape[0]


def least_squares(**more: Any) -> bs.Theorem:
    """L steps of gradient descent from 0 on least squares: the solution is a fixed point, the start is R away."""
    words = ("the least-squares solution", "0")
    start = bs.value("w", solution, approximate=lambda X: 0 * X[0], dim=d, norm=2, size=R, error=R, meaning=words)
    A = bs.matrix("A", d, d, spectral=sp.Rational(3, 4), given=step, meaning="`I - X^T X/n`")
    b = bs.value("b", lambda X, y: X.mT @ y / X.shape[0], dim=d, norm=2, size=1, meaning="`X^T y/n`")
    output = bs.repeat(lambda w: A @ w + b, start, L)
    values = {L: 5, n: 6, d: 3}
    return bs.theorem("descent", output, norm=2, parameters=values, inputs=INPUTS, worst={R: 2}, **more)


def test_gradient_descent_to_a_fixed_point_is_a_start_that_errs() -> None:
    own = least_squares()
    bound = own.statement.quantity("output").derived()
    assert sp.simplify(bound - 2 * sp.Rational(3, 4) ** L) == 0
    rows = bs.compare(own, **FEW).rows
    assert {verdict for row in rows for verdict in row.verdict.values()} == {"kept"}
    network = next(row for row in rows if row.scope == "network")
    assert network.attacked is not None
    assert network.instance is not None
    assert 0.99 * network.instance <= network.attacked  # y along the weakest direction


def test_the_steps_are_those_of_numpy() -> None:
    generator = np.random.default_rng(0)
    X, y = generator.standard_normal((6, 3)), generator.uniform(-1, 1, 6)
    w = np.zeros(3)
    for _ in range(5):
        w -= X.T @ (X @ w - y) / 6
    own = least_squares()
    run = own.network(X=torch.tensor(X), y=torch.tensor(y), L=5)["output"].numpy()
    exact = own.reference(X=torch.tensor(X), y=torch.tensor(y), L=5)["output"].numpy()
    assert run == pytest.approx(w, rel=1e-12)
    assert exact == pytest.approx(np.linalg.lstsq(X, y, rcond=None)[0], rel=1e-9)


def test_the_theorem_says_what_the_programs_compute() -> None:
    words = least_squares().statement.objects
    exact, near = words[r"\mathrm{output}"], words[r"\widehat{\mathrm{output}}"]
    assert exact == (
        "p_L, where p_0 = w, p_l = A p_(l-1) + b, w is the least-squares solution, A is I - X^T X/n and b is X^T y/n"
    )
    assert near == "the same for p_0 = w_hat, where w_hat is 0"


def test_a_letter_of_a_start_is_known_at_a_prompt() -> None:
    row = next(row for row in bs.compare(least_squares(), **FEW).rows if row.scope == "prompt")
    assert row.instance is not None
    assert row.exact is not None
    assert row.instance <= 1.001 * row.exact


# Without a program for what the network has, its bound alone is known: the network is the author's.
def perturbed(**more: Any) -> bs.Theorem:
    noisy = bs.value("v", lambda x: x, dim=d, size=1, error=eta, inputs={"x": bs.domains.Box(d)})
    W = bs.matrix("W", d, d, row_sums=rho)
    return bs.theorem("noisy", bs.function(sp.tanh)(W @ noisy), parameters={eta: 0.125, rho: 1.5, d: 3}, **more)


def test_a_value_that_errs_by_a_bound_alone_has_the_network_of_its_author() -> None:
    own = perturbed(network=lambda W, x, eta: torch.tanh(W @ (x + eta * torch.sign(W[0]))))
    rows = {row.scope or row.quantity: row for row in bs.compare(own, **FEW).rows}
    assert rows["network"].derived == 0.1875
    assert {verdict for row in rows.values() for verdict in row.verdict.values()} == {"kept"}
    assert "reference alone" in own_faithful(own)
    too_far = perturbed(network=lambda W, x, eta: torch.tanh(W @ (x + 2 * eta * torch.sign(W[0]))))
    assert "violated" in {verdict for row in bs.compare(too_far, **FEW) for verdict in row.verdict.values()}


def own_faithful(own: bs.Theorem) -> str:
    return str(next(row for row in bs.compare(own, **FEW).rows if row.quantity == "faithful").meaning)


# The same by formulas: nothing else is said of what they compute.
def by_formulas() -> bs.Theorem:
    X, y = sp.MatrixSymbol("X", n, d), sp.MatrixSymbol("y", n, 1)
    start = bs.value("w", (X.T * X).I * X.T * y, approximate=0 * X.T * y, norm=2, size=R, error=R)
    A = bs.matrix("A", d, d, spectral=sp.Rational(3, 4), given=sp.Identity(d) - X.T * X / n)
    output = bs.repeat(lambda w: A @ w + bs.value("b", X.T * y / n, norm=2, size=1), start, L)
    return bs.theorem("descent", output, norm=2, parameters={L: 5, n: 6, d: 3}, inputs=INPUTS, worst={R: 2})


def test_a_formula_is_a_program_that_says_what_it_computes() -> None:
    own, other = by_formulas(), least_squares()
    point = {
        name: domain.at({n: 6, d: 3}).sample(1, torch.Generator().manual_seed(0))[0]
        for name, domain in own.inputs.items()
    }
    for program, expected in ((own.network, other.network), (own.reference, other.reference)):
        assert program(**point, L=5, d=3)["output"].numpy() == pytest.approx(expected(**point, L=5)["output"].numpy())
    assert own.statement.objects == {
        r"\mathrm{output}": (
            "p_L, where p_0 = w, p_l = A p_(l-1) + b, w is (X^T X)^(-1) X^T y, A is I - X^T X/n, I is the identity and "
            "b is X^T y/n"
        ),
        r"\widehat{\mathrm{output}}": "the same for p_0 = w_hat, where w_hat is 0",
    }
    rows = bs.compare(own, **FEW).rows
    assert {verdict for row in rows for verdict in row.verdict.values()} == {"kept"}  # on balls too


Z, S, z = sp.MatrixSymbol("Z", n, d), sp.MatrixSymbol("S_1", d, d), sp.MatrixSymbol("z", n, 1)
S_n, ONES, IDENTITY = sp.MatrixSymbol("S_n", n, d), sp.OneMatrix(n, 1), sp.Identity(d)


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        ((S.T) ** 2 + (2 * S.T).I - (S + IDENTITY) ** 3, "(S_1^T)^(-1)/2 + (S_1^T)^2 - (I + S_1)^3"),
        (-(rho**2) * (Z + S_n * S) / (rho + 1), "-rho^2 (S_n S_1 + Z)/(rho + 1)"),
        (sp.Trace(S) * Z / sp.sqrt(rho) - sp.Determinant(S) * S_n, "tr(S_1) Z/sqrt(rho) - det(S_1) S_n"),
        (sp.HadamardPower(Z, 2) * S + sp.HadamardProduct(Z, Z + Z * S), "(Z * Z) S_1 + (Z S_1 + Z) * Z"),
        (sp.Adjoint(Z) * Z[1, 0] * z[1, 0] * sp.Max(rho, 1), "Z_(2, 1) z_2 max(1, rho) Z^T"),
        (sp.KroneckerProduct(Z, z), "kron(Z, z)"),
        (rho * ONES * z.T, "rho ones(n, 1) z^T"),
    ],
)  # fmt: skip
def test_the_text_of_a_formula_is_mathematics(formula: sp.MatrixExpr, text: str) -> None:
    assert formula_text(formula) == text
    assert ascii_math(text)


# In float32 the parameter rho, which comes in float64, takes the dtype of z. The signs of a formula are said as well.
def test_what_stands_in_a_formula_is_said_and_has_its_dtype() -> None:
    near = rho * ONES + sp.Identity(n) * z
    v = bs.value("v", sp.HadamardProduct(z, z), size=1, approximate=near, error=4, inputs={"z": bs.domains.Box(n)})
    own = bs.theorem("own", 2 * v, parameters={rho: 2, n: 3})
    exact, changed = own.statement.objects.values()
    assert exact == "2 v, where v is z * z and * is the product entry by entry"
    assert changed == "2 v_hat, where v_hat is rho ones(n, 1) + z and all entries of ones(n, 1) are 1"
    known = {"z": torch.ones(3, dtype=torch.float32), "rho": torch.tensor(2.0, dtype=torch.float64)}
    assert torch.equal(own.network(**known, n=3)["output"], torch.full((3,), 6.0, dtype=torch.float32))
    shifted = bs.value("v", (S + IDENTITY) * S, size=9, inputs={"S_1": bs.domains.Box(d, d)})
    exact, _ = bs.theorem("own", shifted, parameters={d: 2}).statement.objects.values()
    assert exact == "(I + S_1) S_1, where I is the identity"


def test_a_column_of_a_count_is_tokens() -> None:
    assert (bs.value("v", z, size=1).dim, bs.value("v", z, size=1).count) == (n, None)
    assert (bs.value("v", z, count=n, size=1).dim, bs.value("v", z, count=n, size=1).count) == (1, n)


def of_formula(array: sp.MatrixExpr, name: str = "Z") -> bs.Theorem:
    v = bs.value("v", sp.Identity(array.shape[0]) + array * array.T, size=9, inputs={name: bs.domains.Box(d, n)})
    return bs.theorem("own", v, parameters={n: 3, d: 2})


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: bs.matrix("A", d, d, spectral=1, given=2 * Z), "A: `2 Z` is n x d, and d x d is needed; give another"),
        (lambda: bs.value("v", Z, dim=d, size=1), "v: `Z` is n x d, and d x 1 is needed; give another formula"),
        (lambda: bs.value("v", Z, size=1, approximate=Z.T, error=1), "v in the network: `Z^T` is d x n, and n x d is"),
        (lambda: bs.value("v", Z, count=d, size=1), "v: `Z` is n x d, and d x d is needed; give another formula"),
        (lambda: bs.matrix("A", d, d, spectral=1, given=sp.Identity(d)), "A: `I` has no array, whose dtype it would"),
        (lambda: bs.value("v", sp.Symbol("Z") * Z, size=1), "v: `Z Z` has two letters `Z`; give one of them another"),
        (lambda: bs.value("v", sp.Symbol("n") * Z, size=1), "v: `n Z` has two letters `n`; give one of them another"),
        (lambda: bs.value("v", (z.T * z)[0, 0] * z, size=1), "is not written as mathematics; give meaning=, or sp.Tr"),
        (lambda: of_formula(Z.T), "own: 'Z' is n x d in the formula of 'v', and d x n in its domain; make them agree"),
        (lambda: of_formula(sp.MatrixSymbol("Z", 3, n)), "own: 'Z' is 3 x n in the formula of 'v', and d x n in"),
        (lambda: of_formula(sp.MatrixSymbol("I", d, n), "I"), "own: `I` is the identity in the formula of 'v', and "),
        (lambda: bs.value("v", lambda Z: Z, size=1), "v: no dimension is known; give dim="),
        (lambda: bs.value("v", 3, dim=d, size=1), "v: got 3 as a program; give a function of names, or a formula over"),
        (lambda: bs.matrix("A", n, n, spectral=1, given=sp.MatPow(Z * Z.T, R)), "only integer powers of matrices are"),
    ],
)  # fmt: skip
def test_a_formula_that_does_not_fit_is_refused(made: Callable[[], object], words: str) -> None:
    require_refused((made, words))


def test_without_it_the_theorem_is_refused() -> None:
    with pytest.raises(UsageError) as refused:
        perturbed()
    assert str(refused.value) == ("noisy: v errs by a bound alone; give network=, or approximate= where it is made")


def test_another_program_needs_a_bound() -> None:
    with pytest.raises(UsageError, match="another program stands in its place; give error=, at least how far"):
        bs.value("v", lambda x: x, dim=d, size=1, approximate=lambda x: 0 * x)


def test_a_program_of_an_unknown_input_is_refused() -> None:
    A = bs.matrix("A", d, d, spectral=1, given=lambda Z: Z)
    with pytest.raises(UsageError, match="the program of 'A' takes Z, which is neither an input nor a parameter; give"):
        bs.theorem("own", A @ bs.vector("x", d, norm=1), parameters={d: 2})


def test_a_matrix_beyond_its_norm_puts_the_prompt_outside() -> None:
    A = bs.matrix("A", d, d, spectral=1, given=lambda x: 2 * torch.diag(x)).rounded(eta)
    own = bs.theorem("own", A @ bs.vector("x", d, size=1), parameters={eta: 0.25, d: 2})
    rows = bs.compare(own, samples=8, attack=0, restarts=1).rows
    assert "outside" in {verdict for row in rows if row.scope == "prompt" for verdict in row.verdict.values()}
