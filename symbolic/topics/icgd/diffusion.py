"""Diffusion scores learnt in context, and the samples that they draw (wu2024, Appendix H, Lemma 19, (H.1), (H.2)).

Formulas and proofs are those of symbolic/dynamics/diffusions.py; samples are bounded by the rule of Girsanov's theorem.
"""

from dataclasses import replace
from typing import Any

import sympy as sp

from symbolic.derivations.provenance import Provenance
from symbolic.dynamics import diffusions as of
from symbolic.statements.result import Formula, Hypothesis, Kind, Parameter, Printed, Quantifier, Quantity, Result
from symbolic.topics.icgd import objects
from symbolic.topics.icgd.step import STEP_HYPOTHESES, STEP_PARAMETERS
from symbolic.topics.icgd.symbols import L, relus
from symbolic.words.citations import WU2024, Citation
from symbolic.words.prose import marked

M, T, T_0, s, scale = of.M, of.T, of.T_0, of.s, sp.Symbol("scale", nonnegative=True)
_DEFAULTS = {"N": 3, "K": 16, "d": 1, "n": 200, "B_v": 2.0, "eta": 2.0, "activation": "tanh"}
_WORDS = {"d": "number of coordinates of `x`"}
_PARAMETERS = (
    Parameter("s", s, "standard deviation of the components", 0.3),
    Parameter("T_0", T_0, "time at which sampling ends", 0.2),
    Parameter("T", T, "time at which sampling starts", 2.0),
    Parameter("M", M, "number of steps of the sampler", 1000, integer=True),
    Parameter(
        *("weights", None, "weights of the components, which add up to 1; at a table as many are fitted"),
        *("1/2, 3/10, 1/5",),
        takes="NUMBERS",
        in_words="weights of the components, which add up to 1",
    ),
    Parameter("targets", None, "targets: exact scores, or those of (H.2)", "scores", takes="scores|denoising"),
    Parameter("scale", scale, "by what targets are divided; 0: computed from them", 0.0, setting=True),
    Parameter("L", L, "number of steps of gradient descent", 2000, integer=True, setting=True),
    Parameter("relus", relus, "number of ReLUs for each function", 4096, integer=True, setting=True),
    *(
        replace(
            each, default=_DEFAULTS[each.name], setting=each.name != "d", meaning=_WORDS.get(each.name, each.meaning)
        )
        for each in STEP_PARAMETERS
        if each.name in _DEFAULTS
    ),
)
_HYPOTHESES = (
    Hypothesis("s", sp.Gt(s, 0, evaluate=False), "the covariance of a component has to be positive"),
    Hypothesis("s", sp.Le(s, 1), "bounds over `t >= T_0` are those at `T_0`"),
    Hypothesis("T_0", sp.Gt(T_0, 0, evaluate=False), "at the time 0 of the data scores may be infinite"),
    Hypothesis("T", sp.Gt(T, T_0), "sampling goes back from `T` to `T_0`"),
    Hypothesis("T", sp.Le(T, 50), "beyond, `x_T` is a standard normal vector in all digits"),
    Hypothesis("M", sp.Ge(M, T - T_0), "a step of the sampler is at most 1"),
    Hypothesis("M", sp.Ge(M, 1, evaluate=False), "the sampler takes a step"),
    Hypothesis("L", sp.Ge(L, 1, evaluate=False), "a score is learnt in one step at least"),
    Hypothesis("scale", sp.Gt(scale, 0, evaluate=False), "targets are divided by it; 0: computed from them"),
    Hypothesis("relus", sp.Ge(relus, 3), "a sum of ReLUs has a constant and one hinge on each side"),
    *(each for each in STEP_HYPOTHESES if each.parameter in _DEFAULTS),
)


def _quantity(
    name: str, latex: str, meaning: str, norm: str, kind: Kind, bound: sp.Expr | None = None, **more: Any
) -> Quantity:
    domain = "mixtures of Gaussians, under the Ornstein-Uhlenbeck process"
    stated = (meaning, norm, domain, kind, Quantifier.FOR_ALL)
    closed = None if bound is None else bound.subs(of.t, T_0)
    return Quantity(name, latex, *stated, derive=closed, scopes=(), **more)


_EXACT, _UPPER, _LOWER, _2, _SQUARED = Kind.EXACT, Kind.UPPER, Kind.LOWER, "2-norm", "squared 2-norm"
_SCORE, _INFORMATION = r"s_{T_0}", "J"
_SIZE, _APART = rf"\sup_{{\|x\|_2 \le B}} \|{_SCORE}(x)\|_2", r"\ell_{2}(W) - \ell_{1}(W)"
DRAWN = "the points at which the error of the score is measured"
QUANTITIES = (
    _quantity(
        *("score", rf"\|{_SCORE}(x) - \nabla \log p_{{T_0}}(x)\|_2", "closed form of the score against the gradient"),
        *(_2, _EXACT, sp.S.Zero),
        obtained=Provenance.ALGEBRA,
    ),
    _quantity(
        *(
            "score.lipschitz",
            rf"\mathrm{{Lip}}({_SCORE})",
            "Lipschitz constant of the score, largest at `T_0`",
        ),
        *(_2, _UPPER, of.score_lipschitz()),
        remark="attained by two components of weight 1/2",
    ),
    _quantity("score.size", _SIZE, "size of the score on the ball of the examples", _2, _UPPER, of.score_size()),
    _quantity("information", _INFORMATION, "Fisher information", _SQUARED, _UPPER, of.largest_information()),
    _quantity("information.least", _INFORMATION, "Fisher information", _SQUARED, _LOWER, of.least_information()),
    _quantity(
        *("losses", _APART, "integrand of (H.2) less that of (H.1)", _SQUARED, _LOWER, of.losses_apart()),
        remark="equal to `d/(1 - e^(-2 T_0)) - J` for every network",
    ),
    _quantity(
        *(
            "losses.equivalent",
            rf"{_APART} - \ell_{{2}}(0) + \ell_{{1}}(0)",
            "integrand of (H.2) less that of (H.1), less the same for the score 0",
        ),
        *(_SQUARED, _EXACT, sp.S.Zero),
        obtained=Provenance.ALGEBRA,
        printed=Printed(sp.S.Zero, Citation(WU2024, "Appendix H", "(H.2)")),
    ),
    _quantity(
        *(
            "path",
            r"\max_l \|w^l - w_{\mathrm{GD}}^l\|_2 / e_l",
            "distance of the weights from exact descent",
        ),
        *("share of the bound of ``icgd.trajectory``", _UPPER, sp.S.One),
    ),
    _quantity(
        *("total_variation", r"\delta(p_{T_0}, q)", "total variation of `p_(T_0)` and the law `q` of the samples"),
        *("total variation", _UPPER),
        derivation=of.samples_apart().derivation,
        step="samples",
        worst_case={of.mean_error: of.mean_error_of_steps()},
        trivial=sp.S.One,
        remark="of the discrete sampler, from a standard normal vector; not of the data at time 0",
    ),
)


def quantities_at(d: int, failure: sp.Expr) -> tuple[Quantity, ...]:
    """Those of a run in d dimensions. Beyond one, the number for E_s is too small with a probability of `failure`."""
    if d == 1:
        return QUANTITIES
    *sure, variation = QUANTITIES
    words = f"{marked(variation.meaning)}; its bound holds with a probability of at least `1 - {failure}`"
    chance: dict[str, Any] = {"quantifier": Quantifier.PROBABILITY, "failure": failure, "randomness": DRAWN}
    return (*sure, replace(variation, meaning=words, **chance))


DIFFUSION = Result(
    id="icgd.diffusion",
    title="Diffusion scores learnt in context, and samples drawn by them",
    citation=Citation(WU2024, "Appendix H"),
    claim=r"\|f(w, \cdot, t) - \nabla \log p_t\|_{L^2(P_t)} \le O(\epsilon)",
    parameters=_PARAMETERS,
    hypotheses=_HYPOTHESES,
    objects=objects.DIFFUSION,
    quantities=QUANTITIES,
    notation={of.start: "E_0", of.score_error: "E_s", of.discretisation: "E_h", of.Delta: r"\Delta", of.reach: r"\mu"},
    symbols={
        of.Delta: "largest distance of two means",
        of.reach: "largest norm of a mean",
        of.spread: "mean squared 2-norm of the means less their mean, with the weights",
        of.B: "largest norm of the `x` of an example",
        of.start: "Kullback-Leibler divergence of `p_T` from the standard normal law",
        of.score_error: "sum over the times `u` at which a step of the sampler begins of the mean of the squared "
        "2-norm of `g(x_u, u) - s_u(x_u)`, times `(1 - e^(-2 h))/2`",
        of.mean_error: "root of the mean of the same means over these times",
        of.discretisation: "sum over these times `u` of the integral over `0 <= r <= h` of the Fisher information "
        "of `p_(u - r)` less `e^(-2 r)` times that of `p_u`",
    },
    formulas=(Formula("E_h", of.closed_discretisation, "discretisation, in closed form", Kind.UPPER),),
    remarks=(
        "The sampler is ancestral (symbolic/calculus/girsanov.py). Its discretisation is a term of its own, and the "
        "divergence of the paths is the sum of the three terms.",
        "The numbers that a run takes for `E_0`, `E_s` and `E_h` are at least these. For `d = 1` all three are "
        "certified with every rounding, `E_s` for the sums of ReLUs of the network that predicts, at the weights that "
        "the run found. For `d >= 2` that of `E_s` is the upper end of a confidence interval: the bound in numbers "
        "then holds with probability, over the points drawn.",
        "At a table (``--data``, ``--csv``) the data are a mixture of one covariance that is fitted to the rows, in "
        "coordinates in which that is `s^2 I`; the examples start at rows. The bound is between this mixture, noised, "
        "and the samples: it says nothing of how far the mixture is from the law of the rows.",
        "Beyond the ball of the examples the learnt score takes the value at the nearest point of the ball: it is "
        "defined and bounded everywhere, and the errors there are counted. No condition of Novikov is needed.",
        "Lemma 19 has ReLU networks, and Theorem 1 asks for four continuous derivatives of the activation: it does not "
        "apply to the networks of Lemma 19. Here the activation is smooth. Lemma 19 leaves constants and the size of "
        "the network open, and says nothing of samples.",
    ),
)
