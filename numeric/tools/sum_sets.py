"""Sets of whole numbers in which every sum of h elements tells which they are (B_h sets), by Bose and Chowla."""

from functools import lru_cache
from itertools import product

import flint

from numeric.networks.stream import StreamError

MOST_POWERS = 1 << 22  # of the generator that are looked through


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
    """The s with g^s - g in GF(p^power), ascending, for the first generator g; GF(p^power) is what Frobenius leaves."""
    field = flint.fq_default_ctx(prime, degree)
    divisors = [order // int(factor) for factor, _ in flint.fmpz(order).factor()]
    elements = (field(list(digits)) for digits in product(range(prime), repeat=degree) if any(digits))
    g = next(each for each in elements if not any((each**divisor).is_one() for divisor in divisors))
    found, power_of_g = [], field.one()
    for exponent in range(order):
        a = power_of_g - g
        if a.frobenius(power) == a:
            found.append(exponent)
        power_of_g = power_of_g * g
    return found
