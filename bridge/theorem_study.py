"""A theorem as the engine runs it: parameters resolved, weights drawn, one case for each point of the grid."""

import inspect
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bridge.arguments import arguments_of, called_for, called_with
from bridge.check_rows import check_rows
from bridge.cost import Cost
from bridge.domains import Domain
from bridge.faithful import NAME as FAITHFUL
from bridge.limits.run import Run
from bridge.material import Material
from bridge.memory import require_memory
from bridge.record import Comparison, Row
from bridge.rows import ONE_INPUT
from bridge.sources.case import Real, SourceCase, at_source
from bridge.sources.series import Series
from bridge.sources.source import InputSource
from bridge.study import Case, Study
from bridge.texts import with_values
from bridge.theorem import Function, Theorem
from bridge.theorem_case import TheoremCase
from symbolic.inequalities import Inequality
from symbolic.statements import Quantity, UsageError


class TheoremStudy(Study):
    """See `Theorem`."""

    def __init__(self, theorem: Theorem) -> None:
        self.theorem, self.result, self.main_quantity = theorem, theorem.statement, theorem.main
        self.sha256, self.searched, self.certifies = theorem.sha256, theorem.knobs.searched, bool(theorem.inequalities)
        self.implied, self.automatic, self.fixed = theorem.knobs.implied, theorem.knobs.automatic, theorem.knobs.fixed
        self.settings = theorem.settings
        self.lags = next((each.lags for each in theorem.sources if isinstance(each, Series)), "")
        # A parameter on which a weight or a letter depends changes a bound that has no letter for it.
        functions = [*(f for given in theorem.knows.values() for f in given), *self._drawn()]
        functions += [each for each in (theorem.at_point.letters, theorem.norms) if each is not None]
        taken = {name for function in functions for name in arguments_of(function)}
        for name, build in reversed(list(theorem.built.items())):
            taken |= set(arguments_of(build)) if name in taken else set()
        self.through_network = tuple(p.name for p in self.result.parameters if p.name in taken)

    def _drawn(self) -> list[Function]:
        once = (each for name, each in self.theorem.weights.items() if name not in self.theorem.drawn_each_time)
        return [each for each in once if not isinstance(each, Domain)]

    def inequalities(self, params: Mapping[str, Any]) -> list[Inequality]:
        stated = self.theorem.inequalities
        if not callable(stated):
            return list(stated)
        with called_for(f"{self.result.id}: the inequalities", stated):
            return list(called_with(stated, params))

    def cost(self, sizes: Mapping[str, float], run: Run | None) -> Cost:
        return Cost() if self.theorem.cost is None else self.theorem.cost(sizes, run)

    def case(self, params: Mapping[str, Any], run: Run = ONE_INPUT) -> TheoremCase:
        return TheoremCase(self.theorem, *self.point(params, run), run.format)

    def figure(self, comparison: Comparison) -> Any:
        return None if self.theorem.figure is None else self.theorem.figure(comparison)

    def case_of(self, params: Mapping[str, Any], quantity: str) -> TheoremCase:
        alone = self.theorem.at_point.alone
        if alone is None:
            return self.case(params)
        theorem = self.theorem.with_at_point(quantities=partial(alone, quantity=quantity))
        return TheoremCase(theorem, *self.point(params, ONE_INPUT), ONE_INPUT.format)

    def errata(self, quantity: Quantity) -> tuple[str, ...]:
        sentences = self.theorem.refuting.sentences
        return super().errata(quantity) if sentences is None else tuple(sentences(quantity))

    def source_defaults(self, params: Mapping[str, Any], material: Material) -> dict[str, Any]:
        source = self._reading(material)
        return {} if source is None else source.suiting(self.result, params, material)

    def source_case(self, params: Mapping[str, Any], material: Material, run: Run) -> Case:
        source = self._reading(material)
        if source is None:
            return super().source_case(params, material, run)
        source.require_run(self.result.id, **run.format.names)
        known = self.numbers(params)
        source.require_fit(self.result.id, known, material)
        source.require_affordable(self.result.id, known, material)
        data = source.read(self.result.id, known, material)
        here = TheoremStudy(at_source(self.theorem, source, material.source))
        found = source.completed(known, params, data, run.format.name)
        point = here.point({**params, **found}, run)
        return SourceCase(here.theorem, *point, run.format, Real(source, data, params, run))

    def _reading(self, material: Material) -> InputSource | None:
        return next((each for each in self.theorem.sources if isinstance(material, each.reads)), None)

    def point(self, params: Mapping[str, Any], run: Run) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """The parameters, all of them, and the weights. `params` may hold the weights of a witness."""
        known = {name: value for name, value in params.items() if name in self.theorem.recorded}
        own = {name: value for name, value in params.items() if name not in known}
        self.result.check_texts(own)
        resolve = self.theorem.knobs.resolve
        knows = resolve is not None and "dtype" in inspect.signature(resolve).parameters
        of_run = {"dtype": run.format.name} if knows else {}
        resolved = self.resolved(own if resolve is None else resolve(own, run.seed, **of_run))
        self._require_memory(resolved)
        read = with_values(self.theorem.id, self.theorem.readers, resolved) if self.theorem.weights else resolved
        weights: dict[str, Tensor] = {}
        for name in self.theorem.weights:
            if name in self.theorem.drawn_each_time:
                continue
            weights[name] = self._weight(name, {**read, **weights, "seed": run.seed}, known)
        return resolved, weights

    def _require_memory(self, params: Mapping[str, Any]) -> None:
        memory = self.theorem.memory
        if memory is not None:
            sizes = {name: params[name] for name in arguments_of(memory)}
            require_memory(f"{self.result.id}: {params}", memory(**sizes), f"lower {', '.join(sizes)}")

    def missing(self, params: Mapping[str, Any]) -> list[str]:
        own = {name: value for name, value in params.items() if name not in self.theorem.recorded}
        return [*super().missing(own), *(name for name in self.theorem.recorded if name not in params)]

    def refutable(self) -> tuple[Quantity, ...]:
        refuted, stated = self.theorem.refuting.shown, {each.name for each in self.result.quantities}
        own = [each.quantity for each in self.theorem.checks if each.quantity.name not in stated]
        known = {each.name: each for each in (*self.result.quantities, *own) if each.erratum is not None}
        order = known if refuted is None else dict.fromkeys(name for name in refuted if name in known)
        shown = (known[name] for name in order)
        return (*shown, *(each.stated(self.result) for each in self.theorem.refuting.refutations))

    def shown_quantities(self, params: Mapping[str, Any]) -> list[str]:
        here = self.case(self._first_defaults | dict(params)).result.quantities
        others = [*(each.quantity for each in self.theorem.checks), *self.refutable()]
        return [each.name for each in (*here, *others)] + [FAITHFUL]

    @property
    def _first_defaults(self) -> dict[str, Any]:
        """Of the parameters whose default is a grid."""
        return {p.name: p.default[0] for p in self.result.parameters if isinstance(p.default, tuple)}

    def checks(self) -> list[Row]:
        rows, cases = [], {}
        for check in self.theorem.checks:
            if check.params is not None:
                point = repr(check.params)
                if point not in cases:
                    own = {**self._first_defaults, **check.params}
                    cases[point] = self.case(own)
                rows += check_rows(cases[point], check, ONE_INPUT)
        for refutation in self.theorem.refuting.refutations:
            case = self.case(refutation.params)
            prompt = case.known.call(refutation.inputs, {})
            rows.append(refutation.row(case, prompt, self.automatic))
        return rows

    def _weight(self, name: str, known: Mapping[str, Any], given: Mapping[str, Any]) -> Tensor:
        """As a witness gives it, or drawn: each weight by its own generator, so that none moves with another."""
        drawn_from = self.theorem.weights[name]
        if name in given:
            return self._checked(name, given[name], known)
        if not isinstance(drawn_from, Domain):
            return _float64(drawn_from(**{each: known[each] for each in arguments_of(drawn_from)}))
        place = list(self.theorem.weights).index(name)
        seeds = np.random.SeedSequence([known["seed"], place])
        generator = torch.Generator().manual_seed(int(seeds.generate_state(1)[0]))
        return self._domain(drawn_from, known).sample(1, generator)[0]

    def _checked(self, name: str, value: Any, params: Mapping[str, Any]) -> Tensor:
        try:
            weight = _float64(value)
        except (TypeError, ValueError, RuntimeError):
            raise UsageError(f"{self.result.id}: the weight {name} is not an array of numbers") from None
        drawn_from = self.theorem.weights[name]
        complaint = self._domain(drawn_from, params).complaint(weight) if isinstance(drawn_from, Domain) else None
        if complaint:
            raise UsageError(f"{self.result.id}: the weight {name}: {complaint}")
        return weight

    def _domain(self, domain: Domain, params: Mapping[str, Any]) -> Domain:
        return domain.at({p.symbol: params[p.name] for p in self.result.parameters if p.symbol is not None})


def _float64(value: Any) -> Tensor:
    return torch.as_tensor(value if isinstance(value, Tensor) else np.asarray(value), dtype=torch.float64)
