"""What fails in the proof of the decay of the induction head (wang2024, Appendix C.2, Step II.2), by estimate."""

from symbolic.statements.errata import Erratum, Weight
from symbolic.words.citations import WANG2024, Citation

_DECAY = (
    "yes: `(L-2) dG/dt <= -(1/4) v* h*^2 G` is certified on the whole region, also with 1.994 in place of 1/4 on the "
    "paper's flow and with 0.988 on (12)"
)


def _step(place: str, sentence: str, reading: str, repair: str) -> Erratum:
    return Erratum(
        Weight.PROOF,
        Citation(WANG2024, "Appendix C.2", f"Step II.2, {place}"),
        sentence=sentence,
        reading=reading,
        repair=repair,
        survives=_DECAY,
    )


ESTIMATES = {
    "estimate.phi": _step(
        "bound of `phi`",
        "`phi(v + v*) <= phi(2 v*) <= 1` for `v* <= 0.3`",
        "inside the region, both `phi(2 v*)` and `phi(v + v*)` exceed 1 for `v*` near 0.3 and `v` near `v*`; `phi(2 "
        "v*) <= 1` holds only for `v* <= 0.2818`",
        "`phi(v + v*) <= phi(2 v*) <= 1.172` for `v* <= 0.3`",
    ),
    "estimate.psi_difference": _step(
        "bound of the difference of `psi`",
        "`psi(v + v*) - psi(2v) <= 1.3 v* (v* - v)`",
        "inside the region, the left side over `v* (v* - v)` tends to `phi(2 v*)/v*` as `v -> v*`, and `phi(2 v*)/v* "
        ">= 2` for every `v*`",
        "3.91 in place of 1.3, since `phi(0.6)/0.3 < 3.91`",
    ),
    "estimate.joined": _step(
        "first line of the estimate of `dG/dt`",
        "the four estimates give `(L-2) dG/dt <= -(4/1.02) v* h*^2 (v - v*)^2 - (h - h*)^2 "
        "+ 5.41 v* h* (v* - v)(h - h*)`",
        "inside the region, with the line judged as a whole; its first term needs `4 v >= (4/1.02) v*`, but the region "
        "has `v > v*/4`, and the line fails for `h` near `h*`",
        "`-v* h*^2 (v - v*)^2` as the first term, and 8.77 in place of 5.41 (9.2 if only `h < 1.07 h*` is known); "
        "the repaired line gives a decay only for `v* < 4/9.2^2 = 0.047`; for `v* <= 0.3` the inequality is proved "
        "directly",
    ),
}
