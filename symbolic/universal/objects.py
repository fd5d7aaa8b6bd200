"""What the letters of the statements of this topic mean that are not numbers (li2025)."""

EXAMPLES = {
    "f": "the function to be learnt",
    "x": "an input, from the unit ball of `R^d`",
    "z_i": "noise of example `i`",
    "y_i": "label of example `i`, `f(x_i) + z_i`",
    r"\phi_i": "vector of the `n` features and the constant 1 at `x_i`, with entries in `[0, 1]`",
    r"\rho^\star": "a vector of coefficients with `|f - phi^T rho*| <= eps_dis` on the ball",
    r"\ell(\rho)": "objective of the Lasso, the mean of `(y_i - phi_i^T rho)^2` plus `lambda ||rho||_1`",
}
LASSO = {
    **EXAMPLES,
    "r": "error `f - phi^T rho*` of the representation",
    r"\hat\rho": "a vector of coefficients whose objective is nearly minimal",
    "E": "mean over an input `x` that is independent of the examples and has the law of the `x_i`",
}
# What the sampling of a prompt means in the paper's eq. (1).
SAMPLED = (
    "the inputs `x_i` are independent and of one law on the unit ball of `R^d`, and the `z_i` are independent of each "
    "other and of the inputs, have mean 0 and are sub-Gaussian with parameter `sigma`"
)
BARRON = {
    "C_F": "Barron constant of a class of functions: `sup |f(0)|` plus the integral over `omega` of `||omega||_2` "
    "times the supremum over the class of the spectrum",
    r"C_{\mathrm{linear}}": "the constant `C_F` of linear functions; so for the other classes",
}
COVERING = {
    r"\mathcal N_\varepsilon": "a cover of a set to within `eps`",
    "B": "the unit ball of `R^d`",
    r"\mathcal F": "a class of functions",
}
SIGMOID = {
    r"\delta_\tau": "distance in mean of the ramp `phi(tau t)` from the unit step",
    "g(z)": "the ridge `(cos(omega z + theta) - cos theta) / omega`",
    r"\gamma(t)": "weight of the ramp at `t`",
    r"\phi": "the ramp, clipped to `[0, 1]`",
    "f": "a sum of ridges on the unit ball",
    "f^{\\mathrm{approx}}": "the sum of the integrals of ramps for its ridges",
    "x": "a point of the unit ball of `R^d`",
    "e(z)": "the error at `z`",
}
FEATURES = {
    "f": "a function of the class `F`",
    "x": "a point of the unit ball of `R^d`",
    r"\phi_i": "random feature, a ramp",
    r"\rho_{f,i}": "coefficient of feature `i` for `f`",
    r"\Lambda": "the distribution from which the features are drawn",
}
PROXIMAL = {
    r"\ell(\rho)": "objective of the Lasso, the mean of `(y_i - phi_i^T rho)^2` plus `lambda ||rho||_1`",
    r"\rho_t": "iterate after `t` inexact steps of proximal gradient",
    r"\rho^\star_{t+1}": "one exact step from `rho_t`",
    r"\rho^\star": "the vector with which the objective is compared",
    "f": "the function to be learnt",
    "y_i": "label of example `i`",
}
TRANSFORMER = {
    "x": "an input, or a number of absolute value at most `P`",
    r"\sigma(x)": "the logistic function, `1/(1 + e^-x)`",
    "y_i": "label of example `i`",
    r"\phi_i": "vector of the `n` features and the constant 1 at example `i`; `N + 1` is the query",
    r"\rho": "coefficients that the stream holds",
    "e^{(l)}": "residual that layer `l` adds to an exact step",
    r"\tilde e": "residual of the last layer in the prediction",
    r"\rho_T": "coefficients after `T = (L-1)/2` exact steps of proximal gradient from 0",
    r"\rho^{(L)}": "coefficients in the stream after `L` layers",
    r"\hat y^{(L)}": "prediction of the transformer after `L` layers",
    r"p(\tau)": "number of bits of the format",
}
RISK = {
    **{name: words for name, words in EXAMPLES.items() if name != r"\rho^\star"},
    "E": "mean over the query `x_(N+1)`, which is independent of the examples and has the law of the `x_i`",
    r"\hat y_{N+1}": "prediction of the transformer for the query `x_{N+1}`",
    r"\rho_T": "coefficients after `T = (L-1)/2` exact steps of proximal gradient from 0",
    r"\Lambda": "the distribution from which the features are drawn",
}
