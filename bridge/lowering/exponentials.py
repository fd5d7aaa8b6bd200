"""Sums of exponentials, recognised: log(1 + exp(u)), log-sum-exp, sigmoid, softmax and their derivatives.

Written literally these overflow at |u| = 710 and turn into inf/inf. A sum of exponentials is held here as the tuple
of its exponents (w_1, ..., w_n), constants included: 2 + exp(x) is (log 2, x).
"""

from dataclasses import dataclass

import sympy as sp

from .nodes import Expm1, Log1p, LogSumExp, Sigmoid, Softplus, constants_and_others, is_constant

Exponents = tuple[sp.Expr, ...]


def is_positive_constant(node: sp.Expr) -> bool:
    if not is_constant(node):
        return False
    if node.is_positive is None:
        value = node.evalf()
        return bool(value.is_Float and value > 0)
    return bool(node.is_positive)


def log_of_factor(factor: sp.Expr) -> sp.Expr | None:
    """log of a positive constant, of exp(u), of 2**u; None for anything else."""
    if is_positive_constant(factor):
        return sp.log(factor)
    if isinstance(factor, sp.exp):
        return factor.args[0]
    if factor.is_Pow and is_positive_constant(factor.base):
        return factor.exp * sp.log(factor.base)
    return None


def log_of_term(term: sp.Expr) -> sp.Expr | None:
    logs = [log_of_factor(factor) for factor in sp.Mul.make_args(term)]
    return None if None in logs else sp.Add(*logs)


def exponents_of_sum(expr: sp.Expr) -> Exponents | None:
    """The exponents of a sum of at least two exponentials (cosh is one); None if it is not such a sum."""
    if is_constant(expr):
        return None
    if isinstance(expr, sp.cosh):
        (u,) = expr.args
        return (u - sp.log(2), -u - sp.log(2))
    if not expr.is_Add:
        return None
    logs = [log_of_term(term) for term in expr.args]
    return None if None in logs else tuple(logs)


@dataclass(frozen=True)
class ExponentialProduct:
    """exp(shift) * (sum of exp(exponents))**power * (the other factors)."""

    shift: sp.Expr
    exponents: Exponents
    power: sp.Expr
    others: tuple[sp.Expr, ...]

    @property
    def absorbed(self) -> Exponents:
        """The exponents with the shift moved inside, so that large exponents cancel symbolically."""
        return tuple(sp.expand_mul(w + self.shift / self.power) for w in self.exponents)


def exponential_product(expr: sp.Expr, *, inside_log: bool) -> ExponentialProduct | None:
    """Split off one power of a sum of exponentials, and the exponentials that multiply it.

    Outside a logarithm only negative powers count: positive ones neither overflow early nor cancel.
    """
    chosen: tuple[Exponents, sp.Expr] | None = None
    shift: sp.Expr = sp.S.Zero
    others = []
    for factor in sp.Mul.make_args(expr):
        base, power = factor.as_base_exp() if factor.is_Pow else (factor, sp.S.One)
        splits = power.is_number and power.is_real and (inside_log or power.is_negative)
        exponents = exponents_of_sum(base) if splits and chosen is None else None
        if exponents is not None:
            chosen = (exponents, power)
        elif isinstance(factor, sp.exp) or (inside_log and log_of_factor(factor) is not None):
            shift += log_of_factor(factor)
        else:
            others.append(factor)
    return ExponentialProduct(shift, *chosen, tuple(others)) if chosen else None


def together(expr: sp.Mul) -> sp.Expr | None:
    """exp(u) exp(w) as exp(u + w), where terms of the exponents cancel; each alone may overflow for nothing."""
    exponents = [factor.args[0] for factor in expr.args if isinstance(factor, sp.exp)]
    total = sp.Add(*exponents)
    if len(sp.Add.make_args(total)) >= sum(len(sp.Add.make_args(each)) for each in exponents):
        return None
    return sp.exp(total) * sp.Mul(*(factor for factor in expr.args if not isinstance(factor, sp.exp)))


def log_sum_exp(exponents: Exponents) -> sp.Expr:
    if len(exponents) == 2 and sp.S.Zero in exponents:
        (u,) = (w for w in exponents if w != 0)
        return Softplus(u)
    return LogSumExp(*exponents)


def log_of_exponentials(argument: sp.Expr) -> sp.Expr | None:
    """log(argument) in stable form, if the argument is a product of exponentials and powers of their sums."""
    product = exponential_product(argument, inside_log=True)
    if product is None or product.others:
        return None
    return product.power * log_sum_exp(product.absorbed)


def power_of_exponentials(exponents: Exponents, power: sp.Expr) -> sp.Expr:
    """(sum of exp(exponents))**power."""
    if len(exponents) == 2 and sp.S.Zero in exponents:
        (u,) = (w for w in exponents if w != 0)
        return Sigmoid(-u) ** (-power)
    return sp.exp(power * LogSumExp(*exponents))


def log_near_one(argument: sp.Expr) -> sp.Expr | None:
    """log(1 + u) through log1p, and log(1 - exp(u)) through expm1; None unless the argument is 1 + u."""
    if not argument.is_Add or sp.S.One not in argument.args:
        return None
    u = argument - 1
    if isinstance(-u, sp.exp):
        return sp.log(-Expm1((-u).args[0]))
    return Log1p(u)


def with_expm1(expr: sp.Add) -> sp.Expr | None:
    """c * exp(u) - c, inside a sum, through expm1; None if there is no such pair."""
    for term in expr.args:
        fixed, varying = constants_and_others(sp.Mul.make_args(term))
        coefficient = sp.Mul(*fixed)
        if len(varying) == 1 and isinstance(varying[0], sp.exp) and -coefficient in expr.args:
            rest = [other for other in expr.args if other not in (term, -coefficient)]
            return sp.Add(coefficient * Expm1(varying[0].args[0]), *rest)
    return None
