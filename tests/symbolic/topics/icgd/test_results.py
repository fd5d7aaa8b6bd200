"""The Results: complete, with one quantity a layer on request, and counts that agree with matrices written out."""

import re

import numpy as np
import pytest
import sympy as sp

from symbolic.derivations.derivation import Derivation
from symbolic.statements.errata import Erratum, Weight
from symbolic.statements.result import Result
from symbolic.topics.icgd import chain, errata
from symbolic.topics.icgd.relu_sum import RELU_SUM
from symbolic.topics.icgd.step import BACKWARD, DERIVATIVE, DIMENSIONS, FORWARD, LOSS_GRADIENT, STEP, quantities_for
from symbolic.topics.icgd.symbols import N, d, j
from symbolic.words.errors import UsageError
from tests.symbolic.topics.icgd.numbers import VALUES, at, close

RESULTS = (FORWARD, DERIVATIVE, LOSS_GRADIENT, BACKWARD, STEP, DIMENSIONS)
EACH = pytest.mark.parametrize("result", RESULTS, ids=lambda result: result.id)


@EACH
def test_every_number_has_a_hypothesis(result: Result) -> None:
    numbers = {parameter.symbol for parameter in result.parameters if parameter.symbol}
    assert {s for h in result.hypotheses for s in h.condition.free_symbols} == numbers
    with pytest.raises(UsageError, match=r"N = 0 does not meet N >= 1"):
        quantities_for(result, 0)


@EACH
@pytest.mark.parametrize("layers", [1, 3])
def test_no_letter_of_ours_is_left_in_a_bound(result: Result, layers: int) -> None:
    """Derived, printed and trivial bounds depend on the parameters, the functions' constants and the layer only."""
    functions = {"b_r", "b_r1", "b_l", "B_r", "B_r1", "B_l", "L_r", "L_r1", "L_l", "eps_r", "eps_r1", "eps_l"}
    counts = {"C_1", "C_2", "C_3", "M_1", "M_2", "M_3", "R_3"}
    parameters = {p.name for p in result.parameters} | {"eta", "eps", "B_y"}
    for quantity in quantities_for(result, layers):
        assert quantity.norm
        assert quantity.domain
        assert not quantity.derivation.conditional
        assert quantity.derived().free_symbols.isdisjoint(quantity.worst_case)
        bounds = [quantity.derived(), quantity.trivial, quantity.printed.bound if quantity.printed else None]
        for bound in filter(None, bounds):
            assert {s.name for s in bound.free_symbols} <= functions | counts | parameters, quantity.name


@EACH
@pytest.mark.parametrize("layers", [1, 2, 4])
def test_a_quantity_of_one_layer_is_the_symbolic_one_there(result: Result, layers: int) -> None:
    symbolic = {q.name: q for q in result.quantities}
    for quantity in quantities_for(result, layers):
        base, _, rest = quantity.name.partition("[")
        layer, _, ending = rest.partition("]")
        name = f"{base}[{'N' if int(layer) == layers else 'j'}]{ending}" if layer.isdigit() else quantity.name
        place = {"N": layers, "j": int(layer) if layer.isdigit() else 0}
        other = symbolic[name]
        assert close(at(quantity.derived()), at(other.derived(), **place)), quantity.name
        if quantity.trivial is not None:
            assert close(at(quantity.trivial), at(other.trivial, **place)), quantity.name
        if quantity.printed is not None:
            assert close(at(quantity.printed.bound, N=layers), at(other.printed.bound, **place)), quantity.name


def whole_chain(layers: int) -> Derivation:
    return next(q for q in quantities_for(STEP, layers) if q.name == "w").derivation


def test_names_are_those_of_the_taps() -> None:
    names = [quantity.name for quantity in quantities_for(STEP, 2)]
    taps = ["p[1]", "p[2]", "r'[1]", "r'[2]", "g.max", "g", "s[1]", "s[2]", "gradient", "w"]
    assert [name for name in names if name in taps] == taps
    steps = {step.name for step in quantities_for(STEP, 2)[-1].derivation.steps}
    assert "width" in steps
    assert set(taps) <= {
        step.name for step in next(q for q in quantities_for(STEP, 2) if q.name == "w").derivation.steps
    }
    assert [q.name for q in quantities_for(FORWARD, 3)][:3] == ["p[1]", "p[2]", "p[3]"]
    assert [q.name for q in FORWARD.quantities][:2] == ["p[j]", "p[N]"]


def test_theorem_1_has_one_dimension_and_theorem_5_two() -> None:
    for quantity in quantities_for(STEP, 2):
        assert not {"d_x", "d_y"} & {s.name for s in quantity.derived().free_symbols}
    assert d not in set().union(*(q.derived().free_symbols for q in quantities_for(DIMENSIONS, 2)))
    for one, two in zip(quantities_for(STEP, 3), quantities_for(DIMENSIONS, 3), strict=True):
        assert close(at(one.derived(), d=2), at(two.derived(), d_x=2, d_y=2)), one.name


def test_theorem_5_prints_no_range_no_norm_and_no_width() -> None:
    unprinted = {q.name for q in quantities_for(DIMENSIONS, 3) if q.printed is None}
    ours = {q.name for q in quantities_for(STEP, 3) if q.printed is None}
    norms = {f"norm[{layer}]" for layer in ("forward", "derivative", "loss_gradient", "backward", "step")}
    assert unprinted - ours == {"range_r", "range_r1", "range_u", *norms}
    assert {"width", "heads", "relus"} <= ours  # orders alone


# What can come out violated has an erratum of this weight; what cannot has none.
WEIGHTS = {
    **dict.fromkeys(("p", "r'", "s.max", "size_s", "range_r", "range_r1", "range_u"), Weight.CONSTANT),
    **dict.fromkeys(("gradient", "w", "norm[forward]", "norm[derivative]", "norm[loss_gradient]"), Weight.PROOF),
    "norm[step]": Weight.DEFINITION,
}


@pytest.mark.parametrize("result", [STEP, FORWARD], ids=lambda result: result.id)
def test_each_erratum_has_its_weight(result: Result) -> None:
    for quantity in quantities_for(result, 3):
        short = quantity.name if quantity.name.startswith("norm") else re.sub(r"\[\d\]", "", quantity.name)
        weight = quantity.erratum.weight if quantity.erratum else None
        assert weight == (WEIGHTS.get(short) if quantity.printed else weight), quantity.name


def test_every_erratum_says_what_survives() -> None:
    known = [value for value in vars(errata).values() if isinstance(value, Erratum)]
    assert len(known) == 15
    assert all(each.survives.startswith("yes: ") for each in known)
    texts = [text for each in known for text in (each.sentence, each.reading, each.repair, each.survives)]
    assert not [text for text in texts if "\\" in text or not text.isascii()]
    assert not [each for each in known if each.weight is Weight.STATEMENT]


@pytest.mark.long
def test_counts_and_sizes_are_not_printed_as_errors() -> None:
    text = STEP.latex() + RELU_SUM.latex()
    bounded = set(re.findall(r"e_\{\\text\{([^}]*)\}\} \\le", text))
    sizes = {"heads", "relus", "width", "one\\_norm", "range\\_r", "range\\_u", "size\\_s"}
    assert "gradient" in bounded
    assert not [name for name in bounded if name in sizes or name.startswith("norm")]
    assert r"B_{\theta_{N+1}} \le" in text


def test_the_steps_show_where_the_slack_is() -> None:
    """With every step measured at its bound, each single step is an equality; a smaller error shows as its slack."""
    derivation = whole_chain(3)
    assert isinstance(derivation, chain.LayerDerivation)
    values = {s: VALUES[s.name] for step in derivation.steps for s in step.local.free_symbols if s.name in VALUES}
    tight = {
        name: at(Derivation.bound(derivation, name))
        for name in ("p[1]", "p[2]", "p[3]", "r'[2]", "s[3]", "s[2]", "s[1]")
    }
    slacks = derivation.slacks(tight, values)
    assert slacks == pytest.approx(dict.fromkeys(tight, 1.0))
    assert derivation.slacks({**tight, "s[2]": tight["s[2]"] / 4}, values)["s[2]"] == pytest.approx(4.0)
    assert isinstance(derivation.upto("p[2]"), Derivation)


# Counts and norms, against matrices written out.
def column_sum(matrix: np.ndarray) -> float:
    return float(np.abs(matrix).sum(0).max())


def constant(name: str, layers: int, **values: float) -> tuple[float, float]:
    quantity = next(q for q in quantities_for(STEP, layers) if q.name == name)
    return at(quantity.derived(), **values), at(quantity.printed.bound, N=layers, **values)


@pytest.mark.parametrize("outputs", [2, 5])
def test_parameter_norm_of_the_forward_layers(outputs: int) -> None:
    """Layer N: a head for each row k and ReLU m, V_{m,k} with the one entry c_m; (C.1) adds all of them up."""
    c = np.random.default_rng(1).uniform(-1, 1, 8)
    heads = np.zeros((outputs, 8, 9, 9))
    for k, m in np.ndindex(outputs, 8):
        heads[k, m, k, 8] = c[m]
    norm = 1 + sum(column_sum(V) for V in heads.reshape(-1, 9, 9))
    derived, as_printed = constant("norm[forward]", 2, C_1=float(np.abs(c).sum()), d=outputs)
    assert norm <= derived * (1 + 1e-12)
    assert (norm <= as_printed) == (outputs <= VALUES["K"])


def test_parameter_norm_of_the_loss_layer() -> None:
    """W_1 as (D.14): its column of the constant 1 has an entry for every ReLU."""
    outputs, relus, cover = 2, 7, 1.5
    rng = np.random.default_rng(2)
    a = rng.dirichlet((1, 1, 1), outputs * relus) * rng.choice([-1, 1], (outputs * relus, 3))
    W_1 = np.zeros((outputs * relus, 2 * outputs + 2))  # columns p(N), y, 1, t
    for m in range(outputs * relus):
        k = m // relus
        W_1[m, k], W_1[m, outputs + k] = a[m, 0], a[m, 1]
        W_1[m, -2], W_1[m, -1] = a[m, 2] - cover, cover
    c = rng.uniform(-1, 1, (outputs, relus))
    W_2 = np.kron(np.eye(outputs), np.ones(relus)) * c.ravel()
    norm = column_sum(W_1) + column_sum(W_2)
    C_3 = float(np.abs(c).sum(1).max())
    derived, as_printed = constant("norm[loss_gradient]", 2, R_3=cover, C_3=C_3, M_3=relus, d=outputs)
    assert as_printed < norm <= derived
    # The erratum: split until |c_m| <= C_3 / M_3, then scale W_1 against W_2; the layer stays the same.
    copies = np.ceil(np.abs(c).ravel() * relus / C_3).astype(int)
    split_1, split_2 = np.repeat(W_1, copies, 0), np.repeat(W_2 / copies, copies, 1)
    scale = np.sqrt(column_sum(split_1) / column_sum(split_2))
    h = rng.normal(size=(2 * outputs + 2, 5))
    same = scale * split_2 @ np.maximum(split_1 / scale @ h, 0)
    assert np.allclose(same, W_2 @ np.maximum(W_1 @ h, 0))
    balanced = column_sum(split_1 / scale) + column_sum(scale * split_2)
    assert balanced <= 2 * np.sqrt(2 * outputs * (1 + cover) * C_3)


def test_width_counts_the_blocks_of_a_token() -> None:
    for layers in (1, 2, 4):
        widths = [3] * (layers - 1) + [2]
        weights = sum(rows * columns for rows, columns in zip(widths, [4, *widths], strict=False))
        width = next(q for q in quantities_for(DIMENSIONS, layers) if q.name == "width")
        assert width.printed is None  # the paper prints an order
        assert at(width.derived(), d_x=4, d_y=2) == 4 + 2 + weights + 2 * sum(widths) + sum(widths) + 2 + 2


def test_symbolic_layers_stay_symbols() -> None:
    bound = next(q for q in STEP.quantities if q.name == "s[j]").derived()
    assert {N, j} <= bound.free_symbols
    assert not next(q for q in STEP.quantities if q.name == "gradient").derived().has(j)
    assert sp.Symbol("N") not in bound.free_symbols  # the same letter without its assumptions would never be bound
