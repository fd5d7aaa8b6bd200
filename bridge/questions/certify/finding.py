"""Steps looked for: each goal is tried by boxes, then by the steps that may fit it, down to a limited depth.

Nothing here is trusted. A step counts only if it gives its children by the same function that a check calls, and each
of them has a proof.
"""

import itertools
from collections.abc import Iterator
from fractions import Fraction

import sympy as sp

from bridge.lowering import LoweringError
from bridge.questions.certify.boxes import BoxSearch
from bridge.questions.certify.deadline import Deadline
from bridge.questions.certify.finding_networks import network_steps
from bridge.questions.certify.finding_polynomials import polynomial_steps
from bridge.questions.certify.finding_shapes import (
    clearing_steps,
    factor_steps,
    kink_steps,
    lipschitz_steps,
    log_steps,
    root_steps,
    sum_steps,
)
from bridge.questions.certify.finding_zeros import cuts_near, monotone_steps, zero_cuts
from bridge.questions.certify.forms import Enclosures
from bridge.questions.certify.goals import NotShownError, ProofGoal, enclosures, narrowed, same
from bridge.questions.certify.networks import neurons_in
from bridge.questions.certify.nodes import EMPTY, Leaf, Node, Reduction, Split
from bridge.questions.certify.samples import RegionSample
from bridge.questions.certify.step_records import step_record
from bridge.questions.certify.steps import KINKS, ByCases, ByFactors, ByLinear, ByPiece, BySum, ProofStep
from numeric.balls import working_precision
from symbolic.derivations.derivation import DerivationError
from symbolic.words.errors import UsageError

FEW, SOME, MANY = 2, 24, 400  # boxes tried before the steps and after them, by how close to 0 the goal comes
DEPTHS = (3, 5, 8)
MOST_BOXES, BOXES_A_GOAL = 12_000, 8
MOST_OPERATIONS = 400  # of an expression whose steps are looked for
Tree = tuple[Node, ...]


class _GaveUpError(Exception):
    """As many goals or boxes as are allowed, or half of the time."""


def found_by_steps(whole: Enclosures, deadline: Deadline, most_boxes: int = MOST_BOXES) -> Tree:
    """The tree of an inequality that is proved by steps; () where none are found."""
    inequality = whole.inequality
    names = {symbol.name for symbol in inequality.box}
    if inequality.strict or inequality.form is not None or inequality.vanishing or len(names) < len(inequality.box):
        return ()
    goal = ProofGoal.of(inequality)
    large = sp.count_ops(goal.expression) > MOST_OPERATIONS and not neurons_in(goal.expression, goal.symbols)
    if large or whole.domain:
        return ()
    try:
        return _Finder(deadline, whole.bits, most_boxes).root(goal)
    except (_GaveUpError, RecursionError, UsageError, DerivationError):
        return ()


class _Finder:
    def __init__(self, deadline: Deadline, bits: int, most_boxes: int) -> None:
        self.deadline, self.bits = deadline, bits
        self.most_boxes = min(most_boxes, MOST_BOXES)
        self.until = deadline.spent + (deadline.seconds - deadline.spent) * 0.6
        self.proved: dict[ProofGoal, Tree] = {}
        self.failed: dict[ProofGoal, int] = {}  # at that depth
        self.tried: dict[ProofGoal, int] = {}  # by so many boxes
        self.boxes = self.goals = 0

    def root(self, goal: ProofGoal) -> Tree:
        """Short proofs first: a depth-first search may lose itself in a long one."""
        for depth in DEPTHS:
            if narrowed(goal) == goal:
                found = self.prove(goal, depth)
            else:
                found = self._by(goal, BySum((goal.expression,)), depth)
            if found:
                return found
        return ()

    def check(self) -> None:
        self.deadline.check()
        if self.deadline.spent > self.until:
            raise _GaveUpError

    def prove(self, goal: ProofGoal, depth: int) -> Tree | None:
        """A tree of at most that depth that proves the goal; None where none is found."""
        self.check()
        self.goals += 1
        if max(self.goals * BOXES_A_GOAL, self.boxes) > self.most_boxes:
            raise _GaveUpError
        if goal.empty:
            return (Leaf(EMPTY),)
        if goal in self.proved or self.failed.get(goal, -1) >= depth:
            return self.proved.get(goal)
        self.failed[goal] = depth  # a goal that comes up in its own proof is none
        found = self._prove(goal, depth)
        if found:
            self.proved[goal] = found
        return found

    def _prove(self, goal: ProofGoal, depth: int) -> Tree | None:
        sample = RegionSample(goal)
        if not sample.seems(goal.expression):
            return None
        if sample.vanishes(goal.expression) and same(goal, goal.expression, sp.Integer(0)):
            return self._by(goal, ByFactors(sp.Integer(0), ()), depth)
        if not goal.expression.free_symbols:
            return self._by(goal, ByLinear(), depth) if goal.expression.is_Rational else self._boxes(goal, SOME)
        few, many = (FEW, SOME) if sample.comes_close(goal.expression) else (SOME, MANY)
        if found := self._boxes(goal, few):
            return found
        if found := self._any(goal, network_steps(goal, self.check), depth):
            return found
        for step in self._steps(goal, sample) if depth else ():
            kinks = isinstance(step, ByPiece | ByCases)  # of which there are finitely many
            if found := self._by(goal, step, depth if kinks else depth - 1):
                return found
        if depth and not goal.expression.has(*KINKS):
            last = itertools.chain(log_steps(goal, affine=False), clearing_steps(goal, sample))
            found = self._cut(goal, sample, depth - 1) or self._any(goal, last, depth - 1)
            if found:
                return found
        return self._boxes(goal, many)

    def _any(self, goal: ProofGoal, steps: Iterator[ProofStep], depth: int) -> Tree | None:
        return next((found for step in steps if (found := self._by(goal, step, depth))), None)

    def _steps(self, goal: ProofGoal, sample: RegionSample) -> Iterator[ProofStep]:
        if goal.expression.has(*KINKS):
            yield from lipschitz_steps(goal)
            yield from kink_steps(goal, sample)
            return
        yield from factor_steps(goal, sample)
        yield from sum_steps(goal, sample)
        yield from root_steps(goal, sample)
        yield from polynomial_steps(goal)
        yield from log_steps(goal, affine=True)
        yield from monotone_steps(goal, sample)

    def _by(self, goal: ProofGoal, step: ProofStep, depth: int) -> Tree | None:
        """A node of that step, if it is one and all of its children are proved."""
        try:
            step_record(step)
            if not goal.defines(goal.expression, bits=self.bits):
                return None
            children = step.children(goal, self.bits)
        except (NotShownError, UsageError, DerivationError, LoweringError):
            return None
        if any(not child.empty and not RegionSample(child).seems(child.expression) for child in children):
            return None
        trees = []
        for child in children:
            tree = self.prove(child, depth)
            if tree is None:
                return None
            trees.append(tree)
        return (Reduction(step, tuple(trees), tuple(children)),)

    def _cut(self, goal: ProofGoal, sample: RegionSample, depth: int) -> Tree | None:
        """Cut where the expression is 0, or close to an end at which it is."""
        for symbol, at in (*zero_cuts(goal, sample), *cuts_near(goal)):
            if not at.is_Rational:
                found = self._by(goal, ByCases(symbol - at), depth)
            else:
                found = self._split(goal, symbol, at, depth)
            if found:
                return found
        return None

    def _split(self, goal: ProofGoal, symbol: sp.Symbol, at: sp.Rational, depth: int) -> Tree | None:
        axis = goal.symbols.index(symbol)
        ranges = [list(each) for each in goal.ranges]
        parts: list[Node] = [Split(axis, Fraction(int(at.p), int(at.q)))]
        for end in (2, 1):
            ends = [list(each) for each in ranges]
            ends[axis][end] = at
            found = self.prove(ProofGoal(goal.expression, tuple(map(tuple, ends)), goal.where), depth)
            if found is None:
                return None
            parts += found
        return tuple(parts)

    def _boxes(self, goal: ProofGoal, most: int) -> Tree | None:
        if self.tried.get(goal, 0) >= most:
            return None
        self.tried[goal] = most
        try:
            search = BoxSearch(enclosures(goal, self.bits), self.deadline)
            with working_precision(self.bits):
                refuted = search.search(most)
        except (UsageError, DerivationError, LoweringError):
            return None
        self.boxes += search.count
        return None if refuted or search.open_boxes else search.nodes
