"""Number formats and devices by name, checked without torch."""

from symbolic.words.errors import UsageError

DTYPES = ("float64", "float32", "bfloat16", "float16")
DEVICES = ("cpu", "cuda")  # each may have a number: cuda:1


def check_dtype(name: str) -> None:
    """Raises UsageError for a number format that is not one of DTYPES."""
    if name not in DTYPES:
        raise UsageError(f"dtype {name!r:.200} is not known; choose one of {', '.join(DTYPES)}")


def require_float64(id: str, name: str) -> None:
    """Raises UsageError for another format, of a result whose draws are computed in that one."""
    if name != "float64":
        raise UsageError(f"{id}: draws are computed in float64; leave out dtype")


def check_device(name: str) -> None:
    """Raises UsageError for a device of another kind than DEVICES; whether this machine has it is not checked."""
    if name.partition(":")[0] not in DEVICES:
        raise UsageError(f"device {name!r:.200} is not known; choose cpu or cuda")
