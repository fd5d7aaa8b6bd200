"""`solve`: what reaches the engine and how its answer is said."""

import json
from typing import Any

import pytest

from bridge.questions.solving.probes import CheckedCondition, ConditionKind
from bridge.questions.solving.solution import Solution
from tests.bridge.cli.conftest import Command, refused

ID = "induction.vanilla"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    recorded: list[dict[str, Any]] = []

    def solve(result_id: str, **arguments: Any) -> Solution:
        recorded.append({"id": result_id, **arguments})
        return Solution(
            name=arguments["for_"],
            value=7.600902376208978,
            bound=0.000999999999999762,
            requested=arguments.get("error"),
            quantity=arguments.get("quantity", "output"),
            tier="derived",
            closed_form="log(2/error)",
            closed_form_conditions=("error > 0", "p > 0"),
            method="searched",
            params={"L": 8, "W_star": [[1.0, 0.0], [0.0, 1.0]], "p": 7.600902376208978},
            conditions=(
                CheckedCondition("p > 0", ConditionKind.HYPOTHESIS),
                CheckedCondition("L p <= 1", ConditionKind.OBLIGATION),
            ),
            note="the printed bound needs L >= 4" if arguments.get("tier") == "printed" else "",
            of_error=arguments.get("quantity") != "weights",
            result=result_id,
        )

    monkeypatch.setattr("bridge.cli.running.solve", solve)
    return recorded


def test_the_answer_keeps_all_its_digits(run: Command, asked: list[dict[str, Any]]) -> None:
    outcome = run("solve", ID, "--for", "p", "--error", "1e-3", "--set", "L=8", "--quantity", "output")
    assert asked == [{"id": ID, "for_": "p", "error": 1e-3, "quantity": "output", "L": 8}]
    assert outcome.out.splitlines() == [
        f"{ID}: by the derived bound, p = 7.600902376208978 guarantees that the error of output is at most "
        "0.000999999999999762 (requested: 0.001).",
        "At L = 8, W_star = 2 x 2 matrix.",
        "Checked at this point: hypothesis p > 0; obligation L p <= 1.",
        "Closed form: p = log(2/error), where error > 0, p > 0.",
        "Method: searched.",
    ]


def test_a_printed_answer_says_that_nothing_is_guaranteed(run: Command, asked: list[dict[str, Any]]) -> None:
    outcome = run("solve", ID, "--for", "p", "--error", "1e-3", "--tier", "printed")
    assert "Not guaranteed: the printed bound needs L >= 4." in outcome.out


def test_what_is_no_error_is_called_a_value(run: Command, asked: list[dict[str, Any]]) -> None:
    outcome = run("solve", ID, "--for", "p", "--error", "1e-3", "--quantity", "weights")
    assert "guarantees that the value of weights is at most" in outcome.out


def test_which_error_a_budget_gives(run: Command, asked: list[dict[str, Any]]) -> None:
    outcome = run("solve", ID, "--for", "error", "--tier", "printed")
    assert asked == [{"id": ID, "for_": "error", "tier": "printed"}]
    assert "the derived bound on the error of output is 0.000999999999999762." in outcome.out


def test_json(run: Command, asked: list[dict[str, Any]]) -> None:
    record = json.loads(run("solve", ID, "--for", "p", "--error", "1e-3", "--json").out)
    assert record["value"] == 7.600902376208978
    assert set(record) == {
        *("result", "name", "value", "bound", "requested", "quantity", "tier", "closed_form", "method", "params"),
        *("closed_form_conditions", "conditions", "note", "of_error", "chance"),
    }
    assert record["conditions"][1] == {"statement": "L p <= 1", "kind": "obligation"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--error", "1"], "Missing option '--for'"),
        (["--for", "q", "--error", "1"], "induction.vanilla has no parameter 'q'"),
        (["--for", "p", "--error", "small"], "Invalid value for '--error'"),
        (["--for", "p", "--error", "1", "--set", "x=1"], "induction.vanilla has no parameter 'x'"),
    ],
)
def test_refusals(arguments: list[str], message: str, run: Command, asked: list[dict[str, Any]]) -> None:
    assert message in refused(run("solve", ID, *arguments))
    assert asked == []
