"""The margin of Appendix C's transformer: the closed forms cover the network, the bounds lie below the attack."""

import pytest
import sympy as sp
import torch

from bridge.budget import Budget
from bridge.machines.decoder_margin import derived_margin, exact_streams, w_pos_for
from bridge.machines.machine_files import read_machine
from bridge.machines.turing_margin import TuringMarginCase, TuringMarginStudy
from bridge.record import Verdict
from numeric.machines.tie_jump import tie_jump
from numeric.machines.transformer import simulating_decoder
from numeric.norms import spectral_norm_upper
from symbolic import UsageError
from symbolic.machines import turing_margin as theory

BUDGET = Budget(samples=1, attack=30, restarts=1, seed=0)


def case(**params: object) -> TuringMarginCase:
    return TuringMarginStudy().case(params, seed=0, dtype="float64", device="cpu")


@pytest.fixture(scope="module")
def short() -> TuringMarginCase:
    return case(machine="palindrome", input="1")


@pytest.mark.parametrize(
    ("name", "word", "T"), [("increment", "1011", 12), ("busy_beaver_3", "", 21), ("addition", "1+1", 30)]
)
def test_the_closed_forms_cover_every_layer(name: str, word: str, T: int) -> None:
    simulating = simulating_decoder(read_machine(name), T)
    streams = exact_streams(simulating, list(word))
    stream = simulating.decoder.stream
    known = {theory.Z: stream.size("st"), theory.A: stream.size("sym1"), theory.w: simulating.w_pos}
    for index, layer in enumerate(simulating.decoder.layers, start=1):
        kind = theory.kind_of(layer.name)
        assert int(streams[f"layer[{index - 1}]"].sum(-1).max()) <= kind.ones.subs(known), layer.name
        squared = float(sp.sympify(kind.norm).subs(known))
        assert spectral_norm_upper(layer.feedforward[0].dense()[0]) ** 2 <= squared * (1 + 1e-9), layer.name
        for side, used in ((layer.decoder_attention, theory.SELF), (layer.encoder_attention, theory.ENCODER)):
            assert (side is not None) == (kind.works == used)
            if side is None:
                continue
            signs = len(side.null_key) - 1
            assert signs <= kind.signs.subs(known)
            assert abs(side.null_key).sum() == signs - 1
            (W_Q, b_Q), (W_K, b_K), (W_V, _) = (each.dense() for each in (side.query, side.key, side.value))
            null = side.null_key != 0
            assert not W_Q[null].any()
            assert not W_K[null].any()
            assert not b_K[null].any()
            assert (b_Q[null] == 1).all()
            assert max(spectral_norm_upper(W_Q), spectral_norm_upper(W_K)) <= 2 * (1 + 1e-9)
            assert spectral_norm_upper(W_V) <= float(kind.value) * (1 + 1e-9)


def test_the_bounds_lie_below_the_attack(short: TuringMarginCase) -> None:
    row = short._margin(BUDGET)
    assert 0 < row.derived < row.instance < row.measured
    assert row.instance > row.measured / 10
    assert set(row.verdict.values()) == {Verdict.KEPT}
    assert short._exponent().derived == -1.5
    assert 0.4 < short._decay().derived < 0.7


def test_the_bound_depends_on_T_by_its_bits_alone() -> None:
    assert [w_pos_for(T, two_way=False) for T in (6, 7, 14, 15)] == [3, 4, 4, 5]
    assert w_pos_for(7, two_way=True) == 4
    assert simulating_decoder(read_machine("increment"), 7).w_pos == 4
    moves = [derived_margin(10, 4, w, 2).move for w in (4, 8, 16, 32)]
    assert moves == sorted(moves, reverse=True)
    assert moves[-1] > moves[0] / 8**1.5


def test_a_layer_at_a_tie_is_not_lipschitz_and_the_witness_replays(short: TuringMarginCase) -> None:
    row = short._lipschitz(1e-6)
    assert row.verdict == {"printed": Verdict.VIOLATED}
    again = short.replay_finding("lipschitz", {"distance": torch.tensor([1e-6])})
    assert again.measured == row.measured
    with pytest.raises(UsageError, match="takes one distance"):
        short.replay_finding("lipschitz", {"distance": torch.tensor([0.5, 0.1])})
    used = next(layer for layer in short.network.decoder.layers if layer.decoder_attention is not None)
    with pytest.raises(ValueError, match="its scores do not tie"):
        tie_jump(used, short.streams["layer[0]"], target=0, radius=0.1, distance=0.1)


def test_what_has_no_prediction_has_no_margin() -> None:
    with pytest.raises(UsageError, match="has not halted after T = 2 steps"):
        case(machine="palindrome", input="1001", T=2)
