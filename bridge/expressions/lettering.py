"""Which values and cotangents of a gradient have letters, and which letters."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import sympy as sp

from bridge.expressions.attention import CutSoftmaxOf, HardMaxOf, SoftmaxOf
from bridge.expressions.cotangents import axes_of, cotangent_of, formula, is_leaf, value_of
from bridge.expressions.expression import Expression
from bridge.expressions.flows import Flows, Scope
from bridge.expressions.inputs import TokenOfLayer
from bridge.expressions.matrices import Matrix, MatrixImage
from bridge.expressions.node_texts import INDICES
from bridge.expressions.normalisation import Normalised
from bridge.expressions.objects import Objects
from bridge.expressions.products import Pairs
from bridge.expressions.repetition import LayerArgument, RepeatedLayers
from bridge.expressions.row_cotangents import divisor_of
from symbolic.gradients.letters import LayerIndex, Letter
from symbolic.gradients.terms import LayerSum, Lettered, Term, Unity, combination, in_front

# Of values without a name; none has a subscript of its own, which would be taken for the number of a layer.
PLAIN = "zvyucbgwmhqkonfx"
GREEK = ("alpha", "beta", "gamma", "theta", "phi", "psi", "xi", "zeta", "eta", "mu", "nu", "omega", "kappa", "tau")
LETTERS = (*PLAIN, *GREEK, *(one + other for one in PLAIN for other in PLAIN))
WEIGHTS = ("a",)
PREFERRED = {
    RepeatedLayers: ("p", "q", "h"),
    Pairs: ("s",),
    SoftmaxOf: WEIGHTS,
    CutSoftmaxOf: WEIGHTS,
    HardMaxOf: WEIGHTS,
}  # of values without a name
DIVISORS, LOSSES = ("r", "rho"), ("L", "J", "E", "F")


def of_loop(kind: str, loop: RepeatedLayers) -> Lettered:
    """The value "before all" layers or "after one", or the "cotangent" of these."""
    return Lettered(kind, loop, axes_of(loop))


FIRST, AFTER, FIRST_BAR, AFTER_BAR = "before all", "after one", "cotangent before all", "cotangent after one"


@dataclass(frozen=True)
class LetteredGraph:
    """Which values and cotangents have letters; all others stand where they are used, once."""

    flows: Flows

    @cached_property
    def cotangents(self) -> dict[int, Term]:
        """Of each node and parameter, by what others pass to it; sums over the layers of loops that it is not in."""
        flows = self.flows
        found: dict[int, dict[tuple[RepeatedLayers, ...], list[tuple[sp.Expr, Term]]]] = {}

        def add(to: Expression | Matrix, term: Term, source: Scope, factor: sp.Expr = sp.S.One) -> None:
            found.setdefault(id(to), {}).setdefault(self._summed_over(to, source), []).append((factor, term))

        add(flows.loss, Unity(), None)
        for node in reversed(flows.nodes):
            for to, term in flows.passed.get(id(node), ()):
                add(to, term, flows.scope(node))
            if isinstance(node, RepeatedLayers) and id(node) in flows.active:
                if flows.takes(node.body):
                    add(node.body, of_loop(AFTER_BAR, node), node)
                if flows.takes(node.start):
                    add(node.start, of_loop(FIRST_BAR, node), flows.scope(node))
                add(node.argument, of_loop(AFTER_BAR, node), node, sp.S.Zero)  # where nothing else is passed to it
        return self._without_short({to: _total(parts) for to, parts in found.items()})

    def _without_short(self, found: dict[int, Term]) -> dict[int, Term]:
        """The same, where the cotangent of a node is another letter, or a multiple, with that in its place."""
        loops = {id(each) for loop in self.flows.loops.values() for each in (loop, loop.argument)}

        def known(leaf: Lettered) -> Term | None:
            own = found.get(id(leaf.of)) if leaf.kind == "cotangent" and id(leaf.of) not in loops else None
            return own if own is not None and _is_short(own) else None

        for to in found:  # each behind those that it is made of
            found[to] = found[to].replaced(known)
        return found

    def _summed_over(self, to: Expression | Matrix, source: Scope) -> tuple[RepeatedLayers, ...]:
        """The loops, the innermost first, over whose layers what a node in that scope passes adds up."""
        around = list(self.flows.around(source))
        if isinstance(to, Matrix):
            around = around if to.layers is None else around[1:]
        elif not self.flows.is_sought(to):
            kept = list(self.flows.around(self.flows.scope(to)))
            around = [loop for loop in around if not any(loop is each for each in kept)]
        return tuple(around)

    @cached_property
    def uses(self) -> Counter[Lettered]:
        """How often cotangents refer to a letter."""
        return Counter(each for term in self.cotangents.values() for each in term.leaves())

    @cached_property
    def lettered(self) -> set[int]:
        """The nodes whose values have a letter, leaves apart."""
        uses = Counter(id(part) for node in self.flows.nodes for part in (*node.parts, *node.inner))
        normalised = (node for node in self.flows.nodes if isinstance(node, Normalised))
        uses.update(id(node.parts[0]) for node in normalised)  # in its divisor too
        found = set()
        for node in (each for each in self.flows.nodes if not is_leaf(each)):
            used = node.is_named or uses[id(node)] > 1 or self.uses[value_of(node)] > 0
            always = isinstance(node, RepeatedLayers) or node is self.flows.loss
            if always or ((used or self._is_shared(node)) and not self._is_another(node)):
                found.add(id(node))
        return found | {id(loop.body) for loop in self.flows.loops.values() if self.is_own_body(loop)}

    def _is_another(self, node: Expression) -> bool:
        """Whether it is nothing but another value."""
        return isinstance(formula(node, self.flows.approximate), Lettered)

    def is_own_body(self, loop: RepeatedLayers) -> bool:
        """Whether the layer ends in a value of its own, which then has the letter of the layers."""
        body = loop.body
        return self.flows.scope(body) is loop and not is_leaf(body) and not isinstance(body, RepeatedLayers)

    def _is_shared(self, node: Expression) -> bool:
        """Whether several formulas refer to its cotangent."""
        return self.uses[cotangent_of(node)] > 1

    def has_cotangent(self, node: Expression) -> bool:
        """Whether its cotangent has a letter: that of a loop does, for the recursion to begin with."""
        if isinstance(node, RepeatedLayers | LayerArgument):
            return id(node) in self.cotangents
        return self._is_shared(node) or (self.uses[cotangent_of(node)] > 0 and id(node) in self.lettered)

    def resolved(self, term: Term) -> Term:
        """The formula in letters alone."""
        return term.replaced(self._without_letter)

    def _without_letter(self, leaf: Lettered) -> Term | None:
        node = leaf.of
        if not isinstance(node, Expression):
            return None
        if leaf.kind == "value" and not is_leaf(node) and id(node) not in self.lettered:
            return formula(node, self.flows.approximate)
        if leaf.kind == "cotangent" and not self.has_cotangent(node):
            return self.cotangents[id(node)]
        return None


def _total(parts: Mapping[tuple[RepeatedLayers, ...], Sequence[tuple[sp.Expr, Term]]]) -> Term:
    """The sum of all parts, each summed over its loops."""
    found = []
    for loops, terms in parts.items():
        term = combination(terms)
        for loop in loops:
            term = LayerSum.simplest(term, loop)
        found.append((sp.S.One, term))
    return combination(found)


def _is_short(term: Term) -> bool:
    return isinstance(in_front(term)[1], Lettered | Unity)


@dataclass(frozen=True)
class Naming:
    """The letters of one gradient: those of the user, and own ones that none of these is."""

    graph: LetteredGraph

    @cached_property
    def objects(self) -> Objects:
        return Objects("gradient", (self.graph.flows.loss,), {})

    @cached_property
    def _taken(self) -> set[str]:
        objects = self.objects
        kinds = (objects.inputs_of_graph, objects.matrices, objects.functions, objects.values)
        return {name for kind in kinds for name in kind} | {letter.name for letter in self.graph.flows.letters} | {"e"}

    def _fresh(self, names: Sequence[str]) -> str:
        """The first that no name of the user's begins with; it is taken from now on."""
        stems = {name.partition("_")[0] for name in self._taken}
        found = next(name for name in (*names, *LETTERS) if name not in stems)
        self._taken.add(found)
        return found

    @cached_property
    def argument(self) -> sp.Symbol:
        """Of functions."""
        return sp.Symbol(self._fresh(("t", "u", "s")), real=True)

    @cached_property
    def loops(self) -> dict[object, LayerIndex]:
        """By the loop, and by the argument of its layers."""
        flows, found = self.graph.flows, dict[object, LayerIndex]()
        chains = {id(loop): len(list(flows.around(loop))) for loop in flows.loops.values()}
        names = [self._fresh(INDICES) for _ in range(max(chains.values(), default=0))]
        for loop in flows.loops.values():
            index = sp.Symbol(names[chains[id(loop)] - 1], integer=True)
            found[loop] = found[loop.argument] = LayerIndex(index, loop.depth)
        return found

    def around(self, scope: Scope) -> tuple[LayerIndex, ...]:
        """The loops in which a scope stands, the outermost first."""
        return tuple(self.loops[loop] for loop in reversed(list(self.graph.flows.around(scope))))

    def indices(self, scope: Scope) -> tuple[sp.Expr, ...]:
        return tuple(loop.index for loop in self.around(scope))

    @cached_property
    def letters(self) -> dict[Lettered, Letter]:
        """Of everything that a formula may refer to."""
        flows, found = self.graph.flows, dict[Lettered, Letter]()
        bodies = {id(loop.body) for loop in flows.loops.values() if self.graph.is_own_body(loop)}
        _ = self.loops  # takes its letters first
        for node in sorted(flows.nodes, key=lambda node: not isinstance(node, RepeatedLayers)):
            if isinstance(node, RepeatedLayers):
                self._add_loop(node, found)
            elif not isinstance(node, LayerArgument) and id(node) not in bodies:
                name = self._name(node)
                if name:
                    _add(found, node, name, self._below(node))
            if isinstance(node, Normalised):
                found[divisor_of(node)] = Letter(self._fresh(DIVISORS), "", self.indices(flows.scope(node)))
            if isinstance(node, MatrixImage):
                _add_matrix(found, node.matrix, self.indices(flows.scope(node))[-1:], flows.approximate)
            if isinstance(node, TokenOfLayer):
                found[Lettered("value", node.of, 2)] = Letter(node.of.name)
        return found

    def _below(self, node: Expression) -> tuple[sp.Expr, ...]:
        if isinstance(node, TokenOfLayer):
            return (self.loops[node.number.argument].index,)
        return self.indices(self.graph.flows.scope(node))

    def _name(self, node: Expression) -> str:
        """Empty for a value without a letter."""
        if isinstance(node, TokenOfLayer):
            return node.of.name
        if is_leaf(node):
            return node.label
        if id(node) not in self.graph.lettered:
            return ""
        if node.is_named and node.label.isidentifier() and node.label not in self._taken:
            self._taken.add(node.label)
            return node.label
        if node is self.graph.flows.loss:
            return self._fresh(LOSSES)
        return self._fresh(next((names for kind, names in PREFERRED.items() if isinstance(node, kind)), ()))

    def _add_loop(self, loop: RepeatedLayers, found: dict[Lettered, Letter]) -> None:
        own, below = self.loops[loop], self.indices(self.graph.flows.scope(loop))
        name = self._name(loop)
        places = {FIRST: sp.S.Zero, AFTER: own.index}
        for (kind, place), bar in zip(places.items(), (FIRST_BAR, AFTER_BAR), strict=True):
            found[of_loop(kind, loop)] = Letter(name, "", (*below, place))
            found[of_loop(bar, loop)] = Letter(name, "bar", (*below, place))
        _add(found, loop, name, (*below, loop.depth))
        _add(found, loop.argument, name, (*below, own.index - 1))
        if self.graph.is_own_body(loop):
            _add(found, loop.body, name, (*below, own.index))


def _add(found: dict[Lettered, Letter], node: Expression, name: str, below: tuple[sp.Expr, ...]) -> None:
    found[value_of(node)] = Letter(name, "", below)
    found[cotangent_of(node)] = Letter(name, "bar", below)


def _add_matrix(found: dict[Lettered, Letter], matrix: Matrix, below: tuple[sp.Expr, ...], approximate: bool) -> None:
    accent = "hat" if approximate and matrix.change is not None else ""
    found[Lettered("matrix", matrix, 2)] = Letter(matrix.name, accent, () if matrix.layers is None else below)
