"""`certify`: the inequalities and open obligations of a theorem, proved or refuted."""

from typing import Any

from bridge.export.bars import notebook_bar
from bridge.limits.refusals import briefly_refused
from bridge.questions.certify.deadline import checked_seconds
from bridge.questions.certify.proving import Outcome, prove
from bridge.questions.certify.stating import belongs, has_choices, stated_now
from bridge.theorems.registry import TheoremLike, find_theorem
from symbolic.words.errors import UsageError


@briefly_refused
def certify(
    theorem: TheoremLike,
    *,
    quantity: str | None = None,
    seconds: float = 60.0,
    boxes_alone: bool = False,
    **params: Any,
) -> list[Outcome]:
    """The outcome of each inequality that the theorem states at these parameters: proved, refuted or undecided.

    `theorem` is a `Theorem`, the id of a result, or a file with a theorem; parameters that are left out take their
    defaults (the first of a grid). `quantity` limits it to the inequalities of one quantity, `seconds` is the time for
    each of them. With `boxes_alone` no steps are looked for.
    Raises UsageError for a theorem that states no inequality, and for `seconds` that are not a number > 0.
    """
    checked_seconds("certify", seconds)
    source = find_theorem(theorem)
    defaults = {p.name: p.default for p in source.statement.parameters if p.default is not None}
    chosen = {name: value[0] if has_choices(value) else value for name, value in {**defaults, **params}.items()}
    stated = [each for each in stated_now(source, chosen) if quantity is None or belongs(each.name, quantity)]
    if not stated:
        about = f" of '{quantity}'" if quantity else ""
        raise UsageError(f"{source.id} states no inequality{about} that a proof on a box could certify")
    found: list[Outcome] = []
    with notebook_bar() as bar:
        for place, each in enumerate(stated):
            bar(place, len(stated), each.name)

            def seen(boxes: int, share: float, place: int = place, name: str = each.name) -> None:
                bar(place + share, len(stated), f"{name}: {boxes} boxes")

            found.append(prove(each, seconds=seconds, boxes_alone=boxes_alone, progress=seen))
    return found
