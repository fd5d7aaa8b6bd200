"""Means of random draws in the place of expectations: the rules written by hand, and brute force in plain numpy."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy as sp
import torch

import boundsmith as bs
from bridge.lowering.formula import evaluate

B, K, delta, p, w = sp.symbols("B K delta p w", positive=True)
n, d, N, m = sp.symbols("n d N m", integer=True, positive=True)
tanh, sigmoid = bs.function(sp.tanh), bs.function(lambda t: 1 / (1 + sp.exp(-t)), name="sigmoid")
SEEDS = 4000


def bound_of(theorem: bs.Theorem, **numbers: float) -> float:
    derived = theorem.statement.quantity(theorem.main).derived()
    return float(evaluate(derived, {letter: numbers[letter.name] for letter in derived.free_symbols}))


def through_layers(**how: Any) -> bs.Theorem:
    """tanh(W .) from the mean of n draws on, N times."""
    z, W = bs.draws("z", n, d, **{"size": B, **how}), bs.matrix("W", d, d, row_sums=K)
    output = bs.repeat(lambda h: tanh(W @ h), z.sample_mean(delta), N)
    parameters = {B: 1.0, n: 16, d: 2, K: 0.9, N: 2, delta: 0.3}
    return bs.theorem("mean of draws", output, parameters=parameters, hypotheses=[delta < 1])


def test_the_bound_is_that_of_the_rules_written_by_hand() -> None:
    draw = bs.rules.given("z", dim=d, size=B)
    mean = bs.rules.sample_mean(draw, "mean", count=n, event=bs.Event("mean", over="z"))

    def layer(h: bs.Approximated) -> bs.Approximated:
        product = bs.rules.linear_map(h, "W h", operator_norm=K, dim=d)
        return bs.rules.apply_function(product, "tanh", eps=0, lipschitz=1, size=1)

    by_hand = bs.rules.within_budget(bs.rules.repeat(mean, "layers", layer, N), "output", delta=delta)
    quantity = through_layers().statement.quantity("output")
    assert sp.simplify(quantity.derived() - by_hand.error) == 0
    assert quantity.may_fail == delta


# Signs through layers along one direction, W = K I: the error is K^N |mean| up to the slope of tanh.
def test_draws_fail_less_often_than_stated_but_do_fail() -> None:
    bound = bound_of(through_layers(), B=0.01, n=16, d=2, K=0.9, N=2, delta=0.3)
    drawn = 0.01 * np.random.default_rng(1).choice([-1.0, 1.0], (SEEDS, 16, 2)).mean(1)
    errors = np.abs(np.tanh(0.9 * np.tanh(0.9 * drawn))).max(-1)
    assert 0.02 < (errors > bound).mean() < 0.3


def test_many_draws_are_judged_by_the_engine() -> None:
    theorem = through_layers(domain=bs.domains.Signs(d, size=B))
    (row,) = bs.compare(theorem, samples=200).rows
    assert (row.seeds, row.verdict) == (200, {"derived": bs.Verdict.KEPT})
    assert 0 < row.median < row.measured < row.derived
    assert bs.solve(theorem, for_="n", error=0.1).value == np.ceil(2 * (0.81 / 0.1) ** 2 * np.log(4 / 0.3))


def test_a_bound_that_is_too_small_is_violated() -> None:
    z = bs.draws("z", n, d, domain=bs.domains.Signs(d, size=B), size=B)
    theorem = bs.theorem(
        "too small", z.sample_mean(delta), parameters={B: 1.0, n: 16, d: 2, delta: 0.01}, printed=B / sp.sqrt(n)
    )
    (row,) = bs.compare(theorem, samples=200).rows
    assert row.verdict == {"derived": bs.Verdict.KEPT, "printed": bs.Verdict.VIOLATED}


# 0 or 1 with probability p: within 1/2 of 1/2, so that the deviation is half of what the size says.
def coins(seed: int, n: int, d: int, p: float) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return (torch.rand(n, d, generator=generator, dtype=torch.float64, device="cpu") < p).double()


def test_a_program_may_draw_around_a_known_mean() -> None:
    z = bs.draws("z", n, d, size=1, radius=sp.Rational(1, 2), program=coins, mean=p)
    V = bs.matrix("V", m, d, row_sums=K)
    theorem = bs.theorem("coins", V @ z.sample_mean(delta), parameters={n: 25, d: 3, m: 2, K: 1.0, p: 0.25, delta: 0.1})
    bound = bound_of(theorem, n=25, d=3, m=2, K=1.0, p=0.25, delta=0.1)
    assert bound == pytest.approx(0.5 * np.sqrt(2 * np.log(60) / 25))
    V_near = np.eye(3)[:2]
    means = np.random.default_rng(0).binomial(25, 0.25, (SEEDS, 3)) / 25
    errors = np.abs((means - 0.25) @ V_near.T).max(-1)
    assert (errors > bound).mean() < 0.1
    (row,) = bs.compare(theorem, samples=100).rows
    assert row.verdict == {"derived": bs.Verdict.KEPT}
    assert row.measured == pytest.approx(np.abs(engine_errors(theorem, 100)).max())
    assert theorem.statement.assumptions[0] == (
        "the draws z_1, ..., z_n are independent, each with a sup norm of at most 1 and coordinates within 1/2 of a "
        "centre and the expectation p"
    )


def engine_errors(theorem: bs.Theorem, seeds: int) -> np.ndarray:
    """V (mean - p) of the engine's own draws, by numpy."""
    V = theorem.weights["V"].at({m: 2, d: 3, K: 1.0})
    place = list(theorem.weights).index("V")
    generator = torch.Generator().manual_seed(int(np.random.SeedSequence([0, place]).generate_state(1)[0]))
    drawn = V.sample(1, generator)[0].numpy()
    means = np.array([coins(seed, 25, 3, 0.25).numpy().mean(0) for seed in range(seeds)])
    return (means - 0.25) @ drawn.T


def test_an_interval_is_drawn_around_its_middle() -> None:
    z = bs.draws("z", n, d, size=1, domain=bs.domains.Box(d, low=0, high=1))
    theorem = bs.theorem("interval", z.sample_mean(delta), parameters={n: 25, d: 3, delta: 0.1})
    assert bound_of(theorem, n=25, d=3, delta=0.1) == pytest.approx(0.5 * np.sqrt(2 * np.log(60) / 25))
    (row,) = bs.compare(theorem, samples=100).rows
    assert (row.failures, row.verdict) == (0, {"derived": bs.Verdict.KEPT})
    assert row.median < 0.2  # 0.5 if the expectation were 0


# E ||mean||^2 = R^2 / n on a sphere: the bound is the root of the mean square.
def test_in_expectation_the_bound_in_the_2_norm_is_the_root_of_the_mean_square() -> None:
    z = bs.draws("z", n, d, norm=B, domain=bs.domains.Sphere(d, radius=B))
    theorem = bs.theorem("sphere", z.sample_mean(), norm=2, parameters={B: 2.0, n: 9, d: 4})
    bound = bound_of(theorem, B=2.0, n=9, d=4)
    drawn = np.random.default_rng(0).normal(size=(SEEDS, 9, 4))
    drawn *= 2.0 / np.linalg.norm(drawn, axis=-1, keepdims=True)
    errors = np.linalg.norm(drawn.mean(1), axis=-1)
    assert np.sqrt((errors**2).mean()) == pytest.approx(bound, rel=0.03)
    assert errors.mean() < bound == pytest.approx(2.0 / 3)
    (row,) = bs.compare(theorem, samples=200).rows
    assert row.verdict == {"derived": bs.Verdict.KEPT}
    assert row.mean_at_least < row.measured == pytest.approx(errors.mean(), rel=0.1)


def test_an_odd_function_of_symmetric_draws_has_the_expectation_0() -> None:
    W, z = bs.matrix("W", d, d, row_sums=K), bs.draws("z", n, d, size=B)
    features = bs.repeat(lambda h: tanh(W @ h), z, N) - bs.quantised(W @ z, sp.Rational(1, 64))
    theorem = bs.theorem(
        "odd", features.sample_mean(delta), parameters={B: 1.0, n: 100, d: 2, K: 0.9, N: 2, delta: 0.1}
    )
    expected = (0.9 + 0.9) * np.sqrt(2 * np.log(40) / 100) + 1 / 128  # |tanh(t)| <= |t| in each layer
    assert bound_of(theorem, B=1.0, n=100, d=2, K=0.9, N=2, delta=0.1) <= expected + 0.9 * 1e-9
    (row,) = bs.compare(theorem, samples=60).rows
    assert (row.failures, row.verdict) == (0, {"derived": bs.Verdict.KEPT})


# E sigmoid(w z + 1) for z = +-1 is the mean of two values.
def test_the_expectation_of_another_function_is_a_program() -> None:
    z = bs.draws("z", n, 1, size=1, domain=bs.domains.Signs(1))
    biased = bs.function(lambda t: 1 / (1 + sp.exp(-t - 1)), name="biased")

    def program(w: Any, z: Any) -> Any:
        ones = torch.ones_like(z[0])
        return (torch.sigmoid(1 + w * ones) + torch.sigmoid(1 - w * ones)) / 2

    output = biased(w * z).sample_mean(delta, expectation=program)
    theorem = bs.theorem("sigmoid", output, parameters={w: 2.0, n: 400, delta: 0.1})
    draws = np.random.default_rng(3).choice([-1.0, 1.0], (SEEDS, 400))
    exact = (1 / (1 + np.exp(-3.0)) + 1 / (1 + np.exp(1.0))) / 2
    errors = np.abs((1 / (1 + np.exp(-2.0 * draws - 1))).mean(1) - exact)
    assert (errors > bound_of(theorem, w=2.0, n=400, delta=0.1)).mean() < 0.1
    (row,) = bs.compare(theorem, samples=100).rows
    assert row.verdict == {"derived": bs.Verdict.KEPT}
    assert row.median == pytest.approx(np.median(errors), rel=0.5)
    assert any("computed exactly" in each for each in theorem.statement.assumptions)


def test_a_network_that_errs_adds_its_error() -> None:
    W, z = bs.matrix("W", d, d, row_sums=K).rounded(B), bs.draws("z", n, d, size=1)
    theorem = bs.theorem("rounded", (W @ z).sample_mean(delta), parameters={B: 0.1, n: 64, d: 2, K: 1.0, delta: 0.1})
    expected = 0.1 * 2 / 2 + np.sqrt(2 * np.log(40) / 64)
    assert bound_of(theorem, B=0.1, n=64, d=2, K=1.0, delta=0.1) == pytest.approx(expected)
    (row,) = bs.compare(theorem, samples=60).rows
    assert row.verdict == {"derived": bs.Verdict.KEPT}


def test_two_means_fail_with_the_sum_of_their_probabilities() -> None:
    z, y = bs.draws("z", n, d, size=1), bs.draws("y", m, d, size=1)
    output = z.sample_mean(delta) + y.sample_mean(delta / 2)
    theorem = bs.theorem("two", output, parameters={n: 64, m: 16, d: 2, delta: 0.1})
    quantity = theorem.statement.quantity("output")
    assert sp.simplify(quantity.may_fail - delta * sp.Rational(3, 2)) == 0
    expected = np.sqrt(2 * np.log(40) / 64) + np.sqrt(2 * np.log(80) / 16)
    assert bound_of(theorem, n=64, m=16, d=2, delta=0.1) == pytest.approx(expected)
    (row,) = bs.compare(theorem, samples=60).rows
    assert row.verdict == {"derived": bs.Verdict.KEPT}


def test_prompts_are_attacked_after_the_draw_and_other_outputs_are_read_at_them() -> None:
    x, z = bs.vector("x", d, size=1), bs.draws("z", n, d, size=B)
    rounded = bs.quantised(x, sp.Rational(1, 16)).named("rounded")
    output = (rounded * z.sample_mean(delta)).named("output")
    theorem = bs.theorem("both", rounded, output, parameters={B: 1.0, n: 64, d: 2, delta: 0.1})
    rows = bs.compare(theorem, samples=20, attack=10, restarts=1).rows
    assert {(row.quantity, row.scope) for row in rows} >= {("rounded", "prompt"), ("output", None), ("faithful", None)}
    assert all(set(row.verdict.values()) == {bs.Verdict.KEPT} for row in rows)


def test_it_defines_the_mean_and_the_expectation() -> None:
    words = through_layers().statement.objects
    assert words[r"\mathrm{output}"] == "p_N, where p_0 = E(mean(z)) and p_l = tanh(W p_(l-1))"
    assert words[r"\widehat{\mathrm{output}}"] == "the same for p_0 = mean(z)"
    domain = through_layers().statement.quantity("output").domain  # no bound is about all draws
    assert domain == "W_i in R^d, ||W_i||_1 <= K for i = 1, ..., d"
    assert through_layers().statement.assumptions[0] == (
        "the draws z_1, ..., z_n are independent, each uniform: z_i in [-B, B]^d"
    )


z, x = bs.draws("z", n, d, size=1), bs.vector("x", d, size=1)
W = bs.matrix("W", d, d, row_sums=K)
AT = {n: 4, d: 2, delta: 0.1}


def stated(output: Any, **more: Any) -> Callable[[], Any]:
    return lambda: bs.theorem("wrong", output, parameters={**AT, **more})


def shared(length: int) -> Callable[..., torch.Tensor]:
    return lambda n, d, seed: torch.ones(n, length, dtype=torch.float64, device="cpu")


def signs(n: int, d: int, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return 2 * torch.randint(2, (n, d), generator=generator, dtype=torch.int64, device="cpu").double() - 1


def of_layer(h: Any, u: Any) -> Any:
    """Each token of h attends to two tokens, of which u is one."""
    keys = u.append(0)
    return bs.attend(bs.softmax(keys @ h), keys)


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "no bound": (lambda: bs.draws("z", n, d), "z: no norm is bounded; give size="),
    "a domain and a program": (
        lambda: bs.draws("z", n, d, size=1, domain=bs.domains.Box(d), program=coins),
        "z: it has a domain and a program; give the one that it is drawn by",
    ),
    "a domain of another shape": (
        lambda: bs.draws("z", n, d, size=1, domain=bs.domains.Box(n)),
        "z: one draw is in R^d, and its domain Box(n, size=1) has another shape",
    ),
    "a domain without uniform samples": (
        lambda: bs.draws("z", n, d, norm=1, domain=bs.domains.Shell(d)),
        "z: draws are uniform on a Box, Ball, Sphere, Signs, Simplex, and Shell(d, low=0, high=1) is none; give",
    ),
    "a radius of a 2-norm": (
        lambda: bs.draws("z", n, d, norm=1, radius=1),
        "z: a radius is about coordinates; give it beside size= alone",
    ),
    "a mean of a box": (
        lambda: bs.draws("z", n, d, size=1, domain=bs.domains.Box(d, low=0, high=1), mean=1),
        "z: the mean of its domain is 1/2; leave mean= out",
    ),
    "a radius of a box that is too small": (
        stated(bs.draws("y", n, d, size=1, radius=sp.Rational(1, 2)).sample_mean(delta)),
        "wrong: y is drawn with a radius of 1, above 1/2 = 0.5; make them agree",
    ),
    "a radius of a program that is too small": (
        stated(bs.draws("y", n, d, size=1, radius=delta, program=signs, mean=0).sample_mean(delta)),
        "wrong: y is drawn with a radius of 1, above delta = 0.1; make them agree",
    ),
    "a token of a layer of the prompt": (
        lambda: bs.repeat(lambda h, k: of_layer(h, bs.tokens("u", N, d, size=1)[k]), z, N).sample_mean(delta),
        "u varies with the prompt",
    ),
    "a vector": (lambda: x.sample_mean(delta), "sample_mean: tokens are needed: x is in R^d"),
    "tokens that are not drawn": (
        lambda: bs.tokens("V", n, d, size=1).sample_mean(delta),
        "V.sample_mean: it is made of no draws; make it of one bs.draws(...)",
    ),
    "two of them": (
        lambda: (z + bs.draws("y", n, d, size=1)).sample_mean(delta),
        "z + y.sample_mean: it is made of z and y; make it of one",
    ),
    "attention among draws": (
        lambda: bs.attend(bs.softmax(z @ z), z).sample_mean(delta),
        "sample_mean: <z, z> mixes the draws, which are no longer independent",
    ),
    "a prompt inside": (
        lambda: (bs.tokens("V", n, d, size=1) * z).sample_mean(delta),
        "V varies with the prompt, and the bound holds for each prompt alone; make it a weight",
    ),
    "a matrix of the prompt": (
        lambda: (bs.matrix("A", d, d, row_sums=1, varies=True) @ z).sample_mean(delta),
        "A varies with the prompt",
    ),
    "a value of the prompt": (
        lambda: (bs.value("v", lambda x: x, dim=d, count=n, size=1, inputs={}) * z).sample_mean(delta),
        "v varies with the prompt",
    ),
    "an unknown expectation": (
        lambda: sigmoid(z).sample_mean(delta),
        "sigmoid(z).sample_mean: its expectation is not known; give expectation=, a program of parameters and weights",
    ),
    "an odd function of draws around another centre": (
        lambda: tanh(bs.draws("y", n, d, size=1, domain=bs.domains.Box(d, low=0, high=1))).sample_mean(delta),
        "tanh(y).sample_mean: its expectation is not known",
    ),
    "a square": (lambda: (z * z).sample_mean(delta), "(z)*(z).sample_mean: its expectation is not known"),
    "draws without a mean": (
        lambda: bs.draws("y", n, d, size=1, program=coins).sample_mean(delta),
        "y.sample_mean: its expectation is not known; give expectation=, a program of parameters and weights or mean= "
        "to bs.draws",
    ),
    "an expectation that is a number": (
        lambda: sigmoid(z).sample_mean(delta, expectation=0.5),
        "expected a program as expectation, got float",
    ),
    "a probability that is a text": (
        lambda: z.sample_mean("delta"),
        "expected a number or a SymPy expression as a probability of failure, got str",
    ),
    "a probability above 1": (stated(z.sample_mean(2)), "the probability 2 of failure; give a share above 0, at most"),
    "a mean in layers": (
        stated(bs.repeat(lambda h: h + z.sample_mean(delta), x, 3)),
        "wrong: mean(z) stands in layers that repeat, each of which would draw anew; take the mean before them",
    ),
    "a function of a bound in expectation": (
        stated(bs.softmax(z.sample_mean())),
        "no rule bounds output: softmax: the error of 'output' is not linear in those of its premises",
    ),
    "a program of another shape": (
        stated(bs.draws("y", n, d, size=1, program=shared(3), mean=1).sample_mean(delta)),
        "wrong: y is drawn in the shape [4, 3], expected [4, 2]",
    ),
    "a program beyond its bound": (
        stated(bs.draws("y", n, d, size=sp.Rational(1, 2), program=shared(2), mean=1).sample_mean(delta)),
        "wrong: y is drawn with a norm of 1, above 1/2 = 0.5; make them agree",
    ),
    "a domain beyond its bound": (
        stated(bs.draws("y", n, d, size=1, domain=bs.domains.Box(d, size=2)).sample_mean(delta)),
        "wrong: y is drawn with a norm of 2, above 1 = 1; make them agree",
    ),
    "a number of draws that is no parameter": (
        stated(bs.draws("y", m, d, size=1, program=shared(2), mean=0).sample_mean(delta)),
        "wrong: y has the letter m, which is not a parameter",
    ),
    "a size that is no parameter": (
        stated(bs.draws("y", n, d, size=B, program=shared(2), mean=0).sample_mean(delta)),
        "wrong: y has the letter B, which is not a parameter",
    ),
    "a program that takes a weight": (
        stated(bs.draws("y", n, d, size=1, program=lambda n, W, seed: W, mean=0).sample_mean(delta)),
        "wrong: the program of 'y' takes W, which is neither a parameter nor the seed",
    ),
    "a mean that takes a weight": (
        stated(bs.draws("y", n, d, size=1, program=shared(2), mean=lambda W: W).sample_mean(delta)),
        "wrong: the mean of 'y' takes W, which is not a parameter",
    ),
    "an expectation of a prompt": (
        stated(x + sigmoid(z).sample_mean(delta, expectation=lambda x: x)),
        "wrong: the expectation of 'mean(sigmoid(z))' takes x, which is neither a parameter nor a weight",
    ),
    "two objects of one name": (
        stated(z.sample_mean(delta) + bs.vector("z", d, size=1)),
        "wrong: two objects are called 'z'; give one of them another name",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_does_not_fit_is_refused(case: str) -> None:
    act, words = WRONG[case]
    with pytest.raises((bs.UsageError, bs.DerivationError), match=re.escape(words)):
        act()
