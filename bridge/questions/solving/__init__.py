"""The parts of `solve`: the admissible values of a knob, the bound at one of them, and the search.

At each value the hypotheses are checked, the instance is built as `compare` builds it, and its open obligations are
decided by balls. A value is an answer only if all of them hold there and the bound is a number between 0 and the error.
"""
