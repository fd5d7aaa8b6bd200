"""Handles of a theorem: the scopes that they add, the bounds that are read, and what is refused."""

import math
from dataclasses import replace
from typing import Any

import pytest
import sympy as sp
import torch

import boundsmith as bs
from bridge.instances.instance import Instance
from bridge.questions.replaying import replay_witness
from bridge.theorems.parts import ExactRuns
from bridge.theorems.record import Verdict
from symbolic.words.errors import UsageError
from tests.bridge.theorems.theorem.theorems import compared, row_of

eps, K = sp.symbols("eps K", positive=True)
N, d = sp.symbols("N d", integer=True, positive=True)
t = sp.Symbol("t", real=True)
PROMPT, LOCAL = "prompt", "prompt, local"


def layer(p: bs.Approximated) -> bs.Approximated:
    product = bs.rules.linear_map(p, "W p", operator_norm=K, dim=d, matrix="W")
    return bs.rules.apply_function(product, "r(W p)", eps=eps, lipschitz=1, size=1, function="r")


def chain() -> bs.Approximated:
    return bs.rules.repeat(bs.rules.given("x", dim=d, size=1), "out", layer, N)


def states(W: Any, x: Any, N: int, gain: Any = 1) -> Any:
    for _ in range(N):
        x = gain * torch.tanh(W @ x)
    return x


def activation(eps: Any) -> bs.Smooth:
    """(1 - eps) tanh(t), which errs by at most eps |tanh(t)|."""
    return bs.Smooth(
        torch.tanh,
        lambda t: (1 - eps) * torch.tanh(t),
        [lambda t: 1 - torch.tanh(t) ** 2],
        {2: 0.77},
        slope_error=eps,
    )


def handles(W: Any, x: Any, eps: Any) -> dict[str, Any]:
    return {"W": W, "x": x, "r": activation(eps)}


def deep(*bounds: bs.Approximated, **changes: Any) -> bs.Theorem:
    arguments: dict[str, Any] = {
        "parameters": {eps: (0.01, 0.1), K: 1.5, N: 3, d: 3},
        "hypotheses": [eps < 1],
        "weights": {"W": bs.domains.Rows(d, bs.domains.Ball(d, norm=1, radius=K))},
        "inputs": {"x": bs.domains.Box(d)},
        "network": lambda W, x, N, eps: states(W, x, N, 1 - eps),
        "reference": lambda W, x, N: states(W, x, N),
        "handles": handles,
    }
    return bs.theorem("deep", *(bounds or [chain()]), **{**arguments, **changes})


def instance_of(theorem: bs.Theorem, **params: Any) -> Instance:
    return Instance.of(theorem, {"eps": 0.1, "K": 1.5, "N": 3, "d": 3, **params})


def on_tensors(instance: Instance, batch: dict[str, torch.Tensor], scope: str) -> torch.Tensor:
    return instance.on_tensors.at([instance.quantity("out")], batch, scope)["out"]


# --- scopes and bounds ------------------------------------------------------------------------------------------------


def test_each_scope_is_sharper_than_the_one_before() -> None:
    found = compared(deep(), attack=20)
    for value in (0.01, 0.1):
        rows = {row.scope: row for row in found if row.params["eps"] == value}
        assert set(rows) == {"network", PROMPT, LOCAL, None}
        ratios = [rows[scope].ratio for scope in ("network", PROMPT, LOCAL)]
        assert None not in ratios
        assert sorted(ratios, reverse=True) == ratios
        assert ratios[-1] < 1.3
        assert all(set(row.verdict.values()) == {Verdict.KEPT} for row in rows.values())


def test_bounds_at_a_prompt_agree_on_batches_and_on_balls() -> None:
    instance = instance_of(deep())
    inputs = instance.inputs.sample(5, seed=3)
    quantity = instance.quantity("out")
    assert quantity.scopes == ("network", PROMPT, LOCAL)
    for scope in (PROMPT, LOCAL):
        for place, bound in enumerate(on_tensors(instance, inputs, scope)):
            one = {name: value[place : place + 1] for name, value in inputs.items()}
            exact = instance.bounds.instance(quantity, scope, one)
            assert exact is not None
            assert float(exact.ball) == pytest.approx(float(bound), rel=1e-9)
            error, _ = instance.runs.exact(one, ["out"], 128)["out"]
            assert error <= exact.ball


def test_without_a_slope_error_there_is_one_reading() -> None:
    plain = deep(handles=lambda W, x, eps: {"W": W, "x": x, "r": bs.Smooth(torch.tanh, activation(eps).approximate)})
    assert instance_of(plain).quantity("out").scopes == ("network", PROMPT)


def test_letters_of_the_network_serve_the_reading() -> None:
    """In a batch of two networks each has its own norm."""
    theorem = deep(knows={K: lambda W: W.abs().sum(1).amax()})
    assert all(set(row.verdict.values()) == {Verdict.KEPT} for row in compared(theorem))
    known, unknown = (instance_of(each) for each in (theorem, deep()))
    prompt = known.inputs.sample(1, seed=0)
    sharper, looser = (float(on_tensors(each, prompt, PROMPT)) for each in (known, unknown))
    assert sharper <= looser


def test_a_layer_of_its_own_for_each_member_of_a_tuple() -> None:
    theorem = deep(
        weights={
            "W": bs.domains.Rows(d, bs.domains.Ball(d, norm=1, radius=K)),
            "V": bs.domains.Rows(d, bs.domains.Ball(d, norm=1, radius=K)),
        },
        parameters={eps: 0.1, K: 1.5, N: 2, d: 3},
        network=lambda W, V, x, eps: states(V, states(W, x, 1, 1 - eps), 1, 1 - eps),
        reference=lambda W, V, x: states(V, states(W, x, 1), 1),
        handles=lambda W, V, x, eps: {"W": (W, V), "x": x, "r": activation(eps)},
    )
    found = compared(theorem)
    assert all(set(row.verdict.values()) == {Verdict.KEPT} for row in found)
    ratio = row_of(found, "out", LOCAL).ratio
    assert ratio is not None
    assert ratio < 1.3


def test_a_planted_error_of_the_reading_is_found() -> None:
    """The handles claim that the approximant errs by less than it does."""

    def wrong(W: Any, x: Any, eps: Any) -> dict[str, Any]:
        good = activation(eps)
        small = bs.Smooth(good.exact, good.approximate, good.derivatives, good.suprema, error=eps / 10)
        return {"W": W, "x": x, "r": small}

    theorem = deep(handles=wrong)
    row = row_of(compared(theorem, eps=0.1), "out", PROMPT)
    assert row.verdict == {"instance": Verdict.VIOLATED}
    assert row.witness is not None
    again = replay_witness(row.witness, theorem=theorem)
    assert again.verdict["instance"] is Verdict.VIOLATED
    assert again.scope == PROMPT


def test_a_function_beyond_its_range_falls_back_to_the_rules() -> None:
    narrow = deep(
        built={"r": lambda eps: bs.Smooth.of(sp.tanh(t), t, approximate=(1 - sp.Rational(eps)) * sp.tanh(t), radius=1)},
        handles=lambda W, x, r: {"W": W, "x": x, "r": r},
        parameters={eps: 0.1, K: 1.5, N: 1, d: 3},
    )
    instance = instance_of(narrow, N=1)
    quantity = instance.quantity("out")
    W = instance.known.weights["W"]
    outside = {"x": torch.sign(W[W.abs().sum(1).argmax()])[None] / 1.0}
    assert float((W @ outside["x"][0]).abs().max()) > 1
    bound = instance.bounds.instance(quantity, LOCAL, outside)
    assert bound is not None
    assert float(bound.ball) == pytest.approx(0.1)  # eps, of the rule
    assert "may leave the range" not in bound.remark
    inside = {"x": outside["x"] / 2}
    sharper = instance.bounds.instance(quantity, LOCAL, inside)
    assert sharper is not None
    assert sharper.ball < 0.08
    assert all(set(row.verdict.values()) == {Verdict.KEPT} for row in compared(narrow))


def test_a_step_without_an_enclosure_falls_back_and_says_so() -> None:
    x = bs.rules.given("x", dim=d, size=1)
    unnamed = bs.rules.linear_map(layer(x), "out", operator_norm=1, dim=d)
    theorem = deep(unnamed, network=lambda W, x, eps: states(W, x, 1, 1 - eps), reference=lambda W, x: states(W, x, 1))
    row = row_of(compared(theorem, eps=0.1), "out", PROMPT)
    assert row.remark == (
        "the reading of the derivation stops at 'out' ('linear map' has no enclosure: without matrix= it names no "
        "operands); from there on the rules bound the error"
    )
    assert row.verdict == {"instance": Verdict.KEPT}
    assert row.instance == pytest.approx(0.1)


def test_a_quantity_of_whose_handles_none_is_bound_is_not_read() -> None:
    theorem = deep(bs.rules.given("other", dim=d, size=1, error=eps), chain())
    instance = instance_of(theorem)
    assert instance.quantity("other").scopes == ("network",)
    assert instance.quantity("out").scopes == ("network", PROMPT, LOCAL)


def test_too_large_for_balls_leaves_the_bound_of_the_rules() -> None:
    instance = instance_of(replace(deep(), exact=ExactRuns(limit=200)))
    bound = instance.bounds.instance(instance.quantity("out"), LOCAL, instance.inputs.sample(1, 0))
    assert bound is not None
    assert "too large for exact arithmetic" in bound.remark
    rules = instance.bounds.instance(instance.quantity("out"), "network")
    assert rules is not None
    assert float(bound.ball) == float(rules.ball)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_network_in_low_precision_is_read_in_float64(dtype: str) -> None:
    rows = compared(deep(), eps=0.1, dtype=dtype)
    assert {row.scope for row in rows} == {"network", PROMPT, LOCAL, None}
    assert all(set(row.verdict.values()) == {Verdict.KEPT} for row in rows)


def test_a_distance_that_is_no_norm_has_no_bound_read() -> None:
    theorem = replace(deep(), distance=lambda found, truth: (found - truth).abs().amax())
    instance = instance_of(theorem)
    assert instance.quantity("out").scopes == ("network",)
    assert {row.scope for row in compared(theorem, eps=0.1)} == {"network", None}  # faithful too


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (
            lambda W, x: {"W": W, "x": x},
            "the handles: nothing binds 'r', which step 'out' wants; the handles are W, r, x",
        ),
        (lambda W: {}, "nothing binds 'x', which step 'x' wants, 'W', which step 'out' wants, 'r'"),
        (lambda W, x, eps: {**handles(W, x, eps), "V": W}, "the handles: no step names 'V'; the handles are W, r, x"),
        (lambda W, x, eps: [W, x], "the handles return list; return a dict with an operand for each handle"),
        (lambda W, x, eps: {**handles(W, x, eps), "W": "W"}, "the handles bind 'W' to str; give an array, a number"),
        (lambda W, x, eps: handles(W[:, :2], x, eps), r"step 'out': 'W' of shape \(3, 2\)"),
        (lambda W, x, eps: handles(W, x[:2], eps), "step 'x': expected an array whose last axis has length d = 3"),
        (lambda W, x, eps: handles(W, 2 * x, eps), "a hypothesis is not met here: 'x' has the size 1.* above 1"),
        (lambda W, x, eps: handles(W, x.nothing, eps), "the handles raised AttributeError"),
    ],
)
def test_handles_that_do_not_fit(changed: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        compared(deep(handles=changed))


def test_handles_that_take_an_unknown_name() -> None:
    with pytest.raises(UsageError, match="the handles takes y, which is not a parameter, weight or input"):
        deep(handles=lambda y: {"x": y})


def test_handles_of_a_theorem_without_prompts() -> None:
    with pytest.raises(UsageError, match="deep: handles bind operands at a prompt, but there are no inputs"):
        deep(inputs={}, network=None, reference=None, handles=lambda W: {"W": W})


def test_no_step_names_an_operand() -> None:
    with pytest.raises(UsageError, match="no step names 'V'"):
        compared(deep(bs.rules.given("out", dim=d, size=1, error=eps), handles=lambda W: {"V": W}))


def test_the_statement_alone_asks_nothing_of_the_handles() -> None:
    """`solve` and `show` do not run them."""
    theorem = deep(handles=lambda W: 1 / 0)
    assert math.isfinite(bs.solve(theorem, for_="eps", error=1e-2).value)
    assert theorem.latex()


# --- what the rules were given ----------------------------------------------------------------------------------------


def given_a_norm(rate: Any) -> bs.Theorem:
    """One layer whose matrix is diag(3/4, ...), derived with the norm `rate`."""
    x = bs.rules.given("x", dim=d, size=1)
    product = bs.rules.linear_map(x, "W p", operator_norm=rate, dim=d, matrix="W")
    out = bs.rules.apply_function(product, "out", eps=eps, lipschitz=1, size=1, function="r")
    return deep(
        out,
        handles=lambda W, x, eps: {
            "W": 0 * W + 0.75 * torch.eye(len(x), dtype=torch.float64).to(W),
            "x": x,
            "r": activation(eps),
        },
        network=lambda x, eps: (1 - eps) * torch.tanh(0.75 * x),
        reference=lambda x: torch.tanh(0.75 * x),
    )


def test_a_bound_that_rests_on_a_norm_of_another_matrix_is_outside() -> None:
    kept = row_of(compared(given_a_norm(sp.Rational(3, 4)), eps=0.1), "out", PROMPT)
    assert kept.verdict == {"instance": Verdict.KEPT}
    row = row_of(compared(given_a_norm(sp.Rational(1, 2)), eps=0.1), "out", PROMPT)
    assert row.verdict == {"instance": Verdict.OUTSIDE}
    assert "step 'W p': the norm of 'W' in the inf-norm is 0.75, above the 0.5 that rule 'linear map' was" in row.remark


# g(A g(x)), |x| = 0.61: the first root mean square is that of 0.61, the second one that of A times sqrt(2).
def twice_normalised(number: float) -> bs.Theorem:
    x = bs.rules.given("x", dim=2, norm=2, size=2)
    noisy = bs.rules.perturbed_function(x, "near x", lipschitz=1, eps=eps, size=2, function="shift")
    once = bs.rules.rms_normalise(noisy, "once", least=0.5, exact_least=0.61)
    scaled = bs.rules.linear_map(once, "A once", operator_norm=1, dim=2, matrix="A")
    out = bs.rules.rms_normalise(scaled, "out", least=0.5, exact_least=0.9)

    def normalised(v: torch.Tensor) -> torch.Tensor:
        return v / torch.sqrt((v * v).mean(-1, keepdim=True))

    def network(x: torch.Tensor, eps: Any) -> torch.Tensor:
        return normalised(number * normalised(x + torch.stack([0 * x[0], 0 * x[0] + eps])))

    return bs.theorem(
        "twice",
        out,
        parameters={eps: 0.05},
        inputs={"x": bs.domains.Sphere(2, radius=0.61)},
        handles=lambda x, eps: {
            "x": x,
            "A": 0 * x[0] + number,
            "shift": bs.Smooth(lambda z: z, lambda z: z + torch.stack([0 * z[0], 0 * z[0] + eps])),
        },
        network=network,
        reference=lambda x: normalised(number * normalised(x)),
    )


def test_a_bound_that_rests_on_the_length_of_another_argument_is_outside() -> None:
    kept = row_of(compared(twice_normalised(0.7)), "out", PROMPT)
    assert kept.verdict == {"instance": Verdict.KEPT}
    row = row_of(compared(twice_normalised(0.002)), "out", PROMPT)
    assert row.verdict == {"instance": Verdict.OUTSIDE}
    assert "step 'out': the 2-norm of the exact argument is 0.00282843, below the 0.9 that rule" in row.remark


def test_a_bound_beyond_the_range_of_a_function_is_conditional() -> None:
    narrow = deep(
        built={"r": lambda eps: bs.Smooth.of(sp.tanh(t), t, approximate=(1 - sp.Rational(eps)) * sp.tanh(t), radius=1)},
        handles=lambda W, x, r: {"W": W, "x": x, "r": r},
        parameters={eps: 0.1, K: 1.5, N: 1, d: 3},
    )
    instance = instance_of(narrow, N=1)
    W = instance.known.weights["W"]
    corner, quantity = torch.sign(W[W.abs().sum(1).argmax()])[None], instance.quantity("out")
    outside, inside = (instance.bounds.instance(quantity, LOCAL, {"x": x}) for x in (corner, corner / 2))
    assert outside is not None
    assert inside is not None
    assert (outside.conditional, inside.conditional) == (True, False)
    assert outside.premises == [
        "the argument of step 'out' stays where its function is known: the bound of its rule is used"
    ]
