"""Goals of steps as definitions and lemmas of Coq: f >= 0 on a region, proved by a tree of boxes and steps."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from bridge.questions.certify.coq.identities import POINT, Equations, Term, as_expression, written
from bridge.questions.certify.coq.scripts import SCRIPTS
from bridge.questions.certify.coq.terms import CoqTerms, number_in_coq
from bridge.questions.certify.coq.trees import BoxLemmas, ProofTree, need_by, shows, tree_of
from bridge.questions.certify.goals import NotShownError, ProofGoal, require
from bridge.questions.certify.programs.check_certificate import number, put, value
from bridge.questions.certify.scalars import BITS as PROVER_BITS
from bridge.questions.certify.step_records import read_step
from numeric.balls import working_precision
from symbolic.words.errors import UsageError

NOWHERE: Mapping[Any, Any] = {}
PLAIN = "rewrite ?Rmax_by_Rabs, ?Rmin_by_Rabs; unfold Rpower; "


@dataclass
class GoalLemmas:
    """Writes, for one claim, the goals of its steps. `lines` is the claim's text."""

    lines: list[str]
    number: int
    terms: CoqTerms
    symbols: Sequence[sp.Symbol]
    _named: dict[Any, str] = field(default_factory=dict)
    _shown: set[str] = field(default_factory=set)
    _lemmas: int = 0

    def name(self, expression: sp.Expr, symbols: Sequence[sp.Symbol]) -> str:
        """The name of the function, defined when it is first asked for."""
        key = (expression, tuple(symbols))
        if key not in self._named:
            self._named[key] = f"g{self.number}_{len(self._named)}"
            letters = self.letters(symbols)
            taking = f" ({' '.join(letters)} : R)" if letters else ""
            self.lines.append(f"Definition {self._named[key]}{taking} : R :=\n  {self.term(expression)}.")
        return self._named[key]

    def letters(self, symbols: Sequence[sp.Symbol]) -> list[str]:
        return [self.terms.names[symbol.name] for symbol in symbols]

    def term(self, expression: sp.Expr) -> str:
        return self.terms.term(written(expression))

    def at(self, goal: ProofGoal, values: Mapping[sp.Symbol, str] = NOWHERE) -> str:
        """The goal's function with some letters at values."""
        letters = (values.get(s, self.terms.names[s.name]) for s in goal.symbols)
        return " ".join([self.name(goal.expression, goal.symbols), *letters])

    def as_expression(self, e: Term) -> sp.Expr:
        return as_expression(e, self.symbols)

    def lemma(self, goal: ProofGoal, record: Sequence[Any]) -> str:
        """Writes the goal's lemma, and those of its steps before it; its name."""
        tree, box = tree_of(record, goal.box), goal.box
        letters = self.letters(goal.symbols)
        name, prefix = f"goal{self.number}_{self._lemmas}", f"goal{self.number}_{self._lemmas}_"
        self._lemmas += 1
        lemmas = BoxLemmas(
            self.lines,
            prefix,
            letters,
            f"0 <= {self.at(goal)}",
            [self.term(each) for each in goal.where],
            lambda leaf, box: self.leaf(goal.on(box), leaf, tree.axes),
        )
        proof = lemmas.skeleton(tree, box)
        self.lines += [f"Lemma {name} : {lemmas.statement(box)}.", "Proof.", lemmas.introduced, *proof, "Qed."]
        return name

    def show(self, goal: ProofGoal, cut_at: Collection[int] = (), values: Mapping[sp.Symbol, str] = NOWHERE) -> str:
        """The call of the tactic that proves something about the goal's letters by `interval`."""
        letters = self.letters(goal.symbols)
        cut = [letters[at] for at in sorted(cut_at)]
        name = "_".join([f"by{self.number}", *letters, *(["at"] if cut else []), *cut])
        if name not in self._shown:
            self._shown.add(name)
            self.lines.append(shows(name, letters, cut, PLAIN))
        return " ".join([name, *(values.get(s, letter) for s, letter in zip(goal.symbols, letters, strict=True))])

    def leaf(self, goal: ProofGoal, leaf: ProofTree, cut: Collection[int]) -> list[str]:
        if leaf.step is not None:
            return self.by_step(goal, leaf.step)
        if leaf.by.startswith("outside "):
            k = int(leaf.by.removeprefix("outside "))
            return [f"exfalso; apply (Rle_not_lt _ _ C{k}); {self.show(goal, cut)}."]
        if leaf.by not in ("range", "slope"):
            raise UsageError(
                f"certify --coq: a box that the form '{leaf.by}' proves is not written in Coq; omit --coq."
            )
        return [f"unfold {self.name(goal.expression, goal.symbols)}; {self.show(goal, cut)}."]

    def by_step(self, goal: ProofGoal, record: Any) -> list[str]:
        """The proof of 0 <= f, with the lemmas of the step's children written first."""
        symbols = {symbol.name: symbol for symbol in goal.symbols}
        fields = {name: each for name, each in record.items() if name != "children"}
        step = read_step(fields, symbols, "certify --coq")
        try:
            with working_precision(PROVER_BITS):
                children = step.children(goal, PROVER_BITS)
            require(len(children) == len(record["children"]), f"it has {len(children)} parts")
        except NotShownError as error:
            raise UsageError(f"certify --coq: the step '{step.name}' does not hold: {error}.") from None
        self.name(goal.expression, goal.symbols)
        script = Script(self, goal, [Child(self, *each) for each in zip(children, record["children"], strict=True)])
        SCRIPTS[type(step)](script, step)
        return script.lines


class Child:
    """A goal that a step leaves."""

    def __init__(self, lemmas: GoalLemmas, goal: ProofGoal, record: Sequence[Any]) -> None:
        self.goal, self.lemma = goal, "" if goal.empty else lemmas.lemma(goal, record)


class Script:
    """The lines of one step's proof."""

    def __init__(self, lemmas: GoalLemmas, goal: ProofGoal, children: Sequence[Child]) -> None:
        self.lemmas, self.goal, self.children = lemmas, goal, children
        self.lines: list[str] = []
        self.f, self.raw = lemmas.at(goal), written(goal.expression)
        self.f_at = f"0 <= {self.f}"
        self.show = lemmas.show(goal)
        self.count = 0

    def add(self, *lines: str) -> None:
        self.lines += lines

    def term(self, expression: sp.Expr) -> str:
        return self.lemmas.term(expression)

    def function(self, goal: ProofGoal) -> str:
        return self.lemmas.name(goal.expression, goal.symbols)

    def applied(self, child: Child) -> str:
        """The tactic that applies the child's lemma, or shows that its region is empty."""
        return "exfalso; lra" if child.goal.empty else f"apply {child.lemma}; premise"

    def need(self, at: sp.Symbol | None = None) -> str:
        """The tactic that proves what a term needs; `at` is the letter that is at the point."""
        values = {at: POINT} if at is not None else {}
        return f"({need_by(self.lemmas.show(self.goal, values=values))})"

    def _equations(self, raw: Sequence[Term], at: sp.Symbol | None = None) -> Equations:
        return Equations(self.lemmas.terms, self.goal, self.need(at), *raw)

    def close(self, *raw: Term) -> None:
        """Proves an equation, by what `raw` has of functions."""
        equations = self._equations(raw)
        self.add(*equations.asserted, *equations.rewritten_goal, equations.closed)

    def equation(
        self,
        name: str,
        left: str,
        right: str,
        *raw: Term,
        unfolded: Sequence[str],
        first: str = "",
        at: sp.Symbol | None = None,
    ) -> None:
        """Asserts that two terms are equal."""
        equations = self._equations(raw, at)
        unfold = f"unfold {', '.join(dict.fromkeys(unfolded))}."
        self.add(f"assert ({name} : {left} = {right}).", "{", *filter(None, [first, unfold]))
        self.add(*equations.asserted, *equations.rewritten_goal, equations.closed, "}")

    def derivative(self, raw: Sequence[Term], x: sp.Symbol, unfolded: Sequence[ProofGoal]) -> None:
        """Proves a derivative in the letter x at the point."""
        moved = [put(each, ("Symbol", x.name), ("Symbol", POINT)) for each in raw]
        equations = self._equations(moved, x)
        asserted, rewritten = equations.asserted, equations.rewritten_goal
        self.add(
            f"unfold {', '.join(dict.fromkeys(map(self.function, unfolded)))}. auto_derive;",
            f"[repeat split; first [exact I | {self.need(x)}] | ].",
            *asserted,
            "unfold Rminus, Rdiv in *; cbn [pow INR Init.Nat.pred] in *.",
            *rewritten,
            equations.closed,
        )

    def holds(self, child: Child) -> str:
        """Asserts the child's goal; its name."""
        self._fixed(child)
        name = f"holds_{self.count}"
        self.count += 1
        claim = "False" if child.goal.empty else f"0 <= {self.lemmas.at(child.goal)}"
        self.add(f"assert ({name} : {claim}) by ({self.applied(child)}).")
        return name

    def _fixed(self, child: Child) -> dict[sp.Symbol, Term]:
        """Writes that the letters which the child lacks have their only value; these values."""
        values = {s: number(x) for s, x in child.goal.fixed if s in self.goal.symbols}
        for s, x in values.items():
            letter = self.lemmas.terms.names[s.name]
            self.add(f"assert (is_{letter} : {letter} = {number_in_coq(value(x))}) by lra.")
        return values

    def conclude(self, child: Child, values: Mapping[sp.Symbol, Term] = NOWHERE) -> None:
        """Proves that f >= 0, with some letters at values, by the child, whose function is f there."""
        if child.goal.empty:
            self.add("exfalso; lra.")
            return
        fixed, raw = self._fixed(child), self.raw
        for s, x in [*values.items(), *fixed.items()]:
            raw = put(raw, ("Symbol", s.name), x)
        texts = {s: self.lemmas.terms.term(x) for s, x in values.items()}
        left, right = self.lemmas.at(self.goal, texts), self.lemmas.at(child.goal)
        if left != right:
            first = "".join(f"rewrite ?is_{self.lemmas.terms.names[s.name]}. " for s in fixed)
            both = [self.function(self.goal), self.function(child.goal)]
            self.equation("same_f", left, right, raw, written(child.goal.expression), unfolded=both, first=first)
            self.add("rewrite same_f.")
        self.add(f"{self.applied(child)}.")
