"""The gates' nets: what they weigh, that they are exact on bits, and that the proofs notice a wrong net."""

import pytest
import sympy as sp

from symbolic.derivations.derivation import DerivationError
from symbolic.topics.machines import circuit as module
from symbolic.topics.machines.circuit import (
    PRINTED_GATES,
    TOTAL_NORM,
    TRUTH,
    GateNet,
    gate_net,
    heaviest_gate,
    rounding_weight,
    wrong_outputs,
    wrong_rows,
    x1,
    x2,
)
from symbolic.topics.machines.rounding import relu


def test_each_net_is_its_gate_on_every_row_of_bits() -> None:
    assert {kind: wrong_rows(kind) for kind in TRUTH} == dict.fromkeys(("AND", "OR", "NOT", "ID"), 0)
    assert wrong_outputs() == 0


def test_the_parameters_give_the_printed_nets_back_where_these_are_not_negative() -> None:
    for kind, net in PRINTED_GATES.items():
        x = (x1, x2)[: len(gate_net(kind).w1)]
        for point in ({x1: 0.3, x2: 0.9}, {x1: 0.8, x2: 0.1}, {x1: 1.0, x2: 0.25}):
            assert gate_net(kind).value(x).subs(point) == pytest.approx(float(net.subs(point)))


def test_the_gates_weigh_two_to_five_and_a_rounded_coordinate_nine() -> None:
    assert [gate_net(kind).norm for kind in ("AND", "OR", "NOT", "ID")] == [4, 5, 3, 2]
    assert {abs(gate_net(kind).w2) for kind in TRUTH} == {1}  # the W_2 of Lemma B.1
    assert heaviest_gate() == 5
    assert rounding_weight() == 9


@pytest.mark.parametrize(
    ("kind", "net", "wrong"),
    [("AND", relu(x1 + x2), 3), ("OR", 1 - relu(1 - x1 - x2 / 2), 1), ("NOT", x1, 2)],
    ids=["AND without its bias", "half an OR", "NOT left out"],
)
def test_a_wrong_net_is_noticed(kind: str, net: sp.Expr, wrong: int, monkeypatch: pytest.MonkeyPatch) -> None:
    another = f"{kind} by {net}"  # a kind of its own, as what was computed of a kind is kept
    monkeypatch.setitem(PRINTED_GATES, another, net)
    monkeypatch.setitem(TRUTH, another, TRUTH[kind])
    assert wrong_rows(another) == wrong
    with pytest.raises(DerivationError, match="wrong on bits"):
        wrong_outputs.__wrapped__()


def test_other_parameters_than_those_of_lemma_b1_help_where_an_input_fans_out() -> None:
    net, gates = GateNet((sp.Integer(10),), sp.Integer(0), sp.Rational(1, 10), sp.Integer(0)), 100
    assert [net.value((sp.Integer(bit),)) for bit in (0, 1)] == [0, 1]
    assert net.w1[0] + gates * net.w2 == 20 < gates + 1  # one row of W_1 for all of them, against s
    assert "no other parameters help a chain of identities" in TOTAL_NORM.reading


def test_a_round_that_does_not_keep_one_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "rounding_net", lambda z: 2 * relu(z - sp.Rational(1, 3)))
    with pytest.raises(DerivationError, match="wrong on bits"):
        wrong_outputs.__wrapped__()
