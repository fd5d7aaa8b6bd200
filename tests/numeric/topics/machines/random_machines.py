"""Random Turing machines for the tests: three states with rules, two terminal ones."""

import numpy as np

from numeric.topics.machines.machine import TuringMachine

MARK = ">"  # the left end, for machines with one


def random_machine(seed: int, ends: float = 0.02) -> tuple[TuringMachine, list[str]]:
    """A random table, and random inputs. With an odd seed two-way; else a mark keeps the head on the tape.

    `ends` is the chance of each of the two terminal states in a rule.
    """
    rng = np.random.default_rng(seed)
    states, symbols, two_way = ("p", "q", "r", "yes", "no"), ("_", "0", "1"), seed % 2 == 1

    def rule(symbol: str) -> tuple[str, str, int]:
        to = str(rng.choice(states, p=(*[(1 - 2 * ends) / 3] * 3, ends, ends)))
        if symbol == MARK:
            return to, MARK, int(rng.choice((0, 1, 1)))
        return to, str(rng.choice(symbols)), int(rng.choice((-1, 0, 1), p=(0.4, 0.2, 0.4)))

    alphabet = symbols if two_way else (*symbols, MARK)
    rules = {(state, symbol): rule(symbol) for state in states[:3] for symbol in alphabet}
    machine = TuringMachine(
        f"random {seed}", states, alphabet, "_", "p", frozenset({"yes"}), frozenset({"no"}), rules, two_way
    )
    inputs = ["".join(rng.choice(symbols, size=rng.integers(5))) for _ in range(4)]
    return machine, inputs if two_way else [MARK + word for word in inputs]
