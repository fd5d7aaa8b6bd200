"""Draws of the named randomness of one quantity, each by a seed of its own, and the error of each.

The k-th draw is that of seed k: it draws anew the weights and inputs that the theorem declares as the randomness of the
quantity, and nothing else. Over the other inputs the error is the largest that random prompts and an attack find; over
the randomness nothing is attacked.
"""

import inspect
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import flint
import numpy as np
import sympy as sp
import torch
from torch import Tensor

from bridge.balls import bits_for
from bridge.domains import Domain
from bridge.limits.run import BLOCK, Run
from bridge.searches import searched
from bridge.study import Inputs
from bridge.theorem import NORMS, Function, Theorem
from bridge.theorem_parts import InputSearch, Knobs
from bridge.verdicts import Bound
from numeric.balls import BallsError
from numeric.exact_cost import TooLargeForExact
from symbolic.derivation import Derivation, Norm, Step
from symbolic.statements import Kind, Quantifier, Quantity, UsageError

if TYPE_CHECKING:
    import bridge.theorem_case
    import bridge.theorem_study

PROMPTS = 64  # random ones of each draw, where inputs are left that are not random
PROBES = 16  # draws, and prompts of each, from which rounding is estimated
NEAR = 2.0**-20  # relative: an error that near to its bound is compared exactly
ROUNDING = 2.0**-40  # absolute, the same; outputs are of size 1
ONE = {"": torch.zeros(1, dtype=torch.float64, device="cpu")}  # a batch of one prompt, of a theorem without inputs
WORDED = {words: Norm(norm) for norm, words in NORMS.items()}


@dataclass(frozen=True)
class Draw:
    """The largest errors that were found for one draw, at random prompts and attacked; `inputs` where it is largest.

    `rounding` is that of the draw as the theorem gives it (infinite: unknown); None where it does not.
    """

    seed: int
    random: float
    attacked: float | None
    inputs: Inputs
    rounding: float | None = None

    @property
    def error(self) -> float:
        return self.random if self.attacked is None else max(self.random, self.attacked)

    @property
    def surely(self) -> float:
        """The error less its rounding."""
        return max(0.0, self.error - (self.rounding or 0.0))

    @property
    def finite(self) -> bool:
        return math.isfinite(self.error)

    @property
    def unknown(self) -> bool:
        return self.rounding == math.inf


class OverDraws:
    """One quantity of a case whose randomness is drawn anew, again and again."""

    def __init__(self, case: "bridge.theorem_case.TheoremCase", quantity: Quantity) -> None:
        self.case, self.quantity, self.name = case, quantity, quantity.name
        self.names = case.theorem.random_names(quantity)

    @cached_property
    def study(self) -> "bridge.theorem_study.TheoremStudy":
        """The theorem whose random inputs are weights, and which states nothing of this quantity but its norm."""
        from bridge.theorem_study import TheoremStudy

        theorem, name = self.case.theorem, self.name
        inputs = {key: each.at(self.case.values) for key, each in theorem.inputs.items()}
        free = {key: each for key, each in inputs.items() if key not in self.names}
        network = theorem.networks.get(name, theorem.networks.get(""))
        if network is None:
            raise UsageError(f"{theorem.id} has no network for '{name}', so its error cannot be measured")
        all_free = len(free) == len(inputs)
        unstated = tuple(map(_unstated, self.case.result.quantities))
        stripped = Theorem(
            replace(theorem.statement, quantities=unstated, hypotheses=()),  # they are checked already
            main=name,
            inputs=free,
            weights={**self._drawn, **{key: inputs[key] for key in self.names if key in inputs}},
            network=network,
            reference=theorem.reference,
            built=theorem.built,
            distance=theorem.distance,
            exact=theorem.exact,
            memory=theorem.memory,
            search=InputSearch(theorem.search.samples, theorem.search.starts) if all_free else InputSearch(),
            knobs=Knobs(implied=theorem.knobs.implied),
            rounding={key: each for key, each in theorem.rounding.items() if key == name},
            tokens=theorem.tokens,
        )
        return TheoremStudy(stripped)

    @property
    def _drawn(self) -> dict[str, Domain | Function]:
        """The weights of the theorem, where functions that draw from one seed draw independently."""
        weights = self.case.theorem.weights
        functions = [(k, x) for k, x in weights.items() if k in self.names and not isinstance(x, Domain)]
        apart = {key: _by_another_seed(each, place) for place, (key, each) in enumerate(functions) if place}
        domains = {key: each.at(self.case.values) for key, each in weights.items() if isinstance(each, Domain)}
        return {**weights, **domains, **apart}

    @cached_property
    def fixed(self) -> dict[str, Any]:
        """The parameters, and the weights that are drawn once."""
        weights = {key: value for key, value in self.case.weights.items() if key not in self.names}
        return {**self.case.known.params, **{k: x for k, x in weights.items() if k in self.study.theorem.recorded}}

    def at(self, seed: int) -> "bridge.theorem_case.TheoremCase":
        """The case of that draw."""
        return self.study.case(self.fixed, Run(seed=seed, format=self.case.format))

    # Errors.

    def draws(self, seeds: Sequence[int], run: Run) -> Iterator[Draw]:
        attacked = run.attack if self.study.theorem.inputs else 0
        for start in range(0, len(seeds), BLOCK):
            block = seeds[start : start + BLOCK]
            if attacked:
                yield from self._attacked(block, run)
            else:
                yield from (self._at_random(seed, self.at(seed)) for seed in block)

    def _at_random(self, seed: int, case: "bridge.theorem_case.TheoremCase") -> Draw:
        prompts = case.sample(PROMPTS, seed) if self.study.theorem.inputs else ONE
        errors = self._errors(case, prompts)
        worst = int(torch.nan_to_num(errors, nan=torch.inf).argmax())
        inputs = {key: x[worst : worst + 1] for key, x in prompts.items()}
        return Draw(seed, float(errors[worst]), None, inputs, self._own_rounding(case))

    def _own_rounding(self, case: "bridge.theorem_case.TheoremCase") -> float | None:
        own = self.case.theorem.rounding.get(self.name)
        return None if own is None else float(case.known.call(own, {}))

    def _attacked(self, seeds: Sequence[int], run: Run) -> Iterator[Draw]:
        cases = [self.at(seed) for seed in seeds]
        alike = [each for each in cases if each.company == cases[0].company]
        groups = [cases] if len(alike) == len(cases) else [[each] for each in cases]
        quantity = cases[0].quantity(self.name)
        points = [each for group in groups for each in searched(group, [quantity], run)]
        for seed, case, found in zip(seeds, cases, points, strict=True):
            draw, point = self._at_random(seed, case), {k: x.unsqueeze(0) for k, x in found[self.name, None].items()}
            admitted = case.admit(point)
            error = float(self._errors(case, admitted)[0])
            yield replace(draw, attacked=error, inputs=admitted if error > draw.random else draw.inputs)

    def _errors(self, case: "bridge.theorem_case.TheoremCase", inputs: Inputs) -> Tensor:
        with torch.no_grad():
            return case.errors(inputs, [self.name])[self.name]

    # Judging.

    def exceeds(self, draw: Draw, bound: Bound) -> bool:
        """Whether the error of a draw is above the bound: exactly, where floats do not tell; not if nothing does."""
        limit = float(bound.ball)
        if draw.finite and draw.rounding is not None:
            return draw.surely > limit
        near = not draw.finite or abs(draw.error - limit) <= max(NEAR * limit, ROUNDING)
        if not near and (draw.error < limit or draw.error - self.rounding > limit):
            return draw.error > limit
        exact = self._exact(draw, bound)
        return exact is not None and bool(exact >= bound.ball if bound.strict else exact > bound.ball)

    def _exact(self, draw: Draw, bound: Bound) -> flint.arb | None:
        try:
            return self.at(draw.seed).exact(draw.inputs, [self.name], bits_for(bound.ball))[self.name][0]
        except (TooLargeForExact, UsageError, BallsError):  # the last two: a network that does not run on balls
            return None

    def within_rounding(self, draw: Draw, bound: Bound) -> bool:
        """Whether the error of a draw is above the bound by no more than its own rounding, or that is unknown.

        An error without a number (of a format that overflows) is unknown where no exact run decides.
        """
        if not draw.finite:
            return self._exact(draw, bound) is None
        return draw.unknown or (draw.rounding is not None and draw.error > float(bound.ball) >= draw.surely)

    # As the rounding of a case is estimated (bridge/theorem_case.py), but over draws: at one of them it may be 0.
    @cached_property
    def rounding(self) -> float:
        """An upper estimate of the rounding in an error; 0 for a network that runs in one format only."""
        found, formats = [], (torch.float64, torch.float32)
        for seed in range(PROBES):
            case = self.at(seed)
            prompts = case.sample(PROBES, seed) if self.study.theorem.inputs else ONE
            try:
                with torch.no_grad():
                    runs = [case.networks.network(prompts, [self.name], each)[self.name].double() for each in formats]
            except (UsageError, RuntimeError, TypeError):
                return 0.0
            found.append(float(case.distance(self.name, *runs).max()))
        return 16 * torch.finfo(self.case.format.dtype).eps / torch.finfo(torch.float32).eps * max(found)

    @property
    def share(self) -> flint.arb:
        """The stated probability of failure."""
        share = self.quantity.may_fail
        assert share is not None  # the theorem is well formed
        return self.case.ball(share)


def _by_another_seed(function: Function, place: int) -> Function:
    """The function, whose numbers are independent of those that another one draws by the same seed."""

    def drawn(**known: Any) -> Any:
        return function(**{**known, "seed": int(np.random.SeedSequence([known["seed"], place]).generate_state(1)[0])})

    drawn.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return drawn


def _unstated(quantity: Quantity) -> Quantity:
    """The name and the norm of a quantity."""
    derivation = quantity.derivation
    norm = derivation.step(quantity.step or quantity.name).norm if derivation else WORDED.get(quantity.norm, Norm.INF)
    return Quantity(
        quantity.name,
        quantity.latex_symbol,
        quantity.meaning,
        quantity.norm,
        quantity.domain,
        Kind.UPPER,
        Quantifier.FOR_ALL,
        Derivation((Step(quantity.name, norm, "given", sp.Integer(0)),)),
        scopes=("network",),
    )
