"""Asymptotic laws as checks of a theorem of one's own: sums whose order and leading term are known."""

import math
from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

import boundsmith as bs
from bridge.judging.laws import AsymptoticLaw
from symbolic.statements.paths import ParameterPath, small
from symbolic.statements.result import Order
from symbolic.words.errors import UsageError

N = sp.Symbol("N", integer=True, positive=True)
scale, half, offset = sp.symbols("scale half offset", positive=True)
LONGER = ParameterPath("`N -> oo`", {N: 1 / small}, (1e-2, 1e-4, 1e-6))
WIDER = ParameterPath("`scale -> oo`", {scale: 1 / small}, (1e-2, 1e-3), {"N": 10**6})


def quantity(bound: sp.Expr, order: Order = Order.THETA, **more: Any) -> bs.statements.Quantity:
    printed = bs.statements.Printed(bound, bs.statements.Citation(None, "eq. (1)"), order=order)
    return bs.statements.Quantity(
        "sum", "S", "the sum of scale/(2k) for k up to N", "absolute value", "N >= 1", bs.statements.Kind.RATE,
        bs.statements.Quantifier.FOR_ALL, printed=printed, scopes=(), **more,
    )  # fmt: skip


def harmonic(point: dict[str, Any]) -> float:
    return point["scale"] / 2 * math.fsum(1 / k for k in range(1, point["N"] + 1))


# The formula has a letter that the parameters give (half) and one that is computed (Euler's constant).
LAW = AsymptoticLaw(
    quantity(scale * sp.log(N)),
    harmonic,
    lambda _: half * (sp.log(N) + offset),
    (LONGER, WIDER),
    letters={half: scale / 2},
    numbers=lambda _: {offset: 0.5772156649},
    remark="the harmonic series",
)


def rows(law: AsymptoticLaw, **params: Any) -> dict[str, Any]:
    stated = bs.theorem("own.sum", parameters={N: 100, scale: 3.0}, checks=law.checks("N", "scale"))
    return {row.construction: row for row in bs.compare(stated, **params)}


def test_the_right_order_is_consistent_along_each_path_and_not_judged_at_a_point() -> None:
    found = rows(LAW)
    assert set(found) == {"at this point", "N -> oo", "scale -> oo"}
    for path in ("N -> oo", "scale -> oo"):
        assert found[path].verdict == {"printed": "consistent", "derived": "consistent"}
    end = found["N -> oo"]
    assert end.params == {"N": 10**6, "scale": 3.0}
    assert end.derived == pytest.approx(1.5 * (math.log(10**6) + 0.5772156649))
    assert end.measured == pytest.approx(end.derived, rel=1e-6)
    ratios = (
        "measured/printed 0.5632 0.5313 0.5209, derived limit 0.5; relative distance to derived at the last point: "
    )
    assert end.remark.startswith(ratios)
    here = found["at this point"]
    assert "printed" not in here.verdict
    assert here.remark.startswith("the harmonic series; the order Theta cannot be judged at one point")


@pytest.mark.parametrize(
    ("bound", "order", "wrong"),
    [
        (scale * N, Order.THETA, "N -> oo"),
        (scale, Order.O, "N -> oo"),
        (sp.log(N), Order.THETA, "scale -> oo"),
        (scale * sp.sqrt(N), Order.OMEGA, "N -> oo"),
    ],
    ids=str,
)
def test_a_wrong_order_is_violated_along_a_path(bound: sp.Expr, order: Order, wrong: str) -> None:
    found = rows(replace(LAW, quantity=quantity(bound, order)))
    assert found[wrong].verdict["printed"] == "violated"
    assert found[wrong].witness is not None


def test_a_formula_that_runs_contradict_decides_nothing() -> None:
    found = rows(replace(LAW, numbers=lambda _: {offset: 5.0}))["N -> oo"]
    assert found.verdict == {"printed": "undecided", "derived": "undecided"}


def test_where_the_formula_does_not_apply_or_nothing_is_reached_nothing_is_judged() -> None:
    found = rows(replace(LAW, inapplicable=lambda _: "no formula here"))
    assert found["N -> oo"].verdict == {"printed": "undecided"}
    assert found["N -> oo"].remark.endswith("at the last point: no formula; no formula here")
    assert found["at this point"].derived is None
    missing = rows(replace(LAW, measure=lambda _: None, unreached="hypothesis that the sum ends is not met"))
    assert missing["at this point"].verdict["printed"] == "outside"
    assert "hypothesis that the sum ends" in missing["at this point"].remark
    assert missing["N -> oo"].verdict == {"printed": "undecided"}


def test_hypotheses_that_a_path_or_its_end_does_not_meet() -> None:
    wrong = replace(LAW, quantity=quantity(scale * N))
    outside = rows(replace(wrong, paths=(replace(LONGER, outside="stated for a fixed N"),)))["N -> oo"]
    assert outside.verdict["printed"] == "outside"
    assert "stated for a fixed N" in outside.remark
    excused = rows(replace(wrong, excuse=lambda at: f"N = {at['N']} is too long"))["N -> oo"]
    assert excused.verdict["printed"] == "outside"
    assert excused.remark.startswith("N = 1000000 is too long")


def test_letters_of_a_path_are_formulas_at_each_of_its_points() -> None:
    """A time 2 N: the sum up to then has the same limit over log(time)."""
    time = sp.Symbol("time", positive=True)
    timed = replace(
        LAW,
        measure=lambda at: harmonic({**at, "N": int(at["time"])}),
        formula=lambda _: half * (sp.log(time) + offset),
        quantity=quantity(scale * sp.log(time)),
        paths=(replace(LONGER, letters=lambda _: {time: 2 * N}),),
        everywhere=False,
    )
    assert [at["time"] for at in timed.points(timed.paths[0], {"N": 1, "scale": 3.0})] == [200, 20_000, 2_000_000]
    stated = bs.theorem("own.sum", parameters={N: 100, scale: 3.0, time: 1.0}, checks=timed.checks("N", "scale"))
    (row,) = bs.compare(stated)
    assert row.verdict == {"printed": "consistent", "derived": "consistent"}
    assert "derived limit 0.5" in row.remark


def test_a_bound_without_a_landau_symbol_is_refused() -> None:
    with pytest.raises(UsageError, match="AsymptoticLaw: 'sum' is not printed inside a Landau symbol"):
        replace(LAW, quantity=quantity(scale, Order.NONE))
