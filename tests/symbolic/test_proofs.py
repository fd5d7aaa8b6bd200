"""A derivation in LaTeX reads as a proof: numbered steps, premises by number, nothing that is trivially true."""

import re

import pytest

from symbolic import find_result
from symbolic.printing import result_latex

ITEM = re.compile(r"\\item\[\((\d+)\)\] ([^\n]*)")


@pytest.fixture(scope="module")
def proof() -> str:
    return result_latex(find_result("icgd.backward")).partition(r"\paragraph{Derivation")[2]


def test_each_step_has_a_number_and_its_premises_come_before(proof: str) -> None:
    items = {int(number): words for number, words in ITEM.findall(proof)}
    assert list(items) == list(range(1, len(items) + 1))
    referred = [(number, int(other)) for number, words in items.items() for other in _premises(words)]
    assert referred
    assert all(other < number for number, other in referred)


def _premises(words: str) -> list[str]:
    found = re.match(r"[^:.\\]* from ((?:\(\d+\)(?:, )?)+)", words)
    return re.findall(r"\d+", found[1]) if found else []


def test_a_step_that_several_derivations_share_is_shown_once(proof: str) -> None:
    assert proof.count("the input, exact") == 1
    assert len(re.findall(r"\\paragraph\{Derivation", proof)) >= 1


def test_no_obligation_is_trivially_true_and_an_exact_value_has_no_error(proof: str) -> None:
    assert r"\text{True}" not in proof
    exact = next(words for _, words in ITEM.findall(proof) if "the input, exact" in words)
    assert exact == "given: the input, exact."
