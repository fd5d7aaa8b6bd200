"""Ridge regression in context by L steps of gradient descent, each a layer of ReLU attention."""

import sympy as sp

import boundsmith as bs
from boundsmith.networks import Construction, Head, ReluAttention, Stream

alpha, beta, lamda, W, B_x, B_y = sp.symbols("alpha beta lamda W B_x B_y", positive=True)
L, n, d = sp.symbols("L n d", integer=True, positive=True)
X, y = sp.MatrixSymbol("X", n, d), sp.MatrixSymbol("y", n, 1)

# A step multiplies w - w* by A, whose norm is at most 1 - 1/kappa. Before the first step w = 0 is W = ||w*|| away from
# the solution w*, which takes y/sqrt(n), of norm at most B_y, times sqrt(s)/(s + lamda) along the singular vector with
# the value sqrt(n s), s in [alpha, beta]. This factor increases up to s = lamda and then decreases.
kappa, s = (beta + lamda) / (alpha + lamda), sp.Min(sp.Max(lamda, alpha), beta)
H, v = X.T * X / n + lamda * sp.Identity(d), X.T * y / n
start = bs.value("w", H.I * v, approximate=0 * v, norm=2, size=W, error=W)
A = bs.matrix("A", d, d, spectral=1 - 1 / kappa, given=sp.Identity(d) - H / (beta + lamda))
b = bs.value("b", v / (beta + lamda), norm=2, size=B_y * sp.sqrt(beta) / (beta + lamda))
prediction = (bs.repeat(lambda w: A @ w + b, start, L) @ bs.vector("x", d, norm=B_x)).named("prediction")


# A step adds (<w, x_j> - y_j) x_j over all tokens. Attention is a mean over n + 1 of them, and n are examples.
def ridge(beta, lamda, n, d, L):
    stream, step = Stream.of(x=d, query=d, w=d, one=1, y=1), 1 / (beta + lamda)
    query, key = {("x", "w"): 1, ("one", "one"): -1}, {("x", "x"): 1, ("one", "y"): 1}
    moves = Head.of("moves", stream, query=query, key=key, value={("w", "x"): -step * (n + 1) / n})
    one = {("one", "one"): 1}
    decay = Head.of("decay", stream, query=one, key=one, value={("w", "w"): -step * lamda})
    layer = ReluAttention((*moves.with_opposite(), decay), residual=True)
    reads = Head.of("reads", stream, query={("x", "w"): 1}, key={("x", "query"): 1}, value={("y", "one"): n + 1})
    return Construction.of("ridge", stream, *[layer] * L, ReluAttention(reads.with_opposite(), residual=True))


# (x_j, 0, w, 1, y_j) for the examples and (0, x, w, 1, 0) for the query: all of them carry the same w, at first 0.
def tokens(X, y, x):
    return [{"x": X, "one": 1, "y": y}, {"query": x, "one": 1}]


singular = bs.domains.SingularValues(n, d, low=sp.sqrt(n * alpha), high=sp.sqrt(n * beta))
own = bs.theorem(
    "ridge",
    prediction,
    parameters={alpha: 0.25, beta: 1.0, lamda: 0.1, L: (4, 16), n: 16, d: 4, B_x: 1.0, B_y: 1.0},
    hypotheses=[alpha < beta, d <= n],
    inputs={"X": singular, "y": bs.domains.Box(n, size=B_y)},
    network=bs.Transformer(build=ridge, tokens=tokens, read=lambda output: output[-1:]),
    worst={W: B_y * sp.sqrt(s) / (s + lamda)},
    printed={"prediction": B_x * W * sp.exp(-L / (2 * kappa))},
    cites="after Bai et al. 2023",
)

if __name__ == "__main__":
    print(bs.compare(own))
    print(bs.solve(own, for_="L", error=1e-3).value)
