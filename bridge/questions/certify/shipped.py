"""Certificates that are shipped with a result: their boxes are proved again, and nothing is searched for."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from bridge.lowering import LoweringError
from bridge.questions.certify.certificate import boxes_of, inequality_record
from bridge.questions.certify.forms import Enclosures
from bridge.questions.certify.parsing import Tree, read_content
from bridge.questions.certify.proving import Leaf, Node, Outcome, Status
from bridge.questions.certify.scalars import root_of
from symbolic.derivations.inequalities import Inequality


def shipped_proof(inequality: Inequality, path: Path) -> Outcome | None:
    """The proof that the file has of this very inequality, each of its boxes proved anew; None where it has none.

    The inequality in the file has to be this one to the letter. A box that its form does not prove spoils the proof.
    """
    record = _claims(path).get(inequality.name)
    if record is None or record["inequality"] != inequality_record(inequality) or "tree" not in record:
        return None
    if not all(isinstance(node, list) for node in record["tree"]):  # not of boxes alone
        return None
    nodes = _proved(inequality, Tree(tuple(record["tree"]), inequality.name))
    return None if nodes is None else Outcome(inequality, Status.PROVED, nodes, share=1.0)


def _proved(inequality: Inequality, tree: Tree) -> tuple[Node, ...] | None:
    enclosures, nodes = Enclosures(inequality), []
    try:
        for box, node in boxes_of(root_of(inequality), tree):
            if isinstance(node, Leaf) and not enclosures.shown_by(box, node.by):
                return None
            nodes.append(node)
    except (ValueError, LoweringError):  # no tree of boxes, or a form that the expression lacks
        return None
    return tuple(nodes)


@cache
def _claims(path: Path) -> Mapping[str, Any]:
    return {each["inequality"]["name"]: each for each in read_content(str(path))["claims"]}
