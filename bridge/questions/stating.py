"""`bs.theorem`: a theorem as the room below builds it, and one that inequalities alone are, which are proved here."""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, ParamSpec

from bridge.limits.refusals import briefly_refused
from bridge.theorems import building
from bridge.theorems.theorem import Theorem
from symbolic.words.errors import UsageError

P = ParamSpec("P")


def _proving(build: Callable[P, Theorem]) -> Callable[P, Theorem]:
    """The same, where `inequalities` alone become checks that prove them."""

    @wraps(build)
    def called(*args: P.args, **kwargs: P.kwargs) -> Theorem:
        given: dict[str, Any] = dict(kwargs)
        inequalities = given.get("inequalities", ())
        id = str(args[0] if args else given.get("id", "theorem"))
        if not callable(inequalities) and not isinstance(inequalities, Iterable):
            raise UsageError(f"{id}: `inequalities` is {inequalities!r:.80}; give a list, also of one")
        if inequalities and not callable(inequalities):
            from bridge.questions.constants.stating import inequalities_of, stated  # the prover, which few need

            if len(args) < 2 and not given.get("checks"):
                given["checks"], given["inequalities"] = stated(id, inequalities)
            else:
                given["inequalities"] = tuple(inequalities_of(id, inequalities))
        return build(*args, **given)

    return called


theorem = briefly_refused(_proving(building.theorem))
