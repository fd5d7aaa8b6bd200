"""Rules 7 and 8 together: errors that add up over steps whose factors vary, with a quadratic term in each step."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from symbolic.calculus.recursions import LinearRecursion, latex
from symbolic.derivations.derivation import Approximated, as_expr, rule_step
from symbolic.derivations.obligations import Obligation, for_all, nonnegative, whole
from symbolic.derivations.operations import Unread
from symbolic.words.indices import fresh, names_of_letters

EVERY_STEP = "in every step"


@dataclass(frozen=True)
class Accumulation:
    """e_{l+1} <= (factor + quadratic e_l) e_l + offset from e_0 = start; factor and offset may depend on `index`."""

    start: sp.Expr
    factor: sp.Expr
    offset: sp.Expr
    quadratic: sp.Expr
    index: sp.Symbol

    @property
    def letters(self) -> set[sp.Symbol]:
        """Those of its coefficients, but for the number of the step."""
        found: set[sp.Symbol] = set().union(*(each.free_symbols for each in (self.factor, self.offset, self.quadratic)))
        return found - {self.index}

    def latex(self, names: Mapping[sp.Symbol, str] | None = None) -> str:
        l = fresh({each.name for each in self.letters} | names_of_letters(names), "lkmh")  # noqa: E741 - the step
        step = {self.index: sp.Symbol(l, integer=True, nonnegative=True)}
        factor, quadratic, offset, start = (
            latex(each.xreplace(step), names) for each in (self.factor, self.quadratic, self.offset, self.start)
        )
        nonlinear = "" if self.quadratic == 0 else f" + {quadratic} e_{l}"
        return rf"e_{{{l}+1}} \le \left({factor}{nonlinear}\right) e_{l} + {offset},\qquad e_0 = {start}"

    def words(self) -> str:
        """The same in plain text."""
        l = fresh({each.name for each in self.letters}, "lkmh")  # noqa: E741 - the step
        layer = {self.index: sp.Symbol(l)}
        factor, offset, quadratic = (
            sp.sstr(each.xreplace(layer)) for each in (self.factor, self.offset, self.quadratic)
        )
        nonlinear = "" if self.quadratic == 0 else f" + ({quadratic})*e_{l}"
        return f"e_({l}+1) <= ({factor}{nonlinear})*e_{l} + {offset}, e_0 = {sp.sstr(self.start)}"


# Let L_n be the errors of the linear part, L_{l+1} = f_l L_l + b_l from L_0 = e_0, f_l >= 1: they do not decrease.
# As long as e_l <= E, by induction e_l <= (1 + a E)^l L_l:
#   e_{l+1} <= (f_l + a E) e_l + b_l <= f_l (1 + a E)^{l+1} L_l + b_l <= (1 + a E)^{l+1} L_{l+1}.
# The ceiling holds by the same induction, if it holds at the end: (1 + a E)^n L_n <= E. Without one given, E = 2 L_n.
# Equality: a = 0, every step an equality. With a > 0 the ratio is at most (1 + a E)^n, which is 2 without a ceiling
# given, and tends to 1 with a L_n n. Without a quadratic term e_n <= L_n for all factors f_l >= 0.
def accumulate(
    x: Approximated,
    name: str,
    *,
    factor: Any,
    offset: Any,
    depth: Any,
    size: Any,
    quadratic: Any = 0,
    ceiling: Any = None,
    index: sp.Symbol | None = None,
    reason: str = "",
) -> Approximated:
    """x after `depth` steps that each take an error e to at most (factor + quadratic e) e + offset.

    factor >= 1; without a quadratic term, factor >= 0.
    Factor and offset may depend on `index`, the number of the step from 0 on; factors 1 + r^(2^l), those of an
    iteration that converges quadratically, multiply to (1 - r^(2^n)) / (1 - r). The error after the last step is at
    most `ceiling` (an obligation; twice the error without the quadratic term, if it is not given).
    """
    factor, offset, quadratic, depth, size = map(as_expr, (factor, offset, quadratic, depth, size))
    index = index or sp.Dummy("l", integer=True, nonnegative=True)
    local, here = (_linear(e, factor, offset, index, depth) for e in (x.error_symbol, x.error))
    ceiling = None if ceiling is None else as_expr(ceiling)
    numbers = nonnegative("accumulate", name, quadratic=quadratic, size=size)
    numbers += whole("accumulate", name, least=0, depth=depth)
    grows = Obligation(f"the factor of '{name}' is at least 1", sp.Ge(factor, 1))
    of_factor = nonnegative("accumulate", name, factor=factor) if quadratic == 0 else (grows,)
    of_steps = (*of_factor, *nonnegative("accumulate", name, offset=offset))
    every = tuple(for_all(o, index, sp.Integer(0), depth - 1, EVERY_STEP) for o in of_steps)
    step = rule_step(
        name,
        x.norm,
        "accumulation",
        local * _growth(quadratic, ceiling, local, depth),
        obligations=tuple(o for o in (*every, *numbers, *_below(name, quadratic, ceiling, here, depth)) if o.open),
        reason=reason,
        recursion=Accumulation(x.error_symbol, factor, offset, quadratic, index),
        sharp=quadratic == 0,
        operation=Unread("a step is known by how it enlarges an error, not by what it computes"),
    )
    return x.follows(step, dim=x.dim, size=size)


def _linear(start: sp.Expr, factor: sp.Expr, offset: sp.Expr, index: sp.Symbol, depth: sp.Expr) -> sp.Expr:
    return LinearRecursion(start, factor, offset, index).closed(depth)


def _growth(quadratic: sp.Expr, ceiling: sp.Expr | None, linear: sp.Expr, depth: sp.Expr) -> sp.Expr:
    """(1 + a E)^n"""
    most = 2 * linear if ceiling is None else ceiling
    return (1 + quadratic * most) ** depth if quadratic != 0 else sp.S.One


def _below(
    name: str, quadratic: sp.Expr, ceiling: sp.Expr | None, linear: sp.Expr, depth: sp.Expr
) -> tuple[Obligation, ...]:
    """That the error stays below the ceiling, if one is needed or given."""
    if quadratic == 0 and ceiling is None:
        return ()
    growth = _growth(quadratic, ceiling, linear, depth)
    held = sp.Le(growth, 2) if ceiling is None else sp.Le(linear * growth, ceiling)
    return (Obligation(f"the error of '{name}' stays below its ceiling", held),)
