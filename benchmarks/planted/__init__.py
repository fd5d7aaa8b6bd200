"""Wrong rules, planted one at a time: `python -m benchmarks.planted`, or `--count 200 --seed 0` of them.

A fault is one change of one place, made by a syntax operator. It is planted in the readings (bridge/readings), where
the operators are those of `benchmarks.mutants` and two more: a coefficient times 0.999, and a maximum for a minimum;
or, with `--of rules`, in the rules (symbolic/calculus): each coefficient times 0.999, each term dropped, each
precondition removed. It is tried on the seeded part of the generator, as far as that runs the changed lines, in a
process forked from one that has run it:

- each rule at its own cases of equality, and at what it presupposes (tests/symbolic/cases);
- each enclosure where it is attained, at jumps and at edges (tests/bridge/readings/directed);
- random programs (tests/symbolic/fuzzing, tests/bridge/readings/test_soundness.py).

It is

- found, if a bound does not hold or one is not attained that was, if a false premise is not refused, or by an
  exception;
- wider, if all that it changes is that more errors are allowed: such an enclosure holds as well;
- survived otherwise, also where no number of any program changes.

What survives the seeded part is tried on the other tests of the readings (`tests`); some code there is for what no
program has: gradients at 0, wording, shapes.

The score is (found + tests) / (found + tests + survived). Faults that change no result at all are listed in
`benchmarks/planted_equivalent.toml` and `planted_equivalent_rules.toml` with their reasons, and are left out.
"""
