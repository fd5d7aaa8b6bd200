"""What is said of Figure 2: the closed form of the plateau's loss against the loss itself."""

import pytest
import sympy as sp

from symbolic.topics.induction import figure2
from symbolic.topics.induction.training import LOSS_HEAD, L, h, h_star, psi, v, v_star, w_star

STARS = (0.1, 0.3, 0.44, 0.49, 0.65)


@pytest.mark.parametrize("star", STARS)
def test_the_loss_left_by_the_plateau_is_that_of_the_best_h_at_w_0(star: float) -> None:
    loss = LOSS_HEAD.subs({v: 0, L: 1000, h_star: sp.Rational(1, 3), v_star: star**2})
    best = sp.solve(sp.diff(loss, h), h)[0]
    left = float(loss.subs(h, best) / loss.subs(h, sp.Rational(1, 3)))
    assert float(figure2.LEFT_BY_PLATEAU.subs(w_star, star)) == pytest.approx(left, rel=1e-10)
    top, twice = (float(psi(sp.Float(x))) for x in (star**2, 2 * star**2))
    assert 1 - left == pytest.approx((top - 1) ** 2 / (twice + 1 - 2 * top), rel=1e-8)


def test_the_plateau_alone_costs_a_hundredth_from_about_0_46_on() -> None:
    cost = 1 - figure2.LEFT_BY_PLATEAU
    assert float(cost.subs(w_star, 0.45)) < 0.01 < float(cost.subs(w_star, 0.49))


def test_every_row_that_is_judged_says_where_it_is_printed() -> None:
    judged = [quantity for quantity in figure2.QUANTITIES if quantity.printed is not None]
    assert {q.name for q in judged} == {"first", "phases", "separation", "plateau", "plateau.loss", "overshoot"}
    assert all(str(q.printed.citation).startswith("Wang et al. 2024, ") and q.remark for q in judged)
