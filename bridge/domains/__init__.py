"""The sets from which the inputs of a theorem come."""

from bridge.domains.boxes import Box, Integers, Signs
from bridge.domains.domain import Domain
from bridge.domains.products import Concatenated, Product, Rows
from bridge.domains.shells import Shell
from bridge.domains.spectra import SingularValues
from bridge.domains.spheres import Ball, Simplex, Sphere

__all__ = [
    "Domain",
    "Box",
    "Ball",
    "Sphere",
    "Shell",
    "Signs",
    "Simplex",
    "SingularValues",
    "Integers",
    "Rows",
    "Concatenated",
    "Product",
]
