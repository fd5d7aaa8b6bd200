"""Results, citations, the catalogue and their LaTeX: complete, consistent and refusing what they should."""

import re
import subprocess
import sys

import pytest
import sympy as sp

from symbolic import CLAIMS, Kind, UsageError, find_claim, find_result, results, status
from symbolic.latex.displays import equation, with_names, wrapped
from symbolic.latex.page import PAGE, Page
from symbolic.latex.sentences import BOUNDED, HOW, RECURRENCES
from symbolic.latex.widths import width
from symbolic.statements.catalogue import Claim
from symbolic.statements.result import Quantity, Result
from symbolic.topics.icgd.symbols import eta
from symbolic.topics.icgd.trajectory import L_f
from symbolic.topics.looped import autoregression as lags
from symbolic.topics.looped import chain_of_thought as chain
from symbolic.topics.looped import decoder as past
from symbolic.topics.looped import gradient_descent_derivation as descent
from symbolic.topics.looped import newton, newton_derivation
from symbolic.topics.universal import risk_derivation as risk
from symbolic.topics.universal import transformer_derivation as path
from symbolic.words.citations import WU2024, Citation, Paper

ALL = list(results().values())
CEILING = {
    newton_derivation.N,
    newton_derivation.d,
    newton_derivation.T,
    newton_derivation.alpha,
    newton_derivation.c,
    newton_derivation.C,
    *newton.KNOWN,
    newton_derivation.E,
}
RANGE = {path.B, path.L, path.N, path.R, path.S, path.n, path.tau_1, path.tau_2}  # |phi^T rho| <= S
PREDICTED = {lags.E, lags.G, lags.N, lags.P, lags.Q, lags.T, lags.X_hat, lags.delta, lags.eta}  # |x| <= X_hat
RESIDUALS = {past.B_x, past.C, past.R, past.S, past.T, past.c, past.eta}  # |w^T x - y| <= S
OF_RISK = RANGE | {risk.delta}  # and that shares are probabilities
OF_LOOPS = descent.GROWTH.free_symbols  # < 1
OF_CHAIN = {chain.N, chain.T, chain.eta, chain.low, chain.alpha, chain.delta}  # eta low <= 1, and growth below 1
# Of products over (n-1) d coordinates, and that a cover of random features has members and is not finer than floats.
OF_PATCHES = {
    *sp.symbols("n d M K", integer=True, positive=True),
    *sp.symbols("B_g C_g J_g A_g rho_g rho_g_K rho_g_h", nonnegative=True),
    *sp.symbols("omega_g omega_g_K", positive=True),
}
LOOKED_UP = {
    **{
        ("induction.patches", f"{name}{of}"): OF_PATCHES
        for name, of in (("output", ""), ("output", ".hats"), ("scores", ""), ("scores", ".features"))
    },
    ("icgd.trajectory", "gradient_mapping"): {eta, L_f},  # eta L_f <= 1
    **{("looped.autoregression", name): PREDICTED for name in ("state", "x_hat")},
    ("looped.decoder", "w"): RESIDUALS,
    ("looped.decoder", "y_hat"): RESIDUALS | {past.V, past.W},
    ("universal.transformer", "rho"): RANGE,
    ("universal.transformer", "y_hat"): RANGE,
    **{("looped.gradient_descent", name): OF_LOOPS for name in ("prediction", "residuals")},
    **{("looped.chain_of_thought", name): OF_CHAIN for name in ("next", "steps")},
    **{("looped.newton", name): CEILING for name in ("m", "y_hat")},  # errors stay below their ceiling
    **{("universal.risk", name): OF_RISK for name in ("risk", "risk.iterate", "emulation", "prompt", "risk.outside")},
}
WORDED = {"given", *BOUNDED, *HOW, *RECURRENCES}  # rules that a proof puts into words
TRAINING = [result for result in ALL if result.id.startswith("induction.") and result.id != "induction.vanilla"]
QUANTITIES = [(result, quantity) for result in ALL for quantity in result.quantities]


@pytest.mark.parametrize("result", ALL, ids=lambda result: result.id)
def test_every_result_is_complete(result: Result) -> None:
    assert result.claim
    assert result.hypotheses or all(parameter.symbol is None for parameter in result.parameters)
    assert result.quantities
    assert str(result.citation).startswith(find_claim(result.id).citation.paper.short)
    assert len({q.name for q in result.quantities}) == len(result.quantities)
    numbers = {parameter.symbol for parameter in result.parameters if parameter.symbol}
    assert {s for h in result.hypotheses for s in h.condition.free_symbols} <= numbers


@pytest.mark.parametrize(("result", "quantity"), QUANTITIES, ids=[f"{r.id}:{q.name}" for r, q in QUANTITIES])
def test_every_quantity_has_a_bound_with_source_norm_and_domain(result: Result, quantity: Quantity) -> None:
    assert quantity.norm
    assert quantity.domain
    assert quantity.printed or quantity.derivation or quantity.derive or not quantity.scopes  # its theorem derives it
    if quantity.printed:
        assert quantity.printed.citation.label
        assert quantity.printed.citation.paper == result.citation.paper
    if quantity.derivation:
        replaced = {letter for letter, bound in quantity.worst_case.items() if letter != bound}
        assert quantity.derived().free_symbols.isdisjoint(replaced)
        # What stays open has to be a condition on numbers that the instance looks up at every point.
        open_ones = [o.condition for step in quantity.derivation.steps for o in step.obligations if o.open]
        assert all(c.free_symbols <= LOOKED_UP.get((result.id, quantity.name), set()) for c in open_ones)


def test_every_claim_is_listed_once_and_knows_its_status() -> None:
    assert len({claim.id for claim in CLAIMS}) == len(CLAIMS) == 51
    assert {status(claim) for claim in CLAIMS} == {"running"}


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_every_citation_prints_as_text_latex_and_bibtex(claim: Claim) -> None:
    entry = claim.citation.bibtex()
    assert entry.startswith(f"@misc{{{claim.citation.paper.key},")
    assert entry.count("{") == entry.count("}")
    assert claim.citation.label in str(claim.citation)
    assert claim.citation.paper.key in claim.citation.latex()


def test_unknown_ids_name_the_nearest_ones() -> None:
    with pytest.raises(UsageError, match=r"no result 'induction\.vanila'.*Nearest: induction\.vanilla"):
        find_result("induction.vanila")


def test_a_planned_claim_has_no_result(planned: str) -> None:
    assert status(find_claim(planned)) == "planned"
    with pytest.raises(UsageError, match=f"'{planned}' .* is planned"):
        find_result(planned)


def test_hypotheses_complain_about_all_that_is_wrong_at_once() -> None:
    with pytest.raises(UsageError, match=r"p = -1 does not meet p > 0 .*; L = 2 does not meet L >= 3"):
        find_result("induction.vanilla").check({"p": -1, "L": 2, "d": 4, "leak": 0.01})


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("p", "nan", "p = nan is not finite"),
        ("p", "much", "p = 'much' is not a number"),
        ("p", "1,2", r"p = '1,2' is not a number .*; --grid p=1,2 runs several"),
        ("L", 8.5, "L = 8.5 is not a whole number"),
        ("q", 1, r"no parameter 'q'.*Did you mean p|no parameter 'q'. It has: p, L"),
        ("W_stra", 1, "Did you mean W_star"),
    ],
)
def test_parameters_refuse_what_they_cannot_be(name: str, value: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        find_result("induction.vanilla").number(name, value)


@pytest.mark.parametrize("result", ALL, ids=lambda result: result.id)
def test_latex_is_balanced_and_carries_every_citation(result: Result) -> None:
    text = result.latex()
    bare = text.replace(r"\{", "").replace(r"\}", "")
    assert bare.count("{") == bare.count("}")
    stated = [q for q in result.quantities if q.printed or q.derivation or q.closed_form is not None]
    assert text.count(r"\[") == text.count(r"\]") >= len(stated) + len(result.formulas)
    rules = {step.rule for q in result.quantities if q.derivation for step in q.derivation.steps}
    assert all(rule in text for rule in rules - WORDED)
    shown = result._repr_latex_()
    assert shown.startswith("$$")
    assert shown.rstrip().endswith("$$")
    assert r"\cite" not in shown
    assert all(q.printed.citation.latex() in text for q in result.quantities if q.printed)


def test_rates_are_marked_as_rates() -> None:
    kinds = {q.name: q.kind for q in find_result("induction.vanilla").quantities}
    assert kinds["output"] is Kind.UPPER
    assert kinds["output.rate"] is Kind.RATE


def test_importing_symbolic_loads_no_torch() -> None:
    code = "import sys, symbolic; sys.exit(any(m in sys.modules for m in ('torch', 'numeric', 'bridge')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("id", ["induction.vanilla", "induction.balance", "induction.lyapunov_head"])
def test_latex_is_stable(id: str, snapshot) -> None:
    assert find_result(id).latex() == snapshot


# What no display may hold: source text of Python or SymPy where LaTeX is expected, and unbalanced groups.
RAW = re.compile(r"\*|<=|>=|->|\boo\b|_\{star\}|\\operatorname|Subs|\\xi_\{1\}")
DISPLAY = re.compile(r"\\\[(.*?)\\\]", re.DOTALL)
PAIRS = ((r"\\left(?![a-z])", r"\\right(?![a-z])"), (r"\\begin\{", r"\\end\{"))
NO_LETTERS = re.compile(r"\\(?:text|mathrm|begin|end)\{[^{}]*\}|\\[A-Za-z]+|\\rm \w+")


def wrong_in(formula: str) -> list[str]:
    """What makes the formula one that LaTeX refuses, or sets as nonsense."""
    bare = formula.replace(r"\{", "").replace(r"\}", "")
    counts = [(bare.count("{"), bare.count("}"))]
    counts += [(len(re.findall(opening, formula)), len(re.findall(closing, formula))) for opening, closing in PAIRS]
    words = re.findall(r"[A-Za-z]{4,}", NO_LETTERS.sub(" ", formula.replace(r"\rm init", "")))
    return [*RAW.findall(formula), *(str(pair) for pair in counts if pair[0] != pair[1]), *words]


@pytest.mark.parametrize("result", TRAINING, ids=lambda result: result.id)
def test_every_display_of_the_training_dynamics_is_latex(result: Result) -> None:
    displays = DISPLAY.findall(result.latex())
    assert displays[0].strip() == wrapped(result.claim)
    assert [wrong_in(display) for display in displays] == [[]] * len(displays)


@pytest.mark.parametrize(
    "formula", ["2*x", "x <= 1", r"\frac{1}{2", r"\left(x", "G = u with v", r"h_{star}", r"p \to oo", r"\begin{array}x"]
)
def test_what_is_no_latex_is_noticed(formula: str) -> None:
    assert wrong_in(formula)


def test_printed_orders_and_strict_bounds_keep_their_signs() -> None:
    phases, stage = find_result("induction.phases").latex(), find_result("induction.first_stage").latex()
    assert r"T_o = \Theta\left(L\right)" in phases
    assert r"T_{\rm I} = \mathcal{O}\left(1\right)" in phases
    assert r"Z_n(r)) > 0" in stage
    assert r"w(T_2^h) \ge" in find_result("induction.trends").latex()
    assert r"|\dot\theta| = 0" in find_result("induction.fixed_point").latex()


def test_a_wide_sum_is_broken_between_its_terms() -> None:
    x = sp.symbols("x")
    terms = [sp.sin(x) ** k / (1 + k * x) for k in range(1, 25)]
    narrow, wide = equation(("f", "=", x + 1), Page()), equation(("f", "=", sp.Add(*terms)), Page())
    assert narrow == "f = x + 1"
    assert wide.startswith("\\begin{aligned}\nf &= ")
    assert 2 <= wide.count(r"&\quad") < 23
    assert width(wide) <= PAGE
    assert wide.count(r"\frac") == 24  # none is lost


def test_repeated_parts_of_a_wide_formula_are_named() -> None:
    a, b, k = sp.symbols("a b k")
    part = sp.sqrt(1 + sp.Add(*(a**n / (b + n) for n in range(1, 12))))
    shown = equation(("f", "=", sp.sqrt(part + (1 + part * sp.exp(part + b)) / (1 + sp.exp(part + b)))), Page())
    assert shown.startswith("\\begin{gathered}\nf = ")
    assert shown.count("b + 11") == 1
    assert r"\sqrt{s_{2} + " in shown
    assert width(shown) <= PAGE
    x, y, n = sp.symbols("x y n", positive=True)
    g = sp.exp(k * x + sp.sqrt(k**2 + 1) + k**3 * y)
    h = sp.sin(g + sp.sqrt(x * k + y)) + sp.cos(g)
    for total in (sp.Sum(h**2 + 1 / h, (k, 1, n)), sp.sqrt(part + sp.exp(part))):
        main, parts = with_names(total, Page())
        assert all(k not in named.free_symbols for _, named in parts)
        for name, named in reversed(parts):
            main = main.subs(name, named)
        assert main == total


@pytest.mark.long
def test_listing_derives_no_formula() -> None:
    code = (
        "import sys; from symbolic.statements.catalogue import results; "
        "sys.exit(any('expression' in f.__dict__ for r in results().values() for f in r.formulas)"
        " or any('closed_form' in q.__dict__ for r in results().values() for q in r.quantities))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_result_is_imported_when_it_is_asked_for_and_no_other() -> None:
    code = (
        "import sys; from symbolic.statements.catalogue import CLAIMS, find_result, status; "
        "[status(c) for c in CLAIMS]; "
        "find_result('machines.circuit'); "
        "loaded = sys.modules; "
        "sys.exit('symbolic.topics.machines.circuit' not in loaded or 'symbolic.topics.icgd.results' in loaded)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_strings_are_never_run() -> None:
    with pytest.raises(UsageError, match="is not a number"):
        find_result("induction.vanilla").number("p", "sp.pi")
    assert not isinstance("1", sp.Expr)


def test_citations_are_text_for_latex() -> None:
    found = Citation(WU2024, "Lemma 2, `R_1`", "`||e||_2 <= eta`, with `[1; t_i]`; 50%").latex()
    assert found == r"\cite[{Lemma 2, $R_{1}$, $\|e\|_{2}\le \eta$, with $[1; t_{i}]$; 50\%}]{wu2024}"


def test_a_citation_without_a_paper_is_its_label() -> None:
    place = Citation(None, "A draft, Theorem `1 <= 2`", "(3)")
    assert str(place) == "A draft, Theorem 1 <= 2, eq. (3)"
    assert place.latex() == r"A draft, Theorem $1\le 2$, eq. (3)"
    assert place.bibtex() == ""
    assert str(Citation(None, "")) == Citation(None, "").latex() == ""


def test_an_entry_names_all_authors_and_what_the_paper_shows() -> None:
    paper = Paper(
        "doe", "Doe", "On 100%", ("Doe, Jane", "E, Weinan", "Roe & Sons"), 2030, venue="Proc.", arxiv="3001.1"
    )
    assert paper.bibitem() == (
        r"\bibitem{doe} Jane Doe, Weinan E, and Roe \& Sons. \emph{On 100\%}. Proc., arXiv:3001.1, 2030."
    )
    entry = paper.bibtex()
    assert r"author = {Doe, Jane and E, Weinan and {Roe \& Sons}}" in entry
    assert "eprint = {3001.1},\n  archiveprefix = {arXiv}" in entry
    assert "note" not in entry


@pytest.mark.parametrize("paper", sorted({claim.citation.paper for claim in CLAIMS if claim.citation.paper}, key=str))
def test_no_entry_is_shortened_to_others(paper: Paper) -> None:
    assert "others" not in paper.bibtex()
    assert paper.venue == paper.arxiv == ""  # the papers as received print none


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("(3)", "eq. (3)"),
        ("(19), (22), Lemma D.3", "eq. (19), (22), Lemma D.3"),
        ("Definition 3, (3.6)-(3.8)", "Definition 3, eq. (3.6)-(3.8)"),
        ("`w` after (C.22)", "w after eq. (C.22)"),
        ("eq. (3), (4a)", "eq. (3), (4a)"),
        ("proof, mask (3)", "proof, mask (3)"),
    ],
)
def test_a_number_in_brackets_is_an_equation(typed: str, shown: str) -> None:
    assert Citation(None, "", typed).equations == shown
