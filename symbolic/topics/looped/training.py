"""What Figures 2 to 5 of algoformer and the text beside them claim of trained models, each as a statistic.

A claim without a number is judged by its direction alone: below, above, declines.
"""

import sympy as sp

from symbolic.statements.result import Hypothesis, Quantity, Result
from symbolic.statements.trained import LOOPED, SHORT_RUN, claim_of_training, of_training, size, training_hypotheses
from symbolic.words.citations import ALGOFORMER, Citation

N, q = sp.symbols("N q", integer=True, positive=True)
# Section 5.1. The batch, the heads and the number of prompts of a validation are not printed.
PRINTED: dict[str, float] = {
    "rate": 1e-4,
    "d": 20,
    "N": 40,
    "q": 3,
    "states": 6,
    "width": 256,
    "layers": 12,
    "T": 20,
    "delta_T": 15,
}
PRINTED |= {"steps": 500_000}
NEWTON_STEPS = 20  # "later on" of Figure 5: as many as the paper's T

RUN = "models trained by Adam on (6), at the query of prompts that were not trained on"


def _claim(
    name: str, meaning: str, place: str, words: str, bound: sp.Expr = sp.S.Zero, norm: str = "squared error"
) -> Quantity:
    return claim_of_training(name, meaning, norm, RUN, Citation(ALGOFORMER, place), f"'{words}'", bound=bound)


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

PARAMETERS = (
    size("d", "coordinates of an input", 2),
    size("N", "examples of a prompt, and states of a series", 6),
    size("q", "states that give the next one", 2),
    size("states", "states of a chain of thought", 2),
    *of_training(LOOPED, 30, "prompts of a step", "prompts of a validation"),
)
TRAINING = Result(
    id="looped.training",
    title="Trained transformers side by side: standard, looped, AlgoFormer",
    citation=Citation(ALGOFORMER, "Figures 2-5", "eq. (6)"),
    claim=r"\text{AlgoFormer} \le \min(\text{standard}, \text{looped})",
    parameters=PARAMETERS,
    hypotheses=(
        *training_hypotheses(PARAMETERS, most_heads=2),
        Hypothesis("N", sp.Gt(N, q), "a series has a state to predict"),
    ),
    quantities=QUANTITIES,
    remarks=(
        SHORT_RUN,
        "The three tasks are those of section 5.1. Series have `A ~ N(0, I/d)`: with the "
        "printed `N(0, I)` their states grow by a factor of about 2.7 a step. Batch, heads and the prompts of a "
        "validation are not printed.",
        "Section 5.3 names one exception of Figure 4, 16 heads and 4 layers. That `T` determines the capacity has no "
        "direction to test. The table of section 5.5 is ``looped.translation``.",
    ),
)
