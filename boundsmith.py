"""boundsmith in scripts and notebooks: `import boundsmith as bs`.

The public names of the three floors, imported on first use. `bs.theorem` states a theorem of your own; `bs.compare`,
`bs.solve` and `bs.certify` take it, the id of a result (`boundsmith list`), or a file with a theorem.
"""

import functools
import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

_HOMES = {
    "bridge.accuracies": ("accuracies_within",),
    "bridge.activations": ("activation_formula", "activation_supremum", "loss_formula", "loss_supremum"),
    "bridge.theorem": ("Theorem",),
    "bridge.theorem_building": ("theorem",),
    "bridge.theorem_parts": ("AtPoint", "ExactRuns", "InputSearch", "Knobs", "Refuting"),
    "bridge.transformer": ("Transformer",),
    "bridge.check": ("Check", "Sides"),
    "bridge.certify.checks": ("certified",),
    "bridge.balls": ("evaluate_ball",),
    "bridge.limits.run": ("Run",),
    "bridge.inversion": ("Condition", "largest_perturbation"),
    "bridge.least_path": ("PathCost", "least_path"),
    "bridge.least_value": ("least_of", "least_value"),
    "bridge.margins": ("beside_flip", "flip_distance"),
    "bridge.exact_claims": ("exact_check",),
    "bridge.flows": ("JoinedTrajectory", "Trajectory", "follow"),
    "bridge.formula": ("ArrayFunction", "evaluate"),
    "bridge.orders": ("order_sides",),
    "bridge.pair": ("Pair",),
    "bridge.readings": ("Emulated", "Smooth", "at"),
    "bridge.files": ("ShippedFiles", "read_text"),
    "bridge.notations": ("Complaints", "numbered_lines", "placed_words"),
    "bridge.texts": ("Text",),
    "bridge.theorem_steps": ("steps",),
    "bridge.domains": (
        *("Ball", "Box", "Concatenated", "Domain", "Integers", "Product", "Rows", "Signs", "Simplex"),
        *("SingularValues", "Sphere"),
    ),
    "bridge.domains.layered": ("layered_box",),
    "bridge.relu_accuracies": ("ReluTarget", "most_relus", "relu_costs"),
    "bridge.relu_sums": ("interpolate", "interpolate_covering"),
    "bridge.sources": ("Predicted", "Prediction", "Series", "Tabular", "Textual"),
    "bridge.sources.byte_signs": ("byte_signs", "embedded_bytes", "nearest_bytes"),
    "bridge.comparison": ("compare", "replay"),
    "bridge.inverse": ("solve",),
    "bridge.certify.certifying": ("certify",),
    "bridge.certify.obligations": ("discharge",),
    "bridge.certify.thresholds": ("Threshold",),
    "bridge.laws": ("AsymptoticLaw",),
    "bridge.lowering": ("lower",),
    "bridge.export.comparison": ("Comparison",),
    "bridge.record": ("Verdict",),
    "numeric.construction": ("Construction", "Embedding", "AttentionTap", "OutputTap", "ScoresTap", "StreamTap"),
    "numeric.flips": ("coordinate_lines", "smallest_flip"),
    "numeric.layers": (
        *("Causal", "FeedForward", "Head", "LinearAttention", "RelativePositions", "ReluAttention"),
        "SoftmaxAttention",
    ),
    "numeric.feed_forward": ("Multiply", "Select", "clear", "require_ranges", "terms_layer"),
    "numeric.loops": ("Looped", "looped"),
    "numeric.maps": ("BlockMap", "LowRank"),
    "numeric.products": ("accurate_product", "product_sum"),
    "numeric.slopes": ("log_slope",),
    "numeric.sinks": ("Sink", "linear_heads"),
    "numeric.stream": ("Block", "Stream"),
    "symbolic": (
        *("Approximated", "Citation", "Derivation", "Hypothesis", "Kind", "Norm", "Paper", "Parameter", "Printed"),
        *("Quantifier", "Quantity", "Result", "UsageError", "results"),
    ),
    "symbolic.calculus": (
        *("accumulate", "add", "apply_function", "attend", "best_shares", "bilinear", "bounded_iterates"),
        *("change_norm", "cheapest_split", "concatenate", "concentrate"),
        *("confine", "contract", "converge", "correct", "cover", "descend", "descent_lemma", "either", "evolve"),
        *("exclude", "expected_mean", "given", "gradient_descent", "hard_max", "heads_as_linear", "heads_as_matrix"),
        *("iterate", "knob_for", "line_at_zero"),
        *("linear_map", "mean", "minimise", "sample_mean", "union_bound", "within_budget"),
        *("perturbed_function", "perturbed_map", "pool", "pooled_sum", "project", "proximal_gradient"),
        *("recur", "recursion_from", "repeat"),
        *("soft_threshold", "softmax", "softmax_as_linear", "softmax_to_hard_max", "stack", "taylor"),
    ),
    "symbolic.dynamics": ("Flow", "gradient_flow"),
    "symbolic.errata": ("Erratum", "Weight"),
    "symbolic.events": ("Event",),
    "symbolic.exact_claims": ("ExactClaim",),
    "symbolic.inequalities": ("Inequality",),
    "symbolic.obligations": ("DerivationError",),
    "symbolic.paths": ("ParameterPath", "small"),
    "symbolic.statements": ("Order",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)


FLOORS = ("symbolic", "numeric", "bridge")


@functools.cache
def require_own_floors() -> None:
    """Raises ImportError where another package or a file of the user's has the name of one of the three floors."""
    here = Path(__file__).resolve().parent
    for floor in FLOORS:
        spec = importlib.util.find_spec(floor)
        if spec is None or spec.origin is None:
            raise ImportError(f"boundsmith: there is no package '{here / floor}'; install boundsmith again")
        if Path(spec.origin).resolve() != here / floor / "__init__.py":
            raise ImportError(
                f"boundsmith: '{spec.origin}' shadows the package '{floor}' of boundsmith in '{here}'; rename that "
                f"file or folder, uninstall that package, or put '{here}' before it in PYTHONPATH"
            )


def main() -> int:
    """The command `boundsmith`."""
    try:
        require_own_floors()
    except ImportError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    from bridge.cli import main

    return main()


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'boundsmith' has no attribute {name!r}")
    require_own_floors()
    return getattr(importlib.import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return __all__
