"""What does not fit a formula over arrays whose sizes are letters: each refusal with its message."""

from typing import Any

import numpy as np
import pytest
import sympy as sp

from bridge.lowering import LoweringError, lower
from symbolic.words.errors import UsageError
from tests.bridge.lowering.sized_cases import A, M, Q, T, a, a_n, b, i, j, k, m, n, t, to_m, to_n, x
from tests.bridge.lowering.test_sized import BACKENDS, given


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("expr", "values", "message"),
    [
        (sp.Sum(a[i] * b[i], to_n), {"a": [1.0, 2, 3], "b": [1.0, 2]},
         r"lower: n is 3 by a of the shape \(3,\), and 2 by b of the shape \(2,\); give arrays whose sizes agree"),
        (A * A.T * Q, {"A": [[1.0, 2]], "Q": [[1.0, 2], [3, 4]]}, r"n is 1 by A of the shape \(1, 2\), and 2 by Q"),
        (sp.Trace(Q), {"Q": [[1.0, 2]]}, r"n is 1 by Q of the shape \(1, 2\), and 2 by Q of the shape \(1, 2\)"),
        (sp.Trace(sp.MatrixSymbol("D", n, 2 * n) * sp.MatrixSymbol("D", n, 2 * n).T), {"D": [[1.0, 2, 3]]},
         r"lower: 2\*n is 2, n = 1 by D of the shape \(1, 3\), and 3 by D of the shape \(1, 3\); give arrays"),
        (sp.Trace(sp.MatrixSymbol("D", 2 * n, 1).T * sp.MatrixSymbol("D", 2 * n, 1)) / n, {"D": [[1.0], [2], [3]]},
         r"lower: axis 0 of D has the size 3, by the formula 2\*n, and no whole number n >= 0 gives that"),
        (sp.Sum(sp.IndexedBase("c", shape=(3,))[i], (i, 0, 2)), {"c": [1.0, 2]},
         r"lower: 3 is 3, and 2 by c of the shape \(2,\); give arrays"),
        (sp.Sum(M[i, j], to_m, to_n), {"M": [1.0, 2]},
         r"lower: M has the shape \(2,\); the formula takes the shape \((\.\.\., )?n, m\)"),
        (sp.Sum(a[i], to_n), {"a": 3.0}, r"a has the shape \(\); the formula takes the shape \((\.\.\., )?n,?\)"),
        (sp.Sum(a[i], to_n), {"a": [[1.0, 2], [3.0]]}, r"the rows of a have the shapes \[\(1,\), \(2,\)\]; give"),
        (sp.Sum(a[i + 1] * a[i], to_n), {"a": [1.0, 2, 3]}, r""),
        (sp.Sum(a_n[i], (i, 0, n)), {"a": [1.0, 2]},
         r"lower: a\[2\] is outside of a, whose shape is \(2,\); indices count from 0; change the limits of the sum"),
        (sp.Sum(a_n[i - 1], (i, 0, n)), {"a": [1.0, 2]}, r"lower: a\[-1\] is outside of a, whose shape is \(2,\)"),
        (sp.Sum(A[i, i], to_n), {"A": [[1.0], [2]]}, r"lower: A\[1, 1\] is outside of A, whose shape is \(2, 1\)"),
        (sp.Sum(T[i, j, 5], to_n, to_m), {"T": [[[1.0, 2]]]}, r"lower: T\[0, 0, 5\] is outside of T, whose shape is"),
        (sp.Sum(a_n[i], (i, 0, n + 40)), {"a": [1.0, 2]}, r"lower: a\[2\] is outside of a, whose shape is \(2,\)"),
        (sp.Sum(a_n[i / 2], to_n), {"a": [1.0, 2]}, r"lower: a\[1/2\] has an index that is no whole number"),
    ],
    ids=lambda part: str(part)[:40],
)  # fmt: skip
def test_arrays_that_do_not_fit_are_refused(expr: Any, values: dict[str, Any], message: str, backend: str) -> None:
    ragged = values.get("a") == [[1.0, 2], [3.0]]
    values = values if ragged else {name: given(backend, value) for name, value in values.items()}
    if not message:  # a[n] is no entry of an array of n: then a has n + 1 of them
        assert float(lower(expr, backend)(**values)) == 8
        return
    with pytest.raises(UsageError, match=message):
        lower(expr, backend)(**values)


@pytest.mark.parametrize("backend", ["mpmath", "arb"])
def test_points_have_no_batches(backend: str) -> None:
    with pytest.raises(UsageError, match=r"lower: a has the shape \(1, 2\); the formula takes the shape \(n,\)"):
        lower(sp.Sum(a[i], to_n), backend)([[1.0, 2.0]])


@pytest.mark.parametrize("value", [-1, 1.5, "x"])
def test_a_size_that_is_an_argument_is_a_whole_number(value: Any) -> None:
    with pytest.raises(UsageError, match=r"lower: the size n = .*; give a whole number, at least 0"):
        lower(sp.Trace(sp.Identity(n) + x * x.T), args=[n, x])(value, [[1.0]])
    with pytest.raises(UsageError, match=r"lower: n is 2 by its argument, and 1 by x of the shape \(1, 1\)"):
        lower(sp.Trace(sp.Identity(n) + x * x.T), args=[n, x])(2, [[1.0]])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("expr", "message"),
    [
        (a[i] * b[0], r"Indexed `a\[i\]`: its index i is free; bind it by a Sum or a Product, or name it in args"),
        (sp.Sum(M[i, j], to_n), r"Indexed `M\[i, j\]`: its index j is free; bind it by a Sum"),
        (sp.Idx("i", n) * a[0], "Idx `i`: it is an index that is free; bind it by a Sum"),
        (a[0] + a[0, 1], r"Indexed `a\[0, 1\]`: it is a\[0\] elsewhere; give a one number of indices"),
        (sp.Sum(sp.IndexedBase("c", offset=1)[i], to_n), r"Indexed `c\[i\]`: it has an offset or strides"),
        (sp.Trace(2 * sp.OneMatrix(m, m) * sp.OneMatrix(m, m)), "`m`: it is a size that no array tells; name it in"),
        (a * a[0], "IndexedBase `a`: it is an array where a number belongs; give it an index"),
        (sp.Sum(a[n], (n, 0, m - 1)) + sp.Trace(Q), "its index n is a size too; give it another letter"),
        (sp.MatPow(Q, sp.Rational(1, 2)), "only integer powers of matrices are known"),
        (sp.HadamardPower(A, t), "only whole powers of its entries, from 1 on, are known"),
    ],
    ids=lambda part: str(part)[:40],
)  # fmt: skip
def test_what_no_array_can_tell_is_refused_when_it_is_lowered(expr: Any, message: str, backend: str) -> None:
    with pytest.raises(LoweringError, match=message):
        lower(expr, backend)


def test_names_that_meet_are_refused() -> None:
    with pytest.raises(ValueError, match="different arrays of the same name"):
        lower(a[0] + sp.MatrixSymbol("a", n, n)[0, 0])
    with pytest.raises(ValueError, match="different symbols of the same name"):
        lower(a[0] + sp.Symbol("a"))
    with pytest.raises(UsageError, match=r"missing \['b'\]"):
        lower(a[0] + b[0], args=["a"])
    with pytest.raises(TypeError, match=r"missing \['b'\]"):
        lower(a[0] + b[0])(a=[1.0])


def test_an_index_that_is_an_argument_is_one_number() -> None:
    entry = lower(a[k], args=[a, k])
    assert entry([1.0, 5.0], 1) == 5
    with pytest.raises(UsageError, match=r"lower: an index is one whole number, got numbers of the shape \(2,\)"):
        entry([1.0, 5.0], np.array([0, 1]))
