"""Lemma C.2: the place of the head after its move, by binary subtraction, then addition, one bit a layer.

Bits of `pos2` and `pos3` stand with the most significant first; the adder runs from the last to the first.
"""

import numpy as np

from numeric.networks.maps import Action, BlockPair
from numeric.networks.stream import Stream
from numeric.topics.machines.blocks import unit, with_rounding
from numeric.topics.machines.modules import DecoderLayer, passing

CARRIED = ("st", "sym2", "pos1", "pos2")  # what (C.4) holds besides the move


def head_move(stream: Stream) -> list[DecoderLayer]:
    """2 w_pos + 1 layers, w_pos >= 2: pos3 := pos2 - left + right, then `left`, `right` and all scratch 0: (C.5)."""
    return [*_subtract(stream), *_add(stream), _collect(stream)]


def _subtract(stream: Stream) -> list[DecoderLayer]:
    """With x the bit of pos2 and b the borrow: plus = phi(x - b), minus = phi(b - x); b is first `left`, then `minus`.

    plus + minus is x xor b, and minus = 1 exactly where x = 0, b = 1: the next borrow. The sum enters pos3 one layer
    later, by its W1.
    """
    layers = []
    for done in range(w_pos := stream.size("pos2")):
        bit, borrow = unit(stream, "pos2", w_pos - 1 - done), "minus" if done else "left"
        action: dict[BlockPair, Action] = passing((*CARRIED, "right")) | _sum_so_far(stream, done - 1)
        action |= {("plus", "pos2"): bit, ("plus", borrow): -1.0, ("minus", borrow): 1.0, ("minus", "pos2"): -bit}
        layers.append(with_rounding(stream, f"subtract[{done + 1}]", "Lemma C.2", action))
    return layers


def _add(stream: Stream) -> list[DecoderLayer]:
    """With x the bit of pos3 and c the carry: plus = phi(x - c), minus = phi(c - x), carry = phi(x + c - 1).

    plus + minus is x xor c, and carry = 1 exactly where x = c = 1; c is first `right`, then `carry`. In the first of
    these layers the last bit of the difference is still in plus and minus.
    """
    layers = []
    for done in range(w_pos := stream.size("pos2")):
        carry = "carry" if done else "right"
        action: dict[BlockPair, Action] = passing(CARRIED) | _sum_so_far(stream, done - 1 if done else w_pos - 1)
        bit = unit(stream, "pos3", w_pos - 1 - done)
        action |= {("plus", "pos3"): bit, ("minus", "pos3"): -bit, ("carry", "pos3"): bit}
        action |= {("plus", carry): -1.0, ("minus", carry): 1.0, ("carry", carry): 1.0}
        layers.append(with_rounding(stream, f"add[{done + 1}]", "Lemma C.2", action, {"carry": -1.0}))
    return layers


def _collect(stream: Stream) -> DecoderLayer:
    """The last bit of the sum enters pos3."""
    action = passing(CARRIED) | _sum_so_far(stream, stream.size("pos2") - 1)
    return with_rounding(stream, "place", "Lemma C.2", action)


def _sum_so_far(stream: Stream, done: int) -> dict[BlockPair, Action]:
    """pos3 keeps its bits, but bit number `done` (from the last, 0) becomes plus + minus; -1: nothing is done yet."""
    if done < 0:
        return {}
    place = stream.size("pos3") - 1 - done
    others = np.ones(stream.size("pos3"))
    others[place] = 0.0
    column = unit(stream, "pos3", place).T
    return {("pos3", "pos3"): others, ("pos3", "plus"): column, ("pos3", "minus"): column}
