"""One claim of a certificate as definitions, lemmas and a theorem of Coq.

The tree of boxes is the proof: a lemma for each subtree of at most 40 leaves, whose cuts are cases and whose leaves are
calls of the tactic `interval`, and the theorem, whose cuts lead to the lemmas.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import sympy as sp

from bridge.questions.certify.coq.terms import CoqTerms, Need, Record, functions_of, names_in_coq, number_in_coq
from bridge.questions.certify.definedness import DomainCondition, evaluated
from bridge.questions.certify.expressions import from_record
from bridge.questions.certify.programs.check_certificate import derivative, read
from bridge.questions.certify.requirements import Requirement
from bridge.questions.certify.scalars import BITS as PROVER_BITS
from bridge.questions.certify.scalars import Cell, Scalar
from numeric.balls import working_precision
from symbolic.derivations.definedness import Relation
from symbolic.words.errors import UsageError

MOST_LEAVES = 40  # of a lemma: Coq keeps the proof of one in memory
DEPTH = 24  # of the cuts by which `interval` proves a leaf that its plain call does not
BITS = 60  # computed by whole numbers, so that no axiom about floats is used

Ranges = tuple[tuple[Fraction, Fraction], ...]
BY_OTHERS = {"tanh": "tanh_by_exp", "Max": "Rmax_by_Rabs", "Min": "Rmin_by_Rabs"}
DEFINED_BY = {"sinh": "sinh", "cosh": "cosh"}


@dataclass(frozen=True)
class ProofTree:
    """A box that a form proves (`by`), or one that is cut at a place into a lower and an upper part."""

    by: str = ""
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
        axis, at = node[0], Fraction(node[1]) if len(node) > 1 else sum(box[node[0]], Fraction(0)) / 2
        return ProofTree("", (axis, at), tuple(grown(part) for part in halves(box, axis, at)))

    return grown(root)


def _nodes(record: Sequence[Any]) -> Iterator[Any]:
    for node in record:
        if isinstance(node, dict):
            raise UsageError(
                f"certify --coq: a proof by the step '{node.get('step')}' is not written in Coq; omit --coq."
            )
        yield from [node[0]] * node[1] if isinstance(node[0], str) else [node]


def halves(box: Ranges, axis: int, at: Fraction) -> tuple[Ranges, Ranges]:
    low, high = box[axis]
    return (*box[:axis], (low, at), *box[axis + 1 :]), (*box[:axis], (at, high), *box[axis + 1 :])


def holds_on(need: Need, letters: Sequence[str], box: Ranges) -> bool:
    """Whether it holds on the whole box."""
    symbols = {letter: sp.Symbol(letter, real=True) for letter in letters}
    of = evaluated(from_record(need.of, symbols), {})
    relation = {"<>": Relation.NONZERO, "<": Relation.POSITIVE, "<=": Relation.NONNEGATIVE}[need.relation]
    scalars = (Scalar(sign * of, tuple(symbols.values()), PROVER_BITS) for sign in (1, -1))
    with working_precision(PROVER_BITS):
        return Requirement(DomainCondition(of, relation), *scalars).holds_on(Cell(box))


@dataclass
class ClaimInCoq:
    """Writes the claim number `number`. Raises UsageError for what Coq's library or its patterns here do not have."""

    record: Mapping[str, Any]  # as `certificate.claim_record` writes it
    number: int
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        inequality = self.record["inequality"]
        self.letters = [letter for letter, _, _ in inequality["box"]]
        self.root: Ranges = tuple((Fraction(low), Fraction(high)) for _, low, high in inequality["box"])
        self.names = names_in_coq(self.letters)
        self.terms = CoqTerms(self.names)
        self.expression, self.where = inequality["expression"], inequality["where"]
        self.form, self.strict, self.vanishing = inequality["form"], inequality["strict"], inequality["vanishing"]
        self.given = " ".join(self.names.values())
        self.relation = "<" if self.strict else "<="

    @property
    def theorem(self) -> str:
        """Its name; "" where there is none, since the claim is undecided."""
        refuted = "_is_false" if self.record["verdict"] == "refuted" else ""
        return "" if self.record["verdict"] == "undecided" else f"claim_{self.number}{refuted}"

    @cached_property
    def written(self) -> str:
        """The claim's part of the file."""
        name, verdict = self.record["inequality"]["name"], self.record["verdict"]
        self.lines.append(f"(* {self.number}. {_comment(name)} *)")
        if verdict == "undecided":
            self.lines.append("(* It is undecided: there is no theorem. *)")
        else:
            self._definitions()
            self._theorem() if verdict == "proved" else self._refutation()
        return "\n".join(self.lines) + "\n"

    def _definitions(self) -> None:
        """The expression, the conditions and the entries of the form, as functions of the letters."""
        named = {f"f{self.number}": self.expression}
        named |= {self._condition(k): condition for k, condition in enumerate(self.where)}
        if self.form is not None and "form" in self._tree.forms:
            named |= {f"{name}{self.number}": entry for name, entry in self._entries().items()}
        if "hessian" in self._tree.forms:
            named |= {f"{name}{self.number}": slope for name, slope in self._slopes().items()}
        for name, record in named.items():
            self.lines.append(f"Definition {name} ({self.given} : R) : R :=\n  {self.terms.term(record)}.")
        self.lines += [self._plain(named), self._shown(named)]

    def _condition(self, k: int) -> str:
        return f"where{self.number}_{k}"

    def _entries(self) -> dict[str, Record]:
        z, rows = self.form["vector"], self.form["matrix"]
        if len(z) != 2:
            raise UsageError(f"certify --coq: a form of {len(z)} rows is not written in Coq, which has those of two.")
        return {"z": z[0], "w": z[1], "a": rows[0][0], "b": rows[0][1], "c": rows[1][1]}

    def _slopes(self) -> dict[str, Record]:
        """The first and second derivative in the letter that vanishes."""
        if len(self.vanishing) != 1:
            raise UsageError("certify --coq: a second derivative in several letters is not written in Coq; omit --coq.")
        letter = ("Symbol", *self.vanishing)
        first = derivative(read(self.expression), letter)
        return {"d": first, "e": derivative(first, letter)}

    @cached_property
    def _tree(self) -> ProofTree:
        return ProofTree() if self.record["verdict"] != "proved" else tree_of(self.record["tree"], self.root)

    def _plain(self, named: Mapping[str, Record]) -> str:
        """The tactic that writes functions by those that the library has."""
        used = functions_of(*named.values())
        rewritten = [lemma for function, lemma in BY_OTHERS.items() if function in used]
        unfolded = [name for function, name in DEFINED_BY.items() if function in used]
        steps = [f"unfold {', '.join(named)}"]
        steps += [f"rewrite {', '.join('?' + lemma for lemma in rewritten)}"] if rewritten else []
        steps += [f"unfold {', '.join([*unfolded, 'Rpower'])}"]
        return f"Ltac plain{self.number} := {'; '.join(steps)}."

    def _shown(self, named: Mapping[str, Record]) -> str:
        cut = [self.names[letter] for at, letter in enumerate(self.letters) if at in self._tree.axes]
        ways = dict.fromkeys(["", *(_cuts(names) for names in (cut, self.names.values()))])
        tried = " | ".join(f"interval with ({cuts}i_prec {BITS})" for cuts in ways)
        arguments = f" {self.given}" if self.given else ""
        return f"Ltac shown{self.number}{arguments} := plain{self.number}; first [{tried} | lra]."

    @property
    def _show(self) -> str:
        return f"shown{self.number} {self.given}".strip()

    def _need(self, shown: str = "") -> str:
        shown = shown or self._show
        return f"first [apply Rgt_not_eq; unfold Rgt; {shown} | apply Rlt_not_eq; {shown} | {shown}]"

    @cached_property
    def _needs(self) -> tuple[list[Need], list[Need]]:
        """What the expression needs: what holds on the whole box, and what the tree has to show with the claim."""
        needs = self.terms.needs(self.expression)
        whole = [need for need in needs if not self.where or holds_on(need, self.letters, self.root)]
        return whole, [need for need in needs if need not in whole]

    # Statements.

    def _goal(self, term: str) -> str:
        return " /\\ ".join([*(need.statement for need in self._needs[1]), f"0 {self.relation} {term}"])

    def _ranges(self, box: Ranges) -> str:
        """Each letter's range as a premise."""
        sides = zip(self.names.values(), box, strict=True)
        return "".join(f"{number_in_coq(a)} <= {name} <= {number_in_coq(b)} -> " for name, (a, b) in sides)

    def _premises(self, box: Ranges) -> str:
        conditions = (f"0 <= {self._condition(k)} {self.given} -> " for k in range(len(self.where)))
        return f"forall {self.given} : R, {self._ranges(box)}\n  {''.join(conditions)}"

    @property
    def _introduced(self) -> str:
        bounds = " ".join(f"H{i}" for i in range(len(self.letters)))
        conditions = " ".join(f"C{k}" for k in range(len(self.where)))
        return f"intros {self.given} {bounds} {conditions}.".replace("  ", " ").replace(" .", ".")

    def _theorem(self) -> None:
        if self._needs[0]:
            self._defined()
        if "form" in self._tree.forms:
            self._form()
        skeleton = self._skeleton(self._tree, self.root)
        conditions = "".join(f"0 <= {self.terms.term(condition)} -> " for condition in self.where)
        self.lines.append(
            f"Theorem {self.theorem} : forall {self.given} : R, {self._ranges(self.root)}\n  {conditions}"
            f"{self._goal(self.terms.term(self.expression))}."
        )
        self.lines += ["Proof.", self._introduced, f"change ({self._goal(f'f{self.number} {self.given}')})."]
        self.lines += [*skeleton, "Qed."]

    def _skeleton(self, tree: ProofTree, box: Ranges) -> list[str]:
        """The cuts above the lemmas, each of which is written first."""
        if tree.leaves > MOST_LEAVES:
            return self._cases(tree, box, self._skeleton)
        name = f"boxes{self.number}_{sum(line.startswith('Lemma boxes') for line in self.lines)}"
        self.lines.append(f"Lemma {name} : {self._premises(box)}{self._goal(f'f{self.number} {self.given}')}.")
        self.lines += ["Proof.", self._introduced, *self._leaves(tree, box), "Qed."]
        return [f"apply {name}; try assumption; split; lra."]

    def _leaves(self, tree: ProofTree, box: Ranges) -> list[str]:
        if tree.parts:
            return self._cases(tree, box, self._leaves)
        if tree.by.startswith("outside "):
            return [f"exfalso; apply (Rle_not_lt _ _ C{int(tree.by.removeprefix('outside '))}); {self._show}."]
        needs = [f"split; [{self._need()} | ]." for _ in self._needs[1]]
        return [*needs, *(self._second_order(box) if tree.by == "hessian" else [self._leaf(tree.by)])]

    def _cases(self, tree: ProofTree, box: Ranges, of: Any) -> list[str]:
        axis, at = tree.cut
        lower, upper = (of(part, half) for part, half in zip(tree.parts, halves(box, axis, at), strict=True))
        name = self.names[self.letters[axis]]
        return [f"destruct (Rle_lt_dec {name} {number_in_coq(at)}). {{", *lower, "} {", *upper, "}"]

    def _leaf(self, form: str) -> str:
        if form in ("range", "slope"):
            return f"{self._show}."
        if form == "form":
            return f"rewrite form{self.number} by (split; lra); apply form_step; {self._show}."
        raise UsageError(f"certify --coq: a box that the form '{form}' proves is not written in Coq; omit --coq.")

    def _second_order(self, box: Ranges) -> list[str]:
        """Taylor in the letter that vanishes, from 0, where function and slope are 0."""
        k, at = self.number, self.letters.index(self.vanishing[0])
        low, high = (number_in_coq(end) for end in (min(box[at][0], Fraction(0)), max(box[at][1], Fraction(0))))
        letters = list(self.names.values())

        def along(name: str, value: str = "t") -> str:
            return " ".join([f"{name}{k}", *letters[:at], value, *letters[at + 1 :]])

        need, between = self._need(along("shown")), f"{low} <= t <= {high}"
        lines = []
        for f, slope in (("f", "d"), ("d", "e")):
            lines += [
                f"assert (D{f} : forall t, {between} -> is_derive (fun t => {along(f)}) t ({along(slope)})).",
                f"{{ intros t Ht. unfold {f}{k}, {slope}{k}. auto_derive;",
                f"  [repeat split; first [exact I | {need}]",
                f"  | unfold Rminus; cbn [pow]; field; repeat split; {need}]. }}",
                f"assert (Z{f} : {along(f, '0')} = 0).",
                f"{{ unfold {f}{k}. roots_of_1. field. }}",
            ]
        functions = " ".join(f"(fun t => {along(name)})" for name in ("f", "d", "e"))
        return [
            *lines,
            f"apply (second_step {functions} {low} {high} 0);",
            "[lra | exact Df | exact Dd | exact Zf | exact Zd | | lra].",
            f"intros t Ht. {along('shown')}.",
        ]

    # What the functions need.

    def _defined(self) -> None:
        """That the theorem speaks of real numbers only."""
        claims = " /\\\n  ".join(need.statement for need in self._needs[0])
        self.lines.append(
            f"Lemma {self.theorem}_is_defined : forall {self.given} : R, {self._ranges(self.root)}\n  {claims}."
        )
        self.lines += ["Proof.", self._introduced_ranges, f"repeat split; {self._need()}.", "Qed."]

    @property
    def _introduced_ranges(self) -> str:
        return f"intros {self.given} {' '.join(f'H{i}' for i in range(len(self.letters)))}."

    def _form(self) -> None:
        k = self.number
        z, w, a, b, c = (f"{name}{k} {self.given}" for name in ("z", "w", "a", "b", "c"))
        sums = " + ".join(f"{x} * {e} * {y}" for x, e, y in ((z, a, z), (z, b, w), (w, b, z), (w, c, w)))
        self.lines.append(f"Lemma form{k} : forall {self.given} : R, {self._ranges(self.root)}")
        self.lines.append(f"  f{k} {self.given} = {sums}.")
        unfolded = ", ".join(f"{name}{k}" for name in ("f", "z", "w", "a", "b", "c"))
        self.lines += [
            "Proof.",
            self._introduced_ranges,
            f"unfold {unfolded}; first [ring | field; repeat split; {self._need()}].",
            "Qed.",
        ]

    def _refutation(self) -> None:
        point = [Fraction(self.record["point"][letter]) for letter in self.letters]
        sides = zip(self.names.values(), self.root, strict=True)
        parts = [f"{number_in_coq(a)} <= {letter} <= {number_in_coq(b)}" for letter, (a, b) in sides]
        parts += [f"0 <= {self.terms.term(condition)}" for condition in self.where]
        parts += [f"{self.terms.term(self.expression)} {'<=' if self.strict else '<'} 0"]
        claims = " /\\\n  ".join(parts)
        self.lines.append(f"Theorem {self.theorem} : exists {self.given} : R,\n  {claims}.")
        self.lines += [
            "Proof.",
            f"exists {', '.join(map(number_in_coq, point))}.",
            f"repeat split; first [lra | plain{self.number}; interval with (i_prec {BITS})].",
            "Qed.",
        ]


def _cuts(names: Collection[str]) -> str:
    """The options of `interval` that cut these letters."""
    return "".join(f"i_bisect {name}, " for name in names) + (f"i_depth {DEPTH}, " if names else "")


def _comment(text: str) -> str:
    """Free text that cannot end or open a comment of Coq."""
    return text.replace("(*", "( *").replace("*)", "* )").replace('"', "'")
