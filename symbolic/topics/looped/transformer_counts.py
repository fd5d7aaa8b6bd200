"""Layers and heads of the transformers of algoformer, counted beside the printed numbers."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import sympy as sp

from symbolic.statements.result import CONSTRUCTION, Kind, Printed, Quantifier, Quantity
from symbolic.words.citations import Citation

_count = partial(Quantity, norm="count", domain=CONSTRUCTION, kind=Kind.UPPER, quantifier=Quantifier.EXISTS, scopes=())


def of_all_parts(layers: Any, heads: Any, citation: Citation) -> tuple[Quantity, Quantity]:
    """Of pre-, looped and post-transformer together."""
    of_layers, of_heads = (Printed(sp.sympify(each), citation) for each in (layers, heads))
    meaning = "number of layers of pre-, looped and post-transformer together"
    return (
        _count("layers", r"\mathrm{layers}", meaning, printed=of_layers),
        _count("heads", r"\mathrm{heads}", "largest number of heads of a layer", printed=of_heads),
    )


def of_each_part(counts: Mapping[str, tuple[Any, Any]], citation: Callable[[str], Citation]) -> tuple[Quantity, ...]:
    """Layers and heads of each part, by its name; `citation` gives that of a part."""
    return tuple(
        _count(
            f"{what}.{part}",
            rf"\#\text{{{what}}}_{{\mathrm{{{part}}}}}",
            f"number of {what} of the {part}-transformer",
            printed=Printed(sp.sympify(printed), citation(part)),
        )
        for part, printed_here in counts.items()
        for what, printed in zip(("layers", "heads"), printed_here, strict=True)
    )
