"""What is measured of the network: the errors of Lemmas 2-6 and Theorem 1, each with its printed and derived bound."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import sympy as sp

from symbolic.derivation import Approximated, Derivation, Norm, Step
from symbolic.errata import Erratum
from symbolic.icgd import chain, errata, printed
from symbolic.icgd.chain import label
from symbolic.icgd.symbols import (
    B_v,
    K,
    N,
    b_l,
    b_r,
    b_r1,
    d_y,
    eps_l,
    eps_r,
    eps_r1,
    j,
    neurons,
)
from symbolic.statements import Kind, Printed, Quantifier, Quantity

TWO_NORM, SUP_NORM = "2-norm, largest token", "sup norm, largest token"
DOMAIN = "w in the box |v_jk[i]| <= B_v / sqrt(length of v_jk), ||x||_2 <= B_x, ||y||_2 <= B_y"


@dataclass(frozen=True)
class Network:
    """What a quantity is stated for: a number of layers (None: the symbol N) and the letters of both dimensions."""

    layers: int | None
    inputs: sp.Symbol
    outputs: sp.Symbol

    @property
    def depth(self) -> sp.Expr:
        return N if self.layers is None else sp.Integer(self.layers)

    @property
    def worst_case(self) -> dict[sp.Symbol, sp.Expr]:
        return chain.worst_case(self.inputs, self.outputs)

    def at_worst(self, expression: sp.Expr) -> sp.Expr:
        return expression.xreplace(self.worst_case)

    @property
    def two_dimensions(self) -> bool:
        """Theorem 5: d_x and d_y differ, and the paper prints neither ranges nor norms nor widths."""
        return self.inputs != self.outputs

    def printed(self, bound: Printed) -> Printed:
        return printed.with_outputs(bound, self.outputs)

    def each_layer(self) -> list[tuple[sp.Expr, bool]]:
        """The layers with quantities of their own, and whether it is the last one."""
        if self.layers is None:
            return [(j, False), (N, True)]
        return [(sp.Integer(layer), layer == self.layers) for layer in range(1, self.layers + 1)]

    def derivation(self, symbolic: Callable[[], Approximated]) -> Derivation:
        """The chain with symbolic depth, or the one with a step for every layer."""
        return symbolic().derivation if self.layers is None else chain.derive_layers(self.layers)


def measured(
    network: Network,
    name: str,
    latex: str,
    meaning: str,
    norm: str,
    derivation: Derivation,
    *,
    bound: Printed | None = None,
    trivial: sp.Expr | None = None,
    step: str = "",
    remark: str = "",
    indices: tuple[Any, ...] = (),
    erratum: Erratum | None = None,
) -> Quantity:
    return Quantity(
        name,
        latex,
        meaning,
        norm,
        DOMAIN,
        Kind.UPPER,
        Quantifier.FOR_ALL,
        derivation,
        step or name,
        network.worst_case,
        None if bound is None else network.printed(bound),
        "icgd",
        trivial=None if trivial is None else network.at_worst(trivial),
        remark=remark,
        indices=indices,
        erratum=erratum,
    )


# Lemma 2.
def forward(network: Network) -> list[Quantity]:
    quantities = []
    for layer, last in network.each_layer():
        name, at = label("p", layer), sp.latex(layer)
        width = network.outputs if last else K
        derivation = network.derivation(chain.derive_output if last else chain.derive_hidden)
        quantities.append(
            measured(
                network,
                name,
                rf"\|\bar{{p}}({at}) - p({at})\|_2",
                f"error of the output of layer {layer}",
                TWO_NORM,
                derivation,
                bound=printed.OUTPUT_ERROR if last else printed.layer_error(layer),
                trivial=sp.sqrt(width) * (2 * b_r + eps_r),
                erratum=errata.RANGE_R,
            )
        )
    return quantities


# Lemma 3.
def derivative(network: Network) -> list[Quantity]:
    quantities = []
    for layer, last in network.each_layer():
        name, at = label("r'", layer), sp.latex(layer)
        derivation = network.derivation(partial(chain.derive_derivative, layer, d_y if last else K))
        quantities.append(
            measured(
                network,
                name,
                rf"\|\bar{{r}}'({at}) - r'({at})\|_\infty",
                f"error of the derivatives r'(V_j p(j-1)) at layer {layer}",
                SUP_NORM,
                derivation,
                bound=printed.DERIVATIVE_ERROR,
                trivial=2 * b_r1 + eps_r1,
                erratum=errata.RANGE_R1,
            )
        )
    return quantities


# Lemma 4.
def loss_gradient(network: Network) -> list[Quantity]:
    depth = network.depth

    def largest() -> Approximated:
        return chain.largest_of_loss_gradient(chain.derive_output(depth), depth)

    trivial = 2 * b_l + eps_l
    return [
        measured(
            network,
            "g.max",
            r"\|g - u(p(N), y)\|_\infty",
            "error of the gradient of the loss in the output, largest coordinate",
            SUP_NORM,
            network.derivation(largest),
            bound=printed.LOSS_GRADIENT_ERROR,
            trivial=trivial,
        ),
        measured(
            network,
            "g",
            r"\|g - u(p(N), y)\|_2",
            "error of the gradient of the loss in the output",
            TWO_NORM,
            network.derivation(lambda: chain.derive_loss_gradient(depth)),
            trivial=sp.sqrt(d_y) * trivial,
        ),
    ]


# Lemma 6.
def backward(network: Network) -> list[Quantity]:
    quantities = []
    for layer, last in network.each_layer():
        name, at = label("s", layer), sp.latex(layer)
        signal = _signal(network, layer, last)
        largest = partial(chain.derive_largest_of_signal, layer, network.depth, last=last)
        trivial = _twice_the_size(signal.size)
        meaning = f"error of the loss gradient at the arguments of layer {layer}"
        below = () if last or network.layers else (sp.Le(layer, network.depth - 1),)
        quantities += [
            measured(
                network,
                f"{name}.max",
                rf"\|\bar{{s}}({at}) - s({at})\|_\infty",
                f"{meaning}, largest coordinate",
                SUP_NORM,
                network.derivation(largest),
                bound=printed.BACKWARD_ERROR,
                trivial=trivial,
                indices=below,
                erratum=errata.COLUMNS,
            ),
            measured(
                network,
                name,
                rf"\|\bar{{s}}({at}) - s({at})\|_2",
                meaning,
                TWO_NORM,
                network.derivation(partial(_signal, network, layer, last)),
                trivial=trivial,
                indices=below,
            ),
        ]
    return quantities


# |sbar(j)[k]| <= B_s of (3.23). Coordinate by coordinate at j = N; below, a coordinate is at most the 2-norm, whose
# recursion over the layers is that of the exact signals with |r'bar| <= b_r1 + eps_r1 and |ubar| <= b_l + eps_l.
def _largest_signal(network: Network) -> sp.Expr:
    """Bound on the coordinates of all sbar(1), ..., sbar(N)."""
    last, top = b_r1 * b_l, network.depth - 1
    if top == 0:
        return _approximate(last)
    first, hidden = chain.derive_signal(top, network.depth).size, chain.recursions().S
    several = _approximate(sp.Max(last, replace(hidden, start=first).largest(top - 1)))
    return several if network.layers else sp.Piecewise((_approximate(last), sp.Eq(N, 1)), (several, True))


_SIGNALS = r"\max_{j, k} |\bar{s}(j)[k]|"


def signal_size(network: Network) -> Quantity:
    step = Step(
        "size_s",
        Norm.INF,
        "size",
        _largest_signal(network),
        reason="||sbar(j)|| <= (b_r1 + eps_r1) ||V_{j+1}|| ||sbar(j+1)||, ||V_{j+1}|| <= sqrt(rows) B_v",
        latex=_SIGNALS,
    )
    return measured(
        network,
        "size_s",
        _SIGNALS,
        "largest absolute value of a back-propagated signal",
        SUP_NORM,
        Derivation((step,)),
        bound=printed.BACKWARD_SIZE,
        erratum=errata.COLUMNS,
    )


def _signal(network: Network, layer: sp.Expr, last: bool) -> Approximated:
    return chain.derive_last_signal(network.depth) if last else chain.derive_signal(layer, network.depth)


def _twice_the_size(size: sp.Expr) -> sp.Expr:
    """Exact and approximate value are both that small, whatever the error: the sums of ReLUs add their own errors."""
    return size + _approximate(size)


def _approximate(size: sp.Expr) -> sp.Expr:
    """The size of what the sums of ReLUs give, on the ranges where they are accurate."""
    return size.xreplace({b_r: b_r + eps_r, b_r1: b_r1 + eps_r1, b_l: b_l + eps_l})


# Theorem 1.
def step(network: Network) -> list[Quantity]:
    depth = network.depth
    derivation = network.derivation(partial(chain.derive, depth))
    return [
        measured(
            network,
            "gradient",
            r"\|\nabla \bar{L}_n(w) - \nabla L_n(w)\|_2",
            "error of the gradient of the risk",
            "2-norm",
            derivation,
            bound=printed.GRADIENT_ERROR,
            trivial=_twice_the_size(chain.derive_blocks(depth).size / 2),
            erratum=errata.SQUARE_ROOT,
        ),
        measured(
            network,
            "w",
            r"\|\bar{w}^{+} - w^{+}\|_2",
            "error of the weights after one projected step",
            "2-norm",
            derivation,
            bound=printed.STEP_ERROR,
            trivial=2 * sp.sqrt(neurons(d_y, depth)) * B_v,  # the diameter of the box
            remark="printed for the error inside the projection, which does not expand",
            erratum=errata.SQUARE_ROOT,
        ),
    ]


def requested(network: Network) -> Quantity:
    """Theorem 1 as stated: accuracy eps was asked for, and the sums of ReLUs were chosen for it (relus = 0)."""
    derivation = network.derivation(partial(chain.derive, network.depth))
    return measured(
        network,
        "w.requested",
        r"\|\epsilon^{(l-1)}\|_2",
        "error of one step, where the sums of ReLUs are those computed from eps",
        "2-norm",
        derivation,
        bound=printed.REQUESTED_STEP,
        step="w",
    )
