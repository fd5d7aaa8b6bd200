"""Lemmas 16 to 18 end to end: bits, the block off and on its ramps, formats and refusals."""

from fractions import Fraction
from itertools import permutations, product

import pytest
import torch

from bridge.questions.compare import compare
from bridge.questions.replaying import replay_witness
from bridge.theorems.record import Row, Verdict
from bridge.topics.icgd.softmax import SOFTMAX, error, lipschitz, read_map
from numeric.topics.icgd.softmax_block import SoftmaxBlock
from symbolic import UsageError
from symbolic.topics.icgd import softmax as theory


def rows(**params: object) -> dict[str, Row]:
    return {row.quantity: row for row in compare("icgd.softmax", **params)}


@pytest.mark.parametrize(
    ("at", "printed", "bits", "counting"),
    [
        ((1, 2, 2), 1623, 2, 2),
        ((1, 2, 4), 49720, 4, 4),
        ((1, 2, 8), 2.1e6, 6, 6),
        ((1, 3, 8), 2.5e6, 10, 9),
        ((2, 4, 8), 2.1e10, 26, 22),
    ],
)
def test_bits_of_ids(at: tuple[int, int, int], printed: float, bits: int, counting: int) -> None:
    found = rows(**dict(zip(("d", "n", "D"), at, strict=True)))
    assert found["bits"].printed == pytest.approx(printed, rel=0.02 if printed > 1e5 else 1e-3)
    assert found["bits"].measured == bits <= found["bits"].derived
    assert found["bits.counting"].derived == counting <= found["bits.counting"].measured
    assert set(found["bits"].verdict.values()) == {Verdict.KEPT}
    assert ("block" in found) is (at[0] == 1)


@pytest.mark.parametrize(("n", "D"), [(2, 8), (2, 16), (2, 64), (3, 8)])
def test_the_block_off_its_ramps_attains_the_derived_bound(n: int, D: int) -> None:
    row = rows(n=n, D=D)["block"]
    assert row.attacked == pytest.approx(row.derived, rel=1e-12)
    assert row.derived == pytest.approx(n**0.5 / (2 * D))
    assert row.printed == pytest.approx(9 * row.derived)
    assert set(row.verdict.values()) == {Verdict.KEPT}


def test_on_the_ramps_the_printed_bound_fails() -> None:
    found = rows(n=2, D=64)
    assert found["ramps"].attacked == pytest.approx(0.99, abs=0.005)
    assert found["ramps"].printed == pytest.approx(0.0994, abs=1e-4)
    assert found["ramps"].verdict == found["F.24"].verdict == {"printed": Verdict.VIOLATED}
    assert replay_witness(found["ramps"].witness).verdict == {"printed": Verdict.VIOLATED}
    assert Verdict.KEPT in found["F.4"].verdict.values()
    assert all(found[name].verdict["printed"] is Verdict.KEPT for name in ("F.9", "F.15", "F.22"))


# The erratum is about every block of the proof, where that is proved: n = 2 and fine grids.
def test_elsewhere_the_ramps_accuse_nobody() -> None:
    assert rows(n=2, D=8)["ramps"].verdict == {"printed": Verdict.OUTSIDE}
    assert rows(n=2, D=3)["F.24"].verdict == {"printed": Verdict.OUTSIDE}
    assert rows(n=2, D=4)["F.24"].verdict == {"printed": Verdict.VIOLATED}
    assert theory.KAPPA.subs({theory.L: 1, theory.B_x: 1, theory.d: 1, theory.n: 2, theory.D: 14}) < Fraction(13, 28)
    assert theory.KAPPA.subs({theory.L: 1, theory.B_x: 1, theory.d: 1, theory.n: 2, theory.D: 13}) > Fraction(12, 26)


# By brute force, for any order of the ids of a cell and of the next one: some path over the ramp meets a far value.
def test_every_order_of_ids_meets_a_far_value() -> None:
    D, order = 14, torch.randperm
    generator = torch.Generator().manual_seed(0)
    for _, c in product(range(20), (6, 7)):
        beside = [y for y in range(D) if y not in (c, c + 1)]
        ids = [beside[place] for place in order(len(beside), generator=generator).tolist()]
        farthest = max(max(abs(y - x) for y in ids[place:]) for place, x in enumerate(ids))
        assert farthest / D >= (D - 1) / (2 * D) > 9 * 2**0.5 / (2 * D)


def test_four_cells_are_the_least_of_which_every_order_meets_a_far_value() -> None:
    def surely(D: int, c: int) -> int:
        """How many cells away, whatever the order of the ids beside c and c + 1."""
        beside = [y for y in range(D) if y not in (c, c + 1)]
        return min(max((abs(y - order[0]) for y in order), default=0) for order in permutations(beside))

    far = {D: max(surely(D, c) for c in range(D - 1)) for D in range(2, 8)}
    assert [D for D in far if far[D] > 0] == list(range(theory.ABOVE_INTERVAL, 8))
    assert all(2 * far[D] >= D - 1 for D in range(theory.ABOVE_INTERVAL, 8))


def test_float32_where_it_holds() -> None:
    row = rows(n=2, D=8, dtype="float32")["block"]
    assert row.attacked == pytest.approx(row.derived, rel=1e-5)
    assert set(row.verdict.values()) == {Verdict.KEPT}


def test_a_map_is_read_with_its_lipschitz_constant() -> None:
    assert read_map("0 1; 1 0", 2) == read_map("others", 2)
    a, b = Fraction(1, 2), Fraction(-1, 3)
    A = read_map("1/6 -1/3 -1/3; -1/3 1/6 -1/3; -1/3 -1/3 1/6", 3)
    assert A[0] == (a + b, b, b)
    norm = torch.linalg.matrix_norm(torch.tensor([[float(x) for x in row] for row in A]).double(), 2)
    assert float(lipschitz(A)) == pytest.approx(float(norm))
    assert rows(n=3, D=4, map="1 0 0; 0 1 0; 0 0 1")["block"].attacked == pytest.approx(3**0.5 / 8)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"D": 1}, r"D = 1 does not meet D >= 2 .*a grid of one point tells no inputs apart"),
        ({"n": 1}, r"n = 1 does not meet n >= 2 .*of Lemma 17 is 0 for one token"),
        ({"ramp": 0.5}, r"ramp = 0.5 does not meet ramp < 1/D at D = 8 .a ramp is shorter than a cell"),
        (
            {"D": 2048, "ramp": 1e-4},
            r"D = 2048 takes 4194304 ids below 4194304; the block holds 1048576, below 2\^53: give a smaller D",
        ),
        (
            {"ramp": 1e-6, "dtype": "float32"},
            r"ramp = 1e-06 is less than 64 steps of float32; give 7.\d+e-06 or more",
        ),
        ({"map": "0 1; 1"}, "map = '0 1; 1' is not 'others', nor 2 rows of 2 numbers such as '0 1; 1 0'"),
        (
            {"map": "0 1; 0 0"},
            r"map = '0 1; 0 0' is not permutation equivariant: f\(1, 0\) = \(0, 0\), so that f\(0, 1\) has to be "
            r"\(0, 0\), and it is \(1, 0\). Give A = a I \+ b J",
        ),
    ],
)
def test_refusals(params: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        compare("icgd.softmax", **{"D": 8, **params})


def test_inputs_outside_the_cube_are_refused() -> None:
    A = read_map("others", 2)
    block = SoftmaxBlock(A, 8, Fraction(1), Fraction(1, 1024))
    message = r"icgd.softmax: Z = \[0.5, 1.25\] leaves the cube; give numbers in \[0, 1\]"
    with pytest.raises(UsageError, match=message):
        error(torch.tensor([0.5, 1.25]).double(), block, A, "float64")
    assert SOFTMAX.main == "block"


def test_numbers_of_the_statement_by_hand() -> None:
    at = {theory.d: 1, theory.n: 3, theory.D: 4, theory.B_x: 1, theory.ramp: 0.1, theory.L: 1}
    prompts = {(z[0], tuple(sorted(z[1:]))) for z in product(range(4), repeat=3)}
    assert theory.CONTEXTS.subs(at) == len(prompts)
    assert theory.SHARE.subs(at) == pytest.approx(1 - 0.7**3)
    assert theory.RADIUS.subs(at) == 1 + Fraction(1, 16)  # r_max + eps/4 of Lemma 17
    kappa = [theory.KAPPA.subs({**at, theory.n: 2, theory.D: D}) for D in (13, 14)]
    assert [bool(bound < (D - 1) / (2 * D)) for D, bound in zip((13, 14), kappa, strict=True)] == [False, True]
    assert theory.ABOVE_KAPPA == 14
