"""What sets the floor of Newton's iteration by two heads, to first order and before a run: truncation and rounding.

Errors are in ratio to ||M_T X^T||_F, those of one eigenvalue lambda of S in ratio to its own part.
"""

import sympy as sp

from symbolic.calculus.heads import Second
from symbolic.topics.looped.newton_derivation import C, N, T, c, d, kappa, keys

lam, spread, start, trace, unit = (
    sp.Symbol(name, positive=True) for name in ("lam", "spread", "start", "trace", "unit")
)


def order(second: Second) -> int:
    """p: the weights of two heads miss c s by c^(p + 1) s^(p + 1) / (p + 1)!, to leading order."""
    return 2 if second is Second.OPPOSITE else 1


# V^T W of a loop has the rows v^T P^(p+1)/(p+1)! with the powers entry by entry, where P = X S^(-1) X^T is what the
# scores tend to: `spread` is the norm of one. Loops add them up. In TF_pre it is v^T (X X^T)^(p+1)/(p+1)!, `start` its
# norm, over lambda.
def truncation(second: Second) -> sp.Expr:
    p = order(second)
    return c**p / sp.factorial(p + 1) * (start / lam + T * spread)


# A model of the arithmetic, in units u. A score less C is rounded to a multiple of 2^floor(log2 C) u: to C/2 or so in
# the mean square, and the exponential to 1/2; over c, at random in N keys, that is an error W like that of the
# truncation. The sums over the keys are off by some sqrt((1 + N/8)/3) in the mean square, eight at a time, times
# sqrt(N) and the size of the coordinates of Y, over c; as coordinates mix the eigenvectors, that is no W: what is along
# an eigenvector grows by 1 + rho_k in each loop, and the factors that follow multiply to (1 - rho_T)/(1 - rho_(k+1)).
# Those of TF_pre and of the first loops grow by 1/(alpha lambda^2), half of that, and so on, while
# ||Y_0||_F^2 = alpha^2 tr S^3 is not above tr S: the squares add up to about 3/2 tr S / (d lambda^4), in ratio to the
# 1/lambda of Y. Later ones are as large as Y, and add up to T.
def rounding(second: Second) -> sp.Expr:
    halved = 2 if second is Second.OPPOSITE else 1
    of_scores = ((1 + C) / 2) ** 2 / halved * (1 / lam**2 + T)
    of_sums = (1 + N / 8) / 3 * (sp.Rational(3, 2) * trace / (d * lam**3) + T)
    return unit / c * sp.sqrt(N * (of_scores + of_sums))


def floor(second: Second) -> sp.Expr:
    return truncation(second) + rounding(second)


# In random directions leverages are d/N, and so are the squared norms of the rows of X at most.
def in_condition(formula: sp.Expr, second: Second) -> sp.Expr:
    """At the least eigenvalue 1/kappa, for examples in random directions."""
    typical = (d / N) ** order(second)
    return formula.subs({lam: 1 / kappa, spread: typical, start: typical, trace: d})


# a c^p + b/c is least where p a c^(p + 1) = b.
def best_c(second: Second) -> sp.Expr:
    """The c at which the floor is least."""
    p, at_one = order(second), {c: sp.S.One}
    return (rounding(second).subs(at_one) / (p * truncation(second).subs(at_one))) ** sp.Rational(1, p + 1)


# The sink loses n e^(-C) of the weights: no more than a unit.
def enough_C() -> sp.Expr:
    return sp.ceiling(sp.log(keys / unit))
