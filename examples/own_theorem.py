"""A theorem of your own: how accurate must the activations of an N-layer network be?

Setting: p_{i+1} = tanh(W p_i), rows of W with absolute sum at most K, and a network that uses r_hat with
|r_hat - tanh| <= eps instead. An error e before a layer becomes an error of at most eps + K e after it. We derive the
error after N layers, compute the eps that a requested accuracy allows, and test both in a run.
"""

import numpy as np
import sympy as sp

from bridge import lower
from symbolic import apply_function, given, linear_map, recur

eps = sp.Symbol("eps", positive=True)
K = sp.Symbol("K", positive=True)
N = sp.Symbol("N", integer=True, positive=True)

# One layer, from the rules: a linear map in the sup norm, then an approximated 1-Lipschitz function.
e = sp.Symbol("e", nonnegative=True)
before = given("p", dim=16, size=1, error=e)
after = apply_function(linear_map(before, "Wp", operator_norm=K, dim=16), "r(Wp)", eps=eps, lipschitz=1, size=1)
step = sp.Poly(after.error, e)
factor, offset = step.coeff_monomial(e), step.coeff_monomial(1)

# N layers: the recursion, solved with symbolic depth.
network = recur(given("p0", dim=16, size=1), "p_N", factor=factor, offset=offset, depth=N, size=1)
print("error after N layers:", network.error)
print(network.derivation.latex())

# The inverse: the bound is linear in eps, so the largest admissible eps is accuracy / (bound at eps = 1).
values = {N: 6, K: sp.Rational(3, 2)}
accuracy = sp.Rational(1, 1000)
allowed = accuracy / network.error.subs(values).subs(eps, 1)
print("eps for an error of 1e-3 at N = 6, K = 3/2:", allowed)

# A run: W with rows of absolute sum K, an activation that is eps too large everywhere.
rng = np.random.default_rng(0)
W = np.abs(rng.normal(size=(16, 16)))
W *= 1.5 / W.sum(axis=1, keepdims=True)
exact = approximate = np.full(16, 0.01)
for _ in range(6):
    exact, approximate = np.tanh(W @ exact), np.tanh(W @ approximate) + float(allowed)
measured = float(np.abs(approximate - exact).max())
bound = lower(network.error, "numpy")(eps=float(allowed), K=1.5, N=6)
print(f"measured {measured:.3e} <= bound {float(bound):.3e}")
if not measured <= bound <= 1.0001e-3:
    raise SystemExit("the bound does not hold")
