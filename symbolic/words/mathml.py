r"""The mathematics of words as MathML, for pages: of the LaTeX that `ascii_math` makes, and of no other."""

import re
import unicodedata
from functools import lru_cache
from html import escape

from symbolic.words.ascii_math import FUNCTION, ascii_math
from symbolic.words.prose import marked, rendered

TOKEN = re.compile(
    r"\\(?:text|mathrm)\{(?P<upright>[^{}]*)\}|\\(?P<command>[A-Za-z]+|.)|(?P<number>\d+(?:\.\d+)?)|\s+|."
)
OPERATORS = {
    "le": "≤", "ge": "≥", "ne": "≠", "approx": "≈", "ll": "≪", "gg": "≫", "sim": "∼", "to": "→", "Rightarrow": "⇒",
    "leftarrow": "←", "dots": "…", "cdot": "⋅", "times": "×", "in": "∈", "setminus": "∖", "sum": "∑", "prod": "∏",
    "int": "∫", "|": "‖", "{": "{", "}": "}", "%": "%", "&": "&", "#": "#",
    "prec": "≺", "succ": "≻",
}  # fmt: skip
LETTERS = {
    "infty": "∞", "ell": "ℓ", "nabla": "∇", "partial": "∂", "star": "⋆", "top": "⊤", "varepsilon": "ε", "epsilon": "ϵ",
    "phi": "ϕ", "lambda": "λ", "Lambda": "Λ",
}  # fmt: skip
ACCENTS = {"hat": "^", "bar": "¯", "tilde": "~"}
PRIMES = {"'": "′", r"\prime": "′"}
AFTER_FUNCTION = ("", "}", "(", "[", ")", "]", ",", "=", r"\{", r"\,")  # before these the name of one needs no space
SPACE = '<mspace width="0.17em"/>'


def prose_html(words: str) -> str:
    """The words for a page; mathematics that does not parse (it holds a name of the user's) as typed."""
    return _html(marked(words))


@lru_cache(maxsize=1 << 12)
def _html(words: str) -> str:
    return rendered(words, escape, "<code>{}</code>", math_html)


def math_html(formula: str) -> str:
    """A formula in ASCII notation as an element `math`. Raises AsciiMathError."""
    return f"<math>{_LatexReader(ascii_math(formula)).sequence()}</math>"


class _LatexReader:
    """One pass from left to right over balanced braces."""

    def __init__(self, latex: str) -> None:
        self.tokens = [token for token in TOKEN.finditer(latex) if not token[0].isspace()]
        self.place = 0

    def peek(self) -> str:
        return self.tokens[self.place][0] if self.place < len(self.tokens) else ""

    def sequence(self) -> str:
        """Everything up to a closing brace, which is read too, or to the end, as one element."""
        items = []
        while self.peek() not in ("", "}"):
            items.append(self.item())
        self.place += 1
        return items[0] if len(items) == 1 else f"<mrow>{''.join(items)}</mrow>"

    def item(self) -> str:
        """An atom with what stands below and above it."""
        token = self.tokens[self.place]
        base, below, above = self.atom(), "", []
        while self.peek() in ("_", "^", "'"):
            sign = self.peek()
            self.place += sign != "'"
            if sign == "_":
                below = self.atom()
            else:
                above.append(self.atom())
        raised = above[0] if len(above) == 1 else f"<mrow>{''.join(above)}</mrow>"
        if below and above:
            shown = f"<msubsup>{base}{below}{raised}</msubsup>"
        else:
            shown = f"<msub>{base}{below}</msub>" if below else f"<msup>{base}{raised}</msup>" if above else base
        is_function = token["command"] is not None and FUNCTION.fullmatch(token["command"])
        return shown + SPACE if is_function and self.peek() not in AFTER_FUNCTION else shown

    def atom(self) -> str:
        token = self.tokens[self.place]
        self.place += 1
        if token[0] == "{":
            return self.sequence()
        if token["upright"] is not None:
            return _upright(token[0], token["upright"])
        if token["number"]:
            return f"<mn>{token[0]}</mn>"
        if token[0] in PRIMES:
            return f"<mo>{PRIMES[token[0]]}</mo>"
        return self.command(token["command"]) if token["command"] else _sign(token[0])

    def command(self, name: str) -> str:
        if name == ",":
            return SPACE
        if name == "sqrt":
            return f"<msqrt>{self.atom()}</msqrt>"
        if name == "mathbb":
            return self.atom().replace("<mi>R<", "<mi>ℝ<")
        if name in ACCENTS:
            return f'<mover accent="true">{self.atom()}<mo>{ACCENTS[name]}</mo></mover>'
        return _sign(OPERATORS[name]) if name in OPERATORS else f"<mi>{_letter(name)}</mi>"


def _upright(token: str, words: str) -> str:
    if token.startswith(r"\text"):
        return f"<mtext>{escape(words).replace(' ', '&nbsp;')}</mtext>"
    single = ' mathvariant="normal"' if len(words) == 1 else ""
    return f"<mi{single}>{escape(words)}</mi>"


def _sign(sign: str) -> str:
    """A letter, or an operator; brackets keep their size."""
    if sign.isalpha():
        return f"<mi>{sign}</mi>"
    bare = ' lspace="0" rspace="0"' if sign in ("|", "‖") else ""
    return f'<mo stretchy="false"{bare}>{escape("−" if sign == "-" else sign)}</mo>'


def _letter(name: str) -> str:
    """A Greek letter or another sign of its own; the name of a function as it is."""
    if name in LETTERS:
        return LETTERS[name]
    case = "CAPITAL" if name[0].isupper() else "SMALL"
    try:
        return unicodedata.lookup(f"GREEK {case} LETTER {name.upper()}")
    except KeyError:
        return name
