"""What the induction head's training conserves (wang2024, Lemma 5.4), found and proved, and at what rate w grows."""

from functools import cache, partial

import sympy as sp

from symbolic.derivations.derivation import DerivationError
from symbolic.derivations.provenance import Provenance
from symbolic.dynamics import conserved_quantities, gradient_flow, is_conserved
from symbolic.statements.errata import Erratum, Weight
from symbolic.statements.result import Formula, Kind, Printed, Quantifier, Quantity, Result
from symbolic.topics.induction import letters, objects
from symbolic.topics.induction.setting import HYPOTHESES, PARAMETERS
from symbolic.topics.induction.training import HEAD_FLOW, HEAD_FLOW_FULL, HEAD_FLOW_PRINTED, NOTATION, h, w, w_K, w_Q
from symbolic.words.citations import WANG2024, Citation

DEGREE = 2
BALANCE_OF = w_Q**2 - w_K**2


@cache
def found_balance() -> tuple[sp.Expr, ...]:
    """Everything of degree 2 or less that the flow of (22) conserves."""
    return conserved_quantities(HEAD_FLOW_FULL, DEGREE)


@cache
def balance_of_any_loss() -> bool:
    """Whether w_Q^2 - w_K^2 is conserved for every loss in w_Q w_K and h, the true softmax's too."""
    loss = sp.Function("loss")(w_Q * w_K, h)
    return is_conserved(gradient_flow(loss, (w_Q, w_K, h)), BALANCE_OF)


@cache
def diagonal_is_invariant() -> bool:
    """Whether w_Q = w_K, once so, remains: `restricted` raises if the flow leaves the set.

    The field is smooth, so that no other solution starts there: w_Q = w_K follows, and not only |w_Q| = |w_K|.
    """
    try:
        HEAD_FLOW_FULL.restricted({w_K: w_Q})
    except DerivationError:
        return False
    return True


@cache
def rate_ratio() -> sp.Expr:
    """The printed dw/dt over that of w_Q = w_K under (12)."""
    return sp.simplify(HEAD_FLOW_PRINTED.rate(w) / HEAD_FLOW.rate(w))


_LEMMA = Citation(WANG2024, "Lemma 5.4", "Lemma C.1")
_DOMAIN = "training stage II, `|w_Q w_K| < 1/2`"
_ALL_TIMES = "supremum over all times `t >= 0`"
_RATIO = "the printed rate of `w` over the rate of `w_Q = w_K` in the flow (12)"


RATE_OF_W = Erratum(
    Weight.NOTATION,
    Citation(WANG2024, "Appendix C.2", "`dw/dt` after (22)"),
    sentence="`dw/dt` is printed as the gradient flow of one parameter `w`, twice the rate that (12) gives `w_Q = w_K`",
    reading="the printed rate is that of a single parameter `w`, since `-dL/dw` with `w_Q = w_K = w` in (22) adds the "
    "derivatives in `w_Q` and in `w_K`; Section 5.2 redefines `theta` with one parameter `w_KQ`, for which (12) "
    "gives the printed rate; for the `w_Q` and `w_K` of Lemma 5.4, (12) does not",
    repair="half of the printed `dw/dt`, with the printed `dh/dt`",
    survives="yes: each `Theta` of Theorem 5.5 absorbs the factor 2",
)


_quantity = partial(
    Quantity,
    domain=_DOMAIN,
    kind=Kind.EXACT,
    quantifier=Quantifier.FOR_ALL,
    scopes=(),
    obtained=Provenance.ALGEBRA,
)

FORMULAS = (
    *(
        Formula(
            rf"(L-2)\,\dot{{{sp.latex(x)}}}",
            letters.rate_of(letters.head_flow_full, x),
            f"rate of `{x}` in (12), `psi(x) = (1 - x^2)^(-1/2)`, `phi = psi'`",
        )
        for x in (w_Q, w_K, h)
    ),
    Formula(
        r"\text{const}", lambda: found_balance()[0], "what the flow (12) conserves: the only one of degree 2 or less"
    ),
    Formula(
        r"\dot w_{\text{printed}} / \dot w_Q", rate_ratio, "the printed rate of `w` over that of `w_Q = w_K` in (12)"
    ),
)

BALANCE = Result(
    id="induction.balance",
    title="Parameter balance of the induction head",
    citation=_LEMMA,
    claim=r"w_Q^2(t) - w_K^2(t) \equiv w_Q^2(0) - w_K^2(0) = 0",
    parameters=tuple(PARAMETERS.values()),
    hypotheses=HYPOTHESES,
    objects=objects.BALANCE,
    quantities=(
        _quantity(
            "balance",
            r"\sup_t |w_Q^2(t) - w_K^2(t)|",
            "`w_Q^2 - w_K^2` along the flow (12) from `w_Q = w_K = h = sigma_init`",
            _ALL_TIMES,
            printed=Printed(sp.Integer(0), _LEMMA),
        ),
        _quantity(
            "equal",
            r"\sup_t |w_Q(t) - w_K(t)|",
            "`w_Q - w_K` along the flow (12) from `w_Q = w_K = h = sigma_init`",
            _ALL_TIMES,
            printed=Printed(sp.Integer(0), Citation(WANG2024, "Section 5.2", "`w_KQ := w_Q = w_K`")),
            remark="the squares alone would leave `w_Q = -w_K` open; the set `w_Q = w_K` is invariant",
        ),
        _quantity(
            "drift",
            r"\sup_t |w_Q^2(t) - w_K^2(t) - w_Q^2(0) + w_K^2(0)|",
            "change of `w_Q^2 - w_K^2` along the flow (12) from unequal starts, `w_Q(0) = 3 w_K(0)`",
            _ALL_TIMES,
            printed=Printed(
                sp.Integer(0), Citation(WANG2024, "Lemma C.1", "`w_Q^2(t) - w_K^2(t) = w_Q^2(0) - w_K^2(0)`")
            ),
        ),
        _quantity(
            "others",
            r"\dim\{Q : \dot Q = 0\} - 1",
            "number of conserved polynomials of degree 2 or less in `(w_Q, w_K, h)` beside `w_Q^2 - w_K^2`",
            "a count",
        ),
        _quantity(
            "rate",
            r"\dot w / \dot w_Q",
            _RATIO,
            "a ratio",
            printed=Printed(sp.Integer(1), Citation(WANG2024, "Appendix C.2", "`dw/dt` after (22)")),
            erratum=RATE_OF_W,
            finding=f"{_RATIO} is {{found}}; it would be {{printed}} if they agreed",
        ),
    ),
    notation=NOTATION,
    formulas=FORMULAS,
    remarks=("The factor in the rate of `w` changes leading constants.",),
)
