"""Real inputs (tables of numbers, series, texts) that a theorem declares in `Theorem.sources`."""

from bridge.sources.series import ScaledSeries, Series
from bridge.sources.source import InputSource, Predicted, Prediction
from bridge.sources.tabular import Tabular
from bridge.sources.textual import Textual, Windows

__all__ = [
    "Predicted",
    "Prediction",
    "ScaledSeries",
    "Series",
    "InputSource",
    "Tabular",
    "Textual",
    "Windows",
]
