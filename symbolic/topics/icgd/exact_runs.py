"""Exact runs of one linear neuron in which a sentence of Corollary 1.1 or Lemma 14 (wu2024) fails as printed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from symbolic.statements.errata import Erratum
from symbolic.statements.result import Kind, Printed, Quantifier, Quantity
from symbolic.topics.icgd import errata
from symbolic.topics.icgd.symbols import eps, eta, n
from symbolic.topics.icgd.trajectory import (
    L_f,
    derive_gradient_mapping,
    derive_path,
    gap,
    gradient_mapping_printed,
    path_printed,
    path_with_step_size,
)
from symbolic.words.errors import UsageError

MOST_STEPS = 1000  # of an exact run: its numbers grow with every step


@dataclass(frozen=True)
class ExactRun:
    """Descent from 0 on L_n(w) = (x w - y)^2/2 over W = [-width, width]: one neuron r(t) = t, all examples are (x, y).

    `steps` steps of size eta = `step`, each gradient with the error `accuracy`, n = `examples`. All these are rational
    numbers, so that a run is exact.
    """

    x: sp.Rational
    y: sp.Rational
    width: sp.Rational
    step: sp.Rational
    accuracy: sp.Rational
    steps: sp.Rational
    examples: sp.Rational

    @classmethod
    def of(cls, **numbers: Any) -> "ExactRun":
        return cls(**{name: sp.Rational(v) for name, v in {"accuracy": 0, "examples": 1, **numbers}.items()})

    def check(self) -> None:
        """Raises UsageError that names every condition of Lemma 14 that these numbers do not meet."""
        conditions = {
            "x not 0": self.x != 0,
            "width > 0": self.width > 0,
            "step > 0": self.step > 0,
            "accuracy >= 0": self.accuracy >= 0,
            f"steps whole, 1 .. {MOST_STEPS}": self.steps.is_Integer and 1 <= self.steps <= MOST_STEPS,
            "examples whole, >= 1": self.examples.is_Integer and self.examples >= 1,
        }
        broken = [words for words, held in conditions.items() if not held]
        if broken:
            raise UsageError(f"icgd.trajectory: a run of one neuron needs {', '.join(broken)}; got {self}")

    @property
    def smoothness(self) -> sp.Expr:
        """L_f: the Lipschitz constant of the gradient."""
        return self.x**2

    @property
    def steepest(self) -> sp.Expr:
        """The Lipschitz constant of L_n itself."""
        return sp.Max(abs(self.gradient(-self.width)), abs(self.gradient(self.width)))

    @property
    def gap(self) -> sp.Expr:
        """L_n(0) minus the infimum over W, which is at the point of W next to y/x."""
        return self.value(sp.Integer(0)) - self.value(self.project(self.y / self.x))

    def value(self, w: sp.Expr) -> sp.Expr:
        return (self.x * w - self.y) ** 2 / 2

    def gradient(self, w: sp.Expr) -> sp.Expr:
        return (self.x * w - self.y) * self.x

    def project(self, w: sp.Expr) -> sp.Expr:
        return sp.Max(-self.width, sp.Min(self.width, w))

    def iterates(self, accuracy: sp.Expr, *, projected: bool = True) -> list[sp.Expr]:
        """w^0 = 0, ..., w^steps with this error of each gradient, projected or not."""
        points: list[sp.Expr] = [sp.Integer(0)]
        for _ in range(self.steps):
            moved = points[-1] - self.step * (self.gradient(points[-1]) - accuracy)
            points.append(self.project(moved) if projected else moved)
        return points

    def distance(self, *, projected: bool = True) -> sp.Expr:
        """|w^steps - w_GD^steps|; `projected` is about w_GD, the other one always is."""
        return abs(self.iterates(self.accuracy)[-1] - self.iterates(sp.Integer(0), projected=projected)[-1])

    def mappings(self) -> list[sp.Expr]:
        """||G(w^l)||^2 for l = 0 .. steps - 1."""
        points = self.iterates(self.accuracy)[:-1]
        return [((w - self.project(w - self.step * self.gradient(w))) / self.step) ** 2 for w in points]

    def bound(self, formula: sp.Expr, **other: sp.Expr) -> sp.Expr:
        """The formula at the run's numbers, or at others in the place of its `smoothness`."""
        letters = {eta: self.step, eps: self.accuracy, n: self.examples, gap: self.gap}
        return formula.subs({**letters, L_f: other.get("smoothness", self.smoothness)})


@dataclass(frozen=True)
class ExactWitness:
    """An exact run in which a statement as printed fails, beside what a run under the repaired statement attains."""

    erratum: Erratum
    run: ExactRun
    printed: sp.Expr
    attained: sp.Expr
    repaired: sp.Expr
    repaired_attained: sp.Expr


_ONE_EXAMPLE = ExactRun.of(x=1, y=0, width=1, step=10, accuracy="1/100", steps=1)
_STEEP = ExactRun.of(x=3, y=0, width="1/9", step=1, accuracy="1/1000", steps=2)
_OUTSIDE = ExactRun.of(x=1, y=2, width=1, step=1, accuracy="1/1000", steps=4)
_BOWL = ExactRun.of(x=2, y="1/5", width=1, step=4, accuracy="1/1000", steps=20)
_FLAT = ExactRun.of(x="1/10", y=1, width=10, step="1/100", steps=4)


def examples_for_step_size(run: ExactRun = _ONE_EXAMPLE) -> ExactWitness:
    """One example (1, 0), L_f = 1, eta = 10: after one step the distance is 10 eps, the printed bound 2 eps."""
    printed, repaired = run.bound(path_printed(run.steps)), run.bound(derive_path(run.steps).error)
    return ExactWitness(errata.EXAMPLES, run, printed, run.distance(), repaired, run.distance())


def constant_of_the_risk(run: ExactRun = _STEEP) -> ExactWitness:
    """Example (3, 0), W = [-1/9, 1/9], eta = n = 1: L_n is 1-Lipschitz, its gradient 9-Lipschitz; after two steps the
    distance is 7 eps, the printed bound 4 eps."""
    printed = run.bound(path_with_step_size(run.steps), smoothness=run.steepest)
    repaired = run.bound(derive_path(run.steps).error)
    return ExactWitness(errata.CONSTANT_OF_THE_RISK, run, printed, run.distance(), repaired, run.distance())


def descent_without_projection(run: ExactRun = _OUTSIDE) -> ExactWitness:
    """Example (1, 2), W = [-1, 1], L_f = 1, eta = n = 1: w_GD without projection goes to 2, the projected iterate stops
    at 1."""
    printed, repaired = run.bound(path_with_step_size(run.steps)), run.bound(derive_path(run.steps).error)
    return ExactWitness(errata.PROJECTION, run, printed, run.distance(projected=False), repaired, run.distance())


def _least(squares: Sequence[sp.Expr]) -> sp.Expr:
    """Over l = 1 .. steps - 1, as Lemma 14 has it. Raises UsageError where there is none."""
    if len(squares) < 2:
        raise UsageError("icgd.trajectory: the least over l = 1 .. steps - 1 needs steps >= 2; got steps = 1")
    return sp.Min(*squares[1:])


def steps_up_to_the_constant(run: ExactRun = _BOWL) -> ExactWitness:
    """Example (2, 1/5), W = [-1, 1], eta = L_f = 4: the iterates alternate between the ends of W.

    Repaired: eta = 1/L_f = 1/4 on the same risk, the mean over all steps.
    """
    if run.step > run.smoothness:
        raise UsageError(f"icgd.trajectory: Lemma 14 is printed for step <= L_f; got {run.step} > {run.smoothness}")
    short = replace(run, step=1 / run.smoothness)
    printed, repaired = run.bound(gradient_mapping_printed(run.steps)), derive_gradient_mapping(run.steps).error
    mean = sp.Add(*short.mappings()) / run.steps
    return ExactWitness(errata.STEP_SIZE, run, printed, _least(run.mappings()), short.bound(repaired), mean)


def least_against_the_sum(run: ExactRun = _FLAT) -> ExactWitness:
    """Example (1/10, 1), W = [-10, 10], eta = L_f = 1/100, L = 4: |G| hardly changes, so that the least of the three
    squares exceeds a quarter of their sum."""
    squares = run.mappings()
    printed, repaired = (sp.Add(*some) / run.steps for some in (squares[1:], squares))
    return ExactWitness(errata.LEAST, run, printed, _least(squares), repaired, sp.Min(*squares))


OF_THE_PATH: tuple[Callable[..., ExactWitness], ...] = (
    examples_for_step_size,
    constant_of_the_risk,
    descent_without_projection,
)
OF_THE_MAPPING: tuple[Callable[..., ExactWitness], ...] = (steps_up_to_the_constant, least_against_the_sum)
WITNESSES = (*OF_THE_PATH, *OF_THE_MAPPING)


def refuted_quantity(check: Callable[..., ExactWitness]) -> Quantity:
    """What a witness refutes, as a quantity `erratum.<name>`; its numbers are exact."""
    squared, erratum = check in OF_THE_MAPPING, check().erratum
    path = (r"|w^l - w_{\mathrm{GD}}^l|", "distance of `w^l` from `w_GD^l`", "absolute value")
    mapping = (r"\min_l G(w^l)^2", "least squared gradient mapping", "square")
    domain = "risk of one neuron `r(t) = t` at `n` equal examples, rational numbers"
    about = mapping if squared else path
    return Quantity(
        *(f"erratum.{check.__name__}", *about, domain, Kind.UPPER, Quantifier.FOR_ALL),
        printed=Printed(gradient_mapping_printed() if squared else path_printed(), erratum.citation),
        scopes=(),
        construction="one linear neuron",
        remark=" ".join((check.__doc__ or "").split()).rstrip("."),
        erratum=erratum,
    )
