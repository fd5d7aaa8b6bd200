"""Tables as prompts: predictions against gradient descent written out by hand, bounds at real rows, refusals."""

import csv
from pathlib import Path

import numpy as np
import pytest
import torch

from bridge.cli import main
from bridge.export.comparison import Comparison
from bridge.instances.instance import Instance
from bridge.instances.real import Real, real_instance, suiting
from bridge.limits.run import Format, Run
from bridge.lowering.activations import activation_formula
from bridge.questions.compare import compare
from bridge.questions.replaying import replay
from bridge.theorems.data import ScaledTable, Table, scaled
from bridge.theorems.record import Row, Verdict, Witness
from bridge.theorems.registry import find_theorem
from bridge.theorems.tables import load_table
from bridge.topics.icgd.table import OUTPUT_RANGES, PROMPT_LIMIT, STARTS, STEPS, Lessons, learning
from numeric.topics.icgd.network import IcgdNetwork
from symbolic import UsageError
from symbolic.calculus.activations import ACTIVATIONS
from tests.bridge.topics.icgd.built import emulation_of, setting_of
from tests.counting import Tensors

ID = "icgd.dimensions"
SHIPPED = str(Path(__file__).parents[4] / "examples" / "boiling_points.csv")
TARGET = "boiling_point"
SMALL = {"K": 4, "n": 12, "L": 3, "relus": 128}


def instance_of(table: Table | None = None, *, seed: int = 0, **params: object) -> Instance:
    table, theorem = table or load_table(None, SHIPPED, TARGET), find_theorem(ID)
    return real_instance(theorem, {**suiting(theorem, params, table), **params}, table, Run(seed=seed))


def data_of(instance: Instance) -> ScaledTable:
    assert isinstance(instance.inputs, Real)
    return instance.inputs.data


def learning_of(instance: Instance, seed: int = 0) -> Lessons:
    prompt = {name: each[0] for name, each in instance.inputs.sample(1, seed).items()}
    return learning(instance.known["chain"], **prompt, data=data_of(instance), L=instance.known["L"], **Format().names)


def network_of(instance: Instance) -> IcgdNetwork:
    return IcgdNetwork(emulation_of(instance).construction(len(data_of(instance).x)))


def predictions(found: Instance | Comparison) -> dict[str, Row]:
    rows = found.rows if isinstance(found, Comparison) else found.inputs.predictions(found.shown, found.inputs.run)
    return {row.quantity.removeprefix("prediction."): row for row in rows if row.quantity.startswith("prediction.")}


def by_hand(w: torch.Tensor, table: Table, K: int, steps: int, B_v: float, eta: float) -> tuple[float, float]:
    """Two tanh layers, square loss: the prediction in raw units and the risk, by autograd, from the table itself."""
    d = table.features.shape[1]
    prompt = slice(None, -1)
    features = (table.features - table.features[prompt].mean(0)) / table.features[prompt].std(0)
    features = torch.tensor(features / np.linalg.norm(features[prompt], axis=1).max(), dtype=torch.float64)
    centred = table.targets[:, 0] - table.targets[prompt, 0].mean()
    unit = 0.9 / np.abs(centred[prompt]).max()
    y = torch.tensor(centred[prompt] * unit)
    V = [w[: K * d].reshape(K, d), w[K * d :].reshape(1, K)]

    def outputs(V: list[torch.Tensor]) -> torch.Tensor:
        return torch.tanh(torch.tanh(features @ V[0].T) @ V[1].T)[:, 0]

    def risk(V: list[torch.Tensor]) -> torch.Tensor:
        return ((outputs(V)[prompt] - y) ** 2).sum() / (2 * len(y))

    for _ in range(steps):
        leaves = [each.detach().requires_grad_(True) for each in V]
        slopes = torch.autograd.grad(risk(leaves), leaves)
        V = [
            (v - eta * g).detach().clamp(-(B_v / v.shape[1] ** 0.5), B_v / v.shape[1] ** 0.5)
            for v, g in zip(leaves, slopes, strict=True)
        ]
    return float(outputs(V)[-1] / unit + table.targets[prompt, 0].mean()), float(risk(V))


@pytest.mark.parametrize("eta", [2.0, 40.0])  # at 40 the box clips
def test_the_predictions_are_those_of_gradient_descent_by_hand(eta: float) -> None:
    table = load_table(None, SHIPPED, TARGET)
    instance = instance_of(**SMALL, N=2, eta=eta, seed=3)
    w = instance.inputs.sample(1, 3)["w"][0]
    expected, risk = by_hand(w, table.first(13), 4, 3, 2.0, eta)
    rows = predictions(instance)
    assert rows["exact"].measured == pytest.approx(expected, rel=1e-10)
    (risks,) = instance.inputs.tables()
    assert dict(risks.rows)["after L exact steps"] == pytest.approx(risk, rel=1e-10)
    target = float(table.targets[12, 0])
    assert rows["target"].measured == pytest.approx(target)
    assert rows["exact.error"].measured == pytest.approx(abs(expected - target))
    assert rows["mean"].measured == pytest.approx(table.targets[:12].mean())
    assert rows["network"].measured == pytest.approx(expected, abs=0.5)
    assert rows["difference"].measured == pytest.approx(abs(rows["network"].measured - rows["exact"].measured))


def test_the_network_comes_closer_with_more_relus() -> None:
    apart = [predictions(instance_of(**{**SMALL, "relus": m}))["difference"].measured for m in (32, 512)]
    assert 0 < apart[1] < apart[0] / 50  # errors fall with the square of the number: 256 times


def test_the_layers_after_the_last_step_predict() -> None:
    instance = instance_of(**SMALL)
    w, x, y = instance.inputs.sample(1, 0).values()
    learnt = learning_of(instance).network
    network = network_of(instance)
    for _ in range(instance.known["L"]):
        w = network.run(w, x, y, taps=("w",))["w"]
    assert torch.equal(learnt.w, w[0])
    final = network.run(w, x, y, torch.as_tensor(data_of(instance).x_query)[None], taps=("p[3]",))["p[3]"]
    assert torch.equal(learnt.prediction, final[0, -1])


@pytest.mark.parametrize(("activation", "N", "stays"), [("tanh", 2, True), ("tanh", 1, False), ("sigmoid", 2, False)])
def test_from_zero_nothing_moves_where_the_gradient_vanishes(activation: str, N: int, stays: bool) -> None:
    rows = predictions(instance_of(**{**SMALL, "N": N, "activation": activation}))
    row = rows["from_zero"]
    assert (row.flags == {"measured": ["w = 0 is stationary"]}) == stays
    assert ("the gradient vanishes there" in row.remark) == stays
    if stays:
        assert row.measured == pytest.approx(rows["mean"].measured)


def test_every_activation_that_the_theorem_admits_has_a_range_and_a_step() -> None:
    admitted = {name for name, each in ACTIVATIONS.items() if each.smoothness >= 4}
    assert set(OUTPUT_RANGES) == set(STEPS) == admitted
    t = torch.linspace(-50, 50, 2001, dtype=torch.float64)
    for name in admitted:
        values = activation_formula(name)(t)
        low, high = OUTPUT_RANGES[name] or (-np.inf, np.inf)
        assert low <= values.min()
        assert values.max() <= high


@pytest.mark.parametrize("activation", sorted(STEPS))
@pytest.mark.parametrize("source", [("diabetes", None, None), (None, SHIPPED, TARGET)], ids=["diabetes", "boiling"])
def test_the_default_steps_lower_the_risk(activation: str, source: tuple[str | None, ...]) -> None:
    instance = instance_of(load_table(*source), activation=activation)
    for seed in range(3):
        found = learning_of(instance, seed)
        assert found.risk(found.exact.w) < 0.98 * found.risk(found.w), seed


def test_tables_are_inside_the_hypotheses_with_several_starts() -> None:
    instance = instance_of(**SMALL)
    inputs = instance.inputs.sample(256, 0)
    assert len(inputs["w"]) == STARTS
    assert len(torch.unique(inputs["w"], dim=0)) == STARTS
    box = torch.as_tensor(setting_of(instance).shape.box(setting_of(instance).B_v))
    assert bool((inputs["w"].abs() < box).all())
    for i in range(STARTS):
        instance.inputs.require({name: value[i : i + 1] for name, value in inputs.items()})


def test_a_query_beyond_the_prompt_is_flagged(tmp_path: Path) -> None:
    lines = Path(SHIPPED).read_text().splitlines()[:14]
    far = tmp_path / "far.csv"
    far.write_text("\n".join([*lines, "60,0,0,0,843.6,600"]) + "\n")
    rows = predictions(compare(ID, csv=str(far), target=TARGET, samples=1, K=4, L=2, N=2, relus=64))
    assert "query outside B_x" in rows["network"].flags["measured"]
    assert "> B_x = 1: outside; the sums of ReLUs are certified for ||x||_2 <= B_x" in rows["network"].remark
    assert "certified" not in rows["exact"].remark
    inside = predictions(instance_of(**SMALL))
    assert not scaled(load_table(None, SHIPPED, TARGET).first(13), 1.0, 1.0, output_range=(-1.0, 1.0)).outside
    assert not inside["network"].flags


def test_a_table_keeps_the_bounds_and_predicts(tmp_path: Path) -> None:
    made = compare(ID, csv=SHIPPED, target=TARGET, samples=2, N=2, K=8, relus=64)
    for row in made:
        for tier in ("derived", "instance"):
            assert row.verdict.get(tier, Verdict.KEPT) is Verdict.KEPT, row
        assert row.attacked is None
    scopes = {row.scope for row in made if row.quantity in ("gradient", "w")}
    assert scopes == {"network", "prompt", "prompt, local"}
    rows = predictions(made)
    assert rows["network.error"].measured < rows["mean.error"].measured
    risks = dict(made.tables[0].rows)
    assert risks["after L steps of the network"] < risks["before the first step"] / 2
    assert (made.params["n"], made.params["d_x"], made.params["d_y"]) == (54, 5, 1)


def test_a_witness_replays_without_the_table(tmp_path: Path) -> None:
    instance = instance_of(**SMALL)
    inputs = instance.inputs.sample(1, 0)
    error = instance.runs.exact(inputs, ["gradient"], 64)["gradient"][0]
    witness = Witness(
        result=ID,
        quantity="gradient",
        scope="prompt, local",
        params=instance.known.full,
        inputs={name: value.tolist() for name, value in inputs.items()},
        error_lower=float(error),
        bounds={},
    )
    path = tmp_path / "witness.json"
    path.write_text(witness.model_dump_json())
    row = replay(str(path))
    assert row.verdict["instance"] is Verdict.KEPT
    assert row.measured == pytest.approx(float(error))
    bound = instance.bounds.instance(instance.quantity("gradient"), "prompt, local", inputs)
    assert row.instance == pytest.approx(float(bound.ball))


def test_an_accuracy_asked_for_sets_the_relus() -> None:
    table = load_table(None, SHIPPED, TARGET)
    assert "relus" not in suiting(find_theorem(ID), {"eps": 0.5}, table)
    assert emulation_of(instance_of(**{**SMALL, "relus": 0, "eps": 0.5})).relus > 3
    rows = predictions(instance_of(**{**SMALL, "relus": 0, "eps": 1e-11}))  # no network can be built
    assert "exact" in rows
    assert "network" not in rows


def test_large_tables_have_no_bounds_at_the_prompt() -> None:
    rng = np.random.default_rng(0)
    table = Table(
        rng.normal(size=(PROMPT_LIMIT // 256 + 10, 3)), rng.normal(size=(PROMPT_LIMIT // 256 + 10, 1)), ("",) * 3, ""
    )
    quantity = instance_of(table).quantity("gradient")
    assert quantity.scopes == ("network",)
    assert "too many rows and weights" in quantity.remark


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"d_x": 7}, "d_x = 7 for the 5 columns of .*; leave d_x out"),
        ({"d_y": 2, "n": 99}, "d_y = 2 for the 1 targets of .*; n = 99, but .* has 55 rows .*; take n = 2 to 54"),
        ({"n": 1}, "take n = 2 to 54"),
        ({"n": 10**6}, "take n = 2 to 54"),
        ({"L": 0}, "L = 0 does not meet L >= 1"),
        ({"K": 10**5}, r"K = 100000, .*, n = 54: needs about \S+ GiB of memory, this machine has .*; lower them"),
        ({"activation": "relu"}, "activation 'relu' has 0 continuous derivatives"),
        ({"attack": 5}, "is measured as it is and not attacked"),
    ],
)
def test_what_does_not_fit_is_refused(params: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        compare(ID, csv=SHIPPED, target=TARGET, **params)


@pytest.mark.parametrize("size", [{"n": 10**6}, {"K": 10**5}])
def test_random_inputs_beyond_memory_are_refused_before_the_start(size: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="GiB of memory, this machine has"):
        compare(ID, N=3, **size)


@pytest.mark.parametrize("id", ["icgd.step", "icgd.forward"])
def test_only_theorem_5_takes_tables(id: str) -> None:
    with pytest.raises(UsageError, match="takes no --data and no --csv"):
        compare(id, csv=SHIPPED, target=TARGET)


def test_the_terminal_shows_gradient_and_w_beside_the_predictions(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--set", "N=2", "--set", "K=4", "--set", "n=12", "--set", "relus=32", "--samples", "1"]
    assert main(["compare", ID, "--csv", SHIPPED, "--target", TARGET, *options]) == 0
    shown = {line.split(" ")[0] for line in capsys.readouterr().out.splitlines()}
    assert {"gradient", "w", "prediction.network", "prediction.target", "prediction.from_zero"} <= shown
    assert "p[1]" not in shown


def test_the_shipped_table_is_what_the_readme_says() -> None:
    lines = Path(SHIPPED).read_text().splitlines()
    rows = [{key: float(cell) for key, cell in row.items()} for row in csv.DictReader(lines)]
    assert len(rows) == 55
    for row in rows:
        hydrogen = 2 * row["carbon"] + 2 + row["nitrogen"] - 2 * row["double_bonds"] - 2 * (row["oxygen"] == 2)
        atoms = ((12.011, row["carbon"]), (1.008, hydrogen), (15.999, row["oxygen"]), (14.007, row["nitrogen"]))
        assert row["molar_mass"] == pytest.approx(sum(mass * count for mass, count in atoms), abs=0.06)
    families: dict[tuple[float, ...], list[tuple[float, float]]] = {}
    for row in rows:
        family = (row["oxygen"], row["nitrogen"], row["double_bonds"])
        families.setdefault(family, []).append((row["carbon"], row["boiling_point"]))
    for family in families.values():
        points = [point for _, point in sorted(family)]
        assert points == sorted(points)  # a longer chain boils later


def test_one_step_on_all_patients_is_small() -> None:
    table = load_table("diabetes", None, None)
    instance = instance_of(table)
    assert (len(data_of(instance).x), emulation_of(instance).relus) == (441, 256)
    inputs = instance.inputs.sample(1, 0)
    with Tensors() as seen:
        network = network_of(instance)
        network.run(inputs["w"], inputs["x"], inputs["y"], torch.as_tensor(data_of(instance).x_query)[None])
    assert seen.numbers < 5 * 2**16  # 2.5 MiB in float64: the weights of one layer as dense matrices alone have more
