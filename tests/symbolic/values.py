"""Letters of every sign, and values to start a derivation from, for the tests of rules."""

import sympy as sp

from symbolic.calculus import Approximated, Norm, given

HALF, ZERO, ONE, TWO = sp.Rational(1, 2), sp.Integer(0), sp.Integer(1), sp.Integer(2)
a, b, s, R, z = sp.symbols("a b s R z", positive=True)
q, p = sp.symbols("q p", nonnegative=True)
r, sign = sp.symbols("r sign", real=True)
free = sp.Symbol("free")  # nothing is known of it, not even that it is real
count = sp.Symbol("count", integer=True)
e = sp.Dummy("e", nonnegative=True)
N, K = sp.symbols("N K", integer=True, positive=True)
n = sp.Symbol("n", integer=True, nonnegative=True)


def number(name: str = "x", *, error: object = HALF, size: object = 1, norm: Norm = Norm.INF) -> Approximated:
    return given(name, dim=1, norm=norm, size=size, error=error)


def weights(name: str = "a", *, error: object = HALF) -> Approximated:
    return given(name, dim=3, norm=Norm.ONE, size=1, error=error, probabilities=True)


def vector(name: str = "x", norm: Norm = Norm.INF, dim: int = 3, error: object = 0) -> Approximated:
    return given(name, dim=dim, norm=norm, size=1, error=error)


def conditions(value: Approximated) -> list[object]:
    return [obligation.condition for obligation in value.derivation.steps[-1].obligations]


def owed(value: Approximated) -> list[str]:
    return [obligation.statement for obligation in value.derivation.obligations if obligation.open]
