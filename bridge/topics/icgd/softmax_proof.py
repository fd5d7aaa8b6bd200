"""Steps of the proof of Lemma 16 of wu2024: bits of ids, the first layer (F.10) to (F.13), the head of Lemma 17."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise

import flint
import numpy as np
from torch import Tensor

from bridge.lowering.formula import evaluate
from bridge.theorems.check import Sides
from bridge.topics.tools.rational import BITS, Both, Rows, distance, fractions, norm, prompt, rooted
from numeric.balls import ball_maximum, working_precision
from numeric.networks.construction import Construction
from numeric.networks.exact import run_exact
from numeric.networks.stream import StreamError
from numeric.tools.sum_sets import Ids, next_prime_power
from numeric.topics.icgd import softmax_block as networks
from numeric.topics.icgd.softmax_block import SoftmaxBlock
from symbolic.topics.icgd import softmax as theory

BELOW = 1 - 2.0**-20  # what "just below" is


def bits_of_ids(d: int, n: int, D: int) -> Sides:
    prime, power = next_prime_power(D**d)
    at = {theory.d: d, theory.n: n, theory.D: D, theory.q: prime**power}
    try:
        found = Ids(D**d, n).range
        bits, remark = _bits(found), f"whole numbers below {found}"
    except StreamError as error:
        bits, remark = None, str(error)
    derived = _bits(int(theory.RANGE.subs(at)))
    return Sides(bits, derived=derived, letters={theory.q: prime**power}, rounding=0.0, remark=remark)


def bits_by_counting(d: int, n: int, D: int) -> Sides:
    count = int(theory.CONTEXTS.subs({theory.d: d, theory.n: n, theory.D: D}))
    return Sides(bits_of_ids(d, n, D).found, derived=_bits(count), rounding=0.0)


def _bits(numbers: int) -> int:
    """That tell 0, ..., numbers - 1 apart."""
    return (numbers - 1).bit_length()


# The first layer: q in the first d coordinates, (F.10), and penalties p in the others, (F.11).


def beyond_the_cube(Z: Tensor, block: SoftmaxBlock) -> Sides:
    return _first_layer(Z, [[Fraction(0)] * block.d] * len(Z), block)


def penalties(Z: Tensor, block: SoftmaxBlock) -> Sides:
    off = [sum((-block.B for z in token if not 0 < z <= block.B), start=Fraction(0)) for token in fractions(Z)]
    return _first_layer(Z, [[each] * block.d for each in off], block, part=1)


def at_first_token(Z: Tensor, block: SoftmaxBlock) -> Sides:
    """Half of the distance of (F.12) from what the layer gives for a token in the cube, the others all outside."""
    return _first_layer(Z, networks.quantised(fractions(Z), block.D, block.B)[:1], block, over=2, proved=("derived",))


def _first_layer(
    Z: Tensor, wanted: Rows, block: SoftmaxBlock, part: int = 0, over: int = 1, proved: tuple[str, ...] = ()
) -> Sides:
    """What q or p is off by at the first tokens, over that number."""
    arguments = (block.d, block.D, block.B, block.delta)
    floats, exact = Both.of(lambda number: networks.printed_quantiser(*arguments, number)).run(Z)
    rows, columns = slice(len(wanted)), slice(part * block.d, (part + 1) * block.d)
    found = distance(floats[rows, columns], exact[rows, columns], wanted, largest=True, over=over)
    return replace(found, proved=proved)


def penalised(Z: Tensor, block: SoftmaxBlock) -> Sides:
    tokens = networks.quantised(fractions(Z), block.D, block.B)
    return rooted(max(sum((z**2 for z in token), start=Fraction(0)) for token in tokens))


def beyond(block: SoftmaxBlock) -> Tensor:
    return prompt([[z] * block.d for z in (-float(block.B), 2 * float(block.B) + 1)])


def around_the_cube(block: SoftmaxBlock) -> Tensor:
    B, delta = float(block.B), float(block.delta)
    return prompt(
        [[z] * block.d for z in (-2 * delta - B, -2 * delta, math.ulp(0), B / 2, B, B + 2 * delta, 2 * B + 1)]
    )


def others_outside(block: SoftmaxBlock, first: int) -> Tensor:
    """The first tokens in the cube's first cell, off its ramps, which (F.7) has there too; all others outside."""
    inside, outside = float((block.delta * block.B + block.step) / 2), -float(block.B) - 1
    return prompt([[inside if k < first else outside] * block.d for k in range(block.n)])


# Every block.


def least_error(B_x: float) -> Sides:
    """Half of the least of what neighbours among the y_i, and their values of the first token, are apart."""
    B, h = Fraction(B_x), Fraction(B_x) / 6
    y = [B / 2 + i * h for i in range(4)]
    values = [h + abs((each - B / 2 + h) % (2 * h) - h) for each in y]
    apart = min(abs(a - b) for each in (y, values) for a, b in pairwise(each))
    return Sides(apart / 2, rounding=0.0)


# The head of Lemma 17.


def _head(d: int, n: int, D: int, *, residual: bool) -> Construction:
    at = {theory.d: d, theory.n: n, theory.D: D, theory.B_x: 1}
    size = BELOW / (4 * math.sqrt(d) * D)
    return networks.rank_one_head(d, D, float(evaluate(theory.CONTEXTUAL, at)), size, residual=residual)


def head_adds(Z: Tensor, d: int, n: int, D: int) -> Sides:
    """What the head adds to the first of tokens."""
    floats, exact = Both.of(lambda _: _head(d, n, D, residual=False)).run(Z)
    return distance(floats[:1], exact[:1], [[Fraction(0)] * d])


def head_adds_to_equal(Z: Tensor, d: int, n: int, D: int) -> Sides:
    """The same over the norm of all tokens."""
    with working_precision(BITS):
        token = norm([flint.arb(z) for z in Z[0].tolist()])
    floats, exact = Both.of(lambda _: _head(d, n, D, residual=False)).run(Z)
    return distance(floats[:1], exact[:1], [[Fraction(0)] * d], over=token)


def bits_of_head(d: int, n: int, D: int) -> Sides:
    """Of its ids on the grid of side 1, in enough bits to tell them apart."""
    printed = float(evaluate(theory.PRINTED_BITS, {theory.d: d, theory.n: n, theory.D: D, theory.B_x: 1}))
    network, ids, bits = _head(d, n, D, residual=True), {}, BITS + math.ceil(printed)
    with working_precision(bits):
        for tokens in networks.distinct_prompts(d, n, D):
            found = run_exact(network, tokens / D, bits)["output"]
            for k, token in enumerate(tokens.tolist()):
                ids[tuple(token), frozenset(map(tuple, np.delete(tokens, k, 0).tolist()))] = found[k].balls
        apart = [norm([a - b for a, b in zip(*pair, strict=True)]) for pair in combinations(ids.values(), 2)]
        nearest = ball_maximum([1 / each for each in apart])
        return Sides((ball_maximum([norm(id) for id in ids.values()]) * nearest).log() / flint.arb(2).log())
