"""Whether `solve` keeps what it promises: every knob, tier and quantity of every result, at several errors.

`python -m benchmarks.solving` tries all questions (an hour), `--result ID` those on one result, `--sample N` a seeded
selection of N, in addition to the calls of `NAMED`; the tests run the selection of 6. The engine of `compare` judges
each answer of the derived or the instance tier: its verdict on that quantity and tier must not be `outside`, `violated`
or conditional. If the network is too large for a run, hypotheses and obligations are checked from scratch instead. A
printed answer must state that it is not guaranteed and name its errata. The exit code is 1 if anything fails.
"""

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bridge.instances.instance import Instance
from bridge.instances.point import Point
from bridge.instances.search import memory_of
from bridge.judging.judged import judged_at
from bridge.limits.run import Run
from bridge.questions.compare import compare
from bridge.questions.solve import NOT_GUARANTEED, solve
from bridge.questions.solving.probes import State, probe
from bridge.questions.solving.solution import Solution
from bridge.questions.solving.tiers import TIERS
from bridge.theorems.record import Flag, Row, Verdict
from bridge.theorems.refutable import sentences_on
from bridge.theorems.registry import find_theorem
from bridge.theorems.theorem import Theorem
from numeric.search.threads import one_thread
from symbolic.statements.catalogue import RUNNING
from symbolic.statements.result import Kind
from symbolic.words.errors import UsageError

FACTORS = (0.5, 2.0, 1e-4)  # of the bound at the defaults
OTHERS = 3  # further quantities of a result, in addition to the main one
SEED = 0
BUDGET = Run(samples=4, attack=2, restarts=1, seed=SEED)
LARGEST_RUN = 1 << 26  # bytes of a run
LONGEST_RUN = {"L": 64, "relus": 4096}  # steps and ReLUs of one
FORBIDDEN = (Verdict.OUTSIDE, Verdict.VIOLATED)
LIMIT = 5.0  # seconds of an answer
NAMED = (
    ("icgd.trajectory", "eta", "derived", "gradient_mapping", 0.01),
    ("icgd.trajectory", "eta", "derived", "gradient_mapping", 200.0),
    ("icgd.trajectory", "eta", "instance", "gradient_mapping", 200.0),
    ("induction.vanilla", "p", "derived", "output", 1e-3),
    ("induction.vanilla", "p", "printed", "output", 1e-3),
)


@dataclass(frozen=True)
class Question:
    """One call of `solve`."""

    result: str
    knob: str
    tier: str
    quantity: str
    error: float

    @property
    def words(self) -> str:
        call = f"solve {self.result} --for {self.knob} --error {self.error:.6g}"
        return f"{call} --quantity {self.quantity} --tier {self.tier}"


@dataclass(frozen=True)
class Outcome:
    """The outcome of a question: `kind` is counted; `failure` describes an error, if there is one."""

    question: Question
    kind: str
    seconds: float
    failure: str = ""


def questions(result_id: str) -> Iterator[Question]:
    """Every numeric knob, every tier and a selection of the quantities of one result."""
    theorem = find_theorem(result_id)
    knobs = [p.name for p in theorem.statement.parameters if p.symbol is not None]
    for name in quantities_of(theorem):
        for tier in TIERS:
            bound = bound_at_defaults(theorem, name, tier)
            for knob in knobs:
                for factor in FACTORS:
                    yield Question(result_id, knob, tier, name, factor * bound)


def quantities_of(theorem: Theorem) -> list[str]:
    """The main quantity and some of the others that have a bound; all of them where they are few."""
    stated = Point.at(theorem, defaults_of(theorem), Run(seed=SEED)).stated
    known = [q.name for q in stated.quantities if q.kind is not Kind.RATE and (q.derivation or q.printed)]
    others = [name for name in known if name != theorem.main]
    chosen = random.Random(SEED).sample(others, OTHERS) if len(others) > OTHERS else others
    return [theorem.main, *sorted(chosen, key=others.index)]


def defaults_of(theorem: Theorem) -> dict[str, Any]:
    """One value for each parameter, as `solve` takes them."""
    singles = {
        p.name: p.default[0] if isinstance(p.default, tuple) else p.default for p in theorem.statement.parameters
    }
    return {name: value for name, value in singles.items() if name not in theorem.knobs.implied}


def bound_at_defaults(theorem: Theorem, quantity: str, tier: str) -> float:
    """1 where the tier has no bound there: `solve` then refuses every requested error."""
    try:
        return probe(theorem, quantity, tier, defaults_of(theorem)).number or 1.0
    except UsageError:
        return 1.0


def ask(question: Question) -> Outcome:
    """The outcome; one that failed is printed at once, since a whole run takes long."""
    outcome = _solved(question)
    if outcome.failure:
        print(f"FAILED {question.words}: {outcome.failure}", flush=True)
    return outcome


def _solved(question: Question) -> Outcome:
    start = time.perf_counter()
    try:
        solution = solve(
            question.result, for_=question.knob, error=question.error, quantity=question.quantity, tier=question.tier
        )
    except UsageError as refusal:
        seconds = time.perf_counter() - start
        return Outcome(question, f"refused: {grouped(str(refusal))}", seconds, unclear(str(refusal)))
    seconds = time.perf_counter() - start
    kind, failure = checked(question, solution)
    return Outcome(question, kind, seconds, failure)


REASONS = (
    "selects the network",
    "has no error bound that a parameter can reduce",
    "does not depend on",
    "has no derived bound",
    "has no printed bound",
    "has no instance bound",
    "so no value of",
    "the least bound found is",
    "goes with relus",
    "gives a",
)


def grouped(refusal: str) -> str:
    """The kind of a refusal."""
    return next((words for words in REASONS if words in refusal), refusal)


def unclear(refusal: str) -> str:
    """The fault of a refusal, "" if it has none: it must be one sentence that names the call."""
    return "" if refusal.startswith("solve: ") or refusal.split(":")[0] in RUNNING else f"unclear refusal: {refusal}"


def checked(question: Question, solution: Solution) -> tuple[str, str]:
    """How the answer was checked, and what is wrong with it."""
    theorem = find_theorem(question.result)
    if not 0 <= solution.bound <= question.error:
        return "answered", f"the bound {solution.bound} is not between 0 and {question.error}"
    params = defaults_of(theorem) | solution.params
    if question.tier == "printed":
        return "answered: printed", printed_failure(theorem, solution)
    instance = Instance.of(theorem, params, Run(seed=SEED))
    if too_large(instance):
        found = probe(theorem, question.quantity, question.tier, params)
        held = found.state is State.ADMISSIBLE and found.meets(question.error)
        return "answered: hypotheses and obligations checked", "" if held else f"not admissible: {found.reason}"
    rows = rows_of(instance, question.quantity)
    return "answered: judged as compare does", row_failure(rows, question.tier)


def printed_failure(theorem: Theorem, solution: Solution) -> str:
    stated = Point.at(theorem, defaults_of(theorem) | solution.params, Run(seed=SEED)).stated
    errata = sentences_on(theorem, stated.quantity(solution.quantity))
    required = (NOT_GUARANTEED, *errata)
    return "" if all(words in solution.note for words in required) else f"the note '{solution.note}' lacks an erratum"


def too_large(instance: Instance) -> bool:
    sizes = {name: instance.shown.get(name) or 0 for name in LONGEST_RUN}
    return memory_of(instance, BUDGET) > LARGEST_RUN or any(sizes[name] > most for name, most in LONGEST_RUN.items())


def rows_of(instance: Instance, quantity: str) -> list[Row]:
    """The rows that `compare` has for this quantity."""
    with one_thread():
        own = [row for each in judged_at(instance) if quantity in each.names for row in each.rows(BUDGET)]
    return [row for row in own if row.quantity == quantity]


def row_failure(rows: list[Row], tier: str) -> str:
    """What is wrong with the verdict on this tier, of the network or of a constant."""
    about = [row for row in rows if row.scope in (None, "network")]
    if not about or any(tier not in row.verdict for row in about):
        return "compare has no verdict on it"
    for row in about:
        if row.verdict[tier] in FORBIDDEN:
            return f"compare: {row.verdict[tier]} ({row.remark})"
        if Flag.CONDITIONAL.value in row.flags.get(tier, []):
            return "compare: conditional"
    return ""


def compared(question: Question) -> str:
    """The same for one answer through `compare` itself; what is wrong, if anything is."""
    solution = solve(
        question.result, for_=question.knob, error=question.error, quantity=question.quantity, tier=question.tier
    )
    params: Mapping[str, Any] = defaults_of(find_theorem(question.result)) | solution.params
    record = compare(question.result, samples=BUDGET.samples, attack=BUDGET.attack, restarts=BUDGET.restarts, **params)
    return row_failure([row for row in record if row.quantity == question.quantity], question.tier)


def selection(count: int) -> list[Question]:
    """`count` questions, drawn with a seed, of the results that have knobs at all; the named ones come first."""
    results = [id for id in RUNNING if has_knobs(find_theorem(id))]
    rng = random.Random(SEED)
    drawn = [_drawn(find_theorem(results[place % len(results)]), rng) for place in range(count)]
    return [*(Question(*named) for named in NAMED), *drawn]


def _drawn(theorem: Theorem, rng: random.Random) -> Question:
    knob = rng.choice([p.name for p in theorem.statement.parameters if p.symbol is not None])
    quantity, tier, factor = rng.choice(quantities_of(theorem)), rng.choice(TIERS), rng.choice(FACTORS)
    return Question(theorem.id, knob, tier, quantity, factor * bound_at_defaults(theorem, quantity, tier))


def has_knobs(theorem: Theorem) -> bool:
    return any(q.derivation or (q.printed and q.scopes) for q in theorem.statement.quantities)


def report(outcomes: list[Outcome]) -> int:
    """Prints what was counted; 1 if anything failed."""
    for kind, count in sorted(Counter(each.kind for each in outcomes).items()):
        print(f"{count:6} {kind}")
    failures = [each for each in outcomes if each.failure]
    slowest = sorted(outcomes, key=lambda each: -each.seconds)[:5]
    late = sum(each.seconds > LIMIT for each in outcomes)
    print(f"{len(outcomes)} questions, {len(failures)} failures, {late} took longer than {LIMIT:g} s; the slowest:")
    for each in slowest:
        print(f"{each.seconds:6.2f} s  {each.question.words}")
    return 1 if failures else 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, metavar="N", help="only a seeded selection of N questions")
    parser.add_argument("--result", choices=sorted(RUNNING), help="only the questions on one result")
    options = parser.parse_args(arguments)
    if options.sample is not None:
        chosen = selection(options.sample)
    else:
        ids = [options.result] if options.result else list(RUNNING)
        chosen = [question for id in ids for question in questions(id)]
        chosen += [] if options.result else [Question(*named) for named in NAMED]
    return report([ask(question) for question in chosen])


if __name__ == "__main__":
    sys.exit(main())
