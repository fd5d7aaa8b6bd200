r"""The LaTeX of the exporters as HTML: prose as paragraphs, mathematics as MathML.

It reads what `symbolic/latex` writes, and no other LaTeX: paragraphs, `\paragraph`, lists of numbered steps, citations,
displays, and characters that `symbolic/words/escaping.py` spells. A command that it does not know is shown as typed.
"""

import re
import unicodedata
from collections.abc import Mapping
from html import escape

from bridge.export.report.formulas import mathml
from symbolic.words.citations import Paper
from symbolic.words.escaping import ACCENTS, SPECIAL

TOKEN = re.compile(
    r"""\\\[(?P<display>.*?)\\\]
    |\{\\allowdisplaybreaks\s*(?P<broken>\\begin\{gather\*\}.*?\\end\{gather\*\})\}
    |\$(?P<inline>[^$]*)\$
    |%[^\n]*\n?
    |\\(?P<command>[A-Za-z]+\*?|.)(?:(?<=[A-Za-z*])[ ]+)?
    |(?P<blank>\n\s*\n)
    |(?P<brace>[{}])
    |(?P<text>[^\\${}%\n]+|\n)""",
    re.DOTALL | re.VERBOSE,
)
PRINTED = {
    "---": "\N{EM DASH}", "--": "\N{EN DASH}", "``": "\N{LEFT DOUBLE QUOTATION MARK}",
    "''": "\N{RIGHT DOUBLE QUOTATION MARK}", "!`": "¡", "?`": "¿", "`": "\N{LEFT SINGLE QUOTATION MARK}",
    "'": "\N{RIGHT SINGLE QUOTATION MARK}", "~": "\N{NO-BREAK SPACE}",
}  # fmt: skip
NAMED = {spelled[1:-2]: sign for sign, spelled in SPECIAL.items() if re.fullmatch(r"\\[A-Za-z]+\{\}", spelled)}
MARKS = {sign: mark for mark, sign in ACCENTS.items()}
INLINE = {"emph": ("<em>", "</em>"), "textup": ('<span class="number">', "</span>")}
ESCAPED = re.compile(r"\\([_#%&{}$])")
NAMED_CHARACTER = re.compile(r"\\([A-Za-z]+)\{\}")
HEADINGS = ("paragraph", "subsection*")


def latex_html(latex: str, papers: Mapping[str, Paper] | None = None, *, heading: int = 3) -> str:
    """The text as HTML; paragraphs of it begin with headings of that level. A citation links to its paper."""
    return _TextReader(latex, papers or {}, heading).whole()


class _TextReader:
    """One pass from left to right."""

    def __init__(self, latex: str, papers: Mapping[str, Paper], heading: int) -> None:
        self.latex, self.papers, self.heading = latex, papers, heading
        self.place, self.parts, self.open = 0, list[str](), ""

    def whole(self) -> str:
        while self.place < len(self.latex):
            self.step()
        self.end()
        return re.sub(r"\s+</(p|li)>", r"</\1>", "".join(self.parts))

    def step(self) -> None:
        token = TOKEN.match(self.latex, self.place)
        if token is None:  # a brace or a sign that nothing closes, as a user may write it
            self.place, token = self.place + 1, None
            self.write(escape(self.latex[self.place - 1]))
            return
        self.place = token.end()
        if token["command"] is not None:
            self.command(token["command"])
        elif token["blank"] is not None:
            self.end("p")
        elif (formula := token["display"] or token["broken"]) is not None:
            self.write(f'<span class="display">{mathml(formula.strip(), display=True)}</span>')
        elif token["inline"] is not None:
            self.write(mathml(token["inline"]))
        elif token["text"] is not None:
            self.write(_typeset(token["text"]))

    def write(self, html: str) -> None:
        """In the open paragraph or item, or in a new paragraph."""
        if not self.open:
            if not html.strip():
                return
            self.parts.append("<p>")
            self.open = "p"
        self.parts.append(html)

    def end(self, only: str = "") -> None:
        """Closes what is open, or a paragraph `only`."""
        if self.open and only in ("", self.open):
            self.parts.append(f"</{self.open}>")
            self.open = ""

    def command(self, name: str) -> None:
        if name in HEADINGS:
            self.end()
            words = latex_inline(self.argument(), self.papers).removesuffix(".")
            self.parts.append(f"<h{self.heading}>{words}</h{self.heading}>")
        elif name in ("begin", "end"):
            self.end()
            self.argument()
            self.parts.append('<ol class="steps">' if name == "begin" else "</ol>")
        elif name == "item":
            self.end()
            self.parts.append("<li>")
            self.open = "li"
            self.write(f'<span class="number">{escape(self.option())}</span>')
        elif name == "texttt":
            typed = ESCAPED.sub(r"\1", NAMED_CHARACTER.sub(lambda each: NAMED.get(each[1], each[0]), self.argument()))
            self.write(f"<code>{escape(typed)}</code>")
        elif name in INLINE:
            opening, closing = INLINE[name]
            self.write(f"{opening}{latex_inline(self.argument(), self.papers)}{closing}")
        elif name == "cite":
            where = latex_inline(self.option(), self.papers)
            self.write(", ".join(filter(None, [self.paper(self.argument()), where])))
        else:
            self.write(self.character(name))

    def paper(self, key: str) -> str:
        paper = self.papers.get(key)
        return escape(key) if paper is None else f'<a href="#{escape(key)}">{escape(paper.short)}</a>'

    def character(self, name: str) -> str:
        """A sign that LaTeX spells by a command; an unknown command as it is typed."""
        if name in MARKS and self.latex[self.place : self.place + 1] == "{":
            base = self.argument()
            return escape(unicodedata.normalize("NFC", base + MARKS[name]) if base else name)
        if name in NAMED:
            self.place += 2 if self.latex.startswith("{}", self.place) else 0
            return escape(NAMED[name])
        return escape(name) if len(name) == 1 and not name.isalpha() else f"<code>\\{escape(name)}</code>"

    def argument(self) -> str:
        """What stands between the next braces."""
        return self.enclosed("{", "}")

    def option(self) -> str:
        """What stands between the next brackets; "" where there are none."""
        words = self.enclosed("[", "]") if self.latex[self.place : self.place + 1] == "[" else ""
        return words[1:-1] if words.startswith("{") and words.endswith("}") else words

    def enclosed(self, opening: str, closing: str) -> str:
        start, depth = self.place + 1, 0
        for place in range(self.place, len(self.latex)):
            sign, escaped = self.latex[place], self.latex[place - 1 : place] == "\\"
            depth += 0 if escaped else (sign in ("{", opening)) - (sign in ("}", closing))
            if depth == 0:
                self.place = place + 1
                return self.latex[start:place]
        self.place = len(self.latex)
        return self.latex[start:]


def latex_inline(latex: str, papers: Mapping[str, Paper] | None = None) -> str:
    """Words of one line, without a paragraph of their own."""
    return re.sub(r"</?p>", "", latex_html(latex, papers)).strip()


def _typeset(text: str) -> str:
    """Quotation marks and dashes as they are printed."""
    for spelled, sign in PRINTED.items():
        text = text.replace(spelled, sign)
    return escape(text, quote=False)
