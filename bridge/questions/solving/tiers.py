"""The tiers of a bound that `solve` inverts, the default first."""

from symbolic.words.errors import UsageError

TIERS = ("derived", "printed", "instance")


def check_tier(tier: str) -> None:
    """Raises UsageError for a tier that is not one of TIERS."""
    if tier not in TIERS:
        raise UsageError(f"solve: tier '{tier}' is not one of {', '.join(TIERS)}")
