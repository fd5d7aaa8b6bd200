"""Random programs keep their bounds and attain them; wrong rules, planted on purpose, are found and shown."""

import functools
import inspect
import re
import typing

import numpy as np
import pytest
import sympy as sp

import benchmarks.fuzzing
import symbolic.calculus
from symbolic.calculus import Approximated, Norm
from tests.symbolic.fuzzing import planted
from tests.symbolic.fuzzing.evaluation import evaluate, satisfied
from tests.symbolic.fuzzing.fuzzer import EXACT_KINDS, MOVES, Tally, fuzz, library
from tests.symbolic.fuzzing.maps import operator_norm
from tests.symbolic.fuzzing.move import Move
from tests.symbolic.fuzzing.realised import Measured
from tests.symbolic.fuzzing.vectors import lengths, supporting, units

SHARDS, PROGRAMS = 2, 500  # 1,000 programs of 64 points each; `python -m benchmarks.fuzzing` runs more
RULES = sorted({move.rule for move in MOVES.values()})


@pytest.mark.parametrize("seed", range(SHARDS))
def test_random_programs_keep_every_bound_and_attain_the_sharp_ones(seed: int) -> None:
    tally = fuzz(PROGRAMS, seed)
    assert not tally.violations, str(tally.violations[0])
    assert SHARDS * tally.programs >= 1_000
    assert SHARDS * tally.points >= 50_000
    assert tally.not_attained() == []
    layers = tally.counts["iterate, any layer"]
    assert layers.refused < layers.points / 64
    assert seed > 0 or layers.refused > 0  # there are some 25 a shard, few of them refused


def test_every_rule_that_concludes_a_value_is_fuzzed() -> None:
    exported = {name: vars(symbolic.calculus)[name] for name in symbolic.calculus.__all__}
    concluding = {
        name
        for name, rule in exported.items()
        if inspect.isfunction(rule) and typing.get_type_hints(rule).get("return") is Approximated
    }
    assert concluding == set(RULES)


# --- wrong rules -----------------------------------------------------------------------------------------------------


def found(rule: str, wrong: planted.Rule, *more: str, programs: int = 60) -> Tally:
    """A short run of programs that are rich in the planted rule."""
    names = {name: move for name, move in MOVES.items() if move.rule == rule or name in more}
    return fuzz(programs, 11, rules=library() | {rule: wrong}, moves=names)


def assert_blamed(tally: Tally, rule: str, quantity: str) -> None:
    assert len(tally.violations) == 1
    violation = tally.violations[0]
    assert re.fullmatch(quantity, violation.measured.quantity)
    assert f"{violation.step} = {rule}(" in violation.lines[-1].text
    assert re.search(rf"\(seed 11, program \d+, point {violation.point}\)", str(violation))


def sharp_rules(loose: typing.Callable[[Move], str]) -> list[str]:
    return [r for r in RULES if any(not loose(move) for move in MOVES.values() if move.rule == r)]


EXACT = {"hard_max", "correct"}  # their bound is 0: there is no smaller one


@pytest.mark.parametrize("rule", [r for r in sharp_rules(lambda m: m.error_loose) if r not in EXACT | {"confine"}])
def test_an_error_bound_that_is_a_thousandth_too_small_is_found(rule: str) -> None:
    tally = found(rule, planted.changed(library()[rule], planted.smaller_error))
    assert_blamed(tally, rule, "local error")


@pytest.mark.parametrize("rule", [r for r in sharp_rules(lambda m: m.size_loose) if r != "confine"])
def test_a_size_that_is_a_thousandth_too_small_is_found(rule: str) -> None:
    tally = found(rule, planted.changed(library()[rule], planted.smaller_size))
    assert_blamed(tally, rule, "size")


@pytest.mark.parametrize("rule", ["given", "linear_map", "mean", "correct", "attend"])
def test_a_radius_that_is_a_thousandth_too_small_is_found(rule: str) -> None:
    tally = found(rule, planted.changed(library()[rule], planted.smaller_radius), "given")
    assert_blamed(tally, rule, "radius")


WRONG = [
    ("attend", planted.attention_without_radius(library()["attend"]), "local error"),
    ("change_norm", planted.changed(library()["change_norm"], planted.called_probabilities), "probabilities"),
    ("change_norm", planted.changed(library()["change_norm"], planted.called_affine), "probabilities"),
    (
        "softmax_as_linear",
        planted.changed(library()["softmax_as_linear"], planted.called_probabilities),
        "probabilities",
    ),
    ("linear_map", planted.changed(library()["linear_map"], planted.another_dim), "dim"),
    ("mean", planted.changed(library()["mean"], planted.another_norm), "norm|local error|error|size"),
    ("add", planted.changed(library()["add"], planted.forgetting), "error"),
    ("softmax", planted.changed(library()["softmax"], planted.owing), r"obligation \(the size is below 0\)"),
]


@pytest.mark.parametrize(("rule", "wrong", "quantity"), WRONG, ids=[f"{rule}: {q[:12]}" for rule, _, q in WRONG])
def test_other_wrong_promises_are_found(rule: str, wrong: planted.Rule, quantity: str) -> None:
    assert_blamed(found(rule, wrong), rule, quantity)


def test_a_wrong_norm_alone_is_found() -> None:
    only_one = {"change_norm": MOVES["change_norm"]}
    to_itself = planted.changed(library()["change_norm"], planted.another_norm)
    tally = fuzz(60, 11, rules=library() | {"change_norm": to_itself}, moves=only_one)
    assert tally.violations


def test_a_layer_that_does_not_fit_its_successor_is_found() -> None:
    """The size that a layer was derived with grows, or its argument leaves the range: the fuzzer sees what follows."""
    rules = library() | {"recursion_from": planted.recursion_without_premises}
    tally = fuzz(100, 11, rules=rules, moves={"any layer": MOVES["iterate, any layer"]}, most_violations=5)
    assert len(tally.violations) == 5
    assert all(re.fullmatch("local error|error|size", violation.measured.quantity) for violation in tally.violations)


def test_a_loose_rule_is_reported_as_not_attained() -> None:
    """A bound 2 % too large is not a violation, but no point attains it."""

    def larger(value: Approximated) -> Approximated:
        return planted.with_last(value, local=value.derivation.steps[-1].local * sp.Rational(51, 50))

    rules = library() | {"project": planted.changed(library()["project"], larger)}
    moves = {name: MOVES[name] for name in ("project, ball", "project, box", "given")}
    tally = fuzz(80, 5, rules=rules, moves=moves)
    assert not tally.violations
    assert tally.not_attained(moves) == ["project, ball: error", "project, box: error"]


@pytest.mark.parametrize("key", ["size", "dim", "operator_norm"])
def test_a_rule_that_does_not_refuse_a_wrong_number_is_found(key: str) -> None:
    """Programs call each rule once more, with a number that violates what it presupposes."""

    def careless(x: Approximated, name: str, **named: typing.Any) -> Approximated:
        wrong = key in named and (named[key] is sp.nan or named[key] == -1)
        return library()["linear_map"](x, name, **{**named, **({key: 1} if wrong else {})})

    names = {name: MOVES[name] for name in ("linear_map", "given")}
    tally = fuzz(60, 11, rules=library() | {"linear_map": careless}, moves=names)
    assert [v.measured.quantity for v in tally.violations] in ([f"refusal of {key}=nan"], [f"refusal of {key}=-1"], [])
    assert bool(tally.violations) == (key != "size")  # a linear map takes no size


# --- what a failure shows --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_a_failure_prints_code_that_runs_to_the_same_bound(seed: int) -> None:
    wrong = planted.changed(library()["linear_map"], planted.smaller_error)
    names = {name: MOVES[name] for name in ("linear_map", "add", "confine", "pool", "attend", "iterate, derived layer")}
    violation = fuzz(60, seed, rules=library() | {"linear_map": wrong}, moves=names).violations[0]
    names_of = library() | {"linear_map": wrong, "Norm": Norm, "Symbol": sp.Symbol, "Dummy": sp.Dummy, "Eq": sp.Eq}
    at_hand = {**names_of, "Rational": sp.Rational, "Integer": sp.Integer}
    program = "\n".join(line.text for line in violation.lines)
    exec(program, at_hand)
    conclusion = at_hand[violation.step]
    values = {sp.Symbol(n, positive=True): float(v) for n, v in re.findall(r"^(a\d+) = .*# (.*)$", program, re.M)}
    premise = conclusion.derivation.steps[-1].premises[0]
    alone = re.search(rf"{premise} = given\(.*error=(\S+?),", violation.alone)
    assert alone is not None
    error = {at_hand[premise].error_symbol: float(alone[1])}
    local = evaluate(conclusion.derivation.steps[-1].local, values | error)
    assert local == pytest.approx(float(np.broadcast_to(violation.measured.bound, 64)[violation.point]), rel=1e-12)
    assert violation.alone.count("# exact") == 2


@pytest.mark.long
def test_one_seed_gives_one_run() -> None:
    first, second, other = (fuzz(15, seed).table() for seed in (3, 3, 4))
    assert first == second != other


@pytest.mark.long
def test_the_long_run_exits_with_1_for_a_violation_and_with_0_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = library() | {"given": planted.changed(library()["given"], planted.smaller_error)}
    monkeypatch.setattr("sys.argv", ["fuzzing", "--points", "1900", "--seed", "11"])
    assert benchmarks.fuzzing.main() == 0
    shown = capsys.readouterr()
    assert "30 programs, 1920 points, 0 violations" in shown.out
    assert shown.err.count("\n") == 10
    monkeypatch.setattr(benchmarks.fuzzing, "fuzz", functools.partial(fuzz, rules=wrong))
    assert benchmarks.fuzzing.main() == 1
    assert "given: the local error of" in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["fuzzing", "--points", "0"])
    with pytest.raises(SystemExit, match="2"):
        benchmarks.fuzzing.main()


# --- the tools -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", Norm)
def test_supporting_functionals_attain_the_norm_and_exceed_it_nowhere(norm: Norm) -> None:
    rng = np.random.default_rng(0)
    v, w = rng.normal(size=(2, 500, 3))
    phi = supporting(v, norm)
    assert np.allclose((phi * v).sum(-1), lengths(v, norm), rtol=1e-12)
    assert np.all((phi * w).sum(-1) <= lengths(w, norm) * (1 + 1e-12))
    assert np.allclose(lengths(units(v, norm), norm), 1.0, rtol=1e-12)
    assert np.array_equal(units(np.zeros((1, 3)), norm), [[1.0, 0.0, 0.0]])


@pytest.mark.parametrize("source", Norm)
@pytest.mark.parametrize("target", Norm)
def test_operator_norms_are_attained_and_not_exceeded(source: Norm, target: Norm) -> None:
    rng = np.random.default_rng(1)
    matrix = rng.normal(size=(3, 2))
    angle = np.linspace(0, np.pi, 20_001)
    around = units(np.stack([np.cos(angle), np.sin(angle)], -1), source)
    stretched = lengths(around @ matrix.T, target).max()
    assert operator_norm(matrix, source, target) == pytest.approx(stretched, rel=1e-6)


def test_bounds_are_evaluated_as_sympy_does_and_unknown_nodes_are_named() -> None:
    x, n, k = sp.symbols("x n k", positive=True)
    layers = sp.Sum(x**k * sp.Product(1 + 1 / k, (k, 1, 2)), (k, 0, n)) + sp.Max(x, 2, sp.exp(-x)) - sp.Min(1, x)
    cases = sp.Piecewise((sp.tanh(x), sp.Eq(x, 1)), (sp.log(x) + sp.Abs(x) + sp.pi, True))
    expression, at = layers + cases, {x: 0.5, n: 3.0}
    assert evaluate(expression, at) == pytest.approx(float(expression.subs(at).doit()), rel=1e-12)
    assert evaluate(sp.zoo**k, {k: 0.0}) == 1.0
    with pytest.raises(TypeError, match="no rule for sin"):
        evaluate(sp.sin(x), at)
    with pytest.raises(TypeError, match=r"no case of .* applies"):
        evaluate(sp.Piecewise((x, sp.Gt(x, 1))), at)
    assert satisfied(sp.And(sp.Lt(x, 1), sp.Ge(n, 3)), at)
    assert not satisfied(sp.Gt(x, n), at)
    assert satisfied(sp.true, at)


def test_a_bound_that_is_no_number_is_violated() -> None:
    assert Measured("error", np.nan, 0.0).violated
    assert not Measured("error", 1.0, 1.0 + 1e-10).violated
    assert Measured("error", 1.0, 1.0 + 1e-8).violated


def test_programs_in_exact_rationals_of_floats_end_and_hold() -> None:
    tally = fuzz(30, seed=1, points=16, kinds=EXACT_KINDS)
    assert tally.programs == 30
    assert not tally.violations
