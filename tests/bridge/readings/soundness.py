"""Random programs through all readings: counts of what was seen, and the first breaches."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from tests.bridge.readings import instances
from tests.bridge.readings.checking import Balls, Breach, Floats, Seen
from tests.symbolic.fuzzing.fuzzer import MOVES, Tally, library, random_programs
from tests.symbolic.fuzzing.move import Move
from tests.symbolic.fuzzing.program import Program, Rules

SPARE = 2.0**-36  # by how much, relatively, the rules' numbers exceed those of the vectors: 2^16 roundings
POINTS, DEPTHS = 4, (4, 13)
SEEDS, PROGRAMS = (0, 1), 80  # of the tests
IN_FLOATS = 3  # of so many programs one is read in floats too
# Rules without an operation, after which nothing is enclosed: their bounds go on by rule.
STOPS = ("project, ball", "perturbed_function", "evolve", "recur", "bilinear")
READ = (
    *("given", "given, probabilities", "given, affine", "add", "concatenate", "change_norm", "mean", "either"),
    *("apply_function", "apply_function, within", "apply_function, Taylor", "taylor", "linear_map", "project, box"),
    *("soft_threshold", "bilinear, entry-wise", "bilinear, inner product", "bilinear, mean of outer products"),
    *("softmax", "softmax, affine", "softmax_as_linear", "concentrate", "hard_max", "softmax_to_hard_max", "attend"),
    *("contract", "contract, limit", "repeat", "perturbed_map", "perturbed_map, known", "exclude", "correct"),
)
# The rules with an operation, and what their steps are called.
STEPS = {
    "given": "given",
    "add": "sum",
    "concatenate": "concatenation",
    "change_norm": "change of norm",
    "mean": "mean",
    "either": "case distinction",
    "apply_function": "apply a function",
    "taylor": "Taylor's formula",
    "linear_map": "linear map",
    "project": "projection",
    "soft_threshold": "soft threshold",
    "bilinear": "product",
    "softmax": "softmax",
    "softmax_as_linear": "softmax as a linear map",
    "concentrate": "softmax concentration",
    "hard_max": "hard max",
    "softmax_to_hard_max": "softmax to hard max",
    "attend": "attention",
    "contract": "contraction",
    "perturbed_map": "perturbed linear map",
    "exclude": "foreign key",
    "correct": "correction",
    "repeat": "recursion",
}
READABLE = {
    **{name: MOVES[name] for name in READ},
    **{name: replace(MOVES[name], weight=0.2) for name in STOPS},
    "contract, limit": replace(MOVES["contract, limit"], weight=0.1),
}


@dataclass
class Soundness:
    """The counts of a run."""

    programs: int = 0
    steps: Counter[str] = field(default_factory=Counter)
    least: Counter[str] = field(default_factory=Counter)
    stops: Counter[str] = field(default_factory=Counter)
    networks: Counter[str] = field(default_factory=Counter)
    ratios: dict[tuple[str, str], float] = field(default_factory=dict)
    breaches: list[str] = field(default_factory=list)

    def add(self, seen: Seen) -> None:
        self.steps.update(seen.rules)
        self.least.update(seen.least)
        self.stops.update(seen.stops)
        self.networks.update(seen.networks)
        for key, ratio in seen.ratios.items():
            self.ratios[key] = max(self.ratios.get(key, 0.0), ratio)

    def table(self) -> str:
        quantities = ("bound", "radius", "1-norm", "2-norm")
        row = "{:24s} {:>8} {:>10} {:>8}" + " {:>9}" * len(quantities)
        lines = [row.format("rule", "steps", "no value", "network", *(f"/{each}" for each in quantities))]
        for rule, count in sorted(self.steps.items()):
            ratios = (self.ratios.get((rule, quantity)) for quantity in quantities)
            lines.append(
                row.format(
                    rule,
                    count,
                    self.stops[rule],
                    self.networks[rule],
                    *("-" if r is None else f"{r:.4f}" for r in ratios),
                )
            )
        total = sum(self.steps.values())
        shares = (f"{name} {count}" for name, count in sorted(self.least.items()))
        lines.append(f"least bound: {', '.join(shares)}")
        return "\n".join([*lines, f"{self.programs} programs, {total} steps, {len(self.breaches)} violations"])


def sound(
    programs: int,
    seed: int,
    *,
    rules: Rules | None = None,
    moves: Mapping[str, Move] = READABLE,
    most_breaches: int = 1,
    watch: Callable[[Soundness], None] = lambda soundness: None,
) -> Soundness:
    """Run that many random programs through all readings; it stops after `most_breaches`."""
    found, tally = Soundness(), Tally()
    for program, point, hidden in instances_of(programs, seed, rules or library(), moves, tally):
        where = f"seed {seed}, program {found.programs}, point {point}"
        found.programs += 1
        if tally.violations:  # the generator's own vectors show it
            found.breaches.append(str(tally.violations.pop()))
        else:
            _read(found, program, point, hidden, where)
        watch(found)
        if len(found.breaches) >= most_breaches:
            break
    return found


def _read(found: Soundness, program: Program, point: int, hidden: frozenset[str], where: str) -> None:
    try:
        found.add(checked(program, point, hidden, in_floats=found.programs % IN_FLOATS == 1))
    except Breach as breach:
        found.breaches.append(shown(str(breach), where, program, breach.step.name))
    except Exception as error:  # no program may end in one
        found.breaches.append(shown(f"{type(error).__name__}: {error}", where, program))


def shown(what: str, where: str, program: Program, name: str = "") -> str:
    """The breach with the program that led to it, cut down to what the step needs."""
    lines = program.needed(name) if name else program.lines
    return "\n".join([f"{what} ({where})", *(f"    {line.text}" for line in lines)])


def instances_of(
    programs: int, seed: int, rules: Rules, moves: Mapping[str, Move], tally: Tally
) -> Iterator[tuple[Program, int, frozenset[str]]]:
    """Programs, each with the point that is read in balls and the givens whose errors are known by their norm alone."""
    rng = np.random.default_rng(seed)
    options = {"rules": rules, "moves": moves, "spare": SPARE, "onwards": 0.7, "read": True}
    for program in random_programs(programs, seed, points=POINTS, tally=tally, lengths=DEPTHS, **options):
        hidden = frozenset(name for name in instances.givens(program) if rng.random() < 0.5)
        yield program, int(rng.integers(POINTS)), hidden


def checked(program: Program, point: int, hidden: frozenset[str], *, in_floats: bool = True) -> Seen:
    """What was seen; raises Breach."""
    balls = Balls(program, point, hidden)
    balls.check()
    balls.check_network()
    if in_floats:
        balls.check_substituted()
        check_in_floats(balls)
    return balls.seen


def check_in_floats(balls: Balls) -> None:
    """Against the balls, against the vectors of the generator, and one point alone; raises Breach."""
    floats = Floats(balls.program, balls.hidden)
    floats.check()
    floats.check_against(balls)
    floats.check_one_by_one(balls.point)
