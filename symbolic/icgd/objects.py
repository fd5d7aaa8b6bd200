r"""What the letters of the statements of this topic mean that are not numbers (wu2024, Sections 2 and 3)."""

NETWORK = {
    "p(j)": "output of layer `j` of the network that is trained, `p(0) = x` and `p(j) = r(V_j p(j-1))`",
    "V_j": "weights of layer `j`, with the rows `v_jk`",
    "r": "activation, applied to each coordinate",
    "w": "all its weights, the entries of `V_1, ..., V_N`",
    "x": "input of an example",
    "y": "output of an example",
}
STEP = {
    **NETWORK,
    r"\bar{p}(j)": "`p(j)` as the transformer computes it",
    r"\bar{r}'(j)": "`r'(V_j p(j-1))` as the transformer computes it",
    "u(t, y)": "gradient in `t` of the loss of an output `t` for the label `y`",
    "g": "`u(p(N), y)` as the transformer computes it",
    "s(j)": "gradient of the loss in the arguments `V_j p(j-1)` of the activations of layer `j`",
    r"\bar{s}(j)": "`s(j)` as the transformer computes it",
    "L_n(w)": "mean of the losses of the `n` examples, halved",
    r"\nabla \bar{L}_n(w)": "gradient of `L_n` as the transformer computes it",
    r"\mathcal{W}": "set of weights onto which a step projects, a closed convex set",
    "w^{+}": r"weights after one exact step of projected gradient descent from `w`",
    r"\bar{w}^{+}": "the same after one step of the transformer",
    r"\epsilon^{(l-1)}": "error that step `l` of the transformer adds within the projection",
    r"B_{\theta_l}": "norm of the parameters of layer `l` of the transformer",
    "M^l": "number of heads of layer `l` of the transformer",
    "D": "number of coordinates of a token",
}
GRADIENT = {
    **NETWORK,
    "A(j)": "block of the gradient in `V_j` by the printed formula",
    "L_n": "mean of the losses of the `n` examples, halved",
    "D_N": "printed number of weights",
    "r'_i": "derivatives of the activations of example `i`",
}
RELU_SUM = {
    "g": "the function that is approximated on `[-R, R]`: an activation or its derivative",
    r"\bar g": "the sum of ReLUs, with the coefficients `c_h`",
    "H": "number of its ReLUs",
    "c_h": "coefficient of ReLU `h`",
    "a": "exponent with which `H` is of the order `eps^-a`",
}
TRAJECTORY = {
    "w^l": "weights after `l` steps of the transformer",
    r"w_{\mathrm{GD}}^l": "weights after `l` steps of projected gradient descent",
    r"\mathcal{W}": "set of weights onto which both project, closed and convex",
    "f": "the risk that is minimised",
    "G(w)": "gradient mapping of `f`: the difference of `w` and its projected gradient step, over `eta`",
}
