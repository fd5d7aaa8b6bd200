"""What is counted of the construction: ranges of the sums of ReLUs, parameter norms (C.1) and (3.18), heads, width."""

from dataclasses import dataclass, replace
from functools import cache

import sympy as sp

from symbolic.calculus.counting import (
    Columns,
    CountedAttention,
    CountedConstruction,
    Heads,
    Multiplication,
    Perceptron,
    counted,
)
from symbolic.derivations.derivation import Derivation, Norm, Step
from symbolic.statements.errata import Erratum
from symbolic.statements.result import Kind, Printed, Quantifier, Quantity
from symbolic.topics.icgd import chain, errata, errors, printed
from symbolic.topics.icgd.errors import NetworkSizes, measured
from symbolic.topics.icgd.symbols import (
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


@cache
def construction(network: NetworkSizes) -> CountedConstruction:
    """The network in letters, as numeric/topics/icgd builds it: its blocks and layers, of 1..N the widest."""
    depth = network.depth
    rows = neurons(d_y, depth)
    return CountedConstruction(
        {"x": d_x, "y": d_y, "v": parameters(d_x, d_y, depth), "p": rows, "r'": rows, "g": d_y, "s": rows, "one, t": 2},
        {
            # A head for each row k of V_j and each ReLU m: queries and keys copy v_jk and p(j-1), scaled by a_m, and
            # V_{m,k} has the one entry c_m.
            "forward": CountedAttention((Heads(at_first_layer(depth, d_y, sp.Max(K, d_y)), M_1, values=C_1),)),
            "derivative": CountedAttention((Heads(rows, M_2, values=C_2),)),
            "loss_gradient": Perceptron(_masked_units(), Columns({"a unit": ((1, C_3),)})),
            "backward": Multiplication((Columns({"queries, keys, values": ((1, 1),)}),)),
            # Two heads for each neuron, one for each sign.
            "step": CountedAttention((Heads(rows, 2, values=2 * eta * (n + 1) / (2 * n)),)),
        },
    )


# W_1 of layer N+2 has a row for each of the d_y M_3 ReLUs: a_m[1] and a_m[2] in the columns of t and y, a_m[3] - R_3 in
# that of the constant 1, R_3 in that of the mask. A column of W_2 holds one coefficient. For the errata: ReLUs with
# |c_m| > C_3 / M_3 are split into equal ones, of which there are then at most 2 M_3 with |c_m| <= C_3 / M_3; W_1 / a
# and a W_2 are the same layer, and the best a gives twice the root of the product 2 d M_3 (1 + R_3) C_3 / M_3.
def _masked_units() -> Columns:
    here, all_of_them = ((M_3, 1),), d_y * M_3
    return Columns({"t": here, "y": here, "one": ((all_of_them, 1 + R_3),), "mask": ((all_of_them, R_3),)})


@dataclass(frozen=True)
class _Count:
    """A number of the construction itself, into which no input enters; with its sign and what is printed of it."""

    latex: str
    meaning: str
    norm: str = "count"
    printed: Printed | None = None
    erratum: Erratum | None = None
    remark: str = ""
    outside: bool = False

    def of(self, network: NetworkSizes, name: str, count: sp.Expr) -> Quantity:
        known = None if self.printed is None or network.two_dimensions else network.printed(self.printed)
        return Quantity(
            *(name, self.latex, self.meaning, self.norm, "the construction", Kind.UPPER, Quantifier.EXISTS),
            derivation=counted(name, count, latex=self.latex),
            step=name,
            worst_case=network.worst_case,
            printed=known,
            construction="icgd",
            scopes=(),
            remark=self.remark,
            outside=self.outside,
            erratum=self.erratum if known else None,
        )


# The sum of ReLUs for u is a function of [t; y]: its cube has to hold both.
_OUTPUTS = r"\max(|\bar{p}(N)[k]|, |y[k]|)"
_AT = "for `t = pbar(N)[k]` and `y = y[k]`"
_CUBE = Step("range_u", Norm.INF, "invariant", sp.Max(R_u, B_y), reason=_AT, latex=_OUTPUTS)
_RANGES = {
    "range_r": ("r", "Lemma 2 prints the range `R_1`", printed.RANGE_R, errata.RANGE_R, errors.WITHOUT_LABEL),
    "range_r1": ("r'", "Lemma 3 prints the range `R_2`", printed.RANGE_R1, errata.RANGE_R1, errors.WITHOUT_LABEL),
    "range_u": ("u", "Lemma 4 prints the range `R_3`", printed.RANGE_U, errata.RANGE_U, errors.DOMAIN),
}


def ranges(network: NetworkSizes, which: str) -> Quantity:
    """What the sums of ReLUs for r (`range_r`), r' (`range_r1`) or u (`range_u`) have to cover."""
    function, stated, bound, erratum, domain = _RANGES[which]
    derived = Derivation((_CUBE,)) if which == "range_u" else chain.derive_range(network.depth)
    about = (
        derived.steps[-1].latex,
        f"largest absolute value of an argument of `{function}`",
        "absolute value",
        derived,
    )
    known = None if network.two_dimensions else bound
    quantity = measured(network, which, *about, bound=known, step=derived.steps[-1].name, domain=domain, remark=stated)
    return replace(quantity, scopes=(), erratum=erratum if known else None)


def _norm(
    latex: str, layers: str, bound: Printed, erratum: Erratum | None = None, norm: str = "norm (C.1) of the paper"
) -> _Count:
    return _Count(latex, f"parameter norm of {layers}", norm, bound, erratum)


_NORMS = {
    "forward": _norm(r"\max_j B_{\theta_j}", "layers `1..N`", printed.NORM_FORWARD, errata.NORM_FORWARD),
    "derivative": _norm(r"B_{\theta_{N+1}}", "layer `N+1`", printed.NORM_DERIVATIVE, errata.NORM_DERIVATIVE),
    "loss_gradient": _norm(r"B_{\theta_{N+2}}", "layer `N+2`", printed.NORM_LOSS_GRADIENT, errata.NORM_LOSS_GRADIENT),
    "backward": _norm(
        r"\max_j B_{\theta_{N+2+j}}", "layers `N+3..2N+2`", printed.NORM_BACKWARD, norm="norm (3.18) of the paper"
    ),
    "step": _norm(r"B_{\theta_{2N+3}}", "layer `2N+3`", printed.NORM_STEP, errata.NORM_STEP),
}


def of_layer(network: NetworkSizes, layer: str, which: str = "") -> list[Quantity]:
    """The range that the layers of this name have to cover, if they approximate a function, and their norm."""
    about = _NORMS[layer]
    if layer == "derivative" and network.layers == 1:  # Definition 1 has a hidden layer
        about = replace(about, printed=None)
    norm = about.of(network, f"norm[{layer}]", construction(network).layers[layer].norm)
    return [ranges(network, which), norm] if which else [norm]


_HEADS = _Count(
    r"\max_l M^l",
    "number of heads of the widest attention layer",
    remark="printed only as an order, `O~(eps^-2)`; sums of ReLUs on a grid need `eps^(-1/2)`",
)
_RELUS = _Count(
    r"\max(M_1, M_2, M_3)",
    "number of ReLUs of one sum, for the function that takes most",
    remark="computed from `eps` where `relus = 0`",
    outside=True,
)
_WIDTH = _Count("D", "number of coordinates of a token", remark="printed only as an order, `O(N K^2) + D_w`")


def sizes(network: NetworkSizes) -> list[Quantity]:
    """Heads, ReLUs and width."""
    built = construction(network)
    counts = {"heads": (_HEADS, built.heads), "relus": (_RELUS, sp.Max(M_1, M_2, M_3)), "width": (_WIDTH, built.width)}
    return [about.of(network, name, count) for name, (about, count) in counts.items()]
