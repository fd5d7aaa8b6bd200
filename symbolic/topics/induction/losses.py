"""What Appendix C of wang2024 states of the losses of training stage II, with the closed forms that are derived."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from types import MappingProxyType
from typing import Any

import sympy as sp

from symbolic.derivations.provenance import Provenance
from symbolic.statements.result import Hypothesis, Kind, Parameter, Printed, Quantifier, Quantity, Result
from symbolic.topics.induction import objects
from symbolic.topics.induction.losses_derivation import (
    AS_NEEDED,
    AS_PRINTED,
    UPPER_END,
    a,
    derive_gaussian,
    derive_gram,
    derive_head,
    derive_softmax_head,
    derive_squares,
)
from symbolic.topics.induction.setting import HYPOTHESES, PARAMETERS
from symbolic.topics.induction.training import (
    LOSS_GRAM,
    LOSS_HEAD,
    NOTATION,
    OPTIMA,
    M,
    g,
    h,
    h_star,
    p,
    psi,
    v,
    v_star,
    w,
    w_star,
)
from symbolic.words.citations import WANG2024, Citation

IN_PARAMETERS = {v: w**2, **OPTIMA}

_EXPECTATION = "mean over independent standard normal tokens"
_TO_THE_LAST = "the network's sum is over `s = 2 .. L-1`, as in Lemma D.4"
_FINITE = "`4 w^4 < 1`, `4 w*^4 < 1`"


# In expectation over the tokens.
_quantity = partial(
    Quantity,
    norm=_EXPECTATION,
    kind=Kind.EXACT,
    quantifier=Quantifier.EXPECTATION,
    randomness="`x_1 .. x_L`",
    scopes=(),
    obtained=Provenance.ALGEBRA,
)


def _in_parameters(derive: Callable[..., sp.Expr], *sums: Any) -> Callable[[], sp.Expr]:
    return lambda: derive(*sums).subs(IN_PARAMETERS)


def _early(
    name: str,
    latex: str,
    meaning: str,
    of: Quantity,
    derive: Callable[..., sp.Expr],
    remark: str,
    at: Mapping[sp.Symbol, sp.Expr] = MappingProxyType({}),
) -> Quantity:
    """The same printed loss, set beside the network whose sums end at L-2; `at` these weights."""
    words = f"{meaning}, network with sums to `s = L-2`, as (10) prints them"
    assert of.printed is not None  # of those that are set beside it
    there = {letter: value.subs(OPTIMA) for letter, value in at.items()}
    printed = replace(of.printed, bound=of.printed.bound.subs(there))
    finding = f"{words}, is {{found}}; by {printed.citation.equations}: {{printed}}"
    return replace(
        of,
        name=name,
        latex_symbol=latex,
        meaning=words,
        derive=_in_parameters(lambda: _at(derive(AS_PRINTED), at)),
        printed=printed,
        remark=remark,
        erratum=UPPER_END,
        finding=finding,
    )


def _at(loss: sp.Expr, weights: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr:
    """The loss at these weights, if there are any."""
    return sp.factor(loss.subs(weights)) if weights else loss


def _order(name: str, of: str) -> Quantity:
    meaning = f"order in `1/(L-2)` of {of}"
    return _quantity(name, r"\mathcal{L}_{IH_2}", meaning, domain=_FINITE, kind=Kind.RATE)


def _quantities() -> tuple[Quantity, ...]:
    gram_loss = _quantity(
        "gram",
        r"\mathcal{L}_{G_4}",
        "loss of the 4-gram head",
        domain="`L >= 5`, `p > 0`",
        derive=_in_parameters(derive_gram, AS_NEEDED),
        printed=Printed(LOSS_GRAM.subs(IN_PARAMETERS), Citation(WANG2024, "Appendix C.1", "(19)")),
        remark=_TO_THE_LAST,
    )
    head_loss = _quantity(
        "head",
        r"\mathcal{L}_{IH_2}",
        "loss of the induction head, exp / (`L-2`) in the place of softmax",
        domain=_FINITE,
        derive=_in_parameters(derive_head, AS_NEEDED),
        printed=Printed(LOSS_HEAD.subs(v, w**2).subs(OPTIMA), Citation(WANG2024, "Appendix C.2", "(22)")),
        remark=_TO_THE_LAST,
    )
    gaussian = _quantity(
        "gaussian",
        r"\mathbb{E}\, e^{aXY} Z^2",
        "the Gaussian mean of Lemma D.3",
        domain="`|a| < 1`",
        derive=_in_parameters(derive_gaussian),
        printed=Printed(psi(a), Citation(WANG2024, "Lemma D.3")),
        randomness="`X`, `Y`, `Z`",
        norm="mean over `X`, `Y`, `Z`",
        remark="`a < 1` is read as `|a| < 1`, where `(1 - a^2)^(-1/2)` is real; each use has `0 < a < 1`",
    )
    return (
        gram_loss,
        _early("gram.as_printed", r"\mathcal{L}_{G_4}^{s \le L-2}", gram_loss.meaning, gram_loss, derive_gram, ""),
        head_loss,
        _early(
            "head.as_printed",
            r"\mathcal{L}_{IH_2}^{s \le L-2}",
            head_loss.meaning,
            head_loss,
            derive_head,
            "the terms in `h^2` and `h` have `L-3` of `L-2` summands, a relative difference of order `1/(L-2)`",
        ),
        _early(
            "head.optimum",
            r"\mathcal{L}_{IH_2}^{s \le L-2}(w^\star, h^\star)",
            "loss of the induction head at `w = w*`, `h = h*`",
            head_loss,
            derive_head,
            "(22) is 0 there; the network lacks the target's last term: `h*^2 psi(2 w*^2) / (2 (L-2)^2)`",
            at={v: v_star, w: w_star, h: h_star},
        ),
        _order("head.as_printed.order", "the relative difference of the losses of the two sums"),
        _quantity(
            "head.softmax",
            r"\mathcal{L}_{IH_2}^{\mathrm{softmax}}",
            "loss of the induction head with softmax as it is, to first order in `1/L`",
            domain="`2 w^4 < 1`, `2 w*^4 < 1`, as `L -> oo`",
            derive=_in_parameters(derive_softmax_head),
            kind=Kind.RATE,
            obtained=Provenance.HAND,
            remark="the error is of order `1/L^2` where `6 w^4 < 1` and `6 w*^4 < 1` (argued, and measured); (22) "
            "replaces softmax by exp / (`L-2`), which changes the constants of the first order too: "
            "`(1 - 2 w^2 w*^2)^(-1/2)` for `(1 - (w^2 + w*^2)^2)^(-1/2)`; the paper calls (22) an "
            "approximation without an error bound, so that it is not judged",
        ),
        _order("head.softmax.order", "the error of the first order for the true softmax's loss"),
        _order("head.softmax.order[(22)]", "the error of (22) for the true softmax's loss"),
        gaussian,
        replace(
            gaussian,
            name="gaussian.beyond",
            meaning="the Gaussian mean of Lemma D.3 outside the range `|a| < 1`",
            domain="`a <= -1`",
            derive=None,
            outside=True,
            remark="for `a <= -1` the mean is infinite and `(1 - a^2)^(-1/2)` is not a finite real number",
        ),
        _quantity(
            "squares",
            r"\sum_s \mathrm{softmax}^2(-p(L-1-s))",
            "sum of the squared weights of the 4-gram head",
            domain="`L >= 3`, `p > 0`",
            derive=_in_parameters(derive_squares),
            printed=Printed(M(2 * p) / M(p) ** 2, Citation(WANG2024, "Lemma D.4")),
            norm="a sum",
            quantifier=Quantifier.FOR_ALL,
            randomness="",
        ),
    )


LOSSES = Result(
    id="induction.losses",
    title="The losses of the 4-gram head and of the induction head in closed form",
    citation=Citation(WANG2024, "Appendix C", "(19), (22), Lemmas D.3, D.4"),
    claim=r"\mathcal{L} = \mathcal{L}_{G_4}(p, g) + \mathcal{L}_{IH_2}(w, h)",
    parameters=(
        *PARAMETERS.values(),
        Parameter("p", p, "slope of the relative position bias of the 4-gram head", 1.0),
        Parameter("g", g, "value weight of the 4-gram head", 0.4),
        Parameter("w", w, "`w_Q = w_K` of the induction head", 0.3),
        Parameter("h", h, "value weight of the induction head", 0.4),
    ),
    hypotheses=(
        *HYPOTHESES,
        Hypothesis("p", sp.Gt(p, 0, evaluate=False), "`M(p)` is printed as a quotient by `1 - e^-p`"),
        Hypothesis("g", sp.Gt(g, 0, evaluate=False), "the flow keeps it so"),
        Hypothesis("w", sp.Gt(w, 0, evaluate=False), "the flow keeps it so"),
        Hypothesis("w", sp.Lt(4 * w**4, 1, evaluate=False), "Lemma D.3 at `a = 2 w^2` needs `|a| < 1`"),
        Hypothesis("h", sp.Gt(h, 0, evaluate=False), "the flow keeps it so"),
    ),
    objects=objects.LOSSES,
    quantities=_quantities(),
    notation=NOTATION,
    symbols={a: "coefficient of the product in Lemma D.3"},
)


@cache
def is_derived(name: str) -> bool:
    """Whether the printed form of a quantity is the derived one, everywhere; none with an erratum is."""
    quantity = LOSSES.quantity(name)
    if quantity.printed is None or quantity.erratum is not None:
        return False
    return sp.simplify(quantity.printed.bound - quantity.closed_form) == 0
