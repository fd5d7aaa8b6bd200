"""Lemma D.6 (wang2024, "weighted Karamata"), its true versions, and the steps to (29) for C(x) = x (1 - x^2)^(-3/2).

Letters: x, y two vectors, w weights, f a convex function; x_[i] the entries in decreasing order. gamma bounds
h <= gamma h* after T_1^h, beta is the paper's free knob, v = w^2, v* = w*^2.
"""

import random
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate, product

import sympy as sp

from symbolic.derivations.inequalities import Inequality
from symbolic.derivations.provenance import Provenance
from symbolic.statements.errata import Erratum, Weight
from symbolic.statements.exact_claims import ExactClaim, Numbers, Point
from symbolic.statements.result import Formula, Kind, Printed, Quantifier, Quantity, Result
from symbolic.topics.induction import objects
from symbolic.topics.induction.setting import HYPOTHESES, PARAMETERS
from symbolic.topics.induction.training import NOTATION as LETTERS
from symbolic.topics.induction.training import phi, psi, v, v_star, w_star
from symbolic.words.citations import WANG2024, Citation

a, b, beta, gamma, x = sp.symbols("a b beta gamma x", positive=True)
NOTATION = {**LETTERS, beta: r"\beta", gamma: r"\gamma"}
Function = Callable[[sp.Rational], sp.Rational]

CONVEX: dict[str, Function] = {
    "x": lambda value: value,
    "x^2": lambda value: value**2,
    "|x|": abs,
    "max(x - 1/2, 0)": lambda value: max(value - sp.Rational(1, 2), sp.Integer(0)),
}


def decreasing(values: Sequence[sp.Rational]) -> Numbers:
    return tuple(sorted(values, reverse=True))


def weighted(f: Function, weights: Sequence[sp.Rational], values: Sequence[sp.Rational]) -> sp.Rational:
    """The sum of w_i f(x_i)."""
    return sp.Add(*(w * f(value) for w, value in zip(weights, values, strict=True)))


def majorised(lower: Sequence[sp.Rational], upper: Sequence[sp.Rational]) -> bool:
    """Both conditions of Definition D.5, which writes this as lower <_w upper."""
    gaps = list(accumulate(high - low for low, high in zip(decreasing(lower), decreasing(upper), strict=True)))
    return all(gap >= 0 for gap in gaps[:-1]) and gaps[-1] == 0


def fuchs(weights: Sequence[sp.Rational], lower: Sequence[sp.Rational], upper: Sequence[sp.Rational]) -> bool:
    """Fuchs' condition: both decreasing, weighted partial sums of `lower` <= those of `upper`, the totals equal."""
    ordered = tuple(lower) == decreasing(lower) and tuple(upper) == decreasing(upper)
    gaps = list(accumulate(w * (high - low) for w, low, high in zip(weights, lower, upper, strict=True)))
    return ordered and all(gap >= 0 for gap in gaps[:-1]) and gaps[-1] == 0


# Fuchs: with s_i the slope of f between x_i and y_i, sum w_i (f(y_i) - f(x_i)) = sum s_i g_i, g_i = w_i (y_i - x_i),
# and by Abel's summation = sum_{k<n} (s_k - s_{k+1}) G_k + s_n G_n, G_k = g_1 + ... + g_k >= 0, G_n = 0. As x and y
# decrease and f is convex, s_k >= s_{k+1}. Equal weights are Karamata: the order of the entries is then free.
def abel_parts(slopes: Sequence[sp.Expr], totals: Sequence[sp.Expr]) -> sp.Expr:
    """sum_{k<n} (s_k - s_{k+1}) G_k + s_n G_n, the right side of Abel's summation."""
    falls = (slopes[k] - slopes[k + 1] for k in range(len(slopes) - 1))
    return sp.Add(*(fall * total for fall, total in zip(falls, totals, strict=False))) + slopes[-1] * totals[-1]


def abel_difference(size: int) -> sp.Expr:
    """The two sides of Abel's summation for n = size, subtracted: 0 once expanded."""
    s, g = sp.symbols(f"s1:{size + 1}"), sp.symbols(f"g1:{size + 1}")
    return sp.expand(sum(p * q for p, q in zip(s, g, strict=True)) - abel_parts(s, list(accumulate(g))))


# From n to n + 1 the right side changes by its last terms only, those of n, n + 1 in place of s_n G_n: by s_{n+1}
# g_{n+1}, as the left side does. With n = 1 that is all n.
def abel_holds() -> bool:
    """Whether Abel's summation holds for every n, by induction: its start and its step, by SymPy."""
    last, after, total, more = sp.symbols("s_n s_n+1 G_n g_n+1")
    step = abel_parts((last, after), (total, total + more)) - last * total - after * more
    return bool(abel_difference(1) == 0 and sp.expand(step) == 0)


# Lemma D.6 as data: points that meet its premises, in small dyadic rationals; both vectors in decreasing order already.
_HALVES = (sp.Integer(0), sp.Rational(1, 2), sp.Integer(1))
_ENTRIES = tuple(pair for pair in product(_HALVES, repeat=2) if pair == decreasing(pair))
_PLAIN: tuple[Numbers, ...] = ((sp.Integer(0), sp.Integer(1)), (sp.Integer(1), sp.Integer(0)))
_POSITIVE: tuple[Numbers, ...] = tuple((sp.Rational(k, 8), sp.Rational(8 - k, 8)) for k in (4, 3, 2, 1, 5, 6, 7))


def _lemma(name: str, f: str, weights: tuple[Numbers, ...]) -> ExactClaim:
    """Lemma D.6 for one f."""

    def sides(point: Point) -> tuple[sp.Rational, sp.Rational]:
        w, *vectors = (point[letter] for letter in ("w", "x", "y"))
        return weighted(CONVEX[f], w, vectors[0]), weighted(CONVEX[f], w, vectors[1])

    def premises(point: Point) -> list[str]:
        wrong = [] if majorised(point["x"], point["y"]) else ["x <_w y does not hold (Definition D.5)"]
        if min(point["w"]) < 0 or sum(point["w"]) != 1:
            wrong.append("the weights have to be >= 0 and add up to 1")
        return wrong

    return ExactClaim(name, "<=", sides, premises, {"x": _ENTRIES, "y": _ENTRIES, "w": weights})


# The step before (29), at v = w^2 <= v*/(2 gamma + beta - 1), h in [h*, gamma h*]:
#   C(v + v*) >= C(2 gamma v) + C(v + v* - 2 gamma v)        superadditive, as v + v* >= (2 gamma + beta) v
#             >= gamma C(2v) + v* - (2 gamma - 1) v          C(ax) >= a C(x) and C(y) >= y
#             >= gamma C(2v) + v* beta / (2 gamma + beta - 1).
# The paper has beta/(gamma + beta) there, which is larger when gamma > 1: the steps do not give it.
GAIN_PRINTED = beta / (gamma + beta) * v_star
GAIN_FLOOR = v_star - (2 * gamma - 1) * v
LARGEST_V = v_star / (2 * gamma + beta - 1)
GAIN = sp.cancel(GAIN_FLOOR.subs(v, LARGEST_V))  # at the end of the range, where it is least
EXPONENT_PRINTED = 2 * beta / (gamma + beta)
EXPONENT = 2 * sp.cancel(GAIN / v_star)
CHOSEN_BETA = sp.Integer(2)
PLATEAU = psi(v_star)  # h/h* tends to it before w grows
H_BOUND = 1 + sp.Rational(4375, 100000) * w_star  # gamma by (26)


# The paper's gamma(w*) is a factor with h <= gamma h*, of which R(w*) is the one at hand. The printed bound has no
# proof, but a grid: at v* -> 0 and at the end of the range both sides are equal.
GAIN_LEFT = phi(v + v_star) - gamma * phi(2 * v)


CLAIMS = {
    claim.name: claim
    for claim in (
        _lemma("weighted", "x", _PLAIN),
        _lemma("weighted.square", "x^2", _POSITIVE),
    )
}


def random_excess(count: int, seed: int, *, equal: bool, size: int = 3) -> tuple[int, sp.Rational]:
    """The number of random Fuchs triples, and the largest left minus right over them and the curved functions."""
    draw, found = random.Random(seed), list[sp.Rational]()
    curved = [f for name, f in CONVEX.items() if name != "x"]
    while len(found) < count:
        weights = [sp.Rational(1, size) if equal else sp.Rational(draw.randint(1, 8), 8) for _ in range(size)]
        low, high = (decreasing([sp.Rational(draw.randint(-8, 8), 8) for _ in range(size)]) for _ in range(2))
        # the last entry of `low` makes the totals equal
        rest = weighted(CONVEX["x"], weights, high) - weighted(CONVEX["x"], weights[:-1], low[:-1])
        low = (*low[:-1], rest / weights[-1])
        if fuchs(weights, low, high):
            found.append(max(weighted(f, weights, low) - weighted(f, weights, high) for f in curved))
    return len(found), max(found)


C = phi(x)
C_FIRST_PRINTED = 3 * (1 - x**2) ** sp.Rational(-5, 2) * x**2 + (1 - x**2) ** sp.Rational(-3, 2)
C_SECOND_PRINTED = (
    15 * x**3 * (1 - x**2) ** sp.Rational(-7, 2)
    + 6 * x * (1 - x**2) ** sp.Rational(-5, 2)
    + 3 * x * (1 - x**2) ** sp.Rational(-5, 2)
)


def derivative_difference(order: int) -> sp.Expr:
    """C' or C'' by SymPy minus the printed one, simplified."""
    printed = {1: C_FIRST_PRINTED, 2: C_SECOND_PRINTED}
    return sp.simplify(sp.diff(C, x, order) - printed[order])


# C = x k(x), k = (1 - x^2)^(-3/2) increasing on [0, 1). Hence C(ax) = a x k(ax) >= a C(x) for a >= 1, and
# C(a+b) = a k(a+b) + b k(a+b) >= C(a) + C(b): neither convexity nor Lemma D.6 is needed. On all of [0, 1), up to 1:
# C''/x and k'/x are sums of positive powers of 1/(1 - x^2) with coefficients >= 0.
STRETCH = (1 - x**2) ** sp.Rational(-3, 2)
NEAREST = sp.Rational(63, 64)  # the boxes end here; beyond, the terms are positive


def stated_inequalities() -> list[Inequality]:
    """C'' > 0 and k' > 0 after division by x (both vanish at 0), and superadditivity after division by a b (a + b)."""
    second, growth = (sp.simplify(sp.diff(*what) / x) for what in ((C, x, 2), (STRETCH, x)))
    because = {x: f"`x in [0, {NEAREST}]`; nearer to 1 each term is positive"}
    box = {x: (sp.Integer(0), NEAREST)}
    return [
        Inequality(
            "convex", second, box, strict=True, meaning="`C''(x)/x > 0`, so that `C` is convex", because=because
        ),
        Inequality(
            "stretch",
            growth,
            box,
            strict=True,
            meaning="`(C(x)/x)'/x > 0`, so that `C(ax) >= a C(x)` for `a >= 1`",
            because=because,
        ),
        superadditive_inequality(),
    ]


def superadditive_inequality() -> Inequality:
    """C(a+b) >= C(a) + C(b) on a + b <= NEAREST: directly, without k."""
    return Inequality(
        "superadditive",
        phi(a + b) - phi(a) - phi(b),
        {a: (sp.Rational(1, 16), NEAREST), b: (sp.Rational(1, 16), NEAREST)},
        where=(NEAREST - a - b,),
        meaning="`C(a+b) >= C(a) + C(b)`",
        because=dict.fromkeys((a, b), "both at least 1/16: at 0 there is equality; 'stretch' covers all"),
    )


_LEMMA, _STEP = Citation(WANG2024, "Lemma D.6"), Citation(WANG2024, "Appendix C.2", "before (29)")

ANY_WEIGHTS = Erratum(
    Weight.STATEMENT,
    _LEMMA,
    sentence="for convex `f` and `x <_w y` the inequality holds with any weights `w_i >= 0` of sum 1 (an auxiliary "
    "lemma)",
    reading="`x <_w y` is as in Definition D.5, with both vectors in decreasing order; the weights (0, 1) refute "
    "it for `f(x) = x` and the positive weights (1/8, 7/8) for `f(x) = x^2`",
    repair="equal weights (Karamata), or `x` and `y` decreasing with `sum_{i<=k} w_i (y_i - x_i) >= 0`, and `= "
    "0` at `k = n` (Fuchs)",
    survives="yes: no theorem needs more than equal weights, as in `C(a+b) >= C(a) + C(b)` before (29); the lemma "
    "itself does not hold as stated",
)


_quantity = partial(Quantity, norm="number", quantifier=Quantifier.FOR_ALL, scopes=())

_MAJORISED = "`f` convex, `x` weakly majorised by `y` (Definition D.5), `w >= 0` of sum 1"
_AT_MOST = "sum of `w_i f(x_i)` is {found}; printed: at most that of `w_i f(y_i)`, {printed}"
_STEP_DOMAIN = "`v in (0, v*/(2 gamma + beta - 1)]`, `gamma >= 1`, `beta > 0`, `v* < 1/2`"
FORMULAS = (
    Formula(r"C(x)", lambda: C, "the convex function of the steps before (29)"),
    Formula(r"C(v+v^\star) - \gamma C(2v)", lambda: GAIN_FLOOR, "for each `v` of the range", Kind.LOWER),
    Formula(r"v", lambda: LARGEST_V, "the range", Kind.UPPER),
)

KARAMATA = Result(
    id="induction.karamata",
    title="The weighted Karamata inequality and its use before (29)",
    citation=_LEMMA,
    claim=r"\sum_{i=1}^n w_i f(x_i) \le \sum_{i=1}^n w_i f(y_i) \quad \text{for convex } f,\ "
    r"\mathbf{x} \prec_w \mathbf{y},\ w_i \ge 0,\ \sum_i w_i = 1",
    parameters=tuple(PARAMETERS.values()),
    hypotheses=HYPOTHESES,
    objects=objects.KARAMATA,
    quantities=(
        _quantity(
            "weighted",
            r"\sum w_i f(x_i)",
            "sum of `w_i f(x_i)`",
            kind=Kind.UPPER,
            domain=_MAJORISED,
            erratum=ANY_WEIGHTS,
            finding=_AT_MOST,
        ),
        _quantity(
            "weighted.square",
            r"\sum w_i x_i^2",
            "sum of `w_i f(x_i)` for `f(x) = x^2` and positive weights",
            kind=Kind.UPPER,
            domain=_MAJORISED,
            erratum=ANY_WEIGHTS,
            finding=_AT_MOST,
        ),
        _quantity(
            "equal",
            r"\sum f(x_i)",
            "largest difference of left and right side for equal weights (Karamata)",
            kind=Kind.UPPER,
            domain="`f` convex, `x` majorised by `y`, equal weights",
            obtained=Provenance.HAND,
        ),
        _quantity(
            "fuchs",
            r"\sum w_i f(x_i)",
            "largest difference of left and right side under Fuchs' weighted condition",
            kind=Kind.UPPER,
            domain="`f` convex, `x` and `y` decreasing, `sum_{i<=k} w_i (y_i - x_i) >= 0`, `= 0` at `k = n`",
            obtained=Provenance.HAND,
        ),
        _quantity(
            "C.first",
            r"C'",
            "the derivative `C'`, which is above 1",
            kind=Kind.EXACT,
            domain="`0 < x < 1`",
            printed=Printed(C_FIRST_PRINTED, _STEP),
            derive=lambda: sp.simplify(sp.diff(C, x)),
            obtained=Provenance.ALGEBRA,
        ),
        _quantity(
            "C.second",
            r"C''",
            "the second derivative `C''`, which is above 0",
            kind=Kind.EXACT,
            domain="`0 < x < 1`",
            printed=Printed(C_SECOND_PRINTED, _STEP),
            derive=lambda: sp.simplify(sp.diff(C, x, 2)),
            obtained=Provenance.ALGEBRA,
        ),
        _quantity(
            "stretch",
            r"C(ax) - a C(x)",
            "`C(ax) >= a C(x)`",
            kind=Kind.LOWER,
            domain="`a >= 1`, `0 <= ax < 1`",
            obtained=Provenance.CERTIFICATE,
        ),
        _quantity(
            "superadditive",
            r"C(a+b) - C(a) - C(b)",
            "`C(a+b) >= C(a) + C(b)`",
            kind=Kind.LOWER,
            domain="a, `b >= 0`, `a + b < 1`",
            remark="`C(x)/x` increases: neither Lemma D.6 nor convexity is needed",
            obtained=Provenance.CERTIFICATE,
        ),
        _quantity(
            "gain",
            r"C(v+v^\star) - \gamma C(2v)",
            "the difference before (29), to which `dw/dt` is proportional at `h = gamma h*`",
            kind=Kind.LOWER,
            domain=_STEP_DOMAIN,
            printed=Printed(GAIN_PRINTED, _STEP),
            derive=lambda: GAIN,
            remark="the paper does not define `gamma(w*)`; the steps before give `beta/(2 gamma+beta-1) v*` "
            "only, which (29) can use: `2 beta/(2 gamma+beta-1) >= 1` for `beta = 2`, `gamma <= 3/2`",
        ),
        _quantity(
            "exponent",
            r"\frac{(1+\alpha^\star)^2 (L-2)}{{w^\star}^2}\,\frac{\dot w}{w}",
            "growth rate of `w` in units of `w*^2/((1+alpha*)^2 (L-2))`, the exponent of (29)",
            kind=Kind.LOWER,
            domain="the paper's flow, the gradient flow of (22) in `(w, h)`, where `h* <= h <= gamma h*`, "
            f"{_STEP_DOMAIN}",
            printed=Printed(EXPONENT_PRINTED, _STEP, under="`gamma = 1 + 0.04375 w*` by (26)"),
            derive=lambda: EXPONENT,
            remark="the row has `beta = 2`, printed with `gamma` by (26), derived with `gamma = R(w*)`",
        ),
    ),
    notation=NOTATION,
    formulas=FORMULAS,
)
