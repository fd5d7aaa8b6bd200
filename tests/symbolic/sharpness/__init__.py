"""How closely each rule of the calculus is attained, in each pair of norms: `python -m benchmarks.sharpness`.

`maps`, `weights`, `runs` and `draws` have a case of equality, or near it, of each rule for every pair of norms that it
accepts; `regions` has parameters at which no case is known that attains a bound, and searches for the closest.
"""

from tests.symbolic.sharpness import draws, maps, runs, weights
from tests.symbolic.sharpness.attaining import Attained, Attaining, attained

ATTAINING: tuple[Attaining, ...] = (*maps.ATTAINING, *weights.ATTAINING, *runs.ATTAINING, *draws.ATTAINING)

__all__ = ["ATTAINING", "Attained", "Attaining", "attained"]
