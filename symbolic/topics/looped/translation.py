"""What the table of section 5.5 of algoformer claims of trained models that translate, each as a statistic.

It has one number a model. These depend on a text and on tokens that are not ours, and their order is the claim.
"""

import sympy as sp

from symbolic.statements.result import Hypothesis, Parameter, Quantity, Result
from symbolic.statements.trained import LOOPED, claim_of_training, of_training, size, training_hypotheses
from symbolic.words.citations import ALGOFORMER, Citation

words, length = sp.Symbol("words", integer=True, nonnegative=True), sp.Symbol("length", integer=True, positive=True)
PRINTED = {"width": 256, "heads": 8, "layers": 12, "T": 12, "delta_T": 10, "rate": 5e-5}
CROSS_ENTROPIES = {"standard": 4.994, "looped": 4.726, "algoformer": 4.609}  # of the table

WORDS = {"standard": "the standard transformer", "looped": "the looped transformer", "algoformer": "the AlgoFormer"}
_BETTER = "AlgoFormer outperforms both the standard Transformer and the vanilla looped Transformer"
_TABLE = "Table in section 5.5"


def _below(one: str, other: str, quoted: str) -> Quantity:
    printed = f"the table has {CROSS_ENTROPIES[one]} and {CROSS_ENTROPIES[other]}"
    return claim_of_training(
        *(f"{one}.{other}", f"cross-entropy of {WORDS[one]} less that of {WORDS[other]}"),
        "nats a token of the target",
        "models trained by Adam on (6), at pairs of lines that were not trained on",
        *(Citation(ALGOFORMER, _TABLE), f"'{quoted}'; {printed}" if quoted else printed),
        under="IWSLT 2015, training as in the paper",
    )


QUANTITIES = (
    _below("algoformer", "standard", _BETTER),
    _below("algoformer", "looped", _BETTER),
    _below("looped", "standard", ""),
)


def _file(name: str, meaning: str) -> Parameter:
    return Parameter(name, None, f"{meaning}; '': none", "", takes="FILE", setting=True)


PARAMETERS = (
    _file("source_text", "text to translate from, in UTF-8, a sentence a line"),
    _file("target_text", "its translation, line by line"),
    Parameter("words", words, "words of the vocabulary, beside all bytes", 1000, integer=True, setting=True),
    size("length", "tokens of a pair, at most; longer ones are left out", 32),
    *of_training(
        *(LOOPED, 30, "pairs of a step"),
        "pairs of the validation, at most: the first ones of the last tenth of the texts",
    ),
)
TRANSLATION = Result(
    id="looped.translation",
    title="Trained transformers translate: standard, looped, AlgoFormer",
    citation=Citation(ALGOFORMER, _TABLE, "eq. (6)"),
    claim=r"\text{AlgoFormer} \le \text{looped} \le \text{standard}",
    parameters=PARAMETERS,
    hypotheses=(
        *training_hypotheses(PARAMETERS),
        Hypothesis("words", sp.Ge(words, 0, evaluate=False), "it counts words"),
        Hypothesis("length", sp.Ge(length, 3), "a pair has a word, a separator and a word at least"),
    ),
    quantities=QUANTITIES,
    remarks=(
        "The texts are yours; none comes with boundsmith. The paper takes IWSLT 2015, German and English. A pair is "
        "one sequence (source, separator, target, end) of a decoder, and the loss is about the target.",
        "The paper prints neither its tokens nor its encoder, batch and number of steps: cross-entropies in the table "
        "are not those of other tokens, and their order alone is judged. A claim that fails is `outside`.",
        "A token is one of the most frequent words of the first nine tenths of both texts, or a byte. The last tenth "
        "is for the validation.",
    ),
)
