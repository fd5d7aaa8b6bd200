"""Appendix C: the encoder-decoder transformer that simulates a Turing machine, one decoder step for each of its steps.

What is built where the paper leaves something open, or where a definition is too small:
- h_0^(0) is trained and o_0 = h_0^(d) (Section 4.1): step 0 runs it through all layers, so that o_0 may hold the first
  symbol x_1 of the input, as (C.2) wants. How step 0 does that is left open. Here the machine gets one more state, the
  sentinel, and h_0^(0) holds it: it stands before the first cell of the input, keeps what it reads, moves right and
  becomes z_init, so that x_1 is read from the encoder as in any other step. The decoder here counts from 1: its step 1
  is the paper's step 0, and step i of the machine is its step i + 1.
- ceil(log2 T) bits do not encode T where T is a power of two: there are bits for the largest position that occurs.
- (C.3) is read with Bin(i + 1) for beta(i + 1).
- w_TM does not count the |Z||A| coordinates that Lemma C.1 needs between its two layers.
- The machine may stay where it is (a terminal state does): `left` and `right` are then both 0.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float64, Int64

from numeric.networks.maps import Action, BlockPair
from numeric.networks.stream import Block, Stream
from numeric.topics.machines.adder import head_move
from numeric.topics.machines.blocks import binary, machine_stream, matching, one_hot, vector, with_rounding
from numeric.topics.machines.decoder import Decoder, DecoderError, Tap
from numeric.topics.machines.machine import TuringMachine
from numeric.topics.machines.modules import DecoderLayer, affine, passing
from numeric.topics.machines.search import KNOWN, last_visit
from numeric.topics.machines.simulation import SimulatingDecoder

__all__ = ["SimulatingDecoder", "machine_table", "simulating_decoder"]

STARTS = ("sentinel", "given")


def simulating_decoder(machine: TuringMachine, T: int, *, start: str = "sentinel") -> SimulatingDecoder:
    """The transformer of Appendix C for T >= 1 steps of this machine.

    `start`: "sentinel" (above), or "given": o_0 itself is the trained vector, of z_init, the blank and l = 1, without a
    step 0; that is right only on inputs that begin with a blank. The prediction is 1 for accept, -1 for reject, 0 where
    the machine still runs.
    """
    if start not in STARTS:
        raise DecoderError(f"start {start!r}. Choose one of {', '.join(STARTS)}.")
    if T < 1:
        raise DecoderError(f"T = {T} steps. Simulate at least one step.")
    sentinel = start == "sentinel"
    offset = T if machine.two_way else 0
    w_pos = (offset + T + 1).bit_length()  # the head comes to offset + T + 1 at most, the clock to T + 1
    table = machine_table(machine, sentinel=sentinel)
    stream = machine_stream(len(table), len(machine.alphabet), w_pos)
    blank = machine.symbol_index[machine.blank]
    layers = (
        *transition(stream, table),
        *head_move(stream),
        *last_visit(stream),
        from_input(stream),
        *symbol_under_head(stream, blank),
    )
    positions = np.stack([vector(stream, {"pos1": bits}) for bits in binary(np.arange(2**w_pos), w_pos)])
    decoder = Decoder(
        stream=stream,
        embedding=np.eye(stream.width)[:, stream.slice("sym1")],
        positions=positions,
        initial=_initial(stream, machine, sentinel, offset if sentinel else offset + 1),
        layers=layers,
        classifier=_classifier(stream, machine),
        taps=taps_of(layers),
    )
    return SimulatingDecoder(decoder, machine, T, w_pos, offset, int(sentinel))


def machine_table(machine: TuringMachine, *, sentinel: bool) -> Int64[np.ndarray, "Z A 3"]:
    """S(z, a) as (next state, symbol to write, move); the sentinel, last, keeps the symbol, moves right, starts."""
    if not sentinel:
        return machine.table
    z_init, symbols = machine.state_index[machine.start], np.arange(len(machine.alphabet))
    added = np.stack([np.full_like(symbols, z_init), symbols, np.ones_like(symbols)], axis=-1)  # (A, 3)
    return np.concatenate([machine.table, added[None]])


def _initial(stream: Stream, machine: TuringMachine, sentinel: bool, place: int) -> Float64[np.ndarray, " w"]:
    """h_0^(0) without its position, or o_0 where that is given: in the form (C.2)."""
    z = stream.size("st") - 1 if sentinel else machine.state_index[machine.start]
    return vector(stream, {
        "st": one_hot(np.array(z), stream.size("st")),
        "sym1": one_hot(np.array(machine.symbol_index[machine.blank]), stream.size("sym1")),
        "pos2": binary(np.array(place), stream.size("pos2")),
    })  # fmt: skip


def _classifier(stream: Stream, machine: TuringMachine) -> Float64[np.ndarray, " w"]:
    """theta_cls: 1 at the accepting states, -1 at the rejecting ones."""
    signs = np.zeros(stream.size("st"))
    for state, z in machine.state_index.items():
        signs[z] = float(state in machine.accept) - float(state in machine.reject)
    return vector(stream, {"st": signs})


def transition(stream: Stream, table: Int64[np.ndarray, "Z A 3"]) -> list[DecoderLayer]:
    """Lemma C.1, two layers: st := z_i, sym2 := u_i, (left, right) := q_i, sym1 := 0: (C.4)."""
    states, symbols = table.shape[:2]
    z, a = (index.reshape(-1) for index in np.indices((states, symbols)))  # (|Z||A|,) each
    # pair_(z, a) = phi(st_z + sym1_a - 1): two ones give 1, anything else 0.
    pairs = {("pair", "st"): one_hot(z, states) * 1.0, ("pair", "sym1"): one_hot(a, symbols) * 1.0}
    first = with_rounding(stream, "pair", "Lemma C.1", {**passing(("pos1", "pos2")), **pairs}, {"pair": -1.0})
    # Each column (z, a) of the second layer is S(z, a).
    to, u, q = table.reshape(-1, 3).T  # (|Z||A|,) each
    outcome: dict[BlockPair, Action] = {
        ("st", "pair"): one_hot(to, states).T * 1.0,
        ("sym2", "pair"): one_hot(u, symbols).T * 1.0,
        ("left", "pair"): (q == -1)[None] * 1.0,
        ("right", "pair"): (q == 1)[None] * 1.0,
    }
    return [first, with_rounding(stream, "transition", "Lemma C.1", {**passing(("pos1", "pos2")), **outcome})]


def from_input(stream: Stream) -> DecoderLayer:
    """Lemma C.7: input := (l_i <= m), scr2 := 1(x_(l_i)) or 0, by attention to the encoder: (C.15)."""
    value = affine(stream, stream, {("scr2", "sym1"): 1.0}, {"input": 1.0})
    attention = matching(
        stream,
        query={"place": ("pos3", 1.0)},
        key={"place": ("pos1", 1.0)},
        parts=[Block("place", stream.size("pos1"))],
        value=value,
    )
    kept = passing((*KNOWN, "found", "scr1", "scr2", "input"))
    return with_rounding(stream, "from_input", "Lemma C.7", kept, encoder_attention=attention)


def symbol_under_head(stream: Stream, blank: int) -> list[DecoderLayer]:
    """Lemma C.8, three layers: sym1 := a_i, pos2 := Bin(l_i), st kept, all else 0: (C.16)."""
    kept = passing(("st", "pos3"))
    # Step 1. v: the symbol was written in the past; else it is in the input; else the cell is blank.
    v: dict[BlockPair, Action] = {
        ("past", "found"): 1.0,
        ("fresh", "input"): 1.0,
        ("fresh", "found"): -1.0,
        ("empty", "found"): -1.0,
        ("empty", "input"): -1.0,
    }
    first = {**kept, **passing(("scr1", "scr2")), **v}
    # Steps 2 and 3. phi(bit + v - 1) is their AND. Step 4, v_3 AND the one-hot blank, is v_3 itself at the blank.
    everywhere = np.ones((stream.size("scr1"), 1))
    ands: dict[BlockPair, Action] = {("scr1", "past"): everywhere, ("scr2", "fresh"): everywhere}
    second = {**kept, **passing(("scr1", "scr2", "empty")), **ands}
    # Step 5. The sum.
    symbol = one_hot(np.array([blank]), stream.size("sym1")).T * 1.0  # (|A|, 1)
    total: dict[BlockPair, Action] = {("sym1", "scr1"): 1.0, ("sym1", "scr2"): 1.0, ("sym1", "empty"): symbol}
    third = {**passing(("st",)), ("pos2", "pos3"): 1.0, **total}
    return [
        with_rounding(stream, "which", "Lemma C.8", first, {"empty": 1.0}),
        with_rounding(stream, "masked", "Lemma C.8", second, {"scr1": -1.0, "scr2": -1.0}),
        with_rounding(stream, "symbol", "Lemma C.8", third),
    ]


def taps_of(layers: Sequence[DecoderLayer]) -> dict[str, Tap]:
    """The quantities of the proof, each behind the layer that computes it."""
    at = {layer.name: index for index, layer in enumerate(layers, start=1)}
    search = [name for name in at if name.startswith("search[")]
    return {
        "state": Tap(at["symbol"], ("st",)),
        "location": Tap(at["symbol"], ("pos2",)),
        "written": Tap(at["transition"], ("sym2",)),
        "move": Tap(at["transition"], ("left", "right")),
        "next_location": Tap(at["place"], ("pos3",)),
        "found": Tap(at["found"], ("found",)),
        **{name: Tap(at[name], ("scr3",)) for name in search},
        "last_visit": Tap(at[search[-1]], ("scr3",)),
        "from_input": Tap(at["from_input"], ("input",)),
        "symbol": Tap(at["symbol"], ("sym1",)),
    }
