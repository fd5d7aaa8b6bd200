"""What Figures 1 to 3 of wu2024 and the text beside them claim of pretrained models, each as a statistic of R^2.

"Comparable" has no number there: a difference of at most 1/10 of R^2 is taken for it.
"""

import sympy as sp

from symbolic.statements.result import Hypothesis, Kind, Parameter, Quantity, Result
from symbolic.statements.trained import SHORT_RUN, claim_of_training, of_training, size, training_hypotheses
from symbolic.words.citations import WU2024, Citation

N, n, prompts = sp.symbols("N n prompts", integer=True, positive=True)
# Appendix G. The width of the networks and the learning rate are not printed.
PRINTED = {"N": (3, 4, 6), "d": 20, "n": 50, "width": 256, "heads": 8, "layers": 12, "steps": 500_000, "batch": 64}
PRINTED |= {"prompts": 6400, "depths": ((4, 6, 8, 10),)}
COMPARABLE = sp.Rational(1, 10)
MIXTURES = (1.0, 0.9, 0.7, 0.5)  # weights of N(-2, I), the first that of the pretraining
LONGER = sp.Rational(3, 2)  # times the examples of the pretraining: 75 of 50
TENTHS = (3, 6, 9)  # of n, in Figure 3: 15, 30, 45 of 50

RUN = "transformers pretrained on networks at inputs from one Gaussian, on prompts that were not trained on"


def _claim(name: str, meaning: str, kind: Kind, bound: sp.Expr, place: str, words: str, reading: str = "") -> Quantity:
    words = f"'{words}'{reading}"
    return claim_of_training(
        *(name, meaning, "coefficient of determination", RUN, Citation(WU2024, place), words), kind=kind, bound=bound
    )


_READ = "; printed without a number, judged by a tenth"
_COMPARABLE = "R-squared values comparable to those from training with prompt samples"
_LONGER = "regardless of whether the prompt lengths are within or exceed those used in pretraining"
_DECLINES = "the ICL performance declines as the testing distribution diverges from the pretraining one"
_DECREASES = "performance decreases when the prompt length exceeds the pretraining length"
_BEYOND = "score of the softmax transformer behind `3 n/2` examples less that behind `n`"
_DEEPER = "a deeper transformer achieves better ICL performance"


def _of_attention(kind: str, word: str, figure: str) -> list[Quantity]:
    apart = f"score of networks trained on the prompt less that of the {word} transformer, behind"
    mixtures = "along the mixtures with 1, 0.9, 0.7 and 0.5 of the first Gaussian"
    shifted = f"largest step of the score of the {word} transformer {mixtures}"
    found = [
        _claim(f"{kind}.comparable", f"{apart} `n` examples", Kind.UPPER, COMPARABLE, figure, _COMPARABLE, _READ),
        _claim(f"{kind}.longer", f"{apart} `3 n/2` examples", Kind.UPPER, COMPARABLE, "Appendix G.1.2", _LONGER, _READ),
        _claim(f"{kind}.shift", shifted, Kind.UPPER, sp.S.Zero, figure, _DECLINES),
    ]
    for tenths in TENTHS:
        meaning = f"smallest step of the score of {word} transformers along the depths, behind `{tenths} n/10` examples"
        found.append(_claim(f"{kind}.depth.{tenths}", meaning, Kind.LOWER, sp.S.Zero, "Figure 3", _DEEPER))
    return found


QUANTITIES = (
    *_of_attention("relu", "ReLU", "Figure 1"),
    *_of_attention("softmax", "softmax", "Figure 2"),
    _claim("softmax.length", _BEYOND, Kind.UPPER, sp.S.Zero, "Figure 2", _DECREASES),
)


_DEPTHS = "layers of the transformers of Figure 3"
PARAMETERS = (
    size("N", "layers of the networks to be learnt", 3),
    size("K", "units of a hidden layer of theirs", 4),
    size("d", "coordinates of an input", 2),
    size("n", "examples of a prompt of the pretraining", 8),
    *of_training(
        (
            size("layers", "layers of the transformers of Figures 1 and 2", 2),
            Parameter("depths", None, f"{_DEPTHS}, in a row", "1, 2", takes="NUMBERS", setting=True),
        ),
        *(60, "prompts of a step", "prompts of a test"),
    ),
)
PRETRAINING = Result(
    id="icgd.pretraining",
    title="Pretrained transformers beside networks trained on the prompt",
    citation=Citation(WU2024, "Appendix G", "Figures 1-3"),
    claim=r"\text{pretrained} \approx \text{trained on the prompt}",
    parameters=PARAMETERS,
    hypotheses=(
        *training_hypotheses(PARAMETERS),
        Hypothesis("N", sp.Ge(N, 2), "a network has two layers at least"),
        Hypothesis("n", sp.Ge(n, 4), "the shortest prompt of Figure 3 has an example"),
        Hypothesis("prompts", sp.Ge(prompts, 2), "`R^2` divides by the variance of the answers"),
    ),
    quantities=QUANTITIES,
    remarks=(
        SHORT_RUN,
        "The score is `R^2`, one less the mean squared error at the query over the variance of the answers there.",
        "The networks that are trained on the prompt take 100 epochs of Adam, and of these the one with the best "
        "`R^2`, as in the paper: that choice looks at the answers and favours them.",
        "The caption of Figure 2 says that performance decreases beyond the length of the pretraining, and the text "
        "below that it matches there: both are rows. Positions beyond that length keep their first values.",
        "The paper prints neither the width of the networks nor the learning rate. Its MLPs are as wide as the model, "
        "256; those here are four times as wide, as GPT-2's.",
    ),
)
