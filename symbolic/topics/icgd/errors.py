"""What is measured of the network: the errors of Lemmas 2-6 and Theorem 1, each with its printed and derived bound."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import sympy as sp

from symbolic.derivations.derivation import Approximated, Derivation, Norm, Step
from symbolic.statements.result import Kind, Printed, Quantifier, Quantity
from symbolic.topics.icgd import chain, errata, printed
from symbolic.topics.icgd.chain import label
from symbolic.topics.icgd.symbols import B_v, K, N, b_l, b_r, b_r1, d_y, eps_l, eps_r, eps_r1, j, neurons, relus
from symbolic.words.prose import joined

TWO_NORM, SUP_NORM = "2-norm, largest token", "sup norm, largest token"
WITHOUT_LABEL = "`w` in the box `|v_jk[i]| <= B_v / sqrt(length of v_jk)`, `||x||_2 <= B_x`"
DOMAIN = joined((WITHOUT_LABEL, "`||y||_2 <= B_y`"), ", ")


@dataclass(frozen=True)
class NetworkSizes:
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
    def dimensions(self) -> tuple[sp.Symbol, sp.Symbol]:
        return self.inputs, self.outputs

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

    def below_the_last(self, layer: sp.Expr, last: bool) -> tuple[sp.Basic, ...]:
        """What a symbolic layer has to meet, for a bound of the hidden layers."""
        return () if last or self.layers else (sp.Le(layer, self.depth - 1),)

    def derivation(self, symbolic: Callable[[], Approximated]) -> Derivation:
        """The chain with symbolic depth, or the one with a step for every layer."""
        return symbolic().derivation if self.layers is None else chain.derive_layers(self.layers)


def measured(
    network: NetworkSizes,
    name: str,
    latex: str,
    meaning: str,
    norm: str,
    derivation: Derivation,
    *,
    bound: Printed | None = None,
    trivial: sp.Expr | None = None,
    step: str = "",
    domain: str = DOMAIN,
    **more: Any,
) -> Quantity:
    """A quantity of the network, at every admissible input; printed bound and trivial one in the general letters."""
    return Quantity(
        *(name, latex, meaning, norm, domain, Kind.UPPER, Quantifier.FOR_ALL, derivation, step or name),
        worst_case=network.worst_case,
        printed=None if bound is None else network.printed(bound),
        construction="icgd",
        trivial=None if trivial is None else network.at_worst(trivial),
        **more,
    )


def _of_layer(network: NetworkSizes, value: str, layer: sp.Expr, last: bool, meaning: str, **more: Any) -> Quantity:
    """The error of one layer's p, r', s or s.max, in the norm of its lemma."""
    letter, at, in_sup = value.removesuffix(".max"), sp.latex(layer), value in ("r'", "s.max")
    order = r"\infty" if in_sup else "2"
    latex = rf"\|\bar{{{letter[0]}}}{letter[1:]}({at}) - {letter}({at})\|_{order}"
    derivation = network.derivation(partial(chain.derive_layer, value, layer, network.depth, last=last))
    name = label(letter, layer) + value.removeprefix(letter)
    return measured(network, name, latex, meaning, SUP_NORM if in_sup else TWO_NORM, derivation, **more)


# Lemma 2.
def forward(network: NetworkSizes) -> list[Quantity]:
    quantities = []
    for layer, last in network.each_layer():
        bound = printed.OUTPUT_ERROR if last else printed.layer_error(layer)
        trivial = sp.sqrt(network.outputs if last else K) * (2 * b_r + eps_r)
        of_layer = partial(_of_layer, network, "p", layer, last, f"error of the output of layer `{layer}`")
        known: dict[str, Any] = {"domain": WITHOUT_LABEL, "indices": network.below_the_last(layer, last)}
        quantities.append(of_layer(bound=bound, trivial=trivial, erratum=errata.RANGE_R, **known))
    return quantities


# Lemma 3.
def derivative(network: NetworkSizes) -> list[Quantity]:
    known: dict[str, Any] = {"bound": printed.DERIVATIVE_ERROR, "trivial": 2 * b_r1 + eps_r1, "domain": WITHOUT_LABEL}
    known["erratum"] = errata.RANGE_R1
    meaning = "error of the derivatives `r'(V_j p(j-1))` at layer `{}`"
    return [
        _of_layer(network, "r'", *of, meaning.format(of[0]), indices=network.below_the_last(*of), **known)
        for of in network.each_layer()
    ]


# Lemma 4.
def loss_gradient(network: NetworkSizes) -> list[Quantity]:
    depth, trivial = network.depth, 2 * b_l + eps_l
    meaning, apart = "error of the gradient of the loss in the output", r"\|g - u(p(N), y)\|"
    in_sup = network.derivation(lambda: chain.largest_of_loss_gradient(chain.derive_output(depth), depth))
    in_two = network.derivation(lambda: chain.derive_loss_gradient(depth))
    largest = (rf"{apart}_\infty", f"{meaning}, largest coordinate", SUP_NORM, in_sup)
    return [
        measured(network, "g.max", *largest, bound=printed.LOSS_GRADIENT_ERROR, trivial=trivial),
        measured(network, "g", rf"{apart}_2", meaning, TWO_NORM, in_two, trivial=sp.sqrt(d_y) * trivial),
    ]


# Lemma 6.
def backward(network: NetworkSizes) -> list[Quantity]:
    quantities = []
    for layer, last in network.each_layer():
        signal = chain.derive_layer("s", layer, network.depth, last=last)
        meaning = f"error of the loss gradient at the arguments of layer `{layer}`"
        below = network.below_the_last(layer, last)
        known: dict[str, Any] = {"trivial": _twice_the_size(signal.size), "indices": below}
        stated = {"bound": printed.BACKWARD_ERROR, "erratum": errata.COLUMNS}
        quantities += [
            _of_layer(network, "s.max", layer, last, f"{meaning}, largest coordinate", **known, **stated),
            _of_layer(network, "s", layer, last, meaning, **known),
        ]
    return quantities


# |sbar(j)[k]| <= B_s of (3.23). Coordinate by coordinate at j = N; below, a coordinate is at most the 2-norm, whose
# recursion over the layers is that of the exact signals with |r'bar| <= b_r1 + eps_r1 and |ubar| <= b_l + eps_l.
def _largest_signal(network: NetworkSizes) -> sp.Expr:
    """Bound on the coordinates of all sbar(1), ..., sbar(N)."""
    last, top = b_r1 * b_l, network.depth - 1
    if top == 0:
        return _approximate(last)
    first, hidden = chain.derive_signal(top, network.depth).size, chain.recursions().S
    several = _approximate(sp.Max(last, replace(hidden, start=first).largest(top - 1)))
    return several if network.layers else sp.Piecewise((_approximate(last), sp.Eq(N, 1)), (several, True))


def signal_size(network: NetworkSizes) -> Quantity:
    latex = r"\max_{j, k} |\bar{s}(j)[k]|"
    reason = "`||sbar(j)|| <= (b_{r'} + eps_{r'}) ||V_{j+1}|| ||sbar(j+1)||`, `||V_{j+1}|| <= sqrt(rows) B_v`"
    step = Step("size_s", Norm.INF, "size", _largest_signal(network), reason=reason, latex=latex)
    about = (latex, "largest absolute value of a back-propagated signal", SUP_NORM, Derivation((step,)))
    return measured(network, "size_s", *about, bound=printed.BACKWARD_SIZE, erratum=errata.COLUMNS)


def _twice_the_size(size: sp.Expr) -> sp.Expr:
    """Exact and approximate value are both that small, whatever the error: the sums of ReLUs add their own errors."""
    return size + _approximate(size)


def _approximate(size: sp.Expr) -> sp.Expr:
    """The size of what the sums of ReLUs give, on the ranges where they are accurate."""
    return size.xreplace({b_r: b_r + eps_r, b_r1: b_r1 + eps_r1, b_l: b_l + eps_l})


# Theorem 1.
def step(network: NetworkSizes) -> list[Quantity]:
    depth = network.depth
    derivation, norm = network.derivation(partial(chain.derive, depth)), "2-norm"
    gradient = (r"\|\nabla \bar{L}_n(w) - \nabla L_n(w)\|_2", "error of the gradient of the risk")
    weights = (r"\|\bar{w}^{+} - w^{+}\|_2", "error of the weights after one projected step")
    of_gradient = {"bound": printed.GRADIENT_ERROR, "trivial": _twice_the_size(chain.derive_blocks(depth).size / 2)}
    diameter = 2 * sp.sqrt(neurons(d_y, depth)) * B_v  # of the box
    inside = "printed for the error inside the projection, which does not expand"
    of_weights = {"bound": printed.STEP_ERROR, "trivial": diameter, "remark": inside}
    # As stated: accuracy eps was asked for, and the sums of ReLUs were chosen for it (relus = 0).
    asked = (r"\|\epsilon^{(l-1)}\|_2", "error that one step adds within the projection", norm, derivation)
    chosen: dict[str, Any] = {
        "indices": (sp.Eq(relus, 0),),
        "remark": "the sums of ReLUs are those computed from `eps`",
    }
    return [
        measured(network, "gradient", *gradient, norm, derivation, **of_gradient, erratum=errata.SQUARE_ROOT),
        measured(network, "w", *weights, norm, derivation, **of_weights, erratum=errata.SQUARE_ROOT),
        measured(network, "w.requested", *asked, bound=printed.REQUESTED_STEP, step="w", **chosen),
    ]
