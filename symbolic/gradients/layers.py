"""One generic layer, differentiated; the recursion and the product form follow from it, and agree by induction.

Layers count j = 1 .. N; the paper writes r'(j-1), R(j-1) for what belongs to V_j.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import sympy as sp
from sympy.matrices.expressions.kronecker import KroneckerProduct

from symbolic.derivations.derivation import DerivationError
from symbolic.gradients.matrices import (
    as_hadamard,
    coefficient,
    derivative,
    differential,
    fold,
    normal,
    product,
    transpose,
)
from symbolic.gradients.printing import matrix_latex


@dataclass(frozen=True)
class NetworkLayer:
    """The symbols of layer j, in the letters of the paper. `rows` and `columns` are the sizes of V_j."""

    j: sp.Expr
    rows: sp.Expr
    columns: sp.Expr

    @cached_property
    def V(self) -> sp.MatrixSymbol:
        return sp.MatrixSymbol(f"V_{{{sp.latex(self.j)}}}", self.rows, self.columns)

    @cached_property
    def before(self) -> sp.MatrixSymbol:
        """p(j-1), what the layer reads."""
        return self._column("p", self.j - 1, self.columns)

    @cached_property
    def after(self) -> sp.MatrixSymbol:
        """p(j), what it puts out."""
        return self._column("p", self.j, self.rows)

    @cached_property
    def slope(self) -> sp.MatrixSymbol:
        """r'(V_j p(j-1)), the paper's r'(j-1)."""
        return self._column("r'", self.j - 1, self.rows)

    @cached_property
    def R(self) -> sp.MatrixExpr:
        """diag(r'(V_j p(j-1))), the paper's R(j-1)."""
        return sp.DiagMatrix(self.slope)

    @cached_property
    def s(self) -> sp.MatrixSymbol:
        return self._column("s", self.j, self.rows)

    @cached_property
    def pull(self) -> sp.MatrixSymbol:
        """The derivative of the loss by p(j), as a column."""
        return self._column(r"\delta", self.j, self.rows)

    @staticmethod
    def _column(letter: str, j: sp.Expr, size: sp.Expr) -> sp.MatrixSymbol:
        return sp.MatrixSymbol(f"{letter}_{{i}}({sp.latex(j)})", size, 1)

    @cached_property
    def step(self) -> "ChainStep":
        """The chain rule (D.4) of this layer, by differentiating its definition with symbols for its sizes."""
        sizes = sp.symbols("rows columns", integer=True, positive=True)  # SymPy takes a 1 x 1 matrix for a number
        twin = NetworkLayer(self.j, *sizes)
        known = {getattr(twin, name): getattr(self, name) for name in ("V", "before", "slope")}
        known |= {
            sp.Identity(size): sp.Identity(own) for size, own in zip(sizes, (self.rows, self.columns), strict=True)
        }
        derived = _chain_step(twin)
        return ChainStep(derived.by_state.xreplace(known), derived.by_weights.xreplace(known))


@dataclass(frozen=True)
class ChainStep:
    """dp(j) = by_state dp(j-1) + by_weights vec(dV_j)."""

    by_state: sp.MatrixExpr
    by_weights: sp.MatrixExpr


# p(j) = r(V_j p(j-1)), hence dp(j) = R (V_j dp(j-1) + dV_j p(j-1)) with R = diag(r'(V_j p(j-1))).
def _chain_step(layer: NetworkLayer) -> ChainStep:
    t = sp.Dummy("t", real=True)
    r = sp.Lambda(t, sp.Function("r")(t))
    moving = {held: sp.MatrixSymbol(f"d{held.name}", *held.shape) for held in (layer.V, layer.before)}
    z = product(layer.V, layer.before)
    moved = differential(z.applyfunc(r), moving)
    slope = {z.applyfunc(derivative(r)): layer.slope}
    return ChainStep(
        by_state=coefficient(moved, moving[layer.before]).xreplace(slope),
        by_weights=coefficient(moved, moving[layer.V]).xreplace(slope),
    )


@dataclass(frozen=True)
class Identity:
    """One equation of a proof with its two sides; `holds` compares their normal forms."""

    name: str
    left: sp.MatrixExpr
    right: sp.MatrixExpr
    reason: str

    @property
    def holds(self) -> bool:
        return bool(normal(self.left) == normal(self.right))

    def latex(self) -> str:
        return f"{matrix_latex(self.left)} = {matrix_latex(self.right)}"


def require_proved(identities: Sequence[Identity]) -> tuple[Identity, ...]:
    """The identities themselves. Raises DerivationError that names the ones that do not hold."""
    broken = [f"{each.name}: {each.left} is not {each.right}" for each in identities if not each.holds]
    if broken:
        raise DerivationError("; ".join(broken))
    return tuple(identities)


# The loss moves by dl = pull(j)^T dp(j) + (what V_{j+1} .. V_N do), and pull(N) = u. With (D.4) for dp(j):
#     pull(j-1) = by_state(j)^T pull(j),     A(j) = by_weights(j)^T pull(j).
# Naming s(j) = R(j-1) pull(j) turns them into (3.7) and (3.8).
@dataclass(frozen=True)
class Backward:
    """The recursion for a generic layer `here` and the one after it, `next`, derived from their chain steps.

    `start` is s(N) in terms of u, `step` is s(j) in terms of s(j+1), `block` is A(j) in terms of s(j).
    """

    here: NetworkLayer
    next: NetworkLayer

    @cached_property
    def start(self) -> sp.MatrixExpr:
        return as_hadamard(self.named.xreplace({self.here.pull: self.u}))

    @cached_property
    def u(self) -> sp.MatrixSymbol:
        """The derivative of the loss by p(N), as a column of the size of this layer."""
        return sp.MatrixSymbol("u", self.here.rows, 1)

    @cached_property
    def named(self) -> sp.MatrixExpr:
        """What s(j) is the name of."""
        return product(self.here.R, self.here.pull)

    @cached_property
    def step(self) -> sp.MatrixExpr:
        # s(j) = R(j-1) pull(j) and pull(j) = by_state(j+1)^T pull(j+1) = V_{j+1}^T R(j) pull(j+1) = V_{j+1}^T s(j+1)
        pulled = product(transpose(self.next.step.by_state), self.next.pull)
        pull = fold(pulled, product(self.next.R, self.next.pull), self.next.s)
        return as_hadamard(product(self.here.R, pull))

    @cached_property
    def block(self) -> sp.MatrixExpr:
        # A(j) = by_weights(j)^T pull(j) = [I (x) p(j-1)] R(j-1) pull(j) = [I (x) p(j-1)] s(j)
        return fold(product(transpose(self.here.step.by_weights), self.here.pull), self.named, self.here.s)


# Unrolling (D.4) from V_j up to p(N): dp(N)/dV_j = by_state(N) ... by_state(j+1) by_weights(j), so that
#     A(j) = (B(j) [I (x) p(j-1)^T])^T u   with   B(N) = R(N-1),  B(j) = B(j+1) V_{j+1} R(j-1),
# B(j) = R(N-1) V_N ... V_{j+1} R(j-1) as in Lemma 1. Claim: s(j) = B(j)^T u, for all j. By induction from N down.
def product_equals_recursion(rule: Backward, outputs: sp.Expr | None = None) -> tuple[Identity, ...]:
    """The proof that product form and recursion agree in every layer of every depth. Raises if a step fails."""
    here, later = rule.here, rule.next
    outputs = sp.Symbol("d_y", integer=True, positive=True) if outputs is None else outputs
    u = sp.MatrixSymbol("u", outputs, 1)
    B = sp.MatrixSymbol(f"B({sp.latex(later.j)})", outputs, later.rows)  # any matrix of this size
    hypothesis = {later.s: product(transpose(B), u)}
    down = product(B, later.V, here.R)  # B(j)
    unrolled = product(here.step.by_weights)  # R(j-1) [I (x) p^T], of which B(N) [I (x) p^T] is the case j = N
    # dp(N)/dV_j with everything above layer j+1 in the matrix C, where B(j+1) = C R(j)
    C = sp.MatrixSymbol(f"C({sp.latex(later.j)})", outputs, later.rows)
    chained = product(C, later.step.by_state, here.step.by_weights)
    kron = KroneckerProduct(sp.Identity(here.rows), transpose(here.before))
    return require_proved(
        (
            Identity("product, j = N", unrolled, product(here.R, kron), "(D.4) without a layer above"),
            Identity(
                "product, j + 1 to j",
                chained,
                product(C, later.R, later.V, here.R, kron),
                "(D.4) twice: the product of Lemma 1 takes V and R of one more layer",
            ),
            Identity("s, j = N", rule.start, product(transpose(here.R), rule.u), "B(N) = R(N-1)"),
            Identity(
                "s, j + 1 to j",
                rule.step.xreplace(hypothesis),
                product(transpose(down), u),
                "s(j+1) = B(j+1)^T u put into (3.7)",
            ),
            Identity(
                "A",
                rule.block.xreplace({here.s: product(transpose(down), u)}),
                product(transpose(product(down, kron)), u),
                "s(j) = B(j)^T u put into (3.8)",
            ),
        )
    )


def generic_backward() -> Backward:
    """The recursion for a layer of any index and any sizes: first, middle and last layers are cases of it."""
    j = sp.Symbol("j", integer=True, positive=True)
    before, here, after = (sp.Symbol(f"K_{{{i}}}", integer=True, positive=True) for i in ("j-1", "j", "j+1"))
    return Backward(NetworkLayer(j, here, before), NetworkLayer(j + 1, after, here))


GENERIC = generic_backward()
