"""What a theorem may name: every function, domain, network and letter refers to something that the theorem has."""

from collections.abc import Mapping, Sequence
from typing import Any

from bridge.domains import Domain
from bridge.limits.arguments import Function, arguments_of, defaults_of
from bridge.theorems.bound_letters import require_letters
from bridge.theorems.check import Check
from bridge.theorems.randomness import require_randomness
from bridge.theorems.sources.source import OF_SOURCE, InputSource
from bridge.theorems.theorem_data import TheoremData
from bridge.theorems.transformer import Transformer
from symbolic.words.errors import UsageError

OF_STARTS = ("count", "generator")  # what the starts of an attack take beside parameters and weights
OPTIONS = frozenset(  # arguments of compare, solve and certify: a parameter of such a name could not be set
    [
        *("result", "seed", "samples", "attack", "restarts", "dtype", "device", "text", "data", "csv", "target"),
        *("progress", "for_", "error", "tier", "theorem", "quantity", "seconds"),
    ]
)
OF_CHECKS = {"samples", "attack", "restarts", "seed", "dtype", "device"}  # settings that checks and tables may take
OF_DISTANCE = ("found", "truth")  # what a distance takes
OF_QUANTITIES = ("quantity", "tier")  # what is asked for one quantity takes
OF_BOUNDS = ("scope",)  # what bounds at a prompt take
OF_RUN = ("dtype",)  # what a refusal takes beside parameters and weights
OF_WEIGHTS = ("seed",)  # what a weight takes beside parameters and the weights before it


def require_well_formed(theorem: TheoremData) -> None:
    """Raises UsageError for a name that stands for two things or for nothing, and for a value of the wrong sort."""
    _require_kinds(theorem)
    _require_distinct(theorem)
    _require_known_arguments(theorem)
    _require_readers_of_texts(theorem)
    _require_known_quantities(theorem)
    _require_domains_in_parameters(theorem)
    _require_one_function_a_scope(theorem)
    require_letters(theorem)
    if theorem.at_point.quantities is None:
        require_randomness(theorem, theorem.over_draws)
    _require_sources(theorem)
    _require_near(theorem)


def _require_kinds(theorem: TheoremData) -> None:
    inputs = {name: each for name, each in theorem.inputs.items() if not isinstance(each, Domain)}
    wrong = [
        *(
            f"the input {name} is {_short(each)}; give a domain, such as bs.domains.Box(d)"
            for name, each in inputs.items()
        ),
        *(
            f"the source is {_short(each)}; give a Tabular, a Series or a Textual"
            for each in theorem.sources
            if not isinstance(each, InputSource)
        ),
        *(f"{role} is {_short(each)}; give a function" for role, each in theorem.functions() if not callable(each)),
    ]
    if theorem.handles is not None and not theorem.inputs:
        wrong.append("handles bind operands at a prompt, but there are no inputs")
    if wrong:
        raise UsageError(f"{theorem.id}: {'; '.join(wrong)}")


def _short(value: Any) -> str:
    return f"{value!r:.80}"


def _require_distinct(theorem: TheoremData) -> None:
    statement = theorem.statement
    specified = {each.name for each in statement.parameters if each.symbol is None}  # W_star = random:1 gives W_star
    named = {
        "parameters": [each.name for each in statement.parameters],
        "weights": [name for name in theorem.weights if name not in specified],
        "inputs": list(theorem.inputs),
    }
    reserved = sorted(OPTIONS & set(named["parameters"]))
    if reserved:
        raise UsageError(
            f"{theorem.id}: {', '.join(reserved)} cannot name a parameter: it is an argument of compare, solve or "
            f"certify; take another letter"
        )
    twice = _repeated([name for names in named.values() for name in names])
    if twice:
        raise UsageError(
            f"{theorem.id}: {', '.join(twice)} names more than one thing; give each parameter, weight and input a name "
            f"of its own"
        )
    twice = _repeated([each.name for each in theorem.stated])
    if twice:
        raise UsageError(f"{theorem.id}: {', '.join(twice)} names more than one quantity; name them apart")
    twice = _repeated([each.name for each in theorem.checks])
    if twice:
        raise UsageError(f"{theorem.id}: {', '.join(twice)} has several checks; tell them apart by `construction`")


def _repeated(names: Sequence[str]) -> list[str]:
    return sorted({name for name in names if names.count(name) > 1})


def _require_known_arguments(theorem: TheoremData) -> None:
    parameters, weights = [each.name for each in theorem.statement.parameters], list(theorem.weights)
    fixed = {*parameters, *weights, *theorem.built}
    places = {id(each): place for place, each in enumerate(theorem.weights.values())}
    builders = {id(each): place for place, each in enumerate(theorem.built.values())}
    for role, function in theorem.functions():
        if id(function) in _own_names(theorem):
            own = set(_own_names(theorem)[id(function)])
            _require_known(theorem, role, function, fixed | own, "parameter or weight")
        elif function in (theorem.at_point.quantities, theorem.inequalities, *theorem.readers.values()):
            _require_known(theorem, role, function, set(parameters), "parameter")
        elif id(function) in builders:
            before = {*parameters, *weights, *list(theorem.built)[: builders[id(function)]]}
            _require_known(theorem, role, function, before, "parameter, weight or what is built before")
        elif id(function) in places:
            before = {*parameters, *weights[: places[id(function)]], *OF_WEIGHTS}
            _require_known(theorem, role, function, before, "parameter, earlier weight or seed")
        else:
            scope = set(OF_BOUNDS) if role == "the bounds" else set()
            _require_known(theorem, role, function, fixed | set(theorem.inputs) | scope)
    for check in theorem.checks:
        _require_known_to_check(theorem, check, fixed)


def _own_names(theorem: TheoremData) -> dict[int, tuple[str, ...]]:
    """What functions without inputs take beside parameters and weights."""
    own = [
        (theorem.search.starts, OF_STARTS),
        (theorem.search.samples, OF_STARTS),
        (theorem.distance, OF_DISTANCE),
        (theorem.at_point.refusal, OF_RUN),
        *((table, (*OF_CHECKS, *theorem.inputs)) for table in theorem.tables),
        (theorem.norms, ()),
        (theorem.at_point.idle, ()),
        (theorem.at_point.letters, ()),
        (theorem.at_point.outside, OF_QUANTITIES),
        (theorem.at_point.printed_letters, OF_QUANTITIES),
    ]
    return {id(function): names for function, names in own if function is not None}


def _require_known_to_check(theorem: TheoremData, check: Check, fixed: set[str]) -> None:
    role, own = f"the check '{check.name}'", {"inputs"}
    if callable(check.inputs):  # they have names when they are computed
        _require_known(
            theorem, f"the inputs of {role}", check.inputs, fixed | OF_CHECKS, "parameter, weight or setting"
        )
        arguments_of(check.sides)
        _refuse_hidden(theorem, role, check.sides, fixed | OF_CHECKS)
        return
    points = [check.inputs] if isinstance(check.inputs, Mapping) else check.inputs
    own |= {name for point in points for name in point}
    _require_known(
        theorem, role, check.sides, fixed | own | OF_CHECKS, "parameter, weight, input of the check or setting"
    )


def _require_known(
    theorem: TheoremData, role: str, function: Function, known: set[str], kinds: str = "parameter, weight or input"
) -> None:
    unknown = [name for name in arguments_of(function) if name not in known]
    if unknown:
        raise UsageError(
            f"{theorem.id}: {role} takes {', '.join(unknown)}, which is not a {kinds}; it may take "
            f"{', '.join(sorted(known)) or 'nothing'}"
        )
    _refuse_hidden(theorem, role, function, known)


def _refuse_hidden(theorem: TheoremData, role: str, function: Function, known: set[str]) -> None:
    hidden = [name for name in defaults_of(function) if name in known]
    if hidden:
        raise UsageError(
            f"{theorem.id}: {role} has a default for {', '.join(hidden)}, with which it would always be called; remove "
            f"the default, or write a lambda that takes {', '.join(hidden)} without one"
        )


def _require_readers_of_texts(theorem: TheoremData) -> None:
    texts = [each.name for each in theorem.statement.parameters if each.takes]
    unknown = sorted(set(theorem.readers) - set(texts))
    if unknown:
        raise UsageError(
            f"{theorem.id}: `readers` has {', '.join(unknown)}, which is not a parameter that takes text; these do: "
            f"{', '.join(texts) or 'none'}"
        )


def _require_known_quantities(theorem: TheoremData) -> None:
    """Of networks that are given by quantity, and of what is read off them."""
    if theorem.at_point.quantities is not None:
        return
    stated = [each.name for each in theorem.stated]
    if stated and theorem.main not in stated:
        raise UsageError(f"{theorem.id}: the main quantity '{theorem.main}' is none of {', '.join(stated)}")
    transformers = (each for each in theorem.networks.values() if isinstance(each, Transformer))
    read = {name for each in transformers if not callable(each.read) for name in each.read}
    for role, names in (("a network", set(theorem.networks) - {""}), ("something read off a transformer", read)):
        unknown = sorted(names - set(stated))
        if unknown:
            raise UsageError(
                f"{theorem.id}: {role} is given for {', '.join(unknown)}, which is not a quantity; it has: "
                f"{', '.join(stated)}"
            )


def _require_domains_in_parameters(theorem: TheoremData) -> None:
    letters = {each.symbol for each in theorem.statement.parameters}
    for name, domain in {**theorem.weights, **theorem.inputs}.items():
        free = sorted(str(each) for each in domain.letters - letters) if isinstance(domain, Domain) else []
        if free:
            known = ", ".join(sorted(str(each) for each in letters if each is not None))
            raise UsageError(
                f"{theorem.id}: the domain {domain} of {name} has {', '.join(free)}, which is not a parameter; "
                f"parameters: {known or 'none'}"
            )


def _require_one_function_a_scope(theorem: TheoremData) -> None:
    for letter, functions in theorem.knows.items():
        scopes = [theorem.scope_of(each) for each in functions]
        if not scopes:
            raise UsageError(f"{theorem.id}: `knows` has no function for {letter}; give one, or omit the letter")
        if twice := _repeated(scopes):
            raise UsageError(
                f"{theorem.id}: `knows` has several functions for {letter} of the scope {twice[0]}; give at most one "
                f"that takes inputs and one that takes none (torch.minimum combines two bounds)"
            )


def _require_sources(theorem: TheoremData) -> None:
    """One at most for tables and for texts, whose functions and parameters are known. Raises UsageError."""
    twice = _repeated([each.reads.__name__ for each in theorem.sources])
    if twice:
        raise UsageError(f"{theorem.id}: several sources read a {twice[0].lower()}; give one")
    parameters = {each.name for each in theorem.statement.parameters}
    for source in theorem.sources:
        unknown = sorted({*source.needs, *source.defaults} - parameters)
        if unknown:
            raise UsageError(f"{theorem.id}: its {source.called} name {', '.join(unknown)}, which is not a parameter")
        if theorem.inputs and not source.reads_inputs:
            name = type(source).__name__
            raise UsageError(f"{theorem.id}: a {name} makes no prompt, but the theorem has inputs; leave one out")
        known = {*parameters, *theorem.weights, *theorem.inputs, *theorem.built, *source.built, *OF_SOURCE}
        for role, function in source.functions():
            _require_known(
                theorem, f"{role} at {source.called}", function, known, "parameter, weight, input or what is read"
            )


def _require_near(theorem: TheoremData) -> None:
    """What stands near a weight is built. Raises UsageError."""
    for name, each in theorem.search.near.items():
        if not (isinstance(each, tuple) and len(each) == 2 and isinstance(each[1], Domain)):
            example = "('W', bs.domains.Box(m, n, size=eps))"
            raise UsageError(
                f"{theorem.id}: near has {_short(each)} for {name}; give a weight and the domain of the difference, "
                f"such as {example}"
            )
        for one, known, kind in ((name, theorem.built, "is not built"), (each[0], theorem.weights, "is no weight")):
            if one not in known:
                raise UsageError(
                    f"{theorem.id}: near names {one}, which {kind}; there are: {', '.join(known) or 'none'}"
                )
