"""Special functions on tensors of any dtype and device, differentiable any number of times.

Where torch's own are kept their accuracy was measured against mpmath; `torch.special.polygamma(1, x)`, which is also
the derivative that torch gives to digamma, is off by 2e-10 and is replaced by the Hurwitz zeta function.
"""

import math
from typing import Any

import torch
from torch import Tensor


class _Polygamma(torch.autograd.Function):
    """Derivative of order n of digamma."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, order: int) -> Tensor:
        ctx.save_for_backward(x)
        ctx.order = order
        if order == 0:
            return torch.special.digamma(x)
        wide = x.float() if x.dtype.itemsize < 4 else x  # torch has no zeta of half precision
        return (-1) ** (order + 1) * math.factorial(order) * torch.special.zeta(float(order + 1), wide).to(x.dtype)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        (x,) = ctx.saved_tensors
        return grads[0] * _Polygamma.apply(x, ctx.order + 1), None


def polygamma(order: int, x: Tensor) -> Tensor:
    result: Tensor = _Polygamma.apply(x, order)
    return result


def digamma(x: Tensor) -> Tensor:
    return polygamma(0, x)


class _LogAbsGamma(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return torch.lgamma(x)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return grads[0] * digamma(x)


def log_abs_gamma(x: Tensor) -> Tensor:
    result: Tensor = _LogAbsGamma.apply(x)
    return result


def loggamma(x: Tensor) -> Tensor:
    """Real for x > 0 only; nan below, where SymPy's function is complex."""
    return torch.where(x < 0, torch.nan, log_abs_gamma(x))


def gamma(x: Tensor) -> Tensor:
    negative = (x < 0) & (torch.floor(x).remainder(2) == 1)  # the sign alternates from -1 downwards
    size = torch.exp(log_abs_gamma(x))
    pole = (x <= 0) & (x == torch.floor(x))
    return torch.where(pole, torch.nan, torch.where(negative, -size, size))


def factorial(x: Tensor) -> Tensor:
    return gamma(x + 1)


def binomial(n: Tensor, k: Tensor) -> Tensor:
    """Gamma(n + 1)/(Gamma(k + 1) Gamma(n - k + 1)), with 0 at the poles below the line.

    At n = -1, -2, ... it is (-1)^k binomial(k - n - 1, k) for k = 0, 1, 2, ..., 0 for k = -1, -2, ..., nan between.
    """
    n, k = torch.broadcast_tensors(n, k)
    whole = k == torch.floor(k)
    mirrored = (n < 0) & (n == torch.floor(n))
    odd = mirrored & whole & (k.remainder(2) == 1)
    n = torch.where(mirrored, k - n - 1, n)
    lower = torch.stack((k + 1, n - k + 1))
    pole = ((lower <= 0) & (lower == torch.floor(lower))).any(0)
    lower = torch.where(pole, torch.ones_like(lower), lower)
    factors = torch.cat((lower, (n + 1)[None]))
    negative = (((factors < 0) & (torch.floor(factors).remainder(2) == 1)).sum(0) + odd) % 2 == 1
    size = torch.exp(log_abs_gamma(n + 1) - log_abs_gamma(lower).sum(0))
    value = torch.where(pole, 0.0, torch.where(negative, -size, size))
    return torch.where(mirrored & ~whole, torch.nan, value)


class _LambertW(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, branch: int) -> Tensor:
        ctx.save_for_backward(x)
        ctx.branch = branch
        return _halley(x, _start(x, branch))

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        (x,) = ctx.saved_tensors
        w = _LambertW.apply(x, ctx.branch)  # so that second derivatives exist
        return grads[0] / (torch.exp(w) * (1 + w)), None


def lambertw(x: Tensor, branch: int) -> Tensor:
    result: Tensor = _LambertW.apply(x, branch)
    return result


def _start(x: Tensor, branch: int) -> Tensor:
    """A start from which Halley's iteration converges: the series at the branch point, or logarithms far from it."""
    root = torch.sqrt((2 * (math.e * x + 1)).clamp_min(0))
    if branch == 0:
        near = -1 + root - root**2 / 3 + root**3 * (11 / 72)
        far = torch.log1p(x.clamp_min(0))
        far = far - torch.where(x > 3, torch.log(far.clamp_min(1)), 0.0)
        start, outside = torch.where(x < 0.5, near, far), x < -1 / math.e - torch.finfo(x.dtype).eps
    else:
        near = -1 - root - root**2 / 3 - root**3 * (11 / 72)
        log = torch.log((-x).clamp_min(torch.finfo(x.dtype).tiny))
        far = log - torch.log(-log.clamp_max(-1.0))
        start, outside = torch.where(x < -0.2, near, far), (x < -1 / math.e - torch.finfo(x.dtype).eps) | (x >= 0)
    return torch.where(outside, torch.nan, start)


def _halley(x: Tensor, w: Tensor) -> Tensor:
    """Solve w e^w = x; cubic convergence, six steps suffice from these starts."""
    for _ in range(6):
        residual = w - x * torch.exp(-w)  # (w e^w - x)/e^w: no overflow for large x
        slope = w + 1
        step = residual / (slope - (w + 2) * residual / (2 * slope))
        w = torch.where(torch.isfinite(step), w - step, w)  # slope 0 at the branch point itself
    return w


def geometric(z: Tensor, m: Tensor) -> Tensor:
    """((1 + z)^m - 1)/z = m phi(m log(1 + z)) psi(z); phi(t) = expm1(t)/t and psi(z) = log1p(z)/z are smooth at 0."""
    z, m = torch.broadcast_tensors(z, m)
    near = z.abs() < 0.5
    close = torch.where(near, z, torch.zeros_like(z))
    away = torch.where(near, torch.ones_like(z), z)
    smooth = m * _expm1_ratio(m * torch.log1p(close)) * _log1p_ratio(close)
    return torch.where(near, smooth, ((1 + away) ** m - 1) / away)


def _expm1_ratio(t: Tensor) -> Tensor:
    small = t.abs() < 0.5
    series = _horner(torch.where(small, t, torch.zeros_like(t)), [1 / math.factorial(k + 1) for k in range(15)])
    large = torch.where(small, torch.ones_like(t), t)
    return torch.where(small, series, torch.expm1(large) / large)


def _log1p_ratio(z: Tensor) -> Tensor:
    small = z.abs() < 0.125
    series = _horner(torch.where(small, z, torch.zeros_like(z)), [(-1) ** k / (k + 1) for k in range(17)])
    large = torch.where(small, torch.full_like(z, 0.25), z)
    return torch.where(small, series, torch.log1p(large) / large)


def _horner(t: Tensor, coefficients: list[float]) -> Tensor:
    total = torch.full_like(t, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        total = total * t + coefficient
    return total
