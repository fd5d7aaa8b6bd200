"""Best constants: each between one for which a statement is proved and one that a point refutes."""

from bridge.questions.constants.best import BestConstant
from bridge.questions.constants.decays import decay
from bridge.questions.constants.largest import largest_constant, supremum
from bridge.questions.constants.lipschitz import lipschitz

__all__ = ["BestConstant", "decay", "largest_constant", "lipschitz", "supremum"]
