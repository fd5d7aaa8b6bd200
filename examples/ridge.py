"""Ridge regression in context by L steps of gradient descent, each a layer of ReLU attention.

Tokens (x_j, 0, w, 1, y_j) for the examples and (0, x, w, 1, 0) for the query. All of them carry the same w, at first 0.
"""

import sympy as sp
import torch

import boundsmith as bs
from boundsmith.networks import Block, BlockMap, Construction, Head, ReluAttention, Stream

alpha, beta, lamda, W, B_x, B_y = sp.symbols("alpha beta lamda W B_x B_y", positive=True)
L, n, d = sp.symbols("L n d", integer=True, positive=True)


def moments(X, y):
    return X.mT @ X / X.shape[0], X.mT @ y / X.shape[0], torch.eye(X.shape[1], dtype=X.dtype, device=X.device)


def solution(X, y, lamda):
    XX, Xy, identity = moments(X, y)
    return torch.linalg.solve(XX + lamda * identity, Xy)


def step(X, y, beta, lamda):
    XX, _, identity = moments(X, y)
    return (beta * identity - XX) / (beta + lamda)


# A step multiplies w - w* by A, whose norm is at most 1 - 1/kappa. Before the first step w = 0 is W = ||w*|| away from
# the solution w*, which takes y/sqrt(n), of norm at most B_y, times sqrt(s)/(s + lamda) along the singular vector with
# the value sqrt(n s), s in [alpha, beta]. This factor increases up to s = lamda and then decreases.
kappa, s = (beta + lamda) / (alpha + lamda), sp.Min(sp.Max(lamda, alpha), beta)
words = {
    "w": ("the minimiser of `||X w - y||_2^2/(2 n) + lamda ||w||_2^2/2`", "0"),
    "A": "`beta` times the identity less `X^T X/n`, over `beta + lamda`",
}
start = bs.value("w", solution, approximate=lambda X: 0 * X[0], dim=d, norm=2, size=W, error=W, meaning=words["w"])
A = bs.matrix("A", d, d, spectral=1 - 1 / kappa, given=step, meaning=words["A"])
mean = bs.value("b", lambda X, y: moments(X, y)[1], dim=d, norm=2, size=B_y * sp.sqrt(beta), meaning="`X^T y/n`")
descent = bs.repeat(lambda w: A @ w + mean / (beta + lamda), start, L)
prediction = (descent @ bs.vector("x", d, norm=B_x)).named("prediction")


def ridge(beta, lamda, n, d, L):
    tokens = Stream([Block("x", d), Block("query", d), Block("w", d), Block("one", 1), Block("y", 1)])
    scores, step = Stream([Block("x", d), Block("one", 1)]), 1 / (beta + lamda)

    def head(name, query, key, value, sign=1):
        query, value = ({pair: sign * weight for pair, weight in each.items()} for each in (query, value))
        maps = zip((scores, scores, tokens), (query, key, value), strict=True)
        return Head(name, *(BlockMap(tokens, target, action) for target, action in maps))

    # <q, k> v = relu(<q, k>) v + relu(<-q, k>) (-v). The mean over the n + 1 tokens becomes one over the n examples.
    def linear(query, key, value):
        return head("positive", query, key, value), head("negative", query, key, value, sign=-1)

    residuals = {("x", "w"): 1, ("one", "one"): -1}, {("x", "x"): 1, ("one", "y"): 1}  # <w, x_j> - y_j
    decay = head("decay", {("one", "one"): 1}, {("one", "one"): 1}, {("w", "w"): -step * lamda})
    layer = ReluAttention((*linear(*residuals, {("w", "x"): -step * (n + 1) / n}), decay), residual=True)
    readout = linear({("x", "w"): 1}, {("x", "query"): 1}, {("y", "one"): n + 1})
    return Construction.of("ridge", tokens, *[layer] * L, ReluAttention(readout, residual=True))


def tokens(X, y, x):
    n, d = X.shape
    examples = torch.cat([X, X.new_zeros(n, 2 * d), X.new_ones(n, 1), y[:, None]], 1)
    query = torch.cat([x.new_zeros(d), x, x.new_zeros(d), x.new_ones(1), x.new_zeros(1)])
    return torch.cat([examples, query[None]])


singular = bs.domains.SingularValues(n, d, low=sp.sqrt(n * alpha), high=sp.sqrt(n * beta))
own = bs.theorem(
    "ridge",
    prediction,
    parameters={alpha: 0.25, beta: 1.0, lamda: 0.1, L: (4, 16), n: 16, d: 4, B_x: 1.0, B_y: 1.0},
    hypotheses=[alpha < beta, d <= n],
    inputs={"X": singular, "y": bs.domains.Box(n, size=B_y)},
    network=bs.Transformer(build=ridge, tokens=tokens, read={"prediction": lambda output: output[-1:]}),
    worst={W: B_y * sp.sqrt(s) / (s + lamda)},
    printed={"prediction": B_x * W * sp.exp(-L / (2 * kappa))},
    cites="after Bai et al. 2023",
    meanings={W: "bound on `||w||_2`"},
)

if __name__ == "__main__":
    print(bs.compare(own))
    print(bs.solve(own, for_="L", error=1e-3).value)
