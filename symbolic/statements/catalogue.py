"""All claims that boundsmith is to make executable, with their citations: the one place where a result registers."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from symbolic.statements.result import Result
from symbolic.words.citations import ALGOFORMER, LI2025, WANG2024, WEI2021, WU2024, Citation
from symbolic.words.errors import UsageError


@dataclass(frozen=True)
class Claim:
    """One row of the catalogue: id, citation and what is claimed, in a few words; `module` is "" for a planned one.

    Of "topic.name" the module `topics.topic.name` on the symbolic floor holds the Result, as NAME, and that of the
    bridge the Theorem, as NAME, unless another `module` holds both. It is imported on first use, as some derive on
    import. What an expression states (`is_expression`) stands on the bridge alone, and its Result is read off.
    """

    id: str
    citation: Citation
    summary: str
    module: str
    is_expression: bool = False

    def on(self, floor: str) -> Any:
        """What stands for it on that floor. Raises UsageError where the catalogue promises what is not there."""
        module, name = f"{floor}.topics.{self.module}", self.id.partition(".")[2].upper()
        try:
            return getattr(import_module(module), name)
        except (ModuleNotFoundError, AttributeError) as error:
            if module not in (error.name, getattr(getattr(error, "obj", None), "__name__", None)):
                raise
            where = f"{module.replace('.', '/')}.py"
            raise UsageError(f"the catalogue has '{self.id}' as running, so {where} has to hold {name}") from None


def _claim(id: str, citation: Citation, summary: str, module: str = "") -> Claim:
    return Claim(id, citation, summary, module or id)


def _expression(id: str, citation: Citation, summary: str) -> Claim:
    return Claim(id, citation, summary, id, is_expression=True)


def _planned(id: str, citation: Citation, summary: str) -> Claim:
    return Claim(id, citation, summary, "")


def _wu(label: str, equations: str = "") -> Citation:
    return Citation(WU2024, label, equations)


def _li(label: str, equations: str = "") -> Citation:
    return Citation(LI2025, label, equations)


def _wei(label: str, equations: str = "") -> Citation:
    return Citation(WEI2021, label, equations)


def _wang(label: str, equations: str = "") -> Citation:
    return Citation(WANG2024, label, equations)


def _algo(label: str, equations: str = "") -> Citation:
    return Citation(ALGOFORMER, label, equations)


CLAIMS: tuple[Claim, ...] = (
    _claim("icgd.gradient", _wu("Def. 1-3, Lemma 1, Lemma 15", "eq. (3.7)-(3.8)"), "gradient of the N-layer loss"),
    _claim("icgd.relu_sum", _wu("Def. 4, Lemma 7"), "smooth functions as sums of ReLUs"),
    _claim(
        "icgd.forward",
        _wu("Lemma 2", "eq. (3.9)-(3.11)"),
        "N ReLU-attention layers compute the forward pass",
        module="icgd.step",
    ),
    _claim(
        "icgd.derivative",
        _wu("Lemma 3", "eq. (3.13)"),
        "one attention layer computes the activations' derivatives",
        module="icgd.step",
    ),
    _claim(
        "icgd.loss_gradient",
        _wu("Lemma 4", "eq. (3.15)"),
        "one MLP computes the gradient of the loss",
        module="icgd.step",
    ),
    _claim(
        "icgd.backward",
        _wu("Lemma 5, Lemma 6", "eq. (3.19)-(3.24)"),
        "N multiplication layers backpropagate",
        module="icgd.step",
    ),
    _claim("icgd.step", _wu("Theorem 1"), "2N+4 layers do one projected gradient step"),
    _claim("icgd.trajectory", _wu("Corollary 1.1, Lemma 14"), "L blocks follow the gradient-descent path"),
    _claim("icgd.dimensions", _wu("Theorem 5"), "input and output widths differ", module="icgd.step"),
    _claim("icgd.softmax", _wu("Def. 11-13, Lemma 16-18"), "softmax blocks approximate equivariant maps"),
    _claim("icgd.softmax_step", _wu("Theorem 3, Theorem 6"), "softmax layers do gradient steps, token by token"),
    _claim("icgd.diffusion", _wu("Appendix H"), "score functions learnt in context"),
    _claim("icgd.pretraining", _wu("Appendix G, Fig. 1-3"), "trained models match direct training"),
    _claim("universal.barron", _li("Appendix B", "eq. (17)-(22)"), "Barron constants of function classes"),
    _claim("universal.covering", _li("Section 3", "eq. (23)"), "the covering number in the theorem"),
    _claim("universal.sigmoid", _li("Lemma 5", "eq. (69), (75), (81)"), "a ridge cosine as clipped ramps"),
    _claim("universal.features", _li("Lemma 1"), "n random features represent the whole class"),
    _claim("universal.lasso", _li("Lemma 2, Lemma 6"), "risk and norm of near-optimal Lasso solutions"),
    _claim("universal.proximal", _li("Lemma 3", "eq. (38)-(42), (97)"), "inexact proximal gradient"),
    _claim("universal.transformer", _li("Lemma 4, Appendix A.4"), "a transformer runs proximal gradient"),
    _claim("universal.risk", _li("Theorem 1, Lemma 7", "eq. (24)-(25)"), "bound on the prediction risk"),
    _claim("machines.approximation", _wei("Def. 2.1, Def. 2.2", "eq. (2.1)-(2.2)"), "SM approximation and margins"),
    _claim("machines.circuit", _wei("Lemma 3.2, Lemma B.1, Prop. B.2"), "circuits as ReLU layers"),
    _claim("machines.rounding", _wei("Prop. 3.4, Claim 3.5"), "rounding layers increase the margin"),
    _claim("machines.margin", _wei("Def. D.1-D.5, Theorem D.6, Lemma 3.3"), "all-layer margin from nine terms"),
    _claim("machines.sample_complexity", _wei("Prop. 2.3, Lemma 2.4, A.1, Theorem 3.1"), "sample complexity"),
    _claim("machines.turing", _wei("Lemma C.1-C.8, Theorem 4.1"), "a transformer simulates a Turing machine"),
    _claim("machines.turing_margin", _wei("Theorem 4.1, Appendix C"), "margin of this transformer: inverse polynomial"),
    _expression("induction.vanilla", _wang("Theorem 4.1, Theorem A.1, Lemma D.1"), "two layers, one head compute IH_2"),
    _claim("induction.ngram", _wang("Theorem 4.3, Theorem A.2, Lemma D.2"), "many heads compute IH_n"),
    _expression(
        "induction.general", _wang("Theorem 4.4, Theorem A.8, Def. A.7"), "any similarity by ReLUs of low rank"
    ),
    _expression("induction.patches", _wang("Theorem 4.4, Theorem A.8"), "patches of any dimension by random features"),
    _claim("induction.first_stage", _wang("Lemma 5.3, Appendix B"), "layer 1 learns to attend to the previous token"),
    _claim("induction.balance", _wang("Lemma 5.4"), "w_Q^2 - w_K^2 is conserved"),
    _claim("induction.losses", _wang("Lemma D.3, Lemma D.4", "eq. (19), (22)"), "closed forms of the losses"),
    _claim("induction.fixed_point", _wang("Section 5.2"), "fixed points of the flow"),
    _claim(
        "induction.trends",
        _wang("Appendix C.2 Part I", "(P1.1)-(P1.3), (23), (26)"),
        "trends of w and h along the flow",
    ),
    _claim("induction.karamata", _wang("Lemma D.6"), "weighted Karamata inequality"),
    _claim("induction.phases", _wang("Theorem 5.5", "eq. (20)-(29)"), "four phases and their durations"),
    _claim(
        "induction.lyapunov_gram",
        _wang("Appendix C.1 Part II"),
        "Lyapunov decay of the 4-gram part",
        module="induction.lyapunov",
    ),
    _claim(
        "induction.lyapunov_head",
        _wang("Appendix C.2 Part II.2"),
        "Lyapunov decay of the induction head",
        module="induction.lyapunov",
    ),
    _claim("induction.figure2", _wang("Figure 2"), "losses and parameters over time"),
    _claim("looped.positions", _algo("Lemma A.1"), "quasi-orthogonal positions"),
    _claim("looped.linearised", _algo("Lemma A.1-A.5", "eq. (7), (8)"), "linearised softmax"),
    _claim("looped.gradient_descent", _algo("Lemma A.2, Theorem 3.1"), "a gradient step on least squares"),
    _claim("looped.autoregression", _algo("Lemma A.3, Theorem 3.2"), "AR(q)"),
    _claim("looped.chain_of_thought", _algo("Theorem 3.3"), "a chain of thought with an MLP"),
    _claim("looped.newton", _algo("Lemma A.4, Theorem 4.1"), "Newton's iteration for the inverse"),
    _claim("looped.decoder", _algo("Lemma A.5, Theorem 4.2"), "the causal version"),
    _claim("looped.training", _algo("Fig. 2-5", "eq. (6)"), "trained models side by side"),
    _claim("looped.translation", _algo("Table in section 5.5"), "trained models translate German"),
)


RUNNING = {claim.id: claim for claim in CLAIMS if claim.module}


def is_claimed(id: str) -> bool:
    """Whether the catalogue has that id, running or planned."""
    return any(claim.id == id for claim in CLAIMS)


@cache
def results() -> dict[str, Result]:
    """The registered Results, by id."""
    return {id: find_result(id) for id in RUNNING}


def status(claim: Claim) -> str:
    return "running" if claim.module else "planned"


def find_claim(id: str) -> Claim:
    """The claim of that id. Raises UsageError with the nearest ids."""
    ids = {claim.id: claim for claim in CLAIMS}
    if id in ids:
        return ids[id]
    raise UsageError(unknown_id(id))


def unknown_id(id: str, others: Iterable[str] = ()) -> str:
    """What to say of an id that is neither in the catalogue nor one of `others`, with the nearest ones."""
    near = difflib.get_close_matches(id, [*(claim.id for claim in CLAIMS), *others], n=3, cutoff=0.4)
    hint = f" Nearest: {', '.join(near)}." if near else ""
    return f"there is no result '{id}'.{hint} `boundsmith list` shows all ids."


def find_running(id: str) -> Claim:
    """The claim of that id. Raises UsageError for an unknown id, and for one that is only planned."""
    claim = find_claim(id)
    if not claim.module:
        raise UsageError(f"'{id}' ({claim.citation}) is planned and cannot be run yet. Running: {', '.join(RUNNING)}.")
    return claim


def find_result(id: str) -> Result:
    """The Result of that id. Raises UsageError for an unknown id, and for one that is only planned."""
    claim = find_running(id)
    found: Result = claim.on("bridge").statement if claim.is_expression else claim.on("symbolic")
    return found
