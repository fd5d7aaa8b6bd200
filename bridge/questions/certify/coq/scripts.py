"""The steps of certificates as proofs in Coq: each writes 0 <= f from its children, by the lemmas of Steps.v."""

from collections.abc import Callable, Sequence
from math import lcm
from typing import Any

import sympy as sp

from bridge.questions.certify.coq.identities import POINT, SIDE, is_root, written
from bridge.questions.certify.coq.polynomials import POLYNOMIAL_SCRIPTS
from bridge.questions.certify.coq.terms import number_in_coq
from bridge.questions.certify.goals import ProofGoal, affine_in
from bridge.questions.certify.letters import are_equal
from bridge.questions.certify.programs.check_certificate import KINKS, nodes, put
from bridge.questions.certify.scalars import BITS as PROVER_BITS
from bridge.questions.certify.step_neurons import ByNeurons
from bridge.questions.certify.steps import (
    ByCases,
    ByFactors,
    ByLinear,
    ByLipschitz,
    ByLogs,
    ByMonotone,
    ByPiece,
    BySum,
    pieces_of,
)
from symbolic.words.errors import UsageError

MOST_KINKS = 12  # of a network: each doubles the cases

Script = Any  # of `goals` beside it


def _by_factors(script: Script, step: ByFactors) -> None:
    odd, parts, raw = iter(script.children), [], [script.raw]
    constant, unfolded = step.constant, [script.function(script.goal)]
    for a, k, sign in step.factors:
        part = f"({script.term(a)} ^ {abs(k) // 2}) ^ 2"
        if k % 2:
            child = next(odd)
            script.holds(child)
            a, constant = child.goal.expression, constant * sign
            unfolded.append(script.function(child.goal))
            part = f"({script.lemmas.at(child.goal)}) ^ {abs(k)}"
        raw.append(written(a))
        parts.append(part if k > 0 else f"/ ({part})")
    script.equation("same_f", script.f, " * ".join([number_in_coq(constant), *parts]), *raw, unfolded=unfolded)
    script.add("rewrite same_f; nonnegative.")


def _by_sum(script: Script, step: BySum) -> None:
    for child in script.children:
        script.holds(child)
    terms = " + ".join(f"({script.lemmas.at(child.goal)})" for child in script.children)
    raw = (written(child.goal.expression) for child in script.children)
    unfolded = [script.function(each.goal) for each in (script, *script.children)]
    script.equation("same_f", script.f, terms, script.raw, *raw, unfolded=unfolded)
    script.add("rewrite same_f; lra.")


def _by_cases(script: Script, step: ByCases) -> None:
    script.add(f"destruct (Rle_lt_dec 0 {script.term(step.at)}). {{")
    script.conclude(script.children[0])
    script.add("} {")
    script.conclude(script.children[1])
    script.add("}")


def _by_piece(script: Script, step: ByPiece) -> None:
    *differences, left = script.children
    names = [script.holds(child) for child in differences]
    chosen = pieces_of(step.node)[step.choice]
    unfolded = ", ".join(script.function(child.goal) for child in differences)
    script.add(f"assert (is_kink : {script.term(step.node)} = {script.term(chosen)}).")
    script.add(f"{{ unfold {unfolded} in {', '.join(names)}. clear -{' '.join(names)}. kinks. }}")
    script.holds(left)
    raw = put(script.raw, written(step.node), written(chosen)), written(left.goal.expression)
    first = f"unfold {script.function(script.goal)}. rewrite is_kink."
    at = script.lemmas.at(left.goal)
    script.equation("same_f", script.f, at, *raw, unfolded=[script.function(left.goal)], first=first)
    script.add("rewrite same_f; assumption.")


def _by_linear(script: Script, step: ByLinear) -> None:
    script.add(f"unfold {script.function(script.goal)}; lra.")


def _by_monotone(script: Script, step: ByMonotone) -> None:
    """f >= 0 follows from f >= 0 at a side that is beyond no other one; then which side that is."""
    goal, x, sign = script.goal, step.letter, step.sign
    letter, (slope, *children) = script.lemmas.terms.names[x.name], script.children
    sides = _sides(goal, step)
    beyond = [_ordered(script.term(side), SIDE, sign) for side in sides]
    along = [script.lemmas.at(goal, {x: each}) for each in (POINT, SIDE)]
    premises = "".join(f"{each} -> " for each in [*beyond, _ordered(SIDE, letter, sign), f"0 <= {along[1]}"])
    script.add(f"assert (at_side : forall {SIDE}, {premises}{script.f_at}).")
    rate = script.lemmas.at(slope.goal, {x: POINT}) if not slope.goal.empty else "0"
    rate, lemma = (rate, "growing_step") if sign > 0 else (f"(- {rate})", "falling_step")
    _require_smooth(script, goal.ranges, [goal.where[k] for k in step.where], goal.expression)
    low, high = next((low, high) for symbol, low, high in goal.ranges if symbol == x)
    between = f"assert (inside : {number_in_coq(low)} <= {POINT} <= {number_in_coq(high)}) by lra."
    script.add(
        f"{{ intros {SIDE} {' '.join(f'side_{k}' for k in range(len(sides) + 1))} at_it.",
        f"apply ({lemma} (fun {POINT} => {along[0]}) (fun {POINT} => {rate}) {SIDE} {letter});",
        "[lra | | | exact at_it].",
        f"- intros {POINT} between. {between}",
    )
    script.derivative([script.raw, written(slope.goal.expression)], x, [script.goal, slope.goal])
    opposite = "" if sign > 0 else "rewrite Ropp_involutive. "
    script.add(f"- intros {POINT} between. {between} cbv beta. {opposite}{script.applied(slope)}. }}")
    _farthest(script, x, sides, children, sign)


def _require_smooth(script: Script, ranges: Any, where: Sequence[sp.Expr], *functions: sp.Expr) -> None:
    """Raises UsageError where a root of 0 would have to be differentiated."""
    for node in dict.fromkeys(each for f in functions for each in nodes(written(f)) if is_root(each)):
        base = script.lemmas.as_expression(node[1])
        if not ProofGoal(base, ranges, tuple(where)).defines(1 / sp.sqrt(base), bits=PROVER_BITS):
            raise UsageError(
                f"certify --coq: a step differentiates a root of {base}, which may be 0; that is not written in Coq; "
                f"omit --coq."
            )


def _sides(goal: ProofGoal, step: ByMonotone) -> list[sp.Expr]:
    x, sign = step.letter, step.sign
    low, high = next((low, high) for symbol, low, high in goal.ranges if symbol == x)
    sides = [low if sign > 0 else high]
    for condition in (goal.where[k] for k in dict.fromkeys(step.where)):
        parts = affine_in(condition, x) if condition.has(x) else None
        if parts is not None and parts[0] * sign > 0:
            sides.append(sp.expand(-parts[1] / parts[0]))
    return sides


def _ordered(a: str, b: str, sign: int) -> str:
    return f"{a} <= {b}" if sign > 0 else f"{b} <= {a}"


def _farthest(script: Script, x: sp.Symbol, sides: Sequence[sp.Expr], children: Sequence[Any], sign: int) -> None:
    """The cases of which side is the largest lower one (the least upper one)."""

    def among(best: int, k: int) -> None:
        if k == len(sides):
            script.add(f"apply (at_side {script.term(sides[best])}); [{'lra | ' * (len(sides) + 1)}].")
            script.conclude(children[best], {x: written(sides[best])})
            return
        a, b = (script.term(sides[each]) for each in ((k, best) if sign > 0 else (best, k)))
        script.add(f"destruct (Rle_lt_dec {a} {b}). {{")
        among(best, k + 1)
        script.add("} {")
        among(k, k + 1)
        script.add("}")

    among(0, 1)


def _by_logs(script: Script, step: ByLogs) -> None:
    """n f = ln A - ln B, where the child says that A >= B."""
    parts, rest = step.parts_of(script.goal.expression)
    n = lcm(*(int(c.q) for c, _ in parts))
    inner = f"exp {script.term(n * rest)}"
    sides: list[list[str]] = [[inner], []]
    logs: list[list[str]] = [[script.term(n * rest)], []]
    for k, (c, u) in enumerate(parts):
        of, power = script.term(u), abs(int(c * n))
        script.add(f"assert (positive_{k} : 0 < {of}) by (first [{script.show} | lra]).")
        sides[bool(c < 0)].append(f"{of} ^ {power}")
        logs[bool(c < 0)].append(f"{power} * ln {of}")
    above, below = (" * ".join(each) or "1" for each in sides)
    child, raw = script.children[0], [script.raw, written(sp.exp(n * rest, evaluate=False))]
    holds, raw = script.holds(child), [*raw, *(written(u) for _, u in parts)]
    of = script.function(child.goal)
    at = script.lemmas.at(child.goal)
    script.equation("same_sides", at, f"{above} - {below}", *raw, written(child.goal.expression), unfolded=[of])
    for name, side, log in (("above", above, logs[0]), ("below", below, logs[1])):
        script.add(f"assert (log_{name} : ln ({side}) = {' + '.join(log) or '0'}).")
        script.add("{ logarithms. }")
    script.add(f"rewrite same_sides in {holds}. apply (logs_step {n} ({above}) ({below})); [lra | positive | lra | ].")
    script.add(f"rewrite log_above, log_below. unfold {script.function(script.goal)}.")
    script.close(script.raw, written(rest))


def _by_lipschitz(script: Script, step: ByLipschitz) -> None:
    x, y = step.letters
    a, b = script.lemmas.letters((x, y))
    lower, upper = script.children
    ends = {symbol: (low, high) for symbol, low, high in script.goal.ranges}
    hull = ((x, min(ends[x][0], ends[y][0]), max(ends[x][1], ends[y][1])),)
    low, high = map(number_in_coq, hull[0][1:])
    _require_smooth(script, hull, (), step.function)
    inner, other = written(step.function), written(step.function.xreplace({x: y}))
    at_x, at_y = script.lemmas.terms.term(inner), script.lemmas.terms.term(other)
    at_point = script.lemmas.terms.term(put(inner, ("Symbol", x.name), ("Symbol", POINT)))
    constant, slope = number_in_coq(step.constant), script.lemmas.at(lower.goal, {x: POINT})
    script.add(
        f"assert (difference : Rabs ({at_x} - {at_y}) <= {constant} * Rabs ({a} - {b})).",
        f"{{ apply (lipschitz_step (fun {POINT} => {at_point}) (fun {POINT} => {constant} - {slope}) {low} {high}); "
        "[ | | lra | lra].",
        f"- intros {POINT} inside.",
    )
    script.derivative([inner, written(lower.goal.expression)], x, [lower.goal])
    script.add(
        f"- intros {POINT} inside. apply Rabs_le.",
        f"assert (holds_0 : 0 <= {slope}) by ({script.applied(lower)}).",
        f"assert (holds_1 : 0 <= {script.lemmas.at(upper.goal, {x: POINT})}) by ({script.applied(upper)}).",
    )
    raw = [written(each.goal.expression) for each in (lower, upper)]
    moved = [put(each, ("Symbol", x.name), ("Symbol", POINT)) for each in raw]
    both = [script.function(each.goal) for each in (lower, upper)]
    right = f"2 * {constant} - {slope}"
    script.equation("sum", script.lemmas.at(upper.goal, {x: POINT}), right, *moved, unfolded=both, at=x)
    script.add("cbv beta; lra. }", f"unfold {script.function(script.goal)}.")
    equal = f"f_equal; first [ring | field; repeat split; {script.need()}]"
    step_of = {x - y: f"{a} - {b}", step.function - step.function.xreplace({x: y}): f"{at_x} - {at_y}"}
    for node in dict.fromkeys(each for each in nodes(script.raw) if each[0] == "Abs"):
        of = script.lemmas.as_expression(node[1])
        known = next((text for each, text in step_of.items() if are_equal(of, each) or are_equal(of, -each)), "")
        script.add(f"replace {script.lemmas.terms.term(node)} with (Rabs ({known}))")
        script.add(f"by first [reflexivity | {equal} | rewrite <- Rabs_Ropp; {equal}].")
    script.add("lra.")


def _by_neurons(script: Script, step: ByNeurons) -> None:
    count = len({node for node in nodes(script.raw) if node[0] in KINKS})
    if count > MOST_KINKS:
        raise UsageError(
            f"certify --coq: a proof by the step 'neurons' is written in Coq for at most {MOST_KINKS} kinks, and this "
            f"one has {count}; omit --coq."
        )
    script.add(f"unfold {script.function(script.goal)}; kinks.")


SCRIPTS: dict[type, Callable[[Script, Any], None]] = {
    ByFactors: _by_factors,
    BySum: _by_sum,
    ByCases: _by_cases,
    ByPiece: _by_piece,
    ByLinear: _by_linear,
    ByMonotone: _by_monotone,
    ByLogs: _by_logs,
    ByLipschitz: _by_lipschitz,
    ByNeurons: _by_neurons,
    **POLYNOMIAL_SCRIPTS,
}
