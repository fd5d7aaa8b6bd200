import numpy as np
import pytest
import torch

from numeric.balls.limits import TooLargeForExact
from numeric.networks.network import Network
from numeric.networks.stream import StreamError
from numeric.tools.layered import Shape
from numeric.topics.icgd import IcgdNetwork, prompts, run_exact_icgd, starts
from numeric.topics.icgd.network import prompt_blocks
from tests.counting import Tensors
from tests.numeric.topics.icgd.by_definition import as_floats, distance, exact_step, run_icgd_by_definition
from tests.numeric.topics.icgd.cases import B_V, B_X, B_Y, CASES, ETA, TANH, Activation, Case, build, close

WIDE = Activation("3 tanh", lambda t: 3 * TANH.r(t), lambda t: 3 * TANH.r1(t), TANH.exact, TANH.exact1)


def inputs_for(case: Case, count: int = 3, dtype: torch.dtype = torch.float64) -> dict[str, torch.Tensor]:
    drawn = prompts(case.shape, case.n, B_V, B_X, B_Y, count, seed=0)
    inputs = {name: value.to(dtype) for name, value in drawn.items()}
    return {**inputs, "x_query": inputs["x"].mean(dim=1).flip(-1)}


@pytest.mark.parametrize("name", CASES)
def test_structured_and_dense_networks_agree(name):
    construction, inputs = CASES[name].build(), inputs_for(CASES[name])
    structured = IcgdNetwork(construction).run(**inputs)
    dense = IcgdNetwork(construction, dense=True).run(**inputs)
    assert structured.keys() == dense.keys() == set(construction.taps)
    for tap, value in structured.items():
        assert close(value, dense[tap]), tap
        assert not close(value + 1e-10, dense[tap]), tap


@pytest.mark.parametrize("start", range(4))
def test_they_agree_at_the_corners_where_attacks_start(start):
    case = Case(Shape(N=3, K=3, d_x=2, d_y=2), n=3)
    construction = case.build(cells=5)
    inputs = {name: each[start : start + 1] for name, each in starts(case.shape, 3, B_V, B_X, B_Y, 4, seed=1).items()}
    structured = IcgdNetwork(construction).run(**inputs)
    dense = IcgdNetwork(construction, dense=True).run(**inputs)
    assert all(close(value, dense[tap]) for tap, value in structured.items())


@pytest.mark.parametrize("name", ["one of everything", "two layers", "three logistic steps", "two steps"])
def test_every_interpreter_is_the_definition(name):
    construction, inputs = CASES[name].build(cells=4), inputs_for(CASES[name], count=1)
    arrays = {key: value[0].numpy() for key, value in inputs.items()}
    blocks, after = run_icgd_by_definition(construction, **arrays)
    exact = run_exact_icgd(construction, **arrays)
    structured = IcgdNetwork(construction).run(**inputs)
    # The scale eta (n+1) / 2n of the last attention layer is a float64 in the matrices; for n = 1 it is eta itself.
    tolerance = 1e-33 if construction.n == 1 else 1e-15
    stream, shape = construction.stream, construction.shape
    for tap in set(construction.taps) - {"gradient", "w", "trajectory"}:
        assert distance(exact[tap].balls, blocks[tap]) < tolerance, tap
        assert close(structured[tap][0], as_floats(blocks[tap])), tap
    where = slice(shape.d_x + shape.d_y, shape.d_x + shape.d_y + shape.parameters)
    for token in after:
        assert distance(exact["w"].balls, np.array(token[where], dtype=object)) < tolerance
    # The next step finds what the first one found: everything but x, y, w, one and t is 0 again.
    for name in stream.names:
        if name not in ("x", "y", "one", "t") and not name.startswith("v["):
            assert all(entry == 0 for token in after for entry in token[stream.slice(name)])


@pytest.mark.parametrize("name", CASES)
def test_exact_network_encloses_the_float_one(name):
    construction, inputs = CASES[name].build(cells=32), inputs_for(CASES[name], count=1)
    arrays = {key: value[0].numpy() for key, value in inputs.items()}
    structured, exact = IcgdNetwork(construction).run(**inputs), run_exact_icgd(construction, **arrays)
    assert structured.keys() == exact.keys()
    for tap, value in structured.items():
        assert float(exact[tap].radius().max()) < 1e-30
        assert close(value[0], exact[tap].midpoint(), relative=1e-13)


@pytest.mark.parametrize("name", CASES)
def test_more_relus_bring_the_network_to_the_reference(name):
    case = CASES[name]
    if case.steps > 1:
        case = Case(case.shape, case.n, 1, case.activation, case.loss)
    inputs = prompts(case.shape, case.n, B_V, B_X, B_Y, 3, seed=2)
    functions = {"r": case.activation.r, "r1": case.activation.r1, "u": case.loss.u}
    reference = exact_step(case.shape, **inputs, **functions, eta=ETA, B_v=B_V)

    def errors(cells: int) -> dict[str, float]:
        taps = IcgdNetwork(case.build(cells)).run(**inputs)
        return {tap: float((taps[tap] - reference[tap]).abs().max()) for tap in reference}

    coarse, fine = errors(64), errors(2048)
    for tap in ("p[1]", "gradient"):  # the error is of the order of the squared width of a cell
        assert fine[tap] < coarse[tap] / 100
    assert max(fine.values()) < 1e-5


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, 0.2), (torch.float16, 0.02)])
def test_a_dtype_is_kept_throughout(dtype, tolerance, dense):
    case = CASES["sizes that differ"]
    construction, inputs = case.build(), inputs_for(case, dtype=dtype)
    found = IcgdNetwork(construction, dtype=dtype, dense=dense).run(**inputs)
    exact = IcgdNetwork(construction).run(**{name: value.double() for name, value in inputs.items()})
    assert {value.dtype for value in found.values()} == {dtype}
    # "gradient" of the dense network is a difference of parameters, where little is left of half precision.
    for tap in set(found) - ({"gradient"} if dense else set()):
        assert close(found[tap], exact[tap], relative=tolerance), tap


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("bound", [1.0, 2.0, None])
def test_a_mask_that_is_too_small_lets_the_query_through(bound, dense):
    """R_3 must reach |p(N)| at the query; below it, both interpreters show the network as it is."""
    case = Case(Shape(N=2, K=2, d_x=2, d_y=2), n=2, activation=WIDE)
    construction = build(case.shape, case.n, activation=WIDE, bound=bound)
    inputs = {name: value[1:2] for name, value in starts(case.shape, case.n, B_V, B_X, B_Y, 3, seed=0).items()}
    found = IcgdNetwork(construction, dense=dense).run(**inputs, x_query=inputs["x"][:, 0])
    assert float(found["p[2]"][:, -1].abs().max()) > 2
    leaks = bool((found["g"][:, -1] != 0).any())
    assert leaks == (bound == 1.0)  # for the squared loss the printed R_3 is more than it needs
    other = IcgdNetwork(construction).run(**inputs, x_query=-0.1 * inputs["x"][:, 0])
    assert close(other["gradient"], found["gradient"]) != leaks
    arrays = {name: value[0].numpy() for name, value in inputs.items()}
    exact = run_exact_icgd(construction, **arrays, x_query=arrays["x"][0])
    assert all(close(found[tap][0], exact[tap].midpoint()) for tap in found)


@pytest.mark.parametrize("name", ["sizes that differ", "two steps", "logistic"])
def test_gradients_are_difference_quotients(name):
    case = CASES[name]
    network = IcgdNetwork(case.build())
    inputs = prompts(case.shape, case.n, 0.5 * B_V, B_X, B_Y, 2, seed=3)
    assert torch.autograd.gradcheck(network, tuple(value.requires_grad_(True) for value in inputs.values()))


def test_prompts_of_a_batch_do_not_meet():
    case = CASES["two steps"]
    network, inputs = IcgdNetwork(case.build()), inputs_for(case)
    batched = network.run(**inputs)
    for index in range(3):
        alone = network.run(**{name: value[index : index + 1] for name, value in inputs.items()})
        assert all(close(value[0], batched[tap][index], relative=1e-14) for tap, value in alone.items())


def test_taps_have_the_shapes_of_the_reference_and_the_query_comes_last():
    case = CASES["two steps"]
    network, inputs = IcgdNetwork(case.build()), inputs_for(case)
    query = inputs.pop("x_query")
    without, with_query = network.run(**inputs), network.run(**inputs, x_query=query)
    for tap, value in without.items():
        if tap in ("gradient", "w", "trajectory"):
            assert torch.equal(value, with_query[tap])
        else:
            assert value.shape[1] == case.n
            assert torch.equal(value, with_query[tap][:, :-1])
            assert with_query[tap].shape[1] == case.n + 1
    trajectory = with_query["trajectory"]
    assert trajectory.shape == (3, 2, case.shape.parameters)
    assert torch.equal(trajectory[:, -1], with_query["w"])
    one_step = IcgdNetwork(build(case.shape, case.n, steps=1))
    assert torch.equal(trajectory[:, 0], one_step(**inputs))
    assert torch.equal(trajectory[:, 1], one_step(**{**inputs, "w": trajectory[:, 0]}))


def test_the_parameters_stay_equal_in_all_tokens():
    """What allows the structured interpreter to keep them once."""
    case = CASES["two layers"]
    construction, inputs = case.build(), inputs_for(case)
    blocks = prompt_blocks(construction, *(inputs[name] for name in ("w", "x", "y", "x_query")))
    tokens = torch.cat([each.expand(3, construction.n + 1, -1) for each in blocks.values()], dim=-1)
    found = Network(construction.construction, dense=True).run(tokens)
    for j in (1, 2):
        parameters = found[f"v[{j}][1]"]
        assert not torch.equal(parameters, found[f"v[{j}][0]"])
        assert close(parameters, parameters[:, :1].expand_as(parameters), relative=1e-14)


def test_only_the_taps_asked_for_are_returned():
    case = CASES["two steps"]
    network, inputs = IcgdNetwork(case.build()), inputs_for(case)
    assert list(network.run(**inputs, taps=["w", "p[2]"])) == ["p[2]", "w"]
    arrays = {key: value[0].numpy() for key, value in inputs.items()}
    assert set(run_exact_icgd(case.build(), **arrays, taps=["g"])) == {"g"}


def test_a_wide_network_holds_nothing_larger_than_its_weights():
    shape = Shape(N=6, K=64, d_x=64, d_y=64)
    network = IcgdNetwork(build(shape, 40, cells=256))
    inputs = prompts(shape, 40, B_V, B_X, B_Y, 1, seed=0)
    with Tensors() as seen:
        network.run(**inputs)
    weights = inputs["w"].numel()
    assert seen.largest == weights
    assert seen.numbers < 50 * weights  # a dense matrix of its stream has more than 10,000 times as many


def test_inputs_that_do_not_fit_are_refused():
    case = CASES["two layers"]
    network, inputs = IcgdNetwork(case.build()), inputs_for(case)
    with pytest.raises(StreamError, match=r"x of shape \(3, 2, 2\), expected \(3, 3, 2\); y of shape"):
        network.run(**{**inputs, "x": inputs["x"][:, 1:], "y": inputs["y"][:, 1:]})
    with pytest.raises(StreamError, match=r"x of shape .*; x_query of shape \(3, 1\)"):
        network.run(**{**inputs, "x": inputs["x"][..., 1:], "x_query": inputs["x_query"][:, 1:]})
    with pytest.raises(StreamError, match=r"an input of torch.float32, torch.float64. Give it in torch.float64"):
        network.run(**{**inputs, "w": inputs["w"].float()})
    with pytest.raises(StreamError, match=r"no tap 'p\[3\]'. Did you mean 'p\[1\]'|no tap 'p\[3\]'"):
        network.run(**inputs, taps=["p[3]"])
    arrays = {key: value[0].numpy() for key, value in inputs.items()}
    with pytest.raises(TooLargeForExact, match=r"a prompt of 4 tokens needs .* the limit is 100"):
        run_exact_icgd(case.build(), **arrays, limit=100)
    with pytest.raises(StreamError, match=r"w of shape \(1,\)"):
        run_exact_icgd(case.build(), **{**arrays, "w": np.ones(1)})
    with pytest.raises(StreamError, match="an input that is empty or not finite"):
        run_exact_icgd(case.build(), **{**arrays, "x": arrays["x"] + np.nan})
    without_query = {name: array for name, array in arrays.items() if name != "x_query"}
    assert run_exact_icgd(case.build(), **without_query, taps=["w"]).keys() == {"w"}


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no CUDA device")
@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_cuda_agrees_with_cpu(name, dense):
    construction, inputs = CASES[name].build(), inputs_for(CASES[name])
    on_cpu = IcgdNetwork(construction, dense=dense).run(**inputs)
    on_cuda = IcgdNetwork(construction, device="cuda", dense=dense).run(
        **{name: value.cuda() for name, value in inputs.items()}
    )
    for tap, value in on_cuda.items():
        assert value.device.type == "cuda"
        assert close(value.cpu(), on_cpu[tap], relative=1e-11)
