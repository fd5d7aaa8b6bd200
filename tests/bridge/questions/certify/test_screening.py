"""Boxes screened by floats: verdicts and proofs are Arb's, whatever the floats say, and fewer boxes are tried."""

from typing import Any

import numpy as np
import pytest
import sympy as sp

from bridge.questions.certify import boxes, prove
from bridge.questions.certify.boxes import BoxSearch, _weights
from bridge.questions.certify.certificate import CertifiedClaim, certificate_text
from bridge.questions.certify.checking import check_certificate
from bridge.questions.certify.deadline import Deadline
from bridge.questions.certify.forms import Enclosures
from bridge.questions.certify.nodes import Leaf, Status
from bridge.questions.certify.scalars import Cell, Scalar, balls_of
from bridge.questions.certify.screening import Look, Screen
from numeric.balls import working_precision
from symbolic.derivations.inequalities import Inequality, written_out

x, y, a = sp.symbols("x y a", real=True)
R = sp.Rational
WIDE = {x: (-2, 2), y: (-2, 2)}
MOTZKIN = x**4 * y**2 + x**2 * y**4 - 3 * x**2 * y**2 + 1
FORM = ((x**2, y), ((1 + x**2, -a / 2), (-a / 2, 1 - y / 4)))
KINKED = sp.Abs(x * y - 1) + sp.Max(x, y) / 2 - sp.Min(x, y) ** 2 / 2
TRUE = {
    "polynomial": Inequality("polynomial", MOTZKIN + R(1, 2), WIDE),
    "functions": Inequality("functions", sp.exp(x) - 1 - x + sp.tanh(y) ** 2 * sp.sqrt(y + 3) + R(1, 200), WIDE),
    "kinks": Inequality("kinks", KINKED + R(1, 1000), {x: (0, 2), y: (0, 2)}),
    "condition": Inequality("condition", x**2 - y**2 + R(1, 5), WIDE, where=(x - y, y)),
    "form": Inequality("form", written_out(FORM), {x: (-1, 1), y: (-1, 1), a: (R(-9, 5), R(197, 100))}, form=FORM),
    "strict": Inequality("strict", x**2 + sp.cosh(y) - 1 - y**2 / 2 + R(1, 10**3), WIDE, strict=True),
}


def search(inequality: Inequality, most: int = 4000) -> BoxSearch:
    found = BoxSearch(Enclosures(inequality), Deadline(60.0))
    with working_precision(64):
        found.search(most)
    return found


@pytest.mark.parametrize("name", TRUE)
def test_what_floats_leave_is_proved_by_arb(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tried, shown, below = set(), Enclosures.shown_on, Scalar.below

    def shown_on(self: Enclosures, cell: Cell, form: str) -> bool:
        tried.add(cell.box)
        return shown(self, cell, form)

    def below_on(self: Scalar, cell: Cell) -> Any:
        tried.add(cell.box)
        return below(self, cell)

    monkeypatch.setattr(Enclosures, "shown_on", shown_on)
    monkeypatch.setattr(Scalar, "below", below_on)
    monkeypatch.setattr(boxes, "MANY", 4)
    found = search(TRUE[name])
    assert not found.open_boxes
    assert found.count > 30
    assert len(tried) < 1.9 * found.count  # and not all 2 count - 1 boxes of the tree
    monkeypatch.setattr(boxes, "MANY", 10**9)
    alone = search(TRUE[name])
    assert not alone.open_boxes
    assert abs(found.count - alone.count) < 0.1 * alone.count


@pytest.mark.parametrize("forms", [(), ("range", "slope", "form", "hessian", "outside 0")], ids=["none", "all"])
@pytest.mark.parametrize("value", [R(1, 50), R(-1, 50)], ids=["true", "false"])
def test_floats_that_are_wrong_prove_nothing(
    forms: tuple[str, ...], value: sp.Rational, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setattr(Screen, "looks", lambda self, parts: [Look(np.inf, 0, forms, False)] * len(parts))
    inequality = Inequality("square", (x**2 + y**2 - 1) ** 2 + value, WIDE)
    found = search(inequality, 400)
    assert found.open_boxes or value > 0
    outcome = prove(inequality, most_boxes=400, boxes_alone=True)
    assert outcome.status is not (Status.PROVED if value < 0 else Status.REFUTED)
    path = tmp_path / "c.json"
    path.write_text(certificate_text([CertifiedClaim(outcome)]))
    assert all(claim.confirmed for claim in check_certificate(str(path)).claims)


@pytest.mark.parametrize("name", TRUE)
def test_looks_agree_with_arb(name: str) -> None:
    enclosures = Enclosures(TRUE[name])
    tree = list(search(TRUE[name]).root.preorder())
    parts, leaves = [node.box for node in tree], [node for node in tree if isinstance(node.node(), Leaf)]
    looks = dict(zip(parts, Screen(enclosures).looks(parts), strict=True))
    with working_precision(64):
        for leaf in leaves:
            assert leaf.by in looks[leaf.box].forms
        for box in parts[::7]:
            look, cell = looks[box], Cell(box)
            for form in {"range", "slope"} - set(look.forms):
                assert not enclosures.shown_on(cell, form)
            if not TRUE[name].form:
                weights = _weights(box, enclosures.whole.slopes(cell) or balls_of(box))
                assert weights[look.axis] > 0.2 * max(weights)
            centre = [(low + high) / 2 for low, high in box]
            assert look.may_fail or enclosures.value_at(centre) > 0
