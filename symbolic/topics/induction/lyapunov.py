"""The results on Lyapunov functions (wang2024, Appendix C): what is printed, and the constants that are certified."""

from functools import cache, partial

import sympy as sp

from symbolic.derivations.inequalities import Inequality
from symbolic.derivations.provenance import Provenance
from symbolic.statements.result import Formula, Kind, Printed, Quantifier, Quantity, Result
from symbolic.topics.induction import letters, objects
from symbolic.topics.induction import lyapunov_gram as gram
from symbolic.topics.induction import lyapunov_head as head
from symbolic.topics.induction.lyapunov_errata import ESTIMATES
from symbolic.topics.induction.setting import HYPOTHESES, PARAMETERS
from symbolic.topics.induction.training import NOTATION, L, g, h, p, t, u, v, w_star
from symbolic.words.citations import Citation
from symbolic.words.prose import marked

# Constants for which the shipped certificates prove the decay; each is at least 0.998 of one that a point refutes
# (test_lyapunov.py).
CERTIFIED = {
    "decay": sp.Rational("1.03875"),
    "decay.reached": sp.Rational("2.00437"),
    "decay.perturbed": sp.Rational("3.6125"),
    "decay.printed_flow": sp.Rational("1.99414"),
    "decay.true_flow": sp.Rational("0.98843"),
}


_BOX = "`v*/4 < v < v* <= 0.3`, `h* < h < 1.02 h*`, `0 < h* < 1`, every `L`"


_quantity = partial(Quantity, kind=Kind.LOWER, quantifier=Quantifier.FOR_ALL, scopes=())


def _constant(name: str, meaning: str, domain: str, citation: Citation, printed: sp.Expr, remark: str = "") -> Quantity:
    return _quantity(
        *(name, "c", meaning, "a constant", domain),
        printed=Printed(printed, citation),
        remark=remark,
        derive=CERTIFIED.get(name),
        obtained=Provenance.CERTIFICATE,
        where=_where(domain),
    )


def _estimate(name: str, meaning: str, domain: str, citation: Citation, remark: str = "") -> Quantity:
    difference = f"difference of the sides of {marked(meaning)}"
    at_a_point = f"at the point of the witness, the {difference} is {{found}}; printed: at least {{printed}}"
    return _quantity(
        *(name, "f", f"smallest {difference}", "smallest value of the difference of the sides", domain),
        printed=Printed(sp.Integer(0), citation),
        remark=remark,
        finding=at_a_point if name in ESTIMATES else "",
        erratum=ESTIMATES.get(name),
        where=_where(domain),
    )


def _where(domain: str) -> tuple[sp.Basic, ...]:
    """The condition on `w*` that the region of the induction head states."""
    return (sp.Le(w_star**2, head.REGION[head.v_star][1]),) if domain == _BOX else ()


_ALL_U = "`1/2 < g* < 1`, `g* < g < 2 g*`, `0 < u < 1`, `u^(L-5) < 10^-4`, every `L`"
_REACHED_U = f"{_ALL_U}, and `e^p - 1 - p >= 0.98 g*^2/2`, where the flow gets"
_GRAM = gram.CITATION

G_1, t_1 = sp.symbols("G_1 t_1", positive=True)  # G at the time t_1, from which the decay holds


def gram_derivative() -> sp.Expr:
    """dG/dt along (19), in M and m, with u for e^-p."""
    candidate = gram.gram_decay().candidate.subs(u, sp.exp(-p))
    return letters.gram_flow().along(candidate).subs(sp.exp(-2 * p), u**2).subs(sp.exp(-p), u)


def head_derivative(which: str) -> sp.Expr:
    """(L-2) dG/dt along that flow, in psi and phi."""
    return letters.head_flow_squared(which).along(head.head_decay(which).candidate)


LYAPUNOV_GRAM = Result(
    id="induction.lyapunov_gram",
    title="Lyapunov decay of the 4-gram head",
    citation=_GRAM,
    claim=r"\frac{\mathrm{d}G}{\mathrm{d}t} \le -\frac{{g^\star}^2}{65} G^2, \quad G := \frac{1}{2}(u^2 + v^2), \quad "
    r"u := e^{-p}, \quad v := u g^\star + g^\star - g, \quad t > T_1^g",
    parameters=(),
    hypotheses=(),
    objects=objects.LYAPUNOV_GRAM,
    quantities=(
        _constant("decay", "largest constant `c` with `dG/dt <= -c g*^2 G^2`", _ALL_U, _GRAM, gram.PRINTED_CONSTANT),
        _constant(
            "decay.reached",
            "largest constant `c` with `dG/dt <= -c g*^2 G^2` where the flow gets",
            _REACHED_U,
            _GRAM,
            gram.PRINTED_CONSTANT,
            "from `dp/dg >= g m/M` before `g` reaches `g*`: a start below `sigma_init <= g*/8` ends with `u` below "
            "this curve",
        ),
        _constant(
            "decay.perturbed",
            "largest constant `c` with `dG/dt <= -c g*^2 G^2` along the paper's flow, `|xi_i| <= 10^-4`",
            _REACHED_U,
            _GRAM,
            gram.PRINTED_CONSTANT,
            "the paper writes `1/M` as `(1 + xi_3)/(1 - u)`, where `M = (1 - u^(L-2))/(1 - u)`: its `dg/dt` is too "
            "fast",
        ),
        _estimate(
            "estimate",
            "`1/(1 - u^2) - (1 + u)/2 >= 2/5`",
            "`0 < u < 1`",
            _GRAM,
            "with the exact `1/M` the left side is `(1 - u)/(1 + u) - (1 + u)/2`, which falls below 2/5: the step of "
            "the proof fails then, the decay itself is proved",
        ),
        _estimate(
            "integrated",
            "`G(t) <= 1/(G(t_1) + g*^2 (t - t_1)/64)`",
            f"{_ALL_U}, at all times from `t_1` to `t`",
            _GRAM,
            "`dG/dt <= -c g*^2 G^2` integrates to `G <= 1/(1/G(t_1) + c g*^2 (t - t_1))`; the printed form follows "
            "with `c >= 1/64` and `G(t_1) <= 1`, but not with 1/65",
        ),
    ),
    notation=NOTATION | {G_1: "G(t_1)", t_1: "t_1"},
    formulas=(
        Formula(r"\dot p", lambda: letters.gram_flow().rate(p), "rate of `p` by (19); `M` = sum of `e^-kp`, `m = -M'`"),
        Formula(r"\dot g", lambda: letters.gram_flow().rate(g), "rate of `g` by (19)"),
        Formula(r"\dot G", gram_derivative, "the derivative of `G` along them"),
        Formula(
            r"G(t)",
            lambda: gram.gram_decay().integrated(CERTIFIED["decay"], G_1, t - t_1),
            "what the certified constant gives, for `t > t_1 >= T_1^g`",
            Kind.UPPER,
        ),
    ),
    remarks=(
        "All lengths at once: `u^(L-5)` and `(L-2) u^(L-5) (1-u)` are coordinates with proved ranges, and nothing else "
        "depends on `L`.",
        "The paper writes `dG/(2 dt)` for what is `dG/dt`; its last line is meant for `dG/dt`.",
    ),
)

_WIDER = "derived: `h* < h < 1.07 h*`, which `R(w*)` does not exceed for `v* <= 0.3`"
_HEAD = head.CITATION
_NAMES = ("alpha", "w_star")

LYAPUNOV_HEAD = Result(
    id="induction.lyapunov_head",
    title="Lyapunov decay of the induction head",
    citation=_HEAD,
    claim=r"(L-2) \frac{\mathrm{d}G}{\mathrm{d}t} \le -\frac{1}{4} v^\star {h^\star}^2 G, \quad "
    r"G := \frac{1}{2}\left((v - v^\star)^2 + (h - h^\star)^2\right), \quad v := w^2, \quad t > T_2^h",
    parameters=tuple(PARAMETERS[name] for name in _NAMES),
    hypotheses=tuple(h for h in HYPOTHESES if h.parameter in _NAMES),
    objects=objects.LYAPUNOV_HEAD,
    quantities=(
        _constant(
            "decay.printed_flow",
            "largest constant `c` with `(L-2) dG/dt <= -c v* h*^2 G` along the paper's flow",
            _BOX,
            _HEAD,
            head.PRINTED_CONSTANT,
            _WIDER,
        ),
        _constant(
            "decay.true_flow",
            "largest constant `c` with `(L-2) dG/dt <= -c v* h*^2 G` along (12), `w_Q = w_K = w`",
            _BOX,
            _HEAD,
            head.PRINTED_CONSTANT,
            f"`w` moves at half the paper's rate; {_WIDER}",
        ),
        *(_estimate(each.name, each.meaning, _BOX, _HEAD) for each in head.printed_estimates()),
        _quantity(
            "quadratic",
            "c",
            "constant `c` in `dV/dt <= -c V/(L-2)` for a quadratic `V` of the linearisation, along (12)",
            norm="a rate in `tau = t/(L-2)`",
            domain="`v*/4 < v < v*`, `h* < h < 1.02 h*`, at this `v*` and `h*`",
            obtained=Provenance.CERTIFICATE,
        ),
    ),
    notation=NOTATION | {G_1: "G(t_1)", t_1: "t_1"},
    formulas=(
        *(
            Formula(
                rf"(L-2)\,\dot{{{x}}}",
                letters.rate_of(partial(letters.head_flow_squared, "true"), x),
                f"rate of `{x}` by (12) and (22); `psi(x) = (1 - x^2)^(-1/2)`, `phi = psi'`",
            )
            for x in (v, h)
        ),
        Formula(r"(L-2)\,\dot G", lambda: head_derivative("true"), "the derivative of `G` along them"),
        Formula(r"(L-2)\,\dot G", lambda: head_derivative("printed"), "the same along the flow as printed"),
        Formula(
            r"G(t)",
            lambda: head.head_decay("true").integrated(CERTIFIED["decay.true_flow"], G_1, (t - t_1) / (L - 2)),
            "what the certified constant gives by (12), for `t > t_1 >= T_2^h`",
            Kind.UPPER,
        ),
    ),
)


# Per quantity: as printed, and with our constant (nothing where there is none of ours).
Stated = dict[str, tuple[list[Inequality], list[Inequality]]]


@cache
def gram_inequalities() -> Stated:
    """What is proved of the 4-gram head."""
    decays = (
        ("decay", gram.decay_inequality),
        ("decay.reached", gram.reached_inequality),
        ("decay.perturbed", gram.perturbed_inequality),
    )
    unit = {gram.u: (sp.Integer(0), sp.Integer(1))}
    u = gram.u
    estimate = sp.cancel((1 / (1 - u**2) - (1 + u) / 2 - sp.Rational(2, 5)) * (1 - u**2))
    return {
        **{name: ([build(gram.PRINTED_CONSTANT)], [build(CERTIFIED[name])]) for name, build in decays},
        "estimate": (
            [Inequality("estimate", estimate, unit, meaning="`1/(1-u^2) - (1+u)/2 >= 2/5`, by `1 - u^2`")],
            [],
        ),
        "integrated": ([_small_start(), gram.decay_inequality(sp.Rational(1, 64))], []),
    }


# 1/(1/G_1 + a) <= 1/(G_1 + a) if and only if G_1 <= 1/G_1.
def _small_start() -> Inequality:
    G = (gram.u**2 + (gram.g_star * (1 + gram.u - gram.gamma)) ** 2) / 2
    box = {key: gram.REGION[key] for key in (gram.u, gram.gamma, gram.g_star)}
    return Inequality("integrated: G(t_1) <= 1", 1 - G, box, meaning="`G <= 1` on the region")


@cache
def head_inequalities() -> Stated:
    """What is proved of the induction head, whatever the parameters are."""
    decays = {
        name: (
            head.decay_inequalities(which, head.PRINTED_CONSTANT),
            head.decay_inequalities(which, CERTIFIED[name], head.TOP),
        )
        for name, which in (("decay.printed_flow", "printed"), ("decay.true_flow", "true"))
    }
    return {**decays, **{each.name: ([each], []) for each in head.printed_estimates()}}
