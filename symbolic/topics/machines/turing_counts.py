"""Width, depth and 1-norms of the transformer of Appendix C, counted over its blocks, and the constants in O.

A layer's function lies in its attention and in W_1; W_2 and W_3 round (Prop. 3.4) and are counted apart, and so are
the copies through W_1 in a layer whose lemma speaks of its attention only.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import sympy as sp

from symbolic.statements.landau import Constant, largest_ratio

Z, A, w_pos = sp.symbols("Z A w_pos", integer=True, positive=True)
moving = sp.Symbol("M", integer=True, nonnegative=True)  # entries of the table that move the head
answers = sp.Symbol("F", integer=True, nonnegative=True)  # terminal states: entries of the classifier
LEAST = {Z: 2, A: 2, w_pos: 2}  # a state that works and one that ends; a blank and a symbol; T = 1 takes two bits

_states, _moving, _j = sp.Symbol("s", positive=True), sp.Symbol("m"), sp.Symbol("j", integer=True, nonnegative=True)
_SINGLES = ("found", "input", "hit", "left", "right", "plus", "minus", "carry", "past", "fresh", "empty")
SIZES: dict[str, sp.Expr] = {
    "st": _states,
    **dict.fromkeys(("sym1", "sym2", "scr1", "scr2"), A),
    **dict.fromkeys(("pos1", "pos2", "pos3", "scr3"), w_pos),
    "pair": _states * A,
    **dict.fromkeys(_SINGLES, sp.Integer(1)),
}
W_TM = Z + 2 * A + 3 * w_pos + (w_pos + A + Z)  # w_scr with the constant 1 in its O
PAIR_ROWS = Z * A + W_TM
WIDTH_ORDER = Z * A + w_pos


@dataclass(frozen=True)
class Lemma:
    """A statement whose parameters the paper bounds: `order` stands inside O."""

    label: str
    cited: str
    meaning: str
    order: sp.Expr


_ALL = Z + A + w_pos
LEMMAS = (
    Lemma("C.1", "Lemma C.1", "the transition, two ReLU layers", Z * A + w_pos),
    Lemma("C.2", "Lemma C.2", "the head's move, `2 w_pos + 1` ReLU layers", w_pos * _ALL),
    Lemma("C.3", "Lemma C.3", "the search for `i'`, all its layers", w_pos * _ALL),
    Lemma("C.4", "Claim C.4", "whether `i' > 0`, the attention", w_pos),
    Lemma("C.5", "Claim C.5", "the last bit of the search, attention and ReLU layer", _ALL),
    Lemma("C.6", "Claim C.6", "reading at `i'`, attention and ReLU layer", _ALL),
    Lemma("C.7", "Lemma C.7", "reading the input, the attention", A + w_pos),
    Lemma("C.8", "Lemma C.8", "the symbol under the head, three ReLU layers", _ALL),
)


@dataclass(frozen=True)
class Layers:
    """Layers of one kind, j = 0 .. times - 1. `first`: ||W_1||_1 + ||b_1||_1, the lemma's own unless it only copies.

    `matched` signs are compared by the attention (None: there is none), `constant` more against 1; `value` is the norm
    of its value map.
    """

    label: str
    first: sp.Expr
    matched: sp.Expr | None = None
    constant: int = 0
    value: sp.Expr = sp.S.Zero
    only_copies: bool = False
    times: sp.Expr = sp.S.One

    @property
    def width_of_keys(self) -> sp.Expr:
        return sp.Integer(0) if self.matched is None else self.matched + self.constant + 1

    # A sign 2x - 1 costs 3: a weight 2 and a bias 1. Query: the matched signs, 1 for each constant, 1 for the null key.
    # Key: all signs. The null key scores one less than a full match.
    @property
    def attention(self) -> sp.Expr:
        if self.matched is None:
            return sp.Integer(0)
        signs = self.matched + self.constant
        return 3 * self.matched + self.constant + 1 + 3 * signs + self.value + signs - 1

    @property
    def own(self) -> sp.Expr:
        return self.attention if self.only_copies else self.attention + self.first

    def summed(self, term: Any) -> sp.Expr:
        return sp.summation(sp.sympify(term), (_j, 0, self.times - 1))


def _size(*blocks: str) -> sp.Expr:
    return sp.Add(*(SIZES[name] for name in blocks))


def _layers() -> tuple[Layers, ...]:
    pairs = SIZES["pair"]
    known = _size("st", "sym2", "pos1", "pos2", "pos3")  # (C.5)
    carried = _size("st", "sym2", "pos1", "pos2")
    clock = _size("pos1", "pos2")
    sum_so_far = SIZES["pos3"] - 1 + 2  # pos3 but one bit, which is plus + minus
    half, carry = 4, 3 + 3 + 1  # x - b and b - x; x - c, c - x and x + c - 1
    kept = _size("st", "pos3")
    scratch = _size("scr1", "scr2")
    return (
        Layers("C.1", clock + 3 * pairs),  # each pair: two weights, one bias
        Layers("C.1", clock + 2 * pairs + _moving),  # each pair: a state, a symbol, a move if there is one
        Layers("C.2", carried + 1 + half),  # the lowest bit of the difference
        Layers("C.2", carried + 1 + half + sum_so_far, times=w_pos - 1),
        Layers("C.2", carried + sum_so_far + carry, times=w_pos),
        Layers("C.2", carried + sum_so_far),
        Layers("C.4", known + 1, w_pos, value=sp.Integer(1), only_copies=True),
        Layers("C.5", known + 1 + SIZES["scr3"] + 1, w_pos + _j, constant=1, value=sp.Integer(1), times=w_pos),
        Layers("C.6", known + 1 + SIZES["scr1"], 2 * w_pos, value=A),
        Layers("C.7", known + 1 + scratch + 1, w_pos, value=A + 1, only_copies=True),
        Layers("C.8", kept + scratch + 5 + 1),  # v: five weights, one bias
        Layers("C.8", kept + scratch + 1 + 2 * scratch),  # the ANDs: a weight and a bias each
        Layers("C.8", kept + scratch + 1),
    )


PARTS = {"C.3": ("C.4", "C.5", "C.6")}


def _closed(count: Any, sentinel: bool = True) -> sp.Expr:
    """In |Z| and the entries that move: the sentinel is one more state, and moves right on every symbol."""
    states, moves = (Z + 1, moving + A) if sentinel else (Z, moving)
    return sp.expand(sp.sympify(count).subs({_states: states, _moving: moves}))


@cache
def norm(label: str, sentinel: bool = True) -> sp.Expr:
    """The 1-norm of one lemma's parameters; of Claim C.5 that of its last layer, which is the largest."""
    if label == "C.5":
        (search,) = (each for each in _layers() if each.label == "C.5")
        return _closed(search.own.subs(_j, search.times - 1), sentinel)
    labels = PARTS.get(label, (label,))
    own = (
        each.summed(each.own + (each.first if each.only_copies and label in PARTS else 0))
        for each in _layers()
        if each.label in labels
    )
    return _closed(sp.Add(*own), sentinel)


@cache
def width(sentinel: bool = True) -> sp.Expr:
    """Coordinates of the stream."""
    return _closed(_size(*SIZES), sentinel)


@cache
def depth() -> sp.Expr:
    """Decoder layers."""
    return sp.expand(sp.Add(*(each.times for each in _layers())))


# Prop. 3.4 on each coordinate: W_2 = (1, 1), b_2 = (-1/3, -2/3), W_3 = (3, -3).
ROUNDING = sp.Integer(1 + 1 + 1 + 6)


@cache
def total(sentinel: bool = True) -> sp.Expr:
    """All parameters but the bits of the place in h_0^(0): layers, roundings, embedding, its two ones, classifier."""
    layers = sp.Add(*(each.summed(each.attention + each.first) for each in _layers()))
    rounding = ROUNDING * _size(*SIZES) * depth()
    return _closed(layers + rounding + A + 2 + answers, sentinel)


@cache
def parameters(sentinel: bool = True) -> sp.Expr:
    """Entries of all weights and biases, those of unused attentions included; unused keys are as wide as the widest."""
    w = _size(*SIZES)

    def attention(keys: Any) -> sp.Expr:
        return 2 * (keys * w + keys) + (w * w + w) + keys + w

    used = [each for each in _layers() if each.matched is not None]
    widest = 2 * w_pos + 1
    unused = 2 * depth() - sp.Add(*(each.times for each in used))
    modules = (w * w + w) + (2 * w * w + 2 * w) + (2 * w * w + w)
    count = depth() * modules + unused * attention(widest)
    count += sp.Add(*(each.summed(attention(each.width_of_keys)) for each in used))
    return _closed(count + w * A + 2 * w, sentinel)


def bits(largest: Any) -> sp.Expr:
    """Bits that write every number from 0 to `largest` >= 1."""
    return sp.floor(sp.log(largest, 2)) + 1


def constant(count: sp.Expr, order: sp.Expr, least: Mapping[sp.Symbol, int] = LEAST) -> Constant:
    """How far a count may exceed what the paper prints inside O, over all |Z|, |A| and w_pos from `least` on."""
    bounded_apart = count.has(moving) and count.has(answers)  # not both at once: a terminal state moves nothing
    count = count.subs({moving: (Z - 1) * A, answers: Z})  # no machine that halts has more
    found = largest_ratio(count, order, least)
    return replace(found, sharp=found.sharp and not bounded_apart)
