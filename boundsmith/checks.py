"""Rows and tables of your own: what makes the two sides of a `bs.Check`, and certified numbers for them.

- proofs: certified, Threshold, prove, smallest
- best constants, proved and refuted: largest_constant, supremum, lipschitz, BestConstant
- identities and rates: exact_check, order_sides, AsymptoticLaw, log_slope
- claims of experiments, over seeds: claim_over_seeds
- margins: flip_distance, beside_flip, smallest_flip, coordinate_lines
- inverse problems: Condition, largest_perturbation, PathCost, least_path
- the settings of a run, and a table beside the rows: Run, NamedTable
"""

from bridge.judging.exact_claims import exact_check
from bridge.judging.laws import AsymptoticLaw
from bridge.judging.orders import order_sides
from bridge.judging.seeds import claim_over_seeds
from bridge.limits.run import Run
from bridge.questions.certify import prove
from bridge.questions.certify.checks import certified
from bridge.questions.certify.search import smallest
from bridge.questions.certify.thresholds import Threshold
from bridge.questions.constants import BestConstant, largest_constant, lipschitz, supremum
from bridge.theorems.record import NamedTable
from bridge.topics.tools.inversion import Condition, largest_perturbation
from bridge.topics.tools.least_path import PathCost, least_path
from bridge.topics.tools.margins import beside_flip, flip_distance
from numeric.tools.flips import coordinate_lines, smallest_flip
from numeric.tools.slopes import log_slope

__all__ = [
    "certified",
    "Threshold",
    "prove",
    "smallest",
    "largest_constant",
    "supremum",
    "lipschitz",
    "BestConstant",
    "exact_check",
    "order_sides",
    "AsymptoticLaw",
    "log_slope",
    "claim_over_seeds",
    "flip_distance",
    "beside_flip",
    "smallest_flip",
    "coordinate_lines",
    "Condition",
    "largest_perturbation",
    "PathCost",
    "least_path",
    "Run",
    "NamedTable",
]
