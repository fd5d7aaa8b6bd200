"""The table of a derivation at a user's own prompt, and what it refuses."""

import math
import re
from collections.abc import Callable
from typing import Any

import flint
import pytest
import sympy as sp
import torch

import boundsmith as bs
from bridge.readings import Emulated, Steps, at
from numeric.balls import BallArray
from symbolic.words.errors import UsageError

eps, K = sp.symbols("eps K", positive=True)
N, d = sp.symbols("N d", integer=True, positive=True)
t = sp.Symbol("t", real=True)
MATRIX = torch.tensor([[0.5, -0.25], [0.25, 0.5]], dtype=torch.float64)
LETTERS: dict[sp.Symbol, Any] = {eps: 0.01, K: 0.75, N: 3, d: 2}
every_arithmetic = pytest.mark.parametrize("bits", [None, 128])


def tanh(radius: float = 2.0) -> bs.Smooth:
    return bs.Smooth.of(sp.tanh(t), t, approximate=sp.tanh(t) * sp.Rational(99, 100), radius=radius)


def layer(p: bs.Approximated, radius: Any = sp.oo) -> bs.Approximated:
    product = bs.rules.linear_map(p, "W p", operator_norm=K, dim=d, matrix="W")
    return bs.rules.apply_function(product, "r(W p)", eps=eps, lipschitz=1, size=1, function="r", radius=radius)


def deep() -> bs.Approximated:
    return bs.rules.repeat(bs.rules.given("x", dim=d, size=1), "output", layer, N)


def operands(**changes: Any) -> dict[str, Any]:
    return {"x": [0.5, -1.0], "W": MATRIX, "r": tanh(), **changes}


def shown(of: bs.Approximated | None = None, **arguments: Any) -> Steps:
    letters = {**LETTERS, **arguments.pop("letters", {})}
    return at(layer(bs.rules.given("x", dim=d, size=1)) if of is None else of, operands(**arguments), letters)


@every_arithmetic
def test_each_step_has_its_size_error_and_bound(bits: int | None) -> None:
    x = bs.rules.given("x", dim=d, size=1)
    steps = at(layer(x), operands(), LETTERS, bits=bits)
    arguments = MATRIX @ torch.tensor([0.5, -1.0], dtype=torch.float64)
    assert [row.name for row in steps] == ["x", "W p", "r(W p)"]
    assert steps["W p"].size == pytest.approx(float(arguments.abs().max()))
    assert steps["r(W p)"].error == pytest.approx(0.01 * float(torch.tanh(arguments).abs().max()))
    assert steps["r(W p)"].ratio == pytest.approx(1, abs=1e-9)
    assert steps["r(W p)"].by == "enclosure"
    assert steps.proved == (bits is not None)


@every_arithmetic
def test_layers_are_followed_one_by_one(bits: int | None) -> None:
    row = at(deep(), operands(), LETTERS, bits=bits)["output"]
    assert row.ratio is not None
    assert 1 <= row.ratio < 1.03
    several = operands(W=tuple(MATRIX * factor for factor in (1, 0.5, -1)), r=(tanh(), tanh(3.0), tanh()))
    own = at(deep(), several, LETTERS, bits=bits)["output"]
    assert own.error is not None
    assert own.bound is not None
    assert own.error <= own.bound < 1.03 * own.error


@every_arithmetic
def test_the_steps_of_each_layer_are_shown(bits: int | None) -> None:
    steps = at(deep(), operands(), LETTERS, bits=bits)
    inner = [f"output, layer {place}: {name}" for place in (1, 2, 3) for name in ("W p", "r(W p)")]
    assert [row.name for row in steps] == ["x", *inner, "output"]
    for row in steps:
        assert row.error is not None
        assert row.bound is not None
        assert row.error <= row.bound * (1 + 1e-12)
    last, whole = steps["output, layer 3: r(W p)"], steps["output"]
    assert (last.size, last.error) == (whole.size, whole.error)
    assert whole.bound is not None
    assert last.bound == pytest.approx(whole.bound)


def test_the_rule_decides_where_nothing_else_is_known() -> None:
    x = bs.rules.given("x", dim=d, size=1)
    steps = shown(layer(x), r=bs.Smooth(torch.tanh, lambda z: 0.99 * torch.tanh(z)))
    assert steps["r(W p)"].bound == pytest.approx(0.01)  # eps + 1 * 0
    unnamed = bs.rules.linear_map(
        bs.rules.linear_map(x, "A x", operator_norm=2, dim=d), "W A x", operator_norm=K, dim=d
    )
    row = at(unnamed, {"x": bs.Emulated([0.5, 0.5], [0.5, 0.5])}, LETTERS)["W A x"]
    assert (row.by, row.stopped, row.bound) == ("rule", "after A x", 0)


def test_the_table_reads_well() -> None:
    steps = shown()
    lines = str(steps).splitlines()
    assert lines[0].split() == ["step", "rule", "norm", "size", "error", "bound", "ratio", "by"]
    assert len(lines) == 4
    assert re.search(r"r\(W p\) +apply a function +inf +0\.4621 +0\.004621 +0\.004621 +1 +enclosure", lines[3])
    html = steps._repr_html_()
    assert "<table><tr><th>step</th>" in html
    assert html.count("<tr>") == 4
    with pytest.raises(KeyError, match="no step 'y'; there are x, W p, r"):
        steps["y"]


def test_text_is_no_markup() -> None:
    x = bs.rules.linear_map(bs.rules.given("<x>", dim=2, size=1), "A & x", operator_norm=K, dim=2, matrix="W")
    html = at(x, {"<x>": [0.5, 0.5], "W": 0.5}, {K: 1})._repr_html_()
    assert "<td>&lt;x&gt;</td>" in html
    assert "A &amp; x" in html


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_a_handle_that_nothing_binds() -> None:
    with pytest.raises(UsageError, match=r"nothing binds 'r' \(step 'r\(W p\)'\); the handles are W, r, x"):
        at(layer(bs.rules.given("x", dim=d, size=1)), {"x": [0.5, 0.5], "W": MATRIX}, LETTERS)


def test_a_handle_that_no_step_names() -> None:
    with pytest.raises(UsageError, match="no step names 'M'; the handles are W, r, x"):
        shown(M=MATRIX)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"x": [0.5, 0.5, 0.5]}, r"step 'x': expected an array whose last axis has length d = 2, got the shape \(3,\)"),
        ({"x": 0.5}, r"step 'x': expected an array whose last axis has length d = 2, got the shape \(\)"),
        (
            {"W": torch.ones(2, 3, dtype=torch.float64)},
            r"step 'W p': 'W' of shape \(2, 3\) and 'x' of shape \(2,\) do not fit",
        ),
        (
            {"W": torch.ones(2, dtype=torch.float64)},
            r"step 'W p': a vector for 'W' gives one number for each token, but the value has no",
        ),
        (
            {"W": torch.ones(2, 2, 2, dtype=torch.float64)},
            r"step 'W p': expected a matrix, a vector or a number for 'W', got an array of shape \(2, 2, 2\)",
        ),
        ({"W": (MATRIX, MATRIX)}, r"step 'W p': 'W' is bound to a tuple, but the step is in no repeated layer"),
    ],
    ids=str,
)
def test_an_operand_of_another_shape(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        shown(**changes)


def perturbed() -> bs.Approximated:
    return bs.rules.perturbed_map(
        bs.rules.given("x", dim=2, size=1, error=1), "A x", operator_norm=1, perturbation=1, dim=2, matrix="A"
    )


def iterated() -> bs.Approximated:
    return bs.rules.contract(
        bs.rules.given("x", dim=2, size=1, error=1), "z", factor=HALF, offset=0, depth=2, size=1, matrix="A"
    )


PAIR = Emulated([0.5, 0.5], [0.5, 0.25])
PAIRED = bs.rules.given("x", dim=1, size=2, error=1)
HALF = sp.Rational(1, 2)
NARROW, DEEP = torch.ones(1, 2, dtype=torch.float64), torch.ones(1, 2, 2, dtype=torch.float64)


@every_arithmetic
@pytest.mark.parametrize(
    ("of", "matrix", "words"),
    [
        (
            perturbed,
            torch.ones(2, dtype=torch.float64),
            r"step 'A x': expected a matrix or a number for 'A', got an array of shape \(2,\)",
        ),
        (perturbed, DEEP, r"step 'A x': expected a matrix or a number for 'A', got an array of shape \(1, 2, 2\)"),
        (
            perturbed,
            torch.ones(2, 3, dtype=torch.float64),
            r"step 'A x': 'A' of shape \(2, 3\) and 'x' of shape \(2,\) do not fit: ",
        ),
        (
            iterated,
            torch.ones(2, dtype=torch.float64),
            r"step 'z': expected a square matrix or a number for 'A', got an array of shape \(2,\)",
        ),
        (iterated, NARROW, r"step 'z': expected a square matrix or a number for 'A', got an array of shape \(1, 2\)"),
        (iterated, DEEP, r"step 'z': expected a square matrix or a number for 'A', got an array of shape \(1, 2, 2\)"),
    ],
    ids=["vector", "deep", "wide", "iterated vector", "iterated narrow", "iterated deep"],
)
def test_a_matrix_of_another_shape(
    of: Callable[[], bs.Approximated], matrix: torch.Tensor, words: str, bits: int | None
) -> None:
    assert at(of(), {"x": PAIR, "A": 0.5 * torch.eye(2, dtype=torch.float64)}, bits=bits).rows[-1].bound is not None
    with pytest.raises(UsageError, match=words):
        at(of(), {"x": PAIR, "A": matrix}, bits=bits)


@every_arithmetic
def test_a_prompt_without_tokens(bits: int | None) -> None:
    with pytest.raises(UsageError, match=r"step 'x': no tokens in an array of shape \(0, 2\); give at least one"):
        at(bs.rules.given("x", dim=2, size=1), {"x": torch.zeros(0, 2, dtype=torch.float64)}, bits=bits)


@pytest.mark.parametrize(("tenth", "held"), [("balls", True), ("float", False)])
def test_a_float_in_the_place_of_a_fraction_is_told_apart_in_balls(tenth: str, held: bool) -> None:
    """0.1 is above 1/10 by 5.6e-18."""
    p = bs.rules.linear_map(PAIRED, "A x", operator_norm=sp.Rational(1, 10), dim=1, matrix="A")
    exact = BallArray([flint.arb(flint.fmpq(1, 10))], (1, 1), 128)
    prompt = {"x": Emulated([0.5], [1.5]), "A": exact if tenth == "balls" else [[0.1]]}
    if held:
        assert at(p, prompt, bits=128).rows[-1].bound is not None
        return
    words = r"step 'A x' errs by 0\.1 at this prompt, above its bound by 5\.55e-18 \(a float such as 0\.1 is not 1/10"
    with pytest.raises(UsageError, match=words):
        at(p, prompt, bits=128)


def test_a_tuple_of_too_few_layers() -> None:
    with pytest.raises(UsageError, match=r"'W' has 2 members; layer 3 needs one"):
        shown(deep(), W=(MATRIX, MATRIX))


def test_a_number_of_layers_that_nothing_binds() -> None:
    with pytest.raises(UsageError, match="step 'output' needs the number N, which nothing binds to a whole number"):
        at(deep(), operands(), {eps: 0.01, K: 0.75, d: 2})


def test_an_approximant_without_a_supremum() -> None:
    with pytest.raises(
        UsageError, match=r"step 'r.W p.': nothing bounds the error of the approximant 'r'; give .* or the letter eps"
    ):
        at(
            layer(bs.rules.given("x", dim=d, size=1)),
            operands(r=bs.Smooth(torch.tanh, torch.sin)),
            {K: 0.75, d: 2},
        )


def test_an_approximant_in_the_place_of_a_function_that_the_rule_takes_as_exact() -> None:
    exact = bs.rules.apply_function(
        bs.rules.given("x", dim=d, size=1), "f(x)", eps=0, lipschitz=1, size=1, function="f"
    )
    with pytest.raises(UsageError, match="nothing bounds the error of the approximant 'f'"):
        at(exact, {"x": [0.5, 0.5], "f": bs.Smooth(torch.tanh, torch.sin)}, {d: 2})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"x": [0.5, -1.5]}, "'x' has the size 1.5 in the inf-norm, above 1"),
        ({"x": bs.Emulated([0.5, 0.5], [0.5, 0.75])}, "'x' has the error 0.25 in the inf-norm, above 0"),
    ],
    ids=str,
)
def test_a_prompt_outside_the_domain(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=f"a hypothesis is not met here: {words}"):
        shown(**changes)


def test_letters_outside_the_hypotheses_of_a_step() -> None:
    with pytest.raises(UsageError, match=r"a hypothesis of step .r.W p.. is not met here"):
        shown(layer(bs.rules.given("x", dim=d, size=1), radius=sp.Rational(1, 2)))


def test_sizes_too_large_for_balls() -> None:
    with pytest.raises(UsageError, match="take more than 20 ball operations; take a smaller prompt"):
        at(deep(), operands(), LETTERS, bits=128, limit=20)


@every_arithmetic
def test_a_value_of_another_length_than_its_step_names_the_operands(bits: int | None) -> None:
    wide = bs.rules.linear_map(bs.rules.given("x", dim=d, size=1), "A x", operator_norm=K, dim=3, matrix="A")
    words = r"step 'A x': expected an array whose last axis has length 3, got the shape \(2,\) from 'A' of shape "
    with pytest.raises(UsageError, match=words + r"\(2, 2\) and 'x' of shape \(2,\)"):
        at(wide, {"x": [0.5, 0.5], "A": MATRIX}, LETTERS, bits=bits)


@every_arithmetic
@pytest.mark.parametrize("scale", [1e-14, 1.0, 1e6])
def test_declared_sizes_and_errors_are_compared_in_their_own_units(bits: int | None, scale: float) -> None:
    """1 % above is refused at any scale; what float64 rounds is not."""
    x = bs.rules.given("x", dim=1, size=scale, error=scale / 4)
    exact = 2.0 ** round(math.log2(scale) - 1)
    for size, error in ((1.01 * scale, 0.0), (exact, 0.26 * scale)):
        with pytest.raises(UsageError, match="a hypothesis is not met here: 'x' has the"):
            at(x, {"x": bs.Emulated([size], [size + error])}, bits=bits)
    third = bs.rules.given("x", dim=1, size=1, error=sp.Float(1e-9))
    assert at(third, {"x": bs.Emulated([1.0], [1.0 + 1e-9])}, bits=bits)["x"].bound is not None
