"""One step of gradient descent by one layer of attention: linear attention exactly, softmax approximately.

Linear attention predicts eta/n sum_j y_j <x_j, x>, the step from 0 on sum_j (w^T x_j - y_j)^2 / (2n), and softmax of a
small inverse temperature beta nearly that: its weights are linear in the scores up to a remainder of second order.
"""

import sympy as sp
import torch

import boundsmith as bs
from boundsmith.networks import Construction, Head, LinearAttention, SoftmaxAttention, Stream

beta, eta, B_x, B_y = sp.symbols("beta eta B_x B_y", positive=True)
n, d = sp.symbols("n d", integer=True, positive=True)

X, x, y = bs.tokens("X", n, d, size=B_x), bs.vector("x", d, size=B_x), bs.tokens("y", n, 1, size=B_y)
weights = bs.softmax(beta * (X.append(x) @ x)).in_place_of_linear()
softmax = (eta * (n + 1) / (n * beta) * bs.attend(weights, y.centred().append(0))).named("softmax")
linear = (eta / n * bs.attend(X @ x, y.centred())).named("linear")


# Key and query read x, the value y (after von Oswald et al. 2023). Labels are centred.
def attention(kind, d, sharpness, scale):
    tokens, same = Stream.of(x=d, y=1), ("x", "x")
    head = Head.of("step", tokens, query={same: sharpness}, key={same: 1.0}, value={("y", "y"): scale})
    return Construction.of("gradient step", tokens, kind((head,), residual=True))


def tokens(X, y, x):
    return [{"x": X, "y": y - y.mean(0)}, {"x": x}]


heads = {
    "linear": lambda eta, n, d: attention(LinearAttention, d, 1.0, eta / n),
    "softmax": lambda eta, n, d, beta: attention(SoftmaxAttention, d, beta, eta * (n + 1) / (n * beta)),
}
networks = {name: bs.Transformer(build, tokens, read=lambda output: output[-1:]) for name, build in heads.items()}


def least_squares(X, y, x):
    return (torch.linalg.lstsq(X, y).solution.mT @ x)[0]


# A table of real numbers: its rows are the examples, the last one is the query. Labels have mean 0 there.
table = bs.sources.Tabular(
    "n", "d", ("B_x", "B_y"), lambda data: {"X": data.x, "y": data.y[:, :1], "x": data.x_query},
    predictions=(
        bs.sources.Prediction("network", "one step by softmax attention", lambda network: network["softmax"]),
        bs.sources.Prediction("exact", "one step", lambda reference: reference["softmax"]),
        bs.sources.Prediction("least_squares", "least squares", least_squares),
    ),
)  # fmt: skip

values = {beta: (0.01, 0.1), eta: 1.0, n: 16, d: 4, B_x: 0.5, B_y: 1.0}
own = bs.theorem("gradient-step", linear, softmax, parameters=values, network=networks, sources=(table,))

if __name__ == "__main__":
    print(bs.compare(own))
    print(bs.solve(own, for_="beta", error=1e-3).value)
