"""Lemmas 16 to 18 end to end: bits, the block off and on its ramps, formats and refusals."""

from fractions import Fraction
from itertools import permutations, product
from math import log, pi

import numpy as np
import pytest
import torch

from bridge.questions.compare import compare
from bridge.questions.replaying import replay_witness
from bridge.theorems.record import Row, Verdict
from bridge.topics.icgd.softmax import ID, SOFTMAX, block, error
from bridge.topics.tools.equivariant import read_equivariant
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
    assert (found["block"].attacked is None) is (at == (2, 4, 8))  # too many ids: bits alone


@pytest.mark.parametrize(
    ("n", "D", "d"),
    [(2, 8, 1), (2, 16, 1), pytest.param(2, 64, 1, marks=pytest.mark.long), (3, 8, 1), (2, 4, 2), (3, 2, 2)],
)
def test_the_block_off_its_ramps_attains_the_derived_bound(n: int, D: int, d: int) -> None:
    row = rows(n=n, D=D, d=d)["block"]
    assert row.attacked == pytest.approx(row.derived, rel=1e-12)
    assert row.derived == pytest.approx((d * n) ** 0.5 / (2 * D))
    assert row.printed == pytest.approx((8 + d**-0.5) * row.derived)
    assert set(row.verdict.values()) == {Verdict.KEPT}


# Polynomials, with their Lipschitz constants by hand; all cells and tokens are covered, and equal tokens.
@pytest.mark.parametrize(
    ("at", "map", "constant"),
    [
        ({"n": 2}, "Z1_1^2*Z1_2; Z1_2^2*Z1_1", 3),
        ({"n": 3}, "Z1_1 - Z1_2*Z1_3; Z1_2 - Z1_1*Z1_3; Z1_3 - Z1_1*Z1_2", 3),
        ({"n": 2, "d": 2, "B_x": 2.0}, "Z1_1*Z1_2, Z2_2^2/2; Z1_1*Z1_2, Z2_1^2/2", 4),
        ({"n": 2, "d": 2}, "Z2_2, Z1_1; Z2_1, Z1_2", 1),
    ],
)
def test_a_map_that_is_not_linear_stays_below_the_derived_bound(at: dict, map: str, constant: float) -> None:
    found, side = rows(D=4, map=map, **at), at.get("B_x", 1.0)
    derived = constant * (at["n"] * at.get("d", 1)) ** 0.5 * side / 8
    assert found["block"].derived == pytest.approx(derived)
    assert 0.6 * derived < found["block"].attacked <= derived * (1 + 1e-12)
    assert found["F.4"].attacked > found["block"].attacked
    assert {*found["block"].verdict.values(), *found["F.4"].verdict.values()} == {Verdict.KEPT}


@pytest.mark.parametrize(("at", "side"), [({"n": 2}, 2.0), ({"n": 3, "d": 2, "D": 2}, 1.0)])
def test_the_first_layer_of_the_proof(at: dict, side: float) -> None:
    found, others, d = rows(**{"D": 4, "B_x": side, **at}), at["n"] - 1, at.get("d", 1)
    assert found["F.10"].attacked == found["F.10"].derived == abs(side - 1)
    assert found["F.10"].verdict["printed"] is (Verdict.KEPT if side == 1 else Verdict.VIOLATED)
    assert found["F.11"].attacked == 0
    assert found["F.12"].attacked == pytest.approx(others * d * side / 2, rel=1e-12)
    assert found["F.12"].verdict == {"printed": Verdict.VIOLATED, "derived": Verdict.PROVED}
    assert found["F.13"].attacked == pytest.approx(d**1.5 * at["n"] * side)
    assert found["F.13"].printed == found["F.13"].derived == pytest.approx(found["F.13"].attacked)
    assert found["outside"].attacked == 0
    kept = {verdict for name in ("F.11", "F.13", "outside") for verdict in found[name].verdict.values()}
    assert kept == {Verdict.KEPT}


# The largest token beside 1/4 or 1/2 of the cube has the nearest ids: exp(-scale/2)/16 apart or so.
def test_the_head_of_lemma_17_tells_the_grid_apart() -> None:
    found = rows(n=2, D=4)["bits.head"]
    scale = 625 * (2 * log(2) + 3) * pi / (8 / 16)
    assert found.measured == pytest.approx((scale / 2 + log(17 * 2)) / log(2), abs=1)
    assert found.printed > found.measured
    assert "bits.head" not in rows(n=2, D=5)


def test_on_the_ramps_the_printed_bound_fails() -> None:
    found = rows(n=2, D=64)
    assert found["ramps"].attacked == pytest.approx(0.99, abs=0.005)
    assert found["ramps"].printed == pytest.approx(0.0994, abs=1e-4)
    assert found["ramps"].verdict == found["F.24"].verdict == {"printed": Verdict.VIOLATED}
    assert replay_witness(found["ramps"].witness).verdict == {"printed": Verdict.VIOLATED}
    assert Verdict.KEPT in found["F.4"].verdict.values()
    assert all(found[name].verdict["printed"] is Verdict.KEPT for name in ("F.9", "F.15", "F.22"))
    assert all(found[name].attacked == pytest.approx(found[name].printed, rel=1e-5) for name in ("F.15", "F.22"))


# The erratum is about every block of the proof, where that is proved: n = 2 and fine grids.
def test_elsewhere_the_ramps_accuse_nobody() -> None:
    assert rows(n=2, D=8)["ramps"].verdict == {"printed": Verdict.OUTSIDE}
    assert rows(n=2, D=3)["F.24"].verdict == {"printed": Verdict.OUTSIDE}
    above, below = (rows(n=2, D=4, map=map)["F.24"] for map in ("0 1; 1 0", "0 -1; -1 0"))
    assert above.verdict == below.verdict == {"printed": Verdict.VIOLATED}
    assert above.attacked == below.attacked > 1 / 4
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


# Lemma 16 for d = 1, by its text: heads at random, and f on the two curves of the proof.
def test_no_head_of_one_number_gives_four_ordered_tokens_alternating_values() -> None:
    rng = np.random.default_rng(0)
    u, w, b = rng.normal(size=(3, 100_000, 1)) * 10 ** rng.uniform(-1, 1, (3, 100_000, 1))
    v = np.sort(rng.normal(size=(100_000, 4)) * 10 ** rng.uniform(-1, 1, (100_000, 1)))
    scores = np.stack([b * u * u + 0 * v, b * u * v])
    weights = np.exp(scores - scores.max(0))
    s = u + w * (weights * [u + 0 * v, v]).sum(0) / weights.sum(0)
    margin = 1e-9 * abs(s).max(1)
    up, down = ((sign * np.diff(s) > margin[:, None]) for sign in (1, -1))
    assert (up[:, 0] & down[:, 2]).sum() > 1000  # one turning point
    assert not (up[:, 0] & down[:, 1] & up[:, 2] | down[:, 0] & up[:, 1] & down[:, 2]).any()


def test_no_block_of_one_number_comes_near_every_map() -> None:
    def first(z_1, z_2):
        return z_1 + abs(z_2 - 0.5 - np.round(3 * (z_2 - 0.5)) / 3)

    for value, y in ((1 / 6, np.linspace(1 / 2, 5 / 6, 99)), (1 / 3, np.linspace(2 / 3, 1, 99))):
        z = value - first(0, y)
        assert first(z, y) == pytest.approx(value)
        assert {min(y - z) >= 1 / 6 - 1e-12, min(z) >= -1e-12} == {True}
        assert z[[0, -1]] == pytest.approx(1 / 6)
    row = rows(D=8)["block.least"]
    assert (row.measured, row.printed) == (pytest.approx(1 / 12, rel=1e-12), 0)
    assert row.verdict == {"printed": Verdict.VIOLATED}


def test_float32_where_it_holds() -> None:
    row = rows(n=2, D=8, dtype="float32")["block"]
    assert row.attacked == pytest.approx(row.derived, rel=1e-5)
    assert set(row.verdict.values()) == {Verdict.KEPT}


def test_a_map_is_read_with_its_lipschitz_constant() -> None:
    texts = ("0 1; 1 0", "others", "Z1_2; Z1_1")
    assert len({read_equivariant(text, 2, 1, ID) for text in texts}) == 1
    A = [[1 / 2 if i == j else -1 / 3 for j in range(3)] for i in range(3)]
    found = read_equivariant("1/2 -1/3 -1/3; -1/3 1/2 -1/3; -1/3 -1/3 1/2", 3, 1, ID)
    norm = torch.linalg.matrix_norm(torch.tensor(A, dtype=torch.float64), 2)
    assert float(found.lipschitz(Fraction(1))) == pytest.approx(float(norm))
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
        *(
            (
                {"map": map},
                r"is not 'others', nor 2 rows of 2 numbers such as '0 1; 1 0', nor 2 rows of 1 polynomials in "
                r"Z1_1 to Z1_2 \(coordinate, token\); rows end with ';', polynomials with ','",
            )
            for map in ("0 1; 1", "exp(Z1_2); exp(Z1_1)", "Z1_2; Z1_3", "Z1_2")
        ),
        (
            {"map": "Z1_2^2; Z1_1"},
            r"map = 'Z1_2\^2; Z1_1' is not permutation equivariant: f\(2, 0\) = \(0, 2\), so that f\(0, 2\) has to be "
            r"\(2, 0\), and it is \(4, 0\). Give row 2 as row 1 with these tokens exchanged",
        ),
        (
            {"d": 2, "map": "Z1_2, Z2_2; Z1_2, Z2_1"},
            r"f\(\(1, 0\), \(0, 0\)\) = \(\(0, 0\), \(0, 0\)\), so that f\(\(0, 0\), \(1, 0\)\) has to be \(\(0, 0\), "
            r"\(0, 0\)\), and it is \(\(1, 0\), \(1, 0\)\)",
        ),
        ({"D": 2, "n": 30}, "sum_set.2, 29.: a field of 536870912 elements.*give a smaller D or n, or d = 2 for bits"),
        (
            {"map": "0 1; 0 0"},
            r"map = '0 1; 0 0' is not permutation equivariant: f\(1, 0\) = \(0, 0\), so that f\(0, 1\) has to be "
            r"\(0, 0\), and it is \(1, 0\).* of matrices, A = a I \+ b J",
        ),
    ],
)
def test_refusals(params: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        compare("icgd.softmax", **{"D": 8, **params})


def test_inputs_outside_the_cube_are_refused() -> None:
    map = read_equivariant("others", 2, 1, ID)
    message = r"icgd.softmax: Z = \[\[0.5\], \[1.25\]\] leaves the cube; give numbers in \[0, 1\]"
    with pytest.raises(UsageError, match=message):
        error(torch.tensor([[0.5], [1.25]]).double(), block(map, 1, 2, 8, 1.0, 2.0**-10), map, "float64")
    assert SOFTMAX.main == "block"


def test_numbers_of_the_statement_by_hand() -> None:
    at = {theory.d: 1, theory.n: 3, theory.D: 4, theory.B_x: 1, theory.ramp: 0.1, theory.L: 1}
    prompts = {(z[0], tuple(sorted(z[1:]))) for z in product(range(4), repeat=3)}
    assert theory.CONTEXTS.subs(at) == len(prompts)
    assert theory.SHARE.subs(at) == pytest.approx(1 - 0.7**3)
    assert theory.SHARE.subs({**at, theory.d: 2}) == pytest.approx(1 - 0.7**6)
    assert theory.RADIUS.subs(at) == 1 + Fraction(1, 16)  # r_max + eps/4 of Lemma 17
    assert float(theory.FRONT.subs(at)) == pytest.approx(2 * log(3) ** 2 / (4**3 * 5**4 * (2 * log(3) + 3) * pi))
    assert theory.RANGE.subs({**at, theory.D: 8, theory.q: 8}) == 8 * (2 * 62 + 1)  # marks are at most 62
    kappa = [theory.KAPPA.subs({**at, theory.n: 2, theory.D: D}) for D in (13, 14)]
    assert [bool(bound < (D - 1) / (2 * D)) for D, bound in zip((13, 14), kappa, strict=True)] == [False, True]
    assert theory.ABOVE_KAPPA == 14
