r"""Mathematics in the ASCII notation of plain text, as LaTeX: `||x||_2 <= B_x / sqrt(K)` is \|x\|_2 \le B_x / \sqrt{K}.

Letters with subscripts (`v_jk`, `sigma_init`), primes and stars (`r'`, `w*`), accents (`x_hat`, `p-bar`, `sbar`, `f^`,
`p~`), powers (`e^-p`, `A^T`, `2^(k+1)`, `x**2`), roots, norms, named functions and Greek letters; words of three
letters and more stand upright.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

GREEK = re.compile(
    "[Aa]lpha|[Bb]eta|[Gg]amma|[Dd]elta|epsilon|zeta|eta|[Tt]heta|iota|kappa|[Ll]ambda|mu|nu|[Xx]i|[Pp]i|rho|[Ss]igma|"
    "tau|[Uu]psilon|[Pp]hi|chi|[Pp]si|[Oo]mega|ell|nabla|partial"
)
NAMED = {"eps": r"\varepsilon", "lam": r"\lambda", "lamda": r"\lambda", "oo": r"\infty", "infinity": r"\infty"}
FUNCTION = re.compile("exp|log|ln|cos|sin|tanh?|cosh|sinh|max|min|sup|inf|lim|arg|det|dim|sum|prod|int")
UPRIGHT = re.compile(
    "re[lL][uU]|ReLU|softmax|sign|clip|logit|Lip|Var|Cov|tr|diag|rank|span|Proj|grad|poly|polylog|[A-Z]{2,}"
)
SHORT_WORD = re.compile("of|to|is|at|on|or|by|if|as|an|no|so|we")
SIGNS = {
    "<=": r"\le ", ">=": r"\ge ", "!=": r"\ne ", "~=": r"\approx ", "<<": r"\ll ", ">>": r"\gg ", "<~": r"<\sim ",
    ">~": r">\sim ", "~": r"\sim ", "≤": r"\le ", "≥": r"\ge ", "->": r"\to ", "=>": r"\Rightarrow ",
    "<-": r"\leftarrow ", "...": r"\dots ", "..": r"\dots ", "∞": r"\infty ", "*": r"\cdot ", "·": r"\cdot ",
    "\\": r"\setminus ", "||": r"\|", "{": r"\{", "}": r"\}", "%": r"\%", "&": r"\&", "#": r"\#",
}  # fmt: skip
TOKEN = re.compile(
    r"""(?P<number>\d+(?:\.\d+)?(?:e[+-]?\d+(?![A-Za-z_]))?)|(?P<letters>[A-Za-z]+)
    |(?P<sign><=|>=|<<|>>|<~|>~|\*\*|!=|~=|->|=>|<-|\.\.\.|\.\.|\|\||[-+*/=<>~|,;:.!?()\[\]{}%&\#'^_≤≥·∞"\\@])|(?P<space>\s+)""",
    re.VERBOSE,
)
ORDERS = {"<": r"\prec", ">": r"\succ"}  # with a subscript: an order of its own
OPENING, CLOSING = ("(", "[", "{"), (")", "]", "}")
STAR_ENDS = (*CLOSING, *"|^_'=.;:,(/", "||")  # before these a star is not a product, ^ and ~ are accents
ACCENTS = {"hat": r"\hat", "bar": r"\bar", "^": r"\hat", "~": r"\tilde"}
ACCENTED = re.compile("([A-Za-z])(bar)")
DIFFERENTIAL = re.compile("d([a-z]{3,})")


class AsciiMathError(ValueError):
    """Mathematics that does not parse: what stands there, and what is wrong with it."""


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    spaced: bool  # whether a space precedes it


def ascii_math(formula: str, names: Mapping[str, str] | None = None) -> str:
    """The LaTeX of a formula; `names` gives that of a name. Raises AsciiMathError."""
    return _MathReader(formula, names or {}).whole()


def _tokens(formula: str) -> Iterator[Token]:
    place, spaced = 0, False
    while place < len(formula):
        found = TOKEN.match(formula, place)
        if found is None:
            raise AsciiMathError(f"'{formula}' holds {formula[place]!r}, which is no sign of mathematics")
        if found.lastgroup != "space":
            yield Token(found.lastgroup or "", found[0], spaced)
        spaced = found.lastgroup == "space"
        place = found.end()


class _MathReader:
    """One pass from left to right; brackets only have to balance, so that half-open intervals are read too."""

    def __init__(self, formula: str, names: Mapping[str, str]) -> None:
        self.formula, self.names, self.tokens, self.place = formula, names, tuple(_tokens(formula)), 0

    def whole(self) -> str:
        if not self.tokens:
            raise AsciiMathError("an empty formula")
        shown = re.sub(r"(?<=[a-z] )\}\\text\{ |(?<=[a-z])\}\\text\{(?= )", "", self.until(closing=""))
        return re.sub(r" +", " ", shown.replace(r" }\,", " }")).strip()

    def until(self, closing: str) -> str:
        """Everything up to a closing bracket, which is read too; to the end if there is none to wait for."""
        parts: list[str] = []
        while (token := self.peek()) is not None:
            if token.kind == "sign" and token.text in CLOSING:
                if not closing:
                    raise self.error(f"'{token.text}' closes nothing")
                self.place += 1
                return "".join(parts)
            parts.append(self.item())
        if closing:
            raise self.error("a bracket is not closed")
        return "".join(parts)

    def peek(self, ahead: int = 0) -> Token | None:
        return self.tokens[self.place + ahead] if self.place + ahead < len(self.tokens) else None

    def error(self, words: str) -> AsciiMathError:
        return AsciiMathError(f"'{self.formula}': {words}")

    def item(self) -> str:
        """One letter, number, sign or group with what stands below, above and behind it."""
        token = self.tokens[self.place]
        self.place += 1
        if token.kind == "number":
            return self.with_scripts(_number(token.text))
        if token.kind == "letters":
            return self.letters(token)
        if token.text in OPENING:
            body, closed = self.until(token.text), self.tokens[self.place - 1].text
            return self.with_scripts(f"{_sign(token.text)}{body}{_sign(closed)}")
        if token.text in ("^", "_"):
            raise self.error(f"'{token.text}' has nothing before it")
        if token.text in ("|", "||"):
            bars = "||" if token.text == "||" and self.no_norm() else _sign(token.text)
            return self.with_scripts(bars)
        if token.text in ("<", ">") and self.touches("_"):
            return f" {self.with_scripts(ORDERS[token.text])} "
        if token.text in ("+", "-", "=", "<", ">") and not self.is_prefix(token):
            return f" {token.text} "
        return _sign(token.text)

    def is_prefix(self, token: Token) -> bool:
        """Whether a sign belongs to what follows it: no space between them, and one before or nothing."""
        following = self.peek()
        return following is not None and not following.spaced and token.text in "+-"

    def letters(self, token: Token) -> str:
        name = token.text
        following = self.peek()
        bracket = self.touches("(")
        if name == "sqrt":
            return self.with_scripts(rf"\sqrt{{{self.argument() if bracket else self.script()}}}")
        if name == "abs" and bracket:
            return self.with_scripts(f"|{self.argument()}|")
        if name == "log" and (base := self.peek()) is not None and base.kind == "number" and not base.spaced:
            self.place += 1
            return rf"\log_{{{base.text}}} "
        if name == "in" and token.spaced:
            return r" \in "
        if name == "R" and self.is_real_numbers():
            return self.with_scripts(r"\mathbb{R}")
        between = token.spaced and self.stands_behind_operand() and following is not None and following.spaced
        if name == "x" and between and following is not None and following.kind != "sign":
            return r" \times "
        shown = r"\infty " if name == "inf" and self.is_infinity(following) else self.names.get(name, _name(name))
        if shown is None:
            before, after = (" " if token.spaced else ""), (" " if following is not None and following.spaced else "")
            if following is not None and following.text in ("_", "'", "^") and not following.spaced:
                return before + self.with_scripts(rf"\mathrm{{{name}}}")
            if len(self.tokens) == 1:
                return rf"\mathrm{{{name}}}"
            return rf"\text{{{before}{name}{after}}}"
        gap = r"\," if token.spaced and self.follows_operand() and shown[0] != "\\" else " "
        return gap * token.spaced + self.with_scripts(shown) + " " * shown.startswith("\\")

    def touches(self, text: str, ahead: int = 0) -> bool:
        """Whether this token comes next, with no space before it."""
        token = self.peek(ahead)
        return token is not None and token.text == text and not token.spaced

    def no_norm(self) -> bool:
        """Whether two bars beside each other end one absolute value and start or end another one."""
        before = [token.text for token in self.tokens[: self.place - 1]]
        every = [token.text for token in self.tokens]
        return before.count("|") % 2 == 1 or every.count("||") % 2 == 1

    def follows_operand(self) -> bool:
        """Whether a letter or number stands before the one just read: then they are a product."""
        before = self.tokens[self.place - 2] if self.place > 1 else None
        return before is not None and before.text not in ("in", "x") and self.stands_behind_operand()

    def stands_behind_operand(self) -> bool:
        """Whether a number, a letter that is no function, or a group stands before what was just read."""
        before = self.tokens[self.place - 2] if self.place > 1 else None
        if before is None or FUNCTION.fullmatch(before.text):
            return False
        return before.kind in ("number", "letters") or before.text in CLOSING

    def is_real_numbers(self) -> bool:
        """Whether R is the set of real numbers: after "in", or before or behind an arrow of types."""
        before = self.tokens[self.place - 2].text if self.place > 1 else ""
        return before in ("in", "->", ":")

    def is_infinity(self, following: Token | None) -> bool:
        return following is None or (following.kind == "sign" and following.text not in ("_", "("))

    def argument(self) -> str:
        self.place += 1
        return self.until("(").strip()

    def with_scripts(self, base: str) -> str:
        """Accents, primes, stars, a subscript and an exponent, in any order."""
        below, above, primes = "", "", ""
        while (token := self.peek()) is not None and not token.spaced:
            if token.text == "'":
                primes, self.place = primes + "'", self.place + 1
            elif token.text == "*" and self.is_star():
                above, self.place = above + r"\star", self.place + 1
            elif not above and (accent := self.accent()):
                base = _accented(base, accent)
            elif token.text == "_" and not above and self.touches("star", ahead=1):
                above, self.place = r"\star", self.place + 2
            elif token.text == "_" and not below:
                self.place += 1
                below = self.half() or self.script(below=True)
            elif token.text in ("^", "**") and not above.strip(r"\star"):
                self.place += 1
                order = base in ("f", "g") and self.touches("(")  # of a derivative
                power = self.script()
                above += (" " if above else "") + (f"({power})" if order else power)
            else:
                break
        raised = f"^{{{_primes(primes)}{above}}}" if above else primes
        return base + (f"_{{{below}}}" if below else "") + raised

    def accent(self) -> str:
        """The accent that comes next, which is read; "" if none does."""
        token, following = self.peek(), self.peek(1)
        if token is None:
            return ""
        if token.text == "_" and following is not None and not following.spaced and following.text in ("hat", "bar"):
            self.place += 2
            return ACCENTS[following.text]
        if token.text == "-" and self.touches("bar", ahead=1):
            self.place += 2
            return ACCENTS["bar"]
        ends = following is None or following.spaced or following.text in STAR_ENDS
        if ends and (token.text == "~" or (token.text == "^" and not self.touches("(", ahead=1))):
            self.place += 1
            return ACCENTS[token.text]
        return ""

    def half(self) -> str:
        """The subscript of `T_1/2^w`, which is 1/2."""
        text = [token.text for token in self.tokens[self.place : self.place + 4]]
        if text != ["1", "/", "2", "^"]:
            return ""
        self.place += 3
        return "1/2"

    def is_star(self) -> bool:
        """Whether a star has no second factor: then it marks the letter before it."""
        following = self.peek(1)
        return following is None or following.spaced or following.text in STAR_ENDS

    def script(self, *, below: bool = False) -> str:
        """What stands below or above: a group without its brackets, or a sign and one atom."""
        token = self.peek()
        if token is None or token.spaced:
            raise self.error("nothing stands below or above")
        if token.text in OPENING:
            self.place += 1
            return self.until(token.text).strip()
        if token.text in ("-", "+"):
            self.place += 1
            group = (opening := self.peek()) is not None and opening.text in OPENING
            return token.text + (f"({self.script()})" if group else self.script())
        if token.text == "*":
            self.place += 1
            return r"\star"
        if token.kind == "sign":
            raise self.error(f"'{token.text}' stands below or above")
        self.place += 1
        shown = _below(token.text) if below else _above(token)
        if below and token.text.isupper() and (digits := self.peek()) and digits.kind == "number" and not digits.spaced:
            self.place += 1
            shown = rf"\mathrm{{{token.text}{digits.text}}}"
        return _accented(shown, accent) if self.touches("~") and (accent := self.accent()) else shown


def _sign(text: str) -> str:
    return SIGNS.get(text, text)


def _accented(letters: str, accent: str) -> str:
    """The accent on the last of two letters that are a product, as in dp; on the whole of a name, as in Wq."""
    first, last = (letters[0], letters[1]) if len(letters) == 2 and letters[0].islower() else ("", letters)
    return f"{first}{accent}{{{last}}}"


def _primes(primes: str) -> str:
    return r"\prime" * len(primes) + " " * bool(primes)


def _number(text: str) -> str:
    mantissa, e, exponent = text.partition("e")
    if not e:
        return text
    power = f"10^{{{int(exponent)}}}"
    return power if mantissa == "1" else rf"{mantissa} \cdot {power}"


def _name(name: str) -> str | None:
    """A letter, or a name that has a sign of its own; None for a word."""
    if name in NAMED:
        return NAMED[name]
    if accented := ACCENTED.fullmatch(name):
        return f"{ACCENTS[accented[2]]}{{{accented[1]}}}"
    if (differential := DIFFERENTIAL.fullmatch(name)) and GREEK.fullmatch(differential[1]):
        return rf"d\{differential[1]}"
    if GREEK.fullmatch(name) or FUNCTION.fullmatch(name):
        return "\\" + name
    if UPRIGHT.fullmatch(name):
        return rf"\mathrm{{{name}}}"
    return name if len(name) <= 2 and not SHORT_WORD.fullmatch(name) else None


def _below(name: str) -> str:
    if name == "inf":
        return r"\infty"
    shown = _name(name)
    return name if name.isdigit() else shown or rf"\mathrm{{{name}}}"


def _above(token: Token) -> str:
    return r"\top" if token.text == "T" else _below(token.text)
