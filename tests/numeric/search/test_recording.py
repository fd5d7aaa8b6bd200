from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor

from numeric.search import recording
from numeric.search.attack import attack_groups, box_project
from numeric.search.recording import WORTHWHILE, Repeated, record

MATRIX = torch.linspace(-1.0, 1.0, 12, dtype=torch.float64).view(3, 4)
ROWS = torch.tensor([2, 0, 2])


def points(seed: int) -> Tensor:
    return torch.randn(5, 3, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def cut_in_place(x: Tensor) -> Tensor:
    scaled = 2 * x
    return scaled.masked_fill_(x < 0, 0.5).add_(x).sum(1)


def by_vmap(x: Tensor) -> Tensor:
    def at_one(row: Tensor) -> Tensor:
        parts = torch.stack([row @ MATRIX, torch.cumsum(MATRIX[0], 0) * row[1]])
        return torch.linalg.vector_norm(parts) + torch.softmax(row, 0)[0]

    return torch.func.vmap(at_one)(x)


def of_parts(x: Tensor) -> Tensor:
    first, *others = x.split(1, dim=1)
    return torch.cat([first**2, *others, x[:, ROWS]], dim=1).logsumexp(1)


OBJECTIVES = {
    "a linear map": lambda x: (x @ MATRIX).sum(1),
    "kinks": lambda x: torch.where(x > 0, x.abs().sqrt(), x.clamp(min=-0.3)).amax(1),
    "singular values": lambda x: torch.linalg.matrix_norm(x[:, :, None] * MATRIX, ord=2),
    "a broadcast": lambda x: torch.einsum("bi,ij,bi->b", x, MATRIX, x),
    "no use of x": lambda x: torch.ones(len(x), dtype=torch.float64),
    "a change in place": cut_in_place,
    "vmap": by_vmap,
    "parts": of_parts,
    "a linear system": lambda x: torch.linalg.solve(x[:3], x[0]),
}


def with_gradient(objective: Callable[[Tensor], Tensor]) -> Callable[[Sequence[Tensor]], list[Tensor]]:
    def function(arguments: Sequence[Tensor]) -> list[Tensor]:
        moved = arguments[0].clone().requires_grad_(True)
        values = objective(moved)
        if not values.requires_grad:
            return [values]
        return [values.detach(), *torch.autograd.grad(values.sum(), [moved])]

    return function


@pytest.mark.parametrize("name", sorted(OBJECTIVES))
def test_a_replay_elsewhere_gives_the_values_and_gradients_of_the_function(name):
    function = with_gradient(OBJECTIVES[name])
    found, recorded = record(function, [points(0)])
    assert recorded is not None
    assert all(map(torch.equal, found, function([points(0)])))
    for seed in (0, 1, 2):
        assert all(map(torch.equal, recorded([points(seed)]), function([points(seed)])))


def branch(x: Tensor) -> Tensor:
    return x.sum(1) if float(x.detach().sum()) > 0 else x.exp().sum(1)


def in_place_of_a_view(x: Tensor) -> Tensor:
    scaled = 2 * x
    scaled[:, 0] = 1.0
    return scaled.sum(1)


def counted(x: Tensor) -> Tensor:
    COUNTER.add_(1)
    return COUNTER * x.sum(1)


def checked(x: Tensor) -> Tensor:
    torch._assert_async((x.detach() > -100).all())
    return x.sum(1)


COUNTER = torch.zeros((), dtype=torch.float64)

UNREPEATABLE = {
    "a branch by value": branch,
    "a mask": lambda x: torch.zeros(5, dtype=torch.float64).index_put((x[:, 0] > 0,), x[x[:, 0] > 0, 1]),
    "random numbers": lambda x: (x + torch.rand(5, 3, dtype=torch.float64)).sum(1),
    "a change of a view in place": in_place_of_a_view,
    "a change of what stays": counted,
    "a check": checked,
}


@pytest.mark.parametrize("name", sorted(UNREPEATABLE))
def test_what_a_replay_could_get_wrong_is_not_recorded(name):
    assert record(lambda arguments: [UNREPEATABLE[name](arguments[0])], [points(0)])[1] is None


def test_large_results_are_not_recorded(monkeypatch):
    monkeypatch.setattr(recording, "LARGEST", 100)
    assert record(lambda arguments: [arguments[0] + 1], [torch.ones(12, dtype=torch.float64)])[1] is not None
    assert record(lambda arguments: [arguments[0] + 1], [torch.ones(13, dtype=torch.float64)])[1] is None


def test_equal_operations_run_once_and_unused_ones_never():
    def function(arguments: Sequence[Tensor]) -> list[Tensor]:
        x = arguments[0]
        torch.sin(x)
        return [torch.exp(2 * x) + torch.exp(2 * x), torch.exp(2.0 * x)]

    recorded = record(function, [points(0)])[1]
    assert recorded is not None
    assert len(recorded.steps) == 5  # 2 x, exp, their sum; 2.0 x, exp: a number of another type may round otherwise


def test_where_a_matrix_cannot_be_factored_the_function_itself_runs():
    def function(arguments: Sequence[Tensor]) -> list[Tensor]:
        try:
            return [torch.linalg.solve(arguments[0], torch.ones(2, dtype=torch.float64))]
        except torch.linalg.LinAlgError:
            return [arguments[0].sum(1)]

    repeated = Repeated(function, WORTHWHILE)
    for size in (1.0, 2.0, 3.0, 4.0, 0.0, 5.0):
        matrix = torch.tensor([[size, 2 * size], [0.0, size]], dtype=torch.float64)
        assert torch.equal(repeated([matrix])[0], function([matrix])[0])
    assert repeated.recording is not None


def test_what_is_read_no_more_makes_room():
    def function(arguments: Sequence[Tensor]) -> list[Tensor]:
        x = kept = arguments[0] + 1
        for _ in range(20):
            x = torch.sin(x) * kept
        return [x, kept]

    recorded = record(function, [points(0)])[1]
    assert recorded is not None
    assert len(recorded.steps) == 41
    assert len({target for _, _, target in recorded.steps}) == 2  # `kept`, and one of the others at a time
    for seed in range(3):
        for one, other in zip(recorded([points(seed)]), function([points(seed)]), strict=True):
            assert torch.equal(one, other)


@pytest.mark.parametrize("name", sorted(OBJECTIVES | UNREPEATABLE))
@pytest.mark.parametrize("times", [WORTHWHILE - 1, WORTHWHILE])
def test_each_of_many_runs_gives_what_the_function_gives(name, times):
    def run(function: Callable[[Sequence[Tensor]], Sequence[Tensor]]) -> list[Tensor]:
        torch.manual_seed(0)
        COUNTER.zero_()
        return [found for seed in range(times) for found in function([points(seed)])]

    function = with_gradient((OBJECTIVES | UNREPEATABLE)[name])
    assert all(map(torch.equal, run(Repeated(function, times)), run(function)))


def test_a_function_that_the_third_run_shows_to_differ_from_its_recording_is_run_itself():
    def by_numbers(arguments: Sequence[Tensor]) -> list[Tensor]:  # reads values past all operations on tensors
        return [arguments[0] * arguments[0].tolist()[0][0]]

    repeated = Repeated(by_numbers, WORTHWHILE)
    for seed in range(WORTHWHILE):
        assert torch.equal(repeated([points(seed)])[0], by_numbers([points(seed)])[0])
    assert repeated.recording is None


def test_an_attack_is_the_same_without_recordings(monkeypatch):
    def found() -> list[tuple[float, ...]]:
        results = attack_groups(by_vmap, points(0)[:4], box_project(-1.0, 1.0), 2, steps=40, seed=0)
        return [result.history for result in results]

    replayed = found()
    monkeypatch.setattr(recording, "WORTHWHILE", 1000)
    assert found() == replayed


@pytest.mark.parametrize(
    "function",
    [lambda z: z.conj().resolve_conj() + z, lambda z: z[1:3] - z[:2], lambda z: z.flip(0).view(2, 2) + z.view(2, 2)],
    ids=["conjugate", "other places", "other order"],
)
def test_a_view_that_shows_something_else_is_no_copy_of_its_source(function: Callable[[Tensor], Tensor]) -> None:
    z = torch.tensor([1.0 + 2.0j, 3.0 - 1.0j, 0.5j, 2.0], dtype=torch.complex128)
    _, recording = record(lambda found: [function(found[0])], [z])
    assert recording is not None
    assert torch.equal(recording([2 * z])[0], function(2 * z))


def test_the_shape_of_a_shape_is_one_operation_and_the_first_shape_none() -> None:
    """`aten._unsafe_view`, as matrix products leave it, is not a view by its schema."""
    unsafe = torch.ops.aten._unsafe_view
    shapes = {
        2: lambda x: unsafe(x.view(15), [5, 1, 3]) + 1,
        1: lambda x: unsafe(x.view(15).view(3, 5), [5, 3]) + 1,
    }
    for steps, function in shapes.items():
        _, recording = record(lambda found, function=function: [function(found[0])], [points(0)])
        assert recording is not None
        assert len(recording.steps) == steps
        assert torch.equal(recording([points(1)])[0], function(points(1)))


def test_what_changes_a_shape_in_place_is_not_recorded() -> None:
    """The tensor in its first shape has changed too."""

    def changed(found: Sequence[Tensor]) -> list[Tensor]:
        whole = 2 * found[0]
        torch.ops.aten._unsafe_view(whole.view(15), [5, 3]).add_(1)
        return [whole]

    assert record(changed, [points(0)])[1] is None


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.float().add_(x / 3) * 3,
        lambda x: x.float().clamp_(min=x) / 3,
        lambda x: (2 * x).gt_(0) / 3,
        lambda x: (2 * x).logical_not_() / 3,
    ],
    ids=["add_", "clamp_", "gt_", "logical_not_"],
)
def test_what_would_have_another_dtype_is_not_changed_in_place(function: Callable[[Tensor], Tensor]) -> None:
    assert record(lambda found: [function(found[0])], [points(0)])[1] is None


def test_a_truth_value_in_place_is_recorded() -> None:
    def positive(found: Sequence[Tensor]) -> list[Tensor]:
        return [torch.where((found[0] > 0).logical_and_(found[0] < 1), found[0], 0.0)]

    _, recorded = record(positive, [points(0)])
    assert recorded is not None
    assert torch.equal(recorded([points(1)])[0], positive([points(1)])[0])


def test_the_source_of_another_shape_changes_with_it() -> None:
    def changed(found: Sequence[Tensor]) -> list[Tensor]:
        whole = 2 * found[0]
        torch.ops.aten._unsafe_view(whole, [15]).add_(1)
        return [whole]

    assert record(changed, [points(0)])[1] is None


def test_one_tensor_in_two_places_is_not_recorded() -> None:
    x = points(0)
    found, recorded = record(lambda given: [given[0] - 2 * given[1]], [x, x])
    assert recorded is None
    assert torch.equal(found[0], -x)


@pytest.mark.parametrize(
    "function",
    [lambda x: x.reshape(15), lambda x: x.contiguous().as_strided((3,), (1,)), lambda x: (x * 1).reshape(-1)],
    ids=["reshape", "as_strided", "copy"],
)
def test_arguments_are_laid_out_as_the_recorded_ones(function: Callable[[Tensor], Tensor]) -> None:
    _, recorded = record(lambda found: [function(found[0])], [points(0)])
    other = torch.randn(3, 5, generator=torch.Generator().manual_seed(1), dtype=torch.float64).T
    assert recorded is not None
    assert torch.equal(recorded([other])[0], function(other))


def caught(matrix: Tensor) -> Tensor:
    """It branches on what an operation refuses."""
    for shift in range(4):
        try:
            return torch.linalg.cholesky(matrix + shift * torch.eye(2, dtype=torch.float64)).sum()
        except torch.linalg.LinAlgError:
            continue
    return matrix.sum()


def looked_up(places: Tensor) -> Tensor:
    try:
        return torch.arange(3.0, dtype=torch.float64)[places.to(torch.int64)].sum()
    except IndexError:
        return -places.sum()


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (caught, [size * torch.eye(2, dtype=torch.float64) for size in (-0.5, -0.6, -0.7, 4.0, -2.5, 5.0)]),
        (caught, [size * torch.eye(2, dtype=torch.float64) for size in (1.0, 2.0, 3.0, -0.5, 4.0, -9.0)]),
        (looked_up, [torch.tensor([place], dtype=torch.float64) for place in (7.0, 8.0, 9.0, 1.0, 7.0)]),
        (looked_up, [torch.tensor([place], dtype=torch.float64) for place in (0.0, 1.0, 2.0, 7.0, 1.0)]),
    ],
)
def test_a_function_that_catches_what_an_operation_refuses_is_followed(function, arguments):
    repeated = Repeated(lambda given: [function(given[0])], WORTHWHILE)
    for argument in arguments:
        assert torch.equal(repeated([argument])[0], function(argument))
