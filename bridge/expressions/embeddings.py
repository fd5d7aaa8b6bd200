"""Embeddings: rows of a table, weighed by the entries of a vector, such as 1 at a token and 0 elsewhere."""

from collections.abc import Iterator
from typing import Any

from bridge.expressions.expression import Asking, Candidate, Expression, Running, composed, require_shape, same
from bridge.expressions.matrices import Key, Matrix, MatrixImage, all_norms
from bridge.readings.network import DUAL
from symbolic.words.errors import UsageError


class RowsOfTable(MatrixImage):
    """A^T x, token by token."""

    def __init__(self, table: Matrix, x: Expression) -> None:
        self.matrix, self.parts, self.dim, self.count = table, (x,), table.columns, x.count
        require_shape(f"embedding: {table.name} has {table.rows} rows", same(table.rows, x.dim), x)
        self.label = composed(f"{table.name}^T {x.label}", f"rows of {table.name}")

    @property
    def handle(self) -> str:
        return f"{self.matrix.name}_T"

    # ||A^T|| from p to q is ||A|| from the dual norm of q to that of p.
    def candidates(self, asking: Asking) -> Iterator[Candidate]:
        change = self.matrix.change
        near = {} if change is None else all_norms(change.distances)
        for key, bound in all_norms(self.matrix.norms).items():
            if change is None or key in near:
                yield self._candidate(asking, _dual(key), bound, near.get(key))

    def run(self, running: Running) -> Any:
        return running.value(self.parts[0]) @ self.matrix.array(running)


def _dual(key: Key) -> Key:
    return DUAL[key[1]], DUAL[key[0]]


def embedding(table: Any, x: Any) -> RowsOfTable:
    """The rows of `table`, one for each word, weighed by the entries of x: 1 at a word and 0 elsewhere picks its row.

    `table` is `bs.matrix(name, words, d, row_norms=)`, `table @ h` its logits. With exact x of 1-norm 1, such as
    `bs.tokens(name, n, words, sums=1, domain=bs.domains.Simplex(words))`, the error is that of one row.
    """
    if not isinstance(table, Matrix) or not isinstance(x, Expression):
        given = f"{type(table).__name__} and {type(x).__name__}"
        raise UsageError(f"embedding: expected a matrix and an expression, got {given}")
    if table.layers is not None:
        raise UsageError(f"embedding: {table.name} is one matrix for each layer; give one table")
    return RowsOfTable(table, x)
