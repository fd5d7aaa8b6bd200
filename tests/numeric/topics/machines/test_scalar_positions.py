"""The decoder with positions of size 1/T against the simulator, at every step."""

import itertools
from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch

from bridge.topics.machines.machine_files import read_machine
from numeric.topics.machines.decoder import DecoderRun, run
from numeric.topics.machines.machine import laid_out, simulate
from numeric.topics.machines.scalar_positions import ScalarDecoder, scalar_decoder
from tests.numeric.topics.machines.random_machines import random_machine


def ran(built: ScalarDecoder, tokens: Sequence[str]) -> DecoderRun:
    tape, _ = laid_out(built.machine, tokens, built.T)
    indices = torch.tensor([built.machine.indices(tape)], dtype=torch.int64)
    return run(built.decoder, indices, built.T + built.steps_before)


def differences(built: ScalarDecoder, tokens: Sequence[str]) -> dict[str, int]:
    return built.differences(ran(built, tokens), [simulate(built.machine, tokens, built.T)])


NONE = {"state": 0, "symbol": 0, "location": 0}


@pytest.mark.parametrize("T", [1, 7, 33])
@pytest.mark.parametrize("name", ["increment", "palindrome"])
def test_every_step_of_short_words_equals_the_simulator(name: str, T: int) -> None:
    built = scalar_decoder(read_machine(name), T)
    for length in range(4):
        for word in itertools.product("01", repeat=length):
            assert differences(built, word) == NONE, word


@pytest.mark.parametrize(("name", "word"), [("increment", "1" * 20), ("palindrome", "0110110"), ("palindrome", "010")])
def test_every_step_of_64_equals_the_simulator(name: str, word: str) -> None:
    built = scalar_decoder(read_machine(name), 64)
    came, trace = ran(built, word), simulate(built.machine, word, 64)
    assert built.differences(came, [trace]) == NONE
    assert float(came.prediction[0]) == {True: 1.0, False: -1.0, None: 0.0}[trace.accepted]


def test_two_way_and_random_tables() -> None:
    assert differences(scalar_decoder(read_machine("busy_beaver_3"), 24), "") == NONE
    for seed in range(12):  # with an odd one two-way
        machine, words = random_machine(seed)
        assert differences(scalar_decoder(machine, 20), max(words, key=len) + "0110") == NONE


def test_scaled_scores_change_nothing_but_the_weights() -> None:
    built = scalar_decoder(read_machine("palindrome"), 16, score_scale=17.0)
    assert differences(built, "0110") == NONE


def test_the_comparison_notices_another_machine() -> None:
    built = scalar_decoder(read_machine("palindrome"), 16)
    came = ran(built, "010")
    other = simulate(built.machine, "011", 16)
    assert all(count > 0 for count in built.differences(came, [other]).values())
    smeared = replace(came, outputs=came.outputs * 0.9)
    assert built.differences(smeared, [simulate(built.machine, "010", 16)])["state"] == 17
