"""Ridge regression in context by L steps of gradient descent, each a layer of ReLU attention.

Tokens (x_j, 0, w, 1, y_j) for the examples and (0, x, w, 1, 0) for the query. All of them carry the same w, at first 0.
"""

import sympy as sp
import torch

import boundsmith as bs
from boundsmith import domains, rules
from boundsmith.networks import Block, BlockMap, Construction, Head, ReluAttention, Stream

alpha, beta, lamda, W, B_x, B_y = sp.symbols("alpha beta lamda W B_x B_y", positive=True)
L, n, d = sp.symbols("L n d", integer=True, positive=True)

# A step multiplies w - w* by I - (X^T X/n + lamda I)/(beta + lamda), whose norm is at most 1 - 1/kappa, kappa =
# (beta + lamda)/(alpha + lamda). Before the first step, w = 0 is W = ||w*|| away.
kappa = (beta + lamda) / (alpha + lamda)
start = rules.given("w_0", dim=d, norm=bs.Norm.TWO, size=W, error=W)
descent = rules.contract(start, "w", factor=1 - 1 / kappa, offset=0, size=W, depth=L, matrix="A")
prediction = rules.linear_map(descent, "prediction", operator_norm=B_x, dim=1, target=bs.Norm.INF, matrix="x")

# w* = (X^T X/n + lamda I)^-1 X^T y/n takes y/sqrt(n), of norm at most B_y, times sqrt(s)/(s + lamda) along the singular
# vector with the value sqrt(n s), s in [alpha, beta]. This factor increases up to s = lamda and then decreases.
s = sp.Min(sp.Max(lamda, alpha), beta)


def ridge(beta, lamda, n, d, L):
    tokens = Stream([Block("x", d), Block("query", d), Block("w", d), Block("one", 1), Block("y", 1)])
    scores = Stream([Block("x", d), Block("one", 1)])
    step = 1 / (beta + lamda)

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


def solution(X, y, lamda):
    n, d = X.shape
    return torch.linalg.solve(X.mT @ X / n + lamda * torch.eye(d, dtype=X.dtype, device=X.device), X.mT @ y / n)


own = bs.theorem(
    "ridge",
    prediction,
    parameters={alpha: 0.25, beta: 1.0, lamda: 0.1, L: (4, 16), n: 16, d: 4, B_x: 1.0, B_y: 1.0},
    hypotheses=[alpha < beta, d <= n],
    inputs={
        "X": domains.SingularValues(n, d, low=sp.sqrt(n * alpha), high=sp.sqrt(n * beta)),
        "y": domains.Box(n, size=B_y),
        "x": domains.Ball(d, radius=B_x),
    },
    network=bs.Transformer(build=ridge, tokens=tokens, read={"prediction": lambda output: output[-1:]}),
    reference=lambda X, y, x, lamda: (x @ solution(X, y, lamda))[None],
    worst={W: B_y * sp.sqrt(s) / (s + lamda)},
    knows={W: lambda X, y, lamda: torch.linalg.vector_norm(solution(X, y, lamda))},
    handles=lambda X, y, x, beta, lamda, n, d: {
        "w_0": bs.Emulated(solution(X, y, lamda), X.new_zeros(d)),
        "A": torch.eye(d, dtype=X.dtype, device=X.device) * (beta / (beta + lamda)) - X.mT @ X / n / (beta + lamda),
        "x": x[None],
    },
    printed={"prediction": B_x * W * sp.exp(-L / (2 * kappa))},
    cites="after Bai et al. 2023",
    meanings={
        alpha: "bound on the squared singular values of `X`, over `n`, from below",
        beta: "the same from above",
        L: "number of steps",
        n: "number of examples",
        d: "number of coordinates",
        lamda: "weight of the penalty",
        B_x: "bound on `||x||_2`",
        B_y: "bound on the labels",
        "prediction": (
            "`x^T w`, where `w` minimises `||X w - y||_2^2/(2 n) + lamda ||w||_2^2/2`",
            "`x^T w_L`, where `w_0 = 0` and `w_(l+1) = w_l - (X^T (X w_l - y)/n + lamda w_l)/(beta + lamda)`",
        ),
    },
)

if __name__ == "__main__":
    print(bs.compare(own))
    print(bs.solve(own, for_="L", error=1e-3).value)
