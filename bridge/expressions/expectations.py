"""What independent draws leave of an expression: which parts are computed from each draw alone, and its expectation."""

from collections.abc import Mapping
from enum import IntEnum

import sympy as sp

from bridge.expressions.attention import Attend, ConcatenatedParts, SoftmaxOf
from bridge.expressions.expression import Expression, Sum
from bridge.expressions.functions import Applied, t
from bridge.expressions.grids import Quantised
from bridge.expressions.matrices import MatrixImage
from bridge.expressions.normalisation import Normalised
from bridge.expressions.products import Entrywise, Pairs
from bridge.expressions.repetition import LayerArgument, RepeatedLayers
from bridge.expressions.running import nodes_of

# Of these one token depends on the same token of each part; of the last two, on all tokens of the second part.
TOKEN_BY_TOKEN = (MatrixImage, Sum, Entrywise, Applied, ConcatenatedParts, Quantised, SoftmaxOf, Normalised)
LAYERS, SHARED_SECOND = (RepeatedLayers, LayerArgument), (Pairs, Attend)


class RandomParts:
    """The nodes of an expression that depend on these draws."""

    def __init__(self, x: Expression, draws: Expression) -> None:
        self.draws, self.ids, nodes = draws, {id(draws)}, nodes_of([x])
        known = 0
        while len(self.ids) > known:  # an argument of layers comes after what they start from, and after each layer
            known = len(self.ids)
            for node in nodes:
                if any(id(part) in self.ids for part in (*node.parts, *node.inner)):
                    self.ids |= {id(node), *([id(node.argument)] if isinstance(node, RepeatedLayers) else [])}

    def __contains__(self, node: Expression) -> bool:
        return id(node) in self.ids

    def mixing(self, x: Expression) -> list[Expression]:
        """The nodes of which a token depends on several draws."""
        return [node for node in nodes_of([x]) if node in self and node is not self.draws and self._mixes(node)]

    def _mixes(self, node: Expression) -> bool:
        if isinstance(node, SHARED_SECOND):
            return node.parts[1] in self
        return not isinstance(node, (*TOKEN_BY_TOKEN, *LAYERS))


class Expected(IntEnum):
    """What is known of the expectation of a value that is computed from one draw z.

    AT_MEAN: it is the value at E z. ODD: the same, where z is symmetric, since the value is odd in z.
    """

    UNKNOWN = 0
    AT_MEAN = 1
    ODD = 2


# E is linear: what is affine in values whose expectations are their values at E z is so too. For a symmetric z, E z = 0
# and an odd value has the expectation 0, which is its value at 0. What does not depend on z is AT_MEAN.
def expected(node: Expression, random: RandomParts, *, symmetric: bool) -> Expected:
    """What is known of the expectation of each token; exact values alone count."""
    return _expected(node, random, {id(random.draws): Expected.ODD if symmetric else Expected.AT_MEAN})


def _expected(node: Expression, random: RandomParts, known: Mapping[int, Expected]) -> Expected:
    if id(node) in known:
        return known[id(node)]
    if node not in random:
        return Expected.AT_MEAN
    if isinstance(node, RepeatedLayers):
        return _of_layers(node, random, known)
    of_parts = [_expected(part, random, known) for part in node.parts]
    if isinstance(node, MatrixImage | Sum | ConcatenatedParts | Quantised):  # a grid is in the network alone
        return min(of_parts)
    if isinstance(node, Entrywise | Pairs | Attend):
        varying = [found for part, found in zip(node.parts, of_parts, strict=True) if part in random]
        return varying[0] if len(varying) == 1 else Expected.UNKNOWN
    return _of_function(node.function.exact, of_parts[0]) if isinstance(node, Applied) else Expected.UNKNOWN


def _of_function(f: sp.Expr, argument: Expected) -> Expected:
    is_odd = sp.simplify(f + f.xreplace({t: -t})) == 0
    if f.is_polynomial(t) and sp.degree(f, t) <= 1:
        return argument if is_odd else min(argument, Expected.AT_MEAN)
    return Expected.ODD if is_odd and argument is Expected.ODD else Expected.UNKNOWN


# By induction over the layers: what holds for the argument of the first one, and after a layer wherever it holds before
# it, holds after all of them.
def _of_layers(node: RepeatedLayers, random: RandomParts, known: Mapping[int, Expected]) -> Expected:
    start = _expected(node.parts[0], random, known)
    for before in sorted({start, Expected.AT_MEAN}, reverse=True):
        after = _expected(node.body, random, {**known, id(node.argument): before})
        if before <= start and after >= before:
            return before
    return Expected.UNKNOWN
