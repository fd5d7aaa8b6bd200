"""Real inputs (tables of numbers, series, texts) that a theorem declares in `Theorem.sources`."""

from bridge.theorems.sources.sample import Sample
from bridge.theorems.sources.series import ScaledSeries, Series
from bridge.theorems.sources.source import InputSource, Predicted, Prediction
from bridge.theorems.sources.tabular import Tabular
from bridge.theorems.sources.textual import Textual, Windows

__all__ = [
    "Predicted",
    "Prediction",
    "Sample",
    "ScaledSeries",
    "Series",
    "InputSource",
    "Tabular",
    "Textual",
    "Windows",
]
