"""Translation of lines: tokens from which a line comes back, pairs and what of them is predicted, refusals."""

import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from numeric.training.errors import TrainingError
from numeric.training.tasks import HELD_OUT, TRAINED
from numeric.training.translation import END, FIRST_WORD, NOT_PREDICTED, SEPARATOR, TranslatedLines, Vocabulary

SOURCE = "ja\n" * 9 + "nein, é\n"
TARGET = "yes\n" * 9 + "yes no\n"
TASK = TranslatedLines(source_text=SOURCE, target_text=TARGET, words=2, length=16)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40), st.lists(st.text(max_size=5), max_size=5))
def test_a_line_comes_back_from_its_tokens(line: str, others: list[str]) -> None:
    vocabulary = Vocabulary.counted([line[::2], *others], 3)
    tokens = vocabulary.encode(line)
    assert vocabulary.decode(tokens) == line
    assert all(0 <= each < vocabulary.size and each not in (SEPARATOR, END) for each in tokens)


def test_the_most_frequent_pieces_are_tokens_and_others_their_bytes() -> None:
    vocabulary = Vocabulary.counted(["the cat the", "a cat", "ox the"], 3)
    assert vocabulary.words == (" cat", " the", "ox")  # a piece of one byte is no word; 'ox' is before 'the'
    assert vocabulary.encode("the cat é") == [*b"the", FIRST_WORD, *" é".encode()]


def test_a_pair_is_one_sequence_that_predicts_its_target() -> None:
    assert TASK.vocabulary.words == ("ja", "yes")  # the last tenth is not counted
    ja, yes, pad = FIRST_WORD, FIRST_WORD + 1, [END] * 13
    trained = TASK.batch(3, 0, 0)
    assert trained.tokens.tolist() == [[ja, SEPARATOR, yes, *pad]] * 3
    assert trained.targets.tolist() == [[NOT_PREDICTED, yes, END, *[NOT_PREDICTED] * 13]] * 3
    held = TASK.validation(5)
    source, target = b"nein, \xc3\xa9", [yes, *b" no", END]
    assert held.tokens.tolist() == [[*source, SEPARATOR, *target, *[END] * 16][:16]]
    assert held.targets[0, len(source) :].tolist() == [*target, *[NOT_PREDICTED] * 3]
    assert torch.equal(TASK.batch(2, 7, 0, HELD_OUT).tokens, held.tokens.repeat(2, 1))
    assert torch.equal(TASK.batch(4, 1, 2, TRAINED).tokens, trained.tokens[:1].repeat(4, 1))


def test_the_loss_is_the_mean_over_the_tokens_of_targets() -> None:
    size, batch = TASK.form.outputs, TASK.validation(1)
    predicted = torch.zeros(2, 1, 16, size, dtype=torch.float64, device="cpu")
    assert float(TASK.loss(predicted, batch)) == pytest.approx(math.log(size))
    predicted[1, 0, 8, FIRST_WORD + 1] = 3.0  # the separator predicts the first token of the target
    better = math.log(size - 1 + math.exp(3)) - 3
    assert float(TASK.nats(predicted, batch)[1].sum()) == pytest.approx(4 * math.log(size) + better)
    assert TASK.errors(predicted, batch).mean((1, 2)).tolist() == pytest.approx(
        [math.log(size), (4 * math.log(size) + better) / 5]
    )


def test_empty_and_long_pairs_and_windows_line_ends() -> None:
    source, target = "a\r\n\r\nb\r\n" + "c" * 20 + "\nd", "A\nB\n \nC\nD\n"
    task = TranslatedLines(source_text=source, target_text=target, words=0, length=3)
    assert [task.vocabulary.decode([each]) for each in task.batch(1, 0, 0).tokens[0].tolist()[::2]] == ["a", "A"]
    assert task.validation(9).tokens.tolist() == [[ord("d"), SEPARATOR, ord("D")]]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"source_text": "a\nb\nc"}, "source_text has 3 lines and target_text has 10; give two texts whose lines"),
        ({"source_text": "", "target_text": ""}, "0 pairs of lines that are not empty, of which 0 to train on and 0"),
        ({"source_text": "a", "target_text": "b"}, "1 pairs .* 0 to train on and 1 held out have at most 16 tokens"),
        ({"length": 3}, "9 to train on and 0 held out have at most 3 tokens; give longer texts, or a larger length"),
        ({"length": 2}, "length = 2; a pair has a word, a separator and a word at least"),
        ({"words": -1}, "words = -1; give a whole number >= 0"),
    ],
)
def test_refusals(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(TrainingError, match=message):
        TranslatedLines(**{"source_text": SOURCE, "target_text": TARGET, "words": 2, "length": 16, **changed})
