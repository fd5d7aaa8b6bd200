"""Time that runs out: every stage asks, and what is left behind is true wherever it ended."""

import contextlib
import json
import signal
import threading
from collections.abc import Iterator
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from bridge.questions.certify import boxes, checking, nodes, proving
from bridge.questions.certify.certificate import CertifiedClaim, Origin, certificate_text, digest, settled_share
from bridge.questions.certify.certifying import certify
from bridge.questions.certify.checking import Recheck, check_certificate
from bridge.questions.certify.deadline import Deadline, OutOfTime, checked_seconds
from bridge.questions.certify.obligations import discharge
from bridge.questions.certify.proving import Leaf, Outcome, Status, prove
from bridge.questions.certify.reading import read_inequality
from bridge.questions.certify.search import AT_ONCE, likely_lowest
from symbolic import UsageError
from symbolic.derivations.derivation import Derivation
from symbolic.derivations.inequalities import Inequality
from tests.bridge.questions.certify.clocks import counting, expiring

x, y = sp.symbols("x y", real=True)
UPPER = (sp.Rational(1, 2), sp.Integer(1))
HARD = Inequality("line", x**4 - 4 * x**2 * y**2 + 4 * y**4, {x: UPPER, y: UPPER}, strict=True)  # 0 on y = x/sqrt(2)
EASY = Inequality("easy", sp.exp(x) - 1 - x + sp.Rational(1, 1000), {x: (sp.Integer(-1), sp.Integer(1))})
NEVER = 10.0**6  # seconds that no test takes

# ---- The deadline itself


def test_a_deadline_is_over_after_its_seconds_and_not_before() -> None:
    deadline = expiring(3)
    for _ in range(3):
        deadline.check()
    with pytest.raises(OutOfTime):
        deadline.check()


def test_what_happens_in_a_pause_does_not_count() -> None:
    now = iter([0.0, 10.0, 110.0, 112.0])
    deadline = Deadline(20.0, clock=lambda: next(now))
    with deadline.paused():
        pass
    assert deadline.spent == 12.0


@pytest.fixture
def handler() -> Iterator[Any]:
    """A handler of the user's own, which has to come back."""

    def own(*_: Any) -> None:
        raise AssertionError("the handler of the user was called")

    before = signal.signal(signal.SIGALRM, own)
    yield own
    signal.signal(signal.SIGALRM, before)


def test_the_alarm_ends_what_asks_nobody_and_is_put_back(handler: Any) -> None:
    def work() -> None:
        with Deadline(NEVER, alarmed=True).interrupting():
            assert signal.getitimer(signal.ITIMER_REAL)[0] > 0
            signal.raise_signal(signal.SIGALRM)

    with pytest.raises(OutOfTime):
        work()
    assert signal.getsignal(signal.SIGALRM) is handler
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_the_alarm_is_no_exception_that_a_library_might_catch() -> None:
    def swallowing() -> None:
        with contextlib.suppress(Exception), Deadline(NEVER, alarmed=True).interrupting():
            signal.raise_signal(signal.SIGALRM)

    with pytest.raises(OutOfTime):
        swallowing()


def test_a_time_longer_than_any_timer_is_taken() -> None:
    for seconds in (1e300, float("inf")):
        with Deadline(seconds, alarmed=True).interrupting():
            assert signal.getitimer(signal.ITIMER_REAL)[0] > NEVER


def test_no_alarm_is_set_unless_asked_for_nor_in_another_thread(handler: Any) -> None:
    found: list[Any] = []

    def inside(deadline: Deadline) -> None:
        with deadline.interrupting():
            found.append((signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)))

    inside(Deadline(NEVER))
    thread = threading.Thread(target=inside, args=(Deadline(NEVER, alarmed=True),))
    thread.start()
    thread.join()
    assert found == [(handler, (0.0, 0.0))] * 2


# ---- Proofs


@pytest.mark.parametrize("after", [0, 1, 5, 12, 40, 200, 333, 1000])
def test_a_proof_ends_with_its_deadline_and_keeps_what_is_shown(after: int) -> None:
    outcome = prove(HARD, deadline=expiring(after))
    assert outcome.status is Status.UNDECIDED
    assert outcome.boxes <= after + 1
    assert "the time limit" in outcome.reason
    assert float(settled_share(HARD, outcome.nodes)) == pytest.approx(outcome.share)
    assert json.loads(certificate_text([CertifiedClaim(outcome)]))["claims"][0]["verdict"] == "undecided"


def test_the_reason_names_the_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "while a likely minimum was searched for" in prove(HARD, deadline=expiring(4)).reason
    assert "while boxes were proved" in prove(HARD, deadline=expiring(2000)).reason
    assert prove(EASY).reason == ""

    def ended(*_: Any) -> None:
        raise OutOfTime

    monkeypatch.setattr(proving, "found_by_steps", ended)
    assert "while steps were looked for" in prove(replace(HARD, strict=False), seconds=NEVER).reason


@pytest.mark.parametrize("after", range(0, 60, 7))
def test_a_deadline_never_makes_a_proof_of_what_was_not_proved(after: int) -> None:
    """A claim that is proved in some boxes is, for each deadline, proved whole or undecided with open boxes."""
    outcome = prove(EASY, deadline=expiring(after))
    assert (outcome.status is Status.PROVED) == (Leaf("open") not in outcome.nodes)
    assert settled_share(EASY, outcome.nodes) < 1 or outcome.status is Status.PROVED


def test_the_alarm_in_the_middle_of_a_proof_keeps_what_is_shown(handler: Any) -> None:
    def ring(boxes: int, share: float) -> None:
        if boxes > 100:
            signal.raise_signal(signal.SIGALRM)

    outcome = prove(HARD, deadline=Deadline(NEVER, alarmed=True), progress=ring)
    assert outcome.status is Status.UNDECIDED
    assert outcome.boxes > 100
    assert float(settled_share(HARD, outcome.nodes)) == pytest.approx(outcome.share)
    assert signal.getsignal(signal.SIGALRM) is handler


@pytest.mark.parametrize("conditions", [0, 1, 20])
def test_each_condition_of_a_box_is_asked_before(conditions: int) -> None:
    """One box takes at most a bounded number of steps between two questions."""
    hard = replace(HARD, where=tuple(x + y + k for k in range(conditions)))
    deadline, questions = counting()
    outcome = prove(hard, deadline=deadline, most_boxes=8)
    assert questions.count >= conditions * outcome.boxes


def test_the_search_for_a_likely_minimum_asks_at_every_step() -> None:
    asked: list[None] = []
    likely_lowest(HARD, samples=3 * AT_ONCE, check=lambda: asked.append(None))
    assert len(asked) > 4  # once for each part of the samples, and in the descents
    evaluated = 0

    def third_time() -> None:
        nonlocal evaluated
        evaluated += 1
        if evaluated == 3:
            raise OutOfTime

    with pytest.raises(OutOfTime):
        likely_lowest(HARD, check=third_time)
    assert evaluated == 3


@pytest.mark.long
def test_a_box_beyond_the_floats_is_proved_without_a_search() -> None:
    wide = Inequality("wide", x**2 + sp.exp(-x), {x: (sp.Integer(0), sp.Integer(10) ** 900)})
    assert likely_lowest(wide) == []
    assert prove(wide, seconds=NEVER).status is Status.PROVED


def test_a_box_is_not_cut_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boxes, "MOST_CUTS", 60)
    pole = Inequality("at a pole", 1 / (x - sp.Rational(1, 3)) ** 2 - 1, {x: (sp.Integer(0), sp.Integer(1))})
    outcome = prove(pole, seconds=NEVER, most_boxes=1_000)
    assert outcome.status is Status.UNDECIDED
    assert outcome.boxes < 100  # it ended by itself


# ---- Reading


def test_reading_asks_between_its_stages() -> None:
    deadline, questions = counting()
    read_inequality("sqrt(x) + x >= 0", ["x=0,1"], ["x <= 1/2"], deadline)
    assert questions.count >= 3
    for after in range(questions.count):
        with pytest.raises(OutOfTime):
            read_inequality("sqrt(x) + x >= 0", ["x=0,1"], ["x <= 1/2"], expiring(after))


# ---- Re-checks


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    """Different claims of several boxes each."""
    return [prove(replace(EASY, name=f"easy {k}", expression=EASY.expression + sp.Rational(k, 1000))) for k in range(6)]


def saved(path: Path, outcomes: list[Outcome]) -> str:
    path.write_text(certificate_text([CertifiedClaim(outcome) for outcome in outcomes]))
    return str(path)


def test_a_recheck_ends_with_its_deadline_and_says_what_it_did_not_reach(
    tmp_path: Path, outcomes: list[Outcome]
) -> None:
    path = saved(tmp_path / "c.json", outcomes)
    deadline, questions = counting()
    assert check_certificate(path, deadline=deadline).holds
    for after in range(0, questions.count - 4, 9):
        checked = check_certificate(path, deadline=expiring(after))
        rechecks = [claim.recheck for claim in checked.claims]
        done = rechecks.count(Recheck.CONFIRMED)
        assert rechecks == [Recheck.CONFIRMED] * done + [Recheck.SKIPPED] * (6 - done)
        assert checked.skipped == 6 - done > 0
        assert not checked.holds
        assert [claim.name for claim in checked.claims] == [f"easy {k}" for k in range(6)]
    count = sum(len(outcome.nodes) for outcome in outcomes)
    assert questions.count > 2 * count  # at each node of the tree, when it is read and when it is shown


def test_a_claim_that_the_alarm_interrupts_is_not_confirmed(tmp_path: Path, outcomes: list[Outcome]) -> None:
    path = saved(tmp_path / "c.json", outcomes)
    rings = iter([False, True])

    def stated(box: Any, form: Any) -> None:
        if next(rings, False):
            signal.raise_signal(signal.SIGALRM)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checking, "_shows", lambda enclosures, box, form: stated(box, form) is None)
        checked = check_certificate(path, deadline=Deadline(NEVER, alarmed=True))
    assert [claim.recheck for claim in checked.claims] == [Recheck.SKIPPED] * 6


def test_copies_are_checked_once_and_counted(tmp_path: Path, outcomes: list[Outcome]) -> None:
    once, times = counting(), counting()
    check_certificate(saved(tmp_path / "c.json", outcomes[:1]), deadline=once[0])
    checked = check_certificate(saved(tmp_path / "d.json", outcomes[:1] * 500), deadline=times[0])
    assert times[1].count == once[1].count
    assert [claim.copies for claim in checked.claims] == [500]
    assert checked.holds
    skipped = check_certificate(saved(tmp_path / "d.json", outcomes[:1] * 500), deadline=expiring(2))
    assert (skipped.skipped, skipped.count) == (500, 500)


def test_a_result_is_asked_once_for_what_it_states(
    tmp_path: Path, outcomes: list[Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[dict[str, Any]] = []

    def stated(result_id: str, params: dict[str, Any]) -> list[Inequality]:
        calls.append(params)
        return [outcome.inequality for outcome in outcomes]

    monkeypatch.setattr(checking, "stated_now", stated)
    claims = [CertifiedClaim(outcome, Origin("a.result", "", {"L": at % 2})) for at, outcome in enumerate(outcomes)]
    (tmp_path / "c.json").write_text(certificate_text(claims))
    checked = check_certificate(str(tmp_path / "c.json"))
    assert checked.holds
    assert checked.gaps == ()
    assert calls == [{"L": 0}, {"L": 1}]


def test_runs_of_boxes_and_deep_trees_cost_what_the_file_weighs(
    tmp_path: Path, outcomes: list[Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nodes, "MOST_CUTS", 90)
    content = json.loads(certificate_text([CertifiedClaim(outcomes[0])]))
    for tree, message in (
        ([["range", 19_000_000]], "the tree is complete before it"),
        ([[0]] * 91, "a box is cut more than 90 times"),
    ):
        content["claims"][0]["tree"] = tree
        (tmp_path / "c.json").write_text(json.dumps({**content, "digest": digest(content)}))
        deadline, questions = counting()
        with pytest.raises(checking.UsageError, match=message):
            check_certificate(str(tmp_path / "c.json"), deadline=deadline)
        assert questions.count < 300


CALLS = {
    "certify": lambda seconds: certify("induction.trends", seconds=seconds),
    "prove": lambda seconds: prove(HARD, seconds=seconds),
    "discharge": lambda seconds: discharge(Derivation(), {}, seconds=seconds),
    "check_certificate": lambda seconds: check_certificate("none.json", seconds=seconds),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("seconds", [float("nan"), 0.0, -1.0, -inf], ids=str)
def test_a_time_limit_that_is_none_is_refused_by_every_call(call: str, seconds: float) -> None:
    with pytest.raises(UsageError, match=f"^{call}: seconds = {seconds!r}; give a number > 0$"):
        CALLS[call](seconds)


@pytest.mark.parametrize("seconds", ["5", None, True, 1j, 0], ids=str)
def test_a_time_limit_has_to_be_a_positive_number(seconds: Any) -> None:
    with pytest.raises(UsageError, match=r"^certify: seconds = .*; give a number > 0$"):
        checked_seconds("certify", seconds)
    assert checked_seconds("certify", 5) == 5.0
