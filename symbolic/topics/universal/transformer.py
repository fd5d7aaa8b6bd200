"""Lemma 4 (li2025) as a statement: printed and derived residuals of a block, errors after T blocks, and an erratum."""

from functools import partial

import sympy as sp

from symbolic.derivations.derivation import Approximated
from symbolic.derivations.provenance import Provenance
from symbolic.statements.errata import Erratum, Weight
from symbolic.statements.result import (
    CONSTRUCTION,
    Hypothesis,
    Kind,
    Order,
    Parameter,
    Printed,
    Quantifier,
    Quantity,
    Result,
)
from symbolic.topics.universal import objects
from symbolic.topics.universal.transformer_derivation import (
    LARGEST_NORM,
    PRINTED_ACCURACY,
    PRINTED_TAU,
    B,
    L,
    N,
    P,
    R,
    S,
    bits,
    bits_of_printed_tau,
    blocks,
    d,
    derive_printed_y_residual,
    derive_step,
    derive_y_hat,
    derive_y_residual,
    eta,
    lam,
    largest_iterate,
    largest_score,
    logistic_error,
    n,
    rounding_1,
    tau_1,
    tau_2,
    tau_ff,
)
from symbolic.words.citations import LI2025, Citation

c = sp.Symbol("c", positive=True)  # of the paper's <~
C_F, sigma, rho, y_hat = sp.symbols("C_F sigma rho y_hat", positive=True)
NOTATION = {lam: r"\bar\lambda", tau_1: r"\tau_1", tau_2: r"\tau_2", tau_ff: r"\tau_{\mathsf{ff}}"}
SYMBOLS = {
    R: "largest 1-norm of the exact iterates",
    S: "largest `|phi_i^T rho|` over the iterates of the network and the exact ones",
    c: "unspecified in the paper: the constant of its `<~`",
}
WORST = {R: LARGEST_NORM, S: largest_score(LARGEST_NORM)}
_STATE = "`||x_i||_2 <= 1`, `|y_i| <= B`, `||rho||_1 <= P`"
_PATH = "`||x_i||_2 <= 1`, `|y_i| <= B`, from `rho = 0`"
_SIZES = "by rules, but for two sizes by hand: `|phi_i^T rho| <= ||rho||_1`, and `||rho_t||_1 <= R`"
PRINTED_Y_RESIDUAL = 2 * P**2 / tau_2

FACTOR = Erratum(
    Weight.DEFINITION,
    Citation(LI2025, "Appendix A.4.3", "`V` of Attn2, eq. (124)"),
    sentence="`V` of Attn2 has the row `4 tau (u_{d+1} - u_{d+3})^T`, with which the layer realises (124), of residual "
    "(125)",
    reading="attention (11) divides by `N`, from which Attn1 has its `2/N`, and the query alone has `w = 0`; so "
    "`y_hat` tends to `phi_{N+1}^T rho / N` as `tau` grows, and head 3 of Attn1 takes back only the N-th "
    "part of the query's term",
    repair="`4 tau N` in `V` of Attn2: (124) holds, with `|e~| <= |phi_{N+1}^T rho|^3/(12 tau^2)`",
    survives="yes: with the factor `N`; no other weight changes, and (125) holds",
)


def _quantity(name: str, latex: str, meaning: str, value: Approximated | None, **more: object) -> Quantity:
    """Of the step of that name, where a value is given, or one that follows from it."""
    bound = {} if value is None else {"derivation": value.derivation, "step": name, "worst_case": {}}
    fields = {
        "norm": "absolute value", "domain": _STATE, "kind": Kind.UPPER, "quantifier": Quantifier.FOR_ALL,
        "scopes": () if value is None else ("network",), **bound, **more,
    }  # fmt: skip
    return Quantity(name, latex, meaning, **fields)  # type: ignore[arg-type]  # typed above


def _printed_residual() -> sp.Expr:
    """(120) for |y_i| <= B, |phi_i^T rho| and |y_hat| <= P, with (125)."""
    squares = B**2 + (N + 1) * P**2 / N + P**2 / N
    return 4 * eta**2 / tau_1 * squares + 2 * eta / N * PRINTED_Y_RESIDUAL


HEADS = sp.Integer(4)  # (118): three heads of Attn1, and the one that takes back sigma(0)
_LEMMA_4 = Citation(LI2025, "Lemma 4", "eq. (50), Figure 1")
_count = partial(
    Quantity, norm="count", domain=CONSTRUCTION, quantifier=Quantifier.EXISTS, scopes=(), obtained=Provenance.HAND
)
# x, y and w take d + 2 coordinates, the 1 behind x one, phi and rho n + 1 each, lambda and y_hat two: d + 2n + 7.
SIZES = (
    _count("width", r"\text{width}", "number of coordinates of a token", kind=Kind.EXACT, derive=lambda: d + 2 * n + 7,
           printed=Printed(d + 2 * n + 7, _LEMMA_4)),
    _count("layers", r"\text{layers}", "number of layers, of attention and feed-forward each", kind=Kind.EXACT,
           derive=lambda: L, printed=Printed(L, _LEMMA_4)),
    _count("heads", r"\text{heads}", "largest number of heads of a layer", kind=Kind.UPPER, derive=lambda: HEADS,
           printed=Printed(sp.S.One, _LEMMA_4, order=Order.O)),
)  # fmt: skip


def _quantities() -> tuple[Quantity, ...]:
    step, own, predicted = derive_step(), derive_y_residual(), derive_y_hat()
    labels = C_F**2 + sigma**2
    squares_127 = labels + rho**2 + y_hat**2
    in_128 = c * (eta**2 / tau_1 * (labels + rho**2 + rho**4 / tau_1**2) + eta * rho**2 / (N * tau_1))
    of_tau, p = c * PRINTED_TAU, sp.Symbol("p", integer=True, positive=True)
    rounding = rounding_1(sp.Symbol("tau", positive=True)).subs(bits, p)
    return (
        _quantity(
            "logistic", r"|z - 4\tau_2(\sigma(z/\tau_2) - \sigma(0))|",
            "largest error of the logistic function",
            None, printed=Printed(2 * P**2 / tau_2, Citation(LI2025, "Appendix A.4.3", "eq. (119)")),
            derive=lambda: logistic_error(P, tau_2), obtained=Provenance.HAND, domain="`|z| <= P`",
        ),
        _quantity(
            "residual", r"\|e^{(l)}\|_\infty", "residual of Attn1", step, norm="sup norm",
            trivial=2 * eta * (B + P),
            printed=Printed(_printed_residual(), Citation(LI2025, "Appendix A.4.3", "eq. (120)")),
            remark="(120) at the largest `|y_i|`, `|phi_i^T rho|` and `|y_hat|`, and (125)",
        ),
        _quantity(
            "step", r"\|e_t\|_\infty", "residual of one block", step, norm="sup norm",
            trivial=2 * eta * (B + P),
            printed=Printed(
                c * (eta**2 / tau_1 * (2 * B**2 + 2 * P**2 + P**4 / tau_1**2) + eta * P**2 / (N * tau_1)),
                Citation(LI2025, "Appendix A.4.4", "eq. (127), (128)"), in_letters=in_128, unspecified=(c,),
            ),
            remark="(127) is (128) with `y_hat` and its error kept: `"
            + sp.sstr(eta**2 / tau_1 * squares_127) + " + eta/N |y_hat - phi^T rho|`",
        ),
        _quantity(
            "y_residual", r"|\tilde e|", "residual of Attn2", own, trivial=P,
            printed=Printed(PRINTED_Y_RESIDUAL, Citation(LI2025, "Appendix A.4.3", "eq. (125)")),
        ),
        _quantity(
            "y_residual.printed", r"|\tilde e^{\text{printed}}|", "residual of Attn2 with its printed `V`",
            derive_printed_y_residual(), trivial=P, construction="printed", erratum=FACTOR,
            printed=Printed(PRINTED_Y_RESIDUAL, Citation(LI2025, "Appendix A.4.3", "eq. (125)")),
        ),
        _quantity(
            "rho", r"\|\rho^{(L)} - \rho_T\|_1",
            "coefficients after `T` blocks against those after `T` exact steps", predicted,
            norm="1-norm", domain=_PATH, worst_case=WORST, trivial=B**2 / lam, obtained=Provenance.HAND, remark=_SIZES,
        ),
        _quantity(
            "y_hat", r"|\hat y^{(L)} - \phi_{N+1}^\top \rho_T|", "prediction after `T` blocks against `T` exact steps",
            predicted, domain=_PATH, worst_case=WORST, trivial=B**2 / lam, obtained=Provenance.HAND,
            remark=_SIZES,
        ),
        _quantity(
            "norm", r"\max_t \|\rho^{(2t+1)}\|_1", "largest 1-norm of the coefficients after a block", None,
            norm="1-norm", domain=_PATH, derive=largest_iterate, obtained=Provenance.HAND,
            printed=Printed(c * n * sp.sqrt(N) * B, Citation(LI2025, "Lemma 7", "eq. (131)"),
                            unspecified=(c,)),
            remark="printed with `C_F = B`; for `lambda >= sqrt(log N/N) B` the first term, `B^2/lambda`, is at most "
            "`sqrt(N/log N) B`, without the factor `n`",
        ),
        _quantity(
            "tau.bits", "p", "number of bits with which the rounding of a block, taken to be "
            f"`{objects.typed(rounding)}` in each of `n + 1` coefficients, is at most "
            f"`{objects.typed(PRINTED_ACCURACY)}` in all",
            None, kind=Kind.LOWER, suffices=True, derive=bits_of_printed_tau,
            obtained=Provenance.HAND, norm="count", domain="the temperature `tau` of Lemma 7",
            remark=f"a model of the arithmetic; the accuracy is (58b); `tau = {sp.sstr(of_tau)}`, `C_F = B` and `c = "
                f"1`",
        ),
    )  # fmt: skip


TRANSFORMER = Result(
    id="universal.transformer",
    title="A transformer runs proximal gradient for the Lasso",
    citation=Citation(LI2025, "Lemma 4", "Appendix A.4, eq. (106)-(128)"),
    claim=r"\begin{gathered} \rho^{(2t+1)} = \mathsf{ST}_{\eta\lambda}\Big(\rho^{(2t-1)} + \frac{2\eta}{N} "
    r"\sum_{i=1}^N (y_i - \phi_i^\top \rho^{(2t-1)}) \phi_i\Big) + e_t, \\ "
    r"\hat y^{(2t+1)} = \phi_{N+1}^\top \rho^{(2t+1)} + \tilde e \end{gathered}",
    parameters=(
        Parameter("N", N, "number of examples", 8, integer=True),
        Parameter("n", n, "number of features", 4, integer=True),
        Parameter("d", d, "dimension of `x`", 2, integer=True, in_words="dimension of the inputs"),
        Parameter(
            "L",
            L,
            "number of attention layers, `2T + 1` for `T` blocks",
            5,
            integer=True,
            in_words="number of attention layers, two a block and one more",
        ),
        Parameter("lam", lam, "weight of the 1-norm in the Lasso", 0.2),
        Parameter("B", B, "bound on the labels", 1.0),
        Parameter("P", P, "bound on the 1-norm of the state from which a block starts", 1.0),
        Parameter("tau_ff", tau_ff, "slope of the ramps", 8.0),
        Parameter(
            "bits", bits, "bits of the format for which `tau_1` and `tau_2` are chosen", 53, integer=True, setting=True
        ),
        Parameter(
            "tau_1",
            tau_1,
            "temperature of Attn1 (from `B`, `n`, `N` and bits, if it is not given)",
            1.0,
            in_words="temperature of the first attention of a block",
        ),
        Parameter(
            "tau_2",
            tau_2,
            "temperature of Attn2 (likewise)",
            1.0,
            in_words="temperature of the second attention of a block",
        ),
    ),
    hypotheses=(
        Hypothesis("N", sp.Ge(N, 1, evaluate=False), "a prompt has an example"),
        Hypothesis("n", sp.Ge(n, 1, evaluate=False), "a feature"),
        Hypothesis("d", sp.Ge(d, 1, evaluate=False), "a dimension"),
        Hypothesis("L", sp.Eq(blocks, sp.floor(blocks)), "`L = 2T + 1`: Attn0 FF0 and `T` blocks of two layers"),
        Hypothesis("L", sp.Ge(L, 3, evaluate=False), "a block"),
        *(Hypothesis(x.name, sp.Gt(x, 0, evaluate=False), "it is positive") for x in (lam, B, P, tau_ff, tau_1, tau_2)),
        Hypothesis("bits", sp.Ge(bits, 2, evaluate=False), "a format"),
    ),
    objects={
        **objects.TRANSFORMER,
        r"\tau": f"`{objects.typed(PRINTED_TAU)}`, the temperature of Lemma 7 with all constants 1",
    },
    quantities=(*_quantities(), *SIZES),
    notation=NOTATION,
    symbols=SYMBOLS,
    remarks=(
        "In (11) the token `i` of the sum is weighted by `sigma((Q h_i)^T K h_j)`.",
        "The text received lacks the fourth head of Attn1; (118) leaves `V_4 = -V_1`, `Q_4 = K_4 = 0`.",
        "`|z_i| <~ sigma`, used after (120), fails for the largest of `N` sub-Gaussian numbers; (120) needs only the "
        "mean of their squares.",
    ),
)
