"""Lemma A.2 and Theorem 3.1 (algoformer) as a theorem: T loops of a transformer beside T steps of gradient descent."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any

import torch

from bridge.domains import Ball, Box, Rows
from bridge.instances.letters import number_where_it_holds
from bridge.lowering.formula import ArrayFunction
from bridge.readings.rules.sink import HEADS
from bridge.theorems.numbers import plain
from bridge.theorems.parts import AtPoint, ExactRuns, Knobs
from bridge.theorems.record import NamedTable, Verdict
from bridge.theorems.refusal import Refusal
from bridge.theorems.theorem import Theorem
from bridge.theorems.transformer import Transformer
from bridge.topics.looped.gradient_descent_knobs import PAIRS, resolve
from bridge.topics.looped.gradient_descent_table import TABLE
from bridge.topics.looped.one_layer import CHECKS as ONE_LAYER
from bridge.topics.looped.ridge import ridge_check
from bridge.topics.looped.size_counts import checks_of_parts
from numeric.networks.shared_blocks import SharedNetwork
from numeric.topics.looped import gradient_descent as numeric
from symbolic.calculus.heads import Second
from symbolic.topics.looped import gradient_descent as stated
from symbolic.topics.looped import gradient_descent_derivation as theory

STATEMENT = stated.GRADIENT_DESCENT
EXACT_LIMIT = 5_000_000  # at some hundred bits a loop
OF_WEIGHTS = theory.N, theory.d, theory.B_x, theory.c, theory.C, theory.bits
TRUNCATION, ROUNDING = (
    {second: ArrayFunction(bound(theory.pair(Second(second)))(theory.c, theory.C), *OF_WEIGHTS) for second in PAIRS}
    for bound in (lambda heads: heads.truncation, lambda heads: heads.rounding)
)
EXACT_STATE = ArrayFunction(theory.EXACT_STATE, theory.R, theory.H)
LARGEST_ERROR = ArrayFunction(
    theory.LARGEST_ERROR, theory.R, theory.H, theory.a, theory.q, theory.rho, theory.N, theory.T, theory.eta,
    theory.B_y, theory.tau, theory.bits,
)  # fmt: skip


def refusal(high: float, B_x: float) -> Refusal | None:
    """Where the domain of the inputs does not keep the eigenvalues below `high`."""
    reason = f"high = {plain(high)} is below B_x^2 = {plain(B_x**2)}, which eigenvalues may reach; leave high out"
    return Refusal(Verdict.OUTSIDE, reason) if high < B_x**2 else None


# Networks.


def setting(
    N: Any, d: Any, m: Any, eta: Any, c: Any, C: Any, tau: Any, B_x: Any, B_y: Any, second: str, mlp: Any
) -> numeric.DescentSetting:
    layers = tuple((each[:, :-1], each[:, -1]) for each in mlp)
    return numeric.DescentSetting(N, int(d), int(m), eta, c, C, tau, B_x, B_y, second, layers)


def network(
    N: Any, d: Any, m: Any, eta: Any, c: Any, C: Any, tau: Any, B_x: Any, B_y: Any, second: str, mlp: Any, T: int
) -> Any:
    return numeric.transformer(setting(N, d, m, eta, c, C, tau, B_x, B_y, second, mlp), int(T))


def reference(x: Any, y: Any, mlp: Any, eta: Any, T: int) -> dict[str, Any]:
    phi = numeric.features(x, mlp)
    A = numeric.descended(phi[:-1], y, eta, int(T))
    return {"prediction": A @ phi[-1], "residuals": A @ phi[:-1].mT - y.mT}


# Letters.


def truncation(N: Any, d: Any, B_x: Any, c: Any, C: Any, bits: Any, second: str) -> Any:
    return TRUNCATION[second](N, d, B_x, c, C, bits)


def rounding(N: Any, d: Any, B_x: Any, c: Any, C: Any, bits: Any, second: str) -> Any:
    return ROUNDING[second](N, d, B_x, c, C, bits)


@dataclass(frozen=True)
class PromptLetters:
    """What the letters are at one prompt, x (N + 1, d), y (N, m)."""

    x: Any
    y: Any
    mlp: Any
    N: Any
    d: Any
    T: Any
    eta: Any
    c: Any
    C: Any
    second: str
    B_x: Any
    B_y: Any
    tau: Any
    bits: Any

    @cached_property
    def products(self) -> Any:
        """Phi(x_i)^T Phi(x_j) / N, (N + 1, N)."""
        phi = numeric.features(self.x, self.mlp)
        return phi @ phi[:-1].mT / self.N

    @cached_property
    def missed(self) -> Any:
        """W - G, (N + 1, N + 1)."""
        zeros = torch.cat([0 * self.products, 0 * self.products[:, :1]], 1)  # of labels and x_test
        scores, lost = torch.cat([self.c * self.products, zeros], 1), torch.exp(-self.C + 0 * self.products[0, 0])
        weights = HEADS[Second(self.second)](scores, scores, lost)[:, : len(self.products)] / self.c
        return weights - torch.cat([self.products, zeros[:, :1]], 1)

    @cached_property
    def influence(self) -> Any:
        """The rows e_p^T B^j, j = 0 .. T: (T + 1, N + 1)."""
        rows = [torch.cat([0 * self.products[0], 1 + 0 * self.products[0, :1]])]
        for _ in range(int(self.T)):
            rows.append(rows[-1] - self.eta * torch.cat([rows[-1] @ self.products, 0 * rows[-1][:1]]))
        return torch.stack(rows)

    # delta_{k+1} = B delta_k - eta (W - G) s_k, with G s = products r.
    @cached_property
    def first_order(self) -> Any:
        """What W - G makes of the exact states in T loops, (N + 1, m)."""
        s = torch.cat([-1 * self.y, 0 * self.y[:1]])
        moved = 0 * s
        for _ in range(int(self.T)):
            moved = moved - self.eta * (self.products @ moved[:-1] + self.missed @ s)
            s = s - self.eta * (self.products @ s[:-1])
        return moved

    def R(self) -> Any:
        return torch.linalg.vector_norm(self.y.mT, dim=1).max()

    def H(self) -> Any:
        return torch.linalg.vector_norm(self.influence[:, :-1], dim=1).max()

    def a(self) -> Any:
        return torch.linalg.matrix_norm(self.missed[:-1])

    def q(self) -> Any:
        return torch.linalg.vector_norm(self.influence[:-1] @ self.missed, dim=1).max()

    def F_r(self) -> Any:
        return torch.linalg.vector_norm(self.first_order[:-1].mT, dim=1).max()

    def F_p(self) -> Any:
        return abs(self.first_order[-1]).max()

    def E(self) -> Any:
        rho = rounding(self.N, self.d, self.B_x, self.c, self.C, self.bits, self.second)
        of_run = self.N, self.T, self.eta, self.B_y, self.tau, self.bits
        return LARGEST_ERROR(self.R(), self.H(), self.a(), self.q(), rho, *of_run)

    def S(self) -> Any:
        return EXACT_STATE(self.R(), self.H()) + self.E()


def of_prompt(letter: str) -> Callable[..., Any]:
    """The letter as a function of what a prompt is made of, by name."""

    @wraps(PromptLetters, updated=())
    def found(**known: Any) -> Any:
        return getattr(PromptLetters(**known), letter)()

    return found


def by_loop(
    N: int, d: int, m: int, T: int, L: int, eta: float, B_x: float, B_y: float, high: float, second: str, bits: int,
    c: float, C: float, tau: float, mlp: torch.Tensor,
) -> NamedTable:  # fmt: skip
    """The whole state after each of 1, 2, 4, ... loops, at one seeded prompt."""
    numbers = {"N": N, "d": d, "m": m, "L": L, "eta": eta, "B_x": B_x, "B_y": B_y, "high": high, "bits": bits, "c": c,
               "C": C, "tau": tau}  # fmt: skip
    generator = torch.Generator().manual_seed(0)
    x = Rows(N + 1, Ball(d, radius=B_x)).sample(1, generator)[0]
    y = Rows(N, Box(m, size=B_y)).sample(1, generator)[0]
    built = network(N, d, m, eta, c, C, tau, B_x, B_y, second, mlp, T)
    states = SharedNetwork(built).run(numeric.tokens(x, y)[None])
    phi, A = numeric.features(x, mlp), torch.zeros(m, d, dtype=torch.float64, device="cpu")
    rows: list[list[str | int | float | None]] = []
    for k in range(1, T + 1):
        A = numeric.descend(A, phi[:-1], y, eta)
        if k & (k - 1) == 0 or k == T:
            missed = states[f"r[{k}]"][0, ::2].mT - A @ phi.mT  # (m, N + 1)
            errors = torch.linalg.vector_norm(missed[:, :-1] + y.mT, dim=1).max(), abs(missed[:, -1]).max()
            bounds = (derived(name, second, {**numbers, "T": k}) for name in ("residuals", "prediction"))
            rows.append([k, *(each for pair in zip(map(float, errors), bounds, strict=True) for each in pair)])
    columns = ["loop", "residuals", "derived", "prediction", "derived"]
    return NamedTable(title="Errors of the whole state after each loop, at one prompt", columns=columns, rows=rows)


def derived(name: str, second: str, numbers: Mapping[str, int | float]) -> float | None:
    """The bound of that quantity from the hypotheses; None where the loops add too much for one."""
    at = [numbers[str(s)] for s in OF_WEIGHTS]
    letters = {p.symbol: numbers[p.name] for p in STATEMENT.parameters if p.symbol is not None and p.name in numbers}
    rho, delta = float(ROUNDING[second](*at)), float(TRUNCATION[second](*at))
    if not (math.isfinite(rho) and math.isfinite(delta)):
        return None
    letters |= {theory.rho: rho, theory.delta: delta}
    return number_where_it_holds(STATEMENT.quantity(name), letters)


GRADIENT_DESCENT = Theorem(
    STATEMENT,
    main="prediction",
    inputs={
        "x": Rows(theory.N + 1, Ball(theory.d, radius=theory.B_x)),
        "y": Rows(theory.N, Box(theory.m, size=theory.B_y)),
    },
    weights={"mlp": numeric.seeded_mlp},
    network=Transformer(network, numeric.tokens, {
        "prediction": lambda output: output,
        "residuals": lambda residuals: residuals[:-2:2].mT,
    }, shared=True),
    reference=reference,
    knows={
        theory.rho: (rounding,),
        theory.delta: (truncation,),
        **{getattr(theory, letter): (of_prompt(letter),) for letter in ("H", "a", "q", "F_r", "F_p", "E", "S")},
    },
    checks=(ridge_check(derived), *ONE_LAYER, *checks_of_parts(STATEMENT, network, stated.COUNTS)),
    tables=(by_loop,),
    knobs=Knobs(resolve=resolve, implied=("high", "bits", "c", "C")),
    at_point=AtPoint(refusal=refusal),
    exact=ExactRuns(limit=EXACT_LIMIT),
    sources=(TABLE,),
    settings={"samples": 64, "attack": 30, "restarts": 4},
    tokens=True,
    by_rules=False,
)  # fmt: skip
