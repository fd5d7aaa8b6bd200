"""Classes of functions by their Fourier densities (Barron): constants, members, and random features for them.

- a class: BarronClass, r
- its members: ClassMember, family_of
- the theorem that n random ramps represent them: represented
"""

from bridge.topics.universal.features import represented
from bridge.topics.universal.members import family_of
from numeric.topics.universal.features import ClassMember
from symbolic.topics.universal.barron_derivation import BarronClass, r

__all__ = ["BarronClass", "r", "ClassMember", "family_of", "represented"]
