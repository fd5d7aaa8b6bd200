"""Refusal, before the start, of runs that would not fit into memory."""

import os

from symbolic.statements import UsageError

GIGABYTE = 2**30


def available_bytes() -> int:
    """The machine's physical memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def require_memory(call: str, needed: int, remedy: str) -> None:
    """Raises UsageError if `needed` bytes exceed the machine's memory; the message gives the need and the `remedy`."""
    if needed > available_bytes():
        raise UsageError(
            f"{call}: needs about {needed / GIGABYTE:.3g} GiB of memory, this machine has "
            f"{available_bytes() / GIGABYTE:.3g}; {remedy}"
        )
