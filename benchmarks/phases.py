"""The phase times of Theorem 5.5 over grids: the ratio of each measured time to the derived formula, which tends to 1.

Run with `python -m benchmarks.phases`.
"""

from itertools import product

import numpy as np

from bridge.topics.induction import phase_times as times
from bridge.topics.induction.phases import T_II
from bridge.topics.induction.trajectory import HeadRun, run
from symbolic.statements.paths import Point
from symbolic.topics.induction import phases_derivation as phases
from symbolic.topics.induction.training import FLOWS

SIGMAS = (1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-12)
ALPHAS, W_STARS, LENGTHS = (0.1, 1.0, 10.0), (0.1, 0.3, 0.49, 0.65), (50, 1000, 10**6)


def main() -> None:
    for flow in FLOWS:
        emergence(flow)
        plateau(flow)
        last_phase(flow)
    gram()
    gram_rate()


def emergence(flow: str) -> None:
    print(f"\nT_III, {flow} flow: measured/(two terms), and in brackets measured/(leading term)")
    _head("alpha", "w_star", SIGMAS)
    for alpha, w_star in product(ALPHAS, W_STARS):
        cells = []
        for sigma in SIGMAS:
            point = _point(alpha, w_star, sigma, flow)
            measured = _head_run(point).falls_to(0.01)
            leading = times.value(phases.head_time_leading(flow), point)
            cells.append(_ratio(measured, times.emergence_time(point)) + f" ({_ratio(measured, leading, 3)})")
        _row(alpha, w_star, cells)


def plateau(flow: str) -> None:
    low, high = phases.overshoot_range()
    print(f"\nT_II, {flow} flow: measured/derived; T_o: measured/derived; the overshoot takes 1 % for w* in "
          f"({float(low):.6f}, {float(high):.6f})")  # fmt: skip
    _head("alpha", "w_star", SIGMAS)
    for alpha, w_star in product(ALPHAS, W_STARS):
        cells = []
        for sigma in SIGMAS:
            point = _point(alpha, w_star, sigma, flow)
            made = _head_run(point)
            derived = (T_II.derived(point), times.observation_time(point))
            cells.append(f"{_ratio(made.falls_to(0.99), derived[0])}; {_ratio(made.tau_o, derived[1])}")
        _row(alpha, w_star, cells)


def last_phase(flow: str) -> None:
    print(f"\nrate of L_IH2 after T_III, {flow} flow: fitted slope/(2 mu), and 2 mu over the printed exponent")
    for alpha, w_star in product(ALPHAS, W_STARS):
        point = _point(alpha, w_star, 1e-4, flow)
        mu = times.slow_rate(point)
        start = times.emergence_time(point)
        taus = np.linspace(start + 10 / mu, start + 40 / mu, 20)
        slope = -np.polyfit(taus, HeadRun(alpha, w_star, 1e-4, flow, taus[-1]).at(taus)[2], 1)[0]
        _row(alpha, w_star, [f"{slope / (2 * mu):.8f}", f"{2 * mu * (1 + alpha) ** 2 / w_star**2:.4f}"])


def gram() -> None:
    print("\nT_I and T_1^g: measured/derived")
    _head("alpha", "L", SIGMAS)
    for alpha, length in product(ALPHAS, LENGTHS):
        cells = []
        for sigma in SIGMAS:
            point = {**_point(alpha, 0.4, sigma), "L": length}
            derived = [times.gram_time(point, until) for until in ("loss", "value")]
            made = run(length, alpha, 0.4, sigma, end=3 * derived[0])
            cells.append(f"{_ratio(made.T_I, derived[0])}; {_ratio(made.T_1g, derived[1])}")
        _row(alpha, length, cells)


def gram_rate() -> None:
    print("\n4 t L_G4 at t = 1e2 .. 1e8, sigma_init = 0.01, L = 1000")
    for alpha in ALPHAS:
        instants = np.logspace(2, 8, 7)
        record = run(1000, alpha, 0.4, 0.01).at(instants)
        _row(alpha, "", [f"{ratio:.6f}" for ratio in 4 * instants * record.L_G4])


def _point(alpha: float, w_star: float, sigma_init: float, flow: str = "true") -> Point:
    """With L - 2 = 1, so that times are tau: L only scales the flow of (w, h)."""
    return {"L": 3, "alpha": alpha, "w_star": w_star, "sigma_init": sigma_init, "flow": flow}


def _head_run(point: Point) -> HeadRun:
    end = 2 * max(times.emergence_time(point), 50.0)
    return HeadRun(point["alpha"], point["w_star"], point["sigma_init"], point["flow"], end)


def _ratio(measured: float | None, derived: float, digits: int = 8) -> str:
    return "-" if measured is None or not derived else f"{measured / derived:.{digits}f}"


def _head(first: str, second: str, sigmas: tuple[float, ...]) -> None:
    _row(first, second, [f"sigma {sigma:g}" for sigma in sigmas])


def _row(first: object, second: object, cells: list[str]) -> None:
    print(f"{first!s:>6} {second!s:>8}  " + "  ".join(f"{cell:>22}" for cell in cells))


if __name__ == "__main__":
    main()
