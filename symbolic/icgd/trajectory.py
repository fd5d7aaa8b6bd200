"""L steps of inexact projected gradient descent (wu2024, Corollary 1.1 and Lemma 14): how far, and how well.

    w^{l+1} = Proj_W(w^l - eta grad f(w^l) + e^l),  ||e^l||_2 <= eta eps,      w_GD the same without e, from one start

(0 in the paper). f = L_n has an L_f-Lipschitz gradient on the convex set W (symbolic/icgd/smoothness.py derives one).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any

import sympy as sp

from symbolic.calculus import (
    LinearRecursion,
    Norm,
    Obligation,
    add,
    descend,
    given,
    perturbed_function,
    project,
)
from symbolic.calculus.layers import iterate, recursion_from
from symbolic.citations import WU2024, Citation
from symbolic.derivation import Approximated, Derivation, Step
from symbolic.errata import Erratum
from symbolic.icgd import errata
from symbolic.icgd.results import STEP_HYPOTHESES, STEP_PARAMETERS
from symbolic.icgd.symbols import NOTATION as LETTERS
from symbolic.icgd.symbols import B_v, B_x, K, L, N, at_first_layer, d, eps, eta, n, neurons
from symbolic.statements import (
    Hypothesis,
    Kind,
    Parameter,
    Printed,
    Quantifier,
    Quantity,
    Result,
    UsageError,
)

L_f = sp.Symbol("L_f", positive=True)  # Lipschitz constant of grad f on W
gap = sp.Symbol("gap", nonnegative=True)  # f(w^0) - inf of f over W; the paper starts at w^0 = 0

# What a network is at w = 0: |r(0)|, |r'(0)| and the supremum of |u(r(0), y)| over |y| <= B_y.
r_0, r1_0, u_0 = (sp.Symbol(name, nonnegative=True) for name in ("r_0", "r1_0", "u_0"))

_D = sp.Symbol("D", integer=True, positive=True)  # the number of weights
_B_w = sp.Symbol("B_w", nonnegative=True)  # a bound on ||w|| over W; no bound below depends on it
_B_g = sp.Symbol("B_g", nonnegative=True)  # the same for the gradient

NOTATION = {**LETTERS, r1_0: "r'_0", L_f: "L_f", gap: r"(f(w^0) - \inf_W f)"}
SYMBOLS = {
    L_f: "Lipschitz constant of the gradient of L_n on W",
    gap: "f(w^0) minus the infimum of f over W; printed with w^0 = 0",
    r_0: "|r(0)|",
    r1_0: "|r'(0)|",
    u_0: "sup of |u(r(0), y)| over |y| <= B_y",
}


# One step of both iterations, from points that are e apart. The gradient is known up to eps (e^l = eta times its error)
# and moves by at most L_f e; the projection does not expand: e + eta (L_f e + eps) = (1 + eta L_f) e + eta eps.
def step_recursion() -> LinearRecursion:
    """The distance of the two iterations, step by step."""
    distance = sp.Dummy("e", nonnegative=True)
    w = given("w", dim=_D, norm=Norm.TWO, size=_B_w, error=distance)
    gradient = perturbed_function(w, "gradient", lipschitz=L_f, eps=eps, size=_B_g, reason="grad f is L_f-Lipschitz")
    moved = add(w, gradient, name="w - eta gradient", coefficients=(1, -eta))
    return recursion_from(w, project(moved, "w+", size=_B_w))


# Equality: f(w) = -L_f w^2 / 2 and W large, where w_GD stays at 0 and w^l, pushed by eps in one direction, runs away.
@cache
def derive_path(steps: Any = L) -> Approximated:
    """w^steps against w_GD^steps, for symbolic steps: ((1 + eta L_f)^steps - 1) eps / L_f."""
    start = given("start", dim=_D, norm=Norm.TWO, size=_B_w, reason="both start at the same point")
    return iterate(start, "path", step_recursion(), sp.sympify(steps), size=_B_w)


# One step with eta L_f <= 1. Let u = w - eta grad f(w), w_bar = Proj u, G = (w - w_bar)/eta, w+ = Proj(u + e).
#   f(z) <= f(w) + <grad f(w), z - w> + ||z - w||^2/(2 eta) = f(w) + (||z - u||^2 - ||w - u||^2)/(2 eta)   for z in W.
#   ||w - u||^2 >= ||w_bar - u||^2 + ||w - w_bar||^2                     (w_bar projects u, w lies in W)
#   ||w_bar - u - e||^2 >= ||w+ - u - e||^2 + ||w+ - w_bar||^2           (w+ projects u + e, w_bar lies in W)
# The last, with D = w+ - w_bar, says ||w+ - u||^2 - ||w_bar - u||^2 <= 2 <e, D> - ||D||^2 <= ||e||^2 <= eta^2 eps^2.
# Together, at z = w+: f(w+) <= f(w) - (eta/2) ||G||^2 + (eta/2) eps^2. Equality: f(w) = ||w||^2/(2 eta), W everything.
@cache
def derive_gradient_mapping(steps: Any = L) -> Approximated:
    """The mean of ||G(w^l)||^2 over l = 0 .. steps - 1, at least the least of them: 2 gap/(eta steps) + eps^2."""
    start = given("f(w^0) - inf f", dim=1, size=0, error=gap, reason="the gap at the start")
    small = Obligation("the step is short: eta L_f <= 1", sp.Le(eta * L_f, 1))
    first = Step(
        "short steps",
        Norm.INF,
        "descent lemma",
        start.error_symbol,
        premises=(start.name,),
        reason="f(w+) <= f(w) - (eta/2) ||G||^2 + (eta/2) eps^2",
        obligations=(small,),
    )
    short = start.follows(first, dim=start.dim, size=start.size)
    return descend(short, "gradient_mapping", decrease=eta / 2, offset=eta * eps**2 / 2, steps=steps)


def path_printed(steps: Any = L) -> sp.Expr:
    """Corollary 1.1 and Lemma 14 as printed, with n in the place of the step size."""
    return (1 + n * L_f) ** sp.sympify(steps) * eps / L_f


def path_with_step_size(steps: Any = L) -> sp.Expr:
    """The same with eta for n, which is what the unrolled recursion can give."""
    return path_printed(steps).subs(n, eta)


def gradient_mapping_printed(steps: Any = L) -> sp.Expr:
    return 8 * gap / (eta * sp.sympify(steps)) + 10 * eps**2


_COROLLARY = Citation(WU2024, "Corollary 1.1", "Lemma 14")
_LEMMA = Citation(WU2024, "Lemma 14")
_PATH = "w^l and w_GD^l in W, both projected, from one start in W; errors of a step at most eta eps"
_SHORT = "the same, eta L_f <= 1"


def path_quantity(steps: Any = L, *, name: str = "path") -> Quantity:
    """||w^l - w_GD^l||_2 after l = `steps` steps, printed and derived; `name` as in path[3]."""
    return Quantity(
        name,
        rf"\|w^{{{sp.latex(sp.sympify(steps))}}} - w_{{\mathrm{{GD}}}}^{{{sp.latex(sp.sympify(steps))}}}\|_2",
        "distance of the transformer's iterate from that of projected gradient descent",
        "2-norm",
        _PATH,
        Kind.UPPER,
        Quantifier.FOR_ALL,
        derive_path(steps).derivation,
        "path",
        {},
        Printed(path_printed(steps), _COROLLARY),
        "icgd",
        scopes=("network",),
        trivial=2 * sp.sqrt(neurons(d)) * B_v,  # the diameter of the box
        remark="L_f is read as in Lemma 14: the Lipschitz constant of the gradient",
        erratum=errata.EXAMPLES,
    )


def gradient_mapping_quantity(steps: Any = L) -> Quantity:
    """The mean over the steps of the squared gradient mapping, printed and derived."""
    return Quantity(
        "gradient_mapping",
        rf"\frac{{1}}{{{sp.latex(sp.sympify(steps))}}} \sum_l \|G(w^l)\|_2^2",
        "mean of the squared gradient mapping over l = 0 .. L - 1, and so the least of them",
        "squared 2-norm",
        _SHORT,
        Kind.UPPER,
        Quantifier.FOR_ALL,
        derive_gradient_mapping(steps).derivation,
        "gradient_mapping",
        {},
        Printed(gradient_mapping_printed(steps), _LEMMA),
        "icgd",
        scopes=("network",),
        remark="judged for eta <= 1/L_f and by the mean over l = 0 .. L - 1",
        erratum=errata.STEP_SIZE,
    )


_AT_ZERO = r"\|\nabla L_n(0)\|_2"


# At w = 0 only s(N) = r'(0) * u(r(0), y) is not 0, and p(N-1) = (r(0), ..., r(0)), or x where N = 1.
def zero_quantity() -> Quantity:
    """||grad L_n(0)||_2 at the start of Corollary 1.1: 0 for r(0) = 0 and N >= 2, so that descent never moves."""
    bound = sp.sqrt(d) * r1_0 * u_0 / 2 * at_first_layer(N, B_x, sp.sqrt(K) * r_0)
    reason = "s(j) = 0 for j < N, s(N) = r'(0) u(r(0), y), p(N-1) = r(0) in all coordinates, or x where N = 1"
    step = Step("start.zero", Norm.TWO, "size", bound, reason=reason, latex=_AT_ZERO)
    return Quantity(
        "start.zero",
        _AT_ZERO,
        "gradient of the risk at w = 0, where the paper starts",
        "2-norm",
        "w = 0, ||x|| <= B_x, ||y|| <= B_y",
        Kind.UPPER,
        Quantifier.FOR_ALL,
        Derivation((step,)),
        "start.zero",
        {},
        scopes=(),
    )


def quantities_for(steps: int) -> tuple[Quantity, ...]:
    """path[1], ..., path[steps] and gradient_mapping, for a given number of steps."""
    if steps < 1:
        raise UsageError(f"icgd.trajectory: steps = {steps}: give at least one step (L >= 1).")
    paths = (path_quantity(l, name=f"path[{l}]") for l in range(1, steps + 1))  # noqa: E741 - the paper's letter
    return (*paths, gradient_mapping_quantity(steps))


def quantity_of(name: str, steps: int) -> Quantity:
    """One of `quantities_for(steps)`, without the others. Raises UsageError for a name that is not among them."""
    if name == "gradient_mapping" and steps >= 1:
        return gradient_mapping_quantity(steps)
    step = name.removeprefix("path[").removesuffix("]")
    if name == f"path[{step}]" and step.isdecimal() and 1 <= int(step) <= steps:
        return path_quantity(int(step), name=name)
    known = f"path[1] .. path[{steps}], gradient_mapping"
    raise UsageError(f"icgd.trajectory has no quantity '{name}'. It has: {known}.")


# --- Runs in which a printed sentence fails: exact, on the risk of a network of one linear neuron ---------------------


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
        construction="one linear neuron",
        remark=" ".join((check.__doc__ or "").split()).rstrip("."),
        erratum=erratum,
    )


_L = Parameter("L", L, "number of steps of gradient descent", 4, integer=True)


_DEFAULTS = {"N": 2, "eta": 0.05}  # with eta L_f <= 1


def _with_default(parameter: Parameter) -> Parameter:
    return replace(parameter, default=_DEFAULTS.get(parameter.name, parameter.default))


TRAJECTORY = Result(
    id="icgd.trajectory",
    title="L steps of in-context gradient descent against exact projected gradient descent",
    citation=_COROLLARY,
    claim=r"\|w^l - w_{\mathrm{GD}}^l\|_2 \le L_f^{-1} (1 + n L_f)^l \epsilon,\qquad "
    r"\min_l \|G(w^l)\|_2^2 \le \frac{8 (f(0) - \inf_W f)}{\eta L} + 10 \epsilon^2",
    parameters=(_L, *map(_with_default, STEP_PARAMETERS)),
    hypotheses=(Hypothesis("L", sp.Ge(L, 1, evaluate=False), "a path has at least one step"), *STEP_HYPOTHESES),
    quantities=(path_quantity(), gradient_mapping_quantity()),
    notation=NOTATION,
    symbols=SYMBOLS,
    remarks=(
        "The printed column has (1 + n L_f)^l as it stands, with n the number of examples; with eta for n the printed "
        "form is close to the derived one, which is attained, and lacks its -1.",
        "The constants 2 and 1 of the derived gradient mapping are attained; 8 and 10 are printed.",
        "L_f and f(w^0) - inf f are values of the problem: bounded from certified suprema on W. The paper starts at "
        "w = 0, where a network of two layers or more with r(0) = 0 has gradient 0 and never moves; here w^0 is any "
        "point of W, and printed bounds are read with f(w^0) for f(0).",
    ),
)
