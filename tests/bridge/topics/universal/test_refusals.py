"""What cannot be run is refused in words: hypotheses that do not hold, formats, unknown classes."""

import pytest

from tests.bridge.refused import cases, check

REFUSED = {
    "universal.barron": [({"M": 0}, r"M = 0.* does not meet M >= 1")],
    "universal.covering": [
        ({"eps": 1e-17}, r"eps = 1e-17 does not meet .* \(a finer cover tells apart what float64 does"),
    ],
    "universal.features": [
        ({"tau": 4}, r"tau = 4.* does not meet tau > 4 \(Lemma 1 is for tau > 4"),
        ({"n": 8}, r"n = 8 is below log \|N_eps\| = 22, .* take n >= 22"),
        ({"delta": 0}, r"delta = 0.* does not meet delta > 0"),
        ({"delta": 1.5}, r"delta = 1.5 does not meet delta <= 1"),
        ({"eps": 1e-17}, "a finer cover tells apart what float64 does not"),
        ({"family": "splines"}, "no family 'splines'; choose bumps or union"),
    ],
    "universal.lasso": [
        ({"N": 0}, r"N = 0 does not meet N >= 1 \(an empty prompt has no mean\)"),
        ({"lam": 0}, r"lam = 0.* does not meet lam > 0 \(the weight of a norm\)"),
        ({"lam": 0.01}, r"lam = 0.01 does not meet .* \(lambda exceeds the noise level"),
        ({"delta": 0}, r"delta = 0.* does not meet delta > 0 \(a budget of probability"),
        ({"delta": 1.5}, r"delta = 1.5 does not meet delta <= 1 \(a budget of probability"),
        ({"sigma": -1}, r"sigma = -1.* does not meet sigma >= 0"),
        ({"tau": 4}, r"tau = 4.* does not meet tau > 4"),
        ({"dtype": "float32"}, "draws are computed in float64; leave out dtype"),
    ],
    "universal.proximal": [
        ({"L": 40}, r"L = 40 does not meet .* \(L = 2T \+ 1 is odd"),
        ({"L": 1}, r"L = 1 does not meet L >= 3 \(at least one step\)"),
        ({"N": 0}, r"N = 0 does not meet N >= 1 \(an empty prompt has no mean"),
        ({"eta": 0}, r"eta = 0.* does not meet eta > 0 \(a step size is positive\)"),
        ({"eta": 0.06}, r"eta = 0.06 does not meet .* \(a step is at most 1/smoothness"),
        ({"lam": 0}, r"lam = 0.* does not meet lam > 0"),
        ({"lam": -1}, r"lam = -1.* does not meet lam > 0"),
        ({"eps": -1}, r"eps = -1.* does not meet eps >= 0 \(an error\)"),
    ],
    "universal.risk": [
        ({"N": 0}, r"N = 0 does not meet N >= 1 \(an empty prompt has no mean\)"),
        ({"n": 1}, "n = 1 does not meet n >= 2"),
        ({"L": 40}, r"L = 40 does not meet .*L = 2T \+ 1 is odd"),
        ({"lam": 0}, r"lam = 0.* does not meet lam > 0 \(the weight of a norm\)"),
        ({"lam": 0.01}, r"lam = 0.01 does not meet .* \(lambda exceeds the noise level"),
        ({"delta": 2}, "delta = 2.* does not meet delta <= 1"),
        ({"tau": 4}, "tau = 4.* does not meet tau > 4"),
        ({"eps": 1e-17}, "a finer cover tells apart"),
        ({"sigma": 0}, r"without noise \(sigma = 0\) no noise level implies lam; give lam"),
        ({"tau_1": 1e14}, "tau_1 = 1.* is beyond the format: .* needs 5. bits .*, or bits = 5. or more"),
        ({"tau_1": -1.0}, "tau_1 = -1.* does not meet tau_1 > 0"),
        ({"dtype": "float32"}, "draws are computed in float64; leave out dtype"),
        ({"family": "splines"}, "no family 'splines'"),
        ({"n": 10**9}, "memory|idle core"),
    ],
    "universal.sigmoid": [
        ({"tau": 2}, r"tau = 2.* does not meet tau > 2 \(Lemma 5 is for tau > 2"),
        ({"tau": 1e9}, r"need 65 bits, float64 has 53; take tau <= 2\.62.*e\+05"),
        ({"omega_max": 1000}, r"omega_max = 1000 exceeds 256"),
    ],
    "universal.transformer": [
        ({"L": 4}, r"L = 4 does not meet .*L = 2T \+ 1: Attn0 FF0 and T blocks of two layers"),
        ({"L": 1}, "L = 1 does not meet .*a block"),
        ({"N": 0}, "N = 0 does not meet .*a prompt has an example"),
        ({"n": 0}, "n = 0 does not meet .*a feature"),
        ({"tau_1": 0.0}, "tau_1 = 0.0 does not meet .*positive"),
        ({"tau_2": -1.0}, "tau_2 = -1.0 does not meet .*positive"),
        ({"tau_1": 1e30}, r"tau_1 = 1.000e\+30 is beyond the format: .* bits"),
        ({"tau_2": 5.6e13, "bits": 24}, r"tau_2 = 5.600e\+13 is beyond the format: .* the format has 24"),
        ({"lam": 0.0}, "lam = 0"),
        ({"N": 10**7, "n": 10**5}, r"memory|idle core"),
    ],
}


@pytest.mark.parametrize(("id", "params", "why"), cases(REFUSED))
def test_what_cannot_be_run_is_refused_in_words(id: str, params: dict[str, object], why: str) -> None:
    check(id, params, why)
