"""Sets of whole numbers in which every sum of h elements tells which they are (B_h sets), by Bose and Chowla.

Such marks make ids of a token among others.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, combinations_with_replacement, product, repeat
from math import comb, isqrt
from operator import mul
from typing import Any

import flint

from numeric.networks.stream import StreamError

MOST_POWERS = 1 << 22  # of the generator that are looked through
MOST_IDS, LARGEST = 1 << 20, 1 << 53  # ids that are listed; whole numbers that float64 holds


# F = GF(q^h) with the generator g has g^s - g in GF(q) for q exponents s, one for each a = g^s - g. A sum of h of them,
# modulo q^h - 1, gives the product of h factors g + a, a monic polynomial of degree h over GF(q), at g. Two of these
# differ by a polynomial of degree less than h, which is not 0 at g unless it is 0, as g has degree h over GF(q). So the
# polynomials are equal, and so are their roots. A B_h set remains one when all its elements move by one number.
@lru_cache(maxsize=64)
def sum_set(count: int, h: int) -> tuple[int, ...]:
    """0 = m_0 < m_1 < ... of `count` whole numbers, no two sums of h of which, with repetition, are equal.

    The largest is below q^h - 1, q the least prime power that is at least `count`: of the q marks of Bose and Chowla
    modulo q^h - 1 those `count` neighbours are taken that span least. Raises StreamError.
    """
    call = f"sum_set({count}, {h})"
    if count < 1 or h < 1:
        raise StreamError(call, "a number below 1", "Give at least one mark and sums of at least one.")
    if h == 1 or count == 1:
        return tuple(range(count))
    prime, power = next_prime_power(count)
    order = prime ** (power * h) - 1
    if order > MOST_POWERS:
        raise StreamError(call, f"a field of {order + 1} elements", f"Give numbers with count^h below {MOST_POWERS}.")
    marks = _exponents(prime, power, power * h, order)
    around = [*marks, *(mark + order for mark in marks)]
    start = min(range(len(marks)), key=lambda place: around[place + count - 1] - around[place])
    return tuple(mark - around[start] for mark in around[start : start + count])


def next_prime_power(least: int) -> tuple[int, int]:
    """The prime p and the power m >= 1 of the least p^m that is at least this and at least 2."""
    number = max(least, 2)
    while True:
        ((prime, power), *others) = flint.fmpz(number).factor()
        if not others:
            return int(prime), int(power)
        number += 1


def _exponents(prime: int, power: int, degree: int, order: int) -> list[int]:
    """The s with g^s - g in GF(p^power), ascending, for the first generator g: by baby steps and giant steps."""
    field = flint.fq_default_ctx(prime, degree)
    divisors = [order // int(factor) for factor, _ in flint.fmpz(order).factor()]
    elements = (field(list(digits)) for digits in product(range(prime), repeat=degree) if any(digits))
    g = next(each for each in elements if not any((each**divisor).is_one() for divisor in divisors))
    count = prime**power
    steps = isqrt(order * count) + 1  # as many baby steps as giant steps in all
    baby = dict(zip(_powers(g, steps, field.one()), range(steps), strict=True))
    giant, root = g ** (order - steps % order), g ** (order // (count - 1))
    found = []
    for a in (field.zero(), *_powers(root, count - 1, field.one())):
        walk = _powers(giant, order // steps + 1, g + a)
        found.append(next(turn * steps + baby[each] for turn, each in enumerate(walk) if each in baby) % order)
    return sorted(found)


def _powers(factor: Any, count: int, start: Any) -> Iterator[Any]:
    """start, start * factor, ..., `count` of them."""
    return accumulate(repeat(factor, count - 1), mul, initial=start)


@dataclass(frozen=True)
class Ids:
    """Ids (a contextual mapping) of n tokens in `cells` cells, equal ones too: whole numbers from 0 on.

    The id of a token is its cell times `width`, plus the marks of the other tokens. Marks are a B_(n-1) set, so that
    their sum tells the cells of the others; it is less than `width`.
    """

    cells: int
    n: int

    @cached_property
    def marks(self) -> tuple[int, ...]:
        return sum_set(self.cells, self.n - 1)

    @property
    def width(self) -> int:
        return (self.n - 1) * self.marks[-1] + 1

    @property
    def range(self) -> int:
        """Above all ids."""
        return self.cells * self.width

    @property
    def count(self) -> int:
        """Of the ids that occur."""
        return self.cells * comb(self.cells + self.n - 2, self.n - 1)

    def all(self) -> Mapping[int, tuple[int, ...]]:
        """The cells of the token and of the others, by id, ascending. Raises StreamError for too many."""
        if self.count > MOST_IDS or self.range > LARGEST:
            got = f"{self.count} ids below {self.range}"
            raise StreamError("Ids.all", got, f"Take a coarser grid: at most {MOST_IDS} ids, and below 2^53.")
        contexts = list(combinations_with_replacement(range(self.cells), self.n - 1))
        sums = sorted((sum(self.marks[cell] for cell in others), others) for others in contexts)
        return {cell * self.width + total: (cell, *others) for cell in range(self.cells) for total, others in sums}
