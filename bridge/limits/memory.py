"""How much memory there is for a run: what the machine has left, and what the container that it runs in allows."""

import os
from collections.abc import Iterator
from pathlib import Path

from symbolic.words.errors import UsageError

try:
    import resource
except ImportError:  # Windows limits no process in this way
    resource = None  # type: ignore[assignment]

GIGABYTE = 2**30
SYSTEM = Path("/")
# Of a control group: where its tree is mounted, and the files with its limit and its use, version 2 and version 1.
GROUPS = {
    "": ("sys/fs/cgroup", "memory.max", "memory.current"),
    "memory": ("sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
}
DATA_COLUMN = 5  # of /proc/self/statm, in pages
RECLAIMED = ("inactive_file", "total_inactive_file")  # of what a group uses, the kernel takes this back on demand


def available_bytes(root: Path = SYSTEM) -> int:
    """The bytes that a run can take without swapping: what other processes hold is not counted.

    The least of what the machine has available, of what each control group (a container) leaves, and of what the
    process itself may take (`ulimit`). Where the system tells none of these, the physical memory, or what every machine
    has where even that is unknown.
    """
    return max(0, min([_machine(root), *_groups(root), *_limits(root)]))


def _limits(root: Path) -> Iterator[int]:
    """What the limits of this process leave (`ulimit -v` and `ulimit -d`)."""
    pages = [int(word) for word in _text(root / "proc/self/statm").split() if word.isdigit()]
    if resource is None or len(pages) < DATA_COLUMN + 1:
        return
    size = os.sysconf("SC_PAGE_SIZE")
    for limit, column in ((resource.RLIMIT_AS, 0), (resource.RLIMIT_DATA, DATA_COLUMN)):
        allowed, _ = resource.getrlimit(limit)
        if allowed != resource.RLIM_INFINITY:
            yield allowed - size * pages[column]


def _machine(root: Path) -> int:
    known = dict(line.split(":", 1) for line in _text(root / "proc/meminfo").splitlines() if ":" in line)
    words = known.get("MemAvailable", "").split()
    if words and words[0].isdigit():
        return int(words[0]) * 1024
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf, other systems lack a name
        return 4 * GIGABYTE


def _groups(root: Path) -> Iterator[int]:
    """What each control group that limits this process leaves, the groups above it included."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        for controller in set(controllers.split(",")) & set(GROUPS):
            mounted, limit, use = GROUPS[controller]
            below = Path(path.lstrip("/"))
            for group in (below, *below.parents):  # inside a container the path may be that of the host: then its root
                yield from _left(root / mounted / group, limit, use)


def _left(group: Path, limit: str, use: str) -> Iterator[int]:
    allowed, used = (_text(group / name).strip() for name in (limit, use))
    if allowed.isdigit() and used.isdigit():
        statistics = dict(line.split()[:2] for line in _text(group / "memory.stat").splitlines() if " " in line)
        reclaimed = max((int(statistics[name]) for name in RECLAIMED if name in statistics), default=0)
        yield int(allowed) - int(used) + min(reclaimed, int(used))


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, ValueError):
        return ""


def require_memory(call: str, needed: int, remedy: str) -> None:
    """Raises UsageError if `needed` bytes are more than are available; the message gives the need and the `remedy`."""
    if needed > 0 and needed > (available := available_bytes()):
        raise UsageError(
            f"{call}: needs about {gibibytes(needed)} GiB of memory, this machine has {gibibytes(available)} to give; "
            f"{remedy}"
        )


def gibibytes(count: int) -> str:
    """A number of bytes of any size, in GiB to three digits."""
    whole = count // (GIGABYTE // 1024)  # in 1024ths: an integer as large as it may be
    if whole < 2**60:
        return f"{whole / 1024:.3g}"
    return f"10^{len(str(whole // 1024)) - 1}" if whole < 10**4000 else "more than 10^4000"
