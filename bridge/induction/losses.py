"""induction.losses: (19) and (22) of wang2024, and Lemmas D.3 and D.4, against the definitions they are computed from.

Closed forms are compared with one another symbolically, and with the definitions by quadrature or term by term (to
its error), by sampling the true softmax (to five standard errors). Where (10) ends its sums early, or the softmax is
not the exponential, the difference is a row of its own with its order in 1/L.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import flint
import sympy as sp
import torch

from bridge.balls import as_exact
from bridge.budget import Budget
from bridge.cost import Cost
from bridge.export.numbers import plain
from bridge.record import Row, Verdict, Witness
from bridge.rows import direct_row
from bridge.study import DirectCase, Inputs, Study
from numeric.balls import float_below
from numeric.induction import losses as exact
from numeric.induction.losses import Estimate, Head, Sampling
from numeric.induction.training import TwoLayer
from symbolic.dynamics.gaussian import gaussian_mean
from symbolic.induction import losses as theory
from symbolic.induction import training as letters
from symbolic.statements import Kind, Quantity, UsageError

IN_PARAMETERS = {letters.v: letters.w**2, **letters.OPTIMA}
SIGMAS = 5  # two numbers agree if this many standard errors apart at most; a false alarm in 1.7 million
ORDER_SIZES = (8, 16, 32)  # n = L - 2 at which orders in 1/n are read off
ORDER_TOLERANCE = 0.4
SAMPLES = 30_000  # contexts for the true softmax, fewer where they are long
NUMBERS = 1_000_000  # contexts times tokens at each node of x_L
MOMENTS = (-0.9, 0.9)  # a of Lemma D.3
BEYOND = -1.25  # an a outside of |a| < 1, at which the mean of Lemma D.3 is infinite
WITNESSES = {"gram.as_printed": ("p", "g"), "head.as_printed": ("w", "h"), "head.optimum": ("w", "h")}
REACH = 8.0
TINY = 1e-14  # a loss below this is due to rounding
BEYOND_REMARK = (
    "outside the range |a| < 1: for a <= -1 the mean is infinite and (1 - a^2)^(-1/2) is not a finite real number; "
    "measured: the mean over |Y| <= 8"
)
_X, _Y, _Z = sp.symbols("X Y Z", real=True)


@dataclass(frozen=True)
class Compared:
    """The printed and the derived enclosures of a quantity, and its value by the definition."""

    printed: flint.arb
    derived: flint.arb
    measured: Estimate
    identical: bool  # whether the two closed forms are one expression, as SymPy proves

    def verdict(self) -> dict[str, Verdict]:
        return {"printed": self._of_printed(), "derived": self._of_derived()}

    def _of_derived(self) -> Verdict:
        """The derivation proves it; a definition that disagrees with it has the last word."""
        return Verdict.PROVED if self._near(self.derived) else Verdict.VIOLATED

    def _of_printed(self) -> Verdict:
        if self._of_derived() is not Verdict.PROVED:
            return Verdict.KEPT if self._near(self.printed) else Verdict.VIOLATED
        if self.identical:
            return Verdict.PROVED
        return Verdict.KEPT if self.printed.overlaps(self.derived) else Verdict.VIOLATED

    def _near(self, ball: flint.arb) -> bool:
        return bool(abs(ball - flint.arb(self.measured.value)) <= flint.arb(self.measured.error))


def order_verdict(order: float, measured: float, met: Verdict) -> Verdict:
    """`met` near the stated order; violated a whole order below it; between (sizes too small yet) undecided."""
    if met is Verdict.UNDECIDED or abs(measured - order) <= ORDER_TOLERANCE:
        return met
    return Verdict.VIOLATED if measured <= order - 1 + ORDER_TOLERANCE else Verdict.UNDECIDED


@cache
def closed_forms() -> dict[str, sp.Expr]:
    """What is derived, in the parameters; `gram.as_printed` and `head.as_printed` with the sums to L-2 of (10)."""
    derived = {
        "gram": theory.derive_gram(theory.AS_NEEDED),
        "gram.as_printed": theory.derive_gram(theory.AS_PRINTED),
        "head": theory.derive_head(theory.AS_NEEDED),
        "head.as_printed": theory.derive_head(theory.AS_PRINTED),
        "head.softmax": theory.derive_softmax_head(),
        "squares": theory.derive_squares(theory.AS_NEEDED),
        "gaussian": gaussian_mean(_Z**2, theory.a * _X * _Y, (_X, _Y, _Z)).value,
    }
    return {name: form.subs(IN_PARAMETERS) for name, form in derived.items()}


def printed_form(name: str) -> sp.Expr:
    """Each quantity of this result is a printed one."""
    printed = theory.LOSSES.quantity(name).printed
    assert printed is not None
    return printed.bound


@cache
def identical(name: str) -> bool:
    """Whether the printed form of a quantity is the derived one, everywhere."""
    return sp.simplify(printed_form(name) - closed_forms()[name]) == 0


@cache
def early_gap_is_first_order() -> bool:
    """Whether (L-2)^2 times the gap that the sum to L-2 makes is free of L: the gap is 1/(L-2) of (22) then."""
    gap = theory.derive_head(theory.AS_PRINTED) - theory.derive_head(theory.AS_NEEDED)
    return not sp.factor(gap * (letters.L - 2) ** 2).has(letters.L)


class LossesCase(DirectCase):
    """The losses at one (L, alpha, w*, p, g, w, h)."""

    uses = frozenset({"seed", "dtype"})

    def __init__(self, params: Mapping[str, Any], *, seed: int, dtype: str, device: str):
        super().__init__(theory.LOSSES, params, dtype=dtype, device=device)
        self.seed = seed
        self.length = int(params["L"])
        self.g_star, self.h_star = params["alpha"] / (1 + params["alpha"]), 1 / (1 + params["alpha"])
        self.target = Head(params["w_star"] ** 2, self.h_star)

    def rows(self, budget: Budget) -> list[Row]:
        return [
            self.row("gram"),
            self.early_row("gram.as_printed", {}),
            self.row("head"),
            self.early_row("head.as_printed", {}),
            self.early_row("head.optimum", {"w": self.params["w_star"], "h": self.h_star}),
            self.early_order_row(),
            self.softmax_row(),
            *self.softmax_order_rows(),
            *(self.moment_row(a) for a in MOMENTS),
            self.beyond_row(BEYOND),
            self.row("squares"),
        ]

    # The statements as they hold.

    def row(self, name: str) -> Row:
        quantity = self.result.quantity(name)
        return self._row(quantity, self.compared(name, self.definition(name, "L-1")))

    def compared(self, name: str, measured: Estimate, printed_as: str = "") -> Compared:
        """A quantity's printed and derived forms at this point, beside its definition's value."""
        same = not printed_as and identical(name)
        return Compared(self.ball(printed_form(printed_as or name)), self.ball(closed_forms()[name]), measured, same)

    def definition(self, name: str, upper: str) -> Estimate:
        """The quantity from its definition, with its error."""
        if name == "head":
            trained = Head(self.params["w"] ** 2, self.params["h"], upper)
            return exact.head_exponential(self.target, trained, self.length)
        if name == "squares":
            value = exact.squares_by_softmax(self.length, self.params["p"], upper)
            return Estimate(value, self._rounding(torch.float64))
        return Estimate(exact.gram_by_weights(self.network(upper), self.g_star), self._rounding(self.dtype))

    def network(self, upper: str) -> TwoLayer:
        named = {"p": "p", "g": "g", "w_Q": "w", "w_K": "w", "h": "h"}
        start = {"p_first": float("inf"), **{name: self.params[given] for name, given in named.items()}}
        return TwoLayer(self.length, start, upper=upper, dtype=self.dtype, device=self.device)

    def _rounding(self, dtype: torch.dtype) -> float:
        """Of the sum of L squares of weights that are each off by a few units of their last place, and sum to 1."""
        size = (self.params["g"] + self.g_star + 1) ** 2
        return float(4 * (self.length + 4) * torch.finfo(dtype).eps * size)

    def _row(self, quantity: Quantity, compared: Compared, remark: str = "", **more: Any) -> Row:
        off = f"the definition differs from the derived form by more than its error, {plain(compared.measured.error)}"
        wrong = compared.verdict()["derived"] is Verdict.VIOLATED
        return direct_row(
            self,
            quantity,
            compared.verdict(),
            printed=float(compared.printed),
            derived=float(compared.derived),
            measured=compared.measured.value,
            remark="; ".join(filter(None, [remark, off if wrong else ""])),
            **more,
        )

    # Sums that end at L-2.

    def early_row(self, name: str, moved: Mapping[str, float]) -> Row:
        """(19) or (22) against the network of (10), whose sums end at L-2; at other parameters where `moved` says."""
        case = LossesCase({**self.params, **moved}, seed=self.seed, dtype="float64", device="cpu") if moved else self
        base = name.partition(".")[0]
        compared = case.compared(f"{base}.as_printed", case.definition(base, "L-2"), printed_as=base)
        quantity = self.result.quantity(name)
        witness = None
        if compared.verdict()["printed"] is Verdict.VIOLATED:
            inputs = {letter: [float(case.params[letter])] for letter in WITNESSES[name]}
            witness = self._witness(name, inputs, compared)
        return self._row(quantity, compared, witness=witness, params=dict(case.params))

    def _witness(self, name: str, inputs: dict[str, Any], compared: Compared) -> Witness:
        return Witness(
            result=self.result.id,
            quantity=name,
            params=self.full_params,
            inputs=inputs,
            error_lower=float_below(compared.derived),
            bounds={"printed": float(compared.printed)},
        )

    def early_order_row(self) -> Row:
        """The relative difference of the two sums, as L grows: of order 1/L, from definitions alone."""
        trained = Head(self.params["w"] ** 2, self.params["h"])
        early = replace(trained, upper="L-2")
        gaps = {}
        for n in ORDER_SIZES:
            whole, short = (exact.head_exponential(self.target, head, n + 2).value for head in (trained, early))
            gaps[n] = (short - whole) / whole if abs(whole) > TINY else 0.0  # 0: nothing to be relative to
        quantity = self._order("head.as_printed.order", "the relative difference of the losses of the two sums")
        return self._order_row(
            quantity, 1.0, gaps, Verdict.PROVED if early_gap_is_first_order() else Verdict.CONSISTENT
        )

    # The true softmax.

    def softmax_row(self) -> Row:
        """(22), and the first order in 1/L, against the network's own softmax."""
        true = self.sampled(self.length)
        numbers = {which: self._at(which) for which in ("printed", "derived")}
        off = {which: abs(number - true.value) for which, number in numbers.items()}
        allowed = SIGMAS * true.error + self.second_order
        apart = abs(numbers["printed"] - numbers["derived"])
        if off["derived"] > allowed:
            verdict = Verdict.VIOLATED
        else:  # an allowance that covers (22) as well decides nothing, unless both are equal
            verdict = Verdict.UNDECIDED if apart > 0 and off["printed"] <= allowed else Verdict.CONSISTENT
        size = true.value or 1.0
        remark = (
            f"softmax sampled given x_L, standard error {plain(true.error)}; (22) is off by "
            f"{off['printed'] / size:.2%}, the first order by {off['derived'] / size:.2%}, allowed "
            f"{allowed / size:.2%} (the 1/L^2 term, from the sampled values at L = {ORDER_SIZES[0] + 2} and "
            f"{ORDER_SIZES[-1] + 2} alone)"
            f"{'; too few tokens to tell it from (22)' if verdict is Verdict.UNDECIDED else ''}; the paper calls (22) "
            "an approximation without an error bound, so that it is not judged"
        )
        quantity = self.result.quantity("head.softmax")
        return direct_row(
            self,
            quantity,
            {"derived": verdict},
            printed=numbers["printed"],
            derived=numbers["derived"],
            measured=true.value,
            remark=remark,
        )

    @property
    def second_order(self) -> float:
        """The allowance of a first order at this L: twice the 1/n^2 term of the true loss, with its own error.

        n loss = A + B/n + ...: B comes from two sizes of the true softmax, whatever formula there is for A.
        """
        small, large = ORDER_SIZES[0], ORDER_SIZES[-1]
        scaled = {n: n * self.small[n].value for n in (small, large)}
        error = math.hypot(*(n * self.small[n].error for n in (small, large)))
        slope = (abs(scaled[small] - scaled[large]) * 2 + SIGMAS * error) / (1 / small - 1 / large)
        return slope / (self.length - 2) ** 2

    def softmax_order_rows(self) -> list[Row]:
        """The error of the first order, as L grows (of order 1/L^2), and that of (22) (of order 1/L)."""
        rows = []
        for name, which, formula, order in (
            ("head.softmax.order", "derived", "the first order", 2.0),
            ("head.softmax.order[(22)]", "printed", "(22)", 1.0),
        ):
            gaps = self.gaps(which)
            seen = all(abs(gap) > SIGMAS * self.small[n].error for n, gap in gaps.items())
            quantity = self._order(name, f"the error of {formula} for the true softmax's loss")
            rows.append(self._order_row(quantity, order, gaps, Verdict.CONSISTENT if seen else Verdict.UNDECIDED))
        return rows

    @cached_property
    def small(self) -> dict[int, Estimate]:
        """The true softmax's loss at the sizes n = L - 2 at which orders are read off."""
        return {n: self.sampled(n + 2) for n in ORDER_SIZES}

    def gaps(self, which: str) -> dict[int, float]:
        return {n: self._at(which, n + 2) - estimate.value for n, estimate in self.small.items()}

    def sampled(self, length: int) -> Estimate:
        contexts = max(32, min(SAMPLES, NUMBERS // length))
        trained = Head(self.params["w"] ** 2, self.params["h"])
        return exact.head_softmax(self.target, trained, length, Sampling(contexts=contexts, seed=self.seed))

    def _at(self, which: str, length: int | None = None) -> float:
        """(22), or the softmax's first order, here or at another L."""
        form = closed_forms()["head.softmax"] if which == "derived" else printed_form("head.softmax")
        return float(self.ball(form, {letters.L: length or self.length}))

    # Orders in 1/n.

    def _order(self, name: str, meaning: str) -> Quantity:
        base = self.result.quantity("head")
        return replace(
            base, name=name, meaning=f"order in 1/(L-2) of {meaning}", kind=Kind.RATE, printed=None, remark=""
        )

    def _order_row(self, quantity: Quantity, order: float, gaps: Mapping[int, float], met: Verdict) -> Row:
        """The order read off between the smallest size and the largest; `met` if it is the stated one."""
        if not all(gaps.values()):
            remark = "no order: there is no difference, or no loss to relate it to (the trained head is the target)"
            return direct_row(self, quantity, {"derived": Verdict.UNDECIDED}, derived=order, remark=remark)
        ends = {n: gaps[n] for n in (min(gaps), max(gaps))}
        measured = exact.orders(ends)[max(gaps)]
        shown = ", ".join(f"{plain(gap)} at L = {n + 2}" for n, gap in gaps.items())
        verdict = order_verdict(order, measured, met)
        return direct_row(self, quantity, {"derived": verdict}, derived=order, measured=measured, remark=shown)

    # Lemma D.3.

    def moment_row(self, a: float) -> Row:
        at = {theory.a: as_exact(a)}
        printed, derived = (self.ball(form, at) for form in (printed_form("gaussian"), closed_forms()["gaussian"]))
        compared = Compared(printed, derived, exact.gaussian_moment(a), identical("gaussian"))
        return self._row(self.result.quantity("gaussian"), compared, params={"a": a})

    def beyond_row(self, a: float) -> Row:
        """Outside of |a| < 1, where the mean is infinite."""
        quantity = replace(
            self.result.quantity("gaussian"),
            name="gaussian.beyond",
            meaning="the Gaussian mean of Lemma D.3 outside the range |a| < 1",
            domain="a <= -1",
            remark=BEYOND_REMARK,
        )
        measured = exact.gaussian_moment(a, REACH).value
        return direct_row(self, quantity, {"printed": Verdict.OUTSIDE}, measured=measured, params={"a": a})

    # Witnesses.

    def replay_check(self, name: str, inputs: Inputs) -> Row:
        if name not in WITNESSES:
            return super().replay_check(name, inputs)
        numbers = self._numbers(name, inputs)
        self.result.check({**self.params, **numbers})
        return self.early_row(name, numbers)

    def _numbers(self, name: str, inputs: Inputs) -> dict[str, float]:
        wanted = WITNESSES[name]
        if set(inputs) != set(wanted) or any(tuple(v.shape) != (1,) or not v.isfinite().all() for v in inputs.values()):
            raise UsageError(f"{self.result.id}: '{name}' takes one finite number for each of {', '.join(wanted)}")
        return {letter: float(inputs[letter][0]) for letter in wanted}


class LossesStudy(Study):
    """(19), (22), Lemmas D.3 and D.4: see `LossesCase`."""

    result = theory.LOSSES
    main_quantity = "head"

    def cost(self, sizes: Mapping[str, float], budget: Budget | None) -> Cost:
        """Sums of L terms, of which a few dozen copies are held at once."""
        return Cost(320 * sizes["L"], 1.2e-5 * sizes["L"])

    def case(self, params: Mapping[str, Any], *, seed: int, dtype: str, device: str) -> LossesCase:
        return LossesCase(self.resolved(params), seed=seed, dtype=dtype, device=device)
