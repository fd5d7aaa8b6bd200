"""A theorem of your own: the error of two tanh layers whose activations lose a share eps of their value."""

# `boundsmith compare FILE` compares its bounds with measured errors; `show`, `latex`, `solve`, `certify` take FILE too.

import sympy as sp

import boundsmith as bs

# 1. The letters. What you declare of a symbol (positive, integer) becomes a hypothesis.
eps, K = sp.symbols("eps K", positive=True)
d = sp.Symbol("d", integer=True, positive=True)

# 2. What the statement is about: matrices are drawn once for each network, vectors for each prompt.
W = bs.matrix("W", d, d, row_sums=K)  # K bounds the 1-norms of its rows
x = bs.vector("x", d, size=1)  # in [-1, 1]^d

# 3. What is computed: exactly, and by the network, which runs another function in the place of tanh.
lossy = bs.function(sp.tanh).approximated(lambda t: (1 - eps) * sp.tanh(t))
output = lossy(W @ lossy(W @ x))

own = bs.theorem(
    "my-theorem",  # its id in tables and files
    output,  # what is bounded; several are allowed, the last one is the main one
    # 4. Each letter's default. A tuple spans a grid.
    parameters={eps: 0.01, K: (0.5, 2.0), d: 4},
    hypotheses=[eps < 1],
    # 5. What a draft prints, by quantity. This one forgets the error of the first layer: at K = 2 it is violated.
    printed={"output": eps},
)

if __name__ == "__main__":
    print(bs.compare(own))
    print(bs.solve(own, for_="eps", error=1e-3, K=2.0))
