"""Names that are typed: refused with the nearest of those that there are."""

import difflib
from collections.abc import Sequence

from symbolic.words.errors import UsageError


def require_known(name: str, known: Sequence[str], refusal: str) -> None:
    """Raises UsageError, with the nearest names, unless the name is known."""
    if name in known:
        return
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
    hint = f" Nearest: {', '.join(near)}." if near else ""
    raise UsageError(f"{refusal} '{name}'.{hint} There are: {', '.join(known)}.")
