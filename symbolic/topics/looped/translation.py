"""What the table of section 5.5 of algoformer claims of trained models that translate, each as a statistic.

It has one number a model. These depend on a text and on tokens that are not ours, and their order is the claim.
"""

import sympy as sp

from symbolic.statements.result import Hypothesis, Kind, Parameter, Printed, Quantifier, Quantity, Result
from symbolic.words.citations import ALGOFORMER, Citation

SIZES = {
    name: sp.Symbol(name, integer=True, positive=True)
    for name in ("length", "width", "heads", "layers", "T", "steps", "batch", "prompts")
}
words = sp.Symbol("words", integer=True, nonnegative=True)
delta_T, rate = sp.Symbol("delta_T", integer=True, nonnegative=True), sp.Symbol("rate", positive=True)
PRINTED = {"width": 256, "heads": 8, "layers": 12, "T": 12, "delta_T": 10, "rate": 5e-5}
CROSS_ENTROPIES = {"standard": 4.994, "looped": 4.726, "algoformer": 4.609}  # of the table

WORDS = {"standard": "the standard transformer", "looped": "the looped transformer", "algoformer": "the AlgoFormer"}
_BETTER = "AlgoFormer outperforms both the standard Transformer and the vanilla looped Transformer"
_TABLE = "Table in section 5.5"


def _below(one: str, other: str, quoted: str) -> Quantity:
    printed = f"the table has {CROSS_ENTROPIES[one]} and {CROSS_ENTROPIES[other]}"
    name = f"{one}.{other}"
    return Quantity(
        *(name, rf"\text{{{name}}}", f"cross-entropy of {WORDS[one]} less that of {WORDS[other]}"),
        "nats a token of the target",
        "models trained by Adam on (6), at pairs of lines that were not trained on",
        *(Kind.UPPER, Quantifier.EXPECTATION),
        printed=Printed(sp.S.Zero, Citation(ALGOFORMER, _TABLE), under="IWSLT 2015, training as in the paper"),
        scopes=(),
        randomness="the seeds",
        remark=f"'{quoted}'; {printed}" if quoted else printed,
    )


QUANTITIES = (
    _below("algoformer", "standard", _BETTER),
    _below("algoformer", "looped", _BETTER),
    _below("looped", "standard", ""),
)


def _size(name: str, meaning: str, default: int) -> Parameter:
    return Parameter(name, SIZES[name], meaning, default, integer=True, setting=True)


def _file(name: str, meaning: str) -> Parameter:
    return Parameter(name, None, f"{meaning}; '': none", "", takes="FILE", setting=True)


TRANSLATION = Result(
    id="looped.translation",
    title="Trained transformers translate: standard, looped, AlgoFormer",
    citation=Citation(ALGOFORMER, _TABLE, "eq. (6)"),
    claim=r"\text{AlgoFormer} \le \text{looped} \le \text{standard}",
    parameters=(
        _file("source_text", "text to translate from, in UTF-8, a sentence a line"),
        _file("target_text", "its translation, line by line"),
        Parameter("words", words, "words of the vocabulary, beside all bytes", 1000, integer=True, setting=True),
        _size("length", "tokens of a pair, at most; longer ones are left out", 32),
        _size("width", "width of the models", 16),
        _size("heads", "heads of a layer", 2),
        _size("layers", "layers of the standard transformer; the parts of the others have one", 3),
        _size("T", "loops", 3),
        Parameter("delta_T", delta_T, "iterates that (6) averages, less one", 2, integer=True, setting=True),
        _size("steps", "steps of a training", 30),
        _size("batch", "pairs of a step", 16),
        Parameter("rate", rate, "learning rate", 3e-3, setting=True),
        _size("prompts", "pairs of the validation, at most: the first ones of the last tenth of the texts", 256),
        Parameter(
            *("trained", None, "folder of stored trainings, below which all are; '': they are made here", ""),
            takes="FOLDER",
            setting=True,
        ),
    ),
    hypotheses=(
        *(Hypothesis(name, sp.Ge(size, 1, evaluate=False), "it counts something") for name, size in SIZES.items()),
        Hypothesis("words", sp.Ge(words, 0, evaluate=False), "it counts words"),
        Hypothesis("length", sp.Ge(SIZES["length"], 3), "a pair has a word, a separator and a word at least"),
        Hypothesis("delta_T", sp.Ge(delta_T, 0, evaluate=False), "it counts iterates"),
        Hypothesis("delta_T", sp.Le(delta_T, SIZES["T"]), "(6) averages iterates up to `T`"),
        Hypothesis(
            *("width", sp.Eq(sp.Mod(SIZES["width"], SIZES["heads"]), 0, evaluate=False)),
            "the heads have as many coordinates each",
        ),
        Hypothesis("rate", sp.Gt(rate, 0, evaluate=False), "a step of Adam moves the weights"),
        Hypothesis("rate", sp.Le(rate, 1), "Adam moves each weight by about the rate; beyond, losses overflow"),
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
