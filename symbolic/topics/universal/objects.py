"""What the letters of the statements of this topic mean that are not numbers (li2025)."""

import sympy as sp


def typed(expression: sp.Expr) -> str:
    """For words: products without a sign."""
    return sp.sstr(expression).replace("**", "^").replace("*", " ")


EXAMPLES = {
    "f": "the function to be learnt, chosen before the examples are drawn",
    "x": "an input, from the unit ball of dimension `d`",
    "z_i": "noise of example `i`",
    "y_i": "label of example `i`, `f(x_i) + z_i`",
    r"\phi_i": "`phi(x_i)`, where `phi(x)` is the vector of `n` features and the constant 1 at `x`, with entries in "
    "`[0, 1]`; `phi` is chosen before the examples are drawn",
    r"\rho^\star": "a vector of coefficients with `|f - phi^T rho*| <= eps_dis` on the ball, chosen before the "
    "examples are drawn",
    r"\ell(\rho)": "objective of the Lasso, the mean of `(y_i - phi_i^T rho)^2` plus `lambda ||rho||_1`",
}
LASSO = {
    **EXAMPLES,
    "r": "error `f - phi^T rho*` of the representation",
    r"\hat\rho": "a vector of coefficients whose objective is nearly minimal, which may depend on the examples",
    "E": "mean over an input `x` that is independent of the examples and has the law of the `x_i`",
}
# What the sampling of a prompt means in the paper's eq. (1).
SAMPLED = (
    "the inputs `x_i` are independent and of one law on the unit ball of dimension `d`, and the `z_i` are independent "
    "of each other and of the inputs, have mean 0 and are sub-Gaussian with parameter `sigma`: the mean "
    "of `exp(t z_i)` is at most `exp(sigma^2 t^2/2)` for all real `t`"
)
# The measures of Section 2.3: ridges and linear functions have no density in the ordinary sense.
_CONSTANT = (
    "`sup |f(0)|` plus the total mass of `sup mu_f`, both suprema over the functions `f` of the class, where `mu_f` "
    "has the density `||omega||_2 |F_f(omega)|`, where `F_f` is the spectrum of `f`: with the imaginary unit `i`, "
    "`f(x)` is, for every vector `x` of `d` coordinates, the integral of `exp(i omega^T x) F_f(omega)`"
)
CLASSES = {
    "linear": "linear functions",
    "logistic": "the neuron",
    "neural": "the two-layer networks",
    "tanh": "the function tanh",
    "bump": "the bump",
    "union": "the union",
}
BARRON = {
    "C_F": f"Barron constant (19) of a class of functions: {_CONSTANT}. The supremum of measures is the least measure "
    "above all of them. The measure of a ridge `h(u^T x)` lies on the line through `u`, where it is that of `h`; that "
    "of `a u^T x` is the mass `|a|` in the direction `u`, the limit of ridges `a sin(omega u^T x)/omega` as `omega -> "
    "0`",
    **{rf"C_{{\mathrm{{{name}}}}}": f"the constant `C_F` of {words}" for name, words in CLASSES.items()},
    "u": "a unit vector of `d` coordinates",
    r"\sigma": "the logistic function, `1/(1 + e^-x)`",
    "x": "a vector of `d` coordinates, or a number",
}
CONSTANT = (
    "Barron constant (19) of the class: `sup |f(0)|` plus the integral over `omega` of `||omega||_2` times the "
    "supremum over the class of `|F_f(omega)|`, where `F_f` is the spectrum of `f`: with the imaginary unit `i`, "
    "`f(x)` is, for every vector `x` of `d` coordinates, the integral of `exp(i omega^T x) F_f(omega)`"
)
COVERING = {
    "C_F": CONSTANT,
    r"\mathcal N_\varepsilon(B)": "a smallest set of points of the ball `B` such that each point of `B` is within "
    "`eps` of one of them in the 2-norm",
    r"\mathcal N(\mathcal F)": "a smallest set of bumps `f_hat` of the class such that for each bump `f` of the class "
    "one of them has `|f(x) - f(0) - (f_hat(x) - f_hat(0))| <= mu eps/2` for all `x` in `B`",
    r"\mathcal N_\varepsilon": "a smallest set of pairs `(f_hat, x_hat)` such that for each `f` of the union and each "
    "`x` in `B` one of them has `||x - x_hat||_2 <= eps` and `|f(x) - f(0) - (f_hat(x_hat) - f_hat(0))| <= C_F eps`, "
    "with the constant `C_F` of the union",
    "B": "the unit ball, of dimension `d`",
    r"\mathcal F": "the class of the bumps `exp(-||x - c||_2^2/(2 width^2))` with centres `||c||_2 <= R`",
    r"\mu": "mass of a bump, the integral over `omega` of `||omega||_2` times the absolute value of its spectrum",
}
SIGMOID = {
    r"\delta_\tau": "distance (69) of `phi(tau t)` from the unit step, the infimum over `0 < h <= 1/2` of `2 h` plus "
    "the supremum over `|t| >= h` of their distance",
    "g(z)": "the ridge `(cos(omega z + theta) - cos theta)/omega`",
    r"\gamma(t)": "weight (82) of the ramp at `t`: `-sin(omega t + theta)` for `-1 <= t <= 1`, the sign of `g(-1)` for "
    "`-1 - |g(-1)| <= t < -1`, and 0 for all other `t`",
    r"\phi": "the ramp `phi(t) = min(1, max(0, t + 1/2))`",
    "f": "`f(0)` plus a sum over `k` of `a_k g_k(u_k^T x)`, where `g_k` is the ridge for `omega_k` and `theta_k`, "
    "`u_k` a unit vector, and the sum of `|a_k|` is `mass`",
    "f^{\\mathrm{approx}}": "the sum over `k` of `a_k` times the integral of `gamma_k(t) phi(tau (u_k^T x - "
    "t))` over `t`",
    "x": "a point of the unit ball, of dimension `d`",
    "e(z)": "the error `g(z)` minus the integral of `gamma(t) phi(tau (z - t))` over `t`",
}
_LAW = (
    "the law (79) of a pair, where `(t, omega)` has the density `||omega||_2 sup_f |F_f(omega)|/(3 (C_F - sup "
    "|f(0)|))` for `-2 <= t <= 1`, and 0 for other `t`"
)
_FEATURE = "`psi(tau (omega_i^T x/||omega_i||_2 - t_i))`, where `(t_i, omega_i)` are independent draws of `Lambda` and "
_COEFFICIENT = (
    "coefficient (80) of feature `i` for `f`, `3 (C_F - sup |f(0)|) gamma(t_i) |F_f(omega_i)|/sup_f "
    "|F_f(omega_i)|` with the weight (82) for `g(z) = (cos(s z + theta) - cos theta)/s`, where `s = "
    "||omega_i||_2` and `theta` is the phase of `F_f(omega_i)`: `gamma(t)` is `-sin(s t + theta)` for `-1 <= t <= 1`, "
    "the sign of `g(-1)` for `-1 - |g(-1)| <= t < -1`, and 0 for all other `t`"
)
FEATURES = {
    "f": "a function of the class, with real values",
    "C_F": CONSTANT,
    "x": "a point of the unit ball, of dimension `d`",
    r"\phi_i(x)": f"random feature {_FEATURE}`psi(s) = min(1, max(0, s + 1/2))`",
    r"\rho_{f,i}": _COEFFICIENT,
    r"\Lambda": _LAW,
    r"\mathcal F": "the class of functions",
}
_SOFT = (
    "the soft threshold of a vector `v` of coordinates `v_j` with the threshold `s` has the coordinates `sign(v_j) "
    "max(|v_j| - s, 0)`"
)
PROXIMAL = {
    r"\ell(\rho)": "objective of the Lasso, the mean of `(y_i - phi_i^T rho)^2` plus `lambda ||rho||_1`, where `phi_i` "
    "are vectors of `n` features and the constant 1",
    r"\rho_t": "iterate after `t` inexact steps of proximal gradient from `rho_0 = 0`: a step takes `rho` to the soft "
    "threshold of `rho - eta nabla g(rho) + h` with the threshold `eta lambda + k`, where `g` is the mean of `(y_i - "
    f"phi_i^T rho)^2`, and the errors `h` and `k` of each step have `||h||_1 <= eps` and `|k| <= eps_lambda`; {_SOFT}",
    r"\rho^\star_{t+1}": "one exact step from `rho_t` of length `1/(2n)`, the soft threshold of `rho_t - 1/(2n) nabla "
    "g(rho_t)` with the threshold `lambda/(2n)`",
    r"\rho^\star": "any vector with `||rho*||_1 <= C`",
    "y_i": "label of example `i`",
}
# (38a) for the Lasso with the step 1/(2n), the printed one.
_EXACT = (
    "coefficients after `T = (L-1)/2` exact steps of proximal gradient from 0, each of which takes `rho` to the soft "
    "threshold of `rho + 1/(n N) sum_i (y_i - phi_i^T rho) phi_i`, the sum over the `N` examples, with the threshold "
    f"{{}}; {_SOFT}"
)
TRANSFORMER = {
    "x_i": "input of example `i`, a vector of `d` coordinates; `x_(N+1)` is that of the query",
    "z": "a number",
    r"\sigma(z)": "the logistic function, `1/(1 + e^-z)`",
    "y_i": "label of example `i`",
    r"\phi_i": "vector of `n` features and the constant 1 at `x_i`, with entries in `[0, 1]`",
    r"\rho": "coefficients that the stream holds before a block of Attn1, FF1 and Attn2, with the prediction that "
    "Attn2, with the factor `N` in its value matrix that (124) needs, computes from them",
    "e^{(l)}": "what Attn1 in layer `l` makes of `rho`, less `rho + 1/(n N) sum_i (y_i - phi_i^T rho) phi_i`, the "
    "sum over the `N` examples",
    "e_t": "what Attn1 and FF1 make of `rho`, less the soft threshold of `rho + 1/(n N) sum_i (y_i - phi_i^T rho) "
    "phi_i` with the threshold `lam/(2n)`",
    r"\tilde e": "prediction that Attn2, with this factor, computes from `rho`, less `phi_(N+1)^T rho`",
    r"\tilde e^{\text{printed}}": "the same with the value matrix of Attn2 as printed, without this factor",
    r"\rho_T": _EXACT.format("`lam/(2n)`"),
    r"\rho^{(L)}": "coefficients in the stream of the transformer of Appendix A.4, with this factor in each "
    "Attn2, after `L` layers",
    r"\hat y^{(L)}": "its prediction after `L` layers",
    "p": "number of bits of a format",
}
RISK = {
    **{name: words for name, words in EXAMPLES.items() if name not in (r"\rho^\star", r"\phi_i")},
    r"\phi_i": "`phi(x_i)`, where `phi(x)` is the vector of the `n` features and the constant 1 at `x`: `n - 1` random "
    f"features {_FEATURE}`psi(s) = min(1, max(0, s + 1/2))`, independent of the examples, and one that is 0 on the "
    f"ball",
    "E": "mean over the query `x_(N+1)`, which is independent of the examples and has the law of the `x_i`",
    r"\hat y_{N+1}": "prediction for the query `x_{N+1}` of the transformer that Appendix A.4 constructs for these "
    "features, with the temperatures `tau_1` and `tau_2`, thresholds `lambda/(2n)` and the factor `N` in "
    "the value matrix of Attn2 that (124) needs",
    r"\rho_T": _EXACT.format("`lambda/(2n)`"),
    r"\Lambda": _LAW,
    r"\rho^\star": "coefficients (35) of `f`: `rho_(f,i)/(n - 1)` for the random features, `f(0)` for the constant 1, "
    "and 0 for the feature that is 0 on the ball",
    r"\rho_{f,i}": _COEFFICIENT,
}
