"""The Results of wu2024's in-context gradient descent: Lemmas 2-6, Theorem 1 and, for d_x != d_y, Theorem 5.

A Result lists its quantities with a symbolic layer j; `quantities_for` gives those of a network of N layers, one a
layer, under the names of the taps: p[1], r'[1], g, s[1], ..., gradient, w.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import sympy as sp

from symbolic.citations import WU2024, Citation
from symbolic.derivation import Approximated, Derivation, Norm, Step
from symbolic.icgd import chain, printed
from symbolic.icgd.chain import label
from symbolic.icgd.symbols import (
    C_1,
    C_2,
    C_3,
    M_1,
    M_2,
    M_3,
    NOTATION,
    R_3,
    SYMBOLS,
    B_v,
    B_x,
    B_y,
    K,
    L,
    N,
    R_u,
    at_first_layer,
    b_l,
    b_r,
    b_r1,
    d,
    d_x,
    d_y,
    eps,
    eps_l,
    eps_r,
    eps_r1,
    eta,
    j,
    n,
    neurons,
    parameters,
)
from symbolic.statements import Hypothesis, Kind, Parameter, Printed, Quantifier, Quantity, Result, UsageError

relus = sp.Symbol("relus", integer=True, nonnegative=True)
relus_r1 = sp.Symbol("relus_r1", integer=True, nonnegative=True)

TWO_NORM, SUP_NORM = "2-norm, largest token", "sup norm, largest token"
DOMAIN = "w in the box |v_jk[i]| <= B_v / sqrt(length), ||x||_2 <= B_x, ||y||_2 <= B_y"


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


def _measured(
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
    )


def _counted(
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


# Lemma 2.
def _forward(network: Network) -> list[Quantity]:
    quantities = []
    for layer, last in network.each_layer():
        name, at = label("p", layer), sp.latex(layer)
        width = network.outputs if last else K
        derivation = network.derivation(chain.derive_output if last else chain.derive_hidden)
        quantities.append(
            _measured(
                network,
                name,
                rf"\|\bar{{p}}({at}) - p({at})\|_2",
                f"output of layer {'N' if last else 'j'}" if network.layers is None else f"output of layer {layer}",
                TWO_NORM,
                derivation,
                bound=printed.OUTPUT_ERROR if last else printed.layer_error(layer),
                trivial=sp.sqrt(width) * (2 * b_r + eps_r),
            )
        )
    return quantities


# Lemma 3.
def _derivative(network: Network) -> list[Quantity]:
    quantities = []
    for layer, last in network.each_layer():
        name, at = label("r'", layer), sp.latex(layer)
        derivation = network.derivation(partial(chain.derive_derivative, layer, d_y if last else K))
        quantities.append(
            _measured(
                network,
                name,
                rf"\|\bar{{r}}'({at}) - r'({at})\|_\infty",
                f"derivatives r'(V_j p(j-1)) at layer {layer}",
                SUP_NORM,
                derivation,
                bound=printed.DERIVATIVE_ERROR,
                trivial=2 * b_r1 + eps_r1,
            )
        )
    return quantities


# Lemma 4.
def _loss_gradient(network: Network) -> list[Quantity]:
    depth = network.depth

    def largest() -> Approximated:
        return chain.largest_of_loss_gradient(chain.derive_output(depth), depth)

    trivial = 2 * b_l + eps_l
    return [
        _measured(
            network,
            "g.max",
            r"\|g - u(p(N), y)\|_\infty",
            "gradient of the loss in the output, coordinate by coordinate",
            SUP_NORM,
            network.derivation(largest),
            bound=printed.LOSS_GRADIENT_ERROR,
            trivial=trivial,
        ),
        _measured(
            network,
            "g",
            r"\|g - u(p(N), y)\|_2",
            "gradient of the loss in the output",
            TWO_NORM,
            network.derivation(lambda: chain.derive_loss_gradient(depth)),
            trivial=sp.sqrt(d_y) * trivial,
        ),
    ]


# Lemma 6.
def _backward(network: Network) -> list[Quantity]:
    quantities = []
    for layer, last in network.each_layer():
        name, at = label("s", layer), sp.latex(layer)
        signal = _signal(network, layer, last)
        largest = partial(chain.derive_largest_of_signal, layer, network.depth, last=last)
        trivial = _twice_the_size(signal.size)
        meaning = f"loss gradient at the arguments of layer {layer}"
        quantities += [
            _measured(
                network,
                f"{name}.max",
                rf"\|\bar{{s}}({at}) - s({at})\|_\infty",
                f"{meaning}, coordinate by coordinate",
                SUP_NORM,
                network.derivation(largest),
                bound=printed.BACKWARD_ERROR,
                trivial=trivial,
            ),
            _measured(
                network,
                name,
                rf"\|\bar{{s}}({at}) - s({at})\|_2",
                meaning,
                TWO_NORM,
                network.derivation(partial(_signal, network, layer, last)),
                trivial=trivial,
            ),
        ]
    return quantities


# |sbar(j)[k]| <= B_s of (3.23). Coordinate by coordinate at j = N; below, a coordinate is at most the 2-norm, and the
# sizes are powers of one ratio times that of s(N-1), largest at an end. All with |r'bar| <= b_r1 + eps_r1 and
# |ubar| <= b_l + eps_l.
def _largest_signal(network: Network) -> sp.Expr:
    """Bound on the coordinates of all sbar(1), ..., sbar(N)."""
    last = b_r1 * b_l
    if network.depth == 1:
        return _approximate(last)
    ends = (chain.derive_signal(layer, network.depth).size for layer in (sp.Integer(1), network.depth - 1))
    several = _approximate(sp.Max(last, *ends))
    return several if network.layers else sp.Piecewise((_approximate(last), sp.Eq(N, 1)), (several, True))


def _signal_size(network: Network) -> Quantity:
    step = Step(
        "size_s",
        Norm.INF,
        "size",
        _largest_signal(network),
        reason="||sbar(j)|| <= (b_r1 + eps_r1) ||V_{j+1}|| ||sbar(j+1)||, ||V_{j+1}|| <= sqrt(rows) B_v",
    )
    return _measured(
        network,
        "size_s",
        r"\max_{j, k} |\bar{s}(j)[k]|",
        "size of the back-propagated signals",
        SUP_NORM,
        Derivation((step,)),
        bound=printed.BACKWARD_SIZE,
        remark="printed with the k-th column of V_{j+1} bounded by B_v, which bounds its rows",
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
def _step(network: Network) -> list[Quantity]:
    depth = network.depth
    derivation = network.derivation(partial(chain.derive, depth))
    return [
        _measured(
            network,
            "gradient",
            r"\|\nabla \bar{L}_n(w) - \nabla L_n(w)\|_2",
            "gradient of the risk",
            "2-norm",
            derivation,
            bound=printed.GRADIENT_ERROR,
            trivial=_twice_the_size(chain.derive_blocks(depth).size / 2),
        ),
        _measured(
            network,
            "w",
            r"\|\bar{w}^{+} - w^{+}\|_2",
            "weights after one projected step",
            "2-norm",
            derivation,
            bound=printed.STEP_ERROR,
            trivial=2 * sp.sqrt(neurons(d_y, depth)) * B_v,  # the diameter of the box
            remark="printed for the error inside the projection, which does not expand",
        ),
    ]


def requested(network: Network) -> Quantity:
    """Theorem 1 as stated: accuracy eps was asked for, and the sums of ReLUs were chosen for it (relus = 0)."""
    derivation = network.derivation(partial(chain.derive, network.depth))
    return _measured(
        network,
        "w.requested",
        r"\|\epsilon^{(l-1)}\|_2",
        "error of one step where the accuracy eps was asked for",
        "2-norm",
        derivation,
        bound=printed.REQUESTED_STEP,
        step="w",
    )


# Ranges, counts and norms of the construction.
def _ranges(network: Network, *which: str) -> list[Quantity]:
    derivation = chain.derive_range(network.depth)

    def of(name: str, latex: str, meaning: str, bound: Printed, derived: Derivation) -> Quantity:
        quantity = _measured(
            network, name, latex, meaning, "modulus", derived, bound=bound, step=derived.steps[-1].name
        )
        return replace(quantity, scopes=())

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


def _forward_norms(network: Network) -> list[Quantity]:
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
    return _counted(network, name, latex, meaning, norm, count, bound=bound, reason=reason)


def _derivative_norms(network: Network) -> list[Quantity]:
    count = 1 + neurons(d_y, network.depth) * C_2
    reason = "as in layers 1..N, with the rows of all layers at once"
    meaning = "parameter norm of layer N+1"
    return [
        _norm(network, _NORM, count, reason, "norm[derivative]", r"B_{\theta_{N+1}}", meaning, printed.NORM_DERIVATIVE)
    ]


# W_1 has a row for each of the d_y M_3 ReLUs, with a_m[3] - R_3 in the column of the constant 1, R_3 in that of t, and
# entries of modulus <= 1 in any other: its largest column sum is at most d_y M_3 (1 + R_3). A column of W_2 holds one
# coefficient.
def _loss_gradient_norms(network: Network) -> list[Quantity]:
    count = d_y * M_3 * (1 + R_3) + C_3
    reason = "the column of the constant 1 meets every ReLU with a_m[3] - R_3"
    bound = printed.NORM_LOSS_GRADIENT
    meaning = "parameter norm of layer N+2"
    return [_norm(network, _NORM, count, reason, "norm[loss_gradient]", r"B_{\theta_{N+2}}", meaning, bound)]


def _backward_norms(network: Network) -> list[Quantity]:
    reason = "queries, keys and values copy coordinates"
    meaning = "parameter norm of layers N+3..2N+2"
    latex = r"\max_j B_{\theta_{N+2+j}}"
    norm = "largest column sum, (3.18)"
    return [_norm(network, norm, sp.Integer(1), reason, "norm[backward]", latex, meaning, printed.NORM_BACKWARD)]


def _step_norms(network: Network) -> list[Quantity]:
    count = 1 + eta * (n + 1) / n * neurons(d_y, network.depth)
    reason = "two heads for each neuron, each with eta (n+1)/(2n)"
    meaning = "parameter norm of layer 2N+3"
    return [_norm(network, _NORM, count, reason, "norm[step]", r"B_{\theta_{2N+3}}", meaning, printed.NORM_STEP)]


def _sizes(network: Network) -> list[Quantity]:
    depth = network.depth
    rows = neurons(d_y, depth)
    weights = parameters(d_x, d_y, depth)
    heads = sp.Max(at_first_layer(depth, d_y, sp.Max(K, d_y)) * M_1, rows * M_2, 2 * rows)
    return [
        _counted(
            network,
            "heads",
            r"\max_l M^l",
            "heads of the widest attention layer",
            "count",
            heads,
            remark="printed only as an order, O~(eps^-2); sums of ReLUs on a grid need eps^-1/2",
        ),
        _counted(
            network,
            "width",
            "D",
            "coordinates of a token",
            "count",
            d_x + 2 * d_y + weights + 3 * rows + 2,
            bound=printed.WIDTH if network.inputs == network.outputs else None,  # Theorem 5 lists no widths
            reason="[x; y; w; p; r'; g; s; 1; t]",
            remark="printed with (N-2) K + d coordinates for r', of which there are (N-1) K + d",
        ),
    ]


# Parameters and hypotheses.
_PARAMETERS = {
    parameter.name: parameter
    for parameter in (
        Parameter("N", N, "number of layers of the network that is trained", (1, 2, 3), integer=True),
        Parameter("K", K, "width of its hidden layers", 4, integer=True),
        Parameter("d", d, "coordinates of x and of y", 2, integer=True),
        Parameter("d_x", d_x, "coordinates of x", 3, integer=True),
        Parameter("d_y", d_y, "coordinates of y", 1, integer=True),
        Parameter("n", n, "number of examples in the prompt", 8, integer=True),
        Parameter("B_v", B_v, "bound on the 2-norm of a row of weights", 1.0),
        Parameter("B_x", B_x, "bound on the 2-norm of x", 1.0),
        Parameter("B_y", B_y, "bound on the 2-norm of y", 1.0),
        Parameter("eta", eta, "step size", 0.1),
        Parameter("L", L, "number of steps before the prediction, where a table is given", 8, integer=True),
        Parameter("eps", eps, "accuracy asked of the gradient; it sets the sums of ReLUs where relus = 0", 0.1),
        Parameter("relus", relus, "ReLUs for each function; 0: computed from eps", 0, integer=True),
        Parameter("relus_r1", relus_r1, "ReLUs for r', where `relus` is given; 0: as many", 0, integer=True),
        Parameter("activation", None, "the activation r (tanh, sigmoid, gelu, softplus, sin, ...)", "tanh"),
        Parameter("loss", None, "the loss of one coordinate (square, huber, log_cosh, logistic)", "square"),
    )
}
_ONE_DIMENSION = tuple(name for name in _PARAMETERS if name not in ("d_x", "d_y", "L"))
_TWO_DIMENSIONS = tuple(name for name in _PARAMETERS if name != "d")
_WITHOUT_LOSS = tuple(name for name in _ONE_DIMENSION if name not in ("eta", "loss", "B_y"))
_WITHOUT_STEP = tuple(name for name in _ONE_DIMENSION if name != "eta")

_REASONS = {
    "N": "there is an output layer",
    "K": "layers have a neuron",
    "d": "data have a coordinate",
    "d_x": "inputs have a coordinate",
    "d_y": "outputs have a coordinate",
    "n": "the risk is a mean over the examples",
    "relus": "a count, or 0 for the one that eps needs",
    "relus_r1": "a count, or 0 for that of r",
    "B_v": "Theorem 1 fixes B_v > 0",
    "B_x": "Lemma 2 wants B_x > 0",
    "B_y": "the outputs are bounded",
    "eta": "Theorem 1 fixes eta > 0",
    "L": "a prediction follows a step",
    "eps": "Theorem 1 fixes eps > 0",
}


def _hypothesis(name: str) -> Hypothesis:
    symbol = _PARAMETERS[name].symbol
    if name in ("relus", "relus_r1"):
        condition = sp.Ge(symbol, 0, evaluate=False)
    elif _PARAMETERS[name].integer:
        condition = sp.Ge(symbol, 1, evaluate=False)
    else:
        condition = sp.Gt(symbol, 0, evaluate=False)
    return Hypothesis(name, condition, _REASONS[name])


def _lemma(network: Network, id: str) -> list[Quantity]:
    """The quantities of a Result, in the order of the proof."""
    forward = [*_forward(network), *_ranges(network, "range_r"), *_forward_norms(network)]
    derivative = [*_derivative(network), *_ranges(network, "range_r1"), *_derivative_norms(network)]
    loss = [*_loss_gradient(network), *_ranges(network, "range_u", "range_u.restated"), *_loss_gradient_norms(network)]
    backward = [*_backward(network), _signal_size(network), *_backward_norms(network)]
    own = {
        "icgd.forward": forward,
        "icgd.derivative": derivative,
        "icgd.loss_gradient": loss,
        "icgd.backward": backward,
    }
    if id in own:
        return own[id]
    step = [*_step(network), requested(network), *_step_norms(network), *_sizes(network)]
    return [*forward, *derivative, *loss, *backward, *step]


def quantities_for(result: Result, layers: int) -> tuple[Quantity, ...]:
    """The quantities of one of these Results for a network of `layers` layers. Raises UsageError below 1."""
    if layers < 1:
        raise UsageError(f"{result.id}: N = {layers} does not meet N >= 1 ({_REASONS['N']}).")
    return tuple(_lemma(_network(result.id, layers), result.id))


def _network(id: str, layers: int | None) -> Network:
    inputs, outputs = (d_x, d_y) if id == "icgd.dimensions" else (d, d)
    return Network(layers, inputs, outputs)


def _result(
    id: str, title: str, citation: Citation, claim: str, names: tuple[str, ...], remarks: tuple[str, ...]
) -> Result:
    return Result(
        id=id,
        title=title,
        citation=citation,
        claim=claim,
        parameters=tuple(_PARAMETERS[name] for name in names),
        hypotheses=tuple(_hypothesis(name) for name in names if _PARAMETERS[name].symbol is not None),
        quantities=tuple(_lemma(_network(id, None), id)),
        notation=NOTATION,
        symbols=SYMBOLS,
        remarks=remarks,
    )


_ON_RANGES = (
    "R_1 = max{B_v B_r, 1} bounds |v . p(j-1)| as if |p(j-1)[k]| <= B_r bounded the 2-norm: a factor sqrt(K) is "
    "missing, and the approximate p(j-1) may exceed B_r by eps_r.",
    "Lemma 2 does not say whether max_j includes j = 0; B_r and B_r' are read with it (B_r >= B_x).",
)

FORWARD = _result(
    "icgd.forward",
    "N attention layers compute the forward pass",
    Citation(WU2024, "Lemma 2", "eq. (3.9)-(3.11)"),
    r"\|\bar{p}_i(j) - p_i(j)\|_2 \le E_r \epsilon_r",
    _WITHOUT_LOSS,
    (*_ON_RANGES, "||B_theta_j|| <= 1 + K C_1 needs d <= K at j = N; the proof even ends with 1 + C_1."),
)
DERIVATIVE = _result(
    "icgd.derivative",
    "One attention layer computes the derivatives of the activations",
    Citation(WU2024, "Lemma 3", "eq. (3.13)"),
    r"|\bar{r}'_i(j-1)[k] - r'_i(j-1)[k]| \le \epsilon_{r'} + L_{r'} B_v E_r \epsilon_r",
    _WITHOUT_LOSS,
    (
        *_ON_RANGES,
        "The recursion of Lemma 3 feeds r' into itself, although its arguments are those of r: R_2 may be too small.",
        "r'_i has (N-1) K + d coordinates, printed as (N-2) K + d; the norm counts K (N-1) of them.",
    ),
)
LOSS_GRADIENT = _result(
    "icgd.loss_gradient",
    "One MLP computes the gradient of the loss in the outputs",
    Citation(WU2024, "Lemma 4", "eq. (3.15)"),
    r"|g_i[k] - u(p_i(N), y_i)[k]| \le \epsilon_l + L_l E_r \epsilon_r",
    _WITHOUT_STEP,
    (
        "R_3 is max{B_v B_r, B_y, 1} in Lemma 4 and max{B_v B_r, 1} in D.7.",
        "||W_1||_1 is a column sum: the column of the constant 1 meets every ReLU, so it grows with their number and "
        "is not R_3 + 1; (C.1) adds the norms of W_1 and W_2 where Lemma 4 takes the larger.",
    ),
)
BACKWARD = _result(
    "icgd.backward",
    "N multiplication layers propagate the gradient back",
    Citation(WU2024, "Lemma 5, Lemma 6", "eq. (3.19)-(3.24)"),
    r"|\bar{s}_i(j)[k] - s_i(j)[k]| \le E_s^{r} \epsilon_r + E_s^{r'} \epsilon_{r'} + E_s^{l} \epsilon_l",
    _WITHOUT_STEP,
    (
        "The proof bounds the k-th column of V_{j+1} by B_v, which bounds its rows only: a column of K rows can have "
        "2-norm sqrt(K) B_v (on the box sqrt(rows / columns) B_v), in every layer.",
    ),
)
_ON_STEP = (
    "D.7 bounds ||pbar(j)||_2 by sqrt(P) B_r with P = max{sqrt(K), sqrt(d)}; it is sqrt(K) B_r, that is P B_r, and at "
    "j = 0 it is B_x.",
    "D.7 adds the N blocks up; the 2-norm of their concatenation is the root of the sum of squares.",
)
STEP = _result(
    "icgd.step",
    "2N+4 layers do one projected gradient step",
    Citation(WU2024, "Theorem 1"),
    r"\bar{w}^{(l)} = \mathrm{Proj}_{\mathcal{W}}(\bar{w}^{(l-1)} - \eta \nabla L_n(\bar{w}^{(l-1)})"
    r" + \epsilon^{(l-1)}), \quad \|\epsilon^{(l-1)}\|_2 \le \eta \epsilon",
    _ONE_DIMENSION,
    _ON_STEP,
)
DIMENSIONS = _result(
    "icgd.dimensions",
    "2N+4 layers do one projected gradient step, input and output dimensions differ",
    Citation(WU2024, "Theorem 5"),
    STEP.claim,
    _TWO_DIMENSIONS,
    (*_ON_STEP, "Theorem 5 repeats the claim without constants; those of Theorem 1 are read with d = d_y."),
)
RESULTS = (FORWARD, DERIVATIVE, LOSS_GRADIENT, BACKWARD, STEP, DIMENSIONS)
