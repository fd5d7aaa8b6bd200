"""The icgd network run at prompts (w, x, y): by blocks (fast), with every matrix of the paper (dense), and on balls.

Shapes: B prompts, n examples, L = n + 1 tokens, D_w parameters.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import torch
from jaxtyping import Float, Float64
from torch import Tensor

from numeric.balls import BallArray
from numeric.balls.floats import floats_enclosed
from numeric.balls.limits import DEFAULT_LIMIT
from numeric.networks.blocks import Array
from numeric.networks.exact import run_exact
from numeric.networks.network import Network
from numeric.networks.shared_blocks import SharedNetwork
from numeric.tools.layered import require_sizes
from numeric.topics.icgd.construction import IcgdSetting

WHOLE = ("gradient", "w", "trajectory")  # the taps that are not of a token


class IcgdNetwork:
    """The construction with its weights rounded to `dtype` on `device`.

    Differentiable in w, x and y; float32, bfloat16 and float16 run in that dtype. With `dense` each head has its D x D
    matrices: for small sizes.
    """

    def __init__(
        self,
        setting: IcgdSetting,
        dtype: torch.dtype = torch.float64,
        device: torch.device | str = "cpu",
        dense: bool = False,
    ) -> None:
        self.setting, built = setting, setting.construction
        self.network = Network(built, dtype, device, dense=True) if dense else SharedNetwork(built, dtype, device)

    def __call__(
        self, w: Float[Tensor, "B D_w"], x: Float[Tensor, "B n d_x"], y: Float[Tensor, "B n d_y"]
    ) -> Float[Tensor, "B D_w"]:
        """The parameters after all steps."""
        return self.run(w, x, y, taps=("w",))["w"]

    def run(
        self,
        w: Float[Tensor, "B D_w"],
        x: Float[Tensor, "B n d_x"],
        y: Float[Tensor, "B n d_y"],
        x_query: Float[Tensor, "B d_x"] | None = None,
        taps: Iterable[str] | None = None,
    ) -> dict[str, Tensor]:
        """The taps of these names (all for None), as they stand in the last of the construction's steps.

        p[j], r'[j], g, s[j] are (B, n, size), with a query (B, n+1, size), the query last; "gradient" (B, D_w) is
        the negative update before the projection over eta; "w" (B, D_w) the parameters after the step, and
        "trajectory" (B, steps, D_w) those after each step (only where steps > 1). Without `x_query` the query is 0.
        """
        given = {"w": w, "x": x, "y": y} | ({} if x_query is None else {"x_query": x_query})
        require_inputs("IcgdNetwork", self.setting, given, w.shape[:1])
        wanted = self.setting.select_taps(None if taps is None else tuple(taps))
        blocks = prompt_blocks(self.setting, w, x, y, x_query)
        needed = self.setting.taps_of(wanted)
        if isinstance(self.network, SharedNetwork):
            found = self.network.run(blocks, needed)
        else:
            each_token = [each.expand(len(w), self.setting.n + 1, -1) for each in blocks.values()]
            found = self.network.run(torch.cat(each_token, -1), needed)
        return read(self.setting, found, wanted, query=x_query is not None)


def run_exact_icgd(
    setting: IcgdSetting,
    w: Float64[np.ndarray, " D_w"] | BallArray,
    x: Float64[np.ndarray, "n d_x"] | BallArray,
    y: Float64[np.ndarray, "n d_y"] | BallArray,
    x_query: Float64[np.ndarray, " d_x"] | None = None,
    bits: int = 128,
    taps: Iterable[str] | None = None,
    limit: int = DEFAULT_LIMIT,
) -> dict[str, BallArray]:
    """The taps of `IcgdNetwork.run` for one prompt, without the batch: p[j] (T, size), gradient and w (D_w), ...

    Every ball contains the exact value for the given float64 inputs and coefficients. The network's scale
    eta (n+1) / 2n and the mask's a - bound are real numbers and enter unrounded. Raises `TooLargeForExact` before
    starting when the count of ball operations exceeds `limit`.
    """
    given = {"w": w, "x": x, "y": y} | ({} if x_query is None else {"x_query": x_query})
    balls = {name: v if isinstance(v, BallArray) else BallArray.exactly(v, bits) for name, v in given.items()}
    require_inputs(f"run_exact_icgd({setting.shape})", setting, balls)
    wanted = setting.select_taps(None if taps is None else tuple(taps))
    batches = {name: each[None] for name, each in balls.items()}
    blocks = prompt_blocks(setting, batches["w"], batches["x"], batches["y"], batches.get("x_query"))
    with floats_enclosed(False):
        prompt = {name: each[0] for name, each in blocks.items()}
        found = run_exact(setting.construction, prompt, bits, setting.taps_of(wanted), limit)
        return read(setting, found, wanted, query=x_query is not None)


def require_inputs(call: str, of: IcgdSetting, given: Mapping[str, Array], batch: tuple[int, ...] = ()) -> None:
    """Raises StreamError for inputs that do not have the construction's sizes."""
    shape, n = of.shape, of.n
    wanted = {"w": (shape.parameters,), "x": (n, shape.d_x), "y": (n, shape.d_y), "x_query": (shape.d_x,)}
    require_sizes(call, [(name, tuple(each.shape), (*batch, *wanted[name])) for name, each in given.items()])


def prompt_blocks(setting: IcgdSetting, w: Array, x: Array, y: Array, x_query: Array | None) -> dict[str, Array]:
    """x, y and t, the query last with y = t = 0 (x = 0 without `x_query`); v[j] once for all tokens."""
    query = torch.zeros_like(x[:, :1]) if x_query is None else x_query[:, None]
    known = (torch.arange(setting.n + 1, dtype=torch.int64, device=x.device) < setting.n).to(x.dtype)[None, :, None]
    return {
        "x": torch.cat([x, query], dim=1),
        "y": torch.cat([y, torch.zeros_like(y[:, :1])], dim=1),
        **{f"v[{j}]": w[:, None, where] for j, where in enumerate(setting.shape.slices, start=1)},
        "t": known.to(x.device),
    }


def read(setting: IcgdSetting, found: Mapping[str, Array], wanted: Sequence[str], *, query: bool) -> dict[str, Array]:
    """The taps of `IcgdNetwork.run`, from those of the construction; each may lack the batch."""
    layers = range(1, setting.shape.N + 1)

    def joined(name: str) -> Array:
        """The blocks `name` of V_1, ..., V_N, which all tokens share."""
        return torch.cat([found[name.format(j)][..., 0, :] for j in layers], dim=-1)

    parameters = {
        "gradient": lambda: -joined("change[{}]") / setting.eta,
        "w": lambda: joined(f"v[{{}}][{setting.steps}]"),
        "trajectory": lambda: torch.stack([joined(f"v[{{}}][{k}]") for k in range(1, setting.steps + 1)], dim=-2),
    }
    return {
        name: parameters[name]() if name in WHOLE else found[name] if query else found[name][..., :-1, :]
        for name in wanted
    }
