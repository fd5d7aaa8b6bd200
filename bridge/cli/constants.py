"""`boundsmith certify` with a question: the best constant of what the user types."""

from collections.abc import Sequence
from dataclasses import dataclass

import sympy as sp

from bridge.cli.certificate_files import CertificateFiles
from bridge.cli.terminal import progress, show_filled, show_json
from bridge.questions.certify.deadline import checked_seconds
from bridge.questions.certify.reading import read_claim, read_ranges, typed_inequality
from bridge.questions.constants import BestConstant, decay, largest_constant, lipschitz, supremum
from bridge.questions.constants.best import FILES
from symbolic.dynamics.flows import Flow
from symbolic.words.errors import UsageError

SECONDS = 60.0


@dataclass(frozen=True)
class Question:
    """What is asked of the expression: one of these, the others empty."""

    largest: str | None = None
    supremum: bool = False
    lipschitz: str | None = None
    flow: Sequence[str] = ()

    def __post_init__(self) -> None:
        given = [f"--{name}" for name in ("largest", "supremum", "lipschitz", "flow") if getattr(self, name)]
        if len(given) > 1:
            raise UsageError(f"certify: {' and '.join(given)} ask different questions; keep one")

    def __bool__(self) -> bool:
        return bool(self.largest or self.supremum or self.lipschitz or self.flow)


def run_constant(
    question: Question,
    text: str,
    ranges: Sequence[str],
    where: Sequence[str],
    seconds: float | None,
    files: CertificateFiles,
    *,
    as_json: bool,
) -> None:
    """Answers the question, and writes the certificate of both values and what goes with it, or a page of LaTeX."""
    limit = checked_seconds("certify", SECONDS if seconds is None else seconds)
    files.check(FILES)
    with progress(f"certify {text[:60]}"):
        found = _answer(question, text, ranges, where, limit)
    if as_json:
        show_json(found.record())
    else:
        show_filled(*str(found).splitlines())
    if files.page is not None:
        found.save(files.page)
    elif files.any and not found.certificates:
        raise UsageError(f"{found.question}: nothing was proved or refuted, so that there is no certificate")
    files.write(found.certificates, quiet=as_json)


def _answer(question: Question, text: str, ranges: Sequence[str], where: Sequence[str], seconds: float) -> BestConstant:
    if question.largest:
        letter = sp.Symbol(question.largest, real=True)
        return largest_constant(typed_inequality(text, ranges, where), letter, seconds=seconds)
    box, (expression, _) = read_ranges(ranges), read_claim(text, evaluate=False)
    conditions = tuple(read_claim(each, evaluate=False)[0] for each in where)
    if any(sign in text for sign in "<>"):
        raise UsageError(f"certify: the expression {text[:60]!r} is a comparison; --largest C asks for its constant")
    if question.supremum:
        return supremum(expression, box, where=conditions, seconds=seconds)
    if question.flow:
        return decay(_flow(question.flow), expression, box, where=conditions, seconds=seconds)
    if where:
        raise UsageError("certify: --lipschitz is about a whole box and takes no --where; omit it")
    norms = [each.strip() for each in str(question.lipschitz).split(",")]
    return lipschitz(expression, box, norms[0] if len(norms) == 1 else norms, seconds=seconds)


def _flow(rates: Sequence[str]) -> Flow:
    """`x=-x*y` as the rate of x."""
    pairs = [each.partition("=") for each in rates]
    if wrong := [each for each, (name, _, rate) in zip(rates, pairs, strict=True) if not (name.strip() and rate)]:
        raise UsageError(f"--flow {wrong[0]} is not of the form NAME=RATE, such as x=-x**3")
    state = tuple(sp.Symbol(name.strip(), real=True) for name, _, _ in pairs)
    return Flow(state, tuple(read_claim(rate)[0] for _, _, rate in pairs))
