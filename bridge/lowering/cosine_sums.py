"""A similarity that is an even function of u - v as a sum of cosines, with a certified error; a law of frequencies."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import sympy as sp
from jaxtyping import Float64

from bridge.lowering.ball_values import evaluate_ball
from bridge.lowering.formula import ArrayFunction, evaluate
from bridge.lowering.grids import BITS, CertifiedKernel, second_derivative
from numeric.balls import BallArray, float_above, working_precision
from numeric.networks.cosine_features import FrequencyLaw
from symbolic.calculus.bilinear_interpolation import secant_range
from symbolic.words.errors import UsageError

STRETCHES = (1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4)  # half the period, in lengths of the interval: what is tried
SAMPLES, KNOTS = 4096, 2048  # of the transform, and of the certificate
MOST_TERMS = 256
ROUNDED = 2.0**-40  # relative: more than probabilities and the mass lose in floats


def profile(function: sp.Expr, u: sp.Symbol, v: sp.Symbol) -> sp.Expr | None:
    """kappa(u) with g(u, v) = kappa(u - v) = kappa(v - u); None for another g."""
    found = sp.simplify(function.xreplace({u: u + v}))
    if found.has(v) or sp.simplify(found - found.xreplace({u: -u})) != 0:
        return None
    return found


@dataclass(frozen=True, eq=False)
class CosineSum:
    """sum_j a_j cos(j w (u - v)), by the `law` of j, at most `error` away from g on [-radius, radius]^2 (certified)."""

    law: FrequencyLaw
    error: float


# At knots z_i the difference e = kappa - sum is enclosed in balls. Between them it is off the straight line through its
# values by what bends and kinks add on a cell (symbolic/calculus/bilinear_interpolation.py), where e'' is that of
# kappa, up to sum_j |a_j| (j w)^2. Both are even: z in [0, 2 radius] is enough.
@lru_cache(maxsize=32)
def cosine_sum(kernel: CertifiedKernel, terms: int) -> CosineSum:
    """By the cosine series of kappa, continued as an even periodic function, of the best period among those tried.

    Raises UsageError for a g that is no even function of u - v, and for less than one term or more than MOST_TERMS.
    """
    name = sp.sstr(kernel.function)
    if not 1 <= terms <= MOST_TERMS:
        raise UsageError(f"{name}: {terms} cosines; give 1 to {MOST_TERMS}")
    kappa = profile(kernel.function, *kernel.variables)
    if kappa is None:
        raise UsageError(f"{name}: cosine features take an even function of u - v, and this is none; give cells and a "
                         f"rank")  # fmt: skip
    reach = 2 * kernel.radius
    laws = [law for stretch in STRETCHES if (law := _series(kernel, stretch * reach, terms)) is not None]
    if not laws:
        raise UsageError(f"{name}: it is not finite on [-{reach:g}, {reach:g}]; give a smaller radius")
    z = np.linspace(0, reach, SAMPLES + 1)
    exact = _values(kernel, z)
    law = min(laws, key=lambda each: float(abs(each(z) - exact).max()))
    return CosineSum(law, certified_error(kernel, kappa, law))


def _values(kernel: CertifiedKernel, z: Float64[np.ndarray, " points"]) -> Float64[np.ndarray, " points"]:
    u, v = kernel.variables
    with np.errstate(all="ignore"):
        return np.asarray(evaluate(kernel.function, {u: z / 2, v: -z / 2}) + 0 * z, dtype=float)


def _series(kernel: CertifiedKernel, half: float, terms: int) -> FrequencyLaw | None:
    """Of the even function of period 2 `half`; None where it is not finite."""
    values = _values(kernel, np.linspace(0, half, SAMPLES + 1))
    if not np.isfinite(values).all():
        return None
    values[[0, -1]] /= 2
    waves = np.cos(np.pi / SAMPLES * np.outer(np.arange(terms + 1), np.arange(SAMPLES + 1)))
    coefficients = waves @ values * 2 / SAMPLES
    coefficients[0] /= 2
    return FrequencyLaw(math.pi / half, coefficients)


def certified_error(kernel: CertifiedKernel, kappa: sp.Expr, law: FrequencyLaw) -> float:
    """At least the largest distance of the sum from g(u, v) = kappa(u - v) on [-radius, radius]^2."""
    (u, v), reach = kernel.variables, 2 * kernel.radius
    second = second_derivative(kappa, u, (u,), reach)
    if second is None:
        raise UsageError(f"{sp.sstr(kernel.function)}: no range of its second derivative is found; give cells and a "
                         f"rank")  # fmt: skip
    with working_precision(BITS):
        z = BallArray.exactly(np.arange(KNOTS + 1.0), BITS) * reach / KNOTS
        rest = ArrayFunction(kernel.function, u, v)(z / 2, -z / 2) - law(z)
        at_knots = max(float_above(abs(each)) for each in rest.balls)
        bent = sp.Rational(law.curvature)
        bend = (second.bend[0] - bent, second.bend[1] + bent)
        between = [abs(each) for each in secant_range(sp.Rational(reach) / KNOTS, bend, second.kink)]
        lost = sp.Rational(at_knots) + sp.Rational(law.mass * ROUNDED) + sp.Max(*between)
        return float_above(evaluate_ball(lost, {}))
