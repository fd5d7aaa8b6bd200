"""Every operation of a derivation has its faces in the bridge: one that is not imported would bound nothing, unseen."""

import pytest

import bridge.readings  # noqa: F401 - which registers each rule
from bridge.readings.enclosed import enclosed
from bridge.readings.network import bounded
from bridge.readings.values import value
from symbolic.calculus.functions import Apply
from symbolic.calculus.linear import Linear
from symbolic.calculus.nonexpansive import Clip
from symbolic.calculus.normalisation import RmsNormalisation
from symbolic.calculus.products import Product
from symbolic.calculus.repetition import Repetition
from symbolic.calculus.rotations import Rotation
from symbolic.calculus.softmax import Attention
from symbolic.calculus.sums import Combination, Concatenation, Restated, TokenMean
from symbolic.derivations.operations import Given, Operation, Unread

FACES = {"value": value, "enclosed": enclosed}
# What has no face, and why.
WITHOUT = {
    ("value", Unread): "it names no operands",
    ("enclosed", Unread): "it says why there is none",  # registered, to raise
}
# What gives a bound for all prompts of a network; the others end a network reading, which says so.
FOR_NETWORKS = {
    *(Given, Linear, Apply, Product, Combination, TokenMean, Restated, Clip, Concatenation, RmsNormalisation, Rotation)
}


def operations() -> set[type[Operation]]:
    found, last = set[type[Operation]](), {Operation}
    while last:
        last = {each for one in last for each in one.__subclasses__()}
        found |= last
    return {each for each in found if each.__module__.startswith("symbolic.")}


def test_all_operations_are_found() -> None:
    assert {Linear, Attention, Repetition} <= operations()
    assert len(operations()) >= 24


@pytest.mark.parametrize("face", FACES)
def test_every_operation_has_the_face(face: str) -> None:
    registered = set(FACES[face].registry) - {Operation, object}
    assert {each for each in operations() if each not in registered and (face, each) not in WITHOUT} == set()


def test_those_that_bound_a_network_are_listed() -> None:
    assert set(bounded.registry) - {Operation, object} == FOR_NETWORKS
