"""Sets of inputs and weights: boundsmith draws from them, attacks within them, and checks membership on balls.

- vectors: Box, Ball, Sphere, Shell, Simplex, Signs, Integers
- matrices: Rows, SingularValues
- of several parts: Product, Concatenated, layered_box
- what each of them is: Domain
"""

from bridge.domains import (
    Ball,
    Box,
    Concatenated,
    Domain,
    Integers,
    Product,
    Rows,
    Shell,
    Signs,
    Simplex,
    SingularValues,
    Sphere,
)
from bridge.domains.layered import layered_box

__all__ = [
    "Box",
    "Ball",
    "Sphere",
    "Shell",
    "Simplex",
    "Signs",
    "Integers",
    "Rows",
    "SingularValues",
    "Product",
    "Concatenated",
    "layered_box",
    "Domain",
]
