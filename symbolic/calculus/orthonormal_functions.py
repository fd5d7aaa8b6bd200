"""How steep orthonormal functions have to be."""

import sympy as sp

K, length = sp.Symbol("K", integer=True, positive=True), sp.Symbol("length", positive=True)

# Let phi_1, ..., phi_K be orthonormal in L^2 of an interval of length l, each with the Lipschitz constant C at most.
# The sum of their energies int phi_k'^2 is at most K l C^2, and at least that of the K least eigenvalues of the Neumann
# problem (Ky Fan), (pi j/l)^2 for j = 0, ..., K-1, which is pi^2 (K-1) K (2K-1)/(6 l^2).
STEEPEST = sp.pi * sp.sqrt((K - 1) * (2 * K - 1) / (6 * length**3))
