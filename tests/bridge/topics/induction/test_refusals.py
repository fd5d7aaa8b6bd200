"""What the results on the training dynamics refuse: parameters and witnesses outside of their hypotheses."""

from typing import Any

import pytest

from bridge.questions.compare import compare
from bridge.questions.replaying import replay_witness
from symbolic.words.errors import UsageError
from tests.yardstick.records import stored

PARAMETERS = [
    ("balance", {"L": 4, "w_star": 0.8, "sigma_init": 2.0}, "L = 4 .*w_star = 0.8 .*sigma_init = 2"),
    ("figure2", {"flow": "up"}, "flow = 'up' is not known"),
    ("figure2", {"sigma_init": 0.5, "alpha": 1.0, "w_star": 0.49}, r"sigma_init = 0\.5 .*; sigma_init = 0\.5"),
    ("first_stage", {"L": 4, "sigma_init": 2.0}, r"L = 4 .*sigma_init = 2"),
    ("fixed_point", {"w_star": 0.8}, r"4\*w_star\*\*4 < 1"),
    ("losses", {"w_star": 0.71}, r"w_star = 0\.71 .*4\*w_star"),
    ("losses", {"sigma_init": 0.0}, r"sigma_init = 0\.0"),
    ("losses", {"L": 4, "alpha": -1.0, "w": 0.8}, r"L = 4 .*alpha = -1\.0 .*w = 0\.8 .*Lemma D\.3"),
    ("losses", {"sigma_init": 1.5}, r"sigma_init = 1\.5"),
    ("lyapunov_head", {"alpha": -1.0, "w_star": 0.8}, r"alpha > 0.*4\*w_star"),
    ("phases", {"w_star": 0.8}, r"w_star = 0\.8"),
    ("phases", {"sigma_init": 0.0}, "sigma_init = 0"),
    ("phases", {"sigma_init": 1.0}, "sigma_init = 1"),
    ("phases", {"sigma_init": 0.72}, "the loss .22. is infinite at the start"),
    ("phases", {"L": 4, "alpha": -1.0}, "L = 4 .*alpha = -1"),
    ("phases", {"flow": "both"}, "flow = 'both' is not known; choose one of true, printed"),
    ("trends", {"flow": "up"}, "flow = 'up' is not known; choose one of true, printed"),
    ("trends", {"alpha": 9.0, "sigma_init": 0.3}, r"sigma_init = 0\.3 .*sigma_init = 0\.3"),
    ("trends", {"w_star": 0.8}, r"w_star = 0\.8"),
]


@pytest.mark.parametrize(("name", "params", "message"), PARAMETERS, ids=[f"{name}: {at}" for name, at, _ in PARAMETERS])
def test_parameters_outside_of_the_hypotheses_are_named(name: str, params: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        compare(f"induction.{name}", **params)


WITNESSES = [
    ("balance", "rate", {"w": [0.9], "h": [1.0]}, r"4 w\^4 < 1"),
    ("first_stage", "softmax", {"u": [0.5], "s": [2.0]}, "whole number in 3"),  # where the printed sum is empty
    ("first_stage", "softmax", {"u": [0.5], "s": [9.0]}, "whole number in 3"),
    ("karamata", "weighted", {"x": [1.0, 0.0], "y": [0.5, 0.5], "w": [0.25, 0.25]},
     r"x <_w y does not hold \(Definition D.5\); the weights have to be"),
    ("losses", "head.as_printed", {"w": [float("nan")], "h": [0.1]}, "not finite"),
    ("losses", "head.as_printed", {"w": [0.8], "h": [0.1]}, "w = 0.8 does not meet"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "quantity", "inputs", "message"), WITNESSES, ids=[str(each[2]) for each in WITNESSES])
def test_points_outside_of_the_hypotheses_are_no_witnesses(
    name: str, quantity: str, inputs: dict[str, list[float]], message: str
) -> None:
    witness = next(row.witness for row in stored(f"induction.{name}") if row.quantity == quantity)
    with pytest.raises(UsageError, match=message):
        replay_witness(witness.model_copy(update={"inputs": inputs}))
