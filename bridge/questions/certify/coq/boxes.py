"""One claim of a certificate as definitions, lemmas and a theorem of Coq.

The tree of boxes is the proof: a lemma for each subtree of at most 40 leaves, whose cuts are cases and whose leaves are
calls of the tactic `interval`, and the theorem, whose cuts lead to the lemmas.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import sympy as sp

from bridge.questions.certify.coq.goals import GoalLemmas, Script
from bridge.questions.certify.coq.identities import POINT, as_term, written, written_out
from bridge.questions.certify.coq.terms import CoqTerms, Need, Record, functions_of, names_in_coq, number_in_coq
from bridge.questions.certify.coq.trees import (
    BITS,
    BoxLemmas,
    ProofTree,
    Ranges,
    need_by,
    ranges_as_premises,
    shows,
    tree_of,
)
from bridge.questions.certify.definedness import DomainCondition, evaluated
from bridge.questions.certify.expressions import from_record
from bridge.questions.certify.goals import ProofGoal
from bridge.questions.certify.parsing import parse_inequality
from bridge.questions.certify.programs.check_certificate import derivative, read
from bridge.questions.certify.requirements import Requirement
from bridge.questions.certify.scalars import BITS as PROVER_BITS
from bridge.questions.certify.scalars import Cell, Scalar
from numeric.balls import working_precision
from symbolic.derivations.definedness import Relation
from symbolic.words.errors import UsageError

BY_OTHERS = {f: f"{f}_by_exp" for f in ("tanh", "sinh", "cosh")} | {"Max": "Rmax_by_Rabs", "Min": "Rmin_by_Rabs"}


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
        self.terms = CoqTerms({**self.names, POINT: POINT})
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
        self.lines += [self._plain(named), self._shown]

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
        steps = [f"unfold {', '.join(named)}"]
        steps += [f"rewrite {', '.join('?' + lemma for lemma in rewritten)}"] if rewritten else []
        return f"Ltac plain{self.number} := {'; '.join(steps)}."

    @property
    def _shown(self) -> str:
        cut = [self.names[letter] for at, letter in enumerate(self.letters) if at in self._tree.axes]
        return shows(f"shown{self.number}", list(self.names.values()), cut, f"plain{self.number}; ")

    @property
    def _show(self) -> str:
        return f"shown{self.number} {self.given}".strip()

    def _need(self, shown: str = "") -> str:
        return need_by(shown or self._show)

    @cached_property
    def _needs(self) -> tuple[list[Need], list[Need]]:
        """What the expression needs: what holds on the whole box, and what the tree has to show with the claim."""
        needs = self.terms.needs(self.expression)
        whole = [need for need in needs if not self.where or holds_on(need, self.letters, self.root)]
        return whole, [need for need in needs if need not in whole]

    # Statements.

    def _goal(self, term: str) -> str:
        return " /\\ ".join([*(need.statement for need in self._needs[1]), f"0 {self.relation} {term}"])

    @cached_property
    def _lemmas(self) -> BoxLemmas:
        return BoxLemmas(
            self.lines,
            f"boxes{self.number}_",
            list(self.names.values()),
            self._goal(f"f{self.number} {self.given}"),
            [f"{self._condition(k)} {self.given}" for k in range(len(self.where))],
            self._leaf,
        )

    def _ranges(self) -> str:
        return ranges_as_premises(list(self.names.values()), self.root)

    def _theorem(self) -> None:
        if self._needs[0]:
            self._defined()
        if "form" in self._tree.forms:
            self._form()
        skeleton = self._lemmas.skeleton(self._tree, self.root)
        conditions = "".join(f"0 <= {self.terms.term(condition)} -> " for condition in self.where)
        self.lines.append(
            f"Theorem {self.theorem} : forall {self.given} : R, {self._ranges()}\n  {conditions}"
            f"{self._goal(self.terms.term(self.expression))}."
        )
        self.lines += ["Proof.", self._lemmas.introduced, f"change ({self._goal(f'f{self.number} {self.given}')})."]
        self.lines += [*skeleton, "Qed."]

    def _leaf(self, tree: ProofTree, box: Ranges) -> list[str]:
        if tree.by.startswith("outside "):
            return [f"exfalso; apply (Rle_not_lt _ _ C{int(tree.by.removeprefix('outside '))}); {self._show}."]
        needs = [f"split; [{self._need()} | ]." for _ in self._needs[1]]
        return [*needs, *(self._by_form(tree.by, box) if tree.step is None else self._by_step(tree.step, box))]

    def _by_form(self, form: str, box: Ranges) -> list[str]:
        if form in ("range", "slope"):
            return [f"{self._show}."]
        if form == "form":
            return [f"rewrite form{self.number} by (split; lra); apply form_step; {self._show}."]
        if form == "hessian":
            return self._second_order(box)
        raise UsageError(f"certify --coq: a box that the form '{form}' proves is not written in Coq; omit --coq.")

    @cached_property
    def _steps(self) -> tuple[GoalLemmas, ProofGoal]:
        """The writer of steps, and their first goal: the claim as SymPy simplifies it."""
        goal = ProofGoal.of(parse_inequality(self.record["inequality"], "certify --coq"))
        return GoalLemmas(self.lines, self.number, self.terms, goal.symbols), goal

    def _by_step(self, step: Mapping[str, Any], box: Ranges) -> list[str]:
        """The claim from that goal, which a lemma proves on the box."""
        lemmas, whole = self._steps
        goal = whole.on(box)
        lemma = lemmas.lemma(goal, [step])
        script = Script(lemmas, goal, [])
        wheres = ", ".join(self._condition(k) for k in range(len(self.where)))
        if wheres:
            script.add(f"unfold {wheres} in *.")
        raw = written_out(as_term(self.expression)), written(goal.expression)
        first = f"unfold f{self.number}. rewrite ?tanh_by_exp, ?sinh_by_exp, ?cosh_by_exp. unfold Rpower."
        left = f"f{self.number} {self.given}"
        script.equation("same", left, script.f, *raw, unfolded=[script.function(goal)], first=first)
        return [*script.lines, f"rewrite same; apply {lemma}; premise."]

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
        self.lines.append(f"Lemma {self.theorem}_is_defined : forall {self.given} : R, {self._ranges()}\n  {claims}.")
        self.lines += ["Proof.", self._introduced_ranges, f"repeat split; {self._need()}.", "Qed."]

    @property
    def _introduced_ranges(self) -> str:
        return f"intros {self.given} {' '.join(f'H{i}' for i in range(len(self.letters)))}."

    def _form(self) -> None:
        k = self.number
        z, w, a, b, c = (f"{name}{k} {self.given}" for name in ("z", "w", "a", "b", "c"))
        sums = " + ".join(f"{x} * {e} * {y}" for x, e, y in ((z, a, z), (z, b, w), (w, b, z), (w, c, w)))
        self.lines.append(f"Lemma form{k} : forall {self.given} : R, {self._ranges()}")
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


def _comment(text: str) -> str:
    """Free text that cannot end or open a comment of Coq."""
    return text.replace("(*", "( *").replace("*)", "* )").replace('"', "'")
