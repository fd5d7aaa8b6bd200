"""Real inputs as prompts, for `bs.theorem(..., sources=[...])`, and files that a parameter names.

- rows of a table as a prompt or as draws of a law, a series, a text: Tabular, Sample, Series, Textual
- what is predicted: Prediction, Predicted
- bytes as vectors of signs: byte_signs, embedded_bytes, nearest_bytes
- files: read_text, ShippedFiles
- notations, whose errors come all at once: Complaints, numbered_lines, placed_words
"""

from bridge.limits.files import ShippedFiles, read_text
from bridge.limits.notations import Complaints, numbered_lines, placed_words
from bridge.theorems.sources import Predicted, Prediction, Sample, Series, Tabular, Textual
from bridge.theorems.sources.byte_signs import byte_signs, embedded_bytes, nearest_bytes

__all__ = [
    "Tabular",
    "Sample",
    "Series",
    "Textual",
    "Prediction",
    "Predicted",
    "byte_signs",
    "embedded_bytes",
    "nearest_bytes",
    "read_text",
    "ShippedFiles",
    "Complaints",
    "numbered_lines",
    "placed_words",
]
