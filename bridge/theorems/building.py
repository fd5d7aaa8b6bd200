"""`theorem`: a `Theorem` from the conclusions of a derivation and from functions.

Everything is read off them that they already say.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any

import sympy as sp

from bridge.domains import Domain
from bridge.expressions.expression import Expression
from bridge.limits.accepted import require_known
from bridge.limits.arguments import arguments_of
from bridge.limits.refusals import briefly_refused, shown_by
from bridge.theorems.check import Check
from bridge.theorems.graphs import of_graph, of_prompts
from bridge.theorems.hypotheses import hypothesis_of, with_signs
from bridge.theorems.modules import as_function
from bridge.theorems.pair import Pair
from bridge.theorems.quantities import (
    as_formula,
    as_printed,
    described_letters,
    quantity_of,
    with_printed,
    with_trivial,
)
from bridge.theorems.sources.source import InputSource
from bridge.theorems.texts import Text
from bridge.theorems.theorem import Function, Network, Theorem
from bridge.theorems.wording import OwnWords
from symbolic.derivations.derivation import Approximated
from symbolic.derivations.exact_numbers import require_symbols
from symbolic.derivations.worst_cases import closed
from symbolic.statements.errata import Erratum
from symbolic.statements.result import Parameter, Quantity, Result
from symbolic.words.citations import Citation
from symbolic.words.errors import UsageError
from symbolic.words.prose import ProseError, plain

# What SymPy does not print so by itself.
GREEK = {"eps": r"\varepsilon", "lam": r"\lambda", "sigma_init": r"\sigma_{\mathrm{init}}"}


@shown_by("parameters", "inputs", "network", "reference", "weights")
@briefly_refused
def theorem(
    id: str,
    *bounds: Approximated | Quantity | Expression,
    parameters: Mapping[sp.Symbol, Any] | None = None,
    inputs: Mapping[str, Domain] | None = None,
    network: Network | Mapping[str, Network] | None = None,
    reference: Function | Pair | None = None,
    weights: Mapping[str, Domain | Function] | None = None,
    built: Mapping[str, Function] | None = None,
    texts: Sequence[Text | Parameter] = (),
    hypotheses: Sequence[Any] = (),
    assumptions: Sequence[Any] = (),
    worst: Mapping[sp.Symbol, Any] | None = None,
    knows: Mapping[sp.Symbol, Function | tuple[Function, ...]] | None = None,
    handles: Function | None = None,
    random: Mapping[str, str | Sequence[str]] | None = None,
    printed: Mapping[str, Any] | sp.Expr | None = None,
    trivial: Mapping[str, Any] | None = None,
    meanings: Mapping[Any, Any] | None = None,
    checks: Sequence[Check] = (),
    inequalities: Sequence[Any] | Function = (),
    sources: Sequence[InputSource] = (),
    title: str = "",
    claim: str = "",
    cites: str | Citation = "",
    remarks: Sequence[Any] = (),
    errata: Mapping[str, Erratum] | None = None,
    wording: OwnWords | None = None,
    **rare: Any,
) -> Theorem:
    """States a theorem: each of `bounds`, an expression or a conclusion of the rules, bounds the error of the network.

    For example, a layer whose activation loses a share eps of its value:

        K, eps = sp.symbols("K eps", positive=True)
        d = sp.Symbol("d", integer=True, positive=True)
        lossy = bs.function(sp.tanh).approximated(lambda t: (1 - eps) * sp.tanh(t))
        output = lossy(bs.matrix("W", d, d, row_sums=K) @ bs.vector("x", d, size=1))
        own = bs.theorem("one-layer", output, parameters={K: 2, eps: (0.01, 0.1), d: 4})
        print(bs.compare(own))

    Of an expression, network, reference, domains and all that follows below are known. For a conclusion of the rules
    (`bs.rules`) they are given. A `bs.statements.Quantity` may stand beside either.

    What is stated. A quantity takes name, norm and derivation from its conclusion; the last one is the main one.
        parameters      each symbol's default; a tuple spans a grid. Its sign and whether it is whole are read off it
        hypotheses      further SymPy relations between parameters
        assumptions     further hypotheses in words, beside those of the derivations
        texts           further parameters that are text, each with the function that reads it: `bs.Text`; or that only
                        the weight of their name reads: `bs.statements.Parameter`
        printed         your draft's formula for a quantity, by name: compared with the derived one
        trivial         by quantity, the bound from which on one is vacuous; else the size of the conclusion, which
                        bounds the error of the network that gives 0
        worst           what the hypotheses allow for letters of derivation and formula, perhaps in other letters
        knows           the same letters for the network at hand, or for the prompt at hand
        meanings        letters in words; under the name of a quantity, what its exact value is, or a pair: that, and
                        what the network computes
        errata          by quantity, what is wrong with its printed bound (`bs.statements.Erratum`)
        wording         how quantities, parameters and letters read: `bs.statements.OwnWords`
        inequalities    what `certify` proves; alone they are the theorem: `bs.statements.Inequality`, outcomes of
                        `bs.checks.prove`, or best constants (`bs.checks.largest_constant`, `bs.dynamics.decay`, ...)
        title, claim, cites, remarks, checks

    What is run. Functions take parameters, weights, inputs and what is built, by name; they are written in torch.
        inputs, weights domains, drawn for each prompt and for each network
        network         gives {quantity: array}, or one array: a function, a `torch.nn.Module`, a `bs.Transformer` or a
                        `bs.Pair`; entries named like steps of the derivation tell `faithful` where it goes wrong
        reference       the exact values, likewise
        built           what is computed once for each network, by name
        handles         the operands that the steps of the derivations name: gives bounds at a prompt, row `faithful`
        random, sources the randomness of a quantity; real inputs

    Further ones are the fields of `bs.Theorem`: `knobs`, `at_point`, `search`, `exact`, `refuting`, `rounding`,
    `tables`, `work`, ... (`help(bs.Theorem)` describes them and, in full, what functions take and give).

    Raises UsageError for a letter that nothing binds, and for a function that asks for an unknown name.
    """
    parameters = {} if parameters is None else parameters
    arguments = {name: given for name, given in locals().items() if name not in ("id", "bounds", "parameters", "rare")}
    _require_fields(id, rare)
    if any(isinstance(each, Expression) for each in bounds):
        graph, found = of_graph(id, bounds, parameters, {**arguments, **rare})
        conclusions = iter(graph.conclusions)
        concluded = [next(conclusions) if isinstance(each, Expression) else each for each in bounds]
        whole = theorem(id, *concluded, parameters=parameters, **found)
        return of_prompts(whole) if graph.is_of_prompts else whole
    _require_conclusions(id, bounds)
    require_symbols(id, "`parameters`", parameters)
    described, letters_mean = described_letters(id, meanings or {}, bounds)
    for argument, given in (("worst", worst), ("knows", knows), ("meanings", letters_mean)):
        require_symbols(id, f"`{argument}`", given or {})
    if isinstance(printed, sp.Expr):
        printed = {each.name: printed for each in bounds if not isinstance(each, Expression)}
    _require_names(id, {"inputs": inputs, "weights": weights, "built": built, "printed": printed, "trivial": trivial})
    letters = {letter: _functions(id, letter, given) for letter, given in (knows or {}).items()}
    inputs, weights = dict(inputs or {}), dict(weights or {})
    known = {letter: letter for letter in letters if letter in parameters}
    known |= {letter: as_formula(id, f"`worst` of {letter}", value) for letter, value in (worst or {}).items()}
    at_prompt = {letter for letter, given in letters.items() if any(set(arguments_of(f)) & set(inputs) for f in given)}
    citation = cites if isinstance(cites, Citation) else Citation(None, cites)
    bounded = (each.error.free_symbols for each in bounds if isinstance(each, Approximated))
    symbols = {*parameters, *letters, *set().union(*bounded)}
    notation = {symbol: GREEK[symbol.name] for symbol in sorted(symbols, key=str) if symbol.name in GREEK}
    chances = {plain(over): (x,) if isinstance(x, str) else tuple(x) for over, x in (random or {}).items()}
    of_chance = {name for names in chances.values() for name in names}  # no bound is about all of their values
    domains = {name: each for name, each in {**weights, **inputs}.items() if isinstance(each, Domain)}
    drawn = {name: each for name, each in domains.items() if name not in of_chance}
    where = {
        "domain": "; ".join(each.words(name) for name, each in drawn.items()),
        "domain_latex": ", ".join(f"${each.latex(name, notation)}$" for name, each in drawn.items()),
    }
    quantities = [
        each if isinstance(each, Quantity) else quantity_of(each, known, at_prompt, where)
        for each in bounds
        if not isinstance(each, Expression)  # of which there is none any more
    ]
    for argument, given in (("printed", printed), ("trivial", trivial), ("errata", errata)):
        _require_quantities(id, argument, given or {}, quantities)
    if not quantities and not checks:
        raise UsageError(
            f"{id}: nothing is stated; give the conclusion of a derivation, a check, or inequalities in a list"
        )
    of_network = {s for s, given in letters.items() if any(not set(arguments_of(f)) & set(inputs) for f in given)}
    printed = {name: as_printed(id, name, given, citation) for name, given in (printed or {}).items()}
    trivial = {name: as_formula(id, f"`trivial` of {name}", given) for name, given in (trivial or {}).items()}
    if worst:
        _require_letters(id, worst, quantities, [*(each.bound for each in printed.values()), *trivial.values()])
    at_worst = closed(known)
    stated = [with_printed(each, printed.get(each.name), at_worst) for each in quantities]
    stated = [with_trivial(each, trivial.get(each.name), at_worst, {*parameters, *of_network}) for each in stated]
    stated = [replace(each, erratum=(errata or {}).get(each.name, each.erratum)) for each in stated]
    known_letters = [*stated, *(each.quantity for each in checks)]
    words = _meanings(id, letters_mean, parameters, known_letters) if letters_mean else {}
    with _own_words(id):
        statement = Result(
            id=id,
            title=title or id,
            citation=citation,
            claim=claim,
            parameters=(
                *(_parameter(symbol, default, words.get(symbol)) for symbol, default in parameters.items()),
                *(each if isinstance(each, Parameter) else each.parameter for each in texts),
            ),
            hypotheses=with_signs(
                [hypothesis_of(each, parameters) for each in hypotheses if each != sp.true], parameters
            ),
            quantities=(*stated, *{check.quantity.name: check.quantity for check in checks}.values()),
            notation=notation,
            assumptions=_with_premises(_sentences(id, "assumptions", assumptions), stated),
            symbols={letter: meaning for letter, meaning in words.items() if letter not in parameters},
            objects=described,
            remarks=_sentences(id, "remarks", remarks),
        )
        statement = statement if wording is None else wording.of(statement)
    main = (stated[-1] if stated else checks[0].quantity).name
    entries = {each.name: each.dim for each in bounds if isinstance(each, Approximated)}
    return Theorem(
        statement,
        **{"main": main, "entries": entries, **rare},
        inputs=inputs,
        weights=weights,
        network={n: as_function(x) for n, x in network.items()}
        if isinstance(network, Mapping)
        else as_function(network),
        reference=as_function(reference),
        built=dict(built or {}),
        readers={each.name: each.read for each in texts if isinstance(each, Text)},
        knows=letters,
        handles=handles,
        random=chances,
        checks=tuple(checks),
        inequalities=inequalities if callable(inequalities) else tuple(inequalities),
        sources=tuple(sources),
    )


def _require_fields(id: str, rare: Mapping[str, Any]) -> None:
    """Raises UsageError for an argument that neither `theorem` nor `Theorem` has."""
    own = [name for name in theorem.__annotations__ if name not in ("id", "bounds", "rare", "return")]
    known = [each.name for each in fields(Theorem) if each.name not in (*own, "statement", "readers", "sha256")]
    known.append("norm")  # of the outputs of a graph
    for name in rare:
        require_known(name, [*own, *known], f"{id}: bs.theorem has no argument")


def _require_conclusions(id: str, bounds: Sequence[Any]) -> None:
    """Raises UsageError for arguments of another sort."""
    others = [f"{each}" for each in bounds if not isinstance(each, Approximated | Quantity)]
    if others:
        words = "is not a conclusion of a derivation; derive one by the rules, from bs.rules.given(...) on"
        raise UsageError(f"{id}: {others[0]:.80} {words}")


def _require_names(id: str, arguments: Mapping[str, Any]) -> None:
    """Raises UsageError for what does not map names."""
    for argument, given in arguments.items():
        if given is not None and not (isinstance(given, Mapping) and all(isinstance(each, str) for each in given)):
            raise UsageError(f"{id}: `{argument}` = {given!r:.80}; give a mapping from names, such as {{'x': ...}}")


def _require_quantities(id: str, argument: str, given: Mapping[str, Any], quantities: Sequence[Quantity]) -> None:
    unknown = [name for name in given if name not in {each.name for each in quantities}]
    if unknown:
        names = ", ".join(each.name for each in quantities)
        raise UsageError(f"{id}: `{argument}` names {', '.join(unknown)}, which is not a quantity; it has: {names}")


def _require_letters(id: str, worst: Mapping[sp.Symbol, Any], stated: Sequence[Quantity], more: list[sp.Expr]) -> None:
    """Raises UsageError for the worst case of a letter that nothing of the statement has."""
    derivations = [each.derivation for each in stated if each.derivation is not None]
    owed = [sp.sympify(each.condition, strict=True) for derivation in derivations for each in derivation.obligations]
    letters = {letter for each in (*owed, *more) for letter in each.free_symbols}.union(*(q.letters for q in stated))
    if unknown := [str(each) for each in worst if each not in letters]:
        known = ", ".join(sorted(map(str, letters)))
        raise UsageError(
            f"{id}: `worst` names {', '.join(unknown)}, which is not a letter of a bound; they have: {known}"
        )


def _functions(id: str, letter: sp.Symbol, given: Function | tuple[Function, ...]) -> tuple[Function, ...]:
    functions = given if isinstance(given, tuple) else (given,)
    if others := [each for each in functions if not callable(each)]:
        raise UsageError(
            f"{id}: `knows` of {letter} is {others[0]!r:.80}; give a function of parameters, weights or inputs"
        )
    return functions


def _meanings(
    id: str, meanings: Mapping[sp.Symbol, str], parameters: Mapping[sp.Symbol, Any], stated: Sequence[Quantity]
) -> Mapping[sp.Symbol, str]:
    """Raises UsageError for the meaning of what is not a letter of the theorem."""
    letters = {letter for each in stated for letter in each.letters}
    unknown = [str(each) for each in meanings if each not in letters and each not in parameters]
    if unknown:
        known = ", ".join(sorted(map(str, letters | set(parameters))))
        raise UsageError(f"{id}: `meanings` names {', '.join(unknown)}, which is not a letter of it; it has: {known}")
    return meanings


def _parameter(symbol: sp.Symbol, default: Any, meaning: str | None) -> Parameter:
    values = tuple(default) if isinstance(default, list | range) else default
    described = meaning or f"the parameter {symbol.name}"
    words = None if meaning else ""
    return Parameter(symbol.name, symbol, described, values, integer=bool(symbol.is_integer), in_words=words)


@contextmanager
def _own_words(id: str) -> Iterator[None]:
    """Raises UsageError for mathematics that cannot be read, in words of the caller's."""
    try:
        yield
    except ProseError as error:
        raise UsageError(f"{id}: {error}; mend it, or write names and code between double backticks") from None


def _sentences(id: str, argument: str, given: Any) -> tuple[str, ...]:
    """Raises UsageError for what is not a list of texts."""
    if isinstance(given, str) or not all(isinstance(each, str) for each in given):
        raise UsageError(
            f"{id}: `{argument}` is {given!r:.80}; give a list of sentences, such as "
            "['the rows of `X` are independent']"
        )
    return tuple(given)


def _with_premises(given: Sequence[str], stated: Sequence[Quantity]) -> tuple[str, ...]:
    """The assumptions, and the premises in words of what is derived."""
    derived = (each.derivation.resting_on(each.concluded_by) for each in stated if each.derivation is not None)
    return tuple(dict.fromkeys([*given, *(words for each in derived for words in each.assumed)]))
