"""What fails in the proof of Theorem 5.5 (wang2024): the errata of `phase_statement` and `figure2`."""

from symbolic.citations import WANG2024, Citation
from symbolic.errata import Erratum, Weight

FIRST_PHASE = Erratum(
    Weight.PROOF,
    Citation(WANG2024, "Appendix C.1 Part I", "(20)"),
    sentence="T_1^g = O(sigma_init + (e^(2 p_1) - 1) (1 + 1/alpha*)^2) = O(1)",
    reading="with L as C.1 asks and uniformly in sigma_init, which the bound names; at a fixed sigma_init T_1^g and "
    "T_I stay bounded as L grows, so that T_I = O(1) in Theorem 5.5 is not refuted",
    repair="T_1^g = log(1/sigma_init)/g* + O(1), and T_I likewise: the rate of g has 1/M, about 1 - e^-p, for which "
    "C.1 prints 1/(1 - e^-p)",
    survives="yes: T_I = O(log(1/sigma_init)) is short beside T_II = Theta((1 + alpha*)^2 L log(1/sigma_init)/w*^2)",
)
OBSERVATION = Erratum(
    Weight.PROOF,
    Citation(WANG2024, "Theorem 5.5", "proof in C.3, choice of T_o"),
    sentence="with T_o := T_1^h, L_IH2 stays above 0.99 L_IH2(T_o) until w = 0.01 w*",
    reading="w* in (0.4697, 0.6879), where Figure 2 has 0.49: there h alone, on its way from h* to its plateau, takes "
    "more than 1 % of the loss and T_II = Theta(L) without the log; for smaller w* the choice works",
    repair="T_o := 2 T_1^h, or T_o := c (L-2) with c > log(99 psi(v*)^2/(psi(2v*) - psi(v*)^2))/2, which is 3.598 at "
    "w* = 0.49 where T_1^h is 3.532 (L-2)",
    survives="yes: the theorem asks for some T_o = Theta(L), and T_II has its order with T_o = 2 T_1^h for every w*",
)
