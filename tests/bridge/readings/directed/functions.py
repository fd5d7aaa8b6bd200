"""Functions at the ends of their ranges, deviations that are known in two ways, remainders that are attained."""

from typing import Any

import sympy as sp
import torch

from bridge.readings import Emulated, Smooth
from symbolic.calculus import (
    Approximated,
    Norm,
    add,
    apply_function,
    apply_to_pairs,
    given,
    linear_map,
    perturbed_function,
)
from tests.bridge.readings.directed.case import Directed, tensor

e, eps = sp.symbols("e eps", positive=True)
ALL = dict.fromkeys(("radius", "two", "bound"), 1.0)


def start(dim: int = 2, norm: Norm = Norm.INF) -> Approximated:
    return given("x", dim=dim, norm=norm, size=9, error=e)


def applied(function: str = "f", after: Approximated | None = None) -> Approximated:
    return apply_function(after or start(), f"{function}(x)", eps=eps, lipschitz=9, size=99, function=function)


# --- the range -------------------------------------------------------------------------------------------------------


def within(name: str, exact: list[float], error: float, *, beyond: bool, again: bool = False) -> Directed:
    """z/2 + 1/4 in the place of z/2, on [-1, 1] alone: it is something else outside."""
    f = Smooth(
        lambda z: z / 2,
        lambda z: torch.where(abs(z) <= 1, z / 2 + 0.25, 99 + z),
        (lambda z: 0.5 + 0 * z,),
        {2: 0.0},
        0.25,
        0.0,
        radius=1.0,
    )
    value = applied("g", applied()) if again else add(applied(), given("y", dim=2, size=1), name="f(x) + y")
    operands = {"x": exact, "f": f, **({"g": f} if again else {"y": [0.0, 0.0]})}
    moves = tuple({"x": [c + sign * error for c in exact]} for sign in (1, -1))
    return Directed(
        f"a range, {name}",
        value,
        operands,
        moves,
        {e: error, eps: 0.25},
        {} if beyond or again else {"radius": 1.0},
        beyond=("f(x)",) if beyond else (),
    )


RANGES = [
    within("up to its end", [0.75, -0.75], 0.25, beyond=False),
    within("its end itself", [1.0, -1.0], 0.0, beyond=False),
    within("two functions", [0.5, 0.25], 0.25, beyond=False, again=True),
    within("above", [0.875, 0.0], 0.25, beyond=True),
    within("below", [0.0, -0.875], 0.25, beyond=True),
    within("below by itself", [0.0, -1.125], 0.0, beyond=True),
    within("by the change alone", [0.0, 0.0], 1.125, beyond=True),
    within("the first of two", [0.0, 1.5], 0.0, beyond=True, again=True),
]


# --- deviations ------------------------------------------------------------------------------------------------------


# f_hat - f = clip(tilt z, -1, 1), known to be at most 1 and of the slope `tilt`.
def clipped(exact: float, error: float, tilt: float, sign: float, *, given_apart: bool) -> Directed:
    deviation = lambda z: sign * (tilt * z).clamp(-1, 1) if isinstance(z, torch.Tensor) else sign * _clip(tilt * z)  # noqa: E731
    f = Smooth(lambda z: 0 * z, deviation, (lambda z: 0 * z,), {2: 0.0}, 1.0, tilt, deviation if given_apart else None)
    moves = tuple({"x": [exact + s * error] * 2} for s in (1, -1))
    return Directed(
        f"clip({tilt} z) at {exact} +- {error}, times {sign}, apart {given_apart}",
        applied(),
        {"x": [exact] * 2, "f": f},
        moves,
        {e: error, eps: 1},
        {"bound": 1.0, "radius": 1.0},
        local=(True,),
    )


def _clip(z: object) -> object:
    return (abs(z + 1) - abs(z - 1)) / 2  # type: ignore[operator, arg-type]


DEVIATIONS = [
    clipped(exact, error, tilt, sign, given_apart=apart)
    for exact, error, tilt in (
        (0.25, 0.5, 1.0),
        (0.25, 0.125, 2.0),
        (1.75, 0.5, 0.5),
        (-0.25, 0.125, 3.0),
        (0.75, 0.5, 1.0),
        (-1.75, 0.5, 0.5),
    )
    for sign in (1.0, -1.0)
    for apart in (False, True)
]


# --- expansions ------------------------------------------------------------------------------------------------------


# c_1 d + c_2 d^2/2 + c_3 d^3/6 around 0, read at other arguments beside it: what is known of it is attained.
def expanded(order: int, known: dict[int, float], orders: int, sign: float, error: float) -> Directed:
    c = {1: sign * 0.5, 2: sign * (7.0 if order == 2 else 3.0), 3: sign * (0.0 if order == 2 else 5.0)}
    derivatives = (lambda z: c[1] + c[2] * z + c[3] * z * z / 2, lambda z: c[2] + c[3] * z)
    f = Smooth(
        lambda z: c[1] * z + c[2] * z * z / 2 + c[3] * z * z * z / 6, derivatives=derivatives[:orders], suprema=known
    )
    value = apply_function(start(), "f(x)", eps=0, lipschitz=99, size=99, function="f")
    return Directed(
        f"expansion to order {order}, {sorted(known)} known, {orders} derivatives, times {sign}, by {error}",
        value,
        {"x": [0.0, 0.0], "f": f},
        tuple({"x": [s * error] * 2} for s in (1, -1)),
        {e: error},
        ALL,
    )


EXPANSIONS = [
    *(
        expanded(2, known, orders, sign, 2.0)
        for known in ({2: 7.0}, {2: 7.0, 3: 0.0})
        for orders in (1, 2)
        for sign in (1.0, -1.0)
    ),
    *(
        expanded(3, known, 2, sign, error)
        for known in ({3: 5.0}, {2: 99.0, 3: 5.0})
        for sign in (1.0, -1.0)
        for error in (2.0, 0.5)
    ),
]


# A slope that is the same everywhere takes the shape of the argument.
def constant_slope() -> Directed:
    half = lambda z: tensor(0.5) if isinstance(z, torch.Tensor) else 0.5  # noqa: E731 - a derivative
    f = Smooth(lambda z: z / 2, derivatives=(half,), suprema={2: 0.0})
    turned = linear_map(start(norm=Norm.TWO), "A x", operator_norm=1, dim=2, matrix="A")
    value = apply_function(turned, "f(x)", eps=0, lipschitz=1, size=99, function="f")
    operands = {"x": [[0.5, 0.0]] * 2, "f": f, "A": [[0.0, 1.0], [1.0, 0.0]]}
    return Directed(
        "a constant slope", value, operands, ({"x": [[0.5, 1.0], [1.5, 0.0]]},), {e: 1}, {"two": 1.0}, bits=(None,)
    )


# Without an expansion the Lipschitz constant of the rule counts.
def steep(norm: Norm) -> Directed:
    f = Smooth(lambda z: 9 * abs(z))
    value = apply_function(start(norm=norm), "f(x)", eps=0, lipschitz=9, size=99, function="f")
    return Directed(
        f"a kink, {norm}-norm",
        value,
        {"x": [0.5, 0.0], "f": f},
        ({"x": [1.5, 0.0]},),
        {e: 1},
        ALL if norm is Norm.TWO else {"radius": 1.0},
    )


# F(x) = x/2 + 1 and F_hat = F + 1/8, a function of vectors.
def of_vectors(largest: float, *, beyond: bool) -> Directed:
    function = Smooth(lambda v: v / 2 + 1, lambda v: v / 2 + 1.125, radius=2.0)
    norm = sp.sqrt(2) / 2
    value = perturbed_function(start(), "F(x)", lipschitz=norm, eps=sp.sqrt(2) / 8, size=99, target=2, function="F")
    return Directed(
        f"a function of vectors at {largest}",
        value,
        {"x": [largest, largest], "F": function},
        ({"x": [largest + 0.5] * 2},),
        {e: 0.5},
        {} if beyond else {"bound": 1.0},
        beyond=("F(x)",) if beyond else (),
    )


# |x - y| of a query and keys in the box [-2, 2], off by 1/8; what is beyond the box is clipped.
def of_pairs(near: float | None) -> Directed:
    """Of keys that are moved within 1/2; or (`near`) of a query that the network has elsewhere."""

    def exact(query: Any, keys: Any) -> Any:
        return abs(torch.clamp(query, -2, 2) - torch.clamp(keys[..., 0], -2, 2))

    query, keys = (given(name, dim=1, size=2, error=e) for name in ("q", "k"))
    value = apply_to_pairs(query, keys, "s", count=2, slopes=(1, 1), size=4, eps=0.125, radius=2, function="f")
    known: dict[str, Any] = {"f": Smooth(exact, lambda q, k: exact(q, k) + 0.125), "k": [[1.0], [2.0]]}
    if near is not None:
        known |= {"q": Emulated([0.5], [near]), "k": Emulated([[1.0], [2.0]], [[1.0], [2.5]])}
        moved = [abs(each - min(near, 2.0)) + 0.125 for each in (1.0, 2.0)]
        return Directed(f"a function of pairs, a query at {near}", value, known, letters={e: 2}, emulated=(moved,))
    known["q"] = Emulated([0.5], [0.25])
    moves = tuple({"k": [[1.0 + s], [2.0 + s]]} for s in (0.5, -0.5))
    return Directed("a function of pairs, keys within 1/2", value, known, moves, {e: 0.5}, {"bound": 1.0})


CASES = [
    *RANGES,
    *DEVIATIONS,
    *EXPANSIONS,
    constant_slope(),
    *(steep(norm) for norm in Norm),
    of_vectors(1.0, beyond=False),
    of_vectors(1.75, beyond=True),
    *(of_pairs(near) for near in (None, 0.75, 2.5)),
]
