"""What fails in Appendix F of wu2024: Lemma 16 for tokens of one coordinate, and displays of its proof."""

from functools import partial

from symbolic.statements.errata import Erratum, Weight
from symbolic.words.citations import WU2024, Citation

_cite, PROOF = partial(Citation, WU2024), "Appendix F.4"

EVERY_BLOCK = Erratum(
    Weight.STATEMENT,
    _cite("Lemma 16", "Lemma 18"),
    "for every Lipschitz, permutation-equivariant `f` on `[0, B_x]^(d n)` and every `kappa > 0` there is a block of "
    "Definition 11 that errs by at most `kappa` at every `Z`",
    "for `d = 1` its feed-forward layers are continuous functions of one number. With `n = 2` and the value `z_1 + "
    "a(z_2)` of the first token, `a(z)` the distance of `z - B_x/2` from the nearest multiple of `B_x/3`, every block "
    "errs by `B_x/12` or more: what the head makes of a first token has at most one turning point in the second, and "
    "`a` has two between `B_x/2` and `B_x`. The prompts of the argument have tokens `B_x/6` or more apart, so that it "
    "does not help to leave out equal tokens, as the proof does; nor to ask `f` to be 0 at the boundary of the cube, "
    "as the same holds on a smaller cube, for an `f` that is cut off outside of that",
    "the bound holds at all `Z` but those on ramps, for a block with ids and marks in coordinates of their own",
    "open: for `d >= 2`, as Theorem 6 needs it, whether such blocks exist is not decided",
)
BETWEEN = Erratum(
    Weight.PROOF,
    _cite(PROOF, "(F.24)"),
    "a piecewise-linear last layer with the value `f(G)` at the id of every grid point `G` has, at an arbitrary input "
    "`Z`, a value between the least and the largest `f(G)` with `||G - Z||_max <= B_x/(2D)`",
    "ids are numbers for `d = 1`, and by (F.15) those of one cell lie together, apart from those of the next. On the "
    "ramp (F.6) the id of a token runs continuously from its cell to the next one, through the ids of the first cell "
    "beside other tokens, where the last layer has their values: neighbouring ids are no neighbouring inputs. For "
    "`n = 2` and `f(z_1, z_2) = (z_2, z_1)` the token whose id is the least of its cell meets all of them, so that the "
    "error is at least `(D - 1) B_x/(2D)` there: for every width of the ramps, every attention with (F.15) and every "
    "continuous last layer (for an `f` that is 0 at the boundary of the cube: half of what its first value varies by "
    "beside one cell)",
    "the bound holds off the ramps, as `L sqrt(d n) B_x/(2D)` where the last layer has the values at the middles of "
    "the cells; for `d = 1` the ramps are the share `1 - (1 - (D - 1) rho)^n` of the cube, as small as their width "
    "`rho B_x` makes it",
    "open: off a set as small as one likes this proof gives Lemma 16; for `d = 1` no block reaches every `Z` (see "
    "Lemma 16), for `d >= 2` that is not decided",
)

LAST_STEP = Erratum(
    Weight.NOTATION,
    _cite(PROOF, "(F.10)"),
    "(F.10), which takes the last step off (F.7), makes numbers outside `[0, B_x]` to 0",
    "(F.7) has the height `B_x` beyond the cube, and the step that (F.10) takes off has the height 1: the value is "
    "`B_x - 1` above the cube, off the ramps, however steep they are",
    "`B_x` times the step that is taken off",
    "yes: Lemma 16 is about prompts in the cube",
    at=(("B_x", 2.0),),
)
OTHERS = Erratum(
    Weight.PROOF,
    _cite(PROOF, "(F.12)"),
    "the first feed-forward layer, of one hidden layer, approximates (F.12), which adds the penalties of all entries "
    "of a prompt to each entry",
    "a feed-forward layer of Definition 11 works token by token, and the penalties of the other tokens are unknown to "
    "it: it errs by `(n - 1) d B_x/2` or more at one of two prompts, however steep the ramps are. So a token in the "
    "cube beside one outside is no token that (F.17) makes small",
    "the attention has to pass the penalties on. In the block here a token outside the cube has a mark so low that all "
    "ids of its prompt are below 0, where the last layer has the value 0",
    "yes: Lemma 16 is about prompts in the cube, where all penalties are 0",
)
