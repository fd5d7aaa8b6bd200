"""Theorems whose quantities, bounds or refusals depend on the point, and what they say of their searches."""

from dataclasses import replace
from typing import Any

import flint
import pytest
import sympy as sp
import torch

import boundsmith as bs
from bridge.domains import Ball, Rows
from bridge.instances.instance import Instance
from bridge.instances.search import searched
from bridge.limits.run import Run
from bridge.questions.replaying import replay_witness
from bridge.readings.network import Bounded, MatrixNorms
from bridge.theorems.pair import Pair
from bridge.theorems.parts import AtPoint, InputSearch, Refuting
from bridge.theorems.record import Verdict
from bridge.theorems.refusal import Refusal
from bridge.theorems.refutable import refutable
from bridge.theorems.refutation import Refutation
from symbolic.derivations.derivation import Norm
from symbolic.statements.errata import Erratum, Weight
from symbolic.words.citations import Citation
from symbolic.words.errors import UsageError
from tests.bridge.theorems.theorem.theorems import compared, d, eps, n, row_of, scaled

L = sp.Symbol("L", integer=True, positive=True)
rho = sp.Symbol("rho", positive=True)
OWN, EPS = Citation(None, "own"), eps


# Quantities of the point.


def powers(**changes: Any) -> bs.Theorem:
    """x after each of L steps that multiply by 1 + eps, against x: the error is at most (1 + eps)^l - 1."""
    stated = bs.theorem(
        "powers",
        bs.rules.given("step", dim=d, size=1, error=eps),
        parameters={eps: 0.1, d: 2, L: 3},
        inputs={"x": bs.domains.Box(d)},
        network=lambda x, eps, L: {f"step[{k}]": x * (1 + eps) ** k for k in range(1, L + 1)},
        reference=lambda x, L: {f"step[{k}]": x for k in range(1, L + 1)},
    )

    def quantities(L: int) -> list[bs.statements.Quantity]:
        (one,) = stated.statement.quantities
        conclusions = [bs.rules.given(f"step[{k}]", dim=d, size=1, error=(1 + eps) ** k - 1) for k in range(1, L + 1)]
        return [replace(one, name=each.name, derivation=each.derivation) for each in conclusions]

    return replace(stated, at_point=AtPoint(quantities=quantities), **changes)


def test_a_point_has_as_many_quantities_as_its_parameters_say() -> None:
    made = compared(powers(), L=[1, 3])
    assert [row.quantity for row in made] == ["step[1]", "step[1]", "step[2]", "step[3]"]
    assert all(set(row.verdict.values()) == {Verdict.KEPT} for row in made)
    assert made.rows[-1].attacked == pytest.approx(1.1**3 - 1)


def test_leading_quantities_alone_are_searched_for() -> None:
    theorem = powers(search=InputSearch(leading=("step[2]",)))
    (found,) = searched([Instance.of(theorem, {})], Run(attack=3, restarts=2))
    assert list(found) == [(f"step[{k}]", None) for k in (1, 2, 3)]
    assert all(each is found["step[2]", None] for each in found.values())


def test_idle_parameters_are_shown_as_none() -> None:
    theorem = powers().with_at_point(idle=lambda L: ("eps",) if L > 1 else ())
    assert [Instance.of(theorem, {"L": L}).shown["eps"] for L in (1, 2)] == [0.1, None]


# Letters and hypotheses of the point.


def test_printed_letters_may_mean_something_else() -> None:
    theorem = replace(scaled(printed={"out": eps}), at_point=AtPoint(printed_letters=halved))
    row = row_of(compared(theorem), "out")
    assert (row.printed, row.derived) == (0.005, 0.01)
    assert row.verdict == {"printed": Verdict.VIOLATED, "derived": Verdict.KEPT, "instance": Verdict.KEPT}
    assert replay_witness(row.witness, theorem=theorem).verdict == row.verdict


def halved(quantity: str, eps: float) -> dict[sp.Symbol, float]:
    return {EPS: eps / 2}


def test_a_bound_outside_its_hypothesis_says_which() -> None:
    def outside(quantity: str, tier: str, d: int) -> str:
        return "hypothesis violated: d is odd" if d % 2 == 0 and tier == "derived" else ""

    theorem = replace(scaled(), at_point=AtPoint(outside=outside))
    row = row_of(compared(theorem, d=2), "out")
    assert row.verdict == {"derived": Verdict.OUTSIDE, "instance": Verdict.KEPT}
    assert "d is odd" in row.remark
    assert row_of(compared(theorem, d=3), "out").verdict["derived"] is Verdict.KEPT


def refused(verdict: Verdict) -> bs.Theorem:
    def refusal(d: int) -> Refusal | None:
        return Refusal(verdict, "d = 2 is left out") if d == 2 else None

    return replace(scaled(printed={"out": eps}), at_point=AtPoint(refusal=refusal))


@pytest.mark.parametrize("verdict", [Verdict.OUTSIDE, Verdict.NOT_REPRESENTABLE])
def test_a_refused_point_shows_its_bounds_and_runs_nothing(verdict: Verdict) -> None:
    made = compared(refused(verdict), d=[2, 3])
    first, second = made.rows
    assert first.measured is None
    assert first.verdict["derived"] is verdict
    assert first.derived == 0.01
    assert "d = 2 is left out" in first.remark
    assert second.verdict["derived"] is Verdict.KEPT


# Tokens, and prompts of fewer rows.


def tokens(**changes: Any) -> bs.Theorem:
    """Each row of x, scaled: the error of the largest row is at most eps."""
    stated = bs.theorem(
        "tokens",
        bs.rules.given("out", dim=d, norm=Norm.TWO, size=1, error=eps),
        parameters={eps: 0.01, d: 3, n: 4},
        inputs={"x": Rows(n, Ball(d), or_fewer=True)},
        network=lambda x, eps: (1 + eps) * x,
        reference=lambda x: x,
    )
    return replace(stated, entries={}, tokens=True, **changes)


def test_the_error_is_that_of_the_largest_token() -> None:
    row = row_of(compared(tokens()), "out")
    assert row.attacked == pytest.approx(0.01)
    assert row.exact <= 0.01
    whole = row_of(compared(replace(tokens(), tokens=False)), "out")
    assert whole.attacked == pytest.approx(0.02)
    assert whole.verdict["derived"] is Verdict.VIOLATED


def test_a_prompt_may_have_fewer_rows() -> None:
    def one_row(count: int, generator: torch.Generator) -> dict[str, torch.Tensor]:
        return {"x": torch.randn(count, 1, 3, generator=generator, dtype=torch.float64)}

    theorem = tokens(search=InputSearch(starts=one_row))
    inputs = Instance.of(theorem, {}).inputs
    assert inputs.sample(5, 0)["x"].shape == (5, 4, 3)
    moved = inputs.project(inputs.starts(3, 0))
    assert moved["x"].shape == (3, 1, 3)
    inputs.require({"x": moved["x"][:1]})
    for wrong in ((1, 5, 3), (1, 0, 3), (1, 2, 2)):
        with pytest.raises(UsageError, match="expected shape"):
            inputs.require({"x": torch.zeros(wrong, dtype=torch.float64, device="cpu")})
    assert row_of(compared(theorem), "out").attacked == pytest.approx(0.01)


# Searches.


def test_random_inputs_may_come_from_a_function() -> None:
    corner = replace(
        scaled(),
        search=InputSearch(samples=lambda count, generator, d: {"x": torch.ones(count, d, dtype=torch.float64)}),
    )
    row = row_of(compared(corner, attack=0), "out")
    assert row.measured == pytest.approx(0.01)
    assert row_of(compared(scaled(), attack=0), "out").measured < 0.0099


def test_an_envelope_is_climbed_before_an_error_without_slope() -> None:
    """A step function of the input has no gradient; its envelope leads to where it is largest."""

    def step(x: Any, eps: Any) -> Any:
        return x + torch.where(x > 0.9, eps, eps / 4)

    stairs = scaled(network=step, parameters={eps: 0.01, d: 1})
    plain = InputSearch(starts=lambda count, generator, d: {"x": 0.3 + torch.zeros(count, d, dtype=torch.float64)})
    smooth = replace(plain, envelope=lambda x, eps: x + eps * x)
    found = [row_of(compared(replace(stairs, search=each), attack=40), "out").attacked for each in (plain, smooth)]
    assert found == [pytest.approx(0.0025), pytest.approx(0.01)]


# Bounds of the network and of a prompt.


def mapped(**changes: Any) -> bs.Theorem:
    """W x with W known up to its norm: the error of x goes through."""
    x = bs.rules.given("x", dim=d, norm=Norm.TWO, size=1, error=eps)
    out = bs.rules.linear_map(x, "out", operator_norm=rho, dim=d, matrix="W")
    stated = bs.theorem(
        "mapped",
        out,
        parameters={eps: 0.01, rho: 4.0, d: 2},
        weights={"W": lambda d: torch.eye(d, dtype=torch.float64)},
        inputs={"x": Ball(d)},
        network=lambda W, x, eps: W @ ((1 + eps) * x),
        reference=lambda W, x: W @ x,
    )
    return replace(stated, **changes)


def known(W: Any, eps: float, d: int) -> dict[str, Any]:
    one, error = flint.arb(1), flint.arb(eps)
    x = Bounded(Norm.TWO, d, one, one + error, error, one, one + error)
    return {"x": x, "W": MatrixNorms.of(W.numpy(), 128)}


def test_norms_give_bounds_of_the_network() -> None:
    row = row_of(compared(mapped(norms=known)), "out")
    assert row.derived == pytest.approx(0.04)
    assert row.instance == pytest.approx(0.01)
    assert set(row.verdict.values()) == {Verdict.KEPT}
    assert row_of(compared(mapped()), "out").instance == pytest.approx(0.04)


def own_bounds(text: str = "") -> Pair:
    def on_tensors(scope: str, x: Any, eps: Any) -> dict[str, Any]:
        return {"out": eps * torch.linalg.vector_norm(x)}

    def on_balls(scope: str, x: Any, eps: Any) -> dict[str, Any]:
        return {"out": text or eps * torch.linalg.vector_norm(x)}

    return Pair(tensors=on_tensors, balls=on_balls)


def with_prompt(theorem: bs.Theorem) -> bs.Theorem:
    (one,) = theorem.statement.quantities
    quantities = (replace(one, scopes=("network", "prompt")),)
    return replace(theorem, statement=replace(theorem.statement, quantities=quantities))


def test_a_theorem_may_prove_its_bounds_at_prompts_itself() -> None:
    row = row_of(compared(with_prompt(mapped(bounds=own_bounds()))), "out", "prompt")
    assert row.verdict == {"instance": Verdict.KEPT}
    assert row.instance == pytest.approx(row.exact)


def test_a_hypothesis_that_is_not_verified_at_a_prompt_is_named() -> None:
    theorem = with_prompt(mapped(bounds=own_bounds("hypothesis not verified: x is short")))
    row = row_of(compared(theorem), "out", "prompt")
    assert row.verdict == {"instance": Verdict.OUTSIDE}
    assert "x is short" in row.remark


# Refutations.


def refuting(**changes: Any) -> bs.Theorem:
    erratum = Erratum(
        citation=OWN,
        weight=Weight.CONSTANT,
        sentence="the error is at most eps/2",
        reading="as printed",
        repair="eps",
        survives="yes: the constant changes",
    )
    theorem = scaled(printed={"out": eps / 2})
    (one,) = theorem.statement.quantities
    statement = replace(theorem.statement, quantities=(replace(one, erratum=erratum),))
    at_corner = Refutation("half", "out", {"eps": 0.5, "d": 2}, lambda d: {"x": torch.ones(d, dtype=torch.float64)})
    return replace(theorem, statement=statement, refuting=Refuting((at_corner,), **changes))


def test_a_refutation_is_a_row_at_parameters_of_its_own() -> None:
    theorem = refuting()
    row = row_of(compared(theorem), "erratum.half")
    assert (row.printed, row.derived, row.measured, row.params) == (0.25, 0.5, 0.5, {})
    assert row.verdict == {"printed": Verdict.VIOLATED, "derived": Verdict.KEPT}
    assert row.remark.startswith("at eps = 0.5, d = 2")
    again = replay_witness(row.witness, theorem=theorem)
    assert again.exact == row.exact
    assert [each.name for each in refutable(theorem)] == ["out", "erratum.half"]
    assert [each.name for each in refutable(refuting(shown=()))] == ["erratum.half"]


@pytest.mark.parametrize(
    ("field", "given", "message"),
    [
        ("at_point", AtPoint(quantities=lambda x: ()), "the quantities takes x, which is not a parameter"),
        ("at_point", AtPoint(refusal=lambda x: None), "the refusal takes x, which is not a parameter or weight"),
        ("norms", lambda x: {}, "the norms takes x"),
        ("bounds", lambda scope, seed: {}, "the bounds takes seed"),
        ("search", InputSearch(samples=lambda count, x: {}), "the samples takes x"),
        ("search", InputSearch(envelope=lambda y: y), "the envelope takes y"),
    ],
)
def test_a_function_of_what_it_cannot_know_is_refused(field: str, given: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        replace(scaled(), **{field: given})
