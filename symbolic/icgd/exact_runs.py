"""Exact runs of one linear neuron in which a sentence of Corollary 1.1 or Lemma 14 (wu2024) fails as printed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import sympy as sp

from symbolic.errata import Erratum
from symbolic.icgd import errata
from symbolic.icgd.symbols import eps, eta, n
from symbolic.icgd.trajectory import (
    L_f,
    derive_gradient_mapping,
    derive_path,
    gap,
    gradient_mapping_printed,
    path_printed,
    path_with_step_size,
)
from symbolic.statements import Kind, Printed, Quantifier, Quantity, UsageError


@dataclass(frozen=True)
class Neuron:
    """L_n(w) = (x w - y)^2/2 on W = [-width, width]: one neuron r(t) = t, and n examples that all are (x, y).

    Its gradient has the Lipschitz constant x^2. Everything is a rational number, so that a run is exact.
    """

    x: sp.Rational
    y: sp.Rational
    width: sp.Rational

    @property
    def smoothness(self) -> sp.Expr:
        """L_f: the Lipschitz constant of the gradient."""
        return self.x**2

    def value(self, w: sp.Expr) -> sp.Expr:
        return (self.x * w - self.y) ** 2 / 2

    def gradient(self, w: sp.Expr) -> sp.Expr:
        return (self.x * w - self.y) * self.x

    def project(self, w: sp.Expr) -> sp.Expr:
        return sp.Max(-self.width, sp.Min(self.width, w))

    def descend(self, step: sp.Expr, errors: Sequence[sp.Expr], *, projected: bool = True) -> list[sp.Expr]:
        """w^0 = 0, w^1, ...: one step for each error e^l, projected or not."""
        points: list[sp.Expr] = [sp.Integer(0)]
        for error in errors:
            moved = points[-1] - step * self.gradient(points[-1]) + error
            points.append(self.project(moved) if projected else moved)
        return points

    def gradient_mapping(self, w: sp.Expr, step: sp.Expr) -> sp.Expr:
        return (w - self.project(w - step * self.gradient(w))) / step

    def infimum(self) -> sp.Expr:
        """Over W: at the point of W next to y/x."""
        return self.value(self.project(self.y / self.x))

    def steepest(self) -> sp.Expr:
        """The Lipschitz constant of L_n itself."""
        return sp.Max(abs(self.gradient(-self.width)), abs(self.gradient(self.width)))


MOST_STEPS = 1000  # of an exact run: its numbers grow with every step


@dataclass(frozen=True)
class Run:
    """The numbers of a run of descent on a `Neuron`: step eta, error eps of each gradient, steps l, examples n."""

    x: sp.Rational
    y: sp.Rational
    width: sp.Rational
    step: sp.Rational
    accuracy: sp.Rational
    steps: sp.Rational
    examples: sp.Rational

    @property
    def neuron(self) -> Neuron:
        return Neuron(self.x, self.y, self.width)

    @property
    def smoothness(self) -> sp.Expr:
        return self.neuron.smoothness

    @property
    def numbers(self) -> dict[str, sp.Rational]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

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


def run_of(numbers: Mapping[str, sp.Rational]) -> Run:
    """The run of these numbers. Raises UsageError for names that are missing or too many, and as `Run.check`."""
    wanted = {field.name for field in fields(Run)}
    if set(numbers) != wanted:
        got = ", ".join(numbers) or "nothing"
        raise UsageError(f"icgd.trajectory: a run of one neuron takes {', '.join(sorted(wanted))}; got {got}")
    run = Run(**numbers)
    run.check()
    return run


def _run(**numbers: Any) -> Run:
    return Run(**{name: sp.Rational(v) for name, v in {"accuracy": 0, "examples": 1, **numbers}.items()})


_ONE_EXAMPLE = _run(x=1, y=0, width=1, step=10, accuracy="1/100", steps=1)
_STEEP = _run(x=3, y=0, width="1/9", step=1, accuracy="1/1000", steps=2)
_OUTSIDE = _run(x=1, y=2, width=1, step=1, accuracy="1/1000", steps=4)
_BOWL = _run(x=2, y="1/5", width=1, step=4, accuracy="1/1000", steps=20)
_FLAT = _run(x="1/10", y=1, width=10, step="1/100", steps=4)


@dataclass(frozen=True)
class Witness:
    """An exact run in which a statement as printed fails, beside what a run under the repaired statement attains."""

    erratum: Erratum
    run: Run
    printed: sp.Expr
    attained: sp.Expr
    repaired: sp.Expr
    repaired_attained: sp.Expr

    @property
    def refutes(self) -> bool:
        """Whether the printed statement fails and the repaired one does not."""
        return bool(self.attained > self.printed) and bool(self.repaired_attained <= self.repaired)


def _distance(run: Run, *, projected: bool = True) -> sp.Expr:
    """|w^steps - w_GD^steps|; `projected` is about w_GD, the other one always is."""
    near = run.neuron.descend(run.step, [run.step * run.accuracy] * run.steps)
    exact = run.neuron.descend(run.step, [sp.Integer(0)] * run.steps, projected=projected)
    return abs(near[-1] - exact[-1])


def _derived_path(run: Run) -> sp.Expr:
    return derive_path(run.steps).error.subs({eta: run.step, eps: run.accuracy, L_f: run.smoothness})


def examples_for_step_size(run: Run = _ONE_EXAMPLE) -> Witness:
    """One example (1, 0), L_f = 1, eta = 10: after one step the distance is 10 eps, the printed bound 2 eps."""
    printed = path_printed(run.steps).subs({n: run.examples, L_f: run.smoothness, eps: run.accuracy})
    attained = _distance(run)
    return Witness(errata.EXAMPLES, run, printed, attained, _derived_path(run), attained)


def constant_of_the_risk(run: Run = _STEEP) -> Witness:
    """Example (3, 0), W = [-1/9, 1/9], eta = n = 1: L_n is 1-Lipschitz, its gradient 9-Lipschitz; after two steps the
    distance is 7 eps, the printed bound 4 eps."""
    printed = path_with_step_size(run.steps).subs({eta: run.step, L_f: run.neuron.steepest(), eps: run.accuracy})
    attained = _distance(run)
    return Witness(errata.CONSTANT_OF_THE_RISK, run, printed, attained, _derived_path(run), attained)


def descent_without_projection(run: Run = _OUTSIDE) -> Witness:
    """Example (1, 2), W = [-1, 1], L_f = 1, eta = n = 1: w_GD without projection goes to 2, the projected iterate stops
    at 1."""
    printed = path_with_step_size(run.steps).subs({eta: run.step, L_f: run.smoothness, eps: run.accuracy})
    attained = _distance(run, projected=False)
    return Witness(errata.PROJECTION, run, printed, attained, _derived_path(run), _distance(run))


def _mappings(run: Run) -> list[sp.Expr]:
    """||G(w^l)||^2 for l = 0 .. steps - 1."""
    points = run.neuron.descend(run.step, [run.step * run.accuracy] * run.steps)[:-1]
    return [run.neuron.gradient_mapping(w, run.step) ** 2 for w in points]


def _least(squares: Sequence[sp.Expr]) -> sp.Expr:
    """Over l = 1 .. steps - 1, as Lemma 14 has it. Raises UsageError where there is none."""
    if len(squares) < 2:
        raise UsageError("icgd.trajectory: the least over l = 1 .. steps - 1 needs steps >= 2; got steps = 1")
    return sp.Min(*squares[1:])


def steps_up_to_the_constant(run: Run = _BOWL) -> Witness:
    """Example (2, 1/5), W = [-1, 1], eta = L_f = 4: the iterates alternate between the ends of W.

    Repaired: eta = 1/L_f = 1/4 on the same risk, the mean over all steps.
    """
    if run.step > run.smoothness:
        raise UsageError(f"icgd.trajectory: Lemma 14 is printed for step <= L_f; got {run.step} > {run.smoothness}")
    start = run.neuron.value(sp.Integer(0)) - run.neuron.infimum()
    printed = gradient_mapping_printed(run.steps).subs({eta: run.step, eps: run.accuracy, gap: start})
    short = replace(run, step=1 / run.smoothness)
    repaired = derive_gradient_mapping(run.steps).error.subs({eta: short.step, eps: run.accuracy, gap: start})
    mean = sp.Add(*_mappings(short)) / run.steps
    return Witness(errata.STEP_SIZE, run, printed, _least(_mappings(run)), repaired, mean)


def least_against_the_sum(run: Run = _FLAT) -> Witness:
    """Example (1/10, 1), W = [-10, 10], eta = L_f = 1/100, L = 4: |G| hardly changes, so that the least of the three
    squares exceeds a quarter of their sum."""
    squares = _mappings(run)
    printed, repaired = (sp.Add(*some) / run.steps for some in (squares[1:], squares))
    return Witness(errata.LEAST, run, printed, _least(squares), repaired, sp.Min(*squares))


WITNESSES: tuple[Callable[..., Witness], ...] = (
    examples_for_step_size,
    constant_of_the_risk,
    descent_without_projection,
    steps_up_to_the_constant,
    least_against_the_sum,
)
OF_THE_MAPPING = (steps_up_to_the_constant, least_against_the_sum)


def refuted_quantity(check: Callable[..., Witness]) -> Quantity:
    """What a witness refutes, as a quantity `erratum.<name>`; its numbers are exact."""
    squared = check in OF_THE_MAPPING
    erratum = check().erratum
    return Quantity(
        f"erratum.{check.__name__}",
        r"\min_l G(w^l)^2" if squared else r"|w^l - w_{\mathrm{GD}}^l|",
        "least squared gradient mapping" if squared else "distance of w^l from w_GD^l",
        "square" if squared else "absolute value",
        "risk of one neuron r(t) = t at n equal examples, rational numbers",
        Kind.UPPER,
        Quantifier.FOR_ALL,
        printed=Printed(gradient_mapping_printed() if squared else path_printed(), erratum.citation),
        scopes=(),
        construction="one linear neuron",
        remark=" ".join((check.__doc__ or "").split()).rstrip("."),
        erratum=erratum,
    )
