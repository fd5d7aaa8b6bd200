"""Training stage I (wang2024, Lemma 5.3 and Appendix B): p~, alone, trained from p(0) = 0 and w_K w_Q = 0.

Letters: p~ the first layer's relative position, g_0 = g(0), n = L - 2, u = e^-p~, gamma = g_0/g*; Z_m = 1 + ... +
u^(m-1) = M(p~; m), pi_s(tau) = u^(s-1-tau)/Z_(s-1) the first layer's attention, c_tau the sum of pi_s(tau) over
s = tau+1 .. L-1.
"""

from collections.abc import Sequence
from functools import partial
from itertools import accumulate
from typing import Any

import sympy as sp

from symbolic.derivations.provenance import Provenance
from symbolic.dynamics import LinearComparison, gradient_flow
from symbolic.statements.result import Formula, Kind, Printed, Quantifier, Quantity, Result
from symbolic.topics.induction import letters, objects
from symbolic.topics.induction.first_stage_errata import FIRST_SOFTMAX, HALF, SLOPE_FACTOR, SQUARES_SIGN
from symbolic.topics.induction.setting import HYPOTHESES, PARAMETERS
from symbolic.topics.induction.training import NOTATION as LETTERS
from symbolic.topics.induction.training import L, M, g_star, m, sigma_init, t, u
from symbolic.words.citations import WANG2024, Citation

p_tilde = sp.Symbol("p_tilde", positive=True)
g_0 = sp.Symbol("g_0", positive=True)
gamma = sp.Symbol("gamma", positive=True)  # g_0 / g*
r = sp.Symbol("r", positive=True)  # e^-p(0) of the second layer: 1 in Appendix B, e^-sigma_init in (12)
tau, s = sp.symbols("tau s", integer=True, positive=True)
_k = sp.Symbol("k", integer=True, nonnegative=True)
NOTATION = {**LETTERS, p_tilde: r"\tilde p", g_0: "g_0", gamma: r"\gamma", r: "r"}
n = L - 2

# The loss (11) at this start. The second layer's first head weighs y_2, ..., y_{L-1} alike, so that x_tau comes out
# with the coefficient g_0 c_tau / n - g* [tau = L - 2]; of independent standard normal x, E of the square is the sum of
# the squares of these coefficients. c_{L-2} has one term, s = L - 1.
ATTENTION = sp.exp(-p_tilde * (s - 1 - tau)) / M(p_tilde, s - 1)
MIXTURE = sp.Sum(ATTENTION, (s, tau + 1, L - 1))  # c_tau
Q = sp.Sum(MIXTURE**2, (tau, 1, L - 2))
_LAST = ATTENTION.subs({s: L - 1, tau: L - 2})
LOSS = g_star**2 / 2 + g_0**2 * Q / (2 * n**2) - g_star * g_0 * _LAST / n
FLOW = gradient_flow(LOSS, (p_tilde,))
SLOPE = sp.diff(Q, p_tilde)  # q'

_APPENDIX = Citation(WANG2024, "Appendix B")
_LAST_SUM = sp.Sum(1 / (sp.exp(p_tilde * (s - 1)) - 1), (s, tau + 1, L - 1))
SOFTMAX_PRINTED = sp.exp(-p_tilde * (s - 1 - tau)) / sp.Sum(sp.exp(-p_tilde * (s - 1 - _k)), (_k, 2, s - 1))
LOSS_PRINTED = g_star**2 + g_0**2 / n**2 * Q + 2 * g_0 / n * g_star * _LAST
_INNER_PRINTED = sp.exp(p_tilde * (s - 1 - tau)) / M(p_tilde, s - 1)  # the denominator is M's sum
Q_PRINTED = sp.Sum(sp.Sum(_INNER_PRINTED, (s, tau + 1, L - 1)) ** 2, (tau, 1, L - 2))
LAST_FACTOR_PRINTED = (sp.exp(-p_tilde) + tau * (1 - sp.exp(-p_tilde))) / (sp.exp(p_tilde * (s - 1)) - 1) - (
    s - 1
) * sp.exp(p_tilde * (s - 1)) / (sp.exp(p_tilde * (s - 1)) - 1) ** 2
SLOPE_PRINTED = (
    2
    * (1 - sp.exp(-p_tilde))
    * sp.Sum(
        sp.exp(2 * p_tilde * tau) * _LAST_SUM * sp.Sum(LAST_FACTOR_PRINTED, (s, tau + 1, L - 1)),
        (tau, 1, L - 2),
    )
)
_q = sp.Function("q")(p_tilde)


def _rate_printed(slope: sp.Expr, gain: sp.Expr) -> sp.Expr:
    return -(g_0**2) / n**2 * slope + 2 * g_star * g_0 / n * gain


RATE_PRINTED = _rate_printed(SLOPE, m(p_tilde) / M(p_tilde) ** 2)
RATE_IN_LETTERS = _rate_printed(_q.diff(p_tilde), letters.m(p_tilde) / letters.M(p_tilde) ** 2)
RATE_BOUND_PRINTED = 2 * g_star * g_0 / n * sp.exp(-p_tilde)

# The last factor of q' with the factor (1 - e^-p~) that the product rule gives its second part as well.
LAST_FACTOR = (sp.exp(-p_tilde) + tau * (1 - sp.exp(-p_tilde))) / (sp.exp(p_tilde * (s - 1)) - 1) - (
    1 - sp.exp(-p_tilde)
) * (s - 1) * sp.exp(p_tilde * (s - 1)) / (sp.exp(p_tilde * (s - 1)) - 1) ** 2


# In u everything is regular on [0, 1]: Z_1 = 1, Z_m = 1 + u Z_{m-1}, and c_tau = b_tau / Z_tau + u c_{tau+1} from
# tau = n down, where b_tau = 1 (and r^(n - tau), for a second layer with e^-p(0) = r). `x`, `ratio` and `start` stand
# for u, gamma and r: symbols here, and whatever number type comes in (floats, arrays, balls) elsewhere.
UNIFORM = sp.Integer(1)  # r at p(0) = 0


def normalisers(terms: int, x: Any = u) -> list[Any]:
    """Z_1, ..., Z_n at x, for n = terms."""
    return list(accumulate(range(terms - 1), lambda z, _: 1 + x * z, initial=x**0))


def _slopes_of(values: Sequence[Any], x: Any) -> list[Any]:
    """dZ_1/dx, ..., by the product rule along Z_m = 1 + x Z_{m-1}."""
    return list(accumulate(values[:-1], lambda slope, z: z + x * slope, initial=0 * x))


def mixtures(terms: int, x: Any = u, start: Any = UNIFORM) -> tuple[list[Any], list[Any]]:
    """c_1, ..., c_n and their derivatives in x, with b_tau = start^(n - tau)."""
    Z = normalisers(terms, x)
    dZ = _slopes_of(Z, x)
    weight, c, dc = start**0, [0 * x], [0 * x]
    for z, dz in zip(reversed(Z), reversed(dZ), strict=True):
        dc.append(c[-1] + x * dc[-1] - weight * dz / (z * z))
        c.append(weight / z + x * c[-1])
        weight = weight * start
    return c[:0:-1], dc[:0:-1]


# du/dt = -u dp~/dt, so that dp~/dt = -dL/dp~ = u dL/du with L = (g_0^2/2) sum (c_tau/Z_n(r))^2 - g* g_0 c_n/Z_n(r),
# where Z_n(r) = n at r = 1. What vanishes at u = 0, g_0 = 0 is divided out.
def rate_share(terms: int, x: Any = u, ratio: Any = gamma, start: Any = UNIFORM) -> Any:
    """(dp~/dt) / (u g_0 g* / Z_n(r)), for n = terms."""
    c, dc = mixtures(terms, x, start)
    Z = normalisers(terms, x)
    gain = _slopes_of(Z, x)[-1] / (Z[-1] * Z[-1])  # m(p~) / (u M(p~)^2)
    return ratio * sum(a * b for a, b in zip(c, dc, strict=True)) / normalisers(terms, start)[-1] + gain


# q' <= 0 for every L and every real p~.
#   (1) d log pi_s(tau) / dp~ = tau - E_s[tau], so dc_tau/dp~ = sum over s of pi_s(tau) (tau - E_s[tau]) and
#       q' = 2 sum over tau of c_tau dc_tau/dp~ = 2 sum over s of Cov_{tau ~ pi_s}(c_tau, tau).
#   (2) Z_{k+1} = Z_k + u^k >= Z_k, hence
#       c_tau - c_{tau+1} = sum_{k=0}^{n-tau-1} u^k (1/Z_{tau+k} - 1/Z_{tau+k+1}) + u^(n-tau)/Z_n >= 0.
#   (3) Chebyshev: -Cov(c, tau) = sum over a < b of pi(a) pi(b) (b - a) (c_a - c_b) >= 0.
#       and c_a - c_b is the sum of c_j - c_{j+1} over a <= j < b.
# So q' = -2u sum over j of D_j sum over k > j of N_{k,j} / Z_k^2, where D_j = (c_j - c_{j+1}) / u and
# N_{k,j} = sum over a <= j < b <= k of (b - a) u^(2k-a-b): terms >= 0 only, for every u >= 0.
def falls(terms: int) -> list[sp.Expr]:
    """D_1, ..., D_{n-1} by (2), for n = terms."""
    Z = [sp.Integer(1), *normalisers(terms)]
    return [
        sp.Add(*(u ** (2 * k + j - 1) / (Z[j + k] * Z[j + k + 1]) for k in range(terms - j)))
        + u ** (terms - j - 1) / Z[terms]
        for j in range(1, terms)
    ]


def spread(size: int, j: int) -> sp.Expr:
    """N_{k,j} for k = size, in Horner's form. With x = k - b, y = k - a: the sum of (y - x) u^(x+y)."""
    coefficients = [0] * (2 * size)
    for x in range(size - j):
        for y in range(size - j, size):
            coefficients[x + y] += y - x
    return horner(coefficients)


def horner(coefficients: Sequence[int]) -> sp.Expr:
    """The polynomial in u with these coefficients, lowest power first."""
    return list(accumulate(reversed(coefficients), lambda value, c: value * u + c, initial=sp.Integer(0)))[-1]


def covariance_form(terms: int) -> sp.Expr:
    """-q' / (2u) as a sum of terms >= 0."""
    squares = [z**-2 for z in normalisers(terms)]
    return sp.Add(
        *(
            fall * sp.Add(*(spread(k, j) * squares[k - 1] for k in range(j + 1, terms + 1)))
            for j, fall in enumerate(falls(terms), 1)
        )
    )


# The best constant c in dp~/dt >= c g_0 g* e^-p~: with q' <= 0 the share is at least its value at gamma -> 0,
#   Z_n'/Z_n^2 - (n-1)/(2n) = (1 - u) F(u) / (2n Z_n^2),   (1 - u) F = 2n Z_n' - (n-1) Z_n^2.
# The coefficient of u^k in (1 - u) F is (n+1)(k+1) for k <= n-2, and -(n-1)(2n-1-k) from there on; they add up to 0, so
# that their partial sums, the coefficients of F, are all > 0. At u = 1 there is equality: the constant is the best.
# (Z_n' has k + 1 at u^k up to k = n-2; Z_n^2 has k + 1 up to k = n-1 and 2n-1-k from there on.)
def excess_coefficients(terms: int) -> list[int]:
    """The coefficients of F, lowest power first."""
    rising = ((terms + 1) * (k + 1) for k in range(terms - 1))
    falling = (-(terms - 1) * (2 * terms - 1 - k) for k in range(terms - 1, 2 * terms - 1))
    return list(accumulate((*rising, *falling)))[:-1]


SHARE_FLOOR = (n - 1) / (2 * n)  # at most (dp~/dt) / (u g_0 g* / n); approached as u -> 1, gamma -> 0
RATE_FLOOR = SHARE_FLOOR * g_0 * g_star / n * sp.exp(-p_tilde)
# e^p~ has the rate e^p~ dp~/dt, at least a constant.
LIMIT_FLOOR = sp.log(LinearComparison(sp.exp(sigma_init), sp.S.Zero, RATE_FLOOR * sp.exp(p_tilde)).after(t))
# At u -> 0 the share tends to 1, so that e^p~ ~ g_0 g* t / n in the end.

# dp~/dt > 0 from p(0) = sigma_init too, if sigma_init is small enough: then b_s = r^(n-s) weighs the sums, and
#   sum of c_tau dc_tau/dp~ = sum over s of b_s Cov_{tau ~ pi_s}(c_tau, tau),  |Cov_s| <= u (s-1) max c,
# as the covariance is the sum over a < b of pi(a) pi(b) (b - a) (c_b - c_a) and E_s[s - tau] <= (s-1) P(tau < s) with
# P(tau < s) = u Z_(s-1)/Z_s <= u (here s = 1 .. n counts the keys of pi_s). The b_s add up to Z_n(r), and
# c_tau <= 1 + 1/2 + ... + 1/n <= 1 + log n, since b_s <= 1 and Z_s >= k u^(k-1) for k <= s. So the share is at least
# SHARE_FLOOR - gamma (n-1) (1 + log n).
START_FLOOR = SHARE_FLOOR - gamma * (n - 1) * (1 + sp.log(n))
START_LIMIT = g_star * sp.factor(sp.solve(START_FLOOR, gamma)[0])  # START_FLOOR > 0 for g_0 = sigma_init below it


# The printed last factor, with T = e^(p~(s-1)) > 1, is ((u + tau (1-u)) (T-1) - (s-1) T) / (T-1)^2. Its numerator has
# the slope (1-u) (T-1) >= 0 in tau <= s-1, and is -(s-2) u (T-1) - (s-1) < 0 at tau = s-1.
def printed_factor_is_negative() -> bool:
    """Whether these steps hold, as identities in T, u, s, tau; then the factor is < 0 for 1 <= tau < s, p~ > 0."""
    T = sp.Symbol("T", positive=True)
    first, second = LAST_FACTOR_PRINTED.as_ordered_terms()
    power = {sp.exp(p_tilde * (s - 1)): T, sp.exp(-p_tilde): u}
    numerator = sp.expand(sp.cancel((first + second).subs(power) * (T - 1) ** 2))
    rises = sp.expand(sp.diff(numerator, tau) - (1 - u) * (T - 1)) == 0
    ends_below = sp.expand(numerator.subs(tau, s - 1) + (s - 2) * u * (T - 1) + s - 1) == 0
    return bool(rises and ends_below)


_quantity = partial(
    Quantity,
    norm="number",
    domain="`p~ > 0`, `p(0) = 0`, `w_K w_Q = 0`",
    kind=Kind.EXACT,
    quantifier=Quantifier.FOR_ALL,
    scopes=(),
)

# The loss by q and M as they are: what the closed forms hide.
LOSS_BY_Q = LOSS.subs(Q, _q).subs(_LAST, 1 / letters.M(p_tilde))
FLOW_BY_Q = gradient_flow(LOSS_BY_Q, (p_tilde,))
FORMULAS = (
    Formula(r"\mathcal{L}_{G_4}", lambda: LOSS_BY_Q, "the loss (11) of stage I, `q` and `M` as below"),
    Formula(r"q(\tilde p)", lambda: Q, "the sum of the squared weights `c_tau`"),
    Formula(r"M(\tilde p)", lambda: M(p_tilde), "the sum of `e^-kp~` over `k = 0 .. L-3`; `m = -M'`"),
    Formula(r"q'_{s,\tau}", lambda: LAST_FACTOR, "the last factor of `q'`, with the factor that print drops"),
)

SIGN_DOMAIN = "all `p~ >= 0`, `g_0 in (0, g*]`, `p(0) = 0`, `w_K w_Q = 0`"
START_DOMAIN = "all `p~ >= sigma_init`, `p(0) = g_0 = sigma_init`, `w_K w_Q = 0`"
START_CONDITION = "`sigma_init < g*/(2n (1 + log n))`, `n = L - 2`"  # START_LIMIT
SMALL_START = "`sigma_init << 1` (12)"
FIRST_STAGE = Result(
    id="induction.first_stage",
    title="Stage I: the first layer learns to look one token back",
    citation=Citation(WANG2024, "Lemma 5.3"),
    claim=r"\lim_{t \to +\infty} p^{(1,1)}(t) = +\infty, \qquad \tilde p := p^{(1,1)}",
    parameters=tuple(PARAMETERS.values()),
    hypotheses=HYPOTHESES,
    objects=objects.FIRST_STAGE,
    quantities=(
        _quantity(
            "loss",
            r"\mathcal{L}_{G_4}(\tilde p)",
            "the 4-gram loss at `p~ = g_0 = sigma_init`",
            printed=Printed(LOSS_PRINTED, _APPENDIX),
            erratum=HALF,
            obtained=Provenance.HAND,
        ),
        _quantity(
            "softmax",
            r"\sum_\tau \mathrm{softmax}_s",
            "sum of the first layer's weights at one `s`",
            printed=Printed(sp.Sum(SOFTMAX_PRINTED, (tau, 1, s - 1)), _APPENDIX),
            erratum=FIRST_SOFTMAX,
            domain="`3 <= s <= L`, `p~ > 0`",
        ),
        _quantity(
            "q",
            r"q(\tilde p)",
            "sum of the squared `c_tau`, at `p~ = sigma_init`",
            printed=Printed(Q_PRINTED, _APPENDIX, strict=False),
            erratum=SQUARES_SIGN,
            obtained=Provenance.HAND,
        ),
        _quantity(
            "q.slope",
            r"q'(\tilde p)",
            "the derivative of `q` at `p~ = sigma_init`",
            printed=Printed(SLOPE_PRINTED, _APPENDIX),
            erratum=SLOPE_FACTOR,
            obtained=Provenance.ALGEBRA,
        ),
        _quantity(
            "q.factor",
            sp.latex(LAST_FACTOR_PRINTED, symbol_names=NOTATION),
            "each last factor of `q'` as printed",
            kind=Kind.UPPER,
            printed=Printed(sp.Integer(0), _APPENDIX),
            remark="it is `<= 0` for `s >= tau + 1`, as the paper says; it is not that of `q'` (see its derivative)",
            domain="whole numbers `s >= tau + 1 >= 2`, `p~ > 0`",
        ),
        _quantity(
            "q.sign",
            r"q'(\tilde p)",
            "the derivative of `q`",
            kind=Kind.UPPER,
            printed=Printed(sp.Integer(0), _APPENDIX),
            derive=lambda: sp.Integer(0),
            remark="holds for every `L` and `p~`; the row has `q'` at `p~ = sigma_init`",
            domain="all `p~ >= 0`",
            obtained=Provenance.HAND,
        ),
        _quantity(
            "rate",
            r"\dot{\tilde p}",
            "`dp~/dt`",
            printed=Printed(RATE_PRINTED, _APPENDIX, in_letters=RATE_IN_LETTERS),
            derive=lambda: FLOW_BY_Q.rate(p_tilde),
            remark="the row has it at `p~ = g_0 = sigma_init`",
            erratum=HALF,
        ),
        _quantity(
            "rate.lower",
            r"2 \dot{\tilde p}",
            "rate of `p~` as printed, twice that of (11)",
            kind=Kind.LOWER,
            printed=Printed(RATE_BOUND_PRINTED, _APPENDIX, under="`L = Omega(1/sigma_init)`"),
            derive=lambda: sp.factor(2 * RATE_FLOOR),
            remark="derived with `(n-1)/(2n)`, `n = L-2`, in the place of 1: the best constant for all `L` and "
            "all `g_0 in (0, g*]`; the printed one needs long inputs, `L sigma_init >> 1`; the row has it at `p~ = g_0 "
            "= sigma_init`",
            domain="all `p~ >= sigma_init`, `g_0 = sigma_init`, `p(0) = 0`, `w_K w_Q = 0`",
        ),
        _quantity(
            "sign",
            r"\dot{\tilde p}/(u g_0 g^\star/(L-2))",
            "least ratio of `dp~/dt` to `e^-p~ g_0 g*/(L-2)`",
            kind=Kind.LOWER,
            printed=Printed(sp.Integer(0), _APPENDIX, strict=True),
            derive=lambda: SHARE_FLOOR,
            domain=SIGN_DOMAIN,
        ),
        _quantity(
            "limit",
            r"\tilde p(t)",
            "`p~` at the time `t`",
            kind=Kind.LOWER,
            derive=lambda: LIMIT_FLOOR,
            remark="`p~(t) >= log(e^sigma + (n-1)/(2n) g_0 g* t/n)`, so `p~ -> oo` (Lemma 5.3); the row has the end "
            "of a run",
            domain="`p~(0) = g_0 = sigma_init`, `p(0) = 0`, `w_K w_Q = 0`, all `t >= 0`",
        ),
        _quantity(
            "start",
            r"\dot{\tilde p}/(u g_0 g^\star/Z_n(r))",
            "least ratio of `dp~/dt` to `e^-p~ g_0 g*/Z_n(r)`, with `p(0) = sigma_init` as (12) says",
            kind=Kind.LOWER,
            printed=Printed(sp.Integer(0), Citation(WANG2024, "Lemma 5.3", "(12)"), strict=True, under=SMALL_START),
            derive=lambda: START_FLOOR.subs(gamma, g_0 / g_star),
            domain=f"{START_DOMAIN}, {START_CONDITION}",
            obtained=Provenance.HAND,
            remark="the proof in Appendix B starts at `p(0) = 0` instead",
        ),
        _quantity(
            "start.short",
            r"\dot{\tilde p}/(u g_0 g^\star/Z_n(r))",
            "the same share for short inputs, certified",
            kind=Kind.LOWER,
            domain="all `p~ >= 0`, `g_0 in (0, g*]`, `p(0) in [0, log 2]`, `w_K w_Q = 0`",
            obtained=Provenance.CERTIFICATE,
        ),
        _quantity(
            "start.long",
            r"\dot{\tilde p}/(u g_0 g^\star/Z_n(r))",
            "the same share at `p~ = sigma_init`, for a long input and a small `alpha`",
            kind=Kind.LOWER,
            printed=Printed(sp.Integer(0), Citation(WANG2024, "Lemma 5.3", "(12)"), strict=True, under=SMALL_START),
            domain=START_DOMAIN,
        ),
    ),
    notation=NOTATION,
    formulas=FORMULAS,
)
