"""A theorem of your own: the error of two tanh layers whose activations lose a share eps of their value."""

# `boundsmith compare FILE` compares its bounds with measured errors; `show`, `latex`, `solve`, `certify` take FILE too.

import sympy as sp
import torch

import boundsmith as bs

# 1. The letters. What you declare of a symbol (positive, integer) becomes a hypothesis.
eps, K = sp.symbols("eps K", positive=True)
d = sp.Symbol("d", integer=True, positive=True)

# 2. The derivation. Each rule takes what it is applied to, a name and its constants, and adds the error of its step.
x = bs.rules.given("x", dim=d, size=1)
product = bs.rules.linear_map(x, "W x", operator_norm=K, dim=d)
hidden = bs.rules.apply_function(product, "hidden", eps=eps, lipschitz=1, size=1)
second = bs.rules.linear_map(hidden, "W hidden", operator_norm=K, dim=d)
output = bs.rules.apply_function(second, "output", eps=eps, lipschitz=1, size=1)

own = bs.theorem(
    "my-theorem",  # its id in tables and files
    output,  # what is bounded; several are allowed, the last one is the main one
    # 3. Each letter's default. A tuple spans a grid.
    parameters={eps: 0.01, K: (0.5, 2.0), d: 4},
    hypotheses=[eps < 1],
    # 4. What the statement is about: weights are drawn once for each network, inputs for each prompt.
    weights={"W": bs.domains.Rows(d, bs.domains.Ball(d, norm=1, radius=K))},
    inputs={"x": bs.domains.Box(d)},
    # 5. The network, and what it approximates: written in torch, for one prompt; arguments by name.
    network=lambda W, x, eps: (1 - eps) * torch.tanh(W @ ((1 - eps) * torch.tanh(W @ x))),
    reference=lambda W, x: torch.tanh(W @ torch.tanh(W @ x)),
    # 6. What a draft prints, by quantity. This one forgets the error of the first layer: at K = 2 it is violated.
    printed={"output": eps},
    # 7. Letters that an instance knows better than the hypotheses: they give the instance bound.
    knows={K: lambda W: W.abs().sum(1).amax()},
)

if __name__ == "__main__":
    print(bs.compare(own))
    print(bs.solve(own, for_="eps", error=1e-3, K=2.0))
