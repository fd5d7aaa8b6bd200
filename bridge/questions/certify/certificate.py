"""Certificates: proofs and refutations of inequalities, as a JSON file that `checking` beside it can re-check.

Every number is an exact rational "p/q". The tree of boxes is in preorder: [axis] halves a box, [axis, "p/q"] cuts
it at p/q, and [form, n] are n consecutive boxes that the form proves. The boxes themselves are not stored. They follow
from the tree, and they cover the whole box by construction. The digest is the SHA-256 of the content as canonical JSON.
"""

import hashlib
import importlib.metadata
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby
from typing import Any

import sympy as sp

from bridge.lowering.branch_and_bound import cut_across
from bridge.questions.certify.expressions import symbols_to_record, to_record
from bridge.questions.certify.proving import MOST_CUTS, Leaf, Node, Outcome, Split, Status
from bridge.questions.certify.scalars import Box, root_of, volume
from symbolic.derivations.inequalities import Inequality
from symbolic.words.errors import UsageError

FORMAT, VERSION = "boundsmith-certificate", 1
OPEN = "open"
MOST_BYTES = 16 << 20  # of a file: four million cuts, read into a few hundred MiB

Parameters = Mapping[str, Any]


@dataclass(frozen=True)
class Origin:
    """The result that states the inequality, and the parameters at which it does."""

    result: str
    quantity: str = ""
    parameters: Parameters = field(default_factory=dict)


@dataclass(frozen=True)
class CertifiedClaim:
    """An outcome with the origin of its inequality; None for an inequality that the user typed."""

    outcome: Outcome
    origin: Origin | None = None


def certificate_text(claims: Sequence[CertifiedClaim]) -> str:
    """The text of the file. Raises UsageError for content that a certificate cannot store."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "package": importlib.metadata.version("boundsmith"),
        "claims": [claim_record(claim) for claim in claims],
    }
    text = json.dumps({**content, "digest": digest(content)}, ensure_ascii=True, separators=(",", ":")) + "\n"
    if len(text) > MOST_BYTES:
        raise UsageError(
            f"the certificate would have {len(text)} bytes, and a re-check reads at most {MOST_BYTES}; "
            "certify fewer inequalities at a time."
        )
    return text


def digest(content: Mapping[str, Any]) -> str:
    """SHA-256 over everything but the digest itself."""
    body = {name: value for name, value in content.items() if name != "digest"}
    canonical = json.dumps(body, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def claim_record(claim: CertifiedClaim) -> dict[str, Any]:
    outcome = claim.outcome
    record: dict[str, Any] = {
        "inequality": inequality_record(outcome.inequality),
        "origin": None if claim.origin is None else origin_record(claim.origin),
        "verdict": str(outcome.status),
    }
    if outcome.status is Status.REFUTED:
        assert outcome.value is not None  # a refuting point is stored with its value
        record["point"] = {symbol.name: str(Fraction(value)) for symbol, value in outcome.point.items()}
        return record | {"value": str(Fraction(outcome.value))}
    nodes = without_open_cuts(outcome.nodes or (Leaf(OPEN),))
    return record | {"share": str(settled_share(outcome.inequality, nodes)), "tree": tree_record(outcome, nodes)}


def without_open_cuts(nodes: Sequence[Node]) -> list[Node]:
    """The same tree without cuts of boxes that stay open as a whole: an undecided run stores what it settled."""
    trees: list[tuple[Any, ...]] = []  # node, lower part, upper part
    for node in reversed(nodes):
        parts = (trees.pop(), trees.pop()) if isinstance(node, Split) else ()
        trees.append((Leaf(OPEN),) if parts and all(each == (Leaf(OPEN),) for each in parts) else (node, *parts))
    kept: list[Node] = []
    while trees:
        tree = trees.pop()
        kept.append(tree[0])
        trees += tree[:0:-1]
    return kept


def inequality_record(inequality: Inequality) -> dict[str, Any]:
    """The inequality as JSON; the order of the coordinates is part of it."""
    where = f"inequality '{inequality.name}'"
    form = inequality.form
    return {
        "name": inequality.name,
        "symbols": symbols_to_record(inequality.box, where),
        "box": [[symbol.name, str(low), str(high)] for symbol, (low, high) in inequality.box.items()],
        "expression": to_record(inequality.expression, where),
        "where": [to_record(condition, where) for condition in inequality.where],
        "strict": inequality.strict,
        "vanishing": [symbol.name for symbol in inequality.vanishing],
        "form": None
        if form is None
        else {
            "vector": [to_record(sp.sympify(entry), where) for entry in form[0]],
            "matrix": [[to_record(sp.sympify(entry), where) for entry in row] for row in form[1]],
        },
        "meaning": inequality.meaning,
        "because": {symbol.name: reason for symbol, reason in inequality.because.items()},
    }


def origin_record(origin: Origin) -> dict[str, Any]:
    parameters = {name: parameter_record(name, value) for name, value in origin.parameters.items()}
    return {"result": origin.result, "quantity": origin.quantity, "parameters": parameters}


def parameter_record(name: str, value: Any) -> list[str]:
    """A parameter with its type, so that the same value can be restored exactly."""
    if type(value) is int:
        return ["int", str(value)]
    if type(value) is float and math.isfinite(value):
        return ["float", repr(value)]
    if type(value) is str:
        return ["text", value]
    if isinstance(value, sp.Rational):
        return ["rational", str(value)]
    raise UsageError(f"certificate: the parameter {name} = {value!r} is neither a finite number nor a text.")


def tree_record(outcome: Outcome, nodes: Sequence[Node]) -> list[list[Any]]:
    boxes = (box for box, _ in boxes_of(root_of(outcome.inequality), nodes))
    record: list[list[Any]] = []
    for by, run in groupby(zip(boxes, nodes, strict=True), key=lambda pair: getattr(pair[1], "by", None)):
        pairs = list(run)
        if by is not None:
            record.append([by, len(pairs)])
        else:
            record += [_split_record(box, node) for box, node in pairs if isinstance(node, Split)]
    return record


def _split_record(box: Box, split: Split) -> list[Any]:
    low, high = box[split.axis]
    return [split.axis] if 2 * split.at == low + high else [split.axis, str(Fraction(split.at))]


class TreeError(ValueError):
    """The nodes do not form a tree of boxes. The message gives the fault and the node."""


def boxes_of(root: Box, nodes: Iterable[Node | Callable[[Box], Node]]) -> Iterator[tuple[Box, Node]]:
    """Each node with its box, rebuilt from the root; the leaves cover it by construction. Raises TreeError.

    A node may be a function of its box (for a cut in the middle).
    """
    waiting = [(root, 0)]
    for at, given in enumerate(nodes):
        if not waiting:
            raise TreeError(f"node {at}: the tree is complete before it")
        box, cuts = waiting.pop()
        node = given if isinstance(given, Split | Leaf) else given(box)
        if isinstance(node, Split):
            if cuts == MOST_CUTS:
                raise TreeError(f"node {at}: a box is cut more than {MOST_CUTS} times")
            waiting += ((part, cuts + 1) for part in reversed(_cut(box, node, at)))
        yield box, node
    if waiting:
        raise TreeError(f"{len(waiting)} boxes have no node: the tree is truncated")


def _cut(box: Box, split: Split, at: int) -> tuple[Box, Box]:
    if not 0 <= split.axis < len(box):
        raise TreeError(f"node {at}: there is no axis {split.axis}")
    low, high = box[split.axis]
    if not low < split.at < high:
        raise TreeError(f"node {at}: the cut at {split.at} is outside of [{low}, {high}]")
    return cut_across(box, split.axis, split.at)


def settled_share(inequality: Inequality, nodes: Sequence[Node]) -> Fraction:
    """The exact share of the box's volume in leaves that are not open."""
    root = root_of(inequality)
    left = sum((volume(box, root) for box, node in boxes_of(root, nodes) if node == Leaf(OPEN)), start=Fraction(0))
    return 1 - left
