"""Errata of Appendix B (wang2024): the proof of Lemma 5.3. The lemma itself is true."""

from symbolic.statements.errata import Erratum, Weight
from symbolic.words.citations import WANG2024, Citation

_PLACE = "Appendix B"

HALF = Erratum(
    Weight.NOTATION,
    Citation(WANG2024, _PLACE, "loss and `dp~/dt` of stage I"),
    sentence="the loss of stage I lacks the factor 1/2 of (11), so that `dp~/dt` is twice the gradient flow of "
    "(11), and its cross term has + in place of -",
    reading="the sign is right again in `dp~/dt`; a constant factor of the loss only changes the unit of time, but the "
    "paper uses the time `t` of (11) and (12), in which the rate is half of the printed one at every `p~`",
    repair="`dp~/dt = -g(0)^2 q'/(2 (L-2)^2) + alpha g(0) m(p~)/((1+alpha) (L-2) M(p~)^2)`",
    survives="yes: `p~` tends to `+oo` in either unit of time",
)

FIRST_SOFTMAX = Erratum(
    Weight.NOTATION,
    Citation(WANG2024, _PLACE, "definition of `softmax_s`"),
    sentence="the denominator of `softmax_s` starts at `t = 2`",
    reading="the numerator includes key `t = 1`, so that the weights do not add up to 1 for `s >= 3`; the "
    "denominator in `q` is complete",
    repair="a denominator over `t = 1 .. s-1`, as in `q`",
    survives="yes: only the definition is misprinted, and `q` does not use it",
)

SQUARES_SIGN = Erratum(
    Weight.NOTATION,
    Citation(WANG2024, _PLACE, "definition of `q`"),
    sentence="`q` is defined with `e^(+p~(s-1-tau))` in its numerator",
    reading="the next line and the attention (9) have `e^(-p~(s-1-tau))`, so that one sign is misprinted",
    repair="`e^(-p~(s-1-tau))` in the numerator",
    survives="yes: the computation of `q'` uses the right sign",
)

SLOPE_FACTOR = Erratum(
    Weight.PROOF,
    Citation(WANG2024, _PLACE, "last line of `q'`"),
    sentence="the last line of `q'` drops the factor `1 - e^-p~` of `(s-1) e^(p~(s-1))`, and the proof concludes "
    "`q' <= 0` term by term from this line",
    reading="the line above has this factor; with the factor, the term-by-term argument fails, since the last factor "
    "of `q'` is 1/18 at `s = 3`, `tau = 2`, `e^-p~ = 1/2`, so that not all terms have the sign of the sum",
    repair="`q' = 2 sum_s Cov_s(c_tau, tau) <= 0` under the weights `softmax_s`, since `c_tau` decreases in `tau`",
    survives="yes: `q' <= 0` holds for every `L` and `p~`",
)
