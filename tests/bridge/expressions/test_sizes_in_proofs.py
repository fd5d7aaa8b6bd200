"""The proof of an exported theorem says how large values are, exact and approximate, where its bounds rest on that."""

import re
from collections.abc import Callable

import pytest
import sympy as sp

import boundsmith as bs
from examples import gradient_step, ridge, rounded_blocks
from symbolic import find_result

NORM = r"\\\|(?:\\text\{[^{}]*\}|[^|$])+?\\\|_\{(?:1|2|\\infty)\}"
CHAIN = re.compile(rf"({NORM}) \\le ([^$\n]*?) \\le ")


def test_the_size_of_an_approximate_factor_is_said_where_the_bound_rests_on_it() -> None:
    K, delta = sp.symbols("K delta", positive=True)
    d = sp.Symbol("d", integer=True, positive=True)
    W, V = (bs.matrix(name, d, d, spectral=K).rounded(delta) for name in "WV")
    v = bs.vector("v", d, norm=1)
    own = bs.theorem("own", (W @ v) @ (V @ v), parameters={K: 1.0, delta: 0.01, d: 4})
    text = own.latex()
    assert text.count("The same holds for the approximate value.") == 1  # of v
    assert text.count("By the operator norm of the approximate map, the approximate value has a norm of at most $") == 1


def test_the_size_of_a_function_near_0_is_by_taylors_formula() -> None:
    text = rounded_blocks.own.latex()
    (line,) = re.findall(r"By Taylor's formula at 0, \\\[ .*?\\\]", text)
    assert "By the values of the function that the network applies, the approximate value has a norm of at" in text
    assert r"\|\text{silu(G rms norm(sum))}\|_{\infty}" in line


THEOREMS: dict[str, Callable[[], str]] = {
    "rounded_blocks": lambda: rounded_blocks.own.latex(),
    "ridge": lambda: ridge.own.latex(),
    "gradient_step": lambda: gradient_step.own.latex(),
    **{id: (lambda id=id: find_result(id).latex()) for id in ("icgd.step", "looped.newton", "machines.turing")},
}


@pytest.mark.parametrize("name", THEOREMS)
def test_every_norm_that_a_sentence_uses_has_a_sentence_before(name: str) -> None:
    """Of chains `||v|| <= K ||x|| <= ...`: the norm of x has its own line before."""
    steps = THEOREMS[name]().partition(r"\paragraph{Derivation")[2]
    chains = re.findall(r"(\\\|[^$\n]+?_\{(?:1|2|\\infty)\}) \\le ([^$\n]*?) \\le ", steps)
    assert chains or name in ("ridge", "machines.turing")
    for left, between in chains:
        before = steps.partition(f"{left} \\le")[0]
        for used in re.findall(r"\\\|(?:\\text\{[^{}]*\}|[^|])+?\\\|_\{(?:1|2|\\infty)\}", between):
            assert f"{used} \\le" in before, (left, used)


def test_the_size_of_an_approximate_value_that_a_rule_was_given_is_said_at_that_value() -> None:
    text = find_result("icgd.step").latex()
    line = next(each for each in text.splitlines() if r"e_{r'(N)} \le" in each)
    assert r"By a separate estimate, the approximate value has a norm of at most $b_{r'} + \epsilon_{r'}$." in line
