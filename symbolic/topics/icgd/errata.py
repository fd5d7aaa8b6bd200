"""Errata of wu2024's in-context gradient descent: what fails of Lemmas 2-6, Theorem 1, Corollary 1.1 and Lemma 14.

None of them touches Theorem 1, which hides its constants. A lemma asks that a layer exists: that the layer of its proof
has a larger norm is an erratum of the proof.
"""

from functools import partial

from symbolic.statements.errata import Erratum, Weight
from symbolic.words.citations import WU2024, Citation

_cite = partial(Citation, WU2024)

# Ranges. The repairs are the recursion of `chain.ARGUMENTS`: b^j bounds |r| on the arguments of layer j.
RANGE_R = Erratum(
    Weight.CONSTANT,
    _cite("Lemma 2", "definition of `R_1`; Appendix D.2"),
    "sums of ReLUs that are accurate on `[-R_1, R_1]` with `R_1 = max{B_v B_r, 1}` suffice for (3.9)",
    "D.2 applies them at `v . p(j-1)`, and `B_r` bounds a coordinate of `p(j-1)`, whose 2-norm is up to `sqrt(K) "
    "B_r`; the recursion for `B_r` has the same gap, and no reading of `max_j B_r^j` closes it",
    "`R_1 = max{B_v B_x, sqrt(K) B_v (b^j + eps_r) for j < N, 1}`, with `b^1 = sup |r|` over `|t| <= B_v B_x` and "
    "`b^(j+1) = sup |r|` over `|t| <= sqrt(K) B_v (b^j + eps_r)`",
    "yes: (3.9) and Theorem 1 hold on the repaired range; sums of ReLUs that are accurate on the printed range alone "
    "violate (3.9) at the output `p(2)` of layer 2, for `N = 2` and `R = 1`",
)
RANGE_R1 = Erratum(
    Weight.CONSTANT,
    _cite("Lemma 3", "definition of `R_2`; Appendix D.3"),
    "`v . p(j-1) <= R_2` with `R_2 = max{B_v B_r', 1}`",
    "`p(j-1)` holds values of `r`, so that `B_r'`, built from `r'` alone, does not bound its coordinates; with `B_r` "
    "in place of `B_r'` the factor `sqrt(K)` of Lemma 2 is still missing",
    "`R_2 = R_1` as repaired for Lemma 2",
    "yes: (3.13) and Theorem 1 hold on the repaired range; sums of ReLUs that are accurate on the printed range alone "
    "violate (3.13) at the derivatives of layer 2, for `N = 2` and `R = 1`",
)
RANGE_U = Erratum(
    Weight.CONSTANT,
    _cite("Lemma 4", "definition of `R_3`; Appendix D.4"),
    "`p(N)[k] <= R_3` with `R_3 = max{B_v B_r, B_y, 1}`",
    "`p(N)[k]` is a value of `r` on the arguments of layer `N`, which Lemma 2 underestimates; the factor `B_v` does "
    "not compensate for this",
    "`R_3 = max{b^N + eps_r, B_y, 1}` with the `b^N` of the repaired Lemma 2",
    "yes: (3.15) and Theorem 1 hold on the repaired range",
    (("N", 2), ("activation", "softplus")),
)

# Norms: of the layer that the proof builds.
_HIDDEN = (
    "Theorem 1 holds if the `O` of its norm hides constants, as its `O~` does; these may depend on `eta`, which the "
    "theorem fixes first, while the norms of layers `1..N+2` do not shrink with `eta`, either as printed or as "
    "repaired"
)


# A ReLU is homogeneous: <c Q h, c K h> V / c^2 is what <Q h, K h> V is.
def _rescaled(values: str, statement: str) -> str:
    return (
        f"Moreover, `c Q`, `c K` and `V / c^2` give the same layer with the norm `c + {values} / c^2`. This is often "
        f"below the printed norm, so that the {statement} itself is not refuted"
    )


NORM_FORWARD = Erratum(
    Weight.PROOF,
    _cite("Lemma 2", "norm of layers `1..N`; Appendix D.2"),
    "the layers have norms of at most `1 + K C_1`",
    "D.2 has heads for `k in [d]` at `j = N`, and (C.1) adds `|c_m|` for each; if `d > K`, the norm of this layer is "
    "larger",
    "`1 + max{K, d} C_1`",
    f"yes: (3.9) does not depend on norms. {_rescaled('max{K, d} C_1', 'lemma')}. {_HIDDEN}",
    (("N", 2), ("d", 8)),
)
NORM_DERIVATIVE = Erratum(
    Weight.PROOF,
    _cite("Lemma 3", "norm of layer `N+1`; Appendix D.3"),
    "the layer has a norm of at most `1 + K (N-1) C_2`",
    "D.3 prints heads for `j in [N]` and `k in [K]`, whose values sum to up to `N K C_2`; with `k in [d]` at layer "
    "`N` they sum to `(K (N-1) + d) C_2`; both exceed `K (N-1) C_2`",
    "`1 + (K (N-1) + d) C_2`",
    f"yes: (3.13) does not depend on norms. {_rescaled('(K (N-1) + d) C_2', 'lemma')}. {_HIDDEN}",
)
NORM_LOSS_GRADIENT = Erratum(
    Weight.PROOF,
    _cite("Lemma 4", "norm of layer `N+2`; Appendix D.4"),
    "`||W_1||_1 <= R_3 + 1`, and the norm is at most `max{R_3 + 1, C_3}`",
    "the 1-norm induced by vectors is a column sum, and the column of the constant 1 meets every ReLU; `R_3 + 1` "
    "bounds a single entry of `W_1` (a row sum reaches `2 R_3 + 1`), and (C.1) adds the norms of `W_1` and `W_2`",
    "`(1 + R_3) sum_k M_3^k + C_3` for the layer of D.4",
    "yes: (3.15) does not depend on norms. Splitting ReLUs until `|c_m| <= C_3 / max_k M_3^k` and scaling `W_1` "
    "against `W_2` gives a norm of at most `2 sqrt(2 d (1 + R_3) C_3)`, which does not grow with their number. "
    + _HIDDEN,
    (("N", 2), ("d", 8)),
)
NORM_STEP = Erratum(
    Weight.DEFINITION,
    _cite("Theorem 1", "norm of layer `2N+3`; Appendix D.7"),
    "D.7 has heads for every `j in [N]` and `k in [K]`, whose values have norms that add up to at most `2 eta N K`",
    "layer `N` has `d` neurons, so that for `d > K` some rows of `V_N` get no update from the printed heads; with "
    "heads for all `d` rows, the norms add up to more than `2 eta N K` if `d` is large",
    "heads for `k in [d]` at `j = N`, and `eta (n+1)/n (K (N-1) + d)`",
    "yes: the norm of this layer is `O(eta) + 1`, as printed and as repaired. "
    + _rescaled("eta (n+1)/n (K (N-1) + d)", "bound on the norm"),
    (("N", 2), ("d", 16)),
)

COLUMNS = Erratum(
    Weight.CONSTANT,
    _cite("Lemma 6", "`B_s` of eq. (3.23); Appendix D.6"),
    "`s-bar(j)[k] <= B_s = max_j (P B_r' B_v)^(N-j) B_r' B_l`",
    "D.6 uses the row `v_{(j+1)_k}` in place of the k-th column of `V_{j+1}`; the hypotheses bound only rows, and a "
    "column across `K` rows (`d` for `V_N`, all taken as bounded by `B_v`) can have 2-norm `sqrt(K) B_v` (`sqrt(d) "
    "B_v`); `B_r'` is read as an upper bound of `|r'|`, as in the lemma, although its recursion gives less",
    "`sqrt(d)` times the printed `B_s`, `E_s^r`, `E_s^r'` and `E_s^l` for `j < N`, by the same induction on 2-norms "
    "and `||V_{j+1}||_2 <= P B_v`",
    "yes: Theorem 1 holds with larger constants, which it hides",
)
SQUARE_ROOT = Erratum(
    Weight.PROOF,
    _cite("Theorem 1", "Appendix D.7"),
    "the bound on `||A-bar(j) - A(j)||_2` has the factor `sqrt(P) B_r`",
    "the factor bounds `||p-bar(j-1)||_2`, and `P` is `max{sqrt(K), sqrt(d)}` by (3.22), which D.7 repeats: the "
    "2-norm of `K` coordinates of at most `B_r` is up to `sqrt(K) B_r`; `sqrt(P)` would be right with `P = max{K, d}`",
    "`P max{B_x, b_r + eps_r}` in place of `sqrt(P) B_r`, with `b_r = max_j b^j`, `B_s` and `E_s` as repaired for "
    "Lemmas 2 and 6; there and in `C_l`, `C_r` and `C_r'`",
    "yes: Theorem 1 prints none of these constants, and with larger ones the accuracies chosen by them suffice",
)
SLOPES = Erratum(
    Weight.DEFINITION,
    _cite("Lemma 3", "the space of `r'_i`; again at the end of Appendix D.7"),
    "`r'_i` has `(N-2) K + d` entries",
    "Definition 2 stacks `r'(0)`, ..., `r'(N-1)`, which are `N - 1` blocks of `K` entries and one of `d`",
    "`(N-1) K + d` entries, as many as `p_i` has",
    "yes: Theorem 1 gives the dimension of a token only as an order, `O(N K^2) + D_w`, and that holds",
)

# Corollary 1.1 and Lemma 14.
EXAMPLES = Erratum(
    Weight.NOTATION,
    _cite("Corollary 1.1", "Lemma 14"),
    "`||w^l - w_GD^l||_2 <= L_f^-1 (1 + n L_f)^l eps`",
    "a step expands distances by up to `1 + eta L_f`, so that `n` stands for `eta`; everywhere else `n` is the "
    "number of examples",
    "`eta` in place of `n`: `((1 + eta L_f)^l - 1) eps / L_f` holds and is attained",
    "yes: with the `L_f` and the `w_GD` of Lemma 14, Corollary 1.1 holds with `eta` in place of `n`, and with `n` "
    "itself if `eta <= n`",
)
CONSTANT_OF_THE_RISK = Erratum(
    Weight.DEFINITION,
    _cite("Corollary 1.1", "definition of `L_f`"),
    "`L_f` is the Lipschitz constant of `L_n` within `W`",
    "the proof applies Lemma 14, whose `L_f` is the constant of the gradient; the constant of `L_n` does not bound "
    "it, and can be small if `W` is small; the run that shows this uses errors of the size that Theorem 1 allows, no "
    "transformer",
    "`L_f` is the Lipschitz constant of the gradient of `L_n`, as in Lemma 14",
    "yes: Corollary 1.1 holds with the `L_f` of Lemma 14, the projected `w_GD`, and `eta` in place of `n`",
)
PROJECTION = Erratum(
    Weight.DEFINITION,
    _cite("Corollary 1.1", "`w_GD`, defined before it"),
    "`w_GD^(l+1) = w_GD^l - eta grad L_n(w_GD^l)`, without `Proj_W`",
    "Lemma 14, which the proof applies, projects both iterations; without the projection the bound fails once a step "
    "of `w_GD` leaves `W`, even for `eps = 0`",
    "`w_GD^(l+1) = Proj_W(w_GD^l - eta grad L_n(w_GD^l))`, as in Lemma 14",
    "yes: Corollary 1.1 holds for the iteration of Lemma 14, which assumes that `W` is convex, and where `w_GD` "
    "stays in `W`, once `L_f` and `n` are read as in the other two entries",
)
STEP_SIZE = Erratum(
    Weight.NOTATION,
    _cite("Lemma 14", "hypothesis `eta <= L_f`"),
    "the bound on the gradient mapping holds for `eta <= L_f`",
    "`eta <= 1/L_f` is meant, since `eta <= L_f` allows `eta L_f > 2` if `L_f > sqrt(2)`, and then descent need not "
    "converge",
    "`eta <= 1/L_f`; then the bound holds with the printed constants 8 and 10, and also with 2 and 1",
    "yes: the bound holds for `eta <= 1/L_f`, and Corollary 1.1 does not need small steps",
)
LEAST = Erratum(
    Weight.DEFINITION,
    _cite("Lemma 14", "sum over `l`"),
    "the least `||G(w^l)||^2` is at most `1/L` times the sum over `l = 1 .. L-1`",
    "the least of `L - 1` numbers is at most their sum over `L - 1`, not over `L`",
    "the sum over `l = 0 .. L-1`, and the least over the same `l`",
    "yes: the bound on the least holds as printed for `L >= 2` and `eta <= 1/L_f`, since 8 and 10 absorb `L/(L-1) <= "
    "2`",
)
