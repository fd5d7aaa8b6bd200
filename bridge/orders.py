"""Orders in 1/n of a difference between two formulas, or a formula and a run, read off several sizes n."""

import math
from collections.abc import Callable, Mapping

from bridge.check import Sides
from bridge.export.numbers import plain
from symbolic.statements import UsageError

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
    """The order k of a difference of size c n^-k, read off between the smallest and the largest n of `gaps`.

    A stated order that is within TOLERANCE of it is supported: proved if `proved`, computed if `seen`, which is to say
    that each gap is larger than its error. `words` names a size in the remark. Where a gap is 0 nothing is read off,
    and the remark is `nothing`. Raises UsageError for fewer than two sizes.
    """
    if len(gaps) < 2 or min(gaps) <= 0:
        raise UsageError(f"order_sides: got the sizes {sorted(gaps)}; give differences at two or more sizes n > 0")
    if not all(gaps.values()):
        return Sides(derived=order, remark=nothing)
    small, large = min(gaps), max(gaps)
    measured = math.log(abs(gaps[small] / gaps[large])) / math.log(large / small)
    near = DERIVED if abs(measured - order) <= TOLERANCE else ()
    return Sides(
        measured=measured,
        derived=order,
        proved=near if proved else (),
        computed=near if seen else (),
        remark=", ".join(f"{plain(gap)} at {words(n)}" for n, gap in gaps.items()),
    )
