"""The Lipschitz constant of a function on a box, in norms of one's choice.

On a box |f(x) - f(y)| <= L |x - y| for all x, y if and only if the Jacobian J has an operator norm of at most L at
almost every point: f(x) - f(y) is the integral of J (x - y) along the segment, for almost every pair of ends. At a
point where f is smooth the norm of J is a limit of quotients, so that a larger one refutes L.

The operator norm is a maximum of linear forms or of Euclidean norms. In the norm inf or 1 of x, |J x| is largest at a
corner v of the unit ball; in the norm inf or 1 of f, it is the largest of s . J x over the corners s of the dual ball.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import sympy as sp

from bridge.limits.refusals import briefly_refused
from bridge.questions.certify.definedness import conditions_of
from bridge.questions.constants.best import WITHIN, BestConstant, best
from bridge.questions.constants.free import FreeConstant, as_region, require_real, require_region
from bridge.questions.constants.largest import unused
from bridge.questions.constants.pieces import pieces
from symbolic.derivations.derivation import Norm
from symbolic.derivations.inequalities import Inequality
from symbolic.latex.typesetting import latex
from symbolic.words.errors import UsageError

NORMS = ("1", "2", "inf")
MOST_CORNERS = 64
Part = tuple[sp.Expr, sp.Expr, bool, tuple[sp.Expr, ...]]  # an expression that bounds L or (True) L^2, conditions


@briefly_refused
def lipschitz(
    expression: Any,
    box: Any,
    norms: Any = "2",
    *,
    seconds: int | float = 60.0,
    within: Any = WITHIN,
) -> BestConstant:
    """The least L with |f(x) - f(y)| <= L |x - y| on a box: one that is proved, and a point of a larger slope.

        x, y = sp.symbols("x y", real=True)
        print(bs.checks.lipschitz(sp.tanh(2 * x + y), {x: (-1, 1), y: (-1, 1)}, "inf"))

    f is an expression, or several for a vector; Abs, Max and Min may occur. `norms` is that of x and of f: "1", "2" or
    "inf", or a pair of them. Raises UsageError for a letter without a range, a region that is a point, more kinks or
    corners than fit, and the norm 2 of both sides where a Jacobian has more than two rows and columns.
    """
    call = "lipschitz"
    parts = tuple(expression) if isinstance(expression, list | tuple | sp.MatrixBase) else (expression,)
    ranges = as_region(call, box)
    require_real(call, parts, ranges)
    require_region(call, ranges)
    of_x, of_f = _norms(norms, len(parts))
    moving = [symbol for symbol, (low, high) in ranges.items() if low < high]
    letter = unused("L", *parts)
    found = [
        (bound, squared, where)
        for smooth, where in pieces(call, parts)
        for bound, squared in _bounds(sp.Matrix(smooth).jacobian(moving), of_x, of_f)
    ]
    defined = [each.claim for part in parts for each in conditions_of(part, {})]

    def says(value: sp.Rational) -> tuple[Inequality, ...]:
        claims = {((value**2 if squared else value) - bound, where) for bound, squared, where in found}
        open_ones = sorted((each for each in claims if not each[0].is_nonnegative), key=str)
        return tuple(
            Inequality(f"slope {k} <= {value}", claim, ranges, where)
            for k, (claim, where) in enumerate(open_ones or list(claims)[:1], 1)
        )

    def by(value: sp.Rational) -> tuple[Inequality, ...]:
        domain = (Inequality(f"defined: {of}", of, ranges, strict=strict) for of, strict in dict.fromkeys(defined))
        return (*domain, *says(value))

    limits = tuple(
        (sp.sqrt(bound) if squared else bound, Inequality("slope", sp.S.Zero, ranges, where))
        for bound, squared, where in found
    )
    words, formula = _stated(parts, letter, of_x, of_f)
    ends = Fraction(0), None
    free = FreeConstant(
        "Lipschitz constant", words, formula, letter, False, says, by, ranges, (), limits, ends, strictly=True
    )
    return best(call, free, seconds=seconds, within=within)


def _norms(norms: Any, count: int) -> tuple[str, str]:
    """The norm of x and the norm of f; of one expression that is its absolute value."""
    given = (norms, norms) if isinstance(norms, str | Norm) else tuple(norms)
    named = tuple(str(each.value if isinstance(each, Norm) else each) for each in given)
    if len(named) != 2 or not set(named) <= set(NORMS):
        raise UsageError(f"lipschitz: norms = {norms!r:.80}; give one of {', '.join(NORMS)}, or a pair for x and f")
    return named[0], ("inf" if count == 1 else named[1])


def _stated(parts: Sequence[sp.Expr], letter: sp.Symbol, of_x: str, of_f: str) -> tuple[str, Callable[[sp.Expr], str]]:
    shown = sp.sstr(parts[0]) if len(parts) == 1 else sp.sstr(list(parts))
    sides = ("|", "|") if len(parts) == 1 else (r"\|", rf"\|_{{{_index(of_f)}}}")
    f = latex(parts[0]) if len(parts) == 1 else latex(sp.Matrix(parts))

    def formula(value: sp.Expr) -> str:
        return rf"{sides[0]}f(x) - f(y){sides[1]} \le {latex(value)} \|x - y\|_{{{_index(of_x)}}}, \quad f = {f}"

    words = f"|f(x) - f(y)| <= {letter} |x - y| for f = {shown}, x in the norm {of_x}"
    return words, formula


def _index(norm: str) -> str:
    return r"\infty" if norm == "inf" else norm


def _bounds(J: sp.Matrix, of_x: str, of_f: str) -> Iterator[tuple[sp.Expr, bool]]:
    """What L (or L^2, if True) has to exceed at a point where the Jacobian is J."""
    if of_x != "2":
        for v in _corners(of_x, J.cols):
            yield from _norm_of(J * v, of_f)
    elif of_f != "2":
        for s in _corners("1" if of_f == "inf" else "inf", J.rows):
            yield from _norm_of(J.T * s, "2")
    else:
        yield _largest_eigenvalue(J * J.T if J.rows <= J.cols else J.T * J), True


def _norm_of(w: sp.Matrix, norm: str) -> Iterator[tuple[sp.Expr, bool]]:
    if norm == "2":
        yield sp.Add(*(each**2 for each in w)), True
    else:
        for s in _corners("1" if norm == "inf" else "inf", w.rows):
            yield from ((sign * (s.T * w)[0, 0], False) for sign in (1, -1))


def _corners(norm: str, size: int) -> Iterator[sp.Matrix]:
    """The corners of the unit ball, one of each opposite pair."""
    if norm == "1":
        yield from (sp.eye(size).col(i) for i in range(size))
    elif 2 ** (size - 1) > MOST_CORNERS:
        raise UsageError(f"lipschitz: a unit ball has 2^{size} corners, more than fit; take another norm")
    else:
        yield from (sp.Matrix([1, *signs]) for signs in product((1, -1), repeat=size - 1))


# Of (a b; b d): the mean of a and d, and the root of (a - d)^2/4 + b^2 more.
def _largest_eigenvalue(S: sp.Matrix) -> sp.Expr:
    if S.rows == 1:
        return S[0, 0]
    if S.rows > 2:
        raise UsageError(
            "lipschitz: the norm 2 of both sides takes at most two expressions or two letters; take 1 or inf for one"
        )
    return (S[0, 0] + S[1, 1]) / 2 + sp.sqrt((S[0, 0] - S[1, 1]) ** 2 / 4 + S[0, 1] ** 2)
