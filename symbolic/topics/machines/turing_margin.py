r"""The margin of the transformer of Appendix C (Theorem 4.1 and the end of Appendix C; Wei, Chen, Ma 2021).

Every layer of the construction is of one of a few kinds, whose norms and sizes are closed forms in Z = |Z| (the added
start state included), A = |A| and w_pos. A perturbation of all parameters by rho is safe while, in each kind of layer,
the score gaps survive and the raw output stays within 1/3 of its bits: rho enters through `perturbed_attention`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, partial

import sympy as sp

from symbolic.derivations.provenance import Provenance
from symbolic.statements.errata import Erratum, Weight
from symbolic.statements.result import (
    Formula,
    Hypothesis,
    Kind,
    Order,
    Parameter,
    Printed,
    Quantifier,
    Quantity,
    Result,
)
from symbolic.topics.machines import objects
from symbolic.topics.machines import perturbed_attention as attention
from symbolic.topics.machines import perturbed_layers as layers
from symbolic.topics.machines.perturbed_attention import ENCODER, NONE, SELF
from symbolic.topics.machines.turing import MACHINES, TAPE
from symbolic.words.citations import WEI2021, Citation

THEOREM = Citation(WEI2021, "Theorem 4.1, Appendix C")
PROOF = Citation(WEI2021, "Theorem 4.1", "its proof")
Z = sp.Symbol("Z", integer=True, positive=True)
A = sp.Symbol("A", integer=True, positive=True)
w = sp.Symbol("w_pos", integer=True, positive=True)
T = sp.Symbol("T", integer=True, positive=True)
terminal = sp.Symbol("Z_term", integer=True, positive=True)
poly = sp.Function("poly")  # a polynomial that the paper does not specify


@dataclass(frozen=True)
class LayerKind:
    """Layers of one lemma: upper bounds of `size`^2, `attended`^2 and ||W_1||^2, and the attention it uses.

    `signs` counts the +-1 coordinates of a key; the null key is one less, on a coordinate of its own (Claims C.4-C.7).
    """

    name: str
    lemma: str
    ones: sp.Expr
    attended: sp.Expr
    norm: sp.Expr
    works: str = NONE
    signs: sp.Expr = sp.S.Zero
    value: sp.Expr = sp.S.Zero

    @property
    def values(self) -> dict[sp.Symbol, sp.Expr]:
        """The closed forms of every symbol in this kind's bounds."""
        return {
            layers.size: sp.sqrt(self.ones),
            attention.attended: sp.sqrt(self.attended),
            layers.norm_1: sp.sqrt(self.norm),
            layers.sigma_zeta: layers.ROUNDING_RADIUS,
            attention.encoder_size: sp.sqrt(w + 1),
            attention.query_norm: sp.Integer(2),
            attention.key_norm: sp.Integer(2),
            attention.value_norm: self.value,
            attention.query_size: sp.sqrt(self.signs + 1),
            attention.key_size: sp.sqrt(self.signs),
            attention.null_size: self.signs - 1,
        }

    @property
    def conditions(self) -> dict[str, tuple[sp.Expr, sp.Expr]]:
        """Name to (bound in rho and the symbols of `values`, the limit it has to stay below)."""
        output = {f"output of {self.name}": (attention.layer_output(self.works).error, layers.ROUNDING_RADIUS)}
        if self.works == NONE:
            return output
        return {f"score gaps of {self.name}": (attention.gap_change(self.works).error, sp.Integer(1)), **output}


# Ones of the stream: one for each one-hot (st, sym1 or sym2, scr1, scr2), at most w for each position (pos1, pos2,
# pos3, scr3), single bits. ||W_1||^2 <= largest row sum times largest column sum of |W_1| (Schur); for `pair` exactly:
# rows st_z + sym1_a have the Gram matrix [[A I, J], [J^T, Z I]], whose largest eigenvalue is Z + A.
KINDS: tuple[LayerKind, ...] = (
    LayerKind("pair", "Lemma C.1", ones=2 * w + 2, attended=2 * w + 2, norm=Z + A),
    LayerKind("transition", "Lemma C.1", ones=2 * w + 1, attended=2 * w + 1, norm=3 * Z * A),
    LayerKind("subtract", "Lemma C.2", ones=3 * w + 5, attended=3 * w + 5, norm=sp.Integer(6)),
    LayerKind("add", "Lemma C.2", ones=3 * w + 5, attended=3 * w + 5, norm=sp.Integer(8)),
    LayerKind("place", "Lemma C.2", ones=3 * w + 5, attended=3 * w + 5, norm=sp.Integer(3)),
    LayerKind("found", "Claim C.4", ones=3 * w + 2, attended=3 * w + 3, norm=sp.Integer(1), works=SELF, signs=w),
    LayerKind("search", "Claim C.5", ones=4 * w + 3, attended=4 * w + 4, norm=sp.Integer(2), works=SELF, signs=2 * w),
    LayerKind(
        "read", "Claim C.6", ones=4 * w + 3, attended=4 * w + 4, norm=sp.Integer(1), works=SELF, signs=2 * w,
        value=sp.Integer(1),
    ),
    LayerKind(
        "from_input", "Lemma C.7", ones=3 * w + 4, attended=3 * w + 6, norm=sp.Integer(1), works=ENCODER, signs=w,
        value=sp.Integer(1),
    ),
    LayerKind("which", "Lemma C.8", ones=3 * w + 6, attended=3 * w + 6, norm=sp.Integer(6)),
    LayerKind("masked", "Lemma C.8", ones=w + 4, attended=w + 4, norm=2 * A),
    LayerKind("symbol", "Lemma C.8", ones=w + 3, attended=w + 3, norm=sp.Integer(3)),
)  # fmt: skip

CLASSIFIER_VALUES: Mapping[sp.Symbol, sp.Expr] = {
    layers.size: sp.sqrt(w + 2),
    layers.sigma_zeta: layers.ROUNDING_RADIUS,
    attention.classifier_norm: sp.sqrt(terminal),
}


def kind_of(name: str) -> LayerKind:
    """The kind of a layer called `pair`, `subtract[3]`, `search[1]`, ..."""
    return next(kind for kind in KINDS if kind.name == name.partition("[")[0])


def positions(steps: sp.Expr) -> sp.Expr:
    """w_pos of the repaired construction on a one-way tape: bits for the largest position, steps + 1."""
    return sp.floor(sp.log(steps + 1, 2)) + 1


# As rho -> 0 each bound is rho times a slope: for large w_pos the margin is asymptotic to the least of limit / slope.
@cache
def leading_margin() -> sp.Expr:
    """c w_pos^e, to which the derived bound is asymptotic as w_pos grows and Z, A stay."""
    terms = [_leading(limit / bound, kind) for kind in KINDS for bound, limit in kind.conditions.values()]
    least = min(exponent for _, exponent in terms)
    return sp.Min(*(factor for factor, exponent in terms if exponent == least)) * w**least


def _leading(margin_over: sp.Expr, kind: LayerKind) -> tuple[sp.Expr, sp.Expr]:
    """(c, e) of the leading term c w_pos^e of rho * limit / bound at rho = 0."""
    inverse_root = sp.Symbol("s", positive=True)  # w_pos = 1 / s^2
    at_rest = sp.expand((margin_over * layers.rho).subs(layers.rho, 0) ** -2)
    values = {symbol: _in_inverse_root(sp.sympify(value), inverse_root) for symbol, value in kind.values.items()}
    factor, power = at_rest.subs(values).as_leading_term(inverse_root).as_coeff_exponent(inverse_root)
    return sp.simplify(1 / sp.sqrt(factor)), power / 4


# A value is sqrt(c w + d) or c w + d: with s^4 drawn out of its square there is nothing to be cancelled in the limit.
def _in_inverse_root(value: sp.Expr, s: sp.Symbol) -> sp.Expr:
    """A value that is not negative, at w_pos = 1 / s^2."""
    if not value.has(w):
        return value
    return sp.sqrt(sp.expand((value**2).subs(w, s**-2) * s**4)) / s**2


@cache
def exponent() -> sp.Expr:
    """The power of w_pos with which the derived bound falls."""
    power: sp.Expr = leading_margin().as_coeff_exponent(w)[1]
    return power


FEW, MANY = 8, 4096  # steps of `decay`

LIPSCHITZ = Erratum(
    Weight.PROOF,
    Citation(WEI2021, "Theorem 4.1", "end of its proof, Condition D.3 with Definition D.2"),
    sentence="layers that attend have a polynomial Lipschitz constant in their input at perturbed parameters, since "
    "ties occur only between equal values and small perturbations do not change the attended positions",
    reading="hard max averages over ties, by its definition in Section 4.1; in Claim C.4 all earlier visits of a "
    "location tie; perturbed parameters give them different values, and an arbitrarily small change of the input "
    "breaks the tie; the outputs differ by almost as much for inputs at distance 1e-08 as at 1e-06, so that no "
    "Lipschitz constant exists",
    repair="a bound of `||f(h_hat, theta_hat) - f(h, theta)||` in both perturbations at once, which is all that "
    "Lemma D.8 needs",
    survives="yes: the errors in the conditions of the margin are `rho` times at most a polynomial in "
    "`|Z|`, `|A|` and `w_pos` for `rho <= 1`, so that `rho = 1/poly(k, |A|, log T)` meets them without "
    "Definition D.2",
)

_quantity = partial(Quantity, quantifier=Quantifier.FOR_ALL, scopes=())
_SLOPE = _quantity(
    name="attack.slope",
    latex_symbol=r"d \log \rho / d \log T",
    meaning="fitted slope in `log T` of the attacked margin of the construction of Appendix C",
    norm="exponent",
    domain="one machine, inputs of growing length",
    kind=Kind.RATE,
    quantifier=Quantifier.EXISTS,
)

_QUANTITIES = (
    _quantity(
        name="margin",
        latex_symbol=r"\rho_F",
        meaning="smallest 2-norm of a perturbation of all parameters that flips the prediction at this input",
        norm="2-norm, over all parameters, shared over the steps",
        domain=(
            "derived: every input and machine with these `Z`, A, `T`, `Z_term` and kind of tape; instance: this input"
        ),
        domain_latex=r"every input of at most $T$ symbols of every machine with these $|\mathcal{Z}|$ and "
        r"$|\mathcal{A}|$, $T \ge 2$",
        kind=Kind.LOWER,
        printed=Printed(1 / poly(Z, A, sp.log(T)), THEOREM, order=Order.OMEGA, unspecified=(poly,)),
        obtained=Provenance.HAND,
        remark="no closed form: the largest `rho` that meets the conditions below at this `w_pos`, which a "
        "two-way tape of `2 T + 1` cells increases by at most 1; the number `Z_term` of terminal states "
        "enters through the classifier",
    ),
    _quantity(
        name="exponent",
        latex_symbol="e",
        meaning="power of `w_pos = O(log T)` with which the derived bound falls",
        norm="exponent",
        domain="`w_pos -> oo`, `Z` and A fixed",
        kind=Kind.RATE,
        derive=exponent,
        outside=True,
        remark="decided by the null key, of size `2 w_pos - 1`; the printed `1/poly` leaves the power open",
    ),
    _quantity(
        name="decay",
        latex_symbol=rf"\rho({MANY}) / \rho({FEW})",
        meaning=f"derived bound for {MANY} steps over that for {FEW} steps",
        norm="a ratio of margins",
        domain="this machine's `Z` and A",
        kind=Kind.EXACT,
        outside=True,
        obtained=Provenance.HAND,
        remark=f"for comparison: `1/T` gives {sp.Rational(FEW, MANY)}",
    ),
    _quantity(
        name="lipschitz",
        latex_symbol=r"\mu",
        meaning="Lipschitz constant in `h` of a hard-max layer, parameters moved (second part of Definition D.2)",
        norm="2",
        domain="Claim C.4 at an exact `h` at which scores tie: a location that the head has visited twice",
        kind=Kind.UPPER,
        quantifier=Quantifier.EXISTS,
        printed=Printed(poly(Z, A, sp.log(T)), PROOF, order=Order.O, unspecified=(poly,)),
        erratum=LIPSCHITZ,
    ),
    _SLOPE,
    replace(
        _SLOPE,
        name="scalar.slope",
        meaning="fitted slope in `log T` of the attacked margin with positions of size `1/T`, as in older "
        "constructions",
        domain="the same machine and inputs",
        construction="positions of size `1/T`",
    ),
)

TURING_MARGIN = Result(
    id="machines.turing_margin",
    title="All-layer margin of the transformer that simulates a Turing machine",
    citation=THEOREM,
    claim=r"\rho_F(\theta, x, y) \ge 1/\mathrm{poly}(k, |\mathcal{A}|, \log T)",
    parameters=(
        Parameter("machine", None, MACHINES, "palindrome", takes="NAME|FILE|TABLE"),
        Parameter("input", None, TAPE, "", takes="SYMBOLS"),
        Parameter(
            "T",
            T,
            "number of steps; 0: as many as the machine needs to halt",
            0,
            integer=True,
            in_words="number of steps",
        ),
    ),
    hypotheses=(Hypothesis("T", sp.Ge(T, 0, evaluate=False), "a number of steps"),),
    objects=objects.TURING_MARGIN,
    quantities=_QUANTITIES,
    notation={w: r"w_{\mathrm{pos}}", Z: r"|\mathcal{Z}|", A: r"|\mathcal{A}|", layers.size: r"\lambda"},
    symbols={
        layers.rho: "2-norm of the perturbation of all parameters",
        layers.size: "2-norm of the exact input of the layer",
        layers.sigma_zeta: "radius of errors that a correction removes",
        layers.norm_1: "spectral norm of `W_1` of the layer",
        attention.key_size: "2-norm of a key",
        attention.null_size: "2-norm of the null key",
        attention.query_size: "2-norm of a query",
        attention.query_norm: "spectral norm of `W_Q`",
        attention.key_norm: "spectral norm of `W_K`",
        attention.value_norm: "spectral norm of `W_V`",
        attention.attended: "2-norm of the exact stream after the attentions",
        attention.encoder_size: "2-norm of an encoder token",
    },
    remarks=(
        "Derived without Definition D.2: the distance of a layer to the exact one, input and parameters perturbed at "
        "once, is bounded directly.",
        "The tokens of the encoder have no correction; the perturbation of `E` enters the layer that reads them.",
    ),
    formulas=(
        Formula(r"\rho_F", leading_margin, "limit of the derived bound as `w_pos` grows, `Z` and A fixed", Kind.RATE),
        *(
            Formula(left, derive, meaning, Kind.UPPER)
            for left, derive, meaning in (
                (
                    r"\Delta\tau / \tau",
                    lambda: attention.gap_change(SELF).error,
                    "change of a score gap, in units of the gap",
                ),
                (
                    r"\|g - h\|_2",
                    lambda: attention.layer_output(SELF).error,
                    "error of the raw output of a self-attention layer",
                ),
                (r"|F - \hat F|", lambda: attention.classified().error, "error of the classifier"),
            )
        ),
    ),
)
