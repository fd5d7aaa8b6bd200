"""What fails in the proof of Theorem 5.5 (wang2024): the errata of `phases`."""

from symbolic.statements.errata import Erratum, Weight
from symbolic.words.citations import WANG2024, Citation

FIRST_PHASE = Erratum(
    Weight.PROOF,
    Citation(WANG2024, "Appendix C.1 Part I", "`1/M(p)`, before (20)"),
    sentence="`1/M(p) = (1 - e^(-p(L-2)))/(1 - e^-p)`; with this value the rate of `g` starts at about "
    "`g*/sigma_init`, and (20) concludes `T_1^g = O(1)`",
    reading="the printed right side is `M(p)`, not `1/M(p)`, which is meant; the true `1/M(p)` is about `1 - e^-p` for "
    "the paper's long `L`, with which `p` and `g` leave the origin at the rate `g*` only, so that (20) does not "
    "follow; at a fixed `sigma_init`, `T_1^g` and `T_I` stay bounded as `L` grows, so that `T_I = O(1)` in "
    "Theorem 5.5 is not refuted",
    repair="`1/M(p) = (1 - e^-p)/(1 - e^(-p(L-2)))`, and `T_1^g = log(1/sigma_init)/g* + O(1)`, and the same for `T_I`",
    survives="yes: `T_I = O(log(1/sigma_init))` is small compared with `T_II = Theta((1 + alpha*)^2 L "
    "log(1/sigma_init)/w*^2)`",
)
