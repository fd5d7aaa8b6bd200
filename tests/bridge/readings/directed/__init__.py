"""Enclosures at operands chosen by hand: where each way to bound an error is attained, where a value jumps, at edges.

They are the directed part of the random programs (`tests.bridge.readings.soundness`): what a program at random points
comes near to, these reach.
"""

from tests.bridge.readings.directed import bounds, functions, matrices, products, weights
from tests.bridge.readings.directed.case import Directed

CASES: list[Directed] = [each for table in (bounds, functions, matrices, products, weights) for each in table.CASES]
