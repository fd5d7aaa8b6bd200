# The names of boundsmith and where each comes from. `__init__.py` reads this file, and type checkers do.

from boundsmith import barron as barron
from boundsmith import checks as checks
from boundsmith import domains as domains
from boundsmith import dynamics as dynamics
from boundsmith import formulas as formulas
from boundsmith import gradients as gradients
from boundsmith import networks as networks
from boundsmith import rules as rules
from boundsmith import sources as sources
from boundsmith import statements as statements
from bridge.export.comparison import Comparison as Comparison
from bridge.questions.certify.certifying import certify as certify
from bridge.questions.certify.obligations import discharge as discharge
from bridge.questions.compare import compare as compare
from bridge.questions.replaying import replay as replay
from bridge.questions.solve import solve as solve
from bridge.questions.steps import steps as steps
from bridge.readings import Emulated as Emulated
from bridge.readings import Smooth as Smooth
from bridge.readings import at as at
from bridge.theorems.building import theorem as theorem
from bridge.theorems.check import Check as Check
from bridge.theorems.check import Sides as Sides
from bridge.theorems.pair import Pair as Pair
from bridge.theorems.parts import AtPoint as AtPoint
from bridge.theorems.parts import ExactRuns as ExactRuns
from bridge.theorems.parts import InputSearch as InputSearch
from bridge.theorems.parts import Knobs as Knobs
from bridge.theorems.parts import Refuting as Refuting
from bridge.theorems.record import NamedTable as NamedTable
from bridge.theorems.record import Verdict as Verdict
from bridge.theorems.refusal import Refusal as Refusal
from bridge.theorems.refutation import Refutation as Refutation
from bridge.theorems.texts import Text as Text
from bridge.theorems.theorem import Theorem as Theorem
from bridge.theorems.transformer import Transformer as Transformer
from symbolic.derivations.derivation import Approximated as Approximated
from symbolic.derivations.derivation import Derivation as Derivation
from symbolic.derivations.derivation import DerivationError as DerivationError
from symbolic.derivations.derivation import Norm as Norm
from symbolic.derivations.events import Event as Event
from symbolic.statements.catalogue import find_result as find_result
from symbolic.statements.catalogue import results as results
from symbolic.words.errors import UsageError as UsageError

def main() -> int: ...
