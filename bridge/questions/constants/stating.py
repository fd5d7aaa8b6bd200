"""Inequalities and best constants as what a theorem states: a quantity each, with its certificate, and a check."""

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import sympy as sp

from bridge.questions.certify.checks import MOST_BOXES, certified
from bridge.questions.certify.explaining import point_text
from bridge.questions.certify.proving import Outcome, Status, prove
from bridge.questions.certify.search import smallest
from bridge.questions.certify.words import statement
from bridge.questions.constants.best import BestConstant, decimal
from bridge.questions.constants.free import inequality_latex
from bridge.theorems.check import Check, Sides
from symbolic.derivations.inequalities import Inequality
from symbolic.derivations.provenance import Provenance
from symbolic.statements.errata import Erratum, Weight
from symbolic.statements.printed import Kind, Printed
from symbolic.statements.result import INEQUALITY, Quantifier, Quantity
from symbolic.words.citations import Citation
from symbolic.words.errors import UsageError

SAMPLES = 1 << 14
HERE = Citation(None, "as stated")
Region = dict[sp.Symbol, tuple[sp.Rational, sp.Rational]]


def stated(id: str, given: Sequence[Any]) -> tuple[list[Check], list[Inequality]]:
    """The checks of a theorem that is nothing but these, and the inequalities that `certify` proves for it.

    An inequality is proved here, in at most MOST_BOXES boxes, an outcome or a best constant has its proof already.
    Raises UsageError for anything else and for two of one name.
    """
    proved = inequalities_of(id, given)
    checks: list[Check] = []
    for each in given:
        if isinstance(each, BestConstant):
            checks.append(_of_constant(id, each, [check.name for check in checks]))
        else:
            outcome = each if isinstance(each, Outcome) else prove(each, seconds=math.inf, most_boxes=MOST_BOXES)
            checks.append(_of_outcome(outcome))
    names = [check.name for check in checks]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(f"{id}: `inequalities` has several of the name '{twice[0]}'; give each a name of its own")
    return checks, proved


def inequalities_of(id: str, given: Sequence[Any]) -> list[Inequality]:
    """What `certify` proves of these. Raises UsageError for what is no inequality and has none."""
    found: list[Inequality] = []
    for each in given:
        if isinstance(each, BestConstant):
            found += [outcome.inequality for outcome in each.proofs]
        elif isinstance(each, Inequality | Outcome):
            found.append(each.inequality if isinstance(each, Outcome) else each)
        else:
            raise UsageError(
                f"{id}: `inequalities` has {each!r:.80}; give a bs.statements.Inequality, or what bs.checks.prove, "
                f"largest_constant, supremum, lipschitz or bs.dynamics.decay gives"
            )
    return found


def _of_outcome(outcome: Outcome) -> Check:
    """The statement that the difference of the sides is >= 0: a bound that is proved, or as the user states it."""
    inequality = outcome.inequality
    quantity = Quantity(
        inequality.name,
        inequality_latex(inequality.expression, strict=inequality.strict),
        str(inequality.meaning) or f"difference of the sides of ``{statement(inequality)}``",
        INEQUALITY,
        *_domain(dict(inequality.box), inequality.where),
        **_proof_of(outcome),
    )
    if outcome.status is Status.REFUTED:
        return certified(quantity, lambda: ([inequality], []))
    proved = outcome.status is Status.PROVED

    @cache
    def least() -> float:
        return smallest(inequality.expression, inequality, samples=SAMPLES)

    def sides() -> Sides:
        return Sides(
            measured=least(),
            derived=0,
            proved=("derived",) if proved else (),
            remark="" if proved else f"open in {max(1, outcome.open_count)} boxes; {outcome.share:.1%} settled",
        )

    return Check(quantity, sides, params={})


def _proof_of(outcome: Outcome) -> dict[str, Any]:
    """What the quantity says of the proof: a closed form only where there is one."""
    count = f"{outcome.boxes} box{'' if outcome.boxes == 1 else 'es'}"
    if outcome.status is Status.PROVED:
        words = f"a cover of the region by {count}, on each of which ball arithmetic proves it"
        return {"derive": sp.Integer(0), "obtained": Provenance.CERTIFICATE, "certificate": words}
    if outcome.status is Status.UNDECIDED:
        return {"remark": "not proved"}
    point = point_text(outcome.point)
    wrong = Erratum(
        Weight.STATEMENT,
        HERE,
        sentence=f"``{statement(outcome.inequality)}``",
        reading="on the region as it is given",
        repair="a smaller region, or another constant",
        survives=f"no: it fails at ``{point}``",
    )
    return {"printed": Printed(sp.Integer(0), HERE, strict=outcome.inequality.strict), "erratum": wrong}


def _of_constant(id: str, found: BestConstant, taken: Sequence[str]) -> Check:
    """The proved value as a bound on the best one, beside the value that a point refutes.

    It is called by its letter, with a number where others are called so.
    """
    if found.proved is None:
        raise UsageError(f"{id}: {found.words}, so that there is nothing to state; give it more seconds")
    letter, value, refuted = found.letter.name, found.proved, found.refuted
    names = (letter, *(f"{letter}_{k}" for k in range(2, len(taken) + 3)))
    name = next(each for each in names if each not in taken)
    witness = "" if found.refutation is None else point_text(found.refutation.point)
    fails = f"; the value {decimal(refuted)} fails at ``{witness}``" if witness else ""
    which = "largest" if found.largest else "least"
    meaning = f"{which} constant `{letter}` with ``{found.statement}``"
    quantity = Quantity(
        name,
        found.formula(value),
        meaning,
        INEQUALITY,
        *_domain(found.box, found.where, Kind.LOWER if found.largest else Kind.UPPER),
        derive=value,
        obtained=Provenance.CERTIFICATE,
        certificate=f"a cover of the region by {found.counted}, on each of which ball arithmetic proves it{fails}",
    )

    def sides() -> Sides:
        at = None if refuted is None else float(refuted)
        return Sides(measured=at, proved=("derived",), remark=f"proved on {found.counted}{fails}")

    return Check(quantity, sides, params={})


def _domain(box: Region, where: Sequence[sp.Expr], kind: Kind = Kind.LOWER) -> tuple[str, Kind, Quantifier]:
    words = ", ".join(f"`{symbol} in [{low}, {high}]`" for symbol, (low, high) in box.items())
    return (
        (f"{words}; where ``{' and '.join(f'{each} >= 0' for each in where)}``" if where else words),
        kind,
        Quantifier.FOR_ALL,
    )
