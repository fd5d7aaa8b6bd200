"""Random programs through all readings: counts of what was seen, and the first breaches."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from tests.bridge.readings import instances
from tests.bridge.readings.checking import Balls, Breach, Derived, Floats, Seen
from tests.symbolic.fuzzing.fuzzer import MOVES, Tally, library, random_program
from tests.symbolic.fuzzing.move import Move
from tests.symbolic.fuzzing.program import Program, Rules
from tests.symbolic.fuzzing.record import Violation

SPARE = 2.0**-36  # by how much, relatively, the rules' numbers exceed those of the vectors: 2^16 roundings
POINTS, DEPTHS = 4, (4, 13)
SEEDS, PROGRAMS = (0, 1), 100  # of the tests
IN_FLOATS = 3  # of so many programs one is read in floats too
# Rules without an operation, after which nothing is enclosed: their bounds go on by rule.
STOPS = ("project, ball", "perturbed_function", "evolve", "recur", "bilinear", "apply_to_pairs")
READ = (
    *(
        "given",
        "given, probabilities",
        "given, affine",
        "add",
        "as_tokens",
        "concatenate",
        "change_norm",
        "mean",
        "either",
    ),
    "change_norm, weights",
    *("centre", "centre, opposite tokens", "append", "append, zeros and centred tokens", "token"),
    *("apply_function", "apply_function, within", "apply_function, Taylor", "apply_function, after a linear map"),
    *("taylor", "linear_map", "linear_map, tokens to coordinates", "project, box"),
    *(
        "soft_threshold",
        "soft_threshold, along a corner",
        "rms_normalise",
        "rms_normalise, away from 0",
        "rms_normalise, centred",
        "rotate",
        "bilinear, entry-wise",
        "bilinear, entry-wise, after a linear map",
    ),
    *("bilinear, inner product", "bilinear, mean of outer products", "bilinear, all pairs"),
    "bilinear, weighted sums",
    *(
        "softmax",
        "softmax, affine",
        "cut_softmax",
        "cut_softmax, largest",
        "log_softmax",
        "cross_entropy",
        "softmax_as_linear",
        "heads_as_linear",
        "concentrate",
        "hard_max",
        "softmax_to_hard_max",
        "attend",
    ),
    *("contract", "contract, limit", "repeat", "perturbed_map", "perturbed_map, known", "exclude", "correct"),
)
# The rules with an operation, and what their steps are called.
STEPS = {
    "given": "given",
    "add": "sum",
    "as_tokens": "tokens",
    "concatenate": "concatenation",
    "change_norm": "change of norm",
    "mean": "mean",
    "centre": "centring",
    "append": "appended tokens",
    "token": "one token",
    "either": "case distinction",
    "apply_function": "apply a function",
    "taylor": "Taylor's formula",
    "linear_map": "linear map",
    "project": "projection",
    "soft_threshold": "soft threshold",
    "rms_normalise": "rms normalisation",
    "rotate": "rotation",
    "bilinear": "product",
    "softmax": "softmax",
    "log_softmax": "log-softmax",
    "cross_entropy": "cross-entropy",
    "softmax_as_linear": "softmax as a linear map",
    "heads_as_linear": "softmax beside a sink",
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
    """The counts of a run: programs, instances of them, and what was seen at the instances."""

    programs: int = 0
    instances: int = 0
    steps: Counter[str] = field(default_factory=Counter)
    least: Counter[str] = field(default_factory=Counter)
    stops: Counter[str] = field(default_factory=Counter)
    networks: Counter[str] = field(default_factory=Counter)
    ratios: dict[tuple[str, str], float] = field(default_factory=dict)
    breaches: list[str] = field(default_factory=list)

    def add(self, seen: Seen) -> None:
        self.instances += 1
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
        counts = f"{self.programs} programs, {self.instances} instances, {total} steps"
        return "\n".join([*lines, f"{counts}, {len(self.breaches)} violations"])


def sound(
    programs: int,
    seed: int,
    *,
    instances: int = 1,
    only: int | None = None,
    found: Soundness | None = None,
    rules: Rules | None = None,
    moves: Mapping[str, Move] = READABLE,
    most_breaches: int = 1,
    watch: Callable[[Soundness], None] = lambda soundness: None,
) -> Soundness:
    """Run that many random programs through all readings; it stops after `most_breaches`.

    `instances`: at so many points each. `only`: the program of this number. `found`: counts of the first programs,
    which are not run again. `watch` is called after each program.
    """
    found = found or Soundness()
    for number in range(found.programs, programs) if only is None else [only]:
        _read(found, drawn(number, seed, instances, rules or library(), moves))
        watch(found)
        if len(found.breaches) >= most_breaches:
            break
    return found


@dataclass(frozen=True)
class Drawn:
    """The program of this number, and its instances: a point, and the givens whose errors are known by norm alone."""

    number: int
    seed: int
    program: Program
    violations: list[Violation]
    instances: list[tuple[int, frozenset[str]]]

    @property
    def where(self) -> str:
        return f"seed {self.seed}, program {self.number}"


def drawn(number: int, seed: int, count: int, rules: Rules, moves: Mapping[str, Move]) -> Drawn:
    """Each program has a seed of its own, so that it can be drawn alone."""
    rng, tally, points = np.random.default_rng([seed, number]), Tally(), max(POINTS, count)
    options = {"rules": rules, "moves": moves, "spare": SPARE, "onwards": 0.7, "read": True}
    where = f"seed {seed}, program {number}, "
    program = random_program(rng, where, points=points, tally=tally, lengths=DEPTHS, **options)
    givens = list(instances.givens(program))
    chosen = rng.permutation(points)[:count]
    hidden = [frozenset(name for name in givens if rng.random() < 0.5) for _ in chosen]
    return Drawn(number, seed, program, tally.violations, list(zip(map(int, chosen), hidden, strict=True)))


def _read(found: Soundness, one: Drawn) -> None:
    if one.violations:  # the generator's own vectors show it
        found.breaches.append(str(one.violations[0]))
    else:
        derived = Derived(one.program)
        for place, (point, hidden) in enumerate(one.instances):
            in_floats = place == 0 and one.number % IN_FLOATS == 0
            _read_instance(found, one, Balls(derived, point, hidden), in_floats)
    found.programs += 1


def _read_instance(found: Soundness, one: Drawn, balls: Balls, in_floats: bool) -> None:
    where = f"{one.where}, point {balls.point}"
    try:
        found.add(checked(balls, in_floats=in_floats))
    except Breach as breach:
        found.breaches.append(shown(str(breach), where, one.program, breach.step.name))
    except Exception as error:  # no program may end in one
        found.breaches.append(shown(f"{type(error).__name__}: {error}", where, one.program))


def shown(what: str, where: str, program: Program, name: str = "") -> str:
    """The breach with the program that led to it, cut down to what the step needs."""
    lines = program.needed(name) if name else program.lines
    return "\n".join([f"{what} ({where})", *(f"    {line.text}" for line in lines)])


def instances_of(
    programs: int, seed: int, rules: Rules, moves: Mapping[str, Move]
) -> Iterator[tuple[Program, int, frozenset[str]]]:
    """One instance of each program."""
    for number in range(programs):
        one = drawn(number, seed, 1, rules, moves)
        yield one.program, *one.instances[0]


def checked(balls: Balls, *, in_floats: bool = True) -> Seen:
    """What was seen; raises Breach."""
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
    floats.check_one_by_one(balls.point, floats.check_against(balls))
