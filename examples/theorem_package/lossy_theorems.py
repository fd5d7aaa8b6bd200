"""A readout w . x by an amplifier that loses a share eps of what it is given."""

import sympy as sp

import boundsmith as bs
from boundsmith import domains, rules

eps, K = sp.symbols("eps K", positive=True)
d = sp.Symbol("d", integer=True, positive=True)

score = rules.linear_map(rules.given("x", dim=d, size=1), "w x", operator_norm=K, dim=1)

own = bs.theorem(
    "lossy-readout",
    rules.apply_function(score, "readout", eps=eps * K, lipschitz=1, size=K),
    parameters={eps: 0.01, K: 2.0, d: 4},
    hypotheses=[eps < 1],
    weights={"w": domains.Ball(d, norm=1, radius=K)},
    inputs={"x": domains.Box(d)},
    network=lambda w, x, eps: (1 - eps) * (w * x).sum()[None],
    reference=lambda w, x: (w * x).sum()[None],
    meanings={
        eps: "share that is lost",
        K: "bound on `||w||_1`",
        d: "number of coordinates",
        "readout": ("`w^T x`", "`(1 - eps) w^T x`"),
    },
    title="Readout by a lossy amplifier",
)
