"""`prove` on inequalities whose truth is known, its forms one by one, and what must never be proved."""

from fractions import Fraction

import flint
import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.lowering import lower
from bridge.questions.certify import Status, prove
from bridge.questions.certify.certificate import settled_share, without_open_cuts
from bridge.questions.certify.forms import Enclosures, positive_semidefinite
from bridge.questions.certify.proving import KEPT_BOXES, Leaf, Split
from bridge.questions.certify.scalars import balls_of
from bridge.questions.certify.search import smallest
from bridge.questions.certify.tapes import Tape, UnknownNodeError
from symbolic.derivations.derivation import DerivationError
from symbolic.derivations.inequalities import Inequality, written_out

x, y, a = sp.symbols("x y a", real=True)
R = sp.Rational
HALF = dict.fromkeys((x, y), (-R(1, 2), R(1, 2)))


def forms_used(outcome):
    return {node.by for node in outcome.nodes if isinstance(node, Leaf)}


@pytest.mark.parametrize(
    ("expression", "box", "options"),
    [
        (sp.exp(x) - 1 - x + R(1, 100), {x: (-2, 2)}, {}),
        (sp.exp(x) - 1 - x, {x: (-2, 2)}, {"vanishing": (x,)}),
        (x**2 + y**2 + a * x * y + x**3 * y, {**HALF, a: (-R(3, 2), R(3, 2))}, {"vanishing": (x, y)}),
        (sp.log(1 + x) - x + x**2 / 2 + R(1, 1000), {x: (0, 1)}, {"strict": True}),
        (x - y, {x: (0, 1), y: (0, 1)}, {"where": (x - y - R(1, 10),)}),
        (sp.Abs(x) - x + R(1, 100), {x: (-1, 1)}, {}),
        (sp.Max(x, y) - x, {x: (-1, R(-1, 2)), y: (0, 1)}, {}),
    ],
    ids=["exp", "exp at its tangent", "saddle-free", "log", "under a condition", "absolute value", "maximum"],
)  # fmt: skip
def test_true_inequalities_are_proved(expression, box, options):
    outcome = prove(Inequality("true", expression, box, **options))
    assert outcome.status is Status.PROVED
    assert outcome.share == 1.0
    assert "open" not in forms_used(outcome)


def test_weighted_homogeneous_equilibrium_is_proved_by_its_form():
    form = ((x**2, y), ((sp.Integer(1), -a / 2), (-a / 2, sp.Integer(1))))
    box = {x: (-1, 1), y: (-1, 1), a: (-R(19, 10), R(19, 10))}
    assert prove(Inequality("form", written_out(form), box, form=form)).status is Status.PROVED
    wider = Inequality("form", written_out(form), {**box, a: (0, R(21, 10))}, form=form)
    outcome = prove(wider)
    assert outcome.status is Status.REFUTED  # 4 - a^2 < 0
    assert wider.expression.subs(outcome.point) < 0


@pytest.mark.parametrize("bump", [R(1, 10), R(1, 10**4), R(1, 10**8)])
def test_false_inequalities_are_refuted_at_a_point_that_is_exact(bump):
    inequality = Inequality("false", sp.exp(x) - 1 - x - bump, {x: (-2, 2)})
    outcome = prove(inequality)
    assert outcome.status is Status.REFUTED
    assert sp.N(inequality.expression.subs(outcome.point), 40) < 0
    assert outcome.value < 0


def test_a_strict_inequality_is_refuted_where_it_is_an_equality():
    assert prove(Inequality("zero", x**2, {x: (-1, 1)}, strict=True)).status is Status.REFUTED
    assert prove(Inequality("zero", x**2, {x: (-1, 1)}, vanishing=(x,))).status is Status.PROVED


# (x^2 - 2 y^2)^2 = 0 along a line without rational points: it is false, but no such point refutes it.
HARD = Inequality("line", x**4 - 4 * x**2 * y**2 + 4 * y**4, {x: (R(1, 2), 1), y: (R(1, 2), 1)}, strict=True)


def test_what_cannot_be_decided_is_left_open_with_what_was_settled():
    outcome = prove(HARD, most_boxes=500)
    assert outcome.status is Status.UNDECIDED
    assert 0.5 < outcome.share < 1
    left = without_open_cuts(outcome.nodes).count(Leaf("open"))
    assert 0 < left <= outcome.open_count == outcome.nodes.count(Leaf("open"))
    assert settled_share(outcome.inequality, without_open_cuts(outcome.nodes)) == Fraction(outcome.share)
    sizes = [float(np.prod([float(high - low) for low, high in box])) for box in outcome.open_boxes]
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) == KEPT_BOXES  # the others are counted
    assert len(str(outcome)) < 2000 > len(repr(outcome))


def test_an_interrupt_keeps_what_was_proved():
    def stop(boxes: int, share: float) -> None:
        if boxes > 100:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prove(HARD, progress=stop)
    outcome = prove(HARD, progress=stop, keep_on_interrupt=True)
    assert outcome.status is Status.UNDECIDED
    assert outcome.share > 0.3
    assert outcome.boxes > 100


@pytest.mark.parametrize(
    "expression",
    [1 / x, sp.log(x) + 5, sp.sign(x) + R(1, 2), sp.floor(x) + R(1, 2), 1 / x**2 - 10, sp.tan(2 * x) + 3],
    ids=["pole", "logarithm", "sign", "floor", "even pole", "tangent"],
)
def test_negative_values_near_poles_and_jumps_are_never_proved_away(expression):
    assert prove(Inequality("pole", expression, {x: (-1, 1)}), most_boxes=5000).status is not Status.PROVED


def test_a_tree_of_boxes_covers_the_root_exactly():
    inequality = Inequality("cover", sp.exp(x) - 1 - x + y**2 + R(1, 100), {x: (R(-1, 3), 2), y: (0, R(1, 7))})
    outcome = prove(inequality)
    boxes, stack = [], [Enclosures(inequality).root]
    for node in outcome.nodes:
        box = stack.pop()
        if isinstance(node, Split):
            low, high = box[node.axis]
            assert low < node.at < high
            parts = [(*box[: node.axis], each, *box[node.axis + 1 :]) for each in ((low, node.at), (node.at, high))]
            stack += reversed(parts)
        else:
            boxes.append(box)
    assert not stack
    volume = sum((b[0][1] - b[0][0]) * (b[1][1] - b[1][0]) for b in boxes)
    assert volume == Fraction(7, 3) * Fraction(1, 7)


def test_an_expression_that_is_not_its_form_is_refused():
    form = ((x, y), ((sp.Integer(1), sp.Integer(0)), (sp.Integer(0), sp.Integer(1))))
    with pytest.raises(DerivationError, match="differs from the given quadratic form"):
        Inequality("wrong", x**2 + 2 * y**2, {x: (0, 1), y: (0, 1)}, form=form)
    lopsided = ((x, y), ((sp.Integer(1), sp.Integer(0)), (sp.Integer(-10), sp.Integer(1))))
    with pytest.raises(DerivationError, match="symmetric"):
        Inequality("wrong", written_out(lopsided), {x: (0, 1), y: (0, 1)}, form=lopsided)


def test_what_is_no_inequality_on_a_box_is_refused():
    with pytest.raises(DerivationError, match="x - 1 for x >= 1"):
        Inequality("relation", x >= 0, {x: (0, 1)})
    with pytest.raises(DerivationError, match="not bounded"):
        Inequality("half line", x, {x: (0, sp.oo)})
    assert prove(Inequality("a number", sp.Integer(1), {})).status is Status.PROVED


def test_a_symbol_without_a_range_is_refused():
    with pytest.raises(DerivationError, match="no range is given for y"):
        Inequality("open", x + y, {x: (0, 1)})


# ---- Tapes: gradients on balls


EXPRESSIONS = [
    x**2 * y - sp.exp(x * y) / (2 + x),
    sp.sqrt(1 + x**2) * sp.log(3 + y) ** 3 - (x + y) ** -2,
    sp.tanh(x - y) * sp.sin(x) + sp.cos(y) ** 2 + sp.pi * x * y * (x + y) * sp.sinh(x) * sp.cosh(y),
]


@pytest.mark.parametrize("place", range(len(EXPRESSIONS)))
def test_a_tape_gives_the_gradient_that_sympy_gives(place):
    expression = EXPRESSIONS[place]
    at = {x: R(3, 4), y: R(5, 8)}
    balls = [flint.arb(flint.fmpq(int(v.p), int(v.q))) for v in at.values()]
    for symbol, slope in zip((x, y), Tape(expression, (x, y)).gradient(balls), strict=True):
        assert float(slope) == pytest.approx(float(sp.diff(expression, symbol).subs(at)), rel=1e-13)


@settings(max_examples=40)
@given(st.integers(0, 2), st.floats(0.1, 0.9), st.floats(0.1, 0.9), st.floats(0, 0.1), st.floats(0, 1), st.floats(0, 1))
def test_a_tape_encloses_the_gradient_on_a_box(place, start, other, width, share, along):
    expression = EXPRESSIONS[place]
    box = tuple((Fraction(low), Fraction(low) + Fraction(width)) for low in (start, other))
    enclosed = Tape(expression, (x, y)).gradient(balls_of(box))
    inside = [float(low) + s * width for (low, _), s in zip(box, (share, along), strict=True)]
    inside = [min(max(v, float(low)), float(high)) for v, (low, high) in zip(inside, box, strict=True)]
    for symbol, ball in zip((x, y), enclosed, strict=True):
        exact = lower(sp.diff(expression, symbol), "arb", args=(x, y))(*map(Fraction, inside))
        assert ball.overlaps(exact)


def test_a_tape_refuses_what_it_does_not_know():
    with pytest.raises(UnknownNodeError, match="floor"):
        Tape(sp.floor(x) * y, (x, y))


@pytest.mark.parametrize(
    ("expression", "slopes"),
    [(sp.Abs(x) + y, ((-1, 1), (1, 1))), (sp.Max(x, y), ((0, 1), (0, 1))), (sp.Min(x, y - 9), ((0, 0), (1, 1)))],
    ids=["absolute value", "maximum", "minimum"],
)
def test_kinks_have_the_slopes_of_both_sides(expression, slopes):
    box = ((Fraction(-1), Fraction(2)), (Fraction(-1), Fraction(2)))
    for (low, high), ball in zip(slopes, Tape(expression, (x, y)).gradient(balls_of(box)), strict=True):
        assert ball.lower() <= low <= high <= ball.upper()
        assert ball.rad() <= (high - low) / 2 + 1e-6


# SymPy writes the derivative of atan(tan(x)) as 1, across all of its jumps.
@pytest.mark.parametrize(
    ("expression", "box", "vanishing"),
    [
        (sp.atan(sp.tan(x)) - sp.atan(sp.tan(x - R(1, 10**9))), {x: (0, 3)}, ()),
        (sp.Max(-1, sp.atan(sp.tan(x))) + R(1, 10), {x: (0, 3)}, ()),
        (sp.atan(sp.tan(x)) * x, {x: (0, 2)}, (x,)),
    ],
    ids=["a shift", "cut off", "at an equilibrium"],
)
def test_jumps_that_simplification_hides_are_seen(expression, box, vanishing):
    inequality = Inequality("jump", expression, box, vanishing=vanishing)
    assert prove(inequality, most_boxes=5000).status is not Status.PROVED
    forms = Enclosures(inequality)
    assert not any(forms.shown_by(forms.root, form) for form in ("range", "slope", "hessian"))


def test_assumptions_that_the_box_contradicts_are_refused():
    positive, whole = sp.Symbol("q", positive=True), sp.Symbol("n", integer=True)
    with pytest.raises(DerivationError, match="declare it real"):
        Inequality("sign", positive - sp.Abs(positive) + 1, {positive: (-1, 1)})
    with pytest.raises(DerivationError, match="declare it real"):
        Inequality("whole", sp.cos(sp.pi * whole) ** 2 - 1, {whole: (0, 1)})
    assert prove(Inequality("sign", positive + 1, {positive: (0, 1)})).status is Status.PROVED


def test_an_expression_that_is_undefined_at_its_equilibrium_is_not_proved():
    undefined = Inequality("nan", y**2 * sp.sinh(sp.log(x / y)), {x: (1, 2), y: (-1, 1)}, vanishing=(y,))
    assert prove(undefined, most_boxes=200).status is not Status.PROVED


def test_a_box_that_the_region_touches_is_not_outside():
    """-x >= 0 on [0, 1] leaves x = 0, where the inequality is false."""
    inequality = Inequality("touching", x - R(1, 2), {x: (0, 1)}, where=(-x,))
    forms = Enclosures(inequality)
    for high in (0, 1):
        assert not forms.shown_by(((Fraction(0), Fraction(high)),), "outside 0")
    assert forms.shown_by(((Fraction(1, 8), Fraction(1)),), "outside 0")
    assert prove(inequality).status is not Status.PROVED


# ---- Matrices


def test_semidefinite_matrices_are_told_from_others():
    ball = flint.arb
    assert positive_semidefinite([[ball(2), ball(1)], [ball(1), ball(2)]])
    assert not positive_semidefinite([[ball(1), ball(2)], [ball(2), ball(1)]])
    assert not positive_semidefinite([[ball(2, 3), ball(1)], [ball(1), ball(2)]])
    three = [[ball(2), ball(-1), ball(0)], [ball(-1), ball(2), ball(-1)], [ball(0), ball(-1), ball(2)]]
    assert positive_semidefinite(three)
    three[2][2] = ball("0.6")  # the determinant is 3 z - 2
    assert not positive_semidefinite(three)


def test_sampling_finds_the_smallest_value_of_a_region():
    inequality = Inequality("region", x + y, {x: (0, 1), y: (0, 1)}, where=(x - R(1, 4),))
    assert smallest((x - R(1, 2)) ** 2 + y + 3, inequality) == pytest.approx(3.0, abs=1e-5)
    assert smallest(x + y, inequality) == pytest.approx(0.25, abs=1e-3)
