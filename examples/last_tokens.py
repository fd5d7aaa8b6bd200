"""A weighted mean of the last three tokens, by five attention heads that see positions alone."""

import sympy as sp
import torch

import boundsmith as bs

kernel, heads = (0.5, 0.3, 0.2), bs.formulas.best_rates(5, 3, unit=2.0**-24)  # weights of the lags 1, 2, 3
mix = [sum(w * float(heads.combined(lag)[h]) for lag, w in enumerate(kernel, 1)) for h in range(5)]
distance = sum(w * float(heads.distance(lag)) for lag, w in enumerate(kernel, 1))


def wanted(L):
    return torch.tensor([0.0] * (int(L) - 3) + [0.2, 0.3, 0.5], dtype=torch.float64, device="cpu")


def network(L):
    lags = torch.arange(int(L) - 1, -1, -1, dtype=torch.float64, device="cpu")
    return sum(mix[h] * torch.softmax(-heads.slopes[h] * lags, 0) for h in range(5))


L, d = sp.symbols("L d", integer=True, positive=True)
words = "the vector with `1/5`, `3/10`, `1/2` at the last three tokens, else 0", "a sum of the weights of five heads"
weights = bs.value("w", wanted, approximate=network, dim=L, norm=1, size=1, error=distance, meaning=words)
own = bs.theorem("last-tokens", bs.attend(weights, bs.tokens("x", L, d, size=1)), parameters={L: (8, 64), d: 4})

if __name__ == "__main__":
    print(bs.compare(own))
