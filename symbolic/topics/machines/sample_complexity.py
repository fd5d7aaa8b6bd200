r"""How many samples suffice: Prop. 2.3, Lemma 2.4, Corollary A.1, Theorems 3.1 and 4.1 (Wei, Chen, Ma 2021).

printed: a formula inside O leaves constants open, one inside O~ powers of logarithms too, and poly(.) its degree; the
eps of Lemma 2.4 is read inside O, as its proof by Proposition 2.3 gives it. derived: the same chain (cover of the l1
ball, ramp, Rademacher complexity, empirical risk minimiser) with every constant, so that n is a number of samples.
"""

from functools import cache, partial
from typing import Any

import sympy as sp

from symbolic.calculus import Knob, knob_for, minimise
from symbolic.calculus.samples import (
    chained,
    hull_distance,
    level_cost,
    log_averages,
    massart,
    minimiser_risk,
    never_drawn,
    samples_that_miss,
    uniform_deviation,
)
from symbolic.derivations.provenance import Provenance
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
from symbolic.words.citations import WEI2021, Citation

alpha, gamma, eps, delta = sp.symbols("alpha gamma eps delta", positive=True)
p, n = sp.symbols("p n", positive=True, integer=True)
w, d, A = sp.symbols("w d A", positive=True, integer=True)
k = sp.Symbol("k", positive=True, integer=True)  # vertices that are averaged
J = sp.Symbol("J", positive=True, integer=True)  # finer levels of the chain
tau = sp.Symbol("tau", positive=True)  # 2^-J
rho_mean = sp.Symbol("rho_bar", positive=True)  # harmonic quadratic mean of the training margins
size, states, steps = sp.symbols("s z T", positive=True, integer=True)
poly = sp.Function("poly")  # a polynomial that the paper does not specify

RATIO = alpha / gamma
BASE = 2  # each level of the chain halves the radius

# Printed.

PRINTED_PROPOSITION = 5 * eps + 2 * sp.sqrt(sp.log(2 / delta) / n)
PRINTED_COVER = sp.floor(alpha**2 * sp.log(p) / (gamma**2 * eps**2))
PRINTED_RADEMACHER = alpha * sp.log(n) * sp.sqrt(sp.log(p)) / (gamma * sp.sqrt(n))
PRINTED_SAMPLES = (alpha**2 * sp.log(p) / gamma**2 + 1) / eps**2
PRINTED_MARGINS = alpha * sp.sqrt(sp.log(p)) / (sp.sqrt(n) * rho_mean) + (sp.log(1 / delta) + sp.log(n)) / sp.sqrt(n)
PRINTED_CIRCUITS = poly(size) * sp.log(w * d) / eps**2
PRINTED_MACHINES = poly(states, A, sp.log(steps)) * sp.log(w * d) / eps**2


# The l1 ball is the hull of its vertices +-alpha e_j.
def cover_radius(count: sp.Expr = k) -> sp.Expr:
    """2-norm distance within which every point of the l1 ball has an average of `count` of its vertices."""
    return hull_distance(alpha, count)


@cache
def cover_count() -> sp.Expr:
    """log N(gamma eps): the averages of as many vertices as bring the radius down to gamma eps."""
    return log_averages(2 * p, knob_for(cover_radius(), k, gamma * eps).value)


_level = sp.Symbol("j", positive=True, integer=True)
COARSE = sp.ceiling(4 * RATIO**2)  # vertices averaged at level 0, where the losses are known up to 1/2
VERTICES = COARSE * BASE ** (2 * _level)  # averaged at level j


# rho is a distance to a set of parameters, hence 1-Lipschitz in theta, and the ramp (2.2) is 1/gamma-Lipschitz:
# averages within r gamma of theta give losses within r, at every input. So level j knows them within
#   r_j = alpha / (gamma sqrt(VERTICES)) = r_0 2^-j,   r_0 <= 1/2.
# The averages lie in the ball too. Every level costs the same.
@cache
def each_level() -> sp.Expr:
    """The Rademacher complexity that each finer level adds."""
    return level_cost(sp.powsimp(cover_radius(VERTICES) / gamma), log_averages(2 * p, VERTICES), _level, n)


def coarse_cost() -> sp.Expr:
    """The Rademacher complexity of level 0."""
    return massart(log_averages(2 * p, VERTICES.subs(_level, 0)), sp.Rational(1, 2), n)


# r_J = r_0 2^-J <= 2^-J / 2.
def chain(levels: sp.Expr) -> sp.Expr:
    """The Rademacher complexity of the losses, by a chain of that many finer levels."""
    return chained(coarse_cost(), each_level(), _level, levels, BASE**-levels / sp.Integer(2))


@cache
def best_levels() -> sp.Expr:
    """How many levels are best: rule 9 on 2^-J, rounded to a whole number of levels, none at least."""
    cost = sp.Symbol("c", positive=True)
    knob = minimise(tau / 2 - cost * sp.log(tau) / sp.log(BASE), tau)
    return sp.Max(0, sp.ceiling(-sp.log(knob.value.subs(cost, each_level())) / sp.log(BASE)))


@cache
def rademacher() -> sp.Expr:
    """Rad_(n,P)(L_G) <= this, for every P, every G and every parameterised F."""
    return chain(best_levels())


# The paper bounds the fixed F* by the sup too, and takes 1/n for 1/(2n).
def minimiser_error(best: sp.Expr, complexity: sp.Expr) -> sp.Expr:
    """The error of the empirical risk minimiser: the best F has surrogate loss `best`, the losses this complexity."""
    return minimiser_risk(best, complexity, samples=n, failure=delta)


# Training margins of gamma and more: the surrogate loss of the sample is 0.
@cache
def margin_error() -> sp.Expr:
    return uniform_deviation(rademacher(), samples=n, failure=delta)


@cache
def enough_levels() -> Knob:
    """The levels after which the rest of the chain costs at most eps/2 of the excess: 2 (2^-J / 2) <= eps / 2."""
    return knob_for(BASE**-J, J, eps / 2)


# Half of eps for the rest of the chain, half for all that falls like 1/sqrt(n).
@cache
def samples() -> sp.Expr:
    """The n from which on the minimiser's error exceeds the best surrogate loss by at most eps."""
    shrinking = minimiser_error(sp.S.Zero, chained(coarse_cost(), each_level(), _level, J, 0))
    root = sp.Symbol("a", positive=True)  # the numerator, free of n
    numerator = sp.simplify(shrinking * sp.sqrt(n))
    needed = knob_for(root / sp.sqrt(n), n, eps / 2).value
    return needed.subs(root, numerator).subs(J, enough_levels().value)


# F_(w, d): W_0 (w x m), m <= w, W_1 .. W_(d-1) (w x w), W_d (1 x w), and their biases.
FEEDFORWARD_PARAMETERS = d * (w**2 + w) + w + 1
# A decoder of d layers: two attentions (K, Q, V with biases; K_0, V_0), three ReLU layers; E, h_0, theta_cls (4.1).
DECODER_PARAMETERS = d * (2 * (3 * (w**2 + w) + 2 * w) + 3 * (w**2 + w)) + w * A + 2 * w


# Two inputs matter: x_0 of mass eta, where F = theta_1, and one of mass eps on which every theta is wrong; on all other
# inputs every theta is right. Let alpha >= gamma: theta = +-gamma e_1 has the margin gamma at x_0 for the label 1 or 0,
# so that (2.3) holds for both targets. Without x_0 in the sample both minimise: the argmin is a set, and the same for
# either target. A minimiser chosen from the sample alone, whatever the surrogate and however it breaks ties, is then
# the same too, and wrong at x_0 for one of them: its error is eps + eta with a probability of (1 - eta)^n / 2 at least.
# So Lemma 2.4 needs the O that its proof gives; eta falls like 1/n.
eta = sp.Symbol("eta", positive=True)
TWO_TARGETS_CHANCE = never_drawn(eta, n) / 2


# Two targets that differ at one input of mass a little above eps, every theta right at all others: fewer samples than
# this miss it too often, for every surrogate.
FEWEST = samples_that_miss(eps, 2 * delta)


_wei = partial(Citation, WEI2021)

_ANY = "every input distribution `P`, every target `G`, every parameterised `F` with `||theta||_1 <= alpha`"
_OPEN = "`O~` leaves powers of logarithms open too, so that the printed number is not a number of samples"


def _quantity(name: str, latex: str, meaning: str, **more: Any) -> Quantity:
    usual: dict[str, Any] = {
        "norm": "a probability",
        "domain": _ANY,
        "kind": Kind.UPPER,
        "quantifier": Quantifier.PROBABILITY,
        "randomness": "the `n` training inputs",
        "failure": delta,
        "scopes": (),
        "trivial": sp.S.One if more.get("norm") is None else None,
    }
    return Quantity(name, latex, meaning, **{**usual, **more})


_SURE: dict[str, Any] = {"quantifier": Quantifier.FOR_ALL, "randomness": "", "failure": None}

QUANTITIES = (
    _quantity(
        "proposition",
        r"\mathbb{E}\,\ell(\hat F(x), G(x))",
        "error of the empirical risk minimiser, where `Rad <= eps` and the best surrogate loss is at most `eps`",
        domain="every surrogate loss that meets the conditions 1) to 3) of Proposition 2.3",
        printed=Printed(PRINTED_PROPOSITION, _wei("Proposition 2.3", "its proof in Appendix A")),
        derive=lambda: minimiser_error(eps, eps),
        obtained=Provenance.RULES,
        remark="derived: `F*` is fixed, so that only one deviation of two needs the complexity; McDiarmid's "
        "constant is `1/(2n)`",
    ),
    _quantity(
        "vertices",
        r"\sup_{\|\theta\|_1 \le \alpha} \min_{v} \|\theta - v\|_2",
        "distance of the l1 ball to the averages `v` of `k` of its vertices",
        norm="2-norm",
        domain="`||theta||_1 <= alpha` in `R^p`",
        derive=cover_radius,
        obtained=Provenance.RULES,
        **_SURE,
    ),
    _quantity(
        "cover",
        r"\log \mathcal{N}_{\|\cdot\|_2}(\gamma \epsilon, \Theta)",
        "logarithm of the covering number of the l1 ball at the radius `gamma eps`",
        norm="a logarithm",
        domain="`||theta||_1 <= alpha` in `R^p`",
        printed=Printed(PRINTED_COVER, _wei("Proof of Lemma 2.4"), order=Order.O),
        derive=cover_count,
        obtained=Provenance.RULES,
        remark="printed: read for `p >= 2` and where the floor is at least 1",
        **_SURE,
    ),
    _quantity(
        "rademacher",
        r"{\rm Rad}_{n,P}(\mathcal{L}_G)",
        "Rademacher complexity of the all-layer margin losses (2.2)",
        norm="a mean over samples and signs",
        trivial=sp.S.Half,
        printed=Printed(PRINTED_RADEMACHER, _wei("Proof of Lemma 2.4"), order=Order.O),
        derive=rademacher,
        remark="printed: read for `p >= 2`",
        quantifier=Quantifier.EXPECTATION,
        failure=None,
    ),
    _quantity(
        "minimiser",
        r"\mathbb{E}\,\ell_{0\text{-}1}(\hat F(x), G(x))",
        "error of the empirical risk minimiser, where (2.3) holds with `eps`",
        printed=Printed(eps, _wei("Lemma 2.4"), order=Order.O),
        derive=lambda: minimiser_error(eps, rademacher()),
        remark="`eps` is read inside `O`, as the proof by Proposition 2.3 gives it; with 0 in (2.3), as Theorems 3.1 "
        "and 4.1 use it, the whole `eps` is left to the minimiser",
    ),
    _quantity(
        "samples",
        "n",
        "samples from which on the error of the minimiser is at most `2 eps` (`eps`, if (2.3) holds with 0)",
        suffices=True,
        norm="a count",
        printed=Printed(PRINTED_SAMPLES, _wei("Lemma 2.4"), order=Order.O),
        derive=samples,
        remark=_OPEN,
    ),
    _quantity(
        "margins",
        r"\mathbb{E}\,\ell_{0\text{-}1}(F(x, \theta), y)",
        "error of every `theta` whose training margins are `gamma` or more",
        printed=Printed(PRINTED_MARGINS, _wei("Corollary A.1", "eq. (A.2)"), order=Order.O),
        derive=margin_error,
        remark="printed for any margins `rho_i`, by `1/rho_bar^2` = mean of `1/rho_i^2`, here with `rho_bar = gamma`; "
        "derived for a `gamma` fixed beforehand",
    ),
    _quantity(
        "circuits",
        "n",
        "samples for circuits: `eps` is reached with the margin `gamma` on every input",
        suffices=True,
        norm="a count",
        domain="every `P` on `{0,1}^m` with `m <= w`; networks of width `w` and depth `d`, `||theta||_1 <= alpha`",
        printed=Printed(PRINTED_CIRCUITS, _wei("Theorem 3.1"), order=Order.O, unspecified=(poly,)),
        derive=lambda: samples().subs(p, FEEDFORWARD_PARAMETERS),
        remark="the polynomial `poly(s)` is not specified; derived for the given `alpha` and `gamma`, which a "
        "construction has to supply",
    ),
    _quantity(
        "turing",
        "n",
        "samples for Turing machines: `eps` is reached with the margin `gamma` on every input",
        suffices=True,
        norm="a count",
        domain="every `P`; decoders of width `w`, `d` layers and `A` symbols, `||theta||_1 <= alpha`",
        printed=Printed(PRINTED_MACHINES, _wei("Theorem 4.1"), order=Order.O, unspecified=(poly,)),
        derive=lambda: samples().subs(p, DECODER_PARAMETERS),
        remark="the polynomial `poly(k, |A|, log T)` is not specified; derived for the given `alpha` and `gamma`",
    ),
)


def _positive(name: str, symbol: sp.Symbol, reason: str) -> Hypothesis:
    return Hypothesis(name, sp.Gt(symbol, 0, evaluate=False), reason)


def _at_least(name: str, symbol: sp.Symbol, least: int, reason: str) -> Hypothesis:
    return Hypothesis(name, sp.Ge(symbol, least, evaluate=False), reason)


SAMPLE_COMPLEXITY = Result(
    id="machines.sample_complexity",
    title="Samples that suffice for statistically meaningful approximation",
    citation=_wei("Proposition 2.3, Lemma 2.4, Corollary A.1, Theorems 3.1 and 4.1"),
    claim=r"n = \tilde{O}\left(\frac{1}{\epsilon^2}\left(\frac{\alpha^2 \log p}{\gamma^2} + 1\right)\right)",
    parameters=(
        Parameter("alpha", alpha, "bound on the l1 norm of all parameters", 10.0),
        Parameter("p", p, "number of parameters", 1000, integer=True),
        Parameter("gamma", gamma, "all-layer margin", 0.5),
        Parameter("eps", eps, "share of inputs of smaller margin, and the excess asked for", 0.1),
        Parameter("n", n, "number of samples", 2_000_000_000, integer=True),
        Parameter(
            "delta", delta, "probability of failure; Definition 2.2 takes 0.01", 0.01, in_words="probability of failure"
        ),
        Parameter("w", w, "width of the network", 64, integer=True),
        Parameter("d", d, "its depth", 12, integer=True),
        Parameter("A", A, "number of tape symbols", 4, integer=True),
    ),
    hypotheses=(
        _positive("alpha", alpha, "Section 2.1"),
        _at_least("p", p, 1, "there are parameters"),
        _positive("gamma", gamma, "the ramp (2.2) divides by it"),
        _positive("eps", eps, "no number of samples gives 0"),
        Hypothesis("eps", sp.Lt(eps, 1, evaluate=False), "an error rate"),
        _at_least("n", n, 2, "`log n` is positive"),
        _positive("delta", delta, "a probability"),
        Hypothesis("delta", sp.Lt(delta, 1, evaluate=False), "a probability"),
        *(_at_least(name, symbol, 1, "a size") for name, symbol in (("w", w), ("d", d), ("A", A))),
    ),
    objects=objects.SAMPLES,
    quantities=QUANTITIES,
    notation={eps: r"\epsilon", rho_mean: r"\bar\rho", poly: r"\mathrm{poly}"},
    symbols={
        k: "vertices of the l1 ball that are averaged",
        J: "finer levels of the chain",
        rho_mean: "`1/rho_bar^2` = mean of `1/rho_i^2` over the training margins",
        eta: "mass of the input at which two targets differ",
        size: "gates of the circuit",
        states: "states of the machine (`k` in the paper)",
        steps: "steps of the machine",
    },
    formulas=(
        Formula(r"{\rm Rad}_0", coarse_cost, "complexity of the coarsest level", Kind.UPPER),
        Formula(r"{\rm Rad}_{j} - {\rm Rad}_{j-1}", each_level, "complexity that each finer level adds", Kind.UPPER),
        Formula("J", best_levels, "the levels that are best at `n` samples"),
        Formula("J_n", lambda: enough_levels().value, "the levels that the sufficient number of samples takes"),
        Formula(
            r"\Pr[\text{error} = \epsilon + \eta]",
            lambda: TWO_TARGETS_CHANCE,
            "for one of two targets that differ at an input of mass `eta`, and every rule",
            Kind.LOWER,
        ),
    ),
    remarks=(
        "Lemma 2.4 is read with `O(eps)`, as its proof by Proposition 2.3 gives it: where (2.3) leaves all of `eps` "
        "to the best `theta`, the error of any rule exceeds `eps` by some mass of order `1/n` for one of two targets.",
        "The surrogate (2.2) bounds the 0-1 loss for every `F`; that `rho > 0` wherever `F` is right is read where the "
        "minimum in (2.1) is attained.",
    ),
)
