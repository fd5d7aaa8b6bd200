"""Sums of exponentials phi(t) = sum_h c_h r_h^(t-1) on t = 1, 2, ..., beside the indicator of one lag i.

H rates 0 < r_h < 1, all different; e_k are their elementary symmetric polynomials, and `e_h` those of all rates but
r_h. They enter as arrays: `e[0]`, ..., `e[H]`, `e_h[0]`, ..., `e_h[H-1]`, and `q` holds the rates but r_h.
"""

import sympy as sp

H, i, h, k = sp.symbols("H i h k", integer=True, nonnegative=True)
r, rho, c = sp.Symbol("r", positive=True), sp.Symbol("rho", positive=True), sp.Symbol("c", real=True)
unit = sp.Symbol("unit", positive=True)
e, others, q = sp.IndexedBase("e"), sp.IndexedBase("e_h"), sp.IndexedBase("q")

# Lagrange: l_h(z) = prod_{j != h} (z - r_j)/(r_h - r_j) interpolates, z^(t-1) = sum_h r_h^(t-1) l_h(z) for t <= H. So
# with c_h the coefficient of z^(i-1) in l_h, sum_h c_h r_h^(t-1) is 1 at t = i and 0 at the other t <= H. No other c_h
# do that (Vandermonde).
COEFFICIENT = (-1) ** (H - i) * others[H - i] / sp.Product(r - q[k], (k, 0, H - 2))

# The tail. sum_t phi(t) x^(t-1) = N(x)/E(x) with E(x) = prod_h (1 - r_h x) = sum_k (-1)^k e_k x^k and N of degree
# below H. Since it is x^(i-1) + O(x^H), N is x^(i-1) E(x) without the powers x^H and above, and the tail t > H has the
# generating function (-1)^m x^(i-1) P_m(x)/E(x), m = H - i + 1, P_m(x) = sum_{k >= m} (-1)^(k-m) e_k x^k.
# All coefficients of P_m/E are nonnegative, by induction over the rates. With a further rate r, e_k becomes
# e_k + r e_{k-1}, so P_m becomes P_m + r x P_{m-1} = (1 - r x) P_m + r e_{m-1} x^m, as P_{m-1} = e_{m-1} x^(m-1) - P_m;
# divided by (1 - r x) E it is P_m/E + r e_{m-1} x^m/((1 - r x) E), a sum of two of that kind.
# So phi - indicator has one sign, and its l1 norm is the generating function at x = 1.
DISTANCE = sp.Sum((-1) ** (k + H - i + 1) * e[k], (k, H - i + 1, H)) / sp.Sum((-1) ** k * e[k], (k, 0, H))

# Fewer than i rates have l1 distance at least 1 over all t, whatever the c_h, even for complex |r_h| < 1. Otherwise the
# generating function F of phi has |F(x) - x^(i-1)| < 1 = |x^(i-1)| on |x| = 1, and by Rouche i - 1 zeros in the disc.
# But F = N/E has at most H - 1 < i - 1 zeros.
LEAST_DISTANCE = sp.Integer(1)
FEW_HEADS = f"fewer heads than lags err by at least {LEAST_DISTANCE} in the weights of some lag"

# A head averages: softmax of -p_h (t - 1) over the lags t = 1 .. s-1 of the token s, r_h = e^-p_h, has the weights
# (1 - r_h) r_h^(t-1)/(1 - r_h^(s-1)). Times c_h/(1 - r_h) it is sum_{j >= 0} c_h r_h^(t-1 + j(s-1)): phi wrapped
# modulo s - 1, and for i < s so is the indicator. Wrapping adds entries of one sign: the l1 distance is the same at
# each s > i. It is attained by tokens that are all the same.
COMBINED = c / (1 - r)

# Which rates: a polynomial p = sum_t p_t z^(t-1) has sum_t p_t phi(t) = sum_h c_h p(r_h), so sum_h |c_h| max_h |p(r_h)|
# >= |p_i + sum_{t > H} p_t phi(t)|. For p = T_H shifted to an interval [0, a] the right side is |p_i| less the share of
# the first entry of the tail, phi(H + 1). Equality holds where |p(r_h)| = 1 with the signs of the c_h, which alternate:
# at H neighbouring extremal points of T_H, all but the last. So no rates in [0, a] have a smaller sum |c_h| for the
# same phi(H + 1), and as rho -> 0 that entry is the l1 distance. The first extremal point is 0, the limit of rates;
# moved by `OFFSET` in the angle, r_0/r_1 is about OFFSET^2.
OFFSET = sp.Rational(1, 64)
RATE = rho * (sp.sin(sp.pi * (h + OFFSET) / (2 * H)) / sp.sin(sp.pi * (H - 1 + OFFSET) / (2 * H))) ** 2

# Rounding, to first order in the unit u of the numbers: in z_s = r z_{s-1} + x_s the term of lag t is rounded at most
# 2 t times, which costs it 2 t u of its absolute value, 2 u (1 + r/(1 - r)) on average over the weights r^(t-1).
# So do the sums of r^(t-1), by which z_s is divided. That r is rounded changes the weights (1 - r) r^(t-1) by u times
# |t - 1 - r/(1 - r)| of each, 2 u r/(1 - r) in all at most. With the quotient, the weight c of the head, its product
# and a sum over H heads, a head that averages tokens in [-1, 1] adds at most u times
LOSS = sp.Abs(c) * (H + 7 + 6 * r / (1 - r))

# The least error. Averages that are off by `unit` move the token at lag i by up to unit sum_h |c_h/(1 - r_h)|, and
# tokens that are all the same show this and the distance at once. So the error is at least
#   F_i = e_{H-i+1} + unit sum_h |c_h|,
# by the first entry of the tail. Let Y be monic of degree H with Y(r_h) = -unit at the largest rate, +unit at the next
# one, and so on. Y = prod_h (z - r_h) + sum_h Y(r_h) l_h, and the terms of its coefficient of z^(i-1) have one sign, so
# this is +-F_i, for all i at once. Y has a root x_h right of each r_h, before the next rate.
# For i > 1, e_{H-i+1}(x) = F_i and prod_h x_h = |Y(0)| >= unit bound the x_h (Maclaurin), and so Y' on [0, x_H]; hence
# neighbouring rates, where Y differs by 2 unit, stay apart while F_i is bounded, and a minimum exists. For fixed Y(r_h)
# dY/dr_h = -Y'(r_h) l_h: there Y' = 0 at each r_h > 0. The H - 1 roots of Y' lie between those of Y, none at the
# smallest rate, which so is 0. Hence Y alternates H + 1 times on some [0, a]: it is unit T_H(2 z/a - 1), of leading
# coefficient 1 for 2 (a/4)^H = unit. The rates are its extremal points but a, the same for all lags; F_i is its
# coefficient. (For i = 1, |sum_h c_h| = 1.) As in (Which rates), where no coefficient of this Y is above 1, no other
# c_h do better with rates up to a: |Y_i| <= sum_h |c_h| unit + the l1 distance.
LEAST_ERROR = H / (H + i - 1) * sp.binomial(H + i - 1, 2 * i - 2) * 2 ** ((i - 1) / H) * unit ** ((H - i + 1) / H)
