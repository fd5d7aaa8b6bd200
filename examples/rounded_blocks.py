"""N pre-norm blocks of a transformer, two heads and a gated unit each, weights rounded to multiples of delta."""

import sympy as sp

import boundsmith as bs

K, delta, c = sp.symbols("K delta c", positive=True)
d, n, N = sp.symbols("d n N", integer=True, positive=True)
names = ["G", "U", "D", "Q_1", "K_1", "V_1", "W_1", "Q_2", "K_2", "V_2", "W_2"]
G, U, D, *heads = (bs.matrix(name, d, d, spectral=K).rounded(delta) for name in names)
silu = bs.function(lambda t: t / (1 + sp.exp(-t)), name="silu")


def block(x):
    y = bs.blocks.rms_norm(x, shift=c)
    x += sum(W @ bs.attend(bs.softmax((P @ y) @ (Q @ y)), V @ y) for Q, P, V, W in (heads[:4], heads[4:]))
    z = bs.blocks.rms_norm(x, shift=c)
    return x + D @ (silu(G @ z) * (U @ z))


output = bs.repeat(block, bs.tokens("X", n, d, norm=1), N)
own = bs.theorem("rounded-blocks", output, norm=2, parameters={K: 0.5, delta: 2**-10, c: 0.1, N: (1, 2), d: 4, n: 3})

if __name__ == "__main__":
    print(bs.compare(own))
