"""The gradient with symbolic depth, against SymPy's differentiation of the loss; and mutants that must be noticed."""

import itertools
import random
from functools import cache, cached_property

import pytest
import sympy as sp
from sympy.core.cache import clear_cache
from sympy.matrices.expressions.kronecker import KroneckerProduct

from symbolic.derivations.derivation import DerivationError
from symbolic.gradients import (
    GENERIC,
    Backward,
    Identity,
    LayeredNetwork,
    NetworkLayer,
    coefficient,
    differential,
    evaluate,
    generic_backward,
    gradient_by_recursion,
    matrix_latex,
    normal,
    product_equals_recursion,
    require_proved,
)
from symbolic.gradients.evaluation import ExplicitAlgebra
from symbolic.gradients.matrices import as_hadamard, fold, product, transpose
from symbolic.topics.icgd import gradient as theory
from tests.counting import lines

t, y = sp.symbols("t y", real=True)
TANH, SIGMOID = sp.Lambda(t, sp.tanh(t)), sp.Lambda(t, 1 / (1 + sp.exp(-t)))
SQUARE, LOGISTIC = sp.Lambda((t, y), (t - y) ** 2), sp.Lambda((t, y), sp.log(1 + sp.exp(t)) - y * t)
SIZES = {"N": sp.Symbol("N", integer=True, positive=True), "K": sp.Symbol("K", integer=True, positive=True)}
DIMS = sp.symbols("d_x d_y", integer=True, positive=True)


def numbers(shapes: tuple[tuple[int, int], ...], seed: int) -> tuple[list[sp.Matrix], sp.Matrix, sp.Matrix]:
    """Random V_1 .. V_N, x, y of 30 digits."""
    draw = random.Random(seed)

    def matrix(rows: int, cols: int) -> sp.ImmutableMatrix:
        return sp.ImmutableMatrix(rows, cols, lambda i, k: sp.Float(draw.uniform(-1, 1), 30))

    return [matrix(*shape) for shape in shapes], matrix(shapes[0][1], 1), matrix(shapes[-1][0], 1)


def by_sympy(network: LayeredNetwork, V: list[sp.Matrix], x: sp.Matrix, target: sp.Matrix) -> list[list[sp.Expr]]:
    """The gradient of the loss entry by entry, each by sympy.diff in that entry alone."""
    v = sp.Symbol("v", real=True)
    found = []
    for number, matrix in enumerate(V):
        block = []
        for i, k in itertools.product(range(matrix.rows), range(matrix.cols)):
            moved = matrix.as_mutable()
            moved[i, k] = v
            loss = network.loss_at([*V[:number], moved, *V[number + 1 :]], x, target)
            block.append(sp.diff(loss, v).evalf(30, subs={v: matrix[i, k]}))
        found.append(block)
    return found


def apart(blocks: list, others: list) -> sp.Expr:
    pairs = [pair for a, b in zip(blocks, others, strict=True) for pair in zip(a, b, strict=True)]
    return max(abs(left - right) for left, right in pairs)


@pytest.mark.parametrize("N", [1, 2, 3])
@pytest.mark.parametrize(("K", "d_x", "d_y"), [(1, 2, 1), (2, 1, 2), (2, 3, 1)])
@pytest.mark.parametrize(("r", "loss"), [(TANH, SQUARE), (SIGMOID, LOGISTIC)])
def test_both_forms_equal_sympys_derivative_of_the_loss(
    N: int, K: int, d_x: int, d_y: int, r: sp.Lambda, loss: sp.Lambda
) -> None:
    network = LayeredNetwork(N, d_x, K, d_y, r, loss)
    V, x, target = numbers(network.shapes(), seed=N)
    truth = by_sympy(network, V, x, target)
    assert max(abs(entry) for block in truth for entry in block) > 1e-3
    assert apart(network.gradient_by_recursion(V, x, target), truth) < 1e-25
    assert apart(network.gradient_as_product(V, x, target), truth) < 1e-25


@pytest.mark.parametrize("N", range(1, 7))
def test_product_equals_recursion_at_depths_up_to_six(N: int) -> None:
    network = LayeredNetwork(N, 2, 3, 4, TANH, SQUARE)
    point = numbers(network.shapes(), seed=10 + N)
    assert apart(network.gradient_by_recursion(*point), network.gradient_as_product(*point)) < 1e-25


def test_the_explicit_gradient_is_an_expression_in_the_symbols() -> None:
    network = LayeredNetwork(2, 1, 1, 1, TANH, SQUARE)
    V, x, target = network.symbols()
    loss = network.loss_at(V, x, target)
    for blocks in (network.gradient_by_recursion(V, x, target), network.gradient_as_product(V, x, target)):
        assert [sp.simplify(block[0] - sp.diff(loss, W[0])) for block, W in zip(blocks, V, strict=True)] == [0, 0]


def test_the_chain_step_is_the_jacobian_of_a_layer() -> None:
    """(D.4) against SymPy's Jacobian of an explicit 3 x 2 layer, by the state and by the weights row by row."""
    layer = NetworkLayer(sp.Integer(1), sp.Integer(3), sp.Integer(2))
    V = sp.Matrix(3, 2, sp.symbols("v:6", real=True))
    q = sp.Matrix(sp.symbols("q:2", real=True))
    algebra = ExplicitAlgebra(TANH)
    values = {layer.V: V, layer.before: q, layer.slope: algebra.slope(V * q)}
    after = algebra.activation(V * q)
    for derived, variables in ((layer.step.by_state, q), (layer.step.by_weights, sp.Matrix(list(V)))):
        assert (evaluate(derived, values, algebra) - after.jacobian(variables)).applyfunc(sp.simplify).is_zero_matrix


# ---- the proof, and what must break it


class WithoutTranspose(Backward):
    @cached_property
    def step(self) -> sp.MatrixExpr:
        return sp.HadamardProduct(self.here.slope, self.next.V * self.next.s)


class WrongLayer(Backward):
    @cached_property
    def step(self) -> sp.MatrixExpr:
        return sp.HadamardProduct(self.here.slope, self.here.V.T * self.next.s)


class WrongSlope(Backward):
    @cached_property
    def step(self) -> sp.MatrixExpr:
        return sp.HadamardProduct(self.next.slope, self.next.V.T * self.next.s)


class SwappedFactors(Backward):
    @cached_property
    def block(self) -> sp.MatrixExpr:
        return KroneckerProduct(self.here.before, sp.Identity(self.here.rows)) * self.here.s


class WithoutSlope(Backward):
    @cached_property
    def start(self) -> sp.MatrixExpr:
        return self.u


MUTANTS = [WithoutTranspose, WrongLayer, WrongSlope, SwappedFactors, WithoutSlope]


def square_rule(kind: type[Backward]) -> Backward:
    k = sp.Symbol("k", integer=True, positive=True)
    return kind(NetworkLayer(sp.Integer(1), k, k), NetworkLayer(sp.Integer(2), k, k))


def test_the_induction_holds_for_any_layer_and_for_the_ends() -> None:
    network = LayeredNetwork(SIZES["N"], DIMS[0], SIZES["K"], DIMS[1])
    N = SIZES["N"]
    rules = [GENERIC, *(Backward(network.layer(j), network.layer(j + 1)) for j in (1, 2, N - 1))]
    for rule in rules:
        assert all(identity.holds for identity in product_equals_recursion(rule, rule.next.rows))
    assert len(product_equals_recursion(square_rule(Backward))) == 5


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_wrong_rule_breaks_the_induction(mutant: type[Backward]) -> None:
    with pytest.raises(DerivationError, match="is not"):
        product_equals_recursion(square_rule(mutant))


@cache
def truth_at_depth_three() -> list[list[sp.Expr]]:
    network = LayeredNetwork(3, 2, 2, 2, TANH, SQUARE)
    return by_sympy(network, *numbers(network.shapes(), seed=3))


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_wrong_rule_gives_another_gradient(mutant: type[Backward]) -> None:
    network = LayeredNetwork(3, 2, 2, 2, TANH, SQUARE)
    V, x, target = numbers(network.shapes(), seed=3)
    algebra = ExplicitAlgebra(TANH)
    states, p = network.states(V, x, algebra)
    truth = truth_at_depth_three()
    u = 2 * (p - target)
    assert apart(gradient_by_recursion(states, u, algebra, square_rule(Backward)), truth) < 1e-25
    assert apart(gradient_by_recursion(states, u, algebra, square_rule(mutant)), truth) > 1e-3


# ---- printing and counting


def test_depth_fifty_prints_in_as_many_steps_as_depth_three() -> None:
    def proved_and_printed(N: object) -> None:
        network = LayeredNetwork(N, DIMS[0], SIZES["K"], DIMS[1])
        product_equals_recursion(generic_backward())
        assert network.latex()

    def steps(N: object) -> int:
        clear_cache()
        return lines(lambda: proved_and_printed(N))

    short = steps(3)
    for N in (50, SIZES["N"]):
        assert steps(N) < 1.2 * short


def test_latex_is_the_papers() -> None:
    network = LayeredNetwork(SIZES["N"], DIMS[0], SIZES["K"], DIMS[1])
    recursion, whole = network.recursion_latex(), network.product_latex()
    assert r"s_{i}(j) &= r'_{i}(j - 1) \odot \left(V_{j + 1}^{\top} s_{i}(j + 1)\right)" in recursion
    assert r"A_{i}(N) &= \left[\mathbf{I}_{d_{y} \times d_{y}} \otimes p_{i}(N - 1)\right] s_{i}(N)" in recursion
    assert r"\left(R_{i}(N - 1) V_{N} \cdots R_{i}(j - 1) \left[\mathbf{I}_{K \times K}" in whole
    assert network._repr_latex_().count("$$") == 4
    assert "j" not in LayeredNetwork(1, 2, 3, 4).product_latex().replace("j}", "")
    assert LayeredNetwork(3, 1, 1, 1).latex() == LayeredNetwork(3, 2, 1, 1).latex()
    written = matrix_latex(LayeredNetwork(4, *DIMS[:1], SIZES["K"], DIMS[1]).block_as_product(2))
    assert [written.index(f"V_{{{j}}}^") for j in (3, 4)] == sorted(written.index(f"V_{{{j}}}^") for j in (3, 4))
    assert "V_{2}" not in written


def test_a_written_out_product_evaluates_to_the_block() -> None:
    network = LayeredNetwork(3, 2, 2, 1, TANH, SQUARE)
    V, x, target = numbers(network.shapes(), seed=5)
    algebra = ExplicitAlgebra(TANH)
    states, p = network.states(V, x, algebra)
    values: dict = {sp.MatrixSymbol("u", 1, 1): 2 * (p - target)}
    for number, state in enumerate(states, start=1):
        layer = network.layer(number)
        values |= {layer.V: state.V, layer.before: state.before, layer.slope: state.slope}
    found = [evaluate(network.block_as_product(j), values, algebra) for j in (1, 2, 3)]
    assert apart(found, by_sympy(network, V, x, target)) < 1e-25


def printed_parameters(j: sp.Expr) -> sp.Expr:
    """D_j of Lemma 15 exactly as printed: the cases in the order of the paper (at N = 1 they name j = 1 twice)."""
    N, K, d_x = theory.N, theory.K, theory.d_x
    return sp.Piecewise(
        (0, sp.Eq(j, 0)),
        (d_x * K, sp.Eq(j, 1)),
        ((j - 1) * K**2 + d_x * K, sp.And(sp.Ge(j, 2), sp.Le(j, N - 1))),
        (theory.PRINTED_TOTAL, sp.Eq(j, N)),
    )


@pytest.mark.parametrize(("N", "K", "d_x", "d_y"), list(itertools.product((1, 2, 3, 6), (1, 4), (1, 3), (2, 5))))
def test_parameters_are_counted_from_the_shapes(N: int, K: int, d_x: int, d_y: int) -> None:
    network = LayeredNetwork(N, d_x, K, d_y)
    sizes = [rows * cols for rows, cols in network.shapes()]
    symbolic = theory.NETWORK
    at = {theory.N: N, theory.K: K, theory.d_x: d_x, theory.d_y: d_y}
    for j in range(N + 1):
        assert network.parameters(j) == sum(sizes[:j])
        if N >= 2:
            assert printed_parameters(sp.Integer(j)).subs(at) == sum(sizes[:j])
    assert symbolic.parameters(theory.N).subs(at) == sum(sizes)
    assert symbolic.outputs().subs(at) == sum(rows for rows, _ in network.shapes())


def test_what_is_printed_for_one_layer_and_for_the_slopes_is_off() -> None:
    at = {theory.N: 1, theory.K: 5, theory.d_x: 3, theory.d_y: 2}
    assert theory.PRINTED_TOTAL.subs(at) == 0
    assert printed_parameters(sp.Integer(1)).subs(at) == 15
    assert theory.NETWORK.parameters(theory.N).subs(at) == 6
    assert sp.expand(theory.NETWORK.outputs() - theory.PRINTED_SLOPES) == theory.K


# ---- the pieces


def test_products_have_one_normal_form() -> None:
    a, b = sp.MatrixSymbol("a", 3, 1), sp.MatrixSymbol("b", 3, 1)
    A, B = sp.MatrixSymbol("A", 3, 2), sp.MatrixSymbol("B", 2, 3)
    assert normal(sp.HadamardProduct(a, b)) == sp.DiagMatrix(a) * b
    assert normal(sp.Transpose(sp.MatMul(A, B))) == sp.MatMul(B.T, A.T)
    assert transpose(KroneckerProduct(sp.Identity(3), a.T)) == KroneckerProduct(sp.Identity(3), a)
    assert product(sp.Identity(3), A) == A
    assert normal(A * B) != normal(B.T * A.T)


def test_the_differential_of_sums_transposes_and_constants() -> None:
    A, B = sp.MatrixSymbol("A", 2, 2), sp.MatrixSymbol("B", 2, 2)
    dA = sp.MatrixSymbol("dA", 2, 2)
    assert differential(A.T * B + A, {A: dA}) == dA + dA.T * B
    assert isinstance(differential(B.T * B, {A: dA}), sp.ZeroMatrix)
    assert isinstance(coefficient(B * sp.MatrixSymbol("q", 2, 1), dA), sp.ZeroMatrix)


def test_what_has_no_rule_is_refused() -> None:
    A, q = sp.MatrixSymbol("A", 2, 2), sp.MatrixSymbol("q", 2, 1)
    dA = sp.MatrixSymbol("dA", 2, 2)
    with pytest.raises(DerivationError, match="no rule for Inverse"):
        differential(A.inv(), {A: dA})
    with pytest.raises(DerivationError, match="not linear"):
        coefficient(dA * dA * q, dA)
    with pytest.raises(DerivationError, match="no rule for MatAdd"):
        evaluate(A + dA, {A: sp.eye(2), dA: sp.eye(2)}, ExplicitAlgebra(TANH))
    with pytest.raises(DerivationError, match="does not end in"):
        fold(A * q, dA * q, q)
    with pytest.raises(DerivationError, match="not diag"):
        as_hadamard(A * q)
    with pytest.raises(DerivationError, match="broken: q is not"):
        require_proved([Identity("broken", q, sp.MatrixSymbol("z", 2, 1), "")])
    with pytest.raises(DerivationError, match="K = 0 has to be a positive integer"):
        LayeredNetwork(2, 1, 0, 1)
    with pytest.raises(DerivationError, match="N is symbolic; give a number"):
        LayeredNetwork(SIZES["N"], 1, 1, 1).shapes()
    with pytest.raises(DerivationError, match="needs an activation and a loss"):
        LayeredNetwork(1, 1, 1, 1).gradient_by_recursion([sp.eye(1)], sp.eye(1), sp.eye(1))
