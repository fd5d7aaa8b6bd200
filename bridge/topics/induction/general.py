"""Theorem 4.4 of wang2024: the generalised induction head GIH_2 of any similarity, as an expression.

    GIH_2(X) = sum_(s=2)^(L-1) softmax_s(g(x_L, x_(s-1))) x_s,   tokens in [-1, 1]^d.

The first layer gives y_s in the place of x_(s-1), its ReLUs the hat functions of x_s and of y_s, and the second layer a
product of rank K of these in the place of g. The paper takes the first K singular functions of g, each by a network for
a Barron function, and bounds the error in L^2, with powers of L and M. Here the error is bounded for every prompt and
every length; it falls like M^-2, or like M^-1 where g has kinks, up to what the rank leaves.

The three terms of (17) are those of the scores: Lv_g e_y, by the first layer; C_g h^2/16 + J_g h/8 with h = 2/M, by the
ReLUs; and rho_g, by the rank.
"""

from dataclasses import replace
from typing import Any

import sympy as sp
import torch

from bridge.expressions.attention import attend, softmax
from bridge.expressions.inputs import tokens
from bridge.expressions.recency import recent
from bridge.expressions.similarities import similarity
from bridge.judging.means import root_mean_square, uniform
from bridge.limits.arguments import called_with
from bridge.lowering.formula import evaluate
from bridge.questions.certify.reading import read_claim
from bridge.theorems.building import theorem
from bridge.theorems.check import Check, Sides
from bridge.theorems.sources.byte_signs import recalled_bytes
from bridge.theorems.texts import Text
from bridge.theorems.theorem import Theorem
from bridge.theorems.wording import OwnWords
from bridge.topics.induction import well_behaved
from bridge.topics.induction.well_behaved import K, L, M, d, p
from symbolic.words.citations import WANG2024, Citation

SIMILARITY = "similarity of one coordinate, a formula in `u` and `v`, such as ``exp(-abs(u-v))`` or ``(1+u*v)^3``"
LETTER = "the similarity, any Lipschitz continuous function on `[-1, 1]^2`"
REMARKS = (
    "Theorem 4.4 leaves `A` and `B` open: (18) alone is a number to judge. Its error is that of `L^2`, by (5), over "
    "prompts that A.3 takes from `[0, 1]`; the bounds here, for every prompt, do not grow with `L`.",
    "Under the hypotheses of Definition A.7 the factor `L^(1/(1 + 2 alpha))` of Theorem 4.4 is not needed: the part of "
    "`g` beyond rank `K` is at most the square of the bound on `phi_k` and `psi_k` times the sum of the `sigma_k` that "
    "are left, at every `u` and `v`, and softmax passes on the largest error of the scores alone.",
    "For `n >= 4` the step of A.3 from `X` to independent `u` and `v` takes patches for disjoint that overlap where "
    "`s >= L - n + 3`.",
    "For `n = 2` and `d = 1` every similarity with bounded second derivatives, or with kinks, has these bounds; the "
    "network clips what leaves `[-1, 1]`. Of more coordinates it is a similarity that adds up over them; "
    "``induction.patches`` has patches of `n - 1` tokens, and products over their coordinates.",
)
ERRORS = {
    "previous": "error of layer 1 against the previous token",
    "scores.layer1": "error of the scores where layer 1 alone errs",
    "scores.relus": "error of the scores where ReLUs alone stand in the place of `g`, at full rank",
    "scores": "error of the scores of layer 2, by layer 1, ReLUs and rank together",
    "attention": "error of the attention weights of layer 2",
    "output": "error of the output of layer 2",
}


def read(g: str) -> sp.Expr:
    """A formula in u and v, parsed and never evaluated."""
    return read_claim(g.replace("^", "**"))[0]


OF_TEXTS = {"p": (2, 4, 8, 16), "L": (256,), "M": 64, "g": "-2*(u-v)^2", "K": 3}
LETTERS = (L, d, p, M)
GRID = similarity(given="g").approximated(cells=M, rank=K)


def _stated() -> Theorem:
    x = tokens("x", L, d, size=1)
    y = recent(x[:-2], slope=p).named("previous")
    scores = GRID(x[-1], y).named("scores")
    by_layer = similarity(given="g", name="g_1")(x[-1], y).named("scores.layer1")
    by_relus = similarity(given="g", name="g_M").approximated(cells=M)(x[-1], x[:-2]).named("scores.relus")
    weights = softmax(scores).named("attention")
    output = attend(weights, x[1:-1]).named("output")
    found = theorem(
        "induction.general",
        y,
        by_layer,
        by_relus,
        scores,
        weights,
        output,
        parameters={p: 20.0, L: (8, 64), d: 1, M: 256, K: 8},
        texts=[Text("g", read, takes="FORMULA", default="exp(-(u-v)^2/2)", meaning=SIMILARITY)],
        hypotheses=[L >= 3],
        meanings={
            p: "slope of the relative position bias of layer 1",
            L: "number of tokens",
            d: "coordinates of a token, over which `g` is added up",
            M: "cells of the grid on `[-1, 1]`: queries and keys take `M + 1` ReLUs each, for each coordinate",
            K: "rank of the product in the place of `g`, for each coordinate",
            **well_behaved.MEANINGS,
        },
        checks=well_behaved.CHECKS,
        sources=[recalled_bytes("exact GIH_2", OF_TEXTS)],
        title="Generalised induction heads of any similarity, by two layers with ReLUs between them",
        claim=r"\|\widehat{\mathrm{output}} - \mathrm{output}\|_\infty \le "
        r"d \left(\frac{C_g}{4 M^2} + \frac{J_g}{4 M} + \rho_g + 2 \mathrm{Lv}_g e^{-p}\right)",
        cites=Citation(WANG2024, "Theorem 4.4", "Theorem A.8"),
        remarks=REMARKS,
        wording=OwnWords({name: {"meaning": meaning} for name, meaning in ERRORS.items()}),
    )
    mean = well_behaved.mean_output(found.statement.quantity("output"))
    objects = {"x_{i}": "token `i` of the prompt", "g": LETTER, **found.statement.objects}
    statement = replace(found.statement, objects=objects, quantities=(*found.statement.quantities, mean))
    return replace(found, statement=statement, checks=(*found.checks, Check(mean, mean_error)))


def mean_error(L: int, d: int, p: float, M: int, K: int, g: sp.Expr, lags: Any, samples: int, seed: int) -> Sides:
    """Of the network here, over prompts uniform on [0, 1]."""
    known = {"L": L, "d": d, "p": p, "M": M, "K": K, "g": g, "lags": lags}
    x = uniform(samples, seed, L, d)
    near, exact = (
        torch.vmap(lambda each, run=run: called_with(run, {**known, "x": each})["output"])(x)
        for run in (GENERAL.network, GENERAL.reference)
    )
    numbers = {letter: called_with(program, known) for letter, (_, program) in GRID.letters.items()}
    numbers |= {letter: known[letter.name] for letter in LETTERS}
    cap = float(evaluate(GENERAL.statement.quantity("output").derived(), numbers))
    return root_mean_square(abs(near - exact).amax(-1), cap)


GENERAL = _stated()
