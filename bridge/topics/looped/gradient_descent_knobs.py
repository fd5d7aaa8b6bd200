"""The knobs of Theorem 3.1 (algoformer) for a format: the scale c of scores, and the score C of the sink."""

import math
from collections.abc import Mapping
from typing import Any

from bridge.limits.run import FORMATS
from bridge.theorems.head_formats import held, pair_for
from symbolic.calculus.heads import Second
from symbolic.topics.looped.gradient_descent import GRADIENT_DESCENT as STATEMENT
from symbolic.words.errors import UsageError

PAIRS = tuple(str(each) for each in (Second.CONSTANT, Second.OPPOSITE))


def resolve(params: Mapping[str, Any], seed: int, dtype: str = "float64") -> dict[str, Any]:
    """high, bits, c and C where they are not given. Raises UsageError for a pair or knobs that do not fit."""
    found = {"bits": FORMATS[dtype], **params}
    if found["bits"] != FORMATS[dtype]:
        held = f"bits = {found['bits']}, but {dtype} has {FORMATS[dtype]}"
        raise UsageError(f"{STATEMENT.id}: {held}; leave bits out")
    second = found.get("second", STATEMENT.parameter("second").default)
    if second not in PAIRS:
        raise UsageError(f"{STATEMENT.id}: second = {second!r}; give {' or '.join(PAIRS)}")
    numbers = STATEMENT.numbers(found)
    numbers["high"] = found["high"] = params.get("high", numbers["B_x"] ** 2)
    STATEMENT.check({**numbers, "second": second})
    return {**found, **knobs(second, numbers, params, dtype)}


def knobs(second: str, numbers: Mapping[str, Any], given: Mapping[str, Any], dtype: str) -> dict[str, float]:
    """c and C. Raises UsageError for those that the format does not hold."""
    size = numbers["B_x"] ** 2 / numbers["N"]
    heads = pair_for(second, dtype, keys=2 * numbers["N"] + 1, size=size, width=numbers["d"])
    residuals = math.sqrt(numbers["N"]) * numbers["B_y"]
    return held(STATEMENT.id, heads, dtype, given, values=residuals)
