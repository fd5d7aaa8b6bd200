"""Products of matrix symbols: transposes, normal forms, and the chain rule for entry-wise functions.

A matrix is laid out row by row: vec(V) = (v_1, ..., v_K) with v_k the rows of V, so that
dV p = [I (x) p^T] vec(dV).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp
from sympy.matrices.expressions.applyfunc import ElementwiseApplyFunction
from sympy.matrices.expressions.kronecker import KroneckerProduct

from symbolic.derivations.derivation import DerivationError


def transpose(expression: sp.MatrixExpr) -> sp.MatrixExpr:
    """The transpose, carried through to the symbols (SymPy's own loses itself in Kronecker products)."""
    if isinstance(expression, sp.MatMul):
        return sp.MatMul(*(transpose(factor) for factor in reversed(expression.args)))
    if isinstance(expression, sp.MatAdd):
        return sp.MatAdd(*map(transpose, expression.args))
    if isinstance(expression, KroneckerProduct):
        return KroneckerProduct(*map(transpose, expression.args))
    if isinstance(expression, sp.HadamardProduct):
        return sp.HadamardProduct(*map(transpose, expression.args))
    if isinstance(expression, sp.Transpose):
        return expression.arg
    return expression if isinstance(expression, sp.DiagMatrix | sp.Identity) else sp.Transpose(expression)


def product(*factors: sp.MatrixExpr) -> sp.MatrixExpr:
    """The product, flat, identities dropped."""
    flat = [each for factor in factors for each in (factor.args if isinstance(factor, sp.MatMul) else (factor,))]
    kept = [each for each in flat if not isinstance(each, sp.Identity)]
    if not kept:
        return factors[0]
    return kept[0] if len(kept) == 1 else sp.MatMul(*kept)


# a o b = diag(a) b for columns a, b.
def normal(expression: sp.MatrixExpr) -> sp.MatrixExpr:
    """One form for equal products: flat, transposes at the symbols, diag(a) b for the Hadamard product of columns."""
    if isinstance(expression, sp.MatMul):
        return product(*map(normal, expression.args))
    if isinstance(expression, sp.MatAdd):
        return sp.MatAdd(*map(normal, expression.args))
    if isinstance(expression, sp.Transpose):
        inner = transpose(normal(expression.arg))
        return inner if isinstance(inner, sp.Transpose) else normal(inner)
    if isinstance(expression, sp.HadamardProduct):
        *diagonals, last = expression.args
        return product(*map(sp.DiagMatrix, diagonals), normal(last))
    return expression


def as_hadamard(expression: sp.MatrixExpr) -> sp.MatrixExpr:
    """diag(a) b written a o b."""
    first, *others = expression.args
    if not isinstance(expression, sp.MatMul) or not isinstance(first, sp.DiagMatrix) or expression.shape[1] != 1:
        raise DerivationError(f"as_hadamard: {expression} is not diag(a) b with a column b")
    return sp.HadamardProduct(first.args[0], product(*others))


def fold(expression: sp.MatrixExpr, tail: sp.MatrixExpr, name: sp.MatrixSymbol) -> sp.MatrixExpr:
    """`expression` with its last factors, which have to be `tail`, written `name`."""
    factors, last = normal(expression).args, normal(tail).args
    if not isinstance(normal(tail), sp.MatMul) or tuple(factors[-len(last) :]) != tuple(last):
        raise DerivationError(f"fold: {expression} does not end in {tail}")
    return product(*factors[: -len(last)], name)


# Product rule d(A B) = dA B + A dB; chain rule d r(z) = diag(r'(z)) dz for a column z and r applied to each entry.
def differential(expression: sp.MatrixExpr, moving: Mapping[sp.MatrixSymbol, sp.MatrixSymbol]) -> sp.MatrixExpr:
    """d expression, where each symbol of `moving` moves by its differential and all others stand still.

    Raises DerivationError for a node that it has no rule for.
    """
    if isinstance(expression, sp.MatrixSymbol):
        return moving.get(expression, sp.ZeroMatrix(*expression.shape))
    if isinstance(expression, sp.MatAdd):
        return _total(expression, [differential(term, moving) for term in expression.args])
    if isinstance(expression, sp.MatMul):
        factors = expression.args
        parts = [differential(factor, moving) for factor in factors]
        terms = [
            product(*factors[:place], part, *factors[place + 1 :])
            for place, part in enumerate(parts)
            if not isinstance(part, sp.ZeroMatrix)
        ]
        return _total(expression, terms)
    if isinstance(expression, sp.Transpose):
        inner = differential(expression.arg, moving)
        return sp.ZeroMatrix(*expression.shape) if isinstance(inner, sp.ZeroMatrix) else transpose(inner)
    if isinstance(expression, ElementwiseApplyFunction) and expression.shape[1] == 1:
        z = expression.expr
        inner = differential(z, moving)
        if isinstance(inner, sp.ZeroMatrix):
            return inner
        slope = sp.DiagMatrix(z.applyfunc(derivative(expression.function)))
        moved = inner.args if isinstance(inner, sp.MatAdd) else (inner,)
        return _total(expression, [product(slope, term) for term in moved])
    raise DerivationError(f"differential: no rule for {type(expression).__name__} {expression}")


def derivative(function: sp.Lambda) -> sp.Lambda:
    """The derivative of a function of one real variable."""
    (t,) = function.variables
    return sp.Lambda(t, sp.diff(function.expr, t))


def _total(like: sp.MatrixExpr, terms: Sequence[sp.MatrixExpr]) -> sp.MatrixExpr:
    present = [term for term in terms if not isinstance(term, sp.ZeroMatrix)]
    if not present:
        return sp.ZeroMatrix(*like.shape)
    return present[0] if len(present) == 1 else sp.MatAdd(*present)


# dV q = [I (x) q^T] vec(dV): its k-th entry is dv_k^T q = q^T dv_k, and dv_k is the k-th segment of vec(dV).
def coefficient(linear: sp.MatrixExpr, direction: sp.MatrixSymbol) -> sp.MatrixExpr:
    """The Jacobian of an expression that is linear in `direction`: of a column itself, of a matrix row by row.

    Terms without `direction` count as 0. Raises DerivationError for a term that is not left * direction * column.
    """
    terms = [t for t in (linear.args if isinstance(linear, sp.MatAdd) else (linear,)) if t.has(direction)]
    if not terms:
        return sp.ZeroMatrix(linear.shape[0], direction.shape[0] * direction.shape[1])
    return _total(sp.ZeroMatrix(*linear.shape), [_jacobian(term, direction) for term in terms])


def _jacobian(term: sp.MatrixExpr, direction: sp.MatrixSymbol) -> sp.MatrixExpr:
    factors: list[Any] = list(term.args) if isinstance(term, sp.MatMul) else [term]
    if factors.count(direction) != 1 or term.shape[1] != 1:
        raise DerivationError(f"coefficient: {term} is not linear in {direction}, or no column")
    place = factors.index(direction)
    rows = sp.Identity(direction.shape[0])
    left: list[Any] = factors[:place] or [rows]
    if direction.shape[1] == 1:
        return product(*left)
    return product(*left, KroneckerProduct(rows, transpose(product(*factors[place + 1 :]))))
