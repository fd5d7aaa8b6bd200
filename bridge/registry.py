"""The studies that exist, by the id of their result: the one place where a topic's study registers."""

from functools import cache

from bridge.study import Study
from symbolic.catalogue import find_result


@cache
def studies() -> dict[str, Study]:
    """Every Study by the id of its Result."""
    from bridge.icgd.gradient import GradientStudy
    from bridge.icgd.relu_sum import ReluSumStudy
    from bridge.icgd.study import StepStudy
    from bridge.icgd.trajectory import TrajectoryStudy
    from bridge.induction.balance import BalanceStudy
    from bridge.induction.figure2 import Figure2Study
    from bridge.induction.first_stage import FirstStageStudy
    from bridge.induction.fixed_point import FixedPointStudy
    from bridge.induction.karamata import KaramataStudy
    from bridge.induction.losses import LossesStudy
    from bridge.induction.lyapunov import LyapunovGramStudy, LyapunovHeadStudy
    from bridge.induction.phases import PhasesStudy
    from bridge.induction.trends import TrendsStudy
    from bridge.induction.vanilla import VanillaStudy
    from bridge.machines.approximation import ApproximationStudy
    from bridge.machines.circuit import CircuitStudy
    from bridge.machines.margin import MarginStudy
    from bridge.machines.rounding import RoundingStudy
    from bridge.machines.sample_complexity import SampleComplexityStudy
    from bridge.machines.turing import TuringStudy
    from bridge.machines.turing_margin import TuringMarginStudy
    from symbolic.icgd import results as icgd

    icgd_studies = (GradientStudy(), ReluSumStudy(), *(StepStudy(result) for result in icgd.RESULTS), TrajectoryStudy())
    training = (
        FirstStageStudy(),
        BalanceStudy(),
        LossesStudy(),
        FixedPointStudy(),
        TrendsStudy(),
        KaramataStudy(),
        PhasesStudy(),
        LyapunovGramStudy(),
        LyapunovHeadStudy(),
        Figure2Study(),
    )
    machines = (
        ApproximationStudy(),
        CircuitStudy(),
        RoundingStudy(),
        MarginStudy(),
        SampleComplexityStudy(),
        TuringStudy(),
        TuringMarginStudy(),
    )
    return {study.result.id: study for study in (*icgd_studies, VanillaStudy(), *training, *machines)}


def find_study(result_id: str) -> Study:
    """The study of that result. Raises UsageError for an id that is unknown (with the nearest ones) or planned."""
    return studies()[find_result(result_id).id]
