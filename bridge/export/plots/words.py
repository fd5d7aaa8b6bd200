"""Words of a plot: quantities and parameters in the paper's notation, where matplotlib can set it."""

import re
import textwrap
from functools import lru_cache

from matplotlib.mathtext import MathTextParser

from bridge.export.theorem_of_record import parameter_latex, theorem_of
from bridge.theorems.record import Record
from symbolic.words.errors import UsageError

# What matplotlib's mathematics spells otherwise, or only with braces.
SPELLINGS = (
    (r"\\(le|ge)(?![a-zA-Z])", r"\\\1q"),
    (r"\\(mathcal|mathrm|bar|hat)\s*([a-zA-Z])(?![a-zA-Z])", r"\\\1{\2}"),
    (r"\\[td]?frac(\w)(\w)", r"\\frac{\1}{\2}"),
)
LONGEST = 60  # characters of LaTeX that still make a label


@lru_cache(maxsize=1024)
def mathematics(formula: str) -> str:
    """The formula between dollars; "" where matplotlib's mathematics does not have all of its commands."""
    if not formula or len(formula) > LONGEST:
        return ""
    for pattern, spelling in SPELLINGS:
        formula = re.sub(pattern, spelling, formula)
    try:
        MathTextParser("path").parse(f"${formula}$")
    except ValueError:
        return ""
    return f"${formula}$"


class Words:
    """The notation of the theorem that was compared; plain names for a record whose theorem is not known."""

    def __init__(self, comparison: Record) -> None:
        self.comparison = comparison

    def parameter(self, name: str) -> str:
        """In the paper's notation, or as it is typed."""
        return mathematics(parameter_latex(self.comparison, name)) or name

    def quantity(self, name: str) -> str:
        """Its name, and what the name stands for if that is short."""
        theorem = theorem_of(self.comparison)
        try:
            formula = theorem.statement.quantity(name).latex_symbol if theorem else ""
        except UsageError:  # a quantity of this point, or one that is claimed
            formula = ""
        shown = mathematics(formula)
        return name if not shown or re.sub(r"[$\\{}]|text|mathrm", "", shown) == name else f"{name}: {shown}"


def lines_of(sentence: str, width: int) -> list[str]:
    """Lines of so many characters, broken neither at "=" nor inside mathematics."""
    parts = sentence.replace(" = ", "\xa0=\xa0").split("$")
    parts[1::2] = [formula.replace(" ", "\xa0") for formula in parts[1::2]]
    lines = textwrap.wrap("$".join(parts), width, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\xa0", " ") for line in lines]
