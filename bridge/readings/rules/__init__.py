"""What each rule computes, encloses and gives for a network: one file a rule, which registers its faces."""

from bridge.readings.rules import apply as apply
from bridge.readings.rules import attention as attention
from bridge.readings.rules import cases as cases
from bridge.readings.rules import clip as clip
from bridge.readings.rules import concentration as concentration
from bridge.readings.rules import correction as correction
from bridge.readings.rules import cut_softmax as cut_softmax
from bridge.readings.rules import exclusion as exclusion
from bridge.readings.rules import given as given
from bridge.readings.rules import hard_max as hard_max
from bridge.readings.rules import iteration as iteration
from bridge.readings.rules import linear as linear
from bridge.readings.rules import log_softmax as log_softmax
from bridge.readings.rules import normalisation as normalisation
from bridge.readings.rules import pairs as pairs
from bridge.readings.rules import perturbed_linear as perturbed_linear
from bridge.readings.rules import product as product
from bridge.readings.rules import repetition as repetition
from bridge.readings.rules import rotation as rotation
from bridge.readings.rules import sink as sink
from bridge.readings.rules import soft_threshold as soft_threshold
from bridge.readings.rules import softmax as softmax
from bridge.readings.rules import sums as sums
from bridge.readings.rules import tokens as tokens
from bridge.readings.rules import vector_map as vector_map
