"""Small theorems, as a user writes them: functions of changes to their arguments, so that a test spoils one thing."""

from pathlib import Path
from typing import Any

import sympy as sp
import torch

import boundsmith as bs
from bridge.export.comparison import Comparison
from bridge.theorems.record import Row

eps, eta = sp.symbols("eps eta", positive=True)
rho = sp.Symbol("rho", positive=True)
d, n = sp.symbols("d n", integer=True, positive=True)

BUDGET: dict[str, Any] = {"samples": 6, "attack": 6, "restarts": 4}


def scaled(**changes: Any) -> bs.Theorem:
    """The network (1 + eps) x errs by at most eps on the unit box, attained at its corners."""
    arguments: dict[str, Any] = {
        "parameters": {eps: 0.01, d: 3},
        "inputs": {"x": bs.domains.Box(d)},
        "network": lambda x, eps: (1 + eps) * x,
        "reference": lambda x: x,
    }
    return bs.theorem("scaled", bs.rules.given("out", dim=d, size=1, error=eps), **{**arguments, **changes})


def averaged(**changes: Any) -> bs.Theorem:
    """A weight that float64 does not hold: the mean by factors 1/n, an identity."""
    arguments: dict[str, Any] = {
        "parameters": {n: 3},
        "inputs": {"x": bs.domains.Box(n)},
        "network": lambda x, n: (x * (torch.ones((), dtype=torch.float64) / n)).sum(),
        "reference": lambda x: x.mean(),
    }
    return bs.theorem("averaged", bs.rules.given("mean", dim=1, size=1), **{**arguments, **changes})


def product(**changes: Any) -> bs.Theorem:
    """W x with a drawn weight, of which an instance knows the norm rho: of the network, and at a prompt its effect."""
    arguments: dict[str, Any] = {
        "parameters": {eps: 0.25, d: 2},
        "weights": {"W": bs.domains.Rows(d, bs.domains.Ball(d, norm=1, radius=1)), "b": bs.domains.Box(d)},
        "inputs": {"x": bs.domains.Box(d)},
        "network": lambda W, b, x, eps: (1 + eps) * (W @ x) + b,
        "reference": lambda W, b, x: W @ x + b,
        "worst": {rho: 1},
        "knows": {rho: (lambda W: W.abs().sum(1).amax(), lambda W, x: (W @ x).abs().amax())},
    }
    return bs.theorem("product", bs.rules.given("out", dim=d, size=1, error=eps * rho), **{**arguments, **changes})


def compared(theorem: bs.Theorem, **settings: Any) -> Comparison:
    return bs.compare(theorem, **{**BUDGET, **settings})


def row_of(comparison: Comparison, quantity: str, scope: str | None = "network") -> Row:
    """The one row of that quantity and scope."""
    (row,) = (row for row in comparison if row.quantity == quantity and row.scope == scope)
    return row


OWN = """
import sympy as sp
import boundsmith as bs

eps = sp.Symbol("eps", positive=True)
d = sp.Symbol("d", integer=True, positive=True)
own = bs.theorem(
    "own-scaled",
    bs.rules.given("out", dim=d, size=1, error=eps),
    parameters={eps: 0.25, d: 2},
    weights={"b": bs.domains.Box(d)},
    inputs={"x": bs.domains.Box(d)},
    network=lambda x, b, eps: (1 + eps) * x + b,
    reference=lambda x, b: x + b,
    printed={"out": eps / 2},
)
"""


def own_file(folder: Path, text: str = OWN, name: str = "own.py") -> str:
    """A file with that text; by default one whose printed bound is half of the true error."""
    (folder / name).write_text(text)
    return str(folder / name)
