"""What can be compared: a theorem as a value, the id of a result, a Python file. Topics register their studies here."""

from functools import cache
from importlib import import_module

from bridge.study import Study
from bridge.theorem import Theorem
from bridge.theorem_files import is_file, read_theorem
from bridge.theorem_study import TheoremStudy
from symbolic.catalogue import find_result

Source = str | Theorem | Study

# Each is imported on first use.
PLACES = {
    "icgd.gradient": ("icgd.gradient", "GRADIENT"),
    "icgd.relu_sum": ("icgd.relu_sum", "RELU_SUM"),
    "icgd.forward": ("icgd.study", "StepStudy"),
    "icgd.derivative": ("icgd.study", "StepStudy"),
    "icgd.loss_gradient": ("icgd.study", "StepStudy"),
    "icgd.backward": ("icgd.study", "StepStudy"),
    "icgd.step": ("icgd.study", "StepStudy"),
    "icgd.dimensions": ("icgd.study", "StepStudy"),
    "icgd.trajectory": ("icgd.trajectory", "TrajectoryStudy"),
    "induction.vanilla": ("induction.vanilla", "VanillaStudy"),
    "induction.first_stage": ("induction.first_stage", "FirstStageStudy"),
    "induction.balance": ("induction.balance", "BalanceStudy"),
    "induction.losses": ("induction.losses", "LossesStudy"),
    "induction.fixed_point": ("induction.fixed_point", "FixedPointStudy"),
    "induction.trends": ("induction.trends", "TrendsStudy"),
    "induction.karamata": ("induction.karamata", "KaramataStudy"),
    "induction.phases": ("induction.phases", "PhasesStudy"),
    "induction.lyapunov_gram": ("induction.lyapunov", "LyapunovGramStudy"),
    "induction.lyapunov_head": ("induction.lyapunov", "LyapunovHeadStudy"),
    "induction.figure2": ("induction.figure2", "Figure2Study"),
    "machines.approximation": ("machines.approximation", "ApproximationStudy"),
    "machines.circuit": ("machines.circuit", "CircuitStudy"),
    "machines.rounding": ("machines.rounding", "RoundingStudy"),
    "machines.margin": ("machines.margin", "MarginStudy"),
    "machines.sample_complexity": ("machines.sample_complexity", "SampleComplexityStudy"),
    "machines.turing": ("machines.turing", "TuringStudy"),
    "machines.turing_margin": ("machines.turing_margin", "TuringMarginStudy"),
}
OF_SEVERAL = ("StepStudy",)  # studies of several results; each takes the id of its result


@cache
def studies() -> dict[str, Study]:
    """Every Study by the id of its Result."""
    return {id: find_study(id) for id in PLACES}


def find_study(source: Source) -> Study:
    """The study of a theorem, of the theorem in a file, or of the result of an id.

    Raises UsageError for an id that is unknown (with the nearest ones) or planned, and for a file without a theorem.
    """
    if isinstance(source, Study):
        return source
    if isinstance(source, Theorem):
        return TheoremStudy(source)
    return TheoremStudy(read_theorem(source)) if is_file(source) else _registered(source)


@cache
def _registered(result_id: str) -> Study:
    result = find_result(result_id)
    module, name = PLACES[result.id]
    kind = getattr(import_module(f"bridge.{module}"), name)
    if isinstance(kind, Theorem):
        return TheoremStudy(kind)
    study: Study = kind(result) if name in OF_SEVERAL else kind()
    return study
