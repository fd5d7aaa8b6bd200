"""Vectors for positions: random signs, digits, points of a circle; and how far their products are apart."""

import math
from fractions import Fraction

import torch
from torch import Tensor

DRAWS = 20  # in each dimension of the search


def random_signs(count: int, dimension: int, generator: torch.Generator) -> Tensor:
    """(count, dimension), entries +-1."""
    return 2 * torch.randint(0, 2, (count, dimension), generator=generator, dtype=torch.int64, device="cpu") - 1


def digits(count: int) -> Tensor:
    """The numbers below `count` in binary, as signs: (count, ceil(log2 count))."""
    length = max(1, (count - 1).bit_length())
    return (
        2
        * (
            (
                torch.arange(count, dtype=torch.int64, device="cpu").unsqueeze(1)
                >> torch.arange(length, dtype=torch.int64, device="cpu")
            )
            & 1
        )
        - 1
    )


def on_circle(count: int) -> Tensor:
    """(count, 2), of norm 1."""
    angles = 2 * math.pi * torch.arange(count, dtype=torch.float64, device="cpu") / count
    return torch.stack([torch.cos(angles), torch.sin(angles)], 1)


def largest_product(vectors: Tensor) -> Tensor:
    """max over i != j of <v_i, v_j>, in float64: exact for signs."""
    products = vectors.double() @ vectors.double().mT
    return products.fill_diagonal_(-math.inf).amax()


def gap_of_signs(vectors: Tensor) -> Fraction:
    """1 - <p_i, p_j> at its least, of signs scaled to norm 1."""
    return 1 - Fraction(int(largest_product(vectors)), vectors.shape[1])


def found_signs(count: int, dimension: int, gap: Fraction, seed: int) -> Tensor | None:
    """Signs whose gap, scaled to norm 1, is above `gap`; None if no draw has it."""
    generator = torch.Generator().manual_seed(seed)
    drawn = (random_signs(count, dimension, generator) for _ in range(DRAWS))
    return next((vectors for vectors in drawn if gap_of_signs(vectors) > gap), None)


def least_signs(count: int, start: int, gap: Fraction, seed: int) -> Tensor | None:
    """Those of the least dimension up to `start` that halving finds, where the search fails one dimension below."""
    found = found_signs(count, start, gap, seed)
    failed = 0
    while found is not None and found.shape[1] - failed > 1:
        middle = (failed + found.shape[1]) // 2
        vectors = found_signs(count, middle, gap, seed + middle)
        found, failed = (found, middle) if vectors is None else (vectors, failed)
    return found
