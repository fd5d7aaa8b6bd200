"""Training stage I of wang2024 for long inputs: its loss by the definition, and its rate by linear filters.

Nothing here takes more than O(n log n) time and O(n) memory, n = L - 2 the keys s = 2 .. L-1. With u = e^-p~ the first
layer's weights are u^(s-1-tau) / Z_(s-1); c_tau is their sum over s, b_s the second layer's weights up to a factor.
"""

import numpy as np
import torch
from jaxtyping import Float, Float64
from scipy.signal import lfilter
from torch import Tensor


def mixture_by_correlation(p: Float[Tensor, ""], terms: int) -> Float[Tensor, " n"]:
    """c_1, ..., c_n: exponentials correlated with 1/Z by fast Fourier transforms. Differentiable in p."""
    powers = torch.exp(-p * torch.arange(terms, dtype=torch.float64, device="cpu"))  # (n,)
    inverse = 1 / torch.cumsum(powers, 0)  # (n,): 1/Z_1, ..., 1/Z_n
    size = 2 * terms  # no term wraps round
    spectrum = torch.fft.rfft(inverse, size) * torch.fft.rfft(powers, size).conj()
    return torch.fft.irfft(spectrum, size)[:terms]


def direct_loss(p: Float[Tensor, ""], g_0: float, optimum: float, terms: int) -> Float[Tensor, ""]:
    """The 4-gram loss by its definition: half the squared norm of the coefficients of x in TF - f*, at p(0) = 0."""
    coefficients = g_0 * mixture_by_correlation(p, terms) / terms  # (n,)
    target = torch.zeros(terms, dtype=torch.float64, device="cpu")
    target[-1] = optimum
    return (coefficients - target).square().sum() / 2


def value_and_slope(of: Tensor, p: Tensor) -> tuple[float, float]:
    (slope,) = torch.autograd.grad(of, p)
    return float(of.detach()), float(slope)


def direct_rate(p: float, g_0: float, optimum: float, terms: int) -> tuple[float, float]:
    """The loss and dp~/dt = -dloss/dp~ at p~ = p, by automatic differentiation."""
    variable = torch.tensor(p, dtype=torch.float64, requires_grad=True, device="cpu")
    loss, slope = value_and_slope(direct_loss(variable, g_0, optimum, terms), variable)
    return loss, -slope


def direct_squares(p: float, terms: int) -> tuple[float, float]:
    """q, the sum of the squared c_tau, and q' at p~ = p, by automatic differentiation."""
    variable = torch.tensor(p, dtype=torch.float64, requires_grad=True, device="cpu")
    return value_and_slope(mixture_by_correlation(variable, terms).square().sum(), variable)


# Z_m = 1 + x Z_{m-1}, c_tau = b_tau / Z_tau + x c_{tau+1} and their derivatives in x are linear recurrences: filters.
def _filtered(values: Float64[np.ndarray, " n"], x: float) -> Float64[np.ndarray, " n"]:
    """y with y_k = values_k + x y_{k-1}."""
    filtered: np.ndarray = lfilter([1.0], [1.0, -x], values)
    return filtered


def rate_share(terms: int, x: float, ratio: float, start: float) -> float:
    """(dp~/dt) / (u g_0 g* / Z_n(r)) at u = x, gamma = ratio, r = start."""
    ones = np.ones(terms)
    Z = _filtered(ones, x)
    dZ = _filtered(np.concatenate([[0.0], Z[:-1]]), x)
    b = start ** np.arange(terms, dtype=np.float64)  # b_n, ..., b_1
    c = _filtered(b / Z[::-1], x)  # c_n, ..., c_1
    dc = _filtered(np.concatenate([[0.0], c[:-1]]) - (b * dZ[::-1]) / Z[::-1] ** 2, x)
    whole = float(terms) if start == 1 else float(b.sum())
    return float(ratio * (c @ dc) / whole + dZ[-1] / Z[-1] ** 2)
