"""What the caption of Figure 2 (wang2024), the text beside it and the proof of Theorem 5.5 state about its run."""

from functools import partial

import sympy as sp

from symbolic.derivations.provenance import Provenance
from symbolic.statements.result import Hypothesis, Kind, Parameter, Printed, Quantifier, Quantity, Result
from symbolic.topics.induction import objects
from symbolic.topics.induction.setting import HYPOTHESES, PARAMETERS
from symbolic.topics.induction.training import (
    KEPT,
    LEARNT,
    LOSS_HEAD,
    NOTATION,
    alpha,
    h,
    h_star,
    sigma_init,
    v,
    w_star,
)
from symbolic.topics.induction.trends import LARGEST_START, NAMED, NAMES, OVERSHOOT, SMALL_ENOUGH, SMALL_W_STAR
from symbolic.topics.induction.turning import R_CURVE, R_TURN, at_optimum
from symbolic.words.citations import WANG2024, Citation

CAPTION = Citation(WANG2024, "Figure 2", "section 5.2")
THEOREM = Citation(WANG2024, "Theorem 5.5", "proof in C.3")
RUN = "the flow of (19) and (22), by (12) or as the paper prints it, from `p = g = w = h = sigma_init`"
FIGURE = (("L", 1000), ("alpha", 1), ("w_star", 0.49), ("sigma_init", 0.01))  # at which both flows are followed here

# Of the loss at T_o, what is left when h has gone on from h* to its plateau h* r(0) while w has not moved (w = 0).
_PLATEAU = R_CURVE.subs(v, 0)
_AT_OPTIMUM, _AT_PLATEAU = (LOSS_HEAD.subs({v: 0, h: value * h_star}) for value in (sp.Integer(1), _PLATEAU))
LEFT_BY_PLATEAU = sp.simplify(at_optimum(_AT_PLATEAU / _AT_OPTIMUM))


_claim = partial(Quantity, norm="absolute value", domain=RUN, kind=Kind.EXACT, quantifier=Quantifier.EXISTS, scopes=())


def _printed(bound: sp.Expr, place: Citation, under: str = "") -> Printed:
    """What is printed without a hypothesis of its own (`under`) is stated at the figure's point."""
    return Printed(bound, place, under=under) if under else Printed(bound, place, run_at=FIGURE)


QUANTITIES = (
    _claim("T_I", r"T_{\rm I}", "time at which the 4-gram loss is 0.01 of its start"),
    _claim("T_o", "T_o", "time at which `h` reaches `h*`"),
    _claim(
        "T_II",
        r"T_{\rm II}",
        "time at which the loss of the induction head is 0.99 of that at `T_o`",
    ),
    _claim(
        "T_III",
        r"T_{\rm III}",
        "time at which the loss of the induction head is 0.01 of that at `T_o`",
    ),
    _claim(
        "left",
        r"\mathcal{L}_{\rm IH_2}(T_o)/\mathcal{L}_{\rm IH_2}(0)",
        "loss of the induction head left at `T_o`, where its plateau begins",
    ),
    _claim(
        "first",
        r"\mathcal{L}_{\rm IH_2}(T_{\rm I})/\mathcal{L}_{\rm IH_2}(0)",
        "loss of the induction head left when the 4-gram part is learnt",
        kind=Kind.LOWER,
        printed=_printed(
            KEPT, Citation(WANG2024, "Theorem 5.5", "Phase I"), "`L = Omega(1/sigma_init)` and `sigma_init << 1`"
        ),
        remark="'learns the 4-gram component first'",
    ),
    _claim(
        "phases",
        r"\#\text{phases}",
        "number of phases of the run: those that end at `T_I < T_II < T_III`, if reached, and the last",
        printed=_printed(sp.Integer(4), CAPTION),
        remark="'the entire dynamics exhibit four phases'",
    ),
    _claim(
        "separation",
        r"T_{\rm II}/T_{\rm I}",
        "ratio of the end of the plateau to the end of phase I",
        kind=Kind.LOWER,
        printed=_printed(sp.Integer(1), Citation(WANG2024, "Theorem 5.5", "`T_I = O(1)`, `T_II >> 1`")),
        remark="printed as `T_II >> 1` without a constant; judged by whether `T_II` is later than `T_I`",
    ),
    _claim(
        "plateau",
        r"w(T_{\rm II})/w^\star",
        "`w/w*` at the end of the plateau",
        kind=Kind.LOWER,
        printed=_printed(LEARNT, THEOREM),
        remark="C.3: `T_II >=` the time of `w = 0.01 w*`",
    ),
    _claim(
        "plateau.share",
        r"(T_{\rm II}-T_o)/(T_{\rm III}-T_o)",
        "share of the time from `T_o` to `T_III` that is plateau by the definition of `T_II`",
    ),
    _claim(
        "plateau.loss",
        r"\mathcal{L}_{\rm IH_2}|_{w=0,\,h=h^\star\psi(v^\star)}/\mathcal{L}_{\rm IH_2}|_{w=0,\,h=h^\star}",
        "share of the loss that is left when `h` alone has gone from `h*` to its plateau",
        kind=Kind.LOWER,
        printed=_printed(KEPT, THEOREM, SMALL_W_STAR),
        remark="below 0.99 `T_II` is reached by `h` alone, where `T_o := T_1^h` (C.3); with `T_o := 2 T_1^h` at no "
        "`w*`",
        domain="the loss (22)",
        derive=LEFT_BY_PLATEAU,
        obtained=Provenance.ALGEBRA,
        quantifier=Quantifier.FOR_ALL,
    ),
    _claim(
        "growth",
        r"w(T_{\rm II})/\sigma_{\rm init}",
        "`w/sigma_init` at `T_II`",
    ),
    _claim(
        "overshoot",
        r"\max_t h/h^\star",
        "largest `h/h*`",
        kind=Kind.UPPER,
        printed=_printed(OVERSHOOT, Citation(WANG2024, "Appendix C.2", "(26)"), SMALL_W_STAR),
        remark="derived: `R(w*)`, the largest `r` of C.2",
        domain=f"{RUN}, {SMALL_ENOUGH}",
        derive=R_TURN,
        obtained=Provenance.HAND,
        quantifier=Quantifier.FOR_ALL,
    ),
)

FLOW = Parameter("flow", None, "true: that of `w_Q`, `w_K` and `h` (12); printed: the paper's, of `w` and `h`", "true")

FIGURE2 = Result(
    id="induction.figure2",
    title="Figure 2: losses and parameters along the gradient flow of training stage II",
    citation=CAPTION,
    claim=r"T_{\rm I} \ll T_{\rm II} < T_{\rm III}",
    parameters=(*PARAMETERS.values(), FLOW),
    hypotheses=(
        *HYPOTHESES,
        Hypothesis("sigma_init", sp.Lt(sigma_init * (1 + alpha), 1, evaluate=False), "`T_o`, where `h = h*`, is ahead"),
        Hypothesis("sigma_init", sp.Lt(sigma_init, w_star, evaluate=False), "`w` has to grow to `w*`"),
    ),
    objects=objects.FIGURE_2,
    quantities=QUANTITIES,
    notation=NOTATION | NAMES,
    symbols=NAMED,
    formulas=(LARGEST_START,),
    remarks=(
        "The closed forms (19) and (22) are followed, on the flow (12); the other flow is drawn thin and dashed. The "
        "paper's figure does not say which flow, or whether the network itself, it shows.",
    ),
)
