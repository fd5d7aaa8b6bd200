"""A flow of your own: from a loss to its conserved quantity, a Lyapunov function, and a proof that it decays.

The loss is that of a two-layer linear network with one weight a layer, (a b - 1)^2 / 2.
"""

import sympy as sp

from boundsmith.checks import prove, smallest
from boundsmith.dynamics import Decay, conserved_quantities, gradient_flow
from boundsmith.statements import Inequality

a, b, y = sp.symbols("a b y", real=True)
flow = gradient_flow((a * b - 1) ** 2 / 2, (a, b))
print("conserved:", conserved_quantities(flow))  # found among all polynomials of degree 2, and proved

balanced = flow.restricted({b: a})  # a = b is invariant
print("on a = b:", sp.factor(balanced.rate(a)))

# Move the equilibrium a = 1 to y = 0. Both sides of the decay inequality vanish there.
decay = Decay(balanced.changed({y: a - 1}, {a: 1 + y}), y**2)
region = {y: (sp.Rational(-1, 2), sp.Rational(1, 2))}
largest = smallest(sp.cancel(decay.largest_constant), Inequality("region", y**2, region))
print(f"d(y^2)/dt <= -c y^2 for |y| <= 1/2 can hold up to c = {largest:.4f}")  # 3/2, at y = -1/2

for c in (sp.Rational(7, 5), sp.Rational(8, 5)):
    outcome = prove(Inequality(f"decay, c = {c}", sp.expand(decay.gap(c)), region, vanishing=(y,)))
    print(f"c = {c}: {outcome.status} in {outcome.boxes} boxes", outcome.point or "")

print("hence y(t)^2 <=", decay.integrated(sp.Rational(7, 5), sp.Symbol("y_0") ** 2, sp.Symbol("t")))
