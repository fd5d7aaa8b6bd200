"""What a graph of expressions is refused for when it is stated: names, domains, norms and layers that do not agree."""

from collections.abc import Callable, Iterator
from typing import Any

import sympy as sp
import torch

from bridge.domains import Domain
from bridge.expressions.draws import Draws, SampleMean
from bridge.expressions.expression import Expression, same
from bridge.expressions.inputs import LARGEST, TokenOfLayer
from bridge.expressions.matrices import Matrix, MatrixImage
from bridge.expressions.matrix_formulas import IDENTITY
from bridge.expressions.matrix_norms import NORMS
from bridge.expressions.objects import Objects
from bridge.expressions.repetition import RepeatedLayers
from bridge.expressions.sinks import layers_around
from bridge.limits.arguments import arguments_of, called_with
from bridge.lowering.formula import MatrixFunction
from symbolic.derivations.derivation import as_expr
from symbolic.words.errors import UsageError

INPUT, WEIGHT = "neither an input nor a parameter; give inputs=", "neither a parameter nor a weight"
SEED, OTHER = "neither a parameter nor the seed", "not a parameter"
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
    _require_formulas_fit(graph)
    require_own_layers(graph)
    _require_sinks(graph)
    for matrix in graph.matrices.values():
        _require_norms(graph, matrix)
        if matrix.typed is not None and (of_parameters := {*matrix.norms.values()} & {*graph.parameters}):
            raise UsageError(
                f"{graph.id}: {of_parameters.pop()} is a norm of {matrix.name}, which is typed; it is no parameter"
            )
    for each in graph.draws.values():
        _require_sizes(graph, each)


def require_one_use(graph: Objects) -> None:
    """Raises UsageError for a name of two objects."""
    kinds = (graph.inputs_of_graph, graph.matrices, graph.functions, graph.values, graph.grids, graph.draws)
    names = [name for kind in (*kinds, graph.similarities, graph.preceding) for name in kind]
    objects = {*graph.inputs_of_graph, *graph.matrices, *graph.values, *graph.draws}
    if taken := sorted(objects & {letter.name for letter in graph.parameters}):
        raise UsageError(
            f"{graph.id}: '{taken[0]}' names a parameter and another object; give one of them another name"
        )
    own = {
        *(graph.made.keys() - graph.values.keys()),
        *(each.approximate_name for each in graph.matrices.values() if each.change is not None),
    }
    own |= {name for node in graph.sinks for name in node.handles}
    own |= {each.change_name for each in graph.matrices.values() if each.change is not None}
    own |= {*(f"norm_{name}" for name in graph.matrices), *(f"f_{name}" for name in graph.functions)}
    if taken := sorted(own & (objects | {letter.name for letter in graph.parameters})):
        raise UsageError(f"{graph.id}: '{taken[0]}' is the name of an array that the graph makes; take another name")
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{graph.id}: two objects are called '{name}'; give one of them another name")


def _require_one_domain(graph: Objects) -> None:
    given: dict[str, Domain] = {}
    own = [{name: each.domain} for name, each in graph.inputs_of_graph.items()]
    for domains in (*own, *(each.inputs for each in graph.values.values()), graph.more_inputs):
        for name, domain in domains.items():
            if given.setdefault(name, domain) != domain:
                raise UsageError(f"{graph.id}: the input '{name}' has two domains; give one of them another name")


def _require_known_arguments(graph: Objects) -> None:
    parameters = {letter.name for letter in graph.parameters}
    weights = {*graph.weights, *parameters}
    programs = {name: each.source for name, each in graph.draws.items() if not isinstance(each.source, Domain)}
    means = [node for node in graph.nodes if isinstance(node, SampleMean) and node.expectation is not None]
    taken = [
        *((f"program of '{name}'", program, {*graph.inputs, *weights}, INPUT) for name, program in _computed(graph)),
        *((f"program of '{name}'", program, {*parameters, "seed"}, SEED) for name, program in programs.items()),
        *((f"mean of '{name}'", each.mean, parameters, OTHER) for name, each in graph.draws.items()),
        *((f"expectation of '{each.label}'", each.expectation, weights, WEIGHT) for each in means),
    ]
    for role, program, known, kinds in taken:
        if unknown := [name for name in (arguments_of(program) if callable(program) else ()) if name not in known]:
            raise UsageError(f"{graph.id}: the {role} takes {', '.join(unknown)}, which is {kinds}")


def _computed(graph: Objects) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The programs of values and of matrices, with their names."""
    yield from ((each.name, program) for each in graph.values.values() for program in each.programs)
    yield from ((each.name, each.program) for each in graph.matrices.values() if each.program is not None)


def _require_formulas_fit(graph: Objects) -> None:
    """Raises UsageError where a formula has an array in another shape than its domain, and for a letter I beside I."""
    domains = {name: each for name, each in {**graph.inputs, **graph.weights}.items() if isinstance(each, Domain)}
    letters = {*graph.names, *graph.matrices, *graph.values, *graph.functions, *(x.name for x in graph.parameters)}
    for name, program in _computed(graph):
        if not isinstance(program, MatrixFunction):
            continue
        if program.expr.has(sp.Identity) and IDENTITY in letters:
            raise UsageError(
                f"{graph.id}: `{IDENTITY}` is the identity in the formula of '{name}', and another object; give that "
                f"one another name"
            )
        for array in (each for each in program.arrays if each.name in domains):
            own, known = array.shape, domains[array.name].shape
            column = (*known, 1) if len(known) == 1 else known
            if len(column) != 2 or not all(_agree(graph, *pair) for pair in zip(own, column, strict=True)):
                shown = [" x ".join(map(str, shape)) for shape in (own, known)]
                raise UsageError(
                    f"{graph.id}: '{array.name}' is {shown[0]} in the formula of '{name}', and {shown[1]} in its "
                    f"domain; make them agree"
                )


def _agree(graph: Objects, own: sp.Expr, known: Any) -> bool:
    """Whether a size is that of the domain: in letters, or if one is a number, at the values of the parameters."""
    known = as_expr(known)
    return same(own, known) or (
        (own.is_number or known.is_number) and same(*(x.xreplace(graph.at) for x in (own, known)))
    )


def _require_sinks(graph: Objects) -> None:
    """Raises UsageError where nothing tells at a prompt what stands beside a sink."""
    places = layers_around(graph.outputs).values()
    if any(len(around) > 1 or max(map(len, around)) > 1 for around in places):
        raise UsageError(
            f"{graph.id}: attention beside a sink stands in layers within layers, or in layers and outside; build it "
            f"once, in the layer that needs it"
        )
    if graph.sinks and graph.without_program:
        errs = ", ".join(graph.without_program)
        raise UsageError(f"{graph.id}: {errs} errs by a bound alone, beside a sink; give approximate= where it is made")


def _require_norms(graph: Objects, matrix: Matrix) -> None:
    """Raises UsageError where a matrix of the user's, or of a domain of theirs, exceeds a norm that should bound it."""
    if matrix.given is not None:
        found, where = _as_given(graph, matrix), ""
    elif matrix.has_own_domain:
        drawn = matrix.domain.at(graph.at)
        generator = torch.Generator().manual_seed(0)
        found = torch.cat([drawn.corners(TRIED, generator), drawn.sample(TRIED, generator)])
        where = " of its domain"
    else:
        return
    for key, bound in matrix.norms.items():
        most, largest = float(bound.xreplace(graph.at)), max(float(NORMS[key](each)) for each in found)
        if largest > most * (1 + SLACK):
            raise UsageError(
                f"{graph.id}: {matrix.name}{where} has a norm of {largest:.4g}, above {sp.sstr(bound)} = {most:.4g}; "
                f"make them agree"
            )


def _require_sizes(graph: Objects, draws: Draws) -> None:
    """Raises UsageError where draws have another shape, or exceed what is said to bound them."""
    found = _some_draws(graph, draws)
    bounds = [("norm", bound, float(LARGEST[norm](found))) for norm, bound in draws.sizes.items()]
    if draws.radius is not None:
        bounds.append(("radius", draws.radius, float((found.amax(0) - found.amin(0)).amax()) / 2))
    for what, bound, largest in bounds:
        most = _number(graph, draws.name, bound)
        if largest > most * (1 + SLACK):
            raise UsageError(
                f"{graph.id}: {draws.name} is drawn with a {what} of {largest:.4g}, above {sp.sstr(bound)} = "
                f"{most:.4g}; make them agree"
            )


def _some_draws(graph: Objects, draws: Draws) -> torch.Tensor:
    """(..., d), extreme ones of a domain. Raises UsageError for another shape than the parameters say."""
    if isinstance(draws.source, Domain):
        domain, generator = draws.source.at(graph.at), torch.Generator().manual_seed(0)
        return torch.cat([domain.corners(TRIED, generator), domain.sample(TRIED, generator)])
    shape = [int(_number(graph, draws.name, each)) for each in (draws.number, draws.dim)]
    found = [called_with(draws.source, {**graph.numbers, "seed": seed}) for seed in range(TRIED)]
    if other := [list(each.shape) for each in found if list(each.shape) != shape]:
        raise UsageError(f"{graph.id}: {draws.name} is drawn in the shape {other[0]}, expected {shape}")
    return torch.cat(found)


def _number(graph: Objects, name: str, formula: sp.Expr) -> float:
    """At the last values of the parameters. Raises UsageError for another letter."""
    found = formula.xreplace(graph.at)
    if found.free_symbols:
        letters = ", ".join(sorted(map(str, found.free_symbols)))
        raise UsageError(f"{graph.id}: {name} has the letter {letters}, which is not a parameter")
    return float(found)


def _as_given(graph: Objects, matrix: Matrix) -> torch.Tensor:
    """One matrix for each layer. Raises UsageError for other dimensions than the parameters say."""
    assert matrix.given is not None  # asked of these
    letters = [each for each in (matrix.layers, matrix.rows, matrix.columns) if each is not None]
    expected, shape = tuple(each.xreplace(graph.at) for each in letters), tuple(matrix.given.shape)
    if expected != shape:
        raise UsageError(
            f"{graph.id}: the given {matrix.name} has the shape {shape}, and its letters {letters} are {expected} at "
            f"the parameters; make them agree"
        )
    return matrix.given.reshape(-1, *shape[-2:])


def require_own_layers(graph: Objects) -> None:
    """Raises UsageError for a token, or a matrix, of another loop than the one that it stands in directly."""
    loops: dict[str, set[int]] = {}  # the repetitions in which a matrix of each layer stands; 0: none

    def visit(node: Expression, loop: Expression | None) -> None:
        if isinstance(node, TokenOfLayer) and (loop is None or node.number.argument is not loop):
            raise UsageError(f"{graph.id}: {node.label} stands outside of the layers whose number it takes")
        if isinstance(node, SampleMean) and loop is not None:
            raise UsageError(
                f"{graph.id}: {node.label} stands in layers that repeat, each of which would draw anew; take the mean "
                f"before them"
            )
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
