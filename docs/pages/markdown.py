r"""Words, formulas and tables as MyST: mathematics between dollar signs, in LaTeX that latex2mathml converts."""

import inspect
import re
from collections.abc import Iterable, Iterator, Sequence

from symbolic.words.ascii_math import ascii_math
from symbolic.words.prose import marked, rendered

COMMANDS = "\\`*_<>|[]{}$#~"
SIGNS = re.compile("[" + re.escape(COMMANDS) + "]")
IN_TEXT = re.compile(r"\\text\{([^{}$]*)\$([^$]*)\$([^{}]*)\}")
ALIGNED = re.compile(r"\\(begin|end)\{aligned\}")
GATHERED = re.compile(r"\\(?:begin|end)\{(?:gathered|gather\*)\}")
DISPLAY = re.compile(
    r"\{\\allowdisplaybreaks\s*(?P<many>\\begin\{gather\*\}.*?\\end\{gather\*\})\s*\}(?P<stop>\s*[.,;])?"
    r"|\\\[(?P<one>.*?)\\\]|\$(?P<inline>(?:[^$\\]|\\.)*)\$",
    re.DOTALL,
)
TEXT_COMMAND = re.compile(
    r"\\textup\{(?P<upright>[^{}]*)\}|\\texttt\{(?P<code>(?:[^{}\\]|\\.)*)\}|\\(?P<sign>[%_&#${}])|(?P<tie>~)"
)
CITED = re.compile(r"\\cite\[(.*?)\]\{(\w+)\}", re.DOTALL)
NEXT_LETTER = re.compile(r"; (?=\$(?:[^$\\]|\\.)*\$(?:(?:, | and )\$(?:[^$\\]|\\.)*\$)*: )")
BARS = re.compile(r"\\?\|")
INLINE_CODE = re.compile(r"``([^`]+)``|`([^`]+)`")


def escape(words: str) -> str:
    """Words in which no sign is a command of Markdown."""
    return SIGNS.sub(r"\\\g<0>", words)


def convertible(latex: str) -> str:
    """The same formula without what latex2mathml does not know: aligned, gathered, formulas within \\text."""
    latex = IN_TEXT.sub(r"\\text{\1}\2\\text{\3}", latex.strip())
    latex = ALIGNED.sub(r"\\\1{align*}", latex)
    for edge, found in enumerate(GATHERED.findall(latex)):
        latex = latex.replace(found, r"\end{array}" if edge % 2 else r"\begin{array}{l}", 1)
    return " ".join(latex.split()).replace(r"\text{}", "")


def inline(latex: str) -> str:
    """A formula in a line of text, or in a cell of a table."""
    bars = BARS.sub(lambda bar: r"\Vert " if len(bar[0]) > 1 else r"\vert ", convertible(latex))
    return f"${bars.strip()}$"


def display(latex: str) -> str:
    """A formula on lines of its own."""
    return f"\n\n$$\n{convertible(latex)}\n$$\n\n"


def prose(words: str) -> str:
    """Words of a statement, with their mathematics."""
    return rendered(marked(words), escape, "`{}`", lambda formula: inline(ascii_math(formula)))


def from_latex(fragment: str, names: dict[str, str]) -> str:
    """A statement in LaTeX as MyST; `names` has the short name of each paper, by its key."""
    fragment = CITED.sub(lambda cited: f"{names[cited[2]]}, {cited[1].removeprefix('{').removesuffix('}')}", fragment)
    shown, place = "", 0
    for part in DISPLAY.finditer(fragment):
        shown += _text(fragment[place : part.start()])
        if part["inline"] is not None:
            shown += inline(part["inline"])
        else:
            shown += display((part["many"] or part["one"]) + (part["stop"] or "").strip())
        place = part.end()
    return _with_lists(shown + _text(fragment[place:]))


def _text(words: str) -> str:
    shown, place = "", 0
    for part in TEXT_COMMAND.finditer(words):
        shown += escape(words[place : part.start()])
        if part["upright"]:
            shown += f"**{escape(part['upright'])}**"
        elif part["code"]:
            shown += f"`{re.sub(r'.(?=[%_&#{}])', lambda sign: sign[0].strip(chr(92)), part['code'])}`"
        else:
            shown += " " if part["tie"] else escape(part["sign"])
        place = part.end()
    return shown + escape(words[place:])


def _with_lists(words: str) -> str:
    """The paragraph of the notation as a list, one letter in each item."""
    head, colon, letters = words.partition("Notation: ")
    letters, _, rest = letters.partition("\n")
    return f"{head}Notation:\n\n- {NEXT_LETTER.sub(chr(10) + '- ', letters)}\n\n{rest}" if colon else words


def docstring(of: object) -> str:
    """A docstring: code between backticks and in indented blocks, the rest as words."""
    return plain_text(inspect.getdoc(of) or "")


def plain_text(text: str) -> str:
    """Paragraphs of plain text; indented lines, and lists with columns, keep their form."""
    return "\n\n".join(filter(None, (_block(lines) for lines in _blocks(text.splitlines()))))


def _blocks(lines: Iterable[str]) -> Iterator[list[str]]:
    """Runs of lines that are all indented, or all not, without the empty lines between them."""
    block: list[str] = []
    for line in lines:
        if block and (not line.strip() or line.startswith("  ") != block[0].startswith("  ")):
            yield block
            block = []
        if line.strip():
            block.append(line)
    if block:
        yield block


def _block(lines: Sequence[str]) -> str:
    if lines[0].startswith("  "):
        least = min(len(line) - len(line.lstrip()) for line in lines)
        return code("text", "\n".join(line[least:].rstrip() for line in lines))
    if all(line.startswith("- ") for line in lines[:1]):
        return "\n".join(f"- {_words(item)}" for item in re.split(r"\n- ", "\n".join(lines).removeprefix("- ")))
    return _words("\n".join(lines))


def _words(text: str) -> str:
    shown, place = "", 0
    for part in INLINE_CODE.finditer(text):
        shown += escape(text[place : part.start()]) + f"`{part[1] or part[2]}`"
        place = part.end()
    return shown + escape(text[place:])


def code(language: str, text: str) -> str:
    """A block of code, between more backticks than it has."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; cells are MyST already, without line breaks."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}", *lines])


def details(summary: str, body: str) -> str:
    """What is folded until a reader opens it."""
    return f"<details><summary>{summary}</summary>\n\n{body.strip()}\n\n</details>"
