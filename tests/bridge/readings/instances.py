"""A random program at one of its points, or at all of them: its handles bound to tensors or to arrays of balls."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import torch

from bridge.readings import Emulated, Operands, Smooth
from numeric.balls import BallArray
from symbolic.derivations.derivation import Derivation
from tests.symbolic.fuzzing.functions import Function
from tests.symbolic.fuzzing.program import Program
from tests.symbolic.fuzzing.record import Pair

Take = Callable[[str, np.ndarray], Any]


def derivation_of(program: Program) -> Derivation:
    """All steps of the program, each once."""
    steps = (step for each in program.checked for step in each.result.value.derivation.steps)
    return Derivation(tuple({step.name: step for step in steps}.values()))


def bound(program: Program, take: Take, hidden: frozenset[str] = frozenset()) -> dict[str, Any]:
    """The handles; `take` makes an operand of an array (P, ...) of that key. Of `hidden` ones only the exact side."""

    def operand(key: str, found: Any) -> Any:
        if isinstance(found, Function):
            return smooth(found)
        if not isinstance(found, Pair):
            return take(key, found)
        exact = take(f"{key} exact", found.exact)
        return exact if key in hidden else Emulated(exact, take(f"{key} near", found.near))

    members = {name: [operand(f"{name}|{k}", each) for k, each in enumerate(s)] for name, s in program.operands.items()}
    return {name: each[0] if len(each) == 1 else tuple(each) for name, each in members.items() if each}


def arrays_of(program: Program) -> dict[str, torch.Tensor]:
    """All arrays (P, ...) by the keys under which `bound` asks for them."""
    found: dict[str, torch.Tensor] = {}

    def note(key: str, array: np.ndarray) -> torch.Tensor:
        found[key] = torch.tensor(array)
        return found[key]

    bound(program, note)
    return found


def on_tensors(program: Program, arrays: Mapping[str, torch.Tensor], hidden: frozenset[str]) -> Operands:
    """At one point, whose arrays these are."""
    return Operands(bound(program, lambda key, _: arrays[key], hidden), program.at)


def on_balls(program: Program, point: int, bits: int, hidden: frozenset[str]) -> Operands:
    return Operands(bound(program, lambda _, array: BallArray.exactly(array[point], bits), hidden), program.at, bits)


def givens(program: Program) -> Iterator[str]:
    """The keys of givens and thresholds, which have two sides."""
    for name, members in program.operands.items():
        yield from (f"{name}|{place}" for place, each in enumerate(members) if isinstance(each, Pair))


def smooth(function: Function) -> Smooth:
    """The function as an operand, with what is known of it."""
    approximated = function.identity or bool(function.eps)
    known = {order: function.form.suprema(function.reach)[order] for order in function.supremum}
    return Smooth(
        exact=lambda z, *signs: function.exact(torch, z),
        approximate=(lambda z, *signs: function.emulated(torch, z, *(signs or (0,)))) if approximated else None,
        derivatives=tuple(_derivative(function, order) for order in range(1, function.derivatives + 1)),
        suprema={order: float(np.nextafter(function.scale * sup, np.inf)) for order, sup in known.items()},
        error=function.eps if function.sup and function.eps else None,
        slope_error=function.tilt if function.local and function.eps else None,
        deviation=(lambda z, signs: function.deviation(z, signs)) if function.difference and function.eps else None,
    )


def _derivative(function: Function, order: int) -> Callable[..., Any]:
    return lambda z, *signs: function.derivative(order, torch, z)
