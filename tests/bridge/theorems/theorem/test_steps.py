"""The steps of a theorem at a prompt: by `bs.steps` and by the command."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import boundsmith as bs
from bridge.theorems.parts import ExactRuns
from examples import sample_mean
from symbolic.words.errors import UsageError
from tests.bridge.cli.conftest import Command, refused
from tests.bridge.theorems.theorem.test_handles import N, d, deep, eps, layer
from tests.bridge.theorems.theorem.theorems import own_file, product

EXAMPLES = Path(__file__).parents[4] / "examples"


def two_layers(**changes: Any) -> bs.Theorem:
    """Each layer a step of its own, and the first one a quantity too."""
    first = layer(bs.rules.given("x", dim=d, size=1))
    hidden = replace(first, name="r(W p)")
    last = bs.rules.linear_map(hidden, "out", operator_norm=1, dim=d, matrix="I")
    from tests.bridge.theorems.theorem.test_handles import handles, states

    return deep(
        hidden,
        last,
        network=lambda W, x, eps: states(W, x, 1, 1 - eps),
        reference=lambda W, x: states(W, x, 1),
        handles=lambda W, x, eps: {**handles(W, x, eps), "I": 1},
        **changes,
    )


def test_the_steps_of_the_main_quantity() -> None:
    x = torch.tensor([0.5, -1.0, 0.25], dtype=torch.float64)
    steps = bs.steps(two_layers(), {"x": x}, eps=0.1)
    assert [row.name for row in steps] == ["x", "W p", "r(W p)", "out"]
    assert steps["out"].error == steps["r(W p)"].error
    assert steps["x"].size == 1
    hidden = bs.steps(two_layers(), {"x": x}, eps=0.1, quantity="r(W p)")
    assert [row.name for row in hidden] == ["x", "W p", "r(W p)"]


def test_on_balls_each_number_is_an_upper_bound() -> None:
    floats, proved = (bs.steps(deep(), seed=1, exact=exact, eps=0.1) for exact in (False, True))
    assert (floats.proved, proved.proved) == (False, True)
    for one, other in zip(floats, proved, strict=True):
        for name in ("size", "error", "bound"):
            assert getattr(other, name) == pytest.approx(getattr(one, name), rel=1e-9)
    assert proved["out"].error <= proved["out"].bound


def test_the_supremum_alone() -> None:
    sharp, coarse = (bs.steps(deep(), eps=0.1, local=local)["out"].bound for local in (True, False))
    assert sharp < coarse


def test_a_prompt_outside_the_domain() -> None:
    with pytest.raises(UsageError, match=r"deep: .*x"):
        bs.steps(deep(), {"x": [2.0, 0.0, 0.0]}, eps=0.1)
    with pytest.raises(UsageError, match=r"deep: .*x"):
        bs.steps(deep(), {"x": [0.5, 0.5]}, eps=0.1)


def test_a_theorem_without_handles() -> None:
    with pytest.raises(UsageError, match="product does not bind the operands of its steps"):
        bs.steps(product())


def test_bounds_with_probability_have_no_steps_at_a_prompt() -> None:
    words = "means does not bind the operands of its steps, since its bounds hold with probability, or in expectation"
    with pytest.raises(UsageError, match=words):
        bs.steps(sample_mean.own)


def test_handles_of_bounds_with_probability_are_refused() -> None:
    theorem = replace(sample_mean.own, inputs={"x": bs.domains.Ball(2)}, handles=lambda signs: {"draw": signs})
    with pytest.raises(UsageError, match=r"means: the handles: no bound is judged at a prompt \(one with probability"):
        bs.compare(theorem, n=4, samples=2, attack=0)


def test_without_inputs_there_is_no_prompt() -> None:
    theorem = bs.theorem("fixed", bs.vector("x", d, size=1, weight=True), parameters={d: 2})
    with pytest.raises(UsageError, match="fixed does not bind the operands of its steps, since it has no inputs"):
        bs.steps(theorem)


def test_a_quantity_that_is_not_read() -> None:
    theorem = deep(bs.rules.given("other", dim=d, size=1, error=eps), *_conclusions())
    with pytest.raises(UsageError, match="'other' is not read at a prompt; there are: out"):
        bs.steps(theorem, quantity="other")


def _conclusions() -> list[bs.Approximated]:
    return [bs.rules.repeat(bs.rules.given("x", dim=d, size=1), "out", layer, N)]


def test_sizes_too_large_for_balls() -> None:
    with pytest.raises(UsageError, match="deep: the steps take more than 100 ball operations; lower the sizes"):
        bs.steps(replace(deep(), exact=ExactRuns(limit=100)), exact=True, eps=0.1)


# --- the command ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [[], ["--exact"]], ids=str)
def test_the_command_shows_them(run: Command, options: list[str]) -> None:
    shown = run("show", EXAMPLES / "gradient_step.py", "--steps", "--seed", 3, "--set", "beta=0.1", *options)
    assert shown.code == 0
    names = [line.split("│")[0].strip() for line in shown.out.splitlines() if "│" in line]
    assert names[0] == "x in the sup norm"
    assert names[-3:] == ["tokens", "attend(weights, tokens)", "softmax"]
    assert {"<(X; x), x>", "weights", "y.centred"} <= set(names)
    assert ("on balls, rounded up" in shown.out) == bool(options)
    assert "one random prompt, seed 3" in shown.out


def test_as_json(run: Command) -> None:
    record = json.loads(run("show", EXAMPLES / "ridge.py", "--steps", "--json").out)
    assert list(record) == ["prediction"]
    last = record["prediction"][-1]
    assert last["step"] == "prediction"
    assert last["ratio"] == pytest.approx(1)


def test_the_prompt_is_chosen_for_steps_only(run: Command) -> None:
    words = refused(run("show", EXAMPLES / "ridge.py", "--exact"))
    assert words == "--exact, --seed and --set go with --steps: they choose the prompt at which steps are shown."


def test_results_without_handles_say_so(run: Command, tmp_path: Path) -> None:
    words = refused(run("show", own_file(tmp_path), "--steps"))
    assert words.startswith("own-scaled does not bind the operands of its steps")


def test_a_registered_result_shows_each_of_its_ends(run: Command) -> None:
    shown = run("show", "induction.vanilla", "--steps", "--set", "L=5", "--set", "d=2", "--exact")
    assert shown.code == 0
    titles = [line.strip() for line in shown.out.splitlines() if line.startswith("output.")]
    assert [each for each in titles if "│" not in each] == ["output.mask_3", "output.gated"]
    assert shown.out.count("foreign key") == 2  # a rule of each
