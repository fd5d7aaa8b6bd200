"""Heavy ball on least squares, in context: T loops of two softmax heads beside a sink, against T exact steps.

r_i = w^T x_i - y_i, and w^T x of the query, obey v' = beta v - eta G r, r' = r + v', G_ij = <x_i, x_j> / n for examples
j and 0 for the query. Opposite heads weigh by W in place of G: their scores are c <x_i, x_j> / n, and C for the sink.
"""

import sympy as sp
import torch

import boundsmith as bs
from boundsmith import domains, networks, rules

eta, beta, c, C, B_x, B_y = sp.symbols("eta beta c C B_x B_y", positive=True)
n, d, T = sp.symbols("n d T", integer=True, positive=True)

# ||G|| <= B_x^2 sqrt(1 + 1/n), and a step maps (r, v) to (r, v) + (u, u) with u = beta v - eta G r, less v.
scores = rules.given("scores", dim=n + 1, size=c * B_x**2 / n)
weights = rules.heads_as_linear(scores, "weights", sink=C, second="opposite")
norm, missed = sp.symbols("norm missed", positive=True)
worst = {norm: 1 + sp.sqrt(2) * (beta + eta * B_x**2 * sp.sqrt(1 + 1 / n))}
worst |= {missed: sp.sqrt(2) * eta * (n + 1) * weights.error / c}
sizes = {"operator_norm": norm, "perturbation": missed, "dim": 2 * n + 2}
start = rules.given("start", dim=2 * n + 2, norm=bs.Norm.TWO, size=sp.sqrt(n) * B_y)
state = rules.repeat(start, "state", lambda s: rules.perturbed_map(s, "after a step", matrix="step", **sizes), T)
prediction = rules.linear_map(state, "prediction", operator_norm=1, dim=1, target=bs.Norm.INF, matrix="query")


def network(n, d, eta, beta, c, C, T):
    sizes = {"x": d, "key": d, **dict.fromkeys(("r", "v", "g", "sink", "one"), 1)}
    stream = networks.Stream.of(**sizes)
    reads = {"query": {"x": 1.0}, "key": {"key": 1.0}, "value": {("g", "r"): 1.0}}
    heads = networks.linear_heads(stream, networks.Sink(c, C, "sink", "one"), "opposite", **reads)
    moves = {("v", "v"): beta - 1, ("r", "v"): beta, ("v", "g"): -1 * eta / c, ("r", "g"): -1 * eta / c}
    terms = [networks.Select(*pair, weight, unless=("sink",), bound=1.0) for pair, weight in moves.items()]
    loop = (networks.SoftmaxAttention(heads, residual=True), networks.terms_layer(stream, *terms, networks.clear("g")))
    return networks.looped("heavy ball", stream, loop=loop, T=T, taps={"r": networks.StreamTap(2 * T, "r")})


def tokens(X, y, n):
    ones, zeros = 1 + 0 * X[:, :1], 0 * X[:, :1]
    r = torch.cat([-1 * y, 0 * y[:1]])[:, None]
    rows = torch.cat([X, torch.cat([X[:-1] / n, 0 * X[:1]]), r, zeros, zeros, zeros, ones], 1)
    return torch.cat([rows, torch.cat([0 * rows[:1, :-2], ones[:1], ones[:1]], 1)])


def step(W, eta, beta):
    one = torch.eye(W.shape[0], dtype=torch.float64, device=W.device)
    return torch.cat([torch.cat([one - eta * W, beta * one], 1), torch.cat([-1 * eta * W, beta * one], 1)])


def handles(X, y, n, eta, beta, c, C):
    G = torch.cat([X @ X[:-1].mT / n, 0 * X[:, :1]], 1)
    up, down = (torch.exp(z) / (1 + torch.exp(0 * z - C) * torch.exp(z).sum(1, keepdim=True)) for z in (c * G, -c * G))
    pair = bs.Emulated(step(G, eta, beta), step((up - down) / (2 * c), eta, beta))
    start, read = (torch.cat([a, b, 0 * y, 0 * y[:1]]) for a, b in ((-1 * y, 0 * y[:1]), (0 * y, 1 + 0 * y[:1])))
    return {"start": start, "step": pair, "query": read[None]}


def heavy_ball(X, y, eta, beta, T):
    w = before = 0 * X[0]
    for _ in range(T):
        w, before = w - eta * (X[:-1] @ w - y) @ X[:-1] / len(y) + beta * (w - before), w
    return X[-1:] @ w


own = bs.theorem(
    "momentum",
    prediction,
    parameters={eta: 0.5, beta: 0.5, c: 0.01, C: 30.0, T: (2, 3), n: 3, d: 2, B_x: 1.0, B_y: 1.0},
    inputs={"X": domains.Rows(n + 1, domains.Ball(d, radius=B_x)), "y": domains.Box(n, size=B_y)},
    network=bs.Transformer(build=network, tokens=tokens, read={"prediction": lambda r: r[-2]}),
    reference=heavy_ball,
    handles=handles,
    worst=worst,
    meanings={
        eta: "step size",
        beta: "momentum",
        c: "factor of the scores",
        C: "score of the sink",
        T: "number of steps",
        n: "number of examples",
        d: "number of coordinates",
        B_x: "bound on `||X_i||_2`",
        B_y: "bound on the labels",
        "prediction": (
            "`r_(n+1)` after `T` steps of heavy ball, `v <- beta v - eta G r` and `r <- r + v`, from `v = 0`, "
            "`r_i = -y_i` and `r_(n+1) = 0`, with `G = (G_ij)` and `G_ij = X_i^T X_j / n`, but 0 for `j = n + 1`",
            "the same with `(u_ij(c) - u_ij(-c))/(2 c)` for `G_ij`, where `u_ij(c)` is `e^C` times the weight that "
            "softmax of the scores `c G_ij`, and `C` of a sink, gives to `j`",
        ),
    },
)

if __name__ == "__main__":
    print(bs.compare(own))
    print(bs.solve(own, for_="c", error=1e-4, T=2).value)
