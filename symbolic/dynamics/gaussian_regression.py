"""One step of gradient descent on a linear regression with normal inputs: its mean loss, and the best step size.

y_i = w^T x_i + sigma e_i for i = 1 .. N and the query, with x_i, e_i standard normal and E w w^T = I/d. From 0, one
step on (1/2N) sum_i (w^T x_i - y_i)^2 predicts (eta/N) sum_i y_i x_i^T x at the query x.
"""

import sympy as sp

from symbolic.dynamics.gaussian import gaussian_mean

d, N = sp.symbols("d N", integer=True, positive=True)
eta, sigma = sp.symbols("eta sigma", nonnegative=True)
_z = sp.Symbol("z", real=True)
_second, _fourth = (gaussian_mean(_z**power, 0, [_z]).value for power in (2, 4))

# With S = sum_i x_i x_i^T, what is missed is w^T (eta S/N - I) x plus (eta/N) sum_i sigma e_i x_i^T x minus the noise
# of the query. The means of products of two of them are 0, and E w w^T = I/d, so the loss is
#     tr E (eta S/N - I)^2 / d + (eta sigma)^2 E (x_1^T x)^2 / N + sigma^2.
# tr S^2 = sum_i |x_i|^4 + sum_{i != j} (x_i^T x_j)^2. By coordinates, which are independent,
#     E |x_i|^4 = d E z^4 + d (d - 1) (E z^2)^2,   E (x_i^T x_j)^2 = d (E z^2)^2,   E tr S = N d E z^2.
_own = d * _fourth + d * (d - 1) * _second**2
_pair = d * _second**2
_trace_of_square = N * _own + N * (N - 1) * _pair
_trace = N * d * _second

STEP_LOSS: sp.Expr = sp.collect(
    sp.expand(
        (eta**2 * _trace_of_square / N**2 - 2 * eta * _trace / N + d) / d + (eta * sigma) ** 2 * _pair / N + sigma**2
    ),
    eta,
    sp.factor,
)
# A parabola in eta with a positive square term: its least value is where its derivative is 0.
BEST_STEP: sp.Expr = sp.factor(sp.solve(sp.diff(STEP_LOSS, eta), eta)[0])
LEAST_STEP_LOSS: sp.Expr = sp.factor(STEP_LOSS.subs(eta, BEST_STEP))
