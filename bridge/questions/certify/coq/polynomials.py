"""Steps of polynomials as proofs in Coq, as `scripts` beside it writes the others."""

import itertools
from collections.abc import Callable, Sequence
from math import lcm, prod
from typing import Any

import sympy as sp

from bridge.questions.certify.coq.identities import written
from bridge.questions.certify.coq.terms import number_in_coq
from bridge.questions.certify.letters import polynomial_of
from bridge.questions.certify.steps import ByAmgm, ByOrder, BySquares, side_of

Script = Any  # of `goals` beside it


def _by_squares(script: Script, step: BySquares) -> None:
    terms = [(w, q, [side_of(script.goal, side) for side in sides]) for w, q, sides in step.terms]
    texts = [" * ".join([number_in_coq(w), f"{script.term(q)} ^ 2", *map(script.term, sides)]) for w, q, sides in terms]
    raw = [written(each) for _, q, sides in terms for each in (q, *sides)]
    total = " + ".join(texts) or "0"
    script.equation("same_f", script.f, total, script.raw, *raw, unfolded=[script.function(script.goal)])
    script.add("rewrite same_f; repeat apply Rplus_le_le_0_compat; nonnegative.")


def _monomial(script: Script, powers: Sequence[int]) -> str:
    """With even powers as squares, so that it shows that it is >= 0."""
    letters = script.lemmas.letters(script.goal.symbols)
    parts = [f"({x} ^ {p // 2}) ^ 2" if p % 2 == 0 else f"{x} ^ {p}" for x, p in zip(letters, powers, strict=True) if p]
    return f"({' * '.join(parts) or '1'})"


def _by_amgm(script: Script, step: ByAmgm) -> None:
    terms = polynomial_of(script.goal.expression, script.goal.symbols)
    left = dict(terms or {})
    for at, (powers, parts) in enumerate(step.groups):
        c = left.pop(powers, sp.Integer(0))
        _mean(script, f"mean_{at}", c, powers, parts)
        for a, _, share in parts:
            left[a] = left.get(a, sp.Integer(0)) - share
    for at, (a, _) in enumerate((a, c) for a, c in left.items() if c):
        script.add(f"assert (rest_{at} : 0 <= {_monomial(script, a)}) by nonnegative.")
    script.add(f"unfold {script.function(script.goal)}; lra.")


def _mean(script: Script, name: str, c: sp.Rational, powers: Sequence[int], parts: Sequence[Any]) -> None:
    """c b >= - sum share m by `amgm_step` at |c b|, since b^n = prod m^p for the weights p/n."""
    n = lcm(*(int(weight.q) for _, weight, _ in parts))
    rows = [(_monomial(script, a), int(weight * n), share / weight) for a, weight, share in parts]
    b, size = _monomial(script, powers), number_in_coq(abs(c))
    listed = "nil"
    for m, p, by in reversed(rows):
        listed = f"(cons ({p}%nat, {number_in_coq(by)} * {m}) {listed})"
    means = " * ".join(f"{m} ^ {p}" for m, p, _ in rows)
    product = "".join(f"({number_in_coq(by)} * {m}) ^ {p} * (" for m, p, by in rows) + "1" + ")" * len(rows)
    constant = number_in_coq(prod((by**p for _, p, by in rows), start=sp.Integer(1)))
    shares = " + ".join(f"{number_in_coq(share)} * {_monomial(script, a)}" for a, _, share in parts)
    bound = (
        f"assert (bound := Rle_abs {b})" if c < 0 else f"assert (bound := Rle_abs (- {b})); rewrite Rabs_Ropp in bound"
    )
    script.add(
        f"assert ({name} : - ({number_in_coq(c)} * {b}) <= {shares}).",
        f"{{ assert (power : 0 <= {b} ^ {n}) by (replace ({b} ^ {n}) with ({means}) by ring; nonnegative).",
        f"assert (below := amgm_step {listed} ({size} * Rabs {b})).",
        "cbn [total product count none_negative INR Nat.add] in below.",
        f"{bound}. assert ({size} * Rabs {b} >= 0) by (apply Rle_ge; nonnegative).",
        f"assert (least : ({size} * Rabs {b}) ^ {n} <= {product}).",
        "{ rewrite Rpow_mult_distr, RPow_abs, (Rabs_pos_eq _ power).",
        f"replace ({product}) with ({constant} * {b} ^ {n}) by field. apply Rmult_le_compat_r; [exact power | lra]. }}",
        "specialize (below ltac:(repeat split; nonnegative) ltac:(repeat constructor) ltac:(lra) least). lra. }",
    )


def _by_order(script: Script, step: ByOrder) -> None:
    symbols, base = script.goal.symbols, number_in_coq(step.base)
    steps = [sp.Dummy(f"u{i}") for i in range(len(symbols))]
    orders = list(itertools.permutations(symbols))
    for at, order in enumerate(orders):
        sums = {s: step.base + sp.Add(*steps[: i + 1]) for i, s in enumerate(order)}
        terms = polynomial_of(script.goal.expression.xreplace(sums), steps) or {}
        chain = [base, *script.lemmas.letters(order)]
        pairs = list(itertools.pairwise(chain))
        parts = [
            " * ".join(
                [number_in_coq(c), *(f"({b} - {a}) ^ {p}" for (a, b), p in zip(pairs, powers, strict=True) if p)]
            )
            for powers, c in terms.items()
        ]
        premises = "".join(f"{a} <= {b} -> " for a, b in pairs)
        script.add(
            f"assert (order_{at} : {premises}{script.f_at}).",
            f"{{ intros. replace ({script.f}) with ({' + '.join(parts) or '0'}) "
            f"by (unfold {script.function(script.goal)}; ring).",
            "repeat apply Rplus_le_le_0_compat; nonnegative. }",
        )
    pairs = list(itertools.combinations(script.lemmas.letters(symbols), 2))
    compared = "".join(f"destruct (Rle_lt_dec {a} {b}); " for a, b in pairs)
    script.add(f"{compared}first [{' | '.join(f'apply order_{at}; lra' for at in range(len(orders)))}].")


POLYNOMIAL_SCRIPTS: dict[type, Callable[[Script, Any], None]] = {
    BySquares: _by_squares,
    ByAmgm: _by_amgm,
    ByOrder: _by_order,
}
