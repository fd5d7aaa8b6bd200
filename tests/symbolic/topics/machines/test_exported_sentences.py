"""What exported theorems on circuits, machines and margins say in words, where a bound needs it to be true."""

import itertools

import pytest

from symbolic.latex.paper_text import theorem_latex
from symbolic.statements.catalogue import find_result
from symbolic.topics.machines import sample_complexity as theory


@pytest.mark.parametrize(
    ("id", "words"),
    [
        ("approximation", r"\sup_{\theta \ne \theta'} |\rho(\theta)"),
        ("approximation", r"\sup_{\theta \ne \theta'} |\bar\ell_\gamma(\theta)"),
        ("approximation", r"$\max (0,1 - \rho /\gamma )$"),
        ("approximation", r"any input and label"),
        ("circuit", r"$r$: size of its widest layer, the layer of the inputs included"),
        ("margin", r"radius of the errors that a correction removes, below 1"),
        ("margin", r"Assume that $F(x)$ is -1 or 1 at every input $x$ of bits."),
        ("margin", r"\[ \log b / \log r \sim -1. \]"),
        ("margin", r"$b$: right side of the bound on $\rho_{F}$ for layers of width $r$ and fan-in 2"),
        ("rounding", r"\[ \rho_f \le \frac{3}{\sqrt{D}}. \]"),
        ("sample_complexity", r"$\ell$: a loss with values in $[0,1]$; its surrogate is at least as large and has"),
        ("sample_complexity", r"$\ell_{0\text{-}1}$: the 0-1 loss, 1 where the prediction is wrong"),
        ("sample_complexity", r"with the least mean surrogate loss over the training inputs"),
        ("sample_complexity", r"$\{0,1\}^{m}$ with $m\le w$"),
        ("sample_complexity", r"of which some may be the same"),
        ("turing", r"\#\{1 \le i \le T : h^{st} \ne z_i\}"),
        ("turing", r"$z_i$: state of the machine after step $i$, one-hot"),
        ("turing", r"$l_i$: location of the head after step $i$"),
        ("turing", r"$i'$: the largest $t$ with $1\le t\le i$ and $l_{t-1} = l_{i}$, 0 if there is none"),
        ("turing", r"the first $j$ bits of $i'$ after $j$ steps of the binary search, for some $j$"),
        ("turing", r"each one-hot, and 0 beyond its length"),
        ("turing", r"here one for each state, each symbol and each bit of a position"),
        ("turing_margin", r"every input of at most $T$ symbols"),
        ("turing_margin", r"a polynomial with positive values"),
    ],
)  # fmt: skip
def test_what_a_bound_needs_is_said(id: str, words: str) -> None:
    assert words in theorem_latex(find_result(f"machines.{id}"))


# At one key the formula is log 0; a key leads by 1 where there is another.
def test_a_sufficient_temperature_is_stated_where_there_are_two_keys() -> None:
    domain = find_result("machines.turing").quantity("inverse_temperature").domain
    assert domain == "n >= 2 keys, a largest score that leads by 1, values that are bits"


# The parameters of a network of inputs wider than its layers are more than those that the bound counts.
@pytest.mark.parametrize(("w", "d", "m"), [(1, 1, 1), (3, 1, 3), (3, 2, 5), (2, 3, 7)])
def test_the_parameters_of_a_circuit_are_counted_where_inputs_are_no_wider_than_layers(w: int, d: int, m: int) -> None:
    widths = [m, *[w] * d, 1]
    entries = sum(rows * (columns + 1) for columns, rows in itertools.pairwise(widths))
    assert (entries <= theory.FEEDFORWARD_PARAMETERS.subs({theory.w: w, theory.d: d})) == (m <= w)
