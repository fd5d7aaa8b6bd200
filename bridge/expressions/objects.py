"""The objects of the expressions of one theorem, by name, and where their arrays come from."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import sympy as sp

from bridge.domains import Domain
from bridge.expressions.attention import CutSoftmaxOf
from bridge.expressions.cosine_features import FeatureScores
from bridge.expressions.draws import Draws, SampleMean
from bridge.expressions.expression import Expression, same
from bridge.expressions.formula_texts import object_text
from bridge.expressions.functions import Applied, Function
from bridge.expressions.grids import Quantised
from bridge.expressions.inputs import Input, TokenOfLayer, Value
from bridge.expressions.losses import CrossEntropyOf
from bridge.expressions.matrices import Matrix, MatrixImage
from bridge.expressions.matrix_norms import KINDS, norm_words
from bridge.expressions.positions import RotaryPositions
from bridge.expressions.preceding import PrecedingTokens
from bridge.expressions.recency import RecentWeights
from bridge.expressions.running import Program, nodes_of
from bridge.expressions.similarities import Similarity, SimilarityScores
from bridge.expressions.sinks import AttendBesideSink
from bridge.expressions.typed import reader_of
from bridge.limits.arguments import arguments_of, called_with
from symbolic.derivations.derivation import as_expr
from symbolic.statements.parameters import Hypothesis
from symbolic.words.errors import UsageError


@dataclass(frozen=True)
class Objects:
    """What the outputs of one theorem are made of, at the default values of its parameters."""

    id: str
    outputs: Sequence[Expression]
    parameters: Mapping[sp.Symbol, Any]
    more_inputs: Mapping[str, Domain] = field(default_factory=dict, kw_only=True)  # which programs take
    made_beside: Sequence[str] = field(default=(), kw_only=True)  # what a theorem makes, whose names letters may have

    @cached_property
    def nodes(self) -> list[Expression]:
        return nodes_of(self.outputs)

    @cached_property
    def at(self) -> dict[sp.Symbol, Any]:
        """The last values of the grid."""
        last = {s: x[-1] if isinstance(x, tuple | list | range) else x for s, x in self.parameters.items()}
        return {s: sp.Integer(x) if s.is_integer else sp.Float(x) for s, x in last.items()}

    @property
    def numbers(self) -> dict[str, Any]:
        """The same by name, as programs take them; and what is typed."""
        found = {s.name: int(x) if x.is_Integer else float(x) for s, x in self.at.items()}
        return found | {each.name: each.typed for each in self.typed}

    @cached_property
    def inputs_of_graph(self) -> dict[str, Input]:
        found = (node.of if isinstance(node, TokenOfLayer) else node for node in self.nodes)
        return self._by_name((each.name, each) for each in found if isinstance(each, Input))

    @cached_property
    def matrices(self) -> dict[str, Matrix]:
        return self._by_name((node.matrix.name, node.matrix) for node in self.nodes if isinstance(node, MatrixImage))

    @property
    def typed(self) -> list[Matrix]:
        """The matrices that whoever runs the theorem types."""
        return [each for each in self.matrices.values() if each.typed is not None]

    @cached_property
    def functions(self) -> dict[str, Function]:
        return self._by_name((node.function.name, node.function) for node in self.nodes if isinstance(node, Applied))

    @cached_property
    def values(self) -> dict[str, Value]:
        return self._by_name((node.name, node) for node in self.nodes if isinstance(node, Value))

    @cached_property
    def draws(self) -> dict[str, Draws]:
        return self._by_name((node.name, node) for node in self.nodes if isinstance(node, Draws))

    @cached_property
    def grids(self) -> dict[str, Quantised]:
        return self._by_name((node.handle, node) for node in self.nodes if isinstance(node, Quantised))

    @cached_property
    def similarities(self) -> dict[str, Similarity]:
        found = (node.similarity for node in self.nodes if isinstance(node, SimilarityScores))
        return self._by_name((each.name, each) for each in found)

    @cached_property
    def preceding(self) -> dict[str, PrecedingTokens]:
        return self._by_name((node.name, node) for node in self.nodes if isinstance(node, PrecedingTokens))

    @property
    def letters_known(self) -> dict[sp.Symbol, tuple[str, Callable[..., Any]]]:
        """The letters of similarities and of heads, each in words and as a program of parameters."""
        known = [each.letters for each in self.similarities.values()]
        known += [each.letters for each in self.preceding.values()]
        return {letter: each for letters in known for letter, each in letters.items()}

    @property
    def featured(self) -> list[FeatureScores]:
        """The scores whose features are drawn. Raises UsageError for features of vectors of two dimensions."""
        found = [node for node in self.nodes if isinstance(node, FeatureScores)]
        for node, other in pairwise(sorted(found, key=lambda node: node.similarity.name)):
            if node.similarity is other.similarity and not same(node.coordinates, other.coordinates):
                raise UsageError(
                    f"{self.id}: {node.similarity.name} has features of one dimension, and scores vectors in "
                    f"R^{node.coordinates} and R^{other.coordinates}; give one of them another name"
                )
        return found

    def _by_name(self, named: Iterator[tuple[str, Any]]) -> dict[str, Any]:
        """Raises UsageError for two objects of one name."""
        found: dict[str, Any] = {}
        for name, each in named:
            if found.setdefault(name, each) is not each:
                raise UsageError(f"{self.id}: two objects are called '{name}'; give one of them another name")
        return found

    @cached_property
    def worst(self) -> dict[sp.Symbol, sp.Expr]:
        """Of the largest |g| of f_hat - f = share * g, and of weights that nodes see, under the hypotheses."""
        of_functions = {f.letter: f.largest_difference for f in self.functions.values() if f.letter is not None}
        return of_functions | {letter: node.worst for letter, node in self.seeing.items() if node.worst is not None}

    @cached_property
    def seeing(self) -> dict[sp.Symbol, Expression]:
        """The nodes with a letter of their own."""
        return {node.letter: node for node in self.nodes if node.letter is not None}

    @property
    def sinks(self) -> list[AttendBesideSink]:
        return [node for node in self.nodes if isinstance(node, AttendBesideSink)]

    @property
    def cuts(self) -> list[CutSoftmaxOf]:
        return [node for node in self.nodes if isinstance(node, CutSoftmaxOf)]

    def number_letters(self) -> None:
        """Gives several nodes of one kind letters that differ; tells values of parameters alone that they are."""
        for value in self.values.values():
            value.is_fixed = set(value.takes) <= {letter.name for letter in self.parameters}
        labels = Counter(node.label for node in self.nodes if isinstance(node, Quantised))
        kinds = (CutSoftmaxOf, RotaryPositions, RecentWeights, CrossEntropyOf, SampleMean, Quantised, AttendBesideSink)
        for kind in kinds:
            alike = [node for node in self.nodes if isinstance(node, kind) and labels[node.label] != 1]
            for place, node in enumerate(alike if len(alike) > 1 else (), start=1):
                node.suffix = f"_{place}"

    # Where arrays come from.

    @property
    def inputs(self) -> dict[str, Domain]:
        own = {name: each.domain for name, each in self.inputs_of_graph.items() if not each.weight}
        own |= {name: domain for each in self.values.values() for name, domain in each.inputs.items()}
        return {**own, **self.more_inputs, **self._drawn(varies=True)}

    @property
    def weights(self) -> dict[str, Any]:
        own: dict[str, Any] = {name: each.domain for name, each in self.inputs_of_graph.items() if each.weight}
        own |= {name: each.drawn for name, each in self.draws.items()}
        own |= {name: program for node in self.featured for name, program in node.drawn.items()}
        return own | self._drawn(varies=False)

    def _drawn(self, *, varies: bool) -> dict[str, Any]:
        """Of matrices (a given one: the function that gives it), and of the differences of those in their places."""
        found: dict[str, Any] = {}
        for matrix in (each for each in self.matrices.values() if each.varies is varies):
            if matrix.program is None:
                found[matrix.name] = _source_of(matrix)
            if matrix.drawn_change is not None:
                found[matrix.change_name] = matrix.drawn_change
        return found

    @property
    def approximate_matrices(self) -> dict[str, Matrix]:
        """The matrices that are made once for a network in the place of others, by their names."""
        return {each.approximate_name: each for each in self.matrices.values() if each.change and not each.varies}

    @property
    def arrays(self) -> list[str]:
        return [*self.inputs, *self.weights, *self.approximate_matrices, *self.made]

    @property
    def made(self) -> dict[str, Callable[..., Any]]:
        """The arrays of nodes that are made once, by name: functions of parameters."""
        found = {name: program for node in self.nodes for name, program in node.made.items()}
        return {n: Program(arguments_of(each), partial(called_with, each), when_run=True) for n, each in found.items()}

    @cached_property
    def used(self) -> list[sp.Symbol]:
        """The parameters that programs of the graph take."""
        names = {name for node in self.nodes for name in node.takes}
        return sorted((each for each in self.parameters if each.name in names), key=str)

    @property
    def names(self) -> list[str]:
        return [*self.arrays, *(letter.name for letter in self.used), *self.texts, *self.letters_beside]

    @property
    def letters_beside(self) -> list[str]:
        """The letters that nodes take and the theorem makes, which are no parameters."""
        taken = {name for node in self.nodes for name in node.takes}
        return [name for name in self.made_beside if name in taken]

    @property
    def texts(self) -> list[str]:
        """The parameters that are no numbers."""
        return list(dict.fromkeys(each.given for each in self.similarities.values() if each.given))

    @property
    def hypotheses(self) -> list[Hypothesis]:
        """What nodes take of parameters, each once."""
        stated = dict.fromkeys(each for node in self.nodes for each in node.hypotheses)
        return [each for each in stated if each.condition.free_symbols <= self.parameters.keys()]

    @property
    def assumptions(self) -> list[str]:
        """What nothing here proves: bounds that the author vouches for, and what an approximation needs."""
        found = list[str]()
        for each in self.values.values():
            size, error = (_bound_text(as_expr(bound)) for bound in (each.bounds["size"], each.error))
            exact, near = object_text(each.name), object_text(each.name, hat=True)
            found += [f"`{exact}` has a {each.norm.words} of at most `{size}`"]
            away = f"`{near}` is at most `{error}` away from `{exact}` in the {each.norm.words}"
            found += [away] if each.error != 0 else []
        kinds = {key: norm_words(kind) for kind, key in KINDS.items()}
        for matrix in self.matrices.values():
            letter, is_given = f"`{object_text(matrix.name)}`", matrix.given is not None or matrix.program is not None
            what = f"every matrix {letter} of its set" if matrix.has_own_domain else f"the given matrix {letter}"
            bounds = matrix.norms.items() if is_given or matrix.has_own_domain else ()
            found += [f"{what} has {kinds[key]} of at most `{_bound_text(bound)}`" for key, bound in bounds]
        found += [sentence for function in self.functions.values() for sentence in function.assumptions]
        found += [sentence for node in self.nodes for sentence in node.assumptions]
        return [*found, *dict.fromkeys(node.premise for node in self.nodes if node.premise)]

    @property
    def without_program(self) -> list[str]:
        """The values that err by a bound alone, so that the graph does not run approximately."""
        return [name for name, each in self.values.items() if not each.runs]

    @property
    def is_of_prompts(self) -> bool:
        """Whether a premise holds at some prompts only, so that no bound is about all of them."""
        return any(node.premise for node in self.nodes)


def _bound_text(bound: sp.Expr) -> str:
    """No sum starts with what is taken away."""
    text: str = sp.sstr(bound, full_prec=False)
    return sp.sstr(bound, full_prec=False, order="none") if bound.is_Add and text.startswith("-") else text


def _source_of(matrix: Matrix) -> Any:
    """The domain of a matrix, or a function that gives it."""
    if matrix.typed is not None:
        return reader_of(matrix)
    return matrix.of_layers if matrix.given is None else _fixed(matrix.given)


def _fixed(array: Any) -> Program:
    return Program([], lambda _: array)
