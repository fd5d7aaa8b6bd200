"""Programs that check a certificate without this package: plain files of `programs`, which are copied.

`check_certificate.py` is one file of Python's standard library. `check_steps.py` adds the steps of certificates, and
functions that few of them have. `Steps.v` has the lemmas that proofs in Coq use.
"""

from importlib.resources import files

CHECKER, CHECKER_OF_STEPS, LIBRARY_OF_COQ = "check_certificate.py", "check_steps.py", "Steps.v"
MORE = ("sin", "cos", "tan", "atan")
WITH_MORE = ('{"step":', '["Constant","pi"]', *(f'["{name}",' for name in MORE))  # in the text of a certificate


def program(name: str) -> str:
    """The text of one of the files."""
    return files("bridge.questions.certify").joinpath("programs", name).read_text("utf-8")


def checkers(certificate: str) -> tuple[str, ...]:
    """The names of the programs that check a certificate of this text; the last of them is the one to run."""
    more = any(part in certificate for part in WITH_MORE)
    return (CHECKER, CHECKER_OF_STEPS) if more else (CHECKER,)
