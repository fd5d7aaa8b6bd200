"""In-context gradient descent (Wu et al. 2024): from an accuracy to a network, its bound, and an attack on it.

python examples/gradient_step.py
"""

import sympy as sp

from bridge import compare, solve
from symbolic.icgd import chain
from symbolic.icgd.symbols import K, L_r, N, eps_r, rho

# The forward pass of Lemma 2, one layer at a time: e(j) <= L_r ||V_j|| e(j-1) + sqrt(K) eps_r. The rules of the
# error calculus give the recursion; it is solved for symbolic depth.
recursion = chain.recursions().p
assert recursion.factor == L_r * rho
assert recursion.offset == sp.sqrt(K) * eps_r
print("layer by layer:", recursion.latex())
print("p(N):", sp.simplify(chain.derive_output(N).error))

# How many ReLUs for each function keep the gradient's error below 1e-3, for a network of three layers?
enough = solve("icgd.step", for_="relus", error=1e-3, N=3)
print(f"{enough.value} ReLUs guarantee a gradient error of at most {enough.bound:.3g}")

# Build the 2N + 4 layers with this number of ReLUs. Attack them: weights, inputs and targets move by gradient ascent.
comparison = compare("icgd.step", N=3, relus=enough.value, samples=32, attack=50)
for row in comparison:
    if row.quantity == "gradient" and row.params["N"] == 3:
        print(f"{row.scope:14s} printed {row.printed}, derived {row.derived}, instance {row.instance}, "
              f"largest error found {row.exact}")  # fmt: skip

# The printed bounds that the run refutes. row.witness is the input.
for row in comparison.violated():
    print(f"{row.quantity}: printed {row.printed:.4g}, found {row.exact:.4g}")
