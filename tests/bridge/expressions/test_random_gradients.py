"""Gradients of random graphs, in which values are used several times, in layers and out of them."""

import random
from typing import Any

import pytest

import boundsmith as bs
from bridge.expressions.inputs import Input
from bridge.expressions.matrices import MatrixImage
from bridge.expressions.running import nodes_of
from tests.bridge.expressions.gradient_cases import (
    PAIR,
    A,
    B,
    N,
    W,
    X,
    by_autograd,
    c,
    drawn,
    gelu,
    k,
    numbers,
    tanh,
    x,
    y,
)
from tests.bridge.expressions.gradient_reader import Reader


class Grown:
    """A graph that grows by random moves."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.loops = 0

    def matrix(self) -> Any:
        return self.draw.choice((W, A, B))

    def grow(self, vectors: list[Any], tokens: list[Any], moves: int, *, deeper: bool = True) -> None:
        names = ["image", "tokens image", "sum", "product", "function", "norm", "attend", "mean", "halves", "weights"]
        for _ in range(moves):
            name = self.draw.choice([*names, *(["repeat", "repeat tokens"] if deeper and self.loops < 3 else [])])
            to = tokens if name in ("tokens image", "weights", "repeat tokens") else vectors
            to.append(getattr(self, name.replace(" ", "_"))(vectors, tokens))

    def image(self, vectors: list[Any], tokens: list[Any]) -> Any:
        return self.matrix() @ self.draw.choice(vectors)

    def tokens_image(self, vectors: list[Any], tokens: list[Any]) -> Any:
        return gelu(self.matrix() @ self.draw.choice(tokens)) - self.draw.choice(tokens) / 2

    def sum(self, vectors: list[Any], tokens: list[Any]) -> Any:
        return self.draw.choice(vectors) - c * self.draw.choice(vectors)

    def product(self, vectors: list[Any], tokens: list[Any]) -> Any:
        return self.draw.choice(vectors) * tanh(self.draw.choice(vectors))

    def function(self, vectors: list[Any], tokens: list[Any]) -> Any:
        return self.draw.choice((tanh, gelu))(self.draw.choice(vectors))

    def norm(self, vectors: list[Any], tokens: list[Any]) -> Any:
        return bs.blocks.rms_norm(self.draw.choice(vectors), shift=c)

    def attend(self, vectors: list[Any], tokens: list[Any]) -> Any:
        scores = self.draw.choice(tokens) @ self.draw.choice(vectors)
        return bs.attend(bs.softmax(scores), self.draw.choice(tokens))

    def weights(self, vectors: list[Any], tokens: list[Any]) -> Any:
        keys = bs.blocks.rms_norm(self.draw.choice(tokens), shift=c)
        return bs.attend(bs.softmax(keys @ self.draw.choice(tokens)), self.draw.choice(tokens))

    def mean(self, vectors: list[Any], tokens: list[Any]) -> Any:
        return bs.mean(self.draw.choice(tokens))

    def halves(self, vectors: list[Any], tokens: list[Any]) -> Any:
        return PAIR @ bs.concatenate(self.draw.choice(vectors), self.draw.choice(vectors))

    def repeat(self, vectors: list[Any], tokens: list[Any]) -> Any:
        self.loops += 1

        def layer(p: Any) -> Any:
            inner = [*vectors, p]
            self.grow(inner, list(tokens), 3)
            return tanh(inner[-1] + p / 2)

        return bs.repeat(layer, self.draw.choice(vectors), self.draw.choice((N, k)))

    def repeat_tokens(self, vectors: list[Any], tokens: list[Any]) -> Any:
        self.loops += 1

        def layer(p: Any) -> Any:
            inner = [*tokens, p]
            self.grow(list(vectors), inner, 3)
            return tanh(inner[-1] - p)

        return bs.repeat(layer, self.draw.choice(tokens), self.draw.choice((N, k)))

    def loss(self) -> Any:
        vectors, tokens = [x, y], [X]
        self.grow(vectors, tokens, 8)
        last = tanh(sum(vectors[3:], vectors[2]))
        return last @ last + last @ bs.mean(tokens[-1])


@pytest.mark.parametrize("seed", range(40))
def test_random_graphs_have_the_gradient_of_automatic_differentiation_run_and_read(seed: int) -> None:
    loss = Grown(seed).loss()
    used = {node.matrix.name: node.matrix for node in nodes_of([loss]) if isinstance(node, MatrixImage)}
    seen = {node.name: node for node in nodes_of([loss]) if isinstance(node, Input)}
    gradient = bs.gradient(loss, *used.values(), *seen.values())
    arrays = drawn(gradient, seed)
    expected = by_autograd(gradient, arrays)
    run, read = gradient(**arrays, **numbers(gradient)), dict(Reader(gradient, arrays).gradients())
    for name, each in expected.items():
        near = 1e-10 * (1 + float(abs(each).max()))
        assert float(abs(run[name] - each).max()) <= near
        assert float(abs(read[name] - each).max()) <= near
    letters = [gradient.pages.lines.naming.letters[line.left] for line in gradient.pages.lines.forward]
    assert len(set(letters)) == len(letters)
