r"""What the letters of the statements of this topic mean that are not numbers (wu2024, Sections 2 and 3)."""

from collections.abc import Mapping

_W = "all its weights, the entries of `V_1, ..., V_N`"


def _network(inputs: str, outputs: str) -> dict[str, str]:
    """The network that is trained; the letters of the numbers of coordinates of x and of y."""
    return {
        "p(j)": "output of layer `j` of the network that is trained, `p(0) = x` and `p(j) = r(V_j p(j-1))`, with `K` "
        f"coordinates for `1 <= j <= N - 1` and `{outputs}` for `j = N`",
        "V_j": "weights of layer `j`, a matrix with the rows `v_jk`",
        "r": "activation, a differentiable function, applied to each coordinate",
        "w": _W,
        "x": f"input of an example, a vector of `{inputs}` coordinates. Each of the `n` examples is a token of the "
        "prompt; the largest token is the largest of these",
    }


_BARS = {
    r"\bar{p}(j)": "`p(j)` as the transformer computes it: `pbar(0) = x` and `pbar(j) = rbar(V_j pbar(j-1))`, where "
    "`rbar` is the sum of ReLUs in the place of `r`",
}
_DERIVATIVE = {
    r"\bar{r}'(j)": "derivatives of layer `j` as the transformer computes them, the sum of ReLUs in the place of `r'` "
    "at the entries of `V_j pbar(j-1)`; without bars, `r'(j) = r'(V_j p(j-1))`",
}
_LOSS = {
    "u(t, y)": "gradient in `t` of the loss of an output `t` for the label `y`",
    "g": "`u(p(N), y)` as the transformer computes it: `ubar(pbar(N), y)`, where `ubar` has the sum of ReLUs in the "
    "place of `u` in each coordinate",
}
_SIGNAL = {
    "s(j)": "gradient of the loss in the arguments `V_j p(j-1)` of the activations of layer `j`: `s(N) = r'(N) u(p(N), "
    "y)` and `s(j) = r'(j) (V_(j+1)^T s(j+1))`, where products of two vectors are taken coordinate by coordinate",
    r"\bar{s}(j)": "`s(j)` as the transformer computes it: the same with bars, and `g` for `u(p(N), y)`",
}
_STEP = {
    "L_n(w)": "mean of the losses of the `n` examples, halved: its gradient is `1/(2n)` times the sum over the "
    "examples of `s(j) p(j-1)^T`, `j = 1, ..., N`",
    r"\nabla \bar{L}_n(w)": "gradient of `L_n` as the transformer computes it, with `sbar(j) pbar(j-1)^T`",
    "w^{+}": "weights after one exact step from `w`, `Proj(w - eta nabla L_n(w))`, where `Proj` is the projection onto "
    "the box of `w`",
    r"\bar{w}^{+}": "weights after one step of the transformer from `w`, `Proj(w - eta nabla Lbar_n(w))`",
    r"\epsilon^{(l-1)}": "error that step `l` of the transformer adds within the projection, `eta (nabla L_n(w) - "
    "nabla Lbar_n(w))` at the weights `w` before this step",
}
_NORM = {
    r"B_{\theta_l}": "norm of the parameters of layer `l` of the transformer: the largest norm of a query or key "
    "matrix of its heads, plus the sum of the norms of the value matrices of all heads, plus those of the two matrices "
    "of its MLP, where the norm of a matrix is its largest column sum of absolute values; of a multiplication layer "
    "the largest norm of a query, key or value matrix",
}
_SIZES = {
    "M^l": "number of heads of layer `l` of the transformer",
    "D": "number of coordinates of a token of the transformer",
}


def of_step(id: str, inputs: str = "d", outputs: str = "d") -> Mapping[str, str]:
    """Those of Lemmas 2-6, by the id of the result; for the rest of them those of the whole step."""
    network = _network(inputs, outputs)
    label = {"y": f"output of an example, a vector of `{outputs}` coordinates"}
    return {
        "icgd.forward": {**network, **label, **_BARS, **_NORM},
        "icgd.derivative": {**network, **label, **_BARS, **_DERIVATIVE, **_NORM},
        "icgd.loss_gradient": {**network, **label, **_BARS, **_LOSS, **_NORM},
        "icgd.backward": {**network, **label, **_BARS, **_DERIVATIVE, **_LOSS, **_SIGNAL, **_NORM},
    }.get(
        id,
        {**network, **label, **_BARS, **_DERIVATIVE, **_LOSS, **_SIGNAL, **_STEP, **_NORM, **_SIZES},
    )


GRADIENT = {
    "p_i(j)": "output of layer `j` for example `i`, `p_i(0) = x_i` and `p_i(j) = r(V_j p_i(j-1))`, with `K` "
    "coordinates for `1 <= j <= N - 1` and `d_y` for `j = N`",
    "V_j": "weights of layer `j`, a matrix with the rows `v_jk`",
    "r": "activation, applied to each coordinate",
    "w": _W,
    "x_i": "input of example `i`, a vector of `d_x` coordinates",
    "y_i": "output of example `i`, a vector of `d_y` coordinates",
    "u(t, y)": "gradient in `t` of the loss of an output `t` for the label `y`",
    "A(j)": "`1/(2n)` times the sum over `i` of `s_i(j) p_i(j-1)^T`, where `s_i(N) = r'(V_N p_i(N-1)) u(p_i(N), y_i)` "
    "and `s_i(j) = r'(V_j p_i(j-1)) (V_(j+1)^T s_i(j+1))`, products of two vectors coordinate by coordinate",
    r"\tilde A(j)": "`1/(2n)` times the sum over `i` of `R_i(j) V_(j+1)^T R_i(j+1) ... V_N^T R_i(N) u(p_i(N), y_i) "
    "p_i(j-1)^T`, where `R_i(j)` is the diagonal matrix with the entries of `r'(V_j p_i(j-1))`",
    "L_n": "mean of the losses of the `n` examples, halved, the loss of example `i` being that of `p_i(N)` for `y_i`",
    "D_N": "printed number of weights, `(N - 2) K^2 + (d_x + d_y) K`",
    "r'_i": "derivatives of the activations of example `i`",
}
RELU_SUM = {
    "g": "the function that is approximated on `[-R, R]`, continuous, and twice continuously differentiable with "
    "bounded derivatives but for a kink at 0: an activation (order 0) or the derivative of one (order 1)",
    r"\bar g": "the function that interpolates `g` and is linear on each of `M` cells of one length into which "
    "`[-R, R]` is divided, as the sum over `h` of `c_h ReLU(a_h t + b_h)` with `|a_h| + |b_h| = 1` of the constant "
    "`g(0)` and of ReLUs that are 0 at 0: two that bend at 0, and one that bends at each other knot within `(-R, R)`; "
    "coefficients are rounded to float64",
    "H": "number of ReLUs of the sum",
    "c_h": "coefficient of ReLU `h` before it is rounded",
    "a": "exponent with which `H` is of the order `eps^-a` as `eps -> 0`, for fixed `g`, `R` and `q`",
}
TRAJECTORY = {
    "w^l": "weights after `l` steps of the transformer, `w^(l+1) = Proj(w^l - eta nabla f(w^l) + e^l)` with the errors "
    "`e^l`, where `Proj` is the projection onto `W`",
    r"w_{\mathrm{GD}}^l": "weights after `l` steps of projected gradient descent from the same start, `w_GD^0 = w^0`: "
    "the same without errors",
    "l": "number of steps taken",
    "W": "a closed convex set of weights",
    "f": "the risk that is minimised, a function that is differentiable on an open set that contains `W`",
    "G(w)": "gradient mapping of `f`, `(w - Proj(w - eta nabla f(w)))/eta`",
}
DIFFUSION = {
    "x_t": "point at time `t`: `e^(-t) x_0` plus an independent Gaussian vector, of mean 0 and covariance "
    "`1 - e^(-2 t)` times the identity, where `x_0` is drawn from a mixture of Gaussians with covariances `s^2` times "
    "the identity",
    "p_t": "density of `x_t`",
    "s_t": "score of `p_t`, the gradient of its logarithm; here by the closed form for mixtures",
    "x": "a vector of `d` coordinates",
    "J": "Fisher information of `p_(T_0)`, the mean of the squared 2-norm of `s_(T_0)` at `x_(T_0)`",
    "q": "law of the samples: from a standard normal vector at `T` to `T_0` in `M` steps, of which the one from the "
    "time `u` takes `y` to `e^h y + (e^h - e^(-h)) g(y, u)` plus an independent Gaussian vector, of mean 0 and "
    "covariance `e^(2 h) - 1` times the identity",
    "g": "the learnt score, a function of a point and a time",
    "h": "`(T - T_0)/M`, the length of a step",
    r"\delta": "total variation of two laws",
    r"\mathrm{Lip}": "Lipschitz constant in the 2-norm",
    "w^l": "weights after `l` steps of the transformer, on points `x` at times `t` and their scores",
    r"w_{\mathrm{GD}}^l": "weights after `l` steps of projected gradient descent on the same examples, from one start",
    "e_l": "bound of ``icgd.trajectory`` after `l` steps, at most the diameter of the box of the weights",
    "l": "number of steps taken",
    "W": "weights of a network",
    r"\ell_{1}(W)": "mean of the squared 2-norm of what the network is off by at `x_(T_0)`, the integrand of (H.1)",
    r"\ell_{2}(W)": "the same against the score of `x_(T_0)` given `x_0`, the integrand of (H.2)",
}
SOFTMAX = {
    "f": "a permutation-equivariant map of `n` tokens",
    r"\mathrm{FF}": "a feed-forward layer of one hidden layer, the same at each token",
    r"\mathrm{penalty}": "`-B_x` outside the interval from 0 to `B_x`, else 0",
    "Z": "the prompt, `n` tokens of `d` coordinates",
    r"f_{\mathrm{Softmax}}": "the block: a feed-forward layer, one softmax head, a feed-forward layer",
    r"\bar{f}": "`f` at the upper corner of the cell of the grid in which `Z` lies",
    "r": "bound on the norms of ids",
    r"\delta": "lower bound on the distance of the ids of different tokens or prompts",
    r"\mathrm{quant}": "the step function (F.8)",
    r"\mathrm{quant}_\rho": "the sum (F.7) of ramps",
    "S": "the attention layer, with its residual",
    "k": "a token",
    "l": "a token",
    "G": "a grid point; in (F.24) one at most half a cell away from what the last layer receives",
    "z": "a number",
}
SOFTMAX_STEP = {
    r"\hat{w}^{+}": "weights after one step of the transformer from `w`",
    "w^{+}": "weights after one exact step from `w`, projected onto the box `W`",
    r"\hat{w}^{(L)}": "weights after `L` steps of the transformer",
    r"w_{\mathrm{GD}}^{(L)}": "weights after `L` exact steps from the same start",
    r"\ell": "number of layers of one step, feed-forward or attention",
    "W": "the box of weights, each at most `B_v` over the root of the length of its row",
    "w": "all weights of the network that is trained",
    "x_i": "input of example `i`",
    "y_i": "output of example `i`",
    "L_n": "mean over the examples of the squared distance of the network's output from `y_i`, halved",
    r"\mathrm{ids}": "the ids of Lemma 17 that occur on the grid",
}
