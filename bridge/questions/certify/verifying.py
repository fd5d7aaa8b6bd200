"""A tree of boxes and steps gone through: every leaf evaluated, every step checked, nothing searched for."""

from collections.abc import Callable, Iterable
from typing import Any

from bridge.lowering import LoweringError
from bridge.questions.certify.goals import NotShownError, ProofGoal, enclosures
from bridge.questions.certify.nodes import EMPTY, Leaf, Reduction, Split, TreeError, boxes_of
from symbolic.derivations.derivation import DerivationError
from symbolic.words.errors import UsageError

Check = Callable[[], None]


def fault_of_step(goal: ProofGoal, node: Reduction, bits: int, check: Check = lambda: None) -> str:
    """Why the step does not prove the goal; "" where it does."""
    check()
    name = node.step.name
    try:
        if not goal.defines(goal.expression, bits=bits):
            return f"the expression is not shown to be defined where the step '{name}' is taken"
        children = node.step.children(goal, bits)
    except (NotShownError, UsageError, DerivationError, LoweringError) as error:
        return f"the step '{name}' does not hold: {error}"
    if len(children) != len(node.trees):
        return f"the step '{name}' needs {len(children)} parts; it has {len(node.trees)}"
    faults = (fault_of_tree(child, tree, bits, check) for child, tree in zip(children, node.trees, strict=True))
    return next((f"{fault} (in the step '{name}')" for fault in faults if fault), "")


def fault_of_tree(goal: ProofGoal, nodes: Iterable[Any], bits: int, check: Check) -> str:
    if goal.empty:
        return "" if list(nodes) == [Leaf(EMPTY)] else "a part without points has a tree"
    try:
        for box, node in boxes_of(goal.box, nodes):
            check()
            if isinstance(node, Reduction):
                if fault := fault_of_step(goal.on(box), node, bits, check):
                    return fault
            elif not isinstance(node, Split) and not _shown(goal, box, node, bits):
                return f"a box is not proved by the form '{node.by}'"
    except TreeError as error:
        return f"a tree of boxes is wrong: {error}"
    return ""


def _shown(goal: ProofGoal, box: Any, leaf: Leaf, bits: int) -> bool:
    """Whether the form proves it; False if the expression lacks the form."""
    try:
        return enclosures(goal, bits).shown_by(box, leaf.by)
    except (LoweringError, UsageError, DerivationError):
        return False
