"""The Lyapunov functions of Appendix C (wang2024) as theorems: inequalities proved or refuted on boxes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import sympy as sp
from torch import Tensor

from bridge.lowering.ball_values import as_exact
from bridge.questions.certify.checks import Stated, certified, difference_of, proved_together
from bridge.questions.certify.proving import Status
from bridge.questions.certify.search import smallest
from bridge.theorems.check import Check, Sides
from bridge.theorems.numbers import plain, plain_apart
from bridge.theorems.theorem import Theorem
from symbolic.derivations.inequalities import Inequality, written_out
from symbolic.statements.result import Quantity
from symbolic.topics.induction import lyapunov as theory
from symbolic.topics.induction import lyapunov_gram as gram
from symbolic.topics.induction import lyapunov_head as head

SHARE = 0.95  # of the smallest ratio that is found: the constant that is tried
PROOFS = Path(__file__).parent / "certificates"  # of constants close to the best; benchmarks/lyapunov.py writes them
GRAM_PROOFS, HEAD_PROOFS = PROOFS / "lyapunov_gram.json", PROOFS / "lyapunov_head.json"


# The 4-gram head.


def gram_check(quantity: Quantity) -> Check:
    def stated() -> Stated:
        return theory.gram_inequalities()[quantity.name]

    value = largest_gram_constant if is_decay(quantity) else difference_of
    return certified(quantity, stated, value, GRAM_PROOFS)


def is_decay(quantity: Quantity) -> bool:
    """Whether it is a constant, and not the difference of the sides of an estimate."""
    return quantity.name.startswith("decay")


def largest_gram_constant(inequality: Inequality) -> sp.Expr:
    return gram.largest_constant(inequality, gram.PRINTED_CONSTANT)


# The induction head, where v* is in the range for which C.2 states it.


def head_check(quantity: Quantity) -> Check:
    def stated() -> Stated:
        return theory.head_inequalities()[quantity.name]

    def largest_constant(_: Inequality) -> sp.Expr:
        loss, candidate = head.loss_and_candidate(quantity.name.removeprefix("decay.").removesuffix("_flow"))
        return loss / candidate

    def sides(inputs: Mapping[str, Tensor], w_star: float) -> Sides:
        reason = outside(w_star)
        return Sides(outside=reason) if reason else general.sides(inputs)

    general = certified(quantity, stated, largest_constant if is_decay(quantity) else difference_of, HEAD_PROOFS)
    return replace(general, sides=sides)


def outside(w_star: float) -> str:
    """Why the printed statements say nothing at this point, if so."""
    star, most = as_exact(w_star) ** 2, head.REGION[head.v_star][1]
    given = plain_apart(float(star), float(most))[0]
    return f"`v* = w*^2 = {given}` is above {most}, up to which C.2 states it" if star > most else ""


# A quadratic of the linearisation.


@dataclass(frozen=True)
class Quadratic:
    """The candidate of the linearisation that decays fastest on the region, and the rate that is to be certified."""

    name: str
    sampled: dict[str, float]
    fastest: float
    constant: float
    inequality: Inequality | None

    @property
    def best(self) -> float:
        return self.sampled[self.name]


def quadratic_at(params: Mapping[str, Any]) -> Quadratic:
    """Of the candidates from the linearisation along (12), the one that decays fastest where it does so least."""
    alpha, w_star = (sp.Rational(*Fraction(params[name]).as_integer_ratio()) for name in ("alpha", "w_star"))
    return _quadratic(alpha, w_star)


@lru_cache(maxsize=16)
def _quadratic(alpha: sp.Rational, w_star: sp.Rational) -> Quadratic:
    at = {head.v_star: w_star**2, head.h_star: 1 / (1 + alpha)}
    candidates, fastest = head.candidates("true", at)
    sampled = {}
    for name, P in candidates.items():
        form, V = head.quadratic_decay("true", P, at)
        region = head.quadratic_inequality("true", P, at, sp.Integer(0), name)
        sampled[name] = smallest(written_out(form) / V, region, samples=1 << 14)
    best = max((name for name in candidates if name != "plain"), key=lambda name: sampled[name])
    constant = sp.Rational(f"{SHARE * sampled[best]:.4g}")
    inequality = None
    if constant > 0:
        inequality = head.quadratic_inequality("true", candidates[best], at, constant, f"quadratic (c = {constant})")
    return Quadratic(best, sampled, float(fastest), float(constant), inequality)


def quadratic(alpha: float, w_star: float) -> Sides:
    found = quadratic_at({"alpha": alpha, "w_star": w_star})
    proof = None if found.inequality is None else proved_together([found.inequality])
    values = ", ".join(f"{name} {plain(value)}" for name, value in found.sampled.items())
    words = [
        "" if proof is None else f"{found.name}: {proof.words}",
        f"largest rates found by search: {values}; no rate exceeds `2 mu = {plain(found.fastest)}` at `(v*, h*)`",
    ]
    return Sides(
        measured=found.best,
        derived=found.constant,
        proved=("derived",) if proof is not None and proof.status is Status.PROVED else (),
        remark="; ".join(filter(None, words)),
    )


def head_inequalities(alpha: int | float, w_star: int | float) -> list[Inequality]:
    """Those at every alpha and w_star, and the quadratic one of this point, if there is one."""
    found = quadratic_at({"alpha": alpha, "w_star": w_star}).inequality
    return [*all_of(theory.head_inequalities()), *([] if found is None else [found])]


def all_of(stated: theory.Stated) -> list[Inequality]:
    """The printed ones and ours, each once."""
    named = {each.name: each for printed, ours in stated.values() for each in (*printed, *ours)}
    return list(named.values())


LYAPUNOV_GRAM = Theorem(
    theory.LYAPUNOV_GRAM,
    main="decay",
    checks=tuple(map(gram_check, theory.LYAPUNOV_GRAM.quantities)),
    inequalities=lambda: all_of(theory.gram_inequalities()),
)
LYAPUNOV_HEAD = Theorem(
    theory.LYAPUNOV_HEAD,
    main="decay.printed_flow",
    checks=(
        *(head_check(each) for each in theory.LYAPUNOV_HEAD.quantities if each.name != "quadratic"),
        Check(theory.LYAPUNOV_HEAD.quantity("quadratic"), quadratic),
    ),
    inequalities=head_inequalities,
)
