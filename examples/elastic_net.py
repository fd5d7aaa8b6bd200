"""The elastic net by T steps of proximal gradient, each with an error: the distance to its minimiser, and the gap.

F(w) = |X w - y|^2 / (2n) + lamda |w|_1 + alpha |w|^2 / 2. Labels are such that a given w* is the minimiser.
"""

import sympy as sp
import torch

import boundsmith as bs
from boundsmith import domains, rules

low, high, alpha, lamda, W, Y, r = sp.symbols("low high alpha lamda W Y r", positive=True)
eps = sp.Symbol("eps", nonnegative=True)
T, n, d = sp.symbols("T n d", integer=True, positive=True)
two, eta = bs.Norm.TWO, 1 / high

# I - eta X^T X/n does not expand, soft thresholds do not, and the prox of the square divides by 1 + eta alpha.
start = rules.given("w_0", dim=d, norm=two, size=W, error=W)
distance = rules.contract(start, "w", factor=1 / (1 + eta * alpha), offset=eps, size=W, depth=T)

# F(w) >= lamda |w|_2, and F(0) = Y^2/2, Y = |y|/sqrt(n); |X^T (X w - y)/n + lamda s + alpha w| <= slope for |w| <= r.
slope = (high + alpha) * r + sp.sqrt(high) * Y + lamda * sp.sqrt(d)
steps = {"lipschitz": slope, "radius": r, "step": eta, "smoothness": high, "steps": T}
update = rules.given("step", dim=d, norm=two, size=W, error=eps)
iterates = rules.bounded_iterates(update, "iterates", start=Y**2 / 2, penalty=lamda, **steps)
gap = rules.proximal_gradient(start, "gap", update=update, iterates=iterates, **steps)


def labels(X, w, lamda, alpha):
    n = X.shape[0]
    subgradient = lamda * torch.sign(w) + alpha * w
    return X @ (w + n * torch.linalg.solve(X.mT @ X, subgradient))


def objective(X, y, w, lamda, alpha):
    return ((X @ w - y) ** 2).sum() / (2 * X.shape[0]) + lamda * torch.abs(w).sum() + alpha / 2 * (w * w).sum()


def network(X, w, errors, high, lamda, alpha):
    y, found = labels(X, w, lamda, alpha), 0 * w
    for error in errors:
        v = found - X.mT @ (X @ found - y) / (X.shape[0] * high)
        found = torch.sign(v) * torch.relu(torch.abs(v) - lamda / high) / (1 + alpha / high) + error
    values = objective(X, y, found, lamda, alpha), objective(X, y, w, lamda, alpha)
    return {"w": found, "gap": (values[0] - values[1])[None]}


own = bs.theorem(
    "elastic net",
    distance,
    gap,
    parameters={low: 0.25, high: 1.0, alpha: 0.5, lamda: 0.1, T: (4, 16), n: 8, d: 3, W: 1.0, eps: 1e-3},
    hypotheses=[low < high, d <= n],
    inputs={
        "X": domains.SingularValues(n, d, low=sp.sqrt(n * low), high=sp.sqrt(n * high)),
        "w": domains.Ball(d, radius=W),
        "errors": domains.Rows(T, domains.Ball(d, radius=eps)),
    },
    network=network,
    reference=lambda w: {"w": w, "gap": 0 * w[:1]},
    worst={Y: sp.sqrt(high) * W + (lamda * sp.sqrt(d) + alpha * W) / sp.sqrt(low)},
    knows={
        Y: lambda X, w, lamda, alpha: torch.linalg.vector_norm(labels(X, w, lamda, alpha) / X.shape[0] ** 0.5),
        W: lambda w: torch.linalg.vector_norm(w),
    },
    trivial={"gap": Y**2 / 2},
    meanings={
        low: "bound on the squared singular values of `X`, over `n`, from below",
        high: "the same from above",
        alpha: "weight of the square",
        lamda: "weight of the 1-norm",
        T: "number of steps",
        n: "number of examples",
        d: "number of coordinates",
        W: "bound on `||w||_2`",
        eps: "bound on the error of a step",
        "w": (
            "`w`, the minimiser of `F(v) = ||X v - y||_2^2/(2 n) + lamda ||v||_1 + alpha ||v||_2^2/2` for the labels "
            "`y = X (w + n (X^T X)^(-1) (lamda sign(w) + alpha w))`",
            "`w_T`, where `w_0 = 0` and `w_k` is, up to `errors_k`, the proximal gradient step of length `1/high` from "
            "`w_(k-1)`, the square taken with the 1-norm",
        ),
        "gap": ("0", "`F(w_T) - F(w)`"),
    },
)

if __name__ == "__main__":
    print(bs.compare(own))
    print(bs.solve(own, for_="T", error=0.03, eps=1e-5).value)
