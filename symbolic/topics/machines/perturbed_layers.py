r"""The perturbation of one layer of a corrected network where all parameters move by at most rho in the 2-norm.

The induction of Lemmas D.7 to D.9 (Wei, Chen, Ma 2021) for layers f_i with corrections zeta_i, done by the calculus,
with one difference. Definition D.2 asks each layer to be Lipschitz in h *at the moved parameters*; hard-max attention
is not: at a tie the moved values differ, and an arbitrarily small change of h selects one of them (an instance is in
machines.turing_margin). The induction needs less: the distance of f(h_hat, theta_hat) to the *exact* f(h, theta),
jointly in both moves.

Each group of parameters k is moved by t_k, sum t_k^2 <= rho^2; the error of a layer is a linear form in the t_k, and
rule `pool` gives its size. Every norm is the 2-norm; operator norms are spectral norms.
"""

from dataclasses import dataclass

import sympy as sp

from symbolic.calculus import Approximated, Norm, correct, given, perturbed_function, perturbed_map, pool

rho = sp.Symbol("rho", positive=True)  # of all parameters together
sigma_zeta = sp.Symbol("sigma_zeta", positive=True)  # errors up to it are undone by zeta
size = sp.Symbol("lambda_", nonnegative=True)  # ||h|| of the layer's exact input
output = sp.Symbol("lambda_out", nonnegative=True)  # ||phi(W_2 ... + b_2)|| of the exact output
hidden = sp.Symbol("H", nonnegative=True)  # ||phi(W_1 h + b_1)|| of the exact hidden activations
norm_1 = sp.Symbol("W_1", nonnegative=True)  # ||W_1||
norm_2 = sp.Symbol("W_2", nonnegative=True)  # ||W_2||
width = sp.Symbol("w", positive=True, integer=True)

# How far each group of parameters is moved.
move_1, move_2, move_zeta, move_readout = sp.symbols("t_1 t_2 t_zeta t_out", nonnegative=True)

# Prop. 3.4 as two layers: [I; I] with biases -1/3 and -2/3, then [3 I, -3 I].
ROUNDING_IN, ROUNDING_OUT = sp.sqrt(2), 3 * sp.sqrt(2)
ROUNDING_RADIUS = sp.Rational(1, 3)


@dataclass(frozen=True)
class LayerBound:
    """A perturbation of at most `error` where the `groups` of parameters move by rho in their joint 2-norm."""

    value: Approximated
    groups: tuple[sp.Symbol, ...]

    @property
    def error(self) -> sp.Expr:
        return self.value.error


# [h; 1]: a bias is a column of the matrix, and the vector has one exact coordinate more.
def with_one(x: Approximated) -> Approximated:
    reason = "a coordinate 1 for the bias"
    return perturbed_function(x, f"{x.name}+1", lipschitz=1, size=sp.sqrt(x.size**2 + 1), dim=x.dim + 1, reason=reason)


def moved_layer(
    x: Approximated, name: str, *, norm: sp.Expr, move: sp.Symbol, result: sp.Expr, relu: bool = True
) -> Approximated:
    """phi(W x + b) with (W, b) moved by `move` <= rho; `result` bounds the exact output."""
    linear = perturbed_map(
        with_one(x), f"W {name}" if relu else name, operator_norm=norm, perturbed_norm=norm + rho, perturbation=move,
        dim=width,
    )  # fmt: skip
    if not relu:
        return perturbed_function(linear, f"{name}'", lipschitz=1, size=result, reason="its exact size")
    return perturbed_function(linear, name, lipschitz=1, size=result, reason="ReLU does not expand")


# zeta(g_hat; xi) = h by Definition D.1, as long as g_hat lies within sigma_zeta of h; xi_hat adds the move of a network
# of two layers at the argument g_hat itself, of size at most lambda + sigma_zeta. Its hidden units are phi(g - 1/3) and
# phi(g - 2/3): 0 where h is 0, and at most 2/3 + d and 1/3 + d where h is 1 and g is 1 + d; with |d|_2 <= sigma_zeta
# and lambda^2 ones, their norm is at most sqrt((2 lambda/3 + sigma_zeta)^2 + (lambda/3 + sigma_zeta)^2).
def rounding_move(of: sp.Expr = size) -> Approximated:
    """zeta(g; xi_hat) against zeta(g; xi) for ||g - h|| <= sigma_zeta, ||h|| <= `of`; xi is moved by t_zeta.

    Prop. 3.4 on every coordinate, both of its layers. The error is linear in t_zeta.
    """
    inside, outside = sp.symbols("t_in t_out'", nonnegative=True)
    near = given("g", dim=width, norm=Norm.TWO, size=of + sigma_zeta, reason="the same argument on both sides")
    active = sp.sqrt((2 * of / 3 + sigma_zeta) ** 2 + (of / 3 + sigma_zeta) ** 2)
    within = moved_layer(near, "phi(W' g)", norm=ROUNDING_IN, move=inside, result=active)
    moved = moved_layer(within, "zeta", norm=ROUNDING_OUT, move=outside, result=of)
    return pool(moved, "zeta(g; xi')", groups=(inside, outside), total=move_zeta)


def corrected_input(raw_error: sp.Expr, of: sp.Expr = size) -> Approximated:
    """The layer's input, corrected by a moved zeta; obligation: the raw error is at most sigma_zeta."""
    raw = given("g_hat", dim=width, norm=Norm.TWO, size=of, error=raw_error, reason="the layer before, by induction")
    exact = correct(raw, "zeta(g_hat; xi)", sigma=sigma_zeta, reason="Definition D.1")
    return perturbed_function(
        exact, "h", lipschitz=1, eps=rounding_move(of).error, size=of, reason="and zeta's own parameters are moved"
    )


def exact_input() -> Approximated:
    """The network's input, which no parameter moves."""
    return given("h", dim=width, norm=Norm.TWO, size=size, reason="the input itself")


def two_relu_layers(corrected: bool = True, readout: sp.Expr | None = None) -> LayerBound:
    """phi(W_2 phi(W_1 h + b_1) + b_2), the f_i of Lemma B.1, at most rho away in all parameters.

    `corrected`: its input comes through a zeta, else it is exact. `readout`: the norm of a linear map that follows (the
    network's last layer, z -> 2 z - 1).
    """
    start = corrected_input(sigma_zeta) if corrected else exact_input()
    first = moved_layer(start, "phi(W_1 h)", norm=norm_1, move=move_1, result=hidden)
    value = moved_layer(first, "g", norm=norm_2, move=move_2, result=output)
    groups = (move_1, move_2, *((move_zeta,) if corrected else ()))
    if readout is not None:
        value = moved_layer(value, "F", norm=readout, move=move_readout, result=sp.Integer(1), relu=False)
        groups = (*groups, move_readout)
    return LayerBound(pool(value, "layer", groups=groups, total=rho), groups)
