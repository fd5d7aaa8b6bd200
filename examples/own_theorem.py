"""A theorem of your own: how much gain may the activations of an N-layer tanh network lose?"""

# Layers p -> tanh(W p), the rows of W of absolute sum at most K, run on hardware whose activations lose a share eps of
# their value. Run this file, or give it to the command: `boundsmith compare own_theorem.py`.

import sympy as sp

import boundsmith as bs

eps, K = sp.symbols("eps K", positive=True)
N, d = sp.symbols("N d", integer=True, positive=True)

W = bs.matrix("W", d, d, row_sums=K)
analog = bs.function(sp.tanh).approximated(lambda t: (1 - eps) * sp.tanh(t))
output = bs.repeat(lambda p: analog(W @ p), bs.vector("x", d, size=1), N)
values = {eps: 0.01, K: 1.5, N: (2, 6), d: 8}
own = bs.theorem("analog-tanh", output, parameters=values, hypotheses=[eps < 1], printed={"output": eps * N * K**N})

if __name__ == "__main__":
    print(bs.compare(own))
    print(bs.solve(own, for_="eps", error=1e-3, N=6).value)
    print(own.latex())
