"""Which of C.2's bounds (wang2024) hold from every small enough start, and which fail: in balls, without a run."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import sympy as sp
import torch

from bridge.balls import as_exact, evaluate_ball
from bridge.certify.proving import Outcome, Status, prove
from bridge.export.layout import value_words
from bridge.export.numbers import plain
from bridge.record import Row, Verdict, Witness
from bridge.rows import direct_row
from bridge.study import DirectCase, Inputs
from symbolic.induction import head_limits as theory
from symbolic.induction import signs
from symbolic.induction.training import t, w_star
from symbolic.induction.trends import TRENDS
from symbolic.statements import Kind, Quantity, UsageError

GRAIN = 10_000  # thresholds in w* are given to 1/GRAIN


# ---- For every start that is small enough: in balls


def limit_row(case: DirectCase, limit: theory.Limit, time: float) -> Row:
    """A printed bound against the comparisons that enclose the flow while w <= 0.01 w*, in balls, at one time."""
    balls = {symbol: as_exact(value) for symbol, value in {**case.values, t: time}.items()}
    excess, small = (evaluate_ball(each, balls) for each in (limit.excess, signs.STILL_SMALL))
    printed, side = (float(evaluate_ball(each, balls)) for each in (limit.printed, limit.side))
    quantity = limit_quantity(limit)
    where = f"at {_words(limit.params)}, t = {plain(time / (case.params['L'] - 2))} (L-2)"
    if not (excess > 0 and small > 0):
        remark = f"{where}: the comparisons do not decide here"
        return direct_row(case, quantity, {"printed": Verdict.UNDECIDED}, printed=printed, remark=remark)
    witness = Witness(
        result=case.result.id,
        quantity=limit.name,
        params=case.full_params,
        inputs={"t": [time]},
        error_lower=side,
        bounds={"printed": printed},
    )
    verdict = {"printed": Verdict.VIOLATED}
    return direct_row(case, quantity, verdict, printed=printed, measured=side, remark=where, witness=witness, params={})


_AT_T_1 = "h/h* at the printed bound on T_1^h"
_SUBJECTS = {"h.ramp": "h/h* at a fixed time t from a fixed small sigma_init", "T_1": _AT_T_1, "T_1.simple": _AT_T_1}


def _subject(limit: theory.Limit) -> str:
    return _SUBJECTS.get(limit.of, "log(w/sigma_init) at a fixed time t from a fixed small sigma_init")


def limit_quantity(limit: theory.Limit) -> Quantity:
    stated = TRENDS.quantity(limit.of)
    side, proved, claimed = (
        ("lower", "at least", "at most") if limit.kind is Kind.UPPER else ("upper", "at most", "at least")
    )
    return replace(
        stated,
        name=limit.name,
        kind=limit.kind,
        meaning=f"{_subject(limit)}; column measured: a proved {side} bound on this value",
        finding=f"{_subject(limit)} is {proved} {{found}}; printed: {claimed} {{printed}}",
        norm="in balls",
        domain="one start and one time",
        remark="",
    )


def _words(params: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value_words(value)}" for name, value in params.items())


def time_of(inputs: Inputs) -> float:
    if set(inputs) != {"t"} or inputs["t"].numel() != 1 or not bool(torch.isfinite(inputs["t"]).all()):
        raise UsageError(
            f"induction.trends: a witness of a limit holds one time t, but {', '.join(inputs) or 'nothing'} came"
        )
    return float(inputs["t"].flatten()[0])


# ---- For which w* a bound holds: certified thresholds


@cache
def threshold(claim: str) -> tuple[sp.Rational, sp.Rational]:
    """The claim is proved for w* up to the first number, its opposite from the second on."""
    kept, broken = theory.CLAIMS[claim]
    low, _ = _crossing(kept)
    _, high = _crossing(broken)
    return low, high


def _crossing(expression: sp.Expr) -> tuple[sp.Rational, sp.Rational]:
    """Neighbours on the grid of 1/GRAIN between which the sign changes from + to -, by bisection with balls."""
    low, high = 0, int(theory.W_TOP * GRAIN)

    def positive(place: int) -> bool:
        return bool(evaluate_ball(expression, {w_star: Fraction(place, GRAIN)}) > 0)

    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if positive(middle) else (low, middle)
    return sp.Rational(low, GRAIN), sp.Rational(high, GRAIN)


@cache
def threshold_proofs(claim: str) -> tuple[Outcome, Outcome]:
    first, second = theory.stated_inequalities(*threshold(claim), claim)
    return prove(first), prove(second)


def threshold_row(case: DirectCase, claim: str) -> Row:
    """How far in w* the claim is proved; printed is the domain for which the paper states it, if it does."""
    holds, fails = (float(each) for each in threshold(claim))
    proofs = threshold_proofs(claim)
    proved = all(outcome.status is Status.PROVED for outcome in proofs)
    quantity = theory.threshold_quantity(claim)
    printed = None if quantity.printed is None else float(case.ball(quantity.printed.bound))
    verdict = {"derived": Verdict.PROVED if proved else Verdict.UNDECIDED}
    if printed is not None:
        beyond = proved and printed > fails
        verdict["printed"] = (
            Verdict.VIOLATED if beyond else Verdict.PROVED if proved and printed <= holds else Verdict.UNDECIDED
        )
    witness = None
    if verdict.get("printed") is Verdict.VIOLATED:
        witness = Witness(
            result=case.result.id,
            quantity=claim,
            params=case.full_params,
            inputs={},
            error_lower=fails,
            bounds={"printed": printed or 0.0},
        )
    remark = f"{range_words(claim)} ({sum(o.boxes for o in proofs)} boxes)"
    return direct_row(
        case,
        quantity,
        verdict,
        printed=printed,
        derived=holds,
        measured=fails,
        remark=remark,
        params={},
        witness=witness,
    )


def range_words(claim: str) -> str:
    holds, fails = (plain(float(each)) for each in threshold(claim))
    return f"proved for w* <= {holds}, false for w* >= {fails}"


def outside_26(w_star: float) -> str:
    """Why (26) does not apply at this w*; "" where it is proved."""
    holds, fails = threshold("h.overshoot.line")
    if w_star <= holds:
        return ""
    least, here = plain(float(fails)), f"here w* = {plain(w_star)}"
    if w_star >= fails:
        return (
            f"hypothesis w* < c of (26), with some c > 0, is not met: from small starts (26) is false for every "
            f"w* >= {least}, so that c <= {least}; {here}"
        )
    return (
        f"hypothesis w* < c of (26), with some c > 0, is neither shown nor refuted: from small starts (26) is "
        f"{range_words('h.overshoot.line')}; {here}"
    )


def scaling_row(case: DirectCase) -> Row:
    """That L enters by the unit of time alone: an identity of the calculus."""
    quantity = theory.scaling_quantity()
    return direct_row(case, quantity, {"derived": Verdict.PROVED if signs.scaling() else Verdict.UNDECIDED}, params={})
