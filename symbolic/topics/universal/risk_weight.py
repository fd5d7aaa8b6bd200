"""(58a) to (65) (li2025): the printed weight of the 1-norm and accuracy, each with constants 1, and what they cost."""

import sympy as sp

from symbolic.derivations.provenance import Provenance
from symbolic.statements.landau import Constant
from symbolic.statements.result import Kind, Order, Printed, Quantifier, Quantity
from symbolic.topics.universal import objects
from symbolic.topics.universal.features import covered, eps, mass, members
from symbolic.topics.universal.lasso import eps_dis, sigma
from symbolic.topics.universal.risk_derivation import constant, derive_features
from symbolic.topics.universal.transformer_derivation import L, N, n
from symbolic.words.citations import LI2025, Citation

C_F, cover, c = sp.symbols("C_F cover c", positive=True)  # the paper's letters; the constant of its <~
RATE = sp.sqrt(sp.log(N) / N)

ACCURACY = RATE * C_F * (sigma + C_F) + eps_dis**2 + n * C_F**2 / L  # (58c)


def weight(accuracy: sp.Expr) -> sp.Expr:
    """(58a)."""
    return sp.cbrt(RATE / C_F) * accuracy ** sp.Rational(2, 3) + RATE * (C_F + sigma) + eps_dis**2 / C_F


WEIGHT = weight(ACCURACY)
COST = WEIGHT * C_F
NOISE_TERM = RATE * ACCURACY**2 / WEIGHT**2  # of (61), with eps_opt = (58c), as (60) has it

# Let u = RATE C_F^2 / ACCURACY, which is in [0, 1]. The first term of COST is u^(1/3) ACCURACY, where (64) has the
# larger (u/3 + 2/3) ACCURACY; the others are at least u ACCURACY, and at most ACCURACY. So
#   (u^(1/3) + u) ACCURACY <= COST <= (u^(1/3) + 1) ACCURACY <= 2 ACCURACY,
# with equality for sigma = eps_dis = 0 and n/L -> 0: u -> 1. Hence
#   NOISE_TERM / ACCURACY = u (ACCURACY / COST)^2 <= 1 / (u^(-1/6) + u^(1/2))^2,
# least in the bracket at u = 3^(-3/2), where it is 4/3 3^(1/4): equality there, for sigma = eps_dis = 0.
OF_COST = sp.Integer(2)
OF_NOISE_TERM = 3 * sp.sqrt(3) / 16


def at_row(formula: sp.Expr) -> sp.Expr:
    """In the letters of the result; eps_dis is the error of the features."""
    return formula.xreplace({C_F: constant, eps_dis: derive_features().error})


def _quantity(name: str, latex: str, meaning: str, factor: sp.Expr, equation: str) -> Quantity:
    return Quantity(
        name, latex, meaning, "absolute value", "every prompt", Kind.UPPER,
        Quantifier.FOR_ALL, scopes=(), derive=lambda: at_row(factor * ACCURACY), obtained=Provenance.HAND,
        printed=Printed(at_row(ACCURACY), Citation(LI2025, "Section 4", equation), order=Order.O, in_letters=ACCURACY),
    )  # fmt: skip


# (30) for eps_dis, as (63) has it.
_DIS = C_F**2 * eps + C_F**2 * sp.log(cover) / n
_GAP = c * (RATE * C_F * (sigma + C_F) + eps_dis**2 + n * C_F**2 / L)
PRINTED_GAP = Printed(
    _GAP.xreplace({eps_dis: sp.sqrt(_DIS)}).xreplace({C_F: constant, cover: covered()}),
    Citation(LI2025, "Lemma 4", "eq. (59a), (60)"), in_letters=_GAP, unspecified=(c,),
)  # fmt: skip

QUANTITIES = (
    _quantity("weight", r"\lambda_{\mathrm{p}} C_F", "cost of the printed weight of the 1-norm", OF_COST,
              "eq. (58a), (62) to (64)"),
    _quantity("weight.noise", r"\sqrt{\log N/N}\, \lambda_{\mathrm{p}}^{-2} \hat\varepsilon^2",
              "last term of (61) with the printed weight", OF_NOISE_TERM, "eq. (60), (61), (65)"),
)  # fmt: skip

_of_class = derive_features().error.xreplace({mass: sp.Symbol("G"), members: sp.Symbol("M")})
OBJECTS = {
    r"\lambda_{\mathrm{p}}": "the printed weight (58a) with all constants 1, "
    f"`{objects.typed(weight(sp.Symbol('eps_hat')))}`",
    r"\hat\varepsilon": f"the accuracy of (58) with all constants 1, `{objects.typed(ACCURACY)}`",
    r"\varepsilon_{\mathrm{dis}}": f"the bound derived for the error of Lemma 1, `{objects.typed(_of_class)}`, where "
    "`G` is `C_F - sup |f(0)|` and `M` is the number of functions of the class",
}
CONSTANTS = {"weight": Constant(OF_COST, True, {}), "weight.noise": Constant(OF_NOISE_TERM, True, {})}
FORMULAS = {"weight": COST, "weight.noise": NOISE_TERM}
