"""`solve`: what it returns is enough and is allowed, and a little less of it is not."""

import math
from typing import Any

import flint
import pytest
import sympy as sp
from sympy.core.function import AppliedUndef

import boundsmith as bs
from benchmarks import solving as benchmark
from bridge.instances.bound import Bound
from bridge.instances.instance import Instance
from bridge.questions.compare import compare
from bridge.questions.solve import NOT_GUARANTEED, solve
from bridge.questions.solving.probes import KnobProbe, State, probe
from bridge.questions.solving.search import NoAnswerError, Search
from bridge.questions.solving.values import Grid, Interval, grid_of, interval_of, lattice_of
from bridge.theorems.record import Flag, Row, Verdict
from bridge.theorems.registry import find_theorem
from bridge.theorems.theorem import Theorem
from symbolic import UsageError
from symbolic.calculus import Derivation, Norm, Obligation, Step, contract, given
from symbolic.statements.result import Hypothesis, Kind
from tests.bridge.own_theorem import NAME, own

k = sp.Symbol("k", positive=True)
beta = sp.Symbol("beta", positive=True)
shift = sp.Symbol("shift", real=True)
b = sp.Symbol("b", positive=True)
m, n = (sp.Symbol(name, integer=True, positive=True) for name in ("m", "n"))


def statements(solution: Any, kind: str) -> list[str]:
    return [each.statement for each in solution.conditions if each.kind == kind]


# Printed, derived and instance bounds that fall or rise.


@pytest.mark.parametrize("tier", ["derived", "printed", "instance"])
@pytest.mark.parametrize("error", [1e-1, 1e-6, 1e-12])
def test_the_slope_is_the_least_that_meets_the_error(tier: str, error: float) -> None:
    solution = solve("induction.vanilla", for_="p", error=error, tier=tier, L=64, W_star="random:1")
    assert solution.bound <= error
    short = solve("induction.vanilla", for_="error", tier=tier, L=64, W_star="random:1", p=0.999 * solution.value)
    assert short.bound > error


def test_the_closed_form_agrees_with_the_search_and_names_its_conditions() -> None:
    solution = solve("induction.vanilla", for_="p", error=1e-3, tier="printed")
    assert solution.closed_form == "-log(error) + log(4*W_norm + error)"
    assert solution.closed_form_conditions == ("p > 0",)
    assert solution.value == pytest.approx(math.log((4 + 1e-3) / 1e-3), rel=1e-9)


def test_for_a_rising_bound_the_largest_whole_number_is_returned() -> None:
    solution = solve("induction.vanilla", for_="L", error=0.267, p=2)
    assert solution.bound <= 0.267
    assert solve("induction.vanilla", for_="error", L=solution.value + 1, p=2).bound > 0.267
    assert "the bound increases. The answer is the largest L found at which" in solution.method


@pytest.mark.long
def test_a_printed_answer_is_not_guaranteed_and_names_its_errata() -> None:
    solution = solve("icgd.trajectory", for_="eta", error=800, quantity="gradient_mapping", tier="printed")
    assert solution.note.startswith(NOT_GUARANTEED)
    assert "erratum.steps_up_to_the_constant" in solution.note
    assert "Repair: eta <= 1/L_f" in solution.note
    assert ".;" not in solution.note


# Obligations of a derivation.


@pytest.mark.long
def test_a_step_size_that_the_descent_lemma_forbids_is_no_answer() -> None:
    with pytest.raises(UsageError, match=r"no eta gives .* at most 0\.01: .* above that: .*L_f\*eta <= 1"):
        solve("icgd.trajectory", for_="eta", error=0.01, quantity="gradient_mapping")


@pytest.mark.long
@pytest.mark.parametrize("tier", ["derived", "instance"])
def test_the_step_size_keeps_the_obligation_and_names_it(tier: str) -> None:
    solution = solve("icgd.trajectory", for_="eta", error=100, quantity="gradient_mapping", tier=tier)
    assert solution.bound <= 100
    assert statements(solution, "obligation") == ["the steps of 'gradient_mapping' are short: L_f*eta <= 1"]
    assert "eta > 0" in statements(solution, "hypothesis")
    instance = Instance.of(find_theorem("icgd.trajectory"), solution.params)
    rows = benchmark.rows_of(instance, "gradient_mapping")
    assert benchmark.row_failure(rows, tier) == ""


@pytest.mark.long
def test_the_closed_form_is_printed_with_the_obligation() -> None:
    solution = solve("icgd.trajectory", for_="eta", error=100, quantity="gradient_mapping")
    assert solution.closed_form
    assert set(solution.closed_form_conditions) >= {"error > eps**2", "eta > 0", "L_f*eta <= 1"}


def resting(*conditions: Any) -> Theorem:
    """The error at which x -> beta x + b comes to rest: b/(1 - beta), which is negative for beta > 1."""
    start = given("start", dim=1, size=1, error=0)
    return own(contract(start, NAME, factor=beta, offset=b, size=1).derivation, {beta: 0.5, b: 1.0}, *conditions)


@pytest.mark.parametrize("error", [1.5, 4.0, 1e9, 1e300])
def test_a_strict_obligation_holds_strictly_and_the_bound_is_not_negative(error: float) -> None:
    theorem = resting()
    solution = solve(theorem, for_="beta", error=error)
    assert 0 < solution.value < 1
    assert 0 < solution.bound <= error
    assert statements(solution, "obligation") == [f"the factor of '{NAME}' is below 1"]
    if error < 1e3:
        assert solution.value == pytest.approx(1 - 1 / error, rel=1e-9)
    (row,) = compare(theorem, samples=8, attack=3, restarts=2, **solution.params)
    assert row.verdict["derived"] is Verdict.KEPT
    assert Flag.CONDITIONAL.value not in row.flags.get("derived", [])


def test_what_the_obligation_forbids_is_outside_to_compare_and_no_answer() -> None:
    theorem = resting()
    (row,) = compare(theorem, samples=8, attack=0, beta=3.0)
    assert row.verdict["derived"] is Verdict.OUTSIDE
    with pytest.raises(UsageError, match="is not guaranteed: hypothesis violated: the factor"):
        solve(theorem, for_="error", beta=3.0)
    with pytest.raises(UsageError, match=r"no b gives .* hypothesis violated: the factor"):
        solve(theorem, for_="b", error=0.1, beta=3.0)


def test_an_obligation_that_cannot_be_decided_is_no_answer() -> None:
    unknown = sp.Symbol("unknown")
    owed = Obligation("unknown is small", sp.Le(unknown, 1))
    step = Step(NAME, Norm.INF, "own", 1 / k, obligations=(owed,))
    with pytest.raises(UsageError, match="not decided: unknown is small"):
        solve(own(Derivation((step,)), {k: 1.0}), for_="k", error=0.1)


def test_a_negative_bound_is_no_answer() -> None:
    falling = own(1 - k, {k: 1.0})
    solution = solve(falling, for_="k", error=0.25)
    assert 0 <= solution.bound <= 0.25
    assert solution.value == pytest.approx(0.75)
    with pytest.raises(UsageError, match="the bound is negative"):
        solve(own(-k, {k: 1.0}), for_="k", error=0.25)


# Hypotheses.


@pytest.mark.parametrize(
    ("bound", "value"), [(1001 - shift, 1000.75), (shift - 1000, 1000.25), (1 / (1001 - shift), None)]
)
def test_a_knob_on_a_bounded_interval_is_found(bound: sp.Expr, value: float | None) -> None:
    theorem = own(bound, {shift: 0.0}, sp.Gt(shift, 1000), sp.Lt(shift, 1001))
    if value is None:
        with pytest.raises(UsageError, match="the least bound found is 1, at 1000"):
            solve(theorem, for_="shift", error=0.25)
        return
    solution = solve(theorem, for_="shift", error=0.25)
    assert solution.value == pytest.approx(value, rel=1e-9)
    assert {"shift > 1000", "shift < 1001"} == set(statements(solution, "hypothesis"))


def test_an_end_that_belongs_to_the_interval_is_an_answer() -> None:
    solution = solve(own(1 / k, {k: 1.0}, sp.Le(k, 8)), for_="k", error=0.125)
    assert solution.value == 8
    with pytest.raises(UsageError, match=r"no k gives"):
        solve(own(1 / k, {k: 1.0}, sp.Lt(k, 8)), for_="k", error=0.125)


def test_whole_numbers_of_a_small_range_are_all_tried() -> None:
    solution = solve(own(1 / n, {n: 3}, sp.Ge(n, 3), sp.Le(n, 7)), for_="n", error=0.15)
    assert solution.value == 7
    with pytest.raises(UsageError, match="from 3 to 7 the least bound found is"):
        solve(own(1 / n, {n: 3}, sp.Ge(n, 3), sp.Le(n, 7)), for_="n", error=0.1)


@pytest.mark.parametrize("condition", [sp.Eq((n - 1) / 3, sp.floor((n - 1) / 3)), sp.Eq(sp.Mod(n, 3), 1)], ids=str)
def test_whole_numbers_of_a_residue_class_are_searched(condition: sp.Basic) -> None:
    hypotheses = (Hypothesis("n", condition, "a third"), Hypothesis("n", sp.Ge(n, 2, evaluate=False), "a number"))
    lattice = lattice_of(n, hypotheses)
    assert (lattice.step, lattice.start) == (3, 1)
    assert [lattice.nearest(value) for value in (1, 2.4, 2.6, 100)] == [1, 1, 4, 100]
    interval = interval_of(n, hypotheses, {}, integer=True)
    grid = grid_of(interval, Interval(), None, integer=True, lattice=lattice)
    assert min(grid.first) == 4
    assert all(value % 3 == 1 for value in (*grid.first, *grid.more))


@pytest.mark.long
def test_an_odd_number_of_layers_is_solved_for() -> None:
    found = solve("universal.transformer", for_="L", error=1e-6)
    assert found.value % 2 == 1
    assert solve("universal.transformer", for_="error", L=found.value + 2).bound > 1e-6
    with pytest.raises(UsageError, match=r"no L gives .* from 3 to .* the least bound found is .*, at 3"):
        solve("universal.transformer", for_="L", error=1e-12)


def test_a_hypothesis_that_is_not_linear_bounds_the_search() -> None:
    solution = solve(own(k, {k: 0.001}, sp.Ge(k**2, 2)), for_="k", error=3)
    assert solution.value == pytest.approx(3)
    with pytest.raises(UsageError, match=r"the hypothesis k\*\*2 >= 2 \(by assumption\) is violated"):
        solve(own(k, {k: 0.001}, sp.Ge(k**2, 2)), for_="k", error=1)


def test_a_parameter_that_is_tied_to_the_knob_follows_it() -> None:
    theorem = own(1 / (n * m), {n: 1, m: 2}, sp.Eq(m, 2 * n))
    solution = solve(theorem, for_="n", error=0.01)
    assert (solution.value, solution.params["m"]) == (8, 16)
    assert "with m = 2*n" in solution.method
    assert statements(solution, "hypothesis") == ["Eq(m, 2*n)"]


def test_the_other_way_round_only_even_numbers_are_allowed() -> None:
    theorem = own(1 / (n * m), {n: 1, m: 2}, sp.Eq(m, 2 * n))
    solution = solve(theorem, for_="m", error=0.01)
    assert (solution.value, solution.params["n"]) == (16, 8)


def test_a_tie_to_a_parameter_that_is_set_leaves_one_value() -> None:
    theorem = own(1 / (n * m), {n: 1, m: 2}, sp.Eq(m, 2 * n))
    assert solve(theorem, for_="n", error=0.01, m=32).value == 16
    with pytest.raises(UsageError, match="no n gives"):
        solve(theorem, for_="n", error=0.01, m=4)


def test_a_tie_that_is_not_linear_asks_for_the_other_parameter() -> None:
    theorem = own(1 / k, {k: 1.0, b: 1.0}, sp.Eq(sp.exp(b), k))
    with pytest.raises(UsageError, match="k is tied to b by the hypothesis"):
        solve(theorem, for_="k", error=0.1)


# Shapes.


@pytest.mark.parametrize(("error", "value"), [(2.5, 0.5), (10.1, 0.1), (2.0000001, None)])
def test_of_a_bound_that_falls_and_then_rises_the_least_value_is_returned(error: float, value: float | None) -> None:
    solution = solve(own(k + 1 / k, {k: 3.3}), for_="k", error=error)
    assert solution.bound <= error
    assert value is None or solution.value == pytest.approx(value, rel=1e-9)
    assert "first decreases, then increases. The answer is the least k found at which" in solution.method


def test_a_minimum_above_the_error_is_named() -> None:
    with pytest.raises(UsageError, match=r"the least bound found is 2, at (1|0.9999999)"):
        solve(own(k + 1 / k, {k: 3.3}), for_="k", error=1.9)


@pytest.mark.long
def test_a_bound_that_does_not_change_is_refused() -> None:
    with pytest.raises(UsageError, match="does not depend on d: it is the same at every value"):
        solve("induction.vanilla", for_="d", error=0.1, W_star="random:1")


# What is listed.


@pytest.mark.long
def test_only_parameters_on_which_the_bound_depends_are_listed() -> None:
    layer = solve("induction.vanilla", for_="p", error=1e-3, quantity="y")
    assert set(layer.params) == {"p", "L"}
    output = solve("induction.vanilla", for_="p", error=1e-3, W_star="random:1")
    assert set(output.params) == {"p", "L", "W_star"}
    step = solve("icgd.step", for_="relus", error=1e-3, quantity="gradient")
    assert set(step.params) >= {"relus", "B_v", "B_x", "activation"}
    assert not set(step.params) & {"eps", "eta", "n"}


# Refusals.


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"for_": "p"}, "the error to be met is missing"),
        ({"for_": "p", "error": -1}, "error = -1 must be a positive number"),
        ({"for_": "p", "error": math.nan}, "error = nan"),
        ({"for_": "error", "error": 1.0}, "computes the error; omit error"),
        ({"for_": "W_star", "error": 0.1}, "W_star is not a number"),
        ({"for_": "pp", "error": 0.1}, "no parameter 'pp'"),
        ({"for_": "p", "error": 0.1, "p": 3}, "do not set it"),
        ({"for_": "p", "error": 0.1, "L": (3, 4)}, "L has several values"),
        ({"for_": "p", "error": 0.1, "L": 2}, "no p gives .* L >= 3"),
        ({"for_": "p", "error": 0.1, "tier": "best"}, "tier 'best'"),
        ({"for_": "p", "error": 0.1, "quantity": "weights"}, "no derived bound"),
        ({"for_": "p", "error": 0.1, "quantity": "weights", "tier": "instance"}, "no instance bound"),
        ({"for_": "p", "error": 0.1, "quantity": "output.rate"}, "is a rate bound"),
        ({"for_": "p", "error": 0.1, "quantity": "outptu"}, "no quantity 'outptu'"),
        ({"for_": "leak", "error": 0.1}, "does not depend on leak"),
    ],
)
def test_what_cannot_be_solved_is_refused(call: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        solve("induction.vanilla", **call)


def test_a_lower_bound_keeps_no_error_small() -> None:
    with pytest.raises(UsageError, match="is a lower bound"):
        solve(own(1 / k, {k: 1.0}, kind=Kind.LOWER), for_="k", error=0.1)


def test_what_selects_the_network_is_not_solved_for() -> None:
    with pytest.raises(UsageError, match="N selects the network, so it cannot be solved for"):
        solve("icgd.step", for_="N", error=0.1)


@pytest.mark.parametrize("id", ["induction.lyapunov_head", "induction.phases", "induction.karamata"])
def test_results_that_bound_no_error_have_nothing_to_solve(id: str) -> None:
    with pytest.raises(UsageError, match="has no error bound that a parameter can reduce"):
        solve(id, for_="alpha", error=0.1)


# The seeded selection of `python -m benchmarks.solving` that runs with the tests.


@pytest.mark.long
def test_a_selection_of_all_answers_is_admitted_by_compare(capsys: pytest.CaptureFixture[str]) -> None:
    outcomes = [benchmark.ask(question) for question in benchmark.selection(6)]
    assert benchmark.report(outcomes) == 0, capsys.readouterr().out
    assert sum("compare" in each.kind for each in outcomes) >= 3


@pytest.mark.long
def test_compare_itself_admits_an_answer() -> None:
    question = benchmark.Question("induction.vanilla", "p", "instance", "output", 1e-2)
    assert benchmark.compared(question) == ""


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"verdict": {"derived": Verdict.KEPT}}, ""),
        ({"verdict": {"derived": Verdict.OUTSIDE}}, "compare: outside"),
        ({"verdict": {"derived": Verdict.VIOLATED}}, "compare: violated"),
        ({"verdict": {"derived": Verdict.KEPT}, "flags": {"derived": ["conditional"]}}, "compare: conditional"),
        ({"verdict": {"printed": Verdict.KEPT}}, "compare has no verdict on it"),
    ],
)
def test_the_benchmark_notices(changes: dict[str, Any], found: str) -> None:
    row = Row(quantity="q", kind="upper", quantifier="for all inputs", scope="network", params={}, **changes)
    assert benchmark.row_failure([row], "derived").startswith(found)
    assert bool(found) == bool(benchmark.row_failure([row], "derived"))


def test_the_benchmark_notices_a_wrong_answer() -> None:
    question = benchmark.Question("induction.vanilla", "p", "derived", "output", 1e-2)
    wrong = solve("induction.vanilla", for_="p", error=2e-2)
    assert "is not between 0 and" in benchmark.checked(question, wrong)[1]


def test_a_printed_bound_with_an_unspecified_function_is_no_number() -> None:
    theorem = find_theorem("machines.sample_complexity")
    open_ones = [q.name for q in theorem.statement.quantities if q.printed and q.printed.bound.atoms(AppliedUndef)]
    assert open_ones
    for name in open_ones:
        with pytest.raises(UsageError, match=f"the printed bound of '{name}' leaves poly unspecified"):
            probe(theorem, name, "printed", benchmark.defaults_of(theorem))


def test_a_search_gives_up_where_the_bound_is_flat_and_far_above_the_error() -> None:
    def points(error: float) -> int:
        seen: set[float] = set()

        def at(value: float) -> KnobProbe:
            seen.add(value)
            return KnobProbe(State.ADMISSIBLE, Bound(flint.arb(1 + (math.log2(value) - 9.3) ** 2 / 1e4)))

        grid = Grid(tuple(2**k for k in range(0, 19, 3)), tuple(2**k for k in range(19)))
        with pytest.raises(NoAnswerError):
            Search(at, grid, error, integer=True).run()
        return len(seen)

    assert points(0.5) + 5 < points(
        0.99
    )  # which is close below the least bound, so that golden sections close in on it


def test_a_search_does_not_draw_weights_beyond_what_fits() -> None:
    d, b = sp.Symbol("d", integer=True, positive=True), sp.Symbol("b", positive=True)
    output = bs.matrix("W", d, d, row_sums=1).rounded(b) @ bs.vector("x", d, size=1)
    own = bs.theorem("wide", output, parameters={d: 4, b: 0.01})
    assert bs.solve(own, for_="d", error=0.1).value == 20
    widest = bs.solve(own, for_="d", error=1e4)
    assert widest.value == 2896  # 2^26 bytes
    assert "the weights take more than 64 MiB" in str(widest)
    assert widest.method.startswith("over d from 1 to 2896 the bound increases. The answer is the largest d found")
