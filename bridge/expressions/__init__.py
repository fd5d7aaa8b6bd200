"""A theorem is an expression: it knows its size, its error, its domain, and what it computes, exactly and nearly."""

from bridge.expressions import cosine_features as cosine_features
from bridge.expressions import definitions as definitions
from bridge.expressions import draws as draws
from bridge.expressions import products as products
from bridge.expressions import sinks as sinks
from bridge.expressions import tokens as tokens
