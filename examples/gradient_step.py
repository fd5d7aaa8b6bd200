"""One step of gradient descent by one layer of attention: linear attention exactly, softmax approximately.

Tokens (x_j, y_j), a query (x, 0), labels centred. Key and query read x, the value reads y (von Oswald et al. 2023
describe the construction). Linear attention with projection eta/n predicts eta/n sum_j y_j <x_j, x>: the step from 0
on sum_j (w^T x_j - y_j)^2 / (2n). A softmax head of small inverse temperature beta predicts nearly that: its weights
are linear in the scores up to a remainder of second order.
"""

import sympy as sp
import torch

import boundsmith as bs
from boundsmith import domains, rules, sources
from boundsmith.networks import Block, BlockMap, Construction, Head, LinearAttention, SoftmaxAttention, Stream

beta, eta, rho, B_x, B_y = sp.symbols("beta eta rho B_x B_y", positive=True)
n, d = sp.symbols("n d", integer=True, positive=True)

# Labels in [-B_y, B_y], then centred, lie within B_y of one number; so does the 0 of the query.
labels = rules.given("labels", dim=1, size=2 * B_y, radius=B_y)
scores = rules.given("scores", dim=n + 1, size=beta * d * B_x**2)
average = rules.attend(rules.softmax_as_linear(scores, "weights", half_range=beta * rho), labels, "average")
softmax = rules.linear_map(average, "softmax", operator_norm=eta * (n + 1) / (n * beta), dim=1, matrix="scale")


def attention(kind, d, sharpness, scale):
    tokens, scores = Stream([Block("x", d), Block("y", 1)]), Stream([Block("x", d)])
    query, key = (BlockMap(tokens, scores, {("x", "x"): factor}) for factor in (sharpness, 1.0))
    value = BlockMap(tokens, tokens, {("y", "y"): scale})
    return Construction.of("gradient step", tokens, kind((Head("step", query, key, value),), residual=True))


def tokens(X, y, x):
    examples = torch.cat([X, (y - y.mean())[:, None]], 1)
    return torch.cat([examples, torch.cat([x, x.new_zeros(1)])[None]])


def half_range(X, x):
    inner = torch.cat([X @ x, (x @ x)[None]])
    return (inner.amax() - inner.amin()) / 2


# A table of real numbers: its rows are the examples, the last one is the query. Labels have mean 0 there.
table = sources.Tabular(
    "n", "d", ("B_x", "B_y"), lambda data: {"X": data.x, "y": data.y[:, 0], "x": data.x_query},
    predictions=(
        sources.Prediction("network", "one step by softmax attention", lambda network: network["softmax"]),
        sources.Prediction("exact", "one step", lambda reference: reference["softmax"]),
        sources.Prediction("least_squares", "least squares", lambda X, y, x: torch.linalg.lstsq(X, y).solution @ x),
    ),
)  # fmt: skip

own = bs.theorem(
    "gradient-step",
    rules.given("linear", dim=1, size=2 * eta * d * B_x**2 * B_y),
    softmax,
    parameters={beta: (0.01, 0.1), eta: 1.0, n: 16, d: 4, B_x: 0.5, B_y: 1.0},
    inputs={"X": domains.Box(n, d, size=B_x), "y": domains.Box(n, size=B_y), "x": domains.Box(d, size=B_x)},
    network={
        "linear": bs.Transformer(
            build=lambda eta, n, d: attention(LinearAttention, d, 1.0, eta / n),
            tokens=tokens,
            read={"linear": lambda output: output[-1:]},
        ),
        "softmax": bs.Transformer(
            build=lambda eta, n, d, beta: attention(SoftmaxAttention, d, beta, eta * (n + 1) / (n * beta)),
            tokens=tokens,
            read={"softmax": lambda output: output[-1:]},
        ),
    },
    reference=lambda X, y, x, eta: eta * ((y - y.mean()) * (X @ x)).mean()[None],
    worst={rho: d * B_x**2},
    knows={rho: half_range},
    handles=lambda X, y, x, eta, n, beta: {
        "labels": tokens(X, y, x)[:, -1:],
        "scores": beta * tokens(X, y, x)[:, :-1] @ x,
        "scale": eta * (n + 1) / (n * beta),
    },
    sources=(table,),
    meanings={
        beta: "inverse temperature",
        eta: "step size",
        n: "number of examples",
        d: "number of coordinates",
        B_x: "bound on inputs",
        B_y: "bound on labels",
        "linear": (
            "`eta/n sum_j (y_j - sum_i y_i/n) X_j^T x`, with the rows `X_j` of `X`",
            "the same by a head of linear attention",
        ),
        "softmax": (
            "the same, the step of gradient descent from 0",
            "`eta (n+1)/(n beta)` times the mean of the centred labels, 0 for the query `x`, with the weights of "
            "softmax of `beta` times `X_j^T x` and `x^T x`",
        ),
    },
)

if __name__ == "__main__":
    print(bs.compare(own))
    print(bs.solve(own, for_="beta", error=1e-3).value)
