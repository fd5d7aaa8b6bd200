"""A transformer runs a Turing machine (wei2021, Appendix C): its quantities at each step, its sizes and norms."""

from dataclasses import replace
from functools import partial

import sympy as sp

from symbolic.derivations.provenance import Derived, Provenance
from symbolic.statements.errata import Erratum, Weight
from symbolic.statements.result import Hypothesis, Kind, Order, Parameter, Printed, Quantifier, Quantity, Result
from symbolic.topics.machines import objects, temperature
from symbolic.topics.machines import turing_counts as counts
from symbolic.topics.machines.temperature import eps
from symbolic.topics.machines.turing_counts import A, Z, w_pos
from symbolic.words.citations import WEI2021, Citation

T = sp.Symbol("T", integer=True, nonnegative=True)
work = sp.Symbol("work", integer=True, nonnegative=True)

MACHINES = (
    "addition, ``busy_beaver_3``, ``busy_beaver_4``, increment, palindrome; or a file, one rule "
    "'state symbol ``new_symbol`` move ``new_state``' a line; or a busy beaver in one-line notation"
)
TAPE = "content of the tape: one character for each symbol, or symbols separated by spaces"
PARAMETERS = (
    Parameter("machine", None, MACHINES, "increment", takes="NAME|FILE|TABLE"),
    Parameter("input", None, TAPE, "", takes="SYMBOLS"),
    Parameter(
        "T",
        T,
        "number of steps; 0: as many as the simulator needs to halt",
        0,
        integer=True,
        in_words="number of steps",
    ),
    Parameter("eps", eps, "error of softmax attention against hard max, for the rows of softmax", 0.1),
    Parameter(
        "work", work, "largest total number of steps that are run on random inputs", 2**14, integer=True, setting=True
    ),
)
HYPOTHESES = (
    Hypothesis("T", sp.Ge(T, 0, evaluate=False), "a number of steps"),
    Hypothesis("work", sp.Ge(work, 0, evaluate=False), "a number of steps"),
    Hypothesis("eps", sp.Gt(eps, 0, evaluate=False), "softmax attention always differs from hard max"),
    Hypothesis(
        "eps", sp.Le(eps, temperature.UNDONE, evaluate=False), "the correction of Prop. 3.4 removes an error of 1/3"
    ),
)

_DOMAIN = "every step of every input that is run"
_DIFFER = "number of steps at which network and simulator differ in"


_wei = partial(Citation, WEI2021)


def _at_each_step(name: str, latex: str, meaning: str, citation: Citation | None, remark: str = "") -> Quantity:
    """A quantity of the proof at each step: printed as equal to that of the machine."""
    return Quantity(
        name,
        rf"\#\{{1 \le i \le T : {latex}\}}",
        f"{_DIFFER} {meaning}",
        "a count",
        _DOMAIN,
        Kind.EXACT,
        Quantifier.FOR_ALL,
        printed=None if citation is None else Printed(sp.Integer(0), citation),
        scopes=(),
        remark=remark,
        domain_latex="every step of every input",
    )


STEPS = (
    _at_each_step("state", r"h^{st} \ne z_i", "the state after step `i`", _wei("Lemma C.1", "(C.4)")),
    _at_each_step("written", r"h^{sym_2} \ne u_i", "the symbol written in step `i`", _wei("Lemma C.1", "(C.4)")),
    _at_each_step(
        "move",
        r"h^{scr} \ne q_i",
        "the move of the head in step `i`",
        _wei("Lemma C.1"),
        "left and right are printed; a head that stays has neither bit, as in the loops in terminal states",
    ),
    _at_each_step(
        "location", r"h^{pos_3} \ne \mathrm{Bin}(l_i)", "the location of the head", _wei("Lemma C.2", "(C.5)")
    ),
    _at_each_step(
        "found",
        r"h^{scr_4}_1 \ne 1(i' > 0)",
        "whether an earlier step wrote at this location",
        _wei("Claim C.4", "(C.8)"),
    ),
    _at_each_step(
        "search",
        r"h^{scr_3} \ne \mathrm{Bin}_j(i')",
        "the first `j` bits of `i'` after `j` steps of the binary search, for some `j`",
        _wei("Claim C.5", "(C.11)"),
        "in case 2 of the proof the `t <= i'` that agree with `i'` on the first `j` bits have (`j+1`)-th bit 0; all "
        "others lose 2 on the first `j` bits",
    ),
    _at_each_step("last_visit", r"\mathrm{Bin}(i') \ne h^{scr_3}", "the bits of `i'`", _wei("Claim C.5", "(C.13)")),
    _at_each_step(
        "from_input",
        r"h^{scr_2} \ne x_{l_i}",
        "the input symbol at the location of the head",
        _wei("Lemma C.7", "(C.15)"),
    ),
    _at_each_step("symbol", r"o_i^{sym_1} \ne a_i", "the symbol under the head", _wei("Lemma C.8", "(C.16)")),
)

ANSWER = Quantity(
    "answer",
    r"\#\{x : \hat F(x) \ne 2 G(x) - 1\}",
    "number of inputs on which network and simulator differ in the answer after `T` steps",
    "a count",
    "every input that is run and halts within `T` steps",
    Kind.EXACT,
    Quantifier.FOR_ALL,
    domain_latex="every input on which the machine halts within $T$ steps",
    printed=Printed(sp.Integer(0), _wei("Theorem 4.1", "its proof, after Lemma C.8")),
    scopes=(),
)

ROUNDING = Quantity(
    "rounding",
    r"\max |h - \mathrm{bit}|",
    "largest distance of the network's numbers from the nearest bit, in the format of the run",
    "largest absolute value over the quantities above",
    _DOMAIN,
    Kind.UPPER,
    Quantifier.FOR_ALL,
    scopes=(),
)


def _of_softmax() -> tuple[Quantity, ...]:
    leaked = temperature.leak_derivation()
    beta = temperature.sufficient().value
    return (
        replace(
            _at_each_step(
                "softmax", r"\text{any of them}", "any of the quantities above, with softmax in place of hard max", None
            ),
            obtained=Provenance.HAND,
        ),
        Quantity(
            "leak",
            r"\varepsilon_{\beta}",
            "largest error of a coordinate of softmax attention against hard max, before the correction",
            "sup norm",
            "`n` keys, a largest score that leads by 1, values that are bits",
            Kind.UPPER,
            Quantifier.FOR_ALL,
            leaked,
            worst_case={},
            scopes=(),
            remark="`eps` at the inverse temperature below",
            derive=lambda: temperature.sufficient().bound,
        ),
        Quantity(
            "inverse_temperature",
            r"\beta",
            "inverse temperature from which on network and simulator agree at every step",
            "a number",
            "`n >= 2` keys, a largest score that leads by 1, values that are bits",
            Kind.UPPER,
            Quantifier.EXISTS,
            scopes=(),
            remark="Section 4.1 extends the theory to softmax and gives no temperature",
            suffices=True,
            derive=lambda: Derived(beta, leaked.provenance),
        ),
    )


# A size or norm of the construction: counted, beside the printed order.
_cost = partial(Quantity, domain="the construction", kind=Kind.EXACT, quantifier=Quantifier.EXISTS, scopes=())


def _norm(lemma: counts.Lemma) -> Quantity:
    return _cost(
        f"norm[{lemma.label}]",
        rf"\|\theta_{{\mathrm{{{lemma.label}}}}}\|_1",
        f"1-norm of the parameters of {lemma.cited}: {lemma.meaning}",
        norm="entrywise 1-norm",
        printed=Printed(lemma.order, _wei(lemma.cited), order=Order.O),
        derive=partial(counts.norm, lemma.label),
    )


WIDTH_BITS = Erratum(
    Weight.DEFINITION,
    _wei("Appendix C.1", "`w_pos` and Bin"),
    sentence="`w_pos = ceil(log_2 T)` coordinates hold the binary encoding of every `i` with `0 <= i <= T`",
    reading="for `T = 2^k`, the encoding of `T` itself takes `k + 1` bits, and modulo `2^k` the encodings of 0 and `T` "
    "coincide; for all other `T` the definition holds",
    repair="`w_pos = floor(log_2 T) + 1` for `0 <= i <= T`; on a one-way tape boundsmith takes `floor(log_2(T + 1)) + "
    "1`, as the head can end at `T + 1`",
    survives="yes: `w_pos` grows by at most 1; even without the extra bit the answer is right, since it depends "
    "only on symbols that are read up to step `T - 1`, and the positions and locations 1..T that are "
    "compared until then are distinct modulo `2^k`",
)

PAIR = Erratum(
    Weight.NOTATION,
    _wei("Appendix C.1", "`w_TM` and `w_scr`"),
    sentence="`w_TM = |Z| + 2|A| + 3 w_pos + w_scr` coordinates with `w_scr = O(w_pos + |A| + |Z|)` store every hidden "
    "representation",
    reading="Lemma C.1 has `|Z||A| + w_TM` coordinates after `W_1`, and the text puts `W_1` in its own transformer "
    "layer, whose output is a hidden representation; along `|Z| = |A| = t` their number exceeds every multiple "
    "of `w_TM`; the `O` is read as uniform in `|A|`, like the polynomial of Theorem 4.1; for a fixed alphabet, "
    "as earlier in the text, the order holds",
    repair="`w_scr = O(w_pos + |Z||A|)`, with the `|Z||A|` coordinates of a pair inside `w_scr`",
    survives="yes: the width `w >~ k|A| + log T` that Theorem 4.1 assumes, with `k` states, is enough",
)

DEFINITIONS = (
    Quantity(
        "width_bits",
        r"\#\text{bits}",
        "least number of bits that encode every `i` with `0 <= i <= T`",
        "a count",
        "`T >= 2`",
        Kind.EXACT,
        Quantifier.FOR_ALL,
        printed=Printed(sp.ceiling(sp.log(T, 2)), _wei("Appendix C.1", "`w_pos`, `Bin(i)` for `0 <= i <= T`")),
        scopes=(),
        derive=lambda: counts.bits(T),
        erratum=WIDTH_BITS,
    ),
    Quantity(
        "pair",
        r"|\mathcal{Z}||\mathcal{A}| + w_{TM}",
        "number of rows of `W_1` in the proof of Lemma C.1",
        "a count",
        "`|Z|`, `|A|` large",
        Kind.EXACT,
        Quantifier.EXISTS,
        domain_latex=r"every $|\mathcal{Z}|$ and $|\mathcal{A}|$",
        printed=Printed(counts.W_TM, _wei("Appendix C.1", "`w_TM`, with the order of `w_scr`"), order=Order.O),
        scopes=(),
        derive=lambda: counts.PAIR_ROWS,
        remark="printed: `O(w_TM)`, the width of a hidden representation",
        erratum=PAIR,
    ),
)

COSTS = (
    _cost(
        "width",
        "w",
        "number of coordinates of the stream",
        norm="a count",
        printed=Printed(counts.WIDTH_ORDER, _wei("Theorem 4.1", "`w >~ k|A| + log T`"), order=Order.O),
        derive=counts.width,
        remark="`log T` is taken as `w_pos` here",
    ),
    _cost(
        "depth",
        "d",
        "number of decoder layers",
        norm="a count",
        printed=Printed(w_pos, _wei("Theorem 4.1", "`d` of order `log T`"), order=Order.O),
        derive=counts.depth,
        remark="`log T` is taken as `w_pos` here",
    ),
    *(_norm(lemma) for lemma in counts.LEMMAS),
    _cost(
        "norm",
        r"\|\theta\|_1",
        "1-norm of all parameters, with the corrections and the copies through unused modules",
        norm="entrywise 1-norm",
        printed=None,
        derive=counts.total,
        remark="printed as `poly(k, |A|, log T)`, its degree unspecified (Theorem 4.1)",
    ),
    _cost(
        "parameters",
        "p",
        "number of parameters of a decoder of this width and depth, with zeros",
        norm="a count",
        printed=None,
        derive=counts.parameters,
        remark="the sample complexity depends on `log p`",
    ),
)

TURING = Result(
    id="machines.turing",
    title="A transformer simulates a Turing machine",
    citation=_wei("Lemma C.1-C.8", "Theorem 4.1"),
    claim=r"o_i = (z_i, a_i, \mathrm{Bin}(l_i)) \text{ for } 1 \le i \le T, \qquad \hat F(x) = 2 G(x) - 1",
    parameters=PARAMETERS,
    hypotheses=HYPOTHESES,
    objects=objects.TURING,
    quantities=(*STEPS, ANSWER, ROUNDING, *_of_softmax(), *DEFINITIONS, *COSTS),
    notation={Z: r"|\mathcal{Z}|", A: r"|\mathcal{A}|", w_pos: r"w_{\mathrm{pos}}", eps: r"\varepsilon"},
    symbols={
        Z: "number of states of the machine (`k` in the theorem)",
        A: "number of symbols of its alphabet",
        w_pos: "number of bits of a position in the network",
        counts.moving: "number of entries of the table that move the head",
        counts.answers: "number of terminal states",
        temperature.keys: "largest number of keys of an attention, the null key included",
        temperature.inverse_temperature: "inverse temperature",
    },
    remarks=(
        "`h_0^(0)` is trained and `o_0 = h_0^(d)` (Section 4.1): step 0 runs all layers, and may put `x_1` into "
        "`o_0`; how it obtains (C.2) from `h_0^(0)` is left open. Here a further state does: the head starts before "
        "the first cell, moves right, and the state becomes `z_init`. This is step `i = 0` of the trace.",
        "Every layer ends in the correction of Prop. 3.4, so that each starts from exact bits.",
        "A machine with a two-way tape gets `T` blanks before its input; its positions need one bit more.",
        "(C.3) prints `Bin(i)` in pos1; `Bin(i+1)`, which `beta(i+1)` is by definition, is read there, as (C.4) "
        "needs it.",
    ),
)
