"""Orders in 1/n of a difference between two formulas, or a formula and a run, read off several sizes n."""

import math
from collections.abc import Callable, Mapping
from statistics import linear_regression

from bridge.theorems.check import Sides
from bridge.theorems.numbers import plain
from symbolic.derivations.exact_numbers import as_count, as_float
from symbolic.words.errors import UsageError

TOLERANCE = 0.4  # of an order: the next terms shift it at small sizes
DERIVED = ("derived",)


def order_sides(
    order: int,
    gaps: Mapping[int, float],
    words: Callable[[int], str] = lambda n: f"`n = {n}`",
    *,
    nothing: str = "no order: a difference is 0",
    proved: bool = False,
    seen: bool = False,
) -> Sides:
    """The order k of a difference of size c n^-k, by least squares in log n over all `gaps`.

    A stated order is supported if it is within TOLERANCE of that, and if gap n^order, over all sizes, varies by no more
    than a factor of (largest n / smallest n)^TOLERANCE, which for two sizes is the same. It is then
    proved if `proved`, computed if `seen`, which is to say that each gap is larger than its error. `words` names a size
    in the remark. Where a gap is 0 or not finite nothing is read off; the remark is then `nothing`, or says which one
    it is.

    Raises UsageError for fewer than two sizes, for one that is not a whole number and for a gap that is not a number.
    """
    if not isinstance(gaps, Mapping) or len(gaps) < 2:
        raise UsageError(
            f"order_sides: got the sizes {list(gaps) if isinstance(gaps, Mapping) else gaps!r:.80}; give differences "
            f"at two or more sizes n > 0, such as {{8: 0.5, 16: 0.25}}"
        )
    if not callable(words):
        raise UsageError(f"order_sides: words = {words!r:.80}; give a function from a size to words")
    stated = as_float("order_sides", "order", order)
    sizes = {as_count("order_sides", "a size", n): _as_float(n, gap) for n, gap in gaps.items()}
    if wild := [n for n, gap in sizes.items() if not math.isfinite(gap)]:
        return Sides(derived=order, remark=f"no order: the difference at {words(wild[0])} is not finite")
    if not all(sizes.values()):
        return Sides(derived=order, remark=nothing)
    x, y = [math.log(n) for n in sizes], [math.log(abs(gap)) for gap in sizes.values()]
    constants = [height + stated * at for at, height in zip(x, y, strict=True)]  # log(gap n^order)
    measured, steady = -linear_regression(x, y).slope, max(constants) - min(constants) <= TOLERANCE * (max(x) - min(x))
    near = DERIVED if steady and abs(measured - stated) <= TOLERANCE else ()
    return Sides(
        measured=measured,
        derived=order,
        proved=near if proved else (),
        computed=near if seen else (),
        remark=", ".join(f"{plain(gap)} at {words(n)}" for n, gap in sizes.items()),
    )


def _as_float(n: int, gap: float) -> float:
    name = f"the difference at {n}"
    return gap if isinstance(gap, float) else as_float("order_sides", name, gap)
