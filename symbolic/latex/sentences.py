"""Sentences of a proof: what a step bounds, from which steps, by which rule and for what reason."""

import re
from collections.abc import Iterable, Mapping

from symbolic.calculus.functions import Apply
from symbolic.calculus.pairs import PairwiseFunction
from symbolic.calculus.sums import Combination
from symbolic.derivations.derivation import Norm, Step
from symbolic.derivations.operations import Given
from symbolic.derivations.provenance import Provenance
from symbolic.latex.typesetting import latex
from symbolic.words.names import error_latex, is_mathematical, name_in_words, name_latex
from symbolic.words.prose import PARTS, begun, listed, marked, prose_latex

Numbers = Mapping[str, str]  # of steps, by name

# What each rule bounds; {name} is the name of the step, if it is mathematics, {of} are its premises.
BOUNDED = {
    "appended tokens": "the sequence{name} of the tokens of {of}",
    "apply a function": "the value{name} of {function} at {of}",
    "attention": "the average{name} of {last} under the weights {first}",
    "bounded iterates": "the iterates{name} of {of}",
    "budget of probability": "the conclusion of {of}, with these shares,",
    "case distinction": "the value{name}, {of} according to the case,",
    "centring": "the value{name} of {of}, less its mean over the tokens,",
    "change of norm": "the vector of {of} in {norm}",
    "concatenation": "the vector{name} of all parts {of}",
    "comparison": "the flow{name} from {of}",
    "correction": "the corrected value{name} of {of}",
    "cover": "the supremum{name} over all members of {of}",
    "cross-entropy": "the cross-entropy{name} of {of}",
    "cut softmax": "the softmax{name} of {of} over the keys that are kept",
    "descent": "the descent{name} from {of}",
    "expected mean": "the sample mean{name} of {of}",
    "function of pairs": "the vector{name} of the values of {function} for all pairs of {of}",
    "foreign key": "the average of {of} with one more key",
    "Girsanov's theorem": "the probability{name} of any event, with the samples of the score of {of} for the data,",
    "gradient descent": "the mean{name} over all steps from {of} on",
    "hard max": "the hard max{name} of {of}",
    "line at 0": "the tangent{name} at 0, taken at {of},",
    "linear map": "the linear image{name} of {of}",
    "Lipschitz map": "the image{name} of {of} under an approximate Lipschitz map",
    "log-softmax": "the log-softmax{name} of {of}",
    "mean": "the mean{name} of {of}",
    "one token": "the token{name} of {of}",
    "some tokens": "the choice{name} of tokens of {of}",
    "perturbed linear map": "the image{name} of {of} under a perturbed linear map",
    "pooled perturbation": "the value{name} of {of} under a joint perturbation",
    "pooled sum": "the sum{name} of {of} under a joint perturbation",
    "product": "the product{name} of {of}",
    "projection": "the projection{name} of {of}",
    "proximal gradient": "the gap{name} after all steps, by {of},",
    "quadratic convergence": "the iterate{name} from {of} on",
    "rms normalisation": "the normalised value{name} of {of}",
    "rotation": "the rotated value{name} of {of}",
    "sample mean": "the sample mean{name} of {of}",
    "soft threshold": "the soft threshold{name} of {of}",
    "softmax": "the softmax{name} of {of}",
    "softmax as a linear map": "the linear function{name} of {of} that approximates softmax",
    "softmax beside a sink": "the softmax{name} of {of} beside a sink",
    "softmax to hard max": "the softmax{name} of {of} against the hard max",
    "sum": "the {combination}{name} of {of}",
    "Taylor's formula": "Taylor's polynomial{name} at {of}",
    "tokens": "the value{name} with the tokens {of}",
    "union bound": "the largest{name} of all members of {of}",
}
NORMS = {norm: f"the {norm.words}" for norm in Norm}
RECURRENCES = {  # what the relation that a step solves is about
    "accumulation": "the errors of successive steps satisfy",
    "contraction": "the errors of successive steps satisfy",
    "descent": "each step satisfies",
    "gradient descent": "each step satisfies",
    "invariant": "the arguments of the layers satisfy, by induction,",
    "proximal gradient": "the iterates satisfy",
    "quadratic convergence": "the errors of successive steps satisfy",
    "recursion": "the errors of successive layers satisfy",
}
HOW = {  # rules that bound without premises, with their article
    "count of the construction": "a count of the construction",
    "invariant": "the invariant of the layers",
    "size": "the sizes of the factors",
}
NO_ERROR = " has no error:"
EXACT = ", exact"  # ends the reason of a given that names what it is
BEGINS = ("for ", "by ", "since ", "as ", "because ")
RELATION = re.compile(r"<=|>=|[<>=]")


def sentence(step: Step, numbers: Numbers, alike: str = "", nothing: bool = False) -> str:
    """The sentence that ends before the display of the bound.

    `alike` is the number of a step with the same reason; `nothing`: the bound is 0.
    """
    if isinstance(step.operation, Given) or step.rule == "given":
        return _of_given(step)
    why, aside = (f"as in ({alike})", "") if alike else reason_of(step)
    bounded = _bounded(step, numbers)
    if not bounded:
        of = listed(sorted(numbered(step.premises, numbers), key=lambda each: (len(each), each)))
        parts = [why, f"{f'from {of} ' if of else ''}by {HOW.get(step.rule, prose_latex(step.rule))}{aside}"]
        return begun(f"{', '.join(filter(None, parts))},")
    return begun(f"{why}, {bounded}{aside}" if why else f"{bounded}{aside}") + (NO_ERROR if nothing else " satisfies")


def _of_given(step: Step) -> str:
    words = "" if step.reason == "given" else marked(step.reason)
    aside = f" ({prose_latex(words)})" if words else ""
    if is_exact(step):
        noun = prose_latex(words.removesuffix(EXACT)) if words.endswith(EXACT) else ""
        return f"No error is made in {noun or f'{name_in_words(step.name)}{aside}'}: ${error_latex(step.name)} = 0$."
    return f"A separate estimate{aside} gives" if step.provenance is Provenance.HAND else f"By assumption{aside},"


def _bounded(step: Step, numbers: Numbers) -> str:
    """What is bounded; "" for a rule without words, or without premises."""
    if step.rule not in BOUNDED or not step.premises:
        return ""
    of = [reference(each, numbers) for each in step.premises]
    return BOUNDED[step.rule].format(
        name=f" ${name_latex(step.name)}$" if is_mathematical(step.name) else "",
        of=listed(of),
        first=of[0],
        last=of[-1],
        norm=NORMS[step.norm],
        combination=_combination(step),
        function=_function(step),
    )


def _function(step: Step) -> str:
    handle = step.operation.function if isinstance(step.operation, Apply | PairwiseFunction) else ""
    if is_mathematical(handle):
        return f"${name_latex(handle)}$"
    is_exact = isinstance(step.operation, Apply | PairwiseFunction) and step.operation.eps == 0
    return "the function" if is_exact else "the approximated function"


def _combination(step: Step) -> str:
    given = step.operation.coefficients if isinstance(step.operation, Combination) else ()
    if len(given) == 1:
        return f"multiple by ${latex(given[0])}$"
    return "sum" if all(each == 1 for each in given) else "linear combination"


def reference(name: str, numbers: Numbers) -> str:
    """A step by its name, if that is mathematics, and by its number."""
    number = f"({numbers[name]})" if name in numbers else ""
    if is_mathematical(name):
        return f"${name_latex(name)}$~{number}" if number else f"${name_latex(name)}$"
    return number or ("its argument" if name == "its argument" else name_in_words(name))


def reason_of(step: Step) -> tuple[str, str]:
    """The reason as the beginning of the sentence, with its source; else in parentheses."""
    source = f" ({step.source.latex()})" if step.source else ""
    if not step.reason or step.reason == step.rule or is_identity(step):
        return "", source
    words, said = marked(step.reason), prose_latex(step.reason)
    if words.lower().startswith(BEGINS):
        return f"{said}{source}", ""
    if _is_relation(words):
        return f"since {said}{source}", ""
    return "", f" ({said}){source}"


def _is_relation(words: str) -> bool:
    """Whether the words begin with a formula that states something."""
    first = PARTS.match(words)
    return first is not None and first["formula"] is not None and RELATION.search(first["formula"]) is not None


def numbered(names: Iterable[str], numbers: Numbers) -> list[str]:
    """The numbers of these steps, each once."""
    return [f"({numbers[each]})" for each in dict.fromkeys(names) if each in numbers]


def is_exact(step: Step) -> bool:
    """Whether it is a given without an error."""
    return step.rule == "given" and step.local == 0 and not step.latex


def is_identity(step: Step) -> bool:
    """Whether it is an identity of typed formulas, and no bound."""
    return step.local == 0 and "\\" in step.reason
