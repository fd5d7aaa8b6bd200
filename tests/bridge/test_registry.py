"""Every registered result is complete on all floors: citation, study, a default run, a row for each quantity."""

import time

import pytest

from bridge import compare
from bridge.registry import find_study, studies
from bridge.study import Study
from symbolic import UsageError, find_claim, results


def test_results_and_studies_are_the_same_set() -> None:
    assert set(studies()) == set(results())
    assert all(study.result is results()[id] for id, study in studies().items())


@pytest.mark.parametrize("study", studies().values(), ids=lambda study: study.result.id)
def test_a_study_runs_on_its_defaults_and_covers_every_quantity(study: Study) -> None:
    started = time.perf_counter()
    comparison = compare(study.result.id, samples=8, attack=3, restarts=2)
    assert {row.quantity for row in comparison} == {q.name for q in study.result.quantities}
    assert {(row.quantity, row.scope) for row in comparison if row.scope} == {
        (q.name, scope) for q in study.result.quantities for scope in q.scopes
    }
    assert comparison.citation == str(study.result.citation)
    assert study.main_quantity in {q.name for q in study.result.quantities}
    assert time.perf_counter() - started < 60  # 20 seconds at the full budget on idle cores; `make bench` times that


def test_planned_and_unknown_ids_have_no_study() -> None:
    assert find_claim("icgd.step")
    with pytest.raises(UsageError, match="is planned and cannot be run yet"):
        find_study("icgd.step")
    with pytest.raises(UsageError, match=r"no result 'nothing'"):
        find_study("nothing")
