"""The icgd network: families of heads against the paper's matrices, and a step in context against one by autograd."""

import time
from collections.abc import Callable

import torch

from numeric.networks.families import FamilyAttention, FamilyMultiplication
from numeric.networks.hinges import uniform_knots
from numeric.networks.loss_sums import LossSum
from numeric.networks.relu_sums import ReluSum
from numeric.tools.layered import Shape, autograd_gradient
from numeric.topics.icgd import IcgdNetwork, IcgdSetting, icgd_setting, prompts

B_V, B_X, B_Y, ETA = 1.0, 1.0, 0.8, 0.5


def main() -> None:
    torch.set_num_threads(1)
    structured_against_dense(Shape(N=2, K=4, d_x=3, d_y=2), n=20, relus=16)
    emulated_against_autograd(Shape(N=3, K=16, d_x=10, d_y=10), n=441, relus=256)
    emulated_against_autograd(Shape(N=6, K=64, d_x=64, d_y=64), n=40, relus=256)


def structured_against_dense(shape: Shape, n: int, relus: int) -> None:
    """Time of one step, and bytes of the weights, of both interpreters."""
    construction, inputs = tanh_network(shape, n, relus), inputs_of(shape, n)
    structured, dense = (best_time(IcgdNetwork(construction, dense=dense), inputs) for dense in (False, True))
    stored, spelled_out = structured_bytes(construction), dense_bytes(construction)
    print(f"icgd, {shape}, n = {n}, {relus} ReLUs a function: structured {structured * 1e3:.2f} ms, dense "
          f"{dense * 1e3:.0f} ms, ratio {dense / structured:.0f}; weights {stored / 1e3:.1f} kB, as dense matrices "
          f"{spelled_out / 1e6:.1f} MB, ratio {spelled_out / stored:.0f}")  # fmt: skip


def emulated_against_autograd(shape: Shape, n: int, relus: int) -> None:
    """One step by the network and the same step with torch autograd."""
    construction, inputs = tanh_network(shape, n, relus), inputs_of(shape, n)
    network, box = IcgdNetwork(construction), torch.tensor(shape.box(B_V))

    def direct(w: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        gradient = autograd_gradient(shape, w, x, y, r=torch.tanh, loss=lambda t, y: (t - y) ** 2)
        return torch.clamp(w - ETA * gradient, -box, box)

    emulated, autograd = best_time(network, inputs), best_time(direct, inputs)
    print(f"icgd, {shape}, n = {n}, {relus} ReLUs a function: step in context {emulated * 1e3:.2f} ms, with autograd "
          f"{autograd * 1e3:.2f} ms, ratio {emulated / autograd:.2f}; weights as dense matrices would take "
          f"{dense_bytes(construction) / 2**40:.2f} TiB")  # fmt: skip


def tanh_network(shape: Shape, n: int, relus: int) -> IcgdSetting:
    r, r1 = (
        tanh_sum(relus),
        ReluSum(2.0, 1 - torch.tanh(torch.tensor(uniform_knots(2.0, relus), dtype=torch.float64)).numpy() ** 2),
    )
    loss = LossSum(((1, -1, ReluSum(4.0, 2 * uniform_knots(4.0, 2), spread=2.0)),))
    return icgd_setting(shape, r, r1, loss, eta=ETA, B_v=B_V, n=n)


def tanh_sum(relus: int) -> ReluSum:
    return ReluSum(2.0, torch.tanh(torch.tensor(uniform_knots(2.0, relus), dtype=torch.float64)).numpy())


def inputs_of(shape: Shape, n: int) -> dict[str, torch.Tensor]:
    return prompts(shape, n, B_V, B_X, B_Y, 1, seed=0)


def structured_bytes(construction: IcgdSetting) -> int:
    """Slopes and intercepts of the cells of all sums of ReLUs, in float64; the other families hold a few numbers."""
    pieces = (construction.r, construction.r1, *(piece for _, _, piece in construction.u.pieces))
    return sum(16 * piece.cells for piece in pieces)


def dense_bytes(construction: IcgdSetting) -> int:
    """Q, K, V (D, D) of every head, W_1 and W_2 of the MLPs, in float64."""
    D = construction.stream.width
    return sum(
        24 * D * D * layer.head_count
        if isinstance(layer, FamilyAttention | FamilyMultiplication)
        else 16 * D * layer.hidden_width
        for layer in construction.block
    )


def best_time(run: Callable[..., object], inputs: dict[str, torch.Tensor], repeats: int = 10) -> float:
    def once() -> float:
        start = time.perf_counter()
        run(**inputs)
        return time.perf_counter() - start

    return min(once() for _ in range(repeats))


if __name__ == "__main__":
    main()
