r"""LaTeX of the exporters as MathML Core, which browsers set without scripts.

latex2mathml reads the formula. What it lacks of amsmath is spelled in what it has (`aligned`, `gathered`), and what
MathML leaves to the writer is added: limits below operators, spaces behind functions, alignment of lines.
"""

import contextlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from html import escape, unescape
from xml.etree.ElementTree import Element, tostring

from latex2mathml.converter import convert_to_element

SPELLINGS = (
    (re.compile(r"\\(begin|end)\{aligned\}"), r"\\\1{align*}"),
    (re.compile(r"\\begin\{gather(?:ed|\*)\}"), r"{\\displaylines{"),
    (re.compile(r"\\end\{gather(?:ed|\*)\}"), "}}"),
    (re.compile(r"\\\\\s*\["), r"\\\\ {}["),  # the bracket is a bracket, not the space of a line break
)
UNDER = {"msub": "munder", "msup": "mover", "msubsup": "munderover"}
LIMITS = {"max", "min", "sup", "inf", "lim", "lim\u2006inf", "lim\u2006sup"}
ACCENTS = set("^~\u02d9\u00a8\u00af\u2015")
BARS = ("|", "‖")  # of which nobody knows whether they open or close
SIGNS = ("+", "\N{MINUS SIGN}")
BEFORE_SIGNED = set("([{,;:=<>≤≥≠≈∼→∈⋅×/")  # a sign behind one of these belongs to what follows it
ROWS = ("math", "mrow", "mtd", "msqrt", "mstyle")
OF_LATEX2MATHML = ("rowspacing", "columnspacing", "columnalign", "xmlns")  # not in MathML Core
GAP = "0.167em"


@lru_cache(maxsize=1 << 13)
def mathml(formula: str, *, display: bool = False) -> str:
    """The formula as an element `math`; as `code` where latex2mathml cannot read it, as LaTeX of a user's may be."""
    spelled = formula
    for pattern, spelling in SPELLINGS:
        spelled = pattern.sub(spelling, spelled)
    try:
        found = convert_to_element(spelled, display="block" if display else "inline")
    except Exception:  # its errors have no common class, and a formula that it cannot read may raise any
        return f"<code>{escape(formula)}</code>"
    _refine(found)
    return tostring(found, encoding="unicode", short_empty_elements=False)


def _refine(element: Element) -> None:
    """In place, from the leaves up."""
    element.text = unescape(element.text) if element.text else None
    for child in element:
        _refine(child)
    if element.tag == "mtd" or element.get("displaystyle"):
        element.set("class", element.get("columnalign") or "lines")
    for name in OF_LATEX2MATHML:
        element.attrib.pop(name, None)
    if element.tag in UNDER and len(element):
        element.tag = UNDER[element.tag] if element[0].get("movablelimits") else element.tag
    elif element.tag in ("mover", "munder") and len(element) == 2 and element[1].text in ACCENTS:
        element.set("accent", "true")
        element[1].attrib.clear()
        element[1].set("stretchy", str(len("".join(element[0].itertext())) > 1).lower())
    elif element.tag in ("mi", "mo"):
        _refine_sign(element)
    if element.tag in ROWS:
        element[:] = _spaced(_words(each for each in element if each.tag != "mi" or each.text))


def _refine_sign(element: Element) -> None:
    word, variant = element.text or "", element.get("mathvariant")
    if element.tag == "mo" and word in LIMITS:
        element.attrib.update(movablelimits="true", lspace="0", rspace=GAP)
    elif element.tag == "mo" and word in BARS and not element.get("form"):
        element.attrib.update(lspace="0", rspace="0")
    elif element.tag == "mo" and len(word) > 1 and word.isalpha():
        element.tag = "mi"
    elif variant not in (None, "normal") and len(word) == 1:
        element.attrib.pop("mathvariant")
        element.text = _styled(word, variant.upper())


def _styled(letter: str, style: str) -> str:
    """The letter in that style, a sign of its own; itself where there is none."""
    size = "CAPITAL" if letter.isupper() else "SMALL"
    for name in (f"MATHEMATICAL {style} {size} {letter.upper()}", f"{style} {size} {letter.upper()}"):
        with contextlib.suppress(KeyError):
            return unicodedata.lookup(name)
    return letter


def _words(elements: Iterable[Element]) -> list[Element]:
    """Upright letters behind each other as one name."""
    found: list[Element] = []
    for each in elements:
        if _is_upright(each) and found and _is_upright(found[-1]):
            found[-1].text = f"{found[-1].text}{each.text}"
        else:
            found.append(each)
    return found


def _is_upright(element: Element) -> bool:
    return element.tag == "mi" and element.get("mathvariant") == "normal"


def _spaced(elements: Sequence[Element]) -> list[Element]:
    """With a space behind the name of a function, unless a bracket follows; a sign that begins a line is infix."""
    found: list[Element] = []
    for each in elements:
        before = found[-1] if found else None
        if before is not None and each.tag == "mo" and each.text in SIGNS and before.tag in ("mspace", "mo"):
            each.set("form", "prefix" if before.text in BEFORE_SIGNED else "infix")
        if before is not None and _is_function(before) and not _opens(each):
            found.append(Element("mspace", width=GAP))
        found.append(each)
    return found


def _is_function(element: Element) -> bool:
    """A name such as log or tanh, with an exponent or an index too."""
    base = element[0] if element.tag in UNDER and len(element) else element
    word = base.text or ""
    return base.tag == "mi" and len(word) > 1 and word.isascii() and base.get("mathvariant") != "normal"


def _opens(element: Element) -> bool:
    """Whether it begins with a sign, before which a function needs no space."""
    while len(element) and element.tag in ("mrow", *UNDER):
        element = element[0]
    return element.tag in ("mo", "mspace", "mtext")
