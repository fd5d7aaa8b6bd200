"""What fails of C.2's bounds (wang2024): the errata of `trends`, one object for all rows that rest on one line."""

from functools import partial

from symbolic.statements.errata import Erratum, Weight
from symbolic.words.citations import WANG2024, Citation

# Figure 2's w* from a start as small as C.2 asks for, on the paper's flow.
SMALL_START = (("w_star", 0.49), ("sigma_init", 2.0**-20), ("flow", "printed"))


_c2 = partial(Citation, WANG2024, "Appendix C.2")

SMALL_FACTOR = Erratum(
    Weight.NOTATION,
    _c2("(24), (25) first bound"),
    sentence="`h` approaches its plateau at the rate `(1 - 0.01 w*^4)^(-1/2)` per time `L-2`",
    reading="`w <= 0.01 w*` gives `0.01^4` under the root, as elsewhere in the same line; with 0.01 both bounds "
    "fail, by less than one part in a thousand, at the small start `w* = 0.49`, `alpha* = 1`, `sigma_init "
    "= 2^-20`",
    repair="`0.01^4` in place of 0.01",
    survives="yes: the orders of `h` and of `T_1^h` do not change",
    at=SMALL_START,
)
SIMPLE_TIME = Erratum(
    Weight.CONSTANT,
    _c2("(25), second bound"),
    sentence="`T_1^h <= 2 (L-2) (1 - w*^4/2)`",
    reading="it is read for starts as small as C.2 needs; the first bound of (25) does not imply it for any `w* < "
    "1/sqrt(2)`, since `log(psi(v*)/(psi(v*) - 1))` is above `2 - w*^4` there and grows like `4 log(1/w*)`",
    repair="`T_1^h <= (L-2) log(psi(v*)/(psi(v*) - 1)) <= (L-2) (4 log(1/w*) + log 2)`",
    survives="yes: `T_1^h = Theta(L)` at every fixed `w*`",
    at=SMALL_START,
)
HALF_TIME = Erratum(
    Weight.NOTATION,
    _c2("(28), first bound"),
    sentence="`T_1/2^w >= (L-2) [(1 + alpha*)^2 log(w*/(2 sigma_init))/(4 w*^2 (1 - 4 w*^4)^(3/2)) "
    "- log(1 - (1 - w*^4)^(1/2))]`",
    reading="3/2 is a misprint of -3/2, the exponent in the bound of `dw/dt` before `T_1^h`; on the paper's own flow "
    "with `alpha* = 1.01`, `w* = 0.53` and `sigma_init = 2^-20`, `T_1/2^w` is `77.89 (L-2)` and the bound `82.82 "
    "(L-2)`; the printed bound holds for small `w*`, which `w* = O(1)` may mean, and at Figure 2's `w* = 0.49`",
    repair=("`T_1/2^w >= (L-2) (1 + alpha*)^2 log(w*/(2 sigma_init)) (1 - 4 w*^4)^(3/2)/(4 w*^2)`, with -3/2 for 3/2"),
    survives="yes: the second line of (28), from which the order of `T_1/2^w` is taken, holds there",
    at=(("alpha", 1.01), ("w_star", 0.53), ("sigma_init", 2.0**-20), ("flow", "printed")),
)
GROWTH_BELOW = Erratum(
    Weight.DEFINITION,
    _c2("(29)"),
    sentence="`w >= sigma_init exp(w*^2 t/((1 + alpha*)^2 (L-2)))` for all `t in [0, T_1/2^w]`",
    reading="the paragraph is about the second stage, `t >= T_1^h`, and replaces `h` by `h*`; only the origin of "
    "time is wrong; on the paper's own flow at Figure 2's `w*`, `alpha*` and `sigma_init`, (29) holds "
    "from `t = 1.263 (L-2)` on, before `T_1^h`",
    repair="`w(t) >= w(T_1^h) exp(w*^2 (t - T_1^h)/((1 + alpha*)^2 (L-2)))` for `T_1^h <= t <= T_1/2^w`",
    survives="yes: `T_1/2^w` keeps its order, since `T_1^h = Theta(L)`",
    at=SMALL_START,
)
OVERSHOOT_FACTOR = Erratum(
    Weight.PROOF,
    _c2("Step II.2"),
    sentence="`h < 1.02 h*` for `t > T_2^h` whenever `v* <= 0.3` (in `w*`: 0.5477)",
    reading="it recalls (26), which is stated for `w* < c` with some `c > 0`; from a small start `h` comes near its "
    "plateau `h* psi(v*)` and turns above it, so `h` exceeds `1.02 h*` for every `w* >= 0.444` (`v* = 0.197`)",
    repair="`h <= R(w*) h* < 1.07 h*` for `v* <= 0.3`",
    survives="yes: `(L-2) dG/dt <= -(1/4) v* h*^2 G` is certified for `h < 1.07 h*` too",
)
