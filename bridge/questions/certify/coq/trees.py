"""Trees of boxes as lemmas of Coq: one for each subtree of at most 40 leaves, whose cuts are cases."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from bridge.questions.certify.coq.terms import number_in_coq

MOST_LEAVES = 40  # of a lemma: Coq keeps the proof of one in memory
DEPTH = 24  # of the cuts by which `interval` proves a leaf that its plain call does not
BITS = 60  # computed by whole numbers, so that no axiom about floats is used

Ranges = tuple[tuple[Fraction, Fraction], ...]


@dataclass(frozen=True)
class ProofTree:
    """A box that a form proves (`by`) or a step, or one that is cut at a place into a lower and an upper part."""

    by: str = ""
    step: Mapping[str, Any] | None = None
    cut: tuple[int, Fraction] = (0, Fraction(0))
    parts: tuple["ProofTree", ...] = ()

    @cached_property
    def leaves(self) -> int:
        return sum(part.leaves for part in self.parts) if self.parts else 1

    @cached_property
    def axes(self) -> frozenset[int]:
        """The letters that are cut: the others matter less, and `interval` cuts them only where it has to."""
        return frozenset({self.cut[0]}).union(*(part.axes for part in self.parts)) if self.parts else frozenset()

    @cached_property
    def forms(self) -> frozenset[str]:
        return frozenset().union(*(part.forms for part in self.parts)) if self.parts else frozenset({self.by})


def tree_of(record: Sequence[Any], root: Ranges) -> ProofTree:
    """The tree of a record in preorder."""
    nodes = _nodes(record)

    def grown(box: Ranges) -> ProofTree:
        node = next(nodes)
        if isinstance(node, str):
            return ProofTree(node)
        if isinstance(node, dict):
            return ProofTree("step", node)
        axis, at = node[0], Fraction(node[1]) if len(node) > 1 else sum(box[node[0]], Fraction(0)) / 2
        return ProofTree(cut=(axis, at), parts=tuple(grown(part) for part in halves(box, axis, at)))

    return grown(root)


def _nodes(record: Sequence[Any]) -> Iterator[Any]:
    for node in record:
        yield from [node[0]] * node[1] if not isinstance(node, dict) and isinstance(node[0], str) else [node]


def halves(box: Ranges, axis: int, at: Fraction) -> tuple[Ranges, Ranges]:
    low, high = box[axis]
    return (*box[:axis], (low, at), *box[axis + 1 :]), (*box[:axis], (at, high), *box[axis + 1 :])


@dataclass
class BoxLemmas:
    """Writes lemmas that the goal holds on a region: for all letters in a box at which each condition is >= 0.

    `leaf` gives the proof of a leaf of the tree on its box.
    """

    lines: list[str]
    name: str
    letters: Sequence[str]
    goal: str
    conditions: Sequence[str]
    leaf: Callable[[ProofTree, Ranges], list[str]]
    count: int = field(default=0)

    @property
    def given(self) -> str:
        return " ".join(self.letters)

    @property
    def introduced(self) -> str:
        """The letters, their ranges H0, ... and the conditions C0, ..."""
        ranges, conditions = (f"H{i}" for i in range(len(self.letters))), (f"C{k}" for k in range(len(self.conditions)))
        return " ".join(["intros", *self.letters, *ranges, *conditions]) + "."

    def statement(self, box: Ranges) -> str:
        premises = "".join(f"0 <= {each} -> " for each in self.conditions)
        quantified = f"forall {self.given} : R, " if self.letters else ""
        return f"{quantified}{ranges_as_premises(self.letters, box)}\n  {premises}{self.goal}"

    def skeleton(self, tree: ProofTree, box: Ranges) -> list[str]:
        """The cuts above the lemmas, each of which is written first."""
        if tree.leaves > MOST_LEAVES:
            return self._cases(tree, box, self.skeleton)
        name = f"{self.name}{self.count}"
        self.count += 1
        proof = self.leaves(tree, box)
        self.lines += [f"Lemma {name} : {self.statement(box)}.", "Proof.", self.introduced, *proof, "Qed."]
        return [f"apply {name}; premise."]

    def leaves(self, tree: ProofTree, box: Ranges) -> list[str]:
        return self._cases(tree, box, self.leaves) if tree.parts else self.leaf(tree, box)

    def _cases(self, tree: ProofTree, box: Ranges, of: Callable[[ProofTree, Ranges], list[str]]) -> list[str]:
        axis, at = tree.cut
        lower, upper = (of(part, half) for part, half in zip(tree.parts, halves(box, axis, at), strict=True))
        return [
            f"destruct (Rle_lt_dec {self.letters[axis]} {number_in_coq(at)}). {{", *lower, "} {", *upper, "}"
        ]  # fmt: skip


def ranges_as_premises(letters: Sequence[str], box: Ranges) -> str:
    sides = zip(letters, box, strict=True)
    return "".join(f"{number_in_coq(a)} <= {letter} <= {number_in_coq(b)} -> " for letter, (a, b) in sides)


def shows(name: str, letters: Sequence[str], cut: Sequence[str], first: str = "") -> str:
    """The tactic `name` that proves a leaf by `interval`: plainly, by cuts of its own, by slopes; or by cases."""
    cuts = ["".join(f"i_bisect {x}, " for x in each) + f"i_depth {DEPTH}, " for each in (cut, letters) if each]
    ways = dict.fromkeys(["", *cuts, *(f"{each}i_autodiff {x}, " for each in ["", *cuts] for x in letters)])
    tried = " | ".join(f"interval with ({way}i_prec {BITS})" for way in ways)
    return f"Ltac {' '.join([name, *letters])} := {first}first [{tried} | kinks]."


def need_by(shown: str) -> str:
    """The tactic that proves what a term needs: a term that differs from 0, is at least 0 or above 0."""
    return f"first [apply Rgt_not_eq; unfold Rgt; {shown} | apply Rlt_not_eq; {shown} | {shown}]"
