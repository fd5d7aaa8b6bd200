"""A theorem of your own: how much gain may the activations of an N-layer tanh network lose?

Layers p -> tanh(W p), the rows of W of absolute sum at most K, run on hardware whose activations lose a share eps of
their value: r(t) = (1 - eps) tanh(t). An error e before a layer becomes one of at most eps rho + K e after it, where
rho bounds the activations. Run it, or give the file to the command: `boundsmith compare own_theorem.py --set N=8`.
"""

import sympy as sp
import torch

import boundsmith as bs

eps, K, rho = sp.symbols("eps K rho", positive=True)
N, d = sp.symbols("N d", integer=True, positive=True)


def layer(p):
    """One layer, from the rules: a linear map in the sup norm, then an approximated 1-Lipschitz function."""
    return bs.apply_function(bs.linear_map(p, "W p", operator_norm=K, dim=d), "r(W p)", eps=eps * rho, lipschitz=1, size=1)


def activations(W, x, N, gain=1.0):
    """The input, then tanh(W p) of each layer, whose output is gain times that."""
    found = [x]
    for _ in range(N):
        found.append(torch.tanh(W @ (gain * found[-1] if len(found) > 1 else x)))
    return found


def row_sum(W):
    return W.abs().sum(1).amax()


own = bs.theorem(
    "analog-tanh",
    bs.repeat(bs.given("x", dim=d, size=1), "output", layer, N),
    parameters={eps: 0.01, K: 1.5, N: (2, 6), d: 8},
    hypotheses=[eps < 1],
    inputs={"x": bs.Box(d)},
    weights={"W": bs.Rows(d, bs.Ball(d, norm=1, radius=K))},
    network=lambda W, x, N, eps: (1 - eps) * activations(W, x, N, 1 - eps)[-1],
    reference=lambda W, x, N: activations(W, x, N)[-1],
    worst={rho: 1},
    knows={
        K: row_sum,
        rho: (
            lambda W: torch.tanh(row_sum(W)),
            lambda W, x, N, eps: torch.stack(activations(W, x, N, 1 - eps)[1:]).abs().amax(),
        ),
    },
    printed={"output": eps * N * K**N},
)

if __name__ == "__main__":
    table = bs.compare(own)
    print(table)
    table.save("own_theorem.tex")
    print(bs.solve(own, for_="eps", error=1e-3, N=6))
    print(own.latex())
