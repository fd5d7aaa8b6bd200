"""A random program: rules applied to a pool of values, each with vectors at a batch of points; each step is checked."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy as sp

from symbolic.calculus import Approximated, Norm
from tests.symbolic.fuzzing.evaluation import evaluate
from tests.symbolic.fuzzing.realised import Measured, Realised
from tests.symbolic.fuzzing.record import Checked, Line, Pair, Violation
from tests.symbolic.fuzzing.spoiled import refuses, spoiled
from tests.symbolic.fuzzing.vectors import largest, supporting, units

Rules = Mapping[str, Callable[..., Any]]

NAME = object()  # stands for the name of the new value in the arguments of a rule
TAME = 1e3  # larger values are not built upon: float64 would be what is tested
EXACT = {"step", "coefficients", "inverse_temperature", "affine", "transposed", "probabilities", "box", "sink", "shift"}
LOWER = {"margin", "slope", "gap", "lead", "penalty", "least", "exact_least"}  # the rules get lower bounds of these
NORMS = tuple(Norm)


@dataclass
class Program:
    """Values, their vectors at `points` points of `tokens` tokens each, and the lines that derive them.

    `kind`: the rules get their numbers as "floats", as "rationals" where they are simple ones, as "exact" rationals
    of floats, or as "letters", whose values enter only where a bound is evaluated. `spare` is by what share they are
    larger than those of the vectors, so that bounds hold without a tolerance. `onwards` is how often a value is built
    upon the latest ones. `read`: the steps are read at instances, so that layers consist of rules with operations;
    and some givens have no tokens, which is to say that all their tokens are one.

    `operands` has what the handles stand for: arrays (P, ...), pairs of them, functions. In a repeated layer there is
    one for each layer.
    """

    rng: np.random.Generator
    rules: Rules
    points: int = 64
    tokens: int = 2
    kind: str = "floats"
    spare: float = 0.0
    onwards: float = 0.0
    read: bool = False
    pool: list[Realised] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    checked: list[Checked] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)  # moves whose rules refused what they got, or owe it
    move: str = ""
    at: dict[sp.Symbol, Any] = field(default_factory=dict)  # the values of letters
    operands: dict[str, list[Any]] = field(default_factory=dict)
    _errors: dict[sp.Symbol, Any] = field(default_factory=dict)
    _alone_by_name: dict[str, bool] = field(default_factory=dict)
    _numbers: dict[str, dict[str, float]] = field(default_factory=dict)
    _labels: dict[int, tuple[str, Any]] = field(default_factory=dict)
    _compasses: dict[int, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.straight = self.rng.random(self.points) < 0.7  # errors along the values, or in random directions
        self.compass_kind = self.rng.integers(0, 4, self.points)  # all ones (twice), an axis, anything

    # --- numbers --------------------------------------------------------------------------------------------------

    def number(self, low: float = 0.25, high: float = 3.0) -> float:
        """Often one of the round numbers at which rules change their branch."""
        if self.rng.random() < 0.3:
            return float(np.clip(self.rng.choice([0.5, 1.0, 2.0]), low, high))
        if self.kind == "rationals" and high - low >= 0.5:
            return float(np.ceil(4 * self.rng.uniform(low, high - 0.25)) / 4)
        return float(self.rng.uniform(low, high))

    def whole(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high + 1))

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def any_norm(self) -> Norm:
        return NORMS[self.whole(0, 2)]

    def signs(self, *shape: int) -> np.ndarray:
        return self.rng.choice([-1.0, 1.0], shape)

    # --- directions -----------------------------------------------------------------------------------------------

    def compass(self, dim: int, norm: Norm) -> np.ndarray:
        """(P, D): a unit vector at each point, the same for all values of that dimension, so that errors can add up."""
        if dim not in self._compasses:
            corner = self.signs(dim)
            axis = np.eye(dim)[self.whole(0, dim - 1)]
            anything = self.rng.normal(size=(self.points, dim))
            kind = self.compass_kind[:, None]
            self._compasses[dim] = np.where(kind < 2, corner, np.where(kind == 2, axis, anything))
        return units(self._compasses[dim], norm)

    def directions(self, dim: int, norm: Norm) -> np.ndarray:
        """(P, T, D): unit vectors, along the compass at the straight points and random at the others."""
        straight = (self.signs(self.points, 1) * self.compass(dim, norm))[:, None, :]
        return np.where(self.straight[:, None, None], straight, self.anywhere(dim, norm))

    def anywhere(self, dim: int, norm: Norm) -> np.ndarray:
        return units(self.rng.normal(size=(self.points, self.tokens, dim)), norm)

    def functional(self, exact: np.ndarray, near: np.ndarray, norm: Norm) -> np.ndarray:
        """(P, D), of dual norm 1: attains, from point to point, the norm of the error, the value or their spread."""
        towards = (near - exact, exact, exact - exact[:, -1:])[self.whole(0, 2)]
        mostly = supporting(largest(towards, norm), norm)
        errors = supporting(largest(near - exact, norm), norm)
        return np.where(np.arange(self.points)[:, None] % 2 == 0, errors, mostly)

    # --- values ---------------------------------------------------------------------------------------------------

    def pick(
        self, norm: Norm | None = None, dim: int | None = None, *, single: bool | None = None, fresh: float = 0.3
    ) -> Realised:
        """A tame value of the pool in that norm and dimension, or a new given; `single`: one without tokens."""
        fitting = [
            one
            for one in self.pool
            if (norm is None or one.value.norm is norm)
            and (dim is None or one.exact.shape[-1] == dim)
            and (single is None or one.single is single)
        ]
        if not fitting or self.chance(fresh):
            return self.given(norm, dim) if single is None else self.given(norm, dim, single=single)
        latest = max(0, len(fitting) - 2) if self.chance(self.onwards) else 0
        return fitting[self.whole(latest, len(fitting) - 1)]

    def size(self, one: Realised) -> float:
        return self.number_of(one.value.name, "size")

    def size_above(self, one: Realised) -> float:
        """The same, no smaller than the size in SymPy: a float may round sqrt(3) + 0.1 down."""
        return self.size(one) * (1.0 if one.value.size.is_Atom else 1 + 1e-15)

    def bound(self, one: Realised) -> float:
        return self.number_of(one.value.name, "error")

    def number_of(self, name: str, quantity: str) -> float:
        """The closed size or error of a value that was kept."""
        return self._numbers[name][quantity]

    def given(self, norm: Norm | None = None, dim: int | None = None, **wanted: Any) -> Realised:
        """Tokens on the sphere of their size (around a centre, where there is a radius), errors on that of theirs."""
        norm, dim = norm or self.any_norm(), dim or self.whole(1, 4)
        size = wanted.get("size", 0.0 if self.chance(0.03) else self.number())
        error = wanted.get("error", 0.0 if self.chance(0.1) else self.number(0.01, 1.5))
        radius = wanted.get("radius", size * self.rng.uniform() if self.chance(0.5) else None)
        exact, centre = self.spread_tokens(norm, dim, size, radius)
        if self.chance(0.05):  # all tokens alike
            exact = exact[:, [0] * self.tokens]
        if radius is None:  # at some points 0 exactly
            exact = np.where(self.rng.random((self.points, 1, 1)) < 0.03, 0.0, exact)
        near = exact + error * self.directions(dim, norm)
        arguments = {"dim": dim, "norm": norm, "size": size, "error": error}
        if radius is not None:
            arguments["radius"] = radius
        return self.start(arguments, exact, near, centre, wanted.get("single", self.without_tokens()))

    def without_tokens(self) -> bool:
        return self.read and self.chance(0.4)

    def start(
        self,
        arguments: Mapping[str, Any],
        exact: np.ndarray,
        near: np.ndarray,
        centre: Any = None,
        single: bool = False,
    ) -> Realised:
        if single:
            exact, near = exact[:, [0] * exact.shape[1]], near[:, [0] * exact.shape[1]]
        kinds = [kind for kind in ("probabilities", "affine") if arguments.get(kind)]
        move, self.move = self.move, ", ".join(["given", *kinds])
        value = self.apply("given", NAME, **arguments)
        norm = arguments.get("norm", Norm.INF)
        result = self.conclude(value, exact, near, norm=norm, centre=centre, single=single)
        self.move = move
        return result

    def spread_tokens(self, norm: Norm, dim: int, size: float, radius: float | None) -> tuple[np.ndarray, np.ndarray]:
        radius_of = size if radius is None else radius
        along = self.signs(self.points, 1) * self.compass(dim, norm)
        shares = self.rng.uniform(-1, 1, (self.points, self.tokens))
        shares[:, 0] = 1.0
        shares[:, 1] = np.where(self.chance(0.7), -1.0, 1.0)
        off = np.where(self.straight[:, None, None], along[:, None, :], self.anywhere(dim, norm))
        off[:, :2] = along[:, None, :]
        centre = (size - radius_of) * along
        return centre[:, None, :] + radius_of * shares[..., None] * off, centre

    # --- steps ----------------------------------------------------------------------------------------------------

    def apply(self, rule: str, *arguments: Any, **named: Any) -> Any:
        """The rule's conclusion; the call is noted as a line of code."""
        arguments = tuple(map(self._spelt, arguments))
        named = {key: self._spelt(each, "" if rule == "given" else key) for key, each in named.items()}
        target, uses = f"v{len(self.lines)}", set[str]()

        def word(argument: Any) -> str:
            if argument is NAME:
                return repr(target)
            if isinstance(argument, tuple):
                return f"({''.join(word(each) + ', ' for each in argument)})"
            if isinstance(argument, dict):
                return f"{{{', '.join(f'{key}: {word(each)}' for key, each in argument.items())}}}"
            label = argument.name if isinstance(argument, Approximated) else self._labels.get(id(argument), ("",))[0]
            uses.update([label] if label else sorted(map(str, getattr(argument, "free_symbols", ()))))
            return label or (f"Norm.{argument.name}" if isinstance(argument, Norm) else repr(argument))

        words = [word(argument) for argument in arguments]
        words += [f"{key}={word(argument)}" for key, argument in named.items()]
        self.lines.append(Line(target, f"{target} = {rule}({', '.join(words)})", frozenset(uses)))

        def passed(argument: Any) -> Any:
            return target if argument is NAME else argument

        given = tuple(map(passed, arguments)), {key: passed(each) for key, each in named.items()}
        result = self.rules[rule](*given[0], **given[1])
        if not isinstance(result, Approximated):
            self._labels[id(result)] = (target, result)
        else:
            self._check_refused(rule, *given)
        return result

    def _check_refused(self, rule: str, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        """One of the numbers made one that the rule must refuse, in turn; raises Violation."""
        if not (wrong := list(spoiled(named, self.at))):
            return
        key, value = wrong[len(self.lines) % len(wrong)]
        if not refuses(self.rules[rule], arguments, {**named, key: value}, self.at):
            name = self.lines[-1].target
            measured = Measured(f"refusal of {key}={value}", 0.0, 1.0)
            raise Violation(self.move, name, measured, 0, self.needed(name), f"    {rule}(..., {key}={value})")

    def handle(self, operand: Any = None, kind: str = "h") -> str:
        """A new handle, of the operand if there is one."""
        name = f"{kind}{len(self.operands)}"
        self.operands[name] = [] if operand is None else [operand]
        return name

    def raised(self, argument: float, key: str = "") -> float:
        """What the rule gets in the place of a number of the vectors. A `size` is that of a value, which has it."""
        return argument * self._share(key)

    def _share(self, key: str) -> float:
        return 1.0 if key in EXACT | {"size"} else 1 - self.spare if key in LOWER else 1 + self.spare

    def _spelt(self, argument: Any, key: str = "") -> Any:
        """The argument as the rule gets it: numbers in the kind of this program."""
        if isinstance(argument, Realised):
            return argument.value
        if isinstance(argument, tuple):
            return tuple(self._spelt(each, key) for each in argument)
        if isinstance(argument, dict):
            return {place: self._spelt(each, key) for place, each in argument.items()}
        argument = float(argument) if isinstance(argument, float) else argument  # numpy's print otherwise
        if self.kind == "rationals" and isinstance(argument, float) and (8 * argument).is_integer():
            return sp.Rational(argument) * sp.Rational(self._share(key))
        argument = self.raised(argument, key) if isinstance(argument, float) else argument
        if self.kind == "exact" and isinstance(argument, float):
            return sp.Rational(argument)
        if self.kind == "letters" and isinstance(argument, float) and argument > 0:
            return self._letter(argument, positive=True)
        if self.kind == "letters" and isinstance(argument, int) and key in ("depth", "steps"):
            return self._letter(argument, integer=True, positive=True)
        return argument

    def _letter(self, value: Any, **assumptions: bool) -> sp.Symbol:
        letter = self.symbol(f"a{len(self.at)}", remark=f"  # {value!r}", **assumptions)
        self.at[letter] = value
        return letter

    def symbol(self, name: str, remark: str = "", **assumptions: bool) -> sp.Symbol:
        words = ", ".join(f"{assumption}={holds}" for assumption, holds in assumptions.items())
        line = Line(name, f"{name} = Symbol({name!r}, {words}){remark}", frozenset())
        if line not in self.lines:
            self.lines.append(line)
        return sp.Symbol(name, **assumptions)

    def letter(self, name: str) -> sp.Dummy:
        """The error of a layer: a letter of its own."""
        line = Line(f"_{name}", f"_{name} = Dummy({name!r}, nonnegative=True)", frozenset())
        if line not in self.lines:
            self.lines.append(line)
        return sp.Dummy(name, dummy_index=len(self.lines), nonnegative=True)

    def refuse(self) -> None:
        self.refused.append(self.move)

    def conclude(
        self,
        value: Approximated,
        exact: np.ndarray,
        near: np.ndarray,
        *,
        norm: Norm,
        centre: np.ndarray | None = None,
        at: Mapping[sp.Symbol, Any] | None = None,
        limit: np.ndarray | None = None,
        also: tuple[Measured, ...] = (),
        known_ratio: float | None = None,
        keep: bool = True,
        single: bool | None = None,
    ) -> Realised:
        """Check all that the value says of the vectors; raises Violation. It joins the pool if it is to be kept.

        `known_ratio`, of a rule that is not sharp: what its bound is at most in units of the error that is attained.
        `single`: the value has no tokens; by default as its premises.
        """
        step = value.derivation.step(value.name)
        if single is None:
            single = bool(step.premises) and all(self._alone_by_name.get(name, False) for name in step.premises)
        self._alone_by_name[value.name] = single
        result = Realised(value, exact, near, centre, norm, {**self.at, **(at or {})}, single)
        if step.rule == "given":
            self.operands[value.name] = [Pair(result.tokens(exact), result.tokens(near))]
        local = evaluate(step.local, {**self._errors, **result.at})
        here = Measured("local error", local, result.error, result.scale)
        if known_ratio is not None:
            also = (*also, Measured("bound over known ratio", result.error, here.bound / known_ratio, result.scale))
        promises = (here, *result.promises(), *result.owed(), *also)
        for measured in promises:
            if np.any(measured.violated):
                raise self._violation(result, measured)
        self._errors[value.error_symbol] = result.error
        self.checked.append(Checked(self.move, result, promises, limit))
        if keep:
            self._numbers[value.name] = {
                m.quantity: float(m.bound) for m in promises if m.quantity in ("size", "error")
            }
            if max(self._numbers[value.name].values()) < TAME:
                self.pool.append(result)
        return result

    def _violation(self, result: Realised, measured: Measured) -> Violation:
        point = int(np.argmax(np.broadcast_to(measured.violated, (self.points,))))
        name = result.value.name
        return Violation(self.move, name, measured, point, self.needed(name), self._alone(result, point))

    def needed(self, name: str) -> tuple[Line, ...]:
        """The lines that `name` depends on, itself included."""
        wanted, kept = {name}, []
        for line in reversed(self.lines):
            if line.target in wanted:
                wanted |= line.uses
                kept.append(line)
        return tuple(reversed(kept))

    def _alone(self, result: Realised, point: int) -> str:
        """The step on givens that have the size and the true error of its premises at the point, and the vectors."""
        words = []
        named = {step.result.value.name: step.result for step in self.checked}
        for premise in result.value.derivation.step(result.value.name).premises:
            one = named.get(premise)
            if one is not None:
                v = one.value
                words.append(
                    f"{premise} = given({premise!r}, dim={v.dim}, norm=Norm.{v.norm.name}, size={v.size}, "
                    f"error={float(one.error[point])!r}, radius={v.radius}, probabilities={v.probabilities}, "
                    f"affine={v.affine})"
                )
                words.append(f"# exact {one.exact[point].tolist()}, near {one.near[point].tolist()}")
        words.append(self.lines[[line.target for line in self.lines].index(result.value.name)].text)
        words.append(f"# exact {result.exact[point].tolist()}, near {result.near[point].tolist()}")
        return "\n".join(f"    {line}" for line in words)
