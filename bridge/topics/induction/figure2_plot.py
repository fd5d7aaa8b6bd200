"""Figure 2 of wang2024 drawn again: total loss, partial losses and parameters over the logarithm of time.

Imports matplotlib, so it is itself imported only when a figure is drawn; without pyplot, hence no global figure.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bridge.theorems.numbers import value_words
from bridge.theorems.record import Record
from bridge.topics.induction.figure2_runs import phase_times, trajectory_of
from bridge.topics.induction.timelines import GRID, mark_times, name_spans, name_times, own_scale
from bridge.topics.induction.trajectory import TrajectoryRecord, TwoLayerTrajectory
from symbolic.topics.induction.training import FLOWS

POINTS = 1500
FLOOR = 1e-10  # losses below are not drawn
# Okabe and Ito's palette, which colour-blind readers can tell apart.
BLACK, BLUE, ORANGE, GREEN, RED = "#000000", "#0072B2", "#E69F00", "#009E73", "#D55E00"
WORDS = {"true": "flow (12)", "printed": "flow as printed (twice the rate of w)"}
LETTERS = {"L": "L", "alpha": r"\alpha^*", "w_star": "w^*", "sigma_init": r"\sigma_\mathrm{init}"}
PHASES = ("I", "II", "III", "IV")


def draw_dynamics(comparison: Record, params: Mapping[str, Any]) -> Figure:
    """The run of `params` drawn solid, with its phases marked; the other flow of the head thin and dashed."""
    chosen = str(params["flow"])
    other = next(name for name in FLOWS if name != chosen)
    main, second = (trajectory_of(*(params[name] for name in LETTERS), flow) for flow in (chosen, other))
    ends = phase_times(main)
    end = min(main.end, max(1.0, 10 * ends["T_III"]))
    times = np.geomspace(ends["T_I"] / 30, end, POINTS)
    figure = Figure(figsize=(7.2, 8.4), layout="constrained")
    total, partial, parameters = figure.subplots(3, 1, sharex=True, height_ratios=[1, 1.15, 1.35])
    for record, style in ((_until(second, times), "other"), (main.at(times), "main")):
        _total(total, record, style)
        _partial(partial, record, style)
        _parameters(parameters, record, style, params)
    own_scale(parameters, times, main.at(times).p, ORANGE, "$p$")  # p grows without bound: its optimum is infinite
    for axis in (total, partial, parameters):
        _mark_phases(axis, ends, times, named=axis is total)
        axis.grid(True, which="major", color=GRID, linewidth=0.6)
        axis.set_axisbelow(True)
    parameters.set_xlabel("time t of the gradient flow")
    _title(figure, comparison, params, chosen, other)
    return figure


def _until(trajectory: TwoLayerTrajectory, times: np.ndarray) -> TrajectoryRecord:
    return trajectory.at(times[times <= trajectory.end])


def _style(style: str) -> dict[str, Any]:
    return {"linewidth": 1.8} if style == "main" else {"linewidth": 0.9, "linestyle": (0, (4, 2)), "alpha": 0.8}


def _line(axis: Axes, record: TrajectoryRecord, values: np.ndarray, colour: str, label: str, style: str) -> None:
    axis.plot(record.t, values, color=colour, label=label if style == "main" else None, **_style(style))


def _total(axis: Axes, record: TrajectoryRecord, style: str) -> None:
    _line(axis, record, record.L_G4 + record.L_IH2, BLACK, "total loss", style)
    axis.set_yscale("log")
    axis.set_xscale("log")
    axis.set_ylabel("total loss")


def _partial(axis: Axes, record: TrajectoryRecord, style: str) -> None:
    if style == "main":
        _line(axis, record, record.L_G4, BLUE, "4-gram (19)", style)
    seen = np.where(record.L_IH2 > FLOOR, record.L_IH2, np.nan)
    _line(axis, record, seen, RED, "induction head (22)", style)
    axis.set_yscale("log")
    axis.set_ylabel("partial losses")
    if style == "main":
        axis.legend(loc="lower left", fontsize=9, frameon=False)


def _parameters(axis: Axes, record: TrajectoryRecord, style: str, params: Mapping[str, Any]) -> None:
    optimum = 1 / (1 + float(params["alpha"]))
    curves = {
        "h": (record.h / optimum, RED, r"$w_{V_2}/h^*$"),
        "w": (record.w / float(params["w_star"]), GREEN, r"$w_{KQ}/w^*$"),
    }
    if style == "main":
        curves["g"] = (record.g / (1 - optimum), BLUE, r"$w_{V_1}/g^*$")
    for values, colour, label in curves.values():
        _line(axis, record, values, colour, label, style)
    axis.set_ylabel("parameters over their optimum")


def _mark_phases(axis: Axes, ends: Mapping[str, float], times: np.ndarray, *, named: bool) -> None:
    """The phase times, with the phases between them; names of times close to one another lean apart."""
    mark_times(axis, list(ends.values()), dotted=(ends["T_o"],))
    axis.set_xlim(times[0], times[-1])
    if named:
        close = ends["T_II"] < 2 * ends["T_o"]
        sides = {"T_o": "right", "T_II": "left" if close else "right", "T_III": "left"}
        name_times(axis, {_latex(name): time for name, time in ends.items()}, {_latex(x): y for x, y in sides.items()})
        name_spans(axis, PHASES, [times[0], ends["T_I"], ends["T_II"], ends["T_III"], times[-1]])


def _latex(name: str) -> str:
    return rf"$T_{{\mathrm{{{name[2:]}}}}}$"


def _title(figure: Figure, comparison: Record, params: Mapping[str, Any], chosen: str, other: str) -> None:
    point = ", ".join(f"${LETTERS[name]}$ = {value_words(params[name])}" for name in LETTERS)
    figure.suptitle(f"{comparison.citation}\n{point}\nsolid: {WORDS[chosen]}; dashed: {WORDS[other]}", fontsize=10)
