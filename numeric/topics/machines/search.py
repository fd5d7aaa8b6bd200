"""Lemma C.3: the last step i' that wrote where the head stands, by binary search over the past, one bit a layer.

The keys of step t hold Bin(l_(t-1)) in pos2 and Bin(t) in pos1; the query holds Bin(l_i) in pos3.
"""

import numpy as np

from numeric.networks.stream import Block, Stream
from numeric.topics.machines.blocks import matching, unit, with_rounding
from numeric.topics.machines.modules import DecoderLayer, affine, passing

KNOWN = ("st", "sym2", "pos1", "pos2", "pos3")  # (C.5)


def last_visit(stream: Stream) -> list[DecoderLayer]:
    """w_pos + 2 layers: found := (i' > 0) and scr1 := 1(u_i') or 0, the rest as in (C.5): (C.6)."""
    w_pos = stream.size("pos1")
    return [_anything_there(stream), *(_next_bit(stream, j) for j in range(w_pos)), _read(stream)]


def _anything_there(stream: Stream) -> DecoderLayer:
    # Claim C.4. The query is the signs of l_i, the keys those of l_(t-1): the score is w_pos where the head was at
    # l_i before step t, at most w_pos - 2 else, and the null key has w_pos - 1. All values are found = 1, the null
    # value is 0.
    where = Block("place", stream.size("pos1"))
    attention = matching(
        stream,
        query={"place": ("pos3", 1.0)},
        key={"place": ("pos2", 1.0)},
        parts=[where],
        value=affine(stream, stream, {}, {"found": 1.0}),
    )
    return with_rounding(stream, "found", "Claim C.4", passing((*KNOWN, "found")), decoder_attention=attention)


def _next_bit(stream: Stream, j: int) -> DecoderLayer:
    # Claim C.5. To the place are joined the j upper bits of the step, asked for as scr3 = Bin_j(i') has them, and the
    # next bit, asked for as 1. There are w_pos + j + 1 signs. A step t with a full match exists just where i' has the
    # next bit 1: then i' itself is one. Where it has 0, no t matches in full: t > i' has another place (i' being the
    # last), and t <= i' that agrees with i' in the upper j bits cannot have the next bit 1, while one that disagrees
    # there loses 2 in those bits. (The paper says of all t <= i' that the next bit is 0, which is false for those.)
    w_pos = stream.size("pos1")
    upper = np.eye(w_pos)[:j]  # (j, w_pos)
    parts = [Block("place", w_pos), Block("next", 1)] + ([Block("upper", j)] if j else [])
    query: dict[str, tuple[str, np.ndarray | float]] = {"place": ("pos3", 1.0)}
    key: dict[str, tuple[str, np.ndarray | float]] = {"place": ("pos2", 1.0), "next": ("pos1", unit(stream, "pos1", j))}
    if j:
        query["upper"], key["upper"] = ("scr3", upper), ("pos1", upper)
    value = affine(stream, stream, {}, {"hit": 1.0})
    attention = matching(stream, query, key, parts, value, constant=["next"])
    # The ReLU layer copies the bit that was hit to its place in scr3 and clears `hit`.
    action = passing((*KNOWN, "found", "scr3")) | {("scr3", "hit"): unit(stream, "scr3", j).T}
    return with_rounding(stream, f"search[{j + 1}]", "Claim C.5", action, decoder_attention=attention)


def _read(stream: Stream) -> DecoderLayer:
    # Claim C.6. Place and step both known, only t = i' matches in full; its value is the symbol u_i' that it wrote.
    # Without i' the place never matches, so that the null key wins. The ReLU layer clears scr3.
    w_pos = stream.size("pos1")
    attention = matching(
        stream,
        query={"place": ("pos3", 1.0), "time": ("scr3", 1.0)},
        key={"place": ("pos2", 1.0), "time": ("pos1", 1.0)},
        parts=[Block("place", w_pos), Block("time", w_pos)],
        value=affine(stream, stream, {("scr1", "sym2"): 1.0}),
    )
    return with_rounding(stream, "read", "Claim C.6", passing((*KNOWN, "found", "scr1")), decoder_attention=attention)
