"""universal.transformer: verdicts, formats, balls, recommended temperatures beside a scan, refusals."""

import pytest
import torch
from mpmath import mp

from bridge.instances.instance import Instance
from bridge.limits.run import FORMATS
from bridge.questions.compare import compare
from bridge.theorems.registry import registered_theorem
from bridge.topics.universal.logistic import functions_of, gap
from bridge.topics.universal.transformer import formats, logistic, resolve
from numeric.networks.shared_blocks import SharedNetwork
from numeric.topics.universal import transformer as numeric
from symbolic.words.errors import UsageError
from tests.numeric.topics.universal.test_transformer import LAM, TAU_FF, data

ID = "universal.transformer"


def rows_of(**options):
    return {(row.quantity, row.scope): row for row in compare(ID, **options).rows}


@pytest.fixture(scope="module")
def rows():
    return rows_of(attack=10, samples=16, restarts=4)


@pytest.mark.long
def test_every_row_is_kept_but_that_of_the_printed_v(rows):
    verdicts = {key: {tier: str(verdict) for tier, verdict in row.verdict.items()} for key, row in rows.items()}
    of_printed = {"printed": "violated", "derived": "kept", "instance": "kept"}
    assert verdicts.pop(("y_residual.printed", "network")) == of_printed
    assert verdicts.pop(("heads", None)) == {"printed": "consistent", "derived": "kept"}
    assert {verdict for each in verdicts.values() for verdict in each.values()} <= {"kept", "proved"}
    assert {"residual", "step", "y_residual", "rho", "y_hat", "logistic", "faithful"} <= {name for name, _ in rows}


@pytest.mark.parametrize("params", [{"n": 1, "d": 1, "L": 3}, {"n": 6, "d": 3, "L": 9, "N": 3}], ids=str)
def test_width_layers_and_heads_are_counted_and_the_norm_is_that_of_the_blocks(params):
    found = rows_of(attack=0, samples=8, **params)
    at = {"n": 4, "d": 2, "L": 5, "N": 8, **params}
    for name, number in {"width": at["d"] + 2 * at["n"] + 7, "layers": at["L"], "heads": 4}.items():
        assert (found[name, None].exact, found[name, None].derived) == (number, number)
    assert found["heads", None].verdict["printed"] == "consistent"
    assert "the least constant is 4" in found["heads", None].remark
    norm = found["norm", None]
    eta = 1 / (2 * at["n"])
    largest = min(5, (at["L"] - 1) / 2 * (at["n"] + 1) * 2 * eta)  # B^2/lam = 5, and what the steps reach
    assert norm.derived == pytest.approx(largest, rel=1e-6)
    assert norm.derived / 20 < norm.measured <= norm.derived


@pytest.mark.parametrize("tau", [1.0, 1e3, 1e10, 1e40])
def test_the_logistic_error_is_enclosed_narrowly(tau):
    found = logistic(2.0, tau).found
    assert found.rel_accuracy_bits() > 64
    assert tau == 1.0 or float(found) == pytest.approx(8 / (12 * tau**2), rel=1e-5)


@pytest.mark.long
@pytest.mark.parametrize("name", ["residual", "step", "y_residual", "rho", "y_hat"])
def test_the_bound_at_a_prompt_is_that_of_its_own_scores(rows, name):
    assert 1 - 1e-9 <= rows[name, "prompt, local"].ratio < 1 + 1e-3


def test_all_blocks_are_bounded_by_the_norms_that_they_can_reach(rows):
    assert rows["rho", "network"].derived < 4e-9
    assert rows["y_hat", "network"].derived < 5e-9
    for name in ("rho", "y_hat"):  # at the norms of the prompt's own iterates
        assert rows[name, "prompt"].instance < rows[name, "network"].instance / 8


@pytest.mark.long
def test_ten_blocks_in_balls():
    found = rows_of(N=8, n=8, L=21, samples=2, attack=0)
    for name in ("rho", "y_hat"):
        row = found[name, "network"]
        assert row.exact is not None
        assert 0 < row.exact <= row.derived
    assert str(found["faithful", None].verdict["derived"]) == "kept"


@pytest.mark.long
@pytest.mark.parametrize("decade", [0, 2, 5])
def test_bounds_hold_over_six_decades(decade):
    found = rows_of(N=5, n=3, L=5, tau_1=10.0**decade / 30, tau_2=10.0**decade, samples=4, attack=0)
    for (name, _), row in found.items():
        words = {tier: str(verdict) for tier, verdict in row.verdict.items()}
        if name not in ("y_residual.printed", "heads"):
            assert set(words.values()) <= {"kept", "proved", "outside"}, (name, words)
        assert words.get("derived", "kept") != "outside" or decade < 2  # rho may leave the range S


@pytest.mark.long
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_in_low_precision_the_rounding_is_shown_apart(dtype):
    found = rows_of(dtype=dtype, samples=4, attack=0)
    for name in ("step", "y_residual"):
        row = found[name, "network"]
        assert "violated" not in {str(verdict) for verdict in row.verdict.values()}
        assert row.rounding > 0
        assert row.measured <= row.derived + row.rounding


def errors(dtype: torch.dtype, tau_1: float, tau_2: float) -> tuple[float, float]:
    """|rho - rho_T|_1 and |y_hat - phi^T rho|, the error of each layer at its own temperature."""
    N, n, T = 256, 64, 50
    x, y, u, t = data(N, n)
    phi, eta = numeric.ramp_features(x, u, t, TAU_FF), 1 / (2 * n)
    at = numeric.LassoSetting(u, t, TAU_FF, LAM, eta, tau_1, tau_2, N)
    found = SharedNetwork(numeric.transformer(at, 2 * T + 1), dtype).run(numeric.tokens(x, y).to(dtype)[None])
    rho, y_hat = found["rho"][0, 0].double(), found["y_hat"][0, -1, 0].double()
    exact = numeric.proximal_path(phi[:-1], y, eta, LAM, T)
    return float((rho - exact).abs().sum()), float((y_hat - phi[-1] @ rho).abs())


@pytest.mark.parametrize("name", ["float64", "float32"])
def test_the_recommended_temperatures_are_within_ten_times_the_best_of_a_scan(name):
    chosen = resolve({"N": 256, "n": 64, "L": 101}, 0, name)
    dtype, own = getattr(torch, name), (chosen["tau_1"], chosen["tau_2"])
    scan = [errors(dtype, own[0] * 2.0**k, own[1] * 2.0**k) for k in range(-8, 9, 2)]
    for found, each in zip(errors(dtype, *own), zip(*scan, strict=True), strict=True):
        assert found <= 10 * min(each)
        assert found < max(each) / 100  # the scan does reach bad ones


# Formats.


def refused(**options) -> str:
    """Why the quantities are not representable."""
    found = compare(ID, attack=0, samples=1, **options).rows
    of_any_format = ("logistic", "tau.bits", "norm", "width", "layers", "heads")
    (norm,) = (row for row in found if row.quantity == "norm")  # in float64, at the temperatures of another format
    assert str(norm.verdict["derived"]) in ("not representable", "outside", "proved")
    own = [row for row in found if row.quantity not in of_any_format]
    assert {str(verdict) for row in own for verdict in row.verdict.values()} == {"not representable"}
    return own[-1].remark


def test_the_table_says_what_a_format_holds():
    table = formats(N=1024, n=256, L=401, B=1.0, lam=0.05, bits=24, dtype="float32")
    assert "for bits = 24, run in float32, which decides" in table.title
    held = {row[0]: row[-2:] for row in table.rows}
    assert held["float64"] == held["float32"] == ["yes", "yes"]
    assert held["float16"] == held["bfloat16"] == ["yes", "no: that takes 13 bits"]


def test_the_format_of_the_run_chooses_bits_and_temperatures():
    for name, bits in FORMATS.items():
        assert resolve({}, 0, name) == resolve({"bits": bits}, 0)
    assert resolve({"bits": 24}, 0, "float64") == resolve({}, 0, "float32")


def test_temperatures_stay_in_the_range_of_the_format():
    assert resolve({"N": 2**14}, 0, "bfloat16")["tau_2"] == 1
    assert resolve({"N": 2**14}, 0, "float16")["tau_2"] == 0.5  # 4 N tau_2 = 2^15
    most = torch.finfo(torch.float16).max
    assert 4 * 2**14 * 0.5 <= most < 4 * 2**14 * 1.0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"N": 1024, "tau_2": 16.0, "dtype": "float16"},
            "V of Attn2 holds 4*N*tau_2 = 65536, and float16 ends at 65504: that takes 6 bits of exponent, and it has "
            "5; tau_2 = 2 is within it",
        ),
        (
            {"bits": 53, "dtype": "float16"},
            "tau_1 = 4096 takes 22 bits, tau_2 = 1024 takes 16 bits for the rounding of a block to stay below what it "
            "computes: that suits bits = 53, but the run is in float16, whose 11 bits decide; leave out bits and tau, "
            "or give bits = 11",
        ),
        (
            {"bits": 6},
            "6 bits hold nothing of a block at any tau: residual and rounding exceed what it computes; that takes 7 "
            "bits",
        ),
    ],
)
def test_what_the_format_does_not_hold_is_not_representable(options, words):
    assert words in refused(**options)


def test_an_x_outside_the_unit_ball_is_refused():
    instance = Instance.of(registered_theorem(ID), {})
    inputs = instance.inputs.sample(1, 0)
    instance.inputs.require(inputs)
    with pytest.raises(UsageError, match="x"):
        instance.inputs.require({**inputs, "x": 3 + inputs["x"]})


def test_slopes_and_suprema_of_deviations_are_upper_bounds():
    radius, labels, tau_1, tau_2 = 3.0, 1.0, 0.5, 2.0
    z = torch.linspace(-radius, radius, 4001, requires_grad=True, dtype=torch.float64)
    for name, function in functions_of("a", radius, labels, tau_1, tau_2, n=2).items():
        (slope,) = torch.autograd.grad(function.deviates(z).sum(), z)
        inside = z.abs() <= function.radius
        largest = float(slope[inside].abs().max())
        assert function.radius == (labels if name == "a_labels" else radius)
        assert largest <= function.slope_error < 4 * largest, name


@pytest.mark.parametrize("size", [1e-6, 1e-3, 0.3, 0.99, 1.01, 4.0])
def test_the_gap_of_tanh_does_not_cancel(size):
    u = torch.tensor([size, -size], dtype=torch.float64)
    with mp.workdps(60):
        exact = float(mp.mpf(size) - mp.tanh(mp.mpf(size)))
    torch.testing.assert_close(gap(u), torch.tensor([exact, -exact], dtype=torch.float64), rtol=1e-14, atol=0)
