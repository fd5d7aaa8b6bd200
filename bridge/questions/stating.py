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
        alone = given.get("inequalities", ())
        id = str(args[0] if args else given.get("id", "theorem"))
        if not callable(alone) and not isinstance(alone, Iterable):
            raise UsageError(f"{id}: `inequalities` is {alone!r:.80}; give a list, also of one")
        if alone and len(args) < 2 and not given.get("checks") and not callable(alone):
            from bridge.questions.constants.stating import stated  # the prover, which few theorems need

            given["checks"], given["inequalities"] = stated(id, alone)
        return build(*args, **given)

    return called


theorem = briefly_refused(_proving(building.theorem))
