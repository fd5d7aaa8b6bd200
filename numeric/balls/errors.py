"""Operations that balls refuse, and what to write instead."""

import difflib
from collections.abc import Iterable

ROUNDS = "A coarser format rounds, which balls do not: state the rounding as a perturbation of its own."

# What to write in place of an operation that has no meaning for balls. Keys are names of torch.
_REMEDIES = {
    **dict.fromkeys(
        ("argmax", "argmin", "argsort", "sort", "topk", "kthvalue", "median", "mode", "searchsorted", "unique"),
        "Which entry is the largest may be undecided: use torch.amax, torch.amin or torch.where.",
    ),
    **dict.fromkeys(
        ("item", "tolist", "numpy", "__float__", "__complex__"),
        "A ball is not a float: keep it an array (torch.sqrt for math.sqrt), or read midpoint() and radius() outside.",
    ),
    **dict.fromkeys(
        ("__int__", "__index__"), "A ball is not an integer: for a quotient of whole numbers write n // 2."
    ),
    **dict.fromkeys(
        ("floor", "ceil", "round", "trunc", "fmod", "remainder", "__floordiv__", "floor_divide", "heaviside"),
        "The function jumps: use torch.where on a comparison.",
    ),
    **dict.fromkeys(
        ("long", "int", "short", "bool"), "Balls stand for real numbers: create integer tensors from Python integers."
    ),
    **dict.fromkeys(
        ("__setitem__", "index_put_", "copy_", "fill_", "scatter", "scatter_", "scatter_add", "index_add"),
        "Balls never change in place: build the result with torch.stack, torch.cat or torch.where.",
    ),
    **dict.fromkeys(("half", "bfloat16", "float"), ROUNDS),
    **dict.fromkeys(
        ("rand", "randn", "rand_like", "randn_like", "normal", "bernoulli", "dropout", "uniform_", "normal_"),
        "Draw random numbers outside the function and pass them as an argument.",
    ),
    **dict.fromkeys(("empty", "empty_like", "new_empty"), "Its entries are undefined: use torch.zeros."),
    **dict.fromkeys(("backward", "grad", "requires_grad_"), "Differentiate the run on tensors, not the run on balls."),
    **dict.fromkeys(
        ("linalg_eigh", "linalg_eig", "linalg_eigvals", "linalg_eigvalsh", "linalg_svd", "linalg_svdvals", "svd"),
        "Use torch.linalg.norm with ord 1, inf or 'fro', or numeric.networks.norms.spectral_norm for a fixed matrix.",
    ),
    **dict.fromkeys(("allclose", "isclose", "equal"), "Compare the results outside, by overlaps() and contains()."),
    "scaled_dot_product_attention": "Write torch.softmax(Q @ K.mT / torch.sqrt(torch.tensor(d)), -1) @ V.",
    "layer_norm": "Write (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, correction=0, keepdim=True) + eps).",
    **dict.fromkeys(("linalg_cholesky", "linalg_qr", "linalg_lstsq", "linalg_pinv"), "Use torch.linalg.solve."),
}

_SOME = "+ - * / ** @, torch.exp, tanh, relu, clamp, where, softmax, sum, mean, amax, cat, einsum, linalg.solve"


class BallsError(ValueError):
    """An operation or argument that arrays of balls do not accept: the call, what is wrong, what to write."""

    def __init__(self, call: str, got: str, remedy: str) -> None:
        super().__init__(f"{call}: {got}. {remedy}")


class ShapesDiffer(BallsError):  # noqa: N818  (the name states the fault)
    """Arrays whose shapes do not fit together."""

    def __init__(self, *shapes: tuple[int, ...]) -> None:
        super().__init__(
            "BallArray", f"shapes {' and '.join(map(str, shapes))} differ", "Index or reshape one of them."
        )


class UnavailableAttribute(BallsError, AttributeError):  # noqa: N818  (the name states the fault)
    """Such an attribute of tensors; an AttributeError too, so that `hasattr` answers False."""


def spelling(name: str) -> str:
    """How a user writes the operation: torch.linalg.norm for linalg_norm."""
    for module in ("linalg", "special"):
        if name.startswith(f"{module}_"):
            return f"torch.{module}.{name.removeprefix(f'{module}_')}"
    return f"Tensor.{name}" if name.startswith("__") or name.endswith("_") else f"torch.{name}"


def remedy_for(name: str, known: Iterable[str]) -> str:
    """What to write in place of the operation, among the known names."""
    if name in _REMEDIES:
        return _REMEDIES[name]
    in_place = name.removesuffix("_")
    names = sorted(each for each in known if not each.startswith(("_", "Tensor.")))
    if name.endswith("_") and not name.startswith("__") and in_place in names:
        return f"Balls never change in place: use {spelling(in_place)}."
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.7)
    if close:
        return f"Available: {', '.join(spelling(each) for each in close)}."
    return f"Write it with the {len(names)} operations available on balls, among them {_SOME}."


def unavailable(name: str, known: Iterable[str]) -> BallsError:
    return BallsError(spelling(name), "not available on balls", remedy_for(name, known))


def undecided(call: str, bits: int) -> BallsError:
    return BallsError(
        call,
        f"the comparison cannot be decided at {bits} bits",
        "Write torch.where or torch.clamp in place of a branch, or raise the precision.",
    )
