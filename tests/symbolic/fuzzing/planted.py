"""Wrong rules, planted on purpose: each takes a rule of the library to one that promises a little too much."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import sympy as sp

from symbolic.calculus import Approximated, Derivation, LinearRecursion, Norm, Obligation, Step

Rule = Callable[..., Any]
Change = Callable[[Approximated], Approximated]

SHRUNK = sp.Rational(999, 1000)


def changed(rule: Rule, change: Change) -> Rule:
    """The rule with its conclusions changed."""

    def wrong(*arguments: Any, **named: Any) -> Approximated:
        return change(rule(*arguments, **named))

    return wrong


def with_last(value: Approximated, **changes: Any) -> Approximated:
    *earlier, last = value.derivation.steps
    return replace(value, derivation=Derivation((*earlier, replace(last, **changes))))


def smaller_error(value: Approximated) -> Approximated:
    return with_last(value, local=value.derivation.steps[-1].local * SHRUNK)


def smaller_size(value: Approximated) -> Approximated:
    return replace(value, size=value.size * SHRUNK)


def smaller_radius(value: Approximated) -> Approximated:
    return value if value.radius is None else replace(value, radius=value.radius * SHRUNK)


def another_dim(value: Approximated) -> Approximated:
    return replace(value, dim=value.dim + 1)


def another_norm(value: Approximated) -> Approximated:
    norm = Norm.ONE if value.norm is not Norm.ONE else Norm.TWO
    return replace(with_last(value, norm=norm), norm=norm)


def called_probabilities(value: Approximated) -> Approximated:
    return replace(value, probabilities=True)


def called_affine(value: Approximated) -> Approximated:
    return replace(value, affine=True)


def owing(value: Approximated) -> Approximated:
    debt = Obligation("the size is below 0", sp.Lt(value.size, 0, evaluate=False))
    return with_last(value, obligations=(debt,))


def forgetting(value: Approximated) -> Approximated:
    """The local bound stays; an earlier step loses a thousandth, so that only the closed bound is wrong."""
    first, *others = value.derivation.steps
    steps: tuple[Step, ...] = (replace(first, local=first.local * SHRUNK), *others)
    return replace(value, derivation=Derivation(steps)) if others else value


def attention_without_radius(attend: Rule) -> Rule:
    """Attention whose bound forgets that the weights are off as well."""

    def wrong(weights: Approximated, values: Approximated, name: str) -> Approximated:
        return with_last(attend(weights, values, name), local=values.error_symbol)

    return wrong


def recursion_without_premises(premise: Approximated, layer: Approximated) -> LinearRecursion:
    """A layer taken for the step of a recursion, whether the next layer can start from it or not."""
    factor = sp.diff(layer.error, premise.error)
    return LinearRecursion(sp.Integer(0), factor, layer.error.subs(premise.error, 0))
