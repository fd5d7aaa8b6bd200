"""Singular functions of a kernel g(u, v) by quadrature, in floats: how steep they are, and how large as ReLUs."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float64

NODES, POINTS = 240, 4001  # of the quadrature, and of the grid on which functions are taken
Values = Float64[np.ndarray, "P F"]  # of F functions at P points


@dataclass(frozen=True)
class SingularFunctions:
    """g = sum_k sizes[k] phi_k(u) psi_k(v) on [low, high]^2, the first ones, at these points in rows."""

    sizes: Float64[np.ndarray, " K"]
    points: Float64[np.ndarray, " P"]
    phi: Values
    psi: Values
    at_nodes: Float64[np.ndarray, " G"]  # int (1 + |t|) |f''(t)| dt, of phi and psi, by values at the nodes

    @classmethod
    def of(cls, g: Callable[[Any, Any], Any], low: float, high: float, count: int) -> "SingularFunctions":
        """The first `count`, or as many as have singular values that floats tell from 0; none of an infinite g."""
        nodes, weights = np.polynomial.legendre.leggauss(NODES)
        nodes, roots = (low + high) / 2 + (high - low) / 2 * nodes, np.sqrt((high - low) / 2 * weights)
        values = roots[:, None] * g(nodes[:, None], nodes) * roots
        left, sizes, right = np.linalg.svd(values if np.isfinite(values).all() else 0 * roots * roots[:, None])
        kept = min(count, int((sizes > NODES * np.finfo(float).eps * sizes[0]).sum()))
        points, sizes = np.linspace(low, high, POINTS), sizes[:kept]
        # phi_k(u) = int g(u, v) psi_k(v) dv / sigma_k, and likewise psi_k.
        phi = g(points[:, None], nodes) @ (roots[:, None] * right[:kept].T) / sizes
        psi = g(nodes, points[:, None]) @ (roots[:, None] * left[:, :kept]) / sizes
        slopes = np.diff(np.concatenate([left[:, :kept], right[:kept].T], axis=1) / roots[:, None], axis=0)
        bends = np.diff(slopes / np.diff(nodes)[:, None], axis=0)
        return cls(sizes, points, phi, psi, (1 + abs(nodes[1:-1])) @ abs(bends))

    @cached_property
    def both(self) -> Values:
        return np.concatenate([self.phi, self.psi], axis=1)

    @cached_property
    def steepness(self) -> float:
        """The largest Lipschitz constant of all these functions."""
        return float((abs(np.diff(self.both, axis=0)).max() if self.sizes.size else 0) / self.step)

    @property
    def step(self) -> float:
        return float(self.points[1] - self.points[0])

    # Values at the nodes miss a kink between two of them. Those at the points have a kink at each node, if g has one at
    # u = v; but the error of an interpolation is at most this over the number of cells, for functions that are linear
    # between the points.
    @cached_property
    def curvatures(self) -> Float64[np.ndarray, "2 G"]:
        """int (1 + |t|) |f''(t)| dt, of phi and psi, by values at the nodes and at the points."""
        at_points = (1 + abs(self.points[1:-1])) @ abs(np.diff(self.both, 2, axis=0)) / self.step
        return np.stack([self.at_nodes, at_points])

    # f(x) = E a relu(b x + c) is of norm inf E |a| (|b| + |c|). A ReLU with a kink at t has |b| + |c| = |b| (1 + |t|)
    # and changes the slope there by |a b|: the norm is at least int (1 + |t|) |f''(t)| dt. It is at most
    # |f(0)| + 2 |f'(0)| more, as f(x) = f(0) + f'(0) x + int_{t>0} f''(t) relu(x - t) + int_{t<0} f''(t) relu(t - x).
    @cached_property
    def barron(self) -> tuple[float, float]:
        """Bounds on the largest Barron norm of all these functions, on an interval around 0."""
        middle = np.searchsorted(self.points, 0)
        value, slope = self.both[middle], (self.both[middle + 1] - self.both[middle - 1]) / (2 * self.step)
        low, high = self.curvatures.min(0), self.curvatures.max(0)
        return float(low.max()), float((high + abs(value) + 2 * abs(slope)).max())

    def interpolation_error(self, cells: int) -> float:
        """The largest distance of one of these functions from its interpolation at `cells` + 1 knots."""
        return float(abs(self.both - self.interpolated(self.both, self.points, cells)).max())

    def interpolated(self, values: Values, at: Float64[np.ndarray, "..."], cells: int) -> Float64[np.ndarray, "... F"]:
        knots = np.linspace(self.points[0], self.points[-1], cells + 1)
        found = [np.interp(at, knots, np.interp(knots, self.points, each)) for each in values.T]
        return np.stack(found, axis=-1)

    def neurons(self, cells: int) -> Float64[np.ndarray, "3 N"]:
        """a, b and c of N = cells + 2 ReLUs a relu(b x + c) that add up to the interpolation of phi_1."""
        knots = np.linspace(self.points[0], self.points[-1], cells + 1)
        slopes = np.diff(np.interp(knots, self.points, self.phi[:, 0])) / np.diff(knots)
        before = np.searchsorted(knots, 0) - 1  # the cell that ends at 0, or has it inside
        at_0 = np.interp(knots[before], self.points, self.phi[:, 0]) - slopes[before] * knots[before]
        inside, ahead = knots[1:-1], np.where(knots[1:-1] < 0, -1.0, 1.0)
        a = np.concatenate([[at_0, slopes[before], -slopes[before]], np.diff(slopes)])
        return np.stack([a, np.concatenate([[0, 1, -1], ahead]), np.concatenate([[1, 0, 0], -ahead * inside])])
