"""AR(q) on a series: the network of algoformer's Theorem 3.2 on its first values, predictions of the last ones.

Bounds are about series in [-B, B] and steps eta <= 2 / (q B^2). Here the step is longer, by the data: none is stated.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from bridge.limits.cost import Work
from bridge.theorems.record import NamedTable
from bridge.theorems.sources import Prediction, ScaledSeries, Series
from bridge.topics.looped.copies import signs, signs_cost
from bridge.topics.looped.series import HELD, LAGS, TITLES, SeriesFit, by_order, knobs, step
from numeric.balls.digits import apart
from symbolic.topics.looped.autoregression import AUTOREGRESSION as STATEMENT
from symbolic.words.errors import UsageError

LOOPS = 500


def suited(q: int, data: ScaledSeries) -> dict[str, float]:
    return {"eta": step(data, int(q)), "B": data.largest}


def require(L: int, d: int, T: int, B: float, data: ScaledSeries) -> None:
    """Raises UsageError for parameters that do not fit the series."""
    wrong = []
    if T < 1:
        wrong.append(f"T = {T}; take a loop at least")
    if L or d != 1:
        wrong.append(f"L = {L} and d = {d}, but a series is fitted as it is; leave out L and d")
    if data.largest > B:
        found, given = apart(data.largest, B)
        wrong.append(f"B = {given}, but the series, scaled by its first values, reaches {found}; leave B out")
    if wrong:
        raise UsageError(f"{STATEMENT.id}: {'; '.join(wrong)}")


def implied(
    q: int, eps: float, accuracy: float, B: float, given: Mapping[str, Any], data: ScaledSeries
) -> Mapping[str, float]:
    """The knobs of AR(q)."""
    return {**knobs(data, q, eps, accuracy, B), **chosen(given)}


def chosen(given: Mapping[str, Any]) -> dict[str, float]:
    return {name: given[name] for name in ("beta", "c", "C") if name in given}


def fits(
    q: int, T: int, eta: float, eps: float, accuracy: float, B: float, m: int, given: Mapping[str, Any],
    data: ScaledSeries, seed: int,
) -> list[SeriesFit]:  # fmt: skip
    """AR(1), ..., AR(q), each with its own knobs."""
    positions = signs(len(data.x), q, eps, m, seed)
    return [
        SeriesFit(data, lags, T, eta, positions, B, {**knobs(data, lags, eps, accuracy, B), **chosen(given)})
        for lags in range(1, q + 1)
    ]


def of_orders(fits: Sequence[SeriesFit], data: ScaledSeries) -> NamedTable:
    last = fits[-1]
    return by_order(f"AR(q) on {data.source}: T = {last.T}, eta = {last.eta:.4g} on the scaled series", fits)


def coefficients(fits: Sequence[SeriesFit]) -> NamedTable:
    last = fits[-1]
    pairs = zip(*(last.coefficients(name).tolist() for name in TITLES), strict=True)
    return NamedTable(
        title=f"coefficients of `AR({last.q})`",
        columns=["lag", *TITLES.values()],
        rows=[[lag, *each] for lag, each in enumerate(pairs, start=1)],
    )


SERIES = Series(
    "N", "q", HELD,
    defaults={"q": LAGS, "T": LOOPS, "L": 0, "d": 1},
    suggested=suited,
    implied=implied,
    require=require,
    built={"fits": fits},
    predictions=(
        Prediction("network", "transformer", lambda fits: fits[-1].network),
        Prediction("exact", "exact gradient descent", lambda fits: fits[-1].descent),
        Prediction("least_squares", "least squares", lambda fits: fits[-1].least_squares),
    ),
    tables=(of_orders, coefficients),
    work=lambda N, q, eps, m: Work(before=signs_cost(N, q, eps, m)),
    float64=True,
)  # fmt: skip
