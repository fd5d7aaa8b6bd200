"""The attack on decoders: every perturbation it reports flips the prediction, and the two kinds of positions differ."""

import math
from functools import cache

import pytest
import torch
from torch import Tensor

from bridge.topics.machines.machine_files import read_machine
from numeric.tools.flips import Flip, FlipError, random_lines
from numeric.tools.slopes import SlopeError
from numeric.topics.machines.decoder import parameters, run
from numeric.topics.machines.decoder_attack import attack_decoder, victim
from numeric.topics.machines.measured_margins import (
    BINARY,
    CONSTRUCTIONS,
    SCALAR,
    MarginError,
    MeasuredMargin,
    built,
    inputs_by_steps,
    measured_margins,
    slope,
)
from numeric.topics.machines.unrolled import Unrolled
from tests.numeric.topics.machines.random_decoders import random_decoder

PALINDROME = read_machine("palindrome")


def tokens(word: str) -> Tensor:
    return torch.tensor(PALINDROME.indices(word), dtype=torch.int64)


@cache
def attacked(construction: str, word: str, T: int) -> Flip:
    decoder, steps = built(PALINDROME, T, construction)
    return attack_decoder(decoder, tokens(word), steps, seed=0, budget=30)


def prediction(construction: str, word: str, T: int, change: dict[str, Tensor]) -> float:
    """One full set of parameters, not a batch of the moved ones: another path through the run than the attack's."""
    decoder, steps = built(PALINDROME, T, construction)
    moved = {name: part + change.get(name, 0) for name, part in parameters(decoder).items()}
    return float(run(decoder, tokens(word)[None], steps, parameters=moved).prediction[0])


@pytest.mark.parametrize(("construction", "word", "T"), [(BINARY, "0", 4), (SCALAR, "0", 4), (SCALAR, "01", 4)])
def test_the_reported_perturbation_flips_the_prediction(construction: str, word: str, T: int) -> None:
    flip = attacked(construction, word, T)
    label = prediction(construction, word, T, {})
    assert label == (1.0 if word == word[::-1] else -1.0)
    assert label * prediction(construction, word, T, flip.delta) <= 0
    assert label * prediction(construction, word, T, {name: part / 50 for name, part in flip.delta.items()}) > 0
    squares = sum(float(part.square().sum()) for part in flip.delta.values())
    assert flip.distance == pytest.approx(math.sqrt(squares))


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
def test_the_attack_is_nearer_than_the_classifier_alone(construction: str) -> None:
    decoder, steps = built(PALINDROME, 4, construction)
    target = victim(decoder, tokens("0"), steps)
    assert attacked(construction, "0", 4).distance < 0.2 * target.size / float(target.last.norm())


def test_the_null_key_of_binary_positions_is_found() -> None:
    """The null key of the search is of size 2 w_pos - 1: a query changed by 1 / (2 w_pos - 1) closes a gap of 1."""
    decoder, _ = built(PALINDROME, 4, BINARY)
    largest_null = max(float(abs(part).max()) for name, part in decoder.arrays.items() if name.endswith("null_key"))
    assert attacked(BINARY, "0", 4).distance < 1 / largest_null


@pytest.mark.long
def test_binary_positions_bear_more_than_positions_of_size_one_over_t_and_lose_less_with_t() -> None:
    short, long = ("0", 4), ("00", 8)
    assert attacked(BINARY, *long).distance > 50 * attacked(SCALAR, *long).distance
    assert attacked(SCALAR, *short).distance > 5 * attacked(SCALAR, *long).distance
    assert attacked(BINARY, *short).distance < 4 * attacked(BINARY, *long).distance


def test_the_same_seed_finds_the_same_flip() -> None:
    decoder, steps = built(PALINDROME, 4, SCALAR)
    again = attack_decoder(decoder, tokens("0"), steps, seed=0, budget=30)
    assert again.distance == attacked(SCALAR, "0", 4).distance
    assert again.direction == attacked(SCALAR, "0", 4).direction


def test_a_machine_that_still_runs_has_no_prediction_to_turn() -> None:
    decoder, steps = built(PALINDROME, 3, SCALAR)
    with pytest.raises(FlipError, match="Run longer"):
        attack_decoder(decoder, tokens("0110"), steps, seed=0)


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
def test_the_unrolled_run_predicts_what_the_run_predicts(construction: str) -> None:
    decoder, steps = built(PALINDROME, 8, construction)
    for word in ("", "0", "01", "00"):
        came = run(decoder, tokens(word)[None], steps).prediction[0]
        assert float(Unrolled(decoder, tokens(word), steps).prediction.detach()) == pytest.approx(
            float(came), abs=1e-12
        )


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
def test_gradients_of_gaps_and_bits_against_differences(construction: str) -> None:
    """Along a direction that moves everything, at a point beside theta: at theta many ReLUs stand at their kink."""
    decoder, steps = built(PALINDROME, 5, construction)
    lines = random_lines(parameters(decoder), 2, seed=0)
    beside = {name: 1e-8 * part for name, part in lines["random 0"].items()}
    unrolled = Unrolled(decoder, tokens("01"), steps, beside)
    gaps = [one for one in unrolled.suspects if "gap" in one.name]
    chosen = [gaps[0], gaps[-1], unrolled.suspects[0], unrolled.suspects[-1]]
    h = 1e-10
    further = {name: beside[name] + h * part for name, part in lines["random 1"].items()}
    moved = {each.name: float(each.value.detach()) for each in Unrolled(decoder, tokens("01"), steps, further).suspects}
    for suspect, gradient in zip(chosen, unrolled.gradients(chosen), strict=True):
        expected = sum(float((part * lines["random 1"][name]).sum()) for name, part in gradient.items())
        measured = (moved[suspect.name] - float(suspect.value.detach())) / h
        assert measured == pytest.approx(expected, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("rounded", [False, True])
def test_the_unrolled_run_of_any_weights(rounded: bool) -> None:
    for seed in range(8):
        decoder, word = random_decoder(seed, rounded=rounded), torch.tensor([2, 0, 1])
        came = float(run(decoder, word[None], 5).prediction[0])
        assert float(Unrolled(decoder, word, 5).prediction.detach()) == pytest.approx(came, rel=1e-9)


def test_inputs_that_use_about_t_steps() -> None:
    words = inputs_by_steps(PALINDROME, (4, 8, 16), ("0" * length for length in range(8)))
    assert {T: len(word) for T, word in words.items()} == {4: 1, 8: 2, 16: 4}
    with pytest.raises(MarginError, match="give shorter ones"):
        inputs_by_steps(PALINDROME, (4,), ["0110110"])
    with pytest.raises(MarginError, match="choose one of"):
        built(PALINDROME, 4, "unary")


@pytest.mark.long
def test_margins_by_t_and_their_slopes() -> None:
    words = inputs_by_steps(PALINDROME, (3, 6, 10), ("0" * length for length in range(1, 6)))
    reported: list[MeasuredMargin] = []
    measured = measured_margins(PALINDROME, words, seed=0, budget=8, constructions=[SCALAR], report=reported.append)
    assert [(one.construction, one.T, one.halted_at) for one in measured] == [(SCALAR, T, T) for T in (3, 6, 10)]
    assert reported == measured
    assert slope(measured, SCALAR).value < -2
    with pytest.raises(SlopeError, match="three or more"):
        slope(measured, BINARY)
