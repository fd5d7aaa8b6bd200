"""The study of stage I: printed beside derived beside the loss summed directly; signs certified; p~ followed in time.

Shapes: n = L - 2 terms; the first layer's weights are (n, n), rows s = 2 .. L-1, columns tau = 1 .. n.
"""

import math
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any

import flint
import numpy as np
import sympy as sp
import torch
from scipy.integrate import solve_ivp
from torch import Tensor

from bridge.balls import as_exact
from bridge.budget import Budget
from bridge.certify import Outcome, Status, prove
from bridge.induction.claims import claim_row, replayed_claim
from bridge.lowering import lower
from bridge.record import Row, Verdict
from bridge.rows import direct_row
from bridge.study import DirectCase, Inputs, Study
from numeric.balls import working_precision
from symbolic.induction import first_stage as theory
from symbolic.induction.first_stage_claims import CLAIMS
from symbolic.induction.training import L, g_star
from symbolic.inequalities import Inequality
from symbolic.statements import UsageError

END = 1e8  # of the run
GRID = 200  # values of p~ at which signs are measured
BITS = 128
CHECKED, MOST_TERMS = 6, 18  # n of the exact checks of q': by covariances, by coefficients
LONG = {"L": 1000, "alpha": 0.05, "sigma_init": 0.01}  # an input and a target at which (12) does not let p~ grow
_SUMS = sp.symbols("q slope_of_q slope_as_printed q_as_printed")
VERDICTS = {Status.PROVED: Verdict.PROVED, Status.REFUTED: Verdict.VIOLATED, Status.UNDECIDED: Verdict.UNDECIDED}


def direct_loss(p: Tensor, g_0: float, optimum: float, terms: int) -> Tensor:
    """The 4-gram loss by its definition: half the squared norm of the coefficients of x in TF - f*. p is a scalar."""
    place = torch.arange(terms, dtype=torch.float64)
    behind = place[:, None] - place[None, :]  # (s, tau): s - 1 - tau
    weights = torch.softmax(torch.where(behind >= 0, -p * behind, -torch.inf), dim=1)
    second = torch.full((terms,), 1 / terms, dtype=torch.float64)
    coefficients = g_0 * second @ weights
    target = torch.zeros(terms, dtype=torch.float64)
    target[-1] = optimum
    return (coefficients - target).square().sum() / 2


def direct_rate(p: float, g_0: float, optimum: float, terms: int) -> tuple[float, float]:
    """The loss and dp~/dt = -dloss/dp~ at p~ = p, by automatic differentiation."""
    variable = torch.tensor(p, dtype=torch.float64, requires_grad=True)
    loss = direct_loss(variable, g_0, optimum, terms)
    (slope,) = torch.autograd.grad(loss, variable)
    return float(loss.detach()), -float(slope)


@lru_cache(maxsize=1)
def _lowered_sums() -> Any:
    return lower(sp.Matrix([theory.SLOPE_PRINTED, theory.Q_PRINTED]), "numpy", args=(L, theory.p_tilde))


@lru_cache(maxsize=8)
def proof(inequality_of: Any, length: int) -> Outcome:
    """What `prove` says of that inequality at that L."""
    inequality: Inequality = inequality_of(length)
    return prove(inequality, seconds=5.0)


# q = sum of C_tau^2 / D^2 with D = Z_1 ... Z_n and C_tau = D/Z_tau + u C_{tau+1}; D^3 dq/du = D P' - 2 D' P.
def slope_numerator(terms: int) -> flint.fmpz_poly:
    """D^3 dq/du, a polynomial in u: without negative coefficients q' = -u dq/du <= 0 for every u >= 0."""
    x = flint.fmpz_poly([0, 1])
    Z = [flint.fmpz_poly([1] * m) for m in range(1, terms + 1)]
    D, C, P = math.prod(Z, start=flint.fmpz_poly([1])), flint.fmpz_poly([0]), flint.fmpz_poly([0])
    for z in reversed(Z):
        C = D // z + x * C
        P += C * C
    return D * P.derivative() - 2 * D.derivative() * P


@lru_cache(maxsize=4)
def slope_is_negative(terms: int) -> bool:
    """Whether q' <= 0 by the exact coefficients, and the covariances of the general argument give the same q'."""
    by_covariance = theory.covariance_form(CHECKED).subs(theory.u, sp.Rational(2, 3))
    c, dc = theory.mixtures(CHECKED, sp.Rational(2, 3))
    same = by_covariance == sum(a * b for a, b in zip(c, dc, strict=True))
    return same and all(coefficient >= 0 for coefficient in slope_numerator(terms).coeffs())


class FirstStageCase(DirectCase):
    """One point: p~ starts at sigma_init, g(0) is sigma_init, p(0) = 0 but in the rows `start`."""

    @property
    def terms(self) -> int:
        return int(self.params["L"]) - 2

    @property
    def sigma(self) -> float:
        return float(self.params["sigma_init"])

    @property
    def optimum(self) -> float:
        return float(self.params["alpha"] / (1 + self.params["alpha"]))

    @property
    def ratio(self) -> float:
        """gamma = g_0 / g*."""
        return self.sigma / self.optimum

    def rows(self, budget: Budget) -> list[Row]:
        return [*self._formulas(), *self._signs(), self._limit(), *self._starts()]

    # Formulas.

    @cached_property
    def _sums(self) -> dict[sp.Symbol, float]:
        decay = math.exp(-self.sigma)
        c, dc = (np.array(each) for each in theory.mixtures(self.terms, decay, 1.0))
        ours = [float(c @ c), float(-2 * decay * (c @ dc))]  # q and q' = -u dq/du
        printed = _lowered_sums()(self.terms + 2, self.sigma).ravel()
        return dict(zip(_SUMS, [*ours, *map(float, printed)], strict=True))

    def number(self, formula: sp.Expr) -> float:
        """A formula of Appendix B at p~ = g_0 = sigma_init; its sums over tau are done once."""
        known = {theory.Q: _SUMS[0], theory.SLOPE: _SUMS[1], theory.SLOPE_PRINTED: _SUMS[2], theory.Q_PRINTED: _SUMS[3]}
        values = {
            **self._sums,
            L: self.terms + 2,
            theory.p_tilde: self.sigma,
            theory.g_0: self.sigma,
            g_star: self.optimum,
        }
        return float(formula.xreplace(known).evalf(subs=values))

    def _formulas(self) -> list[Row]:
        loss, rate = direct_rate(self.sigma, self.sigma, self.optimum, self.terms)
        printed = {q.name: q.printed.bound for q in self.result.quantities if q.printed is not None}
        derived = {
            "loss": (theory.LOSS, loss),
            "q": (theory.Q, None),
            "q.slope": (theory.SLOPE, None),
            "rate": (theory.FLOW.rate(theory.p_tilde), rate),
        }
        rows = [
            claim_row(
                self,
                CLAIMS[name],
                printed=self.number(printed[name]),
                derived=self.number(ours),
                measured=measured,
                verdict={"derived": Verdict.PROVED},
            )
            for name, (ours, measured) in derived.items()
        ]
        return [*rows, *(claim_row(self, CLAIMS[name]) for name in ("softmax", "q.factor"))]

    # Signs.

    def least_share(self, start: float, lowest: float) -> tuple[float, float]:
        """Where dp~/dt over u g_0 g*/Z_n(r) is least on a grid of p~ from `lowest` up, and its value there."""
        p = np.concatenate([[lowest], lowest + np.geomspace(1e-3 / self.terms, 20.0, GRID)])
        shares = np.asarray(theory.rate_share(self.terms, np.exp(-p), self.ratio, math.exp(-start)))
        return float(p[shares.argmin()]), float(shares.min())

    def _signs(self) -> list[Row]:
        result, terms = self.result, min(self.terms, MOST_TERMS)
        falls = Verdict.PROVED if slope_is_negative(terms) else Verdict.UNDECIDED
        raw = proof(theory.sign_inequality, min(self.terms + 2, theory.LONGEST_SIGN))
        floor_holds = min(theory.excess_coefficients(self.terms)) > 0
        floor = falls if floor_holds else Verdict.UNDECIDED
        share = float(theory.SHARE_FLOOR.subs(L, self.terms + 2))
        covered = f"proved for every L (covariances); without them {_said(raw)}"
        rate = self.number(theory.FLOW.rate(theory.p_tilde))
        bound = self.number(theory.RATE_BOUND_PRINTED)
        return [
            direct_row(
                self,
                result.quantity("q.sign"),
                {"printed": falls, "derived": falls},
                printed=0.0,
                derived=0.0,
                measured=self._sums[_SUMS[1]],
                remark=f"at L = {terms + 2} also by the exact coefficients of its numerator, none of them negative",
            ),
            claim_row(
                self,
                CLAIMS["rate.lower"],
                printed=bound,
                derived=self.number(theory.RATE_FLOOR),
                measured=rate,
                verdict={"derived": floor},
            ),
            claim_row(self, CLAIMS["rate.lower.twice"], printed=bound, measured=2 * rate),
            direct_row(
                self,
                result.quantity("sign"),
                {"printed": floor, "derived": floor},
                printed=0.0,
                derived=share,
                measured=self.least_share(0.0, 0.0)[1],
                remark=covered,
            ),
        ]

    # Time.

    def run(self, end: float = END) -> float:
        """p~ at time `end` from p~ = sigma_init, p(0) = 0, by a stiff solver."""
        scale = self.sigma * self.optimum / self.terms

        # e^p~ grows at scale times the share, which tends to 1: a tame field, where that of p~ itself is stiff.
        def field(_: float, y: np.ndarray) -> list[float]:
            return [scale * theory.rate_share(self.terms, 1 / float(y[0]), self.ratio, 1.0)]

        solved = solve_ivp(field, (0.0, end), [math.exp(self.sigma)], method="LSODA", rtol=1e-9, atol=1e-9)
        if not solved.success:
            raise UsageError(f"{self.result.id}: the run stopped at t = {solved.t[-1]:g}: {solved.message}")
        return math.log(float(solved.y[0, -1]))

    def _limit(self) -> Row:
        values = {L: self.terms + 2, theory.t: END, theory.sigma_init: self.sigma, theory.g_0: self.sigma}
        floor = float(theory.LIMIT_FLOOR.evalf(subs={**values, g_star: self.optimum}))
        remark = f"at t = {END:g}; Lemma 5.3 holds for p(0) = 0"
        return direct_row(
            self,
            self.result.quantity("limit"),
            {"derived": Verdict.PROVED},
            derived=floor,
            measured=self.run(),
            remark=remark,
        )

    # The start of (12).

    def _starts(self) -> list[Row]:
        place, least = self.least_share(self.sigma, self.sigma)
        falls = surely_falls(self.params, place)
        short = proof(theory.start_inequality, min(self.terms + 2, theory.LONGEST_SIGN))
        quantity = self.result.quantity
        named = ", ".join(f"{name} = {value}" for name, value in LONG.items())
        return [
            direct_row(
                self,
                quantity("start"),
                {"printed": Verdict.VIOLATED if falls else Verdict.KEPT if least > 0 else Verdict.UNDECIDED},
                printed=0.0,
                measured=least,
                remark=f"by balls dp~/dt < 0 at p~ = {place:g}, at or above the start: p~ never passes it"
                if falls
                else "",
            ),
            direct_row(
                self, quantity("start.short"), {"derived": VERDICTS[short.status]}, derived=0.0, remark=_said(short)
            ),
            claim_row(
                self,
                CLAIMS["start.long"],
                params={},
                printed=0.0,
                measured=float(share_ball(LONG, LONG["sigma_init"]).mid()),
                remark=f"measured: by balls, at the very start of (12) with {named}",
            ),
        ]

    def replay_finding(self, name: str, inputs: Inputs) -> Row:
        return replayed_claim(self, CLAIMS, name, inputs)


def share_ball(params: Mapping[str, Any], p: float) -> flint.arb:
    """The share at p~ = p and p(0) = g_0 = sigma_init, enclosed."""
    with working_precision(BITS):
        exact = (as_exact(params[name]) for name in ("sigma_init", "alpha"))
        sigma, alpha = (flint.arb(flint.fmpq(number.numerator, number.denominator)) for number in exact)
        decay, start = (-flint.arb(p)).exp(), (-sigma).exp()
        return flint.arb(theory.rate_share(int(params["L"]) - 2, decay, sigma * (1 + alpha) / alpha, start))


def surely_falls(params: Mapping[str, Any], p: float) -> bool:
    """Whether dp~/dt < 0 at p~ = p under the start of (12)."""
    return bool(share_ball(params, p) < 0)


def _said(outcome: Outcome) -> str:
    words = f"{outcome.inequality.name} {outcome.status.value}"
    return f"{words} on {outcome.boxes} boxes" if outcome.status is Status.PROVED else words


class FirstStageStudy(Study):
    """Lemma 5.3 and its proof in Appendix B."""

    def __init__(self) -> None:
        self.result = theory.FIRST_STAGE
        self.main_quantity = "rate"

    def case(self, params: Mapping[str, Any], *, seed: int, dtype: str, device: str) -> FirstStageCase:
        defaults = {parameter.name: parameter.default for parameter in self.result.parameters}
        values = {name: self.result.number(name, value) for name, value in {**defaults, **params}.items()}
        self.result.check(values)
        return FirstStageCase(self.result, values, dtype=dtype, device=device)
