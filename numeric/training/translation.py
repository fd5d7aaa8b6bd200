"""Translation of lines by a decoder: a pair is one sequence, and the loss is about its target alone.

    source, SEPARATOR, target, END

Shapes: B pairs, L tokens, S iterates, P pairs of a text.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from numeric.training.errors import require
from numeric.training.models import Form
from numeric.training.tasks import HELD_OUT, TRAINED, LearningTask, TrainingBatch, generator

PIECES = re.compile(r" ?\w+| ?[^\w\s]+|\s+")  # words with the space before them, signs, spaces: all of a line
BYTES = 256
SEPARATOR, END, FIRST_WORD = BYTES, BYTES + 1, BYTES + 2
NOT_PREDICTED = -100  # a target that torch's cross-entropy leaves out
HELD_OUT_SHARE = 10  # one pair of so many, at the end of the texts


@dataclass(frozen=True)
class Vocabulary:
    """Tokens of a line: a word of `words` is one token, every other piece its UTF-8 bytes. Nothing is lost."""

    words: tuple[str, ...]

    @classmethod
    def counted(cls, lines: Iterable[str], most: int) -> "Vocabulary":
        """The `most` pieces of more than a byte that are the most frequent ones; of equals those first in the order."""
        counts = Counter(piece for line in lines for piece in PIECES.findall(line) if len(piece.encode()) > 1)
        return cls(tuple(sorted(counts, key=lambda piece: (-counts[piece], piece))[:most]))

    @property
    def size(self) -> int:
        return FIRST_WORD + len(self.words)

    @cached_property
    def places(self) -> Mapping[str, int]:
        return {word: FIRST_WORD + place for place, word in enumerate(self.words)}

    def encode(self, line: str) -> list[int]:
        found: list[int] = []
        for piece in PIECES.findall(line):
            place = self.places.get(piece)
            found += piece.encode() if place is None else [place]
        return found

    def decode(self, tokens: Iterable[int]) -> str:
        """The line of these tokens."""
        pieces = (bytes([each]) if each < BYTES else self.words[each - FIRST_WORD].encode() for each in tokens)
        return b"".join(pieces).decode(errors="replace")


@dataclass(frozen=True)
class EncodedPairs:
    """Sequences (P, length + 1), END behind their ends; the places of their separators and of their ends (P)."""

    sequences: np.ndarray
    separators: np.ndarray
    ends: np.ndarray

    def batch(self, chosen: np.ndarray) -> TrainingBatch:
        """Those of these numbers: what a token does not predict of the target is NOT_PREDICTED."""
        sequence = torch.from_numpy(self.sequences[chosen]).long()  # (B, L + 1)
        place = torch.arange(sequence.shape[1] - 1, dtype=torch.int64, device="cpu")  # (L)
        first, last = (torch.from_numpy(each[chosen])[:, None] for each in (self.separators, self.ends))
        targets = sequence[:, 1:].masked_fill((place < first) | (place >= last), NOT_PREDICTED)
        return TrainingBatch(sequence[:, :-1], targets)


@dataclass(frozen=True)
class TranslatedLines(LearningTask):
    """Pairs of the lines of two parallel texts. The last tenth is held out.

    Pairs with an empty line are left out, and so are those of more than `length` tokens, separator counted. The
    vocabulary has the bytes and `words` pieces, counted in the pairs that are trained on. The loss is the cross-entropy
    of a token of the target, its end counted, in nats.
    """

    source_text: str = ""
    target_text: str = ""
    words: int = 1000
    length: int = 32
    aligned: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require(self.words >= 0, f"words = {self.words}", "give a whole number >= 0")
        require(self.length >= 3, f"length = {self.length}", "a pair has a word, a separator and a word at least")
        counts = [len(_lines(text)) for text in (self.source_text, self.target_text)]
        unequal = f"source_text has {counts[0]} lines and target_text has {counts[1]}"
        require(counts[0] == counts[1], unequal, "give two texts whose lines belong together one by one")
        self._part(TRAINED)  # raises where one of the two is empty

    @property
    def vocabulary(self) -> Vocabulary:
        return _encoded(self.source_text, self.target_text, self.words, self.length)[0]

    @property
    def form(self) -> Form:
        return Form(self.length, self.vocabulary.size, self.vocabulary.size, symbols=True)

    def _part(self, stream: int) -> EncodedPairs:
        _, trained, held_out = _encoded(self.source_text, self.target_text, self.words, self.length)
        return held_out if stream == HELD_OUT else trained

    def batch(
        self, count: int, seed: int, number: int, stream: int = TRAINED, dtype: torch.dtype = torch.float32
    ) -> TrainingBatch:
        """Pairs drawn with replacement, of the stream HELD_OUT from those that are held out."""
        part, source = self._part(stream), generator(seed, stream, number)
        return part.batch(
            torch.randint(len(part.ends), (count,), generator=source, dtype=torch.int64, device="cpu").numpy()
        )

    def validation(self, most: int) -> TrainingBatch:
        """The first `most` of the pairs that are held out, each once."""
        part = self._part(HELD_OUT)
        return part.batch(np.arange(min(most, len(part.ends))))

    def nats(self, predicted: Tensor, batch: TrainingBatch) -> Float[Tensor, "S B L"]:
        """The cross-entropy at each token that predicts one of the target; 0 at the others."""
        targets = batch.targets.expand(len(predicted), -1, -1)  # (S, B, L)
        found = functional.cross_entropy(
            predicted.flatten(0, 2), targets.flatten(), ignore_index=NOT_PREDICTED, reduction="none"
        )
        return found.view_as(targets)

    def errors(self, predicted: Tensor, batch: TrainingBatch) -> Float[Tensor, "S B L"]:
        """The nats, scaled so that their mean is that over the tokens that predict."""
        return self.nats(predicted, batch) / (batch.targets != NOT_PREDICTED).float().mean()


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return [each.removesuffix("\r") for each in (lines if lines[-1] else lines[:-1])]


@lru_cache(maxsize=2)  # the models of a comparison share their texts
def _encoded(source: str, target: str, words: int, length: int) -> tuple[Vocabulary, EncodedPairs, EncodedPairs]:
    """The vocabulary, and the pairs that are trained on and held out. Raises TrainingError where one has none."""
    pairs = [each for each in zip(_lines(source), _lines(target), strict=True) if each[0].strip() and each[1].strip()]
    held_out = max(1, len(pairs) // HELD_OUT_SHARE)
    parts = pairs[:-held_out], pairs[-held_out:]
    vocabulary = Vocabulary.counted((line for pair in parts[0] for line in pair), words)
    trained, tested = (_encoded_pairs(vocabulary, part, length) for part in parts)
    short = (
        f"{len(pairs)} pairs of lines that are not empty, of which {len(trained.ends)} to train on and "
        f"{len(tested.ends)} held out have at most {length} tokens"
    )
    require(min(len(trained.ends), len(tested.ends)) > 0, short, "give longer texts, or a larger length")
    return vocabulary, trained, tested


def _encoded_pairs(vocabulary: Vocabulary, pairs: Iterable[tuple[str, str]], length: int) -> EncodedPairs:
    sequences, separators, ends = [], [], []
    for source, target in pairs:
        before = vocabulary.encode(source)
        sequence = [*before, SEPARATOR, *vocabulary.encode(target), END]
        if len(sequence) <= length + 1:
            sequences.append(np.array(sequence + [END] * (length + 1 - len(sequence)), dtype=np.int32))
            separators.append(len(before))
            ends.append(len(sequence) - 1)
    rows = np.array(sequences, dtype=np.int32).reshape(-1, length + 1)
    return EncodedPairs(rows, np.array(separators, dtype=np.int64), np.array(ends, dtype=np.int64))
