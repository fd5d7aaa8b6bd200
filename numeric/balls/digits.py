"""Numbers in sentences that compare them."""

FEWEST, ALL = 6, 17  # digits; with 17 two float64 that differ look different


def apart(first: float, second: float, fewest: int = FEWEST) -> tuple[str, str]:
    """Both numbers with as many digits as tell them apart; those of equal numbers are the same."""
    for digits in range(fewest, ALL):
        words = f"{first:.{digits}g}", f"{second:.{digits}g}"
        if first == second or words[0] != words[1]:
            return words
    return f"{first:.{ALL}g}", f"{second:.{ALL}g}"
