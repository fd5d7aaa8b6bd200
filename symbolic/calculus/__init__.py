"""The error calculus: small rules that take approximated values to new ones, each with its proof above it.

Every rule returns a new `Approximated`, whose derivation has one more step. A rule that attains equality is sharp, and
its test contains the case. A rule that is not sharp is marked `sharp=False` and states its largest known ratio.
`python -m benchmarks.sharpness` lists, for each rule and pair of norms, how closely the bound is attained.
"""

from symbolic.calculus.accumulation import accumulate
from symbolic.calculus.cases import either
from symbolic.calculus.concentration import cover, expected_mean, sample_mean, union_bound
from symbolic.calculus.counting import (
    Columns,
    CountedAttention,
    CountedConstruction,
    Heads,
    Multiplication,
    Perceptron,
    counted,
)
from symbolic.calculus.cut_softmax import cut_softmax
from symbolic.calculus.descent import Descent, descent_lemma, gradient_descent
from symbolic.calculus.evolution import evolve
from symbolic.calculus.families import stack
from symbolic.calculus.functions import apply_function
from symbolic.calculus.geometric import geometric_sum
from symbolic.calculus.girsanov import girsanov
from symbolic.calculus.head_matrices import heads_as_matrix
from symbolic.calculus.heads import heads_as_linear
from symbolic.calculus.invariants import (
    Invariant,
    MonotoneRecursion,
    confine,
    finite_depth,
    invariant_interval,
    largest_range,
    values_on,
)
from symbolic.calculus.iterations import QuadraticRecursion, contract, contraction_steps, converge, descend
from symbolic.calculus.knobs import Knob, cheapest_split, knob_for, minimise
from symbolic.calculus.layers import iterate, recursion_from
from symbolic.calculus.linear import linear_map
from symbolic.calculus.linear_softmax import softmax_as_linear
from symbolic.calculus.log_softmax import cross_entropy, log_softmax
from symbolic.calculus.nonexpansive import project, soft_threshold
from symbolic.calculus.normalisation import rms_normalise
from symbolic.calculus.pairs import apply_to_pairs
from symbolic.calculus.perturbations import correct, largest_safe, perturbed_function, perturbed_map, pool, pooled_sum
from symbolic.calculus.products import bilinear
from symbolic.calculus.proximal import ProximalSteps, bounded_iterates, proximal_gradient
from symbolic.calculus.recursions import CoupledRecursion, LinearRecursion, recur
from symbolic.calculus.repetition import repeat
from symbolic.calculus.rotations import rotate
from symbolic.calculus.shares import best_shares, within_budget
from symbolic.calculus.softmax import attend, concentrate, exclude, hard_max, softmax, softmax_to_hard_max
from symbolic.calculus.sums import add, as_tokens, change_norm, concatenate, mean
from symbolic.calculus.taylor import line_at_zero, taylor
from symbolic.calculus.tokens import append, centre, token
from symbolic.derivations.derivation import Approximated, Derivation, DerivationError, Norm, Obligation, Step, given
from symbolic.derivations.events import Event

__all__ = [
    "accumulate",
    "Approximated",
    "CountedAttention",
    "Columns",
    "CountedConstruction",
    "CoupledRecursion",
    "Derivation",
    "DerivationError",
    "Descent",
    "Event",
    "Heads",
    "Invariant",
    "Knob",
    "LinearRecursion",
    "MonotoneRecursion",
    "Multiplication",
    "Norm",
    "Obligation",
    "Perceptron",
    "ProximalSteps",
    "QuadraticRecursion",
    "Step",
    "add",
    "apply_function",
    "apply_to_pairs",
    "append",
    "as_tokens",
    "attend",
    "best_shares",
    "bilinear",
    "bounded_iterates",
    "change_norm",
    "centre",
    "cheapest_split",
    "concatenate",
    "concentrate",
    "confine",
    "contract",
    "contraction_steps",
    "converge",
    "correct",
    "counted",
    "cover",
    "cross_entropy",
    "cut_softmax",
    "descend",
    "descent_lemma",
    "either",
    "evolve",
    "exclude",
    "expected_mean",
    "finite_depth",
    "geometric_sum",
    "girsanov",
    "given",
    "gradient_descent",
    "hard_max",
    "heads_as_linear",
    "heads_as_matrix",
    "invariant_interval",
    "iterate",
    "knob_for",
    "largest_range",
    "largest_safe",
    "line_at_zero",
    "linear_map",
    "log_softmax",
    "mean",
    "minimise",
    "perturbed_function",
    "perturbed_map",
    "pool",
    "pooled_sum",
    "project",
    "proximal_gradient",
    "recur",
    "recursion_from",
    "repeat",
    "rms_normalise",
    "rotate",
    "sample_mean",
    "soft_threshold",
    "softmax",
    "softmax_as_linear",
    "softmax_to_hard_max",
    "stack",
    "taylor",
    "token",
    "union_bound",
    "values_on",
    "within_budget",
]
