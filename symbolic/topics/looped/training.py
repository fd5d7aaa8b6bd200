"""What Figures 2 to 5 of algoformer and the text beside them claim of trained models, each as a statistic.

A claim without a number is judged by its direction alone: below, above, declines.
"""

import sympy as sp

from symbolic.statements.result import Hypothesis, Kind, Parameter, Printed, Quantifier, Quantity, Result
from symbolic.words.citations import ALGOFORMER, Citation

SIZES = {
    name: sp.Symbol(name, integer=True, positive=True)
    for name in ("d", "N", "q", "states", "width", "heads", "layers", "T", "steps", "batch", "prompts")
}
delta_T, rate = sp.Symbol("delta_T", integer=True, nonnegative=True), sp.Symbol("rate", positive=True)
# Section 5.1. The batch, the heads and the number of prompts of a validation are not printed.
PRINTED = {"d": 20, "N": 40, "q": 3, "states": 6, "width": 256, "layers": 12, "T": 20, "delta_T": 15}
PRINTED |= {"steps": 500_000}
NEWTON_STEPS = 20  # "later on" of Figure 5: as many as the paper's T

_UNDER = "training as in the paper, at its size"
RUN = "models trained by Adam on (6), at the query of prompts that were not trained on"


def _size(name: str, meaning: str, default: int, setting: bool = True) -> Parameter:
    return Parameter(name, SIZES[name], meaning, default, integer=True, setting=setting)


def _claim(
    name: str, meaning: str, place: str, words: str, bound: sp.Expr = sp.S.Zero, norm: str = "squared error"
) -> Quantity:
    return Quantity(
        *(name, rf"\text{{{name}}}", meaning, norm, RUN, Kind.UPPER, Quantifier.EXPECTATION),
        printed=Printed(bound, Citation(ALGOFORMER, place), under=_UNDER),
        scopes=(),
        randomness="the seeds",
        remark=f"'{words}'",
    )


def _below(name: str, one: str, other: str, task: str, place: str, words: str) -> Quantity:
    return _claim(name, f"error of {one} less that of {other}, {task}", place, words)


_BETTER = "the AlgoFormer has significantly better performance than the standard and the vanilla looped transformer"
_SURPASS = "both the AlgoFormer and the standard transformer significantly surpass the vanilla looped transformer"
_REPRESENTED, _SERIES, _CHAIN = "regression with representation", "autoregression with representation", "CoT with MLPs"
_STANDARD, _LOOPED, _ALGO = "the standard transformer", "the looped transformer", "the AlgoFormer"
_BEGINNING = "the AlgoFormer outperforms both Newton's method and gradient descent in the beginning stages"
_NOISE = "with increasing noise levels, ... our method exhibits better performance"
_FEWER = "an increase in both the number of heads and layers leads to lower errors"
_LINEAR, _NOISY = "linear regression without noise", "linear regression with noise of variance 1"

_FIRST = f"{_LINEAR}, at the first iterate of (6) and after as many steps"

QUANTITIES = (
    _claim(
        "examples",
        f"largest step of the error of {_ALGO} along none, half and all of the examples, {_REPRESENTED}",
        "Figure 2a",
        "showcasing a decrease with an increasing number of in-context samples",
    ),
    _below("representation.standard", _ALGO, _STANDARD, _REPRESENTED, "Figure 2a", _BETTER),
    _below("representation.looped", _ALGO, _LOOPED, _REPRESENTED, "Figure 2a", _BETTER),
    _below("series.standard", _ALGO, _STANDARD, _SERIES, "Figure 2b", _BETTER),
    _below("series.looped", _ALGO, _LOOPED, _SERIES, "Figure 2b", _BETTER),
    _below("chain.standard", _ALGO, _STANDARD, _CHAIN, "Figure 2c", _BETTER),
    _below("chain.looped", _ALGO, _LOOPED, _CHAIN, "Figure 2c", _SURPASS),
    _below("chain.standard.looped", _STANDARD, _LOOPED, _CHAIN, "Figure 2c", _SURPASS),
    _claim(
        *(
            "loops",
            "growth of the error to four times the loops, trained on the average of all iterates, over that of two",
        ),
        *("Figure 3", "a larger Delta T enhances stable long-term inference"),
        *(sp.S.One, "ratio"),
    ),
    _claim(
        "heads",
        f"largest step of the error of {_ALGO} from as many heads as stated to twice as many",
        "Figure 4",
        _FEWER,
    ),
    _claim("layers", f"largest step of the error of {_ALGO} from 1 to 2 layers in each part", "Figure 4", _FEWER),
    _below(
        *("same.layers", _ALGO, "the standard transformer of 3 layers", _REPRESENTED, "section 5.3"),
        "even with the same number of layers, the AlgoFormer exhibits better performance",
    ),
    _below("first.newton", _ALGO, "Newton's method", _FIRST, "Figure 5", _BEGINNING),
    _below("first.descent", _ALGO, "gradient descent", _FIRST, "Figure 5", _BEGINNING),
    _below(
        *("newton.overtakes", f"{NEWTON_STEPS} steps of Newton's method", _ALGO, _LINEAR, "Figure 5"),
        "Newton's method suddenly achieves nearly zero loss later on",
    ),
    _below("noise.newton", _ALGO, "as many steps of Newton's method as loops", _NOISY, "Figure 5", _NOISE),
    _below("noise.descent", _ALGO, "as many steps of gradient descent as loops", _NOISY, "Figure 5", _NOISE),
)

_WIDTH, _HEADS = SIZES["width"], SIZES["heads"]
TRAINING = Result(
    id="looped.training",
    title="Trained transformers side by side: standard, looped, AlgoFormer",
    citation=Citation(ALGOFORMER, "Figures 2-5", "eq. (6)"),
    claim=r"\text{AlgoFormer} \le \min(\text{standard}, \text{looped})",
    parameters=(
        _size("d", "coordinates of an input", 2),
        _size("N", "examples of a prompt, and states of a series", 6),
        _size("q", "states that give the next one", 2),
        _size("states", "states of a chain of thought", 2),
        _size("width", "width of the models", 16),
        _size("heads", "heads of a layer", 2),
        _size("layers", "layers of the standard transformer; the parts of the others have one", 3),
        _size("T", "loops", 3),
        Parameter("delta_T", delta_T, "iterates that (6) averages, less one", 2, integer=True, setting=True),
        _size("steps", "steps of a training", 30),
        _size("batch", "prompts of a step", 16),
        Parameter("rate", rate, "learning rate", 3e-3, setting=True),
        _size("prompts", "prompts of a validation", 256),
        Parameter(
            *("trained", None, "folder of stored trainings, below which all are; '': they are made here", ""),
            takes="FOLDER",
            setting=True,
        ),
    ),
    hypotheses=(
        *(Hypothesis(name, sp.Ge(size, 1, evaluate=False), "it counts something") for name, size in SIZES.items()),
        Hypothesis("delta_T", sp.Ge(delta_T, 0, evaluate=False), "it counts iterates"),
        Hypothesis("delta_T", sp.Le(delta_T, SIZES["T"]), "(6) averages iterates up to `T`"),
        Hypothesis("N", sp.Gt(SIZES["N"], SIZES["q"]), "a series has a state to predict"),
        Hypothesis("width", sp.Eq(sp.Mod(_WIDTH, 2 * _HEADS), 0, evaluate=False), "twice as many heads share it"),
        Hypothesis("rate", sp.Gt(rate, 0, evaluate=False), "a step of Adam moves the weights"),
        Hypothesis("rate", sp.Le(rate, 1), "Adam moves each weight by about the rate; beyond, losses overflow"),
    ),
    quantities=QUANTITIES,
    remarks=(
        "A short run decides little: the defaults train for seconds. At the paper's size the trainings are made once, "
        "by ``boundsmith sweep``, and read by ``trained``.",
        "The three tasks are those of section 5.1. Series have `A ~ N(0, I/d)`: with the "
        "printed `N(0, I)` their states grow by a factor of about 2.7 a step. Batch, heads and the prompts of a "
        "validation are not printed.",
        "Section 5.3 names one exception of Figure 4, 16 heads and 4 layers. That `T` determines the capacity has no "
        "direction to test. The table of section 5.5 is ``looped.translation``.",
    ),
)
