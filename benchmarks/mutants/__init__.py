"""`python -m benchmarks.mutants`: plants faults in the program and counts how many of them the tests find.

A fault is one change of one place of the source, made by a syntax operator (`benchmarks.mutants.operators`): a dropped
factor, a sum for a maximum, an off by one, a premise that is no longer tested. All places are enumerated and a sample
is drawn by a seed, so nobody chooses which faults are tried. Each is served to the tests by an import hook; nothing is
written into the tree.

Faults are planted in one part of the program: in the error calculus (symbolic/calculus/*.py and derivation,
obligations, signs, approximation, inequalities), with `--of bridge` in bridge, topics included, with `--of numeric` in
numeric, and with `--of balls`, `certify`, `lowering` or `judging` in a part of these whose direct tests alone try them.
The tests of that part try them. Left out, because no test of a value could or should distinguish them:

- docstrings, string constants, f-strings, `raise` statements, and the arguments `reason`, `source`, `statement`,
  `because` and `meaning`: the wording of a message;
- type annotations, imports and decorators: mypy and the import contracts check them;
- `latex`, `_repr_latex_`, `__repr__`, `__str__`, functions that end in `_latex`, and `__all__`: what is printed or
  exported, and not what holds.

A first run without a fault times the tests and notes which functions each of them enters. A fault is tried by the tests
that enter the changed function, the quickest first, in a process forked from one that has imported the libraries.

The score is found / (drawn - equivalent). A fault is found if a test fails, if the module no longer imports, or if the
tests no longer end. A fault that changes no result at all is equivalent; `benchmarks/mutants_equivalent.toml` lists
these with their reasons. They are run all the same: a test that fails on one of them refutes its entry.

Whether other tests find less is asked in two runs: the new ones with `--json FILE`, then the old ones, in their own
checkout of the same sources, with the same seed and `--survivors FILE`.
"""
