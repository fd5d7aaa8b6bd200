"""Theorem 4.4 of wang2024 for patches: the generalised induction head GIH_n in any dimension, by random features.

    GIH_n(X) = sum_(s=n)^(L-1) softmax_s(g((x_L, ..., x_(L-n+2)), (x_(s-1), ..., x_(s-n+1)))) x_s,

tokens in [-1, 1]^d; g is the product of a similarity of one coordinate over the (n-1) d coordinates of a patch. H heads
of layer 1 write the patches, and layer 2 takes a product of low rank in the place of g.

The three terms of (17) are those of the scores. By H: `scores.layer1`, the slopes of g times the errors eta of layer 1.
By K: `scores.features`, the mean of K random cosines; the paper has the first K singular functions there. By M:
`scores.relus`, each cosine by M + 1 ReLUs, (A^D)(D omega/M)^2 with D = (n-1) d. The paper's rate for a function of D
variables is that of Barron's theorem; cosines of one number w^T u each need no such theorem. Random features fall like
K^(-1/2) in every dimension, up to a logarithm; beside them stands rho_g, which the cosines of one coordinate leave. Hat
functions of each coordinate, `output.hats`, err far less, surely, and take products of D of their numbers, (r+1)^D of
them for a rank r.
"""

from dataclasses import replace

import sympy as sp

from bridge.expressions.attention import attend, softmax
from bridge.expressions.inputs import tokens
from bridge.expressions.preceding import preceding
from bridge.expressions.similarities import similarity
from bridge.theorems.building import theorem
from bridge.theorems.texts import Text
from bridge.theorems.theorem import Theorem
from bridge.theorems.wording import OwnWords
from bridge.topics.induction.general import read
from symbolic.words.citations import WANG2024, Citation

L, d, n, H, M, K = sp.symbols("L d n H M K", integer=True, positive=True)
delta = sp.Symbol("delta", positive=True)
FACTOR = "similarity of one coordinate, an even function of `u - v`, such as ``exp(-(u-v)^2/2)`` or ``exp(-abs(u-v))``"
SETTINGS = {"samples": 8, "attack": 8, "restarts": 2}
LETTER = "the similarity of one coordinate, which is multiplied over the coordinates of a patch"
REMARKS = (
    "The bounds hold for every prompt and every length; those by features with a probability of at least `1 - delta` "
    "over their draw, at all prompts at once.",
    "Layer 1 has one family of `H` heads for all lags, as in `induction.ngram`; the keys `s < n` are masked.",
    "Any `g` that is a product of similarities of one coordinate has the bounds of `output.hats`, the exponential of "
    "an inner product too (`bs.blocks.similarity`); random features take an even function of `u - v`.",
)
ERRORS = {
    "scores.layer1": "error of the scores where layer 1 alone errs, whose `H` heads write the patches",
    "scores.relus": "error of the scores where ReLUs alone err, in the place of the drawn cosines",
    "output.hats": "error of the output by hat functions of each coordinate, and by layer 1",
    "scores.features": "error of the scores where `K` random cosines alone stand in the place of `g`",
    "scores": "error of the scores by layer 1, random cosines and ReLUs together",
    "output": "error of the output of the network with all three",
}


def _stated() -> Theorem:
    x, lags = tokens("x", L, d, size=1), n - 1
    keys, query = preceding(x, lags, heads=H, name="keys"), preceding(x, lags, heads=H, name="query", own=True)
    exact_keys, exact_query = preceding(x, lags, name="patches"), preceding(x, lags, name="patch", own=True)
    values = preceding(x, 1, name="values", own=True, first=n)[:-1]
    cosines = similarity(given="g", multiplied=True).by_features(K, delta=delta, cells=M)
    scores = cosines(query[-1], keys[:-1]).named("scores")
    by_layer = similarity(given="g", name="g_1", multiplied=True)(query[-1], keys[:-1]).named("scores.layer1")
    of_features = similarity(given="g", name="g_K", multiplied=True).by_features(K, delta=delta)
    by_features = of_features(exact_query[-1], exact_keys[:-1]).named("scores.features")
    lines = similarity(given="g", name="g_M", multiplied=True).by_features(K, delta=delta, cells=M).of_cosines
    by_relus = lines(exact_query[-1], exact_keys[:-1]).named("scores.relus")
    hats = similarity(given="g", name="g_h", multiplied=True).approximated(cells=M)
    by_hats = hats(query[-1], keys[:-1]).named("scores.hats")
    found = theorem(
        "induction.patches",
        by_layer,
        by_relus,
        attend(softmax(by_hats), values).named("output.hats"),
        by_features,
        scores,
        attend(softmax(scores), values).named("output"),
        parameters={n: (3, 5), L: 8, d: 1, H: 4, M: 128, K: 128, delta: 0.1},
        texts=[Text("g", read, takes="FORMULA", default="exp(-(u-v)^2/2)", meaning=FACTOR)],
        hypotheses=[n >= 2, sp.Ge((n - 1) * d, 1), sp.Ge(L, n + 1), delta <= 1],
        meanings={
            n: "`n-1` tokens are compared",
            L: "number of tokens",
            d: "coordinates of a token",
            H: "number of heads of layer 1",
            M: "cells of the grid: each cosine takes `M + 1` ReLUs, and so does each coordinate of `output.hats`",
            K: "number of random features",
            delta: "probability of failure",
        },
        title="Generalised induction heads over patches of any dimension, by random features",
        claim=r"\|\widehat{\mathrm{output}} - \mathrm{output}\|_\infty \le "
        r"O(\eta) + \tilde O(K^{-1/2}) + O(M^{-2}) + O(\rho_g)",
        cites=Citation(WANG2024, "Theorem 4.4", "Theorem A.8"),
        remarks=REMARKS,
        wording=OwnWords({name: {"meaning": meaning} for name, meaning in ERRORS.items()}),
    )
    objects = {"x_{i}": "token `i` of the prompt", "g": LETTER, **found.statement.objects}
    return replace(found, statement=replace(found.statement, objects=objects), settings=SETTINGS)


PATCHES = _stated()
