"""Theorem 1 on a grid: no bound of ours is exceeded, the accuracies asked for are kept, and the bounds are tight."""

import itertools
import math
from pathlib import Path

import flint
import pytest
import torch

from benchmarks.icgd_bounds import (
    ACTIVATIONS,
    DEPTHS,
    DIMENSIONS,
    RELUS,
    WIDTHS,
    attack_error,
    ratio_at,
    step_at,
    tightness,
    worst_share,
)
from bridge.instances.bindings import LOCAL
from bridge.instances.point import first_defaults, resolved
from bridge.judging.elsewhere import rows_elsewhere
from bridge.judging.measure import evidence_at
from bridge.limits.run import Run
from bridge.questions.compare import compare
from bridge.questions.errata import errata as listed
from bridge.questions.replaying import replay
from bridge.questions.solve import solve
from bridge.theorems.record import Row, Verdict
from bridge.theorems.registry import find_theorem
from symbolic.statements.catalogue import RUNNING
from symbolic.statements.errata import Weight
from symbolic.topics.icgd import errata
from symbolic.topics.icgd import symbols as letters
from symbolic.words.errors import UsageError
from tests.bridge.topics.icgd.built import instance_at

QUICK = {"samples": 8, "attack": 20, "restarts": 4}
ICGD = [id for id in RUNNING if id.startswith("icgd.")]


# An eighth of the grid each, so that all sizes are met; `benchmarks.icgd_bounds --grid` runs all of it.
SIZES = list(itertools.product(WIDTHS, DIMENSIONS))


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("N", [pytest.param(N, marks=[pytest.mark.long] if N > 3 else []) for N in DEPTHS])
def test_no_bound_is_exceeded(N: int, name: str) -> None:
    for K, d in SIZES[(DEPTHS.index(N) + 4 * ACTIVATIONS.index(name)) % 8 :: 8]:
        instance = step_at(N=N, K=K, d=d, n=3, B_v=0.5, relus=RELUS[name], activation=name)
        attack = 20 if K == 16 else 0
        assert all(share <= 1 for share in worst_share(instance, attack).values()), (K, d)


@pytest.mark.long
@pytest.mark.parametrize("eps", [1e-1, 1e-2, 1e-3, 1e-6])
@pytest.mark.parametrize("N", DEPTHS)
def test_the_step_keeps_the_accuracy_asked_for(N: int, eps: float) -> None:
    # The knobs come from the derived tier alone; B_v sqrt(max(K, d)) = 1.
    place = DEPTHS.index(N) + int(-math.log10(eps))
    chosen = [(SIZES[place % 9], ACTIVATIONS[place % 4])]
    if eps == 1e-6:
        chosen.append(((64, 64), ACTIVATIONS[(place + 1) % 4]))
    for (K, d), name in chosen:
        instance = step_at(N=N, K=K, d=d, n=3, B_v=1 / math.sqrt(max(K, d)), eps=eps, activation=name)
        gradient = instance.quantity("gradient")
        assert instance.refusal is None
        derived = instance.bounds.derived(gradient)
        assert derived is not None
        assert derived.ball <= eps
        with torch.no_grad():
            assert float(instance.runs.errors(instance.inputs.sample(8, 0), ["gradient"])["gradient"].max()) <= eps
    attacked = evidence_at(instance, gradient, attack_error(instance, Run(1, 20, 4, 0)))
    assert attacked.exact <= eps


@pytest.mark.long
def test_bounds_are_tight() -> None:
    shallow, deep = (tightness(N, steps=40, restarts=6) for N in (3, 6))  # `make bench` searches longer
    assert shallow.attacked["prompt"] <= 4
    assert deep.attacked["prompt"] <= 8
    assert shallow.at_corners["prompt"] <= 30
    assert deep.at_corners["prompt"] <= 120
    assert shallow.attacked[LOCAL] <= 1.5
    assert deep.attacked[LOCAL] <= 2
    assert max(shallow.at_corners[LOCAL], shallow.uniform[LOCAL]) <= 2
    assert max(deep.at_corners[LOCAL], deep.uniform[LOCAL]) <= 4
    for found in (shallow, deep):  # and what the paper prints is far above
        assert found.printed > 100 * found.attacked_error
        assert found.slack["gradient"] >= 1


def test_a_bound_scaled_down_is_found_out() -> None:
    instance = step_at(N=2, K=4, d=2, n=2, relus=32)
    gradient = instance.quantity("gradient")
    found = attack_error(instance, Run(1, 100, 12, 0))
    evidence = evidence_at(instance, gradient, found)
    local = instance.bounds.instance(gradient, LOCAL, found)
    assert local is not None
    assert evidence.exact <= local.ball
    assert evidence.exact > local.ball * flint.arb("0.9")
    assert ratio_at(instance, found, "prompt") <= 4


def rows(id: str, **params: object) -> list[Row]:
    return compare(id, **{**QUICK, **params}).rows


def by_name(found: list[Row], name: str, scope: str | None = "network") -> list[Row]:
    return [row for row in found if row.quantity == name and row.scope == scope]


@pytest.mark.long
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_low_precision_is_reported_as_rounding(dtype: str) -> None:
    found = rows("icgd.dimensions", N=2, K=4, d_x=2, d_y=2, n=4, dtype=dtype)
    assert not [row for row in found if Verdict.VIOLATED in (row.verdict.get("derived"), row.verdict.get("instance"))]
    gradient = by_name(found, "gradient")[0]
    assert gradient.rounding > 1e-9
    assert gradient.verdict["derived"] is Verdict.KEPT
    # The float error may exceed the bound by its rounding: the verdict comes from exact arithmetic.
    assert gradient.exact <= gradient.derived


@pytest.mark.parametrize(("id", "name"), [("icgd.backward", "columns"), ("icgd.step", "square_root")])
def test_checks_refute_what_is_printed_and_replay(id: str, name: str, tmp_path: Path) -> None:
    (row,) = [row for row in rows_elsewhere(find_theorem(id)) if row.quantity == f"erratum.{name}"]
    assert row.verdict == {"printed": Verdict.VIOLATED, "derived": Verdict.KEPT}
    assert "N = 2" in row.remark
    assert replayed(row, tmp_path).exact == row.exact


def replayed(row: Row, folder: Path) -> Row:
    """The row again, from its witness; the printed tier is violated there too."""
    path = folder / "witness.json"
    path.write_text(row.witness.model_dump_json())
    again = replay(str(path))
    assert again.verdict["printed"] is Verdict.VIOLATED
    return again


# One parameter set for each erratum that a comparison shows: `at`, and for the ranges the defaults.
SHOWN = {
    "norm[forward]": ("icgd.forward", errata.NORM_FORWARD),
    "norm[derivative]": ("icgd.derivative", errata.NORM_DERIVATIVE),
    "norm[loss_gradient]": ("icgd.loss_gradient", errata.NORM_LOSS_GRADIENT),
    "norm[step]": ("icgd.step", errata.NORM_STEP),
    "range_r": ("icgd.forward", errata.RANGE_R),
    "range_r1": ("icgd.derivative", errata.RANGE_R1),
    "range_u": ("icgd.loss_gradient", errata.RANGE_U),
}


@pytest.mark.long
@pytest.mark.parametrize("name", SHOWN)
def test_an_erratum_shows_where_it_says(name: str, tmp_path: Path) -> None:
    id, erratum = SHOWN[name]
    found = rows(id, **{"N": 2, "samples": 64, **dict(erratum.at)})
    (row,) = [r for r in found if r.quantity == name]
    assert row.verdict["printed"] is Verdict.VIOLATED
    assert row.verdict["derived"] is Verdict.KEPT
    assert (row.erratum.weight, row.erratum.repair) == (erratum.weight, erratum.repair)
    about = {"range_r": "Lemma 2 prints the range R_1", "range_r1": "Lemma 3 prints the range R_2"}
    about["range_u"] = "Lemma 4 prints the range R_3"
    assert row.remark == about.get(name, "")  # the erratum says the rest
    replayed(row, tmp_path)


@pytest.mark.long
def test_where_outputs_are_many_and_activations_grow_all_errata_show(tmp_path: Path) -> None:
    wide = rows("icgd.step", N=[2, 3], K=4, d=16, n=3, activation="softplus", relus=32)
    violated = [row for row in wide if row.verdict.get("printed") is Verdict.VIOLATED]
    assert {row.quantity for row in violated} >= {*SHOWN, "erratum.square_root"} - {"norm[step]"}
    assert all(row.erratum.survives.startswith("yes: ") for row in violated)
    for row in {row.quantity: row for row in violated}.values():
        replayed(row, tmp_path)
    assert not [row for row in wide if Verdict.VIOLATED in (row.verdict.get("derived"), row.verdict.get("instance"))]


@pytest.mark.long
def test_lemma_6_takes_an_upper_bound_of_the_slopes() -> None:
    """softplus' grows with its argument: the recursion of Lemma 3 stays below it, and that is no erratum."""
    params = {"N": 2, "K": 4, "d": 4, "n": 2, "B_x": 0.1, "relus": 32}
    instance = instance_at("icgd.backward", **params, activation="softplus")
    numbers = instance.letters.numbers
    by_recursion, supremum, B_l = (float(numbers[letter]) for letter in (letters.B_r1, letters.b_r1, letters.B_l))
    assert by_recursion < 0.9 * supremum
    assert float(instance.bounds.printed(instance.quantity("size_s")).ball) == pytest.approx(2 * supremum**2 * B_l)
    found = rows("icgd.backward", **params, activation="softplus", samples=64)
    assert not [row for row in found if Verdict.VIOLATED in row.verdict.values() and row.params]
    lemma_3 = instance_at("icgd.derivative", **params, B_v=2.0, activation="softplus")
    R_2 = float(lemma_3.bounds.printed(lemma_3.quantity("range_r1")).ball)
    assert R_2 > 1
    assert pytest.approx(2 * float(lemma_3.letters.numbers[letters.B_r1])) == R_2


# --- A printed range


@pytest.mark.long
@pytest.mark.parametrize(
    ("id", "first", "second"), [("icgd.forward", "p[1]", "p[2]"), ("icgd.derivative", "r'[1]", "r'[2]")]
)
def test_sums_of_relus_on_the_printed_range_violate_the_printed_error(
    id: str, first: str, second: str, tmp_path: Path
) -> None:
    """R_1 = R_2 = 1 at the defaults: the sizes that the errata name."""
    found = rows(id, N=2, R=1.0, samples=64)
    (covered,), (beyond,) = by_name(found, first), by_name(found, second)
    assert set(covered.verdict.values()) == {Verdict.KEPT}  # its arguments stay within B_v B_x = 1
    assert beyond.verdict == {"printed": Verdict.VIOLATED, "derived": Verdict.OUTSIDE, "instance": Verdict.OUTSIDE}
    assert beyond.measured > 2 * beyond.printed
    assert beyond.erratum.weight == Weight.CONSTANT
    assert beyond.erratum.survives.endswith("for N = 2 and R = 1")
    assert "hypothesis violated" in beyond.remark
    assert "R = 1.0" in beyond.remark
    again = replayed(beyond, tmp_path)
    assert (again.exact, again.verdict["derived"]) == (beyond.exact, Verdict.OUTSIDE)
    for scope in ("prompt", LOCAL):
        (row,) = by_name(found, second, scope)
        assert row.verdict == {"instance": Verdict.OUTSIDE}
    printed = {row.quantity: row.printed for row in found if row.quantity.startswith("range")}
    assert list(printed.values()) == pytest.approx([1.0], rel=1e-3)


def test_automatic_is_the_word_for_zero() -> None:
    theorem = find_theorem("icgd.step")
    words = dict.fromkeys(theorem.knobs.automatic, "automatic")
    assert resolved(theorem, {"N": 2, **words}) == resolved(theorem, {"N": 2})
    with pytest.raises(UsageError, match="K = 'automatic' is not a number"):
        resolved(theorem, {"N": 2, "K": "automatic"})


def test_the_stored_witnesses_have_a_hidden_layer() -> None:
    """Definition 1 has N >= 2: nothing is held against the paper at N = 1."""
    stored = [entry.witness for entry in listed(*ICGD)]
    assert all(witness is not None and witness.params.get("N", 2) >= 2 for witness in stored)  # blocks have no N


@pytest.mark.long
def test_on_a_range_that_suffices_nothing_is_outside() -> None:
    found = rows("icgd.forward", N=2, R=2.0, samples=64)
    (output,) = by_name(found, "p[2]")
    assert set(output.verdict.values()) == {Verdict.KEPT}
    assert output.erratum is None


@pytest.mark.parametrize("id", ICGD)
def test_what_zero_computes_is_automatic(id: str) -> None:
    theorem = find_theorem(id)
    own = {"icgd.gradient": set(), "icgd.relu_sum": set(), "icgd.diffusion": {"scale"}, "icgd.softmax": set()}
    own |= {"icgd.softmax_step": {"cells"}, "icgd.pretraining": set()}
    numbers = [each for each in theorem.statement.parameters if each.symbol is not None and each.name != "order"]
    zero = {each.name for each in numbers if each.default == 0}
    assert zero == set(theorem.knobs.automatic) == own.get(id, {"relus", "R", "relus_r1"})


@pytest.mark.parametrize("id", ICGD)
def test_0_is_automatic_in_a_run_and_no_value_of_the_statement(id: str) -> None:
    theorem = find_theorem(id)
    automatic, stated = theorem.knobs.automatic, theorem.statement
    zero = dict.fromkeys(automatic, 0)
    resolved(theorem, {**first_defaults(theorem), **zero})
    refused = {each.parameter for each in stated.hypotheses if each.parameter in zero and each.complaint(zero)}
    assert refused == set(automatic)
    for name in automatic:
        with pytest.raises(UsageError, match=rf"{name} = -1\S* does not meet {name} >=? [01] \(.*; 0: "):
            resolved(theorem, {**first_defaults(theorem), name: -1})


@pytest.mark.long
def test_the_least_number_of_relus_is_solved_for() -> None:
    found = solve("icgd.step", for_="relus", error=1e-2, N=2)
    enough, fewer = (step_at(N=2, relus=int(found.value) - less) for less in (0, 1))
    bounds = [instance.bounds.derived(instance.quantity("gradient")) for instance in (enough, fewer)]
    assert [bound is not None and bool(bound.ball <= 1e-2) for bound in bounds] == [True, False]


@pytest.mark.long
@pytest.mark.parametrize(("id", "sizes"), [("icgd.step", {"d": 8}), ("icgd.dimensions", {"d_x": 3, "d_y": 8})])
def test_norms_and_sizes_are_counted(id: str, sizes: dict) -> None:
    found = {row.quantity: row for row in rows(id, N=3, K=4, n=3, **sizes) if row.scope is None}
    violated = {name for name, row in found.items() if row.verdict.get("printed") is Verdict.VIOLATED}
    norms = {f"norm[{part}]" for part in ("forward", "derivative", "loss_gradient")}
    assert norms <= violated if id == "icgd.step" else not norms & violated
    assert all("printed" not in found[name].verdict for name in ("heads", "relus", "width"))  # orders alone
    assert all(row.verdict["derived"] is Verdict.KEPT for row in found.values())
    attained = ("norm[forward]", "norm[step]", "heads", "width")
    assert all(found[name].flags["derived"] == ["attained"] for name in attained)


@pytest.mark.long
def test_what_a_float_network_cannot_do_is_not_representable() -> None:
    found = rows("icgd.step", N=6, K=64, d=64, n=2, B_v=1.0, eps=1e-6)
    gradient = by_name(found, "gradient")[0]
    assert gradient.verdict == {"derived": Verdict.NOT_REPRESENTABLE}
    assert "ReLUs" in gradient.remark
    assert "bits" in gradient.remark


def test_relu_is_outside_the_hypotheses() -> None:
    (gradient,) = by_name(rows("icgd.step", N=2, activation="relu"), "gradient")
    assert gradient.verdict == {"printed": Verdict.OUTSIDE, "derived": Verdict.OUTSIDE}
    assert "4 continuous derivatives" in gradient.remark


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"eps": 0.0}, "eps = 0.0 does not meet eps > 0"),
        ({"N": 0}, "N = 0 does not meet N >= 1"),
        ({"K": 0, "relus": -1}, "K = 0 does not meet K >= 1 .*; relus = -1 does not meet relus >= 1"),
        ({"relus": 2}, "at least 3"),
        ({"relus_r1": 5}, "relus_r1 = 5 requires relus; give both or neither"),
        ({"N": 3, "relus": 64, "R": 0.5}, r"R = 0\.5 is too small: the arguments of r and r' reach 1"),
        ({"N": 3, "eps": 0.1, "R": 0.5}, r"R = 0\.5 is too small: the arguments of r and r' reach 1"),
        ({"N": 6, "K": 64, "d": 64, "B_v": 40.0, "activation": "gelu", "relus": 3}, "grows beyond"),
        ({"relus": 2_000_000}, "2000000 ReLUs, more than 1000000"),
        ({"activation": "tahn"}, "Did you mean tanh?"),
        ({"loss": "squared"}, "Did you mean square?"),
    ],
)
def test_what_cannot_be_run_is_refused_in_one_sentence(params: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        compare("icgd.step", **{**QUICK, **params})
