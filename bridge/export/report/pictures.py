"""The plots of a page: SVG within the page itself, with words for those who do not see it."""

import base64
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from matplotlib.figure import Figure

from bridge.export.plots import draw, draw_steps, picture
from bridge.theorems.record import Record
from symbolic.words.errors import UsageError

MATHEMATICS = re.compile(r"\\(?:math\w+|text|bar|(?:wide)?hat|(?:wide)?tilde|overline)(?![a-z])|[${}\\]")


@dataclass(frozen=True)
class Plot:
    """`source` is a data URI; `problem` stands in its place where the plot could not be drawn."""

    caption: str
    source: str = ""
    alt: str = ""
    problem: str = ""


def plots(comparison: Record) -> list[Plot]:
    """Bounds and errors, then what each step of the proof loses. One that has nothing to show is left out."""
    drawers = {
        "Bounds and errors": draw,
        "What each step of the proof loses at the worst input found": draw_steps,
    }
    return [each for caption, drawer in drawers.items() for each in _drawn(comparison, caption, drawer)]


def _drawn(comparison: Record, caption: str, drawer: Callable[[Record], Figure]) -> Iterator[Plot]:
    try:
        figure = drawer(comparison)
        svg = picture(figure, "svg", comparison.result)
    except UsageError:  # nothing to draw
        return
    except Exception as error:  # a figure of a theorem's own may raise anything; the rest of the page stands
        yield Plot(caption, problem=f"The plot could not be drawn: {type(error).__name__}: {error}")
        return
    source = f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
    yield Plot(caption, source, described(figure, caption))


def described(figure: Figure, caption: str) -> str:
    """What is drawn, in words: title, axes and what the legend names."""
    titles = [figure.get_suptitle(), figure.get_supxlabel(), figure.get_supylabel()]
    titles += [words for axis in figure.axes for words in (axis.get_xlabel(), axis.get_ylabel())]
    named = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    parts = [caption, *dict.fromkeys(filter(None, titles)), f"Shown: {', '.join(named)}" if named else ""]
    words = ". ".join(filter(None, parts)).replace("\n", " ")
    return f"{MATHEMATICS.sub('', words)}. The table has the numbers."
