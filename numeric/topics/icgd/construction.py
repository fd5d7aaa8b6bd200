"""The (2N+4)L-layer network of wu2024, Theorem 1, as data: L equal blocks of 2N+4 layers, stored once.

Tokens h_i = [x; y; v[1]; ...; v[N]; p[1]; ...; p[N]; r'[1]; ...; r'[N]; g; s[N]; ...; s[1]; one; t], i = 1..n+1,
where v[j] is V_j row by row, the same in every token. t_i = 1 and y_i given for i <= n; the last token is the query:
t = 0, y = 0. All other blocks start at 0, `one` is 1. r'[j] is the vector r'(V_j p(j-1)), the paper's r'_i(j-1).
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from numeric.networks.construction import ChangeTap, Embedding, StreamTap
from numeric.networks.families import (
    ActivationHeads,
    BoxAndClear,
    FamilyAttention,
    FamilyLayer,
    FamilyMultiplication,
    HadamardHeads,
    MaskedUnits,
    OuterProductHeads,
    TransposeHeads,
)
from numeric.networks.loops import Looped, looped
from numeric.networks.loss_sums import LossSum
from numeric.networks.maps import BlockMap, identity_map, injection
from numeric.networks.relu_sums import ReluSum
from numeric.networks.stream import Block, Stream, StreamError, nearest
from numeric.tools.layered import Shape


@dataclass(frozen=True, eq=False)
class IcgdSetting:
    """What the weights depend on: of a network that takes `steps` projected gradient steps in context.

    `block` holds the 2N+4 layers of one step, `construction` repeats them. r, r1 and u are sums of ReLUs in place of r,
    r' and the derivative of the loss per coordinate.
    """

    shape: Shape
    r: ReluSum
    r1: ReluSum
    u: LossSum
    eta: float
    B_v: float
    n: int
    steps: int
    bound: float

    def __post_init__(self) -> None:
        call = "icgd_setting"
        if not (self.eta > 0 and math.isfinite(self.eta)):
            raise StreamError(call, f"eta={self.eta}", "Give a finite step size eta > 0.")
        if self.n < 1 or self.steps < 1:
            raise StreamError(call, f"n={self.n}, steps={self.steps}", "Give at least one example and one step.")
        _ = self.block  # refuses numbers that make no layers

    @cached_property
    def stream(self) -> Stream:
        return token_stream(self.shape)

    @cached_property
    def block(self) -> tuple[FamilyLayer, ...]:
        layers = range(1, self.shape.N + 1)
        return (
            *(self._forward(j) for j in layers),
            self._derivatives(),
            self._loss_gradient(),
            self._output_signal(),
            *(self._backward(j) for j in reversed(layers[:-1])),
            self._gradient_step(),
            self._projection(),
        )

    @cached_property
    def construction(self) -> Looped:
        """Its prompt holds x, y, v[j] and t; its taps are those of the last step, its changes of v[j], and all v[j]."""
        layers, last = range(1, self.shape.N + 1), len(self.block) * self.steps
        matrices = [f"v[{j}]" for j in layers]
        prompt = self.stream.only(["x", "y", *matrices, "t"])
        answer = self.stream.only(matrices)
        return looped(
            "icgd",
            self.stream,
            loop=self.block,
            T=self.steps,
            states=matrices,
            taps={
                **{name: StreamTap(last - 1, name) for name in self.kept},
                **{f"change[{j}]": ChangeTap(last - 1, f"v[{j}]") for j in layers},
            },
            embedding=Embedding(injection(prompt, self.stream), {"one": np.ones(1)}),
            readout=BlockMap(self.stream, answer, identity_map(answer).action),
        )

    @property
    def kept(self) -> tuple[str, ...]:
        """The blocks that a step computes, in order."""
        layers = range(1, self.shape.N + 1)
        signals = (f"s[{j}]" for j in reversed(layers))
        return (*(f"p[{j}]" for j in layers), *(f"r'[{j}]" for j in layers), "g", *signals)

    @cached_property
    def taps(self) -> tuple[str, ...]:
        """The names of the intermediate quantities, in the order in which they are computed."""
        return (*self.kept, "gradient", "w", *(("trajectory",) if self.steps > 1 else ()))

    def taps_of(self, names: tuple[str, ...]) -> list[str]:
        """The taps of the construction from which these are read."""
        layers, steps = range(1, self.shape.N + 1), range(1, self.steps + 1)
        read = {
            "gradient": [f"change[{j}]" for j in layers],
            "w": [f"v[{j}][{self.steps}]" for j in layers],
            "trajectory": [f"v[{j}][{k}]" for j in layers for k in steps],
        }
        return list(dict.fromkeys(tap for name in names for tap in read.get(name, [name])))

    def select_taps(self, names: tuple[str, ...] | None) -> tuple[str, ...]:
        """The taps of these names, in the order of computation; all for None."""
        for name in names or ():
            if name not in self.taps:
                raise StreamError("taps of the icgd network", f"no tap {name!r}", nearest(name, self.taps))
        return self.taps if names is None else tuple(name for name in self.taps if name in names)

    def _forward(self, j: int) -> FamilyAttention:
        # (D.7): p(j)[k] = rbar(v_jk . p(j-1)). All tokens hold the same v_jk and one, so that the mean over keys is it.
        heads = ActivationHeads(value_block(j - 1), f"v[{j}]", f"p[{j}]", self.r)
        return FamilyAttention(self.stream, (heads,))

    def _derivatives(self) -> FamilyAttention:
        # (D.12): r'(j)[k] = rbar1(v_jk . p(j-1)) for all j at once.
        layers = range(1, self.shape.N + 1)
        families = (ActivationHeads(value_block(j - 1), f"v[{j}]", f"r'[{j}]", self.r1) for j in layers)
        return FamilyAttention(self.stream, tuple(families))

    def _loss_gradient(self) -> MaskedUnits:
        # (D.14): g[k] = 1{t_i = 1} ubar(p(N)[k], y[k]).
        return MaskedUnits(self.stream, f"p[{self.shape.N}]", "y", "g", self.u, self.bound, mask="t")

    def _output_signal(self) -> FamilyMultiplication:
        # s(N) = r'(N) * g.
        N = self.shape.N
        return FamilyMultiplication(self.stream, (HadamardHeads(f"r'[{N}]", "g", f"s[{N}]"),))

    def _backward(self, j: int) -> FamilyMultiplication:
        # (D.15): s(j)[k] = <[v_{j+1,1}[k], ..., v_{j+1,K}[k]], s(j+1)> r'(j)[k].
        heads = TransposeHeads(f"r'[{j}]", f"v[{j + 1}]", f"s[{j + 1}]", f"s[{j}]")
        return FamilyMultiplication(self.stream, (heads,))

    def _gradient_step(self) -> FamilyAttention:
        # (D.16): w - (eta / 2n) sum_i s_i(j)[k] p_i(j-1); the factor n+1 undoes the mean over the n+1 tokens.
        scale = Fraction(self.eta) * Fraction(self.n + 1, 2 * self.n)
        layers = range(1, self.shape.N + 1)
        families = (OuterProductHeads(f"s[{j}]", value_block(j - 1), f"v[{j}]", scale) for j in layers)
        return FamilyAttention(self.stream, tuple(families))

    def _projection(self) -> BoxAndClear:
        # Proj_W for the box W. The rest returns to 0, as the next block of layers expects it.
        layers = range(1, self.shape.N + 1)
        boxes = zip((f"v[{j}]" for j in layers), self.shape.half_widths(self.B_v), strict=True)
        cleared = [name for j in layers for name in (f"p[{j}]", f"r'[{j}]", f"s[{j}]")]
        return BoxAndClear(self.stream, tuple(boxes), (*cleared, "g"))


def icgd_setting(
    shape: Shape,
    r: ReluSum,
    r1: ReluSum,
    u: LossSum,
    *,
    eta: float,
    B_v: float,
    n: int,
    steps: int = 1,
    bound: float | None = None,
) -> IcgdSetting:
    """The network of Theorem 1 for n examples; `bound` is the R_3 of the mask of the query in (D.14).

    The mask is exact while |p(N)[k]|, |y[k]| and 1 stay at most `bound` at the query; None takes the smallest number
    that is sure as long as r is asked inside its radius.
    """
    enough = mask_bound(r) if bound is None else bound
    return IcgdSetting(shape, r, r1, u, float(eta), float(B_v), n, steps, float(enough))


def mask_bound(r: ReluSum) -> float:
    """A bound on 1 and on |r| over [-radius, radius], where the query's y is 0.

    A piecewise linear function is largest at a knot; the factor covers the rounding of the values there.
    """
    return max(1.0, float(np.abs(r.values).max()) * (1 + 2.0**-20))


def token_stream(shape: Shape) -> Stream:
    """The blocks of a token."""
    layers = range(1, shape.N + 1)
    outputs = dict(zip(layers, shape.widths[1:], strict=True))
    matrices = [Block(f"v[{j}]", rows * columns) for j, (rows, columns) in zip(layers, shape.sizes, strict=True)]
    return Stream(
        [
            Block("x", shape.d_x),
            Block("y", shape.d_y),
            *matrices,
            *(Block(f"p[{j}]", outputs[j]) for j in layers),
            *(Block(f"r'[{j}]", outputs[j]) for j in layers),
            Block("g", shape.d_y),
            *(Block(f"s[{j}]", outputs[j]) for j in reversed(layers)),
            Block("one", 1),
            Block("t", 1),
        ]
    )


def value_block(j: int) -> str:
    """The block that holds p(j)."""
    return f"p[{j}]" if j else "x"
