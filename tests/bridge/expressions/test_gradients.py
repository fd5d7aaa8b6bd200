"""Gradients of expressions: equal to automatic and to numeric differentiation; balls enclose them; what is printed."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import mpmath
import pytest
import sympy as sp
import torch

import boundsmith as bs
from bridge.expressions.backward import FormulasAtPrompt
from bridge.expressions.cotangents import formula, is_leaf
from bridge.expressions.gradient_lines import FormulaLine
from bridge.expressions.running import GraphRun
from symbolic.gradients.letters import LayerIndex, Letter
from symbolic.gradients.terms import Coordinates, LayerSum, Lettered, OnesVector, Term, UnitVector, Unity
from symbolic.latex.page import PAGE
from symbolic.latex.widths import width

N, d, h, n, k = sp.symbols("N d h n k", integer=True, positive=True)
c, eps = sp.symbols("c eps", positive=True)
NUMBERS = {"N": 3, "d": 3, "h": 4, "n": 5, "k": 2, "c": 0.3, "eps": 0.1}

W, A, B = (bs.matrix(name, d, d, row_sums=1) for name in ("W", "A", "B"))
U, D = bs.matrix("U", h, d, row_sums=1), bs.matrix("D", d, h, row_sums=1)
L = bs.matrix("L", d, d, row_sums=1, layers=N)
row = bs.matrix("row", 1, d, row_sums=1)
x, y, b, q = (bs.vector(name, d, size=1) for name in ("x", "y", "b", "q"))
bias = bs.vector("bias", h, size=1, weight=True)
X, Y, S = bs.tokens("X", n, d, size=1), bs.tokens("Y", n, d, size=1), bs.tokens("S", N, d, size=1)
Z = bs.tokens("Z", n, h, size=1)
tanh = bs.function(sp.tanh)
gelu = bs.function(lambda t: t * (1 + sp.erf(t / sp.sqrt(2))) / 2, name="gelu", lipschitz=2)
logistic = bs.function(lambda t: sp.log(1 + sp.exp(-t)), name="logistic")


def squares(output: Any) -> Any:
    r = output - y
    return r @ r


def block(p: Any) -> Any:
    """Pre-norm, with a gated unit."""
    z = bs.rms_norm(p, shift=c)
    return p + D @ (gelu(U @ z) * (U @ z + bias))


def attention(tokens: Any) -> Any:
    return bs.attend(bs.softmax((A @ tokens) @ (B @ tokens)), W @ tokens)


W_1, W_2 = bs.matrix("W_1", h, d, row_sums=1, layers=N), bs.matrix("W_2", d, h, row_sums=1, layers=N)
W_Q, W_K, W_V = (bs.matrix(f"W_{name}", d, d, row_sums=1, layers=N) for name in "QKV")


def transformer(tokens: Any) -> Any:
    """A pre-norm block with attention and a hidden layer, each layer with its own matrices."""
    z = bs.rms_norm(tokens, shift=c)
    tokens = tokens + bs.attend(bs.softmax((W_K @ z) @ (W_Q @ z) / sp.sqrt(d)), W_V @ z)
    return tokens + W_2 @ gelu(W_1 @ bs.rms_norm(tokens, shift=c))


def nested() -> Any:
    """Layers within layers, the inner ones with matrices of their own; x enters each of the outer ones."""
    return bs.repeat(lambda p: bs.repeat(lambda g: tanh(L @ g + W @ x), p, N) + A @ p, x, k)


def around() -> Any:
    """Layers within layers, the inner ones from x, each beside the argument of the outer one."""
    return bs.repeat(lambda p: p + bs.repeat(lambda g: tanh(W @ g + A @ p), x, N), B @ x, k)


def twice() -> Any:
    """Two repetitions with one matrix; what is between them counts twice."""
    middle = bs.repeat(lambda p: tanh(W @ p), x, N)
    return middle + bs.repeat(lambda p: p + c * tanh(W @ p), A @ middle, k)


CASES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "shared layers": (squares(bs.repeat(lambda p: tanh(W @ p), x, N)), (W, x, y)),
    "a matrix of each layer": (squares(bs.repeat(lambda p: tanh(L @ p + b), x, N)), (L, b)),
    "widths and a bias": (squares(D @ tanh(U @ x + bias)), (U, D, bias)),
    "residual layers": (squares(bs.repeat(lambda p: p + c * tanh(W @ p), x, N)), (W,)),
    "pre-norm blocks with a gated unit": (squares(bs.repeat(block, x, N)), (U, D, bias)),
    "attention": (squares(bs.mean(attention(X))), (A, B, W, X)),
    "attention of one query": (squares(bs.attend(bs.softmax((A @ X) @ (B @ q)), W @ X)), (A, B, W, q)),
    "blocks of attention": (
        squares(bs.mean(bs.repeat(lambda p: bs.rms_norm(p + attention(p), shift=c), X, N))),
        (A, B, W, X),
    ),
    "tokens of layers": (squares(bs.repeat(lambda p, layer: tanh(A @ p + B @ S[layer]), x, N)), (A, B, S)),
    "an input to each layer": (squares(bs.repeat(lambda p: tanh(W @ p + A @ x), x, N)), (W, A, x)),
    "layers within layers": (squares(nested()), (L, W, A, x)),
    "a transformer": (
        logistic(y @ bs.mean(bs.repeat(transformer, X, N))).named("loss"),
        (W_Q, W_K, W_V, W_1, W_2, X),
    ),
    "layers around layers": (squares(around()), (W, A, B, x)),
    "two repetitions": (squares(twice()), (W, A)),
    "a loss that is a repetition": (
        bs.repeat(lambda p: tanh(bs.matrix("small", 1, 1, row_sums=1) @ p + c * (row @ x)), row @ x, N),
        (row, x),
    ),
    "one layer's end is its argument": (squares(bs.repeat(lambda p: p, W @ x, N)), (W,)),
    "layers that forget": (squares(bs.repeat(lambda p: A @ x, W @ x, N)), (W, A)),
    "a concatenation": (bs.concatenate(W @ x, tanh(U @ x)) @ bs.concatenate(y, bias), (W, U, bias)),
    "a concatenation of tokens": (
        squares(bs.mean(A @ (bs.matrix("J", d, d + h, row_sums=1) @ bs.concatenate(X, gelu(Z))))),
        (A, X, Z),
    ),
    "a product of tokens": (squares(bs.mean((A @ X) * gelu(B @ X))), (A, B, X)),
    "a loss of a function": (logistic(row @ tanh(W @ x)), (row, W)),
    "a linear loss": (3 * (y @ (W @ x)) / 4, (W, x)),
    "a hard max of what is fixed": (squares(bs.attend(bs.hard_max(X @ q, margin=c), W @ X)), (W,)),
    "a grid, exactly": (squares(bs.quantised(W @ x, eps)), (W,)),
    "the largest keys, exactly": (squares(bs.attend(bs.softmax((A @ X) @ q).largest(2), W @ X)), (A, W)),
}
every_case = pytest.mark.parametrize("case", CASES, ids=list(CASES))


def shapes(gradient: Any) -> dict[str, tuple[int, ...]]:
    return {name: tuple(int(s.subs({each: NUMBERS[each.name] for each in s.free_symbols})) for s in shape)
            for name, shape in gradient._shapes.items()}  # fmt: skip


def drawn(gradient: Any, seed: int = 0, *batch: int) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return {name: torch.randn(*batch, *shape, generator=generator, dtype=torch.float64, device="cpu")
            for name, shape in shapes(gradient).items()}  # fmt: skip


def numbers(gradient: Any) -> dict[str, float]:
    return {name: NUMBERS[name] for name in gradient._letters}


def as_dict(gradient: Any, found: Any) -> dict[str, Any]:
    return found if isinstance(found, dict) else {gradient.flows.by[0].name: found}


def by_autograd(gradient: Any, known: dict[str, Any], *, approximate: bool = False) -> dict[str, torch.Tensor]:
    """Of the program of the network, which is not derived from the formulas."""
    names = [each.name for each in gradient.flows.by]
    moving = {name: known[name].clone().requires_grad_() for name in names}
    run = GraphRun({**NUMBERS, **known, **moving}, approximate=approximate)
    found = torch.autograd.grad(run.value(gradient.flows.loss).sum(), list(moving.values()), materialize_grads=True)
    return dict(zip(names, found, strict=True))


@every_case
@pytest.mark.parametrize("seed", [1, 2])
def test_it_is_what_automatic_differentiation_gives(case: str, seed: int) -> None:
    loss, by = CASES[case]
    gradient = bs.gradient(loss, *by)
    arrays = drawn(gradient, seed)
    found, expected = as_dict(gradient, gradient(**arrays, **numbers(gradient))), by_autograd(gradient, arrays)
    assert list(found) == [each.name for each in by]
    assert max(float(abs(each).max()) for each in expected.values()) > 1e-3
    for name, each in expected.items():
        assert found[name].shape == each.shape
        assert float(abs(found[name] - each).max()) <= 1e-10 * (1 + float(abs(each).max()))


@every_case
def test_one_parameter_alone_has_the_same_gradient(case: str) -> None:
    loss, by = CASES[case]
    together = bs.gradient(loss, *by)
    arrays = drawn(together, 3)
    expected = as_dict(together, together(**arrays, **numbers(together)))
    for each in by:
        alone = bs.gradient(loss, each)
        assert torch.allclose(alone(**arrays, **numbers(alone)), expected[each.name], rtol=1e-12, atol=1e-13)


# The formulas that are printed forward are not those that are run there: the nodes run themselves.
@every_case
def test_the_formulas_forward_are_what_the_nodes_compute(case: str) -> None:
    loss, by = CASES[case]
    gradient = bs.gradient(loss, *by)
    run = GraphRun({**NUMBERS, **drawn(gradient)}, approximate=False)
    checked = 0
    for node in gradient.flows.within(None):
        if not is_leaf(node) and not node.inner:
            found = FormulasAtPrompt(run).array(formula(node, approximate=False))
            assert torch.allclose(found, run.value(node), rtol=1e-12, atol=1e-13)
            checked += 1
    assert checked >= 2


# What is printed stands alone: a reader who knows the letters that are declared runs the lines from top to bottom.


class Reader:
    """Runs lines. A letter with its numbers of layers is known once a line has defined it."""

    def __init__(self, gradient: Any, arrays: Mapping[str, torch.Tensor]) -> None:
        self.lines, self.arrays = gradient.pages.lines, arrays
        self.letters, self.known = self.lines.naming.letters, dict[tuple[Any, ...], torch.Tensor]()
        self.at: dict[sp.Symbol, int] = {}
        self.prompt = FormulasAtPrompt(GraphRun({**NUMBERS, **arrays}, approximate=False))

    def key(self, letter: Letter) -> tuple[Any, ...]:
        return letter.name, letter.accent, *(self.number(index) for index in letter.indices)

    def number(self, expr: sp.Expr) -> int:
        return int(expr.subs(self.at).subs({s: NUMBERS[s.name] for s in expr.free_symbols if s.name in NUMBERS}))

    def value(self, term: Term) -> torch.Tensor:
        """By the same operations on arrays, all letters looked up here."""
        reader = self

        class Looked(FormulasAtPrompt):
            def array(self, term: Term) -> Any:
                return reader.looked(term, super().array)

        return Looked(self.prompt.run).array(term)

    def looked(self, term: Term, otherwise: Callable[[Term], Any]) -> Any:
        if isinstance(term, Lettered):
            return self.lettered(term)
        if isinstance(term, Unity):
            return torch.ones(1, dtype=torch.float64, device="cpu")
        if isinstance(term, OnesVector):
            size = term.like.of.dim if term.axis == -1 else term.like.of.count
            return torch.ones(self.number(size), dtype=torch.float64, device="cpu")
        if isinstance(term, UnitVector):
            rows = self.arrays[self.letters[term.like].name]
            return torch.eye(len(rows), dtype=rows.dtype, device=rows.device)[self.at[self.loop(term.loop).index] - 1]
        if isinstance(term, Coordinates):
            first = self.number(sp.Add(*(size for _, size in term.before)))
            return self.value(term.of)[..., first : first + self.number(term.own[1])]
        if isinstance(term, LayerSum):
            return sum(self.each_layer(self.loop(term.loop), lambda: self.value(term.of)))
        return otherwise(term)

    def loop(self, of: Any) -> LayerIndex:
        return self.lines.naming.loops[of]

    def each_layer(self, loop: LayerIndex, run: Callable[[], Any], *, backward: bool = False) -> list[Any]:
        found, layers = [], range(1, self.number(loop.depth) + 1)
        for layer in reversed(layers) if backward else layers:
            self.at[loop.index] = layer
            found.append(run())
        del self.at[loop.index]
        return found

    def lettered(self, of: Lettered) -> torch.Tensor:
        letter = self.letters[of]
        if letter.name in self.arrays and not letter.accent:  # declared, not defined
            array = self.arrays[letter.name]
            return array[self.number(letter.indices[-1]) - 1] if letter.indices else array
        return self.known[self.key(letter)]

    def run(self, lines: Sequence[FormulaLine], depth: int = 0, *, backward: bool = False) -> None:
        for inner, group in groupby(lines, key=lambda line: line.loops[depth] if len(line.loops) > depth else None):
            own = list(group)
            if inner is None:
                for line in own:
                    self.known[self.key(self.letters[line.left])] = self.value(line.right)
            else:
                self.each_layer(inner, lambda own=own: self.run(own, depth + 1, backward=backward), backward=backward)

    def gradients(self) -> Iterator[tuple[str, torch.Tensor]]:
        self.run(self.lines.forward)
        self.run(self.lines.backward, backward=True)
        for line in self.lines.gradients:
            name = self.letters[line.left].name
            if line.loops:
                yield name, torch.stack(self.each_layer(*line.loops, lambda line=line: self.value(line.right)))
            else:
                yield name, self.value(line.right)


@every_case
def test_the_lines_that_are_printed_give_the_gradient_and_define_each_letter_before_its_use(case: str) -> None:
    loss, by = CASES[case]
    gradient = bs.gradient(loss, *by)
    arrays = drawn(gradient, 4)
    found, expected = dict(Reader(gradient, arrays).gradients()), by_autograd(gradient, arrays)
    assert list(found) == list(expected)
    for name, each in expected.items():
        assert torch.allclose(found[name], each, rtol=1e-9, atol=1e-10)


# Batches, balls, differences.


@pytest.mark.parametrize(
    "case", ["shared layers", "attention", "tokens of layers", "pre-norm blocks with a gated unit"]
)
def test_a_batch_of_prompts_gives_a_batch_of_gradients(case: str) -> None:
    loss, by = CASES[case]
    gradient = bs.gradient(loss, *by)
    arrays, of_prompt = drawn(gradient, 5), {"x", "y", "X", "S"} & set(shapes(gradient))
    batches = {name: torch.stack([arrays[name], -arrays[name], arrays[name] / 2]) for name in of_prompt}
    found = as_dict(gradient, gradient(**{**arrays, **batches}, **numbers(gradient)))
    for place in range(3):
        prompt = {**arrays, **{name: batch[place] for name, batch in batches.items()}}
        for name, each in as_dict(gradient, gradient(**prompt, **numbers(gradient))).items():
            assert torch.allclose(found[name][place], each, rtol=1e-12, atol=1e-13)


@every_case
def test_balls_enclose_the_gradient(case: str) -> None:
    loss, by = CASES[case]
    gradient = bs.gradient(loss, *by)
    arrays = drawn(gradient, 6)
    wide, fine = (as_dict(gradient, gradient.enclosed(bits, **arrays, **numbers(gradient))) for bits in (80, 200))
    for name, each in by_autograd(gradient, arrays).items():
        assert float(wide[name].radius().max()) < 1e-7
        assert float(fine[name].radius().max()) < 1e-40
        assert wide[name].entries.shape == tuple(each.shape)
        assert all(a.contains(b.mid()) for a, b in zip(wide[name].entries.flat, fine[name].entries.flat, strict=True))
        assert abs(fine[name].midpoint() - each.numpy()).max() <= 1e-10 * (1 + float(abs(each).max()))


def test_balls_of_a_batch() -> None:
    gradient = bs.gradient(*CASES["shared layers"][:1], W)
    arrays = drawn(gradient, 7)
    pair = torch.stack([arrays["x"], -arrays["x"]])
    found = gradient.enclosed(**{**arrays, "x": pair}, N=3)
    assert found.shape == (2, 3, 3)
    one = gradient.enclosed(**{**arrays, "x": pair[1]}, N=3)
    assert abs(found[1].midpoint() - one.midpoint()).max() == 0


def by_differences(loss: Callable[[mpmath.matrix], Any], at: mpmath.matrix) -> mpmath.matrix:
    """Central differences of step 1e-15 in 50 digits, each within 1e-28 of the derivative."""
    found, step = mpmath.matrix(at.rows, at.cols), mpmath.mpf(10) ** -15
    for i in range(at.rows):
        for j in range(at.cols):
            ends = []
            for sign in (1, -1):
                moved = at.copy()
                moved[i, j] += sign * step
                ends.append(loss(moved))
            found[i, j] = (ends[0] - ends[1]) / (2 * step)
    return found


def deep_loss(w: mpmath.matrix, x: mpmath.matrix, y: mpmath.matrix) -> Any:
    """|| p_3 - y ||^2 for p_l = p_(l-1) + c tanh(W p_(l-1)), written by hand."""
    for _ in range(3):
        x = x + mpmath.mpf(0.3) * (w * x).apply(mpmath.tanh)
    return sum(entry**2 for entry in x - y)


def attention_loss(w: mpmath.matrix, prompt: mpmath.matrix, keys: mpmath.matrix, x: mpmath.matrix) -> Any:
    """The squared length of softmax attention of one query x, the queries by W."""
    scores = prompt * keys.T * (w * x)
    weights = [mpmath.exp(score) for score in scores]
    total = sum(weights)
    output = [sum(a * prompt[i, j] for i, a in enumerate(weights)) / total for j in range(prompt.cols)]
    return sum(entry**2 for entry in output)


def test_balls_enclose_differences_of_fifty_digits() -> None:
    residual = bs.gradient(CASES["residual layers"][0], W)
    o = bs.attend(bs.softmax((A @ X) @ (W @ x)), X)
    attending = bs.gradient(o @ o, W)
    arrays = {**drawn(residual, 8), **drawn(attending, 8)}
    with mpmath.workdps(50):
        w, keys, prompt = (mpmath.matrix(arrays[name].tolist()) for name in ("W", "A", "X"))
        x_, y_ = (mpmath.matrix(arrays[name].tolist()) for name in ("x", "y"))
        expected = {
            residual: by_differences(lambda w: deep_loss(w, x_, y_), w),
            attending: by_differences(lambda w: attention_loss(w, prompt, keys, x_), w),
        }
        for gradient, differences in expected.items():
            own = {name: arrays[name] for name in shapes(gradient)}
            found = gradient.enclosed(200, **own, **numbers(gradient))
            for i in range(3):
                for j in range(3):
                    assert abs(mpmath.mpf(found.entries[i, j].mid().str(50, radius=False)) - differences[i, j]) < 1e-24


# The network that runs.

near = tanh.approximated(lambda t: (1 - eps) * sp.tanh(t))
rounded, moved = W.rounded(eps), W.within(eps)
RUN: dict[str, tuple[Any, Any]] = {
    "a function and a rounded matrix": (squares(bs.repeat(lambda p: near(rounded @ p), x, N)), rounded),
    "a matrix nearby": (squares(tanh(moved @ x)), moved),
    "the largest keys": (squares(bs.attend(bs.softmax((A @ X) @ q).largest(k), W @ X)), A),
    "the keys of a mask": (squares(bs.attend(bs.softmax((A @ X) @ q).keeping(lambda k: first(k)), W @ X)), A),
    "softmax in the place of a hard max": (
        squares(bs.attend(bs.hard_max((A @ X) @ q, margin=c).by_softmax(eps), W @ X)),
        A,
    ),
}


def first(kept: int) -> torch.Tensor:
    """A mask of the first keys."""
    places = torch.arange(NUMBERS["n"], dtype=torch.int64, device="cpu")
    return (places < kept).to(torch.float64)


@pytest.mark.parametrize("case", RUN)
def test_the_gradient_of_the_network_that_runs(case: str) -> None:
    loss, by = RUN[case]
    gradient = bs.gradient(loss, by, approximate=True)
    arrays = drawn(gradient, 9)
    hat = {"W_hat": torch.round(arrays["W"] / 0.1) * 0.1 if by is rounded else arrays["W"] + arrays.get("dW", 0)}
    run = {**NUMBERS, **arrays, **hat, "kept": first(2)}
    name = "W_hat" if by in (rounded, moved) else by.name
    at = run[name].clone().requires_grad_()
    value = GraphRun({**run, name: at}, approximate=True).value(loss)
    (expected,) = torch.autograd.grad(value.sum(), at)
    found = gradient(**arrays, **numbers(gradient))
    assert float(abs(expected).max()) > 1e-4
    assert torch.allclose(found, expected, rtol=1e-10, atol=1e-12)
    balls = gradient.enclosed(**arrays, **numbers(gradient))
    assert float(balls.radius().max()) < 1e-20
    assert abs(balls.midpoint() - expected.numpy()).max() <= 1e-10
    if "hard max" not in case:
        exact = bs.gradient(loss, by)
        of_exact = exact(**{name: arrays[name] for name in shapes(exact)}, **numbers(exact))
        assert not torch.allclose(found, of_exact, rtol=1e-3)


def test_a_kink_has_the_mean_of_both_sides() -> None:
    relu = bs.function(lambda t: sp.Max(t, 0), name="relu")
    for function, at_zero in ((relu, 0.5), (bs.function(sp.Abs), 0.0)):
        gradient = bs.gradient(y @ function(x), x)
        arrays = {"x": torch.tensor([0.0, 2.0, -2.0]).double(), "y": torch.ones(3).double()}
        assert gradient(**arrays).tolist() == [at_zero, 1.0, 0.0 if function is relu else -1.0]


def test_without_layers_the_gradient_is_that_of_the_start() -> None:
    gradient = bs.gradient(squares(bs.repeat(lambda p: tanh(W @ p), A @ x, N)), W, A)
    arrays = drawn(gradient, 10)
    found = gradient(**arrays, N=0)
    assert not found["W"].any()
    assert torch.allclose(found["A"], 2 * torch.outer(arrays["A"] @ arrays["x"] - arrays["y"], arrays["x"]))


# What it looks like.


def test_the_gradient_of_n_layers_in_print() -> None:
    residual = (bs.repeat(lambda p: tanh(W @ p), x, N) - y).named("r")
    expected = """\
the gradient of L, where N and d are positive integers, x in R^d, y in R^d, W in R^(d x d), and forward
  p_0 = x
  z_l = W p_(l-1)   l = 1, ..., N
  p_l = tanh(z_l)   l = 1, ..., N
    r = p_N - y
    L = r^T r
backward, where a bar marks the derivative of L by a value
      p_bar_N = 2 r
      z_bar_l = tanh'(z_l) * p_bar_l   l = N, ..., 1
  p_bar_(l-1) = W^T z_bar_l            l = N, ..., 1
the gradient
  dL/dW = sum_(l=1)^N z_bar_l p_(l-1)^T
where
  tanh'(t) = 1 - tanh(t)^2
  * is the product entry by entry; functions act entry by entry"""
    assert str(bs.gradient(residual @ residual, W)) == repr(bs.gradient(residual @ residual, W)) == expected


def test_each_matrix_of_a_layer_has_a_line() -> None:
    text = str(bs.gradient(*CASES["a matrix of each layer"][:1], L))
    assert "L_1, ..., L_N in R^(d x d)" in text
    assert "dJ/dL_l = z_bar_l p_(l-1)^T   l = 1, ..., N" in text


def test_the_network_that_runs_has_hats_and_says_what_they_are() -> None:
    text = str(bs.gradient(*RUN["a function and a rounded matrix"], approximate=True))
    assert "dL/dW_hat = sum_(l=1)^N z_bar_l p_(l-1)^T" in text
    assert "tanh_hat(t) = (1 - eps) tanh(t)" in text
    assert "W_hat is W with each entry rounded to the nearest multiple of eps" in re.sub(r"\s+", " ", text)
    cut = str(bs.gradient(*RUN["the largest keys"], approximate=True))
    assert "softmax_k is softmax over the k largest entries" in cut
    assert "softmax_kept is softmax over those of the mask" in str(
        bs.gradient(*RUN["the keys of a mask"], approximate=True)
    )


COMMAND = re.compile(r"\\[A-Za-z]+")
WORDS = re.compile(r"\\(begin|end)\{[^}]*\}|\\(mathrm|operatorname|text)\{[^}]*\}|\\[A-Za-z]+")


@every_case
def test_no_two_values_have_one_letter(case: str) -> None:
    lines = bs.gradient(*CASES[case][:1], *CASES[case][1]).pages.lines
    letters, flows = lines.naming.letters, lines.flows
    of_loops = [letters[Lettered("value", loop, 1 if loop.count is None else 2)].name for loop in flows.loops.values()]
    defined = [letters[line.left].name for line in lines.forward]
    names = [*of_loops, *(name for name in defined if name not in of_loops)]
    assert len(set(names)) == len(names)
    assert not set(names) & {*lines.naming.objects.inputs_of_graph, *lines.naming.objects.matrices}
    assert all(name.isalpha() for name in names)  # v_1 would be v_l for l = 1


@every_case
def test_its_latex_fits_the_page_and_declares_or_defines_each_letter(case: str) -> None:
    gradient = bs.gradient(*CASES[case][:1], *CASES[case][1])
    page = gradient.latex()
    displays = re.findall(r"\\\[ (.*?) \\\]", page, flags=re.DOTALL)
    assert displays
    assert max(width(each) for each in displays) <= PAGE
    assert page.count("{") == page.count("}")
    words = " ".join(
        page.split(r"\[")[0:1] + re.findall(r"^(.*?) &=", page, flags=re.MULTILINE) + page.split(r"\]")[-1:]
    )
    known = set(re.findall(r"[A-Za-z]", WORDS.sub(" ", words)))
    used = set(re.findall(r"[A-Za-z]", WORDS.sub(" ", " ".join(displays))))
    assert used - known <= {"t", "e"}  # the argument of functions, exp
    notebook = gradient._repr_markdown_()
    assert notebook.count("$$") == 2 * len(displays)
    assert notebook.replace("$$\n", "").replace("\n$$", "") == page.replace(r"\[ ", "").replace(r" \]", "")


# What is refused.

step = bs.function(lambda t: sp.floor(t), name="step", lipschitz=1, largest=1)
vague = bs.value("vague", lambda x: x, dim=d, size=1, inputs={"x": bs.domains.Box(d)})
other = bs.matrix("W", d, d, row_sums=2)
good = bs.gradient(squares(W @ x), W)
ARRAYS = {name: torch.ones(shape, dtype=torch.float64, device="cpu") for name, shape in shapes(good).items()}
WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "a loss that is a number": (
        lambda: bs.gradient(3, W),
        "gradient: the loss is int; give an expression in R^1, such as r @ r",
    ),
    "a vector": (
        lambda: bs.gradient(W @ x, W),
        "gradient: the loss W x is in R^d; give a number, an expression in R^1",
    ),
    "tokens": (lambda: bs.gradient(row @ X, X), "is in n tokens in R^1; give a number"),
    "no parameter": (
        lambda: bs.gradient(y @ x),
        "nothing to differentiate by; give a matrix or an input, gradient(loss, W)",
    ),
    "a matrix elsewhere": (
        lambda: bs.gradient(squares(W @ x), A),
        "gradient: A does not occur in the loss <W x + -1*y, W x + -1*y>, which has W, x, y",
    ),
    "another matrix of that name": (
        lambda: bs.gradient(squares(W @ x), other),
        "gradient: the loss has another W; give the one that it is made of",
    ),
    "an intermediate value": (
        lambda: bs.gradient(squares(W @ x), W @ x),
        "gradient: W x is a MatrixImage; give a matrix or an input: W, x, y",
    ),
    "a name": (lambda: bs.gradient(squares(W @ x), "W"), "gradient: W is a str; give a matrix or an input: W, x, y"),
    "two objects of a name": (lambda: bs.gradient(squares(W @ (other @ x)), W), "gradient: two objects are called 'W'"),
    "a hard max": (
        lambda: bs.gradient(squares(bs.attend(bs.hard_max((A @ X) @ q, margin=1), X)), A),
        "is a hard max, which has no derivative by its scores; write bs.softmax(beta * scores) in its place, or take "
        "hard_max(...).by_softmax(beta) and gradient(..., approximate=True)",
    ),
    "a grid": (
        lambda: bs.gradient(squares(bs.quantised(W @ x, eps)), W, approximate=True),
        "grid(W x) is on a grid, which has no derivative; leave approximate=True out",
    ),
    "a floor": (
        lambda: bs.gradient(squares(step(W @ x)), W),
        "gradient: step has no derivative, floor(t) jumps; give a continuous function in its place",
    ),
    "no matrix of a layer": (
        lambda: bs.gradient(squares(L @ x), L),
        "L is one matrix for each layer, and stands in no",
    ),
    "an array too few": (lambda: good(W=ARRAYS["W"], x=ARRAYS["x"]), "gradient: there is no y; give y=, a tensor"),
    "an unknown array": (
        lambda: good(**ARRAYS, V=ARRAYS["W"]),
        "gradient: V is no input, matrix or parameter of the loss; it has W, d, x, y",
    ),
    "a list": (lambda: good(**{**ARRAYS, "x": [1.0]}), "gradient: x is of the type list; give a tensor of floats"),
    "whole numbers": (
        lambda: good(**{**ARRAYS, "x": ARRAYS["x"].long()}),
        "gradient: x is of the type torch.int64; give a tensor of floats",
    ),
    "an array of another shape": (
        lambda: good(**{**ARRAYS, "W": ARRAYS["W"][:2]}),
        "gradient: W is 2 x 3; it is d x d with d = 3",
    ),
    "a size that is another": (lambda: good(**ARRAYS, d=3.5), "gradient: x is 3; it is d with d = 3.5"),
    "too many axes": (
        lambda: good(**{**ARRAYS, "x": ARRAYS["W"][None]}),
        "gradient: x has 3 axes; give d, or a batch of them",
    ),
    "batches of different sizes": (
        lambda: good(W=ARRAYS["W"], x=ARRAYS["W"], y=ARRAYS["W"][:2]),
        "gradient: batches of 2 and 3 prompts; make them equal",
    ),
    "no depth": (
        lambda: bs.gradient(squares(bs.repeat(lambda p: W @ p, x, N)), W)(**ARRAYS),
        "gradient: N does not follow from the shapes; give N=",
    ),
    "a depth that is text": (
        lambda: bs.gradient(squares(bs.repeat(lambda p: W @ p, x, N)), W)(**ARRAYS, N="3"),
        "gradient: N is of the type str; give an int or a float",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_refusal_says_what_came_and_what_to_do(case: str) -> None:
    call, words = WRONG[case]
    with pytest.raises(bs.UsageError, match=re.escape(words)):
        call()


def test_what_has_no_derivative_is_refused_only_where_the_parameter_passes_through_it() -> None:
    fixed = bs.attend(bs.hard_max((A @ X) @ q, margin=1), W @ X)
    assert bs.gradient(squares(fixed), W)
    with pytest.raises(bs.UsageError, match="hard max"):
        bs.gradient(squares(fixed), W, A)


def test_a_value_of_a_program_is_a_constant() -> None:
    gradient = bs.gradient(vague @ (W @ q), W)
    arrays = drawn(gradient, 11)
    at = torch.arange(3, dtype=torch.float64, device="cpu")
    assert torch.equal(gradient(**arrays, x=at), torch.outer(at, arrays["q"]))
    assert "vague is given" in str(gradient)
