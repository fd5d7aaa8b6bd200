"""Moves of rule 13, on the events: the mean is as far from its expectation as they allow; and of samples.

How often the events happen is tested by simulation (tests/symbolic/calculus/test_concentration.py).
"""

import numpy as np

from symbolic.calculus import Event, Norm
from tests.symbolic.cases.diffusions import Sampled, shifted, tilted
from tests.symbolic.fuzzing.evaluation import evaluate
from tests.symbolic.fuzzing.move import Move, move
from tests.symbolic.fuzzing.program import NAME, Program
from tests.symbolic.fuzzing.realised import Realised


def half_width(x: Realised) -> np.ndarray:
    return evaluate(x.value.size if x.value.radius is None else x.value.radius, x.at)


def away(x: Realised) -> np.ndarray:
    """A direction of sup norm 1 in which the error grows."""
    return np.where(x.near >= x.exact, 1.0, -1.0)


def hoeffding(x: Realised, spread: np.ndarray | float, count: int, share: float) -> np.ndarray | float:
    return spread * np.sqrt(2 * np.log(2 * x.exact.shape[-1] / share) / count)


@move("sample_mean", "sample_mean")
def sample_mean(program: Program) -> None:
    x, count, share = program.pick(Norm.INF), program.whole(1, 50), program.rng.uniform(0.05, 1.0)
    noise = {"sub_gaussian": program.number()} if program.chance(0.4) else {}
    far = hoeffding(x, noise.get("sub_gaussian", half_width(x)), count, share)
    event = Event(f"event {len(program.lines)}", f"draw {len(program.lines)}", share)
    value = program.apply("sample_mean", x, NAME, count=count, event=event, **noise)
    near = x.near + np.asarray(far) * away(x)
    program.conclude(value, x.exact, near, norm=Norm.INF, centre=x.centre, known_ratio=1.0)


@move("union_bound", "union_bound")
def union_bound(program: Program) -> None:
    x = program.pick()
    value = program.apply("union_bound", x, NAME, members=program.whole(1, 9))
    program.conclude(value, x.exact, x.near, norm=x.value.norm, centre=x.centre)


@move("cover", "cover")
def cover(program: Program) -> None:
    x, radius = program.pick(Norm.INF), program.number(0.05, 0.5)
    moves = {"lipschitz": program.number()} | ({"exact_lipschitz": program.number()} if program.chance(0.5) else {})
    value = program.apply("cover", x, NAME, members=program.whole(1, 9), radius=radius, **moves)
    exact_moves = moves.get("exact_lipschitz", moves["lipschitz"])
    near, exact = x.near + moves["lipschitz"] * radius * away(x), x.exact - exact_moves * radius * away(x)
    program.conclude(value, exact, near, norm=Norm.INF)


@move("within_budget", "within_budget")
def within_budget(program: Program) -> None:
    x, count, members, delta = program.given(Norm.INF), program.whole(1, 50), program.whole(1, 9), 0.25
    event = Event(f"event {len(program.lines)}", f"draw {len(program.lines)}")
    at = {event.share: delta / members}
    mean = program.apply("sample_mean", x, NAME, count=count, event=event)
    near = x.near + np.asarray(hoeffding(x, half_width(x), count, delta / members)) * away(x)
    mean = program.conclude(mean, x.exact, near, norm=Norm.INF, at=at, centre=x.centre, known_ratio=1.0, keep=False)
    largest = program.apply("union_bound", mean, NAME, members=members)
    largest = program.conclude(largest, x.exact, near, norm=Norm.INF, at=at, centre=x.centre, keep=False)
    value = program.apply("within_budget", largest, NAME, delta=delta)
    program.conclude(value, x.exact, near, norm=Norm.INF, centre=x.centre)


@move("expected_mean", "expected_mean")
def expected_mean(program: Program) -> None:
    """An error that is the same for each draw: its expectation."""
    x, count, members = program.given(Norm.INF), program.whole(1, 50), program.whole(1, 9)
    several = members * x.exact.shape[-1]
    far = half_width(x) * min(np.sqrt(several), np.sqrt(2 * np.log(2 * several)) if several > 1 else 1.0)
    value = program.apply("expected_mean", x, NAME, count=count, over="the sample", members=members)
    near = x.near + np.asarray(far) / np.sqrt(count) * away(x)
    program.conclude(value, x.exact, near, norm=Norm.INF, centre=x.centre, keep=False)


@move("girsanov", "girsanov", weight=0.3)
def girsanov(program: Program) -> None:
    """The bound is attained in a limit; else both laws are Gaussian, or the event always happens."""
    dim, steps = program.whole(1, 3), program.whole(1, 30)
    T_0 = program.number(0.1, 1.0)
    T = T_0 + program.number(0.25, 2.0)
    limit = program.chance(0.3)
    if limit:
        dim, steps, T, T_0 = 1, 10**11, 10.0, 1e-9
        found = tilted(0.01, T, T_0)
    x = program.given(Norm.TWO, dim, error=found.off) if limit else program.pick(Norm.TWO)
    x = program.given(Norm.TWO, dim) if x.value.events else x  # of one argument alone
    if not limit:
        mean, place, dim = program.number(0.1, 2.0), program.rng.uniform(-1, 2), x.exact.shape[-1]
        found = shifted(mean, x.error, place, T, T_0, steps, dim)
        if program.chance(0.3):
            found = Sampled(np.ones_like(x.error), np.ones_like(x.error), x.error, found.told)
    value = program.apply("girsanov", x, NAME, start_time=T, end_time=T_0, steps=steps, beyond=0, **found.told)
    exact, near = (
        np.broadcast_to(np.reshape(each, (-1, 1, 1)), x.exact[..., :1].shape) for each in (found.exact, found.near)
    )
    program.conclude(value, exact, near, norm=Norm.INF)


MOVES: list[Move] = [sample_mean, union_bound, cover, within_budget, expected_mean, girsanov]
