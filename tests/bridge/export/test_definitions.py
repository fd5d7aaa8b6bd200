"""Names of every export, over all results and examples: defined once, before their use, and worth what they stand for.

The algebra is checked where it is made: an expression by the names of its parts is the expression, numerically, and a
name that several displays share has one meaning. The order is read in the text.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

import boundsmith as bs
from bridge.cli.describe import _result_blocks
from bridge.theorems.registry import find_theorem
from symbolic import find_result
from symbolic.calculus import accumulate, given, linear_map, repeat
from symbolic.derivations.derivation import Approximated
from symbolic.derivations.evaluation import decimal
from symbolic.latex import displays, shown_bounds
from symbolic.latex.displays import shortened
from symbolic.latex.page import Letters, Page
from symbolic.latex.paper_text import theorem_latex
from symbolic.latex.printing import result_latex
from symbolic.latex.proof_text import proof_latex
from symbolic.latex.shown_bounds import shown_bound
from symbolic.statements.catalogue import RUNNING
from symbolic.statements.result import Kind, Quantifier, Quantity, Result

EXAMPLES = sorted(Path(__file__).parents[3].joinpath("examples").glob("*.py"))
FILES = [str(each) for each in EXAMPLES if "bs.theorem(" in each.read_text() and each.name != "own_class.py"]
SOURCES = [*RUNNING, *FILES]
SLOW = ("machines", "universal", "induction")  # proofs that take seconds


def sources() -> list[Any]:
    return [pytest.param(each, id=Path(each).name, marks=_marks(each)) for each in SOURCES]


def _marks(source: str) -> list[Any]:
    return [pytest.mark.long] if source.startswith(SLOW) else []


def result_of(source: str) -> Result:
    return find_theorem(source).statement


def at_random(letters: set[sp.Symbol]) -> dict[sp.Symbol, Any]:
    """Numbers that no formula singles out; whole ones for whole numbers."""
    ordered = sorted(letters, key=lambda each: (each.name, str(each.assumptions0)))
    return {x: 2 + place % 3 if x.is_integer else 0.31 + 0.07 * place for place, x in enumerate(ordered)}


def with_definitions(expression: Any, definitions: Letters) -> Any:
    """With every name put in; those of later ones hold no earlier name."""
    for name, meaning in reversed(definitions):
        expression = _put_in(expression, name, meaning)
    return expression


def _put_in(expression: Any, name: Any, meaning: Any) -> Any:
    if name.is_Symbol:
        return expression.xreplace({name: meaning})
    calls = [each for each in expression.atoms(sp.core.function.AppliedUndef) if each.func == name.func]
    puts = {each: meaning.xreplace(dict(zip(name.args, each.args, strict=True))) for each in calls}
    return expression.xreplace(puts)


def require_equal(one: Any, other: Any) -> None:
    if one == other or not isinstance(one, sp.Expr):
        return
    letters = {each for each in one.free_symbols | other.free_symbols if isinstance(each, sp.Symbol)}
    plain = {each: sp.Symbol(f"value_{place}", positive=True) for place, each in enumerate(_calls(one) | _calls(other))}
    one, other = one.xreplace(plain), other.xreplace(plain)
    at = {**at_random(letters), **{each: 0.4 + 0.1 * place for place, each in enumerate(plain.values())}}
    left, right = decimal(one, at), decimal(other, at)
    assert abs(left - right) <= 1e-12 * abs(left) or left != left, (one, other)


def _calls(expression: Any) -> set[Any]:
    return set(expression.atoms(sp.core.function.AppliedUndef))


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Compares each expression with what its names say, and each shared name with its own."""
    counts = [0, 0]

    def shorter(stated: Any, *args: Any, **more: Any) -> Any:
        right, parts = shortened(stated, *args, **more)
        known: Letters = []
        for name, meaning in parts:
            assert not any(meaning.has(later if later.is_Symbol else later.func) for later, _ in parts[len(known) :])
            known.append((name, meaning))
        for (_, _, before), after in zip(stated, right, strict=True):
            if after != before and isinstance(before, sp.Expr):
                require_equal(before, with_definitions(after, parts))
                counts[0] += 1
        return right, parts

    own = Page.numbered

    def numbered(self: Page, letters: Letters) -> Any:
        names, new = own(self, letters)
        definitions = [(name, meaning) for (_, meaning), name in self.letters.items()]
        for place, (name, meaning) in enumerate(letters):
            known = next(meaning for at, meaning in definitions if at == names[name])
            require_equal(with_definitions(meaning, letters[:place]), with_definitions(known, definitions))
            counts[1] += 1
        return names, new

    monkeypatch.setattr(displays, "shortened", shorter)
    monkeypatch.setattr(shown_bounds, "shortened", shorter)
    monkeypatch.setattr(Page, "numbered", numbered)
    return counts


NUMBERED = re.compile(r"(?<![A-Za-z\\])(?:[A-Za-z]|\\[a-zA-Z]+)_\{\d+\}(?!')")
DEFINED = re.compile(rf"(?:\\begin\{{\w+\*?\}}\s*)*({NUMBERED.pattern})(?:\([^)]*\))? &?= ")
LINES = re.compile(r"\\\\\n(?!&)|\\begin\{gather(?:\*|ed)\}\n|\\end\{gather(?:\*|ed)\}|\\\[|\\\]")


def require_order(text: str) -> int:
    """Each name of a part is defined once, not by itself, and by what is defined above it. How many there are."""
    lines = [(found[1], line) for line in LINES.split(text) if (found := DEFINED.match(line.strip()))]
    names, seen = {name for name, _ in lines}, set[str]()
    for name, line in lines:
        assert name not in seen, f"{name} is defined twice"
        used = set(NUMBERED.findall(line.split("=", 1)[1])) & names
        assert used <= seen, f"{name} is defined by {used - seen}, which nothing above defines"
        seen.add(name)
    return len(names)


@pytest.mark.parametrize("source", sources())
def test_names_of_parts_say_what_they_stand_for(source: str, checked: list[int]) -> None:
    result = result_of(source)
    for export in (theorem_latex, proof_latex, result_latex):
        require_order(export(result))


def test_some_proofs_name_parts(checked: list[int]) -> None:
    assert require_order(proof_latex(find_result("looped.newton"))) > 5
    assert min(checked) > 5


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("y_{3} = \\frac{y_{3}}{c}", "defined by"),
        ("y_{1} = y_{2} \\\\\ny_{2} = 1", "defined by"),
        ("y_{1} = 1 \\\\\ny_{1} = 1", "twice"),
    ],
)
def test_the_order_is_read(text: str, complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        require_order(text)


@pytest.mark.parametrize("source", sources())
def test_errors_of_steps_say_what_the_closed_form_says(source: str) -> None:
    result = result_of(source)
    for quantity in result.quantities:
        named = shown_bound(quantity, Page(result.notation))
        if named is not None:
            order = [part.name for part in named.parts]
            assert len(set(order)) == len(order)
            require_equal(quantity.derived(), named.expanded())


# Indices.

BOUND = re.compile(r"\\(?:sum|prod)(?:\\limits)?_\{\s*([A-Za-z](?:_\{?\w+\}?)?)\s*=")
IN_TEXT = re.compile(r"(?:Sum|Product)\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*, \((\w+), ")


def indices_of(result: Result) -> Iterator[str]:
    for export in (theorem_latex, proof_latex, result_latex):
        yield from BOUND.findall(export(result))
    for block in _result_blocks(result):
        yield from IN_TEXT.findall(str(block))


@pytest.mark.parametrize("source", sources())
def test_no_index_of_a_sum_has_the_name_of_a_letter(source: str) -> None:
    result = result_of(source)
    letters = {each.name for each in (*result.symbols, *(p.symbol for p in result.parameters if p.symbol))}
    clashes = set(indices_of(result)) & letters
    derived = {str(x) for q in result.quantities if q.derived() is not None for x in _indices(q.derived())}
    assert not clashes & derived


def _indices(expression: Any) -> set[str]:
    return {str(limits[0]) for each in expression.atoms(sp.Sum, sp.Product) for limits in each.limits}


k = sp.Symbol("k", integer=True, nonnegative=True)


def adversary(*letters: sp.Symbol) -> Result:
    """Statements that sum, over steps and layers, in letters with the names of indices."""
    depth, factor, start = letters
    x = given("x", dim=1, size=1, error=start)
    varying = accumulate(x, "y", factor=1 + factor / (k + 1), offset=factor + k, index=k, depth=depth, size=1)
    layers = repeat(x, "z", lambda p: linear_map(p, "W", operator_norm=factor, dim=1), depth)
    geometric = accumulate(x, "w", factor=factor + 1, offset=start, depth=depth, size=1)

    def stated(value: Approximated) -> Quantity:
        return Quantity(
            value.name, value.name, "an error", "", "", Kind.UPPER, Quantifier.FOR_ALL, value.derivation, value.name
        )

    meanings = {each: f"a number, {place}" for place, each in enumerate(letters)}
    quantities = tuple(map(stated, (varying, layers, geometric)))
    return Result("own", "own", find_result("icgd.step").citation, "", (), (), quantities, symbols=meanings)


@pytest.mark.parametrize("names", ["ilm", "mli", "lmk", "kli", "hjk", "nlm", "vle", "iml"])
def test_indices_give_way_to_letters_of_any_name(names: str) -> None:
    depth, *others = names
    letters = (
        sp.Symbol(depth, integer=True, positive=True),
        *(sp.Symbol(each, positive=True) for each in others),
    )
    result = adversary(*letters)
    found = list(indices_of(result))
    assert len(found) > 3
    assert not set(found) & set(names)
    proof = proof_latex(result)
    first = re.match(r"For a quantity \$(\w)\$ of the proof", proof)
    assert first is not None
    assert first[1] not in names
    layer = re.search(r"e_\{(\w)\+1\} \\le", proof)
    assert layer is not None
    assert layer[1] not in names


def test_own_theorems_with_such_letters_are_shown_so(capsys: pytest.CaptureFixture[str]) -> None:
    m = sp.Symbol("m", integer=True, positive=True)
    value = accumulate(given("x", dim=1, size=1), "y", factor=1 + 1 / (k + 1), offset=1, index=k, depth=m, size=1)
    own = bs.theorem(
        "own", value, parameters={m: 3}, inputs={"x": bs.domains.Box(1)}, network=lambda x: x, reference=lambda x: x
    )
    assert "m" not in BOUND.findall(own.latex())
    assert "m" not in IN_TEXT.findall("\n".join(map(str, _result_blocks(own.statement))))
