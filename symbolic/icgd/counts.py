"""What is counted of the construction: ranges of the sums of ReLUs, parameter norms (C.1) and (3.18), heads, width."""

from dataclasses import replace

import sympy as sp

from symbolic.derivation import Derivation, Norm, Step
from symbolic.errata import Erratum
from symbolic.icgd import chain, errata, printed
from symbolic.icgd.errors import Network, measured
from symbolic.icgd.symbols import (
    C_1,
    C_2,
    C_3,
    M_1,
    M_2,
    M_3,
    R_3,
    B_y,
    K,
    R_u,
    at_first_layer,
    d_x,
    d_y,
    eta,
    n,
    neurons,
    parameters,
)
from symbolic.statements import Kind, Printed, Quantifier, Quantity


def counted(
    network: Network,
    name: str,
    latex: str,
    meaning: str,
    norm: str,
    count: sp.Expr,
    *,
    bound: Printed | None = None,
    reason: str = "read off the construction",
    remark: str = "",
    erratum: Erratum | None = None,
) -> Quantity:
    """A number of the construction itself: no input enters."""
    step = Step(name, Norm.ONE, "count", count, reason=reason, latex=latex)
    known = None if bound is None or network.two_dimensions else network.printed(bound)
    return Quantity(
        name,
        latex,
        meaning,
        norm,
        "the construction",
        Kind.UPPER,
        Quantifier.EXISTS,
        Derivation((step,)),
        name,
        network.worst_case,
        known,
        "icgd",
        scopes=(),
        remark=remark,
        erratum=erratum if known else None,
    )


def ranges(network: Network, which: str) -> Quantity:
    """What the sums of ReLUs for r (`range_r`), r' (`range_r1`) or u (`range_u`) have to cover."""
    derivation = chain.derive_range(network.depth)
    # The sum of ReLUs is a function of [t; y]: its cube has to hold both.
    outputs = r"\max(|\bar{p}(N)[k]|, |y[k]|)"
    reason = "t = pbar(N)[k], y = y[k]"
    cube = Derivation((Step("range_u", Norm.INF, "invariant", sp.Max(R_u, B_y), reason=reason, latex=outputs),))
    latex, meaning, bound, derived, erratum = {
        "range_r": (
            chain.SCORES,
            "largest argument of r, for which Lemma 2 prints the range R_1",
            printed.RANGE_R,
            derivation,
            errata.RANGE_R,
        ),
        "range_r1": (
            chain.SCORES,
            "largest argument of r', for which Lemma 3 prints the range R_2",
            printed.RANGE_R1,
            derivation,
            errata.RANGE_R1,
        ),
        "range_u": (
            outputs,
            "largest argument of u, for which Lemma 4 prints the range R_3",
            printed.RANGE_U,
            cube,
            errata.RANGE_U,
        ),
    }[which]
    known = None if network.two_dimensions else bound
    step = derived.steps[-1].name
    quantity = measured(network, which, latex, meaning, "absolute value", derived, bound=known, step=step)
    return replace(quantity, scopes=(), erratum=erratum if known else None)


_NORM = "largest column sum (C.1)"


def forward_norms(network: Network) -> list[Quantity]:
    rows = at_first_layer(network.depth, d_y, sp.Max(K, d_y))
    reason = (
        "each column of Q and K has at most one nonzero entry, of absolute value at most 1; each of the M_1 heads of "
        "a row of V_j adds |c_m|"
    )
    return [
        counted(
            network,
            "norm[forward]",
            r"\max_j B_{\theta_j}",
            "parameter norm of layers 1..N",
            _NORM,
            1 + rows * C_1,
            bound=printed.NORM_FORWARD,
            reason=reason,
            erratum=errata.NORM_FORWARD,
        )
    ]


def derivative_norms(network: Network) -> list[Quantity]:
    return [
        counted(
            network,
            "norm[derivative]",
            r"B_{\theta_{N+1}}",
            "parameter norm of layer N+1",
            _NORM,
            1 + neurons(d_y, network.depth) * C_2,
            bound=None if network.layers == 1 else printed.NORM_DERIVATIVE,  # Definition 1 has a hidden layer
            reason="as in layers 1..N, with the rows of all layers at once",
            erratum=errata.NORM_DERIVATIVE,
        )
    ]


# W_1 has a row for each of the d_y M_3 ReLUs, with a_m[3] - R_3 in the column of the constant 1, R_3 in that of t, and
# entries of absolute value <= 1 in any other: its largest column sum is at most d_y M_3 (1 + R_3). A column of W_2
# holds one coefficient. For the errata: ReLUs with |c_m| > C_3 / M_3 are split into equal ones, of which there are then
# at most 2 M_3 with |c_m| <= C_3 / M_3; W_1 / a and a W_2 are the same layer, and the best a gives twice the root of
# the product 2 d M_3 (1 + R_3) C_3 / M_3.
def loss_gradient_norms(network: Network) -> list[Quantity]:
    return [
        counted(
            network,
            "norm[loss_gradient]",
            r"B_{\theta_{N+2}}",
            "parameter norm of layer N+2",
            _NORM,
            d_y * M_3 * (1 + R_3) + C_3,
            bound=printed.NORM_LOSS_GRADIENT,
            reason="the column of the constant 1 meets every ReLU with a_m[3] - R_3",
            erratum=errata.NORM_LOSS_GRADIENT,
        )
    ]


def backward_norms(network: Network) -> list[Quantity]:
    return [
        counted(
            network,
            "norm[backward]",
            r"\max_j B_{\theta_{N+2+j}}",
            "parameter norm of layers N+3..2N+2",
            "largest column sum (3.18)",
            sp.Integer(1),
            bound=printed.NORM_BACKWARD,
            reason="queries, keys and values copy coordinates",
        )
    ]


def step_norms(network: Network) -> list[Quantity]:
    return [
        counted(
            network,
            "norm[step]",
            r"B_{\theta_{2N+3}}",
            "parameter norm of layer 2N+3",
            _NORM,
            1 + eta * (n + 1) / n * neurons(d_y, network.depth),
            bound=printed.NORM_STEP,
            reason="two heads for each neuron, each with eta (n+1)/(2n)",
            erratum=errata.NORM_STEP,
        )
    ]


def sizes(network: Network) -> list[Quantity]:
    depth = network.depth
    rows = neurons(d_y, depth)
    weights = parameters(d_x, d_y, depth)
    heads = sp.Max(at_first_layer(depth, d_y, sp.Max(K, d_y)) * M_1, rows * M_2, 2 * rows)
    return [
        counted(
            network,
            "heads",
            r"\max_l M^l",
            "number of heads of the widest attention layer",
            "count",
            heads,
            remark="printed only as an order, O~(eps^-2); sums of ReLUs on a grid need eps^(-1/2)",
        ),
        counted(
            network,
            "relus",
            r"\max(M_1, M_2, M_3)",
            "number of ReLUs of one sum, for the function that takes most",
            "count",
            sp.Max(M_1, M_2, M_3),
            remark="computed from eps where relus = 0",
        ),
        counted(
            network,
            "width",
            "D",
            "number of coordinates of a token",
            "count",
            d_x + 2 * d_y + weights + 3 * rows + 2,
            reason="[x; y; w; p; r'; g; s; 1; t]",
            remark="printed only as an order, O(N K^2) + D_w",
        ),
    ]
