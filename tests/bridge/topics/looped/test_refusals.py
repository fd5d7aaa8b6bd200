"""What cannot be run is refused in words: broken hypotheses, what no format holds, unknown names of heads."""

import pytest

from tests.bridge.refused import cases, check

REFUSED = {
    "looped.autoregression": [
        ({"q": 0}, r"q = 0 does not meet q >= 1 \(a lag\)"),
        ({"q": 8}, r"q = 8 does not meet q < N"),
        ({"T": 0}, r"T = 0 does not meet T >= 1"),
        ({"eps": 1.0}, r"eps = 1.0 does not meet eps < 1 .*take a smaller gap"),
        ({"m": 3}, r"too few positions for N = 8: no draw of seed 0 has 12 in dimension m = 3"),
        ({"eta": 1.5}, r"eta = 1.5 does not meet .* \(a step does not expand\)"),
        ({"accuracy": 1.0}, r"accuracy = 1.0 does not meet accuracy < B"),
        ({"C": 720.0}, r"e\^C is beyond float64"),
    ],
    "looped.chain_of_thought": [
        ({"leak": 0.0}, "leak = 0.0 .*a leaky slope of 0 has no inverse"),
        ({"leak": 2.0}, "sigma does not expand"),
        ({"step": 3}, "step = 3 does not meet step < L at L = 3 .the examples have a next state"),
        ({"T": 0}, "T = 0"),
        ({"N": 1}, "N = 1 does not meet N >= 2 .two example chains at least"),
        ({"eta": 2.0}, "eta = 2.0 does not meet eta <= 1/high"),
        ({"low": 2.0}, "low"),
        ({"C": 800.0}, r"e\^C is beyond float64"),
        ({"c": 1e-18}, "c = 1.000e-18 is below what float64 resolves"),
    ],
    "looped.decoder": [
        ({"N": 1}, r"N = 1 does not meet N >= 2 \(a token with a past\)"),
        ({"T": 0}, r"T = 0 does not meet T >= 1 \(a loop\)"),
        ({"eta": 2.5}, r"eta = 2.5 does not meet .*<= 2 at B_x = 1.0 \(a step does not expand\)"),
        ({"C": 800.0}, r"e\^C is beyond float64"),
        ({"c": 1e-15}, r"c = 1\.000e-15 is below what float64 resolves"),
    ],
    "looped.gradient_descent": [
        (
            {"eta": 2.0},
            r"eta = 2.0 does not meet eta < 2/high at high = 1.0 \(beyond 2 / lambda_max gradient descent diverges",
        ),
        ({"eta": -1.0}, r"eta = -1.0 does not meet eta > 0"),
        ({"T": 0}, r"T = 0"),
        ({"N": 1}, r"N = 1 does not meet N >= 2 \(a line fits one example exactly\)"),
        ({"second": "none"}, r"second = 'none'; give constant or opposite"),
        ({"C": 710.0}, r"e\^C is beyond float64, which ends at .* for C = 710; take C = "),
        ({"C": 708.0, "B_y": 2.0}, r"2 n e\^C with n = 17 and values up to 5.657 is beyond float64"),
        ({"bits": 24}, r"bits = 24, but float64 has 53; leave bits out"),
        ({"c": 1e-16}, r"c = 1.*e-16 is below what float64 resolves"),
    ],
    "looped.linearised": [
        ({"C": 720.0}, r"e\^C is beyond float64, which ends at 1.797693e\+308, for C = 720; take C = 70[56] or less"),
        ({"C_odd": 708.0}, r"2 n e\^C with n = 17 is beyond float64"),
        ({"c": 1e-17}, r"c = 1.000e-17 is below what float64 resolves: .* take c = .*e-14 or more"),
        ({"N": 1}, r"N = 1 does not meet N >= 2 \(a prompt has more than one example\)"),
        ({"C": 12.0, "dtype": "float16"}, r"C = 12.* take C = 7 or less"),
    ],
    "looped.newton": [
        ({"alpha": 2.0}, r"alpha = 2.0 does not meet alpha < 2 \(at alpha = 2/\|\|S S\^T\|\|_2, which \(4\)"),
        ({"alpha": 0.0}, "alpha = 0.0 does not meet alpha > 0"),
        ({"T": 0}, "T = 0 does not meet T >= 1"),
        ({"N": 1, "d": 1}, "N = 1 does not meet N >= 2 .a prompt of one example"),
        ({"N": 2, "d": 3}, "S is singular: its least eigenvalue is 0"),
        ({"second": "both"}, "second = 'both'; give constant or opposite"),
        ({"C": 800.0}, r"e\^C is beyond float64"),
        ({"c": 1e-16}, "c = 1.000e-16 is below what float64 resolves"),
    ],
    "looped.positions": [
        ({"eps": 1.0}, r"eps = 1.0 does not meet eps < r\*\*2 .*take a larger norm"),
        ({"N": 0}, "N = "),
        ({"N": 2}, "N = "),
    ],
}


@pytest.mark.parametrize(("id", "params", "why"), cases(REFUSED))
def test_what_cannot_be_run_is_refused_in_words(id: str, params: dict[str, object], why: str) -> None:
    check(id, params, why)
