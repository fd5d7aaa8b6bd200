"""How many ball operations a run may take, and what is raised beyond."""

from dataclasses import dataclass

# One scalar ball of an attention weight (exponential, division, conversion to and from Python) takes about as long and
# as much memory as this many multiplications inside a matrix product; measured, and only a matter of scale.
OPERATIONS_PER_SCALAR = 64
DEFAULT_LIMIT = 500_000_000  # some six seconds on one core


@dataclass(frozen=True)
class ExactCost:
    """Ball multiplications inside matrix products, and scalar balls handled one at a time (exponentials among them)."""

    products: int = 0
    scalars: int = 0
    exponentials: int = 0

    @property
    def operations(self) -> int:
        """One figure for both, in units of one multiplication inside a product."""
        return self.products + OPERATIONS_PER_SCALAR * self.scalars

    def __add__(self, other: "ExactCost") -> "ExactCost":
        return ExactCost(
            self.products + other.products, self.scalars + other.scalars, self.exponentials + other.exponentials
        )


class TooLargeForExact(ValueError):  # noqa: N818  (the name states the fault)
    """The exact run would take more ball operations than the limit allows."""

    def __init__(self, name: str, length: int, cost: ExactCost, limit: int) -> None:
        super().__init__(
            f"run_exact({name!r}): a prompt of {length} tokens needs {cost.operations:,} ball operations "
            f"({cost.exponentials:,} scalar exponentials), the limit is {limit:,}. "
            "Take a shorter prompt, request fewer taps, set last_token_only, or pass a higher limit."
        )


class TooManyBallOperations(TooLargeForExact):
    """A function written in torch took more ball operations than the limit allows; raised when it passes the limit."""

    def __init__(self, name: str, operations: int, limit: int) -> None:
        ValueError.__init__(
            self,
            f"run_on_balls({name}): more than {limit:,} ball operations ({operations:,} when it was stopped). "
            "Take smaller arguments, or pass a higher limit.",
        )
