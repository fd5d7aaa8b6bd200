"""How large the values of a proof are: a sentence for each value whose norm the bound on a later error rests on."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import sympy as sp

from symbolic.calculus.repetition import Repetition, argument_of_layer
from symbolic.derivations.derivation import Norm, Step
from symbolic.derivations.obligations import RangeObligation
from symbolic.derivations.sizes import Sizes
from symbolic.latex.displays import equations, in_text
from symbolic.latex.page import Page
from symbolic.latex.widths import width
from symbolic.words.names import SizeSymbol, approximate_symbol, name_latex, radius_symbol, size_symbol
from symbolic.words.prose import begun, listed

Sized = frozenset[sp.Symbol]
INDEX = {Norm.ONE: "1", Norm.TWO: "2", Norm.INF: r"\infty"}
WEIGHTS = "since the weights add up to 1"
DISTANCES = "since a token is the mean of its distances from all tokens away from their mean"
OF_TOKENS = "since it holds for each of the tokens"
SAME = "since the exact value is the same"
EXPECTED = "since an expectation is at most the largest"
# Why an exact value has its norm, by the rule of its step; the size of another rule is given to it.
WHY = {
    "appended tokens": OF_TOKENS,
    "attention": "since an average is at most the largest",
    "budget of probability": SAME,
    "case distinction": "according to the case",
    "centring": DISTANCES,
    "change of norm": "by the relation of the norms",
    "concatenation": "since its norm is that of the vector of the norms of its parts",
    "cover": "by the member of the cover that is near",
    "cross-entropy": "by the distance of two scores",
    "cut softmax": WEIGHTS,
    "expected mean": EXPECTED,
    "foreign key": SAME,
    "Girsanov's theorem": "since it is a probability",
    "given": "by assumption",
    "hard max": WEIGHTS,
    "line at 0": "by the value and the slope of the line",
    "linear map": "by the operator norm of the map",
    "log-softmax": "by the distance of two scores",
    "mean": OF_TOKENS,
    "one token": OF_TOKENS,
    "perturbed linear map": "by the operator norm of the exact map",
    "pooled perturbation": SAME,
    "pooled sum": "by the triangle inequality",
    "product": "by bilinearity",
    "projection": "by the norms of the points of the set",
    "rms normalisation": "since division by the root mean square leaves no more",
    "rotation": "since each pair of coordinates keeps its 2-norm",
    "sample mean": EXPECTED,
    "soft threshold": "since each entry moves towards 0",
    "softmax": WEIGHTS,
    "some tokens": OF_TOKENS,
    "softmax as a linear map": "since all weights add up to 1, and few of them are negative",
    "softmax beside a sink": "by the size of the scores",
    "softmax concentration": WEIGHTS,
    "softmax to hard max": WEIGHTS,
    "sum": "by the triangle inequality",
    "tokens": OF_TOKENS,
    "union bound": SAME,
}
FUNCTIONS = ("apply a function", "function of pairs", "Taylor's formula")
BY_SLOPE = "by the value of the function at 0, and its Lipschitz constant"
BY_TAYLOR = "by Taylor's formula at 0"
BY_LARGEST = "by the largest absolute value of the function"
SEPARATE = "by a separate estimate"
BY_WEIGHTS = "by the 1-norm of the weights"
BY_INDUCTION = "by induction over the layers"
BY_NETWORK = "by the values of the function that the network applies"
# Why an approximate value has its norm, where that is another reason.
WHY_APPROXIMATE = {"perturbed linear map": "by the operator norm of the approximate map"}
# Why tokens are near a point, where their distance is no size.
NEAR = {
    "appended tokens": ", as those that are 0 are the mean of the others",
    "attention": ", by the 1-norm of the weights",
    "centring": ", as all of them are moved by one vector",
    "given": ", by assumption",
    "linear map": ", by the operator norm of the map",
}


# --- which sizes are used ---------------------------------------------------------------------------------------------


def sizes_used(steps: Sequence[Step], at_last: Iterable[sp.Symbol] = ()) -> Sized:
    """The sizes that the errors of these steps rest on, those `at_last`, and the sizes that these follow from.

    An error that is 0 is left out, and with it the norm that it would be multiplied by.
    """
    used, zero = set(at_last), dict[sp.Symbol, sp.Expr]()
    for step in steps:
        zero |= {step.error: sp.S.Zero} if step.shown.xreplace(zero) == 0 else {}
    for step in reversed(steps):
        if step.sizes is not None:
            used |= _sizes_in(step.sizes.error.xreplace(zero))
        if step.premises and any(isinstance(owed, RangeObligation) for owed in step.obligations):
            used.add(size_symbol(step.premises[0]))
        used |= _behind(step, used)
    return frozenset(used)


def sizes_in_layer(step: Step, used: Collection[sp.Symbol]) -> Sized:
    """The same in one layer of a repetition, of which `used` is asked; a layer passes on what it takes."""
    if not isinstance(step.operation, Repetition):
        return frozenset()
    layer, last, argument = step.operation.layer.derivation.steps, step.operation.layer.name, step.operation.premise
    found = sizes_used(layer, {of(last) for of in KINDS if of(step.name) in used})
    return sizes_used(layer, {*found, *(of(last) for of in KINDS if of(argument) in found)})


KINDS = (size_symbol, approximate_symbol)


def _sizes_in(formula: sp.Expr | None) -> set[sp.Symbol]:
    return set() if formula is None else set(formula.atoms(SizeSymbol))


def _behind(step: Step, used: Collection[sp.Symbol]) -> set[sp.Symbol]:
    """The sizes that the used ones of this step follow from."""
    if isinstance(step.operation, Repetition):
        taken = {*sizes_in_layer(step, used), *(of(step.operation.premise) for of in KINDS if of(step.name) in used)}
        return {of(step.premises[0]) for of in KINDS if of(step.operation.premise) in taken}
    sizes, found = step.sizes, set[sp.Symbol]()
    if sizes is None:
        return found
    found |= _sizes_in(sizes.size) if size_symbol(step.name) in used else set()
    found |= _sizes_in(sizes.radius) if radius_symbol(step.name) in used else set()
    if approximate_symbol(step.name) in used:
        of_exact = _sizes_in(sizes.size)
        found |= {approximate_symbol(name) for name in step.premises if size_symbol(name) in of_exact}
    return found


# --- their sentences --------------------------------------------------------------------------------------------------


@dataclass
class SizeLines:
    """The sentences on sizes, for one list of steps: those that are `used`.

    `norms` writes the norms of the steps so far; `known` are sizes that stand in the place of a symbol.
    """

    page: Page
    used: Sized
    norms: dict[sp.Symbol, str] = field(default_factory=dict)
    known: Mapping[sp.Symbol, sp.Expr] = field(default_factory=dict)

    def name(self, step: Step) -> None:
        """Later sentences may write the norm of this step."""
        self.norms[size_symbol(step.name)] = rf"\|{name_latex(step.name)}\|_{{{INDEX[step.norm]}}}"

    def of(self, step: Step) -> list[str]:
        """How large the value is, exact and approximate, and how far its tokens are apart."""
        sizes, said = step.sizes, list[str]()
        if sizes is None:
            return said
        exact, approximate = size_symbol(step.name) in self.used, approximate_symbol(step.name) in self.used
        if exact:
            said.append(f"{begun(_why(step))}, {self._bound(step, sizes)}")
        if approximate and sizes.approximate is not None:
            said.append(self._of_approximate(step, sizes.approximate, sizes.closed if exact else None))
        if radius_symbol(step.name) in self.used and sizes.closed_radius is not None:
            radius, why = self.page.latex(sizes.closed_radius), NEAR.get(step.rule, "")
            said.append(f"All tokens are at most ${radius}$ away from one point{why}.")
        return said

    def _of_approximate(self, step: Step, size: sp.Expr, of_exact: sp.Expr | None) -> str:
        """Beside the bound on the norm of the exact value, where that is said."""
        why, bound = _why_approximate(step), self.page.latex(size)
        if of_exact is None or why != _why(step):
            return f"{begun(why)}, the approximate value has a norm of at most ${bound}$."
        most = "" if size == of_exact else f", with ${bound}$ in place of this bound"
        return f"The same holds for the approximate value{most}."

    def _bound(self, step: Step, sizes: Sizes) -> str:
        """By the norms of premises, where the line has room, and in closed form."""
        left, by_norms = self.norms[size_symbol(step.name)], sizes.size.xreplace(dict(self.known))
        page = replace(self.page, notation={**self.page.notation, **self.norms})
        bounds = ([by_norms] if _sizes_in(by_norms) else []) + [sizes.closed]
        line = " ".join([left, *(rf"\le {each}" for each in dict.fromkeys(map(page.latex, bounds)))])
        return in_text([line] if width(line) <= page.room else equations((left, r"\le", sizes.closed), page))


def _why(step: Step) -> str:
    if step.sizes is None or step.sizes.separate:
        return SEPARATE
    of_premises = len(_sizes_in(step.sizes.size))
    if step.rule in FUNCTIONS:
        linear = not step.sizes.size.diff(size_symbol(step.premises[0])).atoms(SizeSymbol)
        return BY_LARGEST if not of_premises else BY_SLOPE if linear else BY_TAYLOR
    if isinstance(step.operation, Repetition):
        return BY_INDUCTION
    if step.rule == "attention" and of_premises > 1:
        return BY_WEIGHTS
    return WHY.get(step.rule, SEPARATE)


def _why_approximate(step: Step) -> str:
    """As for the exact value, but for what the network has in the place of a map."""
    if step.sizes is None or step.sizes.given_approximate:
        return SEPARATE
    if step.rule in FUNCTIONS:
        return BY_NETWORK
    if isinstance(step.operation, Repetition):
        return BY_INDUCTION
    return WHY_APPROXIMATE.get(step.rule) or WHY.get(step.rule, SEPARATE)


def layer_lines(step: Step, letter: str, used: Collection[sp.Symbol], page: Page) -> tuple[SizeLines, str]:
    """The sentences of one layer of a repetition, and what is said of the norm of its argument."""
    argument, inner = argument_of_layer(step, letter), sizes_in_layer(step, used)
    sizes = None if argument is None else argument.sizes
    if argument is None or sizes is None:
        return SizeLines(page, inner), ""
    bounds = {"exact": sizes.closed, "approximate": sizes.approximate}
    named = dict(zip(bounds, (of(argument.name) for of in KINDS), strict=True))
    said = {which: page.latex(each) for which, each in bounds.items() if named[which] in inner and each is not None}
    words = [f"its {which} value has a norm of at most ${bound}$" for which, bound in said.items()]
    if len(set(said.values())) < len(said):
        words = [f"both of its values have a norm of at most ${said['exact']}$"]
    lines = SizeLines(page, inner, known={size_symbol(argument.name): sizes.closed})
    return lines, f"; by induction over the layers, {listed(words)}" if said else ""
