"""The results on Lyapunov functions (wang2024, Appendix C): what is printed, and the constants that are certified."""

import sympy as sp

from symbolic.citations import Citation
from symbolic.induction import lyapunov_gram as gram
from symbolic.induction import lyapunov_head as head
from symbolic.induction.setting import HYPOTHESES, PARAMETERS
from symbolic.induction.training import NOTATION
from symbolic.inequalities import Inequality
from symbolic.statements import Kind, Printed, Quantifier, Quantity, Result

# Constants for which `bridge.certify` proves the decay; each is at least 0.9 of the smallest -dG/dt / (scale G^k) that
# sampling and local search find (tests/bridge/induction/test_lyapunov.py measures that again).
CERTIFIED = {
    "decay": sp.Rational(99, 100),
    "decay.reached": sp.Rational(19, 10),
    "decay.perturbed.reached": sp.Rational(33, 10),
    "decay.printed_flow": sp.Rational(19, 10),
    "decay.true_flow": sp.Rational(19, 20),
}


def _constant(name: str, meaning: str, domain: str, citation: Citation, printed: sp.Expr, remark: str = "") -> Quantity:
    return Quantity(
        name,
        "c",
        meaning,
        norm="a constant",
        domain=domain,
        kind=Kind.LOWER,
        quantifier=Quantifier.FOR_ALL,
        printed=Printed(printed, citation),
        scopes=(),
        remark=remark,
    )


def _estimate(name: str, meaning: str, domain: str, citation: Citation, remark: str = "") -> Quantity:
    return Quantity(
        name,
        "f",
        meaning,
        norm="smallest value of the difference of the sides",
        domain=domain,
        kind=Kind.LOWER,
        quantifier=Quantifier.FOR_ALL,
        printed=Printed(sp.Integer(0), citation),
        scopes=(),
        remark=remark,
    )


_ALL_U = "1/2 < g* < 1, g* < g < 2 g*, 0 < u < 1, u^(L-5) < 10^-4, every L"
_REACHED_U = "the same, where u = e^-p gets: e^p - 1 - p >= 0.98 g*^2/2"
_GRAM = gram.CITATION

LYAPUNOV_GRAM = Result(
    id="induction.lyapunov_gram",
    title="Lyapunov decay of the 4-gram head",
    citation=_GRAM,
    claim="G = (u^2 + v^2)/2 with u = e^-p, v = u g* + g* - g obeys dG/dt <= -(g*^2/65) G^2 once g > g*",
    parameters=(),
    hypotheses=(),
    quantities=(
        _constant("decay", "dG/dt <= -c g*^2 G^2, exact M and m", _ALL_U, _GRAM, gram.PRINTED_CONSTANT),
        _constant(
            "decay.reached",
            "the same where the flow gets",
            _REACHED_U,
            _GRAM,
            gram.PRINTED_CONSTANT,
            "from dp/dg >= g m/M before g reaches g*: a start below sigma_init <= g*/8 ends with u below this curve",
        ),
        _constant(
            "decay.perturbed",
            "the same for the paper's flow, |xi_i| <= 10^-4",
            _ALL_U,
            _GRAM,
            gram.PRINTED_CONSTANT,
            "the paper writes 1/M as (1 + xi_3)/(1 - u), the sum gives (1 - u)/(1 - u^(L-2))",
        ),
        _constant(
            "decay.perturbed.reached",
            "the paper's flow where the flow gets",
            _REACHED_U,
            _GRAM,
            gram.PRINTED_CONSTANT,
        ),
        _estimate("estimate", "1/(1 - u^2) - (1 + u)/2 >= 2/5", "0 < u < 1", _GRAM),
        _estimate(
            "estimate.exact",
            "the same with the exact 1/M: (1 - u)/(1 + u) - (1 + u)/2 >= 2/5",
            "0 < u < 1",
            _GRAM,
            "the proof's step does not survive the exact 1/M; the statement does",
        ),
        _estimate(
            "integrated",
            "G(t) <= 1/(G(t_1) + g*^2 (t - t_1)/64)",
            _ALL_U,
            _GRAM,
            "integrating dG/dt <= -c g*^2 G^2 gives 1/(1/G(t_1) + c g*^2 (t - t_1)): the printed form follows from "
            "c >= 1/64 and G(t_1) <= 1, not from 1/65",
        ),
    ),
    notation=NOTATION,
    remarks=(
        "All lengths at once: u^(L-5) and (L-2) u^(L-5) (1-u) are coordinates with proved ranges, and nothing else "
        "depends on L.",
        "The paper writes dG/(2 dt) for what is dG/dt; its last line is meant for dG/dt.",
    ),
)

_BOX = "v*/4 < v < v* <= 0.3, h* < h < 1.02 h*, 0 < h* < 1, every L"
_HEAD = head.CITATION
_NAMES = ("alpha", "w_star")

LYAPUNOV_HEAD = Result(
    id="induction.lyapunov_head",
    title="Lyapunov decay of the induction head",
    citation=_HEAD,
    claim="G = ((v - v*)^2 + (h - h*)^2)/2 with v = w^2 obeys (L-2) dG/dt <= -(1/4) v* h*^2 G after T_2^h",
    parameters=tuple(PARAMETERS[name] for name in _NAMES),
    hypotheses=tuple(h for h in HYPOTHESES if h.parameter in _NAMES),
    quantities=(
        _constant(
            "decay.printed_flow", "(L-2) dG/dt <= -c v* h*^2 G, the paper's flow", _BOX, _HEAD, head.PRINTED_CONSTANT
        ),
        _constant(
            "decay.true_flow",
            "the same along (12), w_Q = w_K = w",
            _BOX,
            _HEAD,
            head.PRINTED_CONSTANT,
            "w moves at half the paper's rate",
        ),
        *(_estimate(each.name, each.meaning, _BOX, _HEAD) for each in head.printed_estimates()),
        Quantity(
            "quadratic",
            "c",
            "dV/dt <= -c V/(L-2) for a quadratic V of the linearisation, along (12)",
            norm="a rate in tau = t/(L-2)",
            domain="v*/4 < v < v*, h* < h < 1.02 h*, at this v* and h*",
            kind=Kind.LOWER,
            quantifier=Quantifier.FOR_ALL,
            scopes=(),
        ),
    ),
    notation=NOTATION,
)


Stated = dict[str, tuple[list[Inequality], list[Inequality]]]  # per quantity: as printed, and with our constant


def gram_inequalities() -> Stated:
    """What is proved of the 4-gram head; the second list is empty where only the printed form is asked."""
    decays = (
        ("decay", gram.decay_inequality, False),
        ("decay.reached", gram.decay_inequality, True),
        ("decay.perturbed", gram.perturbed_inequality, False),
        ("decay.perturbed.reached", gram.perturbed_inequality, True),
    )
    unit = {gram.u: (sp.Integer(0), sp.Integer(1))}
    u = gram.u
    estimate = sp.cancel((1 / (1 - u**2) - (1 + u) / 2 - sp.Rational(2, 5)) * (1 - u**2))
    exact = (1 - u) / (1 + u) - (1 + u) / 2 - sp.Rational(2, 5)
    return {
        **{
            name: (
                [build(gram.PRINTED_CONSTANT, reached=reached)],
                [build(CERTIFIED[name], reached=reached)] if name in CERTIFIED else [],
            )
            for name, build, reached in decays
        },
        "estimate": ([Inequality("estimate", estimate, unit, meaning="1/(1-u^2) - (1+u)/2 >= 2/5, by 1 - u^2")], []),
        "estimate.exact": ([Inequality("estimate.exact", exact, unit, meaning="(1-u)/(1+u) - (1+u)/2 >= 2/5")], []),
        "integrated": ([_small_start(), gram.decay_inequality(sp.Rational(1, 64))], []),
    }


# 1/(1/G_1 + a) <= 1/(G_1 + a) if and only if G_1 <= 1/G_1.
def _small_start() -> Inequality:
    G = (gram.u**2 + (gram.g_star * (1 + gram.u - gram.gamma)) ** 2) / 2
    box = {key: gram.REGION[key] for key in (gram.u, gram.gamma, gram.g_star)}
    return Inequality("integrated: G(t_1) <= 1", 1 - G, box, meaning="G <= 1 on the region")


def head_inequalities() -> Stated:
    """What is proved of the induction head, whatever the parameters are."""
    decays = {
        name: (head.decay_inequalities(which, head.PRINTED_CONSTANT), head.decay_inequalities(which, CERTIFIED[name]))
        for name, which in (("decay.printed_flow", "printed"), ("decay.true_flow", "true"))
    }
    return {**decays, **{each.name: ([each], []) for each in head.printed_estimates()}}
