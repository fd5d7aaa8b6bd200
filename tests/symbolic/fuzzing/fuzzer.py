"""Runs random programs and counts, for each rule, how often it was checked and how closely its bounds were attained."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import symbolic.calculus
from symbolic.derivations.derivation import DerivationError
from tests.symbolic.fuzzing import chance_moves, iteration_moves, layer_moves, premise_moves, softmax_moves
from tests.symbolic.fuzzing.move import Move
from tests.symbolic.fuzzing.program import Program, Rules
from tests.symbolic.fuzzing.record import Checked, Violation

MOVES = {
    each.name: each
    for moves in (premise_moves, softmax_moves, layer_moves, iteration_moves, chance_moves)
    for each in moves.MOVES
}
# A sharp rule has to be attained within 1 %.
ATTAINED = 0.99
# Of the programs, by the kind of their numbers: SymPy takes longest with letters.
KINDS = {"floats": 0.7, "rationals": 0.2, "letters": 0.1}
EXACT_KINDS = {"exact": 0.8, "rationals": 0.1, "letters": 0.1}


def library() -> dict[str, Callable[..., Any]]:
    """The rules under test, by name; a test plants a wrong one by replacing an entry."""
    return {name: getattr(symbolic.calculus, name) for name in symbolic.calculus.__all__}


@dataclass
class Count:
    """What was seen of one move: programs, points, and the largest ratios of truth to bound."""

    programs: int = 0
    points: int = 0
    refused: int = 0
    sharp: bool = True
    ratios: dict[str, float] = field(default_factory=dict)

    def add(self, step: Checked, points: int) -> None:
        self.points += points
        self.sharp = self.sharp and step.sharp
        for measured in step.measured:
            self.raise_to(measured.quantity, measured.ratio)
        if step.limit is not None:
            self.raise_to("limit", step.limit)

    def raise_to(self, quantity: str, ratios: np.ndarray) -> None:
        self.ratios[quantity] = max(self.ratios.get(quantity, 0.0), float(np.max(ratios)))

    @property
    def attained(self) -> float:
        """How close the error came to its local bound.

        For a bound of 0: how close the premise came to its limit. For one that is not sharp: how close the ratio of
        bound to error came to the largest that is known.
        """
        names = ("local error", "limit") if self.sharp else ("bound over known ratio",)
        return max(self.ratios.get(name, 0.0) for name in names)


@dataclass
class Tally:
    """The counts of a run, by move, and the violations that it found."""

    counts: dict[str, Count] = field(default_factory=dict)
    programs: int = 0
    points: int = 0
    violations: list[Violation] = field(default_factory=list)

    def add(self, program: Program) -> None:
        self.programs += 1
        self.points += program.points
        for name in {step.move for step in program.checked}:
            self.counts.setdefault(name, Count()).programs += 1
        for name in program.refused:
            self.counts.setdefault(name, Count()).refused += 1
        for step in program.checked:
            self.counts[step.move].add(step, program.points)

    def not_attained(self, moves: Mapping[str, Move] = MOVES) -> list[str]:
        """What no point attained within 1 %, though it should be attained: 'move: quantity'."""
        missed = []
        for name, each in sorted(moves.items()):
            count = self.counts.get(name, Count())
            expected = {"error": not each.error_loose, "size": not each.size_loose, "radius": "radius" in count.ratios}
            reached = {"error": count.attained} | {q: count.ratios.get(q, 0.0) for q in ("size", "radius")}
            missed += [f"{name}: {q}" for q, wanted in expected.items() if wanted and reached[q] < ATTAINED]
        return missed

    def table(self) -> str:
        row = "{:26s} {:>9} {:>9} {:>8} {:>12} {:>8} {:>8}  {}"
        lines = [row.format("rule", "programs", "points", "refused", "error/local", "size", "radius", "sharp")]
        for name, count in sorted(self.counts.items()):
            ratios = (count.attained, count.ratios.get("size"), count.ratios.get("radius"))
            shown = ["-" if ratio is None else f"{ratio:.4f}" for ratio in ratios]
            numbers = (count.programs, count.points, count.refused)
            lines.append(row.format(name, *numbers, *shown, "yes" if count.sharp else "no"))
        lines.append(f"{self.programs} programs, {self.points} points, {len(self.violations)} violations")
        return "\n".join(lines)


def fuzz(
    programs: int,
    seed: int,
    *,
    points: int = 64,
    rules: Rules | None = None,
    moves: Mapping[str, Move] = MOVES,
    most_violations: int = 1,
    kinds: Mapping[str, float] = KINDS,
    watch: Callable[[Tally], None] = lambda tally: None,
) -> Tally:
    """Run that many random programs, all drawn from one seed; it stops after `most_violations`.

    `watch` is called after each program.
    """
    tally = Tally()
    drawn = {"points": points, "rules": rules or library(), "moves": moves, "tally": tally, "kinds": kinds}
    for program in random_programs(programs, seed, **drawn):
        tally.add(program)
        watch(tally)
        if len(tally.violations) >= most_violations:
            break
    return tally


def random_programs(
    programs: int,
    seed: int,
    *,
    points: int,
    rules: Rules,
    moves: Mapping[str, Move],
    tally: Tally,
    kinds: Mapping[str, float] = KINDS,
) -> Iterator[Program]:
    """All drawn from one seed."""
    rng = np.random.default_rng(seed)
    for number in range(programs):
        where = f"seed {seed}, program {number}, "
        yield random_program(rng, where, points=points, rules=rules, moves=moves, tally=tally, kinds=kinds)


def random_program(
    rng: np.random.Generator,
    where: str,
    *,
    points: int,
    rules: Rules,
    moves: Mapping[str, Move],
    tally: Tally,
    lengths: tuple[int, int] = (4, 7),
    kinds: Mapping[str, float] = KINDS,
    **options: Any,
) -> Program:
    """The program, up to a violation, which the tally gets.

    `lengths`: from how many moves it is made, to one more than the most; `options`: what Program takes; `where`: which
    program it is, in words.
    """
    names = sorted(moves)
    chances = np.array([moves[name].weight for name in names])
    tokens, kind = (2 if rng.random() < 0.6 else 3), str(rng.choice(list(kinds), p=list(kinds.values())))
    program = Program(rng, rules, points, tokens, kind, **options)
    try:
        for name in rng.choice(names, rng.integers(*lengths), p=chances / chances.sum()):
            program.move = str(name)
            moves[program.move].run(program)
    except DerivationError as refusal:
        # A layer compares sizes exactly, and the generator rounds them: one may be a last bit too small.
        if kind != "exact" or "do not fit" not in str(refusal):
            raise
        program.refused.append(program.move)
    except Violation as violation:
        violation.where = where
        tally.violations.append(violation)
    return program
