"""Events: what has to happen for a bound on random draws to hold, and with what probability it fails to happen.

A step of a derivation introduces events, and every conclusion that rests on it has them. An event has a name, the
randomness that it is about, and a share: it fails with a probability of at most `share`. A union bound over m members
needs m such events. The budget of a conclusion is the sum of all shares, each event counted once.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import sympy as sp

from symbolic.derivations.obligations import DerivationError, RangeObligation, as_expr, real
from symbolic.words.prose import joined, make_prose, marked, prose

LINEAR = (
    *("sum", "mean", "centring", "one token", "some tokens", "appended tokens", "concatenation"),
    *("change of norm", "linear map", "product", "apply a function", "cover"),
)


class ShareSymbol(sp.Symbol):
    """The share of an event that `within_budget` chooses. A separate class, so that it never equals another symbol."""

    @classmethod
    def class_key(cls) -> Any:
        """Printed in the order of all symbols."""
        return sp.Symbol.class_key()


@dataclass(frozen=True)
class Event:
    """`count` events of one kind, each of which fails with a probability of at most `share`.

    `over` names the randomness, "the draw of Lambda". Without a share it is a letter of its own, which `within_budget`
    sets. `anew` says that the randomness is drawn more than once: for each layer of a repetition.
    """

    name: str
    over: str
    share: Any = None
    count: sp.Expr = sp.S.One
    anew: str = ""

    def __post_init__(self) -> None:
        make_prose(self, "over", checked=False)
        if not self.over:
            raise DerivationError(
                f"Event: '{self.name}' names no randomness; say what is drawn, over='the draw of the features'"
            )
        share: sp.Expr = ShareSymbol(f"share_{self.name}", positive=True) if self.share is None else as_expr(self.share)
        real("Event", self.name, share=share)
        if share.is_nonpositive or (share - 1).is_positive:
            raise DerivationError(
                f"Event: '{self.name}' has the probability {sp.sstr(share)} of failure; give a share above 0, at most 1"
            )
        object.__setattr__(self, "share", share)
        object.__setattr__(self, "count", as_expr(self.count))

    @property
    def fails(self) -> sp.Expr:
        """The probability that one of them fails, at most."""
        return self.count * self.share

    @property
    def where(self) -> str:
        """The randomness in words."""
        return prose(f"{marked(self.over)}, {self.anew}", checked=False) if self.anew else self.over

    def times(self, count: sp.Expr) -> "Event":
        return replace(self, count=count * self.count)

    def in_each(self, depth: sp.Expr) -> "Event":
        """One for each of `depth` layers, whose draws are independent."""
        return replace(self.times(depth), anew=f"anew in each of {sp.sstr(depth)} layers")

    def xreplace(self, values: Any) -> "Event":
        return replace(self, share=self.share.xreplace(values), count=self.count.xreplace(values))


Events = tuple[Event, ...]


# P(some event fails) <= sum of P(each fails). An event that several premises share fails once. Of one name with two
# counts (one member, all members) both are kept, which is never too few.
def together(several: Iterable[Events]) -> Events:
    """The events of all of them, each once."""
    return tuple(dict.fromkeys(event for events in several for event in events))


def total_failure(events: Events) -> sp.Expr:
    """The probability that one of the events fails, at most."""
    return sp.Add(*(event.fails for event in events))


def randomness(events: Events) -> str:
    """What the events are about, in words."""
    return joined(event.where for event in events)


# Along the steps of a derivation.


@runtime_checkable
class HasEvents(Protocol):
    """What is asked of a step of a derivation: the events that it introduces, and the draws that it is a mean over."""

    @property
    def name(self) -> str: ...
    @property
    def rule(self) -> str: ...
    @property
    def events(self) -> Events: ...
    @property
    def mean_over(self) -> str: ...
    @property
    def rests_on(self) -> tuple[str, ...]: ...
    @property
    def members(self) -> sp.Expr: ...
    @property
    def local(self) -> sp.Expr: ...
    @property
    def obligations(self) -> Sequence[Any]: ...


@runtime_checkable
class RestsOnEvents(Protocol):
    """What is asked of a conclusion."""

    @property
    def error_symbol(self) -> sp.Symbol: ...
    @property
    def events(self) -> Events: ...
    @property
    def mean_over(self) -> tuple[str, ...]: ...


def events_by_step(steps: Sequence[HasEvents]) -> dict[str, Events]:
    """The events on which each step holds; empty if no step has any."""
    found: dict[str, Events] = {}
    for step in steps if any(step.events for step in steps) else ():
        inherited = together(found.get(premise, ()) for premise in step.rests_on)
        found[step.name] = together([tuple(event.times(step.members) for event in inherited), step.events])
    return found


def means_by_step(steps: Sequence[HasEvents]) -> dict[str, tuple[str, ...]]:
    """The randomness over which each step is a bound in expectation; empty if there is no such step."""
    found: dict[str, tuple[str, ...]] = {}
    for step in steps if any(step.mean_over for step in steps) else ():
        inherited = (over for premise in step.rests_on for over in found.get(premise, ()))
        found[step.name] = tuple(dict.fromkeys(filter(None, [*inherited, step.mean_over])))
    return found


def require_events_apart(steps: Iterable[HasEvents]) -> None:
    """Raises DerivationError for two steps that introduce events of one name: they would be counted once."""
    owners: dict[str, str] = {}
    for step in steps:
        for event in step.events:
            if owners.setdefault(event.name, step.name) != step.name:
                raise DerivationError(
                    f"'{owners[event.name]}' and '{step.name}' are two steps with an event called '{event.name}'; "
                    f"give each an event of its own"
                )


# E of an affine function with coefficients >= 0 is that function of E. Any other rule uses that the error is at most
# its bound at each draw, which an expectation does not give; so does a range that an argument must not leave.
def require_one_sense(step: HasEvents, premises: Sequence[RestsOnEvents]) -> None:
    """Raises DerivationError for a step that does not follow from premises that hold in expectation."""
    random = [each.error_symbol for each in premises if each.mean_over]
    if (random or step.mean_over) and (step.events or any(each.events for each in premises)):
        raise DerivationError(
            f"{step.rule}: '{step.name}' would rest on a bound in expectation and on one that holds with probability; "
            f"derive both in one sense"
        )
    ranges = any(isinstance(each, RangeObligation) for each in step.obligations)
    affine = all(sp.diff(step.local, one, other) == 0 for one in random for other in random)
    if random and (step.rule not in LINEAR or ranges or not affine):
        raise DerivationError(
            f"{step.rule}: the error of '{step.name}' is not linear in those of its premises, which are bounded in "
            f"expectation only; start from a bound that holds with probability (sample_mean)"
        )
