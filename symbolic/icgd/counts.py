"""What is counted of the construction: ranges of the sums of ReLUs, parameter norms (C.1) and (3.18), heads, width."""

from dataclasses import replace

import sympy as sp

from symbolic.derivation import Derivation, Norm, Step
from symbolic.icgd import chain, printed
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
) -> Quantity:
    """A number of the construction itself: no input enters."""
    step = Step(name, Norm.ONE, "count", count, reason=reason)
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
        None if bound is None else network.printed(bound),
        "icgd",
        scopes=(),
        remark=remark,
    )


# Ranges, counts and norms of the construction.
_WHY_RANGES = {
    "range_r": "R_1 takes |p(j)[k]| <= B_r for the 2-norm of p(j), which is sqrt(K) B_r, and leaves out eps_r",
    "range_r1": "R_2 is built from B_{r'}, whose recursion feeds r' into itself; the arguments are those of r",
    "range_u": "R_3 holds B_v B_r, but |p(N)[k]| is bounded by B_r + eps_r, without B_v",
    "range_u.restated": "D.7 leaves B_y out of R_3",
}


def ranges(network: Network, *which: str) -> list[Quantity]:
    derivation = chain.derive_range(network.depth)

    def of(name: str, latex: str, meaning: str, bound: Printed, derived: Derivation) -> Quantity:
        quantity = measured(network, name, latex, meaning, "modulus", derived, bound=bound, step=derived.steps[-1].name)
        return replace(quantity, scopes=(), remark=_WHY_RANGES[name])

    # The sum of ReLUs is a function of [t; y]: its cube has to hold both.
    cube = Derivation((Step("range_u", Norm.INF, "invariant", sp.Max(R_u, B_y), reason="t = pbar(N)[k], y = y[k]"),))
    arguments = r"\max_j |v_{jk}^\top \bar{p}(j-1)|"
    outputs = r"\max(|\bar{p}(N)[k]|, |y[k]|)"
    ranges = {
        "range_r": of("range_r", arguments, "arguments of r against R_1", printed.RANGE_R, derivation),
        "range_r1": of("range_r1", arguments, "arguments of r' against R_2", printed.RANGE_R1, derivation),
        "range_u": of("range_u", outputs, "arguments of u against R_3", printed.RANGE_U, cube),
        "range_u.restated": of(
            "range_u.restated", outputs, "the same against R_3 of D.7", printed.RANGE_U_RESTATED, cube
        ),
    }
    return [ranges[name] for name in which]


_NORM = "largest column sum, (C.1)"


_WHY_NORMS = {
    "norm[forward]": "1 + K C_1 counts K rows; at j = N there are d",
    "norm[forward].proof": "the proof ends with 1 + C_1, which leaves out the K rows",
    "norm[derivative]": "printed with K (N-1) rows; there are K (N-1) + d",
    "norm[loss_gradient]": "||W_1||_1 is a column sum: the column of the constant 1 meets every ReLU, so it grows with "
    "their number; (C.1) adds the norms of W_1 and W_2, of which Lemma 4 takes the larger",
    "norm[step]": "printed with K rows in each layer; at j = N there are d",
}


def forward_norms(network: Network) -> list[Quantity]:
    rows = at_first_layer(network.depth, d_y, sp.Max(K, d_y))
    latex = r"\max_j B_{\theta_j}"
    reason = (
        "queries and keys have at most one entry of modulus <= 1 a column; each of the M_1 heads of a row adds |c_m|"
    )
    about = (network, _NORM, 1 + rows * C_1, reason)
    return [
        _norm(*about, "norm[forward]", latex, "parameter norm of layers 1..N", printed.NORM_FORWARD),
        _norm(*about, "norm[forward].proof", latex, "the same, as the proof prints it", printed.NORM_FORWARD_PROOF),
    ]


def _norm(
    network: Network, norm: str, count: sp.Expr, reason: str, name: str, latex: str, meaning: str, bound: Printed | None
) -> Quantity:
    remark = _WHY_NORMS.get(name, "")
    return counted(network, name, latex, meaning, norm, count, bound=bound, reason=reason, remark=remark)


def derivative_norms(network: Network) -> list[Quantity]:
    count = 1 + neurons(d_y, network.depth) * C_2
    reason = "as in layers 1..N, with the rows of all layers at once"
    meaning = "parameter norm of layer N+1"
    bound = None if network.layers == 1 else printed.NORM_DERIVATIVE  # Definition 1 has a hidden layer
    return [_norm(network, _NORM, count, reason, "norm[derivative]", r"B_{\theta_{N+1}}", meaning, bound)]


# W_1 has a row for each of the d_y M_3 ReLUs, with a_m[3] - R_3 in the column of the constant 1, R_3 in that of t, and
# entries of modulus <= 1 in any other: its largest column sum is at most d_y M_3 (1 + R_3). A column of W_2 holds one
# coefficient.
def loss_gradient_norms(network: Network) -> list[Quantity]:
    count = d_y * M_3 * (1 + R_3) + C_3
    reason = "the column of the constant 1 meets every ReLU with a_m[3] - R_3"
    bound = printed.NORM_LOSS_GRADIENT
    meaning = "parameter norm of layer N+2"
    return [_norm(network, _NORM, count, reason, "norm[loss_gradient]", r"B_{\theta_{N+2}}", meaning, bound)]


def backward_norms(network: Network) -> list[Quantity]:
    reason = "queries, keys and values copy coordinates"
    meaning = "parameter norm of layers N+3..2N+2"
    latex = r"\max_j B_{\theta_{N+2+j}}"
    norm = "largest column sum, (3.18)"
    return [_norm(network, norm, sp.Integer(1), reason, "norm[backward]", latex, meaning, printed.NORM_BACKWARD)]


def step_norms(network: Network) -> list[Quantity]:
    count = 1 + eta * (n + 1) / n * neurons(d_y, network.depth)
    reason = "two heads for each neuron, each with eta (n+1)/(2n)"
    meaning = "parameter norm of layer 2N+3"
    return [_norm(network, _NORM, count, reason, "norm[step]", r"B_{\theta_{2N+3}}", meaning, printed.NORM_STEP)]


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
            "heads of the widest attention layer",
            "count",
            heads,
            remark="printed only as an order, O~(eps^-2); sums of ReLUs on a grid need eps^-1/2",
        ),
        counted(
            network,
            "relus",
            r"\max(M_1, M_2, M_3)",
            "ReLUs of one sum, of the function that takes most",
            "count",
            sp.Max(M_1, M_2, M_3),
            remark="computed from eps where relus = 0",
        ),
        counted(
            network,
            "width",
            "D",
            "coordinates of a token",
            "count",
            d_x + 2 * d_y + weights + 3 * rows + 2,
            # Definition 1 has a hidden layer, and Theorem 5 lists no widths.
            bound=printed.WIDTH if network.inputs == network.outputs and network.layers != 1 else None,
            reason="[x; y; w; p; r'; g; s; 1; t]",
            remark="printed with (N-2) K + d coordinates for r', of which there are (N-1) K + d",
        ),
    ]
