"""What a graph of expressions is refused for when it is stated: names, domains, norms and layers that do not agree."""

import sympy as sp
import torch

from bridge.domains import Domain
from bridge.expressions.expression import Expression
from bridge.expressions.inputs import TokenOfLayer
from bridge.expressions.matrices import NORMS, Matrix, MatrixImage
from bridge.expressions.objects import Objects
from bridge.expressions.repetition import RepeatedLayers
from bridge.limits.arguments import arguments_of
from symbolic.words.errors import UsageError

TRIED, SLACK = 16, 1e-9  # matrices of a domain whose norms are looked at


def require_sound(graph: Objects) -> None:
    """Raises UsageError for names that two things have, and for what the number of a layer does not tell."""
    require_one_use(graph)
    _require_one_domain(graph)
    taken = {letter.name for letter in graph.parameters} & {letter.name for letter in graph.worst}
    if taken:
        raise UsageError(
            f"{graph.id}: {', '.join(sorted(taken))} names a letter of the derivation; rename the parameter"
        )
    _require_known_arguments(graph)
    require_own_layers(graph)
    for matrix in graph.matrices.values():
        _require_norms(graph, matrix)


def require_one_use(graph: Objects) -> None:
    """Raises UsageError for a name of two objects."""
    kinds = (graph.inputs_of_graph, graph.matrices, graph.functions, graph.values, graph.grids)
    names = [name for kind in kinds for name in kind]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{graph.id}: two objects are called '{name}'; give one of them another name")


def _require_one_domain(graph: Objects) -> None:
    given: dict[str, Domain] = {}
    own = [{name: each.domain} for name, each in graph.inputs_of_graph.items()]
    for domains in (*own, *(each.inputs for each in graph.values.values())):
        for name, domain in domains.items():
            if given.setdefault(name, domain) != domain:
                raise UsageError(f"{graph.id}: the input '{name}' has two domains; give one of them another name")


def _require_known_arguments(graph: Objects) -> None:
    known = {*graph.inputs, *graph.weights, *(letter.name for letter in graph.parameters)}
    for each in graph.values.values():
        if unknown := [name for name in arguments_of(each.program) if name not in known]:
            raise UsageError(
                f"{graph.id}: the program of '{each.name}' takes {', '.join(unknown)}, which is neither an input "
                f"nor a parameter"
            )


def _require_norms(graph: Objects, matrix: Matrix) -> None:
    """Raises UsageError where a matrix of the user's domain exceeds a norm that is said to bound it."""
    if not matrix.has_own_domain:
        return
    drawn = matrix.domain.at(graph.at)
    generator = torch.Generator().manual_seed(0)
    found = torch.cat([drawn.corners(TRIED, generator), drawn.sample(TRIED, generator)])
    for key, bound in matrix.norms.items():
        most, largest = float(bound.xreplace(graph.at)), max(float(NORMS[key](each)) for each in found)
        if largest > most * (1 + SLACK):
            raise UsageError(
                f"{graph.id}: {matrix.name} of its domain has a norm of {largest:.4g}, above {sp.sstr(bound)} = "
                f"{most:.4g}; make them agree"
            )


def require_own_layers(graph: Objects) -> None:
    """Raises UsageError for a token, or a matrix, of another loop than the one that it stands in directly."""
    loops: dict[str, set[int]] = {}  # the repetitions in which a matrix of each layer stands; 0: none

    def visit(node: Expression, loop: Expression | None) -> None:
        if isinstance(node, TokenOfLayer) and (loop is None or node.number.argument is not loop):
            raise UsageError(f"{graph.id}: {node.label} stands outside of the layers whose number it takes")
        if isinstance(node, MatrixImage) and node.matrix.layers is not None:
            loops.setdefault(node.matrix.name, set()).add(0 if loop is None else id(loop))
            if loop is None or len(loops[node.matrix.name]) > 1:
                raise UsageError(
                    f"{graph.id}: {node.matrix.name} is one matrix for each layer, and stands in no repetition or in "
                    f"several"
                )
        for part in node.parts:
            visit(part, loop)
        for body in node.inner:
            visit(body, node.argument if isinstance(node, RepeatedLayers) else loop)

    for output in graph.outputs:
        visit(output, None)
