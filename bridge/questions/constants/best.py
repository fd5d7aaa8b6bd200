"""What the questions for a best constant give: a value that is proved, one that is refuted, and the certificates."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from pathlib import Path
from typing import Any

import sympy as sp

from bridge.export.writing import check_output, check_suffix
from bridge.export.written_files import write_text
from bridge.questions.certify.certificate import CertifiedClaim, certificate_text
from bridge.questions.certify.deadline import Deadline, OutOfTime, checked_seconds
from bridge.questions.certify.proving import Outcome
from bridge.questions.certify.words import region, short, shortly
from bridge.questions.constants.bracketing import Bracketing
from bridge.questions.constants.free import FreeConstant, Region
from symbolic.derivations.exact_numbers import as_rational
from symbolic.derivations.inequalities import Inequality
from symbolic.latex.displays import display
from symbolic.latex.page import Page
from symbolic.words.errors import UsageError

FILES = (".json", ".tex")
WITHIN = sp.Rational(1, 1000)


@dataclass(frozen=True, repr=False)
class BestConstant:
    """A best constant: the statement is proved at `proved` and false at `refuted`; None where that was not found.

    `proofs` are the outcomes that prove it together, `refutation` has the point at which it fails. `undecided` is the
    last attempt that gave up, where the two are apart. The best constant lies between the two.
    """

    question: str
    statement: str
    formula: Callable[[sp.Expr], str]
    letter: sp.Symbol
    largest: bool
    box: Region
    where: tuple[sp.Expr, ...]
    proved: sp.Rational | None
    refuted: sp.Rational | None
    proofs: tuple[Outcome, ...] = ()
    refutation: Outcome | None = None
    undecided: Outcome | None = None
    seconds: float = 0.0

    @property
    def ratio(self) -> float:
        """The smaller of the two values over the larger one: close to 1 if little is open, 0 if they are on two
        sides of 0, nan if one is missing."""
        if self.proved is None or self.refuted is None:
            return float("nan")
        small, large = sorted((abs(self.proved), abs(self.refuted)))
        return 1.0 if large == 0 else float(small / large) if self.proved * self.refuted >= 0 else 0.0

    @property
    def boxes(self) -> int:
        """Those of the proofs."""
        return sum(each.boxes for each in self.proofs)

    @property
    def counted(self) -> str:
        return f"{self.boxes} box{'' if self.boxes == 1 else 'es'}"

    @property
    def words(self) -> str:
        """One line."""
        proved = "no value proved" if self.proved is None else f"{decimal(self.proved)} proved on {self.counted}"
        refuted = "none refuted" if self.refuted is None else f"{decimal(self.refuted)} refuted"
        return f"{self.question}: {proved}, {refuted}"

    def lines(self) -> Iterator[str]:
        """What `print` shows."""
        yield self.words
        yield f"{self.letter}: the constant in {shortly(self.statement)}"
        yield f"for {region(self._everywhere)}"
        if self.refutation is not None:
            at = ", ".join(f"{symbol} = {short(x)}" for symbol, x in self.refutation.point.items())
            value = short(self.refutation.value or 0.0)
            yield f"{decimal(self.refuted)} fails at {at}: the difference of the sides is at most {value}"
        elif self.proved is not None:
            yield "no point refutes a value; the range of the constant may end before the best one"
        if self.proved is None and self.undecided is not None:
            yield self.undecided.words

    def __str__(self) -> str:
        return "\n".join(filter(None, self.lines()))

    def __repr__(self) -> str:
        return f"<BestConstant {self.words}>"

    def _repr_html_(self) -> str:
        return "<br>\n".join(escape(line) for line in self.lines() if line)

    def latex(self) -> str:
        """A sentence for amsmath: what holds with the proved value, and where the refuted one fails."""
        page = Page()
        box = ", ".join(rf"${page.latex(s)} \in [{page.latex(a)}, {page.latex(b)}]$" for s, (a, b) in self.box.items())
        where = [rf"${page.latex(each)} \ge 0$" for each in self.where]
        under = f" with {', '.join(where)}" if where else ""
        letter, lines = page.latex(self.letter), [f"For all {box}{under},", display([self.formula(self.letter)])]
        if self.proved is not None:
            lines.append(f"holds with ${letter} = {decimal(self.proved)}$ (certified on {self.counted}).")
        if self.refutation is not None:
            point = self.refutation.point.items()
            at = ", ".join(f"${page.latex(s)} = {page.latex(sp.Rational(x))}$" for s, x in point)
            lines.append(f"With ${letter} = {decimal(self.refuted)}$ it fails at {at}.")
        return "\n".join(lines)

    @property
    def _everywhere(self) -> Inequality:
        return Inequality(self.question, sp.S.Zero, self.box, self.where)

    def record(self) -> dict[str, Any]:
        """What `--json` prints: exact numbers as texts."""
        point = {} if self.refutation is None else {s.name: str(x) for s, x in self.refutation.point.items()}
        return {
            "question": self.question,
            "statement": self.statement,
            "letter": self.letter.name,
            "region": {s.name: [str(a), str(b)] for s, (a, b) in self.box.items()},
            "where": [str(each) for each in self.where],
            "proved": None if self.proved is None else str(self.proved),
            "refuted": None if self.refuted is None else str(self.refuted),
            "point": point,
            "ratio": None if self.ratio != self.ratio else self.ratio,
            "boxes": self.boxes,
            "seconds": self.seconds,
        }

    @property
    def certificates(self) -> list[CertifiedClaim]:
        """The proofs and the refutation."""
        return [CertifiedClaim(each) for each in (*self.proofs, *filter(None, [self.refutation]))]

    def save(self, *paths: str | Path) -> None:
        """Writes the certificate (.json), which `boundsmith certify --check` confirms, or LaTeX (.tex).

        Raises UsageError for another ending, and for a certificate of nothing.
        """
        for path in paths:
            check_output(path, FILES)
            if check_suffix(path, FILES) == ".tex":
                write_text(path, self.latex() + "\n")
            elif not self.certificates:
                raise UsageError(f"{self.question}: nothing was proved or refuted, so that there is no certificate")
            else:
                write_text(path, certificate_text(self.certificates))


def best(call: str, free: FreeConstant, *, seconds: Any, within: Any) -> BestConstant:
    """The search, in at most about so many seconds, for two values that differ by a share `within` at most."""
    share = as_rational(call, "within", within)
    if not 0 < share < 1:
        raise UsageError(f"{call}: within = {within}; give a share between 0 and 1, such as 1/1000")
    search = Bracketing(free, Deadline(checked_seconds(call, seconds)), Fraction(share))
    with contextlib.suppress(OutOfTime):  # each value that was found is kept
        search.run()
    search.simplify()
    t, u = search.proved, search.refuted
    return BestConstant(
        free.question,
        free.statement,
        free.formula,
        free.letter,
        free.largest,
        free.box,
        free.where,
        None if t is None else sp.Rational(free.sign * t),
        None if u is None else sp.Rational(free.sign * u),
        search.proofs,
        search.refutation,
        search.given_up[-1] if search.given_up else None,
        search.deadline.spent,
    )


def decimal(number: sp.Rational | None) -> str:
    """The number as a decimal where that is short, else as a fraction."""
    exact = sp.Rational(number)
    places = next((k for k in range(16) if (exact * 10**k).q == 1), None)
    if not places:
        return str(exact)
    digits = f"{int(abs(exact) * 10**places):0{places + 1}d}"
    return f"{'-' if exact < 0 else ''}{digits[:-places]}.{digits[-places:]}"
