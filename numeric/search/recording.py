"""A function of tensors, recorded as the operations of one run; it then runs as those alone.

For functions that run many times on small tensors, where Python, vmap and autograd take longer than the operations. A
recording has no derivatives: record a function together with its gradients.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from operator import itemgetter
from types import BuiltinFunctionType
from typing import Any, NamedTuple, TypeAlias

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode  # torch documents it under no other name

Function: TypeAlias = Callable[[Sequence[Tensor]], Sequence[Tensor]]

LARGEST = 1 << 28  # bytes that all results of a run take: beyond, operations take longer than what is around them

WORTHWHILE = 10  # runs: to record one takes as long as a few, and a replay a third of one

aten = torch.ops.aten
SAME_VALUES = {aten.detach.default, aten.alias.default, aten.lift_fresh.default}
LOGIC = ("and", "or", "xor", "not")
RESHAPES = {aten.view.default, aten._unsafe_view.default}
OF_SHAPES = {aten.zeros_like, aten.ones_like, aten.full_like, aten.new_zeros, aten.new_ones, aten.new_full}
TRUTHS = {aten.eq, aten.ne, aten.lt, aten.le, aten.gt, aten.ge, *(getattr(aten, f"logical_{name}") for name in LOGIC)}
BY_NUMBERS = {aten.mul.Tensor, aten.div.Tensor, aten.mul.Scalar, aten.div.Scalar}
REFUSED = (RuntimeError, TypeError, ValueError, IndexError)  # by an operation, for its shapes or values
CHECKS = {aten._linalg_check_errors.default}  # whether a matrix can be factored
# The shape of a result, or the path of the program, would depend on values.
UNREPEATABLE = {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape, torch.Tag.nondeterministic_seeded}


def _by_place(tensor: Tensor, places: Sequence[Tensor | None]) -> Tensor:
    """`aten.index`: None stands for a whole axis."""
    return tensor[tuple(slice(None) if each is None else each for each in places)]


def _slice(tensor: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Tensor:
    return tensor[(slice(None),) * (dim % tensor.ndim) + (slice(start, end, step),)]


METHODS: dict[Any, Any] = {
    aten.view: Tensor.view,
    aten._unsafe_view: Tensor.view,
    aten.expand: Tensor.expand,
    aten.slice: _slice,
    aten.index: _by_place,
    aten.cat: torch.cat,
    aten.linalg_vector_norm: torch.linalg.vector_norm,
}


class Repeated:
    """The function, run so many times: from the fourth on it is replayed, if the third shows that a replay is equal.

    It has to be a function of its arguments alone, whose shapes stay. What asks a tensor for a value (`item`, `if`) is
    not recorded, nor what takes much memory: then each run is the function's own, and so is one in which an operation
    of a replay refuses its values. What torch does not see (`tolist`, `numpy`, `.data`) cannot be told: such a function
    must not be repeated in this way.
    """

    def __init__(self, function: Function, times: int) -> None:
        self.function, self.runs, self.worthwhile = function, 0, times >= WORTHWHILE
        self.recording: Recording | None = None

    def __call__(self, arguments: Sequence[Tensor]) -> Sequence[Tensor]:
        self.runs += 1
        if self.runs == 2 and self.worthwhile:  # what a function keeps between runs, the first has found
            found, self.recording = record(self.function, arguments)
            return found
        if self.recording is None:
            return self.function(arguments)
        if self.runs == 3:
            return self._compared(self.recording, arguments)
        try:
            return self.recording(arguments)
        except REFUSED:  # what the function makes of it is its own affair
            return self.function(arguments)

    def _compared(self, recording: "Recording", arguments: Sequence[Tensor]) -> Sequence[Tensor]:
        found = self.function(arguments)
        if not _replays(recording, arguments, found):
            self.recording = None
        return found


def _replays(recording: "Recording", arguments: Sequence[Tensor], found: Sequence[Tensor]) -> bool:
    """Whether a replay gives these very numbers."""
    try:
        replayed = recording(arguments)
    except REFUSED:  # a shape that only the first run had
        return False
    return all(one.dtype == other.dtype and torch.equal(one, other) for one, other in zip(replayed, found, strict=True))


class RecordedStep(NamedTuple):
    """An operation, the registers that it reads, and the one that it fills."""

    operation: Callable[..., Any]
    sources: tuple[int, ...]
    target: int


@dataclass(frozen=True, eq=False)
class Recording:
    """Operations in order. `registers` holds what no argument changes, None elsewhere; one that is read no more is used
    again.
    """

    registers: list[Any]
    steps: list[tuple[Callable[..., Any], Callable[[list[Any]], Sequence[Any]], int]]
    arguments: tuple[int, ...]
    strides: tuple[tuple[int, ...], ...]
    results: tuple[int, ...]

    def __call__(self, arguments: Sequence[Tensor]) -> list[Tensor]:
        registers = self.registers.copy()
        for place, strides, argument in zip(self.arguments, self.strides, arguments, strict=True):
            registers[place] = argument if argument.stride() == strides else _laid_out(argument, strides)
        with torch.inference_mode():
            for operation, sources, target in self.steps:
                registers[target] = operation(*sources(registers))
        return [registers[place].clone() for place in self.results]  # tensors like others, and none of the constants


def record(function: Function, arguments: Sequence[Tensor]) -> tuple[Sequence[Tensor], Recording | None]:
    """What the function gives, and the recording of this run; None for what cannot be recorded."""
    if len({id(each) for each in arguments}) < len(arguments):  # which one it reads could not be told
        return function(arguments), None
    recorder = _Recorder(arguments)
    with recorder:
        found = function(arguments)
    return found, recorder.recording(found)


class _Recorder(TorchDispatchMode):
    """Sees each operation below vmap and autograd. Equal operations on equal registers are recorded once.

    An operation that changes a tensor in place is recorded as the one that gives a new tensor, and the shape of a
    shape as one of what was there before.
    """

    def __init__(self, arguments: Sequence[Tensor]) -> None:
        super().__init__()
        self.registers: list[Any] = []  # numbers and constant tensors; None for what the arguments change
        self.places: dict[int, int] = {}  # the register of each tensor, by its identity
        self.alive: list[Tensor] = []  # so that no other tensor takes an identity
        self.numbers: dict[tuple[type, str], int] = {}  # the register of each
        self.results: dict[Any, list[int]] = {}  # the registers of each operation
        self.reshaped: dict[int, int] = {}  # the register that another one shows in another shape
        self.layouts: dict[int, Any] = {}  # of the tensors in registers
        self.shared: set[int] = set()  # registers whose memory another one has too, or the caller
        self.steps: list[RecordedStep] = []
        self.checks: list[int] = []  # the targets of steps that only raise
        self.bytes, self.stopped = 0, False
        self.strides = tuple(each.stride() for each in arguments)
        self.arguments = tuple(self._named(each, self._new()) for each in arguments)
        self.shared.update(self.arguments)
        self.moving = set(self.arguments)  # registers that the arguments change

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # nothing compiles this class, and to tell the compiler so would import it, for a second

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        try:
            found = func(*args, **(kwargs or {}))
        except Exception:
            self._stop()  # a function may go on from here, in a way that depends on values
            raise
        if not self.stopped:
            self._record(func, args, kwargs or {}, found)
        return found

    def recording(self, found: Sequence[Tensor]) -> Recording | None:
        if self.stopped:
            return None
        results = tuple(self._place(each) for each in found)
        constants = [each.detach() if isinstance(each, Tensor) else each for each in self.registers]
        needed = _needed(self.steps, (*results, *self.checks))
        at = _registers_of(needed, results)
        steps = [
            (step.operation, _reader(tuple(at.get(each, each) for each in step.sources)), at[step.target])
            for step in needed
        ]
        return Recording(constants, steps, self.arguments, self.strides, tuple(at.get(each, each) for each in results))

    def _record(self, func: Any, args: Any, kwargs: Any, found: Any) -> None:
        sources, results = tuple(self._place(each) for each in _flat(args)), _tensors(found)
        if func in RESHAPES:
            sources = (self.reshaped.get(sources[0], sources[0]), *sources[1:])
        moving = func.overloadpacket not in OF_SHAPES and not self.moving.isdisjoint(sources)
        self.bytes += 0 if func.is_view else sum(each.nbytes for each in results)
        checks = moving and not results  # for what it raises
        if checks and func in CHECKS:
            self.checks.append(self._filled(_called(func, _layout(args), kwargs), sources, found)[0])
        elif self.bytes > LARGEST or checks or not self._repeatable(func, args, kwargs, moving):
            self._stop()
        elif func in SAME_VALUES or self._is_same(func, args, found, sources):
            self.shared.add(self._named(found, sources[0]))
        elif not moving:
            self.shared.update(self._named(each, self._new(each)) for each in results)
        else:
            self._record_step(func, args, kwargs, sources, found)

    def _repeatable(self, func: Any, args: Any, kwargs: Any, moving: bool) -> bool:
        if torch.Tag.nondeterministic_seeded in func.tags or _tensors(kwargs.values()):
            return False
        if func._schema.is_mutable:
            new = _functional(func)  # `squeeze_` changes no entry, so that others may share the memory
            own = self._place(args[0]) not in self.shared and _keeps_dtype(new, args)
            return new is not None and (new.is_view or own)
        by_place = func is aten.index.Tensor and not any(each.dtype is torch.bool for each in _tensors(args[1]))
        return by_place or not moving or UNREPEATABLE.isdisjoint(func.tags)

    def _record_step(self, func: Any, args: Any, kwargs: Any, sources: tuple[int, ...], found: Any) -> None:
        func = _functional(func) if func._schema.is_mutable else func
        key = (func, sources, _layout(args), repr(kwargs))
        if key not in self.results:
            self.results[key] = self._filled(_called(func, _layout(args), kwargs), sources, found)
        for each, place in zip(_tensors(found), self.results[key], strict=True):
            self._named(each, place)
        if func.is_view or func in RESHAPES:
            self.shared.update(sources, self.results[key])
        if func in RESHAPES:
            self.reshaped[self.results[key][0]] = sources[0]

    def _filled(self, operation: Callable[..., Any], sources: tuple[int, ...], found: Any) -> list[int]:
        """The registers of the results; of several, one register holds all of them first."""
        self.steps.append(RecordedStep(operation, sources, self._new()))
        whole = self.steps[-1].target
        self.moving.add(whole)
        if found is None or isinstance(found, Tensor):
            return [whole]
        parts = [
            RecordedStep(itemgetter(place), (whole,), self._new())
            for place, each in enumerate(found)
            if each is not None
        ]
        self.steps += parts
        self.moving.update(step.target for step in parts)
        return [step.target for step in parts]

    def _is_same(self, func: Any, args: Any, found: Any, sources: tuple[int, ...]) -> bool:
        """Whether the result is the first argument: a view of all of it, or what 1 multiplies or divides."""
        views = func.is_view or func in RESHAPES
        by_one = func in BY_NUMBERS and type(args[1]) in (int, float) and args[1] == 1
        return isinstance(found, Tensor) and (views or by_one) and _layout_of(found) == self.layouts.get(sources[0])

    def _new(self, constant: Any = None) -> int:
        self.registers.append(constant)
        return len(self.registers) - 1

    def _named(self, tensor: Tensor, place: int) -> int:
        self.places[id(tensor)] = place
        self.layouts.setdefault(place, _layout_of(tensor))
        self.alive.append(tensor)
        return place

    def _place(self, value: Any) -> int:
        """A tensor that no operation has given is a constant."""
        if not isinstance(value, Tensor):
            key = (type(value), repr(value))
            if key not in self.numbers:
                self.numbers[key] = self._new(value)
            return self.numbers[key]
        if id(value) not in self.places:
            self.shared.add(self._named(value, self._new(value)))
        return self.places[id(value)]

    def _stop(self) -> None:
        self.stopped = True
        self.alive.clear()
        self.registers.clear()


def _functional(func: Any) -> Any:
    """The operation that gives a new tensor in place of `func`, which changes its first argument; None without one."""
    packet = getattr(aten, func._schema.name.removeprefix("aten::").removesuffix("_"), None)
    found = getattr(packet, func._overloadname, None)
    return None if found is None or found._schema.is_mutable else found


def _keeps_dtype(func: Any, args: Sequence[Any]) -> bool:
    """Whether a new tensor has the dtype of the first argument, as one that is changed in place has."""
    if func is None:
        return False
    if func.overloadpacket in TRUTHS:
        return bool(args[0].dtype is torch.bool)
    return {each.dtype for each in _tensors(args) if each.is_floating_point()} == {args[0].dtype}


def _laid_out(tensor: Tensor, strides: tuple[int, ...]) -> Tensor:
    """A copy whose entries lie as those of the recorded argument did."""
    return torch.empty_strided(tensor.shape, strides, dtype=tensor.dtype, device=tensor.device).copy_(tensor)


def _called(func: Any, layout: Sequence[int | None], kwargs: Any) -> Callable[..., Any]:
    """The operation as a function of the entries of its arguments."""
    nested = layout.count(None) < len(layout)
    operation = partial(_nested, METHODS.get(func.overloadpacket, func), layout) if nested else _direct(func)
    return partial(operation, **kwargs) if kwargs else operation


def _direct(func: Any) -> Callable[..., Any]:
    """The same operation as a function of `torch` itself, if it has one: it is called in half the time."""
    found: Any = getattr(torch, func.overloadpacket.__name__, None)
    return METHODS.get(func.overloadpacket, found if isinstance(found, BuiltinFunctionType) else func)


def _nested(func: Callable[..., Any], layout: Sequence[int | None], *entries: Any, **kwargs: Any) -> Any:
    rest = iter(entries)
    return func(*(next(rest) if length is None else list(islice(rest, length)) for length in layout), **kwargs)


def _holds_tensors(argument: Any) -> bool:
    return isinstance(argument, list | tuple) and any(isinstance(each, Tensor) for each in argument)


def _layout(args: Sequence[Any]) -> tuple[int | None, ...]:
    """The length of each argument that is a list with tensors, None for each other one."""
    return tuple(len(each) if _holds_tensors(each) else None for each in args)


def _flat(args: Sequence[Any]) -> Iterator[Any]:
    """The arguments, of lists with tensors the entries."""
    for each in args:
        yield from each if _holds_tensors(each) else [each]


def _layout_of(tensor: Tensor) -> tuple[Any, ...]:
    place = tensor.shape, tensor.stride(), tensor.storage_offset()
    return *place, tensor.dtype, tensor.is_conj(), tensor.is_neg()


def _tensors(found: Any) -> list[Tensor]:
    if isinstance(found, Tensor):
        return [found]
    return [each for each in found if isinstance(each, Tensor)] if isinstance(found, Iterable) else []


def _needed(steps: Sequence[RecordedStep], results: Iterable[int]) -> list[RecordedStep]:
    """The steps that lead to these registers."""
    wanted, found = set(results), []
    for step in reversed(steps):
        if step.target in wanted:
            wanted.update(step.sources)
            found.append(step)
    return found[::-1]


def _registers_of(steps: Sequence[RecordedStep], results: Iterable[int]) -> dict[int, int]:
    """For each target the register that it takes: that of one which no later step reads, if there is one.

    What it held is then freed, so that a replay needs little memory at once, and the same memory again.
    """
    last_read = {source: place for place, step in enumerate(steps) for source in step.sources}
    last_read |= dict.fromkeys(results, len(steps))
    found: dict[int, int] = {}
    free: list[int] = []
    for place, step in enumerate(steps):
        free += [found[each] for each in set(step.sources) if each in found and last_read[each] == place]
        found[step.target] = free.pop() if free else step.target
    return found


def _reader(sources: tuple[int, ...]) -> Callable[[list[Any]], Sequence[Any]]:
    """What takes these registers, a sequence even of one."""
    return itemgetter(*sources) if len(sources) > 1 else itemgetter(slice(sources[0], sources[0] + 1))
