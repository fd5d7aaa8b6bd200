r"""The perturbation of a transformer layer of Appendix C, and the radius within which hard max keeps its positions.

One layer of Section 4.1 (Wei, Chen, Ma 2021): self-attention, encoder attention, phi(W_1 . + b_1); the two last layers
of its feed-forward module are the rounding zeta. One attention searches (Claims C.4 to C.7) or none does; an attention
that is not used has parameters 0, and these can be moved too.
"""

from functools import cache

import sympy as sp

from symbolic.calculus import Approximated, Norm, add, given, linear_map, perturbed_function, perturbed_map, pool
from symbolic.topics.machines.perturbed_layers import (
    LayerBound,
    corrected_input,
    move_1,
    move_zeta,
    moved_layer,
    norm_1,
    rho,
    sigma_zeta,
    size,
    width,
    with_one,
)

SELF, ENCODER, NONE = "self", "encoder", "none"  # which attention of the layer is at work

query_norm = sp.Symbol("W_Q", nonnegative=True)  # ||W_Q||
key_norm = sp.Symbol("W_K", nonnegative=True)
value_norm = sp.Symbol("W_V", nonnegative=True)
query_size = sp.Symbol("q", nonnegative=True)  # ||Q(h)||
key_size = sp.Symbol("k", positive=True)  # ||K(h_t)||, at least 1
null_size = sp.Symbol("k_0", nonnegative=True)  # ||K_0||; K_0 has no coordinate in common with the K(h_t)
encoder_size = sp.Symbol("lambda_e", nonnegative=True)  # ||e_j||
attended = sp.Symbol("lambda_a", nonnegative=True)  # the exact stream behind both attentions
classifier_norm = sp.Symbol("theta_cls", nonnegative=True)

move_query, move_key, move_value, move_null = sp.symbols("t_Q t_K t_V t_0", nonnegative=True)
move_embedding, idle_self, idle_encoder, move_classifier = sp.symbols("t_E t_idle t_idle' t_cls", nonnegative=True)


# e_j = E_{:, x_j} + beta(j): only E is a parameter, and one column of it moves by at most t_E. No zeta follows.
def encoder_input() -> Approximated:
    """A token of the encoder."""
    return given("e", dim=width, norm=Norm.TWO, size=encoder_size, error=move_embedding, reason="a column of `E`")


# An attention at rest may attend anywhere once it is moved; what it adds is dV h_hat + db, or the moved null value.
def idle_output(token: Approximated, name: str, move: sp.Symbol) -> Approximated:
    """What an attention with parameters 0 adds after they are moved."""
    return perturbed_map(
        with_one(token), name, operator_norm=0, perturbed_norm=rho, perturbation=move, dim=width
    )  # fmt: skip


def query_input(kind: str) -> Approximated:
    """The stream where the query is taken: the encoder attention stands behind the (idle) self-attention."""
    stream = corrected_input(sigma_zeta)
    return add(stream, idle_output(stream, "idle self", idle_self), name="h'") if kind == ENCODER else stream


@cache
def gap_change(kind: str) -> LayerBound:
    """The change of any score gap, in units of that gap: below 1 the attended positions are among those of before.

    Gaps (Claims C.4 to C.7): 1 between the null key and the best other one, 2 d between keys that differ in d signs.
    """
    asking = query_input(kind)
    # The winner a against the null key: s_a - s_0 = Q . (K_a - K_0), and its change is
    #   (W_Q dh) . K_a + (dW_Q h_hat + db_Q) . (K_a - K_0) + Q_hat . dK_a - Q_hat . dK_0,
    # where W_Q dh has no null coordinate (the row of W_Q is 0) and K_a is orthogonal to K_0. The same with the null key
    # as winner.
    moved_sign = linear_map(asking, "W_Q dh", operator_norm=query_norm, dim=width)
    of_signs = linear_map(moved_sign, "(W_Q dh).K_a", operator_norm=key_size, dim=1)
    strayed = asking.error.subs({move_zeta: rho, idle_self: rho})  # ||dh|| at most
    reach = sp.sqrt((size + strayed) ** 2 + 1)  # ||[h_hat; 1]||
    moved_weights = _moved("dW_Q h_hat", move_query * reach)
    of_weights = linear_map(moved_weights, "dQ.(K_a-K_0)", operator_norm=sp.sqrt(key_size**2 + null_size**2), dim=1)
    moved_query = query_size + query_norm * strayed + rho * reach  # ||Q_hat||
    token = encoder_input() if kind == ENCODER else corrected_input(sigma_zeta)
    key = perturbed_map(
        with_one(token), "K", operator_norm=key_norm, perturbed_norm=key_norm + rho, perturbation=move_key, dim=width
    )
    of_key = linear_map(key, "Q_hat.dK_a", operator_norm=moved_query, dim=1)
    of_null = linear_map(_moved("dK_0", move_null), "Q_hat.dK_0", operator_norm=moved_query, dim=1)
    # Two keys that differ in d >= 1 signs: s_a - s_b = 2 d, ||K_a - K_b|| = 2 sqrt(d), so that the change over the gap
    # is at most ||dQ|| / sqrt(d) + ||Q_hat|| (||dK_a|| + ||dK_b||) / (2 d), which the sum above covers as ||K_a|| >= 1.
    change = add(of_signs, of_weights, of_key, of_null, name="gap")
    others = (move_embedding, idle_self) if kind == ENCODER else ()
    groups = (move_query, move_key, move_null, move_zeta, *others)
    return LayerBound(pool(change, "change of the gap", groups=groups, total=rho), groups)


def _moved(name: str, error: sp.Expr) -> Approximated:
    return given(name, dim=width, norm=Norm.TWO, size=0, error=error, reason="the move of a parameter")


# As long as the gaps survive, the attended positions are among those of before, which have one value v between them
# (Claims C.4 to C.7): their average moves by at most the largest
#   ||V_hat(h_hat_t) - v|| <= ||V_hat|| ||dh|| + ||dV|| sqrt(||h||^2 + 1).
# A null value that is attended to moves by t_0 alone, which has no larger factor.
#
# h_0^(0) is a parameter, and it enters the first layer at step 0 with no zeta before it: there the stream is off by
# t_init, its move, in place of c t_zeta (c from `rounding_move`, at least 1). In the first layer no attention is at
# work, and an idle one adds rho times the error of the token that it attends to. Those terms are (1 + rho) t_init at
# step 1, and later at most c t_zeta + rho max(c t_zeta, t_init): both within c (1 + rho) ||(t_zeta, t_init)||. So
# t_zeta stands for the two together, and the bound, c (1 + rho) t_zeta in these terms, covers it as well.
@cache
def layer_output(kind: str) -> LayerBound:
    """The raw output of the layer, ahead of its rounding, provided that the attended positions have survived."""
    stream, token = corrected_input(sigma_zeta), encoder_input()
    parts, groups = [stream], [move_1, move_zeta, move_embedding]
    for side, tokens, idle in ((SELF, stream, idle_self), (ENCODER, token, idle_encoder)):
        parts.append(_value(tokens, side) if side == kind else idle_output(tokens, f"idle {side}", idle))
        groups.append(move_value if side == kind else idle)
    behind = perturbed_function(
        add(*parts, name="sum"), "residual", lipschitz=1, size=attended, reason="its exact size"
    )
    raw = moved_layer(behind, "g", norm=norm_1, move=move_1, result=size)
    return LayerBound(pool(raw, "layer", groups=tuple(groups), total=rho), tuple(groups))


def _value(token: Approximated, side: str) -> Approximated:
    return perturbed_map(
        with_one(token), f"V {side}", operator_norm=value_norm, perturbed_norm=value_norm + rho,
        perturbation=move_value, dim=width,
    )  # fmt: skip


@cache
def classified() -> LayerBound:
    """theta_cls . o_T, whose exact value is 1 or -1: its sign survives a change below 1."""
    answer = perturbed_map(
        corrected_input(sigma_zeta), "F", operator_norm=classifier_norm, perturbed_norm=classifier_norm + rho,
        perturbation=move_classifier, dim=1,
    )  # fmt: skip
    groups = (move_classifier, move_zeta)
    return LayerBound(pool(answer, "classifier", groups=groups, total=rho), groups)
