"""What `import boundsmith as bs` shows: few names, namespaces that list theirs, help of one page, one door."""

import ast
import inspect
import pydoc
import re
import textwrap
from dataclasses import fields
from pathlib import Path
from types import ModuleType

import pytest
import sympy as sp
import torch

import boundsmith as bs

EXAMPLES = Path(__file__).parents[1] / "examples"
NAMESPACES = {name: getattr(bs, name) for name in dir(bs) if inspect.ismodule(getattr(bs, name))}
FLOORS = {"symbolic", "numeric", "bridge"}
PAGE = 66  # lines
every_namespace = pytest.mark.parametrize("namespace", NAMESPACES.values(), ids=NAMESPACES)


def words(text: str | None) -> list[str]:
    return re.findall(r"\w+", text or "")


def test_at_most_sixty_names_at_the_top_and_the_docstring_has_all_of_them() -> None:
    assert len(dir(bs)) <= 60
    assert set(dir(bs)) <= set(words(bs.__doc__))


def test_help_is_one_page() -> None:
    assert len(pydoc.plaintext.document(bs).splitlines()) <= PAGE


@every_namespace
def test_a_namespace_lists_its_names_by_purpose(namespace: ModuleType) -> None:
    listing = re.sub(r"\n  ", " ", namespace.__doc__ or "").splitlines()
    listed = [words(line.partition(": ")[2]) for line in listing if line.startswith("- ")]
    assert [name for names in listed for name in names] == list(namespace.__all__)
    assert all(hasattr(namespace, name) for name in namespace.__all__)


def test_a_name_has_one_place_but_for_expressions_named_as_their_rules() -> None:
    places = {bs: dir(bs), **{namespace: namespace.__all__ for namespace in NAMESPACES.values()}}
    expressions = [(place, name) for place in (bs, bs.blocks) for name in places.pop(place)]
    within = [name for names in places.values() for name in names]
    assert len(within) == len(set(within))
    assert len(expressions) == len({name for _, name in expressions})
    twice = [(place, name) for place, name in expressions if name in within]
    assert {name for _, name in twice} <= set(bs.rules.__all__)
    assert all(getattr(place, name).__module__.startswith("bridge.expressions.") for place, name in twice)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="module 'boundsmith' has no attribute 'linear_map'"):
        bs.linear_map  # noqa: B018 - in bs.rules


@pytest.mark.parametrize("script", sorted(EXAMPLES.rglob("*.py")), ids=lambda path: path.name)
def test_no_example_imports_a_floor(script: Path) -> None:
    nodes = list(ast.walk(ast.parse(script.read_text())))
    named = [each.name for node in nodes if isinstance(node, ast.Import) for each in node.names]
    named += [str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)]
    assert not {name.partition(".")[0] for name in named} & FLOORS


# One door: `bs.theorem`.


def test_help_of_theorem_opens_with_what_it_does_and_an_example() -> None:
    lines = pydoc.plaintext.document(bs.theorem).splitlines()
    assert lines[0].count(",") < 10
    assert lines[1].strip().startswith("States a theorem")
    assert any("own = bs.theorem(" in line for line in lines[:16])


def example() -> str:
    """The code in the docstring."""
    text = inspect.getdoc(bs.theorem) or ""
    block = re.search(r"\n\n((?:    .*\n)+)", text)
    assert block is not None
    return textwrap.dedent(block[1])


def test_the_example_of_its_help_runs(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, number in {"samples": 8, "attack": 5, "restarts": 2}.items():
        monkeypatch.setitem(bs.compare.__globals__["DEFAULTS"], name, number)
    exec(compile(example(), "example", "exec"), {"sp": sp, "torch": torch, "bs": bs})
    assert "one-layer" in capsys.readouterr().out


def stated(**more: object) -> bs.Theorem:
    eps, d = sp.Symbol("eps", positive=True), sp.Symbol("d", integer=True, positive=True)
    kept = bs.rules.given("kept", dim=d, size=1, error=eps)
    given = {"parameters": {eps: 0.5, d: 3}, "inputs": {"x": bs.domains.Box(d)}, **more}
    return bs.theorem("own", kept, network=lambda x, eps: (1 - eps) * x, reference=lambda x: x, **given)


def test_it_takes_every_field_of_a_theorem() -> None:
    named = set(inspect.signature(inspect.unwrap(bs.theorem)).parameters)
    derived = {"statement", "readers", "sha256"}  # of the conclusions, of `texts`, of the file
    for each in fields(bs.Theorem):
        if each.name not in derived | named:
            given = getattr(stated(), each.name)
            assert getattr(stated(**{each.name: given}), each.name) == given
    assert stated(exact=bs.ExactRuns(bits=64)).exact.bits == 64


def test_an_argument_that_it_does_not_have_is_refused() -> None:
    with pytest.raises(bs.UsageError, match=r"own: bs.theorem has no argument 'tabels'. Nearest: tables"):
        stated(tabels=())


def test_the_namespace_of_training_lists_its_names_and_is_imported_by_itself() -> None:
    from boundsmith import training

    test_a_namespace_lists_its_names_by_purpose(training)
    assert "training" not in dir(bs)
