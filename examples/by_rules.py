"""The theorem of own_theorem.py from rules, its network and its reference written apart.

An error e before a layer becomes one of at most eps rho + K e after it, where rho bounds the activations.
"""

# For what no expression says. Layers p -> tanh(W p), activations that lose a share eps: r(t) = (1 - eps) tanh(t).

import sympy as sp
import torch

import boundsmith as bs

eps, K, rho = sp.symbols("eps K rho", positive=True)
N, d = sp.symbols("N d", integer=True, positive=True)
t = sp.Symbol("t", real=True)


# One layer, from the rules: a linear map in the sup norm, then an approximated 1-Lipschitz function.
def layer(p):
    product = bs.rules.linear_map(p, "W p", operator_norm=K, dim=d, matrix="W")
    return bs.rules.apply_function(product, "r(W p)", eps=eps * rho, lipschitz=1, size=1, function="r")


output = bs.rules.repeat(bs.rules.given("x", dim=d, size=1), "output", layer, N)


# p after each layer.
def states(W, x, N, gain=1.0):
    found = [x]
    for _ in range(N):
        found.append(gain * torch.tanh(W @ found[-1]))
    return found[1:]


own = bs.theorem(
    "analog-tanh-by-rules",
    output,
    parameters={eps: 0.01, K: 1.5, N: (2, 6), d: 8},
    hypotheses=[eps < 1],
    weights={"W": bs.domains.Rows(d, bs.domains.Ball(d, norm=1, radius=K))},
    inputs={"x": bs.domains.Box(d)},
    network=lambda W, x, N, eps: states(W, x, N, 1 - eps)[-1],
    reference=lambda W, x, N: states(W, x, N)[-1],
    worst={rho: 1},  # letters that an instance knows better: at every input, at this network, at this prompt
    knows={
        K: lambda W: W.abs().sum(1).amax(),
        rho: (
            lambda W: torch.tanh(W.abs().sum(1).amax()),
            lambda W, x, N, eps: torch.stack(states(W, x, N, 1 - eps)).abs().amax() / (1 - eps),
        ),
    },
    built={
        "r": lambda eps, K: bs.Smooth.of(sp.tanh(t), t, approximate=(1 - sp.Rational(eps)) * sp.tanh(t), radius=2 * K)
    },
    handles=lambda W, x, r: {"W": W, "x": x, "r": r},  # what the steps of the derivation name, at this prompt
    printed={"output": eps * N * K**N},
    meanings={
        N: "number of layers",
        d: "width",
        eps: "share that is lost",
        K: "bound on the 1-norms of the rows `W_i` of `W`",
        rho: "bound on the values of tanh",
        "output": (
            "`p_N`, where `p_0 = x` and `p_l = tanh(W p_(l-1))`",
            "the same for `p_l = (1 - eps) tanh(W p_(l-1))`",
        ),
    },
)

if __name__ == "__main__":
    print(bs.compare(own))
    print(bs.solve(own, for_="eps", error=1e-3, N=6).value)
    print(own.latex())
