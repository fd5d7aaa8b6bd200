"""The files that `boundsmith certify` writes: the certificate, programs that check it, and its theorems in Coq."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bridge.cli.terminal import show
from bridge.export.writing import check_output
from bridge.export.written_files import check_writable, write_text
from bridge.questions.certify.certificate import CertifiedClaim, certificate_text, claim_record
from bridge.questions.certify.coq.file import coq_text
from bridge.questions.certify.standalone import CHECKER, LIBRARY_OF_COQ, checkers, program
from symbolic.words.errors import UsageError

CERTIFICATES, THEOREMS = (".json",), (".v",)


@dataclass(frozen=True)
class CertificateFiles:
    """What is to be written of a run; programs and the library of Coq lie beside the files that need them."""

    certificate: Path | None = None
    with_checker: bool = False
    coq: Path | None = None

    @property
    def page(self) -> Path | None:
        """The file, where it is no certificate but a page of LaTeX."""
        return self.certificate if self.certificate is not None and self.certificate.suffix == ".tex" else None

    @property
    def any(self) -> bool:
        return self.certificate is not None or self.coq is not None

    def check(self, formats: Sequence[str] = CERTIFICATES) -> None:
        """Before the run. Raises UsageError for a path that cannot be written, and for a checker of no certificate."""
        if self.with_checker and (self.certificate is None or self.page is not None):
            raise UsageError("certify: --with-checker goes with -o FILE.json: the checker is written beside that file.")
        if self.certificate is not None:
            check_output(self.certificate, formats)
            if self.with_checker:
                _require_ours(self.certificate.with_name(CHECKER))
        if self.coq is not None:
            check_output(self.coq, THEOREMS)
            _require_ours(self.coq.with_name(LIBRARY_OF_COQ))
            if self.coq.name == LIBRARY_OF_COQ:
                raise UsageError(f"certify: --coq {self.coq}: the library of steps is called so; choose another name.")

    def write(self, claims: Sequence[CertifiedClaim], *, quiet: bool) -> None:
        written = [] if self.page is None else [f"{self.page}"]
        if self.certificate is not None and self.page is None:
            text = certificate_text(claims)
            write_text(self.certificate, text)
            written.append(f"{self.certificate}")
            if self.with_checker:
                names = checkers(text)
                for name in names:
                    write_text(self.certificate.with_name(name), program(name))
                run = f"python {self.certificate.with_name(names[-1])} {self.certificate}"
                written.append(f"{', '.join(names)} beside it; `{run}` checks it without boundsmith")
        if self.coq is not None:
            write_text(self.coq, coq_text([claim_record(claim) for claim in claims], self.coq.name))
            write_text(self.coq.with_name(LIBRARY_OF_COQ), program(LIBRARY_OF_COQ))
            written.append(f"{self.coq}, and {LIBRARY_OF_COQ} beside it, which coqc compiles first")
        for line in written if not quiet else ():
            show(f"written: {line}")


def _require_ours(path: Path) -> None:
    """Raises UsageError for a file of that name that is not a copy of ours."""
    check_writable(path)
    ours = program(path.name)
    if path.exists() and path.read_text("utf-8", errors="replace").partition("\n")[0] != ours.partition("\n")[0]:
        raise UsageError(f"certify: '{path}' is another file, and is not overwritten; choose another folder.")
