"""What can be compared: a theorem as a value, the id of a result of ours or of a package's theorem, a Python file.

Topics register their studies here.
"""

from functools import cache
from importlib import import_module

from bridge.packages import find_packaged, require_unclaimed
from bridge.study import Study
from bridge.theorem import Theorem
from bridge.theorem_files import is_file, read_theorem
from bridge.theorem_study import TheoremStudy
from symbolic.catalogue import find_result, is_claimed
from symbolic.statements import UsageError

TheoremLike = str | Theorem | Study

# A Theorem, or a kind of Study. Each is imported on first use.
PLACES = {
    "icgd.gradient": ("icgd.gradient", "GRADIENT"),
    "icgd.relu_sum": ("icgd.relu_sum", "RELU_SUM"),
    "icgd.forward": ("icgd.step", "FORWARD"),
    "icgd.derivative": ("icgd.step", "DERIVATIVE"),
    "icgd.loss_gradient": ("icgd.step", "LOSS_GRADIENT"),
    "icgd.backward": ("icgd.step", "BACKWARD"),
    "icgd.step": ("icgd.step", "STEP"),
    "icgd.dimensions": ("icgd.step", "DIMENSIONS"),
    "icgd.trajectory": ("icgd.trajectory", "TRAJECTORY"),
    "induction.vanilla": ("induction.vanilla", "VANILLA"),
    "induction.first_stage": ("induction.first_stage", "FIRST_STAGE"),
    "induction.balance": ("induction.balance", "BALANCE"),
    "induction.losses": ("induction.losses", "LOSSES"),
    "induction.fixed_point": ("induction.fixed_point", "FIXED_POINT"),
    "induction.trends": ("induction.trends", "TRENDS"),
    "induction.karamata": ("induction.karamata", "KARAMATA"),
    "induction.phases": ("induction.phases", "PHASES"),
    "induction.lyapunov_gram": ("induction.lyapunov", "LYAPUNOV_GRAM"),
    "induction.lyapunov_head": ("induction.lyapunov", "LYAPUNOV_HEAD"),
    "induction.figure2": ("induction.figure2", "FIGURE2"),
    "universal.barron": ("universal.barron", "BARRON"),
    "universal.covering": ("universal.covering", "COVERING"),
    "universal.sigmoid": ("universal.sigmoid", "SIGMOID"),
    "universal.lasso": ("universal.lasso", "LASSO"),
    "universal.proximal": ("universal.proximal", "PROXIMAL"),
    "universal.features": ("universal.features", "FEATURES"),
    "universal.transformer": ("universal.transformer", "TRANSFORMER"),
    "universal.risk": ("universal.risk", "RISK"),
    "looped.positions": ("looped.positions", "POSITIONS"),
    "looped.linearised": ("looped.linearised", "LINEARISED"),
    "looped.chain_of_thought": ("looped.chain_of_thought", "CHAIN_OF_THOUGHT"),
    "looped.gradient_descent": ("looped.gradient_descent", "GRADIENT_DESCENT"),
    "looped.newton": ("looped.newton", "NEWTON"),
    "looped.autoregression": ("looped.autoregression", "AUTOREGRESSION"),
    "looped.decoder": ("looped.decoder", "DECODER"),
    "machines.approximation": ("machines.approximation", "APPROXIMATION"),
    "machines.circuit": ("machines.circuit", "CIRCUIT"),
    "machines.rounding": ("machines.rounding", "ROUNDING"),
    "machines.margin": ("machines.margin", "MARGIN"),
    "machines.sample_complexity": ("machines.sample_complexity", "SAMPLE_COMPLEXITY"),
    "machines.turing": ("machines.turing", "TURING"),
    "machines.turing_margin": ("machines.turing_margin", "TURING_MARGIN"),
}


@cache
def studies() -> dict[str, Study]:
    """Every Study by the id of its Result."""
    return {id: find_study(id) for id in PLACES}


def find_study(source: TheoremLike) -> Study:
    """The study of a theorem, of the theorem in a file, or of the result of an id.

    Raises UsageError for an id that is unknown (with the nearest ones), planned, or that several packages have, and for
    a file without a theorem.
    """
    if isinstance(source, Study):
        return source
    if isinstance(source, str) and not is_file(source):
        if not is_claimed(source):
            return TheoremStudy(find_packaged(source))
        require_unclaimed(source)
        return registered_study(source)
    theorem = source if isinstance(source, Theorem) else read_theorem(source)
    if theorem.id in PLACES and getattr(registered_study(theorem.id), "theorem", None) is not theorem:
        raise UsageError(f"the id '{theorem.id}' is that of a result of boundsmith; give your theorem another id")
    return TheoremStudy(theorem)


@cache
def registered_study(result_id: str) -> Study:
    """The study of the result of that id, and never of a file: for ids that records and witnesses name."""
    result = find_result(result_id)
    module, name = PLACES[result.id]
    place = getattr(import_module(f"bridge.{module}"), name)
    if isinstance(place, Theorem):
        return TheoremStudy(place)
    study: Study = place()
    return study
