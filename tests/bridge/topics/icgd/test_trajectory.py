"""L steps of the network beside gradient descent: no bound exceeded, L_f above every quotient, errata shown again."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from bridge.export.comparison import Comparison
from bridge.instances.bindings import LOCAL
from bridge.instances.inputs import Batch
from bridge.instances.instance import Instance
from bridge.judging.elsewhere import rows_elsewhere
from bridge.judging.judged import again, judged_at
from bridge.limits.run import Run
from bridge.lowering.activations import activation_formula, loss_formula
from bridge.questions.compare import compare
from bridge.questions.replaying import replay
from bridge.theorems.record import Flag, Row, Verdict, Witness
from bridge.theorems.refutable import sentences_on
from bridge.topics.icgd.iterates import iterates
from bridge.topics.icgd.path import IteratePath
from bridge.topics.icgd.smoothness import gap_above, smoothness_here, smoothness_of_layers
from bridge.topics.icgd.trajectory import TRAJECTORY, path_of
from numeric.balls import BallArray
from numeric.tools.layered import autograd_gradient, empirical_loss
from numeric.topics.icgd.network import IcgdNetwork
from symbolic.calculus.activations import loss as loss_named
from symbolic.statements.errata import Weight
from symbolic.topics.icgd import exact_runs
from symbolic.topics.icgd import trajectory as theory
from symbolic.topics.icgd.trajectory import L_f, gap
from symbolic.words.errors import UsageError
from tests.bridge.topics.icgd.built import chain_of, emulation_of, prompt_bounds, setting_of
from tests.numeric.topics.icgd.by_definition import exact_step

SMALL = {"L": 3, "N": 2, "K": 3, "d": 2, "n": 3, "relus": 12}
QUICK = {"samples": 4, "attack": 2, "restarts": 4}
SETTINGS = [
    {},
    {"N": 1, "eta": 0.3, "L": 2},
    {"N": 3, "eta": 0.01, "activation": "gelu", "loss": "huber"},
    {"activation": "sigmoid", "loss": "logistic", "eta": 1.0},
    {"activation": "sin", "loss": "log_cosh", "B_v": 1.5, "eta": 4.0},
]


@cache
def instance_of(**changes: Any) -> Instance:
    return Instance.of(TRAJECTORY, {**SMALL, **changes})


def run(**changes: Any) -> Comparison:
    return compare("icgd.trajectory", **{**SMALL, **QUICK, **changes})


def row_of(comparison: Comparison, name: str, scope: str | None = "network") -> Row:
    (row,) = (row for row in comparison if row.quantity == name and row.scope == scope)
    return row


def gradient(instance: Instance, w: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """By automatic differentiation of the loss: none of the theorem's own formulas."""
    s = setting_of(instance)
    return autograd_gradient(s.shape, w, x, y, activation_formula(s.activation), plain_loss(s.loss.name))


def drawn(instance: Instance, count: int, seed: int) -> dict[str, Tensor]:
    """So many random prompts, and as many from which an attack starts."""
    both = instance.inputs.sample(count, seed), instance.inputs.starts(count, seed)
    return {name: torch.cat([each[name] for each in both]) for name in ("w", "x", "y")}


def path(instance: Instance, points: Sequence[Tensor], x: Tensor, y: Tensor) -> IteratePath:
    return path_of(chain_of(instance), emulation_of(instance), points, x, y)


def risks_of(instance: Instance, inputs: Mapping[str, Tensor]) -> Tensor:
    chain = chain_of(instance)
    return torch.func.vmap(chain.risk)(*(inputs[name] for name in "wxy"))


def plain_loss(name: str) -> Any:
    return {
        "square": lambda t, y: (t - y) ** 2,
        "huber": lambda t, y: torch.sqrt(1 + (t - y) ** 2) - 1,
        "log_cosh": lambda t, y: torch.log(torch.cosh(t - y)),
        "logistic": lambda t, y: torch.log(1 + torch.exp(t)) - y * t,
    }[name]


@pytest.mark.long
@pytest.mark.parametrize("changes", SETTINGS[1:4], ids=str)
def test_no_bound_is_exceeded(changes: Mapping[str, Any]) -> None:
    comparison = run(**changes)
    for row in comparison:
        if row.quantity.startswith("erratum."):
            continue
        assert set(row.verdict.values()) <= {Verdict.KEPT, Verdict.OUTSIDE}, row
        if row.quantity != theory.gradient_mapping_quantity().name:
            assert Verdict.OUTSIDE not in row.verdict.values(), row
        assert row.exact is not None
    steps = int(comparison.params["L"])
    last = row_of(comparison, f"path[{steps}]")
    assert last.instance <= last.derived * (1 + 1e-9)


@pytest.mark.parametrize("changes", SETTINGS, ids=str)
def test_prompt_bounds_hold_at_every_prompt_and_a_mutant_would_not(changes: Mapping[str, Any]) -> None:
    instance = instance_of(**changes)
    last = instance.quantity(f"path[{instance.known['L']}]")
    mapping = instance.quantity("gradient_mapping")
    inputs = drawn(instance, 24, 5)
    found = instance.runs.errors(inputs, [last.name, mapping.name])
    eps_alone, local = (prompt_bounds(instance, last, inputs, scope) for scope in ("prompt", LOCAL))
    assert (found[last.name] <= eps_alone * (1 + 1e-9)).all()
    assert (found[last.name] <= local * (1 + 1e-9)).all()
    assert (local <= eps_alone * (1 + 1e-6)).all()
    network = instance.bounds.instance(last, "network")
    assert network is not None
    assert (eps_alone <= float(network.ball) * (1 + 1e-9)).all()
    assert (eps_alone <= setting_of(instance).diameter * (1 + 1e-9)).all()
    assert (found[mapping.name] <= prompt_bounds(instance, mapping, inputs, "prompt") * (1 + 1e-9)).all()
    if not changes:  # the local bound is near the error somewhere, so that a lost factor of two would show
        assert float(torch.nan_to_num(found[last.name] / local).max()) > 0.5


def test_the_bounds_on_balls_enclose_those_on_tensors() -> None:
    instance = instance_of(eta=0.01)
    inputs = instance.inputs.sample(1, 3)
    for name, scope in (("path[3]", "prompt"), ("path[3]", LOCAL), ("gradient_mapping", "prompt")):
        quantity = instance.quantity(name)
        ball = instance.bounds.instance(quantity, scope, inputs)
        assert ball is not None
        assert float(ball.ball) == pytest.approx(float(prompt_bounds(instance, quantity, inputs, scope)), rel=1e-6)
        assert not ball.outside
    x, y, w = (inputs[name][0] for name in "xyw")
    found = path(instance, iterates(w, x, y, emulation_of(instance), 3), x, y)
    risk = partial(chain_of(instance).risk, x=x, y=y)
    fall, errors = risk(found.points[0]) - risk(found.points[3]), torch.stack(found.gradient_errors("prompt"))
    assert float(ball.ball) == pytest.approx(float(2 * fall / (0.01 * 3) + errors.square().mean()), rel=1e-6)
    odd, at_zero = instance_of(relus=13), {name: 0 * value for name, value in inputs.items()}
    at_kink = odd.bounds.instance(odd.quantity("path[3]"), LOCAL, at_zero)
    assert at_kink.ball > 2.0**-40 * emulation_of(odd).r.error  # as balls may not decide values there


@pytest.mark.parametrize("changes", SETTINGS, ids=str)
def test_l_f_is_above_every_quotient_of_gradients(changes: Mapping[str, Any]) -> None:
    instance = instance_of(**changes)
    s = setting_of(instance)
    box = torch.as_tensor(s.shape.box(s.B_v))
    generator = torch.Generator().manual_seed(1)
    worst = 0.0
    for inputs in (instance.inputs.sample(60, 2), instance.inputs.starts(60, 2)):
        w, x, y = inputs["w"], inputs["x"], inputs["y"]
        for size in (1e-4, 0.3):
            other = (w + size * torch.randn(w.shape, generator=generator, dtype=torch.float64) * box).clamp(-box, box)
            change = gradient(instance, other, x, y) - gradient(instance, w, x, y)
            quotient = change.norm(dim=-1) / (other - w).norm(dim=-1)
            worst = max(worst, float(quotient.max()))
    printed = float(instance.letters.numbers[L_f])
    assert worst <= float(smoothness_here(s, emulation_of(instance))) <= printed * (1 + 1e-9)
    assert worst > printed / 100  # L_f is not a large number


@pytest.mark.parametrize("changes", SETTINGS, ids=str)
def test_l_f_near_a_point_is_above_the_quotients_there(changes: Mapping[str, Any]) -> None:
    instance = instance_of(**changes)
    s, generator = setting_of(instance), torch.Generator().manual_seed(2)
    box = torch.as_tensor(s.shape.box(s.B_v))
    w, x, y = drawn(instance, 40, 4).values()
    sharpest = 0.0
    for radius in (1e-6, 0.05, 0.4):
        near = torch.func.vmap(
            lambda w, x, y, radius=radius: path(instance, [w], x, y).smoothness_near(
                w, torch.tensor(radius, dtype=torch.float64)
            )
        )(w, x, y)
        ends = []
        for _ in range(2):
            step = torch.randn(w.shape, generator=generator, dtype=torch.float64)
            step = radius * step / step.norm(dim=-1, keepdim=True)
            ends.append((w + step).clamp(-box, box))
        change = (gradient(instance, ends[0], x, y) - gradient(instance, ends[1], x, y)).norm(dim=-1)
        quotient = change / (ends[0] - ends[1]).norm(dim=-1)
        assert (quotient <= near * (1 + 1e-6)).all()
        assert (near <= float(smoothness_here(s, emulation_of(instance))) * (1 + 1e-9)).all()
        sharpest = max(sharpest, float((quotient / near).max()))
    assert sharpest > 0.05


@pytest.mark.parametrize("changes", SETTINGS, ids=str)
def test_the_gap_covers_every_fall_of_the_risk(changes: Mapping[str, Any]) -> None:
    instance = instance_of(**changes)
    s = setting_of(instance)
    inputs = instance.inputs.sample(80, 6)
    prompt = inputs["x"][:1].expand_as(inputs["x"]), inputs["y"][:1].expand_as(inputs["y"])
    risks = empirical_loss(s.shape, inputs["w"], *prompt, activation_formula(s.activation), plain_loss(s.loss.name))
    assert 0 < float(risks.max() - risks.min()) <= float(instance.letters.numbers[gap])
    found = risks_of(instance, {"w": inputs["w"], "x": prompt[0], "y": prompt[1]})
    assert torch.allclose(found, risks, rtol=1e-13)


def test_the_gap_of_a_loss_that_can_be_negative() -> None:
    instance = instance_of()
    s = replace(setting_of(instance), loss=loss_named("logistic"), B_y=3.0)
    outputs = emulation_of(instance).ranges.outputs
    t = torch.linspace(-outputs, outputs, 401, dtype=torch.float64)
    values = [torch.log(1 + torch.exp(t)) - y * t for y in (-3.0, 0.0, 3.0)]
    drops = [float(each.max() - each.min()) for each in values]
    assert max(drops) * s.shape.d_y / 2 <= float(gap_above(s, emulation_of(instance).ranges))


def test_the_steps_are_those_of_the_whole_network_and_of_the_reference() -> None:
    instance = instance_of()
    s, inputs = setting_of(instance), instance.inputs.sample(4, 7)
    w, x, y = inputs["w"], inputs["x"], inputs["y"]
    whole = IcgdNetwork(replace(emulation_of(instance).construction(SMALL["n"]), steps=3)).run(
        w, x, y, taps=("trajectory",)
    )["trajectory"]
    functions = activation_formula(s.activation), activation_formula(s.activation, 1), loss_formula(s.loss, 1)
    points = [w]
    for _ in range(3):
        points.append(exact_step(s.shape, points[-1], x, y, *functions, s.eta, s.B_v)["w"])
    exact = torch.stack(points[1:], 1)
    found = instance.runs.errors(inputs, ["path[1]", "path[2]", "path[3]", "gradient_mapping"])
    for l in (1, 2, 3):  # noqa: E741 - the paper's letter
        assert torch.allclose(found[f"path[{l}]"], (whole - exact)[:, l - 1].norm(dim=-1), rtol=1e-9, atol=1e-15)
    points = [w, whole[:, 0], whole[:, 1]]
    box = torch.as_tensor(s.shape.box(s.B_v))
    moved = [torch.clamp(v - s.eta * gradient(instance, v, x, y), -box, box) for v in points]
    squares = [((v - after) / s.eta).square().sum(-1) for v, after in zip(points, moved, strict=True)]
    assert torch.allclose(found["gradient_mapping"], sum(squares) / 3, rtol=1e-9)


def test_the_exact_run_is_what_the_floats_round() -> None:
    instance = instance_of()
    inputs = instance.inputs.sample(1, 8)
    names = [quantity.name for quantity in instance.bounds.quantities.values() if quantity.scopes]
    floats, exact = instance.runs.errors(inputs, names), instance.runs.exact(inputs, names, 128)
    for name in names:
        ball, rounding = exact[name]
        assert abs(float(floats[name]) - float(ball)) <= rounding + 1e-16 <= 1e-12
    chain, point = chain_of(instance), [BallArray.exactly(inputs[name][0], 128) for name in "wxy"]
    found = chain.values(*point)["gradient"]
    wanted = gradient(instance, inputs["w"], inputs["x"], inputs["y"])[0]
    assert [float(ball) for ball in found.balls] == pytest.approx(wanted.tolist(), rel=1e-9, abs=1e-14)
    assert float(chain.risk(*point).midpoint()) == pytest.approx(float(risks_of(instance, inputs)), rel=1e-12)


def test_an_envelope_is_the_sum_of_relus_in_the_middle_of_a_cell() -> None:
    instance = instance_of(relus=13)
    for name, found in (("r", emulation_of(instance).r), ("r'", emulation_of(instance).r1)):
        middle = torch.tensor(2.5 * found.width, dtype=torch.float64)  # of 12 cells: 0 is a knot
        off = abs(chain_of(instance).envelopes[name].exact(middle) - found.relu_sum(middle))
        assert float(off) < 0.1 * float(found.error)


def test_one_step_is_eta_times_the_error_of_the_gradient() -> None:
    instance = instance_of()
    inputs = instance.inputs.sample(3, 9)
    eta = setting_of(instance).eta

    def at_one(w: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> tuple[list[torch.Tensor], ...]:
        found = path(instance, iterates(w, x, y, emulation_of(instance), 3), x, y)
        gradients = found.gradient_errors("prompt")
        return found.distances(gradients), gradients, found.smoothness_along()

    first, errors, steepest = torch.func.vmap(at_one)(*(inputs[name] for name in "wxy"))
    assert torch.equal(first[0], eta * errors[0])
    assert len(first) == len(errors) == len(steepest) == 3
    for l in (1, 2):  # noqa: E741 - the paper's letter
        assert (first[l] > first[l - 1] + eta * errors[l]).all()


def test_the_derived_eps_is_what_was_asked_for_and_kept_by_the_gradient() -> None:
    from symbolic.topics.icgd.symbols import eps

    instance = instance_of(relus=0, eps=0.02)
    assert 0 < float(instance.letters.numbers[eps]) <= 0.02
    inputs = instance.inputs.sample(32, 1)
    s = setting_of(instance)
    step = IcgdNetwork(emulation_of(instance).construction(SMALL["n"])).run(
        inputs["w"], inputs["x"], inputs["y"], taps=("gradient",)
    )
    error = step["gradient"] - gradient(instance, inputs["w"], inputs["x"], inputs["y"])
    assert float(error.norm(dim=-1).max()) <= float(instance.letters.numbers[eps])
    printed = instance.bounds.printed(instance.quantity("path[1]"))
    smooth = float(instance.letters.numbers[L_f])
    assert printed is not None
    assert float(printed.ball) == pytest.approx((1 + SMALL["n"] * smooth) * 0.02 / smooth)
    assert s.eta < SMALL["n"]


@pytest.mark.long
@pytest.mark.parametrize(("eta", "verdict"), [(0.01, Verdict.KEPT), (0.5, Verdict.OUTSIDE)])
def test_the_gradient_mapping_is_outside_where_the_step_is_long(eta: float, verdict: Verdict) -> None:
    comparison = run(eta=eta, attack=0, samples=2)
    row = row_of(comparison, "gradient_mapping")
    assert set(row.verdict.values()) == {verdict}
    assert ("are short: L_f*eta <= 1" in row.remark) is (verdict is Verdict.OUTSIDE)
    # Lemma 14 prints eta <= L_f, which holds here; it is read as eta <= 1/L_f, and no violation is laid to the bound.
    assert ("printed as eta <= L_f" in row.remark) is (verdict is Verdict.OUTSIDE)
    assert eta < float(instance_of(eta=eta).letters.numbers[L_f])
    assert row_of(comparison, "path[3]").verdict["derived"] is Verdict.KEPT  # it asks for no short step


def test_a_step_beyond_one_over_l_f_is_outside_what_is_printed() -> None:
    instance = instance_of(N=1, eta=50.0)
    mapping, path = instance.quantity("gradient_mapping"), instance.quantity("path[3]")
    assert "hypothesis violated: eta <= 1/L_f" in instance.bounds.printed(mapping).outside
    assert not instance.bounds.printed(path).outside
    inputs = instance.inputs.sample(2, 0)
    first = {name: value[:1] for name, value in inputs.items()}
    assert "along the path" in instance.bounds.instance(mapping, "prompt", first).outside
    assert torch.isinf(prompt_bounds(instance, mapping, inputs, "prompt")).any()


# --- What was found beside the bounds --------------------------------------------------------------------------------


ONE = Run(samples=1, attack=0, restarts=1, seed=0)


def check(name: str, samples: int = 1, **changes: Any) -> Row:
    judged = [each for each in judged_at(instance_of(**changes)) if name in each.names]
    own = [row for each in judged for row in each.rows(replace(ONE, samples=samples))]
    return next(row for row in own or rows_elsewhere(TRAJECTORY) if row.quantity == name)


@pytest.mark.parametrize("changes", [{}, {"activation": "gelu"}, {"activation": "sin", "N": 3}], ids=str)
def test_descent_from_zero_never_moves(changes: Mapping[str, Any]) -> None:
    row = check("start.zero", **changes)
    assert (row.derived, row.exact, row.measured) == (0.0, 0.0, 0.0)
    assert row.verdict["derived"] is Verdict.KEPT
    assert row.flags["derived"] == [Flag.ATTAINED]
    assert "vacuously" in row.remark


@pytest.mark.parametrize("changes", [{"N": 1}, {"activation": "sigmoid"}, {"activation": "softplus"}], ids=str)
def test_descent_from_zero_moves_where_it_should(changes: Mapping[str, Any]) -> None:
    row = check("start.zero", samples=60, **changes)
    assert 0 < row.exact <= row.derived < 40 * row.exact
    assert "moves from there" in row.remark
    path = check("start.zero.path", **changes)
    assert 0 < path.exact <= path.instance <= path.derived * (1 + 1e-12)


def saved(row: Row, folder: Path) -> str:
    assert row.witness is not None
    path = folder / "witness.json"
    path.write_text(row.witness.model_dump_json())
    return str(path)


def test_every_erratum_stands_beside_its_repair() -> None:
    rows = list(rows_elsewhere(TRAJECTORY))
    names = [f"erratum.{check.__name__}" for check in exact_runs.WITNESSES]
    assert [row.quantity for row in rows] == [each for name in names for each in (name, f"{name}.repaired")]
    for refuted, repaired in zip(rows[::2], rows[1::2], strict=True):
        assert (refuted.verdict, repaired.verdict) == ({"printed": Verdict.VIOLATED}, {"derived": Verdict.KEPT})
        assert repaired.erratum is None


def test_a_witness_is_computed_from_its_own_numbers(tmp_path: Path) -> None:
    row = check("erratum.examples_for_step_size")
    row.witness.inputs["step"] = [1.0, 2.0]  # eta = 1/2 < n: the printed bound holds
    found = replay(saved(row, tmp_path))
    assert found.verdict["printed"] is Verdict.KEPT
    assert found.erratum is None
    assert found.measured == pytest.approx(0.5 * 0.01)


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("erratum.examples_for_step_size", {"step": [-1.0, 1.0]}, "step > 0"),
        ("erratum.descent_without_projection", {"x": [0.0, 1.0]}, "x not 0"),  # its L_f would be 0
        ("erratum.examples_for_step_size", {"steps": [1.0, 2.0]}, "steps whole"),
        ("erratum.examples_for_step_size", {"step": [1.0, 0.0]}, "not 0"),
        ("erratum.examples_for_step_size", {"step": [0.5, 1.0]}, "two whole numbers"),
        ("erratum.examples_for_step_size", {"step": [1.0]}, "takes inputs of shapes"),
        ("erratum.examples_for_step_size", {"more": [1.0, 1.0]}, "takes inputs of shapes"),
        ("erratum.steps_up_to_the_constant", {"step": [5.0, 1.0]}, "step <= L_f; got 5 > 4"),
        ("erratum.least_against_the_sum", {"steps": [1.0, 1.0]}, "steps >= 2"),
    ],
)
def test_a_witness_that_meets_no_hypothesis_is_refused(
    name: str, changes: Mapping[str, list[float]], message: str, tmp_path: Path
) -> None:
    row = check(name)
    row.witness.inputs.update(changes)
    with pytest.raises(UsageError, match=message):
        replay(saved(row, tmp_path))


def test_checks_about_zero_replay_from_their_prompt() -> None:
    instance = instance_of(N=1)
    inputs = {name: value[0] for name, value in instance.inputs.sample(1, 0).items()}

    witness = Witness(result=TRAJECTORY.id, quantity="", params={}, inputs={}, error_lower=0.0, bounds={})

    def replayed(name: str, inputs: Batch) -> Row:
        return again(instance, witness.model_copy(update={"quantity": name}), inputs)

    with pytest.raises(UsageError, match="about the start w = 0"):
        replayed("start.zero", inputs)
    with pytest.raises(UsageError, match="takes inputs of shapes"):
        replayed("start.zero", {**inputs, "x": inputs["x"][:1], "y": inputs["y"][:1]})
    with pytest.raises(UsageError, match="no quantity or check 'erratum"):
        replayed("erratum.nothing", inputs)
    at_zero = {**inputs, "w": torch.zeros_like(inputs["w"])}
    assert replayed("start.zero", at_zero).exact > 0
    assert replayed("start.zero.path", at_zero).verdict["derived"] is Verdict.KEPT


def test_an_accuracy_beyond_floats_is_named() -> None:
    comparison = run(relus=0, eps=1e-12, N=3, attack=0, samples=2)
    row = row_of(comparison, "path[3]")
    assert row.verdict == {"derived": Verdict.NOT_REPRESENTABLE}
    assert row.derived is not None
    assert row.measured is None
    assert "ReLUs" in row.remark
    assert row_of(comparison, "start.zero", None).verdict["derived"] is Verdict.KEPT


@pytest.mark.long
def test_a_network_of_one_example_and_a_large_step_refutes_the_printed_path() -> None:
    """n in the place of eta, on a network: one step of eta = 60 errs by more than (1 + n L_f) eps/L_f with n = 1."""
    comparison = run(N=1, d=1, n=1, L=1, eta=60.0, B_y=0.02, attack=30, samples=100)
    row = row_of(comparison, "path[1]")
    assert row.verdict["printed"] is Verdict.VIOLATED
    assert row.verdict["derived"] is Verdict.KEPT
    assert row.erratum.weight == Weight.NOTATION
    assert row.witness is not None


def test_solving_shows_the_errata_of_the_quantity() -> None:
    named = {
        "path[L]": {"examples_for_step_size", "constant_of_the_risk", "descent_without_projection"},
        "gradient_mapping": {"steps_up_to_the_constant", "least_against_the_sum"},
    }
    for name, errata in named.items():
        first = [words.partition(":")[0] for words in sentences_on(TRAJECTORY, TRAJECTORY.statement.quantity(name))]
        assert {words for words in first if words.startswith("erratum.")} == {f"erratum.{each}" for each in errata}
    path = TRAJECTORY.statement.quantity("path[L]")
    assert sentences_on(TRAJECTORY, path)[-1] == path.remark


def test_l_f_is_no_large_number_where_it_is_simple() -> None:
    """One neuron, one layer: the quotient of two close gradients reaches a tenth of L_f."""
    instance = instance_of(N=1, d=1, K=1)
    w = torch.linspace(-1, 1, 400, dtype=torch.float64)[:, None]  # (B, 1): the box
    x, y = torch.ones(400, SMALL["n"], 1, dtype=torch.float64), torch.ones(400, SMALL["n"], 1, dtype=torch.float64)
    gradients = gradient(instance, w, x, y)
    quotients = (gradients.diff(dim=0) / w.diff(dim=0)).abs()
    bound = float(smoothness_of_layers(setting_of(instance), emulation_of(instance).ranges))
    assert bound / 10 < float(quotients.max()) <= bound
    radius = w[1] - w[0]
    near = torch.func.vmap(lambda *at: path(instance, at[:1], *at[1:]).smoothness_near(at[0], radius[0]))(w, x, y)
    assert (quotients[:, 0] <= near[:-1]).all()  # also where r'' < 0 adds to the curvature, as u < 0 there


@pytest.mark.long
def test_the_bounds_on_a_path_are_those_of_the_record() -> None:
    """A letter that the statement keeps, and that only a prompt knows better, has its worst instance there."""
    record = Path(__file__).parents[3] / "yardstick" / "records" / "icgd.trajectory.json"
    rows = json.loads(record.read_text())["rows"]
    stored = [row for row in rows if row["quantity"].startswith("path[") and row["scope"] == "network"]
    found = {row.quantity: row for row in compare("icgd.trajectory", samples=2, attack=0) if row.scope == "network"}
    assert len(stored) == 4
    for row in stored:
        assert found[row["quantity"]].printed == pytest.approx(row["printed"], rel=1e-9)
        assert found[row["quantity"]].derived == pytest.approx(row["derived"], rel=1e-9)
