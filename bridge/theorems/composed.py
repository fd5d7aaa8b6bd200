"""A letter that an instance knows as a formula in other letters, each of which has a function of its own."""

import inspect
from collections.abc import Mapping
from typing import Any

import sympy as sp

from bridge.limits.arguments import Function, arguments_of, called_with
from bridge.lowering.formula import ArrayFunction


class ComposedLetter:
    """ComposedLetter(formula, {letter: function}): the formula at what the functions give for these letters.

    The other letters of the formula are parameters, weights or inputs of their names. As a function of the theorem it
    takes these, and what the functions take.
    """

    def __init__(self, formula: sp.Expr, letters: Mapping[sp.Symbol, Function]) -> None:
        self.formula = ArrayFunction(formula)
        self.letters = {str(letter): function for letter, function in letters.items() if letter in formula.free_symbols}
        own = [name for name in arguments_of(self.formula) if name not in self.letters]
        inner = [name for function in self.letters.values() for name in arguments_of(function)]
        keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD
        self.__signature__ = inspect.Signature([inspect.Parameter(n, keyword) for n in dict.fromkeys([*own, *inner])])

    def __call__(self, **known: Any) -> Any:
        found = {**known, **{name: called_with(function, known) for name, function in self.letters.items()}}
        return self.formula(**{name: found[name] for name in arguments_of(self.formula)})
