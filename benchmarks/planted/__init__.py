"""Wrong enclosures, planted one at a time: `python -m benchmarks.planted`, or `--count 200 --seed 0` of them.

A fault is one change of one place of the readings (bridge/readings), made by the syntax operators of
`benchmarks.mutants` and by two more: a coefficient times 0.999, and a maximum for a minimum. It is tried on those
programs of the tests (tests/bridge/readings/test_soundness.py) that run the changed lines, in a process forked from one
that has made them. It is

- found, if a program shows a bound that does not hold, or an exception;
- wider, if all that it changes is that more errors are allowed: such an enclosure holds as well;
- survived otherwise, also where no number of any program changes.

What survives the programs is tried on the other tests of the readings (`tests`); some code there is for what no program
has: ties of scores, balls that decide nothing, gradients at 0.

The score is (found + tests) / (found + tests + survived). Faults that change no result at all are listed in
`benchmarks/planted_equivalent.toml` with their reasons, and are left out.
"""
