"""Derivations: approximated values, and the steps by which their error bounds follow from one another.

An `Approximated` value is a vector known up to an error. Each rule of `symbolic.calculus` takes such values to a new
one and appends a `Step`. A step states its bound *locally*, by the errors of its premises, so that the same derivation
gives the closed form (substitute), the LaTeX (print the steps), and the slack of each step (evaluate the local bound
at measured premises).
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from typing import Any, Protocol, runtime_checkable

import sympy as sp

from symbolic.derivations.evaluation import decimal
from symbolic.derivations.events import Events, events_by_step, means_by_step, require_events_apart, require_one_sense
from symbolic.derivations.granting import granted
from symbolic.derivations.norms import Norm, NormName, as_norm
from symbolic.derivations.obligations import DerivationError, Obligation, as_expr, nonnegative, whole
from symbolic.derivations.operations import Given, Operation, letters_in
from symbolic.derivations.provenance import Provenance, weakest
from symbolic.derivations.sizes import Sized, Sizes, closed_with
from symbolic.words.citations import Citation
from symbolic.words.names import ERROR, ErrorSymbol, approximate_symbol, error_symbol
from symbolic.words.prose import make_prose
from symbolic.words.shown import SHOWN, cut


@runtime_checkable
class Recursion(Protocol):
    """The relation between the errors of one layer (or time) and the next."""

    def latex(self, names: Mapping[sp.Symbol, str] | None = None) -> str: ...

    def words(self) -> str: ...


@dataclass(frozen=True)
class Step:
    """One inequality: the error of `name` is at most `local`, an expression in the errors of the premises.

    `per_unit`: the terms of `local` other than these errors may be per unit of a perturbation (see `pooled_sum`).
    `pooled`: `local` holds for errors per unit of one joint perturbation, not for those of one perturbation at hand.
    `about` holds the other data of a given; two givens of one name are equal only if all these data agree.
    `latex` is the left side of a step that bounds a size or a count, not an error. `operation` is what it computes.
    `recursion` is what `local` solves, `dim` the number of coordinates; they do not tell two steps apart.
    `events` are those on which it holds, beside those of its premises, each of them for `members` members at once.
    `assumed` are further premises, in words; a theorem that it bounds lists them among its assumptions.
    `mean_over` names the randomness over which the error is bounded in expectation, "" if it is bounded for each draw.
    `named` is `local` by the errors of members of families (`member_error`), where their bounds are put into it, and
    solves `named_recursion`; `families` are the steps of members that its derivation lacks. `sizes` says how large the
    exact value is. Displays alone use these.
    `provenance` is None for a hypothesis; the rules of the calculus make their steps by `rule_step`, and any other step
    is by hand unless it says otherwise.
    """

    name: str
    norm: Norm
    rule: str
    local: sp.Expr
    premises: tuple[str, ...] = ()
    reason: str = ""
    source: Citation | None = None
    obligations: tuple[Obligation, ...] = ()
    sharp: bool = True
    per_unit: bool = False
    pooled: bool = False
    about: tuple[Any, ...] = ()
    latex: str = ""
    operation: Operation | None = None
    events: Events = ()
    members: sp.Expr = sp.S.One
    mean_over: str = ""
    assumed: tuple[str, ...] = ()
    recursion: Recursion | None = field(default=None, compare=False)
    dim: sp.Expr | None = field(default=None, compare=False)
    named: sp.Expr | None = field(default=None, compare=False)
    named_recursion: Recursion | None = field(default=None, compare=False)
    families: tuple["Step", ...] = field(default=(), compare=False)
    sizes: Sizes | None = field(default=None, compare=False)
    provenance: Provenance | None = Provenance.HAND

    def __post_init__(self) -> None:
        make_prose(self, "reason", "mean_over", "assumed", checked=False)
        if not isinstance(self.name, str) or not self.name:
            raise DerivationError(f"{self.rule}: a value is named {self.name!r}; give it a name, such as 'output'")
        for each in self.obligations:
            if each.condition == sp.false:
                raise DerivationError(
                    f"{self.rule}: '{self.name}' does not follow; hypothesis violated: {each.statement}"
                )

    def __repr__(self) -> str:
        return f"<Step {self.name}, {self.norm}-norm, by {self.rule}: {self.error} <= {cut(sp.sstr(self.local))}>"

    def __str__(self) -> str:
        return SHOWN.text(self)

    @property
    def error(self) -> ErrorSymbol:
        return error_symbol(self.name)

    def with_bounds(self, change: Callable[[sp.Expr], sp.Expr]) -> "Step":
        """The same step, its local bound changed to an equal one, and so its sizes."""
        named = None if self.named is None else change(self.named)
        sizes = None if self.sizes is None else self.sizes.changed(change)
        return replace(self, local=change(self.local), named=named, sizes=sizes)

    @property
    def shown(self) -> sp.Expr:
        """The bound that displays show: by the errors of members of families, where it has them."""
        return self.local if self.named is None else self.named

    @property
    def rests_on(self) -> tuple[str, ...]:
        """Its premises, and every step whose error is in its bound."""
        return tuple(dict.fromkeys([*self.premises, *_errors_in(self.local)]))


@lru_cache(maxsize=1 << 12)
def _errors_in(bound: sp.Expr) -> tuple[str, ...]:
    return tuple(sorted(x.name.removeprefix(ERROR) for x in bound.free_symbols if isinstance(x, ErrorSymbol)))


rule_step = partial(Step, provenance=Provenance.RULES)
Change = Callable[[Obligation], Obligation]


@dataclass(frozen=True)
class Derivation:
    """Steps in order; each uses earlier ones as premises, and the last one is the conclusion."""

    steps: tuple[Step, ...] = ()

    @cached_property
    def letters(self) -> set[sp.Symbol]:
        """The symbols in its steps, and in the derivations inside of their operations."""
        return letters_in(self.steps)

    def step(self, name: str) -> Step:
        for step in self.steps:
            if step.name == name:
                return step
        raise DerivationError(f"no step '{name}' in this derivation; it has {', '.join(s.name for s in self.steps)}")

    def then(self, step: Step, *others: "Derivation") -> "Derivation":
        """This derivation and `others`, followed by `step`. A step that several share is kept once."""
        return Derivation(_merge((*self.steps, *(s for other in others for s in other.steps), step)))

    def upto(self, name: str) -> "Derivation":
        """The steps that lead up to `name`, itself included."""
        last = self.steps.index(self.step(name))
        return Derivation(self.steps[: last + 1])

    def leading_to(self, *names: str) -> tuple["Step", ...]:
        """The steps that these follow from, themselves included, in order; all steps without a name."""
        if not names:
            return self.steps
        needed = {self.step(name).name for name in names}
        for step in reversed(self.steps):
            if step.name in needed:
                needed.update(step.premises)
        return tuple(step for step in self.steps if step.name in needed)

    def resting_on(self, name: str) -> "Derivation":
        """`name` with its premises and every step whose error is in its bound, and so on."""
        wanted, kept = {self.step(name).name}, list[Step]()
        for step in reversed(self.steps):
            if step.name in wanted:
                kept.append(step)
                wanted.update(step.rests_on)
        return Derivation(tuple(reversed(kept)))

    def bound(self, name: str = "") -> sp.Expr:
        """The bound on the error of `name` (the last step by default) with every premise substituted."""
        last = name or self.steps[-1].name
        bounds: dict[sp.Symbol, sp.Expr] = {}
        for step in self.steps:
            bounds[step.error] = step.local.xreplace(bounds)
            if step.name == last:
                return bounds[step.error]
        return self.step(last).local  # raises: names the steps there are

    @property
    def obligations(self) -> tuple[Obligation, ...]:
        return tuple(obligation for step in self.steps for obligation in step.obligations)

    @property
    def conditional(self) -> bool:
        """Whether an obligation is still open."""
        return any(obligation.open for obligation in self.obligations)

    def events(self, name: str = "") -> Events:
        """The events on which the bound of `name` holds (the last step by default), with their counts."""
        return events_by_step(self.steps).get(self.step(name or self.steps[-1].name).name, ())

    def mean_over(self, name: str = "") -> tuple[str, ...]:
        """The randomness over which the bound of `name` holds in expectation; empty if it holds for each draw."""
        return means_by_step(self.steps).get(self.step(name or self.steps[-1].name).name, ())

    @property
    def provenance(self) -> Provenance:
        """That of the weakest step."""
        return weakest(step.provenance for step in self.steps)

    @property
    def by_hand(self) -> tuple[str, ...]:
        """The steps whose proof is in the source."""
        return tuple(step.name for step in self.steps if step.provenance is Provenance.HAND)

    @property
    def assumed(self) -> tuple[str, ...]:
        """The premises of its steps that are in words, each once."""
        return tuple(dict.fromkeys(words for step in self.steps for words in step.assumed))

    def under(self, hypotheses: Sequence[Any]) -> "Derivation":
        """The same derivation; an open obligation that clearly follows from one of these relations is discharged."""
        return self.with_obligations(lambda owed: granted(owed, hypotheses)) if self.conditional else self

    def with_obligations(self, change: Change, kept: Collection[str] = ()) -> "Derivation":
        """The same derivation, each obligation changed but for those of the steps that are `kept`, by name."""

        def changed(step: Step) -> Step:
            owed = step.obligations if step.name in kept else tuple(map(change, step.obligations))
            return step if owed == step.obligations else replace(step, obligations=owed)

        return Derivation(tuple(map(changed, self.steps)))

    def with_bounds(self, change: Callable[[sp.Expr], sp.Expr]) -> "Derivation":
        """The same derivation, the local bound of each step changed to an equal one."""
        return replace(self, steps=tuple(step.with_bounds(change) for step in self.steps))

    def slacks(self, measured: Mapping[str, float], values: Mapping[sp.Symbol, Any]) -> dict[str, float]:
        """How loose each step is at an instance: its local bound at the *measured* premises, over its measured error.

        A premise without a measured error counts with its bound. Steps without a measured error, or where it is 0,
        are left out; 1 means that the inequality is an equality there.
        """
        errors: dict[sp.Symbol, Any] = {}
        slacks: dict[str, float] = {}
        for step in self.steps:
            known = {**values, **errors}
            if step.name not in measured and not step.local.free_symbols <= set(known):
                continue  # about letters that nothing measured depends on
            local = decimal(step.local, known)
            errors[step.error] = measured.get(step.name, local)
            if measured.get(step.name, 0.0) > 0.0:
                slacks[step.name] = float(local / measured[step.name])
        return slacks

    def latex(self) -> str:
        return SHOWN.derivation(self)

    def __repr__(self) -> str:
        conclusion = f" of {self.steps[-1].name}" if self.steps else ""
        return f"<Derivation{conclusion}: {len(self.steps)} step{'' if len(self.steps) == 1 else 's'}>"

    def __str__(self) -> str:
        return SHOWN.text(self)

    def _repr_latex_(self) -> str:
        return SHOWN.display(self)


def _merge(steps: Iterable[Step]) -> tuple[Step, ...]:
    merged: dict[str, Step] = {}
    for step in steps:
        if merged.setdefault(step.name, step) != step:
            raise DerivationError(f"two different steps are both called '{step.name}'; give one of them another name")
    require_events_apart(merged.values())
    return tuple(merged.values())


@dataclass(frozen=True)
class Approximated(Sized):
    """A vector v in R^dim and its approximation v_hat, with ||v|| <= size and ||v_hat - v|| <= error in `norm`.

    `size` bounds the exact value; the approximate one is at most size + error. `radius` (optional) bounds the
    distance of the exact value's tokens from some common centre, in the same norm; it is at most `size`.
    `probabilities`: both vectors are non-negative and their entries add up to 1. `affine`: so is the approximate one;
    the entries of the exact one add up to 1 but may be negative.
    """

    name: str
    dim: sp.Expr
    norm: Norm
    size: sp.Expr
    derivation: Derivation = field(default_factory=Derivation)
    radius: sp.Expr | None = None
    probabilities: bool = False
    affine: bool = False

    @property
    def error(self) -> sp.Expr:
        """The bound on the error, closed: in the symbols of the givens only."""
        return self.derivation.bound(self.name)

    @property
    def events(self) -> Events:
        """The events on which the bounds hold."""
        return self.derivation.events(self.name)

    @property
    def mean_over(self) -> tuple[str, ...]:
        """The randomness over which the error is bounded in expectation."""
        return self.derivation.mean_over(self.name)

    @property
    def holds_weights(self) -> bool:
        """Whether the exact entries add up to 1 and the approximate ones are probabilities."""
        return self.probabilities or self.affine

    @property
    def error_symbol(self) -> ErrorSymbol:
        return error_symbol(self.name)

    def follows(self, step: Step, *others: "Approximated", **changes: Any) -> "Approximated":
        """The conclusion of `step`, with this derivation and the derivations of `others` followed by the step.

        The premises of the step are these values, in this order, unless it names them in another one. Its bound, and
        the `size` and `radius` of the conclusion, may be in the symbols of the sizes of these values, and in those that
        `known` maps to bounds.
        """
        require_one_sense(step, (self, *others))
        known = changes.pop("known", {})
        premises = step.premises or tuple(each.name for each in (self, *others))
        stated = {"error": step.local, "size": changes["size"], "radius": changes.get("radius")}
        closed = {which: closed_with((self, *others), each, known) for which, each in stated.items()}
        sizes = Sizes(step.local, stated["size"], closed["size"], stated["radius"], closed["radius"])
        step = replace(step, premises=premises, dim=changes["dim"], local=closed.pop("error"), sizes=sizes)
        own, *rest = (
            each.with_its_size().with_approximate_size(known.get(approximate_symbol(each.name)), given=True).derivation
            for each in (self, *others)
        )
        derivation = own.then(step, *rest)
        return Approximated(name=step.name, norm=step.norm, derivation=derivation, **{**changes, **closed})

    def with_its_size(self) -> "Approximated":
        """The same value, whose own step says its size, where another one was put in the place of that of the rule."""
        sizes = self.derivation.steps[-1].sizes
        if sizes is None or sizes.closed == self.size:
            return self
        return self.with_conclusion(sizes=replace(sizes, size=self.size, closed=self.size, separate=True))

    def with_approximate_size(self, size: sp.Expr | None, *, given: bool = False) -> "Approximated":
        """The same value, whose own step says how large the approximate one is, if that is known.

        `given`: to a later rule, so that it need not follow by the rule of this step.
        """
        sizes = self.derivation.steps[-1].sizes
        if sizes is None or size is None or size == sizes.approximate:
            return self
        return self.with_conclusion(sizes=replace(sizes, approximate=size, given_approximate=given))

    def with_conclusion(self, **changes: Any) -> "Approximated":
        """The same value, these fields of its own step changed."""
        *others, last = self.derivation.steps
        return replace(self, derivation=Derivation((*others, replace(last, **changes))))

    def with_obligations(self, change: Change, kept: Collection[str] = ()) -> "Approximated":
        """The same value, each obligation of its derivation changed but for those of the steps that are `kept`."""
        return replace(self, derivation=self.derivation.with_obligations(change, kept))

    def __repr__(self) -> str:
        return f"<Approximated {self.name} in R^{self.dim}: {self.norm}-norm at most {cut(sp.sstr(self.size))}>"

    def __str__(self) -> str:
        return SHOWN.text(self)

    def _repr_latex_(self) -> str:
        return self.derivation._repr_latex_()


def given(
    name: str,
    *,
    dim: Any,
    norm: NormName = Norm.INF,
    size: Any,
    error: Any = 0,
    radius: Any = None,
    probabilities: bool = False,
    affine: bool = False,
    reason: str = "given",
    source: Citation | None = None,
) -> Approximated:
    """A value that the derivation starts from: its size, and its error (0 for an exact one), are hypotheses.

    `probabilities`: the exact and the approximate vector are non-negative and their entries add up to 1. `affine`: so
    is the approximate vector; the entries of the exact one add up to 1 but may be negative. A formula for the error is
    no hypothesis but a bound by hand.
    """
    norm, numbers = as_norm(norm), {"error": as_expr(error), "size": as_expr(size)}
    if radius is not None:
        numbers["radius"] = as_expr(radius)
    if probabilities or affine:
        _require_unit_sum(name, norm, numbers["size"])
    dim = as_expr(dim)
    obligations = (*nonnegative("given", name, **numbers), *whole("given", name, least=1, dimension=dim))
    about = (dim, numbers["size"], numbers.get("radius"), probabilities, affine)
    step = Step(
        name,
        norm,
        "given",
        numbers["error"],
        (),
        reason,
        source,
        obligations,
        per_unit=True,
        about=about,
        operation=Given(name),
        dim=dim,
        provenance=None if numbers["error"].is_Atom else Provenance.HAND,
    )
    radius = numbers.get("radius")
    step = replace(step, sizes=Sizes(step.local, numbers["size"], numbers["size"], radius, radius))
    derivation = Derivation((step,))
    return Approximated(name, dim, norm, numbers["size"], derivation, radius, probabilities, affine)


UNIT_ROUNDING = sp.Rational(1, 10**9)  # tolerance for the sum of measured weights


def _require_unit_sum(name: str, norm: Norm, size: sp.Expr) -> None:
    if norm is not Norm.ONE or (size - 1 + UNIT_ROUNDING).is_negative:
        raise DerivationError(
            f"given: '{name}' holds weights that add up to 1, got a size of {sp.sstr(size)} in the {norm}-norm; give "
            f"norm = Norm.ONE and size = 1, or more if exact weights may be negative"
        )


def by_members(value: Approximated, named: Step, *families: Approximated) -> Approximated:
    """The same conclusion, whose bound is that of `named` by the errors of members of these families."""
    members = tuple(step for family in families for step in family.derivation.steps)
    return value.with_conclusion(named=named.local, named_recursion=named.recursion, families=members)


def require_norm(rule: str, value: Approximated, *allowed: Norm) -> None:
    """Raises DerivationError unless the value is stated in one of the norms the rule is proved for."""
    if value.norm not in allowed:
        proved = " or ".join(allowed)
        raise DerivationError(
            f"{rule}: '{value.name}' is bounded in the {value.norm}-norm, but the rule is proved in the {proved}-norm; "
            f"apply change_norm first"
        )
