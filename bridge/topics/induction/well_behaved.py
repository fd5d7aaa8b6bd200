"""What A.3 of wang2024 asks of a similarity: Barron norms (A.3, A.4, A.6), one constant for a basis (A.7), and (18)."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import flint
import numpy as np
import sympy as sp
import torch

from bridge.judging.means import root_mean_square, uniform
from bridge.lowering.ball_values import evaluate_ball
from bridge.lowering.formula import evaluate
from bridge.theorems.check import Check, Sides, within
from numeric.tools.singular_functions import NODES, SingularFunctions
from symbolic.calculus import orthonormal_functions
from symbolic.derivations.provenance import Derived, Provenance
from symbolic.statements.errata import Erratum, Weight
from symbolic.statements.landau import Constant
from symbolic.statements.printed import Order
from symbolic.statements.result import Kind, Printed, Quantifier, Quantity
from symbolic.words.citations import WANG2024, Citation

L, d, M, K = sp.symbols("L d M K", integer=True, positive=True)
u, v = sp.symbols("u v", real=True)
p = sp.Symbol("p", positive=True)
SIDE, ACCURACY = 4, 1e-3  # of [-2, 2], on which Definition A.7 stands; of quadrature
B, C, C_Lip, S, T, e_phi = sp.symbols("B C C_Lip S T e_phi", nonnegative=True)
MEANINGS = {
    B: "at least the largest Barron norm of the first `K` singular functions of `g`",
    C: "their largest absolute value",
    C_Lip: "their largest Lipschitz constant",
    S: "sum of the singular values of `g`",
    T: "sum of those after the first `K`",
    e_phi: "largest error of the ReLUs in their place",
}
_quantity = partial(Quantity, quantifier=Quantifier.FOR_ALL, scopes=())
_FUNCTIONS = "functions `g` of one coordinate with at least `K` singular values that are not 0, on `[-2, 2]`"
STEEPEST = orthonormal_functions.STEEPEST.subs({orthonormal_functions.length: SIDE, orthonormal_functions.K: K})
_FIRST = "of the first `K` singular functions of `g`"

BASIS = _quantity(
    "basis", r"\text{steepness of the first } K \text{ singular functions}", f"largest Lipschitz constant {_FIRST}",
    "Lipschitz constant", _FUNCTIONS, Kind.LOWER, derive=STEEPEST,
)  # fmt: skip
ONE_CONSTANT = _quantity(
    "basis.one_constant", r"\text{least steepness of any } K \text{ orthonormal functions}",
    "least Lipschitz constant that `K` orthonormal functions on `[-2, 2]` may all have, from below",
    "Lipschitz constant", "as `K` grows", Kind.UPPER,
    printed=Printed(sp.S.One, Citation(WANG2024, "Definition A.7"), order=Order.O),
    erratum=Erratum(
        Weight.DEFINITION,
        Citation(WANG2024, "Definition A.7"),
        sentence="the `L^oo`, Barron and Lipschitz norms of all `phi_k` and `psi_k` are bounded by one constant",
        reading="no `g` with infinitely many singular values meets it: `K` orthonormal functions on an interval of "
        "length `l` need a Lipschitz constant of at least `pi sqrt((K-1)(2K-1)/(6 l^3))`; for `exp(-abs(u-v))` and "
        "`K = 24` that is 5.27, and the constant of its singular functions is 12.8 (in any dimension: functions "
        "with one bound and one Lipschitz constant are relatively compact, and orthonormal ones `sqrt(2)` apart); read "
        "for a `g` of finite rank, the decay of `sigma_k` says nothing",
        repair="constants that may grow with `k`, where the sum over `k` of `sigma_k` times the largest value times "
        "the sum of Barron norm and Lipschitz constant is finite, and that over `k > K` of `sigma_k` times the square "
        "of the largest value is `O(K^-alpha)`, where a network that errs by more than the largest value of its "
        "function is replaced by 0: then the proof stands; or, for `n = 2` and `d = 1`, hat functions "
        "in the place of singular functions: a bound for every `g` with bounded second derivatives or kinks, for every "
        "prompt and length",
        survives="yes: as printed Theorem 4.4 is about `g` of finite rank; for one coordinate such a network exists "
        "for every similarity with bounded second derivatives, with an error of the order of `M^-2` where the rank may "
        "grow with `M`",
    ),
)  # fmt: skip
BARRON = _quantity(
    "basis.barron", r"\text{Barron norm of the first } K \text{ singular functions}",
    f"largest Barron norm (Definition A.3) {_FIRST}", "Barron norm", _FUNCTIONS, Kind.LOWER, derive=STEEPEST,
    remark="a Barron norm is at least the Lipschitz constant",
)  # fmt: skip
# With N = E |a| (|b| + |c|), draw the neuron (a, b, c) by a density |a| (|b| + |c|)/N times as large, and divide a by
# that: the mean is the same function, and |a| (|b| + |c|) is N for all neurons. So the norm of p = oo is at most that
# of p = 1; and moments grow with p.
POWERS = _quantity(
    "basis.powers", r"\text{ratio of Barron norms}",
    "Barron norm of exponent `oo` over that of exponent 1, here of the ReLUs that interpolate the first singular "
    "function",
    "a ratio", "functions with a finite norm that is not 0", Kind.EXACT, derive=sp.S.One,
    printed=Printed(sp.S.One, Citation(WANG2024, "Proposition A.4")),
)  # fmt: skip
# In a cell of width h the distance from the chord is at most h/4 times the integral of |f''|, which is at most the
# Barron norm; h = 4/M.
RELUS = _quantity(
    "basis.relus", r"\text{error of } M + 1 \text{ ReLUs}",
    f"largest error of `M + 1` ReLUs in the place of one {_FIRST}", "sup norm", _FUNCTIONS, Kind.UPPER, derive=B / M,
    printed=Printed(B / sp.sqrt(M + 1), Citation(WANG2024, "Lemma A.6"), order=Order.O),
    remark="printed inside `O~`, and on `[0, 1]^d`",
)  # fmt: skip
RELUS_CONSTANT = Constant(sp.sqrt(2), sharp=True, least={M: 1})
PROOF = _quantity(
    "output.proof", r"\text{root mean square error of the network of A.3}",
    "error of the output by the network of A.3: `K` singular functions, each by as many ReLUs as fit into `2 M + 2`",
    "root of the mean square of the sup norm", "independent tokens, uniform in `[0, 1]`", Kind.UPPER,
    quantifier=Quantifier.EXPECTATION, randomness="`x_1 .. x_L`", indices=(sp.Eq(d, 1, evaluate=False),),
    printed=Printed(
        sp.sqrt(3) * (2 * C * C_Lip * S * 2 * sp.exp(-p) + (2 * C + 1) * S * e_phi + (L - 3) * T),
        Citation(WANG2024, "Theorem A.8", "(18)"),
    ),
    remark="(18) for `n = 2`, with the constants of these functions, and the sums for `C_alpha` and `C_alpha K^-alpha`",
)  # fmt: skip
A_g, B_g, alpha, q, H = sp.symbols("A_g B_g alpha q H", positive=True)
THEOREM = Printed(
    A_g / H**q + B_g * L ** (1 / (1 + 2 * alpha)) / M ** (alpha / (1 + 3 * alpha)),
    Citation(WANG2024, "Theorem 4.4"), unspecified=(A_g, B_g, alpha, q, H),
)  # fmt: skip


def mean_output(output: Quantity) -> Quantity:
    """The error of Theorem 4.4, by (5) for p = 2, beside the bound for every prompt."""
    return replace(
        PROOF, name="output.mean", latex_symbol=r"\text{root mean square error}",
        meaning="error of the output of the network here", printed=THEOREM, indices=(),
        derive=lambda: Derived(output.derived(), output.provenance or Provenance.HAND),
        remark="Theorem A.8 prints `H^n` for `H^q`; its proof ends in `M^(alpha/(1 + 2 alpha))`, up to logarithms",
    )  # fmt: skip


# Sides.


def kernel(g: sp.Expr) -> Callable[..., Any]:
    named = g.xreplace({letter: {"u": u, "v": v}[letter.name] for letter in g.free_symbols})
    return lambda x, y: evaluate(named, {u: x, v: y}) + 0 * x * y


@lru_cache(maxsize=16)
def singular(g: sp.Expr, count: int) -> SingularFunctions:
    return SingularFunctions.of(kernel(g), -SIDE / 2, SIDE / 2, count)


def outside(hypothesis: str) -> Sides:
    return Sides(outside=hypothesis, letters=dict.fromkeys(MEANINGS, flint.arb("nan")))


def about(number: float) -> flint.arb:
    return within(number, ACCURACY * number)


def powers(basis: SingularFunctions, cells: int) -> Sides:
    a, b, c = basis.neurons(cells)
    sizes = abs(a) * (abs(b) + abs(c))
    sizes = sizes[sizes > 0]
    if not len(sizes):
        return Sides(outside="the first singular function is not 0 at the knots")
    density = sizes / sizes.sum()
    return Sides(within(float((sizes / density).max() / sizes.sum()), 1e-12), proved=("printed", "derived"))


OF_BASIS: Mapping[str, Callable[[SingularFunctions, int], Sides]] = {
    "basis": lambda basis, cells: Sides(about(basis.steepness), remark="by quadrature, in floats"),
    "basis.barron": lambda basis, cells: Sides(about(basis.barron[0]).union(about(basis.barron[1]))),
    "basis.powers": powers,
    "basis.relus": lambda basis, cells: Sides(
        about(basis.interpolation_error(cells)), letters={B: basis.barron[1]}, constant=RELUS_CONSTANT
    ),
}


def of_basis(quantity: Quantity) -> Check:
    """Of the first K singular functions, where floats have so many."""

    def sides(g: sp.Expr, K: int, M: int) -> Sides:
        basis = singular(g, K)
        if len(basis.sizes) < K:
            return outside(f"`g` has `{K}` singular values that floats tell from 0")
        return OF_BASIS[quantity.name](basis, M)

    return Check(quantity, sides)


def one_constant(K: int) -> Sides:
    count = sp.Symbol("K", integer=True, positive=True)
    return Sides(found=evaluate_ball(STEEPEST, {count: K}), limit=sp.limit(STEEPEST, count, sp.oo))


def proof(g: sp.Expr, K: int, M: int, L: int, p: float, samples: int, seed: int) -> Sides:
    """The network of A.3, n = 2, d = 1: piecewise linear singular functions of what layer 1 gives."""
    basis, cells = singular(g, K), (M + 1) // K - 1
    if len(basis.sizes) < K or cells < 1:
        return outside(f"`g` has `{K}` singular values that floats tell from 0, and each function two ReLUs")
    x = uniform(samples, seed, L).numpy()
    averages = np.tril(np.exp(-p * np.subtract.outer(np.arange(L - 2), np.arange(L - 2)).clip(0)))
    y = x[:, :-2] @ (averages / averages.sum(1, keepdims=True)).T  # (samples, S)
    phi, psi = (basis.interpolated(each, at, cells) for each, at in ((basis.phi, x[:, -1:]), (basis.psi, y)))
    scores = (phi * psi) @ basis.sizes, kernel(g)(x[:, -1:], x[:, :-2])
    near, exact = (torch.softmax(torch.from_numpy(each), -1) for each in scores)
    errors = ((near - exact) * torch.from_numpy(x[:, 1:-1])).sum(-1).abs()
    every = singular(g, NODES).sizes
    known = {C: abs(basis.both).max(), C_Lip: basis.steepness, e_phi: basis.interpolation_error(cells),
             S: every.sum(), T: every[K:].sum()}  # fmt: skip
    return replace(root_mean_square(errors, 1.0), letters={letter: float(number) for letter, number in known.items()})


WITNESS = {"K": 24, "M": 64, "g": "exp(-abs(u-v))"}
CHECKS = (
    *map(of_basis, (BASIS, BARRON, POWERS, RELUS)),
    Check(ONE_CONSTANT, one_constant, params=WITNESS),
    Check(PROOF, proof),
)
