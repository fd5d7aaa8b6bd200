"""Rounding of two heads beside a sink: measured against balls within its model, knobs of formats, and refusals."""

import math
import statistics

import pytest
import sympy as sp
import torch

from bridge.limits.run import FORMATS, INFO
from bridge.theorems.head_formats import number, pair_for, recommended, require_held
from numeric.networks.construction import Construction
from numeric.networks.exact import run_exact
from numeric.networks.layers import SoftmaxAttention
from numeric.networks.network import Network
from numeric.networks.sinks import Sink, linear_heads
from numeric.networks.stream import Block, Stream
from symbolic import UsageError

WIDTH = 3
STREAM = Stream([Block("x", WIDTH), Block("v", 1), Block("sink", 1), Block("one", 1), Block("out", 1)])
FINEST = {"float64": -26, "float32": -12, "bfloat16": -4}  # exponents of the least c


def construction(second: str, c: float, C: float) -> Construction:
    heads = linear_heads(
        STREAM, Sink(c, C, "sink", "one"), second,
        query={"x": 1.0}, key={"x": 1.0}, value={("out", "v"): 1.0}, scale=1 / c,
    )  # fmt: skip
    return Construction.of("pair", STREAM, SoftmaxAttention(heads, residual=True))


def drawn(keys: int, dtype: str, generator: torch.Generator) -> torch.Tensor:
    """Tokens that the format holds: keys, the sink, and one that asks (a key of value 0), of random sizes."""
    sizes = 4.0 ** torch.randint(-2, 2, (2,), generator=generator).double()
    x, v = (torch.rand(keys + 2, size, generator=generator, dtype=torch.float64) - 0.5 for size in (WIDTH, 1))
    marks = torch.zeros(keys + 2, 3, dtype=torch.float64)
    marks[-2, 0], marks[-1, 1] = 1, 1
    found = torch.cat([sizes[0] * x, sizes[1] * v, marks], 1).to(getattr(torch, dtype))
    found[-2, : WIDTH + 1], found[-1, WIDTH] = 0, 0
    return found


def share_of_model(second: str, dtype: str, keys: int, c: float, C: float, generator: torch.Generator) -> float:
    """The measured rounding over that of the model."""
    tokens, of = drawn(keys, dtype, generator), construction(second, c, C)
    found = Network(of, dtype=tokens.dtype)(tokens[None])[0, -1].double()
    exact = run_exact(of, tokens.double().numpy(), bits=200)["output"][-1:]
    rounding = float((exact - found.numpy()).sup_norm())
    x, v = tokens[:, :WIDTH].double(), tokens[:, WIDTH].double()
    size = float((x.abs() @ x[-1].abs()).max())
    model = pair_for(second, dtype, keys=keys + 1, size=size, width=WIDTH).rounding(sp.Float(c), sp.Float(C))
    return rounding / (number(model) * float(v.abs().sum()))


@pytest.mark.parametrize("dtype", FINEST)
@pytest.mark.parametrize("second", ["constant", "opposite"])
def test_measured_rounding_is_within_the_model_and_not_far_below(second: str, dtype: str) -> None:
    generator = torch.Generator().manual_seed(1)
    cs = [2.0 ** (FINEST[dtype] / share) for share in (1, 2)]
    shares = [
        share_of_model(second, dtype, keys, c, C, generator)
        for keys in (1, 8) for c in cs for C in (3.0, 25.0) for _ in range(3)
    ]  # fmt: skip
    assert 1 / 50 <= max(shares) <= 1
    assert statistics.median(shares) >= 1 / 200


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("second", ["constant", "opposite"])
def test_the_recommended_pair_is_held_and_near_the_best(second: str, dtype: str) -> None:
    of = pair_for(second, dtype, keys=20, size=0.5, width=WIDTH)
    found = recommended(of, dtype)
    require_held("own", of, dtype, **found)
    assert math.frexp(found["c"])[0] == 0.5
    assert found["C"] == math.ceil(number(of.best.C)) or 4 * 20 * math.exp(found["C"] + 1) > INFO[dtype].max
    if dtype != "float16":  # there C ends before the best
        reached = number(of.error(sp.Rational(found["c"]), sp.Rational(found["C"])))
        assert reached <= 1.9 * number(of.best.error)  # a power of 2, and higher orders in c and the unit


def test_a_sink_beyond_the_format_is_refused() -> None:
    of = pair_for("constant", "float16", keys=10, size=1.0, width=1)
    with pytest.raises(
        UsageError, match=r"own: e\^C is beyond float16, which ends at 65504, for C = 12.* take C = 8 or"
    ):
        require_held("own", of, "float16", c=0.5, C=12.0)
    with pytest.raises(UsageError, match=r"own: 2 n e\^C with n = 10 is beyond float16, .* for C = 10"):
        require_held("own", of, "float16", c=0.5, C=10.0)
    require_held("own", of, "float16", c=0.5, C=8.0)


def test_a_sink_that_the_format_rounds_is_refused() -> None:
    of = pair_for("constant", "bfloat16", keys=10, size=1.0, width=1)
    with pytest.raises(UsageError, match=r"own: C = 78.24 is stored as 78 in bfloat16; take that, or a whole number"):
        require_held("own", of, "bfloat16", c=1.0, C=78.24)
    require_held("own", of, "bfloat16", c=1.0, C=78.0)


def test_large_values_lower_the_sink_that_a_format_holds() -> None:
    of = pair_for("constant", "float16", keys=10, size=1.0, width=1)
    assert recommended(of, "float16", 100.0)["C"] < recommended(of, "float16")["C"]
    with pytest.raises(
        UsageError, match=r"2 n e\^C with n = 10 and values up to 100 is beyond float16, .* take C = 3 or"
    ):
        require_held("own", of, "float16", c=0.5, C=8.0, values=100.0)


def test_scores_that_rounding_hides_are_refused() -> None:
    of = pair_for("opposite", "float64", keys=10, size=1.0, width=1)
    with pytest.raises(
        UsageError, match=r"c = 1.000e-15 is below what float64 resolves: .* C = 30, .* take c = 5\.1e-15 or"
    ):
        require_held("own", of, "float64", c=1e-15, C=30.0)
    require_held("own", of, "float64", c=6e-15, C=30.0)
