"""Flows followed at numbers: solutions that are read by formulas in their coordinates and letters."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Any

import numpy as np
import sympy as sp

from bridge.formula import evaluate
from bridge.lowering import Lowered, lower
from numeric.flows import Event, Path, integrate
from symbolic.dynamics import Flow
from symbolic.statements import UsageError

Numbers = Mapping[sp.Symbol, Any]
Views = Mapping[sp.Symbol, sp.Expr]  # letters by formulas in coordinates and letters


@dataclass(frozen=True)
class Run:
    """A solution of a flow from time 0 to `end`, at numbers for the flow's letters.

    It is read by formulas in the coordinates, in these letters and in those of `views`, which are formulas in the
    former (other coordinates, a loss). Raises UsageError for a formula with any other letter, and for times outside
    [0, end].
    """

    state: tuple[sp.Symbol, ...]
    path: Path
    letters: Numbers
    views: Views = field(default_factory=dict)

    @property
    def end(self) -> float:
        return self.path.end

    def at(self, times: Any, *formulas: sp.Expr) -> np.ndarray:
        """The values of the formulas at `times` (T,), an array (formulas, T)."""
        states = self._states(times)
        return np.array([self._reads(each)(states) for each in formulas])

    def exactly(self, time: float | int, formula: sp.Expr) -> float:
        """The value at one time, by steps of the solver that end there: as exact as its steps are."""
        self._require_within("exactly", time)
        return float(self._reads(formula)(self.path.exactly(time)[:, None])[0])

    def last(self, *formulas: sp.Expr) -> tuple[float, ...]:
        """The values at the end."""
        states = self.path.steps[:, -1:]
        return tuple(float(self._reads(each)(states)[0]) for each in formulas)

    def first(self, event: sp.Expr, after: float | int = 0.0, letters: Numbers | None = None) -> float | None:
        """The first time, from `after` on, at which the formula `event` is positive; None if it never is.

        `letters` are further ones of the event: a level that is reached, say. See `Path.first` for the accuracy.
        """
        self._require_within("first", after)
        return self.path.first(self._reads(event, letters), after)

    def _require_within(self, call: str, time: float | int) -> None:
        if not 0 <= time <= self.end * (1 + 1e-12):
            raise UsageError(f"Run.{call}: time {time} is outside of the run, 0 .. {self.end:g}")

    def _states(self, times: Any) -> np.ndarray:
        try:
            return self.path.at(times)
        except ValueError as error:
            raise UsageError(f"Run.at: {error}") from None

    def _reads(self, formula: sp.Expr, more: Numbers | None = None) -> Event:
        return _reader(formula, self.state, {**self.letters, **(more or {})}, self.views)


@dataclass(frozen=True)
class JoinedRun:
    """Runs one after the other, each perhaps in coordinates of its own; times count from the first.

    Formulas are in letters that every run gives: its coordinates or those of its `views`.
    """

    parts: tuple[Run, ...]

    @cached_property
    def starts(self) -> tuple[float, ...]:
        return tuple(accumulate((part.end for part in self.parts[:-1]), initial=0.0))

    @property
    def end(self) -> float:
        return self.starts[-1] + self.parts[-1].end

    def at(self, times: Any, *formulas: sp.Expr) -> np.ndarray:
        """As that of one run."""
        moments = np.atleast_1d(np.asarray(times, dtype=float))
        found, places = np.empty((len(formulas), len(moments))), self._places(moments)
        for place, (start, part) in enumerate(zip(self.starts, self.parts, strict=True)):
            here = places == place
            if here.any():
                found[:, here] = part.at(moments[here] - start, *formulas)
        return found

    def exactly(self, time: float | int, formula: sp.Expr) -> float:
        """As that of one run."""
        place = int(self._places(np.array([time]))[0])
        return self.parts[place].exactly(time - self.starts[place], formula)

    def first(self, event: sp.Expr, after: float | int = 0.0, letters: Numbers | None = None) -> float | None:
        """As that of one run."""
        later = [(start, part) for start, part in zip(self.starts, self.parts, strict=True) if after < start + part.end]
        happened = ((start, part.first(event, max(after - start, 0.0), letters)) for start, part in later)
        return next((start + time for start, time in happened if time is not None), None)

    def _places(self, times: np.ndarray) -> np.ndarray:
        """The part in which each of the times lies."""
        return np.maximum(np.searchsorted(self.starts, times, side="left") - 1, 0)


def follow(
    flow: Flow,
    start: Numbers,
    end: float | int,
    letters: Numbers | None = None,
    *,
    stop: sp.Expr | None = None,
    views: Views | None = None,
    relative: float = 1e-11,
    absolute: Any = 1e-14,
    longest_step: float = math.inf,
) -> Run:
    """The solution of a flow from `start`, a number for each coordinate, to time `end`, or until `stop` is positive.

    `letters` are numbers for the other letters of the flow. `stop` is a formula in the letters that the `Run` reads,
    those of `views` included; where it is positive from the start on, nothing stops the run. Local
    errors are about `relative` |x| + `absolute` (one number, or one for each coordinate, in their order), steps at most
    `longest_step` long; the flow may be stiff (numeric/flows.py).

    Raises UsageError for a coordinate or a letter without a finite number and for an end that is not positive,
    IntegrationError where the flow cannot be followed.
    """
    letters, views = dict(letters or {}), dict(views or {})
    others = tuple(sorted(set().union(*(rate.free_symbols for rate in flow.field)) - set(flow.state), key=str))
    _require_numbers("start", "coordinate", start, flow.state)
    _require_numbers("letters", "letter", letters, others)
    if not end > 0:
        raise UsageError(f"follow: end = {end}; give a time > 0")
    rates, jacobian = _lowered(flow, (*flow.state, *others))
    numbers = [float(letters[each]) for each in others]
    path = integrate(
        lambda x: np.asarray(rates(*x, *numbers)).reshape(-1),
        [float(start[each]) for each in flow.state],
        float(end),
        jacobian=lambda x: np.asarray(jacobian(*x, *numbers)),
        stop=None if stop is None else _reader(stop, flow.state, letters, views),
        relative=relative,
        absolute=absolute,
        longest_step=longest_step,
    )
    return Run(flow.state, path, letters, views)


def _require_numbers(argument: str, kind: str, given: Numbers, needed: tuple[sp.Symbol, ...]) -> None:
    """Raises UsageError, which names all of them, unless each has a finite number."""
    wrong = [each for each in needed if each not in given or not math.isfinite(given[each])]
    if wrong:
        came = ", ".join(f"{each}: {number}" for each, number in given.items())
        raise UsageError(
            f"follow: {argument}={{{came}}}; give a finite number for each {kind}, also for "
            f"{', '.join(map(str, wrong))}"
        )


@lru_cache(maxsize=256)
def _lowered(flow: Flow, arguments: tuple[sp.Symbol, ...]) -> tuple[Lowered, Lowered]:
    """The field and its Jacobian."""
    return lower(sp.Matrix(flow.field), args=arguments), lower(flow.jacobian, args=arguments)


def _reader(formula: sp.Expr, state: tuple[sp.Symbol, ...], letters: Numbers, views: Views) -> Event:
    """The formula as a function of states (n, T), with values (T,)."""
    in_state = _viewed(formula, tuple(views.items()))

    def read(states: np.ndarray) -> np.ndarray:
        found = evaluate(in_state, {**letters, **dict(zip(state, states, strict=True))})
        return np.broadcast_to(found, states.shape[1:])

    return read


@lru_cache(maxsize=1024)
def _viewed(formula: Any, views: tuple[tuple[sp.Symbol, sp.Expr], ...]) -> sp.Expr:
    return sp.sympify(formula).xreplace(dict(views))
