"""A transformer as the network of a theorem: its weights by formula, its prompt as tokens, what is read off it."""

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from numeric.networks.stream import Stream
from symbolic.words.shown import brief

Function = Callable[..., Any]


@dataclass(frozen=True)
class Transformer:
    """A construction for each network, and how a prompt enters it and an answer leaves it.

    `build` takes parameters and weights by name and returns a `Construction`. Its exact run gets them as balls, so that
    a weight such as eta/n is the real number and not its rounding. `tokens` takes inputs and parameters and returns the
    tokens (L, width) of one prompt, or a list of parts by blocks of the construction's stream, as `Stream.tokens` takes
    them; without it they are the only input. `read` maps a quantity to a function of the construction's taps by name
    (`output` among them) and of parameters, or is one for all of them; a quantity that it leaves out is the tap of its
    own name. `shared`: it is run block by block, with what all tokens share computed once, and so are weights as long
    as nothing changes that they are made of.
    """

    build: Function
    tokens: Function | None = None
    read: Mapping[str, Function] | Function = field(default_factory=dict)
    shared: bool = False

    __repr__ = brief

    def reading(self, name: str) -> Function | None:
        """What reads a quantity off the taps; None where that is the tap of its name."""
        return self.read if callable(self.read) else self.read.get(name)

    def functions(self) -> Iterable[tuple[str, Function]]:
        yield "the transformer", self.build
        if self.tokens is not None:
            yield "the tokens of the transformer", self.tokens


class LaidOut:
    """The tokens of a transformer as an array: parts are laid out by the blocks of its stream."""

    def __init__(self, tokens: Function, stream: Callable[[], Stream]) -> None:
        functools.update_wrapper(self, tokens)
        self._tokens, self._stream = tokens, stream

    def __call__(self, **known: Any) -> Any:
        found = self._tokens(**known)
        return self._stream().tokens(*found) if isinstance(found, list | tuple) else found
