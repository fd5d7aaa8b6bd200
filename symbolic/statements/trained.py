"""What statements about trained models share: claims over seeds, sizes, settings of a training and their hypotheses."""

from collections.abc import Iterable

import sympy as sp

from symbolic.statements.parameters import Hypothesis, Parameter
from symbolic.statements.result import Kind, Printed, Quantifier, Quantity
from symbolic.words.citations import Citation

T, width, heads = sp.symbols("T width heads", integer=True, positive=True)
delta_T, rate = sp.Symbol("delta_T", integer=True, nonnegative=True), sp.Symbol("rate", positive=True)

_FOLDER = "folder of stored trainings, below which all are"
UNDER = "training as in the paper, at its size"
SHORT_RUN = (
    "A short run decides little: the defaults train for seconds. At the paper's size the trainings are made once, "
    "by ``boundsmith sweep``, and read by ``trained``."
)


def claim_of_training(
    name: str,
    meaning: str,
    norm: str,
    over: str,
    place: Citation,
    remark: str,
    *,
    kind: Kind = Kind.UPPER,
    bound: sp.Expr = sp.S.Zero,
    under: str = UNDER,
) -> Quantity:
    """What a figure or a table claims of trained models, as a statistic whose mean over the seeds has that bound."""
    return Quantity(
        *(name, rf"\text{{{name}}}", meaning, norm, over, kind, Quantifier.EXPECTATION),
        printed=Printed(bound, place, under=under),
        scopes=(),
        randomness="the seeds",
        remark=remark,
    )


def size(name: str, meaning: str, default: int) -> Parameter:
    """A setting that counts something."""
    return Parameter(name, sp.Symbol(name, integer=True, positive=True), meaning, default, integer=True, setting=True)


# The standard transformer beside the looped ones of algoformer.
LOOPED = (
    size("layers", "layers of the standard transformer; the parts of the others have one", 3),
    size("T", "loops", 3),
    Parameter("delta_T", delta_T, "iterates that (6) averages, less one", 2, integer=True, setting=True),
)


def of_training(layers: Iterable[Parameter], steps: int, batch: str, tested: str) -> tuple[Parameter, ...]:
    """The sizes of the models, and how they are trained and tested: the last parameters of a statement."""
    return (
        size("width", "width of the models", 16),
        size("heads", "heads of a layer", 2),
        *layers,
        size("steps", "steps of a training", steps),
        size("batch", batch, 16),
        Parameter("rate", rate, "learning rate", 3e-3, setting=True),
        size("prompts", tested, 256),
        Parameter("trained", None, f"{_FOLDER}; '': they are made here", "", takes="FOLDER", setting=True),
    )


def training_hypotheses(parameters: Iterable[Parameter], most_heads: int = 1) -> tuple[Hypothesis, ...]:
    """Of these parameters, where a model has up to `most_heads` times the stated heads."""
    symbols = [each.symbol for each in parameters if each.symbol is not None]
    sizes = [each for each in symbols if each.is_integer and each.is_positive]
    share = "twice as many heads share it" if most_heads == 2 else "the heads have as many coordinates each"
    averaged = (
        Hypothesis("delta_T", sp.Ge(delta_T, 0, evaluate=False), "it counts iterates"),
        Hypothesis("delta_T", sp.Le(delta_T, T), "(6) averages iterates up to `T`"),
    )
    return (
        *(Hypothesis(each.name, sp.Ge(each, 1, evaluate=False), "it counts something") for each in sizes),
        *(averaged if delta_T in symbols else ()),
        Hypothesis("width", sp.Eq(sp.Mod(width, most_heads * heads), 0, evaluate=False), share),
        Hypothesis("rate", sp.Gt(rate, 0, evaluate=False), "a step of Adam moves the weights"),
        Hypothesis("rate", sp.Le(rate, 1), "Adam moves each weight by about the rate; beyond, losses overflow"),
    )
