"""A transformer as the network of a theorem: its weights by formula, its prompt as tokens, what is read off it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

Function = Callable[..., Any]


@dataclass(frozen=True)
class Transformer:
    """A construction for each network, and how a prompt enters it and an answer leaves it.

    `build` takes parameters and weights by name and returns a `Construction`. Its exact run gets them as balls, so that
    a weight such as eta/n is the real number and not its rounding. `tokens` takes inputs and parameters and returns the
    tokens (L, width) of one prompt; without it they are the only input. `read` maps a quantity to a function of the
    construction's taps by name (`output` among them) and of parameters; a quantity that it leaves out is the tap of its
    own name. `shared`: it is run block by block, with what all tokens share computed once, and so are weights as long
    as nothing changes that they are made of.
    """

    build: Function
    tokens: Function | None = None
    read: Mapping[str, Function] = field(default_factory=dict)
    shared: bool = False

    def functions(self) -> Iterable[tuple[str, Function]]:
        yield "the transformer", self.build
        if self.tokens is not None:
            yield "the tokens of the transformer", self.tokens
