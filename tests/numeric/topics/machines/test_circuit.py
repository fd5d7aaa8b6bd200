"""The network of a circuit: gathers, matrices and direct evaluation agree; what its matrices look like; rounding."""

import numpy as np
import pytest
import torch
from torch import Tensor

from numeric.topics.machines import circuit as module
from numeric.topics.machines.circuit import (
    GATE_WEIGHTS,
    CircuitNetwork,
    layer_matrices,
    representable_thirds,
    rounded,
    rounding_matrices,
)
from numeric.topics.machines.gates import Circuit, CircuitError, Gate, GateKind, all_inputs
from numeric.topics.machines.layering import layered
from tests.numeric.topics.machines.cuda import CUDA
from tests.numeric.topics.machines.random_circuits import random_circuit

THIRDS = (1 / 3, 2 / 3)


def network(seed: int = 0, rounding: bool = True, m: int = 5, gates: int = 25, outputs: int = 3) -> CircuitNetwork:
    return CircuitNetwork(layered(random_circuit(m, gates, outputs, seed)), rounding)


def signs(circuit: Circuit, bits: np.ndarray) -> np.ndarray:
    return 2.0 * circuit.evaluate(bits) - 1.0


def as_tensors(built: CircuitNetwork) -> dict[str, Tensor]:
    return {name: torch.tensor(value) for name, value in built.parameters().items()}


@pytest.mark.parametrize("rounding", [True, False], ids=["rounding", "plain"])
@pytest.mark.parametrize("seed", range(4))
def test_gathers_matrices_and_gates_agree_on_every_input(seed: int, rounding: bool) -> None:
    circuit = random_circuit(m=6, gates=30, outputs=4, seed=seed)
    built = CircuitNetwork(layered(circuit), rounding)
    bits, expected = all_inputs(6), signs(circuit, all_inputs(6))
    for dtype in (torch.float64, torch.float32, torch.bfloat16):
        answers = built.run(bits, dtype)
        assert answers.dtype is dtype
        assert answers.double().numpy().tolist() == expected.tolist()  # to the last bit
        assert set(built.values(bits, dtype).flatten().tolist()) <= {0.0, 1.0}
    dense = built.run_dense(as_tensors(built), torch.tensor(bits))
    assert np.abs(dense.numpy() - expected).max() < 1e-12  # 1/3 is rounded there


def test_the_answer_does_not_depend_on_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    built, bits = network(), all_inputs(5)
    whole = built.run(bits)
    monkeypatch.setattr(module, "CACHED", 3 * built.layered.r)  # three inputs a block, the last with two
    assert built.run(bits).equal(whole)


def test_the_number_of_threads_is_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.set_num_threads(2)
    network().run(all_inputs(5))
    assert torch.get_num_threads() == 2
    monkeypatch.setattr(module, "rounded", lambda h, starts: h @ h)
    with pytest.raises(RuntimeError):
        network().run(all_inputs(5))
    assert torch.get_num_threads() == 2


def test_bits_of_another_width_are_refused() -> None:
    with pytest.raises(CircuitError, match="random 0 has 5 inputs, not 3"):
        network().run(all_inputs(3))


@pytest.mark.parametrize(
    ("dtype", "device"),
    [
        (torch.float32, "cpu"),
        pytest.param(torch.float32, "cuda", marks=CUDA),
        pytest.param(torch.float64, "cuda", marks=CUDA),
    ],
)
def test_a_thousand_gates_on_many_inputs(dtype: torch.dtype, device: str) -> None:
    circuit = random_circuit(m=16, gates=1000, outputs=16, seed=0)
    bits = all_inputs(16)[::7]
    answers = CircuitNetwork(layered(circuit)).run(bits, dtype, device)
    assert (answers.cpu().numpy() == signs(circuit, bits)).all()


@pytest.mark.parametrize("kind", GateKind)
def test_the_network_has_the_weights_of_its_gates(kind: GateKind, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = ("a", "b")[: 1 if kind.unary else 2]
    circuit, bits = Circuit("one gate", inputs, (Gate("y", kind, inputs),), ("y",)), all_inputs(len(inputs))
    other = {GateKind.AND: GateKind.OR, GateKind.OR: GateKind.AND, GateKind.NOT: GateKind.ID, GateKind.ID: GateKind.NOT}
    monkeypatch.setitem(GATE_WEIGHTS, kind, GATE_WEIGHTS[other[kind]])
    built = CircuitNetwork(layered(circuit))
    for answers in (built.run(bits), built.run_dense(as_tensors(built), torch.tensor(bits))):
        assert (answers.numpy() != signs(circuit, bits)).any()


def test_the_matrices_have_the_shape_of_the_proof() -> None:
    built = network(seed=1)
    for i, layer in enumerate(built.layered.layers[1:], start=1):
        matrices = layer_matrices(layer, len(built.layered.layers[i - 1]))
        assert (np.count_nonzero(matrices["W1"], axis=1) <= 2).all()
        diagonal = np.diag(matrices["W2"])
        assert (matrices["W2"] == np.diag(diagonal)).all()
        assert set(diagonal) <= {-1.0, 1.0}
    assert built.corrections == built.layered.q - 2
    names = {name.split(".")[0] for name in built.parameters()}
    q = built.layered.q
    assert names == {"readout", *(f"f[{i}]" for i in range(1, q)), *(f"zeta[{i}]" for i in range(1, q - 1))}
    assert not any("zeta" in name for name in network(rounding=False).parameters())


def test_a_gate_of_one_parent_twice_adds_its_weights() -> None:
    circuit = Circuit("twice", ("x",), (Gate("y", GateKind.AND, ("x", "x")),), ("y",))
    built = CircuitNetwork(layered(circuit))
    assert built.parameters()["f[1].W1"].tolist() == [[2.0]]
    assert built.run(all_inputs(1)).flatten().tolist() == [-1.0, 1.0]


def test_perturbed_copies_answer_as_each_alone() -> None:
    built, bits = network(seed=2), torch.tensor(all_inputs(5)[19])
    generator = torch.Generator().manual_seed(1)
    exact = as_tensors(built)
    copies = {
        name: value + 0.2 * torch.randn((7, *value.shape), generator=generator, dtype=torch.float64)
        for name, value in exact.items()
    }
    together = built.run_dense(copies, bits)
    alone = torch.stack([built.run_dense({name: value[k] for name, value in copies.items()}, bits) for k in range(7)])
    assert together.shape == (7, 3)
    torch.testing.assert_close(together, alone)
    one = {**exact, "f[1].b1": copies["f[1].b1"]}  # only some of them have copies
    assert built.run_dense(one, bits).shape == (7, 3)
    assert built.run_dense(exact, bits).shape == (3,)


def test_answers_can_be_differentiated_in_the_parameters() -> None:
    built = network(seed=2, rounding=False)
    parameters = {name: value.requires_grad_() for name, value in as_tensors(built).items()}
    built.run_dense(parameters, torch.tensor(all_inputs(5))).sum().backward()
    assert parameters["readout.b"].grad.tolist() == [32.0] * 3
    assert sum(value.grad.abs().sum() for name, value in parameters.items() if name.endswith("W1")) > 0


def zeta(h: Tensor) -> Tensor:
    """The correction function by its matrices."""
    W1, b1, W2, b2 = map(torch.tensor, rounding_matrices(h.shape[-1]).values())
    return (torch.relu(h @ W1.T + b1) @ W2.T + b2).relu()


def test_rounding_is_the_piecewise_function_and_both_forms_agree() -> None:
    z = torch.linspace(-1, 2, 1201, dtype=torch.float64)[:, None]
    expected = (3 * z - 1).clamp(0, 1)
    torch.testing.assert_close(zeta(z), expected)
    torch.testing.assert_close(rounded(z, THIRDS), expected)


def test_rounding_repairs_a_third_and_no_more() -> None:
    bits = torch.tensor(all_inputs(4), dtype=torch.float64)
    off = torch.where(
        torch.rand(bits.shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64) < 0.5, -1.0, 1.0
    )
    assert (zeta(bits + 0.3333 * off) - bits).abs().max() < 1e-12
    assert (zeta(bits - 0.34 * (2 * bits - 1)) - bits).abs().min() > 0.01


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_thirds_are_rounded_by_one_unit_at_most_and_keep_one(dtype: torch.dtype) -> None:
    starts = representable_thirds(dtype)
    for start, third in zip(starts, THIRDS, strict=True):
        assert start == torch.tensor(start, dtype=dtype).item()
        assert abs(start - third) <= torch.finfo(dtype).eps * third
    assert rounded(torch.tensor([0.0, 1.0], dtype=dtype), starts).tolist() == [0.0, 1.0]


def test_in_float32_the_nearest_thirds_do_not_keep_one() -> None:
    assert rounded(torch.ones(1, dtype=torch.float32), THIRDS).item() != 1.0


def test_a_dtype_without_such_thirds_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROUNDING_SLOPE", 2.5)
    with pytest.raises(ValueError, match="give round\\(1\\) = 1; use float64"):
        representable_thirds(torch.float64)
