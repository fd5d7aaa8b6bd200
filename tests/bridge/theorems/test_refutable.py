"""Which quantities of a theorem have an erratum, and what is said of their printed bounds."""

from dataclasses import replace

from bridge.theorems.parts import Refuting
from bridge.theorems.refutable import refutable, sentences_on
from bridge.topics.induction.losses import LOSSES


def test_what_has_an_erratum_is_refutable_in_the_order_that_the_theorem_gives() -> None:
    names = [each.name for each in LOSSES.statement.quantities if each.erratum is not None]
    assert len(names) > 1
    assert [each.name for each in refutable(LOSSES)] == names
    shown = replace(LOSSES, refuting=Refuting(shown=tuple(reversed(names))))
    assert [each.name for each in refutable(shown)] == names[::-1]


def test_an_erratum_is_said_in_its_own_words_or_in_those_of_the_theorem() -> None:
    quantity = refutable(LOSSES)[0]
    assert quantity.erratum is not None
    assert sentences_on(LOSSES, quantity)[0] == quantity.erratum.words
    own = replace(LOSSES, refuting=Refuting(sentences=lambda quantity: [f"{quantity.name} is wrong"]))
    assert sentences_on(own, quantity) == (f"{quantity.name} is wrong",)
