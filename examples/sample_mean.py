"""A bound with probability: how far are m means of n bounded draws from their expectations, all at once?"""

import sympy as sp
import torch

import boundsmith as bs
from boundsmith import rules

B, delta = sp.symbols("B delta", positive=True)
n, m = sp.symbols("n m", integer=True, positive=True)

one = rules.sample_mean(rules.given("draw", dim=1, size=B), "one mean", count=n, event=bs.Event("mean", over="signs"))
largest = rules.within_budget(rules.union_bound(one, "m means", members=m), "largest", delta=delta)
own = bs.theorem(
    "means",
    largest,
    parameters={B: 1.0, n: (64, 256), m: 8, delta: 0.05},
    hypotheses=[delta < 1],
    weights={"signs": lambda n, m, seed: torch.randint(2, (m, n), generator=torch.Generator().manual_seed(seed))},
    network=lambda signs, B: B * (2 * signs - 1).mean(1, dtype=signs.dtype),
    reference=lambda signs: signs.new_zeros(len(signs)),
    meanings={
        n: "number of draws in a mean",
        m: "number of means",
        B: "size of a draw",
        delta: "probability of failure",
        "largest": (
            "vector of their expectations, 0",
            "vector of `m` means of `n` independent draws, each `B` or `-B` with probability 1/2",
        ),
    },
)

if __name__ == "__main__":
    print(bs.compare(own))
    print(bs.solve(own, for_="n", error=0.1).value)
    print(bs.solve(own, for_="delta", error=0.3, n=256).value)
