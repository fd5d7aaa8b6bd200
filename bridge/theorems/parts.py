"""Parts of a `Theorem` that few theorems need: each says of one concern what differs from the usual.

Functions take parameters, weights and inputs by name, as those of `Theorem` do; what else they take is said at each.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from bridge.domains import Domain
from bridge.theorems.refusal import Refusal
from bridge.theorems.refutation import Refutation
from numeric.balls.limits import DEFAULT_LIMIT
from symbolic.statements.result import Quantity
from symbolic.words.shown import brief

Function = Callable[..., Any]  # of some parameters, weights and inputs by name; written in torch, for one prompt
Range = tuple[int | float | None, int | float | None]  # least and largest, None where there is no limit


@dataclass(frozen=True)
class Knobs:
    """The parameters that are computed, and those that are solved for.

    `resolve` takes given parameters and the seed (and `dtype`, by name) and completes them by those that they imply,
    which `implied` names. `automatic` names those of which 0 means: computed from the others, `fixed` those that are
    never solved for, and `searched` limits the range in which one is.
    """

    resolve: Callable[..., Mapping[str, Any]] | None = None
    implied: tuple[str, ...] = ()
    automatic: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    searched: Mapping[str, Range] = field(default_factory=dict)

    __repr__ = brief


@dataclass(frozen=True)
class AtPoint:
    """What depends on the point, the values of the parameters.

    `quantities` gives, from parameters, the quantities there (one a layer, say), in the place of those of the
    statement. `letters` gives those that neither parameters nor `knows` give, as far as they are known;
    `printed_letters` takes the name of a `quantity` and gives those that mean something else in its printed bound than
    in the derived one.

    `refusal` gives the `Refusal` of a point at which nothing can be run, or None; what is built is None there where it
    cannot be. It may take `dtype`, the name of the format that the network runs in. `outside` takes `quantity` and
    `tier` and gives the hypothesis that the bound does not meet, in words, or "". `idle` names the parameters and
    settings that nothing depends on there.
    """

    quantities: Callable[..., Sequence[Quantity]] | None = None
    letters: Callable[..., Mapping[sp.Symbol, Any]] | None = None
    printed_letters: Callable[..., Mapping[sp.Symbol, Any]] | None = None
    refusal: Callable[..., Refusal | None] | None = None
    outside: Callable[..., str] | None = None
    idle: Callable[..., Sequence[str]] | None = None

    __repr__ = brief


@dataclass(frozen=True)
class InputSearch:
    """Which inputs are drawn, and where the attack looks.

    `samples` and `starts` take `count` and a torch `generator` beside parameters and weights and give the inputs,
    (count, ...) each: the random ones, and those where the attack starts; without them both come from the domains.
    `envelope`, a function as the network is, stands in for it in the first half of an attack: a smooth one, where the
    error itself has kinks. Where `leading` names quantities, these alone are searched for, and the others are shown
    where the first of them errs most.

    `near` names what is built in the place of a weight and stands for any array as near to it: that weight, and the
    domain of the difference. The attack of the scope *prompt, every* moves it, where the network is a function that
    takes it and nothing else is built of it.
    """

    samples: Function | None = None
    starts: Function | None = None
    envelope: Function | None = None
    leading: tuple[str, ...] = ()
    near: Mapping[str, tuple[str, Domain]] = field(default_factory=dict)

    __repr__ = brief


@dataclass(frozen=True)
class ExactRuns:
    """Runs on balls: `bits` beyond those that telling the bounds from 0 takes, for what nearly cancels; `limit`, the
    most ball operations of one run. `bits` may be a function of parameters.
    """

    bits: int | Function = 0
    limit: int = DEFAULT_LIMIT


@dataclass(frozen=True)
class Refuting:
    """What is wrong with printed bounds.

    `refutations` are inputs at which a printed bound fails, with parameters of their own. `shown` names the quantities
    whose errata a comparison shows, in this order; by default all that have one. `sentences` gives, of a quantity, what
    is wrong with its printed bound, a sentence each, in the place of its own erratum and remark.
    """

    refutations: tuple[Refutation, ...] = ()
    shown: tuple[str, ...] | None = None
    sentences: Callable[[Quantity], Sequence[str]] | None = None

    __repr__ = brief
