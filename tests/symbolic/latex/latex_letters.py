r"""The letters of an exported theorem, read from its LaTeX alone, and those that nothing introduces where they stand.

A letter is a sign with its accents, its star and its index. Letters are introduced by the list of numbers, by an entry
of the notation, by a definition below a display, by a domain ("For $0 < x < 1$"), by a noun before it ("layer $j$",
"the rows $v_{jk}$": small letters and such with an index only), by words that say what they are ("where $W$ is a set",
"the sum over $m$ of $c_m x^m$"), or they are bound in their formula: the index of a sum, the argument in a
definition. An entry for $x_t$ introduces x with any index, not x alone; one for $x$ not $x_t$.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

# Names that SymPy prints, which no reader of mathematics knows.
SYMPY = (
    "Abs|And|Derivative|Eq|Equality|ExprCondPair|Heaviside|Identity|Integral|KroneckerDelta|MatAdd|MatMul|MatPow|Max|Min|"
    "Mul|Ne|Not|Or|Piecewise|Pow|Product|Rational|Sum|Symbol|Transpose|abs|ceiling|lamda|oo"
)
RAW = re.compile(
    rf"(?<![A-Za-z\\])(?:{SYMPY})(?:\}}|\\right|\\left|\s)*\(|\\(?:text|mathrm|operatorname)\{{\s*(?:{SYMPY})\s*\}}|\*\*|"
    r"\b(?:lamda|oo)\b"
)
TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|[A-Za-z]|\d+(?:\.\d+)?|\S")
ACCENTS = {r"\hat", r"\tilde", r"\bar", r"\dot", r"\widehat", r"\overline"}
FONTS = {r"\mathrm", r"\mathcal", r"\mathbb", r"\mathsf", r"\operatorname"}
WORDS = {r"\text", r"\texttt", r"\cite", r"\begin", r"\end", r"\tag"}
GREEK = re.compile(
    r"\\((var)?(epsilon|theta|rho|phi|sigma)|[Aa]lpha|beta|[Gg]amma|[Dd]elta|zeta|eta|Theta|iota|kappa|[Ll]ambda|mu|nu|[Xx]i|"
    r"[Pp]i|Sigma|tau|[Uu]psilon|Phi|chi|[Pp]si|[Oo]mega|ell)"
)
BINDERS = {r"\sum", r"\prod", r"\int", r"\sup", r"\inf", r"\max", r"\min", r"\lim"}
# What every reader knows: Euler's number, pi, sets, means and probabilities, and functions by their names.
UNIVERSAL = {"e", r"\pi", r"\mathbb{R}", r"\mathbb{N}", r"\mathbb{Z}", r"\mathbb{E}", r"\mathcal{O}"}
UPRIGHT = {"softmax", "ReLU", "relu", "sign", "tr", "diag", "rank", "exp", "clip", "span", "poly"}
OF_ARGUMENTS = {
    "O",
    "o",
    r"\Omega",
    r"\Theta",
    r"\Delta",
    r"\Gamma",
}  # Landau's letters, the change of, Euler's function
RELATION = re.compile(r"\\(?:leq?|geq?|in|ne|to)(?![A-Za-z])|[=<>:]")
INDICES = re.compile(r"[h-ns-t]|\\tau")
INLINE = re.compile(r"(?<!\\)\$([^$]*)\$")
DISPLAY = re.compile(r"\\\[(.*?)\\\]|\\begin\{gather\*\}(.*?)\\end\{gather\*\}", re.DOTALL)
ENTRY = re.compile(r"(?:^Notation: |; )\$([^$]*)\$: ")
# Of an entry for a function, whose derivatives have primes.
FUNCTION = re.compile(r"(?:^Notation: |; )\$([^$]*(?=\([^$]*\$: )|[^$]*(?=\$: (?:the )?(?:activation|function)))")
# A noun before a letter names it; these words do not.
NO_NOUN = re.compile(
    "of|on|in|at|with|by|for|from|to|against|and|or|than|is|are|as|that|if|when|under|over|between|after|before|"
    "each|minus|times|the|its|an?|below|above|per|beside|both|while|until|along|not|but|some|most|least|satisfy|"
    "satisfies|through|without|within|has|have|only|also|plus|into",
    re.IGNORECASE,
)
NAMED_BY = re.compile(r"([A-Za-z]+)s? $")
DEFINING = re.compile("where|with|and|for|of|from|labels|function")
# In the notation: what a letter is, behind a word that says that this follows; and the letter that a sum runs over.
SAID = re.compile(r"(?:where|and|which|with|,|;|:|\.) \$([^$]*)\$ (?:is|are|has|have|stands|stand|takes|does)\b")
OVER = re.compile(r"(?:over|for) (?:all |every |each )?(?:real )?\$([^$]*)\$")
DOMAIN = re.compile(r"For [^\n]*(:|, )")
STRAY = re.compile(r"(?<![A-Za-z\\'.-])([B-HJ-Zb-z])(?![A-Za-z'\d-]|\.[A-Za-z\d]|-?th\b)")


@dataclass(frozen=True)
class Letter:
    """A sign with its accents, and its index in LaTeX, "" for none."""

    sign: str
    index: str = ""

    @property
    def name(self) -> str:
        return f"{self.sign}_{{{self.index}}}".replace(" ", "") if self.index else self.sign

    @property
    def parts(self) -> list["Letter"]:
        """The letters of the index."""
        return [] if _is_word(self.index) else read(self.index).letters

    @property
    def family(self) -> str:
        """Its name up to the argument in its index: e_{p( of the e_{p(j)}; "" if there is none."""
        return f"{self.sign}_{{{self.index.partition('(')[0]}(" if "(" in self.index else ""

    @property
    def has_any_index(self) -> bool:
        """Whether an introduction of it is one for every index: of i, j, t, not of x, Q, 0 or a word."""
        return bool(self.parts) and all(INDICES.fullmatch(each.name) for each in self.parts)

    @property
    def nested(self) -> tuple[str, str]:
        """Sign and sign of the index, where the index is a letter that has an index itself: B_{theta_l}."""
        return (self.sign, self.parts[0].sign) if "_" in self.index and self.parts else ("", "")


@dataclass
class Reading:
    """Letters of a formula, in order, and the small ones that it binds itself."""

    letters: list[Letter] = field(default_factory=list)
    bound: set[str] = field(default_factory=set)


class _Reader:
    def __init__(self, formula: str) -> None:
        formula = re.sub(r"\{(\\mathrm\{\w+\})\}", r"\1", formula)
        self.tokens, self.place, self.found = TOKEN.findall(formula), 0, Reading()

    def peek(self, ahead: int = 0) -> str:
        return self.tokens[self.place + ahead] if self.place + ahead < len(self.tokens) else ""

    def next(self) -> str:
        self.place += 1
        return self.tokens[self.place - 1]

    def group(self) -> str:
        """The source of what stands in braces, or of one token."""
        first = self.next() if self.peek() else ""
        if first in FONTS | ACCENTS | WORDS and self.peek() == "{":
            return f"{first}{{{self.group()}}}"
        if first != "{":
            return first
        depth, inside = 1, []
        while self.peek() and depth:
            token = self.next()
            depth += {"{": 1, "}": -1}.get(token, 0)
            inside.append(token)
        return "".join(f"{each} " if each[1:].isalpha() and each[0] == "\\" else each for each in inside[:-1]).strip()

    def read(self) -> Reading:
        while self.peek():
            self.item()
        return self.found

    def inner(self, formula: str) -> None:
        found = read(formula)
        self.found.letters += found.letters
        self.found.bound |= found.bound

    def item(self) -> None:
        token = self.next()
        if token in WORDS:
            words = self.group()
            self.scripts()
            if words.endswith("every") and is_small(Letter(self.peek(1))):
                self.found.bound.add(self.peek(1))
        elif token in BINDERS:
            self.found.bound |= bound_in(self.scripts()[0])
        elif token in (r"\operatorname", r"\mathrm"):
            self.named(self.group())
        elif token in FONTS | ACCENTS:
            self.letter(f"{token}{{{self.group()}}}")
        elif token == r"\rm":
            while self.peek() not in ("", "}"):
                self.next()
        elif token == r"\|" and self.peek() == "_" and self.peek(1) == "F":
            self.place += 2
        elif token == r"\sigma" and self.tokens[self.place : self.place + 3] == ["_", "k", "("]:
            self.place += 2  # singular values
        elif token == r"\sigma" and self.tokens[self.place : self.place + 4] == ["_", "{", r"\max", "}"]:
            self.place += 4  # the largest one
        elif token == "[" and self.peek(1) == "]" and is_small(Letter(self.peek())):
            self.found.bound.add(self.next())
        elif token in OF_ARGUMENTS and self.peek() in ("(", r"\left"):
            return
        elif token == "d" and (self.peek().isalpha() or self.peek() in ACCENTS or GREEK.fullmatch(self.peek())):
            return  # a differential, or a product, which is seen elsewhere
        elif (len(token) == 1 and token.isalpha()) or GREEK.fullmatch(token):
            self.letter(token)
        elif token in ("^", "_"):
            self.inner(self.group())

    def named(self, name: str) -> None:
        """An upright name: a function that every reader knows, or a letter like others."""
        if name in UPRIGHT:
            self.scripts()
        else:
            self.letter(rf"\mathrm{{{name}}}")

    def scripts(self) -> tuple[str, str]:
        """What stands below and above, whose letters are read."""
        found = {"_": "", "^": ""}
        while self.peek() in found:
            where = self.next()
            found[where] = self.group()
            self.inner("" if _is_word(found[where]) else found[where])
        return found["_"], found["^"]

    def letter(self, sign: str) -> None:
        index, above = "", ""
        while self.peek() in ("_", "^", "'"):
            kind = self.next()
            raised = "" if kind == "'" else self.group()
            if kind == "'":
                sign += "'"
            elif kind == "_":
                index = re.sub(r"\\(mathrm|rm|text|mathsf)|[{} ]", "", raised) if _is_word(raised) else raised
                index = rf"\rm{{{index}}}" if _is_word(raised) and not raised.isdigit() else index
            elif raised.startswith(r"\star"):
                sign, above = rf"{sign}^\star", raised[5:]
            else:
                above = raised
        self.found.letters.append(Letter(sign.replace(" ", ""), index))
        self.inner("" if _is_word(above) else above)


def _is_word(index: str) -> bool:
    """Whether an index is part of the name: upright words, roman numbers and numbers."""
    return bool(re.fullmatch(r"(\\(rm|mathrm|text|mathsf)(?![a-z]).*|I+|[\d/.,\\%-]*)", index.strip()))


def read(formula: str) -> Reading:
    """The letters of a formula in LaTeX."""
    return _Reader(formula).read()


def bound_in(limits: str) -> set[str]:
    """The letters that the limits of a sum or a supremum bind: those before the relation, in i != j both."""
    parts = [limits] if r"\ne" in limits else RELATION.split(limits)
    first = next((each for each in parts if read(each).letters), "")
    return {each.name for each in read(first).letters if is_small(each)}


def is_small(letter: Letter) -> bool:
    """Whether it can stand for an index or a variable: a lower-case letter by itself."""
    return bool(re.fullmatch(r"[a-z]|\\[a-z]+", letter.name))


@dataclass
class Known:
    """Letters introduced so far: names as they are, and the signs that have any index."""

    names: set[str] = field(default_factory=lambda: set(UNIVERSAL))
    indexed: set[str] = field(default_factory=set)
    nested: set[tuple[str, str]] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)

    def add(self, letter: Letter) -> None:
        self.names |= {letter.name, letter.family}
        if letter.has_any_index:
            self.indexed.add(letter.sign)
        if letter.nested[0] and letter.parts[0].has_any_index:
            self.nested.add(letter.nested)

    def indices(self, letter: Letter) -> list[Letter]:
        """Those of a letter that any index fits."""
        return [each for each in letter.parts if letter.sign in self.indexed and INDICES.fullmatch(each.name)]

    def unknown(self, letter: Letter, bound: set[str]) -> Iterator[Letter]:
        """The letter, or those of its index, that nothing introduces."""
        if letter.name in self.names | bound or (letter.family and letter.family in self.names):
            return
        if letter.nested in self.nested:
            return
        if letter.sign.rstrip("'") in self.functions and not letter.index:
            return
        if not (letter.index and letter.sign in self.indexed):
            yield letter
            return
        for each in letter.parts:
            if not INDICES.fullmatch(each.name):
                yield from self.unknown(each, bound)


def undefined(text: str) -> list[str]:
    """The letters of the LaTeX of a theorem that nothing introduces, in the order of the text, once each.

    Letters in the words, outside of all mathematics, are among them.
    """
    known, blocks = Known(), [block.strip("\n") for block in text.split("\n\n")]
    for block in blocks:
        entries = map(_name, ENTRY.findall(block))
        for letter in (*_numbers(block), *entries, *_nouns(block), *_stated(block), *_said(block)):
            if letter is not None:
                known.add(letter)
        known.functions |= {letter.name for letter in map(_name, FUNCTION.findall(block)) if letter is not None}
    domains = [block for block in blocks if DOMAIN.match(block)]
    for letter in _in_sets(domains[0]) if len(domains) == 1 else ():  # one domain is that of the notation too
        known.add(letter)
    found: list[str] = []
    for block in blocks:
        for letter in (*_defined(block), *_of_domain(block), *_in_sets(block)):
            known.add(letter)
        for scope, words in _scopes(block):
            readings = [read(each) for each in scope]
            bound = {each for reading in readings for each in reading.bound} | _arguments(scope)
            bound |= _run_over(words, scope)
            bound |= {i.name for reading in readings for each in reading.letters for i in known.indices(each)}
            found += [o.name for reading in readings for each in reading.letters for o in known.unknown(each, bound)]
        found += STRAY.findall(_words(block))
    return list(dict.fromkeys(found))


def _numbers(block: str) -> Iterator[Letter]:
    r"""Those of "Let the integer $N \ge 2$ (number of examples) be given"."""
    if not block.startswith("Let the "):
        return
    depth, kept = 0, []
    for sign in block.partition("be given.")[0]:
        depth += (sign == "(") - (sign == ")")
        kept.append(sign if depth == 0 and sign != ")" else "")
    for formula in INLINE.findall("".join(kept)):
        yield from read(formula).letters


def _name(formula: str) -> Letter | None:
    """The letter that a formula is, with the arguments of a function behind it or none; None for other formulas."""
    whole = re.sub(r"\\left|\\right|^\\nabla", "", formula).strip()
    named = re.sub(r"\{?\([^()]*\)\}?$", "", whole)
    reader = _Reader(named if named.count("{") == named.count("}") else whole)
    if not reader.tokens:
        return None
    reader.item()
    rest = "".join(reader.tokens[reader.place :])
    return reader.found.letters[0] if reader.found.letters and not rest else None


def _nouns(block: str) -> Iterator[Letter]:
    """Small letters, and such with any index, that stand alone behind a noun or "all", or behind one that does."""
    place, named = 0, False
    for formula in INLINE.finditer(block):
        between, before = block[place : formula.start()], NAMED_BY.search(block[place : formula.start()])
        place = formula.end()
        letter = _name(formula[1])
        fits = letter is not None and (is_small(letter) or letter.has_any_index)
        by_word = before is not None and not NO_NOUN.fullmatch(before[1])
        named = fits and (by_word or (named and between in (" and ", ", ")))
        if named and letter is not None:
            yield letter


def _defined(block: str) -> Iterator[Letter]:
    """What the displays below "where" and "with" define, and "Let R be the largest of R_0, ..."."""
    for each in re.findall(r"Let \$([^$]*)\$ be ", block):
        letter = _name(each)
        if letter is not None:
            yield letter
            yield Letter(letter.sign, "i")
    lines = [
        line
        for gathered in re.findall(r"\\begin\{gather\*\}(.*?)\\end\{gather\*\}", block, re.DOTALL)
        for line in re.split(r",\s*\\\\\n", re.sub(r"\\(begin|end)\{aligned\}|&|\\quad", "", gathered))
    ]
    lines += re.findall(r"(?:(?<=\nwith)|(?<=:)|(?<=\\\]))\n\\\[(.*?)\\\]", block, re.DOTALL | re.MULTILINE)
    for line in lines:
        letter = _name(re.sub(r"\\\\|&|\\begin\{aligned\}", "", line.partition("=")[0]))
        if letter is not None:
            yield letter


def _stated(block: str) -> Iterator[Letter]:
    """Letters that an entry of the notation defines by an equation behind a word: "where $w_{k+1} = w_k + 1$"."""
    if not block.startswith("Notation: "):
        return
    defines = False  # an equation behind a comma goes on with the list of definitions that it stands in
    for word, formula in re.findall(r"(?:(\w+),?|(?<=\$),) \$([^$]*)\$", block.partition("\n")[0]):
        left, *right = re.split(r"=|\\leftarrow|\\le ", formula, maxsplit=1)
        letter = _name(left)
        defines = bool(right) and (DEFINING.fullmatch(word) is not None if word else defines)
        if defines and letter is not None:
            yield from (letter, Letter(letter.sign, "i") if letter.index else letter)
            yield from (each for each in read(left).letters if is_small(each))  # arguments of a function


def _said(block: str) -> Iterator[Letter]:
    """Letters of which the words of the notation say what they are: "where $W$ is a closed set"."""
    if block.startswith("Notation: "):
        for formula in SAID.findall(block):
            parts = formula.strip("()").split(",") if formula.startswith("(") else [formula]
            for letter in filter(None, map(_name, parts)):
                yield from (letter, Letter(letter.sign, "i") if letter.has_any_index else letter)


def _run_over(words: str, scope: list[str]) -> set[str]:
    """Of an entry that speaks of a sum over m: m, and the letters in its formulas that have the index m."""
    over = {letter.name for each in OVER.findall(words) for letter in read(each).letters if is_small(letter)}
    found = [letter for each in scope for letter in read(each).letters]
    return over | {letter.name for letter in found if {each.name for each in letter.parts} & over}


def _domains(block: str) -> Iterator[tuple[str, list[Letter | None]]]:
    """The conditions of "For $0 < x < 1$, $X \\in [0, 1]^n$, ...:", with their sides."""
    if not DOMAIN.match(block):
        return
    for formula in INLINE.findall(block.partition("\n")[0]):
        for each in formula.split(","):
            sides = [_name(side) for side in ([] if "=" in each else RELATION.split(each))]
            if len(sides) > 1:
                yield each, sides


def _in_sets(block: str) -> Iterator[Letter]:
    """Letters over whose values it quantifies; with a family of rows X_i the matrix X, and with a vector y its y_i."""
    for each, (first, *_) in _domains(block):
        if r"\in " in each and first is not None:
            yield from (first, Letter(first.sign), Letter(first.sign, "i"))


def _of_domain(block: str) -> Iterator[Letter]:
    """Small letters that are alone on one side of an inequality there."""
    for _, sides in _domains(block):
        yield from (side for side in sides if side is not None and is_small(side))


def _scopes(block: str) -> Iterator[tuple[list[str], str]]:
    """Formulas that share the letters which they bind: a conclusion, or an entry of the notation with its words."""
    if block.startswith("Notation: "):
        _, *parts = ENTRY.split(block.partition("\n")[0])
        entries = zip(parts[::2], parts[1::2], strict=True)
        yield from (([name, *INLINE.findall(words)], words) for name, words in entries)
        block = block.partition("\n")[2]
    displays = [one or other for one, other in DISPLAY.findall(block)]
    yield [*displays, *INLINE.findall(DISPLAY.sub(" ", block))], ""


def _arguments(scope: list[str]) -> set[str]:
    """The small arguments of formulas that are a function of them: b_r(t) in "where b_r(t) is the sup over [-t, t]"."""
    found = (re.fullmatch(r".*[^(]\{?(?:\\left)?\(([^()]*)(?:\\right)?\)\}?", each.strip()) for each in scope)
    inside = {o.name for each in found if each for o in read(each[1]).letters if is_small(o)}
    return {each for each in inside if any(_name(formula) is not None for formula in scope)}


def _words(block: str) -> str:
    """The words outside of mathematics, commands and labels."""
    plain = INLINE.sub(" ", DISPLAY.sub(" ", block))
    plain = re.sub(r"\\(cite|texttt|textup|begin|end|tag)(\[[^\]]*\])?\{[^{}]*\}|\([ivxC]+\d*\)|\(C\d+\)", " ", plain)
    return re.sub(r"\\[A-Za-z]+|(Theorem|Lemma|Appendix|Section|Phase|Figure|Proposition) [A-Z]\b", " ", plain)
