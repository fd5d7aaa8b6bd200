"""A class of functions of your own: from its Fourier density to C_F, features that represent it, and their error."""

import sympy as sp
import torch

import boundsmith as bs
from boundsmith.barron import BarronClass, ClassMember, family_of, r, represented

# 1. The spectrum: f(x) = a (1 + |x|^2)^(-3/2) on R^2 with |a| <= 1 has F_f(omega) = a exp(-|omega|)/(2 pi).
poisson = BarronClass(2, at_zero=1, radial=sp.exp(-r) / (2 * sp.pi))

# 2. Functions of the class: their values, and at each draw |F_f|/F^sup and the phase of F_f.
members = [
    ClassMember(
        "poisson",
        value=lambda x, a=a: a * (1 + (x * x).sum(-1)) ** -1.5,
        share=lambda draw, a=a: abs(a) * torch.ones_like(draw.t),
        phase=lambda draw, a=a: torch.full_like(draw.t, 0.0 if a > 0 else torch.pi),
    )
    for a in (1.0, -0.5)
]

# 3. Lemma 1 for them: with probability 1 - delta, n random ramps represent them all.
own = represented("poisson", family_of(poisson, members), n=(256, 1024), delta=0.1)

if __name__ == "__main__":
    print("C_F =", poisson.constant)
    print(bs.compare(own))
    print(bs.solve(own, for_="n", error=0.5).value)
