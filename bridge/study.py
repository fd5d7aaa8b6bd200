"""A Study joins a Result to its networks, its references and its inputs; a Case is a study at one point of the grid.

The engine in bridge/comparison.py reads them and knows no topic.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Self

import flint
import sympy as sp
from torch import Tensor

from bridge.balls import as_exact, evaluate_ball
from bridge.checked_numbers import checked_number, largest_default
from bridge.cost import Cost, sizes_of
from bridge.goals import Batch, Goal
from bridge.letter_values import decided, formulas_of, holds_conditionally, letters_at, wrong_sign
from bridge.limits.run import ONE_INPUT, Format, Run
from bridge.material import Material
from bridge.record import AUTOMATIC, Comparison, NamedTable, Row, Verdict
from bridge.slacks import slacks_at
from bridge.verdicts import Bound, Evidence
from numeric.attack import attack
from symbolic.inequalities import Inequality
from symbolic.prose import make_prose
from symbolic.statements import Kind, Quantity, Result, UsageError
from symbolic.worst_cases import where_real

Inputs = dict[str, Tensor]  # name to tensor, the first dimension counting the inputs
Objective = Callable[[Inputs], Tensor]  # one number for each input
SETTINGS = frozenset({"samples", "attack", "restarts", "seed", "dtype"})  # of a run


@dataclass(frozen=True)
class Refusal:
    """A quantity that is not run: `not representable` (how many of what), or `outside` (which hypothesis).

    `of_run`: of the run alone; bounds are solved for all the same.
    """

    verdict: Verdict
    reason: str
    of_run: bool = False

    def __post_init__(self) -> None:
        make_prose(self, "reason", checked=False)


class Case(ABC):
    """One point of a study's grid.

    `params` is what the record shows, `full_params` what rebuilds the case (a seeded matrix written out), `values`
    binds the symbols of the printed and derived tiers to exact numbers. `result` may be the study's with its quantities
    written out at this point (p[1], ..., p[N] for p[j]). An `attackable` case is attacked; one whose inputs are given
    as they are (a text) is not. `uses` names the settings of a run that its rows depend on; others that are given are
    refused.

    The engine reads every bound through `printed`, `derived`, `instance` and `prompt_bounds`, so that a case may
    override each of them.
    """

    attackable: bool = True
    uses: frozenset[str] = SETTINGS
    unattacked: str = ""  # why an attack has no effect, where that is not plain
    sha256: str | None = None  # of the file that the theorem was read from
    checked: frozenset[str] = frozenset()  # quantities that are checks: they give their own rows
    drawn_weights: tuple[str, ...] = ()  # by the seed
    letters_of_prompts: frozenset[sp.Symbol] = frozenset()  # that mean a number of the prompt or network at hand
    claims: Mapping[str, Any] = MappingProxyType({})  # by quantity: a `bridge.claims.ClaimedBound` of the user's
    settings: Mapping[str, int] = MappingProxyType({})  # of the run that a replayed witness comes from
    result: Result
    params: dict[str, Any]
    full_params: dict[str, Any]
    values: dict[sp.Symbol, Any]
    format: Format
    known: Mapping[str, Any]  # what the functions of a `Check` may take by name, beside inputs and settings

    @abstractmethod
    def sample(self, count: int, seed: int) -> Inputs:
        """`count` random inputs that meet the hypotheses."""

    @abstractmethod
    def starts(self, count: int, seed: int) -> Inputs:
        """Inputs at which the attack starts."""

    @abstractmethod
    def project(self, inputs: Inputs) -> Inputs:
        """The inputs moved back into the hypotheses."""

    def search(self, objective: Objective, quantity: Quantity, run: Run) -> Inputs:
        """One input (without the first dimension) at which the attack found the objective largest."""
        starts = self.starts(run.restarts, run.seed)
        found = attack(objective, starts, self.project, steps=run.attack, seed=run.seed).witness
        assert isinstance(found, dict)  # the attack keeps the structure of its starts
        return found

    @property
    def company(self) -> Hashable | None:
        """Equal for cases with the same quantities whose goals one `batch` takes; None: `search` finds goal by goal."""
        return None

    def batch(self, cells: "Sequence[tuple[Case, Goal]]", run: Run) -> Batch:
        """The restarts of goals of cases of one company, a group for each of `cells`, in their order."""
        raise NotImplementedError(f"{type(self).__name__} is in no company")

    @property
    def floats_enclosed(self) -> "Case | None":
        """The same point, where floats that Python computes stand for all numbers near them; None: there are none."""
        return None

    def shown_at(self, goal: Goal) -> Goal:
        """The goal at whose input this one is shown: itself, or that of a quantity which decides for several."""
        return goal

    def search_memory(self, run: Run) -> int:
        """About how many bytes the restarts of one goal take in a batch."""
        return 0

    @abstractmethod
    def errors(self, inputs: Inputs, names: Sequence[str], *, attack: bool = False) -> dict[str, Tensor]:
        """The error of each named quantity at each input, in its norm. `attack`: in float64 and differentiable."""

    @abstractmethod
    def exact(self, inputs: Inputs, names: Sequence[str], bits: int) -> dict[str, tuple[flint.arb, float]]:
        """For one input: each quantity's error in exact arithmetic, and the rounding of the float run there."""

    @abstractmethod
    def instance_values(self, scope: str, inputs: Inputs | None) -> dict[sp.Symbol, Any]:
        """What the instance knows, rounded up: of the network (inputs None) or, in other scopes, of one prompt."""

    @abstractmethod
    def prompt_bounds(self, quantity: Quantity, inputs: Inputs, scope: str) -> Tensor:
        """The bound of that scope at each input, in float64 and differentiable: what ratio the attack should raise."""

    def sample_bounds(self, quantities: Sequence[Quantity], inputs: Inputs, scope: str) -> dict[str, Tensor]:
        """The same of several quantities, by name."""
        return {quantity.name: self.prompt_bounds(quantity, inputs, scope) for quantity in quantities}

    @abstractmethod
    def rounding_estimate(self) -> float:
        """An upper estimate of the rounding of a float run, for sizes at which no exact run can measure it."""

    def memory(self, run: Run) -> int:
        """About how many bytes the largest step takes, so that what cannot fit is refused before the start."""
        return 0

    def within(self, run: Run) -> Run:
        """The run that this case can use: fewer samples where there are no more inputs."""
        return run

    def constants(self) -> dict[str, Evidence]:
        """Measured quantities that depend on no input (parameter norms, counts)."""
        return {}

    @abstractmethod
    def check_inputs(self, inputs: Inputs) -> None:
        """Raises UsageError unless the inputs (of a witness file) have the shape and lie in the domain of this case."""

    def admit(self, inputs: Inputs) -> Inputs:
        """The inputs as they are measured: inside the hypotheses, in the format of the run."""
        return self.project(self.format.each(inputs))

    def extra_rows(self, run: Run) -> list[Row]:
        """Rows of what these particular inputs give (predictions on a text, say)."""
        return []

    def tables(self) -> list[NamedTable]:
        """What is shown under the rows, once they have been taken: a trace, say, or the norms of each lemma."""
        return []

    def bounded(self) -> list[Quantity]:
        """The quantities that the engine bounds and measures itself; rates follow from the rows of others."""
        own = (quantity for quantity in self.result.quantities if quantity.name not in self.checked)
        return [quantity for quantity in own if quantity.kind is not Kind.RATE]

    def checks(self, run: Run) -> list[Row]:
        """Rows of what was found beside the quantities: a printed statement refuted, a hypothesis that rules this case
        out. `bridge.rows.judged_row` makes one, with the witness that a violated row needs."""
        return []

    def quantity(self, name: str) -> Quantity:
        """The quantity with the scopes that it has here. Raises UsageError."""
        return self.result.quantity(name)

    def replay_check(self, name: str, inputs: Inputs) -> Row:
        """The row of a check again, from the inputs of its witness. No quantity has the name of a check.

        Raises UsageError for a name that is not a check's, and for inputs that are not as they should be.
        """
        known = ", ".join(quantity.name for quantity in self.result.quantities)
        raise UsageError(f"{self.result.id} has no quantity or check '{name}'. It has: {known}.")

    def refusal(self, quantity: Quantity) -> Refusal | None:
        """Why this quantity is neither measured nor attacked here; its rows show the bounds that exist."""
        return None

    def slack(self, quantity: Quantity, inputs: Inputs) -> dict[str, float]:
        """How loose each step of the derivation is at one input, from the exact errors of the steps there."""
        return slacks_at(self, quantity, inputs)

    def with_letters(self, letters: Mapping[sp.Symbol, Any]) -> Self:
        """The same case, its bounds read at other values of these letters."""
        other = copy(self)
        other.values = {**self.values, **letters}
        return other

    def printed(self, quantity: Quantity) -> Bound | None:
        if quantity.printed is None or quantity.printed.unspecified:
            return None
        worst = {letter: value for letter, value in quantity.at_worst.items() if letter not in self.values}
        return Bound(self.enclosed(quantity.printed.bound.xreplace(worst)), strict=quantity.printed.strict)

    def claimed(self, quantity: Quantity) -> Bound | None:
        """The bound that was claimed, at this point."""
        claim = self.claims.get(quantity.name)
        return None if claim is None or claim.bound is None else Bound(self.enclosed(claim.bound), strict=claim.strict)

    def derived(self, quantity: Quantity) -> Bound | None:
        expression = quantity.derived()
        if expression is None or quantity.derivation is None:
            return None
        return self._with_obligations(quantity, Bound(self.ball(expression)), quantity.at_worst)

    def instance(self, quantity: Quantity, scope: str, inputs: Inputs | None = None) -> Bound | None:
        """The same derivation with the worst-case symbols bound to what is at hand."""
        if quantity.derivation is None or scope not in quantity.scopes:
            return None
        known = letters_at(quantity, self.instance_values(scope, inputs))
        formulas = formulas_of(known)
        numbers = {letter: value for letter, value in known.items() if letter not in formulas}
        expression = quantity.general_bound().xreplace(formulas)
        found = self._with_obligations(quantity, Bound(self.ball(expression, numbers)), known)
        if not holds_conditionally(quantity, known):
            return found
        return found.resting_on(decided(self.values, quantity, quantity.at_worst))

    def _with_obligations(self, quantity: Quantity, bound: Bound, known: Mapping[sp.Symbol, Any]) -> Bound:
        """The bound with its open obligations decided at this point by balls: met, not met (outside), or left open."""
        if quantity.derivation is None:
            return bound
        found = bound.resting_on(decided(self.values, quantity, known))
        return replace(found, impossible=wrong_sign(self, quantity, known))

    def prompt_tiers(self, quantity: Quantity) -> tuple[str, ...]:
        """The printed and claimed bounds that are judged at each prompt too, by letters of its own."""
        return ()

    def tier_at(self, quantity: Quantity, tier: str, scope: str, inputs: Inputs | None) -> Bound | None:
        """The bound of a tier at one prompt, or (without inputs, or where it is not judged there) for all of them."""
        of_all = {"printed": self.printed, "claimed": self.claimed, "derived": self.derived}
        return of_all[tier](quantity) if tier in of_all else self.instance(quantity, scope, inputs)

    def stated_bounds(self, quantity: Quantity, tier: str, inputs: Inputs) -> Tensor:
        """The printed or claimed bound at each input, as `prompt_bounds` gives that of a scope."""
        raise NotImplementedError(f"{type(self).__name__} judges no {tier} bound at prompts")

    def trivial(self, quantity: Quantity) -> flint.arb | None:
        return None if quantity.trivial is None else self.ball(quantity.trivial)

    def enclosed(self, formula: sp.Expr) -> flint.arb:
        """The formula at this point; exactly if it rounds whole numbers, as a ball of what is rounded may hold two."""
        values = {letter: self.values[letter] for letter in formula.free_symbols if letter in self.values}
        if formula.has(sp.ceiling, sp.floor) and all(isinstance(value, int) for value in values.values()):
            return evaluate_ball(formula.subs(values), {})
        return self.ball(formula)

    def ball(self, expression: sp.Expr, more: Mapping[sp.Symbol, Any] | None = None) -> flint.arb:
        """The expression at this point; nan where it is no real number, as beyond its condition."""
        if where_real(expression) is sp.nan:
            return flint.arb("nan")
        values = {**self.values, **(more or {})}
        return evaluate_ball(expression, {symbol: as_exact(value) for symbol, value in values.items()})


class Study(ABC):
    """Everything that is needed to run one Result.

    `implied` names the parameters that the others determine (d, by a matrix): they have no default of their own;
    `through_network` those that change a bound by way of the network that is built (a number of ReLUs), whether or not
    the formula has their letter; `fixed` those that are never solved for; `automatic` those of which 0 means: computed
    from the others; `searched` the range in which one is solved for: beyond it a point takes seconds to build.
    `settings` are those of a run where none are given, in the place of the general ones.
    `lags` names the parameter that is the number of lags, for a study that reads tables as series.
    `cost` says what a point takes: every parameter that work grows with has a part in it.
    """

    result: Result
    main_quantity: str
    implied: tuple[str, ...] = ()
    through_network: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    automatic: tuple[str, ...] = ()
    searched: Mapping[str, tuple[int | float | None, int | float | None]] = MappingProxyType({})
    settings: Mapping[str, int] = MappingProxyType({})
    sha256: str | None = None  # of the file that the theorem was read from
    certifies: bool = False  # whether it states inequalities of its own
    lags: str = ""

    @abstractmethod
    def case(self, params: Mapping[str, Any], run: Run = ONE_INPUT) -> Case:
        """The study at one point. Raises UsageError for parameters that do not meet the hypotheses."""

    def cost(self, sizes: Mapping[str, float], run: Run | None) -> Cost:
        """What one point takes, before anything is built: with its run by `run`, or without any (for `solve`).

        `sizes` are the numbers among the parameters as `sizes_of` gives them, whether or not they meet the hypotheses.
        Nothing for a study whose work does not grow with its parameters.
        """
        return Cost()

    def inequalities(self, params: Mapping[str, Any]) -> list[Inequality]:
        """What `certify` proves at these parameters, beside the open obligations of the derivations."""
        return []

    def missing(self, params: Mapping[str, Any]) -> list[str]:
        """What a witness's `params` leave out. Raises UsageError for a name that is not a parameter."""
        return self.result.check_names(params)

    def sizes(self, params: Mapping[str, Any]) -> dict[str, float]:
        """The numbers among the parameters, for `cost`: defaults where none is given. Raises UsageError."""
        numbers = [p for p in self.result.parameters if p.symbol is not None]
        given = {p.name: params.get(p.name, largest_default(p.default)) for p in numbers}
        return sizes_of({name: checked_number(self.result, name, x) for name, x in given.items() if x is not None})

    def require_affordable(self, params: Mapping[str, Any], call: str) -> None:
        """Raises UsageError for a point whose bounds alone would take too much, before it is built."""
        self.cost(self.sizes(params), None).require(f"{call} {self.result.id}", "lower the sizes")

    def case_of(self, params: Mapping[str, Any], quantity: str) -> Case:
        """The case for the bounds of that quantity alone: one that lists a quantity a step may leave out the others."""
        return self.case(params)

    def errata(self, quantity: Quantity) -> tuple[str, ...]:
        """What is wrong with the printed bound of that quantity, a sentence each, known without a run."""
        erratum = (quantity.erratum.words,) if quantity.erratum is not None else ()
        return (*erratum, *((quantity.remark,) if quantity.remark and quantity.printed else ()))

    def refutable(self) -> tuple[Quantity, ...]:
        """The quantities that have an erratum, those of `checks` too."""
        return tuple(quantity for quantity in self.result.quantities if quantity.erratum is not None)

    def shown_quantities(self, params: Mapping[str, Any]) -> list[str]:
        """The names of the quantities that a comparison at this point has rows of."""
        return [quantity.name for quantity in self.result.quantities]

    def resolved(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """`numbers` that meet the hypotheses. Raises UsageError."""
        values = self.numbers(params)
        self.result.check(values)
        return values

    def numbers(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Every parameter but those that the given ones imply: the given values, defaults for the others.

        Those with a symbol become numbers, those without (a name, a file, a choice) stay as they came. Raises
        UsageError for a name that is not a parameter's, and for what is not a number.
        """
        left_out = self.result.check_names(params)
        self.result.check_texts(params)
        defaults = {name: self.result.parameter(name).default for name in left_out if name not in self.implied}
        given = {**defaults, **params}
        given |= {name: 0 for name in self.automatic if given.get(name) == AUTOMATIC}
        return {
            p.name: given[p.name] if p.symbol is None else self.result.number(p.name, given[p.name])
            for p in self.result.parameters
            if p.name in given
        }

    def checks(self) -> list[Row]:
        """Rows about the result itself, at parameters of their own: a printed statement refuted, with its witness."""
        return []

    def figure(self, comparison: Comparison) -> Any:
        """A matplotlib figure of the study's own for `--plot`; None: the bounds against a parameter."""
        return None

    def source_case(self, params: Mapping[str, Any], material: Material, run: Run) -> "Case":
        """The study at real inputs. Raises UsageError where it takes none of their kind."""
        raise UsageError(f"{self.result.id} {material.refused}")

    def source_defaults(self, params: Mapping[str, Any], material: Material) -> dict[str, Any]:
        """Parameters that suit them, for those that the user has not given."""
        return {}
