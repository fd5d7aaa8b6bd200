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
    "bridge.lowering.accuracies": ("accuracies_within",),
    "bridge.lowering.activations": ("activation_formula", "activation_supremum", "loss_formula", "loss_supremum"),
    "bridge.theorems.theorem": ("Theorem",),
    "bridge.theorems.building": ("theorem",),
    "bridge.theorems.parts": ("AtPoint", "ExactRuns", "InputSearch", "Knobs", "Refuting"),
    "bridge.theorems.transformer": ("Transformer",),
    "bridge.theorems.check": ("Check", "Sides"),
    "bridge.questions.certify.checks": ("certified",),
    "bridge.lowering.ball_values": ("evaluate_ball",),
    "bridge.limits.cost": ("Work",),
    "bridge.limits.run": ("Run",),
    "bridge.topics.tools.inversion": ("Condition", "largest_perturbation"),
    "bridge.topics.tools.least_path": ("PathCost", "least_path"),
    "bridge.lowering.least_value": ("least_of", "least_value"),
    "bridge.topics.tools.margins": ("beside_flip", "flip_distance"),
    "bridge.judging.exact_claims": ("exact_check",),
    "bridge.topics.tools.flows": ("JoinedTrajectory", "Trajectory", "follow"),
    "bridge.lowering.formula": ("ArrayFunction", "evaluate"),
    "bridge.judging.orders": ("order_sides",),
    "bridge.theorems.pair": ("Pair",),
    "bridge.readings": ("Emulated", "Smooth", "at"),
    "bridge.limits.files": ("ShippedFiles", "read_text"),
    "bridge.limits.notations": ("Complaints", "numbered_lines", "placed_words"),
    "bridge.theorems.texts": ("Text",),
    "bridge.questions.steps": ("steps",),
    "bridge.domains": (
        *("Ball", "Box", "Concatenated", "Domain", "Integers", "Product", "Rows", "Signs", "Simplex"),
        *("SingularValues", "Sphere"),
    ),
    "bridge.domains.layered": ("layered_box",),
    "bridge.lowering.relu_accuracies": ("ReluTarget", "most_relus", "relu_costs"),
    "bridge.lowering.relu_sums": ("interpolate", "interpolate_covering"),
    "bridge.theorems.sources": ("Predicted", "Prediction", "Series", "Tabular", "Textual"),
    "bridge.theorems.sources.byte_signs": ("byte_signs", "embedded_bytes", "nearest_bytes"),
    "bridge.questions.compare": ("compare", "replay"),
    "bridge.questions.solve": ("solve",),
    "bridge.questions.certify.certifying": ("certify",),
    "bridge.questions.certify.obligations": ("discharge",),
    "bridge.questions.certify.thresholds": ("Threshold",),
    "bridge.judging.laws": ("AsymptoticLaw",),
    "bridge.lowering": ("lower",),
    "bridge.export.comparison": ("Comparison",),
    "bridge.theorems.record": ("Verdict",),
    "numeric.networks.construction": (
        "Construction",
        "Embedding",
        "AttentionTap",
        "OutputTap",
        "ScoresTap",
        "StreamTap",
    ),
    "numeric.tools.flips": ("coordinate_lines", "smallest_flip"),
    "numeric.networks.layers": (
        *("Causal", "FeedForward", "Head", "LinearAttention", "RelativePositions", "ReluAttention"),
        "SoftmaxAttention",
    ),
    "numeric.networks.feed_forward": ("Multiply", "Select", "clear", "require_ranges", "terms_layer"),
    "numeric.networks.loops": ("Looped", "looped"),
    "numeric.networks.maps": ("BlockMap", "LowRank"),
    "numeric.networks.products": ("accurate_product", "product_sum"),
    "numeric.tools.slopes": ("log_slope",),
    "numeric.networks.sinks": ("Sink", "linear_heads"),
    "numeric.networks.stream": ("Block", "Stream"),
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
    "symbolic.statements.errata": ("Erratum", "Weight"),
    "symbolic.derivations.events": ("Event",),
    "symbolic.statements.exact_claims": ("ExactClaim",),
    "symbolic.derivations.inequalities": ("Inequality",),
    "symbolic.derivations.obligations": ("DerivationError",),
    "symbolic.statements.paths": ("ParameterPath", "small"),
    "symbolic.statements.result": ("Order",),
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
