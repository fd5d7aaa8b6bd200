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
from typing import Any

import flint
import numpy as np
import sympy as sp
import torch
from torch import Tensor

from bridge.domains import Domain
from bridge.instances.bound import Bound
from bridge.instances.inputs import Batch
from bridge.instances.instance import Instance
from bridge.instances.search import company, searched
from bridge.limits.run import BLOCK, Run
from bridge.lowering.ball_values import bits_for
from bridge.theorems.parts import InputSearch, Knobs
from bridge.theorems.theorem import NORMS, Function, Theorem
from numeric.balls import BallsError
from numeric.balls.limits import TooLargeForExact
from symbolic.derivations.derivation import Derivation, Norm, Step
from symbolic.statements.result import Kind, Quantifier, Quantity
from symbolic.words.errors import UsageError

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
    inputs: Batch
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
    """One quantity of an instance whose randomness is drawn anew, again and again."""

    def __init__(self, instance: Instance, quantity: Quantity) -> None:
        self.instance, self.quantity, self.name = instance, quantity, quantity.name
        self.names = instance.theorem.random_names(quantity)

    @cached_property
    def theorem(self) -> Theorem:
        """The theorem whose random inputs are weights, and which states nothing of this quantity but its norm."""
        theorem, name = self.instance.theorem, self.name
        inputs = {key: each.at(self.instance.letters.numbers) for key, each in theorem.inputs.items()}
        free = {key: each for key, each in inputs.items() if key not in self.names}
        network = theorem.networks.get(name, theorem.networks.get(""))
        if network is None:
            raise UsageError(f"{theorem.id} has no network for '{name}', so its error cannot be measured")
        all_free = len(free) == len(inputs)
        checked = {each.quantity.name for each in theorem.checks}  # neither network nor reference gives these
        unstated = tuple(_unstated(each) for each in self.instance.point.stated.quantities if each.name not in checked)
        return Theorem(
            replace(theorem.statement, quantities=unstated, hypotheses=()),  # they are checked already
            main=name,
            inputs=free,
            weights={**self._drawn, **{key: inputs[key] for key in self.names if key in inputs}},
            network=network,
            reference=theorem.reference,
            built=theorem.built,
            readers=theorem.readers,
            distance=theorem.distance,
            exact=theorem.exact,
            work=theorem.work,
            search=InputSearch(theorem.search.samples, theorem.search.starts) if all_free else InputSearch(),
            knobs=Knobs(implied=theorem.knobs.implied),
            rounding={key: each for key, each in theorem.rounding.items() if key == name},
            tokens=theorem.tokens,
        )

    @property
    def _drawn(self) -> dict[str, Domain | Function]:
        """The weights of the theorem, where functions that draw from one seed draw independently."""
        weights = self.instance.theorem.weights
        functions = [(k, x) for k, x in weights.items() if k in self.names and not isinstance(x, Domain)]
        apart = {key: _by_another_seed(each, place) for place, (key, each) in enumerate(functions) if place}
        domains = {
            key: each.at(self.instance.letters.numbers) for key, each in weights.items() if isinstance(each, Domain)
        }
        return {**weights, **domains, **apart}

    @cached_property
    def fixed(self) -> dict[str, Any]:
        """The parameters, and the weights that are drawn once."""
        weights = {key: value for key, value in self.instance.known.weights.items() if key not in self.names}
        params = self.instance.point.params  # texts as they were given
        return {**params, **{key: value for key, value in weights.items() if key in self.theorem.recorded}}

    def at(self, seed: int) -> Instance:
        """The instance of that draw."""
        return Instance.of(self.theorem, self.fixed, Run(seed=seed, format=self.instance.known.format))

    # Errors.

    def draws(self, seeds: Sequence[int], run: Run) -> Iterator[Draw]:
        attacked = run.attack if self.theorem.inputs else 0
        for start in range(0, len(seeds), BLOCK):
            block = seeds[start : start + BLOCK]
            if attacked:
                yield from self._attacked(block, run)
            else:
                yield from (self._at_random(seed, self.at(seed)) for seed in block)

    def _at_random(self, seed: int, drawn: Instance) -> Draw:
        prompts = drawn.inputs.sample(PROMPTS, seed) if self.theorem.inputs else ONE
        errors = self._errors(drawn, prompts)
        worst = int(torch.nan_to_num(errors, nan=torch.inf).argmax())
        inputs = {key: x[worst : worst + 1] for key, x in prompts.items()}
        return Draw(seed, float(errors[worst]), None, inputs, self._own_rounding(drawn))

    def _own_rounding(self, drawn: Instance) -> float | None:
        own = self.instance.theorem.rounding.get(self.name)
        return None if own is None else float(drawn.known.call(own))

    def _attacked(self, seeds: Sequence[int], run: Run) -> Iterator[Draw]:
        drawn = [self.at(seed) for seed in seeds]
        alike = [each for each in drawn if company(each) == company(drawn[0])]
        groups = [drawn] if len(alike) == len(drawn) else [[each] for each in drawn]
        quantity = drawn[0].quantity(self.name)
        points = [each for group in groups for each in searched(group, run, [quantity])]
        for seed, instance, found in zip(seeds, drawn, points, strict=True):
            draw, point = self._at_random(seed, instance), found[self.name, None]
            admitted = instance.inputs.admit({key: value.unsqueeze(0) for key, value in point.items()})
            error = float(self._errors(instance, admitted)[0])
            yield replace(draw, attacked=error, inputs=admitted if error > draw.random else draw.inputs)

    def _errors(self, drawn: Instance, batch: Batch) -> Tensor:
        with torch.no_grad():
            return drawn.runs.errors(batch, [self.name])[self.name]

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
            return self.at(draw.seed).runs.exact(draw.inputs, [self.name], bits_for(bound.ball))[self.name][0]
        except (TooLargeForExact, UsageError, BallsError):  # the last two: a network that does not run on balls
            return None

    def within_rounding(self, draw: Draw, bound: Bound) -> bool:
        """Whether the error of a draw is above the bound by no more than its own rounding, or that is unknown.

        An error without a number (of a format that overflows) is unknown where no exact run decides.
        """
        if not draw.finite:
            return self._exact(draw, bound) is None
        return draw.unknown or (draw.rounding is not None and draw.error > float(bound.ball) >= draw.surely)

    # As `Runs.estimated_rounding` estimates that of an instance, but over draws: at one of them it may be 0.
    @cached_property
    def rounding(self) -> float:
        """An upper estimate of the rounding in an error; 0 for a network that runs in one format only."""
        found, formats = [], (torch.float64, torch.float32)
        for seed in range(PROBES):
            drawn = self.at(seed)
            prompts = drawn.inputs.sample(PROBES, seed) if self.theorem.inputs else ONE
            try:
                with torch.no_grad():
                    runs = [drawn.networks.network(prompts, [self.name], each)[self.name].double() for each in formats]
            except (UsageError, RuntimeError, TypeError):
                return 0.0
            found.append(float(drawn.runs.distance(self.name, *runs).max()))
        return 16 * torch.finfo(self.instance.known.format.dtype).eps / torch.finfo(torch.float32).eps * max(found)

    @property
    def share(self) -> flint.arb:
        """The stated probability of failure."""
        share = self.quantity.may_fail
        assert share is not None  # the theorem is well formed
        return self.instance.letters.ball(share)


def _by_another_seed(function: Function, place: int) -> Function:
    """The function, whose numbers are independent of those that another one draws by the same seed."""

    def drawn(**known: Any) -> Any:
        return function(**{**known, "seed": int(np.random.SeedSequence([known["seed"], place]).generate_state(1)[0])})

    drawn.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return drawn


def _unstated(quantity: Quantity) -> Quantity:
    """The name and the norm of a quantity."""
    derivation = quantity.derivation
    norm = derivation.step(quantity.concluded_by).norm if derivation else WORDED.get(quantity.norm, Norm.INF)
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
