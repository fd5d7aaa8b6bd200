"""The Results of wu2024's in-context gradient descent: Lemmas 2-6, Theorem 1 and, for d_x != d_y, Theorem 5.

A Result lists its quantities with a symbolic layer j; `quantities_for` gives those of a network of N layers, one a
layer, under the names of the taps: p[1], r'[1], g, s[1], ..., gradient, w.
"""

from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from typing import Any

import sympy as sp

from symbolic.statements.deferred import Deferred
from symbolic.statements.result import Hypothesis, Parameter, Quantity, Result
from symbolic.topics.icgd import counts, errors, objects
from symbolic.topics.icgd.errors import NetworkSizes
from symbolic.topics.icgd.symbols import NOTATION, SYMBOLS, B_v, B_x, B_y, K, L, N, d, d_x, d_y, eps, eta, n, relus
from symbolic.words.citations import WU2024, Citation
from symbolic.words.errors import UsageError

relus_r1 = sp.Symbol("relus_r1", integer=True, nonnegative=True)
R_asked = sp.Symbol("R", nonnegative=True)


# Parameters and hypotheses.
_PARAMETERS = {
    parameter.name: parameter
    for parameter in (
        Parameter("N", N, "number of layers of the network that is trained", (1, 2, 3), integer=True),
        Parameter("K", K, "width of its hidden layers", 4, integer=True),
        Parameter("d", d, "number of coordinates of `x` and of `y`", 2, integer=True),
        Parameter("d_x", d_x, "number of coordinates of `x`", 3, integer=True),
        Parameter("d_y", d_y, "number of coordinates of `y`", 1, integer=True),
        Parameter("n", n, "number of examples in the prompt", 8, integer=True),
        Parameter("B_v", B_v, "bound on the 2-norm of a row of weights", 1.0),
        Parameter("B_x", B_x, "bound on the 2-norm of `x`", 1.0),
        Parameter("B_y", B_y, "bound on the 2-norm of `y`", 1.0),
        Parameter("eta", eta, "step size", 0.1),
        Parameter(
            "L", L, "number of steps before the prediction, where a table is given", 8, integer=True, setting=True
        ),
        Parameter(
            "eps",
            eps,
            "target accuracy of the gradient; it sets the sums of ReLUs where `relus = 0`",
            0.1,
            in_words="target accuracy of the gradient",
            setting=True,
        ),
        Parameter(
            "relus",
            relus,
            "number of ReLUs for each function; 0: computed from `eps`",
            0,
            integer=True,
            setting=True,
            in_words="number of ReLUs for each function; 0: as many as a target accuracy of the gradient needs",
        ),
        Parameter(
            "R",
            R_asked,
            "`r` and `r'` are approximated on `[-R, R]`; 0: the smallest sufficient `R`",
            0.0,
            setting=True,
        ),
        Parameter(
            "relus_r1",
            relus_r1,
            "number of ReLUs for `r'`, where that for `r` is given; 0: as many as for `r`",
            0,
            integer=True,
            setting=True,
        ),
        Parameter("activation", None, "the activation `r` (tanh, sigmoid, gelu, softplus, sin, ...)", "tanh"),
        Parameter("loss", None, "the loss of one coordinate (square, huber, `log_cosh`, logistic)", "square"),
    )
}
_ONE_DIMENSION = tuple(name for name in _PARAMETERS if name not in ("d_x", "d_y", "L"))
_TWO_DIMENSIONS = tuple(name for name in _PARAMETERS if name != "d")
_WITHOUT_LOSS = tuple(name for name in _ONE_DIMENSION if name not in ("eta", "loss", "B_y"))
_WITHOUT_STEP = tuple(name for name in _ONE_DIMENSION if name != "eta")

_REASONS = {
    "N": "the network has an output layer; the paper assumes `N >= 2`, and its formulas also hold for `N = 1` if `K = "
    "d`",
    "K": "`K` must be at least 1",
    "d": "`x` and `y` must have at least one coordinate",
    "d_x": "`x` must have at least one coordinate",
    "d_y": "`y` must have at least one coordinate",
    "n": "the risk is a mean over the examples",
    "relus": "a number of ReLUs; 0: computed from `eps`",
    "relus_r1": "a number of ReLUs; 0: as many as for `r`",
    "R": "half the length of the range `[-R, R]`; 0: computed by the derivation",
    "B_v": "Theorem 1 assumes `B_v > 0`",
    "B_x": "Lemma 2 assumes `B_x > 0`",
    "B_y": "the outputs are bounded",
    "eta": "Theorem 1 assumes `eta > 0`",
    "L": "a prediction follows at least one step",
    "eps": "Theorem 1 assumes `eps > 0`",
}


_ONLY = {"eta": ("w", "w.requested", "norm[step]")}  # what takes a step


def _hypothesis(name: str) -> Hypothesis:
    symbol = _PARAMETERS[name].symbol
    condition = sp.Ge(symbol, 1, evaluate=False) if _PARAMETERS[name].integer else sp.Gt(symbol, 0, evaluate=False)
    return Hypothesis(name, condition, _REASONS[name], _ONLY.get(name, ()))


def _hypotheses(names: Iterable[str]) -> tuple[Hypothesis, ...]:
    return tuple(_hypothesis(name) for name in names if _PARAMETERS[name].symbol is not None)


STEP_PARAMETERS = tuple(_PARAMETERS[name] for name in _ONE_DIMENSION)
STEP_HYPOTHESES = _hypotheses(_ONE_DIMENSION)


_LEMMAS: dict[str, Callable[[NetworkSizes], list[Quantity]]] = {
    "icgd.forward": lambda of: [*errors.forward(of), *counts.of_layer(of, "forward", "range_r")],
    "icgd.derivative": lambda of: [*errors.derivative(of), *counts.of_layer(of, "derivative", "range_r1")],
    "icgd.loss_gradient": lambda of: [*errors.loss_gradient(of), *counts.of_layer(of, "loss_gradient", "range_u")],
    "icgd.backward": lambda of: [*errors.backward(of), errors.signal_size(of), *counts.of_layer(of, "backward")],
}


def _whole_step(network: NetworkSizes) -> list[Quantity]:
    step = [*errors.step(network), *counts.of_layer(network, "step")]
    return [*(quantity for id in _LEMMAS for quantity in _lemma(network, id)), *step, *counts.sizes(network)]


@lru_cache(maxsize=64)
def _lemma(network: NetworkSizes, id: str) -> tuple[Quantity, ...]:
    """The quantities of a Result, in the order of the proof; a lemma's own, or those of all lemmas and the step."""
    return tuple(_LEMMAS.get(id, _whole_step)(network))


def quantities_for(result: Result, layers: int) -> tuple[Quantity, ...]:
    """The quantities of one of these Results for a network of `layers` layers. Raises UsageError below 1."""
    if layers < 1:
        raise UsageError(f"{result.id}: N = {layers} does not meet N >= 1 ({_REASONS['N']}).")
    return _lemma(_network(result.id, layers), result.id)


def _network(id: str, layers: int | None) -> NetworkSizes:
    inputs, outputs = (d_x, d_y) if id == "icgd.dimensions" else (d, d)
    return NetworkSizes(layers, inputs, outputs)


# The paper's (3.15) takes u(t, y)[k] as a function of all of t; the Lipschitz constant is then one in the 2-norm.
BY_COORDINATE = (
    "the loss of an output is a sum over its coordinates, `loss(t, y) = sum_k ell(t[k], y[k])` for a function `ell`, "
    "so that `u(t, y)[k]` depends on `t[k]` and `y[k]` alone",
)


def _result(
    id: str, title: str, citation: Citation, claim: str, names: tuple[str, ...], remarks: tuple[str, ...]
) -> Result:
    return Result(
        id=id,
        title=title,
        citation=citation,
        claim=claim,
        parameters=tuple(_PARAMETERS[name] for name in names),
        hypotheses=_hypotheses(names),
        objects=objects.of_step(id, *(each.name for each in _network(id, None).dimensions)),
        quantities=Deferred(lambda: _lemma(_network(id, None), id)),
        notation=NOTATION,
        symbols=SYMBOLS,
        assumptions=BY_COORDINATE if "B_y" in names else (),
        remarks=remarks,
    )


# Deriving all quantities of a result takes seconds: each is derived when it is asked for, once.
STATED: dict[str, tuple[Any, ...]] = {}
_ON_RANGES = (
    "Lemma 2 leaves open whether the maximum over `j` in `B_r` and `B_r'` includes `j = 0`; here it does, so that "
    "`B_r >= B_x`.",
    "An `R` below the derived range is run as asked: the sums of ReLUs are then certified on `[-R, R]` alone.",
)

STATED["FORWARD"] = (
    "icgd.forward",
    "`N` attention layers compute the forward pass",
    Citation(WU2024, "Lemma 2", "eq. (3.9)-(3.11)"),
    r"\|\bar{p}_i(j) - p_i(j)\|_2 \le E_r \epsilon_r",
    _WITHOUT_LOSS,
    (*_ON_RANGES, "The proof (D.2) ends with `1 + C_1`, a misprint of the `1 + K C_1` of the lemma."),
)
STATED["DERIVATIVE"] = (
    "icgd.derivative",
    "One attention layer computes the derivatives of the activations",
    Citation(WU2024, "Lemma 3", "eq. (3.13)"),
    r"|\bar{r}'_i(j-1)[k] - r'_i(j-1)[k]| \le \epsilon_{r'} + L_{r'} B_v E_r \epsilon_r",
    _WITHOUT_LOSS,
    _ON_RANGES,
)
STATED["LOSS_GRADIENT"] = (
    "icgd.loss_gradient",
    "One MLP computes the gradient of the loss in the outputs",
    Citation(WU2024, "Lemma 4", "eq. (3.15)"),
    r"|g_i[k] - u(p_i(N), y_i)[k]| \le \epsilon_l + L_l E_r \epsilon_r",
    _WITHOUT_STEP,
    ("`R_3` is `max{B_v B_r, B_y, 1}` in Lemma 4; D.7 repeats it without `B_y`, a misprint.",),
)
STATED["BACKWARD"] = (
    "icgd.backward",
    "`N` multiplication layers propagate the gradient back",
    Citation(WU2024, "Lemma 5, Lemma 6", "eq. (3.19)-(3.24)"),
    r"|\bar{s}_i(j)[k] - s_i(j)[k]| \le E_s^{r} \epsilon_r + E_s^{r'} \epsilon_{r'} + E_s^{l} \epsilon_l",
    _WITHOUT_STEP,
    (
        "On the box a column of `V_{j+1}` has 2-norm `sqrt(rows / columns) B_v` at most.",
        "Lemma 6 takes `B_r'` as an upper bound of `|r'|`; where the recursion of Lemma 3 gives less, it is the "
        "supremum.",
    ),
)
_STEP_CLAIM = (
    r"\bar{w}^{(l)} = \mathrm{Proj}_{\mathcal{W}}(\bar{w}^{(l-1)} - \eta \nabla L_n(\bar{w}^{(l-1)})"
    r" + \epsilon^{(l-1)}), \quad \|\epsilon^{(l-1)}\|_2 \le \eta \epsilon"
)
_ON_STEP = (
    "Problem 2 and Theorem 1 bound the rows of `V_j` for `j in [N-1]` only; Lemma 2 has `j in [N]`, which is read "
    "here.",
    "D.7 adds the norms of the `N` blocks; the 2-norm of their concatenation is the root of the sum of squares.",
)
STATED["STEP"] = (
    "icgd.step",
    "`2N+4` layers do one projected gradient step",
    Citation(WU2024, "Theorem 1"),
    _STEP_CLAIM,
    _ONE_DIMENSION,
    _ON_STEP,
)
STATED["DIMENSIONS"] = (
    "icgd.dimensions",
    "`2N+4` layers do one projected gradient step, input and output dimensions differ",
    Citation(WU2024, "Theorem 5"),
    _STEP_CLAIM,
    _TWO_DIMENSIONS,
    (
        *_ON_STEP,
        "Theorem 5 repeats the claim without constants; error bounds are those of Theorem 1 with `d = d_y`, and "
        "ranges, norms and widths have no printed tier.",
    ),
)


@cache
def __getattr__(name: str) -> Result:
    if name not in STATED:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return _result(*STATED[name])
