"""The letters of in-context gradient descent (wu2024): the paper's in ASCII, and our own for what it leaves unnamed."""

import sympy as sp


def _whole(name: str) -> sp.Symbol:
    return sp.Symbol(name, integer=True, positive=True)


def _positive(name: str) -> sp.Symbol:
    return sp.Symbol(name, positive=True)


def _size(name: str) -> sp.Symbol:
    return sp.Symbol(name, nonnegative=True)


# The network, the data and the step.
N, K, d, d_x, d_y, n, L = map(_whole, ("N", "K", "d", "d_x", "d_y", "n", "L"))
j = _whole("j")  # a layer, 1 <= j <= N
eta, eps = _positive("eta"), _positive("eps")
relus = sp.Symbol("relus", integer=True, nonnegative=True)  # for each function; 0: computed from eps
B_v, B_x, B_y = _positive("B_v"), _positive("B_x"), _positive("B_y")

# The paper's suprema, Lipschitz constants, accuracies, one-norms, counts and ranges.
B_r, B_r1, B_l = _size("B_r"), _size("B_r1"), _size("B_l")
L_r, L_r1, L_l = _size("L_r"), _size("L_r1"), _size("L_l")
eps_r, eps_r1, eps_l = _size("eps_r"), _size("eps_r1"), _size("eps_l")
C_1, C_2, C_3 = _size("C_1"), _size("C_2"), _size("C_3")
M_1, M_2, M_3 = _whole("M_1"), _whole("M_2"), _whole("M_3")
R_1, R_2, R_3 = _positive("R_1"), _positive("R_2"), _positive("R_3")

# Our own: what an instance knows better than the hypotheses do.
rho, rho_N, nu = _size("rho"), _size("rho_N"), _size("nu")
b_r, b_r1, b_l = _size("b_r"), _size("b_r1"), _size("b_l")
P_0, P, P_hat = _size("P_0"), _size("P"), _size("P_hat")
R, R_u = _positive("R"), _positive("R_u")
beta = sp.Function("b_r", nonnegative=True)  # b_r(R) = sup of |r| over [-R, R]

NOTATION: dict[sp.Symbol, str] = {
    eta: r"\eta",
    eps: r"\epsilon",
    eps_r: r"\epsilon_{r}",
    eps_r1: r"\epsilon_{r'}",
    eps_l: r"\epsilon_{l}",
    B_r1: r"B_{r'}",
    L_r1: r"L_{r'}",
    b_r1: r"b_{r'}",
    rho: r"\rho",
    rho_N: r"\rho_N",
    nu: r"\nu",
    P_hat: r"\hat{P}",
    R_u: r"R_u",
    R_3: r"R_{\mathrm{mask}}",  # R_0, R_1, ... are the ranges of the layers
}

SYMBOLS: dict[sp.Symbol, str] = {
    j: "a layer, any of `1, ..., N`",
    B_r: "the paper's bound on `|p(j)[k]|`, from the recursion of Lemma 2 (`j = 0` included)",
    B_r1: "the paper's bound on `|r'(j)[k]|`, from the recursion of Lemma 3 (`j = 0` included)",
    B_l: "the paper's bound on `|u(t, y)[k]|` and on its approximation",
    L_r: "finite Lipschitz constant of `r` on `[-R, R]`",
    L_r1: "finite Lipschitz constant of `r'` on `[-R, R]`",
    L_l: "finite Lipschitz constant of `u(t, y)[k]` in `t[k]` over `|t[k]| <= b_r + eps_r`, `|y[k]| <= B_y`",
    eps_r: "a number `>= 0` by which the sum of ReLUs for `r` errs at most on `[-R, R]`, given before `R`",
    eps_r1: "a number by which the sum of ReLUs for `r'` errs at most on `[-R, R]`",
    eps_l: "a number by which the sum of ReLUs for `u(t, y)[k]` errs at most over `|t[k]| <= b_r + eps_r`, `|y[k]| "
    "<= B_y`",
    C_1: "sum of `|c_m|` for the sum of ReLUs for `r`, over `m` of `c_m ReLU(a_m t + b_m)` with `|a_m| + |b_m| <= 1`",
    C_2: "sum of `|c_m|` for the sum of ReLUs for `r'`, over `m` of `c_m ReLU(a_m t + b_m)` with `|a_m| + |b_m| <= 1`",
    C_3: "sum of `|c_m|` for the sum of ReLUs for one coordinate of `u`, over `m` of `c_m ReLU(a_m t + a'_m y + b_m)` "
    "with `|a_m| + |a'_m| + |b_m| <= 1`",
    M_1: "number of ReLUs for `r`",
    M_2: "number of ReLUs for `r'`",
    M_3: "number of ReLUs for one coordinate of `u`",
    R_3: "number that the mask subtracts from the arguments of the ReLUs at the query, the last token of the prompt",
    rho: "bound on the spectral norm of `V_j`, `j < N`",
    rho_N: "bound on the spectral norm of `V_N`",
    nu: "bound on the 2-norm of the rows of every `V_j`",
    b_r: "`b_r(R)`, where `b_r(t)` is the sup of `|r|` over `[-t, t]`",
    b_r1: "sup of `|r'|` over `[-R, R]`",
    b_l: "sup of `|u(t, y)[k]|` over `|t[k]| <= b_r + eps_r`, `|y[k]| <= B_y`",
    P_0: "bound on the 2-norm of an input `x`",
    P_hat: "bound on the 2-norm of the approximate `p(j)`, `1 <= j < N`",
    R: "bound on the absolute values of the arguments of `r` and `r'`, from the recursion over the layers",
    R_u: "largest absolute value of a coordinate of the approximate `p(N)`",
}


def at_first_layer(layer: sp.Expr, first: sp.Expr, later: sp.Expr) -> sp.Expr:
    """`first` where the layer is 1 (its input is x), `later` beyond."""
    return sp.Piecewise((first, sp.Eq(layer, 1)), (later, True))


def parameters(inputs: sp.Expr, outputs: sp.Expr, depth: sp.Expr = N) -> sp.Expr:
    """The number of weights: (d_x + d_y) K + (N - 2) K^2, and d_x d_y for one layer."""
    return at_first_layer(depth, inputs * outputs, (inputs + outputs) * K + (depth - 2) * K**2)


def neurons(outputs: sp.Expr, depth: sp.Expr = N) -> sp.Expr:
    """The number of coordinates of p(1), ..., p(N), which is also the number of rows of all V_j."""
    return (depth - 1) * K + outputs
