"""Products that attain each way to bound them, thresholds at their jumps, iterations of several steps, layers."""

import sympy as sp

from bridge.readings import Emulated
from symbolic.calculus import (
    Approximated,
    Norm,
    add,
    append,
    bilinear,
    change_norm,
    contract,
    given,
    linear_map,
    mean,
    perturbed_map,
    repeat,
    rms_normalise,
    rotate,
    soft_threshold,
)
from tests.bridge.readings.directed.case import Directed, full, tensor

e, f = sp.symbols("e f", positive=True)
ALL = dict.fromkeys(("radius", "one", "two", "bound"), 1.0)
HALF = sp.Rational(1, 2)


def pair(norm: Norm, dim: int, other: Norm | None = None) -> tuple[Approximated, Approximated]:
    x = given("x", dim=dim, norm=norm, size=99, error=e)
    return x, given("y", dim=dim, norm=other or norm, size=99, error=f)


# --- products --------------------------------------------------------------------------------------------------------


# (3 + 2)(5 + 4) - 15 = 30, which each of the ways to bound a product attains where there is one coordinate.
def of_numbers(kind: str, norm: Norm, sign: float) -> Directed:
    product = bilinear(*pair(norm, 1), "x y", norm=norm, product=kind)
    return Directed(
        f"{kind} of numbers, {norm}-norm, {sign:+g}",
        product,
        {"x": [[3.0]], "y": [[sign * 5.0]]},
        ({"x": [[5.0]], "y": [[sign * 9.0]]},),
        {e: 2, f: 4},
        ALL,
    )


# Inner products of vectors: errors along the vectors in the 2-norm, in one coordinate in the 1-norm with the sup norm,
# and of all coordinates alike in the sup norm, where the product is bounded entry by entry.
def inner(
    norm: Norm,
    other: Norm,
    x: list[float],
    a: list[float],
    y: list[float],
    b: list[float],
    sizes: tuple[float, float],
    sign: float,
) -> Directed:
    product = bilinear(*pair(norm, len(x), other), "x.y", dim=1, product="inner")
    xs, a_s, ys, bs = (tensor(each) for each in (x, a, y, b))
    moves = ({"x": xs + a_s, "y": sign * (ys + bs)},)
    return Directed(
        f"inner product, {norm} with {other}, {x} +- {a} and {y} +- {b}, {sign:+g}",
        product,
        {"x": xs, "y": sign * ys},
        moves,
        dict(zip((e, f), sizes, strict=True)),
        {"radius": 1.0, "bound": 1.0},
    )


INNER = [
    inner(*each, sign)
    for sign in (1.0, -1.0)
    for each in (
        (Norm.TWO, Norm.TWO, [5.0, 0.0], [1.0, 0.0], [5.0, 0.0], [2.0, 0.0], (1, 2)),
        (Norm.TWO, Norm.TWO, [5.0, 0.0], [3.0, 0.0], [5.0, 0.0], [0.5, 0.0], (3, 0.5)),
        (Norm.ONE, Norm.ONE, [3.0, 3.0], [0.5, 0.0], [2.0, 2.0], [0.25, 0.0], (0.5, 0.25)),
        (Norm.ONE, Norm.INF, [3.0, 3.0], [0.5, 0.0], [2.0, 2.0], [0.25, 0.25], (0.5, 0.25)),
        (Norm.ONE, Norm.INF, [3.0, 3.0], [2.0, 0.0], [2.0, 2.0], [3.0, 3.0], (2, 3)),
        (Norm.INF, Norm.ONE, [2.0, 2.0], [0.25, 0.25], [3.0, 3.0], [0.5, 0.0], (0.25, 0.5)),
        (Norm.INF, Norm.ONE, [2.0, 2.0], [3.0, 3.0], [3.0, 3.0], [2.0, 0.0], (3, 2)),
        (Norm.INF, Norm.INF, [1.0, 2.0], [0.5, 0.5], [3.0, 4.0], [2.0, 2.0], (0.5, 2)),
        (Norm.INF, Norm.INF, [1.0, 2.0], [3.0, 3.0], [3.0, 4.0], [0.25, 0.25], (3, 0.25)),
    )
]


# Entry by entry: x in one coordinate with y in the same, all coordinates alike, and one that is much smaller.
def entrywise(
    norm: Norm, x: list[float], a: list[float], y: list[float], b: list[float], sizes: tuple[float, float], *parts: str
) -> list[Directed]:
    product = bilinear(*pair(norm, len(x), Norm.INF if norm is not Norm.INF else None), "x y", product="entrywise")
    turned = bilinear(*pair(Norm.INF, len(x), norm)[::-1], "x y", product="entrywise")
    xs, a_s, ys, bs = (tensor(each) for each in (x, a, y, b))
    numbers, back = dict(zip((e, f), sizes, strict=True)), dict(zip((f, e), sizes, strict=True))
    attained = dict.fromkeys(parts, 1.0)
    return [
        Directed(
            f"entry-wise, {norm}, {x} +- {a} and {y} +- {b}",
            product,
            {"x": xs, "y": ys},
            ({"x": xs + a_s, "y": ys + bs},),
            numbers,
            attained,
        ),
        Directed(
            f"entry-wise, turned, {norm}, {x} +- {a} and {y} +- {b}",
            turned,
            {"y": xs, "x": ys},
            ({"y": xs + a_s, "x": ys + bs},),
            back,
            attained,
        ),
    ]


ENTRYWISE = [
    *entrywise(Norm.TWO, [3.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.5, 0.5], (2, 0.5), "radius"),
    *entrywise(Norm.TWO, [3.0, 4.0], [0.6, 0.8], [2.0, 2.0], [0.5, 0.5], (1, 0.5)),
    *entrywise(Norm.INF, [3.0, 3.0], [0.5, 0.5], [2.0, 2.0], [0.25, 0.25], (0.5, 0.25), "radius", "two", "bound"),
    *entrywise(Norm.INF, [3.0, 3.0], [3.0, 3.0], [2.0, 2.0], [4.0, 4.0], (3, 4), "radius", "two", "bound"),
    *entrywise(Norm.ONE, [3.0, 0.0], [0.5, 0.0], [2.0, 2.0], [0.25, 0.25], (0.5, 0.25), "radius"),
]


# Errors that are known by their 2-norm beside those that are known in each coordinate.
def by_norms(sign: float) -> Directed:
    x, y = given("x", dim=2, norm=Norm.INF, size=9, error=e), given("y", dim=2, norm=Norm.TWO, size=9, error=f)
    product = bilinear(x, change_norm(y, Norm.INF, "y'"), "x y", product="entrywise")
    operands = {"x": [3.0, 3.0], "y": [0.0, 0.0]}
    return Directed(
        f"entry-wise by norms, {sign:+g}",
        product,
        operands,
        ({"x": [3.5, 3.5], "y": [sign, 0.0]},),
        {e: 0.5, f: 1},
        {"two": 1.0},
    )


# A number that multiplies a vector counts in each coordinate, with tokens and without; known or not.
def number_times_vector(tokens: int, norm: Norm, *, known: bool) -> Directed:
    shape = (tokens,) if tokens else ()
    x, y = given("x", dim=4, norm=norm, size=9, error=e), given("y", dim=1, norm=Norm.INF, size=1, error=f)
    product = bilinear(x, y, "x y", norm=norm, product="entrywise")
    ones, one = (
        full(
            (
                *shape,
                4,
            ),
            1.0,
        ),
        full(
            (
                *shape,
                1,
            ),
            1.0,
        ),
    )
    operands = {"x": ones, "y": Emulated(one, 1.25 * one) if known else one}
    moved = {"x": 1.5 * ones} | ({} if known else {"y": 1.25 * one})
    attained = {"radius": 1.0, "two": 1.0, "bound": 1.0} if norm is Norm.INF else {}
    return Directed(
        f"a number times a vector, {tokens} tokens, {norm}-norm, known {known}",
        product,
        operands,
        (moved,),
        {e: 0.5 if norm is Norm.INF else 1, f: 0.25},
        attained,
        emulated=(1.875 * ones,),
    )


# A pair on one side, which is its centre, and an error on the other.
def outer(first: float, second: float, sign: float) -> Directed:
    x, y = (given(name, dim=2, norm=Norm.TWO, size=9, error=error) for name, error in (("x", e), ("y", f)))
    c, d = (given(name, dim=2, norm=Norm.TWO, size=9, error=9) for name in "cd")
    product = bilinear(
        add(x, c, name="x + c"), add(y, d, name="y + d"), "mean", dim=4, norm=Norm.TWO, product="mean of outer products"
    )
    vector, zero = (
        tensor([[1.0, 0.0]]),
        full(
            (
                1,
                2,
            ),
            0.0,
        ),
    )
    operands = {"x": vector, "y": sign * vector, "c": Emulated(zero, 2 * vector), "d": Emulated(zero, sign * vector)}
    moves = ({"x": (1 + first) * vector, "y": sign * (1 + second) * vector},)
    return Directed(
        f"mean of outer products, {first}, {second}, {sign:+g}",
        product,
        operands,
        moves,
        {e: first, f: second},
        {"two": 1.0},
    )


# Two tokens at one place or at opposite ones, and weights that err at one of them: 2 and -1 with the errors a and b.
def weighted(norm: Norm, a: float, b: float, other: float, sign: float) -> Directed:
    x, y = given("x", dim=2, norm=Norm.ONE, size=9, error=e), given("y", dim=2, norm=norm, size=9, error=f)
    product = bilinear(x, y, "sums", norm=norm, dim=2, product="weighted sums of tokens")
    weights, tokens = tensor([2.0, -1.0]), tensor([[sign * 3.0, 0.0], [-sign * other, 0.0]])
    move = tensor([[sign, 0.0], [-sign, 0.0]])
    return Directed(
        f"weighted sums, {norm}, {a} and {b}, {other}, {sign:+g}",
        product,
        {"x": weights, "y": tokens},
        ({"x": weights + tensor([a, 0.0]), "y": tokens + b * move},),
        {e: a, f: b},
        {"radius": 1.0, "bound": 1.0}
        | ({} if norm is Norm.INF else {"two": 1.0})
        | ({"one": 1.0} if norm is Norm.ONE else {}),
    )


# Both factors are elsewhere in the network, where 5/2 (7/2, 0) - (1, 1) takes the place of 2 (3, 0) - (1, 0).
def weighted_at_hand() -> Directed:
    x, y = (given(name, dim=2, norm=norm, size=9, error=e) for name, norm in (("x", Norm.ONE), ("y", Norm.INF)))
    product = bilinear(x, y, "sums", norm=Norm.INF, dim=2, product="weighted sums of tokens")
    known = {
        "x": Emulated([2.0, -1.0], [2.5, -1.0]),
        "y": Emulated([[3.0, 0.0], [1.0, 0.0]], [[3.5, 0.0], [1.0, 1.0]]),
    }
    return Directed("weighted sums, both at hand", product, known, letters={e: 2}, emulated=([7.75, -1.0],))


# All weights err by a, and of the tokens the first one alone, by b: each counts with what stands beside it.
def weighted_apart(norm: Norm, a: float, b: float, sign: float) -> Directed:
    x = change_norm(given("x", dim=2, norm=Norm.INF, size=9, error=e), Norm.ONE, "x in the 1-norm")
    y, z = (given(name, dim=2, norm=norm, size=9, error=error) for name, error in (("y", f), ("z", 0)))
    product = bilinear(x, append(y, z, "tokens"), "sums", norm=norm, dim=2, product="weighted sums of tokens")
    weights, first, last = tensor([2.0, -1.0]), tensor([sign * 3.0, 0.0]), tensor([-sign, 0.0])
    near = weights + tensor([a, -a])
    return Directed(
        f"weighted sums, each with its own, {norm}, {a} and {b}, {sign:+g}",
        product,
        {"x": weights, "y": first, "z": last},
        ({"x": near, "y": first + tensor([sign * b, 0.0])},),
        {e: a, f: b},
        {"radius": 1.0} | ({} if norm is Norm.INF else {"two": 1.0}) | ({"one": 1.0} if norm is Norm.ONE else {}),
    )


# --- thresholds ------------------------------------------------------------------------------------------------------


# S_t of t < 0 jumps at 0 from t to -t: up to its edge it counts, also where rounding hides on which side x is.
def threshold(at: float, error: float, near: float, *moved: float) -> Directed:
    x = given("x", dim=2, norm=Norm.TWO, size=9, error=e)
    shrunk = soft_threshold(x, "s", threshold_error=2, threshold="t")
    operands = {"x": [at, 0.5], "t": Emulated(full((2,), 0.0), full((2,), near))}
    moves = tuple({"x": [each, 0.5]} for each in moved)
    return Directed(f"a threshold of {near} at {at} +- {error}", shrunk, operands, moves, {e: error})


# The argument is a difference that rounding takes across 0 in floats, or to 0.
def rounded(scale: float, low: float) -> Directed:
    x, y = (given(name, dim=2, norm=Norm.TWO, size=9 * scale, error=9 * scale) for name in "xy")
    shrunk = soft_threshold(add(x, y, name="x + y"), "s", threshold_error=scale, threshold="t")
    exact = scale * tensor([0.1, 0.3])
    near = scale * tensor([0.3, 0.1])
    other = tensor([-0.3, -0.1]) * scale * (1 + low)
    zero = full((2,), 0.0)
    operands = {"x": Emulated(exact, near), "y": Emulated(-exact, other), "t": Emulated(zero, zero - scale)}
    return Directed(f"a threshold at 0 but for rounding, {scale:g}, {low:g}", shrunk, operands)


THRESHOLDS = [
    threshold(0.125, 0.25, -2.0, -0.125, 0.375, 0.0),
    threshold(-0.125, 0.25, -2.0, 0.125, -0.375, 0.0),
    threshold(0.25, 0.25, -2.0, 0.0, 0.5),
    threshold(-0.25, 0.25, -2.0, 0.0, -0.5),
    threshold(0.5, 0.25, -2.0, 0.25, 0.75),
    threshold(0.5, 0.25, 0.25, 0.25, 0.75),
    threshold(0.0, 0.0, -1.0, 0.0),
    *(rounded(scale, low) for scale in (1.0, 2.0**40) for low in (0.0, 2.0**-50, -(2.0**-50))),
]


# --- steps -----------------------------------------------------------------------------------------------------------


# e_3 = q^3 e_0: an exact value that stays, an error that shrinks or changes its sign.
def iterated(q: float, depth: int) -> Directed:
    after = contract(
        given("w", dim=2, norm=Norm.TWO, size=1, error=e),
        "after",
        factor=HALF,
        offset=0,
        size=1,
        depth=depth,
        matrix="q",
    )
    return Directed(
        f"a contraction by {q}, {depth} steps",
        after,
        {"w": [0.5, 0.0], "q": q},
        ({"w": [1.5, 0.0]},),
        {e: 1},
        {"two": 1.0, "bound": 1.0},
        emulated=([0.5 + q**depth, 0.0],),
    )


# Two layers z -> A (z / 2), in the second of which A is another one.
def layered(tokens: int) -> Directed:
    def layer(z: Approximated) -> Approximated:
        half = linear_map(z, "half", operator_norm=HALF, dim=2, matrix="c")
        return linear_map(half, "turned", operator_norm=1, dim=2, matrix="A")

    shape = (tokens, 2) if tokens else (2,)
    x = given("x", dim=2, norm=Norm.TWO, size=2, error=e)
    turns = (tensor([[0.0, 1.0], [1.0, 0.0]]), tensor([[0.0, -1.0], [1.0, 0.0]]))
    exact = full(shape, 1.0)
    near = exact + tensor([1.0, 0.0])
    found = near / 4 @ (turns[1] @ turns[0]).mT.double()
    return Directed(
        f"two layers, {tokens} tokens",
        repeat(x, "deep", layer, 2),
        {"x": exact, "c": 0.5, "A": turns},
        ({"x": near},),
        {e: 1},
        {"two": 1.0, "bound": 1.0},
        emulated=(found,),
    )


# A matrix alone is within its perturbation; the norm of the moved argument counts.
def perturbed(norm: Norm, *, of_exact: bool) -> Directed:
    x = given("x", dim=1, norm=norm, size=9, error=0 if of_exact else e)
    product = perturbed_map(x, "A x", operator_norm=2, perturbation=HALF, dim=1, matrix="A")
    moves = tuple({"x": [2 + sign * 0.5], "A": [[2 + sign * 0.5]]} for sign in (1.0, -1.0))
    if of_exact:
        moves = tuple({"A": move["A"]} for move in moves)
    name = f"a perturbed matrix, {norm}-norm" + ", an exact argument" * of_exact
    return Directed(name, product, {"x": [2.0], "A": [[2.0]]}, moves, {e: 0.5}, ALL)


def averaged(tokens: int) -> Directed:
    shape = (tokens, 2) if tokens else (2,)
    exact = full(shape, 1.0)
    x = given("x", dim=2, norm=Norm.TWO, size=2, error=e)
    moved = exact + tensor([1.0, 0.0])
    return Directed(
        f"a mean of {tokens} tokens",
        mean(x, "m"),
        {"x": exact},
        ({"x": moved},),
        {e: 1},
        {"two": 1.0, "bound": 1.0},
        emulated=([2.0, 1.0],),
    )


# Both of one length, turned, the longer of two errors: towards 0, where the direction alone is left, at most 2 sqrt(d).
def normalised(
    name: str, shift: object, exact: list[float], error: float, *moved: list[float], **most: float
) -> Directed:
    x = given("x", dim=2, norm=Norm.TWO, size=9, error=e)
    value = rms_normalise(x, "g", shift=shift, least=0 if shift else sp.Rational(1, 8), exact_least=c)
    return Directed(
        f"a root mean square, {name}", value, {"x": exact}, tuple({"x": each} for each in moved), {e: error}, most
    )


# The letter of the least exact length has no value: the enclosures do not need it.
c = sp.Symbol("c", positive=True)
NORMALISED = [
    normalised("a small error", 0, [1.0, 0.0], 1e-5, [1.0, 1e-5], [1.0, -1e-5], two=1 + 1e-4, bound=1 + 1e-4),
    normalised("an error as far as 0", 0, [1.0, 0.0], 1.0, [1e-9, 0.0], [0.5, -0.5]),
    normalised("an error across 0", 0, [1.0, 0.0], 2.0, [-1.0, 0.0], [1e-9, 0.0], two=1.0, bound=1.0),
    normalised("an exact 0, shifted", 0.5, [0.0, 0.0], 1e-5, [1e-5, 0.0], [0.0, -1e-5], two=1 + 1e-4, bound=1 + 1e-4),
    normalised("shifted", 0.5, [1.0, -1.0], 0.25, [1.25, -1.0], [0.75, -1.0], [1.0, -0.75]),
]


# Layer norm: an error along (1, ..., 1) is lost; across it, it counts as after a root mean square.
def layer_normalised(name: str, *moved: list[float], two: float) -> Directed:
    x = given("x", dim=3, norm=Norm.TWO, size=9, error=e)
    value = rms_normalise(x, "g", shift=HALF, centred=True)
    return Directed(
        f"a layer norm, {name}",
        value,
        {"x": [1.0, -1.0, 0.0]},
        tuple({"x": each} for each in moved),
        {e: 1e-5},
        {"two": two},
    )


LAYER_NORMS = [layer_normalised("turned", [1.0 + 4e-6, -1.0 + 4e-6, -8e-6], two=1.03)]


# A square of errors turned by less than pi/4: each entry moves by |cos| + |sin|, and no less.
def turned_square() -> Directed:
    x = given("x", dim=2, size=9, error=e)
    corners = tuple({"x": [1.0 + a, -1.0 + b]} for a in (-0.125, 0.125) for b in (-0.125, 0.125))
    value = rotate(x, "y", angles="t")
    return Directed("a rotation", value, {"x": [1.0, -1.0], "t": [0.3]}, corners, {e: 0.125}, {"radius": 1 + 1e-9})


# A pair is known: the enclosure gives the error itself, and its centre where an error is added.
def normalised_pair(*, moved: bool) -> Directed:
    pair = given("y", dim=2, norm=Norm.TWO, size=9, error=1)
    x = given("x", dim=2, norm=Norm.TWO, size=9, error=e)
    value = rms_normalise(add(pair, x, name="s") if moved else pair, "g", shift=HALF)
    operands = {"y": Emulated([1.0, 0.0], [1.0, 1.0]), **({"x": [0.0, 0.0]} if moved else {})}
    moves = ({"x": [1e-5, 0.0]}, {"x": [0.0, -1e-5]}, {"x": [-1e-5, 1e-5]}) if moved else ({},)
    return Directed(
        "a root mean square of a pair" + ", moved" * moved, value, operands, moves, {e: 2e-5} if moved else {}
    )


# An error across the argument, coordinate by coordinate, leaves all of its length.
def normalised_across() -> Directed:
    x, y = (given(name, dim=2, norm=Norm.TWO, size=9, error=error) for name, error in (("x", e), ("y", 0)))
    across = linear_map(x, "A x", operator_norm=1, dim=2, matrix="A")
    value = rms_normalise(add(y, across, name="s"), "g", least=sp.Rational(1, 8), exact_least=c)
    operands = {"x": [0.0, 0.0], "y": [-1.0, 0.0], "A": [[0.0, 0.0], [0.0, 1.0]]}
    moves = ({"x": [0.0, 0.5]}, {"x": [0.0, -0.5]})
    return Directed("a root mean square, an error across", value, operands, moves, {e: 0.5}, {"two": 1.1})


CASES = [
    *NORMALISED,
    *LAYER_NORMS,
    turned_square(),
    normalised_across(),
    *(normalised_pair(moved=moved) for moved in (False, True)),
    *(
        of_numbers(kind, norm, sign)
        for kind in ("entrywise", "inner", "mean of outer products", "weighted sums of tokens")
        for norm in Norm
        for sign in (1.0, -1.0)
    ),
    *INNER,
    *ENTRYWISE,
    *(
        number_times_vector(tokens, norm, known=known)
        for tokens in (0, 2)
        for norm in (Norm.INF, Norm.TWO)
        for known in (False, True)
    ),
    *(outer(first, second, sign) for first, second in ((0.5, 0.25), (0.25, 2.0)) for sign in (1.0, -1.0)),
    *(by_norms(sign) for sign in (1.0, -1.0)),
    weighted_at_hand(),
    *(
        weighted(norm, a, b, other, sign)
        for norm in Norm
        for a, b in ((0.5, 0.25), (0.5, 0.0), (0.0, 0.25), (2.0, 4.0))
        for other in (3.0, 0.0)
        for sign in (1.0, -1.0)
    ),
    *(
        weighted_apart(norm, a, b, sign)
        for norm in Norm
        for a, b in ((0.5, 0.25), (0.5, 0.0), (0.0, 0.25))
        for sign in (1.0, -1.0)
    ),
    *THRESHOLDS,
    *(iterated(q, depth) for q in (0.5, -0.5) for depth in (2, 3)),
    *(layered(tokens) for tokens in (0, 3)),
    *(perturbed(norm, of_exact=of_exact) for norm in Norm for of_exact in (False, True)),
    *(averaged(tokens) for tokens in (0, 3)),
]
