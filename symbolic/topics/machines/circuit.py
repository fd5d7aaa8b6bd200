"""Circuits as ReLU networks (wei2021, Lemma 3.2, 3.3 and B.1): exact gates, and the 1-norms of their parameters."""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import sympy as sp

from symbolic.derivations.derivation import DerivationError
from symbolic.statements.errata import Erratum, Weight
from symbolic.statements.result import (
    Formula,
    Hypothesis,
    Kind,
    Order,
    Parameter,
    Printed,
    Quantifier,
    Quantity,
    Result,
)
from symbolic.topics.machines import objects
from symbolic.topics.machines.rounding import relu, rounding_gap, rounding_net
from symbolic.words.citations import WEI2021, Citation

x1, x2 = BITS = sp.symbols("x1 x2", real=True)
q, r, s, m = sp.symbols("q r s m", positive=True, integer=True)
r_last = sp.Symbol("r_last", positive=True, integer=True)
rounding = sp.Symbol("rounding", integer=True)

# The gates, and the nets of Proposition B.2 and of the proof of Lemma B.1.
TRUTH: Mapping[str, Callable[..., Any]] = {"AND": sp.And, "OR": sp.Or, "NOT": sp.Not, "ID": lambda x: x}
PRINTED_GATES: Mapping[str, sp.Expr] = {
    "AND": relu(x1 + x2 - 1),
    "OR": 1 - relu(1 - x1 - x2),
    "NOT": 1 - x1,
    "ID": x1,
}


@dataclass(frozen=True)
class GateNet:
    """phi(w2 phi(w1 . x + b1) + b2), the row that a gate takes in W1, b1, W2 and b2."""

    w1: tuple[sp.Expr, ...]
    b1: sp.Expr
    w2: sp.Expr
    b2: sp.Expr

    def value(self, x: tuple[sp.Expr, ...]) -> sp.Expr:
        argument = sum((weight * bit for weight, bit in zip(self.w1, x, strict=True)), self.b1)
        return relu(self.w2 * relu(argument) + self.b2)

    @property
    def norm(self) -> sp.Expr:
        """The 1-norm of the row."""
        return sum(map(sp.Abs, (*self.w1, self.b1, self.w2, self.b2)), sp.Integer(0))


@cache
def gate_net(kind: str) -> GateNet:
    """The parameters that make the printed net of that gate, read off its expression."""
    w2, inner, b2 = _one_relu(PRINTED_GATES[kind])
    bits = [bit for bit in BITS if inner.has(bit)]
    polynomial = sp.Poly(inner, *bits)
    return GateNet(tuple(polynomial.coeff_monomial(bit) for bit in bits), polynomial.coeff_monomial(1), w2, b2)


def _one_relu(net: sp.Expr) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """w2, a and b2 of w2 phi(a) + b2. An affine net is that of w2 = 1, b2 = 0: it is not negative on bits."""
    if not net.has(sp.Max):
        return sp.Integer(1), net, sp.Integer(0)
    (atom,) = net.atoms(sp.Max)
    (inner,) = [argument for argument in atom.args if argument != 0]
    w2 = net.coeff(atom)
    return w2, inner, net - w2 * atom


@cache
def wrong_rows(kind: str) -> int:
    """On how many inputs of {0, 1}^2 (or {0, 1}) the gate's net differs from the gate: 0 proves the gate."""
    net = gate_net(kind)
    inputs = itertools.product((0, 1), repeat=len(net.w1))
    return sum(net.value(tuple(map(sp.Integer, x))) != int(_truth(kind, x)) for x in inputs)


def _truth(kind: str, x: tuple[int, ...]) -> bool:
    return bool(TRUTH[kind](*(sp.true if bit else sp.false for bit in x)))


@cache
def wrong_outputs() -> sp.Expr:
    """The number of inputs on which the network of any circuit is wrong.

    Lemma 3.2, by induction over the layers: h_0 is the input; if h_{i-1} holds bits, each coordinate of f_i(h_{i-1}) is
    one gate's net on its parents' bits, hence the gate's bit, and `round` keeps 0 and 1.
    """
    kept = [rounding_net(sp.Integer(bit)) for bit in (0, 1)] == [0, 1] and rounding_gap() == 0
    if any(map(wrong_rows, TRUTH)) or not kept:
        raise DerivationError("circuit: the net of a gate, or round, is wrong on bits")
    return sp.Integer(0)


@cache
def heaviest_gate() -> sp.Expr:
    """The largest 1-norm of a gate's parameters: each layer's 1-norm is at most this times its number of gates."""
    return sp.Max(*(gate_net(kind).norm for kind in TRUTH))


@cache
def rounding_weight() -> sp.Expr:
    """The 1-norm of the parameters that round one coordinate: those of each ReLU's argument, and its coefficient."""
    z = sp.Symbol("z", real=True)
    net = rounding_net(z)
    weight = sp.Integer(0)
    for atom in net.atoms(sp.Max):
        (inner,) = [argument for argument in atom.args if argument != 0]
        coefficients = sp.Poly(inner, z).all_coeffs()
        weight += sp.Abs(net.coeff(atom)) + sum(map(sp.Abs, coefficients))
    return weight


_LEMMA = Citation(WEI2021, "Lemma B.1")
_SECTION = Citation(WEI2021, "Theorem 3.1", "proof, Appendix B")
_CIRCUITS = "every layered circuit of AND, OR, NOT and ID with `q >= 2`"

# Identities of m bits, by any W_1 and W_2: bit j changes output j by 1 <= ||row j of W_2||_1 max |column j of W_1|, so
# that these two add up to 2 or more, and over all j to 2 m a layer. Fan-out is cheaper: from one input to n ID gates
# W_1 = c and W_2 = (1/c, ..., 1/c) cost c + n/c.
TOTAL_NORM = Erratum(
    Weight.PROOF,
    Citation(WEI2021, "Appendix B", "proof of Theorem 3.1"),
    sentence="the parameters that simulate the gates have a total 1-norm of at most `s`",
    reading="`s` counts inputs and ID gates, its largest meaning; the `W_2` of Lemma B.1 is diagonal with entries "
    "-1, 0, 1, so that each of the `s - m` gates has a norm of at least 2, and the total exceeds `s` if "
    "`s > 2m`; no other parameters help a chain of identities of `m` bits, since all need `2 (s - m)`",
    repair=f"`O(s)`, for instance {heaviest_gate()} `s`",
    survives="yes: Lemma B.1, over which this line sums, prints `O(r_i)`, and Theorem 3.1 needs only `O(s)`",
)


def _quantity(name: str, symbol: str, meaning: str, norm: str, kind: Kind, **more: Any) -> Quantity:
    exists = Quantifier.FOR_ALL if kind is Kind.EXACT else Quantifier.EXISTS
    return Quantity(name, symbol, meaning, norm, more.pop("domain", _CIRCUITS), kind, exists, scopes=(), **more)


CIRCUITS = "adder8, c17, majority5, parity16, products8; or a .bench or .blif file"

CIRCUIT = Result(
    id="machines.circuit",
    title="Boolean circuits as feedforward ReLU networks",
    citation=Citation(WEI2021, "Lemma B.1", "with Lemma 3.2, Lemma 3.3 and Proposition 3.4"),
    claim=r"F(x, \theta) = 2 G(x) - 1 \quad \forall x \in \{0, 1\}^m, \qquad \|\theta_i\|_1 = O(r_i)",
    parameters=(
        Parameter("netlist", None, CIRCUITS, "products8", takes="NAME|FILE"),
        Parameter("input", None, "bits of one input, first input first: its outputs are shown", "", takes="BITS"),
        Parameter("rounding", rounding, "1: with the correction functions (`F'`), 0: without (`F`)", 1, integer=True),
    ),
    hypotheses=(
        Hypothesis("rounding", sp.Ge(rounding, 0), "0: without the correction functions"),
        Hypothesis("rounding", sp.Le(rounding, 1), "1: with the correction functions"),
    ),
    objects=objects.CIRCUIT,
    quantities=(
        _quantity(
            "outputs",
            r"\#\{x : F(x, \theta) \neq 2 G(x) - 1\}",
            "number of inputs on which the network differs from the direct evaluation of the gates",
            "a count",
            Kind.EXACT,
            domain=f"{_CIRCUITS}, every input of `m` bits",
            printed=Printed(sp.Integer(0), Citation(WEI2021, "Lemma 3.2", "with Lemma 3.3")),
            derive=wrong_outputs,
        ),
        _quantity(
            "layer_norm",
            r"\max_i \|\theta_i\|_1 / r_i",
            "1-norm of the parameters of `f_i` over the number of gates of layer `i`, largest over `i`",
            "1-norm of W1, b1, W2, b2, per gate",
            Kind.UPPER,
            printed=Printed(sp.Integer(1), _LEMMA, order=Order.O),
            derive=heaviest_gate,
        ),
        _quantity(
            "total_norm",
            r"\sum_i \|\theta_i\|_1",
            "1-norm of the parameters of `f_1`, ..., `f_{q-1}`, before correction functions and readout",
            "1-norm",
            Kind.UPPER,
            printed=Printed(s, Citation(WEI2021, "Appendix B", "the total 1-norm of the parameters so far")),
            derive=lambda: heaviest_gate() * (s - m),
            erratum=TOTAL_NORM,
        ),
        _quantity(
            "rounding_norm",
            r"\sum_i \|\xi_i\|_1",
            "1-norm of the parameters of the correction functions `zeta_1`, ..., `zeta_{q-2}`",
            "1-norm",
            Kind.UPPER,
            printed=Printed(s, _SECTION, order=Order.O),
            derive=lambda: rounding * rounding_weight() * (s - m - r_last),
        ),
        _quantity(
            "depth",
            r"\text{depth}",
            "number of ReLU layers",
            "a count",
            Kind.EXACT,
            printed=Printed(q, Citation(WEI2021, "Theorem 3.1"), order=Order.THETA),
            derive=lambda: 2 * (q - 1) + 2 * rounding * (q - 2),
            remark="the readout after them is linear; identities that only fill up a fixed depth are left out",
        ),
        _quantity(
            "width",
            r"\text{width}",
            "width of the widest layer, the input layer included",
            "a count",
            Kind.UPPER,
            printed=Printed(r, Citation(WEI2021, "Theorem 3.1"), order=Order.O),
            derive=lambda: (1 + rounding) * r,
        ),
    ),
    notation={r_last: "r_{q-1}", rounding: r"\mathbf{1}_{\zeta}"},
    symbols={
        q: "layers of the circuit, the layer of the inputs included",
        r: "size of its widest layer, the layer of the inputs included",
        s: "its gates, inputs and ID gates included",
        m: "its inputs",
        r_last: "gates of its last layer",
    },
    formulas=tuple(
        Formula(
            rf"\|\theta_{{\text{{{kind}}}}}\|_1",
            lambda kind=kind: gate_net(kind).norm,  # type: ignore[misc]
            f"1-norm of the parameters of one {kind} gate",
        )
        for kind in TRUTH
    ),
    remarks=(
        "Outputs beyond the paper's single one are read off the last layer in the same way.",
        "The proof of Lemma B.1 puts the -1 of NOT on the diagonal of `W_1`, for a gate at the position of its parent; "
        "here it stands in the column of the parent.",
    ),
)
