"""Certificates as their content, written by hand or from a proof, and sealed again after a change."""

import json
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from bridge.questions.certify.certificate import (
    FORMAT,
    VERSION,
    CertifiedClaim,
    certificate_text,
    digest,
    inequality_record,
)
from bridge.questions.certify.certifying import certify
from bridge.questions.certify.proving import prove
from bridge.questions.certify.reading import typed_inequality
from bridge.questions.certify.standalone import CHECKER, CHECKER_OF_STEPS, program

Content = dict[str, Any]


@cache
def _text(id: str, boxes_alone: bool) -> str:
    return certificate_text([CertifiedClaim(outcome) for outcome in certify(id, boxes_alone=boxes_alone)])


def shipped(id: str, *, boxes_alone: bool = False) -> Content:
    """The certificate of a result at its defaults."""
    return dict(json.loads(_text(id, boxes_alone)))


def proved(text: str, *ranges: str) -> Content:
    """The certificate of a typed inequality."""
    return dict(json.loads(certificate_text([CertifiedClaim(prove(typed_inequality(text, ranges)))])))


def by_hand(text: str, ranges: Sequence[str], tree: Any, where: Sequence[str] = ()) -> Content:
    """A certificate that claims a typed inequality proved by a tree."""
    inequality = typed_inequality(text, ranges, where)
    claim = {
        "inequality": inequality_record(inequality),
        "origin": None,
        "verdict": "proved",
        "share": "1",
        "tree": tree,
    }
    return sealed({"format": FORMAT, "version": VERSION, "package": "0", "claims": [claim]})


def sealed(content: Content) -> Content:
    """With the digest of its content, as whoever changed it would write it."""
    return {**content, "digest": digest(content)}


def checked(folder: Path, content: Content, program_name: str = CHECKER) -> tuple[int, str]:
    """Exit code and output of the program, run without any package installed."""
    for name in (CHECKER, CHECKER_OF_STEPS):
        (folder / name).write_text(program(name))
    (folder / "certificate.json").write_text(json.dumps(content))
    command = [sys.executable, "-E", "-S", program_name, "certificate.json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout
